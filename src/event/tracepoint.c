/* SPDX-License-Identifier: MIT */
/*
 * tracepoint: SYSTEM:NAME, the kernel's static probes, by their folder in tracefs:
 *
 *	TRACEFS/events/sched/sched_switch/id     the number that goes into attr.config
 *
 * Both parts may be patterns; each match is an event of its own, in the order of the names. A part
 * that is no pattern is opened by its name: its neighbours are not read. Entries without an id
 * (some of the system ftrace) are not for perf_event_open(2).
 */
#include "event/name_list.h"
#include "event/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- tracefs ---- */

static int events_reachable(const char *root)
{
	char *path = xasprintf("%s/events", root);
	int ret = access(path, F_OK) ? -errno : 0;

	free(path);
	return ret;
}

int tracefs_root(const struct host_paths *host, struct str *out)
{
	int ret = events_reachable(host->tracefs);

	str_reset(out);
	str_add(out, host->tracefs);
	if (ret != -ENOENT)
		return ret;
	str_reset(out);
	str_addf(out, "%s/kernel/debug/tracing", host->sysfs);
	if (events_reachable(out->s) == 0)
		return 0;
	str_reset(out);
	str_add(out, host->tracefs);
	return ret;
}

/* Why tracepoints cannot be had here at all, and what to do about it. */
static void explain_tracefs(int code, const char *root, struct str *reason, struct str *remedy)
{
	if (code == -ENOENT) {
		str_addf(reason, "tracepoints: tracefs is not mounted on %s", root);
		str_addf(remedy, "sudo mount -t tracefs nodev %s", root);
	} else if (code == -EACCES || code == -EPERM) {
		str_addf(reason, "tracepoints: this user may not read %s", root);
		str_addf(remedy, "run as root, or: sudo mount -o remount,mode=755 %s", root);
	} else {
		str_addf(reason, "tracepoints: %s: %s", root, strerror(-code));
	}
}

/* ---- lookup ---- */

/* One spec, from which the tracepoints that it names are made. */
struct tracepoint_search {
	struct event_parse *p;
	const struct spec_event *spec;
	struct str root;
	size_t n_found;
};

static int tracefs_fail(struct tracepoint_search *t, int code)
{
	struct str reason = STR_INIT, remedy = STR_INIT;

	explain_tracefs(code, t->root.s, &reason, &remedy);
	if (!t->p->error->code)
		str_add(&t->p->error->hint, remedy.s);
	spec_fail(t->p->error, code, t->spec->word_pos, "%s", reason.s);
	str_release(&reason);
	str_release(&remedy);
	return code;
}

static bool is_pattern(const struct spec_event *spec)
{
	return has_glob_chars(spec->word) || has_glob_chars(spec->second);
}

/* 0 also where the event has no id; negative errno with the error filled. */
static int add_tracepoint(struct tracepoint_search *t, const char *system, const char *name)
{
	char *path = xasprintf("%s/events/%s/%s/id", t->root.s, system, name);
	const char *modifiers = t->spec->modifiers;
	struct event *event;
	uint64_t id;
	int ret = read_u64_file(path, &id);

	free(path);
	if (ret == -ENOENT || ret == -ENOTDIR)
		return 0;
	if (ret)
		return tracefs_fail(t, ret);
	event = event_new(t->p, t->spec, &tracepoint_source);
	event->attr.type = PERF_TYPE_TRACEPOINT;
	event->attr.config = id;
	event->tracepoint = xasprintf("%s/%s", system, name);
	if (is_pattern(t->spec)) {
		free(event->name);
		event->name =
			xasprintf("%s:%s%s%s", system, name, *modifiers ? ":" : "", modifiers);
	}
	t->n_found++;
	return event_apply_terms(t->p, t->spec, event, NULL, NULL, NULL);
}

/* Whether a declaration is of this name: "pid_t pid", "char comm[16]", "__data_loc char[] filename". */
static bool declares(const char *declaration, size_t n, const char *name)
{
	size_t len = strlen(name);

	while (n && declaration[n - 1] == ']')
		while (n && declaration[--n] != '[')
			;
	return n > len && !memcmp(declaration + n - len, name, len) && strchr(" *", declaration[n - len - 1]);
}

/* "	field:pid_t pid;	offset:24;	size:4;	signed:1;" */
static bool read_field(const char *line, const char *name, struct event_field *field)
{
	static const char begin[] = "\tfield:";
	const char *declaration;
	unsigned is_signed = 0;
	size_t n;

	if (strncmp(line, begin, strlen(begin)) != 0)
		return false;
	declaration = line + strlen(begin);
	n = strcspn(declaration, ";\n");
	if (!declares(declaration, n, name) ||
	    sscanf(declaration + n, ";\toffset:%u;\tsize:%u;\tsigned:%u;", &field->at, &field->bytes, &is_signed) < 2)
		return false;
	field->is_signed = is_signed;
	field->is_array = memchr(declaration, '[', n) != NULL;
	field->is_text = field->is_array && memmem(declaration, n, "char", 4) && !memmem(declaration, n, "unsigned", 8);
	field->is_relative = !strncmp(declaration, "__rel_loc ", 10);
	field->is_dynamic = field->is_relative || !strncmp(declaration, "__data_loc ", 11);
	return true;
}

int event_field_find(const struct event *tracepoint, const struct host_paths *host, const char *name,
		     struct event_field *field)
{
	struct str root = STR_INIT, text = STR_INIT;
	bool found = false;
	char *path;
	int rc = tracefs_root(host, &root);

	path = xasprintf("%s/events/%s/format", root.s, tracepoint->tracepoint);
	if (!rc)
		rc = read_text_file(path, &text);
	*field = (struct event_field){ 0 };
	for (const char *line = text.len ? text.s : NULL; !rc && line && !found; line = strchr(line, '\n')) {
		line += *line == '\n';
		found = read_field(line, name, field);
	}
	str_release(&root);
	str_release(&text);
	free(path);
	return rc || found ? rc : -ENOENT;
}

static int add_system(struct tracepoint_search *t, const char *system)
{
	const char *pattern = t->spec->second;
	struct name_list names = { 0 };
	char *dir;
	int ret;

	if (!has_glob_chars(pattern))
		return add_tracepoint(t, system, pattern);
	dir = xasprintf("%s/events/%s", t->root.s, system);
	ret = name_list_read(&names, dir);
	free(dir);
	/* "enable" and "filter" are files of the system's folder. */
	if (ret == -ENOENT || ret == -ENOTDIR)
		ret = 0;
	else if (ret)
		tracefs_fail(t, ret);
	for (size_t i = 0; i < names.n && !ret; i++)
		if (glob_match(pattern, names.v[i]))
			ret = add_tracepoint(t, system, names.v[i]);
	name_list_release(&names);
	return ret;
}

static int add_matching(struct tracepoint_search *t)
{
	const char *pattern = t->spec->word;
	struct name_list systems = { 0 };
	char *dir;
	int ret;

	if (!has_glob_chars(pattern))
		return add_system(t, pattern);
	dir = xasprintf("%s/events", t->root.s);
	ret = name_list_read(&systems, dir);
	free(dir);
	if (ret)
		tracefs_fail(t, ret);
	for (size_t i = 0; i < systems.n && !ret; i++)
		if (glob_match(pattern, systems.v[i]))
			ret = add_system(t, systems.v[i]);
	name_list_release(&systems);
	return ret;
}

/* The nearest entry of a folder below events/ becomes a hint, after `before`. */
static void suggest_in(struct tracepoint_search *t, const char *folder, const char *word,
		       const char *before)
{
	char *dir = xasprintf("%s/events/%s", t->root.s, folder);
	struct name_list names = { 0 };
	struct near_name near;

	near_init(&near, word, strlen(word));
	name_list_read(&names, dir);
	for (size_t i = 0; i < names.n; i++)
		near_consider(&near, names.v[i]);
	if (near_best(&near))
		str_addf(&t->p->error->hint, "did you mean '%s%s'?", before, near_best(&near));
	name_list_release(&names);
	free(dir);
}

static int unknown_tracepoint(struct tracepoint_search *t)
{
	const struct spec_event *spec = t->spec;
	struct spec_error *error = t->p->error;
	char *dir, *system;
	bool has_system;

	if (error->code)
		return error->code;
	if (is_pattern(spec))
		return spec_fail(error, -ENOENT, spec->word_pos, "no tracepoint matches '%s:%s'",
				 spec->word, spec->second);
	dir = xasprintf("%s/events/%s", t->root.s, spec->word);
	has_system = is_plain_file_name(spec->word) && access(dir, F_OK) == 0;
	free(dir);
	if (!has_system) {
		suggest_in(t, "", spec->word, "");
		return spec_fail(error, -ENOENT, spec->word_pos,
				 "unknown tracepoint: this kernel has no tracing system '%s'",
				 spec->word);
	}
	system = xasprintf("%s:", spec->word);
	suggest_in(t, spec->word, spec->second, system);
	free(system);
	return spec_fail(error, -ENOENT, spec->second_pos,
			 "unknown tracepoint: '%s' has no event '%s'", spec->word, spec->second);
}

static int tracepoint_lookup(struct event_parse *p, const struct spec_event *spec)
{
	struct tracepoint_search t = { .p = p, .spec = spec, .root = STR_INIT };
	int ret;

	if (spec->kind != SPEC_PAIR)
		return 0;
	ret = tracefs_root(p->host, &t.root);
	if (ret)
		tracefs_fail(&t, ret);
	else if (is_plain_file_name(spec->word) && is_plain_file_name(spec->second))
		ret = add_matching(&t);
	if (!ret)
		ret = t.n_found ? 1 : unknown_tracepoint(&t);
	str_release(&t.root);
	return ret;
}

/* ---- list ---- */

static int list_system(const char *root, const char *system, event_info_fn fn, void *data)
{
	char *dir = xasprintf("%s/events/%s", root, system);
	struct name_list names = { 0 };
	int ret = 0;

	name_list_read(&names, dir);
	for (size_t i = 0; i < names.n && !ret; i++) {
		char *id = xasprintf("%s/%s/id", dir, names.v[i]);
		char *name = xasprintf("%s:%s", system, names.v[i]);
		const struct event_info info = { .topic = tracepoint_source.topic.name, .name = name,
						 .alias = "", .desc = "", .unit = "",
						 .pmu_name = "tracepoint", .scale = 1.0 };

		if (access(id, F_OK) == 0)
			ret = fn(&info, data);
		free(id);
		free(name);
	}
	name_list_release(&names);
	free(dir);
	return ret;
}

static int tracepoint_list(const struct host_paths *host, event_info_fn fn, void *data,
			   struct str *err)
{
	struct str root = STR_INIT, reason = STR_INIT, remedy = STR_INIT;
	struct name_list systems = { 0 };
	int ret = tracefs_root(host, &root);

	if (!ret) {
		char *dir = xasprintf("%s/events", root.s);

		ret = name_list_read(&systems, dir);
		free(dir);
	}
	if (ret) {
		explain_tracefs(ret, root.s, &reason, &remedy);
		fail(err, ret, "%s%s%s", reason.s, remedy.len ? "\n  " : "", remedy.s);
	}
	for (size_t i = 0; i < systems.n && !ret; i++)
		ret = list_system(root.s, systems.v[i], fn, data);
	name_list_release(&systems);
	str_release(&root);
	str_release(&reason);
	str_release(&remedy);
	return ret;
}

/* Folders have a switch of their own; files beside them (enable, header_page) have none below them. */
static int walk_systems(const char *root, event_info_fn fn, void *data)
{
	char *dir = xasprintf("%s/events", root);
	struct name_list systems = { 0 };
	int ret = 0;

	name_list_read(&systems, dir);
	for (size_t i = 0; i < systems.n && !ret; i++) {
		char *enable = xasprintf("%s/%s/enable", dir, systems.v[i]);
		char *name = xasprintf("%s:", systems.v[i]);
		const struct event_info info = { .topic = tracepoint_source.topic.name, .name = name,
						 .alias = "", .desc = "tracepoints", .unit = "",
						 .pmu_name = "tracepoint", .scale = 1.0 };

		if (access(enable, F_OK) == 0)
			ret = fn(&info, data);
		free(enable);
		free(name);
	}
	name_list_release(&systems);
	free(dir);
	return ret;
}

int event_walk_tracepoints(const char *system, const struct host_paths *host, event_info_fn fn, void *data)
{
	struct str root = STR_INIT;
	int ret = tracefs_root(host, &root);

	if (!ret && !system)
		ret = walk_systems(root.s, fn, data);
	else if (!ret && is_plain_file_name(system))
		ret = list_system(root.s, system, fn, data);
	else
		ret = 0;
	str_release(&root);
	return ret;
}

const struct event_source tracepoint_source = {
	.topic = { "tracepoint", "Tracepoints", "Tracepoint event", false },
	.lookup = tracepoint_lookup,
	.list = tracepoint_list,
	.list_is_slow = true,
};
