/* SPDX-License-Identifier: MIT */
/*
 * How good is scaling here? The same loop is counted by one event alone, which is the truth, and by many copies of
 * the event, more than there are counters: they take turns, and what is printed of them is extrapolated.
 *
 *	scale_check [EVENT [COPIES]]
 */
#include <libpstat.h>

#include <stdio.h>
#include <stdlib.h>

static void spin(void *unused)
{
	volatile unsigned long i;

	(void)unused;
	for (i = 0; i < 100000000; i++)
		;
}

/* The readings of so many copies of the event; NULL, and a sentence in error, where there are none. */
static struct pstat_readings *count(const char *event, int copies, struct pstat_error *error)
{
	struct pstat_events *events = NULL;
	struct pstat_readings *readings = NULL;
	int rc = pstat_events_new(&events);

	while (!rc && copies--)
		rc = pstat_events_parse(events, event, error);
	if (!rc)
		rc = pstat_measure(events, spin, NULL, &readings);
	pstat_events_free(events);
	return readings;
}

int main(int argc, char **argv)
{
	const char *event = argc > 1 ? argv[1] : "instructions:u";
	const int copies = argc > 2 ? atoi(argv[2]) : 20;
	struct pstat_error error = { sizeof(error), 0, "no memory, or nothing may be counted" };
	struct pstat_readings *alone = count(event, 1, &error), *many = count(event, copies, &error);
	double truth, worst = 0;
	int shared = 0;
	size_t i;

	if (!alone || !many || pstat_reading_at(alone, 0)->state != PSTAT_COUNTED) {
		const struct pstat_reading *first = alone && many ? pstat_reading_at(alone, 0) : NULL;

		printf("%s: no truth to compare with: %s\n", event,
		       !first ? error.text : first->reason ? first->reason : pstat_state_name(first->state));
	} else {
		truth = (double)pstat_reading_at(alone, 0)->raw;
		for (i = 0; i < pstat_readings_count(many); i++) {
			const struct pstat_reading *reading = pstat_reading_at(many, i);
			double off = ((double)reading->scaled - truth) / truth * 100;

			if (reading->state != PSTAT_SCALED)
				continue;
			shared++;
			worst = (off < 0 ? -off : off) > worst ? (off < 0 ? -off : off) : worst;
			printf("%llu counted in %.1f %% of the time, scaled to %llu: %+.2f %%\n",
			       (unsigned long long)reading->raw,
			       100.0 * (double)reading->running_ns / (double)reading->enabled_ns,
			       (unsigned long long)reading->scaled, off);
		}
		printf("%s: %.0f; %d of %d copies were scaled, at most %.2f %% off\n", event, truth, shared, copies,
		       worst);
	}
	pstat_readings_free(many);
	pstat_readings_free(alone);
	return 0;
}
