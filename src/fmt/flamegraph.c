/*
 * flamegraph.c: whole stacks as one HTML page that asks nobody for anything: style, page and scripts are files of
 * their own (flamegraph.css, .html, flamegraph_model.js, _looks.js, _view.js) that the build puts into the program, and
 * between them stands what was sampled, as JSON in a script element that is never run:
 *
 *	{ "format": "pstat flamegraph", "format_version": 1,
 *	  "events": [ {               one per event that has samples
 *	    "name": text, "samples", "period": number: sums of the rows,
 *	    "files": [ text, ... ]    of code and of source; the first is "": not known
 *	    "frames": { "name": [ text, ... ], "kind": [ 0 inlined, 1 unknown, 2 kernel, 3 made at run time, 4 user ],
 *	        "file", "source": [ numbers of files ], "line": [ 0: not known ] },
 *	    "nodes": { "depth", "frame": [ ... ] }   of the tree in the order of a walk, without its root
 *	    "groups": [ text, ... ]   what -s tells apart beside code, such as threads' names
 *	    "lanes": [ text, ... ], "lanes_are_cpus": bool,
 *	    "buckets": number, "bucket_ns", "start_ns": of time
 *	    "rows": { "node": [ each as the difference to the one before; the first node is 1, the root 0 ],
 *	        "group", "lane", "bucket": [ ... ], or null where all are 0
 *	        "samples": [ ... ], "period": [ ... ], or one number: that times the samples } } ],
 *	    "diff": { "before", "now": [ parts of a million of all ], "low", "high": [ of their difference ],
 *	        "verdict": [ enum diff_verdict ] }   of the nodes; only in a difference (flamegraph_diff.c)
 *	  "title": text, "caption": [ text, ... ] }   see stack_caption.h
 *
 * A name is text in the page and never markup: '<', '>' and '&' are escaped in the JSON, and the scripts only set text.
 */
#include "fmt/flamegraph_internal.h"
#include "fmt/stack_caption.h"

#include <math.h>
#include <stdlib.h>

/* Also within a script element. */
static void add_text(struct str *out, struct str *scratch, const char *text)
{
	static const char escaped[] = "<>&";

	str_reset(scratch);
	str_add_json(scratch, text);
	for (const char *at = scratch->s; *at;) {
		size_t n = strcspn(at, escaped);

		str_addn(out, at, n);
		at += n;
		if (*at)
			str_addf(out, "\\u%04x", (unsigned char)*at++);
	}
}

/* ---- one event ---- */

struct page {
	struct output *output;
	struct str scratch;
	const struct stack_tree *tree;
	const struct stack_node_diff *diff; /* of its nodes, or NULL */
	struct text_index *files;
	uint32_t n_files;
};

/* "name": [ one number for each of n ] */
static void add_numbers(struct page *page, const char *name, size_t n, uint64_t (*number)(struct page *page, size_t i))
{
	struct str *out = &page->output->text;

	str_addf(out, "\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		if (i)
			str_addc(out, ',');
		str_add_u64(out, number(page, i));
		if (!(i & 0xfff))
			output_step(page->output);
	}
	str_addc(out, ']');
}

static void add_texts(struct page *page, const char *name, size_t n, const char *(*text)(struct page *page, size_t i))
{
	struct str *out = &page->output->text;

	str_addf(out, "\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		if (i)
			str_addc(out, ',');
		add_text(out, &page->scratch, text(page, i));
		output_step(page->output);
	}
	str_addc(out, ']');
}

static uint32_t file_number(struct page *page, const char *file)
{
	uint32_t number = texts_intern(page->files, file ? file : "", file ? strlen(file) : 0);

	if (number >= page->n_files)
		page->n_files = number + 1;
	return number;
}

static const char *frame_name(struct page *page, size_t i)
{
	return stack_tree_text(page->tree, page->tree->frames[i].name);
}

static uint64_t frame_kind(struct page *page, size_t i)
{
	return page->tree->frames[i].kind;
}

static uint64_t frame_file(struct page *page, size_t i)
{
	const struct dso *dso = page->tree->frames[i].dso;

	return file_number(page, dso ? dso->name : NULL);
}

static uint64_t frame_source(struct page *page, size_t i)
{
	return file_number(page, page->tree->frames[i].line.file);
}

static uint64_t frame_line(struct page *page, size_t i)
{
	return page->tree->frames[i].line.line;
}

static const char *file_name(struct page *page, size_t i)
{
	return texts_get(page->files, (uint32_t)i);
}

static uint64_t node_depth(struct page *page, size_t i)
{
	return page->tree->nodes[i + 1].depth;
}

static uint64_t node_frame(struct page *page, size_t i)
{
	return page->tree->nodes[i + 1].frame;
}

static const char *group_name(struct page *page, size_t i)
{
	return stack_tree_text(page->tree, page->tree->groups[i]);
}

static const char *lane_name(struct page *page, size_t i)
{
	return stack_tree_text(page->tree, page->tree->lanes[i]);
}

static uint64_t row_node(struct page *page, size_t i)
{
	const struct stack_tree_row *rows = page->tree->rows;

	return rows[i].node - (i ? rows[i - 1].node : 0);
}

static uint64_t row_group(struct page *page, size_t i)
{
	return page->tree->rows[i].group;
}

static uint64_t row_lane(struct page *page, size_t i)
{
	return page->tree->rows[i].lane;
}

static uint64_t row_bucket(struct page *page, size_t i)
{
	return page->tree->rows[i].bucket;
}

static uint64_t row_samples(struct page *page, size_t i)
{
	return page->tree->rows[i].n_samples;
}

static uint64_t row_period(struct page *page, size_t i)
{
	return page->tree->rows[i].period;
}

static void add_or_null(struct page *page, const char *name, bool any, uint64_t (*number)(struct page *page, size_t i))
{
	if (any)
		add_numbers(page, name, page->tree->n_rows, number);
	else
		str_addf(&page->output->text, "\"%s\":null", name);
	str_addc(&page->output->text, ',');
}

/* Is each row's period that of all its samples? Then one number tells them all. */
static bool periods_are_even(const struct stack_tree *tree, uint64_t *each)
{
	const struct stack_tree_row *first = tree->rows;

	*each = tree->n_rows ? first->period / first->n_samples : 0;
	for (size_t i = 0; i < tree->n_rows; i++)
		if (tree->rows[i].period != *each * tree->rows[i].n_samples)
			return false;
	return true;
}

static void add_rows(struct page *page)
{
	const struct stack_tree *tree = page->tree;
	struct str *out = &page->output->text;
	uint64_t each;

	str_add(out, ",\n\"rows\":{");
	add_numbers(page, "node", tree->n_rows, row_node);
	str_addc(out, ',');
	add_or_null(page, "group", tree->n_groups > 1, row_group);
	add_or_null(page, "lane", tree->n_lanes > 1, row_lane);
	add_or_null(page, "bucket", tree->n_buckets > 1, row_bucket);
	add_numbers(page, "samples", tree->n_rows, row_samples);
	str_addc(out, ',');
	if (periods_are_even(tree, &each))
		str_addf(out, "\"period\":%llu", (unsigned long long)each);
	else
		add_numbers(page, "period", tree->n_rows, row_period);
	str_addc(out, '}');
}

static void add_frames(struct page *page)
{
	const struct stack_tree *tree = page->tree;
	struct str *out = &page->output->text;

	str_add(out, ",\n\"frames\":{");
	add_texts(page, "name", tree->n_frames, frame_name);
	str_addc(out, ',');
	add_numbers(page, "kind", tree->n_frames, frame_kind);
	str_addc(out, ',');
	add_numbers(page, "file", tree->n_frames, frame_file);
	str_addc(out, ',');
	add_numbers(page, "source", tree->n_frames, frame_source);
	str_addc(out, ',');
	add_numbers(page, "line", tree->n_frames, frame_line);
	str_add(out, "},\n");
	add_texts(page, "files", page->n_files, file_name);
	str_add(out, ",\n\"nodes\":{");
	add_numbers(page, "depth", tree->n - 1, node_depth);
	str_addc(out, ',');
	add_numbers(page, "frame", tree->n - 1, node_frame);
	str_addc(out, '}');
}

/* Parts of a million, of a part that is not negative. */
static long long millionths(double part)
{
	return (long long)(1e6 * part + (part < 0 ? -0.5 : 0.5));
}

static long long diff_before(const struct stack_node_diff *diff)
{
	return millionths(diff->before);
}

static long long diff_now(const struct stack_node_diff *diff)
{
	return millionths(diff->now);
}

static long long diff_low(const struct stack_node_diff *diff)
{
	return millionths(diff->change.low);
}

static long long diff_high(const struct stack_node_diff *diff)
{
	return millionths(diff->change.high);
}

static long long diff_verdict(const struct stack_node_diff *diff)
{
	return diff->verdict;
}

static void add_diff(struct page *page)
{
	static const struct {
		const char *name;
		long long (*number)(const struct stack_node_diff *diff);
	} rows[] = {
		{ "before", diff_before }, { "now", diff_now }, { "low", diff_low }, { "high", diff_high },
		{ "verdict", diff_verdict },
	};
	struct str *out = &page->output->text;

	str_add(out, ",\n\"diff\":{");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		str_addf(out, "%s\"%s\":[", i ? "," : "", rows[i].name);
		for (size_t node = 1; node < page->tree->n; node++)
			str_addf(out, "%s%lld", node > 1 ? "," : "", rows[i].number(&page->diff[node]));
		str_addc(out, ']');
		output_step(page->output);
	}
	str_addc(out, '}');
}

void flamegraph_add_event(struct output *output, const struct stack_tree *tree, const struct stack_node_diff *diff,
			  const char *name)
{
	struct page page = { .output = output, .scratch = STR_INIT, .tree = tree, .diff = diff, .files = texts_new() };
	struct str *out = &output->text;

	file_number(&page, NULL);
	str_add(out, "{\"name\":");
	add_text(out, &page.scratch, name);
	str_addf(out, ",\"samples\":%llu,\"period\":%llu", (unsigned long long)tree->n_samples,
		 (unsigned long long)tree->period);
	add_frames(&page);
	str_add(out, ",\n");
	add_texts(&page, "groups", tree->n_groups, group_name);
	str_addc(out, ',');
	add_texts(&page, "lanes", tree->n_lanes, lane_name);
	str_addf(out, ",\"lanes_are_cpus\":%s,\"buckets\":%zu,\"bucket_ns\":%llu,\"start_ns\":%llu",
		 tree->lanes_are_cpus ? "true" : "false", tree->n_buckets, (unsigned long long)tree->bucket_ns,
		 (unsigned long long)tree->start_ns);
	add_rows(&page);
	if (diff)
		add_diff(&page);
	str_addc(out, '}');
	str_release(&page.scratch);
	texts_free(page.files);
}

/* ---- the page ---- */

static void add_events(struct table *table, struct output *output)
{
	const struct stack_tree_options options = { .kinds_apart = true, .lines = true,
						    .times = table->options.needs & NEED_TIMES };
	struct str name = STR_INIT;
	bool any = false;

	for (size_t i = 0; i < table->n_hists; i++) {
		const struct hist *hist = &table->hists[i];

		for (size_t member = 0; member < hist->n_members && !head_is_empty(hist); member++) {
			struct stack_tree *tree = stack_tree_new(table, hist, member, &options);

			str_reset(&name);
			data_event_add_name(head_member(table, hist, member), &name);
			if (tree->n_rows) {
				str_add(&output->text, any ? ",\n" : "");
				flamegraph_add_event(output, tree, NULL, name.s);
				any = true;
			}
			stack_tree_free(tree);
		}
	}
	str_release(&name);
}

void flamegraph_begin(struct output *output)
{
	struct str *out = &output->text;

	str_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		     "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
		     "<meta name=\"viewport\" content=\"width=device-width\">\n"
		     "<title>Flame graph</title>\n<style>\n");
	str_add(out, flamegraph_css);
	str_add(out, "</style>\n</head>\n<body>\n");
	str_add(out, flamegraph_html);
	str_add(out, "<script type=\"application/json\" id=\"data\">\n"
		     "{\"format\":\"pstat flamegraph\",\"format_version\":1,\n\"events\":[");
}

void flamegraph_end(struct output *output, const struct note_list *caption)
{
	struct str scratch = STR_INIT, *out = &output->text;

	str_add(out, "],\n\"title\":");
	add_text(out, &scratch, caption->v[0].text);
	str_add(out, ",\"caption\":[");
	for (size_t i = 1; i < caption->n; i++) {
		str_add(out, i > 1 ? ",\n" : "");
		add_text(out, &scratch, caption->v[i].text);
	}
	str_add(out, "]}\n</script>\n<script>\n");
	str_release(&scratch);
	str_add(out, flamegraph_model_js);
	str_add(out, flamegraph_looks_js);
	str_add(out, flamegraph_view_js);
	str_add(out, "</script>\n</body>\n</html>\n");
	output_step(output);
}

/* The caption comes last: notes about names are complete when all of them have been looked up. */
static int flamegraph_print(struct table *table, struct output *output)
{
	struct note_list caption = { 0 };

	flamegraph_begin(output);
	add_events(table, output);
	stack_caption(table, &caption);
	flamegraph_end(output, &caption);
	note_list_release(&caption);
	return output->failed;
}

const struct report_format format_flamegraph = {
	.name = "flamegraph",
	.help = "a page with a flame graph, for a browser",
	.needs = NEED_STACKS | NEED_TIMES,
	.print = flamegraph_print,
};
