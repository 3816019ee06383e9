/*
 * A whole number and a unit behind it. The units are tables; the longest name that fits is meant.
 */
#include "cmd/quantity.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

struct unit {
	const char *name; /* in any case */
	uint64_t factor;
};

static const struct unit byte_units[] = {
	{ "B", 1 }, { "K", 1ull << 10 }, { "M", 1ull << 20 }, { "G", 1ull << 30 },
};

static const struct unit time_units[] = {
	{ "ms", 1000000ull },
	{ "s", 1000000000ull },
	{ "m", 60 * 1000000000ull },
	{ "h", 3600 * 1000000000ull },
	{ "d", 86400 * 1000000000ull },
};

static int parse_with_unit(const char *text, const struct unit *units, size_t n_units, uint64_t *out)
{
	size_t digits = strspn(text, "0123456789");
	char *number = xstrndup(text, digits);
	int rc = parse_u64(number, 10, out);

	free(number);
	for (size_t i = 0; !rc && i < n_units; i++) {
		if (strcasecmp(text + digits, units[i].name))
			continue;
		if (*out > UINT64_MAX / units[i].factor)
			return -ERANGE;
		*out *= units[i].factor;
		return 0;
	}
	return -EINVAL;
}

int parse_bytes(const char *text, uint64_t *bytes)
{
	return parse_with_unit(text, byte_units, ARRAY_SIZE(byte_units), bytes);
}

int parse_duration(const char *text, uint64_t *ns)
{
	return parse_with_unit(text, time_units, ARRAY_SIZE(time_units), ns);
}
