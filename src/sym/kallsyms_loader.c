/* SPDX-License-Identifier: MIT */
/*
 * kallsyms_loader: the kernel's list of names, read whole, by a thread beside other work, or mapped from the cache
 * where an earlier run has finished it.
 *
 * Linux takes longer to write the list than a short report takes altogether, and it is the same until the next start.
 * So the table that a run has made of it is kept, and mapped by the next one: nothing of its 6 MB is made or moved.
 *
 *	key     version | the kernel's build-id | the symbol that tells where it lay
 *	entry   struct kept_head | told, and 0 to 7 NUL | marks | rows | aliases | names: a symbol_table's own
 *
 * Its checksum says that it is whole; who wrote it is not known, so what a look-up finds may be anything, but it stays
 * within the table. What tells one start's list from another's (kallsyms_list_tell) is in the entry and not in its key:
 * so the list of the next start takes the place of this one.
 */
#include "sym/dso_names.h"
#include "sym/kallsyms.h"
#include "sym/names_cache.h"

#include <stdlib.h>
#include <unistd.h>

/* Guesses for a distribution's kernel with some of its modules. Memory that is not used is never touched. */
enum { SYMBOLS_EXPECTED = 200000, NAME_BYTES_EXPECTED = 5 << 20 };

struct kallsyms_prefetch {
	bool by_thread; /* else it was known already */
	pthread_t thread;
	char *path, *ref_symbol; /* the latter may be NULL */
	struct kallsyms_list list; /* the thread's until it has ended */
};

struct kallsyms_pass {
	struct kallsyms_list *list;
	const char *ref_symbol;
};

static void take_kernel(void *context, const struct kallsyms_symbol *symbol)
{
	const struct kallsyms_pass *pass = context;

	if (symbol->module)
		return;
	kallsyms_add(&pass->list->table, symbol);
	if (pass->ref_symbol && !pass->list->ref_addr && strlen(pass->ref_symbol) == symbol->name_len &&
	    !memcmp(pass->ref_symbol, symbol->name, symbol->name_len))
		pass->list->ref_addr = symbol->addr;
}

void kallsyms_list_read(struct kallsyms_list *list, const char *path, const char *ref_symbol)
{
	struct kallsyms_pass pass = { list, ref_symbol };

	*list = (struct kallsyms_list){ .why = STR_INIT };
	symbol_table_init(&list->table);
	symbol_table_reserve(&list->table, SYMBOLS_EXPECTED, NAME_BYTES_EXPECTED);
	kallsyms_each(path, take_kernel, &pass, &list->zeroed, &list->why);
}

void kallsyms_list_release(struct kallsyms_list *list)
{
	symbol_table_release(&list->table);
	str_release(&list->why);
}

/* ---- which one it is ---- */

enum { TOLD_BYTES = 1024 }; /* some twenty lines, of which not all are of address 0 where any is shown */

static bool read_beginning(const char *path, char *bytes, size_t n)
{
	const struct foreign_options options = { .kernel_file = true };
	struct str ignored = STR_INIT;
	struct stat st;
	int fd = foreign_open(path, &options, &st, &ignored);
	ssize_t got = fd < 0 ? -1 : 0;

	for (size_t at = 0; got >= 0 && at < n; at += (size_t)got) {
		got = read(fd, bytes + at, n - at);
		if (!got)
			got = -1;
	}
	if (fd >= 0)
		close(fd);
	str_release(&ignored);
	return got > 0;
}

static bool shows_addresses(const char *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i && lines[i - 1] != '\n')
			continue;
		while (i < n && lines[i] == '0')
			i++;
		if (i < n && lines[i] != ' ')
			return true;
	}
	return false;
}

bool kallsyms_list_tell(const char *path, const char *boot_id_path, struct str *text)
{
	struct str boot_id = STR_INIT;
	char beginning[TOLD_BYTES];
	bool is_told = !read_line_file(boot_id_path, &boot_id) && boot_id.len &&
		       read_beginning(path, beginning, sizeof(beginning)) &&
		       shows_addresses(beginning, sizeof(beginning));

	if (is_told)
		str_addf(text, "list %s %016llx\n", boot_id.s,
			 (unsigned long long)checksum_bytes(beginning, sizeof(beginning)));
	str_release(&boot_id);
	return is_told;
}

/* ---- by a thread ---- */

static void *run(void *context)
{
	struct kallsyms_prefetch *prefetch = context;

	kallsyms_list_read(&prefetch->list, prefetch->path, prefetch->ref_symbol);
	return NULL;
}

static void prefetch_free(struct kallsyms_prefetch *prefetch)
{
	free(prefetch->path);
	free(prefetch->ref_symbol);
	free(prefetch);
}

static struct kallsyms_prefetch *prefetch_new(const char *ref_symbol)
{
	struct kallsyms_prefetch *prefetch = xcalloc(1, sizeof(*prefetch));

	prefetch->ref_symbol = ref_symbol ? xstrdup(ref_symbol) : NULL;
	return prefetch;
}

struct kallsyms_prefetch *kallsyms_prefetch_begin(const char *path, const char *ref_symbol)
{
	struct kallsyms_prefetch *prefetch = prefetch_new(ref_symbol);

	prefetch->path = xstrdup(path);
	prefetch->by_thread = !thread_start(&prefetch->thread, NULL, run, prefetch);
	if (prefetch->by_thread)
		return prefetch;
	prefetch_free(prefetch);
	return NULL;
}

struct kallsyms_prefetch *kallsyms_prefetch_known(const struct kallsyms_list *list, const char *ref_symbol)
{
	struct kallsyms_prefetch *prefetch = prefetch_new(ref_symbol);

	prefetch->list = *list;
	return prefetch;
}

bool kallsyms_prefetch_take(struct kallsyms_prefetch *prefetch, const char *ref_symbol, struct kallsyms_list *list)
{
	bool same = text_same(prefetch->ref_symbol, ref_symbol);

	if (prefetch->by_thread)
		pthread_join(prefetch->thread, NULL);
	if (same)
		*list = prefetch->list;
	else
		kallsyms_list_release(&prefetch->list);
	prefetch_free(prefetch);
	return same;
}

void kallsyms_prefetch_drop(struct kallsyms_prefetch *prefetch)
{
	if (!prefetch)
		return;
	if (prefetch->by_thread)
		pthread_join(prefetch->thread, NULL);
	kallsyms_list_release(&prefetch->list);
	prefetch_free(prefetch);
}

/* ---- kept in the cache ---- */

enum { KEPT_VERSION = 1, KEPT_ALIGN = 8, MOST = 1 << 30 };

struct kept_head {
	uint64_t ref_addr;
	uint64_t told_bytes, rows, aliases, name_bytes;
};

static void make_key(const struct build_id *id, const char *ref_symbol, struct str *key)
{
	str_addf(key, "kernel list %d pstat " PSTAT_VERSION "\n", KEPT_VERSION);
	build_id_text(id, key);
	str_addf(key, "\n%s\n", ref_symbol ? ref_symbol : "");
}

static size_t padded(size_t n)
{
	return (n + KEPT_ALIGN - 1) / KEPT_ALIGN * KEPT_ALIGN;
}

/* Whether n bytes are what the head says; each number is small enough to be added up. */
static bool sizes_are_good(const struct kept_head *head, size_t n)
{
	if (!head->rows || head->rows > MOST || head->aliases > MOST || !head->name_bytes || head->name_bytes > MOST)
		return false;
	return n == sizeof(*head) + padded(head->told_bytes) +
			    symbol_table_marks(head->rows) * sizeof(uint64_t) +
			    (head->rows + head->aliases) * sizeof(struct symbol_row) + head->name_bytes;
}

/* The table of what is kept; false: it is of another start, or none. */
static bool take(struct symbol_table *table, const struct str *told, char *kept, size_t n)
{
	char *at = kept + sizeof(struct kept_head);
	struct kept_head head;

	if (n < sizeof(head))
		return false;
	memcpy(&head, kept, sizeof(head));
	if (head.told_bytes != told->len || !sizes_are_good(&head, n) || memcmp(at, told->s, told->len) != 0 ||
	    kept[n - 1])
		return false;
	at += padded(told->len);
	table->marks = (uint64_t *)(void *)at;
	table->n_marks = symbol_table_marks(head.rows);
	at += table->n_marks * sizeof(*table->marks);
	table->v = (struct symbol_row *)(void *)at;
	table->n = table->cap = head.rows;
	table->aliases = table->v + head.rows;
	table->n_aliases = table->cap_aliases = head.aliases;
	table->names = (struct str){ .s = kept + n - head.name_bytes, .len = head.name_bytes };
	return true;
}

bool kallsyms_cache_map(struct symbols *symbols, const char *ref_symbol, const struct str *told,
		     struct kallsyms_list *list)
{
	struct names_cache *cache = symbols_names_cache(symbols);
	const struct build_id *id = kernel_here_id(symbols);
	struct symbol_table table = { .mapped = NULL };
	struct str key = STR_INIT;
	char *kept = NULL;

	if (cache && id->size) {
		make_key(id, ref_symbol, &key);
		kept = names_cache_map(cache, id, &key, &table.mapped, &table.mapped_bytes);
	}
	str_release(&key);
	if (!kept)
		return false;
	if (!take(&table, told, kept, (size_t)(table.mapped + table.mapped_bytes - kept))) {
		elf_unmap(table.mapped, table.mapped_bytes);
		return false;
	}
	*list = (struct kallsyms_list){ .table = table, .ref_addr = ((struct kept_head *)(void *)kept)->ref_addr,
				      .why = STR_INIT };
	return true;
}

void kallsyms_cache_write(struct symbols *symbols, const char *ref_symbol, uint64_t ref_addr, const struct str *told,
		       const struct symbol_table *table)
{
	const struct kept_head head = { ref_addr, told->len, table->n, table->n_aliases, table->names.len };
	struct names_cache *cache = symbols_names_cache(symbols);
	const struct build_id *id = kernel_here_id(symbols);
	struct str key = STR_INIT, entry = STR_INIT;

	if (!cache || !id->size || !table->n)
		return;
	make_key(id, ref_symbol, &key);
	names_cache_begin(&key, &entry);
	str_reserve(&entry, sizeof(head) + padded(told->len) + table->n_marks * sizeof(*table->marks) +
				    (table->n + table->n_aliases) * sizeof(*table->v) + table->names.len);
	str_addn(&entry, (const char *)&head, sizeof(head));
	str_addn(&entry, told->s, told->len);
	str_pad(&entry, '\0', padded(told->len) - told->len);
	str_addn(&entry, (const char *)table->marks, table->n_marks * sizeof(*table->marks));
	str_addn(&entry, (const char *)table->v, table->n * sizeof(*table->v));
	str_addn(&entry, (const char *)table->aliases, table->n_aliases * sizeof(*table->aliases));
	str_addn(&entry, table->names.s, table->names.len);
	names_cache_end(cache, id, &key, &entry);
	str_release(&entry);
	str_release(&key);
}
