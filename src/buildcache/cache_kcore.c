/*
 * cache_kcore.c: see cache_kcore.h.
 *
 *	/proc/kcore, kallsyms, modules --> [kernel.kcore]/ID/.MOMENT.PID.new --as they were?--> [kernel.kcore]/ID/MOMENT
 *
 * A folder is made beside its place and renamed, so that there is a whole one or none. Copying takes a while, in which
 * modules may come and go: then the copy is of no moment, and is given up.
 */
#include "buildcache/cache_internal.h"
#include "buildcache/cache_kcore.h"
#include "buildcache/kcore_copy.h"

#include "elf/elf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	TEXT_BYTES_MAX = 256 << 20,
	PIECE_BYTES = 64 << 10,
	MOMENT_DIGITS = 16,
	FOLDER_MODE = 0700,
	FILE_MODE = 0600,
};

enum { KCORE, KALLSYMS, MODULES, N_FILES };
static const char *const names[N_FILES] = { [KCORE] = "kcore", [KALLSYMS] = "kallsyms", [MODULES] = "modules" };

/* ---- texts ---- */

static int read_text(int fd, struct str *out)
{
	char *piece = xmalloc(PIECE_BYTES);
	ssize_t got;
	int rc = 0;

	/* Files of /proc are made while they are read, from their beginning on. */
	while ((got = read(fd, piece, PIECE_BYTES)) > 0 && out->len < TEXT_BYTES_MAX)
		str_addn(out, piece, (size_t)got);
	if (got)
		rc = got < 0 ? -errno : -EFBIG;
	free(piece);
	return rc;
}

/* "FOLDER/NAME"; of a kernel without modules there is no such file. */
static int read_beside(const char *folder, int file, struct str *out, struct str *err)
{
	const struct foreign_options options = { .kernel_file = true };
	char *path = xasprintf("%s/%s", folder, names[file]);
	struct str why = STR_INIT;
	struct stat st;
	int fd = foreign_open(path, &options, &st, &why);
	int rc = fd < 0 ? fd : read_text(fd, out);

	if (fd >= 0)
		close(fd);
	if (rc == -ENOENT && file == MODULES)
		rc = 0;
	else if (rc)
		fail(err, rc, "%s: %s", path, why.len ? why.s : strerror(-rc));
	str_release(&why);
	free(path);
	return rc;
}

/* ---- one copy in the cache ---- */

static bool is_moment(const char *name)
{
	return strlen(name) == MOMENT_DIGITS && strspn(name, "0123456789") == MOMENT_DIGITS;
}

/* All three are there; what they take. */
static bool look_at(const struct build_cache *cache, int folder, struct cache_kcore *kcore)
{
	struct str ignored = STR_INIT;
	struct stat st;
	bool whole = true;

	kcore->bytes = 0;
	for (int i = 0; whole && i < N_FILES; i++) {
		int fd = cache_open_regular(cache, folder, names[i], &ignored);

		whole = fd >= 0 && !fstat(fd, &st);
		if (fd >= 0)
			close(fd);
		if (!whole)
			break;
		kcore->bytes += (uint64_t)st.st_blocks * 512;
		kcore->made_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
	}
	str_release(&ignored);
	return whole;
}

static int newest_first(const void *a, const void *b)
{
	return strcmp(*(char *const *)b, *(char *const *)a);
}

static int each_of(struct build_cache *cache, const char *hex,
		   int (*each)(void *context, const struct cache_kcore *kcore), void *context)
{
	struct cache_kcore kcore = { .id = cache_id_of_hex(hex) };
	char *folder = xasprintf(CACHE_KCORE "/%s", hex);
	struct cache_names moments = { 0 };
	int rc = 0, fd = cache_descend(cache, folder, false);

	cache_names_read(&moments, fd, is_moment);
	if (moments.n)
		qsort(moments.v, moments.n, sizeof(*moments.v), newest_first);
	for (size_t i = 0; !rc && i < moments.n; i++) {
		char *below = xasprintf("%s/%s", folder, moments.v[i]);
		char *path = xasprintf("%s/%s", cache->dir, below);
		int copy = cache_descend(cache, below, false);

		kcore.moment = moments.v[i];
		kcore.path = path;
		if (copy >= 0 && look_at(cache, copy, &kcore))
			rc = each(context, &kcore);
		if (copy >= 0)
			close(copy);
		free(below);
		free(path);
	}
	cache_names_release(&moments);
	free(folder);
	return rc;
}

static bool is_id(const char *name)
{
	size_t n = strspn(name, "0123456789abcdef");

	return n && !name[n] && n % 2 == 0 && n < CACHE_HEX_BYTES;
}

int build_cache_each_kcore(struct build_cache *cache, const struct build_id *id,
			   int (*each)(void *context, const struct cache_kcore *kcore), void *context)
{
	struct cache_names ids = { 0 };
	char hex[CACHE_HEX_BYTES];
	int rc = 0;

	if (id)
		return cache_hex(id, hex) ? each_of(cache, hex, each, context) : 0;
	cache_names_read(&ids, cache_descend(cache, CACHE_KCORE, false), is_id);
	for (size_t i = 0; !rc && i < ids.n; i++)
		rc = each_of(cache, ids.v[i], each, context);
	cache_names_release(&ids);
	return rc;
}

/* ---- removed ---- */

/* What is in the folder, then the folder itself. */
static int remove_folder(const struct build_cache *cache, const char *above, const char *name)
{
	char *path = xasprintf("%s/%s", above, name);
	int fd = cache_descend(cache, path, false), rc = fd < 0 ? fd : 0;

	for (int i = 0; !rc && i < N_FILES; i++)
		if (unlinkat(fd, names[i], 0) && errno != ENOENT)
			rc = -errno;
	if (fd >= 0)
		close(fd);
	if (!rc)
		cache_prune(cache, path);
	free(path);
	return rc;
}

int build_cache_remove_kcore(struct build_cache *cache, const struct cache_kcore *kcore, struct str *err)
{
	char hex[CACHE_HEX_BYTES], *above;
	int rc = -ENOENT;

	if (!cache_hex(&kcore->id, hex))
		return rc;
	above = xasprintf(CACHE_KCORE "/%s", hex);
	rc = remove_folder(cache, above, kcore->moment);
	free(above);
	return rc ? fail(err, rc, "%s: %s", kcore->path, strerror(-rc)) : 0;
}

/* ---- added ---- */

struct addition {
	struct build_cache *cache;
	const char *path; /* of kcore */
	char *from; /* the folder that it is in */
	struct str kallsyms, modules;
	char hex[CACHE_HEX_BYTES];
	char *above; /* "[kernel.kcore]/ID" */
	char name[64]; /* of the folder that is being made */
	char *same; /* a copy that there is */
};

static int read_id(struct addition *add, struct build_id *id, struct str *err)
{
	char *path = xasprintf("%s/../sys/kernel/notes", add->from);
	struct str notes = STR_INIT;
	int rc = read_text_file(path, &notes);

	if (rc)
		fail(err, rc, "%s: %s", path, strerror(-rc));
	else if (!elf_build_id_of_notes(notes.s, notes.len, 4, id))
		rc = fail(err, -EINVAL, "%s: no build-id is in it", path);
	str_release(&notes);
	free(path);
	return rc;
}

static int find_same(void *context, const struct cache_kcore *kcore)
{
	struct addition *add = context;
	struct str kallsyms = STR_INIT, modules = STR_INIT, ignored = STR_INIT;
	bool same = !read_beside(kcore->path, KALLSYMS, &kallsyms, &ignored) &&
		    !read_beside(kcore->path, MODULES, &modules, &ignored) &&
		    kcore_texts_agree(&(struct kcore_texts){ add->kallsyms.s, add->modules.s },
				      &(struct kcore_texts){ kallsyms.s, modules.s });

	if (same)
		add->same = xstrdup(kcore->path);
	str_release(&kallsyms);
	str_release(&modules);
	str_release(&ignored);
	return same;
}

static int write_text(int folder, int file, const struct str *text, struct str *err)
{
	int fd = openat(folder, names[file], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	int rc = fd < 0 ? -errno : write_all(fd, text->s, text->len);

	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	return rc ? fail(err, rc, "%s: %s", names[file], strerror(-rc)) : 0;
}

static int write_kcore(const struct addition *add, int folder, struct str *err)
{
	const struct foreign_options options = { .kernel_file = true };
	const struct kcore_texts texts = { add->kallsyms.s, add->modules.s };
	struct str why = STR_INIT;
	struct stat st;
	int to = -1, rc, from = foreign_open(add->path, &options, &st, &why);

	if (from >= 0)
		to = openat(folder, names[KCORE], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	if (from < 0)
		rc = from;
	else if (to < 0)
		rc = fail(&why, -errno, "%s", strerror(errno));
	else
		rc = kcore_copy(from, to, &texts, &add->cache->interrupt, &why);
	if (from >= 0)
		close(from);
	if (to >= 0 && close(to) && !rc)
		rc = fail(&why, -errno, "%s", strerror(errno));
	if (rc)
		fail(err, rc, "%s: %s", add->path, why.s);
	str_release(&why);
	return rc;
}

/* Lists of the same moment as the code between them. */
static int check_unchanged(const struct addition *add, struct str *err)
{
	struct str kallsyms = STR_INIT, modules = STR_INIT;
	int rc = read_beside(add->from, KALLSYMS, &kallsyms, err);

	if (!rc)
		rc = read_beside(add->from, MODULES, &modules, err);
	if (!rc && !kcore_texts_agree(&(struct kcore_texts){ add->kallsyms.s, add->modules.s },
				      &(struct kcore_texts){ kallsyms.s, modules.s }))
		rc = fail(err, -ESTALE, "%s: modules came or went while it was copied", add->path);
	str_release(&kallsyms);
	str_release(&modules);
	return rc;
}

static int fill(const struct addition *add, int folder, struct str *err)
{
	int rc = write_kcore(add, folder, err);

	if (!rc)
		rc = write_text(folder, KALLSYMS, &add->kallsyms, err);
	if (!rc)
		rc = write_text(folder, MODULES, &add->modules, err);
	return rc ? rc : check_unchanged(add, err);
}

static void moment_now(char moment[MOMENT_DIGITS + 1])
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	strftime(moment, MOMENT_DIGITS + 1, "%Y%m%d%H%M%S", &tm);
	snprintf(moment + MOMENT_DIGITS - 2, 3, "%02u", (unsigned)(now.tv_nsec / 10000000) % 100);
}

/* Two of one moment: the later one takes a later one. */
static int put_in_place(const struct addition *add, int above, char **made, struct str *err)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	char moment[MOMENT_DIGITS + 1];
	int rc = -EEXIST;

	for (int i = 0; rc == -EEXIST && i < CACHE_RACES_MAX; i++) {
		if (i)
			nanosleep(&pause, NULL);
		moment_now(moment);
		rc = renameat2(above, add->name, above, moment, RENAME_NOREPLACE) ? -errno : 0;
	}
	if (!rc)
		*made = xasprintf("%s/%s/%s", add->cache->dir, add->above, moment);
	return rc ? fail(err, rc, "%s: %s", moment, strerror(-rc)) : 0;
}

static int make(struct addition *add, char **made, struct str *err)
{
	int rc, folder, above;

	snprintf(add->name, sizeof(add->name), ".%d.new", (int)getpid());
	remove_folder(add->cache, add->above, add->name); /* of a process that had this number before */
	above = cache_descend(add->cache, add->above, true);
	if (above < 0)
		return fail(err, above, "%s/%s: %s", add->cache->dir, add->above, strerror(-above));
	rc = mkdirat(above, add->name, FOLDER_MODE) && errno != EEXIST ? -errno : 0;
	folder = rc ? rc : cache_step(add->cache, above, add->name, false);
	rc = folder < 0 ? fail(err, folder, "%s", strerror(-folder)) : fill(add, folder, err);
	if (folder >= 0)
		close(folder);
	if (!rc)
		rc = put_in_place(add, above, made, err);
	close(above);
	if (rc)
		remove_folder(add->cache, add->above, add->name);
	return rc;
}

/* "/proc" of "/proc/kcore", "." of "kcore". */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

int build_cache_add_kcore(struct build_cache *cache, const char *path, char **made, struct str *err)
{
	struct addition add = {
		.cache = cache, .path = path, .from = folder_of(path), .kallsyms = STR_INIT, .modules = STR_INIT,
	};
	struct build_id id = { 0 };
	int rc = read_id(&add, &id, err);

	*made = NULL;
	if (!rc)
		rc = read_beside(add.from, KALLSYMS, &add.kallsyms, err);
	if (!rc)
		rc = read_beside(add.from, MODULES, &add.modules, err);
	if (!rc && cache_hex(&id, add.hex)) {
		add.above = xasprintf(CACHE_KCORE "/%s", add.hex);
		if (build_cache_each_kcore(cache, &id, find_same, &add)) {
			*made = add.same;
			rc = fail(err, -EEXIST, "there is a copy of the same modules at the same addresses");
		} else {
			rc = make(&add, made, err);
		}
	}
	str_release(&add.kallsyms);
	str_release(&add.modules);
	free(add.above);
	free(add.from);
	return rc;
}
