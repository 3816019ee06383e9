/*
 * elf_files: the ELF files of a session, each opened once, however many ask for it: who looks for it, who reads
 * its symbols, its bounds, its DWARF, its unwind tables.
 *
 *	path --index--> struct elf_file: headers, always
 *	                    |-- Elf of libelf, sections       while it is held
 *	                    |-- unpacked contents             while it is held; of the last packed file also afterwards
 *	                    `-- descriptor                    until OPEN_MAX others were used since
 *
 * A recording can have more files than a process may have open, so that descriptors come and go; a file that is
 * opened again must be the same.
 */
#include "elf/elf_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { OPEN_MAX_FILES = 128 };

struct elf_files {
	struct index by_path;
	struct elf_file **v;
	size_t n, cap;
	size_t n_open; /* descriptors */
	uint64_t time; /* counts uses */
	struct elf_file *unpacked; /* the last packed one, or NULL */
};

struct elf_files *elf_files_new(void)
{
	return xcalloc(1, sizeof(struct elf_files));
}

void elf_files_free(struct elf_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->n; i++) {
		elf_file_close(files->v[i]);
		free(files->v[i]);
	}
	free(files->v);
	index_release(&files->by_path);
	free(files);
}

/* ---- what may be given back ---- */

static void close_descriptor(struct elf_file *file)
{
	if (file->fd < 0)
		return;
	close(file->fd);
	file->fd = -1;
	if (file->files)
		file->files->n_open--;
}

/* Room for one more: the descriptor that was not used for longest goes, of those that nobody holds. */
static void make_room(struct elf_files *files)
{
	struct elf_file *oldest = NULL;

	if (files->n_open < OPEN_MAX_FILES)
		return;
	for (size_t i = 0; i < files->n; i++) {
		struct elf_file *file = files->v[i];

		if (file->fd >= 0 && !file->holders && (!oldest || file->used < oldest->used))
			oldest = file;
	}
	if (oldest)
		close_descriptor(oldest);
}

static void drop_unpacked(struct elf_file *file)
{
	free(file->unpacked);
	file->unpacked = NULL;
}

/* The contents of one packed file stay, since who looks for a file often reads it next. */
static void keep_unpacked(struct elf_files *files, struct elf_file *file)
{
	struct elf_file *before = files->unpacked;

	if (!file->unpacked || before == file)
		return;
	if (before && !before->holders)
		drop_unpacked(before);
	files->unpacked = file;
}

/* ---- open and hold ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

int elf_files_descriptor(struct elf_file *file, struct str *err)
{
	struct stat st;
	int fd;

	if (file->files)
		file->used = ++file->files->time;
	if (file->fd >= 0)
		return file->fd;
	if (!file->files)
		return fail(err, -EBADF, "it is in memory");
	make_room(file->files);
	fd = elf_file_descriptor(file->path, &st, err);
	if (fd < 0)
		return fd;
	if (!is_same(&st, &file->stat)) {
		close(fd);
		return fail(err, -ESTALE, "replaced while it was read");
	}
	file->files->n_open++;
	return file->fd = fd;
}

int elf_file_hold(struct elf_file *file, struct str *err)
{
	int rc = elf_files_descriptor(file, err);

	if (rc >= 0)
		rc = elf_file_begin(file, err);
	if (rc < 0)
		return rc;
	file->holders++;
	if (file->files)
		keep_unpacked(file->files, file);
	return 0;
}

void elf_file_let_go(struct elf_file *file)
{
	if (--file->holders)
		return;
	if (!file->files) {
		elf_file_close(file);
		free(file);
		return;
	}
	elf_file_end(file);
	if (file->unpacked && file->files->unpacked != file)
		drop_unpacked(file);
}

static struct elf_file *known(const struct elf_files *files, const char *path, uint64_t hash)
{
	uint32_t i;

	if (INDEX_FIND(&files->by_path, hash, i, !strcmp(files->v[i]->path, path)))
		return files->v[i];
	return NULL;
}

static void add(struct elf_files *files, struct elf_file *file, uint64_t hash)
{
	file->files = files;
	file->used = ++files->time;
	files->n_open++;
	index_add(&files->by_path, hash, (uint32_t)files->n);
	VEC_GROW(files->v, files->n, files->cap);
	files->v[files->n++] = file;
	keep_unpacked(files, file);
}

int elf_files_open(struct elf_files *files, const char *path, struct elf_file **file, struct str *err)
{
	uint64_t hash = hash_bytes(path, strlen(path));
	struct elf_file *found = files ? known(files, path, hash) : NULL;
	int rc;

	*file = found;
	if (found)
		return elf_file_hold(found, err);
	if (files)
		make_room(files);
	found = xmalloc(sizeof(*found));
	rc = elf_file_open(found, path, err);
	if (rc) {
		free(found);
		return rc;
	}
	found->holders = 1;
	if (files)
		add(files, found, hash);
	*file = found;
	return 0;
}
