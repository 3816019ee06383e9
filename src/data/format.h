/* SPDX-License-Identifier: MIT */
/*
 * format.h: the file's layout, for reader and writer. Private to data/.
 *
 *   0    "PERFILE2" (bytes in reverse: the other byte order) | u64 header size
 *   16   u64 attr entry size | attrs | data | event types (unused) | feature bits     (file only)
 *   104  attr entries: { attr, section of its ids }, ids
 *        data: records
 *        feature table: one section per bit, ascending, right after the data; their bytes
 *
 * A section is { u64 offset, u64 size }. In a pipe the header ends after 16 bytes, and everything else
 * comes as records. There a HEADER_ATTR with a misc that is not 0 has further ids of the event with the
 * index misc - 1, for which one record had no room. perf takes it for another event with the same attr, and knows
 * the ids; by an ID_INDEX record, at whose unknown ids it ends, it would not.
 */
#ifndef PSTAT_DATA_FORMAT_H
#define PSTAT_DATA_FORMAT_H

#include "data/data.h"

#define FORMAT_MAGIC "PERFILE2"
#define FORMAT_MAGIC_SWAPPED "2ELIFREP"
#define FORMAT_MAGIC_OLD "PERFFILE"

enum {
	FORMAT_MAGIC_BYTES = 8,
	FORMAT_PIPE_HEADER = 16,
	FORMAT_HEADER = 104,
	FORMAT_HEADER_NO_FEATURES = 72, /* of 2010: without the feature bits */
	FORMAT_DATA_SECTION_AT = 40,
	FORMAT_SECTION = 16,
};

#endif
