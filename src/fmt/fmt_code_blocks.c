/* SPDX-License-Identifier: MIT */
/*
 * fmt_code_blocks.c: blocks of code as perf report --total-cycles prints them: cycles of all runs, and of one, each
 * also as a part: of the cycles of all branches, and of those of one run of each block.
 */
#include "fmt/fmt_internal.h"

static double part(uint64_t cycles, uint64_t all)
{
	return all ? 100.0 * (double)cycles / (double)all : 0;
}

static void add_cycles(uint64_t cycles, struct str *out)
{
	if (cycles >= 1000000)
		str_addf(out, "%.1fM", (double)cycles / 1e6);
	else if (cycles >= 1000)
		str_addf(out, "%.1fK", (double)cycles / 1e3);
	else
		str_addf(out, "%llu", (unsigned long long)cycles);
}

/* ---- columns ---- */

struct block_row {
	struct table *table;
	const struct code_blocks *blocks;
	const struct code_block *block;
	uint64_t mean; /* cycles of one run */
	const struct code_block_pair *pair; /* whose `before` the block is; NULL: one recording is shown */
};
struct block_column {
	const char *head;
	unsigned width;
	void (*add)(const struct block_row *row, struct str *out);
};

static void add_sampled_part(const struct block_row *row, struct str *out)
{
	str_addf(out, "%.2f%%", part(row->block->cycles, row->blocks->cycles));
}

static void add_sampled(const struct block_row *row, struct str *out)
{
	add_cycles(row->block->cycles, out);
}

static void add_mean_part(const struct block_row *row, struct str *out)
{
	str_addf(out, "%.2f%%", part(row->mean, row->blocks->means));
}

static void add_mean(const struct block_row *row, struct str *out)
{
	add_cycles(row->mean, out);
}

static void add_range(const struct block_row *row, struct str *out)
{
	code_block_add_range(row->table, row->block, out);
}

static void add_file(const struct block_row *row, struct str *out)
{
	str_add(out, row->block->symbol->dso->name);
}

static void add_mean_now(const struct block_row *row, struct str *out)
{
	add_cycles(code_block_mean(row->pair->now), out);
}

static void add_change(const struct block_row *row, struct str *out)
{
	str_addf(out, "%+lld", (long long)row->pair->change);
}

static void add_runs(const struct block_row *row, struct str *out)
{
	str_addf(out, "%llu", (unsigned long long)row->pair->before->n);
}

static void add_runs_now(const struct block_row *row, struct str *out)
{
	str_addf(out, "%llu", (unsigned long long)row->pair->now->n);
}

static void add_deviation_of(const struct code_block *block, struct str *out)
{
	str_addf(out, "%.1f%%", 100 * code_block_deviation(block) * (double)block->n / (double)block->cycles);
}

static void add_deviation(const struct block_row *row, struct str *out)
{
	add_deviation_of(row->pair->before, out);
}

static void add_deviation_now(const struct block_row *row, struct str *out)
{
	add_deviation_of(row->pair->now, out);
}

static void add_classes(const struct block_row *row, struct str *out)
{
	code_block_add_runs(row->pair->before, out);
}

static void add_classes_now(const struct block_row *row, struct str *out)
{
	code_block_add_runs(row->pair->now, out);
}

static const struct block_column columns[] = {
	{ "Sampled Cycles%", 15, add_sampled_part }, { "Sampled Cycles", 14, add_sampled },
	{ "Avg Cycles%", 11, add_mean_part },        { "Avg Cycles", 10, add_mean },
	{ "[Program Block Range]", 70, add_range },  { "Shared Object", 20, add_file },
};
static const struct block_column pair_columns[] = {
	{ "Baseline", 8, add_sampled_part },      { "Cycles Diff", 11, add_change },
	{ "Avg Before", 10, add_mean },           { "Avg Now", 10, add_mean_now },
	{ "Runs Before", 11, add_runs },          { "Runs Now", 8, add_runs_now },
	{ "[Program Block Range]", 70, add_range }, { "Shared Object", 20, add_file },
	{ "Stddev Before", 13, add_deviation },   { "Stddev Now", 10, add_deviation_now },
	{ "Cycles:Runs Before", 24, add_classes }, { "Cycles:Runs Now", 24, add_classes_now },
};
enum { SPREAD_COLUMNS = 4 }; /* the last ones */

static void add_heads(const struct table *table, const struct block_column *shown, size_t n, struct str *out)
{
	str_add(out, "# ");
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s%*s", i ? fmt_between(table) : "", (int)shown[i].width, shown[i].head);
	str_addc(out, '\n');
	if (table->question->query.separator)
		return;
	str_add(out, "# ");
	for (size_t i = 0; i < n; i++) {
		str_add(out, i ? fmt_between(table) : "");
		str_pad(out, '.', shown[i].width);
	}
	str_add(out, "\n#\n");
}

static void add_block(const struct block_row *row, const struct block_column *shown, size_t n, struct str *out)
{
	const char *separator = row->table->question->query.separator;
	struct str text = STR_INIT;

	for (size_t i = 0; i < n; i++) {
		size_t start;

		str_reset(&text);
		shown[i].add(row, &text);
		str_add(out, !separator || i ? fmt_between(row->table) : "");
		if (!separator && text.len < shown[i].width)
			str_pad(out, ' ', shown[i].width - text.len);
		start = out->len;
		str_add(out, text.s);
		if (fmt_needs_quotes(text.s, separator))
			fmt_quote_field(out, start);
	}
	str_addc(out, '\n');
	str_release(&text);
}

static int print_blocks(struct table *table, const struct hist *hist, struct output *output)
{
	struct code_blocks *blocks = code_blocks_new(table, hist);
	const double limit = table->question->query.percent_limit;

	stdio_add_event_head(table, hist, &output->text);
	if (!table->question->query.quiet)
		add_heads(table, columns, ARRAY_SIZE(columns), &output->text);
	for (size_t i = 0; i < blocks->n && !output_step(output); i++) {
		const struct block_row row = { table, blocks, &blocks->v[i], code_block_mean(&blocks->v[i]), NULL };

		if (part(blocks->v[i].cycles, blocks->cycles) >= limit)
			add_block(&row, columns, ARRAY_SIZE(columns), &output->text);
	}
	if (!blocks->cycles)
		note_add(&table->notes, false, NULL, "--total-cycles: the recording's branches have no cycles");
	code_blocks_free(blocks);
	str_add(&output->text, "\n\n");
	return output_step(output);
}

static int total_cycles_print(struct table *table, struct output *output)
{
	stdio_add_start(table, output);
	for (size_t i = 0; i < table->n_hists && !output->failed; i++)
		if (!head_is_empty(&table->hists[i]) || table->question->query.empty_shown)
			print_blocks(table, &table->hists[i], output);
	return output->failed;
}

/* ---- two recordings ---- */

static void note_lone(struct table *table, const struct code_block_pairs *pairs,
		      struct code_blocks *const *blocks)
{
	if (pairs->n_lone[0] || pairs->n_lone[1])
		note_add(&table->notes, false, NULL,
			 "not compared: %zu blocks of the baseline (%.1f %% of its cycles) and %zu of the other "
			 "recording (%.1f %%), which the other side does not have",
			 pairs->n_lone[0], part(pairs->lone_cycles[0], blocks[0]->cycles), pairs->n_lone[1],
			 part(pairs->lone_cycles[1], blocks[1]->cycles));
	for (size_t side = 0; side < 2; side++)
		if (!blocks[side]->cycles)
			note_add(&table->notes, false, NULL, "the branches of %s have no cycles",
				 side ? "the other recording" : "the baseline");
}

static void print_pairs(struct table *before, const struct hist *hist, struct table *now, const struct hist *hist_now,
			bool spread, struct output *output)
{
	const size_t n_columns = ARRAY_SIZE(pair_columns) - (spread ? 0 : SPREAD_COLUMNS);
	struct code_blocks *blocks[] = { code_blocks_new(before, hist), code_blocks_new(now, hist_now) };
	struct code_block_pairs *pairs = code_block_pairs_new(blocks[0], blocks[1]);

	if (!before->question->query.quiet)
		add_heads(before, pair_columns, n_columns, &output->text);
	for (size_t i = 0; i < pairs->n && !output_step(output); i++) {
		const struct code_block *block = pairs->v[i].before;
		const struct block_row row = { before, blocks[0], block, code_block_mean(block), &pairs->v[i] };

		add_block(&row, pair_columns, n_columns, &output->text);
	}
	note_lone(before, pairs, blocks);
	code_block_pairs_free(pairs);
	code_blocks_free(blocks[0]);
	code_blocks_free(blocks[1]);
}

int code_blocks_diff_print(struct table *before, struct table *now, bool spread, struct output *output)
{
	size_t n = 0;

	for (size_t i = 0; i < before->n_hists && !output->failed; i++) {
		const struct hist *hist_now = head_begin_pair(before, i, now, true, &n, output);

		if (hist_now)
			print_pairs(before, &before->hists[i], now, hist_now, spread, output);
	}
	return output_step(output);
}

const struct report_format format_total_cycles = {
	.name = "total-cycles",
	.needs = NEED_CODE_BLOCKS,
	.print = total_cycles_print,
};
