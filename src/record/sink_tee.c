/* SPDX-License-Identifier: MIT */
/*
 * sink_tee.c: passes each call to every sink and keeps the first failure. Its only state is the list.
 */
#include "record/sink_tee.h"

#include <stdlib.h>

static struct sink_tee *tee_of(struct record_sink *sink)
{
	return (struct sink_tee *)sink;
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

static int tee_take(struct record_sink *sink, const void *records, size_t n, struct str *err)
{
	struct sink_tee *tee = tee_of(sink);
	int first = 0;

	for (size_t i = 0; i < tee->n; i++) {
		struct str why = STR_INIT;

		keep_first(&first, tee->v[i]->take(tee->v[i], records, n, &why), &why, err);
	}
	return first;
}

/* member: of struct record_sink, a function without records. */
#define TELL_ALL(member) \
	static int tee_##member(struct record_sink *sink, struct str *err) \
	{ \
		struct sink_tee *tee = tee_of(sink); \
		int first = 0; \
 \
		for (size_t i = 0; i < tee->n; i++) { \
			struct str why = STR_INIT; \
 \
			keep_first(&first, tee->v[i]->member(tee->v[i], &why), &why, err); \
		} \
		return first; \
	}

TELL_ALL(round)
TELL_ALL(flush)
TELL_ALL(end)

void sink_tee_init(struct sink_tee *tee)
{
	*tee = (struct sink_tee){ .sink = { tee_take, tee_round, tee_flush, tee_end } };
}

void sink_tee_add(struct sink_tee *tee, struct record_sink *sink)
{
	VEC_GROW(tee->v, tee->n, tee->cap);
	tee->v[tee->n++] = sink;
}

void sink_tee_release(struct sink_tee *tee)
{
	free(tee->v);
	sink_tee_init(tee);
}
