/*
 * feature.h: what the feature_*.c files share. Private to data/.
 *
 * Texts in features are a u32 length, then that many bytes with a NUL among them; perf pads them to
 * 64 bytes, and so does pstat.
 */
#ifndef PSTAT_DATA_FEATURE_H
#define PSTAT_DATA_FEATURE_H

#include "data/bytes.h"
#include "data/data.h"

struct feature_row {
	unsigned id;
	const char *name;
	bool full; /* printed with -I only */
	uint16_t at; /* of the member that text and number features fill */
	/* NULL or why not. On failure `release` is called, so half-filled is fine. */
	const char *(*read)(const struct feature_row *row, struct cursor *c, struct info *info,
			    struct events *events);
	void (*write)(const struct feature_row *row, const struct info *info,
		      const struct events *events, struct str *out);
	void (*print)(const struct feature_row *row, const struct info *info,
		      const struct events *events, struct str *out);
	void (*release)(const struct feature_row *row, struct info *info); /* may be NULL */
};

#define FEATURE_READ(name)                                                                         \
	const char *feature_##name##_read(const struct feature_row *row, struct cursor *c,         \
					  struct info *info, struct events *events)
#define FEATURE_WRITE(name)                                                                        \
	void feature_##name##_write(const struct feature_row *row, const struct info *info,        \
				    const struct events *events, struct str *out)
#define FEATURE_PRINT(name)                                                                        \
	void feature_##name##_print(const struct feature_row *row, const struct info *info,        \
				    const struct events *events, struct str *out)
#define FEATURE_RELEASE(name)                                                                      \
	void feature_##name##_release(const struct feature_row *row, struct info *info)
#define FEATURE_UNUSED (void)row, (void)info, (void)events
#define FEATURE_FUNCTIONS(name)                                                                    \
	FEATURE_READ(name);                                                                        \
	FEATURE_WRITE(name);                                                                       \
	FEATURE_PRINT(name);                                                                       \
	FEATURE_RELEASE(name)

#define FEATURE_NUMBERS(name)                                                                      \
	FEATURE_READ(name);                                                                        \
	FEATURE_WRITE(name);                                                                       \
	FEATURE_PRINT(name)

/* feature_numbers.c */
FEATURE_NUMBERS(nrcpus);
FEATURE_NUMBERS(sample_time);
FEATURE_NUMBERS(compressed);
FEATURE_NUMBERS(clock_data);
/* feature_topology.c */
FEATURE_FUNCTIONS(cpu_topology);
FEATURE_FUNCTIONS(numa);
FEATURE_FUNCTIONS(cache);
FEATURE_FUNCTIONS(mem_topology);
FEATURE_FUNCTIONS(hybrid);
/* feature_events.c */
FEATURE_FUNCTIONS(event_desc);
FEATURE_FUNCTIONS(group_desc);
FEATURE_FUNCTIONS(pmu_mappings);
FEATURE_FUNCTIONS(cpu_pmu_caps);
FEATURE_FUNCTIONS(pmu_caps);
/* feature_blobs.c */
FEATURE_FUNCTIONS(build_ids);
FEATURE_FUNCTIONS(tracing_data);
FEATURE_FUNCTIONS(auxtrace);
FEATURE_FUNCTIONS(bpf_progs);
FEATURE_FUNCTIONS(btfs);

/* Empties a vector of struct info. */
#define VEC_RELEASE(vec)                                                                           \
	do {                                                                                       \
		free((vec).v);                                                                     \
		(vec).v = NULL;                                                                    \
		(vec).n = (vec).cap = 0;                                                           \
	} while (0)

/* The next element, zeroed. */
#define VEC_NEXT(vec)                                                                              \
	({                                                                                         \
		VEC_GROW((vec).v, (vec).n, (vec).cap);                                             \
		memset(&(vec).v[(vec).n], 0, sizeof(*(vec).v));                                    \
		&(vec).v[(vec).n++];                                                               \
	})

/* A feature text as a heap copy; NULL and the cursor bad where it does not fit. */
char *feature_text(struct cursor *c);
void feature_put_text(struct str *out, const char *text);
void text_list_read(struct text_list *list, struct cursor *c);
void text_list_write(const struct text_list *list, struct str *out);
void text_list_release(struct text_list *list);
/* One entry of the build-id feature, which is also a HEADER_BUILD_ID record. */
const char *build_id_entry_read(struct cursor *c, struct info *info);
/* A line's text from the file, made printable; NULL prints as "". */
void feature_add_text(struct str *out, const char *text);

#endif
