/* SPDX-License-Identifier: MIT */
/*
 * intern: what is the same gets the same number: rows of words, and texts. Numbers are given in order of
 * appearance from 0 on; nothing is forgotten. A look-up is a hash and, nearly always, one comparison.
 */
#ifndef PSTAT_INTERN_H
#define PSTAT_INTERN_H

#include "util/util.h"

/* ---- rows of words ---- */
struct row_set {
	unsigned width; /* words in a row; may be 0: then there is one row */
	uint64_t *v;
	size_t n, cap;
	struct index ix;
};
void row_set_init(struct row_set *rows, unsigned width);
void row_set_release(struct row_set *rows);
uint32_t row_set_intern(struct row_set *rows, const uint64_t *row);
static inline const uint64_t *row_set_at(const struct row_set *rows, uint32_t i)
{
	return rows->v + (size_t)i * rows->width;
}

/* ---- texts: their bytes never move ---- */
struct text_index;
struct text_index *texts_new(void);
void texts_free(struct text_index *texts); /* NULL is fine */
/* The number of a text: 0 for the first distinct one, and so on. */
uint32_t texts_intern(struct text_index *texts, const char *text, size_t len);
const char *texts_get(const struct text_index *texts, uint32_t number);

#endif
