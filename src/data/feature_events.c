/*
 * feature_events.c: features about events and their units: EVENT_DESC and GROUP_DESC, which give the
 * events of the attr section their names and groups, unit numbers, and unit capabilities.
 *
 * EVENT_DESC and GROUP_DESC are not kept in struct info: they are written from struct events.
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
	uint32_t n = cursor_u32(c);
	uint32_t attr_size = cursor_u32(c);

	FEATURE_UNUSED;
	if (n && attr_size < ATTR_SIZE_VER0)
		return "its attrs are too small";
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		const uint8_t *ids;
		struct data_event *event;
		uint32_t n_ids;
		char *name;

		cursor_bytes(c, attr_size);
		n_ids = cursor_u32(c);
		name = feature_text(c);
		ids = cursor_bytes(c, 8ULL * n_ids);
		event = desc_event(events, i, ids && n_ids ? load_u64(ids, c->swap) : 0,
				   ids && n_ids);
		if (!name || !ids || !event) {
			free(name);
			return name && ids ? "it has more events than the recording"
					   : "it is cut off";
		}
		free(event->name);
		event->name = name;
	}
	return NULL;
}

FEATURE_WRITE(event_desc)
{
	size_t attr_size = 0;

	FEATURE_UNUSED;
	for (size_t i = 0; i < events->n; i++)
		if (events->v[i]->attr_size > attr_size)
			attr_size = events->v[i]->attr_size;
	put_u32(out, (uint32_t)events->n);
	put_u32(out, (uint32_t)attr_size);
	for (size_t i = 0; i < events->n; i++) {
		const struct data_event *event = events->v[i];
		struct str name = STR_INIT;

		if (event->name)
			str_add(&name, event->name);
		else
			data_event_add_name(event, &name);
		str_addn(out, (const char *)event->attr_bytes, attr_size);
		put_u32(out, (uint32_t)event->n_ids);
		feature_put_text(out, name.s);
		for (size_t k = 0; k < event->n_ids; k++)
			put_u64(out, event->ids[k]);
		str_release(&name);
	}
}

FEATURE_PRINT(event_desc)
{
	FEATURE_UNUSED;
	for (size_t i = 0; i < events->n; i++) {
		const struct data_event *event = events->v[i];

		str_add(out, "# event : name = ");
		data_event_add_name(event, out);
		str_add(out, ", ");
		for (size_t k = 0; k < event->n_ids; k++)
			str_addf(out, "%s%llu", k ? ", " : "id = { ",
				 (unsigned long long)event->ids[k]);
		if (event->n_ids)
			str_add(out, " }, ");
		attr_print(event, " = ", out);
		str_addc(out, '\n');
	}
}

FEATURE_RELEASE(event_desc)
{
	(void)row, (void)info; /* the names belong to the events */
}

/* n | per group: name, index of the leader, number of members */
FEATURE_READ(group_desc)
{
	uint32_t n = cursor_u32(c);

	FEATURE_UNUSED;
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		struct info_group *group = VEC_NEXT(info->groups);
		struct data_event *leader;

		group->name = feature_text(c);
		group->leader = cursor_u32(c);
		group->n_members = cursor_u32(c);
		if (c->bad)
			break;
		if (!group->n_members || group->leader >= events->n ||
		    group->n_members > events->n - group->leader)
			return "a group has members that are not in the recording";
		leader = events->v[group->leader];
		leader->n_members = group->n_members;
		free(leader->group_name);
		/* perf's word for a group without a name */
		leader->group_name = strcmp(group->name, "{anon_group}") && *group->name
					     ? xstrdup(group->name)
					     : NULL;
		for (uint32_t k = 1; k < group->n_members; k++)
			events->v[group->leader + k]->leader = group->leader;
	}
	return NULL;
}

FEATURE_WRITE(group_desc)
{
	uint32_t n = 0;

	FEATURE_UNUSED;
	for (size_t i = 0; i < events->n; i++)
		n += events->v[i]->n_members > 1;
	put_u32(out, n);
	for (size_t i = 0; i < events->n; i++) {
		const struct data_event *event = events->v[i];

		if (event->n_members < 2)
			continue;
		feature_put_text(out, event->group_name ? event->group_name : "{anon_group}");
		put_u32(out, (uint32_t)i);
		put_u32(out, (uint32_t)event->n_members);
	}
}

FEATURE_PRINT(group_desc)
{
	FEATURE_UNUSED;
	for (size_t i = 0; i < events->n; i++) {
		const struct data_event *event = events->v[i];

		if (event->n_members < 2)
			continue;
		str_add(out, "# group: ");
		feature_add_text(out, event->group_name);
		for (size_t k = 0; k < event->n_members; k++) {
			str_addc(out, k ? ',' : '{');
			data_event_add_name(events->v[i + k], out);
		}
		str_add(out, "}\n");
	}
}

FEATURE_RELEASE(group_desc)
{
	(void)row;
	for (size_t i = 0; i < info->groups.n; i++)
		free(info->groups.v[i].name);
	VEC_RELEASE(info->groups);
}

FEATURE_READ(pmu_mappings)
{
	uint32_t n = cursor_u32(c);

	FEATURE_UNUSED;
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		struct info_pmu *pmu = VEC_NEXT(info->pmus);

		pmu->type = cursor_u32(c);
		pmu->name = feature_text(c);
	}
	return NULL;
}

FEATURE_WRITE(pmu_mappings)
{
	FEATURE_UNUSED;
	put_u32(out, (uint32_t)info->pmus.n);
	for (size_t i = 0; i < info->pmus.n; i++) {
		put_u32(out, info->pmus.v[i].type);
		feature_put_text(out, info->pmus.v[i].name);
	}
}

FEATURE_PRINT(pmu_mappings)
{
	FEATURE_UNUSED;
	str_add(out, "# pmu mappings: ");
	for (size_t i = 0; i < info->pmus.n; i++) {
		str_add(out, i ? ", " : "");
		feature_add_text(out, info->pmus.v[i].name);
		str_addf(out, " = %u", info->pmus.v[i].type);
	}
	str_addc(out, '\n');
}

FEATURE_RELEASE(pmu_mappings)
{
	(void)row;
	for (size_t i = 0; i < info->pmus.n; i++)
		free(info->pmus.v[i].name);
	VEC_RELEASE(info->pmus);
}

/* ---- capabilities: pairs of name and value, for the core unit or for each unit ---- */
static void caps_read(struct info_caps *caps, struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	for (uint32_t i = 0; i < n && !c->bad; i++) {
		char *name = feature_text(c), *value = feature_text(c);

		if (name && value) {
			text_list_add(&caps->names, name, strlen(name));
			text_list_add(&caps->values, value, strlen(value));
		}
		free(name);
		free(value);
	}
}

static void caps_write(const struct info_caps *caps, struct str *out)
{
	put_u32(out, (uint32_t)caps->names.n);
	for (size_t i = 0; i < caps->names.n; i++) {
		feature_put_text(out, caps->names.v[i]);
		feature_put_text(out, caps->values.v[i]);
	}
}

static void caps_print(const struct info_caps *caps, struct str *out)
{
	str_add(out, "# ");
	feature_add_text(out, caps->pmu ? caps->pmu : "cpu");
	str_add(out, " pmu capabilities: ");
	for (size_t i = 0; i < caps->names.n; i++) {
		str_add(out, i ? ", " : "");
		feature_add_text(out, caps->names.v[i]);
		str_addc(out, '=');
		feature_add_text(out, caps->values.v[i]);
	}
	str_add(out, caps->names.n ? "\n" : "not available\n");
}

static void caps_release(struct info_caps *caps)
{
	free(caps->pmu);
	text_list_release(&caps->names);
	text_list_release(&caps->values);
}

FEATURE_READ(cpu_pmu_caps)
{
	FEATURE_UNUSED;
	caps_read(VEC_NEXT(info->cpu_caps), c);
	return NULL;
}

FEATURE_WRITE(cpu_pmu_caps)
{
	static const struct info_caps none;

	FEATURE_UNUSED;
	caps_write(info->cpu_caps.n ? &info->cpu_caps.v[0] : &none, out);
}

FEATURE_PRINT(cpu_pmu_caps)
{
	FEATURE_UNUSED;
	for (size_t i = 0; i < info->cpu_caps.n; i++)
		caps_print(&info->cpu_caps.v[i], out);
}

FEATURE_RELEASE(cpu_pmu_caps)
{
	(void)row;
	for (size_t i = 0; i < info->cpu_caps.n; i++)
		caps_release(&info->cpu_caps.v[i]);
	VEC_RELEASE(info->cpu_caps);
}

FEATURE_READ(pmu_caps)
{
	uint32_t n = cursor_u32(c);

	FEATURE_UNUSED;
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		struct info_caps *caps = VEC_NEXT(info->pmu_caps);

		caps_read(caps, c);
		caps->pmu = feature_text(c);
	}
	return NULL;
}

FEATURE_WRITE(pmu_caps)
{
	FEATURE_UNUSED;
	put_u32(out, (uint32_t)info->pmu_caps.n);
	for (size_t i = 0; i < info->pmu_caps.n; i++) {
		caps_write(&info->pmu_caps.v[i], out);
		feature_put_text(out, info->pmu_caps.v[i].pmu);
	}
}

FEATURE_PRINT(pmu_caps)
{
	FEATURE_UNUSED;
	for (size_t i = 0; i < info->pmu_caps.n; i++)
		caps_print(&info->pmu_caps.v[i], out);
}

FEATURE_RELEASE(pmu_caps)
{
	(void)row;
	for (size_t i = 0; i < info->pmu_caps.n; i++)
		caps_release(&info->pmu_caps.v[i]);
	VEC_RELEASE(info->pmu_caps);
}
