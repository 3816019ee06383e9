/* SPDX-License-Identifier: MIT */
/*
 * list: what there is, for `pstat list`: the sources' own lists, filtered.
 *
 * A glob is matched against an event's name (PMU/alias/ for PMUs) and its second name; a
 * word without * ? [ finds what contains it. PMU::... lists libpfm4's events of that PMU also
 * where the machine does not have it.
 */
#include "event/pfm.h"

#include <errno.h>
#include <stdlib.h>

struct filter {
	char *pattern; /* NULL: everything */
	event_info_fn fn;
	void *data;
	int stopped; /* what fn returned when it ended the walk */
};

static int filtered(const struct event_info *info, void *data)
{
	struct filter *filter = data;

	if (filter->pattern && !glob_match(filter->pattern, info->name) &&
	    !(*info->alias && glob_match(filter->pattern, info->alias)))
		return 0;
	filter->stopped = filter->fn(info, filter->data);
	return filter->stopped;
}

static int walk_foreign_pfm(struct filter *filter, const char *glob, struct str *err)
{
	char *pmu = xstrndup(glob, (size_t)(strstr(glob, "::") - glob));
	int ret = pfm_list_pmus(pmu, filtered, filter, err);

	free(pmu);
	return ret;
}

static int unknown_topic(const char *topic, struct str *err)
{
	struct near_name near;

	near_init(&near, topic, strlen(topic));
	fail(err, -EINVAL, "unknown topic '%s'; there are:", topic);
	for (size_t i = 0; i < n_event_sources; i++) {
		near_consider(&near, event_sources[i]->topic.name);
		str_addf(err, " %s", event_sources[i]->topic.name);
	}
	if (near_best(&near))
		str_addf(err, "\n  did you mean '%s'?", near_best(&near));
	return -EINVAL;
}

/*
 * A topic that was not asked for by name may be missing here; why it is goes to err all the same.
 */
static int walk_source(const struct event_source *source, bool asked, const char *glob,
		       const struct host_paths *host, struct filter *filter, struct str *err)
{
	struct str why = STR_INIT;
	int ret;

	if (!source->list)
		return 0;
	if (source == &pfm_source && glob && strstr(glob, "::"))
		ret = walk_foreign_pfm(filter, glob, &why);
	else
		ret = source->list(host, filtered, filter, &why);
	if (why.len && (asked || ret != -ENOSYS))
		fail(err, ret, "%s%s", err->len ? "\n" : "", why.s);
	str_release(&why);
	return asked || filter->stopped ? ret : 0;
}

const struct event_topic *event_topic(size_t i)
{
	return i < n_event_sources ? &event_sources[i]->topic : NULL;
}

const struct event_topic *event_topic_find(const char *name)
{
	for (size_t i = 0; i < n_event_sources; i++)
		if (!strcmp(event_sources[i]->topic.name, name))
			return &event_sources[i]->topic;
	return NULL;
}

int event_walk(const char *topic, const char *glob, const struct host_paths *host, event_info_fn fn,
	       void *data, struct str *err)
{
	struct filter filter = { .fn = fn, .data = data };
	bool known = false;
	int ret = 0;

	if (glob)
		filter.pattern = has_glob_chars(glob) ? xstrdup(glob) : xasprintf("*%s*", glob);
	for (size_t i = 0; i < n_event_sources && !ret; i++) {
		if (topic && strcmp(topic, event_sources[i]->topic.name) != 0)
			continue;
		known = true;
		ret = walk_source(event_sources[i], topic != NULL, glob, host, &filter, err);
	}
	if (!known)
		ret = unknown_topic(topic, err);
	free(filter.pattern);
	return ret;
}
