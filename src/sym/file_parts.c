/* SPDX-License-Identifier: MIT */
/*
 * file_parts.c: see file_parts.h. What is noted of a file is what its descriptor says, from which it is read: one that
 * is changed while that is done is another file for whoever asks next.
 */
#include "sym/file_parts.h"

#include <errno.h>
#include <stdlib.h>

enum { PARTS_MAX = 1 << 17 };

void file_parts_release(struct file_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++) {
		free(parts->v[i].path);
		free(parts->v[i].identity);
	}
	free(parts->v);
	index_release(&parts->by_path);
	*parts = (struct file_parts){ .v = NULL };
}

static bool is_missing(int rc)
{
	return rc == -ENOENT || rc == -ENOTDIR;
}

static void add(struct file_parts *parts, const char *path, const char *identity)
{
	uint64_t hash = hash_bytes(path, strlen(path));
	uint32_t i;

	if (INDEX_FIND(&parts->by_path, hash, i, !strcmp(parts->v[i].path, path))) {
		parts->unsure |= strcmp(parts->v[i].identity, identity) != 0;
		return;
	}
	if (parts->n >= PARTS_MAX) {
		parts->unsure = true;
		return;
	}
	index_add(&parts->by_path, hash, (uint32_t)parts->n);
	VEC_GROW(parts->v, parts->n, parts->cap);
	parts->v[parts->n++] = (struct file_part){ xstrdup(path), xstrdup(identity) };
}

int file_parts_open(struct file_parts *parts, struct elf_files *files, const char *path, struct elf_file **file,
		    struct str *err)
{
	struct str identity = STR_INIT;
	int rc = elf_files_open(files, path, file, err);

	if (!rc)
		elf_file_identity(*file, &identity);
	if (!rc || is_missing(rc))
		add(parts, path, identity.s);
	else
		parts->unsure = true;
	str_release(&identity);
	return rc;
}

void file_parts_join(struct file_parts *parts, const struct file_parts *more)
{
	parts->unsure |= more->unsure;
	for (size_t i = 0; i < more->n; i++)
		add(parts, more->v[i].path, more->v[i].identity);
}

bool file_parts_hold(const struct file_parts *parts)
{
	struct str identity = STR_INIT;
	bool hold = !parts->unsure;

	for (size_t i = 0; i < parts->n && hold; i++) {
		int rc = elf_path_identity(parts->v[i].path, &identity);

		hold = (!rc || is_missing(rc)) && !strcmp(identity.s, parts->v[i].identity);
		str_reset(&identity);
	}
	str_release(&identity);
	return hold;
}

void file_parts_put(const struct file_parts *parts, struct str *bytes)
{
	for (size_t i = 0; i < parts->n; i++) {
		const struct file_part *part = &parts->v[i];

		str_addn(bytes, part->path, strlen(part->path) + 1);
		str_addn(bytes, part->identity, strlen(part->identity) + 1);
	}
}

/* The next text, NULL: there is none that ends. */
static const char *next_text(const char **at, const char *end)
{
	const char *text = *at, *nul = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;

	if (nul)
		*at = nul + 1;
	return nul ? text : NULL;
}

bool file_parts_take(struct file_parts *parts, const char *bytes, size_t n)
{
	const char *at = bytes, *end = bytes + n;

	while (at < end && !parts->unsure) {
		const char *path = next_text(&at, end), *identity = path ? next_text(&at, end) : NULL;

		if (!identity || !*path)
			return false;
		add(parts, path, identity);
	}
	return !parts->unsure;
}
