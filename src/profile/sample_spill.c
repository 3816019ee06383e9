/* SPDX-License-Identifier: MIT */
/*
 * sample_spill.c: records as varints: the time as the difference to the last one, folded so that small steps back are
 * short, too; the word; the length of the text and the text.
 */
#include "profile/sample_spill.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { RECORD_BYTES_MAX = 3 * 10 + SPILL_TEXT_MAX, ROW_BYTES_FIRST = 64 };

void spill_init(struct sample_spill *spill)
{
	*spill = (struct sample_spill){ .fd = -1 };
}

void spill_release(struct sample_spill *spill)
{
	if (spill->fd >= 0)
		close(spill->fd);
	spill_init(spill);
}

void spill_row_release(struct spill_row *row)
{
	free(row->bytes);
	free(row->chunks);
}

/* ---- writing ---- */

static int put_away(struct sample_spill *spill, struct spill_row *row, struct str *err)
{
	int code;

	if (spill->fd < 0)
		spill->fd = destination_create_nameless(NULL, err);
	if (spill->fd < 0)
		return spill->fd;
	code = write_all_at(spill->fd, row->bytes, row->n_bytes, spill->file_bytes);
	if (code)
		return fail(err, code, "the samples can't be written to a temporary file: %s", strerror(-code));
	VEC_GROW(row->chunks, row->n_chunks, row->cap_chunks);
	row->chunks[row->n_chunks++] = (struct spill_chunk){ spill->file_bytes, row->n_bytes };
	spill->file_bytes += row->n_bytes;
	row->n_bytes = 0;
	return 0;
}

static void add_varint(struct spill_row *row, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		row->bytes[row->n_bytes++] = (uint8_t)(value | 0x80);
	row->bytes[row->n_bytes++] = (uint8_t)value;
}

static uint64_t fold(uint64_t difference)
{
	return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static uint64_t unfold(uint64_t folded)
{
	return folded >> 1 ^ (folded & 1 ? UINT64_MAX : 0);
}

int spill_add(struct sample_spill *spill, struct spill_row *row, const struct spill_record *record, struct str *err)
{
	size_t text_bytes = record->text_bytes < SPILL_TEXT_MAX ? record->text_bytes : SPILL_TEXT_MAX;
	uint32_t need = (uint32_t)(RECORD_BYTES_MAX - SPILL_TEXT_MAX + text_bytes);
	int code = row->n_bytes + need > SPILL_BYTES ? put_away(spill, row, err) : 0;

	if (code)
		return code;
	if (row->n_bytes + need > row->cap) {
		uint32_t cap = row->cap ? 2 * row->cap : ROW_BYTES_FIRST;

		row->cap = row->n_bytes + need > cap ? row->n_bytes + need : cap;
		row->cap = row->cap < SPILL_BYTES ? row->cap : SPILL_BYTES;
		row->bytes = xreallocarray(row->bytes, row->cap, 1);
	}
	add_varint(row, fold(record->time - row->last_time));
	add_varint(row, record->word);
	add_varint(row, text_bytes);
	if (text_bytes)
		memcpy(row->bytes + row->n_bytes, record->text, text_bytes);
	row->n_bytes += (uint32_t)text_bytes;
	row->last_time = record->time;
	row->n_records++;
	return 0;
}

/* ---- reading ---- */

void spill_read(struct spill_reader *reader, const struct sample_spill *spill, const struct spill_row *row)
{
	reader->spill = spill;
	reader->row = row;
	reader->next_chunk = 0;
	reader->at = reader->end = NULL;
	reader->time = 0;
}

/* The next chunk, and after the last one what is in memory. False: there is no more, or an error. */
static bool refill(struct spill_reader *reader, int *code)
{
	const struct spill_row *row = reader->row;
	const struct spill_chunk *chunk;

	*code = 0;
	if (reader->next_chunk > row->n_chunks)
		return false;
	reader->at = reader->end = row->bytes;
	if (row->n_bytes)
		reader->end += row->n_bytes;
	if (reader->next_chunk++ == row->n_chunks)
		return row->n_bytes;
	chunk = &row->chunks[reader->next_chunk - 1];
	for (size_t got = 0; got < chunk->n_bytes;) {
		ssize_t n = pread(reader->spill->fd, reader->room + got, chunk->n_bytes - got,
				  (off_t)(chunk->offset + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			*code = n ? -errno : -EIO;
			return false;
		}
		got += (size_t)n;
	}
	reader->at = reader->room;
	reader->end = reader->room + chunk->n_bytes;
	return true;
}

static uint64_t take_varint(struct spill_reader *reader)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (; *reader->at >= 0x80; shift += 7)
		value |= (uint64_t)(*reader->at++ & 0x7f) << shift;
	return value | (uint64_t)*reader->at++ << shift;
}

int spill_next(struct spill_reader *reader, struct spill_record *record, struct str *err)
{
	int code = 0;

	if (reader->at == reader->end && !refill(reader, &code))
		return code ? fail(err, code, "the samples can't be read back from the temporary file: %s",
				   strerror(-code)) :
			      0;
	reader->time += unfold(take_varint(reader));
	record->time = reader->time;
	record->word = take_varint(reader);
	record->text_bytes = take_varint(reader);
	record->text = (const char *)reader->at;
	reader->at += record->text_bytes;
	return 1;
}
