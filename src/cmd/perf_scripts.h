/* SPDX-License-Identifier: MIT */
/*
 * perf_scripts: the scripts that a package of perf has, by their names: SCRIPT.py, and two files of shell commands that
 * record what it needs and run it, in which `perf` is this program. $PERF_EXEC_PATH: the folder that has
 * scripts/python. Private to cmd/.
 */
#ifndef PSTAT_PERF_SCRIPTS_H
#define PSTAT_PERF_SCRIPTS_H

#include "util/util.h"

/* Sets what scripts expect: PERF_EXEC_PATH, and for what is ours PSTAT, the path of this program. */
void perf_scripts_environment(void);
/* The path of a script that is named by its path or its name; the caller frees it. NULL after a message. */
char *perf_scripts_find(const char *name);
/* A name and a line for each. */
void perf_scripts_list(struct str *out);
/* argv, ended by NULL: record NAME, report NAME, or NAME for both, and arguments. Returns only with an exit status. */
int perf_scripts_run(char *const *argv);

#endif
