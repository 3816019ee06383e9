/*
 * Keys of the thread and of when and where it ran.
 */
#include "report/keys.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- threads: the value is FACT_TID or FACT_PID, its text has the last name that was seen ---- */
struct task_names {
	struct task_name {
		uint64_t id;
		uint32_t comm;
	} * v;
	size_t n, cap;
	struct index ix;
};

void task_names_free(struct task_names *tasks)
{
	if (!tasks)
		return;
	free(tasks->v);
	index_release(&tasks->ix);
	free(tasks);
}

static struct task_name *find_task(struct task_names *tasks, uint64_t id)
{
	uint64_t hash = hash_word(id);
	uint32_t i;

	for (size_t at = index_first(&tasks->ix, hash); index_next(&tasks->ix, hash, &at, &i);)
		if (tasks->v[i].id == id)
			return &tasks->v[i];
	return NULL;
}

static uint64_t named_task(const struct key_source *source, uint64_t id)
{
	struct task_names **tasks = &source->report->private->tasks;
	struct task_name *task;

	if (!*tasks)
		*tasks = xcalloc(1, sizeof(**tasks));
	task = find_task(*tasks, id);
	if (!task) {
		VEC_GROW((*tasks)->v, (*tasks)->n, (*tasks)->cap);
		index_add(&(*tasks)->ix, hash_word(id), (uint32_t)(*tasks)->n);
		task = &(*tasks)->v[(*tasks)->n++];
		task->id = id;
	}
	task->comm = (uint32_t)source_fact(source, FACT_COMM);
	return id;
}

KEY_VALUE(value_tid)
{
	return named_task(source, source_fact(source, FACT_TID));
}

KEY_VALUE(value_pid)
{
	return named_task(source, source_fact(source, FACT_PID));
}

KEY_TEXT(text_task)
{
	const int32_t id = (int32_t)(value >> 32);
	const struct thread *thread = replay_find_thread(&report->session.replay, id);
	const struct task_name *task = find_task(report->private->tasks, value);

	/* The number may be another thread's by now. */
	if (thread && thread->serial != (uint32_t)value && thread->process_serial != (uint32_t)value)
		thread = NULL;
	str_addf(out, "%7d:", id);
	text_comm(report, thread ? thread->comm : task ? task->comm : 0, out);
}

KEY_VALUE(value_comm)
{
	return source_fact(source, FACT_COMM);
}

KEY_TEXT(text_comm)
{
	const char *comm = replay_comm(&report->session.replay, (uint32_t)value);

	str_add_printable(out, comm, strlen(comm));
}

KEY_COMPARE(compare_comm)
{
	const struct replay *replay = &report->session.replay;

	return a == b ? 0
		      : strcmp(replay_comm(replay, (uint32_t)a), replay_comm(replay, (uint32_t)b));
}

KEY_VALUE(value_cpu)
{
	return source_fact(source, FACT_CPU);
}

KEY_VALUE(value_socket)
{
	const struct info *info = &source->report->session.reader->info;
	uint64_t cpu = source_fact(source, FACT_CPU);

	return cpu < info->cpus.n ? info->cpus.v[cpu].socket : UINT64_MAX;
}

KEY_TEXT(text_cpu)
{
	(void)report;
	if (value == UINT64_MAX)
		str_add(out, "-001");
	else
		str_addf(out, "%03" PRIu64, value);
}

KEY_VALUE(value_time)
{
	return source_fact(source, FACT_TIME);
}

KEY_TEXT(text_time)
{
	uint64_t quantum_ns = report->options.time_quantum_ns;
	uint64_t ns = value * (quantum_ns ? quantum_ns : 100000000);

	if (report->options.ns)
		str_addf(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	else
		str_addf(out, "%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns % 1000000000 / 1000);
}

KEY_VALUE(value_cgroup)
{
	return source_fact(source, FACT_CGROUP);
}

KEY_TEXT(text_cgroup)
{
	const char *path = replay_cgroup(&report->session.replay, value);

	if (!value)
		str_add(out, "N/A");
	else if (path)
		str_add_printable(out, path, strlen(path));
	else
		str_add(out, "unknown");
}

KEY_VALUE(value_cgroup_id)
{
	const uint64_t row[] = { source_fact(source, FACT_CGROUP_DEV),
				 source_fact(source, FACT_CGROUP_INO) };

	return row_set_intern(&source->report->private->cgroup_ids, row);
}

KEY_TEXT(text_cgroup_id)
{
	const uint64_t *row = row_set_at(&report->private->cgroup_ids, (uint32_t)value);

	str_addf(out, "%" PRIu64 "/0x%" PRIx64, row[0], row[1]);
}

KEY_COMPARE(compare_cgroup_id)
{
	const uint64_t *x = row_set_at(&report->private->cgroup_ids, (uint32_t)a);
	const uint64_t *y = row_set_at(&report->private->cgroup_ids, (uint32_t)b);
	int order = compare_ascending(report, x[0], y[0]);

	return order ? order : compare_ascending(report, x[1], y[1]);
}

/* ---- the caller that --parent found: its name + 1; 0: none ---- */
KEY_VALUE(value_parent)
{
	return source->report->private->frames.parent_of[source_fact(source, FACT_STACK)];
}

KEY_TEXT(text_parent)
{
	if (value)
		text_name(report, value - 1, out);
	else
		str_add(out, "[other]");
}

KEY_COMPARE(compare_parent)
{
	if (!a || !b)
		return !a - !b;
	return compare_names(report, a - 1, b - 1);
}
