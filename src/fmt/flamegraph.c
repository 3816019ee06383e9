/* SPDX-License-Identifier: MIT */
/*
 * flamegraph.c: whole stacks as a flame graph: of one recording or of two, as a page for a browser or as a picture.
 *
 * The page is one HTML file that asks nobody for anything: style, page and scripts are files of their own
 * (flamegraph.css, .html, and the scripts of end_page()) that the build puts into the program, and between them stands
 * what was sampled, as JSON in a script element that is never run:
 *
 *	{ "format": "pstat flamegraph", "format_version": 1,
 *	  "events": [ {               one per event that has samples
 *	    "name": text, "samples", "period": number: sums of the rows,
 *	    "files": [ text, ... ]    of code and of source; the first is "": not known
 *	    "frames": { "name": [ text, ... ], "kind": [ 0 inlined, 1 unknown, 2 kernel, 3 made at run time, 4 user,
 *	                                  5 waiting ],
 *	        "file", "source": [ numbers of files ], "line": [ 0: not known ] },
 *	    "nodes": { "depth", "frame": [ ... ] }   of the tree in the order of a walk, without its root
 *	    "groups": [ text, ... ]   what -s tells apart beside code, such as threads' names
 *	    "lanes": [ text, ... ], "lanes_are_cpus": bool,
 *	    "buckets": number, "bucket_ns", "start_ns": of time
 *	    "rows": { "node": [ each as the difference to the one before; the first node is 1, the root 0 ],
 *	        "group", "lane", "bucket": [ ... ], or null where all are 0
 *	        "samples": [ ... ], "period": [ ... ], or one number: that times the samples } } ],
 *	    "chart": {                threads in the order of time: see stack_spans.h; or a text: why it is absent
 *	        "lanes": [ text, ... ], "spans": [ number of each lane's ], "left_out": number of threads without a lane
 *	        "gap": [ us after the lane's span before; of the first: after start_ns ], "length": [ us ],
 *	        "node": [ difference to that of the lane's span before ], "several": [ 1: of different stacks, of which
 *	        the node is what they have in common ], or null where none is }   not in a difference
 *	    "diff": { "before", "now": [ parts of a million of all ], "low", "high": [ of their difference ],
 *	        "verdict": [ enum diff_verdict ] }   of the nodes; only in a difference
 *	  "title": text, "caption": [ text, ... ] }   see stack_caption.h
 *
 * A name is text in the page and never markup: '<', '>' and '&' are escaped in the JSON, and the scripts only set
 * text.
 *
 * The picture (SVG) can be put into a document: one group for each box, its kind as its class, and all that is
 * known of it as its title. Boxes of less than a thousandth of the samples are left out, and the picture says how
 * many. Where scripts run it zooms and searches (flamegraph_svg.js).
 *
 *	<g class="kernel"><title>...</title><rect x= y= width= height=/><text>name</text></g>
 *
 * Of two recordings a page has each event twice: with the widths of the new one, and with those of the old one,
 * where stacks are that have vanished. A picture has the first alone. Colours are the same everywhere: what is
 * certainly more, certainly less, or explained by chance.
 */
#include "fmt/fmt_internal.h"
#include "fmt/stack_caption.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- one event ---- */

struct graph_page {
	struct output *output;
	const struct stack_tree *tree;
	const struct stack_node_diff *diff; /* of its nodes, or NULL */
	struct text_index *files;
	uint32_t n_files;
};

/* "name": [ one number for each of n ] */
static void add_numbers(struct graph_page *page, const char *name, size_t n,
			uint64_t (*number)(struct graph_page *page, size_t i))
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

static void add_texts(struct graph_page *page, const char *name, size_t n,
		      const char *(*text)(struct graph_page *page, size_t i))
{
	struct str *out = &page->output->text;

	str_addf(out, "\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		if (i)
			str_addc(out, ',');
		str_add_page_json(out, text(page, i));
		output_step(page->output);
	}
	str_addc(out, ']');
}

static uint32_t file_number(struct graph_page *page, const char *file)
{
	uint32_t number = texts_intern(page->files, file ? file : "", file ? strlen(file) : 0);

	if (number >= page->n_files)
		page->n_files = number + 1;
	return number;
}

static const char *frame_name(struct graph_page *page, size_t i)
{
	return stack_tree_text(page->tree, page->tree->frames[i].name);
}

static uint64_t frame_kind(struct graph_page *page, size_t i)
{
	return page->tree->frames[i].kind;
}

static uint64_t frame_file(struct graph_page *page, size_t i)
{
	const struct dso *dso = page->tree->frames[i].dso;

	return file_number(page, dso ? dso->name : NULL);
}

static uint64_t frame_source(struct graph_page *page, size_t i)
{
	return file_number(page, page->tree->frames[i].line.file);
}

static uint64_t frame_line(struct graph_page *page, size_t i)
{
	return page->tree->frames[i].line.line;
}

static const char *file_name(struct graph_page *page, size_t i)
{
	return texts_get(page->files, (uint32_t)i);
}

static uint64_t node_depth(struct graph_page *page, size_t i)
{
	return page->tree->nodes[i + 1].depth;
}

static uint64_t node_frame(struct graph_page *page, size_t i)
{
	return page->tree->nodes[i + 1].frame;
}

static const char *group_name(struct graph_page *page, size_t i)
{
	return stack_tree_text(page->tree, page->tree->groups[i]);
}

static const char *lane_name(struct graph_page *page, size_t i)
{
	return stack_tree_text(page->tree, page->tree->lanes[i]);
}

static uint64_t row_node(struct graph_page *page, size_t i)
{
	const struct stack_tree_row *rows = page->tree->rows;

	return rows[i].node - (i ? rows[i - 1].node : 0);
}

static uint64_t row_group(struct graph_page *page, size_t i)
{
	return page->tree->rows[i].group;
}

static uint64_t row_lane(struct graph_page *page, size_t i)
{
	return page->tree->rows[i].lane;
}

static uint64_t row_bucket(struct graph_page *page, size_t i)
{
	return page->tree->rows[i].bucket;
}

static uint64_t row_samples(struct graph_page *page, size_t i)
{
	return page->tree->rows[i].n_samples;
}

static uint64_t row_period(struct graph_page *page, size_t i)
{
	return page->tree->rows[i].period;
}

static void add_or_null(struct graph_page *page, const char *name, bool any,
			uint64_t (*number)(struct graph_page *page, size_t i))
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

static void add_tree_rows(struct graph_page *page)
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

/* A number of each span, of which times are in us from start_ns on. */
static void add_span_numbers(struct graph_page *page, const char *name,
			     long long (*number)(const struct stack_tree *tree, size_t i))
{
	struct str *out = &page->output->text;

	str_addf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < page->tree->spans.n; i++) {
		str_addf(out, i ? ",%lld" : "%lld", number(page->tree, i));
		output_step(page->output);
	}
	str_addc(out, ']');
}

static long long since_start_us(const struct stack_tree *tree, uint64_t ns)
{
	return ns >= tree->start_ns ? (long long)((ns - tree->start_ns) / 1000) :
				      -(long long)((tree->start_ns - ns) / 1000);
}

/* The span before it in its lane; NULL: there is none. */
static const struct stack_span *span_before(const struct stack_tree *tree, size_t i)
{
	const struct stack_span *v = tree->spans.v;

	return i && v[i - 1].lane == v[i].lane ? &v[i - 1] : NULL;
}

static long long span_gap(const struct stack_tree *tree, size_t i)
{
	const struct stack_span *before = span_before(tree, i);

	return since_start_us(tree, tree->spans.v[i].begin_ns) - (before ? since_start_us(tree, before->end_ns) : 0);
}

static long long span_length(const struct stack_tree *tree, size_t i)
{
	const struct stack_span *span = &tree->spans.v[i];

	return since_start_us(tree, span->end_ns) - since_start_us(tree, span->begin_ns);
}

static long long span_node(const struct stack_tree *tree, size_t i)
{
	const struct stack_span *before = span_before(tree, i);

	return (long long)tree->spans.v[i].node - (before ? (long long)before->node : 0);
}

static long long span_several(const struct stack_tree *tree, size_t i)
{
	return tree->spans.v[i].several;
}

static const char *thread_name(struct graph_page *page, size_t i)
{
	return stack_tree_text(page->tree, page->tree->threads[i]);
}

/* "chart": the spans, or why there are none */
static void add_chart(struct graph_page *page)
{
	const struct stack_tree *tree = page->tree;
	struct str *out = &page->output->text;
	size_t *n = xcalloc(tree->n_threads + 1, sizeof(*n));

	str_add(out, ",\n\"chart\":");
	if (tree->no_spans.len) {
		str_add_page_json(out, tree->no_spans.s);
	} else {
		for (size_t i = 0; i < tree->spans.n; i++)
			n[tree->spans.v[i].lane]++;
		str_addf(out, "{\"left_out\":%zu,", tree->n_threads_left_out);
		add_texts(page, "lanes", tree->n_threads, thread_name);
		str_add(out, ",\"spans\":[");
		for (size_t i = 0; i < tree->n_threads; i++)
			str_addf(out, i ? ",%zu" : "%zu", n[i]);
		str_addc(out, ']');
		add_span_numbers(page, "gap", span_gap);
		add_span_numbers(page, "length", span_length);
		add_span_numbers(page, "node", span_node);
		if (tree->spans.lost_most > 0)
			add_span_numbers(page, "several", span_several);
		else
			str_add(out, ",\"several\":null");
		str_addc(out, '}');
	}
	free(n);
}

static void add_frames(struct graph_page *page)
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

static void add_diff(struct graph_page *page)
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

/* diff: of each node of the tree; NULL: nothing is compared. Commas between events are the caller's. */
static void add_graph(struct output *output, const struct stack_tree *tree, const struct stack_node_diff *diff,
			  const char *name)
{
	struct graph_page page = { .output = output,
				   .tree = tree,
				   .diff = diff,
				   .files = texts_new() };
	struct str *out = &output->text;

	file_number(&page, NULL);
	str_add(out, "{\"name\":");
	str_add_page_json(out, name);
	str_addf(out, ",\"is_time\":%s,\"samples\":%llu,\"period\":%llu", tree->is_time ? "true" : "false",
		 (unsigned long long)tree->n_samples, (unsigned long long)tree->period);
	add_frames(&page);
	str_add(out, ",\n");
	add_texts(&page, "groups", tree->n_groups, group_name);
	str_addc(out, ',');
	add_texts(&page, "lanes", tree->n_lanes, lane_name);
	str_addf(out, ",\"lanes_are_cpus\":%s,\"buckets\":%zu,\"bucket_ns\":%llu,\"start_ns\":%llu",
		 tree->lanes_are_cpus ? "true" : "false", tree->n_buckets, (unsigned long long)tree->bucket_ns,
		 (unsigned long long)tree->start_ns);
	add_tree_rows(&page);
	if (diff)
		add_diff(&page);
	else
		add_chart(&page);
	str_addc(out, '}');
	texts_free(page.files);
}

/* ---- the page ---- */

static void add_events(struct table *table, struct output *output)
{
	const struct stack_tree_options options = { .kinds_apart = true, .lines = true,
						    .times = table->question->query.needs & NEED_TIMES };
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
				add_graph(output, tree, NULL, name.s);
				any = true;
			}
			stack_tree_free(tree);
		}
	}
	str_release(&name);
}

static void begin_page(struct output *output)
{
	struct str *out = &output->text;

	page_begin(out, "Flame graph", flamegraph_css, flamegraph_html);
	str_add(out, "{\"format\":\"pstat flamegraph\",\"format_version\":1,\n\"events\":[");
}

/* The caption's first line is the title. */
static void end_page(struct output *output, const struct note_list *caption)
{
	const char *const scripts[] = {
		flamegraph_model_js, flamegraph_looks_js, flamegraph_views_js, flamegraph_draw_js, flamegraph_pen_js,
		flamegraph_table_js, flamegraph_strip_js, flamegraph_view_js,
	};
	struct str *out = &output->text;

	str_add(out, "],\n\"title\":");
	str_add_page_json(out, caption->v[0].text);
	str_add(out, ",\"caption\":[");
	for (size_t i = 1; i < caption->n; i++) {
		str_add(out, i > 1 ? ",\n" : "");
		str_add_page_json(out, caption->v[i].text);
	}
	str_add(out, "]}\n");
	page_end(out, scripts, ARRAY_SIZE(scripts));
	output_step(output);
}

/* The caption comes last: notes about names are complete when all of them have been looked up. */
static int flamegraph_print(struct table *table, struct output *output)
{
	struct note_list caption = { 0 };

	begin_page(output);
	add_events(table, output);
	stack_caption(table, &caption);
	end_page(output, &caption);
	note_list_release(&caption);
	return output->failed;
}

const struct report_format format_flamegraph = {
	.name = "flamegraph",
	.needs = NEED_STACKS | NEED_TIMES | NEED_ORDER,
	.print = flamegraph_print,
};

/* ---- the picture ---- */

enum { WIDTH = 1200, ROW = 17, MARGIN = 10, LINE = 16, LETTER_TENTHS = 72, CAPTION_COLUMNS = 165, PATTERN = 8 };
static const double least_part = 0.001;

/* How a box looks: by the kind of its function, or by what is different. Words: as a title has a kind. */
enum { LOOK_MORE = FRAME_KINDS, LOOK_LESS, LOOK_SAME, LOOKS };
static const struct {
	const char *name, *words, *color, *shape; /* shape: over the colour, or "" */
} looks[LOOKS] = {
	[FRAME_INLINED] = { "inlined", " (inlined)", "#5ac3a0", "<circle cx=\"3\" cy=\"3\" r=\"1.2\"/>" },
	[FRAME_UNKNOWN] = { "unknown", " (unknown)", "#afafaf", "<path d=\"M0 8L8 0M0 0L8 8\"/>" },
	[FRAME_KERNEL] = { "kernel", " (kernel)", "#6eb9e8", "<path d=\"M0 8L8 0\"/>" },
	[FRAME_JIT] = { "jit", " (made at run time)", "#d796be", "<path d=\"M3 0V8\"/>" },
	[FRAME_USER] = { "user", " (user)", "#e9aa3c", "" },
	[FRAME_WAITING] = { "waiting", " (off the CPU)", "#d8d4ee", "<path d=\"M0 3H8M0 6H8\"/>" },
	[LOOK_MORE] = { "more", " more than before", "#e16e55", "<path d=\"M0 8L8 0\"/>" },
	[LOOK_LESS] = { "less", " less", "#699be1", "<path d=\"M0 0L8 8\"/>" },
	[LOOK_SAME] = { "same", " no certain change", "#c8c8c8", "" },
};

/* In so many columns, shortened as in the terminal's columns. name: of a function. */
static void add_cut(struct str *out, struct str *text, size_t room, bool name)
{
	str_shorten(text, 0, room, name, "\u2026");
	str_add_xml(out, text->s, text->len);
}

struct picture {
	struct output *output;
	const struct stack_tree *tree;
	const struct stack_node_diff *diff; /* by node; NULL: nothing is compared */
	struct stack_boxes boxes;
	struct note_list *caption;
	unsigned top, height; /* of the boxes, in pixels */
	struct str scratch;
};

/* ---- boxes ---- */

static const char *box_name(const struct picture *picture, const struct stack_box *box)
{
	const struct stack_tree *tree = picture->tree;

	return stack_tree_text(tree, box->is_group ? tree->groups[box->what] : tree->frames[box->what].name);
}

static unsigned box_look(const struct picture *picture, const struct stack_box *box)
{
	const struct stack_node_diff *diff = picture->diff ? &picture->diff[box->node] : NULL;

	if (!diff)
		return picture->tree->frames[box->what].kind;
	if (diff->verdict != DIFF_CERTAIN)
		return LOOK_SAME;
	return diff->change.difference > 0 ? LOOK_MORE : LOOK_LESS;
}

static void add_difference(struct str *text, const struct stack_node_diff *diff)
{
	str_addf(text, "\nbefore %.2f %%, now %.2f %% of all: %+.2f %% (%+.2f %% to %+.2f %%)", 100 * diff->before,
		 100 * diff->now, 100 * diff->change.difference, 100 * diff->change.low, 100 * diff->change.high);
	str_addf(text, ", %s", diff->verdict == DIFF_FEW     ? "too few samples to tell" :
			       diff->verdict == DIFF_CERTAIN ? "certain" :
			       diff->verdict == DIFF_MAYBE   ? "not certain with this many boxes" :
							       "noise explains it");
}

static void add_title(struct picture *picture, const struct stack_box *box)
{
	const struct stack_tree_frame *frame = box->is_group ? NULL : &picture->tree->frames[box->what];
	const double all = (double)picture->boxes.weight;
	struct str *out = &picture->output->text, *text = &picture->scratch;

	str_add(out, "<title>");
	str_add_xml(out, box_name(picture, box), strlen(box_name(picture, box)));
	str_reset(text);
	str_add(text, frame ? looks[frame->kind].words : "");
	str_add(text, "\n");
	str_add_grouped(text, box->weight);
	str_addf(text, " %s, %.2f %%; itself ", stack_tree_unit(picture->tree), 100.0 * (double)box->weight / all);
	str_add_grouped(text, box->self);
	if (frame && picture->diff)
		add_difference(text, &picture->diff[box->node]);
	if (frame && frame->dso)
		str_addf(text, "\nin %s", frame->dso->name);
	if (frame && frame->line.file) {
		str_add(text, ", mostly at ");
		str_add_printable(text, frame->line.file, strlen(frame->line.file));
		if (frame->line.line)
			str_addf(text, ":%u", frame->line.line);
	}
	str_add_xml(out, text->s, text->len);
	str_add(out, "</title>");
}

static void add_box(struct picture *picture, const struct stack_box *box)
{
	const double scale = (WIDTH - 2.0 * MARGIN) / (double)picture->boxes.weight;
	const double x = MARGIN + (double)box->start * scale, width = (double)box->weight * scale;
	const unsigned y = picture->top + picture->height - (box->level + 1) * ROW;
	const unsigned look = box->is_group ? LOOKS : box_look(picture, box);
	/* The pattern shows beside the name: the style draws letters with a border in the box's colour. */
	const unsigned indent = 3 + (look < LOOKS && *looks[look].shape ? PATTERN : 0);
	struct str *out = &picture->output->text;
	size_t room = width > 3 + indent ? (size_t)((width - 3 - indent) * 10 / LETTER_TENTHS) : 0;

	str_addf(out, "<g class=\"%s\">", look < LOOKS ? looks[look].name : "group");
	add_title(picture, box);
	str_addf(out, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\"/>", x, y, width, ROW - 1);
	if (room >= 3) {
		str_reset(&picture->scratch);
		str_add(&picture->scratch, box_name(picture, box));
		str_addf(out, "<text x=\"%.2f\" y=\"%u\">", x + indent, y + 12);
		add_cut(out, &picture->scratch, room, true);
		str_add(out, "</text>");
	}
	str_add(out, "</g>\n");
	output_step(picture->output);
}

/* ---- what stands around them ---- */

/* The looks that the picture may have, from this one on. */
static unsigned first_look(const struct picture *picture)
{
	return picture->diff ? LOOK_MORE : 0;
}

static unsigned end_of_looks(const struct picture *picture)
{
	return picture->diff ? LOOKS : FRAME_KINDS;
}

/* Stripes, dots, bars and crosses over the colours; letters have a border in the colour, so that none runs through. */
static void add_patterns(const struct picture *picture, struct str *out)
{
	str_add(out, "<style>\n#boxes text { paint-order: stroke; stroke: #d7d7cd; stroke-width: 4px; }\n");
	for (unsigned i = first_look(picture); i < end_of_looks(picture); i++)
		str_addf(out,
			 ".%s, .%s rect { fill: url(#look-%s); }\n"
			 "#boxes .%s text { stroke: %s; }\n",
			 looks[i].name, looks[i].name, looks[i].name, looks[i].name, looks[i].color);
	str_add(out, "</style>\n<defs>\n");
	for (unsigned i = first_look(picture); i < end_of_looks(picture); i++)
		str_addf(out,
			 "<pattern id=\"look-%s\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
			 "<rect class=\"fill\" width=\"8\" height=\"8\" fill=\"%s\"/>%s</pattern>\n",
			 looks[i].name, looks[i].color, looks[i].shape);
	str_add(out, "</defs>\n");
}

static void add_legend(struct picture *picture, unsigned y)
{
	struct str *out = &picture->output->text;
	unsigned x = MARGIN;

	str_add(out, "<g id=\"legend\">");
	for (unsigned i = first_look(picture); i < end_of_looks(picture); i++, x += 170)
		str_addf(out,
			 "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"22\" height=\"12\"/>"
			 "<text class=\"line\" x=\"%u\" y=\"%u\">%s</text>",
			 looks[i].name, x, y - 10, x + 27, y, looks[i].words + 1);
	str_add(out, "</g>\n");
}

static void add_picture_caption(struct picture *picture)
{
	struct str *out = &picture->output->text;
	unsigned y = 0;

	for (size_t i = 0; i < picture->caption->n; i++) {
		str_addf(out, "<text class=\"%s\" x=\"%d\" y=\"%u\">", i ? "line" : "head", MARGIN, y += LINE);
		str_reset(&picture->scratch);
		str_add(&picture->scratch, picture->caption->v[i].text);
		add_cut(out, &picture->scratch, CAPTION_COLUMNS, false);
		str_add(out, "</text>\n");
	}
	add_legend(picture, y + LINE);
}

static void add_start(struct picture *picture)
{
	struct str *out = &picture->output->text;
	unsigned high = picture->top + picture->height + MARGIN + LINE;

	str_addf(out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%u\" "
		 "viewBox=\"0 0 %d %u\" role=\"img\">\n<title>",
		 WIDTH, high, WIDTH, high);
	str_add_xml(out, picture->caption->v[0].text, strlen(picture->caption->v[0].text));
	str_addf(out, "</title>\n<style>\n%s</style>\n", flamegraph_svg_css);
	add_patterns(picture, out);
	str_addf(out, "<rect id=\"page\" width=\"%d\" height=\"%u\"/>\n", WIDTH, high);
}

static void add_picture(struct picture *picture)
{
	struct str *out = &picture->output->text;

	if (picture->boxes.n_small)
		note_add(picture->caption, false, NULL,
			 "%zu boxes of less than %g %% of the %s are left out; a page (.html) has them all",
			 picture->boxes.n_small, 100 * least_part, picture->tree->is_time ? "time" : "samples");
	picture->top = (unsigned)picture->caption->n * LINE + 2 * LINE + MARGIN;
	picture->height = picture->boxes.n_levels * ROW;
	add_start(picture);
	add_picture_caption(picture);
	str_addf(out, "<g id=\"boxes\" data-left=\"%d\" data-wide=\"%d\">\n", MARGIN, WIDTH - 2 * MARGIN);
	for (size_t i = 0; i < picture->boxes.n; i++)
		add_box(picture, &picture->boxes.v[i]);
	str_addf(out, "</g>\n<text id=\"said\" class=\"line\" x=\"%d\" y=\"%u\"></text>\n", MARGIN,
		 picture->top + picture->height + LINE);
	str_addf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", flamegraph_svg_js);
}

/*
 * Adds the whole picture. tree NULL: nothing was sampled; diff: as of add_graph(). The caption's first line is the
 * title; what the picture leaves out is added to it.
 */
static void add_svg(struct output *output, const struct stack_tree *tree, const struct stack_node_diff *diff,
		       struct note_list *caption)
{
	struct picture picture = { .output = output, .tree = tree, .diff = diff, .caption = caption,
				   .scratch = STR_INIT };

	if (tree)
		stack_boxes_make(&picture.boxes, tree, least_part);
	add_picture(&picture);
	output_step(output);
	stack_boxes_release(&picture.boxes);
	str_release(&picture.scratch);
}

static int flamegraph_svg_print(struct table *table, struct output *output)
{
	static const struct stack_tree_options options = { .kinds_apart = true, .lines = true };
	const struct hist *hist = head_only_hist(table, "flame graph", "a picture shows one, a page (.html) all");
	struct stack_tree *tree = hist ? stack_tree_new(table, hist, 0, &options) : NULL;
	struct note_list caption = { 0 };

	stack_caption(table, &caption);
	add_svg(output, tree, NULL, &caption);
	note_list_release(&caption);
	stack_tree_free(tree);
	return output->failed;
}

const struct report_format format_flamegraph_svg = {
	.name = "flamegraph.svg",
	.needs = NEED_STACKS,
	.print = flamegraph_svg_print,
};

/* ---- two recordings ---- */

static const struct stack_tree_options diff_tree_options = { .kinds_apart = true, .lines = true, .times = true };

static void add_tree(struct output *output, bool *any, const struct stack_tree *tree,
		     const struct stack_node_diff *diff, const char *name, const char *which)
{
	struct str text = STR_INIT;

	if (!tree->n_rows)
		return;
	str_add(&output->text, *any ? ",\n" : "");
	*any = true;
	str_addf(&text, "%s: %s", name, which);
	add_graph(output, tree, diff, text.s);
	str_release(&text);
}

/* Nothing, where there is no such event on the other side. */
static void add_pair(struct table *before, struct table *now, const struct hist *hist, bool *any, double confidence,
		     struct output *output)
{
	struct str name = STR_INIT;
	const struct hist *old;
	struct stack_tree *trees[2];
	struct stack_diff *diff;

	data_event_add_name(hist->event, &name);
	old = table_hist_of(before, name.s);
	if (old) {
		trees[0] = stack_tree_new(before, old, 0, &diff_tree_options);
		trees[1] = stack_tree_new(now, hist, 0, &diff_tree_options);
		diff = stack_diff_new(trees[0], trees[1], confidence);
		add_tree(output, any, trees[1], diff->now, name.s, "widths of the new recording");
		add_tree(output, any, trees[0], diff->before, name.s, "widths of the old one, with what vanished");
		stack_diff_free(diff);
		stack_tree_free(trees[0]);
		stack_tree_free(trees[1]);
	}
	str_release(&name);
}

static void add_side_lines(struct note_list *caption, struct table *table, const char *which)
{
	struct note_list lines = { 0 };

	stack_caption_of(table, which, &lines);
	for (size_t i = 0; i < lines.n; i++)
		note_add(caption, false, NULL, "%s", lines.v[i].text);
	note_list_release(&lines);
}

static void add_diff_caption(struct table *before, struct table *now, double confidence, struct note_list *caption)
{
	struct str title = STR_INIT;

	str_add(&title, "Difference of ");
	str_add_printable(&title, before->session->reader->path, strlen(before->session->reader->path));
	str_add(&title, " and ");
	str_add_printable(&title, now->session->reader->path, strlen(now->session->reader->path));
	note_add(caption, false, NULL, "%s", title.s);
	note_add(caption, false, NULL, "Red, rising lines: more than before; blue, falling lines: less; grey: sampling "
				       "noise explains it (%g %% for all places together). Other differences "
				       "between runs cannot be seen in one recording per side.", 100 * confidence);
	add_side_lines(caption, before, "Old");
	add_side_lines(caption, now, "New");
	str_release(&title);
}

/* The old hist of the same event, where one of the two has samples; else NULL. */
static const struct hist *partner_of(const struct table *before, const struct hist *hist)
{
	struct str name = STR_INIT;
	const struct hist *old;

	data_event_add_name(hist->event, &name);
	old = table_hist_of(before, name.s);
	str_release(&name);
	return old && (!head_is_empty(old) || !head_is_empty(hist)) ? old : NULL;
}

int flamegraph_diff_check(struct table *before, struct table *now, struct str *err)
{
	for (size_t i = 0; i < now->n_hists; i++)
		if (partner_of(before, &now->hists[i]))
			return 0;
	return fail(err, -ENOMSG, "the recordings have no event with samples in common");
}

int flamegraph_diff_print(struct table *before, struct table *now, double confidence, struct output *output)
{
	struct note_list caption = { 0 };
	bool any = false;

	begin_page(output);
	for (size_t i = 0; i < now->n_hists; i++)
		add_pair(before, now, &now->hists[i], &any, confidence, output);
	add_diff_caption(before, now, confidence, &caption);
	end_page(output, &caption);
	note_list_release(&caption);
	return output->failed;
}

/* The first event that can be compared; NULL: none. *more: there are others. */
static const struct hist *choose_hist(const struct table *before, const struct table *now, bool *more)
{
	const struct hist *chosen = NULL;

	*more = false;
	for (size_t i = 0; i < now->n_hists; i++) {
		const struct hist *hist = &now->hists[i];

		if (partner_of(before, hist)) {
			*more = chosen != NULL;
			chosen = chosen ? chosen : hist;
		}
	}
	return chosen;
}

static void note_picture(const struct hist *hist, bool more, struct note_list *caption)
{
	struct str name = STR_INIT;

	data_event_add_name(hist->event, &name);
	note_add(caption, false, NULL,
		 "%s%s: widths of the new recording; a page (.html) also has those of the old one, with stacks "
		 "that disappeared",
		 name.s, more ? ", the first of several events" : "");
	str_release(&name);
}

int flamegraph_diff_svg_print(struct table *before, struct table *now, double confidence, struct output *output)
{
	bool more;
	const struct hist *hist = choose_hist(before, now, &more);
	struct stack_tree *trees[2] = { NULL, NULL };
	struct stack_diff *diff = NULL;
	struct note_list caption = { 0 };

	if (hist) {
		trees[0] = stack_tree_new(before, partner_of(before, hist), 0, &diff_tree_options);
		trees[1] = stack_tree_new(now, hist, 0, &diff_tree_options);
		diff = stack_diff_new(trees[0], trees[1], confidence);
	}
	add_diff_caption(before, now, confidence, &caption);
	if (hist)
		note_picture(hist, more, &caption);
	add_svg(output, trees[1], diff ? diff->now : NULL, &caption);
	stack_diff_free(diff);
	stack_tree_free(trees[0]);
	stack_tree_free(trees[1]);
	note_list_release(&caption);
	return output->failed;
}
