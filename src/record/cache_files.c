/* SPDX-License-Identifier: MIT */
/*
 * cache_files.c: the build-id cache after a recording: copies of the files that had samples, so that names stay when
 * these go.
 *
 *   files that were mapped (buildid.c) --not in the cache--> had samples? (one pass) --> build_cache_add
 *
 * The pass over the finished recording ends when all files are known to have samples. All addresses of a sample count:
 * where it was taken, who called, where branches came from and went to; and all files of a process whose stack was
 * copied, as any of them may have called. It is cheap as most addresses lie where others have lain: the last look-up of
 * each page is remembered by replay_locate, and a file that was found already costs a look at a flag.
 *
 * What is in the cache already, and had samples, is wanted now. That moment is kept to the hour: where all is there and
 * was wanted a short while ago, the recording is not read again. Nobody can look into a pipe again, so that all files
 * count; so they do where that is asked for. Debug files are not taken: their packages keep them by build-id.
 *
 * The recording is whole before this begins, and stays so: whatever fails here is a note, and the next signal ends it.
 */
#include "record/recording.h"

#include "buildcache/buildcache.h"
#include "replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum file_state {
	FILE_OTHER, /* nothing that can be in the cache */
	FILE_UNSEEN, /* no sample so far */
	FILE_CACHED, /* the same, and it is there */
	FILE_WANTED,
};

/* Why files were not put into the cache. Each is a note with some names. To add one: a row. */
static const struct reason {
	int rc;
	const char *text;
} reasons[] = {
	{ -ESTALE, "replaced or changed after being mapped" },
	{ -ENOENT, "gone before the end of the recording" },
	{ -ETIMEDOUT, "on file systems that do not answer" },
	{ -EFBIG, "too large for the limit of the cache" },
	{ -EPERM, "another user's, or where another user has an entry" },
	{ -EEXIST, "as an old perf has a file where the entry would be" },
	{ -EINVAL, "no files that can be kept" },
	{ -ECANCELED, "as a signal ended it" },
};

enum { NAMED_MAX = 3 };
#define FRESH_NS (3600 * (int64_t)NS_PER_S)

struct refused {
	struct str names;
	size_t n;
};

/* One recording, after its end. */
struct cache_run {
	const struct recording *rec;
	const struct record_plan *plan;
	const struct buildid_set *set;
	struct build_cache *cache;
	enum file_state *states; /* by the set's files; the last one is the kernel */
	size_t n;
	size_t n_unseen; /* FILE_UNSEEN and FILE_CACHED */
	bool is_complete; /* all is in the cache, and was wanted a short while ago */
	struct build_id kernel;
	int signals_before;
	int64_t begun_ns;
	uint64_t bytes_seen; /* sizes of what was added */
	uint64_t bytes_added;
	size_t n_added;
	struct refused refused[ARRAY_SIZE(reasons)];
};

static bool is_stopped(const struct cache_run *run)
{
	return run->plan->stop->count != run->signals_before;
}

static bool stop_came(void *data)
{
	return is_stopped(data);
}

/* ---- what is to be looked for ---- */

static bool kernel_is_visible(const struct kern *kern)
{
	struct kernel_symbols symbols;

	kernel_symbols_look(&symbols, &kern->host);
	return symbols.there && !symbols.hidden;
}

static struct build_id kernel_id(const struct info *info)
{
	struct build_id id = { 0 };

	for (size_t i = 0; i < info->build_ids.n; i++) {
		const struct info_build_id *row = &info->build_ids.v[i];

		if (row->misc != MISC_KERNEL || strcmp(row->path, "[kernel.kallsyms]") != 0)
			continue;
		id.size = row->size < sizeof(id.bytes) ? row->size : (uint8_t)sizeof(id.bytes);
		memcpy(id.bytes, row->bytes, id.size);
	}
	return id;
}

static enum cache_kind kind_of(const struct buildid_file *file)
{
	return file->is_map ? CACHE_MAP : strcmp(file->path, "[vdso]") ? CACHE_ELF : CACHE_VDSO;
}

/* A module that nobody knows the file of is called "[name]". */
static bool has_file(const struct buildid_file *file)
{
	return file->id.size && (file->path[0] == '/' || kind_of(file) == CACHE_VDSO);
}

static void look_at(struct cache_run *run, size_t i, const struct build_id *id, enum cache_kind kind)
{
	int64_t used_ns;
	/* A map may have grown. */
	bool is_there = kind != CACHE_MAP && build_cache_look(run->cache, id, kind, &used_ns);

	if (!is_there && kind == CACHE_KALLSYMS && !kernel_is_visible(run->plan->kern))
		return;
	if (is_there && used_ns == INT64_MAX)
		return;
	run->states[i] = is_there ? FILE_CACHED : FILE_UNSEEN;
	run->n_unseen++;
	run->is_complete &= is_there && used_ns > run->begun_ns - FRESH_NS;
}

/* A limit less than the usual one may remove what was wanted a short while ago, too. 0: there is none. */
static bool is_small(const struct cache_run *run)
{
	return run->plan->cache_bytes && run->plan->cache_bytes < BUILD_CACHE_BYTES_DEFAULT;
}

static void look_at_files(struct cache_run *run)
{
	run->is_complete = !is_small(run);
	for (size_t i = 0; i < run->n; i++) {
		struct buildid_file file;

		buildid_set_file(run->set, i, &file);
		if (has_file(&file))
			look_at(run, i, &file.id, kind_of(&file));
	}
	run->kernel = kernel_id(&run->rec->info);
	if (run->kernel.size)
		look_at(run, run->n, &run->kernel, CACHE_KALLSYMS);
}

/* ---- which had samples ---- */

/* File i had samples, or nobody knows. */
static void want(struct cache_run *run, size_t i)
{
	struct buildid_file file;

	if (run->states[i] != FILE_UNSEEN && run->states[i] != FILE_CACHED)
		return;
	run->n_unseen--;
	if (run->states[i] == FILE_UNSEEN) {
		run->states[i] = FILE_WANTED;
		return;
	}
	run->states[i] = FILE_OTHER;
	if (i < run->n)
		buildid_set_file(run->set, i, &file);
	build_cache_use(run->cache, i < run->n ? &file.id : &run->kernel,
			i < run->n ? kind_of(&file) : CACHE_KALLSYMS);
}

/* Samples from one look at whether the user ends it to the next; address spaces that are remembered. */
enum { LOOK_EVERY = 4096, SPACES_REMEMBERED = 256 };

/* One pass over a finished file. */
struct sample_search {
	struct cache_run *run;
	struct record_source *source;
	bool *found; /* by dso.index */
	size_t n, cap;
	uint64_t versions[SPACES_REMEMBERED]; /* address spaces all of whose files were found, by version */
	uint64_t n_samples;
};

static void find_dso(struct sample_search *search, const struct dso *dso)
{
	struct cache_run *run = search->run;
	size_t i;

	while (dso->index >= search->n) {
		VEC_GROW(search->found, search->n, search->cap);
		search->found[search->n++] = false;
	}
	if (search->found[dso->index])
		return;
	search->found[dso->index] = true;
	i = dso->kind == DSO_KERNEL ? run->n : buildid_set_find(run->set, dso);
	if (i < run->n || dso->kind == DSO_KERNEL)
		want(run, i);
}

static void find_address(struct sample_search *search, struct replay *replay, struct thread *thread, uint8_t mode,
			 uint64_t ip)
{
	struct location location;

	replay_locate(replay, thread, mode, ip, &location);
	if (location.dso)
		find_dso(search, location.dso);
}

static void find_chain(struct sample_search *search, struct replay *replay, const struct replay_sample *sample)
{
	uint8_t mode = sample->mode;

	for (uint64_t i = 0; i < sample->n_ips; i++) {
		if (!context_mode(sample->ips[i], &mode))
			find_address(search, replay, sample->thread, mode, sample->ips[i]);
	}
}

static void find_branches(struct sample_search *search, struct replay *replay, const struct replay_sample *sample)
{
	for (uint64_t i = 0; i < sample->sample->n_branches; i++) {
		find_address(search, replay, sample->thread, sample->mode, sample->sample->branches[i].from);
		find_address(search, replay, sample->thread, sample->mode, sample->sample->branches[i].to);
	}
}

static void find_all_mapped(struct sample_search *search, const struct thread *thread)
{
	const struct address_space *space = thread->address_space;
	uint64_t *remembered;

	if (!space || !space->n)
		return;
	remembered = &search->versions[space->version % SPACES_REMEMBERED];
	if (*remembered == space->version)
		return;
	*remembered = space->version;
	for (const struct map *map = address_space_next(space, NULL); map; map = address_space_next(space, map))
		find_dso(search, map->dso);
}

/* False: the user has ended it. */
static bool goes_on(struct cache_run *run, double part)
{
	if (run->plan->cache_progress)
		run->plan->cache_progress(run->plan->data, part);
	return !is_stopped(run);
}

static int search_sample(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	struct sample_search *search = context;

	if (sample->sample->has & PERF_SAMPLE_IP)
		find_address(search, replay, sample->thread, sample->mode, sample->sample->ip);
	find_chain(search, replay, sample);
	find_branches(search, replay, sample);
	if (sample->sample->stack_size)
		find_all_mapped(search, sample->thread);
	if (++search->n_samples % LOOK_EVERY == 0 &&
	    !goes_on(search->run, search->source->part(search->source)))
		return fail(err, -ECANCELED, "ended");
	return search->run->n_unseen ? 0 : fail(err, -EALREADY, "enough is known");
}

/*
 * Finds which files a finished recording has samples in. fd: open on it, and taken over. 0: all was read, or enough;
 * -ECANCELED: it was ended; another negative errno with a sentence: it cannot be read.
 */
static int search_recording(struct cache_run *run, int fd, const char *path, struct str *err)
{
	const struct replay_options options = { .file_order = false };
	struct sample_search search = { .run = run };
	const struct replay_handlers handlers = { .context = &search, .sample = search_sample };
	struct replay replay;
	struct reader reader;
	int rc = reader_open_fd(&reader, fd, path, err);

	if (!rc) {
		search.source = &reader.source;
		replay_init(&replay, &reader.recording, &options);
		rc = replay_run(&replay, &reader.source, &handlers, err);
		replay_release(&replay);
	}
	reader_close(&reader);
	free(search.found);
	if (rc != -EALREADY)
		return rc;
	str_reset(err);
	return 0;
}

static void want_all(struct cache_run *run)
{
	for (size_t i = 0; i <= run->n; i++)
		want(run, i);
}

/* A file of --switch-output that was finished before the last, if it is still there. */
static int open_finished(const struct finished_file *file, struct str *err)
{
	int fd = open(file->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return fail(err, -errno, "%s", strerror(errno));
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_dev == file->inode.dev && st.st_ino == file->inode.ino &&
	    st.st_uid == geteuid())
		return fd;
	close(fd);
	return fail(err, -ESTALE, "it was replaced");
}

/* fd: taken over; negative: err says why it could not be had. */
static void look_into(struct cache_run *run, const char *path, int fd, struct str *err)
{
	int rc = fd < 0 ? fd : search_recording(run, fd, path, err);

	/* Files that were found until then had samples all the same. */
	if (rc && rc != -ECANCELED)
		note_add(run->plan->notes, true, NULL, "build-id cache: %s was not searched to its end: %s", path,
			 err->s);
	str_reset(err);
}

static void find_sampled(struct cache_run *run, bool can_read)
{
	const struct sink_file *file = &run->rec->file;
	struct str err = STR_INIT;

	if (!can_read || run->plan->build_ids_all) {
		want_all(run);
		return;
	}
	for (size_t i = 0; i < file->n_kept && run->n_unseen; i++)
		look_into(run, file->kept[i].path, open_finished(&file->kept[i], &err), &err);
	if (!file->n_kept)
		look_into(run, file->last_path, fcntl(run->rec->totals->fd, F_DUPFD_CLOEXEC, 0), &err);
	str_release(&err);
}

/* ---- into the cache ---- */

static void refuse(struct cache_run *run, const char *path, int rc, const char *why)
{
	struct refused *refused;
	size_t i = 0;

	while (i < ARRAY_SIZE(reasons) && reasons[i].rc != rc)
		i++;
	if (i == ARRAY_SIZE(reasons)) {
		note_add(run->plan->notes, false, NULL, "not put into the build-id cache %s: %s: %s",
			 build_cache_dir(run->cache), path, why);
		return;
	}
	refused = &run->refused[i];
	if (refused->n++ >= NAMED_MAX)
		return;
	str_add(&refused->names, refused->n > 1 ? ", " : "");
	str_add_printable(&refused->names, path, strlen(path));
}

/* True: no other file would find room, or be allowed, either. */
static bool is_final(int rc)
{
	return rc == -ENOSPC || rc == -EDQUOT || rc == -EROFS || rc == -EIO || rc == -EACCES || rc == -EMFILE ||
	       rc == -ENFILE;
}

/* Opens it below the root of a process that had it mapped, or by its name; the build-id says whether it is the one. */
static int open_again(const struct cache_run *run, const struct buildid_file *file, struct str *err)
{
	struct stat st;
	int fd = -ENOENT;

	if (file->pid && file->cpumode != MISC_KERNEL) {
		char *path = xasprintf("%s/%u/root%s", run->plan->kern->host.procfs, file->pid, file->path);

		fd = foreign_open(path, NULL, &st, err);
		free(path);
	}
	if (fd < 0 && fd != -ETIMEDOUT) {
		str_reset(err);
		fd = foreign_open(file->path, NULL, &st, err);
	}
	return fd;
}

/* 0, or why not. Takes no more than the limit allows one recording. */
static int add(struct cache_run *run, const struct cache_file *file, struct str *err)
{
	uint64_t bytes, most = run->plan->cache_bytes;
	struct stat st;
	int rc;

	if (fstat(file->fd, &st))
		return fail(err, -errno, "%s", strerror(errno));
	if (most && ((uint64_t)st.st_size > most || run->bytes_seen > most - (uint64_t)st.st_size))
		return fail(err, -EFBIG, "over the limit");
	rc = build_cache_add(run->cache, file, &bytes, err);
	if (rc)
		return rc;
	run->bytes_seen += (uint64_t)st.st_size;
	run->bytes_added += bytes;
	run->n_added++;
	return 0;
}

static int add_file(struct cache_run *run, const struct buildid_file *file, struct str *err)
{
	struct cache_file to = { .fd = file->fd, .path = file->path, .id = file->id, .kind = kind_of(file) };
	int rc;

	if (to.fd < 0)
		to.fd = open_again(run, file, err);
	if (to.fd < 0)
		return to.fd;
	rc = add(run, &to, err);
	if (file->fd < 0)
		close(to.fd);
	return rc;
}

static int add_kernel(struct cache_run *run, struct str *err)
{
	const struct foreign_options options = { .kernel_file = true };
	struct cache_file to = { .path = "[kernel.kallsyms]", .id = run->kernel, .kind = CACHE_KALLSYMS };
	char *path = xasprintf("%s/kallsyms", run->plan->kern->host.procfs);
	struct stat st;
	int rc;

	to.fd = foreign_open(path, &options, &st, err);
	rc = to.fd < 0 ? to.fd : add(run, &to, err);
	if (to.fd >= 0)
		close(to.fd);
	free(path);
	return rc;
}

static int add_one(struct cache_run *run, size_t i)
{
	struct buildid_file file = { .path = "[kernel.kallsyms]" };
	struct str err = STR_INIT;
	int rc = -ECANCELED;

	if (i < run->n)
		buildid_set_file(run->set, i, &file);
	if (!is_stopped(run))
		rc = i < run->n ? add_file(run, &file, &err) : add_kernel(run, &err);
	if (rc)
		refuse(run, file.path, rc, err.s);
	str_release(&err);
	return rc;
}

static void add_wanted(struct cache_run *run)
{
	for (size_t i = 0; i <= run->n; i++) {
		if (run->states[i] != FILE_WANTED)
			continue;
		goes_on(run, (double)i / (double)(run->n + 1));
		if (is_final(add_one(run, i)))
			break;
	}
}

static void keep_limit(struct cache_run *run)
{
	uint64_t freed = 0, most = run->plan->cache_bytes;
	struct str err = STR_INIT;

	/* The limit was kept before, if nothing was added; files that were not looked at again are not to go first. */
	if (!most || is_stopped(run) || (!run->bytes_added && !is_small(run)))
		return;
	if (build_cache_shrink(run->cache, most, run->begun_ns, &freed, NULL, &err))
		note_add(run->plan->notes, false, NULL, "the build-id cache %s may be over its limit: %s",
			 build_cache_dir(run->cache), err.s);
	else if (freed)
		note_add(run->plan->notes, true, NULL, "build-id cache %s: %llu KiB made room",
			 build_cache_dir(run->cache), (unsigned long long)freed / 1024);
	str_release(&err);
}

/* ---- all of it ---- */

static void tell(struct cache_run *run)
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		struct refused *refused = &run->refused[i];

		if (refused->n)
			note_add(run->plan->notes, false, NULL, "not put into the build-id cache, %s: %s%s",
				 reasons[i].text, refused->names.s, refused->n > NAMED_MAX ? ", ..." : "");
		str_release(&refused->names);
	}
	if (run->n_added)
		note_add(run->plan->notes, true, NULL, "build-id cache %s: %zu file%s more, %llu KiB",
			 build_cache_dir(run->cache), run->n_added, run->n_added == 1 ? "" : "s",
			 (unsigned long long)run->bytes_added / 1024);
}

static void cache_wanted(struct cache_run *run, bool can_read)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	run->begun_ns = timespec_ns(&now);
	run->signals_before = run->plan->stop->count;
	run->n = buildid_set_files(run->set);
	run->states = xcalloc(run->n + 1, sizeof(*run->states));
	look_at_files(run);
	if (run->n_unseen && !run->is_complete)
		find_sampled(run, can_read);
	add_wanted(run);
	keep_limit(run);
	tell(run);
	free(run->states);
}

/* False: nobody will read it, as it went to a device. *can_read: it can be read once more. */
static bool has_reader(const struct recording *rec, bool *can_read)
{
	struct stat st;
	int rc;

	*can_read = false;
	if (!rec->file.last_path)
		return false;
	rc = fstat(rec->totals->fd, &st);
	*can_read = !rc && S_ISREG(st.st_mode) && strcmp(rec->file.last_path, "-");
	return rc || !S_ISCHR(st.st_mode);
}

void cache_files(const struct recording *rec)
{
	const struct record_plan *plan = rec->plan;
	struct cache_run run = { .rec = rec, .plan = plan, .set = rec->file.build_ids };
	struct str err = STR_INIT;
	bool can_read;

	if (!plan->cache || !run.set || !has_reader(rec, &can_read))
		return;
	if (build_cache_open(&run.cache, plan->cache_dir, CACHE_CREATE, &err)) {
		char *place = build_cache_place(plan->cache_dir);

		note_add(plan->notes, false, "use -N to record without it", "there is no build-id cache: %s: %s",
			 place ? place : "", err.s);
		free(place);
	} else if (run.cache) {
		build_cache_interrupt(run.cache, &(struct interrupt){ stop_came, &run });
		cache_wanted(&run, can_read);
	} else if (!getenv("HOME")) {
		note_add(plan->notes, false, "use -N to record without it",
			 "there is no build-id cache: $HOME is not set");
	}
	build_cache_close(run.cache);
	str_release(&err);
}
