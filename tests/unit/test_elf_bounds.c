/* SPDX-License-Identifier: MIT */
/*
 * Bounds of functions from .eh_frame: every way to write an address, both classes and byte orders, what is not
 * believed, 3,000 damaged tables; and the symbols that stripped files get by them.
 */
#include "elf_builder.h"
#include "sym/sym_internal.h"

#include "unit/fake_machine.h"

#include <stdio.h>

#include <cmocka.h>

enum { TEXT = 0x1000, TEXT_BYTES = 0x200, EH_FRAME = 0x2000 };
enum { ABS = 0x00, PCREL_S2 = 0x1a, PCREL_S4 = 0x1b, PCREL_S8 = 0x1c, DATAREL_S4 = 0x3b, INDIRECT = 0x9b };

static struct built_elf built;
static struct str bytes, err;
static struct elf_file file;
static struct elf_bounds bounds;
static uint32_t text, eh_frame;
static size_t cie_at;

static int set_up(void **state)
{
	(void)state;
	str_init(&bytes);
	str_init(&err);
	file = (struct elf_file){ .fd = -1 };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	elf_file_close(&file);
	elf_bounds_release(&bounds);
	str_release(&bytes);
	str_release(&err);
	elf_end(&built);
	return 0;
}

static void start(bool is_32, bool big)
{
	elf_start(&built, ET_DYN, is_32 ? EM_386 : EM_X86_64, is_32, big);
	text = elf_add(&built, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT);
	str_pad(&built.sections[text].bytes, '\x90', TEXT_BYTES);
	built.load = text;
	eh_frame = elf_add(&built, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, EH_FRAME);
}

static struct str *table(void)
{
	return &built.sections[eh_frame].bytes;
}

static void put(uint64_t value, size_t n)
{
	elf_put(&built, table(), value, n);
}

/* The length of the entry that began at `at`. */
static void end_entry(size_t at)
{
	struct str length = STR_INIT;

	str_pad(table(), '\0', -table()->len & 3);
	elf_put(&built, &length, table()->len - at - 4, 4);
	memcpy(table()->s + at, length.s, 4);
	str_release(&length);
}

/* augmentation: "zR" with an encoding, "zPLR" with a personality in front, "" for none. */
static void cie(const char *augmentation, uint8_t encoding)
{
	cie_at = table()->len;
	put(0, 4);
	put(0, 4);
	put(1, 1);
	str_addn(table(), augmentation, strlen(augmentation) + 1);
	put(1, 1); /* code alignment */
	put(0x78, 1); /* data alignment, -8 */
	put(16, 1); /* return address */
	if (*augmentation)
		put(strchr(augmentation, 'P') ? 7 : 1, 1);
	if (strchr(augmentation, 'P')) {
		put(PCREL_S4, 1);
		put(0x1234, 4);
		put(PCREL_S4, 1); /* of the LSDA */
	}
	if (*augmentation)
		put(encoding, 1);
	end_entry(cie_at);
}

static void fde(uint8_t encoding, uint64_t from, uint64_t size)
{
	static const uint8_t widths[16] = { 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8 };
	size_t at = table()->len, width = widths[encoding & 15];

	if (!width)
		width = elf_word(&built);
	put(0, 4);
	put(at + 4 - cie_at, 4);
	put(encoding & 0x10 ? from - (EH_FRAME + at + 8) : from, width);
	put(size, width);
	end_entry(at);
}

static void read_built(void)
{
	elf_finish(&built, &bytes);
	assert_int_equal(elf_file_open_memory(&file, bytes.s, bytes.len, "built", &err), 0);
	elf_bounds_read(&file, &bounds);
}

static void expect(uint64_t vaddr, uint64_t from, uint64_t end)
{
	const struct function_bounds *found = elf_bounds_find(&bounds, vaddr);

	assert_int_equal(found ? found->start : 0, from);
	assert_int_equal(found ? found->end : 0, end);
}

static void addresses_are_read_as_their_cie_says(void **state)
{
	static const struct {
		const char *augmentation;
		uint8_t encoding;
	} rows[] = { { "zR", PCREL_S4 }, { "zPLR", PCREL_S4 }, { "zRS", PCREL_S4 }, { "zR", PCREL_S2 },
		     { "zR", PCREL_S8 }, { "zR", 0x03 },       { "zR", 0x04 },	    { "zR", 0x0b },
		     { "zR", ABS },	 { "", ABS } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (unsigned kind = 0; kind < 4; kind++) {
			set_up(state);
			start(kind & 1, kind & 2);
			cie(rows[i].augmentation, rows[i].encoding);
			fde(rows[i].encoding, 0x1080, 0x20);
			fde(rows[i].encoding, 0x1000, 0x30);
			put(0, 4);
			read_built();
			assert_int_equal(bounds.n, 2);
			expect(0xfff, 0, 0);
			expect(0x1000, 0x1000, 0x1030);
			expect(0x102f, 0x1000, 0x1030);
			expect(0x1030, 0, 0);
			expect(0x1080, 0x1080, 0x10a0);
			expect(0x10a0, 0, 0);
			tear_down(state);
		}
	}
	set_up(state);
}

static void what_cannot_be_is_left_out(void **state)
{
	(void)state;
	start(false, false);
	cie("zR", PCREL_S4);
	fde(PCREL_S4, 0x1000, 0); /* empty */
	fde(PCREL_S4, 0x5000, 0x10); /* in no segment */
	fde(PCREL_S4, 0x11f0, 0x11); /* beyond its end */
	fde(PCREL_S4, 0, 0x10); /* dropped by the linker */
	cie("zR", DATAREL_S4);
	fde(DATAREL_S4, 0x1010, 0x10);
	cie("zR", INDIRECT);
	fde(INDIRECT, 0x1020, 0x10);
	cie("zR", 0xff);
	fde(ABS, 0x1030, 0x10);
	cie("zXR", PCREL_S4); /* a letter that nobody knows */
	fde(PCREL_S4, 0x1040, 0x10);
	cie("eh", PCREL_S4);
	fde(PCREL_S4, 0x1050, 0x10);
	cie("zR", PCREL_S4);
	cie_at += 4; /* no CIE there */
	fde(PCREL_S4, 0x1060, 0x10);
	cie_at = table()->len + 0x1000; /* before the section's start */
	fde(PCREL_S4, 0x1070, 0x10);
	cie("zR", PCREL_S4);
	fde(PCREL_S4, 0x1080, 0x10);
	put(0xffffffff, 4); /* a length of 64 bits: nothing is read from here on */
	put(8, 8);
	fde(PCREL_S4, 0x1090, 0x10);
	read_built();
	assert_int_equal(bounds.n, 1);
	expect(0x1080, 0x1080, 0x1090);
}

static void ranges_do_not_overlap(void **state)
{
	(void)state;
	start(false, false);
	cie("zR", PCREL_S4);
	fde(PCREL_S4, 0x1040, 0x10);
	fde(PCREL_S4, 0x1000, 0x100);
	fde(PCREL_S4, 0x1040, 0x20);
	fde(PCREL_S4, 0x1050, 0x20);
	read_built();
	assert_int_equal(bounds.n, 3);
	expect(0x103f, 0x1000, 0x1040);
	expect(0x104f, 0x1040, 0x1050);
	expect(0x1050, 0x1050, 0x1070);
	expect(0x1070, 0, 0);
}

static void files_without_tables_have_none(void **state)
{
	(void)state;
	start(false, false);
	read_built();
	assert_int_equal(bounds.n, 0);
	expect(0x1000, 0, 0);
}

/* Nothing is asked but an answer that is in order. */
static void damaged_tables_end_in_an_answer(void **state)
{
	uint64_t seed = 7;
	size_t at;

	(void)state;
	start(false, false);
	cie("zPLR", PCREL_S4);
	for (unsigned i = 0; i < 8; i++)
		fde(PCREL_S4, TEXT + 0x20 * i, 0x20);
	elf_finish(&built, &bytes);
	at = built.sections[eh_frame].offset;
	for (unsigned i = 0; i < 3000; i++) {
		struct str damaged = STR_INIT;
		size_t n = built.sections[eh_frame].bytes.len;

		str_addn(&damaged, bytes.s, bytes.len);
		for (unsigned k = 0; k <= i % 3; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			damaged.s[at + (seed >> 33) % n] = (char)(seed >> 17);
		}
		assert_int_equal(elf_file_open_memory(&file, damaged.s, damaged.len, "damaged", &err), 0);
		elf_bounds_read(&file, &bounds);
		for (size_t k = 0; k < bounds.n; k++) {
			assert_true(bounds.v[k].start < bounds.v[k].end);
			assert_true(bounds.v[k].start >= TEXT && bounds.v[k].end <= TEXT + TEXT_BYTES);
			assert_true(!k || bounds.v[k - 1].end <= bounds.v[k].start);
		}
		elf_bounds_release(&bounds);
		elf_file_close(&file);
		str_release(&damaged);
	}
}

/* ---- symbols by them ---- */

static struct fake_machine machine;
static struct info info;
static struct recording_info recording = { .info = &info };
static struct sym_options options;
static struct symbols *symbols;
static struct dso dso;

/* The offset in the file of an address of .text. */
static uint64_t offset_of(uint64_t vaddr)
{
	return vaddr - TEXT + built.sections[text].offset;
}

static const struct symbol *look_up(uint64_t vaddr)
{
	return symbols_find(symbols, &dso, offset_of(vaddr));
}

static void begin(void)
{
	symbols_free(symbols);
	symbols = symbols_new(&options, &recording);
}

/* Writes the built file, for a dso called `name`. */
static void install(const char *name)
{
	static char path[4096];
	FILE *out;

	elf_finish(&built, &bytes);
	snprintf(path, sizeof(path), "%s/program", machine.root);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes.s, 1, bytes.len, out), bytes.len);
	fclose(out);
	dso = (struct dso){ .kind = DSO_FILE, .path = path, .name = (char *)(uintptr_t)name, .pid = -1 };
	begin();
}

static int set_up_machine(void **state)
{
	fake_machine_init(&machine);
	info_init(&info);
	options = (struct sym_options){ .map_dir = machine.root, .buildid_dir = machine.root };
	return set_up(state);
}

static int tear_down_machine(void **state)
{
	symbols_free(symbols);
	symbols = NULL;
	info_release(&info);
	fake_machine_release(&machine);
	return tear_down(state);
}

static void expect_name(uint64_t vaddr, uint64_t from)
{
	const struct symbol *symbol = look_up(vaddr);
	char name[64];

	snprintf(name, sizeof(name), "[libz.so.1+0x%llx]", (unsigned long long)offset_of(from));
	assert_non_null(symbol);
	assert_string_equal(symbol->name, name);
	assert_true(symbol->nameless && !symbol_has_name(symbol));
	assert_int_equal(symbol->start, offset_of(from));
	assert_ptr_equal(symbol->dso, &dso);
	assert_ptr_equal(symbols_frames(symbols, &dso, offset_of(vaddr), SYM_LINES).v[0].symbol, symbol);
}

static void stripped_code_has_one_symbol_per_function(void **state)
{
	(void)state;
	start(false, false);
	cie("zR", PCREL_S4);
	fde(PCREL_S4, 0x1000, 0x40);
	fde(PCREL_S4, 0x1040, 0x40);
	install("libz.so.1");
	expect_name(0x1000, 0x1000);
	expect_name(0x103f, 0x1000);
	expect_name(0x1041, 0x1040);
	assert_ptr_equal(look_up(0x1000), look_up(0x103f));
	assert_null(look_up(0x1090));
	assert_int_equal(symbols_state(symbols, &dso), SYM_NONE);
	assert_true(symbols_why(symbols, &dso)[0]);
	options.no_bounds = true;
	begin();
	assert_null(look_up(0x1000));
}

static void exported_names_cover_only_their_own_code(void **state)
{
	uint32_t exported;

	(void)state;
	start(false, false);
	cie("zR", PCREL_S4);
	fde(PCREL_S4, 0x1000, 0x40); /* known, and longer than its symbol says */
	fde(PCREL_S4, 0x1040, 0x40); /* local */
	fde(PCREL_S4, 0x1080, 0x40); /* open: a symbol without a size */
	fde(PCREL_S4, 0x10c0, 0x40); /* local */
	exported = elf_add_symbols(&built, SHT_DYNSYM);
	elf_symbol(&built, exported, "known", 0x1000, 0x20, STB_GLOBAL, STT_FUNC, text);
	elf_symbol(&built, exported, "open", 0x1080, 0, STB_GLOBAL, STT_FUNC, text);
	elf_symbol(&built, exported, "last", 0x1180, 0x20, STB_GLOBAL, STT_FUNC, text);
	install("libz.so.1");
	assert_string_equal(look_up(0x101f)->name, "known");
	expect_name(0x1020, 0x1000);
	expect_name(0x1050, 0x1040);
	assert_string_equal(look_up(0x1080)->name, "open");
	assert_string_equal(look_up(0x10bf)->name, "open");
	expect_name(0x10c0, 0x10c0);
	assert_string_equal(look_up(0x1100)->name, "open"); /* nobody says otherwise */
	assert_string_equal(look_up(0x1180)->name, "last");
	assert_true(symbol_has_name(look_up(0x1180)));
	options.no_bounds = true;
	begin();
	assert_null(look_up(0x1050));
	assert_string_equal(look_up(0x10c0)->name, "open");
}

/* The names of a whole table are all there are: perf's rule for those without a size stays. */
static void whole_tables_are_believed(void **state)
{
	uint32_t all;

	(void)state;
	start(false, false);
	cie("zR", PCREL_S4);
	fde(PCREL_S4, 0x1000, 0x40);
	fde(PCREL_S4, 0x1040, 0x40);
	all = elf_add_symbols(&built, SHT_SYMTAB);
	elf_symbol(&built, all, "open", 0x1000, 0, STB_LOCAL, STT_FUNC, text);
	elf_symbol(&built, all, "last", 0x1180, 0x20, STB_GLOBAL, STT_FUNC, text);
	install("libz.so.1");
	assert_string_equal(look_up(0x1050)->name, "open");
}

/* Names of files are printable where they come from; those in brackets don't get two. */
static void names_in_brackets_lose_them(void **state)
{
	const struct symbol *symbol;
	char name[64];

	(void)state;
	start(false, false);
	cie("zR", PCREL_S4);
	fde(PCREL_S4, 0x1000, 0x40);
	install("[strange]");
	symbol = look_up(0x1001);
	snprintf(name, sizeof(name), "[strange+0x%llx]", (unsigned long long)offset_of(0x1000));
	assert_non_null(symbol);
	assert_string_equal(symbol->name, name);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_machine, tear_down_machine)
	const struct CMUnitTest tests[] = {
		TEST(addresses_are_read_as_their_cie_says),
		TEST(what_cannot_be_is_left_out),
		TEST(ranges_do_not_overlap),
		TEST(files_without_tables_have_none),
		TEST(damaged_tables_end_in_an_answer),
		FILE_TEST(stripped_code_has_one_symbol_per_function),
		FILE_TEST(exported_names_cover_only_their_own_code),
		FILE_TEST(whole_tables_are_believed),
		FILE_TEST(names_in_brackets_lose_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
