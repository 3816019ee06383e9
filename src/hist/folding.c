/*
 * What is made of a profile's cells before there are entries: frames, groups, and the numbers that values have in
 * them. It is most of the work, and the same for all questions about the same keys of the same cells: other columns,
 * limits and orders, with or without children, names to be filtered by. So a table that goes leaves it to its profile,
 * and the next one takes it, if it would make the same.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

struct folding *folding_new(void)
{
	struct folding *folding = xcalloc(1, sizeof(*folding));

	folding->names = texts_new();
	str_init(&folding->of_frames);
	str_init(&folding->of_groups);
	return folding;
}

void folding_begin(struct table *table)
{
	struct folding *folding = table->private->folding;

	row_set_init(&folding->frames.ids, 3);
	row_set_init(&folding->frames.values, table->private->n_frame_keys);
	row_set_init(&folding->function_ids.ids, 3);
	row_set_init(&folding->cgroup_ids, 2);
}

static void groups_release(struct groups *groups)
{
	free(groups->v);
	free(groups->hidden);
	free(groups->of_cell);
	row_set_release(&groups->ids);
	row_set_release(&groups->values);
}

static void free_groups(struct folding *folding)
{
	for (size_t i = 0; i < folding->n_groups; i++)
		groups_release(&folding->groups[i]);
	free(folding->groups);
	folding->groups = NULL;
	folding->n_groups = 0;
}

void folding_free(struct folding *folding)
{
	if (!folding)
		return;
	free_groups(folding);
	frames_release(&folding->frames);
	free(folding->function_ids.v);
	row_set_release(&folding->function_ids.ids);
	row_set_release(&folding->cgroup_ids);
	texts_free(folding->names);
	free(folding->dso_names);
	str_release(&folding->of_frames);
	str_release(&folding->of_groups);
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
		options->hide_unresolved, options->verbose, options->raw_trace, options->time_quantum_ns,
		table->private->parent ? table->order : 0,
	};

	for (size_t i = 0; i < table->n_keys; i++)
		add_text(out, table->keys[i]->name);
	add_text(out, table->private->parent ? options->parent : NULL);
	add_numbers(out, numbers, ARRAY_SIZE(numbers));
}

static void add_groups_question(const struct table *table, struct str *out)
{
	const struct query *options = &table->options;
	const struct filter_options *filters = &options->filters;
	const char *const texts[] = { filters->comms, filters->dsos, filters->symbols, filters->pids, filters->tids,
				      filters->cpus,  filters->sockets, options->ignore_callees };
	const unsigned long long numbers[] = {
		table->private->shape.facts, table->branch_view, options->mem_mode, options->group, options->group_off,
		options->exclude_other, filters->kernel_hidden, filters->user_hidden,
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		add_text(out, texts[i]);
	add_numbers(out, numbers, ARRAY_SIZE(numbers));
}

/* Cells alone can be asked again; groups of blocks know cells by number, which others may have. */
static bool is_for_others(const struct table *table)
{
	return table->profile && !table->profile_owned && table->options.needs & NEED_ENTRIES &&
	       !(table->options.needs & NEED_BLOCKS);
}

/* ---- from table to table ---- */

static bool same(const struct str *a, const struct str *b)
{
	return !strcmp(a->s, b->s);
}

static void swap(struct str *a, struct str *b)
{
	const struct str kept = *a;

	*a = *b;
	*b = kept;
}

static void take(struct table *table, struct folding *left)
{
	struct folding *empty = table->private->folding;

	if (!same(&left->of_groups, &empty->of_groups))
		free_groups(left);
	swap(&left->of_groups, &empty->of_groups);
	folding_free(empty);
	table->private->folding = left;
	frames_filter(table);
	forest_forget_rows(&left->frames.forest);
}

void folding_take(struct table *table)
{
	struct folding *folding = table->private->folding;
	struct folding *left;

	if (!is_for_others(table))
		return;
	add_frames_question(table, &folding->of_frames);
	add_groups_question(table, &folding->of_groups);
	left = table->profile->left;
	if (left && same(&left->of_frames, &folding->of_frames)) {
		table->profile->left = NULL;
		take(table, left);
	} else {
		profile_forget_left(table->profile);
	}
}

void folding_leave(struct table *table)
{
	struct folding *folding = table->private->folding;

	/* Of a table that was never folded nothing can be used. */
	if (!is_for_others(table) || !folding->n_groups) {
		folding_free(folding);
	} else {
		profile_forget_left(table->profile);
		table->profile->left = folding;
		table->profile->free_left = free_left;
	}
	table->private->folding = NULL;
}
