/* SPDX-License-Identifier: MIT */
/* Questions asked in one call: of a recording that is read for one alone, or of a profile that others ask, too. */
#ifndef ASK_FIXTURE_H
#define ASK_FIXTURE_H

#include "hist/hist.h"

#include <errno.h>
#include <stdlib.h>

struct asked {
	struct question *question;
	struct profile *profile; /* read for it; else NULL */
	struct reader *reader; /* opened for it; else NULL */
	struct table *table; /* NULL where it failed */
};

/* A profile for the question, which is not read yet. */
static inline int asked_open(struct asked *a, const struct query *query, struct reader *reader, struct str *err)
{
	struct profile_options options;
	int code;

	*a = (struct asked){ .table = NULL };
	reader_know_events(reader);
	code = question_make(&a->question, query, &reader->recording, err);
	if (code)
		return code;
	options = question_profile(a->question, 0);
	return profile_new(&a->profile, &options, reader, err);
}

static inline int asked_alone(struct asked *a, const struct query *query, struct reader *reader, struct str *err)
{
	int code = asked_open(a, query, reader, err);

	if (!code)
		code = profile_read(a->profile, NULL, NULL, err);
	return a->profile ? (table_make(&a->table, a->profile, a->question, NULL, err), code) : code;
}

static inline int asked_of(struct asked *a, struct profile *profile, const struct query *query,
			   struct fold_cache *cache, struct str *err)
{
	int code;

	*a = (struct asked){ .table = NULL };
	code = question_make(&a->question, query, profile->session.recording, err);
	return code ? code : table_make(&a->table, profile, a->question, cache, err);
}

static inline void asked_release(struct asked *a)
{
	table_free(a->table);
	profile_free(a->profile);
	question_free(a->question);
	if (a->reader)
		reader_close(a->reader);
	free(a->reader);
	*a = (struct asked){ .table = NULL };
}

/* The same of the profile, or of the recording that it was read of where its cells can't tell. */
static inline int asked_of_either(struct asked *a, struct profile *profile, const struct query *query,
				  struct fold_cache *cache, struct str *err)
{
	struct reader *reader;
	int code = asked_of(a, profile, query, cache, err);

	if (code != -EAGAIN)
		return code;
	asked_release(a);
	reader = xcalloc(1, sizeof(*reader));
	code = reader_open_again(reader, profile->session.reader, err);
	if (!code)
		code = asked_alone(a, query, reader, err);
	a->reader = reader;
	return code;
}

#endif
