/* SPDX-License-Identifier: MIT */
/*
 * point: the words of a probe, as perf has them:
 *
 *	[[GROUP:]EVENT=] FUNCTION [@SOURCE] [+OFFSET | %return | :LINE | ;TEXT]  ARGUMENT...
 *	                 SOURCE:LINE, SOURCE;TEXT
 *	                 0xADDRESS
 *	                 %[[sdt_]PROVIDER:]NAME, or sdt_PROVIDER:NAME; either may be a pattern
 *
 * FUNCTION may be a pattern. Names of C++ have colons of their own: a line is what follows the last colon, if that is a
 * number and the colon is not one of two. What comes before such a line is a source file where it has a dot or a slash,
 * and else a function. A backslash takes from the letter after it what it means: while the words are taken apart,
 * such letters are hidden as bytes that no name has.
 */
#include "probe/probe.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

void probe_point_release(struct probe_point *point)
{
	free(point->group);
	free(point->event);
	free(point->provider);
	free(point->function);
	free(point->source);
	free(point->text);
	for (size_t i = 0; i < point->n_arguments; i++)
		free(point->arguments[i]);
	free(point->arguments);
	*point = (struct probe_point){ 0 };
}

/* ---- letters with a backslash ---- */

static const char special[] = "=@+:;%"; /* the letter of index i is hidden as the byte i + 1 */

/* Hides the special letters that have a backslash, up to a pattern for text. Of letters of patterns it stays. */
static void hide_escaped(char *words)
{
	char *out = words;

	for (; *words && *words != ';'; words++) {
		const char *meant = words[0] == '\\' && words[1] ? strchr(special, words[1]) : NULL;

		if (words[0] == '\\' && words[1] && !strchr("*?[", words[1]))
			words++;
		*out++ = meant ? (char)(meant - special + 1) : *words;
	}
	memmove(out, words, strlen(words) + 1);
}

static void show_hidden(char *name)
{
	for (; name && *name; name++)
		if ((unsigned char)*name < sizeof(special))
			*name = special[*name - 1];
}

/* ---- parts of a place ---- */

static bool is_identifier(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return !*text;
}

static int take_name(char **name, const char *text, const char *what, struct str *err)
{
	if (!is_identifier(text))
		return fail(err, -EINVAL, "'%s' is no name of %s: letters, digits and _ make one", text, what);
	if (strlen(text) > PROBE_NAME_MAX)
		return fail(err, -EINVAL, "'%s' has %zu letters: the kernel takes %d for the name of %s", text,
			    strlen(text), PROBE_NAME_MAX, what);
	*name = xstrdup(text);
	return 0;
}

/* "GROUP:EVENT" or "EVENT"; changes the text. */
static int take_names(struct probe_point *point, char *text, struct str *err)
{
	char *colon = strchr(text, ':');
	int rc = 0;

	if (colon) {
		*colon = '\0';
		rc = take_name(&point->group, text, "a group", err);
		text = colon + 1;
	}
	return rc ? rc : take_name(&point->event, text, "an event", err);
}

/* Finds where ":123" begins at the end of a text, or NULL. */
static char *find_line(char *text)
{
	char *colon = strrchr(text, ':');

	if (!colon || colon == text || colon[-1] == ':' || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
		return NULL;
	return colon;
}

static int take_number(uint64_t *number, const char *text, const char *what, struct str *err)
{
	if (parse_u64(text, 0, number) || *number > INT64_MAX)
		return fail(err, -EINVAL, "'%s' is no %s", text, what);
	return 0;
}

/* "+OFFSET" or "%return" behind a function. */
static int take_tail(struct probe_point *point, char *tail, struct str *err)
{
	if (*tail == '+')
		return take_number(&point->offset, tail + 1, "offset", err);
	if (strcmp(tail, "%return") != 0)
		return fail(err, -EINVAL, "'%s' is no place in a function: %%return, +OFFSET or :LINE is one", tail);
	point->returns = true;
	return 0;
}

/*
 * "%sdt_PROVIDER:NAME", "%PROVIDER:NAME" or "sdt_PROVIDER:NAME", which probes of programs are called, or "%NAME" of any
 * provider; false: none.
 */
static bool take_usdt(struct probe_point *point, char *text)
{
	bool marked = text[0] == '%', named = !strncmp(text + marked, "sdt_", strlen("sdt_"));
	char *provider = text + marked + (named ? strlen("sdt_") : 0), *colon = strchr(provider, ':');

	if (marked && text[1] && !colon) {
		point->provider = xstrdup("*");
		point->function = xstrdup(text + 1);
		return true;
	}
	if ((!marked && !named) || !colon || colon == provider || !colon[1] || (!marked && find_line(text)))
		return false;
	*colon = '\0';
	point->provider = xstrdup(provider);
	point->function = xstrdup(colon + 1);
	return true;
}

/* ";TEXT" after a function or a source file, from which it is cut off. */
static int take_text(struct probe_point *point, char *text, struct str *err)
{
	char *semicolon = strchr(text, ';');

	if (!semicolon)
		return 0;
	*semicolon = '\0';
	point->text = xstrdup(semicolon + 1);
	if (!*point->text)
		return fail(err, -EINVAL, "a text is missing after '%s;'", text);
	if (text[strcspn(text, "+%")] || find_line(text))
		return fail(err, -EINVAL, "an offset, a line or a return and a text do not go together: '%s'", text);
	return 0;
}

static int take_place(struct probe_point *point, char *text, struct str *err)
{
	char *line, *tail, *at;
	int rc = 0;

	if (take_usdt(point, text))
		return 0;
	rc = take_text(point, text, err);
	if (rc)
		return rc;
	line = find_line(text);
	if (!strncmp(text, "0x", 2)) {
		point->has_address = true;
		return take_number(&point->address, text, "address", err);
	}
	if (line) {
		rc = take_number(&point->line, line + 1, "line", err);
		point->has_line = true;
		*line = '\0';
	}
	/* An offset is a number: "operator+" is a name. */
	for (tail = text; *tail && *tail != '%' && !(*tail == '+' && isdigit((unsigned char)tail[1]));)
		tail++;
	if (!rc && *tail)
		rc = line ? fail(err, -EINVAL, "a line and '%s' do not go together", tail) :
			    take_tail(point, tail, err);
	*tail = '\0';
	at = strchr(text, '@');
	if (at) {
		*at = '\0';
		point->source = xstrdup(at + 1);
	}
	if ((line || point->text) && !at && strpbrk(text, "./"))
		point->source = xstrdup(text);
	else
		point->function = xstrdup(text);
	/* "operator*" and "operator[]" are names. */
	point->is_pattern = point->function && strpbrk(text, "*?[") && !strstr(text, "operator");
	if (!rc && ((point->function && !*point->function) || (point->source && !*point->source)))
		rc = fail(err, -EINVAL, "the function or the source file has no name");
	return rc;
}

/* The '=' behind names: none that belongs to a function's own name, as in "operator==". */
static char *find_equals(char *text)
{
	char *equals = text + strcspn(text, "=@+%/(.;");

	return *equals == '=' && strncmp(text, "operator", strlen("operator")) != 0 ? equals : NULL;
}

/*
 * An argument without perf's "@user", which says that memory is the program's: that of programs always is, and the
 * kernel's own words have a u for it, "+0(%di)@user:string" -> "+u0(%di):string".
 */
static char *without_user(const char *word)
{
	static const char user[] = "@user";
	const char *at = strstr(word, user), *value = strchr(word, '=');
	struct str out = STR_INIT;

	value = value && value < at ? value + 1 : word;
	if (!at || at == value || (at[strlen(user)] && at[strlen(user)] != ':'))
		return xstrdup(word);
	for (const char *c = word; c < at; c++) {
		str_addc(&out, *c);
		if (c >= value && strchr("+-", *value) && strchr("+-", *c) && isdigit((unsigned char)c[1]))
			str_addc(&out, 'u');
	}
	str_add(&out, at + strlen(user));
	return str_detach(&out);
}

int probe_point_parse(struct probe_point *point, const char *words, struct str *err)
{
	char *copy = xstrdup(words), *rest = copy, *word, *place = NULL;
	int rc = 0;

	*point = (struct probe_point){ 0 };
	while ((word = strsep(&rest, " \t\n"))) {
		if (!*word)
			continue;
		if (!place) {
			place = word;
			continue;
		}
		VEC_GROW(point->arguments, point->n_arguments, point->cap_arguments);
		point->arguments[point->n_arguments++] = without_user(word);
	}
	if (!place) {
		rc = fail(err, -EINVAL, "a probe needs a place: FUNCTION, SOURCE:LINE or 0xADDRESS");
	} else {
		char *equals;

		hide_escaped(place);
		equals = find_equals(place);
		if (equals) {
			*equals = '\0';
			rc = take_names(point, place, err);
			place = equals + 1;
		}
		if (!rc)
			rc = take_place(point, place, err);
		show_hidden(point->function);
		show_hidden(point->source);
	}
	free(copy);
	return rc;
}

/* "-TO" or "+COUNT" behind FROM, which is cut off; without either, one line is meant. */
static int take_range(struct probe_lines *lines, char *range, uint64_t from, struct str *err)
{
	char sign = *range;
	int rc;

	*range = '\0';
	rc = take_number(&lines->to, range + 1, "line", err);
	if (!rc && sign == '+')
		lines->to += from;
	if (!rc && lines->to < from)
		rc = fail(err, -EINVAL, "line %llu comes before line %llu", (unsigned long long)lines->to,
			  (unsigned long long)from);
	return rc;
}

int probe_lines_parse(struct probe_lines *lines, const char *words, struct str *err)
{
	char *copy = xstrdup(words), *colon = strrchr(copy, ':'), *range = NULL;
	bool has_from = colon && colon != copy && colon[-1] != ':' && isdigit((unsigned char)colon[1]);
	uint64_t from = 0;
	int rc = 0;

	*lines = (struct probe_lines){ .to = UINT64_MAX };
	if (has_from) {
		range = colon + 1 + strspn(colon + 1, "0123456789");
		from = strtoull(colon + 1, NULL, 10);
		lines->to = from;
		if (*range == '-' || *range == '+')
			rc = take_range(lines, range, from, err);
	}
	if (!rc)
		rc = probe_point_parse(&lines->point, copy, err);
	if (!rc && (lines->point.has_address || lines->point.returns || lines->point.offset ||
		    lines->point.text || lines->point.n_arguments || lines->point.event))
		rc = fail(err, -EINVAL, "'%s': lines are FUNCTION[:FROM[-TO]] or SOURCE[:FROM[-TO]]", words);
	/* One function is shown. */
	lines->point.is_pattern = false;
	/* A file's name alone was taken for that of a function. */
	if (!rc && !has_from && !lines->point.source && strchr(lines->point.function, '.')) {
		lines->point.source = lines->point.function;
		lines->point.function = NULL;
	}
	free(copy);
	return rc;
}
