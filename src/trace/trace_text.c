/* SPDX-License-Identifier: MIT */
/*
 * The text of a sample: the pieces of its print format, or its fields one by one. Nothing is allocated but the text,
 * which ends at a bound that grows with the sample.
 *
 * Conversions make what printf(3) makes, and for %p with letters after it what the kernel does. printf itself is not
 * asked: it would have to be trusted with a format from the recording, and it is slower.
 *
 * Source: Documentation/core-api/printk-formats.rst of the kernel; RFC 5952 for the short form of IPv6.
 */
#include "trace/trace_internal.h"

#include <ctype.h>
#include <limits.h>
#include <sys/socket.h>

enum { DIGITS_MAX = 24 /* of 64 bits in octal */ };

/* ---- one conversion: numbers ---- */

/* Fills the end of `digits`; returns where they begin. */
static char *make_digits(char *digits, uint64_t value, unsigned base, bool upper)
{
	const char *letters = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	const unsigned shift = base == 16 ? 4 : 3;
	char *p = digits + DIGITS_MAX;

	/* Divides by a constant or not at all: a division by a variable takes longer than all the rest. */
	if (base == 10)
		for (; value; value /= 10)
			*--p = letters[value % 10];
	else
		for (; value; value >>= shift)
			*--p = letters[value & (base - 1)];
	return p;
}

static const char *prefix_of(const struct trace_spec *spec, uint64_t value, bool negative)
{
	if (spec->conversion == 'd')
		return negative ? "-" : spec->plus ? "+" : spec->blank ? " " : "";
	if (!spec->alternate || !value)
		return "";
	return spec->conversion == 'x' ? "0x" : spec->conversion == 'X' ? "0X" : "";
}

/*
 * A % and a letter, as most are: nothing but the digits, and what is before a number below 0. Hexadecimal ones may
 * have zeros before them: so are the arguments of system calls printed (%08lx).
 */
static bool is_plain(const struct trace_spec *spec)
{
	bool zeros = spec->conversion == 'x' && spec->zero && !spec->left;

	return (spec->width < 0 || zeros) && spec->precision < 0 && !spec->plus && !spec->blank && !spec->alternate &&
	       (spec->conversion == 'x' || spec->conversion == 'd' || spec->conversion == 'u');
}

/* Adds a number with all that can stand around its digits; its sign is in `negative`. */
static void add_laid_out(struct str *out, const struct trace_spec *spec, uint64_t value, bool negative)
{
	unsigned base = spec->conversion == 'o' ? 8 : spec->conversion == 'x' || spec->conversion == 'X' ? 16 : 10;
	char digits[DIGITS_MAX], *p = make_digits(digits, value, base, spec->conversion == 'X');
	const char *prefix = prefix_of(spec, value, negative);
	size_t n = (size_t)(digits + DIGITS_MAX - p), zeros, len, width = spec->width > 0 ? (size_t)spec->width : 0;
	size_t at_least = spec->precision < 0 ? 1 : (size_t)spec->precision;

	zeros = n < at_least ? at_least - n : 0;
	if (spec->conversion == 'o' && spec->alternate && !zeros && (!n || *p != '0'))
		zeros = 1;
	len = strlen(prefix) + zeros + n;
	if (spec->zero && !spec->left && spec->precision < 0 && len < width) {
		zeros += width - len;
		len = width;
	}
	if (!spec->left && len < width)
		str_pad(out, ' ', width - len);
	str_add(out, prefix);
	str_pad(out, '0', zeros);
	str_addn(out, p, n);
	if (spec->left && len < width)
		str_pad(out, ' ', width - len);
}

static void add_number(struct str *out, const struct trace_spec *spec, uint64_t value)
{
	bool negative;

	value = trace_extend(value, spec->bytes, spec->conversion == 'd');
	negative = spec->conversion == 'd' && (int64_t)value < 0;
	value = negative ? -value : value;
	if (!is_plain(spec)) {
		add_laid_out(out, spec, value, negative);
		return;
	}
	if (negative)
		str_addc(out, '-');
	if (spec->conversion == 'x')
		str_add_hex(out, value, spec->width > 0 ? (unsigned)spec->width : 1, '0');
	else
		str_add_decimal(out, value, 1, ' ');
}

/* ---- one conversion: blanks around a string ---- */

/* Pads, or cuts, what was added from `start` on. */
static void finish_string(struct str *out, size_t start, const struct trace_spec *spec)
{
	size_t len = out->len - start, missing;

	if (spec->precision >= 0 && len > (size_t)spec->precision) {
		out->len = start + (size_t)spec->precision;
		out->s[out->len] = '\0';
		len = (size_t)spec->precision;
	}
	if (spec->width < 0 || len >= (size_t)spec->width)
		return;
	missing = (size_t)spec->width - len;
	str_pad(out, ' ', missing);
	if (spec->left)
		return;
	memmove(out->s + start + missing, out->s + start, len);
	memset(out->s + start, ' ', missing);
}

/* ---- one conversion: bits ---- */

/* Byte i of a row of longs, from the lowest bits on. */
static uint8_t mask_byte(const struct trace_raw *raw, size_t at, size_t len, size_t i)
{
	return raw->bytes[at + (raw->machine->big_endian ? len - 1 - i : i)];
}

/* "00000000,0000000f" */
static void add_bitmask(struct str *out, const struct trace_raw *raw, size_t at, size_t len)
{
	static const char letters[] = "0123456789abcdef";

	for (size_t i = len; i-- > 0;) {
		uint8_t byte = mask_byte(raw, at, len, i);

		str_addc(out, letters[byte >> 4]);
		str_addc(out, letters[byte & 15]);
		if (i && i % 4 == 0)
			str_addc(out, ',');
	}
}

static void add_plain(struct str *out, uint64_t value)
{
	static const struct trace_spec plain = { .conversion = 'u', .bytes = 8, .width = -1, .precision = -1 };

	add_number(out, &plain, value);
}

/* "0-3,7" */
static void add_bit_list(struct str *out, const struct trace_raw *raw, size_t at, size_t len, size_t n_bits)
{
	size_t start = out->len, first = 0;
	bool open = false;

	if (n_bits > 8 * len)
		n_bits = 8 * len;
	for (size_t i = 0; i <= n_bits; i++) {
		bool set = i < n_bits && (mask_byte(raw, at, len, i / 8) >> (i % 8) & 1);

		if (set && !open)
			first = i;
		if (!set && open) {
			if (out->len > start)
				str_addc(out, ',');
			add_plain(out, first);
			if (i - 1 > first) {
				str_addc(out, '-');
				add_plain(out, i - 1);
			}
		}
		open = set;
	}
}

/* ---- one conversion: %pM, %pI.., %pU, %ph.. of bytes ---- */

enum { MAC_BYTES = 6, IP4_BYTES = 4, IP6_BYTES = 16, UUID_BYTES = 16, IN_BYTES = 16, IN6_BYTES = 28 };

static bool has_option(const struct trace_spec *spec, char option)
{
	return strchr(spec->options, option) != NULL;
}

static void add_hex_digits(struct str *out, uint64_t value, int digits, bool upper)
{
	const struct trace_spec spec = { .conversion = upper ? 'X' : 'x', .bytes = 8, .width = -1,
					 .precision = digits };

	add_number(out, &spec, value);
}

static void add_decimal(struct str *out, uint64_t value, int digits)
{
	const struct trace_spec spec = { .conversion = 'u', .bytes = 8, .width = -1, .precision = digits };

	add_number(out, &spec, value);
}

static void add_mac(struct str *out, const struct trace_spec *spec, const uint8_t *bytes)
{
	for (int i = 0; i < MAC_BYTES; i++) {
		if (i && spec->pointer == 'M')
			str_addc(out, has_option(spec, 'F') ? '-' : ':');
		add_hex_digits(out, bytes[has_option(spec, 'R') ? MAC_BYTES - 1 - i : i], 2, false);
	}
}

static void add_ip4(struct str *out, const struct trace_spec *spec, const uint8_t *bytes, bool reverse)
{
	for (int i = 0; i < IP4_BYTES; i++) {
		if (i)
			str_addc(out, '.');
		add_decimal(out, bytes[reverse ? IP4_BYTES - 1 - i : i], has_option(spec, 'i') ? 3 : 1);
	}
}

/* Is the number's low byte in front? */
static bool is_reverse(const struct trace_raw *raw, const struct trace_spec *spec)
{
	return has_option(spec, 'l') || (has_option(spec, 'h') && !raw->machine->big_endian);
}

static unsigned ip6_word(const uint8_t *bytes, int i)
{
	return (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1];
}

/* An IPv4 address in the last four bytes: mapped, or of ISATAP. */
static bool holds_ip4(const uint8_t *bytes)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff }, isatap[] = { 0, 0x5e, 0xfe };

	return !memcmp(bytes, mapped, sizeof(mapped)) ||
	       ((bytes[8] & ~2) == 0 && !memcmp(bytes + 9, isatap, sizeof(isatap)));
}

/* "2001:db8::1": the longest row of two zeros or more is left out. */
static void add_short_ip6(struct str *out, const struct trace_spec *spec, const uint8_t *bytes)
{
	int n = holds_ip4(bytes) ? 6 : 8, longest = 1, gap = -1;

	for (int i = 0; i < n; i++) {
		int zeros = 0;

		while (i + zeros < n && !ip6_word(bytes, i + zeros))
			zeros++;
		if (zeros > longest) {
			longest = zeros;
			gap = i;
		}
	}
	for (int i = 0; i < n; i++) {
		if (i == gap) {
			str_add(out, "::");
			i += longest - 1;
			continue;
		}
		if (i && i != gap + longest)
			str_addc(out, ':');
		add_hex_digits(out, ip6_word(bytes, i), 1, false);
	}
	if (n == 8)
		return;
	if (gap < 0 || gap + longest != n)
		str_addc(out, ':');
	add_ip4(out, spec, bytes + 12, false);
}

static void add_ip6(struct str *out, const struct trace_spec *spec, const uint8_t *bytes)
{
	if (has_option(spec, 'c')) {
		add_short_ip6(out, spec, bytes);
		return;
	}
	for (int i = 0; i < 8; i++) {
		if (i && !has_option(spec, 'i'))
			str_addc(out, ':');
		add_hex_digits(out, ip6_word(bytes, i), 4, false);
	}
}

static void add_port(struct str *out, const struct trace_spec *spec, const uint8_t *bytes)
{
	if (!has_option(spec, 'p'))
		return;
	str_addc(out, ':');
	add_decimal(out, ip6_word(bytes, 0), 1);
}

/* struct sockaddr_in and sockaddr_in6: family(2) port(2) address(4), or flow(4) address(16). */
static void add_sockaddr(struct str *out, const struct trace_raw *raw, const struct trace_spec *spec, size_t at,
			 size_t len)
{
	uint64_t family = len >= 2 ? trace_read(raw, at, 2) : AF_UNSPEC;
	const uint8_t *bytes = raw->bytes + at;

	if (family == AF_INET && len >= IN_BYTES) {
		add_ip4(out, spec, bytes + 4, is_reverse(raw, spec));
		add_port(out, spec, bytes + 2);
	} else if (family == AF_INET6 && len >= IN6_BYTES) {
		if (has_option(spec, 'p'))
			str_addc(out, '[');
		add_ip6(out, spec, bytes + 8);
		if (has_option(spec, 'p'))
			str_addc(out, ']');
		add_port(out, spec, bytes + 2);
	} else if (family == AF_INET || family == AF_INET6) {
		str_add(out, family == AF_INET ? "INVALIDIPv4" : "INVALIDIPv6");
	}
}

static void add_uuid(struct str *out, const struct trace_spec *spec, const uint8_t *bytes)
{
	static const uint8_t little[UUID_BYTES] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	bool upper = has_option(spec, 'L') || has_option(spec, 'B');
	bool is_little = has_option(spec, 'L') || has_option(spec, 'l');

	for (unsigned i = 0; i < UUID_BYTES; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			str_addc(out, '-');
		add_hex_digits(out, bytes[is_little ? little[i] : i], 2, upper);
	}
}

static void add_hex_bytes(struct str *out, const struct trace_spec *spec, const uint8_t *bytes, size_t len)
{
	size_t n = spec->width > 0 ? (size_t)spec->width : 1;
	char between = has_option(spec, 'C') ? ':' : has_option(spec, 'D') ? '-' : ' ';

	for (size_t i = 0; i < n && i < len; i++) {
		if (i && !has_option(spec, 'N'))
			str_addc(out, between);
		add_hex_digits(out, bytes[i], 2, false);
	}
}

static void add_address(struct str *out, const struct trace_raw *raw, const struct trace_spec *spec, size_t at,
		       size_t len)
{
	const uint8_t *bytes = raw->bytes + at;

	switch (spec->pointer) {
	case 'M':
	case 'm':
		if (len == MAC_BYTES)
			add_mac(out, spec, bytes);
		else
			str_add(out, "INVALIDMAC");
		break;
	case '4':
		if (len == IP4_BYTES)
			add_ip4(out, spec, bytes, is_reverse(raw, spec));
		else
			str_add(out, "INVALIDIPv4");
		break;
	case '6':
		if (len == IP6_BYTES)
			add_ip6(out, spec, bytes);
		else
			str_add(out, "INVALIDIPv6");
		break;
	case 'A':
		add_sockaddr(out, raw, spec, at, len);
		break;
	case 'U':
		if (len == UUID_BYTES)
			add_uuid(out, spec, bytes);
		else
			str_add(out, "INVALIDUUID");
		break;
	case 'h':
		add_hex_bytes(out, spec, bytes, len);
		break;
	default: /* 'b' */
		if (has_option(spec, 'l'))
			add_bit_list(out, raw, at, len, spec->width > 0 ? (size_t)spec->width : 8 * len);
		else
			add_bitmask(out, raw, at, len);
		break;
	}
}

/* ---- a sample's text ---- */

enum {
	TEXT_BASE = 16 << 10, /* of a sample's text, */
	TEXT_PER_BYTE = 8, /* and as much for each of its bytes: "0xff," of an array is 5 */
	STAR_MAX = 4096, /* of a width that an argument gives */
};

struct sample_text {
	struct str *out;
	const struct trace_raw *raw;
	size_t end; /* where it has to end */
};

static bool is_full(const struct sample_text *t)
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
	add_number(out, &hex, value);
}

/* ---- names of values ---- */

/* Values are compared as wide as they are, and at least as an int is. */
static unsigned width_of(const struct trace_node *value)
{
	return value->bytes < 4 ? 4 : value->bytes;
}

static void add_flags(struct sample_text *t, const struct trace_node *node)
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

static void add_symbol(struct sample_text *t, const struct trace_node *node)
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

static void add_hex(struct sample_text *t, const struct trace_node *node)
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

static void add_array(struct sample_text *t, const struct trace_node *node)
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

static void add_bits(struct sample_text *t, const struct trace_node *node)
{
	size_t at, len;

	if (!trace_field_place(t->raw, node->field, &at, &len))
		return;
	if (node->kind == TRACE_BITMASK)
		add_bitmask(t->out, t->raw, at, len);
	else
		add_bit_list(t->out, t->raw, at, len, 8 * len);
}

static void add_bytes(struct sample_text *t, size_t at, size_t len)
{
	str_addn(t->out, (const char *)t->raw->bytes + at, strnlen((const char *)t->raw->bytes + at, len));
}

/* A field that is as wide as a pointer is one, to a text that the recording may have. */
static void add_field(struct sample_text *t, const struct trace_field *field)
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
		add_number(t->out, &hex, address);
}

/* ---- conversions ---- */

/* %s: what of the nodes is a text. */
static void add_string(struct sample_text *t, const struct trace_node *node)
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
			add_number(t->out, &decimal, node->value);
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

static void add_function(struct sample_text *t, const struct trace_spec *spec, uint64_t address)
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

static void add_pointer(struct sample_text *t, const struct trace_spec *spec, const struct trace_node *node)
{
	uint64_t value;
	size_t at, len;

	if (spec->pointer && !strchr("Ss", spec->pointer)) {
		if (trace_node_place(t->raw, node, &at, &len))
			add_address(t->out, t->raw, spec, at, len);
		return;
	}
	value = trace_eval(t->raw, node);
	if (spec->pointer)
		add_function(t, spec, value);
	else if (value)
		add_number(t->out, &hex_0x, value);
	else
		str_add(t->out, "(nil)");
}

/* A '*': a number from the sample, within bounds. */
static int star(const struct sample_text *t, const struct trace_node *node)
{
	int64_t value = (int32_t)trace_eval(t->raw, node);

	return value > STAR_MAX ? STAR_MAX : value < -STAR_MAX ? -STAR_MAX : (int)value;
}

static void add_conversion(struct sample_text *t, const struct trace_piece *piece)
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
		finish_string(t->out, start, &spec);
		break;
	case 'c':
		c = (char)trace_eval(t->raw, piece->arg);
		if (c) /* a NUL has no look */
			str_addc(t->out, c);
		spec.precision = -1;
		finish_string(t->out, start, &spec);
		break;
	default:
		add_number(t->out, &spec, trace_eval(t->raw, piece->arg));
		break;
	}
}

static struct sample_text text_start(struct str *out, const struct trace_raw *raw)
{
	return (struct sample_text){ out, raw, out->len + TEXT_BASE + TEXT_PER_BYTE * raw->len };
}

/* A text that went beyond its end is cut there, and says so. */
static void text_finish(struct sample_text *t)
{
	if (!is_full(t))
		return;
	t->out->len = t->end;
	t->out->s[t->end] = '\0';
	str_add(t->out, "...");
}

void trace_add_text(struct str *out, const struct trace_raw *raw, const struct trace_print *print)
{
	struct sample_text t = text_start(out, raw);

	for (size_t i = 0; i < print->n && !is_full(&t); i++) {
		const struct trace_piece *piece = &print->pieces[i];

		if (!piece->arg)
			str_addn(out, piece->text, piece->len);
		else if (piece->is_number)
			add_number(out, &piece->spec, trace_eval(raw, piece->arg));
		else
			add_conversion(&t, piece);
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

static void add_field_array(struct sample_text *t, const struct trace_field *field, size_t at, size_t len)
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
		add_number(t->out, &two, t->raw->bytes[at + i]);
	}
	str_addc(t->out, ']');
}

/* Pointers, and what is as wide as one, in hexadecimal. */
static void add_field_number(struct sample_text *t, const struct trace_field *field, uint64_t value)
{
	const struct trace_spec spec = { .conversion = field->is_signed ? 'd' : 'u',
					 .bytes = field->size < 8 && field->size ? (uint8_t)field->size : 8,
					 .width = field->size == 2 && field->is_signed ? 2 : -1, .precision = -1 };

	if (field->is_pointer || (field->is_long && !(field->is_signed && field->size == 8)))
		add_0x(t->out, value);
	else
		add_number(t->out, &spec, value);
}

void trace_add_fields(struct str *out, const struct trace_raw *raw, const struct trace_format *format)
{
	struct sample_text t = text_start(out, raw);
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
