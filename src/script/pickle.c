/* SPDX-License-Identifier: MIT */
/*
 * pickle: opcodes and their operands. A slot is chosen by the hash of a value's key; both sides put each kept value
 * into it in the order of writing, so that the writer's table says what the reader has there.
 */
#include "script/pickle.h"

#include <endian.h>
#include <stdlib.h>

/* Codes of pickletools, and the bytes that follow them. */
enum {
	OP_NONE = 'N',
	OP_TRUE = 0x88,
	OP_FALSE = 0x89,
	OP_BYTE = 'K', /* 1: unsigned */
	OP_SHORT = 'M', /* 2: unsigned */
	OP_INT = 'J', /* 4: signed */
	OP_LONG = 0x8a, /* 1: how many bytes, which follow; signed */
	OP_TEXT = 'X', /* 4: how many bytes of UTF-8, which follow */
	OP_BYTES = 'B', /* 4: how many bytes, which follow */
	OP_BYTEARRAY = 0x96, /* 8: how many bytes, which follow */
	OP_GET = 'j', /* 4: the slot */
	OP_PUT = 'r', /* 4: the slot */
};

static void add(struct pickle *p, uint8_t op, uint64_t value, size_t bytes)
{
	char text[1 + sizeof(value) + 1] = { (char)op };

	for (size_t i = 0; i < bytes; i++)
		text[1 + i] = (char)(value >> 8 * i);
	str_addn(p->out, text, 1 + bytes);
}

void pickle_release(struct pickle *p)
{
	free(p->slots);
	p->slots = NULL;
}

void pickle_forget(struct pickle *p)
{
	if (p->slots)
		memset(p->slots, 0, PICKLE_SLOTS * sizeof(*p->slots));
}

static uint32_t slot_of(struct pickle_key key)
{
	const uint64_t words[] = { key.a, key.b };

	return (uint32_t)hash_words(words, ARRAY_SIZE(words)) & (PICKLE_SLOTS - 1);
}

bool pickle_again(struct pickle *p, struct pickle_key key)
{
	uint32_t slot = slot_of(key);

	if (!p->slots || p->slots[slot].a != key.a || p->slots[slot].b != key.b)
		return false;
	add(p, OP_GET, slot, 4);
	return true;
}

void pickle_keep(struct pickle *p, struct pickle_key key)
{
	uint32_t slot = slot_of(key);

	if (!p->slots)
		p->slots = xcalloc(PICKLE_SLOTS, sizeof(*p->slots));
	p->slots[slot] = key;
	add(p, OP_PUT, slot, 4);
}

void pickle_none(struct pickle *p)
{
	add(p, OP_NONE, 0, 0);
}

void pickle_bool(struct pickle *p, bool value)
{
	add(p, value ? OP_TRUE : OP_FALSE, 0, 0);
}

void pickle_signed(struct pickle *p, int64_t value)
{
	if (value >= 0 && value <= UINT8_MAX) {
		add(p, OP_BYTE, (uint64_t)value, 1);
	} else if (value >= 0 && value <= UINT16_MAX) {
		add(p, OP_SHORT, (uint64_t)value, 2);
	} else if (value >= INT32_MIN && value <= INT32_MAX) {
		add(p, OP_INT, (uint64_t)value, 4);
	} else {
		add(p, OP_LONG, 8, 1);
		str_addn(p->out, (const char *)&(uint64_t){ htole64((uint64_t)value) }, 8);
	}
}

void pickle_number(struct pickle *p, uint64_t value)
{
	if (value <= INT64_MAX) {
		pickle_signed(p, (int64_t)value);
		return;
	}
	/* A byte of 0 after it: its highest bit is no sign. */
	add(p, OP_LONG, 9, 1);
	str_addn(p->out, (const char *)&(uint64_t){ htole64(value) }, 8);
	str_addc(p->out, '\0');
}

static void add_sized(struct pickle *p, uint8_t op, const void *bytes, size_t len)
{
	add(p, op, (uint32_t)len, 4);
	str_addn(p->out, bytes, (uint32_t)len);
}

void pickle_text(struct pickle *p, const char *text, size_t len)
{
	const struct pickle_key key = { hash_bytes(text, len), len << 8 | OP_TEXT };
	struct str printable = STR_INIT;

	if (pickle_again(p, key))
		return;
	str_add_printable(&printable, text, len);
	add_sized(p, OP_TEXT, printable.s, printable.len);
	str_release(&printable);
	pickle_keep(p, key);
}

void pickle_bytes(struct pickle *p, const void *bytes, size_t len)
{
	add_sized(p, OP_BYTES, bytes, len);
}

void pickle_bytearray(struct pickle *p, const void *bytes, size_t len)
{
	add(p, OP_BYTEARRAY, len, 8);
	str_addn(p->out, bytes, len);
}
