/* SPDX-License-Identifier: MIT */
/*
 * Conditions of the machine that make runs differ, looked at before the first round: notes for the reader, as the order
 * by chance keeps them from making one command look better than another.
 *
 * Sources: proc(5), loadavg; Documentation/admin-guide/pm/cpufreq.rst, scaling_governor.
 */
#include "compare/compare.h"

#include <stdlib.h>

/* A CPU that changes its frequency with its load is slower in the first part of each run. */
static void note_governor(const struct host_paths *host, struct note_list *notes)
{
	char *path = xasprintf("%s/devices/system/cpu/cpu0/cpufreq/scaling_governor", host->sysfs);
	struct str governor = STR_INIT, printable = STR_INIT;

	if (!read_line_file(path, &governor) && governor.len && strcmp(governor.s, "performance")) {
		str_add_printable(&printable, governor.s, governor.len);
		note_add(notes, false, "cpupower frequency-set -g performance",
			 "the frequency of the CPUs changes with what they do: their governor is '%s'", printable.s);
	}
	str_release(&governor);
	str_release(&printable);
	free(path);
}

/* Others that run when no command of ours does. */
static void note_load(const struct host_paths *host, struct note_list *notes)
{
	char *path = xasprintf("%s/loadavg", host->procfs);
	struct str text = STR_INIT;
	struct intset cpus = { 0 };
	double load = read_line_file(path, &text) ? 0 : strtod(text.s, NULL);

	if (!cpus_online(host, &cpus) && load > 0.5 * (double)cpus.n)
		note_add(notes, false, NULL,
			 "the machine is busy: %.1f programs ran on its %zu CPUs in the last minute", load, cpus.n);
	intset_release(&cpus);
	str_release(&text);
	free(path);
}

void compare_note_conditions(const struct host_paths *host, struct note_list *notes)
{
	note_governor(host, notes);
	note_load(host, notes);
}
