/* SPDX-License-Identifier: MIT */
/*
 * What a print format makes of a sample: C's arithmetic, the kernel's conversions and helpers, in either byte
 * order; and what is not understood, which is no text at all.
 */
#include "trace/trace_internal.h"

#include <endian.h>
#include <stdlib.h>

#include <cmocka.h>

static const char head[] = "name: made\nID: 9\nformat:\n"
			   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
			   "\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
			   "\tfield:s8 tiny;\toffset:16;\tsize:1;\tsigned:1;\n"
			   "\tfield:u8 flags;\toffset:17;\tsize:1;\tsigned:0;\n"
			   "\tfield:short small;\toffset:18;\tsize:2;\tsigned:1;\n"
			   "\tfield:int number;\toffset:20;\tsize:4;\tsigned:1;\n"
			   "\tfield:u64 big;\toffset:24;\tsize:8;\tsigned:0;\n"
			   "\tfield:u16 v[3];\toffset:32;\tsize:6;\tsigned:0;\n"
			   "\tfield:u8 ip4[4];\toffset:40;\tsize:4;\tsigned:0;\n"
			   "\tfield:u8 ip6[16];\toffset:44;\tsize:16;\tsigned:0;\n"
			   "\tfield:__data_loc char[] name;\toffset:60;\tsize:4;\tsigned:0;\n"
			   "\tfield:__rel_loc u32[] w;\toffset:64;\tsize:4;\tsigned:0;\n"
			   "\tfield:const char * why;\toffset:72;\tsize:8;\tsigned:0;\n"
			   "\tfield:__data_loc unsigned long[] mask;\toffset:80;\tsize:4;\tsigned:0;\n\n"
			   "print fmt: ";

enum { NAME_AT = 88, W_AT = 96, MASK_AT = 104, RAW_BYTES = 120, FUNCTION = 0x1000 };

static void put(uint8_t *at, uint64_t value, size_t bytes, bool big)
{
	for (size_t i = 0; i < bytes; i++)
		at[big ? bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static void make_raw(uint8_t *raw, bool big)
{
	static const uint8_t ip4[] = { 192, 168, 0, 1 }, ip6[16] = { 0x20, 1, 0xd, 0xb8, [15] = 1 };

	memset(raw, 0, RAW_BYTES);
	put(raw, 9, 2, big);
	memcpy(raw + 8, "worker", 7);
	put(raw + 16, (uint64_t)-3, 1, big);
	put(raw + 17, 0x85, 1, big);
	put(raw + 18, (uint64_t)-4, 2, big);
	put(raw + 20, (uint64_t)-7, 4, big);
	put(raw + 24, 0xfedcba9876543210, 8, big);
	for (size_t i = 0; i < 3; i++)
		put(raw + 32 + 2 * i, 0x101 * (i + 1), 2, big);
	memcpy(raw + 40, ip4, sizeof(ip4));
	memcpy(raw + 44, ip6, sizeof(ip6));
	put(raw + 60, NAME_AT | 5 << 16, 4, big);
	memcpy(raw + NAME_AT, "/dev\0?", 6);
	put(raw + 64, (W_AT - 68) | 8 << 16, 4, big);
	put(raw + W_AT, 0xabcd, 4, big);
	put(raw + W_AT + 4, 7, 4, big);
	put(raw + 72, FUNCTION + 8, 8, big);
	put(raw + 80, MASK_AT | 8 << 16, 4, big);
	put(raw + MASK_AT, 0x8000000f, 8, big);
}

static const char *name_function(void *context, uint64_t address, uint64_t *start)
{
	(void)context;
	*start = FUNCTION;
	return address == FUNCTION + 8 ? "vfs_read" : NULL;
}

static const char *name_text(void *context, uint64_t address)
{
	(void)context;
	return address == FUNCTION + 8 ? "because" : NULL;
}

/* The text of what is behind "print fmt: "; false: it is not understood. */
static bool make_text(const char *print, bool big, struct str *out)
{
	const struct trace_machine machine = { .swap = big != (BYTE_ORDER == BIG_ENDIAN), .big_endian = big,
					       .long_bytes = 8, .function = name_function, .text = name_text };
	char *text = xasprintf("%s%s\n", head, print);
	struct arena arena = ARENA_INIT;
	struct trace_format format;
	struct trace_print pieces;
	uint8_t bytes[RAW_BYTES];
	const struct trace_raw raw = { bytes, sizeof(bytes), &machine };
	bool understood;

	make_raw(bytes, big);
	assert_true(trace_format_parse(&arena, text, strlen(text), 8, &format));
	understood = trace_print_parse(&arena, &format, 8, &pieces);
	str_reset(out);
	if (understood)
		trace_add_text(out, &raw, &pieces);
	arena_release(&arena);
	free(text);
	return understood;
}

struct row {
	const char *print, *text; /* NULL: not understood */
};

static void check_rows(const struct row *rows, size_t n)
{
	struct str out = STR_INIT;

	for (size_t i = 0; i < 2 * n; i++) {
		const struct row *row = &rows[i / 2];
		bool understood = make_text(row->print, i % 2, &out);

		if (understood != (row->text != NULL) || (understood && strcmp(out.s, row->text) != 0))
			fail_msg("%s -> %s, not %s", row->print, understood ? out.s : "(nothing)",
				 row->text ? row->text : "(nothing)");
	}
	str_release(&out);
}

static void test_numbers(void **state)
{
	static const struct row rows[] = {
		{ "\"%d %u %x %X %o\", 10, 10, 10, 10, 10", "10 10 a A 12" },
		{ "\"[%5d|%-5d|%05d|%+d|% d]\", 42, 42, 42, 42, 42", "[   42|42   |00042|+42| 42]" },
		{ "\"%#x %#o %#x %08lx %#010llx\", 10, 8, 0, 0xbeefUL, 0xbeefULL", "0xa 010 0 0000beef 0x0000beef" },
		{ "\"[%08lx|%04x|%-08x|%03x]\", 0UL, 0x12345, 0x2a, 0x10", "[00000000|12345|2a      |010]" },
		{ "\"%.3d|%.0d|%5.3d|%-6.3x|\", 7, 0, 7, 10", "007||  007|00a   |" },
		{ "\"%*d|%-*d|%.*d\", 4, 1, 4, 1, 3, 1", "   1|1   |001" },
		{ "\"%d %hd %hhd %ld %lld\", REC->number, REC->number, REC->number, (long)REC->number, "
		  "(long long)REC->number", "-7 -7 -7 -7 -7" },
		{ "\"%u %hu %hhu %llu\", REC->number, REC->number, REC->number, REC->big",
		  "4294967289 65529 249 18364758544493064720" },
		{ "\"%d %d %u\", REC->tiny, REC->small, REC->flags", "-3 -4 133" },
		{ "\"%zu %zd %Lu\", REC->big, -1L, REC->big", "18364758544493064720 -1 18364758544493064720" },
		{ "\"%c%c%c|%3c|%-3c|\", 'a', 98, '\\n', 'x', 'y'", "ab\n|  x|y  |" },
		{ "\"100%% %i\\t\\\\\", 5", "100% 5\t\\" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void test_operators(void **state)
{
	static const struct row rows[] = {
		{ "\"%d\", 1 + 2 * 3 - 4 / 2", "5" },
		{ "\"%d\", 10 - 3 - 2", "5" },
		{ "\"%d\", (1 | 6) & ~2 ^ 8", "13" },
		{ "\"%d\", 1 << 4 >> 2", "4" },
		{ "\"%d %d\", 7 % 4, -7 % 4", "3 -3" },
		{ "\"%d %d %d\", REC->number < 0, REC->number > 0U, REC->big < 0", "1 1 0" },
		{ "\"%d %d %d\", !REC->number, !!REC->number, !0 == 1", "0 1 1" },
		{ "\"%d %d\", 1 && 0 || 1, 1 == 1 != 0", "1 1" },
		{ "\"%d\", REC->number < 0 ? -REC->number : REC->number", "7" },
		{ "\"%d\", 0 ? 1 : 1 ? 2 : 3", "2" },
		{ "\"%d\", REC->number ? 1 ? 5 : 6 : 7", "5" },
		{ "\"%lld %lld\", REC->number, (unsigned int)REC->number + 0LL", "-7 4294967289" },
		{ "\"%d %d %d %d\", (u8)300, (s8)200, (char)200, (signed char)200", "44 -56 200 -56" },
		{ "\"%llx\", ~0ULL << 60", "f000000000000000" },
		{ "\"%x\", 0x80000000 << 1", "0" },
		{ "\"%d\", REC->v[0] + REC->v[2]", "1028" },
		{ "\"%d\", REC->v[REC->v[0] - 256]", "514" },
		{ "\"%d %d %d\", REC->v[3], REC->v[-1], REC->v[0xffffffffffffffff]", "0 0 0" },
		{ "\"%x\", ((u8 *)__get_rel_dynamic_array(w))[8]", "0" },
		{ "\"%d\", __get_str(name)[0] ? 1 : 0", "1" },
		{ "\"%d %d\", __get_dynamic_array_len(name), __get_rel_dynamic_array_len(w) / sizeof(u32)", "5 2" },
		{ "\"%d %d %d %d\", sizeof(long), sizeof(REC->v), sizeof(struct page *), sizeof(unsigned short)",
		  "8 6 8 2" },
		{ "\"%d\", __builtin_expect(!!(REC->number), 0) ? 3 : 4", "3" },
		{ "\"%llu.%09u\", __print_ns_to_secs(2000000005ULL), __print_ns_without_secs(2000000005ULL)",
		  "2.000000005" },
		{ "\"%lx\", (unsigned long)(((struct page *)vmemmap_base) + REC->flags)", "85" },
		{ "\"%d\", ((REC)->flags)", "133" },
		{ "\"%llu\", REC->big - (9223372036854775807LL)", "9141386507638288913" },
		{ "\"%d %d %d\", 1 / 0, 1 % 0, REC->number / (REC->small + 4)", "0 0 0" },
		{ "\"%lld\", (-9223372036854775807LL - 1) / -1", "-9223372036854775808" },
		{ "\"%d %d %d\", 1 << 32, 1 >> 32, 1 << -1", "0 0 0" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void test_strings(void **state)
{
	static const struct row rows[] = {
		{ "\"%s|%8s|%-8s|%.3s|%8.3s|%.*s\", REC->comm, REC->comm, REC->comm, REC->comm, REC->comm, 2, "
		  "REC->comm",
		  "worker|  worker|worker  |wor|     wor|wo" },
		{ "\"%s %s %s\", __get_str(name), (char *)__get_str(name), REC->why", "/dev /dev because" },
		{ "\"a\" \"b%s\" \"c\", \"x\" \"y\"", "abxyc" },
		{ "\"%s\", REC->number < 0 ? \"below\" : \"not\"", "below" },
		{ "\"%s\", __print_symbolic(REC->v[0] & 3, { 1 << 0, \"ONE\" }, { 2, \"TWO\" })", "ONE" },
		{ "\"%s\", __print_symbolic(REC->number, { -7, \"SEVEN\" })", "SEVEN" },
		{ "\"%s\", __print_symbolic(REC->small, { 1, \"ONE\" }, { -1, ((void *)0) })", "0xfffc" },
		{ "\"[%-5s|%5s]\", __print_symbolic(1, { 1, \"A\" }), __print_symbolic(1, { 2, \"A\" })",
		  "[A    |  0x1]" },
		{ "\"%s\", __print_symbolic(1, { })", "0x1" },
		{ "\"%s\", __print_flags(REC->flags, \"|\", { 1, \"A\" }, { 0x84, \"B\" }, { 2, \"C\" })", "A|B" },
		{ "\"%s\", __print_flags(REC->flags, \"\", { 1, \"A\" }, { (unsigned long)0x80, \"B\" })", "AB0x4" },
		{ "\"%s.\", __print_flags(0, \"|\", { 1, \"A\" })", "." },
		{ "\"%s\", __print_flags(REC->flags, \"|\", { UNKNOWN, \"U\" }, { 1 << UNKNOWN, \"V\" })", "0x85" },
		{ "\"%s\", __print_flags_u64(1ULL << 63, \"|\", { 1ULL << 63, \"TOP\" })", "TOP" },
		{ "\"%s %s\", __print_hex(REC->ip4, 3), __print_hex_str(REC->ip4, 4)", "c0 a8 00 c0a80001" },
		{ "\"%s\", __print_array(__get_rel_dynamic_array(w), 2, 4)", "{0xabcd,0x7}" },
		{ "\"%s\", __print_array(REC->v, 3, 2)", "{0x101,0x202,0x303}" },
		{ "\"%s\", __print_array(REC->v, 3, 5)", "{}" },
		{ "\"%s %s\", __get_cpumask(mask), __get_bitmask(mask)", "0-3,31 00000000,8000000f" },
		{ "\"%*pbl\", 3, __get_dynamic_array(mask)", "0-2" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void test_pointers(void **state)
{
	static const struct row rows[] = {
		{ "\"%p %p\", REC->why, 0", "0x1008 (nil)" },
		{ "\"%pS %ps %pF %pf\", REC->why, REC->why, REC->why, (void *)REC->why",
		  "vfs_read+0x8 vfs_read vfs_read+0x8 vfs_read" },
		{ "\"%pS\", REC->flags", "0x85" },
		{ "\"%pI4 %pi4 %pI4l\", REC->ip4, REC->ip4, REC->ip4", "192.168.0.1 192.168.000.001 1.0.168.192" },
		{ "\"%pI6c %pI6 %pi6\", REC->ip6, REC->ip6, REC->ip6",
		  "2001:db8::1 2001:0db8:0000:0000:0000:0000:0000:0001 20010db8000000000000000000000001" },
		{ "\"%pM %pm %pMF %pMR\", REC->v, REC->v, REC->v, REC->v",
		  "01:01:02:02:03:03 010102020303 01-01-02-02-03-03 03:03:02:02:01:01" },
		{ "\"%pU %pUL\", REC->ip6, REC->ip6",
		  "20010db8-0000-0000-0000-000000000001 B80D0120-0000-0000-0000-000000000001" },
		{ "\"%4ph %*phC %2phN\", REC->ip4, 3, REC->ip4, REC->ip4", "c0 a8 00 01 c0:a8:00 c0a8" },
		{ "\"%pI4 %pI6 %pM %pU\", REC->comm, REC->comm, REC->comm, REC->comm",
		  "INVALIDIPv4 INVALIDIPv6 INVALIDMAC INVALIDUUID" },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void test_what_is_not_understood(void **state)
{
	static const struct row rows[] = {
		{ "", NULL },
		{ "%d", NULL },
		{ "\"%d\"", NULL },
		{ "\"%d\", ", NULL },
		{ "\"%d\", 1 +", NULL },
		{ "\"%d\", 1 2", NULL },
		{ "\"%d\", (1", NULL },
		{ "\"%d\", 1)", NULL },
		{ "\"%d\", REC->nothing", NULL },
		{ "\"%d\", REC.comm", NULL },
		{ "\"%d\", *REC->why", NULL },
		{ "\"%d\", &REC->number", NULL },
		{ "\"%d\", REC->number = 1", NULL },
		{ "\"%d\", ({ int x = 1; x; })", NULL },
		{ "\"%d\", jiffies_to_msecs(REC->number)", NULL },
		{ "\"%d\", 1 ? 2", NULL },
		{ "\"%d\", ? 1 : 2", NULL },
		{ "\"%s\", __print_symbolic(1, { REC->number, \"x\" })", NULL },
		{ "\"%s\", __print_flags(1, { 1, \"x\" })", NULL },
		{ "\"%s\", __get_str(comm)", NULL },
		{ "\"%s\", __get_str(nothing)", NULL },
		{ "\"%d\", 1x", NULL },
		{ "\"%d\", 'ab'", NULL },
		{ "\"%s\", \"x", NULL },
		{ "\"%d\", REC->number[0]", NULL },
		{ "\"%k\", 1", NULL },
		{ "\"%n\", 1", NULL },
		{ "\"%\", 1", NULL },
		{ "\"%400d\", 1", NULL },
		{ "\"%pI6\", 1", NULL },
		{ "\"text\", unknown(1)", NULL },
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

/* What a few letters of a format can make of a small sample ends at a bound, and says so. */
static void test_long_texts(void **state)
{
	struct str print = STR_INIT, out = STR_INIT;

	(void)state;
	str_addc(&print, '"');
	for (unsigned i = 0; i < 900; i++)
		str_add(&print, "%256d");
	str_addc(&print, '"');
	for (unsigned i = 0; i < 900; i++)
		str_add(&print, ", 1");
	assert_true(make_text(print.s, false, &out));
	assert_int_equal(out.len, (16 << 10) + 8 * RAW_BYTES + 3);
	assert_string_equal(out.s + out.len - 3, "...");
	str_reset(&print);
	str_add(&print, "\"%s\", __print_hex(REC->comm, 0xffffffffffffffff)");
	assert_true(make_text(print.s, false, &out));
	assert_int_equal(out.len, 3 * (RAW_BYTES - 8) - 1);
	str_release(&print);
	str_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_what_is_not_understood),
		cmocka_unit_test(test_long_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
