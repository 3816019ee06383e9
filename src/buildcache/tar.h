/* SPDX-License-Identifier: MIT */
/*
 * tar: archives as tar(1) makes them, packed by bzip2, zstd, xz, gzip or not at all, read and written member by
 * member. Private to buildcache/, and all that its files know of libarchive: what members mean is known to
 * archive.c.
 *
 * What is read is hostile. Names and targets are raw bytes of somebody else's, sizes are claims; a block is what is
 * really there.
 */
#ifndef PSTAT_TAR_H
#define PSTAT_TAR_H

#include "util/util.h"

/* 0; -ENOSYS: left out of the build; another negative errno: libarchive can't be used here; with a sentence. */
int tar_try(struct str *err);

/* ---- reading ---- */

enum tar_kind { TAR_FILE, TAR_DIRECTORY, TAR_LINK, TAR_HARD_LINK, TAR_OTHER };

struct tar_member { /* valid until the next one */
	const char *name;
	const char *target; /* of links; else NULL */
	enum tar_kind kind;
	uint64_t bytes; /* TAR_FILE: as its header has it, holes included */
};
struct tar_block { /* valid until the next one */
	const void *bytes;
	size_t n;
	uint64_t offset; /* in the member; blocks come in order, what is between two of them is zeros */
};

struct tar_reader;
/* Reads from where the descriptor is, which stays the caller's. How it is packed is told by its bytes. */
int tar_reader_open(struct tar_reader **out, int fd, struct str *err);
void tar_reader_free(struct tar_reader *reader); /* NULL is nothing */
/* 1: a member; 0: no more; a negative errno with a clause: no tar, damaged, cut. Nothing can be read after that. */
int tar_reader_next(struct tar_reader *reader, struct tar_member *member, struct str *err);
/*
 * The next of the member's bytes. 1, 0 and negative as above. Whoever calls tar_reader_next before 0 was returned has
 * the rest unpacked in vain, and without a bound.
 */
int tar_reader_block(struct tar_reader *reader, struct tar_block *block, struct str *err);
/* How much was read of the descriptor, as far as it was used. */
uint64_t tar_reader_packed_bytes(const struct tar_reader *reader);

/* ---- writing ---- */

/* The ends of names that say how to pack, separated by commas. */
void tar_add_packings(struct str *out);
/* Whether the end of the name is one of them. */
bool tar_packing_known(const char *name);

struct tar_writer;
/* Packed as the end of name says, by bzip2 where it says nothing. The descriptor stays the caller's. */
int tar_writer_open(struct tar_writer **out, int fd, const char *name, struct str *err);
/* Frees it; an archive without tar_writer_end is of no use. */
void tar_writer_free(struct tar_writer *writer);
/* A file (0600), whose n bytes follow by tar_writer_add; they are to be all there before the next call. */
int tar_writer_file(struct tar_writer *writer, const char *name, uint64_t n, int64_t written_s, struct str *err);
int tar_writer_add(struct tar_writer *writer, const void *bytes, size_t n, struct str *err);
int tar_writer_link(struct tar_writer *writer, const char *name, const char *target, struct str *err);
/*
 * In the middle of a file, whose rest would else be written as zeros when the writer is freed, and packed, however much
 * it is. libarchive then keeps what its packing had: for a program that ends.
 */
void tar_writer_stop(struct tar_writer *writer);
int tar_writer_end(struct tar_writer *writer, struct str *err);

#endif
