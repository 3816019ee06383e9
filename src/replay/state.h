/* SPDX-License-Identifier: MIT */
/*
 * state.h: what a replay keeps beside what replay.h shows, and who owns which part. Private to replay/.
 */
#ifndef PSTAT_REPLAY_STATE_H
#define PSTAT_REPLAY_STATE_H

#include "replay/deferred.h"
#include "replay/order.h"
#include "replay/process.h"
#include "replay/process_history.h"
#include "replay/text_table.h"

/* replay_locate.c: a map that was found for an address near by; good as long as the version is. */
struct location_memo {
	uint64_t version; /* 0: empty */
	uint64_t start, end, pgoff;
	struct dso *dso;
};
enum { LOCATION_MEMOS = 256 };

/* replay_run.c: where stable records lay that were delivered, since the source was told. */
struct passed {
	const uint8_t *from, *to;
	size_t bytes;
};

struct replay_private {
	struct replay_handlers handlers; /* zeros before replay_begin, and while all is released */
	struct passed passed;
	struct order order;
	uint64_t clock; /* of versions of address spaces */
	struct address_space kernel_covered, guest_covered; /* where replay's two have maps: see address_space_fill */
	struct process_table processes;
	size_t build_ids_taken; /* of the header's list, by dsos */
	struct process_history history;
	struct text_table comms;
	struct text_table cgroups;
	struct cgroup_id *cgroup_ids; /* process_events.c */
	size_t n_cgroup_ids, cap_cgroup_ids;
	struct index cgroup_index; /* of ids */
	struct deferred deferred;
	struct location_memo memos[LOCATION_MEMOS];
	uint64_t delivered_ns; /* newest time that was delivered */
};

#endif
