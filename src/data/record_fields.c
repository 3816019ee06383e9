/* SPDX-License-Identifier: MIT */
/*
 * record_fields.c: the kinds of fields that record payloads are made of. A kind knows how its bytes
 * become a member of struct record_body, how they are written again, and how the dump shows them;
 * records[] in record.c says which kinds follow each other.
 *
 * To add a kind: its three functions, one `const struct field_kind` at the end, its name in decode.h.
 * A decode function may only move the cursor and set `why`; record_decode checks both.
 */
#include "data/attr.h"
#include "data/decode.h"

#define DECODE(name)                                                                               \
	static void name##_decode(struct decode_state *s, const struct record_field *f, void *at)
#define ENCODE(name)                                                                               \
	static void name##_encode(struct str *out, size_t start, const struct record_field *f,     \
				  const struct record_body *body, const struct data_event *event,  \
				  const void *at)
#define PRINT(name)                                                                                \
	static void name##_show(struct str *out, const struct record_field *f,                     \
				const struct record_body *body, const void *at)
#define UNUSED_DECODE (void)f, (void)s
#define UNUSED_ENCODE (void)start, (void)f, (void)body, (void)event
#define UNUSED_PRINT (void)f, (void)body

/* ---- numbers ---- */
#define NUMBER(name, type, load)                                                                   \
	DECODE(name)                                                                               \
	{                                                                                          \
		type v = (type)load(&s->c);                                                        \
		(void)f;                                                                           \
		memcpy(at, &v, sizeof(v));                                                         \
	}                                                                                          \
	ENCODE(name)                                                                               \
	{                                                                                          \
		UNUSED_ENCODE;                                                                     \
		str_addn(out, at, sizeof(type));                                                   \
	}                                                                                          \
	static type name##_value(const void *at)                                                   \
	{                                                                                          \
		type v;                                                                            \
		memcpy(&v, at, sizeof(v));                                                         \
		return v;                                                                          \
	}
#define NUMBER_PRINT(name, value, format, wide)                                                    \
	PRINT(name)                                                                                \
	{                                                                                          \
		UNUSED_PRINT;                                                                      \
		str_addf(out, format, (wide)value(at));                                            \
	}

NUMBER(u8, uint8_t, cursor_u8)
NUMBER(u16, uint16_t, cursor_u16)
NUMBER(u32, uint32_t, cursor_u32)
NUMBER(s32, int32_t, cursor_u32)
NUMBER(u64, uint64_t, cursor_u64)
NUMBER_PRINT(u8, u8_value, "%u", unsigned)
NUMBER_PRINT(u16, u16_value, "%u", unsigned)
NUMBER_PRINT(u32, u32_value, "%u", unsigned)
NUMBER_PRINT(s32, s32_value, "%d", int)
NUMBER_PRINT(u64, u64_value, "%llu", unsigned long long)
NUMBER_PRINT(hex32, u32_value, "%#x", unsigned)
NUMBER_PRINT(hex64, u64_value, "%#llx", unsigned long long)

/* ---- runs of bytes of a fixed length ---- */
DECODE(zeros)
{
	(void)at;
	cursor_bytes(&s->c, f->n);
}

ENCODE(zeros)
{
	UNUSED_ENCODE;
	(void)at;
	str_pad(out, '\0', f->n);
}

DECODE(chars)
{
	const uint8_t *p = cursor_bytes(&s->c, f->n);

	if (p)
		memcpy(at, p, f->n);
}

ENCODE(chars)
{
	UNUSED_ENCODE;
	str_addn(out, at, f->n);
}

PRINT(chars)
{
	(void)body;
	str_add_printable(out, at, strnlen(at, f->n));
}

static void add_hex(struct str *out, const uint8_t *p, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		str_addf(out, "%02x", p[i]);
}

PRINT(hexes)
{
	(void)body;
	add_hex(out, at, f->n);
}

/* ---- a text up to the end of the payload, padded with zeros to 8 bytes ---- */
DECODE(text)
{
	const char *text = cursor_text(&s->c);

	(void)f;
	if (!text)
		s->why = "its text has no end";
	else
		memcpy(at, &text, sizeof(text));
}

ENCODE(text)
{
	const char *text;

	(void)f, (void)body, (void)event;
	memcpy(&text, at, sizeof(text));
	put_text(out, start, text ? text : "", 8);
}

PRINT(text)
{
	const char *text;

	UNUSED_PRINT;
	memcpy(&text, at, sizeof(text));
	if (text)
		str_add_printable(out, text, strlen(text));
}

/* ---- rows of 8-byte words: a count, then count x n words ---- */
DECODE(words)
{
	struct record_words words = { cursor_u64(&s->c), NULL };

	if (words.n > cursor_left(&s->c) / 8 / f->n)
		s->why = "more entries than the record has room for";
	else
		words.v = decoder_words(s->decoder, &s->c, words.n * f->n);
	memcpy(at, &words, sizeof(words));
}

ENCODE(words)
{
	const struct record_words *words = at;

	(void)start, (void)body, (void)event;
	put_u64(out, words->n);
	if (words->n)
		str_addn(out, (const char *)words->v, words->n * f->n * 8);
}

PRINT(words)
{
	const struct record_words *words = at;

	(void)body;
	str_addf(out, "nr %llu:", (unsigned long long)words->n);
	for (uint64_t i = 0; i < words->n; i++) {
		str_add(out, i ? ", " : " ");
		for (unsigned k = 0; k < f->n; k++)
			str_addf(out, "%s%#llx", k ? "/" : "",
				 (unsigned long long)words->v[i * f->n + k]);
	}
}

/* ---- what is left ---- */
DECODE(rest_words)
{
	struct record_words words = { cursor_left(&s->c) / 8, NULL };

	(void)f;
	words.v = decoder_words(s->decoder, &s->c, words.n);
	memcpy(at, &words, sizeof(words));
}

ENCODE(rest_words)
{
	const struct record_words *words = at;

	UNUSED_ENCODE;
	if (words->n)
		str_addn(out, (const char *)words->v, words->n * 8);
}

DECODE(rest_bytes)
{
	struct record_bytes bytes = { cursor_left(&s->c), NULL };

	(void)f;
	bytes.v = cursor_bytes(&s->c, bytes.n);
	memcpy(at, &bytes, sizeof(bytes));
}

ENCODE(rest_bytes)
{
	const struct record_bytes *bytes = at;

	UNUSED_ENCODE;
	if (bytes->n)
		str_addn(out, (const char *)bytes->v, bytes->n);
}

PRINT(rest_bytes)
{
	const struct record_bytes *bytes = at;

	UNUSED_PRINT;
	str_addf(out, "%llu bytes", (unsigned long long)bytes->n);
}

/* ---- HEADER_ATTR: an attr that knows its own length; the ids follow ---- */
DECODE(attr)
{
	struct record_bytes attr = { 0, s->c.p };
	uint32_t size = cursor_left(&s->c) >= 8 ? load_u32(s->c.p + 4, s->c.swap) : 0;

	(void)f;
	attr.n = size ? size : ATTR_SIZE_VER0; /* the first ABI wrote 0 */
	if (attr.n < ATTR_SIZE_VER0 || attr.n % 8 || !cursor_bytes(&s->c, attr.n))
		s->why = "its attr size does not fit into the record";
	memcpy(at, &attr, sizeof(attr));
}

PRINT(attr)
{
	const struct record_bytes *attr = at;

	UNUSED_PRINT;
	str_addf(out, "%llu bytes", (unsigned long long)attr->n);
}

/* ---- TEXT_POKE: the two lengths before it say how many bytes follow ---- */
DECODE(code)
{
	struct record_body *b = s->body;
	struct record_bytes code = { (uint64_t)b->text_poke.old_len + b->text_poke.new_len, NULL };

	(void)f;
	code.v = cursor_bytes(&s->c, code.n);
	if (!code.v)
		s->why = "its code is longer than the record";
	memcpy(at, &code, sizeof(code));
}

ENCODE(code)
{
	rest_bytes_encode(out, start, f, body, event, at);
	str_pad(out, '\0', round_up(out->len - start, 8) - (out->len - start));
}

PRINT(code)
{
	const struct record_bytes *code = at;

	(void)f;
	str_add(out, "old ");
	add_hex(out, code->v, body->text_poke.old_len);
	str_add(out, " new ");
	add_hex(out, code->v + body->text_poke.old_len, body->text_poke.new_len);
}

/* ---- READ: counter values in the layout of the event's read_format ---- */
DECODE(read)
{
	(void)f;
	if (s->body->event)
		s->why =
			read_values_decode(s->decoder, s->body->event->attr.read_format, &s->c, at);
	else
		s->why = "its event, and so the layout of its values, is not known";
}

ENCODE(read)
{
	const struct read_values *values = at;

	(void)start, (void)f, (void)body;
	read_values_encode(values, event ? event->attr.read_format : values->format, out);
}

PRINT(read)
{
	UNUSED_PRINT;
	read_values_print(at, out);
}

/* ---- THREAD_MAP ---- */
enum { THREAD_BYTES = 24 };

struct record_thread record_threads_get(const struct record_threads *threads, size_t i)
{
	const uint8_t *p = threads->data + i * THREAD_BYTES;
	struct record_thread thread = { .pid = load_u64(p, threads->swap) };

	memcpy(thread.comm, p + 8, sizeof(thread.comm));
	return thread;
}

DECODE(threads)
{
	struct record_threads threads = { cursor_u64(&s->c), NULL, s->c.swap };

	(void)f;
	if (threads.n > cursor_left(&s->c) / THREAD_BYTES)
		s->why = "more threads than the record has room for";
	else
		threads.data = cursor_bytes(&s->c, threads.n * THREAD_BYTES);
	memcpy(at, &threads, sizeof(threads));
}

ENCODE(threads)
{
	const struct record_threads *threads = at;

	UNUSED_ENCODE;
	put_u64(out, threads->n);
	if (threads->n)
		str_addn(out, (const char *)threads->data, threads->n * THREAD_BYTES);
}

PRINT(threads)
{
	const struct record_threads *threads = at;

	UNUSED_PRINT;
	str_addf(out, "nr: %llu", (unsigned long long)threads->n);
	for (uint64_t i = 0; i < threads->n; i++) {
		struct record_thread t = record_threads_get(threads, i);

		str_addf(out, " thread: %lld", (long long)t.pid);
		if (t.comm[0]) {
			str_addc(out, ' ');
			str_add_printable(out, t.comm, strnlen(t.comm, sizeof(t.comm)));
		}
	}
}

#define KIND(name, dec, enc, pr)                                                                   \
	const struct field_kind field_##name = { dec##_decode, enc##_encode, pr##_show }
#define QUIET(name) const struct field_kind field_##name = { name##_decode, name##_encode, NULL }
KIND(u8, u8, u8, u8);
KIND(u16, u16, u16, u16);
KIND(u32, u32, u32, u32);
KIND(s32, s32, s32, s32);
KIND(u64, u64, u64, u64);
KIND(hex32, u32, u32, hex32);
KIND(hex64, u64, u64, hex64);
QUIET(zeros);
KIND(chars, chars, chars, chars);
KIND(hexes, chars, chars, hexes);
KIND(text, text, text, text);
KIND(words, words, words, words);
KIND(rest_words, rest_words, rest_words, words);
KIND(rest_bytes, rest_bytes, rest_bytes, rest_bytes);
KIND(attr, attr, rest_bytes, attr);
KIND(code, code, code, code);
KIND(read, read, read, read);
KIND(threads, threads, threads, threads);
