/*
 * sample_attrs.h: what sampling asks of each event's attr. Private to count/.
 */
#ifndef PSTAT_COUNT_SAMPLE_ATTRS_H
#define PSTAT_COUNT_SAMPLE_ATTRS_H

#include "count/lib.h"

/*
 * Fills in the attrs of all events. -EINVAL with a sentence: options that contradict each other, or an event whose
 * records cannot be read as they come.
 */
int sample_attrs_fill(struct event_list *events, const struct pstat_sampling_options *options, struct str *err);

#endif
