/*
 * reader.c: opens recordings and hands out their records: sets up the streams that records come from (a
 * mapped file, a directory of them, a pipe). Records that describe the recording itself (attrs, names, units, features,
 * tracepoint formats, build-ids) go into events and info while they go by, so that a pipe ends up with what a file's
 * header has; one of them that cannot be understood becomes a note.
 *
 * A file is mapped whole, and a single one is also read, which takes less time (read_ahead.h): the mapping is for what
 * does not come in turn. Pages that were passed are given back (stream.c). What somebody cuts off while it is read
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

static int source_next(struct record_source *source, struct record *record, struct str *err);
static double source_part(const struct record_source *source);
static void source_passed(struct record_source *source, const uint8_t *from, const uint8_t *to);
static const uint8_t *source_nearer(const struct record_source *source, const uint8_t *mapped);

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
	if (size > SIZE_MAX)
		return NULL;
	map = file_map(fd, size, PROT_READ, MAP_PRIVATE);
	if (!map)
		map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return NULL;
	madvise(map, size, MADV_SEQUENTIAL);
	return map;
}

/* Goes without where no descriptor is left: the mapping does, too. */
static void read_ahead(struct stream *stream, int fd)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (own >= 0)
		stream_read_ahead(stream, own);
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
	if (!rc)
		read_ahead(reader->streams[0], fd);
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
	reader->source = (struct record_source){ source_next, source_part, source_passed, source_nearer };
	reader->recording = (struct recording_info){ .events = &reader->events,
						     .info = &reader->info,
						     .decoder = &reader->decoder,
						     .notes = &reader->notes };
	reader->path = xstrdup(path);
	str_init(&reader->missing);
	events_init(&reader->events);
	info_init(&reader->info);
}

/* alone: not one file of a directory, which are read side by side: blocks of each of them would be too many. */
static int open_fd(struct reader *reader, int fd, bool alone, struct str *err)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st)) {
		rc = fail(err, -errno, "%s: %s", reader_name(reader), strerror(errno));
	} else if (S_ISREG(st.st_mode)) {
		rc = open_regular(reader, fd, &st, err);
		if (!rc && alone)
			read_ahead(reader->streams[0], fd);
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
	return open_fd(reader, fd, true, err);
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
		return open_fd(reader, dup(STDIN_FILENO), true, err);
	directory = !stat(path, &st) && S_ISDIR(st.st_mode);
	file = directory ? xasprintf("%s/data", path) : xstrdup(path);
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		rc = fail(err, -errno, "%s: %s", file, strerror(errno));
	} else {
		rc = open_fd(reader, fd, !directory, err);
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
	return fail(err, fd, "%s: it came through a pipe and could not be kept to be read again: %s", reader_name(reader),
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
	recording_directory_free(reader->directory);
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
	str_release(&reader->missing);
	memset(reader, 0, sizeof(*reader));
	str_init(&reader->missing);
}

/* ---- records about the recording itself ---- */

static void learn_attr(struct reader *reader, const struct record *record, const struct record_body *body)
{
	const struct record_bytes *attr = &body->header_attr.attr;
	const struct record_words *ids = &body->header_attr.ids;

	/* In a file they repeat what the header has said. */
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

/* ---- as a source: records in the order of replay ---- */

static int source_next(struct record_source *source, struct record *record, struct str *err)
{
	struct reader *reader = (struct reader *)source;
	int rc;

	if (reader->n_streams > 1) {
		if (!reader->directory)
			reader->directory = recording_directory_new(reader);
		return recording_directory_next(reader->directory, record, err);
	}
	if (reader->round_due) {
		reader->round_due = false;
		return SOURCE_ROUND;
	}
	if (reader->no_wait && reader->n_streams && stream_would_wait(reader->streams[0], reader->swap))
		return SOURCE_LATER;
	rc = reader_next(reader, record, err);
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

static const uint8_t *source_nearer(const struct record_source *source, const uint8_t *mapped)
{
	const struct reader *reader = (const struct reader *)source;

	return reader->n_streams == 1 ? stream_nearer(reader->streams[0], mapped) : NULL;
}
