/* SPDX-License-Identifier: MIT */
/*
 * counting.c: the program's course beside a recording: attached to its events, emptied by a stage at each flush, and
 * once more at the end, when the events have stopped. What was in the kernel and what was handed on then add up.
 *
 * Rounds. A flush follows a whole pass over the rings, and cells that are taken out at the next one are younger than
 * this one: so what is handed on before the end of one round is never older than what was handed on before the
 * end of the last but one, as record_sink.h has it. Rounds of single passes are kept back, for cells come later.
 */
#include "bpf/bpf.h"

#include "bpf/drained.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum { PIECE_BYTES = 64 << 10, CELLS_OF_STACK = 4, WAITING_LEAST = 4096, WAITING_MOST = 65536 };
/* The inode of /proc/PID/ns/pid of the first PID namespace: include/linux/proc_ns.h, PROC_PID_INIT_INO. */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCU

struct bpf_counting {
	struct record_sink sink; /* first */
	struct record_sink *next;
	struct bpf_loaded *loaded;
	size_t n_programs;
	struct drained_as *as; /* by number of the program: its event's samples */
	size_t *attached; /* by number of the program: the event's index among those that are open */
	size_t n_attached;
	bool waits, wall;
	/* The events, borrowed, NULL for none yet; and which of them is that of the waits: it counts the switches. */
	const struct counter_set *set;
	size_t switches;
	uint64_t until_ns; /* the end of waits that are not over */
	struct events written;
	struct drained drained;
	struct str piece; /* of records */

	pthread_mutex_t lock; /* for these */
	struct bpf_totals totals;
	bool ended; /* totals are final */
};

static const char *const loss_words[BPF_LOSSES] = {
	[BPF_LOST_STACKS_FULL] = "no room for one more stack",
	[BPF_LOST_CELLS_FULL] = "no room for one more cell",
	[BPF_LOST_WAITING_FULL] = "no room for one more thread that waits",
	[BPF_LOST_BUSY] = "a map was busy",
	[BPF_LOST_NO_STACK] = "no address could be read",
	[BPF_LOST_LEFT_TWICE] = "the thread left twice, and its return was not seen",
	[BPF_LOST_NOT_RUN] = "the kernel did not run the program, as another one ran",
	[BPF_LOST_READING] = "counted, and could not be read",
};

const char *bpf_loss_words(enum bpf_loss loss)
{
	return loss_words[loss];
}

/* ---- beginning ---- */

/* Numbers of processes are those of the first namespace in the program, and of pstat's own in what tasks do. */
static int check_pid_namespace(const struct kern *kern, struct str *err)
{
	char *path = xasprintf("%s/self/ns/pid", kern->host.procfs);
	struct stat st;
	bool other = !stat(path, &st) && st.st_ino != FIRST_PID_NAMESPACE;

	free(path);
	return other ? fail(err, -ENOTSUP, "pstat runs in a PID namespace, and BPF counts by the numbers that "
			    "processes have outside of it") : 0;
}

static uint32_t half(size_t given, size_t otherwise)
{
	size_t n = (given ? given : otherwise) / BPF_GENERATIONS;

	return n ? (uint32_t)n : 1;
}

/* Twice the threads that the machine has: proc(5), /proc/loadavg. */
static uint32_t room_for_waiting(const struct bpf_options *options)
{
	char *path = xasprintf("%s/loadavg", options->kern->host.procfs);
	FILE *file = options->waiting_max ? NULL : fopen(path, "re");
	unsigned threads = 0;

	if (file && fscanf(file, "%*f %*f %*f %*u/%u", &threads) != 1)
		threads = 0;
	if (file)
		fclose(file);
	free(path);
	if (options->waiting_max)
		return (uint32_t)options->waiting_max;
	if (threads < WAITING_LEAST / 2)
		return WAITING_LEAST;
	return threads < WAITING_MOST / 2 ? 2 * threads : WAITING_MOST;
}

int bpf_counting_new(struct bpf_counting **counting, const struct bpf_options *options, struct str *err)
{
	size_t stacks = options->stacks_max ? options->stacks_max : BPF_STACKS;
	const struct bpf_load_options load = {
		.n_programs = options->n_events + options->waits,
		.waits = options->waits,
		.least_ns = options->least_ns,
		.waiting_max = options->waits ? room_for_waiting(options) : 1,
		.stacks_max = half(stacks, 0),
		.cells_max = half(options->cells_max, CELLS_OF_STACK * stacks),
	};
	struct bpf_counting *made;
	struct bpf_loaded *loaded;
	int code;

	*counting = NULL;
	if (!load.n_programs || stacks > BPF_STACKS_MOST)
		return fail(err, -EINVAL, "BPF counts 1 event or more, and at most %d stacks", BPF_STACKS_MOST);
	code = check_pid_namespace(options->kern, err);
	if (!code)
		code = bpf_load(&loaded, &load, err);
	if (code)
		return code;
	made = *counting = xcalloc(1, sizeof(*made));
	made->loaded = loaded;
	made->n_programs = load.n_programs;
	made->waits = options->waits;
	made->wall = options->wall;
	made->as = xcalloc(load.n_programs, sizeof(*made->as));
	made->attached = xcalloc(load.n_programs, sizeof(*made->attached));
	made->totals.memory_bytes = bpf_loaded_bytes(loaded);
	events_init(&made->written);
	str_init(&made->piece);
	pthread_mutex_init(&made->lock, NULL);
	return 0;
}

void bpf_counting_free(struct bpf_counting *counting)
{
	if (!counting)
		return;
	bpf_unload(counting->loaded);
	drained_release(&counting->drained);
	events_release(&counting->written);
	str_release(&counting->piece);
	pthread_mutex_destroy(&counting->lock);
	free(counting->as);
	free(counting->attached);
	free(counting);
}

/* Is it counted, as open as it is? 0, or -ENOTSUP with a sentence. */
static int check_counter(const struct counter *counter, struct str *err)
{
	const struct perf_event_attr *attr = &counter->attr;

	if (attr->type == PERF_TYPE_TRACEPOINT)
		return fail(err, -ENOTSUP, "%s: BPF does not count tracepoints", counter->name);
	if (attr->sample_type & PERF_SAMPLE_STACK_USER)
		return fail(err, -ENOTSUP, "%s: BPF finds callers by frame pointers, not by DWARF", counter->name);
	if (attr->sample_type & PERF_SAMPLE_READ)
		return fail(err, -ENOTSUP, "%s: BPF does not read the values of a group", counter->name);
	if (!attr->use_clockid || attr->clockid != CLOCK_MONOTONIC)
		return fail(err, -ENOTSUP, "%s: BPF counts with the clock CLOCK_MONOTONIC", counter->name);
	return 0;
}

static bool is_counted(const struct counter *counter)
{
	return counter->state == COUNTER_OPEN && !counter->event->tracking;
}

static int check_set(const struct bpf_counting *counting, const struct counter_set *set, struct str *err)
{
	size_t n = 0;
	int code = 0;

	for (size_t i = 0; i < set->n && !code; i++) {
		if (!is_counted(&set->v[i]))
			continue;
		n += !set->v[i].event->off_cpu;
		code = check_counter(&set->v[i], err);
	}
	return !code && n > counting->n_programs - counting->waits ?
		       fail(err, -ENOTSUP, "there are %zu events for %zu BPF programs", n, counting->n_programs) :
		       code;
}

/* The last program is for the waits. */
static int attach(struct bpf_counting *counting, size_t index, size_t program, struct str *err)
{
	int code = counter_attach_bpf(counting->set, index, bpf_loaded_program(counting->loaded, program));

	return code ? fail(err, counting->n_attached ? code : -ENOTSUP, "%s: the kernel does not count it by BPF: %s",
			   counting->set->v[index].name, strerror(-code)) : 0;
}

int bpf_counting_attach(struct bpf_counting *counting, const struct counter_set *set, struct str *err)
{
	size_t open = 0, n = 0;
	int code = check_set(counting, set, err);

	counting->set = set;
	for (size_t i = 0; i < set->n && !code; i++) {
		const bool waits = set->v[i].event->off_cpu;
		const size_t program = waits ? counting->n_programs - 1 : n;

		if (is_counted(&set->v[i])) {
			code = attach(counting, i, program, err);
			counting->attached[program] = open;
			counting->as[program].waits = waits;
			counting->as[program].attached = !code;
			counting->n_attached += !code;
			n += !waits;
			if (waits)
				counting->switches = i;
		}
		open += set->v[i].state == COUNTER_OPEN;
	}
	return code;
}

/* ---- records ---- */

static void describe(struct bpf_counting *counting, size_t program, struct events *changed)
{
	struct data_event *event = changed->v[counting->attached[program]];
	struct drained_as *as = &counting->as[program];
	size_t to;

	event->counted = true;
	event->attr.sample_type = BPF_SAMPLE_TYPE;
	event->attr.branch_sample_type = 0;
	event->attr.sample_regs_user = event->attr.sample_regs_intr = 0;
	if (as->waits) {
		to = events_turn_to_waits(changed, counting->attached[program], counting->wall);
		as->wall = to != counting->attached[program];
		event = changed->v[to];
	}
	as->id = event->n_ids ? event->ids[0] : 0;
}

const struct events *bpf_counting_written(struct bpf_counting *counting, const struct events *recorded)
{
	struct events changed;

	/* Copied once more, so that all that follows from an attr is worked out anew. */
	events_init(&changed);
	events_copy(&changed, recorded);
	for (size_t program = 0; program < counting->n_programs; program++)
		if (counting->as[program].attached)
			describe(counting, program, &changed);
	events_copy(&counting->written, &changed);
	events_release(&changed);
	return &counting->written;
}

static int hand_on_piece(struct bpf_counting *counting, struct str *err)
{
	int code = counting->piece.len ?
			   counting->next->take(counting->next, counting->piece.s, counting->piece.len, err) : 0;

	str_reset(&counting->piece);
	return code;
}

static int hand_on_cells(struct bpf_counting *counting, struct str *err)
{
	const struct drained *drained = &counting->drained;
	uint64_t samples = 0, waits = 0, waits_ns = 0, n;
	int code = 0;

	for (size_t i = 0; i < drained->n_cells && !code; i++) {
		uint32_t program = drained->cells[i].key.event;

		if (program >= counting->n_programs || !counting->as[program].attached)
			continue;
		n = drained_add_sample(drained, i, &counting->as[program], &counting->piece);
		samples += n;
		if (n && counting->as[program].waits) {
			waits += n;
			waits_ns += drained->cells[i].sums.period;
		}
		if (counting->piece.len >= PIECE_BYTES)
			code = hand_on_piece(counting, err);
	}
	if (!code)
		code = hand_on_piece(counting, err);
	pthread_mutex_lock(&counting->lock);
	counting->totals.samples += samples;
	counting->totals.waits += waits;
	counting->totals.waits_ns += waits_ns;
	counting->totals.cells += drained->n_cells;
	counting->totals.drains++;
	pthread_mutex_unlock(&counting->lock);
	return code;
}

/* Takes what was counted; at the end the waits that are not over, too. */
static int drain(struct bpf_counting *counting, bool end, struct str *err)
{
	struct drained *drained = &counting->drained;
	const struct bpf_receiver receiver = drained_receiver(drained);
	size_t over;
	int code;

	drained_clear(drained);
	code = bpf_loaded_take(counting->loaded, &receiver, err);
	over = drained->n_cells;
	if (!code && end && counting->waits) {
		drained->until_ns = counting->until_ns;
		drained->waits_event = (uint16_t)(counting->n_programs - 1);
		code = bpf_loaded_take_waits(counting->loaded, &receiver, err);
		counting->totals.open = drained->n_cells - over;
	}
	if (code)
		return code;
	drained_sort(drained);
	return hand_on_cells(counting, err);
}

/* ---- the stage ---- */

static struct bpf_counting *counting_of(struct record_sink *sink)
{
	return (struct bpf_counting *)sink;
}

static int stage_take(struct record_sink *sink, const void *records, size_t n, struct str *err)
{
	struct record_sink *next = counting_of(sink)->next;

	return next->take(next, records, n, err);
}

static int stage_round(struct record_sink *sink, struct str *err)
{
	(void)sink, (void)err;
	return 0;
}

static int stage_flush(struct record_sink *sink, struct str *err)
{
	struct bpf_counting *counting = counting_of(sink);
	struct record_sink *next = counting->next;
	int code = drain(counting, false, err);

	if (!code)
		code = next->round(next, err);
	return code ? code : next->flush(next, err);
}

struct switches {
	size_t index; /* of the event */
	uint64_t n;
};

static void add_switches(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	struct switches *switches = data;

	(void)cpu, (void)thread;
	if (index == switches->index)
		switches->n += reading->value;
}

/* The kernel's own count says of how many switches the program knows nothing. */
static uint64_t not_run(const struct bpf_counting *counting)
{
	struct switches switches = { .index = counting->switches };
	struct bpf_run_counts counts;
	uint64_t seen;

	if (!counting->waits || !counting->set || bpf_loaded_counts(counting->loaded, BPF_RUN_WAIT, &counts))
		return 0;
	counters_read(counting->set, add_switches, &switches);
	seen = counts.runs + counts.passed_over;
	return switches.n > seen ? switches.n - seen : 0;
}

/* Events have stopped, so the numbers are final: what is in no cell that was read is lost. */
static void finish_totals(struct bpf_counting *counting)
{
	const uint64_t missing = not_run(counting);
	struct bpf_totals totals;
	uint64_t accounted;

	bpf_counting_totals(counting, &totals);
	totals.runs += totals.lost[BPF_LOST_NOT_RUN] = missing;
	accounted = totals.samples + totals.short_waits;
	for (int i = 0; i < BPF_LOST_READING; i++)
		accounted += totals.lost[i];
	totals.lost[BPF_LOST_READING] = totals.runs > accounted ? totals.runs - accounted : 0;
	pthread_mutex_lock(&counting->lock);
	counting->totals = totals;
	counting->ended = true;
	pthread_mutex_unlock(&counting->lock);
}

void bpf_counting_stops(struct bpf_counting *counting)
{
	if (!counting->waits)
		return;
	counting->until_ns = now_ns();
	(void)bpf_loaded_stop_waits(counting->loaded, counting->until_ns);
}

static int stage_end(struct record_sink *sink, struct str *err)
{
	struct bpf_counting *counting = counting_of(sink);
	struct str why = STR_INIT;
	int code = drain(counting, true, &why), end_code;

	finish_totals(counting);
	end_code = counting->next->end(counting->next, err);
	if (code && !end_code)
		str_addn(err, why.s, why.len);
	str_release(&why);
	return end_code ? end_code : code;
}

struct record_sink *bpf_counting_stage(struct bpf_counting *counting, struct record_sink *next)
{
	counting->sink = (struct record_sink){ stage_take, stage_round, stage_flush, stage_end };
	counting->next = next;
	return &counting->sink;
}

/* ---- numbers ---- */

_Static_assert(BPF_LOST_STACKS_FULL + 1 == (int)BPF_STACKS_FULL && BPF_LOST_CELLS_FULL + 1 == (int)BPF_CELLS_FULL &&
		       BPF_LOST_WAITING_FULL + 1 == (int)BPF_WAITING_FULL && BPF_LOST_BUSY + 1 == (int)BPF_BUSY &&
		       BPF_LOST_NO_STACK + 1 == (int)BPF_NO_STACK &&
		       BPF_LOST_LEFT_TWICE + 1 == (int)BPF_LEFT_TWICE && BPF_LOST_NOT_RUN + 1 == (int)BPF_OUTCOMES,
	       "losses are the ends of a run that are not BPF_COUNTED, and then those that no run has");

void bpf_counting_totals(struct bpf_counting *counting, struct bpf_totals *totals)
{
	struct bpf_run_counts samples, waits;

	pthread_mutex_lock(&counting->lock);
	if (!counting->ended && !bpf_loaded_counts(counting->loaded, BPF_RUN_SAMPLE, &samples) &&
	    !bpf_loaded_counts(counting->loaded, BPF_RUN_WAIT, &waits)) {
		counting->totals.runs = samples.runs + waits.runs;
		counting->totals.short_waits = waits.short_waits;
		counting->totals.short_ns = waits.short_ns;
		for (int o = BPF_COUNTED + 1; o < BPF_OUTCOMES; o++)
			counting->totals.lost[o - 1] = samples.ended[o] + waits.ended[o];
	}
	*totals = counting->totals;
	pthread_mutex_unlock(&counting->lock);
}
