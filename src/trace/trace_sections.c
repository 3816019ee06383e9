/*
 * TRACING_DATA, a file within the recording: a head, then formats of tracepoints by their system, then
 * texts of the kernel by their address.
 *
 *	17 08 44 "tracing" version\0 big-endian(1) long(1) page(4)
 *	"header_page\0" n(8) bytes, "header_event\0" n(8) bytes
 *	n(4) formats of ftrace: size(8) text
 *	n(4) systems: name\0 n(4) formats: size(8) text
 *	size(4) kallsyms, size(4) lines of `0xADDRESS : "text"`
 *
 * Every length is checked before it is believed; a cut end leaves what came before.
 *
 * Source: trace-cmd.dat(5).
 */
#include "trace/trace_internal.h"

#include <stdlib.h>

struct section_cursor {
	const uint8_t *p;
	size_t left;
	bool swap, bad;
};

static const void *take(struct section_cursor *c, uint64_t n)
{
	const uint8_t *at = c->p;

	if (c->bad || n > c->left) {
		c->bad = true;
		return NULL;
	}
	c->p += n;
	c->left -= n;
	return at;
}

static uint32_t take_u32(struct section_cursor *c)
{
	const void *p = take(c, 4);
	uint32_t value = 0;

	if (p)
		memcpy(&value, p, sizeof(value));
	return c->swap ? __builtin_bswap32(value) : value;
}

static uint64_t take_u64(struct section_cursor *c)
{
	const void *p = take(c, 8);
	uint64_t value = 0;

	if (p)
		memcpy(&value, p, sizeof(value));
	return c->swap ? __builtin_bswap64(value) : value;
}

static const char *take_text(struct section_cursor *c)
{
	const uint8_t *end = c->bad || !c->left ? NULL : memchr(c->p, '\0', c->left);

	if (!end) {
		c->bad = true;
		return "";
	}
	return take(c, (uint64_t)(end - c->p) + 1);
}

/* A copy that ends in NUL. */
static char *take_copy(struct section_cursor *c, uint64_t n)
{
	const char *bytes = take(c, n);

	return bytes ? xstrndup(bytes, (size_t)n) : NULL;
}

static bool read_head(struct section_cursor *c, const struct trace_sections *sections)
{
	static const uint8_t magic[10] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const uint8_t *head = take(c, sizeof(magic)), *sizes;
	const uint16_t one = 1;
	bool native_big = *(const uint8_t *)&one == 0, big;

	if (!head || memcmp(head, magic, sizeof(magic)) != 0)
		return false;
	take_text(c); /* version */
	sizes = take(c, 2);
	if (!sizes || (sizes[1] != 4 && sizes[1] != 8))
		return false;
	big = sizes[0];
	c->swap = big != native_big;
	take_u32(c); /* a page's size */
	if (c->bad)
		return false;
	sections->head(sections->context, big, sizes[1]);
	return true;
}

static void read_formats(struct section_cursor *c, const struct trace_sections *sections)
{
	for (uint32_t n = take_u32(c); n && !c->bad; n--) {
		char *text = take_copy(c, take_u64(c));

		if (text)
			sections->format(sections->context, text, strlen(text));
		free(text);
	}
}

static void read_texts(struct section_cursor *c, const struct trace_sections *sections)
{
	char *all = take_copy(c, take_u32(c)), *rest = all, *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		char *colon = strchr(line, ':'), *text = colon ? strchr(colon, '"') : NULL;
		size_t len;

		if (!text)
			continue;
		len = strlen(++text);
		if (len && text[len - 1] == '"')
			text[len - 1] = '\0';
		sections->text(sections->context, strtoull(line, NULL, 16), text);
	}
	free(all);
}

enum trace_end trace_sections_read(const uint8_t *bytes, size_t size, const struct trace_sections *sections)
{
	struct section_cursor c = { bytes, size, false, false };
	enum trace_end end;

	if (!read_head(&c, sections))
		return TRACE_FOREIGN;
	take_text(&c); /* "header_page" */
	take(&c, take_u64(&c));
	take_text(&c); /* "header_event" */
	take(&c, take_u64(&c));
	read_formats(&c, sections); /* of ftrace */
	for (uint32_t n = take_u32(&c); n && !c.bad; n--) {
		take_text(&c); /* a system's name */
		read_formats(&c, sections);
	}
	end = c.bad ? TRACE_CUT : TRACE_WHOLE;
	/* What follows only makes some texts better: without it they show addresses. */
	take(&c, take_u32(&c)); /* kallsyms: the session knows the kernel's functions */
	read_texts(&c, sections);
	return end;
}
