/* SPDX-License-Identifier: MIT */
/*
 * probe: words of `pstat probe` -> definitions of probes as tracefs takes them, and back.
 *
 *	"sum=parse:6 total text:string"
 *	   | probe_point_parse           point.c
 *	struct probe_point: function or file, line, offset, return, arguments
 *	   | probe_define                sites.c: symbols and DWARF give the addresses, one for each inlined copy
 *	   |                             arguments.c: DWARF says at each address where an argument is
 *	struct probe_definition          definition.c: names, and the text
 *	   "p:probe_prog/sum /usr/bin/prog:0x1230 total=%dx:s32 text_string=+0(%di):string"
 *
 *	tracefs's list --probe_entry_parse--> struct probe_entry --probe_file_describe--> function, line
 *
 * Nothing here asks the kernel: definitions are handed to kern/, the list comes from there. All files are hostile: each
 * walk over DWARF has a budget, expressions are taken or refused as a whole, and what cannot be had is a sentence.
 *
 * Sources: perf-probe(1); Documentation/trace/uprobetracer.rst and kprobetrace.rst of Linux; the DWARF 5 standard.
 */
#ifndef PSTAT_PROBE_H
#define PSTAT_PROBE_H

#include "util/util.h"

/* ---- point.c: the words ---- */

/* A place and what to read there. Texts are NULL where they were not given. */
struct probe_point {
	char *group, *event;
	/* Provider of a probe that the program brings with it; `function` is its name. Both may be patterns. */
	char *provider;
	char *function, *source;
	char *text; /* a pattern for the source's lines in it, whose blanks count as little as those of the lines */
	bool has_address, has_line, returns;
	uint64_t address; /* as the file counts: its symbols */
	uint64_t offset; /* bytes into the function */
	uint64_t line; /* of the source file; with a function: counted from the line where that begins */
	bool is_pattern; /* function is a pattern with * ? [..] */
	bool no_inlines; /* copies that were inlined are left out */
	char **arguments;
	size_t n_arguments, cap_arguments;
};
/*
 * "[[GROUP:]EVENT=]PLACE [ARGUMENT...]" with PLACE: FUNCTION[@SOURCE][+OFFSET|%return|:LINE|;TEXT], SOURCE:LINE,
 * SOURCE;TEXT, 0xADDRESS or %[[sdt_]PROVIDER:]NAME.
 * -EINVAL with a sentence. Release it in every case.
 */
int probe_point_parse(struct probe_point *point, const char *words, struct str *err);
void probe_point_release(struct probe_point *point);

/* "FUNCTION[:FROM[-TO|+COUNT]]" or "SOURCE[:FROM[-TO|+COUNT]]", the words of -L. */
struct probe_lines {
	struct probe_point point; /* has_line: its line is FROM */
	uint64_t to; /* the last line, counted as FROM is; UINT64_MAX: the function's last, or ten more of a file */
};
int probe_lines_parse(struct probe_lines *lines, const char *words, struct str *err);

/* ---- definition.c: names, and the text that tracefs takes ---- */

enum { PROBE_NAME_MAX = 63 }; /* letters of a group or an event, as the kernel takes them */

/* A definition of a probe at one address. Those of one point have one group and event. */
struct probe_definition {
	char *group, *event;
	char *path; /* NULL: of the kernel */
	char *place; /* for people: "parse:6", "parse%return" */
	uint64_t address; /* as the file's symbols count */
	char *text; /* a line without its end: "p:probe_prog/parse /usr/bin/prog:0x1230 total=%dx:s32" */
};
struct probe_definitions { /* zeroed: none */
	struct probe_definition *v;
	size_t n, cap;
};
void probe_definitions_release(struct probe_definitions *definitions);

/* A line of tracefs's list of probes. */
struct probe_entry {
	char *group, *event, *path; /* path NULL: of the kernel, then `place` is a function or an address */
	char *place; /* "0x1230" */
	uint64_t offset; /* in the file */
	bool returns;
	char *arguments; /* names, with a blank before each: " total text_string"; "": none */
};
struct probe_entries { /* zeroed: none */
	struct probe_entry *v;
	size_t n, cap;
};
/* Adds the lines that are probes of either kind; others, also those that are cut, are passed over. */
void probe_entries_parse(struct probe_entries *entries, const char *text);
void probe_entries_release(struct probe_entries *entries);
/* "GROUP:EVENT", or only EVENT, each maybe with wildcards. */
bool probe_entry_matches(const struct probe_entry *entry, const char *pattern);

/* Names of events: those in use, and what to do where the name of a new one is. */
struct probe_naming {
	const struct probe_entries *taken; /* names that are in use */
	bool force; /* of a name in use another one is made: NAME_1 */
};
/* "probe_" and the beginning of the file's name; heap text. */
char *probe_group_of(const char *path);
/*
 * Adds a definition in the kernel's own code, by a function's name; no debug information is read. Of a pattern one for
 * each of the functions that matches; of other points functions may be NULL. 0, or a negative errno with a sentence,
 * and nothing is added.
 */
struct probe_names;
int probe_define_kernel(const struct probe_point *point, const struct probe_names *functions,
			const struct probe_naming *naming, struct probe_definitions *definitions, struct str *err);

/* ---- probe_file.c: a program or library, its symbols and its debug information ---- */

struct probe_file;
/* A negative errno with a sentence: it is no ELF program or library. A file without debug information is open, too. */
int probe_file_open(struct probe_file **file, const char *path, struct str *err);
void probe_file_close(struct probe_file *file); /* NULL is nothing */
/* Source files are below this directory, which outlives the file, by ends of the paths that the file has for them. */
void probe_file_set_sources(struct probe_file *file, const char *directory);
const char *probe_file_path(const struct probe_file *file); /* absolute, without links */
struct probe_names { /* zeroed: none */
	char **v;
	size_t n, cap;
};
/* Adds the names of functions that have code in the file, ascending, each once; demangled: those of C++ for people. */
void probe_file_functions(struct probe_file *file, bool demangled, struct probe_names *names);
/* Adds the probes that the file brings with it: "%sdt_PROVIDER:NAME", each once. */
void probe_file_usdt(struct probe_file *file, struct probe_names *names);
/* Adds the names of the running kernel's functions, ascending, each once. -errno with a sentence. NULL: /proc. */
int probe_kernel_functions(const char *procfs, struct probe_names *names, struct str *err);
void probe_names_release(struct probe_names *names);

/* ---- sites.c: where a point is ---- */

/*
 * Adds a definition for each address of the point: all inlined copies of a function, all pieces of a line; of a pattern
 * for each function that matches, which has its own event. 0, or a negative errno with a sentence, and nothing is
 * added. notes: what the user should know of it.
 */
int probe_define(struct probe_file *file, const struct probe_point *point, const struct probe_naming *naming,
		 struct probe_definitions *definitions, struct note_list *notes, struct str *err);
/* Adds "parse:2@/src/prog.c" or, without debug information, "parse+4"; "0x1230" where nothing is known. */
void probe_file_describe(struct probe_file *file, uint64_t offset, bool returns, struct str *out);

/* ---- probe_listing.c: what can be probed ---- */

/* Adds what -L prints: the function's lines, those that have code with their numbers. */
int probe_list_lines(struct probe_file *file, const struct probe_lines *lines, struct str *out, struct str *err);
/* Adds what -V prints: for each address of the point the variables that can be read there. */
struct probe_variables {
	bool externs; /* global ones, too */
	bool ranges; /* and where each has a value; then also those that have none there */
	const char *filter; /* NULL: all */
};
int probe_list_variables(struct probe_file *file, const struct probe_point *point, const struct probe_variables *wanted,
			 struct str *out, struct str *err);

/* ---- name_filter.c: filters for names ---- */

/* -EINVAL with a sentence: it is no filter. */
int name_filter_check(const char *filter, struct str *err);
bool name_filter_takes(const char *filter, const char *name); /* of a filter that was checked */

#endif
