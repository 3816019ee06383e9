/* SPDX-License-Identifier: MIT */
/*
 * space: what is mapped where: files and other sources of code (dso), their mappings (map), all mappings of a process
 * (its address space), and where a file that was mapped may be found now (mapped_file). Knows neither records nor ELF:
 * who reads records, and who unwinds, has the same maps.
 *
 *   struct dso_table: each file once  <--  struct map  <--  struct address_space: one writer, changed in place
 *                                                             |
 *                                                             +--> struct address_space_snapshot: never changes
 *
 * An address space has one writer. What other threads read is a snapshot, which the writer makes: it shares the chunks
 * of maps with the space, and whoever changes a chunk that is shared makes a copy first (copy on write). So
 * readers need no lock, and the writer waits for nobody. Counts of users are atomic; the writer's own look-ups
 * touch none.
 */
#ifndef PSTAT_SPACE_H
#define PSTAT_SPACE_H

#include "util/util.h"

#include <stdatomic.h>
#include <sys/stat.h>

/* ---- files and other sources of code ---- */

enum dso_kind {
	DSO_FILE, /* an ELF file */
	DSO_VDSO, /* [vdso]; [vdso32], ... */
	DSO_KERNEL, /* [kernel.kallsyms] */
	DSO_MODULE, /* a loaded kernel module */
	DSO_GUEST_KERNEL,
	DSO_GUEST_MODULE,
	DSO_BPF, /* what a KSYMBOL record named: a BPF program, or out-of-line code of the kernel */
	DSO_ANON, /* executable memory without a file: code made at run time; one per process */
	DSO_OTHER, /* [vsyscall], [stack], [heap] as data, ...: never has symbols */
	DSO_LEFT_OUT, /* [user], [kernel]: no file, the part of a callchain that is not shown; see profile.h */
};

/*
 * Lives as long as its table, unless dso_table_keep drops it. Where other threads have snapshots: what stands first
 * never changes and may be read by all, but for the index that dso_table_keep gives; the rest belongs to the thread
 * that changes the table.
 */
struct dso {
	uint32_t index; /* in dso_table.v; dso_table_keep gives new ones */
	enum dso_kind kind;
	char *path; /* raw bytes, as recorded: "/usr/bin/x", "[kernel.kallsyms]", KSYMBOL's name */
	char *name; /* for people: base name, printable; "[JIT] tid 12" for DSO_ANON, "[vdso]", ... */
	int32_t pid; /* DSO_ANON: the process; else -1 */
	int32_t jit_pid; /* DSO_FILE "jitted-PID-N.so" made by inject: PID; else -1 */

	struct build_id build_id; /* from MMAP2, or BUILD_ID feature/record for this path */
	bool build_id_listed; /* from the latter */
	uint32_t major, minor; /* from MMAP2 without build-id; 0: not known */
	uint64_t inode, generation; /* an inode used again has another generation; 0: not known */
	bool several; /* other files had this path while it was recorded */
	bool in_doubt; /* one of them had this inode, too, or nothing tells whether it is one of them */
	struct dso_mapping {
		int32_t pid; /* 0: none */
		uint64_t start, end, pgoff;
	} code; /* DSO_FILE: the first executable mapping of it: that process may have names for code in no ELF file */
	uint64_t start, end; /* DSO_KERNEL, _MODULE, _BPF: where it was loaded; else 0 */
	uint64_t ref_addr; /* DSO_KERNEL: the recorded address of ref_symbol (MMAP's pgoff) */
	char *ref_symbol; /* DSO_KERNEL: "_text" or "_stext", or NULL */
	uint16_t ksymbol_kind; /* DSO_BPF: as its KSYMBOL record has it: 1 BPF, 2 out of line; else 0 */
};

/* ---- map_kind.c: what the name of a mapping says about what is mapped ---- */

/* The kind of a mapping in a process; flags: MAP_*. */
enum dso_kind map_kind_user(const char *path, bool executable, uint32_t flags);
/*
 * The kind of a mapping of the kernel's: the kernel (then *name_bytes is the length of its name, after which a symbol
 * may stand: "[kernel.kallsyms]_text") or a module.
 */
enum dso_kind map_kind_kernel(const char *path, bool guest, size_t *name_bytes);
/*
 * "[ext4]", "/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz" -> "ext4", with _ for -, as /proc/modules and lists of symbols
 * have it; the caller frees.
 */
char *module_name_of(const char *path);
/* Heap text: the name for people. pid: DSO_ANON's. */
char *dso_name_new(enum dso_kind kind, const char *path, int32_t pid);
/* PID of ".../jitted-PID-N.so", or -1. */
int32_t jitted_pid(const char *path);
/* The same of ".../jit-PID.dump", which a run-time compiler maps to say where the dump of its code is. */
int32_t jit_dump_pid(const char *path);

/* ---- dso_table.c: the files of a recording, each once, and their build-ids ---- */

/*
 * A file is known by its build-id, else by device, inode and generation: a path may be another file's while it is
 * recorded. Where of two mappings of a path neither is known of both, they count as one file, which is in doubt.
 *
 * Build-ids come in three ways: in the MMAP2 record, in the header's list before the first record, or in
 * records of a pipe, where the list is the last that is written. The latter two are by path: where a path has
 * several, as that of programs in several containers, none of them is given to a file that has an inode; and where
 * several files had the path, none is given at all, since nobody knows whose it is.
 */
struct dso_table {
	struct dso **v; /* by index; pointers stay valid as long as the dso is there */
	size_t n, cap;
	/* Used by dso_table.c alone: */
	struct index by_path; /* DSO_ANON: by pid; the first dso of each (path, kind) */
	struct index by_build_id; /* (path, kind, build-id) */
	struct index by_inode; /* (path, kind, device and inode), of all but the first */
	struct index listed_by_path;
	struct listed_build_id *listed;
	size_t n_listed, cap_listed;
};

struct dso_key {
	enum dso_kind kind;
	const char *path;
	size_t path_bytes;
	int32_t pid; /* DSO_ANON only, else -1 */
	struct build_id build_id; /* size 0: not known */
	uint32_t major, minor;
	uint64_t inode, generation; /* 0: not known; /proc tells no generation */
};

/* A table of zeros is an empty one. */
void dso_table_release(struct dso_table *table);
/* The dso of a key, made if there is none. */
struct dso *dso_table_get(struct dso_table *table, const struct dso_key *key);
/*
 * One more entry of the header's list: it is given to the dsos of this path that have no build-id, those to
 * come among them. path is borrowed.
 */
void dso_table_list_build_id(struct dso_table *table, const char *path, const struct build_id *id);
/*
 * Frees those that are not `used` (by index), so that nobody may have them, in maps or snapshots; those that stay are
 * numbered anew, in their old order. The caller frees the new index of each old one, DSO_DROPPED where it went.
 */
enum { DSO_DROPPED = UINT32_MAX };
uint32_t *dso_table_keep(struct dso_table *table, const bool *used);

/* ---- mapped_file.c: what was seen of a file that was mapped, and where it may be now ---- */

enum { MAPPED_SEEN_MAX = 4, MAPPED_ANCESTORS_MAX = 4 };

/* A process that had the file mapped. */
struct mapping_seen {
	const char *root; /* what it has as /; NULL: /proc/PID/root */
	uint32_t pid;
	uint32_t ancestors[MAPPED_ANCESTORS_MAX]; /* its parent, and so on; 0: not known */
	uint64_t start, end; /* of the mapping */
};

struct mapped_file { /* all is borrowed */
	const char *path; /* as mapped, in the mount namespaces of its processes */
	struct build_id build_id; /* size 0: not known */
	uint32_t major, minor;
	uint64_t inode; /* 0: not known */
	bool any_device; /* the inode alone says which file it is */
	const struct mapping_seen *seen; /* the newest last */
	size_t n_seen;
};

/* One more of the MAPPED_SEEN_MAX at `seen`, of which there are n: one between the first and the newest makes room. */
size_t mapping_seen_add(struct mapping_seen *seen, size_t n, const struct mapping_seen *newest);
/*
 * An open file is the one that was mapped: by its build-id `now` (NULL: it has none) where one was recorded, else by
 * device and inode. false also where neither was recorded.
 */
bool mapped_file_is(const struct mapped_file *file, int fd, const struct stat *st, const struct build_id *now);

/* Bits of a set; asked for in this order. */
enum mapped_place {
	MAPPED_IN_ROOT = 1, /* below the root of the processes that had it */
	MAPPED_BY_RANGE = 2, /* the mapping itself, also of a deleted file */
	MAPPED_IN_ANCESTORS = 4, /* below the roots of those that they descend from */
	MAPPED_HERE = 8, /* below this process's root */
};
/* path: below root, which is "" or a folder without a slash at its end. true: this is it. Both are borrowed. */
typedef bool mapped_try_fn(void *context, const char *root, const char *path);
/* Calls `try` for each of the places until it says true; false: it never did. */
bool mapped_file_look(const struct mapped_file *file, const char *procfs, unsigned places, mapped_try_fn *try,
		      void *context);

/* ---- code made at run time ---- */

/*
 * A function that a compiler made at run time: [start, end), where it lies. Its unwind table is about the addresses
 * from loaded_at on, where it was put at first, and about each relative to where the table stands: after the code, at
 * the next multiple of 8.
 */
struct code_piece {
	uint64_t start, end, loaded_at;
	uint64_t number; /* one for each within a process, whoever gives it */
};

/* ---- address_space.c: address spaces ---- */

struct map {
	uint64_t start, end; /* [start, end) */
	uint64_t pgoff; /* of start in the file, bytes */
	struct dso *dso;
	uint32_t prot, flags; /* mmap(2); 0: not recorded */
};

/*
 * An address space is a list of chunks, each of at most MAP_CHUNK_MAX maps in order, none empty: a change moves
 * at most one chunk, also among millions of maps, and nearly every process has just one.
 */
enum { MAP_CHUNK_MAX = 128 };

struct map_chunk { /* of address_space.c alone */
	atomic_uint refs;
	uint16_t n, cap;
	struct map v[];
};

/*
 * Maps in order that don't overlap: a newer map cuts holes into older ones. One per process (its threads
 * share it), one for the kernel, one for guest kernels. After a fork both sides share the chunks of
 * maps until either changes one. An address space of zeros is an empty one.
 */
struct address_space {
	struct map_chunk **chunks;
	size_t n_chunks, cap_chunks;
	size_t n; /* maps */
	/*
	 * All that its process mapped since it executed its program is here: no other address has code. Set by the
	 * writer; sharing hands it on, clearing ends it.
	 */
	bool is_whole;
	/* Changes with each change, and is never used twice with one clock: equal ones have equal maps. */
	uint64_t version;
	struct address_space_snapshot *snapshot; /* of this version; NULL: nobody has asked for it */
};

/* The map of an address, or NULL. Valid until the space changes. */
const struct map *address_space_find(const struct address_space *space, uint64_t addr);
/*
 * Code may run at this address: it lies in an executable map, or in the page of vsyscalls, which x86-64 has in every
 * process and no map shows.
 */
bool address_space_has_code(const struct address_space *space, uint64_t addr);
/* The last map that begins at or below addr, whether it reaches there or not; or NULL. */
const struct map *address_space_below(const struct address_space *space, uint64_t addr);
/* The first map that begins at or after the end of `after` (NULL: the first of all), or NULL. */
const struct map *address_space_next(const struct address_space *space, const struct map *after);

/*
 * Changes, by the writer alone; `clock` gives versions: one for all address spaces whose versions are compared.
 */
void address_space_release(struct address_space *space);
void address_space_clear(struct address_space *space, uint64_t *clock);
/* Takes the place of whatever was in [start, end) before. Empty ranges change nothing. */
void address_space_add(struct address_space *space, const struct map *map, uint64_t *clock);
/*
 * Only where nothing is yet. `covered` says where something is, as few long ranges, so that a fill costs what it
 * adds however many maps lie in its range: an address space of its own, whose maps stand for nothing but addresses.
 * The filled part becomes one of them; what address_space_add puts into `space` is told to it by
 * address_space_cover, and what address_space_cut takes out is cut out of it, too.
 */
void address_space_fill(struct address_space *space, struct address_space *covered, const struct map *map,
			uint64_t *clock);
void address_space_cover(struct address_space *covered, uint64_t start, uint64_t end);
void address_space_cut(struct address_space *space, uint64_t start, uint64_t end, uint64_t *clock);
/* `to`, which is empty, has from then on what `from` has. Both have one writer. */
void address_space_share(struct address_space *to, const struct address_space *from);

/* ---- snapshots: for other threads ---- */

struct address_space_snapshot {
	/* Never changes: any thread may read it with address_space_find and the like. */
	struct address_space address_space;
	atomic_uint refs;
};

/*
 * The address space as it is now, for the caller to give back; to be called by its writer. Costs an atomic count
 * where the space has not changed since the last one was made, else a look at its chunks.
 */
struct address_space_snapshot *address_space_snapshot(struct address_space *space);
/* One more user of it, who may be another thread: whoever has it may call this. Returns it. */
struct address_space_snapshot *address_space_snapshot_ref(struct address_space_snapshot *snapshot);
/* By any thread. The last one frees it; dsos are not touched. NULL is nothing. */
void address_space_snapshot_unref(struct address_space_snapshot *snapshot);

#endif
