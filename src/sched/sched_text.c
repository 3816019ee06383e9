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

/* A number with decimals, as wide as `width` at least, in one piece: each line has four of them. */
static void add_fixed(struct str *out, uint64_t whole, unsigned part, unsigned decimals, unsigned width)
{
	enum { COLUMNS = 48 };
	char text[COLUMNS];
	size_t at = COLUMNS;

	for (unsigned i = 0; i < decimals; i++, part /= 10)
		text[--at] = (char)('0' + part % 10);
	text[--at] = '.';
	do
		text[--at] = (char)('0' + whole % 10);
	while (whole /= 10);
	while (COLUMNS - at < width && at)
		text[--at] = ' ';
	str_addn(out, text + at, COLUMNS - at);
}

void sched_add_ms(struct str *out, uint64_t ns, unsigned width)
{
	add_fixed(out, ns / NS_PER_MS, (unsigned)(ns % NS_PER_MS / NS_PER_US), 3, width + 4);
}

void sched_add_s(struct str *out, uint64_t ns, unsigned width)
{
	add_fixed(out, ns / NS_PER_S, (unsigned)(ns % NS_PER_S / NS_PER_US), 6, width);
}

void sched_add_place(struct str *out, uint64_t time_ns, unsigned width, uint32_t cpu)
{
	sched_add_s(out, time_ns, width);
	str_add(out, " [");
	str_add_decimal(out, cpu, 4, '0');
	str_add(out, "] ");
}

void sched_add_ms_columns(struct str *out, const uint64_t *ns, size_t n, unsigned width)
{
	for (size_t i = 0; i < n; i++) {
		sched_add_ms(out, ns[i], width);
		str_addc(out, ' ');
	}
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
