/* SPDX-License-Identifier: MIT */
/*
 * System calls: samples of entries and exits that are made here, so what is to be told of them is known: whole calls
 * and halves, losses, 32-bit tasks, numbers that nobody knows, samples that do not fit; names and classes; sums.
 */
#include "data_fixture.h"

#include "syscall/syscall.h"

#include <string.h>

enum {
	/* Of events, in this order. */
	ENTER_ID = 101, EXIT_ID = 201, RUNTIME_ID = 301, FAULT_ID = 401, CLOCK_ID = 501, TEXT_ID = 601,
	ENTER_TYPE = 443, EXIT_TYPE = 442, RUNTIME_TYPE = 300,
	TID = 42, CHILD = 77,
};
enum { TEXT_EVENT = 5 }; /* its index */

#define COMMON_FIELDS                                                                      \
	"format:\n"                                                                        \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"             \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"             \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char enter_format[] = "name: sys_enter\nID: 443\n" COMMON_FIELDS
				   "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
				   "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n\n"
				   "print fmt: \"NR %ld\", REC->id\n";
static const char exit_format[] = "name: sys_exit\nID: 442\n" COMMON_FIELDS
				  "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n\n"
				  "print fmt: \"NR %ld = %ld\", REC->id, REC->ret\n";
static const char odd_format[] = "name: sys_exit\nID: 442\n" COMMON_FIELDS
				 "\tfield:long id;\toffset:4294967290;\tsize:8;\tsigned:1;\n"
				 "\tfield:long ret;\toffset:16;\tsize:3;\tsigned:1;\n\n"
				 "print fmt: \"NR %ld\", REC->id\n";

static const char runtime_format[] = "name: sched_stat_runtime\nID: 300\n" COMMON_FIELDS
				     "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				     "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				     "\tfield:unsigned short cpus[2];\toffset:28;\tsize:4;\tsigned:0;\n"
				     "\tfield:u64 runtime;\toffset:32;\tsize:8;\tsigned:0;\n\n"
				     "print fmt: \"comm=%s\", REC->comm\n";

/* Records made in memory, which are their own source. */
struct made {
	struct record_source source; /* first */
	struct str records;
	size_t at;
	struct events events;
	struct info info;
	struct decoder decoder;
	struct note_list notes;
	struct recording_info recording;
	struct syscall_table table;
	struct syscall_selection selection;
	struct syscall_lines lines;
	struct session session;
	struct syscall_stream *stream;
	struct syscall_summary *summary;
	bool json;
	unsigned stop_at, n_told;
	struct str text, err;
};

static int next_record(struct record_source *source, struct record *record, struct str *err)
{
	struct made *m = (struct made *)source;

	(void)err;
	if (m->at == m->records.len)
		return SOURCE_END;
	record_from_bytes(record, (const uint8_t *)m->records.s + m->at, m->at, false);
	m->at += record->size;
	return SOURCE_RECORD;
}

static void put(struct str *out, uint64_t value, size_t n)
{
	str_addn(out, (const char *)&value, n);
}

static void put_sized(struct str *out, const char *text)
{
	put(out, strlen(text), 8);
	str_add(out, text);
}

/* In the layout that src/trace/trace.c draws. */
static void set_formats(struct made *m, const char *enter, const char *exit)
{
	struct str out = STR_INIT;

	str_addn(&out, "\x17\x08\x44tracing0.6\0\0\x08", 16);
	put(&out, 4096, 4);
	str_addn(&out, "header_page", 12);
	put_sized(&out, "");
	str_addn(&out, "header_event", 13);
	put_sized(&out, "");
	put(&out, 0, 4);
	put(&out, 2, 4);
	str_addn(&out, "raw_syscalls", 13);
	put(&out, 2, 4);
	put_sized(&out, enter);
	put_sized(&out, exit);
	str_addn(&out, "sched", 6);
	put(&out, 1, 4);
	put_sized(&out, runtime_format);
	put(&out, 0, 8);
	free(m->info.tracing_data);
	m->info.tracing_data_size = out.len;
	m->info.tracing_data = (uint8_t *)str_detach(&out);
}

static void add_event(struct made *m, uint32_t type, uint64_t config, uint64_t id)
{
	struct perf_event_attr attr = { .type = type, .size = sizeof(attr), .config = config };

	attr.sample_period = 1;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			   PERF_SAMPLE_CPU | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_ADDR;
	attr.sample_regs_user = 1;
	events_add(&m->events, &attr, sizeof(attr), &id, 1);
}

static void add_texts_event(struct made *m)
{
	const uint64_t id = TEXT_ID;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_BPF_OUTPUT, .size = sizeof(attr),
		.sample_period = 1, .sample_id_all = 1, .sample_type = m->events.v[0]->attr.sample_type,
		.sample_regs_user = 1,
	};

	events_add(&m->events, &attr, sizeof(attr), &id, 1);
	m->events.v[TEXT_EVENT]->name = xstrdup("syscall-texts");
}

static int set_up(void **state)
{
	struct made *m = xcalloc(1, sizeof(*m));

	*state = m;
	m->source.next = next_record;
	str_init(&m->records);
	str_init(&m->text);
	str_init(&m->err);
	events_init(&m->events);
	info_init(&m->info);
	m->info.arch = xstrdup("x86_64");
	add_event(m, PERF_TYPE_TRACEPOINT, ENTER_TYPE, ENTER_ID);
	add_event(m, PERF_TYPE_TRACEPOINT, EXIT_TYPE, EXIT_ID);
	add_event(m, PERF_TYPE_TRACEPOINT, RUNTIME_TYPE, RUNTIME_ID);
	m->events.v[2]->name = xstrdup("sched:sched_stat_runtime");
	add_event(m, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, FAULT_ID);
	add_event(m, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, CLOCK_ID);
	add_texts_event(m);
	set_formats(m, enter_format, exit_format);
	decoder_init(&m->decoder, &m->events, false);
	m->recording = (struct recording_info){ .events = &m->events, .info = &m->info, .decoder = &m->decoder,
						.notes = &m->notes };
	syscall_table_init(&m->table, "x86_64");
	return 0;
}

static int tear_down(void **state)
{
	struct made *m = *state;

	syscall_summary_free(m->summary);
	syscall_stream_free(m->stream);
	session_release(&m->session);
	syscall_selection_release(&m->selection);
	syscall_table_release(&m->table);
	decoder_release(&m->decoder);
	events_release(&m->events);
	info_release(&m->info);
	note_list_release(&m->notes);
	str_release(&m->records);
	str_release(&m->text);
	str_release(&m->err);
	free(m);
	return 0;
}

/* ---- records ---- */

static void add(struct made *m, const struct record_body *body, size_t event)
{
	assert_int_equal(record_encode(body, m->events.v[event], &m->records, &m->err), 0);
}

static struct record_body sample_of(uint64_t id, int tid, uint64_t time_ns, const void *raw, size_t n)
{
	static const uint64_t reg;
	struct record_body body = fix_sample(id, time_ns);

	body.sample.pid = body.sample.tid = (uint32_t)tid;
	body.sample.n_ips = 0;
	body.sample.raw = raw;
	body.sample.raw_size = (uint32_t)n;
	body.sample.user_regs = (struct sample_regs){ .abi = 2, .mask = 1, .v = &reg, .n = 1 };
	return body;
}

static void add_sample(struct made *m, int tid, uint64_t time_ns, bool is_exit, bool is_32, const void *raw, size_t n)
{
	struct record_body body = sample_of(is_exit ? EXIT_ID : ENTER_ID, tid, time_ns, raw, n);

	body.sample.user_regs.abi = is_32 ? 1 : 2;
	add(m, &body, is_exit);
}

static void add_text_sample(struct made *m, int tid, uint64_t time_ns, const void *raw, size_t n)
{
	struct record_body body = sample_of(TEXT_ID, tid, time_ns, raw, n);

	add(m, &body, TEXT_EVENT);
}

static void ran(struct made *m, int tid, uint64_t time_ns, const char *comm, uint64_t runtime_ns)
{
	struct {
		uint16_t type, flags;
		int32_t common_pid;
		char comm[16];
		int32_t pid;
		uint8_t cpus[4];
		uint64_t runtime;
		uint32_t pad;
	} __attribute__((packed)) raw = { .type = RUNTIME_TYPE, .pid = tid, .cpus = { 0, 1, 254, 255 },
					  .runtime = runtime_ns };
	struct record_body body = sample_of(RUNTIME_ID, tid, time_ns, &raw, sizeof(raw));

	memcpy(raw.comm, comm, strlen(comm));
	add(m, &body, 2);
}

static void fault(struct made *m, int tid, uint64_t time_ns, uint64_t ip, uint64_t addr)
{
	struct record_body body = sample_of(FAULT_ID, tid, time_ns, "pad", 4);

	body.sample.ip = ip;
	body.sample.addr = addr;
	add(m, &body, 3);
}

static void enter_as(struct made *m, int tid, uint64_t time_ns, bool is_32, int64_t number, const uint64_t *args)
{
	struct {
		uint16_t type, flags;
		int32_t pid;
		int64_t id;
		uint64_t args[SYSCALL_ARGS];
		uint32_t pad;
	} __attribute__((packed)) raw = { .type = ENTER_TYPE, .pid = tid, .id = number };

	if (args)
		memcpy(raw.args, args, sizeof(raw.args));
	add_sample(m, tid, time_ns, false, is_32, &raw, sizeof(raw));
}

static void enter(struct made *m, int tid, uint64_t time_ns, int64_t number)
{
	enter_as(m, tid, time_ns, false, number, NULL);
}

static void leave_as(struct made *m, int tid, uint64_t time_ns, bool is_32, int64_t number, int64_t returned)
{
	struct {
		uint16_t type, flags;
		int32_t pid;
		int64_t id, ret;
		uint32_t pad;
	} __attribute__((packed)) raw = { .type = EXIT_TYPE, .pid = tid, .id = number, .ret = returned };

	add_sample(m, tid, time_ns, true, is_32, &raw, sizeof(raw));
}

static void leave(struct made *m, int tid, uint64_t time_ns, int64_t number, int64_t returned)
{
	leave_as(m, tid, time_ns, false, number, returned);
}

static struct record_body body_of(uint32_t type, int tid, uint64_t time_ns)
{
	struct record_body body = { .type = type };

	body.id = (struct sample_id){ .pid = (uint32_t)tid, .tid = (uint32_t)tid, .time_ns = time_ns, .id = ENTER_ID };
	return body;
}

static void name(struct made *m, int tid, const char *comm)
{
	struct record_body body = body_of(RECORD_COMM, tid, 1);

	body.comm.pid = body.comm.tid = (uint32_t)tid;
	body.comm.comm = comm;
	add(m, &body, 0);
}

static void lose(struct made *m, uint64_t time_ns, uint64_t n)
{
	struct record_body body = body_of(RECORD_LOST, TID, time_ns);

	body.lost.id = ENTER_ID;
	body.lost.lost = n;
	add(m, &body, 0);
}

static void end_thread(struct made *m, int tid, uint64_t time_ns)
{
	struct record_body body = body_of(RECORD_EXIT, tid, time_ns);

	body.task = (struct record_task){ (uint32_t)tid, TID, (uint32_t)tid, TID, time_ns };
	add(m, &body, 0);
}

/* ---- what is told ---- */

static int on_call(void *context, const struct syscall_call *call, struct str *err)
{
	struct made *m = context;

	(void)err;
	if (m->summary)
		syscall_summary_take(m->summary, call);
	if (m->json)
		syscall_json_add(&m->lines, call, &m->text);
	else
		syscall_line_add(&m->lines, call, &m->text);
	return ++m->n_told == m->stop_at;
}

static bool wants_event(void *context, const struct data_event *event)
{
	(void)context;
	return event->index < 4;
}

static int on_event(void *context, const struct syscall_event *event, struct str *err)
{
	struct made *m = context;

	(void)err;
	if (m->summary)
		syscall_summary_event(m->summary, event);
	if (m->json)
		syscall_json_add_event(&m->lines, event, &m->text);
	else
		syscall_line_add_event(&m->lines, event, &m->text);
	return ++m->n_told == m->stop_at;
}

static int on_lost(void *context, uint64_t where_ns, uint64_t n, struct str *err)
{
	struct made *m = context;

	(void)err;
	if (m->summary)
		syscall_summary_lost(m->summary, n);
	if (m->json)
		syscall_json_add_lost(where_ns, n, &m->text);
	else
		syscall_line_add_lost(&m->lines, where_ns, n, &m->text);
	return 0;
}

static void on_gone(void *context, struct syscall_thread *thread)
{
	struct made *m = context;

	if (m->summary)
		syscall_summary_gone(m->summary, thread);
}

static void open_with(struct made *m, bool others)
{
	const struct session_options options = { .sym = { .symfs = "/proc/self/nowhere", .kallsyms = "/dev/null" } };
	const struct syscall_sink sink = { .context = m, .call = on_call, .lost = on_lost, .gone = on_gone,
					   .wants = others ? wants_event : NULL, .event = on_event };

	session_release(&m->session);
	assert_int_equal(session_init_live(&m->session, &m->recording, &m->source, &options, &m->err), 0);
	m->stream = syscall_stream_new(&m->session, &m->table, &m->selection, &sink, &m->err);
	if (m->stream)
		m->lines = (struct syscall_lines){ .table = &m->table, .session = &m->session,
						   .tracepoints = syscall_stream_tracepoints(m->stream) };
}

static void open_stream(struct made *m)
{
	open_with(m, false);
}

static void run(struct made *m)
{
	if (!m->stream)
		open_stream(m);
	assert_non_null(m->stream);
	assert_int_equal(syscall_stream_run(m->stream, &m->source, &m->err), 0);
	assert_int_equal(syscall_stream_end(m->stream, &m->err), 0);
}

/* Of the text, with one blank in place of many. */
static void same_text(struct made *m, const char *expected)
{
	struct str text = STR_INIT;

	for (const char *c = m->text.s; *c; c++)
		if (*c != ' ' || (text.len && text.s[text.len - 1] != ' ' && text.s[text.len - 1] != '\n'))
			str_addc(&text, *c);
	assert_string_equal(text.s, expected);
	str_release(&text);
}

/* ---- halves and wholes ---- */

static void test_whole(void **state)
{
	static const uint64_t open_args[] = { (uint32_t)-100, 0x7f00, 02000000, 0, 9, 9 };
	static const uint64_t sleep_args[] = { 1, 1, 0x7f10, 0, 0, 0 };
	struct made *m = *state;

	name(m, TID, "sh");
	name(m, CHILD, "two");
	enter_as(m, TID, 1000000, false, 257, open_args);
	enter_as(m, CHILD, 1000500, false, 230, sleep_args);
	leave(m, TID, 1002499, 257, -2);
	enter(m, TID, 1500000, 39);
	leave(m, TID, 1500500, 39, 42);
	leave(m, CHILD, 3000500, 230, 0);
	enter(m, TID, 3100000, 231);
	run(m);
	same_text(m,
		  "1.000 ( 0.002 ms): sh/42 openat(dfd: CWD, filename: 0x7f00, flags: RDONLY|CLOEXEC, mode: 0) = "
		  "-1 ENOENT (No such file or directory)\n"
		  "1.500 ( 0.001 ms): sh/42 getpid() = 42\n"
		  "1.001 ( 2.000 ms): two/77 clock_nanosleep(which_clock: MONOTONIC, flags: ABSTIME, rqtp: 0x7f10, "
		  "rmtp: NULL) = 0\n"
		  "3.100 ( ): sh/42 exit_group(error_code: 0) = ?\n");
}

static void test_halves(void **state)
{
	struct made *m = *state;

	name(m, TID, "sh");
	name(m, CHILD, "two");
	leave(m, TID, 1000000, 0, 5); /* began before */
	enter(m, TID, 2000000, 39); /* its exit is not there */
	enter(m, TID, 3000000, 110);
	leave(m, TID, 4000000, 39, 7); /* of another call */
	leave(m, CHILD, 4500000, 56, 0); /* a new thread */
	enter(m, CHILD, 5000000, 110);
	end_thread(m, CHILD, 6000000);
	enter(m, TID, 7000000, 39);
	run(m);
	same_text(m, "? ( ): sh/42 ... [continued]: read() = 5\n"
		     "2.000 ( ): sh/42 getpid() ...\n"
		     "3.000 ( ): sh/42 getppid() ...\n"
		     "? ( ): sh/42 ... [continued]: getpid() = 7\n"
		     "5.000 ( ): two/77 getppid() ...\n"
		     "7.000 ( ): sh/42 getpid() ...\n");
}

static void test_losses(void **state)
{
	struct made *m = *state;

	name(m, TID, "sh");
	enter(m, TID, 1000000, 39);
	lose(m, 1500000, 3);
	leave(m, TID, 2000000, 39, 1);
	enter(m, TID, 3000000, 39);
	leave(m, TID, 4000000, 39, 2);
	run(m);
	same_text(m, "1.500 ( ): LOST 3 events\n"
		     "1.000 ( ): sh/42 getpid() ...\n"
		     "? ( ): sh/42 ... [continued]: getpid() = 1\n"
		     "3.000 ( 1.000 ms): sh/42 getpid() = 2\n");
}

static void test_signals(void **state)
{
	struct made *m = *state;

	name(m, TID, "sh");
	enter(m, TID, 1000000, 15);
	leave(m, TID, 1001000, -1, -4);
	leave(m, TID, 2000000, -1, 0);
	enter(m, TID, 3000000, 230);
	leave(m, TID, 3001000, 230, -516);
	enter(m, TID, 3002000, 219);
	leave(m, TID, 3003000, 219, -4095);
	enter(m, TID, 3004000, 12);
	leave(m, TID, 3005000, 12, -4096);
	run(m);
	same_text(m, "1.000 ( 0.001 ms): sh/42 rt_sigreturn() = -1 EINTR (Interrupted system call)\n"
		     "3.000 ( 0.001 ms): sh/42 clock_nanosleep(which_clock: REALTIME, flags: 0, rqtp: NULL, "
		     "rmtp: NULL) = -1 ERESTART_RESTARTBLOCK (Interrupted by signal)\n"
		     "3.002 ( 0.001 ms): sh/42 restart_syscall() = -1 errno 4095\n"
		     "3.004 ( 0.001 ms): sh/42 brk(brk: NULL) = 0xfffffffffffff000\n");
}

static void test_tasks(void **state)
{
	static const uint64_t args[] = { 0x1200011, 0, 0, 0x7f00, 0, 0 };
	struct made *m = *state;

	name(m, TID, "sh");
	name(m, CHILD, "a\x1b[2J\nb");
	enter_as(m, TID, 1000000, false, 56, args);
	leave(m, TID, 1001000, 56, CHILD);
	enter(m, CHILD, 1002000, 39);
	leave(m, CHILD, 1003000, 39, 3);
	run(m);
	same_text(m, "1.000 ( 0.001 ms): sh/42 clone(clone_flags: CHLD|CHILD_CLEARTID|CHILD_SETTID, newsp: NULL, "
		     "parent_tidptr: NULL, child_tidptr: 0x7f00, tls: 0x0) = 77 (a\\x1b[2J\\x0ab)\n"
		     "1.002 ( 0.001 ms): a\\x1b[2J\\x0ab/77 getpid() = 3\n");
}

/* A number means another call in a 32-bit task. */
static void test_32_bits(void **state)
{
	static const uint64_t args[] = { 3, 0xffffffff, 1, 0, 0, 0 };
	struct made *m = *state;

	name(m, TID, "sh");
	enter_as(m, TID, 1000000, true, 19, args);
	leave_as(m, TID, 1001000, true, 19, -9);
	enter_as(m, TID, 2000000, false, 19, args);
	leave_as(m, TID, 2001000, false, 19, -9);
	leave_as(m, TID, 3001000, true, 20, 42);
	run(m);
	same_text(m, "1.000 ( 0.001 ms): sh/42 lseek(fd: 3, offset: -1, whence: CUR) = "
		     "-1 EBADF (Bad file descriptor)\n"
		     "2.000 ( 0.001 ms): sh/42 readv(fd: 3, vec: 0xffffffff, vlen: 1) = -1 EBADF (Bad file "
		     "descriptor)\n"
		     "? ( ): sh/42 ... [continued]: getpid() = 42\n");
}

static void test_unknown_numbers(void **state)
{
	static const int64_t numbers[] = { 500, 512, 1 << 30, INT64_MAX, INT64_MIN, -2 };
	static const uint64_t args[] = { UINT64_MAX, 1, 2, 3, 4, 5 };
	struct made *m = *state;
	struct str expected = STR_INIT;

	name(m, TID, "sh");
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		enter_as(m, TID, 1000000, false, numbers[i], args);
		leave(m, TID, 1000000, numbers[i], -38);
		str_addf(&expected, "1.000 ( 0.000 ms): sh/42 syscall_%lld(arg0: 0xffffffffffffffff, arg1: 0x1, arg2: "
			 "0x2, arg3: 0x3, arg4: 0x4, arg5: 0x5) = -1 ENOSYS (Function not implemented)\n",
			 (long long)numbers[i]);
	}
	run(m);
	same_text(m, expected.s);
	str_release(&expected);
}

static void test_json(void **state)
{
	static const uint64_t args[] = { 7, 0102, 0640, 0, 9, 9 };
	struct made *m = *state;

	name(m, TID, "a\"\x1b");
	enter_as(m, TID, 1000000001, true, 5, args);
	leave_as(m, TID, 1000000003, true, 5, -2);
	leave(m, TID, 1000000004, 500, 1);
	enter(m, TID, 1000000005, 39);
	lose(m, 1000000006, 9);
	m->json = true;
	run(m);
	assert_string_equal(
		m->text.s,
		"{\"time\":1.000000001,\"duration_ns\":2,\"comm\":\"a\\\"\\u001b\",\"pid\":42,\"tid\":42,"
		"\"state\":\"whole\",\"call\":\"open\",\"number\":5,\"mode\":\"32-bit\","
		"\"args\":{\"filename\":\"0x7\",\"flags\":"
		"\"RDWR|CREAT\",\"mode\":\"0640\"},\"values\":[\"0x7\",\"0x42\",\"0x1a0\"],\"return\":-2,"
		"\"error\":\"ENOENT\"}\n"
		"{\"time\":1.000000004,\"comm\":\"a\\\"\\u001b\",\"pid\":42,\"tid\":42,\"state\":\"continued\","
		"\"call\":null,\"number\":500,\"return\":1}\n"
		"{\"time\":1.000000006,\"lost\":9}\n"
		"{\"time\":1.000000005,\"comm\":\"a\\\"\\u001b\",\"pid\":42,\"tid\":42,\"state\":\"unfinished\","
		"\"call\":\"getpid\",\"number\":39,\"args\":{},\"values\":[]}\n");
}

/* ---- texts ---- */

static void select_calls(struct made *m, const char *list)
{
	syscall_selection_release(&m->selection);
	assert_int_equal(syscall_selection_add(&m->selection, &m->table, list, &m->err), 0);
}

struct raw_text {
	uint64_t address;
	uint32_t number;
	uint8_t argument, kind;
	uint16_t len;
	uint64_t inode;
	uint32_t filesystem;
	uint8_t deleted, whole;
	uint16_t unused;
	char bytes[SYSCALL_TEXT_MAX + 4];
};

static void add_raw_text(struct made *m, uint64_t time_ns, const struct raw_text *raw)
{
	/* With the size before it a whole number of words, as the kernel has it. */
	add_text_sample(m, TID, time_ns, raw, (offsetof(struct raw_text, bytes) + raw->len + 1 + 11) / 8 * 8 - 4);
}

static void text(struct made *m, uint64_t time_ns, uint32_t number, uint8_t argument, uint64_t address,
		 const char *bytes)
{
	struct raw_text raw = { .address = address, .number = number, .argument = argument };

	raw.kind = !strcmp(bytes, "late") ? TEXT_LATE : TEXT_EARLY;
	raw.len = (uint16_t)strlen(bytes);
	memcpy(raw.bytes, bytes, raw.len);
	add_raw_text(m, time_ns, &raw);
}

static void test_texts(void **state)
{
	static const uint64_t args[] = { (uint32_t)-100, 0x7f00, 0, 0, 9, 9 };
	static const uint64_t two[] = { 0x10, 0x7f20, 0, 0, 0, 0 };
	struct made *m = *state;

	name(m, TID, "sh");
	text(m, 1000000, 257, 1, 0x7f00, "/a \"b\"\\c\n\x1b\xc3\xa9\xff");
	enter_as(m, TID, 1000001, false, 257, args);
	leave(m, TID, 1000100, 257, 3);
	enter_as(m, TID, 1000200, false, 257, args); /* it is not the text of this call */
	leave(m, TID, 1000300, 257, 3);
	enter_as(m, TID, 1000400, false, 257, args); /* read when the call ended */
	text(m, 1000490, 257, 1, 0x7f00, "late");
	leave(m, TID, 1000500, 257, 3);
	text(m, 1000600, 257, 1, 0x7f01, "/of another address");
	enter_as(m, TID, 1000601, false, 257, args);
	leave(m, TID, 1000700, 257, 3);
	text(m, 1000800, 258, 1, 0x7f00, "/of another call");
	enter_as(m, TID, 1000801, false, 257, args);
	leave(m, TID, 1000900, 257, 3);
	text(m, 1001000, 82, 0, 0x10, "");
	text(m, 1001001, 82, 1, 0x7f20, "to");
	enter_as(m, TID, 1001002, false, 82, two);
	text(m, 1001100, 257, 1, 0x7f00, "/next"); /* it ends the call before */
	enter_as(m, TID, 1001101, false, 257, args);
	leave(m, TID, 1001200, 257, 3);
	run(m);
	same_text(m,
		  "1.000 ( 0.000 ms): sh/42 openat(dfd: CWD, "
		  "filename: \"/a \\\"b\\\"\\\\c\\n\\x1b\xc3\xa9\\xff\", flags: RDONLY, mode: 0) = 3\n"
		  "1.000 ( 0.000 ms): sh/42 openat(dfd: CWD, filename: 0x7f00, flags: RDONLY, mode: 0) = 3\n"
		  "1.000 ( 0.000 ms): sh/42 openat(dfd: CWD, filename: \"late\", flags: RDONLY, mode: 0) = 3\n"
		  "1.001 ( 0.000 ms): sh/42 openat(dfd: CWD, filename: 0x7f00, flags: RDONLY, mode: 0) = 3\n"
		  "1.001 ( 0.000 ms): sh/42 openat(dfd: CWD, filename: 0x7f00, flags: RDONLY, mode: 0) = 3\n"
		  "1.001 ( ): sh/42 rename(oldname: \"\", newname: \"to\") ...\n"
		  "1.001 ( 0.000 ms): sh/42 openat(dfd: CWD, filename: \"/next\", flags: RDONLY, mode: 0) = 3\n");
}

/* What was lost may be the call that the text was of, or the text of the call. */
static void test_texts_and_losses(void **state)
{
	static const uint64_t args[] = { 0x7f00, 0, 0, 0, 9, 9 };
	struct made *m = *state;

	name(m, TID, "sh");
	text(m, 1000000, 80, 0, 0x7f00, "/before");
	lose(m, 1000001, 2);
	enter_as(m, TID, 1000002, false, 80, args);
	lose(m, 1000003, 2);
	text(m, 1000004, 80, 0, 0x7f00, "late");
	leave(m, TID, 1000005, 80, 0);
	run(m);
	same_text(m, "1.000 ( ): LOST 2 events\n"
		     "1.000 ( ): LOST 2 events\n"
		     "1.000 ( ): sh/42 chdir(filename: 0x7f00) ...\n"
		     "? ( ): sh/42 ... [continued]: chdir() = 0\n");
}

static void test_json_texts(void **state)
{
	static const uint64_t args[] = { 0x7f00, 0, 0, 0, 9, 9 };
	struct made *m = *state;

	name(m, TID, "sh");
	text(m, 1000000000, 80, 0, 0x7f00, "\"\\\n");
	enter_as(m, TID, 1000000001, false, 80, args);
	leave(m, TID, 1000000003, 80, 0);
	m->json = true;
	run(m);
	assert_non_null(strstr(m->text.s, "\"args\":{\"filename\":\"\\\"\\\\\\\"\\\\\\\\\\\\n\\\"\"}"));
}

static void test_odd_texts(void **state)
{
	struct raw_text raw = { .address = 0x7f00, .number = 80, .len = 3, .bytes = "abc" };
	const uint8_t *bytes = (const uint8_t *)&raw;
	struct syscall_text read;

	(void)state;
	for (size_t n = 0; n < 35; n++)
		assert_false(syscall_text_read(&read, bytes, n, false));
	assert_true(syscall_text_read(&read, bytes, 35, false));
	assert_true(read.len == 3 && !read.goes_on && read.address == 0x7f00 && read.number == 80);
	raw.argument = SYSCALL_ARGS;
	assert_false(syscall_text_read(&read, bytes, sizeof(raw), false));
	raw.argument = 255;
	assert_false(syscall_text_read(&read, bytes, sizeof(raw), false));
	raw.argument = 5;
	raw.kind = TEXT_KINDS;
	assert_false(syscall_text_read(&read, bytes, sizeof(raw), false));
	raw.kind = TEXT_FILE;
	for (unsigned len = SYSCALL_TEXT_MAX; len <= UINT16_MAX; len += UINT16_MAX - SYSCALL_TEXT_MAX) {
		raw.len = (uint16_t)len;
		assert_false(syscall_text_read(&read, bytes, 32 + SYSCALL_TEXT_MAX - 1, false));
		assert_true(syscall_text_read(&read, bytes, 32 + SYSCALL_TEXT_MAX, false));
		assert_true(read.len == SYSCALL_TEXT_MAX && read.goes_on == (len > SYSCALL_TEXT_MAX));
	}
	raw = (struct raw_text){ __builtin_bswap64(0x7f00), __builtin_bswap32(80), 1, TEXT_FILE, __builtin_bswap16(2),
				 __builtin_bswap64(77), __builtin_bswap32(0x50495045), 1, 0, 0, "ab" };
	assert_true(syscall_text_read(&read, bytes, 34, true));
	assert_true(read.address == 0x7f00 && read.number == 80 && read.argument == 1 && read.kind == TEXT_FILE);
	assert_true(read.len == 2 && read.inode == 77 && read.filesystem == 0x50495045 && read.deleted && !read.whole);
	assert_false(syscall_text_read(&read, bytes, 34, false));
}

/* A close() of this file, and its line. */
static void same_file(struct made *m, const struct raw_text *file, size_t n_names, const char *shown)
{
	const uint64_t args[] = { 3, 0, 0, 0, 0, 0 };
	struct raw_text raw = *file;
	struct str line = STR_INIT;

	raw.address = raw.number = 3;
	raw.kind = TEXT_FILE;
	raw.len = (uint16_t)n_names;
	str_reset(&m->text);
	name(m, TID, "sh");
	add_raw_text(m, 1000000, &raw);
	enter_as(m, TID, 1000001, false, 3, args);
	leave(m, TID, 1000002, 3, 0);
	run(m);
	str_addf(&line, "1.000 ( 0.000 ms): sh/42 close(fd: 3%s) = 0\n", shown);
	same_text(m, line.s);
	str_release(&line);
	syscall_stream_free(m->stream);
	m->stream = NULL;
}

static void test_files(void **state)
{
	struct made *m = *state;

#define FILE_OF(shown, names, is_whole, ...)                                                                       \
	same_file(m, &(struct raw_text){ .bytes = names, .whole = is_whole, __VA_ARGS__ }, sizeof(names) - 1, shown)
	FILE_OF("</>", "", 1, .inode = 0);
	FILE_OF("</usr/lib/libc.so>", "libc.so\0lib\0usr\0", 1, .inode = 0);
	FILE_OF("<.../b/c>", "c\0b\0", 0, .inode = 0);
	FILE_OF("</a (deleted)>", "a\0", 1, .deleted = 1);
	FILE_OF("</a\\<\\>\\n\\x1b>", "a<>\n\x1b\0", 1, .inode = 0);
	FILE_OF("<pipe:[18446744073709551615]>", "", 1, .filesystem = 0x50495045, .inode = UINT64_MAX);
	FILE_OF("<socket:[7]>", "x\0", 1, .filesystem = 0x534f434b, .inode = 7, .deleted = 1);
	FILE_OF("<anon_inode:[eventfd]>", "[eventfd]\0", 1, .filesystem = 0x09041934);
	/* No program of ours writes these. */
	FILE_OF("<anon_inode:>", "", 1, .filesystem = 0x09041934);
	FILE_OF("<anon_inode:ab>", "ab", 1, .filesystem = 0x09041934);
	FILE_OF("</b/a>", "a\0b", 1, .inode = 0);
	FILE_OF("<//>", "\0\0", 1, .inode = 0);
#undef FILE_OF
}

static void test_wanted_kinds(void **state)
{
	struct made *m = *state;
	uint8_t kinds[SYSCALL_NUMBERS][SYSCALL_ARGS];
	static const uint8_t nothing[SYSCALL_NUMBERS][SYSCALL_ARGS];

	syscall_selection_kinds(&m->selection, &m->table, SYSCALLS_X86_64, kinds);
	assert_true(kinds[257][0] == KIND_DIR && kinds[257][1] == KIND_PATH); /* openat */
	assert_true(kinds[0][0] == KIND_FD && kinds[0][1] == KIND_FILLED && kinds[0][2] == KIND_SIZE); /* read */
	assert_true(kinds[59][0] == KIND_PATH && kinds[59][1] == KIND_STRINGS && kinds[59][2] == KIND_COUNT);
	assert_true(kinds[19][1] == KIND_VECTOR_FILLED && kinds[46][1] == KIND_MESSAGE); /* readv, sendmsg */
	assert_true(kinds[45][1] == KIND_FILLED && kinds[45][4] == KIND_PEER); /* recvfrom */
	select_calls(m, "open");
	syscall_selection_kinds(&m->selection, &m->table, SYSCALLS_X86_64, kinds);
	assert_int_equal(kinds[2][0], KIND_PATH);
	assert_memory_equal(kinds[257], nothing[257], sizeof(nothing[257]));
	/* It has no open. */
	syscall_selection_kinds(&m->selection, &m->table, SYSCALLS_GENERIC, kinds);
	assert_memory_equal(kinds, nothing, sizeof(nothing));
	syscall_selection_kinds(&m->selection, &m->table, SYSCALLS_UNKNOWN, kinds);
	assert_memory_equal(kinds, nothing, sizeof(nothing));
}

/* Lengths that BPF programs read are those of the argument that follows. */
static void test_lengths_follow(void **state)
{
	static const uint8_t lengths[KIND_WORDS] = {
		[KIND_BYTES] = 1, [KIND_FILLED] = 1, [KIND_ADDRESS] = 1, [KIND_PEER] = 2,
		[KIND_VECTOR] = 1, [KIND_VECTOR_FILLED] = 1,
	};
	struct made *m = *state;
	size_t n = 0;

	for (size_t i = 0; i < m->table.n; i++) {
		const struct syscall_row *row = &m->table.v[i];

		for (size_t a = 0; a < row->n_args; a++) {
			const uint8_t length = row->args[a].kind < KIND_WORDS ? lengths[row->args[a].kind] : 0;
			const int kind = length && a + 1 < row->n_args ? row->args[a + 1].kind : -1;

			n += length != 0;
			if (length == 1)
				assert_true(kind == KIND_SIZE || kind == KIND_INT || kind == KIND_UINT);
			if (length == 2)
				assert_int_equal(kind, KIND_PTR);
		}
	}
	assert_true(n >= 31);
}

static bool is_late(int kind)
{
	const struct syscall_text text = { .kind = (enum syscall_text_kind)kind };

	return syscall_text_is_late(&text);
}

/* A call whose second argument points at these bytes, as it is shown; NULL: with its bytes as data. */
static void same_bytes(struct made *m, uint32_t number, enum syscall_text_kind kind, bool whole, const char *bytes,
		       size_t n, const char *shown)
{
	const uint64_t args[] = { 3, 0x7f00, 1, 0, 0, 0 };
	struct raw_text raw = { .address = 0x7f00, .number = number, .argument = 1, .kind = (uint8_t)kind,
				.len = (uint16_t)n, .whole = whole };
	struct str line = STR_INIT;
	const char *from, *to;

	memcpy(raw.bytes, bytes, n);
	str_reset(&m->text);
	name(m, TID, "sh");
	if (!is_late(kind))
		add_raw_text(m, 1000000, &raw);
	enter_as(m, TID, 1000001, false, number, args);
	if (is_late(kind))
		add_raw_text(m, 1000002, &raw);
	leave(m, TID, 1000003, number, 0);
	run(m);
	from = strstr(strchr(m->text.s, '('), ", ");
	from = strstr(from, ": ") + 2;
	to = strstr(from, number == 59 ? ", envp" : ", count");
	to = to ? to : strstr(from, ", addrlen");
	to = to ? to : strstr(from, ", vlen");
	to = to ? to : strstr(from, ", flags: OOB)");
	to = to ? to : strstr(from, ", usockaddr_len");
	str_addn(&line, from, (size_t)(to - from));
	if (shown)
		assert_string_equal(line.s, shown);
	else
		assert_non_null(strstr(line.s, ", data: \""));
	str_release(&line);
	syscall_stream_free(m->stream);
	m->stream = NULL;
}

#define BYTES_OF(number, kind, whole, bytes, shown) same_bytes(m, number, kind, whole, bytes, sizeof(bytes) - 1, shown)

static void test_buffers(void **state)
{
	enum { READ = 0, WRITE = 1, EXECVE = 59 };
	struct made *m = *state;

	BYTES_OF(WRITE, TEXT_BYTES, true, "a\0\"\xff", "\"a\\x00\\\"\\xff\"");
	BYTES_OF(WRITE, TEXT_BYTES_LATE, false, "abc", "\"abc\"...");
	BYTES_OF(READ, TEXT_BYTES_LATE, true, "", "\"\"");
	BYTES_OF(EXECVE, TEXT_STRINGS, true, "ls\0-l\0", "[\"ls\", \"-l\"]");
	BYTES_OF(EXECVE, TEXT_STRINGS, true, "", "[]");
	BYTES_OF(EXECVE, TEXT_STRINGS, false, "", "[...]");
	BYTES_OF(EXECVE, TEXT_STRINGS, false, "ls\0\0", "[\"ls\", \"\", ...]");
	/* No program of ours writes these. */
	BYTES_OF(EXECVE, TEXT_STRINGS, true, "a\0b", "[\"a\", \"b\"]");
	BYTES_OF(EXECVE, TEXT_BYTES, true, "abc", "0x7f00");
	BYTES_OF(WRITE, TEXT_STRINGS, true, "abc", "0x7f00");
	BYTES_OF(WRITE, TEXT_EARLY, true, "abc", "0x7f00");
	BYTES_OF(WRITE, TEXT_FILE, true, "abc", "0x7f00");
}

static void test_socket_addresses(void **state)
{
	enum { CONNECT = 42, GETSOCKNAME = 51 };
	static const char inet6[] = "\x0a\0\0\x50\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\3\0\0\0";
	const struct syscall_text swapped = { .bytes = "\0\x10\0\0\0\0\x12\x67\0\0\0\x11", .len = 12 };
	struct made *m = *state;

	BYTES_OF(CONNECT, TEXT_BYTES, true, "\2\0\1\2\x0a\1\2\xff", "{ .family: INET, port: 258, addr: 10.1.2.255 }");
	BYTES_OF(CONNECT, TEXT_BYTES, true, inet6, "{ .family: INET6, port: 80, addr: ::1, scope: 3 }");
	BYTES_OF(CONNECT, TEXT_BYTES, true, "\1\0/a\0b", "{ .family: UNIX, path: \"/a\" }");
	BYTES_OF(GETSOCKNAME, TEXT_BYTES_LATE, true, "\1\0\0a\0", "{ .family: UNIX, path: @\"a\\x00\" }");
	BYTES_OF(GETSOCKNAME, TEXT_BYTES_LATE, false, "\1\0", "{ .family: UNIX }...");
	/* Those that are cut show what there is; none is read past its end. */
	for (size_t n = 2; n < 28; n++) {
		str_reset(&m->text);
		same_bytes(m, CONNECT, TEXT_BYTES, true, inet6, n, n == 2 ? "{ .family: INET6 }" : NULL);
	}
	BYTES_OF(CONNECT, TEXT_BYTES, true, "\2", "\"\\x02\"");
	BYTES_OF(CONNECT, TEXT_BYTES, true, "", "\"\"");
	str_reset(&m->text);
	syscall_address_add(m->table.words, &swapped, true, &m->text);
	assert_string_equal(m->text.s, "{ .family: NETLINK, pid: 4711, groups: 0x11 }");
}

/* As the program writes them: address, length, how many bytes are valid, how many follow. */
#define ELEMENT(address, len, valid, n) address "\0\0\0\0\0\0\0" len "\0\0\0\0\0\0\0" valid n "\0\0\0"

static void test_vectors(void **state)
{
	enum { READV = 19, WRITEV = 20 };
	struct made *m = *state;

	BYTES_OF(WRITEV, TEXT_VECTOR, true,
		 ELEMENT("\1", "\5", "\5\0\0\0", "\5") "hello\0\0\0" ELEMENT("\0", "\1", "\1\0\0\0", "\0"),
		 "[{ .base: \"hello\", len: 5 }, { .base: NULL, len: 1 }]");
	BYTES_OF(READV, TEXT_VECTOR_LATE, false,
		 ELEMENT("\1", "\7", "\3\0\0\0", "\2") "ab\0\0\0\0\0\0" ELEMENT("\2", "\0", "\xff\xff\xff\xff", "\0"),
		 "[{ .base: \"ab\"..., len: 7 }, { .base: 0x2, len: 0 }, ...]");
	BYTES_OF(WRITEV, TEXT_VECTOR, true, "", "[]");
	BYTES_OF(WRITEV, TEXT_VECTOR, false, "", "0x7f00");
	/* No program of ours writes these. */
	BYTES_OF(WRITEV, TEXT_VECTOR, true, ELEMENT("\1", "\5", "\5\0\0\0", "\5") "he",
		 "[{ .base: \"he\"..., len: 5 }]");
	BYTES_OF(WRITEV, TEXT_VECTOR, true, ELEMENT("\1", "\5", "\5\0\0\0", "\5") "hello\0\0\0abc",
		 "[{ .base: \"hello\", len: 5 }]");
	BYTES_OF(WRITEV, TEXT_MESSAGE, true, "abc", "0x7f00");
	BYTES_OF(WRITEV, TEXT_BYTES, true, "abc", "0x7f00");
}

static void test_messages(void **state)
{
	enum { SENDMSG = 46, RECVMSG = 47, MESSAGE = 184 };
	static const char element[] = ELEMENT("\1", "\2", "\2\0\0\0", "\2") "ab\0\0\0\0\0";
	static const char address[] = "\2\0\1\2\x0a\1\2\xff";
	static const char address_shown[] = "{ .name: { .family: INET, port: 258, addr: 10.1.2.255 }..., namelen: 16, "
					    "iov: [{ .base: \"ab\", len: 2 }], iovlen: 1, control: 0x9, controllen: 8, "
					    "flags: TRUNC }";
	char bytes[MESSAGE + sizeof(element)] = {
		[0] = 5, [8] = 9, [16] = 8, [24] = 7, [32] = 1, [40] = 16, [44] = 0x20, [48] = 8,
	};
	struct made *m = *state;

	memcpy(bytes + 56, address, 8);
	memcpy(bytes + MESSAGE, element, sizeof(element));
	same_bytes(m, RECVMSG, TEXT_MESSAGE_LATE, true, bytes, sizeof(bytes), address_shown);
	bytes[48] = 0;
	same_bytes(m, SENDMSG, TEXT_MESSAGE, false, bytes, MESSAGE,
		   "{ .name: 0x5, namelen: 16, iov: 0x7, iovlen: 1, control: 0x9, controllen: 8, flags: TRUNC }");
	bytes[48] = bytes[49] = (char)0xff; /* more than there can be */
	same_bytes(m, SENDMSG, TEXT_MESSAGE, true, bytes, MESSAGE,
		   "{ .name: { .family: INET, port: 258, addr: 10.1.2.255 }, namelen: 16, iov: [], iovlen: 1, "
		   "control: 0x9, controllen: 8, flags: TRUNC }");
	same_bytes(m, SENDMSG, TEXT_MESSAGE, true, bytes, MESSAGE - 1, "0x7f00");
	same_bytes(m, SENDMSG, TEXT_VECTOR, true, bytes, sizeof(bytes), "0x7f00");
}

static void test_environments(void **state)
{
	static const struct syscall_text text = { .kind = TEXT_COUNT };
	struct made *m = *state;
	const uint64_t args[] = { 0, 0, 0x7f00, 0, 0, 0 };
	struct raw_text raw = { .address = 0x7f00, .number = 59, .argument = 2, .kind = TEXT_COUNT, .len = 8,
				.whole = 1, .bytes = "\3" };

	assert_false(syscall_text_is_late(&text));
	name(m, TID, "sh");
	for (uint64_t time_ns = 1000000; time_ns < 1000600; time_ns += 200) {
		add_raw_text(m, time_ns, &raw);
		enter_as(m, TID, time_ns + 1, false, 59, args);
		leave(m, TID, time_ns + 2, 59, -2);
		raw.whole = 0;
		raw.len = time_ns == 1000000 ? 8 : 7;
	}
	run(m);
	assert_non_null(strstr(m->text.s, "envp: 0x7f00 /* 3 vars */)"));
	assert_non_null(strstr(m->text.s, "envp: 0x7f00 /* 3+ vars */)"));
	assert_non_null(strstr(m->text.s, "envp: 0x7f00)"));
}

/* ---- what does not fit ---- */

static void test_cut_samples(void **state)
{
	static const uint8_t bytes[68] = { ENTER_TYPE & 0xff, ENTER_TYPE >> 8 };
	struct made *m = *state;

	for (size_t n = 4; n < sizeof(bytes); n += 8)
		add_sample(m, TID, 1000 + n, false, false, bytes, n);
	for (size_t n = 4; n < 24; n += 8)
		add_sample(m, TID, 2000 + n, true, false, bytes, n);
	run(m);
	same_text(m, "");
}

static void test_odd_formats(void **state)
{
	struct made *m = *state;

	set_formats(m, enter_format, odd_format);
	open_stream(m);
	assert_null(m->stream);
	assert_string_equal(m->err.s, "the recording does not have the tracepoints of system calls, "
				      "raw_syscalls:sys_enter and raw_syscalls:sys_exit");
	str_reset(&m->err);
	m->info.tracing_data_size = 0;
	open_stream(m);
	assert_null(m->stream);
	assert_string_equal(m->err.s, "the recording has no formats of tracepoints");
}

/* Bytes that come by chance: what is told stays text. */
static void test_any_bytes(void **state)
{
	struct made *m = *state;
	uint64_t seed = 1;

	for (unsigned i = 0; i < 4000; i++) {
		uint64_t raw[9];

		for (size_t j = 0; j < ARRAY_SIZE(raw); j++) {
			seed = seed * 6364136223846793005 + 1442695040888963407;
			raw[j] = seed >> (seed >> 58);
		}
		raw[1] %= 600;
		if (raw[3] % 3 == 2)
			add_text_sample(m, (int)(raw[2] % 5), 1000 + i, raw, 68);
		else
			add_sample(m, (int)(raw[2] % 5), 1000 + i, raw[3] % 3, raw[3] & 4, raw, 68);
	}
	run(m);
	assert_true(m->n_told > 1500);
	for (size_t i = 0; i < m->text.len; i++)
		assert_true(m->text.s[i] == '\n' || (m->text.s[i] >= ' ' && m->text.s[i] <= '~'));
}

/* Texts of all kinds, with any bytes, for arguments of all kinds: what is told stays text. */
static void test_any_texts(void **state)
{
	struct made *m = *state;
	uint64_t seed = 1, args[SYSCALL_ARGS], time_ns = 1000;

	for (unsigned i = 0; i < 6000; i++) {
		struct raw_text raw = { .address = i + 1, .number = i % 470, .whole = i % 2 };

		raw.argument = (uint8_t)(i / 470 % SYSCALL_ARGS);
		raw.kind = (uint8_t)((raw.number + i / (470 * SYSCALL_ARGS)) % TEXT_KINDS);
		for (size_t j = 0; j < 40; j++) {
			seed = seed * 6364136223846793005 + 1442695040888963407;
			raw.bytes[j] = (char)(seed >> 40);
		}
		raw.len = (uint16_t)(seed >> 33) % 40;
		raw.bytes[0] &= 31; /* families that there are */
		raw.bytes[1] &= 1;
		for (size_t j = 0; j < SYSCALL_ARGS; j++)
			args[j] = raw.address;
		if (!is_late(raw.kind))
			add_raw_text(m, time_ns++, &raw);
		enter_as(m, TID, time_ns++, false, (int64_t)raw.number, args);
		if (is_late(raw.kind))
			add_raw_text(m, time_ns++, &raw);
		leave(m, TID, time_ns++, (int64_t)raw.number, 0);
	}
	run(m);
	assert_true(m->n_told > 5500);
	assert_non_null(strstr(m->text.s, "{ .family: "));
	assert_non_null(strstr(m->text.s, "argv: [\""));
	assert_non_null(strstr(m->text.s, "buf: \""));
	assert_non_null(strstr(m->text.s, "vec: [{ .base: "));
	for (size_t i = 0; i < m->text.len; i++)
		assert_true(m->text.s[i] == '\n' || (uint8_t)m->text.s[i] >= ' ');
}

static void test_enough(void **state)
{
	struct made *m = *state;

	for (unsigned i = 0; i < 10; i++) {
		enter(m, TID, 1000 + 2 * i, 39);
		leave(m, TID, 1001 + 2 * i, 39, 1);
	}
	enter(m, TID, 2000, 39);
	m->stop_at = 3;
	run(m);
	assert_int_equal(m->n_told, 3);
}

/* ---- the tables ---- */

static void test_table(void **state)
{
	struct made *m = *state;
	const struct syscall_table *t = &m->table;

	for (size_t i = 1; i < t->n; i++) {
		for (size_t abi = 0; abi < SYSCALL_ABIS; abi++) {
			if (t->v[i].numbers[abi] < 0)
				continue;
			if (syscall_find(t, abi, t->v[i].numbers[abi]) != &t->v[i])
				fail_msg("%s shares the number %d", t->v[i].name, t->v[i].numbers[abi]);
		}
		for (size_t arg = 0; arg < t->v[i].n_args; arg++)
			if (t->v[i].args[arg].kind == (uint8_t)-1)
				fail_msg("%s: the kind of %s is not known", t->v[i].name, t->v[i].args[arg].name);
	}
	assert_string_equal(syscall_find(t, SYSCALLS_X86_64, 0)->name, "read");
	assert_string_equal(syscall_find(t, SYSCALLS_I386, 0)->name, "restart_syscall");
	assert_string_equal(syscall_find(t, SYSCALLS_GENERIC, 63)->name, "read");
	assert_string_equal(syscall_find(t, SYSCALLS_GENERIC, 220)->args[3].name, "tls");
	assert_string_equal(syscall_find(t, SYSCALLS_X86_64, 56)->args[3].name, "child_tidptr");
	assert_ptr_equal(syscall_find(t, SYSCALLS_UNKNOWN, 0), &t->v[0]);
}

static void same_words(struct made *m, const char *kind, uint64_t value, const char *expected)
{
	int found = syscall_kind_find(m->table.words, kind, strlen(kind), false);

	assert_true(found >= KIND_WORDS);
	str_reset(&m->text);
	syscall_words_add(m->table.words, found, value, &m->text);
	assert_string_equal(m->text.s, expected);
}

static void test_words(void **state)
{
	struct made *m = *state;

	same_words(m, "open", 0, "RDONLY");
	same_words(m, "open", 02 | 0100 | 01000, "RDWR|CREAT|TRUNC");
	same_words(m, "open", 020200000 | 2, "RDWR|TMPFILE");
	same_words(m, "open", 0200000, "RDONLY|DIRECTORY");
	same_words(m, "open", 3, "3");
	same_words(m, "open", 04010000 | 010000000000, "RDONLY|SYNC|0x40000000");
	same_words(m, "armopen", 040000, "RDONLY|DIRECTORY");
	same_words(m, "prot", 0, "NONE");
	same_words(m, "prot", 5, "READ|EXEC");
	same_words(m, "whence", 0, "SET");
	same_words(m, "whence", 9, "9");
	same_words(m, "whence", 0xffffffff, "0xffffffff");
	same_words(m, "mmap", 0x22, "PRIVATE|ANONYMOUS");
	same_words(m, "mmap", 0, "0");
	same_words(m, "access", 0, "F");
	same_words(m, "futex", 0, "WAIT");
	same_words(m, "futex", 128 | 1, "WAKE|PRIVATE_FLAG");
	same_words(m, "socktype", 1 | 04000, "STREAM|NONBLOCK");
	same_words(m, "rusage", 0xffffffff, "CHILDREN");
	same_words(m, "msg", 0, "0");
}

/* ---- selections ---- */

static bool takes(const struct made *m, const char *call)
{
	for (size_t i = 1; i < m->table.n; i++)
		if (!strcmp(m->table.v[i].name, call))
			return syscall_is_taken(&m->selection, &m->table, &m->table.v[i]);
	fail_msg("no call %s", call);
	return false;
}

static void test_selection(void **state)
{
	struct made *m = *state;

	assert_true(takes(m, "read"));
	select_calls(m, "read,open*");
	assert_true(takes(m, "read") && takes(m, "open") && takes(m, "openat2") && !takes(m, "pread64"));
	assert_false(syscall_is_taken(&m->selection, &m->table, &m->table.v[0]));
	select_calls(m, "!read,open*");
	assert_true(!takes(m, "read") && !takes(m, "openat") && takes(m, "write"));
	assert_true(syscall_is_taken(&m->selection, &m->table, &m->table.v[0]));
	select_calls(m, "%file");
	assert_true(takes(m, "openat") && takes(m, "execve") && takes(m, "rename") && !takes(m, "read"));
	select_calls(m, "desc");
	assert_true(takes(m, "openat") && takes(m, "read") && !takes(m, "open"));
	select_calls(m, "network,%signal");
	assert_true(takes(m, "socket") && takes(m, "kill") && !takes(m, "mmap"));
	select_calls(m, "%memory");
	assert_int_equal(syscall_selection_add(&m->selection, &m->table, "!mmap", &m->err), 0);
	assert_true(takes(m, "brk") && !takes(m, "mmap"));
	assert_int_equal(syscall_selection_add(&m->selection, &m->table, "raed", &m->err), -EINVAL);
	assert_string_equal(m->err.s, "--event: 'raed' is neither a system call nor a class of them, nor another "
				      "event\n"
				      "did you mean read?");
	str_reset(&m->err);
	assert_int_equal(syscall_selection_add(&m->selection, &m->table, "%nope", &m->err), -EINVAL);
	str_reset(&m->err);
	assert_int_equal(syscall_selection_add(&m->selection, &m->table, "", &m->err), -EINVAL);
}

static void same_filter(struct made *m, enum syscall_abi abi, const char *expected)
{
	str_reset(&m->text);
	syscall_selection_filter(&m->selection, &m->table, abi, &m->text);
	assert_string_equal(m->text.s, expected);
}

static void test_filter(void **state)
{
	struct made *m = *state;

	same_filter(m, SYSCALLS_X86_64, "");
	select_calls(m, "read");
	same_filter(m, SYSCALLS_X86_64, "id == 0 || id == 3"); /* 3 of 32-bit tasks */
	same_filter(m, SYSCALLS_GENERIC, "id == 63");
	same_filter(m, SYSCALLS_UNKNOWN, "");
	select_calls(m, "rt_sigreturn");
	same_filter(m, SYSCALLS_GENERIC, "id == 139 || id == -1");
	select_calls(m, "!read");
	same_filter(m, SYSCALLS_GENERIC, "id != 63");
	same_filter(m, SYSCALLS_X86_64, ""); /* both numbers are also of calls that are taken */
	select_calls(m, "*");
	same_filter(m, SYSCALLS_X86_64, ""); /* it would be too long */
}

/* ---- other events ---- */

static void make_others(struct made *m)
{
	struct record_body map = body_of(RECORD_MMAP, TID, 1);

	map.mmap = (struct record_mmap){ .pid = TID, .tid = TID, .start = 0x400000, .len = 0x1000, .pgoff = 0x2000,
					 .path = "/bin/\033x" };
	add(m, &map, 0);
	name(m, TID, "sh");
	enter(m, TID, 1000000, 39);
	ran(m, TID, 1500000, "\033[1m\"", 123);
	fault(m, TID, 1600000, 0x400010, 0x400020);
	leave(m, TID, 2000000, 39, 42);
	fault(m, CHILD, 2100000, 0x400010, 0xffffffff00000000);
	ran(m, CHILD, 2200000, "0123456789abcdef", 456);
}

static void test_events(void **state)
{
	struct made *m = *state;

	make_others(m);
	open_with(m, true);
	m->lines.base_ns = 1000000;
	run(m);
	same_text(m,
		  "0.500 ( ): sh/42 sched:sched_stat_runtime(comm: \"\\x1b[1m\"\", pid: 42 (sh), "
		  "cpus: 0001feff, runtime: 123)\n"
		  "0.600 ( ): sh/42 minfault [0x2010] => /bin/\\x1bx@0x2020 (d.)\n"
		  "0.000 ( 1.000 ms): sh/42 getpid() = 42\n"
		  "1.100 ( ): :77/77 minfault [0x400010] => 0xffffffff00000000 (?k)\n"
		  "1.200 ( ): :77/77 sched:sched_stat_runtime(comm: \"0123456789abcdef\", pid: 77, cpus: 0001feff, "
		  "runtime: 456)\n");
}

static void test_events_as_json(void **state)
{
	struct made *m = *state;

	m->json = true;
	make_others(m);
	open_with(m, true);
	run(m);
	assert_non_null(strstr(m->text.s,
			       "{\"time\":0.001500000,\"comm\":\"sh\",\"pid\":42,\"tid\":42,\"event\":"
			       "\"sched:sched_stat_runtime\",\"fields\":{\"comm\":\"\\u001b[1m\\\"\",\"pid\":42,"
			       "\"cpus\":\"0001feff\",\"runtime\":123}}\n"));
	assert_non_null(strstr(m->text.s, "\"fault\":\"minfault\",\"ip\":\"0x400010\",\"ip_dso\":\"/bin/\\u001bx\","
					  "\"address\":\"0x400020\",\"address_dso\":\"/bin/\\u001bx\"}\n"));
}

/* What a file does not have is not made up: a sample that ends before its field, and formats. */
static void test_events_without(void **state)
{
	struct made *m = *state;
	struct record_body body = sample_of(RUNTIME_ID, TID, 1, "1234567", 8);

	add(m, &body, 2);
	fault(m, TID, 2, 0x10, 0x20);
	set_formats(m, enter_format, odd_format);
	open_with(m, true);
	run(m);
	same_text(m, "0.000 ( ): :42/42 minfault [0x10] => 0x20 (?.)\n");
	syscall_stream_free(m->stream);
	m->at = 0;
	str_reset(&m->text);
	m->info.tracing_data_size = 0;
	m->stream = NULL;
	open_with(m, true);
	run(m);
	assert_non_null(strstr(m->text.s, "minfault [0x10] => 0x20 (?.)\n"));
}

/* ---- sums ---- */

static void test_summary(void **state)
{
	struct made *m = *state;

	name(m, TID, "sh");
	name(m, CHILD, "two");
	for (unsigned i = 1; i <= 100; i++) { /* 1 to 100 us */
		enter(m, TID, 1000000 * i, 0);
		leave(m, TID, 1000000 * i + 1000 * i, 0, i % 10 ? 1 : -11);
	}
	enter(m, CHILD, 200000000, 0);
	leave(m, CHILD, 200000007, 0, 1);
	enter(m, CHILD, 200000008, 231);
	leave(m, TID, 200000009, 1, 1);
	lose(m, 200000010, 9);
	open_stream(m);
	m->summary = syscall_summary_new(&(struct syscall_summary_options){
		.table = &m->table, .errnos = true, .histogram = true,
		.replay = &m->session.replay });
	run(m);
	str_reset(&m->text);
	syscall_summary_print(m->summary, &m->text);
	assert_non_null(strstr(m->text.s, " sh (42), 101 calls, 98.1%\n"));
	assert_non_null(strstr(m->text.s, "   read                 100     10     5.050     0.001     0.051     0.100"
					  "      5.74%     0.050     0.095     0.099\n"
					  "                         EAGAIN: 10\n"));
	assert_non_null(strstr(m->text.s, "   write                  1      0         -"));
	assert_non_null(strstr(m->text.s, " two (77), 2 calls, 1.9%\n"));
	assert_non_null(strstr(m->text.s, " all 2 threads, 103 calls\n"));
	assert_non_null(strstr(m->text.s, "   read                 101     10     5.050     0.000     0.050     0.100"
					  "      5.83%     0.050     0.095     0.099\n"));
	assert_non_null(strstr(m->text.s, "   read: 101 durations\n"
					  "         0 ns to      32 ns         1 |#\n"
					  "        32 ns to      64 ns         0 |\n"));
	assert_non_null(strstr(m->text.s, "     65.54 us to  131.07 us        35 |#####"));
	assert_non_null(strstr(m->text.s, " Calls without a duration: 1 whose begin and 0 whose end was not seen\n"
					  " LOST 9 events: there were more calls than are counted\n"));
}

static void test_summary_of_events(void **state)
{
	struct made *m = *state;

	make_others(m);
	open_with(m, true);
	m->summary = syscall_summary_new(&(struct syscall_summary_options){
		.table = &m->table, .runtime = true, .replay = &m->session.replay });
	run(m);
	str_reset(&m->text);
	syscall_summary_print(m->summary, &m->text);
	assert_non_null(strstr(m->text.s, " sh (42), 1 calls, 100.0%, 1 minfaults, 0.000 msec\n\n   syscall "));
	assert_non_null(strstr(m->text.s, " :77 (77), 0 calls, 0.0%, 1 minfaults, 0.000 msec\n\n all 2 threads, "
					  "1 calls, 2 minfaults, 0.001 msec\n\n   syscall "));
}

static void test_summary_as_json(void **state)
{
	struct made *m = *state;

	make_others(m);
	enter(m, TID, 3000000, 0);
	leave(m, TID, 3000500, 0, -11);
	open_with(m, true);
	m->summary = syscall_summary_new(&(struct syscall_summary_options){
		.table = &m->table, .runtime = true, .errnos = true, .replay = &m->session.replay });
	run(m);
	str_reset(&m->text);
	syscall_summary_json(m->summary, &m->text);
	assert_non_null(strstr(m->text.s,
			       "{\"comm\":\"sh\",\"tid\":42,\"calls\":2,\"faults\":0,\"minor_faults\":1,"
			       "\"major_faults\":0,\"runtime_ns\":123}\n"
			       "{\"comm\":\"sh\",\"tid\":42,\"call\":\"getpid\",\"calls\":1,\"errors\":0,"
			       "\"durations\":1,\"total_ns\":1000000,\"min_ns\":1000000,\"mean_ns\":1000000.0,"
			       "\"max_ns\":1000000,"
			       "\"stddev_pct\":0.00,\"median_ns\":1000000,\"p95_ns\":1000000,\"p99_ns\":1000000,"
			       "\"by_error\":{}}\n"
			       "{\"comm\":\"sh\",\"tid\":42,\"call\":\"read\",\"calls\":1,\"errors\":1,"));
	assert_non_null(strstr(m->text.s, ",\"by_error\":{\"EAGAIN\":1}}\n{\"comm\":\":77\",\"tid\":77,\"calls\":0,"));
	assert_non_null(strstr(m->text.s,
			       "{\"threads\":2,\"calls\":2,\"faults\":0,\"minor_faults\":2,\"major_faults\":0,"
			       "\"runtime_ns\":579,\"without_begin\":0,\"without_end\":0,\"lost\":0}\n"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(whole), TEST(halves), TEST(losses), TEST(signals), TEST(tasks), TEST(32_bits),
		TEST(unknown_numbers), TEST(json), TEST(texts),
		TEST(texts_and_losses), TEST(json_texts), TEST(odd_texts), TEST(files), TEST(wanted_kinds),
		TEST(lengths_follow), TEST(buffers), TEST(socket_addresses), TEST(vectors),
		TEST(messages), TEST(environments),
		TEST(cut_samples), TEST(odd_formats), TEST(any_bytes), TEST(any_texts),
		TEST(enough),
		TEST(table), TEST(words), TEST(selection), TEST(filter), TEST(summary),
		TEST(events), TEST(events_as_json), TEST(events_without), TEST(summary_of_events),
		TEST(summary_as_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
