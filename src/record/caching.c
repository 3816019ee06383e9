/*
 * The build-id cache after a recording: copies of the files that had samples, so that names stay when these go.
 *
 *   files that were mapped (buildid.c) --not in the cache--> had samples? (sampled.c) --> build_cache_add
 *
 * What is in the cache already, and had samples, is wanted now. That moment is kept to the hour: where all is there and
 * was wanted a short while ago, the recording is not read again. Nobody can look into a pipe again, so that all files
 * count; so they do where that is asked for. Debug files are not taken: their packages keep them by build-id.
 *
 * The recording is whole before this begins, and stays so: whatever fails here is a note, and the next signal ends it.
 */
#include "record/caching.h"

#include "buildcache/buildcache.h"
#include "record/sampled.h"

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

struct caching {
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

static bool is_stopped(const struct caching *caching)
{
	return caching->plan->stop->count != caching->signals_before;
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
	return strcmp(file->path, "[vdso]") ? CACHE_ELF : CACHE_VDSO;
}

/* A module that nobody knows the file of is called "[name]". */
static bool has_file(const struct buildid_file *file)
{
	return file->id.size && (file->path[0] == '/' || kind_of(file) == CACHE_VDSO);
}

static void look_at(struct caching *caching, size_t i, const struct build_id *id, enum cache_kind kind)
{
	int64_t used_ns;
	bool is_there = build_cache_look(caching->cache, id, kind, &used_ns);

	if (!is_there && kind == CACHE_KALLSYMS && !kernel_is_visible(caching->plan->kern))
		return;
	if (is_there && used_ns == INT64_MAX)
		return;
	caching->states[i] = is_there ? FILE_CACHED : FILE_UNSEEN;
	caching->n_unseen++;
	caching->is_complete &= is_there && used_ns > caching->begun_ns - FRESH_NS;
}

/* A limit less than the usual one may remove what was wanted a short while ago, too. 0: there is none. */
static bool is_small(const struct caching *caching)
{
	return caching->plan->cache_bytes && caching->plan->cache_bytes < BUILD_CACHE_BYTES_DEFAULT;
}

static void look_at_files(struct caching *caching)
{
	caching->is_complete = !is_small(caching);
	for (size_t i = 0; i < caching->n; i++) {
		struct buildid_file file;

		buildid_set_file(caching->set, i, &file);
		if (has_file(&file))
			look_at(caching, i, &file.id, kind_of(&file));
	}
	caching->kernel = kernel_id(&caching->rec->info);
	if (caching->kernel.size)
		look_at(caching, caching->n, &caching->kernel, CACHE_KALLSYMS);
}

/* ---- which had samples ---- */

/* It had samples, or nobody knows. */
static void want(struct caching *caching, size_t i)
{
	struct buildid_file file;

	if (caching->states[i] != FILE_UNSEEN && caching->states[i] != FILE_CACHED)
		return;
	caching->n_unseen--;
	if (caching->states[i] == FILE_UNSEEN) {
		caching->states[i] = FILE_WANTED;
		return;
	}
	caching->states[i] = FILE_OTHER;
	if (i < caching->n)
		buildid_set_file(caching->set, i, &file);
	build_cache_use(caching->cache, i < caching->n ? &file.id : &caching->kernel,
			i < caching->n ? kind_of(&file) : CACHE_KALLSYMS);
}

static bool take_found(void *data, const struct dso *dso)
{
	struct caching *caching = data;
	size_t i = dso->kind == DSO_KERNEL ? caching->n : buildid_set_find(caching->set, dso);

	if (i < caching->n || dso->kind == DSO_KERNEL)
		want(caching, i);
	return caching->n_unseen > 0;
}

static bool goes_on(void *data, double part)
{
	struct caching *caching = data;

	if (caching->plan->caching)
		caching->plan->caching(caching->plan->data, part);
	return !is_stopped(caching);
}

static void want_all(struct caching *caching)
{
	for (size_t i = 0; i <= caching->n; i++)
		want(caching, i);
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
static void look_into(struct caching *caching, const char *path, int fd, struct str *err)
{
	const struct sampled_asks asks = { caching, take_found, goes_on };
	int rc = fd < 0 ? fd : sampled_files(fd, path, &asks, err);

	/* What was found until then had samples all the same. */
	if (rc && rc != -ECANCELED)
		note_add(caching->plan->notes, true, NULL, "build-id cache: not all of %s was looked into: %s", path,
			 err->s);
	str_reset(err);
}

static void find_sampled(struct caching *caching, bool can_read)
{
	const struct sink_file *file = &caching->rec->file;
	struct str err = STR_INIT;

	if (!can_read || caching->plan->build_ids_all) {
		want_all(caching);
		return;
	}
	for (size_t i = 0; i < file->n_kept && caching->n_unseen; i++)
		look_into(caching, file->kept[i].path, open_finished(&file->kept[i], &err), &err);
	if (!file->n_kept)
		look_into(caching, file->last_path, fcntl(caching->rec->totals->fd, F_DUPFD_CLOEXEC, 0), &err);
	str_release(&err);
}

/* ---- into the cache ---- */

static void refuse(struct caching *caching, const char *path, int rc, const char *why)
{
	struct refused *refused;
	size_t i = 0;

	while (i < ARRAY_SIZE(reasons) && reasons[i].rc != rc)
		i++;
	if (i == ARRAY_SIZE(reasons)) {
		note_add(caching->plan->notes, false, NULL, "not put into the build-id cache %s: %s: %s",
			 build_cache_dir(caching->cache), path, why);
		return;
	}
	refused = &caching->refused[i];
	if (refused->n++ >= NAMED_MAX)
		return;
	str_add(&refused->names, refused->n > 1 ? ", " : "");
	str_add_printable(&refused->names, path, strlen(path));
}

/* Nothing else would find room, or be allowed, either. */
static bool is_final(int rc)
{
	return rc == -ENOSPC || rc == -EDQUOT || rc == -EROFS || rc == -EIO || rc == -EACCES || rc == -EMFILE ||
	       rc == -ENFILE;
}

/* Below the root of a process that had it mapped, and by its name; the build-id says whether it is the one. */
static int open_again(const struct caching *caching, const struct buildid_file *file, struct str *err)
{
	struct stat st;
	int fd = -ENOENT;

	if (file->pid && file->cpumode != MISC_KERNEL) {
		char *path = xasprintf("%s/%u/root%s", caching->plan->kern->host.procfs, file->pid, file->path);

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
static int add(struct caching *caching, const struct cache_file *file, struct str *err)
{
	uint64_t bytes, most = caching->plan->cache_bytes;
	struct stat st;
	int rc;

	if (fstat(file->fd, &st))
		return fail(err, -errno, "%s", strerror(errno));
	if (most && ((uint64_t)st.st_size > most || caching->bytes_seen > most - (uint64_t)st.st_size))
		return fail(err, -EFBIG, "over the limit");
	rc = build_cache_add(caching->cache, file, &bytes, err);
	if (rc)
		return rc;
	caching->bytes_seen += (uint64_t)st.st_size;
	caching->bytes_added += bytes;
	caching->n_added++;
	return 0;
}

static int add_file(struct caching *caching, const struct buildid_file *file, struct str *err)
{
	struct cache_file to = { .fd = file->fd, .path = file->path, .id = file->id, .kind = kind_of(file) };
	int rc;

	if (to.fd < 0)
		to.fd = open_again(caching, file, err);
	if (to.fd < 0)
		return to.fd;
	rc = add(caching, &to, err);
	if (file->fd < 0)
		close(to.fd);
	return rc;
}

static int add_kernel(struct caching *caching, struct str *err)
{
	const struct foreign_options options = { .kernel_file = true };
	struct cache_file to = { .path = "[kernel.kallsyms]", .id = caching->kernel, .kind = CACHE_KALLSYMS };
	char *path = xasprintf("%s/kallsyms", caching->plan->kern->host.procfs);
	struct stat st;
	int rc;

	to.fd = foreign_open(path, &options, &st, err);
	rc = to.fd < 0 ? to.fd : add(caching, &to, err);
	if (to.fd >= 0)
		close(to.fd);
	free(path);
	return rc;
}

static int add_one(struct caching *caching, size_t i)
{
	struct buildid_file file = { .path = "[kernel.kallsyms]" };
	struct str err = STR_INIT;
	int rc = -ECANCELED;

	if (i < caching->n)
		buildid_set_file(caching->set, i, &file);
	if (!is_stopped(caching))
		rc = i < caching->n ? add_file(caching, &file, &err) : add_kernel(caching, &err);
	if (rc)
		refuse(caching, file.path, rc, err.s);
	str_release(&err);
	return rc;
}

static void add_wanted(struct caching *caching)
{
	for (size_t i = 0; i <= caching->n; i++) {
		if (caching->states[i] != FILE_WANTED)
			continue;
		goes_on(caching, (double)i / (double)(caching->n + 1));
		if (is_final(add_one(caching, i)))
			break;
	}
}

static void keep_limit(struct caching *caching)
{
	uint64_t freed = 0, most = caching->plan->cache_bytes;
	struct str err = STR_INIT;

	/* Where nothing was added, it was kept before; and what was not looked at again is not to be the oldest. */
	if (!most || is_stopped(caching) || (!caching->bytes_added && !is_small(caching)))
		return;
	if (build_cache_shrink(caching->cache, most, caching->begun_ns, &freed, NULL, &err))
		note_add(caching->plan->notes, false, NULL, "the build-id cache %s may be over its limit: %s",
			 build_cache_dir(caching->cache), err.s);
	else if (freed)
		note_add(caching->plan->notes, true, NULL, "build-id cache %s: %llu KiB made room",
			 build_cache_dir(caching->cache), (unsigned long long)freed / 1024);
	str_release(&err);
}

/* ---- all of it ---- */

static void tell(struct caching *caching)
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		struct refused *refused = &caching->refused[i];

		if (refused->n)
			note_add(caching->plan->notes, false, NULL, "not put into the build-id cache, %s: %s%s",
				 reasons[i].text, refused->names.s, refused->n > NAMED_MAX ? ", ..." : "");
		str_release(&refused->names);
	}
	if (caching->n_added)
		note_add(caching->plan->notes, true, NULL, "build-id cache %s: %zu file%s more, %llu KiB",
			 build_cache_dir(caching->cache), caching->n_added, caching->n_added == 1 ? "" : "s",
			 (unsigned long long)caching->bytes_added / 1024);
}

static void run(struct caching *caching, bool can_read)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	caching->begun_ns = timespec_ns(&now);
	caching->signals_before = caching->plan->stop->count;
	caching->n = buildid_set_files(caching->set);
	caching->states = xcalloc(caching->n + 1, sizeof(*caching->states));
	look_at_files(caching);
	if (caching->n_unseen && !caching->is_complete)
		find_sampled(caching, can_read);
	add_wanted(caching);
	keep_limit(caching);
	tell(caching);
	free(caching->states);
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

void recording_cache(const struct recording *rec)
{
	const struct record_plan *plan = rec->plan;
	struct caching caching = { .rec = rec, .plan = plan, .set = rec->file.build_ids };
	struct str err = STR_INIT;
	bool can_read;

	if (!plan->cache || !caching.set || !has_reader(rec, &can_read))
		return;
	if (build_cache_open(&caching.cache, plan->cache_dir, CACHE_CREATE, &err)) {
		char *place = build_cache_place(plan->cache_dir);

		note_add(plan->notes, false, "-N does without it", "there is no build-id cache: %s: %s",
			 place ? place : "", err.s);
		free(place);
	} else if (caching.cache) {
		build_cache_interrupt(caching.cache, &(struct interrupt){ stop_came, &caching });
		run(&caching, can_read);
	} else if (!getenv("HOME")) {
		note_add(plan->notes, false, "-N does without it", "there is no build-id cache: $HOME is not set");
	}
	build_cache_close(caching.cache);
	str_release(&err);
}
