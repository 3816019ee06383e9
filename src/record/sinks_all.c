/*
 * sinks_all.c: see sinks_all.h. There is nothing to remember between calls: which sinks there are is all.
 */
#include "record/sinks_all.h"

#include <stdlib.h>

static struct sinks_all *all_of(struct record_sink *sink)
{
	return (struct sinks_all *)sink;
}

/* The first failure counts; only its sentence is kept. */
static void keep_first(int *first, int code, struct str *why, struct str *err)
{
	if (code < 0 && !*first) {
		*first = code;
		str_addn(err, why->s, why->len);
	}
	str_release(why);
}

static int all_take(struct record_sink *sink, const void *records, size_t n, struct str *err)
{
	struct sinks_all *all = all_of(sink);
	int first = 0;

	for (size_t i = 0; i < all->n; i++) {
		struct str why = STR_INIT;

		keep_first(&first, all->v[i]->take(all->v[i], records, n, &why), &why, err);
	}
	return first;
}

/* member: of struct record_sink, a function without records. */
#define TELL_ALL(member) \
	static int all_##member(struct record_sink *sink, struct str *err) \
	{ \
		struct sinks_all *all = all_of(sink); \
		int first = 0; \
 \
		for (size_t i = 0; i < all->n; i++) { \
			struct str why = STR_INIT; \
 \
			keep_first(&first, all->v[i]->member(all->v[i], &why), &why, err); \
		} \
		return first; \
	}

TELL_ALL(round)
TELL_ALL(flush)
TELL_ALL(end)

void sinks_all_init(struct sinks_all *all)
{
	*all = (struct sinks_all){ .sink = { all_take, all_round, all_flush, all_end } };
}

void sinks_all_add(struct sinks_all *all, struct record_sink *sink)
{
	VEC_GROW(all->v, all->n, all->cap);
	all->v[all->n++] = sink;
}

void sinks_all_release(struct sinks_all *all)
{
	free(all->v);
	sinks_all_init(all);
}
