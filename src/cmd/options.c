/* SPDX-License-Identifier: MIT */
/*
 * The option parser: words -> fields of a struct, by the rows of a table. It knows no option by name
 * but --help. Each error names the option as its row has it, so that a message reads the same for
 * -I and --interval-print. The same rows print -h.
 */
#include "cmd/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

enum {
	HELP_INDENT = 4,
	HELP_COLUMN = 34, /* where the explanations begin */
	HELP_WIDTH = 80, /* explanations go on below their beginning */
};

struct parse {
	const struct option_row *rows;
	void *target;
	struct str *err;
	char *const *argv;
	int argc;
	int next; /* the word after the one being looked at */
	bool dashes; /* the last one was "--" */
};

/* ---- names ---- */

static void add_name(struct str *out, const struct option_row *row)
{
	if (row->name)
		str_addf(out, "--%s", row->name);
	else
		str_addf(out, "-%c", row->letter);
}

static bool is_option(const struct option_row *row)
{
	return row->kind != OPTION_GROUP && row->kind != OPTION_END;
}

bool option_may_be_negated(const struct option_row *row)
{
	static const bool may[] = {
		[OPTION_FLAG] = true, [OPTION_SWITCH] = true, [OPTION_COUNT] = true,
		[OPTION_ACCEPTED] = true, [OPTION_REFUSED] = true,
	};

	return row->name && (size_t)row->kind < ARRAY_SIZE(may) && may[row->kind] && !row->argument;
}

static int PRINTF_LIKE(3, 4)
	option_fail(struct parse *p, const struct option_row *row, const char *fmt, ...)
{
	va_list ap;

	add_name(p->err, row);
	str_add(p->err, ": ");
	va_start(ap, fmt);
	str_vaddf(p->err, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* ---- values ---- */

static void add_limits(struct str *out, const struct option_row *row)
{
	if (row->max == LONG_MAX)
		str_addf(out, " (%d or more", row->min);
	else
		str_addf(out, " (%d to %ld", row->min, row->max);
	str_addf(out, "%s%s)", row->unit ? " " : "", row->unit ? row->unit : "");
}

static int set_number(struct parse *p, const struct option_row *row, const char *text, long *field)
{
	int rc = parse_int(text, row->min, row->max, field);

	if (!rc)
		return 0;
	option_fail(p, row, "'%s' is %s", text, rc == -ERANGE ? "out of range" : "not a number");
	add_limits(p->err, row);
	return -EINVAL;
}

static int set_unsigned(struct parse *p, const struct option_row *row, const char *text, unsigned *field)
{
	long number;
	int rc = set_number(p, row, text, &number);

	if (!rc)
		*field = (unsigned)number;
	return rc;
}

/* "'x' is not a, b or c" */
static int no_choice(struct parse *p, const struct option_row *row, const char *text)
{
	option_fail(p, row, "'%s' is not ", text);
	for (const char *at = row->argument; *at; at++) {
		if (*at == '|')
			str_add(p->err, strchr(at + 1, '|') ? ", " : " or ");
		else
			str_addc(p->err, *at);
	}
	return -EINVAL;
}

static int set_choice(struct parse *p, const struct option_row *row, const char *text, void *field)
{
	int n = 0, chosen = -1;

	for (const char *at = row->argument; at; n++) {
		size_t len = strcspn(at, "|");

		if (!strncmp(text, at, len) && !text[len])
			chosen = n;
		at = at[len] ? at + len + 1 : NULL;
	}
	if (chosen < 0)
		return no_choice(p, row, text);
	if (n == 2)
		*(bool *)field = row->off != chosen;
	else
		*(int *)field = row->min + chosen;
	return 0;
}

/* The offset in the target of the struct that this row's table is about. */
static size_t base_of(const struct option_row *rows, const struct option_row *wanted)
{
	size_t base = 0;

	for (const struct option_row *row = rows; row != wanted; row = option_next(row))
		if (row[1].kind == OPTION_END)
			base += row[1].offset;
	return base;
}

static int refuse(struct parse *p, const struct option_row *row)
{
	option_fail(p, row, "perf has this option, pstat does not: %s", row->help);
	if (row->instead)
		str_addf(p->err, "\ninstead: %s", row->instead);
	return -ENOTSUP;
}

/* argument is NULL for options without one, and where an optional one is missing. */
static int set_value(struct parse *p, const struct option_row *row, const char *argument, bool negated)
{
	void *field = (char *)p->target + base_of(p->rows, row) + row->offset;
	long ignored;

	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)field = row->off == negated;
		return 0;
	case OPTION_SWITCH:
		*(int *)field = !negated;
		return 0;
	case OPTION_COUNT:
		*(int *)field = negated ? 0 : *(int *)field + 1;
		return 0;
	case OPTION_NUMBER:
		return argument ? set_number(p, row, argument, field) : 0;
	case OPTION_UNSIGNED:
		return argument ? set_unsigned(p, row, argument, field) : 0;
	case OPTION_CHOICE:
		return argument ? set_choice(p, row, argument, field) : 0;
	case OPTION_TEXT:
		*(const char **)field = argument;
		return 0;
	case OPTION_CALL:
		return row->call(field, argument, p->err);
	case OPTION_ACCEPTED:
		return argument && row->max ? set_number(p, row, argument, &ignored) : 0;
	case OPTION_REFUSED:
		return negated ? 0 : refuse(p, row);
	case OPTION_GROUP:
	case OPTION_END:
		break;
	}
	return 0;
}

/* The argument that a row needs: `attached` (may be NULL), or the next word. */
static int take_value(struct parse *p, const struct option_row *row, const char *attached)
{
	if (!attached && row->argument_may_follow && p->next < p->argc && p->argv[p->next][0] != '-') {
		attached = p->argv[p->next++];
	} else if (!attached && !row->argument_optional && !row->argument_may_follow) {
		if (p->next >= p->argc)
			return option_fail(p, row, "an argument is missing: <%s>", row->argument);
		attached = p->argv[p->next++];
	}
	return set_value(p, row, attached, false);
}

/* ---- -abc ---- */

static const struct option_row *find_letter(const struct option_row *rows, char letter)
{
	for (; rows->kind != OPTION_END; rows = option_next(rows))
		if (is_option(rows) && rows->letter == letter)
			return rows;
	return NULL;
}

static int parse_letters(struct parse *p, const char *letters)
{
	int rc = 0;

	for (; *letters && !rc; letters++) {
		const struct option_row *row = find_letter(p->rows, *letters);

		if (!row && *letters == 'h')
			return OPTIONS_HELP;
		if (!row)
			return fail(p->err, -EINVAL, "-%.*s: there is no such option",
				    (signed char)*letters < 0 ? (int)strlen(letters) : 1, letters);
		if (row->argument)
			return take_value(p, row, letters[1] ? letters + 1 : NULL);
		rc = set_value(p, row, NULL, false);
	}
	return rc;
}

/* ---- --name ---- */

/* The meaning of a long word: a row, and whether it is its negation. */
struct match {
	const struct option_row *row;
	bool negated, exact;
	unsigned n; /* how many it could be */
};

/* The row's name as typed when it is negated: "no-scale", and "inherit" for "no-inherit". */
static const char *negated_name(const struct option_row *row, struct str *room)
{
	if (!strncmp(row->name, "no-", 3))
		return row->name + 3;
	str_reset(room);
	str_addf(room, "no-%s", row->name);
	return room->s;
}

static bool has_name(const struct option_row *rows, const char *name)
{
	for (; rows->kind != OPTION_END; rows = option_next(rows))
		if (is_option(rows) && rows->name && !strcmp(rows->name, name))
			return true;
	return false;
}

/* NULL: it cannot be negated, or the word is another row's: --call-graph is more than no --no-call-graph. */
static const char *negation(const struct option_row *rows, const struct option_row *row, struct str *room)
{
	const char *name = option_may_be_negated(row) ? negated_name(row, room) : NULL;

	return name && !has_name(rows, name) ? name : NULL;
}

/* Does the name go on where the match ends? An abbreviation of both is the shorter one: --ev is --event. */
static bool is_longer(const struct match *match, const char *name)
{
	const char *shorter = match->n && !match->negated ? match->row->name : NULL;

	return shorter && !strncmp(name, shorter, strlen(shorter));
}

static void match_name(struct match *match, const char *name, const char *word, size_t len,
		       const struct option_row *row, bool negated)
{
	bool exact = strlen(name) == len;

	if (strncmp(name, word, len) || (match->exact && !exact) || (!exact && is_longer(match, name)))
		return;
	if (exact && !match->exact)
		match->n = 0;
	match->exact = exact;
	match->row = row;
	match->negated = negated;
	match->n++;
}

static struct match find_name(const struct option_row *rows, const char *word, size_t len)
{
	struct match match = { 0 };
	struct str room = STR_INIT;
	const char *negated;

	for (const struct option_row *row = rows; row->kind != OPTION_END; row = option_next(row)) {
		if (!is_option(row) || !row->name)
			continue;
		match_name(&match, row->name, word, len, row, false);
		negated = negation(rows, row, &room);
		if (negated)
			match_name(&match, negated, word, len, row, true);
	}
	str_release(&room);
	return match;
}

static int ambiguous(struct parse *p, const char *word, size_t len)
{
	const char *before = "", *negated;
	struct str room = STR_INIT;

	fail(p->err, 0, "--%.*s: this could be ", (int)len, word);
	for (const struct option_row *row = p->rows; row->kind != OPTION_END; row = option_next(row)) {
		if (!is_option(row) || !row->name)
			continue;
		if (!strncmp(row->name, word, len)) {
			str_addf(p->err, "%s--%s", before, row->name);
			before = ", ";
		}
		negated = negation(p->rows, row, &room);
		if (negated && !strncmp(negated, word, len)) {
			str_addf(p->err, "%s--%s", before, negated);
			before = ", ";
		}
	}
	str_release(&room);
	return -EINVAL;
}

static int unknown_name(struct parse *p, const char *word, size_t len)
{
	struct near_name near;
	struct str room = STR_INIT;

	near_init(&near, word, len);
	for (const struct option_row *row = p->rows; row->kind != OPTION_END; row = option_next(row)) {
		if (!is_option(row) || !row->name)
			continue;
		near_consider(&near, row->name);
		if (option_may_be_negated(row))
			near_consider(&near, negated_name(row, &room));
	}
	str_release(&room);
	fail(p->err, 0, "--%.*s: there is no such option", (int)len, word);
	if (near_best(&near))
		str_addf(p->err, "\ndid you mean --%s?", near_best(&near));
	return -EINVAL;
}

static int parse_long(struct parse *p, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	struct match match = find_name(p->rows, word, len);

	if (!match.exact && len && !strncmp("help", word, len) && !match.n)
		return OPTIONS_HELP;
	if (!match.n || !len)
		return unknown_name(p, word, len);
	if (match.n > 1)
		return ambiguous(p, word, len);
	if (match.row->argument)
		return take_value(p, match.row, equals ? equals + 1 : NULL);
	if (equals)
		return option_fail(p, match.row, "it takes no argument, but '%s' was given", equals + 1);
	return set_value(p, match.row, NULL, match.negated);
}

/* Up to the first word that is none, or after "--". */
static int parse_options(struct parse *p)
{
	int rc = 0;

	while (!rc && !p->dashes && p->next < p->argc) {
		const char *word = p->argv[p->next];

		if (word[0] != '-' || !word[1])
			break;
		p->next++;
		p->dashes = !strcmp(word, "--");
		if (!p->dashes)
			rc = word[1] == '-' ? parse_long(p, word + 2) : parse_letters(p, word + 1);
	}
	return rc;
}

int options_parse(const struct option_row *rows, int argc, char *const *argv, void *target, int *first,
		  struct str *err)
{
	struct parse p = {
		.rows = rows, .target = target, .err = err, .argv = argv, .argc = argc, .next = 1,
	};
	int rc = parse_options(&p);

	*first = p.next;
	return rc;
}

int options_parse_all(const struct option_row *rows, int argc, char **argv, void *target, int *first, struct str *err)
{
	struct parse p = {
		.rows = rows, .target = target, .err = err, .argv = argv, .argc = argc, .next = 1,
	};
	char **others = xcalloc((size_t)argc + 1, sizeof(*others));
	int n_others = 0, rc;

	*first = 1;
	for (;;) {
		int from = p.next;

		rc = parse_options(&p);
		memmove(argv + *first, argv + from, (size_t)(p.next - from) * sizeof(*argv));
		*first += p.next - from;
		if (rc || p.dashes || p.next >= argc)
			break;
		others[n_others++] = argv[p.next++];
	}
	memcpy(argv + *first, others, (size_t)n_others * sizeof(*argv));
	free(others);
	return rc;
}

int options_leading(const struct option_row *rows, int argc, char *const *argv)
{
	int at = 1;

	while (at < argc && !strncmp(argv[at], "--", 2) && argv[at][2]) {
		size_t len = strcspn(argv[at] + 2, "=");
		struct match match = find_name(rows, argv[at] + 2, len);

		if (!match.exact)
			break;
		at += 1 + (match.row->argument && !match.row->argument_optional && !argv[at][2 + len]);
	}
	return (at < argc ? at : argc) - 1;
}

/* ---- where a word stands ---- */

/*
 * The row of the last option in a word that begins with a dash, where it takes an argument; else NULL.
 * *start: where in the word its argument begins; 0: not in this word.
 */
static const struct option_row *row_in_word(const struct option_row *rows, const char *word, size_t *start)
{
	const struct option_row *row = NULL;

	*start = 0;
	if (word[1] == '-') {
		size_t len = strcspn(word + 2, "=");
		struct match match = find_name(rows, word + 2, len);

		*start = word[2 + len] ? 3 + len : 0;
		row = match.n == 1 ? match.row : NULL;
		return row && row->argument ? row : NULL;
	}
	for (size_t i = 1; word[i]; i++) {
		row = find_letter(rows, word[i]);
		if (row && row->argument) {
			*start = word[i + 1] ? i + 1 : 0;
			return row;
		}
	}
	return NULL;
}

static bool takes_next(const struct option_row *row, const char *next)
{
	return !row->argument_optional && (!row->argument_may_follow || next[0] != '-');
}

void options_place(const struct option_row *rows, int argc, char *const *argv, struct option_place *place)
{
	*place = (struct option_place){ .what = PLACE_OPERAND, .first = argc - 1 };
	for (int i = 1; i < argc; i++) {
		bool last = i + 1 == argc;

		place->first = i;
		if (argv[i][0] != '-' || (!argv[i][1] && !last))
			return;
		if (!last && !strcmp(argv[i], "--")) {
			place->after_dashes = true;
			place->first = i + 1;
			return;
		}
		place->row = row_in_word(rows, argv[i], &place->start);
		if (last) {
			place->what = place->start ? PLACE_VALUE : PLACE_NAME;
			return;
		}
		if (!place->row || place->start || !takes_next(place->row, argv[i + 1]))
			continue;
		if (++i + 1 == argc) {
			place->what = PLACE_VALUE;
			return;
		}
	}
}

/* ---- help: one aligned line each, under the headings that the table gives ---- */

/* "-e, --event <list>": how -h shows a row. */
static void add_synopsis(struct str *out, const struct option_row *row)
{
	if (row->letter)
		str_addf(out, "-%c", row->letter);
	if (row->letter && row->name)
		str_add(out, ", ");
	if (row->name)
		str_addf(out, "--%s", row->name);
	if (row->both)
		str_addf(out, ", --no-%s", row->name);
	if (!row->argument)
		return;
	if (row->argument_optional)
		str_addf(out, "%s<%s>]", row->name ? "[=" : "[", row->argument);
	else if (row->argument_may_follow)
		str_addf(out, " [<%s>]", row->argument);
	else
		str_addf(out, " <%s>", row->argument);
}

/* The text after an option, before it is broken into lines. */
static void explain(struct str *out, const struct option_row *row)
{
	str_reset(out);
	str_add(out, row->kind == OPTION_ACCEPTED ? "accepted: " : row->kind == OPTION_REFUSED ? "refused: " : "");
	str_add(out, row->help);
	if (row->kind == OPTION_REFUSED && row->instead)
		str_addf(out, "; instead: %s", row->instead);
}

void options_add_help(struct str *out, const struct option_row *rows)
{
	struct str text = STR_INIT;

	for (; rows->kind != OPTION_END; rows = option_next(rows)) {
		size_t start;

		if (rows->kind == OPTION_GROUP) {
			str_addf(out, "\n%s\n", rows->help);
			continue;
		}
		start = out->len;
		str_pad(out, ' ', HELP_INDENT);
		add_synopsis(out, rows);
		/* At least two spaces before the explanation, or a line of its own. */
		if (out->len - start + 2 > HELP_COLUMN) {
			str_addc(out, '\n');
			start = out->len;
		}
		str_pad(out, ' ', HELP_COLUMN - (out->len - start));
		explain(&text, rows);
		str_add_wrapped(out, text.s, HELP_COLUMN, HELP_COLUMN, HELP_WIDTH);
		str_addc(out, '\n');
	}
	str_release(&text);
}
