/* SPDX-License-Identifier: MIT */
/*
 * reader_header.c: the bytes in front of the records of a file and after them: header, attrs with
 * their ids, features. The layout is drawn in format.h. A wrong header or attr is an error, as no record could be
 * understood; a wrong feature is a note.
 *
 * Memory is bounded by the file's size: ids of all events together and features may not overlap.
 */
#include "data/attr.h"
#include "data/bytes.h"
#include "data/format.h"
#include "data/reader.h"

#include <errno.h>
#include <stdlib.h>

typedef unsigned long long ull;

struct section {
	uint64_t offset, size;
};

/* Contents of the header of a file, while it is being opened. */
struct file_header {
	const uint8_t *map;
	uint64_t attr_entry;
	struct section attrs, data;
	uint64_t ids_end; /* of the last event's */
	uint64_t bits[FEATURE_BITS / 64];
};

static bool inside(const struct section *section, uint64_t file_size)
{
	return section->offset <= file_size && section->size <= file_size - section->offset;
}

static struct section cursor_section(struct cursor *c)
{
	struct section section;

	section.offset = cursor_u64(c);
	section.size = cursor_u64(c);
	return section;
}

void reader_note(struct reader *reader, const char *fmt, ...)
{
	struct str text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	if (reader->notes.n < READER_NOTES_MAX)
		note_add(&reader->notes, false, NULL, "%s", text.s);
	str_release(&text);
}

/* ---- header ---- */

int header_check_magic(struct reader *reader, const uint8_t *bytes, size_t n, struct str *err)
{
	if (!n)
		return fail(err, -EINVAL, "%s: is empty", reader_name(reader));
	if (n < FORMAT_PIPE_HEADER)
		return fail(err, -EINVAL, "%s: is not a perf.data file: it has only %zu bytes",
			    reader_name(reader), n);
	if (!memcmp(bytes, FORMAT_MAGIC_OLD, FORMAT_MAGIC_BYTES))
		return fail(err, -EINVAL,
			    "%s: perf's format from before 2010 is not supported",
			    reader_name(reader));
	reader->swap = !memcmp(bytes, FORMAT_MAGIC_SWAPPED, FORMAT_MAGIC_BYTES);
	if (!reader->swap && memcmp(bytes, FORMAT_MAGIC, FORMAT_MAGIC_BYTES))
		return fail(err, -EINVAL, "%s: is not a perf.data file: it does not begin with %s",
			    reader_name(reader), FORMAT_MAGIC);
	reader->header_size = load_u64(bytes + FORMAT_MAGIC_BYTES, reader->swap);
	return 0;
}

/*
 * The bits are unsigned longs of the recorder. A 32-bit big-endian one stored their halves the other way
 * round, which shows where neither host name nor command line seem to be there.
 */
static void bits_repair(struct file_header *header)
{
	uint64_t expected = 1ULL << FEATURE_HOSTNAME | 1ULL << FEATURE_CMDLINE;

	if (header->bits[0] & expected)
		return;
	if (!((header->bits[0] << 32 | header->bits[0] >> 32) & expected))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(header->bits); i++)
		header->bits[i] = header->bits[i] << 32 | header->bits[i] >> 32;
}

static int header_load(struct reader *reader, struct file_header *header, struct str *err)
{
	uint64_t size = reader->file_size;
	struct cursor c =
		cursor_on(header->map, size < FORMAT_HEADER ? size : FORMAT_HEADER, reader->swap);

	cursor_bytes(&c, FORMAT_PIPE_HEADER);
	header->attr_entry = cursor_u64(&c);
	header->attrs = cursor_section(&c);
	header->data = cursor_section(&c);
	cursor_section(&c); /* event types: unused since 2011 */
	if (reader->header_size != FORMAT_HEADER &&
	    reader->header_size != FORMAT_HEADER_NO_FEATURES)
		return fail(err, -EINVAL, "%s: at offset 0x8: a header of %llu bytes, not %d or %d",
			    reader_name(reader), (ull)reader->header_size, FORMAT_HEADER,
			    FORMAT_PIPE_HEADER);
	if (reader->header_size == FORMAT_HEADER)
		for (size_t i = 0; i < ARRAY_SIZE(header->bits); i++)
			header->bits[i] = cursor_u64(&c);
	if (c.bad)
		return fail(err, -EINVAL, "%s: the file ends inside its header, after %llu bytes",
			    reader_name(reader), (ull)size);
	if (reader->swap)
		bits_repair(header);
	if (!inside(&header->attrs, size))
		return fail(err, -EINVAL,
			    "%s: at offset 0x18: the attr section (offset %#llx, %llu "
			    "bytes) is outside the file (%llu bytes)",
			    reader_name(reader), (ull)header->attrs.offset, (ull)header->attrs.size,
			    (ull)size);
	if (header->attrs.size && header->attr_entry < ATTR_SIZE_VER0 + FORMAT_SECTION)
		return fail(err, -EINVAL,
			    "%s: at offset 0x10: attr entries of %llu bytes, at least "
			    "%d are needed",
			    reader_name(reader), (ull)header->attr_entry, ATTR_SIZE_VER0 + FORMAT_SECTION);
	if (!header->attrs.size)
		return fail(err, -EINVAL, "%s: the header describes no events", reader_name(reader));
	return 0;
}

/* ---- attrs ---- */

/* Puts it into bytes, in native order; returns how many there are. */
static size_t native_attr(struct reader *reader, const uint8_t *attr, size_t size, uint8_t bytes[DATA_ATTR_MAX])
{
	uint32_t said = load_u32(attr + 4, reader->swap);
	size_t used = size;

	/* The attr's own size says what its recorder filled; the entry may be larger. */
	if (said >= ATTR_SIZE_VER0 && said < size)
		used = said;
	if (used > DATA_ATTR_MAX)
		reader_note(reader, "an event's attr has %zu bytes: those after %d are not read",
			    used, DATA_ATTR_MAX);
	return attr_load(attr, used, reader->swap, bytes);
}

void reader_add_event(struct reader *reader, const uint8_t *attr, size_t size, const uint64_t *ids,
		      size_t n_ids)
{
	uint8_t bytes[DATA_ATTR_MAX];
	size_t used = native_attr(reader, attr, size, bytes);

	events_add(&reader->events, bytes, used, ids, n_ids);
}

void reader_add_ids(struct reader *reader, size_t index, const uint8_t *attr, size_t size,
		    const uint64_t *ids, size_t n_ids)
{
	struct data_event *event = index < reader->events.n ? reader->events.v[index] : NULL;
	uint8_t bytes[DATA_ATTR_MAX];
	size_t used = native_attr(reader, attr, size, bytes);

	if (event && event->attr_size == used && !memcmp(event->attr_bytes, bytes, used))
		events_add_ids(&reader->events, event, ids, n_ids);
	else
		events_add(&reader->events, bytes, used, ids, n_ids);
}

static int attr_read(struct reader *reader, struct file_header *header, uint64_t at,
		     uint64_t *ids_left, struct str *err)
{
	size_t attr_size = header->attr_entry - FORMAT_SECTION;
	struct cursor c = cursor_on(header->map + at + attr_size, FORMAT_SECTION, reader->swap);
	struct section section = cursor_section(&c);
	uint64_t n = section.size / 8, *ids;

	if (section.size % 8 || !inside(&section, reader->file_size))
		return fail(err, -EINVAL,
			    "%s: at offset %#llx: an event's ids (offset %#llx, %llu "
			    "bytes) are outside the file (%llu bytes)",
			    reader_name(reader), (ull)(at + attr_size), (ull)section.offset,
			    (ull)section.size, (ull)reader->file_size);
	if (n > *ids_left)
		return fail(err, -EINVAL, "%s: at offset %#llx: the ids of several events overlap",
			    reader_name(reader), (ull)(at + attr_size));
	*ids_left -= n;
	header->ids_end = section.offset + section.size;
	ids = xcalloc(n, sizeof(*ids));
	for (uint64_t i = 0; i < n; i++)
		ids[i] = load_u64(header->map + section.offset + 8 * i, reader->swap);
	reader_add_event(reader, header->map + at, attr_size, ids, n);
	free(ids);
	return 0;
}

static int attrs_read(struct reader *reader, struct file_header *header, struct str *err)
{
	uint64_t ids_left = reader->file_size / 8;
	uint64_t n = header->attrs.size / header->attr_entry;

	for (uint64_t i = 0; i < n; i++) {
		int rc = attr_read(reader, header, header->attrs.offset + i * header->attr_entry,
				   &ids_left, err);

		if (rc)
			return rc;
	}
	if (!n)
		return fail(err, -EINVAL,
			    "%s: at offset 0x18: an attr section of %llu bytes has no "
			    "room for an entry of %llu",
			    reader_name(reader), (ull)header->attrs.size, (ull)header->attr_entry);
	return 0;
}

/* ---- features ---- */

void reader_add_feature(struct reader *reader, unsigned feature, const uint8_t *bytes, size_t size,
			uint64_t offset)
{
	struct str why = STR_INIT;
	const char *name = feature_name(feature);

	if (feature_read(feature, bytes, size, reader->swap, &reader->info, &reader->events, &why))
		reader_note(reader, "at offset %#llx: feature %s (%u): %s", (ull)offset,
			    name ? name : "?", feature, why.s);
	str_release(&why);
}

/* Sections that were accepted: a new one may not lie over them. */
struct taken {
	struct section v[FEATURE_BITS + 1];
	size_t n;
};

static bool overlaps(const struct taken *taken, const struct section *section)
{
	for (size_t i = 0; i < taken->n; i++) {
		const struct section *t = &taken->v[i];

		if (section->size && t->size && section->offset < t->offset + t->size &&
		    t->offset < section->offset + section->size)
			return true;
	}
	return false;
}

/* False: the file ends before some of them. */
static bool features_read(struct reader *reader, const struct file_header *header)
{
	uint64_t at = reader->feature_offset;
	struct taken taken = { .n = 0 };
	bool all = true;

	for (unsigned i = 0; i < FEATURE_BITS; i++) {
		const char *name = feature_name(i), *why = NULL;
		struct section section;
		struct cursor c;

		if (!(header->bits[i / 64] >> (i % 64) & 1))
			continue;
		if (at > reader->file_size || reader->file_size - at < FORMAT_SECTION) {
			reader_note(reader,
				    "the file ends before its feature table at offset %#llx: "
				    "event names, host and command are not known",
				    (ull)at);
			return false;
		}
		c = cursor_on(header->map + at, FORMAT_SECTION, reader->swap);
		section = cursor_section(&c);
		if (!inside(&section, reader->file_size))
			why = "outside the file";
		else if (section.size > READER_FEATURE_MAX)
			why = "too large";
		else if (overlaps(&taken, &section))
			why = "lies over another one";
		all &= inside(&section, reader->file_size);
		if (why) {
			reader_note(reader,
				    "at offset %#llx: feature %s (%u): its section (offset "
				    "%#llx, %llu bytes) is %s",
				    (ull)at, name ? name : "?", i, (ull)section.offset,
				    (ull)section.size, why);
		} else {
			taken.v[taken.n++] = section;
			reader_add_feature(reader, i, header->map + section.offset, section.size,
					   section.offset);
		}
		at += FORMAT_SECTION;
	}
	return all;
}

/* ---- where the records are ---- */

/*
 * pstat's features lie in front of the data as well, as records after the last ids: they are to be read instead of
 * the data's beginning where the table is cut off. The data's beginning where there are none.
 */
static uint64_t features_in_front(const struct reader *reader, const struct file_header *header)
{
	uint64_t at = header->ids_end;

	if (header->data.offset > reader->file_size)
		return header->data.offset;
	while (at < header->data.offset && header->data.offset - at >= RECORD_HEADER_BYTES) {
		struct record record;

		record_from_bytes(&record, header->map + at, at, reader->swap);
		if (record.type != RECORD_HEADER_FEATURE || record.size < RECORD_HEADER_BYTES)
			break;
		at += record.size;
	}
	return at == header->data.offset ? header->ids_end : header->data.offset;
}

static bool any_bit(const struct file_header *header)
{
	return header->bits[0] | header->bits[1] | header->bits[2] | header->bits[3];
}

/*
 * The end of the records. A size that lies in the file is true, also where a recorder was killed and has left
 * no features, or torn ones: what follows is not read as records. Only where the recorder has never written a size
 * all of the file is read.
 */
static uint64_t data_end(struct reader *reader, const struct file_header *header)
{
	const struct section *data = &header->data;
	uint64_t size = reader->file_size;

	if (data->offset > size) {
		str_addf(&reader->missing,
			 "the file ends at %#llx, before its data begins at %#llx", (ull)size,
			 (ull)data->offset);
		return data->offset;
	}
	if (data->size > size - data->offset) {
		str_addf(&reader->missing,
			 "the file ends at %#llx: %llu of %llu bytes of data and "
			 "everything after it are missing",
			 (ull)size, (ull)(data->size - (size - data->offset)), (ull)data->size);
		return size;
	}
	if (!data->size) {
		reader_note(reader,
			    "the recorder did not finish: the data size in the header is 0; "
			    "the file is read to its end");
		return size;
	}
	if (!any_bit(header))
		reader_note(reader, "the recorder did not finish: the header lists no features%s",
			    size > data->offset + data->size ? "; what follows the data is not read" : "");
	return data->offset + data->size;
}

int header_read(struct reader *reader, const uint8_t *map, uint64_t *end, struct str *err)
{
	struct file_header header = { .map = map };
	int rc = header_load(reader, &header, err);

	if (!rc)
		rc = attrs_read(reader, &header, err);
	if (rc)
		return rc;
	reader->data_offset = header.data.offset;
	reader->data_size = header.data.size;
	if (header.data.size <= UINT64_MAX - header.data.offset) {
		reader->feature_offset = header.data.offset + header.data.size;
		if (!features_read(reader, &header))
			reader->data_offset = features_in_front(reader, &header);
	}
	*end = data_end(reader, &header);
	return 0;
}
