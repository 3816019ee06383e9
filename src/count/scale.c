/*
 * Arithmetic of counting: multiplex scaling, time on core types. Pure functions, no state.
 *
 * A counter that shared its hardware ran for a part of the time it was enabled; the estimate for
 * the whole time is value * enabled / running (perf_event_open(2)). The product needs 128 bits: a
 * few hours of nanoseconds times a few billion counts do not fit into 64.
 */
#include "count/count.h"

uint64_t scale_count(uint64_t value, uint64_t enabled_ns, uint64_t running_ns)
{
	unsigned __int128 product = (unsigned __int128)value * enabled_ns;

	/* The largest product is 2^128 - 2^65 + 1: half of running_ns more still fits. */
	product = (product + running_ns / 2) / running_ns;
	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

/* Reads and switches are not at one moment: so much of the enabled time may be missing. */
enum { GAPS_PER_CENT = 1 };

enum core_time core_time_of(const uint64_t *longest_ns, size_t n_types, size_t n_counted, size_t type,
			    uint64_t enabled_ns, uint64_t *on_type_ns)
{
	unsigned __int128 seen = 0, enabled = enabled_ns, gap;

	for (size_t i = 0; i < n_types; i++)
		seen += longest_ns[i];
	gap = seen > enabled ? seen - enabled : enabled - seen;
	*on_type_ns = longest_ns[type];
	if (gap * 100 <= enabled * GAPS_PER_CENT)
		return CORE_TIME_KNOWN;
	return n_counted > 1 ? CORE_TIME_GAPS : CORE_TIME_UNSEEN;
}
