/*
 * The report as a whole: what is asked for becomes facts to collect, one reading of the recording fills each
 * event's cells, and these are folded. In a pipe the events come with the records: what depends on them
 * (default keys, chains, branches) is decided when the first sample asks for its target.
 */
#include "hist/collect.h"
#include "profile/profile.h"
#include "hist/fold_internal.h"
#include "hist/keys_internal.h"
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>

/* ---- what the recording allows ---- */

static uint64_t all_sample_types(const struct events *events)
{
	uint64_t types = 0;

	for (size_t i = 0; i < events->n; i++)
		types |= events->v[i]->attr.sample_type;
	return types;
}

/* Branch stacks that were recorded for themselves, not as a way to find callchains. */
static bool has_branches(const struct reader *reader)
{
	uint64_t types = all_sample_types(&reader->events);

	if (types & PERF_SAMPLE_STACK_USER)
		return false;
	for (size_t i = 0; i < reader->events.n; i++) {
		const struct perf_event_attr *attr = &reader->events.v[i]->attr;

		if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
		    !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
			return true;
	}
	return info_has(&reader->info, FEATURE_BRANCH_STACK) && types & PERF_SAMPLE_BRANCH_STACK;
}

static int check_branches(struct table *table, struct str *err)
{
	const struct report_options *options = &table->options;
	bool has = has_branches(table->session.reader);

	if (options->branch_stack && !has)
		return fail(err, -EINVAL,
			    "--branch-stack: the recording has no branches; record "
			    "them with -b");
	if (options->branch_stack && options->mem_mode)
		return fail(err, -EINVAL, "--branch-stack and --mem-mode: one or the other");
	table->branch_view =
		options->branch_stack || (has && !options->branch_stack_off && !options->mem_mode);
	return 0;
}

/* perf gives up without chains, and prints what branches did to each frame. */
static void note_chains(struct table *table, bool has)
{
	const struct report_options *options = &table->options;

	if (options->chains_asked && options->chain.kind != CHAIN_NONE && !has)
		note_add(&table->session.notes, false, "record them with -g",
			 "--call-graph: the recording has no callchains");
	if (options->chain.branch)
		note_add(&table->session.notes, false,
			 "--branch-stack has a row for each branch, with how it went",
			 "--call-graph branch: not available; chains are shown without their branches");
}

static void choose_chains(struct table *table)
{
	const struct report_options *options = &table->options;
	const uint64_t types = all_sample_types(&table->session.reader->events);
	bool has = types & PERF_SAMPLE_CALLCHAIN && !options->no_chains && !table->branch_view;

	note_chains(table, types & PERF_SAMPLE_CALLCHAIN);
	table->chains = has && options->chain.kind != CHAIN_NONE;
	table->children = has && options->children != 0 && !options->mem_mode &&
			   options->view != VIEW_HIERARCHY;
	table->order = options->chain.order_set ? options->chain.order
			: options->children      ? CHAIN_CALLER
						 : CHAIN_CALLEE;
}

static bool has_key(const struct table *table, const char *name)
{
	for (size_t i = 0; i < table->n_keys; i++)
		if (!strcmp(table->keys[i]->name, name))
			return true;
	return false;
}

static int choose_parent(struct table *table, struct str *err)
{
	const struct report_options *options = &table->options;

	if (!has_key(table, "parent") && !options->exclude_other)
		return 0;
	if (!(all_sample_types(&table->session.reader->events) & PERF_SAMPLE_CALLCHAIN))
		return fail(err, -EINVAL,
			    "parents are looked for in callchains, and the recording has none; "
			    "record them with -g");
	return name_pattern_new(&table->private->parent, "--parent",
				options->parent ? options->parent : "^sys_|^do_page_fault", err);
}

static int choose_ignored(struct table *table, struct str *err)
{
	const char *text = table->options.ignore_callees;

	return text ? name_pattern_new(&table->private->ignored, "--ignore-callees", text, err) : 0;
}

/* ---- what is to be collected ---- */

static void choose_facts(struct table *table)
{
	const struct report_options *options = &table->options;
	struct table_private *private = table->private;
	bool folded = options->needs & NEED_STACKS;

	for (size_t i = 0; i < table->n_keys; i++)
		private->facts |= table->keys[i]->facts;
	if (options->filters.dsos || options->filters.symbols || options->filters.symbol_filter ||
	    options->hide_unresolved || folded)
		private->facts |= FACT(PLACE);
	if (options->hide_unresolved && table->branch_view)
		private->facts |= FACT(FROM) | FACT(TO);
	if (table->chains || table->children || private->parent || folded)
		private->facts |= FACT(STACK);
	if (private->ignored && !table->branch_view)
		private->facts |= FACT(STACK) | FACT(PLACE);
	if (folded)
		private->facts |= FACT(COMM);
	if (table_has_field(table, "overhead_sys") || table_has_field(table, "overhead_us") ||
	    table_has_field(table, "overhead_guest_sys") ||
	    table_has_field(table, "overhead_guest_us"))
		private->facts |= FACT(MISC);
	if (has_key(table, "srcline") || has_key(table, "srcfile") ||
	    (table->chains && options->chain.key != CHAIN_BY_FUNCTION))
		private->want |= SYM_LINES;
}

/* Is there a function's name, or its source, in what is printed? */
static bool shows_names(const struct table *table)
{
	const struct report_options *options = &table->options;
	const struct table_private *private = table->private;

	if (table->chains || private->parent || private->ignored || options->hide_unresolved ||
	    options->filters.symbols || options->filters.symbol_filter || options->needs & NEED_STACKS)
		return true;
	for (size_t i = 0; i < private->n_columns; i++) {
		const struct sort_key *key = private->columns[i].key;

		if (private->columns[i].kind == COLUMN_KEY &&
		    (key->flags & KEY_FUNCTION || !strncmp(key->name, "src", 3) ||
		     !strcmp(key->name, "symbol_size")))
			return true;
	}
	return false;
}

/* A text for each sample: of the fields or of the whole, in the order of table_trace_text. */
static int prepare_trace(struct table *table, struct str *err)
{
	struct str why = STR_INIT;

	(void)err;
	if (!(table->private->facts & FACT(TRACE)))
		return 0;
	table->private->trace_text = has_key(table, "trace");
	table->texts = texts_new();
	if (!table_open_tracepoints(table, &why) &&
	    all_sample_types(&table->session.reader->events) & PERF_SAMPLE_RAW)
		note_add(&table->session.notes, false, NULL, "tracepoints: %s", why.s);
	str_release(&why);
	return 0;
}

static int decide(struct table *table, struct str *err)
{
	const struct report_options *options = &table->options;
	struct table_private *private = table->private;
	int code = check_branches(table, err);

	if (code)
		return code;
	private->columns_made = true;
	choose_chains(table);
	code = table_make_columns(table, err);
	if (!code)
		code = choose_parent(table, err);
	if (!code)
		code = choose_ignored(table, err);
	if (code)
		return code;
	choose_facts(table);
	table->session.names_unseen = !shows_names(table);
	/* Frames of chains may be of any file. */
	if (options->filters.dsos && !table->chains && !table->children)
		table->session.files_shown = table->filters;
	row_set_init(&private->frames.ids, 2);
	row_set_init(&private->frames.values, private->n_frame_keys);
	row_set_init(&private->codes.ids, 3);
	row_set_init(&private->cgroup_ids, 2);
	return prepare_trace(table, err);
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
	const struct events *events = &table->session.reader->events;
	bool own = recording_has_groups(events);
	size_t n;

	*n_members = 1;
	if (table->options.group_off || (!own && !table->options.group))
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
	cells_init(&table->hists[table->n_hists].cells, table->private->facts);
	return &table->hists[table->n_hists++];
}

static void grow_members(struct table *table, struct hist *hist, size_t n)
{
	size_t old = hist->n_members ? hist->n_members : 1;

	if (n <= hist->n_members)
		return;
	hist->n_members = n;
	if (n == 1)
		return;
	hist->member_cells = xreallocarray(hist->member_cells, n - 1, sizeof(*hist->member_cells));
	hist->member_totals = xreallocarray(hist->member_totals, n, sizeof(*hist->member_totals));
	hist->member_shown = xreallocarray(hist->member_shown, n, sizeof(*hist->member_shown));
	if (old == 1)
		hist->member_totals[0] = hist->member_shown[0] = (struct entry_stats){ 0 };
	for (size_t i = old; i < n; i++) {
		cells_init(&hist->member_cells[i - 1], table->private->facts);
		hist->member_totals[i] = hist->member_shown[i] = (struct entry_stats){ 0 };
	}
}

/* collect_target_fn */
static int find_target(struct table *table, const struct data_event *event,
		       struct collect_target *target, struct str *err)
{
	int code = table->private->columns_made ? 0 : decide(table, err);
	const struct data_event *leader;
	struct hist *hist;
	size_t n_members, member;

	if (code)
		return code;
	leader = leader_of(table, event, &n_members);
	hist = find_hist(table, leader);
	grow_members(table, hist, n_members);
	member = event->index - leader->index;
	target->cells = member ? &hist->member_cells[member - 1] : &hist->cells;
	target->totals = member ? &hist->member_totals[member] : &hist->totals;
	return 0;
}

static void hist_release(struct hist *hist)
{
	for (size_t i = 0; i < hist->n; i++)
		entry_free(hist->entries[i]);
	free(hist->entries);
	cells_release(&hist->cells);
	for (size_t i = 1; i < hist->n_members; i++)
		cells_release(&hist->member_cells[i - 1]);
	free(hist->member_cells);
	free(hist->member_totals);
	free(hist->member_shown);
}

/* ---- contract ---- */

int table_new(struct table **table, const struct report_options *options, struct reader *reader,
	       struct str *err)
{
	struct table *made = xcalloc(1, sizeof(*made));
	struct filter_options filters = options->filters;
	int code;

	*table = made;
	made->options = *options;
	if (!made->options.needs)
		made->options.needs = NEED_ENTRIES | NEED_TREES | NEED_HEAD;
	made->options.session.replay.data_maps |= options->mem_mode;
	made->private = xcalloc(1, sizeof(*made->private));
	made->private->names = texts_new();
	str_init(&made->sort_text);
	str_init(&made->elided);
	code = session_init(&made->session, reader, &made->options.session, err);
	/* This one is for entries, not for samples: with children, of callers too. */
	if (!(made->options.needs & NEED_STACKS))
		filters.symbol_filter = NULL;
	if (!code)
		code = filters_new(&made->filters, &filters, &made->session, err);
	if (!code && reader->events.n)
		code = decide(made, err);
	if (code) {
		table_free(made);
		*table = NULL;
	}
	return code;
}

static void private_free(struct table *table)
{
	struct table_private *private = table->private;

	frames_release(&private->frames);
	free(private->codes.v);
	row_set_release(&private->codes.ids);
	row_set_release(&private->cgroup_ids);
	texts_free(private->names);
	free(private->dso_names);
	field_keys_free(table);
	free(private->slots);
	free(private->order);
	free(private->columns);
	name_pattern_free(private->parent);
	name_pattern_free(private->ignored);
	free(private);
}

void table_free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->n_hists; i++)
		hist_release(&table->hists[i]);
	free(table->hists);
	free(table->columns);
	free(table->keys);
	private_free(table);
	texts_free(table->texts);
	task_names_free(table->tasks);
	tracepoints_free(table->tracepoints);
	thread_counts_release(&table->thread_counts);
	filters_free(table->filters);
	session_release(&table->session);
	str_release(&table->sort_text);
	str_release(&table->elided);
	free(table);
}

/* An empty table says why. */
static void add_emptiness(struct table *table)
{
	struct session *session = &table->session;
	const char *part = table->options.filters.symbol_filter;
	size_t n_entries = 0, n_shown = 0;

	filters_add_note(table->filters, &table->options.filters, session);
	for (size_t i = 0; i < table->n_hists; i++) {
		const struct hist *hist = &table->hists[i];

		n_entries += hist->n;
		for (size_t k = 0; k < hist->n && !n_shown; k++)
			n_shown += entry_is_shown(table, hist, hist->entries[k]);
	}
	if (part && table->n_hists && !n_shown)
		note_add(&session->notes, false, NULL,
			 "nothing is left by --symbol-filter: it is in no function's name");
	else if (n_entries && !n_shown && table->options.percent_limit > 0)
		note_add(&session->notes, false, NULL,
			 "nothing is left by --percent-limit %g: none of the %zu rows has so much",
			 table->options.percent_limit, n_entries);
	if (!session->replay.counts.samples)
		note_add(&session->notes, false, NULL, "the recording has no samples");
}

int table_run(struct table *table, void (*progress)(void *context, double part), void *context,
	       struct str *err)
{
	int code = collect_run(table, find_target, progress, context, err);

	/* Without samples nobody has asked; a wrong word is said all the same. */
	if (!code && !table->private->columns_made)
		code = decide(table, err);
	hists_ignore_callees(table);
	for (size_t i = 0; i < table->n_hists; i++)
		hist_fold(table, &table->hists[i]);
	table_columns_for(table, NULL);
	add_emptiness(table);
	return code;
}

struct session *table_session(struct table *table)
{
	return &table->session;
}
