/*
 * moved_code: programs copy their own code into anonymous memory at the same addresses, for huge pages:
 *
 *	[ program, code                    ]
 *	[ program, code ][ anon ][ program, code ]     by mmap over it, or by mremap of a copy
 *
 * The names at these addresses, and the tables for unwinding, are still the file's. It is told from what a run-time
 * compiler puts there: the code of the program itself cannot have been unmapped before; that of a library could, and
 * then its ends are gone, too, so the file's code has to go on at both sides. Of a process that ran before, the
 * mappings come one by one: what lies between two parts of a file at their distance in the file.
 */
#include "replay/moved_code.h"

#include <sys/mman.h>

enum { PIECES_MAX = 64 }; /* of one gap: the kernel splits what has different flags */

/* The file's code at an address, or NULL; like: another part of it, mapped in the same way, or NULL: any. */
static const struct map *file_code(const struct address_space *space, uint64_t addr, const struct map *like)
{
	const struct map *map = address_space_find(space, addr);

	if (!map || map->dso->kind != DSO_FILE || !(map->prot & PROT_EXEC) ||
	    (like && (map->dso != like->dso || map->start - map->pgoff != like->start - like->pgoff)))
		return NULL;
	return map;
}

bool moved_code_take(const struct process *process, struct map *map)
{
	const struct address_space *space = &process->address_space;
	const struct map *first = file_code(space, map->start, NULL);

	if (!first || map->end <= map->start || !file_code(space, map->end - 1, first))
		return false;
	if (first->dso != process->program &&
	    !(file_code(space, map->start - 1, first) && file_code(space, map->end, first)))
		return false;
	map->pgoff = map->start - first->start + first->pgoff;
	map->dso = first->dso;
	return true;
}

void moved_code_between(struct process *process, uint64_t addr, uint64_t *clock)
{
	struct address_space *space = &process->address_space;
	const struct map *at = address_space_find(space, addr), *before, *piece;
	struct map between;

	if (!at || at->dso->kind != DSO_ANON)
		return;
	between = (struct map){ .start = at->start, .end = at->end };
	for (int i = 0; i < PIECES_MAX && (piece = address_space_find(space, between.start - 1)); i++) {
		if (piece->dso->kind != DSO_ANON)
			break;
		between.start = piece->start;
	}
	for (int i = 0; i < PIECES_MAX && (piece = address_space_find(space, between.end)); i++) {
		if (piece->dso->kind != DSO_ANON)
			break;
		between.end = piece->end;
	}
	before = file_code(space, between.start - 1, NULL);
	if (!before || !file_code(space, between.end, before))
		return;
	between.dso = before->dso;
	between.prot = before->prot;
	between.flags = before->flags;
	between.pgoff = between.start - before->start + before->pgoff;
	address_space_add(space, &between, clock);
}
