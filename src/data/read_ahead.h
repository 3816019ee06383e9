/*
 * read_ahead.h: the bytes of a recording's file in blocks that are read, used and read into again. A mapping of the
 * file has each page put into the page table, looked at once and taken out again. On a virtual machine that took five
 * times as long as to copy the bytes does: two thirds of a report of samples with 8 KiB of stack each. Private to data/.
 *
 *	block   ... 40   41   42   43   44 | 45   46   47 ...
 *	         [ kept: looked at again  ]^[   read ahead  ]
 *	                                   the record at hand
 *
 * Blocks that were read are kept as long as there is room, because a record waits for its round. Blocks to come
 * are read by a thread, where there is a second CPU and enough to read; without it a block is read when its turn
 * comes. What is not here, the caller has in its mapping.
 */
#ifndef PSTAT_DATA_READ_AHEAD_H
#define PSTAT_DATA_READ_AHEAD_H

#include <stddef.h>
#include <stdint.h>

struct read_ahead;

/* Reads the file's first `end` bytes. Takes over fd. */
struct read_ahead *read_ahead_new(int fd, uint64_t end);
void read_ahead_free(struct read_ahead *ahead); /* NULL is fine */
/*
 * The n bytes from offset on, at least 1 and at most RECORD_BYTES_MAX, all of them before `end`: in one piece, and
 * aligned to 8 bytes as they are in the file. offset: that of the last call, or greater. Valid until the next call.
 * NULL: they can't be read; nothing is given from then on.
 */
const uint8_t *read_ahead_at(struct read_ahead *ahead, uint64_t offset, size_t n);
/* The same bytes once more; offset: of an earlier call of read_ahead_at. NULL: they are no longer here. */
const uint8_t *read_ahead_again(const struct read_ahead *ahead, uint64_t offset);

#endif
