/* SPDX-License-Identifier: MIT */
/*
 * cache_entry: one entry: from its link to its folder, from the folder to a file, and whether that file is what its
 * name says.
 *
 *	.build-id/ab/cdef.. -> ../../usr/bin/true/abcdef..     the link's text is read, never followed
 *	        usr, bin, true, abcdef..                       walked from the cache's folder, name by name
 *	                        elf                            opened, its build-id read
 */
#include "buildcache/cache_internal.h"

#include "elf/elf.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LIST_LOOK_BYTES = 1 << 16 };

static const char link_start[] = "../../";

const char *const build_cache_kind_names[N_CACHE_KINDS] = {
	[CACHE_ELF] = "elf",
	[CACHE_DEBUG] = "debug",
	[CACHE_VDSO] = "vdso",
	[CACHE_KALLSYMS] = "kallsyms",
	[CACHE_MAP] = "map",
};

/* ---- the link ---- */

bool cache_hex(const struct build_id *id, char hex[CACHE_HEX_BYTES])
{
	if (!id->size || id->size > sizeof(id->bytes))
		return false;
	for (uint8_t i = 0; i < id->size; i++)
		snprintf(hex + (size_t)2 * i, 3, "%02x", id->bytes[i]);
	return true;
}

static uint8_t hex_digit(char digit)
{
	return (uint8_t)(isdigit((unsigned char)digit) ? digit - '0' : digit - 'a' + 10);
}

struct build_id cache_id_of_hex(const char *hex)
{
	struct build_id id = { 0 };

	for (; hex[0] && id.size < sizeof(id.bytes); hex += 2)
		id.bytes[id.size++] = (uint8_t)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
	return id;
}

int cache_links_folder(const struct build_cache *cache, const char *hex, bool create)
{
	char path[sizeof(CACHE_LINKS) + 4];

	snprintf(path, sizeof(path), CACHE_LINKS "/%.2s", hex);
	return cache_descend(cache, path, create);
}

char *cache_link_text(const char *path, const char *hex)
{
	return xasprintf("%s%s/%s", link_start, path, hex);
}

/* "usr/bin/true" out of "../../usr/bin/true/abcdef.."; NULL: it leads elsewhere. The caller frees. */
static char *path_of_link(const char *text, const char *hex)
{
	size_t n = strlen(text), start = strlen(link_start), end = strlen(hex) + 1;
	char *path, *absolute;
	bool good;

	if (n <= start + end || strncmp(text, link_start, start) != 0 || strcmp(text + n - end + 1, hex) != 0 ||
	    text[n - end] != '/')
		return NULL;
	path = xstrndup(text + start, n - start - end);
	absolute = path[0] == '[' ? xstrdup(path) : xasprintf("/%s", path);
	good = cache_folder_of(absolute);
	free(absolute);
	if (good)
		return path;
	free(path);
	return NULL;
}

/* 0, also where there is something else than a link: then place->path stays NULL. */
static int read_link(const struct build_cache *cache, struct cache_place *place, struct str *err)
{
	char text[PATH_MAX];
	int folder = cache_links_folder(cache, place->hex, false);
	ssize_t n = -1;
	int rc = folder;

	if (folder >= 0) {
		n = readlinkat(folder, place->hex + 2, text, sizeof(text) - 1);
		rc = n < 0 && errno != EINVAL ? -errno : 0;
		close(folder);
	}
	if (rc == -ENOENT)
		return -ENOENT;
	if (rc)
		return fail(err, rc == -EPERM ? -EPERM : -ESTALE, "%s: %s", CACHE_LINKS,
			    rc == -EPERM ? "a folder of another user" : strerror(-rc));
	if (n < 0) {
		place->at = xasprintf("%s/%.2s/%s", CACHE_LINKS, place->hex, place->hex + 2);
		return 0;
	}
	text[n] = '\0';
	place->path = path_of_link(text, place->hex);
	if (!place->path)
		return fail(err, -ESTALE, "its link leads out of the folder");
	place->at = xasprintf("%s/%s", place->path, place->hex);
	return 0;
}

/* ---- the folder ---- */

/* A file where now is the folder. */
static int open_above(const struct build_cache *cache, struct cache_place *place)
{
	const char *name = strrchr(place->at, '/') + 1;
	char *above = xstrndup(place->at, (size_t)(name - 1 - place->at));
	struct stat st;

	place->folder = cache_descend(cache, above, false);
	free(above);
	if (place->folder < 0)
		return place->folder;
	if (fstatat(place->folder, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode)) {
		close(place->folder);
		return place->folder = -ENOTDIR;
	}
	place->file = name;
	return 0;
}

int cache_place_open(const struct build_cache *cache, const char *hex, struct cache_place *place, struct str *err)
{
	int rc;

	*place = (struct cache_place)CACHE_PLACE_INIT;
	snprintf(place->hex, sizeof(place->hex), "%s", hex);
	rc = read_link(cache, place, err);
	if (rc)
		return rc;
	place->folder = cache_descend(cache, place->at, false);
	rc = place->folder == -ENOTDIR ? open_above(cache, place) : place->folder;
	if (rc >= 0)
		return 0;
	if (rc == -EPERM)
		return fail(err, -EPERM, "%s: a folder of another user", place->at);
	return fail(err, -ESTALE, "%s: %s", place->at, rc == -ENOENT ? "its link is broken" : strerror(-rc));
}

void cache_place_close(struct cache_place *place)
{
	if (place->folder >= 0)
		close(place->folder);
	free(place->path);
	free(place->at);
	*place = (struct cache_place)CACHE_PLACE_INIT;
}

const char *cache_file_name(const struct cache_place *place, enum cache_kind kind)
{
	static const char kernel[] = "[kernel", vdso[] = "[vdso";
	enum cache_kind only = CACHE_ELF;

	if (!place->file)
		return build_cache_kind_names[kind];
	if (place->path && !strncmp(place->path, kernel, strlen(kernel)))
		only = CACHE_KALLSYMS;
	if (place->path && !strncmp(place->path, vdso, strlen(vdso)))
		only = CACHE_VDSO;
	return kind == only ? place->file : NULL;
}

/* ---- what a file holds ---- */

/* Lines begin with an address; they are all 0 where the reader had no right to see them. */
static bool has_addresses(const char *text)
{
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t digits = strspn(line, "0123456789abcdefABCDEF");

		if (digits && line[digits] == ' ' && strspn(line, "0") < digits)
			return true;
	}
	return false;
}

static int verify_list(int fd, struct str *err)
{
	char *text = xmalloc(LIST_LOOK_BYTES + 1);
	ssize_t n = pread(fd, text, LIST_LOOK_BYTES, 0);
	int rc = 0;

	text[n > 0 ? n : 0] = '\0';
	if (n < 0)
		rc = fail(err, -EINVAL, "%s", strerror(errno));
	else if (!has_addresses(text))
		rc = fail(err, -EINVAL, "a list of kernel symbols without addresses");
	free(text);
	return rc;
}

int cache_verify(int fd, const struct build_id *id, enum cache_kind kind, struct str *err)
{
	struct build_id found = { 0 };
	struct str text = STR_INIT;

	if (kind == CACHE_KALLSYMS)
		return verify_list(fd, err);
	if (kind == CACHE_MAP)
		return 0;
	if (!elf_build_id_of_file(fd, &found))
		return fail(err, -ESTALE, "it has no build-id, or is no ELF file");
	if (build_id_same(id, &found))
		return 0;
	build_id_brief(&found, &text);
	fail(err, 0, "its build-id is %s", text.s);
	str_release(&text);
	return -ESTALE;
}

int cache_open_regular(const struct build_cache *cache, int folder, const char *name, struct str *err)
{
	struct stat st, above;
	int fd;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? -ENOENT : fail(err, -errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail(err, -ESTALE, "not a regular file");
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return fail(err, -errno, "%s", strerror(errno));
	if (fstat(fd, &st) || fstat(folder, &above) || !S_ISREG(st.st_mode)) {
		close(fd);
		return fail(err, -ESTALE, "not a regular file");
	}
	if (cache_is_own(cache, &above, &st))
		return fd;
	close(fd);
	return fail(err, -EPERM, "a file of user %u", (unsigned)st.st_uid);
}

int cache_place_file(const struct build_cache *cache, const struct cache_place *place, const struct build_id *id,
		     enum cache_kind kind, struct str *err)
{
	const char *name = cache_file_name(place, kind);
	struct str why = STR_INIT;
	int fd = name ? cache_open_regular(cache, place->folder, name, &why) : -ENOENT, rc = 0;

	if (fd >= 0)
		rc = cache_verify(fd, id, kind, &why);
	if (rc) {
		close(fd);
		fd = -ESTALE;
	}
	if (fd < 0 && fd != -ENOENT)
		fail(err, 0, "%s%s%s: %s", place->at, place->file ? "" : "/", place->file ? "" : name, why.s);
	str_release(&why);
	return fd;
}

/* ---- asked for ---- */

/* A vdso and a list of the kernel are no files: they have one place, and are found there without a link. */
static int open_without_link(const struct build_cache *cache, struct cache_place *place, enum cache_kind kind)
{
	static const char *const paths[N_CACHE_KINDS] = {
		[CACHE_VDSO] = "[vdso]",
		[CACHE_KALLSYMS] = "[kernel.kallsyms]",
	};

	if (!paths[kind])
		return -ENOENT;
	place->path = xstrdup(paths[kind]);
	place->at = xasprintf("%s/%s", place->path, place->hex);
	place->folder = cache_descend(cache, place->at, false);
	return place->folder < 0 ? -ENOENT : 0;
}

int build_cache_find(struct build_cache *cache, const struct build_id *id, enum cache_kind kind, char **path,
		     struct str *err)
{
	struct cache_place place = CACHE_PLACE_INIT;
	char hex[CACHE_HEX_BYTES];
	int fd;

	if (!cache_hex(id, hex))
		return -ENOENT;
	fd = cache_place_open(cache, hex, &place, err);
	if (fd == -ENOENT)
		fd = open_without_link(cache, &place, kind);
	if (!fd)
		fd = cache_place_file(cache, &place, id, kind, err);
	if (fd >= 0 && path)
		*path = xasprintf("%s/%s%s%s", cache->dir, place.at, place.file ? "" : "/",
				  place.file ? "" : build_cache_kind_names[kind]);
	cache_place_close(&place);
	return fd;
}

bool build_cache_has(struct build_cache *cache, const struct build_id *id, enum cache_kind kind)
{
	char hex[CACHE_HEX_BYTES], path[sizeof(CACHE_LINKS) + CACHE_HEX_BYTES + 16];
	struct stat st;

	if (!cache_hex(id, hex))
		return false;
	snprintf(path, sizeof(path), CACHE_LINKS "/%.2s/%s/%s", hex, hex + 2, build_cache_kind_names[kind]);
	return !fstatat(cache->fd, path, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
}

/* The place is to be closed in any case. */
static bool open_checked(struct build_cache *cache, const struct build_id *id, enum cache_kind kind,
			 struct cache_place *place)
{
	struct str ignored = STR_INIT;
	char hex[CACHE_HEX_BYTES];
	int fd = -ENOENT;

	*place = (struct cache_place)CACHE_PLACE_INIT;
	if (cache_hex(id, hex) && !cache_place_open(cache, hex, place, &ignored))
		fd = cache_place_file(cache, place, id, kind, &ignored);
	if (fd >= 0)
		close(fd);
	str_release(&ignored);
	return fd >= 0;
}

bool build_cache_look(struct build_cache *cache, const struct build_id *id, enum cache_kind kind, int64_t *used_ns)
{
	struct cache_place place;
	bool found = open_checked(cache, id, kind, &place);
	struct stat st;

	*used_ns = INT64_MAX;
	if (found && !fstatat(place.folder, CACHE_MARK, &st, AT_SYMLINK_NOFOLLOW))
		*used_ns = timespec_ns(&st.st_mtim);
	cache_place_close(&place);
	return found;
}

bool build_cache_use(struct build_cache *cache, const struct build_id *id, enum cache_kind kind)
{
	struct cache_place place;
	bool found = open_checked(cache, id, kind, &place);

	/* An entry without the mark is nobody's to remove, and when it was used does not matter. */
	if (found)
		utimensat(place.folder, CACHE_MARK, NULL, AT_SYMLINK_NOFOLLOW);
	cache_place_close(&place);
	return found;
}

/* ---- removed ---- */

static int remove_files(const struct cache_place *place)
{
	int copy = openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	DIR *folder = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *row;

	if (!folder) {
		rc = -errno;
		if (copy >= 0)
			close(copy);
		return rc;
	}
	while ((row = readdir(folder)) != NULL)
		if (strcmp(row->d_name, ".") != 0 && strcmp(row->d_name, "..") != 0 &&
		    unlinkat(place->folder, row->d_name, 0) && errno != ENOENT)
			rc = -errno;
	closedir(folder);
	return rc;
}

static void remove_link(const struct build_cache *cache, const char *hex)
{
	int folder = cache_links_folder(cache, hex, false);
	char path[sizeof(CACHE_LINKS) + 4];

	if (folder < 0)
		return;
	unlinkat(folder, hex + 2, 0);
	close(folder);
	snprintf(path, sizeof(path), CACHE_LINKS "/%.2s", hex);
	cache_prune(cache, path);
}

int cache_place_remove(const struct build_cache *cache, struct cache_place *place, struct str *err)
{
	int rc = 0;

	if (place->file && unlinkat(place->folder, place->file, 0))
		rc = -errno;
	if (!place->file && place->folder >= 0)
		rc = remove_files(place);
	if (rc)
		return fail(err, rc, "%s: %s", place->at, strerror(-rc));
	if (place->at)
		cache_prune(cache, place->file && place->path ? place->path : place->at);
	/* At last: who is ended before has left an entry that can still be found and removed. */
	remove_link(cache, place->hex);
	return 0;
}

int build_cache_remove(struct build_cache *cache, const struct build_id *id, struct str *err)
{
	struct cache_place place = CACHE_PLACE_INIT;
	struct str why = STR_INIT;
	char hex[CACHE_HEX_BYTES];
	int rc = cache_hex(id, hex) ? cache_place_open(cache, hex, &place, &why) : -ENOENT;

	/* -ESTALE: there is no more of it than the link. */
	if (!rc || rc == -ESTALE)
		rc = cache_place_remove(cache, &place, err);
	else if (rc != -ENOENT)
		str_add(err, why.s);
	cache_place_close(&place);
	str_release(&why);
	return rc;
}
