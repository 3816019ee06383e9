/* SPDX-License-Identifier: MIT */
/*
 * Numbers and sets of numbers as people type them. Strict: the whole text is the number, or it is
 * an error; nothing is cut off or wrapped around.
 */
#include "util.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int parse_u64(const char *text, int base, uint64_t *out)
{
	char *end;
	unsigned long long v;

	if (!isxdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, base);
	if (end == text || *end)
		return -EINVAL;
	if (errno == ERANGE)
		return -ERANGE;
	*out = v;
	return 0;
}

int parse_int(const char *text, long min, long max, long *out)
{
	char *end;
	long v;

	if (!isdigit((unsigned char)text[0]) && text[0] != '-')
		return -EINVAL;
	errno = 0;
	v = strtol(text, &end, 10);
	if (end == text || *end)
		return -EINVAL;
	if (errno == ERANGE || v < min || v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

/*
 * The point is a point, also where the library is in a program whose locale has a comma: text with the locale's own
 * in its place into `own`, or NULL where it is too long or has that sign itself.
 */
static const char *in_locale(const char *text, char *own, size_t room)
{
	const char *sign = localeconv()->decimal_point, *point = strchr(text, '.');

	if (!strcmp(sign, "."))
		return text;
	if (strstr(text, sign))
		return NULL;
	if (!point)
		return text;
	if (snprintf(own, room, "%.*s%s%s", (int)(point - text), text, sign, point + 1) >= (int)room)
		return NULL;
	return own;
}

int parse_double(const char *text, double *out)
{
	char own[128], *end;
	const char *local = in_locale(text, own, sizeof(own));
	double v;

	if (!local || !*text || isspace((unsigned char)text[0]))
		return -EINVAL;
	v = strtod(local, &end);
	if (end == local || *end)
		return -EINVAL;
	*out = v;
	return 0;
}

/* Index of the first element that is not below value. */
static size_t intset_place(const struct intset *set, int value)
{
	if (set->n && set->v[set->n - 1] < value)
		return set->n;
	return BISECT(i, 0, set->n, set->v[i] < value);
}

void intset_add(struct intset *set, int value)
{
	size_t at = intset_place(set, value);

	if (at < set->n && set->v[at] == value)
		return;
	VEC_GROW(set->v, set->n, set->cap);
	memmove(set->v + at + 1, set->v + at, (set->n - at) * sizeof(*set->v));
	set->v[at] = value;
	set->n++;
}

size_t intset_index(const struct intset *set, int value)
{
	size_t at = intset_place(set, value);

	return at < set->n && set->v[at] == value ? at : SIZE_MAX;
}

bool intset_has(const struct intset *set, int value)
{
	return intset_index(set, value) != SIZE_MAX;
}

void intset_copy(struct intset *to, const struct intset *from)
{
	to->n = 0;
	for (size_t i = 0; i < from->n; i++)
		intset_add(to, from->v[i]);
}

void intset_release(struct intset *set)
{
	free(set->v);
	*set = (struct intset)INTSET_INIT;
}

static int parse_range(const char *part, size_t len, int max, long *low, long *high)
{
	char buf[32], *dash;
	int rc;

	if (len == 0 || len >= sizeof(buf) || part[0] == '-')
		return -EINVAL;
	memcpy(buf, part, len);
	buf[len] = '\0';
	dash = strchr(buf, '-');
	if (dash)
		*dash = '\0';
	rc = parse_int(buf, 0, max, low);
	if (rc)
		return rc;
	*high = *low;
	if (dash)
		rc = parse_int(dash + 1, 0, max, high);
	return rc ? rc : *low <= *high ? 0 : -EINVAL;
}

int intset_parse(struct intset *set, const char *text, int max, struct str *err)
{
	size_t total = strcspn(text, "\n");

	for (size_t at = 0; at <= total;) {
		size_t len = strcspn(text + at, ",\n");
		long low = 0, high = 0;
		int rc = parse_range(text + at, len, max, &low, &high);

		if (rc == -ERANGE)
			return fail(err, rc, "'%.*s' is out of range (at most %d)", (int)len,
				    text + at, max);
		if (rc)
			return fail(err, rc, "'%.*s' is not a number or a range such as 0-3",
				    (int)len, text + at);
		for (long v = low; v <= high; v++)
			intset_add(set, (int)v);
		at += len + 1;
	}
	return 0;
}

void intset_format(const struct intset *set, struct str *out)
{
	for (size_t i = 0; i < set->n;) {
		size_t end = i;

		while (end + 1 < set->n && set->v[end + 1] == set->v[end] + 1)
			end++;
		str_addf(out, i ? ",%d" : "%d", set->v[i]);
		if (end > i)
			str_addf(out, "-%d", set->v[end]);
		i = end + 1;
	}
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)timespec_ns(&ts);
}
