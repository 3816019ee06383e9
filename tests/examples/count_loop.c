/* SPDX-License-Identifier: MIT */
/*
 * Counts a loop: what this thread does in N rounds, and in twice as many. The difference is what N rounds cost,
 * without what enabling and reading cost.
 *
 *	count_loop [N [EVENTS]]
 */
#include <libpstat.h>

#include <stdio.h>
#include <stdlib.h>

static void loop(unsigned long rounds)
{
#if defined(__aarch64__)
	__asm__ __volatile__("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds) : : "cc"); /* 2 instructions */
#elif defined(__x86_64__)
	__asm__ __volatile__("1: dec %0\n\tjnz 1b" : "+r"(rounds) : : "cc"); /* 2 instructions */
#else
	while (rounds--)
		__asm__ __volatile__("");
#endif
}

/* The counts of one loop into *readings; 0 or a negative errno. */
static int count(struct pstat_counters *counters, unsigned long rounds, struct pstat_readings *readings)
{
	int rc = pstat_reset(counters);

	if (!rc)
		rc = pstat_enable(counters);
	loop(rounds);
	if (!rc)
		rc = pstat_disable(counters);
	return rc ? rc : pstat_read(counters, readings);
}

int main(int argc, char **argv)
{
	const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000;
	const char *text = argc > 2 ? argv[2] : "{instructions:u,branches:u},task-clock";
	struct pstat_events *events = NULL;
	struct pstat_counters *counters = NULL;
	struct pstat_readings *once = NULL, *twice = NULL;
	struct pstat_error error = { sizeof(error), 0, "" };
	int rc = pstat_events_new(&events);
	size_t i;

	if (!rc)
		rc = pstat_events_parse(events, text, &error);
	if (!rc)
		rc = pstat_open(&counters, events, NULL, &error);
	if (!rc)
		rc = pstat_readings_new(&once, counters);
	if (!rc)
		rc = pstat_readings_new(&twice, counters);
	if (!rc)
		rc = count(counters, rounds, once);
	if (!rc)
		rc = count(counters, 2 * rounds, twice);
	if (rc)
		fprintf(stderr, "count_loop: %s (error %d)\n", error.text, -rc);
	for (i = 0; !rc && i < pstat_readings_count(twice); i++) {
		const struct pstat_reading *reading = pstat_reading_at(twice, i);
		const struct pstat_reading *before = pstat_reading_at(once, i);

		if (reading->state == PSTAT_COUNTED)
			printf("%s %lld\n", reading->name, (long long)(reading->raw - before->raw));
		else
			printf("%s %s: %s\n", reading->name, pstat_state_name(reading->state),
			       reading->reason ? reading->reason : "-");
	}
	pstat_readings_free(twice);
	pstat_readings_free(once);
	pstat_close(counters);
	pstat_events_free(events);
	return rc ? 1 : 0;
}
