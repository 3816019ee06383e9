/*
 * A profiler: where this program spends its time, function by function.
 *
 *	profiler [MILLISECONDS]
 *
 * Built with -rdynamic, as dladdr(3) knows only functions that the dynamic symbol table has.
 */
#define _GNU_SOURCE
#include <libpstat.h>

#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
	const char *name;
	unsigned samples;
} functions[100];

static void add(uint64_t ip)
{
	Dl_info info;
	const char *name = dladdr((void *)(uintptr_t)ip, &info) && info.dli_sname ? info.dli_sname : "[unknown]";
	size_t i = 0;

	while (functions[i].name && strcmp(functions[i].name, name) != 0 && i < 99)
		i++;
	functions[i].name = name;
	functions[i].samples++;
}

/* A loop of its own, so that samples are in it and not in what it calls. */
#define BURN(name, rounds)                             \
	__attribute__((__noinline__)) void name(void); \
	void name(void)                                \
	{                                              \
		for (unsigned i = 0; i < (rounds); i++) \
			__asm__ __volatile__("");      \
	}
BURN(one_third, 4000000)
BURN(two_thirds, 8000000)

int main(int argc, char **argv)
{
	const double milliseconds = argc > 1 ? atof(argv[1]) : 300;
	struct pstat_sampling_options options;
	struct pstat_error error = { sizeof(error), 0, "" };
	struct pstat_events *events = NULL;
	struct pstat_sampler *sampler = NULL;
	const struct pstat_record *record;
	clock_t end;
	int rc = pstat_events_new(&events);
	unsigned n = 0;

	memset(&options, 0, sizeof(options));
	options.size = sizeof(options);
	options.period = 1000000; /* ns of CPU time */
	options.fields = PERF_SAMPLE_IP;
	if (!rc)
		rc = pstat_events_parse(events, "cpu-clock:u", &error);
	if (!rc)
		rc = pstat_sampler_open(&sampler, events, &options, &error);
	if (!rc)
		rc = pstat_enable(pstat_sampler_counters(sampler));
	end = clock() + (clock_t)(milliseconds * CLOCKS_PER_SEC / 1000);
	while (!rc && clock() < end) {
		one_third();
		two_thirds();
		while ((rc = pstat_sampler_next(sampler, &record, &error)) == 1)
			if (record->record_type == PSTAT_RECORD_SAMPLE)
				add(record->body.sample.ip), n++;
	}
	if (rc < 0)
		fprintf(stderr, "profiler: %s (error %d)\n", error.text, -rc);
	for (size_t i = 0; functions[i].name; i++)
		printf("%5.1f %%  %u of %u  %s\n", 100.0 * functions[i].samples / n, functions[i].samples, n,
		       functions[i].name);
	pstat_sampler_close(sampler);
	pstat_events_free(events);
	return rc < 0;
}
