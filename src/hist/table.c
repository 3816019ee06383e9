/* SPDX-License-Identifier: MIT */
/*
 * A table: what a profile answers to a question. Its hists are one per event, or per group of events, with the
 * profile's cells and totals of each member; what the question leaves out of totals, or changes in cells, is made anew
 * for the hist, for a profile is asked many times.
 *
 * Filters that were asked while the profile was read are not asked again. All others are asked of its cells, which then
 * must tell what these filters are about.
 */
#include "hist/keys_internal.h"

#include <errno.h>
#include <stdlib.h>

/* ---- can the profile answer? ---- */

/* Each filter that the profile was read with is asked, too; by time and switches nothing else is asked. */
static bool is_narrower(const struct filter_options *read, const struct filter_options *asked)
{
	const char *const texts[][2] = {
		{ read->comms, asked->comms }, { read->dsos, asked->dsos }, { read->symbols, asked->symbols },
		{ read->pids, asked->pids },   { read->tids, asked->tids }, { read->cpus, asked->cpus },
		{ read->sockets, asked->sockets }, { read->parallelism, asked->parallelism },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i][0] && !text_same(texts[i][0], texts[i][1]))
			return false;
	return read->kernel_hidden <= asked->kernel_hidden && read->user_hidden <= asked->user_hidden &&
	       text_same(read->time, asked->time) && text_same(read->switch_on, asked->switch_on) &&
	       text_same(read->switch_off, asked->switch_off) && read->switches_shown == asked->switches_shown &&
	       read->idle_hidden <= asked->idle_hidden;
}

static bool are_same(const struct filter_options *a, const struct filter_options *b)
{
	return is_narrower(a, b) && is_narrower(b, a) && text_same(a->symbol_filter, b->symbol_filter);
}

static bool same_traces(const struct trace_pieces *kept, const struct trace_pieces *asked)
{
	return text_same(kept->fields, asked->fields) && kept->whole >= asked->whole && kept->raw == asked->raw;
}

/* facts: of the question, and what its filters ask of cells. */
static bool cells_answer(const struct profile *profile, const struct question *question, uint64_t facts)
{
	const struct profile_shape *kept = &profile->options.shape, *asked = &question->shape;

	return !(facts & ~kept->facts) && asked->by_function >= kept->by_function &&
	       asked->branches == kept->branches && asked->weights == kept->weights &&
	       is_narrower(&profile->options.filters, &question->query.filters) &&
	       (!(facts & FACT(TRACE)) || same_traces(&kept->trace, &asked->trace)) &&
	       (!(facts & FACT(TIME)) || asked->time_quantum_ns == kept->time_quantum_ns) &&
	       question->query.threads_counted <= profile->options.threads_counted;
}

/* ---- hists ---- */

static bool recording_has_groups(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->v[i]->leader == i && events->v[i]->n_members > 1)
			return true;
	return false;
}

static const struct data_event *leader_of(const struct table *table,
					  const struct data_event *event, size_t *n_members)
{
	const struct events *events = table->session->recording->events;
	bool own = recording_has_groups(events);
	size_t n;

	*n_members = 1;
	if (table->question->query.group_off || (!own && !table->question->query.group))
		return event;
	if (!own) {
		*n_members = events->n;
		return events->v[0];
	}
	/* A file may say anything; members stand behind their leader. */
	if (event->leader > event->index || event->leader >= events->n)
		return event;
	n = events->v[event->leader]->n_members;
	if (n > events->n - event->leader)
		n = events->n - event->leader;
	if (event->index - event->leader >= n)
		return event;
	*n_members = n;
	return events->v[event->leader];
}

static struct hist *find_hist(struct table *table, const struct data_event *leader)
{
	for (size_t i = 0; i < table->n_hists; i++)
		if (table->hists[i].event == leader)
			return &table->hists[i];
	table->hists = xreallocarray(table->hists, table->n_hists + 1, sizeof(*table->hists));
	table->hists[table->n_hists] = (struct hist){ .event = leader };
	return &table->hists[table->n_hists++];
}

/* The cells of a member whose event had not come when the recording ended. */
static const struct cells no_cells;

void hist_grow(struct hist *hist, size_t n)
{
	size_t old = hist->n_members;

	if (n <= old)
		return;
	hist->n_members = n;
	hist->cells = xreallocarray(hist->cells, n, sizeof(*hist->cells));
	hist->asked = xreallocarray(hist->asked, n, sizeof(*hist->asked));
	for (size_t i = old; i < n; i++)
		hist->cells[i] = hist->asked[i] = &no_cells;
	if (n == 1)
		return;
	hist->member_totals = xreallocarray(hist->member_totals, n, sizeof(*hist->member_totals));
	hist->member_shown = xreallocarray(hist->member_shown, n, sizeof(*hist->member_shown));
	for (size_t i = old > 1 ? old : 0; i < n; i++)
		hist->member_totals[i] = hist->member_shown[i] = (struct entry_stats){ 0 };
}

static void table_release_hists(struct table *table)
{
	for (size_t i = 0; i < table->n_hists; i++) {
		struct hist *hist = &table->hists[i];

		for (size_t m = 0; m < hist->n_members; m++)
			if (hist->event->index + m < table->profile->n_events)
				profile_cells_done(table->profile, hist->event->index + m, hist->asked[m]);
		hist_release(hist);
	}
	free(table->hists);
}

void hist_release(struct hist *hist)
{
	if (hist->memory)
		arena_release(hist->memory);
	free(hist->memory);
	free(hist->entries);
	free(hist->widths);
	for (size_t i = 0; hist->own && i < hist->n_members; i++) {
		cells_release(hist->own[i]);
		free(hist->own[i]);
	}
	free(hist->own);
	free(hist->cells);
	free(hist->asked);
	free(hist->member_totals);
	free(hist->member_shown);
	hist_blocks_free(hist->blocks);
	free(hist->sums);
}

struct hist *table_hist_of(const struct table *table, const char *event)
{
	struct str name = STR_INIT;
	struct hist *found = NULL;

	for (size_t i = 0; i < table->n_hists && !found; i++) {
		str_reset(&name);
		data_event_add_name(table->hists[i].event, &name);
		found = !strcmp(name.s, event) ? &table->hists[i] : NULL;
	}
	str_release(&name);
	return found;
}

struct cells *hist_own_cells(struct hist *hist, size_t member)
{
	if (!hist->own)
		hist->own = xcalloc(hist->n_members, sizeof(*hist->own));
	hist->own[member] = xcalloc(1, sizeof(*hist->own[member]));
	cells_init(hist->own[member], cells_facts(hist->cells[member]));
	return hist->own[member];
}

/* Filters that leave samples out of the totals, too, and can be asked of cells. */
static bool totals_filtered(const struct filter_options *filters)
{
	return filters->cpus || filters->kernel_hidden || filters->user_hidden || filters->idle_hidden;
}

/* The totals of what these leave, from cells that know their CPU, mode and process. */
static struct entry_stats left_totals(const struct table *table, const struct cells *cells)
{
	struct entry_stats totals = { 0 };

	for (size_t i = 0; i < cells->n; i++)
		if (!filters_drop_cell(table->filters, cells, i)) {
			struct entry_stats stats = cell_stats(cells, i);

			entry_stats_add(&totals, &stats);
		}
	return totals;
}

/* ---- latency that nobody asked for ---- */

/* Samples of the event that are in the totals, and those of a thread that ran alone. */
static void count_alone(const struct table *table, const struct profile_event *event, uint64_t *n, uint64_t *n_alone)
{
	const struct cells *cells = &event->cells;

	if (table_is_read_filtered(table) || !totals_filtered(&table->question->query.filters)) {
		*n += event->totals.n_samples;
		*n_alone += event->n_alone;
		return;
	}
	for (size_t i = 0; i < cells->n; i++) {
		const uint64_t n_samples = filters_drop_cell(table->filters, cells, i) ? 0 : cells->values[i].n_samples;

		*n += n_samples;
		*n_alone += cell_fact(cells, i, FACT_PARALLELISM) == 1 ? n_samples : 0;
	}
}

/*
 * Latency is left out where 99 of 100 samples are of a thread that ran alone: it would say what overhead says. As in
 * perf; then nothing tells rows apart by it, either.
 */
static void leave_out_latency(struct table *table)
{
	const struct question *question = table->question;
	uint64_t n = 0, n_alone = 0, facts = filter_facts(&question->query.filters);

	if (!question->private->latency_unasked)
		return;
	for (size_t i = 0; i < table->profile->n_events; i++)
		count_alone(table, table->profile->events[i], &n, &n_alone);
	table->private->latency_left_out = n_alone * 100 >= n * 99;
	for (size_t i = 0; i < question->n_keys; i++)
		facts |= question->keys[i]->facts;
	if (table->private->latency_left_out && !(facts & FACT(PARALLELISM)))
		table->private->facts &= ~FACT(PARALLELISM);
}

static void table_make_hists(struct table *table)
{
	const struct profile *profile = table->profile;

	for (size_t i = 0; i < profile->n_events; i++) {
		const struct data_event *event = table->session->recording->events->v[i];
		const struct profile_event *samples = profile->events[i];
		size_t n_members, member;
		const struct data_event *leader = leader_of(table, event, &n_members);
		struct hist *hist = find_hist(table, leader);
		struct entry_stats totals = samples->totals;

		hist_grow(hist, n_members);
		member = event->index - leader->index;
		hist->cells[member] = hist->asked[member] =
			profile_cells(table->profile, i, table->private->facts);
		if (!table_is_read_filtered(table) && totals_filtered(&table->question->query.filters))
			totals = left_totals(table, hist->cells[member]);
		if (member)
			hist->member_totals[member] = totals;
		else
			hist->totals = totals;
	}
}

/* ---- contract ---- */

/* An empty table says why. */
static void add_emptiness(struct table *table)
{
	struct session *session = table->session;
	const char *part = table->question->query.filters.symbol_filter;
	size_t n_entries = 0, n_shown = 0;

	filters_add_note(table->filters, &table->question->query.filters, session, &table->notes);
	for (size_t i = 0; i < table->n_hists; i++) {
		const struct hist *hist = &table->hists[i];

		n_entries += hist->n;
		n_shown += table->question->query.needs & NEED_ENTRIES ? 0 : hist->shown.n_samples;
		for (size_t k = 0; k < hist->n && !n_shown; k++)
			n_shown += entry_is_shown(table, hist, hist->entries[k]);
	}
	if (part && table->n_hists && !n_shown)
		note_add(&table->notes, false, NULL,
			 "nothing is left by --symbol-filter: no function's name contains it");
	else if (n_entries && !n_shown && table->question->query.percent_limit > 0)
		note_add(&table->notes, false, NULL,
			 "nothing is left by --percent-limit %g: all %zu rows are below it",
			 table->question->query.percent_limit, n_entries);
	if (!session->replay.counts.samples)
		note_add(&table->notes, false, NULL, "the recording has no samples");
}

static void fold(struct table *table)
{
	table_make_hists(table);
	hists_ignore_callees(table);
	table_count_ipc(table);
	table->private->n_blocks = hist_blocks_count(table);
	for (size_t i = 0; i < table->n_hists; i++)
		hist_fold(table, &table->hists[i]);
	table_columns_for(table, NULL);
	add_emptiness(table);
	table_add_types_note(table);
}

/* Takes the filters that the profile was read with, or makes own ones that are asked of its cells. */
static int choose_filters(struct table *table, struct str *err)
{
	struct filter_options asked = question_filters(table->question);

	table->private->facts = table->question->shape.facts;
	if (are_same(&table->profile->options.filters, &asked)) {
		table->filters = table->profile->filters;
		return 0;
	}
	asked.time = asked.switch_on = asked.switch_off = NULL;
	table->private->facts |= filter_facts(&asked);
	return filters_new(&table->filters, &asked, table->session, err);
}

int table_make(struct table **table, struct profile *profile, const struct question *question,
	       struct fold_cache *cache, struct str *err)
{
	struct table *made = *table = xcalloc(1, sizeof(*made));
	int code;

	made->question = question;
	made->profile = profile;
	made->session = &profile->session;
	made->columns = xcalloc(question->n_columns * MEM_ANSWERS_MAX + 1, sizeof(*made->columns));
	made->private = xcalloc(1, sizeof(*made->private));
	note_list_join(&made->notes, &question->notes);
	code = choose_filters(made, err);
	if (!code && !cells_answer(profile, question, made->private->facts))
		code = -EAGAIN;
	if (code) {
		table_free(made);
		*table = NULL;
		return code;
	}
	leave_out_latency(made);
	fold_cache_begin(made, cache);
	fold(made);
	return 0;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	table_release_hists(table);
	fold_cache_end(table);
	if (!table_is_read_filtered(table))
		filters_free(table->filters);
	note_list_release(&table->notes);
	free(table->columns);
	function_ipcs_free(table->private->ipcs);
	free(table->private);
	free(table);
}
