/*
 * view_annotate: the code of the selected function with the samples of each instruction, of what is zoomed into; as
 * `pstat annotate` prints it, with arrows, and from its hottest instruction on.
 *
 * The annotation is made into text at once: it points into a profile that may be fed meanwhile.
 */
#include "screen/screen_internal.h"

#include <errno.h>
#include <stdlib.h>

/* Text of any length stays in the output. */
static int keep_text(void *context, struct str *text)
{
	struct str *lines = context;

	str_addn(lines, text->s, text->len);
	str_reset(text);
	return 0;
}

/* The number of the line with the greatest number in front of it, which an instruction's own is. */
static size_t hottest_line(const char *lines)
{
	size_t hottest = 0, i = 0;
	double most = 0;

	for (; *lines; i++) {
		double here = strtod(lines, NULL);

		if (here > most) {
			most = here;
			hottest = i;
		}
		lines += strcspn(lines, "\n");
		lines += *lines == '\n';
	}
	return hottest;
}

static int print_function(struct screen *screen, struct annotate *annotate, const struct symbol *symbol,
			  struct str *err)
{
	const struct annotate_function *function = annotate_function_of(annotate, symbol);
	const struct annotate_options options = { .intel = false };
	const struct annotation_look look = { .arrows = (unsigned char)screen->options->dots[0] >= 0x80 };
	struct output output = { .text = STR_INIT, .write = keep_text, .context = &screen->text.lines };
	struct annotation *annotation;
	int code;

	if (!function)
		return fail(err, -ENOENT, "%s: no sample is in it, only in what it called", symbol->name);
	code = annotation_new(&annotation, annotate, function, &options, err);
	if (code)
		return code;
	str_reset(&screen->text.lines);
	annotation_print(annotation, &look, &output);
	output_end(&output);
	annotation_free(annotation);
	str_release(&output.text);
	return 0;
}

/* Of the events that the table shows beside each other. */
static int annotate_symbol(struct screen *screen, const struct symbol *symbol, struct str *err)
{
	struct table *table = screen->table;
	struct annotate_query query = { .filters = table->filters, .n_events = screen->hist->n_members };
	size_t *events = xcalloc(query.n_events, sizeof(*events));
	struct annotate *annotate;
	int code;

	for (size_t i = 0; i < query.n_events; i++)
		events[i] = head_member(table, screen->hist, i)->index;
	/* One that has had no sample so far may not be there. */
	while (query.n_events && events[query.n_events - 1] >= table->profile->n_events)
		query.n_events--;
	query.events = events;
	annotate = annotate_new(table->profile, &query);
	code = print_function(screen, annotate, symbol, err);
	annotate_free(annotate);
	free(events);
	return code;
}

void act_annotate(struct screen *screen, int argument)
{
	const struct symbol *symbol;
	struct str err = STR_INIT;

	(void)argument;
	if (!screen_need_table(screen))
		return;
	symbol = rows_selected_symbol(screen);
	if (!symbol) {
		screen_say(screen, "this row is no function");
	} else if (annotate_symbol(screen, symbol, &err)) {
		screen_say(screen, "%s", err.s);
	} else {
		size_t hottest = hottest_line(screen->text.lines.s), half = screen_body_lines(screen) / 2;

		text_open(screen, symbol->name);
		screen->text.top = hottest > half ? hottest - half : 0;
	}
	str_release(&err);
}
