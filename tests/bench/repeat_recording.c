/* SPDX-License-Identifier: MIT */
/*
 * repeat_recording FROM TO TIMES: the same program for TIMES as long: the samples of a recording again and
 * again, each round later in time, with a FINISHED_ROUND behind every few thousand of them.
 */
#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUND_SAMPLES = 5000 };

struct repeat {
	struct writer writer;
	uint64_t shift_ns, first_ns, last_ns;
	unsigned in_round;
};

static void stop(const char *what, const struct str *err)
{
	fprintf(stderr, "repeat_recording: %s: %s\n", what, err->s);
	exit(1);
}

static void add(struct repeat *r, const struct record_body *body, struct str *err)
{
	if (writer_add_body(&r->writer, body, body->type < RECORD_USER_FIRST ? body->event : NULL, err))
		stop("write", err);
}

static void add_sample(struct repeat *r, struct record_body *body, struct str *err)
{
	if (!r->first_ns)
		r->first_ns = body->sample.time_ns;
	if (body->sample.time_ns > r->last_ns)
		r->last_ns = body->sample.time_ns;
	body->sample.time_ns += r->shift_ns;
	add(r, body, err);
	if (++r->in_round % ROUND_SAMPLES == 0 && writer_add_round(&r->writer, err))
		stop("write", err);
}

/* Everything but the samples is needed once. */
static void copy_round(struct repeat *r, const char *from, bool first, struct str *err)
{
	struct reader reader;
	struct record record;
	struct record_body body;

	if (reader_open(&reader, from, err))
		stop(from, err);
	while (reader_next(&reader, &record, err) > 0) {
		if (reader_decode(&reader, &record, &body, err))
			stop("decode", err);
		if (!body.event && record.type < RECORD_USER_FIRST)
			body.event = reader.events.v[0];
		if (record.type == RECORD_SAMPLE)
			add_sample(r, &body, err);
		else if (first && record.type < RECORD_USER_FIRST && record.type != RECORD_EXIT)
			add(r, &body, err);
	}
	reader_close(&reader);
	r->shift_ns += r->last_ns - r->first_ns + 1;
}

int main(int argc, char **argv)
{
	struct str err = STR_INIT;
	struct repeat repeat = { 0 };
	struct reader reader;
	long times = argc > 3 ? strtol(argv[3], NULL, 10) : 0;

	if (times < 1)
		return fprintf(stderr, "repeat_recording: FROM TO TIMES\n"), 2;
	if (reader_open(&reader, argv[1], &err) ||
	    writer_open(&repeat.writer, &(struct writer_options){ .path = argv[2] }, &reader.events, &reader.info,
			&err))
		stop(argv[1], &err);
	for (long i = 0; i < times; i++)
		copy_round(&repeat, argv[1], !i, &err);
	if (writer_finish(&repeat.writer, &reader.events, &reader.info, &err))
		stop(argv[2], &err);
	writer_close(&repeat.writer);
	reader_close(&reader);
	str_release(&err);
	return 0;
}
