/* SPDX-License-Identifier: MIT */
/*
 * unwind_workers.c: see unwind_workers.h. The lock is held for a few instructions per batch; nothing is shared while a
 * chain is made but maps, which are snapshots.
 */
#include "record/unwind_workers.h"

#include "elf/elf.h"
#include "sym/sym.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	BATCH = 32, /* jobs that a worker takes at once */
	/*
	 * Little work that must not wait: on a busy machine the buffers would fill meanwhile. Below that of the threads
	 * that empty the rings.
	 */
	WORKER_PRIORITY = -10,
	FRAMES_MAX = 8000, /* a record has room for few more */
	READ_AGAIN = 4, /* so often, of files that are being written to */
	DUMP_WORK = 16 << 20, /* of each dump of code made at run time; some 100,000 functions */
	DUMP_WORK_ALL = 128 << 20,
	DUMP_IDLE_SAMPLES = 4096, /* after so many without any in its code, a dump makes room for others */
};

struct asked_file {
	uint32_t dso;
	struct timespec written; /* before it was asked for */
};
/* The dump of its code that a process's run-time compiler writes. */
struct worker_dump {
	struct jitdump *dump; /* NULL: there is none */
	uint32_t file; /* of unwind_files_jit_dump */
	uint64_t looked_at; /* the sample that it was read on for */
	uint64_t work; /* that it has cost */
};
struct unwind_worker {
	struct unwind_workers *workers;
	pthread_t thread;
	bool started;
	struct unwind unwind;
	bool can_unwind;
	struct elf_files *elf;
	struct decoder decoder;
	struct unwound_room room;
	struct names_cache *cache; /* NULL: it is not used */
	uint64_t *ips; /* FRAMES_MAX */
	unsigned late; /* of unwind_files_late, that were seen */
	unsigned era; /* see unwind_files_era */
	uint64_t time_ns; /* of the sample at hand */
	struct asked_file *asked; /* for it, the first time */
	size_t n_asked, cap_asked;
	struct worker_dump *dumps; /* by dso.index of the process's code */
	size_t n_dumps, cap_dumps;
	uint64_t dump_work_left; /* of all dumps */
	uint64_t n_samples;
};

struct unwind_workers {
	struct unwind_workers_options options;
	struct unwind_worker *v;
	pthread_mutex_t lock;
	pthread_cond_t work, finished;
	struct unwind_job *first, *last; /* the queue */
	size_t n_queued, n_idle;
	struct unwind_job *done, *done_last;
	bool stops, is_waited_for;
	struct unwind_workers_counts counts;
};

/* ---- files ---- */

/* path: NULL is nothing. */
static struct elf_file *file_at(struct unwind_worker *worker, const char *path)
{
	struct elf_file *file = NULL;
	struct str why = STR_INIT;

	if (path && !elf_files_open(worker->elf, path, &file, &why))
		elf_file_let_go(file);
	else
		file = NULL;
	str_release(&why);
	return file;
}

static struct elf_file *file_of(void *context, const struct dso *dso)
{
	struct unwind_worker *worker = context;
	struct unwind_files *files = worker->workers->options.files;
	struct timespec written = { 0 };
	const char *path = unwind_files_path(files, dso->index, worker->time_ns, &written);

	if (path) {
		VEC_GROW(worker->asked, worker->n_asked, worker->cap_asked);
		worker->asked[worker->n_asked++] = (struct asked_file){ dso->index, written };
	}
	return file_at(worker, path);
}

/* A file is asked for once, and its tables are read then. */
static bool was_written_meanwhile(struct unwind_worker *worker)
{
	bool changed = false;

	for (size_t i = 0; i < worker->n_asked; i++)
		changed |= unwind_files_changed(worker->workers->options.files, worker->asked[i].dso,
						&worker->asked[i].written);
	worker->n_asked = 0;
	return changed;
}

/* Asked for code that is in no table of the file's own. */
static struct elf_file *debug_file_of(void *context, const struct dso *dso)
{
	struct unwind_worker *worker = context;
	struct elf_file *file = file_of(worker, dso);
	const char *path = NULL;
	struct str why = STR_INIT;

	if (file && !elf_file_hold(file, &why)) {
		path = unwind_files_debug_path(worker->workers->options.files, dso->index, file);
		elf_file_let_go(file);
	}
	str_release(&why);
	return file_at(worker, path);
}

/* ---- code made at run time ---- */

static void drop_dump(struct unwind_worker *worker, struct worker_dump *dump)
{
	jitdump_free(dump->dump);
	worker->dump_work_left += dump->work;
	*dump = (struct worker_dump){ .looked_at = dump->looked_at };
}

/* Dumps of processes that end are not heard of: those that nobody looks at go. They would be read again. */
static void make_room_for_dump(struct unwind_worker *worker)
{
	for (size_t i = 0; i < worker->n_dumps && worker->dump_work_left < DUMP_WORK; i++)
		if (worker->n_samples - worker->dumps[i].looked_at > DUMP_IDLE_SAMPLES)
			drop_dump(worker, &worker->dumps[i]);
}

/* Reads on what the compiler has written, once for each sample. NULL: there is no dump. */
static struct jitdump *dump_of(struct unwind_worker *worker, const struct dso *dso)
{
	struct worker_dump *dump;
	const char *path;
	uint32_t file;

	while (worker->n_dumps <= dso->index) {
		VEC_GROW(worker->dumps, worker->n_dumps, worker->cap_dumps);
		worker->dumps[worker->n_dumps++] = (struct worker_dump){ .dump = NULL };
	}
	dump = &worker->dumps[dso->index];
	if (dump->looked_at == worker->n_samples)
		return dump->dump;
	dump->looked_at = worker->n_samples;
	path = unwind_files_jit_dump(worker->workers->options.files, dso->pid, &file);
	if (path && (!dump->dump || dump->file != file)) {
		drop_dump(worker, dump);
		make_room_for_dump(worker);
		dump->dump = jitdump_follow(path, DUMP_WORK);
		dump->file = file;
	}
	if (dump->dump && worker->dump_work_left >= DUMP_WORK) {
		uint64_t work = jitdump_update(dump->dump);

		dump->work += work;
		worker->dump_work_left -= work;
	}
	return dump->dump;
}

enum { FILE_SHIFT = 32 }; /* the numbers of one dump's pieces are 32 bits; those of two must differ */

static bool made_find(void *context, const struct dso *dso, uint64_t addr, struct code_piece *piece)
{
	struct unwind_worker *worker = context;
	const struct jitdump *dump = dump_of(worker, dso);

	if (!dump || !jitdump_piece(dump, addr, piece))
		return false;
	piece->number |= (uint64_t)worker->dumps[dso->index].file << FILE_SHIFT;
	return true;
}

static bool made_table(void *context, const struct dso *dso, const struct code_piece *piece, struct str *eh_frame)
{
	struct unwind_worker *worker = context;

	return jitdump_unwind(dump_of(worker, dso), (uint32_t)piece->number, eh_frame);
}

static const struct unwind_made made = { made_find, made_table };

/* ---- its unwinder ---- */

static bool kept_read(void *context, const struct build_id *id, const struct str *key, struct str *bytes)
{
	struct unwind_worker *worker = context;

	return names_cache_read(worker->cache, id, key, bytes);
}

static void kept_write(void *context, const struct build_id *id, const struct str *key, const struct str *bytes)
{
	struct unwind_worker *worker = context;

	names_cache_write(worker->cache, id, key, bytes);
}

static const struct unwind_keeper keeper = { kept_read, kept_write };

static void open_unwinder(struct unwind_worker *worker)
{
	const struct unwind_options options = { .file_of = file_of, .debug_file_of = debug_file_of,
						.file_context = worker,
						.keeper = worker->workers->options.no_cache ? NULL : &keeper,
						.made = &made };
	struct str why = STR_INIT;

	worker->elf = elf_files_new();
	worker->can_unwind = !unwind_open(&worker->unwind, worker->workers->options.arch, &options, &why);
	str_release(&why);
}

static void close_unwinder(struct unwind_worker *worker)
{
	unwind_close(&worker->unwind);
	elf_files_free(worker->elf);
}

/* A file has become another one. */
static void read_anew(struct unwind_worker *worker)
{
	close_unwinder(worker);
	open_unwinder(worker);
}

/* ---- one sample ---- */

static size_t frames_wanted(const struct data_event *event)
{
	size_t asked = event->attr.sample_max_stack;

	return asked && asked < FRAMES_MAX ? asked : FRAMES_MAX;
}

static void make_chain(struct unwind_worker *worker, const struct unwind_job *job, const struct record_body *body,
		       struct unwound_chain *chain)
{
	struct unwind_input input = unwound_input(&body->sample);
	const struct unwind *unwind = &worker->unwind;

	*chain = (struct unwound_chain){ .ips = worker->ips, .exact = worker->unwind.exact, .end = CHAIN_NO_INFO };
	if (!worker->can_unwind)
		return;
	input.address_space = job->space ? &job->space->address_space : NULL;
	input.knows_code = job->space && job->knows_code;
	chain->n = unwind_frames(&worker->unwind, &input, worker->ips, frames_wanted(body->event));
	for (int i = 0; i < READ_AGAIN && was_written_meanwhile(worker); i++) {
		read_anew(worker);
		if (worker->can_unwind)
			chain->n = unwind_frames(&worker->unwind, &input, worker->ips, frames_wanted(body->event));
	}
	chain->end = (enum chain_end)unwind->end;
	chain->guessed = unwind->guessed;
	if (unwind->end == UNWIND_COMPLETE && unwind->guessed)
		chain->end = CHAIN_GUESSED;
}

static void unwind_one(struct unwind_worker *worker, struct unwind_job *job, struct unwind_workers_counts *counts)
{
	const struct events *written = worker->workers->options.written;
	struct str why = STR_INIT;
	struct unwound_chain chain;
	struct record_body body;
	struct record record;

	record_from_bytes(&record, (const uint8_t *)job->record.s, 0, false);
	str_reset(&job->out);
	if (!record_decode(&worker->decoder, &record, &body, &why) && body.event) {
		make_chain(worker, job, &body, &chain);
		if (!unwound_sample(&body, record.size, written->v[body.event->index], &chain, &worker->room,
				    &job->out, &why)) {
			counts->chains[chain.end]++;
			counts->guessed += chain.guessed;
		}
	}
	str_release(&why);
	if (worker->workers->options.slow_us)
		usleep(worker->workers->options.slow_us);
}

/* ---- a job ---- */

static void work_on(struct unwind_worker *worker, struct unwind_job *job, struct unwind_workers_counts *counts)
{
	struct unwind_files *files = worker->workers->options.files;
	unsigned late = unwind_files_late(files), era = unwind_files_era(files, job->time_ns);

	if (era != worker->era && !job->look_only) {
		worker->era = era;
		read_anew(worker);
	}
	if (late != worker->late) {
		worker->late = late;
		unwind_try_again(&worker->unwind);
	}
	worker->time_ns = job->time_ns;
	worker->n_samples++;
	if (job->look_only)
		(void)unwind_files_path(files, job->dso, 0, NULL);
	else
		unwind_one(worker, job, counts);
	address_space_snapshot_unref(job->space);
	job->space = NULL;
}

/* ---- the threads ---- */

/* Under the lock: up to BATCH jobs. NULL: the end. */
static struct unwind_job *take_batch(struct unwind_workers *workers)
{
	struct unwind_job *first, *last;
	size_t n = 1;

	while (!workers->first && !workers->stops) {
		workers->n_idle++;
		pthread_cond_wait(&workers->work, &workers->lock);
		workers->n_idle--;
	}
	first = last = workers->stops ? NULL : workers->first;
	if (!first)
		return NULL;
	while (n < BATCH && last->next) {
		last = last->next;
		n++;
	}
	workers->first = last->next;
	workers->n_queued -= n;
	last->next = NULL;
	if (workers->n_queued && workers->n_idle)
		pthread_cond_signal(&workers->work);
	return first;
}

/* Under the lock. */
static void hand_back(struct unwind_workers *workers, struct unwind_job *first, struct unwind_job *last,
		      const struct unwind_workers_counts *counts)
{
	if (workers->done)
		workers->done_last->next = first;
	else
		workers->done = first;
	workers->done_last = last;
	for (size_t i = 0; i < ARRAY_SIZE(counts->chains); i++)
		workers->counts.chains[i] += counts->chains[i];
	workers->counts.guessed += counts->guessed;
	if (workers->is_waited_for)
		pthread_cond_signal(&workers->finished);
}

static void *worker_main(void *data)
{
	struct unwind_worker *worker = data;
	struct unwind_workers *workers = worker->workers;
	struct unwind_job *first, *last = NULL;

	/* Sets the priority of this thread alone (setpriority(2), NOTES). A thread that may not waits its turn. */
	(void)!setpriority(PRIO_PROCESS, 0, WORKER_PRIORITY);
	pthread_mutex_lock(&workers->lock);
	while ((first = take_batch(workers)) != NULL) {
		struct unwind_workers_counts counts = { .guessed = 0 };

		pthread_mutex_unlock(&workers->lock);
		for (struct unwind_job *job = first; job; job = job->next) {
			work_on(worker, job, &counts);
			last = job;
		}
		pthread_mutex_lock(&workers->lock);
		hand_back(workers, first, last, &counts);
	}
	pthread_mutex_unlock(&workers->lock);
	return NULL;
}

/* ---- from outside ---- */

void unwind_workers_give(struct unwind_workers *workers, struct unwind_job *first, struct unwind_job *last, size_t n)
{
	pthread_mutex_lock(&workers->lock);
	last->next = NULL;
	if (workers->first)
		workers->last->next = first;
	else
		workers->first = first;
	workers->last = last;
	workers->n_queued += n;
	if (workers->n_idle)
		pthread_cond_signal(&workers->work);
	pthread_mutex_unlock(&workers->lock);
}

struct unwind_job *unwind_workers_take_done(struct unwind_workers *workers, bool wait)
{
	struct unwind_job *done;

	pthread_mutex_lock(&workers->lock);
	workers->is_waited_for = wait;
	while (wait && !workers->done)
		pthread_cond_wait(&workers->finished, &workers->lock);
	workers->is_waited_for = false;
	done = workers->done;
	workers->done = workers->done_last = NULL;
	pthread_mutex_unlock(&workers->lock);
	return done;
}

void unwind_workers_count(struct unwind_workers *workers, struct unwind_workers_counts *counts)
{
	pthread_mutex_lock(&workers->lock);
	*counts = workers->counts;
	pthread_mutex_unlock(&workers->lock);
}

static int start(struct unwind_workers *workers, struct unwind_worker *worker, struct str *err)
{
	int code;

	worker->workers = workers;
	worker->cache = workers->options.no_cache ? NULL : names_cache_new();
	decoder_init(&worker->decoder, workers->options.recorded, false);
	worker->ips = xcalloc(FRAMES_MAX, sizeof(*worker->ips));
	worker->dump_work_left = DUMP_WORK_ALL;
	open_unwinder(worker);
	code = pthread_create(&worker->thread, NULL, worker_main, worker);
	if (code)
		return fail(err, -code, "cannot start a thread: %s", strerror(code));
	worker->started = true;
	return 0;
}

struct unwind_workers *unwind_workers_new(const struct unwind_workers_options *options, struct str *err)
{
	struct unwind_workers *workers = xcalloc(1, sizeof(*workers));
	int rc = 0;

	workers->options = *options;
	workers->v = xcalloc(options->n, sizeof(*workers->v));
	pthread_mutex_init(&workers->lock, NULL);
	pthread_cond_init(&workers->work, NULL);
	pthread_cond_init(&workers->finished, NULL);
	for (size_t i = 0; !rc && i < options->n; i++)
		rc = start(workers, &workers->v[i], err);
	if (!rc)
		return workers;
	unwind_workers_free(workers);
	return NULL;
}

static void free_worker(struct unwind_worker *worker)
{
	if (worker->started)
		pthread_join(worker->thread, NULL);
	close_unwinder(worker);
	for (size_t i = 0; i < worker->n_dumps; i++)
		jitdump_free(worker->dumps[i].dump);
	free(worker->dumps);
	names_cache_free(worker->cache);
	decoder_release(&worker->decoder);
	unwound_room_release(&worker->room);
	free(worker->ips);
	free(worker->asked);
}

void unwind_workers_free(struct unwind_workers *workers)
{
	if (!workers)
		return;
	pthread_mutex_lock(&workers->lock);
	workers->stops = true;
	pthread_cond_broadcast(&workers->work);
	pthread_mutex_unlock(&workers->lock);
	for (size_t i = 0; i < workers->options.n; i++)
		free_worker(&workers->v[i]);
	pthread_mutex_destroy(&workers->lock);
	pthread_cond_destroy(&workers->work);
	pthread_cond_destroy(&workers->finished);
	free(workers->v);
	free(workers);
}
