/* SPDX-License-Identifier: MIT */
/*
 * view_diff: the rows of a difference, event by event. All is there when it is opened: nothing is asked anew, lines
 * are those that are printed, cut to the terminal, and a row's whole story is a text of its own.
 */
#include "screen/screen_internal.h"

#include <errno.h>
#include <stdlib.h>

enum { HEAD_LINES = 1 };

struct diff_view {
	const struct screen_diff *shown;
	size_t event; /* of its diff */
	struct viewport viewport; /* of that one's rows */
};

static const struct diff *shown_diff(const struct screen *screen)
{
	return screen->diff->shown->diff;
}

static const struct diff_event *shown_event(const struct screen *screen)
{
	return &shown_diff(screen)->events[screen->diff->event];
}

/* ---- drawing ---- */

static enum terminal_look look_of(const struct screen *screen, size_t row)
{
	const struct diff_cell *cell = &shown_event(screen)->rows[row]->cells[1];

	if (row == screen->diff->viewport.selected)
		return LOOK_SELECTED;
	if (cell->verdict != DIFF_CERTAIN)
		return LOOK_PLAIN;
	return cell->change.difference > 0 ? LOOK_HOT : LOOK_WARM;
}

static void draw_heads(struct screen *screen, const struct diff_lines *lines)
{
	struct output head = { .text = STR_INIT, .dots = screen->options->dots };
	const char *at;
	struct str line = STR_INIT;

	diff_lines_add_heads(lines, &head);
	at = head.text.s;
	str_addn(&line, at, strcspn(at, "\n"));
	screen_put_line(screen, 0, &line, screen->diff->viewport.left, LOOK_HEAD);
	str_release(&line);
	str_release(&head.text);
}

static void draw(struct screen *screen)
{
	const struct diff_event *event = shown_event(screen);
	struct viewport *viewport = &screen->diff->viewport;
	/* Scrolled to the right names are whole, as in the other table. */
	struct output output = { .text = STR_INIT, .dots = screen->options->dots,
				 .columns = viewport->left ? 0 : terminal_width(screen->terminal) };
	struct diff_lines *lines = diff_lines_new(shown_diff(screen), event, screen->diff->shown->look, &output);

	viewport_clamp(viewport, screen, event->n, HEAD_LINES);
	draw_heads(screen, lines);
	for (unsigned y = 0; y < screen_body_lines(screen, HEAD_LINES) && viewport->top + y < event->n; y++) {
		const size_t i = viewport->top + y;

		str_reset(&output.text);
		diff_lines_add_row(lines, event->rows[i], &output);
		output.text.len -= output.text.len > 0; /* the newline */
		screen_put_line(screen, y + HEAD_LINES, &output.text, viewport->left, look_of(screen, i));
	}
	diff_lines_free(lines);
	str_release(&output.text);
}

static void add_title(const struct screen *screen, struct str *out)
{
	str_addf(out, "Differences of event '%s'%s  ", shown_event(screen)->name,
		 shown_diff(screen)->n_events > 1 ? " (Tab: the next)" : "");
	diff_add_basis(shown_diff(screen), out);
}

/* ---- moving ---- */

static void move(struct screen *screen, enum movement how)
{
	viewport_move(&screen->diff->viewport, screen, how, shown_event(screen)->n, HEAD_LINES);
}

/* Columns of the longest line in sight, with whole names. */
static size_t widest_in_sight(const struct screen *screen)
{
	const struct diff_event *event = shown_event(screen);
	const size_t top = screen->diff->viewport.top, page = screen_body_lines(screen, HEAD_LINES);
	struct output output = { .text = STR_INIT, .dots = screen->options->dots };
	struct diff_lines *lines = diff_lines_new(shown_diff(screen), event, screen->diff->shown->look, &output);
	size_t widest, columns;

	diff_lines_add_heads(lines, &output);
	output.text.len = strcspn(output.text.s, "\n");
	widest = screen_line_columns(&output.text);
	for (size_t i = top; i < top + page && i < event->n; i++) {
		str_reset(&output.text);
		diff_lines_add_row(lines, event->rows[i], &output);
		output.text.len -= output.text.len > 0; /* the newline */
		columns = screen_line_columns(&output.text);
		widest = columns > widest ? columns : widest;
	}
	diff_lines_free(lines);
	str_release(&output.text);
	return widest;
}

static void scroll(struct screen *screen, int by)
{
	viewport_scroll(&screen->diff->viewport, screen, by, by > 0 ? widest_in_sight(screen) : 0);
}

const struct view view_diff = {
	.bit = VIEW_DIFF, .title = add_title, .draw = draw, .move = move, .scroll = scroll
};

/* ---- keys ---- */

bool diff_has_other_events(const struct screen *screen)
{
	return shown_diff(screen)->n_events > 1;
}

void act_diff_event(struct screen *screen, int step)
{
	const size_t n = shown_diff(screen)->n_events;
	struct diff_view *view = screen->diff;

	view->event = (view->event + n + (size_t)(step > 0 ? 1 : n - 1)) % n;
	view->viewport.selected = view->viewport.top = 0;
}

static void add_side(const struct screen *screen, const struct diff_row *row, size_t side, struct str *out)
{
	const struct diff_cell *cell = &row->cells[side];

	str_addf(out, "recording %zu: %llu samples, period %llu, rate %.6g\n", side,
		 (unsigned long long)cell->n_samples, (unsigned long long)cell->period, cell->rate);
	if (!side || cell->verdict == DIFF_NONE)
		return;
	str_addf(out, "    difference %+.6g, from %+.6g to %+.6g with %g %%: %s\n", cell->change.difference,
		 cell->change.low, cell->change.high, 100 * shown_diff(screen)->options.confidence,
		 diff_verdict_name(cell->verdict));
	str_addf(out, "    by chance with probability %.3g, %.3g for all rows; design effect %.2f\n", cell->change.p,
		 cell->corrected, cell->change.design_effect);
}

/* All of the selected row. */
void act_diff_row(struct screen *screen)
{
	const struct diff_event *event = shown_event(screen);
	const size_t selected = screen->diff->viewport.selected;
	const struct diff_row *row = selected < event->n ? event->rows[selected] : NULL;
	struct str lines = STR_INIT;

	if (!row)
		return;
	str_addf(&lines, "%s\n", row->key);
	if (row->was)
		str_addf(&lines, "was %s\n", row->was);
	for (size_t side = 0; side < shown_diff(screen)->n_sides; side++)
		add_side(screen, row, side, &lines);
	for (size_t i = 0; i < lines.len; i++)
		if (lines.s[i] == '\t')
			lines.s[i] = ' ';
	text_open(screen, "A row of the difference", &lines);
}

static void print(struct screen *screen, struct output *output)
{
	diff_print_text(shown_diff(screen), screen->diff->shown->look, output);
}

void act_diff_save(struct screen *screen)
{
	save_numbered(screen, "perf.hist.%u", print);
}

static void print_graph(struct screen *screen, struct output *output)
{
	const struct screen_diff *shown = screen->diff->shown;

	output->failed = shown->graph(shown->context, output);
}

void act_diff_save_graph(struct screen *screen)
{
	save_numbered(screen, "flamegraph.%u.html", print_graph);
}

/* ---- contract ---- */

static void no_status(void *context, struct str *out)
{
	(void)context, (void)out;
}

int screen_run_diff(const struct screen_options *options, const struct screen_diff *diff, struct str *err)
{
	const struct screen_source source = { .context = diff->context, .status = no_status, .notes = diff->notes };
	struct diff_view state = { .shown = diff };
	struct screen screen = { .options = options, .source = &source, .diff = &state,
				 .views = { &view_diff }, .n_views = 1, .fed = SCREEN_FED_ALL };

	return screen_run_view(&screen, err);
}
