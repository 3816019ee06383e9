/* SPDX-License-Identifier: MIT */
/*
 * Who writes a variable? A breakpoint of the CPU watches it, and each write is a sample with the place of the
 * instruction behind it. Nothing of the program is changed, and nothing is missed: the count says so.
 *
 *	watch_variable [DEPOSITS [WITHDRAWALS]]
 */
#include <libpstat.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile long balance;

__attribute__((__noinline__)) void deposit(long amount);
void deposit(long amount)
{
	balance += amount;
}

__attribute__((__noinline__)) void withdraw(long amount);
void withdraw(long amount)
{
	balance -= amount;
}

static struct {
	const char *name;
	unsigned writes;
} writers[10];

static void add(struct pstat_names *names, uint64_t ip)
{
	struct pstat_name name = { sizeof(name), NULL, 0, NULL, 0, NULL };
	const char *text;
	size_t i = 0;

	/* The CPU stops behind the instruction that wrote. */
	text = pstat_name_of(names, 0, ip - 1, &name, NULL) == 1 ? name.function : "[unknown]";
	while (writers[i].name && strcmp(writers[i].name, text) != 0 && i < 9)
		i++;
	writers[i].name = text;
	writers[i].writes++;
}

/* All that is there; the ring would hold thousands. */
static int read_samples(struct pstat_sampler *sampler, struct pstat_names *names, struct pstat_error *error)
{
	const struct pstat_record *record;
	int rc;

	while ((rc = pstat_sampler_next(sampler, &record, error)) == 1)
		if (record->record_type == PSTAT_RECORD_SAMPLE)
			add(names, record->body.sample.ip);
	return rc;
}

int main(int argc, char **argv)
{
	const int deposits = argc > 1 ? atoi(argv[1]) : 30, withdrawals = argc > 2 ? atoi(argv[2]) : 20;
	struct pstat_sampling_options options;
	struct pstat_sampler_counts counts;
	struct pstat_error error = { sizeof(error), 0, "" };
	struct pstat_events *events = NULL;
	struct pstat_sampler *sampler = NULL;
	struct pstat_names *names = NULL;
	char watch[64];
	int rc = pstat_events_new(&events), i;

	memset(&options, 0, sizeof(options));
	options.size = sizeof(options);
	options.period = 1;
	options.fields = PERF_SAMPLE_IP;
	snprintf(watch, sizeof(watch), "mem:%p/%u:w:u", (void *)(size_t)&balance, (unsigned)sizeof(balance));
	if (!rc)
		rc = pstat_names_new(&names, &error);
	if (!rc)
		rc = pstat_events_parse(events, watch, &error);
	if (!rc)
		rc = pstat_sampler_open(&sampler, events, &options, &error);
	if (!rc)
		rc = pstat_enable(pstat_sampler_counters(sampler));
	for (i = 0; !rc && i < deposits; i++)
		deposit(10);
	for (i = 0; !rc && i < withdrawals; i++)
		withdraw(5);
	if (!rc)
		rc = pstat_disable(pstat_sampler_counters(sampler));
	if (!rc)
		rc = read_samples(sampler, names, &error);
	if (rc < 0) {
		fprintf(stderr, "watch_variable: %s (error %d)\n", error.text, -rc);
	} else {
		for (i = 0; writers[i].name; i++)
			printf("%s wrote %u times\n", writers[i].name, writers[i].writes);
		counts.size = sizeof(counts);
		pstat_sampler_count(sampler, &counts);
		printf("lost %llu, balance %ld\n", (unsigned long long)counts.lost_now, balance);
	}
	pstat_sampler_close(sampler);
	pstat_names_free(names);
	pstat_events_free(events);
	return rc < 0;
}
