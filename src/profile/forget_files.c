/*
 * forget_files: an end to what grows with the files that come and go while something is sampled for ever: programs
 * that were built, run and removed, and code that compilers made at run time, which is a dso for each process. Such a
 * dso is a few hundred bytes, the symbols that were read for it may be megabytes.
 *
 * Who is gone: no process has it mapped, of those that replay still knows, and no location that is left lies in it. So
 * a program that is run again and again stays, as its last samples have not decayed when it comes back.
 *
 * Samples that notes tell of by file are not kept for these: what is forgotten is not told about at the end either.
 */
#include "profile/session_internal.h"

#include <stdlib.h>

/* Fewer and less than that is not worth new numbers. */
enum { GONE_MIN = 32, GONE_BYTES_MIN = 256 << 10 };

static void mark_located(const struct session *session, const bool *locations, bool *used)
{
	for (size_t i = 0; i < session->locations->n; i++)
		if (locations[i] && session->locations->v[i].dso)
			used[session->locations->v[i].dso->index] = true;
}

/* What there is one of for a machine has its place in the notes, and costs nothing. */
static bool goes(const struct dso *dso)
{
	return dso->kind == DSO_FILE || dso->kind == DSO_ANON || dso->kind == DSO_BPF;
}

/* Marks what stays; whether the rest is worth it. */
static bool worth_it(const struct session *session, const bool *locations, bool *used)
{
	const struct dso_table *dsos = &session->replay.dsos;
	size_t n = 0, bytes = 0;

	mark_located(session, locations, used);
	for (size_t i = 0; i < session->private->n_held; i++)
		used[session->private->held[i]->index] = true;
	replay_mark_dsos(&session->replay, used);
	for (size_t i = 0; i < dsos->n; i++) {
		used[i] |= !goes(dsos->v[i]);
		if (used[i])
			continue;
		n++;
		bytes += symbols_bytes(session->symbols, dsos->v[i]);
	}
	return n >= GONE_MIN || bytes >= GONE_BYTES_MIN;
}

/* Which of the codes at an address is meant is a number in the dump as it was read: who tells them apart keeps all. */
static bool is_needed_whole(const struct session *session)
{
	return session->private->code_clock.n || session->private->forgotten.n_dsos;
}

void session_forget_files(struct session *session, const bool *used)
{
	size_t n = session->replay.dsos.n;
	bool *dsos = xcalloc(n + 1, sizeof(*dsos));

	replay_forget_kin(&session->replay);
	if (!is_needed_whole(session) && worth_it(session, used, dsos)) {
		uint32_t *now = replay_keep_dsos(&session->replay, dsos);

		session_renumber_files(session, now);
		free(now);
	}
	free(dsos);
}

void session_hold_files(struct session *session, const struct dso *const *dsos, size_t n)
{
	struct session_private *private = session->private;

	private->held = xreallocarray(private->held, n + 1, sizeof(*private->held));
	if (n)
		memcpy(private->held, dsos, n * sizeof(*dsos));
	private->n_held = n;
}
