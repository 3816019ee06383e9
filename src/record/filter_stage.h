/* SPDX-License-Identifier: MIT */
/*
 * filter_stage: leaves out samples that do not pass their event's filter (--filter on fields of samples), where the
 * kernel does not do it. Private to record/. It stands before all other stages: what is left out costs them nothing.
 */
#ifndef PSTAT_FILTER_STAGE_H
#define PSTAT_FILTER_STAGE_H

#include "record/record.h"
#include "record/stages.h"

struct filter_stage;

/*
 * filters: by event of `recorded`, the text or NULL. 0, with *made NULL where there is no filter; -EINVAL or -ENOTSUP
 * with a sentence: samples of an event do not have what its filter asks for. All is borrowed but the texts.
 */
int filter_stage_new(struct filter_stage **made, const struct events *recorded, const char *const *filters,
		     struct str *err);
/* After its stage. NULL is nothing. */
void filter_stage_free(struct filter_stage *filter);
/* The stage before `next`, which is the caller's to tell; it goes with the filter. */
struct stage *filter_stage_begin(struct filter_stage *filter, struct record_sink *next);
/* Samples of this event that were left out so far. */
uint64_t filter_stage_left_out(const struct filter_stage *filter, size_t event);

#endif
