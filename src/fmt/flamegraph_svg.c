/*
 * flamegraph_svg.c: the flame graph as a picture that can be put into a document: one group for each box, its kind as
 * its class, and all that is known of it as its title. Boxes of less than a thousandth of the samples are left out, and
 * the picture says how many. Where scripts run it zooms and searches (flamegraph_svg.js).
 *
 *	<g class="kernel"><title>...</title><rect x= y= width= height=/><text>name</text></g>
 */
#include "fmt/fmt_internal.h"
#include "fmt/stack_caption.h"

enum { WIDTH = 1200, ROW = 17, MARGIN = 10, LINE = 16, LETTER_TENTHS = 72, CAPTION_COLUMNS = 165 };
static const double least_part = 0.001;

static const char *const kind_names[FRAME_KINDS] = {
	[FRAME_INLINED] = "inlined", [FRAME_UNKNOWN] = "unknown", [FRAME_KERNEL] = "kernel",
	[FRAME_JIT] = "jit",	     [FRAME_USER] = "user",
};
static const char *const kind_words[FRAME_KINDS] = {
	[FRAME_INLINED] = " (inlined)", [FRAME_UNKNOWN] = " (unknown)", [FRAME_KERNEL] = " (kernel)",
	[FRAME_JIT] = " (made at run time)", [FRAME_USER] = " (user)",
};
static const char *const kind_marks[FRAME_KINDS] = {
	[FRAME_INLINED] = "[i] ", [FRAME_UNKNOWN] = "[?] ", [FRAME_KERNEL] = "[k] ", [FRAME_JIT] = "[j] ",
	[FRAME_USER] = "",
};

/* Text that is printable: what means something to XML becomes an entity. At most so many columns. */
static void add_xml(struct str *out, const char *text, size_t max)
{
	for (const char *end = text + text_fitting(text, strlen(text), max); text < end; text++) {
		switch (*text) {
		case '<':
			str_add(out, "&lt;");
			break;
		case '>':
			str_add(out, "&gt;");
			break;
		case '&':
			str_add(out, "&amp;");
			break;
		case '"':
			str_add(out, "&quot;");
			break;
		default:
			str_addc(out, *text);
		}
	}
}

/* In so many columns, with two dots where it is cut. */
static void add_cut(struct str *out, const struct str *text, size_t room)
{
	bool fits = text_columns(text->s, text->len) <= room;

	add_xml(out, text->s, fits ? room : room - 2);
	str_add(out, fits ? "" : "..");
}

struct picture {
	struct output *output;
	const struct stack_tree *tree;
	struct stack_boxes boxes;
	struct note_list caption;
	unsigned top, height; /* of the boxes, in pixels */
	struct str scratch;
};

/* ---- boxes ---- */

static const char *box_name(const struct picture *picture, const struct stack_box *box)
{
	const struct stack_tree *tree = picture->tree;

	return stack_tree_text(tree, box->is_group ? tree->groups[box->what] : tree->frames[box->what].name);
}

static void add_title(struct picture *picture, const struct stack_box *box)
{
	const struct stack_tree_frame *frame = box->is_group ? NULL : &picture->tree->frames[box->what];
	const double all = (double)picture->boxes.n_samples;
	struct str *out = &picture->output->text, *text = &picture->scratch;

	str_add(out, "<title>");
	add_xml(out, box_name(picture, box), SIZE_MAX);
	str_reset(text);
	str_add(text, frame ? kind_words[frame->kind] : "");
	str_add(text, "\n");
	str_add_grouped(text, box->n_samples);
	str_addf(text, " samples, %.2f %%; itself ", 100.0 * (double)box->n_samples / all);
	str_add_grouped(text, box->self);
	if (frame && frame->dso)
		str_addf(text, "\nin %s", frame->dso->name);
	if (frame && frame->line.file) {
		str_add(text, ", mostly at ");
		str_add_printable(text, frame->line.file, strlen(frame->line.file));
		if (frame->line.line)
			str_addf(text, ":%u", frame->line.line);
	}
	add_xml(out, text->s, SIZE_MAX);
	str_add(out, "</title>");
}

static void add_box(struct picture *picture, const struct stack_box *box)
{
	const double scale = (WIDTH - 2.0 * MARGIN) / (double)picture->boxes.n_samples;
	const double x = MARGIN + (double)box->start * scale, width = (double)box->n_samples * scale;
	const unsigned y = picture->top + picture->height - (box->level + 1) * ROW;
	const char *mark = box->is_group ? "" : kind_marks[picture->tree->frames[box->what].kind];
	struct str *out = &picture->output->text;
	size_t room = width > 6 ? (size_t)((width - 6) * 10 / LETTER_TENTHS) : 0;

	str_addf(out, "<g class=\"%s\">", box->is_group ? "group" : kind_names[picture->tree->frames[box->what].kind]);
	add_title(picture, box);
	str_addf(out, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\"/>", x, y, width, ROW - 1);
	if (room >= 3) {
		str_reset(&picture->scratch);
		str_addf(&picture->scratch, "%s%s", mark, box_name(picture, box));
		str_addf(out, "<text x=\"%.2f\" y=\"%u\">", x + 3, y + 12);
		add_cut(out, &picture->scratch, room);
		str_add(out, "</text>");
	}
	str_add(out, "</g>\n");
	output_step(picture->output);
}

/* ---- what stands around them ---- */

/* Stripes, dots, bars and crosses over the colours. */
static void add_patterns(struct str *out)
{
	static const char *const shapes[FRAME_KINDS] = {
		[FRAME_INLINED] = "<circle cx=\"3\" cy=\"3\" r=\"1.2\"/>",
		[FRAME_UNKNOWN] = "<path d=\"M0 8L8 0M0 0L8 8\"/>",
		[FRAME_KERNEL] = "<path d=\"M0 8L8 0\"/>",
		[FRAME_JIT] = "<path d=\"M3 0V8\"/>",
		[FRAME_USER] = "",
	};
	static const char *const colors[FRAME_KINDS] = {
		[FRAME_INLINED] = "#5ac3a0", [FRAME_UNKNOWN] = "#afafaf", [FRAME_KERNEL] = "#6eb9e8",
		[FRAME_JIT] = "#d796be",     [FRAME_USER] = "#e9aa3c",
	};

	str_add(out, "<defs>\n");
	for (unsigned kind = 0; kind < FRAME_KINDS; kind++)
		str_addf(out,
			 "<pattern id=\"look-%s\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
			 "<rect class=\"fill\" width=\"8\" height=\"8\" fill=\"%s\"/>%s</pattern>\n",
			 kind_names[kind], colors[kind], shapes[kind]);
	str_add(out, "</defs>\n");
}

static void add_legend(struct picture *picture, unsigned y)
{
	struct str *out = &picture->output->text;

	str_add(out, "<g id=\"legend\">");
	for (unsigned kind = 0; kind < FRAME_KINDS; kind++)
		str_addf(out,
			 "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"22\" height=\"12\"/>"
			 "<text class=\"line\" x=\"%u\" y=\"%u\">%s%s</text>",
			 kind_names[kind], MARGIN + kind * 170, y - 10, MARGIN + kind * 170 + 27, y, kind_marks[kind],
			 kind_words[kind] + 1);
	str_add(out, "</g>\n");
}

static void add_caption(struct picture *picture)
{
	struct str *out = &picture->output->text;
	unsigned y = 0;

	for (size_t i = 0; i < picture->caption.n; i++) {
		str_addf(out, "<text class=\"%s\" x=\"%d\" y=\"%u\">", i ? "line" : "head", MARGIN, y += LINE);
		str_reset(&picture->scratch);
		str_add(&picture->scratch, picture->caption.v[i].text);
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
	add_xml(out, picture->caption.v[0].text, SIZE_MAX);
	str_addf(out, "</title>\n<style>\n%s</style>\n", flamegraph_svg_css);
	add_patterns(out);
	str_addf(out, "<rect id=\"page\" width=\"%d\" height=\"%u\"/>\n", WIDTH, high);
}

static void add_picture(struct picture *picture)
{
	struct str *out = &picture->output->text;

	if (picture->boxes.n_small)
		note_add(&picture->caption, false, NULL,
			 "%zu boxes of less than %g %% of the samples are left out; a page (.html) has them all",
			 picture->boxes.n_small, 100 * least_part);
	picture->top = (unsigned)picture->caption.n * LINE + 2 * LINE + MARGIN;
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

static int flamegraph_svg_print(struct table *table, struct output *output)
{
	static const struct stack_tree_options options = { .kinds_apart = true, .lines = true };
	const struct hist *hist = head_only_hist(table, "flame graph", "a picture shows one, a page (.html) all");
	struct stack_tree *tree = hist ? stack_tree_new(table, hist, 0, &options) : NULL;
	struct picture picture = { .output = output, .tree = tree, .scratch = STR_INIT };

	if (tree)
		stack_boxes_make(&picture.boxes, tree, least_part);
	stack_caption(table, &picture.caption);
	add_picture(&picture);
	output_step(output);
	note_list_release(&picture.caption);
	stack_boxes_release(&picture.boxes);
	stack_tree_free(tree);
	str_release(&picture.scratch);
	return output->failed;
}

const struct report_format format_flamegraph_svg = {
	.name = "flamegraph.svg",
	.help = "a picture of a flame graph",
	.needs = NEED_STACKS,
	.print = flamegraph_svg_print,
};
