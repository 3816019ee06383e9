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
/* Calls take for each value, in the order of the text, which is written to. */
void config_parse(char *text, config_fn *take, void *context);
/*
 * The same for a file. As perf does, a file that is neither ours nor root's is not believed. 0, or a negative errno
 * with the reason in why: -ENOENT, there is none.
 */
int config_read(const char *path, config_fn *take, void *context, struct str *why);
/* perf's configuration of the user: $PERF_CONFIG, else ~/.perfconfig; the caller frees it. NULL: there is no home. */
char *config_user_path(void);

#endif
