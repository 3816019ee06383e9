/* SPDX-License-Identifier: MIT */
/*
 * chain_start: how many callchains by frame pointers reach the start of their program or thread. Where code uses the
 * frame pointer for something else, the kernel's walk ends early or goes astray, and says nothing about it: the flame
 * graph has towers that stand on no main. A chain has reached the start if one of its last CHAIN_TAIL addresses is
 * there: a C library without frame pointers may add a false caller or two to the function that calls main. What an
 * address is, is asked once for each location (symbols_code_start), and once for each distinct chain.
 */
#include "profile/session_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* In percent. Programs' loaders and C libraries have no frame pointers in most distributions: few are no news. */
static const double news_pct = 10, least_pct = 0.05;
enum { NEWS_CHAINS = 20 }; /* as a part of fewer chance may be the cause */

static enum code_start location_start(struct session *session, uint32_t location)
{
	struct location_row *row = &session->locations->v[location];

	if (!row->start_known)
		row->start = row->dso ? symbols_code_start(session->symbols, row->dso, row->addr, row->is_return) :
					CODE_IS_CALLED;
	row->start_known = true;
	return (enum code_start)row->start;
}

enum chain_reach chain_tail_reach(struct session *session, struct thread *thread, const struct chain_tail *tail)
{
	enum chain_reach reach = REACH_SHORT;

	for (size_t i = tail->n; i-- > 0 && tail->n - i <= CHAIN_TAIL;) {
		bool is_return = i || !tail->starts_with_ip;
		uint32_t location = session_location(session, thread, MISC_USER, tail->ips[i % CHAIN_TAIL], is_return);
		enum code_start start = location_start(session, location);

		if (start == CODE_STARTS)
			return REACH_START;
		if (start == CODE_START_NOT_KNOWN && i + 1 == tail->n)
			reach = REACH_NOT_COUNTED;
	}
	return reach;
}

void chain_starts_add(struct chain_starts *starts, enum chain_reach reach)
{
	starts->n += reach != REACH_NOT_COUNTED;
	starts->n_short += reach == REACH_SHORT;
}

static void add_note(const struct session *session, const char *which, struct note_list *notes)
{
	const struct chain_starts *starts = &session->private->starts;
	double pct = starts->n ? 100.0 * (double)starts->n_short / (double)starts->n : 0;

	if (pct < least_pct)
		return;
	note_add(notes, pct < news_pct || starts->n < NEWS_CHAINS, NULL,
		 "%.1f %% of %s%llu user callchains do not reach the start of their program or thread: built without "
		 "frame pointers; record with --call-graph dwarf",
		 pct, which, (unsigned long long)starts->n);
}

void chain_starts_note(const struct session *session, struct note_list *notes)
{
	add_note(session, "", notes);
}

/* ---- a recording that has just been made ---- */

enum {
	ASK_EVERY = 1024, /* samples, from one question to the next whether to give up */
	ENOUGH_SAMPLES = 50000, /* are read in a tenth of a second; a recorder's end waits for no more */
};

struct chains_walk {
	const struct interrupt *interrupt;
	uint64_t n_samples;
	bool enough;
};

static bool has_chains(const struct data_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	return (attr->sample_type & PERF_SAMPLE_CALLCHAIN) && !attr->exclude_callchain_user && !attr->exclude_user &&
	       !(attr->sample_type & PERF_SAMPLE_STACK_USER) && !event_is_unwound(event);
}

static int wants(void *context, const struct data_event *event, unsigned *bits, struct str *err)
{
	(void)context, (void)err;
	*bits = has_chains(event) ? SAMPLE_TAKEN | SAMPLE_STACK : 0;
	return 0;
}

static int take(void *context, const struct sink_sample *sample, struct str *err)
{
	struct chains_walk *walk = context;

	(void)sample;
	if (++walk->n_samples % ASK_EVERY == 0 && interrupt_came(walk->interrupt))
		return fail(err, -ECANCELED, "interrupted");
	walk->enough = walk->n_samples == ENOUGH_SAMPLES;
	return walk->enough ? -ECANCELED : 0;
}

static int note_chains(struct reader *reader, const struct sym_options *sym, const struct interrupt *interrupt,
		       struct note_list *notes, struct str *err)
{
	const struct session_options options = { .sym = *sym };
	const struct filter_options all = { .comms = NULL };
	struct chains_walk walk = { .interrupt = interrupt };
	const struct sample_sink sink = { .context = &walk, .wants = wants, .sample = take };
	struct filters *filters = NULL;
	struct session session;
	int rc = session_init(&session, reader, &options, err);

	if (!rc)
		rc = filters_new(&filters, &all, &session, err);
	if (!rc)
		rc = sample_stream_run(&session, filters, &sink, err);
	if (walk.enough)
		rc = 0;
	if (!rc)
		add_note(&session, walk.enough ? "the first " : "", notes);
	filters_free(filters);
	session_release(&session);
	return rc;
}

static bool any_chains(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (has_chains(events->v[i]))
			return true;
	return false;
}

int recording_note_chains(int fd, const char *path, const struct sym_options *sym, const struct interrupt *interrupt,
			  struct note_list *notes, struct str *err)
{
	struct reader reader = { 0 };
	struct stat st;
	int own, rc;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	rc = own < 0 ? fail(err, -errno, "%s: %s", path, strerror(errno)) : reader_open_fd(&reader, own, path, err);
	if (!rc && any_chains(&reader.events))
		rc = note_chains(&reader, sym, interrupt, notes, err);
	reader_close(&reader);
	return rc;
}
