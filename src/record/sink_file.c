/* SPDX-License-Identifier: MIT */
/*
 * sink_file.c: records into perf.data, in the order of this file: the numbers that others see, writing, what the
 * records tell, the moment between two files, the sink, the names of finished files, and how the next file begins.
 *
 * PATH is always the file that is being written. With --switch-output and --timestamp-filename a finished file becomes
 * PATH.<date and time>. Nothing is overwritten: a name that is taken already means another file of the same hundredth
 * of a second. Of more than --switch-max-files the oldest is removed. Only files of this recording are: those that an
 * earlier one left are somebody's.
 *
 * All of this runs on the consumer's thread, or before it starts and after it has ended; others see `shown`.
 */
#include "record/sink_file.h"

#include "record/synth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Pieces of this size and larger go to the file without another copy. */
enum { FLUSH_BYTES = 64 << 10 };

static int take_records(struct record_sink *sink, const void *records, size_t n, struct str *err);
static int end_round(struct record_sink *sink, struct str *err);
static int flush(struct record_sink *sink, struct str *err);
static int finish(struct record_sink *sink, struct str *err);

static bool is_switching(const struct record_plan *plan)
{
	return plan->switch_on_signal || plan->switch_bytes || plan->switch_ns;
}

static bool maps_data(const struct events *events)
{
	bool data = false;

	for (size_t i = 0; i < events->n; i++)
		data |= events->v[i]->attr.mmap_data;
	return data;
}

void sink_file_init(struct sink_file *file, const struct record_plan *plan,
		    const struct recording_info *recording, struct info *info, struct buildid_set *build_ids,
		    int wake_fd)
{
	*file = (struct sink_file){
		.sink = { .take = take_records, .round = end_round, .flush = flush, .end = finish },
		.plan = plan,
		.recording = recording,
		.info = info,
		.writer = { .fd = -1, .buf = STR_INIT, .unwritten = STR_INIT, .why = STR_INIT },
		.why = STR_INIT,
		.mended = STR_INIT,
		.build_ids = build_ids,
		.last_fd = -1,
		.wake_fd = wake_fd,
	};
	pthread_mutex_init(&file->lock, NULL);
	if (is_switching(plan) && plan->path)
		file->tasks = task_table_new(recording->events, maps_data(recording->events));
	decoder_init(&file->decoder, recording->events, false);
	sample_counts_init(&file->file, recording->events);
	sample_counts_init(&file->dropped, recording->events);
	sample_counts_init(&file->total, recording->events);
	file->cut = (struct file_cut){ .later = STR_INIT, .now = STR_INIT };
}

void sink_file_release(struct sink_file *file)
{
	if (!file->plan)
		return;
	writer_close(&file->writer);
	if (file->build_ids)
		buildid_set_free(file->build_ids);
	task_table_free(file->tasks);
	decoder_release(&file->decoder);
	sample_counts_release(&file->file);
	sample_counts_release(&file->dropped);
	sample_counts_release(&file->total);
	free(file->strays);
	str_release(&file->mended);
	str_release(&file->cut.later);
	str_release(&file->cut.now);
	for (size_t i = 0; i < file->n_kept; i++)
		free(file->kept[i].path);
	free(file->kept);
	free(file->last_path);
	if (file->last_fd >= 0)
		close(file->last_fd);
	str_release(&file->why);
	pthread_mutex_destroy(&file->lock);
	*file = (struct sink_file){ 0 };
}

/* ---- what others see ---- */

static uint64_t bytes_so_far(const struct sink_file *file)
{
	return file->writer.data_offset + file->writer.data_size + file->writer.buf.len;
}

static void add_to_shown(struct sink_file_totals *to, const struct sample_counts *counts)
{
	for (size_t i = 0; i <= counts->events->n; i++) {
		to->samples += counts->v[i].samples;
		to->lost += counts->v[i].lost + counts->v[i].lost_samples;
		to->throttled += counts->v[i].throttled;
		to->unthrottled += counts->v[i].unthrottled;
	}
}

static void show(struct sink_file *file)
{
	struct sink_file_totals now = {
		.files = file->n_files,
		.opened_ns = file->opened_ns,
		.bytes = file->bytes_before + (file->is_open ? bytes_so_far(file) : 0),
	};
	uint64_t written;

	add_to_shown(&now, &file->total);
	add_to_shown(&now, &file->file);
	written = now.samples;
	add_to_shown(&now, &file->dropped);
	now.not_written = now.samples - written;
	now.samples = written;
	pthread_mutex_lock(&file->lock);
	file->shown = now;
	pthread_mutex_unlock(&file->lock);
}

void sink_file_count(struct sink_file *file, struct sink_file_totals *totals)
{
	pthread_mutex_lock(&file->lock);
	*totals = file->shown;
	pthread_mutex_unlock(&file->lock);
}

bool sink_file_is_full(struct sink_file *file)
{
	return atomic_load(&file->is_full);
}

static void set_full(struct sink_file *file)
{
	const uint64_t one = 1;

	if (file->full)
		return;
	file->full = true;
	atomic_store(&file->is_full, true);
	/* A failure means a full counter: somebody is woken already. */
	(void)!write(file->wake_fd, &one, sizeof(one));
}

/* ---- writing ---- */

/* A first failure: what was taken for written and is not counts as dropped. */
static int failed_now(struct sink_file *file, int rc, struct str *err)
{
	const struct str *unwritten = &file->writer.unwritten;
	struct sample_counts gone;

	file->failed = rc;
	str_add(&file->why, err->s);
	sample_counts_init(&gone, file->recording->events);
	sample_counts_walk(&gone, (const uint8_t *)unwritten->s, unwritten->len, 0, NULL, NULL);
	sample_counts_subtract(&file->file, &gone);
	sample_counts_merge(&file->dropped, &gone);
	sample_counts_release(&gone);
	return rc;
}

static int failed_before(const struct sink_file *file, struct str *err)
{
	return fail(err, file->failed, "%s", file->why.s);
}

static int write_records(struct sink_file *file, const void *records, size_t n, struct str *err)
{
	int rc;

	if (file->failed)
		return failed_before(file, err);
	rc = writer_add(&file->writer, records, n, err);
	return rc ? failed_now(file, rc, err) : 0;
}

/* ---- what the records tell ---- */

/* Records that make processes, names and address spaces. */
static uint64_t wanted_types(const struct sink_file *file)
{
	uint64_t types = 1ull << RECORD_MMAP2 | 1ull << RECORD_SAMPLE;

	if (file->build_ids)
		types |= 1ull << RECORD_MMAP | 1ull << RECORD_FORK;
	for (unsigned i = 0; i < RECORD_USER_FIRST && file->tasks; i++) {
		if (task_table_wants(i))
			types |= 1ull << i;
	}
	return types;
}

static void add_stray(struct sink_file *file, const struct record *record)
{
	VEC_GROW(file->strays, file->n_strays, file->cap_strays);
	file->strays[file->n_strays++] = record->bytes;
}

/*
 * Kernels such as 6.18 let it show in records what others do at the same time: while somebody records with
 * attr.build_id, its bit is in the MMAP2 records of events without, and while somebody samples the same software event,
 * samples have the id of that one. The decoder sees through both. perf 6.1 takes the device for the size of a build-id,
 * and aborts, and drops samples of unknown ids. So in the file they are mended.
 */
static void learn(void *data, const struct record *record)
{
	struct sink_file *file = data;
	struct record_body body;
	struct str why = STR_INIT;
	bool decoded;

	if (record->type == RECORD_SAMPLE) {
		add_stray(file, record);
		return;
	}
	decoded = (file->build_ids || record->type == RECORD_MMAP2) &&
		       !record_decode(&file->decoder, record, &body, &why);

	if (decoded && record->type == RECORD_MMAP2 && record->misc & ~body.misc & MISC_MMAP_BUILD_ID)
		add_stray(file, record);
	if (decoded && file->build_ids)
		buildid_set_take(file->build_ids, &body);
	if (file->build_ids)
		atomic_store(&file->mapped_files, buildid_set_files(file->build_ids));
	str_reset(&why);
	/* The kernel's records make sense; one that does not is in the file all the same. */
	if (file->tasks)
		(void)task_table_take(file->tasks, record, &why);
	str_release(&why);
}

static void count(struct sink_file *file, struct sample_counts *to, const void *records, size_t n)
{
	file->n_strays = 0;
	sample_counts_walk(to, records, n, wanted_types(file), learn, file);
}

/* Gives a sample, whose id is another recorder's, the first id of its event. */
static void put_own_id(const struct events *events, char *sample)
{
	char *at = sample + RECORD_HEADER_BYTES + (size_t)events->sample_id_word * sizeof(uint64_t);
	uint64_t id;

	memcpy(&id, at, sizeof(id));
	memcpy(at, &events_of_sample(events, id)->ids[0], sizeof(id));
}

/* The records that were counted last, as they are to be written; until the next call. */
static const void *mended(struct sink_file *file, const void *records, size_t n)
{
	if (!file->n_strays)
		return records;
	str_reset(&file->mended);
	str_addn(&file->mended, records, n);
	for (size_t i = 0; i < file->n_strays; i++) {
		char *at = file->mended.s + (file->strays[i] - (const uint8_t *)records);
		struct perf_event_header header;

		memcpy(&header, at, sizeof(header));
		if (header.type == RECORD_SAMPLE) {
			put_own_id(file->recording->events, at);
			continue;
		}
		header.misc &= (uint16_t)~MISC_MMAP_BUILD_ID;
		memcpy(at, &header, sizeof(header));
	}
	return file->mended.s;
}

/* ---- the cut between two files ---- */

/*
 * A round ends when each reader has emptied all its rings since the last one ended. One that had been at a ring shortly
 * before the moment is there again in the next round: hence two.
 */
enum { CUT_ROUNDS = 2, CUT_WAITS_MOST_BYTES = 64 << 20 };

/* Chooses the moment, unless it has been chosen already. */
static void cut_begin(struct file_cut *cut, uint64_t until_ns)
{
	if (cut->on)
		return;
	cut->on = true;
	cut->until_ns = until_ns;
	cut->rounds = 0;
	str_reset(&cut->later);
}

/*
 * Returns those of n bytes of whole records, aligned to 8, that belong to the file that ends, until the next call; also
 * those without a time. The others wait. decoder: of their events.
 */
static const struct str *cut_split(struct file_cut *cut, const struct decoder *decoder, const void *records,
				   size_t n)
{
	const char *bytes = records;
	size_t size;

	str_reset(&cut->now);
	for (size_t at = 0; (size = record_whole(bytes + at, n - at)) > 0; at += size) {
		struct record record;
		uint64_t time_ns;

		record_from_bytes(&record, (const uint8_t *)bytes + at, 0, false);
		if (record_time(decoder, &record, &time_ns) && time_ns > cut->until_ns)
			str_addn(&cut->later, bytes + at, size);
		else
			str_addn(&cut->now, bytes + at, size);
	}
	return &cut->now;
}

/* True: nothing older comes any more, or too much waits: it is time to switch. */
static bool cut_is_due(const struct file_cut *cut)
{
	return cut->on && (cut->rounds >= CUT_ROUNDS || cut->later.len > CUT_WAITS_MOST_BYTES);
}

/* ---- the sink ---- */

/* Writes what says how many were lost, when no more samples go in. */
static void keep_losses(void *data, const struct record *record)
{
	struct sink_file *file = data;
	struct str why = STR_INIT;

	(void)write_records(file, record->bytes, record->size, &why);
	str_release(&why);
}

static void drop(struct sink_file *file, const void *records, size_t n)
{
	struct sample_counts losses;

	if (!n)
		return;
	if (file->failed || !file->is_open) {
		sample_counts_walk(&file->dropped, records, n, 0, NULL, NULL);
		return;
	}
	sample_counts_init(&losses, file->recording->events);
	sample_counts_walk(&losses, records, n, 1ull << RECORD_LOST | 1ull << RECORD_LOST_SAMPLES,
			   keep_losses, file);
	sample_counts_move_samples(&losses, &file->dropped);
	sample_counts_merge(&file->file, &losses);
	sample_counts_release(&losses);
}

static bool is_large(const struct sink_file *file)
{
	return file->plan->switch_bytes && file->has_begun &&
	       bytes_so_far(file) >= file->beginning_bytes + file->plan->switch_bytes;
}

/* Writes into the present file. */
static int put(struct sink_file *file, const void *records, size_t n, struct str *err)
{
	uint64_t max = file->plan->max_bytes, so_far = file->bytes_before + bytes_so_far(file);
	size_t fits = n;
	int rc = 0;

	if (file->full || file->failed || !file->is_open)
		fits = 0;
	else if (max && so_far + n > max)
		fits = max > so_far ? records_whole(records, (size_t)(max - so_far)) : 0;
	if (fits) {
		count(file, &file->file, records, fits);
		rc = write_records(file, mended(file, records, fits), fits, err);
	}
	if (max && file->bytes_before + bytes_so_far(file) + n - fits >= max)
		set_full(file);
	drop(file, (const uint8_t *)records + fits, n - fits);
	return rc || !file->failed ? rc : failed_before(file, err);
}

/* There is no cut any more. A failure is the file's, which tells it. */
static void put_what_waits(struct sink_file *file)
{
	struct str why = STR_INIT;

	file->cut.on = false;
	if (file->cut.later.len)
		(void)put(file, file->cut.later.s, file->cut.later.len, &why);
	str_reset(&file->cut.later);
	str_release(&why);
}

static int take_records(struct record_sink *sink, const void *records, size_t n, struct str *err)
{
	struct sink_file *file = (struct sink_file *)sink;
	const struct str *now;
	int rc;

	if (!file->plan->path) {
		count(file, &file->file, records, n);
		return 0;
	}
	if (!file->failed && !file->full && is_large(file))
		sink_file_cut(file, err);
	if (!file->cut.on)
		return put(file, records, n, err);
	now = cut_split(&file->cut, &file->decoder, records, n);
	rc = now->len ? put(file, now->s, now->len, err) : 0;
	return !rc && cut_is_due(&file->cut) ? sink_file_switch(file, err) : rc;
}

static int end_round(struct record_sink *sink, struct str *err)
{
	const struct perf_event_header mark = { .type = RECORD_FINISHED_ROUND, .size = sizeof(mark) };
	struct sink_file *file = (struct sink_file *)sink;
	int rc = file->tasks ? task_table_round(file->tasks, err) : 0;

	if (!rc && !file->full && file->is_open)
		rc = write_records(file, &mark, sizeof(mark), err);
	file->cut.rounds += file->cut.on;
	return !rc && cut_is_due(&file->cut) ? sink_file_switch(file, err) : rc;
}

static int flush(struct record_sink *sink, struct str *err)
{
	struct sink_file *file = (struct sink_file *)sink;
	int rc = 0;

	if (file->is_open && !file->failed)
		rc = writer_flush(&file->writer, err);
	if (rc)
		failed_now(file, rc, err);
	show(file);
	return rc;
}

/* ---- files ---- */

int sink_file_open(struct sink_file *file, struct str *err)
{
	const struct record_plan *plan = file->plan;
	const struct writer_options options = {
		.path = plan->path,
		.zstd_level = plan->zstd_level,
		.flush_bytes = FLUSH_BYTES,
	};
	int rc = writer_open(&file->writer, &options, file->recording->events, file->info, err);

	/* Said once: files of --switch-output are begun by a thread that has no notes, and no pipes. */
	if (!rc && !file->n_files && file->writer.left_out.len)
		note_add(plan->notes, false, NULL, "%s: too large for a pipe, left out", file->writer.left_out.s);
	file->is_open = !rc;
	file->has_begun = false;
	file->opened_ns = now_ns();
	file->n_files += !rc;
	return rc;
}

int sink_file_begun(struct sink_file *file, struct str *err)
{
	/* A kill leaves, from now on, a recording that says what it is and what ran. */
	int rc = flush(&file->sink, err);

	file->beginning_bytes = bytes_so_far(file);
	file->has_begun = !rc;
	return rc;
}

/* ".YYYYMMDDhhmmss" and hundredths of a second. */
static void add_date(struct str *name)
{
	struct timespec now;
	char text[32] = "";
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	if (localtime_r(&now.tv_sec, &tm))
		strftime(text, sizeof(text), "%Y%m%d%H%M%S", &tm);
	str_addf(name, ".%s%02ld", text, now.tv_nsec / 10000000);
}

/* Two files within a hundredth of a second: the second waits, nothing is overwritten. *name: in the folder. */
static int rename_dated(const struct destination *place, struct str *name)
{
	int rc;

	for (;;) {
		str_reset(name);
		str_add(name, place->name);
		add_date(name);
		rc = destination_rename(place, name->s);
		if (rc != -EEXIST)
			return rc;
		usleep(10000);
	}
}

/* Someone else may have removed it, or put something there: then it is gone as well. */
static void remove_oldest(struct sink_file *file)
{
	const struct finished_file *oldest = &file->kept[0];
	const char *slash = strrchr(oldest->path, '/');

	destination_remove(&file->writer.place, slash ? slash + 1 : oldest->path, &oldest->inode);
	free(oldest->path);
	memmove(file->kept, file->kept + 1, --file->n_kept * sizeof(*file->kept));
}

/* Gives the finished file its time as a name. 0, or -errno with a sentence. */
static int give_date(struct sink_file *file, struct str *err)
{
	const struct record_plan *plan = file->plan;
	const struct destination *place = &file->writer.place;
	const char *slash = strrchr(plan->path, '/');
	struct str name = STR_INIT;
	int rc = rename_dated(place, &name);
	char *path = xasprintf("%.*s%s", slash ? (int)(slash + 1 - plan->path) : 0, plan->path, name.s);

	str_release(&name);
	if (rc) {
		fail(err, rc, "%s: cannot be renamed to %s: %s", plan->path, path, strerror(-rc));
		free(path);
		return rc;
	}
	free(file->last_path);
	file->last_path = xstrdup(path);
	VEC_GROW(file->kept, file->n_kept, file->kept_cap);
	file->kept[file->n_kept++] = (struct finished_file){ path, place->inode };
	if (plan->switch_max_files && file->n_kept > plan->switch_max_files)
		remove_oldest(file);
	return 0;
}

static void complete_info(struct sink_file *file)
{
	struct info *info = file->info;

	info_clear(info, FEATURE_SAMPLE_TIME);
	if (file->file.first_ns <= file->file.last_ns) {
		info->first_sample_ns = file->file.first_ns;
		info->last_sample_ns = file->file.last_ns;
		info_set(info, FEATURE_SAMPLE_TIME);
	}
	if (file->build_ids)
		buildid_set_write(file->build_ids, info);
}

/* Keeps a descriptor, so that this file is read again, whatever has its name then. */
static void keep_last(struct sink_file *file)
{
	if (file->last_fd >= 0)
		close(file->last_fd);
	file->last_fd = fcntl(file->writer.fd, F_DUPFD_CLOEXEC, 0);
}

static int finish_file(struct sink_file *file, struct str *err)
{
	bool dated = file->plan->timestamp_name || is_switching(file->plan);
	struct str again = STR_INIT;
	int rc = file->failed, finish_rc;

	if (!file->is_open)
		return 0;
	if (rc)
		failed_before(file, err);
	else
		rc = flush(&file->sink, err);
	complete_info(file);
	/* A file that failed is finished, too: there may be room for the little that makes it whole. */
	finish_rc = writer_finish(&file->writer, file->recording->events, file->info, rc ? &again : err);
	rc = rc ? rc : finish_rc;
	str_release(&again);
	file->bytes_before += file->writer.data_offset + file->writer.data_size;
	sample_counts_merge(&file->total, &file->file);
	if (!file->last_path)
		file->last_path = xstrdup(file->plan->path);
	if (!rc && dated && !file->writer.pipe)
		rc = give_date(file, err);
	keep_last(file);
	writer_close(&file->writer);
	file->is_open = false;
	show(file);
	return rc;
}

static int finish(struct record_sink *sink, struct str *err)
{
	struct sink_file *file = (struct sink_file *)sink;

	if (file->plan->path) {
		put_what_waits(file);
		return finish_file(file, err);
	}
	sample_counts_merge(&file->total, &file->file);
	show(file);
	return 0;
}

/* ---- the next file ---- */

struct beginning {
	struct sink_file *file;
	struct str bytes;
	struct str *err;
};

static int put_beginning(struct beginning *beginning)
{
	int rc = beginning->bytes.len ? write_records(beginning->file, beginning->bytes.s,
						      beginning->bytes.len, beginning->err) : 0;

	str_reset(&beginning->bytes);
	return rc;
}

static int add_beginning(void *data, const struct record_body *body)
{
	struct beginning *beginning = data;
	int rc = synth_encode(beginning->file->recording->events, body, &beginning->bytes,
			      beginning->err);

	if (!rc && beginning->bytes.len >= FLUSH_BYTES)
		rc = put_beginning(beginning);
	return rc;
}

/* Tasks and maps of before; of those that the table knows, where what runs comes last. */
static int begin_with_tasks(struct sink_file *file, struct str *err)
{
	struct beginning beginning = { .file = file, .bytes = STR_INIT, .err = err };
	int rc = task_table_write(file->tasks, add_beginning, &beginning, err);

	if (!rc)
		rc = put_beginning(&beginning);
	str_release(&beginning.bytes);
	return rc;
}

int sink_file_cut(void *data, struct str *err)
{
	struct sink_file *file = data;

	(void)err;
	cut_begin(&file->cut, file->file.last_ns);
	return 0;
}

static int begin_next(struct sink_file *file, struct str *err)
{
	int rc = 0;

	file->has_begun = false; /* what comes now is no reason for another one */
	if (file->synth && !file->failed)
		rc = file->synth(file->data, &file->sink, err);
	if (!rc)
		rc = finish_file(file, err);
	if (!rc)
		rc = sink_file_open(file, err);
	if (!rc)
		rc = begin_with_tasks(file, err);
	if (!rc)
		rc = sink_file_begun(file, err);
	if (rc && !file->failed) {
		file->failed = rc;
		str_add(&file->why, err->s);
	}
	return rc;
}

int sink_file_switch(void *data, struct str *err)
{
	struct sink_file *file = data;
	bool chosen = file->cut.on;
	int rc;

	file->cut.on = false;
	rc = chosen && !file->full ? begin_next(file, err) : 0;
	put_what_waits(file);
	return rc || !file->failed ? rc : failed_before(file, err);
}
