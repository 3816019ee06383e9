/* SPDX-License-Identifier: MIT */
/*
 * fmt_annotate.c: a function's code as text, in lines of perf's shape: whoever reads those reads these.
 *
 *	 Percent |	Source code & Disassembly of x for cycles (12 samples, percent: local period)
 *	-------------------------------------------------------------------------------------
 *	         : 0000000000001140 <hot>:
 *	         : mix(): inlined at x.c:15 into hot()
 *	         : 7              a *= 2654435761u;
 *	    6.79 :   1216:  imull  $0x9e3779b1, %edx, %edx
 *
 * A column for each event. Colours stand for percentages, as in a report.
 */
#include "fmt/fmt_internal.h"

#include <stdlib.h>

/* A line below this percentage is not named by -l, as in perf. */
#define LINE_PERCENT_MIN 0.5

static const struct value_column {
	const char *head;
	unsigned width;
} value_columns[] = {
	[ANNOTATION_PERCENT] = { "Percent", 7 },
	[ANNOTATION_PERIOD] = { "Period", 11 },
	[ANNOTATION_SAMPLES] = { "Samples", 7 },
};

/* "local period" */
static const char *percent_name(enum annotate_percent percent)
{
	static const char *const names[] = {
		[PERCENT_LOCAL_PERIOD] = "local period",
		[PERCENT_LOCAL_HITS] = "local hits",
		[PERCENT_GLOBAL_PERIOD] = "global period",
		[PERCENT_GLOBAL_HITS] = "global hits",
	};

	return names[percent];
}

/* ---- columns ---- */

unsigned annotation_values_columns(const struct annotation *annotation, const struct annotation_look *look)
{
	return (value_columns[look->value].width + 1) * (unsigned)annotation->n_events;
}

enum { CYCLES_COLUMNS = 12 };

/* All columns that an instruction's line begins with. */
static unsigned columns_before(const struct annotation *annotation, const struct annotation_look *look)
{
	return annotation_values_columns(annotation, look) + (annotation->has_cycles ? CYCLES_COLUMNS : 0);
}

static double percent_of(const struct annotation *annotation, const struct annotation_look *look, size_t event,
			 const struct annotate_cell *cells)
{
	return annotation_percent(annotation, event, cells, look->percent);
}

static double most_percent(const struct annotation *annotation, const struct annotation_look *look,
			   const struct annotate_cell *cells)
{
	double most = 0;

	for (size_t i = 0; i < annotation->n_events; i++)
		if (percent_of(annotation, look, i, cells) > most)
			most = percent_of(annotation, look, i, cells);
	return most;
}

static void add_values(const struct annotation *annotation, const struct annotation_look *look,
		       const struct annotate_cell *cells, struct output *output)
{
	int width = (int)value_columns[look->value].width;
	struct str text = STR_INIT;

	for (size_t i = 0; i < annotation->n_events; i++) {
		double percent = percent_of(annotation, look, i, cells);

		str_reset(&text);
		if (look->value == ANNOTATION_PERCENT)
			str_addf(&text, " %*.2f", width, percent);
		else
			str_addf(&text, " %*llu", width,
				 (unsigned long long)(look->value == ANNOTATION_PERIOD ? cells[i].period
										       : cells[i].n_samples));
		fmt_add_colored(output, percent, text.s);
	}
	str_release(&text);
}

/* Instructions per cycle of the code that ended here, and how many cycles it took each time, as perf without a rest. */
static void add_cycles(const struct annotate_cycles *cycles, struct str *out)
{
	if (cycles && cycles->known)
		str_addf(out, " %5.2f", annotate_ipc(cycles));
	else
		str_pad(out, ' ', CYCLES_COLUMNS / 2);
	if (cycles)
		str_addf(out, " %5llu", (unsigned long long)(cycles->cycles / cycles->n));
	else
		str_pad(out, ' ', CYCLES_COLUMNS / 2);
}

/* ---- lines of source ---- */

static void add_place(const struct annotation_look *look, const struct source_line *line, struct str *out)
{
	const char *file = line->file ? line->file : "??", *slash = strrchr(file, '/');

	if (slash && slash[1] && !look->full_paths)
		file = slash + 1;
	str_add_printable(out, file, strlen(file));
	str_addf(out, ":%u", line->line);
}

static void add_source(const struct annotation *annotation, const struct annotation_look *look,
		       const struct annotate_row *row, struct output *output)
{
	struct str *out = &output->text;

	str_pad(out, ' ', columns_before(annotation, look));
	str_add(out, " : ");
	if (row->text)
		str_addf(out, "%-4u %s", row->line.line, row->text);
	else
		add_place(look, &row->line, out);
	str_addc(out, '\n');
}

static const char *frame_name(const struct frame *frame)
{
	return frame->symbol ? frame->symbol->name : "[unknown]";
}

/* "mix(): inlined at x.c:15 into hot()"; back in the function itself just "hot():". */
static void add_inlined(const struct annotation *annotation, const struct annotation_look *look,
			const struct annotate_row *row, struct output *output)
{
	const struct frame_list *frames = &annotation->instructions[row->instruction].frames;
	struct str *out = &output->text;

	str_pad(out, ' ', columns_before(annotation, look));
	str_addf(out, " : %s():", frame_name(&frames->v[0]));
	for (size_t i = 1; i < frames->n; i++) {
		str_add(out, i == 1 ? " inlined at " : ", at ");
		add_place(look, &frames->v[i].line, out);
		str_addf(out, " into %s()", frame_name(&frames->v[i]));
	}
	str_addc(out, '\n');
}

/* ---- instructions ---- */

static void add_raw_bytes(const struct annotate_instruction *instruction, struct str *out)
{
	size_t start = out->len;

	for (unsigned i = 0; i < instruction->n_bytes; i++)
		str_addf(out, "%02x ", instruction->bytes[i]);
	str_pad(out, ' ', out->len - start < 24 ? 24 - (out->len - start) : 1);
}

/* Adds an arrow for where the instruction goes: up or down in the function, out of it, or back. */
static void add_arrow(const struct annotate_instruction *v, size_t i, struct str *out)
{
	const struct annotate_instruction *instruction = &v[i];
	const char *arrow = " ";

	if (instruction->flow == FLOW_RETURN)
		arrow = "\u2190";
	else if (instruction->flow == FLOW_CALL)
		arrow = "\u2192";
	else if (instruction->flow == FLOW_JUMP && instruction->target_instruction == ANNOTATE_NONE)
		arrow = "\u2192";
	else if (instruction->flow == FLOW_JUMP)
		arrow = instruction->target_instruction > i ? "\u2193" : "\u2191";
	str_addf(out, "%s%s ", instruction->n_jumps_here ? "\u25b6" : " ", arrow);
}

static int address_width(const struct annotation *annotation)
{
	const struct annotate_instruction *last = &annotation->instructions[annotation->n_instructions - 1];
	int width = 4;

	while (width < 16 && last->shown >> (4 * width))
		width++;
	return width;
}

static void add_data_type(const struct annotation *annotation, const struct annotation_look *look,
			  const struct annotate_instruction *instruction, struct str *out)
{
	struct type_place place = types_at(look->types, annotation->function->symbol->dso, instruction->addr, true);

	if (!place.type && !type_place_known(&place))
		return;
	str_addf(out, "\t\t# data-type: %s", type_place_name(&place));
	if (place.type)
		type_place_add_offset(&place, out);
}

static void add_instruction(const struct annotation *annotation, const struct annotation_look *look, size_t i,
			    struct output *output)
{
	const struct annotate_instruction *instruction = &annotation->instructions[i];
	struct str *out = &output->text;

	add_values(annotation, look, instruction->cells, output);
	if (annotation->has_cycles)
		add_cycles(instruction->cycles, out);
	str_addf(out, " :   %*llx:  ", address_width(annotation), (unsigned long long)instruction->shown);
	if (look->raw_bytes)
		add_raw_bytes(instruction, out);
	if (look->arrows)
		add_arrow(annotation->instructions, i, out);
	str_add(out, instruction->text);
	if (look->lines && instruction->frames.v[0].line.file &&
	    most_percent(annotation, look, instruction->cells) > LINE_PERCENT_MIN) {
		str_add(out, " // ");
		add_place(look, &instruction->frames.v[0].line, out);
	}
	if (look->types)
		add_data_type(annotation, look, instruction, out);
	str_addc(out, '\n');
}

/* ---- the head ---- */

static void add_summary(const struct annotation *annotation, const struct annotation_look *look,
			struct output *output)
{
	const char *file = annotation->function->symbol->dso->path;
	struct str *out = &output->text;

	str_add(out, "\nSorted summary for file ");
	str_add_printable(out, file, strlen(file));
	str_add(out, "\n----------------------------------------------\n\n");
	for (size_t i = 0; i < annotation->n_lines; i++) {
		const struct annotate_line *line = &annotation->lines[i];

		if (!line->line.file || most_percent(annotation, look, line->cells) <= LINE_PERCENT_MIN)
			continue;
		add_values(annotation, look, line->cells, output);
		str_addc(out, ' ');
		add_place(look, &line->line, out);
		str_addc(out, '\n');
	}
}

static void add_title(const struct annotation *annotation, const struct annotation_look *look, struct str *out)
{
	const struct symbol *symbol = annotation->function->symbol;

	str_addf(out, " %-*s%s |\tSource code & Disassembly of %s for ",
		 (int)annotation_values_columns(annotation, look) - 1, value_columns[look->value].head,
		 annotation->has_cycles ? "   IPC Cycle" : "", symbol->dso->name);
	for (size_t i = 0; i < annotation->n_events; i++) {
		str_add(out, i ? ", " : "");
		data_event_add_name(annotation->events[i], out);
	}
	str_addf(out, " (%llu samples, percent: %s)", (unsigned long long)annotation->function->total[0].n_samples,
		 percent_name(look->percent));
}

static void add_note(const struct annotation *annotation, const struct annotation_look *look, const char *text,
		     struct str *out)
{
	str_pad(out, ' ', columns_before(annotation, look));
	str_addf(out, " : %s\n", text);
}

/* Says how much of the function is not shown, and why. */
static void add_missing(const struct annotation *annotation, const struct annotation_look *look, struct str *out)
{
	const struct annotate_instruction *v = annotation->instructions;
	const struct symbol *symbol = annotation->function->symbol;
	uint64_t shown = v[annotation->n_instructions - 1].shown + v[annotation->n_instructions - 1].n_bytes -
			 v[0].shown;
	struct str text = STR_INIT;
	uint64_t elsewhere = 0;

	for (size_t i = 0; i < annotation->n_events; i++)
		elsewhere += annotation->elsewhere[i].n_samples;
	if (shown < symbol->end - symbol->start)
		str_addf(&text, "%llu bytes of %llu are shown%s", (unsigned long long)shown,
			 (unsigned long long)(symbol->end - symbol->start),
			 annotation->cut ? ", those with most samples" : ": its file has no more");
	if (elsewhere)
		str_addf(&text, "%s%llu samples are at addresses that are not", text.len ? "; " : "",
			 (unsigned long long)elsewhere);
	if (text.len)
		add_note(annotation, look, text.s, out);
	str_release(&text);
}

static void add_average(const struct annotation *annotation, const struct annotation_look *look, struct str *out)
{
	struct str text = STR_INIT;

	str_addf(&text, "Average IPC: %.2f, IPC Coverage: %.1f%%", annotate_ipc(&annotation->cycles),
		 100.0 * (double)annotation->n_covered / (double)annotation->n_instructions);
	add_note(annotation, look, text.s, out);
	str_release(&text);
}

void annotation_add_head(const struct annotation *annotation, const struct annotation_look *look, struct output *output)
{
	const struct symbol *symbol = annotation->function->symbol;
	struct str title = STR_INIT, *out = &output->text;

	if (look->lines)
		add_summary(annotation, look, output);
	add_title(annotation, look, &title);
	str_addn(out, title.s, title.len);
	str_addc(out, '\n');
	str_pad(out, '-', title.len);
	str_addc(out, '\n');
	str_reset(&title);
	str_addf(&title, "%016llx <%s>:", (unsigned long long)annotation->instructions[0].shown, symbol->name);
	add_note(annotation, look, title.s, out);
	if (annotation->cycles.known)
		add_average(annotation, look, out);
	add_missing(annotation, look, out);
	str_release(&title);
}

void annotation_add_row(const struct annotation *annotation, const struct annotation_look *look, size_t row,
			struct output *output)
{
	const struct annotate_row *shown = &annotation->rows[row];

	if (shown->kind == ROW_INLINED)
		add_inlined(annotation, look, shown, output);
	else if (shown->kind == ROW_SOURCE)
		add_source(annotation, look, shown, output);
	else
		add_instruction(annotation, look, shown->instruction, output);
}

double annotation_row_percent(const struct annotation *annotation, const struct annotation_look *look, size_t row)
{
	const struct annotate_row *shown = &annotation->rows[row];

	return shown->kind == ROW_INSTRUCTION
		       ? most_percent(annotation, look, annotation->instructions[shown->instruction].cells)
		       : 0;
}

void annotation_print(const struct annotation *annotation, const struct annotation_look *look, struct output *output)
{
	annotation_add_head(annotation, look, output);
	for (size_t i = 0; i < annotation->n_rows; i++) {
		annotation_add_row(annotation, look, i, output);
		if (output_step(output))
			return;
	}
}
