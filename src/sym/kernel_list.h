/*
 * kernel_list: a list of the kernel's names, read whole. Private to sym/.
 *
 * Linux makes /proc/kallsyms while it is read, which takes longer than a short recording: so a thread may read
 * it beside other work. The thread touches nothing but the list that it makes.
 */
#ifndef PSTAT_KERNEL_LIST_H
#define PSTAT_KERNEL_LIST_H

#include "sym/sym_internal.h"

struct kernel_list {
	struct symbol_table table; /* not finished, unless it was kept; the kernel's own names, none of modules */
	uint64_t ref_addr; /* where ref_symbol is; 0: it was not asked for or is not there */
	struct kallsyms_result result;
	struct str why; /* a sentence where the list could not be read; empty: it could */
};

/* ref_symbol may be NULL. Release in every case. */
void kernel_list_read(struct kernel_list *list, const char *path, const char *ref_symbol);
void kernel_list_release(struct kernel_list *list);

/*
 * Text that no other list has, for a key of the cache: which start of the kernel this is, and how the list begins. Of
 * the kernel itself nothing in it changes until the next one. false: that can't be told, or no addresses are shown.
 */
bool kernel_list_tell(const char *path, const char *boot_id_path, struct str *text);

/* ---- kernel_kept.c ---- */
/*
 * That of the running kernel, mapped from the cache, of which `told` is what kernel_list_tell says now. false: it is
 * not there, and list is as it was.
 */
bool kernel_kept_map(struct symbols *symbols, const char *ref_symbol, const struct str *told,
		     struct kernel_list *list);
/* Into the cache: a finished table. ref_addr as in the list. */
void kernel_kept_write(struct symbols *symbols, const char *ref_symbol, uint64_t ref_addr, const struct str *told,
		       const struct symbol_table *table);

struct kernel_list_ahead;
/* NULL: no thread could be made; then the list is to be read when it is needed. */
struct kernel_list_ahead *kernel_list_begin(const char *path, const char *ref_symbol);
/* One that is read already, which is taken over. */
struct kernel_list_ahead *kernel_list_known(const struct kernel_list *list, const char *ref_symbol);
/* Waits for the end, and releases. false: it was begun for another ref_symbol; then list is as it was. */
bool kernel_list_take(struct kernel_list_ahead *ahead, const char *ref_symbol, struct kernel_list *list);
void kernel_list_drop(struct kernel_list_ahead *ahead); /* NULL is fine */

#endif
