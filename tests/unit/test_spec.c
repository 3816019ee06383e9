/* SPDX-License-Identifier: MIT */
/*
 * The syntax alone: what is a word, a pair, a unit, a breakpoint, a vendor event; where each part
 * stands; and, for wrong text, the place under which the caret goes.
 */
#include "accept_list.h"
#include "event/spec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ERROR_INIT { .reason = STR_INIT, .hint = STR_INIT }

static void show_event(struct str *out, const struct spec_event *event)
{
	static const char *const kinds[] = { "word", "pair", "unit", "mem", "pfm" };

	str_addf(out, "%s %s", kinds[event->kind], event->word);
	if (event->second)
		str_addf(out, "|%s", event->second);
	if (event->access)
		str_addf(out, "|%s", event->access);
	if (event->has_terms)
		str_add(out, " [");
	for (size_t i = 0; i < event->n_terms; i++) {
		str_addf(out, i ? "; %s" : "%s", event->terms[i].name);
		if (event->terms[i].value)
			str_addf(out, "=%s", event->terms[i].value);
	}
	if (event->has_terms)
		str_addc(out, ']');
	if (*event->modifiers)
		str_addf(out, " :%s", event->modifiers);
}

static void show(struct str *out, const struct spec *spec)
{
	for (size_t i = 0; i < spec->n; i++) {
		const struct spec_group *group = &spec->groups[i];

		str_add(out, i ? ", " : "");
		if (group->braces)
			str_addf(out, "%s{", group->name ? group->name : "");
		for (size_t j = 0; j < group->n; j++) {
			str_add(out, j ? ", " : "");
			show_event(out, &group->events[j]);
		}
		if (group->braces)
			str_addc(out, '}');
		if (*group->modifiers)
			str_addf(out, " :%s", group->modifiers);
	}
}

static void test_accepts_the_whole_list(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		struct spec spec = { .text = NULL };
		struct spec_error error = ERROR_INIT;

		if (spec_parse(&spec, accepted[i], &error))
			fail_msg("%s: %s at %zu", accepted[i], error.reason.s, error.pos);
		assert_true(spec.n > 0);
		spec_release(&spec);
		spec_error_release(&error);
	}
}

static const struct {
	const char *text, *tree;
} trees[] = {
	{ "cycles", "word cycles" },
	{ "cycles:ukp", "word cycles :ukp" },
	{ "cycles:", "word cycles" },
	{ "r1,faults:u", "word r1, word faults :u" },
	{ "sched:sched_switch", "pair sched|sched_switch" },
	{ "sched:sched_*:k", "pair sched|sched_* :k" },
	{ "*:*", "pair *|*" },
	{ "*:*:u", "pair *|* :u" },
	{ "1:1:hp", "pair 1|1 :hp" },
	{ "cycles:v", "pair cycles|v" },
	{ "kvm-s390:kvm_s390_create_vm", "pair kvm-s390|kvm_s390_create_vm" },
	{ "sched:sched_switch/name=x/u", "pair sched|sched_switch [name=x] :u" },
	{ "a:pe:u", "pair a|pe :u" },
	{ "cycles//", "unit cycles []" },
	{ "cycles//u", "unit cycles [] :u" },
	{ "cycles//:u", "unit cycles [] :u" },
	{ "cpu/event=0x3c,umask=1,any/kp", "unit cpu [event=0x3c; umask=1; any] :kp" },
	{ "cpu/ event = 1 , any /", "unit cpu [event=1; any]" },
	{ "c/name='a:b=c,d/e {'/u,x", "unit c [name=a:b=c,d/e {] :u, word x" },
	{ "c/name=\"it's\"/", "unit c [name=it's]" },
	{ "c/name=''/", "unit c [name=]" },
	{ "c/metric-id=a:b/", "unit c [metric-id=a:b]" },
	{ "cs_etm/@tmc_etr0/u", "unit cs_etm [@tmc_etr0] :u" },
	{ "uprobe/path=/bin/ls,offset=1/u", "unit uprobe [path=/bin/ls; offset=1] :u" },
	{ "uprobe/offset=1,path=/bin/ls/", "unit uprobe [offset=1; path=/bin/ls]" },
	{ "uprobe/path=/bin/ls/u", "unit uprobe [path=/bin/ls] :u" },
	{ "uprobe/path=/bin/ls/,cs", "unit uprobe [path=/bin/ls], word cs" },
	{ "uprobe/path=/bin/ls/u,cs", "unit uprobe [path=/bin/ls] :u, word cs" },
	{ "uprobe/path=./bp,func=main/u", "unit uprobe [path=./bp; func=main] :u" },
	{ "uprobe/path=../out/bp,offset=1/", "unit uprobe [path=../out/bp; offset=1]" },
	{ "uprobe/path=out/bp,offset=1/,cs", "unit uprobe [path=out/bp; offset=1], word cs" },
	{ "uprobe/offset=1,path=out/bp/u", "unit uprobe [offset=1; path=out/bp] :u" },
	{ "uprobe/offset=1,path=bp/u,cs", "unit uprobe [offset=1; path=bp] :u, word cs" },
	{ "uprobe/path=b,offset=1/", "unit uprobe [path=b; offset=1]" },
	{ "probe:./prog:parse", "unit uprobe [path=./prog; func=parse]" },
	{ "probe:/a/b.so.1:parse%return", "unit uprobe [path=/a/b.so.1; func=parse; retprobe]" },
	{ "probe:../p:ns::Box::sum:u", "unit uprobe [path=../p; func=ns::Box::sum] :u" },
	{ "{probe:./p:f+0x4,cs}", "{unit uprobe [path=./p; func=f+0x4], word cs}" },
	{ "probe:./p:f ,cs", "unit uprobe [path=./p; func=f], word cs" },
	{ "probe:vfs_read", "pair probe|vfs_read" },
	{ "mem:0", "mem 0" },
	{ "mem:0x1000:rw:u", "mem 0x1000|rw :u" },
	{ "mem:0:k", "mem 0 :k" },
	{ "mem:0/4:rw:u", "mem 0|4|rw :u" },
	{ "mem:0/1/name=a/,mem:0/4:rw/name=b/", "mem 0|1 [name=a], mem 0|4|rw [name=b]" },
	{ "mem:0/name=a/kp", "mem 0 [name=a] :kp" },
	{ "mem:0:x/name=a/:k", "mem 0|x [name=a] :k" },
	{ "skl::INST_RETIRED:ANY_P:u", "pfm skl::INST_RETIRED:ANY_P:u" },
	{ "{skl::A:c=1,cs}", "{pfm skl::A:c=1, word cs}" },
	{ "{a,b:u}:S", "{word a, word b :u} :S" },
	{ "g1{a},g2 { b , c }:u", "g1{word a}, g2{word b, word c} :u" },
	{ " {\ta ,\n b }  ,  c ", "{word a, word b}, word c" },
	{ "{a} : u , b", "{word a} :u, word b" },
};

static void test_trees(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		struct spec spec = { .text = NULL };
		struct spec_error error = ERROR_INIT;
		struct str out = STR_INIT;

		if (spec_parse(&spec, trees[i].text, &error))
			fail_msg("%s: %s at %zu", trees[i].text, error.reason.s, error.pos);
		show(&out, &spec);
		assert_string_equal(out.s, trees[i].tree);
		str_release(&out);
		spec_release(&spec);
		spec_error_release(&error);
	}
}

static void test_positions(void **state)
{
	static const char text[] = "{a, mem:0/4:rw/name='x y'/u}:kp";
	struct spec spec = { .text = NULL };
	struct spec_error error = ERROR_INIT;
	const struct spec_event *mem;

	(void)state;
	assert_int_equal(spec_parse(&spec, text, &error), 0);
	mem = &spec.groups[0].events[1];
	assert_int_equal(mem->pos, 4);
	assert_int_equal(mem->len, strlen("mem:0/4:rw/name='x y'/u"));
	assert_int_equal(mem->word_pos, 8);
	assert_int_equal(mem->second_pos, 10);
	assert_int_equal(mem->access_pos, 12);
	assert_int_equal(mem->terms[0].name_pos, 15);
	assert_int_equal(mem->terms[0].value_pos, 21);
	assert_int_equal(mem->modifiers_pos, 26);
	assert_int_equal(spec.groups[0].modifiers_pos, 29);
	spec_release(&spec);
	spec_error_release(&error);
}

static const struct {
	const char *text;
	size_t pos;
	const char *reason;
} refused[] = {
	{ "", 0, "the event list is empty" },
	{ " \t", 0, "the event list is empty" },
	{ "cs,", 2, "the list ends with a comma" },
	{ "cs, ", 2, "the list ends with a comma" },
	{ ",", 0, "an event is missing before ','" },
	{ ",cs", 0, "an event is missing before ','" },
	{ "cs,,faults", 3, "an event is missing before ','" },
	{ "{}", 0, "the group is empty" },
	{ "cs,g{ }", 4, "the group is empty" },
	{ "{cs,}", 4, "an event is missing before '}'" },
	{ "{cs", 0, "this '{' is not closed" },
	{ "cs,{cs,faults", 3, "this '{' is not closed" },
	{ "{cs,", 0, "this '{' is not closed" },
	{ "cs}", 2, "this '}' closes no group" },
	{ "}", 0, "an event is missing before '}'" },
	{ "{{cs}}", 1, "a group cannot be inside a group" },
	{ "{cs,g{faults}}", 4, "a group cannot be inside a group" },
	{ "{cs}:", 4, "modifiers are missing after ':'" },
	{ "{cs} : ,cs", 5, "modifiers are missing after ':'" },
	{ "{cs}u", 4, "',' is missing before 'u'" },
	{ "cs faults", 3, "',' is missing before 'f'" },
	{ "{cs faults}", 4, "',' or '}' is missing before 'f'" },
	{ "cycles/", 6, "this '/' is not closed" },
	{ "cycles/name=x", 6, "this '/' is not closed" },
	{ "cycles/name=x,", 6, "this '/' is not closed" },
	{ "{cycles/name=x}", 7, "this '/' is not closed" },
	{ "cycles/name=x,/", 14, "a term is missing before '/'" },
	{ "cycles/,name=x/", 7, "a term is missing before ','" },
	{ "cycles/name=/", 12, "a value is missing before '/'" },
	{ "cycles/name=", 12, "a value is missing at the end" },
	{ "cycles/=1/", 7, "a term is missing before '='" },
	{ "cycles/a b/", 9, "',' or '/' is missing before 'b'" },
	{ "cycles/name='x/", 12, "the quote ' is not closed" },
	{ "/event=1/", 0, "an event is missing before '/'" },
	{ ":u", 0, "an event is missing before ':'" },
	{ "probe:./p", 9, "a function is missing: probe:FILE:FUNCTION" },
	{ "probe:./p:", 9, "a function is missing: probe:FILE:FUNCTION" },
	{ "probe:./p,cs", 9, "a function is missing: probe:FILE:FUNCTION" },
	{ "probe:./p:f:6", 11, "a line of source is no event here: its probe has to be set in tracefs first" },
	{ "mem:", 4, "an address is missing at the end" },
	{ "mem:/4", 4, "an address is missing before '/'" },
	{ "skl::", 5, "an event is missing after '::'" },
	{ "skl::,cs", 5, "an event is missing after '::'" },
	{ "cycles:u:k:h", 10, "':' does not belong here" },
	{ "cycles/a=1/u/b=2/", 12, "'/' does not belong here" },
	{ "cycles=1", 6, "'=' does not belong here" },
	{ "cycles;faults", 6, "';' does not belong here" },
};

static void test_refused_with_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct spec spec = { .text = NULL };
		struct spec_error error = ERROR_INIT;

		if (spec_parse(&spec, refused[i].text, &error) != -EINVAL)
			fail_msg("'%s' was not refused", refused[i].text);
		assert_string_equal(error.reason.s, refused[i].reason);
		if (error.pos != refused[i].pos)
			fail_msg("'%s': place %zu, not %zu", refused[i].text, error.pos,
				 refused[i].pos);
		spec_release(&spec);
		spec_error_release(&error);
	}
}

static void expect_message(const char *text, size_t pos, const char *hint, const char *message)
{
	struct spec_error error = ERROR_INIT;
	struct str out = STR_INIT;

	spec_fail(&error, -EINVAL, pos, "no");
	str_add(&error.hint, hint);
	spec_error_format(&error, text, &out);
	assert_string_equal(out.s, message);
	str_release(&out);
	spec_error_release(&error);
}

static void test_message(void **state)
{
	(void)state;
	expect_message("abc", 1, "", "no\n  abc\n   ^");
	expect_message("abc", 3, "did you mean 'x'?", "no\n  abc\n     ^\n  did you mean 'x'?");
	expect_message("", 0, "", "no");
	/* Two columns for e with an accent in UTF-8 would put the caret beside its place. */
	expect_message("\xc3\xa9x", 2, "", "no\n  \xc3\xa9x\n   ^");
	expect_message("a\033[1mb", 5, "", "no\n  a\\x1b[1mb\n          ^");
}

static void test_long_spec_is_cut(void **state)
{
	struct spec_error error = ERROR_INIT;
	struct str text = STR_INIT, out = STR_INIT;
	const char *shown, *caret;

	(void)state;
	str_pad(&text, 'a', 100000);
	text.s[50000] = '=';
	spec_fail(&error, -EINVAL, 50000, "unknown event '%s'", text.s);
	spec_error_format(&error, text.s, &out);
	assert_true(out.len < 1000);
	shown = strchr(out.s, '\n') + 1;
	caret = strchr(shown, '\n') + 1;
	assert_int_equal(strcspn(shown, "="), strcspn(caret, "^"));
	str_release(&text);
	str_release(&out);
	spec_error_release(&error);
}

static void test_first_failure_wins(void **state)
{
	struct spec_error error = ERROR_INIT;

	(void)state;
	assert_int_equal(spec_fail(&error, -EINVAL, 1, "first"), -EINVAL);
	assert_int_equal(spec_fail(&error, -ENOENT, 2, "second"), -EINVAL);
	assert_string_equal(error.reason.s, "first");
	assert_int_equal(error.pos, 1);
	spec_error_release(&error);
}

static void test_too_long(void **state)
{
	struct spec spec = { .text = NULL };
	struct spec_error error = ERROR_INIT;
	struct str text = STR_INIT;

	(void)state;
	str_pad(&text, 'a', (1 << 20) + 1);
	assert_int_equal(spec_parse(&spec, text.s, &error), -EINVAL);
	spec_release(&spec);
	spec_error_release(&error);
	str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepts_the_whole_list),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_refused_with_place),
		cmocka_unit_test(test_message),
		cmocka_unit_test(test_long_spec_is_cut),
		cmocka_unit_test(test_first_failure_wins),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
