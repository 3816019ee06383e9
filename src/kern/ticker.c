/*
 * The clock of -I: pure arithmetic, it neither reads the time nor waits.
 */
#include "kern/kern.h"

void ticker_start(struct ticker *ticker, uint64_t now_ns, uint64_t interval_ns)
{
	ticker->interval_ns = interval_ns;
	ticker->next_ns = interval_ns ? now_ns + interval_ns : NEVER_NS;
}

void ticker_stop(struct ticker *ticker)
{
	ticker->next_ns = NEVER_NS;
}

bool ticker_due(struct ticker *ticker, uint64_t now_ns)
{
	if (now_ns < ticker->next_ns || ticker->next_ns == NEVER_NS)
		return false;
	ticker->next_ns += ((now_ns - ticker->next_ns) / ticker->interval_ns + 1) * ticker->interval_ns;
	return true;
}
