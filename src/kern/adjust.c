/*
 * One open counter, changed while it counts: its filter, its period, a BPF program that it runs. All of its cells
 * take the change, one after the other; the first that does not ends it.
 *
 * Source: perf_event_open(2), "perf_event ioctl calls".
 */
#include "kern/cells.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>

static int each_cell(const struct counter_set *set, size_t index, unsigned long request, unsigned long arg)
{
	const struct counter *c = &set->v[index];
	int rc = 0;

	for (size_t cell = 0; rc >= 0 && cell < cells_count(c); cell++)
		if (c->fds[cell] >= 0)
			rc = set->kern->sys->ioctl(c->fds[cell], request, arg);
	return rc < 0 ? rc : 0;
}

static int filter_failed(const struct counter_set *set, const struct event *event, const char *filter, int rc,
			 struct str *err)
{
	struct str reason = STR_INIT, remedy = STR_INIT;
	struct event refused = *event;

	refused.filter = xstrdup(filter);
	if (rc == -EINVAL)
		event_filter_explain(&refused, &set->kern->host, &reason, &remedy);
	free(refused.filter);
	str_add(err, "filter '");
	str_add_printable(err, filter, strlen(filter));
	str_addf(err, "' of %s: ", event->name);
	if (reason.len)
		str_addf(err, "%s\n%s", reason.s, remedy.s);
	else if (rc == -EEXIST)
		str_add(err, "it has a filter, and the kernel takes one for each event that is open");
	else
		str_addf(err, "the kernel refuses it: %s", strerror(-rc));
	str_release(&reason);
	str_release(&remedy);
	return rc;
}

int counter_set_filter(const struct counter_set *set, size_t index, const char *filter, struct str *err)
{
	int rc = each_cell(set, index, PERF_EVENT_IOC_SET_FILTER, (unsigned long)filter);

	return rc < 0 ? filter_failed(set, set->v[index].event, filter, rc, err) : 0;
}

int counter_set_period(const struct counter_set *set, size_t index, uint64_t period)
{
	return each_cell(set, index, PERF_EVENT_IOC_PERIOD, (unsigned long)&period);
}

int counter_attach_bpf(const struct counter_set *set, size_t index, int program_fd)
{
	return each_cell(set, index, PERF_EVENT_IOC_SET_BPF, (unsigned long)program_fd);
}

int counter_cell_id(const struct counter_set *set, size_t index, size_t cell, uint64_t *id)
{
	return set->kern->sys->ioctl(set->v[index].fds[cell], PERF_EVENT_IOC_ID, (unsigned long)id);
}
