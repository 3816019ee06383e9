/* SPDX-License-Identifier: MIT */
/*
 * tar_libarchive_none: in place of tar_libarchive.c where the build leaves libarchive out (make WITH_LIBARCHIVE=0). No
 * archive can be read or written.
 */
#include "buildcache/tar.h"

#include <errno.h>

static int left_out(struct str *err)
{
	return fail(err, -ENOSYS, "this pstat was built without libarchive, which reads and writes archives");
}

int tar_try(struct str *err)
{
	return left_out(err);
}

int tar_reader_open(struct tar_reader **out, int fd, struct str *err)
{
	(void)fd;
	*out = NULL;
	return left_out(err);
}

void tar_reader_free(struct tar_reader *reader)
{
	(void)reader;
}

int tar_reader_next(struct tar_reader *reader, struct tar_member *member, struct str *err)
{
	(void)reader, (void)member;
	return left_out(err);
}

int tar_reader_block(struct tar_reader *reader, struct tar_block *block, struct str *err)
{
	(void)reader, (void)block;
	return left_out(err);
}

uint64_t tar_reader_packed_bytes(const struct tar_reader *reader)
{
	(void)reader;
	return 0;
}

void tar_add_packings(struct str *out)
{
	(void)out;
}

bool tar_packing_known(const char *name)
{
	(void)name;
	return false;
}

int tar_writer_open(struct tar_writer **out, int fd, const char *name, struct str *err)
{
	(void)fd, (void)name;
	*out = NULL;
	return left_out(err);
}

void tar_writer_free(struct tar_writer *writer)
{
	(void)writer;
}

int tar_writer_file(struct tar_writer *writer, const char *name, uint64_t n, int64_t written_s, struct str *err)
{
	(void)writer, (void)name, (void)n, (void)written_s;
	return left_out(err);
}

int tar_writer_add(struct tar_writer *writer, const void *bytes, size_t n, struct str *err)
{
	(void)writer, (void)bytes, (void)n;
	return left_out(err);
}

int tar_writer_link(struct tar_writer *writer, const char *name, const char *target, struct str *err)
{
	(void)writer, (void)name, (void)target;
	return left_out(err);
}

void tar_writer_stop(struct tar_writer *writer)
{
	(void)writer;
}

int tar_writer_end(struct tar_writer *writer, struct str *err)
{
	(void)writer;
	return left_out(err);
}
