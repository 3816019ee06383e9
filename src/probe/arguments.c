/* SPDX-License-Identifier: MIT */
/*
 * arguments: what is to be read at a place -> how the kernel fetches it:
 *
 *	%di  $retval  @0x100  +8(%sp):u32         the kernel's own words, passed on
 *	length                %si:s32             a variable: its location there, its type
 *	at->next.name:string  +0(+8(+16(%dx))):string
 *	text[2]               +2(%di):s8
 *	counter               @+0x2008:s32        a global one: where the file has it, from the code on
 *
 * The kernel reads a register, memory at a register plus an offset, and memory at what it has read. A location is taken
 * where DWARF says just that; what has to be computed (entry values, pieces, sums) is refused with a sentence, for a
 * wrong value would be worse. DWARF's expressions are a list of operations here: none jumps, so none loops.
 *
 * Sources: Documentation/trace/uprobetracer.rst of Linux; DWARF 5, sections 2.5 and 2.6; the psABI supplements of
 * x86-64 and AArch64 for the numbers of registers.
 */
#include "probe/probe_internal.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>

enum {
	TYPES_MAX = 32, /* names of names of a type */
	EXPRESSIONS_MAX = 4, /* a variable's, its frame's, that of the CFA */
	ARRAY_MAX = 64, /* elements that the kernel reads */
	NAME_MAX_LETTERS = 31, /* of an argument */
};

/* ---- values ---- */

struct value {
	enum { IN_REGISTER, IN_MEMORY, CONSTANT } kind;
	struct str base; /* what gives an address; IN_REGISTER: the register */
	bool in_file; /* the base is empty, and offset is a distance in the file */
	int64_t offset; /* CONSTANT: the number */
};

/* Adds what fetches the value. */
static void add_fetch(const struct value *value, struct str *out)
{
	if (value->kind == IN_REGISTER)
		str_add(out, value->base.s);
	else if (value->kind == CONSTANT)
		str_addf(out, "\\%lld", (long long)value->offset);
	else if (value->in_file)
		str_addf(out, "@+%#llx", (unsigned long long)value->offset);
	else
		str_addf(out, "%+lld(%s)", (long long)value->offset, value->base.s);
}

/* The value becomes what is at the address that it was. */
static void follow(struct value *value)
{
	struct str fetch = STR_INIT;

	add_fetch(value, &fetch);
	str_release(&value->base);
	*value = (struct value){ .kind = IN_MEMORY, .base = fetch };
}

/* A variable that is asked for at a site, and what is known of it so far. */
struct probe_argument {
	struct probe_file *file;
	const struct probe_dw *dw;
	const struct probe_site *place;
	const char *variable; /* for messages */
	struct value value;
	Dwarf_Attribute location; /* the one that is evaluated */
	Dwarf_Die type;
	bool has_type;
	uint64_t bit_size, bit_offset; /* of a member with bits; bit_size 0: it is none */
};

/* ---- locations ---- */

/* The kernel's name of a register by DWARF's number; false: the kernel does not read it. */
static bool add_register(uint16_t machine, uint64_t number, struct str *out)
{
	static const char *const x86[] = { "ax", "dx", "cx", "bx", "si", "di", "bp", "sp" };

	if (machine == EM_X86_64 && number < ARRAY_SIZE(x86))
		str_addf(out, "%%%s", x86[number]);
	else if (machine == EM_X86_64 && number < 16)
		str_addf(out, "%%r%u", (unsigned)number);
	else if (machine == EM_AARCH64 && number < 31)
		str_addf(out, "%%x%u", (unsigned)number);
	else if (machine == EM_AARCH64 && number == 31)
		str_add(out, "%sp");
	else
		return false;
	return true;
}

static int evaluate(struct probe_argument *argument, const Dwarf_Op *ops, size_t n, unsigned depth, struct str *err);

/* The frame's base, which offsets of variables are counted from. */
static int frame_base(struct probe_argument *argument, unsigned depth, struct str *err)
{
	Dwarf_Die real = argument->place->real;
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t n;
	int rc;

	if (!argument->dw->dwarf_attr_integrate(&real, DW_AT_frame_base, &attribute) ||
	    argument->dw->dwarf_getlocation_addr(&attribute, argument->place->address, &ops, &n, 1) <= 0 || !n)
		return fail(err, -ENODATA, "where the function's frame is, is not known");
	argument->location = attribute;
	rc = evaluate(argument, ops, n, depth + 1, err);
	/* A frame base in a register is the register's value. */
	if (!rc && argument->value.kind == IN_REGISTER)
		argument->value.kind = IN_MEMORY;
	return rc;
}

static int frame_address(struct probe_argument *argument, unsigned depth, struct str *err)
{
	void *frame = NULL;
	Dwarf_Op *ops;
	size_t n;
	int rc;

	if (!probe_file_cfa(argument->file, argument->place->address, &ops, &n, &frame))
		return fail(err, -ENODATA, "where the function's frame is, is not known");
	rc = evaluate(argument, ops, n, depth + 1, err);
	free(frame);
	return rc;
}

static int take_register(struct probe_argument *argument, uint64_t number, bool memory, int64_t offset, struct str *err)
{
	argument->value.kind = memory ? IN_MEMORY : IN_REGISTER;
	argument->value.offset = offset;
	if (add_register(probe_file_machine(argument->file), number, &argument->value.base))
		return 0;
	return fail(err, -ENOTSUP, "it is in a register that the kernel does not read (DWARF's number %llu)",
		    (unsigned long long)number);
}

/* Global variables: the kernel counts from where the file would be if all of it lay as its code does. */
static int take_global(struct probe_argument *argument, uint64_t address, struct str *err)
{
	uint64_t offset, at = argument->place->address;

	if (!probe_file_offset(argument->file, at, &offset) || address < at - offset)
		return fail(err, -ENOTSUP, "it is before the file's code, which the kernel cannot address");
	argument->value = (struct value){ .kind = IN_MEMORY, .base = argument->value.base, .in_file = true,
					  .offset = (int64_t)(address - (at - offset)) };
	return 0;
}

static int computed(struct str *err)
{
	return fail(err, -ENOTSUP, "it has to be computed, which the kernel does not do");
}

/* The same by the number that the address has in .debug_addr. */
static int take_indexed(struct probe_argument *argument, const Dwarf_Op *op, struct str *err)
{
	Dwarf_Attribute indexed;
	Dwarf_Addr address;

	if (argument->dw->dwarf_getlocation_attr(&argument->location, op, &indexed) ||
	    argument->dw->dwarf_formaddr(&indexed, &address))
		return computed(err);
	return take_global(argument, address, err);
}

/* Takes what a register had when the function was called: where the function begins it still has that. */
static int entry_value(struct probe_argument *argument, const Dwarf_Op *op, struct str *err)
{
	Dwarf_Attribute inner;
	Dwarf_Op *ops;
	size_t n;

	if (!argument->place->at_entry || argument->place->inlined ||
	    argument->dw->dwarf_getlocation_attr(&argument->location, op, &inner) ||
	    argument->dw->dwarf_getlocation(&inner, &ops, &n) || n != 1 || ops[0].atom < DW_OP_reg0 ||
	    ops[0].atom > DW_OP_reg31)
		return fail(err, -ENODATA, "it was optimized out there: only what the caller had passed is known");
	return take_register(argument, ops[0].atom - DW_OP_reg0, true, 0, err);
}

/* The operation that an expression begins with. */
static int first_operation(struct probe_argument *argument, const Dwarf_Op *op, unsigned depth, struct str *err)
{
	int rc;

	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		return take_register(argument, op->atom - DW_OP_reg0, false, 0, err);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return take_register(argument, op->atom - DW_OP_breg0, true, (int64_t)op->number, err);
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		argument->value.kind = CONSTANT;
		argument->value.offset = op->atom - DW_OP_lit0;
		return 0;
	}
	switch (op->atom) {
	case DW_OP_regx:
		return take_register(argument, op->number, false, 0, err);
	case DW_OP_bregx:
		return take_register(argument, op->number, true, (int64_t)op->number2, err);
	case DW_OP_fbreg:
		rc = frame_base(argument, depth, err);
		argument->value.offset += (int64_t)op->number;
		return rc;
	case DW_OP_call_frame_cfa:
		return frame_address(argument, depth, err);
	case DW_OP_addr:
		return take_global(argument, op->number, err);
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return take_indexed(argument, op, err);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		argument->value.kind = CONSTANT;
		argument->value.offset = (int64_t)op->number;
		return 0;
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return entry_value(argument, op, err);
	default:
		return computed(err);
	}
}

static int next_operation(struct probe_argument *argument, const Dwarf_Op *op, bool last, struct str *err)
{
	struct value *value = &argument->value;

	switch (op->atom) {
	case DW_OP_plus_uconst:
		if (value->kind != IN_MEMORY)
			return computed(err);
		value->offset += (int64_t)op->number;
		return 0;
	case DW_OP_deref:
		if (value->kind != IN_MEMORY)
			return computed(err);
		follow(value);
		return 0;
	case DW_OP_stack_value:
		/* The value is the address itself. */
		if (!last || (value->kind == IN_MEMORY && (value->offset || value->in_file)))
			return computed(err);
		if (value->kind == IN_MEMORY)
			value->kind = IN_REGISTER;
		return 0;
	case DW_OP_piece:
	case DW_OP_bit_piece:
		return fail(err, -ENOTSUP, "it is taken apart there: its pieces are in several places");
	default:
		return computed(err);
	}
}

static int evaluate(struct probe_argument *argument, const Dwarf_Op *ops, size_t n, unsigned depth, struct str *err)
{
	int rc;

	if (depth > EXPRESSIONS_MAX)
		return computed(err);
	rc = first_operation(argument, &ops[0], depth, err);
	for (size_t i = 1; i < n && !rc; i++)
		rc = next_operation(argument, &ops[i], i + 1 == n, err);
	/* A number is a value only where it says so, else an address. */
	if (!rc && argument->value.kind == CONSTANT && ops[n - 1].atom != DW_OP_stack_value)
		return computed(err);
	return rc;
}

static int locate(struct probe_argument *argument, Dwarf_Die *die, struct str *err)
{
	const struct probe_dw *dw = argument->dw;
	Dwarf_Attribute attribute;
	Dwarf_Sword constant;
	Dwarf_Op *ops;
	size_t n = 0;

	if (dw->dwarf_attr_integrate(die, DW_AT_const_value, &attribute)) {
		argument->value.kind = CONSTANT;
		if (dw->dwarf_formsdata(&attribute, &constant))
			return fail(err, -ENOTSUP, "it is a constant that is no whole number");
		argument->value.offset = constant;
		return 0;
	}
	if (!dw->dwarf_attr_integrate(die, DW_AT_location, &attribute))
		return fail(err, -ENODATA, "it was optimized out");
	if (dw->dwarf_getlocation_addr(&attribute, argument->place->address, &ops, &n, 1) <= 0 || !n)
		return fail(err, -ENODATA, "it was optimized out there, or has no value yet");
	argument->location = attribute;
	return evaluate(argument, ops, n, 0, err);
}

/* ---- variables ---- */

static bool is_variable(int tag)
{
	return tag == DW_TAG_formal_parameter || tag == DW_TAG_variable;
}

/* Takes a variable of a scope: a function or a block; NULL: of a unit. false: it was the last one. */
typedef bool take_variable_fn(void *context, Dwarf_Die *die, Dwarf_Die *scope);

/* Calls take for the variables of the scope, and of the blocks in it that the address is in, outer ones first. */
static void local_variables(struct probe_file *file, const struct probe_site *place, take_variable_fn *take,
			    void *context)
{
	const struct probe_dw *dw = probe_file_dw(file);
	struct probe_walk walk;
	bool enter = true, more = true;

	probe_walk_begin(&walk, file, &place->scope);
	while (more && probe_walk_next(&walk, enter)) {
		Dwarf_Die *die = &walk.path[walk.depth];
		int tag = dw->dwarf_tag(die);

		enter = tag == DW_TAG_lexical_block && dw->dwarf_haspc(die, place->address) > 0;
		if (is_variable(tag))
			more = take(context, die, &walk.path[walk.depth - 1]);
	}
}

/* The same for those of a unit, also in namespaces. */
static void global_variables(struct probe_file *file, const Dwarf_Die *unit, take_variable_fn *take, void *context)
{
	const struct probe_dw *dw = probe_file_dw(file);
	struct probe_walk walk;
	bool enter = true, more = true;

	probe_walk_begin(&walk, file, unit);
	while (more && probe_walk_next(&walk, enter)) {
		Dwarf_Die *die = &walk.path[walk.depth];
		int tag = dw->dwarf_tag(die);

		enter = tag == DW_TAG_namespace;
		if (tag == DW_TAG_variable)
			more = take(context, die, NULL);
	}
}

struct variable_search {
	struct probe_file *file;
	const char *name;
	size_t n_letters;
	bool placed; /* only one with a location */
	bool found;
	Dwarf_Die die;
};

static bool take_named(void *context, Dwarf_Die *die, Dwarf_Die *scope)
{
	struct variable_search *search = context;
	const char *name = probe_die_text(search->file, die, DW_AT_name);
	Dwarf_Attribute location;

	(void)scope;
	if (!name || strlen(name) != search->n_letters || memcmp(name, search->name, search->n_letters) != 0)
		return true;
	if (search->placed && !probe_file_dw(search->file)->dwarf_attr_integrate(die, DW_AT_location, &location))
		return true;
	search->die = *die;
	search->found = true;
	return true;
}

static bool find_variable(struct probe_file *file, const struct probe_site *place, struct variable_search *search)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	search->file = file;
	local_variables(file, place, take_named, search);
	search->placed = !search->found;
	if (!search->found)
		global_variables(file, &place->unit, take_named, search);
	while (!search->found && probe_next_unit(file, &cu, &unit))
		global_variables(file, &unit, take_named, search);
	return search->found;
}

/* ---- types ---- */

/* The type that a DIE has, without names and qualifiers; false: none, as of void. */
static bool type_of(struct probe_file *file, Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Die at = *die;

	for (unsigned i = 0; i < TYPES_MAX; i++) {
		if (!probe_die_ref(file, &at, DW_AT_type, type))
			return false;
		switch (probe_file_dw(file)->dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			at = *type;
			break;
		default:
			return true;
		}
	}
	return false;
}

static bool is_pointer(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

static bool is_structure(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

static int tag_of(const struct probe_argument *argument)
{
	Dwarf_Die type = argument->type;

	return argument->has_type ? argument->dw->dwarf_tag(&type) : 0;
}

static uint64_t bytes_of(struct probe_file *file, Dwarf_Die *type)
{
	uint64_t bytes = 0;

	if (probe_die_number(file, type, DW_AT_byte_size, &bytes))
		return bytes;
	return is_pointer(probe_file_dw(file)->dwarf_tag(type)) ? 8 : 0;
}

/* How many elements an array has: of its first dimension; 0: not known. */
static uint64_t elements_of(struct probe_file *file, const Dwarf_Die *array)
{
	struct probe_walk walk;
	uint64_t count;

	probe_walk_begin(&walk, file, array);
	while (probe_walk_next(&walk, walk.depth == 0)) {
		Dwarf_Die *die = &walk.path[walk.depth];

		if (probe_file_dw(file)->dwarf_tag(die) != DW_TAG_subrange_type)
			continue;
		if (probe_die_number(file, die, DW_AT_count, &count))
			return count;
		return probe_die_number(file, die, DW_AT_upper_bound, &count) && count < UINT32_MAX ? count + 1 : 0;
	}
	return 0;
}

/* ---- members and elements ---- */

/* The place of a member in its structure; false: it has to be computed. */
static bool member_offset(const struct probe_argument *argument, Dwarf_Die *member, uint64_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t n;

	*offset = 0;
	if (!argument->dw->dwarf_attr_integrate(member, DW_AT_data_member_location, &attribute) ||
	    probe_die_number(argument->file, member, DW_AT_data_member_location, offset))
		return true;
	if (argument->dw->dwarf_getlocation(&attribute, &ops, &n) || n != 1 || ops[0].atom != DW_OP_plus_uconst)
		return false;
	*offset = ops[0].number;
	return true;
}

/*
 * Finds a member, also in structures without a name that are in this one. *offset is that of all on the way together.
 */
static bool find_member(const struct probe_argument *argument, const Dwarf_Die *structure, const char *name, size_t n,
			Dwarf_Die *found, uint64_t *offset, unsigned depth)
{
	struct probe_walk *walk = xmalloc(sizeof(*walk));
	bool enter = true, is_found = false;

	probe_walk_begin(walk, argument->file, structure);
	while (!is_found && probe_walk_next(walk, enter)) {
		Dwarf_Die *die = &walk->path[walk->depth], inner;
		const char *member = probe_die_text(argument->file, die, DW_AT_name);
		uint64_t here, more = 0;

		enter = false;
		if (argument->dw->dwarf_tag(die) != DW_TAG_member || !member_offset(argument, die, &here))
			continue;
		if (member && strlen(member) == n && !memcmp(member, name, n)) {
			*found = *die;
			is_found = true;
		} else if (!member && depth < EXPRESSIONS_MAX && type_of(argument->file, die, &inner)) {
			is_found = find_member(argument, &inner, name, n, found, &more, depth + 1);
		}
		*offset = here + more;
	}
	free(walk);
	return is_found;
}

/* Bits of a member: how many, and from which on in a word of its type's size. */
static void take_bits(struct probe_argument *argument, Dwarf_Die *member)
{
	uint64_t bytes = bytes_of(argument->file, &argument->type), first;

	argument->bit_size = 0;
	if (!bytes || bytes > 8 || !probe_die_number(argument->file, member, DW_AT_bit_size, &argument->bit_size))
		return;
	if (probe_die_number(argument->file, member, DW_AT_data_bit_offset, &first)) {
		argument->value.offset += (int64_t)(first / (bytes * 8) * bytes);
		argument->bit_offset = first % (bytes * 8);
	} else if (probe_die_number(argument->file, member, DW_AT_bit_offset, &first)) {
		/* Before DWARF 4 it was counted from the highest bit. */
		argument->bit_offset = bytes * 8 - first - argument->bit_size;
	}
}

static int take_member(struct probe_argument *argument, const char *name, size_t n, bool arrow, struct str *err)
{
	Dwarf_Die member;
	uint64_t offset = 0;

	if (arrow != is_pointer(tag_of(argument)))
		return fail(err, -EINVAL, arrow ? "the value before '->%.*s' is no pointer" :
						  "the value before '.%.*s' is a pointer: use ->", (int)n, name);
	if (arrow) {
		Dwarf_Die pointer = argument->type;

		follow(&argument->value);
		argument->has_type = type_of(argument->file, &pointer, &argument->type);
	}
	if (!is_structure(tag_of(argument)))
		return fail(err, -EINVAL, "the value with the member '%.*s' is no structure", (int)n, name);
	if (argument->value.kind != IN_MEMORY)
		return fail(err, -ENOTSUP, "the structure with '%.*s' is not in memory", (int)n, name);
	if (!find_member(argument, &argument->type, name, n, &member, &offset, 0))
		return fail(err, -ENOENT, "the structure has no member '%.*s'", (int)n, name);
	argument->value.offset += (int64_t)offset;
	argument->has_type = type_of(argument->file, &member, &argument->type);
	take_bits(argument, &member);
	return 0;
}

static int take_element(struct probe_argument *argument, uint64_t index, struct str *err)
{
	Dwarf_Die whole = argument->type;
	int tag = tag_of(argument);
	uint64_t bytes;

	if (!is_pointer(tag) && tag != DW_TAG_array_type)
		return fail(err, -EINVAL, "the value before '[' is no array and no pointer");
	if (is_pointer(tag))
		follow(&argument->value);
	else if (argument->value.kind != IN_MEMORY)
		return fail(err, -ENOTSUP, "the array is not in memory");
	argument->has_type = type_of(argument->file, &whole, &argument->type);
	bytes = argument->has_type ? bytes_of(argument->file, &argument->type) : 0;
	if (!bytes || index > INT32_MAX / bytes)
		return fail(err, -EINVAL, "how large the elements are is not known, or the index is too large");
	argument->value.offset += (int64_t)(index * bytes);
	return 0;
}

/* "->next.name[2]"; *last: the name of the last member, where one was named. */
static int take_path(struct probe_argument *argument, const char *path, const char *end, struct str *last,
		     struct str *err)
{
	int rc = 0;

	while (path < end && !rc) {
		bool arrow = !strncmp(path, "->", 2);
		size_t n;

		if (*path == '[') {
			char *close;
			uint64_t index = strtoull(path + 1, &close, 0);

			if (!isdigit((unsigned char)path[1]) || *close != ']')
				return fail(err, -EINVAL, "'%.*s': an index is a number in brackets",
					    (int)(end - path), path);
			rc = take_element(argument, index, err);
			path = close + 1;
			continue;
		}
		if (!arrow && *path != '.')
			return fail(err, -EINVAL, "'%.*s' is no member and no element", (int)(end - path), path);
		path += arrow ? 2 : 1;
		n = strcspn(path, "-.[:");
		rc = take_member(argument, path, n, arrow, err);
		str_reset(last);
		str_addn(last, path, n);
		path += n;
	}
	return rc;
}

/* ---- the kernel's types ---- */

static int add_base_type(const struct probe_argument *argument, Dwarf_Die *type, struct str *out, struct str *err)
{
	uint64_t bytes = bytes_of(argument->file, type), encoding = 0;
	char letter = 'u';

	probe_die_number(argument->file, type, DW_AT_encoding, &encoding);
	if (encoding == DW_ATE_float || encoding == DW_ATE_complex_float || encoding == DW_ATE_imaginary_float)
		return fail(err, -ENOTSUP, "it is a floating-point number, which the kernel does not know: "
			    "its bits are :x%u", (unsigned)bytes * 8);
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return fail(err, -ENOTSUP, "it has %llu bytes, the kernel reads 1, 2, 4 or 8",
			    (unsigned long long)bytes);
	if (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char)
		letter = 's';
	str_addf(out, ":%c%u", letter, (unsigned)bytes * 8);
	return 0;
}

static int add_array_type(const struct probe_argument *argument, struct str *out, struct str *err)
{
	Dwarf_Die array = argument->type, element;
	uint64_t n = elements_of(argument->file, &array);
	int rc = -ENOTSUP;

	if (n && n <= ARRAY_MAX && type_of(argument->file, &array, &element) &&
	    argument->dw->dwarf_tag(&element) == DW_TAG_base_type)
		rc = add_base_type(argument, &element, out, err);
	else
		fail(err, 0, "it is an array of more than %d elements, or of no numbers: name one, NAME[N]", ARRAY_MAX);
	if (!rc)
		str_addf(out, "[%u]", (unsigned)n);
	return rc;
}

/* Adds the type that a value is read as where none was given. */
static int add_type(const struct probe_argument *argument, struct str *out, struct str *err)
{
	Dwarf_Die type = argument->type;
	uint64_t bytes = argument->has_type ? bytes_of(argument->file, &type) : 0;
	int tag = tag_of(argument);

	if (argument->bit_size) {
		str_addf(out, ":b%u@%u/%u", (unsigned)argument->bit_size, (unsigned)argument->bit_offset,
			 (unsigned)bytes * 8);
		return 0;
	}
	if (is_pointer(tag)) {
		str_add(out, ":x64");
		return 0;
	}
	switch (tag) {
	case DW_TAG_base_type:
	case DW_TAG_enumeration_type:
		return add_base_type(argument, &type, out, err);
	case DW_TAG_array_type:
		return add_array_type(argument, out, err);
	default:
		return fail(err, -EINVAL, is_structure(tag) ? "it is a structure: name a member" :
							      "what type it has is not known");
	}
}

/* ":x", ":u" or ":s": the kernel's types have their size, too. */
static bool is_sign(const char *type)
{
	return type[0] == ':' && type[1] && strchr("xus", type[1]) && !type[2];
}

/* Adds such a type with the size that the variable has. */
static int add_sized(const struct probe_argument *argument, const char *type, struct str *out, struct str *err)
{
	Dwarf_Die own = argument->type;
	uint64_t bytes = argument->has_type ? bytes_of(argument->file, &own) : 0;

	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return fail(err, -ENOTSUP, "it has %llu bytes, the kernel reads 1, 2, 4 or 8",
			    (unsigned long long)bytes);
	str_addf(out, "%s%u", type, (unsigned)bytes * 8);
	return 0;
}

static bool is_string(const char *type)
{
	return !strcmp(type, "string") || !strcmp(type, "ustring");
}

/* Texts are where a pointer leads, or in an array itself. */
static int follow_string(struct probe_argument *argument, struct str *err)
{
	if (is_pointer(tag_of(argument)))
		follow(&argument->value);
	else if (tag_of(argument) != DW_TAG_array_type || argument->value.kind != IN_MEMORY)
		return fail(err, -EINVAL, "it is no pointer and no array, and so no string");
	return 0;
}

/* ---- the words ---- */

/* Finds where ":TYPE" begins, or the end. */
static const char *find_type(const char *words)
{
	const char *colon = strrchr(words, ':');

	return colon && colon > words && colon[-1] != ':' ? colon : words + strlen(words);
}

/* The name that an argument has without NAME=: the last member's, or the variable's with its type. */
static void add_name(const struct probe_argument *argument, const struct str *last, const char *type, struct str *out)
{
	if (last->len)
		str_add(out, last->s);
	else
		str_add(out, argument->variable);
	if (!last->len && *type)
		str_addf(out, "_%.*s", (int)strcspn(type + 1, "@["), type + 1);
}

static int add_variable(struct probe_argument *argument, Dwarf_Die *die, const char *path, const char *type,
			const char *name, struct str *out, struct str *err)
{
	struct str last = STR_INIT, fetch = STR_INIT, full = STR_INIT;
	int rc;

	str_init(&argument->value.base);
	rc = locate(argument, die, err);
	argument->has_type = type_of(argument->file, die, &argument->type);
	if (!rc)
		rc = take_path(argument, path, type, &last, err);
	if (!rc && *type && is_string(type + 1))
		rc = follow_string(argument, err);
	add_fetch(&argument->value, &fetch);
	if (!rc && is_sign(type))
		rc = add_sized(argument, type, &fetch, err);
	else if (!rc && *type)
		str_add(&fetch, type);
	else if (!rc)
		rc = add_type(argument, &fetch, err);
	if (name)
		str_add(&full, name);
	else
		add_name(argument, &last, type, &full);
	if (!rc && full.len > NAME_MAX_LETTERS)
		rc = fail(err, -EINVAL, "the kernel takes %d letters for its name: give it one, NAME=%s",
			  NAME_MAX_LETTERS, argument->variable);
	if (!rc)
		str_addf(out, " %s=%s", full.s, fetch.s);
	str_release(&argument->value.base);
	str_release(&fetch);
	str_release(&full);
	str_release(&last);
	return rc;
}

struct all_variables {
	struct probe_argument argument;
	bool parameters; /* no others */
	struct str *out;
};

static bool take_any(void *context, Dwarf_Die *die, Dwarf_Die *scope)
{
	struct all_variables *all = context;
	struct probe_argument argument = all->argument;
	struct str ignored = STR_INIT;

	(void)scope;
	argument.variable = probe_die_text(argument.file, die, DW_AT_name);
	if (argument.variable && (!all->parameters || argument.dw->dwarf_tag(die) == DW_TAG_formal_parameter))
		add_variable(&argument, die, "", "", NULL, all->out, &ignored);
	str_release(&ignored);
	return true;
}

/* The kernel's own words begin with none of a variable's letters. */
static bool is_raw(const char *words)
{
	return strchr("%$@+-\\", words[0]) && strcmp(words, "$vars") != 0 && strcmp(words, "$params") != 0;
}

static int add_raw(const struct probe_point *point, const char *name, const char *words, struct str *out,
		   struct str *err)
{
	if (!strncmp(words, "$retval", strlen("$retval")) && !point->returns)
		return fail(err, -EINVAL, "$retval is known where a function returns: %s%%return",
			    point->function ? point->function : "FUNCTION");
	str_addf(out, name ? " %s=%s" : " %s%s", name ? name : "", words);
	return 0;
}

int probe_argument_add(struct probe_file *file, struct probe_site *place, const struct probe_point *point,
		       const char *words, struct str *out, struct str *err)
{
	struct probe_argument argument = { .file = file, .dw = probe_file_dw(file), .place = place };
	struct variable_search search = { .name = words };
	struct str why = STR_INIT;
	size_t n = strspn(words, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	char *name = words[n] == '=' && n ? xstrndup(words, n) : NULL, *variable = NULL;
	const char *expression = name ? words + n + 1 : words, *type = find_type(expression);
	int rc;

	if (is_raw(expression)) {
		rc = add_raw(point, name, expression, out, err);
	} else if (point->returns) {
		rc = fail(err, -EINVAL, "'%s': where a function returns, its variables are gone: "
			  "$retval, registers and memory can be read", words);
	} else if (!place->has_dwarf) {
		probe_file_dwarf(file, &why);
		rc = fail(err, -ENODATA, "'%s': %s: %s", words, probe_file_path(file),
			  why.len ? why.s : "its debug information has no function there");
	} else if (expression[0] == '$') {
		struct all_variables all = { argument, !strcmp(expression, "$params"), out };

		local_variables(file, place, take_any, &all);
		rc = 0;
	} else {
		search.name = expression;
		search.n_letters = strcspn(expression, "-.[:");
		argument.variable = variable = xstrndup(expression, search.n_letters);
		if (!find_variable(file, place, &search))
			rc = fail(&why, -ENOENT, "no variable of that name is in scope there");
		else
			rc = add_variable(&argument, &search.die, expression + search.n_letters, type, name, out, &why);
		if (rc)
			fail(err, rc, "'%s' at %#llx: %s", words, (unsigned long long)place->address, why.s);
	}
	str_release(&why);
	free(variable);
	free(name);
	return rc;
}

/* ---- prologues ---- */

struct parameters {
	struct probe_file *file;
	size_t n, n_in_frame;
};

/* Counts parameters that lie in the frame, by one location for the whole function. */
static bool count_parameter(void *context, Dwarf_Die *die, Dwarf_Die *scope)
{
	struct parameters *parameters = context;
	const struct probe_dw *dw = probe_file_dw(parameters->file);
	Dwarf_Attribute location;
	Dwarf_Op *ops;
	size_t n;

	(void)scope;
	if (!dw->dwarf_attr_integrate(die, DW_AT_location, &location))
		return true;
	parameters->n++;
	if ((dw->dwarf_whatform(&location) == DW_FORM_exprloc || dw->dwarf_whatform(&location) == DW_FORM_block1) &&
	    !dw->dwarf_getlocation(&location, &ops, &n) && n && ops[0].atom == DW_OP_fbreg)
		parameters->n_in_frame++;
	return true;
}

bool probe_needs_prologue(struct probe_file *file, const struct probe_site *place, const struct probe_point *point)
{
	struct parameters parameters = { .file = file };
	bool asked = false;

	for (size_t i = 0; i < point->n_arguments; i++) {
		const char *equals = strchr(point->arguments[i], '=');

		asked |= !is_raw(equals ? equals + 1 : point->arguments[i]);
	}
	if (!asked || point->returns || place->inlined || !place->has_dwarf)
		return false;
	local_variables(file, place, count_parameter, &parameters);
	return parameters.n && parameters.n_in_frame == parameters.n;
}

/* ---- listing ---- */

/* "struct point*", "char[4]"; a name of names that never ends is cut. */
static void add_type_name(struct probe_file *file, Dwarf_Die *die, struct str *out, unsigned depth)
{
	Dwarf_Die type;
	const char *name;
	int tag;

	if (depth > TYPES_MAX || !probe_die_ref(file, die, DW_AT_type, &type)) {
		str_add(out, "void");
		return;
	}
	tag = probe_file_dw(file)->dwarf_tag(&type);
	name = probe_die_text(file, &type, DW_AT_name);
	if (tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type) {
		add_type_name(file, &type, out, depth + 1);
	} else if (is_pointer(tag)) {
		add_type_name(file, &type, out, depth + 1);
		str_addc(out, tag == DW_TAG_pointer_type ? '*' : '&');
	} else if (tag == DW_TAG_array_type) {
		add_type_name(file, &type, out, depth + 1);
		str_addf(out, "[%llu]", (unsigned long long)elements_of(file, &type));
	} else if (tag == DW_TAG_subroutine_type) {
		str_add(out, "(function)");
	} else {
		str_add(out, tag == DW_TAG_structure_type ? "struct " : tag == DW_TAG_union_type ? "union " :
			     tag == DW_TAG_enumeration_type ? "enum " : "");
		str_add_printable(out, name ? name : "{...}", strlen(name ? name : "{...}"));
	}
}

enum { RANGES_MAX = 256 };

struct range_text {
	struct str text;
	uint64_t from; /* what is counted from */
	uint64_t start, end; /* of the last range, which is not in the text yet; empty: none */
};

static void add_range(struct range_text *ranges, uint64_t start, uint64_t end)
{
	if (ranges->start < ranges->end && start == ranges->end && start < end) {
		ranges->end = end;
		return;
	}
	if (ranges->start < ranges->end)
		str_addf(&ranges->text, "%s%lld-%lld", ranges->text.len ? "," : "",
			 (long long)(ranges->start - ranges->from), (long long)(ranges->end - ranges->from));
	ranges->start = start;
	ranges->end = end;
}

static void add_scope(struct probe_file *file, Dwarf_Die *scope, struct range_text *ranges)
{
	Dwarf_Addr base = 0, start, end;
	ptrdiff_t next = 0;

	for (unsigned i = 0; i < RANGES_MAX; i++) {
		next = probe_file_dw(file)->dwarf_ranges(scope, next, &base, &start, &end);
		if (next <= 0)
			return;
		add_range(ranges, start, end);
	}
}

/* Adds where a variable has a value, by its list of locations; of one without a list that is its whole scope. */
static void add_ranges(struct probe_file *file, Dwarf_Die *die, Dwarf_Die *scope, struct range_text *ranges)
{
	const struct probe_dw *dw = probe_file_dw(file);
	Dwarf_Addr base = 0, start, end;
	Dwarf_Attribute attribute;
	ptrdiff_t next = 0;
	Dwarf_Op *ops;
	size_t n;

	if (dw->dwarf_attr_integrate(die, DW_AT_const_value, &attribute)) {
		add_scope(file, scope, ranges);
	} else if (dw->dwarf_attr_integrate(die, DW_AT_location, &attribute)) {
		for (unsigned i = 0; i < RANGES_MAX; i++) {
			next = dw->dwarf_getlocations(&attribute, next, &base, &start, &end, &ops, &n);
			if (next <= 0)
				break;
			if (n && !start && end == UINT64_MAX)
				add_scope(file, scope, ranges);
			else if (n)
				add_range(ranges, start, end);
		}
	}
	add_range(ranges, 0, 0); /* the last one is written */
}

struct listed_variables {
	struct probe_argument argument;
	uint64_t from;
	probe_variable_fn *take;
	void *context;
};

static bool list_variable(void *context, Dwarf_Die *die, Dwarf_Die *scope)
{
	struct listed_variables *listed = context;
	struct probe_argument argument = listed->argument;
	const char *name = probe_die_text(argument.file, die, DW_AT_name);
	struct str ignored = STR_INIT, type = STR_INIT, printable = STR_INIT;
	struct range_text ranges = { .text = STR_INIT, .from = listed->from };
	struct probe_variable variable = { .global = !scope };

	str_init(&argument.value.base);
	if (name) {
		add_type_name(argument.file, die, &type, 0);
		str_add_printable(&printable, name, strlen(name));
		if (scope)
			add_ranges(argument.file, die, scope, &ranges);
		variable.name = printable.s;
		variable.type = type.s;
		variable.here = !locate(&argument, die, &ignored);
		variable.ranges = ranges.text.s;
		listed->take(listed->context, &variable);
	}
	str_release(&argument.value.base);
	str_release(&ranges.text);
	str_release(&printable);
	str_release(&ignored);
	str_release(&type);
	return true;
}

void probe_variables_each(struct probe_file *file, const struct probe_site *place, bool externs, uint64_t from,
			  probe_variable_fn *take, void *context)
{
	struct listed_variables listed = {
		.argument = { .file = file, .dw = probe_file_dw(file), .place = place },
		.from = from,
		.take = take,
		.context = context,
	};

	local_variables(file, place, list_variable, &listed);
	if (externs)
		global_variables(file, &place->unit, list_variable, &listed);
}
