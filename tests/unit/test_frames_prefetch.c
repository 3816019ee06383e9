/* SPDX-License-Identifier: MIT */
/*
 * The debug information of several files read side by side: what is answered afterwards is what is answered without,
 * address by address, also of files that are cut or gone; and it has been read, which is what it is for.
 */
#include "sym/dso_names.h"

#include "unit/fake_machine.h"

#include <sched.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { FILES = 7, CUT = 5, GONE = 6, ADDRESSES = 600, STEP = 304 };

static struct fake_machine machine;
static struct info info;
static struct recording_info recording = { .info = &info };
static struct sym_options options;
static struct dso dsos[FILES];
static uint64_t first; /* offset of code in this program's file */
static bool has_dwarf;

static struct str program_bytes(void)
{
	struct str bytes = STR_INIT;
	char piece[65536];
	FILE *in = fopen("/proc/self/exe", "r");
	size_t n;

	assert_non_null(in);
	while ((n = fread(piece, 1, sizeof(piece), in)) > 0)
		str_addn(&bytes, piece, n);
	fclose(in);
	return bytes;
}

/* Where this program's code begins in its file; and whether it was built with debug information. */
static void find_code(const char *path)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long long start, end, offset;
	uintptr_t known = (uintptr_t)find_code;
	struct str err = STR_INIT;
	struct elf_file file;
	char line[4096];
	size_t bytes = 0;

	assert_non_null(maps);
	first = 0;
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %*s %llx", &start, &end, &offset) == 3 && known >= start && known < end)
			first = offset;
	fclose(maps);
	assert_true(first);
	assert_int_equal(elf_file_open(&file, path, &err), 0);
	elf_file_section(&file, ".debug_info", &bytes);
	has_dwarf = bytes;
	elf_file_close(&file);
	str_release(&err);
}

static int set_up(void **state)
{
	struct str bytes = program_bytes();

	(void)state;
	fake_machine_init(&machine);
	info_init(&info);
	options = (struct sym_options){
		.map_dir = machine.root, .buildid_dir = machine.root, .procfs = machine.procfs
	};
	for (uint32_t i = 0; i < FILES; i++) {
		char *path = xasprintf("%s/program%u", machine.root, i);
		FILE *out = i == GONE ? NULL : fopen(path, "w");

		if (out) {
			fwrite(bytes.s, 1, i == CUT ? bytes.len / 3 : bytes.len, out);
			fclose(out);
		}
		dsos[i] = (struct dso){ .index = i, .kind = DSO_FILE, .path = path, .name = path, .pid = -1 };
	}
	find_code(dsos[0].path);
	str_release(&bytes);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < FILES; i++)
		free(dsos[i].path);
	info_release(&info);
	fake_machine_release(&machine);
	return 0;
}

/* In no order: files by turns, addresses from the last to the first, each twice. */
static size_t places(struct symbols_place *out)
{
	size_t n = 0;

	for (size_t i = ADDRESSES; i-- > 0;)
		for (size_t k = 0; k < 2 * FILES; k++)
			out[n++] = (struct symbols_place){ &dsos[k % FILES], first + i * STEP };
	return n;
}

static void add_frames(struct symbols *symbols, unsigned want, struct str *out)
{
	for (size_t i = 0; i < FILES; i++) {
		for (size_t k = 0; k < ADDRESSES; k++) {
			struct frame_list frames = symbols_frames(symbols, &dsos[i], first + k * STEP, want);

			str_addf(out, "%zu %zu:", i, k);
			for (size_t f = 0; f < frames.n; f++)
				str_addf(out, " %s %s:%u", frames.v[f].symbol ? frames.v[f].symbol->name : "none",
					 frames.v[f].line.file ? frames.v[f].line.file : "", frames.v[f].line.line);
			str_addc(out, '\n');
		}
		str_addf(out, "%d %s\n", symbols_state(symbols, &dsos[i]), symbols_why(symbols, &dsos[i]));
	}
}

static bool has_been_read(const struct symbols *symbols, size_t i)
{
	return i < symbols->n_names && symbols->names[i] && source_debug_dwarf(symbols->names[i]);
}

/* ahead: what is read ahead; want: what is asked for then. */
static void compare(unsigned ahead, unsigned want)
{
	static struct symbols_place list[2 * FILES * ADDRESSES];
	struct str one = STR_INIT, many = STR_INIT;
	struct symbols *symbols;
	size_t n_read = 0;

	if (!has_dwarf) {
		printf("# skip: built without debug information\n");
		skip();
	}
	symbols = symbols_new(&options, &recording);
	add_frames(symbols, want, &one);
	symbols_free(symbols);

	symbols = symbols_new(&options, &recording);
	symbols_ahead(symbols, list, places(list), ahead);
	for (size_t i = 0; i < FILES; i++)
		n_read += has_been_read(symbols, i);
	add_frames(symbols, want, &many);
	symbols_free(symbols);
	assert_string_equal(one.s, many.s);
	assert_int_equal(n_read > 0, n_read == CUT); /* all that are whole, or none where there is one CPU */
	if (!n_read && !options.no_inlines) {
		cpu_set_t set;

		assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
		assert_int_equal(CPU_COUNT(&set), 1);
	}
	str_release(&one);
	str_release(&many);
}

static void inlined_functions_are_the_same(void **state)
{
	(void)state;
	compare(0, 0);
}

static void lines_are_the_same(void **state)
{
	(void)state;
	compare(SYM_LINES, SYM_LINES);
	compare(0, SYM_LINES); /* the files of the lines are opened behind it */
}

/* Nobody needs DWARF then. */
static void without_inlined_functions_nothing_is_read(void **state)
{
	struct symbols_place list[FILES];
	struct symbols *symbols;

	(void)state;
	options.no_inlines = true;
	compare(SYM_LINES, SYM_LINES);
	symbols = symbols_new(&options, &recording);
	for (size_t i = 0; i < FILES; i++)
		list[i] = (struct symbols_place){ &dsos[i], first };
	symbols_ahead(symbols, list, FILES, 0);
	for (size_t i = 0; i < FILES; i++)
		assert_false(has_been_read(symbols, i));
	symbols_free(symbols);
}

/* A second time nothing is begun anew, and no list is no work. */
static void it_may_be_asked_again(void **state)
{
	struct symbols *symbols = symbols_new(&options, &recording);
	struct symbols_place list[FILES];
	struct dwarf_file *before;

	(void)state;
	symbols_ahead(symbols, NULL, 0, 0);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < FILES; i++)
			list[i] = (struct symbols_place){ &dsos[i], first + STEP * (uint64_t)round };
		before = round ? source_debug_dwarf(symbols->names[0]) : NULL;
		symbols_ahead(symbols, list, FILES, 0);
		if (round)
			assert_ptr_equal(source_debug_dwarf(symbols->names[0]), before);
	}
	symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(inlined_functions_are_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lines_are_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_inlined_functions_nothing_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(it_may_be_asked_again, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
