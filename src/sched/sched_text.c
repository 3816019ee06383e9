/* SPDX-License-Identifier: MIT */
/*
 * sched_text: tasks and times as the views of the scheduler print them, without a call of printf: there is one line
 * for each switch.
 */
#include "sched/sched.h"

#include <stdlib.h>

void sched_add_task(struct str *out, const struct sched_task *task)
{
	if (task->comm[0])
		str_add_printable(out, task->comm, strlen(task->comm));
	else
		str_addf(out, ":%d", task->tid);
	if (!task->tid)
		return;
	str_addc(out, '[');
	if (task->tid < 0)
		str_addc(out, '-');
	str_add_u64(out, (uint64_t)llabs((long long)task->tid));
	if (task->pid >= 0 && task->pid != task->tid) {
		str_addc(out, '/');
		str_add_u64(out, (uint32_t)task->pid);
	}
	str_addc(out, ']');
}

/*
 * Numbers are written from their end to their beginning, two digits at a time; `at` is where what is behind them
 * begins, and what comes back is where they begin.
 */
enum { NUMBER_BYTES = 40 };

static char *put_pair(char *at, unsigned pair)
{
	static const char digits[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
				     "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
				     "8081828384858687888990919293949596979899";

	return memcpy(at - 2, digits + 2 * (size_t)pair, 2);
}

/* Writes its digits, and before them `fill` where they are fewer than `width`, which is below NUMBER_BYTES / 2. */
static char *put_number(char *at, uint64_t value, unsigned width, char fill)
{
	const char *least = at - width;

	for (; value >= 100; value /= 100)
		at = put_pair(at, (unsigned)(value % 100));
	if (value >= 10)
		at = put_pair(at, (unsigned)value);
	else
		*--at = (char)('0' + value);
	while (at > least)
		*--at = fill;
	return at;
}

static char *put_ms(char *at, uint64_t ns, unsigned width)
{
	const uint64_t us = ns / NS_PER_US;
	const unsigned part = (unsigned)(us % 1000);

	at = put_pair(at, part % 100);
	*--at = (char)('0' + part / 100);
	*--at = '.';
	return put_number(at, us / 1000, width, ' ');
}

static char *put_s(char *at, uint64_t ns, unsigned width)
{
	enum { DECIMALS = 6 };
	unsigned part = (unsigned)(ns % NS_PER_S / NS_PER_US);

	for (unsigned i = 0; i < DECIMALS; i += 2, part /= 100)
		at = put_pair(at, part % 100);
	*--at = '.';
	return put_number(at, ns / NS_PER_S, width > DECIMALS + 1 ? width - DECIMALS - 1 : 0, ' ');
}

void sched_add_ms(struct str *out, uint64_t ns, unsigned width)
{
	char text[NUMBER_BYTES], *end = text + sizeof(text), *at = put_ms(end, ns, width);

	str_addn(out, at, (size_t)(end - at));
}

void sched_add_s(struct str *out, uint64_t ns, unsigned width)
{
	char text[NUMBER_BYTES], *end = text + sizeof(text), *at = put_s(end, ns, width);

	str_addn(out, at, (size_t)(end - at));
}

void sched_add_place(struct str *out, uint64_t time_ns, unsigned width, uint32_t cpu)
{
	enum { CPU_DIGITS = 4 };
	char text[2 * NUMBER_BYTES], *end = text + sizeof(text), *at = end;

	*--at = ' ';
	*--at = ']';
	at = put_number(at, cpu, CPU_DIGITS, '0');
	*--at = '[';
	*--at = ' ';
	at = put_s(at, time_ns, width);
	str_addn(out, at, (size_t)(end - at));
}

void sched_add_ms_columns(struct str *out, const uint64_t *ns, size_t n, unsigned width)
{
	char text[SCHED_COLUMNS_MAX * NUMBER_BYTES], *end = text + sizeof(text), *at = end;

	while (n) {
		*--at = ' ';
		at = put_ms(at, ns[--n], width);
	}
	str_addn(out, at, (size_t)(end - at));
}

void sched_pad(struct str *out, size_t start, unsigned width)
{
	const size_t columns = text_columns(out->s + start, out->len - start);

	if (columns < width)
		str_pad(out, ' ', width - columns);
}

/* ---- rows for programs ---- */

/* Printable, and in quotes where the separator or a quote is in it. */
static void add_csv_text(struct str *out, const char *text, const char *separator)
{
	struct str name = STR_INIT;

	str_add_printable(&name, text, strlen(text));
	if (strstr(name.s, separator) || strchr(name.s, '"')) {
		str_addc(out, '"');
		for (const char *c = name.s; *c; c++) {
			if (*c == '"')
				str_addc(out, '"');
			str_addc(out, *c);
		}
		str_addc(out, '"');
	} else {
		str_addn(out, name.s, name.len);
	}
	str_release(&name);
}

static void add_object(struct str *out, const struct sched_field *fields, size_t n)
{
	const char *before = "{";

	for (size_t i = 0; i < n; i++) {
		if (fields[i].unknown)
			continue;
		str_addf(out, "%s\"%s\":", before, fields[i].name);
		if (fields[i].text)
			str_add_json(out, fields[i].text);
		else
			str_addf(out, "%lld", (long long)fields[i].number);
		before = ",";
	}
	str_add(out, "}\n");
}

void sched_add_fields(struct str *out, const struct sched_format *format, const struct sched_field *fields, size_t n)
{
	if (format->json) {
		add_object(out, fields, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		str_add(out, i ? format->separator : "");
		if (fields[i].unknown)
			continue;
		if (fields[i].text)
			add_csv_text(out, fields[i].text, format->separator);
		else
			str_addf(out, "%lld", (long long)fields[i].number);
	}
	str_addc(out, '\n');
}

void sched_add_field_names(struct str *out, const struct sched_format *format, const struct sched_field *fields,
			   size_t n)
{
	if (format->json)
		return;
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s%s", i ? format->separator : "", fields[i].name);
	str_addc(out, '\n');
}
