/* SPDX-License-Identifier: MIT */
/*
 * inject_chains.c: --convert-callchain: samples with registers and a copy of their stack become what pstat record makes
 * of them: a callchain whose last marks say how it ended, without registers and stack.
 */
#include "inject/inject_internal.h"
#include "record/record.h"

#include <errno.h>
#include <stdlib.h>

struct inject_chains {
	struct inject *inject;
	struct unwound_room room;
	uint64_t *ips; /* the user's frames of a sample */
	size_t cap;
};

/* Callchains of pstat record were unwound before they were written, and those of kernels and processors need it not. */
static int nothing_to_unwind(struct inject *inject, struct str *err)
{
	const struct events *events = &inject->reader->events;
	size_t i = 0;

	while (i < events->n && !(events->v[i]->attr.sample_type & PERF_SAMPLE_CALLCHAIN))
		i++;
	if (i == events->n)
		return fail(err, -EINVAL, "no event has callchains");
	note_add(&inject->result->notes, false, NULL,
		 "no event has copies of stacks: callchains stay as they are");
	return 0;
}

int inject_chains_new(struct inject_chains **out, struct inject *inject, struct str *err)
{
	const struct events *events = &inject->reader->events;
	struct inject_chains *chains;
	size_t i = 0;

	while (i < events->n && !unwound_takes(events->v[i]))
		i++;
	if (i == events->n)
		return nothing_to_unwind(inject, err);
	unwound_events(&inject->written, events, 0);
	*out = chains = xcalloc(1, sizeof(*chains));
	chains->inject = inject;
	return 0;
}

void inject_chains_free(struct inject_chains *chains)
{
	if (!chains)
		return;
	unwound_room_release(&chains->room);
	free(chains->ips);
	free(chains);
}

/* Keeps the frames in user mode, which are the last ones. */
static size_t keep_user(struct inject_chains *chains, const struct chain *chain)
{
	const struct session *session = &chains->inject->session;
	size_t n = 0;

	if (chain->n > chains->cap) {
		chains->cap = chain->n * 2;
		chains->ips = xreallocarray(chains->ips, chains->cap, sizeof(*chains->ips));
	}
	for (size_t i = 0; i < chain->n; i++)
		if (session->locations->v[chain->v[i].location].mode == MISC_USER)
			chains->ips[n++] = chain->v[i].ip;
	return n;
}

int inject_chains_sample(struct inject_chains *chains, const struct replay_sample *sample, struct str *err)
{
	struct inject *inject = chains->inject;
	struct session *session = &inject->session;
	const uint64_t unwound_before = session->unwind.counts.samples;
	struct unwound_chain user = { .end = CHAIN_COMPLETE };
	struct record_body body = *sample->body;
	const struct data_event *written;
	struct str bytes = STR_INIT;
	struct chain chain;
	int rc;

	if (!sample->event || !unwound_takes(sample->event))
		return 0;
	session_chain(session, sample, &chain);
	if (session->unwind.counts.samples != unwound_before) {
		user.n = keep_user(chains, &chain);
		user.ips = chains->ips;
		user.exact = session->unwind.exact;
		user.end = (enum chain_end)session->unwind.end;
		user.guessed = session->unwind.guessed;
	} else if (sample->sample->user_regs.abi) {
		user.end = CHAIN_NO_COPY;
	}
	written = inject->written.v[sample->event->index];
	rc = unwound_sample(&body, sample->record->size, written, &user, &chains->room, &bytes, err);
	if (!rc)
		rc = inject_put_bytes(inject, bytes.s, bytes.len, err);
	str_release(&bytes);
	return rc ? rc : 1;
}
