/*
 * archive_pack: entries of the cache, or files that would be such, into an archive; see cache_archive.h. A file is
 * announced with its length, so one that is cut meanwhile ends the archive, which nobody shall take for a whole one.
 */
#include "buildcache/archive_internal.h"
#include "buildcache/cache_archive.h"
#include "buildcache/tar.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 256 << 10 };

struct cache_pack {
	struct tar_writer *writer;
	struct build_id linked; /* of the last link that is in it */
	char *piece;
	uint64_t bytes;
	const struct interrupt *interrupt;
};

int cache_archive_try(struct str *err)
{
	return tar_try(err);
}

void cache_pack_add_ends(struct str *out)
{
	tar_add_packings(out);
}

bool cache_pack_end_known(const char *name)
{
	return tar_packing_known(name);
}

int cache_pack_open(struct cache_pack **out, int fd, const char *name, const struct interrupt *interrupt,
		    struct str *err)
{
	struct cache_pack *pack = *out = xcalloc(1, sizeof(*pack));

	pack->piece = xmalloc(PIECE_BYTES);
	pack->interrupt = interrupt;
	return tar_writer_open(&pack->writer, fd, name, err);
}

void cache_pack_free(struct cache_pack *pack)
{
	if (!pack)
		return;
	tar_writer_free(pack->writer);
	free(pack->piece);
	free(pack);
}

static int copy(struct cache_pack *pack, int fd, uint64_t n, struct str *err)
{
	for (uint64_t at = 0; at < n;) {
		size_t wanted = n - at < PIECE_BYTES ? (size_t)(n - at) : PIECE_BYTES;
		ssize_t got = pread(fd, pack->piece, wanted, (off_t)at);
		int rc;

		if (interrupt_came(pack->interrupt)) {
			tar_writer_stop(pack->writer);
			return fail(err, -ECANCELED, "interrupted");
		}
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return fail(err, got ? -errno : -EIO, "%s", got ? strerror(errno) : "it was cut meanwhile");
		rc = tar_writer_add(pack->writer, pack->piece, (size_t)got, err);
		if (rc)
			return rc;
		at += (uint64_t)got;
	}
	pack->bytes += n;
	return 0;
}

int cache_pack_add_as(struct cache_pack *pack, const char *name, int fd, struct str *err)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st))
		return fail(err, -errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail(err, -EINVAL, "not a regular file");
	rc = tar_writer_file(pack->writer, name, (uint64_t)st.st_size, st.st_mtime, err);
	return rc ? rc : copy(pack, fd, (uint64_t)st.st_size, err);
}

static int link_once(struct cache_pack *pack, const struct cache_file *file, struct str *err)
{
	struct str name = STR_INIT, target = STR_INIT;
	int rc;

	if (build_id_same(&pack->linked, &file->id))
		return 0;
	pack->linked = file->id;
	archive_link_add(&name, &target, file->path, &file->id);
	rc = tar_writer_link(pack->writer, name.s, target.s, err);
	str_release(&name);
	str_release(&target);
	return rc;
}

int cache_pack_add(struct cache_pack *pack, const struct cache_file *file, struct str *err)
{
	struct str name = STR_INIT;
	struct stat st;
	int rc;

	if (fstat(file->fd, &st) || !S_ISREG(st.st_mode))
		rc = fail(err, -EINVAL, "not a regular file");
	else if (!archive_name_add(&name, file->path, &file->id, file->kind))
		rc = fail(err, -EINVAL, "its path is not one that an archive can have");
	else
		rc = link_once(pack, file, err);
	if (!rc)
		rc = cache_pack_add_as(pack, name.s, file->fd, err);
	str_release(&name);
	return rc;
}

int cache_pack_end(struct cache_pack *pack, uint64_t *bytes, struct str *err)
{
	*bytes = pack->bytes;
	return tar_writer_end(pack->writer, err);
}
