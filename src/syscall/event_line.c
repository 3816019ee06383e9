/* SPDX-License-Identifier: MIT */
/*
 * event_line.c: samples of events that are no calls as lines between those of the calls, in the layout of perf trace,
 * or as objects of JSON. Of a tracepoint its fields are printed; of a page fault where the program was and which
 * address it wanted; of any other event its name alone.
 *
 * Names of fields, texts in them and paths of files are from a recording, and are made printable.
 */
#include "syscall/line.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- fields of tracepoints ---- */

static bool names_task(const char *field)
{
	const size_t len = strlen(field);

	return !strcmp(field, "pid") || (len > strlen("_pid") && !strcmp(field + len - strlen("_pid"), "_pid"));
}

static void add_bytes(const struct tracepoint_data *field, struct str *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < field->len; i++) {
		str_addc(out, digits[field->bytes[i] >> 4]);
		str_addc(out, digits[field->bytes[i] & 15]);
	}
}

static void add_number(const struct tracepoint_data *field, struct str *out)
{
	const uint64_t number = tracepoint_number(field);

	if (field->is_signed)
		line_add_signed(out, (int64_t)number);
	else
		str_add_u64(out, number);
}

static void add_fields(const struct syscall_lines *lines, const struct replay_sample *sample, struct str *out)
{
	size_t n_common = 0, n = 0;
	const struct tracepoint_data *fields =
		tracepoint_all(lines->tracepoints, sample->event, sample->sample, &n_common, &n);

	for (size_t i = n_common; fields && i < n; i++) {
		const struct tracepoint_data *field = &fields[i];

		str_add(out, i > n_common ? ", " : "");
		str_add_printable(out, field->name, strlen(field->name));
		str_add(out, field->is_text ? ": \"" : ": ");
		if (field->is_text)
			str_add_printable(out, (const char *)field->bytes, field->len);
		else if (field->is_number)
			add_number(field, out);
		else
			add_bytes(field, out);
		if (field->is_text)
			str_addc(out, '"');
		else if (field->is_number && names_task(field->name))
			line_add_task(lines, (int64_t)tracepoint_number(field), out);
	}
}

static void add_json_fields(const struct syscall_lines *lines, const struct replay_sample *sample, struct str *out)
{
	size_t n_common = 0, n = 0;
	const struct tracepoint_data *fields =
		tracepoint_all(lines->tracepoints, sample->event, sample->sample, &n_common, &n);
	char *text;

	if (!fields)
		return;
	str_add(out, ",\"fields\":{");
	for (size_t i = n_common; i < n; i++) {
		const struct tracepoint_data *field = &fields[i];

		str_add(out, i > n_common ? "," : "");
		str_add_json(out, field->name);
		str_addc(out, ':');
		if (field->is_number) {
			add_number(field, out);
		} else if (field->is_text) {
			text = xstrndup((const char *)field->bytes, field->len);
			str_add_json(out, text);
			free(text);
		} else {
			str_addc(out, '"');
			add_bytes(field, out);
			str_addc(out, '"');
		}
	}
	str_addc(out, '}');
}

/* ---- page faults ---- */

static const char *const fault_names[] = {
	[POINT_FAULT] = "fault", [POINT_MINOR_FAULT] = "minfault", [POINT_MAJOR_FAULT] = "majfault",
};

static bool is_fault(const struct syscall_event *event)
{
	return event->point >= POINT_FAULT && event->point <= POINT_MAJOR_FAULT;
}

/* Finds what is mapped at the address that had no page; it may be the program's also where the kernel wanted it. */
static void locate_data(const struct syscall_lines *lines, const struct replay_sample *sample,
			struct location *location)
{
	const uint64_t address = sample->sample->addr;

	replay_locate(&lines->session->replay, sample->thread, address >> 63 ? MISC_KERNEL : MISC_USER, address,
		      location);
}

static const struct symbol *code_of(const struct syscall_lines *lines, const struct replay_sample *sample,
				    struct location *location)
{
	session_place(lines->session, sample, location);
	return location->dso ? symbols_find(lines->session->symbols, location->dso, location->addr) : NULL;
}

static void add_fault(const struct syscall_lines *lines, const struct syscall_event *event, struct str *out)
{
	const struct replay_sample *sample = event->sample;
	struct location code, data;
	const struct symbol *symbol = code_of(lines, sample, &code);

	str_add(out, fault_names[event->point]);
	str_add(out, " [");
	if (symbol)
		str_addf(out, "%s+0x%" PRIx64, symbol->name, code.addr - symbol->start);
	else
		line_add_hex(out, code.addr);
	str_addc(out, ']');
	if (!(sample->sample->has & PERF_SAMPLE_ADDR))
		return;
	locate_data(lines, sample, &data);
	str_add(out, " => ");
	if (data.dso) {
		str_add_printable(out, line_file(data.dso), strlen(line_file(data.dso)));
		str_addc(out, '@');
	}
	line_add_hex(out, data.addr);
	str_addf(out, " (%c%c)", data.dso ? 'd' : '?', data.mode == MISC_KERNEL ? 'k' : '.');
}

static void add_json_place(const char *prefix, uint64_t address, const struct location *location,
			   const struct symbol *symbol, struct str *out)
{
	str_addf(out, ",\"%s\":\"", prefix);
	line_add_hex(out, address);
	str_addc(out, '"');
	if (symbol) {
		str_addf(out, ",\"%s_symbol\":", prefix);
		str_add_json(out, symbol->name);
		str_addf(out, ",\"%s_offset\":%" PRIu64, prefix, location->addr - symbol->start);
	}
	if (location->dso) {
		str_addf(out, ",\"%s_dso\":", prefix);
		str_add_json(out, line_file(location->dso));
	}
}

static void add_json_fault(const struct syscall_lines *lines, const struct syscall_event *event, struct str *out)
{
	const struct replay_sample *sample = event->sample;
	struct location code, data;
	const struct symbol *symbol = code_of(lines, sample, &code);

	str_addf(out, ",\"fault\":\"%s\"", fault_names[event->point]);
	add_json_place("ip", sample->sample->ip, &code, symbol, out);
	if (!(sample->sample->has & PERF_SAMPLE_ADDR))
		return;
	locate_data(lines, sample, &data);
	add_json_place("address", sample->sample->addr, &data, NULL, out);
}

/* ---- lines ---- */

void syscall_line_add_event(const struct syscall_lines *lines, const struct syscall_event *event, struct str *out)
{
	const struct replay_sample *sample = event->sample;

	line_add_when(lines, sample->sample->time_ns, out);
	line_add_cpu(lines, sample, out);
	str_add(out, lines->no_calls && !is_fault(event) ? " " : " (         ): ");
	line_add_who(lines, sample->thread, out);
	if (is_fault(event)) {
		add_fault(lines, event, out);
	} else {
		data_event_add_name(sample->event, out);
		str_addc(out, '(');
		if (lines->tracepoints && lines->kernel_format)
			tracepoint_print(lines->tracepoints, sample->event, sample->sample, out);
		else if (lines->tracepoints)
			add_fields(lines, sample, out);
		str_addc(out, ')');
	}
	str_addc(out, '\n');
	if (lines->stacks)
		syscall_line_add_stack(lines, sample, out);
}

void syscall_json_add_event(const struct syscall_lines *lines, const struct syscall_event *event, struct str *out)
{
	const struct replay_sample *sample = event->sample;
	struct str name = STR_INIT;

	data_event_add_name(sample->event, &name);
	str_addc(out, '{');
	line_add_json_time(out, sample->sample->time_ns);
	line_add_json_who(lines, sample->thread, out);
	str_add(out, ",\"event\":");
	str_add_json(out, name.s);
	if (is_fault(event))
		add_json_fault(lines, event, out);
	else if (lines->tracepoints)
		add_json_fields(lines, sample, out);
	if (lines->stacks)
		syscall_json_add_stack(lines, sample, out);
	str_add(out, "}\n");
	str_release(&name);
}
