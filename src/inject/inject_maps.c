/* SPDX-License-Identifier: MIT */
/*
 * inject_maps.c: mappings of files that no sample is in are left out. Their records are not written when they come, but
 * before the first sample that is in the mapping:
 *
 *	in	MMAP a  MMAP b  MMAP c     sample in b     sample in b     sample in a
 *	out	                    MMAP b sample in b     sample in b MMAP a sample in a
 *
 * What readers of the output know is kept as an address space for each process, and a mapping is written where that has
 * another file at the address, or none. So it does not matter in which order files took each other's place. A child is
 * told its parent's mappings again: it takes little, and no reader's view of forks has to be known.
 */
#include "inject/inject_internal.h"

#include <stdlib.h>

struct told { /* a process of the output */
	int32_t pid;
	uint32_t serial;
	struct address_space space; /* mappings that were written */
};
struct inject_maps {
	struct inject *inject;
	struct told *v;
	size_t n, cap;
	struct index ix; /* by pid */
	uint64_t clock;
};

struct inject_maps *inject_maps_new(struct inject *inject)
{
	struct inject_maps *maps = xcalloc(1, sizeof(*maps));

	maps->inject = inject;
	return maps;
}

void inject_maps_free(struct inject_maps *maps)
{
	if (!maps)
		return;
	for (size_t i = 0; i < maps->n; i++)
		address_space_release(&maps->v[i].space);
	free(maps->v);
	index_release(&maps->ix);
	free(maps);
}

/* A number that was used again is another process, which has been told nothing. */
static struct told *told_of(struct inject_maps *maps, const struct thread *thread)
{
	const uint64_t hash = hash_word((uint64_t)thread->pid);
	struct told *told = NULL;
	uint32_t i;

	for (size_t at = index_first(&maps->ix, hash); !told && index_next(&maps->ix, hash, &at, &i);)
		told = maps->v[i].pid == thread->pid ? &maps->v[i] : NULL;
	if (!told) {
		VEC_GROW(maps->v, maps->n, maps->cap);
		index_add(&maps->ix, hash, (uint32_t)maps->n);
		told = &maps->v[maps->n++];
		*told = (struct told){ .pid = thread->pid, .serial = thread->process_serial };
	}
	if (told->serial != thread->process_serial)
		address_space_clear(&told->space, &maps->clock);
	told->serial = thread->process_serial;
	return told;
}

bool inject_maps_take(struct inject_maps *maps, const struct thread *thread, const struct record_body *body)
{
	const struct address_space *space = thread ? thread->address_space : NULL;
	const struct map *map = space ? address_space_find(space, body->mmap.start) : NULL;

	if (!thread || (body->misc & MISC_CPUMODE_MASK) != MISC_USER)
		return false;
	if (map && map->dso->kind == DSO_FILE)
		return true;
	/* Readers will have it in the place of what was there. */
	address_space_cut(&told_of(maps, thread)->space, body->mmap.start, body->mmap.start + body->mmap.len,
			  &maps->clock);
	return false;
}

void inject_maps_exec(struct inject_maps *maps, const struct thread *thread)
{
	address_space_clear(&told_of(maps, thread)->space, &maps->clock);
}

static int put_map(struct inject_maps *maps, const struct replay_sample *sample, const struct map *map,
		   struct str *err)
{
	struct inject *inject = maps->inject;
	const struct dso *dso = map->dso;
	struct record_body body = {
		.type = RECORD_MMAP2,
		.misc = MISC_USER,
		.id = sample->body->id,
		.mmap = { .pid = (uint32_t)sample->thread->pid,
			  .tid = (uint32_t)sample->thread->pid,
			  .start = map->start,
			  .len = map->end - map->start,
			  .pgoff = map->pgoff,
			  .major = dso->major,
			  .minor = dso->minor,
			  .inode = dso->inode,
			  .inode_generation = dso->generation,
			  .prot = map->prot,
			  .flags = map->flags,
			  .path = dso->path },
	};

	inject_ids_map(inject->ids, &body, map->dso);
	return inject_put(inject, &body, inject->written.v[sample->event->index], err);
}

/* Writes the mapping of an address of user mode, unless that is known. */
static int tell(struct inject_maps *maps, const struct replay_sample *sample, uint64_t ip, struct str *err)
{
	const struct address_space *space = sample->thread->address_space;
	const struct map *map = space ? address_space_find(space, ip) : NULL, *known;
	struct told *told;

	if (!map || map->dso->kind != DSO_FILE)
		return 0;
	told = told_of(maps, sample->thread);
	known = address_space_find(&told->space, ip);
	if (known && known->dso == map->dso && known->start - known->pgoff == map->start - map->pgoff)
		return 0;
	address_space_add(&told->space, map, &maps->clock);
	return put_map(maps, sample, map, err);
}

int inject_maps_sample(struct inject_maps *maps, const struct replay_sample *sample, struct str *err)
{
	const struct sample *s = sample->sample;
	uint8_t mode = sample->mode;
	struct chain chain;
	int rc = 0;

	if (!sample->event)
		return 0;
	if (mode == MISC_USER && s->has & PERF_SAMPLE_IP)
		rc = tell(maps, sample, s->ip, err);
	for (uint64_t i = 0; i < sample->n_ips && !rc; i++)
		if (!context_mode(sample->ips[i], &mode) && mode == MISC_USER)
			rc = tell(maps, sample, sample->ips[i], err);
	/* Ends in the kernel are in no mapping of a process. */
	for (uint64_t i = 0; i < s->n_branches && !rc; i++) {
		rc = tell(maps, sample, s->branches[i].from, err);
		rc = rc ? rc : tell(maps, sample, s->branches[i].to, err);
	}
	if (rc || !(s->has & PERF_SAMPLE_STACK_USER))
		return rc;
	session_chain(&maps->inject->session, sample, &chain);
	for (size_t i = 0; i < chain.n && !rc; i++)
		rc = tell(maps, sample, chain.v[i].ip, err);
	return rc;
}
