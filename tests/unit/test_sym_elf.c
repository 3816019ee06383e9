/* SPDX-License-Identifier: MIT */
/*
 * ELF files to symbols: both classes, both byte orders, modules, PLT pieces of x86-64, arm64 and riscv64, packed
 * symbols, build-ids; and 2,000 damaged files, of which nothing is asked but to end in an answer.
 */
#include "elf_builder.h"
#include "elf/elf_unpack.h"
#include "sym/sym_internal.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>

#include <cmocka.h>

static struct built_elf built;
static struct str bytes, err;
static struct elf_file file;
static struct symbol_table table;

static int set_up(void **state)
{
	(void)state;
	str_init(&bytes);
	str_init(&err);
	symbol_table_init(&table);
	file = (struct elf_file){ .fd = -1 };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	elf_file_close(&file);
	symbol_table_release(&table);
	str_release(&bytes);
	str_release(&err);
	elf_end(&built);
	return 0;
}

static void open_built(void)
{
	elf_finish(&built, &bytes);
	assert_int_equal(elf_file_open_memory(&file, bytes.s, bytes.len, "built", &err), 0);
}

static const char *at(uint64_t addr)
{
	const struct symbol_row *row = symbol_table_find(&table, addr);

	return row ? table.names.s + row->name : "none";
}

/* Which table they are from. */
static uint32_t read_symbols(void)
{
	struct elf_section section;

	assert_int_equal(elf_symbols_read(&file, &table, &err), 1);
	symbol_table_finish(&table);
	return elf_section_of_type(&file, SHT_SYMTAB, &section) ? SHT_SYMTAB : SHT_DYNSYM;
}

/* ---- .symtab and .dynsym ---- */

static void build_program(uint16_t machine, bool is_32, bool big)
{
	uint32_t text, data, tls, symbols;

	elf_start(&built, ET_DYN, machine, is_32, big);
	text = elf_add(&built, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000);
	str_pad(&built.sections[text].bytes, '\x90', 0x100);
	built.load = text;
	data = elf_add(&built, ".data", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 0x3000);
	built.sections[data].nobits_bytes = 0x100;
	tls = elf_add(&built, ".tbss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE | SHF_TLS, 0x1000);
	elf_build_id(&built, 0x10, 20);
	symbols = elf_add_symbols(&built, SHT_SYMTAB);
	elf_symbol(&built, symbols, "file.c", 0x1000, 0, STB_LOCAL, STT_FILE, SHN_ABS);
	elf_symbol(&built, symbols, "$x", 0x1008, 0, STB_LOCAL, STT_NOTYPE, text);
	elf_symbol(&built, symbols, "$d.7", 0x1008, 0, STB_LOCAL, STT_NOTYPE, text);
	elf_symbol(&built, symbols, ".L3", 0x100c, 0, STB_LOCAL, STT_NOTYPE, text);
	elf_symbol(&built, symbols, "local", 0x1000, 0x10, STB_LOCAL, STT_FUNC, text);
	elf_symbol(&built, symbols, "global", 0x1010, 0x10, STB_GLOBAL, STT_FUNC, text);
	elf_symbol(&built, symbols, "weak", 0x1020, 0x10, STB_WEAK, STT_FUNC, text);
	elf_symbol(&built, symbols, "chosen", 0x1030, 0x10, STB_GLOBAL, STT_GNU_IFUNC, text);
	elf_symbol(&built, symbols, "label", 0x1040, 0, STB_LOCAL, STT_NOTYPE, text);
	elf_symbol(&built, symbols, "inner_label", 0x1018, 0, STB_GLOBAL, STT_NOTYPE, text);
	elf_symbol(&built, symbols, "$money", 0x1050, 0, STB_LOCAL, STT_NOTYPE, text);
	elf_symbol(&built, symbols, "of_today@@V2", 0x1060, 0x10, STB_GLOBAL, STT_FUNC, text);
	elf_symbol(&built, symbols, "undefined", 0x1070, 8, STB_GLOBAL, STT_FUNC, SHN_UNDEF);
	elf_symbol(&built, symbols, "absolute", 0x1078, 8, STB_GLOBAL, STT_FUNC, SHN_ABS);
	elf_symbol(&built, symbols, "no_section", 0x1078, 8, STB_GLOBAL, STT_FUNC, 99);
	elf_symbol(&built, symbols, "per_thread", 0x1070, 8, STB_GLOBAL, STT_OBJECT, tls);
	elf_symbol(&built, symbols, "variable", 0x3010, 8, STB_GLOBAL, STT_OBJECT, data);
	elf_symbol(&built, symbols, "data_label", 0x3020, 0, STB_GLOBAL, STT_NOTYPE, data);
}

static void check_program(void)
{
	static const char *const expected[] = { "local", "global",  "weak",     "chosen",
						"label", "$money", "of_today" };

	assert_int_equal(read_symbols(), SHT_SYMTAB);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_string_equal(at(0x1000 + 16 * i), expected[i]);
		assert_string_equal(at(0x100f + 16 * i), expected[i]);
	}
	assert_string_equal(at(0x1070), "none");
	assert_string_equal(at(0x1078), "none");
	assert_string_equal(at(0x3017), "variable");
	assert_string_equal(at(0x3020), "none");
	assert_int_equal(table.v[0].binding, SYMBOL_LOCAL);
	assert_int_equal(table.v[1].binding, SYMBOL_GLOBAL);
	assert_int_equal(table.v[2].binding, SYMBOL_WEAK);
}

static void symbols_are_read_in_both_classes_and_byte_orders(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		build_program(kind & 1 ? EM_PPC : EM_X86_64, kind & 1, kind & 2);
		open_built();
		assert_int_equal(file.is_64, !(kind & 1));
		assert_int_equal(file.build_id.size, 20);
		assert_int_equal(file.build_id.bytes[19], 0x10 + 19);
		check_program();
		tear_down(NULL);
	}
}

/* ---- versions ---- */

enum { OF_OLD = 0x8000 };

/* One definition of a version, `next` bytes before the one that follows; its name is behind it. */
static void put_version(uint32_t definitions, uint32_t strings, uint16_t number, const char *name, uint32_t next)
{
	struct str *out = &built.sections[definitions].bytes, *names = &built.sections[strings].bytes;

	elf_put(&built, out, VER_DEF_CURRENT, 2);
	elf_put(&built, out, 0, 2);
	elf_put(&built, out, number, 2);
	elf_put(&built, out, 1, 2);
	elf_put(&built, out, 0, 4);
	elf_put(&built, out, sizeof(Elf64_Verdef), 4);
	elf_put(&built, out, next, 4);
	elf_put(&built, out, names->len, 4);
	elf_put(&built, out, 0, 4);
	str_addn(names, name, strlen(name) + 1);
}

/* A library with two versions; kept_bytes: of its definitions, SIZE_MAX: all; next: from the first to the second. */
static void build_versions(bool is_32, bool big, size_t kept_bytes, uint32_t next)
{
	static const struct {
		const char *name;
		uint64_t value;
		uint16_t version;
	} symbols[] = {
		{ "free", 0x1000, 3 },	   { "cfree", 0x1000, 2 | OF_OLD },  { "copy", 0x1010, 2 | OF_OLD },
		{ "copy", 0x1020, 3 },	   { "plain", 0x1030, VER_NDX_GLOBAL }, { "nowhere", 0x1040, 99 | OF_OLD },
		{ "beyond", 0x1050, 0 }, /* behind the end of .gnu.version */
	};
	uint32_t text, strings, table_at, numbers, definitions;

	elf_start(&built, ET_DYN, EM_X86_64, is_32, big);
	text = elf_add(&built, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000);
	str_pad(&built.sections[text].bytes, '\x90', 0x100);
	built.load = text;
	table_at = elf_add_symbols(&built, SHT_DYNSYM);
	strings = built.sections[table_at].link;
	numbers = elf_add(&built, ".gnu.version", SHT_GNU_versym, SHF_ALLOC, 0);
	built.sections[numbers].link = table_at;
	built.sections[numbers].entry_bytes = 2;
	elf_put(&built, &built.sections[numbers].bytes, 0, 2);
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		elf_symbol(&built, table_at, symbols[i].name, symbols[i].value, 0x10, STB_GLOBAL, STT_FUNC, text);
		if (i + 1 < ARRAY_SIZE(symbols))
			elf_put(&built, &built.sections[numbers].bytes, symbols[i].version, 2);
	}
	definitions = elf_add(&built, ".gnu.version_d", SHT_GNU_verdef, SHF_ALLOC, 0);
	built.sections[definitions].link = strings;
	put_version(definitions, strings, 2, "V1", next);
	put_version(definitions, strings, 3, "V2", 0);
	if (kept_bytes < built.sections[definitions].bytes.len)
		built.sections[definitions].bytes.len = kept_bytes;
}

static void names_of_old_programs_have_their_version(void **state)
{
	const uint32_t next = sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux);
	static const char *const expected[] = { "free", "copy@V1", "copy", "plain", "nowhere", "beyond" };

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		build_versions(kind & 1, kind & 2, SIZE_MAX, next);
		open_built();
		assert_int_equal(read_symbols(), SHT_DYNSYM);
		for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
			assert_string_equal(at(0x1000 + 16 * i), expected[i]);
		tear_down(NULL);
	}
}

/* Cut anywhere, or leading astray, versions are missing, and names are there. */
static void damaged_versions_do_no_harm(void **state)
{
	static const uint32_t nexts[] = { 1, 7, 20, 28, 56, 0x7fffffff, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(nexts); i++)
		for (size_t kept_bytes = 0; kept_bytes <= 56; kept_bytes += 4) {
			build_versions(false, false, kept_bytes, nexts[i]);
			open_built();
			assert_int_equal(read_symbols(), SHT_DYNSYM);
			assert_string_equal(at(0x1020), "copy");
			assert_string_equal(at(0x1030), "plain");
			tear_down(NULL);
		}
}

/* The kernel's labels in functions are entry points, such as entry_SYSCALL_64_after_hwframe. */
static void labels_in_functions_of_the_kernel_are_read(void **state)
{
	(void)state;
	build_program(EM_X86_64, false, false);
	elf_add(&built, "__ksymtab", SHT_PROGBITS, SHF_ALLOC, 0x4000);
	open_built();
	read_symbols();
	assert_string_equal(at(0x1017), "global");
	assert_string_equal(at(0x1018), "inner_label");
	assert_string_equal(at(0x1020), "weak");
}

static void segments_turn_offsets_into_addresses_and_back(void **state)
{
	uint64_t offset, addr;

	(void)state;
	build_program(EM_X86_64, false, false);
	open_built();
	offset = built.sections[built.load].offset;
	assert_true(elf_file_vaddr(&file, offset + 0xff, &addr));
	assert_int_equal(addr, 0x10ff);
	assert_false(elf_file_vaddr(&file, offset + 0x100, &addr));
	assert_false(elf_file_vaddr(&file, offset - 1, &addr));
	assert_true(elf_file_offset(&file, 0x1001, &addr));
	assert_int_equal(addr, offset + 1);
	assert_false(elf_file_offset(&file, 0x1100, &addr));
	assert_false(elf_file_offset(&file, UINT64_MAX, &addr));
}

/* In a file that is nothing but program headers, the first ones are kept: look-ups must not take for ever. */
static void segments_are_bounded(void **state)
{
	enum { MANY = 60000, KEPT = 256 };
	const uint8_t order = BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	const Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, order, EV_CURRENT },
				  .e_type = ET_DYN,
				  .e_machine = EM_X86_64,
				  .e_version = EV_CURRENT,
				  .e_phoff = sizeof(head),
				  .e_ehsize = sizeof(head),
				  .e_phentsize = sizeof(Elf64_Phdr),
				  .e_phnum = MANY };
	uint64_t addr;

	(void)state;
	str_addn(&bytes, (const char *)&head, sizeof(head));
	for (uint64_t i = 0; i < MANY; i++) {
		const Elf64_Phdr load = {
			.p_type = PT_LOAD, .p_offset = i * 16, .p_vaddr = i * 32, .p_filesz = 16, .p_memsz = 16
		};

		str_addn(&bytes, (const char *)&load, sizeof(load));
	}
	assert_int_equal(elf_file_open_memory(&file, bytes.s, bytes.len, "many", &err), 0);
	assert_int_equal(file.n_segments, KEPT);
	assert_true(elf_file_vaddr(&file, (KEPT - 1) * 16, &addr));
	assert_int_equal(addr, (KEPT - 1) * 32);
	assert_false(elf_file_vaddr(&file, KEPT * 16, &addr));
}

/* Its last page in the file is mapped whole, so zeros have offsets, too. */
static void data_that_begins_as_zeros_has_addresses(void **state)
{
	uint64_t offset, addr;

	(void)state;
	build_program(EM_X86_64, false, false);
	built.load_zeros = 0x80;
	open_built();
	offset = built.sections[built.load].offset;
	assert_true(elf_file_vaddr(&file, offset + 0x17f, &addr));
	assert_int_equal(addr, 0x117f);
	assert_false(elf_file_vaddr(&file, offset + 0x180, &addr));
	assert_false(elf_file_offset(&file, 0x1100, &addr));
}

static void dynsym_is_read_where_symtab_is_missing(void **state)
{
	uint32_t text, symbols;

	(void)state;
	elf_start(&built, ET_DYN, EM_X86_64, false, false);
	text = elf_add(&built, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000);
	symbols = elf_add_symbols(&built, SHT_DYNSYM);
	elf_symbol(&built, symbols, "exported", 0x1000, 4, STB_GLOBAL, STT_FUNC, text);
	open_built();
	assert_int_equal(read_symbols(), SHT_DYNSYM);
	assert_string_equal(at(0x1003), "exported");
}

static void the_lowest_bit_is_no_address_on_arm(void **state)
{
	uint32_t text, symbols;

	(void)state;
	elf_start(&built, ET_EXEC, EM_ARM, true, false);
	text = elf_add(&built, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000);
	symbols = elf_add_symbols(&built, SHT_SYMTAB);
	elf_symbol(&built, symbols, "thumb", 0x1001, 4, STB_GLOBAL, STT_FUNC, text);
	open_built();
	read_symbols();
	assert_string_equal(at(0x1000), "thumb");
	assert_string_equal(at(0x1004), "none");
}

/* As the kernel lays them out: executable sections but .init in order, aligned. */
static void modules_count_from_the_start_of_text(void **state)
{
	static const struct {
		const char *section, *function;
		uint64_t bytes, align;
	} parts[] = {
		{ ".plt", "veneer", 1, 1 },       { ".text", "a", 0x21, 16 },
		{ ".init.text", "init", 0x10, 1 }, { ".text.unlikely", "b", 0x8, 16 },
		{ ".exit.text", "c", 0x8, 4 },
	};
	uint32_t symbols, first = built.n = 1;

	(void)state;
	elf_start(&built, ET_REL, EM_X86_64, false, false);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		elf_add(&built, parts[i].section, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0);
		built.sections[first + i].align = parts[i].align;
		str_pad(&built.sections[first + i].bytes, '\x90', parts[i].bytes);
	}
	symbols = elf_add_symbols(&built, SHT_SYMTAB);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		elf_symbol(&built, symbols, parts[i].function, 0, 8, STB_LOCAL, STT_FUNC,
			   first + (uint32_t)i);
	open_built();
	assert_true(file.relocatable);
	read_symbols();
	assert_int_equal(table.n, 3);
	assert_string_equal(at(0), "a");
	assert_string_equal(at(0x30), "b");
	assert_string_equal(at(0x38), "c");
}

/* ---- PLT ---- */

enum { GOT = 0x5000 };

static void put_bytes(uint32_t section, const void *code, size_t n)
{
	str_addn(&built.sections[section].bytes, code, n);
}

/* jmp *slot(%rip), in bytes bytes with what stands in front of it. */
static void put_jump(uint32_t section, const char *front, size_t front_bytes, uint64_t slot, size_t n)
{
	struct built_section *s = &built.sections[section];
	size_t start = s->bytes.len;

	put_bytes(section, front, front_bytes);
	put_bytes(section, "\xff\x25", 2);
	elf_put(&built, &s->bytes, slot - (s->addr + s->bytes.len + 4), 4);
	str_pad(&s->bytes, '\xcc', start + n - s->bytes.len);
}

/* Slots of puts, read, strlen (chosen at start) and of a chooser without a name. */
static void build_slots(uint16_t machine, uint32_t jump, uint32_t got, uint32_t irelative)
{
	uint32_t text, symbols, plt, dynamic;

	elf_start(&built, ET_DYN, machine, false, false);
	text = elf_add(&built, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000);
	symbols = elf_add_symbols(&built, SHT_DYNSYM);
	elf_symbol(&built, symbols, "puts", 0, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF);
	elf_symbol(&built, symbols, "read", 0, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF);
	elf_symbol(&built, symbols, "__strlen", 0x2040, 8, STB_GLOBAL, STT_GNU_IFUNC, text);
	elf_symbol(&built, symbols, "strlen", 0x2040, 8, STB_GLOBAL, STT_GNU_IFUNC, text);
	plt = elf_add(&built, ".rela.plt", SHT_RELA, SHF_ALLOC, 0);
	dynamic = elf_add(&built, ".rela.dyn", SHT_RELA, SHF_ALLOC, 0);
	elf_rela(&built, plt, GOT + 24, 1, jump, 0);
	elf_rela(&built, plt, GOT + 40, 0, irelative, 0x2060);
	elf_rela(&built, plt, GOT + 32, 0, irelative, 0x2040);
	elf_rela(&built, dynamic, GOT + 48, 2, got, 0);
	elf_rela(&built, dynamic, GOT + 56, 77, got, 0); /* no such symbol */
}

static void read_plt(void)
{
	open_built();
	assert_int_equal(elf_plt_read(&file, &table, &err), 0);
	symbol_table_finish(&table);
}

static void plt_pieces_of_x86_64_are_named_by_their_slots(void **state)
{
	static const char ibt[] = { '\xf3', '\x0f', '\x1e', '\xfa' };
	static const char ibt_bnd[] = { '\xf3', '\x0f', '\x1e', '\xfa', '\xf2' };
	uint32_t plt, sec, got;

	(void)state;
	build_slots(EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE);
	plt = elf_add(&built, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000);
	put_jump(plt, "\xff\x35\x02\x40\x00\x00", 6, GOT + 16, 16); /* the header */
	put_jump(plt, "", 0, GOT + 32, 16); /* not in the relocations' order */
	put_jump(plt, "", 0, GOT + 24, 16);
	put_jump(plt, "", 0, GOT + 40, 16);
	put_jump(plt, "", 0, GOT + 56, 16);
	sec = elf_add(&built, ".plt.sec", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1100);
	put_jump(sec, ibt_bnd, 5, GOT + 24, 16);
	put_jump(sec, ibt, 4, GOT + 48, 16);
	got = elf_add(&built, ".plt.got", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1200);
	put_jump(got, "", 0, GOT + 48, 8);
	put_jump(got, "", 0, GOT + 24, 8);
	put_bytes(got, "\xff\x25", 2); /* cut */
	read_plt();
	assert_string_equal(at(0x1000), "none");
	assert_string_equal(at(0x1010), "strlen@plt");
	assert_string_equal(at(0x102f), "puts@plt");
	assert_string_equal(at(0x1030), "*ABS*+0x2060@plt");
	assert_string_equal(at(0x1040), "none");
	assert_string_equal(at(0x1100), "puts@plt");
	assert_string_equal(at(0x111f), "read@plt");
	assert_string_equal(at(0x1207), "read@plt");
	assert_string_equal(at(0x1208), "puts@plt");
	assert_string_equal(at(0x1210), "none");
	assert_int_equal(table.n, 7);
}

/* adrp x16, page; ldr x17, [x16, slot]; add x16, x16, slot; br x17 */
static void put_a64_load(uint32_t section, uint64_t slot)
{
	struct built_section *s = &built.sections[section];
	uint64_t pages = (slot >> 12) - ((s->addr + s->bytes.len) >> 12);

	elf_put(&built, &s->bytes, 0x90000010u | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5, 4);
	elf_put(&built, &s->bytes, 0xf9400211u | (slot & 4095) / 8 << 10, 4);
	elf_put(&built, &s->bytes, 0x91000210u | (slot & 4095) << 10, 4);
}

static void plt_pieces_of_arm64_are_named_by_their_slots(void **state)
{
	struct str *code;
	uint32_t plt;

	(void)state;
	build_slots(EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE);
	plt = elf_add(&built, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x7000);
	code = &built.sections[plt].bytes;
	elf_put(&built, code, 0xa9bf7bf0u, 4); /* the header: stp x16, x30, [sp, #-16]! */
	put_a64_load(plt, GOT + 16);
	elf_put(&built, code, 0xd61f0220u, 4);
	for (int i = 0; i < 3; i++)
		elf_put(&built, code, 0xd503201fu, 4);
	put_a64_load(plt, GOT + 24); /* 0x7020, and two pages down */
	elf_put(&built, code, 0xd61f0220u, 4);
	elf_put(&built, code, 0xd503245fu, 4); /* 0x7030: bti c */
	put_a64_load(plt, GOT + 32);
	elf_put(&built, code, 0xd503219fu, 4); /* autia1716 */
	elf_put(&built, code, 0xd61f0220u, 4);
	put_a64_load(plt, GOT + 40); /* 0x7048, and its end is cut */
	read_plt();
	assert_string_equal(at(0x7000), "none");
	assert_string_equal(at(0x701c), "none");
	assert_string_equal(at(0x7020), "puts@plt");
	assert_string_equal(at(0x702f), "puts@plt");
	assert_string_equal(at(0x7030), "strlen@plt");
	assert_string_equal(at(0x7047), "strlen@plt");
	assert_string_equal(at(0x7048), "*ABS*+0x2060@plt");
	assert_int_equal(table.n, 3);
}

/* auipc t3, page; ld t3, slot(t3); jalr t1, t3; nop */
static void put_riscv_piece(uint32_t section, uint64_t slot)
{
	struct built_section *s = &built.sections[section];
	uint64_t far = slot - (s->addr + s->bytes.len);

	elf_put(&built, &s->bytes, 0xe17u | ((far + 0x800) & 0xfffff000u), 4);
	elf_put(&built, &s->bytes, 0xe3e03u | (far & 0xfff) << 20, 4);
	elf_put(&built, &s->bytes, 0xe0367u, 4);
	elf_put(&built, &s->bytes, 0x13u, 4);
}

static void plt_pieces_of_riscv64_are_named_by_their_slots(void **state)
{
	struct str *code;
	uint32_t plt;

	(void)state;
	build_slots(EM_RISCV, R_RISCV_JUMP_SLOT, R_RISCV_64, R_RISCV_IRELATIVE);
	plt = elf_add(&built, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x7800);
	code = &built.sections[plt].bytes;
	elf_put(&built, code, 0x397u, 4); /* the header: auipc t2 */
	for (int i = 0; i < 7; i++)
		elf_put(&built, code, 0x13u, 4);
	put_riscv_piece(plt, GOT + 24); /* 0x7820, and pages down */
	put_riscv_piece(plt, GOT + 32);
	put_riscv_piece(plt, GOT + 40);
	put_riscv_piece(plt, GOT + 24); /* 0x7850, and its end is cut */
	code->len -= 4;
	read_plt();
	assert_string_equal(at(0x7800), "none");
	assert_string_equal(at(0x781f), "none");
	assert_string_equal(at(0x7820), "puts@plt");
	assert_string_equal(at(0x782f), "puts@plt");
	assert_string_equal(at(0x7830), "strlen@plt");
	assert_string_equal(at(0x7840), "*ABS*+0x2060@plt");
	assert_string_equal(at(0x7850), "none");
	assert_int_equal(table.n, 3);
}

/* ---- packed symbols ---- */

typedef uint32_t xz_encode(uint32_t preset, int check, const void *allocator, const uint8_t *in,
			   size_t in_bytes, uint8_t *out, size_t *out_at, size_t out_bytes);
struct xz {
	xz_encode *encode;
};

/* False: there is no liblzma here. */
static bool pack(const struct str *from, struct str *packed)
{
	static const struct library_symbol names[] = {
		{ "lzma_easy_buffer_encode", offsetof(struct xz, encode) },
	};
	size_t room = from->len + from->len / 2 + 4096, n = 0;
	uint8_t *out;
	struct xz xz;

	if (!library_load("liblzma.so.5", names, 1, &xz, &err))
		return false;
	out = xmalloc(room);
	assert_int_equal(xz.encode(6, 1, NULL, (const uint8_t *)from->s, from->len, out, &n, room), 0);
	str_addn(packed, (const char *)out, n);
	free(out);
	return true;
}

/* False: this pstat, or this machine, is without liblzma. */
static bool can_unpack(void)
{
	struct str in = STR_INIT, packed = STR_INIT, out = STR_INIT;
	bool can;

	str_add(&in, "abc");
	can = pack(&in, &packed) && elf_xz_unpack(packed.s, packed.len, &out, &err) != -ENOSYS;
	if (can)
		assert_string_equal(out.s, "abc");
	else
		printf("# skip: needs liblzma, here and in the build\n");
	str_release(&in);
	str_release(&packed);
	str_release(&out);
	return can;
}

static void build_packed(void)
{
	struct str inner = STR_INIT, packed = STR_INIT;

	build_program(EM_X86_64, false, false);
	elf_finish(&built, &inner);
	elf_end(&built);
	assert_true(pack(&inner, &packed));
	elf_start(&built, ET_DYN, EM_X86_64, false, false);
	elf_add(&built, ".gnu_debugdata", SHT_PROGBITS, 0, 0);
	str_addn(&built.sections[1].bytes, packed.s, packed.len);
	str_release(&inner);
	str_release(&packed);
}

static void packed_symbols_are_read(void **state)
{
	(void)state;
	if (!can_unpack())
		skip();
	build_packed();
	open_built();
	assert_int_equal(elf_minidebug_read(&file, &table, &err), 1);
	symbol_table_finish(&table);
	assert_string_equal(at(0x1000), "local");
}

static void broken_packed_symbols_are_an_error(void **state)
{
	(void)state;
	if (!can_unpack())
		skip();
	build_packed();
	built.sections[1].bytes.len -= 20;
	open_built();
	assert_int_equal(elf_minidebug_read(&file, &table, &err), -EINVAL);
	assert_string_equal(err.s, "its xz data is cut or damaged");
}

static void what_unpacks_to_too_much_is_refused(void **state)
{
	struct str zeros = STR_INIT, packed = STR_INIT, out = STR_INIT;

	(void)state;
	if (!can_unpack())
		skip();
	/* Concatenated streams of 16 MiB each make 272 MiB. */
	str_pad(&zeros, '\0', 16 << 20);
	assert_true(pack(&zeros, &packed));
	str_reset(&zeros);
	for (int i = 0; i < 17; i++)
		str_addn(&zeros, packed.s, packed.len);
	assert_int_equal(elf_xz_unpack(zeros.s, zeros.len, &out, &err), -EFBIG);
	str_release(&zeros);
	str_release(&packed);
	str_release(&out);
}

static void files_without_packed_symbols_have_none(void **state)
{
	(void)state;
	build_program(EM_X86_64, false, false);
	open_built();
	assert_int_equal(elf_minidebug_read(&file, &table, &err), 0);
}

/* ---- other sections ---- */

static void check_debuglink(const char *text, size_t n, bool big, const char *expected)
{
	struct str name = STR_INIT;
	uint32_t crc = 0;

	elf_start(&built, ET_DYN, EM_X86_64, false, big);
	elf_add(&built, ".gnu_debuglink", SHT_PROGBITS, 0, 0);
	str_addn(&built.sections[1].bytes, text, n);
	elf_put(&built, &built.sections[1].bytes, 0x12345678, 4);
	open_built();
	assert_int_equal(elf_file_debuglink(&file, &name, &crc), expected != NULL);
	if (expected) {
		assert_string_equal(name.s, expected);
		assert_int_equal(crc, 0x12345678);
	}
	str_release(&name);
	tear_down(NULL);
}

static void debuglinks_are_names_without_folders(void **state)
{
	(void)state;
	check_debuglink("abc\0", 4, false, "abc");
	check_debuglink("abcd\0\0\0\0", 8, true, "abcd");
	check_debuglink("../x\0\0\0\0", 8, false, NULL);
	check_debuglink("\0\0\0\0", 4, false, NULL);
	check_debuglink("abc", 3, false, NULL); /* the checksum lies past the end */
}

static void compressed_sections_are_unpacked(void **state)
{
	/* Made with zlib: "hello, hello, hello, hello" */
	static const uint8_t zlib[] = { 0x78, 0x9c, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xd7, 0x51,
					0xc8, 0xc0, 0xa4, 0x00, 0x7c, 0x16, 0x09, 0x35 };
	const char *text;
	size_t n = 0;

	(void)state;
	elf_start(&built, ET_DYN, EM_X86_64, false, false);
	elf_add(&built, ".debug_x", SHT_PROGBITS, SHF_COMPRESSED, 0);
	elf_put(&built, &built.sections[1].bytes, ELFCOMPRESS_ZLIB, 4);
	elf_put(&built, &built.sections[1].bytes, 0, 4);
	elf_put(&built, &built.sections[1].bytes, 26, 8);
	elf_put(&built, &built.sections[1].bytes, 1, 8);
	put_bytes(1, zlib, sizeof(zlib));
	open_built();
	text = elf_file_section(&file, ".debug_x", &n);
	assert_non_null(text);
	assert_int_equal(n, 26);
	assert_memory_equal(text, "hello, hello, hello, hello", 26);
	assert_null(elf_file_section(&file, ".debug_y", &n));
}

static void build_ids_are_compared_without_zeros_behind_them(void **state)
{
	struct build_id a = { 20, { 1, 2, 3, 4, 5, 6, 7, 8 } }, b = { 8, { 1, 2, 3, 4, 5, 6, 7, 8 } };
	struct build_id c = { 8, { 1, 2, 3, 4, 5, 6, 7, 9 } }, none = { 0 };
	struct str text = STR_INIT;

	(void)state;
	assert_true(build_id_same(&a, &b));
	assert_true(build_id_same(&b, &a));
	assert_false(build_id_same(&a, &c));
	assert_false(build_id_same(&b, &c));
	assert_false(build_id_same(&none, &none));
	assert_false(build_id_same(&a, &none));
	build_id_text(&b, &text);
	assert_string_equal(text.s, "0102030405060708");
	str_release(&text);
}

/* ---- this program itself ---- */

static int first_object(struct dl_phdr_info *info, size_t n, void *base)
{
	(void)n;
	*(uint64_t *)base = info->dlpi_addr;
	return 1;
}

static void this_program_finds_its_own_functions(void **state)
{
	uint64_t base = 0, addr;
	void (*function)(void **) = this_program_finds_its_own_functions;

	(void)state;
	memcpy(&addr, &function, sizeof(addr));
	dl_iterate_phdr(first_object, &base);
	assert_int_equal(elf_file_open(&file, "/proc/self/exe", &err), 0);
	assert_true(read_symbols() & SHT_SYMTAB);
	assert_string_equal(at(addr - base), "this_program_finds_its_own_functions");
	assert_string_equal(at(addr - base + 1), "this_program_finds_its_own_functions");
}

/* ---- damage ---- */

static void ask_everything(struct str *damaged)
{
	struct str text = STR_INIT;
	uint32_t crc;
	uint64_t addr;

	str_reset(&err);
	symbol_table_release(&table);
	if (elf_file_open_memory(&file, damaged->s, damaged->len, "damaged", &err)) {
		assert_true(err.len > 0);
		return;
	}
	(void)!elf_symbols_read(&file, &table, &err);
	(void)!elf_plt_read(&file, &table, &err);
	(void)!elf_minidebug_read(&file, &table, &err);
	elf_file_debuglink(&file, &text, &crc);
	symbol_table_finish(&table);
	for (uint64_t i = 0; i < 0x8000; i += 0x333) {
		symbol_table_find(&table, i);
		elf_file_vaddr(&file, i, &addr);
		elf_file_offset(&file, i, &addr);
	}
	elf_file_close(&file);
	str_release(&text);
}

static void damaged_files_end_in_an_answer(void **state)
{
	struct str damaged = STR_INIT;
	uint64_t seed = 4;

	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		elf_end(&built);
		str_reset(&bytes);
		if (kind == 2 && can_unpack())
			build_packed();
		else if (kind == 1)
			build_slots(EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT,
				    R_X86_64_IRELATIVE);
		else
			build_program(EM_X86_64, false, false);
		if (kind == 1)
			put_jump(elf_add(&built, ".plt.got", SHT_PROGBITS,
					 SHF_ALLOC | SHF_EXECINSTR, 0x1200),
				 "", 0, GOT + 48, 8);
		elf_finish(&built, &bytes);
		for (int i = 0; i < 700; i++) {
			size_t where;

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			where = (seed >> 33) % bytes.len;
			str_reset(&damaged);
			str_addn(&damaged, bytes.s, i % 7 ? bytes.len : where);
			if (where < damaged.len)
				damaged.s[where] = (char)(seed >> 17);
			ask_everything(&damaged);
		}
	}
	str_release(&damaged);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* As perf inject made files of code that was compiled at run time. */
static void without_segments_sections_are_loaded(void **state)
{
	uint32_t text, zeros, hdr;
	uint64_t addr, offset;

	(void)state;
	elf_start(&built, ET_DYN, EM_X86_64, false, BYTE_ORDER == BIG_ENDIAN);
	text = elf_add(&built, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000);
	str_pad(&built.sections[text].bytes, '\x90', 0x40);
	hdr = elf_add(&built, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, 0x2000);
	str_pad(&built.sections[hdr].bytes, '\1', 0x14);
	zeros = elf_add(&built, ".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, 0x3000);
	built.sections[zeros].nobits_bytes = 0x100;
	str_pad(&built.sections[elf_add(&built, ".comment", SHT_PROGBITS, 0, 0x1000)].bytes, 'x', 0x80);
	open_built();
	assert_int_equal(file.n_segments, 3);
	assert_true(file.segments[0].executable && !file.segments[0].writable);
	assert_true(!file.segments[2].executable && file.segments[2].writable);
	assert_int_equal(file.segments[2].file_size, 0);
	assert_int_equal(file.segments[2].mem_size, 0x100);
	assert_int_equal(file.eh_frame_hdr.vaddr, 0x2000);
	assert_int_equal(file.eh_frame_hdr.file_size, 0x14);
	assert_true(elf_file_vaddr(&file, built.sections[text].offset + 8, &addr));
	assert_int_equal(addr, 0x1008);
	assert_true(elf_file_offset(&file, 0x2010, &offset));
	assert_int_equal(offset, built.sections[hdr].offset + 0x10);
	assert_false(elf_file_offset(&file, 0x3000, &offset));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(symbols_are_read_in_both_classes_and_byte_orders),
		TEST(names_of_old_programs_have_their_version),
		TEST(damaged_versions_do_no_harm),
		TEST(labels_in_functions_of_the_kernel_are_read),
		TEST(segments_turn_offsets_into_addresses_and_back),
		TEST(segments_are_bounded),
		TEST(without_segments_sections_are_loaded),
		TEST(data_that_begins_as_zeros_has_addresses),
		TEST(dynsym_is_read_where_symtab_is_missing),
		TEST(the_lowest_bit_is_no_address_on_arm),
		TEST(modules_count_from_the_start_of_text),
		TEST(plt_pieces_of_x86_64_are_named_by_their_slots),
		TEST(plt_pieces_of_arm64_are_named_by_their_slots),
		TEST(plt_pieces_of_riscv64_are_named_by_their_slots),
		TEST(packed_symbols_are_read),
		TEST(broken_packed_symbols_are_an_error),
		TEST(what_unpacks_to_too_much_is_refused),
		TEST(files_without_packed_symbols_have_none),
		TEST(debuglinks_are_names_without_folders),
		TEST(compressed_sections_are_unpacked),
		TEST(build_ids_are_compared_without_zeros_behind_them),
		TEST(this_program_finds_its_own_functions),
		TEST(damaged_files_end_in_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
