/*
 * dso_frames: the functions that were inlined at an address, and its lines, from the file's DWARF.
 *
 * The last frame is always the symbol of the table, whatever DWARF calls the function: what was counted for
 * an address with and without --inline stays under one name. DWARF is opened only for a dso whose frames are
 * asked for, in the debug file first, and in the file itself where that has none.
 *
 * An inlined function is one object per name and function around it, so that pointers can be compared.
 */
#include "sym/dso_cached.h"
#include "sym/dso_recorded.h"

#include <errno.h>

enum { INLINES_MAX = 128 };

/* ---- DWARF ---- */

/* What was there and is not read; of what speaks against the names it is the last. */
static void doubt(struct dso_state *state, const char *why)
{
	str_add(&state->why, state->why.len ? "; " : "");
	str_add_printable(&state->why, why, strlen(why));
}

/* What the file ran from may be the debug file itself. */
void dwarf_opened_find(struct elf_files *elf_files, const struct dso_files *files, const struct sym_options *options,
		       struct dwarf_opened *opened)
{
	const char *const paths[] = { files->debug, files->runtime };
	struct str err = STR_INIT;

	*opened = (struct dwarf_opened){ .tried = true, .doubt = STR_INIT };
	for (size_t i = 0; i < ARRAY_SIZE(paths) && !opened->dwarf; i++) {
		int rc;

		if (!paths[i] || (i && paths[0] && !strcmp(paths[0], paths[1])))
			continue;
		rc = dwarf_file_open(elf_files, paths[i], files->runtime, options, &opened->dwarf, &err);
		opened->unsure |= rc && rc != -ENODATA;
		if (rc == -EFBIG) {
			str_add(&opened->doubt, opened->doubt.len ? "; " : "");
			str_add(&opened->doubt, err.s);
		}
		str_reset(&err);
	}
	str_release(&err);
}

void dso_state_take_dwarf(struct symbols *symbols, struct dso_state *state, struct dwarf_opened *opened)
{
	state->dwarf_tried = true;
	state->dwarf = opened->dwarf;
	state->unsure |= opened->unsure;
	if (state->dwarf)
		dwarf_file_read_from(state->dwarf, symbols->elf_files);
	if (opened->doubt.len)
		doubt(state, opened->doubt.s);
	str_release(&opened->doubt);
}

static struct dwarf_file *dwarf_of(struct symbols *symbols, struct dso_state *state)
{
	struct dwarf_opened opened;

	if (state->dwarf_tried)
		return state->dwarf;
	state->dwarf_tried = true;
	if (!state->from_elf && state->dso->kind != DSO_MODULE)
		return NULL;
	symbols_progress(symbols, "reading debug information of", state->dso->name);
	/* A module's names are not from its file, mostly. */
	dwarf_opened_find(symbols->elf_files, dso_state_files(symbols, state), &symbols->options, &opened);
	dso_state_take_dwarf(symbols, state, &opened);
	return state->dwarf;
}

/* ---- frames ---- */

static const struct symbol *hold_inlined(struct symbols *symbols, struct dso_state *state,
					 const char *raw, const struct symbol *in)
{
	uint64_t hash = hash_bytes(raw, strlen(raw)) ^ hash_word((uintptr_t)in);
	struct symbol *symbol;
	uint32_t i;

	if (INDEX_FIND(&state->inlined_index, hash, i,
		       state->inlined_in[i] == in && !strcmp(state->inlined[i]->raw, raw)))
		return state->inlined[i];
	symbol = arena_alloc(&symbols->arena, sizeof(*symbol));
	*symbol = *in;
	symbol->raw = raw;
	symbol->name = symbols_display_name(symbols, raw, true);
	symbol->binding = ' ';
	symbol->inlined = true;
	index_add(&state->inlined_index, hash, (uint32_t)state->n_inlined);
	VEC_GROW(state->inlined_in, state->n_inlined, state->cap_inlined_in);
	state->inlined_in[state->n_inlined] = in;
	VEC_GROW(state->inlined, state->n_inlined, state->cap_inlined);
	state->inlined[state->n_inlined++] = symbol;
	return symbol;
}

/* Just the symbol: a frame that lies beside it, so that most addresses need none of their own. */
static void fill_alone(struct symbols *symbols, struct addr_answer *answer)
{
	const struct frame *alone = &symbols->unknown;

	if (answer->symbol)
		alone = &((const struct symbol_object *)(const void *)answer->symbol)->alone;
	answer->frames = alone;
	answer->n_frames = 1;
}

static void fill_frames(struct symbols *symbols, struct dso_state *state, struct addr_answer *answer,
			const struct dwarf_inline *inlines, size_t n)
{
	struct frame *frames = arena_alloc(&symbols->frames, n * sizeof(*frames));

	for (size_t i = 0; i < n; i++) {
		const char *name = inlines[i].name ? inlines[i].name : "[inlined]";
		bool last = i + 1 == n;

		frames[i].line = inlines[i].line;
		frames[i].symbol =
			last ? answer->symbol : hold_inlined(symbols, state, name, answer->symbol);
	}
	answer->frames = frames;
	answer->n_frames = (uint32_t)n;
}

/* Once for each file, when it is found out. */
static void tell_refused(struct dso_state *state)
{
	const char *why = dwarf_file_refused(state->dwarf);

	if (*why && !state->dwarf_refused)
		doubt(state, why);
	state->dwarf_refused = *why;
}

/* What is in the cache was asked less deeply. */
static bool is_shallow(const struct dso_state *state, const struct embedded_addr *listed, bool inlined, bool lines)
{
	enum answer_depth wanted = lines ? ANSWER_LINES : inlined ? ANSWER_INLINES : ANSWER_SYMBOL;

	return state->cached && dso_cached_depth(state, listed) < wanted;
}

static void forget_lines(struct dwarf_inline *inlines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		inlines[i].line = (struct source_line){ NULL, 0 };
}

/* False: neither the recording nor the cache lists the address. */
static bool fill_recorded(struct symbols *symbols, struct dso_state *state, struct addr_answer *answer, bool inlined,
			  bool lines)
{
	const struct embedded_dso *known =
		state->recorded ? state->recorded : state->cached_frames && state->cached ? state->cached->dso : NULL;
	const struct embedded_addr *listed = known ? embedded_addr_find(known, answer->addr) : NULL;
	struct dwarf_inline inlines[INLINES_MAX];
	size_t n;

	/* What was listed without a function was not asked for what is inlined into it. */
	if (!listed || (state->cached_frames && !listed->function1) || is_shallow(state, listed, inlined, lines))
		return false;
	n = embedded_inlines(known, listed, inlined, inlines, INLINES_MAX);
	if (state->cached && !lines) /* others may have asked for them */
		forget_lines(inlines, n);
	if (n > 1 || (n && lines))
		fill_frames(symbols, state, answer, inlines, n);
	return true;
}

void dso_frames_fill(struct symbols *symbols, struct dso_state *state, struct addr_answer *answer,
		     bool lines)
{
	struct dwarf_inline inlines[INLINES_MAX];
	bool inlined = !symbols->options.no_inlines && answer->symbol;
	struct dwarf_file *dwarf;
	uint64_t vaddr;
	size_t n = 0;

	answer->has_lines = lines;
	fill_alone(symbols, answer);
	if (state->dso->kind == DSO_MODULE && (inlined || lines))
		dso_cached_find_frames(symbols, state);
	if (fill_recorded(symbols, state, answer, inlined, lines))
		return;
	if (inlined || lines)
		dso_state_load_files(symbols, state);
	dwarf = inlined || lines ? dwarf_of(symbols, state) : NULL;
	if (!dwarf || !dso_state_elf_vaddr(state, answer->addr, &vaddr))
		return;
	if (inlined)
		n = dwarf_file_inlines(dwarf, vaddr, lines, inlines, INLINES_MAX);
	tell_refused(state);
	if (n <= 1) {
		inlines[0] = (struct dwarf_inline){ 0 };
		if (!lines || !dwarf_file_line(dwarf, vaddr, &inlines[0].line))
			return;
		n = 1;
	}
	fill_frames(symbols, state, answer, inlines, n);
}
