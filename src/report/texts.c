/*
 * Distinct texts by number. The bytes lie in an arena and never move; nothing is forgotten.
 */
#include "report/texts.h"

#include <stdlib.h>

struct text_index {
	struct arena arena;
	struct text_row {
		const char *text;
		size_t len;
	} * v;
	size_t n, cap;
	struct index ix;
};

struct text_index *texts_new(void)
{
	return xcalloc(1, sizeof(struct text_index));
}

void texts_free(struct text_index *texts)
{
	if (!texts)
		return;
	arena_release(&texts->arena);
	free(texts->v);
	index_release(&texts->ix);
	free(texts);
}

uint32_t texts_intern(struct text_index *texts, const char *text, size_t len)
{
	uint64_t hash = hash_bytes(text, len);
	uint32_t i;

	for (size_t at = index_first(&texts->ix, hash); index_next(&texts->ix, hash, &at, &i);)
		if (texts->v[i].len == len && !memcmp(texts->v[i].text, text, len))
			return i;
	VEC_GROW(texts->v, texts->n, texts->cap);
	texts->v[texts->n] = (struct text_row){ arena_strndup(&texts->arena, text, len), len };
	index_add(&texts->ix, hash, (uint32_t)texts->n);
	return (uint32_t)texts->n++;
}

const char *texts_get(const struct text_index *texts, uint32_t number)
{
	return number < texts->n ? texts->v[number].text : "";
}
