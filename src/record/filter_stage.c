/* SPDX-License-Identifier: MIT */
/*
 * filter_stage.c: see filter_stage.h. A sample that cannot be decoded is nobody's to judge and goes on.
 */
#include "record/filter_stage.h"

#include <errno.h>
#include <stdlib.h>

enum { HELD_BYTES = 1 << 20 }; /* no sample is ever held */

struct filter_stage {
	const struct events *recorded;
	struct decoder decoder;
	struct sample_filter *filters; /* by event; n 0: all its samples pass */
	uint64_t *left_out; /* likewise */
	struct stage *stage;
};

static int take(void *data, const struct perf_event_header *header, uint64_t ticket, struct str *out, struct str *err)
{
	struct filter_stage *filter = data;
	struct str why = STR_INIT;
	struct record_body body;
	struct record record;
	size_t event;
	int rc;

	(void)ticket, (void)out, (void)err;
	if (header->type != RECORD_SAMPLE)
		return STAGE_PASS;
	record_from_bytes(&record, (const uint8_t *)header, 0, false);
	rc = record_decode(&filter->decoder, &record, &body, &why);
	str_release(&why);
	if (rc || !body.event)
		return STAGE_PASS;
	event = body.event->index;
	if (sample_filter_passes(&filter->filters[event], body.event, &body.sample))
		return STAGE_PASS;
	filter->left_out[event]++;
	return STAGE_REPLACED;
}

int filter_stage_new(struct filter_stage **made, const struct events *recorded, const char *const *filters,
		     struct str *err)
{
	struct filter_stage *filter = NULL;
	struct str why = STR_INIT;
	int rc = 0;

	*made = NULL;
	for (size_t i = 0; i < recorded->n && !rc; i++) {
		if (!filters[i])
			continue;
		if (!filter) {
			filter = xcalloc(1, sizeof(*filter));
			filter->recorded = recorded;
			filter->filters = xcalloc(recorded->n, sizeof(*filter->filters));
			filter->left_out = xcalloc(recorded->n, sizeof(*filter->left_out));
			decoder_init(&filter->decoder, recorded, false);
		}
		rc = sample_filter_parse(&filter->filters[i], filters[i], &why);
		if (!rc)
			rc = sample_filter_check(&filter->filters[i], recorded->v[i]->attr.sample_type, &why);
		if (rc)
			fail(err, rc, "--filter: %s: %s", recorded->v[i]->name, why.s);
	}
	str_release(&why);
	if (!rc)
		*made = filter;
	else
		filter_stage_free(filter);
	return rc;
}

void filter_stage_free(struct filter_stage *filter)
{
	if (!filter)
		return;
	stage_free(filter->stage);
	for (size_t i = 0; i < filter->recorded->n; i++)
		sample_filter_release(&filter->filters[i]);
	decoder_release(&filter->decoder);
	free(filter->filters);
	free(filter->left_out);
	free(filter);
}

struct stage *filter_stage_begin(struct filter_stage *filter, struct record_sink *next)
{
	static const struct stage_ops ops = { .take = take };

	filter->stage = stage_new(&ops, filter, filter->recorded, next, HELD_BYTES);
	return filter->stage;
}

uint64_t filter_stage_left_out(const struct filter_stage *filter, size_t event)
{
	return filter->left_out[event];
}
