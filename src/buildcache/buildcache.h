/* SPDX-License-Identifier: MIT */
/*
 * buildcache: copies of what recordings have mapped, by build-id, in the layout that perf has in ~/.debug, so that
 * names stay when the files go. pstat and perf read each other's entries.
 *
 *	DIR/.build-id/ab/cdef..      a link to ../../PATH/abcdef..
 *	DIR/PATH/abcdef../elf        the file PATH, as mapped by what was recorded
 *	DIR/PATH/abcdef../debug      its debug file, if that is another one
 *	DIR/PATH/abcdef../pstat      pstat has made this entry; written when it was last wanted
 *	DIR/[vdso]/abcdef../vdso, DIR/[kernel.kallsyms]/abcdef../kallsyms
 *	DIR/tmp/perf-PID.map/abcdef../map   names of code that a process made; the build-id stands for this process
 *
 * Before perf 4.10 the file was DIR/PATH/abcdef.. itself: such entries are read, and not written.
 *
 * Others may own and fill the folder: it is held open by a descriptor, no link of others is followed, each entry is
 * written beside its place and renamed, and one counts only if the build-id inside is the one of its name. A list of
 * the kernel's symbols has no build-id inside, and neither has a map; the name is all that is known. Several may write
 * and remove at once.
 *
 * A size limit takes away only what pstat itself has put there for recordings: what perf has, and what the user
 * added by a command, stays until somebody removes it.
 */
#ifndef PSTAT_BUILDCACHE_H
#define PSTAT_BUILDCACHE_H

#include "util/util.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_cache;

/* Kinds of files that an entry holds, and how they are called in its folder. */
enum cache_kind { CACHE_ELF, CACHE_DEBUG, CACHE_VDSO, CACHE_KALLSYMS, CACHE_MAP, N_CACHE_KINDS };
extern const char *const build_cache_kind_names[N_CACHE_KINDS]; /* "elf" ... */

/* Bytes that recordings may leave in it, unless something else is asked for. */
#define BUILD_CACHE_BYTES_DEFAULT ((uint64_t)2 << 30)

/* Place of the folder, made or not; the caller frees. NULL: it is switched off, or there is no $HOME. dir as below. */
char *build_cache_place(const char *dir);

enum {
	CACHE_CREATE = 1, /* make the folder if there is none: mode 0700 */
	CACHE_FORCE = 2, /* also a folder or an entry of another user (not root) */
};
/*
 * dir NULL: $PERF_BUILDID_DIR if it is set, else buildid.dir of perf's configuration ($PERF_CONFIG, else
 * ~/.perfconfig; /dev/null switches it off), else $HOME/.debug. *out is NULL with 0 where there is no folder and none
 * is to be made, or it is switched off. -EPERM: it is somebody else's; other errors, each with a clause in err that
 * does not name the folder.
 */
int build_cache_open(struct build_cache **out, const char *dir, unsigned flags, struct str *err);
void build_cache_close(struct build_cache *cache);
/* Sets what ends the adding of a large file, with -ECANCELED and nothing left of it. */
void build_cache_interrupt(struct build_cache *cache, const struct interrupt *interrupt);
/* The folder as it was named; in messages it goes through str_add_printable. */
const char *build_cache_dir(const struct build_cache *cache);

/* ---- what is in it ---- */

/*
 * A file of this build-id, opened for reading, the build-id inside verified: its descriptor, and *path (may be NULL;
 * the caller frees) where it lies. -ENOENT: none; -ESTALE: there is one, of another build-id; -EPERM: somebody else's.
 */
int build_cache_find(struct build_cache *cache, const struct build_id *id, enum cache_kind kind, char **path,
		     struct str *err);
/* Whether an entry of that name and kind is there, true or lying; nothing is opened: one system call. */
bool build_cache_has(struct build_cache *cache, const struct build_id *id, enum cache_kind kind);
/*
 * Whether build_cache_find would find it, so that nobody opens the file that would be added. *used_ns: when it was
 * wanted last, of CLOCK_REALTIME; INT64_MAX: it stays in any case.
 */
bool build_cache_look(struct build_cache *cache, const struct build_id *id, enum cache_kind kind, int64_t *used_ns);
/* The same; its time of use is now. */
bool build_cache_use(struct build_cache *cache, const struct build_id *id, enum cache_kind kind);

struct cache_entry {
	struct build_id id;
	const char *path; /* of what it stands for, "/usr/bin/true", "[vdso]": raw bytes, until the next entry */
	unsigned kinds; /* 1 << CACHE_ELF ...; 0: its link is broken that can be used */
	uint64_t bytes; /* on disk, all files of the entry; also what it shares with the file it was linked from */
	int64_t used_ns; /* when it was added or last wanted by a recording, of CLOCK_REALTIME */
	bool removable; /* build_cache_shrink may remove it */
};
/* Calls each for all entries, ordered by build-id, until it returns other than 0, which is returned. */
int build_cache_each(struct build_cache *cache, int (*each)(void *context, const struct cache_entry *entry),
		     void *context, struct str *err);

/* ---- what changes it ---- */

struct cache_file { /* to be added */
	int fd; /* the file's contents, at any offset; stays the caller's */
	const char *path; /* of what it stands for; absolute without "..", or "[..]" */
	struct build_id id; /* as recorded */
	enum cache_kind kind;
	bool stays; /* the user asked for it: no limit removes it */
};
/*
 * 0: it is in it now, or was; its time of use is now. *bytes (may be NULL): what it took more. Its blocks are shared
 * where the file system can do that; a big file that only we or root can change is hard-linked; else it is copied.
 * A map grows while its process lives: a longer one replaces what was kept of it.
 * -ESTALE: its build-id is another one; -EINVAL: no regular file, no name for an entry, a list of hidden addresses;
 * -ENOSPC, -EDQUOT, -EFBIG (over 4 GiB), -ECANCELED and others: nothing is left of it.
 */
int build_cache_add(struct build_cache *cache, const struct cache_file *file, uint64_t *bytes, struct str *err);
/* -ENOENT: no such entry. All of its files, of whoever made it. */
int build_cache_remove(struct build_cache *cache, const struct build_id *id, struct str *err);
/*
 * Removes of what recordings left here what was wanted longest ago, until that is no more than max_bytes; what was
 * wanted since keep_ns (of CLOCK_REALTIME) stays. *freed_bytes, *left_bytes: may be NULL. It looks at each entry: to
 * be called where build_cache_add has taken bytes.
 */
int build_cache_shrink(struct build_cache *cache, uint64_t max_bytes, int64_t keep_ns, uint64_t *freed_bytes,
		       uint64_t *left_bytes, struct str *err);

/* ---- archive.c ---- */

/*
 * Entries of the cache in one file, to be taken to another machine, as perf-archive makes it: a tar
 * of what the folder would have, without the folders themselves.
 *
 *	.build-id/ab/cdef..       a link to ../../PATH/abcdef..
 *	PATH/abcdef../elf         PATH without its first slash; debug, vdso, kallsyms likewise
 *
 * `perf archive --all` puts two things into one more tar: the recording, and perf.symbols.tar.bz2, which is the above.
 * So tar(1) unpacks what cache_pack_* made, below ~/.debug, and cache_unpack() takes what perf-archive made.
 *
 * What is unpacked was made by somebody else. No name in it becomes a name here: what an entry stands for goes through
 * build_cache_add(), which looks at the build-id inside, and of a recording only the last name is used. Links,
 * devices and names that lead out are refused, and what unpacks to far more than it is ends the reading.
 *
 * Source: perf-archive of Linux 6.12, as it behaves.
 */

/* Can archives be read and written? 0, -ENOSYS: left out of the build, or why libarchive can't be loaded. */
int cache_archive_try(struct str *err);

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

struct cache_unpack_counts {
	size_t n_files; /* that are in the cache now */
	size_t n_refused;
	size_t n_recordings;
	uint64_t bytes; /* of the files, unpacked */
};
struct archive_folder { /* a recording that is one, whose files come one by one; begins as { 0 } */
	char *path; /* its name to be; NULL: none is being made */
	struct destination beside; /* where it is made; fd -1: it was given up */
	bool has_header; /* the file `data`, which is a recording's */
};
/* Recordings that an archive has: each under the last part of its name in this folder, or at `output`. */
struct unpacked_recordings {
	const char *output; /* the only one's place; NULL: see above */
	bool force; /* writes over what is there, if that is a recording or at `output` */
	/* 0: it is a recording, with a header and events as they have to be; else a negative errno with a clause. */
	int (*check)(int fd, struct str *err);
	struct str done; /* places of those that were written, printable, separated by commas; the caller releases */
	struct archive_folder folder; /* private */
};
struct cache_unpack {
	struct build_cache *cache;
	void *context;
	/* In the cache now. path: raw bytes. */
	void (*taken)(void *context, const char *path, const struct build_id *id, enum cache_kind kind);
	/* "usr/bin/x/ab12../elf: why": a sentence, printable. What else the archive has is taken all the same. */
	void (*refused)(void *context, const char *text);
	const struct interrupt *interrupt; /* ends it, with -ECANCELED; or NULL */
	struct unpacked_recordings *recordings; /* NULL: each is refused */
	void (*progress)(void *context, uint64_t packed_bytes); /* or NULL */
};
/*
 * All that an archive has, from where fd is. 0: read to its end, see counts for what was refused; a negative errno with
 * a clause: what came before is taken.
 */
int cache_unpack(int fd, const struct cache_unpack *how, struct cache_unpack_counts *counts, struct str *err);

/* ---- cache_kcore.c ---- */

/*
 * Copies of the running kernel's own code. The kernel patches itself while it runs and loads modules, so
 * that of one build-id there are many, each of a moment.
 *
 *	DIR/[kernel.kcore]/abcdef../2026112220263432/kcore      the code alone, in an ELF core file
 *	                                             kallsyms   the list of symbols of that moment
 *	                                             modules    which modules lay where
 *
 * The moment is local time to the hundredth of a second. Nothing leads here from .build-id: a kernel is asked for by
 * its build-id, and which of its copies is the right one is told by addresses. That build-id is in none of the three
 * files: the folder's name is all that is known, as it is of lists of symbols.
 *
 * Source: perf-buildid-cache(1), -k; what perf 6.1 makes of a folder.
 */
#define CACHE_KCORE "[kernel.kcore]"

/*
 * Copies PATH, which is kcore, and kallsyms and modules from the folder that it is in; the build-id is that of
 * sys/kernel/notes beside this folder, as /sys is beside /proc. Of kcore what kallsyms and modules say is code. *made,
 * which the caller frees: the folder; also with -EEXIST: there is a copy of the same modules at the same addresses.
 * -ESTALE: modules came or went meanwhile; -EACCES, -ENOENT, -EINVAL and others with a sentence that names the file.
 */
int build_cache_add_kcore(struct build_cache *cache, const char *path, char **made, struct str *err);

/*
 * The same for a folder of its own, which is made, and removed again after an error: kcore, kallsyms and modules. The
 * build-id is not needed.
 */
int kcore_copy(const char *path, const char *folder, const struct interrupt *interrupt, struct str *err);

struct cache_kcore { /* until the next one */
	struct build_id id;
	const char *moment; /* the last name of its folder, digits */
	const char *path; /* its folder: "DIR/[kernel.kcore]/abcdef../2026112220263432" */
	uint64_t bytes; /* on disk */
	int64_t made_ns; /* of CLOCK_REALTIME */
};
/*
 * Calls each for those of one kernel, or with id NULL for all, the newest of a kernel first, until it returns other
 * than 0, which is returned. Folders and files of other users are passed over, and what lacks one of the three.
 */
int build_cache_each_kcore(struct build_cache *cache, const struct build_id *id,
			   int (*each)(void *context, const struct cache_kcore *kcore), void *context);
/* All of it. */
int build_cache_remove_kcore(struct build_cache *cache, const struct cache_kcore *kcore, struct str *err);

#endif
