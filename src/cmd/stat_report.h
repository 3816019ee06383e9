/*
 * stat_report: pstat stat report, which prints the counts of a recording. Private to cmd/.
 */
#ifndef PSTAT_STAT_REPORT_H
#define PSTAT_STAT_REPORT_H

#include "cmd/stat_options.h"

/* word: what stands after the options, or NULL. The exit status. */
int stat_report(struct stat_words *words, const char *word);

#endif
