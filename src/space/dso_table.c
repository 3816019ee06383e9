/* SPDX-License-Identifier: MIT */
/*
 * dso_table.c: see space.h. Looked up by path and kind, and where that is another file, with the build-id or
 * the inode, so that a path that had many files costs no more than one.
 */
#include "space/space.h"

#include <stdlib.h>

/* An entry of the header's list. */
struct listed_build_id {
	const char *path;
	struct build_id id;
};

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

static struct dso *find(const struct dso_table *table, const struct index *ix, uint64_t hash,
			const struct dso_key *key, const struct build_id *id)
{
	uint32_t i;

	if (INDEX_FIND(ix, hash, i, matches(table->v[i], key) && (!id || same_build_id(&table->v[i]->build_id, id))))
		return table->v[i];
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
	       (dso->inode != key->inode || dso->major != key->major || dso->minor != key->minor ||
		(dso->generation && key->generation && dso->generation != key->generation));
}

static struct dso *find_inode(const struct dso_table *table, uint64_t hash, const struct dso_key *key)
{
	const struct index *ix = &table->by_inode;
	uint32_t i;

	hash = hash_with_inode(hash, key);
	if (INDEX_FIND(ix, hash, i, matches(table->v[i], key) && !is_another(table->v[i], key)))
		return table->v[i];
	return NULL;
}

/* The build-id that the header's list has for a path; the only one, where there is an inode. */
static bool listed_build_id(const struct dso_table *table, uint64_t hash, const struct dso_key *key,
			    struct build_id *id)
{
	const struct index *ix = &table->listed_by_path;
	bool found = false;
	uint32_t i;

	for (size_t at = index_first(ix, hash); index_next(ix, hash, &at, &i);) {
		const struct listed_build_id *row = &table->listed[i];

		if (strncmp(row->path, key->path, key->path_bytes) || row->path[key->path_bytes])
			continue;
		if (found && !same_build_id(id, &row->id)) {
			id->size = 0;
			return false;
		}
		*id = row->id;
		found = true;
		if (!key->inode)
			break;
	}
	return found;
}

static struct dso *dso_new(struct dso_table *table, const struct dso_key *key)
{
	struct dso *dso = xcalloc(1, sizeof(*dso));

	dso->index = (uint32_t)table->n;
	dso->kind = key->kind;
	dso->path = xstrndup(key->path, key->path_bytes);
	dso->name = dso_name_new(key->kind, dso->path, key->pid);
	dso->pid = key->pid;
	dso->major = key->major;
	dso->minor = key->minor;
	dso->inode = key->inode;
	dso->generation = key->generation;
	dso->jit_pid = key->kind == DSO_FILE ? jitted_pid(dso->path) : -1;
	VEC_GROW(table->v, table->n, table->cap);
	table->v[table->n++] = dso;
	return dso;
}

/* The key's file among those of its path, of which `first` is one; NULL: it is none of them. */
static struct dso *find_known(struct dso_table *table, struct dso *first, uint64_t hash,
			      const struct dso_key *key)
{
	const struct build_id *id = &key->build_id;

	if (is_another(first, key))
		return find_inode(table, hash, key);
	/* A build-id here, an inode there: it may be the same file, and it may be another one. */
	first->in_doubt |= first->build_id.size && !first->build_id_listed && !first->inode && !id->size &&
			   key->inode;
	if (!id->size || same_build_id(&first->build_id, id))
		return first;
	if (!first->build_id.size) {
		set_build_id(table, first, hash, id);
		return first;
	}
	return find(table, &table->by_build_id, hash_with_build_id(hash, id), key, id);
}

/* They have one path. What the header's list says of it is of one of them at most. */
static void tell_apart(struct dso *a, struct dso *b)
{
	struct dso *both[] = { a, b };
	bool same_inode = a->inode && a->inode == b->inode && a->major == b->major && a->minor == b->minor;

	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		both[i]->several = true;
		both[i]->in_doubt |= same_inode;
		if (both[i]->build_id_listed)
			both[i]->build_id.size = 0;
		both[i]->build_id_listed = false;
	}
}

/* A new one beside those that have its path; *first is one of them. */
static void tell_all_apart(struct dso_table *table, struct dso *first, struct dso *dso, uint64_t hash)
{
	uint32_t i;

	tell_apart(first, dso);
	for (size_t at = index_first(&table->by_inode, hash); index_next(&table->by_inode, hash, &at, &i);)
		if (table->v[i] != dso && table->v[i]->kind == dso->kind &&
		    !strcmp(table->v[i]->path, dso->path))
			tell_apart(table->v[i], dso);
}

struct dso *dso_table_get(struct dso_table *table, const struct dso_key *key)
{
	uint64_t hash = hash_key(key);
	struct dso *first = find(table, &table->by_path, hash, key, NULL), *dso;
	struct build_id id = key->build_id;

	dso = first ? find_known(table, first, hash, key) : NULL;
	if (dso)
		return dso;
	dso = dso_new(table, key);
	index_add(first ? &table->by_inode : &table->by_path,
		  first ? hash_with_inode(hash, key) : hash, dso->index);
	if (first)
		tell_all_apart(table, first, dso, hash_with_inode(hash, key));
	if (!id.size && !first && key->kind != DSO_ANON)
		dso->build_id_listed = listed_build_id(table, hash, key, &id);
	if (id.size)
		set_build_id(table, dso, hash, &id);
	return dso;
}

/* To the first dso of each kind that has this path; taken back where it turns out to have several. */
static void give(struct dso_table *table, const char *path, uint64_t hash)
{
	uint32_t i;

	for (size_t at = index_first(&table->by_path, hash);
	     index_next(&table->by_path, hash, &at, &i);) {
		struct dso *dso = table->v[i];
		const struct dso_key key = { .path = dso->path, .path_bytes = strlen(dso->path),
					     .inode = dso->inode };
		struct build_id id = { 0 };

		if (dso->kind == DSO_ANON || strcmp(dso->path, path) != 0 ||
		    dso->several || (dso->build_id.size && !dso->build_id_listed))
			continue;
		dso->build_id_listed = listed_build_id(table, hash, &key, &id);
		if (dso->build_id_listed)
			set_build_id(table, dso, hash, &id);
		else
			dso->build_id.size = 0;
	}
}

void dso_table_list_build_id(struct dso_table *table, const char *path, const struct build_id *id)
{
	uint64_t hash = hash_path(path, strlen(path));

	if (!id->size || id->size > sizeof(id->bytes))
		return;
	index_add(&table->listed_by_path, hash, (uint32_t)table->n_listed);
	VEC_GROW(table->listed, table->n_listed, table->cap_listed);
	table->listed[table->n_listed++] = (struct listed_build_id){ path, *id };
	give(table, path, hash);
}

static void dso_free(struct dso *dso)
{
	free(dso->path);
	free(dso->name);
	free(dso->ref_symbol);
	free(dso);
}

/* One that stays: found again as before. */
static void add_again(struct dso_table *table, struct dso *dso)
{
	const struct dso_key key = {
		.kind = dso->kind,
		.path = dso->path,
		.path_bytes = strlen(dso->path),
		.pid = dso->pid,
		.major = dso->major,
		.minor = dso->minor,
		.inode = dso->inode,
	};
	uint64_t hash = hash_key(&key);
	bool first = !find(table, &table->by_path, hash, &key, NULL);

	dso->index = (uint32_t)table->n;
	table->v[table->n++] = dso;
	index_add(first ? &table->by_path : &table->by_inode, first ? hash : hash_with_inode(hash, &key), dso->index);
	if (dso->build_id.size)
		index_add(&table->by_build_id, hash_with_build_id(hash, &dso->build_id), dso->index);
}

uint32_t *dso_table_keep(struct dso_table *table, const bool *used)
{
	size_t n = table->n;
	uint32_t *now = xcalloc(n + 1, sizeof(*now));

	table->n = 0;
	index_clear(&table->by_path);
	index_clear(&table->by_build_id);
	index_clear(&table->by_inode);
	for (size_t i = 0; i < n; i++) {
		now[i] = used[i] ? (uint32_t)table->n : DSO_DROPPED;
		if (used[i])
			add_again(table, table->v[i]);
		else
			dso_free(table->v[i]);
	}
	return now;
}

void dso_table_release(struct dso_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		dso_free(table->v[i]);
	free(table->v);
	free(table->listed);
	index_release(&table->by_path);
	index_release(&table->by_build_id);
	index_release(&table->by_inode);
	index_release(&table->listed_by_path);
	memset(table, 0, sizeof(*table));
}
