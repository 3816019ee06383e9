/* SPDX-License-Identifier: MIT */
/*
 * The event language under hostile text: whatever comes, it parses or it is refused with a message,
 * and the list that comes out is sound. The machine has no files: nothing of this one is read.
 */
#include "event/event.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What every list promises, see event.h. */
static void check_list(const struct event_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct event *event = &list->v[i];
		const struct event *leader = &list->v[event->leader];

		if (event->leader > i || leader->leader != event->leader || !leader->n_members ||
		    i >= event->leader + leader->n_members || !event->name || !event->unit)
			abort();
	}
}

static void use_list(struct event_list *list)
{
	struct str err = STR_INIT;
	struct event_list copy;

	check_list(list);
	event_list_copy(&copy, list);
	if (event_list_for_each_cgroup(&copy, "a,b", &err) == 0 && copy.n != 2 * list->n)
		abort();
	check_list(&copy);
	event_list_release(&copy);
	str_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct host_paths nowhere = { "/nonexistent/sys", "/nonexistent/proc",
						   "/nonexistent/tracing", NULL };
	char *text = xstrndup((const char *)data, size);
	struct str err = STR_INIT;
	struct event_list list;
	int rc;

	event_list_init(&list);
	rc = event_list_parse(&list, text, &nowhere, &err);
	if (rc < 0 ? list.n || !err.len : !list.n || err.len)
		abort();
	if (rc == 0)
		use_list(&list);
	event_list_release(&list);
	str_release(&err);
	free(text);
	return 0;
}
