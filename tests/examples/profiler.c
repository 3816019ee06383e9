/* SPDX-License-Identifier: MIT */
/*
 * A profiler: where this program, or another process, spends its time, function by function.
 *
 *	profiler [MILLISECONDS [PID]]
 */
#define _POSIX_C_SOURCE 200809L
#include <libpstat.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
	const char *name;
	unsigned samples;
} functions[1000];

/* Text of the names lives as long as they do. What has no name is counted by its file. */
static void add(struct pstat_names *names, int pid, uint64_t ip)
{
	struct pstat_name name = { sizeof(name), NULL, 0, NULL, 0, NULL };
	const char *text = "[unknown]";
	size_t i = 0;

	if (pstat_name_of(names, pid, ip, &name, NULL) >= 0)
		text = name.function ? name.function : name.file ? name.file : text;
	while (functions[i].name && strcmp(functions[i].name, text) != 0 && i < 999)
		i++;
	functions[i].name = text;
	functions[i].samples++;
}

/* A loop of its own, so that samples are in it and not in what it calls. */
#define BURN(name, rounds)                                    \
	__attribute__((__noinline__)) static void name(void)  \
	{                                                     \
		for (unsigned i = 0; i < (rounds); i++)       \
			__asm__ __volatile__("");             \
	}
BURN(one_third, 4000000)
BURN(two_thirds, 8000000)

/* By CPU time here; another process has its own, and is looked at for so long. */
static double milliseconds_now(int pid)
{
	struct timespec now;

	clock_gettime(pid ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &now);
	return 1000.0 * (double)now.tv_sec + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	const int pid = argc > 2 ? atoi(argv[2]) : 0;
	const double end = milliseconds_now(pid) + (argc > 1 ? atof(argv[1]) : 300);
	struct pstat_open_options target = { .size = sizeof(target), .target = PSTAT_PID, .ids = &pid, .n_ids = 1 };
	struct pstat_sampling_options options = { .size = sizeof(options), .fields = PERF_SAMPLE_IP };
	struct pstat_error error = { sizeof(error), 0, "" };
	struct pstat_events *events = NULL;
	struct pstat_sampler *sampler = NULL;
	struct pstat_names *names = NULL;
	const struct pstat_record *record;
	unsigned n = 0;
	int rc = pstat_events_new(&events);

	options.period = 1000000; /* ns of CPU time */
	options.open = pid ? &target : NULL;
	if (!rc)
		rc = pstat_names_new(&names, &error);
	if (!rc)
		rc = pstat_events_parse(events, "cpu-clock:u", &error);
	if (!rc)
		rc = pstat_sampler_open(&sampler, events, &options, &error);
	if (!rc)
		rc = pstat_enable(pstat_sampler_counters(sampler));
	while (!rc && milliseconds_now(pid) < end) {
		if (pid)
			rc = pstat_sampler_wait(sampler, 100);
		else
			one_third(), two_thirds();
		while (rc >= 0 && (rc = pstat_sampler_next(sampler, &record, &error)) == 1)
			if (record->record_type == PSTAT_RECORD_SAMPLE)
				add(names, pid, record->body.sample.ip), n++;
	}
	if (rc < 0)
		fprintf(stderr, "profiler: %s (error %d)\n", error.text, -rc);
	for (size_t i = 0; i < 1000 && functions[i].name; i++)
		printf("%5.1f %%  %u of %u  %s\n", 100.0 * functions[i].samples / n, functions[i].samples, n,
		       functions[i].name);
	pstat_sampler_close(sampler);
	pstat_names_free(names);
	pstat_events_free(events);
	return rc < 0;
}
