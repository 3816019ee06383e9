/*
 * The work done on a profile's cells before there are entries: frames, groups, and the numbers that values have in
 * them; and with groups what all entries of theirs have in common (widths.c, the order of their keys). It is most of
 * the work, and the same for all questions about the same keys of the same cells: other columns, limits and orders,
 * with or without children, names to be filtered by. So who asks a profile many times keeps it from table to table.
 *
 * The key says what was asked, by level: frames and values of keys depend on .frames, the profile and its state
 * included; groups also on .cells and .groups. A level that is not the same is made anew. The groups of the question
 * before stay, so that those of the same cells help when only filters have changed, and the way back costs nothing.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

struct fold_key { /* what was asked, as texts */
	struct str frames, cells, groups;
};

static void groups_release(struct groups *groups)
{
	free(groups->v);
	free(groups->hidden);
	for (size_t i = 0; groups->of_cell && i < groups->n_members; i++)
		free(groups->of_cell[i]);
	free(groups->of_cell);
	stack_totals_release(&groups->totals);
	trees_free(groups->trees);
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

static void fold_key_release(struct fold_key *key)
{
	str_release(&key->frames);
	str_release(&key->cells);
	str_release(&key->groups);
}

/* Makes it empty; n_frame_keys: keys of code. */
static void start(struct fold_cache *cache, unsigned n_frame_keys)
{
	*cache = (struct fold_cache){ .names = texts_new(), .of_frames = STR_INIT, .filter = STR_INIT };
	for (size_t i = 0; i < GROUP_SETS; i++)
		cache->sets[i] = (struct group_set){ .cells = STR_INIT, .question = STR_INIT };
	row_set_init(&cache->frames.ids, 3);
	row_set_init(&cache->frames.values, n_frame_keys);
	row_set_init(&cache->function_ids.ids, 4);
	row_set_init(&cache->key_hashes.values, 2);
	row_set_init(&cache->cgroup_ids, 2);
}

static void release(struct fold_cache *cache)
{
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
}

struct fold_cache *fold_cache_new(void)
{
	struct fold_cache *cache = xcalloc(1, sizeof(*cache));

	start(cache, 0);
	return cache;
}

void fold_cache_free(struct fold_cache *cache)
{
	if (!cache)
		return;
	release(cache);
	free(cache);
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

/* All that frames, and values of keys, are made by: the profile, and what the question says of them. */
static void add_frames_question(const struct table *table, struct str *out)
{
	const struct question *question = table->question;
	const struct query *query = &question->query;
	const bool by_parent = question->private->parent;
	const unsigned long long numbers[] = {
		(uintptr_t)table->profile,
		table->profile->n_changes,
		question->private->want,
		table->private->facts >> FACT_STACK & 1,
		question->chains,
		query->chain.key,
		query->hide_unresolved,
		query->full_source_path,
		query->verbose,
		query->raw_trace,
		query->time_quantum_ns,
		by_parent ? question->order : 0,
	};

	for (size_t i = 0; i < question->n_keys; i++)
		add_text(out, question->keys[i]->name);
	add_text(out, by_parent ? query->parent : NULL);
	add_numbers(out, numbers, ARRAY_SIZE(numbers));
}

static void add_cells_question(const struct table *table, struct str *out)
{
	const struct query *query = &table->question->query;
	const struct filter_options *filters = &query->filters;
	const unsigned long long numbers[] = {
		table->private->facts, table->question->branch_view, query->mem_mode,	    query->group,
		query->group_off,      filters->kernel_hidden,	     filters->user_hidden,
	};

	add_text(out, filters->cpus);
	add_text(out, query->ignore_callees);
	add_numbers(out, numbers, ARRAY_SIZE(numbers));
}

/* Which of the cells. */
static void add_groups_question(const struct table *table, struct str *out)
{
	const struct filter_options *filters = &table->question->query.filters;
	const char *const texts[] = { filters->comms, filters->dsos, filters->symbols,
				      filters->pids,  filters->tids, filters->sockets };
	const unsigned long long numbers[] = { table->question->query.exclude_other };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		add_text(out, texts[i]);
	add_numbers(out, numbers, ARRAY_SIZE(numbers));
}

static struct fold_key key_of(const struct table *table)
{
	struct fold_key key = { .frames = STR_INIT, .cells = STR_INIT, .groups = STR_INIT };

	add_frames_question(table, &key.frames);
	add_cells_question(table, &key.cells);
	add_groups_question(table, &key.groups);
	return key;
}

/* ---- from table to table ---- */

/* The set of this question comes first; where there is none, an empty one, and the oldest goes. */
static void choose_set(struct fold_cache *cache, const struct fold_key *wanted)
{
	struct group_set chosen;
	size_t at = 0;

	while (at < GROUP_SETS && (strcmp(cache->sets[at].cells.s, wanted->cells.s) != 0 ||
				   strcmp(cache->sets[at].question.s, wanted->groups.s) != 0))
		at++;
	if (at == GROUP_SETS) {
		set_release(&cache->sets[--at]);
		cache->sets[at] = (struct group_set){ .cells = STR_INIT, .question = STR_INIT };
		str_add(&cache->sets[at].cells, wanted->cells.s);
		str_add(&cache->sets[at].question, wanted->groups.s);
	}
	chosen = cache->sets[at];
	memmove(cache->sets + 1, cache->sets, at * sizeof(chosen));
	cache->sets[0] = chosen;
}

/* Forgets what was made for another --symbol-filter. */
static void filter_anew(struct table *table)
{
	struct fold_cache *cache = table->private->cache;
	struct str filter = STR_INIT;
	bool same;

	add_text(&filter, table->question->query.filters.symbol_filter);
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

void fold_cache_begin(struct table *table, struct fold_cache *cache)
{
	const unsigned n_frame_keys = table->question->private->n_frame_keys, needs = table->question->query.needs;
	struct fold_key key;

	/* Cells alone can be asked again, and blocks are left to who asks for them. */
	table->private->is_cached = cache && !cache->busy && needs & NEED_ENTRIES && !(needs & NEED_BLOCKS);
	table->private->cache = table->private->is_cached ? cache : xcalloc(1, sizeof(*cache));
	if (!table->private->is_cached) {
		start(table->private->cache, n_frame_keys);
		return;
	}
	key = key_of(table);
	if (strcmp(cache->of_frames.s, key.frames.s) != 0) {
		release(cache);
		start(cache, n_frame_keys);
		str_add(&cache->of_frames, key.frames.s);
	}
	cache->busy = true;
	choose_set(cache, &key);
	filter_anew(table);
	fold_key_release(&key);
}

void fold_cache_end(struct table *table)
{
	if (table->private->is_cached)
		table->private->cache->busy = false;
	else
		fold_cache_free(table->private->cache);
}

const struct groups *fold_cache_groups_before(const struct fold_cache *cache, size_t hist)
{
	const struct group_set *now = &cache->sets[0], *before = &cache->sets[1];

	if (hist >= before->n || !before->v[hist].of_cell || strcmp(now->cells.s, before->cells.s) != 0)
		return NULL;
	return &before->v[hist];
}
