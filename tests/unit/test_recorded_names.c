/*
 * The names in a recording itself, from bytes that are made here: whose they are, that those of another file are
 * refused, that what is cut or leads in circles is damage and not a crash.
 */
#include "sym/recorded_names.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TEXT_PATH = 1, TEXT_OUTER, TEXT_INNER, TEXT_FILE };
static const char texts[] = "\0/bin/x\0outer\0inner\0x.c";

/* Two inlined functions in `outer`; into: what the first is in. */
static void make(struct str *out, uint8_t version, uint64_t into)
{
	struct str dso = STR_INIT, body = STR_INIT;
	static const uint8_t identity[] = { 'f', 0, TEXT_PATH, 1, 2, 0xab, 0xcd, 0, 0, 0, 0, 0, 0, 0 };
	static const uint8_t rest[] = {
		1, 0x10, 0x40, 2, TEXT_OUTER, /* a function at 0x10 */
		2, 0, TEXT_INNER, TEXT_FILE + 1, 7, 1, TEXT_INNER, TEXT_FILE + 1, 9, /* inlined */
		2, 0x18, 2, 2, TEXT_FILE + 1, 24, 0x60, 1, 0, 0, 23, /* addresses: 0x18, line 12; 0x78, none */
		0, 0,
	};

	str_addn(&dso, (const char *)identity, sizeof(identity));
	str_addn(&dso, (const char *)rest, sizeof(rest));
	dso.s[sizeof(identity) + 6] = (char)into;
	put_number(&body, sizeof(texts));
	str_addn(&body, texts, sizeof(texts));
	put_number(&body, 1);
	put_number(&body, dso.len);
	str_addn(&body, dso.s, dso.len);
	str_addc(out, (char)version);
	str_addc(out, 0);
	put_number(out, body.len);
	str_addn(out, body.s, body.len);
	str_release(&dso);
	str_release(&body);
}

static char path[] = "/bin/x";

static struct dso dso_of(uint8_t last)
{
	return (struct dso){ .kind = DSO_FILE, .path = path, .name = path, .pid = -1,
			     .build_id = { .size = 2, .bytes = { 0xab, last } } };
}

static struct recorded_names *open_names(const struct str *bytes, int code)
{
	struct recorded_names *names;
	struct str err = STR_INIT;

	assert_int_equal(recorded_names_open(&names, bytes->s, bytes->len, &err), code);
	assert_int_equal(!err.len, !code);
	str_release(&err);
	return names;
}

static void frames_come_back(void **state)
{
	struct dso dso = dso_of(0xcd);
	struct str bytes = STR_INIT, why = STR_INIT;
	struct recorded_names *names;
	struct recorded_dso *found;
	const struct recorded_addr *addr;
	struct dwarf_inline frames[8];

	(void)state;
	make(&bytes, RECORDED_VERSION, 0);
	names = open_names(&bytes, 0);
	found = recorded_names_find(names, &dso, &why);
	assert_non_null(found);
	addr = recorded_addr_find(found, 0x18);
	assert_non_null(addr);
	assert_null(recorded_addr_find(found, 0x19));
	assert_string_equal(found->functions[addr->function1 - 1].name, "outer");
	assert_int_equal(recorded_inlines(found, addr, true, frames, 8), 3);
	assert_string_equal(frames[0].name, "inner");
	assert_int_equal(frames[0].line.line, 12);
	assert_int_equal(frames[1].line.line, 9);
	assert_null(frames[2].name);
	assert_int_equal(frames[2].line.line, 7);
	assert_int_equal(recorded_inlines(found, addr, false, frames, 8), 1);
	assert_int_equal(frames[0].line.line, 12);
	/* The outermost are kept. */
	assert_int_equal(recorded_inlines(found, addr, true, frames, 2), 2);
	assert_int_equal(frames[0].line.line, 9);
	assert_int_equal(recorded_addr_find(found, 0x78)->function1, 0);
	recorded_names_free(names);
	str_release(&bytes);
	str_release(&why);
}

static void another_files_are_refused(void **state)
{
	struct dso dso = dso_of(0xce);
	struct str bytes = STR_INIT, why = STR_INIT;
	struct recorded_names *names;

	(void)state;
	make(&bytes, RECORDED_VERSION, 0);
	names = open_names(&bytes, 0);
	assert_null(recorded_names_find(names, &dso, &why));
	assert_non_null(strstr(why.s, "its build-id was abcd, the recording has abce"));
	str_reset(&why);
	dso.kind = DSO_VDSO; /* it has nothing of that: nothing is to be said */
	assert_null(recorded_names_find(names, &dso, &why));
	assert_int_equal(why.len, 0);
	dso = dso_of(0xcd);
	dso.start += 0x1000;
	assert_null(recorded_names_find(names, &dso, &why));
	assert_string_equal(why.s, "of another place than where it was loaded");
	recorded_names_free(names);
	str_release(&bytes);
	str_release(&why);
}

static void circles_and_other_versions_are_refused(void **state)
{
	struct dso dso = dso_of(0xcd);
	struct str bytes = STR_INIT, why = STR_INIT;
	struct recorded_names *names;

	(void)state;
	make(&bytes, RECORDED_VERSION, 1); /* inlined into itself */
	names = open_names(&bytes, 0);
	assert_null(recorded_names_find(names, &dso, &why));
	assert_string_equal(why.s, "damaged");
	recorded_names_free(names);
	str_reset(&bytes);
	make(&bytes, RECORDED_VERSION + 1, 0);
	open_names(&bytes, -EPROTONOSUPPORT);
	str_release(&bytes);
	str_release(&why);
}

/* Each length, and each byte as another one: an error, or what can be asked. */
static void damage_is_no_crash(void **state)
{
	struct dso dso = dso_of(0xcd);
	struct str bytes = STR_INIT, why = STR_INIT, err = STR_INIT;
	struct recorded_names *names;

	(void)state;
	make(&bytes, RECORDED_VERSION, 0);
	for (size_t n = 0; n < bytes.len; n++) {
		assert_true(recorded_names_open(&names, bytes.s, n, &err) < 0);
		assert_null(names);
	}
	for (size_t i = 0; i < bytes.len; i++) {
		char was = bytes.s[i];

		bytes.s[i] = (char)0xff;
		if (!recorded_names_open(&names, bytes.s, bytes.len, &err))
			recorded_names_find(names, &dso, &why);
		recorded_names_free(names);
		bytes.s[i] = was;
	}
	str_release(&bytes);
	str_release(&why);
	str_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_come_back),
		cmocka_unit_test(another_files_are_refused),
		cmocka_unit_test(circles_and_other_versions_are_refused),
		cmocka_unit_test(damage_is_no_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
