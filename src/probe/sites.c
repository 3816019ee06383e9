/* SPDX-License-Identifier: MIT */
/*
 * sites: a point -> the addresses that it means.
 *
 *	FUNCTION          its first instruction, and that of each copy that was inlined somewhere; of several
 *	                  functions of the name (static ones) all
 *	FUNCTION:LINE     where the line begins, in the function and in each copy; SOURCE:LINE: wherever it is
 *	FUNCTION;TEXT     where those of the function's own lines begin that match; SOURCE;TEXT: wherever they are
 *	FUNCTION+OFFSET   an instruction; an address within one is refused: the kernel would write over its middle
 *	FUNCTION%return   the function itself: copies do not return
 *	PATTERN...        the same of all functions whose names match
 *
 * A line can begin several times: compilers take it apart ("for" begins before the loop and in it), and each part
 * counts. Rows of the table that go on with the line of the row before are not a beginning.
 *
 * Without DWARF the table of symbols has the functions that have code of their own.
 */
#include "elf/elf.h"
#include "probe/probe_internal.h"
#include "sym/sym.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void probe_sites_release(struct probe_sites *places)
{
	free(places->v);
	*places = (struct probe_sites){ 0 };
}

static void add_place(struct probe_sites *places, const struct probe_site *place)
{
	for (size_t i = 0; i < places->n; i++)
		if (places->v[i].address == place->address)
			return;
	VEC_GROW(places->v, places->n, places->cap);
	places->v[places->n++] = *place;
}

static int by_address(const void *a, const void *b)
{
	const struct probe_site *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* ---- functions in DWARF ---- */

static bool is_function(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* DIEs in which functions with code can be. */
static bool may_hold_code(int tag)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

static bool is_name(const struct probe_point *point, const char *name)
{
	return point->is_pattern ? glob_match(point->function, name) : !strcmp(point->function, name);
}

/*
 * Compares with its own name, the linker's, and that with its namespaces and classes: "sum", "_ZNK2ns3Box3sumEi",
 * "ns::Box::sum".
 */
static bool is_called(struct probe_file *file, Dwarf_Die *die, const struct probe_point *point)
{
	const char *linkage, *plain = probe_die_text(file, die, DW_AT_name);
	struct str text = STR_INIT;
	bool same;

	if (plain && is_name(point, plain))
		return true;
	linkage = probe_die_text(file, die, DW_AT_linkage_name);
	if (!linkage)
		return false;
	same = is_name(point, linkage) ||
	       (strchr(point->function, ':') && demangle(linkage, false, NULL, &text) && is_name(point, text.s));
	str_release(&text);
	return same;
}

bool probe_site_has(struct probe_file *file, const struct probe_site *place, uint64_t address)
{
	Dwarf_Die scope = place->scope;

	return address == place->address || probe_file_dw(file)->dwarf_haspc(&scope, address) > 0;
}

/* A place at the DIE that a walk stands on; false: the DIE has no code, or none that is in the file. */
static bool place_of(struct probe_walk *walk, struct probe_site *place)
{
	const struct probe_dw *dw = probe_file_dw(walk->file);
	Dwarf_Die *die = &walk->path[walk->depth];
	size_t real = walk->depth;

	*place = (struct probe_site){ .at_entry = true, .has_dwarf = true, .scope = *die, .unit = walk->path[0] };
	if (!probe_die_entry(walk->file, die, &place->address) || !probe_file_is_code(walk->file, place->address))
		return false;
	place->inlined = dw->dwarf_tag(die) == DW_TAG_inlined_subroutine;
	while (real && dw->dwarf_tag(&walk->path[real]) != DW_TAG_subprogram)
		real--;
	place->real = walk->path[real];
	place->name = probe_die_text(walk->file, die, DW_AT_name);
	if (!place->name)
		place->name = probe_die_text(walk->file, die, DW_AT_linkage_name);
	return probe_die_entry(walk->file, &place->real, &place->start);
}

static bool is_in_source(struct probe_file *file, Dwarf_Die *die, const char *name)
{
	const char *source = probe_die_source(file, die);

	return source && probe_source_is(source, name);
}

/* All functions of the point's name, and their copies, in a unit. */
static void add_functions(struct probe_file *file, Dwarf_Die *unit, const struct probe_point *point,
			  struct probe_sites *places)
{
	const struct probe_dw *dw = probe_file_dw(file);
	struct probe_walk walk;
	struct probe_site place;
	uint64_t entry;
	bool enter = true;

	probe_walk_begin(&walk, file, unit);
	while (probe_walk_next(&walk, enter)) {
		Dwarf_Die *die = &walk.path[walk.depth];
		int tag = dw->dwarf_tag(die);

		enter = may_hold_code(tag);
		/* Declarations, and the model that copies are made after, have no code. */
		if (tag == DW_TAG_subprogram && !probe_die_entry(file, die, &entry))
			enter = false;
		if (enter && is_function(tag) && is_called(file, die, point) &&
		    (!point->source || is_in_source(file, die, point->source)) &&
		    place_of(&walk, &place))
			add_place(places, &place);
	}
}

/*
 * Whether a function is declared in the row's source, before its line, and not before the one at *line, which then is
 * its own.
 */
static bool is_nearer(struct probe_file *file, Dwarf_Die *die, const struct probe_row *row, uint64_t *line)
{
	uint64_t declared;

	if (!probe_die_number(file, die, DW_AT_decl_line, &declared) || declared > row->line || declared < *line ||
	    !text_same(probe_die_source(file, die), row->source))
		return false;
	*line = declared;
	return true;
}

/*
 * The function, or copy of one, that has an address: the innermost, or the one that a row's line is written in, which
 * is the last that is declared before it. A line that calls a function whose copy begins there is not the copy's.
 */
static bool find_site(struct probe_file *file, uint64_t address, const struct probe_row *row, struct probe_site *place)
{
	struct str ignored = STR_INIT;
	const struct probe_dw *dw = probe_file_dwarf(file, &ignored);
	struct probe_walk walk;
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint64_t line = 0;
	bool found = false;

	str_release(&ignored);
	while (dw && !found && probe_next_unit(file, &cu, &unit)) {
		bool enter = true;

		if (dw->dwarf_haspc(&unit, address) <= 0)
			continue;
		probe_walk_begin(&walk, file, &unit);
		while (probe_walk_next(&walk, enter)) {
			Dwarf_Die *die = &walk.path[walk.depth];
			int tag = dw->dwarf_tag(die);

			enter = may_hold_code(tag) &&
				(tag == DW_TAG_namespace || tag == DW_TAG_module || dw->dwarf_haspc(die, address) > 0);
			if (enter && is_function(tag) && (!row || is_nearer(file, die, row, &line)))
				found |= place_of(&walk, place);
		}
	}
	if (found) {
		place->at_entry = place->address == address;
		place->address = address;
	}
	return found;
}

bool probe_site_at(struct probe_file *file, uint64_t address, struct probe_site *place)
{
	return find_site(file, address, NULL, place);
}

/* ---- lines ---- */

/* The lines of a source file that match a text. */
struct matching_lines {
	char *source; /* its whole path */
	bool *v; /* by number */
	size_t n, cap;
};

struct line_search {
	struct probe_file *file;
	const char *source; /* its whole path, or the name that was given */
	bool whole;
	const char *text; /* not the line, but all that match; NULL: the line */
	struct matching_lines matching; /* of the source file that was asked for last */
	struct str unread; /* why a source file cannot be read */
	uint64_t line;
	uint64_t next; /* the nearest line behind it that has code; 0: none */
};

static bool is_source(const struct line_search *search, const char *path)
{
	return path && (search->whole ? !strcmp(path, search->source) : probe_source_is(path, search->source));
}

static void matching_release(struct matching_lines *matching)
{
	free(matching->source);
	free(matching->v);
	*matching = (struct matching_lines){ 0 };
}

static void drop_blanks(char *text)
{
	char *out = text;

	for (; *text; text++)
		if (!isspace((unsigned char)*text))
			*out++ = *text;
	*out = '\0';
}

/* Finds the lines of a source file that match; none where it cannot be read, which is noted. */
static void find_matching(struct line_search *search, const char *source)
{
	struct matching_lines *matching = &search->matching;
	FILE *stream = probe_source_open(search->file, source, &search->unread);
	char *pattern = xstrdup(search->text), *line = NULL;
	size_t room = 0;

	matching_release(matching);
	matching->source = xstrdup(source);
	drop_blanks(pattern);
	while (stream && getline(&line, &room, stream) >= 0) {
		drop_blanks(line);
		VEC_GROW(matching->v, matching->n, matching->cap);
		matching->v[matching->n++] = glob_match(pattern, line);
	}
	if (stream)
		fclose(stream);
	free(pattern);
	free(line);
}

static bool matches(struct line_search *search, const struct probe_row *row)
{
	if (!search->matching.source || strcmp(search->matching.source, row->source) != 0)
		find_matching(search, row->source);
	return row->line && row->line <= search->matching.n && search->matching.v[row->line - 1];
}

/* Whether a line that is looked for begins at a row; notes lines behind it. */
static bool begins(struct line_search *search, const struct probe_row *row)
{
	if (!row->starts || !is_source(search, row->source))
		return false;
	if (search->text)
		return !row->again && matches(search, row);
	if (row->line > search->line && (!search->next || row->line < search->next))
		search->next = row->line;
	return row->line == search->line && !row->again;
}

static void search_release(struct line_search *search)
{
	matching_release(&search->matching);
	str_release(&search->unread);
}

/* Says what was looked for and is not there. */
static int no_line(const struct line_search *search, const struct probe_point *point, struct str *err)
{
	const char *where = point->function ? point->function : point->source;

	if (search->text && search->unread.len)
		return fail(err, -ENOENT, "'%s;%s': %s", where, search->text, search->unread.s);
	if (search->text)
		return fail(err, -ENOENT, "no code begins at a line of '%s' that matches '%s'", where, search->text);
	return fail(err, -ENOENT, point->function ? "no code begins at line %llu of '%s'" :
						    "no code begins at line %llu of %s",
		    (unsigned long long)point->line, where);
}

/* Whether a row of a function's code is of its own lines: not of a function that was inlined into it. */
static bool is_own(struct probe_file *file, const struct probe_site *function, const struct probe_row *row)
{
	struct probe_site site;

	return find_site(file, row->address, row, &site) && site.scope.addr == function->scope.addr;
}

/* Replaces each of the functions by where the line begins in it, or the lines that match. */
static int lines_of_functions(struct probe_file *file, const struct probe_point *point, struct probe_sites *places,
			      struct str *err)
{
	struct probe_sites lines = { 0 };
	struct line_search search = { .file = file, .whole = true, .text = point->text, .unread = STR_INIT };
	uint64_t next = UINT64_MAX; /* the nearest line behind it that has code, as the point counts */
	int rc = 0;

	for (size_t i = 0; i < places->n; i++) {
		struct probe_site function = places->v[i], place = function;
		struct probe_rows rows = { 0 };
		uint64_t first = 0;

		search.source = probe_die_source(file, &place.scope);
		if (!search.source || !probe_die_number(file, &place.scope, DW_AT_decl_line, &first))
			continue;
		search.line = first + point->line;
		search.next = 0;
		probe_rows_read(file, &place.unit, &rows);
		for (size_t r = 0; r < rows.n; r++) {
			if (!probe_site_has(file, &function, rows.v[r].address) || !begins(&search, &rows.v[r]) ||
			    (point->text && !is_own(file, &function, &rows.v[r])))
				continue;
			place.at_entry = false;
			place.address = rows.v[r].address;
			add_place(&lines, &place);
		}
		probe_rows_release(&rows);
		if (search.next && search.next - first < next)
			next = search.next - first;
	}
	probe_sites_release(places);
	*places = lines;
	if (!lines.n)
		rc = no_line(&search, point, err);
	if (!lines.n && next != UINT64_MAX)
		str_addf(err, ": the next line with code is %llu", (unsigned long long)next);
	search_release(&search);
	return rc;
}

static int lines_of_source(struct probe_file *file, const struct probe_point *point, struct probe_sites *places,
			   struct str *err)
{
	struct line_search search = {
		.file = file, .source = point->source, .line = point->line, .text = point->text, .unread = STR_INIT,
	};
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	int rc = 0;

	while (probe_next_unit(file, &cu, &unit)) {
		struct probe_rows rows = { 0 };

		probe_rows_read(file, &unit, &rows);
		for (size_t r = 0; r < rows.n; r++) {
			const struct probe_row *row = &rows.v[r];
			struct probe_site place;

			if (begins(&search, row) && (find_site(file, row->address, row, &place) ||
						     find_site(file, row->address, NULL, &place)))
				add_place(places, &place);
		}
		probe_rows_release(&rows);
	}
	if (!places->n)
		rc = no_line(&search, point, err);
	if (!places->n && search.next)
		str_addf(err, ": the next line with code is %llu", (unsigned long long)search.next);
	search_release(&search);
	return rc;
}

void probe_site_after_prologue(struct probe_file *file, struct probe_site *place)
{
	const struct probe_dw *dw = probe_file_dw(file);
	struct probe_rows rows = { 0 };
	uint64_t second = 0;

	probe_rows_read(file, &place->unit, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		const struct probe_row *row = &rows.v[i];

		if (row->address <= place->address || dw->dwarf_haspc(&place->real, row->address) <= 0)
			continue;
		if (row->prologue_end || (row->starts && !second))
			second = row->address;
		if (row->prologue_end)
			break;
	}
	probe_rows_release(&rows);
	if (second) {
		place->address = second;
		place->at_entry = false;
	}
}

/* ---- what a place has to be ---- */

/* Refuses an address at which no instruction begins. The first of a function, and a row of lines, are always one. */
static int check_instruction(struct probe_file *file, const struct probe_site *place, const char *what,
			     struct str *err)
{
	struct str why = STR_INIT;
	int rc = place->address == place->start ? 1 :
		 probe_file_is_instruction(file, place->start, place->address, &why);

	if (!rc)
		rc = fail(err, -EINVAL, "%s is in the middle of an instruction", what);
	else if (rc < 0)
		rc = fail(err, -EINVAL, "%s: whether an instruction begins there cannot be told: %s", what, why.s);
	else
		rc = 0;
	str_release(&why);
	return rc;
}

static int add_address(struct probe_file *file, const struct probe_point *point, struct probe_sites *places,
		       struct str *err)
{
	struct probe_site place = { .address = point->address };
	uint64_t end;
	char what[32];
	int rc;

	snprintf(what, sizeof(what), "%#llx", (unsigned long long)point->address);
	if (!probe_file_is_code(file, point->address))
		return fail(err, -EINVAL, "%s is not in an executable part of %s", what, probe_file_path(file));
	if (!probe_site_at(file, point->address, &place)) {
		place = (struct probe_site){ .address = point->address, .start = point->address };
		place.name = probe_file_symbol(file, point->address, &place.start, &end);
		if (!place.name)
			return fail(err, -EINVAL, "%s is in no function that is known: "
				    "whether an instruction begins there cannot be told", what);
	}
	rc = check_instruction(file, &place, what, err);
	if (!rc)
		add_place(places, &place);
	return rc;
}

/* Moves the places by the point's offset, which has to be within each. */
static int add_offset(struct probe_file *file, const struct probe_point *point, struct probe_sites *places,
		      struct str *err)
{
	struct str what = STR_INIT;
	int rc = 0;

	probe_point_text(point, &what);
	for (size_t i = 0; i < places->n && !rc; i++) {
		struct probe_site *place = &places->v[i];
		uint64_t start, end;

		place->address += point->offset;
		place->at_entry = false;
		if (probe_file_symbol(file, place->start, &start, &end) && place->address >= end)
			rc = fail(err, -EINVAL, "%s is outside: the function has %llu bytes", what.s,
				  (unsigned long long)(end - start));
		else
			rc = check_instruction(file, place, what.s, err);
	}
	str_release(&what);
	return rc;
}

/* Drops inlined copies, in which neither returns nor offsets are known, or which the user does not want. */
static int drop_copies(const struct probe_point *point, struct probe_sites *places, struct note_list *notes,
		       struct str *err)
{
	size_t n = 0, all = places->n;

	for (size_t i = 0; i < all; i++)
		if (!places->v[i].inlined)
			places->v[n++] = places->v[i];
	places->n = n;
	if (!n && point->no_inlines)
		return fail(err, -ENOENT, "'%s' is inlined wherever it is called, and --no-inlines leaves copies out",
			    point->function);
	if (!n)
		return fail(err, -ENOTSUP, "'%s' is inlined wherever it is called: such copies have no %s",
			    point->function, point->returns ? "return" : "offsets of their own");
	if (n < all && !point->no_inlines)
		note_add(notes, false, NULL, "%s: its %zu inlined copies are left out: they have no %s",
			 point->function, all - n, point->returns ? "return" : "offsets of their own");
	return 0;
}

/* A function by the table of symbols. */
static int add_symbol(struct probe_file *file, const struct probe_point *point, struct probe_sites *places,
		      struct str *err)
{
	struct elf_function function;
	struct probe_site place = { .at_entry = true };
	struct near_name near;
	int rc;

	near_init(&near, point->function, strlen(point->function));
	rc = elf_find_function(probe_file_path(file), point->function, &function, &near, err);
	if (rc == -ENOENT && near_best(&near))
		str_addf(err, "\ndid you mean '%s'?", near_best(&near));
	if (rc)
		return rc;
	if (!probe_file_address(file, function.offset, &place.address))
		return fail(err, -ENOEXEC, "'%s' is in no segment of %s", point->function, probe_file_path(file));
	place.start = place.address;
	place.name = point->function;
	add_place(places, &place);
	return 0;
}

/* All functions of the table of symbols that match. */
static int add_symbols(struct probe_file *file, const struct probe_point *point, struct probe_sites *places,
		       struct str *err)
{
	struct probe_names names = { 0 };
	int rc = 0;

	probe_file_functions(file, false, &names);
	for (size_t i = 0; i < names.n && !rc; i++) {
		const struct probe_point one = { .function = names.v[i] };
		const size_t n = places->n;
		uint64_t start, end;

		if (!probe_name_matches(point, names.v[i]))
			continue;
		rc = add_symbol(file, &one, places, err);
		if (places->n > n)
			places->v[n].name = probe_file_symbol(file, places->v[n].address, &start, &end);
	}
	probe_names_release(&names);
	if (!rc && !places->n)
		rc = fail(err, -ENOENT, "%s has no function that '%s' matches", probe_file_path(file), point->function);
	return rc;
}

/* Places of a probe that the program brings with it. */
static int add_usdt(struct probe_file *file, const struct probe_point *point, struct probe_sites *places,
		    struct str *err)
{
	struct probe_usdt_notes notes;
	struct probe_usdt usdt;
	struct str name = STR_INIT;
	bool any = false;

	for (probe_usdt_begin(file, &notes); probe_usdt_next(&notes, &usdt); any = true) {
		struct probe_site place;

		if (!probe_usdt_is(&usdt, point) || !probe_file_is_code(file, usdt.address))
			continue;
		if (!probe_site_at(file, usdt.address, &place))
			place = (struct probe_site){ .address = usdt.address, .start = usdt.address };
		place.at_entry = false;
		add_place(places, &place);
	}
	if (places->n)
		return 0;
	probe_point_text(point, &name);
	fail(err, -ENOENT, any ? "%s has no probe '%s' of its own" : "%s has no probes of its own",
	     probe_file_path(file), name.s);
	str_release(&name);
	return -ENOENT;
}

int probe_sites_find(struct probe_file *file, const struct probe_point *point, struct probe_sites *places,
		      struct note_list *notes, struct str *err)
{
	struct str why = STR_INIT;
	const struct probe_dw *dw = probe_file_dwarf(file, &why);
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	int rc = 0;

	if (point->provider) {
		rc = add_usdt(file, point, places, err);
	} else if (point->has_address) {
		rc = add_address(file, point, places, err);
	} else if (!dw && (point->has_line || point->source || point->text)) {
		rc = fail(err, -ENODATA, "%s: %s: lines and source files are not known", probe_file_path(file), why.s);
	} else if (!point->function) {
		rc = lines_of_source(file, point, places, err);
	} else {
		while (dw && probe_next_unit(file, &cu, &unit))
			add_functions(file, &unit, point, places);
		if (!places->n)
			rc = point->is_pattern ? add_symbols(file, point, places, err) :
						 add_symbol(file, point, places, err);
		else if (point->text || (point->has_line && point->line)) /* line 0 is the function itself */
			rc = lines_of_functions(file, point, places, err);
		if (!rc && (point->returns || point->offset || point->no_inlines))
			rc = drop_copies(point, places, notes, err);
		if (!rc && point->offset)
			rc = add_offset(file, point, places, err);
	}
	if (places->n)
		qsort(places->v, places->n, sizeof(*places->v), by_address);
	str_release(&why);
	return rc;
}

/* ---- definitions ---- */

/*
 * Adds what the note at the place says: its semaphore to `where`, and its arguments where the user has given none.
 */
static void add_note(struct probe_file *file, const struct probe_point *point, const struct probe_site *place,
		     struct str *where, struct str *words, struct note_list *said)
{
	struct probe_usdt_notes notes;
	struct probe_usdt usdt;
	uint64_t offset;
	bool found = false;
	size_t n;

	if (!point->provider)
		return;
	probe_usdt_begin(file, &notes);
	while (!found && probe_usdt_next(&notes, &usdt))
		found = probe_usdt_is(&usdt, point) && usdt.address == place->address;
	if (!found)
		return;
	if (usdt.semaphore && probe_file_offset(file, usdt.semaphore, &offset))
		str_addf(where, "(%#llx)", (unsigned long long)offset);
	n = point->n_arguments ? 0 : probe_usdt_arguments(probe_file_machine(file), usdt.arguments, words);
	if (n)
		note_add(said, false, NULL, "%s:%s: %zu of its arguments are left out: the kernel cannot fetch '%s'",
			 point->provider, point->function, n, usdt.arguments);
}

static int define_place(struct probe_file *file, const struct probe_point *point, struct probe_site *place,
			const char *group, const char *event, struct probe_definition *definition,
			struct note_list *notes, struct str *err)
{
	struct str text = STR_INIT, words = STR_INIT, where = STR_INIT;
	uint64_t offset = 0;
	int rc = 0;

	if (place->at_entry && probe_needs_prologue(file, place, point))
		probe_site_after_prologue(file, place);
	for (size_t i = 0; i < point->n_arguments && !rc; i++)
		rc = probe_argument_add(file, place, point, point->arguments[i], &words, err);
	if (!rc && !probe_file_offset(file, place->address, &offset))
		rc = fail(err, -ENOEXEC, "%#llx is not in the file", (unsigned long long)place->address);
	add_note(file, point, place, &where, &words, notes);
	str_addf(&text, "%c:%s/%s %s:%#llx%s%s", point->returns ? 'r' : 'p', group, event, probe_file_path(file),
		 (unsigned long long)offset, where.s, words.s);
	str_release(&where);
	str_reset(&words);
	probe_point_text(point, &words);
	*definition = (struct probe_definition){
		.group = xstrdup(group), .event = xstrdup(event), .path = xstrdup(probe_file_path(file)),
		.place = str_detach(&words), .address = place->address, .text = str_detach(&text),
	};
	return rc;
}

/* Adds the places of a function as one event. */
static int define_event(struct probe_file *file, const struct probe_point *point, const struct probe_sites *places,
			const char *group, const struct probe_naming *naming, struct probe_definitions *definitions,
			struct note_list *notes, struct str *err)
{
	char *event = probe_event_name(point, group, places->v[0].name, naming, definitions, err);
	int rc = event ? 0 : -EINVAL;

	for (size_t i = 0; i < places->n && !rc; i++) {
		VEC_GROW(definitions->v, definitions->n, definitions->cap);
		rc = define_place(file, point, &places->v[i], group, event, &definitions->v[definitions->n++], notes,
				  err);
	}
	free(event);
	return rc;
}

/* Adds an event for each function of the places, by its name. */
static int define_functions(struct probe_file *file, const struct probe_point *pattern, struct probe_sites *places,
			    const char *group, const struct probe_naming *naming,
			    struct probe_definitions *definitions, struct note_list *notes, struct str *err)
{
	int rc = 0;

	for (size_t i = 0; i < places->n && !rc; i++) {
		struct probe_sites same = { 0 };
		struct probe_point point = *pattern;

		if (!places->v[i].name)
			continue;
		point.is_pattern = false;
		point.function = xstrdup(places->v[i].name);
		for (size_t j = i; j < places->n; j++) {
			if (!text_same(places->v[j].name, point.function))
				continue;
			add_place(&same, &places->v[j]);
			places->v[j].name = NULL;
		}
		if (point.event && same.n < places->n)
			rc = fail(err, -EINVAL, PROBE_ONE_NAME, pattern->function, point.event);
		else
			rc = define_event(file, &point, &same, group, naming, definitions, notes, err);
		probe_sites_release(&same);
		free(point.function);
	}
	return rc;
}

static int define(struct probe_file *file, const struct probe_point *point, const struct probe_naming *naming,
		  struct probe_definitions *definitions, struct note_list *notes, struct str *err)
{
	char *group = point->group    ? xstrdup(point->group) :
		      point->provider ? probe_usdt_group(point->provider) :
					probe_group_of(probe_file_path(file));
	struct probe_sites places = { 0 };
	const size_t before = definitions->n;
	int rc = probe_sites_find(file, point, &places, notes, err);

	if (!rc && strlen(group) > PROBE_NAME_MAX)
		rc = fail(err, -EINVAL, "'%s' has more than %d letters: give it another name, GROUP:NAME=PLACE", group,
			  PROBE_NAME_MAX);
	/* Lines of several functions that match a text are an event for each, unless they were given one name. */
	if (!rc && (point->is_pattern || (point->text && !point->function && !point->event)))
		rc = define_functions(file, point, &places, group, naming, definitions, notes, err);
	else if (!rc)
		rc = define_event(file, point, &places, group, naming, definitions, notes, err);
	if (!rc && definitions->n == before)
		rc = fail(err, -ENOENT, "'%s' matches no function that has a name",
			  point->function ? point->function : point->text);
	if (rc)
		probe_definitions_cut(definitions, before);
	probe_sites_release(&places);
	free(group);
	return rc;
}

/* The probe is the first that has its names. */
static bool is_first_note(struct probe_file *file, const struct probe_usdt *usdt)
{
	struct probe_usdt_notes notes;
	struct probe_usdt other;

	probe_usdt_begin(file, &notes);
	while (probe_usdt_next(&notes, &other))
		if (!strcmp(other.name, usdt->name) && !strcmp(other.provider, usdt->provider))
			return other.name == usdt->name;
	return false;
}

/* Adds an event for each probe of the program's own that matches. */
static int define_usdt(struct probe_file *file, const struct probe_point *pattern, const struct probe_naming *naming,
		       struct probe_definitions *definitions, struct note_list *notes, struct str *err)
{
	const size_t before = definitions->n;
	struct probe_usdt_notes all;
	struct probe_usdt usdt;
	int rc = 0, n = 0;

	for (probe_usdt_begin(file, &all); !rc && probe_usdt_next(&all, &usdt);) {
		struct probe_point point = *pattern;

		if (!probe_usdt_is(&usdt, pattern) || !is_first_note(file, &usdt))
			continue;
		point.provider = (char *)(uintptr_t)usdt.provider;
		point.function = (char *)(uintptr_t)usdt.name;
		if (point.event && n++)
			rc = fail(err, -EINVAL, PROBE_ONE_NAME, pattern->function, point.event);
		else
			rc = define(file, &point, naming, definitions, notes, err);
	}
	if (!rc && definitions->n == before)
		rc = define(file, pattern, naming, definitions, notes, err); /* says that there is none */
	if (rc)
		probe_definitions_cut(definitions, before);
	return rc;
}

int probe_define(struct probe_file *file, const struct probe_point *point, const struct probe_naming *naming,
		 struct probe_definitions *definitions, struct note_list *notes, struct str *err)
{
	return (point->provider ? define_usdt : define)(file, point, naming, definitions, notes, err);
}

/* ---- back ---- */

/* The line of an address as the real function's source has it: of code that was inlined, the line that calls it. */
static uint64_t line_in(struct probe_file *file, const struct probe_site *place)
{
	const struct probe_dw *dw = probe_file_dw(file);
	Dwarf_Die unit = place->unit;
	struct probe_rows rows = { 0 };
	struct probe_walk walk;
	uint64_t line = 0;
	bool enter = true;

	probe_walk_begin(&walk, file, &place->real);
	while (probe_walk_next(&walk, enter)) {
		Dwarf_Die *die = &walk.path[walk.depth];
		int tag = dw->dwarf_tag(die);

		enter = may_hold_code(tag) && dw->dwarf_haspc(die, place->address) > 0;
		if (enter && tag == DW_TAG_inlined_subroutine && probe_die_number(file, die, DW_AT_call_line, &line))
			return line;
	}
	probe_rows_read(file, &unit, &rows);
	for (size_t i = 0; i < rows.n && rows.v[i].address <= place->address; i++)
		line = rows.v[i].line;
	probe_rows_release(&rows);
	return line;
}

void probe_file_describe(struct probe_file *file, uint64_t offset, bool returns, struct str *out)
{
	struct probe_site place;
	uint64_t address, start, end, first = 0, line;
	const char *name;

	if (!probe_file_address(file, offset, &address)) {
		str_addf(out, "%#llx", (unsigned long long)offset);
		return;
	}
	if (probe_site_at(file, address, &place) && probe_die_text(file, &place.real, DW_AT_name)) {
		name = probe_die_text(file, &place.real, DW_AT_name);
		str_add_printable(out, name, strlen(name));
		line = line_in(file, &place);
		probe_die_number(file, &place.real, DW_AT_decl_line, &first);
		if (returns)
			str_add(out, "%return");
		else if (place.start != address && line > first)
			str_addf(out, ":%llu", (unsigned long long)(line - first));
		name = probe_die_source(file, &place.real);
		if (name) {
			str_addc(out, '@');
			str_add_printable(out, name, strlen(name));
		}
		return;
	}
	name = probe_file_symbol(file, address, &start, &end);
	if (!name) {
		str_addf(out, "%#llx", (unsigned long long)offset);
		return;
	}
	str_add_printable(out, name, strlen(name));
	if (returns)
		str_add(out, "%return");
	else if (address != start)
		str_addf(out, "+%llu", (unsigned long long)(address - start));
}
