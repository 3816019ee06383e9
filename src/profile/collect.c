/*
 * The pass over the recording: sample -> facts -> cell, at once or in steps. The names of addresses are not looked at
 * here, that is done once per distinct location afterwards.
 */
#include "profile/collect.h"
#include "profile/session_internal.h"

#include <errno.h>
#include <stdlib.h>

enum { TIME_QUANTUM_NS = 100000000, STEP_RECORDS = 256 };

/* ---- what is kept ---- */

/* Facts that will be given names: then samples are counted per location, for the notes at the end. */
static const uint64_t location_facts = 1ULL << FACT_LOCATION | 1ULL << FACT_STACK | 1ULL << FACT_FROM | 1ULL << FACT_TO;

static void keep_facts(struct collect *collect)
{
	struct profile *profile = collect->profile;
	uint64_t kept = profile->shape.facts;

	collect->count_locations = kept & location_facts;
	if (profile->shape.branches)
		kept &= ~(1ULL << FACT_LOCATION); /* it is the branch's target */
	else if (collect->count_locations)
		kept |= 1ULL << FACT_LOCATION;
	if (kept >> FACT_TRACE & 1 && !profile->texts)
		profile->texts = texts_new();
	if (kept & (1ULL << FACT_PID | 1ULL << FACT_TID) && !profile->tasks)
		profile->tasks = task_names_new();
	collect_choose_facts(collect, kept);
}

/* Cells for all events known by now; what they keep is decided when there are any. */
static int make_events(struct profile *profile, struct str *err)
{
	size_t n = profile->session.recording->events->n;
	int code = profile_decide(profile, err);

	if (code)
		return code;
	profile->events = xreallocarray(profile->events, n + 1, sizeof(*profile->events));
	for (; profile->n_events < n; profile->n_events++) {
		struct profile_event *event = xcalloc(1, sizeof(*event));

		cells_init(&event->cells, profile->shape.facts);
		profile->events[profile->n_events] = event;
	}
	return 0;
}

static int know_events(struct collect *collect, struct str *err)
{
	int code = make_events(collect->profile, err);

	if (!code)
		keep_facts(collect);
	return code;
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

static void add_to(struct collect *collect, struct profile_event *event, uint8_t mode, bool taken,
		   const struct cell_values *values)
{
	add_totals(&event->totals, mode, values);
	if (taken)
		cells_add(&event->cells, collect->facts, values);
}

int profile_add(struct profile *profile, size_t event, const uint64_t *facts, const struct cell_values *values,
		struct str *err)
{
	int code = event < profile->n_events ? 0 : make_events(profile, err);

	profile_forget_left(profile);
	if (code)
		return code;
	if (event >= profile->n_events)
		return fail(err, -EINVAL, "the recording has no event number %zu", event);
	add_totals(&profile->events[event]->totals, (uint8_t)facts[FACT_MISC], values);
	cells_add(&profile->events[event]->cells, facts, values);
	return 0;
}

/* Of a branch's flag word: bits 4 to 19 are the cycles since the last one. */
enum { BRANCH_CYCLES_SHIFT = 4, BRANCH_CYCLES_MASK = 0xffff };

/* One cell per branch, each worth one. */
static void add_branches(struct collect *collect, struct profile_event *event,
			 const struct replay_sample *sample, bool taken)
{
	struct session *session = &collect->profile->session;
	const struct sample *s = sample->sample;
	uint64_t *facts = collect->facts;

	for (uint64_t i = 0; i < s->n_branches; i++) {
		const struct sample_branch *branch = &s->branches[i];
		uint64_t cycles = branch->flags >> BRANCH_CYCLES_SHIFT & BRANCH_CYCLES_MASK;
		struct cell_values values = { 1, 1, cycles ? cycles : 1, sample->thread->tid };

		facts[FACT_FROM] = session_address_location(session, sample, branch->from);
		facts[FACT_TO] = session_address_location(session, sample, branch->to);
		facts[FACT_LOCATION] = facts[FACT_TO];
		facts[FACT_BRANCH_FLAGS] =
			branch->flags & ~((uint64_t)BRANCH_CYCLES_MASK << BRANCH_CYCLES_SHIFT);
		facts[FACT_BRANCH_CYCLES] = cycles;
		facts[FACT_WEIGHT] = values.weight;
		if (collect->count_locations && taken)
			session->locations->v[facts[FACT_TO]].n_samples++;
		add_to(collect, event, sample->mode, taken, &values);
	}
}

static void add_share(struct collect *collect, const struct replay_sample *sample,
		      const struct sample_share *share, bool taken)
{
	struct profile_event *event = collect->profile->events[share->event->index];
	struct cell_values values = { 1, share->period, collect_weight(sample->sample),
				      sample->thread->tid };

	if (collect->profile->shape.branches) {
		add_branches(collect, event, sample, taken);
		return;
	}
	if (collect->profile->shape.weights) /* memory samples are worth their latency */
		values.period = values.weight ? values.weight : 1;
	add_to(collect, event, sample->mode, taken, &values);
}

static void expect_kernel(struct collect *collect, const struct dso *dso)
{
	if (collect->kernel_expected || !dso || dso->kind != DSO_KERNEL)
		return;
	collect->kernel_expected = true;
	symbols_expect(collect->profile->session.symbols, dso);
}

static void count_location(struct collect *collect)
{
	struct session *session = &collect->profile->session;
	struct location_row *row = &session->locations->v[collect->facts[FACT_LOCATION]];

	row->n_samples++;
	expect_kernel(collect, row->dso);
}

static int take_sample(void *context, struct replay *replay, const struct replay_sample *sample,
		       struct str *err)
{
	struct collect *collect = context;
	struct profile *profile = collect->profile;
	const struct sample_share *shares;
	size_t n = session_shares(&profile->session, sample, &shares);
	bool taken;

	(void)replay;
	if (!sample->event || filters_drop_sample(profile->filters, sample))
		return 0;
	if (profile->n_events != profile->session.recording->events->n) {
		int code = know_events(collect, err);

		if (code)
			return code;
	}
	taken = filters_take_task(profile->filters, sample);
	if (taken) {
		collect_fill_facts(collect, sample);
		if (collect->count_locations && !profile->shape.branches)
			count_location(collect);
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

static int begin(struct profile *profile, void (*progress)(void *context, double part), void *context, struct str *err)
{
	struct collect *collect = xcalloc(1, sizeof(*collect));

	*collect = (struct collect){
		.profile = profile,
		.quantum_ns = profile->options.time_quantum_ns ? profile->options.time_quantum_ns : TIME_QUANTUM_NS,
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
	return profile->session.recording->events->n ? know_events(collect, err) : 0;
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
	int code = begin(profile, progress, context, err);

	if (!code)
		code = replay_run(&profile->session.replay, profile->session.source,
				  &profile->collect->handlers, err);
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
	int rc = profile->collect ? 0 : begin(profile, NULL, NULL, err);
	const struct map *kernel;

	profile_forget_left(profile);
	if (rc)
		return rc;
	kernel = address_space_next(profile->session.replay.kernel, NULL);
	if (kernel && profile->shape.by_function && !profile->session.reader) /* it is read while it is recorded */
		expect_kernel(profile->collect, kernel->dso);
	do
		rc = take_some(profile->collect, source, err);
	while (rc == 1 && now_ns() - begin_ns < budget_ns);
	if (!rc && profile->collect->failed)
		rc = fail(err, profile->collect->failed, "%s", profile->collect->why.s);
	return rc;
}
