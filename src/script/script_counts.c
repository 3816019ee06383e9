/*
 * script_counts: what pstat stat record and perf stat record have stored. The counts of a round are kept until its end
 * and then printed with its time, event by event, and of each thread by CPU:
 *
 *   THREAD_MAP   CPU_MAP   STAT STAT STAT STAT_ROUND   STAT STAT STAT STAT_ROUND ...
 */
#include "script/script_internal.h"

#include <stdlib.h>

enum { CELLS_MAX = 1 << 24 };

static int compare_cells(const void *a, const void *b)
{
	const struct script_count *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void take_threads(struct script_counts *counts, const struct record_threads *threads)
{
	counts->n_pids = 0;
	for (uint64_t i = 0; i < threads->n; i++) {
		VEC_GROW(counts->pids, counts->n_pids, counts->cap_pids);
		counts->pids[counts->n_pids++] = (int32_t)record_threads_get(threads, i).pid;
	}
}

static void take_count(struct script *script, const struct record_body *body)
{
	const struct data_event *event = events_find(script->session.recording->events, body->stat.id);
	struct script_counts *counts = &script->counts;

	if (!event || counts->n >= CELLS_MAX)
		return;
	VEC_GROW(counts->v, counts->n, counts->cap);
	counts->v[counts->n++] = (struct script_count){
		.event = (uint32_t)event->index,
		.thread = body->stat.thread,
		.cpu = (int32_t)body->stat.cpu,
		.value = body->stat.value,
		.enabled_ns = body->stat.enabled_ns,
		.running_ns = body->stat.running_ns,
	};
}

static void print_count(const struct script *script, const struct script_count *count, uint64_t time_ns)
{
	const struct script_counts *counts = &script->counts;
	int32_t pid = count->thread < counts->n_pids ? counts->pids[count->thread] : -1;
	const char *format = script->options.json ?
				     "{\"record\":\"STAT\",\"cpu\":%d,\"thread\":%d,\"value\":%llu,\"enabled_ns\":%llu,"
				     "\"running_ns\":%llu,\"time_ns\":%llu,\"event\":" :
				     "%3d %8d %15llu %15llu %15llu %15llu ";
	struct str *out = &script->output->text, name = STR_INIT;

	data_event_add_name(script->session.recording->events->v[count->event], &name);
	str_addf(out, format, count->cpu, pid, (unsigned long long)count->value, (unsigned long long)count->enabled_ns,
		 (unsigned long long)count->running_ns, (unsigned long long)time_ns);
	if (script->options.json) {
		str_add_json(out, name.s);
		str_addc(out, '}');
	} else {
		str_addn(out, name.s, name.len);
	}
	str_addc(out, '\n');
	str_release(&name);
}

static void print_round(struct script *script, uint64_t time_ns)
{
	struct script_counts *counts = &script->counts;

	if (!counts->n)
		return;
	qsort(counts->v, counts->n, sizeof(*counts->v), compare_cells);
	if (!counts->header_printed && !script->options.json)
		str_addf(&script->output->text, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA",
			 "RUN", "TIME", "EVENT");
	counts->header_printed = true;
	for (size_t i = 0; i < counts->n; i++)
		print_count(script, &counts->v[i], time_ns);
	counts->n = 0;
}

bool script_take_counts(struct script *script, const struct record_body *body)
{
	switch (body->type) {
	case RECORD_THREAD_MAP:
		take_threads(&script->counts, &body->threads);
		return true;
	case RECORD_STAT:
		take_count(script, body);
		return true;
	case RECORD_STAT_ROUND:
		print_round(script, body->stat_round.time_ns);
		return true;
	default:
		return false;
	}
}

void script_release_counts(struct script_counts *counts)
{
	free(counts->v);
	free(counts->pids);
	*counts = (struct script_counts){ 0 };
}
