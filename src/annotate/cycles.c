/* SPDX-License-Identifier: MIT */
/*
 * cycles: how many cycles code took between two branches, by the instruction that it ended with, and how many
 * instructions that were:
 *
 *	before: 0x10 -> 0x80        now: 0x9c -> 0x20, 12 cycles        0x80 ... 0x9c: 9 instructions in 12 cycles
 *
 * All runs that end at an instruction count for its cycles. Its instructions per cycle are those of the runs whose
 * first instruction is known and in the same function: not of the oldest branch of a stack, nor where the branch before
 * went to another function.
 */
#include "annotate/annotate_internal.h"

#include <stdlib.h>

/* ---- collecting: the runs of each function ---- */

struct found_run {
	struct annotate_function *function;
	struct cycle_run run;
};
struct found_runs {
	struct found_run *v;
	size_t n, cap;
};

static void add_run(struct annotate *annotate, struct found_runs *found, const struct cells *cells, size_t cell)
{
	struct session *session = annotate_session(annotate);
	const uint64_t n = cells->values[cell].n_samples, cycles = n * cell_fact(cells, cell, FACT_BRANCH_CYCLES);
	const uint32_t from = (uint32_t)cell_fact(cells, cell, FACT_FROM);
	const uint32_t start = (uint32_t)cell_fact(cells, cell, FACT_BLOCK_START);
	const struct symbol *symbol = cycles && from != LOCATION_NONE ? annotate_symbol_of(session, from) : NULL;
	struct annotate_function *function = symbol ? annotate_own_function(annotate, symbol) : NULL;

	if (!function)
		return;
	VEC_GROW(found->v, found->n, found->cap);
	found->v[found->n++] = (struct found_run){
		.function = function,
		.run = { .start = ANNOTATE_NO_START, .end = session->locations->v[from].addr, n, cycles },
	};
	if (start != LOCATION_NONE && annotate_symbol_of(session, start) == symbol)
		found->v[found->n - 1].run.start = session->locations->v[start].addr;
}

static int by_function(const void *a, const void *b)
{
	const struct annotate_function *x = ((const struct found_run *)a)->function;
	const struct annotate_function *y = ((const struct found_run *)b)->function;

	return x < y ? -1 : x > y;
}

struct cycle_run *annotate_add_runs(struct annotate *annotate, const size_t *events, size_t n_events,
				       const struct profile *profile, const struct filters *filters)
{
	struct found_runs found = { .n = 0 };
	struct cycle_run *runs;

	for (size_t i = 0; i < n_events; i++) {
		const struct profile_event *event = profile->events[events[i]];
		const struct cells *cells = profile->options.shape.runs ? &event->runs : &event->cells;
		const bool whole = filters && filters != profile->filters;

		for (size_t cell = 0; cells_have(cells, FACT_BLOCK_START) && cell < cells->n; cell++)
			if (!whole || (!filters_drop_cell(filters, cells, cell) &&
				       filters_take_cell(filters, cells, cell)))
				add_run(annotate, &found, cells, cell);
	}
	if (found.n)
		qsort(found.v, found.n, sizeof(*found.v), by_function);
	runs = xcalloc(found.n + 1, sizeof(*runs));
	for (size_t i = 0; i < found.n; i++) {
		struct annotate_function *function = found.v[i].function;

		runs[i] = found.v[i].run;
		function->runs = function->n_runs++ ? function->runs : &runs[i];
	}
	free(found.v);
	return runs;
}

/* ---- counting: the instructions of a function ---- */

/* The number of the instruction that begins there; n_instructions: none does. */
static size_t beginning_at(const struct annotation *annotation, uint64_t addr)
{
	const struct annotate_instruction *v = annotation->instructions;
	const size_t at = BISECT(i, 0, annotation->n_instructions, v[i].addr < addr);

	return at < annotation->n_instructions && v[at].addr == addr ? at : annotation->n_instructions;
}

static void add_known(struct annotate_cycles *cycles, const struct cycle_run *run, size_t n_instructions)
{
	cycles->known += run->cycles;
	cycles->instructions += run->n * n_instructions;
}

/* begins: by how many more runs an instruction is gone over than the one before it. */
static void count_run(struct annotation *annotation, const struct cycle_run *run, int64_t *begins)
{
	const size_t last = beginning_at(annotation, run->end), first = beginning_at(annotation, run->start);
	struct annotate_cycles *ended;

	if (last == annotation->n_instructions)
		return;
	ended = annotation->instructions[last].cycles;
	if (!ended) {
		ended = arena_alloc(&annotation->private->arena, sizeof(*ended));
		*ended = (struct annotate_cycles){ .n = 0 };
		annotation->instructions[last].cycles = ended;
	}
	annotation->has_cycles = true;
	ended->n += run->n;
	ended->cycles += run->cycles;
	if (first > last)
		return;
	add_known(ended, run, last + 1 - first);
	add_known(&annotation->cycles, run, last + 1 - first);
	begins[first]++;
	begins[last + 1]--;
}

void annotation_count_cycles(struct annotation *annotation)
{
	const struct annotate_function *function = annotation->function;
	int64_t *begins, over = 0;

	if (!function->n_runs)
		return;
	begins = xcalloc(annotation->n_instructions + 1, sizeof(*begins));
	for (size_t i = 0; i < function->n_runs; i++)
		count_run(annotation, &function->runs[i], begins);
	for (size_t i = 0; i < annotation->n_instructions; i++) {
		over += begins[i];
		annotation->n_covered += over > 0;
	}
	free(begins);
}

double annotate_ipc(const struct annotate_cycles *cycles)
{
	return cycles->known ? (double)cycles->instructions / (double)cycles->known : 0;
}
