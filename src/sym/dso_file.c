/*
 * dso_file: which files there are now for what was recorded then.
 *
 *   the recorded path below the roots of its processes, here, or below symfs
 *       -> the cache of files by build-id -> the vdso at hand -> a server
 *
 * A build-id says whether a file is still the one that ran: where the recording has it, a file with another
 * one, or that has lost it, was replaced, and names out of it would be wrong. Where the recording has none,
 * the file is used, and what speaks against it (written since, another inode) is told.
 *
 * Paths are those of the recorded process's mount namespace. As long as a process lives that sees them, they
 * are looked up below its root: there a file is believed by its build-id or by its device and inode, and the
 * file of that path here only if it is the same. A file here with the recorded build-id comes first, since it
 * stays when the process ends. Files of a container that has gone are found by the cache, or below --symfs.
 *
 * A debug file that lies where the program was has its names, and not its code: it is used as a debug file, and the
 * program is looked for further on.
 */
#include "sym/dso_search.h"

#include <errno.h>
#include <stdlib.h>

/* ---- reasons ---- */

void dso_search_why(struct dso_search *search, const char *remedy, const char *path, const char *fmt,
		    ...)
{
	struct str text = STR_INIT;
	va_list ap;

	if (search->files->why.len)
		return;
	if (path) {
		str_add_printable(&search->files->why, path, strlen(path));
		str_add(&search->files->why, ": ");
	}
	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	str_add_printable(&search->files->why, text.s, text.len);
	str_release(&text);
	search->files->remedy = remedy;
}

void dso_search_not_cached(struct dso_search *search, const struct str *why)
{
	struct str text = STR_INIT;

	str_add_printable(&text, why->s, why->len);
	/* The reason may be there already, from the search for the file itself. */
	if (text.len && !strstr(search->files->why.s, text.s))
		str_addf(&search->files->why, "%s%s", search->files->why.len ? "; " : "", text.s);
	str_release(&text);
}

static void why_replaced(struct dso_search *search, const struct build_id *now)
{
	struct str now_text = STR_INIT, then = STR_INIT;

	build_id_brief(now, &now_text);
	build_id_brief(&search->build_id, &then);
	if (search->dso->kind == DSO_KERNEL)
		dso_search_why(search, "-k with the vmlinux of that kernel", NULL,
			       "of another kernel: its build-id is %s, the recording has %s",
			       now->size ? now_text.s : "missing", then.s);
	else
		dso_search_why(search, "record again", NULL,
			       "replaced since the recording: its build-id is now %s, the recording has %s",
			       now->size ? now_text.s : "missing", then.s);
	str_release(&now_text);
	str_release(&then);
}

/* Says what can be done where a file could not be opened. One row per error that something is known for. */
static const char *open_remedy(int code)
{
	static const struct {
		int code;
		const char *remedy;
	} rows[] = {
		{ -EACCES, "sudo, or make it readable" },
		{ -EPERM, "sudo, or make it readable" },
		{ -ENOENT,
		  "report while its process lives, or --symfs with the folder it is below, if it is of a container" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].code == code)
			return rows[i].remedy;
	return NULL;
}

/* ---- the file itself ---- */

static void take_runtime(struct dso_search *search, struct elf_file *file)
{
	struct elf_section section;

	if (!search->build_id.size)
		search->build_id = file->build_id;
	elf_file_debuglink(file, &search->link, &search->link_crc);
	search->has_symtab = elf_section_of_type(file, SHT_SYMTAB, &section);
	search->has_dwarf = elf_section_named(file, ".debug_info", &section);
	search->has_minidebug = elf_section_named(file, ".gnu_debugdata", &section);
	search->files->runtime = xstrdup(file->path);
}

/* Nothing but the build-id tells for sure; these two are told, since the names may be of another program. */
static void why_doubtful(struct dso_search *search)
{
	const struct dso *dso = search->dso;
	int64_t written_s = search->recording->written_ns / (int64_t)NS_PER_S;

	if (dso->in_doubt)
		dso_search_why(search, "record again", NULL,
			       "several files had this path while it was recorded, and it may be another one");
	if (search->build_id.size)
		return;
	if (written_s && search->stat.st_mtime > written_s)
		dso_search_why(search, "record again", NULL, "it was changed after the recording");
	else if (dso->inode && !search->symfs[0] && dso->inode != search->stat.st_ino)
		dso_search_why(search, "record again", NULL,
			       "it may be another file than the one recorded: its inode is now %llu, not %llu",
			       (unsigned long long)search->stat.st_ino,
			       (unsigned long long)dso->inode);
}

enum acceptance {
	ACCEPT_PATH, /* the recorded path: doubts are told */
	ACCEPT_BUILD_ID, /* any place where it might be: only with the same build-id, and silent */
	ACCEPT_SAME, /* with the same build-id, or where the recording has none, the same inode; silent */
};

static bool fits(const struct dso_search *search, const struct elf_file *file,
		 enum acceptance acceptance)
{
	const struct dso *dso = search->dso;
	const struct mapped_file mapped = { .build_id = search->build_id,
					    .major = dso->major,
					    .minor = dso->minor,
					    .inode = dso->inode };

	if (!search->build_id.size && acceptance != ACCEPT_SAME)
		return acceptance == ACCEPT_PATH;
	return mapped_file_is(&mapped, file->fd, &file->stat, &file->build_id);
}

/* Notes a debug file in the program's place: it has names, but no code, so the search for the program goes on. */
static void keep_emptied(struct dso_search *search, const struct elf_file *file)
{
	if (search->emptied)
		return;
	search->emptied = xstrdup(file->path);
	if (!search->build_id.size)
		search->build_id = file->build_id;
	dso_search_why(search, "put the program itself there, if its code is wanted", NULL,
		       "a debug file without code is in its place");
}

/* Takes the path, which may be NULL. True: this is the file. */
static bool try_runtime(struct dso_search *search, char *path, enum acceptance acceptance)
{
	struct elf_file *file;
	struct str err = STR_INIT;
	bool taken = false;
	int rc;

	if (!path)
		return false;
	rc = elf_files_open(search->elf_files, path, &file, &err);
	if (!rc) {
		taken = fits(search, file, acceptance);
		if (!taken && acceptance == ACCEPT_PATH)
			why_replaced(search, &file->build_id);
		if (taken) {
			search->stat = file->stat;
			why_doubtful(search);
			taken = !elf_file_is_emptied(file);
			if (taken)
				take_runtime(search, file);
			else
				keep_emptied(search, file);
		}
		elf_file_let_go(file);
	} else if (acceptance == ACCEPT_PATH) {
		dso_search_why(search, open_remedy(rc), NULL, "%s", err.s);
	}
	str_release(&err);
	free(path);
	return taken;
}

/* ---- where it may be ---- */

static bool try_place(void *search, const char *root, const char *path)
{
	return try_runtime(search, xasprintf("%s%s", root, path), ACCEPT_SAME);
}

/* Looks here for the recorded build-id, then below the roots of living processes, then here for the same file. */
static bool try_roots(struct dso_search *search)
{
	struct mapping_seen seen[ROOTS_MAX];
	const struct mapped_file file = { .path = search->dso->path, .seen = seen, .n_seen = search->n_roots };

	if (!search->n_roots)
		return false;
	/* The roots of the latest processes are first in search->roots and last in seen. */
	for (size_t i = 0; i < search->n_roots; i++)
		seen[search->n_roots - 1 - i] = (struct mapping_seen){ .root = search->roots[i]->root };
	return try_runtime(search, xstrdup(file.path), ACCEPT_BUILD_ID) ||
	       mapped_file_look(&file, NULL, MAPPED_IN_ROOT | MAPPED_HERE, try_place, search);
}

/* The file's process lives, and sees something else at the path. */
static void why_not_below_roots(struct dso_search *search)
{
	dso_search_why(search, "record again", NULL,
		       "it is not, or no more, what was recorded, neither below %s nor here",
		       search->roots[0]->root);
}

/* "/usr/lib/x.so (deleted)": the kernel's mark of a file that had no name any more. */
static bool try_recorded(struct dso_search *search)
{
	static const char mark[] = " (deleted)";
	const char *path = search->dso->path;
	size_t n = strlen(path), mark_len = strlen(mark);

	if (path[0] != '/') {
		if (search->dso->kind != DSO_VDSO)
			dso_search_why(search, NULL, NULL, "it has no path in the recording");
		return false;
	}
	if (try_roots(search))
		return true;
	if (n < mark_len || strcmp(path + n - mark_len, mark) != 0) {
		if (!search->n_roots || (!search->build_id.size && !search->dso->inode))
			return try_runtime(search, xasprintf("%s%s", search->symfs, path),
					   ACCEPT_PATH);
		why_not_below_roots(search);
		return false;
	}
	/* Another file bears the name now, unless the build-id says otherwise. */
	if (try_runtime(search, xasprintf("%s%s", search->symfs, path), ACCEPT_BUILD_ID) ||
	    try_runtime(search, xasprintf("%s%.*s", search->symfs, (int)(n - mark_len), path),
			ACCEPT_BUILD_ID))
		return true;
	dso_search_why(search, "keep the file until the recording was reported", NULL,
		       "deleted before or while it was recorded");
	return false;
}

/* A kernel's file is not where the recording says, but in one of a few places. */
static bool try_vmlinux(struct dso_search *search)
{
	static const char *const patterns[][2] = {
		{ "/boot/vmlinux-", "" },
		{ "/usr/lib/debug/boot/vmlinux-", "" },
		{ "/usr/lib/debug/boot/vmlinux-", ".debug" },
		{ "/lib/modules/", "/build/vmlinux" },
		{ "/usr/lib/debug/lib/modules/", "/vmlinux" },
	};
	const char *release = search->recording->info->os_release;

	if (search->options->vmlinux)
		return try_runtime(search, xstrdup(search->options->vmlinux), ACCEPT_PATH);
	if (search->options->ignore_vmlinux || !release || strchr(release, '/'))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (try_runtime(search,
				xasprintf("%s%s%s%s", search->symfs, patterns[i][0], release,
					  patterns[i][1]),
				ACCEPT_BUILD_ID))
			return true;
	dso_search_why(search, "-k with the kernel's vmlinux", NULL, "no vmlinux was found");
	return false;
}

/* Looks for a copy that a recorder has kept, see buildcache/buildcache.h. */
static bool try_cache(struct dso_search *search)
{
	static const enum cache_kind kinds[] = { CACHE_ELF, CACHE_VDSO };
	struct str why = STR_INIT;
	bool found = false;

	for (size_t i = 0; !found && i < ARRAY_SIZE(kinds); i++) {
		str_reset(&why);
		found = try_runtime(search, cached_file(search->cached, &search->build_id, kinds[i], &why),
				    ACCEPT_BUILD_ID);
		if (why.len)
			break;
	}
	if (!found)
		dso_search_not_cached(search, &why);
	str_release(&why);
	return found;
}

static bool try_own_vdso(struct dso_search *search)
{
	const char *path = search->dso->kind == DSO_VDSO ? vdso_file_path() : NULL;

	if (!path)
		return false;
	if (try_runtime(search, xstrdup(path),
			search->options->of_now && !search->build_id.size ? ACCEPT_PATH : ACCEPT_BUILD_ID))
		return true;
	dso_search_why(search, "record again", NULL,
		       search->build_id.size ? "it is of another kernel than the running one" :
					       "its build-id is not in the recording");
	return false;
}

static bool try_server(struct dso_search *search)
{
	struct str err = STR_INIT;
	char *path;
	bool found = false;

	if (!search->options->debuginfod || search->dso->kind == DSO_VDSO)
		return false;
	if (debuginfod_fetch(search->options, &search->build_id, search->dso->name, false, &path, &err)) {
		if (search->files->why.len)
			str_add(&search->files->why, "; ");
		str_add(&search->files->why, err.s);
	} else {
		found = try_runtime(search, path, ACCEPT_BUILD_ID);
	}
	str_release(&err);
	return found;
}

static bool find_runtime(struct dso_search *search)
{
	bool kernel = search->dso->kind == DSO_KERNEL;

	return (kernel ? try_vmlinux(search) : try_recorded(search)) || try_cache(search) ||
	       try_own_vdso(search) || try_server(search);
}

/* Drops the reasons that other places gave, as the file was found; but doubts about the file that is used stay. */
static void forget_why(struct dso_search *search)
{
	if (search->build_id.size && build_id_same(&search->build_id, &search->dso->build_id)) {
		str_reset(&search->files->why);
		search->files->remedy = NULL;
	}
}

void dso_files_find(const struct sym_options *options, struct elf_files *elf_files, struct cached_files *cached,
		    const struct recording_info *recording, struct processes *processes, const struct dso *dso,
		    struct dso_files *files)
{
	struct dso_search search = {
		.options = options,
		.elf_files = elf_files,
		.cached = cached,
		.recording = recording,
		.dso = dso,
		.files = files,
		.symfs = options->symfs && strcmp(options->symfs, "/") != 0 ? options->symfs : "",
		.build_id = dso->build_id,
		.link = STR_INIT,
	};

	*files = (struct dso_files){ .why = STR_INIT };
	if (dso->kind == DSO_ANON || dso->kind == DSO_BPF || dso->kind == DSO_OTHER || dso->kind == DSO_LEFT_OUT)
		return;
	if (processes && dso->kind == DSO_FILE)
		search.n_roots = processes_elsewhere(processes, dso, search.roots, ROOTS_MAX);
	if (find_runtime(&search))
		forget_why(&search);
	debug_file_find(&search);
	str_release(&search.link);
	free(search.emptied);
}

void dso_files_release(struct dso_files *files)
{
	free(files->runtime);
	free(files->debug);
	str_release(&files->why);
	*files = (struct dso_files){ .why = STR_INIT };
}
