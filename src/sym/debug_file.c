/*
 * debug_file: the file with a dso's names and lines, where the dso itself was stripped of them.
 *
 * In the order of how sure one can be: the file itself; a debug file that lies in its place; files named by the
 * build-id, in folders of debug files and in the cache; the file that
 * .gnu_debuglink names, whose checksum must be the one it says; files of the same name in a folder of debug
 * files, which must have the same build-id, or where there is none, be in a folder that the user named.
 * Servers are asked last. The first file that fits is taken; one that would fit by its name and does not is
 * told of where none is found.
 *
 * The debug folder of a container is below the root of a process that lives there.
 *
 * Source: gdb manual, "Separate Debug Files".
 */
#include "sym/dso_search.h"

#include <errno.h>
#include <stdlib.h>

enum { CRC_SHOWN_BYTES = 64 << 20 };

/* How a candidate proves that it belongs to the file. */
enum proof {
	PROOF_BUILD_ID, /* it must have the same one */
	PROOF_CRC, /* the checksum of the debuglink, and the build-id where both have one */
	PROOF_USER, /* the user says so; but the build-id where both have one */
};

/* ---- one candidate ---- */

/* Says how far the checksum is, where the file is long. */
static void crc_progress(void *context, uint64_t done, uint64_t all)
{
	const struct dso_search *search = context;
	const struct sym_options *options = search->options;
	char *what;

	if (!options->progress || done % CRC_SHOWN_BYTES || all < CRC_SHOWN_BYTES)
		return;
	what = xasprintf("checking the debug file of %s", search->dso->name);
	options->progress(options->progress_context, what, (double)done / (double)all);
	free(what);
}

static bool has_names(const struct elf_file *file)
{
	struct elf_section section;

	return elf_section_of_type(file, SHT_SYMTAB, &section) || elf_section_named(file, ".debug_info", &section);
}

static bool is_proven(struct dso_search *search, const struct elf_file *file, enum proof proof)
{
	const struct build_id *id = &search->build_id;
	struct str found = STR_INIT;

	if (id->size && file->build_id.size && !build_id_same(id, &file->build_id)) {
		build_id_brief(&file->build_id, &found);
		dso_search_why(search, "install the debug package of its version", file->path,
			       "of another build, with build-id %s", found.s);
		str_release(&found);
		return false;
	}
	if (proof == PROOF_BUILD_ID)
		return id->size && file->build_id.size;
	if (proof == PROOF_CRC && !elf_debuglink_is(file->fd, search->link_crc, crc_progress, search)) {
		dso_search_why(search, "install the debug package of its version", file->path,
			       "of another build: not the checksum in .gnu_debuglink");
		return false;
	}
	return true;
}

/* The stripped file may itself lie where a debug file is looked for. */
static bool is_runtime(const struct dso_search *search, const struct elf_file *file)
{
	return search->files->runtime && file->stat.st_dev == search->stat.st_dev &&
	       file->stat.st_ino == search->stat.st_ino;
}

/* Takes the path, which may be NULL. True: this is it. */
static bool try_debug(struct dso_search *search, char *path, enum proof proof)
{
	struct elf_file *file;
	struct str err = STR_INIT;
	bool fits = false;
	int rc;

	if (!path)
		return false;
	rc = elf_files_open(search->elf_files, path, &file, &err);
	if (!rc) {
		fits = !is_runtime(search, file) && has_names(file) && is_proven(search, file, proof);
		elf_file_let_go(file);
	} else if (rc != -ENOENT && rc != -ENOTDIR) {
		dso_search_why(search, NULL, path, "%s", err.s);
	}
	str_release(&err);
	if (fits)
		search->files->debug = path;
	else
		free(path);
	return fits;
}

/* ---- where candidates are ---- */

struct debug_dir {
	char *path;
	enum proof proof; /* of a file there that only its name speaks for */
};
struct debug_dirs {
	struct debug_dir *v;
	size_t n, cap;
};

static void add_dir(struct debug_dirs *dirs, char *path, enum proof proof)
{
	VEC_GROW(dirs->v, dirs->n, dirs->cap);
	dirs->v[dirs->n++] = (struct debug_dir){ path, proof };
}

static bool try_build_id(struct dso_search *search, const struct debug_dirs *dirs)
{
	for (size_t i = 0; i < dirs->n; i++)
		if (try_debug(search, build_id_path(dirs->v[i].path, &search->build_id, ".debug"),
			      PROOF_BUILD_ID))
			return true;
	return false;
}

/*
 * CACHE_DEBUG: kept by a recorder, with the file or without it. CACHE_ELF: kept as the program, which may be a debug
 * file, or not stripped; what belongs beside it, such as packages of split DWARF, is not there.
 */
static bool try_cached(struct dso_search *search, enum cache_kind kind)
{
	struct str why = STR_INIT;
	bool found = try_debug(search, cached_file(search->cached, &search->build_id, kind, &why), PROOF_BUILD_ID);

	if (!found)
		dso_search_not_cached(search, &why);
	str_release(&why);
	return found;
}

static bool try_link(struct dso_search *search, const struct debug_dirs *dirs)
{
	const char *name = search->link.s, *path = search->files->runtime;
	bool found = false;

	if (!name[0] || !path)
		return false;
	for (size_t i = 0; !found && i < ELF_DEBUGLINK_NEAR; i++)
		found = try_debug(search, elf_debuglink_near(path, name, i), PROOF_CRC);
	for (size_t i = 0; !found && i < dirs->n; i++)
		found = try_debug(search, elf_debuglink_below(dirs->v[i].path, search->dso->path, name), PROOF_CRC);
	return found;
}

static bool try_name(struct dso_search *search, const struct debug_dirs *dirs)
{
	const char *path = search->dso->path;

	if (path[0] != '/')
		return false;
	for (size_t i = 0; i < dirs->n; i++) {
		const struct debug_dir *dir = &dirs->v[i];

		if (try_debug(search, xasprintf("%s%s.debug", dir->path, path), dir->proof) ||
		    try_debug(search, xasprintf("%s%s", dir->path, path), dir->proof))
			return true;
	}
	return false;
}

static bool try_servers(struct dso_search *search)
{
	struct str err = STR_INIT;
	char *path;
	bool found = false;

	if (!search->options->debuginfod)
		return false;
	if (debuginfod_fetch(search->options, &search->build_id, search->dso->name, true, &path, &err))
		dso_search_why(search, NULL, NULL, "stripped, and %s", err.s);
	else
		found = try_debug(search, path, PROOF_BUILD_ID);
	str_release(&err);
	return found;
}

static bool try_folders(struct dso_search *search)
{
	const char *const *user = search->options->debug_dirs;
	struct debug_dirs dirs = { 0 };
	bool found;

	add_dir(&dirs, xasprintf("%s" ELF_DEBUG_DIR, search->symfs), PROOF_BUILD_ID);
	for (size_t i = 0; i < search->n_roots; i++)
		add_dir(&dirs, xasprintf("%s" ELF_DEBUG_DIR, search->roots[i]->root), PROOF_BUILD_ID);
	for (; user && *user; user++)
		add_dir(&dirs, xstrdup(*user), PROOF_USER);
	found = try_build_id(search, &dirs) || try_cached(search, CACHE_DEBUG) || try_link(search, &dirs) ||
		try_name(search, &dirs) || try_cached(search, CACHE_ELF);
	for (size_t i = 0; i < dirs.n; i++)
		free(dirs.v[i].path);
	free(dirs.v);
	return found;
}

void debug_file_find(struct dso_search *search)
{
	struct dso_files *files = search->files;
	const char *remedy = search->options->debuginfod ?
				     "install its debug package" :
				     "install its debug package, or use --debuginfod";

	if (files->runtime && search->has_symtab && search->has_dwarf) {
		files->debug = xstrdup(files->runtime);
		return;
	}
	if (search->emptied && try_debug(search, xstrdup(search->emptied), PROOF_USER))
		return;
	if (try_folders(search))
		return;
	if (files->runtime && (search->has_symtab || search->has_dwarf)) {
		files->debug = xstrdup(files->runtime);
		return;
	}
	if (try_servers(search) || !files->runtime || search->has_minidebug ||
	    search->dso->kind == DSO_VDSO) /* the vdso's .dynsym has all there is */
		return;
	dso_search_why(search, remedy, NULL, "stripped, and no debug file was found");
}
