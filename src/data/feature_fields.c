/* SPDX-License-Identifier: MIT */
/*
 * feature_fields.c: the walks over a feature's fields (reading, writing, words, release), and the kinds
 * that most features are made of: texts and lists, whose elements are fields again.
 *
 * To add a kind: its functions and one `const struct feature_kind`, here or in the feature_*.c file of
 * its subject; its name in feature.h.
 */
#include "data/feature.h"

#include <stdlib.h>

/* ---- the walks ---- */
void feature_fields_read(struct feature_reading *r, const struct feature_field *fields, void *base)
{
	for (const struct feature_field *f = fields; f->kind && !r->why && !r->c.bad; f++)
		if (f->kind->read)
			f->kind->read(r, f, (char *)base + f->at);
}

void feature_fields_write(const struct feature_telling *t, const struct feature_field *fields,
			  const void *base)
{
	for (const struct feature_field *f = fields; f->kind; f++)
		if (f->kind->write)
			f->kind->write(t, f, (const char *)base + f->at);
}

void feature_fields_release(struct info *info, const struct feature_field *fields, void *base)
{
	for (const struct feature_field *f = fields; f->kind; f++)
		if (f->kind->release)
			f->kind->release(info, f, (char *)base + f->at);
}

/* Adds it in so many columns, to the right; below 0 to the left. */
static void cell_print(const struct feature_telling *t, const struct feature_field *f, const void *at,
		       int columns)
{
	struct str shown = STR_INIT;
	struct feature_telling cell = *t;

	cell.out = &shown;
	f->kind->print(&cell, f, at);
	str_addf(t->out, "%*s", columns, shown.s);
	str_release(&shown);
}

void feature_words(const struct feature_telling *t, const char *words,
		   const struct feature_field *fields, const void *base)
{
	for (;;) {
		const struct feature_field *f = fields;
		size_t n = strcspn(words, "{");
		const void *at;

		str_addn(t->out, words, n);
		words += n;
		if (!*words++)
			return;
		n = strcspn(words, ":}");
		while (strncmp(f->name, words, n) || f->name[n])
			f++;
		at = (const char *)base + f->at;
		if (words[n] == ':')
			cell_print(t, f, at, (int)strtol(words + n + 1, NULL, 10));
		else
			f->kind->print(t, f, at);
		words += strcspn(words, "}") + 1;
	}
}

/* ---- texts ---- */
char *feature_text_read(struct cursor *c)
{
	uint32_t len = cursor_u32(c);
	const uint8_t *p = cursor_bytes(c, len);

	return p ? xstrndup((const char *)p, len) : NULL;
}

void feature_text_write(struct str *out, const char *text)
{
	enum { TEXT_ALIGN = 64 };
	size_t start = out->len;

	put_u32(out, (uint32_t)round_up(strlen(text ? text : "") + 1, TEXT_ALIGN));
	put_text(out, start + sizeof(uint32_t), text ? text : "", TEXT_ALIGN);
}

void feature_text_print(struct str *out, const char *text)
{
	if (text)
		str_add_printable(out, text, strlen(text));
}

FEATURE_READ(text)
{
	*(char **)at = feature_text_read(&r->c);
}

FEATURE_WRITE(text)
{
	feature_text_write(t->out, *(char *const *)at);
}

FEATURE_PRINT(text)
{
	feature_text_print(t->out, *(char *const *)at);
}

FEATURE_RELEASE(text)
{
	free(*(char **)at);
	*(char **)at = NULL;
}

/* ---- lists: a count, unless there is always one, then the elements' fields ---- */
struct vec { /* any vector of struct info */
	char *v;
	size_t n, cap;
};

/* Copied, as the member has another type of pointer. */
static struct vec vec_load(const void *at)
{
	struct vec vec;

	memcpy(&vec, at, sizeof(vec));
	return vec;
}

void *feature_next(void *at, size_t element_bytes)
{
	struct vec vec = vec_load(at);

	if (vec.n >= vec.cap) {
		vec.cap = vec.cap ? vec.cap + vec.cap / 2 : 8;
		vec.v = xreallocarray(vec.v, vec.cap, element_bytes);
	}
	vec.n++;
	memcpy(at, &vec, sizeof(vec));
	return memset(vec.v + (vec.n - 1) * element_bytes, 0, element_bytes);
}

void feature_list_read(struct feature_reading *r, const struct feature_field *f, void *at)
{
	uint64_t n = f->n == 8 ? cursor_u64(&r->c) : f->n == 4 ? cursor_u32(&r->c) : 1;

	for (uint64_t i = 0; i < n && !r->c.bad && !r->why; i++)
		feature_fields_read(r, f->list->fields, feature_next(at, f->list->element_bytes));
}

void feature_list_write(const struct feature_telling *t, const struct feature_field *f,
			const void *at)
{
	const struct vec vec = vec_load(at);
	const uint64_t n = vec.n;

	str_addn(t->out, (const char *)&n, f->n);
	for (size_t i = 0; i < vec.n; i++)
		feature_fields_write(t, f->list->fields, vec.v + i * f->list->element_bytes);
}

void feature_list_print(const struct feature_telling *t, const struct feature_field *f,
			const void *at)
{
	const struct feature_list *list = f->list;
	const struct vec vec = vec_load(at);

	for (size_t i = 0; i < vec.n; i++) {
		str_add(t->out, i ? list->between : "");
		feature_words(t, list->words, list->fields, vec.v + i * list->element_bytes);
	}
}

void feature_list_release(struct info *info, const struct feature_field *f, void *at)
{
	struct vec vec = vec_load(at);

	for (size_t i = 0; i < vec.n; i++)
		feature_fields_release(info, f->list->fields, vec.v + i * f->list->element_bytes);
	free(vec.v);
	memset(at, 0, sizeof(vec));
}

FEATURE_PRINT(count)
{
	str_addf(t->out, "%zu", vec_load(at).n);
}

const struct feature_kind feature_text = { text_read, text_write, text_print, text_release };
const struct feature_kind feature_list = { feature_list_read, feature_list_write,
					   feature_list_print, feature_list_release };
const struct feature_kind feature_count = { NULL, NULL, count_print, NULL };
