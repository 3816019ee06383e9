/* SPDX-License-Identifier: MIT */
/*
 * feature_events.c: kinds of fields about events and their PMUs: EVENT_DESC and GROUP_DESC, which give
 * the events of the attr section their names and groups, and the capabilities of PMUs.
 *
 * EVENT_DESC and GROUP_DESC are not kept in struct info: they are read into struct events and written
 * from it.
 */
#include "data/attr.h"
#include "data/feature.h"

#include <stdlib.h>

/* The event that an EVENT_DESC entry means: by its first id, else by its place. */
static struct data_event *desc_event(struct events *events, uint32_t i, uint64_t id, bool has_id)
{
	struct data_event *event = has_id ? events_find(events, id) : NULL;

	if (!event && i < events->n)
		event = events->v[i];
	return event;
}

/* n | attr size | per event: attr, number of ids, name, ids */
FEATURE_READ(event_desc)
{
	struct cursor *c = &r->c;
	uint32_t n = cursor_u32(c);
	uint32_t attr_size = cursor_u32(c);

	if (n && attr_size < ATTR_SIZE_VER0)
		r->why = "its attrs are too small";
	for (uint32_t i = 0; i < n && !c->bad && !r->why; i++) {
		const uint8_t *ids;
		struct data_event *event;
		uint32_t n_ids;
		char *name;

		cursor_bytes(c, attr_size);
		n_ids = cursor_u32(c);
		name = feature_text_read(c);
		ids = cursor_bytes(c, 8ULL * n_ids);
		event = desc_event(r->events, i, ids && n_ids ? load_u64(ids, c->swap) : 0,
				   ids && n_ids);
		if (!name || !ids || !event) {
			r->why = name && ids ? "it has more events than the recording"
					     : "it is cut off";
			free(name);
			return;
		}
		free(event->name);
		event->name = name;
	}
}

FEATURE_WRITE(event_desc)
{
	const struct events *events = t->events;
	size_t attr_size = 0;

	for (size_t i = 0; i < events->n; i++)
		if (events->v[i]->attr_size > attr_size)
			attr_size = events->v[i]->attr_size;
	put_u32(t->out, (uint32_t)events->n);
	put_u32(t->out, (uint32_t)attr_size);
	for (size_t i = 0; i < events->n; i++) {
		const struct data_event *event = events->v[i];
		struct str name = STR_INIT;

		if (event->name)
			str_add(&name, event->name);
		else
			data_event_add_name(event, &name);
		str_addn(t->out, (const char *)event->attr_bytes, attr_size);
		put_u32(t->out, (uint32_t)event->n_ids);
		feature_text_write(t->out, name.s);
		for (size_t k = 0; k < event->n_ids; k++)
			put_u64(t->out, event->ids[k]);
		str_release(&name);
	}
}

FEATURE_PRINT(event_desc)
{
	for (size_t i = 0; i < t->events->n; i++) {
		const struct data_event *event = t->events->v[i];

		str_add(t->out, "# event : name = ");
		data_event_add_name(event, t->out);
		str_add(t->out, ", ");
		for (size_t k = 0; k < event->n_ids; k++)
			str_addf(t->out, "%s%llu", k ? ", " : "id = { ",
				 (unsigned long long)event->ids[k]);
		if (event->n_ids)
			str_add(t->out, " }, ");
		attr_print(event, t->info, " = ", t->out);
		str_addc(t->out, '\n');
	}
}

/* perf's word for a group without a name */
static const char anon_group[] = "{anon_group}";

/* n | per group: name, index of the leader, number of members */
FEATURE_READ(group_desc)
{
	struct events *events = r->events;
	uint32_t n = cursor_u32(&r->c);

	for (uint32_t i = 0; i < n && !r->c.bad; i++) {
		char *name = feature_text_read(&r->c);
		uint32_t first = cursor_u32(&r->c), n_members = cursor_u32(&r->c);
		struct data_event *leader;

		if (r->c.bad || !n_members || first >= events->n || n_members > events->n - first) {
			free(name);
			if (!r->c.bad)
				r->why = "a group has members that are not in the recording";
			return;
		}
		leader = events->v[first];
		leader->n_members = n_members;
		free(leader->group_name);
		leader->group_name = name;
		if (!strcmp(name, anon_group) || !*name) {
			leader->group_name = NULL;
			free(name);
		}
		for (uint32_t k = 1; k < n_members; k++)
			events->v[first + k]->leader = first;
	}
}

FEATURE_WRITE(group_desc)
{
	uint32_t n = 0;

	for (size_t i = 0; i < t->events->n; i++)
		n += t->events->v[i]->n_members > 1;
	put_u32(t->out, n);
	for (size_t i = 0; i < t->events->n; i++) {
		const struct data_event *event = t->events->v[i];

		if (event->n_members < 2)
			continue;
		feature_text_write(t->out, event->group_name ? event->group_name : anon_group);
		put_u32(t->out, (uint32_t)i);
		put_u32(t->out, (uint32_t)event->n_members);
	}
}

FEATURE_PRINT(group_desc)
{
	for (size_t i = 0; i < t->events->n; i++) {
		const struct data_event *event = t->events->v[i];

		if (event->n_members < 2)
			continue;
		str_add(t->out, "# group: ");
		feature_text_print(t->out, event->group_name);
		for (size_t k = 0; k < event->n_members; k++) {
			str_addc(t->out, k ? ',' : '{');
			data_event_add_name(t->events->v[i + k], t->out);
		}
		str_add(t->out, "}\n");
	}
}

/* ---- capabilities of one PMU: n | pairs of name and value ---- */
FEATURE_READ(caps)
{
	struct info_caps *caps = at;
	uint32_t n = cursor_u32(&r->c);

	for (uint32_t i = 0; i < n && !r->c.bad; i++) {
		*(char **)feature_next(&caps->names, sizeof(char *)) = feature_text_read(&r->c);
		*(char **)feature_next(&caps->values, sizeof(char *)) = feature_text_read(&r->c);
	}
}

FEATURE_WRITE(caps)
{
	const struct info_caps *caps = at;

	put_u32(t->out, (uint32_t)caps->names.n);
	for (size_t i = 0; i < caps->names.n; i++) {
		feature_text_write(t->out, caps->names.v[i]);
		feature_text_write(t->out, caps->values.v[i]);
	}
}

FEATURE_PRINT(caps)
{
	const struct info_caps *caps = at;

	for (size_t i = 0; i < caps->names.n; i++) {
		str_add(t->out, i ? ", " : "");
		feature_text_print(t->out, caps->names.v[i]);
		str_addc(t->out, '=');
		feature_text_print(t->out, caps->values.v[i]);
	}
	str_add(t->out, caps->names.n ? "" : "not available");
}

static void texts_release(struct text_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i]);
	free(list->v);
	*list = (struct text_list){ 0 };
}

FEATURE_RELEASE(caps)
{
	struct info_caps *caps = at;

	texts_release(&caps->names);
	texts_release(&caps->values);
}

const struct feature_kind feature_event_desc = { event_desc_read, event_desc_write,
						 event_desc_print, NULL };
const struct feature_kind feature_group_desc = { group_desc_read, group_desc_write,
						 group_desc_print, NULL };
const struct feature_kind feature_caps = { caps_read, caps_write, caps_print, caps_release };
