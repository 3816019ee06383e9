/*
 * The pass over the recording: sample -> facts -> cell. Facts are worked out by fact_rows[], only those that
 * the cells keep; the names of addresses are not looked at here, that is done once per distinct place
 * afterwards.
 */
#include "hist/collect.h"

#include "profile/profile.h"
#include "hist/keys_internal.h"
#include "profile/profile.h"
#include "util/util.h"

#include <errno.h>
#include <stdlib.h>

struct collect {
	struct table *table;
	collect_target_fn *target;
	struct collect_target *targets; /* by index of the event */
	size_t n_targets;
	uint8_t rows[FACTS]; /* the rows of facts that are kept by any target */
	size_t n_rows;
	uint64_t quantum_ns;
	bool count_places; /* symbols will be looked up: samples per place are counted */
	bool kernel_expected; /* its symbols, too */
	uint64_t facts[FACTS]; /* of the present sample */
	struct str text;
	void (*progress)(void *context, double part);
	void *progress_context;
};

enum { TIME_QUANTUM_NS = 100000000 };

/* ---- facts ---- */

static uint64_t fact_comm(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return sample->thread->comm;
}

static uint64_t fact_pid(struct collect *collect, const struct replay_sample *sample)
{
	task_names_want(collect->table->tasks, sample->thread);
	return task_names_pid(sample->thread);
}

static uint64_t fact_tid(struct collect *collect, const struct replay_sample *sample)
{
	task_names_want(collect->table->tasks, sample->thread);
	return task_names_tid(sample->thread);
}

static uint64_t fact_cpu(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return sample->sample->has & PERF_SAMPLE_CPU ? sample->sample->cpu : UINT64_MAX;
}

static uint64_t fact_time(struct collect *collect, const struct replay_sample *sample)
{
	return sample->sample->time_ns / collect->quantum_ns;
}

static uint64_t fact_place(struct collect *collect, const struct replay_sample *sample)
{
	return session_ip_place(&collect->table->session, sample);
}

static uint64_t fact_stack(struct collect *collect, const struct replay_sample *sample)
{
	return session_stack(&collect->table->session, sample);
}

static uint64_t fact_data_place(struct collect *collect, const struct replay_sample *sample)
{
	return session_data_place(&collect->table->session, sample);
}

/* WEIGHT_STRUCT packs three numbers into the word that WEIGHT has for one. */
static uint64_t weight_part(const struct sample *s, unsigned shift, uint64_t mask)
{
	return s->has & DATA_SAMPLE_WEIGHT_STRUCT ? s->weight >> shift & mask : 0;
}

static uint64_t sample_weight(const struct sample *s)
{
	return s->has & DATA_SAMPLE_WEIGHT_STRUCT ? weight_part(s, 0, UINT32_MAX) : s->weight;
}

static uint64_t fact_weight(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return sample_weight(sample->sample);
}

static uint64_t fact_ins_lat(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return weight_part(sample->sample, 32, UINT16_MAX);
}

static uint64_t fact_p_stage_cyc(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return weight_part(sample->sample, 48, UINT16_MAX);
}

static uint64_t fact_cgroup_dev(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return sample->thread->cgroup_dev;
}

static uint64_t fact_cgroup_ino(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return sample->thread->cgroup_ino;
}

static uint64_t fact_trace(struct collect *collect, const struct replay_sample *sample)
{
	struct table *table = collect->table;

	str_reset(&collect->text);
	table_trace_text(table, sample->event, sample->sample, &collect->text);
	return texts_intern(table->texts, collect->text.s, collect->text.len);
}

static uint64_t fact_misc(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return sample->mode;
}

/*
 * To add a fact: an enum in hist.h, a row here: how it is worked out, or which word of struct sample it is
 * (0 where the sample has none of the bits). Rows without either are set per branch, see add_branches.
 */
static const struct fact_row {
	uint64_t (*get)(struct collect *collect, const struct replay_sample *sample);
	size_t offset; /* in struct sample, of a u64 */
	uint64_t bits; /* PERF_SAMPLE_* */
} fact_rows[FACTS] = {
#define WORD(field, bit)                                                                           \
	{                                                                                          \
		NULL, offsetof(struct sample, field), bit                                          \
	}
	[FACT_COMM] = { .get = fact_comm },
	[FACT_PID] = { .get = fact_pid },
	[FACT_TID] = { .get = fact_tid },
	[FACT_CPU] = { .get = fact_cpu },
	[FACT_TIME] = { .get = fact_time },
	[FACT_PLACE] = { .get = fact_place },
	[FACT_STACK] = { .get = fact_stack },
	[FACT_DATA_PLACE] = { .get = fact_data_place },
	[FACT_DATA_ADDR] = WORD(addr, PERF_SAMPLE_ADDR),
	[FACT_DATA_SRC] = WORD(data_src, PERF_SAMPLE_DATA_SRC),
	[FACT_WEIGHT] = { .get = fact_weight },
	[FACT_INS_LAT] = { .get = fact_ins_lat },
	[FACT_P_STAGE_CYC] = { .get = fact_p_stage_cyc },
	[FACT_PHYS_ADDR] = WORD(phys_addr, PERF_SAMPLE_PHYS_ADDR),
	[FACT_DATA_PAGE_SIZE] = WORD(data_page_size, PERF_SAMPLE_DATA_PAGE_SIZE),
	[FACT_CODE_PAGE_SIZE] = WORD(code_page_size, PERF_SAMPLE_CODE_PAGE_SIZE),
	[FACT_TRANSACTION] = WORD(transaction, PERF_SAMPLE_TRANSACTION),
	[FACT_CGROUP] = WORD(cgroup, PERF_SAMPLE_CGROUP),
	[FACT_CGROUP_DEV] = { .get = fact_cgroup_dev },
	[FACT_CGROUP_INO] = { .get = fact_cgroup_ino },
	[FACT_TRACE] = { .get = fact_trace },
	[FACT_MISC] = { .get = fact_misc },
#undef WORD
};

static void fill_facts(struct collect *collect, const struct replay_sample *sample)
{
	const char *bytes = (const char *)sample->sample;

	for (size_t i = 0; i < collect->n_rows; i++) {
		const struct fact_row *row = &fact_rows[collect->rows[i]];
		uint64_t *fact = &collect->facts[collect->rows[i]];

		if (row->get)
			*fact = row->get(collect, sample);
		else if (sample->sample->has & row->bits)
			memcpy(fact, bytes + row->offset, sizeof(*fact));
		else
			*fact = 0;
	}
}

/* ---- targets ---- */

/* Facts that will be given names: then samples are counted per place, for the notes at the end. */
static const uint64_t place_facts =
	1ULL << FACT_PLACE | 1ULL << FACT_STACK | 1ULL << FACT_FROM | 1ULL << FACT_TO;

static void open_trace(struct table *table)
{
	struct str why = STR_INIT;

	if (!table->texts)
		table->texts = texts_new();
	if (!table_open_tracepoints(table, &why))
		note_add(&table->session.notes, false, NULL, "tracepoint fields: %s", why.s);
	str_release(&why);
}

static void keep_facts(struct collect *collect)
{
	struct table *table = collect->table;
	uint64_t kept = 0;

	for (size_t i = 0; i < collect->n_targets; i++)
		for (unsigned f = 0; collect->targets[i].cells && f < FACTS; f++)
			if (collect->targets[i].cells->at[f] != UINT8_MAX)
				kept |= 1ULL << f;
	collect->count_places = kept & place_facts;
	if (table->branch_view)
		kept &= ~(1ULL << FACT_PLACE); /* it is the branch's target */
	else if (collect->count_places)
		kept |= 1ULL << FACT_PLACE;
	if (kept >> FACT_TRACE & 1)
		open_trace(table);
	if (kept & (1ULL << FACT_PID | 1ULL << FACT_TID) && !table->tasks)
		table->tasks = task_names_new();
	collect->n_rows = 0;
	for (unsigned f = 0; f < FACTS; f++)
		if (kept >> f & 1 && (fact_rows[f].get || fact_rows[f].bits))
			collect->rows[collect->n_rows++] = (uint8_t)f;
}

/* Asks for the targets of all events known by now: twice, as the first answers may have moved. */
static int ask_targets(struct collect *collect, struct str *err)
{
	struct table *table = collect->table;
	const struct events *events = &table->session.reader->events;
	int code = 0;

	collect->targets =
		xreallocarray(collect->targets, events->n + 1, sizeof(*collect->targets));
	for (size_t i = 0; i < 2 * events->n && !code; i++) {
		struct collect_target *target = &collect->targets[i % events->n];

		*target = (struct collect_target){ NULL, NULL };
		code = collect->target(table, events->v[i % events->n], target, err);
	}
	if (code)
		return code;
	collect->n_targets = events->n;
	keep_facts(collect);
	return 0;
}

/* ---- samples ---- */

static void add_totals(struct entry_stats *totals, uint8_t mode, const struct cell_values *values)
{
	totals->n_samples += values->n_samples;
	totals->period += values->period;
	totals->weight += values->weight;
	switch (mode) {
	case MISC_KERNEL:
		totals->period_sys += values->period;
		break;
	case MISC_USER:
		totals->period_us += values->period;
		break;
	case MISC_GUEST_KERNEL:
		totals->period_guest_sys += values->period;
		break;
	case MISC_GUEST_USER:
		totals->period_guest_us += values->period;
		break;
	}
}

static void add_to(struct collect *collect, const struct collect_target *target, uint8_t mode,
		   bool taken, const struct cell_values *values)
{
	if (target->totals)
		add_totals(target->totals, mode, values);
	if (taken)
		cells_add(target->cells, collect->facts, values);
}

/* Of a branch's flag word: bits 4 to 19 are the cycles since the last one. */
enum { BRANCH_CYCLES_SHIFT = 4, BRANCH_CYCLES_MASK = 0xffff };

/* One cell per branch, each worth one. */
static void add_branches(struct collect *collect, const struct collect_target *target,
			 const struct replay_sample *sample, bool taken)
{
	struct session *session = &collect->table->session;
	const struct sample *s = sample->sample;
	uint64_t *facts = collect->facts;

	for (uint64_t i = 0; i < s->n_branches; i++) {
		const struct sample_branch *branch = &s->branches[i];
		uint64_t cycles = branch->flags >> BRANCH_CYCLES_SHIFT & BRANCH_CYCLES_MASK;
		struct cell_values values = { 1, 1, cycles ? cycles : 1, sample->thread->tid };

		facts[FACT_FROM] = session_address_place(session, sample, branch->from);
		facts[FACT_TO] = session_address_place(session, sample, branch->to);
		facts[FACT_PLACE] = facts[FACT_TO];
		facts[FACT_BRANCH_FLAGS] =
			branch->flags & ~((uint64_t)BRANCH_CYCLES_MASK << BRANCH_CYCLES_SHIFT);
		facts[FACT_BRANCH_CYCLES] = cycles;
		facts[FACT_WEIGHT] = values.weight;
		if (collect->count_places && taken)
			session->places->v[facts[FACT_TO]].n_samples++;
		add_to(collect, target, sample->mode, taken, &values);
	}
}

static void add_share(struct collect *collect, const struct replay_sample *sample,
		      const struct sample_share *share, bool taken)
{
	const struct collect_target *target = &collect->targets[share->event->index];
	struct cell_values values = { 1, share->period, sample_weight(sample->sample),
				      sample->thread->tid };

	if (!target->cells)
		return;
	if (collect->table->branch_view) {
		add_branches(collect, target, sample, taken);
		return;
	}
	if (collect->table->options.mem_mode) /* memory samples are worth their latency */
		values.period = values.weight ? values.weight : 1;
	add_to(collect, target, sample->mode, taken, &values);
}

static void count_place(struct collect *collect, const struct replay_sample *sample)
{
	struct session *session = &collect->table->session;
	struct place_row *row = &session->places->v[collect->facts[FACT_PLACE]];

	row->n_samples++;
	if (collect->kernel_expected || sample->mode != MISC_KERNEL || !row->dso)
		return;
	collect->kernel_expected = true;
	symbols_expect(session->symbols, row->dso);
}

static int take_sample(void *context, struct replay *replay, const struct replay_sample *sample,
		       struct str *err)
{
	struct collect *collect = context;
	struct table *table = collect->table;
	const struct sample_share *shares;
	size_t n = session_shares(&table->session, sample, &shares);
	bool taken;

	(void)replay;
	if (!sample->event || filters_drop_sample(table->filters, sample))
		return 0;
	if (collect->n_targets != table->session.reader->events.n) {
		int code = ask_targets(collect, err);

		if (code)
			return code;
	}
	taken = filters_take_task(table->filters, sample);
	if (taken) {
		fill_facts(collect, sample);
		if (collect->count_places && !table->branch_view)
			count_place(collect, sample);
	}
	for (size_t i = 0; i < n; i++)
		add_share(collect, sample, &shares[i], taken);
	return 0;
}

static int take_other(void *context, struct replay *replay, const struct record *record,
		      const struct record_body *body, struct thread *thread, struct str *err)
{
	struct collect *collect = context;
	struct table *table = collect->table;

	(void)replay, (void)thread, (void)err;
	if (record->type == RECORD_READ)
		thread_counts_add(&table->thread_counts, &table->session.reader->events, body);
	return 0;
}

static void thread_gone(void *context, struct thread *thread)
{
	const struct collect *collect = context;

	if (collect->table->tasks)
		task_names_last(collect->table->tasks, thread);
}

static void show_progress(void *context, double part)
{
	struct collect *collect = context;

	if (collect->progress)
		collect->progress(collect->progress_context, part);
}

int collect_run(struct table *table, collect_target_fn *target,
		void (*progress)(void *context, double part), void *context, struct str *err)
{
	struct collect collect = {
		.table = table,
		.target = target,
		.quantum_ns = table->options.time_quantum_ns ? table->options.time_quantum_ns
							      : TIME_QUANTUM_NS,
		.text = STR_INIT,
		.progress = progress,
		.progress_context = context,
	};
	const struct replay_handlers handlers = {
		.context = &collect,
		.sample = take_sample,
		.other = table->options.threads_counted ? take_other : NULL,
		.thread_gone = thread_gone,
		.progress = show_progress,
	};
	const struct replay *replay = &table->session.replay;
	int code = ask_targets(&collect, err);

	if (!code)
		code = replay_run(&table->session.replay, &handlers, err);
	for (size_t i = 0; i < replay->n_threads; i++)
		thread_gone(&collect, replay->threads[i]);
	free(collect.targets);
	str_release(&collect.text);
	return code;
}
