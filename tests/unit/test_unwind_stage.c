/* SPDX-License-Identifier: MIT */
/*
 * The stage that unwinds: every record comes out once and in order, whatever the workers' speed; a sample is unwound
 * with the maps of its time; and what comes out is what the file says that it is. The stack is this program's own.
 */
#include "data_fixture.h"

#include "record/unwind_stage.h"

#include <limits.h>
#include <linux/perf_event.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

enum { ID = 101, PID = 42, STACK_BYTES = 16384 };

/* ---- what comes out ---- */

struct out {
	struct record_sink sink;
	struct decoder decoder;
	const struct events *events;
	struct {
		uint32_t type;
		uint64_t number; /* addr of samples, tid of a COMM */
		uint64_t has, ips[64];
		uint64_t n_ips;
		struct sample_regs regs;
		unsigned end;
	} v[4096];
	size_t n;
	unsigned rounds;
};

static int out_take(struct record_sink *sink, const void *records, size_t n, struct str *err)
{
	struct out *out = (struct out *)sink;

	for (size_t at = 0; at < n;) {
		struct record record;
		struct record_body body;
		bool guessed;

		record_from_bytes(&record, (const uint8_t *)records + at, 0, false);
		at += record.size;
		assert_int_equal(record_decode(&out->decoder, &record, &body, err), 0);
		assert_true(out->n < ARRAY_SIZE(out->v));
		out->v[out->n].type = record.type;
		out->v[out->n].number = record.type == RECORD_COMM ? body.comm.tid : body.sample.addr;
		if (record.type == RECORD_SAMPLE) {
			out->v[out->n].has = body.sample.has;
			out->v[out->n].n_ips = body.sample.n_ips;
			out->v[out->n].regs = body.sample.user_regs;
			out->v[out->n].end = chain_end(&body.sample, &guessed);
			for (size_t i = 0; i < body.sample.n_ips && i < ARRAY_SIZE(out->v[0].ips); i++)
				out->v[out->n].ips[i] = body.sample.ips[i];
		}
		out->n++;
	}
	return 0;
}

static int out_round(struct record_sink *sink, struct str *err)
{
	(void)err;
	((struct out *)sink)->rounds++;
	return 0;
}

static int out_nothing(struct record_sink *sink, struct str *err)
{
	(void)sink, (void)err;
	return 0;
}

/* ---- what goes in ---- */

struct bench {
	struct events recorded;
	struct unwind_stage *unwind;
	struct stage *stage;
	struct out out;
	struct str err;
};

static uint64_t regs_mask(void)
{
#if defined(__x86_64__)
	return 0xff0fff;
#else
	return (1ULL << 33) - 1;
#endif
}

static void begin(struct bench *b, struct unwind_stage_options options)
{
	const uint64_t id = ID;
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .sample_id_all = 1 };

	memset(b, 0, sizeof(*b));
	str_init(&b->err);
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			   PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			   PERF_SAMPLE_STACK_USER | PERF_SAMPLE_TRANSACTION;
	attr.sample_regs_user = regs_mask();
	attr.sample_stack_user = STACK_BYTES;
	attr.exclude_callchain_user = 1;
	events_init(&b->recorded);
	events_add(&b->recorded, &attr, sizeof(attr), &id, 1)->name = xstrdup("cpu-clock");
	options.procfs = "/proc";
#if defined(__x86_64__)
	options.arch = "x86_64";
#else
	options.arch = "aarch64";
#endif
	b->unwind = unwind_stage_new(&b->recorded, &options, &b->err);
	assert_non_null(b->unwind);
	b->out.sink = (struct record_sink){ out_take, out_round, out_nothing, out_nothing };
	b->out.events = unwind_stage_written(b->unwind);
	decoder_init(&b->out.decoder, b->out.events, false);
	b->stage = unwind_stage_begin(b->unwind, &b->out.sink);
}

static void end(struct bench *b)
{
	unwind_stage_free(b->unwind);
	decoder_release(&b->out.decoder);
	events_release(&b->recorded);
	str_release(&b->err);
}

static void tell(struct bench *b, const struct record_body *body)
{
	struct record_sink *sink = &b->stage->sink;
	struct str bytes = STR_INIT;

	assert_int_equal(record_encode(body, b->recorded.v[0], &bytes, &b->err), 0);
	assert_int_equal(sink->take(sink, bytes.s, bytes.len, &b->err), 0);
	str_release(&bytes);
}

static void tell_round(struct bench *b)
{
	assert_int_equal(b->stage->sink.round(&b->stage->sink, &b->err), 0);
}

static void tell_end(struct bench *b)
{
	assert_int_equal(b->stage->sink.end(&b->stage->sink, &b->err), 0);
}

static struct sample_id id_of(uint64_t time_ns)
{
	return (struct sample_id){ .id = ID, .pid = PID, .tid = PID, .time_ns = time_ns };
}

static void tell_comm(struct bench *b, uint32_t number, uint64_t time_ns)
{
	struct record_body body = { .type = RECORD_COMM, .id = id_of(time_ns) };

	body.comm.pid = PID;
	body.comm.tid = number;
	body.comm.comm = "name";
	tell(b, &body);
}

static struct record_body sample_of(uint64_t number, uint64_t time_ns)
{
	struct record_body body = { .type = RECORD_SAMPLE, .misc = MISC_USER, .id = id_of(time_ns) };

	body.sample.id = ID;
	body.sample.pid = body.sample.tid = PID;
	body.sample.time_ns = time_ns;
	body.sample.addr = number;
	body.sample.transaction = ~number;
	body.sample.stack_size = STACK_BYTES;
	return body;
}

/* Nothing is mapped where it was. */
static void tell_lost_sample(struct bench *b, uint64_t number, uint64_t time_ns)
{
	static const uint8_t stack[STACK_BYTES];
	static uint64_t regs[64];
	struct record_body body = sample_of(number, time_ns);

	body.sample.stack = stack;
	body.sample.stack_dyn_size = STACK_BYTES;
	body.sample.user_regs = (struct sample_regs){ 2, regs_mask(), regs,
						      (unsigned)__builtin_popcountll(regs_mask()) };
	for (unsigned i = 0; i < body.sample.user_regs.n; i++)
		regs[i] = 0x1000;
	tell(b, &body);
}

/* ---- order ---- */

static void in_and_out(struct unwind_stage_options options, size_t n)
{
	struct unwind_workers_counts counts;
	struct bench *b = xcalloc(1, sizeof(*b));
	uint64_t samples = 0;

	begin(b, options);
	for (size_t i = 0; i < n; i++) {
		if (i % 3 == 2) {
			tell_comm(b, (uint32_t)i, 1000 + i);
		} else {
			tell_lost_sample(b, i, 1000 + i);
			samples++;
		}
		if (i % 50 == 49)
			tell_round(b);
	}
	tell_end(b);
	assert_int_equal(b->out.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(b->out.v[i].type, i % 3 == 2 ? RECORD_COMM : RECORD_SAMPLE);
		assert_int_equal(b->out.v[i].number, i);
	}
	assert_int_equal(b->out.rounds, n / 50);
	unwind_stage_count(b->unwind, &counts);
	assert_int_equal(counts.chains[CHAIN_BROKEN] + counts.chains[CHAIN_NO_INFO], samples);
	assert_int_equal(b->stage->lost, 0);
	if (options.held_bytes) {
		assert_true(b->stage->waits > 0);
		assert_true(b->stage->held_most < options.held_bytes + 2 * 65536);
	}
	end(b);
	free(b);
}

static void what_comes_goes_in_order(void **state)
{
	(void)state;
	in_and_out((struct unwind_stage_options){ .n_workers = 1 }, 2000);
	in_and_out((struct unwind_stage_options){ .n_workers = 3 }, 2000);
}

/* The consumer waits for them, with no more than was allowed; nothing is lost. */
static void slow_workers_are_waited_for(void **state)
{
	(void)state;
	in_and_out((struct unwind_stage_options){ .n_workers = 2, .held_bytes = 256 << 10, .slow_us = 200 }, 600);
}

/* ---- this program's own stack ---- */

#if defined(__x86_64__)
struct here {
	uint64_t regs[64], sp, ip, callers[2];
	uint8_t stack[STACK_BYTES];
	size_t n_stack;
	unsigned n;
};

/* By the numbers of the kernel's registers. */
static void take_regs(struct here *here, const ucontext_t *context)
{
	static const int order[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
				     REG_RIP, REG_EFL, -1, -1, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12,
				     REG_R13, REG_R14, REG_R15 };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		here->regs[here->n++] = order[i] < 0 ? 0 : (uint64_t)context->uc_mcontext.gregs[order[i]];
	here->sp = here->regs[7];
	here->ip = here->regs[8];
}

__attribute__((noinline, no_sanitize("address", "undefined"))) static void look(struct here *here)
{
	ucontext_t context;
	const char *from;

	here->callers[0] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	getcontext(&context);
	take_regs(here, &context);
	memcpy(&from, &here->sp, sizeof(from));
	/* Where the stack of a process begins lies the name that it was started by. */
	here->n_stack = (getauxval(AT_EXECFN) - here->sp) & ~7ul;
	if (here->n_stack > STACK_BYTES)
		here->n_stack = STACK_BYTES;
	for (size_t i = 0; i < here->n_stack; i++)
		here->stack[i] = (uint8_t)((const volatile char *)from)[i];
}

__attribute__((noinline)) static void look_from_here(struct here *here)
{
	here->callers[1] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	look(here);
	__asm__ volatile("" ::: "memory");
}

static void tell_maps(struct bench *b, uint64_t time_ns)
{
	struct str maps = STR_INIT;
	char *line, *rest;

	assert_int_equal(read_text_file("/proc/self/maps", &maps), 0);
	for (line = strtok_r(maps.s, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct record_body body = { .type = RECORD_MMAP2, .misc = MISC_USER, .id = id_of(time_ns) };
		unsigned long long first, last, offset, inode;
		char prot[8], path[256] = "";
		unsigned major, minor;

		if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %255s", &first, &last, prot, &offset, &major, &minor,
			   &inode, path) < 8 || prot[2] != 'x' || path[0] != '/')
			continue;
		body.mmap = (struct record_mmap){ .pid = PID, .tid = PID, .start = first, .len = last - first,
						  .pgoff = offset, .major = major, .minor = minor, .inode = inode,
						  .prot = 5, .flags = 2, .path = path };
		tell(b, &body);
	}
	str_release(&maps);
}

static void tell_here(struct bench *b, const struct here *here, uint64_t time_ns)
{
	static const uint64_t kernel[] = { (uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020 };
	struct record_body body = sample_of(7, time_ns);

	body.misc = MISC_KERNEL;
	body.sample.ip = kernel[1];
	body.sample.ips = kernel;
	body.sample.n_ips = 3;
	body.sample.stack = here->stack;
	body.sample.stack_dyn_size = here->n_stack;
	body.sample.user_regs = (struct sample_regs){ 2, regs_mask(), here->regs, here->n };
	tell(b, &body);
}

static void assert_chain(const struct bench *b, size_t i, const struct here *here)
{
	const uint64_t *ips = b->out.v[i].ips;

	assert_int_equal(b->out.v[i].type, RECORD_SAMPLE);
	assert_true(b->out.v[i].n_ips > 7);
	assert_int_equal(ips[0], (uint64_t)PERF_CONTEXT_KERNEL);
	assert_int_equal(ips[2], 0xffffffff81000020);
	assert_int_equal(ips[3], (uint64_t)PERF_CONTEXT_USER);
	assert_int_equal(ips[4], here->ip);
	assert_int_equal(ips[5], here->callers[0]);
	assert_int_equal(ips[6], here->callers[1]);
	assert_true(b->out.v[i].end == CHAIN_COMPLETE || b->out.v[i].end == CHAIN_CUT);
}

/* The kernel's part, then the user's, with the maps that the thread had, although they came later from their ring. */
static void maps_of_its_time(void **state)
{
	struct here *here = xcalloc(1, sizeof(*here));
	struct bench *b = xcalloc(1, sizeof(*b));
	size_t n;

	(void)state;
	look_from_here(here);
	begin(b, (struct unwind_stage_options){ .n_workers = 2, .user_regs = 1 << 7 | 1 << 8 });
	tell_here(b, here, 10);
	tell_here(b, here, 30);
	tell_maps(b, 20);
	tell_round(b);
	tell_round(b);
	tell_end(b);
	n = b->out.n;
	assert_true(n > 3);
	/* Before its maps were there, its ip is all that is known. */
	assert_int_equal(b->out.v[0].n_ips, 5 + CHAIN_BROKEN);
	assert_int_equal(b->out.v[0].end, CHAIN_BROKEN);
	assert_chain(b, 1, here);
	/* No stack, and of the registers those that were asked for. */
	assert_int_equal(b->out.v[1].has & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER), PERF_SAMPLE_REGS_USER);
	assert_int_equal(b->out.v[1].regs.mask, 1 << 7 | 1 << 8);
	end(b);
	free(b);
	free(here);
}
#else
static void maps_of_its_time(void **state)
{
	(void)state;
	skip();
}
#endif

/* A thread of the kernel has no registers of a user: its sample waits for nobody. */
static void no_user_part(void **state)
{
	struct bench *b = xcalloc(1, sizeof(*b));
	struct record_body body = sample_of(3, 10);

	(void)state;
	begin(b, (struct unwind_stage_options){ .n_workers = 1 });
	body.sample.stack_size = 0;
	tell(b, &body);
	assert_int_equal(b->out.n, 1);
	assert_int_equal(b->out.v[0].n_ips, 0);
	assert_int_equal(b->out.v[0].has & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER), 0);
	end(b);
	free(b);
}

/* The file says that the event's samples have no stacks, so one that nobody can read cannot go there as it came. */
static void what_makes_no_sense(void **state)
{
	struct bench *b = xcalloc(1, sizeof(*b));
	struct record_body body = sample_of(3, 10);
	struct perf_event_header header;
	struct str bytes = STR_INIT;

	(void)state;
	begin(b, (struct unwind_stage_options){ .n_workers = 1 });
	body.sample.stack_size = 0;
	tell(b, &body);
	assert_int_equal(record_encode(&body, b->recorded.v[0], &bytes, &b->err), 0);
	memcpy(&header, bytes.s, sizeof(header));
	header.size = 48;
	memcpy(bytes.s, &header, sizeof(header));
	assert_int_equal(b->stage->sink.take(&b->stage->sink, bytes.s, header.size, &b->err), 0);
	tell(b, &body);
	assert_int_equal(b->out.n, 2);
	assert_int_equal(b->stage->lost, 1);
	str_release(&bytes);
	end(b);
	free(b);
}

/* What may wait grows with the dumps. */
static void larger_dumps_have_more_room(void **state)
{
	struct bench *b = xcalloc(1, sizeof(*b));

	(void)state;
	begin(b, (struct unwind_stage_options){ .n_workers = 1 });
	assert_int_equal(b->stage->held_bytes_max, 4096 * STACK_BYTES);
	end(b);
	free(b);
}

/* Behind the last descriptor that may be held: the path by which the file was found, not one where it might be. */
static void paths_that_lead_there(void **state)
{
	const struct record_mmap gone = { .pid = INT32_MAX, .start = 0x1000, .len = 0x1000 };
	struct dso dso = { .kind = DSO_FILE }, vdso = { .kind = DSO_VDSO, .index = 2 };
	char own[PATH_MAX], in_brackets[] = "[vdso]";
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	struct unwind_files *files;
	struct rlimit limit, few;
	bool seen;

	(void)state;
	assert_true(n > 0);
	own[n] = '\0';
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){ 4, limit.rlim_max }; /* a quarter may be held */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	files = unwind_files_new("/proc", &(struct unwind_clock){ 0 });
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (dso.path = own; dso.index < 2; dso.index++)
		assert_true(unwind_files_see(files, &dso, &gone));
	assert_non_null(strstr(unwind_files_path(files, 0, 0, NULL), "/proc/self/fd/"));
	assert_string_equal(unwind_files_path(files, 1, 0, NULL), own);
	vdso.path = in_brackets;
	seen = unwind_files_see(files, &vdso, &gone);
	assert_int_equal(seen, unwind_files_path(files, 2, 0, NULL) != NULL);
	unwind_files_free(files);
}

/* An event whose samples have no stacks is let through. */
static void what_the_file_says(void **state)
{
	struct bench *b = xcalloc(1, sizeof(*b));
	const struct data_event *written;

	(void)state;
	begin(b, (struct unwind_stage_options){ .n_workers = 1 });
	written = b->out.events->v[0];
	assert_int_equal(written->attr.sample_type & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER), 0);
	assert_int_equal(written->attr.sample_regs_user, 0);
	assert_int_equal(written->attr.exclude_callchain_user, 0);
	assert_string_equal(written->name, "cpu-clock");
	assert_true(event_is_unwound(written));
	assert_false(event_is_unwound(b->recorded.v[0]));
	end(b);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_makes_no_sense),
		cmocka_unit_test(larger_dumps_have_more_room),
		cmocka_unit_test(paths_that_lead_there),
		cmocka_unit_test(what_comes_goes_in_order),
		cmocka_unit_test(slow_workers_are_waited_for),
		cmocka_unit_test(maps_of_its_time),
		cmocka_unit_test(no_user_part),
		cmocka_unit_test(what_the_file_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
