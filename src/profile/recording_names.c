/* SPDX-License-Identifier: MIT */
/*
 * recording_names: a recording is read once as a report would, all addresses of all samples are looked up with lines
 * and inlined functions, and what was found becomes part of the file (sym/embedded_names.h):
 *
 *	samples -> locations of ip, callers, branches, data -> symbols of each -> feature -> the file, written anew
 *
 * Stacks are unwound to their ends, for a report may ask for more frames than another. What unwinding needs of the
 * files goes along where there was anything to unwind.
 */
#include "profile/session_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* ---- what is asked ---- */

enum { ASK_EVERY = 1024 }; /* samples, or addresses, from one question to the next whether to give up */

struct names_walk {
	struct session *session;
	const struct interrupt *interrupt;
	uint64_t n_samples;
};

static int give_up(const struct names_walk *asked, uint64_t n, struct str *err)
{
	if (n % ASK_EVERY || !interrupt_came(asked->interrupt))
		return 0;
	return fail(err, -ECANCELED, "interrupted: nothing was added to the recording");
}

static int take_sample(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	struct names_walk *asked = context;
	struct session *session = asked->session;
	const struct sample *s = sample->sample;

	(void)replay;
	if (s->has & PERF_SAMPLE_IP)
		session_ip_location(session, sample);
	session_stack(session, sample);
	session_data_location(session, sample);
	for (uint64_t i = 0; (s->has & PERF_SAMPLE_BRANCH_STACK) && i < s->n_branches; i++) {
		session_address_location(session, sample, s->branches[i].from);
		session_address_location(session, sample, s->branches[i].to);
	}
	return give_up(asked, ++asked->n_samples, err);
}

/* Marks code whose address had several functions as sampled: which of them lay there when is looked up anew. */
static int look_up_all(const struct names_walk *asked, struct str *err)
{
	struct session *session = asked->session;
	int rc = 0;

	for (size_t i = 0; !rc && i < session->locations->n; i++) {
		const struct location_row *row = &session->locations->v[i];

		location_frames(session, (uint32_t)i, SYM_LINES);
		if (row->dso && row->code)
			symbols_frames(session->symbols, row->dso, row->addr - row->is_return, SYM_LINES);
		if (row->dso && row->code && row->is_return)
			symbols_frames(session->symbols, row->dso, row->addr, SYM_LINES);
		rc = give_up(asked, i, err);
	}
	return rc;
}

static bool has_data_addresses(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->v[i]->attr.sample_type & PERF_SAMPLE_ADDR)
			return true;
	return false;
}

static int write_names(struct reader *reader, const struct sym_options *sym, const struct interrupt *interrupt,
		       struct str *out, struct embedded_totals *totals, struct str *err)
{
	const struct session_options options = {
		.sym = *sym,
		.replay.data_maps = has_data_addresses(&reader->events),
		.max_stack = UNWIND_FRAMES_MAX,
	};
	struct session session;
	struct names_walk asked = { .session = &session, .interrupt = interrupt };
	const struct replay_handlers handlers = { .sample = take_sample, .context = &asked };
	int rc = session_init(&session, reader, &options, err);

	if (!rc)
		rc = replay_run(&session.replay, session.source, &handlers, err);
	if (!rc)
		rc = look_up_all(&asked, err);
	if (!rc)
		rc = symbols_write(session.symbols, session.can_unwind, out, totals, err);
	session_release(&session);
	return rc;
}

/* ---- the file ---- */

static int fail_layout(const char *path, struct str *err)
{
	return fail(err, -ENOTSUP, "%s: a recording in the layout of pipes or folders cannot hold symbols", path);
}

static int may_be_put(const struct reader *reader, struct str *err)
{
	if (reader->pipe || reader->n_streams != 1)
		return fail_layout(reader->path, err);
	if (info_has(&reader->info, FEATURE_SYMBOLS))
		return fail(err, -EEXIST, "%s: it has symbols already", reader->path);
	if (info_has(&reader->info, FEATURE_STAT))
		return fail(err, -ENOTSUP, "%s: it has counts and no samples", reader->path);
	return 0;
}

static int open_reader(struct reader *reader, int fd, const char *path, struct str *err)
{
	struct stat st;
	int own;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return fail_layout(path, err);
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return own < 0 ? fail(err, -errno, "%s: %s", path, strerror(errno)) : reader_open_fd(reader, own, path, err);
}

int recording_put_names(int fd, const char *path, const struct sym_options *sym, const struct interrupt *interrupt,
			struct embedded_totals *totals, struct str *err)
{
	struct sym_options options = *sym;
	struct str bytes = STR_INIT;
	struct reader reader = { 0 };
	int rc = open_reader(&reader, fd, path, err);

	*totals = (struct embedded_totals){ 0 };
	options.no_demangle = true; /* they are written raw */
	options.not_recorded = true;
	if (!rc)
		rc = may_be_put(&reader, err);
	if (!rc)
		rc = write_names(&reader, &options, interrupt, &bytes, totals, err);
	reader_close(&reader);
	if (!rc)
		rc = recording_put_feature(fd, path, FEATURE_SYMBOLS, bytes.s, bytes.len, interrupt, err);
	str_release(&bytes);
	return rc;
}
