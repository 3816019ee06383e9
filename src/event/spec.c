/* SPDX-License-Identifier: MIT */
/*
 * The syntax of the event language: one pass over the text, no look-ups, no files, no recursion
 * (groups do not nest). The grammar stands in spec.h; each parse_* function is one of its lines,
 * starts at its first character and ends after its last.
 *
 * Every failure names the byte where the reader would put a finger: the brace that is not closed,
 * the comma that is alone, the letter that does not belong there.
 */
#include "event/spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

enum { SPEC_MAX_BYTES = 1 << 20 };

struct spec_parser {
	struct spec *spec;
	const char *text;
	size_t at;
	struct spec_error *error;
};

static char peek(const struct spec_parser *ps)
{
	return ps->text[ps->at];
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_space(struct spec_parser *ps)
{
	while (is_space(peek(ps)))
		ps->at++;
}

/* Names of PMUs, events, tracepoints (with patterns) and terms. */
static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-.*?[]!%@+~", c));
}

static size_t word_length(const struct spec_parser *ps)
{
	size_t n = 0;

	while (is_word_char(ps->text[ps->at + n]))
		n++;
	return n;
}

static char *take(struct spec_parser *ps, size_t n, size_t *pos)
{
	char *s = xstrndup(ps->text + ps->at, n);

	*pos = ps->at;
	ps->at += n;
	return s;
}

static int unexpected(struct spec_parser *ps, const char *instead)
{
	char c = peek(ps);

	if (!c)
		return spec_fail(ps->error, -EINVAL, ps->at, "%s is missing at the end", instead);
	return spec_fail(ps->error, -EINVAL, ps->at, "%s is missing before '%c'", instead, c);
}

static bool only_letters_of(const char *s, size_t n, bool (*is_one)(char))
{
	for (size_t i = 0; i < n; i++)
		if (!is_one(s[i]))
			return false;
	return n > 0;
}

static bool is_access(char c)
{
	return c == 'r' || c == 'w' || c == 'x';
}

static void parse_modifiers(struct spec_parser *ps, char **modifiers, size_t *pos)
{
	free(*modifiers);
	*modifiers = take(ps, word_length(ps), pos);
}

/* Modifiers before the end of an event: [':'] modifiers, the colon needed unless slashes went before. */
static void parse_event_modifiers(struct spec_parser *ps, struct spec_event *event)
{
	if (peek(ps) == ':')
		ps->at++;
	else if (!event->has_terms)
		return;
	parse_modifiers(ps, &event->modifiers, &event->modifiers_pos);
}

/* ---- terms ---- */

static int parse_quoted(struct spec_parser *ps, struct spec_term *term)
{
	char quote = peek(ps);
	const char *end = strchr(ps->text + ps->at + 1, quote);

	if (!end)
		return spec_fail(ps->error, -EINVAL, ps->at, "the quote %c is not closed", quote);
	ps->at++;
	term->value = take(ps, (size_t)(end - ps->text) - ps->at, &term->value_pos);
	ps->at++;
	return 0;
}

static bool ends_value(char c)
{
	return !c || is_space(c) || strchr(",{}'\"", c);
}

/*
 * The length of a path, which has slashes: it ends at a comma that more terms follow, or else its last slash
 * closes the terms.
 */
static size_t path_length(const char *s)
{
	const char *last_slash = NULL;
	size_t n = 0;

	for (; !ends_value(s[n]); n++)
		if (s[n] == '/')
			last_slash = s + n;
	if (!last_slash)
		return n;
	if (s[n] == ',' && last_slash + 1 != s + n && strchr(s + n, '/'))
		return n;
	return (size_t)(last_slash - s);
}

/* A path is what begins as one, or what its term calls one: path=bin/app. */
static size_t value_length(const struct spec_term *term, const char *s)
{
	size_t n = 0;

	if (s[0] == '/' || !strcmp(term->name, "path"))
		return path_length(s);
	while (!ends_value(s[n]) && s[n] != '/')
		n++;
	return n;
}

static int parse_value(struct spec_parser *ps, struct spec_term *term)
{
	size_t n;

	if (peek(ps) == '\'' || peek(ps) == '"')
		return parse_quoted(ps, term);
	n = value_length(term, ps->text + ps->at);
	if (!n)
		return unexpected(ps, "a value");
	term->value = take(ps, n, &term->value_pos);
	return 0;
}

static int parse_term(struct spec_parser *ps, struct spec_event *event)
{
	size_t n = word_length(ps);
	struct spec_term *term;

	if (!n)
		return unexpected(ps, "a term");
	VEC_GROW(event->terms, event->n_terms, event->terms_cap);
	term = &event->terms[event->n_terms++];
	*term = (struct spec_term){ .value = NULL };
	term->name = take(ps, n, &term->name_pos);
	skip_space(ps);
	if (peek(ps) != '=')
		return 0;
	ps->at++;
	skip_space(ps);
	return parse_value(ps, term);
}

/* '/' [terms] '/' */
static int parse_terms(struct spec_parser *ps, struct spec_event *event)
{
	size_t open = ps->at++;
	int rc;

	event->has_terms = true;
	skip_space(ps);
	if (peek(ps) == '/') {
		ps->at++;
		return 0;
	}
	while (peek(ps)) {
		rc = parse_term(ps, event);
		if (rc)
			return rc;
		skip_space(ps);
		if (peek(ps) == '/') {
			ps->at++;
			return 0;
		}
		if (peek(ps) != ',')
			break;
		ps->at++;
		skip_space(ps);
	}
	if (peek(ps) && peek(ps) != '}')
		return unexpected(ps, "',' or '/'");
	return spec_fail(ps->error, -EINVAL, open, "this '/' is not closed");
}

/* ---- events ---- */

/* 'mem:' addr ['/' len] [':' rwx] ['/' terms '/'] [[':'] modifiers]; the text stands at the colon */
static int parse_mem(struct spec_parser *ps, struct spec_event *event)
{
	size_t n;
	int rc = 0;

	ps->at++;
	n = word_length(ps);
	if (!n)
		return unexpected(ps, "an address");
	event->kind = SPEC_MEM;
	free(event->word);
	event->word = take(ps, n, &event->word_pos);
	if (peek(ps) == '/' && isdigit((unsigned char)ps->text[ps->at + 1])) {
		ps->at++;
		event->second = take(ps, word_length(ps), &event->second_pos);
	}
	if (peek(ps) == ':') {
		ps->at++;
		n = word_length(ps);
		if (only_letters_of(ps->text + ps->at, n, is_access))
			event->access = take(ps, n, &event->access_pos);
		else
			ps->at--;
	}
	if (peek(ps) == '/')
		rc = parse_terms(ps, event);
	if (!rc)
		parse_event_modifiers(ps, event);
	return rc;
}

static void add_term(struct spec_event *event, const char *name, char *value, size_t pos)
{
	VEC_GROW(event->terms, event->n_terms, event->terms_cap);
	event->terms[event->n_terms++] = (struct spec_term){
		.name = xstrdup(name), .value = value, .name_pos = pos, .value_pos = pos,
	};
}

/* A function's name: of its colons those of C++ are double. */
static size_t function_length(const char *s)
{
	size_t n = 0;

	while (s[n] && !strchr(",{}'\" \t\r\n", s[n])) {
		if (s[n] == ':' && s[n + 1] != ':')
			break;
		n += s[n] == ':' ? 2 : 1;
	}
	return n;
}

/*
 * 'probe:' path ':' function ['%return'] [':' modifiers] is uprobe/path=,func=,retprobe/ in short; the text stands at
 * the first colon. Commands that can use tracefs set a probe there in its place, and have its event here.
 */
static int parse_probe(struct spec_parser *ps, struct spec_event *event)
{
	static const char returns[] = "%return";
	size_t n = strcspn(ps->text + ps->at + 1, ":,{}'\" \t\r\n"), pos;
	char *value;

	ps->at++;
	free(event->word);
	event->word = xstrdup("uprobe");
	event->kind = SPEC_PMU;
	event->has_terms = true;
	value = take(ps, n, &pos);
	add_term(event, "path", value, pos);
	n = peek(ps) == ':' ? function_length(ps->text + ps->at + 1) : 0;
	if (!n)
		return spec_fail(ps->error, -EINVAL, ps->at, "a function is missing: probe:FILE:FUNCTION");
	ps->at++;
	value = take(ps, n, &pos);
	add_term(event, "func", value, pos);
	if (n > strlen(returns) && !strcmp(value + n - strlen(returns), returns)) {
		value[n - strlen(returns)] = '\0';
		add_term(event, "retprobe", NULL, pos + n - strlen(returns));
	}
	if (peek(ps) == ':' && isdigit((unsigned char)ps->text[ps->at + 1]))
		return spec_fail(ps->error, -EINVAL, ps->at,
				 "a line of source is no event here: its probe has to be set in tracefs first");
	parse_event_modifiers(ps, event);
	return 0;
}

/* pmu '::' event { ':' attribute }: libpfm4 takes it whole; the text stands at the colons */
static int parse_pfm(struct spec_parser *ps, struct spec_event *event)
{
	size_t from = event->word_pos, n = strcspn(ps->text + ps->at, ",{} \t\r\n");

	if (n == strlen("::"))
		return spec_fail(ps->error, -EINVAL, ps->at + n, "an event is missing after '::'");
	event->kind = SPEC_PFM;
	free(event->word);
	ps->at = from;
	event->word = take(ps, event->len + n, &event->word_pos);
	return 0;
}

/*
 * word ':' ...: modifiers where it is only their letters and nothing comes after them, else the
 * second word of a pair. The text stands at the colon.
 */
static int parse_colon(struct spec_parser *ps, struct spec_event *event)
{
	size_t n;
	char after;
	int rc = 0;

	ps->at++;
	n = word_length(ps);
	after = ps->text[ps->at + n];
	if (!n || (only_letters_of(ps->text + ps->at, n, spec_is_modifier) && after != ':' &&
		   after != '/')) {
		parse_modifiers(ps, &event->modifiers, &event->modifiers_pos);
		return 0;
	}
	event->kind = SPEC_PAIR;
	event->second = take(ps, n, &event->second_pos);
	if (peek(ps) == '/')
		rc = parse_terms(ps, event);
	if (!rc)
		parse_event_modifiers(ps, event);
	return rc;
}

static int parse_word(struct spec_parser *ps, struct spec_event *event)
{
	size_t n = word_length(ps);
	int rc;

	if (!n)
		return unexpected(ps, "an event");
	event->word = take(ps, n, &event->word_pos);
	event->len = n;
	if (peek(ps) == ':') {
		if (ps->text[ps->at + 1] == ':')
			return parse_pfm(ps, event);
		if (strcmp(event->word, "mem") == 0)
			return parse_mem(ps, event);
		if (!strcmp(event->word, "probe") && strchr("/.", ps->text[ps->at + 1]) && ps->text[ps->at + 1])
			return parse_probe(ps, event);
		return parse_colon(ps, event);
	}
	if (peek(ps) != '/')
		return 0;
	event->kind = SPEC_PMU;
	rc = parse_terms(ps, event);
	if (!rc)
		parse_event_modifiers(ps, event);
	return rc;
}

static bool ends_event(char c)
{
	return !c || c == ',' || c == '}' || is_space(c);
}

static int parse_event(struct spec_parser *ps, struct spec_group *group)
{
	struct spec_event *event;
	int rc;

	VEC_GROW(group->events, group->n, group->cap);
	event = &group->events[group->n++];
	*event = (struct spec_event){ .pos = ps->at, .modifiers = xstrdup("") };
	event->modifiers_pos = ps->at;
	rc = parse_word(ps, event);
	if (rc)
		return rc;
	event->len = ps->at - event->pos;
	if (!ends_event(peek(ps)))
		return spec_fail(ps->error, -EINVAL, ps->at, "'%c' does not belong here", peek(ps));
	return 0;
}

/* ---- groups and the list ---- */

/* How many bytes before the '{' that opens a group here: the name's and white space; -1: no group. */
static ssize_t group_brace(const struct spec_parser *ps, size_t *name_length)
{
	size_t n = word_length(ps), at = n;

	while (is_space(ps->text[ps->at + at]))
		at++;
	*name_length = n;
	return ps->text[ps->at + at] == '{' ? (ssize_t)at : -1;
}

static int parse_members(struct spec_parser *ps, struct spec_group *group, size_t open)
{
	size_t name_length;
	int rc;

	for (;;) {
		skip_space(ps);
		if (!peek(ps))
			return spec_fail(ps->error, -EINVAL, open, "this '{' is not closed");
		if (peek(ps) == '}' && !group->n)
			return spec_fail(ps->error, -EINVAL, open, "the group is empty");
		if (group_brace(ps, &name_length) >= 0)
			return spec_fail(ps->error, -EINVAL, ps->at,
					 "a group cannot be inside a group");
		rc = parse_event(ps, group);
		if (rc)
			return rc;
		skip_space(ps);
		if (peek(ps) == '}') {
			ps->at++;
			return 0;
		}
		if (peek(ps) && peek(ps) != ',')
			return unexpected(ps, "',' or '}'");
		if (peek(ps))
			ps->at++;
	}
}

/* [name] '{' events '}' [':' modifiers] */
static int parse_group(struct spec_parser *ps, struct spec_group *group, size_t name_length, size_t brace)
{
	size_t open, pos;
	int rc;

	group->braces = true;
	if (name_length)
		group->name = xstrndup(ps->text + ps->at, name_length);
	ps->at += brace;
	open = ps->at++;
	rc = parse_members(ps, group, open);
	if (rc)
		return rc;
	skip_space(ps);
	if (peek(ps) != ':')
		return 0;
	pos = ps->at++;
	skip_space(ps);
	parse_modifiers(ps, &group->modifiers, &group->modifiers_pos);
	if (!*group->modifiers)
		return spec_fail(ps->error, -EINVAL, pos, "modifiers are missing after ':'");
	return 0;
}

static int parse_item(struct spec_parser *ps)
{
	struct spec *spec = ps->spec;
	struct spec_group *group;
	size_t name_length;
	ssize_t brace = group_brace(ps, &name_length);

	VEC_GROW(spec->groups, spec->n, spec->cap);
	group = &spec->groups[spec->n++];
	*group = (struct spec_group){ .pos = ps->at, .modifiers = xstrdup("") };
	if (brace >= 0)
		return parse_group(ps, group, name_length, (size_t)brace);
	group->cap = 1; /* as most are */
	group->events = xcalloc(group->cap, sizeof(*group->events));
	return parse_event(ps, group);
}

static int parse_list(struct spec_parser *ps)
{
	size_t comma;
	int rc;

	for (;;) {
		rc = parse_item(ps);
		if (rc)
			return rc;
		skip_space(ps);
		if (!peek(ps))
			return 0;
		if (peek(ps) == '}')
			return spec_fail(ps->error, -EINVAL, ps->at, "this '}' closes no group");
		if (peek(ps) != ',')
			return unexpected(ps, "','");
		comma = ps->at++;
		skip_space(ps);
		if (!peek(ps))
			return spec_fail(ps->error, -EINVAL, comma, "the list ends with a comma");
	}
}

int spec_parse(struct spec *spec, const char *text, struct spec_error *error)
{
	struct spec_parser ps = { .spec = spec, .text = text, .error = error };

	spec->text = text;
	if (strlen(text) > SPEC_MAX_BYTES)
		return spec_fail(error, -EINVAL, 0, "the event list is longer than %d bytes",
				 SPEC_MAX_BYTES);
	skip_space(&ps);
	if (!peek(&ps))
		return spec_fail(error, -EINVAL, 0, "the event list is empty");
	return parse_list(&ps);
}

static void release_event(struct spec_event *event)
{
	for (size_t i = 0; i < event->n_terms; i++) {
		free(event->terms[i].name);
		free(event->terms[i].value);
	}
	free(event->terms);
	free(event->word);
	free(event->second);
	free(event->access);
	free(event->modifiers);
}

void spec_release(struct spec *spec)
{
	for (size_t i = 0; i < spec->n; i++) {
		struct spec_group *group = &spec->groups[i];

		for (size_t j = 0; j < group->n; j++)
			release_event(&group->events[j]);
		free(group->events);
		free(group->name);
		free(group->modifiers);
	}
	free(spec->groups);
	*spec = (struct spec){ .text = NULL };
}
