/* SPDX-License-Identifier: MIT */
/*
 * put_feature.c: one more feature in a finished recording. The table of the features lies right after the data, with
 * their bytes after it, so a new row has no room: the recording is written anew beside its place, then renamed.
 *
 *	header | attrs, ids | data | table        | features               now
 *	header'| attrs, ids | data | table, 1 row | features | the new one  beside it
 *
 * The data are copied by the kernel (copy_file_range, which file systems that can share blocks make cheap). Whoever is
 * killed meanwhile leaves the recording as it was; who reads it at the same time keeps what was opened. All is read and
 * written by descriptors: what somebody puts at the path meanwhile gets nothing.
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
	BITS_AT = 72,
	PIECE_BYTES = 1 << 20,
	ROWS_MAX = FEATURE_BITS,
};

struct old_feature {
	unsigned id;
	uint64_t offset, size;
};

struct rewriting {
	const char *path;
	int from;
	struct destination to;
	struct stat stat;
	uint8_t header[FORMAT_HEADER];
	uint64_t data_end;
	struct old_feature features[ROWS_MAX];
	size_t n_features;
	const struct interrupt *interrupt;
	struct str *err;
};

static int fail_here(const struct rewriting *r, int code, const char *what)
{
	return fail(r->err, code, "%s: %s", r->path, what);
}

static int fail_errno(const struct rewriting *r, int code)
{
	return fail_here(r, code, strerror(-code));
}

static int fail_interrupted(const struct rewriting *r)
{
	return fail_here(r, -ECANCELED, "interrupted: nothing was put into it");
}

/* ---- what is there ---- */

static int read_at(const struct rewriting *r, void *bytes, size_t n, uint64_t at)
{
	size_t done = 0;

	while (done < n && at + done <= INT64_MAX) {
		ssize_t got = pread(r->from, (char *)bytes + done, n - done, (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_errno(r, -errno);
		if (!got)
			break;
		done += (size_t)got;
	}
	return done < n ? fail_here(r, -EINVAL, "it is cut off: nothing can be put into it") : 0;
}

static bool has_bit(const uint8_t *header, unsigned id)
{
	return load_u64(header + BITS_AT + id / 64 * 8, false) >> (id % 64) & 1;
}

/* Only a whole one in file layout has a place for features. */
static int read_header(struct rewriting *r)
{
	uint64_t header_size, data_at, data_size;
	int rc = read_at(r, r->header, FORMAT_PIPE_HEADER, 0);

	if (rc)
		return rc;
	if (!memcmp(r->header, FORMAT_MAGIC_SWAPPED, FORMAT_MAGIC_BYTES))
		return fail_here(r, -ENOTSUP, "it is of the other byte order: only recordings of this one are rewritten");
	header_size = load_u64(r->header + FORMAT_MAGIC_BYTES, false);
	if (memcmp(r->header, FORMAT_MAGIC, FORMAT_MAGIC_BYTES) || header_size < FORMAT_HEADER)
		return fail_here(r, -ENOTSUP, "it is not in the layout of files: nothing can be put into it");
	rc = read_at(r, r->header, FORMAT_HEADER, 0);
	if (rc)
		return rc;
	data_size = load_u64(r->header + FORMAT_DATA_SECTION_AT + 8, false);
	data_at = load_u64(r->header + FORMAT_DATA_SECTION_AT, false);
	r->data_end = data_at + data_size;
	if (!data_size || data_at < FORMAT_HEADER || r->data_end < data_size || r->data_end > (uint64_t)r->stat.st_size)
		return fail_here(r, -EINVAL, "its recorder did not finish: nothing can be put into it");
	return 0;
}

/* The features that it has, but for the one that takes their place. */
static int read_table(struct rewriting *r, unsigned except)
{
	uint64_t at = r->data_end, end = (uint64_t)r->stat.st_size;

	for (unsigned id = 0; id < FEATURE_BITS; id++) {
		uint8_t row[FORMAT_SECTION];
		struct old_feature *old = &r->features[r->n_features];
		int rc;

		if (!has_bit(r->header, id))
			continue;
		rc = read_at(r, row, sizeof(row), at);
		if (rc)
			return rc;
		at += sizeof(row);
		*old = (struct old_feature){ id, load_u64(row, false), load_u64(row + 8, false) };
		if (old->offset > end || old->size > end - old->offset)
			return fail_here(r, -EINVAL, "its feature table is damaged: nothing can be put into it");
		r->n_features += id != except;
	}
	return 0;
}

/* ---- the new one ---- */

/* Copies where the kernel can't do it by itself. */
static int copy_by_hand(const struct rewriting *r, uint64_t at, uint64_t n)
{
	char *piece = xmalloc(PIECE_BYTES);
	int rc = 0;

	while (!rc && n) {
		size_t part = n < PIECE_BYTES ? (size_t)n : PIECE_BYTES;

		rc = interrupt_came(r->interrupt) ? fail_interrupted(r) : read_at(r, piece, part, at);
		if (!rc && (rc = write_all(r->to.fd, piece, part)) != 0)
			fail_errno(r, rc);
		at += part;
		n -= part;
	}
	free(piece);
	return rc;
}

static int copy(const struct rewriting *r, uint64_t at, uint64_t n)
{
	off_t from = (off_t)at;

	while (n) {
		size_t part = n < INTERRUPT_BYTES ? (size_t)n : INTERRUPT_BYTES;
		ssize_t done = copy_file_range(r->from, &from, r->to.fd, NULL, part, 0);

		if (interrupt_came(r->interrupt))
			return fail_interrupted(r);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
			return fail_errno(r, -errno);
		if (done <= 0)
			return copy_by_hand(r, (uint64_t)from, n);
		n -= (uint64_t)done;
	}
	return 0;
}

static int put(const struct rewriting *r, const void *bytes, size_t n)
{
	int rc = write_all(r->to.fd, bytes, n);

	return rc ? fail_errno(r, rc) : 0;
}

/* Table and bytes, in ascending order of the features. */
static int put_features(const struct rewriting *r, unsigned id, const void *bytes, size_t n)
{
	uint64_t at = r->data_end + (r->n_features + 1) * FORMAT_SECTION;
	struct str table = STR_INIT;
	size_t before = 0;
	int rc;

	while (before < r->n_features && r->features[before].id < id)
		before++;
	for (size_t i = 0; i <= r->n_features; i++) {
		uint64_t size = i == before ? n : r->features[i - (i > before)].size;

		put_u64(&table, at);
		put_u64(&table, size);
		at += size;
	}
	rc = put(r, table.s, table.len);
	for (size_t i = 0; !rc && i <= r->n_features; i++) {
		const struct old_feature *old = &r->features[i - (i > before)];

		rc = i == before ? put(r, bytes, n) : copy(r, old->offset, old->size);
	}
	str_release(&table);
	return rc;
}

/* The old one stays where it is until all of the new one is on the disk. */
static int put_in_place(struct rewriting *r)
{
	struct str why = STR_INIT;
	struct stat now;
	int rc;

	if (fsync(r->to.fd) && errno != EINVAL && errno != EROFS)
		return fail_errno(r, -errno);
	if (fstatat(r->to.folder, r->to.name, &now, AT_SYMLINK_NOFOLLOW) || now.st_dev != r->stat.st_dev || now.st_ino != r->stat.st_ino ||
	    now.st_size != r->stat.st_size || now.st_mtim.tv_sec != r->stat.st_mtim.tv_sec ||
	    now.st_mtim.tv_nsec != r->stat.st_mtim.tv_nsec)
		return fail_here(r, -ESTALE, "it was changed in the meantime: nothing was written to it");
	rc = destination_put(&r->to, true, &why);
	if (rc)
		fail_here(r, rc, why.s);
	str_release(&why);
	return rc;
}

static int write_anew(struct rewriting *r, unsigned id, const void *bytes, size_t n)
{
	uint64_t word = load_u64(r->header + BITS_AT + id / 64 * 8, false) | 1ULL << (id % 64);
	int rc;

	memcpy(r->header + BITS_AT + id / 64 * 8, &word, sizeof(word));
	rc = put(r, r->header, FORMAT_HEADER);
	if (!rc)
		rc = copy(r, FORMAT_HEADER, r->data_end - FORMAT_HEADER);
	if (!rc)
		rc = put_features(r, id, bytes, n);
	/* The file stays its owner's, if that can be had; it is never more open than it was. */
	if (!rc && r->stat.st_uid != geteuid() && fchown(r->to.fd, r->stat.st_uid, r->stat.st_gid))
		rc = fail_errno(r, -errno);
	if (!rc && fchmod(r->to.fd, r->stat.st_mode & 07777))
		rc = fail_errno(r, -errno);
	return rc;
}

static int rewrite(struct rewriting *r, unsigned id, const void *bytes, size_t n)
{
	struct str why = STR_INIT;
	int rc = read_header(r);

	if (!rc)
		rc = read_table(r, id);
	if (rc)
		return rc;
	rc = destination_begin(&r->to, r->path, &why);
	if (rc)
		fail_here(r, rc, why.s);
	else
		rc = write_anew(r, id, bytes, n);
	if (!rc)
		rc = put_in_place(r);
	destination_end(&r->to);
	str_release(&why);
	return rc;
}

int recording_put_feature(int fd, const char *path, unsigned id, const void *bytes, size_t n,
			  const struct interrupt *interrupt, struct str *err)
{
	char *real = realpath(path, NULL); /* of a link, what it leads to is written anew */
	struct rewriting r = { .path = real ? real : path, .from = fd, .interrupt = interrupt, .err = err };
	int rc;

	if (fstat(r.from, &r.stat))
		rc = fail_errno(&r, -errno);
	else if (!S_ISREG(r.stat.st_mode))
		rc = fail_here(&r, -EINVAL, "it is no file: nothing can be put into it");
	else
		rc = rewrite(&r, id, bytes, n);
	free(real);
	return rc;
}
