/* SPDX-License-Identifier: MIT */
/*
 * fmt_streams.c: streams of two recordings as perf diff --stream prints them: those of both beside each other, then
 * those of one alone. Each has its mean cycles, its part of the samples, and its places, innermost first.
 */
#include "fmt/fmt_internal.h"

enum { STREAMS_SHOWN = 100, STREAM_COLUMNS = 35 };

/* ---- one stream, or a pair ---- */

struct stream_pair {
	const struct hot_stream *sides[2]; /* NULL: that recording has none */
};

static void add_columns(const struct stream_pair *pair, const char *const texts[2], struct str *out)
{
	str_addf(out, "%*s", STREAM_COLUMNS, pair->sides[0] ? texts[0] : "");
	if (pair->sides[1])
		str_addf(out, "\t%*s", STREAM_COLUMNS, texts[1]);
	str_addc(out, '\n');
}

static void add_numbers(const struct stream_diff *diff, const struct stream_pair *pair, struct str *out)
{
	char texts[2][64] = { "", "" };

	for (size_t i = 0; i < 2; i++) {
		const struct hot_stream *stream = pair->sides[i];

		if (stream)
			snprintf(texts[i], sizeof(texts[i]), "cycles: %llu, hits: %.2f%%",
				 (unsigned long long)(stream->cycles / stream->n),
				 100.0 * (double)stream->n / (double)diff->sides[i].n_samples);
	}
	add_columns(pair, (const char *const[]){ texts[0], texts[1] }, out);
}

static void add_pair(const struct stream_diff *diff, const struct stream_pair *pair, struct str *out)
{
	static const char *const rules[] = { "---------------------------", "--------------------------" };
	const size_t side = !pair->sides[0];

	add_numbers(diff, pair, out);
	add_columns(pair, rules, out);
	for (size_t i = 0; i < pair->sides[side]->n_places; i++) {
		const char *place = stream_place(diff, side, pair->sides[side], i);

		add_columns(pair, (const char *const[]){ place, place }, out);
	}
	str_addc(out, '\n');
}

/* ---- sections ---- */

/* Prints those of the side that have a partner, or those that have none. */
static void print_section(struct table *table, const struct stream_diff *diff, size_t side, bool matched,
			  struct output *output)
{
	static const char *const alone[] = { "old", "new" };
	const struct hot_streams *streams = &diff->sides[side];
	size_t n = 0;

	str_addf(&output->text, matched ? "[ Matched hot streams ]\n\n" : "[ Hot streams in %s perf data only ]\n\n",
		 alone[side]);
	for (size_t i = 0; i < streams->n && !output_step(output); i++) {
		const struct hot_stream *stream = &streams->v[i];
		struct stream_pair pair = { { NULL, NULL } };

		if ((stream->other != SIZE_MAX) != matched || n++ >= STREAMS_SHOWN)
			continue;
		pair.sides[side] = stream;
		if (matched)
			pair.sides[!side] = &diff->sides[!side].v[stream->other];
		str_addf(&output->text, "hot chain %s%zu:\n", matched ? "pair " : "", n);
		add_pair(diff, &pair, &output->text);
	}
	if (n > STREAMS_SHOWN)
		note_add(&table->notes, false, NULL, "%zu streams %s are not shown, only the %d hottest",
			 n - STREAMS_SHOWN, matched ? "of both recordings" :
			 side		     ? "of the new recording alone" : "of the old recording alone",
			 STREAMS_SHOWN);
}

int streams_diff_print(struct table *before, struct table *now, struct output *output)
{
	size_t n = 0;

	for (size_t i = 0; i < before->n_hists && !output->failed; i++) {
		const struct hist *hist_now = head_begin_pair(before, i, now, before->n_hists > 1, &n, output);
		struct stream_diff *diff;

		if (!hist_now)
			continue;
		diff = stream_diff_new(before, &before->hists[i], now, hist_now);
		print_section(before, diff, 0, true, output);
		print_section(before, diff, 0, false, output);
		print_section(before, diff, 1, false, output);
		stream_diff_free(diff);
	}
	return output_step(output);
}
