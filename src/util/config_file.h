/* SPDX-License-Identifier: MIT */
/*
 * config_file: files in the syntax of git's configuration, which perf's has, too: sections in brackets, names and
 * values between which a = stands, values that may be quoted, comments after # and ;.
 *
 *	[call-graph]
 *		record-mode = dwarf	-> "call-graph.record-mode", "dwarf", line 2
 *
 * Source: perf-config(1); git-config(1), "Syntax".
 */
#ifndef PSTAT_CONFIG_FILE_H
#define PSTAT_CONFIG_FILE_H

struct str;

/* One value: the key in lower case. A name without = is "true". line counts from 1. */
typedef void config_fn(void *context, const char *key, const char *value, unsigned line);
/* One line that is damaged, which gives no value; why is a phrase such as "there is no ]". */
typedef void config_damage_fn(void *context, unsigned line, const char *why);
struct config_reader {
	config_fn *value;
	config_damage_fn *damage; /* NULL: damaged lines are passed over */
	void *context;
};
/* Calls the reader for each value and each damaged line, in the order of the text, which is written to. */
void config_parse(char *text, const struct config_reader *reader);
/*
 * The same for a file. As perf does, a file that is neither ours nor root's is not believed. 0, or a negative errno
 * with the reason in why: -ENOENT, there is none.
 */
int config_read(const char *path, const struct config_reader *reader, struct str *why);
/* perf's configuration of the user: $PERF_CONFIG, else ~/.perfconfig; the caller frees it. NULL: there is no home. */
char *config_user_path(void);

#endif
