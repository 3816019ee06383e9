/* SPDX-License-Identifier: MIT */
/*
 * The encoding of Protocol Buffers, as far as it is needed. Types on the wire: 0 varint, 2 length and bytes.
 */
#include "fmt/protobuf.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2, VARINT_BYTES_MAX = 10 };

static size_t make_varint(uint8_t *bytes, uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (uint8_t)(value | 0x80);
	bytes[n++] = (uint8_t)value;
	return n;
}

static size_t varint_bytes(uint64_t value)
{
	size_t n = 1;

	while (value >>= 7)
		n++;
	return n;
}

/* Seven bits in a byte, the lowest first; the high bit: there are more. */
static void add_varint(struct str *out, uint64_t value)
{
	uint8_t bytes[VARINT_BYTES_MAX];

	str_addn(out, (const char *)bytes, make_varint(bytes, value));
}

static void add_tag(struct str *out, unsigned field, unsigned wire)
{
	add_varint(out, field << 3 | wire);
}

void pb_add_u64(struct str *out, unsigned field, uint64_t value)
{
	if (!value)
		return;
	add_tag(out, field, WIRE_VARINT);
	add_varint(out, value);
}

void pb_add_bytes(struct str *out, unsigned field, const char *bytes, size_t n)
{
	add_tag(out, field, WIRE_BYTES);
	add_varint(out, n);
	str_addn(out, bytes, n);
}

void pb_add_packed(struct str *out, unsigned field, const uint64_t *values, size_t n)
{
	size_t bytes = 0;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		bytes += varint_bytes(values[i]);
	add_tag(out, field, WIRE_BYTES);
	add_varint(out, bytes);
	for (size_t i = 0; i < n; i++)
		add_varint(out, values[i]);
}
