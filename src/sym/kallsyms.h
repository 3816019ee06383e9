/* SPDX-License-Identifier: MIT */
/*
 * kallsyms: the kernel's list of its symbols: its lines (kallsyms.c), and the whole of it as a table, read beside other
 * work or kept from an earlier run (kallsyms_loader.c). Private to sym/.
 */
#ifndef PSTAT_KALLSYMS_H
#define PSTAT_KALLSYMS_H

#include "sym/sym_internal.h"

/* ---- kallsyms.c: the lines of /proc/kallsyms or of a copy of it ---- */

struct kallsyms_symbol {
	uint64_t addr;
	const char *name;
	size_t name_len;
	const char *module; /* "ext4"; NULL: the kernel itself */
	size_t module_len;
	uint8_t binding; /* SYMBOL_* */
	bool text; /* a function or label, not data */
};

/*
 * Each function and variable, in the order of the file. Of a file whose addresses are all 0 (kptr_restrict) none is
 * handed out, and *zeroed says so. -errno with a sentence that names the file.
 */
int kallsyms_each(const char *path,
		  void (*take)(void *context, const struct kallsyms_symbol *symbol), void *context,
		  bool *zeroed, struct str *err);
/* Adds it; of names of one address, which follow one another in the list, the last one stays, as in perf. */
void kallsyms_add(struct symbol_table *table, const struct kallsyms_symbol *symbol);

/* ---- kallsyms_loader.c: a list read whole ---- */

struct kallsyms_list {
	struct symbol_table table; /* not finished, unless it was kept; the kernel's own names, none of modules */
	uint64_t ref_addr; /* where ref_symbol is; 0: it was not asked for or is not there */
	bool zeroed; /* see kallsyms_each */
	struct str why; /* a sentence where the list could not be read; empty: it could */
};

/* ref_symbol may be NULL. Release in every case. */
void kallsyms_list_read(struct kallsyms_list *list, const char *path, const char *ref_symbol);
void kallsyms_list_release(struct kallsyms_list *list);

/*
 * Text that no other list has, for a key of the cache: which start of the kernel this is, and how the list begins.
 * Nothing in it about the kernel itself changes until the next one. false: that can't be known, or no addresses are
 * shown.
 */
bool kallsyms_list_tell(const char *path, const char *boot_id_path, struct str *text);

/* A list that is read beside other work. The thread touches nothing but the list that it makes. */
struct kallsyms_prefetch;
/* NULL: no thread could be made; then the list is to be read when it is needed. */
struct kallsyms_prefetch *kallsyms_prefetch_begin(const char *path, const char *ref_symbol);
/* One that is read already, which is taken over. */
struct kallsyms_prefetch *kallsyms_prefetch_known(const struct kallsyms_list *list, const char *ref_symbol);
/* Waits for the end, and releases. false: it was begun for another ref_symbol; then list is as it was. */
bool kallsyms_prefetch_take(struct kallsyms_prefetch *prefetch, const char *ref_symbol, struct kallsyms_list *list);
void kallsyms_prefetch_drop(struct kallsyms_prefetch *prefetch); /* NULL is fine */

/*
 * Maps the running kernel's list from the cache of names; told: what kallsyms_list_tell says of it now. false: it is
 * not there, and list is as it was.
 */
bool kallsyms_cache_map(struct symbols *symbols, const char *ref_symbol, const struct str *told,
			struct kallsyms_list *list);
/* Puts a finished table into the cache. ref_addr as in the list. */
void kallsyms_cache_write(struct symbols *symbols, const char *ref_symbol, uint64_t ref_addr, const struct str *told,
			  const struct symbol_table *table);

#endif
