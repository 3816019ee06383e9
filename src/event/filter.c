/* SPDX-License-Identifier: MIT */
/*
 * The reason why a tracepoint's filter was refused. The kernel alone parses it, and answers EINVAL to all that
 * it does not like; most often that is a field's name. So the names that stand where a field belongs
 * are looked up in the tracepoint's format:
 *
 *	prev_pid > 1 && (next_comm ~ "ba*" || !prio)
 *	^^^^^^^^         ^^^^^^^^^             ^^^^     at the start, after ( ! && ||
 *
 * Source: Documentation/trace/events.rst, "Event filtering"; kernel/trace/trace_events.c for the
 * fields that every tracepoint has.
 */
#include "event/name_list.h"
#include "event/source.h"

#include <ctype.h>
#include <stdlib.h>

/* Fields that every tracepoint has, and no format file. */
static const char *const general_fields[] = { "CPU", "cpu", "COMM", "comm" };

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Does a field's name belong after this character, if nothing else than white space follows it? */
static bool asks_for_field(const char *at)
{
	return *at == '(' || *at == '&' || *at == '|' || (*at == '!' && at[1] != '=');
}

/* The next name in the place of a field, and where it ends; NULL: there is none. */
static const char *next_field(const char *at, bool wanted, const char **end)
{
	while (*at) {
		const char *close = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;

		if (is_name_char(*at)) {
			*end = at;
			while (is_name_char(**end))
				++*end;
			if (wanted && !isdigit((unsigned char)*at))
				return at;
			at = *end;
			wanted = false;
			continue;
		}
		if (!isspace((unsigned char)*at))
			wanted = asks_for_field(at);
		at = close ? close + 1 : at + 1;
	}
	return NULL;
}

/* "	field:char prev_comm[16];	offset:8;	size:16;	signed:0;" */
static void add_field(struct name_list *fields, const char *line)
{
	const char *start = strstr(line, "field:"), *end, *name;

	if (!start)
		return;
	end = start + strcspn(start, ";[");
	while (end > start && isspace((unsigned char)end[-1]))
		end--;
	for (name = end; name > start && is_name_char(name[-1]);)
		name--;
	if (name == end)
		return;
	VEC_GROW(fields->v, fields->n, fields->cap);
	fields->v[fields->n++] = xstrndup(name, (size_t)(end - name));
}

static int read_fields(const struct event *event, const struct host_paths *host,
		       struct name_list *fields)
{
	struct str root = STR_INIT, text = STR_INIT;
	char *path, *rest, *line;
	int rc = tracefs_root(host, &root);

	path = xasprintf("%s/events/%s/format", root.s, event->tracepoint);
	if (!rc)
		rc = read_text_file(path, &text);
	rest = rc || !text.len ? NULL : text.s;
	while ((line = strsep(&rest, "\n")))
		add_field(fields, line);
	str_release(&root);
	str_release(&text);
	free(path);
	return rc;
}

static bool is_field(const struct name_list *fields, const char *name, size_t len)
{
	for (size_t i = 0; i < fields->n; i++) {
		if (strlen(fields->v[i]) == len && !memcmp(fields->v[i], name, len))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(general_fields); i++) {
		if (strlen(general_fields[i]) == len && !memcmp(general_fields[i], name, len))
			return true;
	}
	return false;
}

static void add_remedy(const struct name_list *fields, const char *name, size_t len,
		       struct str *remedy)
{
	struct near_name near;

	near_init(&near, name, len);
	for (size_t i = 0; i < fields->n; i++)
		near_consider(&near, fields->v[i]);
	if (near_best(&near)) {
		str_addf(remedy, "did you mean '%s'?", near_best(&near));
		return;
	}
	str_add(remedy, "its fields:");
	for (size_t i = 0; i < fields->n; i++) {
		str_add(remedy, i ? ", " : " ");
		str_add_printable(remedy, fields->v[i], strlen(fields->v[i]));
	}
}

void event_filter_explain(const struct event *event, const struct host_paths *host,
			  struct str *reason, struct str *remedy)
{
	struct name_list fields = { 0 };
	const char *at = event->filter, *end;
	bool any = event->tracepoint && !read_fields(event, host, &fields) && fields.n;

	for (bool first = true; any && (at = next_field(at, first, &end)); first = false) {
		size_t len = (size_t)(end - at);

		if (!is_field(&fields, at, len)) {
			str_add(reason, "it has no field '");
			str_add_printable(reason, at, len);
			str_addc(reason, '\'');
			add_remedy(&fields, at, len, remedy);
			break;
		}
		at = end;
	}
	name_list_release(&fields);
}
