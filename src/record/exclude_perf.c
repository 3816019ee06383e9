/*
 * --exclude-perf: tracepoints leave out what pstat itself hits. A filter can name threads only, and a descriptor takes
 * one filter: so it is set when all of them have been started, and before any event runs.
 */
#include "record/recording.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

/* "common_pid != 7 && common_pid != 8", for each thread of this process. */
static int other_threads(struct str *out, struct str *err)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;

	if (!tasks)
		return fail(err, -errno, "--exclude-perf: /proc/self/task: %s", strerror(errno));
	while ((entry = readdir(tasks)) != NULL) {
		if (entry->d_name[0] != '.')
			str_addf(out, "%scommon_pid != %s", out->len ? " && " : "", entry->d_name);
	}
	closedir(tasks);
	return 0;
}

int leave_pstat_out(struct event_list *events, struct counter_set *set, struct str *err)
{
	struct str others = STR_INIT;
	int rc = other_threads(&others, err);

	for (size_t i = 0; i < events->n && !rc; i++) {
		struct event *event = &events->v[i];
		char *given = event->filter;

		if (event->attr.type != PERF_TYPE_TRACEPOINT)
			continue;
		event->filter = given ? xasprintf("(%s) && (%s)", given, others.s) :
					xasprintf("%s", others.s);
		free(given);
	}
	str_release(&others);
	return rc ? rc : counters_set_filters(set, err);
}
