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
#include "sym/kernel_list.h"

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
static bool use_list(struct symbols *symbols, struct dso_state *state, struct kernel_list *list, const char *path,
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
	kernel_list_release(list);
	return found;
}

static bool read_kernel(struct symbols *symbols, struct dso_state *state, const char *path, struct str *why)
{
	struct kernel_list list;

	kernel_list_read(&list, path, state->dso->ref_symbol);
	return use_list(symbols, state, &list, path, why);
}

/* ---- the kernel ---- */

/* Where an ELF file's table (not finished) has a symbol; 0: nowhere. */
static uint64_t address_of(const struct symbol_table *table, const char *name)
{
	for (size_t i = 0; name && i < table->n; i++)
		if (!strcmp(table->names.s + table->v[i].name, name))
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

/* Whether the cache has names of the running kernel; take: they are used. */
static bool has_kept(struct symbols *symbols, struct dso_state *state, bool take)
{
	char *path = procfs_path(symbols, "kallsyms"), *boot_id = procfs_path(symbols, "sys/kernel/random/boot_id");
	struct str list = STR_INIT;
	bool has = false;

	if (symbols->options.keep_answers && kernel_list_tell(path, boot_id, &list))
		has = take ? dso_cached_take_list(symbols, state, list.s)
			   : dso_cached_find_list(symbols, state, list.s);
	free(path);
	free(boot_id);
	str_release(&list);
	return has;
}

static bool try_running(struct symbols *symbols, struct dso_state *state, const struct build_id *id,
			struct str *why)
{
	struct kernel_list_ahead *ahead = symbols->kernel_ahead;
	struct kernel_list list;
	char *path;
	bool found;

	if (!kernel_is_here(symbols, id, why))
		return false;
	if (has_kept(symbols, state, true))
		return true;
	path = procfs_path(symbols, "kallsyms");
	symbols->kernel_ahead = NULL;
	if (ahead && kernel_list_take(ahead, state->dso->ref_symbol, &list))
		found = use_list(symbols, state, &list, path, why);
	else
		found = read_kernel(symbols, state, path, why);
	free(path);
	return found;
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
	char *path;

	/* A server that is to be asked first is asked when names are needed. */
	if (options->kallsyms || options->debuginfod)
		return;
	files = options->ignore_vmlinux && !options->vmlinux ? NULL : dso_state_files(symbols, state);
	if (!(files && (files->runtime || files->debug)) && kernel_is_here(symbols, &id, &why) &&
	    !has_kept(symbols, state, false)) {
		path = procfs_path(symbols, "kallsyms");
		symbols->kernel_ahead = kernel_list_begin(path, state->dso->ref_symbol);
		free(path);
	}
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
