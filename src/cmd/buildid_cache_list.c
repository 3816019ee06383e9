/*
 * What is in the cache, and what is not: the entries as perf lists them, or all with their sizes, and the files of a
 * recording that are missing.
 */
#include "cmd/buildid_cache_list.h"

#include "cmd/input.h"
#include "cmd/message.h"
#include "elf/elf.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char kernel_name[] = "[kernel.kallsyms]";

/* ---- -l ---- */

struct listing {
	const struct kern *kern;
	bool all;
	struct str out;
	size_t n_others; /* entries that perf would not list */
};

static bool is_of_running_kernel(const struct kern *kern, const struct build_id *id)
{
	char *path = xasprintf("%s/kernel/notes", kern->host.sysfs);
	struct build_id running = { 0 };
	struct str notes = STR_INIT;
	bool same = !read_text_file(path, &notes) && elf_build_id_of_notes(notes.s, notes.len, 4, &running) &&
		    build_id_same(id, &running);

	free(path);
	str_release(&notes);
	return same;
}

/* Is what the entry stands for still there? */
static bool is_current(const struct kern *kern, const struct cache_entry *entry)
{
	struct str ignored = STR_INIT;
	struct build_id now = { 0 };
	struct stat st;
	bool same;
	int fd;

	if (!entry->kinds)
		return false;
	if (!strcmp(entry->path, kernel_name))
		return is_of_running_kernel(kern, &entry->id);
	fd = entry->path[0] == '/' ? foreign_open(entry->path, NULL, &st, &ignored) : -1;
	same = fd >= 0 && elf_build_id_of_file(fd, &now) && build_id_same(&entry->id, &now);
	if (fd >= 0)
		close(fd);
	str_release(&ignored);
	return same;
}

static void add_kinds(struct str *out, unsigned kinds)
{
	const char *before = "";

	for (int kind = 0; kind < N_CACHE_KINDS; kind++) {
		if (!(kinds & 1u << kind))
			continue;
		str_addf(out, "%s%s", before, build_cache_kind_names[kind]);
		before = ",";
	}
	if (!kinds)
		str_add(out, "nothing");
}

/* Its size, the day it was wanted last, whose it is. */
static void add_weight(struct str *out, uint64_t bytes, int64_t used_ns, bool removable)
{
	time_t used_s = (time_t)(used_ns / 1000000000);
	char day[32] = "";
	struct tm when;

	if (localtime_r(&used_s, &when))
		strftime(day, sizeof(day), "%Y-%m-%d", &when);
	str_addf(out, "  %.3f MB  %s  %s", (double)bytes / (1024 * 1024), day, removable ? "of a recording" : "stays");
}

/* Copies of the kernel's code are no entries, and perf does not list them. */
static int list_kcore(void *context, const struct cache_kcore *kcore)
{
	struct listing *listing = context;

	build_id_text(&kcore->id, &listing->out);
	str_addf(&listing->out, " " CACHE_KCORE "  %s", kcore->moment);
	add_weight(&listing->out, kcore->bytes, kcore->made_ns, false);
	str_addc(&listing->out, '\n');
	return 0;
}

static int list_entry(void *context, const struct cache_entry *entry)
{
	struct listing *listing = context;

	if (!listing->all && !is_current(listing->kern, entry)) {
		listing->n_others++;
		return 0;
	}
	build_id_text(&entry->id, &listing->out);
	str_addc(&listing->out, ' ');
	str_add_printable(&listing->out, entry->path, strlen(entry->path));
	if (listing->all) {
		str_add(&listing->out, "  ");
		add_kinds(&listing->out, entry->kinds);
		add_weight(&listing->out, entry->bytes, entry->used_ns, entry->removable);
	}
	str_addc(&listing->out, '\n');
	return 0;
}

int buildid_cache_list(struct build_cache *cache, const struct kern *kern, bool all)
{
	struct listing listing = { .kern = kern, .all = all, .out = STR_INIT };
	struct str err = STR_INIT, text = STR_INIT;
	int status = 0;

	if (cache && build_cache_each(cache, list_entry, &listing, &err)) {
		str_addf(&text, "%s: %s", build_cache_dir(cache), err.s);
		message_error(text.s);
		status = EXIT_PSTAT_FAILED;
	}
	if (!status && cache && all)
		build_cache_each_kcore(cache, NULL, list_kcore, &listing);
	if (!status)
		status = message_stdout(&listing.out);
	if (!status && listing.n_others) {
		struct note_list notes = { 0 };

		note_add(&notes, false, "pstat buildid-cache -l -v",
			 "%zu more in %s: their files have gone, were replaced or have no path", listing.n_others,
			 build_cache_dir(cache));
		message_notes(&notes, 0, false);
		note_list_release(&notes);
	}
	str_release(&listing.out);
	str_release(&err);
	str_release(&text);
	return status;
}

/* ---- -M ---- */

static bool is_cached(struct build_cache *cache, const struct build_id *id)
{
	for (int kind = 0; cache && kind < N_CACHE_KINDS; kind++) {
		struct str ignored = STR_INIT;
		int fd = kind == CACHE_DEBUG ? -1 : build_cache_find(cache, id, kind, NULL, &ignored);

		str_release(&ignored);
		if (fd < 0)
			continue;
		close(fd);
		return true;
	}
	return false;
}

/* Leaves those that are missing. */
static void drop_cached(struct build_cache *cache, struct info *info)
{
	size_t n = 0;

	for (size_t i = 0; i < info->build_ids.n; i++) {
		const struct info_build_id *row = &info->build_ids.v[i];
		struct build_id id = { .size = row->size };

		memcpy(id.bytes, row->bytes, sizeof(id.bytes));
		if (is_cached(cache, &id))
			free(row->path);
		else
			info->build_ids.v[n++] = *row;
	}
	info->build_ids.n = n;
}

int buildid_cache_missing(struct build_cache *cache, const char *recording)
{
	struct input in;
	struct record record;
	struct record_body body;

	if (!input_open(&in, recording)) {
		while (input_next(&in, &record))
			if (record.type == RECORD_MMAP2 && record.misc & MISC_MMAP_BUILD_ID &&
			    input_decode(&in, &record, &body))
				build_ids_add(&in.reader.info, &body);
		drop_cached(cache, &in.reader.info);
		build_ids_print(&in.reader.info, &in.out);
	}
	return input_close(&in);
}
