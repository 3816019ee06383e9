/* SPDX-License-Identifier: MIT */
/*
 * Keys of the thread and of when and where it ran.
 */
#include "hist/keys_internal.h"
#include "profile/profile.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- threads: the value is FACT_TID or FACT_PID, its text has the last name that was seen ---- */
KEY_VALUE(value_tid)
{
	return source_fact(source, FACT_TID);
}

KEY_VALUE(value_pid)
{
	return source_fact(source, FACT_PID);
}

KEY_TEXT(text_task)
{
	str_addf(out, "%7d:", (int32_t)(value >> 32));
	text_comm(table, task_names_comm(table->profile->tasks, value), out);
}

/* Numbers are used again, and so are names. */
KEY_IDENTITY(identity_task)
{
	(void)table;
	return value;
}

KEY_VALUE(value_comm)
{
	return source_fact(source, FACT_COMM);
}

KEY_TEXT(text_comm)
{
	const char *comm = session_comm(table->session, (uint32_t)value);

	str_add_printable(out, comm, strlen(comm));
}

/* Threads of a pool have numbers in their names, which this makes one. */
KEY_VALUE(value_comm_nodigit)
{
	const char *at = session_comm(source->table->session, (uint32_t)source_fact(source, FACT_COMM));
	struct str text = STR_INIT;
	uint32_t name;

	while (*at) {
		size_t digits = strspn(at, "0123456789");
		size_t n = digits ? digits : strcspn(at, "0123456789");

		if (digits)
			str_add(&text, "<N>");
		else
			str_add_printable(&text, at, n);
		at += n;
	}
	name = table_name(source->table, text.s, text.len);
	str_release(&text);
	return name;
}

KEY_COMPARE(compare_comm)
{
	const struct session *session = table->session;

	return a == b ? 0
		      : strcmp(session_comm(session, (uint32_t)a), session_comm(session, (uint32_t)b));
}

KEY_VALUE(value_cpu)
{
	return source_fact(source, FACT_CPU);
}

KEY_VALUE(value_socket)
{
	const struct info *info = source->table->session->recording->info;
	uint64_t cpu = source_fact(source, FACT_CPU);

	return cpu < info->cpus.n ? info->cpus.v[cpu].socket : UINT64_MAX;
}

KEY_TEXT(text_cpu)
{
	(void)table;
	if (value == UINT64_MAX)
		str_add(out, "-001");
	else
		str_addf(out, "%03" PRIu64, value);
}

KEY_NUMBER(number_cpu)
{
	(void)table;
	*number = value;
	return value != UINT64_MAX;
}

KEY_VALUE(value_time)
{
	return source_fact(source, FACT_TIME);
}

KEY_NUMBER(number_time)
{
	uint64_t quantum_ns = table->question->query.time_quantum_ns;

	*number = value * (quantum_ns ? quantum_ns : 100000000);
	return true;
}

KEY_TEXT(text_time)
{
	uint64_t ns;

	number_time(table, value, &ns);
	if (table->question->query.ns)
		str_addf(out, "%" PRIu64 ".%09" PRIu64, ns / NS_PER_S, ns % NS_PER_S);
	else
		str_addf(out, "%" PRIu64 ".%06" PRIu64, ns / NS_PER_S, ns % NS_PER_S / 1000);
}

KEY_VALUE(value_parallelism)
{
	return source_fact(source, FACT_PARALLELISM);
}

KEY_VALUE(value_state)
{
	return source_fact(source, FACT_STATE);
}

KEY_TEXT(text_state)
{
	static const char *const states[] = { [TASK_RUNNING] = "running", [TASK_WAITING] = "waiting",
					      [TASK_PREEMPTED] = "preempted", [TASK_SLEEPING] = "sleeping",
					      [TASK_DISK] = "disk" };

	(void)table;
	str_add(out, value < ARRAY_SIZE(states) ? states[value] : "?");
}

KEY_VALUE(value_cgroup)
{
	return source_fact(source, FACT_CGROUP);
}

KEY_TEXT(text_cgroup)
{
	const char *path = session_cgroup(table->session, value);

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

	return row_set_intern(&source->table->private->cache->cgroup_ids, row);
}

KEY_TEXT(text_cgroup_id)
{
	const uint64_t *row = row_set_at(&table->private->cache->cgroup_ids, (uint32_t)value);

	str_addf(out, "%" PRIu64 "/0x%" PRIx64, row[0], row[1]);
}

KEY_COMPARE(compare_cgroup_id)
{
	const uint64_t *x = row_set_at(&table->private->cache->cgroup_ids, (uint32_t)a);
	const uint64_t *y = row_set_at(&table->private->cache->cgroup_ids, (uint32_t)b);
	int order = compare_ascending(table, x[0], y[0]);

	return order ? order : compare_ascending(table, x[1], y[1]);
}

/* ---- the caller that --parent found: its name + 1; 0: none ---- */
KEY_VALUE(value_parent)
{
	return source->table->private->cache->frames.parent_of[source_fact(source, FACT_STACK)];
}

KEY_TEXT(text_parent)
{
	if (value)
		text_name(table, value - 1, out);
	else
		str_add(out, "[other]");
}

KEY_COMPARE(compare_parent)
{
	if (!a || !b)
		return !a - !b;
	return compare_names(table, a - 1, b - 1);
}
