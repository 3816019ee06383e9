/* SPDX-License-Identifier: MIT */
/*
 * code_file: maps and dumps that run-time compilers leave in public places for profilers: which one is to be
 * believed, and how much of it is read. Private to sym/.
 *
 * Anyone may put such a file into /tmp, and what is below the root of a process is its user's work. So it has to
 * be a regular file of this user, of root, or of the process's user while that is known, and links to it as
 * well; below a process's root it is no link at all. All files together may cost so much work and no more.
 */
#ifndef PSTAT_CODE_FILE_H
#define PSTAT_CODE_FILE_H

#include "sym/sym_internal.h"

#define CODE_WORK_FILE ((uint64_t)256 << 20)
#define CODE_WORK_ALL ((uint64_t)1 << 30)

struct code_rules {
	bool anyone; /* whoever it belongs to */
	bool user_known; /* the process's */
	uint32_t user;
	int64_t not_before_ns; /* since 1970: what was last written before this is of an earlier process; 0: any */
	int64_t not_after_ns; /* what was written after this is of a later process, which has its pid now; 0: any */
	struct mapped_file mapped; /* the device and inode of the file that the process had mapped; inode 0: any */
	int32_t pid; /* that a dump says it is of; 0: any */
	/* Bytes that may still be read and kept (see code_ranges_spend); each use takes its share off. */
	uint64_t work_left;
};
/* This user and root, nothing else known. */
#define CODE_RULES_INIT                                                                            \
	{                                                                                          \
		.work_left = CODE_WORK_FILE                                                        \
	}

/*
 * A descriptor for reading, the file's status in *st; or a negative errno with a sentence that names the path.
 * -EPERM names the owner. bytes_max: as in struct foreign_options.
 */
int code_file_open(const char *path, const struct code_rules *rules, uint64_t bytes_max,
		   struct stat *st, struct str *err);

#endif
