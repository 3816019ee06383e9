/* SPDX-License-Identifier: MIT */
/*
 * dso_file: which files there are now for what was recorded then: the file itself, and the one with its names and
 * lines, where it was stripped of them. Each is looked for in a table of places, in the order of how sure one can be;
 * the first that has a file that fits ends the search. One that would fit by its name, and does not, is a reason to be
 * reported.
 *
 *   the file   the recorded path below the roots of its processes, here, or below symfs
 *                  -> the cache of files by build-id -> the vdso at hand -> a server
 *   its debug file   itself -> a debug file in its place -> by build-id -> by .gnu_debuglink -> by name -> a server
 *
 * A build-id says whether a file is still the one that ran: where the recording has it, a file with another
 * one, or that has lost it, was replaced, and names out of it would be wrong. Where the recording has none,
 * the file is used, and what speaks against it (written since, another inode) is reported.
 *
 * Paths are those of the recorded process's mount namespace. As long as a process lives that sees them, they
 * are looked up below its root (space/mapped_file.c): there a file is believed by its build-id or by its device and
 * inode, and the file of that path here only if it is the same. A file here with the recorded build-id comes first,
 * since it stays when the process ends. Files of a container that has gone are found by the cache, or below --symfs.
 * The debug folder of a container, too, is below the root of a process that lives there.
 *
 * A debug file that lies where the program was has its names, and not its code: it is used as a debug file, and the
 * program is looked for further on.
 *
 * Source: gdb manual, "Separate Debug Files".
 */
#include "sym/cached_files.h"
#include "sym/dso_names.h"

#include <errno.h>
#include <stdlib.h>

enum { CRC_SHOWN_BYTES = 64 << 20 };

/* How a file proves that it is the one. */
enum proof {
	PROOF_PATH, /* of the file itself: the build-id, where the recording has one; else doubts are reported */
	PROOF_BUILD_ID, /* the same build-id; others are passed over */
	PROOF_SAME, /* that, or where the recording has none, the same inode; others are passed over */
	PROOF_CRC, /* of a debug file: the checksum of the debuglink, and the build-id where both have one */
	PROOF_USER, /* of a debug file: the user says so; but the build-id where both have one */
};

struct dso_search;

/* To add a place: a row, in the order of how sure one can be, its function, and a test in test_sym_files.c. */
struct file_place {
	unsigned kinds; /* of dsos: NAMES_OF(kind) | ... */
	enum proof proof; /* that its function may change */
	char *(*path)(struct dso_search *search, size_t i);
	enum cache_kind cached; /* of cached_path */
	unsigned mapped; /* instead: places of mapped_file.c, where there are living processes with other roots */
};

struct dso_search {
	const struct sym_options *options;
	struct elf_files *elf_files; /* or NULL */
	struct cached_files *cached; /* or NULL */
	const struct recording_info *recording;
	const struct dso *dso;
	/*
	 * The file as it was seen. seen: living processes that may see it, and other files than this process does.
	 * build_id: the recording's, or where it has none, that of the file that was found. size 0: neither.
	 */
	struct mapped_file mapped;
	struct mapping_seen seen[PROCESSES_SEEN_MAX];
	struct dso_files *files;
	bool for_debug; /* its debug file is looked for, not the file itself */
	const struct file_place *place; /* that is looked at */
	enum proof proof; /* that it demands */
	char *emptied; /* a debug file that lies where the file itself was looked for; NULL: none */
	const char *symfs; /* "" or a folder */
	/* Known of files->runtime, once it was found: */
	struct stat stat;
	struct str link; /* .gnu_debuglink; "": none */
	uint32_t link_crc;
	bool has_symtab, has_dwarf, has_minidebug;
};

/* ---- reasons ---- */

/* Reports what is missing: the first reason stays. path: whose it is, or NULL: the dso's own. */
PRINTF_LIKE(4, 5)
static void report(struct dso_search *search, const char *remedy, const char *path, const char *fmt, ...)
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

/* Adds a reason to the one that there is, unless it has it. */
static void report_more(struct dso_search *search, const struct str *why)
{
	struct str *all = &search->files->why, text = STR_INIT;

	str_add_printable(&text, why->s, why->len);
	if (text.len && !strstr(all->s, text.s))
		str_addf(all, "%s%s", all->len ? "; " : "", text.s);
	str_release(&text);
}

static void report_replaced(struct dso_search *search, const struct build_id *now)
{
	struct str now_text = STR_INIT, then = STR_INIT;

	build_id_brief(now, &now_text);
	build_id_brief(&search->mapped.build_id, &then);
	if (search->dso->kind == DSO_KERNEL)
		report(search, "-k with the vmlinux of that kernel", NULL,
		       "of another kernel: its build-id is %s, the recording has %s",
		       now->size ? now_text.s : "missing", then.s);
	else
		report(search, "record again", NULL,
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

/* Nothing but the build-id tells for sure; these two are reported, since the names may be of another program. */
static void report_doubt(struct dso_search *search)
{
	const struct dso *dso = search->dso;
	int64_t written_s = search->recording->written_ns / (int64_t)NS_PER_S;

	if (dso->in_doubt)
		report(search, "record again", NULL,
		       "several files had this path while it was recorded, and it may be another one");
	if (search->mapped.build_id.size)
		return;
	if (written_s && search->stat.st_mtime > written_s)
		report(search, "record again", NULL, "it was changed after the recording");
	else if (dso->inode && !search->symfs[0] && dso->inode != search->stat.st_ino)
		report(search, "record again", NULL,
		       "it may be another file than the one recorded: its inode is now %llu, not %llu",
		       (unsigned long long)search->stat.st_ino, (unsigned long long)dso->inode);
}

/* ---- the file itself ---- */

/* A debug file in the program's place has names, but no code: it is noted, and the search goes on. */
static bool is_runtime(struct dso_search *search, struct elf_file *file)
{
	const struct build_id *id = &search->mapped.build_id;
	bool is_same = id->size || search->proof == PROOF_SAME ?
			       mapped_file_is(&search->mapped, file->fd, &file->stat, &file->build_id) :
			       search->proof == PROOF_PATH;
	bool is_emptied = elf_file_is_emptied(file);
	struct elf_section section;

	if (!is_same && search->proof == PROOF_PATH)
		report_replaced(search, &file->build_id);
	if (!is_same)
		return false;
	search->stat = file->stat;
	report_doubt(search);
	if (is_emptied && search->emptied)
		return false;
	if (!id->size)
		search->mapped.build_id = file->build_id;
	if (is_emptied) {
		search->emptied = xstrdup(file->path);
		report(search, "put the program itself there, if its code is wanted", NULL,
		       "a debug file without code is in its place");
		return false;
	}
	elf_file_debuglink(file, &search->link, &search->link_crc);
	search->has_symtab = elf_section_of_type(file, SHT_SYMTAB, &section);
	search->has_dwarf = elf_section_named(file, ".debug_info", &section);
	search->has_minidebug = elf_section_named(file, ".gnu_debugdata", &section);
	return true;
}

/* ---- its debug file ---- */

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

static bool is_debug(struct dso_search *search, struct elf_file *file)
{
	static const char remedy[] = "install the debug package of its version";
	const struct build_id *id = &search->mapped.build_id;
	struct str found = STR_INIT;

	/* The stripped file may itself lie where a debug file is looked for. */
	if ((search->files->runtime && file->stat.st_dev == search->stat.st_dev &&
	     file->stat.st_ino == search->stat.st_ino) || !has_names(file))
		return false;
	if (id->size && file->build_id.size && !build_id_same(id, &file->build_id)) {
		build_id_brief(&file->build_id, &found);
		report(search, remedy, file->path, "of another build, with build-id %s", found.s);
		str_release(&found);
		return false;
	}
	if (search->proof == PROOF_BUILD_ID)
		return id->size && file->build_id.size;
	if (search->proof != PROOF_CRC || elf_debuglink_is(file->fd, search->link_crc, crc_progress, search))
		return true;
	report(search, remedy, file->path, "of another build: not the checksum in .gnu_debuglink");
	return false;
}

/* ---- one path ---- */

/* Takes the path over. True: this is the file. */
static bool try_path(struct dso_search *search, char *path)
{
	struct elf_file *file;
	struct str err = STR_INIT;
	bool fits = false;
	int rc = elf_files_open(search->elf_files, path, &file, &err);

	if (!rc) {
		fits = search->for_debug ? is_debug(search, file) : is_runtime(search, file);
		elf_file_let_go(file);
	} else if (search->for_debug && rc != -ENOENT && rc != -ENOTDIR) {
		report(search, NULL, path, "%s", err.s);
	} else if (search->proof == PROOF_PATH) {
		report(search, open_remedy(rc), NULL, "%s", err.s);
	}
	str_release(&err);
	if (!fits)
		free(path);
	else if (search->for_debug)
		search->files->debug = path;
	else
		search->files->runtime = path;
	return fits;
}

static bool try_below(void *search, const char *root, const char *path)
{
	return try_path(search, xasprintf("%s%s", root, path));
}

/* ---- places: each gives its paths by their number, to be freed; NULL: there are no more ---- */

/* A kernel's file is not where the recording says, but in one of a few places. */
static char *vmlinux_path(struct dso_search *search, size_t i)
{
	static const char *const patterns[][2] = {
		{ "/boot/vmlinux-", "" },
		{ "/usr/lib/debug/boot/vmlinux-", "" },
		{ "/usr/lib/debug/boot/vmlinux-", ".debug" },
		{ "/lib/modules/", "/build/vmlinux" },
		{ "/usr/lib/debug/lib/modules/", "/vmlinux" },
	};
	const char *release = search->recording->info->os_release;

	if (search->options->vmlinux) {
		search->proof = PROOF_PATH;
		return i ? NULL : xstrdup(search->options->vmlinux);
	}
	if (search->options->ignore_vmlinux || !release || strchr(release, '/'))
		return NULL;
	if (i < ARRAY_SIZE(patterns))
		return xasprintf("%s%s%s%s", search->symfs, patterns[i][0], release, patterns[i][1]);
	report(search, "-k with the kernel's vmlinux", NULL, "no vmlinux was found");
	return NULL;
}

/* The first n bytes of a path, here or below symfs. */
static char *placed_path(const struct dso_search *search, size_t n)
{
	const char *path = search->mapped.path;
	size_t folders = 0;

	for (size_t i = 0; search->options->symfs_flat && i < n; i++)
		if (path[i] == '/')
			folders = i;
	return xasprintf("%s%.*s", search->symfs, (int)(n - folders), path + folders);
}

/* The recorded path. */
static char *recorded_path(struct dso_search *search, size_t i)
{
	static const char mark[] = " (deleted)"; /* the kernel's, of a file that had no name any more */
	const struct mapped_file *mapped = &search->mapped;
	size_t n = strlen(mapped->path), kept = n - (sizeof(mark) - 1);

	if (mapped->path[0] != '/') {
		if (search->dso->kind != DSO_VDSO)
			report(search, NULL, NULL, "it has no path in the recording");
		return NULL;
	}
	if (kept < n && !strcmp(mapped->path + kept, mark)) {
		/* Another file bears the name now, unless the build-id says otherwise. */
		search->proof = PROOF_BUILD_ID;
		if (i < 2)
			return placed_path(search, i ? kept : n);
		report(search, "keep the file until the recording was reported", NULL,
		       "deleted before or while it was recorded");
		return NULL;
	}
	if (!mapped->n_seen || (!mapped->build_id.size && !mapped->inode))
		return i ? NULL : placed_path(search, n);
	/* The file's process lives, and sees something else at the path. */
	report(search, "record again", NULL, "it is not, or no more, what was recorded, neither below %s nor here",
	       mapped->seen[mapped->n_seen - 1].root);
	return NULL;
}

/* A file that is kept as the program may be a debug file, or one that is not stripped. */
static char *cached_path(struct dso_search *search, size_t i)
{
	struct str why = STR_INIT;
	char *path = i ? NULL : cached_file(search->cached, &search->mapped.build_id, search->place->cached, &why);

	report_more(search, &why);
	str_release(&why);
	return path;
}

static char *own_vdso(struct dso_search *search, size_t i)
{
	const char *path = vdso_file_path();
	bool has_id = search->mapped.build_id.size;

	if (search->options->of_now && !has_id)
		search->proof = PROOF_PATH;
	if (i && has_id)
		report(search, "record again", NULL, "it is of another kernel than the running one");
	else if (i)
		report(search, "record again", NULL, "its build-id is not in the recording");
	return i || !path ? NULL : xstrdup(path);
}

static char *from_server(struct dso_search *search, size_t i)
{
	struct str err = STR_INIT;
	char *path = NULL;

	if (i || !search->options->debuginfod)
		return NULL;
	if (debuginfod_fetch(search->options, &search->mapped.build_id, search->dso->name, search->for_debug, &path,
			     &err)) {
		if (search->for_debug)
			report(search, NULL, NULL, "stripped, and %s", err.s);
		else
			report_more(search, &err);
	}
	str_release(&err);
	return path;
}

static char *emptied_path(struct dso_search *search, size_t i)
{
	return i || !search->emptied ? NULL : xstrdup(search->emptied);
}

/* Folder i of debug files: here, below the roots of processes, and those that the user named. */
static char *debug_dir(const struct dso_search *search, size_t i)
{
	const struct mapped_file *mapped = &search->mapped;
	const char *const *user = search->options->debug_dirs;

	if (i <= mapped->n_seen)
		return xasprintf("%s" ELF_DEBUG_DIR, i ? mapped->seen[mapped->n_seen - i].root : search->symfs);
	user = user ? user + (i - mapped->n_seen - 1) : NULL;
	return user && *user ? xstrdup(*user) : NULL;
}

static char *by_build_id(struct dso_search *search, size_t i)
{
	char *dir = debug_dir(search, i);
	char *path = dir ? build_id_path(dir, &search->mapped.build_id, ".debug") : NULL;

	free(dir);
	return path;
}

static bool has_link(const struct dso_search *search)
{
	return search->link.s[0] && search->files->runtime;
}

static char *near_by_link(struct dso_search *search, size_t i)
{
	return has_link(search) ? elf_debuglink_near(search->files->runtime, search->link.s, i) : NULL;
}

static char *below_by_link(struct dso_search *search, size_t i)
{
	char *dir = has_link(search) ? debug_dir(search, i) : NULL;
	char *path = dir ? elf_debuglink_below(dir, search->dso->path, search->link.s) : NULL;

	free(dir);
	return path;
}

/* A file of the same name. In a folder that the user named it needs no build-id. */
static char *by_name(struct dso_search *search, size_t i)
{
	char *dir = search->dso->path[0] == '/' ? debug_dir(search, i / 2) : NULL;
	char *path = dir ? xasprintf("%s%s%s", dir, search->dso->path, i % 2 ? "" : ".debug") : NULL;

	if (i / 2 > search->mapped.n_seen)
		search->proof = PROOF_USER;
	free(dir);
	return path;
}

/* ---- the tables ---- */

#define NOT_KERNEL (~NAMES_OF(DSO_KERNEL))
static const struct file_place runtime_places[] = {
	{ NAMES_OF(DSO_KERNEL), PROOF_BUILD_ID, .path = vmlinux_path },
	{ NOT_KERNEL, PROOF_BUILD_ID, .mapped = MAPPED_HERE },
	{ NOT_KERNEL, PROOF_SAME, .mapped = MAPPED_IN_ROOT | MAPPED_HERE },
	{ NOT_KERNEL, PROOF_PATH, .path = recorded_path },
	{ ~0u, PROOF_BUILD_ID, .path = cached_path, .cached = CACHE_ELF },
	{ ~0u, PROOF_BUILD_ID, .path = cached_path, .cached = CACHE_VDSO },
	{ NAMES_OF(DSO_VDSO), PROOF_BUILD_ID, .path = own_vdso },
	{ ~NAMES_OF(DSO_VDSO), PROOF_BUILD_ID, .path = from_server },
};

static const struct file_place debug_places[] = {
	{ ~0u, PROOF_USER, .path = emptied_path },
	{ ~0u, PROOF_BUILD_ID, .path = by_build_id },
	{ ~0u, PROOF_BUILD_ID, .path = cached_path, .cached = CACHE_DEBUG },
	{ ~0u, PROOF_CRC, .path = near_by_link },
	{ ~0u, PROOF_CRC, .path = below_by_link },
	{ ~0u, PROOF_BUILD_ID, .path = by_name },
	{ ~0u, PROOF_BUILD_ID, .path = cached_path, .cached = CACHE_ELF },
};
static const struct file_place debug_server[] = { { ~0u, PROOF_BUILD_ID, .path = from_server } };

static bool look_at(struct dso_search *search, const struct file_place *place)
{
	const struct mapped_file *mapped = &search->mapped;
	char *path;

	search->place = place;
	search->proof = place->proof;
	if (place->mapped)
		return mapped->n_seen && mapped->path[0] == '/' &&
		       mapped_file_look(mapped, NULL, place->mapped, try_below, search);
	for (size_t i = 0; (path = place->path(search, i)); i++)
		if (try_path(search, path))
			return true;
	return false;
}

static bool look(struct dso_search *search, const struct file_place *places, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (places[i].kinds & NAMES_OF(search->dso->kind) && look_at(search, &places[i]))
			return true;
	return false;
}

/* ---- the whole search ---- */

static void find_runtime(struct dso_search *search)
{
	const struct build_id *id = &search->mapped.build_id;

	/* Reasons that other places gave are dropped, as it was found; but doubts about the file that is used stay. */
	if (look(search, runtime_places, ARRAY_SIZE(runtime_places)) && id->size &&
	    build_id_same(id, &search->dso->build_id)) {
		str_reset(&search->files->why);
		search->files->remedy = NULL;
	}
}

static void find_debug(struct dso_search *search)
{
	struct dso_files *files = search->files;
	bool has_all = search->has_symtab && search->has_dwarf, has_some = search->has_symtab || search->has_dwarf;

	search->for_debug = true;
	if (has_all || (!look(search, debug_places, ARRAY_SIZE(debug_places)) && has_some))
		files->debug = xstrdup(files->runtime);
	/* The vdso's .dynsym has all there is. */
	if (files->debug || look(search, debug_server, ARRAY_SIZE(debug_server)) || !files->runtime ||
	    search->has_minidebug || search->dso->kind == DSO_VDSO)
		return;
	report(search,
	       search->options->debuginfod ? "install its debug package" :
					     "install its debug package, or use --debuginfod",
	       NULL, "stripped, and no debug file was found");
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
		.mapped = { .path = dso->path,
			    .build_id = dso->build_id,
			    .major = dso->major,
			    .minor = dso->minor,
			    .inode = dso->inode },
		.files = files,
		.symfs = options->symfs && strcmp(options->symfs, "/") != 0 ? options->symfs : "",
		.link = STR_INIT,
	};

	*files = (struct dso_files){ .why = STR_INIT };
	if (dso->kind == DSO_ANON || dso->kind == DSO_BPF || dso->kind == DSO_OTHER || dso->kind == DSO_LEFT_OUT)
		return;
	if (processes && dso->kind == DSO_FILE)
		processes_elsewhere(processes, dso, search.seen, &search.mapped);
	find_runtime(&search);
	find_debug(&search);
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
