/* SPDX-License-Identifier: MIT */
/*
 * The message about a spec that is wrong: why, where, and what may have been meant.
 *
 *   unknown modifier 'x'            reason
 *     {cycles:x,faults}             the spec, cut to a window where it is long
 *             ^                     caret under the place
 *     modifiers: u k h ...          hint
 *
 * The spec comes from outside: everything is made printable here, once, and the caret counts what
 * is printed, not bytes.
 */
#include "event/spec.h"

#include <errno.h>

enum {
	WINDOW_BYTES = 72, /* of the spec shown around the caret */
	WINDOW_BEFORE = 48, /* of these, before the caret */
	REASON_BYTES = 400, /* a reason quotes words of any length */
};

int spec_fail(struct spec_error *error, int code, size_t pos, const char *fmt, ...)
{
	va_list ap;

	if (error->code)
		return error->code;
	error->code = code;
	error->pos = pos;
	va_start(ap, fmt);
	str_vaddf(&error->reason, fmt, ap);
	va_end(ap);
	return code;
}

void spec_error_release(struct spec_error *error)
{
	str_release(&error->reason);
	str_release(&error->hint);
	error->code = 0;
	error->pos = 0;
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Moves a cut to the left until it does not split a UTF-8 character. */
static size_t char_start(const char *text, size_t at)
{
	for (int i = 0; i < 3 && at > 0 && is_continuation(text[at]); i++)
		at--;
	return at;
}

static size_t columns(const char *text, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += !is_continuation(text[i]);
	return count;
}

static void add_clipped(struct str *out, const char *text, size_t len, size_t most)
{
	if (len <= most) {
		str_add_printable(out, text, len);
		return;
	}
	str_add_printable(out, text, char_start(text, most));
	str_add(out, "...");
}

static void add_place(struct str *out, const char *text, size_t pos)
{
	size_t len = strlen(text), from = 0, to = len, line, caret;

	if (pos > len)
		pos = len;
	if (len > WINDOW_BYTES && pos > WINDOW_BEFORE)
		from = char_start(text, pos - WINDOW_BEFORE);
	if (to - from > WINDOW_BYTES)
		to = char_start(text, from + WINDOW_BYTES);
	if (to < pos)
		to = pos;
	str_add(out, "\n  ");
	line = out->len;
	if (from)
		str_add(out, "..");
	str_add_printable(out, text + from, pos - from);
	caret = columns(out->s + line, out->len - line);
	str_add_printable(out, text + pos, to - pos);
	if (to < len)
		str_add(out, "..");
	str_add(out, "\n  ");
	str_pad(out, ' ', caret);
	str_addc(out, '^');
}

void spec_error_format(const struct spec_error *error, const char *text, struct str *out)
{
	add_clipped(out, error->reason.s, error->reason.len, REASON_BYTES);
	if (text[strspn(text, " \t\r\n")])
		add_place(out, text, error->pos);
	if (error->hint.len) {
		str_add(out, "\n  ");
		str_add_printable(out, error->hint.s, error->hint.len);
	}
}
