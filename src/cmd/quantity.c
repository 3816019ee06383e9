/*
 * A whole number and a unit behind it: nothing is written where it is anything else.
 */
#include "cmd/quantity.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

struct unit {
	const char *name;
	uint64_t factor;
};

/* strcmp, or strcasecmp where no unit of the other kind is meant by the other case. */
typedef int (*compare_fn)(const char *a, const char *b);

static const struct unit byte_units[] = {
	{ "B", 1 }, { "K", 1ull << 10 }, { "M", 1ull << 20 }, { "G", 1ull << 30 },
};

static const struct unit time_units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000ull },
	{ "s", 1000000000ull },
	{ "m", 60 * 1000000000ull },
	{ "h", 3600 * 1000000000ull },
	{ "d", 86400 * 1000000000ull },
};

static int parse_with_unit(const char *text, const struct unit *units, size_t n_units,
			   compare_fn compare, uint64_t *out)
{
	size_t digits = strspn(text, "0123456789");
	char *number = xstrndup(text, digits);
	uint64_t n;
	int rc = parse_u64(number, 10, &n);

	free(number);
	for (size_t i = 0; !rc && i < n_units; i++) {
		if (compare(text + digits, units[i].name))
			continue;
		if (n > UINT64_MAX / units[i].factor)
			return -ERANGE;
		*out = n * units[i].factor;
		return 0;
	}
	return -EINVAL;
}

int parse_bytes(const char *text, uint64_t *bytes)
{
	return parse_with_unit(text, byte_units, ARRAY_SIZE(byte_units), strcasecmp, bytes);
}

/* 100M is a size, 100m a time. */
int parse_duration(const char *text, uint64_t *ns)
{
	return parse_with_unit(text, time_units, ARRAY_SIZE(time_units), strcmp, ns);
}
