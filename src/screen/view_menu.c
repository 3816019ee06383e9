/* SPDX-License-Identifier: MIT */
/*
 * view_menu: one line of several is chosen. The lines are a copy of what there was when the menu was opened.
 */
#include "screen/screen_internal.h"

#include <stdlib.h>

struct menu {
	struct str title;
	struct str lines; /* each ended by '\n' */
	size_t n;
	struct viewport viewport;
	void (*chosen)(struct screen *screen, size_t i);
};

static void begin(struct screen *screen)
{
	screen->menu = xcalloc(1, sizeof(*screen->menu));
	str_init(&screen->menu->title);
	str_init(&screen->menu->lines);
}

static void end(struct screen *screen)
{
	str_release(&screen->menu->title);
	str_release(&screen->menu->lines);
	free(screen->menu);
}

static void draw(struct screen *screen)
{
	struct menu *menu = screen->menu;

	viewport_clamp(&menu->viewport, screen, menu->n, 0);
	screen_put_lines(screen, &menu->lines, &menu->viewport, menu->viewport.selected);
}

static void add_title(const struct screen *screen, struct str *out)
{
	str_addn(out, screen->menu->title.s, screen->menu->title.len);
}

static void move(struct screen *screen, enum movement how)
{
	viewport_move(&screen->menu->viewport, screen, how, screen->menu->n, 0);
}

const struct view view_menu = {
	.bit = VIEW_MENU, .title = add_title, .draw = draw, .move = move, .begin = begin, .end = end
};

void menu_open(struct screen *screen, const char *title, struct str *lines,
	       void (*chosen)(struct screen *screen, size_t i))
{
	static const char keys[] = "  (Enter: this one, Esc: none)";
	const unsigned width = terminal_width(screen->terminal);
	struct menu *menu = screen->menu;

	str_reset(&menu->title);
	str_add(&menu->title, title);
	if (width > sizeof(keys))
		str_shorten(&menu->title, 0, width - (sizeof(keys) - 1), false, screen->options->dots);
	str_add(&menu->title, keys);
	str_release(&menu->lines);
	menu->lines = *lines;
	str_init(lines);
	menu->n = screen_count_lines(&menu->lines);
	menu->viewport = (struct viewport){ .top = 0 };
	menu->chosen = chosen;
	screen_push_view(screen, &view_menu);
}

void act_menu_choose(struct screen *screen)
{
	struct menu *menu = screen->menu;

	screen_pop_view(screen);
	if (menu->n)
		menu->chosen(screen, menu->viewport.selected);
}
