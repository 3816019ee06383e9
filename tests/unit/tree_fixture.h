/* SPDX-License-Identifier: MIT */
/*
 * Call trees made by hand for test_calltree*.c: functions a to h of one file, locations without a name, and
 * chains written as words: "main b c" is c called by b called by main. All samples are of one entry, whose
 * tree has the chains as they stand.
 */
#ifndef TREE_FIXTURE_H
#define TREE_FIXTURE_H

#include "fmt/fmt_internal.h"
#include "hist/fold_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TREE_WORDS = 64 };

struct tree_fixture {
	struct dso dso;
	struct symbol symbols[10]; /* main, a .. h at 0x1000, 0x1100, ...; "b" again, inlined */
	struct location_row rows[12]; /* of the symbols, in order; [10] 0x1234, [11] 0x77: no file */
	struct locations locations;
	struct question question;
	struct table table;
	struct table_private private;
	struct fold_cache cache;
	struct groups groups; /* a chain each */
	struct call_tree *tree; /* of tree_make */
	struct hist hist;
	struct entry entry;
	struct session session;
	struct output output;
};

/* Each distinct frame has a row of its own; the first is the entry's. */
static inline uint32_t tree_frame_number(struct tree_fixture *t, struct view_frame frame)
{
	struct frames *frames = &t->cache.frames;
	const uint64_t row[] = { frames->n };

	for (uint32_t i = 0; i < frames->n; i++) {
		const struct view_frame *v = &frames->v[i].view;

		if (v->symbol == frame.symbol && v->location == frame.location && v->inlined == frame.inlined &&
		    v->line.file == frame.line.file && v->line.line == frame.line.line)
			return i;
	}
	VEC_GROW(frames->v, frames->n, frames->cap);
	frames->v[frames->n] = (struct fold_frame){ .view = frame,
						    .values = row_set_intern(&frames->values, row),
						    .named = true };
	return (uint32_t)frames->n++;
}

static inline void tree_init(struct tree_fixture *t)
{
	static const char *const names[] = { "main", "a", "b", "c", "d", "e", "f", "g", "h", "b" };

	*t = (struct tree_fixture){ .dso = { .kind = DSO_FILE } };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		t->symbols[i] = (struct symbol){ .dso = &t->dso,
						 .start = 0x1000 + 0x100 * i,
						 .end = 0x1100 + 0x100 * i,
						 .name = names[i],
						 .raw = names[i] };
		t->rows[i] = (struct location_row){
			.dso = &t->dso, .addr = 0x1008 + 0x100 * i, .ip = 0x401008 + 0x100 * i, .mode = MISC_USER
		};
	}
	t->symbols[9].inlined = true;
	t->rows[10] = (struct location_row){ .addr = 0x1234, .ip = 0x1234, .mode = MISC_USER };
	t->rows[11] = (struct location_row){ .addr = 0x77, .ip = 0x77, .mode = MISC_USER };
	t->locations = (struct locations){ .v = t->rows, .n = ARRAY_SIZE(t->rows) };
	t->session.locations = &t->locations;
	t->table.session = &t->session;
	t->table.question = &t->question;
	t->table.private = &t->private;
	t->private.cache = &t->cache;
	t->question.chains = true;
	t->question.query.needs = NEED_TREES;
	row_set_init(&t->cache.frames.values, 1);
	row_set_init(&t->groups.values, 0);
	row_set_intern(&t->groups.values, NULL);
	tree_frame_number(t, (struct view_frame){ .location = LOCATION_NONE }); /* of the samples */
	t->question.children = true;
	t->question.query.chain = (struct chain_options){ .kind = CHAIN_GRAPH, .min_percent = 0.5 };
	t->hist.n_members = 1;
	str_init(&t->output.text);
}

static inline void tree_release(struct tree_fixture *t)
{
	calltree_free(t->tree);
	trees_free(t->hist.trees);
	frames_release(&t->cache.frames);
	free(t->groups.v);
	row_set_release(&t->groups.values);
	str_release(&t->output.text);
}

/* "main", "a", ...; "b'" is b inlined; "0x1234", "0x77". */
static inline struct view_frame tree_frame(const struct tree_fixture *t, const char *word)
{
	for (uint32_t i = 0; i < 9; i++)
		if (!strcmp(t->symbols[i].name, word))
			return (struct view_frame){ .symbol = &t->symbols[i], .location = i };
	if (!strcmp(word, "b'"))
		return (struct view_frame){ .symbol = &t->symbols[9], .location = 9, .inlined = true };
	assert_int_equal(strncmp(word, "0x", 2), 0);
	return (struct view_frame){ .location = strcmp(word, "0x77") ? 10 : 11 };
}

/* Adds a chain. */
static inline void tree_add_frames(struct tree_fixture *t, const struct view_frame *frames, size_t n,
				   uint64_t period, uint64_t count)
{
	struct group group = { .stats = { .period = period, .n_samples = count } };

	for (size_t i = 0; i < n; i++)
		group.stack = stacks_child(&t->cache.frames.stacks, group.stack,
					   tree_frame_number(t, frames[i]));
	VEC_GROW(t->groups.v, t->groups.n, t->groups.cap);
	t->groups.v[t->groups.n++] = group;
}

/* The tree of all chains that were added, until the next call. */
static inline const struct call_tree *tree_make(struct tree_fixture *t)
{
	const struct tree_limit all = { .part = 0 };
	struct hist hist = { .trees = trees_new(&t->table, &t->groups) };

	calltree_free(t->tree);
	t->entry.group_key = t->entry.frame_key = 0;
	t->tree = table_tree(&t->table, &hist, &t->entry, &all);
	trees_free(hist.trees);
	assert_non_null(t->tree);
	return t->tree;
}

/* Adds the chain as it stands and its period to the entry's total and the hist's. */
static inline void tree_add(struct tree_fixture *t, const char *chain, uint64_t period,
			    uint64_t count)
{
	struct view_frame frames[TREE_WORDS];
	char *copy = xstrdup(chain), *rest = copy, *word;
	size_t n = 0;

	while ((word = strsep(&rest, " "))) {
		assert_true(n < TREE_WORDS);
		frames[n++] = tree_frame(t, word);
	}
	tree_add_frames(t, frames, n, period, count);
	free(copy);
	t->entry.total.period += period;
	t->hist.totals.period += period;
}

/* The tree as calltree_print draws it. */
static inline const char *tree_text(struct tree_fixture *t, unsigned left_margin)
{
	trees_free(t->hist.trees);
	t->hist.trees = trees_new(&t->table, &t->groups);
	str_reset(&t->output.text);
	calltree_print(&t->table, &t->hist, &t->entry, left_margin, &t->output);
	return t->output.text.s;
}

#endif
