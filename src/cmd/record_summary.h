/*
 * record_summary: what `pstat record` says while it runs and at its end. Private to cmd/.
 */
#ifndef PSTAT_RECORD_SUMMARY_H
#define PSTAT_RECORD_SUMMARY_H

#include "record/record.h"

/* The line on a terminal that grows old every second: begins with a return, ends without a newline. */
void record_progress_add(struct str *out, const struct record_totals *totals);
/*
 * "[ pstat record: wrote 1.250 MB to perf.data: 40123 samples, 3998 of 4000 Hz, 0 lost, 0 throttled ]",
 * then a line for each event where there are several, and what to do about losses.
 */
void record_summary_add(struct str *out, const struct record_totals *totals);

#endif
