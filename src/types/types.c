/* SPDX-License-Identifier: MIT */
/*
 * types: the front: files and functions that were asked about, each opened, or made, once. What a reason says, and how
 * a place is called, is a row of states[].
 */
#include "profile/profile.h"
#include "types/types_internal.h"

#include <elf.h>
#include <stdlib.h>

enum { FUNCTION_BYTES_MAX = 1 << 20 }; /* what lies behind is TYPE_NO_CODE */

struct dso_types {
	struct dwarf_file *dwarf; /* NULL: none */
	struct unwind_cfas *cfas;
	bool tried;
};
struct symbol_types {
	const struct symbol *symbol;
	struct function_types types;
	uint8_t state; /* TYPE_DECLARED: types has them; else why there are none */
};
struct types {
	struct symbols *symbols;
	struct dso_types *dsos; /* by dso.index */
	size_t n_dsos;
	struct symbol_types *functions;
	size_t n_functions, cap_functions;
	struct index ix; /* of functions, by symbol */
	struct disasm *disasm; /* of the machine of the function before; NULL: none yet */
	uint16_t machine;
};

/* ---- what states are called ---- */

static const struct {
	const char *name; /* in place of a type's */
	const char *word; /* perf's, where it has one */
	const char *reason; /* NULL: it is none */
} states[TYPE_STATES] = {
	[TYPE_DECLARED] = { "(unknown)", NULL, NULL },
	[TYPE_FOLLOWED] = { "(unknown)", "insn_track", NULL },
	[TYPE_COMPARED] = { "(unknown)", NULL, NULL },
	[TYPE_WAITED] = { "(unknown)", "after_load", NULL },
	[TYPE_ADDRESSED] = { "(unknown)", "data_addr", NULL },
	[TYPE_STACK] = { "(stack operation)", NULL, NULL },
	[TYPE_CANARY] = { "(stack canary)", NULL, NULL },
	[TYPE_NO_ACCESS] = { "(unknown)", "no_mem_ops", "the instruction has no operand in memory" },
	[TYPE_NO_CODE] = { "(unknown)", "no_insn", "the instruction is not known" },
	[TYPE_NO_DEBUG] = { "(unknown)", "no_dbginfo", "the file has no debug information" },
	[TYPE_NO_FUNCTION] = { "(unknown)", "no_cuinfo", "the debug information has no function there" },
	[TYPE_NO_VARIABLE] = { "(unknown)", "no_var", "no variable tells what the address is of" },
	[TYPE_NO_SLOT] = { "(unknown)", "no_slot", "no variable is at that place of the stack" },
	[TYPE_THREAD] = { "(unknown)", "thread", "it is of the thread's own memory" },
	[TYPE_INCOMPLETE] = { "(unknown)", "no_typeinfo", "the type has no size" },
	[TYPE_OUTSIDE] = { "(unknown)", "bad_offset", "the offset is not within the type" },
};

const char *type_place_name(const struct type_place *place)
{
	return place->type ? place->type->name : states[place->state].name;
}

bool type_place_known(const struct type_place *place)
{
	return !states[place->state].reason;
}

const char *type_state_text(enum type_state state)
{
	return states[state].reason;
}

const char *type_state_word(enum type_state state)
{
	return states[state].word;
}

void type_place_add_offset(const struct type_place *place, struct str *out)
{
	str_addf(out, " +%#llx (", (unsigned long long)place->offset);
	if (!data_type_path(place->type, place->offset, out))
		str_add(out, "no field");
	str_addc(out, ')');
}

/* ---- open and close ---- */

struct types *types_new(struct symbols *symbols)
{
	struct types *types = xcalloc(1, sizeof(*types));

	types->symbols = symbols;
	return types;
}

void types_free(struct types *types)
{
	if (!types)
		return;
	for (size_t i = 0; i < types->n_dsos; i++)
		unwind_cfas_free(types->dsos[i].cfas);
	for (size_t i = 0; i < types->n_functions; i++)
		free(types->functions[i].types.v);
	free(types->dsos);
	free(types->functions);
	index_release(&types->ix);
	disasm_close(types->disasm);
	free(types);
}

static struct dso_types *dso_types_of(struct types *types, const struct dso *dso)
{
	struct str ignored = STR_INIT;
	struct dso_types *found;
	struct elf_file *file;

	VEC_REACH(types->dsos, types->n_dsos, dso->index);
	found = &types->dsos[dso->index];
	if (!found->tried) {
		found->tried = true;
		found->dwarf = symbols_dwarf(types->symbols, dso, &ignored);
		file = found->dwarf ? symbols_unwind_file(types->symbols, dso, &ignored) : NULL;
		found->cfas = file ? unwind_cfas_new(file) : NULL;
	}
	str_release(&ignored);
	return found;
}

/* ---- functions ---- */

struct naming {
	struct symbols *symbols;
	const struct dso *dso;
};

static const char *name_of(void *context, uint64_t shown, uint64_t *offset)
{
	const struct naming *naming = context;

	return symbols_name_of(naming->symbols, naming->dso, shown, offset);
}

static bool use_machine(struct types *types, uint16_t machine)
{
	struct str ignored = STR_INIT;

	if (!types->disasm || types->machine != machine) {
		disasm_close(types->disasm);
		types->disasm = disasm_open(machine, true, &ignored);
		types->machine = machine;
		str_release(&ignored);
	}
	return types->disasm;
}

static enum type_state make(struct types *types, const struct symbol *symbol, struct function_types *out)
{
	const struct dso_types *dso = dso_types_of(types, symbol->dso);
	uint64_t bytes = symbol->end - symbol->start;
	struct naming naming = { types->symbols, symbol->dso };
	struct symbol_code bytes_of = { 0 };
	struct str ignored = STR_INIT;
	struct function_code code = { .dwarf = dso->dwarf, .cfas = dso->cfas, .name_of = name_of, .context = &naming };
	enum type_state state = TYPE_NO_CODE;

	if (!dso->dwarf || !symbols_vaddr(types->symbols, symbol->dso, symbol->start, &code.vaddr))
		return TYPE_NO_DEBUG;
	if (bytes > FUNCTION_BYTES_MAX)
		bytes = FUNCTION_BYTES_MAX;
	if (!symbols_code(types->symbols, symbol->dso, symbol->start, 0, (size_t)bytes, &bytes_of, &ignored) &&
	    use_machine(types, bytes_of.machine)) {
		code.bytes = bytes_of.bytes;
		code.n = bytes_of.n;
		code.shown = bytes_of.shown;
		code.disasm = types->disasm;
		state = function_types_make(out, &code) ? TYPE_DECLARED : TYPE_NO_FUNCTION;
	}
	symbol_code_release(&bytes_of);
	str_release(&ignored);
	return state;
}

static struct symbol_types *symbol_types_of(struct types *types, const struct symbol *symbol)
{
	uint64_t hash = hash_word((uintptr_t)symbol);
	struct symbol_types *made;
	uint32_t i;

	if (INDEX_FIND(&types->ix, hash, i, types->functions[i].symbol == symbol))
		return &types->functions[i];
	index_add(&types->ix, hash, (uint32_t)types->n_functions);
	VEC_GROW(types->functions, types->n_functions, types->cap_functions);
	made = &types->functions[types->n_functions++];
	*made = (struct symbol_types){ .symbol = symbol };
	made->state = (uint8_t)make(types, symbol, &made->types);
	return made;
}

struct type_place types_at(struct types *types, const struct dso *dso, uint64_t addr, bool exact)
{
	const struct symbol *symbol = dso ? symbols_find(types->symbols, dso, addr) : NULL;
	const struct symbol_types *made = symbol ? symbol_types_of(types, symbol) : NULL;
	const struct function_types *found = made ? &made->types : NULL;
	uint64_t within = symbol ? addr - symbol->start : 0;
	struct type_place place = { .state = TYPE_NO_CODE };
	size_t at;

	if (!made)
		return place;
	if (made->state != TYPE_DECLARED)
		return (struct type_place){ .state = made->state };
	at = BISECT(i, 0, found->n, found->v[i].at <= within);
	if (at)
		place = found->v[at - 1].place;
	return exact && place.state == TYPE_WAITED ? (struct type_place){ .state = TYPE_NO_ACCESS } : place;
}

/* The variable at an address; false: there is none. */
static bool find_data(struct types *types, const struct dso *dso, uint64_t addr, struct type_place *place)
{
	struct dwarf_file *dwarf = dso ? dso_types_of(types, dso)->dwarf : NULL;
	struct data_found found;
	uint64_t vaddr;

	if (!dwarf || !symbols_vaddr(types->symbols, dso, addr, &vaddr) || !dwarf_global_at(dwarf, vaddr, &found))
		return false;
	*place = (struct type_place){ .writes = place->writes, .bytes = place->bytes };
	type_place_set(place, found, TYPE_ADDRESSED, false);
	return place->type;
}

struct type_place types_of_sample(struct types *types, const struct location_row *code, bool exact,
				  const struct location_row *data)
{
	struct type_place place = { .state = TYPE_NO_DEBUG }, of_data;

	/* Code made at run time is in no file that has debug information. */
	if (!code->code)
		place = types_at(types, code->dso, code->addr, exact);
	of_data = place;
	if (data && !data->code && !type_place_known(&place) && find_data(types, data->dso, data->addr, &of_data))
		return of_data;
	return place;
}
