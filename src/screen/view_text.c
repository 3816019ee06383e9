/* SPDX-License-Identifier: MIT */
/*
 * view_text: lines to be read: the help, notes about losses and doubts, the recording's header, a name as long
 * as it is. The text is a copy; the source is fed meanwhile.
 */
#include "screen/screen_internal.h"

#include <stdlib.h>

struct text_view {
	struct str title;
	struct str lines; /* each ended by '\n' */
	struct viewport viewport; /* nothing is selected */
};

static void begin(struct screen *screen)
{
	screen->text = xcalloc(1, sizeof(*screen->text));
	str_init(&screen->text->title);
	str_init(&screen->text->lines);
}

static void end(struct screen *screen)
{
	str_release(&screen->text->title);
	str_release(&screen->text->lines);
	free(screen->text);
}

static void draw(struct screen *screen)
{
	struct text_view *text = screen->text;
	const size_t n = screen_count_lines(&text->lines), page = screen_body_lines(screen, 0);

	if (text->viewport.top + page > n)
		text->viewport.top = n > page ? n - page : 0;
	screen_put_lines(screen, &text->lines, &text->viewport, SIZE_MAX);
}

static void add_title(const struct screen *screen, struct str *out)
{
	str_addn(out, screen->text->title.s, screen->text->title.len);
}

static void move(struct screen *screen, enum movement how)
{
	struct text_view *text = screen->text;

	text->viewport.top = screen_moved(how, text->viewport.top, screen_count_lines(&text->lines),
					  screen_body_lines(screen, 0));
}

static size_t widest(const struct str *lines)
{
	size_t most = 0;

	for (const char *at = lines->s; *at;) {
		size_t n = strcspn(at, "\n"), columns = text_columns(at, n);

		most = columns > most ? columns : most;
		at += n + (at[n] == '\n');
	}
	return most;
}

static void scroll(struct screen *screen, int by)
{
	if (!viewport_scroll(&screen->text->viewport, screen, by, widest(&screen->text->lines)))
		screen_pop_view(screen);
}

const struct view view_text = {
	.bit = VIEW_TEXT, .title = add_title, .draw = draw, .move = move, .scroll = scroll, .begin = begin, .end = end
};

void text_open(struct screen *screen, const char *title, struct str *lines)
{
	struct text_view *text = screen->text;

	str_reset(&text->title);
	str_addf(&text->title, "%s  (Esc: back)", title);
	str_release(&text->lines);
	text->lines = *lines;
	str_init(lines);
	text->viewport = (struct viewport){ .top = 0 };
	/* There is one text: over another it takes its place. */
	if (screen->views[screen->n_views - 1] != &view_text)
		screen_push_view(screen, &view_text);
	screen->dirty = true;
}

/* ---- texts ---- */

/* Sentences as wide as the terminal. */
static void add_wrapped(const struct screen *screen, const char *lines, struct str *out)
{
	while (*lines) {
		size_t n = strcspn(lines, "\n");
		struct str line = STR_INIT;

		str_add_printable(&line, lines, n);
		str_add_wrapped(out, line.s, 0, 4, terminal_width(screen->terminal));
		str_addc(out, '\n');
		str_release(&line);
		lines += n + (lines[n] == '\n');
	}
}

void act_help(struct screen *screen)
{
	struct str lines = STR_INIT;

	screen_keys_add(screen, &lines);
	text_open(screen, "Keys", &lines);
}

void act_notes(struct screen *screen)
{
	const struct screen_source *source = screen->source;
	struct str notes = STR_INIT, lines = STR_INIT;

	if (source->notes)
		source->notes(source->context, &notes);
	add_wrapped(screen, notes.len ? notes.s : "nothing was lost, and nothing is in doubt", &lines);
	text_open(screen, "Losses and doubts", &lines);
	str_release(&notes);
}

void act_header(struct screen *screen)
{
	const struct screen_source *source = screen->source;
	struct str lines = STR_INIT;

	if (source->header)
		source->header(source->context, &lines);
	if (!lines.len)
		str_add(&lines, "there is no header\n");
	text_open(screen, "Header of the recording", &lines);
}
