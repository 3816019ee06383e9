/* SPDX-License-Identifier: MIT */
/*
 * Text from outside, made safe for where it goes. One UTF-8 decoder decides what is a character;
 * a terminal gets \xNN for what is not printable, JSON gets escapes and U+FFFD, XML entities and U+FFFD.
 */
#include "util.h"

/*
 * Length in bytes of the character at p, 0 if the bytes are not UTF-8 (RFC 3629: no overlong forms,
 * no surrogates, nothing over U+10FFFF). *code receives the code point.
 */
static size_t utf8_char(const unsigned char *p, size_t n, uint32_t *code)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len;
	uint32_t c;

	if (p[0] < 0x80) {
		*code = p[0];
		return 1;
	}
	if ((p[0] & 0xe0) == 0xc0)
		len = 2, c = p[0] & 0x1f;
	else if ((p[0] & 0xf0) == 0xe0)
		len = 3, c = p[0] & 0x0f;
	else if ((p[0] & 0xf8) == 0xf0)
		len = 4, c = p[0] & 0x07;
	else
		return 0;
	if (len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code = c;
	return len;
}

/* Controls, and the characters that reorder or hide text on a terminal. */
static bool is_hidden(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

/* All eight bytes are 0x20 to 0x7e: taking 0x20 off a lower one sets its high bit, adding 1 sets that of 0x7f. */
static bool is_visible_word(const unsigned char *p)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return !((word | (word + ones) | (word - 0x20 * ones)) & 0x80 * ones);
}

/* How many of the n bytes up to the first other one are ASCII characters that everybody sees. */
static size_t visible_ascii(const unsigned char *p, size_t n)
{
	size_t i = 0;

	while (n - i >= sizeof(uint64_t) && is_visible_word(p + i))
		i += sizeof(uint64_t);
	while (i < n && p[i] >= 0x20 && p[i] < 0x7f)
		i++;
	return i;
}

void str_add_printable(struct str *s, const char *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *)bytes;

	for (size_t i = 0; i < n;) {
		uint32_t code = 0;
		size_t len = visible_ascii(p + i, n - i);

		if (!len) {
			len = utf8_char(p + i, n - i, &code);
			if (!len || is_hidden(code)) {
				for (size_t end = i + (len ? len : 1); i < end; i++)
					str_addf(s, "\\x%02x", p[i]);
				continue;
			}
		}
		str_addn(s, bytes + i, len);
		i += len;
	}
}

/* JSON may have them as they are, but not HTML, which has JSON in it. Those beyond U+FFFF would need surrogates. */
static bool is_noncharacter(uint32_t c)
{
	return (c >= 0xfdd0 && c <= 0xfdef) || c == 0xfffe || c == 0xffff;
}

static void add_json_escape(struct str *s, uint32_t code)
{
	switch (code) {
	case '"':
		str_add(s, "\\\"");
		break;
	case '\\':
		str_add(s, "\\\\");
		break;
	case '\n':
		str_add(s, "\\n");
		break;
	case '\t':
		str_add(s, "\\t");
		break;
	default:
		str_addf(s, "\\u%04x", code);
	}
}

/* is_page: the characters of markup are escaped, too. */
static void add_json(struct str *s, const char *text, bool is_page)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n = strlen(text);

	str_addc(s, '"');
	for (size_t i = 0; i < n;) {
		uint32_t code = 0;
		size_t len = utf8_char(p + i, n - i, &code);

		if (!len) {
			str_add(s, "\\ufffd");
			i++;
			continue;
		}
		if (is_hidden(code) || is_noncharacter(code) || code == '"' || code == '\\' ||
		    (is_page && (code == '<' || code == '>' || code == '&')))
			add_json_escape(s, code);
		else
			str_addn(s, text + i, len);
		i += len;
	}
	str_addc(s, '"');
}

void str_add_json(struct str *s, const char *text)
{
	add_json(s, text, false);
}

void str_add_page_json(struct str *s, const char *text)
{
	add_json(s, text, true);
}

/* Production [2] Char of XML 1.0; of what utf8_char() gives there are no surrogates. */
static bool is_xml_char(uint32_t c)
{
	return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0xfffe && c != 0xffff);
}

static const char *xml_entity(uint32_t c)
{
	return c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : NULL;
}

void str_add_xml(struct str *s, const char *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *)bytes;

	for (size_t i = 0; i < n;) {
		uint32_t code = 0;
		size_t len = utf8_char(p + i, n - i, &code);

		if (!len || !is_xml_char(code))
			str_add(s, "\xef\xbf\xbd");
		else if (xml_entity(code))
			str_add(s, xml_entity(code));
		else
			str_addn(s, bytes + i, len);
		i += len ? len : 1;
	}
}
