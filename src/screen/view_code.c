/* SPDX-License-Identifier: MIT */
/*
 * view_code: the code of a function with the samples of each instruction, of what is zoomed into; as `pstat
 * annotate` prints it, from its hottest instruction on. Keys go along jumps and calls and back, from one hot
 * instruction to the next, and change what is shown: lines of source, numbers, the syntax.
 *
 *	 Percent |	Source code & Disassembly of app for cycles (12 samples, percent: local period)
 *	         : 7        a *= 2654435761u;
 *	    6.79 :   1216:  imull  $0x9e3779b1, %edx, %edx
 *
 * The lines are a copy: the text that `pstat annotate` prints, and beside each line what keys need to know of it:
 * how hot it is, where a jump goes, what is called. An annotation points into a profile that may be fed meanwhile.
 * Symbols stay as long as their files do, which are held while code is shown. Another way to show it is another
 * copy, in which the selected instruction is the same.
 */
#include "screen/screen_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

enum { TRIED_MAX = 32, NAME_BYTES_MAX = 100 };

/* A way back. */
struct code_place {
	const struct symbol *symbol;
	struct viewport viewport;
};
struct code_view {
	const struct symbol *symbol;
	struct annotate *annotate; /* the functions that have samples, of the table; NULL: not asked for */
	const struct hist *annotated; /* of whose events */
	struct session *session; /* that holds the files of what is shown; NULL: none does */
	bool used; /* options and look are the user's */
	struct annotate_options options;
	struct annotation_look look; /* its types are there while lines are made */
	bool with_types;
	struct str text;
	struct code_line *lines;
	size_t n, cap;
	struct viewport viewport;
	size_t jump_to; /* the line that the selected one jumps to; SIZE_MAX: none */
	struct code_place *back; /* where one came from, the last one first to come back to */
	size_t n_back, cap_back;
	struct str search;
};

static void begin(struct screen *screen)
{
	screen->code = xcalloc(1, sizeof(*screen->code));
	str_init(&screen->code->text);
	str_init(&screen->code->search);
}

static void forget_table(struct screen *screen)
{
	annotate_free(screen->code->annotate);
	screen->code->annotate = NULL;
}

static void end(struct screen *screen)
{
	struct code_view *code = screen->code;

	str_release(&code->text);
	str_release(&code->search);
	free(code->lines);
	free(code->back);
	free(code);
}

/* ---- lines ---- */

/* Text of any length stays in the output. */
static int keep_text(void *context, struct str *text)
{
	(void)context, (void)text;
	return 0;
}

static void add_line(struct code_view *code, const struct str *text, const struct code_line *line)
{
	struct code_line *added;

	VEC_GROW(code->lines, code->n, code->cap);
	added = &code->lines[code->n++];
	*added = *line;
	added->text = code->text.len;
	/* The end of the line is left out: each line is a text of its own. */
	str_addn(&code->text, text->s, text->len - 1);
	added->n = code->text.len - added->text;
}

/* Adds the lines of a text that stands above the instructions. */
static void add_head_lines(struct code_view *code, struct str *text)
{
	const struct code_line line = { .instruction = ANNOTATE_NONE, .to = SIZE_MAX };

	for (size_t at = 0; at < text->len;) {
		size_t n = strcspn(text->s + at, "\n") + 1;
		struct str one = STR_INIT;

		str_addn(&one, text->s + at, n);
		for (size_t i = 0; i < one.len; i++)
			if (one.s[i] == '\t')
				one.s[i] = ' ';
		add_line(code, &one, &line);
		str_release(&one);
		at += n;
	}
}

static void take_row(struct code_view *code, const struct annotation *annotation, size_t row, struct output *output)
{
	const struct annotate_row *shown = &annotation->rows[row];
	const struct annotate_instruction *instruction = &annotation->instructions[shown->instruction];
	struct code_line line = { .kind = shown->kind, .instruction = shown->instruction, .to = SIZE_MAX };

	if (shown->kind == ROW_INSTRUCTION) {
		line.percent = annotation_row_percent(annotation, &code->look, row);
		line.numbers = annotation_values_columns(annotation, &code->look);
		if (instruction->target_instruction != ANNOTATE_NONE)
			line.to = instruction->target_instruction;
		else if (instruction->flow == FLOW_CALL || instruction->flow == FLOW_JUMP)
			line.callee = instruction->target_symbol;
	}
	str_reset(&output->text);
	annotation_add_row(annotation, &code->look, row, output);
	add_line(code, &output->text, &line);
}

/* The line of an instruction; 0 where there is none of it, which can't be. */
static size_t line_of(const struct code_view *code, size_t instruction)
{
	for (size_t i = 0; i < code->n; i++)
		if (code->lines[i].kind == ROW_INSTRUCTION && code->lines[i].instruction == instruction)
			return i;
	return 0;
}

static void take_annotation(struct code_view *code, const struct annotation *annotation)
{
	struct output output = { .text = STR_INIT, .write = keep_text };

	code->n = 0;
	str_reset(&code->text);
	annotation_add_head(annotation, &code->look, &output);
	add_head_lines(code, &output.text);
	for (size_t i = 0; i < annotation->n_rows; i++)
		take_row(code, annotation, i, &output);
	str_release(&output.text);
}

static int annotate_symbol(struct code_view *code, struct annotate *annotate, const struct symbol *symbol, bool any,
			   struct str *err)
{
	const struct annotate_function *function = any ? annotate_function_any(annotate, symbol)
						       : annotate_function_of(annotate, symbol);
	struct annotation *annotation;
	int rc;

	if (!function)
		return fail(err, -ENOENT, "it has no samples itself, only its callees have");
	rc = annotation_new(&annotation, annotate, function, &code->options, err);
	if (rc)
		return rc;
	take_annotation(code, annotation);
	code->symbol = symbol;
	annotation_free(annotation);
	return 0;
}

/* ---- functions that have samples ---- */

/* Asks for the functions of the events that the table shows beside each other. */
static struct annotate *ask(struct screen *screen)
{
	struct table *table = screen->table;
	struct annotate_query query = { .filters = table->filters, .n_events = screen->hist->n_members };
	size_t *events = xcalloc(query.n_events, sizeof(*events));
	struct annotate *annotate;

	for (size_t i = 0; i < query.n_events; i++)
		events[i] = head_member(table, screen->hist, i)->index;
	/* One that has had no sample so far may not be there. */
	while (query.n_events && events[query.n_events - 1] >= table->profile->n_events)
		query.n_events--;
	query.events = events;
	annotate = annotate_new(table->profile, &query);
	free(events);
	return annotate;
}

/* Asks once for each table, as that goes through all samples. NULL: there is no table. */
static struct annotate *annotate_of(struct screen *screen)
{
	struct code_view *code = screen->code;

	if (!screen_need_table(screen))
		return NULL;
	if (code->annotate && code->annotated == screen->hist)
		return code->annotate;
	forget_table(screen);
	code->annotated = screen->hist;
	return code->annotate = ask(screen);
}

/* Fills screen->code; any: also of a function that has no samples. Else it is as it was, and err says why. */
static int make_lines(struct screen *screen, const struct symbol *symbol, bool any, struct str *err)
{
	struct annotate *annotate = annotate_of(screen);
	struct code_view *code = screen->code;
	int rc;

	if (!annotate)
		return fail(err, -ENOENT, "there is no table");
	if (code->with_types)
		code->look.types = types_new(screen->table->session->symbols);
	rc = annotate_symbol(code, annotate, symbol, any, err);
	types_free(code->look.types);
	code->look.types = NULL;
	return rc;
}

/* The function of this name with most samples, NULL: of any name; i: those with more are left out. NULL: no more. */
static const struct symbol *function_named(struct screen *screen, const char *name, size_t i)
{
	struct annotate *annotate = annotate_of(screen);
	const struct annotate_function *function = NULL;

	for (size_t at = 0; annotate && (function = annotate_function_at(annotate, at)); at++)
		if ((!name || !strcmp(function->symbol->name, name) || !strcmp(function->symbol->raw, name)) && !i--)
			break;
	return function ? function->symbol : NULL;
}

/*
 * The function that lies so many steps after the one that is shown in order of samples, or before it; none that has
 * less than the query's limit. NULL: there is none.
 */
static const struct symbol *neighbour(struct screen *screen, int steps)
{
	struct annotate *annotate = annotate_of(screen);
	const struct annotate_function *function = NULL;
	size_t at = 0;

	while (annotate && (function = annotate_function_at(annotate, at)) && function->symbol != screen->code->symbol)
		at++;
	if (!function || (steps < 0 && at < (size_t)-steps))
		return NULL;
	function = annotate_function_at(annotate, steps < 0 ? at - (size_t)-steps : at + (size_t)steps);
	if (!function || !annotate_is_heavy(annotate, function, screen->query.percent_limit))
		return NULL;
	return function->symbol;
}

/* ---- what stays ---- */

/* Holds the files of what is shown, and of where the ways back lead, while the profile forgets. session NULL: none. */
static void hold_files(struct code_view *code, struct session *session)
{
	const struct dso **dsos = xcalloc(code->n_back + 1, sizeof(*dsos));
	size_t n = 0;

	for (size_t i = 0; session && i < code->n_back; i++)
		dsos[n++] = code->back[i].symbol->dso;
	if (session)
		dsos[n++] = code->symbol->dso;
	if (session || code->session)
		session_hold_files(session ? session : code->session, dsos, n);
	code->session = session;
	free(dsos);
}

/* ---- the hottest ---- */

/* Is a line before another one, where the hottest is first? Lines equally hot are from top to bottom. */
static bool is_hotter(const struct code_line *lines, size_t a, size_t b)
{
	if (lines[a].percent > lines[b].percent)
		return true;
	return lines[a].percent >= lines[b].percent && a < b;
}

size_t code_hottest(const struct code_line *lines, size_t n, size_t from, int step)
{
	size_t first = SIZE_MAX, last = SIZE_MAX, next = SIZE_MAX, before = SIZE_MAX;

	for (size_t i = 0; i < n; i++) {
		if (lines[i].percent <= 0)
			continue;
		if (first == SIZE_MAX || is_hotter(lines, i, first))
			first = i;
		if (last == SIZE_MAX || is_hotter(lines, last, i))
			last = i;
		if (from >= n)
			continue;
		if (is_hotter(lines, from, i) && (next == SIZE_MAX || is_hotter(lines, i, next)))
			next = i;
		if (is_hotter(lines, i, from) && (before == SIZE_MAX || is_hotter(lines, before, i)))
			before = i;
	}
	if (!step)
		return first;
	if (step > 0)
		return next == SIZE_MAX ? first : next;
	return before == SIZE_MAX ? last : before;
}

/* ---- drawing ---- */

static enum terminal_look look_of(const struct code_view *code, size_t i)
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
	const struct code_view *code = screen->code;
	const enum terminal_look look = screen_percent_look(line->percent);
	struct str numbers = STR_INIT;

	if (code->viewport.left >= line->numbers || look == LOOK_PLAIN)
		return;
	str_addn(&numbers, text->s, line->numbers < text->len ? line->numbers : text->len);
	screen_put_line(screen, y, &numbers, code->viewport.left, look);
	str_release(&numbers);
}

static void clamp(struct screen *screen)
{
	viewport_clamp(&screen->code->viewport, screen, screen->code->n, 0);
}

static void draw(struct screen *screen)
{
	struct code_view *code = screen->code;
	struct viewport *viewport = &code->viewport;
	unsigned lines = screen_body_lines(screen, 0);
	size_t to;

	clamp(screen);
	to = viewport->selected < code->n ? code->lines[viewport->selected].to : SIZE_MAX;
	code->jump_to = to != SIZE_MAX ? line_of(code, to) : SIZE_MAX;
	for (unsigned y = 0; y < lines && viewport->top + y < code->n; y++) {
		const size_t i = viewport->top + y;
		const bool selected = i == viewport->selected;
		struct str text = STR_INIT;

		str_addn(&text, code->text.s + code->lines[i].text, code->lines[i].n);
		screen_put_line(screen, y, &text, viewport->left, selected ? LOOK_SELECTED : look_of(code, i));
		if (!selected)
			draw_numbers(screen, y, &code->lines[i], &text);
		str_release(&text);
	}
}

static void add_title(const struct screen *screen, struct str *out)
{
	str_addf(out, "%s  (Esc: back)", screen->code->symbol->name);
}

/* ---- moving ---- */

/* In the middle of the screen, where it is out of sight. */
static void select_line(struct screen *screen, size_t i)
{
	struct viewport *viewport = &screen->code->viewport;
	const size_t lines = screen_body_lines(screen, 0);

	if (i < viewport->top || i >= viewport->top + lines)
		viewport->top = i > lines / 2 ? i - lines / 2 : 0;
	viewport->selected = i;
	clamp(screen);
}

static void move(struct screen *screen, enum movement how)
{
	struct code_view *code = screen->code;

	/* A click below the last line selects that one. */
	if (how == MOVE_CLICK && code->n < screen_body_lines(screen, 0) && terminal_click(screen->terminal) > code->n)
		how = MOVE_LAST;
	viewport_move(&code->viewport, screen, how, code->n, 0);
}

/* Goes on to the right without end: lines of source may be far away. */
static void scroll(struct screen *screen, int by)
{
	if (!viewport_scroll(&screen->code->viewport, screen, by, SIZE_MAX))
		act_code_back(screen);
}

const struct view view_code = {
	.bit = VIEW_CODE, .title = add_title, .draw = draw, .move = move, .scroll = scroll,
	.begin = begin, .end = end, .forget_table = forget_table,
};

void act_code_hottest(struct screen *screen, int step)
{
	const struct code_view *code = screen->code;
	size_t i = code_hottest(code->lines, code->n, code->viewport.selected, step);

	if (i == SIZE_MAX)
		screen_say(screen, "no instruction here has samples");
	else
		select_line(screen, i);
}

/* ---- from function to function ---- */

/* False: its code can't be shown, and the status line says why. */
static bool show(struct screen *screen, const struct symbol *symbol, bool any)
{
	struct code_view *code = screen->code;
	struct str err = STR_INIT;
	int rc = make_lines(screen, symbol, any, &err);
	size_t hottest;

	if (rc) {
		screen_say(screen, "%s: %s", symbol->name, err.s);
	} else {
		hottest = code_hottest(code->lines, code->n, 0, 0);
		code->viewport.left = code->viewport.top = 0;
		select_line(screen, hottest == SIZE_MAX ? 0 : hottest);
		hold_files(code, screen->table->session);
	}
	str_release(&err);
	return !rc;
}

/* The first time: as the command line has it. */
static void begin_look(struct screen *screen)
{
	const struct screen_code *wanted = screen->options->code;
	struct code_view *code = screen->code;

	if (code->used)
		return;
	if (wanted) {
		code->options = wanted->options;
		code->look = wanted->look;
	} else {
		code->options = screen->options->code_options;
		code->look.percent = screen->options->code_percent;
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
	/* The first that can't be shown is the one that was looked for: the reason is its own. */
	for (i = 0; i < TRIED_MAX && !shown && (symbol = function_named(screen, name, i)); i++) {
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

		/* The remedy goes into the same line. */
		screen_say(screen, "%.*s%s%s", (int)first, why.s, why.s[first] ? "; " : "",
			   why.s[first] ? why.s + first + 1 : "");
	}
	str_release(&why);
}

void act_annotate(struct screen *screen)
{
	struct code_view *code = screen->code;
	const struct symbol *symbol;

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

/* Shows a function with a way back to this one. */
static void go_to_function(struct screen *screen, const struct symbol *symbol)
{
	struct code_view *code = screen->code;
	const struct code_place here = { code->symbol, code->viewport };

	if (!show(screen, symbol, true))
		return;
	VEC_GROW(code->back, code->n_back, code->cap_back);
	code->back[code->n_back++] = here;
	hold_files(code, screen->table->session);
}

void act_code_enter(struct screen *screen)
{
	struct code_view *code = screen->code;
	const struct code_line *line = &code->lines[code->viewport.selected];

	if (line->to != SIZE_MAX)
		select_line(screen, line_of(code, line->to));
	else if (line->callee == code->symbol)
		select_line(screen, line_of(code, 0));
	else if (line->callee)
		go_to_function(screen, line->callee);
	else
		screen_say(screen, "this is not a jump or call with a known target");
}

/* Passes over functions whose code can't be shown; the reason of the first is shown. */
void act_code_neighbour(struct screen *screen, int step)
{
	const struct symbol *symbol;
	struct str why = STR_INIT;
	bool shown = false;
	int i;

	for (i = 1; i <= TRIED_MAX && !shown && (symbol = neighbour(screen, i * step)); i++) {
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

void act_code_back(struct screen *screen)
{
	struct code_view *code = screen->code;
	struct code_place place;

	if (!code->n_back) {
		hold_files(code, NULL);
		screen_pop_view(screen);
		return;
	}
	place = code->back[--code->n_back];
	if (!show(screen, place.symbol, true))
		return;
	code->viewport = place.viewport;
	clamp(screen);
}

/* ---- what is shown ---- */

/* The selected instruction, or the one below the selected line, stays where it is. False: an error is shown. */
static bool show_anew(struct screen *screen)
{
	struct code_view *code = screen->code;
	const uint32_t instruction = code->lines[code->viewport.selected].instruction;
	struct viewport *viewport = &code->viewport;
	const size_t above = viewport->selected - viewport->top;
	struct str err = STR_INIT;
	bool failed = make_lines(screen, code->symbol, true, &err);

	if (failed)
		screen_say(screen, "%s", err.s);
	if (instruction != ANNOTATE_NONE)
		viewport->selected = line_of(code, instruction);
	viewport->top = viewport->selected > above ? viewport->selected - above : 0;
	clamp(screen);
	str_release(&err);
	return !failed;
}

void act_code_flip(struct screen *screen, int which)
{
	struct code_view *code = screen->code;
	bool *const switches[] = {
		[CODE_SOURCE] = &code->options.no_source, [CODE_SYNTAX] = &code->options.intel,
		[CODE_LINES] = &code->look.lines,	  [CODE_PATHS] = &code->look.full_paths,
		[CODE_BYTES] = &code->look.raw_bytes,	  [CODE_ARROWS] = &code->look.arrows,
		[CODE_TYPES] = &code->with_types,
	};

	*switches[which] = !*switches[which];
	show_anew(screen);
}

/* Shows other numbers, and says which. */
static void show_values(struct screen *screen, enum annotation_value value)
{
	static const char *const names[] = {
		[ANNOTATION_PERCENT] = "percentages",
		[ANNOTATION_PERIOD] = "sums of periods",
		[ANNOTATION_SAMPLES] = "numbers of samples",
	};

	screen->code->look.value = value;
	if (show_anew(screen))
		screen_say(screen, "%s", names[value]);
}

void act_code_values(struct screen *screen)
{
	static const enum annotation_value next[] = {
		[ANNOTATION_PERCENT] = ANNOTATION_PERIOD,
		[ANNOTATION_PERIOD] = ANNOTATION_SAMPLES,
		[ANNOTATION_SAMPLES] = ANNOTATION_PERCENT,
	};

	show_values(screen, next[screen->code->look.value]);
}

void act_code_scope(struct screen *screen)
{
	static const enum annotate_percent other[] = {
		[PERCENT_LOCAL_PERIOD] = PERCENT_GLOBAL_PERIOD, [PERCENT_GLOBAL_PERIOD] = PERCENT_LOCAL_PERIOD,
		[PERCENT_LOCAL_HITS] = PERCENT_GLOBAL_HITS, [PERCENT_GLOBAL_HITS] = PERCENT_LOCAL_HITS,
	};

	screen->code->look.percent = other[screen->code->look.percent];
	show_values(screen, ANNOTATION_PERCENT);
}

void act_code_base(struct screen *screen)
{
	static const enum annotate_percent other[] = {
		[PERCENT_LOCAL_PERIOD] = PERCENT_LOCAL_HITS, [PERCENT_LOCAL_HITS] = PERCENT_LOCAL_PERIOD,
		[PERCENT_GLOBAL_PERIOD] = PERCENT_GLOBAL_HITS, [PERCENT_GLOBAL_HITS] = PERCENT_GLOBAL_PERIOD,
	};

	screen->code->look.percent = other[screen->code->look.percent];
	show_values(screen, ANNOTATION_PERCENT);
}

/* ---- searching ---- */

/* From the selected line on, and around. */
static void search(struct screen *screen, int step)
{
	struct code_view *code = screen->code;

	for (size_t k = 1; k <= code->n; k++) {
		size_t i = (code->viewport.selected + (step > 0 ? k : code->n - k)) % code->n;
		const char *text = code->text.s + code->lines[i].text;

		if (!memmem(text, code->lines[i].n, code->search.s, code->search.len))
			continue;
		select_line(screen, i);
		return;
	}
	screen_say(screen, "'%s' is nowhere in it", code->search.s);
}

static void search_done(struct screen *screen, const char *text)
{
	struct code_view *code = screen->code;

	if (!text || !*text)
		return;
	str_reset(&code->search);
	str_add(&code->search, text);
	search(screen, 1);
}

void act_code_search(struct screen *screen)
{
	prompt_open(screen, "Search for", screen->code->search.s, NULL, search_done);
}

void act_code_search_on(struct screen *screen, int step)
{
	if (screen->code->search.len)
		search(screen, step);
	else
		screen_say(screen, "/ says what to search for");
}

/* ---- to a file ---- */

static void print(struct screen *screen, struct output *output)
{
	const struct code_view *code = screen->code;

	for (size_t i = 0; i < code->n && !output_step(output); i++) {
		str_addn(&output->text, code->text.s + code->lines[i].text, code->lines[i].n);
		str_addc(&output->text, '\n');
	}
}

/* "hot.annotation": of the name what every file system takes. */
void act_code_save(struct screen *screen)
{
	const char *name = screen->code->symbol->name;
	struct str path = STR_INIT;

	for (size_t i = 0; name[i] && i < NAME_BYTES_MAX; i++)
		str_addc(&path, isalnum((unsigned char)name[i]) || (i && name[i] == '.') ? name[i] : '_');
	str_add(&path, ".annotation");
	save_as(screen, path.s, print);
	str_release(&path);
}
