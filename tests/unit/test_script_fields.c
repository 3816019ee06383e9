/* SPDX-License-Identifier: MIT */
/*
 * -F, and the lines that come of it: samples made here, so each column's content is known. Names of functions and
 * chains are compared with perf's by tests/cli/script_vs_perf.sh.
 */
#include "session_fixture.h"

#include "script/script_internal.h"

#define S 1000000000ULL

/* ---- the choice ---- */

static void add_fields(uint64_t fields, struct str *out)
{
	for (int i = 0; i < SCRIPT_FIELDS; i++)
		if (fields & FIELD_BIT(i))
			str_addf(out, "%s%s", out->len ? " " : "", script_field_rows[i].name);
}

/* Types as in -F's order: hw 0, sw 1, trace 2, raw 3, break 4, cache 5, synth 6, other 7. */
static const struct {
	const char *lists;
	size_t type;
	const char *fields; /* or the beginning of the error */
} choices[] = {
	{ NULL, 0, "comm tid cpu time period event ip sym symoff dso" },
	{ NULL, 1, "comm tid cpu time period event ip sym symoff dso bpf-output" },
	{ NULL, 2, "comm tid cpu time event trace" },
	{ NULL, 3, "comm tid cpu time period event addr data_src weight ins_lat ip sym symoff dso "
		   "phys_addr data_page_size code_page_size" },
	{ NULL, 6, "comm tid cpu time event ip sym symoff dso synth" },
	{ NULL, 7, "comm tid cpu time period event ip sym symoff dso" },
	{ "comm,tid", 0, "comm tid" },
	{ "tid,comm", 2, "comm tid" },
	{ "comm,,tid,", 1, "comm tid" },
	{ "comm,trace", 0, "comm" },
	{ "comm,trace", 2, "comm trace" },
	{ "comm,ip,bpf-output", 1, "comm ip bpf-output" },
	{ "comm,ip,bpf-output", 0, "comm ip" },
	{ "+pid", 0, "comm pid tid cpu time period event ip sym symoff dso" },
	{ "-comm,-tid,+misc", 2, "cpu misc time event trace" },
	{ "hw:comm", 0, "comm" },
	{ "hw:comm", 2, "comm tid cpu time event trace" },
	{ "hw:", 0, "" },
	{ "hw:", 1, "comm tid cpu time period event ip sym symoff dso bpf-output" },
	{ "other:+pid", 7, "comm pid tid cpu time period event ip sym symoff dso" },
	{ "cache:tid", 5, "tid" },
	{ "break:tid", 4, "tid" },
	{ "comm\ntrace:+pid", 2, "comm pid" },
	{ "comm\ntrace:+pid", 1, "comm" },
	{ "trace:comm\ntid", 2, "tid" },
	{ "+pid\n-pid", 0, "comm tid cpu time period event ip sym symoff dso" },
	{ "ip,sym,symoff", 0, "ip sym symoff" },
	{ "addr,sym,dso", 0, "addr sym dso" },
	{ "brstackoff,dso", 0, "dso brstackoff" },
	{ "", 0, "-F: an empty list" },
	{ "comn", 0, "-F: there is no field 'comn'\ndid you mean comm?" },
	{ "xw:comm", 0, "-F: 'xw' is not hw, sw" },
	{ "comm,+tid", 0, "-F comm,+tid: +field and -field change" },
	{ "+tid,comm", 0, "-F +tid,comm: +field and -field change" },
	{ "hw:trace", 0, "-F hw:trace: only tracepoints have that" },
	{ "trace:bpf-output", 0, "-F trace:bpf-output: only software events have that" },
	{ "symoff,ip", 0, "-F symoff: it is printed after the function" },
	{ "sym", 0, "-F sym: it is printed after an address" },
	{ "dso", 0, "-F dso: it is printed after an address" },
	{ "srcline", 0, "-F srcline: it is printed below the address" },
	{ "srcline,brstackinsn", 0, "srcline brstackinsn" },
	{ "+insn,+srccode", 7, "comm tid cpu time period event ip sym symoff dso insn srccode" },
	{ "synth:+ipc", 6, "comm tid cpu time event ip sym symoff dso synth ipc" },
	{ "metric", 0, "-F metric: metrics are those of pstat stat" },
};

static void test_lists(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		struct script_choice choice;
		struct str text = STR_INIT;

		if (!script_read_choice(&choice, choices[i].lists, &text))
			add_fields(choice.fields[choices[i].type], &text);
		else
			text.s[strlen(choices[i].fields) < text.len ? strlen(choices[i].fields) : text.len] = '\0';
		assert_string_equal(text.s ? text.s : "", choices[i].fields);
		str_release(&text);
	}
}

/* Each name is there once and is understood. */
static void test_names(void **state)
{
	const char *name, *help;
	size_t n = 0;

	(void)state;
	for (; script_field_row(n, &name, &help); n++) {
		struct script_choice choice;
		struct str err = STR_INIT, list = STR_INIT;

		str_addf(&list, "ip,addr,sym,%s", name);
		assert_true(*help);
		assert_int_equal(script_read_choice(&choice, list.s, &err), 0);
		assert_true(choice.asked[0] & FIELD_BIT(n) || choice.asked[1] & FIELD_BIT(n) ||
			    choice.asked[2] & FIELD_BIT(n));
		str_release(&err);
		str_release(&list);
	}
	assert_int_equal(n, SCRIPT_FIELDS);
}

/* ---- lines ---- */

static int keep(void *context, struct str *text)
{
	struct str *all = context;

	str_addn(all, text->s, text->len);
	str_reset(text);
	return 0;
}

/* What a recording is as text; or the error. */
static struct str printed(struct made_recording *recording, const struct script_options *options)
{
	struct str bytes, all = STR_INIT, err = STR_INIT;
	struct output output = { .text = STR_INIT, .write = keep, .context = &all };
	struct script *script = NULL;
	struct reader reader;

	recording_bytes(recording, false, &bytes);
	if (reader_open_fd(&reader, fix_memory_file(bytes.s, bytes.len), "recording", &err))
		fail_msg("%s", err.s);
	if (script_new(&script, options, &reader, &err)) {
		str_add(&all, err.s);
	} else {
		assert_int_equal(script_run(script, &output, NULL, NULL, &err), 0);
		assert_int_equal(output_end(&output), 0);
	}
	script_free(script);
	reader_close(&reader);
	str_release(&output.text);
	str_release(&bytes);
	str_release(&err);
	return all;
}

static void check(struct made_recording *recording, struct script_options options, const char *want)
{
	struct str text = printed(recording, &options);

	assert_string_equal(text.s ? text.s : "", want);
	str_release(&text);
}

/* Two tasks, three samples of which one is in the kernel; addresses in no map have no names. */
static void make(struct made_recording *recording)
{
	static const uint64_t ips[] = { 0x401000, 0x402000 };

	session_recording(recording, PERF_SAMPLE_CALLCHAIN, 0);
	recording_comm(recording, 1 * S, 42, 42, true, "work");
	recording_comm(recording, 1 * S, 77, 78, false, "a b");
	recording_chain(recording, 1 * S + 5000, 42, 42, MISC_USER, ips, 2);
	recording_chain(recording, 2 * S + 999999999, 77, 78, MISC_USER, ips, 1);
	recording_chain(recording, 12 * S + 1, 42, 43, MISC_USER, ips + 1, 1);
}

#define UNKNOWN " [unknown] ([unknown])\n"

static void test_lines(void **state)
{
	static const struct {
		struct script_options options;
		const char *want;
	} rows[] = {
		{ { .fields = "comm,tid,time,ip,sym,dso" },
		  "work    42     1.000005: \n\t          401000" UNKNOWN "\t          402000" UNKNOWN "\n"
		  "a b    78     2.999999: \n\t          401000" UNKNOWN "\n"
		  ":43    43    12.000000: \n\t          402000" UNKNOWN "\n" },
		{ { .fields = "comm,tid", .no_chains = true },
		  "            work    42 \n             a b    78 \n             :43    43 \n" },
		{ { .fields = "pid,tid" }, "   42/42    \n   77/78    \n   42/43    \n" },
		{ { .fields = "pid" }, "   42 \n   77 \n   42 \n" },
		{ { .fields = "cpu,event,period" },
		  "[001]       1000 cpu-clock: \n[001]       1000 cpu-clock: \n[001]       1000 cpu-clock: \n" },
		{ { .fields = "time" }, "    1.000005: \n    2.999999: \n   12.000000: \n" },
		{ { .fields = "time", .ns = true },
		  "    1.000005000: \n    2.999999999: \n   12.000000001: \n" },
		{ { .fields = "time", .reltime = true }, "    0.000000: \n    1.999994: \n   10.999995: \n" },
		{ { .fields = "time", .deltatime = true }, "    0.000000: \n    1.999994: \n    9.000000: \n" },
		{ { .fields = "time", .deltatime = true, .ns = true },
		  "    0.000000000: \n    1.999994999: \n    9.000000002: \n" },
		{ { .fields = "misc" }, "U     \nU     \nU     \n" },
		{ { .fields = "ip" },
		  "\n\t          401000\n\t          402000\n\n\n\t          401000\n\n\n\t          402000\n\n" },
		{ { .fields = "ip", .no_chains = true },
		  "           401000\n           401000\n           402000\n" },
		{ { .fields = "tid", .filters.comms = "work" }, "   42 \n" },
		{ { .fields = "tid", .filters.tids = "78,43" }, "   78 \n   43 \n" },
		{ { .fields = "tid", .filters.time = "2,3" }, "   78 \n" },
		{ { .fields = "sw:" }, "" },
		{ { .fields = "tid\nhw:comm" }, "   42 \n   78 \n   43 \n" },
		{ { .fields = "+addr" }, "-F addr: the samples of cpu-clock have no ADDR" },
		{ { .fields = "brstack" }, "-F brstack: the samples of cpu-clock have no BRANCH_STACK" },
		{ { .fields = "tid", .show_tasks = true, .no_chains = true, .filters.tids = "78" },
		  "   42 PERF_RECORD_COMM exec: work:42/42\n   78 PERF_RECORD_COMM: a b:77/78\n   78 \n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct made_recording recording;

		make(&recording);
		check(&recording, rows[i].options, rows[i].want);
		recording_release(&recording);
	}
}

static void test_json(void **state)
{
	struct made_recording recording;

	(void)state;
	make(&recording);
	check(&recording, (struct script_options){ .json = true, .filters.tids = "42" },
	      "{\"comm\":\"work\",\"pid\":42,\"tid\":42,\"cpu\":1,\"time\":1.000005000,\"event\":\"cpu-clock\","
	      "\"mode\":\"user\",\"period\":1000,\"frames\":[{\"ip\":\"0x401000\"},{\"ip\":\"0x402000\"}]}\n");
	recording_release(&recording);
}

/* By the order of the kernel's enumerations in asm/perf_regs.h of each architecture. */
static void test_registers(void **state)
{
	static const struct {
		const char *arch;
		unsigned bit;
		const char *name; /* NULL: there is none */
	} rows[] = {
		{ "x86_64", 0, "AX" }, { "x86_64", 8, "IP" }, { "x86_64", 23, "R15" }, { "x86_64", 32, "XMM0" },
		{ "x86_64", 63, "XMM15" }, { "x86_64", 24, NULL }, { "i686", 7, "SP" },
		{ "aarch64", 0, "x0" }, { "aarch64", 30, "lr" }, { "aarch64", 32, "pc" }, { "aarch64", 33, NULL },
		{ "riscv64", 0, "pc" }, { "riscv64", 1, "ra" }, { "riscv64", 2, "sp" }, { "riscv64", 5, "t0" },
		{ "riscv64", 8, "s0" }, { "riscv64", 10, "a0" }, { "riscv64", 18, "s2" }, { "riscv64", 28, "t3" },
		{ "riscv64", 31, "t6" }, { "riscv64", 32, NULL }, { "riscv32", 1, "ra" },
		{ "s390x", 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char arch[16];
		struct reader reader = { .info.arch = arch };
		const char *name;

		snprintf(arch, sizeof(arch), "%s", rows[i].arch);
		name = script_register_name(&reader, rows[i].bit);
		if (!rows[i].name)
			assert_null(name);
		else
			assert_string_equal(name ? name : "none", rows[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
