/* SPDX-License-Identifier: MIT */
/* inject_internal: what the changes share. Private to inject/. */
#ifndef PSTAT_INJECT_INTERNAL_H
#define PSTAT_INJECT_INTERNAL_H

#include "inject/inject.h"

struct inject {
	const struct inject_options *options;
	struct reader *reader;
	struct session session;
	struct events written; /* as the output has them */
	struct writer writer;
	struct inject_result *result;
	struct inject_ids *ids;
	struct inject_waits *waits; /* NULL: not wanted */
	struct inject_chains *chains; /* likewise */
	struct inject_jit *jit; /* likewise */
	struct inject_maps *maps; /* likewise */
	uint64_t delivered; /* samples, as replay counts those that it was fed */
};

/* A record as it is, or one that was made. 0, or a negative errno with a sentence. */
int inject_put_bytes(struct inject *inject, const void *bytes, size_t n, struct str *err);
int inject_put(struct inject *inject, const struct record_body *body, const struct data_event *event, struct str *err);

/* ---- inject_ids.c: build-ids of files ---- */

/* -EINVAL with a sentence: options.known_build_ids is wrong. */
int inject_ids_new(struct inject_ids **ids, struct inject *inject, struct str *err);
void inject_ids_free(struct inject_ids *ids); /* NULL is nothing */
/* A sample, or a mapping, is in this file: its build-id is wanted. NULL is nothing. */
void inject_ids_want(struct inject_ids *ids, struct dso *dso);
/* The files of a sample's addresses. */
void inject_ids_sample(struct inject_ids *ids, const struct replay_sample *sample);
/* The same mapping with its file's build-id; false: it stays as it is. */
bool inject_ids_map(struct inject_ids *ids, struct record_body *body, struct dso *dso);
/* Into a pipe: those that are not in it yet, before what needs them. */
int inject_ids_put(struct inject_ids *ids, struct str *err);
/* Notes about files whose build-id could not be had. */
void inject_ids_note(const struct inject_ids *ids, struct note_list *notes);

/* ---- inject_maps.c: mappings that no sample is in are left out ---- */

struct inject_maps *inject_maps_new(struct inject *inject);
void inject_maps_free(struct inject_maps *maps); /* NULL is nothing */
/* True: the mapping's record is not to be written, for now; false: it stays. */
bool inject_maps_take(struct inject_maps *maps, const struct thread *thread, const struct record_body *body);
/* The thread's process executes another program. */
void inject_maps_exec(struct inject_maps *maps, const struct thread *thread);
/* Writes the mappings of the sample's addresses. 0, or a negative errno with a sentence. */
int inject_maps_sample(struct inject_maps *maps, const struct replay_sample *sample, struct str *err);

/* ---- inject_waits.c ---- */

/* -EINVAL with a sentence: the recording has no such events, or does not describe them. */
int inject_waits_new(struct inject_waits **waits, struct inject *inject, struct str *err);
void inject_waits_free(struct inject_waits *waits); /* NULL is nothing */
/* 1: the sample is one of those that are joined, and dealt with; 0: it is not; a negative errno with a sentence. */
int inject_waits_sample(struct inject_waits *waits, const struct replay_sample *sample, struct str *err);

/* ---- inject_jit.c ---- */

struct inject_jit *inject_jit_new(struct inject *inject);
void inject_jit_free(struct inject_jit *jit); /* NULL is nothing */
/* The mappings of what was made up to this time, which come before the record of this time. */
int inject_jit_until(struct inject_jit *jit, uint64_t time_ns, struct str *err);
/* 1: this mapping is left out; 0: it stays; a negative errno with a sentence. */
int inject_jit_map(struct inject_jit *jit, const struct record_body *body, struct str *err);

/* ---- inject_chains.c ---- */

/* Fills inject->written. -EINVAL with a sentence: no event has stacks to unwind. */
int inject_chains_new(struct inject_chains **chains, struct inject *inject, struct str *err);
void inject_chains_free(struct inject_chains *chains); /* NULL is nothing */
/* Returns what inject_waits_sample does. */
int inject_chains_sample(struct inject_chains *chains, const struct replay_sample *sample, struct str *err);

#endif
