/* SPDX-License-Identifier: MIT */
/*
 * file_parts: the other files that answers about an ELF file came from, beside itself and its debug file: what dwz left
 * in common (.gnu_debugaltlink), .dwo files, packages. Also those that were looked for and are not there. Private to
 * sym/.
 *
 * Which ones these are is known only once they were asked for; so they are noted as they are opened, and what was
 * answered holds as long as each is what it was.
 *
 *	as bytes: each: path NUL identity NUL		(elf_path_identity; "": it is not there)
 */
#ifndef PSTAT_FILE_PARTS_H
#define PSTAT_FILE_PARTS_H

#include "elf/elf.h"

struct file_part {
	char *path, *identity;
};
struct file_parts { /* begins as { 0 } */
	struct file_part *v;
	size_t n, cap;
	struct index by_path;
	bool unsure; /* one could not be opened although it may be there, or is not what it was: nothing holds */
};

void file_parts_release(struct file_parts *parts);
/* Opens a file as elf_files_open does, and notes it. */
int file_parts_open(struct file_parts *parts, struct elf_files *files, const char *path, struct elf_file **file,
		    struct str *err);
/* All of `more` too; unsure where they differ about one. */
void file_parts_join(struct file_parts *parts, const struct file_parts *more);
/* Whether each is now what it was. Costs an open(2) for each. */
bool file_parts_hold(const struct file_parts *parts);

void file_parts_put(const struct file_parts *parts, struct str *bytes);
/* From bytes that may be anything, into parts, which are empty; false: they are none. */
bool file_parts_take(struct file_parts *parts, const char *bytes, size_t n);

#endif
