/* SPDX-License-Identifier: MIT */
/*
 * sched: when tasks ran, and when, how long and why they did not: from samples of sched:sched_switch, of wakeups,
 * migrations and forks.
 *
 *   sched_read() -> samples one by one (profile/) -> sched_events.c: an event's fields -> states.c: what each CPU runs,
 *        and since when each task waits -> struct sched_view: runs, wakeups, migrations -> timehist.c, ...
 *
 * A view is told what happened in the order of time, and prints, or adds up until the end. Memory grows with the
 * number of tasks and CPUs, not with that of switches.
 *
 * Recordings are of any machine and from anywhere: names are raw bytes, and what does not fit together (a task is
 * switched out on a CPU that ran another: samples were lost, or only some tasks were recorded) has no run time.
 */
#ifndef PSTAT_SCHED_H
#define PSTAT_SCHED_H

#include "profile/profile.h"

/* ---- states.c: tasks ---- */

enum { SCHED_CPUS_MAX = 8192 }; /* as many as a kernel can have; samples of others are left out, and counted */

struct sched_task {
	uint32_t index; /* in order of appearance, idle tasks among them: for what a view keeps of each task */
	int32_t tid;
	int32_t pid, ppid; /* -1: not known */
	uint32_t idle_cpu; /* tid 0: the CPU that has nothing to do while it runs */
	const char *comm; /* its present or last name, raw bytes */
	uint64_t seen_ns; /* for the first time */
	enum sched_state {
		SCHED_NEW, /* nothing is known yet */
		SCHED_UNKNOWN, /* nothing is known any more: its CPU went on without it, in what was lost */
		SCHED_RUNNING,
		SCHED_READY,
		SCHED_ASLEEP,
	} state;
	uint64_t ready_ns; /* when it was woken or preempted for its present or next run; 0: not known */
	struct sched_task *waker; /* READY after a wakeup */
	uint64_t out_ns; /* when it was switched out last; 0: never */
	char out_state; /* in this state */
	uint64_t migrated_ns; /* the last migration since then; 0: none */
	int32_t prio; /* as it was switched in; -1: it was not */
	bool named; /* by records, else by events */
	bool replaced; /* another task has its number now */
};

/* ---- what a view is told ---- */

/* A CPU takes another task. */
struct sched_switch {
	uint64_t time_ns;
	uint32_t cpu;
	struct sched_task *prev, *next;
	char prev_state; /* letter of the kernel's: R, S, D, ...; '?': the recording has none */
	int32_t prev_prio;
	uint64_t begin_ns; /* when prev was switched in on this CPU; 0: not known */
	/* The time of the switch that ended the run of prev before this one (0: not known), and its state then. */
	uint64_t out_ns;
	char out_state;
	uint64_t ready_ns; /* since when it was ready to run; 0: not known */
	uint64_t migrated_ns; /* the last migration since out_ns; 0: none */
	enum sched_state next_was; /* state of next until now */
	uint64_t next_ready_ns; /* READY: since when */
	struct sched_task *next_waker; /* READY after a wakeup; else NULL */
	const struct sink_sample *sample;
};

/* A task is woken, or moved to another CPU, by the one that runs on this CPU. */
struct sched_act {
	uint64_t time_ns;
	uint32_t cpu;
	struct sched_task *by, *task;
	bool ends_wait; /* of a wakeup: the task slept; else it ran, or was woken before */
	int32_t from_cpu, to_cpu; /* of a migration */
};

struct sched_view {
	void *context;
	void (*begin)(void *context); /* before the first event, when header and events are known */
	/* Each may be NULL. Events of sched_stat_runtime say what a task ran for since the last one. */
	void (*switched)(void *context, const struct sched_switch *change);
	void (*woken)(void *context, const struct sched_act *act);
	void (*migrated)(void *context, const struct sched_act *act);
	void (*ran)(void *context, uint32_t cpu, struct sched_task *task, uint64_t run_ns);
	/* The kernel had no room for so many records, about at this time. cpu -1: not known. */
	void (*lost)(void *context, uint64_t time_ns, int64_t cpu, uint64_t n);
	bool chains; /* switches are wanted with the callchain of the task that leaves */
};

struct sched_options {
	struct session_options session;
};

struct sched;
/* The reader must stay open. 0, or a negative errno with a sentence; free it in either case. */
int sched_new(struct sched **sched, const struct sched_options *options, struct reader *reader, struct str *err);
void sched_free(struct sched *sched); /* NULL is fine */
/*
 * Reads the recording. output is written between events. 0; -EINVAL with a sentence: it has no sched:sched_switch;
 * another negative errno with one: it could not be read to its end; or output->failed.
 */
int sched_read(struct sched *sched, const struct sched_view *view, struct output *output,
	       void (*progress)(void *context, double part), void *context, struct str *err);
struct session *sched_session(struct sched *sched);
/* The next task's name as the switch itself has it, raw bytes: swapper/7 of idle CPU 7. NULL: it has none. */
const char *sched_next_name(struct sched *sched, const struct sched_switch *change, size_t *len);
/* The recorded machine's CPUs, at least those of events so far. */
uint32_t sched_n_cpus(const struct sched *sched);
bool sched_saw_cpu(const struct sched *sched, uint32_t cpu); /* a switch on it */
const struct sched_task *sched_idle_task(const struct sched *sched, uint32_t cpu); /* NULL: it was not seen */
/* From the beginning on: events have callchains; sched_stat_runtime was recorded. */
bool sched_has_chains(const struct sched *sched);
bool sched_has_runtime(const struct sched *sched);
/* All tasks by their index, n of them. */
struct sched_task *const *sched_tasks(const struct sched *sched, size_t *n);
struct sched_totals {
	uint64_t n_switches, n_lost;
	uint64_t n_mismatched; /* switches from a task that the CPU did not run */
	uint64_t n_backward; /* events older than one before them: the clock went back, or order is lost */
	uint64_t n_unfit; /* samples without the fields, or of impossible CPUs */
};
const struct sched_totals *sched_totals(const struct sched *sched);

/* ---- sched_text.c ---- */

/* "comm", "comm[tid]" or "comm[tid/pid]", made printable; ":tid" stands for a name that is not known. */
void sched_add_task(struct str *out, const struct sched_task *task);
/* Milliseconds with three decimals, those before the point as wide as `width`. */
void sched_add_ms(struct str *out, uint64_t ns, unsigned width);
/* Seconds with six decimals, as wide as `width`. */
void sched_add_s(struct str *out, uint64_t ns, unsigned width);
/* "1.000250 [0007] ", the seconds as wide as `width`. */
void sched_add_place(struct str *out, uint64_t time_ns, unsigned width, uint32_t cpu);
/* Columns of milliseconds, each with a blank after it. */
void sched_add_ms_columns(struct str *out, const uint64_t *ns, size_t n, unsigned width);
/* Adds blanks where the text from `start` on is narrower than `width`. */
void sched_pad(struct str *out, size_t start, unsigned width);

/* A row for programs, field by field. */
struct sched_field {
	const char *name;
	const char *text; /* raw bytes; NULL: it is a number */
	int64_t number;
	bool unknown; /* left out of an object, empty between separators */
};
struct sched_format { /* of rows */
	bool json; /* an object per row */
	const char *separator; /* between fields, after a line with their names */
};
void sched_add_fields(struct str *out, const struct sched_format *format, const struct sched_field *fields, size_t n);
/* The line with the names; none of objects. */
void sched_add_field_names(struct str *out, const struct sched_format *format, const struct sched_field *fields,
			   size_t n);

/* ---- timehist.c: a line for each run ---- */

struct timehist_options {
	bool wakeups, migrations, next, cpu_visual, state, prio, pre_migrations;
	bool no_chains;
	bool idle; /* only what CPUs do not do */
	bool summary, summary_only;
	struct intset pids, tids, cpus, prios; /* n 0: all */
	uint64_t start_ns, end_ns; /* of what is shown; 0: all */
	unsigned max_stack; /* frames of a chain */
};
int timehist_print(struct sched *sched, const struct timehist_options *options, struct output *output,
		   void (*progress)(void *context, double part), void *context, struct str *err);

/* ---- intervals.c: tables again and again, each of what was since the one before ---- */

struct sched_interval {
	uint64_t every_ns; /* by the recording's clock; 0: one table of all the time */
	bool clears; /* the screen before each table, which has as many rows as there is room for */
	unsigned lines; /* of the screen; 0: not known */
};

/* ---- latency.c: how long tasks that could run waited for a CPU ---- */

enum latency_key { LATENCY_AVG, LATENCY_MAX, LATENCY_SWITCH, LATENCY_RUNTIME, LATENCY_KEYS };
struct latency_options {
	enum latency_key keys[LATENCY_KEYS]; /* the first is the most important */
	size_t n_keys;
	bool by_task; /* tasks of one name are rows of their own */
	struct sched_format format; /* neither: a table */
	bool histogram; /* instead of rows */
	struct intset cpus; /* n 0: all */
	struct sched_interval interval;
};
/* "avg,max"; -EINVAL with a sentence. */
int latency_keys_parse(struct latency_options *options, const char *text, struct str *err);
int latency_print(struct sched *sched, const struct latency_options *options, struct output *output,
		  void (*progress)(void *context, double part), void *context, struct str *err);

/* ---- cpu_map.c: which task each CPU runs, a line for each switch ---- */

struct cpu_map_options {
	bool compact; /* columns of CPUs that have switched only */
	const char *names; /* of tasks, with commas between; NULL: all */
	bool fuzzy; /* these are parts of names */
	bool explain_all; /* each line says which task it is about */
	struct intset cpus; /* lines of switches on these; n 0: all */
	struct intset color_cpus, color_pids;
};
int cpu_map_print(struct sched *sched, const struct cpu_map_options *options, struct output *output,
	      void (*progress)(void *context, double part), void *context, struct str *err);

/* ---- task_times.c: what each task did with its time, and what woke it ---- */

struct task_times_options {
	struct sched_format format; /* neither: a table */
	bool by_delay; /* the longest delay first, not the longest run time */
	struct intset pids, tids; /* n 0: all */
	struct sched_interval interval;
};
int task_times_print(struct sched *sched, const struct task_times_options *options, struct output *output,
		     void (*progress)(void *context, double part), void *context, struct str *err);

/* ---- page.c: when each CPU and each task ran, as a page for a browser ---- */

struct page_options {
	uint64_t start_ns, end_ns; /* of what is shown; 0: all */
};
int page_print(struct sched *sched, const struct page_options *options, struct output *output,
	       void (*progress)(void *context, double part), void *context, struct str *err);

#endif
