/*
 * code_lines: the code of a function as lines for the screen: the text that `pstat annotate` prints, and beside each
 * line what keys need to know of it: how hot it is, where a jump goes, what is called.
 *
 * All is copied at once: an annotation points into a profile that may be fed meanwhile. Symbols stay as long as their
 * files do, which are held while code is shown. Another way to show it is another copy, in which the selected
 * instruction is the same.
 */
#include "screen/screen_internal.h"

#include <errno.h>
#include <stdlib.h>

/* Text of any length stays in the output. */
static int keep_text(void *context, struct str *text)
{
	(void)context, (void)text;
	return 0;
}

static void add_line(struct code *code, const struct str *text, size_t from, const struct code_line *line)
{
	struct code_line *added;

	VEC_GROW(code->lines, code->n, code->cap);
	added = &code->lines[code->n++];
	*added = *line;
	added->text = code->text.len;
	/* Without the end of the line; a text of its own. */
	str_addn(&code->text, text->s + from, text->len - from - 1);
	added->n = code->text.len - added->text;
}

/* What was printed since `from`, a line each. */
static void add_head_lines(struct code *code, struct str *text)
{
	const struct code_line line = { .instruction = ANNOTATE_NONE, .to = SIZE_MAX };

	for (size_t at = 0; at < text->len;) {
		size_t n = strcspn(text->s + at, "\n") + 1;
		struct str one = STR_INIT;

		str_addn(&one, text->s + at, n);
		for (size_t i = 0; i < one.len; i++)
			if (one.s[i] == '\t')
				one.s[i] = ' ';
		add_line(code, &one, 0, &line);
		str_release(&one);
		at += n;
	}
}

static void take_row(struct code *code, const struct annotation *annotation, size_t row, struct output *output)
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
	add_line(code, &output->text, 0, &line);
}

/* Of an instruction; its number where there is no line of it, which can't be. */
size_t code_line_of(const struct code *code, size_t instruction)
{
	for (size_t i = 0; i < code->n; i++)
		if (code->lines[i].kind == ROW_INSTRUCTION && code->lines[i].instruction == instruction)
			return i;
	return 0;
}

static void take_annotation(struct code *code, const struct annotation *annotation)
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

static int annotate_symbol(struct code *code, struct annotate *annotate, const struct symbol *symbol, bool any,
			   struct str *err)
{
	const struct annotate_function *function = any ? annotate_function_any(annotate, symbol)
						       : annotate_function_of(annotate, symbol);
	struct annotation *annotation;
	int rc;

	if (!function)
		return fail(err, -ENOENT, "no sample is in it, only in what it called");
	rc = annotation_new(&annotation, annotate, function, &code->options, err);
	if (rc)
		return rc;
	take_annotation(code, annotation);
	code->symbol = symbol;
	annotation_free(annotation);
	return 0;
}

/* ---- functions that have samples ---- */

/* Of the events that the table shows beside each other. */
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

/* It is asked once for each table, as that goes through all samples. NULL: there is no table. */
static struct annotate *annotate_of(struct screen *screen)
{
	struct code *code = &screen->code;

	if (!screen_need_table(screen))
		return NULL;
	if (code->annotate && code->annotated == screen->hist)
		return code->annotate;
	code_forget(code);
	code->annotated = screen->hist;
	return code->annotate = ask(screen);
}

void code_forget(struct code *code)
{
	annotate_free(code->annotate);
	code->annotate = NULL;
}

int code_make(struct screen *screen, const struct symbol *symbol, bool any, struct str *err)
{
	struct annotate *annotate = annotate_of(screen);

	return annotate ? annotate_symbol(&screen->code, annotate, symbol, any, err) :
			  fail(err, -ENOENT, "there is no table");
}

const struct symbol *code_function(struct screen *screen, const char *name, size_t i)
{
	struct annotate *annotate = annotate_of(screen);
	const struct annotate_function *function = NULL;

	for (size_t at = 0; annotate && (function = annotate_function_at(annotate, at)); at++)
		if ((!name || !strcmp(function->symbol->name, name) || !strcmp(function->symbol->raw, name)) && !i--)
			break;
	return function ? function->symbol : NULL;
}

static bool is_heavy(const struct screen *screen, const struct annotate *annotate,
		     const struct annotate_function *function)
{
	double all = (double)annotate_total(annotate, 0).period;

	return 100.0 * (double)function->total[0].period >= screen->query.percent_limit * all;
}

const struct symbol *code_neighbour(struct screen *screen, int steps)
{
	struct annotate *annotate = annotate_of(screen);
	const struct annotate_function *function = NULL;
	size_t at = 0;

	while (annotate && (function = annotate_function_at(annotate, at)) && function->symbol != screen->code.symbol)
		at++;
	if (!function || (steps < 0 && at < (size_t)-steps))
		return NULL;
	function = annotate_function_at(annotate, steps < 0 ? at - (size_t)-steps : at + (size_t)steps);
	return function && is_heavy(screen, annotate, function) ? function->symbol : NULL;
}

/* ---- what stays ---- */

void code_hold(struct code *code, struct session *session)
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
static bool is_hotter(const struct code *code, size_t a, size_t b)
{
	if (code->lines[a].percent > code->lines[b].percent)
		return true;
	return code->lines[a].percent >= code->lines[b].percent && a < b;
}

size_t code_hottest(const struct code *code, size_t from, int step)
{
	size_t first = SIZE_MAX, last = SIZE_MAX, next = SIZE_MAX, before = SIZE_MAX;

	for (size_t i = 0; i < code->n; i++) {
		if (code->lines[i].percent <= 0)
			continue;
		if (first == SIZE_MAX || is_hotter(code, i, first))
			first = i;
		if (last == SIZE_MAX || is_hotter(code, last, i))
			last = i;
		if (from >= code->n)
			continue;
		if (is_hotter(code, from, i) && (next == SIZE_MAX || is_hotter(code, i, next)))
			next = i;
		if (is_hotter(code, i, from) && (before == SIZE_MAX || is_hotter(code, before, i)))
			before = i;
	}
	if (!step)
		return first;
	if (step > 0)
		return next == SIZE_MAX ? first : next;
	return before == SIZE_MAX ? last : before;
}

void code_release(struct code *code)
{
	code_forget(code);
	str_release(&code->text);
	str_release(&code->search);
	free(code->lines);
	free(code->back);
}
