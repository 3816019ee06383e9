/*
 * archive_unpack: an archive into the cache, see cache_archive.h.
 *
 *	member --by its kind and name--> a file without a name --> build_cache_add(), or the recording's taker
 *	                                                       '-> the archive within one of --all: the same once more
 *
 * What a member claims has no consequence: its name only says which build-id to look for inside of it, and its bytes
 * lie in a file that nobody else sees until they were looked at. Each member has a file of its own, since the cache
 * may keep that one. A member that is refused costs one line; damage of the archive ends the reading, as does more
 * than BYTES_FREE and RATIO_MAX times what was read of it: no program and no recording packs so well.
 */
#include "buildcache/archive_internal.h"
#include "buildcache/cache_archive.h"
#include "buildcache/tar.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define BYTES_FREE ((uint64_t)256 << 20)
#define MEMBER_BYTES_MAX ((uint64_t)64 << 30)
enum { RATIO_MAX = 1000, NAME_COLUMNS = 200 };

struct unpack {
	const struct cache_unpack *how;
	struct cache_unpack_counts *counts;
	struct tar_reader *reader;
	const struct unpack *outer; /* whose member this one is; or NULL */
	uint64_t unpacked; /* bytes, of the archive within, too */
};

/* ---- what is refused ---- */

static void refuse(struct unpack *unpack, const char *name, const char *why)
{
	struct str text = STR_INIT;

	unpack->counts->n_refused++;
	str_add_printable(&text, name, strlen(name));
	str_shorten(&text, 0, NAME_COLUMNS, false, "...");
	str_addf(&text, "%s%s", *name ? ": " : "a member without a name: ", why);
	unpack->how->refused(unpack->how->context, text.s);
	str_release(&text);
}

static void refuse_link(struct unpack *unpack, const struct tar_member *member)
{
	struct str why = STR_INIT;

	str_add(&why, member->kind == TAR_LINK ? "a link that the cache does not have, to " : "a hard link to ");
	str_add_printable(&why, member->target, strlen(member->target));
	str_shorten(&why, 0, NAME_COLUMNS, false, "...");
	refuse(unpack, member->name, why.s);
	str_release(&why);
}

/* ---- bytes ---- */

/* So much more was unpacked. */
static int count_bytes(struct unpack *unpack, uint64_t bytes, struct str *err)
{
	const struct unpack *outermost = unpack->outer ? unpack->outer : unpack;

	unpack->unpacked += bytes;
	if (unpack->unpacked > BYTES_FREE + RATIO_MAX * tar_reader_packed_bytes(outermost->reader))
		return fail(err, -EFBIG, "it unpacks to more than %d times its size", RATIO_MAX);
	return 0;
}

static int next_block(struct unpack *unpack, struct tar_block *block, struct str *err)
{
	int rc = interrupt_came(unpack->how->interrupt) ? fail(err, -ECANCELED, "interrupted") :
							  tar_reader_block(unpack->reader, block, err);
	int counted;

	if (rc <= 0)
		return rc;
	counted = count_bytes(unpack, block->n, err);
	return counted ? counted : 1;
}

/* The rest of a member: what tar_reader_next would pass over without a bound. */
static int drain(struct unpack *unpack, struct str *err)
{
	struct tar_block block;
	int rc;

	while ((rc = next_block(unpack, &block, err)) > 0)
		;
	return rc;
}

/* All blocks of the member into fd. *failed: -errno of what could not be written. Negative: the archive's end. */
static int write_blocks(struct unpack *unpack, const struct tar_member *member, int fd, int *failed, struct str *err)
{
	struct tar_block block;
	uint64_t written = 0;
	int rc;

	while ((rc = next_block(unpack, &block, err)) > 0) {
		if (block.offset > member->bytes || block.n > member->bytes - block.offset)
			return fail(err, -EINVAL, "damaged");
		written += block.n;
		*failed = write_all_at(fd, block.bytes, block.n, block.offset);
		if (*failed)
			return 0;
	}
	/* Holes were not in the archive, and become zeros that somebody may copy. */
	return rc || written > member->bytes ? rc : count_bytes(unpack, member->bytes - written, err);
}

/*
 * The member's bytes in *fd, a file without a name. 0, and *fd -1 with a clause in why: it can't be had, the next one
 * may. Negative: the archive can't be read on.
 */
static int extract(struct unpack *unpack, const struct tar_member *member, int *fd, struct str *why, struct str *err)
{
	int rc, failed = 0;

	*fd = -1;
	if (member->bytes > MEMBER_BYTES_MAX)
		return fail(why, 0, "too large");
	*fd = destination_create_nameless(build_cache_dir(unpack->how->cache), why);
	if (*fd < 0)
		return 0;
	rc = write_blocks(unpack, member, *fd, &failed, err);
	if (!rc && !failed && ftruncate(*fd, (off_t)member->bytes))
		failed = -errno;
	if (failed)
		str_add(why, strerror(-failed));
	if (rc || failed) {
		close(*fd);
		*fd = -1;
	}
	return rc;
}

/* ---- files of the cache ---- */

static void add_to_cache(struct unpack *unpack, const struct tar_member *member, const struct archive_name *name,
			 int fd)
{
	const struct cache_file file = {
		.fd = fd, .path = name->path, .id = name->id, .kind = name->kind, .stays = true,
	};
	struct str why = STR_INIT;

	if (build_cache_add(unpack->how->cache, &file, NULL, &why)) {
		refuse(unpack, member->name, why.s);
	} else {
		unpack->counts->n_files++;
		unpack->counts->bytes += member->bytes;
		unpack->how->taken(unpack->how->context, name->path, &name->id, name->kind);
	}
	str_release(&why);
}

static int take_entry(struct unpack *unpack, const struct tar_member *member, const struct archive_name *name,
		      struct str *err)
{
	struct str why = STR_INIT;
	int fd, rc = extract(unpack, member, &fd, &why, err);

	if (fd >= 0) {
		add_to_cache(unpack, member, name, fd);
		close(fd);
	} else if (!rc) {
		refuse(unpack, member->name, why.s);
	}
	str_release(&why);
	return rc;
}

/* ---- a recording, or the archive beside it ---- */

bool archive_is_recording(int fd)
{
	static const char magic[] = "PERFILE2", swapped[] = "2ELIFREP";
	char head[sizeof(magic) - 1];

	return pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       (!memcmp(head, magic, sizeof(head)) || !memcmp(head, swapped, sizeof(head)));
}

static int take_all(struct unpack *unpack, int fd, struct str *err);

/* What is wrong with it is its own; but that it unpacks to too much is so of both. */
static int take_inner(struct unpack *unpack, const struct tar_member *member, int fd, struct str *err)
{
	struct unpack inner = {
		.how = unpack->how, .counts = unpack->counts, .outer = unpack, .unpacked = unpack->unpacked,
	};
	struct str why = STR_INIT;
	int rc = take_all(&inner, fd, &why);

	unpack->unpacked = inner.unpacked;
	if (rc == -EFBIG)
		str_add(err, why.s);
	else if (rc)
		refuse(unpack, member->name, why.s);
	str_release(&why);
	return rc == -EFBIG ? rc : 0;
}

static int hand_over(struct unpack *unpack, const char *base, int fd, struct str *why)
{
	int rc = unpack->how->recording ? unpack->how->recording(unpack->how->context, base, fd, why) :
					  fail(why, -EINVAL, "a recording");

	unpack->counts->n_recordings += !rc;
	return rc;
}

/* "data", "data.12": what recordings that are folders consist of. */
static bool is_part(const char *base)
{
	static const char data[] = "data";
	size_t n = strlen(data);

	return !strncmp(base, data, n) && (!base[n] || (base[n] == '.' && base[n + 1] &&
							strspn(base + n + 1, "0123456789") == strlen(base + n + 1)));
}

/* The last folder of a name; the caller frees. NULL: it has none that could be a recording. */
static char *folder_of(const char *name, const char *base)
{
	const char *end = base - 1, *start = end;

	if (base == name)
		return NULL;
	while (start > name && start[-1] != '/')
		start--;
	if (start == end || (start[0] == '.' && (end - start == 1 || (start[1] == '.' && end - start == 2))))
		return NULL;
	return xstrndup(start, (size_t)(end - start));
}

static int hand_over_part(struct unpack *unpack, const char *folder, const char *base, int fd, struct str *why)
{
	int rc = unpack->how->recording_part ?
			 unpack->how->recording_part(unpack->how->context, folder, base, fd, why) :
			 fail(why, -EINVAL, "of a recording");

	unpack->counts->n_recordings += !rc && archive_is_recording(fd);
	return rc;
}

static int take_other(struct unpack *unpack, const struct tar_member *member, struct str *err)
{
	const char *slash = strrchr(member->name, '/'), *base = slash ? slash + 1 : member->name;
	struct str why = STR_INIT, ignored = STR_INIT;
	int fd, rc = extract(unpack, member, &fd, &why, err);
	char *folder = is_part(base) ? folder_of(member->name, base) : NULL;
	bool refused = fd < 0;

	if (folder && (fd >= 0 || !rc))
		refused = hand_over_part(unpack, folder, base, fd, fd < 0 ? &ignored : &why) != 0;
	else if (refused)
		;
	else if (*base && strcmp(base, ".") != 0 && archive_is_recording(fd))
		refused = hand_over(unpack, base, fd, &why) != 0;
	else if (!unpack->outer && tar_packing_known(base))
		rc = take_inner(unpack, member, fd, err);
	else
		refused = fail(&why, true, "neither a file of the cache nor a recording");
	if (refused && !rc)
		refuse(unpack, member->name, why.s);
	if (fd >= 0)
		close(fd);
	free(folder);
	str_release(&ignored);
	str_release(&why);
	return rc;
}

/* ---- members ---- */

static int take_file(struct unpack *unpack, const struct tar_member *member, struct str *err)
{
	struct archive_name name = { .path = NULL };
	int rc = 0;

	switch (archive_name_parse(member->name, &name)) {
	case NAME_ENTRY:
		rc = take_entry(unpack, member, &name, err);
		break;
	case NAME_OTHER:
		rc = take_other(unpack, member, err);
		break;
	case NAME_LEADS_OUT:
		refuse(unpack, member->name, "a name that leads out of the cache");
		break;
	case NAME_PASSED:
		break;
	}
	free(name.path);
	return rc;
}

/* tar(1) writes what it meets a second time so: perf-archive names a file once for each path that was mapped. */
static bool is_known(const struct unpack *unpack, const char *path)
{
	struct archive_name name = { .path = NULL };
	enum archive_name_result result = archive_name_parse(path, &name);
	bool known = result == NAME_PASSED ||
		     (result == NAME_ENTRY && build_cache_has(unpack->how->cache, &name.id, name.kind));

	free(name.path);
	return known;
}

static int take_member(struct unpack *unpack, const struct tar_member *member, struct str *err)
{
	struct archive_name name = { .path = NULL };

	switch (member->kind) {
	case TAR_FILE:
		return take_file(unpack, member, err);
	case TAR_DIRECTORY:
		if (archive_name_parse(member->name, &name) == NAME_LEADS_OUT)
			refuse(unpack, member->name, "a name that leads out of the cache");
		free(name.path);
		return 0;
	case TAR_LINK:
		if (!archive_link_fits(member->name, member->target))
			refuse_link(unpack, member);
		return 0;
	case TAR_HARD_LINK:
		if (strcmp(member->name, member->target) != 0 || !is_known(unpack, member->name))
			refuse_link(unpack, member);
		return 0;
	case TAR_OTHER:
		break;
	}
	refuse(unpack, member->name, "neither a file nor a link");
	return 0;
}

static int take_all(struct unpack *unpack, int fd, struct str *err)
{
	struct tar_member member;
	int rc = tar_reader_open(&unpack->reader, fd, err);

	while (!rc && (rc = tar_reader_next(unpack->reader, &member, err)) > 0) {
		rc = take_member(unpack, &member, err);
		if (!rc)
			rc = drain(unpack, err);
		if (!rc && !unpack->outer && unpack->how->progress)
			unpack->how->progress(unpack->how->context, tar_reader_packed_bytes(unpack->reader));
	}
	tar_reader_free(unpack->reader);
	unpack->reader = NULL;
	return rc;
}

int cache_unpack(int fd, const struct cache_unpack *how, struct cache_unpack_counts *counts, struct str *err)
{
	struct unpack unpack = { .how = how, .counts = counts };

	*counts = (struct cache_unpack_counts){ 0 };
	return take_all(&unpack, fd, err);
}
