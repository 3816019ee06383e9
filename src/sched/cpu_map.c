/* SPDX-License-Identifier: MIT */
/*
 * cpu_map: a line for each switch, with a column for each CPU: the short name of the task that it runs, which the
 * line of the first switch to that task explains. Lines are those of perf sched map.
 *
 *	  *A0       1.016000 secs A0 => app:4200001
 *	   A0 *B0   1.022000 secs B0 => other:4200002
 */
#include "sched/sched.h"

#include <stdlib.h>

enum { SHORT_BYTES = 3 };

struct cpu_map_cpu {
	const struct sched_task *in, *out; /* what it runs, and what it ran before; NULL: not known */
};

struct cpu_map_task {
	char name[SHORT_BYTES]; /* the short one; "": it has none yet */
	const char *explained; /* its name when that was explained last */
};

struct cpu_map {
	const struct cpu_map_options *options;
	struct output *output;
	struct cpu_map_cpu *cpus;
	size_t n_cpus;
	uint32_t *order; /* CPUs as they appeared: the order of columns of a compact map */
	size_t n_order, cap_order;
	struct cpu_map_task *tasks; /* by index of the task */
	size_t n_tasks;
	char next_letter, next_digit; /* of the next short name */
	bool idle_explained;
};

/* ---- what is known ---- */

static struct cpu_map_task *map_task(struct cpu_map *map, const struct sched_task *task)
{
	VEC_REACH(map->tasks, map->n_tasks, task->index);
	return &map->tasks[task->index];
}

/* Takes what the CPU runs now; true: its first switch. */
static bool take_switch(struct cpu_map *map, const struct sched_switch *change)
{
	const uint32_t cpu = change->cpu;
	bool is_new;

	if (cpu >= map->n_cpus) {
		map->cpus = xreallocarray(map->cpus, cpu + 1U, sizeof(*map->cpus));
		memset(map->cpus + map->n_cpus, 0, (cpu + 1U - map->n_cpus) * sizeof(*map->cpus));
		map->n_cpus = cpu + 1U;
	}
	is_new = !map->cpus[cpu].in;
	if (is_new) {
		VEC_GROW(map->order, map->n_order, map->cap_order);
		map->order[map->n_order++] = cpu;
	}
	map->cpus[cpu] = (struct cpu_map_cpu){ .in = change->next, .out = change->prev };
	return is_new;
}

static bool takes_name(const struct cpu_map *map, const struct sched_task *task)
{
	const struct cpu_map_options *options = map->options;
	const char *name = task->tid ? task->comm : "swapper";

	if (!options->names)
		return true;
	for (const char *at = options->names; *at;) {
		const size_t len = strcspn(at, ",");

		if (len && (options->fuzzy ? !!memmem(name, strlen(name), at, len) :
					     strlen(name) == len && !memcmp(name, at, len)))
			return true;
		at += len + (at[len] == ',');
	}
	return false;
}

/* A0 to Z0, then A1, ..., Z9, and again from A0. '.' is an idle CPU, '-' a task that is not asked for. */
static void give_name(struct cpu_map *map, struct cpu_map_task *mine, const struct sched_task *task)
{
	mine->name[1] = ' ';
	if (!task->tid) {
		mine->name[0] = '.';
	} else if (!takes_name(map, task)) {
		mine->name[0] = '-';
	} else {
		mine->name[0] = map->next_letter;
		mine->name[1] = map->next_digit;
		if (map->next_letter < 'Z') {
			map->next_letter++;
		} else {
			map->next_letter = 'A';
			map->next_digit = map->next_digit < '9' ? (char)(map->next_digit + 1) : '0';
		}
	}
}

/* ---- lines ---- */

static void add_colored(struct cpu_map *map, bool wanted, const char *color, const char *text)
{
	struct str *out = &map->output->text;

	if (wanted && map->output->color)
		str_addf(out, "%s%s\033[m", color, text);
	else
		str_add(out, text);
}

static bool has(const struct intset *set, int64_t value)
{
	return set->n && value <= INT32_MAX && intset_has(set, (int)value);
}

/* A column: the task that the CPU runs; in a line about a task that left, a dash on its CPU. */
static void add_column(struct cpu_map *map, uint32_t cpu, uint32_t switched, bool left)
{
	const bool here = cpu == switched;
	const struct sched_task *in = map->cpus[cpu].in;
	char cell[SHORT_BYTES + 1] = "   ";

	add_colored(map, here && has(&map->options->color_cpus, cpu), "\033[41m", here ? "*" : " ");
	if (in)
		memcpy(cell, left && here ? "- " : map_task(map, in)->name, 2);
	add_colored(map, in && has(&map->options->color_pids, in->tid), "\033[34m", cell);
}

static void add_line_start(struct cpu_map *map, const struct sched_switch *change, bool left)
{
	const bool compact = map->options->compact;
	struct str *out = &map->output->text;

	str_add(out, "  ");
	for (uint32_t i = 0; i < (compact ? map->n_order : map->n_cpus); i++)
		add_column(map, compact ? map->order[i] : i, change->cpu, left);
	str_add(out, "  ");
	sched_add_s(out, change->time_ns, 12);
	str_add(out, " secs ");
}

/* "A0 => name:tid", where the short name is new, or the task has another name now. */
static void add_explanation(struct cpu_map *map, const struct sched_task *task)
{
	struct cpu_map_task *mine = map_task(map, task);
	const char *name = task->tid ? task->comm : "swapper";
	const bool known = task->tid ? mine->explained && !strcmp(mine->explained, name) : map->idle_explained;
	struct str text = STR_INIT;

	if (known && !(map->options->explain_all && task->tid))
		return;
	str_addf(&text, "%s => ", mine->name);
	str_add_printable(&text, name, strlen(name));
	str_addf(&text, ":%d", task->tid);
	add_colored(map, has(&map->options->color_pids, task->tid), "\033[34m", text.s);
	str_release(&text);
	mine->explained = name;
	map->idle_explained |= !task->tid;
}

static void on_switch(void *context, const struct sched_switch *change)
{
	struct cpu_map *map = context;
	const bool is_new = take_switch(map, change), in = takes_name(map, change->next);
	struct str *out = &map->output->text;
	struct cpu_map_task *mine = map_task(map, change->next);

	/* A task that has got a name that is asked for gets a short one of its own. */
	if (!mine->name[0] || (mine->name[0] == '-' && in))
		give_name(map, mine, change->next);
	if (map->options->cpus.n && !has(&map->options->cpus, change->cpu))
		return;
	if (in) {
		add_line_start(map, change, false);
		add_explanation(map, change->next);
		if (map->options->compact && is_new)
			str_addf(out, " (CPU %u)", change->cpu);
		str_addc(out, '\n');
	}
	if (map->options->names && takes_name(map, change->prev) && map_task(map, change->prev)->name[0]) {
		add_line_start(map, change, true);
		str_addc(out, '\n');
	}
}

static void on_loss(void *context, uint64_t time_ns, int64_t cpu, uint64_t n)
{
	struct cpu_map *map = context;

	sched_add_s(&map->output->text, time_ns, 15);
	str_addf(&map->output->text, cpu >= 0 ? " lost %llu events on cpu %lld\n" : " lost %llu events\n",
		 (unsigned long long)n, (long long)cpu);
}

int cpu_map_print(struct sched *sched, const struct cpu_map_options *options, struct output *output,
	      void (*progress)(void *context, double part), void *context, struct str *err)
{
	struct cpu_map map = { .options = options, .output = output, .next_letter = 'A', .next_digit = '0' };
	const struct sched_view view = { .context = &map, .switched = on_switch, .lost = on_loss };
	int rc = sched_read(sched, &view, output, progress, context, err);

	free(map.cpus);
	free(map.order);
	free(map.tasks);
	return rc;
}
