/*
 * fmt: a table -> text: one file and one row each. A format computes nothing and asks nothing; what it needs to be
 * there stands in its row.
 */
#ifndef PSTAT_FMT_H
#define PSTAT_FMT_H

#include "hist/hist.h"

struct report_format {
	const char *name;
	const char *help;
	unsigned needs; /* enum table_needs */
	int (*print)(struct table *table, struct output *output);
};
/* By name: "stdio", "folded", "json"; or NULL. */
const struct report_format *report_format_find(const char *name);

#endif
