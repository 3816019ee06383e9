/* SPDX-License-Identifier: MIT */
/*
 * stack_line.c: the stack of a sample below its line, in the layout of perf trace: a line for each frame, also of
 * functions that were inlined there. Who prints for days meets ever new code: what was looked up is forgotten now and
 * then.
 */
#include "syscall/line.h"

#include <inttypes.h>

enum { STACK_COLUMN = 39 };

const char *line_file(const struct dso *dso)
{
	if (dso->kind == DSO_ANON)
		return "//anon";
	return dso->kind == DSO_FILE || dso->kind == DSO_OTHER ? dso->path : dso->name;
}

static struct chain chain_of(const struct syscall_lines *lines, const struct replay_sample *sample)
{
	struct chain chain;

	session_forget_when_full(lines->session, 0);
	session_chain(lines->session, sample, &chain);
	return chain;
}

size_t syscall_stack_depth(const struct syscall_lines *lines, const struct replay_sample *sample)
{
	return chain_of(lines, sample).n;
}

static void add_frame(const struct syscall_lines *lines, const struct chain_entry *entry, struct str *out)
{
	const struct frame_list frames = *location_frames(lines->session, entry->location, 0);
	const struct location_row *row = &lines->session->locations->v[entry->location];
	const char *file = row->dso ? line_file(row->dso) : "[unknown]";

	for (size_t i = 0; i < frames.n; i++) {
		str_pad(out, ' ', STACK_COLUMN);
		if (frames.v[i].symbol)
			str_add(out, frames.v[i].symbol->name);
		else
			str_addf(out, "[0x%" PRIx64 "]", row->addr);
		str_add(out, " (");
		if (i + 1 < frames.n)
			str_add(out, "inlined");
		else
			str_add_printable(out, file, strlen(file));
		str_add(out, ")\n");
	}
}

void syscall_line_add_stack(const struct syscall_lines *lines, const struct replay_sample *sample, struct str *out)
{
	const struct chain chain = chain_of(lines, sample);

	for (size_t i = 0; i < chain.n; i++)
		add_frame(lines, &chain.v[i], out);
}

static void add_json_frame(const struct syscall_lines *lines, const struct chain_entry *entry, struct str *out)
{
	const struct frame_list frames = *location_frames(lines->session, entry->location, 0);
	const struct location_row *row = &lines->session->locations->v[entry->location];

	for (size_t i = 0; i < frames.n; i++) {
		const struct symbol *symbol = frames.v[i].symbol;

		str_addf(out, "%s{\"ip\":\"0x%" PRIx64 "\"", i ? "," : "", entry->ip);
		if (symbol) {
			str_add(out, ",\"symbol\":");
			str_add_json(out, symbol->name);
		}
		if (i + 1 < frames.n)
			str_add(out, ",\"inlined\":true");
		else if (symbol)
			str_addf(out, ",\"offset\":%" PRIu64, row->addr - symbol->start);
		if (row->dso) {
			str_add(out, ",\"dso\":");
			str_add_json(out, line_file(row->dso));
		}
		str_addc(out, '}');
	}
}

void syscall_json_add_stack(const struct syscall_lines *lines, const struct replay_sample *sample, struct str *out)
{
	const struct chain chain = chain_of(lines, sample);

	if (!chain.n)
		return;
	str_add(out, ",\"stack\":[");
	for (size_t i = 0; i < chain.n; i++) {
		str_add(out, i ? "," : "");
		add_json_frame(lines, &chain.v[i], out);
	}
	str_addc(out, ']');
}
