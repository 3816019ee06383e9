/*
 * annotation: one function, instruction by instruction. Which part of its code is shown, where it is read, and what it
 * all is put together from.
 *
 * A function may claim to be 100 MB long: at most ANNOTATE_BYTES_MAX are read. Where that is not all, the part with
 * most samples is: it begins at a sampled address, for that is where an instruction begins.
 */
#include "annotate/annotate_internal.h"

#include <errno.h>
#include <stdlib.h>

struct annotate_cell *annotation_new_cells(struct annotation *annotation)
{
	size_t bytes = annotation->n_events * sizeof(struct annotate_cell);

	return memset(arena_alloc(&annotation->private->arena, bytes), 0, bytes);
}

void annotation_add_cells(const struct annotation *annotation, struct annotate_cell *to,
			  const struct annotate_cell *from)
{
	for (size_t i = 0; i < annotation->n_events; i++) {
		to[i].n_samples += from[i].n_samples;
		to[i].period += from[i].period;
	}
}

/* ---- which part ---- */

/* Where ANNOTATE_BYTES_MAX begin that have the most samples of the first event. */
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
	totals = annotation_new_cells(annotation);
	for (size_t i = 0; i < annotation->n_events; i++) {
		annotation->events[i] = annotate_event(annotate, i);
		totals[i] = annotate_total(annotate, i);
	}
	annotation->totals = totals;
	annotation->elsewhere = annotation_new_cells(annotation);
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
	instructions_make(annotation, disasm, start);
	disasm_close(disasm);
	instructions_count(annotation);
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
