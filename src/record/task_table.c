/* SPDX-License-Identifier: MIT */
/*
 * task_table.c: see task_table.h. The table is a replay that is fed no samples: it knows forks, execs, shared address
 * spaces and how newer maps cut older ones, and forgets threads that have exited.
 *
 * What a replay does not forget are files, names, relatives of processes and cgroups, since readers ask for them later.
 * Nobody asks here. So when these have become twice as many as they were, the table writes itself into a new replay,
 * as it would into a file, and the old one goes with all that it had besides:
 *
 *	records -> [ replay ] -- put_all --> fn: the next file
 *	               ^ |
 *	               | +-- put_all --> records -> [ new replay ]
 *	               +--------------------------------+
 */
#include "record/task_table.h"

#include "replay/replay.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
	RENEW_AT = 4096, /* names, files and ended processes more than twice those that live */
	QUEUE_BYTES = 32 << 20, /* that may wait for a round */
	LINKS_MAX = 8, /* namespaces of a thread; the kernel tells 7 */
};

/* The part that is thrown away and made anew. */
struct generation {
	struct replay replay;
	struct row_set links; /* of NAMESPACES: how many, then device and inode of each; thread->user: 1 + row */
	size_t n_ended; /* processes: the replay keeps some of what it knew of each */
	size_t renew_at; /* how large it may become: see size_of */
};

struct task_table {
	struct recording_info recording; /* of the members below, and of the caller's events */
	struct decoder decoder; /* its own: the caller may be in the middle of a record */
	struct note_list notes; /* records that are broken, which others tell of */
	const struct data_event *event; /* of the records that it feeds to itself */
	bool data_maps;
	struct generation *now;
};

/* ---- one generation ---- */

static int on_other(void *context, struct replay *replay, const struct record *record,
		    const struct record_body *body, struct thread *thread, struct str *err)
{
	uint64_t row[1 + 2 * LINKS_MAX] = { 0 };
	const struct record_words *links = &body->namespaces.links;
	struct generation *generation = context;

	(void)replay, (void)err;
	generation->n_ended += record->type == RECORD_EXIT && body->task.pid == body->task.tid;
	if (record->type != RECORD_NAMESPACES || !thread)
		return 0;
	row[0] = links->n < LINKS_MAX ? links->n : LINKS_MAX;
	if (row[0])
		memcpy(row + 1, links->v, (size_t)row[0] * 2 * sizeof(*row));
	thread->user = (void *)(uintptr_t)(row_set_intern(&generation->links, row) + 1);
	return 0;
}

static struct generation *generation_new(const struct task_table *table)
{
	const struct replay_options options = { .data_maps = table->data_maps, .queue_bytes = QUEUE_BYTES };
	struct generation *generation = xcalloc(1, sizeof(*generation));
	const struct replay_handlers handlers = { .context = generation, .other = on_other };

	row_set_init(&generation->links, 1 + 2 * LINKS_MAX);
	replay_init(&generation->replay, &table->recording, &options);
	replay_begin(&generation->replay, &handlers);
	generation->renew_at = RENEW_AT;
	return generation;
}

static void generation_free(struct generation *generation)
{
	replay_release(&generation->replay);
	row_set_release(&generation->links);
	free(generation);
}

/* Counts what only grows, of all that a replay has. */
static size_t size_of(const struct generation *generation)
{
	const struct replay *replay = &generation->replay;

	return replay->dsos.n + replay_n_comms(replay) + generation->links.n + generation->n_ended;
}

/* ---- the kernel, as records ---- */

struct table_walk {
	const struct generation *from;
	synth_fn fn;
	void *data;
	struct thread **threads; /* that live, process by process: see by_process */
	size_t n;
	struct thread **leaders; /* the main threads among them, by pid */
	size_t n_leaders;
};

static bool has_build_id(const struct dso *dso)
{
	return dso->build_id.size && !dso->build_id_listed;
}

/* Says in an MMAP2 which file it is: by its build-id or its inode. */
static void fill_identity(struct record_body *body, const struct dso *dso)
{
	struct record_mmap *mmap = &body->mmap;

	if (has_build_id(dso)) {
		body->misc |= MISC_MMAP_BUILD_ID;
		mmap->build_id_size = dso->build_id.size;
		memcpy(mmap->build_id, dso->build_id.bytes, sizeof(mmap->build_id));
		return;
	}
	mmap->major = dso->major;
	mmap->minor = dso->minor;
	mmap->inode = dso->inode;
	mmap->inode_generation = dso->generation;
}

/* The first of the maps that are left of it, or NULL: programs of BPF may lie in the middle of the kernel's range. */
static const struct map *first_map(const struct address_space *space, const struct dso *dso)
{
	const struct map *map = address_space_below(space, dso->start);

	if (!map || map->end <= dso->start)
		map = address_space_next(space, map);
	while (map && map->dso != dso && map->start < dso->end)
		map = address_space_next(space, map);
	return map && map->dso == dso ? map : NULL;
}

static int put_loaded(struct table_walk *walk, const struct dso *dso, const struct map *map)
{
	struct record_body body = { .type = RECORD_MMAP, .misc = MISC_KERNEL };
	char *path = xasprintf("%s%s", dso->path, dso->ref_symbol ? dso->ref_symbol : "");
	int rc;

	if (has_build_id(dso) || map->prot)
		body.type = RECORD_MMAP2;
	body.mmap = (struct record_mmap){
		.pid = UINT32_MAX,
		.start = dso->start,
		.len = dso->end - dso->start,
		.pgoff = dso->ref_symbol ? dso->ref_addr : map->pgoff - (map->start - dso->start),
		.prot = map->prot,
		.flags = map->flags,
		.path = path,
	};
	if (body.type == RECORD_MMAP2)
		fill_identity(&body, dso);
	rc = walk->fn(walk->data, &body);
	free(path);
	return rc;
}

static int put_kernel(struct table_walk *walk, enum dso_kind kind)
{
	const struct replay *replay = &walk->from->replay;
	int rc = 0;

	for (size_t i = 0; !rc && i < replay->dsos.n; i++) {
		const struct dso *dso = replay->dsos.v[i];
		const struct map *map = dso->kind == kind ? first_map(replay->kernel, dso) : NULL;

		if (map)
			rc = put_loaded(walk, dso, map);
	}
	return rc;
}

static int put_ksymbols(struct table_walk *walk)
{
	const struct address_space *kernel = walk->from->replay.kernel;
	int rc = 0;

	for (const struct map *map = address_space_next(kernel, NULL); !rc && map;
	     map = address_space_next(kernel, map)) {
		struct record_body body = { .type = RECORD_KSYMBOL };

		if (map->dso->kind != DSO_BPF)
			continue;
		body.ksymbol.addr = map->start;
		body.ksymbol.len = (uint32_t)(map->end - map->start);
		body.ksymbol.kind = map->dso->ksymbol_kind;
		body.ksymbol.name = map->dso->path;
		rc = walk->fn(walk->data, &body);
	}
	return rc;
}

static int put_cgroups(struct table_walk *walk)
{
	struct record_body body = { .type = RECORD_CGROUP };
	int rc = 0;

	for (size_t i = 0; !rc && replay_cgroup_at(&walk->from->replay, i, &body.cgroup.id, &body.cgroup.path); i++)
		rc = walk->fn(walk->data, &body);
	return rc;
}

/* ---- processes, as records ---- */

/* Parents before their children, as they came; of a process its main thread first, where that lives. */
static int by_process(const void *a, const void *b)
{
	const struct thread *x = *(struct thread *const *)a, *y = *(struct thread *const *)b;
	bool x_leads = x->tid == x->pid, y_leads = y->tid == y->pid;

	if (x->process_serial != y->process_serial)
		return x->process_serial < y->process_serial ? -1 : 1;
	if (x_leads != y_leads)
		return x_leads ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static int by_pid(const void *a, const void *b)
{
	const struct thread *x = *(struct thread *const *)a, *y = *(struct thread *const *)b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Thread 0 is the idle one, or all those that the recorder's PID namespace does not show: every reader has it. */
static void find_threads(struct table_walk *walk)
{
	const struct replay *replay = &walk->from->replay;

	walk->threads = xcalloc(replay->n_threads + 1, sizeof(struct thread *));
	walk->leaders = xcalloc(replay->n_threads + 1, sizeof(struct thread *));
	for (size_t i = 0; i < replay->n_threads; i++) {
		struct thread *thread = replay->threads[i];

		if (thread->exited || thread->tid <= 0 || thread->pid <= 0)
			continue;
		walk->threads[walk->n++] = thread;
		if (thread->tid == thread->pid)
			walk->leaders[walk->n_leaders++] = thread;
	}
	qsort(walk->threads, walk->n, sizeof(struct thread *), by_process);
	qsort(walk->leaders, walk->n_leaders, sizeof(struct thread *), by_pid);
}

/* The parent of a process, if it lives. A younger process of its number is not it. */
static const struct thread *living_parent(const struct table_walk *walk, const struct thread *first)
{
	struct thread key = { .pid = first->ppid }, *at = &key, **parent;

	if (key.pid == first->pid) {
		/* The main thread has gone, and this one is its child. */
		const struct known_process *known = replay_known_process(&walk->from->replay, first->pid);

		key.pid = known ? known->ppid : -1;
	}
	parent = bsearch(&at, walk->leaders, walk->n_leaders, sizeof(at), by_pid);
	return parent && (*parent)->process_serial < first->process_serial ? *parent : NULL;
}

static int put_fork(struct table_walk *walk, const struct thread *thread, int32_t ppid, int32_t ptid, bool inherits)
{
	struct record_body body = { .type = RECORD_FORK, .misc = inherits ? 0 : MISC_FORK_EXEC };

	body.task = (struct record_task){
		.pid = (uint32_t)thread->pid,
		.tid = (uint32_t)thread->tid,
		.ppid = (uint32_t)ppid,
		.ptid = (uint32_t)ptid,
		.time_ns = thread->start_ns,
	};
	return walk->fn(walk->data, &body);
}

static int put_namespaces(struct table_walk *walk, const struct thread *thread)
{
	struct record_body body = { .type = RECORD_NAMESPACES };
	const uint64_t *row = row_set_at(&walk->from->links, (uint32_t)(uintptr_t)thread->user - 1);

	body.namespaces.pid = (uint32_t)thread->pid;
	body.namespaces.tid = (uint32_t)thread->tid;
	body.namespaces.links.n = row[0];
	body.namespaces.links.v = row + 1;
	return walk->fn(walk->data, &body);
}

static int put_comm(struct table_walk *walk, const struct thread *thread)
{
	struct record_body body = { .type = RECORD_COMM };

	body.comm.pid = (uint32_t)thread->pid;
	body.comm.tid = (uint32_t)thread->tid;
	body.comm.comm = replay_comm(&walk->from->replay, thread->comm);
	return walk->fn(walk->data, &body);
}

static int put_names(struct table_walk *walk, const struct thread *thread)
{
	int rc = thread->user ? put_namespaces(walk, thread) : 0;

	return rc || !thread->comm_known ? rc : put_comm(walk, thread);
}

static int put_map(struct table_walk *walk, const struct thread *first, const struct map *map)
{
	struct record_body body = { .type = RECORD_MMAP2, .misc = MISC_USER };
	bool anon = map->dso->kind == DSO_ANON;

	if (!(map->prot & PROT_EXEC))
		body.misc |= MISC_MMAP_DATA;
	body.mmap = (struct record_mmap){
		.pid = (uint32_t)first->pid,
		.tid = (uint32_t)first->tid,
		.start = map->start,
		.len = map->end - map->start,
		.pgoff = map->pgoff,
		.prot = map->prot,
		.flags = map->flags,
		/* All such memory of a process is one dso, with the first name that it had. */
		.path = anon ? "//anon" : map->dso->path,
	};
	if (!anon)
		fill_identity(&body, map->dso);
	return walk->fn(walk->data, &body);
}

/*
 * The first living thread of a process, and what it has mapped. A child that still has its parent's maps, which
 * were written before, inherits them: so what the parent made at run time stays the parent's. The first thread of a
 * process whose parent is gone is a child of 0, but for one without a name, which would get that of 0.
 */
static int put_process(struct table_walk *walk, const struct thread *first)
{
	const struct thread *parent = living_parent(walk, first);
	const struct address_space *space = first->address_space;
	bool inherits = parent && space->n && space->version == parent->address_space->version;
	int rc = 0;

	if (parent || (first->ppid != -1 && first->comm_known))
		rc = put_fork(walk, first, parent ? parent->pid : 0, parent ? parent->pid : 0, inherits);
	if (!rc)
		rc = put_names(walk, first);
	if (inherits)
		return rc;
	for (const struct map *map = address_space_next(space, NULL); !rc && map; map = address_space_next(space, map))
		rc = put_map(walk, first, map);
	return rc;
}

static int put_processes(struct table_walk *walk)
{
	const struct thread *first = NULL;
	int rc = 0;

	for (size_t i = 0; !rc && i < walk->n; i++) {
		const struct thread *thread = walk->threads[i];

		if (!first || first->process_serial != thread->process_serial) {
			first = thread;
			rc = put_process(walk, first);
			continue;
		}
		rc = put_fork(walk, thread, first->pid, first->tid, false);
		if (!rc)
			rc = put_names(walk, thread);
	}
	return rc;
}

/* ---- all of it ---- */

static int put_all(const struct generation *from, synth_fn fn, void *data)
{
	struct table_walk walk = { .from = from, .fn = fn, .data = data };
	int rc;

	find_threads(&walk);
	rc = put_kernel(&walk, DSO_KERNEL);
	rc = rc ? rc : put_kernel(&walk, DSO_MODULE);
	rc = rc ? rc : put_ksymbols(&walk);
	rc = rc ? rc : put_cgroups(&walk);
	rc = rc ? rc : put_processes(&walk);
	free(walk.threads);
	free(walk.leaders);
	return rc;
}

/* ---- the next generation ---- */

struct feeder {
	const struct task_table *table;
	struct generation *to;
	struct str bytes;
	struct str *err;
};

static int feed(void *data, const struct record_body *body)
{
	struct feeder *feeder = data;
	const struct data_event *event = feeder->table->event;
	struct record_body stamped = *body;
	struct record record;
	int rc;

	if (event->n_ids)
		stamped.id.id = stamped.id.stream_id = event->ids[0];
	str_reset(&feeder->bytes);
	rc = record_encode(&stamped, event, &feeder->bytes, feeder->err);
	if (rc)
		return rc;
	record_from_bytes(&record, (const uint8_t *)feeder->bytes.s, 0, false);
	return replay_feed(&feeder->to->replay, &record, feeder->err);
}

/* All that waits takes effect, so that nothing is lost with the old generation. */
static int settle(struct task_table *table, struct str *err)
{
	replay_ready(&table->now->replay, true);
	return replay_deliver(&table->now->replay, SIZE_MAX, err);
}

static int renew_if_grown(struct task_table *table, struct str *err)
{
	struct feeder feeder = { .table = table, .bytes = STR_INIT, .err = err };
	int rc;

	if (size_of(table->now) < table->now->renew_at)
		return 0;
	rc = settle(table, err);
	feeder.to = generation_new(table);
	rc = rc ? rc : put_all(table->now, feed, &feeder);
	str_release(&feeder.bytes);
	if (rc) {
		generation_free(feeder.to);
		return rc;
	}
	generation_free(table->now);
	table->now = feeder.to;
	table->now->renew_at = 2 * size_of(table->now) + RENEW_AT;
	return 0;
}

/* ---- what is called ---- */

struct task_table *task_table_new(const struct events *events, bool data_maps)
{
	static const struct info nothing;
	struct task_table *table = xcalloc(1, sizeof(*table));

	decoder_init(&table->decoder, events, false);
	table->recording = (struct recording_info){
		.events = events,
		.info = &nothing,
		.decoder = &table->decoder,
		.notes = &table->notes,
	};
	table->event = events->v[0];
	table->data_maps = data_maps;
	table->now = generation_new(table);
	return table;
}

void task_table_free(struct task_table *table)
{
	if (!table)
		return;
	generation_free(table->now);
	decoder_release(&table->decoder);
	note_list_release(&table->notes);
	free(table);
}

int task_table_take(struct task_table *table, const struct record *record, struct str *err)
{
	return task_table_wants(record->type) ? replay_feed(&table->now->replay, record, err) : 0;
}

int task_table_round(struct task_table *table, struct str *err)
{
	int rc = replay_round(&table->now->replay, err);

	return rc ? rc : renew_if_grown(table, err);
}

int task_table_write(struct task_table *table, synth_fn fn, void *data, struct str *err)
{
	int rc = settle(table, err);

	rc = rc ? rc : put_all(table->now, fn, data);
	return rc ? rc : renew_if_grown(table, err);
}
