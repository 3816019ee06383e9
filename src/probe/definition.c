/* SPDX-License-Identifier: MIT */
/*
 * definition: the names of probes, and their lines in tracefs:
 *
 *	p:probe_prog/parse /usr/bin/prog:0x0000000000001230 length=%si:s32
 *	r:probe_prog/parse__return /usr/bin/prog:0x0000000000001220 $retval
 *	p:probe/vfs_read vfs_read+0
 *
 * A group is probe_ and the file's name up to its first '-', '.' or '_'. An event is called as its function, with
 * __return or _LLINE behind it; where that name is in use, --force makes NAME_1, NAME_2 of it. Probes of one point have
 * one event: the kernel counts them together (since 5.4).
 */
#include "probe/probe_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

enum { SUFFIX_MAX = 1024 };

void probe_definitions_cut(struct probe_definitions *definitions, size_t n)
{
	while (definitions->n > n) {
		struct probe_definition *definition = &definitions->v[--definitions->n];

		free(definition->group);
		free(definition->event);
		free(definition->path);
		free(definition->place);
		free(definition->text);
	}
}

void probe_definitions_release(struct probe_definitions *definitions)
{
	probe_definitions_cut(definitions, 0);
	free(definitions->v);
	*definitions = (struct probe_definitions){ 0 };
}

/* ---- names ---- */

/* Letters that no name may have become '_'. */
static void add_identifier(struct str *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_addc(out, isalnum((unsigned char)text[i]) ? text[i] : '_');
}

char *probe_group_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	struct str group = STR_INIT;
	size_t n = strcspn(base, "-._");

	str_add(&group, "probe_");
	add_identifier(&group, base, n ? n : strlen(base));
	return str_detach(&group);
}

/* Names of point->event; else of its place. */
static void add_base(struct str *name, const struct probe_point *point, const char *function)
{
	const char *base = point->function ? point->function : function;

	if (point->event) {
		str_add(name, point->event);
	} else if (base) {
		/* "_ZN1a1bEv.cold", "memcpy@GLIBC_2.14": the function's name ends before. */
		size_t n = strcspn(base, ".@");

		add_identifier(name, base, n ? n : strlen(base));
	} else {
		str_addf(name, "abs_%llx", (unsigned long long)point->address);
	}
	if (point->returns)
		str_add(name, "__return");
	else if (!point->event && point->function && point->has_line)
		str_addf(name, "_L%llu", (unsigned long long)point->line);
}

static bool is_taken(const char *group, const char *event, const struct probe_naming *naming,
		     const struct probe_definitions *made)
{
	for (size_t i = 0; naming->taken && i < naming->taken->n; i++)
		if (!strcmp(naming->taken->v[i].group, group) && !strcmp(naming->taken->v[i].event, event))
			return true;
	for (size_t i = 0; i < made->n; i++)
		if (!strcmp(made->v[i].group, group) && !strcmp(made->v[i].event, event))
			return true;
	return false;
}

char *probe_usdt_group(const char *provider)
{
	struct str group = STR_INIT;

	str_add(&group, "sdt_");
	add_identifier(&group, provider, strlen(provider));
	return str_detach(&group);
}

char *probe_event_name(const struct probe_point *point, const char *group, const char *function,
		       const struct probe_naming *naming, const struct probe_definitions *made, struct str *err)
{
	struct str name = STR_INIT;
	size_t base;

	add_base(&name, point, function);
	base = name.len;
	for (unsigned i = 1; is_taken(group, name.s, naming, made) && naming->force && i < SUFFIX_MAX; i++) {
		name.len = base;
		str_addf(&name, "_%u", i);
	}
	if (is_taken(group, name.s, naming, made))
		fail(err, -EEXIST, "%s:%s is there already", group, name.s);
	else if (name.len > PROBE_NAME_MAX)
		fail(err, -EINVAL, "'%s' has %zu letters, the kernel takes %d: give it a name, NAME=PLACE", name.s,
		     name.len, PROBE_NAME_MAX);
	else if (!name.len || isdigit((unsigned char)name.s[0]))
		fail(err, -EINVAL, "'%s' is no name of an event: give it one, NAME=PLACE", name.s);
	else
		return str_detach(&name);
	str_release(&name);
	return NULL;
}

void probe_point_text(const struct probe_point *point, struct str *out)
{
	if (point->has_address)
		str_addf(out, "%#llx", (unsigned long long)point->address);
	if (point->provider && !strcmp(point->provider, "*"))
		str_addc(out, '%');
	else if (point->provider)
		str_addf(out, "%%sdt_%s:", point->provider);
	if (point->function)
		str_add_printable(out, point->function, strlen(point->function));
	if (point->source) {
		str_add(out, point->function ? "@" : "");
		str_add_printable(out, point->source, strlen(point->source));
	}
	if (point->offset)
		str_addf(out, "+%llu", (unsigned long long)point->offset);
	if (point->has_line)
		str_addf(out, ":%llu", (unsigned long long)point->line);
	if (point->text) {
		str_addc(out, ';');
		str_add_printable(out, point->text, strlen(point->text));
	}
	str_add(out, point->returns ? "%return" : "");
}

bool probe_name_matches(const struct probe_point *point, const char *symbol)
{
	return glob_match(point->function, symbol) && !strstr(symbol, ".cold");
}

static int define_kernel_function(const struct probe_point *point, const struct probe_naming *naming,
				  struct probe_definitions *definitions, struct str *err)
{
	const char *group = point->group ? point->group : "probe";
	struct str text = STR_INIT, place = STR_INIT;
	char *event;

	if (point->provider || point->source || point->has_line || point->text)
		return fail(err, -ENOTSUP, "lines of the kernel's source are not known here: "
			    "a probe of the kernel is FUNCTION[+OFFSET|%%return]");
	for (size_t i = 0; i < point->n_arguments; i++)
		if (strstr(point->arguments[i], "$retval") && !point->returns)
			return fail(err, -EINVAL, "$retval is known where a function returns: %s%%return",
				    point->function ? point->function : "FUNCTION");
		else if (!strpbrk(point->arguments[i], "%$@+-\\"))
			return fail(err, -ENOTSUP, "'%s': of the kernel only registers and memory can be read",
				    point->arguments[i]);
	event = probe_event_name(point, group, NULL, naming, definitions, err);
	if (!event)
		return -EINVAL;
	str_addf(&text, "%c:%s/%s ", point->returns ? 'r' : 'p', group, event);
	if (point->has_address)
		str_addf(&text, "%#llx", (unsigned long long)point->address);
	else
		str_addf(&text, "%s+%llu", point->function, (unsigned long long)point->offset);
	for (size_t i = 0; i < point->n_arguments; i++)
		str_addf(&text, " %s", point->arguments[i]);
	probe_point_text(point, &place);
	VEC_GROW(definitions->v, definitions->n, definitions->cap);
	definitions->v[definitions->n++] = (struct probe_definition){
		.group = xstrdup(group), .event = event, .place = str_detach(&place), .text = str_detach(&text),
	};
	return 0;
}

int probe_define_kernel(const struct probe_point *point, const struct probe_names *functions,
			const struct probe_naming *naming, struct probe_definitions *definitions, struct str *err)
{
	const size_t before = definitions->n;
	struct probe_point one = *point;
	size_t n = 0;
	int rc = 0;

	if (!point->is_pattern)
		return define_kernel_function(point, naming, definitions, err);
	one.is_pattern = false;
	for (size_t i = 0; i < functions->n && !rc; i++) {
		if (!probe_name_matches(point, functions->v[i]))
			continue;
		one.function = functions->v[i];
		rc = n++ && point->event ? fail(err, -EINVAL, PROBE_ONE_NAME, point->function, point->event) :
					   define_kernel_function(&one, naming, definitions, err);
	}
	if (!n)
		rc = fail(err, -ENOENT, "the kernel has no function that '%s' matches", point->function);
	if (rc)
		probe_definitions_cut(definitions, before);
	return rc;
}

/* ---- tracefs's list ---- */

void probe_entries_release(struct probe_entries *entries)
{
	for (size_t i = 0; i < entries->n; i++) {
		free(entries->v[i].group);
		free(entries->v[i].event);
		free(entries->v[i].path);
		free(entries->v[i].place);
		free(entries->v[i].arguments);
	}
	free(entries->v);
	*entries = (struct probe_entries){ 0 };
}

/* "PATH:0x1230", which may end in "(0x4010)", a semaphore's offset, or else a place in the kernel. */
static void take_where(struct probe_entry *entry, const char *where)
{
	const char *colon = strrchr(where, ':');
	char *end;

	entry->place = xstrdup(colon && where[0] == '/' ? colon + 1 : where);
	if (!colon || where[0] != '/')
		return;
	entry->offset = strtoull(colon + 1, &end, 16);
	entry->path = xstrndup(where, (size_t)(colon - where));
}

/* "p:GROUP/EVENT WHERE [NAME=FETCH]..."; "r8:GROUP/EVENT ..." is a return as well. */
static bool take_line(struct probe_entry *entry, char *line)
{
	char *head = strsep(&line, " "), *where = line ? strsep(&line, " ") : NULL, *word;
	char *names = strchr(head, ':'), *slash = names ? strchr(names, '/') : NULL;
	struct str arguments = STR_INIT;

	if (!strchr("pr", head[0]) || !head[0] || !slash || !where || !*where)
		return false;
	*entry = (struct probe_entry){
		.group = xstrndup(names + 1, (size_t)(slash - names - 1)),
		.event = xstrdup(slash + 1),
		.returns = head[0] == 'r',
	};
	take_where(entry, where);
	while (line && (word = strsep(&line, " ")))
		if (*word)
			str_addf(&arguments, " %.*s", (int)strcspn(word, "="), word);
	entry->arguments = str_detach(&arguments);
	return true;
}

void probe_entries_parse(struct probe_entries *entries, const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		VEC_GROW(entries->v, entries->n, entries->cap);
		if (*line && take_line(&entries->v[entries->n], line))
			entries->n++;
	}
	free(copy);
}

bool probe_entry_matches(const struct probe_entry *entry, const char *pattern)
{
	const char *colon = strchr(pattern, ':');
	char *group = colon ? xstrndup(pattern, (size_t)(colon - pattern)) : NULL;
	bool matches = (!group || !*group || glob_match(group, entry->group)) &&
		       glob_match(colon ? colon + 1 : pattern, entry->event);

	free(group);
	return matches;
}
