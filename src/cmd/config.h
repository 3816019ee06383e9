/* SPDX-License-Identifier: MIT */
/*
 * config: what ~/.perfconfig and pstat's own file say, as options in front of those that the user types. Private to
 * cmd/ and main.c.
 *
 *	/etc/perfconfig, ~/.perfconfig, ~/.config/pstat/config -> rows of config_rows[] -> words before argv[1]
 *
 * No count and no machine format changes by a configuration in silence: a note names the file and the key of each
 * value that is used. A line that is damaged and a key that is nobody's are named, too, one of each kind in a file;
 * perf's keys that mean nothing here are passed over in perf's files. Commands that have no row open no file.
 */
#ifndef PSTAT_CMD_CONFIG_H
#define PSTAT_CMD_CONFIG_H

#include "cmd/command.h"

enum config_form {
	CONFIG_VALUE, /* --OPTION VALUE */
	CONFIG_BOOL, /* --OPTION, --no-OPTION */
	CONFIG_NO_BOOL, /* the opposite */
	CONFIG_WORDS, /* one of the row's words, each with its option */
	CONFIG_VARIABLE, /* the environment variable OPTION, unless it is set */
	CONFIG_PAGER, /* false: no pager */
	CONFIG_CACHE, /* build_cache_place() reads it */
};

/* To add a key: a row here, pstat-config(1), tests/cli/config.sh. */
struct config_row {
	const char *key;
	const char *command; /* one of commands[]; NULL: all */
	enum config_form form;
	const char *option; /* its long name; CONFIG_WORDS: "word=option word=option", an option may be empty */
	const char *help;
};
extern const struct config_row config_rows[]; /* a NULL key ends them */

struct config_words { /* begins as { 0 } */
	char **argv; /* NULL: those of the user are all there are */
	char **texts; /* of the configuration */
	size_t n, cap;
};
/* Finds the command's words in the configuration, after a note for each; release them after the command has run. */
void config_words_find(struct config_words *words, const struct command *command, int *argc, char ***argv);
void config_words_release(struct config_words *words);
#define CONFIG_SYSTEM_PATH "/etc/perfconfig"
enum { CONFIG_FILES_MAX = 3 };
struct config_path {
	char *path; /* NULL: there is no home */
	bool own; /* pstat's alone: a key of perf's that means nothing to pstat is wrong there */
};
/*
 * The files that count, in the order of being read, so that the last value of a key holds: the machine's, perf's of
 * the user, and $XDG_CONFIG_HOME/pstat/config; $PERF_CONFIG alone where that is set. How many; the caller frees each.
 */
size_t config_paths(struct config_path paths[CONFIG_FILES_MAX]);

enum config_key {
	CONFIG_KEY_KNOWN, /* it has a row */
	CONFIG_KEY_PERF, /* perf's, which means nothing to pstat */
	CONFIG_KEY_UNKNOWN,
};
enum config_key config_key_kind(const char *key);
/* Adds "; is 'x' meant?" where a key with a row is near. */
void config_add_near(struct str *out, const char *key);

#endif
