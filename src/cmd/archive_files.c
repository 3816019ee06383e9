/* SPDX-License-Identifier: MIT */
/*
 * archive_files.c: see archive_files.h. The samples are read one by one, as script does, without a name looked up:
 * where an address lies is all that is wanted of it. A stack that was recorded raw is unwound, so the files of its
 * frames are known as far as they are here.
 */
#include "cmd/archive_files.h"

#include "elf/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE_BYTES = 64 << 10 };

struct archive_files {
	struct session session;
	struct filters *filters; /* none: all samples */
	bool *hit; /* by dso.index */
	size_t cap_hit;
	struct archive_file *v;
	size_t n, cap;
	void (*progress)(void *context, double part);
	void *context;
};

/* ---- what has samples ---- */

static void hit(struct archive_files *files, uint32_t location)
{
	const struct dso *dso = location == LOCATION_NONE ? NULL : files->session.locations->v[location].dso;

	if (!dso)
		return;
	VEC_REACH(files->hit, files->cap_hit, dso->index);
	files->hit[dso->index] = true;
}

static int want_all(void *context, const struct data_event *event, unsigned *wants, struct str *err)
{
	(void)context, (void)event, (void)err;
	*wants = SAMPLE_TAKEN | SAMPLE_CHAIN | SAMPLE_IP;
	return 0;
}

static int take_sample(void *context, const struct sink_sample *sink, struct str *err)
{
	struct archive_files *files = context;
	const struct sample *sample = sink->sample->sample;

	(void)err;
	for (size_t i = 0; i < sink->frames.n; i++)
		hit(files, sink->frames.v[i].location);
	if (sample->has & PERF_SAMPLE_IP)
		hit(files, session_ip_location(&files->session, sink->sample));
	hit(files, session_data_location(&files->session, sink->sample));
	for (uint64_t i = 0; i < sample->n_branches; i++) {
		const struct sample_branch *branch = &sample->branches[i];

		hit(files, session_address_location(&files->session, sink->sample, branch->from));
		hit(files, session_address_location(&files->session, sink->sample, branch->to));
	}
	return 0;
}

static void show_progress(void *context, double part)
{
	struct archive_files *files = context;

	files->progress(files->context, part);
}

/* ---- which of them are files ---- */

/* A dso's file; false: it has none. */
static bool file_of(const struct archive_files *files, const struct dso *dso, struct archive_file *file)
{
	*file = (struct archive_file){ .dso = dso, .path = dso->path, .id = dso->build_id };
	if (dso->kind != DSO_ANON)
		return dso->kind == DSO_FILE || dso->kind == DSO_VDSO || dso->kind == DSO_KERNEL ||
		       dso->kind == DSO_MODULE;
	file->path = symbols_kept_map(files->session.symbols, dso->pid, &file->id);
	return file->path;
}

static bool is_listed(const struct archive_files *files, const struct build_id *id)
{
	for (size_t i = 0; i < files->n; i++)
		if (build_id_same(&files->v[i].id, id))
			return true;
	return false;
}

/* The kernel's list has the names of its modules, too. */
static void list_files(struct archive_files *files)
{
	const struct dso_table *dsos = &files->session.replay.dsos;
	bool modules = false;

	for (size_t i = 0; i < dsos->n && i < files->cap_hit; i++)
		modules = modules || (files->hit[i] && dsos->v[i]->kind == DSO_MODULE);
	for (size_t i = 0; i < dsos->n; i++) {
		const struct dso *dso = dsos->v[i];
		struct archive_file file;

		if (!(i < files->cap_hit && files->hit[i]) && !(modules && dso->kind == DSO_KERNEL))
			continue;
		if (!file_of(files, dso, &file) || is_listed(files, &file.id))
			continue;
		VEC_GROW(files->v, files->n, files->cap);
		files->v[files->n++] = file;
	}
}

int archive_files_new(struct archive_files **out, struct reader *reader, const struct session_options *options,
		      void (*progress)(void *context, double part), void *context, struct str *err)
{
	static const struct filter_options no_filters;
	struct archive_files *files = *out = xcalloc(1, sizeof(*files));
	const struct sample_sink sink = {
		.context = files, .wants = want_all, .sample = take_sample, .progress = show_progress,
	};
	int rc;

	files->progress = progress;
	files->context = context;
	rc = session_init(&files->session, reader, options, err);
	if (!rc)
		rc = filters_new(&files->filters, &no_filters, &files->session, err);
	if (!rc)
		rc = sample_stream_run(&files->session, files->filters, &sink, err);
	if (!rc)
		list_files(files);
	return rc;
}

void archive_files_free(struct archive_files *files)
{
	if (!files)
		return;
	filters_free(files->filters);
	session_release(&files->session);
	free(files->hit);
	free(files->v);
	free(files);
}

size_t archive_files_count(const struct archive_files *files)
{
	return files->n;
}

const struct archive_file *archive_files_at(const struct archive_files *files, size_t i)
{
	return &files->v[i];
}

/* ---- where they are ---- */

static bool find_in_cache(struct build_cache *cache, const struct build_id *id, int fds[N_CACHE_KINDS])
{
	struct str ignored = STR_INIT;
	bool found = false;

	for (int kind = 0; kind < N_CACHE_KINDS; kind++) {
		int fd = cache ? build_cache_find(cache, id, (enum cache_kind)kind, NULL, &ignored) : -ENOENT;

		fds[kind] = fd < 0 ? -1 : fd;
		found = found || (fd >= 0 && kind != CACHE_DEBUG);
	}
	str_release(&ignored);
	return found;
}

static int nameless_copy(const char *bytes, size_t n, struct str *why)
{
	int fd = destination_create_nameless(NULL, why);
	int rc = fd < 0 ? fd : write_all(fd, bytes, n);

	if (rc && fd >= 0) {
		close(fd);
		str_add(why, strerror(-rc));
	}
	return rc ? -1 : fd;
}

/* A file of the recorded build-id; of a packed one its contents. file: held by nobody, or NULL. */
static int open_elf(struct elf_file *file, const struct build_id *id, struct str *why)
{
	struct build_id now = { 0 };
	struct stat st;
	int fd = -1;

	if (!file || elf_file_hold(file, why))
		return -1;
	if (file->unpacked)
		fd = build_id_same(&file->build_id, id) ? nameless_copy(file->unpacked, file->unpacked_bytes, why) : -1;
	else
		fd = foreign_open(file->path, NULL, &st, why);
	if (fd >= 0 && (!elf_build_id_of_fd(fd, &now) || !build_id_same(&now, id))) {
		close(fd);
		fd = -1;
	}
	if (fd < 0 && !why->len)
		str_add(why, "its build-id is another one now");
	elf_file_let_go(file);
	return fd < 0 ? -1 : fd;
}

/* All addresses are 0 where this user may not see them. */
static bool shows_addresses(const struct str *list)
{
	const char *line = list->s;

	while (*line) {
		if (line[strspn(line, "0")] != ' ')
			return true;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return false;
}

static int read_list(int from, struct str *list)
{
	char *piece = xmalloc(PIECE_BYTES);
	ssize_t got;

	while ((got = read(from, piece, PIECE_BYTES)) > 0)
		str_addn(list, piece, (size_t)got);
	free(piece);
	return got ? -errno : 0;
}

static int copy_kallsyms(struct archive_files *files, const struct dso *dso, struct str *why)
{
	const struct foreign_options options = { .kernel_file = true };
	struct str list = STR_INIT;
	struct stat st;
	int from, fd = -1;

	if (!symbols_kernel_runs(files->session.symbols, dso, why))
		return -1;
	from = foreign_open("/proc/kallsyms", &options, &st, why);
	if (from < 0)
		return -1;
	if (read_list(from, &list))
		str_add(why, "/proc/kallsyms cannot be read");
	else if (!shows_addresses(&list))
		str_add(why, "kernel addresses are hidden");
	else
		fd = nameless_copy(list.s, list.len, why);
	close(from);
	str_release(&list);
	return fd;
}

static void find_debug(struct archive_files *files, const struct dso *dso, int fds[N_CACHE_KINDS])
{
	struct str ignored = STR_INIT;
	struct elf_file *debug = symbols_debug_file(files->session.symbols, dso);

	if (debug && debug != symbols_elf_file(files->session.symbols, dso, &ignored))
		fds[CACHE_DEBUG] = open_elf(debug, &dso->build_id, &ignored);
	str_release(&ignored);
}

static bool find_here(struct archive_files *files, const struct dso *dso, int fds[N_CACHE_KINDS], struct str *why)
{
	struct symbols *symbols = files->session.symbols;
	enum cache_kind kind = dso->kind == DSO_VDSO ? CACHE_VDSO : CACHE_ELF;
	struct str ignored = STR_INIT;
	struct elf_file *file;
	struct code_map map;

	if (dso->kind == DSO_ANON) {
		fds[CACHE_MAP] = symbols_open_map(symbols, dso->pid, &map, why);
		return fds[CACHE_MAP] >= 0;
	}
	if (dso->kind == DSO_KERNEL)
		fds[CACHE_KALLSYMS] = copy_kallsyms(files, dso, why);
	if (fds[CACHE_KALLSYMS] >= 0)
		return true;
	file = symbols_elf_file(symbols, dso, why->len ? &ignored : why);
	fds[kind] = open_elf(file, &dso->build_id, why);
	if (fds[CACHE_DEBUG] < 0)
		find_debug(files, dso, fds);
	str_release(&ignored);
	return fds[kind] >= 0 || fds[CACHE_DEBUG] >= 0;
}

int archive_files_open(struct archive_files *files, size_t i, struct build_cache *cache, int fds[N_CACHE_KINDS],
		       struct str *why)
{
	const struct archive_file *file = &files->v[i];
	const struct dso *dso = file->dso;
	struct str text = STR_INIT;
	bool found = false;

	for (int kind = 0; kind < N_CACHE_KINDS; kind++)
		fds[kind] = -1;
	if (!file->id.size)
		str_add(&text, "the recording does not have its build-id");
	else
		found = find_in_cache(cache, &file->id, fds) || find_here(files, dso, fds, &text);
	/* Whoever has servers asked wants these files, also where the cache has the program alone. */
	if (found && fds[CACHE_DEBUG] < 0 && dso->kind == DSO_FILE && files->session.options.sym.debuginfod)
		find_debug(files, dso, fds);
	if (!found)
		str_add_printable(why, text.s, text.len);
	str_release(&text);
	return found ? 0 : -ENOENT;
}
