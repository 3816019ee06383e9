/*
 * kernel_kept: the running kernel's list of names as it was finished in an earlier run, in the cache of names.
 *
 *	key     version | the kernel's build-id | the symbol that tells where it lay
 *	entry   struct kept_head | told, and 0 to 7 NUL | marks | rows | aliases | names: a symbol_table's own
 *
 * Linux takes longer to write the list than a short report takes altogether, and it is the same until the next start.
 * So it is mapped, and nothing of its 6 MB is made or moved. Its checksum says that it is whole; who wrote it is not
 * known, so what a look-up finds may be anything, but it stays within the table.
 *
 * What tells one start's list from another's (kernel_list_tell) is in the entry and not in its key: so the list of the
 * next start takes the place of this one.
 */
#include "sym/dso_state.h"
#include "sym/kernel_list.h"
#include "sym/names_cache.h"

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

bool kernel_kept_map(struct symbols *symbols, const char *ref_symbol, const struct str *told,
		     struct kernel_list *list)
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
	*list = (struct kernel_list){ .table = table, .ref_addr = ((struct kept_head *)(void *)kept)->ref_addr,
				      .why = STR_INIT };
	return true;
}

void kernel_kept_write(struct symbols *symbols, const char *ref_symbol, uint64_t ref_addr, const struct str *told,
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
