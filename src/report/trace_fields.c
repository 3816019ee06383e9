/*
 * trace_fields: the fields of tracepoints as text and as numbers, by libtraceevent, from the formats that the
 * recording carries.
 *
 * The library trusts what it is given. So it gets no format that trace_format.c does not know to be harmless;
 * what it made of a format is gone through once, and what could read beyond a sample is printed field by
 * field; and every field's place is checked before a sample is printed. It is loaded when the first
 * tracepoint is.
 */
#include "report/session.h"
#include "report/trace_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <traceevent/event-parse.h>

#define LIBTRACEEVENT "libtraceevent.so.1"

#define FUNCTIONS(FN)                                                                               \
	FN(tep_alloc) FN(tep_free) FN(tep_find_event) FN(tep_print_event) FN(tep_parse_event)       \
	FN(tep_set_long_size) FN(tep_set_page_size) FN(tep_set_file_bigendian)                      \
	FN(tep_event_fields) FN(tep_find_any_field) FN(tep_read_number_field)                       \
	FN(tep_register_print_string) FN(tep_set_function_resolver) FN(tep_set_loglevel)            \
	FN(trace_seq_init) FN(trace_seq_destroy) FN(trace_seq_terminate)

struct libtraceevent {
#define MEMBER(name) __typeof__(name) *name;
	FUNCTIONS(MEMBER)
#undef MEMBER
};

static const struct library_symbol library_symbols[] = {
#define SYMBOL(name) { #name, offsetof(struct libtraceevent, name) },
	FUNCTIONS(SYMBOL)
#undef SYMBOL
};

enum {
	RAW_PADDING = 64, /* NULs behind a sample's bytes: texts end, an address family can be read */
	COUNTED_MAX = 32, /* arrays in a text that are as long as the sample says */
};

struct format_fields { /* of one event, looked up once */
	bool tried;
	struct tep_event *tep;
	struct tep_format_field **v; /* ends in NULL */
	size_t n;
	const struct tep_print_arg *counted[COUNTED_MAX]; /* HEX, HEX_STR, INT_ARRAY */
	size_t n_counted;
};

struct tracepoints {
	struct libtraceevent lib;
	void *library;
	struct tep_handle *tep;
	struct session *session; /* whose kernel functions are named; NULL: none are */
	const char *info; /* TEP_PRINT_INFO, TEP_PRINT_INFO_RAW */
	bool swap; /* samples are of the other byte order */
	struct format_fields *events; /* by index of the event */
	size_t n_events;
	struct trace_seq seq;
	bool seq_ready;
	struct str raw; /* a sample's bytes and RAW_PADDING */
	size_t raw_len;
};

/* ---- formats ---- */

static void take_head(void *context, bool big_endian, unsigned long_bytes, uint32_t page_bytes)
{
	struct tracepoints *t = context;
	const uint16_t one = 1;

	t->swap = big_endian == (*(const uint8_t *)&one == 1);
	t->lib.tep_set_file_bigendian(t->tep, big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	t->lib.tep_set_long_size(t->tep, (int)long_bytes);
	t->lib.tep_set_page_size(t->tep, page_bytes > INT32_MAX ? INT32_MAX : (int)page_bytes);
}

static void take_format(void *context, const char *system, const char *text, size_t len)
{
	struct tracepoints *t = context;
	size_t fields_len;

	switch (trace_format_check(text, len, &fields_len)) {
	case TRACE_FORMAT_NOTHING:
		return;
	case TRACE_FORMAT_FIELDS:
		len = fields_len;
		break;
	case TRACE_FORMAT_ALL:
		break;
	}
	/* Of a format that the library does not understand it prints the fields one by one. */
	t->lib.tep_parse_event(t->tep, text, len, system);
}

static void take_text(void *context, uint64_t address, const char *text)
{
	struct tracepoints *t = context;

	/* The library takes off a last quote and the two letters before it, without asking how long it is. */
	str_reset(&t->raw);
	str_addf(&t->raw, "%s\"", text);
	if (t->raw.len >= 3)
		t->lib.tep_register_print_string(t->tep, t->raw.s, address);
}

static int read_formats(struct tracepoints *t, const struct info *info, struct str *err)
{
	const struct trace_sections sections = { t, take_head, take_format, take_text };

	if (trace_sections_read(info->tracing_data, info->tracing_data_size, &sections) == TRACE_FOREIGN)
		return fail(err, -EINVAL, "the recording's formats of tracepoints are broken");
	return 0;
}

int trace_fields_try(struct str *err)
{
	struct libtraceevent lib;

	return library_load(LIBTRACEEVENT, library_symbols, ARRAY_SIZE(library_symbols), &lib, err) ? 0
												  : -ENOENT;
}

struct tracepoints *tracepoints_new(const struct reader *reader, struct str *err)
{
	const struct info *info = &reader->info;
	struct tracepoints *t;

	if (!info->tracing_data || !info->tracing_data_size) {
		fail(err, 0, "the recording has no formats of tracepoints");
		return NULL;
	}
	t = xcalloc(1, sizeof(*t));
	t->info = TEP_PRINT_INFO;
	str_init(&t->raw);
	t->library = library_load(LIBTRACEEVENT, library_symbols, ARRAY_SIZE(library_symbols), &t->lib, err);
	if (t->library) {
		t->lib.tep_set_loglevel(TEP_LOG_NONE);
		t->tep = t->lib.tep_alloc();
	}
	if (t->tep && !read_formats(t, info, err)) {
		t->lib.trace_seq_init(&t->seq);
		t->seq_ready = true;
		return t;
	}
	tracepoints_free(t);
	return NULL;
}

void tracepoints_free(struct tracepoints *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_events; i++)
		free(t->events[i].v);
	free(t->events);
	if (t->seq_ready)
		t->lib.trace_seq_destroy(&t->seq);
	if (t->tep)
		t->lib.tep_free(t->tep);
	str_release(&t->raw);
	free(t);
}

/* ---- functions of the kernel ---- */

static char *name_function(void *context, unsigned long long *address, char **module)
{
	struct tracepoints *t = context;
	const struct replay *replay = &t->session->replay;
	const struct symbol *symbol;
	struct place place;

	*module = NULL;
	if (!replay->n_threads)
		return NULL;
	replay_place(&t->session->replay, replay->threads[0], MISC_KERNEL, *address, &place);
	symbol = place.dso ? symbols_find(t->session->symbols, place.dso, place.addr) : NULL;
	if (!symbol)
		return NULL;
	*address = symbol->start;
	return (char *)(uintptr_t)symbol->name; /* the library only reads it */
}

void tracepoints_name_functions(struct tracepoints *t, struct session *session)
{
	t->session = session;
	t->lib.tep_set_function_resolver(t->tep, name_function, t);
}

/* ---- what the library made of a format ---- */

static bool has_field(const struct tracepoints *t, const struct format_fields *f, const char *name)
{
	return name && t->lib.tep_find_any_field(f->tep, name);
}

static struct tep_format_field *field_of(const struct tracepoints *t, const struct format_fields *f,
					 const struct tep_print_arg *arg)
{
	if (arg->type == TEP_PRINT_DYNAMIC_ARRAY || arg->type == TEP_PRINT_DYNAMIC_ARRAY_LEN)
		return arg->dynarray.field;
	if (arg->type == TEP_PRINT_FIELD && arg->field.name)
		return t->lib.tep_find_any_field(f->tep, arg->field.name);
	return NULL;
}

/* A number of the format's text; 0: it is none. */
static uint64_t constant_of(const struct tep_print_arg *arg)
{
	return arg && arg->type == TEP_PRINT_ATOM && arg->atom.atom ? strtoull(arg->atom.atom, NULL, 0) : 0;
}

static bool check_arg(const struct tracepoints *t, struct format_fields *f, const struct tep_print_arg *arg);

static bool check_op(const struct tracepoints *t, struct format_fields *f, const struct tep_print_arg *arg)
{
	const struct tep_print_arg *left = arg->op.left, *right = arg->op.right;
	const struct tep_format_field *field;
	char op = arg->op.op ? *arg->op.op : '\0';

	if (!op || !left || !right)
		return false;
	if ((op == '/' || op == '%') && !constant_of(right))
		return false;
	if (op == '?' && (right->type != TEP_PRINT_OP || !right->op.op || *right->op.op != ':'))
		return false;
	if (op == '[') {
		field = left->type == TEP_PRINT_FIELD ? field_of(t, f, left) : NULL;
		if (!field || right->type != TEP_PRINT_ATOM || field->size < 0 ||
		    (constant_of(right) + 1) * field->elementsize > (uint64_t)field->size ||
		    constant_of(right) > (uint64_t)field->size)
			return false;
	}
	return check_arg(t, f, left) && check_arg(t, f, right);
}

/* An array as long as an expression says: count_of must be able to work that out for each sample. */
static bool check_counted(const struct tracepoints *t, struct format_fields *f, const struct tep_print_arg *arg)
{
	const struct tep_print_arg *array = arg->hex.field, *size = arg->hex.size;

	_Static_assert(offsetof(struct tep_print_arg, hex.size) ==
			       offsetof(struct tep_print_arg, int_array.count),
		       "both begin with the array and its count");
	if (!array || !size || !field_of(t, f, array) || f->n_counted == COUNTED_MAX)
		return false;
	if (arg->type == TEP_PRINT_INT_ARRAY && !constant_of(arg->int_array.el_size))
		return false;
	f->counted[f->n_counted++] = arg;
	return check_arg(t, f, size);
}

/* Nothing in it makes the library go where there is nothing. */
static bool check_arg(const struct tracepoints *t, struct format_fields *f, const struct tep_print_arg *arg)
{
	if (!arg)
		return false;
	switch (arg->type) {
	case TEP_PRINT_NULL:
		return true;
	case TEP_PRINT_ATOM:
		return arg->atom.atom;
	case TEP_PRINT_FIELD:
	case TEP_PRINT_DYNAMIC_ARRAY:
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		return field_of(t, f, arg);
	case TEP_PRINT_FLAGS:
		return check_arg(t, f, arg->flags.field);
	case TEP_PRINT_SYMBOL:
		return check_arg(t, f, arg->symbol.field);
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
	case TEP_PRINT_INT_ARRAY:
		return check_counted(t, f, arg);
	case TEP_PRINT_TYPE:
		return check_arg(t, f, arg->typecast.item);
	case TEP_PRINT_STRING:
		return has_field(t, f, arg->string.string);
	case TEP_PRINT_BITMASK:
		return has_field(t, f, arg->bitmask.bitmask);
	case TEP_PRINT_OP:
		return check_op(t, f, arg);
	default:
		return false;
	}
}

static void look_up(struct tracepoints *t, struct format_fields *f, uint64_t id)
{
	const struct tep_print_arg *arg;

	f->tried = true;
	f->tep = id <= UINT16_MAX ? t->lib.tep_find_event(t->tep, (int)id) : NULL;
	/* Texts of trace_printk have formats in their samples; no event that is sampled is one. */
	if (!f->tep || (f->tep->flags & TEP_EVENT_FL_ISBPRINT))
		return;
	f->v = t->lib.tep_event_fields(f->tep);
	while (f->v && f->v[f->n])
		f->n++;
	for (arg = f->tep->print_fmt.args; arg; arg = arg->next) {
		if (check_arg(t, f, arg))
			continue;
		f->tep->flags |= (int)TEP_EVENT_FL_FAILED; /* the library then prints field by field */
		f->n_counted = 0;
		return;
	}
}

static struct format_fields *fields_of(struct tracepoints *t, const struct data_event *event)
{
	struct format_fields *f;

	if (event->attr.type != PERF_TYPE_TRACEPOINT)
		return NULL;
	if (event->index >= t->n_events) {
		size_t n = event->index + 16;

		t->events = xreallocarray(t->events, n, sizeof(*t->events));
		memset(t->events + t->n_events, 0, (n - t->n_events) * sizeof(*t->events));
		t->n_events = n;
	}
	f = &t->events[event->index];
	if (!f->tried)
		look_up(t, f, event->attr.config);
	return f->v ? f : NULL;
}

/* ---- a sample ---- */

/* Where a field's bytes are; false: not all of them are in the sample. */
static bool field_place(const struct tracepoints *t, const struct tep_format_field *field, size_t *at,
			size_t *len)
{
	uint64_t offset = (uint64_t)(field->offset < 0 ? INT32_MAX : field->offset);
	uint64_t size = (uint64_t)(field->size < 0 ? INT32_MAX : field->size);
	uint32_t where;

	if (offset + size > t->raw_len)
		return false;
	*at = (size_t)offset;
	*len = (size_t)size;
	if (!(field->flags & TEP_FIELD_IS_DYNAMIC))
		return true;
	if (size != sizeof(where))
		return false;
	memcpy(&where, t->raw.s + offset, sizeof(where));
	if (t->swap)
		where = __builtin_bswap32(where);
	*at = (where & 0xffff) + (field->flags & TEP_FIELD_IS_RELATIVE ? (size_t)(offset + size) : 0);
	*len = where >> 16;
	return *at + *len <= t->raw_len;
}

/* The value of an array's count; false: it is of a kind that nobody writes. */
static bool count_of(const struct tracepoints *t, const struct format_fields *f,
		     const struct tep_print_arg *arg, uint64_t *count)
{
	struct tep_format_field *field = field_of(t, f, arg);
	unsigned long long value;
	size_t at, len;

	if (arg->type == TEP_PRINT_OP && *arg->op.op == '/') {
		if (!count_of(t, f, arg->op.left, count))
			return false;
		*count /= constant_of(arg->op.right);
		return true;
	}
	*count = constant_of(arg);
	if (arg->type == TEP_PRINT_ATOM)
		return true;
	if (!field || !field_place(t, field, &at, &len))
		return false;
	*count = len;
	if (arg->type == TEP_PRINT_DYNAMIC_ARRAY_LEN)
		return true;
	if (arg->type != TEP_PRINT_FIELD || t->lib.tep_read_number_field(field, t->raw.s, &value))
		return false;
	*count = (uint32_t)value;
	return true;
}

static bool counted_fits(const struct tracepoints *t, const struct format_fields *f,
			 const struct tep_print_arg *arg)
{
	uint64_t count, element = arg->type == TEP_PRINT_INT_ARRAY ? constant_of(arg->int_array.el_size) : 1;
	const struct tep_format_field *field = field_of(t, f, arg->hex.field);
	size_t at, len;

	return field && field_place(t, field, &at, &len) && count_of(t, f, arg->hex.size, &count) &&
	       count <= t->raw_len && element <= t->raw_len && at + count * element <= t->raw_len;
}

/* Takes the sample's bytes, if all fields of the format are in them. */
static bool take_raw(struct tracepoints *t, const struct format_fields *f, const struct sample *sample)
{
	uint16_t type;
	size_t at, len;

	if (!(sample->has & PERF_SAMPLE_RAW) || !sample->raw || sample->raw_size < sizeof(type))
		return false;
	memcpy(&type, sample->raw, sizeof(type));
	if ((t->swap ? __builtin_bswap16(type) : type) != f->tep->id)
		return false;
	str_reset(&t->raw);
	str_addn(&t->raw, (const char *)sample->raw, sample->raw_size);
	str_pad(&t->raw, '\0', RAW_PADDING);
	t->raw_len = sample->raw_size;
	for (size_t i = 0; i < f->n; i++)
		if (!field_place(t, f->v[i], &at, &len))
			return false;
	for (size_t i = 0; i < f->n_counted; i++)
		if (!counted_fits(t, f, f->counted[i]))
			return false;
	return true;
}

void tracepoints_print_raw(struct tracepoints *t)
{
	t->info = TEP_PRINT_INFO_RAW;
}

bool tracepoint_print(struct tracepoints *t, const struct data_event *event, const struct sample *sample,
		      struct str *out)
{
	struct format_fields *f = fields_of(t, event);
	struct tep_record record = { .size = (int)sample->raw_size, .cpu = (int)sample->cpu };

	if (!f || !take_raw(t, f, sample))
		return false;
	record.data = t->raw.s;
	record.ts = sample->time_ns;
	t->seq.len = 0;
	t->lib.tep_print_event(t->tep, &t->seq, &record, "%s", t->info);
	t->lib.trace_seq_terminate(&t->seq);
	if (t->seq.buffer)
		str_add_printable(out, t->seq.buffer, strlen(t->seq.buffer));
	return true;
}

size_t tracepoint_n_fields(struct tracepoints *t, const struct data_event *event)
{
	struct format_fields *f = fields_of(t, event);

	return f ? f->n : 0;
}

bool tracepoint_field(struct tracepoints *t, const struct data_event *event, size_t i,
		      struct tracepoint_field *field)
{
	struct format_fields *f = fields_of(t, event);

	if (!f || i >= f->n)
		return false;
	*field = (struct tracepoint_field){
		.name = f->v[i]->name,
		.is_string = f->v[i]->flags & TEP_FIELD_IS_STRING,
		.is_array = f->v[i]->flags & TEP_FIELD_IS_ARRAY,
		.is_signed = f->v[i]->flags & TEP_FIELD_IS_SIGNED,
		.size = f->v[i]->size > 0 ? (unsigned)f->v[i]->size : 0,
	};
	return true;
}

bool tracepoint_value(struct tracepoints *t, const struct data_event *event, const struct sample *sample,
		      const char *name, struct str *text, int64_t *number, bool *is_number)
{
	struct format_fields *f = fields_of(t, event);
	struct tep_format_field *field = f ? t->lib.tep_find_any_field(f->tep, name) : NULL;
	unsigned long long value;
	size_t at, len;

	if (!field || !take_raw(t, f, sample) || !field_place(t, field, &at, &len))
		return false;
	*is_number = !(field->flags & (TEP_FIELD_IS_STRING | TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC));
	if (field->flags & TEP_FIELD_IS_STRING) {
		str_add_printable(text, t->raw.s + at, strnlen(t->raw.s + at, len));
		return true;
	}
	if (!*is_number) {
		for (size_t i = 0; i < len; i++)
			str_addf(text, "%s%02x", i ? " " : "", (unsigned char)t->raw.s[at + i]);
		return true;
	}
	if (t->lib.tep_read_number_field(field, t->raw.s, &value))
		return false;
	*number = (int64_t)value;
	/* The library does not extend the sign of small fields. */
	if ((field->flags & TEP_FIELD_IS_SIGNED) && len < sizeof(value) && len)
		*number = (int64_t)(value << (64 - 8 * len)) >> (64 - 8 * len);
	str_addf(text, field->flags & TEP_FIELD_IS_SIGNED ? "%lld" : "%llu", (long long)*number);
	return true;
}
