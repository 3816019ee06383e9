/*
 * directory.c: the files of a directory (`perf record --threads`) as one sequence: of the first records of all files
 * the oldest comes next, by a binary heap. Its head at [0] was handed out by the last call and is replaced
 * by its file's next record in this one, since a file's record is good only until its next is read.
 *
 * A file may be one ring's, and is then in order by itself, or that of several (--threads=package): then it is
 * a row of runs, each in order, which overlap. So each file is looked through once before: where its runs begin
 * and how old what follows them is. That tells when a round ends: when nothing that is still to come is older than
 * the newest record of the round before.
 *
 *	time   ring 0  ring 1  ring 0  ring 1
 *	  |     /       /       /       /
 *	  |    /       /       /       /       one file: four runs
 *	  |   /     /       /       /
 *	  +---|-------|-------|-------|----> records
 *
 * Of each run is kept what its first record is, and the least time after it: RUNS_MAX for all files together, in
 * any recording. Where there are more, neighbours become one that is not in order by itself; rounds are then
 * longer, not wrong.
 */
#include "data/reader.h"

#include "data/stream.h"

#include <stdlib.h>

enum {
	RUNS_MAX = 1 << 20, /* of all files, 32 bytes each */
	RUNS_LEAST = 16, /* of one, however many files there are */
	ROUND_EVERY = 4096, /* records, at the least */
};

struct file_run {
	uint64_t first; /* which of the file's records it begins with, from 0 */
	uint64_t oldest_ns; /* of its own records */
	uint64_t rest_ns; /* the oldest record of all runs after it; UINT64_MAX: there is none */
	bool rough; /* it is not in order by itself */
};

struct file {
	size_t stream;
	struct record record; /* its next one */
	uint64_t time_ns; /* of that one; where it has none: of the record before it */
	uint64_t number; /* which of the file's records it is */
	struct file_run *runs;
	size_t n_runs, cap_runs, run; /* run: the present one */
};

struct recording_directory {
	struct reader *reader;
	struct file *files;
	struct file **heap; /* of those that have not ended: by time, then by file */
	size_t n;
	bool begun, handed_out; /* handed_out: heap[0] was given by the last call */
	int failed; /* the first error of a file; the others are read on */
	size_t since_round; /* records */
	uint64_t newest_ns, round_ns; /* newest: of all so far; when the last round ended */
};

/* When a record happened that waits for its turn: those of recorders, and synthesized ones, do not. */
static bool happened(const struct recording_directory *directory, const struct record *record, uint64_t *time_ns)
{
	return record_time(&directory->reader->decoder, record, time_ns) && *time_ns && *time_ns != UINT64_MAX;
}

/* ---- looking a file through ---- */

/* Neighbours become one. */
static void join_runs(struct file *file)
{
	size_t n = 0;

	for (size_t i = 0; i < file->n_runs; i += 2) {
		struct file_run run = file->runs[i];

		if (i + 1 < file->n_runs) {
			run.rough = true;
			if (file->runs[i + 1].oldest_ns < run.oldest_ns)
				run.oldest_ns = file->runs[i + 1].oldest_ns;
		}
		file->runs[n++] = run;
	}
	file->n_runs = n;
}

static void find_runs(const struct recording_directory *directory, struct file *file)
{
	struct reader *reader = directory->reader;
	struct stream *stream = reader->streams[file->stream];
	size_t most = RUNS_MAX / reader->n_streams;
	struct str missing = STR_INIT, why = STR_INIT; /* told when the file is read */
	uint64_t last_ns = UINT64_MAX, least_ns = UINT64_MAX, time_ns;
	struct record record;

	for (uint64_t i = 0; stream_next(stream, reader->swap, &record, &missing, &why) > 0; i++) {
		if (!happened(directory, &record, &time_ns))
			continue;
		if (time_ns < last_ns) {
			if (file->n_runs >= most && file->n_runs >= RUNS_LEAST)
				join_runs(file);
			VEC_GROW(file->runs, file->n_runs, file->cap_runs);
			file->runs[file->n_runs++] = (struct file_run){ .first = i, .oldest_ns = time_ns };
		}
		last_ns = time_ns;
	}
	for (size_t i = file->n_runs; i-- > 0;) {
		file->runs[i].rest_ns = least_ns;
		if (file->runs[i].oldest_ns < least_ns)
			least_ns = file->runs[i].oldest_ns;
	}
	str_release(&missing);
	str_release(&why);
	stream_rewind(stream);
}

struct recording_directory *recording_directory_new(struct reader *reader)
{
	struct recording_directory *directory = xcalloc(1, sizeof(*directory));

	directory->reader = reader;
	directory->files = xcalloc(reader->n_streams, sizeof(*directory->files));
	directory->heap = xcalloc(reader->n_streams, sizeof(*directory->heap));
	for (size_t i = 0; i < reader->n_streams; i++) {
		directory->files[i].stream = i;
		find_runs(directory, &directory->files[i]);
	}
	return directory;
}

void recording_directory_free(struct recording_directory *directory)
{
	if (!directory)
		return;
	for (size_t i = 0; i < directory->reader->n_streams; i++)
		free(directory->files[i].runs);
	free(directory->files);
	free(directory->heap);
	free(directory);
}

/* ---- the oldest of the first records ---- */

static bool before(const struct file *a, const struct file *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->stream < b->stream;
}

static void sink(struct recording_directory *directory, size_t at)
{
	struct file **heap = directory->heap;

	for (;;) {
		size_t child = 2 * at + 1;
		struct file *file = heap[at];

		if (child + 1 < directory->n && before(heap[child + 1], heap[child]))
			child++;
		if (child >= directory->n || !before(heap[child], heap[at]))
			return;
		heap[at] = heap[child];
		heap[child] = file;
		at = child;
	}
}

/* False: the file has ended. */
static bool advance(struct recording_directory *directory, struct file *file, struct str *err)
{
	struct str why = STR_INIT;
	uint64_t time_ns;
	int rc = reader_next_of(directory->reader, file->stream, &file->record, &why);

	if (rc < 0 && !directory->failed) {
		directory->failed = rc;
		str_addn(err, why.s, why.len);
	}
	str_release(&why);
	if (rc <= 0)
		return false;
	while (file->run + 1 < file->n_runs && file->runs[file->run + 1].first <= file->number)
		file->run++;
	if (happened(directory, &file->record, &time_ns))
		file->time_ns = time_ns;
	return true;
}

static void begin(struct recording_directory *directory, struct str *err)
{
	directory->begun = true;
	for (size_t i = 0; i < directory->reader->n_streams; i++)
		if (advance(directory, &directory->files[i], err))
			directory->heap[directory->n++] = &directory->files[i];
	for (size_t i = directory->n / 2; i-- > 0;)
		sink(directory, i);
}

/* Returns the time of the oldest record that is still to come of a file, or an earlier one. */
static uint64_t still_to_come(const struct file *file)
{
	const struct file_run *run;
	uint64_t own_ns;

	if (!file->n_runs)
		return UINT64_MAX;
	run = &file->runs[file->run];
	own_ns = run->rough ? run->oldest_ns : file->time_ns;
	return own_ns < run->rest_ns ? own_ns : run->rest_ns;
}

/* Between two records: whether a round ends. */
static bool ends_round(struct recording_directory *directory)
{
	directory->since_round = 0;
	for (size_t i = 0; i < directory->n; i++)
		if (still_to_come(directory->heap[i]) < directory->round_ns)
			return false;
	directory->round_ns = directory->newest_ns;
	return true;
}

int recording_directory_next(struct recording_directory *directory, struct record *record, struct str *err)
{
	uint64_t time_ns;
	int rc;

	if (!directory->begun) {
		begin(directory, err);
	} else if (directory->handed_out) {
		directory->heap[0]->number++;
		if (!advance(directory, directory->heap[0], err))
			directory->heap[0] = directory->heap[--directory->n];
		sink(directory, 0);
	}
	directory->handed_out = false;
	if (!directory->n) {
		rc = directory->failed;
		directory->failed = 0;
		return rc;
	}
	if (directory->since_round >= ROUND_EVERY && ends_round(directory))
		return SOURCE_ROUND;
	*record = directory->heap[0]->record;
	directory->handed_out = true;
	directory->since_round++;
	if (happened(directory, record, &time_ns) && time_ns > directory->newest_ns)
		directory->newest_ns = time_ns;
	return SOURCE_RECORD;
}
