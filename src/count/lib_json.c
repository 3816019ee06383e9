/*
 * Readings as JSON, into a buffer of the caller's: one object, whose keys are the names of the events.
 *
 * The locale belongs to the program that the library is in: it may write 0,5 for a half, which JSON does not.
 */
#include "count/lib.h"

#include <stdio.h>
#include <stdlib.h>

struct json_text {
	char *at;
	size_t room; /* with the NUL */
	size_t n; /* how long the whole text is */
};

static void add(struct json_text *text, const char *bytes)
{
	for (; *bytes; bytes++, text->n++)
		if (text->n + 1 < text->room)
			text->at[text->n] = *bytes;
}

static bool has_value(const struct pstat_reading *reading)
{
	return reading->state == PSTAT_COUNTED || reading->state == PSTAT_SCALED || reading->state == PSTAT_LOWER_BOUND;
}

/* Whatever separates the fraction in this locale, of however many bytes, is a point here. */
static void add_fraction(struct json_text *text, double value)
{
	char raw[64], number[64];
	size_t n = 0;

	/* Takes as few digits as tell the number from its neighbours. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(raw, sizeof(raw), "%.*g", digits, value);
		if (strtod(raw, NULL) == value)
			break;
	}
	for (const char *p = raw; *p; p++) {
		bool plain = strchr("0123456789eE+-", *p);

		if (plain || !n || number[n - 1] != '.')
			number[n++] = plain ? *p : '.';
	}
	number[n] = '\0';
	add(text, number);
}

/* Adds the value of the event and of all that are summed with it. */
static void add_value(struct json_text *text, const struct pstat_readings *r, size_t first)
{
	uint64_t count = 0;
	double value = 0;
	bool any = false, whole = true;
	char number[32];

	for (size_t i = first; i < r->n; i++) {
		if (r->twin[i] != first || !has_value(&r->v[i]))
			continue;
		any = true;
		count += r->v[i].scaled;
		value += r->v[i].value;
		whole = whole && r->v[i].value == (double)r->v[i].scaled;
	}
	snprintf(number, sizeof(number), "%llu", (unsigned long long)count);
	if (!any)
		add(text, "null");
	else if (whole)
		add(text, number);
	else
		add_fraction(text, value);
}

int pstat_readings_json(const struct pstat_readings *readings, char *text, size_t bytes)
{
	struct json_text out = { .at = text, .room = bytes };
	const char *before = "{";

	for (size_t i = 0; i < readings->n; i++) {
		if (readings->twin[i] != i)
			continue;
		add(&out, before);
		add(&out, readings->json_names[i]);
		add(&out, ":");
		add_value(&out, readings, i);
		before = ",";
	}
	add(&out, readings->n ? "}" : "{}");
	if (bytes)
		text[out.n < bytes ? out.n : bytes - 1] = '\0';
	return (int)out.n;
}
