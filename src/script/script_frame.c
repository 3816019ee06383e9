/* SPDX-License-Identifier: MIT */
/*
 * script_frame: a frame as text. What follows the address depends on the location and on the fields only, so it is
 * made once for each distinct location and style, and a sample is mostly copying. Texts go with the locations, and
 * all at once when they take too much.
 */
#include "script/script_internal.h"

#include <stdlib.h>

#define FRAME_FIELDS                                                                                         \
	(FIELD_BIT(FIELD_SYM) | FIELD_BIT(FIELD_SYMOFF) | FIELD_BIT(FIELD_DSO) | FIELD_BIT(FIELD_DSOFF) | \
	 FIELD_BIT(FIELD_SRCLINE))

/* Between the texts of an address's frames: names are printable, so it is in none. */
enum { FRAME_END = '\1' };

static void add_symbol(const struct location_row *row, const struct symbol *symbol, uint64_t fields, bool inlined,
		       struct str *out)
{
	str_addc(out, ' ');
	str_add(out, symbol ? symbol->name : "[unknown]");
	if (symbol && !inlined && (fields & FIELD_BIT(FIELD_SYMOFF)) && symbol->dso->kind != DSO_LEFT_OUT)
		str_addf(out, "+0x%llx", (unsigned long long)(row->addr - symbol->start));
}

void script_add_dso(struct script *script, const struct dso *dso, struct str *out)
{
	const char *kernel = NULL;

	if (dso && script->options.kernel_path)
		kernel = session_kernel_file(&script->session, dso);
	if (!dso)
		str_add(out, "[unknown]");
	else if (kernel)
		str_add(out, kernel);
	else if (dso->kind == DSO_FILE || (dso->kind == DSO_OTHER && *dso->path))
		str_add_printable(out, dso->path, strlen(dso->path));
	else if (dso->kind == DSO_ANON) /* parsers know it by this name, and take none with spaces */
		str_addf(out, "/tmp/perf-%d.map", dso->pid);
	else
		str_add(out, dso->name);
}

/* Code that no file has lies nowhere in one. */
static bool has_file_offset(const struct dso *dso)
{
	return dso && dso->kind != DSO_KERNEL && dso->kind != DSO_GUEST_KERNEL && dso->kind != DSO_BPF &&
	       dso->kind != DSO_ANON && dso->kind != DSO_LEFT_OUT;
}

static void add_dso(struct script *script, const struct location_row *row, uint64_t fields, struct str *out)
{
	str_add(out, " (");
	script_add_dso(script, row->dso, out);
	if ((fields & FIELD_BIT(FIELD_DSOFF)) && has_file_offset(row->dso))
		str_addf(out, "+0x%llx", (unsigned long long)row->addr);
	str_addc(out, ')');
}

void script_add_line(const struct script *script, const struct location_row *row, const struct source_line *line,
		     const char *prefix, struct str *out)
{
	const char *file = line->file, *slash = file ? strrchr(file, '/') : NULL;

	if (!file && row->dso)
		str_addf(out, "%s%s[%llx]", prefix, row->dso->name, (unsigned long long)location_own_addr(row));
	if (!file)
		return;
	if (slash && !script->options.full_source_path)
		file = slash + 1;
	str_add(out, prefix);
	str_add_printable(out, file, strlen(file));
	str_addf(out, ":%u", line->line);
}

static void add_fields(struct script *script, uint64_t fields, const struct location_row *row,
		       const struct frame *frame, bool inlined, struct str *out)
{
	if (fields & FIELD_BIT(FIELD_SYM))
		add_symbol(row, frame->symbol, fields, inlined, out);
	if ((fields & FIELD_BIT(FIELD_DSO)) && !inlined)
		add_dso(script, row, fields, out);
	if (fields & FIELD_BIT(FIELD_SRCLINE))
		script_add_line(script, row, &frame->line, "\n  ", out); /* below the frame */
	if (inlined) /* after the line, as perf has it */
		str_add(out, " (inlined)");
}

void script_add_location(struct script *script, uint64_t fields, uint32_t location, struct str *out)
{
	const struct location_row *row = &script->session.locations->v[location];
	struct frame frame = { .symbol = location_symbol(&script->session, location) };

	add_fields(script, fields & ~FIELD_BIT(FIELD_SRCLINE), row, &frame, false, out);
}

/* The text after the address, and for a chain those of the functions inlined there, in front. */
static void make_text(struct script *script, const struct script_style *style, uint32_t location, struct str *out)
{
	unsigned want = style->fields & FIELD_BIT(FIELD_SRCLINE) ? SYM_LINES : 0;
	struct frame_list frames = *location_frames(&script->session, location, want);
	const struct location_row *row = &script->session.locations->v[location];

	for (size_t i = style->chain || script->options.json ? 0 : frames.n - 1; i < frames.n; i++) {
		bool inlined = i + 1 < frames.n;

		if (script->options.json)
			script_json_frame(script, row, &frames.v[i], inlined, out);
		else
			add_fields(script, style->fields, row, &frames.v[i], inlined, out);
		if (inlined)
			str_addc(out, FRAME_END);
	}
}

static bool ends_chain(struct script *script, uint32_t location)
{
	const struct frame_list *frames;

	if (!script->stops.n)
		return false;
	frames = location_frames(&script->session, location, 0);
	for (size_t i = 0; i < frames->n; i++)
		if (frames->v[i].symbol && name_set_has(&script->stops, frames->v[i].symbol->name))
			return true;
	return false;
}

static size_t style_of(struct script *script, uint64_t fields, bool chain)
{
	const struct script_style style = { .fields = fields, .chain = chain };
	size_t i = 0;

	while (i < script->n_styles && (script->styles[i].fields != fields || script->styles[i].chain != chain))
		i++;
	if (i == script->n_styles) {
		VEC_GROW(script->styles, script->n_styles, script->cap_styles);
		script->styles[script->n_styles++] = style;
	}
	return i;
}

void script_choose_styles(struct script *script, struct script_event *event)
{
	event->style = style_of(script, event->fields & FRAME_FIELDS, event->chain);
	if (event->fields & INSN_FIELDS)
		event->insn_style = style_of(script, event->fields & INSN_FIELDS, false);
	if (event->fields & BLOCK_FIELDS)
		event->block_style = style_of(script, event->fields & BLOCK_FIELDS, false);
}

void script_forget_texts(struct script *script)
{
	for (size_t i = 0; i < script->n_styles; i++) {
		struct script_style *style = &script->styles[i];

		if (style->n_texts)
			memset(style->texts, 0, style->n_texts * sizeof(*style->texts));
	}
	arena_reset(&script->texts);
}

void script_release_styles(struct script *script)
{
	for (size_t i = 0; i < script->n_styles; i++)
		free(script->styles[i].texts);
	free(script->styles);
	script->styles = NULL;
	script->n_styles = script->cap_styles = 0;
	arena_reset(&script->texts);
}

const struct frame_text *script_text_of(struct script *script, size_t number, uint32_t location)
{
	struct script_style *style = &script->styles[number];
	struct frame_text *text;

	VEC_REACH(style->texts, style->n_texts, location);
	text = &style->texts[location];
	if (!text->text) {
		str_reset(&script->scratch);
		if (style->fields & (INSN_FIELDS | BLOCK_FIELDS))
			script_make_instruction(script, style, location, text, &script->scratch);
		else
			make_text(script, style, location, &script->scratch);
		text->text = arena_strndup(&script->texts, script->scratch.s, script->scratch.len);
		text->len = script->scratch.len & INT32_MAX;
		text->ends = ends_chain(script, location);
	}
	return text;
}

bool script_add_frame(struct script *script, const struct script_event *event, const struct chain_entry *frame)
{
	const struct frame_text *text = script_text_of(script, event->style, frame->location);
	struct str *out = &script->output->text;
	const char *line = text->text, *end = text->text + text->len;

	/* Each function inlined at the address has a line of its own with the same address. */
	for (;;) {
		const char *stop = memchr(line, FRAME_END, (size_t)(end - line));

		stop = stop ? stop : end;
		if (event->chain)
			str_addc(out, '\t');
		str_add_hex(out, frame->ip, ADDRESS_COLUMNS, ' ');
		str_addn(out, line, (size_t)(stop - line));
		if (event->chain)
			str_addc(out, '\n');
		if (stop == end)
			return !text->ends;
		line = stop + 1;
	}
}

bool script_add_json_frame(struct script *script, const struct script_event *event, const struct chain_entry *frame)
{
	const struct frame_text *text = script_text_of(script, event->style, frame->location);
	struct str *out = &script->output->text;
	const char *line = text->text, *end = text->text + text->len;

	for (;;) {
		const char *stop = memchr(line, FRAME_END, (size_t)(end - line));

		stop = stop ? stop : end;
		str_add(out, "{\"ip\":\"0x");
		str_add_hex(out, frame->ip, 1, ' ');
		str_addc(out, '"');
		str_addn(out, line, (size_t)(stop - line));
		str_addc(out, '}');
		if (stop == end)
			return !text->ends;
		str_addc(out, ',');
		line = stop + 1;
	}
}
