/* SPDX-License-Identifier: MIT */
/*
 * Mutated formats of tracepoints, those of this kernel where they can be read: no crash, no sanitizer report, a
 * text within its bound. First the formats by themselves, then whole recordings through report and script.
 *
 *	TRACE_MUTANTS=5000000 TRACE_RECORDINGS=100000 TRACE_SEED=1 build/.../test_trace_mutants
 */
#include "fmt/fmt.h"
#include "script/script.h"
#include "ask_fixture.h"
#include "trace_fixture.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { MUTANTS = 20000, RECORDINGS = 300, SAMPLE_BYTES_MAX = 256 };

static uint64_t count_of(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);
	uint64_t n;

	return text && !parse_u64(text, 10, &n) ? n : otherwise;
}

/* ---- formats to begin with ---- */

#define HEAD "name: made\nID: 1000\nformat:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
static const char *const made_formats[] = {
	HEAD "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	     "\tfield:int number;\toffset:24;\tsize:4;\tsigned:1;\n"
	     "\tfield:__data_loc char[] path;\toffset:28;\tsize:4;\tsigned:1;\n\n"
	     "print fmt: \"comm=%s number=%d %-8s path=%s\", REC->comm, REC->number ? REC->number / 2 : -1, "
	     "__print_symbolic(REC->number & 0xff, { 1 << 0, \"ONE\" }, { 2, \"TW\" \"O\" }), __get_str(path)\n",
	HEAD "\tfield:u8 addr[28];\toffset:4;\tsize:28;\tsigned:0;\n"
	     "\tfield:unsigned long bits[2];\toffset:32;\tsize:16;\tsigned:0;\n"
	     "\tfield:u8 len;\toffset:48;\tsize:1;\tsigned:0;\n\n"
	     "print fmt: \"%pISpc %*pbl %s %pS\", REC->addr, 64, REC->bits, __print_hex(REC->addr, REC->len), "
	     "(void *)REC->bits[1]\n",
	HEAD "\tfield:__rel_loc u32[] v;\toffset:4;\tsize:4;\tsigned:0;\n"
	     "\tfield:__data_loc cpumask_t cpus;\toffset:8;\tsize:4;\tsigned:0;\n"
	     "\tfield:unsigned long flags;\toffset:16;\tsize:8;\tsigned:0;\n\n"
	     "print fmt: \"%s %s %s\", __print_array(__get_rel_dynamic_array(v), "
	     "__get_rel_dynamic_array_len(v) / sizeof(u32), sizeof(u32)), __get_cpumask(cpus), "
	     "(REC->flags) ? __print_flags(REC->flags, \"|\", {(unsigned long)(1UL << 3), \"A\"}, { 0, ((void *)0) }) "
	     ": \"none\"\n",
};

struct seeds {
	struct kernel_formats formats;
	struct trace_format *parsed; /* of each */
	struct arena arena;
	uint64_t random;
};

static int seeds_make(void **state)
{
	struct seeds *s = xcalloc(1, sizeof(*s));
	struct kernel_formats *f = &s->formats;

	*state = s;
	kernel_formats_read(f);
	f->v = xreallocarray(f->v, f->n + ARRAY_SIZE(made_formats), sizeof(*f->v));
	f->names = xreallocarray(f->names, f->n + ARRAY_SIZE(made_formats), sizeof(*f->names));
	for (size_t i = 0; i < ARRAY_SIZE(made_formats); i++, f->n++) {
		str_init(&f->v[f->n]);
		str_add(&f->v[f->n], made_formats[i]);
		f->names[f->n] = xasprintf("made:%zu", i);
	}
	s->parsed = xcalloc(f->n, sizeof(*s->parsed));
	for (size_t i = 0; i < f->n; i++)
		assert_true(trace_format_parse(&s->arena, f->v[i].s, f->v[i].len, 8, &s->parsed[i]));
	s->random = count_of("TRACE_SEED", 20260101) | 1;
	return 0;
}

static int seeds_free(void **state)
{
	struct seeds *s = *state;

	kernel_formats_release(&s->formats);
	arena_release(&s->arena);
	free(s->parsed);
	free(s);
	return 0;
}

/* ---- mutations ---- */

static const char *const words[] = {
	"REC->", "REC", "(REC)->", "__print_flags(", "__print_symbolic(", "__print_hex(", "__print_array(",
	"__get_str(", "__get_dynamic_array(", "__get_dynamic_array_len(", "__get_rel_str(", "__get_bitmask(",
	"__get_cpumask(", "__get_sockaddr(", "sizeof(", "__builtin_expect(", "__print_ns_to_secs(",
	"jiffies_to_msecs(", "(unsigned long)", "(char)", "(s64)", "(u8 *)", "(void *)0", "%d", "%s", "%.*s",
	"%*d", "%-300d", "%#x", "%llx", "%c", "%pS", "%pI4", "%pI6c", "%pISpc", "%pM", "%pU", "%16ph",
	"%*pbl", "%", "%%", "\\", "\"", "'", "'\\n'", "{", "}", "(", ")", "[", "]", ",", "?", ":", "/0",
	"%0", "/", "%", "<<", ">>", "<< 64", ">> -1", "- 1", "~", "!", "&&", "||", "|", "&", "^", "==", "<",
	">=", "0", "1", "-1", "64", "0xffffffff", "0x7fffffffffffffffLL", "-0x8000000000000000", "0x",
	"1ULL", "08", "99999999999999999999", "u8", "struct page *", "common_pid", "__data_loc ",
	"__rel_loc ", "char[] ", "[16]", "offset:", "size:0;", "size:2;", "size:65535;", "offset:1048575;",
	"signed:1;", "\n", "\t", ";",
};

static void replace(struct str *text, size_t at, size_t n, const char *by, size_t len)
{
	struct str out = STR_INIT;

	str_addn(&out, text->s, at);
	str_addn(&out, by, len);
	str_addn(&out, text->s + at + n, text->len - at - n);
	str_release(text);
	*text = out;
}

static size_t below(struct seeds *s, size_t n)
{
	return n ? (size_t)random_below(&s->random, n) : 0;
}

/* A part of some format's text, of this one too. */
static void splice(struct seeds *s, struct str *text, size_t at)
{
	const struct trace_format *from = &s->parsed[below(s, s->formats.n)];
	size_t start = below(s, from->print_len), left = from->print_len - start;

	replace(text, at, 0, from->print + start, below(s, left < 80 ? left : 80));
}

static void mutate(struct seeds *s, struct str *text)
{
	const char *print = strstr(text->s, "print fmt:");
	size_t from = print && random_below(&s->random, 8) ? (size_t)(print - text->s) : 0;
	size_t at = from + below(s, text->len - from), left = text->len - at;
	const char *word = words[below(s, ARRAY_SIZE(words))];
	char byte;

	if (!left)
		return;
	switch (random_below(&s->random, 7)) {
	case 0:
		byte = (char)(text->s[at] ^ 1 << random_below(&s->random, 8));
		replace(text, at, 1, &byte, 1);
		break;
	case 1:
		replace(text, at, 1 + below(s, left < 12 ? left : 12), "", 0);
		break;
	case 2:
		replace(text, at, 0, word, strlen(word));
		break;
	case 3:
		replace(text, at, strlen(word) < left ? strlen(word) : left, word, strlen(word));
		break;
	case 4:
		splice(s, text, at);
		break;
	case 5: /* the same again, up to some hundred times */
		for (size_t n = below(s, 8) ? 1 : below(s, 300); n && text->len < (1 << 16); n--)
			replace(text, at, 0, word, strlen(word));
		break;
	default:
		if (!random_below(&s->random, 4))
			replace(text, at, left, "", 0);
		break;
	}
}

static void make_mutant(struct seeds *s, size_t of, struct str *text)
{
	str_reset(text);
	str_addn(text, s->formats.v[of].s, s->formats.v[of].len);
	for (size_t n = 1 + below(s, 3); n; n--)
		mutate(s, text);
}

/* ---- a format by itself ---- */

static const char *some_function(void *context, uint64_t address, uint64_t *start)
{
	(void)context;
	*start = address & ~0xfffULL;
	return address % 3 ? "function" : NULL;
}

static const char *some_text(void *context, uint64_t address)
{
	(void)context;
	return address % 3 ? NULL : "text";
}

/* A copy of just so many bytes, so that a sanitizer sees each byte read beyond them. */
static uint8_t *exact_copy(const void *bytes, size_t n)
{
	uint8_t *copy = xmalloc(n ? n : 1);

	return memcpy(copy, bytes, n);
}

static void print_sample(struct seeds *s, const struct trace_format *format, const struct trace_print *print,
			 const struct str *bytes, struct str *out)
{
	const struct trace_machine machine = { .swap = random_below(&s->random, 8) == 0,
					       .big_endian = random_below(&s->random, 8) == 0,
					       .long_bytes = 8,
					       .function = some_function,
					       .text = some_text };
	uint8_t *copy = exact_copy(bytes->s, bytes->len);
	const struct trace_raw raw = { copy, bytes->len, &machine };

	str_reset(out);
	if (print)
		trace_add_text(out, &raw, print);
	trace_add_fields(out, &raw, format);
	assert_true(out->len <= 2 * ((16 << 10) + 8 * bytes->len + 16));
	free(copy);
}

/* 1 where it was understood. */
static unsigned try_format(struct seeds *s, size_t of, const struct str *text, struct str *bytes, struct str *out)
{
	char *copy = (char *)exact_copy(text->s, text->len);
	struct arena arena = ARENA_INIT;
	struct trace_format format;
	struct trace_print print;
	bool understood = false;
	uint16_t id = 1000;

	if (trace_format_parse(&arena, copy, strnlen(copy, text->len), 8, &format)) {
		understood = trace_print_parse(&arena, &format, 8, &print);
		for (unsigned i = 0; i < NUMBERS_KINDS; i++) {
			sample_make(&s->parsed[of], id, &s->random, i, bytes);
			if (i == NUMBERS_ANY) {
				bytes->len = below(s, bytes->len + 1);
				bytes->s[bytes->len] = '\0';
			}
			print_sample(s, &format, understood ? &print : NULL, bytes, out);
		}
	}
	arena_release(&arena);
	free(copy);
	return understood;
}

static void test_formats(void **state)
{
	struct seeds *s = *state;
	struct str text = STR_INIT, bytes = STR_INIT, out = STR_INIT;
	uint64_t n = count_of("TRACE_MUTANTS", MUTANTS), n_understood = 0;

	for (uint64_t i = 0; i < n; i++) {
		make_mutant(s, i % s->formats.n, &text);
		n_understood += try_format(s, i % s->formats.n, &text, &bytes, &out);
	}
	print_message("# %llu mutants of %zu formats, %llu understood\n", (unsigned long long)n, s->formats.n,
		      (unsigned long long)n_understood);
	assert_true(n < 1000 || n_understood);
	str_release(&text);
	str_release(&bytes);
	str_release(&out);
}

/* ---- whole recordings ---- */

#define NOWHERE "/proc/self/nowhere"
static const struct session_options session_options = {
	.sym = { .symfs = NOWHERE, .kallsyms = "/dev/null", .ignore_vmlinux = true, .buildid_dir = NOWHERE,
		 .map_dir = NOWHERE, .procfs = NOWHERE, .sysfs = NOWHERE },
};

/* Offsets in the file's header: data {offset, size}, behind which the features' {offset, size} are. */
enum { HEADER_DATA = 40, FEATURE_ENTRY = 16 };

static uint64_t number_at(const struct str *file, size_t at)
{
	uint64_t value;

	assert_true(at + sizeof(value) <= file->len);
	memcpy(&value, file->s + at, sizeof(value));
	return value;
}

static void put_at(struct str *file, size_t at, uint64_t value)
{
	assert_true(at + sizeof(value) <= file->len);
	memcpy(file->s + at, &value, sizeof(value));
}

static void add_value(struct str *out, uint64_t value, size_t n)
{
	str_addn(out, (const char *)&value, n);
}

/* TRACING_DATA, whose only format is this one, as that of the golden event 1000. */
static void add_tracing_data(struct str *out, const struct str *format)
{
	const char *id = strstr(format->s, "ID: ");
	size_t id_len = id ? strcspn(id, "\n") : 0;
	struct str text = STR_INIT;

	str_addn(&text, format->s, format->len);
	if (id)
		replace(&text, (size_t)(id - format->s), id_len, "ID: 1000", 8);
	str_addn(out, "\x17\x08\x44tracing0.6\0\0\x08", 16);
	add_value(out, 4096, 4);
	str_addn(out, "header_page", 12);
	add_value(out, 0, 8);
	str_addn(out, "header_event", 13);
	add_value(out, 0, 8);
	add_value(out, 0, 4);
	add_value(out, 1, 4);
	str_addn(out, "golden", 7);
	add_value(out, 1, 4);
	add_value(out, text.len, 8);
	str_addn(out, text.s, text.len);
	add_value(out, 0, 8);
	str_release(&text);
}

/* The golden recording with other formats, behind all that it has; TRACING_DATA is the first of its features. */
static void make_recording(const struct str *golden, const struct str *format, struct str *file)
{
	size_t entry = (size_t)(number_at(golden, HEADER_DATA) + number_at(golden, HEADER_DATA + 8));

	str_reset(file);
	str_addn(file, golden->s, golden->len);
	add_tracing_data(file, format);
	put_at(file, entry, golden->len);
	put_at(file, entry + 8, file->len - golden->len);
}

static size_t run_report(int fd)
{
	struct query options = { .children = -1, .sort = "trace,number,comm",
					  .session = session_options };
	struct output output = { .text = STR_INIT };
	struct asked asked;
	struct reader reader;
	struct str err = STR_INIT;
	size_t len;

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(reader_open_fd(&reader, dup(fd), "mutant", &err), 0);
	if (asked_open(&asked, &options, &reader, &err)) { /* no field of that name is left */
		asked_release(&asked);
		options.sort = "trace";
		str_reset(&err);
		assert_int_equal(asked_open(&asked, &options, &reader, &err), 0);
	}
	assert_int_equal(profile_read(asked.profile, NULL, NULL, &err), 0);
	assert_int_equal(table_make(&asked.table, asked.profile, asked.question, NULL, &err), 0);
	report_format_find("stdio")->print(asked.table, &output);
	len = output.text.len;
	asked_release(&asked);
	reader_close(&reader);
	str_release(&output.text);
	str_release(&err);
	return len;
}

static size_t run_script(int fd, bool json)
{
	struct script_options options = { .session = session_options, .fields = json ? NULL : "event,trace",
					  .json = json };
	struct output output = { .text = STR_INIT };
	struct script *script = NULL;
	struct reader reader;
	struct str err = STR_INIT;
	size_t len;

	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(reader_open_fd(&reader, dup(fd), "mutant", &err), 0);
	assert_int_equal(script_new(&script, &options, &reader, &err), 0);
	assert_int_equal(script_run(script, &output, NULL, NULL, &err), 0);
	len = output.text.len;
	script_free(script);
	reader_close(&reader);
	str_release(&output.text);
	str_release(&err);
	return len;
}

static void test_recordings(void **state)
{
	struct seeds *s = *state;
	struct str golden = STR_INIT, format = STR_INIT, file = STR_INIT;
	uint64_t n = count_of("TRACE_RECORDINGS", RECORDINGS), n_bytes = 0;
	int fd = memfd_create("mutant", MFD_CLOEXEC);

	if (read_text_file("tests/golden/tracepoints.data", &golden)) {
		print_message("# skip: needs tests/golden/tracepoints.data below the folder it runs in\n");
		close(fd);
		skip();
	}
	for (uint64_t i = 0; i < n; i++) {
		make_mutant(s, i % 2 ? s->formats.n - 1 - below(s, ARRAY_SIZE(made_formats)) : below(s, s->formats.n),
			    &format);
		make_recording(&golden, &format, &file);
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		assert_int_equal(write_all(fd, file.s, file.len), 0);
		n_bytes += run_report(fd) + run_script(fd, i % 4 == 0);
	}
	print_message("# %llu recordings, %llu bytes of text\n", (unsigned long long)n, (unsigned long long)n_bytes);
	close(fd);
	str_release(&golden);
	str_release(&format);
	str_release(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_formats, seeds_make, seeds_free),
		cmocka_unit_test_setup_teardown(test_recordings, seeds_make, seeds_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
