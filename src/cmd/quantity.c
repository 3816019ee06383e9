/* SPDX-License-Identifier: MIT */
/*
 * A whole number and a unit after it (of a duration any number, in seconds without one); any other text is refused, and
 * nothing is written.
 */
#include "cmd/quantity.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

struct unit {
	const char *name, *help;
	uint64_t factor;
};

/* strcmp, or strcasecmp where no unit of the other kind is meant by the other case. */
typedef int (*compare_fn)(const char *a, const char *b);

static const struct unit byte_units[] = {
	{ "B", "bytes", 1 },
	{ "K", "KiB", 1ull << 10 },
	{ "M", "MiB", 1ull << 20 },
	{ "G", "GiB", 1ull << 30 },
};

static const struct unit time_units[] = {
	{ "ns", "nanoseconds", 1 },
	{ "us", "microseconds", NS_PER_US },
	{ "ms", "milliseconds", NS_PER_MS },
	{ "s", "seconds", NS_PER_S },
	{ "m", "minutes", 60 * NS_PER_S },
	{ "h", "hours", 3600 * NS_PER_S },
	{ "d", "days", 86400 * NS_PER_S },
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

/* Longer ones are no slip of a unit, and ns of today's clocks don't overflow. */
#define SPAN_S_MOST 1e9

int take_span(const char *what, const char *argument, uint64_t *ns, struct str *err)
{
	size_t digits = strspn(argument, "0123456789.");
	char *number = xstrndup(argument, digits);
	double value, factor = argument[digits] ? 0 : NS_PER_S;
	int rc = parse_double(number, &value);

	free(number);
	for (size_t i = 0; i < ARRAY_SIZE(time_units); i++)
		if (!strcmp(argument + digits, time_units[i].name))
			factor = (double)time_units[i].factor;
	if (rc || !(value * factor >= 1 && value * factor <= SPAN_S_MOST * NS_PER_S))
		return fail(err, -EINVAL, "%s: '%s' is not a number of seconds above 0, nor a time such as 500ms or 5m",
			    what, argument);
	*ns = (uint64_t)(value * factor);
	return 0;
}

int take_duration(void *target, const char *argument, struct str *err)
{
	return take_span("--duration", argument, target, err);
}

static bool unit_row(const struct unit *units, size_t n_units, size_t i, const char **name, const char **help)
{
	if (i >= n_units)
		return false;
	*name = units[i].name;
	*help = units[i].help;
	return true;
}

bool byte_unit_row(size_t i, const char **name, const char **help)
{
	return unit_row(byte_units, ARRAY_SIZE(byte_units), i, name, help);
}

bool time_unit_row(size_t i, const char **name, const char **help)
{
	return unit_row(time_units, ARRAY_SIZE(time_units), i, name, help);
}
