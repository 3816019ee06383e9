/* SPDX-License-Identifier: MIT */
/*
 * source_module: names of kernel modules' addresses, which recordings have as they were: absolute.
 *
 * They are in the same list as the kernel's (kallsyms), each with its module's name. A module may have been
 * loaded elsewhere since, so the list is used only where it agrees with the place that was recorded: by
 * /proc/modules where that shows addresses, else by where the module's first function is. Where it does not,
 * the module's own file is left: its functions, counted from the place recorded.
 */
#include "sym/cached_files.h"
#include "sym/kallsyms.h"
#include "sym/source_cached.h"

#include <stdlib.h>

struct module_symbol {
	uint64_t addr;
	uint32_t name, module; /* offsets in names */
	uint8_t binding;
	bool text;
};

/* The symbols of all modules in one list; few modules have samples, and these take theirs out of it. */
struct module_names {
	struct module_symbol *v;
	size_t n, cap;
	struct str names;
	uint32_t last_module;
	char *path; /* of the list; NULL: none */
	bool here; /* it is the running kernel's */
	bool hidden; /* this user may not see its addresses */
	struct str why; /* it could not be had */
	const char *remedy;
};

static void take_module(void *context, const struct kallsyms_symbol *symbol)
{
	struct module_names *modules = context;
	const char *last = modules->names.s + modules->last_module;

	if (!symbol->module || modules->names.len > UINT32_MAX / 2 || modules->n > UINT32_MAX / 2)
		return;
	if (!modules->n || strlen(last) != symbol->module_len ||
	    memcmp(last, symbol->module, symbol->module_len)) {
		modules->last_module = (uint32_t)modules->names.len;
		str_addn(&modules->names, symbol->module, symbol->module_len);
		str_addc(&modules->names, '\0');
	}
	VEC_GROW(modules->v, modules->n, modules->cap);
	modules->v[modules->n++] = (struct module_symbol){
		.addr = symbol->addr,
		.name = (uint32_t)modules->names.len,
		.module = modules->last_module,
		.binding = symbol->binding,
		.text = symbol->text,
	};
	str_addn(&modules->names, symbol->name, symbol->name_len);
	str_addc(&modules->names, '\0');
}

void module_names_free(struct module_names *modules)
{
	if (!modules)
		return;
	free(modules->v);
	free(modules->path);
	str_release(&modules->names);
	str_release(&modules->why);
	free(modules);
}

static void choose_list(struct symbols *symbols, const struct dso *dso,
			struct module_names *modules)
{
	struct build_id id = recorded_kernel_id(symbols, dso);

	if (symbols->options.kallsyms) {
		modules->path = xstrdup(symbols->options.kallsyms);
	} else if (kernel_is_here(symbols, &id, &modules->why)) {
		modules->path = procfs_path(symbols, "kallsyms");
		modules->here = true;
	} else {
		uint64_t slide;
		char *folder = kcore_copy_of(symbols, dso, &slide);

		/* A copy that has this module where it lay is better than a list of any moment. */
		if (folder)
			modules->path = xasprintf("%s/kallsyms", folder);
		else
			modules->path = cached_file(symbols->cached, &id, CACHE_KALLSYMS, &modules->why);
		free(folder);
	}
}

static const struct module_names *module_names(struct symbols *symbols, const struct dso *dso)
{
	struct module_names *modules = symbols->modules;
	bool zeroed;

	if (modules)
		return modules;
	modules = symbols->modules = xcalloc(1, sizeof(*modules));
	str_init(&modules->names);
	str_init(&modules->why);
	choose_list(symbols, dso, modules);
	if (!modules->path)
		return modules;
	str_reset(&modules->why);
	kallsyms_each(modules->path, take_module, modules, &zeroed, &modules->why);
	if (zeroed) {
		str_add(&modules->why, "kernel addresses are hidden");
		modules->remedy = kallsyms_remedy(symbols);
		modules->hidden = true;
	}
	return modules;
}

/* One row per address: a module's symbols are in no order, and of equals the last one stays, as in perf. */
static void put_row(struct symbol_table *table, struct index *by_addr,
		    const struct module_symbol *symbol, const char *name)
{
	uint64_t hash = hash_word(symbol->addr);
	size_t n = table->n, at;
	uint32_t i;

	symbol_table_add(table, symbol->addr, 0, name, strlen(name), symbol->binding);
	if (table->n == n)
		return;
	for (at = index_first(by_addr, hash); index_next(by_addr, hash, &at, &i);)
		if (table->v[i].start == symbol->addr) {
			table->v[i] = table->v[--table->n];
			return;
		}
	index_add(by_addr, hash, (uint32_t)n);
}

static bool is_within(const struct dso *dso, uint64_t addr)
{
	return !dso->start || (addr >= dso->start && addr < dso->end);
}

/*
 * The module's symbols in its recorded place into the table; its data may lie elsewhere. lowest: its first
 * function, wherever; 0: there is none.
 */
static void take_own(const struct module_names *modules, const char *name, const struct dso *dso,
		     struct symbol_table *table, uint64_t *lowest)
{
	struct index by_addr = { 0 };
	uint32_t met = UINT32_MAX; /* the last text that was this module's name */

	*lowest = 0;
	for (size_t i = 0; i < modules->n; i++) {
		const struct module_symbol *symbol = &modules->v[i];
		const char *text = modules->names.s + symbol->name;

		if (met != symbol->module) {
			if (strcmp(modules->names.s + symbol->module, name) != 0)
				continue;
			met = symbol->module;
		}
		if (symbol->text && (!*lowest || symbol->addr < *lowest))
			*lowest = symbol->addr;
		if (is_within(dso, symbol->addr))
			put_row(table, &by_addr, symbol, text);
	}
	index_release(&by_addr);
}

static bool is_where_recorded(const struct symbols *symbols, const struct dso *dso,
			      const char *name, uint64_t lowest)
{
	uint64_t now = symbols->modules->here ? module_here(symbols, name) : 0;

	if (!dso->start)
		return true;
	return now ? now == dso->start : is_within(dso, lowest);
}

/* The module's own file: its functions in their order, from where it was loaded. */
static enum source_result try_module_file(struct symbols *symbols, struct dso_names *names, struct names_slot *slot)
{
	const struct dso_files *files = dso_names_files(symbols, names);
	struct str why = STR_INIT;
	const char *origin;
	bool found;

	if ((!files->runtime && !files->debug) || !names->dso->start)
		return SOURCE_NONE;
	if (source_cached_take(symbols, names))
		return SOURCE_CACHED;
	found = names_table_read_elf(symbols, names, slot, &origin, &why);
	if (found) {
		names->unsure |= why.len;
		slot->table->n_segments = 0;
		slot->table->slide = names->dso->start;
		names_table_found(names, slot, origin);
	}
	str_release(&why);
	return found ? SOURCE_DONE : SOURCE_NONE;
}

static enum source_result load(struct symbols *symbols, struct dso_names *names, struct names_slot *slot)
{
	const struct module_names *modules = module_names(symbols, names->dso);
	char *name = module_name_of(names->dso->path);
	enum source_result result = SOURCE_DONE;
	struct str why = STR_INIT;
	uint64_t lowest;

	take_own(modules, name, names->dso, names_table_begin(slot), &lowest);
	if (slot->table->table.n && is_where_recorded(symbols, names->dso, name, lowest)) {
		names_table_found(names, slot, modules->path);
	} else {
		if (lowest)
			str_add(&why, "loaded at another address since the recording");
		else
			str_add(&why, modules->why.len ? modules->why.s : "not loaded any more");
		names_table_drop(slot);
		names->hidden = !lowest && modules->hidden && modules->here;
		result = try_module_file(symbols, names, slot);
		if (result == SOURCE_NONE)
			dso_names_none(names, &why, modules->remedy);
	}
	free(name);
	str_release(&why);
	return result == SOURCE_CACHED ? result : SOURCE_DONE;
}

const struct names_source source_module = {
	.kinds = NAMES_OF(DSO_MODULE), .load = load, .find = names_table_find,
};
