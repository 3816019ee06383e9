/*
 * "did you mean ...?": the known event whose name is nearest to a word that nobody knows. Only on the
 * way to an error, and only from sources whose lists are cheap to read.
 */
#include "event/source.h"

static int consider(const struct event_info *info, void *data)
{
	near_consider(data, info->name);
	near_consider(data, info->alias);
	return 0;
}

static void consider_pmus(const struct host_paths *host, struct near_name *near)
{
	struct event_pmu_list pmus = { .v = NULL };

	if (event_pmus_read(&pmus, host) >= 0)
		for (size_t i = 0; i < pmus.n; i++)
			near_consider(near, pmus.v[i].name);
	event_pmu_list_release(&pmus);
}

void event_suggest(struct event_parse *p, const char *word)
{
	struct str unread = STR_INIT; /* a source that cannot be read here suggests nothing */
	struct near_name near;
	const char *best;

	if (p->error->code)
		return;
	near_init(&near, word, strlen(word));
	for (size_t i = 0; i < n_event_sources; i++)
		if (event_sources[i]->list && !event_sources[i]->list_is_slow)
			event_sources[i]->list(p->host, consider, &near, &unread);
	consider_pmus(p->host, &near);
	best = near_best(&near);
	if (best)
		str_addf(&p->error->hint, "did you mean '%s'?", best);
	else
		str_add(&p->error->hint, "'pstat list' shows what there is");
	str_release(&unread);
}
