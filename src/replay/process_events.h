/* SPDX-License-Identifier: MIT */
/*
 * process_events.h: one record at a time takes effect and is handed to the caller. Private to replay/.
 */
#ifndef PSTAT_REPLAY_PROCESS_EVENTS_H
#define PSTAT_REPLAY_PROCESS_EVENTS_H

#include "replay/replay.h"

/* timed: time_ns is when it was written. 0, or what a handler returned. */
int process_events_take(struct replay *replay, const struct record *record, bool timed, uint64_t time_ns,
			struct str *err);
/* After the last record: what still waits is delivered. */
int process_events_end(struct replay *replay, struct str *err);
void process_events_release(struct replay *replay);
/* Gives the dsos what the header's list of build-ids has gained. */
void process_events_take_build_ids(struct replay *replay);

/* For samples that were held (deferred.c). */
void process_events_fill_sample(struct replay_sample *sample, const struct record *record,
				const struct record_body *body, struct thread *thread, uint32_t parallelism);
int process_events_emit(struct replay *replay, const struct replay_sample *sample, struct str *err);

/* map_events.c: MMAP, MMAP2, KSYMBOL records. The task that mapped it; NULL: the kernel, a guest or unknown. */
struct task *map_events_mmap(struct replay *replay, const struct record_body *body);
struct task *map_events_ksymbol(struct replay *replay, const struct record_body *body);

#endif
