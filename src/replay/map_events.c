/* SPDX-License-Identifier: MIT */
/*
 * map_events.c: what MMAP and KSYMBOL records do to address spaces.
 *
 * The kernel's own text and its modules come as MMAP records in kernel mode, code that is made at run time (BPF
 * programs, trampolines) as KSYMBOL records:
 *
 *	[kernel.kallsyms]_text  start, len: the text; pgoff: address of the symbol that ends the name
 *	/lib/modules/.../x.ko or [x]  start, len: where the module was loaded
 *
 * Programs copy their own code into anonymous memory at the same addresses, for huge pages:
 *
 *	[ program, code                    ]
 *	[ program, code ][ anon ][ program, code ]     by mmap over it, or by mremap of a copy
 *
 * The names at these addresses, and the tables for unwinding, are still the file's. It is told from what a run-time
 * compiler puts there: the code of the program itself cannot have been unmapped before; that of a library could, and
 * then its ends are gone, too, so the file's code has to go on at both sides. Of a process that ran before, the
 * mappings come one by one: what lies between two parts of a file at their distance in the file.
 */
#include "replay/process_events.h"
#include "replay/state.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PIECES_MAX = 64 }; /* of one gap: the kernel splits what has different flags */

static uint64_t map_end(uint64_t start, uint64_t len)
{
	return len > UINT64_MAX - start ? UINT64_MAX : start + len;
}

/* ---- the kernel ---- */

static void set_reference(struct dso *dso, const char *symbol, uint64_t addr)
{
	if (!*symbol)
		return;
	free(dso->ref_symbol);
	dso->ref_symbol = xstrdup(symbol);
	dso->ref_addr = addr;
}

static void add_kernel_map(struct replay *replay, const struct record_body *body, bool guest)
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

struct task *map_events_ksymbol(struct replay *replay, const struct record_body *body)
{
	enum { UNREGISTER = 1 };
	uint64_t start = body->ksymbol.addr, end = map_end(start, body->ksymbol.len);
	struct dso_key key = { .kind = DSO_BPF, .path = body->ksymbol.name, .pid = -1 };
	struct map map = { .start = start, .end = end };

	if (body->ksymbol.flags & UNREGISTER) {
		ksymbol_gone(replay, start);
		return NULL;
	}
	if (start == end)
		return NULL;
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
	return NULL;
}

/* ---- code that a program has moved ---- */

/* The file's code at an address, or NULL; like: another part of it, mapped in the same way, or NULL: any. */
static const struct map *file_code(const struct address_space *space, uint64_t addr, const struct map *like)
{
	const struct map *map = address_space_find(space, addr);

	if (!map || map->dso->kind != DSO_FILE || !(map->prot & PROT_EXEC) ||
	    (like && (map->dso != like->dso || map->start - map->pgoff != like->start - like->pgoff)))
		return NULL;
	return map;
}

/*
 * An executable mapping without a file is about to be added. True: it takes the place of a file's code, and has its
 * file and offset now.
 */
static bool takes_place_of_file(const struct process *process, struct map *map)
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

/* Something was added: memory without a file around addr is of the file that has its code at both sides. */
static void claim_between(struct process *process, uint64_t addr, uint64_t *clock)
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

/* ---- mappings of processes ---- */

/* The map without its dso; whether it is executable. */
static bool map_fields(const struct record_body *body, struct map *map)
{
	const struct record_mmap *mmap = &body->mmap;
	bool old = body->type == RECORD_MMAP; /* tells only whether it is executable */

	*map = (struct map){ .start = mmap->start, .pgoff = mmap->pgoff, .flags = mmap->flags };
	map->end = map_end(mmap->start, mmap->len);
	map->prot = mmap->prot;
	if (old && !(body->misc & MISC_MMAP_DATA))
		map->prot = PROT_EXEC;
	return map->prot & PROT_EXEC;
}

static struct dso *dso_of_map(struct replay *replay, const struct record_body *body,
			      enum dso_kind kind, const struct thread *thread)
{
	const struct record_mmap *mmap = &body->mmap;
	struct dso_key key = { .kind = kind, .path = mmap->path, .pid = -1 };
	struct dso *dso;

	key.path_bytes = strlen(key.path);
	if (kind == DSO_ANON)
		key.pid = thread->pid;
	key.build_id.size = mmap->build_id_size;
	memcpy(key.build_id.bytes, mmap->build_id, sizeof(key.build_id.bytes));
	key.major = mmap->major;
	key.minor = mmap->minor;
	key.inode = mmap->inode;
	key.generation = mmap->inode_generation;
	dso = dso_table_get(&replay->dsos, &key);
	if (!dso->inode) {
		dso->major = mmap->major;
		dso->minor = mmap->minor;
		dso->inode = mmap->inode;
	}
	if (!dso->generation && dso->inode == mmap->inode)
		dso->generation = mmap->inode_generation;
	return dso;
}

struct task *map_events_mmap(struct replay *replay, const struct record_body *body)
{
	uint8_t mode = body->misc & MISC_CPUMODE_MASK;
	uint64_t *clock = &replay->private->clock;
	enum dso_kind kind;
	struct task *task;
	struct map map;
	bool executable;

	if (mode == MISC_KERNEL || mode == MISC_GUEST_KERNEL) {
		add_kernel_map(replay, body, mode == MISC_GUEST_KERNEL);
		return NULL;
	}
	/*
	 * The idle task maps nothing, so process 0 is all those outside of the recorder's PID namespace at once: the
	 * files of one of them would name the addresses of another.
	 */
	if (mode == MISC_GUEST_USER || mode == MISC_HYPERVISOR || !body->mmap.pid)
		return NULL;
	task = process_table_get(replay, (int32_t)body->mmap.pid, (int32_t)body->mmap.tid);
	executable = map_fields(body, &map);
	if (!executable && !replay->options.data_maps) {
		address_space_cut(&task->process->address_space, map.start, map.end, clock);
		return task;
	}
	kind = map_kind_user(body->mmap.path, executable, map.flags);
	if (kind == DSO_VDSO)
		map.pgoff = 0;
	if (kind == DSO_ANON && takes_place_of_file(task->process, &map)) {
		address_space_add(&task->process->address_space, &map, clock);
		return task;
	}
	map.dso = dso_of_map(replay, body, kind, &task->thread);
	if (kind == DSO_FILE && executable && !map.dso->code.pid)
		map.dso->code = (struct dso_mapping){ task->thread.pid, map.start, map.end, map.pgoff };
	if (kind == DSO_FILE && executable && !task->process->program)
		task->process->program = map.dso;
	process_history_add_mapper(&replay->private->history, map.dso, task->thread.pid);
	process_history_map(&replay->private->history, task->thread.pid, &body->mmap);
	address_space_add(&task->process->address_space, &map, clock);
	if (kind == DSO_ANON)
		claim_between(task->process, map.start, clock);
	if (kind == DSO_FILE && executable) {
		claim_between(task->process, map.start - 1, clock);
		claim_between(task->process, map.end, clock);
	}
	return task;
}
