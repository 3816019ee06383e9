/* SPDX-License-Identifier: MIT */
/*
 * A tracepoint with filters: the same event three times, counted together. One has its filter from the beginning, one
 * gets it when it is open, one has none. Needs the rights to read tracefs, as root has them.
 *
 *	tracepoint_filter [CALLS]
 */
#define _DEFAULT_SOURCE
#include <libpstat.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENT "raw_syscalls:sys_enter"

/* Half as many calls of getuid as of getppid. */
static void make_calls(long calls)
{
	long i;

	for (i = 0; i < calls; i++) {
		syscall(SYS_getppid);
		if (i % 2)
			syscall(SYS_getuid);
	}
}

static int count(struct pstat_counters *counters, long calls, struct pstat_error *error)
{
	struct pstat_readings *readings = NULL;
	char filter[64];
	int rc;

	snprintf(filter, sizeof(filter), "id == %d", (int)SYS_getuid);
	rc = pstat_set_filter(counters, 1, filter, error);
	if (!rc)
		rc = pstat_readings_new(&readings, counters);
	if (!rc)
		rc = pstat_enable(counters);
	if (!rc) {
		make_calls(calls);
		rc = pstat_disable(counters);
	}
	if (!rc)
		rc = pstat_read(counters, readings);
	if (!rc)
		printf("getppid %llu, getuid %llu, all %llu\n", (unsigned long long)pstat_reading_at(readings, 0)->raw,
		       (unsigned long long)pstat_reading_at(readings, 1)->raw,
		       (unsigned long long)pstat_reading_at(readings, 2)->raw);
	pstat_readings_free(readings);
	return rc;
}

int main(int argc, char **argv)
{
	const long calls = argc > 1 ? atol(argv[1]) : 1000;
	struct pstat_events *events = NULL;
	struct pstat_counters *counters = NULL;
	struct pstat_error error = { sizeof(error), 0, "" };
	char filter[64];
	int rc = pstat_events_new(&events);

	snprintf(filter, sizeof(filter), "id == %d", (int)SYS_getppid);
	if (!rc)
		rc = pstat_events_parse(events, EVENT "," EVENT "," EVENT, &error);
	if (!rc)
		rc = pstat_events_set_filter(events, 0, filter, &error);
	if (!rc)
		rc = pstat_open(&counters, events, NULL, &error);
	if (!rc)
		rc = count(counters, calls, &error);
	/* The kernel looks for the field; the sentence says which ones there are. */
	if (!rc && pstat_set_filter(counters, 2, "no_such_field == 1", &error))
		printf("%s\n", error.text);
	else if (rc)
		fprintf(stderr, "tracepoint_filter: %s (error %d)\n", error.text, -rc);
	pstat_close(counters);
	pstat_events_free(events);
	return rc ? 1 : 0;
}
