/* SPDX-License-Identifier: MIT */
/*
 * build_id: the number that a linker gives a file by its contents: it says whether a file is still the one
 * that ran. Compared, written, and the folders that are sorted by it: 12/34ab.. for 1234ab..
 */
#ifndef PSTAT_UTIL_BUILD_ID_H
#define PSTAT_UTIL_BUILD_ID_H

#include <stdbool.h>
#include <stdint.h>

struct str;

struct build_id {
	uint8_t size; /* 0: not known */
	uint8_t bytes[20]; /* as many as perf.data has room for: longer ones are cut */
};

/* Both are known, and the same: one of them may have zeros at its end that the other lacks. */
bool build_id_same(const struct build_id *a, const struct build_id *b);
/* Adds all of it in hexadecimal. */
void build_id_text(const struct build_id *id, struct str *out);
/* "12ab34cd56ef...", long enough to tell two apart. */
void build_id_brief(const struct build_id *id, struct str *out);
/* ".build-id/12/34ab.." below a folder, then end; the caller frees. NULL: the build-id is not known. */
char *build_id_path(const char *dir, const struct build_id *id, const char *end);

#endif
