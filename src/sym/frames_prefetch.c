/* SPDX-License-Identifier: MIT */
/*
 * frames_prefetch: the DWARF of several files is read side by side, before the first of their frames is asked for.
 *
 *	places, sorted -> a job per file -> threads: open it, look each address up -> the file's tables are there
 *	                                                                              (what is found is thrown away)
 *	source_debug.c asks once more, and finds them
 *
 * So an answer never depends on whether this was done, or how far. What the DWARF of a file is read into belongs to
 * that file alone (struct dwarf_file); the files that it is read from are opened in a set of the job's own, and closed
 * again. All that files share, and what is reported to people, stays with the thread that calls.
 *
 * Left to source_debug.c are files that the recording or the cache has answers of; all of them where a server may be
 * asked for parts; and those that lie, as other parts of their DWARF may, where a file system is mounted that may not
 * answer: the helper process for that is started where there are no other threads.
 */
#include "sym/source_cached.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS_MAX = 8 };

struct prefetch_job {
	struct dso_names *names;
	uint64_t *vaddrs;
	size_t n, cap;
	struct dwarf_opened opened;
};

struct frames_prefetch {
	struct prefetch_job *v;
	size_t n, cap;
	struct sym_options options;
	bool lines;
	atomic_size_t next; /* job to be begun */
};

/* ---- a job: of one file, by any thread ---- */

static void look_up(struct dwarf_file *dwarf, uint64_t vaddr, bool inlines, bool lines)
{
	struct dwarf_inline ignored[INLINES_MAX];

	if (inlines && dwarf_file_inlines(dwarf, vaddr, lines, ignored, INLINES_MAX) > 1)
		return;
	if (lines)
		dwarf_file_line(dwarf, vaddr, &ignored[0].line);
}

static void run_job(const struct frames_prefetch *prefetch, struct prefetch_job *job)
{
	struct elf_files *elf_files = elf_files_new();

	dwarf_opened_find(elf_files, &job->names->files, &prefetch->options, &job->opened);
	for (size_t i = 0; i < job->n && job->opened.dwarf; i++)
		look_up(job->opened.dwarf, job->vaddrs[i], !prefetch->options.no_inlines, prefetch->lines);
	elf_files_free(elf_files);
}

static void *run(void *context)
{
	struct frames_prefetch *prefetch = context;

	for (size_t i; (i = atomic_fetch_add(&prefetch->next, 1)) < prefetch->n;)
		run_job(prefetch, &prefetch->v[i]);
	return NULL;
}

/* ---- what there is to do ---- */

static bool may_wait(const struct dso_files *files)
{
	return foreign_path_may_wait("/") || (files->debug && foreign_path_may_wait(files->debug)) ||
	       (files->runtime && foreign_path_may_wait(files->runtime));
}

static bool has_dwarf_to_read(const struct dso_names *names)
{
	const struct names_table *table = dso_names_table(names);

	return table && table->from_elf && !names->listed && !source_cached_has(names) &&
	       !source_debug_is_tried(names) && names->files_known && !may_wait(&names->files);
}

static void add_place(struct symbols *symbols, struct prefetch_job *job, uint64_t addr, bool lines)
{
	const struct addr_answer *answer = symbols_answer(symbols, job->names, addr);
	uint64_t vaddr;

	if ((!answer->symbol && !lines) || !dso_names_elf_vaddr(job->names, addr, &vaddr))
		return;
	VEC_GROW(job->vaddrs, job->n, job->cap);
	job->vaddrs[job->n++] = vaddr;
}

/* The places of one dso. */
static void add_job(struct frames_prefetch *prefetch, struct symbols *symbols, const struct symbols_place *places,
		    size_t n)
{
	struct prefetch_job job = { .names = symbols_loaded(symbols, places[0].dso) };

	if (!has_dwarf_to_read(job.names))
		return;
	for (size_t i = 0; i < n; i++)
		if (!i || places[i].addr != places[i - 1].addr)
			add_place(symbols, &job, places[i].addr, prefetch->lines);
	if (!job.n)
		return;
	VEC_GROW(prefetch->v, prefetch->n, prefetch->cap);
	prefetch->v[prefetch->n++] = job;
}

static int by_place(const void *a, const void *b)
{
	const struct symbols_place *x = a, *y = b;

	if (x->dso != y->dso)
		return x->dso->index < y->dso->index ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The jobs with the most to look up are begun first, so that none of them is left over for one thread. */
static int by_size(const void *a, const void *b)
{
	const struct prefetch_job *x = a, *y = b;

	return x->n > y->n ? -1 : x->n < y->n;
}

static void add_jobs(struct frames_prefetch *prefetch, struct symbols *symbols, struct symbols_place *places, size_t n)
{
	qsort(places, n, sizeof(*places), by_place);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && places[end].dso == places[i].dso;)
			end++;
		if (places[i].dso->kind == DSO_FILE)
			add_job(prefetch, symbols, places + i, end - i);
	}
	if (prefetch->n)
		qsort(prefetch->v, prefetch->n, sizeof(*prefetch->v), by_size);
}

/* ---- threads ---- */

static size_t cpus_to_use(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (size_t)CPU_COUNT(&set);
}

static void run_all(struct frames_prefetch *prefetch, size_t n_threads)
{
	pthread_t threads[THREADS_MAX];
	size_t n = 0;

	while (n + 1 < n_threads && !thread_start(&threads[n], NULL, run, prefetch))
		n++;
	run(prefetch);
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void end_jobs(struct frames_prefetch *prefetch, struct symbols *symbols)
{
	for (size_t i = 0; i < prefetch->n; i++) {
		struct prefetch_job *job = &prefetch->v[i];

		if (job->opened.tried)
			source_debug_take(symbols, job->names, &job->opened);
		free(job->vaddrs);
	}
	free(prefetch->v);
}

void symbols_ahead(struct symbols *symbols, struct symbols_place *places, size_t n, unsigned want)
{
	struct frames_prefetch prefetch = { .options = symbols->options, .lines = want & SYM_LINES };
	size_t n_threads = cpus_to_use();

	if (n < 2 || n_threads < 2 || symbols->options.debuginfod || (symbols->options.no_inlines && !prefetch.lines))
		return;
	add_jobs(&prefetch, symbols, places, n);
	if (n_threads > prefetch.n)
		n_threads = prefetch.n;
	if (n_threads > THREADS_MAX)
		n_threads = THREADS_MAX;
	if (n_threads > 1 && dwarf_can_be_read()) { /* loaded while there is one thread */
		prefetch.options.progress = NULL;
		symbols_progress(symbols, "reading debug information of", prefetch.v[0].names->dso->name);
		run_all(&prefetch, n_threads);
	}
	end_jobs(&prefetch, symbols);
}
