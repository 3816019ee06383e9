/*
 * symbols: the front of sym/. One state per dso, its names read when the first address of it is asked for;
 * where frames are asked for one answer per distinct address, which is remembered until symbols_forget.
 *
 *   dso, addr -> answers (hash) -> symbol, frames    asked before, and not forgotten: one probe
 *                    | new
 *                    +-> vaddr -> symbol_table_find -> row -> held symbol (one per row)
 *
 * Where no row covers an address, the bounds of its function give it a symbol without a name of its own, so that
 * a stripped function is one, however many of its addresses were sampled.
 *
 * Symbols are made only for rows that were hit, so that names are demangled and made printable once each,
 * and a file with a million functions costs what its few hot ones do.
 */
#include "sym/cached_files.h"
#include "sym/code_times.h"
#include "sym/dso_cached.h"
#include "sym/dso_recorded.h"
#include "sym/symbol_objects.h"
#include "sym/kallsyms.h"
#include "sym/names_cache.h"

#include <stdlib.h>

struct symbols *symbols_new(const struct sym_options *options, const struct recording_info *recording)
{
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->options = *options;
	symbols->recording = recording;
	symbols->processes = processes_new(&symbols->options, recording);
	symbols->elf_files = elf_files_new();
	symbols->long_names = DEMANGLE_LONG_NAMES;
	symbols->cached = cached_files_new(&symbols->options);
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
	free(state->kcore);
	free(state->dump_rules);
	cached_names_free(state->cached);
	str_release(&state->cache_key);
	str_release(&state->cache_search);
	str_release(&state->list_told);
	str_release(&state->why);
	index_release(&state->answer_index);
	index_release(&state->held_index);
	index_release(&state->inlined_index);
	free(state->segments);
	free(state->source);
	free(state->recorded_source);
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
	for (size_t i = 0; i < symbols->n_states; i++) {
		if (!symbols->states[i])
			continue;
		dso_cached_keep(symbols, symbols->states[i]);
		kernel_names_keep(symbols, symbols->states[i]);
		state_free(symbols->states[i]);
	}
	free(symbols->states);
	free(symbols->found);
	names_cache_free(symbols->names_cache);
	processes_free(symbols->processes);
	elf_files_free(symbols->elf_files);
	cached_files_free(symbols->cached);
	embedded_names_free(symbols->recorded);
	module_names_free(symbols->modules);
	kernel_here_free(symbols->here);
	kallsyms_prefetch_drop(symbols->kernel_ahead);
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
		str_init(&state->cache_key);
		str_init(&state->cache_search);
		str_init(&state->list_told);
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
	if (state->state == SYM_UNTRIED && !dso_recorded_has(symbols, dso))
		kernel_names_expect(symbols, state);
}

/* A kernel maps its own vdso: the recording's kernel is known to be the one that runs, by its build-id. */
static bool vdso_is_here(struct symbols *symbols, const struct dso *dso)
{
	const struct dso_table *dsos = symbols->options.dsos;
	struct build_id id = recorded_kernel_id(symbols, dso);
	struct str ignored = STR_INIT;
	bool is_here;

	if (dso->kind != DSO_VDSO || dso->build_id.size)
		return false;
	for (size_t i = 0; dsos && i < dsos->n && !id.size; i++)
		if (dsos->v[i]->kind == DSO_KERNEL)
			id = recorded_kernel_id(symbols, dsos->v[i]);
	is_here = id.size && kernel_here_id(symbols)->size && kernel_is_here(symbols, &id, &ignored);
	str_release(&ignored);
	return is_here;
}

const struct dso_files *dso_state_files(struct symbols *symbols, struct dso_state *state)
{
	struct sym_options options;

	if (state->files_known)
		return &state->files;
	options = symbols->options;
	options.of_now |= vdso_is_here(symbols, state->dso);
	dso_files_find(&options, symbols->elf_files, symbols->cached, symbols->recording, symbols->processes,
		       state->dso, &state->files);
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

static const struct symbol *held_listed(struct symbols *symbols, struct dso_state *state,
					const struct embedded_addr *listed)
{
	const struct symbol *symbol =
		listed->function1 ? held_recorded(symbols, state, listed->function1 - 1) : NULL;

	/* As below. Of names in the recording nothing more is to be said than what was then. */
	state->missed |= state->cached && !symbol_has_name(symbol);
	return symbol;
}

/*
 * An exported name without a size covers what follows it by a guess: where other functions lie there, their
 * bounds are better.
 */
static const struct symbol *look_up(struct symbols *symbols, struct dso_state *state, uint64_t addr)
{
	const struct function_bounds *bounds = NULL;
	const struct symbol_row *row = NULL;
	const struct embedded_addr *listed;
	bool guess;
	uint64_t vaddr;

	listed = state->recorded ? embedded_addr_find(state->recorded, addr) : NULL;
	if (listed)
		return held_listed(symbols, state, listed);
	dso_state_load_files(symbols, state);
	if (dso_state_vaddr(state, addr, &vaddr)) {
		if (state->state == SYM_FOUND)
			row = symbol_table_find(&state->table, vaddr);
		guess = row && row->open && state->only_exported;
		if (!row || guess)
			bounds = bounds_at(symbols, state, vaddr);
		if (guess && bounds && bounds->start > row->start)
			row = NULL;
		if (row)
			return held_row(symbols, state, row, addr, vaddr);
	}
	state->missed = true;
	return bounds ? held_bounds(symbols, state, bounds, addr, vaddr) : NULL;
}

struct addr_answer *symbols_answer(struct symbols *symbols, struct dso_state *state, uint64_t addr)
{
	uint64_t hash = hash_word(addr);
	const struct symbol *symbol;
	uint32_t i;

	if (INDEX_FIND(&state->answer_index, hash, i, state->answers[i].addr == addr))
		return &state->answers[i];
	symbol = look_up(symbols, state, addr);
	index_add(&state->answer_index, hash, (uint32_t)state->n_answers);
	VEC_GROW(state->answers, state->n_answers, state->cap_answers);
	state->answers[state->n_answers] = (struct addr_answer){ .addr = addr, .symbol = symbol };
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

void symbols_keep(struct symbols *symbols, const uint32_t *now)
{
	size_t n = symbols->n_states;

	free(symbols->found);
	symbols->found = NULL;
	symbols->n_states = 0;
	for (size_t i = 0; i < n; i++) {
		struct dso_state *state = symbols->states[i];

		if (now[i] != DSO_DROPPED) {
			symbols->states[symbols->n_states++] = state;
		} else if (state) {
			symbols->n_answers -= state->n_answers;
			symbols->n_leftovers += state->files_known || state->n_held;
			state_free(state);
		}
	}
}

size_t symbols_leftovers(const struct symbols *symbols)
{
	return symbols->n_leftovers;
}

size_t symbols_forgettable(const struct symbols *symbols)
{
	return symbols->n_answers * sizeof(struct addr_answer) + symbols->frames.bytes;
}

/*
 * Who asks for no more remembers what he got: an answer would cost more than it spares, but for what the cache is to
 * have. A live view forgets, and soon asks again for much of it; by then nothing of a large table is near, and this is
 * one place to look at instead of a search in it.
 */
struct found_symbol {
	const struct dso_state *state; /* NULL: empty */
	uint64_t addr;
	const struct symbol *symbol;
};
enum { FOUND_BITS_LEAST = 10, FOUND_BITS_MOST = 14 };

/* Empty: as large as what is asked needs, for each page of it is a fault at first. */
static void renew_found(struct symbols *symbols)
{
	symbols->found_bits = symbols->found ? symbols->found_bits + 2 : FOUND_BITS_LEAST;
	free(symbols->found);
	symbols->found = xcalloc(1u << symbols->found_bits, sizeof(*symbols->found));
	symbols->n_looked_up = 0;
}

static const struct symbol *find_again(struct symbols *symbols, struct dso_state *state, uint64_t addr)
{
	uint64_t hash = hash_word(addr ^ (uintptr_t)state);
	struct found_symbol *found;

	if (!symbols->found ||
	    (symbols->n_looked_up >> symbols->found_bits && symbols->found_bits < FOUND_BITS_MOST))
		renew_found(symbols);
	found = &symbols->found[hash >> (64 - symbols->found_bits)];
	if (found->state != state || found->addr != addr) {
		*found = (struct found_symbol){ state, addr, look_up(symbols, state, addr) };
		symbols->n_looked_up++;
	}
	return found->symbol;
}

const struct symbol *symbols_find(struct symbols *symbols, const struct dso *dso, uint64_t addr)
{
	struct dso_state *state = symbols_loaded(symbols, dso);

	if (dso_cached_wants(symbols, state))
		return symbols_answer(symbols, state, addr)->symbol;
	if (dso->kind == DSO_ANON) /* its compiler may put other code there */
		return look_up(symbols, state, addr);
	return find_again(symbols, state, addr);
}

struct frame_list symbols_frames(struct symbols *symbols, const struct dso *dso, uint64_t addr,
				 unsigned want)
{
	struct dso_state *state = symbols_loaded(symbols, dso);
	struct addr_answer *answer = symbols_answer(symbols, state, addr);
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
	const struct symbol *found;

	if (!times || !code || code > times->n) /* SYM_CODE_GONE as well */
		return (struct frame_list){ &symbols->unknown, 1 };
	found = held_code(symbols, state, code - 1);
	return (struct frame_list){ &((const struct symbol_object *)(const void *)found)->alone, 1 };
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

struct elf_file *symbols_debug_file(struct symbols *symbols, const struct dso *dso)
{
	const struct dso_files *files = dso_state_files(symbols, state_of(symbols, dso));
	struct str ignored = STR_INIT;
	struct elf_file *file = NULL;

	if (files->debug && !elf_files_open(symbols->elf_files, files->debug, &file, &ignored))
		elf_file_let_go(file);
	else
		file = NULL;
	str_release(&ignored);
	return file;
}

bool symbols_kernel_runs(struct symbols *symbols, const struct dso *dso, struct str *why)
{
	struct build_id id = recorded_kernel_id(symbols, dso);

	return kernel_is_here(symbols, &id, why);
}

/* ---- what is known of a dso: nothing is looked for here ---- */

static const struct dso_state *state_peek(const struct symbols *symbols, const struct dso *dso)
{
	return dso->index < symbols->n_states ? symbols->states[dso->index] : NULL;
}

size_t symbols_bytes(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_state *state = state_peek(symbols, dso);

	if (!state)
		return 0;
	return sizeof(*state) + state->table.names.cap + state->table.cap * sizeof(*state->table.v) +
	       state->table.cap_aliases * sizeof(*state->table.aliases) + state->bounds.cap * sizeof(*state->bounds.v);
}

enum sym_state symbols_state(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_state *state = state_peek(symbols, dso);

	return state ? state->state : SYM_UNTRIED;
}

static bool lacks_names(const struct dso_state *state)
{
	return state->only_exported && state->missed;
}

const char *symbols_why(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_state *state = state_peek(symbols, dso);

	if (state && !state->why.len && lacks_names(state))
		return state->files.why.len ? state->files.why.s : "stripped: only exported names";
	return state ? state->why.s : "";
}

bool symbols_hidden(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_state *state = state_peek(symbols, dso);

	return state && state->state == SYM_NONE && state->hidden;
}

const char *symbols_remedy(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_state *state = state_peek(symbols, dso);

	if (state && !state->remedy && lacks_names(state))
		return state->files.remedy ? state->files.remedy : "install its debug package";
	return state ? state->remedy : NULL;
}

const char *symbols_source(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_state *state = state_peek(symbols, dso);

	return !state ? NULL : state->recorded && !state->cached ? state->recorded_source : state->source;
}

/* ---- the cache of names, also for what others keep in it: the unwind rows of large files ---- */

struct names_cache *symbols_names_cache(struct symbols *symbols)
{
	if (!symbols->names_cache && symbols->options.keep_answers)
		symbols->names_cache = names_cache_new();
	return symbols->names_cache;
}

bool symbols_cached_read(struct symbols *symbols, const struct build_id *id, const struct str *key, struct str *bytes)
{
	struct names_cache *cache = symbols_names_cache(symbols);

	return cache && names_cache_read(cache, id, key, bytes);
}

void symbols_cached_write(struct symbols *symbols, const struct build_id *id, const struct str *key,
			  const struct str *bytes)
{
	struct names_cache *cache = symbols_names_cache(symbols);

	if (cache)
		names_cache_write(cache, id, key, bytes);
}
