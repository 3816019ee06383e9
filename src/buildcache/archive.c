/* SPDX-License-Identifier: MIT */
/*
 * archive: entries of the cache, or files that would be such, in one file; see buildcache.h.
 *
 * The names of an archive's members are those of perf's cache below its folder; perf before 4.10 had a file where there
 * is a folder now:
 *
 *	usr/bin/x/ABCDEF../elf  <-->  "/usr/bin/x", ABCDEF.., CACHE_ELF
 *
 * A name is taken apart from behind: the kind, the build-id, and all the rest is what it stands for, which begins with
 * a slash unless that is in brackets. A file is packed with its length in front, so one that is cut meanwhile ends the
 * archive, which nobody shall take for a whole one. And unpacked:
 *
 *	member --by its kind and name--> a file without a name --> build_cache_add(), or a recording's place
 *	                                                       '-> the archive within one of --all: the same once more
 *
 * What a member claims has no consequence: its name only says which build-id to look for inside of it, and its bytes
 * lie in a file that nobody else sees until they were looked at. Each member has a file of its own, since the cache
 * may keep that one. A member that is refused costs one line; damage of the archive ends the reading, as does more
 * than BYTES_FREE and RATIO_MAX times what was read of it: no program and no recording packs so well.
 */
#include "buildcache/buildcache.h"
#include "buildcache/tar.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_FREE ((uint64_t)256 << 20)
#define MEMBER_BYTES_MAX ((uint64_t)64 << 30)
enum {
	ID_DIGITS_MIN = 4,
	FILE_MODE = 0600,
	LEAD_DIGITS = 2, /* of a build-id, which are a folder's name */
	PIECE_BYTES = 256 << 10,
	RATIO_MAX = 1000,
	NAME_COLUMNS = 200,
};

/* ---- names of members ---- */

/* Meaning of the name of a member. */
struct archive_name {
	struct build_id id;
	enum cache_kind kind;
	char *path; /* of what it stands for: "/usr/bin/x", "[vdso]"; the caller frees */
};

enum archive_name_result {
	NAME_ENTRY, /* a file of the cache; *out is filled */
	NAME_PASSED, /* perf keeps such files there, which nobody needs: probes */
	NAME_OTHER, /* none of the cache's */
	NAME_LEADS_OUT, /* absolute, or with ".." in it: never to be used */
};

static const char links_folder[] = ".build-id/";

static int digit_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_id(const char *hex, size_t n, struct build_id *id)
{
	*id = (struct build_id){ 0 };
	if (n < ID_DIGITS_MIN || n % 2 || n / 2 > sizeof(id->bytes))
		return false;
	for (size_t i = 0; i < n; i += 2) {
		int high = digit_value(hex[i]), low = digit_value(hex[i + 1]);

		if (high < 0 || low < 0)
			return false;
		id->bytes[i / 2] = (uint8_t)(high << 4 | low);
	}
	id->size = (uint8_t)(n / 2);
	return true;
}

/* Each of its names is one: not empty, not "." or "..". */
static bool is_clean(const char *path)
{
	for (const char *at = path;; at++) {
		size_t n = strcspn(at, "/");

		if (!n || (n <= 2 && !strncmp(at, "..", n)))
			return false;
		at += n;
		if (!*at)
			return true;
	}
}

/* "./usr/bin/x": tar(1) begins names so where it was asked for the whole folder. */
static const char *without_dot(const char *name)
{
	while (name[0] == '.' && name[1] == '/')
		name += 2 + strspn(name + 2, "/");
	return name;
}

static bool has_up(const char *name)
{
	for (const char *at = name; *at; at += strspn(at, "/")) {
		size_t n = strcspn(at, "/");

		if (n == 2 && !strncmp(at, "..", n))
			return true;
		at += n;
	}
	return false;
}

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static enum cache_kind kind_before_folders(const char *path)
{
	return starts_with(path, "[vdso") ? CACHE_VDSO :
	       starts_with(path, "[kernel.kallsyms]") ? CACHE_KALLSYMS :
							CACHE_ELF;
}

/* path: n bytes in front of "/ID". */
static enum archive_name_result take_path(const char *path, size_t n, struct archive_name *out)
{
	out->path = xasprintf("%s%.*s", path[0] == '[' ? "" : "/", (int)n, path);
	return NAME_ENTRY;
}

/* Takes apart the name of a regular file, or what a hard link names. */
static enum archive_name_result parse_name(const char *name, struct archive_name *out)
{
	const char *last, *before, *at;

	if (name[0] == '/' || has_up(name))
		return NAME_LEADS_OUT;
	at = without_dot(name);
	last = strrchr(at, '/');
	if (!is_clean(at) || !last || starts_with(at, links_folder))
		return NAME_OTHER;
	if (parse_id(last + 1, strlen(last + 1), &out->id)) {
		enum archive_name_result result = take_path(at, (size_t)(last - at), out);

		out->kind = kind_before_folders(out->path);
		return result;
	}
	before = memrchr(at, '/', (size_t)(last - at));
	if (!before || !parse_id(before + 1, (size_t)(last - before) - 1, &out->id))
		return NAME_OTHER;
	for (int kind = 0; kind < N_CACHE_KINDS; kind++) {
		if (strcmp(last + 1, build_cache_kind_names[kind]) != 0)
			continue;
		out->kind = (enum cache_kind)kind;
		return take_path(at, (size_t)(before - at), out);
	}
	return !strcmp(last + 1, "probes") ? NAME_PASSED : NAME_OTHER;
}

/* Is it a link of the cache: .build-id/ab/cdef.. to ../../PATH/abcdef..? */
static bool link_fits(const char *name, const char *target)
{
	static const char up[] = "../../";
	const char *hex = without_dot(name), *last = strrchr(target, '/');
	struct build_id of_name, of_target;
	struct str digits = STR_INIT;
	bool fits;

	if (!starts_with(hex, links_folder) || !starts_with(target, up))
		return false;
	hex += strlen(links_folder);
	if (strlen(hex) <= LEAD_DIGITS || hex[LEAD_DIGITS] != '/')
		return false;
	str_addf(&digits, "%.*s%s", LEAD_DIGITS, hex, hex + LEAD_DIGITS + 1);
	fits = is_clean(target + strlen(up)) && last >= target + strlen(up) &&
	       parse_id(digits.s, digits.len, &of_name) && parse_id(last + 1, strlen(last + 1), &of_target) &&
	       build_id_same(&of_name, &of_target);
	str_release(&digits);
	return fits;
}

/* The name of a member; false: no entry can have such a path. */
static bool add_name(struct str *out, const char *path, const struct build_id *id, enum cache_kind kind)
{
	const char *below = path + (path[0] == '/');

	if ((path[0] != '/' && path[0] != '[') || !is_clean(below) || id->size * 2 < ID_DIGITS_MIN ||
	    id->size > sizeof(id->bytes))
		return false;
	str_add(out, below);
	str_addc(out, '/');
	build_id_text(id, out);
	str_addf(out, "/%s", build_cache_kind_names[kind]);
	return true;
}

/* The link of an entry, whose path is as above. */
static void add_link(struct str *name, struct str *target, const char *path, const struct build_id *id)
{
	struct str hex = STR_INIT;

	build_id_text(id, &hex);
	str_addf(name, "%s%.*s/%s", links_folder, LEAD_DIGITS, hex.s, hex.s + LEAD_DIGITS);
	str_addf(target, "../../%s/%s", path + (path[0] == '/'), hex.s);
	str_release(&hex);
}

/* ---- packing ---- */

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
			return fail(err, got ? -errno : -EIO, "%s", got ? strerror(errno) :
				    "it was truncated in the meantime");
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
	add_link(&name, &target, file->path, &file->id);
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
	else if (!add_name(&name, file->path, &file->id, file->kind))
		rc = fail(err, -EINVAL, "its path is not allowed in an archive");
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

/* ---- recordings: beside their place, and renamed when they are whole ---- */

/* Does the file begin as a perf.data file does, of either byte order? */
static bool is_recording(int fd)
{
	static const char magic[] = "PERFILE2", swapped[] = "2ELIFREP";
	char head[sizeof(magic) - 1];

	return pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       (!memcmp(head, magic, sizeof(head)) || !memcmp(head, swapped, sizeof(head)));
}

static int copy_all(int from, int to)
{
	char *piece = xmalloc(PIECE_BYTES);
	off_t at = 0;
	ssize_t got;
	int rc = 0;

	while (!rc && (got = pread(from, piece, PIECE_BYTES, at)) != 0) {
		rc = got < 0 ? -errno : write_all(to, piece, (size_t)got);
		at += got;
	}
	free(piece);
	return rc;
}

static int write_recording(const char *path, int from, bool over, struct str *err)
{
	struct str why = STR_INIT;
	struct destination beside;
	int rc = destination_begin(&beside, path, &why);

	if (!rc && (rc = copy_all(from, beside.fd)) != 0)
		str_add(&why, strerror(-rc));
	if (!rc)
		rc = destination_put(&beside, over, &why);
	if (rc)
		fail(err, rc, "%s",
		     rc == -EEXIST ? "a file of that name exists: -f overwrites it, -o gives it another name" : why.s);
	destination_end(&beside);
	str_release(&why);
	return rc;
}

/*
 * A name that somebody else chose, in this folder: shells and other programs read files of some names by themselves,
 * take some for options, and show some otherwise than they are.
 */
static int check_name(const char *name, struct str *err)
{
	struct str shown = STR_INIT;
	int rc = 0;

	str_add_printable(&shown, name, strlen(name));
	if (name[0] == '.')
		rc = fail(err, -EINVAL, "a hidden file: give another name with -o");
	else if (name[0] == '-')
		rc = fail(err, -EINVAL, "its name looks like an option: give another name with -o");
	else if (strcmp(shown.s, name) != 0)
		rc = fail(err, -EINVAL, "its name can't be shown: give another name with -o");
	str_release(&shown);
	return rc;
}

/* -f writes over recordings alone, of those whose names somebody else chose. */
static int check_over(const char *name, struct str *err)
{
	int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	bool is_other = fd >= 0 ? !is_recording(fd) : errno != ENOENT;

	if (fd >= 0)
		close(fd);
	return is_other ? fail(err, -EEXIST,
		    "a file of its name exists and is not a recording: give another name with -o") : 0;
}

/* A folder of files that come one by one: perf.data.PID.new/data, ... --all there, and a header--> perf.data */
static int begin_folder(struct archive_folder *folder, const char *path, struct str *err)
{
	*folder = (struct archive_folder){ .path = xstrdup(path) };
	return destination_begin_folder(&folder->beside, path, err);
}

/* Removes what was made; what comes is refused. */
static void give_up_folder(struct archive_folder *folder)
{
	DIR *names = folder->beside.fd < 0 ? NULL : fdopendir(fcntl(folder->beside.fd, F_DUPFD_CLOEXEC, 0));
	struct dirent *row;

	while (names && (row = readdir(names)) != NULL)
		if (row->d_name[0] != '.')
			unlinkat(dirfd(names), row->d_name, 0);
	if (names)
		closedir(names);
	destination_end(&folder->beside);
}

/* Whatever is wrong with one file is wrong with all: without it the others would look whole. from -1: there is none. */
static int add_to_folder(struct unpacked_recordings *recordings, const char *path, const char *name, int from,
			 struct str *err)
{
	struct archive_folder *folder = &recordings->folder;
	int to, rc = 0;

	if (folder->path && strcmp(folder->path, path) != 0)
		return fail(err, -EINVAL, "of a second recording that is a folder");
	if (!folder->path)
		rc = begin_folder(folder, path, err);
	if (!rc && folder->beside.fd < 0)
		return fail(err, -EINVAL, "of a recording that lacks another file");
	if (!rc) {
		to = openat(folder->beside.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
		rc = to < 0 ? -errno : copy_all(from, to);
		if (to >= 0 && close(to) && !rc)
			rc = -errno;
		if (rc)
			fail(err, 0, "%s", strerror(-rc));
	}
	if (!rc && !strcmp(name, "data"))
		rc = recordings->check(from, err);
	folder->has_header |= !rc && !strcmp(name, "data");
	if (rc)
		give_up_folder(folder);
	return rc;
}

/*
 * Gives the folder its name, if the archive was read to its end. Else, or where there is something of that name or it
 * is no recording, nothing is left of it.
 */
static int end_folder(struct archive_folder *folder, bool whole, struct str *err)
{
	struct str why = STR_INIT;
	int rc = 0;

	if (folder->beside.fd < 0 || !whole)
		rc = fail(err, -EINVAL, "not all of it could be read");
	else if (!folder->has_header)
		rc = fail(err, -EINVAL, "a folder without a recording's header");
	else if ((rc = destination_put(&folder->beside, false, &why)) != 0)
		fail(err, rc, "%s", rc == -EEXIST ? "a file of that name exists: give another name with -o" : why.s);
	if (rc)
		give_up_folder(folder);
	else
		destination_end(&folder->beside);
	free(folder->path);
	str_release(&why);
	*folder = (struct archive_folder){ 0 };
	return rc;
}

static int add_done(struct unpacked_recordings *recordings, const char *path)
{
	str_add(&recordings->done, recordings->done.len ? ", " : "");
	str_add_printable(&recordings->done, path, strlen(path));
	return 0;
}

static int take_recording(struct unpacked_recordings *recordings, const char *name, int fd, struct str *err)
{
	const char *output = recordings->output, *path = output ? output : name;
	int rc = output ? 0 : check_name(name, err);

	if (!rc)
		rc = recordings->check(fd, err);
	if (!rc && !output && recordings->force)
		rc = check_over(name, err);
	if (!rc && output && recordings->done.len)
		rc = fail(err, -EEXIST, "a second recording, but -o names one file");
	if (!rc)
		rc = write_recording(path, fd, recordings->force, err);
	return rc ? rc : add_done(recordings, path);
}

static int take_part(struct unpacked_recordings *recordings, const char *folder, const char *name, int fd,
		     struct str *err)
{
	const char *output = recordings->output;
	int rc = output ? 0 : check_name(folder, err);

	if (!rc && output && recordings->done.len)
		rc = fail(err, -EEXIST, "a second recording, but -o names one file");
	return rc ? rc : add_to_folder(recordings, output ? output : folder, name, fd, err);
}

/* ---- unpacking ---- */

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

/* Counts bytes that were unpacked; fails where they are too many. */
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

static int take_all(struct unpack *unpack, int fd, struct str *err);

/* Damage of the inner archive is its own; where that unpacks to too much, both do. */
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
	int rc = unpack->how->recordings ? take_recording(unpack->how->recordings, base, fd, why) :
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
	int rc = unpack->how->recordings ? take_part(unpack->how->recordings, folder, base, fd, why) :
					   fail(why, -EINVAL, "of a recording");

	unpack->counts->n_recordings += !rc && is_recording(fd);
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
	else if (*base && strcmp(base, ".") != 0 && is_recording(fd))
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

	switch (parse_name(member->name, &name)) {
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
	enum archive_name_result result = parse_name(path, &name);
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
		if (parse_name(member->name, &name) == NAME_LEADS_OUT)
			refuse(unpack, member->name, "a name that leads out of the cache");
		free(name.path);
		return 0;
	case TAR_LINK:
		if (!link_fits(member->name, member->target))
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

/* The last recording, where that is a folder. */
static void finish_folder(struct unpack *unpack, bool whole)
{
	struct unpacked_recordings *recordings = unpack->how->recordings;
	char *path = recordings && recordings->folder.path ? xstrdup(recordings->folder.path) : NULL;
	struct str why = STR_INIT;

	if (path && end_folder(&recordings->folder, whole, &why))
		refuse(unpack, path, why.s);
	else if (path)
		add_done(recordings, path);
	str_release(&why);
	free(path);
}

int cache_unpack(int fd, const struct cache_unpack *how, struct cache_unpack_counts *counts, struct str *err)
{
	struct unpack unpack = { .how = how, .counts = counts };
	int rc;

	*counts = (struct cache_unpack_counts){ 0 };
	rc = take_all(&unpack, fd, err);
	finish_folder(&unpack, !rc);
	return rc;
}
