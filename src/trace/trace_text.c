/*
 * The text of a sample: the pieces of its print format, or its fields one by one. Nothing is allocated but the
 * text, which ends at a bound that grows with the sample.
 */
#include "trace/trace_internal.h"

#include <ctype.h>
#include <limits.h>

enum {
	TEXT_BASE = 16 << 10, /* of a sample's text, */
	TEXT_PER_BYTE = 8, /* and as much for each of its bytes: "0xff," of an array is 5 */
	STAR_MAX = 4096, /* of a width that an argument gives */
};

struct text {
	struct str *out;
	const struct trace_raw *raw;
	size_t end; /* where it has to end */
};

static bool is_full(const struct text *t)
{
	return t->out->len >= t->end;
}

static const struct trace_spec hex = { .conversion = 'x', .bytes = 8, .width = -1, .precision = -1 };
static const struct trace_spec hex_0x = { .conversion = 'x', .bytes = 8, .width = -1, .precision = -1,
					  .alternate = true };

static const struct trace_spec decimal = { .conversion = 'd', .bytes = 8, .width = -1, .precision = -1 };

static void add_0x(struct str *out, uint64_t value)
{
	str_add(out, "0x");
	trace_add_number(out, &hex, value);
}

/* ---- names of values ---- */

/* Values are compared as wide as they are, and at least as an int is. */
static unsigned width_of(const struct trace_node *value)
{
	return value->bytes < 4 ? 4 : value->bytes;
}

static void add_flags(struct text *t, const struct trace_node *node)
{
	uint8_t width = (uint8_t)width_of(node->a);
	uint64_t value = trace_extend(trace_eval(t->raw, node->a), node->a->bytes, false);
	size_t start = t->out->len;

	for (size_t i = 0; i < node->n_names && !is_full(t); i++) {
		uint64_t bits = trace_extend(node->names[i].value, width, false);

		if (!node->names[i].known || !bits || (value & bits) != bits)
			continue;
		if (t->out->len > start)
			str_add(t->out, node->text);
		str_add(t->out, node->names[i].text);
		value &= ~bits;
	}
	if (!value)
		return;
	if (t->out->len > start)
		str_add(t->out, node->text);
	add_0x(t->out, value);
}

static void add_symbol(struct text *t, const struct trace_node *node)
{
	uint8_t width = (uint8_t)width_of(node->a);
	uint64_t value = trace_eval(t->raw, node->a), compared = trace_extend(value, width, false);

	for (size_t i = 0; i < node->n_names; i++) {
		if (!node->names[i].known || trace_extend(node->names[i].value, width, false) != compared)
			continue;
		str_add(t->out, node->names[i].text);
		return;
	}
	add_0x(t->out, trace_extend(value, node->a->bytes, false));
}

/* ---- bytes ---- */

static void add_hex(struct text *t, const struct trace_node *node)
{
	static const char letters[] = "0123456789abcdef";
	uint64_t n = trace_eval(t->raw, node->b);
	size_t at, len;

	if (!trace_node_place(t->raw, node->a, &at, &len))
		return;
	len = t->raw->len - at; /* a field may be the first of the bytes */
	for (size_t i = 0; i < n && i < len && !is_full(t); i++) {
		if (i && node->kind == TRACE_HEX)
			str_addc(t->out, ' ');
		str_addc(t->out, letters[t->raw->bytes[at + i] >> 4]);
		str_addc(t->out, letters[t->raw->bytes[at + i] & 15]);
	}
}

static void add_array(struct text *t, const struct trace_node *node)
{
	uint64_t n = trace_eval(t->raw, node->b), bytes = trace_eval(t->raw, node->c);
	size_t at, len;

	str_addc(t->out, '{');
	if ((bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
	    trace_node_place(t->raw, node->a, &at, &len)) {
		len = t->raw->len - at;
		for (size_t i = 0; i < n && (i + 1) * bytes <= len && !is_full(t); i++) {
			if (i)
				str_addc(t->out, ',');
			add_0x(t->out, trace_read(t->raw, at + i * bytes, bytes));
		}
	}
	str_addc(t->out, '}');
}

static void add_bits(struct text *t, const struct trace_node *node)
{
	size_t at, len;

	if (!trace_field_place(t->raw, node->field, &at, &len))
		return;
	if (node->kind == TRACE_BITMASK)
		trace_add_bitmask(t->out, t->raw, at, len);
	else
		trace_add_bit_list(t->out, t->raw, at, len, 8 * len);
}

static void add_bytes(struct text *t, size_t at, size_t len)
{
	str_addn(t->out, (const char *)t->raw->bytes + at, strnlen((const char *)t->raw->bytes + at, len));
}

/* A field that is as wide as a pointer is one, to a text that the recording may have. */
static void add_field(struct text *t, const struct trace_field *field)
{
	const struct trace_machine *machine = t->raw->machine;
	uint64_t address;
	const char *text;
	size_t at, len;

	if (!trace_field_place(t->raw, field, &at, &len))
		return;
	if (field->is_array || field->size != machine->long_bytes) {
		add_bytes(t, at, len);
		return;
	}
	address = trace_read(t->raw, at, len);
	text = machine->text ? machine->text(machine->context, address) : NULL;
	if (text)
		str_add(t->out, text);
	else
		trace_add_number(t->out, &hex, address);
}

/* ---- conversions ---- */

/* %s: what of the nodes is a text. */
static void add_string(struct text *t, const struct trace_node *node)
{
	size_t at, len;

	for (;;) {
		if (node->kind == TRACE_COND)
			node = trace_eval(t->raw, node->a) ? node->b : node->c;
		else if (node->kind == TRACE_CAST)
			node = node->a;
		else
			break;
	}
	switch (node->kind) {
	case TRACE_CONST:
		if (node->text)
			str_add(t->out, node->text);
		else
			trace_add_number(t->out, &decimal, node->value);
		break;
	case TRACE_FIELD:
		add_field(t, node->field);
		break;
	case TRACE_DYNAMIC:
		if (trace_field_place(t->raw, node->field, &at, &len))
			add_bytes(t, at, len);
		break;
	case TRACE_FLAGS:
		add_flags(t, node);
		break;
	case TRACE_SYMBOL:
		add_symbol(t, node);
		break;
	case TRACE_HEX:
	case TRACE_HEX_STR:
		add_hex(t, node);
		break;
	case TRACE_ARRAY:
		add_array(t, node);
		break;
	case TRACE_BITMASK:
	case TRACE_CPUMASK:
		add_bits(t, node);
		break;
	default: /* an address that is nowhere in the sample */
		break;
	}
}

static void add_function(struct text *t, const struct trace_spec *spec, uint64_t address)
{
	const struct trace_machine *machine = t->raw->machine;
	uint64_t start = 0;
	const char *name = machine->function ? machine->function(machine->context, address, &start) : NULL;

	if (!name) {
		add_0x(t->out, address);
		return;
	}
	str_add(t->out, name);
	if (spec->pointer == 's')
		return;
	str_addc(t->out, '+');
	add_0x(t->out, address - start);
}

static void add_pointer(struct text *t, const struct trace_spec *spec, const struct trace_node *node)
{
	uint64_t value;
	size_t at, len;

	if (spec->pointer && !strchr("Ss", spec->pointer)) {
		if (trace_node_place(t->raw, node, &at, &len))
			trace_add_address(t->out, t->raw, spec, at, len);
		return;
	}
	value = trace_eval(t->raw, node);
	if (spec->pointer)
		add_function(t, spec, value);
	else if (value)
		trace_add_number(t->out, &hex_0x, value);
	else
		str_add(t->out, "(nil)");
}

/* A '*': a number from the sample, within bounds. */
static int star(const struct text *t, const struct trace_node *node)
{
	int64_t value = (int32_t)trace_eval(t->raw, node);

	return value > STAR_MAX ? STAR_MAX : value < -STAR_MAX ? -STAR_MAX : (int)value;
}

static void add_conversion(struct text *t, const struct trace_piece *piece)
{
	struct trace_spec spec = piece->spec;
	size_t start = t->out->len;
	char c;

	if (piece->width)
		spec.width = star(t, piece->width);
	if (piece->precision)
		spec.precision = star(t, piece->precision);
	if (piece->width && spec.width < 0) {
		spec.left = true;
		spec.width = -spec.width;
	}
	switch (spec.conversion) {
	case 'p':
		add_pointer(t, &spec, piece->arg);
		break;
	case 's':
		add_string(t, piece->arg);
		trace_finish_string(t->out, start, &spec);
		break;
	case 'c':
		c = (char)trace_eval(t->raw, piece->arg);
		if (c) /* a NUL has no look */
			str_addc(t->out, c);
		spec.precision = -1;
		trace_finish_string(t->out, start, &spec);
		break;
	default:
		trace_add_number(t->out, &spec, trace_eval(t->raw, piece->arg));
		break;
	}
}

static struct text text_start(struct str *out, const struct trace_raw *raw)
{
	return (struct text){ out, raw, out->len + TEXT_BASE + TEXT_PER_BYTE * raw->len };
}

/* A text that went beyond its end is cut there, and says so. */
static void text_finish(struct text *t)
{
	if (!is_full(t))
		return;
	t->out->len = t->end;
	t->out->s[t->end] = '\0';
	str_add(t->out, "...");
}

void trace_add_text(struct str *out, const struct trace_raw *raw, const struct trace_print *print)
{
	struct text t = text_start(out, raw);

	for (size_t i = 0; i < print->n && !is_full(&t); i++) {
		const struct trace_piece *piece = &print->pieces[i];

		if (piece->arg)
			add_conversion(&t, piece);
		else
			str_addn(out, piece->text, piece->len);
	}
	text_finish(&t);
}

/* ---- fields one by one ---- */

static bool is_readable(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len && bytes[i]; i++)
		if (!isprint(bytes[i]) && !isspace(bytes[i]))
			return false;
	return true;
}

static void add_field_array(struct text *t, const struct trace_field *field, size_t at, size_t len)
{
	static const struct trace_spec two = { .conversion = 'x', .bytes = 1, .width = -1, .precision = 2 };

	if (field->is_string && is_readable(t->raw->bytes + at, len)) {
		add_bytes(t, at, len);
		return;
	}
	str_add(t->out, "ARRAY[");
	for (size_t i = 0; i < len && !is_full(t); i++) {
		if (i)
			str_add(t->out, ", ");
		trace_add_number(t->out, &two, t->raw->bytes[at + i]);
	}
	str_addc(t->out, ']');
}

/* Pointers, and what is as wide as one, in hexadecimal. */
static void add_field_number(struct text *t, const struct trace_field *field, uint64_t value)
{
	const struct trace_spec spec = { .conversion = field->is_signed ? 'd' : 'u',
					 .bytes = field->size < 8 && field->size ? (uint8_t)field->size : 8,
					 .width = field->size == 2 && field->is_signed ? 2 : -1, .precision = -1 };

	if (field->is_pointer || (field->is_long && !(field->is_signed && field->size == 8)))
		add_0x(t->out, value);
	else
		trace_add_number(t->out, &spec, value);
}

void trace_add_fields(struct str *out, const struct trace_raw *raw, const struct trace_format *format)
{
	struct text t = text_start(out, raw);
	size_t at, len;

	for (size_t i = format->n_common; i < format->n_fields && !is_full(&t); i++) {
		const struct trace_field *field = &format->fields[i];

		str_addc(out, ' ');
		str_add(out, field->name);
		str_addc(out, '=');
		if (!trace_field_place(raw, field, &at, &len))
			continue;
		if (field->is_array)
			add_field_array(&t, field, at, len);
		else
			add_field_number(&t, field, trace_read(raw, field->offset, field->size));
	}
	text_finish(&t);
}
