/*
 * What is made of a profile's cells before there are entries: frames, groups, and the numbers that values have in
 * them; and with groups what all entries of theirs have in common (entry_ranks.c, widths.c). It is most of the work,
 * and the same for all questions about the same keys of the same cells: other columns, limits and orders, with or
 * without children, names to be filtered by. So a table that goes leaves it to its profile, and the next one takes it,
 * if it would make the same.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

struct fold_cache *fold_cache_new(void)
{
	struct fold_cache *cache = xcalloc(1, sizeof(*cache));

	cache->names = texts_new();
	str_init(&cache->of_frames);
	str_init(&cache->filter);
	for (size_t i = 0; i < GROUP_SETS; i++)
		cache->sets[i] = (struct group_set){ .cells = STR_INIT, .question = STR_INIT };
	return cache;
}

void fold_cache_begin(struct table *table)
{
	struct fold_cache *cache = table->private->cache;

	row_set_init(&cache->frames.ids, 3);
	row_set_init(&cache->frames.values, table->private->n_frame_keys);
	row_set_init(&cache->function_ids.ids, 3);
	row_set_init(&cache->key_hashes.values, 2);
	row_set_init(&cache->cgroup_ids, 2);
}

static void groups_release(struct groups *groups)
{
	free(groups->v);
	free(groups->hidden);
	for (size_t i = 0; groups->of_cell && i < groups->n_members; i++)
		free(groups->of_cell[i]);
	free(groups->of_cell);
	stack_totals_release(&groups->totals);
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

void fold_cache_free(struct fold_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < GROUP_SETS; i++)
		set_release(&cache->sets[i]);
	frames_release(&cache->frames);
	free(cache->function_ids.v);
	row_set_release(&cache->function_ids.ids);
	free(cache->key_hashes.v);
	row_set_release(&cache->key_hashes.values);
	row_set_release(&cache->cgroup_ids);
	texts_free(cache->names);
	free(cache->dso_names);
	str_release(&cache->of_frames);
	str_release(&cache->filter);
	free(cache);
}

static void free_left(void *left)
{
	fold_cache_free(left);
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
bool fold_cache_is_for_others(const struct table *table)
{
	return table->profile && !table->profile_owned && table->session->reader &&
	       table->options.needs & NEED_ENTRIES && !(table->options.needs & NEED_BLOCKS);
}

/* ---- from table to table ---- */

/* The set of this question comes first; where there is none, an empty one, and the oldest goes. */
static void choose_set(struct fold_cache *cache, const struct group_set *wanted)
{
	struct group_set chosen;
	size_t at = 0;

	while (at < GROUP_SETS && (strcmp(cache->sets[at].cells.s, wanted->cells.s) != 0 ||
				   strcmp(cache->sets[at].question.s, wanted->question.s) != 0))
		at++;
	if (at == GROUP_SETS) {
		set_release(&cache->sets[--at]);
		cache->sets[at] = (struct group_set){ .cells = STR_INIT, .question = STR_INIT };
		str_add(&cache->sets[at].cells, wanted->cells.s);
		str_add(&cache->sets[at].question, wanted->question.s);
	}
	chosen = cache->sets[at];
	memmove(cache->sets + 1, cache->sets, at * sizeof(chosen));
	cache->sets[0] = chosen;
}

/* What is made of it for another --symbol-filter goes. */
static void filter_anew(struct table *table)
{
	struct fold_cache *cache = table->private->cache;
	struct str filter = STR_INIT;
	bool same;

	add_text(&filter, table->options.filters.symbol_filter);
	same = !strcmp(cache->filter.s, filter.s);
	str_release(&cache->filter);
	cache->filter = filter;
	if (same)
		return;
	frames_filter(table);
	stack_preorder_forget_rows(&cache->frames.preorder);
	for (size_t i = 0; i < GROUP_SETS; i++)
		for (size_t k = 0; k < cache->sets[i].n; k++) {
			struct groups *groups = &cache->sets[i].v[k];

			trees_free(groups->trees);
			groups->trees = NULL;
			known_widths_forget(&groups->widths);
		}
}

void fold_cache_take(struct table *table)
{
	struct table_private *private = table->private;
	struct fold_cache *left, *empty = private->cache;

	if (!fold_cache_is_for_others(table))
		return;
	add_frames_question(table, &empty->of_frames);
	add_cells_question(table, &empty->sets[0].cells);
	add_groups_question(table, &empty->sets[0].question);
	left = table->profile->left;
	if (left && !strcmp(left->of_frames.s, empty->of_frames.s)) {
		table->profile->left = NULL;
		choose_set(left, &empty->sets[0]);
		fold_cache_free(empty);
		private->cache = left;
	} else {
		profile_forget_left(table->profile);
	}
	filter_anew(table);
}

const struct groups *fold_cache_groups_before(const struct fold_cache *cache, size_t hist)
{
	const struct group_set *now = &cache->sets[0], *before = &cache->sets[1];

	if (hist >= before->n || !before->v[hist].of_cell || strcmp(now->cells.s, before->cells.s) != 0)
		return NULL;
	return &before->v[hist];
}

void fold_cache_leave(struct table *table)
{
	struct fold_cache *cache = table->private->cache;

	/* Of a table that was never folded nothing can be used. */
	if (!fold_cache_is_for_others(table) || !cache->sets[0].n) {
		fold_cache_free(cache);
	} else {
		profile_forget_left(table->profile);
		table->profile->left = cache;
		table->profile->free_left = free_left;
	}
	table->private->cache = NULL;
}
