/* SPDX-License-Identifier: MIT */
/*
 * compare_formats: what the formats of a comparison share. Private to compare/.
 */
#ifndef PSTAT_COMPARE_FORMATS_H
#define PSTAT_COMPARE_FORMATS_H

#include "compare/compare.h"

/* "12.3 ms", "4.1 MiB", "1.23 G". */
void compare_add_number(struct str *out, double value, const struct compare_column *column);
/* A line: "2 commands, 12 rounds in an order by chance (--seed 5) after 1 to warm up". */
void compare_add_session(struct str *out, const struct compare_data *data, size_t session);
extern const char *const compare_kind_words[]; /* by enum compare_kind */
/* Adds the name that a column has in JSON; adds the column that has a name there, whose unit may be "second". */
void compare_add_json_name(struct str *out, const struct compare_column *column);
size_t compare_add_json_column(struct compare_data *data, const char *name, const char *unit);
/* "-3.1 %"; absolute: "-3", in the column's unit. */
void compare_add_change(struct str *out, double change, bool absolute, const struct compare_column *column);

#endif
