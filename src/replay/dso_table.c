/*
 * dso_table.c: see dso_table.h. Looked up by path and kind, and where that is another file, with the build-id or
 * the inode, so that a path that had many files costs no more than one.
 */
#include "replay/dso_table.h"

#include "replay/map_kind.h"
#include "replay/state.h"

#include <stdlib.h>

static uint64_t hash_path(const char *path, size_t n)
{
	return hash_bytes(path, n);
}

static uint64_t hash_key(const struct dso_key *key)
{
	return key->kind == DSO_ANON ? hash_word((uint32_t)key->pid)
				     : hash_path(key->path, key->path_bytes);
}

static uint64_t hash_with_build_id(uint64_t hash, const struct build_id *id)
{
	uint64_t words[2] = { hash, hash_bytes(id->bytes, id->size) };

	return hash_words(words, ARRAY_SIZE(words));
}

static uint64_t hash_with_inode(uint64_t hash, const struct dso_key *key)
{
	uint64_t words[3] = { hash, (uint64_t)key->major << 32 | key->minor, key->inode };

	return hash_words(words, ARRAY_SIZE(words));
}

static bool same_build_id(const struct build_id *a, const struct build_id *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

/* All of a process's code without a file is one dso, whatever the kernel calls it. */
static bool matches(const struct dso *dso, const struct dso_key *key)
{
	if (dso->kind != key->kind || dso->pid != key->pid)
		return false;
	return key->kind == DSO_ANON ||
	       (!strncmp(dso->path, key->path, key->path_bytes) && !dso->path[key->path_bytes]);
}

static struct dso *find(const struct replay *replay, const struct index *ix, uint64_t hash,
			const struct dso_key *key, const struct build_id *id)
{
	uint32_t i;

	for (size_t at = index_first(ix, hash); index_next(ix, hash, &at, &i);)
		if (matches(replay->dsos[i], key) &&
		    (!id || same_build_id(&replay->dsos[i]->build_id, id)))
			return replay->dsos[i];
	return NULL;
}

static void set_build_id(struct dso_table *table, struct dso *dso, uint64_t hash,
			 const struct build_id *id)
{
	dso->build_id = *id;
	index_add(&table->by_build_id, hash_with_build_id(hash, id), dso->index);
}

/* By its inode a dso may be another file than the one of the key; unknown ones are not another. */
static bool is_another(const struct dso *dso, const struct dso_key *key)
{
	return dso->kind != DSO_ANON && dso->inode && key->inode &&
	       (dso->inode != key->inode || dso->major != key->major || dso->minor != key->minor);
}

static struct dso *find_inode(const struct replay *replay, uint64_t hash, const struct dso_key *key)
{
	const struct index *ix = &replay->private->dsos.by_inode;
	uint32_t i;

	hash = hash_with_inode(hash, key);
	for (size_t at = index_first(ix, hash); index_next(ix, hash, &at, &i);)
		if (matches(replay->dsos[i], key) && !is_another(replay->dsos[i], key))
			return replay->dsos[i];
	return NULL;
}

/* The build-id that the header's list has for a path; the only one, where there is an inode. */
static bool listed_build_id(const struct replay *replay, uint64_t hash, const struct dso_key *key,
			    struct build_id *id)
{
	const struct info *info = &replay->reader->info;
	const struct index *ix = &replay->private->dsos.ids;
	struct build_id listed;
	bool found = false;
	uint32_t i;

	for (size_t at = index_first(ix, hash); index_next(ix, hash, &at, &i);) {
		const struct info_build_id *row = &info->build_ids.v[i];

		if (strncmp(row->path, key->path, key->path_bytes) || row->path[key->path_bytes])
			continue;
		listed = (struct build_id){ .size = row->size };
		memcpy(listed.bytes, row->bytes, sizeof(listed.bytes));
		if (found && !same_build_id(id, &listed)) {
			id->size = 0;
			return false;
		}
		*id = listed;
		found = true;
		if (!key->inode)
			break;
	}
	return found;
}

static struct dso *dso_new(struct replay *replay, const struct dso_key *key)
{
	struct dso *dso = xcalloc(1, sizeof(*dso));

	dso->index = (uint32_t)replay->n_dsos;
	dso->kind = key->kind;
	dso->path = xstrndup(key->path, key->path_bytes);
	dso->name = dso_name_new(key->kind, dso->path, key->pid);
	dso->pid = key->pid;
	dso->major = key->major;
	dso->minor = key->minor;
	dso->inode = key->inode;
	dso->jit_pid = key->kind == DSO_FILE ? jitted_pid(dso->path) : -1;
	VEC_GROW(replay->dsos, replay->n_dsos, replay->cap_dsos);
	replay->dsos[replay->n_dsos++] = dso;
	return dso;
}

/* Of the files of the path: first is one of them. NULL: none of them is the key's. */
static struct dso *find_known(struct replay *replay, struct dso *first, uint64_t hash,
			      const struct dso_key *key)
{
	struct dso_table *table = &replay->private->dsos;
	const struct build_id *id = &key->build_id;

	if (is_another(first, key))
		return find_inode(replay, hash, key);
	if (!id->size || same_build_id(&first->build_id, id))
		return first;
	if (!first->build_id.size) {
		set_build_id(table, first, hash, id);
		return first;
	}
	return find(replay, &table->by_build_id, hash_with_build_id(hash, id), key, id);
}

struct dso *dso_table_get(struct replay *replay, const struct dso_key *key)
{
	struct dso_table *table = &replay->private->dsos;
	uint64_t hash = hash_key(key);
	struct dso *first = find(replay, &table->by_path, hash, key, NULL), *dso;
	struct build_id id = key->build_id;

	dso = first ? find_known(replay, first, hash, key) : NULL;
	if (dso)
		return dso;
	dso = dso_new(replay, key);
	index_add(first ? &table->by_inode : &table->by_path,
		  first ? hash_with_inode(hash, key) : hash, dso->index);
	if (!id.size && !first && key->kind != DSO_ANON)
		dso->build_id_listed = listed_build_id(replay, hash, key, &id);
	if (id.size)
		set_build_id(table, dso, hash, &id);
	return dso;
}

/* To the first dso of each kind that has this path; taken back where it turns out to have several. */
static void give(struct replay *replay, const struct info_build_id *row, uint64_t hash)
{
	struct dso_table *table = &replay->private->dsos;
	uint32_t i;

	for (size_t at = index_first(&table->by_path, hash);
	     index_next(&table->by_path, hash, &at, &i);) {
		struct dso *dso = replay->dsos[i];
		const struct dso_key key = { .path = dso->path, .path_bytes = strlen(dso->path),
					     .inode = dso->inode };
		struct build_id id = { 0 };

		if (dso->kind == DSO_ANON || strcmp(dso->path, row->path) != 0 ||
		    (dso->build_id.size && !dso->build_id_listed))
			continue;
		dso->build_id_listed = listed_build_id(replay, hash, &key, &id);
		if (dso->build_id_listed)
			set_build_id(table, dso, hash, &id);
		else
			dso->build_id.size = 0;
	}
}

void dso_table_take_build_ids(struct replay *replay)
{
	struct dso_table *table = &replay->private->dsos;
	const struct info *info = &replay->reader->info;

	for (; table->ids_taken < info->build_ids.n; table->ids_taken++) {
		const struct info_build_id *row = &info->build_ids.v[table->ids_taken];
		uint64_t hash = hash_path(row->path, strlen(row->path));

		if (!row->size || row->size > sizeof(((struct build_id *)NULL)->bytes))
			continue;
		index_add(&table->ids, hash, (uint32_t)table->ids_taken);
		give(replay, row, hash);
	}
}

void dso_table_release(struct replay *replay)
{
	struct dso_table *table = &replay->private->dsos;

	for (size_t i = 0; i < replay->n_dsos; i++) {
		free(replay->dsos[i]->path);
		free(replay->dsos[i]->name);
		free(replay->dsos[i]->ref_symbol);
		free(replay->dsos[i]);
	}
	free(replay->dsos);
	replay->dsos = NULL;
	replay->n_dsos = replay->cap_dsos = 0;
	index_release(&table->by_path);
	index_release(&table->by_build_id);
	index_release(&table->by_inode);
	index_release(&table->ids);
}
