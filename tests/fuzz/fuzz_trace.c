/* SPDX-License-Identifier: MIT */
/*
 * fuzz_trace: any bytes as the format of a tracepoint, and, behind its first NUL, as a sample of it. The claim: no
 * crash, no sanitizer report, no endless loop; a text within its bound.
 */
#include "trace/trace_internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_BASE = 16 << 10, TEXT_PER_BYTE = 8 };

static const char *name_of(void *context, uint64_t address, uint64_t *start)
{
	(void)context;
	*start = address & ~15ULL;
	return address & 16 ? "function" : NULL;
}

static const char *text_of(void *context, uint64_t address)
{
	(void)context;
	return address & 16 ? "text" : NULL;
}

static void print_sample(const uint8_t *bytes, size_t len, const struct trace_format *format,
			 const struct trace_print *print, bool swap)
{
	const struct trace_machine machine = { .swap = swap, .big_endian = swap, .long_bytes = swap ? 4 : 8,
					       .function = name_of, .text = text_of };
	const struct trace_raw raw = { bytes, len, &machine };
	struct str out = STR_INIT;

	if (print)
		trace_add_text(&out, &raw, print);
	if (out.len > TEXT_BASE + TEXT_PER_BYTE * len + 3)
		abort();
	str_reset(&out);
	trace_add_fields(&out, &raw, format);
	if (out.len > TEXT_BASE + TEXT_PER_BYTE * len + 3)
		abort();
	str_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = strnlen((const char *)data, size), n_raw = size > len ? size - len - 1 : 0;
	char *text = xmalloc(len + 1);
	uint8_t *raw = xmalloc(n_raw + 1);
	struct arena arena = ARENA_INIT;
	struct trace_format format;
	struct trace_print print;
	bool understood;

	memcpy(text, data, len);
	memcpy(raw, data + size - n_raw, n_raw);
	if (trace_format_parse(&arena, text, len, 8, &format)) {
		understood = trace_print_parse(&arena, &format, 8, &print);
		print_sample(raw, n_raw, &format, understood ? &print : NULL, false);
		print_sample(raw, n_raw, &format, understood ? &print : NULL, true);
	}
	arena_release(&arena);
	free(text);
	free(raw);
	return 0;
}
