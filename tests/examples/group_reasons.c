/* SPDX-License-Identifier: MIT */
/*
 * A group, counted at the same times or not at all, and beside it what this machine may not have: each event with its
 * value, or with the reason why there is none and what to do about it.
 *
 *	group_reasons [EVENTS]
 */
#include <libpstat.h>

#include <stdio.h>
#include <stdlib.h>

static void work(void)
{
	enum { BYTES = 4 << 20, STEP = 64 };
	char *memory = malloc(BYTES);
	volatile char *p = memory;
	size_t i;

	for (i = 0; memory && i < BYTES; i += STEP)
		p[i] = (char)i;
	free(memory);
}

static void print(const struct pstat_counters *counters, const struct pstat_readings *readings)
{
	size_t i;

	for (i = 0; i < pstat_readings_count(readings); i++) {
		const struct pstat_reading *reading = pstat_reading_at(readings, i);
		const struct pstat_counter *counter = pstat_counter(counters, i);

		printf("%-24s %-14s", reading->name, pstat_state_name(reading->state));
		if (reading->state <= PSTAT_LOWER_BOUND)
			printf(" %.0f %s", reading->value, reading->unit);
		if (counter->leader != i)
			printf(" with %s", pstat_counter(counters, counter->leader)->name);
		if (reading->reason)
			printf(" (%s)", reading->reason);
		if (reading->remedy)
			printf("\n    %s", reading->remedy);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : "{page-faults,minor-faults,major-faults},{cycles,instructions},"
					       "task-clock";
	struct pstat_events *events = NULL;
	struct pstat_counters *counters = NULL;
	struct pstat_readings *readings = NULL;
	struct pstat_error error = { sizeof(error), 0, "" };
	int rc = pstat_events_new(&events);

	if (!rc)
		rc = pstat_events_parse(events, text, &error);
	if (!rc)
		rc = pstat_open(&counters, events, NULL, &error);
	if (!rc)
		rc = pstat_readings_new(&readings, counters);
	if (!rc)
		rc = pstat_enable(counters);
	if (!rc) {
		work();
		rc = pstat_disable(counters);
	}
	if (!rc)
		rc = pstat_read(counters, readings);
	if (!rc)
		rc = pstat_explain(counters, readings);
	if (rc)
		fprintf(stderr, "group_reasons: %s (error %d)\n", error.text, -rc);
	else
		print(counters, readings);
	pstat_readings_free(readings);
	pstat_close(counters);
	pstat_events_free(events);
	return rc ? 1 : 0;
}
