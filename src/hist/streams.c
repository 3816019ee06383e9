/* SPDX-License-Identifier: MIT */
/*
 * streams: the ways by which samples were reached, as branches and callers tell, in two recordings. A stream is the
 * sequence of places of a chain with branches (session_options.branch_history), innermost first: the function and its
 * line, or how far into it where lines are not known. Chains that differ in cycles or flags alone are one stream, and
 * streams of both recordings with the same places are a pair.
 */
#include "hist/keys_internal.h"

#include <stdlib.h>

struct stream_side {
	struct table *table;
	struct hot_streams *streams;
	struct index by_places;
	size_t cap, cap_places;
};

/* ---- places ---- */

static void add_line(const struct source_line *line, struct str *out)
{
	const char *slash = strrchr(line->file, '/'), *name = slash && slash[1] ? slash + 1 : line->file;

	str_addc(out, ' ');
	str_add_printable(out, name, strlen(name));
	str_addf(out, ":%u", line->line);
}

static void add_place(const struct location_row *row, const struct frame *frame, struct str *out)
{
	if (!frame->symbol) {
		str_addf(out, "%s+0x%llx", row->dso ? row->dso->name : "[unknown]",
			 (unsigned long long)location_own_addr(row));
		return;
	}
	str_add(out, frame->symbol->name);
	if (frame->line.file && frame->line.line)
		add_line(&frame->line, out);
	else if (!frame->symbol->inlined)
		str_addf(out, "+%llu", (unsigned long long)(row->addr - frame->symbol->start));
}

static void add_places(struct stream_side *side, struct text_index *texts, uint32_t location)
{
	const struct location_row *row = table_location_row(side->table, location);
	const struct frame_list *frames = location_frames(side->table->session, location, SYM_LINES);
	struct hot_streams *streams = side->streams;
	struct str text = STR_INIT;

	for (size_t i = 0; i < frames->n; i++) {
		str_reset(&text);
		add_place(row, &frames->v[i], &text);
		VEC_GROW(streams->places, streams->n_places, side->cap_places);
		streams->places[streams->n_places++] = texts_intern(texts, text.s, text.len);
	}
	str_release(&text);
}

/* ---- streams of one recording ---- */

static bool same_places(const struct hot_streams *a, const struct hot_stream *x, const struct hot_streams *b,
			const struct hot_stream *y)
{
	return x->n_places == y->n_places &&
	       !memcmp(a->places + x->first, b->places + y->first, x->n_places * sizeof(*a->places));
}

static uint64_t hash_places(const struct hot_streams *streams, const struct hot_stream *stream)
{
	return hash_bytes(streams->places + stream->first, stream->n_places * sizeof(*streams->places));
}

/* The places at the end are the stream's; where it is known already they are taken away. */
static struct hot_stream *find_stream(struct stream_side *side, size_t first)
{
	struct hot_streams *streams = side->streams;
	const struct hot_stream made = { .first = first, .n_places = streams->n_places - first, .other = SIZE_MAX };
	const uint64_t hash = hash_places(streams, &made);
	uint32_t i;

	if (INDEX_FIND(&side->by_places, hash, i, same_places(streams, &streams->v[i], streams, &made))) {
		streams->n_places = first;
		return &streams->v[i];
	}
	index_add(&side->by_places, hash, (uint32_t)streams->n);
	VEC_GROW(streams->v, streams->n, side->cap);
	streams->v[streams->n] = made;
	return &streams->v[streams->n++];
}

/* A branch's cycles are its source's, and those of its target are the same ones. */
static uint64_t cycles_at(const struct location_row *row)
{
	return row->branch & BRANCH_END_FROM ? branch_cycles(row->branch) : 0;
}

static void add_cell(struct stream_side *side, struct text_index *texts, const struct cells *cells, size_t cell,
		     uint32_t *locations, size_t max)
{
	const struct session *session = side->table->session;
	const uint64_t n = cells->values[cell].n_samples;
	const uint32_t stack = (uint32_t)cell_fact(cells, cell, FACT_STACK);
	const size_t depth = stack ? stacks_walk(session->stacks, stack, locations, max) : 0;
	const size_t first = side->streams->n_places;
	struct hot_stream *stream;
	uint64_t cycles = 0;

	if (!n)
		return;
	side->streams->n_samples += n;
	for (size_t i = 0; i < depth; i++) {
		add_places(side, texts, locations[i]);
		cycles += cycles_at(table_location_row(side->table, locations[i]));
	}
	if (side->streams->n_places == first)
		return;
	stream = find_stream(side, first);
	stream->n += n;
	stream->cycles += n * cycles;
}

static size_t deepest(const struct stacks *stacks, const struct cells *cells)
{
	size_t most = 0;

	for (size_t cell = 0; cell < cells->n; cell++) {
		size_t depth = 0;

		for (uint64_t at = cell_fact(cells, cell, FACT_STACK); at; at = stacks->v[at].parent)
			depth++;
		most = depth > most ? depth : most;
	}
	return most;
}

static void find_streams(struct stream_side *side, struct text_index *texts, const struct hist *hist)
{
	const struct cells *cells = hist->cells[0];
	const size_t max = deepest(side->table->session->stacks, cells);
	uint32_t *locations = xcalloc(max + 1, sizeof(*locations));

	for (size_t cell = 0; cell < cells->n; cell++)
		if (table_takes_cell(side->table, cells, cell))
			add_cell(side, texts, cells, cell, locations, max);
	free(locations);
}

/* ---- two recordings ---- */

static int compare_places(const struct hot_streams *streams, const struct hot_stream *a, const struct hot_stream *b)
{
	for (size_t i = 0; i < a->n_places && i < b->n_places; i++) {
		const uint32_t x = streams->places[a->first + i], y = streams->places[b->first + i];

		if (x != y)
			return x < y ? -1 : 1;
	}
	return (a->n_places > b->n_places) - (a->n_places < b->n_places);
}

static int hotter_first(const void *pa, const void *pb, void *streams)
{
	const struct hot_stream *a = pa, *b = pb;
	int order = (a->n < b->n) - (a->n > b->n);

	order = order ? order : (a->cycles < b->cycles) - (a->cycles > b->cycles);
	return order ? order : compare_places(streams, a, b);
}

static void sort_streams(struct stream_side *side)
{
	struct hot_streams *streams = side->streams;

	if (streams->n)
		qsort_r(streams->v, streams->n, sizeof(*streams->v), hotter_first, streams);
	index_clear(&side->by_places);
	for (size_t i = 0; i < streams->n; i++)
		index_add(&side->by_places, hash_places(streams, &streams->v[i]), (uint32_t)i);
}

static void pair_up(struct stream_diff *diff, const struct stream_side *now)
{
	struct hot_streams *old = &diff->sides[0], *new = &diff->sides[1];
	uint32_t at;

	for (size_t i = 0; i < old->n; i++) {
		const uint64_t hash = hash_places(old, &old->v[i]);

		if (!INDEX_FIND(&now->by_places, hash, at, same_places(old, &old->v[i], new, &new->v[at])))
			continue;
		old->v[i].other = at;
		new->v[at].other = i;
	}
}

struct stream_diff *stream_diff_new(struct table *before, const struct hist *hist, struct table *now,
				    const struct hist *hist_now)
{
	struct stream_diff *diff = xcalloc(1, sizeof(*diff));
	struct stream_side sides[2] = { { .table = before, .streams = &diff->sides[0] },
					{ .table = now, .streams = &diff->sides[1] } };

	diff->texts = texts_new();
	find_streams(&sides[0], diff->texts, hist);
	find_streams(&sides[1], diff->texts, hist_now);
	for (size_t i = 0; i < 2; i++)
		sort_streams(&sides[i]);
	pair_up(diff, &sides[1]);
	for (size_t i = 0; i < 2; i++)
		index_release(&sides[i].by_places);
	return diff;
}

const char *stream_place(const struct stream_diff *diff, size_t side, const struct hot_stream *stream, size_t i)
{
	return texts_get(diff->texts, diff->sides[side].places[stream->first + i]);
}

void stream_diff_free(struct stream_diff *diff)
{
	for (size_t i = 0; i < 2; i++) {
		free(diff->sides[i].v);
		free(diff->sides[i].places);
	}
	texts_free(diff->texts);
	free(diff);
}
