/*
 * kernel_maps.c: code of the kernel. Its own text and its modules come as MMAP records in kernel mode, what is
 * made at run time (BPF programs, trampolines) as KSYMBOL records.
 *
 *	[kernel.kallsyms]_text  start, len: the text; pgoff: address of the symbol behind the name
 *	/lib/modules/.../x.ko or [x]  start, len: where the module was loaded
 */
#include "replay/process_events.h"
#include "replay/state.h"

#include <stdlib.h>

static uint64_t map_end(uint64_t start, uint64_t len)
{
	return len > UINT64_MAX - start ? UINT64_MAX : start + len;
}

static void set_reference(struct dso *dso, const char *symbol, uint64_t addr)
{
	if (!*symbol)
		return;
	free(dso->ref_symbol);
	dso->ref_symbol = xstrdup(symbol);
	dso->ref_addr = addr;
}

void kernel_maps_add(struct replay *replay, const struct record_body *body, bool guest)
{
	const struct record_mmap *mmap = &body->mmap;
	struct replay_private *p = replay->private;
	struct address_space *space = guest ? replay->guest_kernel : replay->kernel;
	struct address_space *covered = guest ? &p->guest_covered : &p->kernel_covered;
	struct dso_key key = { .path = mmap->path, .pid = -1 };
	struct map map = { .start = mmap->start, .end = map_end(mmap->start, mmap->len) };

	key.kind = map_kind_kernel(mmap->path, guest, &key.path_bytes);
	key.build_id.size = mmap->build_id_size;
	memcpy(key.build_id.bytes, mmap->build_id, sizeof(key.build_id.bytes));
	map.dso = dso_table_get(&replay->dsos, &key);
	map.pgoff = mmap->pgoff;
	map.prot = mmap->prot;
	map.flags = mmap->flags;
	map.dso->start = map.start;
	map.dso->end = map.end;
	if (key.kind == DSO_KERNEL || key.kind == DSO_GUEST_KERNEL) {
		/* Some recorders give it the whole upper half: modules that came first stay. */
		set_reference(map.dso, mmap->path + key.path_bytes, mmap->pgoff);
		address_space_fill(space, covered, &map, &p->clock);
	} else if (map.start < map.end) {
		address_space_add(space, &map, &p->clock);
		address_space_cover(covered, map.start, map.end);
	}
}

static void ksymbol_gone(struct replay *replay, uint64_t addr)
{
	struct replay_private *p = replay->private;
	const struct map *map = address_space_find(replay->kernel, addr);

	if (!map || map->start != addr || map->dso->kind != DSO_BPF)
		return;
	address_space_cut(&p->kernel_covered, addr, map->end, &p->clock);
	address_space_cut(replay->kernel, addr, map->end, &p->clock);
}

void kernel_maps_ksymbol(struct replay *replay, const struct record_body *body)
{
	enum { UNREGISTER = 1 };
	uint64_t start = body->ksymbol.addr, end = map_end(start, body->ksymbol.len);
	struct dso_key key = { .kind = DSO_BPF, .path = body->ksymbol.name, .pid = -1 };
	struct map map = { .start = start, .end = end };

	if (body->ksymbol.flags & UNREGISTER) {
		ksymbol_gone(replay, start);
		return;
	}
	if (start == end)
		return;
	key.path_bytes = strlen(key.path);
	map.dso = dso_table_get(&replay->dsos, &key);
	map.dso->ksymbol_kind = body->ksymbol.kind;
	/* The same program may have been loaded several times. */
	if (!map.dso->end || start < map.dso->start)
		map.dso->start = start;
	if (end > map.dso->end)
		map.dso->end = end;
	address_space_add(replay->kernel, &map, &replay->private->clock);
	address_space_cover(&replay->private->kernel_covered, start, end);
}
