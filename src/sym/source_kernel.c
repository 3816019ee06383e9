/* SPDX-License-Identifier: MIT */
/*
 * source_kernel: names of the kernel's addresses, which recordings have as they were: absolute.
 *
 *   --kallsyms FILE | vmlinux (-k, or found with the same build-id) | /proc/kallsyms | a copy in the cache, alone or
 *   beside a copy of the code
 *
 * A kernel lies elsewhere after each start (KASLR). The recording says where one symbol was (ref_symbol, ref_addr);
 * all of the kernel's text moves together, so that this symbol's distance from where a list has it is that of all.
 *
 * A list of the running kernel that was read is kept at the end, for the next run (kallsyms_loader.c).
 */
#include "sym/cached_files.h"
#include "sym/kallsyms.h"
#include "sym/source_cached.h"

#include <stdlib.h>

/* ---- which list ---- */

struct build_id recorded_kernel_id(const struct symbols *symbols, const struct dso *dso)
{
	static const char kernel[] = "[kernel.kallsyms]";
	const struct info *info = symbols->recording->info;
	struct build_id id = { 0 };

	if (dso->kind == DSO_KERNEL && dso->build_id.size)
		return dso->build_id;
	for (size_t i = 0; i < info->build_ids.n; i++) {
		const struct info_build_id *row = &info->build_ids.v[i];

		if (strncmp(row->path, kernel, sizeof(kernel) - 1) || row->size > sizeof(id.bytes))
			continue;
		id.size = row->size;
		memcpy(id.bytes, row->bytes, row->size);
		break;
	}
	return id;
}

/* ---- using one ---- */

/* By how much the recorded kernel was moved against a list in which ref_symbol is at `listed`, 0: not in it. */
static bool slide_of(const struct dso *dso, uint64_t listed, const char *path, uint64_t *slide,
		     struct str *why)
{
	*slide = 0;
	if (!dso->ref_symbol || !dso->ref_addr)
		return true;
	if (!listed) {
		fail(why, 0, "%s: it has no %s, which holds the kernel's address", path,
		     dso->ref_symbol);
		return false;
	}
	*slide = dso->ref_addr - listed;
	return true;
}

/* true: the table is filled from the list, which is released. */
static bool use_list(struct symbols *symbols, struct dso_names *names, struct names_slot *slot,
		     struct kallsyms_list *list, const char *path, struct str *why)
{
	bool found = false;
	uint64_t slide;

	if (list->why.len) {
		str_addn(why, list->why.s, list->why.len);
	} else if (!list->table.n && list->zeroed) {
		str_add(why, "kernel addresses are hidden");
		names->remedy = kallsyms_remedy(symbols);
		names->hidden = true;
	} else if (!list->table.n) {
		str_addf(why, "%s: it has no names", path);
	} else if (slide_of(names->dso, list->ref_addr, path, &slide, why)) {
		symbol_table_release(names_table_begin(slot));
		slot->table->table = list->table;
		slot->table->slide = slide;
		symbol_table_init(&list->table);
		names_table_found(names, slot, path);
		found = true;
	}
	kallsyms_list_release(list);
	return found;
}

static bool read_kernel(struct symbols *symbols, struct dso_names *names, struct names_slot *slot, const char *path,
			struct str *why)
{
	struct kallsyms_list list;

	kallsyms_list_read(&list, path, names->dso->ref_symbol);
	return use_list(symbols, names, slot, &list, path, why);
}

/* ---- the kernel ---- */

/* Address of a symbol in an ELF file's table (not finished); 0: it is not there. */
static uint64_t address_of(const struct symbol_table *table, const char *name)
{
	for (size_t i = 0; name && i < table->n; i++)
		if (!strcmp(symbol_table_name(table, &table->v[i]), name))
			return table->v[i].start;
	return 0;
}

static enum source_result try_vmlinux(struct symbols *symbols, struct dso_names *names, struct names_slot *slot,
				      struct str *why)
{
	const struct dso_files *files;
	const char *origin;

	if (symbols->options.ignore_vmlinux && !symbols->options.vmlinux)
		return SOURCE_NONE;
	files = dso_names_files(symbols, names);
	if (!files->runtime && !files->debug) {
		if (symbols->options.vmlinux) /* else nobody asked for one */
			str_add(why, files->why.s);
		return SOURCE_NONE;
	}
	if (source_cached_take(symbols, names))
		return SOURCE_CACHED;
	if (!names_table_read_elf(symbols, names, slot, &origin, why) ||
	    !slide_of(names->dso, address_of(&slot->table->table, names->dso->ref_symbol), origin,
		      &slot->table->slide, why)) {
		names_table_drop(slot);
		source_cached_drop(names);
		return SOURCE_NONE;
	}
	names->unsure |= why->len;
	/* Addresses are absolute: its segments' offsets play no part. */
	slot->table->n_segments = 0;
	slot->table->from_elf = true;
	names_table_found(names, slot, origin);
	return SOURCE_DONE;
}

/* ---- the running kernel's list ---- */

struct kernel_source {
	struct str list_told; /* of the running kernel's list, which is to be kept; see kallsyms_list_tell */
	uint64_t list_ref_addr;
};

/* Text that tells its list from others; "": there is none, or nothing is to be kept. */
static void tell_list(struct symbols *symbols, struct str *told)
{
	char *path = procfs_path(symbols, "kallsyms"), *boot_id = procfs_path(symbols, "sys/kernel/random/boot_id");

	if (symbols->options.keep_answers)
		kallsyms_list_tell(path, boot_id, told);
	free(path);
	free(boot_id);
}

/* The list that was begun, was kept, or is read now; at the end one is kept that was not. */
static bool use_running(struct symbols *symbols, struct dso_names *names, struct names_slot *slot,
			const struct str *told, struct str *why)
{
	const char *ref_symbol = names->dso->ref_symbol;
	struct kallsyms_prefetch *ahead = symbols->kernel_ahead;
	char *path = procfs_path(symbols, "kallsyms");
	struct kernel_source *source;
	struct kallsyms_list list;
	uint64_t ref_addr;
	bool found, is_kept;

	symbols->kernel_ahead = NULL;
	if (!ahead || !kallsyms_prefetch_take(ahead, ref_symbol, &list)) {
		if (!told->len || !kallsyms_cache_map(symbols, ref_symbol, told, &list))
			kallsyms_list_read(&list, path, ref_symbol);
	}
	is_kept = list.table.mapped;
	ref_addr = list.ref_addr;
	found = use_list(symbols, names, slot, &list, path, why);
	if (found && !is_kept && told->len) {
		source = slot->state = xcalloc(1, sizeof(*source));
		str_init(&source->list_told);
		str_add(&source->list_told, told->s);
		source->list_ref_addr = ref_addr;
	}
	free(path);
	return found;
}

static enum source_result try_running(struct symbols *symbols, struct dso_names *names, struct names_slot *slot,
				      const struct build_id *id, struct str *why)
{
	enum source_result result = SOURCE_NONE;
	struct str told = STR_INIT;

	if (!kernel_is_here(symbols, id, why))
		return SOURCE_NONE;
	tell_list(symbols, &told);
	if (told.len && source_cached_take_list(symbols, names, told.s))
		result = SOURCE_CACHED;
	else if (use_running(symbols, names, slot, &told, why))
		result = SOURCE_DONE;
	str_release(&told);
	return result;
}

static void keep(struct symbols *symbols, struct dso_names *names, struct names_slot *slot)
{
	const struct kernel_source *source = slot->state;

	if (source)
		kallsyms_cache_write(symbols, names->dso->ref_symbol, source->list_ref_addr, &source->list_told,
				     &slot->table->table);
}

static void release(void *state)
{
	struct kernel_source *source = state;

	str_release(&source->list_told);
	free(source);
}

/* By a thread, unless it was kept: then it is there at once. */
static void begin_list(struct symbols *symbols, struct dso_names *names)
{
	const char *ref_symbol = names->dso->ref_symbol;
	struct str told = STR_INIT;
	struct kallsyms_list list;
	char *path;

	tell_list(symbols, &told);
	if (!told.len || !source_cached_find_list(symbols, names, told.s)) {
		path = procfs_path(symbols, "kallsyms");
		if (told.len && kallsyms_cache_map(symbols, ref_symbol, &told, &list))
			symbols->kernel_ahead = kallsyms_prefetch_known(&list, ref_symbol);
		else
			symbols->kernel_ahead = kallsyms_prefetch_begin(path, ref_symbol);
		free(path);
	}
	str_release(&told);
}

static bool try_copies(struct symbols *symbols, struct dso_names *names, struct names_slot *slot,
		       const struct build_id *id, struct str *why)
{
	struct str ignored = STR_INIT;
	char *path = cached_file(symbols->cached, id, CACHE_KALLSYMS, why);
	bool found = path && read_kernel(symbols, names, slot, path, &ignored);
	uint64_t slide;
	char *folder = found ? NULL : kcore_copy_of(symbols, names->dso, &slide);

	if (folder) {
		free(path);
		path = xasprintf("%s/kallsyms", folder);
		found = read_kernel(symbols, names, slot, path, &ignored);
	}
	free(folder);
	free(path);
	str_release(&ignored);
	return found;
}

void source_kernel_expect(struct symbols *symbols, struct dso_names *names)
{
	const struct sym_options *options = &symbols->options;
	struct build_id id = recorded_kernel_id(symbols, names->dso);
	const struct dso_files *files;
	struct str why = STR_INIT;

	/* A server that is to be asked first is asked when names are needed. */
	if (options->kallsyms || options->debuginfod)
		return;
	files = options->ignore_vmlinux && !options->vmlinux ? NULL : dso_names_files(symbols, names);
	if (!(files && (files->runtime || files->debug)) && kernel_is_here(symbols, &id, &why))
		begin_list(symbols, names);
	str_release(&why);
}

/* Kernels of a recording whose names are looked for: its own and those of its guests. Each costs millions of bytes. */
enum { KERNELS_MAX = 32 };

static bool is_one_too_many(struct symbols *symbols, struct dso_names *names)
{
	struct str why = STR_INIT;

	if (symbols->n_kernels++ < KERNELS_MAX)
		return false;
	str_addf(&why, "the recording names more than %d kernels: no more lists of symbols are read", KERNELS_MAX);
	dso_names_none(names, &why, NULL);
	str_release(&why);
	return true;
}

/* Says also what was asked for with -k and could not be used. */
static void report(struct dso_names *names, struct str *asked, const struct str *why, bool found)
{
	names->hidden = names->hidden && !asked->len;
	if (asked->len && (found || why->len)) {
		str_add(asked, found ? "" : "; ");
		str_add(asked, found ? "" : why->s);
	} else if (!asked->len && !found) {
		str_add(asked, why->s);
	}
	if (!found && !names->remedy)
		names->remedy = "-k with that kernel's vmlinux, or --kallsyms with a copy of its list";
	if (found)
		str_add_printable(&names->why, asked->s, asked->len);
	else
		dso_names_none(names, asked, names->remedy);
}

static enum source_result load(struct symbols *symbols, struct dso_names *names, struct names_slot *slot)
{
	struct build_id id = recorded_kernel_id(symbols, names->dso);
	const char *named = symbols->options.kallsyms;
	enum source_result result = SOURCE_NONE;
	struct str asked = STR_INIT, why = STR_INIT;

	if (!names->listed_by_cache && is_one_too_many(symbols, names))
		return SOURCE_DONE;
	if (named && read_kernel(symbols, names, slot, named, &why))
		result = SOURCE_DONE;
	if (!named)
		result = try_vmlinux(symbols, names, slot, &asked);
	if (!named && result == SOURCE_NONE)
		result = try_running(symbols, names, slot, &id, &why);
	if (!named && result == SOURCE_NONE && try_copies(symbols, names, slot, &id, &why))
		result = SOURCE_DONE;
	names->hidden &= !named;
	report(names, &asked, &why, result != SOURCE_NONE);
	str_release(&asked);
	str_release(&why);
	return result == SOURCE_NONE ? SOURCE_DONE : result;
}

static int code(struct symbols *symbols, struct dso_names *names, struct names_slot *slot, uint64_t addr,
		uint32_t number, struct symbol_code *out, struct str *why)
{
	(void)number;
	if (!slot->table || !slot->table->from_elf)
		return 1;
	return vmlinux_code(symbols, names, addr - slot->table->slide, out, why);
}

const struct names_source source_kernel = {
	.kinds = NAMES_OF(DSO_KERNEL), .load = load, .find = names_table_find,
	.code = code, .keep = keep, .release = release,
};
