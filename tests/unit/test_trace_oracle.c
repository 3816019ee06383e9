/* SPDX-License-Identifier: MIT */
/*
 * The texts of tracepoints beside libtraceevent's: every format of this kernel, with samples made here. The
 * library is the oracle where it is right; where it is not, a row below says why.
 */
#include "trace_fixture.h"

#include <ctype.h>
#include <cmocka.h>

#if __has_include(<traceevent/event-parse.h>)
#include <traceevent/event-parse.h>

#define FUNCTIONS(FN)                                                                                \
	FN(tep_alloc) FN(tep_free) FN(tep_parse_event) FN(tep_print_event) FN(tep_set_long_size)        \
	FN(tep_set_page_size) FN(tep_set_file_bigendian) FN(tep_set_loglevel) FN(trace_seq_init)        \
	FN(trace_seq_destroy) FN(trace_seq_terminate)

struct oracle {
#define MEMBER(name) __typeof__(name) *name;
	FUNCTIONS(MEMBER)
#undef MEMBER
};
static const struct library_symbol symbols[] = {
#define SYMBOL(name) { #name, offsetof(struct oracle, name) },
	FUNCTIONS(SYMBOL)
#undef SYMBOL
};

/* The oracle forgets memory of formats that it gives up; ours is looked at all the same. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

static void oracle_text(const struct oracle *oracle, const struct str *format, const struct str *raw, struct str *out)
{
	const uint16_t one = 1;
	struct tep_record record = { .size = (int)raw->len, .data = raw->s };
	struct tep_handle *tep = oracle->tep_alloc();
	struct trace_seq seq;

	oracle->tep_set_loglevel(TEP_LOG_NONE);
	oracle->tep_set_long_size(tep, sizeof(long));
	oracle->tep_set_page_size(tep, 4096);
	oracle->tep_set_file_bigendian(tep, *(const uint8_t *)&one ? TEP_LITTLE_ENDIAN : TEP_BIG_ENDIAN);
	oracle->trace_seq_init(&seq);
	str_reset(out);
	oracle->tep_parse_event(tep, format->s, format->len, "test");
	oracle->tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO);
	oracle->trace_seq_terminate(&seq);
	str_add(out, seq.buffer);
	oracle->trace_seq_destroy(&seq);
	oracle->tep_free(tep);
}

/* ---- where the library is not right ---- */

/* A row of a table whose value has a word, "{ I_NEW, "I_NEW" }": the library takes that as 0 or -1. */
static bool has_word_in_table(const char *print, size_t len)
{
	bool in_value = false;
	unsigned letters = 0; /* in front of here, of a word: three at most are a number's, as in 1ULL */

	for (const char *p = print; p < print + len && letters < 4; p++) {
		if (strchr("{,\"", *p))
			in_value = *p == '{';
		letters = in_value && (isupper((unsigned char)*p) || *p == '_') ? letters + 1 : 0;
	}
	return letters == 4;
}

static const struct {
	const char *in_print, *in_text; /* of the format, of what the library says; NULL: any */
	const char *why;
} reasons[] = {
	{ NULL, "[FAILED TO PARSE]", "what the library can't parse" },
	{ "%c", ">c<", "%c, which it does not know" },
	{ "%*pb", NULL, "bits, which it shows as an address" },
	{ "1ULL << 63", NULL, "the highest bit, which it takes as a word that it does not know" },
	{ "%-8s", NULL, "blanks, which it forgets behind a value without a name" },
	{ "%3s", NULL, "blanks, which it forgets before a text that is not in the recording" },
	{ "<< REC->", NULL, "shifts by more bits than an int has" },
	{ "- REC->nr_data + 1", NULL, "a - b + 1, which it takes as a - (b + 1)" },
	{ "? ((unsigned int)((", NULL, "a < (b ? c : d), where it loses the parentheses" },
	{ "REC->flags & (0x", NULL, "a & (b | c), where it loses the parentheses" },
};

static const char *reason_of(const struct trace_format *format, const char *oracle, enum sample_numbers numbers)
{
	const char *print = format->print;
	size_t len = format->print_len;

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if ((!reasons[i].in_print || memmem(print, len, reasons[i].in_print, strlen(reasons[i].in_print))) &&
		    (!reasons[i].in_text || strstr(oracle, reasons[i].in_text)))
			return reasons[i].why;
	if (has_word_in_table(print, len))
		return "words, which it takes as 0";
	for (size_t i = format->n_common; numbers == NUMBERS_ANY && i < format->n_fields; i++)
		if (format->fields[i].is_signed && !format->fields[i].is_array)
			return "numbers below 0, which it takes as great ones";
	return NULL;
}

/* ---- the comparison ---- */

struct tally {
	size_t same, explained, unexplained;
};

static void add_ours(const struct trace_format *format, const struct trace_print *print, const struct trace_raw *raw,
		     struct str *out)
{
	str_reset(out);
	if (print) {
		trace_add_text(out, raw, print);
		return;
	}
	str_add(out, "[FAILED TO PARSE]");
	trace_add_fields(out, raw, format);
}

enum { SAMPLES = 4, LIBRARY_READS_ON = 128 };

static void compare_format(const struct oracle *oracle, const char *name, const struct str *text, struct tally *tally)
{
	static const struct trace_machine machine = { .long_bytes = sizeof(long) };
	struct str raw = STR_INIT, ours = STR_INIT, theirs = STR_INIT;
	struct arena arena = ARENA_INIT;
	struct trace_format format;
	struct trace_print print;
	uint64_t seed = 4711;
	bool same = true, understood;
	const char *why = "";
	uint16_t id;

	assert_true(trace_format_id(text->s, text->len, &id));
	assert_true(trace_format_parse(&arena, text->s, text->len, sizeof(long), &format));
	understood = trace_print_parse(&arena, &format, sizeof(long), &print);
	for (unsigned i = 0; i < SAMPLES * NUMBERS_KINDS && same; i++) {
		struct trace_raw bytes = { .machine = &machine };

		sample_make(&format, id, &seed, i % NUMBERS_KINDS, &raw);
		bytes.bytes = (const uint8_t *)raw.s;
		bytes.len = raw.len;
		add_ours(&format, understood ? &print : NULL, &bytes, &ours);
		str_pad(&raw, '\0', LIBRARY_READS_ON);
		raw.len -= LIBRARY_READS_ON;
		oracle_text(oracle, text, &raw, &theirs);
		same = !strcmp(ours.s, theirs.s);
		why = reason_of(&format, theirs.s, i % NUMBERS_KINDS);
	}
	tally->same += same;
	tally->explained += !same && why;
	tally->unexplained += !same && !why;
	if (!same && !why)
		print_message("# %s\n#   theirs: %s\n#   ours:   %s\n#   %.*s\n", name, theirs.s, ours.s,
			      (int)format.print_len, format.print);
	arena_release(&arena);
	str_release(&raw);
	str_release(&ours);
	str_release(&theirs);
}

static void test_every_format_of_this_kernel(void **state)
{
	struct kernel_formats formats;
	struct tally tally = { 0 };
	struct oracle oracle;
	struct str err = STR_INIT;
	const char *why = kernel_formats_read(&formats);

	(void)state;
	if (!why && !library_load("libtraceevent.so.1", symbols, ARRAY_SIZE(symbols), &oracle, &err))
		why = "needs libtraceevent";
	str_release(&err);
	if (why) {
		kernel_formats_release(&formats);
		print_message("# skip: %s\n", why);
		skip();
	}
	for (size_t i = 0; i < formats.n; i++)
		compare_format(&oracle, formats.names[i], &formats.v[i], &tally);
	print_message("# %zu formats: %zu the same, %zu otherwise for a reason\n", formats.n, tally.same,
		      tally.explained);
	kernel_formats_release(&formats);
	assert_int_equal(tally.unexplained, 0);
	assert_true(tally.explained * 20 < formats.n);
}

#else

static void test_every_format_of_this_kernel(void **state)
{
	(void)state;
	print_message("# skip: needs libtraceevent's headers\n");
	skip();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_format_of_this_kernel) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
