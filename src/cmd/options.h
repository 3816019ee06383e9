/* SPDX-License-Identifier: MIT */
/*
 * options: the table-driven option parser. One row per option; the same rows are parsed, print -h,
 * feed shell completion (cmd_completion.c) and are compared with the manual by a lint.
 *
 * What is understood: -ae cs, -e cs, -ecs, --event cs, --event=cs, unique beginnings of long names,
 * --no-X for flags and counts. After "--" nothing is an option. options_parse stops at the first word that is none,
 * for commands that run a program; options_parse_all goes on after it.
 */
#ifndef PSTAT_OPTIONS_H
#define PSTAT_OPTIONS_H

#include "util/util.h"

enum option_kind {
	OPTION_END, /* the last row; `more` leads on to rows that several commands share */
	OPTION_GROUP, /* no option: `help` is a heading of -h */
	OPTION_FLAG, /* bool */
	OPTION_SWITCH, /* int: 1, and 0 as --no-X; left alone where it is not given */
	OPTION_COUNT, /* int: each time it is given adds 1; --no-X makes it 0 */
	OPTION_NUMBER, /* long, from min to max */
	OPTION_UNSIGNED, /* unsigned, from min to max */
	OPTION_CHOICE, /* one of argument's words: the second of two as a bool; of more an int, min for the first */
	OPTION_TEXT, /* const char *, borrowed from argv */
	OPTION_CALL, /* call() takes the argument, at once, in the order of the command line */
	OPTION_ACCEPTED, /* perf's, means nothing here; `help` is why. An argument is a number where max is not 0 */
	OPTION_REFUSED, /* perf's, and not to be had here; `help` is why. As --no-X it is taken */
};

/*
 * Kinds of arguments. The shells complete by them: value_rows[] in completion.c says how. To add a kind:
 * a word here, a row there.
 */
enum option_value {
	VALUE_TEXT, /* a number or a text of the user's own: nothing to offer */
	VALUE_ONE_OF, /* the words of the row's argument: "fp|dwarf[,raw][,bytes]|lbr|no" */
	VALUE_SOME_OF, /* a list of these */
	VALUE_FILE,
	VALUE_DIRECTORY,
	VALUE_CONTROL, /* fifo:path[,path] or fd:n[,n] */
	VALUE_SHELL_COMMAND, /* in one word */
	VALUE_EVENT, /* a single one */
	VALUE_EVENTS,
	VALUE_PFM_EVENTS,
	VALUE_METRICS,
	VALUE_BRANCHES, /* kinds of branches */
	VALUE_REGISTERS,
	VALUE_CLOCK,
	VALUE_REPORT_KEYS, /* sort keys and columns */
	VALUE_SCRIPT_FIELDS,
	VALUE_CHAIN_STYLE,
	VALUE_PIDS,
	VALUE_TIDS,
	VALUE_USER,
	VALUE_CGROUPS,
	VALUE_CPUS,
	VALUE_FREQUENCY, /* a number or max */
	VALUE_TIME, /* a number and a unit */
	VALUE_SIZE, /* likewise */
	VALUE_SWITCH, /* signal, or a size, or a time */
	OPTION_VALUES
};

/*
 * To add an option: a row here in the group where a user looks for it, a field of the struct that it
 * fills, a test, an entry in OPTIONS of the command's man page (a lint compares).
 *
 * Rows are small: each start of the program writes the addresses of their texts into all tables, page by page.
 */
struct option_row {
	enum option_kind kind : 8;
	char letter; /* 0: none */
	const char *name; /* the long name without its dashes, or NULL */
	const char *argument; /* how -h names the argument, "a|b": all it can be; NULL: it takes none */
	/* A verb and its object, without a full stop; OPTION_ACCEPTED: what holds already; OPTION_REFUSED: why not. */
	const char *help;
	union {
		const char *unit; /* OPTION_NUMBER, OPTION_UNSIGNED: "ms"; NULL: none */
		const char *instead; /* OPTION_REFUSED: what does the same; NULL: nothing */
		const struct option_row *more; /* OPTION_END: the table goes on there; or NULL */
		/* OPTION_CALL: 0, or -EINVAL with a finished sentence that names the option. */
		int (*call)(void *target, const char *argument, struct str *err);
	};
	long max; /* OPTION_NUMBER, OPTION_UNSIGNED */
	int min;
	/*
	 * Place of the field in the struct given to options_parse; OPTION_CALL: of what call() is given;
	 * OPTION_END: of the struct that the rows of `more` are about.
	 */
	uint16_t offset;
	/* OPTION_FLAG: given, it makes the field false (--no-inherit); OPTION_CHOICE: the second word does. */
	bool off : 1;
	bool both : 1; /* OPTION_FLAG: -h shows --no-X too */
	bool argument_optional : 1; /* only as -xARG or --name=ARG; NULL is passed on where it is missing */
	bool argument_may_follow : 1; /* optional, and also the next word unless that begins with a dash */
	enum option_value value : 8; /* what the argument is */
};

/* The row after this one: `for (row = rows; row->kind != OPTION_END; row = option_next(row))`. */
static inline const struct option_row *option_next(const struct option_row *row)
{
	row++;
	return row->kind == OPTION_END && row->more ? row->more : row;
}

enum { OPTIONS_HELP = 1 }; /* -h or --help was met; nothing after it was looked at */

/*
 * argv[0] is the command's name. Fills the fields of target; *first is the index in argv of the first word that is
 * no option (argc if there is none). 0, OPTIONS_HELP, -ENOTSUP for a row that is refused, with a sentence and a second
 * line that says what to use instead, or -EINVAL with one and, where a known option is near, a second line that names
 * it. Fields of options not given are left alone.
 */
int options_parse(const struct option_row *rows, int argc, char *const *argv, void *target, int *first,
		  struct str *err);
/* The same for options on both sides of other words, which are moved to the end of argv, in their order. */
int options_parse_all(const struct option_row *rows, int argc, char **argv, void *target, int *first, struct str *err);

/* How many of the words after argv[0] are options by their whole long names, and their arguments. */
int options_leading(const struct option_row *rows, int argc, char *const *argv);

/* The place of the last word, for completion. */
struct option_place {
	enum { PLACE_NAME, PLACE_VALUE, PLACE_OPERAND } what;
	const struct option_row *row; /* PLACE_VALUE: the option whose argument it is; NULL: not known */
	size_t start; /* PLACE_VALUE: where in the word the argument begins: 8 for --event=cs */
	int first; /* PLACE_OPERAND: the first word that is no option, as options_parse has it */
	bool after_dashes; /* PLACE_OPERAND: "--" stood before it */
};

/* argv[0] is the command's name, argc at least 2. Wrong options before the last word are passed over. */
void options_place(const struct option_row *rows, int argc, char *const *argv, struct option_place *place);

/* The row can be taken back, as --no-NAME (or as NAME, where the name is no-NAME). */
bool option_may_be_negated(const struct option_row *row);

/* The groups and options, aligned. */
void options_add_help(struct str *out, const struct option_row *rows);

#endif
