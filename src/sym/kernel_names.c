/*
 * kernel_names: names of the kernel's addresses, which recordings have as they were: absolute.
 *
 *   --kallsyms FILE | vmlinux (-k, or found with the same build-id) | /proc/kallsyms | a copy in the cache, alone or
 *   beside a copy of the code
 *
 * A kernel lies elsewhere after each start (KASLR). The recording says where one symbol was (ref_symbol, ref_addr);
 * all of the kernel's text moves together, so that this symbol's distance from where a list has it is that of all.
 */
#include "sym/cached_files.h"
#include "sym/dso_cached.h"
#include "sym/kallsyms.h"

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
		fail(why, 0, "%s: it has no %s, which tells where the kernel lay", path,
		     dso->ref_symbol);
		return false;
	}
	*slide = dso->ref_addr - listed;
	return true;
}

/* true: the table is filled from the list, which is released. */
static bool use_list(struct symbols *symbols, struct dso_state *state, struct kallsyms_list *list, const char *path,
		     struct str *why)
{
	bool found = false;

	if (list->why.len) {
		str_addn(why, list->why.s, list->why.len);
	} else if (!list->table.n && list->result.zeroed) {
		str_add(why, "kernel addresses are hidden");
		state->remedy = kallsyms_remedy(symbols);
		state->hidden = true;
	} else if (!list->table.n) {
		str_addf(why, "%s: it has no names", path);
	} else if (slide_of(state->dso, list->ref_addr, path, &state->slide, why)) {
		symbol_table_release(&state->table);
		state->table = list->table;
		symbol_table_init(&list->table);
		dso_state_found(state, path);
		found = true;
	}
	kallsyms_list_release(list);
	return found;
}

static bool read_kernel(struct symbols *symbols, struct dso_state *state, const char *path, struct str *why)
{
	struct kallsyms_list list;

	kallsyms_list_read(&list, path, state->dso->ref_symbol);
	return use_list(symbols, state, &list, path, why);
}

/* ---- the kernel ---- */

/* Where an ELF file's table (not finished) has a symbol; 0: nowhere. */
static uint64_t address_of(const struct symbol_table *table, const char *name)
{
	for (size_t i = 0; name && i < table->n; i++)
		if (!strcmp(symbol_table_name(table, &table->v[i]), name))
			return table->v[i].start;
	return 0;
}

static bool try_vmlinux(struct symbols *symbols, struct dso_state *state, struct str *why)
{
	const struct dso_files *files;
	const char *source;

	if (symbols->options.ignore_vmlinux && !symbols->options.vmlinux)
		return false;
	files = dso_state_files(symbols, state);
	if (!files->runtime && !files->debug) {
		if (symbols->options.vmlinux) /* else nobody asked for one */
			str_add(why, files->why.s);
		return false;
	}
	if (dso_cached_take(symbols, state))
		return true;
	if (!dso_state_read_elf(symbols, state, &source, why) ||
	    !slide_of(state->dso, address_of(&state->table, state->dso->ref_symbol), source,
		      &state->slide, why)) {
		symbol_table_release(&state->table);
		dso_cached_drop(state);
		return false;
	}
	state->unsure |= why->len;
	/* Addresses are absolute: its segments' offsets play no part. */
	state->n_segments = 0;
	state->from_elf = true;
	dso_state_found(state, source);
	return true;
}

/* ---- the running kernel's list ---- */

/* What tells its list from others; "": that can't be told, or nothing is to be kept. */
static void tell_list(struct symbols *symbols, struct str *told)
{
	char *path = procfs_path(symbols, "kallsyms"), *boot_id = procfs_path(symbols, "sys/kernel/random/boot_id");

	if (symbols->options.keep_answers)
		kallsyms_list_tell(path, boot_id, told);
	free(path);
	free(boot_id);
}

/* The list that was begun, was kept, or is read now; at the end one is kept that was not. */
static bool use_running(struct symbols *symbols, struct dso_state *state, const struct str *told,
			struct str *why)
{
	const char *ref_symbol = state->dso->ref_symbol;
	struct kallsyms_prefetch *ahead = symbols->kernel_ahead;
	char *path = procfs_path(symbols, "kallsyms");
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
	found = use_list(symbols, state, &list, path, why);
	if (found && !is_kept) {
		str_add(&state->list_told, told->s);
		state->list_ref_addr = ref_addr;
	}
	free(path);
	return found;
}

static bool try_running(struct symbols *symbols, struct dso_state *state, const struct build_id *id,
			struct str *why)
{
	struct str told = STR_INIT;
	bool found;

	if (!kernel_is_here(symbols, id, why))
		return false;
	tell_list(symbols, &told);
	found = (told.len && dso_cached_take_list(symbols, state, told.s)) || use_running(symbols, state, &told, why);
	str_release(&told);
	return found;
}

void kernel_names_keep(struct symbols *symbols, const struct dso_state *state)
{
	if (state->list_told.len)
		kallsyms_cache_write(symbols, state->dso->ref_symbol, state->list_ref_addr, &state->list_told,
				  &state->table);
}

/* By a thread, unless it was kept: then it is there at once. */
static void begin_list(struct symbols *symbols, struct dso_state *state)
{
	const char *ref_symbol = state->dso->ref_symbol;
	struct str told = STR_INIT;
	struct kallsyms_list list;
	char *path;

	tell_list(symbols, &told);
	if (!told.len || !dso_cached_find_list(symbols, state, told.s)) {
		path = procfs_path(symbols, "kallsyms");
		if (told.len && kallsyms_cache_map(symbols, ref_symbol, &told, &list))
			symbols->kernel_ahead = kallsyms_prefetch_known(&list, ref_symbol);
		else
			symbols->kernel_ahead = kallsyms_prefetch_begin(path, ref_symbol);
		free(path);
	}
	str_release(&told);
}

static bool try_cached(struct symbols *symbols, struct dso_state *state, const struct build_id *id, struct str *why)
{
	struct str refused = STR_INIT, ignored = STR_INIT;
	char *path = cached_file(symbols->cached, id, CACHE_KALLSYMS, &refused);
	bool found = path && read_kernel(symbols, state, path, &ignored);
	uint64_t slide;
	char *folder = found ? NULL : kcore_copy_of(symbols, state->dso, &slide);

	if (folder) {
		free(path);
		path = xasprintf("%s/kallsyms", folder);
		found = read_kernel(symbols, state, path, &ignored);
	}
	free(folder);
	if (refused.len)
		str_addf(why, "%s%s", why->len ? "; " : "", refused.s);
	free(path);
	str_release(&refused);
	str_release(&ignored);
	return found;
}

void kernel_names_expect(struct symbols *symbols, struct dso_state *state)
{
	const struct sym_options *options = &symbols->options;
	struct build_id id = recorded_kernel_id(symbols, state->dso);
	const struct dso_files *files;
	struct str why = STR_INIT;

	/* A server that is to be asked first is asked when names are needed. */
	if (options->kallsyms || options->debuginfod)
		return;
	files = options->ignore_vmlinux && !options->vmlinux ? NULL : dso_state_files(symbols, state);
	if (!(files && (files->runtime || files->debug)) && kernel_is_here(symbols, &id, &why))
		begin_list(symbols, state);
	str_release(&why);
}

/* Kernels of a recording whose names are looked for: its own and those of its guests. Each costs millions of bytes. */
enum { KERNELS_MAX = 32 };

static bool is_one_too_many(struct symbols *symbols, struct dso_state *state)
{
	struct str why = STR_INIT;

	if (symbols->n_kernels++ < KERNELS_MAX)
		return false;
	str_addf(&why, "the recording names more than %d kernels: no more lists of symbols are read", KERNELS_MAX);
	dso_state_none(state, &why, NULL);
	str_release(&why);
	return true;
}

void kernel_names_load(struct symbols *symbols, struct dso_state *state)
{
	struct build_id id = recorded_kernel_id(symbols, state->dso);
	const char *named = symbols->options.kallsyms;
	struct str asked = STR_INIT, why = STR_INIT;
	bool found;

	state->raw_names = true;
	if (!state->cached && is_one_too_many(symbols, state))
		return;
	if (named)
		found = read_kernel(symbols, state, named, &why);
	else
		found = try_vmlinux(symbols, state, &asked) ||
			try_running(symbols, state, &id, &why) || try_cached(symbols, state, &id, &why);
	state->hidden = state->hidden && !named && !asked.len;
	/* What was asked for with -k and could not be used is said all the same. */
	if (asked.len && (found || why.len)) {
		str_add(&asked, found ? "" : "; ");
		str_add(&asked, found ? "" : why.s);
	} else if (!asked.len && !found) {
		str_add(&asked, why.s);
	}
	if (!found && !state->remedy)
		state->remedy =
			"-k with that kernel's vmlinux, or --kallsyms with a copy of its list";
	if (found)
		str_add_printable(&state->why, asked.s, asked.len);
	else
		dso_state_none(state, &asked, state->remedy);
	str_release(&asked);
	str_release(&why);
}
