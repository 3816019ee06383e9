/*
 * symbol_objects: one object per function, made when an address of it is first asked for, so that pointers can be
 * compared and names are demangled once. What it is made from has a number in its dso: a row of the table, the bounds
 * of a function without a name, a piece of code made at run time, or a function in the recording itself. A function
 * that is in the recording and in a file is the same object, by its start.
 */
#include "sym/symbol_objects.h"

#include "sym/code_times.h"
#include "sym/dso_recorded.h"

enum { ALIASES_MAX = 64 };
/* More than rows of any table. Files have bounds, and code made at run time has times: one dso never both. */
#define HELD_BOUNDS ((uint32_t)1 << 31)
#define HELD_CODES HELD_BOUNDS
#define HELD_RECORDED ((uint32_t)3 << 30)

/*
 * Whether b, whose raw name that is, is to be shown instead of a: by what people read, and where that is the same, as
 * of a class's two constructors, by what is in the file.
 */
static bool is_better(const char *b, const char *raw_b, const char *a, const char *raw_a)
{
	int order = symbol_name_compare(b, a);

	return order > 0 || (!order && symbol_name_compare(raw_b, raw_a) > 0);
}

/*
 * Finds the best of the names of one address (see symbol_table.c), as people read them. Aliases come from equal
 * functions that were merged, and from names in several languages.
 */
static const struct symbol_row *best_alias(struct symbols *symbols, const struct dso_state *state,
					   const struct symbol_row *row, const char **name)
{
	const struct symbol_table *table = &state->table;
	const struct symbol_row *aliases, *best = row;
	size_t n;

	*name = symbols_display_name(symbols, symbol_table_name(table, row), !state->raw_names);
	if (state->raw_names || !table->n_aliases)
		return row;
	aliases = symbol_table_aliases(table, row->start, &n);
	for (size_t i = 0; i < n && i < ALIASES_MAX; i++) {
		const char *raw = symbol_table_name(table, &aliases[i]);
		const char *other = symbols_display_name(symbols, raw, true);

		if (is_better(other, raw, *name, symbol_table_name(table, best))) {
			best = &aliases[i];
			*name = other;
		}
	}
	return best;
}

/* The symbol of this number, or NULL. */
static const struct symbol *held_find(const struct dso_state *state, uint32_t number)
{
	uint64_t hash = hash_word(number);
	uint32_t i;

	if (INDEX_FIND(&state->held_index, hash, i, state->held_rows[i] == number))
		return &state->held[i]->symbol;
	return NULL;
}

static const struct symbol *hold(struct symbols *symbols, struct dso_state *state, uint32_t number,
				 const struct symbol *symbol)
{
	struct symbol_object *held = arena_alloc(&symbols->arena, sizeof(*held));

	*held = (struct symbol_object){ .symbol = *symbol };
	held->alone.symbol = &held->symbol;
	index_add(&state->held_index, hash_word(number), (uint32_t)state->n_held);
	VEC_GROW(state->held_rows, state->n_held, state->cap_held_rows);
	state->held_rows[state->n_held] = number;
	VEC_GROW(state->held, state->n_held, state->cap_held);
	state->held[state->n_held++] = held;
	return &held->symbol;
}

static const char bindings[] = {
	[SYMBOL_LOCAL] = 'l',
	[SYMBOL_WEAK] = 'w',
	[SYMBOL_GLOBAL] = 'g',
};

/* As best_alias: of the names at its start the best as people read them. */
static const char *best_recorded(struct symbols *symbols, const struct dso_state *state,
				 const struct embedded_function *function, const char **raw)
{
	const char *const *names = state->recorded->aliases + function->alias;
	bool demangled = !state->raw_names && !(function->kind & EMBEDDED_NAMELESS);
	const char *best = symbols_display_name(symbols, function->name, demangled);

	*raw = function->name;
	for (uint32_t i = 0; i < function->n_aliases && i <= ALIASES_MAX; i++) {
		const char *other = symbols_display_name(symbols, names[i], demangled);

		if (!is_better(other, names[i], best, *raw))
			continue;
		best = other;
		*raw = names[i];
	}
	return best;
}

/* i: of the dso's recorded functions. NULL: it has no name, and none is to be made. */
const struct symbol *held_recorded(struct symbols *symbols, struct dso_state *state, uint32_t i)
{
	const struct embedded_function *function = &state->recorded->functions[i];
	const struct symbol *found = held_find(state, HELD_RECORDED | i);
	unsigned binding = function->kind & EMBEDDED_BINDING;
	struct symbol symbol;

	if (found)
		return found;
	if (symbols->options.no_bounds && (function->kind & EMBEDDED_NAMELESS))
		return NULL;
	symbol = (struct symbol){ .dso = state->dso, .start = function->start, .end = function->end };
	symbol.name = best_recorded(symbols, state, function, &symbol.raw);
	symbol.binding = binding < sizeof(bindings) ? bindings[binding] : ' ';
	symbol.nameless = function->kind & EMBEDDED_NAMELESS;
	return hold(symbols, state, HELD_RECORDED | i, &symbol);
}

/* One object per function: what a file has may be in the recording, too. 1 + its number there; 0: it is not. */
static uint32_t recorded_at(const struct dso_state *state, uint64_t start, bool nameless)
{
	return state->recorded ? embedded_function_at(state->recorded, start, nameless) : 0;
}

/* The symbol of a row; addr and vaddr: one and the same place in it. */
const struct symbol *held_row(struct symbols *symbols, struct dso_state *state, const struct symbol_row *row,
			       uint64_t addr, uint64_t vaddr)
{
	uint32_t number = (uint32_t)(row - state->table.v);
	uint32_t recorded1 = recorded_at(state, addr - (vaddr - row->start), false);
	const struct symbol *found = held_find(state, number);
	const struct symbol_row *named;
	struct symbol symbol;

	if (found)
		return found;
	if (recorded1)
		return held_recorded(symbols, state, recorded1 - 1);
	symbol = (struct symbol){ .dso = state->dso,
				  .start = addr - (vaddr - row->start),
				  .end = addr - (vaddr - row->start) + row->size };
	named = best_alias(symbols, state, row, &symbol.name);
	symbol.raw = symbol_table_name(&state->table, named);
	symbol.binding = named->binding < sizeof(bindings) ? bindings[named->binding] : ' ';
	return hold(symbols, state, number, &symbol);
}

/* "[libz.so.1.2.13+0xab40]", "[vdso+0x9c0]" */
const struct symbol *held_bounds(struct symbols *symbols, struct dso_state *state,
				  const struct function_bounds *bounds, uint64_t addr, uint64_t vaddr)
{
	uint32_t number = HELD_BOUNDS | (uint32_t)(bounds - state->bounds.v);
	uint32_t recorded1 = recorded_at(state, addr - (vaddr - bounds->start), true);
	const struct symbol *found = held_find(state, number);
	const char *name = state->dso->name;
	struct str text = STR_INIT;
	struct symbol symbol;
	size_t len;

	if (found)
		return found;
	if (recorded1)
		return held_recorded(symbols, state, recorded1 - 1);
	symbol = (struct symbol){ .dso = state->dso,
				  .start = addr - (vaddr - bounds->start),
				  .end = addr - (vaddr - bounds->end),
				  .binding = ' ',
				  .nameless = true };
	name += name[0] == '[';
	len = strlen(name);
	str_addc(&text, '[');
	str_addn(&text, name, len && name[len - 1] == ']' ? len - 1 : len);
	str_addf(&text, "+0x%llx]", (unsigned long long)symbol.start);
	symbol.name = symbol.raw = arena_strndup(&symbols->arena, text.s, text.len);
	str_release(&text);
	return hold(symbols, state, number, &symbol);
}

const struct symbol *held_code(struct symbols *symbols, struct dso_state *state, uint32_t i)
{
	const struct code_event *event = &state->times->v[i];
	const struct symbol *found = held_find(state, HELD_CODES | i);
	struct symbol symbol;

	if (found)
		return found;
	symbol = (struct symbol){ .dso = state->dso, .start = event->start, .end = event->end, .binding = 'g' };
	symbol.raw = state->times->names + event->name;
	symbol.name = symbols_display_name(symbols, symbol.raw, false);
	return hold(symbols, state, HELD_CODES | i, &symbol);
}
