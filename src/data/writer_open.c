/*
 * writer_open.c: the beginning of a recording. The new file is complete up to its first record before it
 * takes its place, so that whatever fails earlier leaves the previous recording where it was:
 *
 *   create PATH.PID.new (only if there is none, 0600) -> header, attrs, ids, first records -> PATH
 *   becomes PATH.old -> PATH.PID.new becomes PATH
 *
 * Renaming never follows a link, so nothing that somebody else left at PATH is written to; a FIFO or a device
 * there is written to as it is, if it is not another user's (util/destination.h).
 */
#include "data/writer.h"

#include "data/bytes.h"
#include "data/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLUSH_BYTES = 1 << 20 };

/* ---- where it goes ---- */

/* A folder that perf record --threads made. */
static bool is_recording_folder(const struct destination *place)
{
	char *data = xasprintf("%s/data", place->name);
	bool is = faccessat(place->folder, data, F_OK, 0) == 0;

	free(data);
	return is;
}

/*
 * The new file into its place; what is there becomes .old unless it is an empty file. A folder of other
 * things is nobody's old recording.
 */
static int put_in_place(struct destination *place, const char *path, struct str *err)
{
	struct str why = STR_INIT;
	struct stat st;
	int rc = 0;

	if (fstatat(place->folder, place->name, &st, AT_SYMLINK_NOFOLLOW))
		st = (struct stat){ .st_mode = S_IFREG };
	if (S_ISDIR(st.st_mode) && !is_recording_folder(place))
		return fail(err, -EISDIR, "%s: %s", path, strerror(EISDIR));
	if (!S_ISREG(st.st_mode) || st.st_size) {
		char *old = xasprintf("%s.old", place->name);

		if (renameat(place->folder, place->name, place->folder, old))
			rc = fail(err, -errno, "%s: cannot be kept as %s.old: %s", path, path, strerror(errno));
		free(old);
	}
	if (!rc && (rc = destination_put(place, true, &why)) != 0)
		fail(err, rc, "%s: %s", path, why.s);
	str_release(&why);
	return rc;
}

/* ---- file layout ---- */

/* Attr bytes of an event at the file's common size, with that size in them. */
static void put_attr(struct str *out, const struct data_event *event, size_t size)
{
	uint32_t size32 = (uint32_t)size;
	size_t start = out->len;

	str_addn(out, (const char *)event->attr_bytes, size);
	memcpy(out->s + start + offsetof(struct perf_event_attr, size), &size32, sizeof(size32));
}

static size_t common_attr_size(const struct events *events)
{
	size_t size = PERF_ATTR_SIZE_VER0;

	for (size_t i = 0; i < events->n; i++)
		if (events->v[i]->attr_size > size)
			size = events->v[i]->attr_size;
	return round_up(size, 8);
}

static int put_beginning(struct writer *writer, const struct events *events, struct str *err)
{
	size_t attr_size = common_attr_size(events);
	struct str bytes = STR_INIT;
	uint64_t ids_at;
	int rc;

	writer->attr_entry = attr_size + FORMAT_SECTION;
	writer->attrs_size = writer->attr_entry * events->n;
	ids_at = FORMAT_HEADER + writer->attrs_size;
	for (size_t i = 0; i < events->n; i++) {
		put_attr(&bytes, events->v[i], attr_size);
		put_u64(&bytes, ids_at);
		put_u64(&bytes, events->v[i]->n_ids * sizeof(uint64_t));
		ids_at += events->v[i]->n_ids * sizeof(uint64_t);
	}
	for (size_t i = 0; i < events->n; i++)
		for (size_t k = 0; k < events->v[i]->n_ids; k++)
			put_u64(&bytes, events->v[i]->ids[k]);
	writer->data_offset = ids_at;
	rc = writer_put_header(writer, NULL, err);
	if (!rc && lseek(writer->fd, FORMAT_HEADER, SEEK_SET) < 0)
		rc = writer_fail(writer, -errno, err);
	if (!rc) {
		rc = write_all(writer->fd, bytes.s, bytes.len);
		rc = rc ? writer_fail(writer, rc, err) : 0;
	}
	str_release(&bytes);
	return rc;
}

/* ---- pipe layout ---- */

/* Of a record: a u16 that is a multiple of 8. */
enum { PAYLOAD_MAX = RECORD_BYTES_MAX / 8 * 8 - RECORD_HEADER_BYTES };

/* A record whose payload is put together here, of at most PAYLOAD_MAX bytes. */
static void add_record(struct str *out, uint32_t type, uint16_t misc, const struct str *payload)
{
	size_t size = RECORD_HEADER_BYTES + round_up(payload->len, 8);

	put_u32(out, type);
	put_u16(out, misc);
	put_u16(out, (uint16_t)size);
	str_addn(out, payload->s, payload->len);
	str_pad(out, '\0', size - RECORD_HEADER_BYTES - payload->len);
}

/* How many ids one HEADER_ATTR has room for. */
static size_t ids_at_once(const struct events *events)
{
	return (PAYLOAD_MAX - common_attr_size(events)) / sizeof(uint64_t);
}

/* The event's attr with its ids from `first` on, as many as fit. */
static void add_attr(const struct events *events, const struct data_event *event, size_t first, struct str *out)
{
	size_t end = first + ids_at_once(events);
	uint16_t misc = first && event->index < UINT16_MAX ? (uint16_t)(event->index + 1) : 0;
	struct str payload = STR_INIT;

	put_attr(&payload, event, common_attr_size(events));
	for (size_t k = first; k < event->n_ids && k < end; k++)
		put_u64(&payload, event->ids[k]);
	add_record(out, RECORD_HEADER_ATTR, misc, &payload);
	str_release(&payload);
}

/*
 * All events, and behind them the ids that had no room: perf takes each record for an event of its own, so the
 * others keep their places, by which groups name them.
 */
static void add_attrs(const struct events *events, struct str *out)
{
	for (size_t i = 0; i < events->n; i++)
		add_attr(events, events->v[i], 0, out);
	for (size_t i = 0; i < events->n; i++)
		for (size_t k = ids_at_once(events); k < events->v[i]->n_ids; k += ids_at_once(events))
			add_attr(events, events->v[i], k, out);
}

/* False: it has more than a record can. */
static bool add_feature(unsigned feature, const struct info *info, const struct events *events,
			struct str *out)
{
	struct str payload = STR_INIT;
	bool fits = true;

	put_u64(&payload, feature);
	if (feature_write(feature, info, events, &payload)) {
		fits = payload.len <= PAYLOAD_MAX;
		if (fits)
			add_record(out, RECORD_HEADER_FEATURE, 0, &payload);
	}
	str_release(&payload);
	return fits;
}

/*
 * All but the build-ids and the tracepoint formats, which have their own, and but those that other readers end at: perf
 * takes no record of a feature that it does not know (a bit of the header it passes over). CLOCK_DATA is of perf 5.9;
 * what came later describes the machine alone. pstat's own are records among counts only: perf's stat report takes
 * no such record. Nor is there an end mark: its number is that of the next feature, another one in each perf.
 */
static void add_features(struct writer *writer, const struct info *info, const struct events *events,
			 struct str *out)
{
	unsigned end = info_has(info, FEATURE_STAT) ? FEATURE_BITS : FEATURE_CLOCK_DATA + 1;

	writer->names_apart = !info_has(info, FEATURE_EVENT_DESC);
	for (unsigned i = 1; i < end; i++) {
		if (i == FEATURE_TRACING_DATA || i == FEATURE_BUILD_ID || add_feature(i, info, events, out))
			continue;
		if (i == FEATURE_EVENT_DESC)
			writer->names_apart = true;
		else if (writer->pipe)
			str_addf(&writer->left_out, "%s%s", writer->left_out.len ? ", " : "", feature_name(i));
	}
}

static void add_tracing_data(const struct info *info, struct str *out)
{
	size_t size = round_up(info->tracing_data_size, 8);

	if (!info_has(info, FEATURE_TRACING_DATA) || size > UINT32_MAX)
		return;
	put_u32(out, RECORD_HEADER_TRACING_DATA);
	put_u16(out, 0);
	put_u16(out, RECORD_HEADER_BYTES + sizeof(uint64_t));
	put_u64(out, size); /* a u32, and four bytes that make the record a multiple of 8 */
	str_addn(out, (const char *)info->tracing_data, info->tracing_data_size);
	str_pad(out, '\0', size - info->tracing_data_size);
}

static int open_pipe(struct writer *writer, const struct events *events, const struct info *info,
		     struct str *err)
{
	struct info full = writer_info(writer, info);
	struct str bytes = STR_INIT;
	int rc;

	str_addn(&bytes, FORMAT_MAGIC, FORMAT_MAGIC_BYTES);
	put_u64(&bytes, FORMAT_PIPE_HEADER);
	add_attrs(events, &bytes);
	add_features(writer, &full, events, &bytes);
	add_tracing_data(&full, &bytes);
	rc = write_all(writer->fd, bytes.s, bytes.len);
	str_release(&bytes);
	return rc ? writer_fail(writer, rc, err) : 0;
}

/* ---- both ---- */

static int add_update(struct writer *writer, const struct data_event *event, uint64_t id, uint64_t kind,
		      const char *text, struct str *err)
{
	struct record_body body = { .type = RECORD_EVENT_UPDATE };

	body.update.kind = kind;
	body.update.id = id;
	body.update.text = text;
	body.update.scale = event->scale;
	return writer_add_body(writer, &body, NULL, err);
}

static int add_updates_of(struct writer *writer, const struct data_event *event, uint64_t id, struct str *err)
{
	int rc = 0;

	if (writer->names_apart && event->name)
		rc = add_update(writer, event, id, EVENT_UPDATE_NAME, event->name, err);
	if (!rc && event->unit && *event->unit)
		rc = add_update(writer, event, id, EVENT_UPDATE_UNIT, event->unit, err);
	if (!rc && event->scale != 1.0)
		rc = add_update(writer, event, id, EVENT_UPDATE_SCALE, NULL, err);
	return rc;
}

/* Names (where no EVENT_DESC in front has them), units and scales of the events, for each HEADER_ATTR of a pipe. */
static int add_updates(struct writer *writer, const struct events *events, struct str *err)
{
	size_t step = writer->pipe ? ids_at_once(events) : SIZE_MAX;
	int rc = 0;

	for (size_t i = 0; i < events->n; i++) {
		const struct data_event *event = events->v[i];

		for (size_t k = 0; k < event->n_ids && !rc; k += step < event->n_ids ? step : event->n_ids)
			rc = add_updates_of(writer, event, event->ids[k], err);
	}
	return rc;
}

/*
 * A file gets its features as records, too, as the first of its data: one that is never finished, and so
 * has no features at its end, still says where it comes from and what its events are called. They are not packed:
 * without COMPRESSED no reader has room for what it unpacks.
 */
static int add_early_features(struct writer *writer, const struct events *events,
			      const struct info *info, struct str *err)
{
	struct info full = writer_info(writer, info);
	struct str bytes = STR_INIT;
	int rc;

	add_features(writer, &full, events, &bytes);
	rc = writer_put_plain(writer, &bytes, err);
	writer->early_bytes = bytes.len;
	str_release(&bytes);
	return rc;
}

/* A clause about the place becomes a sentence. */
static int fail_at_path(const struct writer *writer, int rc, struct str *why, struct str *err)
{
	fail(err, rc, "%s: %s", writer->path, why->s);
	str_release(why);
	return rc;
}

static int open_file(struct writer *writer, const struct events *events, const struct info *info,
		     struct str *err)
{
	struct str why = STR_INIT;
	int rc = destination_begin(&writer->place, writer->path, &why);

	if (rc)
		return fail_at_path(writer, rc, &why, err);
	writer->fd = writer->place.fd;
	rc = put_beginning(writer, events, err);
	if (!rc)
		rc = add_early_features(writer, events, info, err);
	if (!rc)
		rc = add_updates(writer, events, err);
	if (!rc)
		rc = writer_flush(writer, err);
	return rc ? rc : put_in_place(&writer->place, writer->path, err);
}

/* What stands at the path already: 1 it is a pipe or a device, and open. */
static int open_stream(struct writer *writer, struct str *err)
{
	struct str why = STR_INIT;
	int rc = destination_open_stream(writer->path, &writer->fd, &why);

	return rc < 0 ? fail_at_path(writer, rc, &why, err) : rc;
}

static int open_place(struct writer *writer, const struct writer_options *options,
		      const struct events *events, const struct info *info, struct str *err)
{
	int rc;

	if (!strcmp(options->path, "-")) {
		writer->fd = dup(STDOUT_FILENO);
	} else {
		rc = open_stream(writer, err);
		if (rc < 0)
			return rc;
		if (!rc && !options->pipe)
			return open_file(writer, events, info, err);
		if (!rc)
			writer->fd = open(options->path,
					  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
	}
	writer->pipe = true;
	if (writer->fd < 0)
		return writer_fail(writer, -errno, err);
	rc = open_pipe(writer, events, info, err);
	return rc ? rc : add_updates(writer, events, err);
}

int writer_open(struct writer *writer, const struct writer_options *options,
		const struct events *events, const struct info *info, struct str *err)
{
	int rc = 0;

	memset(writer, 0, sizeof(*writer));
	str_init(&writer->buf);
	str_init(&writer->unwritten);
	str_init(&writer->why);
	str_init(&writer->left_out);
	writer->fd = -1;
	writer->path = xstrdup(options->path);
	writer->flush_bytes = options->flush_bytes ? options->flush_bytes : FLUSH_BYTES;
	writer->zstd_level = options->zstd_level;
	if (options->zstd_level) {
		if (writer->flush_bytes > WRITER_CHUNK_BYTES)
			writer->flush_bytes = WRITER_CHUNK_BYTES;
		rc = zstd_out_new(&writer->zstd, options->zstd_level, err);
	}
	return rc ? rc : open_place(writer, options, events, info, err);
}
