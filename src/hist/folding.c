/*
 * What is made of a profile's cells before there are entries: frames, groups, and the numbers that values have in
 * them; and with groups what all entries of theirs have in common (entry_ranks.c, widths.c). It is most of the work,
 * and the same for all questions about the same keys of the same cells: other columns, limits and orders, with or
 * without children, names to be filtered by. So a table that goes leaves it to its profile, and the next one takes it,
 * if it would make the same.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

struct folding *folding_new(void)
{
	struct folding *folding = xcalloc(1, sizeof(*folding));

	folding->names = texts_new();
	str_init(&folding->of_frames);
	str_init(&folding->filter);
	for (size_t i = 0; i < GROUP_SETS; i++)
		folding->sets[i] = (struct group_set){ .cells = STR_INIT, .question = STR_INIT };
	return folding;
}

void folding_begin(struct table *table)
{
	struct folding *folding = table->private->folding;

	row_set_init(&folding->frames.ids, 3);
	row_set_init(&folding->frames.values, table->private->n_frame_keys);
	row_set_init(&folding->function_ids.ids, 3);
	row_set_init(&folding->key_hashes.values, 2);
	row_set_init(&folding->cgroup_ids, 2);
}

static void groups_release(struct groups *groups)
{
	free(groups->v);
	free(groups->hidden);
	for (size_t i = 0; groups->of_cell && i < groups->n_members; i++)
		free(groups->of_cell[i]);
	free(groups->of_cell);
	runs_release(&groups->runs);
	trees_free(groups->trees);
	entry_ranks_free(groups->ranks);
	known_widths_forget(&groups->widths);
	row_set_release(&groups->ids);
	row_set_release(&groups->values);
}

static void set_release(struct group_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		groups_release(&set->v[i]);
	free(set->v);
	str_release(&set->cells);
	str_release(&set->question);
}

void folding_free(struct folding *folding)
{
	if (!folding)
		return;
	for (size_t i = 0; i < GROUP_SETS; i++)
		set_release(&folding->sets[i]);
	frames_release(&folding->frames);
	free(folding->function_ids.v);
	row_set_release(&folding->function_ids.ids);
	free(folding->key_hashes.v);
	row_set_release(&folding->key_hashes.values);
	row_set_release(&folding->cgroup_ids);
	texts_free(folding->names);
	free(folding->dso_names);
	str_release(&folding->of_frames);
	str_release(&folding->filter);
	free(folding);
}

static void free_left(void *left)
{
	folding_free(left);
}

/* ---- what it depends on ---- */

static void add_numbers(struct str *out, const unsigned long long *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%llx ", numbers[i]);
}

static void add_text(struct str *out, const char *text)
{
	str_addf(out, "%zd:%s\n", text ? (ssize_t)strlen(text) : -1, text ? text : "");
}

/* All of the question that frames, and values of keys, are made by; what the profile has is the same. */
static void add_frames_question(const struct table *table, struct str *out)
{
	const struct query *options = &table->options;
	const unsigned long long numbers[] = {
		table->private->want, table->private->shape.facts >> FACT_STACK & 1, table->chains, options->chain.key,
		options->hide_unresolved, options->full_source_path, options->verbose, options->raw_trace,
		options->time_quantum_ns, table->private->parent ? table->order : 0,
	};

	for (size_t i = 0; i < table->n_keys; i++)
		add_text(out, table->keys[i]->name);
	add_text(out, table->private->parent ? options->parent : NULL);
	add_numbers(out, numbers, ARRAY_SIZE(numbers));
}

static void add_cells_question(const struct table *table, struct str *out)
{
	const struct query *options = &table->options;
	const struct filter_options *filters = &options->filters;
	const unsigned long long numbers[] = {
		table->private->shape.facts, table->branch_view,     options->mem_mode,    options->group,
		options->group_off,	     filters->kernel_hidden, filters->user_hidden,
	};

	add_text(out, filters->cpus);
	add_text(out, options->ignore_callees);
	add_numbers(out, numbers, ARRAY_SIZE(numbers));
}

/* Which of the cells. */
static void add_groups_question(const struct table *table, struct str *out)
{
	const struct filter_options *filters = &table->options.filters;
	const char *const texts[] = { filters->comms, filters->dsos, filters->symbols,
				      filters->pids,  filters->tids, filters->sockets };
	const unsigned long long numbers[] = { table->options.exclude_other };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		add_text(out, texts[i]);
	add_numbers(out, numbers, ARRAY_SIZE(numbers));
}

/*
 * Cells alone can be asked again, and blocks are left to who asks for them. What is being recorded gets more before
 * the next question.
 */
bool folding_is_for_others(const struct table *table)
{
	return table->profile && !table->profile_owned && table->session->reader &&
	       table->options.needs & NEED_ENTRIES && !(table->options.needs & NEED_BLOCKS);
}

/* ---- from table to table ---- */

/* The set of this question comes first; where there is none, an empty one, and the oldest goes. */
static void choose_set(struct folding *folding, const struct group_set *wanted)
{
	struct group_set chosen;
	size_t at = 0;

	while (at < GROUP_SETS && (strcmp(folding->sets[at].cells.s, wanted->cells.s) != 0 ||
				   strcmp(folding->sets[at].question.s, wanted->question.s) != 0))
		at++;
	if (at == GROUP_SETS) {
		set_release(&folding->sets[--at]);
		folding->sets[at] = (struct group_set){ .cells = STR_INIT, .question = STR_INIT };
		str_add(&folding->sets[at].cells, wanted->cells.s);
		str_add(&folding->sets[at].question, wanted->question.s);
	}
	chosen = folding->sets[at];
	memmove(folding->sets + 1, folding->sets, at * sizeof(chosen));
	folding->sets[0] = chosen;
}

/* What is made of it for another --symbol-filter goes. */
static void filter_anew(struct table *table)
{
	struct folding *folding = table->private->folding;
	struct str filter = STR_INIT;
	bool same;

	add_text(&filter, table->options.filters.symbol_filter);
	same = !strcmp(folding->filter.s, filter.s);
	str_release(&folding->filter);
	folding->filter = filter;
	if (same)
		return;
	frames_filter(table);
	forest_forget_rows(&folding->frames.forest);
	for (size_t i = 0; i < GROUP_SETS; i++)
		for (size_t k = 0; k < folding->sets[i].n; k++) {
			struct groups *groups = &folding->sets[i].v[k];

			trees_free(groups->trees);
			groups->trees = NULL;
			known_widths_forget(&groups->widths);
		}
}

void folding_take(struct table *table)
{
	struct table_private *private = table->private;
	struct folding *left, *empty = private->folding;

	if (!folding_is_for_others(table))
		return;
	add_frames_question(table, &empty->of_frames);
	add_cells_question(table, &empty->sets[0].cells);
	add_groups_question(table, &empty->sets[0].question);
	left = table->profile->left;
	if (left && !strcmp(left->of_frames.s, empty->of_frames.s)) {
		table->profile->left = NULL;
		choose_set(left, &empty->sets[0]);
		folding_free(empty);
		private->folding = left;
	} else {
		profile_forget_left(table->profile);
	}
	filter_anew(table);
}

const struct groups *folding_groups_before(const struct folding *folding, size_t hist)
{
	const struct group_set *now = &folding->sets[0], *before = &folding->sets[1];

	if (hist >= before->n || !before->v[hist].of_cell || strcmp(now->cells.s, before->cells.s) != 0)
		return NULL;
	return &before->v[hist];
}

void folding_leave(struct table *table)
{
	struct folding *folding = table->private->folding;

	/* Of a table that was never folded nothing can be used. */
	if (!folding_is_for_others(table) || !folding->sets[0].n) {
		folding_free(folding);
	} else {
		profile_forget_left(table->profile);
		table->profile->left = folding;
		table->profile->free_left = free_left;
	}
	table->private->folding = NULL;
}
