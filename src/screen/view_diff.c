/*
 * view_diff: the rows of a difference, event by event. All is there when it is opened: nothing is asked anew, lines
 * are those that are printed, cut to the terminal, and a row's whole story is a text of its own.
 */
#include "screen/screen_internal.h"

#include <errno.h>
#include <stdlib.h>

enum { SCROLL_COLUMNS = 8, HEAD_LINES = 1 };

static const struct diff_event *shown_event(const struct screen *screen)
{
	return &screen->diff->diff->events[screen->event];
}

static size_t rows_shown(const struct screen *screen)
{
	unsigned lines = screen_body_lines(screen);

	return lines > HEAD_LINES ? lines - HEAD_LINES : 0;
}

static enum terminal_look look_of(const struct screen *screen, size_t row)
{
	const struct diff_cell *cell = &shown_event(screen)->rows[row]->cells[1];

	if (row == screen->selected)
		return LOOK_SELECTED;
	if (cell->verdict != DIFF_CERTAIN)
		return LOOK_PLAIN;
	return cell->change.difference > 0 ? LOOK_HOT : LOOK_WARM;
}

static void keep_in_view(struct screen *screen)
{
	size_t n = shown_event(screen)->n, page = rows_shown(screen);

	if (screen->selected >= n)
		screen->selected = n ? n - 1 : 0;
	if (screen->selected < screen->top)
		screen->top = screen->selected;
	if (page && screen->selected >= screen->top + page)
		screen->top = screen->selected - page + 1;
}

static void draw_heads(struct screen *screen, const struct diff_lines *lines)
{
	struct output head = { .text = STR_INIT, .dots = screen->options->dots };
	const char *at;
	struct str line = STR_INIT;

	diff_lines_add_heads(lines, &head);
	at = head.text.s;
	str_addn(&line, at, strcspn(at, "\n"));
	screen_put_line(screen, 0, &line, screen->left, LOOK_HEAD);
	str_release(&line);
	str_release(&head.text);
}

static void draw(struct screen *screen)
{
	const struct diff_event *event = shown_event(screen);
	/* Scrolled to the right names are whole, as in the other table. */
	struct output output = { .text = STR_INIT, .dots = screen->options->dots,
				 .columns = screen->left ? 0 : terminal_width(screen->terminal) };
	struct diff_lines *lines = diff_lines_new(screen->diff->diff, event, screen->diff->look, &output);

	keep_in_view(screen);
	draw_heads(screen, lines);
	for (size_t i = 0; i < rows_shown(screen) && screen->top + i < event->n; i++) {
		str_reset(&output.text);
		diff_lines_add_row(lines, event->rows[screen->top + i], &output);
		if (output.text.len)
			output.text.len--; /* the newline */
		screen_put_line(screen, (unsigned)i + HEAD_LINES, &output.text, screen->left,
				look_of(screen, screen->top + i));
	}
	diff_lines_free(lines);
	str_release(&output.text);
}

static void add_title(const struct screen *screen, struct str *out)
{
	str_addf(out, "Differences of event '%s'%s  ", shown_event(screen)->name,
		 screen->diff->diff->n_events > 1 ? " (Tab: the next)" : "");
	diff_add_basis(screen->diff->diff, out);
}

const struct view view_diff = { .bit = VIEW_DIFF, .title = add_title, .draw = draw };

void act_diff_move(struct screen *screen, int how)
{
	const size_t line = terminal_click(screen->terminal), below_heads = HEAD_LINES + 1; /* and below the title */

	screen->selected = screen_moved(how, screen->selected, shown_event(screen)->n, rows_shown(screen),
					line >= below_heads ? screen->top + line - below_heads : SIZE_MAX);
	keep_in_view(screen);
}

/* Columns of the longest line in sight, with whole names. */
static size_t widest_in_sight(const struct screen *screen)
{
	const struct diff_event *event = shown_event(screen);
	struct output output = { .text = STR_INIT, .dots = screen->options->dots };
	struct diff_lines *lines = diff_lines_new(screen->diff->diff, event, screen->diff->look, &output);
	size_t widest, columns;

	diff_lines_add_heads(lines, &output);
	output.text.len = strcspn(output.text.s, "\n");
	widest = screen_line_columns(&output.text);
	for (size_t i = 0; i < rows_shown(screen) && screen->top + i < event->n; i++) {
		str_reset(&output.text);
		diff_lines_add_row(lines, event->rows[screen->top + i], &output);
		output.text.len -= output.text.len > 0; /* the newline */
		columns = screen_line_columns(&output.text);
		widest = columns > widest ? columns : widest;
	}
	diff_lines_free(lines);
	str_release(&output.text);
	return widest;
}

void act_diff_scroll(struct screen *screen, int by)
{
	if (by > 0)
		screen->left = screen_scrolled(screen, screen->left, SCROLL_COLUMNS, widest_in_sight(screen));
	else
		screen->left -= screen->left > SCROLL_COLUMNS ? SCROLL_COLUMNS : screen->left;
}

void act_diff_event(struct screen *screen, int step)
{
	size_t n = screen->diff->diff->n_events;

	screen->event = (screen->event + n + (size_t)(step > 0 ? 1 : n - 1)) % n;
	screen->selected = screen->top = 0;
}

static void add_side(const struct screen *screen, const struct diff_row *row, size_t side, struct str *out)
{
	const struct diff_cell *cell = &row->cells[side];

	str_addf(out, "recording %zu: %llu samples, period %llu, rate %.6g\n", side,
		 (unsigned long long)cell->n_samples, (unsigned long long)cell->period, cell->rate);
	if (!side || cell->verdict == DIFF_NONE)
		return;
	str_addf(out, "    difference %+.6g, from %+.6g to %+.6g with %g %%: %s\n", cell->change.difference,
		 cell->change.low, cell->change.high, 100 * screen->diff->diff->options.confidence,
		 diff_verdict_name(cell->verdict));
	str_addf(out, "    by chance with probability %.3g, %.3g for all rows; design effect %.2f\n", cell->change.p,
		 cell->corrected, cell->change.design_effect);
}

/* All of the selected row. */
void act_diff_row(struct screen *screen, int argument)
{
	const struct diff_event *event = shown_event(screen);
	const struct diff_row *row = screen->selected < event->n ? event->rows[screen->selected] : NULL;
	struct str *lines = &screen->text.lines;

	(void)argument;
	if (!row)
		return;
	str_reset(lines);
	str_addf(lines, "%s\n", row->key);
	if (row->was)
		str_addf(lines, "was %s\n", row->was);
	for (size_t side = 0; side < screen->diff->diff->n_sides; side++)
		add_side(screen, row, side, lines);
	for (size_t i = 0; i < lines->len; i++)
		if (lines->s[i] == '\t')
			lines->s[i] = ' ';
	text_open(screen, "A row of the difference");
}

void diff_print_shown(struct screen *screen, struct output *output)
{
	diff_print_text(screen->diff->diff, screen->diff->look, output);
}

void diff_print_graph(struct screen *screen, struct output *output)
{
	output->failed = screen->diff->graph(screen->diff->context, output);
}

/* ---- contract ---- */

static void no_status(void *context, struct str *out)
{
	(void)context, (void)out;
}

int screen_run_diff(const struct screen_options *options, const struct screen_diff *diff, struct str *err)
{
	const struct screen_source source = { .context = diff->context, .status = no_status, .notes = diff->notes };
	struct screen screen = { .options = options, .source = &source, .diff = diff, .texts = texts_new(),
				 .views = { &view_diff }, .n_views = 1, .fed = SCREEN_FED_ALL, .dirty = true };

	return screen_run_view(&screen, err);
}
