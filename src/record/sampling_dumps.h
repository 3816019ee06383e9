/*
 * sampling_dumps: how much of its stack each sample copies. Private to record/.
 */
#ifndef PSTAT_SAMPLING_DUMPS_H
#define PSTAT_SAMPLING_DUMPS_H

#include "record/record.h"

enum { STACK_DUMP_BYTES_DEFAULT = 8192 }; /* perf's, and the least where nobody says how much */

/*
 * The largest of 8, 16 and 32 KiB of which a ring holds 50 ms of samples, `hz` a second; 8 KiB where not even that
 * fits, or where nobody knows how many there will be (hz 0).
 */
uint32_t stack_dump_for(uint64_t ring_bytes, uint64_t hz);
/*
 * Sets that for the events whose stacks are unwound while they are recorded, and for which no size was given; they
 * share the rings. true: some event had another size.
 */
bool stack_dumps_fit(const struct sampling *sampling, struct event_list *events, uint64_t ring_bytes);

#endif
