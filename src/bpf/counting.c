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
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum { PIECE_BYTES = 64 << 10, CELLS_OF_STACK = 4 };
/* The inode of /proc/PID/ns/pid of the first PID namespace: include/linux/proc_ns.h, PROC_PID_INIT_INO. */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCU

struct bpf_counting {
	struct record_sink sink; /* first */
	struct record_sink *next;
	struct bpf_loaded *loaded;
	size_t n_programs;
	uint64_t *ids; /* by number of the program: an id of its event */
	size_t *attached; /* by number of the program: the event's index among those that are open */
	size_t n_attached;
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
	[BPF_LOST_BUSY] = "a map was busy",
	[BPF_LOST_NO_STACK] = "not even an address was to be had",
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

int bpf_counting_new(struct bpf_counting **counting, const struct bpf_options *options, struct str *err)
{
	size_t stacks = options->stacks_max ? options->stacks_max : BPF_STACKS;
	const struct bpf_load_options load = {
		.n_programs = options->n_events,
		.stacks_max = half(stacks, 0),
		.cells_max = half(options->cells_max, CELLS_OF_STACK * stacks),
	};
	struct bpf_counting *made;
	struct bpf_loaded *loaded;
	int code;

	*counting = NULL;
	if (!options->n_events || stacks > BPF_STACKS_MOST)
		return fail(err, -EINVAL, "BPF counts 1 event or more, and at most %d stacks", BPF_STACKS_MOST);
	code = check_pid_namespace(options->kern, err);
	if (!code)
		code = bpf_load(&loaded, &load, err);
	if (code)
		return code;
	made = *counting = xcalloc(1, sizeof(*made));
	made->loaded = loaded;
	made->n_programs = options->n_events;
	made->ids = xcalloc(options->n_events, sizeof(*made->ids));
	made->attached = xcalloc(options->n_events, sizeof(*made->attached));
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
	free(counting->ids);
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
		n++;
		code = check_counter(&set->v[i], err);
	}
	return !code && n > counting->n_programs ?
		       fail(err, -ENOTSUP, "there are %zu events for %zu BPF programs", n, counting->n_programs) :
		       code;
}

int bpf_counting_attach(struct bpf_counting *counting, const struct counter_set *set, struct str *err)
{
	size_t open = 0;
	int code = check_set(counting, set, err);

	for (size_t i = 0; i < set->n && !code; i++) {
		size_t program = counting->n_attached;

		if (is_counted(&set->v[i])) {
			code = counter_attach_bpf(set, i, bpf_loaded_program(counting->loaded, program));
			if (code)
				return fail(err, program ? code : -ENOTSUP,
					    "%s: the kernel does not count it by BPF: %s", set->v[i].name,
					    strerror(-code));
			counting->attached[counting->n_attached++] = open;
		}
		open += set->v[i].state == COUNTER_OPEN;
	}
	return code;
}

/* ---- records ---- */

const struct events *bpf_counting_written(struct bpf_counting *counting, const struct events *recorded)
{
	struct events changed;

	/* Copied once more, so that all that follows from an attr is worked out anew. */
	events_init(&changed);
	events_copy(&changed, recorded);
	for (size_t program = 0; program < counting->n_attached; program++) {
		struct data_event *event = changed.v[counting->attached[program]];

		counting->ids[program] = event->n_ids ? event->ids[0] : 0;
		event->counted = true;
		event->attr.sample_type = BPF_SAMPLE_TYPE;
		event->attr.branch_sample_type = 0;
		event->attr.sample_regs_user = event->attr.sample_regs_intr = 0;
	}
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
	uint64_t samples = 0;
	int code = 0;

	for (size_t i = 0; i < drained->n_cells && !code; i++) {
		uint32_t program = drained->cells[i].key.event;

		if (program >= counting->n_attached)
			continue;
		samples += drained_add_sample(drained, i, counting->ids[program], &counting->piece);
		if (counting->piece.len >= PIECE_BYTES)
			code = hand_on_piece(counting, err);
	}
	if (!code)
		code = hand_on_piece(counting, err);
	pthread_mutex_lock(&counting->lock);
	counting->totals.samples += samples;
	counting->totals.cells += drained->n_cells;
	counting->totals.drains++;
	pthread_mutex_unlock(&counting->lock);
	return code;
}

static int drain(struct bpf_counting *counting, struct str *err)
{
	const struct bpf_receiver receiver = drained_receiver(&counting->drained);
	int code;

	drained_clear(&counting->drained);
	code = bpf_loaded_take(counting->loaded, &receiver, err);
	if (code)
		return code;
	drained_sort(&counting->drained);
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
	int code = drain(counting, err);

	if (!code)
		code = next->round(next, err);
	return code ? code : next->flush(next, err);
}

/* Events have stopped, so the numbers are final: what is in no cell that was read is lost. */
static void finish_totals(struct bpf_counting *counting)
{
	struct bpf_totals totals;
	uint64_t accounted;

	bpf_counting_totals(counting, &totals);
	pthread_mutex_lock(&counting->lock);
	accounted = counting->totals.samples;
	for (int i = 0; i < BPF_LOST_READING; i++)
		accounted += totals.lost[i];
	counting->totals.runs = totals.runs;
	memcpy(counting->totals.lost, totals.lost, sizeof(totals.lost));
	counting->totals.lost[BPF_LOST_READING] = totals.runs > accounted ? totals.runs - accounted : 0;
	counting->ended = true;
	pthread_mutex_unlock(&counting->lock);
}

static int stage_end(struct record_sink *sink, struct str *err)
{
	struct bpf_counting *counting = counting_of(sink);
	struct str why = STR_INIT;
	int code = drain(counting, &why), end_code;

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
		       BPF_LOST_BUSY + 1 == (int)BPF_BUSY && BPF_LOST_NO_STACK + 1 == (int)BPF_NO_STACK &&
		       BPF_LOST_READING + 1 == (int)BPF_OUTCOMES,
	       "losses are the ends of a run that are not BPF_COUNTED");

void bpf_counting_totals(struct bpf_counting *counting, struct bpf_totals *totals)
{
	struct bpf_run_counts counts;

	pthread_mutex_lock(&counting->lock);
	if (!counting->ended && !bpf_loaded_counts(counting->loaded, &counts)) {
		counting->totals.runs = counts.runs;
		for (int o = BPF_COUNTED + 1; o < BPF_OUTCOMES; o++)
			counting->totals.lost[o - 1] = counts.ended[o];
	}
	*totals = counting->totals;
	pthread_mutex_unlock(&counting->lock);
}
