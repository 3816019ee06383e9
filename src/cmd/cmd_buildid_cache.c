/* SPDX-License-Identifier: MIT */
/*
 * pstat buildid-cache: the cache of files by build-id, by hand: what perf's command of that name does, in the same
 * folder. Files added by hand stay; files added by recordings may be removed by their limit. It prints the entries
 * as perf lists them, or all with their sizes, and the files of a recording that are missing.
 */
#include "buildcache/buildcache.h"
#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/message.h"
#include "cmd/signals.h"
#include "elf/elf.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct buildid_cache_words {
	const char *add, *remove, *purge, *update, *missing, *kcore, *dir;
	long target;
	bool purge_all, list, force;
	int verbose;
};

#define FIELD(name) .offset = offsetof(struct buildid_cache_words, name)

const struct option_row buildid_cache_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to do" },
	{ OPTION_TEXT, 'a', "add", "file,...", "add files, and keep them until removed", FIELD(add),
	  .value = VALUE_FILE },
	{ OPTION_TEXT, 'u', "update", "file,...", "add files, replacing equal build-ids",
	  FIELD(update), .value = VALUE_FILE },
	{ OPTION_TEXT, 'r', "remove", "file,...", "remove files with the build-ids of these", FIELD(remove),
	  .value = VALUE_FILE },
	{ OPTION_TEXT, 'p', "purge", "path,...", "remove all versions of these paths", FIELD(purge),
	  .value = VALUE_FILE },
	{ OPTION_FLAG, 'P', "purge-all", NULL, "remove all", FIELD(purge_all) },
	{ OPTION_TEXT, 'k', "kcore", "file",
	  "add the kernel's code: /proc/kcore", FIELD(kcore),
	  .value = VALUE_FILE },
	{ OPTION_FLAG, 'l', "list", NULL, "list entries of unchanged files; -v: all", FIELD(list) },
	{ OPTION_TEXT, 'M', "missing", "recording", "list files of a recording that are missing",
	  FIELD(missing), .value = VALUE_FILE },
	{ .kind = OPTION_GROUP, .help = "How" },
	{ OPTION_NUMBER, 0, "target-ns", "pid", "use the files that this process sees", FIELD(target), .min = 1,
	  .max = INT_MAX, .value = VALUE_PIDS },
	{ OPTION_TEXT, 0, "buildid-dir", "directory", "the build-id cache ($HOME/.debug)",
	  FIELD(dir), .value = VALUE_DIRECTORY },
	{ OPTION_FLAG, 'f', "force", NULL, "change a cache of another user too", FIELD(force) },
	{ OPTION_COUNT, 'v', "verbose", NULL, "report each step", FIELD(verbose) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 0, "debuginfod", "urls",
	  .help = "pstat report --debuginfod asks the servers", .argument_optional = true },
	{ .kind = OPTION_END },
};

struct work {
	const struct buildid_cache_words *words;
	struct build_cache *cache;
	char *root; /* of the process whose files are meant, "/proc/12/root"; or NULL */
	struct str done; /* what -v says */
	int status;
};

/* sentence: what is wrong with what. */
static void wrong_said(struct work *work, const char *sentence)
{
	message_error("buildid-cache: %s", sentence);
	work->status = EXIT_PSTAT_FAILED;
}

static void wrong(struct work *work, const char *what, const char *why)
{
	message_error("buildid-cache: %s: %s", what, why);
	work->status = EXIT_PSTAT_FAILED;
}

static void say(struct work *work, const char *verb, const struct build_id *id, const char *path)
{
	if (!work->words->verbose)
		return;
	str_addf(&work->done, "%s ", verb);
	build_id_text(id, &work->done);
	str_addc(&work->done, ' ');
	str_add_printable(&work->done, path, strlen(path));
	str_addc(&work->done, '\n');
}

/* ---- files ---- */

struct named_file {
	int fd;
	char *path; /* without links, as the process sees it */
	struct build_id id;
};

static int open_below(const struct work *work, const char *path, struct stat *st, struct str *err)
{
	const struct foreign_options options = { .root = work->root };

	return foreign_open(path, &options, st, err);
}

/* The kernel's own word for where an open file is, if that leads to it again; else the path itself. */
static char *path_without_links(const struct work *work, int fd, const struct stat *st, const char *path)
{
	char self[64], real[PATH_MAX];
	struct str ignored = STR_INIT;
	struct stat again;
	ssize_t n;
	int same = -1;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, real, sizeof(real) - 1);
	real[n > 0 ? n : 0] = '\0';
	if (real[0] == '/')
		same = open_below(work, real, &again, &ignored);
	str_release(&ignored);
	if (same < 0)
		return xstrdup(path);
	close(same);
	return xstrdup(again.st_ino == st->st_ino && again.st_dev == st->st_dev ? real : path);
}

static bool open_named(struct work *work, const char *path, struct named_file *file)
{
	struct str err = STR_INIT;
	struct stat st;

	*file = (struct named_file){ .fd = open_below(work, path, &st, &err) };
	if (file->fd < 0) {
		wrong(work, path, err.s);
	} else if (!elf_build_id_of_file(file->fd, &file->id)) {
		close(file->fd);
		file->fd = -1;
		wrong(work, path, "it has no build-id, or is no ELF file");
	} else {
		file->path = path_without_links(work, file->fd, &st, path);
	}
	str_release(&err);
	return file->fd >= 0;
}

static void close_named(struct named_file *file)
{
	close(file->fd);
	free(file->path);
}

/* ---- adding and removing ---- */

/* Adds the debug file, where distributions put them, as perf does. A file that has none is no failure. */
static void add_debug(struct work *work, const struct named_file *file)
{
	char *path = build_id_path("/usr/lib/debug", &file->id, ".debug");
	struct cache_file added = { .path = file->path, .id = file->id, .kind = CACHE_DEBUG, .stays = true };
	struct str err = STR_INIT;
	struct stat st;

	added.fd = open_below(work, path, &st, &err);
	str_reset(&err);
	if (added.fd >= 0 && build_cache_add(work->cache, &added, NULL, &err))
		wrong(work, path, err.s);
	if (added.fd >= 0)
		close(added.fd);
	str_release(&err);
	free(path);
}

static void add_named(struct work *work, const char *path, const struct named_file *file, const char *verb)
{
	/* A debug file is never the program: it may come beside it. */
	const struct cache_file added = { .fd = file->fd, .path = file->path, .id = file->id, .stays = true,
					  .kind = elf_is_emptied(file->fd) ? CACHE_DEBUG : CACHE_ELF };
	struct str err = STR_INIT;

	if (build_cache_add(work->cache, &added, NULL, &err)) {
		wrong(work, path, err.s);
	} else {
		add_debug(work, file);
		say(work, verb, &file->id, file->path);
	}
	str_release(&err);
}

static void add_file(struct work *work, const char *path)
{
	struct named_file file;

	if (!open_named(work, path, &file))
		return;
	add_named(work, path, &file, "added");
	close_named(&file);
}

static void update_file(struct work *work, const char *path)
{
	struct named_file file;
	struct str ignored = STR_INIT;

	if (!open_named(work, path, &file))
		return;
	build_cache_remove(work->cache, &file.id, &ignored);
	add_named(work, path, &file, "updated");
	close_named(&file);
	str_release(&ignored);
}

static void remove_file(struct work *work, const char *path)
{
	struct named_file file;
	struct str err = STR_INIT;

	if (!open_named(work, path, &file))
		return;
	if (build_cache_remove(work->cache, &file.id, &err))
		wrong(work, path, err.len ? err.s : "not in the cache");
	else
		say(work, "removed", &file.id, file.path);
	close_named(&file);
	str_release(&err);
}

/* ---- purging ---- */

struct purge {
	struct work *work;
	const char *path, *real; /* its names; NULL: everything */
	size_t n_found;
};

static int purge_entry(void *context, const struct cache_entry *entry)
{
	struct purge *purge = context;
	struct work *work = purge->work;
	struct str err = STR_INIT;

	if (purge->path && strcmp(entry->path, purge->path) != 0 && !text_same(entry->path, purge->real))
		return 0;
	purge->n_found++;
	if (!build_cache_remove(work->cache, &entry->id, &err))
		say(work, "removed", &entry->id, entry->path);
	else if (err.len)
		wrong(work, entry->path, err.s);
	str_release(&err);
	return 0;
}

static int purge_kcore(void *context, const struct cache_kcore *kcore)
{
	struct purge *purge = context;
	struct str err = STR_INIT;

	purge->n_found++;
	if (build_cache_remove_kcore(purge->work->cache, kcore, &err))
		wrong(purge->work, CACHE_KCORE, err.s);
	else
		say(purge->work, "removed", &kcore->id, CACHE_KCORE);
	str_release(&err);
	return 0;
}

static void purge(struct work *work, struct purge *purge, const char *what)
{
	struct str err = STR_INIT;

	if (!purge->path || !strcmp(purge->path, CACHE_KCORE))
		build_cache_each_kcore(work->cache, NULL, purge_kcore, purge);
	if (build_cache_each(work->cache, purge_entry, purge, &err))
		wrong(work, what, err.s);
	else if (purge->path && !purge->n_found)
		wrong(work, what, "not in the cache");
	str_release(&err);
}

/* The file itself may be gone: then its name must be the one that it had. */
static void purge_path(struct work *work, const char *path)
{
	struct purge all = { .work = work, .path = path };
	struct str ignored = STR_INIT;
	struct stat st;
	int fd = open_below(work, path, &st, &ignored);
	char *real = fd < 0 ? NULL : path_without_links(work, fd, &st, path);

	if (fd >= 0)
		close(fd);
	all.real = real;
	purge(work, &all, path);
	free(real);
	str_release(&ignored);
}

/* ---- the kernel's own code ---- */

static void add_kcore(struct work *work, const char *path)
{
	struct str err = STR_INIT;
	char *made = NULL;
	int rc = build_cache_add_kcore(work->cache, path, &made, &err);

	if (!made) {
		wrong_said(work, err.s);
	} else if (work->words->verbose) {
		str_add(&work->done, rc ? "there already: " : "added ");
		str_add_printable(&work->done, made, strlen(made));
		str_addc(&work->done, '\n');
	}
	free(made);
	str_release(&err);
}

static const char kernel_name[] = "[kernel.kallsyms]";

/* ---- -l ---- */

struct entry_listing {
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

/* The file that the entry is a copy of is still there. */
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

/* The size of an entry, the day it was last used, and whether a recording's limit may remove it. */
static void add_weight(struct str *out, uint64_t bytes, int64_t used_ns, bool removable)
{
	time_t used_s = (time_t)(used_ns / (int64_t)NS_PER_S);
	char day[32] = "";
	struct tm when;

	if (localtime_r(&used_s, &when))
		strftime(day, sizeof(day), "%Y-%m-%d", &when);
	str_addf(out, "  %.3f MB  %s  %s", (double)bytes / (1024 * 1024), day, removable ? "of a recording" : "stays");
}

/* Copies of the kernel's code are no entries, and perf does not list them. */
static int list_kcore(void *context, const struct cache_kcore *kcore)
{
	struct entry_listing *listing = context;

	build_id_text(&kcore->id, &listing->out);
	str_addf(&listing->out, " " CACHE_KCORE "  %s", kcore->moment);
	add_weight(&listing->out, kcore->bytes, kcore->made_ns, false);
	str_addc(&listing->out, '\n');
	return 0;
}

static int list_entry(void *context, const struct cache_entry *entry)
{
	struct entry_listing *listing = context;

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

/*
 * -l as perf has it: the entries whose file at its path is still the same, by build-id. all: every one, with what
 * it has, its size and when it was last used. cache NULL: there is none, and nothing to print. The exit status.
 */
static int list_entries(struct build_cache *cache, const struct kern *kern, bool all)
{
	struct entry_listing listing = { .kern = kern, .all = all, .out = STR_INIT };
	struct str err = STR_INIT;
	int status = 0;

	if (cache && build_cache_each(cache, list_entry, &listing, &err)) {
		message_error("%s: %s", build_cache_dir(cache), err.s);
		status = EXIT_PSTAT_FAILED;
	}
	if (!status && cache && all)
		build_cache_each_kcore(cache, NULL, list_kcore, &listing);
	if (!status)
		status = message_stdout(&listing.out);
	if (!status && listing.n_others) {
		struct note_list notes = { 0 };

		note_add(&notes, false, "pstat buildid-cache -l -v",
			 "%zu more in %s: their files were removed or replaced, or have no path", listing.n_others,
			 build_cache_dir(cache));
		message_notes(&notes, 0, false);
		note_list_release(&notes);
	}
	str_release(&listing.out);
	str_release(&err);
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

/* Leaves the files that are missing. */
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

/* -M: the files of the recording that are not in the cache, as buildid-list prints them. */
static int list_missing(struct build_cache *cache, const char *recording)
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

/* ---- the command ---- */

static void for_each_name(struct work *work, const char *list, void (*act)(struct work *work, const char *path))
{
	char *names = xstrdup(list ? list : ""), *rest = names, *name;

	while ((name = strsep(&rest, ",")) != NULL)
		if (*name)
			act(work, name);
	free(names);
}

static void change(struct work *work)
{
	const struct buildid_cache_words *words = work->words;

	for_each_name(work, words->add, add_file);
	for_each_name(work, words->remove, remove_file);
	for_each_name(work, words->purge, purge_path);
	if (words->purge_all)
		purge(work, &(struct purge){ .work = work }, build_cache_dir(work->cache));
	for_each_name(work, words->update, update_file);
	if (words->kcore)
		add_kcore(work, words->kcore);
}

static bool changes(const struct buildid_cache_words *words)
{
	return words->add || words->remove || words->purge || words->purge_all || words->update || words->kcore;
}

/* -1: go on. */
static int check_words(const struct buildid_cache_words *words, const char *rest)
{
	if (rest)
		return bad_usage("buildid-cache: '%s' is not an option; files are named with -a, -r, -p, -u, -k, -M",
				 rest);
	if (words->list && (changes(words) || words->missing))
		return bad_usage("buildid-cache: -l cannot be combined with other options");
	if (!words->list && !changes(words) && !words->missing)
		return bad_usage("buildid-cache: nothing is asked for: one of -a, -u, -r, -p, -P, -k, -l, -M");
	return -1;
}

static void open_cache(struct work *work)
{
	const struct buildid_cache_words *words = work->words;
	bool adds = words->add || words->update || words->kcore;
	unsigned flags = (adds ? CACHE_CREATE : 0) | (words->force ? CACHE_FORCE : 0);
	char *place = build_cache_place(words->dir);
	struct str err = STR_INIT;

	if (build_cache_open(&work->cache, words->dir, flags, &err))
		wrong(work, place, err.len ? err.s : "no such folder");
	else if (!work->cache && !place)
		wrong(work, "buildid.dir", "there is no cache: $HOME is not set, or it is switched off");
	else if (!work->cache && (words->remove || words->purge))
		wrong(work, place, "no such folder");
	free(place);
	str_release(&err);
}

int cmd_buildid_cache(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct buildid_cache_words words = { 0 };
	struct work work = { .words = &words, .done = STR_INIT };
	const struct run_stop *stop = NULL;
	struct interrupt interrupt;
	int first, status = command_parse(self, argc, argv, &words, &first);

	if (status >= 0)
		return status;
	status = check_words(&words, first < argc ? argv[first] : NULL);
	if (status >= 0)
		return status;
	if (words.target)
		work.root = xasprintf("%s/%ld/root", kern->host.procfs, words.target);
	if (work.root && access(work.root, F_OK))
		wrong(&work, work.root, "no such process, or no right to see its files");
	if (!work.status)
		open_cache(&work);
	if (!work.status && work.cache && changes(&words)) {
		stop = signals_catch_end(&interrupt);
		build_cache_interrupt(work.cache, &interrupt);
		change(&work);
	}
	if (work.done.len && message_stdout(&work.done))
		work.status = EXIT_PSTAT_FAILED;
	if (!work.status && words.list)
		work.status = list_entries(work.cache, kern, words.verbose);
	if (words.missing && !work.status)
		work.status = list_missing(work.cache, words.missing);
	build_cache_close(work.cache);
	free(work.root);
	str_release(&work.done);
	return stop && stop->signal && work.status ? 128 + stop->signal : work.status;
}
