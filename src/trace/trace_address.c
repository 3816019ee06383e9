/*
 * Bytes of a sample as the kernel's %p shows them with letters behind it: network addresses of all kinds, UUIDs,
 * and bytes in hexadecimal.
 *
 * Source: Documentation/core-api/printk-formats.rst of the kernel; RFC 5952 for the short form of IPv6.
 */
#include "trace/trace_internal.h"

#include <sys/socket.h>

enum { MAC_BYTES = 6, IP4_BYTES = 4, IP6_BYTES = 16, UUID_BYTES = 16, IN_BYTES = 16, IN6_BYTES = 28 };

static bool has_option(const struct trace_spec *spec, char option)
{
	return strchr(spec->options, option) != NULL;
}

static void add_hex(struct str *out, uint64_t value, int digits, bool upper)
{
	const struct trace_spec spec = { .conversion = upper ? 'X' : 'x', .bytes = 8, .width = -1,
					 .precision = digits };

	trace_add_number(out, &spec, value);
}

static void add_decimal(struct str *out, uint64_t value, int digits)
{
	const struct trace_spec spec = { .conversion = 'u', .bytes = 8, .width = -1, .precision = digits };

	trace_add_number(out, &spec, value);
}

static void add_mac(struct str *out, const struct trace_spec *spec, const uint8_t *bytes)
{
	for (int i = 0; i < MAC_BYTES; i++) {
		if (i && spec->pointer == 'M')
			str_addc(out, has_option(spec, 'F') ? '-' : ':');
		add_hex(out, bytes[has_option(spec, 'R') ? MAC_BYTES - 1 - i : i], 2, false);
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
		add_hex(out, ip6_word(bytes, i), 1, false);
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
		add_hex(out, ip6_word(bytes, i), 4, false);
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
		add_hex(out, bytes[is_little ? little[i] : i], 2, upper);
	}
}

static void add_bytes(struct str *out, const struct trace_spec *spec, const uint8_t *bytes, size_t len)
{
	size_t n = spec->width > 0 ? (size_t)spec->width : 1;
	char between = has_option(spec, 'C') ? ':' : has_option(spec, 'D') ? '-' : ' ';

	for (size_t i = 0; i < n && i < len; i++) {
		if (i && !has_option(spec, 'N'))
			str_addc(out, between);
		add_hex(out, bytes[i], 2, false);
	}
}

void trace_add_address(struct str *out, const struct trace_raw *raw, const struct trace_spec *spec, size_t at,
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
		add_bytes(out, spec, bytes, len);
		break;
	default: /* 'b' */
		if (has_option(spec, 'l'))
			trace_add_bit_list(out, raw, at, len, spec->width > 0 ? (size_t)spec->width : 8 * len);
		else
			trace_add_bitmask(out, raw, at, len);
		break;
	}
}
