/* SPDX-License-Identifier: MIT */
/*
 * command: what a subcommand is to main.c, to help and to shell completion. Private to cmd/ and main.c.
 */
#ifndef PSTAT_COMMAND_H
#define PSTAT_COMMAND_H

#include "cmd/options.h"
#include "kern/kern.h"

struct command {
	const char *name;
	const char *synopsis; /* what follows the name: "[<options>] [<command>]" */
	const char *summary; /* one line */
	const struct option_row *options; /* never NULL; may be just OPTION_END */
	/* The words that may follow the options, separated by spaces, for completion; NULL: a command's name. */
	const char *words;
	/* argv[0] is the name. Returns the exit status; prints its own errors. */
	int (*run)(const struct command *self, int argc, char **argv, const struct kern *kern);
	bool measures; /* a program and its arguments may follow the options */
	bool options_end; /* at the first word that is none: what follows has options of its own */
	/* Commands of its own that may follow, by the last word of their names; a NULL name ends them. */
	const struct command *parts;
};

/* Options before any of them; what they fill is main.c's. */
extern const struct option_row global_options[];
/* All subcommands, in the order of `pstat -h`; a NULL name ends the table. Defined in main.c. */
extern const struct command commands[];
/* NULL if there is none of that name. */
const struct command *command_find(const char *name);

/*
 * Parses the command's options into target. -1: go on, *first is the first word that is no option; first NULL: no
 * word may follow. Else the exit status to return at once: help was printed, or an error was.
 */
int command_parse(const struct command *self, int argc, char **argv, void *target, int *first);

/* Usage, summary and options of one command, as -h prints them. */
void command_add_help(struct str *out, const struct command *command);
/* The head of `pstat -h`: usage, subcommands, common options. */
void commands_add_help(struct str *out);

/* Prints an error and returns EXIT_BAD_USAGE. */
int bad_usage(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* stat record, stat report. */
extern const struct command stat_parts[];
/* sched record, sched timehist, ... */
extern const struct command sched_parts[];
/* trace record. */
extern const struct command trace_parts[];

int cmd_record(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_stat(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_report(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_diff(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_compare(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_top(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_profile(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_script(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_annotate(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_evlist(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_buildid_list(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_buildid_cache(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_archive(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_export(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_exporter(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_list(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_doctor(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_help(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_check(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_config(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_kallsyms(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_probe(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_data(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_inject(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_sched(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_trace(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_version(const struct command *self, int argc, char **argv, const struct kern *kern);
int cmd_completion(const struct command *self, int argc, char **argv, const struct kern *kern);

extern const struct option_row record_options[], stat_options[], list_options[], doctor_options[], help_options[],
	version_options[], completion_options[], report_options[], script_options[], top_options[],
	profile_options[],
	annotate_options[], evlist_options[], buildid_list_options[], buildid_cache_options[], archive_options[],
	export_options[], exporter_options[], stat_report_options[], diff_options[],
	compare_options[], check_options[], config_options[], kallsyms_options[], inject_options[], data_options[],
	sched_options[], probe_options[], trace_options[];

#endif
