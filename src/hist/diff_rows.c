/* SPDX-License-Identifier: MIT */
/*
 * Rows of a difference: entries of all recordings that have the same texts for all keys, and what each recording has of
 * them: sums, and how they are spread over blocks of time.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

/*
 * Blocks of time that a recording is cut into for the variance. More of them are sure about less: bursts that are
 * longer than a block count as many. With 48 and more, pairs of real recordings of one program had marks in 2 to 10 of
 * 100; see "Bounds and verdicts" in pstat-diff(1).
 */
enum { BLOCKS_MOST = 32 };

struct collector {
	struct diff *diff;
	struct diff_event *event;
	struct text_index *texts; /* keys: the number of a row */
	struct str key;
	size_t run, side;
	struct table *table;
	const struct hist *hist;
	struct rate *wholes; /* one a recording: of a row that it does not have */
	double *part, *whole; /* by block */
	size_t n_blocks, merged; /* so many of the hist's are one */
};

void diff_row_free(struct diff_row *row)
{
	if (!row)
		return;
	free(row->key);
	free(row->was);
	free(row->cells);
	free(row->runs);
	free(row->build_ids);
	free(row);
}

static const struct column *key_column(const struct table *table, const struct sort_key *key)
{
	for (size_t i = 0; i < table->n_columns; i++)
		if (table->columns[i].kind == COLUMN_KEY && !strcmp(table->columns[i].key->name, key->name))
			return &table->columns[i];
	return NULL;
}

static void make_key(struct collector *c, const struct entry *entry)
{
	str_reset(&c->key);
	for (size_t i = 0; i < c->diff->n_keys; i++) {
		const struct column *column = key_column(c->table, c->diff->keys[i]);

		if (i)
			str_addc(&c->key, '\t');
		if (column)
			table_key_text(c->table, entry, column, &c->key);
	}
}

static struct diff_row *find_row(struct collector *c, const struct entry *entry)
{
	struct diff_event *event = c->event;
	uint32_t number;

	make_key(c, entry);
	number = texts_intern(c->texts, c->key.s, c->key.len);
	if (number == event->n) {
		struct diff_row *row = xcalloc(1, sizeof(*row));

		row->key = xstrndup(c->key.s, c->key.len);
		row->cells = xcalloc(c->diff->n_sides, sizeof(*row->cells));
		row->runs = xcalloc(c->diff->n_runs, sizeof(*row->runs));
		row->build_ids = xcalloc(2, sizeof(*row->build_ids));
		row->level = entry->level;
		row->number = event->n;
		VEC_GROW(event->rows, event->n, event->cap);
		event->rows[event->n++] = row;
	}
	return event->rows[number];
}

static void keep_build_id(struct collector *c, struct diff_row *row, const struct entry *entry)
{
	const struct locations *locations = c->table->session->locations;
	const struct dso *dso = entry->location < locations->n ? locations->v[entry->location].dso : NULL;

	if (dso)
		row->build_ids[c->side > 0] = dso->build_id;
}

/* Sums of neighbours. */
static void merge_blocks(struct collector *c, const double *from, double *to)
{
	const struct hist_blocks *blocks = c->hist->blocks;

	memset(to, 0, c->n_blocks * sizeof(*to));
	for (size_t i = 0; i < blocks->n_blocks; i++)
		to[i / c->merged] += from[i];
}

static void begin_blocks(struct collector *c)
{
	const struct hist_blocks *blocks = c->hist->blocks;

	c->merged = (blocks->n_blocks + BLOCKS_MOST - 1) / BLOCKS_MOST;
	c->n_blocks = (blocks->n_blocks + c->merged - 1) / c->merged;
	c->part = xcalloc(c->n_blocks, sizeof(*c->part));
	c->whole = xcalloc(c->n_blocks, sizeof(*c->whole));
}

/* Samples that filters by task left out came at unknown times: they count as if spread evenly. */
static void spread_rest(struct collector *c, double all)
{
	double known = 0;

	for (size_t i = 0; i < c->n_blocks; i++)
		known += c->whole[i];
	for (size_t i = 0; i < c->n_blocks && all > known; i++)
		c->whole[i] += (all - known) / (double)c->n_blocks;
}

/* The whole that rates of this recording are parts of; also what its blocks have of that. */
static struct rate whole_of(struct collector *c)
{
	const struct diff_options *options = &c->diff->options;
	const struct replay *replay = &c->table->session->replay;
	const struct hist *other = c->hist;
	bool relative = c->table->question->query.percentage_relative;
	const struct entry_stats *all = relative ? &c->hist->shown : &c->hist->totals;
	struct rate rate = { .n_whole = (double)all->n_samples };
	double period = (double)(c->event->by_samples ? all->n_samples : all->period);

	rate.sample = all->n_samples ? period / (double)all->n_samples : 1;
	rate.whole = period;
	if (options->per == PER_SECOND) {
		rate.whole = (double)(replay->last_ns - replay->first_ns) / 1e9;
	} else if (options->per == PER_UNIT) {
		rate.whole = options->units[c->run];
	} else if (options->per == PER_EVENT) {
		other = table_hist_of(c->table, options->event);
		rate.whole = other ? (double)other->totals.period : 0;
		rate.n_whole = other ? (double)other->totals.n_samples : 0;
	}
	if (options->per == PER_SAMPLE || (options->per == PER_EVENT && other && other->blocks)) {
		bool samples = options->per == PER_SAMPLE && c->event->by_samples;

		merge_blocks(c, samples ? other->blocks->samples : other->blocks->periods, c->whole);
		spread_rest(c, rate.whole);
	}
	return rate;
}

/* The entry's blocks: from `at` on in the list; where the next entry's begin. */
static size_t take_blocks(struct collector *c, uint32_t entry, size_t at)
{
	const struct hist_blocks *blocks = c->hist->blocks;

	memset(c->part, 0, c->n_blocks * sizeof(*c->part));
	for (; at < blocks->n && blocks->v[at].entry == entry; at++) {
		const struct entry_block *block = &blocks->v[at];

		c->part[block->block / c->merged] +=
			(double)(c->event->by_samples ? block->n_samples : block->period);
	}
	return at;
}

static void add_entry(struct collector *c, const struct entry *entry, const struct rate *whole)
{
	const bool steady = c->diff->options.per == PER_SECOND || c->diff->options.per == PER_UNIT;
	struct diff_row *row = find_row(c, entry);
	struct diff_cell *cell = &row->cells[c->side];
	struct rate *rate = &row->runs[c->run];
	uint64_t period = c->event->by_samples ? entry->self.n_samples : entry->self.period;

	cell->found = true;
	cell->period += entry->self.period;
	cell->n_samples += entry->self.n_samples;
	keep_build_id(c, row, entry);
	/* Two entries whose texts agree are one row: names that differ in what is not printed. */
	rate->part += (double)period;
	rate->n_part += (double)entry->self.n_samples;
	rate->whole = whole->whole;
	rate->n_whole = whole->n_whole;
	rate->sample = rate->n_part > 0 ? rate->part / rate->n_part : whole->sample;
	if (rate->n_part > (double)entry->self.n_samples) {
		rate->scatter = rate->freedom = 0;
		return;
	}
	rate_add_blocks(rate, c->part, steady ? NULL : c->whole, c->n_blocks);
}

static struct entry **entries_by_number(const struct hist *hist)
{
	struct entry **entries = xcalloc(hist->n + 1, sizeof(*entries));

	for (size_t i = 0; i < hist->n; i++)
		entries[hist->entries[i]->number] = hist->entries[i];
	return entries;
}

static void collect_recording(struct collector *c)
{
	struct entry **entries;
	struct rate *whole = &c->wholes[c->run];
	size_t at = 0;

	begin_blocks(c);
	*whole = whole_of(c);
	entries = entries_by_number(c->hist);
	for (uint32_t i = 0; i < c->hist->n; i++) {
		at = take_blocks(c, i, at);
		add_entry(c, entries[i], whole);
	}
	entry_stats_add(&c->event->totals[c->side],
			c->table->question->query.percentage_relative ? &c->hist->shown : &c->hist->totals);
	free(entries);
	free(c->part);
	free(c->whole);
}

/* A row that is not there is a rate of 0, but of this whole. */
static void complete_wholes(const struct collector *c)
{
	for (size_t i = 0; i < c->event->n; i++)
		for (size_t run = 0; run < c->diff->n_runs; run++)
			if (!(c->event->rows[i]->runs[run].n_part > 0))
				c->event->rows[i]->runs[run] = c->wholes[run];
}

void diff_rows_collect(struct diff *diff, struct diff_event *event, struct hist *const *hists)
{
	struct collector c = { .diff = diff, .event = event, .texts = texts_new(), .key = STR_INIT };

	c.wholes = xcalloc(diff->n_runs, sizeof(*c.wholes));
	for (c.side = 0; c.side < diff->n_sides; c.side++) {
		for (size_t i = 0; i < diff->sides[c.side].n; i++, c.run++) {
			c.table = diff->sides[c.side].tables[i];
			c.hist = hists[c.run];
			if (c.hist && c.hist->blocks)
				collect_recording(&c);
		}
	}
	complete_wholes(&c);
	free(c.wholes);
	str_release(&c.key);
	texts_free(c.texts);
}
