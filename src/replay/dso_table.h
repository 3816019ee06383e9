/*
 * dso_table.h: the files of a recording, each once, and their build-ids. Private to replay/.
 *
 * Build-ids come in three ways: in the MMAP2 record, in the header's list before the first record, or in
 * records of a pipe, where the list is the last that is written. The latter two are by path: where a path has
 * several, as that of programs in several containers, none of them is given to a file that has an inode.
 */
#ifndef PSTAT_REPLAY_DSO_TABLE_H
#define PSTAT_REPLAY_DSO_TABLE_H

#include "replay/replay.h"

struct dso_table {
	struct index by_path; /* DSO_ANON: by pid; the first dso of each (path, kind) */
	struct index by_build_id; /* (path, kind, build-id) */
	struct index by_inode; /* (path, kind, device and inode), of all but the first */
	struct index ids; /* entries of the header's list, by path */
	size_t ids_taken;
};

struct dso_key {
	enum dso_kind kind;
	const char *path;
	size_t path_bytes;
	int32_t pid; /* DSO_ANON only, else -1 */
	struct build_id build_id; /* size 0: not known */
	uint32_t major, minor;
	uint64_t inode; /* 0: not known */
};

void dso_table_release(struct replay *replay);
/* The dso of a key, made if there is none. */
struct dso *dso_table_get(struct replay *replay, const struct dso_key *key);
/* What the header's list has gained is given to the dsos that have no build-id yet. */
void dso_table_take_build_ids(struct replay *replay);

#endif
