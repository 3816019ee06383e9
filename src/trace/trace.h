/* SPDX-License-Identifier: MIT */
/*
 * trace: the fields of tracepoints, as text and as numbers, from the formats that a recording carries.
 *
 *   tracepoints_new()    trace.c reads TRACING_DATA: the formats, texts of the kernel's, by the number of their event
 *   first sample         trace_format.c makes fields of the format's lines, trace_parse.c a program of its print format
 *   tracepoint_print()   trace_text.c runs the program over the sample's bytes, trace_eval.c works out its numbers:
 *                        "prev_comm=sh prev_pid=12 ..."
 *   tracepoint_value()   one field by its name, for sort keys, filters and columns
 *
 * A recording may be from anywhere: a format may be any text, and is bounded in all that is made of it
 * (trace_internal.h).
 */
#ifndef PSTAT_TRACE_H
#define PSTAT_TRACE_H

#include "data/data.h"

struct tracepoints;
struct tracepoint_field {
	const char *name;
	bool is_string, is_array, is_signed;
	unsigned size; /* bytes in the format; of the reference where the field is dynamic */
};
/* A field of a sample: a text, a number, or an array, whose bytes are in the sample's byte order. */
struct tracepoint_data {
	const char *name;
	bool is_text, is_number, is_signed, swap;
	const uint8_t *bytes;
	size_t len; /* of a text: up to its NUL */
};
/* Reads the recording's TRACING_DATA; NULL with a sentence: it has none, or it is broken. */
struct tracepoints *tracepoints_new(const struct recording_info *recording, struct str *err);
void tracepoints_free(struct tracepoints *tracepoints);
/* The name of the kernel's function at an address, and where it starts; NULL: not known. */
typedef const char *tracepoint_function_fn(void *context, uint64_t address, uint64_t *start);
/* Pointers to functions of the kernel are printed by their names, as perf does. */
void tracepoints_name_functions(struct tracepoints *tracepoints, tracepoint_function_fn *function, void *context);
/* Texts are the fields one by one, not what the kernel's format makes of them. */
void tracepoints_print_raw(struct tracepoints *tracepoints);
/* The text perf prints for a sample's raw data ("prev_comm=x ..."). false: no such format. */
bool tracepoint_print(struct tracepoints *tracepoints, const struct data_event *event,
		      const struct sample *sample, struct str *out);
/* Field by name: number or text. */
size_t tracepoint_n_fields(struct tracepoints *tracepoints, const struct data_event *event);
bool tracepoint_field(struct tracepoints *tracepoints, const struct data_event *event, size_t i,
		      struct tracepoint_field *field);
bool tracepoint_value(struct tracepoints *tracepoints, const struct data_event *event,
		      const struct sample *sample, const char *field, struct str *text,
		      int64_t *number, bool *is_number);
/*
 * All fields of a sample as they are, the n_common that all tracepoints have first. NULL: the sample has none, or no
 * format. Valid until the next call.
 */
const struct tracepoint_data *tracepoint_all(struct tracepoints *tracepoints, const struct data_event *event,
					     const struct sample *sample, size_t *n_common, size_t *n);
/* A number extended to 64 bits by its sign; 0: it is none. */
uint64_t tracepoint_number(const struct tracepoint_data *data);
/*
 * The place of a field that is a number, a text of fixed size or an array, for those who read it of each sample. It is
 * found once per event; false: the format has no such field. Reading gives a number, extended by its sign; false: the
 * sample ends before it, or it is none.
 */
struct tracepoint_place {
	uint32_t offset, size;
	bool is_signed, is_text, is_array, swap;
};
bool tracepoint_place(struct tracepoints *tracepoints, const struct data_event *event, const char *field,
		      struct tracepoint_place *place);
bool tracepoint_place_read(const struct tracepoint_place *place, const struct sample *sample, uint64_t *number);
/* The same for n of them, but a place of size 0 leaves its number as it was; false: the sample lacks one. */
bool tracepoint_places_read(const struct tracepoint_place *places, size_t n, const struct sample *sample,
			    uint64_t *numbers);
/*
 * Calls `tell` for each name that the event's format has for a value: of a field that is bits (their names are joined
 * by the delimiter), or of one that has one name for each value (delimiter NULL).
 */
typedef void tracepoint_name_fn(void *context, const char *field, const char *delimiter, uint64_t value,
				const char *name);
void tracepoint_value_names(struct tracepoints *tracepoints, const struct data_event *event, tracepoint_name_fn *tell,
			    void *context);
/* "sched" and "sched_switch" of an event with a format; they live as long as the tracepoints. */
bool tracepoint_names(struct tracepoints *tracepoints, const struct data_event *event, const char **system,
		      const char **name);

#endif
