/* SPDX-License-Identifier: MIT */
/*
 * feature.h: what the feature_*.c files share. Private to data/.
 *
 * A feature is a row of fields, a field is of a kind. A kind knows how its bytes become a member of struct
 * info, how they are written again, how the header's text shows them and what it owns on the heap. The
 * text is the row's `words`: "{name}" in it stands for the field of that name, "{name:8}" for eight
 * columns, to the right ("-8": to the left).
 */
#ifndef PSTAT_DATA_FEATURE_H
#define PSTAT_DATA_FEATURE_H

#include "data/bytes.h"
#include "data/data.h"

struct feature_kind;
struct feature_field {
	const char *name; /* in the words */
	const struct feature_kind *kind;
	uint16_t at; /* in struct info, or in an element of its list */
	uint32_t n; /* list: bytes of its count; version: bytes; blocks: the most that there may be; rest: its size in struct info */
	const struct feature_list *list;
};
struct feature_list {
	const struct feature_field *fields; /* of one element; ended by a row without a kind */
	uint16_t element_bytes;
	const char *words; /* for each element */
	const char *between; /* these */
};

struct feature_row {
	unsigned id;
	const char *name;
	bool full; /* printed with -I only */
	const char *words;
	const struct feature_field *fields;
};

/* The state of a feature that is being read, for its kinds. They may only move the cursor and set `why`. */
struct feature_reading {
	struct cursor c;
	struct info *info;
	struct events *events;
	const char *why; /* static text: what is wrong */
};
/* The same while a feature is written or shown, for which out is. */
struct feature_telling {
	const struct info *info;
	const struct events *events;
	struct str *out;
	size_t start; /* where the feature begins in out */
};
struct feature_kind {
	/* NULL: not among the bytes. What failed half-way is released. */
	void (*read)(struct feature_reading *r, const struct feature_field *f, void *at);
	void (*write)(const struct feature_telling *t, const struct feature_field *f, const void *at);
	/* NULL: in no words. */
	void (*print)(const struct feature_telling *t, const struct feature_field *f, const void *at);
	/* NULL: owns nothing. `at` is then as if nothing had been read. */
	void (*release)(struct info *info, const struct feature_field *f, void *at);
};
#define MAY_BE_UNUSED __attribute__((unused))
#define FEATURE_READ(name)                                                                         \
	static void name##_read(struct feature_reading *r MAY_BE_UNUSED,                           \
				const struct feature_field *f MAY_BE_UNUSED,                       \
				void *at MAY_BE_UNUSED)
#define FEATURE_TELL(name, verb)                                                                   \
	static void name##_##verb(const struct feature_telling *t MAY_BE_UNUSED,                   \
				  const struct feature_field *f MAY_BE_UNUSED,                     \
				  const void *at MAY_BE_UNUSED)
#define FEATURE_WRITE(name) FEATURE_TELL(name, write)
#define FEATURE_PRINT(name) FEATURE_TELL(name, print)
#define FEATURE_RELEASE(name)                                                                      \
	static void name##_release(struct info *info MAY_BE_UNUSED,                                \
				   const struct feature_field *f MAY_BE_UNUSED, void *at)

/* feature_fields.c */
extern const struct feature_kind feature_text, feature_list, feature_count;
/* feature_numbers.c */
extern const struct feature_kind feature_u32, feature_u64, feature_hex, feature_version,
	feature_seconds, feature_nanoseconds, feature_duration, feature_date, feature_clock,
	feature_resolution, feature_packing, feature_target;
/* feature_topology.c */
extern const struct feature_kind feature_cpus, feature_dies, feature_blocks, feature_blocks_size;
/* feature_events.c */
extern const struct feature_kind feature_event_desc, feature_group_desc, feature_caps;
/* feature_blobs.c */
extern const struct feature_kind feature_build_ids, feature_rest, feature_blob,
	feature_program;

/* ---- feature_fields.c ---- */
void feature_fields_read(struct feature_reading *r, const struct feature_field *fields, void *base);
void feature_fields_write(const struct feature_telling *t, const struct feature_field *fields,
			  const void *base);
void feature_fields_release(struct info *info, const struct feature_field *fields, void *base);
/* The words, with what the fields say. */
void feature_words(const struct feature_telling *t, const char *words,
		   const struct feature_field *fields, const void *base);
/* The next element of a vector of struct info, zeroed. */
void *feature_next(void *vec, size_t element_bytes);
/* The functions of the kind feature_list, for kinds that are lists with a difference. */
void feature_list_read(struct feature_reading *r, const struct feature_field *f, void *at);
void feature_list_write(const struct feature_telling *t, const struct feature_field *f,
			const void *at);
void feature_list_print(const struct feature_telling *t, const struct feature_field *f,
			const void *at);
void feature_list_release(struct info *info, const struct feature_field *f, void *at);

/*
 * Texts in features are a u32 length, then that many bytes with a NUL among them; perf pads them to
 * 64 bytes, and so does pstat. Read as a heap copy; NULL and the cursor bad where it does not fit.
 */
char *feature_text_read(struct cursor *c);
void feature_text_write(struct str *out, const char *text);
/* A text from the file, made printable; NULL prints as "". */
void feature_text_print(struct str *out, const char *text);

/* ---- feature_blobs.c ---- */
/* One entry of the build-id feature, which is also a HEADER_BUILD_ID record. NULL or why not. */
const char *build_id_entry_read(struct cursor *c, struct info *info);

#endif
