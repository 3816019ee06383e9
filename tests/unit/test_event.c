/* SPDX-License-Identifier: MIT */
/*
 * Text to events on a machine of files: the whole accept list is found, each modifier and name gives
 * the attr that perf_event_open(2) wants, and wrong text is refused with place, reason and hint.
 */
#include "accept_list.h"
#include "event_dump.h"
#include "fake_machine.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct fake_machine machine;

static int make_machine(void **state)
{
	(void)state;
	fake_machine_init(&machine);
	fake_machine_pmu(&machine, CORE, "type", "4\n");
	fake_machine_pmu(&machine, CORE, "format/event", "config:0-7\n");
	fake_machine_pmu(&machine, CORE, "format/umask", "config:8-15\n");
	fake_machine_pmu(&machine, CORE, "events/read", "event=0x35,umask=0x1\n");
	fake_machine_pmu(&machine, CORE, "events/event-hyphen", "event=0x3a\n");
	fake_machine_pmu(&machine, CORE, "events/event-two-hyph", "event=0xc0\n");
	fake_machine_pmu(&machine, CORE, "alias", "cpu_alias\n");
	fake_machine_pmu(&machine, "software", "type", "1\n");
	fake_machine_pmu(&machine, "intel_pt", "type", "10\n");
	fake_machine_tracepoint(&machine, "syscalls", "sys_enter_openat", "617\n");
	fake_machine_tracepoint(&machine, "syscalls", "sys_enter_statat", "618\n");
	fake_machine_tracepoint(&machine, "sched", "sched_switch", "318\n");
	fake_machine_tracepoint(&machine, "9p", "9p_client_req", "900\n");
	fake_machine_tracepoint(&machine, "kvm-s390", "kvm_s390_create_vm", "901\n");
	return 0;
}

static int remove_machine(void **state)
{
	(void)state;
	fake_machine_release(&machine);
	return 0;
}

static void test_accepts_the_whole_list(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		struct event_list list;
		struct str err = STR_INIT;

		event_list_init(&list);
		if (event_list_parse(&list, accepted[i], &machine.host, &err))
			fail_msg("%s", err.s);
		assert_true(list.n > 0);
		for (size_t k = 0; k < list.notes.n; k++)
			assert_non_null(strstr(list.notes.v[k].text, "a tracepoint fires in the kernel"));
		event_list_release(&list);
		str_release(&err);
	}
}

static const struct {
	const char *text, *events;
} meanings[] = {
	{ "cycles", "cycles 0:0 ukh H" },
	{ "cycles:", "cycles: 0:0 ukh H" },
	{ "cycles:u", "cycles:u 0:0 u H" },
	{ "cycles:k", "cycles:k 0:0 k HG" },
	{ "cycles:h", "cycles:h 0:0 h HG" },
	{ "cycles:uk", "cycles:uk 0:0 uk H" },
	{ "cycles:G", "cycles:G 0:0 ukh G" },
	{ "cycles:H", "cycles:H 0:0 ukh H" },
	{ "cycles:GH", "cycles:GH 0:0 ukh HG" },
	{ "cycles:uG", "cycles:uG 0:0 u G" },
	{ "cycles:kH", "cycles:kH 0:0 k H" },
	{ "cycles:p", "cycles:p 0:0 ukh H p1" },
	{ "cycles:upp", "cycles:upp 0:0 u H p2" },
	{ "cycles:ppp", "cycles:ppp 0:0 ukh H p3" },
	{ "cycles:pG", "cycles:pG 0:0 ukh G p1" },
	{ "cycles:Gp", "cycles:Gp 0:0 ukh G p1" },
	{ "cycles:P", "cycles:P 0:0 ukh HG P" },
	{ "cycles:Pp", "cycles:Pp 0:0 ukh H p1 P" },
	{ "cycles:I", "cycles:I 0:0 ukh HG I" },
	{ "cycles:kIG", "cycles:kIG 0:0 k G I" },
	{ "cycles:D", "cycles:D 0:0 ukh HG D" },
	{ "cycles:uDp", "cycles:uDp 0:0 u H p1 D" },
	{ "cycles:e", "cycles:e 0:0 ukh HG e" },
	{ "cycles:uep", "cycles:uep 0:0 u H p1 e" },
	{ "cycles:S", "cycles:S 0:0 ukh HG S" },
	{ "cycles:W", "cycles:W 0:0 ukh HG W" },
	{ "cycles:b", "cycles:b 0:0 ukh HG b" },
	{ "cycles//u", "cycles//u 0:0 u H" },
	{ "cycles/name=x/kp", "x 0:0 k H p1" },
	{ "r1a", "r1a 4:1a ukh H" },
	{ "r0x1A:kp", "r0x1A:kp 4:1a k H p1" },
	{ "rfedcba9876543210", "rfedcba9876543210 4:fedcba9876543210 ukh H" },
	{ "1:1:hp", "1:1:hp 1:1 h H p1" },
	{ "4:0x6530160/name=numpmu/", "numpmu 4:6530160 ukh H" },
	{ "r1234/name=rawpmu/", "rawpmu 4:1234 ukh H" },
	{ "99:18446744073709551615",
	  "99:18446744073709551615 63:ffffffffffffffff ukh H" },
	{ "{faults:k,branches}:u,cpu-cycles:k",
	  "{faults:k 1:2 uk H; branches 0:4 u H}; cpu-cycles:k 0:0 k HG" },
	{ "group1{syscalls:sys_enter_openat:H,cpu-cycles:kppp},group2{cpu-cycles,1:3}:G,"
	  "instructions:u",
	  "group1{syscalls:sys_enter_openat:H 2:269 ukh H; cpu-cycles:kppp 0:0 k H p3}; "
	  "group2{cpu-cycles 0:0 ukh G; 1:3 1:3 ukh G}; instructions:u 0:1 u H" },
	{ "{cpu-cycles:u,instructions:kp}:p",
	  "{cpu-cycles:u 0:0 u H p1; instructions:kp 0:1 k H p2}" },
	{ "{cpu-cycles,instructions}:G,{cpu-cycles:G,instructions:G},cpu-cycles",
	  "{cpu-cycles 0:0 ukh G; instructions 0:1 ukh G}; {cpu-cycles:G 0:0 ukh G; "
	  "instructions:G 0:1 ukh G}; cpu-cycles 0:0 ukh H" },
	{ "{cpu-cycles,cache-misses:G}:H",
	  "{cpu-cycles 0:0 ukh H; cache-misses:G 0:3 ukh G}" },
	{ "{cpu-cycles,cache-misses:H}:G",
	  "{cpu-cycles 0:0 ukh G; cache-misses:H 0:3 ukh H}" },
	{ "{cpu-cycles:G,cache-misses:H}:u",
	  "{cpu-cycles:G 0:0 u G; cache-misses:H 0:3 u H}" },
	{ "{cpu-cycles:G,cache-misses:H}:uG",
	  "{cpu-cycles:G 0:0 u G; cache-misses:H 0:3 u H}" },
	{ "{cpu-cycles,cache-misses,branch-misses}:S",
	  "{cpu-cycles 0:0 ukh H S; cache-misses 0:3 ukh H S; branch-misses 0:5 ukh H S}" },
	{ "{instructions,branch-misses}:Su",
	  "{instructions 0:1 u H S; branch-misses 0:5 u H S}" },
	{ "{cpu-cycles,cache-misses,branch-misses}:D",
	  "{cpu-cycles 0:0 ukh H D; cache-misses 0:3 ukh H; branch-misses 0:5 ukh H}" },
	{ "{cpu-cycles,cache-misses,branch-misses}:e",
	  "{cpu-cycles 0:0 ukh H e; cache-misses 0:3 ukh H; branch-misses 0:5 ukh H}" },
	{ "{faults,cs:W}", "{faults 1:2 ukh H W; cs:W 1:3 ukh HG}" },
	{ "{faults,cs}:IP", "{faults 1:2 ukh H I P; cs 1:3 ukh H I P}" },
	{ "g{cs}", "g{cs 1:3 ukh H}" },
	{ "{cs:D,faults}:I", "{cs:D 1:3 ukh HG I D; faults 1:2 ukh H I}" },
	{ "g{faults,duration_time,cs}:kW",
	  "g{faults 1:2 k H W; cs 1:3 k H}; duration_time 1:9 k H W" },
	{ "instructions,cache-references,cache-misses,branch-instructions,branches,"
	  "branch-misses,bus-cycles",
	  "instructions 0:1 ukh H; cache-references 0:2 ukh H; cache-misses 0:3 ukh H; "
	  "branch-instructions 0:4 ukh H; branches 0:4 ukh H; branch-misses 0:5 ukh H; "
	  "bus-cycles 0:6 ukh H" },
	{ "stalled-cycles-frontend,idle-cycles-frontend,stalled-cycles-backend,"
	  "idle-cycles-backend,ref-cycles",
	  "stalled-cycles-frontend 0:7 ukh H; idle-cycles-frontend 0:7 ukh H; "
	  "stalled-cycles-backend 0:8 ukh H; idle-cycles-backend 0:8 ukh H; "
	  "ref-cycles 0:9 ukh H" },
	{ "cpu-clock,task-clock,page-faults,faults,minor-faults,major-faults,context-switches,"
	  "cs",
	  "cpu-clock 1:0 ukh H; task-clock 1:1 ukh H; page-faults 1:2 ukh H; faults 1:2 ukh H; "
	  "minor-faults 1:5 ukh H; major-faults 1:6 ukh H; context-switches 1:3 ukh H; "
	  "cs 1:3 ukh H" },
	{ "cpu-migrations,migrations,alignment-faults,emulation-faults,dummy,bpf-output,"
	  "cgroup-switches",
	  "cpu-migrations 1:4 ukh H; migrations 1:4 ukh H; alignment-faults 1:7 ukh H; "
	  "emulation-faults 1:8 ukh H; dummy 1:9 ukh H; bpf-output 1:a ukh H; "
	  "cgroup-switches 1:b ukh H" },
	{ "L1-dcache,L1-dcache-load-miss,l1d-stores,l1-d-prefetch-misses,L1-data-read",
	  "L1-dcache 3:0 ukh H; L1-dcache-load-miss 3:10000 ukh H; l1d-stores 3:100 ukh H; "
	  "l1-d-prefetch-misses 3:10200 ukh H; L1-data-read 3:0 ukh H" },
	{ "L1-icache-loads,l1i-misses,LLC-misses,L2-write-access,dTLB-store-misses,d-tlb",
	  "L1-icache-loads 3:1 ukh H; l1i-misses 3:10001 ukh H; LLC-misses 3:10002 ukh H; "
	  "L2-write-access 3:102 ukh H; dTLB-store-misses 3:10103 ukh H; d-tlb 3:3 ukh H" },
	{ "iTLB-load-misses,branch-loads,btb,bpc-misses,node-speculative-load-miss,node-stores",
	  "iTLB-load-misses 3:10004 ukh H; branch-loads 3:5 ukh H; btb 3:5 ukh H; "
	  "bpc-misses 3:10005 ukh H; node-speculative-load-miss 3:10206 ukh H; "
	  "node-stores 3:106 ukh H" },
	{ "L1-dcache-misses-loads,L1-dcache-load-ops,LLC-speculative-read-Reference",
	  "L1-dcache-misses-loads 3:10000 ukh H; L1-dcache-load-ops 3:0 ukh H; "
	  "LLC-speculative-read-Reference 3:202 ukh H" },
	{ "cpu-cycles/period=100000,config2/",
	  "cpu-cycles/period=100000,config2/ 0:0,0,1 ukh H period=100000" },
	{ "cycles/config=0x10,config1=010,config1=3/",
	  "cycles/config=0x10,config1=010,config1=3/ 0:10,3,0 ukh H" },
	{ "cycles/freq=4000/", "cycles/freq=4000/ 0:0 ukh H freq=4000" },
	{ "faults/r1a/", "faults/r1a/ 1:1a ukh H" },
	{ "faults/config=5,rff/", "faults/config=5,rff/ 1:ff ukh H" },
	{ "software/r0x1a/", "software/r0x1a/ 1:1a ukh H" },
	{ "cpu/config=10,config1,config2=3,umask=1,read,r0xead/",
	  "cpu/config=10,config1,config2=3,umask=1,read,r0xead/ 4:ead,1,3 ukh H" },
	{ "cpu/read/u", "cpu/read/u 4:135 u H" },
	{ "cpu/L1-dcache-misses,name=cachepmu/", "cachepmu 3:10000 ukh H" },
	{ "cpu/cycles,period=100000,config2/",
	  "cpu/cycles,period=100000,config2/ 0:0,0,1 ukh H period=100000" },
	{ "{cpu/cycles/G,cpu/cache-misses/H}:uG",
	  "{cpu/cycles/G 0:0 u G; cpu/cache-misses/H 0:3 u H}" },
	{ "{cycles,cpu/event=1/}", "{cycles 0:0 ukh H; cpu/event=1/ 4:1 ukh H}" },
	{ "sched:sched_switch:u", "sched:sched_switch:u 2:13e u H" },
	{ "syscalls:*:k",
	  "syscalls:sys_enter_openat:k 2:269 k HG; syscalls:sys_enter_statat:k 2:26a k HG" },
};

static void test_meanings(void **state)
{
	struct str out = STR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(meanings); i++) {
		struct event_list list;
		struct str err = STR_INIT;

		event_list_init(&list);
		if (event_list_parse(&list, meanings[i].text, &machine.host, &err))
			fail_msg("%s", err.s);
		dump_events(&out, &list);
		assert_string_equal(out.s, meanings[i].events);
		event_list_release(&list);
		str_release(&err);
	}
	str_release(&out);
}

/* Each message has three lines or four: reason, spec, caret, hint. */
static const struct {
	const char *text;
	size_t pos; /* of the caret */
	int code;
	const char *reason; /* the whole first line */
	const char *hint; /* somewhere in the last line; NULL: there is none */
} refused[] = {
	{ "cycles:x", 7, -EINVAL, "unknown modifier 'x'", "modifiers: u k h G H I p P D e S W b" },
	{ "cycles:uq", 8, -EINVAL, "unknown modifier 'q'", "modifiers: u" },
	{ "cycles//uq", 9, -EINVAL, "unknown modifier 'q'", "modifiers: u" },
	{ "r1a:z", 4, -EINVAL, "unknown modifier 'z'", "modifiers: u" },
	{ "1:1:z", 4, -EINVAL, "unknown modifier 'z'", "modifiers: u" },
	{ "L1-dcache-loads:z", 16, -EINVAL, "unknown modifier 'z'", "modifiers: u" },
	{ "sched:sched_switch:z", 19, -EINVAL, "unknown modifier 'z'", "modifiers: u" },
	{ "{cycles,faults}:uz", 17, -EINVAL, "unknown modifier 'z'", "modifiers: u" },
	{ "cycles:u:k", 7, -EINVAL, "put all modifiers of 'cycles' after one colon",
	  NULL },
	{ "cycles:uu", 8, -EINVAL, "modifier 'u' stands here twice", NULL },
	{ "cycles:kuk", 9, -EINVAL, "modifier 'k' stands here twice", NULL },
	{ "cs,cycles:GpG", 12, -EINVAL, "modifier 'G' stands here twice", NULL },
	{ "{cycles,faults}:DD", 17, -EINVAL, "modifier 'D' stands here twice", NULL },
	{ "cycles:PP", 8, -EINVAL, "modifier 'P' stands here twice", NULL },
	{ "cycles:pppp", 10, -EINVAL, "more than three 'p'", NULL },
	{ "{cycles:ppp,cs}:p", 16, -EINVAL,
	  "more than three 'p' for 'cycles:ppp' together with its group's", NULL },
	{ "cycles:R", 7, -EINVAL,
	  "modifier 'R': the retire latency is not a count that the kernel gives", NULL },
	{ "{cycles,faults:D}", 15, -EINVAL, "modifier 'D' is for the first event of a group",
	  "{...}:D" },
	{ "{cycles,faults,cs:ue}", 19, -EINVAL, "modifier 'e' is for the first event of a group",
	  "{...}:e" },
	{ "cyclse", 0, -ENOENT, "unknown event 'cyclse'", "did you mean 'cycles'?" },
	{ "cs,page-fualts:u", 3, -ENOENT, "unknown event 'page-fualts'", "'page-faults'" },
	{ "l1-dcache-loads", 0, -ENOENT, "unknown event 'l1-dcache-loads'", "'L1-dcache-loads'" },
	{ "L1-dcache-load-mises", 0, -ENOENT, "unknown event 'L1-dcache-load-mises'",
	  "'L1-dcache-load-misses'" },
	{ "qqqqqqqqqqqqqqq", 0, -ENOENT, "unknown event 'qqqqqqqqqqqqqqq'", "pstat list" },
	{ "iTLB-stores", 0, -EINVAL, "'iTLB-stores': this cache has no event for stores", NULL },
	{ "r", 0, -ENOENT, "unknown event 'r'", NULL },
	{ "rfffffffffffffffff", 0, -EINVAL, "'rfffffffffffffffff' has more than 64 bits", NULL },
	{ "1:abc", 2, -EINVAL, "'1:' needs a number, and 'abc' is not one", NULL },
	{ "1:0x", 2, -EINVAL, "'1:' needs a number, and '0x' is not one", NULL },
	{ "99999999999:1", 0, -EINVAL,
	  "'99999999999' is too big for a type, at most 4294967295 fits", NULL },
	{ "1:0x1ffffffffffffffff", 2, -EINVAL, "'0x1ffffffffffffffff' has more than 64 bits", NULL },
	{ "cycles/perod=1/", 7, -EINVAL, "unknown term 'perod'", "did you mean 'period'? valid terms: config, " },
	{ "cycles/foo/", 7, -EINVAL, "unknown term 'foo'", "ratio-to-prev, rHEX" },
	{ "cycles/umask=1/", 7, -EINVAL, "unknown term 'umask'", "valid terms: config, " },
	{ "cycles/config=a/", 14, -EINVAL, "config needs a number, and 'a' is not one", "config=0xa" },
	{ "cycles/config=0xg/", 14, -EINVAL, "config needs a number, and '0xg' is not one", NULL },
	{ "cycles/period=-1/", 14, -EINVAL, "period needs a number, and '-1' is not one", NULL },
	{ "cycles/period=soon/", 14, -EINVAL, "period needs a number, and 'soon' is not one", NULL },
	{ "cycles/config=0x10000000000000000/", 14, -EINVAL,
	  "config: 0x10000000000000000 is too big, at most 18446744073709551615 (0xffffffffffffffff) fits",
	  NULL },
	{ "cycles/max-stack=65536/", 17, -EINVAL,
	  "max-stack: 65536 is too big, at most 65535 (0xffff) fits", NULL },
	{ "cycles/freq=0/", 12, -EINVAL, "freq must be at least 1", NULL },
	{ "cycles/name=7/", 12, -EINVAL, "name needs a text, '7' is a number", NULL },
	{ "cycles/name/", 7, -EINVAL, "name needs a text: name=...", NULL },
	{ "cycles/call-graph=2/", 18, -EINVAL, "call-graph needs a text, '2' is a number", NULL },
	{ "cycles/call-graph=frame/", 18, -EINVAL, "call-graph does not know 'frame'",
	  "call-graph is one of: fp dwarf lbr no" },
	{ "cycles/branch_type=all/", 19, -EINVAL, "branch_type does not know 'all'", "any_call" },
	{ "cycles/time=2/", 12, -EINVAL, "time must be 0 or 1, not '2'", NULL },
	{ "cycles/inherit=yes/", 15, -EINVAL, "inherit must be 0 or 1, not 'yes'", NULL },
	{ "cycles/period=1,freq=2/", 16, -EINVAL, "period and freq exclude each other", NULL },
	{ "cycles/freq=1,name=x,period=2/", 21, -EINVAL, "period and freq exclude each other", NULL },
	{ "faults/cpu/", 7, -EINVAL, "cpu needs a CPU: cpu=0", NULL },
	{ "faults/cpu=2-1/", 11, -EINVAL, "cpu needs a CPU, a span such as 0-3, or a unit: '2-1' is not a number or a "
	  "range such as 0-3", NULL },
	{ "faults/cpu=nowhere/", 11, -EINVAL,
	  "cpu needs a CPU, a span such as 0-3, or a unit: 'nowhere' is not a number or a range such as 0-3", NULL },
	{ "faults/cpu=65536/", 11, -EINVAL, "cpu needs a CPU, a span such as 0-3, or a unit: '65536' is out of range "
	  "(at most 65535)", NULL },
	{ "faults/cpu=99999999999999999999/", 11, -EINVAL, "cpu needs a CPU, a span such as 0-3, or a unit: "
	  "'99999999999999999999' is out of range (at most 65535)", NULL },
	{ "cycles/ratio-to-prev=x/", 21, -EINVAL, "ratio-to-prev needs a number above 0, and 'x' is not one",
	  NULL },
	{ "cycles/ratio-to-prev=-1/", 21, -EINVAL,
	  "ratio-to-prev needs a number above 0, and '-1' is not one", NULL },
	{ "cycles/r11112222333344445/", 7, -EINVAL, "'r11112222333344445' has more than 64 bits", NULL },
	{ CORE "/event=0x100/", 10, -EINVAL, "event: 0x100 is too big, at most 255 (0xff) fits", NULL },
	{ CORE "/evnt=1/", 4, -EINVAL, "unknown term 'evnt'", "did you mean 'event'?" },
	{ "cs,", 2, -EINVAL, "the list ends with a comma", NULL },
	{ "{cs", 0, -EINVAL, "this '{' is not closed", NULL },
};

static void expect_refusal(size_t i, const char *message)
{
	const char *shown = strchr(message, '\n'), *caret = shown ? strchr(shown + 1, '\n') : NULL;
	const char *hint;

	if (!caret)
		fail_msg("%s: no place in: %s", refused[i].text, message);
	if (strlen(refused[i].reason) != (size_t)(shown - message) ||
	    strncmp(message, refused[i].reason, (size_t)(shown - message)) != 0)
		fail_msg("%s: not '%s' but: %s", refused[i].text, refused[i].reason, message);
	if (strspn(caret + 1, " ") != refused[i].pos + 2)
		fail_msg("caret not at %zu:\n%s", refused[i].pos, message);
	hint = strchr(caret + 1, '\n');
	if (refused[i].hint && (!hint || !strstr(hint, refused[i].hint)))
		fail_msg("no hint '%s' in:\n%s", refused[i].hint, message);
}

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct event_list list;
		struct str err = STR_INIT;
		int rc;

		event_list_init(&list);
		rc = event_list_parse(&list, "{cs,faults}", &machine.host, &err);
		assert_int_equal(rc, 0);
		rc = event_list_parse(&list, refused[i].text, &machine.host, &err);
		if (rc != refused[i].code)
			fail_msg("%s: %d, not %d: %s", refused[i].text, rc, refused[i].code, err.s);
		expect_refusal(i, err.s);
		/* The list is as before. */
		assert_int_equal(list.n, 2);
		assert_int_equal(list.last_spec, 0);
		assert_int_equal(list.notes.n, 0);
		event_list_release(&list);
		str_release(&err);
	}
}

static void test_terms_are_kept(void **state)
{
	struct event_list list;
	struct str err = STR_INIT;
	const struct event_terms *terms;

	(void)state;
	event_list_init(&list);
	assert_int_equal(event_list_parse(&list,
					  "cycles/call-graph='dwarf,8192',branch_type='any,u',time=0,"
					  "no-inherit,overwrite,percore,aux-output=1,stack-size=512,"
					  "max-stack=3,nr=4,aux-sample-size=5,metric-id=m,ratio-to-prev=0.5,"
					  "freq=99/",
					  &machine.host, &err),
			 0);
	terms = &list.v[0].terms;
	assert_string_equal(terms->call_graph, "dwarf,8192");
	assert_string_equal(terms->branch_type, "any,u");
	assert_string_equal(terms->metric_id, "m");
	assert_int_equal(terms->time, TERM_OFF);
	assert_int_equal(terms->inherit, TERM_OFF);
	assert_int_equal(terms->overwrite, TERM_ON);
	assert_int_equal(terms->percore, TERM_ON);
	assert_int_equal(terms->aux_output, TERM_ON);
	assert_int_equal(terms->stack_size_bytes, 512);
	assert_int_equal(terms->max_stack, 3);
	assert_int_equal(terms->nr, 4);
	assert_int_equal(terms->aux_sample_size, 5);
	assert_true(terms->ratio_to_prev == 0.5);
	assert_true(terms->has_freq && !terms->has_period);
	assert_int_equal(list.v[0].attr.freq, 1);
	event_list_release(&list);
}

static void test_cpus_are_chosen(void **state)
{
	static const struct {
		const char *spec, *cpus; /* cpus: "": all */
		bool chosen;
	} cases[] = {
		{ "faults/cpu=1/", "1", true },
		{ "faults/cpu=3,cpu=0-1,cpu=1/u", "0-1,3", true },
		{ "faults/cpu=65535/", "65535", true },
		{ "faults/cpu=" CORE "/", "", false }, /* counts on all */
		{ "faults/name=x/", "", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct str err = STR_INIT, cpus = STR_INIT;
		struct event_list list, copy;

		event_list_init(&list);
		assert_int_equal(event_list_parse(&list, cases[i].spec, &machine.host, &err), 0);
		event_list_copy(&copy, &list);
		event_list_release(&list);
		intset_format(&copy.v[0].cpus, &cpus);
		assert_string_equal(cpus.len ? cpus.s : "", cases[i].cpus);
		assert_true(copy.v[0].cpus_chosen == cases[i].chosen);
		event_list_release(&copy);
		str_release(&cpus);
	}
}

static void test_clocks_have_a_unit(void **state)
{
	static const char *const clocks[] = { "task-clock", "cpu-clock:u", "1:0", "faults/config=1/" };
	struct event_list list;
	struct str err = STR_INIT;

	(void)state;
	event_list_init(&list);
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		assert_int_equal(event_list_parse(&list, clocks[i], &machine.host, &err), 0);
		assert_string_equal(list.v[i].unit, "msec");
		assert_true(list.v[i].scale > 0.9e-6 && list.v[i].scale < 1.1e-6);
	}
	assert_int_equal(event_list_parse(&list, "faults", &machine.host, &err), 0);
	assert_string_equal(list.v[list.n - 1].unit, "");
	event_list_release(&list);
}

static void test_flags_of_choice(void **state)
{
	struct event_list list;
	struct str err = STR_INIT;

	(void)state;
	event_list_init(&list);
	assert_int_equal(event_list_parse(&list, "cs,cs:u,cs:G,{cs,cs}:k,{cs}:H", &machine.host, &err), 0);
	assert_false(list.v[0].user_excludes || list.v[0].user_guest);
	assert_true(list.v[1].user_excludes && !list.v[1].user_guest);
	assert_true(!list.v[2].user_excludes && list.v[2].user_guest);
	assert_true(list.v[3].user_excludes && list.v[4].user_excludes);
	assert_true(list.v[5].user_guest);
	event_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepts_the_whole_list),
		cmocka_unit_test(test_meanings),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_terms_are_kept),
		cmocka_unit_test(test_cpus_are_chosen),
		cmocka_unit_test(test_clocks_have_a_unit),
		cmocka_unit_test(test_flags_of_choice),
	};

	return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
