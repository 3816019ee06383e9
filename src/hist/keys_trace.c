/*
 * Keys of tracepoints: the whole text, and single fields by name. A sample's FACT_TRACE is one text of
 * pieces, one for each field key and then the tracepoint's own text, where they are wanted; a key's value
 * is the number of its piece.
 */
#include "hist/keys_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { PIECE_END = '\x1f' };

struct field_key {
	struct sort_key row; /* what the report sees */
	char *event; /* part of a name, a whole one with ':', "%2"; NULL: any that has the field */
	char *field;
	bool raw; /* as a number, not as the event's text has it */
	size_t piece;
};

bool table_open_tracepoints(struct table *table, struct str *err)
{
	if (table->tracepoints)
		return true;
	table->tracepoints = tracepoints_new(table->session->recording, err);
	if (!table->tracepoints)
		return false;
	tracepoints_name_functions(table->tracepoints, session_function, table->session);
	if (table->options.raw_trace)
		tracepoints_print_raw(table->tracepoints);
	return true;
}

/* ---- while reading: a sample's text ---- */

static bool event_matches(const struct table *table, const struct field_key *key,
			  const struct data_event *event)
{
	const struct events *events = table->session->recording->events;
	uint64_t number;

	if (event->attr.type != PERF_TYPE_TRACEPOINT)
		return false;
	if (!key->event)
		return true;
	if (key->event[0] == '%')
		return !parse_u64(key->event + 1, 10, &number) && number && number <= events->n &&
		       events->v[number - 1] == event;
	if (!event->name)
		return false;
	return strchr(key->event, ':') ? !strcmp(event->name, key->event)
				       : strstr(event->name, key->event) != NULL;
}

/* The word behind "name=" in a tracepoint's text; false: it is not there. */
static bool add_word(const char *text, const char *name, struct str *out)
{
	size_t len = strlen(name);

	while (text) {
		text += strspn(text, " ");
		if (!strncmp(text, name, len) && text[len] == '=') {
			str_addn(out, text + len + 1, strcspn(text + len + 1, " "));
			return true;
		}
		text = strchr(text, ' ');
	}
	return false;
}

static void add_piece(struct table *table, const struct field_key *key, const char *text,
		      const struct data_event *event, const struct sample *sample, struct str *out)
{
	struct str value = STR_INIT;
	int64_t number;
	bool is_number;

	if (event_matches(table, key, event) &&
	    tracepoint_value(table->tracepoints, event, sample, key->field, &value, &number,
			     &is_number) &&
	    (key->raw || table->options.raw_trace || !add_word(text, key->field, out)))
		str_add(out, value.s);
	str_release(&value);
}

void table_trace_text(struct table *table, const struct data_event *event,
		       const struct sample *sample, struct str *out)
{
	const struct table_private *private = table->private;
	struct str text = STR_INIT;

	if (!table->tracepoints || event->attr.type != PERF_TYPE_TRACEPOINT ||
	    !tracepoint_print(table->tracepoints, event, sample, &text))
		str_add(&text, "N/A");
	for (size_t i = 0; i < private->n_field_keys; i++) {
		if (table->tracepoints)
			add_piece(table, private->field_keys[i], text.s, event, sample, out);
		str_addc(out, PIECE_END);
	}
	if (private->trace_text)
		str_addn(out, text.s, text.len);
	str_release(&text);
}

/* ---- values ---- */

static uint64_t piece_value(const struct key_source *source, size_t piece)
{
	struct table *table = source->table;
	const char *text = texts_get(table->profile->texts, (uint32_t)source_fact(source, FACT_TRACE));

	for (; piece; piece--) {
		const char *end = strchr(text, PIECE_END);

		text = end ? end + 1 : "";
	}
	return table_name(table, text, strcspn(text, "\x1f"));
}

KEY_VALUE(value_trace)
{
	return piece_value(source, source->table->private->n_field_keys);
}

KEY_VALUE(value_field)
{
	const struct table_private *private = source->table->private;

	for (size_t i = 0; i < private->n_field_keys; i++)
		if (&private->field_keys[i]->row == source->key)
			return piece_value(source, private->field_keys[i]->piece);
	return 0;
}

/* perf compares a field's bytes in memory, the greater first. */
KEY_COMPARE(compare_fields)
{
	const char *x = texts_get(table->private->cache->names, (uint32_t)a);
	const char *y = texts_get(table->private->cache->names, (uint32_t)b);
	uint64_t m, n;

	if (parse_u64(x, 10, &m) || parse_u64(y, 10, &n))
		return strcmp(y, x);
	m = __builtin_bswap64(m);
	n = __builtin_bswap64(n);
	return (m < n) - (m > n);
}

/* A field that is a number is one in its text, which all samples that have it share. */
static KEY_NUMBER(field_number)
{
	return !parse_u64(texts_get(table->private->cache->names, (uint32_t)value), 10, number);
}

/* ---- making the keys ---- */

static bool event_field(const struct table *table, const struct field_key *key,
			const struct data_event *event, struct tracepoint_field *field)
{
	if (!event_matches(table, key, event))
		return false;
	for (size_t i = 0; tracepoint_field(table->tracepoints, event, i, field); i++)
		if (!strcmp(field->name, key->field))
			return true;
	return false;
}

/* Perf's width: of the text, or of the number in hexadecimal digits. */
static bool find_field(struct table *table, const struct field_key *key, unsigned *width)
{
	const struct events *events = table->session->recording->events;
	struct tracepoint_field field;

	for (size_t i = 0; i < events->n; i++) {
		if (!event_field(table, key, events->v[i], &field))
			continue;
		*width = field.is_string ? field.size : field.size * 2 + 2;
		return true;
	}
	return false;
}

bool key_is_of_event(const struct table *table, const struct sort_key *key,
		     const struct data_event *event)
{
	const struct table_private *private = table->private;
	struct tracepoint_field field;

	for (size_t i = 0; i < private->n_field_keys; i++)
		if (&private->field_keys[i]->row == key)
			return event_field(table, private->field_keys[i], event, &field);
	return true;
}

static void field_key_free(struct field_key *key)
{
	free(key->event);
	free(key->field);
	free(key);
}

static struct field_key *field_key_parse(const char *name, size_t len)
{
	struct field_key *key = xcalloc(1, sizeof(*key));
	const char *dot = memchr(name, '.', len);
	const char *field = dot ? dot + 1 : name;
	size_t field_len = len - (size_t)(field - name);

	if (dot)
		key->event = xstrndup(name, (size_t)(dot - name));
	key->raw = field_len > 4 && !strncmp(field + field_len - 4, "/raw", 4);
	key->field = xstrndup(field, key->raw ? field_len - 4 : field_len);
	return key;
}

/* A word may stand both in -s and in -F: NULL, or the key that it was the first time. */
static const struct field_key *find_known(const struct table_private *private, const struct field_key *key)
{
	for (size_t i = 0; i < private->n_field_keys; i++) {
		const struct field_key *known = private->field_keys[i];

		if (known->raw == key->raw && text_same(known->event, key->event) &&
		    text_same(known->field, key->field))
			return known;
	}
	return NULL;
}

int field_key_new(struct table *table, const char *name, size_t len, const struct sort_key **key,
		  struct str *err)
{
	struct table_private *private = table->private;
	const struct field_key *known;
	struct str why = STR_INIT;
	struct field_key *made;
	unsigned width = 0;

	(void)err;
	if (!table_open_tracepoints(table, &why)) {
		str_release(&why);
		return 0;
	}
	made = field_key_parse(name, len);
	known = find_known(private, made);
	if (known) {
		field_key_free(made);
		*key = &known->row;
		return 1;
	}
	if (!find_field(table, made, &width)) {
		field_key_free(made);
		return 0;
	}
	made->piece = private->n_field_keys;
	made->row = (struct sort_key){ .name = made->field,
				       .header = made->field,
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
	*key = &made->row;
	return 1;
}

void field_keys_free(struct table *table)
{
	struct table_private *private = table->private;

	for (size_t i = 0; i < private->n_field_keys; i++)
		field_key_free(private->field_keys[i]);
	free(private->field_keys);
}
