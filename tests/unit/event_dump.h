/* SPDX-License-Identifier: MIT */
/*
 * Events as one line that a test can show beside the expected one:
 *
 *   {faults:k 1:2 uk H; branches 0:4 u H}; cycles:k 0:0 k HG p2 D
 *
 * name, type:config in hexadecimal, config1 and config2 where they are not 0, the modes and the sides
 * that count, then what else is set. A group stands in braces behind its name.
 */
#ifndef EVENT_DUMP_H
#define EVENT_DUMP_H

#include "event/event.h"

static inline void dump_flags(struct str *out, const struct event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	const struct {
		bool set;
		const char *text;
	} flags[] = {
		{ attr->exclude_idle, " I" }, { event->precise_max, " P" }, { attr->pinned, " D" },
		{ attr->exclusive, " e" },    { event->read_group, " S" },  { event->weak, " W" },
		{ event->bpf, " b" },
	};

	if (attr->precise_ip)
		str_addf(out, " p%u", (unsigned)attr->precise_ip);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (flags[i].set)
			str_add(out, flags[i].text);
	if (event->terms.has_period)
		str_addf(out, " period=%llu", (unsigned long long)attr->sample_period);
	if (event->terms.has_freq)
		str_addf(out, " freq=%llu", (unsigned long long)attr->sample_freq);
}

static inline void dump_event(struct str *out, const struct event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	str_addf(out, "%s %x:%llx", event->name, attr->type, (unsigned long long)attr->config);
	if (attr->config1 || attr->config2)
		str_addf(out, ",%llx,%llx", (unsigned long long)attr->config1,
			 (unsigned long long)attr->config2);
	str_addf(out, " %s%s%s %s%s", attr->exclude_user ? "" : "u", attr->exclude_kernel ? "" : "k",
		 attr->exclude_hv ? "" : "h", attr->exclude_host ? "" : "H",
		 attr->exclude_guest ? "" : "G");
	dump_flags(out, event);
}

static inline void dump_events(struct str *out, const struct event_list *list)
{
	str_reset(out);
	for (size_t i = 0; i < list->n; i++) {
		const struct event *event = &list->v[i];
		const struct event *leader = &list->v[event->leader];

		str_add(out, i ? "; " : "");
		if (event == leader && (event->n_members > 1 || event->group_name))
			str_addf(out, "%s{", event->group_name ? event->group_name : "");
		dump_event(out, event);
		if ((leader->n_members > 1 || leader->group_name) &&
		    i + 1 == event->leader + leader->n_members)
			str_addc(out, '}');
	}
}

#endif
