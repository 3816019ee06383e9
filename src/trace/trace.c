/* SPDX-License-Identifier: MIT */
/*
 * The tracepoints of a recording: the formats that TRACING_DATA carries, by the number of their event, and what the
 * formats make of a sample. A format is parsed when the first sample of its event comes, and once, whatever number of
 * events has it. A sample is only shown where all of its format's fields are in its bytes.
 *
 * TRACING_DATA is a file within the recording: a head, then formats of tracepoints by their system, then texts of the
 * kernel by their address.
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
#include "trace/trace.h"
#include "trace/trace_internal.h"

#include <errno.h>
#include <stdlib.h>

struct tracepoint_format { /* of one ID */
	const char *system, *name; /* name NULL: the format is not parsed, or has none */
	const char *text;
	size_t len;
	bool parsed, good; /* good: it has fields */
	bool has_print;
	struct trace_format format;
	struct trace_print print;
};

struct tracing_text {
	uint64_t address;
	const char *text;
	size_t order; /* of two at one address the first counts */
};

struct tracepoints {
	struct arena arena; /* formats, and all that is made of them */
	struct tracepoint_format *v;
	size_t n, cap;
	uint32_t *by_id; /* UINT16_MAX + 1 of them: a place in v and 1; 0: there is none */
	struct tracing_text *texts; /* by address */
	size_t n_texts, cap_texts;
	struct trace_machine machine;
	tracepoint_function_fn *function; /* NULL: the kernel's functions have no names */
	void *function_context;
	bool raw; /* fields one by one, whatever the kernel's format says */
	struct str text; /* of a sample, before it is printable */
	struct tracepoint_data *data; /* of a sample's fields */
	size_t cap_data;
};

/* ---- what TRACING_DATA holds ---- */

static void set_machine(struct tracepoints *t, bool big_endian, unsigned long_bytes)
{
	const uint16_t one = 1;

	t->machine.big_endian = big_endian;
	t->machine.swap = big_endian == (*(const uint8_t *)&one == 1);
	t->machine.long_bytes = long_bytes;
}

static void add_format(struct tracepoints *t, const char *system, const char *text, size_t len)
{
	uint16_t id;

	if (!trace_format_id(text, len, &id) || t->by_id[id])
		return;
	VEC_GROW(t->v, t->n, t->cap);
	t->v[t->n++] = (struct tracepoint_format){
		.system = system,
		.text = arena_strndup(&t->arena, text, len),
		.len = len,
	};
	t->by_id[id] = (uint32_t)t->n;
}

/* The kernel's texts of trace_printk end in a newline, which no line of a report has. */
static void add_text(struct tracepoints *t, uint64_t address, const char *text)
{
	size_t len = strlen(text);

	if (len >= 2 && !strcmp(text + len - 2, "\\n"))
		len -= 2;
	VEC_GROW(t->texts, t->n_texts, t->cap_texts);
	t->texts[t->n_texts] = (struct tracing_text){ address, arena_strndup(&t->arena, text, len), t->n_texts };
	t->n_texts++;
}

/* ---- reading TRACING_DATA ---- */

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

static bool read_head(struct section_cursor *c, struct tracepoints *t)
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
	set_machine(t, big, sizes[1]);
	return true;
}

static void read_formats(struct section_cursor *c, const char *system, struct tracepoints *t)
{
	const char *kept = arena_strndup(&t->arena, system, strlen(system));

	for (uint32_t n = take_u32(c); n && !c->bad; n--) {
		char *text = take_copy(c, take_u64(c));

		if (text)
			add_format(t, kept, text, strlen(text));
		free(text);
	}
}

static void read_texts(struct section_cursor *c, struct tracepoints *t)
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
		add_text(t, strtoull(line, NULL, 16), text);
	}
	free(all);
}

/* False: this is no TRACING_DATA at all. Formats that end early are as many as there are. */
static bool read_tracing_data(struct tracepoints *t, const uint8_t *bytes, size_t size)
{
	struct section_cursor c = { bytes, size, false, false };

	if (!read_head(&c, t))
		return false;
	take_text(&c); /* "header_page" */
	take(&c, take_u64(&c));
	take_text(&c); /* "header_event" */
	take(&c, take_u64(&c));
	read_formats(&c, "ftrace", t);
	for (uint32_t n = take_u32(&c); n && !c.bad; n--)
		read_formats(&c, take_text(&c), t);
	/* The rest only makes some texts better: without it they show addresses. */
	take(&c, take_u32(&c)); /* kallsyms: the session knows the kernel's functions */
	read_texts(&c, t);
	return true;
}

/* ---- the kernel's texts and functions ---- */

static int compare_texts(const void *x, const void *y)
{
	const struct tracing_text *a = x, *b = y;

	if (a->address != b->address)
		return (a->address > b->address) - (a->address < b->address);
	return (a->order > b->order) - (a->order < b->order);
}

static const char *find_text(void *context, uint64_t address)
{
	const struct tracepoints *t = context;
	size_t at = BISECT(i, 0, t->n_texts, t->texts[i].address < address);

	return at < t->n_texts && t->texts[at].address == address ? t->texts[at].text : NULL;
}

static const char *find_function(void *context, uint64_t address, uint64_t *start)
{
	const struct tracepoints *t = context;

	return t->function ? t->function(t->function_context, address, start) : NULL;
}

/* ---- formats ---- */

struct tracepoints *tracepoints_new(const struct recording_info *recording, struct str *err)
{
	const struct info *info = recording->info;
	struct tracepoints *t;

	if (!info->tracing_data || !info->tracing_data_size) {
		fail(err, 0, "the recording has no formats of tracepoints");
		return NULL;
	}
	t = xcalloc(1, sizeof(*t));
	t->by_id = xcalloc(UINT16_MAX + 1, sizeof(*t->by_id));
	t->machine.context = t;
	t->machine.function = find_function;
	t->machine.text = find_text;
	str_init(&t->text);
	if (!read_tracing_data(t, info->tracing_data, info->tracing_data_size)) {
		fail(err, 0, "the recording's formats of tracepoints are broken");
		tracepoints_free(t);
		return NULL;
	}
	if (t->n_texts)
		qsort(t->texts, t->n_texts, sizeof(*t->texts), compare_texts);
	return t;
}

void tracepoints_free(struct tracepoints *t)
{
	if (!t)
		return;
	free(t->v);
	free(t->by_id);
	free(t->texts);
	free(t->data);
	arena_release(&t->arena);
	str_release(&t->text);
	free(t);
}

void tracepoints_name_functions(struct tracepoints *t, tracepoint_function_fn *function, void *context)
{
	t->function = function;
	t->function_context = context;
}

void tracepoints_print_raw(struct tracepoints *t)
{
	t->raw = true;
}

/* The rest of the line "name: sched_switch", which a format begins with. */
static const char *name_of(struct tracepoints *t, const struct tracepoint_format *point)
{
	static const char begins[] = "name: ";
	const char *text = point->text + sizeof(begins) - 1;

	return strncmp(point->text, begins, sizeof(begins) - 1) ? NULL :
								  arena_strndup(&t->arena, text, strcspn(text, "\n"));
}

static void parse(struct tracepoints *t, struct tracepoint_format *point)
{
	point->name = name_of(t, point);
	point->parsed = true;
	point->good = trace_format_parse(&t->arena, point->text, point->len, t->machine.long_bytes, &point->format);
	point->has_print = point->good &&
			   trace_print_parse(&t->arena, &point->format, t->machine.long_bytes, &point->print);
}

static const struct tracepoint_format *find(struct tracepoints *t, const struct data_event *event)
{
	struct tracepoint_format *point;

	if (event->attr.type != PERF_TYPE_TRACEPOINT || event->attr.config > UINT16_MAX ||
	    !t->by_id[event->attr.config])
		return NULL;
	point = &t->v[t->by_id[event->attr.config] - 1];
	if (!point->parsed)
		parse(t, point);
	return point->good ? point : NULL;
}

/* ---- a sample ---- */

/* The sample's bytes; false: it has none, or not all fields of the format are in them. */
static bool take_raw(const struct tracepoints *t, const struct tracepoint_format *point, const struct data_event *event,
		     const struct sample *sample, struct trace_raw *raw)
{
	const struct trace_format *format = &point->format;
	size_t at, len;

	if (!(sample->has & PERF_SAMPLE_RAW) || !sample->raw)
		return false;
	*raw = (struct trace_raw){ sample->raw, sample->raw_size, &t->machine };
	if (raw->len < sizeof(uint16_t) || trace_read(raw, 0, sizeof(uint16_t)) != event->attr.config)
		return false;
	if (raw->len < format->end)
		return false;
	for (size_t i = format->n_common; format->has_dynamic && i < format->n_fields; i++)
		if (!trace_field_place(raw, &format->fields[i], &at, &len))
			return false;
	return true;
}

bool tracepoint_print(struct tracepoints *t, const struct data_event *event, const struct sample *sample,
		      struct str *out)
{
	const struct tracepoint_format *point = find(t, event);
	struct trace_raw raw;

	if (!point || !take_raw(t, point, event, sample, &raw))
		return false;
	str_reset(&t->text);
	if (point->has_print && !t->raw) {
		trace_add_text(&t->text, &raw, &point->print);
	} else {
		if (!t->raw)
			str_add(&t->text, "[FAILED TO PARSE]"); /* perf's words */
		trace_add_fields(&t->text, &raw, &point->format);
	}
	while (t->text.len && t->text.s[t->text.len - 1] == '\n') /* some formats end in one */
		t->text.len--;
	str_add_printable(out, t->text.s, t->text.len);
	return true;
}

size_t tracepoint_n_fields(struct tracepoints *t, const struct data_event *event)
{
	const struct tracepoint_format *point = find(t, event);

	return point ? point->format.n_fields - point->format.n_common : 0;
}

bool tracepoint_field(struct tracepoints *t, const struct data_event *event, size_t i,
		      struct tracepoint_field *field)
{
	const struct tracepoint_format *point = find(t, event);
	const struct trace_field *found;

	if (!point || i >= point->format.n_fields - point->format.n_common)
		return false;
	found = &point->format.fields[point->format.n_common + i];
	*field = (struct tracepoint_field){ .name = found->name,
					    .is_string = found->is_string,
					    .is_array = found->is_array,
					    .is_signed = found->is_signed,
					    .size = found->size };
	return true;
}

bool tracepoint_value(struct tracepoints *t, const struct data_event *event, const struct sample *sample,
		      const char *name, struct str *text, int64_t *number, bool *is_number)
{
	const struct tracepoint_format *point = find(t, event);
	const struct trace_field *field = point ? trace_field_find(&point->format, name, strlen(name)) : NULL;
	struct trace_raw raw;
	size_t at, len;

	if (!field || !take_raw(t, point, event, sample, &raw) || !trace_field_place(&raw, field, &at, &len))
		return false;
	*is_number = !(field->is_string || field->is_array || field->is_dynamic);
	if (field->is_string) {
		const char *bytes = (const char *)raw.bytes + at;

		str_add_printable(text, bytes, strnlen(bytes, len));
		return true;
	}
	if (!*is_number) {
		for (size_t i = 0; i < len; i++)
			str_addf(text, "%s%02x", i ? " " : "", raw.bytes[at + i]);
		return true;
	}
	if (len != 1 && len != 2 && len != 4 && len != 8)
		return false;
	*number = (int64_t)trace_extend(trace_read(&raw, at, len), (uint8_t)len, field->is_signed);
	str_addf(text, field->is_signed ? "%lld" : "%llu", (long long)*number);
	return true;
}

/* False: not all of the field is in the sample. */
static bool fill_data(const struct trace_raw *raw, const struct trace_field *field, struct tracepoint_data *data)
{
	size_t at, len;

	if (!trace_field_place(raw, field, &at, &len))
		return false;
	*data = (struct tracepoint_data){
		.name = field->name,
		.is_text = field->is_string,
		.is_number = !field->is_string && !field->is_array && (len == 1 || len == 2 || len == 4 || len == 8),
		.is_signed = field->is_signed,
		.swap = raw->machine->swap,
		.bytes = raw->bytes + at,
		.len = field->is_string ? strnlen((const char *)raw->bytes + at, len) : len,
	};
	return true;
}

const struct tracepoint_data *tracepoint_all(struct tracepoints *t, const struct data_event *event,
					     const struct sample *sample, size_t *n_common, size_t *n)
{
	const struct tracepoint_format *point = find(t, event);
	struct trace_raw raw;

	if (!point || !(sample->has & PERF_SAMPLE_RAW) || !sample->raw)
		return NULL;
	raw = (struct trace_raw){ sample->raw, sample->raw_size, &t->machine };
	*n = point->format.n_fields;
	*n_common = point->format.n_common;
	while (t->cap_data < *n)
		VEC_GROW(t->data, t->cap_data, t->cap_data);
	for (size_t i = 0; i < *n; i++)
		if (!fill_data(&raw, &point->format.fields[i], &t->data[i]))
			return NULL;
	return t->data;
}

uint64_t tracepoint_number(const struct tracepoint_data *data)
{
	const struct trace_machine machine = { .swap = data->swap };
	const struct trace_raw raw = { data->bytes, data->len, &machine };

	if (!data->is_number)
		return 0;
	return trace_extend(trace_read(&raw, 0, data->len), (uint8_t)data->len, data->is_signed);
}

bool tracepoint_place(struct tracepoints *t, const struct data_event *event, const char *name,
		      struct tracepoint_place *place)
{
	const struct tracepoint_format *point = find(t, event);
	const struct trace_field *field = point ? trace_field_find(&point->format, name, strlen(name)) : NULL;

	if (!field || field->is_dynamic)
		return false;
	*place = (struct tracepoint_place){ .offset = field->offset,
					    .size = field->size,
					    .is_signed = field->is_signed,
					    .is_text = field->is_string,
					    .is_array = field->is_array,
					    .swap = t->machine.swap };
	return field->is_string || field->is_array || field->size == 1 || field->size == 2 || field->size == 4 ||
	       field->size == 8;
}

static inline bool read_place(const struct tracepoint_place *place, const struct sample *sample, uint64_t *number)
{
	const uint8_t *at;
	union {
		uint64_t u64;
		uint32_t u32;
		uint16_t u16;
	} value;

	if (place->size > sample->raw_size || place->offset > sample->raw_size - place->size)
		return false;
	at = sample->raw + place->offset;
	switch (place->size) {
	case sizeof(uint64_t):
		memcpy(&value.u64, at, sizeof(value.u64));
		*number = place->swap ? __builtin_bswap64(value.u64) : value.u64;
		return true;
	case sizeof(uint32_t):
		memcpy(&value.u32, at, sizeof(value.u32));
		value.u32 = place->swap ? __builtin_bswap32(value.u32) : value.u32;
		*number = place->is_signed ? (uint64_t)(int32_t)value.u32 : value.u32;
		return true;
	case sizeof(uint16_t):
		memcpy(&value.u16, at, sizeof(value.u16));
		value.u16 = place->swap ? __builtin_bswap16(value.u16) : value.u16;
		*number = place->is_signed ? (uint64_t)(int16_t)value.u16 : value.u16;
		return true;
	case sizeof(uint8_t):
		*number = place->is_signed ? (uint64_t)(int8_t)*at : *at;
		return true;
	default:
		return false;
	}
}

bool tracepoint_places_read(const struct tracepoint_place *places, size_t n, const struct sample *sample,
			    uint64_t *numbers)
{
	if (!(sample->has & PERF_SAMPLE_RAW) || !sample->raw)
		return false;
	for (size_t i = 0; i < n; i++)
		if (places[i].size && !read_place(&places[i], sample, &numbers[i]))
			return false;
	return true;
}

bool tracepoint_place_read(const struct tracepoint_place *place, const struct sample *sample, uint64_t *number)
{
	return place->size && tracepoint_places_read(place, 1, sample, number);
}

bool tracepoint_names(struct tracepoints *t, const struct data_event *event, const char **system, const char **name)
{
	const struct tracepoint_format *point = find(t, event);

	if (!point || !point->name)
		return false;
	*system = point->system;
	*name = point->name;
	return true;
}

/* The field that an expression is about: the first in it. */
static const char *field_in(const struct trace_node *node)
{
	const char *name = NULL;

	if (!node)
		return NULL;
	if (node->kind == TRACE_FIELD)
		return node->field->name;
	name = field_in(node->a);
	return name ? name : field_in(node->b);
}

static void tell_names(const struct trace_node *node, tracepoint_name_fn *tell, void *context)
{
	const char *field;

	if (!node)
		return;
	if (node->kind != TRACE_FLAGS && node->kind != TRACE_SYMBOL) {
		tell_names(node->a, tell, context);
		tell_names(node->b, tell, context);
		tell_names(node->c, tell, context);
		return;
	}
	field = field_in(node->a);
	for (size_t i = 0; field && i < node->n_names; i++)
		if (node->names[i].known)
			tell(context, field, node->kind == TRACE_FLAGS ? node->text : NULL, node->names[i].value,
			     node->names[i].text);
}

void tracepoint_value_names(struct tracepoints *t, const struct data_event *event, tracepoint_name_fn *tell,
			    void *context)
{
	const struct tracepoint_format *point = find(t, event);

	for (size_t i = 0; point && point->has_print && i < point->print.n; i++)
		tell_names(point->print.pieces[i].arg, tell, context);
}
