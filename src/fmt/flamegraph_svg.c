/*
 * flamegraph_svg.c: the flame graph as a picture that can be put into a document: one group for each box, its kind as
 * its class, and all that is known of it as its title. Boxes of less than a thousandth of the samples are left out, and
 * the picture says how many. Where scripts run it zooms and searches (flamegraph_svg.js).
 *
 *	<g class="kernel"><title>...</title><rect x= y= width= height=/><text>name</text></g>
 */
#include "fmt/flamegraph_internal.h"
#include "fmt/stack_caption.h"

enum { WIDTH = 1200, ROW = 17, MARGIN = 10, LINE = 16, LETTER_TENTHS = 72, CAPTION_COLUMNS = 165 };
static const double least_part = 0.001;

/* How a box looks: by the kind of its function, or by what is different. Words: as a title has a kind. */
enum { LOOK_MORE = FRAME_KINDS, LOOK_LESS, LOOK_SAME, LOOKS };
static const struct {
	const char *name, *words, *mark, *color, *shape; /* shape: over the colour */
} looks[LOOKS] = {
	[FRAME_INLINED] = { "inlined", " (inlined)", "[i] ", "#5ac3a0", "<circle cx=\"3\" cy=\"3\" r=\"1.2\"/>" },
	[FRAME_UNKNOWN] = { "unknown", " (unknown)", "[?] ", "#afafaf", "<path d=\"M0 8L8 0M0 0L8 8\"/>" },
	[FRAME_KERNEL] = { "kernel", " (kernel)", "[k] ", "#6eb9e8", "<path d=\"M0 8L8 0\"/>" },
	[FRAME_JIT] = { "jit", " (made at run time)", "[j] ", "#d796be", "<path d=\"M3 0V8\"/>" },
	[FRAME_USER] = { "user", " (user)", "", "#e9aa3c", "" },
	[LOOK_MORE] = { "more", " more than before", "+ ", "#e16e55", "<path d=\"M0 8L8 0\"/>" },
	[LOOK_LESS] = { "less", " less", "- ", "#699be1", "<path d=\"M0 0L8 8\"/>" },
	[LOOK_SAME] = { "same", " no certain change", "", "#c8c8c8", "" },
};

/* In so many columns, with two dots where it is cut. */
static void add_cut(struct str *out, const struct str *text, size_t room)
{
	bool fits = text_columns(text->s, text->len) <= room;

	str_add_xml(out, text->s, text_fitting(text->s, text->len, fits ? room : room - 2));
	str_add(out, fits ? "" : "..");
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
	str_addf(text, ", %s", diff->verdict == DIFF_FEW ? "too few samples to tell" :
			       diff->verdict == DIFF_CERTAIN ? "certain" : "noise explains it");
}

static void add_title(struct picture *picture, const struct stack_box *box)
{
	const struct stack_tree_frame *frame = box->is_group ? NULL : &picture->tree->frames[box->what];
	const double all = (double)picture->boxes.n_samples;
	struct str *out = &picture->output->text, *text = &picture->scratch;

	str_add(out, "<title>");
	str_add_xml(out, box_name(picture, box), strlen(box_name(picture, box)));
	str_reset(text);
	str_add(text, frame ? looks[frame->kind].words : "");
	str_add(text, "\n");
	str_add_grouped(text, box->n_samples);
	str_addf(text, " samples, %.2f %%; itself ", 100.0 * (double)box->n_samples / all);
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
	const double scale = (WIDTH - 2.0 * MARGIN) / (double)picture->boxes.n_samples;
	const double x = MARGIN + (double)box->start * scale, width = (double)box->n_samples * scale;
	const unsigned y = picture->top + picture->height - (box->level + 1) * ROW;
	const unsigned look = box->is_group ? LOOKS : box_look(picture, box);
	struct str *out = &picture->output->text;
	size_t room = width > 6 ? (size_t)((width - 6) * 10 / LETTER_TENTHS) : 0;

	str_addf(out, "<g class=\"%s\">", look < LOOKS ? looks[look].name : "group");
	add_title(picture, box);
	str_addf(out, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\"/>", x, y, width, ROW - 1);
	if (room >= 3) {
		str_reset(&picture->scratch);
		str_addf(&picture->scratch, "%s%s", look < LOOKS ? looks[look].mark : "", box_name(picture, box));
		str_addf(out, "<text x=\"%.2f\" y=\"%u\">", x + 3, y + 12);
		add_cut(out, &picture->scratch, room);
		str_add(out, "</text>");
	}
	str_add(out, "</g>\n");
	output_step(picture->output);
}

/* ---- what stands around them ---- */

/* Those that the picture may have. */
static unsigned first_look(const struct picture *picture)
{
	return picture->diff ? LOOK_MORE : 0;
}

static unsigned end_of_looks(const struct picture *picture)
{
	return picture->diff ? LOOKS : FRAME_KINDS;
}

/* Stripes, dots, bars and crosses over the colours. */
static void add_patterns(const struct picture *picture, struct str *out)
{
	str_add(out, "<defs>\n");
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
			 "<text class=\"line\" x=\"%u\" y=\"%u\">%s%s</text>",
			 looks[i].name, x, y - 10, x + 27, y, looks[i].mark, looks[i].words + 1);
	str_add(out, "</g>\n");
}

static void add_caption(struct picture *picture)
{
	struct str *out = &picture->output->text;
	unsigned y = 0;

	for (size_t i = 0; i < picture->caption->n; i++) {
		str_addf(out, "<text class=\"%s\" x=\"%d\" y=\"%u\">", i ? "line" : "head", MARGIN, y += LINE);
		str_reset(&picture->scratch);
		str_add(&picture->scratch, picture->caption->v[i].text);
		add_cut(out, &picture->scratch, CAPTION_COLUMNS);
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
			 "%zu boxes of less than %g %% of the samples are left out; a page (.html) has them all",
			 picture->boxes.n_small, 100 * least_part);
	picture->top = (unsigned)picture->caption->n * LINE + 2 * LINE + MARGIN;
	picture->height = picture->boxes.n_levels * ROW;
	add_start(picture);
	add_caption(picture);
	str_addf(out, "<g id=\"boxes\" data-left=\"%d\" data-wide=\"%d\">\n", MARGIN, WIDTH - 2 * MARGIN);
	for (size_t i = 0; i < picture->boxes.n; i++)
		add_box(picture, &picture->boxes.v[i]);
	str_addf(out, "</g>\n<text id=\"said\" class=\"line\" x=\"%d\" y=\"%u\"></text>\n", MARGIN,
		 picture->top + picture->height + LINE);
	str_addf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", flamegraph_svg_js);
}

int flamegraph_svg_add(struct output *output, const struct stack_tree *tree, const struct stack_node_diff *diff,
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
	return output->failed;
}

static int flamegraph_svg_print(struct table *table, struct output *output)
{
	static const struct stack_tree_options options = { .kinds_apart = true, .lines = true };
	const struct hist *hist = head_only_hist(table, "flame graph", "a picture shows one, a page (.html) all");
	struct stack_tree *tree = hist ? stack_tree_new(table, hist, 0, &options) : NULL;
	struct note_list caption = { 0 };

	stack_caption(table, &caption);
	flamegraph_svg_add(output, tree, NULL, &caption);
	note_list_release(&caption);
	stack_tree_free(tree);
	return output->failed;
}

const struct report_format format_flamegraph_svg = {
	.name = "flamegraph.svg",
	.help = "a picture of a flame graph",
	.needs = NEED_STACKS,
	.print = flamegraph_svg_print,
};
