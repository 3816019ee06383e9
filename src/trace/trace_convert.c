/*
 * One conversion of a print format: a number, or what stands around a string, as printf(3) makes them, and
 * bits as the kernel does. printf itself is not asked: it would have to be trusted with a format from the
 * recording, and it is slower.
 */
#include "trace/trace_internal.h"

enum { DIGITS_MAX = 24 /* of 64 bits in octal */ };

/* ---- numbers ---- */

/* Fills the end of `digits`; returns where they begin. */
static char *make_digits(char *digits, uint64_t value, unsigned base, bool upper)
{
	const char *letters = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char *p = digits + DIGITS_MAX;

	for (; value; value /= base)
		*--p = letters[value % base];
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

void trace_add_number(struct str *out, const struct trace_spec *spec, uint64_t value)
{
	unsigned base = spec->conversion == 'o' ? 8 : spec->conversion == 'x' || spec->conversion == 'X' ? 16 : 10;
	char digits[DIGITS_MAX], *p;
	size_t n, zeros, len, width = spec->width > 0 ? (size_t)spec->width : 0;
	size_t at_least = spec->precision < 0 ? 1 : (size_t)spec->precision;
	const char *prefix;
	bool negative;

	value = trace_extend(value, spec->bytes, spec->conversion == 'd');
	negative = spec->conversion == 'd' && (int64_t)value < 0;
	p = make_digits(digits, negative ? -value : value, base, spec->conversion == 'X');
	n = (size_t)(digits + DIGITS_MAX - p);
	prefix = prefix_of(spec, value, negative);
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

/* ---- strings ---- */

void trace_finish_string(struct str *out, size_t start, const struct trace_spec *spec)
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

/* ---- bits ---- */

/* Byte i of a row of longs, from the lowest bits on. */
static uint8_t mask_byte(const struct trace_raw *raw, size_t at, size_t len, size_t i)
{
	return raw->bytes[at + (raw->machine->big_endian ? len - 1 - i : i)];
}

/* "00000000,0000000f" */
void trace_add_bitmask(struct str *out, const struct trace_raw *raw, size_t at, size_t len)
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

	trace_add_number(out, &plain, value);
}

/* "0-3,7" */
void trace_add_bit_list(struct str *out, const struct trace_raw *raw, size_t at, size_t len, size_t n_bits)
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
