/* SPDX-License-Identifier: MIT */
/*
 * map_kind.c: see space.h. Executable memory without a file is where a run-time compiler puts its code;
 * the same memory without code, and what the kernel maps by itself, never has symbols. A memfd, or a file
 * of /dev/shm or that was deleted, that is mapped twice, once to write and once to execute, is such memory;
 * one that is private is a program that was run from it, or a library.
 *
 * To add a name: a row in names[], a case in tests/unit/test_replay_dso.c.
 * Source: mm/shmem.c, mm/mmap.c, ipc/shm.c (names in MMAP records), proc_pid_maps(5).
 */
#include "space/space.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>

enum text_place { START, ALL, END }; /* of the path, where the text is */
static const struct {
	const char *text;
	enum text_place place;
	bool shared; /* only where it is mapped MAP_SHARED */
	enum dso_kind code, data;
} names[] = {
	{ "", ALL, false, DSO_ANON, DSO_OTHER },
	{ "//anon", ALL, false, DSO_ANON, DSO_OTHER },
	{ "/dev/zero", START, false, DSO_ANON, DSO_OTHER },
	{ "/anon_hugepage", START, false, DSO_ANON, DSO_OTHER },
	{ "/memfd:", START, true, DSO_ANON, DSO_OTHER },
	{ "/SYSV", START, false, DSO_ANON, DSO_OTHER },
	{ "[heap]", ALL, false, DSO_ANON, DSO_OTHER },
	{ "[stack", START, false, DSO_ANON, DSO_OTHER },
	{ "[anon", START, false, DSO_ANON, DSO_OTHER },
	{ "[vdso", START, false, DSO_VDSO, DSO_VDSO },
	{ "[", START, false, DSO_OTHER, DSO_OTHER },
	/* Mapped twice; libraries, also those that were replaced, are private. */
	{ "/dev/shm/", START, true, DSO_ANON, DSO_FILE },
	{ " (deleted)", END, true, DSO_ANON, DSO_FILE },
};

static bool begins(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static bool has_text(const char *path, const char *text, enum text_place place)
{
	size_t n = strlen(text), path_bytes = strlen(path);

	if (place == START)
		return begins(path, text);
	return path_bytes >= n && !strcmp(path + path_bytes - n, text) && (place == END || path_bytes == n);
}

enum dso_kind map_kind_user(const char *path, bool executable, uint32_t flags)
{
	if (flags & MAP_HUGETLB)
		return executable ? DSO_ANON : DSO_OTHER;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].shared && !(flags & MAP_SHARED))
			continue;
		if (has_text(path, names[i].text, names[i].place))
			return executable ? names[i].code : names[i].data;
	}
	return DSO_FILE;
}

enum dso_kind map_kind_kernel(const char *path, bool guest, size_t *name_bytes)
{
	const char *end = strchr(path, ']');

	*name_bytes = strlen(path);
	if (!end || !(begins(path, "[kernel.") || begins(path, "[guest.kernel.")))
		return guest ? DSO_GUEST_MODULE : DSO_MODULE;
	*name_bytes = (size_t)(end - path) + 1;
	return guest ? DSO_GUEST_KERNEL : DSO_KERNEL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

char *module_name_of(const char *path)
{
	const char *base = base_name(path);
	char *name = xstrdup(base + (*base == '['));

	name[strcspn(name, ".]")] = '\0';
	for (char *at = name; (at = strchr(at, '-')) != NULL;)
		*at = '_';
	return name;
}

/* "/lib/modules/6.1/kernel/fs/ext4/jbd2-x.ko.xz" -> "[jbd2_x]" */
static void add_module(struct str *name, const char *path)
{
	const char *base = base_name(path);
	char *bare = module_name_of(path);
	char *shown = *base == '[' || !strstr(base, ".ko") ? xstrdup(base) : xasprintf("[%s]", bare);

	str_add_printable(name, shown, strlen(shown));
	free(shown);
	free(bare);
}

char *dso_name_new(enum dso_kind kind, const char *path, int32_t pid)
{
	struct str name = STR_INIT;
	const char *base = kind == DSO_FILE || kind == DSO_OTHER ? base_name(path) : path;

	if (kind == DSO_ANON)
		str_addf(&name, "[JIT] tid %d", pid);
	else if (kind == DSO_MODULE || kind == DSO_GUEST_MODULE)
		add_module(&name, path);
	else
		str_add_printable(&name, base, strlen(base));
	return str_detach(&name);
}

/* The number between two texts that the name begins and goes on with; -1: it is none. */
static int32_t pid_between(const char *path, const char *before, const char *after)
{
	const char *base = base_name(path), *end;
	long pid = 0;

	if (!begins(base, before))
		return -1;
	base += strlen(before);
	for (end = base; *end >= '0' && *end <= '9' && pid <= INT_MAX / 10; end++)
		pid = pid * 10 + (*end - '0');
	return end != base && begins(end, after) && pid <= INT_MAX ? (int32_t)pid : -1;
}

int32_t jitted_pid(const char *path)
{
	return strstr(path, ".so") ? pid_between(path, "jitted-", "-") : -1;
}

int32_t jit_dump_pid(const char *path)
{
	size_t n = strlen(path), end = strlen(".dump");

	return *path == '/' && n > end && !strcmp(path + n - end, ".dump") ? pid_between(path, "jit-", ".dump") : -1;
}
