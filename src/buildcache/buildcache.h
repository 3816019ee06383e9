/*
 * buildcache: copies of what recordings have mapped, by build-id, in the layout that perf has in ~/.debug, so that
 * names stay when the files go. pstat and perf read each other's entries.
 *
 *	DIR/.build-id/ab/cdef..      a link to ../../PATH/abcdef..
 *	DIR/PATH/abcdef../elf        the file PATH, as mapped by what was recorded
 *	DIR/PATH/abcdef../debug      its debug file, if that is another one
 *	DIR/PATH/abcdef../pstat      pstat has made this entry; written when it was last wanted
 *	DIR/[vdso]/abcdef../vdso, DIR/[kernel.kallsyms]/abcdef../kallsyms
 *
 * Before perf 4.10 the file was DIR/PATH/abcdef.. itself: such entries are read, and not written.
 *
 * Others may own and fill the folder: it is held open by a descriptor, no link of others is followed, each entry is
 * written beside its place and renamed, and one counts only if the build-id inside is the one of its name. A list of
 * the kernel's symbols has no build-id inside; its name is all that is known. Several may write and remove at once.
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

/* What an entry holds: the name of the file in its folder. */
enum cache_kind { CACHE_ELF, CACHE_DEBUG, CACHE_VDSO, CACHE_KALLSYMS, N_CACHE_KINDS };
extern const char *const build_cache_kind_names[N_CACHE_KINDS]; /* "elf" ... */

/* What recordings may leave in it, unless something else is asked for. */
#define BUILD_CACHE_BYTES_DEFAULT ((uint64_t)2 << 30)

/* Where it is, or would be; the caller frees. NULL: it is switched off, or there is no $HOME. dir as below. */
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
/* What ends the adding of a large file, with -ECANCELED and nothing left of it. */
void build_cache_interrupt(struct build_cache *cache, const struct interrupt *interrupt);
/* As opened, printable in messages by str_add_printable. */
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
	unsigned kinds; /* 1 << CACHE_ELF ...; 0: its link leads to nothing that can be used */
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

#include "buildcache/cache_archive.h"
#include "buildcache/cache_kcore.h"

#endif
