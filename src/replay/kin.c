/*
 * kin.c: see kin.h. One row per pid, the latest process's; a row costs 48 bytes, and the number of rows is
 * bounded, since a recording may have millions of processes: those that come after KIN_MAX others have no
 * relatives, unless those that ended are forgotten in time. Of a dso a few of those that mapped it are kept, the
 * latest over the oldest.
 */
#include "replay/kin.h"

#include "replay/state.h"

#include <stdlib.h>

enum { KIN_MAX = 1 << 16, ANCESTORS_MAX = 4 };

void kin_release(struct kin_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		free(table->v[i].jit_path);
	free(table->v);
	free(table->holders);
	index_release(&table->by_pid);
}

static struct kin *find(const struct kin_table *table, int32_t pid)
{
	uint64_t hash = hash_word((uint32_t)pid);
	uint32_t i;

	if (INDEX_FIND(&table->by_pid, hash, i, table->v[i].pid == pid))
		return &table->v[i];
	return NULL;
}

void kin_begins(struct kin_table *table, int32_t pid)
{
	struct kin *kin = find(table, pid);

	if (pid <= 0 || (!kin && table->n == KIN_MAX))
		return;
	if (!kin) {
		index_add(&table->by_pid, hash_word((uint32_t)pid), (uint32_t)table->n);
		VEC_GROW(table->v, table->n, table->cap);
		kin = &table->v[table->n++];
		kin->jit_path = NULL;
	}
	free(kin->jit_path);
	*kin = (struct kin){ .pid = pid, .ppid = -1 };
}

void kin_has_parent(struct kin_table *table, int32_t pid, int32_t ppid)
{
	struct kin *kin = find(table, pid);

	if (kin)
		kin->ppid = ppid;
}

void kin_ends(struct kin_table *table, int32_t pid)
{
	struct kin *kin = find(table, pid);

	if (kin)
		kin->exited = true;
}

/* ".../jit-12.dump": the file that a run-time compiler maps to say where its dump is. */
static bool is_jit_dump(const char *path)
{
	static const char start[] = "jit-", end[] = ".dump";
	const char *slash = strrchr(path, '/');
	size_t digits;

	if (!slash || strncmp(slash + 1, start, strlen(start)) != 0)
		return false;
	path = slash + 1 + strlen(start);
	digits = strspn(path, "0123456789");
	return digits && !strcmp(path + digits, end);
}

void kin_maps(struct kin_table *table, int32_t pid, const struct record_mmap *mmap)
{
	struct kin *kin = is_jit_dump(mmap->path) ? find(table, pid) : NULL;

	if (!kin)
		return;
	free(kin->jit_path);
	kin->jit_path = xstrdup(mmap->path);
	kin->jit_major = mmap->major;
	kin->jit_minor = mmap->minor;
	kin->jit_inode = mmap->inode;
}

void kin_holds(struct kin_table *table, const struct dso *dso, int32_t pid)
{
	struct dso_holders *holders;

	while (table->n_holders <= dso->index) {
		VEC_GROW(table->holders, table->n_holders, table->cap_holders);
		table->holders[table->n_holders++] = (struct dso_holders){ .n = 0 };
	}
	holders = &table->holders[dso->index];
	for (size_t i = 0; i < HOLDERS_KEPT; i++)
		if (holders->v[i] == pid)
			return;
	holders->v[holders->n++ % HOLDERS_KEPT] = pid;
}

void kin_forget(struct kin_table *table, bool (*stays)(const void *context, int32_t pid), const void *context)
{
	size_t n = 0;

	index_clear(&table->by_pid);
	for (size_t i = 0; i < table->n; i++) {
		struct kin *kin = &table->v[i];

		if (kin->exited && !stays(context, kin->pid)) {
			free(kin->jit_path);
			continue;
		}
		index_add(&table->by_pid, hash_word((uint32_t)kin->pid), (uint32_t)n);
		table->v[n++] = *kin;
	}
	table->n = n;
}

void kin_renumber(struct kin_table *table, const uint32_t *now)
{
	size_t n = 0;

	for (size_t i = 0; i < table->n_holders; i++)
		if (now[i] != DSO_DROPPED)
			table->holders[n++] = table->holders[i];
	table->n_holders = n;
}

/* ---- what others ask ---- */

const struct kin *replay_kin(const struct replay *replay, int32_t pid)
{
	return find(&replay->private->kin, pid);
}

struct pid_list {
	int32_t *v;
	size_t n, max;
};

static void add(struct pid_list *list, const struct kin *kin)
{
	if (!kin || kin->exited || list->n == list->max)
		return;
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i] == kin->pid)
			return;
	list->v[list->n++] = kin->pid;
}

static void add_parents(const struct kin_table *table, const struct kin *kin, struct pid_list *list)
{
	for (unsigned i = 0; kin && i < ANCESTORS_MAX; i++) {
		kin = kin->ppid > 0 ? find(table, kin->ppid) : NULL;
		add(list, kin);
	}
}

static void add_children(const struct kin_table *table, int32_t pid, struct pid_list *list)
{
	for (size_t i = 0; i < table->n && list->n < list->max; i++)
		if (table->v[i].ppid == pid)
			add(list, &table->v[i]);
}

size_t replay_holders(const struct replay *replay, const struct dso *dso, int32_t *pids, size_t max)
{
	const struct kin_table *table = &replay->private->kin;
	static const struct dso_holders none;
	const struct dso_holders *holders =
		dso->index < table->n_holders ? &table->holders[dso->index] : &none;
	size_t n = holders->n < HOLDERS_KEPT ? holders->n : HOLDERS_KEPT;
	struct pid_list list = { .v = pids, .max = max };

	for (size_t i = 0; i < n; i++)
		add(&list, find(table, holders->v[(holders->n - 1 - i) % HOLDERS_KEPT]));
	for (size_t i = 0; i < n; i++) {
		add_children(table, holders->v[i], &list);
		add_parents(table, find(table, holders->v[i]), &list);
	}
	return list.n;
}
