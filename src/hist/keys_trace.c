/* SPDX-License-Identifier: MIT */
/*
 * Keys of tracepoints: the whole text, and single fields by name. A sample's FACT_TRACE is one text of pieces
 * (trace_texts.c), one for each field key and then the tracepoint's own text, where they are wanted; a key's value is
 * the number of its piece's text.
 */
#include "hist/keys_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct field_key {
	struct sort_key row; /* what the report sees */
	struct wanted_field field;
	size_t piece;
};

bool question_open_tracepoints(struct question *question, struct str *err)
{
	struct question_private *private = question->private;

	if (!private->tracepoints)
		private->tracepoints = tracepoints_new(question->recording, err);
	return private->tracepoints;
}

/* ---- values ---- */

static uint64_t piece_value(const struct key_source *source, size_t piece)
{
	struct table *table = source->table;
	const char *text = texts_get(table->profile->texts, (uint32_t)source_fact(source, FACT_TRACE));

	for (; piece; piece--) {
		const char *end = strchr(text, TRACE_PIECE_END);

		text = end ? end + 1 : "";
	}
	return table_name(table, text, strcspn(text, (const char[]){ TRACE_PIECE_END, 0 }));
}

KEY_VALUE(value_trace)
{
	return piece_value(source, source->table->question->private->n_field_keys);
}

KEY_VALUE(value_field)
{
	const struct question_private *private = source->table->question->private;

	for (size_t i = 0; i < private->n_field_keys; i++)
		if (&private->field_keys[i]->row == source->key)
			return piece_value(source, private->field_keys[i]->piece);
	return 0;
}

/* Numbers come first, the greater before the smaller, then texts likewise. */
KEY_COMPARE(compare_fields)
{
	const char *x = texts_get(table->private->cache->names, (uint32_t)a);
	const char *y = texts_get(table->private->cache->names, (uint32_t)b);
	uint64_t m, n;
	const bool is_text = parse_u64(x, 10, &m), other_is_text = parse_u64(y, 10, &n);

	if (is_text != other_is_text)
		return is_text - other_is_text;
	return is_text ? strcmp(y, x) : (m < n) - (m > n);
}

/* A field that is a number is one in its text, which all samples that have it share. */
static KEY_NUMBER(field_number)
{
	return !parse_u64(texts_get(table->private->cache->names, (uint32_t)value), 10, number);
}

/* ---- making the keys ---- */

static bool event_field(const struct question *question, const struct field_key *key, const struct data_event *event,
			struct tracepoint_field *field)
{
	if (!wanted_field_is_of(&key->field, event))
		return false;
	for (size_t i = 0; tracepoint_field(question->private->tracepoints, event, i, field); i++)
		if (!strcmp(field->name, key->field.name))
			return true;
	return false;
}

/* Perf's width: of the text, or of the number in hexadecimal digits. */
static bool find_field(const struct question *question, const struct field_key *key, unsigned *width)
{
	const struct events *events = question->recording->events;
	struct tracepoint_field field;

	for (size_t i = 0; i < events->n; i++) {
		if (!event_field(question, key, events->v[i], &field))
			continue;
		*width = field.is_string ? field.size : field.size * 2 + 2;
		return true;
	}
	return false;
}

bool key_is_of_event(const struct question *question, const struct sort_key *key, const struct data_event *event)
{
	const struct question_private *private = question->private;
	struct tracepoint_field field;

	for (size_t i = 0; i < private->n_field_keys; i++)
		if (&private->field_keys[i]->row == key)
			return event_field(question, private->field_keys[i], event, &field);
	return true;
}

static void field_key_free(struct field_key *key)
{
	wanted_field_release(&key->field);
	free(key);
}

/* A word may stand both in -s and in -F: NULL, or the key that it was the first time. */
static const struct field_key *find_known(const struct question_private *private, const struct wanted_field *field)
{
	for (size_t i = 0; i < private->n_field_keys; i++) {
		const struct wanted_field *known = &private->field_keys[i]->field;

		if (known->raw == field->raw && text_same(known->event, field->event) &&
		    text_same(known->name, field->name))
			return private->field_keys[i];
	}
	return NULL;
}

bool field_key_new(struct question *question, const char *name, size_t len, const struct sort_key **key)
{
	struct question_private *private = question->private;
	const struct field_key *known;
	struct str why = STR_INIT;
	struct field_key *made;
	unsigned width = 0;

	if (!question_open_tracepoints(question, &why)) {
		str_release(&why);
		return false;
	}
	made = xcalloc(1, sizeof(*made));
	wanted_field_parse(&made->field, name, len);
	known = find_known(private, &made->field);
	if (known) {
		field_key_free(made);
		*key = &known->row;
		return true;
	}
	if (!find_field(question, made, &width)) {
		field_key_free(made);
		return false;
	}
	made->piece = private->n_field_keys;
	made->row = (struct sort_key){ .name = made->field.name,
				       .header = made->field.name,
				       .facts = FACT(TRACE),
				       .flags = KEY_HEAD_RIGHT,
				       .min_width = width,
				       .right = true,
				       .value = value_field,
				       .compare = compare_fields,
				       .text = text_name,
				       .type = TABLE_NUMBER,
				       .number = field_number };
	VEC_GROW(private->field_keys, private->n_field_keys, private->cap_field_keys);
	private->field_keys[private->n_field_keys++] = made;
	str_addf(&private->trace_fields, "%s%.*s", private->trace_fields.len ? "," : "", (int)len, name);
	*key = &made->row;
	return true;
}

void field_keys_free(struct question *question)
{
	struct question_private *private = question->private;

	for (size_t i = 0; i < private->n_field_keys; i++)
		field_key_free(private->field_keys[i]);
	free(private->field_keys);
}
