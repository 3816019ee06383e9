/* SPDX-License-Identifier: MIT */
/*
 * time_filter: the ranges of --time. Private to profile/.
 */
#ifndef PSTAT_TIME_FILTER_H
#define PSTAT_TIME_FILTER_H

#include "profile/profile.h"

struct time_range { /* both ends belong to it */
	uint64_t start_ns, end_ns;
};
struct time_ranges {
	struct time_range *v;
	size_t n, cap;
};
/* The text has percentages: first_ns and last_ns are needed. */
bool time_ranges_need_bounds(const char *text);
/*
 * "START,STOP" in seconds or as times of day (by CLOCK_DATA in info), either may be empty; or "A%-B%",
 * "A%/N" (the Nth part of that size), "A%" (the first). Several with spaces between, percentages also with
 * commas. -EINVAL with a sentence.
 */
int time_ranges_parse(struct time_ranges *ranges, const char *text, uint64_t first_ns,
		      uint64_t last_ns, const struct info *info, struct str *err);
void time_ranges_release(struct time_ranges *ranges);
bool time_ranges_have(const struct time_ranges *ranges, uint64_t time_ns);
/* First and last sample's time: of the header, else of a pass over the file. -EINVAL for a pipe. */
int time_bounds(const struct reader *reader, uint64_t *first_ns, uint64_t *last_ns,
		struct str *err);

#endif
