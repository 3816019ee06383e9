/* SPDX-License-Identifier: MIT */
/*
 * annotation: one function, instruction by instruction: which part of its code is shown, where it is read, the texts
 * of its instructions, where they go, which lines and inlined functions they belong to, whose samples are theirs; then
 * the rows from top to bottom, and what each source line adds up to.
 *
 * A function may claim to be 100 MB long: at most ANNOTATE_BYTES_MAX are read. Where that is not all, the part with
 * most samples is: it begins at a sampled address, for that is where an instruction begins.
 *
 * Bytes that are no instruction, or one that is not known, are shown as they are (".byte 0x06"), until an instruction
 * begins again: so it goes on after data among the code, and the worst bytes cost a row each.
 *
 * A row of source comes before the first instruction of its line, and again whenever the line changes; a row of
 * inlined functions where the functions around an instruction are others than around the one before.
 */
#include "annotate/annotate_internal.h"

#include <errno.h>
#include <stdlib.h>

static struct annotate_cell *new_cells(struct annotation *annotation)
{
	size_t bytes = annotation->n_events * sizeof(struct annotate_cell);

	return memset(arena_alloc(&annotation->private->arena, bytes), 0, bytes);
}

static void add_cells(const struct annotation *annotation, struct annotate_cell *to, const struct annotate_cell *from)
{
	for (size_t i = 0; i < annotation->n_events; i++) {
		to[i].n_samples += from[i].n_samples;
		to[i].period += from[i].period;
	}
}

enum { NAME_COLUMNS = 6 }; /* of an instruction's name, as objdump has it */

/* ---- texts ---- */

/* The function or the data that an address as shown is in. */
static void name_target(struct annotation *annotation, struct annotate_instruction *instruction)
{
	const struct dso *dso = annotation->function->symbol->dso;
	struct symbols *symbols = annotation->private->session->symbols;
	const struct symbol *own = annotation->function->symbol, *symbol;
	uint64_t addr;

	if (!symbols_addr_of(symbols, dso, instruction->target, &addr)) {
		instruction->target_name = symbols_name_of(symbols, dso, instruction->target,
							   &instruction->target_offset);
		return;
	}
	symbol = addr >= own->start && addr < own->end ? own : symbols_find(symbols, dso, addr);
	if (!symbol)
		return;
	instruction->target_symbol = symbol;
	instruction->target_name = symbol->name;
	instruction->target_offset = addr - symbol->start;
}

static void add_target(struct str *out, const struct annotate_instruction *instruction)
{
	str_addf(out, "%llx", (unsigned long long)instruction->target);
	if (!instruction->target_name)
		return;
	str_addf(out, " <%s", instruction->target_name);
	if (instruction->target_offset)
		str_addf(out, "+0x%llx", (unsigned long long)instruction->target_offset);
	str_addc(out, '>');
}

/* How many bytes of the operands are in front of the last one. */
static size_t before_last(const char *operands)
{
	const char *comma = strrchr(operands, ',');

	if (!comma)
		return 0;
	comma++;
	return (size_t)(comma - operands) + strspn(comma, " ");
}

static void set_text(struct annotation *annotation, struct annotate_instruction *instruction,
		     const struct disasm_instruction *found, struct str *text)
{
	str_reset(text);
	str_add_printable(text, found->name, strlen(found->name));
	if (found->operands[0]) {
		str_pad(text, ' ', text->len < NAME_COLUMNS ? NAME_COLUMNS - text->len : 0);
		str_addc(text, ' ');
	}
	instruction->operands = (uint32_t)text->len;
	if (found->has_target && found->target_is_last_operand) {
		str_add_printable(text, found->operands, before_last(found->operands));
		add_target(text, instruction);
	} else {
		str_add_printable(text, found->operands, strlen(found->operands));
		if (found->has_target) {
			str_add(text, "  # ");
			add_target(text, instruction);
		}
	}
	instruction->text = arena_strndup(&annotation->private->arena, text->s, text->len);
}

static void set_bad_text(struct annotation *annotation, struct annotate_instruction *instruction, struct str *text)
{
	str_reset(text);
	str_add(text, ".byte  ");
	instruction->operands = (uint32_t)text->len;
	for (unsigned i = 0; i < instruction->n_bytes; i++)
		str_addf(text, "%s0x%02x", i ? ", " : "", instruction->bytes[i]);
	instruction->bad = true;
	instruction->text = arena_strndup(&annotation->private->arena, text->s, text->len);
}

/* ---- one after the other ---- */

static struct frame_list frames_at(const struct annotation *annotation, uint64_t addr)
{
	const struct annotate_function *function = annotation->function;
	struct symbols *symbols = annotation->private->session->symbols;

	if (function->code)
		return symbols_code_frames(symbols, function->symbol->dso, addr, function->code, SYM_LINES);
	return symbols_frames(symbols, function->symbol->dso, addr, SYM_LINES);
}

static void add_instruction(struct annotation *annotation, size_t *cap, struct disasm *disasm, uint64_t start,
			    size_t *at, struct str *text)
{
	const struct symbol_code *code = &annotation->private->code;
	struct disasm_instruction found;
	struct annotate_instruction *instruction;
	size_t left = code->n - *at;

	VEC_GROW(annotation->instructions, annotation->n_instructions, *cap);
	instruction = &annotation->instructions[annotation->n_instructions++];
	*instruction = (struct annotate_instruction){
		.addr = start + *at,
		.shown = code->shown + *at,
		.bytes = code->bytes + *at,
		.target_instruction = ANNOTATE_NONE,
		.frames = frames_at(annotation, start + *at),
	};
	if (disasm_next(disasm, instruction->bytes, left, instruction->shown, &found) && found.n_bytes &&
	    found.n_bytes <= left) {
		instruction->n_bytes = found.n_bytes;
		instruction->flow = found.flow;
		instruction->has_target = found.has_target;
		instruction->target = found.target;
		if (found.has_target)
			name_target(annotation, instruction);
		set_text(annotation, instruction, &found, text);
	} else {
		instruction->n_bytes = (uint8_t)disasm_unknown(disasm, instruction->bytes, left);
		set_bad_text(annotation, instruction, text);
	}
	*at += instruction->n_bytes;
}

/* The last instruction that begins at or before an address as shown; ANNOTATE_NONE: it is in none. */
static uint32_t instruction_at(const struct annotation *annotation, uint64_t shown)
{
	const struct annotate_instruction *v = annotation->instructions;
	size_t at = BISECT(i, 0, annotation->n_instructions, v[i].shown <= shown);

	if (!at || shown - v[at - 1].shown >= v[at - 1].n_bytes)
		return ANNOTATE_NONE;
	return (uint32_t)(at - 1);
}

static void link_jumps(struct annotation *annotation)
{
	for (size_t i = 0; i < annotation->n_instructions; i++) {
		struct annotate_instruction *instruction = &annotation->instructions[i];
		uint32_t to = ANNOTATE_NONE;

		if (instruction->flow == FLOW_JUMP && instruction->has_target)
			to = instruction_at(annotation, instruction->target);
		if (to == ANNOTATE_NONE)
			continue;
		instruction->target_instruction = to;
		annotation->instructions[to].n_jumps_here++;
	}
}

/* A sample between the starts of two instructions is the first one's. */
static void count_samples(struct annotation *annotation)
{
	const struct annotate_function *function = annotation->function;
	struct annotate_cell *none = new_cells(annotation);
	struct annotate_cell **own = xcalloc(annotation->n_instructions + 1, sizeof(*own));

	for (size_t i = 0; i < function->n_addresses; i++) {
		const struct annotate_address *address = &function->addresses[i];
		uint64_t into = address->addr - annotation->instructions[0].addr;
		uint32_t at = instruction_at(annotation, annotation->instructions[0].shown + into);

		if (at != ANNOTATE_NONE && !own[at])
			own[at] = new_cells(annotation);
		add_cells(annotation, at == ANNOTATE_NONE ? annotation->elsewhere : own[at],
				     address->cells);
	}
	for (size_t i = 0; i < annotation->n_instructions; i++)
		annotation->instructions[i].cells = own[i] ? own[i] : none;
	free(own);
}

void annotation_make_instructions(struct annotation *annotation, struct disasm *disasm, uint64_t start)
{
	struct str text = STR_INIT;
	size_t at = 0, cap = 0;

	while (at < annotation->private->code.n)
		add_instruction(annotation, &cap, disasm, start, &at, &text);
	link_jumps(annotation);
	str_release(&text);
	count_samples(annotation);
	annotation_count_cycles(annotation);
}

static bool same_line(const struct source_line *a, const struct source_line *b)
{
	return a->line == b->line && text_same(a->file, b->file);
}

/* Functions and places of call agree; the innermost one's own line may differ. */
static bool same_functions(const struct frame_list *a, const struct frame_list *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].symbol != b->v[i].symbol || (i && !same_line(&a->v[i].line, &b->v[i].line)))
			return false;
	return true;
}

static const char *text_of(struct annotation *annotation, const struct source_line *line)
{
	return line->file ? source_text(annotation->private->sources, line->file, line->line) : NULL;
}

static void add_row(struct annotation *annotation, size_t *cap, const struct annotate_row *row)
{
	VEC_GROW(annotation->rows, annotation->n_rows, *cap);
	annotation->rows[annotation->n_rows++] = *row;
}

void annotation_make_rows(struct annotation *annotation)
{
	static const struct source_line no_line;
	const struct annotate_instruction *v = annotation->instructions;
	const struct source_line *before = &no_line;
	bool sources = !annotation->private->options.no_source;
	size_t cap = 0;

	for (uint32_t i = 0; i < annotation->n_instructions; i++) {
		const struct source_line *line = &v[i].frames.v[0].line;
		bool moved = i ? !same_functions(&v[i - 1].frames, &v[i].frames) : v[i].frames.n > 1;
		struct annotate_row row = { .instruction = i, .line = *line };

		row.kind = ROW_INLINED;
		if (moved)
			add_row(annotation, &cap, &row);
		row.kind = ROW_SOURCE;
		if (sources && line->file && line->line && (moved || !same_line(line, before))) {
			row.text = text_of(annotation, line);
			add_row(annotation, &cap, &row);
		}
		row.kind = ROW_INSTRUCTION;
		row.text = NULL;
		add_row(annotation, &cap, &row);
		before = line;
	}
}

/* ---- sums by line ---- */

struct line_sums {
	struct annotation *annotation;
	struct annotate_cell **cells; /* by line; those of struct annotate_line */
	size_t cap, cap_cells;
	struct index by_line;
};

static size_t line_of(struct line_sums *sums, const struct source_line *line)
{
	struct annotation *annotation = sums->annotation;
	uint64_t hash = hash_word(line->line) ^ (line->file ? hash_bytes(line->file, strlen(line->file)) : 0);
	uint32_t i;

	if (INDEX_FIND(&sums->by_line, hash, i, same_line(&annotation->lines[i].line, line)))
		return i;
	index_add(&sums->by_line, hash, (uint32_t)annotation->n_lines);
	VEC_GROW(sums->cells, annotation->n_lines, sums->cap_cells);
	VEC_GROW(annotation->lines, annotation->n_lines, sums->cap);
	sums->cells[annotation->n_lines] = new_cells(annotation);
	annotation->lines[annotation->n_lines] = (struct annotate_line){
		.line = *line,
		.text = text_of(annotation, line),
		.cells = sums->cells[annotation->n_lines],
	};
	return annotation->n_lines++;
}

static bool has_samples(const struct annotation *annotation, const struct annotate_cell *cells)
{
	for (size_t i = 0; i < annotation->n_events; i++)
		if (cells[i].n_samples)
			return true;
	return false;
}

static int heavier_first(const void *a, const void *b, void *context)
{
	const struct annotate_line *x = a, *y = b;
	const struct annotation *annotation = context;

	for (size_t i = 0; i < annotation->n_events; i++)
		if (x->cells[i].period != y->cells[i].period)
			return x->cells[i].period > y->cells[i].period ? -1 : 1;
	if (!text_same(x->line.file, y->line.file))
		return !x->line.file ? 1 : !y->line.file ? -1 : strcmp(x->line.file, y->line.file);
	return x->line.line < y->line.line ? -1 : x->line.line > y->line.line;
}

void annotation_make_lines(struct annotation *annotation)
{
	struct line_sums sums = { .annotation = annotation };

	for (size_t i = 0; i < annotation->n_instructions; i++) {
		const struct annotate_instruction *instruction = &annotation->instructions[i];
		size_t line;

		if (!has_samples(annotation, instruction->cells))
			continue;
		line = line_of(&sums, &instruction->frames.v[0].line);
		add_cells(annotation, sums.cells[line], instruction->cells);
	}
	if (annotation->n_lines)
		qsort_r(annotation->lines, annotation->n_lines, sizeof(*annotation->lines), heavier_first, annotation);
	free(sums.cells);
	index_release(&sums.by_line);
}

/* ---- which part ---- */

/* The start of the ANNOTATE_BYTES_MAX that have the most samples of the first event. */
static uint64_t hottest_part(const struct annotate_function *function)
{
	const struct annotate_address *v = function->addresses;
	uint64_t best = function->symbol->start, most = 0, sum = 0;

	for (size_t first = 0, end = 0; first < function->n_addresses; first++) {
		for (; end < function->n_addresses && v[end].addr - v[first].addr < ANNOTATE_BYTES_MAX; end++)
			sum += v[end].cells[0].n_samples;
		if (sum > most) {
			most = sum;
			best = v[first].addr;
		}
		sum -= v[first].cells[0].n_samples;
	}
	return best;
}

/* The part to read, [*start, *start + *n). */
static int choose_part(struct annotation *annotation, uint64_t *start, size_t *n, struct str *err)
{
	const struct annotate_function *function = annotation->function;
	const struct symbol *symbol = function->symbol;
	uint64_t bytes = symbol->end - symbol->start;

	*start = symbol->start;
	if (symbol->end <= symbol->start)
		return fail(err, -ENODATA, "its symbol covers no bytes");
	if (bytes > ANNOTATE_BYTES_MAX) {
		annotation->cut = true;
		if (function->n_addresses &&
		    function->addresses[function->n_addresses - 1].addr - symbol->start >= ANNOTATE_BYTES_MAX)
			*start = hottest_part(function);
		bytes = symbol->end - *start;
	}
	*n = bytes < ANNOTATE_BYTES_MAX ? (size_t)bytes : ANNOTATE_BYTES_MAX;
	return 0;
}

/* ---- the whole ---- */

static void set_events(struct annotation *annotation)
{
	const struct annotate *annotate = annotation->private->annotate;
	struct annotate_cell *totals;

	while (annotate_event(annotate, annotation->n_events))
		annotation->n_events++;
	annotation->events = xcalloc(annotation->n_events + 1, sizeof(*annotation->events));
	totals = new_cells(annotation);
	for (size_t i = 0; i < annotation->n_events; i++) {
		annotation->events[i] = annotate_event(annotate, i);
		totals[i] = annotate_total(annotate, i);
	}
	annotation->totals = totals;
	annotation->elsewhere = new_cells(annotation);
}

static int fill(struct annotation *annotation, struct str *err)
{
	struct annotation_private *private = annotation->private;
	const struct annotate_function *function = annotation->function;
	struct disasm *disasm;
	uint64_t start = 0;
	size_t n = 0;
	int rc = choose_part(annotation, &start, &n, err);

	if (!rc)
		rc = symbols_code(private->session->symbols, function->symbol->dso, start, function->code, n,
				  &private->code, err);
	if (rc)
		return rc;
	/* All that its file has of it is shown. */
	if (start == function->symbol->start && private->code.n < n)
		annotation->cut = false;
	annotation->code_from = private->code.from;
	disasm = disasm_open(private->code.machine, private->options.intel, err);
	if (!disasm)
		return -ENOSYS;
	annotation_make_instructions(annotation, disasm, start);
	disasm_close(disasm);
	annotation_make_rows(annotation);
	annotation_make_lines(annotation);
	return 0;
}

int annotation_new(struct annotation **annotation, struct annotate *annotate, const struct annotate_function *function,
		   const struct annotate_options *options, struct str *err)
{
	struct annotation *made = *annotation = xcalloc(1, sizeof(*made));
	struct annotation_private *private = made->private = xcalloc(1, sizeof(*private));
	int rc;

	made->function = function;
	private->annotate = annotate;
	private->session = annotate_session(annotate);
	private->options = *options;
	private->source_options = (struct source_options){
		.symfs = private->session->options.sym.symfs,
		.prefix = options->prefix,
		.prefix_strip = options->prefix_strip,
	};
	private->sources = source_texts_new(&private->source_options);
	set_events(made);
	rc = fill(made, err);
	if (rc) {
		annotation_free(made);
		*annotation = NULL;
	}
	return rc;
}

void annotation_free(struct annotation *annotation)
{
	if (!annotation)
		return;
	source_texts_free(annotation->private->sources);
	symbol_code_release(&annotation->private->code);
	arena_release(&annotation->private->arena);
	free(annotation->private);
	free(annotation->events);
	free(annotation->instructions);
	free(annotation->rows);
	free(annotation->lines);
	free(annotation);
}

double annotation_percent(const struct annotation *annotation, size_t event, const struct annotate_cell *cell,
			  enum annotate_percent of)
{
	bool global = of == PERCENT_GLOBAL_PERIOD || of == PERCENT_GLOBAL_HITS;
	bool hits = of == PERCENT_LOCAL_HITS || of == PERCENT_GLOBAL_HITS;
	const struct annotate_cell *all = global ? &annotation->totals[event] : &annotation->function->total[event];
	uint64_t part = hits ? cell[event].n_samples : cell[event].period;
	uint64_t whole = hits ? all->n_samples : all->period;

	return whole ? 100.0 * (double)part / (double)whole : 0;
}
