/*
 * view_text: lines to be read: the help, notes about losses and doubts, the recording's header, a name as long
 * as it is. The text is a copy; the source is fed meanwhile.
 */
#include "screen/screen_internal.h"

enum { SCROLL_COLUMNS = 8 };

static size_t n_lines(const struct str *lines)
{
	size_t n = 0;

	for (const char *at = lines->s; *at; n++) {
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return n;
}

static void draw(struct screen *screen)
{
	struct shown_text *text = &screen->text;
	const char *at = text->lines.s;
	unsigned lines = screen_body_lines(screen);
	size_t n = n_lines(&text->lines);

	if (text->top + lines > n)
		text->top = n > lines ? n - lines : 0;
	for (size_t i = 0; *at && i < text->top + lines; i++) {
		size_t len = strcspn(at, "\n");
		struct str line = STR_INIT;

		if (i >= text->top) {
			str_addn(&line, at, len);
			screen_put_line(screen, (unsigned)(i - text->top), &line, text->left, LOOK_PLAIN);
			str_release(&line);
		}
		at += len + (at[len] == '\n');
	}
}

static void add_title(const struct screen *screen, struct str *out)
{
	str_addn(out, screen->text.title.s, screen->text.title.len);
}

const struct view view_text = { .bit = VIEW_TEXT, .title = add_title, .draw = draw };

void text_open(struct screen *screen, const char *title)
{
	struct shown_text *text = &screen->text;

	str_reset(&text->title);
	str_add(&text->title, title);
	str_add(&text->title, "  (Esc: back)");
	text->top = text->left = 0;
	/* There is one text: over another it takes its place. */
	if (screen->views[screen->n_views - 1] != &view_text)
		screen_push_view(screen, &view_text);
	screen->dirty = true;
}

void act_text_move(struct screen *screen, int how)
{
	struct shown_text *text = &screen->text;

	text->top = screen_moved(how, text->top, n_lines(&text->lines), screen_body_lines(screen), SIZE_MAX);
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

void act_text_scroll(struct screen *screen, int by)
{
	struct shown_text *text = &screen->text;

	if (by > 0)
		text->left = screen_scrolled(screen, text->left, SCROLL_COLUMNS, widest(&text->lines));
	else if (text->left)
		text->left -= text->left > SCROLL_COLUMNS ? SCROLL_COLUMNS : text->left;
	else
		screen_pop_view(screen);
}

void act_close(struct screen *screen, int argument)
{
	(void)argument;
	screen_pop_view(screen);
}

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

void act_help(struct screen *screen, int argument)
{
	(void)argument;
	str_reset(&screen->text.lines);
	screen_keys_add(&screen->text.lines);
	text_open(screen, "Keys");
}

void act_notes(struct screen *screen, int argument)
{
	const struct screen_source *source = screen->source;
	struct str notes = STR_INIT;

	(void)argument;
	if (source->notes)
		source->notes(source->context, &notes);
	str_reset(&screen->text.lines);
	add_wrapped(screen, notes.len ? notes.s : "nothing was lost, and nothing is in doubt", &screen->text.lines);
	text_open(screen, "Losses and doubts");
	str_release(&notes);
}

void act_header(struct screen *screen, int argument)
{
	const struct screen_source *source = screen->source;
	struct str *lines = &screen->text.lines;

	(void)argument;
	str_reset(lines);
	if (source->header)
		source->header(source->context, lines);
	if (!lines->len)
		str_add(lines, "there is no header\n");
	text_open(screen, "What the recording says of itself");
}
