/*
 * symbols: the front of sym/. One state per dso, its names read when the first address of it is asked for;
 * one answer per distinct address, which is remembered until symbols_forget.
 *
 *   dso, addr -> answers (hash) -> symbol            asked before, and not forgotten: one probe
 *                    | new
 *                    +-> vaddr -> symbol_table_find -> row -> held symbol (one per row)
 *
 * Where no row covers an address, the bounds of its function give it a symbol without a name of its own, so that
 * a stripped function is one, however many of its addresses were sampled.
 *
 * Symbols are made only for rows that were hit, so that names are demangled and made printable once each,
 * and a file with a million functions costs what its few hot ones do.
 */
#include "sym/code_times.h"
#include "sym/dso_state.h"
#include "sym/kernel_list.h"

#include <stdlib.h>

enum { ALIASES_MAX = 64 };
/* More than rows of any table. Files have bounds, and code made at run time has times: one dso never both. */
#define HELD_BOUNDS ((uint32_t)1 << 31)
#define HELD_CODES HELD_BOUNDS

struct symbols *symbols_new(const struct sym_options *options, const struct recording_info *recording)
{
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->options = *options;
	symbols->recording = recording;
	symbols->processes = processes_new(&symbols->options, recording);
	symbols->elf_files = elf_files_new();
	return symbols;
}

static void state_free(struct dso_state *state)
{
	if (state->dwarf)
		dwarf_file_close(state->dwarf);
	if (state->files_known)
		dso_files_release(&state->files);
	symbol_table_release(&state->table);
	elf_bounds_release(&state->bounds);
	if (state->times)
		code_times_release(state->times);
	free(state->times);
	free(state->dump);
	free(state->dump_rules);
	str_release(&state->why);
	index_release(&state->answer_index);
	index_release(&state->held_index);
	index_release(&state->inlined_index);
	free(state->segments);
	free(state->source);
	free(state->answers);
	free(state->held);
	free(state->held_rows);
	free(state->inlined);
	free(state->inlined_in);
	free(state);
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->n_states; i++)
		if (symbols->states[i])
			state_free(symbols->states[i]);
	free(symbols->states);
	processes_free(symbols->processes);
	elf_files_free(symbols->elf_files);
	module_names_free(symbols->modules);
	kernel_here_free(symbols->here);
	kernel_list_drop(symbols->kernel_ahead);
	arena_release(&symbols->arena);
	arena_release(&symbols->frames);
	free(symbols);
}

/* ---- states ---- */

static struct dso_state *state_of(struct symbols *symbols, const struct dso *dso)
{
	struct dso_state *state;

	while (symbols->n_states <= dso->index) {
		VEC_GROW(symbols->states, symbols->n_states, symbols->cap_states);
		symbols->states[symbols->n_states++] = NULL;
	}
	state = symbols->states[dso->index];
	if (!state) {
		state = xcalloc(1, sizeof(*state));
		state->dso = dso;
		symbol_table_init(&state->table);
		str_init(&state->why);
		symbols->states[dso->index] = state;
	}
	return state;
}

struct dso_state *symbols_loaded(struct symbols *symbols, const struct dso *dso)
{
	struct dso_state *state = state_of(symbols, dso);

	if (state->state == SYM_UNTRIED) {
		symbols_progress(symbols, "reading symbols of", dso->name);
		dso_state_load(symbols, state);
	}
	return state;
}

void symbols_expect(struct symbols *symbols, const struct dso *dso)
{
	struct dso_state *state;

	if (dso->kind != DSO_KERNEL || symbols->kernel_ahead || symbols->options.kernel_late)
		return;
	state = state_of(symbols, dso);
	if (state->state == SYM_UNTRIED)
		kernel_names_expect(symbols, state);
}

const struct dso_files *dso_state_files(struct symbols *symbols, struct dso_state *state)
{
	if (!state->files_known)
		dso_files_find(&symbols->options, symbols->elf_files, symbols->recording,
			       symbols->processes, state->dso, &state->files);
	state->files_known = true;
	return &state->files;
}

void symbols_progress(const struct symbols *symbols, const char *what, const char *name)
{
	struct str text = STR_INIT;

	if (!symbols->options.progress)
		return;
	str_addf(&text, "%s ", what);
	str_add_printable(&text, name, strlen(name));
	symbols->options.progress(symbols->options.progress_context, text.s, -1);
	str_release(&text);
}

/* ---- symbols ---- */

bool dso_state_vaddr(const struct dso_state *state, uint64_t addr, uint64_t *vaddr)
{
	const struct elf_file file = {
		.segments = state->segments,
		.n_segments = state->n_segments,
	};

	if (state->n_segments)
		return elf_file_vaddr(&file, addr, vaddr);
	*vaddr = addr - state->slide;
	return true;
}

/* Modules are counted from where they were loaded, see elf_module_places. */
bool dso_state_elf_vaddr(const struct dso_state *state, uint64_t addr, uint64_t *vaddr)
{
	if (state->dso->kind != DSO_MODULE)
		return state->from_elf && dso_state_vaddr(state, addr, vaddr);
	*vaddr = addr - state->dso->start;
	return state->dso->start && addr >= state->dso->start;
}

const char *symbols_display_name(struct symbols *symbols, const char *raw, bool demangled)
{
	struct str text = STR_INIT, name = STR_INIT;
	const char *kept = raw;

	if (demangled && !symbols->options.no_demangle &&
	    demangle(raw, symbols->options.verbose, &text))
		str_add_printable(&name, text.s, text.len);
	else
		str_add_printable(&name, raw, strlen(raw));
	if (strcmp(name.s, raw) != 0)
		kept = arena_strndup(&symbols->arena, name.s, name.len);
	str_release(&text);
	str_release(&name);
	return kept;
}

/*
 * Of the names of one address the best is shown (see symbol_table.c), as people read them, and of equals the
 * file's first. Aliases come from equal functions that were merged, and from names in several languages.
 */
static const struct symbol_row *best_alias(struct symbols *symbols, const struct dso_state *state,
					   const struct symbol_row *row, const char **name)
{
	const char *names = state->table.names.s;
	const struct symbol_row *aliases, *best = row;
	size_t n;

	*name = symbols_display_name(symbols, names + row->name, !state->raw_names);
	if (state->raw_names || !state->table.n_aliases)
		return row;
	aliases = symbol_table_aliases(&state->table, row->start, &n);
	for (size_t i = 0; i < n && i < ALIASES_MAX; i++) {
		const char *other = symbols_display_name(symbols, names + aliases[i].name, true);
		bool first = aliases[i].name < best->name;

		if (symbol_name_is_better(other, *name) ||
		    (first && !symbol_name_is_better(*name, other))) {
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
	struct held_symbol *held = arena_alloc(&symbols->arena, sizeof(*held));

	*held = (struct held_symbol){ .symbol = *symbol };
	held->alone.symbol = &held->symbol;
	index_add(&state->held_index, hash_word(number), (uint32_t)state->n_held);
	VEC_GROW(state->held_rows, state->n_held, state->cap_held_rows);
	state->held_rows[state->n_held] = number;
	VEC_GROW(state->held, state->n_held, state->cap_held);
	state->held[state->n_held++] = held;
	return &held->symbol;
}

/* The symbol of a row; addr and vaddr: one and the same place in it. */
static const struct symbol *row_symbol(struct symbols *symbols, struct dso_state *state,
				       const struct symbol_row *row, uint64_t addr, uint64_t vaddr)
{
	static const char bindings[] = {
		[SYMBOL_LOCAL] = 'l',
		[SYMBOL_WEAK] = 'w',
		[SYMBOL_GLOBAL] = 'g',
	};
	uint32_t number = (uint32_t)(row - state->table.v);
	const struct symbol *found = held_find(state, number);
	const struct symbol_row *named;
	struct symbol symbol;

	if (found)
		return found;
	symbol = (struct symbol){ .dso = state->dso,
				  .start = addr - (vaddr - row->start),
				  .end = addr - (vaddr - row->start) + row->size };
	named = best_alias(symbols, state, row, &symbol.name);
	symbol.raw = state->table.names.s + named->name;
	symbol.binding = named->binding < sizeof(bindings) ? bindings[named->binding] : ' ';
	return hold(symbols, state, number, &symbol);
}

/* ---- functions without names ---- */

static const struct function_bounds *bounds_at(struct symbols *symbols, struct dso_state *state, uint64_t vaddr)
{
	bool has = state->dso->kind == DSO_FILE || state->dso->kind == DSO_VDSO;
	struct str err = STR_INIT;
	struct elf_file *file;

	if (symbols->options.no_bounds || !has || !state->files_known || !state->files.runtime)
		return NULL;
	if (!state->bounds_tried &&
	    !elf_files_open(symbols->elf_files, state->files.runtime, &file, &err)) {
		elf_bounds_read(file, &state->bounds);
		elf_file_let_go(file);
	}
	state->bounds_tried = true;
	str_release(&err);
	return elf_bounds_find(&state->bounds, vaddr);
}

/* "[libz.so.1.2.13+0xab40]", "[vdso+0x9c0]" */
static const struct symbol *bounds_symbol(struct symbols *symbols, struct dso_state *state,
					  const struct function_bounds *bounds, uint64_t addr, uint64_t vaddr)
{
	uint32_t number = HELD_BOUNDS | (uint32_t)(bounds - state->bounds.v);
	const struct symbol *found = held_find(state, number);
	const char *name = state->dso->name;
	struct str text = STR_INIT;
	struct symbol symbol;
	size_t len;

	if (found)
		return found;
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

/*
 * An exported name without a size covers what follows it by a guess: where other functions lie there, their
 * bounds are better.
 */
static const struct symbol *look_up(struct symbols *symbols, struct dso_state *state, uint64_t addr)
{
	const struct function_bounds *bounds = NULL;
	const struct symbol_row *row = NULL;
	bool guess;
	uint64_t vaddr;

	if (dso_state_vaddr(state, addr, &vaddr)) {
		if (state->state == SYM_FOUND)
			row = symbol_table_find(&state->table, vaddr);
		guess = row && row->open && state->only_exported;
		if (!row || guess)
			bounds = bounds_at(symbols, state, vaddr);
		if (guess && bounds && bounds->start > row->start)
			row = NULL;
		if (row)
			return row_symbol(symbols, state, row, addr, vaddr);
	}
	state->missed = true;
	return bounds ? bounds_symbol(symbols, state, bounds, addr, vaddr) : NULL;
}

struct answer *symbols_answer(struct symbols *symbols, struct dso_state *state, uint64_t addr)
{
	uint64_t hash = hash_word(addr);
	const struct symbol *symbol;
	uint32_t i;

	if (INDEX_FIND(&state->answer_index, hash, i, state->answers[i].addr == addr))
		return &state->answers[i];
	symbol = look_up(symbols, state, addr);
	index_add(&state->answer_index, hash, (uint32_t)state->n_answers);
	VEC_GROW(state->answers, state->n_answers, state->cap_answers);
	state->answers[state->n_answers] = (struct answer){ .addr = addr, .symbol = symbol };
	symbols->n_answers++;
	return &state->answers[state->n_answers++];
}

/* Not just emptied: a recording may have a dso for each of its processes. */
static void forget_answers(struct dso_state *state)
{
	free(state->answers);
	state->answers = NULL;
	state->n_answers = state->cap_answers = 0;
	index_release(&state->answer_index);
}

void symbols_forget(struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->n_states; i++)
		if (symbols->states[i])
			forget_answers(symbols->states[i]);
	arena_reset(&symbols->frames);
	symbols->n_answers = 0;
}

size_t symbols_forgettable(const struct symbols *symbols)
{
	return symbols->n_answers * sizeof(struct answer) + symbols->frames.bytes;
}

const struct symbol *symbols_find(struct symbols *symbols, const struct dso *dso, uint64_t addr)
{
	return symbols_answer(symbols, symbols_loaded(symbols, dso), addr)->symbol;
}

struct frame_list symbols_frames(struct symbols *symbols, const struct dso *dso, uint64_t addr,
				 unsigned want)
{
	struct dso_state *state = symbols_loaded(symbols, dso);
	struct answer *answer = symbols_answer(symbols, state, addr);
	bool lines = want & SYM_LINES;

	if (!answer->frames || (lines && !answer->has_lines))
		dso_frames_fill(symbols, state, answer, lines);
	return (struct frame_list){ answer->frames, answer->n_frames };
}

/* ---- code made at run time, by its time ---- */

/* NULL: not told apart, now or at all. */
static const struct code_times *times_of(struct symbols *symbols, const struct dso *dso)
{
	struct dso_state *state;

	if (dso->kind != DSO_ANON)
		return NULL;
	state = state_of(symbols, dso);
	if (state->state == SYM_UNTRIED && code_has_times(symbols, dso))
		symbols_loaded(symbols, dso);
	return state->times;
}

uint32_t symbols_code_at(struct symbols *symbols, const struct dso *dso, uint64_t addr, uint64_t time_ns)
{
	const struct code_times *times = times_of(symbols, dso);

	return times ? code_times_find(times, addr, time_ns) : 0;
}

uint32_t symbols_code_epoch(struct symbols *symbols, const struct dso *dso, uint64_t time_ns)
{
	const struct code_times *times = times_of(symbols, dso);

	return times ? code_times_epoch(times, time_ns) : 0;
}

struct frame_list symbols_code_frames(struct symbols *symbols, const struct dso *dso, uint32_t code)
{
	struct dso_state *state = state_of(symbols, dso);
	const struct code_times *times = state->times;
	uint32_t number = HELD_CODES | (code - 1);
	const struct symbol *found;
	struct symbol symbol;

	if (!times || !code || code > times->n) /* SYM_CODE_GONE as well */
		return (struct frame_list){ &symbols->unknown, 1 };
	found = held_find(state, number);
	if (!found) {
		const struct code_event *event = &times->v[code - 1];

		symbol = (struct symbol){ .dso = dso, .start = event->start, .end = event->end, .binding = 'g' };
		symbol.raw = times->names + event->name;
		symbol.name = symbols_display_name(symbols, symbol.raw, false);
		found = hold(symbols, state, number, &symbol);
	}
	return (struct frame_list){ &((const struct held_symbol *)(const void *)found)->alone, 1 };
}

/* ---- what is known of a dso ---- */

struct elf_file *symbols_elf_file(struct symbols *symbols, const struct dso *dso, struct str *why)
{
	const struct dso_files *files = dso_state_files(symbols, state_of(symbols, dso));
	struct elf_file *file;

	if (!files->runtime) {
		str_add(why, files->why.len ? files->why.s : "there is no file of it");
		return NULL;
	}
	if (elf_files_open(symbols->elf_files, files->runtime, &file, why))
		return NULL;
	elf_file_let_go(file);
	return file;
}
