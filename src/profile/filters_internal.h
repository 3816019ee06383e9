/*
 * filters: what filters.c and time_filter.c share, and the part of a filter that report treats apart.
 * Private to profile/.
 */
#ifndef PSTAT_FILTERS_H
#define PSTAT_FILTERS_H

#include "profile/profile.h"

/* Numbers of names of threads, and of dsos, may be those of others from now on. */
void filters_forget_numbers(const struct filters *filters);

/* ---- time_filter.c ---- */
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

/* ---- wall_clock.c ---- */
/* Is it meant as a time of day? It has a colon. */
bool wall_clock_is(const char *text, size_t len);
/*
 * "[YYYY-MM-DDT]HH:MM[:SS[.fraction]]", local time -> ns of the recording's clock. -EINVAL with a sentence: it is
 * none, or the recording does not know the time of day.
 */
int wall_clock_parse(const struct info *info, const char *text, size_t len, uint64_t *ns, struct str *err);

/* ---- event_switch.c ---- */
struct event_switch;
/* --switch-on, --switch-off; *made NULL: neither was given. -EINVAL: no such event, with a sentence. */
int event_switch_new(struct event_switch **made, const struct filter_options *options, const struct events *events,
		     struct str *err);
void event_switch_free(struct event_switch *the);
/* To be called once for each sample, in the order of time. */
bool event_switch_drops(struct event_switch *the, const struct data_event *event);

#endif
