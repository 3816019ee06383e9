/*
 * view_menu: one line of several is chosen. The lines are a copy of what there was when the menu was opened.
 */
#include "screen/screen_internal.h"

static void draw(struct screen *screen)
{
	struct menu *menu = &screen->menu;
	const char *at = menu->lines.s;
	unsigned lines = screen_body_lines(screen);

	if (menu->selected < menu->top)
		menu->top = menu->selected;
	if (lines && menu->selected >= menu->top + lines)
		menu->top = menu->selected - lines + 1;
	for (size_t i = 0; *at && i < menu->top + lines; i++) {
		size_t len = strcspn(at, "\n");
		struct str line = STR_INIT;

		if (i >= menu->top) {
			str_addn(&line, at, len);
			screen_put_line(screen, (unsigned)(i - menu->top), &line, 0,
					i == menu->selected ? LOOK_SELECTED : LOOK_PLAIN);
			str_release(&line);
		}
		at += len + (at[len] == '\n');
	}
}

static void add_title(const struct screen *screen, struct str *out)
{
	str_addn(out, screen->menu.title.s, screen->menu.title.len);
}

const struct view view_menu = { .bit = VIEW_MENU, .title = add_title, .draw = draw };

void menu_open(struct screen *screen, const char *title, void (*chosen)(struct screen *screen, size_t i))
{
	static const char keys[] = "  (Enter: this one, Esc: none)";
	const unsigned width = terminal_width(screen->terminal);
	struct menu *menu = &screen->menu;

	str_reset(&menu->title);
	str_add(&menu->title, title);
	if (width > sizeof(keys))
		str_shorten(&menu->title, 0, width - (sizeof(keys) - 1), false, screen->options->dots);
	str_add(&menu->title, keys);
	menu->n = menu->selected = menu->top = 0;
	for (const char *at = menu->lines.s; (at = strchr(at, '\n')); at++)
		menu->n++;
	menu->chosen = chosen;
	screen_push_view(screen, &view_menu);
}

void act_menu_move(struct screen *screen, int how)
{
	struct menu *menu = &screen->menu;

	menu->selected = screen_moved(how, menu->selected, menu->n, screen_body_lines(screen),
				      menu->top + terminal_click(screen->terminal) - 1);
}

void act_menu_choose(struct screen *screen, int argument)
{
	struct menu *menu = &screen->menu;

	(void)argument;
	screen_pop_view(screen);
	if (menu->n)
		menu->chosen(screen, menu->selected);
}
