/* SPDX-License-Identifier: MIT */
/*
 * symbols: the front of sym/. Each dso has its names (dso_names.h), loaded when the first address of it is asked for;
 * where frames are asked for one answer per distinct address, which is remembered until symbols_forget.
 *
 *   dso, addr -> answers (hash) -> symbol, frames    asked before, and not forgotten: one probe
 *                    | new
 *                    +-> sources of the dso, in their order -> symbol (one object per function)
 */
#include "sym/cached_files.h"
#include "sym/code_times.h"
#include "sym/kallsyms.h"
#include "sym/names_cache.h"
#include "sym/source_cached.h"

#include <errno.h>
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

static void keep(struct symbols *symbols, struct dso_names *names)
{
	for (unsigned i = 0; i < names->n_slots; i++)
		if (names->slots[i].source->keep)
			names->slots[i].source->keep(symbols, names, &names->slots[i]);
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->n_names; i++) {
		if (!symbols->names[i])
			continue;
		keep(symbols, symbols->names[i]);
		dso_names_free(symbols->names[i]);
	}
	free(symbols->names);
	free(symbols->found);
	names_cache_free(symbols->names_cache);
	processes_free(symbols->processes);
	elf_files_free(symbols->elf_files);
	cached_files_free(symbols->cached);
	embedded_names_free(symbols->embedded);
	simpleperf_names_free(symbols->simpleperf);
	module_names_free(symbols->modules);
	kernel_here_free(symbols->here);
	kallsyms_prefetch_drop(symbols->kernel_ahead);
	arena_release(&symbols->arena);
	arena_release(&symbols->frames);
	free(symbols);
}

/* ---- names of dsos ---- */

static struct dso_names *names_of(struct symbols *symbols, const struct dso *dso)
{
	while (symbols->n_names <= dso->index) {
		VEC_GROW(symbols->names, symbols->n_names, symbols->cap_names);
		symbols->names[symbols->n_names++] = NULL;
	}
	if (!symbols->names[dso->index])
		symbols->names[dso->index] = dso_names_new(dso);
	return symbols->names[dso->index];
}

struct dso_names *symbols_loaded(struct symbols *symbols, const struct dso *dso)
{
	struct dso_names *names = names_of(symbols, dso);

	if (names->state == SYM_UNTRIED) {
		symbols_progress(symbols, "reading symbols of", dso->name);
		dso_names_load(symbols, names);
	}
	return names;
}

void symbols_expect(struct symbols *symbols, const struct dso *dso)
{
	struct dso_names *names;

	if (dso->kind != DSO_KERNEL || symbols->kernel_ahead || symbols->options.kernel_late)
		return;
	names = names_of(symbols, dso);
	if (names->state == SYM_UNTRIED && !source_embedded_has(symbols, dso))
		source_kernel_expect(symbols, names);
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

static const struct symbol *look_up(struct symbols *symbols, struct dso_names *names, uint64_t addr)
{
	const struct symbol *symbol;

	for (unsigned i = 0; i < names->n_slots; i++) {
		struct names_slot *slot = &names->slots[i];

		if (i >= names->n_asked)
			dso_names_load_rest(symbols, names);
		if (slot->source->find && slot->source->find(symbols, names, slot, addr, &symbol))
			return symbol;
	}
	names->missed = true;
	return NULL;
}

struct addr_answer *symbols_answer(struct symbols *symbols, struct dso_names *names, uint64_t addr)
{
	uint64_t hash = hash_word(addr);
	const struct symbol *symbol;
	uint32_t i;

	if (INDEX_FIND(&names->answer_index, hash, i, names->answers[i].addr == addr))
		return &names->answers[i];
	symbol = look_up(symbols, names, addr);
	index_add(&names->answer_index, hash, (uint32_t)names->n_answers);
	VEC_GROW(names->answers, names->n_answers, names->cap_answers);
	names->answers[names->n_answers] = (struct addr_answer){ .addr = addr, .symbol = symbol };
	symbols->n_answers++;
	return &names->answers[names->n_answers++];
}

/* Not just emptied: a recording may have a dso for each of its processes. */
static void forget_answers(struct dso_names *names)
{
	free(names->answers);
	names->answers = NULL;
	names->n_answers = names->cap_answers = 0;
	index_release(&names->answer_index);
}

void symbols_forget(struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->n_names; i++)
		if (symbols->names[i])
			forget_answers(symbols->names[i]);
	arena_reset(&symbols->frames);
	symbols->n_answers = 0;
}

void symbols_keep(struct symbols *symbols, const uint32_t *now)
{
	size_t n = symbols->n_names;

	free(symbols->found);
	symbols->found = NULL;
	symbols->n_names = 0;
	for (size_t i = 0; i < n; i++) {
		struct dso_names *names = symbols->names[i];

		if (now[i] != DSO_DROPPED) {
			symbols->names[symbols->n_names++] = names;
		} else if (names) {
			symbols->n_answers -= names->n_answers;
			symbols->n_leftovers += names->files_known || names->n_objects;
			dso_names_free(names);
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
 * Symbols that were found for addresses of which nothing else is remembered: callers that ask for symbols alone
 * remember them, and an answer would cost more than it spares, but for what the cache is to have. A live view forgets,
 * and soon asks again for many of them; by then nothing of a large table is near, and this is one place to look at
 * instead of a search in it.
 */
struct found_symbol {
	const struct dso_names *names; /* NULL: empty */
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

static const struct symbol *find_again(struct symbols *symbols, struct dso_names *names, uint64_t addr)
{
	uint64_t hash = hash_word(addr ^ (uintptr_t)names);
	struct found_symbol *found;

	if (!symbols->found ||
	    (symbols->n_looked_up >> symbols->found_bits && symbols->found_bits < FOUND_BITS_MOST))
		renew_found(symbols);
	found = &symbols->found[hash >> (64 - symbols->found_bits)];
	if (found->names != names || found->addr != addr) {
		*found = (struct found_symbol){ names, addr, look_up(symbols, names, addr) };
		symbols->n_looked_up++;
	}
	return found->symbol;
}

const struct symbol *symbols_find(struct symbols *symbols, const struct dso *dso, uint64_t addr)
{
	struct dso_names *names = symbols_loaded(symbols, dso);

	if (source_cached_wants(symbols, names))
		return symbols_answer(symbols, names, addr)->symbol;
	if (dso->kind == DSO_ANON) /* its compiler may put other code there */
		return look_up(symbols, names, addr);
	return find_again(symbols, names, addr);
}

/* ---- frames ---- */

static void set_frames(struct symbols *symbols, struct dso_names *names, struct addr_answer *answer,
		       const struct dwarf_inline *inlines, size_t n)
{
	struct frame *frames = arena_alloc(&symbols->frames, n * sizeof(*frames));

	for (size_t i = 0; i < n; i++) {
		bool last = i + 1 == n;

		frames[i].line = inlines[i].line;
		frames[i].symbol = last ? answer->symbol :
					  symbol_object_inlined(symbols, names, &inlines[i], answer->symbol);
	}
	answer->frames = frames;
	answer->n_frames = (uint32_t)n;
}

/*
 * The last frame is always the symbol, whatever DWARF calls the function: what was counted for an address with and
 * without --inline stays under one name. Just the symbol is a frame that lies beside it, so that most addresses need
 * none of their own.
 */
void symbols_fill_frames(struct symbols *symbols, struct dso_names *names, struct addr_answer *answer, bool lines)
{
	const struct frames_request request = {
		.answer = answer, .inlined = !symbols->options.no_inlines && answer->symbol, .lines = lines,
	};
	struct dwarf_inline inlines[INLINES_MAX];
	bool found = !request.inlined && !lines;
	size_t n = 0;

	answer->has_lines = lines;
	answer->frames = symbol_object_alone(symbols, answer->symbol);
	answer->n_frames = 1;
	for (unsigned i = 0; i < names->n_slots && !found; i++) {
		struct names_slot *slot = &names->slots[i];

		found = slot->source->frames && slot->source->frames(symbols, names, slot, &request, inlines, &n);
	}
	if (n > 1 || (n && lines))
		set_frames(symbols, names, answer, inlines, n);
}

struct frame_list symbols_frames(struct symbols *symbols, const struct dso *dso, uint64_t addr,
				 unsigned want)
{
	struct dso_names *names = symbols_loaded(symbols, dso);
	struct addr_answer *answer = symbols_answer(symbols, names, addr);
	bool lines = want & SYM_LINES;

	if (!answer->frames || (lines && !answer->has_lines))
		symbols_fill_frames(symbols, names, answer, lines);
	return (struct frame_list){ answer->frames, answer->n_frames };
}

/* ---- code made at run time, by its time ---- */

/* The names of code made at run time, loaded once the recording says what is asked for; NULL: it is none. */
static struct dso_names *code_names(struct symbols *symbols, const struct dso *dso,
				    bool (*has)(const struct symbols *symbols, const struct dso *dso))
{
	struct dso_names *names = dso->kind == DSO_ANON ? names_of(symbols, dso) : NULL;

	if (names && names->state == SYM_UNTRIED && has(symbols, dso))
		symbols_loaded(symbols, dso);
	return names;
}

/* NULL: not told apart, now or at all. */
static const struct code_times *times_of(struct symbols *symbols, const struct dso *dso)
{
	const struct dso_names *names = code_names(symbols, dso, code_has_times);

	return names ? names->times : NULL;
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

struct frame_list symbols_code_frames(struct symbols *symbols, const struct dso *dso, uint64_t addr, uint32_t code,
				      unsigned want)
{
	struct dso_names *names = names_of(symbols, dso);
	const struct code_times *times = names->times;
	const struct symbol *found;
	struct source_line line;
	struct frame *frame;

	if (!times || !code || code > times->n) /* SYM_CODE_GONE as well */
		return (struct frame_list){ &symbols->unknown, 1 };
	found = code_symbol(symbols, names, code - 1);
	if (!(want & SYM_LINES) || !code_line(names, addr, code, &line))
		return (struct frame_list){ symbol_object_alone(symbols, found), 1 };
	frame = arena_alloc(&symbols->frames, sizeof(*frame));
	*frame = (struct frame){ found, line };
	return (struct frame_list){ frame, 1 };
}

bool symbols_code_piece(struct symbols *symbols, const struct dso *dso, uint64_t addr, uint64_t time_ns,
			struct code_piece *piece)
{
	const struct dso_names *names = code_names(symbols, dso, code_has_dump);

	return names && code_piece(names, addr, time_ns, piece);
}

bool symbols_code_unwind(struct symbols *symbols, const struct dso *dso, const struct code_piece *piece,
			 struct str *eh_frame)
{
	const struct dso_names *names = code_names(symbols, dso, code_has_dump);

	return names && code_unwind(names, piece, eh_frame);
}

/* ---- the code itself, for those who disassemble ---- */

void symbol_code_release(struct symbol_code *code)
{
	free(code->bytes);
	free(code->from);
	*code = (struct symbol_code){ 0 };
}

int symbols_code(struct symbols *symbols, const struct dso *dso, uint64_t addr, uint32_t code, size_t n,
		 struct symbol_code *out, struct str *why)
{
	struct dso_names *names = symbols_loaded(symbols, dso);
	int rc = 1;

	dso_names_load_rest(symbols, names);
	*out = (struct symbol_code){ .bytes = xmalloc(n + 1), .n = n };
	for (unsigned i = 0; i < names->n_slots && rc > 0; i++) {
		struct names_slot *slot = &names->slots[i];

		if (slot->source->code)
			rc = slot->source->code(symbols, names, slot, addr, code, out, why);
	}
	if (rc > 0)
		rc = fail(why, -ENOENT, "%s",
			  dso->kind == DSO_BPF ? "the code of BPF programs is not in the recording, and in no file"
					       : "its code is in no file of this machine");
	if (rc)
		symbol_code_release(out);
	return rc;
}

bool symbols_addr_of(struct symbols *symbols, const struct dso *dso, uint64_t shown, uint64_t *addr)
{
	struct dso_names *names = symbols_loaded(symbols, dso);
	const struct names_table *table;
	struct elf_file file;

	dso_names_load_rest(symbols, names);
	table = dso_names_table(names);
	if (table && table->n_segments) {
		file = (struct elf_file){ .segments = table->segments, .n_segments = table->n_segments };
		return elf_file_offset(&file, shown, addr);
	}
	*addr = shown + (table ? table->slide : 0);
	return true;
}

const char *symbols_name_of(struct symbols *symbols, const struct dso *dso, uint64_t shown, uint64_t *offset)
{
	struct dso_names *names = symbols_loaded(symbols, dso);
	const struct names_table *table;

	dso_names_load_rest(symbols, names);
	table = dso_names_table(names);
	return table ? names_table_name(symbols, names, table, shown, offset) : NULL;
}

/* ---- files of a dso, and its kernel ---- */

struct elf_file *symbols_elf_file(struct symbols *symbols, const struct dso *dso, struct str *why)
{
	const struct dso_files *files = dso_names_files(symbols, names_of(symbols, dso));
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

const char *symbols_kernel_file(struct symbols *symbols, const struct dso *dso)
{
	const char *origin = dso->kind == DSO_KERNEL ? symbols_loaded(symbols, dso)->origin : NULL;
	const struct dso_files *files = origin ? dso_names_files(symbols, names_of(symbols, dso)) : NULL;

	return files && (text_same(origin, files->runtime) || text_same(origin, files->debug)) ? origin : NULL;
}

struct elf_file *symbols_debug_file(struct symbols *symbols, const struct dso *dso)
{
	const struct dso_files *files = dso_names_files(symbols, names_of(symbols, dso));
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

static const struct dso_names *peek(const struct symbols *symbols, const struct dso *dso)
{
	return dso->index < symbols->n_names ? symbols->names[dso->index] : NULL;
}

size_t symbols_bytes(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_names *names = peek(symbols, dso);
	size_t bytes = sizeof(*names);

	if (!names)
		return 0;
	for (unsigned i = 0; i < names->n_slots; i++) {
		const struct names_table *table = names->slots[i].table;

		if (table)
			bytes += sizeof(*table) + table->table.names.cap + table->table.cap * sizeof(*table->table.v) +
				 table->table.cap_aliases * sizeof(*table->table.aliases) +
				 table->bounds.cap * sizeof(*table->bounds.v);
	}
	return bytes;
}

enum sym_state symbols_state(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_names *names = peek(symbols, dso);

	return names ? names->state : SYM_UNTRIED;
}

static bool lacks_names(const struct dso_names *names)
{
	return names->only_exported && names->missed;
}

const char *symbols_why(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_names *names = peek(symbols, dso);

	if (names && !names->why.len && lacks_names(names))
		return names->files.why.len ? names->files.why.s : "stripped: only exported names";
	return names ? names->why.s : "";
}

bool symbols_hidden(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_names *names = peek(symbols, dso);

	return names && names->state == SYM_NONE && names->hidden;
}

const char *symbols_remedy(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_names *names = peek(symbols, dso);

	if (names && !names->remedy && lacks_names(names))
		return names->files.remedy ? names->files.remedy : "install its debug package";
	return names ? names->remedy : NULL;
}

const char *symbols_source(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_names *names = peek(symbols, dso);
	const char *embedded = names ? source_embedded_origin(names) : NULL;

	return !names || embedded ? embedded : names->origin;
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
