/*
 * recorded_ask: what the names in a recording say of an address, once they are read (recorded_names.c). Addresses and
 * functions ascend, so each answer is a binary search, and a walk from an inlined function outwards.
 */
#include "sym/recorded_names.h"

const struct recorded_addr *recorded_addr_find(const struct recorded_dso *dso, uint64_t addr)
{
	size_t low = 0, high = dso->n_addrs;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dso->addrs[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < dso->n_addrs && dso->addrs[low].addr == addr ? &dso->addrs[low] : NULL;
}

uint32_t recorded_function_at(const struct recorded_dso *dso, uint64_t start, bool nameless)
{
	size_t low = 0, high = dso->n_functions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dso->functions[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < dso->n_functions && dso->functions[low].start == start; low++)
		if (!!(dso->functions[low].kind & RECORDED_NAMELESS) == nameless)
			return (uint32_t)low + 1;
	return 0;
}

const struct recorded_function *recorded_aliases(const struct recorded_dso *dso, uint64_t start, bool nameless)
{
	uint32_t function1 = dso ? recorded_function_at(dso, start, nameless) : 0;
	const struct recorded_function *function = function1 ? &dso->functions[function1 - 1] : NULL;

	return function && function->n_aliases ? function : NULL;
}

size_t recorded_inlines(const struct recorded_dso *dso, const struct recorded_addr *addr, bool inlined,
			struct dwarf_inline *out, size_t max)
{
	struct source_line line = addr->line;
	uint32_t depth = inlined && addr->inline1 ? dso->inlines[addr->inline1 - 1].depth : 0;
	size_t n = 0;

	for (uint32_t i1 = addr->inline1; depth && i1; i1 = dso->inlines[i1 - 1].into1) {
		if (depth-- < max) /* the function itself comes last */
			out[n++] = (struct dwarf_inline){ dso->inlines[i1 - 1].name, line };
		line = dso->inlines[i1 - 1].call;
	}
	if (n || line.file || line.line)
		out[n++] = (struct dwarf_inline){ NULL, line };
	return n;
}
