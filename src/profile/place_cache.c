/*
 * A small table in front of replay_place and places_intern: samples meet the same few thousand addresses
 * again and again. A slot holds while the maps are those it was filled from.
 */
#include "profile/session_internal.h"

/* The version of the maps that decide about this mode; 0: not to be remembered. */
static uint64_t space_version(const struct session *session, const struct thread *thread,
			      uint8_t mode)
{
	if (mode == MISC_USER)
		return thread->space ? thread->space->version : 0;
	if (mode == MISC_KERNEL)
		return session->replay.kernel->version;
	return 0;
}

uint32_t session_place(struct session *session, struct thread *thread, uint8_t mode, uint64_t ip,
		       bool is_return)
{
	uint64_t version = space_version(session, thread, mode);
	uint64_t mixed = (ip ^ version << 7 ^ is_return) * 0x9e3779b97f4a7c15ULL;
	struct place_slot *slot = &session->private->place_slots[mixed >> 52];
	struct place place;

	_Static_assert(PLACE_CACHE_SLOTS == 1 << 12, "the upper 12 bits choose a slot");
	if (version && slot->version == version && slot->ip == ip && slot->is_return == is_return)
		return slot->place;
	replay_place(&session->replay, thread, mode, ip, &place);
	*slot = (struct place_slot){ ip, version,
				     places_intern(session->places, &place, ip, is_return),
				     is_return };
	return slot->place;
}
