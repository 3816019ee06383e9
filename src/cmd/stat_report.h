/*
 * stat_report: pstat stat report, which prints the counts of a recording. Private to cmd/.
 */
#ifndef PSTAT_STAT_REPORT_H
#define PSTAT_STAT_REPORT_H

#include "cmd/stat_settings.h"

/* word: what stands after the options, or NULL. The exit status. */
int stat_report(struct stat_settings *settings, const char *word);

#endif
