/* SPDX-License-Identifier: MIT */
/*
 * Variables and types of debug information made here: where a variable is at which address, and what no compiler
 * writes: types that contain themselves, typedefs in a circle, sizes that no memory has, expressions that are cut; and
 * damaged files, of which nothing is asked but to end in an answer. test_types.c has what compilers write.
 */
#define elf_end built_elf_end /* libelf has a function of this name */
#include "elf_builder.h"
#undef elf_end
#include "sym/dwarf_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

enum { TEXT = 0x1000, TEXT_BYTES = 0x100, THREADS = 0x2000, THREAD_BYTES = 0x28 };
enum { POINTER_REG = 5, LISTED_REG = 3, FRAME_REG = 7, FIELDS_REG, CHOICE_REG };
#define FAR ((uint64_t)1 << 60)

/* Codes of abbreviations; sizes, counts and places are of 8 bytes, references of 4 from the unit's start. */
enum {
	UNIT = 1, FUNCTION, VARIABLE, LISTED, STRUCT, MEMBER, POINTER, TYPEDEF, ARRAY, SUBRANGE, BASE, BITS, PART,
	VARIANT, CALL, CALLED,
};
static const uint8_t abbrevs[] = {
	UNIT, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8, 0, 0,
	FUNCTION, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
	DW_FORM_data8, DW_AT_frame_base, DW_FORM_exprloc, 0, 0,
	VARIABLE, DW_TAG_variable, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, DW_AT_location,
	DW_FORM_exprloc, 0, 0,
	LISTED, DW_TAG_variable, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, DW_AT_location,
	DW_FORM_sec_offset, 0, 0,
	STRUCT, DW_TAG_structure_type, 1, DW_AT_name, DW_FORM_string, DW_AT_byte_size, DW_FORM_data8, 0, 0,
	MEMBER, DW_TAG_member, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, DW_AT_data_member_location,
	DW_FORM_data8, 0, 0,
	POINTER, DW_TAG_pointer_type, 0, DW_AT_type, DW_FORM_ref4, 0, 0,
	TYPEDEF, DW_TAG_typedef, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, 0, 0,
	ARRAY, DW_TAG_array_type, 1, DW_AT_type, DW_FORM_ref4, 0, 0,
	SUBRANGE, DW_TAG_subrange_type, 0, DW_AT_count, DW_FORM_data8, 0, 0,
	BASE, DW_TAG_base_type, 0, DW_AT_name, DW_FORM_string, DW_AT_byte_size, DW_FORM_data8, 0, 0,
	BITS, DW_TAG_member, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, DW_AT_data_member_location,
	DW_FORM_data8, DW_AT_bit_size, DW_FORM_data8, DW_AT_bit_offset, DW_FORM_data8, 0, 0,
	PART, DW_TAG_variant_part, 1, 0, 0,
	VARIANT, DW_TAG_variant, 1, 0, 0,
	CALL, DW_TAG_call_site, 0, DW_AT_call_return_pc, DW_FORM_addr, DW_AT_call_origin, DW_FORM_ref4, 0, 0,
	CALLED, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, 0, 0,
	0,
};

static struct built_elf built;
static struct str info = STR_INIT, path = STR_INIT, good = STR_INIT;

static void number(uint64_t value, size_t bytes)
{
	elf_put(&built, &info, value, bytes);
}

/* The DIE's place in the unit. */
static uint32_t begin(unsigned code, const char *name)
{
	uint32_t at = (uint32_t)info.len;

	number(code, 1);
	if (name)
		str_addn(&info, name, strlen(name) + 1);
	return at;
}

static uint32_t base(const char *name, uint64_t bytes)
{
	uint32_t at = begin(BASE, name);

	number(bytes, 8);
	return at;
}

static uint32_t start_struct(const char *name, uint64_t bytes)
{
	uint32_t at = begin(STRUCT, name);

	number(bytes, 8);
	return at;
}

static void member(const char *name, uint32_t type, uint64_t offset)
{
	begin(MEMBER, name);
	number(type, 4);
	number(offset, 8);
}

static void bits(const char *name, uint32_t type, uint64_t n, uint64_t above)
{
	begin(BITS, name);
	number(type, 4);
	number(8, 8);
	number(n, 8);
	number(above, 8);
}

static void call(uint64_t returns, uint32_t origin)
{
	begin(CALL, NULL);
	number(returns, 8);
	number(origin, 4);
}

static uint32_t called(const char *name, uint32_t type)
{
	uint32_t at = begin(CALLED, name);

	number(type, 4);
	return at;
}

static uint32_t pointer(uint32_t type)
{
	uint32_t at = begin(POINTER, NULL);

	number(type, 4);
	return at;
}

static void variable(const char *name, uint32_t type, const uint8_t *expression, uint8_t n)
{
	begin(VARIABLE, name);
	number(type, 4);
	number(n, 1);
	str_addn(&info, (const char *)expression, n);
}
#define EXPRESSION(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static uint32_t typedef_circle(void)
{
	uint32_t at = begin(TYPEDEF, "one");

	number(at + 9, 4); /* the next one, behind these 1 + 4 + 4 bytes */
	begin(TYPEDEF, "two");
	number(at, 4);
	return at;
}

static uint32_t array(uint32_t type, uint64_t n)
{
	uint32_t at = begin(ARRAY, NULL);

	number(type, 4);
	begin(SUBRANGE, NULL);
	number(n, 8);
	number(0, 1);
	return at;
}

static void put_list(struct str *out, uint64_t start, uint64_t end, uint8_t op)
{
	elf_put(&built, out, start, 8);
	elf_put(&built, out, end, 8);
	elf_put(&built, out, 1, 2);
	elf_put(&built, out, op, 1);
}

/* Bit fields as DWARF 2 to 4 have them: in a word at 8, "above" bits below its highest one. */
static uint32_t put_fields(uint32_t whole)
{
	uint32_t at = start_struct("fields", 16);

	bits("low", whole, 3, 61); /* bits 0 to 2 */
	bits("next", whole, 9, 52); /* bits 3 to 11 */
	bits("high", whole, 20, 4); /* bits 40 to 59 */
	bits("no_place", whole, 60, 5); /* it would begin below the word */
	bits("nowhere", whole, 1, UINT64_MAX);
	number(0, 1);
	return at;
}

/* What a Rust compiler writes of "enum { One(long), Two { a, b } }": the members of a variant are at their offsets. */
static uint32_t put_choice(uint32_t whole)
{
	uint32_t at = start_struct("Choice", 24);

	begin(PART, NULL);
	member("kind", whole, 0);
	begin(VARIANT, NULL);
	member("One", whole, 8);
	number(0, 1);
	begin(VARIANT, NULL);
	member("Two", whole, 16);
	for (int i = 0; i < 20; i++)
		begin(PART, NULL);
	member("Deep", whole, 16);
	number(0, 20);
	number(0, 1);
	number(0, 1);
	number(0, 1);
	return at;
}

static void put_unit(void)
{
	uint32_t whole, selfish, far, circle, endless, to_huge, to_far, to_selfish, to_fields, to_choice, give;

	number(0, 4); /* its length, set below */
	number(4, 2);
	number(0, 4);
	number(8, 1);
	begin(UNIT, NULL);
	number(TEXT, 8);
	number(TEXT_BYTES, 8);
	whole = base("long", 8);
	selfish = start_struct("selfish", 16);
	member("again", selfish, 0);
	member("number", whole, 8);
	number(0, 1);
	far = start_struct("far", FAR);
	member("near", whole, 0);
	member("beyond", whole, UINT64_MAX - 2);
	member("last", whole, FAR - 8);
	number(0, 1);
	circle = typedef_circle();
	to_huge = pointer(array(whole, (uint64_t)1 << 61));
	to_far = pointer(far);
	to_selfish = pointer(selfish);
	to_fields = pointer(put_fields(whole));
	to_choice = pointer(put_choice(whole));
	endless = (uint32_t)info.len;
	pointer(endless);
	give = called("give", to_selfish);
	begin(FUNCTION, "f");
	number(TEXT, 8);
	number(TEXT_BYTES, 8);
	number(1, 1);
	number(DW_OP_call_frame_cfa, 1);
	variable("in_circle", circle, EXPRESSION(DW_OP_reg0));
	variable("endless", endless, EXPRESSION(DW_OP_reg0 + 1));
	variable("to_huge", to_huge, EXPRESSION(DW_OP_reg0 + 2));
	variable("cut", to_far, EXPRESSION(DW_OP_breg0 + 4));
	variable("piece", to_far, EXPRESSION(DW_OP_reg0 + 4, DW_OP_piece, 4));
	variable("pointer", to_selfish, EXPRESSION(DW_OP_reg0 + POINTER_REG));
	variable("next", to_selfish, EXPRESSION(DW_OP_breg0 + POINTER_REG, 16, DW_OP_stack_value)); /* r5 + 16 */
	variable("moved", to_far, EXPRESSION(DW_OP_breg0 + 6, 0x78, DW_OP_stack_value)); /* r6 - 8 */
	variable("on_stack", selfish, EXPRESSION(DW_OP_fbreg, 0x40)); /* CFA - 64 */
	variable("placed", far, EXPRESSION(DW_OP_addr, 0, 0, 0, 0, 0, 0, 0, 0x10));
	variable("to_fields", to_fields, EXPRESSION(DW_OP_reg0 + FIELDS_REG));
	variable("to_choice", to_choice, EXPRESSION(DW_OP_reg0 + CHOICE_REG));
	variable("of_thread", selfish, EXPRESSION(DW_OP_const8u, 8, 0, 0, 0, 0, 0, 0, 0, DW_OP_form_tls_address));
	variable("number", far, EXPRESSION(DW_OP_const8u, 40, 0, 0, 0, 0, 0, 0, 0, DW_OP_stack_value));
	call(TEXT + 0x30, give);
	call(TEXT + 0x20, give);
	call(TEXT + 0x40, whole); /* not a function */
	begin(LISTED, "listed");
	number(to_far, 4);
	number(0, 4);
	number(0, 1);
	number(0, 1);
}

static void write_file(const struct str *bytes)
{
	int fd = open(path.s, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, bytes->s, bytes->len), 0);
	close(fd);
}

static int set_up(void **state)
{
	struct str length = STR_INIT;
	uint32_t at;

	(void)state;
	elf_start(&built, ET_DYN, EM_X86_64, false, false);
	at = elf_add(&built, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT);
	built.sections[at].nobits_bytes = TEXT_BYTES;
	at = elf_add(&built, ".tdata", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE | SHF_TLS, THREADS);
	elf_put(&built, &built.sections[at].bytes, 0, 8);
	at = elf_add(&built, ".tbss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE | SHF_TLS, THREADS + 8);
	built.sections[at].nobits_bytes = THREAD_BYTES - 8;
	put_unit();
	elf_put(&built, &length, info.len - 4, 4);
	memcpy(info.s, length.s, 4);
	str_release(&length);
	at = elf_add(&built, ".debug_abbrev", SHT_PROGBITS, 0, 0);
	str_addn(&built.sections[at].bytes, (const char *)abbrevs, sizeof(abbrevs));
	at = elf_add(&built, ".debug_info", SHT_PROGBITS, 0, 0);
	str_addn(&built.sections[at].bytes, info.s, info.len);
	at = elf_add(&built, ".debug_loc", SHT_PROGBITS, 0, 0);
	put_list(&built.sections[at].bytes, 0x10, 0x20, DW_OP_reg0 + LISTED_REG);
	put_list(&built.sections[at].bytes, 0x20, 0x18, DW_OP_reg0 + LISTED_REG); /* backwards */
	elf_put(&built, &built.sections[at].bytes, 0, 16);
	elf_finish(&built, &good);
	built_elf_end(&built);
	str_addf(&path, "/tmp/pstat-test-types-%d", (int)getpid());
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path.s);
	str_release(&path);
	str_release(&info);
	str_release(&good);
	return 0;
}

static struct dwarf_file *open_it(void)
{
	struct str err = STR_INIT;
	struct dwarf_file *file;

	dwarf_file_open(NULL, path.s, NULL, NULL, &file, &err);
	str_release(&err);
	return file;
}

/* ---- what is where ---- */

static void expect_pointer(struct dwarf_variables *variables, uint64_t vaddr, uint8_t reg, const char *name,
			   int64_t offset)
{
	struct data_found found = { NULL, 0 };
	bool there = dwarf_variables_value(variables, vaddr, reg, &found);

	if (there != (name != NULL) || (there && (strcmp(found.type->name, name) != 0 || found.offset != offset)))
		fail_msg("register %u at %#llx: %s", reg, (unsigned long long)vaddr,
			 there ? found.type->name : "nothing");
}

static void variables_are_found_where_they_are(void **state)
{
	const struct data_frame frame = { .known = true, .reg = FRAME_REG, .offset = 16 }, unknown = { .known = false };
	struct dwarf_variables *variables;
	struct data_found found;
	struct dwarf_file *file;

	(void)state;
	write_file(&good);
	file = open_it();
	assert_non_null(file);
	assert_null(dwarf_variables_of(file, TEXT + TEXT_BYTES));
	variables = dwarf_variables_of(file, TEXT + 4);
	assert_non_null(variables);
	expect_pointer(variables, TEXT, POINTER_REG, "struct selfish", 0);
	expect_pointer(variables, TEXT + TEXT_BYTES - 1, POINTER_REG, "struct selfish", 0);
	expect_pointer(variables, TEXT + TEXT_BYTES, POINTER_REG, NULL, 0);
	expect_pointer(variables, TEXT, 6, "struct far", 8);
	expect_pointer(variables, TEXT + 0xf, LISTED_REG, NULL, 0);
	expect_pointer(variables, TEXT + 0x10, LISTED_REG, "struct far", 0);
	expect_pointer(variables, TEXT + 0x1f, LISTED_REG, "struct far", 0);
	expect_pointer(variables, TEXT + 0x20, LISTED_REG, NULL, 0);
	expect_pointer(variables, TEXT, 4, NULL, 0); /* cut, and in pieces */
	expect_pointer(variables, TEXT, 31, NULL, 0);
	expect_pointer(variables, TEXT, 255, NULL, 0);

	/* CFA - 64 is register 7 - 48. */
	assert_true(dwarf_variables_memory(variables, TEXT, &frame, FRAME_REG, -48 + 8, &found));
	assert_string_equal(found.type->name, "struct selfish");
	assert_int_equal(found.offset, 8);
	assert_false(dwarf_variables_memory(variables, TEXT, &frame, FRAME_REG, -48 + 16, &found));
	assert_false(dwarf_variables_memory(variables, TEXT, &frame, FRAME_REG, -48 - 1, &found));
	assert_false(dwarf_variables_memory(variables, TEXT, &frame, FRAME_REG, INT64_MIN, &found));
	assert_false(dwarf_variables_memory(variables, TEXT, &frame, FRAME_REG - 1, -48, &found));
	assert_false(dwarf_variables_memory(variables, TEXT, &unknown, FRAME_REG, -48, &found));

	assert_true(dwarf_variables_global(variables, TEXT, ((uint64_t)0x10 << 56) + 8, &found));
	assert_int_equal(found.offset, 8);
	assert_false(dwarf_variables_global(variables, TEXT, ((uint64_t)0x10 << 56) - 1, &found));
	assert_true(dwarf_global_at(file, ((uint64_t)0x10 << 56) + 8, &found));
	assert_int_equal(found.offset, 8);
	assert_false(dwarf_global_at(file, ((uint64_t)0x10 << 56) - 1, &found));
	assert_false(dwarf_global_at(file, UINT64_MAX, &found));

	/* The copy of a thread ends at its pointer. */
	assert_true(dwarf_variables_thread(variables, TEXT, -THREAD_BYTES + 8 + 8, &found));
	assert_string_equal(found.type->name, "struct selfish");
	assert_int_equal(found.offset, 8);
	assert_false(dwarf_variables_thread(variables, TEXT, -THREAD_BYTES + 8 + 16, &found));
	assert_false(dwarf_variables_thread(variables, TEXT, -THREAD_BYTES + 40, &found)); /* a number is no place */
	assert_false(dwarf_variables_global(variables, TEXT, 8, &found));
	assert_false(dwarf_variables_thread(variables, TEXT, INT64_MIN, &found));
	dwarf_variables_free(variables);
	dwarf_file_close(file);
}

static void calls_return_what_the_caller_says(void **state)
{
	struct dwarf_variables *variables;
	const struct data_type *type;
	struct dwarf_file *file;

	(void)state;
	write_file(&good);
	file = open_it();
	variables = dwarf_variables_of(file, TEXT);
	for (uint64_t returns = TEXT + 0x20; returns <= TEXT + 0x30; returns += 0x10) {
		type = dwarf_variables_returned(variables, returns);
		assert_non_null(type);
		assert_string_equal(type->name, "struct selfish*");
	}
	assert_null(dwarf_variables_returned(variables, TEXT + 0x21));
	assert_null(dwarf_variables_returned(variables, TEXT + 0x40));
	assert_null(dwarf_variables_returned(variables, UINT64_MAX));
	dwarf_variables_free(variables);
	dwarf_file_close(file);
}

/* ---- types that are none ---- */

static void types_of_any_shape_end(void **state)
{
	struct dwarf_file *file;
	struct dwarf_variables *variables;
	const struct data_member *members;
	struct data_found found;
	struct str text = STR_INIT;

	(void)state;
	write_file(&good);
	file = open_it();
	variables = dwarf_variables_of(file, TEXT);
	/* Of two variables in one register the one whose object has the byte. */
	assert_true(dwarf_variables_reached(variables, TEXT, POINTER_REG, 15, &found) && !found.offset);
	assert_true(dwarf_variables_reached(variables, TEXT, POINTER_REG, 16, &found) && found.offset == -16);
	assert_true(dwarf_variables_reached(variables, TEXT, POINTER_REG, 31, &found));
	assert_false(dwarf_variables_reached(variables, TEXT, POINTER_REG, 32, &found));
	assert_false(dwarf_variables_reached(variables, TEXT, POINTER_REG, -1, &found));
	assert_false(dwarf_variables_reached(variables, TEXT, UINT8_MAX, 0, &found));
	assert_true(dwarf_variables_value(variables, TEXT, POINTER_REG, &found));
	assert_int_equal(data_type_members(found.type, &members), 2);
	assert_ptr_equal(members[0].type, found.type);
	assert_true(data_type_path(found.type, 0, &text));
	assert_int_equal(text.len, DATA_DEPTH_MAX * strlen("again.") - 1);
	str_reset(&text);
	assert_true(data_type_path(found.type, 8, &text));
	assert_false(data_type_path(found.type, 16, &text));

	expect_pointer(variables, TEXT, 0, NULL, 0); /* a circle of typedefs is no type */
	assert_true(dwarf_variables_value(variables, TEXT, 1, &found));
	assert_ptr_equal(data_type_target(found.type), found.type);
	assert_true(strlen(found.type->name) < 100);
	assert_true(dwarf_variables_value(variables, TEXT, 2, &found));
	assert_int_equal(found.type->kind, DATA_ARRAY);
	assert_true(found.type->bytes == 0); /* 2^64 of them are no size */

	assert_true(dwarf_variables_value(variables, TEXT, 6, &found));
	assert_true(found.type->bytes == FAR);
	str_reset(&text);
	assert_true(data_type_path(found.type, FAR - 1, &text));
	assert_string_equal(text.s, "last");
	assert_null(data_type_member(found.type, FAR));
	assert_null(data_type_member(found.type, 3ULL << 32));
	str_release(&text);
	dwarf_variables_free(variables);
	dwarf_file_close(file);
}

static void members_are_bits_and_variants(void **state)
{
	static const struct {
		const char *name;
		uint64_t offset;
		uint16_t bits, first_bit;
	} fields[] = {
		/* The file has "high" before those that are nowhere. */
		{ "low", 8, 3, 0 },	   { "next", 8, 9, 3 },	   { "no_place", 8, 60, 0 },
		{ "nowhere", 8, 1, 0 }, { "high", 13, 20, 0 },
	}, variants[] = { { "kind", 0, 0, 0 }, { "One", 8, 0, 0 }, { "Two", 16, 0, 0 } };
	const struct data_member *members;
	struct dwarf_variables *variables;
	struct dwarf_file *file;
	struct data_found found;

	(void)state;
	write_file(&good);
	file = open_it();
	variables = dwarf_variables_of(file, TEXT);
	assert_true(dwarf_variables_value(variables, TEXT, FIELDS_REG, &found));
	assert_int_equal(data_type_members(found.type, &members), ARRAY_SIZE(fields));
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		assert_string_equal(members[i].name, fields[i].name);
		assert_int_equal(members[i].offset, fields[i].offset);
		assert_int_equal(members[i].bits, fields[i].bits);
		assert_int_equal(members[i].first_bit, fields[i].first_bit);
	}
	assert_true(dwarf_variables_value(variables, TEXT, CHOICE_REG, &found));
	/* What lies deeper than variants do is left out. */
	assert_int_equal(data_type_members(found.type, &members), ARRAY_SIZE(variants));
	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		assert_string_equal(members[i].name, variants[i].name);
		assert_int_equal(members[i].offset, variants[i].offset);
	}
	dwarf_variables_free(variables);
	dwarf_file_close(file);
}

/* ---- damaged files ---- */

static size_t ask_all(struct dwarf_file *file, uint64_t vaddr)
{
	const struct data_frame frame = { .known = true, .reg = FRAME_REG, .offset = 16 };
	struct dwarf_variables *variables = dwarf_variables_of(file, vaddr);
	struct str text = STR_INIT;
	struct data_found found;
	size_t answers = 0;

	for (uint8_t reg = 0; variables && reg < 34; reg++)
		for (int64_t offset = -64; offset < 64; offset += 8) {
			if (!dwarf_variables_value(variables, vaddr, reg, &found) &&
			    !dwarf_variables_memory(variables, vaddr, &frame, reg, offset, &found) &&
			    !dwarf_variables_global(variables, vaddr, (uint64_t)offset, &found) &&
			    !dwarf_global_at(file, (uint64_t)offset, &found) &&
			    !dwarf_variables_thread(variables, vaddr, offset, &found))
				continue;
			answers++;
			data_type_target(found.type);
			data_type_path(found.type, (uint64_t)(found.offset + offset), &text);
			str_reset(&text);
		}
	if (variables && (dwarf_returned(file, vaddr) || dwarf_variables_returned(variables, vaddr)))
		answers++;
	dwarf_variables_free(variables);
	str_release(&text);
	return answers;
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
	uint64_t seed = 88172645463325252ULL;
	size_t answers = 0;

	(void)state;
	for (int i = 0; i < 400; i++) {
		struct str bytes = STR_INIT;
		struct dwarf_file *file;

		str_addn(&bytes, good.s, good.len);
		for (uint64_t n = xorshift(&seed) % 8; n < 8; n++)
			bytes.s[64 + xorshift(&seed) % (bytes.len - 64)] = (char)xorshift(&seed);
		write_file(&bytes);
		file = open_it();
		for (uint64_t vaddr = TEXT; file && vaddr < TEXT + 0x40; vaddr += 16)
			answers += ask_all(file, vaddr);
		dwarf_file_close(file);
		str_release(&bytes);
	}
	assert_true(answers > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_are_found_where_they_are),
		cmocka_unit_test(calls_return_what_the_caller_says),
		cmocka_unit_test(types_of_any_shape_end),
		cmocka_unit_test(members_are_bits_and_variants),
		cmocka_unit_test(damaged_files_end_in_an_answer),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
