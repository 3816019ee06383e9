/*
 * A small table in front of replay_place and places_intern: samples meet the same few thousand addresses
 * again and again. A slot holds while the maps are those it was filled from, and, in a process whose compiler
 * tells when it put which code where, while that is the same.
 */
#include "profile/session_internal.h"

#include <stdlib.h>

enum {
	EPOCH_BITS = 24, /* of a version; spaces don't change 2^40 times */
	TIMED_MAX = 8, /* of one process: its own code, and that of whom it was forked from */
};

/* ---- code that changes with time ---- */

void code_clock_release(struct code_clock *clock)
{
	free(clock->v);
	index_release(&clock->by_pid);
}

/* The sum changes when any of them does: none goes back while time goes on. */
static void find_epoch(struct session *session, int32_t pid)
{
	struct code_clock *clock = &session->private->code_clock;
	uint64_t hash = hash_word((uint32_t)pid);
	uint32_t i;

	clock->epoch = 0;
	for (size_t at = index_first(&clock->by_pid, hash); index_next(&clock->by_pid, hash, &at, &i);)
		if (clock->v[i].pid == pid)
			clock->epoch += 1 + symbols_code_epoch(session->symbols, clock->v[i].dso, clock->now_ns);
}

void session_follow(struct session *session, const struct replay_sample *sample)
{
	struct code_clock *clock = &session->private->code_clock;

	clock->now_ns = sample->sample->has & PERF_SAMPLE_TIME ? sample->sample->time_ns : 0;
	if (clock->n)
		find_epoch(session, sample->thread->pid);
}

/* The process has it in its maps; false: it has too many. */
static bool keep_timed(struct session *session, int32_t pid, const struct dso *dso)
{
	struct code_clock *clock = &session->private->code_clock;
	uint64_t hash = hash_word((uint32_t)pid);
	size_t n = 0;
	uint32_t i;

	for (size_t at = index_first(&clock->by_pid, hash); index_next(&clock->by_pid, hash, &at, &i);) {
		if (clock->v[i].pid != pid)
			continue;
		if (clock->v[i].dso == dso)
			return true;
		n++;
	}
	if (n == TIMED_MAX)
		return false;
	VEC_GROW(clock->v, clock->n, clock->cap);
	clock->v[clock->n] = (struct timed_code){ pid, dso };
	index_add(&clock->by_pid, hash, (uint32_t)clock->n++);
	find_epoch(session, pid);
	return true;
}

static uint32_t code_at(struct session *session, const struct thread *thread, const struct place *place,
			bool is_return)
{
	uint64_t now_ns = session->private->code_clock.now_ns;
	uint32_t code, after;

	if (!place->dso || place->dso->kind != DSO_ANON || !now_ns)
		return 0;
	code = symbols_code_at(session->symbols, place->dso, place->addr - is_return, now_ns);
	/* See place_frames: where a signal's handler returns to. */
	if (is_return && (!code || code == SYM_CODE_GONE)) {
		after = symbols_code_at(session->symbols, place->dso, place->addr, now_ns);
		code = after ? after : code;
	}
	return code && keep_timed(session, thread->pid, place->dso) ? code : 0;
}

/* ---- places ---- */

uint64_t session_user_version(const struct session *session, const struct thread *thread)
{
	uint64_t version = thread->space ? thread->space->version : 0;

	return version << EPOCH_BITS | (version ? session->private->code_clock.epoch : 0);
}

/* The version of the maps that decide about this mode; 0: not to be remembered. */
static uint64_t space_version(const struct session *session, const struct thread *thread,
			      uint8_t mode)
{
	if (mode == MISC_USER)
		return session_user_version(session, thread);
	if (mode == MISC_KERNEL)
		return session->replay.kernel->version << EPOCH_BITS;
	return 0;
}

uint32_t session_place(struct session *session, struct thread *thread, uint8_t mode, uint64_t ip,
		       bool is_return)
{
	uint64_t version = space_version(session, thread, mode);
	uint64_t mixed = (ip ^ version >> (EPOCH_BITS - 7) ^ version << 7 ^ is_return) * 0x9e3779b97f4a7c15ULL;
	struct place_slot *slot = &session->private->place_slots[mixed >> 52];
	struct place place;
	uint32_t code;

	_Static_assert(PLACE_CACHE_SLOTS == 1 << 12, "the upper 12 bits choose a slot");
	if (version && slot->version == version && slot->ip == ip && slot->is_return == is_return)
		return slot->place;
	replay_place(&session->replay, thread, mode, ip, &place);
	code = code_at(session, thread, &place, is_return);
	*slot = (struct place_slot){ ip, version, places_intern(session->places, &place, ip, code, is_return),
				     is_return };
	return slot->place;
}
