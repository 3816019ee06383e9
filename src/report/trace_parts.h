/*
 * trace_parts: the formats of tracepoints before libtraceevent sees them. Private to report/.
 *
 *   TRACING_DATA -> trace_sections.c -> format's text -> trace_format.c -> trace_fields.c -> libtraceevent
 */
#ifndef PSTAT_TRACE_PARTS_H
#define PSTAT_TRACE_PARTS_H

#include "util/util.h"

/* ---- trace_sections.c ---- */

/* What the parts of TRACING_DATA are handed to, in their order. Texts end in NUL. */
struct trace_sections {
	void *context;
	void (*head)(void *context, bool big_endian, unsigned long_bytes, uint32_t page_bytes);
	void (*format)(void *context, const char *system, const char *text, size_t len);
	/* What a pointer to a text stood for in the kernel. */
	void (*text)(void *context, uint64_t address, const char *text);
};
enum trace_end {
	TRACE_WHOLE,
	TRACE_CUT, /* the formats end early; those before have been handed out */
	TRACE_FOREIGN, /* not TRACING_DATA at all; nothing has been handed out */
};
enum trace_end trace_sections_read(const uint8_t *bytes, size_t size,
				   const struct trace_sections *sections);

/* ---- trace_format.c ---- */

/*
 * How much of a format's text may be parsed and printed by a library that trusts it: all of it; only the
 * fields, which are the first *fields_len bytes; or nothing.
 */
enum trace_format_use { TRACE_FORMAT_ALL, TRACE_FORMAT_FIELDS, TRACE_FORMAT_NOTHING };
enum trace_format_use trace_format_check(const char *text, size_t len, size_t *fields_len);

#endif
