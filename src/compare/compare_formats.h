/*
 * compare_formats: what the formats of a comparison share. Private to compare/.
 */
#ifndef PSTAT_COMPARE_FORMATS_H
#define PSTAT_COMPARE_FORMATS_H

#include "compare/compare.h"

/* "12.3 ms", "4.1 MiB", "1.23 G". */
void compare_add_number(struct str *out, double value, const struct compare_column *column);
/* "-3.1 %"; absolute: "-3", in the column's unit. */
void compare_add_change(struct str *out, double change, bool absolute, const struct compare_column *column);

#endif
