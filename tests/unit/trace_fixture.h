/* SPDX-License-Identifier: MIT */
/*
 * Formats of tracepoints for tests: those of this kernel, and samples with bytes that could be theirs, so that
 * what is said of them can be compared: with libtraceevent, with perf, or with what is known to be in them.
 */
#ifndef PSTAT_TRACE_FIXTURE_H
#define PSTAT_TRACE_FIXTURE_H

#include "trace/trace_internal.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- random numbers, the same each time: xorshift ---- */

static inline uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static inline uint64_t random_below(uint64_t *seed, uint64_t n)
{
	return random_next(seed) % n;
}

/* ---- formats of this kernel ---- */

struct kernel_formats {
	struct str *v; /* texts */
	char **names; /* system:event */
	size_t n;
};

/* NULL, or why there are none. */
static inline const char *kernel_formats_read(struct kernel_formats *formats)
{
	glob_t found = { 0 };

	*formats = (struct kernel_formats){ 0 };
	if (glob("/sys/kernel/tracing/events/*/*/format", 0, NULL, &found)) {
		globfree(&found);
		return "needs to read /sys/kernel/tracing/events";
	}
	formats->v = xcalloc(found.gl_pathc, sizeof(*formats->v));
	formats->names = xcalloc(found.gl_pathc, sizeof(*formats->names));
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct str *text = &formats->v[formats->n];
		const char *path = found.gl_pathv[i] + strlen("/sys/kernel/tracing/events/");
		const char *slash = strchr(path, '/'), *end = strrchr(path, '/');

		str_init(text);
		if (!strncmp(path, "ftrace/", 7) || read_text_file(found.gl_pathv[i], text))
			continue; /* not events that can be sampled */
		formats->names[formats->n++] = xasprintf("%.*s:%.*s", (int)(slash - path), path,
							 (int)(end - slash - 1), slash + 1);
	}
	globfree(&found);
	return formats->n ? NULL : "needs to read the formats of tracepoints";
}

static inline void kernel_formats_release(struct kernel_formats *formats)
{
	for (size_t i = 0; i < formats->n; i++) {
		str_release(&formats->v[i]);
		free(formats->names[i]);
	}
	free(formats->v);
	free(formats->names);
}

/* ---- a sample of a format ---- */

/* What numbers a sample has. */
enum sample_numbers { NUMBERS_SMALL, NUMBERS_POSITIVE, NUMBERS_ANY, NUMBERS_KINDS };

static inline uint64_t sample_number(uint64_t *seed, size_t bytes, enum sample_numbers numbers)
{
	uint64_t value = random_next(seed);

	if (bytes < 8)
		value &= (1ULL << 8 * bytes) - 1;
	if (numbers == NUMBERS_SMALL)
		return value % 12;
	return numbers == NUMBERS_POSITIVE ? value & ~(1ULL << (8 * bytes - 1)) : value;
}

/* Words without a NUL, but at their end. */
static inline void sample_text(uint64_t *seed, uint8_t *to, size_t len)
{
	for (size_t i = 0; i + 1 < len; i++)
		to[i] = (uint8_t)"abcdefghij KLM/._-09"[random_below(seed, 20)];
	if (len)
		to[len - 1] = '\0';
}

/* Is it bytes, not a text? The addresses of the kernel's formats are arrays of u8, its texts of char. */
static inline bool sample_is_bytes(const struct trace_field *field, size_t len)
{
	static const char *const texts[] = { "comm", "name", "dev", "cmd", "rwbs", "driver", "disk", "str" };

	if (!field->is_string || strstr(field->name, "addr"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strstr(field->name, texts[i]))
			return false;
	return !field->is_dynamic && (len == 28 || len == 4 || len == 16 || len == 6);
}

static inline void sample_array(uint64_t *seed, const struct trace_field *field, uint8_t *to, size_t len)
{
	if (!sample_is_bytes(field, len)) {
		sample_text(seed, to, len);
		return;
	}
	for (size_t i = 0; i < len; i++)
		to[i] = random_below(seed, 3) ? (uint8_t)random_next(seed) : 0;
	if (len == 28) { /* a socket's address */
		uint16_t family = random_below(seed, 2) ? 2 : 10;

		memcpy(to, &family, sizeof(family));
	}
}

/* A dynamic field's reference, and its bytes at the sample's end. */
static inline void sample_dynamic(uint64_t *seed, const struct trace_field *field, struct str *raw)
{
	size_t element = field->element_bytes ? field->element_bytes : 1;
	size_t len = field->is_string && strstr(field->name, "addr") ? 28 : element * (12 + random_below(seed, 6));
	uint32_t at, where;
	char bytes[256];

	str_pad(raw, '\0', (8 - raw->len % 8) % 8);
	at = (uint32_t)raw->len;
	if (field->is_relative)
		at -= field->offset + field->size;
	where = at | (uint32_t)len << 16;
	memcpy(raw->s + field->offset, &where, field->size < 4 ? field->size : 4);
	sample_array(seed, field, (uint8_t *)bytes, len);
	str_addn(raw, bytes, len);
}

/* Bytes that all fields of the format are in; a length that the format takes from a field is a small number. */
static inline void sample_make(const struct trace_format *format, uint16_t id, uint64_t *seed,
			       enum sample_numbers numbers, struct str *raw)
{
	bool has_lengths = memmem(format->print, format->print_len, "__print_hex", 11) ||
			   memmem(format->print, format->print_len, "%.*", 3) ||
			   memmem(format->print, format->print_len, "%*", 2);
	size_t fixed = 0;

	for (size_t i = 0; i < format->n_fields; i++)
		if (fixed < (size_t)format->fields[i].offset + format->fields[i].size)
			fixed = (size_t)format->fields[i].offset + format->fields[i].size;
	str_reset(raw);
	str_pad(raw, '\0', fixed);
	for (size_t i = 0; i < format->n_fields; i++) {
		const struct trace_field *field = &format->fields[i];
		uint8_t *to = (uint8_t *)raw->s + field->offset;
		uint64_t number;

		if (field->is_dynamic) {
			sample_dynamic(seed, field, raw);
		} else if (field->is_array) {
			sample_array(seed, field, to, field->size);
		} else if (field->size && field->size <= 8) {
			number = sample_number(seed, field->size, has_lengths ? NUMBERS_SMALL : numbers);
			memcpy(to, &number, field->size);
		}
	}
	memcpy(raw->s, &id, sizeof(id));
}

#endif
