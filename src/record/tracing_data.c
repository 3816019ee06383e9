/* SPDX-License-Identifier: MIT */
/*
 * tracing_data.c: the formats of the recorded tracepoints, as readers of perf.data expect them (feature TRACING_DATA):
 * a file within the file, in the layout of trace.dat version 0.6. All numbers are of this machine's
 * byte order, which a byte in it names.
 *
 *	23 8 68 "tracing" "0.6\0" | u8 big endian? | u8 sizeof(long) | u32 page size
 *	"header_page\0"  u64 n, bytes          events/header_page
 *	"header_event\0" u64 n, bytes          events/header_event
 *	u32 0                                  ftrace's own events: none
 *	u32 systems { name "\0", u32 events { u64 n, bytes } }
 *	u32 0                                  kallsyms: none
 *	u32 n, bytes                           printk_formats
 *	u64 0                                  saved_cmdlines: none, the recording has COMM records
 *
 * A tracepoint is found by its id, since -e may have given it another name.
 *
 * Source: trace-cmd.dat.v6(5).
 */
#include "record/recording.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

/* One tracepoint: where its format is. */
struct found_tracepoint {
	char *system, *name;
	uint64_t id;
};

struct found_tracepoints {
	struct found_tracepoint *v; /* those of one system follow one another */
	size_t n, cap;
};

static void put_u32(struct str *out, uint32_t value)
{
	str_addn(out, (const char *)&value, sizeof(value));
}

static void put_u64(struct str *out, uint64_t value)
{
	str_addn(out, (const char *)&value, sizeof(value));
}

/* The text and its NUL. */
static void put_text(struct str *out, const char *text)
{
	str_addn(out, text, strlen(text) + 1);
}

/* The file's length and contents; a file that cannot be read is an empty one. */
static void put_file(struct str *out, const char *root, const char *below, size_t length_bytes)
{
	char *path = xasprintf("%s/%s", root, below);
	struct str text = STR_INIT;

	if (read_text_file(path, &text))
		str_reset(&text);
	if (length_bytes == sizeof(uint32_t))
		put_u32(out, (uint32_t)text.len);
	else
		put_u64(out, text.len);
	str_addn(out, text.s, text.len);
	str_release(&text);
	free(path);
}

/* ---- which tracepoints ---- */

static bool wanted(const struct event_list *events, uint64_t id)
{
	for (size_t i = 0; i < events->n; i++) {
		if (events->v[i].attr.type == PERF_TYPE_TRACEPOINT && events->v[i].attr.config == id)
			return true;
	}
	return false;
}

static void look_at(struct found_tracepoints *found, const struct event_list *events, const char *root,
		    const char *system, const char *name)
{
	char *path = xasprintf("%s/events/%s/%s/id", root, system, name);
	uint64_t id;

	if (!read_u64_file(path, &id) && wanted(events, id)) {
		VEC_GROW(found->v, found->n, found->cap);
		found->v[found->n++] = (struct found_tracepoint){ xstrdup(system), xstrdup(name), id };
	}
	free(path);
}

static void walk_system(struct found_tracepoints *found, const struct event_list *events,
			const char *root, const char *system)
{
	char *path = xasprintf("%s/events/%s", root, system);
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] != '.')
			look_at(found, events, root, system, entry->d_name);
	}
	if (dir)
		closedir(dir);
	free(path);
}

/* "sched:sched_switch:u" is in events/sched/sched_switch, if name= did not invent it. */
static void look_by_name(struct found_tracepoints *found, const struct event_list *events,
			 const char *root, const struct event *event)
{
	const char *colon = strchr(event->name, ':');
	char *system, *name;

	if (!colon)
		return;
	system = xstrndup(event->name, (size_t)(colon - event->name));
	name = xstrndup(colon + 1, strcspn(colon + 1, ":"));
	if (!strchr(system, '/') && !strchr(name, '/') && strcmp(name, ".."))
		look_at(found, events, root, system, name);
	free(system);
	free(name);
}

static int by_system(const void *a, const void *b)
{
	const struct found_tracepoint *x = a, *y = b;
	int order = strcmp(x->system, y->system);

	return order ? order : (x->id > y->id) - (x->id < y->id);
}

static void free_all(struct found_tracepoints *found)
{
	for (size_t i = 0; i < found->n; i++) {
		free(found->v[i].system);
		free(found->v[i].name);
	}
	free(found->v);
	*found = (struct found_tracepoints){ 0 };
}

/* Sorted, each id once. */
static void tidy(struct found_tracepoints *found)
{
	size_t n = 0;

	if (found->n)
		qsort(found->v, found->n, sizeof(*found->v), by_system);
	for (size_t i = 0; i < found->n; i++) {
		if (n && found->v[n - 1].id == found->v[i].id) {
			free(found->v[i].system);
			free(found->v[i].name);
		} else {
			found->v[n++] = found->v[i];
		}
	}
	found->n = n;
}

/* Finds them by name, which is quick; all of tracefs is searched where a name was given away by name=. */
static void find_all(struct found_tracepoints *found, const struct event_list *events, const char *root)
{
	char *path = xasprintf("%s/events", root);
	size_t n_named = 0, n_events = 0;
	struct dirent *entry;
	DIR *dir;

	for (size_t i = 0; i < events->n; i++) {
		if (events->v[i].attr.type != PERF_TYPE_TRACEPOINT)
			continue;
		n_events++;
		look_by_name(found, events, root, &events->v[i]);
		n_named += found->n && found->v[found->n - 1].id == events->v[i].attr.config;
	}
	dir = n_named < n_events ? opendir(path) : NULL;
	if (n_named < n_events)
		free_all(found);
	while (dir && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] != '.' && entry->d_type == DT_DIR)
			walk_system(found, events, root, entry->d_name);
	}
	if (dir)
		closedir(dir);
	tidy(found);
	free(path);
}

/* ---- the file within the file ---- */

static void put_header(struct str *out, const char *root)
{
	static const char magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

	str_addn(out, magic, sizeof(magic));
	put_text(out, "0.6");
	str_addc(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	str_addc(out, sizeof(long));
	put_u32(out, (uint32_t)sysconf(_SC_PAGESIZE));
	put_text(out, "header_page");
	put_file(out, root, "events/header_page", sizeof(uint64_t));
	put_text(out, "header_event");
	put_file(out, root, "events/header_event", sizeof(uint64_t));
	put_u32(out, 0);
}

static size_t n_of_system(const struct found_tracepoints *found, size_t first)
{
	size_t n = 1;

	while (first + n < found->n && !strcmp(found->v[first].system, found->v[first + n].system))
		n++;
	return n;
}

static void put_systems(struct str *out, const struct found_tracepoints *found, const char *root)
{
	uint32_t n_systems = 0;

	for (size_t i = 0; i < found->n; i += n_of_system(found, i))
		n_systems++;
	put_u32(out, n_systems);
	for (size_t i = 0; i < found->n;) {
		size_t n = n_of_system(found, i);

		put_text(out, found->v[i].system);
		put_u32(out, (uint32_t)n);
		for (; n--; i++) {
			char *below = xasprintf("events/%s/%s/format", found->v[i].system,
						found->v[i].name);

			put_file(out, root, below, sizeof(uint64_t));
			free(below);
		}
	}
}

void tracing_data_collect(struct info *info, const struct event_list *events,
			  const struct kern *kern)
{
	struct found_tracepoints found = { 0 };
	struct str out = STR_INIT, root = STR_INIT;
	bool any = false;

	for (size_t i = 0; !any && i < events->n; i++)
		any = events->v[i].attr.type == PERF_TYPE_TRACEPOINT;
	if (!any)
		return;
	tracefs_root(&kern->host, &root);
	find_all(&found, events, root.s);
	put_header(&out, root.s);
	put_systems(&out, &found, root.s);
	put_u32(&out, 0);
	put_file(&out, root.s, "printk_formats", sizeof(uint32_t));
	put_u64(&out, 0);
	info->tracing_data_size = out.len;
	info->tracing_data = (uint8_t *)str_detach(&out);
	info_set(info, FEATURE_TRACING_DATA);
	free_all(&found);
	str_release(&root);
}
