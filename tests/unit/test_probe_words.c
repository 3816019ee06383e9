/* SPDX-License-Identifier: MIT */
/*
 * pstat probe's words: points, ranges of lines, names of events, the kernel's list; and the files of tracefs on a tree
 * of files.
 */
#include "fake_machine.h"

#include "kern/kern.h"
#include "probe/probe_internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <cmocka.h>

static struct str err = STR_INIT;

static int tear_down(void **state)
{
	(void)state;
	str_release(&err);
	return 0;
}

/* ---- points ---- */

/* "GROUP EVENT FUNCTION SOURCE +OFFSET :LINE 0xADDRESS % | ARGUMENT ..."; "-": not given. */
static const char *point_of(const char *words)
{
	static struct str text = STR_INIT;
	struct probe_point point;
	int rc;

	str_reset(&err);
	str_reset(&text);
	rc = probe_point_parse(&point, words, &err);
	if (rc) {
		assert_int_equal(rc, -EINVAL);
		assert_true(err.len);
		str_add(&text, "wrong");
	} else {
		str_addf(&text, "%s %s %s%s%s %s", point.group ? point.group : "-", point.event ? point.event : "-",
			 point.provider ? point.provider : "", point.provider ? "/" : "",
			 point.function ? point.function : "-", point.source ? point.source : "-");
		if (point.offset)
			str_addf(&text, " +%llu", (unsigned long long)point.offset);
		if (point.has_line)
			str_addf(&text, " :%llu", (unsigned long long)point.line);
		if (point.text)
			str_addf(&text, " ;%s", point.text);
		if (point.has_address)
			str_addf(&text, " %#llx", (unsigned long long)point.address);
		str_add(&text, point.returns ? " %" : "");
		for (size_t i = 0; i < point.n_arguments; i++)
			str_addf(&text, " | %s", point.arguments[i]);
	}
	probe_point_release(&point);
	return text.s;
}

static void words_become_points(void **state)
{
	static const struct {
		const char *words, *point;
	} rows[] = {
		{ "parse", "- - parse -" },
		{ "parse%return", "- - parse - %" },
		{ "parse+16", "- - parse - +16" },
		{ "parse+0x10", "- - parse - +16" },
		{ "parse:6", "- - parse - :6" },
		{ "parse:0", "- - parse - :0" },
		{ "parse@a.c", "- - parse a.c" },
		{ "parse;x=*", "- - parse - ;x=*" },
		{ "e=parse@a.c;f(x)+1;%: length", "- e parse a.c ;f(x)+1;%: | length" },
		{ "src/a.c;return*", "- - - src/a.c ;return*" },
		{ "a\\;b;\\;c", "- - a;b - ;\\;c" },
		{ "pa\\rse\\+1", "- - parse+1 -" },
		{ "a\\=b\\@c@d\\+e\\:1.c:4", "- - a=b@c d+e:1.c :4" },
		{ "parse\\", "- - parse\\ -" },
		{ "parse@src/a.c:6", "- - parse src/a.c :6" },
		{ "a.c:12", "- - - a.c :12" },
		{ "/src/a:12", "- - - /src/a :12" },
		{ "0x1230", "- - - - 0x1230" },
		{ "%sdt_app:tick", "- - app/tick -" },
		{ "%app:tick", "- - app/tick -" },
		{ "sdt_app:tick", "- - app/tick -" },
		{ "e=%app:tick arg1", "- e app/tick - | arg1" },
		{ "sdt_app:3", "- - sdt_app - :3" },
		{ "ev=parse", "- ev parse -" },
		{ "grp:ev=parse+1", "grp ev parse - +1" },
		{ "ns::Box::sum", "- - ns::Box::sum -" },
		{ "ns::Box::sum:3", "- - ns::Box::sum - :3" },
		{ "ns::operator+", "- - ns::operator+ -" },
		{ "operator==", "- - operator== -" },
		{ "e=ns::operator==", "- e ns::operator== -" },
		{ "  parse   text:string  at->x ", "- - parse - | text:string | at->x" },
		{ "parse a=%ax +0(%sp):u64 $vars", "- - parse - | a=%ax | +0(%sp):u64 | $vars" },
		{ ":7", "- - :7 -" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(point_of(rows[i].words), rows[i].point) != 0)
			print_error("'%s'\n", rows[i].words);
		assert_string_equal(point_of(rows[i].words), rows[i].point);
	}
}

static void wrong_words(void **state)
{
	static const char *const rows[] = {
		"%",
		"%:tick",
		"%app:",
		"",
		"   ",
		"=parse",
		"ev=",
		"9e=parse",
		"e-v=parse",
		"g:=parse",
		":e=parse",
		"a:b:c=parse",
		"parse%ret",
		"parse%",
		"parse+1x",
		"parse+99999999999999999999",
		"parse:99999999999999999999",
		"parse+1:3",
		"parse;",
		";x",
		"parse+1;x",
		"parse:3;x",
		"parse%return;x",
		"parse%return:3",
		"0x",
		"0xfunction",
		"@a.c",
		"parse@",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=parse",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(point_of(rows[i]), "wrong") != 0)
			print_error("'%s'\n", rows[i]);
		assert_string_equal(point_of(rows[i]), "wrong");
	}
}

static void ranges_of_lines(void **state)
{
	static const struct {
		const char *words, *name;
		uint64_t from, to;
		bool is_source;
	} rows[] = {
		{ "parse", "parse", 0, UINT64_MAX, false },
		{ "parse:2", "parse", 2, 2, false },
		{ "parse:2-4", "parse", 2, 4, false },
		{ "parse:2+4", "parse", 2, 6, false },
		{ "ns::f:2-4", "ns::f", 2, 4, false },
		{ "a.c", "a.c", 0, UINT64_MAX, true },
		{ "a.c:3-9", "a.c", 3, 9, true },
		{ "parse:4-2", NULL, 0, 0, false },
		{ "parse:2-", NULL, 0, 0, false },
		{ "parse:2-99999999999999999999", NULL, 0, 0, false },
		{ "parse%return", NULL, 0, 0, false },
		{ "parse+4", NULL, 0, 0, false },
		{ "parse x", NULL, 0, 0, false },
		{ "parse;x", NULL, 0, 0, false },
		{ "G.z/v@v", "G.z/v", 0, UINT64_MAX, false },
		{ "", NULL, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct probe_lines lines;
		int rc = probe_lines_parse(&lines, rows[i].words, &err);

		assert_int_equal(rc, rows[i].name ? 0 : -EINVAL);
		if (!rc) {
			assert_string_equal(rows[i].is_source ? lines.point.source : lines.point.function,
					    rows[i].name);
			assert_int_equal(lines.point.line, rows[i].from);
			assert_int_equal(lines.to, rows[i].to);
		}
		probe_point_release(&lines.point);
	}
}

/* ---- names, by definitions in the kernel, which need no file ---- */

static const char *defined(const char *words, const struct probe_entries *taken, bool force)
{
	static struct str text = STR_INIT;
	static char names_v[][16] = { "vfs_open", "vfs_read", "vfs_read.cold", "vfs_readv" };
	char *functions[] = { names_v[0], names_v[1], names_v[2], names_v[3] };
	const struct probe_names names = { functions, ARRAY_SIZE(functions), 0 };
	const struct probe_naming naming = { taken, force };
	struct probe_definitions definitions = { 0 };
	struct probe_point point;

	str_reset(&err);
	str_reset(&text);
	if (probe_point_parse(&point, words, &err) || probe_define_kernel(&point, &names, &naming, &definitions, &err))
		assert_true(err.len && !definitions.n);
	for (size_t i = 0; i < definitions.n; i++)
		str_addf(&text, "%s%s", i ? "\n" : "", definitions.v[i].text);
	probe_definitions_release(&definitions);
	probe_point_release(&point);
	return text.s;
}

static void filters_of_names(void **state)
{
	static const struct {
		const char *filter, *taken, *left; /* left: a name that it does not take */
	} rows[] = {
		{ "parse_*", "parse_one", "parse" },
		{ "!_*", "main", "_start" },
		{ "a|b&c", "a", "b" }, /* & binds closer */
		{ "(a|b)&!a", "b", "a" },
		{ " a* & ( !*b | a?b ) ", "axb", "ab" },
		{ "!!a", "a", "b" },
		{ "[|&]x|y", "|x", "x" }, /* a pattern's own letters */
		{ "ns::*", "ns::box", "n" },
	};
	static const char *const wrong[] = { "", " ", "a|", "&a", "a b", "(a", "a)", "()", "!", "a||b", "(a)(b)" };
	struct str deep = STR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(name_filter_check(rows[i].filter, &err), 0);
		assert_true(name_filter_takes(rows[i].filter, rows[i].taken));
		assert_false(name_filter_takes(rows[i].filter, rows[i].left));
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		str_reset(&err);
		assert_int_equal(name_filter_check(wrong[i], &err), -EINVAL);
		assert_true(err.len);
	}
	str_pad(&deep, '!', 1 << 20);
	str_addc(&deep, 'a');
	assert_int_equal(name_filter_check(deep.s, &err), -EINVAL);
	str_reset(&deep);
	str_pad(&deep, '(', 1 << 20);
	assert_int_equal(name_filter_check(deep.s, &err), -EINVAL);
	str_release(&deep);
}

static void names_of_events(void **state)
{
	struct probe_entries taken = { 0 };

	(void)state;
	assert_string_equal(defined("vfs_read", NULL, false), "p:probe/vfs_read vfs_read+0");
	assert_string_equal(defined("vfs_read%return $retval", NULL, false),
			    "r:probe/vfs_read__return vfs_read+0 $retval");
	assert_string_equal(defined("g:e=vfs_read+4 %di", NULL, false), "p:g/e vfs_read+4 %di");
	assert_string_equal(defined("do_it.isra.0", NULL, false), "p:probe/do_it do_it.isra.0+0");
	assert_string_equal(defined("0xffff0000", NULL, false), "p:probe/abs_ffff0000 0xffff0000");
	assert_string_equal(defined("vfs_read file", NULL, false), "");
	assert_string_equal(defined("vfs_read:3", NULL, false), "");
	assert_string_equal(defined("vfs_read $retval", NULL, false), "");
	assert_string_equal(defined("vfs_re*%return $retval", NULL, false),
			    "r:probe/vfs_read__return vfs_read+0 $retval\n"
			    "r:probe/vfs_readv__return vfs_readv+0 $retval");
	assert_string_equal(defined("e=vfs_o*", NULL, false), "p:probe/e vfs_open+0");
	assert_string_equal(defined("e=vfs_re*", NULL, false), "");
	assert_string_equal(err.s, "'vfs_re*' matches several functions, which cannot have one name, 'e'");
	assert_string_equal(defined("tcp_*", NULL, false), "");
	assert_string_equal(err.s, "the kernel has no function that 'tcp_*' matches");
	assert_string_equal(defined("read.c:3", NULL, false), "");
	probe_entries_parse(&taken, "p:probe/vfs_read vfs_read+0\np:probe/vfs_read_1 vfs_read+0\n");
	assert_string_equal(defined("vfs_read", &taken, false), "");
	assert_string_equal(err.s, "probe:vfs_read is there already");
	assert_string_equal(defined("vfs_read", &taken, true), "p:probe/vfs_read_2 vfs_read+0");
	assert_string_equal(defined("other:vfs_read=vfs_read", &taken, false), "p:other/vfs_read vfs_read+0");
	probe_entries_release(&taken);
	assert_string_equal(defined("a123456789012345678901234567890123456789012345678901234567890123", NULL, false),
			    "");
	assert_non_null(strstr(err.s, "64 letters, the kernel takes 63"));
	assert_string_equal(defined("a12345678901234567890123456789012345678901234567890123456789012", NULL, false),
			    "p:probe/a12345678901234567890123456789012345678901234567890123456789012 "
			    "a12345678901234567890123456789012345678901234567890123456789012+0");
}

/* ---- the kernel's list ---- */

static void lines_of_the_list(void **state)
{
	struct probe_entries entries = { 0 };

	(void)state;
	probe_entries_parse(&entries,
			    "p:probe_prog/parse /usr/bin/prog:0x0000000000001230 total=%dx:s32 text=+0(%di):string\n"
			    "r8:probe_prog/parse__return /usr/bin/a:b:0x10(0x4010) arg1=$retval\n"
			    "r:probe/vfs_read__return vfs_read+0\n"
			    "\n"
			    "p\n"
			    "p:\n"
			    "p:g\n"
			    "p:g/e\n"
			    "p:g/e \n"
			    "e:eprobes/x sched.sched_switch\n"
			    "p:g/cut /x:");
	assert_int_equal(entries.n, 4);
	assert_string_equal(entries.v[0].group, "probe_prog");
	assert_string_equal(entries.v[0].event, "parse");
	assert_string_equal(entries.v[0].path, "/usr/bin/prog");
	assert_int_equal(entries.v[0].offset, 0x1230);
	assert_string_equal(entries.v[0].arguments, " total text");
	assert_false(entries.v[0].returns);
	assert_string_equal(entries.v[1].path, "/usr/bin/a:b");
	assert_int_equal(entries.v[1].offset, 0x10);
	assert_true(entries.v[1].returns);
	assert_null(entries.v[2].path);
	assert_string_equal(entries.v[2].place, "vfs_read+0");
	assert_string_equal(entries.v[2].arguments, "");
	assert_int_equal(entries.v[3].offset, 0);
	assert_true(probe_entry_matches(&entries.v[0], "parse"));
	assert_true(probe_entry_matches(&entries.v[0], "probe_prog:*"));
	assert_true(probe_entry_matches(&entries.v[0], "*:p?rse"));
	assert_true(probe_entry_matches(&entries.v[0], ":parse"));
	assert_false(probe_entry_matches(&entries.v[0], "probe:parse"));
	assert_false(probe_entry_matches(&entries.v[0], "parse:"));
	probe_entries_release(&entries);
}

/* ---- arguments of probes that programs bring with them ---- */

static void arguments_of_notes(void **state)
{
	static const struct {
		uint16_t machine;
		const char *arguments, *fetched;
		size_t n_left_out;
	} rows[] = {
		{ EM_X86_64, "", "", 0 },
		{ EM_X86_64, "8@%rdi", " arg1=%di:u64", 0 },
		{ EM_X86_64, "-4@%edi 1@%dil", " arg1=%di:s32 arg2=%di:u8", 0 },
		{ EM_X86_64, "4@%eax 2@%ax 1@%al 8@%rsp", " arg1=%ax:u32 arg2=%ax:u16 arg3=%ax:u8 arg4=%sp:u64", 0 },
		{ EM_X86_64, "8@%r8 4@%r15d -2@%r9w 1@%r10b", " arg1=%r8:u64 arg2=%r15:u32 arg3=%r9:s16 arg4=%r10:u8",
		  0 },
		{ EM_X86_64, "8@-80(%rbx) 4@16(%rsp) 4@(%rax)",
		  " arg1=-80(%bx):u64 arg2=+16(%sp):u32 arg3=+0(%ax):u32", 0 },
		{ EM_X86_64, "-4@$-5 4@$0x10", " arg1=\\-5:s32 arg2=\\16:u32", 0 },
		{ EM_X86_64, "8@counter(%rip) 8@%rdi", " arg2=%di:u64", 1 },
		{ EM_X86_64, "8@8(%rax,%rbx,4) 8@%rdi", " arg2=%di:u64", 1 },
		{ EM_X86_64, "8f@%xmm0 1@%ah 8@%r16 8@%r7 3@%eax @%eax 8@ 8 $", "", 9 },
		{ EM_X86_64, "8@%rdi  8@%rsi", " arg1=%di:u64 arg2=%si:u64", 0 },
		{ EM_X86_64, "8@-80(%rbx 8@-80( 8@( 8@) 8@$ 8@% 8@-80(%)", "", 7 },
		{ EM_AARCH64, "8@x0 -4@w30 8@sp", " arg1=%x0:u64 arg2=%x30:s32 arg3=%sp:u64", 0 },
		{ EM_AARCH64, "8@[x1] -4@[sp, 16] 8@[x2, -8]", " arg1=+0(%x1):u64 arg2=+16(%sp):s32 arg3=-8(%x2):u64",
		  0 },
		{ EM_AARCH64, "4@5 8@x31 8@[x1", " arg1=\\5:u32", 2 },
		{ EM_386, "4@%eax", "", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str out = STR_INIT;

		assert_int_equal(probe_usdt_arguments(rows[i].machine, rows[i].arguments, &out), rows[i].n_left_out);
		assert_string_equal(out.s, rows[i].fetched);
		str_release(&out);
	}
}

/* ---- tracefs ---- */

static void the_files_of_tracefs(void **state)
{
	struct fake_machine machine;
	struct str list = STR_INIT;
	struct host_paths host = { 0 };
	char *tracefs, *list_path, *target;
	int sealed;

	(void)state;
	fake_machine_init(&machine);
	tracefs = xasprintf("%s/tracing", machine.root);
	host.sysfs = machine.root;
	host.procfs = machine.root;
	host.tracefs = tracefs;
	str_reset(&err);
	assert_int_equal(probe_events_read(&host, PROBE_PROGRAM, &list, &err), -ENOENT);
	assert_non_null(strstr(err.s, "tracefs is not mounted on "));
	assert_non_null(strstr(err.s, "\nsudo mount -t tracefs nodev "));
	fake_machine_file(&machine, "tracing/events/enable", "0\n");
	str_reset(&err);
	assert_int_equal(probe_events_write(&host, PROBE_KERNEL, "p:g/e f", &err), -ENOENT);
	assert_string_equal(err.s, "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
	fake_machine_file(&machine, "tracing/uprobe_events", "p:others/e /x:0x1\n");
	assert_int_equal(probe_events_write(&host, PROBE_PROGRAM, "p:g/e /y:0x2", &err), 0);
	assert_int_equal(probe_events_write(&host, PROBE_PROGRAM, "-:g/e", &err), 0);
	assert_int_equal(probe_events_read(&host, PROBE_PROGRAM, &list, &err), 0);
	assert_string_equal(list.s, "p:others/e /x:0x1\np:g/e /y:0x2\n-:g/e\n");
	/* Before Linux 5.2 there is no error_log. */
	list_path = xasprintf("%s/uprobe_events", tracefs);
	sealed = memfd_create("list", MFD_ALLOW_SEALING);
	target = xasprintf("/proc/self/fd/%d", sealed);
	assert_int_equal(fcntl(sealed, F_ADD_SEALS, F_SEAL_GROW), 0);
	assert_int_equal(unlink(list_path) || symlink(target, list_path), 0);
	str_reset(&err);
	assert_int_equal(probe_events_write(&host, PROBE_PROGRAM, "p:g/e /y:0x2", &err), -EPERM);
	assert_string_equal(err.s, "the kernel refuses 'p:g/e /y:0x2': Operation not permitted");
	close(sealed);
	/* Before Linux 5.4 an event stays in one place, whatever is written; here it is in none. */
	assert_int_equal(unlink(list_path) || symlink("/dev/null", list_path), 0);
	str_reset(&err);
	assert_int_equal(probe_events_write(&host, PROBE_PROGRAM, "p:g/e /y:0x2", &err), -ENOTSUP);
	assert_string_equal(err.s, "'p:g/e /y:0x2': this kernel has one place for each event "
			    "(Linux 5.4 and later have several)");
	assert_int_equal(probe_events_write(&host, PROBE_PROGRAM, "-:g/e", &err), 0);
	free(target);
	free(list_path);
	str_release(&list);
	free(tracefs);
	fake_machine_release(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(words_become_points, tear_down),
		cmocka_unit_test_teardown(wrong_words, tear_down),
		cmocka_unit_test_teardown(ranges_of_lines, tear_down),
		cmocka_unit_test_teardown(filters_of_names, tear_down),
		cmocka_unit_test_teardown(names_of_events, tear_down),
		cmocka_unit_test_teardown(lines_of_the_list, tear_down),
		cmocka_unit_test_teardown(arguments_of_notes, tear_down),
		cmocka_unit_test_teardown(the_files_of_tracefs, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
