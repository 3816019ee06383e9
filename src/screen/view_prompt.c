/* SPDX-License-Identifier: MIT */
/*
 * view_prompt: the status line while something is typed: a filter, which is obeyed letter by letter, sort keys, a
 * limit, a file's name. Editing is at the end of the line, as long as it takes to be right.
 */
#include "screen/screen_internal.h"

#include <stdlib.h>

enum { LABEL_LEAST = 6 }; /* columns with its colon: fewer say nothing */

struct prompt {
	const char *label;
	struct str text;
	void (*changed)(struct screen *screen, const char *text);
	void (*done)(struct screen *screen, const char *text);
};

static void begin(struct screen *screen)
{
	screen->prompt = xcalloc(1, sizeof(*screen->prompt));
	str_init(&screen->prompt->text);
}

static void end(struct screen *screen)
{
	str_release(&screen->prompt->text);
	free(screen->prompt);
}

/* Half of the line is for what is typed, if it needs so much: the label gives way. One column is the cursor's. */
static void add_label(const struct screen *screen, size_t width, struct str *out)
{
	const struct prompt *prompt = screen->prompt;
	const size_t typed = text_columns(prompt->text.s, prompt->text.len) + 1;
	const size_t needed = typed < width / 2 ? typed : width / 2, begin = out->len;

	if (width < needed + LABEL_LEAST)
		return;
	str_add(out, prompt->label);
	str_shorten(out, begin, width - needed - 2, false, screen->options->dots);
	str_add(out, ": ");
}

void prompt_add_line(const struct screen *screen, struct str *out)
{
	const struct str *text = &screen->prompt->text;
	const size_t width = terminal_width(screen->terminal);
	size_t room, columns, skipped = 0;

	add_label(screen, width, out);
	room = width - text_columns(out->s, out->len) - 1;
	columns = text_columns(text->s, text->len);
	/* The end of the text is shown; a character may have two columns. */
	for (size_t over = columns > room ? columns - room : 0; columns > room; over++) {
		skipped = text_fitting(text->s, text->len, over);
		columns = text_columns(text->s + skipped, text->len - skipped);
	}
	str_addn(out, text->s + skipped, text->len - skipped);
}

static unsigned cursor(const struct screen *screen)
{
	struct str line = STR_INIT;
	unsigned column;

	prompt_add_line(screen, &line);
	column = (unsigned)text_columns(line.s, line.len);
	str_release(&line);
	return column;
}

static void changed(struct screen *screen)
{
	if (screen->prompt->changed)
		screen->prompt->changed(screen, screen->prompt->text.s);
}

static void add_character(struct str *text, unsigned code)
{
	if (code < 0x80) {
		str_addc(text, (char)code);
	} else if (code < 0x800) {
		str_addc(text, (char)(0xc0 | code >> 6));
		str_addc(text, (char)(0x80 | (code & 0x3f)));
	} else if (code < 0x10000) {
		str_addc(text, (char)(0xe0 | code >> 12));
		str_addc(text, (char)(0x80 | (code >> 6 & 0x3f)));
		str_addc(text, (char)(0x80 | (code & 0x3f)));
	} else {
		str_addc(text, (char)(0xf0 | code >> 18));
		str_addc(text, (char)(0x80 | (code >> 12 & 0x3f)));
		str_addc(text, (char)(0x80 | (code >> 6 & 0x3f)));
		str_addc(text, (char)(0x80 | (code & 0x3f)));
	}
}

static void typed(struct screen *screen, int key)
{
	if (key < ' ' || key >= KEY_OF_TERMINAL)
		return;
	add_character(&screen->prompt->text, (unsigned)key);
	changed(screen);
}

const struct view view_prompt = { .bit = VIEW_PROMPT, .typed = typed, .cursor = cursor, .begin = begin, .end = end };

void prompt_open(struct screen *screen, const char *label, const char *text,
		 void (*when_changed)(struct screen *screen, const char *text),
		 void (*done)(struct screen *screen, const char *text))
{
	struct prompt *prompt = screen->prompt;

	prompt->label = label;
	prompt->changed = when_changed;
	prompt->done = done;
	str_reset(&prompt->text);
	str_add_printable(&prompt->text, text, strlen(text));
	screen_push_view(screen, &view_prompt);
}

void act_prompt_accept(struct screen *screen)
{
	screen_pop_view(screen);
	screen->prompt->done(screen, screen->prompt->text.s);
}

void act_prompt_cancel(struct screen *screen)
{
	screen_pop_view(screen);
	screen->prompt->done(screen, NULL);
}

/* Takes the last character back: its bytes, of which all but the first begin with the bits 10. */
void act_prompt_delete(struct screen *screen)
{
	struct str *text = &screen->prompt->text;

	if (!text->len)
		return;
	do
		text->len--;
	while (text->len && ((unsigned char)text->s[text->len] & 0xc0) == 0x80);
	text->s[text->len] = '\0';
	changed(screen);
}

void act_prompt_delete_all(struct screen *screen)
{
	if (!screen->prompt->text.len)
		return;
	str_reset(&screen->prompt->text);
	changed(screen);
}
