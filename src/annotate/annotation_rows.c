/*
 * annotation_rows: what stands between the instructions, and what each source line adds up to.
 *
 * A row of source comes before the first instruction of its line, and again whenever the line changes; a row of
 * inlined functions where the functions around an instruction are others than around the one before.
 */
#include "annotate/annotate_internal.h"

#include <stdlib.h>

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
	sums->cells[annotation->n_lines] = annotation_new_cells(annotation);
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
		annotation_add_cells(annotation, sums.cells[line], instruction->cells);
	}
	if (annotation->n_lines)
		qsort_r(annotation->lines, annotation->n_lines, sizeof(*annotation->lines), heavier_first, annotation);
	free(sums.cells);
	index_release(&sums.by_line);
}
