/*
 * A table as a whole: what is asked for becomes facts that cells must have. Those of a profile that is there are
 * folded, or one is read for this question alone. In a pipe the events come with the records: what depends on them
 * (default keys, chains, branches) is decided with the first sample.
 */
#include "hist/fold_internal.h"
#include "hist/keys_internal.h"

#include <errno.h>
#include <stdlib.h>

/* ---- what the recording allows ---- */

static uint64_t all_sample_types(const struct events *events)
{
	uint64_t types = 0;

	for (size_t i = 0; i < events->n; i++)
		types |= event_sample_has(events->v[i]);
	return types;
}

/* Branch stacks that were recorded for themselves, not as a way to find callchains. */
static bool has_branches(const struct recording_info *recording)
{
	uint64_t types = all_sample_types(recording->events);

	if (types & PERF_SAMPLE_STACK_USER)
		return false;
	for (size_t i = 0; i < recording->events->n; i++) {
		const struct perf_event_attr *attr = &recording->events->v[i]->attr;

		if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
		    !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
			return true;
	}
	return info_has(recording->info, FEATURE_BRANCH_STACK) && types & PERF_SAMPLE_BRANCH_STACK;
}

static int check_branches(struct table *table, struct str *err)
{
	const struct query *options = &table->options;
	bool has = has_branches(table->session->recording);

	if (options->branch_stack && !has)
		return fail(err, -EINVAL,
			    "--branch-stack: the recording has no branches; record "
			    "them with -b");
	if (options->branch_stack && options->mem_mode)
		return fail(err, -EINVAL, "--branch-stack and --mem-mode: one or the other");
	table->branch_view =
		options->branch_stack ||
		(has && !options->branch_stack_off && !options->mem_mode &&
		 !(options->needs & (NEED_TIMES | NEED_TASKS)));
	return 0;
}

/* perf gives up without chains, and prints what branches did to each frame. */
static void note_chains(struct table *table, bool has)
{
	const struct query *options = &table->options;

	if (options->chains_asked && options->chain.kind != CHAIN_NONE && !has)
		note_add(table->notes, false, "record them with -g",
			 "--call-graph: the recording has no callchains");
	if (options->chain.branch)
		note_add(table->notes, false,
			 "--branch-stack has a row for each branch, with how it went",
			 "--call-graph branch: not available; chains are shown without their branches");
}

static void choose_chains(struct table *table)
{
	const struct query *options = &table->options;
	const uint64_t types = all_sample_types(table->session->recording->events);
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
	const struct query *options = &table->options;

	if (!has_key(table, "parent") && !options->exclude_other)
		return 0;
	if (!(all_sample_types(table->session->recording->events) & PERF_SAMPLE_CALLCHAIN))
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

/* Do addresses of one function differ in what is asked? With -v they do. */
static bool asks_of_functions(const struct table *table)
{
	const struct table_private *private = table->private;

	for (size_t i = 0; i < table->n_keys; i++)
		if (table->keys[i]->flags & KEY_FRAME && !(table->keys[i]->flags & KEY_OF_FUNCTION))
			return false;
	return !(private->shape.facts & (FACT(STACK) | FACT(FROM) | FACT(TO) | FACT(DATA_LOCATION))) &&
	       !private->want && !table->options.verbose;
}

/* A lane of time is a CPU, or a thread where CPUs were not recorded or threads are asked for. */
static void choose_times(struct table *table)
{
	struct profile_shape *shape = &table->private->shape;

	shape->facts |= FACT(BUCKET);
	shape->buckets = STACK_BUCKETS;
	if (!(all_sample_types(table->session->recording->events) & PERF_SAMPLE_CPU))
		shape->facts |= FACT(TID);
	else if (!(shape->facts & FACT(TID)))
		shape->facts |= FACT(CPU);
}

static void choose_facts(struct table *table)
{
	const struct query *options = &table->options;
	struct table_private *private = table->private;
	bool folded = options->needs & NEED_STACKS;

	private->shape.branches = table->branch_view;
	private->shape.weights = options->mem_mode;

	for (size_t i = 0; i < table->n_keys; i++)
		private->shape.facts |= table->keys[i]->facts;
	if (options->filters.dsos || options->filters.symbols || options->filters.symbol_filter ||
	    options->hide_unresolved || folded)
		private->shape.facts |= FACT(LOCATION);
	if (options->hide_unresolved && table->branch_view)
		private->shape.facts |= FACT(FROM) | FACT(TO);
	if (table->chains || table->children || private->parent || folded)
		private->shape.facts |= FACT(STACK);
	if (private->ignored && !table->branch_view)
		private->shape.facts |= FACT(STACK) | FACT(LOCATION);
	if (folded)
		private->shape.facts |= FACT(COMM);
	if (options->needs & NEED_TASKS)
		private->shape.facts |= FACT(PID) | FACT(TID) | FACT(CPU);
	if (options->needs & NEED_TIMES)
		choose_times(table);
	if (options->needs & NEED_BLOCKS) {
		private->shape.facts |= FACT(BUCKET);
		private->shape.buckets = STACK_BUCKETS;
	}
	if (table_has_field(table, "overhead_sys") || table_has_field(table, "overhead_us") ||
	    table_has_field(table, "overhead_guest_sys") ||
	    table_has_field(table, "overhead_guest_us"))
		private->shape.facts |= FACT(MISC);
	if (has_key(table, "srcline") || has_key(table, "srcfile") ||
	    (table->chains && options->chain.key != CHAIN_BY_FUNCTION))
		private->want |= SYM_LINES;
	private->shape.by_function = asks_of_functions(table);
}

/* Is there a function's name, or its source, in what is printed? */
static bool shows_names(const struct table *table)
{
	const struct query *options = &table->options;
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
	if (!(table->private->shape.facts & FACT(TRACE)))
		return 0;
	table->private->trace_text = has_key(table, "trace");
	if (!table_open_tracepoints(table, &why) &&
	    all_sample_types(table->session->recording->events) & PERF_SAMPLE_RAW)
		note_add(table->notes, false, NULL, "tracepoints: %s", why.s);
	str_release(&why);
	return 0;
}

/* The session's notes leave out what this table does not show. */
static void tell_what_is_shown(struct table *table)
{
	table->session->names_unseen = !shows_names(table);
	/* Frames of chains may be of any file. */
	if (table->options.filters.dsos && !table->chains && !table->children)
		table->session->files_shown = table->filters;
}

int table_decide(struct table *table, struct str *err)
{
	int code = check_branches(table, err);

	if (code)
		return code;
	choose_chains(table);
	code = table_make_columns(table, err);
	if (!code)
		code = choose_parent(table, err);
	if (!code)
		code = choose_ignored(table, err);
	if (code)
		return code;
	choose_facts(table);
	if (table->profile_owned)
		tell_what_is_shown(table);
	fold_cache_begin(table);
	return prepare_trace(table, err);
}

/* ---- contract ---- */

/* profile_options.choose, of a profile that is read for this table */
static int choose(void *context, struct profile *profile, struct profile_shape *shape, struct str *err)
{
	struct table *table = context;
	int code = table_decide(table, err);

	(void)profile;
	*shape = table->private->shape;
	shape->by_function &= table->private->live && !table->private->whole;
	if (table->private->live) /* other tables will ask its cells, by the same filters */
		shape->facts |= table_filter_facts(&table->options.filters);
	if (table->private->whole && !(shape->branches && table->private->live))
		shape->facts |= PROFILE_WHOLE & ~FACT(BUCKET);
	return code;
}

static void trace_text(void *context, const struct data_event *event, const struct sample *sample, struct str *out)
{
	table_trace_text(context, event, sample, out);
}

struct table *table_alloc(const struct query *options)
{
	struct table *table = xcalloc(1, sizeof(*table));

	table->options = *options;
	if (!table->options.needs)
		table->options.needs = NEED_ENTRIES | NEED_TREES | NEED_HEAD;
	table->private = xcalloc(1, sizeof(*table->private));
	table->private->cache = fold_cache_new();
	str_init(&table->sort_text);
	str_init(&table->elided);
	return table;
}

/* Of a profile that keeps what this table asks for. */
static struct profile_options options_of_own(struct table *table)
{
	const struct query *options = &table->options;
	struct profile_options kept = {
		.session = options->session,
		.filters = options->filters,
		.time_quantum_ns = options->time_quantum_ns,
		.threads_counted = options->threads_counted,
		.choose = choose,
		.trace_text = trace_text,
		.context = table,
	};

	kept.session.replay.data_maps |= options->mem_mode;
	/* This one is for entries, not for samples: with children, of callers too. */
	if (!(options->needs & NEED_STACKS))
		kept.filters.symbol_filter = NULL;
	/* What no cell says is asked while it is read. */
	if (table->private->whole)
		kept.filters = (struct filter_options){ .time = options->filters.time,
							.switch_on = options->filters.switch_on,
							.switch_off = options->filters.switch_off,
							.switches_shown = options->filters.switches_shown };
	return kept;
}

static int take_own(struct table *table, int code, struct str *err)
{
	if (code)
		return code;
	table->session = &table->profile->session;
	table->notes = &table->session->notes;
	table->filters = table->profile->filters;
	return table->session->recording->events->n ? profile_decide(table->profile, err) : 0;
}

int table_own_profile(struct table *table, struct reader *reader, struct str *err)
{
	const struct profile_options kept = options_of_own(table);

	table->profile_owned = true;
	return take_own(table, profile_new(&table->profile, &kept, reader, err), err);
}

int table_or_none(struct table **table, int code)
{
	if (code) {
		table_free(*table);
		*table = NULL;
	}
	return code;
}

int table_new(struct table **table, const struct query *options, struct reader *reader,
	      struct str *err)
{
	*table = table_alloc(options);
	return table_or_none(table, table_own_profile(*table, reader, err));
}

int table_new_whole(struct table **table, const struct query *options, struct reader *reader, struct str *err)
{
	*table = table_alloc(options);
	(*table)->private->whole = true;
	return table_or_none(table, table_own_profile(*table, reader, err));
}

const struct table *table_of_profile(const struct profile *profile)
{
	return profile->options.choose == choose ? profile->options.context : NULL;
}

int table_new_live(struct table **table, const struct query *options, const struct recording_info *recording,
		   struct record_source *source, bool whole, struct str *err)
{
	struct profile_options kept;
	struct table *made = *table = table_alloc(options);

	made->private->live = true;
	made->private->whole = whole;
	kept = options_of_own(made);
	made->profile_owned = true;
	return table_or_none(table,
			     take_own(made, profile_new_live(&made->profile, &kept, recording, source, err), err));
}

static void private_free(struct table *table)
{
	struct table_private *private = table->private;

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
	table_release_hists(table);
	fold_cache_leave(table);
	free(table->columns);
	free(table->keys);
	private_free(table);
	tracepoints_free(table->tracepoints);
	if (table->profile_owned)
		profile_free(table->profile);
	else
		filters_free(table->filters);
	note_list_release(&table->own_notes);
	if (table->reader_owned)
		reader_close(table->reader_owned);
	free(table->reader_owned);
	str_release(&table->sort_text);
	str_release(&table->elided);
	free(table);
}

/* An empty table says why. */
static void add_emptiness(struct table *table)
{
	struct session *session = table->session;
	const char *part = table->options.filters.symbol_filter;
	size_t n_entries = 0, n_shown = 0;

	filters_add_note(table->filters, &table->options.filters, session);
	for (size_t i = 0; i < table->n_hists; i++) {
		const struct hist *hist = &table->hists[i];

		n_entries += hist->n;
		n_shown += table->options.needs & NEED_ENTRIES ? 0 : hist->shown.n_samples;
		for (size_t k = 0; k < hist->n && !n_shown; k++)
			n_shown += entry_is_shown(table, hist, hist->entries[k]);
	}
	if (part && table->n_hists && !n_shown)
		note_add(table->notes, false, NULL,
			 "nothing is left by --symbol-filter: it is in no function's name");
	else if (n_entries && !n_shown && table->options.percent_limit > 0)
		note_add(table->notes, false, NULL,
			 "nothing is left by --percent-limit %g: none of the %zu rows has so much",
			 table->options.percent_limit, n_entries);
	if (!session->replay.counts.samples)
		note_add(table->notes, false, NULL, "the recording has no samples");
}

void table_fold(struct table *table)
{
	table_make_hists(table);
	hists_ignore_callees(table);
	fold_cache_take(table);
	table->private->n_blocks = hist_blocks_count(table);
	for (size_t i = 0; i < table->n_hists; i++)
		hist_fold(table, &table->hists[i]);
	table_columns_for(table, NULL);
	add_emptiness(table);
}

int table_run(struct table *table, void (*progress)(void *context, double part), void *context,
	      struct str *err)
{
	int code = profile_read(table->profile, progress, context, err);

	/* Without samples nobody has asked; a wrong word is said all the same. */
	if (!code)
		code = profile_decide(table->profile, err);
	table_fold(table);
	return code;
}

/* ---- what it has ---- */

struct profile *table_profile(struct table *table)
{
	return table->profile;
}

struct session *table_session(struct table *table)
{
	return table->session;
}
