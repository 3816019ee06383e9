/* SPDX-License-Identifier: MIT */
/*
 * unwind_stage.c: see unwind_stage.h. All but the workers is the consumer's thread. Jobs are used again: their memory
 * is that of the most samples that ever waited at once.
 */
#include "record/unwind_stage.h"

#include "replay/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	HELD_SAMPLES = 4096, /* that wait, with the dumps that were asked for; half a second at 8,000 a second */
	HELD_BYTES_LEAST = 32 << 20,
	WORKERS_MAX = 4,
	HALVES_MAX = 64,
	FORGET_EVERY = 256, /* rounds: what is known of processes that have ended */
};

struct unwind_stage {
	struct unwind_stage_options options;
	const struct events *recorded;
	struct events written, brief;
	struct stage *stage;
	struct unwind_workers *workers;
	struct unwind_files *files;

	/* Processes and their maps, as records tell of them. */
	struct info info;
	struct note_list notes; /* of records that made no sense */
	struct decoder decoder, brief_decoder;
	struct recording_info recording;
	struct replay replay;
	struct str brief_record;
	struct unwound_room room; /* of samples that are written at once */
	uint64_t rounds;

	/* Jobs. */
	struct unwind_job **jobs; /* all, by index */
	size_t n_jobs, cap_jobs;
	struct unwind_job *idle;
	struct unwind_job *ready, *ready_last; /* to be given */
	size_t n_ready;
	size_t n_given; /* and not taken back */
	struct unwind_job *done; /* taken back, and not collected */
};

/* ---- jobs ---- */

static struct unwind_job *job_get(struct unwind_stage *unwind)
{
	struct unwind_job *job = unwind->idle;

	if (job) {
		unwind->idle = job->next;
		job->next = NULL;
		return job;
	}
	job = xcalloc(1, sizeof(*job));
	str_init(&job->record);
	str_init(&job->out);
	job->index = unwind->n_jobs;
	VEC_GROW(unwind->jobs, unwind->n_jobs, unwind->cap_jobs);
	unwind->jobs[unwind->n_jobs++] = job;
	return job;
}

static void job_put(struct unwind_stage *unwind, struct unwind_job *job)
{
	job->look_only = false;
	job->next = unwind->idle;
	unwind->idle = job;
}

static void make_ready(struct unwind_stage *unwind, struct unwind_job *job)
{
	job->next = NULL;
	if (unwind->ready)
		unwind->ready_last->next = job;
	else
		unwind->ready = job;
	unwind->ready_last = job;
	unwind->n_ready++;
}

static void give_ready(struct unwind_stage *unwind)
{
	if (!unwind->n_ready)
		return;
	unwind_workers_give(unwind->workers, unwind->ready, unwind->ready_last, unwind->n_ready);
	unwind->n_given += unwind->n_ready;
	unwind->ready = unwind->ready_last = NULL;
	unwind->n_ready = 0;
}

/* Takes back the jobs that are done. One that was only a look at a file has done its work. */
static void take_back(struct unwind_stage *unwind, bool wait)
{
	struct unwind_job *next, *job = unwind_workers_take_done(unwind->workers, wait), **end = &unwind->done;

	while (*end)
		end = &(*end)->next;
	for (; job; job = next) {
		next = job->next;
		unwind->n_given--;
		job->next = NULL;
		if (job->look_only) {
			job_put(unwind, job);
			continue;
		}
		*end = job;
		end = &job->next;
	}
}

/* ---- in the order of time ---- */

/* The job's index stands where a file's offset would. */
static int sample_in_order(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	struct unwind_stage *unwind = context;
	struct unwind_job *job = unwind->jobs[sample->record->offset];

	(void)err;
	job->time_ns = sample->sample->time_ns;
	job->knows_code = replay_knows_code(replay, sample->thread);
	if (sample->thread->address_space)
		job->space = address_space_snapshot(sample->thread->address_space);
	make_ready(unwind, job);
	return 0;
}

/* A file that was mapped is opened now: its process may end before a sample of it comes. */
static int other_in_order(void *context, struct replay *replay, const struct record *record,
			  const struct record_body *body, struct thread *thread, struct str *err)
{
	struct unwind_stage *unwind = context;
	const struct map *map;
	struct unwind_job *job;

	(void)replay;
	(void)err;
	if ((record->type != RECORD_MMAP && record->type != RECORD_MMAP2) || !thread || !thread->address_space)
		return 0;
	map = address_space_find(thread->address_space, body->mmap.start);
	if (!map || !unwind_files_see(unwind->files, map->dso, &body->mmap))
		return 0;
	job = job_get(unwind);
	job->look_only = true;
	job->dso = map->dso->index;
	make_ready(unwind, job);
	return 0;
}

static int feed(struct unwind_stage *unwind, const void *bytes, size_t job_index, struct str *err)
{
	struct record record;

	record_from_bytes(&record, bytes, job_index, false);
	return replay_feed(&unwind->replay, &record, err);
}

/* ---- the stage ---- */

/* Nothing of the user's is to be found: a thread of the kernel, or a task that has given its memory back. */
static int write_now(struct unwind_stage *unwind, struct record_body *body, size_t bytes, struct str *out,
		     struct str *err)
{
	const struct unwound_chain none = { .end = CHAIN_COMPLETE };
	int rc = unwound_sample(body, bytes, unwind->written.v[body->event->index], &none, &unwind->room, out, err);

	return rc ? rc : STAGE_REPLACED;
}

static int take_sample(struct unwind_stage *unwind, struct record_body *body, uint64_t ticket, struct str *err)
{
	struct unwind_job *job = job_get(unwind);
	int rc;

	job->ticket = ticket;
	str_reset(&job->record);
	str_reset(&unwind->brief_record);
	rc = unwound_trim(body, &job->record, err);
	if (!rc)
		rc = unwound_brief(body, &unwind->brief, &unwind->brief_record, err);
	if (!rc)
		rc = feed(unwind, unwind->brief_record.s, job->index, err);
	return rc ? rc : STAGE_LATER;
}

static int take(void *data, const struct perf_event_header *header, uint64_t ticket, struct str *out, struct str *err)
{
	struct unwind_stage *unwind = data;
	struct str why = STR_INIT;
	struct record_body body;
	struct record record;
	int rc;

	if (header->type != RECORD_SAMPLE)
		return feed(unwind, header, 0, err);
	record_from_bytes(&record, (const uint8_t *)header, 0, false);
	rc = record_decode(&unwind->decoder, &record, &body, &why);
	str_release(&why);
	/* Samples of no known event, in whatever form, and those without a copy of the stack are not changed. */
	if (!body.event || !unwound_takes(body.event))
		return STAGE_PASS;
	/* A broken sample can't be written as it is: the file says that such samples have another form. */
	if (rc) {
		unwind->stage->lost++;
		return STAGE_REPLACED;
	}
	if (!body.sample.user_regs.abi)
		return write_now(unwind, &body, record.size, out, err);
	return take_sample(unwind, &body, ticket, err);
}

static int collect(void *data, bool wait, uint64_t *ticket, struct str *out, struct str *err)
{
	struct unwind_stage *unwind = data;
	struct unwind_job *job;
	int rc = 0;

	give_ready(unwind);
	if (!unwind->done)
		take_back(unwind, false);
	/* Half and half again: no more often than there could be records. */
	for (int i = 0; !rc && wait && !unwind->done && i < HALVES_MAX; i += !unwind->n_given) {
		if (!unwind->n_given)
			rc = replay_make_room(&unwind->replay, err);
		give_ready(unwind);
		if (unwind->n_given)
			take_back(unwind, true);
	}
	job = unwind->done;
	if (rc || !job)
		return rc;
	unwind->done = job->next;
	*ticket = job->ticket;
	unwind->stage->lost += !job->out.len;
	str_addn(out, job->out.s, job->out.len);
	job_put(unwind, job);
	return 1;
}

static int round_ends(void *data, struct str *err)
{
	struct unwind_stage *unwind = data;
	int rc = replay_round(&unwind->replay, err);

	if (++unwind->rounds % FORGET_EVERY == 0)
		replay_forget_processes(&unwind->replay);
	give_ready(unwind);
	return rc;
}

static const struct stage_ops ops = { .take = take, .collect = collect, .round = round_ends };

/* ---- beginning and end ---- */

static bool has_stacks(const struct events *recorded)
{
	bool any = false;

	for (size_t i = 0; i < recorded->n; i++)
		any |= unwound_takes(recorded->v[i]);
	return any;
}

/*
 * One unwinds more than a few CPUs can give samples of. Each reads the tables of all files for itself, and takes a CPU
 * from what is recorded: so others are there only where there are many CPUs.
 */
static size_t workers_of_use(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus < 4 ? 1 : cpus < 2 * WORKERS_MAX ? (size_t)cpus / 2 : WORKERS_MAX;
}

static void begin_replay(struct unwind_stage *unwind)
{
	static const struct replay_options options = { .file_order = false };
	const struct replay_handlers handlers = { .context = unwind, .sample = sample_in_order,
						  .other = other_in_order };

	unwound_events(&unwind->written, unwind->recorded, unwind->options.user_regs);
	unwound_brief_events(&unwind->brief, unwind->recorded);
	decoder_init(&unwind->decoder, unwind->recorded, false);
	decoder_init(&unwind->brief_decoder, &unwind->brief, false);
	unwind->recording = (struct recording_info){ .events = &unwind->brief, .info = &unwind->info,
						     .decoder = &unwind->brief_decoder, .notes = &unwind->notes };
	replay_init(&unwind->replay, &unwind->recording, &options);
	replay_begin(&unwind->replay, &handlers);
}

struct unwind_stage *unwind_stage_new(const struct events *recorded, const struct unwind_stage_options *options,
				      struct str *err)
{
	struct unwind_workers_options workers = { .n = options->n_workers, .recorded = recorded,
						  .arch = options->arch, .no_cache = options->no_cache,
						  .slow_us = options->slow_us };
	struct unwind_stage *unwind;

	if (!has_stacks(recorded))
		return NULL;
	unwind = xcalloc(1, sizeof(*unwind));
	unwind->options = *options;
	unwind->recorded = recorded;
	events_init(&unwind->written);
	events_init(&unwind->brief);
	info_init(&unwind->info);
	str_init(&unwind->brief_record);
	begin_replay(unwind);
	unwind->files = unwind_files_new(options->procfs, &options->clock);
	workers.n = workers.n ? workers.n : workers_of_use();
	workers.written = &unwind->written;
	workers.files = unwind->files;
	unwind->workers = unwind_workers_new(&workers, err);
	if (unwind->workers)
		return unwind;
	unwind_stage_free(unwind);
	return NULL;
}

void unwind_stage_free(struct unwind_stage *unwind)
{
	if (!unwind)
		return;
	stage_free(unwind->stage);
	unwind_workers_free(unwind->workers);
	for (size_t i = 0; i < unwind->n_jobs; i++) {
		address_space_snapshot_unref(unwind->jobs[i]->space);
		str_release(&unwind->jobs[i]->record);
		str_release(&unwind->jobs[i]->out);
		free(unwind->jobs[i]);
	}
	free(unwind->jobs);
	replay_release(&unwind->replay);
	unwind_files_free(unwind->files);
	decoder_release(&unwind->decoder);
	decoder_release(&unwind->brief_decoder);
	events_release(&unwind->written);
	events_release(&unwind->brief);
	info_release(&unwind->info);
	note_list_release(&unwind->notes);
	str_release(&unwind->brief_record);
	unwound_room_release(&unwind->room);
	free(unwind);
}

const struct events *unwind_stage_written(const struct unwind_stage *unwind)
{
	return &unwind->written;
}

static size_t bytes_to_hold(const struct unwind_stage *unwind)
{
	size_t bytes = HELD_BYTES_LEAST;

	if (unwind->options.held_bytes)
		return unwind->options.held_bytes;
	for (size_t i = 0; i < unwind->recorded->n; i++) {
		const struct data_event *event = unwind->recorded->v[i];
		size_t asked = (size_t)HELD_SAMPLES * event->attr.sample_stack_user;

		if (unwound_takes(event) && asked > bytes)
			bytes = asked;
	}
	return bytes;
}

struct stage *unwind_stage_begin(struct unwind_stage *unwind, struct record_sink *next)
{
	unwind->stage = stage_new(&ops, unwind, &unwind->written, next, bytes_to_hold(unwind));
	return unwind->stage;
}

void unwind_stage_count(struct unwind_stage *unwind, struct unwind_workers_counts *counts)
{
	unwind_workers_count(unwind->workers, counts);
}
