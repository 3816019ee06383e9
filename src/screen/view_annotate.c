/*
 * view_annotate: the code of a function with the samples of each instruction, of what is zoomed into; as `pstat
 * annotate` prints it, from its hottest instruction on. Keys go along jumps and calls and back, from one hot
 * instruction to the next, and change what is shown: lines of source, numbers, the syntax.
 *
 *	 Percent |	Source code & Disassembly of app for cycles (12 samples, percent: local period)
 *	         : 7        a *= 2654435761u;
 *	    6.79 :   1216:  imull  $0x9e3779b1, %edx, %edx
 */
#include "screen/screen_internal.h"

#include <stdlib.h>

enum { SCROLL_COLUMNS = 8, TRIED_MAX = 32 };

/* Above these a number is red, or green, as in --stdio. */
#define HOT_PERCENT 5.0
#define WARM_PERCENT 0.5

/* ---- drawing ---- */

static enum terminal_look look_of(const struct code *code, size_t i)
{
	const struct code_line *line = &code->lines[i];

	if (line->instruction == ANNOTATE_NONE)
		return LOOK_PLAIN;
	if (line->kind == ROW_INSTRUCTION)
		return code->jump_to == i ? LOOK_HEAD : LOOK_PLAIN;
	return line->kind == ROW_SOURCE ? LOOK_SOURCE : LOOK_DIM;
}

/* The numbers in front of a hot instruction, over the line that is there. */
static void draw_numbers(struct screen *screen, unsigned y, const struct code_line *line, const struct str *text)
{
	const struct code *code = &screen->code;
	struct str numbers = STR_INIT;

	if (code->left >= line->numbers || line->percent <= WARM_PERCENT)
		return;
	str_addn(&numbers, text->s, line->numbers < text->len ? line->numbers : text->len);
	screen_put_line(screen, y, &numbers, code->left, line->percent >= HOT_PERCENT ? LOOK_HOT : LOOK_WARM);
	str_release(&numbers);
}

static void clamp(struct screen *screen)
{
	struct code *code = &screen->code;
	const size_t lines = screen_body_lines(screen);

	if (code->selected >= code->n)
		code->selected = code->n ? code->n - 1 : 0;
	if (code->top + lines > code->n)
		code->top = code->n > lines ? code->n - lines : 0;
	if (code->selected < code->top)
		code->top = code->selected;
	if (lines && code->selected >= code->top + lines)
		code->top = code->selected - lines + 1;
}

static void draw(struct screen *screen)
{
	struct code *code = &screen->code;
	unsigned lines = screen_body_lines(screen);
	const struct code_line *selected = code->selected < code->n ? &code->lines[code->selected] : NULL;

	clamp(screen);
	code->jump_to = selected && selected->to != SIZE_MAX ? code_line_of(code, selected->to) : SIZE_MAX;
	for (unsigned y = 0; y < lines && code->top + y < code->n; y++) {
		const size_t i = code->top + y;
		struct str text = STR_INIT;

		str_addn(&text, code->text.s + code->lines[i].text, code->lines[i].n);
		screen_put_line(screen, y, &text, code->left, i == code->selected ? LOOK_SELECTED : look_of(code, i));
		if (i != code->selected)
			draw_numbers(screen, y, &code->lines[i], &text);
		str_release(&text);
	}
}

const struct view view_code = { .bit = VIEW_CODE, .draw = draw };

void code_add_title(const struct screen *screen, struct str *out)
{
	str_addf(out, "%s  (Esc: back)", screen->code.symbol->name);
}

/* ---- moving ---- */

/* In the middle of the screen, where it is out of sight. */
static void select_line(struct screen *screen, size_t i)
{
	struct code *code = &screen->code;
	const size_t lines = screen_body_lines(screen);

	if (i < code->top || i >= code->top + lines)
		code->top = i > lines / 2 ? i - lines / 2 : 0;
	code->selected = i;
	clamp(screen);
}

void act_code_move(struct screen *screen, int how)
{
	struct code *code = &screen->code;
	const size_t page = screen_body_lines(screen), at = code->selected;

	switch (how) {
	case MOVE_UP:
		code->selected = at ? at - 1 : 0;
		break;
	case MOVE_DOWN:
		code->selected = at + 1;
		break;
	case MOVE_PAGE_UP:
		code->selected = at > page ? at - page : 0;
		break;
	case MOVE_PAGE_DOWN:
		code->selected = at + page;
		break;
	case MOVE_FIRST:
		code->selected = 0;
		break;
	case MOVE_LAST:
		code->selected = code->n;
		break;
	case MOVE_CLICK: /* below the title */
		if (terminal_click(screen->terminal))
			code->selected = code->top + terminal_click(screen->terminal) - 1;
		break;
	}
	clamp(screen);
}

void act_code_hottest(struct screen *screen, int step)
{
	size_t i = code_hottest(&screen->code, screen->code.selected, step);

	if (i == SIZE_MAX)
		screen_say(screen, "no instruction here has samples");
	else
		select_line(screen, i);
}

void act_code_scroll(struct screen *screen, int by)
{
	struct code *code = &screen->code;

	if (by > 0)
		code->left += SCROLL_COLUMNS;
	else if (code->left)
		code->left -= code->left > SCROLL_COLUMNS ? SCROLL_COLUMNS : code->left;
	else
		act_code_back(screen, 0);
}

/* ---- from function to function ---- */

/* False: its code can't be shown, and the status line says why. */
static bool show(struct screen *screen, const struct symbol *symbol, bool any)
{
	struct code *code = &screen->code;
	struct str err = STR_INIT;
	int rc = code_make(screen, symbol, any, &err);
	size_t hottest;

	if (rc) {
		screen_say(screen, "%s: %s", symbol->name, err.s);
	} else {
		hottest = code_hottest(code, 0, 0);
		code->left = code->top = 0;
		select_line(screen, hottest == SIZE_MAX ? 0 : hottest);
		code_hold(code, screen->table->session);
	}
	str_release(&err);
	return !rc;
}

/* The first time: as the command line has it. */
static void begin_look(struct screen *screen)
{
	const struct screen_code *wanted = screen->options->code;
	struct code *code = &screen->code;

	if (code->used)
		return;
	if (wanted) {
		code->options = wanted->options;
		code->look = wanted->look;
	} else {
		code->options.intel = screen->options->intel;
	}
	code->look.arrows = (unsigned char)screen->options->dots[0] >= 0x80;
	code->used = true;
}

void code_begin(struct screen *screen)
{
	const char *name = screen->options->code->symbol;
	struct str why = STR_INIT;
	const struct symbol *symbol;
	bool shown = false;
	size_t i;

	begin_look(screen);
	/* Of the first that can't be shown it is said why: it is the one that was looked for. */
	for (i = 0; i < TRIED_MAX && !shown && (symbol = code_function(screen, name, i)); i++) {
		shown = show(screen, symbol, false);
		if (!shown && !why.len)
			str_addn(&why, screen->message.s, screen->message.len);
	}
	if (shown)
		screen_push_view(screen, &view_code);
	else if (!i && name && screen->table)
		annotate_add_unknown(screen->table->session, name, &why);
	if (why.len) {
		size_t first = strcspn(why.s, "\n");

		/* What to do about it goes into the same line. */
		screen_say(screen, "%.*s%s%s", (int)first, why.s, why.s[first] ? "; " : "",
			   why.s[first] ? why.s + first + 1 : "");
	}
	str_release(&why);
}

void act_annotate(struct screen *screen, int argument)
{
	struct code *code = &screen->code;
	const struct symbol *symbol;

	(void)argument;
	if (!screen_need_table(screen))
		return;
	symbol = annotate_around(screen->table->session, rows_selected_symbol(screen));
	if (!symbol) {
		screen_say(screen, "this row is no function");
		return;
	}
	begin_look(screen);
	code->n_back = 0;
	if (show(screen, symbol, false))
		screen_push_view(screen, &view_code);
}

/* With a way back. */
static void go_to_function(struct screen *screen, const struct symbol *symbol)
{
	struct code *code = &screen->code;
	const struct code_place here = { code->symbol, code->selected, code->top };

	if (!show(screen, symbol, true))
		return;
	VEC_GROW(code->back, code->n_back, code->cap_back);
	code->back[code->n_back++] = here;
	code_hold(code, screen->table->session);
}

void act_code_enter(struct screen *screen, int argument)
{
	struct code *code = &screen->code;
	const struct code_line *line = &code->lines[code->selected];

	(void)argument;
	if (line->to != SIZE_MAX)
		select_line(screen, code_line_of(code, line->to));
	else if (line->callee == code->symbol)
		select_line(screen, code_line_of(code, 0));
	else if (line->callee)
		go_to_function(screen, line->callee);
	else
		screen_say(screen, "this is no jump and no call whose target is known");
}

/* Past functions whose code can't be shown, of which the first is told. */
void act_code_neighbour(struct screen *screen, int step)
{
	const struct symbol *symbol;
	struct str why = STR_INIT;
	bool shown = false;
	int i;

	for (i = 1; i <= TRIED_MAX && !shown && (symbol = code_neighbour(screen, i * step)); i++) {
		shown = show(screen, symbol, false);
		if (!shown && !why.len)
			str_addn(&why, screen->message.s, screen->message.len);
	}
	if (i == 1)
		screen_say(screen, "no other function has samples there");
	else if (why.len)
		screen_say(screen, "%s", why.s);
	str_release(&why);
}

void act_code_back(struct screen *screen, int argument)
{
	struct code *code = &screen->code;
	struct code_place place;

	(void)argument;
	if (!code->n_back) {
		code_hold(code, NULL);
		screen_pop_view(screen);
		return;
	}
	place = code->back[--code->n_back];
	if (!show(screen, place.symbol, true))
		return;
	code->selected = place.selected;
	code->top = place.top;
	clamp(screen);
}

/* ---- what is shown ---- */

static void change_percent(struct annotation_look *look, bool base)
{
	static const enum annotate_percent other_scope[] = {
		[PERCENT_LOCAL_PERIOD] = PERCENT_GLOBAL_PERIOD, [PERCENT_GLOBAL_PERIOD] = PERCENT_LOCAL_PERIOD,
		[PERCENT_LOCAL_HITS] = PERCENT_GLOBAL_HITS, [PERCENT_GLOBAL_HITS] = PERCENT_LOCAL_HITS,
	};
	static const enum annotate_percent other_base[] = {
		[PERCENT_LOCAL_PERIOD] = PERCENT_LOCAL_HITS, [PERCENT_LOCAL_HITS] = PERCENT_LOCAL_PERIOD,
		[PERCENT_GLOBAL_PERIOD] = PERCENT_GLOBAL_HITS, [PERCENT_GLOBAL_HITS] = PERCENT_GLOBAL_PERIOD,
	};

	look->percent = base ? other_base[look->percent] : other_scope[look->percent];
	look->value = ANNOTATION_PERCENT;
}

static void change(struct code *code, int what)
{
	struct annotation_look *look = &code->look;

	switch (what) {
	case CODE_SOURCE:
		code->options.no_source = !code->options.no_source;
		break;
	case CODE_VALUES:
		look->value = look->value == ANNOTATION_PERCENT  ? ANNOTATION_PERIOD
			      : look->value == ANNOTATION_PERIOD ? ANNOTATION_SAMPLES
								 : ANNOTATION_PERCENT;
		break;
	case CODE_SCOPE:
	case CODE_BASE:
		change_percent(look, what == CODE_BASE);
		break;
	case CODE_INTEL:
		code->options.intel = !code->options.intel;
		break;
	case CODE_BYTES:
		look->raw_bytes = !look->raw_bytes;
		break;
	case CODE_LINES:
		look->lines = !look->lines;
		break;
	case CODE_PATHS:
		look->full_paths = !look->full_paths;
		break;
	case CODE_ARROWS:
		look->arrows = !look->arrows;
		break;
	}
}

/* The selected instruction, or the one below the selected line, stays where it is on the screen. */
void act_code_switch(struct screen *screen, int what)
{
	struct code *code = &screen->code;
	const uint32_t instruction = code->lines[code->selected].instruction;
	const size_t above = code->selected - code->top;
	struct str err = STR_INIT;

	change(code, what);
	if (code_make(screen, code->symbol, true, &err))
		screen_say(screen, "%s", err.s);
	else if (what == CODE_VALUES || what == CODE_SCOPE || what == CODE_BASE)
		screen_say(screen, "%s", code->look.value == ANNOTATION_SAMPLES  ? "numbers of samples"
					 : code->look.value == ANNOTATION_PERIOD ? "sums of periods"
										 : "percentages");
	if (instruction != ANNOTATE_NONE)
		code->selected = code_line_of(code, instruction);
	code->top = code->selected > above ? code->selected - above : 0;
	clamp(screen);
	str_release(&err);
}

/* ---- searching ---- */

/* From the selected line on, and around. */
static void search(struct screen *screen, int step)
{
	struct code *code = &screen->code;

	for (size_t k = 1; k <= code->n; k++) {
		size_t i = (code->selected + (step > 0 ? k : code->n - k)) % code->n;
		const char *text = code->text.s + code->lines[i].text;

		if (!memmem(text, code->lines[i].n, code->search.s, code->search.len))
			continue;
		select_line(screen, i);
		return;
	}
	screen_say(screen, "'%s' is nowhere in it", code->search.s);
}

static void search_done(struct screen *screen, bool accepted)
{
	struct code *code = &screen->code;

	if (!accepted || !screen->prompt.text.len)
		return;
	str_reset(&code->search);
	str_addn(&code->search, screen->prompt.text.s, screen->prompt.text.len);
	search(screen, 1);
}

void act_code_search(struct screen *screen, int step)
{
	if (!step)
		prompt_open(screen, "Search for", screen->code.search.s, NULL, search_done);
	else if (screen->code.search.len)
		search(screen, step);
	else
		screen_say(screen, "/ says what to search for");
}

/* ---- to a file ---- */

void code_print(struct screen *screen, struct output *output)
{
	const struct code *code = &screen->code;

	for (size_t i = 0; i < code->n && !output_step(output); i++) {
		str_addn(&output->text, code->text.s + code->lines[i].text, code->lines[i].n);
		str_addc(&output->text, '\n');
	}
}
