/* SPDX-License-Identifier: MIT */
/*
 * process_events.c: what each type of record does to the processes, and handing it on. rows[] says it per type:
 * `apply` changes the state before the caller hears of the record and names its thread, `after` is called
 * when the caller has heard of it (a thread's EXIT is reported while the thread is still there).
 *
 * To add a type: a row in rows[], its function, a case in tests/unit/test_replay_process_events.c.
 */
#include "replay/process_events.h"

#include "replay/state.h"

#include <stdlib.h>

enum { BROKEN_NOTES = 8 }; /* records that could not be decoded and are described */

/* One CGROUP record: what samples call by number. */
struct cgroup_id {
	uint64_t id;
	uint32_t path; /* in cgroups */
};

/*
 * From this exec on the records have all maps of the process: it happened while it was recorded, its event follows all
 * threads to be, and their maps come in the order of time. What ran before may have had other threads, whose maps
 * no record tells.
 */
static bool begins_whole(const struct replay *replay, const struct record_body *body)
{
	const struct perf_event_attr *attr = body->event ? &body->event->attr : NULL;

	return attr && attr->inherit && (attr->mmap || attr->mmap2) && body->id.time_ns && !replay->options.file_order;
}

static struct task *apply_comm(struct replay *replay, const struct record_body *body)
{
	struct task *task =
		process_table_get(replay, (int32_t)body->comm.pid, (int32_t)body->comm.tid);

	if (body->misc & MISC_COMM_EXEC) {
		process_exec(replay, task->process);
		task->process->address_space.is_whole = begins_whole(replay, body);
	}
	task->thread.comm = text_table_add(&replay->private->comms, body->comm.comm);
	task->thread.comm_known = true;
	return task;
}

static struct task *apply_switch(struct replay *replay, const struct record_body *body)
{
	replay->on_cpu += body->misc & MISC_SWITCH_OUT ? -1 : 1;
	return NULL;
}

uint32_t replay_parallelism(const struct replay *replay)
{
	const struct info *info = replay->recording->info;
	int64_t most;

	if (replay->on_cpu <= 1) /* as always where no switches were recorded */
		return 1;
	most = info_has(info, FEATURE_NRCPUS) && info->cpus_available ? info->cpus_available : UINT32_MAX;
	return (uint32_t)(replay->on_cpu < most ? replay->on_cpu : most);
}

static struct task *apply_exit(struct replay *replay, const struct record_body *body)
{
	replay->on_cpu--;
	return process_table_find(replay, (int32_t)body->task.tid);
}

static int after_exit(struct replay *replay, const struct record_body *body, struct task *task,
		      struct str *err)
{
	int rc = 0;

	(void)body;
	/* Each thread outside of the recorder's PID namespace exits as 0, and the others of this number go on. */
	if (task && task->thread.tid) {
		rc = deferred_give_up(replay, task, err);
		process_table_exit(replay, task);
	}
	return rc;
}

static struct task *apply_throttle(struct replay *replay, const struct record_body *body)
{
	(void)body;
	replay->counts.throttles++;
	return NULL;
}

static struct task *apply_lost(struct replay *replay, const struct record_body *body)
{
	replay->counts.lost_events += body->lost.lost;
	return NULL;
}

static struct task *apply_lost_samples(struct replay *replay, const struct record_body *body)
{
	if (!(body->misc & MISC_LOST_BY_FILTER))
		replay->counts.lost_samples += body->lost.lost;
	return NULL;
}

static struct task *apply_auxtrace_info(struct replay *replay, const struct record_body *body)
{
	replay->counts.auxtrace_kind = body->auxtrace_info.kind;
	return NULL;
}

static struct task *apply_auxtrace(struct replay *replay, const struct record_body *body)
{
	replay->counts.auxtrace_bytes += body->auxtrace.size;
	return NULL;
}

static struct task *apply_namespaces(struct replay *replay, const struct record_body *body)
{
	enum { CGROUP_NAMESPACE = 6 };
	const struct record_words *links = &body->namespaces.links;
	struct task *task = process_table_get(replay, (int32_t)body->namespaces.pid,
					      (int32_t)body->namespaces.tid);

	if (links->n > CGROUP_NAMESPACE) {
		task->thread.cgroup_dev = links->v[2 * CGROUP_NAMESPACE];
		task->thread.cgroup_ino = links->v[2 * CGROUP_NAMESPACE + 1];
	}
	return task;
}

static struct cgroup_id *find_cgroup(const struct replay_private *p, uint64_t id)
{
	uint64_t hash = hash_word(id);
	uint32_t i;

	if (INDEX_FIND(&p->cgroup_index, hash, i, p->cgroup_ids[i].id == id))
		return &p->cgroup_ids[i];
	return NULL;
}

static struct task *apply_cgroup(struct replay *replay, const struct record_body *body)
{
	struct replay_private *p = replay->private;
	uint32_t path = text_table_add(&p->cgroups, body->cgroup.path);
	struct cgroup_id *known = find_cgroup(p, body->cgroup.id);

	if (known) {
		known->path = path;
		return NULL;
	}
	VEC_GROW(p->cgroup_ids, p->n_cgroup_ids, p->cap_cgroup_ids);
	p->cgroup_ids[p->n_cgroup_ids] = (struct cgroup_id){ body->cgroup.id, path };
	index_add(&p->cgroup_index, hash_word(body->cgroup.id), (uint32_t)p->n_cgroup_ids++);
	return NULL;
}

static struct task *apply_deferred(struct replay *replay, const struct record_body *body)
{
	deferred_take(replay, body);
	return body->id.has & PERF_SAMPLE_TID ? process_table_find(replay, (int32_t)body->id.tid)
					      : NULL;
}

static int after_deferred(struct replay *replay, const struct record_body *body, struct task *task,
			  struct str *err)
{
	return task ? deferred_arrived(replay, task, body->deferred.cookie, err) : 0;
}

void process_events_take_build_ids(struct replay *replay)
{
	const struct info *info = replay->recording->info;
	size_t *taken = &replay->private->build_ids_taken;

	for (; *taken < info->build_ids.n; ++*taken) {
		const struct info_build_id *row = &info->build_ids.v[*taken];
		struct build_id id = { .size = row->size };

		memcpy(id.bytes, row->bytes, sizeof(id.bytes));
		dso_table_list_build_id(&replay->dsos, row->path, &id);
	}
}

static struct task *apply_build_id(struct replay *replay, const struct record_body *body)
{
	(void)body;
	process_events_take_build_ids(replay);
	return NULL;
}

static const struct record_effect {
	struct task *(*apply)(struct replay *replay, const struct record_body *body);
	int (*after)(struct replay *replay, const struct record_body *body, struct task *task,
		     struct str *err);
} rows[] = {
	[RECORD_MMAP] = { map_events_mmap, NULL },
	[RECORD_LOST] = { apply_lost, NULL },
	[RECORD_COMM] = { apply_comm, NULL },
	[RECORD_EXIT] = { apply_exit, after_exit },
	[RECORD_THROTTLE] = { apply_throttle, NULL },
	[RECORD_FORK] = { process_table_fork, NULL },
	[RECORD_MMAP2] = { map_events_mmap, NULL },
	[RECORD_LOST_SAMPLES] = { apply_lost_samples, NULL },
	[RECORD_SWITCH] = { apply_switch, NULL },
	[RECORD_SWITCH_CPU_WIDE] = { apply_switch, NULL },
	[RECORD_NAMESPACES] = { apply_namespaces, NULL },
	[RECORD_KSYMBOL] = { map_events_ksymbol, NULL },
	[RECORD_CGROUP] = { apply_cgroup, NULL },
	[RECORD_CALLCHAIN_DEFERRED] = { apply_deferred, after_deferred },
	[RECORD_HEADER_FEATURE] = { apply_build_id, NULL },
	[RECORD_HEADER_BUILD_ID] = { apply_build_id, NULL },
	[RECORD_AUXTRACE_INFO] = { apply_auxtrace_info, NULL },
	[RECORD_AUXTRACE] = { apply_auxtrace, NULL },
};

/* ---- samples ---- */

void process_events_fill_sample(struct replay_sample *sample, const struct record *record,
				const struct record_body *body, struct thread *thread, uint32_t parallelism)
{
	*sample = (struct replay_sample){ .record = record,
					  .body = body,
					  .sample = &body->sample,
					  .event = body->event,
					  .thread = thread,
					  .mode = body->misc & MISC_CPUMODE_MASK,
					  .ips = body->sample.ips,
					  .n_ips = body->sample.n_ips,
					  .parallelism = parallelism };
}

int process_events_emit(struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	const struct replay_handlers *handlers = &replay->private->handlers;

	return handlers->sample ? handlers->sample(handlers->context, replay, sample, err) : 0;
}

static void note_time(struct replay *replay, uint64_t time_ns)
{
	if (!replay->first_ns || time_ns < replay->first_ns)
		replay->first_ns = time_ns;
	if (time_ns > replay->last_ns)
		replay->last_ns = time_ns;
}

/*
 * A recorder whose buffers are nearly full cuts the copy of the stack to no bytes and leaves the registers. The kernel
 * itself makes no copy where there are no registers, and, since Linux 6.16, where a task that exits has given its
 * memory back: such a sample is in the kernel, after the task's EXIT.
 */
static bool stack_was_cut(const struct replay_sample *sample)
{
	const uint64_t both = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	const struct sample *s = sample->sample;

	return (s->has & both) == both && s->user_regs.abi && !s->stack_size && sample->event &&
	       sample->event->attr.sample_stack_user && (sample->mode == MISC_USER || !sample->thread->exited);
}

static int take_sample(struct replay *replay, const struct record *record,
		       const struct record_body *body, struct str *err)
{
	const struct sample *sample = &body->sample;
	bool known = sample->has & PERF_SAMPLE_TID;
	struct task *task = process_table_get(replay, known ? (int32_t)sample->pid : -1,
					      known ? (int32_t)sample->tid : -1);
	struct replay_sample out;
	uint64_t cookie;

	replay->counts.samples += data_sample_count(body->event, sample);
	replay->counts.unknown_ids += !body->event;
	if (sample->has & PERF_SAMPLE_TIME)
		note_time(replay, sample->time_ns);
	process_events_fill_sample(&out, record, body, &task->thread, replay_parallelism(replay));
	if (out.mode == MISC_USER)
		process_runs(task->process);
	replay->counts.cut_stacks += stack_was_cut(&out);
	if (deferred_cookie(sample, &cookie)) {
		if (!task->thread.exited)
			return deferred_hold(replay, task, record, cookie, err);
		out.n_ips -= 2;
		out.user_frames_missing = true;
		replay->counts.deferred_missing++;
	}
	return process_events_emit(replay, &out, err);
}

/* ---- all other records ---- */

static int take_other(struct replay *replay, const struct record *record,
		      const struct record_body *body, struct str *err)
{
	const struct replay_handlers *handlers = &replay->private->handlers;
	static const struct record_effect none;
	const struct record_effect *row = record->type < ARRAY_SIZE(rows) ? &rows[record->type] : &none;
	struct task *task = NULL;
	int rc = 0;

	if (row->apply)
		task = row->apply(replay, body);
	if (!task && body->id.has & PERF_SAMPLE_TID)
		task = process_table_find(replay, (int32_t)body->id.tid);
	if (handlers->other)
		rc = handlers->other(handlers->context, replay, record, body,
				     task ? &task->thread : NULL, err);
	if (!rc && row->after)
		rc = row->after(replay, body, task, err);
	return rc;
}

static void broken(struct replay *replay, const struct str *why)
{
	struct note_list *notes = replay->recording->notes;

	if (replay->counts.broken++ < BROKEN_NOTES && notes->n < READER_NOTES_MAX)
		note_add(notes, false, NULL, "%s", why->s);
}

int process_events_take(struct replay *replay, const struct record *record, bool timed, uint64_t time_ns,
			struct str *err)
{
	struct replay_private *p = replay->private;
	struct str why = STR_INIT;
	struct record_body body;

	replay->counts.records++;
	if (timed && time_ns < p->delivered_ns)
		replay->counts.out_of_order++;
	else if (timed)
		p->delivered_ns = time_ns;
	if (record_decode(replay->recording->decoder, record, &body, &why)) {
		broken(replay, &why);
		str_release(&why);
		return 0;
	}
	if (record->type == RECORD_SAMPLE)
		return take_sample(replay, record, &body, err);
	return take_other(replay, record, &body, err);
}

int process_events_end(struct replay *replay, struct str *err)
{
	process_events_take_build_ids(replay);
	return deferred_give_up(replay, NULL, err);
}

void process_events_release(struct replay *replay)
{
	struct replay_private *p = replay->private;

	free(p->cgroup_ids);
	index_release(&p->cgroup_index);
}

const char *replay_cgroup(const struct replay *replay, uint64_t id)
{
	const struct cgroup_id *known = find_cgroup(replay->private, id);

	return known ? replay->private->cgroups.v[known->path] : NULL;
}

bool replay_cgroup_at(const struct replay *replay, size_t i, uint64_t *id, const char **path)
{
	const struct replay_private *p = replay->private;

	if (i >= p->n_cgroup_ids)
		return false;
	*id = p->cgroup_ids[i].id;
	*path = p->cgroups.v[p->cgroup_ids[i].path];
	return true;
}
