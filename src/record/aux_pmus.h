/*
 * aux_pmus: events that trace into an AUX buffer, a ring of bytes that only a decoder of this PMU understands.
 * pstat maps none. Private to record/.
 *
 * Source: perf_event_open(2), "aux_offset"; the PMUs' own documentation in the sources of Linux.
 */
#ifndef PSTAT_AUX_PMUS_H
#define PSTAT_AUX_PMUS_H

#include "event/event.h"

/* -EINVAL and a sentence where one of the events needs an AUX buffer, by its PMU or its terms. */
int aux_refuse(const struct event_list *events, struct str *err);

#endif
