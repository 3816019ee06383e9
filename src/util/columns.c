/* SPDX-License-Identifier: MIT */
/*
 * Text in the columns of a terminal: how wide a text is there, names cut to a width, sentences broken into lines.
 *
 * A name of C++ or Rust is long by what stands between its brackets, and what tells it from others stands at
 * its ends. So a name gives up the arguments of its templates first, the innermost of them before
 * the outer ones, then its parameters, then its middle:
 *
 *	std::map<int, std::vector<int, A> >::at(int const&) const
 *	std::map<int, std::vector<...> >::at(int const&) const
 *	std::map<...>::at(int const&) const
 *	std::map<...>::at(...) const
 *	std::map...) const
 *
 * Brackets that belong to an operator's name, or have no partner, are letters like others.
 */
#include "util.h"

#include <stdlib.h>

/* Deepest brackets that are told apart; deeper ones go with the one at this depth that they are in. */
enum { DEPTH_MAX = 32 };

/* Returns the end of the escape sequence at text[i] that turns a colour on or off; i where there is none. */
static size_t skip_color(const char *text, size_t n, size_t i)
{
	size_t end = i + 2;

	if (i + 1 >= n || text[i] != '\033' || text[i + 1] != '[')
		return i;
	while (end < n && (text[end] == ';' || (text[end] >= '0' && text[end] <= '9')))
		end++;
	return end < n && text[end] == 'm' ? end + 1 : i;
}

static bool is_continued(char c)
{
	return (c & 0xc0) == 0x80;
}

/* East Asian wide characters and pictures, by their blocks. Source: Unicode's EastAsianWidth.txt. */
static bool is_wide(const unsigned char *p, size_t n)
{
	uint32_t code;

	if (p[0] < 0xe1 || n < 3)
		return false;
	code = p[0] < 0xf0 ? (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f)
			   : (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3f) << 12 |
				     (uint32_t)(p[2] & 0x3f) << 6;
	return (code >= 0x1100 && code < 0x1160) || (code >= 0x2e80 && code < 0xa4d0) ||
	       (code >= 0xac00 && code < 0xd7a4) || (code >= 0xf900 && code < 0xfb00) ||
	       (code >= 0xfe30 && code < 0xfe70) || (code >= 0xff00 && code < 0xff61) ||
	       (code >= 0x1f300 && code < 0x1f650) || (code >= 0x1f900 && code < 0x1fa00) ||
	       (code >= 0x20000 && code < 0x40000);
}

/* The columns of the character at *i, which moves past it. */
static size_t take_char(const char *text, size_t n, size_t *i)
{
	size_t start = *i;

	*i = skip_color(text, n, start);
	if (*i > start)
		return 0;
	do {
		++*i;
	} while (*i < n && is_continued(text[*i]));
	return 1 + (size_t)is_wide((const unsigned char *)text + start, n - start);
}

size_t text_columns(const char *text, size_t n)
{
	size_t columns = 0;

	for (size_t i = 0; i < n;)
		columns += take_char(text, n, &i);
	return columns;
}

size_t text_fitting(const char *text, size_t n, size_t columns)
{
	size_t fits = 0;

	for (size_t i = 0; i < n; fits = i) {
		size_t width = take_char(text, n, &i);

		if (width > columns)
			break;
		columns -= width;
	}
	return fits;
}

/* ---- brackets ---- */

struct brackets {
	uint32_t *partner; /* by position of a bracket: that of its other half + 1; 0: not a bracket */
	uint32_t *open; /* a stack of positions */
	size_t n_open;
};

static bool is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The end of "operator<<", "operator()" at i, or i. */
static size_t skip_operator(const char *text, size_t i)
{
	static const char word[] = "operator";
	size_t end = i + sizeof(word) - 1;

	if (strncmp(text + i, word, sizeof(word) - 1) || (i && is_word(text[i - 1])) || is_word(text[end]))
		return i;
	if (!strncmp(text + end, "()", 2))
		return end + 2;
	return end + strspn(text + end, "<>=-*");
}

/* Brackets that are open further in than the partner have none. */
static void close_bracket(struct brackets *b, const char *text, size_t at, char opening)
{
	size_t n = b->n_open;

	while (n && text[b->open[n - 1]] != opening) {
		if (opening == '<')
			return; /* "a > b" within parentheses */
		n--;
	}
	if (!n)
		return;
	b->n_open = n - 1;
	b->partner[b->open[n - 1]] = (uint32_t)at + 1;
	b->partner[at] = b->open[n - 1] + 1;
}

static void pair_brackets(struct brackets *b, const char *text, size_t n)
{
	b->partner = xcalloc(n + 1, sizeof(*b->partner));
	b->open = xcalloc(n + 1, sizeof(*b->open));
	b->n_open = 0;
	for (size_t i = 0; i < n;) {
		size_t next = skip_operator(text, i);

		if (next > i) {
			i = next;
			continue;
		}
		if (text[i] == '<' || text[i] == '(')
			b->open[b->n_open++] = (uint32_t)i;
		else if (text[i] == ')')
			close_bracket(b, text, i, '(');
		else if (text[i] == '>' && !(i && text[i - 1] == '-')) /* Rust's "fn() -> T" */
			close_bracket(b, text, i, '<');
		i++;
	}
}

/* Parentheses that hold no parameters. */
static bool is_kept(const char *text, size_t n)
{
	static const char *const kept[] = { "anonymous namespace", "inlined" };

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (n == strlen(kept[i]) && !memcmp(text, kept[i], n))
			return true;
	return false;
}

/*
 * The text with "..." for what templates at this depth hold (1: the outermost), and with `parameters` for what
 * parentheses hold. False: nothing was left out.
 */
static bool add_without(struct str *out, const struct brackets *b, const char *text, size_t n, unsigned depth,
			bool parameters, const char *dots)
{
	const size_t least = text_columns(dots, strlen(dots));
	unsigned now = 0;
	bool cut = false;

	for (size_t i = 0; i < n; i++) {
		size_t partner = b->partner[i], inside = i + 1;
		bool opens = partner > inside, template = opens && text[i] == '<';

		now += template;
		now -= partner && !opens && text[i] == '>';
		str_addc(out, text[i]);
		if (!opens || text_columns(text + inside, partner - 1 - inside) <= least)
			continue;
		if (template ? now != depth : !parameters || is_kept(text + inside, partner - 1 - inside))
			continue;
		str_add(out, dots);
		cut = true;
		i = partner - 2; /* the closing one is next */
	}
	return cut;
}

/* ---- a name in a width ---- */

static void add_ends(struct str *out, const char *text, size_t n, size_t columns, const char *dots)
{
	size_t all = text_columns(text, n), least = text_columns(dots, strlen(dots));
	size_t kept = columns > least ? columns - least : 0;
	size_t head = text_fitting(text, n, kept - kept / 2), tail = text_fitting(text, n, all - kept / 2);

	/* A character of two columns may be in the way. */
	if (text_columns(text + tail, n - tail) > kept / 2)
		take_char(text, n, &tail);
	str_addn(out, text, head);
	str_add(out, dots);
	str_addn(out, text + tail, n - tail);
}

/* Fills `made` with the longest form that fits; false: none does, made is the shortest. */
static bool shorten_brackets(struct str *made, const char *text, size_t n, size_t columns, const char *dots)
{
	struct brackets b;
	bool fits = false;

	pair_brackets(&b, text, n);
	for (unsigned depth = DEPTH_MAX; depth && !fits; depth--) {
		str_reset(made);
		fits = add_without(made, &b, text, n, depth, false, dots) &&
		       text_columns(made->s, made->len) <= columns;
	}
	if (!fits) {
		str_reset(made);
		add_without(made, &b, text, n, 1, true, dots);
		fits = text_columns(made->s, made->len) <= columns;
	}
	free(b.partner);
	free(b.open);
	return fits;
}

void str_shorten(struct str *s, size_t start, size_t columns, bool name, const char *dots)
{
	struct str made = STR_INIT, text = STR_INIT;

	if (text_columns(s->s + start, s->len - start) <= columns)
		return;
	str_addn(&text, s->s + start, s->len - start);
	s->len = start;
	if (name && text.len < UINT32_MAX && shorten_brackets(&made, text.s, text.len, columns, dots))
		str_addn(s, made.s, made.len);
	else if (name && made.len)
		add_ends(s, made.s, made.len, columns, dots);
	else
		add_ends(s, text.s, text.len, columns, dots);
	str_release(&made);
	str_release(&text);
}

/* ---- sentences ---- */

void str_add_wrapped(struct str *s, const char *text, size_t at, size_t indent, size_t columns)
{
	if (!columns || indent + 1 >= columns) {
		str_add(s, text);
		return;
	}
	for (bool first = true; *text; first = false) {
		size_t blanks = strspn(text, " "), n = blanks + strcspn(text + blanks, " ");
		size_t width = text_columns(text, n);

		if (!first && at + width > columns) {
			str_addc(s, '\n');
			str_pad(s, ' ', indent);
			at = indent + width - blanks;
			str_addn(s, text + blanks, n - blanks);
		} else {
			at += width;
			str_addn(s, text, n);
		}
		text += n;
	}
}
