/* SPDX-License-Identifier: MIT */
/*
 * writer.c: records into a recording. They are collected and written in large pieces; after each piece the
 * data size in the header is brought up to date, so that the file is valid whenever the program ends.
 * Features come last, after the data, and the header's feature bits after them.
 *
 *   | header | attrs, ids | data: piece, piece, ... | feature table, features |
 *     ^--------- data size after each piece          ^--- at the end, then the bits
 *
 * The new file is complete up to its first record before it takes its place, so that whatever fails earlier leaves the
 * previous recording where it was:
 *
 *   create PATH.PID.new (only if there is none, 0600) -> header, attrs, ids, first records -> PATH
 *   becomes PATH.old -> PATH.PID.new becomes PATH
 *
 * Renaming never follows a link, so nothing that somebody else left at PATH is written to; a FIFO or a device
 * there is written to as it is, if it is not another user's (util/destination.h).
 *
 * The data of a file begin with records of the features that are known then, for readers of one that never got its end;
 * with the bits the header leaves them out.
 *
 * When a piece cannot be written (no space) the file is cut back to the last whole record that was; a packed piece
 * is cut off, and as many of its records packed again as have the room. So what was recorded has the room before
 * the features, most of which can be found out again, and which are in front as well.
 */
#include "data/bytes.h"
#include "data/data.h"
#include "data/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FLUSH_BYTES = 1 << 20,
	CHUNK_BYTES = 512 << 10, /* packed at once: readers make room for so much */
	PACKED_MAX = 65528 - RECORD_HEADER_BYTES,
};

/* ---- bytes into the file ---- */

static int fail_because(struct writer *writer, int code, const char *why, struct str *err)
{
	if (!writer->failed) {
		writer->failed = code;
		str_addf(&writer->why, "%s: %s",
			 strcmp(writer->path, "-") ? writer->path : "standard output", why);
	}
	return fail(err, writer->failed, "%s", writer->why.s);
}

/* Remembers the first failure and says so in err; returns its code. */
static int fail_errno(struct writer *writer, int code, struct str *err)
{
	return fail_because(writer, code, strerror(-code), err);
}

/* *written: how many bytes are in the file, also after a failure. */
static int pwrite_most(int fd, const char *bytes, size_t n, off_t at, size_t *written)
{
	*written = 0;
	while (*written < n) {
		ssize_t done = pwrite(fd, bytes + *written, n - *written, at + (off_t)*written);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		*written += (size_t)done;
	}
	return 0;
}

static int pwrite_all(int fd, const char *bytes, size_t n, off_t at)
{
	size_t written;

	return pwrite_most(fd, bytes, n, at, &written);
}

static void put_section(struct str *out, uint64_t offset, uint64_t size)
{
	put_u64(out, offset);
	put_u64(out, size);
}

/* The file's first 104 bytes; bits: of the features that are written, or NULL for none. */
static int put_header(struct writer *writer, const uint64_t *bits, struct str *err)
{
	static const uint64_t none[FEATURE_BITS / 64];
	struct str head = STR_INIT;
	int rc;

	str_addn(&head, FORMAT_MAGIC, FORMAT_MAGIC_BYTES);
	put_u64(&head, FORMAT_HEADER);
	put_u64(&head, writer->attr_entry);
	put_section(&head, FORMAT_HEADER, writer->attrs_size);
	put_section(&head, writer->data_offset, writer->data_size);
	put_section(&head, 0, 0);
	for (size_t i = 0; i < FEATURE_BITS / 64; i++)
		put_u64(&head, bits ? bits[i] : none[i]);
	rc = pwrite_all(writer->fd, head.s, head.len, 0);
	str_release(&head);
	return rc ? fail_errno(writer, rc, err) : 0;
}

static int put_data_size(struct writer *writer, struct str *err)
{
	char size[8];
	int rc;

	memcpy(size, &writer->data_size, sizeof(size));
	rc = pwrite_all(writer->fd, size, sizeof(size), FORMAT_DATA_SECTION_AT + 8);
	return rc ? fail_errno(writer, rc, err) : 0;
}

static uint64_t file_end(const struct writer *writer)
{
	return writer->data_offset + writer->data_size;
}

/* A failure does no harm: bytes after the data size are not read as data. */
static void cut_back(const struct writer *writer)
{
	if (!writer->pipe && ftruncate(writer->fd, (off_t)file_end(writer)))
		return;
}

/* Data that were written must still be there: whoever cut the file has taken samples away. */
static int check_whole(struct writer *writer, struct str *err)
{
	char magic[FORMAT_MAGIC_BYTES];
	struct stat st;

	if (fstat(writer->fd, &st))
		return fail_errno(writer, -errno, err);
	if ((uint64_t)st.st_size < file_end(writer) ||
	    pread(writer->fd, magic, sizeof(magic), 0) != sizeof(magic) ||
	    memcmp(magic, FORMAT_MAGIC, sizeof(magic))) {
		writer->damaged = true;
		return fail_because(writer, -ESTALE,
				    "it was cut while it was being written: samples are missing", err);
	}
	return 0;
}

/* The file must still be where it was asked for. It is whole all the same, so that this comes last. */
static int check_place(struct writer *writer, struct str *err)
{
	struct stat ours, st;

	if (fstat(writer->fd, &ours))
		return fail_errno(writer, -errno, err);
	if (!stat(writer->path, &st) && st.st_ino == ours.st_ino && st.st_dev == ours.st_dev)
		return 0;
	return fail_because(
		writer, -ESTALE,
		ours.st_nlink
			? "it was moved while it was being written: the recording has another name"
			: "it was removed while it was being written: the recording is lost",
		err);
}

/* Adds bytes at the end of the file. After a failure *written of them are, which is none of a pipe's. */
static int append(struct writer *writer, const char *bytes, size_t n, size_t *written, struct str *err)
{
	struct str again = STR_INIT;
	int rc;

	*written = 0;
	rc = !writer->pipe && writer->data_size ? check_whole(writer, err) : 0;
	if (rc)
		return rc;
	rc = writer->pipe ? write_all(writer->fd, bytes, n) :
			    pwrite_most(writer->fd, bytes, n, (off_t)file_end(writer), written);
	if (!rc) {
		*written = n;
		writer->data_size += n;
		return writer->pipe ? 0 : put_data_size(writer, err);
	}
	writer->room = *written;
	*written = writer->zstd ? 0 : records_whole(bytes, *written);
	writer->data_size += *written;
	cut_back(writer);
	rc = fail_errno(writer, rc, err);
	if (*written)
		put_data_size(writer, &again);
	str_release(&again);
	return rc;
}

/* Packed bytes as COMPRESSED records. */
static void add_packed(const struct str *packed, struct str *out)
{
	for (size_t at = 0; at < packed->len; at += PACKED_MAX) {
		size_t part = packed->len - at < PACKED_MAX ? packed->len - at : PACKED_MAX;

		put_u32(out, RECORD_COMPRESSED);
		put_u16(out, 0);
		put_u16(out, (uint16_t)(RECORD_HEADER_BYTES + part));
		str_addn(out, packed->s + at, part);
	}
}

/* n bytes as COMPRESSED records; anew: what was packed last is not in the file. */
static int pack(struct writer *writer, const char *bytes, size_t n, bool anew, struct str *out, struct str *why)
{
	struct str packed = STR_INIT;
	int rc;

	if (anew)
		zstd_out_restart(writer->zstd, writer->frame_begun, &packed);
	rc = zstd_out_add(writer->zstd, bytes, n, &packed, why);
	if (!rc) {
		zstd_out_pad(&packed, RECORD_MULTIPLE);
		add_packed(&packed, out);
	}
	str_release(&packed);
	return rc;
}

/*
 * The file had no room for n bytes of records, packed: as many as there is room for. How many of the bytes fit is
 * found by trying: the half of what may fit, and so on. Returns how many are in the file.
 */
static size_t pack_what_fits(struct writer *writer, const char *bytes, size_t n)
{
	enum { TRIES = 12 };
	struct str best = STR_INIT, records = STR_INIT, why = STR_INIT;
	size_t fits = 0, most = n;

	for (int i = 0; i < TRIES && writer->room; i++) {
		size_t now = records_whole(bytes, fits + (most - fits) / 2);

		if (now <= fits)
			break;
		str_reset(&records);
		if (pack(writer, bytes, now, true, &records, &why))
			break;
		if (records.len <= writer->room) {
			fits = now;
			str_reset(&best);
			str_addn(&best, records.s, records.len);
		} else {
			most = now;
		}
	}
	str_reset(&why);
	if (pwrite_all(writer->fd, best.s, best.len, (off_t)file_end(writer))) {
		cut_back(writer);
		fits = 0;
	} else if (fits) {
		writer->data_size += best.len;
		put_data_size(writer, &why);
	}
	str_release(&best);
	str_release(&records);
	str_release(&why);
	return fits;
}

/* Records, packed; after a failure *written bytes of them are in the file. */
static int append_packed(struct writer *writer, const char *bytes, size_t n, size_t *written, struct str *err)
{
	struct str records = STR_INIT, why = STR_INIT;
	int rc = 0;

	*written = 0;
	while (!rc && *written < n) {
		size_t rest = n - *written, done = 0;
		size_t most = rest < CHUNK_BYTES ? rest : CHUNK_BYTES;
		size_t chunk = records_whole(bytes + *written, most);

		chunk = chunk ? chunk : most;
		str_reset(&records);
		rc = pack(writer, bytes + *written, chunk, false, &records, &why);
		if (rc) {
			rc = fail_because(writer, rc, why.s, err);
			break;
		}
		rc = append(writer, records.s, records.len, &done, err);
		*written += rc && !done ? pack_what_fits(writer, bytes + *written, chunk) : chunk;
		writer->frame_begun = true;
	}
	str_release(&records);
	str_release(&why);
	return rc;
}

/* Records that were taken, and that the first failure keeps out of the file. */
static void keep_unwritten(struct writer *writer, const void *records, size_t n)
{
	str_addn(&writer->unwritten, records, n);
	writer->bytes_dropped += n;
}

/* Records into the file at once and as they are, also where the others are packed; nothing may wait in buf. */
static int put_plain(struct writer *writer, const struct str *records, struct str *err)
{
	size_t written = 0;
	int rc = records->len ? append(writer, records->s, records->len, &written, err) : 0;

	writer->bytes_in += records->len;
	if (rc)
		keep_unwritten(writer, records->s + written, records->len - written);
	return rc;
}

/* One piece of records, packed if asked for. */
static int put_piece(struct writer *writer, const char *bytes, size_t n, struct str *err)
{
	size_t written = 0;
	int rc = 0;

	if (n)
		rc = (writer->zstd ? append_packed : append)(writer, bytes, n, &written, err);
	if (rc)
		keep_unwritten(writer, bytes + written, n - written);
	return rc;
}

int writer_flush(struct writer *writer, struct str *err)
{
	int rc = writer->failed;

	if (rc)
		keep_unwritten(writer, writer->buf.s, writer->buf.len);
	else
		rc = put_piece(writer, writer->buf.s, writer->buf.len, err);
	str_reset(&writer->buf);
	return rc;
}

int writer_add(struct writer *writer, const void *records, size_t bytes, struct str *err)
{
	int rc = 0;

	writer->bytes_in += bytes;
	if (writer->failed) {
		writer->bytes_dropped += bytes;
		return fail_errno(writer, writer->failed, err);
	}
	if (writer->buf.len + bytes >= writer->flush_bytes)
		rc = writer_flush(writer, err);
	if (!rc && bytes >= writer->flush_bytes)
		return put_piece(writer, records, bytes, err); /* large enough: without a copy */
	if (rc)
		keep_unwritten(writer, records, bytes);
	else
		str_addn(&writer->buf, records, bytes);
	return rc;
}

int writer_add_body(struct writer *writer, const struct record_body *body,
		    const struct data_event *event, struct str *err)
{
	struct str bytes = STR_INIT;
	int rc = record_encode(body, event, &bytes, err);

	if (!rc)
		rc = writer_add(writer, bytes.s, bytes.len, err);
	str_release(&bytes);
	return rc;
}

int writer_add_round(struct writer *writer, struct str *err)
{
	struct record_body body = { .type = RECORD_FINISHED_ROUND };

	return writer_add_body(writer, &body, NULL, err);
}

/* info with what the writer itself knows (COMPRESSED) put in; shares all memory with it. */
static struct info full_info(const struct writer *writer, const struct info *info)
{
	struct info full = *info;

	if (!writer->zstd) {
		info_clear(&full, FEATURE_COMPRESSED);
		return full;
	}
	full.comp_version = 1;
	full.comp_type = 1; /* zstd */
	full.comp_level = (uint32_t)writer->zstd_level;
	full.comp_ratio = (uint32_t)(writer->data_size ? writer->bytes_in / writer->data_size : 0);
	full.comp_chunk_bytes = CHUNK_BYTES;
	info_set(&full, FEATURE_COMPRESSED);
	return full;
}

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
	rc = put_header(writer, NULL, err);
	if (!rc && lseek(writer->fd, FORMAT_HEADER, SEEK_SET) < 0)
		rc = fail_errno(writer, -errno, err);
	if (!rc) {
		rc = write_all(writer->fd, bytes.s, bytes.len);
		rc = rc ? fail_errno(writer, rc, err) : 0;
	}
	str_release(&bytes);
	return rc;
}

/* ---- pipe layout ---- */

/* The payload of a record, whose size is a u16 and a multiple of 8. */
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
 * All events, and after them the ids that had no room: perf takes each record for an event of its own, so the
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

	/* A perf that reads a pipe takes them from updates alone. */
	writer->names_apart = writer->pipe || !info_has(info, FEATURE_EVENT_DESC);
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
	struct info full = full_info(writer, info);
	struct str bytes = STR_INIT;
	int rc;

	str_addn(&bytes, FORMAT_MAGIC, FORMAT_MAGIC_BYTES);
	put_u64(&bytes, FORMAT_PIPE_HEADER);
	add_attrs(events, &bytes);
	add_features(writer, &full, events, &bytes);
	add_tracing_data(&full, &bytes);
	rc = write_all(writer->fd, bytes.s, bytes.len);
	str_release(&bytes);
	return rc ? fail_errno(writer, rc, err) : 0;
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
	struct info full = full_info(writer, info);
	struct str bytes = STR_INIT;
	int rc;

	add_features(writer, &full, events, &bytes);
	rc = put_plain(writer, &bytes, err);
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

/* Opens what is at the path already: 1: it is a pipe or a device, and open. */
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
		return fail_errno(writer, -errno, err);
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
		if (writer->flush_bytes > CHUNK_BYTES)
			writer->flush_bytes = CHUNK_BYTES;
		rc = zstd_out_new(&writer->zstd, options->zstd_level, err);
	}
	return rc ? rc : open_place(writer, options, events, info, err);
}

/* ---- the end ---- */

/* The feature table and the features after the data; the bits that were written. */
static int put_features(struct writer *writer, const struct events *events, const struct info *info,
			uint64_t bits[FEATURE_BITS / 64], struct str *err)
{
	struct info full = full_info(writer, info);
	struct str table = STR_INIT, bytes = STR_INIT;
	uint64_t at = file_end(writer);
	size_t n = 0;
	int rc;

	for (unsigned i = 0; i < FEATURE_BITS; i++)
		n += info_has(&full, i);
	at += n * FORMAT_SECTION;
	for (unsigned i = 0; i < FEATURE_BITS; i++) {
		size_t start = bytes.len;

		if (!info_has(&full, i))
			continue;
		feature_write(i, &full, events, &bytes);
		put_section(&table, at + start, bytes.len - start);
		bits[i / 64] |= 1ULL << (i % 64);
	}
	rc = pwrite_all(writer->fd, table.s, table.len, (off_t)file_end(writer));
	if (!rc)
		rc = pwrite_all(writer->fd, bytes.s, bytes.len, (off_t)at);
	if (rc)
		cut_back(writer);
	str_release(&table);
	str_release(&bytes);
	return rc ? fail_errno(writer, rc, err) : 0;
}

/*
 * The table has all that the features in front say, so the data begin after them, if there are others: a perf that
 * knows no HEADER_FEATURE reads them, too.
 */
static int put_final_header(struct writer *writer, const uint64_t *bits, struct str *err)
{
	uint64_t early = writer->data_size > writer->early_bytes ? writer->early_bytes : 0;
	int rc;

	writer->data_offset += early;
	writer->data_size -= early;
	rc = put_header(writer, bits, err);
	if (rc) {
		writer->data_offset -= early;
		writer->data_size += early;
		cut_back(writer); /* a header without their bits says that nothing follows the data */
	}
	return rc;
}

static int put_build_id_records(struct writer *writer, const struct info *info, struct str *err)
{
	struct str bytes = STR_INIT;
	int rc = 0;

	if (feature_write(FEATURE_BUILD_ID, info, NULL, &bytes) && bytes.len)
		rc = writer_add(writer, bytes.s, bytes.len, err);
	str_release(&bytes);
	return rc;
}

int writer_finish(struct writer *writer, const struct events *events, const struct info *info,
		  struct str *err)
{
	uint64_t bits[FEATURE_BITS / 64] = { 0 };
	struct str again = STR_INIT;
	int rc = 0, first = writer->failed;

	if (writer->pipe && !first)
		rc = put_build_id_records(writer, info, err);
	if (!rc)
		rc = writer_flush(writer, err);
	if (writer->pipe)
		return rc;
	if (!rc && !first)
		rc = check_whole(writer, err);
	if (writer->damaged)
		return writer->failed;
	/* Features may still find room after a failure; the first error is the one to report. */
	if (!put_features(writer, events, info, bits, rc ? &again : err))
		put_final_header(writer, bits, rc ? &again : err);
	str_release(&again);
	if (first && !rc)
		rc = fail_errno(writer, first, err);
	if (!writer->failed)
		check_place(writer, err);
	return writer->failed;
}

void writer_close(struct writer *writer)
{
	if (writer->fd >= 0 && !writer->place.name)
		close(writer->fd);
	writer->fd = -1;
	destination_end(&writer->place);
	zstd_out_free(writer->zstd);
	writer->zstd = NULL;
	free(writer->path);
	writer->path = NULL;
	str_release(&writer->buf);
	str_release(&writer->unwritten);
	str_release(&writer->why);
	str_release(&writer->left_out);
}
