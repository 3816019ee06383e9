/* SPDX-License-Identifier: MIT */
/*
 * probe_listing: what can be probed, as perf prints it: lines of a function or file with the source's text, numbered
 * where code begins (-L); variables that can be read at each address of a point, with their types (-V).
 */
#include "probe/probe_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	FILE_LINES = 10, /* of a source file, where no end was given */
};

/* ---- -L ---- */

struct line_list {
	struct probe_file *file;
	char *source; /* its whole path */
	uint64_t base; /* the line that is number 0 */
	uint64_t from, to; /* lines of the file, to included */
	uint64_t last; /* the function's last line with code */
	uint64_t limit; /* where the next function of the file begins: inlined code has rows of others among its own */
	bool *has_code; /* of from + i */
	size_t n;
};

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_text(const struct line_list *list, const struct probe_lines *lines, struct str *out, struct str *err)
{
	const char *name = lines->point.function ? lines->point.function : list->source;
	FILE *stream = probe_source_open(list->file, list->source, err);
	char *line = NULL;
	size_t room = 0;
	uint64_t number = 0, n_printed = 0;
	ssize_t n;

	if (!stream)
		return -ENOENT;
	str_addc(out, '<');
	str_add_printable(out, name, strlen(name));
	if (lines->point.function) {
		str_addc(out, '@');
		str_add_printable(out, list->source, strlen(list->source));
	}
	str_addf(out, ":%llu>\n", (unsigned long long)(list->from - list->base));
	while ((n = getline(&line, &room, stream)) >= 0 && number < list->to) {
		if (++number < list->from)
			continue;
		n -= n && line[n - 1] == '\n';
		if (list->has_code[number - list->from])
			str_addf(out, "%7llu  ", (unsigned long long)(number - list->base));
		else
			str_add(out, "         ");
		for (char *at = line, *tab; at < line + n; at = tab + 1) {
			tab = memchr(at, '\t', (size_t)(line + n - at));
			if (!tab)
				tab = line + n;
			str_add_printable(out, at, (size_t)(tab - at));
			str_add(out, tab < line + n ? "\t" : "");
		}
		str_addc(out, '\n');
		n_printed++;
	}
	free(line);
	fclose(stream);
	return n_printed ? 0 : fail(err, -ENOENT, "%s has only %llu lines", list->source, (unsigned long long)number);
}

/* Marks lines at which code begins: of the function's places, or of all units. */
static void mark_rows(struct line_list *list, Dwarf_Die *unit, const struct probe_site *place)
{
	struct probe_rows rows = { 0 };

	probe_rows_read(list->file, unit, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		const struct probe_row *row = &rows.v[i];

		if (!row->starts || row->again || row->line >= list->limit || !text_same(row->source, list->source) ||
		    (place && !probe_site_has(list->file, place, row->address)))
			continue;
		if (row->line > list->last)
			list->last = row->line;
		if (list->has_code && row->line >= list->from && row->line - list->from < list->n)
			list->has_code[row->line - list->from] = true;
	}
	probe_rows_release(&rows);
}

static void mark(struct line_list *list, const struct probe_sites *places)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	for (size_t i = 0; i < places->n; i++)
		mark_rows(list, &places->v[i].unit, &places->v[i]);
	while (!places->n && probe_next_unit(list->file, &cu, &unit))
		mark_rows(list, &unit, NULL);
}

/* The line at which the next function of the same source file begins; UINT64_MAX: there is none. */
static uint64_t next_function(const struct line_list *list, const Dwarf_Die *unit)
{
	const struct probe_dw *dw = probe_file_dw(list->file);
	struct probe_walk walk;
	uint64_t nearest = UINT64_MAX, line;
	bool enter = true;

	probe_walk_begin(&walk, list->file, unit);
	while (probe_walk_next(&walk, enter)) {
		Dwarf_Die *die = &walk.path[walk.depth];
		int tag = dw->dwarf_tag(die);

		enter = tag == DW_TAG_namespace;
		if (tag == DW_TAG_subprogram && probe_die_number(list->file, die, DW_AT_decl_line, &line) &&
		    line > list->base && line < nearest && text_same(probe_die_source(list->file, die), list->source))
			nearest = line;
	}
	return nearest;
}

/* The whole path of a source file that has code. */
static char *find_source(struct probe_file *file, const char *name)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	char *found = NULL;

	while (!found && probe_next_unit(file, &cu, &unit)) {
		struct probe_rows rows = { 0 };

		probe_rows_read(file, &unit, &rows);
		for (size_t i = 0; i < rows.n && !found; i++)
			if (rows.v[i].source && probe_source_is(rows.v[i].source, name))
				found = xstrdup(rows.v[i].source);
		probe_rows_release(&rows);
	}
	return found;
}

static int find_lines(struct line_list *list, const struct probe_lines *lines, struct probe_sites *places,
		      struct str *err)
{
	struct probe_point function = lines->point;
	const char *source;
	int rc;

	if (!function.function) {
		list->source = find_source(list->file, function.source);
		list->from = function.has_line ? function.line : 1;
		list->limit = UINT64_MAX;
		return list->source ? 0 : fail(err, -ENOENT, "no code is of a source file %s", function.source);
	}
	function.has_line = false;
	rc = probe_sites_find(list->file, &function, places, NULL, err);
	if (rc)
		return rc;
	source = places->v[0].has_dwarf ? probe_die_source(list->file, &places->v[0].scope) : NULL;
	if (!source || !probe_die_number(list->file, &places->v[0].scope, DW_AT_decl_line, &list->base))
		return fail(err, -ENODATA, "where '%s' is in the source is not known", function.function);
	list->source = xstrdup(source);
	list->limit = next_function(list, &places->v[0].unit);
	list->from = list->base + (lines->point.has_line ? lines->point.line : 0);
	return 0;
}

int probe_list_lines(struct probe_file *file, const struct probe_lines *lines, struct str *out, struct str *err)
{
	struct line_list list = { .file = file };
	struct probe_sites places = { 0 };
	struct str why = STR_INIT;
	int rc = 0;

	if (!probe_file_dwarf(file, &why))
		rc = fail(err, -ENODATA, "%s: %s: lines are not known", probe_file_path(file), why.s);
	if (!rc)
		rc = find_lines(&list, lines, &places, err);
	if (!rc) {
		mark(&list, &places);
		list.to = lines->to != UINT64_MAX ? list.base + lines->to :
			  places.n ? list.last : list.from + FILE_LINES;
		if (list.to < list.from || list.to - list.from > PROBE_SOURCE_BYTES_MAX)
			rc = fail(err, -ENOENT, "no code of the function is at these lines");
	}
	if (!rc) {
		list.n = (size_t)(list.to - list.from) + 1;
		list.has_code = xcalloc(list.n, sizeof(*list.has_code));
		list.has_code[0] = places.n && list.from == list.base; /* line 0 is the function itself */
		mark(&list, &places);
		rc = add_text(&list, lines, out, err);
	}
	free(list.has_code);
	free(list.source);
	probe_sites_release(&places);
	str_release(&why);
	return rc;
}

/* ---- -V ---- */

struct shown_variables {
	const struct probe_variables *wanted;
	struct probe_names names; /* lines */
	const char *function; /* that ranges are counted from */
};

static void take_variable(void *context, const struct probe_variable *variable)
{
	struct shown_variables *shown = context;
	struct probe_names *names = &shown->names;
	struct str line = STR_INIT;

	if ((!variable->here && !(shown->wanted->ranges && *variable->ranges)) ||
	    (shown->wanted->filter && !name_filter_takes(shown->wanted->filter, variable->name)))
		return;
	if (shown->wanted->ranges)
		str_add(&line, variable->global ? "[EXT]\t" : variable->here ? "[VAL]\t" : "[INV]\t");
	str_addf(&line, "%s\t%s", variable->type, variable->name);
	if (shown->wanted->ranges && *variable->ranges)
		str_addf(&line, "\t@<%s+[%s]>", shown->function, variable->ranges);
	VEC_GROW(names->v, names->n, names->cap);
	names->v[names->n++] = str_detach(&line);
}

int probe_list_variables(struct probe_file *file, const struct probe_point *point, const struct probe_variables *wanted,
			 struct str *out, struct str *err)
{
	struct note_list ignored = { 0 };
	struct probe_sites places = { 0 };
	struct str why = STR_INIT;
	int rc = 0;

	if (!probe_file_dwarf(file, &why))
		rc = fail(err, -ENODATA, "%s: %s: variables are not known", probe_file_path(file), why.s);
	if (!rc)
		rc = probe_sites_find(file, point, &places, &ignored, err);
	if (!rc) {
		str_add(out, "Available variables at ");
		probe_point_text(point, out);
		str_addc(out, '\n');
	}
	for (size_t i = 0; i < places.n && !rc; i++) {
		struct shown_variables shown = { .wanted = wanted };
		struct probe_names *names = &shown.names;
		struct str function = STR_INIT;
		uint64_t start = 0, end;
		const char *symbol = probe_file_symbol(file, places.v[i].address, &start, &end);

		str_add(out, "\t@<");
		if (symbol) {
			str_add_printable(&function, symbol, strlen(symbol));
			str_addf(out, "%s+%llu>\n", function.s, (unsigned long long)(places.v[i].address - start));
		} else {
			str_addc(&function, '0');
			str_addf(out, "%#llx>\n", (unsigned long long)places.v[i].address);
		}
		shown.function = function.s;
		if (places.v[i].has_dwarf)
			probe_variables_each(file, &places.v[i], wanted->externs, start, take_variable, &shown);
		if (names->n)
			qsort(names->v, names->n, sizeof(*names->v), compare_texts);
		for (size_t n = 0; n < names->n; n++)
			str_addf(out, "\t\t%s\n", names->v[n]);
		if (!names->n)
			str_add(out, "\t\t(No matched variables)\n");
		probe_names_release(names);
		str_release(&function);
	}
	note_list_release(&ignored);
	probe_sites_release(&places);
	str_release(&why);
	return rc;
}
