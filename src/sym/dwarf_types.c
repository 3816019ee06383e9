/* SPDX-License-Identifier: MIT */
/*
 * dwarf_types: types of data, each made when it is first met: what it is called, how large it is, what a pointer
 * points to, which members a structure has and where.
 *
 *	variable --type--> typedef --> const --> struct node { next, key }     typedefs and qualifiers are passed
 *	                                           |
 *	                                  next: pointer --target--> struct node  the same object: cycles are no matter
 *
 * A type is asked for its target or its members only when somebody wants them, one step at a time, so that types which
 * contain themselves, which only a damaged file has, end nobody's walk here; who walks counts his steps.
 *
 * Source: DWARF 5, chapter 5.
 */
#include "sym/dwarf_internal.h"

#include <stdlib.h>

enum {
	TYPEDEFS_MAX = 32, /* one behind the other */
	NAME_STEPS_MAX = 16, /* pointers to pointers, in a name */
	MEMBERS_MAX = 1 << 16,
	VARIANTS_DEPTH_MAX = 8, /* a part, its variants, and a part of one of them */
	NAME_BYTES_MAX = 4096,
};

struct dwarf_type {
	struct data_type type;
	Dwarf_Die die; /* behind typedefs and qualifiers */
	const struct data_type *target; /* of a pointer, or an element; see target_known */
	struct data_member *members;
	size_t n_members, cap_members;
	bool target_known, members_known;
};

struct dwarf_types {
	struct dwarf_type **v; /* by data_type.number */
	size_t n, cap;
	struct index ix; /* by the address of the DIE that was asked for, which is asked[i] */
	struct arena names;
	const void **asked;
	size_t cap_asked;
};

static struct dwarf_types *types_of(struct dwarf_file *file)
{
	if (!file->types)
		file->types = xcalloc(1, sizeof(*file->types));
	return file->types;
}

void dwarf_types_release(struct dwarf_file *file)
{
	struct dwarf_types *types = file->types;

	if (!types)
		return;
	for (size_t i = 0; i < types->n; i++) {
		free(types->v[i]->members);
		free(types->v[i]);
	}
	free(types->v);
	free(types->asked);
	index_release(&types->ix);
	arena_release(&types->names);
	free(types);
}

/* Finds what an attribute refers to; false: nothing that is there. */
static bool follow(struct dwarf_file *file, Dwarf_Die *die, unsigned name, Dwarf_Die *to)
{
	Dwarf_Attribute attribute;

	return dwarf_file_spend(file, 1) && file->lib->dwarf_attr(die, name, &attribute) &&
	       dwarf_file_has(file, &attribute) && file->lib->dwarf_formref_die(&attribute, to);
}

static bool number_of(struct dwarf_file *file, Dwarf_Die *die, unsigned name, uint64_t *number)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_file_spend(file, 1) || !file->lib->dwarf_attr(die, name, &attribute) ||
	    file->lib->dwarf_formudata(&attribute, &value))
		return false;
	*number = value;
	return true;
}

/* ---- kinds ---- */

/* Tags of types. To add one: a row; prefix: before the name, as C has it; suffix: behind that of the target. */
static const struct type_tag {
	uint16_t tag;
	uint8_t kind;
	const char *prefix, *suffix;
} type_tags[] = {
	{ DW_TAG_base_type, DATA_PLAIN, "", NULL },
	{ DW_TAG_enumeration_type, DATA_PLAIN, "enum ", NULL },
	{ DW_TAG_structure_type, DATA_RECORD, "struct ", NULL },
	{ DW_TAG_union_type, DATA_UNION, "union ", NULL },
	{ DW_TAG_class_type, DATA_RECORD, "class ", NULL },
	{ DW_TAG_interface_type, DATA_RECORD, "", NULL },
	{ DW_TAG_pointer_type, DATA_POINTER, "", "*" },
	{ DW_TAG_reference_type, DATA_POINTER, "", "&" },
	{ DW_TAG_rvalue_reference_type, DATA_POINTER, "", "&&" },
	{ DW_TAG_array_type, DATA_ARRAY, "", "[]" },
	{ DW_TAG_unspecified_type, DATA_PLAIN, "", NULL },
};

static const struct type_tag *tag_of(int tag)
{
	for (size_t i = 0; i < ARRAY_SIZE(type_tags); i++)
		if (type_tags[i].tag == tag)
			return &type_tags[i];
	return NULL;
}

static bool is_passed(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

/* ---- names ---- */

/* The name of what DIE is, "void" where it refers to nothing; alias: of the typedef before it, or NULL. */
static void add_name(struct dwarf_file *file, Dwarf_Die die, const char *alias, struct str *out)
{
	struct str suffixes = STR_INIT;
	const struct type_tag *tag = NULL;
	const char *name = NULL;

	for (int step = 0; step < NAME_STEPS_MAX; step++) {
		int die_tag = file->lib->dwarf_tag(&die);
		bool passed = is_passed(die_tag);

		tag = tag_of(die_tag);
		name = dwarf_file_text(file, &die, DW_AT_name);
		if (die_tag == DW_TAG_subroutine_type)
			name = "(function_type)";
		if (name && die_tag == DW_TAG_typedef)
			break;
		if (!passed && (!tag || !tag->suffix))
			break;
		if (!passed) {
			char *before = xasprintf("%s%s", tag->suffix, suffixes.s);

			str_reset(&suffixes);
			str_add(&suffixes, before);
			free(before);
		}
		alias = NULL;
		tag = NULL;
		name = "void";
		if (!follow(file, &die, DW_AT_type, &die))
			break;
	}
	if (tag && name)
		str_add(out, tag->prefix);
	else if (!name)
		name = alias ? alias : "(unnamed)";
	if (tag && !alias && !strcmp(name, "(unnamed)"))
		str_add(out, tag->prefix);
	str_add_printable(out, name, strnlen(name, NAME_BYTES_MAX));
	str_add(out, suffixes.s);
	str_release(&suffixes);
}

/* ---- sizes ---- */

/* Bytes of an array by its dimensions; 0: not known, or more than 64 bits hold. */
static uint64_t array_bytes(struct dwarf_file *file, Dwarf_Die *array, uint64_t element)
{
	uint64_t bytes = element, n;
	Dwarf_Die child;
	bool any = false;

	if (file->lib->dwarf_child(array, &child))
		return 0;
	do {
		if (file->lib->dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		any = true;
		if (!number_of(file, &child, DW_AT_count, &n)) {
			if (!number_of(file, &child, DW_AT_upper_bound, &n) || n == UINT64_MAX)
				return 0;
			n++;
		}
		if (__builtin_mul_overflow(bytes, n, &bytes))
			return 0;
	} while (dwarf_file_spend(file, 1) && !file->lib->dwarf_siblingof(&child, &child));
	return any ? bytes : 0;
}

/* Arrays of types that are arrays have no size here, so that no chain of them is followed. */
static bool holds_arrays(struct dwarf_file *file, Dwarf_Die die)
{
	for (int i = 0; i < TYPEDEFS_MAX && follow(file, &die, DW_AT_type, &die); i++)
		if (!is_passed(file->lib->dwarf_tag(&die)))
			return file->lib->dwarf_tag(&die) == DW_TAG_array_type;
	return true;
}

static uint64_t size_of(struct dwarf_type *type)
{
	const struct data_type *element;
	uint64_t bytes;

	if (number_of(type->type.file, &type->die, DW_AT_byte_size, &bytes))
		return bytes;
	if (type->type.kind == DATA_POINTER)
		return 8;
	if (type->type.kind != DATA_ARRAY || holds_arrays(type->type.file, type->die))
		return 0;
	element = data_type_target(&type->type);
	return element ? array_bytes(type->type.file, &type->die, element->bytes) : 0;
}

/* ---- types ---- */

static const struct data_type *make(struct dwarf_file *file, Dwarf_Die asked)
{
	struct dwarf_types *types = types_of(file);
	const char *alias = NULL;
	struct str name = STR_INIT;
	const struct type_tag *tag;
	struct dwarf_type *type;
	Dwarf_Die die = asked;

	for (int i = 0; is_passed(file->lib->dwarf_tag(&die)); i++) {
		const char *text = dwarf_file_text(file, &die, DW_AT_name);

		alias = text ? text : alias;
		if (i == TYPEDEFS_MAX || !follow(file, &die, DW_AT_type, &die))
			return NULL;
	}
	tag = tag_of(file->lib->dwarf_tag(&die));
	type = xcalloc(1, sizeof(*type));
	type->die = die;
	add_name(file, die, alias, &name);
	type->type = (struct data_type){ .file = file,
					 .number = (uint32_t)types->n,
					 .kind = tag ? tag->kind : DATA_PLAIN,
					 .name = arena_strndup(&types->names, name.s, name.len) };
	str_release(&name);
	index_add(&types->ix, hash_word((uintptr_t)asked.addr), type->type.number);
	if (types->n == types->cap_asked)
		types->asked = xreallocarray(types->asked, types->cap_asked = types->n + types->n / 2 + 64,
					     sizeof(*types->asked));
	types->asked[types->n] = asked.addr;
	VEC_GROW(types->v, types->n, types->cap);
	types->v[types->n++] = type;
	type->type.bytes = size_of(type);
	return &type->type;
}

static const struct data_type *type_get(struct dwarf_file *file, Dwarf_Die *die)
{
	struct dwarf_types *types = types_of(file);
	uint32_t i;

	if (INDEX_FIND(&types->ix, hash_word((uintptr_t)die->addr), i, types->asked[i] == die->addr))
		return &types->v[i]->type;
	return types->n < UINT32_MAX && dwarf_file_spend(file, 1) ? make(file, *die) : NULL;
}

const struct data_type *dwarf_type_of(struct dwarf_file *file, Dwarf_Die *die)
{
	Dwarf_Die at = *die, type;

	for (int hop = 0; hop < TYPEDEFS_MAX; hop++) {
		if (follow(file, &at, DW_AT_type, &type))
			return type_get(file, &type);
		if (!follow(file, &at, DW_AT_abstract_origin, &at) && !follow(file, &at, DW_AT_specification, &at) &&
		    !follow(file, &at, DW_AT_call_origin, &at))
			break;
	}
	return NULL;
}

static struct dwarf_type *own(const struct data_type *type)
{
	return type->file->types->v[type->number];
}

const struct data_type *data_type_target(const struct data_type *type)
{
	struct dwarf_type *mine = own(type);

	if (!mine->target_known && (type->kind == DATA_POINTER || type->kind == DATA_ARRAY)) {
		mine->target_known = true;
		mine->target = dwarf_type_of(type->file, &mine->die);
	}
	return mine->target;
}

/* ---- members ---- */

/*
 * Up to version 4 a bit field may have the distance of its highest bit from that of the word that it is in, which is
 * as large as its type, or as is said. This is so where the lowest byte comes first.
 */
static void place_in_word(struct dwarf_file *file, Dwarf_Die *die, struct data_member *member)
{
	uint64_t word_bytes = member->type->bytes, above, below;

	if (!member->bits || !number_of(file, die, DW_AT_bit_offset, &above))
		return;
	number_of(file, die, DW_AT_byte_size, &word_bytes);
	if (word_bytes > sizeof(uint64_t) || above + member->bits < above || above + member->bits > 8 * word_bytes)
		return;
	below = 8 * word_bytes - above - member->bits;
	member->offset += below / 8;
	member->first_bit = below % 8;
}

/* Finds where a member begins; false: its place is not a constant. */
static bool member_place(struct dwarf_file *file, Dwarf_Die *die, struct data_member *member)
{
	uint64_t bits;

	if (number_of(file, die, DW_AT_bit_size, &bits))
		member->bits = bits <= UINT16_MAX ? (uint16_t)bits : UINT16_MAX;
	if (number_of(file, die, DW_AT_data_bit_offset, &bits)) {
		member->offset = bits / 8;
		member->first_bit = bits % 8;
		return true;
	}
	if (!number_of(file, die, DW_AT_data_member_location, &member->offset))
		return false;
	place_in_word(file, die, member);
	return true;
}

static void take_member(struct dwarf_type *type, Dwarf_Die *die)
{
	struct dwarf_file *file = type->type.file;
	struct data_member member = { .type = dwarf_type_of(file, die) };
	const char *name;

	/* A member without a place is the whole union's; of a structure it is a static member, which lies elsewhere. */
	if (!member.type || (!member_place(file, die, &member) && type->type.kind != DATA_UNION))
		return;
	name = file->lib->dwarf_tag(die) == DW_TAG_member ? dwarf_file_text(file, die, DW_AT_name) : NULL;
	if (name) {
		struct str printable = STR_INIT;

		str_add_printable(&printable, name, strnlen(name, NAME_BYTES_MAX));
		member.name = arena_strndup(&file->types->names, printable.s, printable.len);
		str_release(&printable);
	}
	VEC_GROW(type->members, type->n_members, type->cap_members);
	type->members[type->n_members++] = member;
}

/*
 * Members of the type, which are those in a DIE: its own, or one of its variants', of which only one is there at a
 * time. All are taken, as a union's are: with debug information alone nobody knows which.
 */
static void read_members(struct dwarf_type *type, Dwarf_Die *die, int depth)
{
	struct dwarf_file *file = type->type.file;
	Dwarf_Die child;

	if (file->lib->dwarf_child(die, &child))
		return;
	do {
		switch (file->lib->dwarf_tag(&child)) {
		case DW_TAG_member:
		case DW_TAG_inheritance:
			take_member(type, &child);
			break;
		case DW_TAG_variant_part:
		case DW_TAG_variant:
			if (depth < VARIANTS_DEPTH_MAX)
				read_members(type, &child, depth + 1);
			break;
		}
	} while (type->n_members < MEMBERS_MAX && dwarf_file_spend(file, 1) &&
		 !file->lib->dwarf_siblingof(&child, &child));
}

struct member_order {
	uint64_t offset;
	size_t i;
};

static int by_offset(const void *a, const void *b)
{
	const struct member_order *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

/* Some languages place members in another order than the source has them, which is the file's. */
static void sort_members(struct dwarf_type *type)
{
	struct data_member *sorted;
	struct member_order *order;
	bool ascend = true;

	for (size_t i = 1; i < type->n_members; i++)
		ascend &= type->members[i - 1].offset <= type->members[i].offset;
	if (ascend)
		return;
	order = xcalloc(type->n_members, sizeof(*order));
	sorted = xcalloc(type->n_members, sizeof(*sorted));
	for (size_t i = 0; i < type->n_members; i++)
		order[i] = (struct member_order){ type->members[i].offset, i };
	qsort(order, type->n_members, sizeof(*order), by_offset);
	for (size_t i = 0; i < type->n_members; i++)
		sorted[i] = type->members[order[i].i];
	free(type->members);
	free(order);
	type->members = sorted;
	type->cap_members = type->n_members;
}

size_t data_type_members(const struct data_type *type, const struct data_member **members)
{
	struct dwarf_type *mine = own(type);

	if (!mine->members_known && (type->kind == DATA_RECORD || type->kind == DATA_UNION)) {
		mine->members_known = true;
		read_members(mine, &mine->die, 0);
		sort_members(mine);
	}
	*members = mine->members;
	return mine->n_members;
}

const struct data_member *data_type_member(const struct data_type *type, uint64_t offset)
{
	const struct data_member *members, *found = NULL;
	size_t n = data_type_members(type, &members);

	for (size_t i = 0; i < n; i++) {
		const struct data_member *member = &members[i];
		uint64_t bytes = member->type->bytes;

		/* An array at the end may have any length, which is not said. */
		if (!bytes && member->type->kind == DATA_ARRAY)
			bytes = UINT64_MAX;
		if (offset >= member->offset && offset - member->offset < bytes && !found)
			found = member;
	}
	return found;
}

bool data_type_path(const struct data_type *type, uint64_t offset, struct str *path)
{
	bool any = false;

	for (int depth = 0; depth < DATA_DEPTH_MAX && type; depth++) {
		const struct data_member *member;

		if (type->kind == DATA_ARRAY) {
			type = data_type_target(type);
			if (type && type->bytes)
				offset %= type->bytes;
			continue;
		}
		member = data_type_member(type, offset);
		if (!member)
			break;
		if (member->name && any)
			str_addc(path, '.');
		str_add(path, member->name ? member->name : "");
		if (member->name && member->bits)
			str_addf(path, ":%u", member->bits);
		any |= member->name != NULL;
		offset -= member->offset;
		type = member->type;
	}
	return any;
}
