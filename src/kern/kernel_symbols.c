/*
 * kernel_symbols: whether this process sees where the kernel's functions are, and what would let it.
 *
 * /proc/kallsyms has zeros for addresses that a reader may not see. The kernel shows them with CAP_SYSLOG where
 * kptr_restrict is 0 or 1, without it only where that is 0 and perf_event_paranoid is 1 or less, and to nobody
 * where it is 2. The first line tells which it is; where the list itself is not there, that is another matter.
 *
 * Sources: kernel/ksyms_common.c of Linux, kallsyms_show_value(); proc(5), kptr_restrict.
 */
#include "kern/kern.h"

#include <stdio.h>
#include <stdlib.h>

/* The first line into `line`; false: there is none. */
static bool first_line(const struct host_paths *host, char *line, int n)
{
	char *path = xasprintf("%s/kallsyms", host->procfs);
	FILE *file = fopen(path, "re");
	bool there = file && fgets(line, n, file);

	if (file)
		fclose(file);
	free(path);
	return there;
}

static uint64_t restriction(const struct host_paths *host)
{
	char *path = xasprintf("%s/sys/kernel/kptr_restrict", host->procfs);
	uint64_t value = 0;

	if (read_u64_file(path, &value))
		value = 0;
	free(path);
	return value;
}

void kernel_symbols_look(struct kernel_symbols *symbols, const struct host_paths *host)
{
	bool paranoid = perf_paranoid(host) > 1;
	char line[64];

	*symbols = (struct kernel_symbols){ .kptr_restrict = restriction(host) };
	if (!first_line(host, line, sizeof(line)))
		return;
	symbols->there = true;
	symbols->hidden = line[strspn(line, "0")] == ' ';
	if (!symbols->hidden)
		return;
	symbols->rights_help = symbols->kptr_restrict < 2;
	symbols->remedy = !symbols->kptr_restrict ? "sudo sysctl kernel.perf_event_paranoid=1" :
			  symbols->rights_help && paranoid ?
			  "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1" :
			  "sudo sysctl kernel.kptr_restrict=0";
}
