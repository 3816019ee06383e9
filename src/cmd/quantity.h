/* SPDX-License-Identifier: MIT */
/*
 * quantity: "512K" and "90s" as numbers, for options that take sizes and times. Private to cmd/.
 */
#ifndef PSTAT_QUANTITY_H
#define PSTAT_QUANTITY_H

#include "util/util.h"

/* "4096B", "512K", "2M", "1G" -> bytes. -EINVAL without a sentence; a plain number is none. */
int parse_bytes(const char *text, uint64_t *bytes);
/* "500ns", "500us", "500ms", "30s", "5m", "1h", "1d" -> ns. -EINVAL without a sentence; a plain number is none. */
int parse_duration(const char *text, uint64_t *ns);

/*
 * "10" and "0.5" are seconds, "1.5m" and "500ms" have a unit. 0, or -EINVAL with a sentence about what, an option or
 * another word: it is no time above 0.
 */
int take_span(const char *what, const char *argument, uint64_t *ns, struct str *err);
/* Option --duration, an OPTION_CALL whose target is a uint64_t of ns. */
int take_duration(void *target, const char *argument, struct str *err);

/* The units, in order of size; false: no more. */
bool byte_unit_row(size_t i, const char **name, const char **help);
bool time_unit_row(size_t i, const char **name, const char **help);

#endif
