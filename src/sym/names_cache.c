/* SPDX-License-Identifier: MIT */
/*
 * names_cache: the folder of what was found out about ELF files: $XDG_CACHE_HOME/pstat, else $HOME/.cache/pstat.
 *
 *	write   a new file beside the entry (O_EXCL, mode 0600), renamed over it: readers see the old or the new one
 *	read    no link is followed; a regular file, of this user, that no other may write; all of it, or nothing
 *	bound   after a write: the oldest go until CACHE_BYTES_MAX and ENTRIES_MAX hold; one that is read is young again
 *
 * The folder is this user's own, and no other may write to it; else it is left alone. It is made where the folder
 * around it is this user's as well: whoever is root for a moment with another's $HOME leaves nothing there that the
 * other could not remove. All failures mean: there is no cache.
 *
 * Source: XDG Base Directory Specification.
 */
#include "sym/names_cache.h"

#include "elf/elf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CACHE_BYTES_MAX ((uint64_t)64 << 20)
enum {
	ENTRIES_MAX = 4096,
	ENTRY_BYTES_MAX = 40 << 20,
	ENTRY_VERSION = 4,
	KEPT_ALIGN = 8,
	KEY_DIGITS = 16,
	LEFT_OVER_S = 3600, /* a new file that is so old will never be renamed */
	FOLDER_MODE = 0700,
	OTHERS_WRITE = S_IWGRP | S_IWOTH,
};
static const char new_prefix[] = "new-";
static const char magic[8] = "pstatNC";

struct entry_head {
	char magic[sizeof(magic)];
	uint64_t checksum;
	uint32_t version, key_bytes;
};
enum { CHECKED_FROM = offsetof(struct entry_head, version) };
_Static_assert(sizeof(struct entry_head) % KEPT_ALIGN == 0, "what is kept is aligned");

struct names_cache {
	int fd;
	bool tried, refused, wrote;
};

/* ---- the folder ---- */

/* Around it; the caller frees. NULL: there is none. */
static char *cache_home(void)
{
	const char *set = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (set && set[0] == '/')
		return xstrdup(set);
	return home && home[0] == '/' ? xasprintf("%s/.cache", home) : NULL;
}

static bool is_mine(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid();
}

/* The folder of that name in another one; create: where that is this user's. A negative errno. */
static int step(int above, const char *name, int flags, bool create)
{
	int fd = openat(above, name, flags | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && create) {
		if (!is_mine(above))
			return -EPERM;
		if (mkdirat(above, name, FOLDER_MODE) && errno != EEXIST)
			return -errno;
		fd = openat(above, name, flags | O_DIRECTORY | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

/* A path's last folder may be made, those before it are there. */
static int open_home(const char *home, bool create)
{
	const char *slash = strrchr(home, '/');
	char *before = xasprintf("%.*s/", (int)(slash - home), home);
	int above = open(before, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = above < 0 ? -errno : step(above, slash[1] ? slash + 1 : ".", O_PATH, create);

	if (above >= 0)
		close(above);
	free(before);
	return fd;
}

static int check_folder(int fd, struct str *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return fail(err, -errno, "%s", strerror(errno));
	if (st.st_uid != geteuid())
		return fail(err, -EPERM, "it belongs to user %u, not to you", (unsigned)st.st_uid);
	if (st.st_mode & OTHERS_WRITE)
		return fail(err, -EPERM, "other users may write to it");
	return 0;
}

/* -ENOENT without a sentence: there is none yet. */
static int open_folder(const char *home, bool create, struct str *err)
{
	int above = open_home(home, create), fd, rc;

	if (above < 0)
		return above == -ENOENT ? above : fail(err, above, "%s", strerror(-above));
	fd = step(above, "pstat", O_RDONLY | O_NOFOLLOW, create);
	close(above);
	if (fd < 0)
		return fd == -ENOENT ? fd : fail(err, fd, "%s", strerror(-fd));
	rc = check_folder(fd, err);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

static int folder(struct names_cache *cache, bool create)
{
	struct str ignored = STR_INIT;
	char *home;

	if (cache->fd >= 0 || cache->refused || (cache->tried && !create))
		return cache->fd;
	cache->tried = true;
	home = cache_home();
	cache->fd = home ? open_folder(home, create, &ignored) : -EINVAL;
	cache->refused = cache->fd < 0 && (create || cache->fd != -ENOENT);
	free(home);
	str_release(&ignored);
	return cache->fd;
}

struct names_cache *names_cache_new(void)
{
	struct names_cache *cache = xcalloc(1, sizeof(*cache));

	cache->fd = -1;
	return cache;
}

/* ---- entries ---- */

/* Behind a key. */
static size_t padding(size_t key_bytes)
{
	return -key_bytes % KEPT_ALIGN;
}

void names_cache_begin(const struct str *key, struct str *entry)
{
	struct entry_head head = { .version = ENTRY_VERSION, .key_bytes = (uint32_t)key->len };

	memcpy(head.magic, magic, sizeof(magic));
	str_reset(entry);
	str_addn(entry, (const char *)&head, sizeof(head));
	str_addn(entry, key->s, key->len);
	str_pad(entry, '\0', padding(key->len));
}

static void put_checksum(struct str *entry)
{
	uint64_t checksum = checksum_bytes(entry->s + CHECKED_FROM, entry->len - CHECKED_FROM);

	memcpy(entry->s + offsetof(struct entry_head, checksum), &checksum, sizeof(checksum));
}

void names_cache_wrap(const struct str *key, const struct str *bytes, struct str *entry)
{
	names_cache_begin(key, entry);
	str_addn(entry, bytes->s, bytes->len);
	put_checksum(entry);
}

/* Offset of what is kept, in an entry; 0: it is none that is whole and of this key. */
static size_t kept_at(const char *entry, size_t n, const struct str *key)
{
	const size_t before = sizeof(struct entry_head) + key->len + padding(key->len);
	struct entry_head head;

	if (n < before)
		return 0;
	memcpy(&head, entry, sizeof(head));
	if (memcmp(head.magic, magic, sizeof(magic)) != 0 || head.version != ENTRY_VERSION ||
	    head.key_bytes != key->len || memcmp(entry + sizeof(head), key->s, key->len) != 0 ||
	    head.checksum != checksum_bytes(entry + CHECKED_FROM, n - CHECKED_FROM))
		return 0;
	return before;
}

const void *names_cache_unwrap(const void *entry, size_t n, const struct str *key, size_t *n_bytes)
{
	size_t at = kept_at(entry, n, key);

	*n_bytes = n - at;
	return at ? (const char *)entry + at : NULL;
}

static char *name_of(const struct build_id *id, const struct str *key)
{
	struct str name = STR_INIT;

	build_id_text(id, &name);
	str_addf(&name, "-%016llx", (unsigned long long)checksum_bytes(key->s, key->len));
	return str_detach(&name);
}

bool names_cache_is_entry(const char *name)
{
	size_t digits = strspn(name, "0123456789abcdef");

	return digits && name[digits] == '-' && strspn(name + digits + 1, "0123456789abcdef") == KEY_DIGITS &&
	       !name[digits + 1 + KEY_DIGITS];
}

static bool read_all(int fd, size_t n, struct str *bytes)
{
	str_reserve(bytes, n);
	while (n) {
		ssize_t got = read(fd, bytes->s + bytes->len, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		bytes->len += (size_t)got;
		bytes->s[bytes->len] = '\0';
		n -= (size_t)got;
	}
	return true;
}

/* Opens the entry: a descriptor, for close_entry, and its length; negative: it is not there, or not to be used. */
static int open_entry(struct names_cache *cache, const char *name, uint64_t *bytes)
{
	int in = folder(cache, false);
	int fd = in < 0 ? -1 : openat(in, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
			st.st_mode & OTHERS_WRITE || st.st_size > ENTRY_BYTES_MAX)) {
		close(fd);
		return -1;
	}
	*bytes = fd < 0 ? 0 : (uint64_t)st.st_size;
	return fd;
}

static void close_entry(int fd, bool is_used)
{
	if (fd < 0)
		return;
	if (is_used)
		futimens(fd, NULL); /* where this fails, it grows old although it is used */
	close(fd);
}

/* The whole file. */
static bool read_entry(struct names_cache *cache, const char *name, struct str *bytes)
{
	uint64_t n;
	int fd = open_entry(cache, name, &n);
	bool is_good = fd >= 0 && read_all(fd, (size_t)n, bytes);

	close_entry(fd, is_good);
	return is_good;
}

bool names_cache_read(struct names_cache *cache, const struct build_id *id, const struct str *key, struct str *bytes)
{
	char *name = name_of(id, key);
	struct str entry = STR_INIT;
	const void *kept = NULL;
	size_t n;

	if (read_entry(cache, name, &entry))
		kept = names_cache_unwrap(entry.s, entry.len, key, &n);
	if (kept)
		str_addn(bytes, kept, n);
	str_release(&entry);
	free(name);
	return kept;
}

char *names_cache_map(struct names_cache *cache, const struct build_id *id, const struct str *key, char **map,
		      size_t *map_bytes)
{
	char *name = name_of(id, key);
	uint64_t bytes;
	int fd = open_entry(cache, name, &bytes);
	size_t at = 0;

	*map = fd < 0 ? NULL : elf_map(fd, map_bytes);
	if (*map)
		at = kept_at(*map, *map_bytes, key);
	if (*map && !at)
		elf_unmap(*map, *map_bytes);
	close_entry(fd, at);
	free(name);
	return at ? *map + at : NULL;
}

/* The name of a file that is not yet an entry: the time keeps those apart that see each other's pids as their own. */
static char *new_name(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return xasprintf("%s%d-%llx%08lx", new_prefix, (int)getpid(), (unsigned long long)now.tv_sec, now.tv_nsec);
}

static void write_entry(struct names_cache *cache, const char *name, const struct str *bytes)
{
	int in = bytes->len <= ENTRY_BYTES_MAX ? folder(cache, true) : -1, fd;
	bool is_good;
	char *fresh;

	if (in < 0)
		return;
	fresh = new_name();
	fd = openat(in, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (fd >= 0) {
		is_good = !write_all(fd, bytes->s, bytes->len);
		is_good = !close(fd) && is_good && !renameat(in, fresh, in, name);
		if (!is_good)
			unlinkat(in, fresh, 0);
		cache->wrote |= is_good;
	}
	free(fresh);
}

void names_cache_end(struct names_cache *cache, const struct build_id *id, const struct str *key, struct str *entry)
{
	char *name = name_of(id, key);

	put_checksum(entry);
	write_entry(cache, name, entry);
	free(name);
}

void names_cache_write(struct names_cache *cache, const struct build_id *id, const struct str *key,
		       const struct str *bytes)
{
	struct str entry = STR_INIT;

	names_cache_begin(key, &entry);
	str_addn(&entry, bytes->s, bytes->len);
	names_cache_end(cache, id, key, &entry);
	str_release(&entry);
}

/* ---- its bounds ---- */

struct listed {
	char *name;
	uint64_t bytes;
	struct timespec used;
};
struct names_listing {
	struct listed *v;
	size_t n, cap;
	uint64_t bytes;
};

static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct listed *)a)->used, *y = &((const struct listed *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static void list_one(struct names_listing *list, int in, const char *name, bool tidy)
{
	bool is_entry = names_cache_is_entry(name), is_new = !strncmp(name, new_prefix, strlen(new_prefix));
	struct stat st;

	if ((!is_entry && !is_new) || fstatat(in, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return;
	if (is_new) {
		if (tidy && st.st_mtim.tv_sec + LEFT_OVER_S < time(NULL))
			unlinkat(in, name, 0);
		return;
	}
	VEC_GROW(list->v, list->n, list->cap);
	list->v[list->n++] = (struct listed){ xstrdup(name), (uint64_t)st.st_size, st.st_mtim };
	list->bytes += (uint64_t)st.st_size;
}

/* The least recently used first. tidy: what never became an entry goes. */
static void list_entries(struct names_listing *list, int in, bool tidy)
{
	int fd = openat(in, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *row;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (row = readdir(dir)) != NULL)
		list_one(list, in, row->d_name, tidy);
	if (dir)
		closedir(dir);
	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), by_use);
}

static void list_release(struct names_listing *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i].name);
	free(list->v);
}

static void make_room(int in)
{
	struct names_listing list = { 0 };
	size_t left;

	list_entries(&list, in, true);
	left = list.n;
	for (size_t i = 0; i < list.n && (list.bytes > CACHE_BYTES_MAX || left > ENTRIES_MAX); i++, left--) {
		unlinkat(in, list.v[i].name, 0);
		list.bytes -= list.v[i].bytes;
	}
	list_release(&list);
}

void names_cache_free(struct names_cache *cache)
{
	if (!cache)
		return;
	if (cache->wrote)
		make_room(cache->fd);
	if (cache->fd >= 0)
		close(cache->fd);
	free(cache);
}

int names_cache_measure(struct names_cache_size *size, struct str *err)
{
	char *home = cache_home();
	struct names_listing list = { 0 };
	int fd;

	*size = (struct names_cache_size){ .bytes_max = CACHE_BYTES_MAX };
	if (!home)
		return fail(err, -EINVAL, "there is neither $XDG_CACHE_HOME nor $HOME");
	size->place = xasprintf("%s/pstat", home);
	fd = open_folder(home, false, err);
	free(home);
	if (fd >= 0) {
		list_entries(&list, fd, false);
		size->n = list.n;
		size->bytes = list.bytes;
		list_release(&list);
		close(fd);
	}
	return fd < 0 ? fd : 0;
}
