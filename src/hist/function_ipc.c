/* SPDX-License-Identifier: MIT */
/*
 * function_ipc: instructions per cycle of functions, from branch stacks with cycles: the key ipc_lbr.
 *
 * The code between where one branch went to and where the next one is has been executed once, in the cycles of the
 * latter. Its instructions are counted in the function's code:
 *
 *	before: 0x10 -> 0x80        now: 0x9c -> 0x20, 12 cycles        0x80 ... 0x9c: 9 instructions in 12 cycles
 *
 * A function's IPC is the instructions of all its runs by the cycles of all its runs, and its coverage the part of its
 * instructions that any run went over. A run that begins in another function is in neither, nor one whose beginning is
 * not known, as of the oldest branch of a stack.
 */
#include "hist/keys_internal.h"
#include "annotate/annotate.h"

#include <stdlib.h>

enum { FUNCTION_BYTES_MAX = 1 << 20 }; /* what comes after them is not counted */

struct code_run { /* of a cell: equal ones */
	const struct symbol *symbol;
	uint64_t start, end; /* of the first and the last instruction, in the function */
	uint64_t n, cycles; /* how often, and cycles of all of them */
};
struct function_ipc {
	const struct symbol *symbol;
	uint64_t cycles, instructions; /* of all runs; cycles 0: there is none whose instructions are known */
	size_t n_covered, n_instructions; /* in the code */
};
struct function_ipcs {
	struct function_ipc *v; /* by address of the symbol */
	size_t n, cap;
};

/* ---- runs ---- */

struct code_runs {
	struct code_run *v;
	size_t n, cap;
	uint64_t cycles; /* of all branches */
};

static void add_run(struct table *table, struct code_runs *runs, const struct cells *cells, size_t cell, uint32_t from)
{
	const uint64_t n = cells->values[cell].n_samples, cycles = n * cell_fact(cells, cell, FACT_BRANCH_CYCLES);
	const uint32_t start = (uint32_t)cell_fact(cells, cell, FACT_BLOCK_START);
	const struct symbol *symbol;
	struct code_run run;

	runs->cycles += cycles;
	if (!cycles || start == LOCATION_NONE || table_location_row(table, from)->code)
		return;
	symbol = location_symbol(table->session, from);
	if (!symbol || location_symbol(table->session, start) != symbol)
		return;
	run = (struct code_run){ symbol, table_location_row(table, start)->addr - symbol->start,
			    table_location_row(table, from)->addr - symbol->start, n, cycles };
	if (run.start > run.end)
		return;
	VEC_GROW(runs->v, runs->n, runs->cap);
	runs->v[runs->n++] = run;
}

static int compare_runs(const void *pa, const void *pb)
{
	const struct code_run *a = pa, *b = pb;

	if (a->symbol != b->symbol)
		return (uintptr_t)a->symbol < (uintptr_t)b->symbol ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* ---- the instructions of a function ---- */

struct instruction_starts {
	uint64_t *v; /* where each begins, in the function */
	size_t n, cap;
};

/* False with a clause: the function's code is not known. */
static bool find_instructions(struct symbols *symbols, const struct symbol *symbol, struct instruction_starts *found,
			      struct str *why)
{
	const uint64_t bytes = symbol->end - symbol->start;
	struct disasm_instruction instruction;
	struct disasm *disasm = NULL;
	struct symbol_code code = { 0 };
	unsigned length;

	if (!symbols_code(symbols, symbol->dso, symbol->start, 0,
			  bytes < FUNCTION_BYTES_MAX ? (size_t)bytes : FUNCTION_BYTES_MAX, &code, why))
		disasm = disasm_open(code.machine, false, why);
	for (size_t at = 0; disasm && at < code.n; at += length) {
		if (!disasm_next(disasm, code.bytes + at, code.n - at, code.shown + at, &instruction)) {
			length = disasm_unknown(disasm, code.bytes + at, code.n - at);
			continue;
		}
		length = instruction.n_bytes;
		VEC_GROW(found->v, found->n, found->cap);
		found->v[found->n++] = at;
	}
	disasm_close(disasm);
	symbol_code_release(&code);
	return disasm;
}

/* The number of the instruction that begins there; n: none does. */
static size_t instruction_at(const struct instruction_starts *instructions, uint64_t offset)
{
	const size_t at = BISECT(i, 0, instructions->n, instructions->v[i] < offset);

	return at < instructions->n && instructions->v[at] == offset ? at : instructions->n;
}

/* The runs are of one function, the first to begin first. */
static struct function_ipc count_runs(const struct instruction_starts *instructions, const struct code_run *runs,
				      size_t n)
{
	struct function_ipc ipc = { .symbol = runs->symbol, .n_instructions = instructions->n };
	size_t reach = 0; /* instructions up to here are covered, or in no run */

	for (size_t i = 0; i < n; i++) {
		const size_t first = instruction_at(instructions, runs[i].start),
			     after = instruction_at(instructions, runs[i].end) + 1;

		if (after > instructions->n)
			continue;
		ipc.cycles += runs[i].cycles;
		ipc.instructions += runs[i].n * (after - first);
		if (after > reach)
			ipc.n_covered += after - (first > reach ? first : reach);
		reach = after > reach ? after : reach;
	}
	return ipc;
}

/* ---- contract ---- */

static bool asks_of_ipc(const struct question *question)
{
	for (size_t i = 0; i < question->n_keys; i++)
		if (question->keys[i]->value == value_ipc)
			return true;
	return false;
}

/* --symbol-filter leaves rows out, not cells; code that no row is left of need not be read. */
static bool is_shown(const struct table *table, uint32_t location)
{
	const char *part = table->question->query.filters.symbol_filter;
	const struct symbol *symbol = part ? location_symbol(table->session, location) : NULL;

	return !part || (symbol && strstr(symbol->name, part));
}

/* Filters of code choose by where the code is that ran, not by where the branch went to. */
static void find_runs_in(struct table *table, struct code_runs *runs, const struct cells *cells)
{
	for (size_t cell = 0; cell < cells->n; cell++) {
		const uint32_t from = (uint32_t)cell_fact(cells, cell, FACT_FROM);

		if (from != LOCATION_NONE && table_takes_cell_at(table, cells, cell, from) &&
		    is_shown(table, from))
			add_run(table, runs, cells, cell, from);
	}
}

static void find_runs(struct table *table, struct code_runs *runs)
{
	for (size_t i = 0; i < table->n_hists; i++)
		for (size_t member = 0; member < table->hists[i].n_members; member++)
			find_runs_in(table, runs, table->hists[i].cells[member]);
	if (runs->n)
		qsort(runs->v, runs->n, sizeof(*runs->v), compare_runs);
}

void table_count_ipc(struct table *table)
{
	struct function_ipcs *ipcs;
	struct code_runs runs = { .n = 0 };
	struct str why = STR_INIT, first_why = STR_INIT;
	size_t n_unknown = 0;

	if (!asks_of_ipc(table->question))
		return;
	ipcs = table->private->ipcs = xcalloc(1, sizeof(*ipcs));
	find_runs(table, &runs);
	for (size_t i = 0, n; i < runs.n; i += n) {
		struct instruction_starts instructions = { .n = 0 };

		for (n = 1; i + n < runs.n && runs.v[i + n].symbol == runs.v[i].symbol;)
			n++;
		str_reset(&why);
		if (find_instructions(table->session->symbols, runs.v[i].symbol, &instructions, &why)) {
			VEC_GROW(ipcs->v, ipcs->n, ipcs->cap);
			ipcs->v[ipcs->n++] = count_runs(&instructions, runs.v + i, n);
		} else if (!n_unknown++) {
			str_addf(&first_why, "%s: %s", runs.v[i].symbol->name, why.s);
		}
		free(instructions.v);
	}
	if (!runs.cycles)
		note_add(&table->notes, false, NULL, "ipc_lbr: the branches have no cycles");
	if (n_unknown)
		note_add(&table->notes, false, NULL, "ipc_lbr: the code of %zu of %zu functions is not known: %s",
			 n_unknown, n_unknown + ipcs->n, first_why.s);
	free(runs.v);
	str_release(&why);
	str_release(&first_why);
}

void function_ipcs_free(struct function_ipcs *ipcs)
{
	if (ipcs)
		free(ipcs->v);
	free(ipcs);
}

/* ---- the key: a value is the address of the function's symbol ---- */

KEY_VALUE(value_ipc)
{
	const uint32_t to = source_location(source, FACT_TO);

	return to == LOCATION_NONE ? 0 : (uintptr_t)location_symbol(source->table->session, to);
}

/* NULL: not known. */
static const struct function_ipc *find_ipc(const struct table *table, uint64_t value)
{
	const struct function_ipcs *ipcs = table->private->ipcs;
	const size_t at = BISECT(i, 0, ipcs->n, (uintptr_t)ipcs->v[i].symbol < value);
	const struct function_ipc *ipc = at < ipcs->n ? &ipcs->v[at] : NULL;

	return ipc && (uintptr_t)ipc->symbol == value && ipc->cycles ? ipc : NULL;
}

static double instructions_per_cycle(const struct function_ipc *ipc)
{
	return ipc ? (double)ipc->instructions / (double)ipc->cycles : -1;
}

static double coverage(const struct function_ipc *ipc)
{
	return ipc ? 100.0 * (double)ipc->n_covered / (double)ipc->n_instructions : -1;
}

KEY_TEXT(text_ipc)
{
	const struct function_ipc *ipc = find_ipc(table, value);

	if (ipc)
		str_addf(out, "%-5.2f [%5.1f%%]", instructions_per_cycle(ipc), coverage(ipc));
	else
		str_add(out, "-");
}

KEY_COMPARE(compare_ipc)
{
	const struct function_ipc *x = find_ipc(table, a), *y = find_ipc(table, b);
	const double left = instructions_per_cycle(x), right = instructions_per_cycle(y);

	return left < right || left > right ? (left > right) - (left < right) :
					      (coverage(x) > coverage(y)) - (coverage(x) < coverage(y));
}
