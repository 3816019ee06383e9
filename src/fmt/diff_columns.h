/*
 * diff_columns: the columns of a difference as text: a row of diff_columns[] each. Private to fmt/.
 */
#ifndef PSTAT_DIFF_COLUMNS_H
#define PSTAT_DIFF_COLUMNS_H

#include "fmt/fmt_internal.h"

struct diff_place { /* of a cell */
	const struct diff *diff;
	const struct diff_event *event;
	const struct diff_look *look;
	const struct diff_row *row;
	const struct diff_cell *cell;
	size_t side;
};
struct diff_column {
	unsigned width;
	void (*head)(const struct diff_place *place, struct str *out);
	/* Is it a column of this side? */
	bool (*is_there)(const struct diff_place *place);
	/* Nothing is added where there is nothing to say. */
	void (*cell)(const struct diff_place *place, struct str *out);
};

extern const struct diff_column diff_columns[];
extern const size_t n_diff_columns;
/* With the recording's number, where there are more than two. */
void diff_column_add_head(const struct diff_column *column, const struct diff_place *place, struct str *out);
unsigned diff_column_width(const struct diff_column *column, const struct diff_place *place);
/* What is compared is a part of 1. */
bool diff_shows_shares(const struct diff *diff);
/* Is it the column of perf's value? */
bool diff_column_is_value(const struct diff_column *column);

#endif
