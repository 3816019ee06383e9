/* SPDX-License-Identifier: MIT */
/*
 * golden_tracepoints: samples of tracepoints, and TRACING_DATA with their formats: a file within the
 * recording.
 *
 *	17 08 44 "tracing" "0.5\0" big-endian(1) long(1) page(4)
 *	"header_page\0" n(8) text, "header_event\0" n(8) text
 *	formats of ftrace: n(4)
 *	systems: n(4), each name\0 n(4), each format n(8) text
 *	kallsyms n(4) text, texts of trace_printk n(4) text
 */
#include "golden/golden.h"

enum { TASK_ID = 1000, BYTES_ID, FREE_ID, MISSING_ID, PAGE_BYTES = 4096 };

#define COMMON_FIELDS                                                                              \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

struct common {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
};

/* A text, numbers of all kinds, an enumeration, flags, a text at the end. */
static const char task_format[] =
	"name: task\nID: 1000\n" COMMON_FIELDS
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:int number;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:short small;\toffset:28;\tsize:2;\tsigned:1;\n"
	"\tfield:u16 state;\toffset:30;\tsize:2;\tsigned:0;\n"
	"\tfield:u64 big;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int bits;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] path;\toffset:44;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"comm=%s number=%d small=%d big=%llu state=%s bits=%s path=%s\", REC->comm, "
	"REC->number, REC->small, REC->big, __print_symbolic(REC->state, { 0, \"R\" }, { 1, \"S\" }), "
	"REC->bits ? __print_flags(REC->bits, \"|\", { 1, \"READ\" }, { 2, \"WRITE\" }) : \"none\", "
	"__get_str(path)\n";

struct task {
	struct common common;
	char comm[16];
	int32_t number;
	int16_t small;
	uint16_t state;
	uint64_t big;
	uint32_t bits, path; /* where in the sample, and how long << 16 */
	char text[16];
};

/* Bytes as hexadecimal numbers, and an address of a kernel function. */
static const char bytes_format[] =
	"name: bytes\nID: 1001\n" COMMON_FIELDS
	"\tfield:void * function;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u8 bytes[8];\toffset:16;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"function=%pS bytes=%s\", (void *)REC->function, __print_hex(REC->bytes, 4)\n";

struct bytes {
	struct common common;
	uint64_t function;
	uint8_t bytes[8];
};

/* What is printed calls a function that nobody knows. */
static const char free_format[] =
	"name: free\nID: 1002\n" COMMON_FIELDS
	"\tfield:unsigned long address;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int order;\toffset:16;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"page=%p\", pfn_to_page(REC->address, REC->order)\n";

struct free {
	struct common common;
	uint64_t address;
	int32_t order, padding;
};

static void add_text(struct str *out, const char *text, bool wide)
{
	uint64_t len = strlen(text);

	str_addn(out, (const char *)&len, wide ? sizeof(uint64_t) : sizeof(uint32_t));
	str_add(out, text);
}

static void add_number(struct str *out, uint32_t number)
{
	str_addn(out, (const char *)&number, sizeof(number));
}

void golden_tracing_data(struct info *info, const char *system, const char *const *formats, size_t n)
{
	static const char head[] = "\27\10\104tracing0.5\0\0\10"; /* of 8-byte longs, low byte first */
	struct str out = STR_INIT;

	str_addn(&out, head, sizeof(head) - 1);
	add_number(&out, PAGE_BYTES);
	str_addn(&out, "header_page", sizeof("header_page"));
	add_text(&out,
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		 "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n",
		 true);
	str_addn(&out, "header_event", sizeof("header_event"));
	add_text(&out, "# compressed entry header\n", true);
	add_number(&out, 0);
	add_number(&out, 1);
	str_addn(&out, system, strlen(system) + 1);
	add_number(&out, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		add_text(&out, formats[i], true);
	add_text(&out, "", false);
	add_text(&out, "", false);
	info->tracing_data_size = out.len;
	info->tracing_data = (uint8_t *)str_detach(&out);
	info_set(info, FEATURE_TRACING_DATA);
}

static struct common common_of(unsigned id)
{
	return (struct common){ .type = (uint16_t)id, .pid = PID };
}

void golden_add_raw(struct golden *g, size_t event, const void *raw, size_t size)
{
	struct record_body body = golden_sample(kernel(SCHEDULE));

	g->event = event;
	body.sample.raw = raw;
	body.sample.raw_size = (uint32_t)size;
	body.sample.period = 1;
	golden_add(g, &body);
}

static void add_task(struct golden *g, struct task task, const char *comm, const char *text)
{
	enum { TEXT_AT = offsetof(struct task, text) };
	size_t len = strnlen(text, sizeof(task.text) - 1) + 1;

	task.common = common_of(TASK_ID);
	memcpy(task.comm, comm, strnlen(comm, sizeof(task.comm)));
	memcpy(task.text, text, len);
	task.path = TEXT_AT | (uint32_t)len << 16;
	golden_add_raw(g, 0, &task, sizeof(task));
}

static void start(struct golden *g, unsigned n_events)
{
	static const char *const formats[] = { task_format, bytes_format, free_format };
	static const char *const names[] = { "golden:task", "golden:bytes", "golden:free", "golden:missing" };
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_RAW);

	attr.type = PERF_TYPE_TRACEPOINT;
	attr.sample_period = 1;
	for (unsigned i = 0; i < n_events; i++) {
		attr.config = TASK_ID + i;
		golden_event(g, &attr, names[i]);
	}
	golden_tracing_data(&g->info, "golden", formats, ARRAY_SIZE(formats));
	golden_start_app(g);
}

static void tracepoints(struct golden *g)
{
	struct bytes bytes = { common_of(BYTES_ID), kernel(VFS_READ), { 1, 2, 0xfe, 0xff, 5 } };
	const struct free freed = { common_of(FREE_ID), 0x1234, -1, 0 };

	start(g, 3);
	add_task(g, (struct task){ .number = 1, .big = 1 }, "first", "/a");
	add_task(g, (struct task){ .number = -1, .small = -2, .state = 1, .big = UINT64_MAX, .bits = 3 }, "second",
		 "");
	add_task(g, (struct task){ .number = INT32_MIN, .state = 7, .bits = 12 }, "sixteen letters!",
		 "/tmp/\033[2J\n%s");
	golden_add_raw(g, 1, &bytes, sizeof(bytes));
	bytes.function = 0x10;
	golden_add_raw(g, 1, &bytes, sizeof(bytes));
	golden_add_raw(g, 2, &freed, sizeof(freed));
}

/* Samples that no format fits: there is none; too short; of another event; a text that is elsewhere. */
static void tracepoints_unfit(struct golden *g)
{
	const struct bytes bytes = { common_of(BYTES_ID), 0, { 0 } };
	struct task task = { .common = common_of(TASK_ID), .path = 1000 | 8 << 16 };

	start(g, 4);
	add_task(g, (struct task){ .number = 1, .big = 1 }, "first", "/a");
	golden_add_raw(g, 3, &bytes, sizeof(bytes));
	golden_add_raw(g, 0, &bytes, sizeof(bytes.common) + 4);
	golden_add_raw(g, 0, &bytes, sizeof(bytes));
	golden_add_raw(g, 0, &task, sizeof(task));
}

const struct golden_recording golden_tracepoints[] = {
	{ "tracepoints.data", tracepoints, NULL },
	{ "tracepoints_unfit.data", tracepoints_unfit, NULL },
	{ NULL, NULL, NULL },
};
