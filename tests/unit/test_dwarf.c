/* SPDX-License-Identifier: MIT */
/*
 * DWARF to inlined functions and lines: of this program itself, whose functions say their own lines; and
 * of files made here, for what no compiler writes: other byte orders, modules, code thrown away by the
 * linker, names in an alternative file, cycles, depth without end; and damaged ones, of which nothing is
 * asked but to end in an answer.
 */
#define elf_end built_elf_end /* libelf has a function of this name */
#include "elf_builder.h"
#undef elf_end
#include "sym/dwarf_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- this program ---- */

static struct {
	unsigned inner, middle, outer;
} lines;
static uint64_t seen;

/* The address of the call, as that of the code it is inlined into. */
static __attribute__((noinline)) void note_address(void)
{
	void *back = __builtin_extract_return_addr(__builtin_return_address(0));

	seen = (uint64_t)(uintptr_t)back - 1;
}

static inline __attribute__((always_inline)) void test_inner(void)
{
	lines.inner = __LINE__, note_address();
	__asm__ volatile("" ::: "memory");
}

static inline __attribute__((always_inline)) void test_middle(void)
{
	lines.middle = __LINE__, test_inner();
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void test_outer(void)
{
	lines.outer = __LINE__, test_middle();
	__asm__ volatile("" ::: "memory");
}

static int first_object(struct dl_phdr_info *info, size_t bytes, void *base)
{
	(void)bytes;
	*(uint64_t *)base = info->dlpi_addr;
	return 1;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = text ? strlen(text) : 0;

	return n >= strlen(end) && !strcmp(text + n - strlen(end), end);
}

static void expect_frame(const struct dwarf_inline *frame, const char *name, unsigned line)
{
	assert_string_equal(frame->name, name);
	assert_int_equal(frame->line.line, line);
	assert_true(ends_with(frame->line.file, "test_dwarf.c"));
	assert_int_equal(frame->line.file[0], '/');
}

static void itself(void **state)
{
	struct dwarf_inline frames[8];
	struct source_line line;
	struct str err = STR_INIT;
	struct dwarf_file *file;
	uint64_t base = 0;

	(void)state;
	test_outer();
	dl_iterate_phdr(first_object, &base);
	dwarf_file_open(NULL, "/proc/self/exe", NULL, NULL, &file, &err);
	str_release(&err);
	if (!file)
		skip(); /* built without -g */
	assert_int_equal(dwarf_file_inlines(file, seen - base, true, frames, 8), 3);
	expect_frame(&frames[0], "test_inner", lines.inner);
	expect_frame(&frames[1], "test_middle", lines.middle);
	expect_frame(&frames[2], "test_outer", lines.outer);
	assert_true(dwarf_file_line(file, seen - base, &line));
	assert_int_equal(line.line, lines.inner);
	assert_ptr_equal(line.file, frames[0].line.file);

	/* With less room, the outermost ones. */
	assert_int_equal(dwarf_file_inlines(file, seen - base, true, frames, 2), 2);
	expect_frame(&frames[0], "test_middle", lines.middle);
	expect_frame(&frames[1], "test_outer", lines.outer);
	assert_int_equal(dwarf_file_inlines(file, seen - base, true, frames, 0), 0);

	assert_int_equal(dwarf_file_inlines(file, 0, true, frames, 8), 0);
	assert_int_equal(dwarf_file_inlines(file, UINT64_MAX, true, frames, 8), 0);
	assert_false(dwarf_file_line(file, UINT64_MAX, &line));
	dwarf_file_close(file);
}

/* ---- files made here ---- */

enum { TEXT = 0x1000, TEXT_BYTES = 0x4000 };

static struct built_elf built;
static char directory[] = "/tmp/pstat-test-dwarf-XXXXXX";
static struct str path;

static struct str *section_bytes(const char *name)
{
	for (uint32_t i = 1; i < built.n; i++)
		if (!strcmp(built.sections[i].name, name))
			return &built.sections[i].bytes;
	return &built.sections[elf_add(&built, name, SHT_PROGBITS, 0, 0)].bytes;
}

static void put(const char *section, uint64_t value, size_t bytes)
{
	elf_put(&built, section_bytes(section), value, bytes);
}

static void put_text(const char *section, const char *text)
{
	str_addn(section_bytes(section), text, strlen(text) + 1);
}

static void info(uint64_t value, size_t bytes)
{
	put(".debug_info", value, bytes);
}

static void lineb(const char *bytes, size_t n)
{
	str_addn(section_bytes(".debug_line"), bytes, n);
}
#define LINE_BYTES(text) lineb(text, sizeof(text) - 1)

/* Codes of the abbreviations; the numbers below them are what a DIE has. */
enum {
	UNIT = 1, /* low_pc, high_pc (8), stmt_list (4), comp_dir */
	FUNCTION, /* name, low_pc, high_pc */
	INLINED, /* abstract_origin (4), low_pc, high_pc, call_file (1), call_line (2) */
	PATTERN, /* name */
	LINK, /* a function: abstract_origin (4) */
	BLOCK,
	ELSEWHERE, /* a function: name in the alternative file (4), low_pc, high_pc */
	INLINED_ELSEWHERE, /* abstract_origin in the alternative file (4), low_pc, high_pc */
	PARTIAL,
	PATTERN_AT, /* a function: name (4) in .debug_str */
	LINES_ALONE, /* stmt_list (4) */
};
static const uint16_t abbrevs[] = {
	/* code, tag, children, attribute and form..., 0, 0 */
	UNIT, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8,
	DW_AT_stmt_list, DW_FORM_sec_offset, DW_AT_comp_dir, DW_FORM_string, 0, 0,
	FUNCTION, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
	DW_AT_high_pc, DW_FORM_data8, 0, 0,
	INLINED, DW_TAG_inlined_subroutine, 1, DW_AT_abstract_origin, DW_FORM_ref4, DW_AT_low_pc,
	DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8, DW_AT_call_file, DW_FORM_data1, DW_AT_call_line,
	DW_FORM_data2, 0, 0,
	PATTERN, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, 0, 0,
	LINK, DW_TAG_subprogram, 0, DW_AT_abstract_origin, DW_FORM_ref4, 0, 0,
	BLOCK, DW_TAG_lexical_block, 1, 0, 0,
	ELSEWHERE, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_GNU_strp_alt, DW_AT_low_pc, DW_FORM_addr,
	DW_AT_high_pc, DW_FORM_data8, 0, 0,
	INLINED_ELSEWHERE, DW_TAG_inlined_subroutine, 0, DW_AT_abstract_origin, DW_FORM_GNU_ref_alt,
	DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8, 0, 0,
	PARTIAL, DW_TAG_partial_unit, 1, 0, 0,
	PATTERN_AT, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_strp, 0, 0,
	LINES_ALONE, DW_TAG_compile_unit, 0, DW_AT_stmt_list, DW_FORM_data4, 0, 0,
};

static void put_abbrevs(void)
{
	struct str *out = section_bytes(".debug_abbrev");

	for (size_t i = 0; i < ARRAY_SIZE(abbrevs); i++) {
		if (abbrevs[i] >= 0x80)
			str_addc(out, (char)(abbrevs[i] | 0x80));
		str_addc(out, (char)(abbrevs[i] >= 0x80 ? abbrevs[i] >> 7 : abbrevs[i]));
	}
	str_addc(out, '\0');
}

static void start_file(uint16_t type, bool big)
{
	uint32_t text;

	elf_start(&built, type, big ? EM_S390 : EM_X86_64, false, big);
	text = elf_add(&built, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR,
		       type == ET_REL ? 0 : TEXT);
	built.sections[text].nobits_bytes = TEXT_BYTES;
	put_abbrevs();
}

/* The unit's length is set by end_unit. */
static size_t start_unit(uint64_t low, uint64_t bytes, const char *comp_dir)
{
	size_t at = section_bytes(".debug_info")->len;

	info(0, 4);
	info(4, 2); /* version */
	info(0, 4);
	info(8, 1);
	if (!comp_dir)
		return at;
	info(UNIT, 1);
	info(low, 8);
	info(bytes, 8);
	info(section_bytes(".debug_line")->len, 4);
	put_text(".debug_info", comp_dir);
	return at;
}

static void end_unit(size_t at)
{
	struct str *out = section_bytes(".debug_info"), length = STR_INIT;

	info(0, 1);
	elf_put(&built, &length, out->len - at - 4, 4);
	memcpy(out->s + at, length.s, 4);
	str_release(&length);
}

static void function(const char *name, uint64_t low, uint64_t bytes)
{
	info(FUNCTION, 1);
	put_text(".debug_info", name);
	info(low, 8);
	info(bytes, 8);
}

static void inlined(size_t pattern, uint64_t low, uint64_t bytes, unsigned line)
{
	info(INLINED, 1);
	info(pattern, 4);
	info(low, 8);
	info(bytes, 8);
	info(1, 1);
	info(line, 2);
}

/* A line table of version 4 with one directory and two files; its length is set by end_lines. */
static size_t start_lines(const char *dir)
{
	size_t at = section_bytes(".debug_line")->len, header;

	put(".debug_line", 0, 4);
	put(".debug_line", 4, 2);
	header = 6 + 12 + strlen(dir) + 2 + 7 + 7 + 1;
	put(".debug_line", header, 4);
	LINE_BYTES("\x01\x01\x01\xfb\x0e\x0d\0\x01\x01\x01\x01\0\0\0\x01\0\0\x01");
	put_text(".debug_line", dir);
	LINE_BYTES("\0"
		   "a.c\0\0\0\0"
		   "b.h\0\x01\0\0\0");
	return at;
}

static void end_lines(size_t at)
{
	struct str *out = section_bytes(".debug_line"), length = STR_INIT;

	elf_put(&built, &length, out->len - at - 4, 4);
	memcpy(out->s + at, length.s, 4);
	str_release(&length);
}

static void set_address(uint64_t address)
{
	LINE_BYTES("\0\x09\x02");
	put(".debug_line", address, 8);
}

static void row(unsigned file, unsigned line, unsigned advance)
{
	const char bytes[] = { DW_LNS_set_file, (char)file, DW_LNS_advance_pc, (char)advance,
			       DW_LNS_advance_line };

	lineb(bytes, sizeof(bytes));
	put(".debug_line", line & 0x7f, 1);
	put(".debug_line", DW_LNS_copy, 1);
}

static void end_sequence(unsigned advance)
{
	const char bytes[] = { DW_LNS_advance_pc, (char)advance, 0, 1, DW_LNE_end_sequence };

	lineb(bytes, sizeof(bytes));
}

static void write_file(const char *name)
{
	struct str bytes = STR_INIT;
	int fd;

	elf_finish(&built, &bytes);
	str_reset(&path);
	str_addf(&path, "%s/%s", directory, name);
	fd = open(path.s, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write_all(fd, bytes.s, bytes.len), 0);
	close(fd);
	str_release(&bytes);
	built_elf_end(&built);
}

static struct dwarf_file *open_file(const struct sym_options *options)
{
	struct str err = STR_INIT;
	struct dwarf_file *file;

	assert_int_equal(dwarf_file_open(NULL, path.s, NULL, options, &file, &err), 0);
	assert_string_equal(err.s, "");
	assert_non_null(file);
	str_release(&err);
	return file;
}

/* "innermost@file:line < .. < outermost@file:line"; "?" for what is not known. */
static const char *stack_at(struct dwarf_file *file, uint64_t addr)
{
	static struct str out = STR_INIT;
	struct dwarf_inline frames[8];
	size_t n = dwarf_file_inlines(file, addr, true, frames, 8);

	str_reset(&out);
	for (size_t i = 0; i < n; i++)
		str_addf(&out, "%s%s@%s:%u", i ? " < " : "", frames[i].name ? frames[i].name : "?",
			 frames[i].line.file ? frames[i].line.file : "?", frames[i].line.line);
	return out.s;
}

static void build_inlines(uint16_t type, bool big)
{
	size_t unit, pattern, table;
	uint64_t text = type == ET_REL ? 0 : TEXT;

	start_file(type, big);
	unit = start_unit(text, 0x40, "/src");
	pattern = section_bytes(".debug_info")->len - unit;
	info(PATTERN, 1);
	put_text(".debug_info", "small");
	function("large", text, 0x30);
	info(BLOCK, 1);
	inlined(pattern, text + 0x10, 0x10, 300);
	info(0, 3); /* end of inlined, block, function */
	end_unit(unit);
	table = start_lines("inc");
	set_address(text);
	row(1, 4, 0); /* a.c:5 */
	row(2, 2, 0x10); /* b.h:7 */
	row(2, 0, 0x4); /* the same: no row of its own */
	row(1, 9, 0x8); /* a.c:16 .. */
	row(2, 1, 0); /* .. and b.h:17 at the same address: the last one counts */
	end_sequence(0x14);
	end_lines(table);
}

/* What is found at an address: functions, innermost first, with their lines. */
struct place {
	uint64_t addr;
	const char *stack;
};
#define EXPECT(name, ...) \
	expect(name, (const struct place[]){ __VA_ARGS__ }, ARRAY_SIZE(((const struct place[]){ __VA_ARGS__ })))

/* Writes the file that was built, and asks for each place. */
static void expect(const char *name, const struct place *places, size_t n)
{
	struct dwarf_file *file;

	write_file(name);
	file = open_file(NULL);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(stack_at(file, places[i].addr), places[i].stack);
	dwarf_file_close(file);
}

static void inlines_of_both_byte_orders(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		build_inlines(ET_DYN, big);
		EXPECT("inlines", { TEXT - 1, "" }, { TEXT, "large@/src/a.c:5" }, { TEXT + 0xf, "large@/src/a.c:5" },
		       { TEXT + 0x10, "small@/src/inc/b.h:7 < large@/src/a.c:300" },
		       { TEXT + 0x1b, "small@/src/inc/b.h:7 < large@/src/a.c:300" },
		       { TEXT + 0x1c, "small@/src/inc/b.h:17 < large@/src/a.c:300" },
		       { TEXT + 0x2f, "large@/src/inc/b.h:17" }, { TEXT + 0x30, "" });
	}
}

/* Holes for addresses in a section, as a compiler leaves them; what was there does not count. */
static void make_holes(const char *section, uint32_t symbols, const size_t *at, size_t n)
{
	struct str *bytes = section_bytes(section);
	uint32_t table = elf_add(&built, ".rela", SHT_RELA, 0, 0);

	built.sections[table].link = symbols;
	for (uint32_t i = 1; i < built.n; i++)
		if (&built.sections[i].bytes == bytes)
			built.sections[table].info = i;
	for (size_t i = 0; i < n; i++) {
		uint64_t addend = (uint8_t)bytes->s[at[i]];

		memset(bytes->s + at[i], 0x55, 8);
		elf_rela(&built, table, at[i], 1, R_X86_64_64, addend);
	}
}

static void modules_are_linked(void **state)
{
	const size_t info_holes[] = { 12, 12 + 8 + 8 + 4 + 5 + 7 + 1 + 6,
				      12 + 8 + 8 + 4 + 5 + 7 + 1 + 6 + 16 + 1 + 1 + 4 };
	const size_t line_holes[] = { 53 };
	uint32_t symbols;

	(void)state;
	build_inlines(ET_REL, false);
	symbols = elf_add_symbols(&built, SHT_SYMTAB);
	elf_symbol(&built, symbols, ".text", 0, 0, STB_LOCAL, STT_SECTION, 1);
	make_holes(".debug_info", symbols, info_holes, ARRAY_SIZE(info_holes));
	make_holes(".debug_line", symbols, line_holes, ARRAY_SIZE(line_holes));
	EXPECT("module.ko", { 0, "large@/src/a.c:5" }, { 0x10, "small@/src/inc/b.h:7 < large@/src/a.c:300" });
}

/*
 * Code that the linker threw away lies at 0, and is long enough to reach into the real one: a unit of its
 * own, and a sequence of the real one's line table.
 */
static void thrown_away_code_is_not_asked(void **state)
{
	size_t unit, table;

	(void)state;
	start_file(ET_DYN, false);
	unit = start_unit(TEXT, TEXT_BYTES, "/src");
	function("live", TEXT, TEXT_BYTES);
	info(0, 1);
	end_unit(unit);
	table = start_lines("inc");
	set_address(TEXT);
	row(1, 9, 0);
	for (int i = 0; i < 0x80; i++)
		row(1, 0, 0x7f);
	end_sequence(0x7f);
	set_address(0);
	row(2, 0, 0);
	for (int i = 0; i < 0x40; i++)
		row(2, 1, 0x7f);
	end_sequence(0x7f);
	end_lines(table);
	unit = start_unit(0, 0x2000, "/src");
	function("dead", 0, 0x2000);
	info(0, 1);
	end_unit(unit);
	table = start_lines("inc");
	end_lines(table);
	EXPECT("dead", { TEXT, "live@/src/a.c:10" }, { TEXT + 0xfff, "live@/src/a.c:10" }, { 0x10, "" });
}

/* Units that say nothing of where their code is: their lines do, unless another unit says where its is. */
static void lines_say_where_code_is(void **state)
{
	size_t unit, table;

	(void)state;
	for (int beside = 0; beside < 2; beside++) {
		start_file(ET_DYN, false);
		for (unsigned i = 0; i < 2; i++) {
			unit = start_unit(0, 0, NULL);
			info(LINES_ALONE, 1);
			info(section_bytes(".debug_line")->len, 4);
			end_unit(unit);
			table = start_lines("/inc");
			set_address(TEXT + 0x100 * i);
			row(2, 9, 0);
			row(2, 1, 0x10);
			end_sequence(0x10);
			end_lines(table);
		}
		if (beside) {
			unit = start_unit(TEXT + 0x800, 0x10, "/src");
			end_unit(unit);
		}
		EXPECT("lines", { TEXT + 0xf, beside ? "" : "?@/inc/b.h:10" },
		       { TEXT + 0x110, beside ? "" : "?@/inc/b.h:11" }, { TEXT + 0x120, "" });
	}
}

/* Executable sections in no order, side by side, in each other and apart. */
static void code_is_where_sections_are(void **state)
{
	static const struct dwarf_range sections[] = {
		{ .start = 0x9000, .end = 0x9010 }, { .start = 0x3000, .end = 0x3100 },
		{ .start = 0x8fff, .end = 0x9001 }, { .start = 0x5000, .end = 0x5010 },
		{ .start = 0x9020, .end = 0x9020 }, { .start = 0x5008, .end = 0x500c },
	};
	static const struct {
		uint64_t addr;
		bool is_code;
	} rows[] = {
		{ 0, false },      { TEXT - 1, false }, { TEXT, true },    { 0x3100, true },  { 0x4fff, true },
		{ 0x500f, true },  { 0x5010, false },   { 0x8ffe, false }, { 0x8fff, true },  { 0x900f, true },
		{ 0x9010, false }, { 0x9020, false },   { UINT64_MAX, false },
	};
	struct dwarf_file *file;
	size_t unit;

	(void)state;
	start_file(ET_DYN, false);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		uint32_t text = elf_add(&built, ".text.more", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, sections[i].start);

		built.sections[text].nobits_bytes = sections[i].end - sections[i].start;
	}
	unit = start_unit(TEXT, 0x10, "/src");
	end_unit(unit);
	write_file("sections");
	file = open_file(NULL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(dwarf_file_is_code(file, rows[i].addr), rows[i].is_code);
	assert_int_equal(file->n_code, 3);
	dwarf_file_close(file);
}

/* The table of version 5 says its own directory of compilation, which may be relative: Debian's glibc. */
static void directories_of_version_5(void **state)
{
	size_t unit, table;

	(void)state;
	start_file(ET_DYN, false);
	unit = start_unit(TEXT, 0x40, "./csu");
	function("f", TEXT, 0x40);
	info(0, 1);
	end_unit(unit);
	table = section_bytes(".debug_line")->len;
	put(".debug_line", 0, 4);
	put(".debug_line", 5, 2);
	put(".debug_line", 8, 1);
	put(".debug_line", 0, 1);
	put(".debug_line", 18 + 17 + 16, 4); /* the three pieces that follow */
	LINE_BYTES("\x01\x01\x01\xfb\x0e\x0d\0\x01\x01\x01\x01\0\0\0\x01\0\0\x01");
	LINE_BYTES("\x01\x01\x08\x02./csu\0../inc\0");
	LINE_BYTES("\x02\x01\x08\x02\x0b\x02"
		   "a.c\0\0"
		   "b.h\0\x01");
	set_address(TEXT);
	row(0, 9, 0);
	row(1, 1, 0x10);
	end_sequence(0x10);
	end_lines(table);
	EXPECT("version5", { TEXT, "f@./csu/a.c:10" }, { TEXT + 0x10, "f@./csu/../inc/b.h:11" },
	       { TEXT + 0x20, "f@?:0" } /* a function whose lines are not known, and nothing else */);
}

/* ---- hostile ---- */

static void cycles_of_origins_end(void **state)
{
	size_t unit, first;

	(void)state;
	start_file(ET_DYN, false);
	unit = start_unit(TEXT, 0x40, "/src");
	first = section_bytes(".debug_info")->len - unit;
	info(LINK, 1);
	info(first + 5, 4);
	info(LINK, 1);
	info(first, 4);
	function("f", TEXT, 0x40);
	inlined(first, TEXT, 0x10, 3);
	info(0, 2);
	end_unit(unit);
	EXPECT("cycle", { TEXT, "?@?:0 < f@?:3" });
}

static void depth_has_an_end(void **state)
{
	enum { DEPTH = 50000 };
	size_t unit, pattern;

	(void)state;
	start_file(ET_DYN, false);
	unit = start_unit(TEXT, 0x80, "/src");
	pattern = section_bytes(".debug_info")->len - unit;
	info(PATTERN, 1);
	put_text(".debug_info", "small");
	function("deep", TEXT, 0x40);
	for (int i = 0; i < DEPTH; i++)
		info(BLOCK, 1);
	inlined(pattern, TEXT, 0x10, 3); /* too deep to be looked at */
	info(0, 1);
	for (int i = 0; i < DEPTH; i++)
		info(0, 1);
	info(0, 1);
	function("next", TEXT + 0x40, 0x40);
	info(0, 1);
	end_unit(unit);
	EXPECT("deep", { TEXT, "deep@?:0" }, { TEXT + 0x40, "next@?:0" });
}

static void ranges_may_wrap(void **state)
{
	size_t unit;

	(void)state;
	start_file(ET_DYN, false);
	unit = start_unit(TEXT, 0x80, "/src");
	function("wrapped", TEXT + 0x10, UINT64_MAX - 8);
	info(0, 1);
	function("empty", TEXT + 0x20, 0);
	info(0, 1);
	function("f", TEXT, 0x40);
	info(0, 1);
	end_unit(unit);
	EXPECT("wrap", { TEXT + 0x10, "f@?:0" }, { TEXT + 0x20, "f@?:0" });
}

static uint64_t xorshift(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void damaged_files_end_in_an_answer(void **state)
{
	struct str good = STR_INIT, ignored = STR_INIT;
	uint64_t seed = 88172645463325252ULL;
	size_t answers = 0;

	(void)state;
	build_inlines(ET_DYN, false);
	write_file("good");
	assert_int_equal(read_text_file(path.s, &good), 0);
	str_reset(&path);
	str_addf(&path, "%s/damaged", directory);
	for (int i = 0; i < 500; i++) {
		struct dwarf_file *file;
		struct str bytes = STR_INIT;
		int fd = open(path.s, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		str_addn(&bytes, good.s, good.len);
		for (uint64_t n = xorshift(&seed) % 8; n < 8; n++)
			bytes.s[64 + xorshift(&seed) % (bytes.len - 64)] = (char)xorshift(&seed);
		assert_int_equal(write_all(fd, bytes.s, bytes.len), 0);
		close(fd);
		dwarf_file_open(NULL, path.s, NULL, NULL, &file, &ignored);
		for (uint64_t addr = TEXT; file && addr < TEXT + 0x40; addr += 4)
			answers += stack_at(file, addr)[0] != '\0';
		dwarf_file_close(file);
		str_release(&bytes);
	}
	assert_true(answers > 0);
	str_release(&good);
	str_release(&ignored);
}

static void expect_refused(const char *name, const char *why)
{
	struct str err = STR_INIT;
	struct dwarf_file *file;

	assert_true(dwarf_file_open(NULL, name, NULL, NULL, &file, &err) < 0);
	assert_null(file);
	assert_string_equal(err.s, why);
	str_release(&err);
}

static void what_has_no_dwarf_is_refused(void **state)
{
	struct dwarf_file *file;
	struct str err = STR_INIT;
	int fd;

	(void)state;
	str_reset(&path);
	str_addf(&path, "%s/pipe", directory);
	assert_int_equal(mkfifo(path.s, 0600), 0);
	expect_refused(path.s, "not a regular file");
	expect_refused(directory, "not a regular file");
	unlink(path.s);
	expect_refused(path.s, "no such file");
	fd = open(path.s, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write_all(fd, "text", 4), 0);
	close(fd);
	expect_refused(path.s, "not an ELF file");
	unlink(path.s);
	elf_start(&built, ET_DYN, EM_X86_64, false, false);
	write_file("stripped");
	assert_int_equal(dwarf_file_open(NULL, path.s, NULL, NULL, &file, &err), -ENODATA);
	assert_true(strstr(err.s, "no DWARF") != NULL);
	str_release(&err);
}

/* ---- the alternative file ---- */

static void build_alternative(const char *name, uint8_t first_id)
{
	size_t unit;

	elf_start(&built, ET_DYN, EM_X86_64, false, false);
	elf_build_id(&built, first_id, 20);
	put_abbrevs();
	unit = start_unit(0, 0, NULL);
	info(PARTIAL, 1);
	info(PATTERN_AT, 1); /* at 12 */
	info(6, 4);
	end_unit(unit);
	put_text(".debug_str", "outer");
	put_text(".debug_str", "inner");
	write_file(name);
}

static void build_with_alternative(const char *link)
{
	size_t unit;

	start_file(ET_DYN, false);
	unit = start_unit(TEXT, 0x40, "/src");
	info(ELSEWHERE, 1);
	info(0, 4);
	info(TEXT, 8);
	info(0x40, 8);
	info(INLINED_ELSEWHERE, 1);
	info(12, 4);
	info(TEXT, 8);
	info(0x10, 8);
	info(0, 1);
	end_unit(unit);
	put_text(".gnu_debugaltlink", link);
	for (uint64_t i = 0; i < 20; i++)
		put(".gnu_debugaltlink", 0x10 + i, 1);
	write_file("with_alternative");
}

static const char *alternative_stack(const struct sym_options *options)
{
	struct dwarf_file *file = open_file(options);
	static struct str out = STR_INIT;

	str_reset(&out);
	str_add(&out, stack_at(file, TEXT));
	dwarf_file_close(file);
	return out.s;
}

static void names_in_an_alternative_file(void **state)
{
	static const char id[] = ".build-id/10/1112131415161718191a1b1c1d1e1f20212223.debug";
	const char *const dirs[] = { "/nonexistent", directory, NULL };
	const struct sym_options options = { .debug_dirs = dirs };
	struct str other = STR_INIT;

	(void)state;
	str_addf(&other, "%s/.build-id", directory);
	mkdir(other.s, 0700);
	str_add(&other, "/10");
	mkdir(other.s, 0700);
	str_reset(&other);
	str_addf(&other, "%s/alternative", directory);
	build_alternative("alternative", 0x10);
	build_with_alternative("alternative");
	assert_string_equal(alternative_stack(NULL), "inner@?:0 < outer@?:0");

	/* Not there; a pipe is there, which would never end; another file is there. */
	unlink(other.s);
	assert_string_equal(alternative_stack(NULL), "?@?:0 < ?@?:0");
	assert_int_equal(mkfifo(other.s, 0600), 0);
	assert_string_equal(alternative_stack(NULL), "?@?:0 < ?@?:0");
	unlink(other.s);
	build_alternative("alternative", 0x11);
	build_with_alternative("alternative");
	assert_string_equal(alternative_stack(NULL), "?@?:0 < ?@?:0");
	unlink(other.s);

	build_alternative(id, 0x10);
	build_with_alternative("alternative");
	assert_string_equal(alternative_stack(&options), "inner@?:0 < outer@?:0");
	str_release(&other);
}

/* Both places lie below --symfs then, and nowhere else. */
static void an_alternative_file_below_symfs(void **state)
{
	static const char by_id[] = "/usr/lib/debug/.build-id/10/1112131415161718191a1b1c1d1e1f20212223.debug";
	const struct sym_options options = { .symfs = directory }, elsewhere = { .symfs = "/nonexistent" };
	struct str other = STR_INIT;

	(void)state;
	build_alternative("alternative", 0x10);
	build_with_alternative("/alternative");
	assert_string_equal(alternative_stack(NULL), "?@?:0 < ?@?:0");
	assert_string_equal(alternative_stack(&options), "inner@?:0 < outer@?:0");

	str_addf(&other, "%s/alternative", directory);
	build_with_alternative(other.s);
	assert_string_equal(alternative_stack(NULL), "inner@?:0 < outer@?:0");
	assert_string_equal(alternative_stack(&elsewhere), "?@?:0 < ?@?:0");
	unlink(other.s);

	str_reset(&other);
	str_add(&other, directory);
	for (const char *part = by_id, *end; (end = strchr(part + 1, '/')); part = end) {
		str_addn(&other, part, (size_t)(end - part));
		mkdir(other.s, 0700);
	}
	build_alternative(by_id + 1, 0x10);
	build_with_alternative("alternative");
	assert_string_equal(alternative_stack(NULL), "?@?:0 < ?@?:0");
	assert_string_equal(alternative_stack(&options), "inner@?:0 < outer@?:0");
	str_release(&other);
}

/* ---- spans ---- */

static uint32_t slow_find(const struct dwarf_range *v, size_t n, uint64_t addr)
{
	const struct dwarf_range *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (addr >= v[i].start && addr < v[i].end && (!best || v[i].rank > best->rank))
			best = &v[i];
	return best ? best->id : SPAN_NONE;
}

static void spans_are_what_covers_each_address(void **state)
{
	uint64_t seed = 4101842887655102017ULL;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct dwarf_range copy[24];
		struct dwarf_range_list list = { NULL, 0, 0 };
		struct dwarf_spans spans = { NULL, 0, 0 };
		size_t n = xorshift(&seed) % ARRAY_SIZE(copy);

		for (size_t i = 0; i < n; i++) {
			uint64_t start = xorshift(&seed) % 64;

			copy[i] = (struct dwarf_range){
				.start = start,
				.end = start + xorshift(&seed) % 40,
				.rank = xorshift(&seed) % 4 * 100 + i,
				.id = (uint32_t)(xorshift(&seed) % 6),
			};
			VEC_GROW(list.v, list.n, list.cap);
			list.v[list.n++] = copy[i];
		}
		dwarf_spans_build(&spans, &list);
		for (uint64_t addr = 0; addr < 120; addr++)
			assert_int_equal(dwarf_spans_find(&spans, addr), slow_find(copy, n, addr));
		for (size_t i = 1; i < spans.n; i++) {
			assert_true(spans.v[i - 1].start < spans.v[i].start);
			assert_int_not_equal(spans.v[i - 1].id, spans.v[i].id);
		}
		dwarf_spans_release(&spans);
	}
}

static int make_directory(void **state)
{
	(void)state;
	str_init(&path);
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	struct str command = STR_INIT;
	int status;

	(void)state;
	str_addf(&command, "rm -r %s", directory);
	status = system(command.s);
	str_release(&command);
	str_release(&path);
	return status;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(itself),
		cmocka_unit_test(inlines_of_both_byte_orders),
		cmocka_unit_test(modules_are_linked),
		cmocka_unit_test(thrown_away_code_is_not_asked),
		cmocka_unit_test(lines_say_where_code_is),
		cmocka_unit_test(code_is_where_sections_are),
		cmocka_unit_test(directories_of_version_5),
		cmocka_unit_test(cycles_of_origins_end),
		cmocka_unit_test(depth_has_an_end),
		cmocka_unit_test(ranges_may_wrap),
		cmocka_unit_test(damaged_files_end_in_an_answer),
		cmocka_unit_test(what_has_no_dwarf_is_refused),
		cmocka_unit_test(names_in_an_alternative_file),
		cmocka_unit_test(an_alternative_file_below_symfs),
		cmocka_unit_test(spans_are_what_covers_each_address),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
