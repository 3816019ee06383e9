/* SPDX-License-Identifier: MIT */
/*
 * Counts a loop twice, by read(2) and without a system call: what N rounds cost is the difference between 2N and N, so
 * that what reading costs is not in it.
 *
 *	count_without_calls [N [EVENT]]
 */
#include <libpstat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* What the event counts in one loop, or a negative errno; *way: how it was read. */
static long long by_register(struct pstat_counters *counters, unsigned long rounds, int *way)
{
	uint64_t before, after;
	int first = pstat_user_read(counters, 0, &before), second;

	loop(rounds);
	second = pstat_user_read(counters, 0, &after);
	*way = first < second ? first : second;
	return *way < 0 ? *way : (long long)(after - before);
}

static long long by_read(struct pstat_counters *counters, struct pstat_readings *readings, unsigned long rounds)
{
	uint64_t before;
	int rc = pstat_read(counters, readings);

	before = pstat_reading_at(readings, 0)->raw;
	loop(rounds);
	if (!rc)
		rc = pstat_read(counters, readings);
	return rc ? rc : (long long)(pstat_reading_at(readings, 0)->raw - before);
}

int main(int argc, char **argv)
{
	const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000;
	const char *event = argc > 2 ? argv[2] : "instructions:u";
	struct pstat_open_options options;
	struct pstat_events *events = NULL;
	struct pstat_counters *counters = NULL;
	struct pstat_readings *readings = NULL;
	struct pstat_error error = { sizeof(error), 0, "" };
	const char *reason;
	long long once, twice;
	int rc = pstat_events_new(&events), way = 0;

	memset(&options, 0, sizeof(options));
	options.size = sizeof(options);
	options.enabled = 1;
	options.user_read = 1;
	if (!rc)
		rc = pstat_events_parse(events, event, &error);
	if (!rc)
		rc = pstat_open(&counters, events, &options, &error);
	if (!rc)
		rc = pstat_readings_new(&readings, counters);
	/* The first reading does more than those that follow. */
	if (!rc)
		rc = pstat_read(counters, readings);
	if (rc) {
		fprintf(stderr, "count_without_calls: %s (error %d)\n", error.text, -rc);
	} else if (!pstat_counter(counters, 0)->supported) {
		printf("%s not supported: %s\n", event, pstat_counter(counters, 0)->reason);
	} else {
		once = by_read(counters, readings, rounds);
		twice = by_read(counters, readings, 2 * rounds);
		printf("%s, by read(2): %lld\n", event, twice - once);
		once = by_register(counters, rounds, &way);
		twice = by_register(counters, 2 * rounds, &way);
		reason = pstat_user_read_reason(counters, 0);
		printf("%s, %s: %lld\n", event, way == PSTAT_BY_USER ? "without a system call" : "by read(2) again",
		       twice - once);
		if (reason)
			printf("why not without: %s\n", reason);
	}
	pstat_readings_free(readings);
	pstat_close(counters);
	pstat_events_free(events);
	return rc != 0;
}
