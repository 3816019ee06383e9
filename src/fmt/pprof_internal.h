/*
 * pprof_internal: a profile.proto while it is made: what pprof.c (samples) and pprof_code.c (locations) share. Private
 * to these two.
 */
#ifndef PSTAT_PPROF_INTERNAL_H
#define PSTAT_PPROF_INTERNAL_H

#include "fmt/fmt_internal.h"
#include "fmt/protobuf.h"

/* Fields of message Profile. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING_TABLE,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_SAMPLE_TYPE,
};

struct pprof_event {
	const struct data_event *event;
	const struct cells *cells;
	uint64_t type, unit; /* numbers of texts: of its period */
	uint64_t n_samples, period;
};

struct pprof {
	struct table *table;
	struct output *output;
	struct gzip *gzip;
	struct str pending; /* of the file, not packed yet */
	struct str message, part, text; /* scratch: a message, one within it, a text */
	struct text_index *texts; /* the string table; 0 is "" */
	uint32_t n_texts;
	struct pprof_event *events;
	size_t n_events, cap_events;
	bool *location_used; /* by number; the last one: LOCATION_NONE */
	size_t n_locations;
};

/* The number of a text in the string table; printable: whatever it came from. */
uint64_t pprof_text(struct pprof *p, const char *text, size_t n);
/* p->message as a field of the profile, and it is empty again. */
void pprof_put(struct pprof *p, unsigned field);
/* The id of a location, which is used from then on. Never 0. */
uint64_t pprof_location(struct pprof *p, uint32_t location);

/* pprof_code.c: mappings, locations and functions of all that were used. */
void pprof_put_code(struct pprof *p);

#endif
