/* SPDX-License-Identifier: MIT */
/*
 * replay_locate.c: address -> file and offset. Addresses repeat, and neighbours follow one another: each page's
 * last map is remembered under the version of its address space, which is never used again for other maps.
 */
#include "replay/state.h"

/* PERF_CONTEXT_* of include/uapi/linux/perf_event.h; what is not listed has no frames after it. */
static const struct {
	uint64_t mark;
	uint8_t mode;
} contexts[] = {
	{ (uint64_t)-32, MISC_HYPERVISOR },   { (uint64_t)-128, MISC_KERNEL },
	{ (uint64_t)-512, MISC_USER },        { (uint64_t)-2176, MISC_GUEST_KERNEL },
	{ (uint64_t)-2560, MISC_GUEST_USER },
};

bool context_mode(uint64_t ip, uint8_t *mode)
{
	const uint64_t lowest = (uint64_t)-4095;

	if (ip < lowest)
		return false;
	*mode = 0;
	for (size_t i = 0; i < ARRAY_SIZE(contexts); i++)
		if (contexts[i].mark == ip)
			*mode = contexts[i].mode;
	return true;
}

static struct location_memo *memo_of(struct replay *replay, uint64_t version, uint64_t ip)
{
	uint64_t mix = (ip >> 12 ^ version << 24) * 0x9e3779b97f4a7c15ULL;

	return &replay->private->memos[mix >> 56];
}

_Static_assert(LOCATION_MEMOS == 256, "8 bits choose one");

static void fill(struct location *location, struct dso *dso, uint64_t ip, uint64_t start, uint64_t end, uint64_t pgoff)
{
	bool offset = dso->kind == DSO_FILE || dso->kind == DSO_VDSO;

	location->dso = dso;
	location->addr = offset ? ip - start + pgoff : ip;
	location->map_start = start;
	location->map_end = end;
}

/*
 * The map of an address. The kernel's recorded map is that of its text; code that ran once, at its start,
 * lies after it and belongs to it, too, up to the next map: that part is made up in *rest.
 */
static const struct map *find_map(const struct address_space *space, uint64_t ip, struct map *rest)
{
	const uint64_t image_max = 1ULL << 30;
	const struct map *map = address_space_below(space, ip), *next;

	if (!map || ip < map->end)
		return map;
	if (map->dso->kind != DSO_KERNEL && map->dso->kind != DSO_GUEST_KERNEL)
		return NULL;
	*rest = *map;
	rest->start = map->end;
	rest->end = map->start < UINT64_MAX - image_max ? map->start + image_max : UINT64_MAX;
	next = address_space_next(space, map);
	if (next && next->start < rest->end)
		rest->end = next->start;
	return ip < rest->end ? rest : NULL;
}

static bool locate_in(struct replay *replay, const struct address_space *space, uint64_t ip, struct location *location)
{
	struct location_memo *memo = memo_of(replay, space->version, ip);

	if (memo->version != space->version || ip < memo->start || ip >= memo->end) {
		struct map rest;
		const struct map *map = find_map(space, ip, &rest);

		if (!map)
			return false;
		*memo = (struct location_memo){ space->version, map->start, map->end, map->pgoff, map->dso };
	}
	fill(location, memo->dso, ip, memo->start, memo->end, memo->pgoff);
	return true;
}

void replay_locate(struct replay *replay, struct thread *thread, uint8_t mode, uint64_t ip, struct location *location)
{
	const struct process *process = task_of(thread)->process;

	*location = (struct location){ .addr = ip, .mode = mode };
	if (mode == MISC_KERNEL)
		locate_in(replay, replay->kernel, ip, location);
	else if (mode == MISC_GUEST_KERNEL)
		locate_in(replay, replay->guest_kernel, ip, location);
	else if (mode == MISC_USER && !locate_in(replay, &process->address_space, ip, location) &&
		 process->before_exec.n)
		locate_in(replay, &process->before_exec, ip, location);
}

bool replay_knows_code(const struct replay *replay, const struct thread *thread)
{
	const struct address_space *space = thread->address_space;

	return space && space->is_whole && !replay->counts.lost_events && !replay->counts.broken;
}

bool replay_has_code(const struct thread *thread, uint64_t addr)
{
	return address_space_has_code(thread->address_space, addr) ||
	       address_space_has_code(&task_of(thread)->process->before_exec, addr);
}
