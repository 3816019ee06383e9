/* SPDX-License-Identifier: MIT */
/*
 * struct str: text that is built up piece by piece and printed once. Rows are complete before they
 * leave the program, so a format never has to undo half a line.
 */
#include "util.h"

#include <stdio.h>
#include <stdlib.h>

char str_empty[1];

void str_init(struct str *s)
{
	*s = (struct str)STR_INIT;
}

void str_release(struct str *s)
{
	if (s->cap)
		free(s->s);
	str_init(s);
}

void str_reset(struct str *s)
{
	s->len = 0;
	if (s->cap)
		s->s[0] = '\0';
}

static void grow(struct str *s, size_t need)
{
	if (need < s->cap + s->cap / 2)
		need = s->cap + s->cap / 2;
	if (need < 64)
		need = 64;
	s->s = xreallocarray(s->cap ? s->s : NULL, need, 1);
	s->cap = need;
}

/* The check alone is inlined: most pieces are a few bytes, and there is room for them. */
static inline void make_room(struct str *s, size_t more)
{
	size_t need = s->len + more + 1;

	if (need > s->cap)
		grow(s, need);
}

void str_reserve(struct str *s, size_t more)
{
	make_room(s, more);
}

/*
 * Copies a piece without a call where it is short, as most are: its first bytes and its last, which may be the same
 * ones. Of nothing there may be no bytes.
 */
static inline void put(char *to, const char *from, size_t n)
{
	if (n > 16) {
		memcpy(to, from, n);
	} else if (n >= 8) {
		memcpy(to, from, 8);
		memcpy(to + n - 8, from + n - 8, 8);
	} else if (n >= 4) {
		memcpy(to, from, 4);
		memcpy(to + n - 4, from + n - 4, 4);
	} else if (n) {
		to[0] = from[0];
		to[n / 2] = from[n / 2];
		to[n - 1] = from[n - 1];
	}
}

void str_addn(struct str *s, const char *bytes, size_t n)
{
	make_room(s, n);
	put(s->s + s->len, bytes, n);
	s->len += n;
	s->s[s->len] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_addn(s, text, strlen(text));
}

void str_addc(struct str *s, char c)
{
	make_room(s, 1);
	s->s[s->len++] = c;
	s->s[s->len] = '\0';
}

void str_pad(struct str *s, char c, size_t n)
{
	if (!n)
		return;
	make_room(s, n);
	memset(s->s + s->len, c, n);
	s->len += n;
	s->s[s->len] = '\0';
}

void str_vaddf(struct str *s, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	str_reserve(s, 63);
	n = vsnprintf(s->s + s->len, s->cap - s->len, fmt, ap);
	if (n >= 0 && (size_t)n >= s->cap - s->len) {
		str_reserve(s, (size_t)n);
		n = vsnprintf(s->s + s->len, s->cap - s->len, fmt, again);
	}
	va_end(again);
	if (n > 0)
		s->len += (size_t)n;
	s->s[s->len] = '\0';
}

void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(s, fmt, ap);
	va_end(ap);
}

char *str_detach(struct str *s)
{
	char *text = s->cap ? s->s : xstrdup("");

	str_init(s);
	return text;
}

char *xasprintf(const char *fmt, ...)
{
	struct str s = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&s, fmt, ap);
	va_end(ap);
	return str_detach(&s);
}

void str_add_grouped(struct str *s, uint64_t value)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			str_addc(s, ',');
		str_addc(s, digits[i]);
	}
}

int fail(struct str *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(err, fmt, ap);
	va_end(ap);
	return code;
}
