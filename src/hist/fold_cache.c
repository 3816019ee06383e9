/* SPDX-License-Identifier: MIT */
/*
 * The work done on a profile's cells before there are entries: frames, groups, and the numbers that values have in
 * them; and with groups what all entries of theirs have in common (widths.c, the order of their keys). It is most of
 * the work, and the same for all questions about the same keys of the same cells: other columns, limits and orders,
 * with or without children, names to be filtered by. So who asks a profile many times keeps it from table to table.
 *
 * The key says what was asked, as a row of numbers in which each level is the beginning of the next: frames and values
 * of keys depend on the profile and its state, among others; groups also on which cells there are, and on which of them
 * filters leave. A level that is not the same is made anew. The groups of the question before stay, so that those of
 * the same cells help when only filters have changed, and the way back costs nothing.
 */
#include "hist/fold_internal.h"
#include "types/types.h"

#include <stdlib.h>

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
	*set = (struct group_set){ .n = 0 };
}

/* Makes it empty; n_frame_keys: keys of code. */
static void start(struct fold_cache *cache, unsigned n_frame_keys)
{
	*cache = (struct fold_cache){ .names = texts_new(), .asked = cache->asked };
	row_set_init(&cache->frames.ids, 4);
	row_set_init(&cache->frames.values, n_frame_keys);
	row_set_init(&cache->function_ids.ids, 4);
	row_set_init(&cache->key_hashes.values, 2);
	row_set_init(&cache->cgroup_ids, 2);
	row_set_init(&cache->type_rows, 3);
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
	row_set_release(&cache->type_rows);
	types_free(cache->types);
	texts_free(cache->names);
	free(cache->dso_names);
}

struct fold_cache *fold_cache_new(void)
{
	struct fold_cache *cache = xcalloc(1, sizeof(*cache));

	cache->asked = texts_new();
	start(cache, 0);
	return cache;
}

void fold_cache_free(struct fold_cache *cache)
{
	if (!cache)
		return;
	release(cache);
	texts_free(cache->asked);
	free(cache);
}

/* ---- what it depends on ---- */

/* A number for the text that was asked; 0: NULL. */
static uint64_t asked(struct fold_cache *cache, const char *text)
{
	return text ? (uint64_t)texts_intern(cache->asked, text, strlen(text)) + 1 : 0;
}

static struct fold_key key_of(const struct table *table, struct fold_cache *cache)
{
	const struct question *question = table->question;
	const struct query *query = &question->query;
	const struct filter_options *filters = &query->filters;
	const bool by_parent = question->private->parent;
	struct fold_key key = {
		.profile = (uintptr_t)table->profile,
		.n_changes = table->profile->n_changes,
		.stacks = table->private->facts >> FACT_STACK & 1,
		.chains = question->chains,
		.chain_key = query->chain.key,
		.hide_unresolved = query->hide_unresolved,
		.full_source_path = query->full_source_path,
		.verbose = query->verbose,
		.parent = by_parent ? asked(cache, query->parent) : 0,
		.parent_order = by_parent ? question->order : 0,
		.facts = table->private->facts,
		.group = query->group,
		.group_off = query->group_off,
		.kernel_hidden = filters->kernel_hidden,
		.user_hidden = filters->user_hidden,
		.cpus = asked(cache, filters->cpus),
		.ignore_callees = asked(cache, query->ignore_callees),
		.comms = asked(cache, filters->comms),
		.dsos = asked(cache, filters->dsos),
		.symbols = asked(cache, filters->symbols),
		.pids = asked(cache, filters->pids),
		.tids = asked(cache, filters->tids),
		.sockets = asked(cache, filters->sockets),
		.parallelism = asked(cache, filters->parallelism),
		.exclude_other = query->exclude_other,
		.symbol_filter = asked(cache, filters->symbol_filter),
	};

	for (size_t i = 0; i < question->n_keys; i++)
		key.keys[i] = asked(cache, question->keys[i]->name);
	return key;
}

/* ---- from table to table ---- */

/* The set of this question comes first; where there is none, an empty one, and the oldest goes. */
static void choose_set(struct fold_cache *cache, const struct fold_key *wanted)
{
	struct group_set chosen;
	size_t at = 0;

	while (at < GROUP_SETS && !fold_keys_agree(&cache->sets[at].key, wanted, FOLD_GROUPS))
		at++;
	if (at == GROUP_SETS)
		set_release(&cache->sets[--at]);
	chosen = cache->sets[at];
	chosen.key = *wanted;
	memmove(cache->sets + 1, cache->sets, at * sizeof(chosen));
	cache->sets[0] = chosen;
}

/* Forgets what was made for another --symbol-filter. */
static void filter_anew(struct table *table)
{
	struct fold_cache *cache = table->private->cache;

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
	struct fold_key key, before;

	/* Cells alone can be asked again, and blocks are left to who asks for them. */
	table->private->is_cached = cache && !cache->busy && needs & NEED_ENTRIES && !(needs & NEED_BLOCKS);
	table->private->cache = table->private->is_cached ? cache : xcalloc(1, sizeof(*cache));
	if (!table->private->is_cached) {
		start(table->private->cache, n_frame_keys);
		return;
	}
	key = key_of(table, cache);
	before = cache->sets[0].key;
	if (!fold_keys_agree(&before, &key, FOLD_FRAMES)) {
		release(cache);
		start(cache, n_frame_keys);
	}
	cache->busy = true;
	choose_set(cache, &key);
	if (before.symbol_filter != key.symbol_filter)
		filter_anew(table);
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

	if (hist >= before->n || !before->v[hist].of_cell || !fold_keys_agree(&now->key, &before->key, FOLD_CELLS))
		return NULL;
	return &before->v[hist];
}
