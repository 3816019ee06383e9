/*
 * texts: distinct texts by number, for facts that are texts. Private to report/.
 */
#ifndef PSTAT_TEXTS_H
#define PSTAT_TEXTS_H

#include "util/util.h"

struct text_index;
struct text_index *texts_new(void);
void texts_free(struct text_index *texts); /* NULL is fine */
/* The number of a text: 0 for the first distinct one, and so on. */
uint32_t texts_intern(struct text_index *texts, const char *text, size_t len);
const char *texts_get(const struct text_index *texts, uint32_t number);

#endif
