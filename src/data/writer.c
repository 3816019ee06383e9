/*
 * writer.c: records into a recording. They are collected and written in large pieces; after each piece the
 * data size in the header is brought up to date, so that the file is valid whenever the program ends.
 * Features come last, behind the data, and the header's feature bits after them.
 *
 *   | header | attrs, ids | data: piece, piece, ... | feature table, features |
 *     ^--------- data size after each piece          ^--- at the end, then the bits
 *
 * The data of a file begin with records of the features that are known then, for readers of one that never got its end;
 * with the bits the header leaves them behind.
 *
 * When a piece cannot be written (no space) the file is cut back to the last whole record that was; a packed piece
 * is cut off, and as many of its records packed again as have the room. So what was recorded has the room before
 * the features, most of which can be found out again, and which are in front as well.
 */
#include "data/writer.h"

#include "data/bytes.h"
#include "data/format.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PACKED_MAX = 65528 - RECORD_HEADER_BYTES };

static int fail_because(struct writer *writer, int code, const char *why, struct str *err)
{
	if (!writer->failed) {
		writer->failed = code;
		str_addf(&writer->why, "%s: %s",
			 strcmp(writer->path, "-") ? writer->path : "standard output", why);
	}
	return fail(err, writer->failed, "%s", writer->why.s);
}

int writer_fail(struct writer *writer, int code, struct str *err)
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

int writer_put_header(struct writer *writer, const uint64_t *bits, struct str *err)
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
	return rc ? writer_fail(writer, rc, err) : 0;
}

static int put_data_size(struct writer *writer, struct str *err)
{
	char size[8];
	int rc;

	memcpy(size, &writer->data_size, sizeof(size));
	rc = pwrite_all(writer->fd, size, sizeof(size), FORMAT_DATA_SECTION_AT + 8);
	return rc ? writer_fail(writer, rc, err) : 0;
}

static uint64_t file_end(const struct writer *writer)
{
	return writer->data_offset + writer->data_size;
}

/* Where this fails, what lies behind the data size is not read as data as long as it isn't whole. */
static void cut_back(const struct writer *writer)
{
	if (!writer->pipe && ftruncate(writer->fd, (off_t)file_end(writer)))
		return;
}

/* What was written must still be there: whoever cut the file has taken samples away. */
static int check_whole(struct writer *writer, struct str *err)
{
	char magic[FORMAT_MAGIC_BYTES];
	struct stat st;

	if (fstat(writer->fd, &st))
		return writer_fail(writer, -errno, err);
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
		return writer_fail(writer, -errno, err);
	if (!stat(writer->path, &st) && st.st_ino == ours.st_ino && st.st_dev == ours.st_dev)
		return 0;
	return fail_because(
		writer, -ESTALE,
		ours.st_nlink
			? "it was moved while it was being written: the recording has another name"
			: "it was removed while it was being written: the recording is lost",
		err);
}

/* Bytes behind what is in the file. After a failure *written of them are, which is none of a pipe's. */
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
	rc = writer_fail(writer, rc, err);
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
static size_t squeeze(struct writer *writer, const char *bytes, size_t n)
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
		size_t most = rest < WRITER_CHUNK_BYTES ? rest : WRITER_CHUNK_BYTES;
		size_t chunk = records_whole(bytes + *written, most);

		chunk = chunk ? chunk : most;
		str_reset(&records);
		rc = pack(writer, bytes + *written, chunk, false, &records, &why);
		if (rc) {
			rc = fail_because(writer, rc, why.s, err);
			break;
		}
		rc = append(writer, records.s, records.len, &done, err);
		*written += rc && !done ? squeeze(writer, bytes + *written, chunk) : chunk;
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

int writer_put_plain(struct writer *writer, const struct str *records, struct str *err)
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
		return writer_fail(writer, writer->failed, err);
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

struct info writer_info(const struct writer *writer, const struct info *info)
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
	full.comp_chunk_bytes = WRITER_CHUNK_BYTES;
	info_set(&full, FEATURE_COMPRESSED);
	return full;
}

/* The feature table and the features behind the data; the bits that were written. */
static int put_features(struct writer *writer, const struct events *events, const struct info *info,
			uint64_t bits[FEATURE_BITS / 64], struct str *err)
{
	struct info full = writer_info(writer, info);
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
	return rc ? writer_fail(writer, rc, err) : 0;
}

/*
 * The table has all that the features in front say, so the data begin behind them, if there are others: a perf that
 * knows no HEADER_FEATURE reads them, too.
 */
static int put_final_header(struct writer *writer, const uint64_t *bits, struct str *err)
{
	uint64_t early = writer->data_size > writer->early_bytes ? writer->early_bytes : 0;
	int rc;

	writer->data_offset += early;
	writer->data_size -= early;
	rc = writer_put_header(writer, bits, err);
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
	/* After a failure there may still be room for them; the first error is the one to report. */
	if (!put_features(writer, events, info, bits, rc ? &again : err))
		put_final_header(writer, bits, rc ? &again : err);
	str_release(&again);
	if (first && !rc)
		rc = writer_fail(writer, first, err);
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
