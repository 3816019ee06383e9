/* SPDX-License-Identifier: MIT */
/*
 * symbol_objects: one object per function, made when an address of it is first asked for, so that pointers can be
 * compared, and names are demangled and made printable once: a file with a million functions costs what its few hot
 * ones do. What an object is made from has a number in its dso: a row of a table, the bounds of a function without a
 * name, a piece of code made at run time, or a function in a list by address.
 */
#include "sym/dso_names.h"

const struct symbol *symbol_object_find(const struct dso_names *names, enum symbol_origin origin, uint32_t number)
{
	uint64_t key = (uint64_t)number * SYMBOL_ORIGINS + origin;
	uint32_t i;

	if (INDEX_FIND(&names->object_index, hash_word(key), i, names->object_keys[i] == key))
		return &names->objects[i]->symbol;
	return NULL;
}

const struct symbol *symbol_object_add(struct symbols *symbols, struct dso_names *names, enum symbol_origin origin,
				       uint32_t number, const struct symbol *symbol)
{
	uint64_t key = (uint64_t)number * SYMBOL_ORIGINS + origin;
	struct symbol_object *object = arena_alloc(&symbols->arena, sizeof(*object));

	*object = (struct symbol_object){ .symbol = *symbol };
	object->alone.symbol = &object->symbol;
	index_add(&names->object_index, hash_word(key), (uint32_t)names->n_objects);
	VEC_GROW(names->object_keys, names->n_objects, names->cap_object_keys);
	names->object_keys[names->n_objects] = key;
	VEC_GROW(names->objects, names->n_objects, names->cap_objects);
	names->objects[names->n_objects++] = object;
	return &object->symbol;
}

const struct frame *symbol_object_alone(const struct symbols *symbols, const struct symbol *symbol)
{
	return symbol ? &((const struct symbol_object *)(const void *)symbol)->alone : &symbols->unknown;
}

const struct symbol *symbol_object_inlined(struct symbols *symbols, struct dso_names *names,
					   const struct dwarf_inline *inlined, const struct symbol *in)
{
	const char *raw = inlined->name ? inlined->name : "[inlined]";
	uint64_t hash = hash_bytes(raw, strlen(raw)) ^ hash_word((uintptr_t)in);
	struct symbol *symbol;
	uint32_t i;

	if (INDEX_FIND(&names->inlined_index, hash, i,
		       names->inlined_in[i] == in && !strcmp(names->inlined[i]->raw, raw)))
		return names->inlined[i];
	symbol = arena_alloc(&symbols->arena, sizeof(*symbol));
	*symbol = *in;
	symbol->raw = raw;
	symbol->name = symbol_display_name(symbols, raw, true);
	symbol->binding = ' ';
	symbol->inlined = true;
	symbol->decl_line = inlined->decl_line;
	index_add(&names->inlined_index, hash, (uint32_t)names->n_inlined);
	VEC_GROW(names->inlined_in, names->n_inlined, names->cap_inlined_in);
	names->inlined_in[names->n_inlined] = in;
	VEC_GROW(names->inlined, names->n_inlined, names->cap_inlined);
	names->inlined[names->n_inlined++] = symbol;
	return symbol;
}

/* ---- how they are shown ---- */

const char *symbol_display_name(struct symbols *symbols, const char *raw, bool demangled)
{
	struct str text = STR_INIT, name = STR_INIT;
	const char *kept = raw;

	if (demangled && !symbols->options.no_demangle &&
	    demangle(raw, symbols->options.verbose, &symbols->long_names, &text))
		str_add_printable(&name, text.s, text.len);
	else
		str_add_printable(&name, raw, strlen(raw));
	if (strcmp(name.s, raw) != 0)
		kept = arena_strndup(&symbols->arena, name.s, name.len);
	str_release(&text);
	str_release(&name);
	return kept;
}

/* Compares what people read; where that is the same, as of a class's two constructors, what is in the file. */
bool symbol_name_is_better(const char *b, const char *raw_b, const char *a, const char *raw_a)
{
	int order = symbol_name_compare(b, a);

	return order > 0 || (!order && symbol_name_compare(raw_b, raw_a) > 0);
}

char symbol_binding(unsigned binding)
{
	static const char letters[] = { [SYMBOL_LOCAL] = 'l', [SYMBOL_WEAK] = 'w', [SYMBOL_GLOBAL] = 'g' };

	return binding < sizeof(letters) ? letters[binding] : ' ';
}
