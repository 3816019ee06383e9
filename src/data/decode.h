/* SPDX-License-Identifier: MIT */
/*
 * decode.h: what the files between bytes and struct record_body share. Private to data/. Each calls only
 * those before it here: decoder.c, sample.c, events.c; sample_print.c; record_fields.c, record_cpus.c; record.c; dump.c.
 */
#ifndef PSTAT_DATA_DECODE_H
#define PSTAT_DATA_DECODE_H

#include "data/bytes.h"
#include "data/data.h"

/* ---- decoder.c ---- */
/*
 * n 8-byte words in native order: in place where they are aligned and native, else a copy in the
 * decoder. NULL, and the cursor bad, where they are not there.
 */
const uint64_t *decoder_words(struct decoder *decoder, struct cursor *c, uint64_t n);
/* Counter values in the layout of a read_format. */
const char *read_values_decode(struct decoder *decoder, uint64_t format, struct cursor *c,
			       struct read_values *values);
void read_values_encode(const struct read_values *values, uint64_t format, struct str *out);

/* ---- sample.c ---- */
/* Fills event->sample_rows from its attr. */
void sample_rows_find(struct data_event *event);
/* Why a sample cannot be decoded: static text, NULL where all is well. *sample is all zeros before. */
const char *sample_decode(struct decoder *decoder, const struct data_event *event, struct cursor *c,
			  struct sample *sample);
/* The payload, appended. */
void sample_encode(const struct sample *sample, const struct data_event *event, struct str *out);

/* ---- events.c ---- */
/* The place of TIME: words from the start of a SAMPLE's payload; from the end of another's, 1 is the last. */
int sample_time_word(const struct perf_event_attr *attr); /* -1: it has none */
int trailer_time_word(const struct perf_event_attr *attr);

/* ---- sample_print.c ---- */
/* The detail lines of a dump. */
void sample_print(const struct sample *sample, struct str *out);
void read_values_print(const struct read_values *values, struct str *out);

/* ---- record.c ---- */
/* How one part of a record's payload is decoded, encoded and printed; rows in record_fields.c. */
struct field_kind;
struct record_field {
	const char *name;
	const struct field_kind *kind;
	uint16_t at; /* in struct record_body */
	uint16_t n; /* chars: bytes; words: words per row */
};
enum { RECORD_FIELDS_MAX = 12 };
struct record_row {
	uint32_t type;
	const char *name;
	uint16_t min_size; /* header included */
	const struct record_field *fields; /* ended by a row without name */
	uint16_t alt_misc; /* a bit of misc with which alt_fields hold; 0: never */
	const struct record_field *alt_fields;
	/* The rest of the dump's line; NULL: every field as "name value". */
	void (*print)(const struct record_body *body, struct str *out);
};
/* NULL: a type that pstat does not know. */
const struct record_row *record_row(uint32_t type);
const struct record_field *record_row_fields(const struct record_row *row, uint16_t misc);

/* The state of a record that is being decoded, for its kinds of fields. */
struct decode_state {
	struct decoder *decoder;
	struct cursor c;
	struct record_body *body;
	const char *why; /* static text: what is wrong */
};
struct field_kind {
	void (*decode)(struct decode_state *state, const struct record_field *field, void *at);
	/* start: where the record begins in out. */
	void (*encode)(struct str *out, size_t start, const struct record_field *field,
		       const struct record_body *body, const struct data_event *event,
		       const void *at);
	void (*print)(struct str *out, const struct record_field *field,
		      const struct record_body *body, const void *at);
};
extern const struct field_kind field_u8, field_u16, field_u32, field_s32, field_u64, field_hex32,
	field_hex64, field_zeros, field_chars, field_hexes, field_text, field_words,
	field_rest_words, field_rest_bytes, field_attr, field_code, field_read, field_threads,
	field_cpus, field_update;

#endif
