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

static const struct {
	const char *head;
	unsigned width;
	void (*add)(const struct block_row *row, struct str *out);
} columns[] = {
	{ "Sampled Cycles%", 15, add_sampled_part }, { "Sampled Cycles", 14, add_sampled },
	{ "Avg Cycles%", 11, add_mean_part },        { "Avg Cycles", 10, add_mean },
	{ "[Program Block Range]", 70, add_range },  { "Shared Object", 20, add_file },
};

static void add_heads(const struct table *table, struct str *out)
{
	str_add(out, "# ");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		str_addf(out, "%s%*s", i ? fmt_between(table) : "", (int)columns[i].width, columns[i].head);
	str_addc(out, '\n');
	if (table->question->query.separator)
		return;
	str_add(out, "# ");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		str_add(out, i ? fmt_between(table) : "");
		str_pad(out, '.', columns[i].width);
	}
	str_add(out, "\n#\n");
}

static void add_block(struct table *table, const struct code_blocks *blocks, const struct code_block *block,
		      struct str *out)
{
	const struct block_row row = { table, blocks, block, block->cycles / block->n };
	const char *separator = table->question->query.separator;
	struct str text = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		size_t start;

		str_reset(&text);
		columns[i].add(&row, &text);
		str_add(out, !separator || i ? fmt_between(table) : "");
		if (!separator && text.len < columns[i].width)
			str_pad(out, ' ', columns[i].width - text.len);
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
		add_heads(table, &output->text);
	for (size_t i = 0; i < blocks->n && !output_step(output); i++)
		if (part(blocks->v[i].cycles, blocks->cycles) >= limit)
			add_block(table, blocks, &blocks->v[i], &output->text);
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

const struct report_format format_total_cycles = {
	.name = "total-cycles",
	.needs = NEED_CODE_BLOCKS,
	.print = total_cycles_print,
};
