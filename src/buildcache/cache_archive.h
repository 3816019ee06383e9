/*
 * cache_archive: entries of the cache in one file, to be taken to another machine, as perf-archive makes it: a tar
 * of what the folder would have, without the folders themselves.
 *
 *	.build-id/ab/cdef..       a link to ../../PATH/abcdef..
 *	PATH/abcdef../elf         PATH without its first slash; debug, vdso, kallsyms likewise
 *
 * `perf archive --all` puts two things into one more tar: the recording, and perf.symbols.tar.bz2, which is the above.
 * So tar(1) unpacks what cache_pack_* made, below ~/.debug, and cache_unpack() takes what perf-archive made.
 *
 * What is unpacked was made by somebody else. No name in it becomes a name here: what an entry stands for goes through
 * build_cache_add(), which looks at the build-id inside, and of a recording only the last name is handed over. Links,
 * devices and names that lead out are refused, and what unpacks to far more than it is ends the reading.
 *
 * Source: perf-archive of Linux 6.12, as it behaves.
 */
#ifndef PSTAT_CACHE_ARCHIVE_H
#define PSTAT_CACHE_ARCHIVE_H

#include "buildcache/buildcache.h"

/* Can archives be read and written? 0, -ENOSYS: left out of the build, or why libarchive can't be loaded. */
int cache_archive_try(struct str *err);

/* ---- archive_pack.c ---- */

struct cache_pack;
/* The ends of names that say how to pack: ".tar.bz2, .tar.zst, ..." */
void cache_pack_add_ends(struct str *out);
bool cache_pack_end_known(const char *name);
/* Packed as the end of name says, by bzip2 where it says nothing. fd stays the caller's. Interrupted: -ECANCELED. */
int cache_pack_open(struct cache_pack **out, int fd, const char *name, const struct interrupt *interrupt,
		    struct str *err);
/*
 * One file of an entry, from its beginning, with the entry's link before its first one. All files of a build-id follow
 * each other, and have one path. -EINVAL with a clause: no entry can have such a path, or it is no regular file; then
 * the archive is as it was. After any other error it is of no use.
 */
int cache_pack_add(struct cache_pack *pack, const struct cache_file *file, struct str *err);
/* A file of another name: a recording, the inner archive. The errors as above. */
int cache_pack_add_as(struct cache_pack *pack, const char *name, int fd, struct str *err);
/* *bytes: of what was added, before it was packed. Without an end an archive is of no use. */
int cache_pack_end(struct cache_pack *pack, uint64_t *bytes, struct str *err);
void cache_pack_free(struct cache_pack *pack); /* NULL is nothing */

/* The archive within that of --all; perf's --unpack knows it by this name. */
#define CACHE_PACK_INNER "perf.symbols.tar.bz2"

/* ---- archive_unpack.c ---- */

struct cache_unpack_counts {
	size_t n_files; /* that are in the cache now */
	size_t n_refused;
	size_t n_recordings;
	uint64_t bytes; /* of the files, unpacked */
};
struct cache_unpack {
	struct build_cache *cache;
	void *context;
	/* In the cache now. path: raw bytes. */
	void (*taken)(void *context, const char *path, const struct build_id *id, enum cache_kind kind);
	/* "usr/bin/x/ab12../elf: why": a sentence, printable. What else the archive has is taken all the same. */
	void (*refused)(void *context, const char *text);
	const struct interrupt *interrupt; /* ends it, with -ECANCELED; or NULL */
	/*
	 * A recording, whose last name is `name` (raw bytes, no slash, not "." or ".."), to be read from the beginning
	 * of fd. 0, or a negative errno with a clause: it is refused. NULL: each is.
	 */
	int (*recording)(void *context, const char *name, int fd, struct str *err);
	/*
	 * A file of a recording that is a folder (perf.data.5): data, data.0, ... in this folder, a last name as above.
	 * Those of one follow each other, in any order. As above; fd -1: it could not be unpacked, so that the folder
	 * is not whole: a negative errno.
	 */
	int (*recording_part)(void *context, const char *folder, const char *name, int fd, struct str *err);
	void (*progress)(void *context, uint64_t packed_bytes); /* or NULL */
};
/*
 * All that an archive has, from where fd is. 0: read to its end, see counts for what was refused; a negative errno with
 * a clause: what came before is taken.
 */
int cache_unpack(int fd, const struct cache_unpack *how, struct cache_unpack_counts *counts, struct str *err);
/* Does the file begin as a perf.data file does, of either byte order? */
bool archive_is_recording(int fd);

#endif
