/* SPDX-License-Identifier: MIT */
/*
 * A recording as facts: what is decided before it is read, the pass over it (sample -> facts -> cell, at once or in
 * steps), and the cells that questions are asked of.
 *
 * fact_rows[] says how each fact of a sample is worked out; only those that cells keep are. The names of addresses are
 * not looked at while reading: that is done once per distinct location afterwards.
 */
#include "profile/session_internal.h"

#include <errno.h>
#include <stdlib.h>

/* A profile being read. */
struct collect {
	struct profile *profile;
	uint8_t rows[FACTS]; /* the rows of facts that are kept */
	size_t n_rows;
	uint64_t quantum_ns;
	bool count_locations; /* symbols will be looked up: samples per location are counted */
	bool kernel_expected; /* its symbols, too */
	uint64_t facts[FACTS]; /* of the present sample */
	struct str text;
	void (*progress)(void *context, double part);
	void *progress_context;
	struct replay_handlers handlers;
	/* State of profile_feed: records wait to be delivered; the source has ended, and how. */
	bool delivering, ended;
	int failed;
	struct str why;
};

enum {
	FIRST_BUCKET_NS = 1 << 20, /* about a millisecond: 4 s in all buckets */
	COARSE_CELLS = 8, /* of an event, that are remembered without users */
};

/* reader NULL: it is being recorded. */
static int make(struct profile **profile, const struct profile_options *options, struct reader *reader,
		const struct recording_info *recording, struct record_source *source, struct str *err)
{
	struct profile *made = xcalloc(1, sizeof(*made));
	int code;

	*profile = made;
	made->options = *options;
	made->options.session.sym.of_now = !reader;
	if (options->shape.trace.fields)
		made->options.shape.trace.fields = made->trace_fields = xstrdup(options->shape.trace.fields);
	made->bucket_ns = FIRST_BUCKET_NS;
	spill_init(&made->spill);
	str_init(&made->order_failed);
	code = reader ? session_init(&made->session, reader, &made->options.session, err)
		      : session_init_live(&made->session, recording, source, &made->options.session, err);
	if (!code)
		code = filters_new(&made->filters, &made->options.filters, &made->session, err);
	made->session.names_unseen = options->names_unseen;
	made->session.files_shown = options->files_filtered ? made->filters : NULL;
	if (code) {
		profile_free(made);
		*profile = NULL;
	}
	return code;
}

int profile_new(struct profile **profile, const struct profile_options *options, struct reader *reader,
		struct str *err)
{
	return make(profile, options, reader, NULL, NULL, err);
}

int profile_new_live(struct profile **profile, const struct profile_options *options,
		     const struct recording_info *recording, struct record_source *source, struct str *err)
{
	return make(profile, options, NULL, recording, source, err);
}

/* Frees the coarse cells that nobody uses, but for the first `kept` of them. */
static void forget_coarse(struct profile_event *event, size_t kept)
{
	size_t n = 0;

	for (size_t i = 0; i < event->n_coarse; i++) {
		if (event->coarse[i]->users || n < kept) {
			event->coarse[n++] = event->coarse[i];
			continue;
		}
		cells_release(&event->coarse[i]->cells);
		free(event->coarse[i]);
	}
	event->n_coarse = n;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	profile_end(profile);
	for (size_t i = 0; i < profile->n_events; i++) {
		forget_coarse(profile->events[i], 0);
		free(profile->events[i]->coarse);
		cells_release(&profile->events[i]->cells);
		cells_release(&profile->events[i]->runs);
		sample_order_free(profile->events[i]->order);
		free(profile->events[i]);
	}
	free(profile->events);
	texts_free(profile->texts);
	trace_texts_free(profile->trace_texts);
	free(profile->trace_fields);
	free(profile->kept_stacks.v);
	task_names_free(profile->tasks);
	thread_counts_release(&profile->thread_counts);
	spill_release(&profile->spill);
	str_release(&profile->order_failed);
	filters_free(profile->filters);
	session_release(&profile->session);
	free(profile);
}

static void widen_buckets(struct profile *profile, unsigned shift)
{
	const struct cell_moves moves = { .bucket_shift = shift };

	for (size_t i = 0; i < profile->n_events; i++) {
		struct cells *cells = &profile->events[i]->cells, old = *cells;

		cells_move(cells, &old, cells_facts(&old), &moves);
		cells_release(&old);
	}
	profile->bucket_ns <<= shift;
}

static unsigned buckets_max(const struct profile *profile)
{
	return profile->options.shape.buckets ? profile->options.shape.buckets : PROFILE_BUCKETS;
}

/* Makes buckets as wide as they will be in the end, where the header knows it: none is widened on the way. */
static void begin_buckets(struct profile *profile, uint64_t time_ns)
{
	uint64_t last_ns = profile->session.recording->info->last_sample_ns;

	profile->bucket_origin_ns = time_ns;
	while (last_ns > time_ns && (last_ns - time_ns) / profile->bucket_ns >= buckets_max(profile))
		profile->bucket_ns <<= 1;
}

/* The bucket of a time; widens all of them until it is one of buckets_max. */
static uint32_t bucket_of(struct profile *profile, uint64_t time_ns)
{
	uint64_t since_ns;
	unsigned shift = 0;

	if (!profile->bucket_origin_ns)
		begin_buckets(profile, time_ns);
	since_ns = time_ns > profile->bucket_origin_ns ? time_ns - profile->bucket_origin_ns : 0;
	while (since_ns / profile->bucket_ns >> shift >= buckets_max(profile))
		shift++;
	if (shift)
		widen_buckets(profile, shift);
	return (uint32_t)(since_ns / profile->bucket_ns);
}

/* ---- cells with fewer facts ---- */

const struct cells *profile_cells(struct profile *profile, size_t at, uint64_t facts)
{
	static const struct cell_moves none;
	struct profile_event *event = profile->events[at];
	const struct cells *from = &event->cells;
	struct coarse_cells *coarse = NULL;

	if (event->coarse_samples != event->totals.n_samples)
		forget_coarse(event, 0);
	event->coarse_samples = event->totals.n_samples;
	facts &= cells_facts(&event->cells);
	for (size_t i = 0; i < event->n_coarse; i++)
		if (!(facts & ~cells_facts(&event->coarse[i]->cells)) && event->coarse[i]->cells.n <= from->n) {
			coarse = event->coarse[i];
			from = &coarse->cells;
		}
	if (cells_facts(from) != facts) {
		coarse = xcalloc(1, sizeof(*coarse));
		cells_move(&coarse->cells, from, facts, &none);
		/* The first one stays: it is what most others are made of. */
		if (event->n_coarse >= COARSE_CELLS)
			forget_coarse(event, 1);
		VEC_GROW(event->coarse, event->n_coarse, event->cap_coarse);
		event->coarse[event->n_coarse++] = coarse;
	}
	if (coarse)
		coarse->users++;
	return coarse ? &coarse->cells : from;
}

void profile_cells_done(struct profile *profile, size_t at, const struct cells *cells)
{
	struct profile_event *event = profile->events[at];

	for (size_t i = 0; i < event->n_coarse; i++)
		if (&event->coarse[i]->cells == cells)
			event->coarse[i]->users--;
}

void profile_forget_coarse(struct profile *profile)
{
	for (size_t i = 0; i < profile->n_events; i++)
		forget_coarse(profile->events[i], 0);
}

static uint64_t fact_comm(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return sample->thread->comm;
}

static uint64_t fact_pid(struct collect *collect, const struct replay_sample *sample)
{
	task_names_want(collect->profile->tasks, sample->thread);
	return task_names_pid(sample->thread);
}

static uint64_t fact_tid(struct collect *collect, const struct replay_sample *sample)
{
	task_names_want(collect->profile->tasks, sample->thread);
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

static uint64_t fact_bucket(struct collect *collect, const struct replay_sample *sample)
{
	return bucket_of(collect->profile, sample->sample->time_ns);
}

static uint64_t fact_stack(struct collect *collect, const struct replay_sample *sample)
{
	return session_stack(&collect->profile->session, sample);
}

/* The location of a cut chain depends on what is left of it. */
static uint64_t cut_location(struct collect *collect, const struct replay_sample *sample)
{
	struct session *session = &collect->profile->session;
	const uint64_t stack = collect->facts[FACT_STACK] = fact_stack(collect, sample);

	return session_own_location(session, sample,
				    stack ? session->stacks->v[stack].location : (uint32_t)LOCATION_NONE);
}

static uint64_t fact_location(struct collect *collect, const struct replay_sample *sample)
{
	struct session *session = &collect->profile->session;

	if (session->options.part != STACK_WHOLE)
		return cut_location(collect, sample);
	return collect->profile->options.shape.by_function ? session_ip_function(session, sample) :
						     session_ip_location(session, sample);
}

static uint64_t fact_data_location(struct collect *collect, const struct replay_sample *sample)
{
	return session_data_location(&collect->profile->session, sample);
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
	const struct profile *profile = collect->profile;

	str_reset(&collect->text);
	trace_texts_add(profile->trace_texts, sample->event, sample->sample, &collect->text);
	return texts_intern(profile->texts, collect->text.s, collect->text.len);
}

static uint64_t fact_state(struct collect *collect, const struct replay_sample *sample)
{
	const uint16_t misc = sample->body->misc;

	(void)collect;
	if (!sample->event || !(event_has_waits(sample->event) ||
				(misc & MISC_SWITCH_OUT && event_is_wall_clock(sample->event))))
		return TASK_RUNNING;
	if (misc & MISC_SWITCH_OUT_PREEMPT)
		return TASK_PREEMPTED;
	if (sample->event->counted && misc & (MISC_WAIT_SLEEPING | MISC_WAIT_DISK))
		return misc & MISC_WAIT_DISK ? TASK_DISK : TASK_SLEEPING;
	return TASK_WAITING;
}

static uint64_t fact_parallelism(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return sample->parallelism;
}

static uint64_t fact_misc(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return sample->mode | (sample->body->misc & MISC_EXACT_IP);
}

/*
 * To add a fact: an enum in profile.h, a row here: how it is worked out, or which word of struct sample it is
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
	[FACT_BUCKET] = { .get = fact_bucket },
	[FACT_LOCATION] = { .get = fact_location },
	[FACT_STACK] = { .get = fact_stack },
	[FACT_DATA_LOCATION] = { .get = fact_data_location },
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
	[FACT_PARALLELISM] = { .get = fact_parallelism },
	[FACT_STATE] = { .get = fact_state },
#undef WORD
};

static void choose_facts(struct collect *collect, uint64_t kept)
{
	collect->n_rows = 0;
	/* The location of a cut chain fills in the stack, too. */
	if (kept >> FACT_LOCATION & 1 && collect->profile->session.options.part != STACK_WHOLE)
		kept &= ~(1ULL << FACT_STACK);
	for (unsigned f = 0; f < FACTS; f++)
		if (kept >> f & 1 && (fact_rows[f].get || fact_rows[f].bits))
			collect->rows[collect->n_rows++] = (uint8_t)f;
}

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

enum { TIME_QUANTUM_NS = 100000000, STEP_RECORDS = 256 };

/* ---- what is kept ---- */

/* Facts that will be given names: then samples are counted per location, for the notes at the end. */
static const uint64_t location_facts = 1ULL << FACT_LOCATION | 1ULL << FACT_STACK | 1ULL << FACT_FROM | 1ULL << FACT_TO;

static void keep_facts(struct collect *collect)
{
	struct profile *profile = collect->profile;
	uint64_t kept = profile->options.shape.facts;

	collect->count_locations = kept & location_facts;
	if (profile->options.shape.branches)
		kept &= ~(1ULL << FACT_LOCATION); /* it is the branch's target */
	else if (collect->count_locations)
		kept |= 1ULL << FACT_LOCATION;
	if (kept >> FACT_TRACE & 1 && !profile->texts) {
		profile->texts = texts_new();
		profile->trace_texts = trace_texts_new(&profile->session, &profile->options.shape.trace);
	}
	if (profile->options.shape.in_order)
		kept |= SAMPLE_ORDER_FACTS;
	if (kept & (1ULL << FACT_PID | 1ULL << FACT_TID) && !profile->tasks)
		profile->tasks = task_names_new();
	choose_facts(collect, kept);
}

static const uint64_t run_facts = 1ULL << FACT_FROM | 1ULL << FACT_BLOCK_START | 1ULL << FACT_BRANCH_CYCLES;

/* Cells for all events known by now. */
static void make_events(struct profile *profile)
{
	size_t n = profile->session.recording->events->n;

	profile->events = xreallocarray(profile->events, n + 1, sizeof(*profile->events));
	for (; profile->n_events < n; profile->n_events++) {
		struct profile_event *event = xcalloc(1, sizeof(*event));

		cells_init(&event->cells, profile->options.shape.facts);
		cells_init(&event->runs, profile->options.shape.runs ? run_facts : 0);
		event->order = profile->options.shape.in_order ? sample_order_new() : NULL;
		profile->events[profile->n_events] = event;
	}
}

static void know_events(struct collect *collect)
{
	make_events(collect->profile);
	keep_facts(collect);
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

static void add_to(struct collect *collect, struct profile_event *event, const struct replay_sample *sample, bool taken,
		   const struct cell_values *values)
{
	add_totals(&event->totals, sample->mode, values);
	if (cells_have(&event->cells, FACT_PARALLELISM)) {
		event->totals.latency += sample_latency(values->period, sample->parallelism);
		event->n_alone += sample->parallelism == 1;
	}
	if (taken)
		cells_add(&event->cells, collect->facts, values);
}

/* The code that branch i ended began where the branch before it went to, if all branches were recorded. */
static uint64_t block_start(struct session *session, const struct replay_sample *sample, uint64_t i)
{
	const struct sample *s = sample->sample;

	if (i + 1 >= s->n_branches || !(sample->event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_ANY))
		return LOCATION_NONE;
	return session_address_location(session, sample, s->branches[i + 1].to);
}

/* One cell per branch, each worth one. */
static void add_branches(struct collect *collect, struct profile_event *event,
			 const struct replay_sample *sample, bool taken)
{
	struct session *session = &collect->profile->session;
	const struct sample *s = sample->sample;
	uint64_t *facts = collect->facts;

	for (uint64_t i = 0; i < s->n_branches; i++) {
		const struct sample_branch *branch = &s->branches[i];
		uint64_t cycles = branch_cycles(branch->flags);
		struct cell_values values = { 1, 1, cycles ? cycles : 1 };

		facts[FACT_FROM] = session_address_location(session, sample, branch->from);
		facts[FACT_TO] = session_address_location(session, sample, branch->to);
		facts[FACT_LOCATION] = facts[FACT_TO];
		facts[FACT_BRANCH_FLAGS] =
			branch->flags & ~(UINT64_C(0xffff) << 4);
		facts[FACT_BRANCH_CYCLES] = cycles;
		facts[FACT_WEIGHT] = values.weight;
		if (cells_have(&event->cells, FACT_BLOCK_START))
			facts[FACT_BLOCK_START] = block_start(session, sample, i);
		if (collect->count_locations && taken)
			session->locations->v[facts[FACT_TO]].n_samples++;
		add_to(collect, event, sample, taken, &values);
	}
}

static void add_runs(struct session *session, struct profile_event *event, const struct replay_sample *sample)
{
	const struct sample *s = sample->sample;
	uint64_t facts[FACTS] = { 0 };

	for (uint64_t i = 0; i < s->n_branches; i++) {
		const uint64_t cycles = branch_cycles(s->branches[i].flags);
		const struct cell_values values = { 1, 1, cycles };

		if (!cycles)
			continue;
		facts[FACT_FROM] = session_address_location(session, sample, s->branches[i].from);
		facts[FACT_BLOCK_START] = block_start(session, sample, i);
		facts[FACT_BRANCH_CYCLES] = cycles;
		cells_add(&event->runs, facts, &values);
	}
}

static void add_share(struct collect *collect, const struct replay_sample *sample,
		      const struct sample_share *share, bool taken)
{
	struct profile_event *event = collect->profile->events[share->event->index];
	struct cell_values values = { data_sample_count(sample->event, sample->sample), share->period,
				      sample->event->counted ? 0 : sample_weight(sample->sample) };

	if (collect->profile->options.shape.branches) {
		add_branches(collect, event, sample, taken);
		return;
	}
	if (event->order && taken && !share->event->counted && !collect->profile->order_failed.len)
		sample_order_add(event->order, &collect->profile->spill, collect->facts, sample, share,
				 &collect->profile->order_failed);
	if (collect->profile->options.shape.runs && taken)
		add_runs(&collect->profile->session, event, sample);
	if (collect->profile->options.shape.weights) /* memory samples are worth their latency */
		values.period = values.weight ? values.weight : 1;
	add_to(collect, event, sample, taken, &values);
}

static void expect_kernel(struct collect *collect, const struct dso *dso)
{
	if (collect->kernel_expected || !dso || dso->kind != DSO_KERNEL)
		return;
	collect->kernel_expected = true;
	symbols_expect(collect->profile->session.symbols, dso);
}

static void count_location(struct collect *collect, const struct replay_sample *sample)
{
	struct session *session = &collect->profile->session;
	struct location_row *row = &session->locations->v[collect->facts[FACT_LOCATION]];

	row->n_samples += data_sample_count(sample->event, sample->sample);
	expect_kernel(collect, row->dso);
}

static void keep_stack(struct kept_stacks *kept, size_t stack)
{
	VEC_REACH(kept->v, kept->n_v, stack);
	kept->n += !kept->v[stack];
	kept->v[stack] = true;
}

/* True: it is among the first stacks_max of them. */
static bool keeps_stack(struct profile *profile, uint64_t stack)
{
	struct kept_stacks *kept = &profile->kept_stacks;
	size_t max = profile->options.shape.stacks_max;

	if (!max || (stack < kept->n_v && kept->v[stack]))
		return true;
	if (kept->n >= max) {
		kept->n_left_out++;
		return false;
	}
	keep_stack(kept, stack);
	return true;
}

void profile_count_stacks(struct profile *profile)
{
	struct kept_stacks *kept = &profile->kept_stacks;

	if (kept->n)
		memset(kept->v, 0, kept->n_v * sizeof(*kept->v));
	kept->n = 0;
	for (size_t i = 0; i < profile->n_events && profile->options.shape.stacks_max; i++) {
		const struct cells *cells = &profile->events[i]->cells;

		for (size_t k = 0; k < cells->n; k++)
			keep_stack(kept, cell_fact(cells, k, FACT_STACK));
	}
}

static int take_sample(void *context, struct replay *replay, const struct replay_sample *sample,
		       struct str *err)
{
	struct collect *collect = context;
	struct profile *profile = collect->profile;
	const struct sample_share *shares;
	size_t n = session_shares(&profile->session, sample, &shares);
	bool taken;

	(void)replay, (void)err;
	if (!sample->event || filters_drop_sample(profile->filters, sample))
		return 0;
	if (profile->n_events != profile->session.recording->events->n)
		know_events(collect);
	taken = filters_take_task(profile->filters, sample);
	if (taken) {
		fill_facts(collect, sample);
		if (collect->count_locations && !profile->options.shape.branches)
			count_location(collect, sample);
		taken = keeps_stack(profile, collect->facts[FACT_STACK]);
	}
	for (size_t i = 0; i < n; i++)
		add_share(collect, sample, &shares[i], taken);
	return 0;
}

static int take_other(void *context, struct replay *replay, const struct record *record,
		      const struct record_body *body, struct thread *thread, struct str *err)
{
	struct collect *collect = context;
	struct profile *profile = collect->profile;

	(void)replay, (void)thread, (void)err;
	if (record->type == RECORD_READ)
		thread_counts_add(&profile->thread_counts, profile->session.recording->events, body);
	return 0;
}

static void thread_gone(void *context, struct thread *thread)
{
	const struct collect *collect = context;

	if (collect->profile->tasks)
		task_names_last(collect->profile->tasks, thread);
}

static void show_progress(void *context, double part)
{
	struct collect *collect = context;

	if (collect->progress)
		collect->progress(collect->progress_context, part);
}

/* ---- all at once, or in steps ---- */

static void begin(struct profile *profile, void (*progress)(void *context, double part), void *context)
{
	const struct profile_shape *shape = &profile->options.shape;
	struct collect *collect = xcalloc(1, sizeof(*collect));

	*collect = (struct collect){
		.profile = profile,
		.quantum_ns = shape->time_quantum_ns ? shape->time_quantum_ns : TIME_QUANTUM_NS,
		.text = STR_INIT,
		.why = STR_INIT,
		.progress = progress,
		.progress_context = context,
	};
	collect->handlers = (struct replay_handlers){
		.context = collect,
		.sample = take_sample,
		.other = profile->options.threads_counted ? take_other : NULL,
		.thread_gone = thread_gone,
		.source = profile->session.source,
		.progress = show_progress,
	};
	profile->collect = collect;
	replay_begin(&profile->session.replay, &collect->handlers);
	know_events(collect);
}

void profile_end(struct profile *profile)
{
	const struct replay *replay = &profile->session.replay;
	struct collect *collect = profile->collect;

	if (!collect)
		return;
	for (size_t i = 0; i < replay->n_threads; i++)
		thread_gone(collect, replay->threads[i]);
	session_end_samples(&profile->session);
	str_release(&collect->text);
	str_release(&collect->why);
	free(collect);
	profile->collect = NULL;
}

int profile_read(struct profile *profile, void (*progress)(void *context, double part), void *context,
		 struct str *err)
{
	int code;

	profile->n_changes++;
	begin(profile, progress, context);
	code = replay_run(&profile->session.replay, profile->session.source, &profile->collect->handlers, err);
	profile_end(profile);
	return code;
}

/* At most STEP_RECORDS of them: 1: there are more; PROFILE_FED_LATER; 0: all were taken. */
static int take_some(struct collect *collect, struct record_source *source, struct str *err)
{
	struct replay *replay = &collect->profile->session.replay;
	struct record record;
	int rc = 0;

	if (collect->delivering) {
		rc = replay_deliver(replay, STEP_RECORDS, err);
		collect->delivering = rc > 0;
		if (!rc && collect->ended)
			return replay_end(replay, err);
	}
	for (int i = 0; !rc && i < STEP_RECORDS && !collect->delivering; i++) {
		int got = source->next(source, &record, &collect->why);

		if (got == SOURCE_RECORD) {
			rc = replay_feed(replay, &record, err);
			continue;
		}
		if (got == SOURCE_LATER)
			return PROFILE_FED_LATER;
		collect->ended = got != SOURCE_ROUND;
		collect->failed = got < 0 ? got : 0;
		collect->delivering = true;
		replay_ready(replay, collect->ended);
	}
	return rc < 0 ? rc : 1;
}

int profile_feed(struct profile *profile, struct record_source *source, uint64_t budget_ns, struct str *err)
{
	uint64_t begin_ns = now_ns();
	const struct map *kernel;
	int rc;

	profile->n_changes++;
	if (!profile->collect)
		begin(profile, NULL, NULL);
	kernel = address_space_next(profile->session.replay.kernel, NULL);
	/* The kernel's list is read while it is recorded. */
	if (kernel && profile->options.shape.by_function && !profile->session.reader)
		expect_kernel(profile->collect, kernel->dso);
	do
		rc = take_some(profile->collect, source, err);
	while (rc == 1 && now_ns() - begin_ns < budget_ns);
	if (!rc && profile->collect->failed)
		rc = fail(err, profile->collect->failed, "%s", profile->collect->why.s);
	return rc;
}
