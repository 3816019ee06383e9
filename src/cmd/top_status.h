/* SPDX-License-Identifier: MIT */
/*
 * top_status: what stays in sight above the tables of `pstat top`: how many samples come, how many did not, and what
 * pstat itself costs. Private to cmd/.
 */
#ifndef PSTAT_TOP_STATUS_H
#define PSTAT_TOP_STATUS_H

#include "bpf/bpf.h"
#include "profile/profile.h"
#include "record/record.h"

struct top_status {
	const struct session *session; /* borrowed, as the next two */
	const struct live_source *live;
	const struct record_plan *plan;
	struct bpf_counting *counting; /* its losses are missed samples, too; NULL: there is none */
	/* When it was worked out, and what there was then. */
	uint64_t time_ns, cpu_ns, samples;
	/* From one time to the next. */
	double samples_per_s;
	double own_pct; /* of one CPU */
	uint64_t samples_new;
};

struct sample_losses {
	uint64_t lost, missed, throttled;
};

/* False: a dummy that says what tasks do. */
bool event_is_sampled(const struct data_event *event);
/* Counts losses since the beginning. */
void top_status_losses(const struct top_status *status, struct sample_losses *losses);
/* From now on. */
void top_status_begin(struct top_status *status);
/* Works out what was since the last time, or the beginning. */
void top_status_step(struct top_status *status);
/* One line without its end: as it was at the last step, losses as they are now. */
void top_status_add(const struct top_status *status, struct str *out);
/* Losses alone: "lost 0, missed 0, throttled 0". */
void top_status_add_losses(const struct top_status *status, struct str *out);

#endif
