/* SPDX-License-Identifier: MIT */
/*
 * A session on a recording made in memory, for test_chain.c, test_filters.c and their like: the recordings of
 * replay_fixture.h, whose samples go to a function of the test.
 */
#ifndef SESSION_FIXTURE_H
#define SESSION_FIXTURE_H

#include "replay_fixture.h"

#include "profile/time_filter.h"
#include "profile/profile.h"

struct fix_session {
	struct reader reader;
	struct session session;
	struct str err;
};

/* A recording whose one event has further PERF_SAMPLE_* bits and kinds of branches. */
static inline void session_recording(struct made_recording *s, uint64_t more_bits, uint64_t branches)
{
	const uint64_t id = 101;
	struct perf_event_attr attr;

	recording_init(s);
	attr = s->events.v[0]->attr;
	attr.sample_type |= more_bits;
	attr.branch_sample_type = branches;
	events_release(&s->events);
	events_init(&s->events);
	events_add(&s->events, &attr, sizeof(attr), &id, 1)->name = xstrdup("cycles");
}

/* The recording is complete: it is opened. Of its processes none lives, whatever has their pids on this machine now. */
static inline void session_open(struct fix_session *f, struct made_recording *s, const struct session_options *options)
{
	struct session_options no_processes = *options;
	struct str bytes;

	memset(f, 0, sizeof(*f));
	str_init(&f->err);
	recording_bytes(s, false, &bytes);
	if (reader_open_fd(&f->reader, fix_memory_file(bytes.s, bytes.len), "recording", &f->err))
		fail_msg("%s", f->err.s);
	if (!no_processes.sym.procfs)
		no_processes.sym.procfs = "/nowhere";
	if (session_init(&f->session, &f->reader, &no_processes, &f->err))
		fail_msg("%s", f->err.s);
	str_release(&bytes);
}

typedef int session_sample_fn(void *context, struct replay *replay,
			      const struct replay_sample *sample, struct str *err);

static inline void session_replay(struct fix_session *f, session_sample_fn *take, void *context)
{
	const struct replay_handlers handlers = { .context = context, .sample = take };

	if (replay_run(&f->session.replay, &f->reader.source, &handlers, &f->err))
		fail_msg("%s", f->err.s);
}

static inline void session_close(struct fix_session *f, struct made_recording *s)
{
	session_release(&f->session);
	reader_close(&f->reader);
	str_release(&f->err);
	recording_release(s);
}

/* "410000 412345r": user addresses as they were in the file, "r" a return address, "k" kernel. */
static inline void session_add_locations(const struct session *session, const uint32_t *locations, size_t n,
					 struct str *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct location_row *row = &session->locations->v[locations[i]];

		str_addf(out, "%s%llx%s%s", out->len ? " " : "", (unsigned long long)row->addr,
			 row->mode == MISC_KERNEL ? "k" : "", row->is_return ? "r" : "");
	}
}

#endif
