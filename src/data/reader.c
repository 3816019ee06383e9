/* SPDX-License-Identifier: MIT */
/*
 * reader.c: opens recordings and hands out their records: sets up the streams that records come from (a
 * mapped file, a directory of them, a pipe). Records that describe the recording itself (attrs, names, units, features,
 * tracepoint formats, build-ids) go into events and info while they go by, so that a pipe ends up with what a file's
 * header has; one of them that cannot be understood becomes a note.
 *
 * A file is mapped whole, and its records are looked at there: with kernel 6.18, ext4 and tmpfs, that took half of the
 * time of read(2) into blocks. Pages that were passed are given back (stream.c). What somebody cuts off while it is read
 * becomes zeros (file_map.h), which are no record: it is damaged there. Of a directory's files more than FILE_MAPS_MAX
 * have no such guard.
 */
#include "data/reader.h"

#include "data/bytes.h"
#include "data/feature.h"
#include "data/format.h"
#include "data/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	STREAMS_MAX = 8192, /* data.N files of a directory */
	EVENTS_MAX = 65536, /* of a pipe, which has no size to bound them by */
};

static void directory_free(struct recording_directory *directory);
static int source_next(struct record_source *source, struct record *record, struct str *err);
static double source_part(const struct record_source *source);
static void source_passed(struct record_source *source, const uint8_t *from, const uint8_t *to);

static void stream_add(struct reader *reader, struct stream *stream)
{
	reader->streams =
		xreallocarray(reader->streams, reader->n_streams + 1, sizeof(*reader->streams));
	reader->streams[reader->n_streams++] = stream;
}

/* Takes over the mapping; it is freed with the reader whatever is returned. */
static int open_file(struct reader *reader, uint8_t *map, struct str *err)
{
	uint64_t end = 0;
	int rc = header_read(reader, map, &end, err);

	stream_add(reader, stream_new_map(map, reader->file_size, reader->data_offset, end));
	return rc;
}

static uint8_t *map_fd(int fd, uint64_t size)
{
	void *map;

	errno = EFBIG;
	if (size > SIZE_MAX - MAPPED_BEYOND_BYTES)
		return NULL;
	map = file_map(fd, size + MAPPED_BEYOND_BYTES, PROT_READ, MAP_PRIVATE);
	if (!map)
		map = mmap(NULL, size + MAPPED_BEYOND_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return NULL;
	madvise(map, size, MADV_SEQUENTIAL);
	return map;
}

static int open_regular(struct reader *reader, int fd, const struct stat *st, struct str *err)
{
	uint8_t *map;
	int rc;

	reader->file_size = (uint64_t)st->st_size;
	reader->inode = (struct inode){ st->st_dev, st->st_ino };
	reader->recording.written_ns = timespec_ns(&st->st_mtim);
	if (!reader->file_size)
		return header_check_magic(reader, NULL, 0, err);
	map = map_fd(fd, reader->file_size);
	if (!map)
		return fail(err, -errno, "%s: %s", reader_name(reader), strerror(errno));
	rc = header_check_magic(reader, map, reader->file_size, err);
	if (!rc && reader->header_size != FORMAT_PIPE_HEADER)
		return open_file(reader, map, err);
	/* A pipe's output in a file: the same records, read from the mapping. */
	reader->pipe = true;
	stream_add(reader,
		   stream_new_map(map, reader->file_size,
				  rc ? reader->file_size : FORMAT_PIPE_HEADER, reader->file_size));
	return rc;
}

/* A recording in file layout, whose first n bytes were read: from a copy that can be mapped. */
static int open_spooled(struct reader *reader, int pipe, const uint8_t *head, size_t n, struct str *err)
{
	int fd = spool_pipe(pipe, head, n, reader_name(reader), err), rc;
	struct stat st;

	if (fd < 0)
		return fd;
	rc = fstat(fd, &st) ? fail(err, -errno, "%s: %s", reader_name(reader), strerror(errno))
			    : open_regular(reader, fd, &st, err);
	reader->recording.written_ns = 0; /* of the copy, which says nothing of the recording */
	close(fd);
	return rc;
}

/* The descriptor of a pipe's stream is the stream's: then *fd becomes -1. */
static int open_pipe(struct reader *reader, int *fd, struct str *err)
{
	uint8_t head[FORMAT_PIPE_HEADER];
	size_t have = 0;
	int rc;

	while (have < sizeof(head)) {
		ssize_t got = read(*fd, head + have, sizeof(head) - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail(err, -errno, "%s: %s", reader_name(reader), strerror(errno));
		if (!got)
			break;
		have += (size_t)got;
	}
	rc = header_check_magic(reader, head, have, err);
	if (!rc && reader->header_size != FORMAT_PIPE_HEADER)
		return open_spooled(reader, *fd, head, have, err);
	reader->pipe = true;
	if (rc)
		return rc;
	stream_add(reader, stream_new_pipe(*fd, FORMAT_PIPE_HEADER));
	*fd = -1;
	return 0;
}

static void reader_init(struct reader *reader, const char *path)
{
	memset(reader, 0, sizeof(*reader));
	reader->source = (struct record_source){ source_next, source_part, source_passed };
	reader->recording = (struct recording_info){ .events = &reader->events,
						     .info = &reader->info,
						     .decoder = &reader->decoder,
						     .notes = &reader->notes };
	reader->path = xstrdup(path);
	str_init(&reader->missing);
	str_init(&reader->ahead_why);
	events_init(&reader->events);
	info_init(&reader->info);
}

static int open_fd(struct reader *reader, int fd, struct str *err)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st)) {
		rc = fail(err, -errno, "%s: %s", reader_name(reader), strerror(errno));
	} else if (S_ISREG(st.st_mode)) {
		rc = open_regular(reader, fd, &st, err);
	} else {
		rc = open_pipe(reader, &fd, err);
	}
	if (fd >= 0)
		close(fd);
	decoder_init(&reader->decoder, &reader->events, reader->swap);
	return rc;
}

int reader_open_fd(struct reader *reader, int fd, const char *path, struct str *err)
{
	reader_init(reader, path);
	return open_fd(reader, fd, err);
}

/* The data.0, data.1, ... of a directory: records without a header. */
static int open_directory_rest(struct reader *reader, struct str *err)
{
	for (unsigned i = 0; i < STREAMS_MAX; i++) {
		char *path = xasprintf("%s/data.%u", reader->path, i);
		struct str why = STR_INIT;
		struct stat st;
		int fd = foreign_open(path, NULL, &st, &why), rc = 0;
		uint8_t *map = NULL;

		if (fd < 0 && fd != -ENOENT)
			rc = fail(err, fd, "%s: %s", path, why.s);
		str_release(&why);
		if (fd == -ENOENT) {
			free(path);
			return 0;
		}
		if (fd >= 0 && st.st_size && !(map = map_fd(fd, (uint64_t)st.st_size)))
			rc = fail(err, -errno, "%s: %s", path, strerror(errno));
		if (map)
			stream_add(reader, stream_new_map(map, (size_t)st.st_size, 0,
							  (uint64_t)st.st_size));
		if (fd >= 0)
			close(fd);
		free(path);
		if (rc)
			return rc;
	}
	return 0;
}

int reader_open(struct reader *reader, const char *path, struct str *err)
{
	struct stat st;
	char *file;
	int fd, rc;
	bool directory;

	reader_init(reader, path);
	if (!strcmp(path, "-"))
		return open_fd(reader, dup(STDIN_FILENO), err);
	directory = !stat(path, &st) && S_ISDIR(st.st_mode);
	file = directory ? xasprintf("%s/data", path) : xstrdup(path);
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		rc = fail(err, -errno, "%s: %s", file, strerror(errno));
	} else {
		rc = open_fd(reader, fd, err);
		if (!rc && directory)
			rc = open_directory_rest(reader, err);
	}
	free(file);
	return rc;
}

int reader_keep(struct reader *reader, uint64_t bytes_max, struct str *err)
{
	const uint64_t head_bytes = reader->swap ? __builtin_bswap64(FORMAT_PIPE_HEADER) : FORMAT_PIPE_HEADER;

	if (!reader->n_streams || !stream_is_pipe(reader->streams[0]))
		return 0;
	reader->kept = spool_new(bytes_max, err);
	if (!reader->kept)
		return -EIO;
	/* The bytes in front of the first record were read before. */
	spool_add(reader->kept, reader->swap ? FORMAT_MAGIC_SWAPPED : FORMAT_MAGIC, FORMAT_MAGIC_BYTES);
	spool_add(reader->kept, &head_bytes, sizeof(head_bytes));
	stream_keep(reader->streams[0], reader->kept);
	return 0;
}

void reader_no_wait(struct reader *reader)
{
	reader->no_wait = true;
}

/* A pipe: what was kept of it. */
static int open_kept(struct reader *again, const struct reader *reader, struct str *err)
{
	int fd = reader->kept ? spool_open(reader->kept) : -ESPIPE;

	if (fd >= 0)
		return reader_open_fd(again, fd, reader->path, err);
	reader_init(again, reader->path);
	if (fd == -ESPIPE)
		return fail(err, fd, "%s: it came through a pipe and can't be read again: store it in a file",
			    reader_name(reader));
	return fail(err, fd,
		    "%s: it came through a pipe and could not be kept to be read again: %s", reader_name(reader),
		    strerror(-fd));
}

int reader_open_again(struct reader *again, const struct reader *reader, struct str *err)
{
	int rc;

	if (!reader->recording.written_ns || !strcmp(reader->path, "-"))
		return open_kept(again, reader, err);
	rc = reader_open(again, reader->path, err);
	/* The inode decides, too: the owner of the folder can give another file this size and this time. */
	if (!rc && (again->inode.dev != reader->inode.dev || again->inode.ino != reader->inode.ino ||
		    again->file_size != reader->file_size || again->recording.written_ns != reader->recording.written_ns))
		rc = fail(err, -ESTALE, "%s: the file was replaced or written to since it was read", reader->path);
	return rc;
}

void reader_close(struct reader *reader)
{
	spool_free(reader->kept);
	directory_free(reader->directory);
	for (size_t i = 0; i < reader->n_streams; i++)
		stream_free(reader->streams[i]);
	for (size_t i = 0; i < reader->n_early; i++)
		str_release(&reader->early[i].bytes);
	free(reader->streams);
	free(reader->path);
	decoder_release(&reader->decoder);
	events_release(&reader->events);
	info_release(&reader->info);
	note_list_release(&reader->notes);
	str_release(&reader->ahead_why);
	str_release(&reader->missing);
	memset(reader, 0, sizeof(*reader));
	str_init(&reader->ahead_why);
	str_init(&reader->missing);
}

/* ---- records about the recording itself ---- */

static void learn_attr(struct reader *reader, const struct record *record, const struct record_body *body)
{
	const struct record_bytes *attr = &body->header_attr.attr;
	const struct record_words *ids = &body->header_attr.ids;

	/* Attrs in a file repeat what the header has said. */
	if (!reader->pipe || reader->events.n >= EVENTS_MAX ||
	    (ids->n && events_find(&reader->events, ids->v[0])))
		return;
	if (record->misc)
		reader_add_ids(reader, record->misc - 1u, attr->v, attr->n, ids->v, ids->n);
	else
		reader_add_event(reader, attr->v, attr->n, ids->v, ids->n);
}

static void learn_update(struct reader *reader, const struct record_body *body)
{
	struct data_event *event = events_find(&reader->events, body->update.id);
	char **text = NULL;
	size_t cursor = 0;
	int cpu;

	if (!event)
		return;
	switch (body->update.kind) {
	case EVENT_UPDATE_UNIT:
		text = &event->unit;
		break;
	case EVENT_UPDATE_NAME:
		text = &event->name;
		break;
	case EVENT_UPDATE_SCALE:
		event->scale = body->update.scale;
		break;
	case EVENT_UPDATE_CPUS:
		while (record_cpus_get(&body->update.cpus, &cursor, &cpu))
			intset_add(&event->cpus, cpu);
	}
	if (text) {
		free(*text);
		*text = xstrdup(body->update.text);
	}
}

/*
 * perf of Linux 4.14 writes a pipe's features before its attrs. Two of them name events that are not known
 * then: they wait. False: it need not.
 */
static bool keep_early(struct reader *reader, const struct record *record, const struct record_body *body)
{
	uint64_t id = body->feature.feature;
	struct early_feature *early = &reader->early[reader->n_early];

	if (!reader->pipe || reader->events.n || (id != FEATURE_EVENT_DESC && id != FEATURE_GROUP_DESC))
		return false;
	for (size_t i = 0; i < reader->n_early; i++)
		if (reader->early[i].feature == id)
			return true;
	*early = (struct early_feature){ (unsigned)id, record->offset, STR_INIT };
	str_addn(&early->bytes, (const char *)body->feature.bytes.v, body->feature.bytes.n);
	reader->n_early++;
	return true;
}

static void learn_early(struct reader *reader)
{
	for (size_t i = 0; i < reader->n_early; i++) {
		struct early_feature *early = &reader->early[i];

		reader_add_feature(reader, early->feature, (const uint8_t *)early->bytes.s,
				   early->bytes.len, early->offset);
		str_release(&early->bytes);
	}
	reader->n_early = 0;
}

static void learn_feature(struct reader *reader, const struct record *record,
			  const struct record_body *body)
{
	uint64_t id = body->feature.feature;

	/* perf ends the list with an empty one past its last feature; what the file's header has is newer. */
	if (id && id < FEATURE_BITS && !info_has(&reader->info, (unsigned)id) &&
	    body->feature.bytes.n && !keep_early(reader, record, body))
		reader_add_feature(reader, (unsigned)id, body->feature.bytes.v,
				   body->feature.bytes.n, record->offset);
}

static void learn_tracing_data(struct reader *reader, struct stream *stream, struct record *record)
{
	struct str bytes = STR_INIT;

	if (!info_has(&reader->info, FEATURE_TRACING_DATA) &&
	    stream_extra(stream, record, READER_FEATURE_MAX, &bytes))
		reader_add_feature(reader, FEATURE_TRACING_DATA, (const uint8_t *)bytes.s,
				   bytes.len, record->offset);
	str_release(&bytes);
}

static void learn_build_id(struct reader *reader, const struct record *record)
{
	struct cursor c = cursor_on(record->bytes, record->size, reader->swap);
	struct str place = STR_INIT;
	const char *why = build_id_entry_read(&c, &reader->info);

	if (!why) {
		info_set(&reader->info, FEATURE_BUILD_ID);
		return;
	}
	record_fail(record, &place, 0, "%s", why);
	reader_note(reader, "%s", place.s);
	str_release(&place);
}

static void learn(struct reader *reader, struct stream *stream, struct record *record)
{
	struct str why = STR_INIT;
	struct record_body body;

	if (record_decode(&reader->decoder, record, &body, &why)) {
		reader_note(reader, "%s", why.s);
		str_release(&why);
		return;
	}
	switch (record->type) {
	case RECORD_HEADER_ATTR:
		learn_attr(reader, record, &body);
		break;
	case RECORD_EVENT_UPDATE:
		learn_update(reader, &body);
		break;
	case RECORD_HEADER_FEATURE:
		learn_feature(reader, record, &body);
		break;
	case RECORD_HEADER_TRACING_DATA:
		learn_tracing_data(reader, stream, record);
		break;
	case RECORD_HEADER_BUILD_ID:
		learn_build_id(reader, record);
		break;
	}
}

static bool describes_recording(uint32_t type)
{
	return type == RECORD_HEADER_ATTR || type == RECORD_EVENT_UPDATE ||
	       type == RECORD_HEADER_FEATURE || type == RECORD_HEADER_TRACING_DATA ||
	       type == RECORD_HEADER_BUILD_ID;
}

int reader_next_of(struct reader *reader, size_t stream, struct record *record, struct str *err)
{
	struct str missing = STR_INIT;
	int rc = stream_next(reader->streams[stream], reader->swap, record, &missing, err);

	if (missing.len) {
		if (reader->missing.len)
			str_add(&reader->missing, "; ");
		str_addn(&reader->missing, missing.s, missing.len);
	}
	str_release(&missing);
	if (rc > 0 && describes_recording(record->type))
		learn(reader, reader->streams[stream], record);
	else if (reader->n_early && (reader->events.n || rc <= 0))
		learn_early(reader);
	return rc;
}

int reader_next(struct reader *reader, struct record *record, struct str *err)
{
	while (reader->current < reader->n_streams) {
		int rc = reader_next_of(reader, reader->current, record, err);

		if (rc)
			return rc;
		reader->current++;
	}
	return 0;
}

int reader_decode(struct reader *reader, const struct record *record, struct record_body *body,
		  struct str *err)
{
	return record_decode(&reader->decoder, record, body, err);
}

/* ---- the first records of a pipe ---- */

/* Tracepoints can be asked for their fields once their formats have come, which are too large for one write. */
static bool has_described_events(const struct reader *reader)
{
	for (size_t i = 0; i < reader->events.n; i++)
		if (reader->events.v[i]->attr.type == PERF_TYPE_TRACEPOINT && !info_has(&reader->info, FEATURE_TRACING_DATA))
			return false;
	return reader->events.n;
}

void reader_know_events(struct reader *reader)
{
	if (!reader->pipe || reader->has_ahead)
		return;
	do {
		if (reader->no_wait && has_described_events(reader) && stream_would_wait(reader->streams[0], reader->swap))
			return;
		reader->ahead_rc = reader_next(reader, &reader->ahead, &reader->ahead_why);
	} while (reader->ahead_rc > 0 && describes_recording(reader->ahead.type));
	reader->has_ahead = true;
}

static int give_ahead(struct reader *reader, struct record *record, struct str *err)
{
	reader->has_ahead = false;
	*record = reader->ahead;
	str_addn(err, reader->ahead_why.s, reader->ahead_why.len);
	return reader->ahead_rc;
}

/* ---- the files of a directory (`perf record --threads`) as one sequence ---- */

/*
 * The oldest of the first records of all files comes next, by a binary heap. Its head at [0] was handed out by the last
 * call and is replaced by its file's next record in this one, since a file's record is good only until its next is read.
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

struct directory_file {
	size_t stream;
	struct record record; /* its next one */
	uint64_t time_ns; /* of that one; where it has none: of the record before it */
	uint64_t number; /* which of the file's records it is */
	struct file_run *runs;
	size_t n_runs, cap_runs, run; /* run: the present one */
};

struct recording_directory {
	struct reader *reader;
	struct directory_file *files;
	struct directory_file **heap; /* of those that have not ended: by time, then by file */
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

/* Neighbours become one. */
static void join_runs(struct directory_file *file)
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

static void find_runs(const struct recording_directory *directory, struct directory_file *file)
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

static struct recording_directory *directory_new(struct reader *reader)
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

/* NULL is nothing. */
static void directory_free(struct recording_directory *directory)
{
	if (!directory)
		return;
	for (size_t i = 0; i < directory->reader->n_streams; i++)
		free(directory->files[i].runs);
	free(directory->files);
	free(directory->heap);
	free(directory);
}

static bool is_before(const struct directory_file *a, const struct directory_file *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->stream < b->stream;
}

static void sink_down(struct recording_directory *directory, size_t at)
{
	struct directory_file **heap = directory->heap;

	for (;;) {
		size_t child = 2 * at + 1;
		struct directory_file *file = heap[at];

		if (child + 1 < directory->n && is_before(heap[child + 1], heap[child]))
			child++;
		if (child >= directory->n || !is_before(heap[child], heap[at]))
			return;
		heap[at] = heap[child];
		heap[child] = file;
		at = child;
	}
}

/* False: the file has ended. */
static bool advance(struct recording_directory *directory, struct directory_file *file, struct str *err)
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

static void directory_begin(struct recording_directory *directory, struct str *err)
{
	directory->begun = true;
	for (size_t i = 0; i < directory->reader->n_streams; i++)
		if (advance(directory, &directory->files[i], err))
			directory->heap[directory->n++] = &directory->files[i];
	for (size_t i = directory->n / 2; i-- > 0;)
		sink_down(directory, i);
}

/* Returns the time of the oldest record that is still to come of a file, or an earlier one. */
static uint64_t still_to_come(const struct directory_file *file)
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

/*
 * See record_source.next. A file that cannot be read on is left, its error comes when all have ended; so does the
 * sentence that says what is missing.
 */
static int directory_next(struct recording_directory *directory, struct record *record, struct str *err)
{
	uint64_t time_ns;
	int rc;

	if (!directory->begun) {
		directory_begin(directory, err);
	} else if (directory->handed_out) {
		directory->heap[0]->number++;
		if (!advance(directory, directory->heap[0], err))
			directory->heap[0] = directory->heap[--directory->n];
		sink_down(directory, 0);
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

/* ---- as a source: records in the order of replay ---- */

static int source_next(struct record_source *source, struct record *record, struct str *err)
{
	struct reader *reader = (struct reader *)source;
	int rc;

	if (reader->n_streams > 1) {
		if (!reader->directory)
			reader->directory = directory_new(reader);
		return directory_next(reader->directory, record, err);
	}
	if (reader->round_due) {
		reader->round_due = false;
		return SOURCE_ROUND;
	}
	if (!reader->has_ahead && reader->no_wait && reader->n_streams &&
	    stream_would_wait(reader->streams[0], reader->swap))
		return SOURCE_LATER;
	rc = reader->has_ahead ? give_ahead(reader, record, err) : reader_next(reader, record, err);
	reader->round_due = rc > 0 && record->type == RECORD_FINISHED_ROUND;
	return rc;
}

static double source_part(const struct record_source *source)
{
	const struct reader *reader = (const struct reader *)source;
	uint64_t given = 0, all = 0;

	for (size_t i = 0; i < reader->n_streams; i++)
		if (!stream_position(reader->streams[i], &given, &all))
			return -1;
	return all ? (double)given / (double)all : -1;
}

static void source_passed(struct record_source *source, const uint8_t *from, const uint8_t *to)
{
	struct reader *reader = (struct reader *)source;

	for (size_t i = 0; i < reader->n_streams; i++)
		stream_passed(reader->streams[i], from, to);
}
