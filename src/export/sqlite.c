/* SPDX-License-Identifier: MIT */
/*
 * sqlite.c: a database of a recording: each sample a row, in the order of time, with numbers of what is there once:
 *
 *	samples --> events, threads, comms (the thread's name at the time), stacks
 *	stacks: a tree, each node a frame and its parent (the caller) --> frames --> maps (files with code)
 *	counts: what `record -s` counted in each thread;  meta: the recording
 *
 * Tables and views are in sqlite.sql. Samples are written while the recording is read, all else at its end. The file is
 * made beside its name, and gets that name when it is whole.
 */
#include "export/db.h"
#include "export/export_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char sqlite_sql[];

enum { DATABASE_VERSION = 1, SAMPLE_COLUMNS = 8, ASK_EVERY = 1024 };

struct database_thread {
	int32_t pid, tid;
	uint32_t serial, comm;
};
struct event_sums {
	uint64_t n_samples, period;
};
struct database {
	struct export *export; /* first: export_progress */
	struct db *db;
	struct db_insert *samples;
	struct database_thread *threads;
	size_t n_threads, cap_threads, last_thread;
	struct index thread_ix;
	struct event_sums *events; /* by index */
	size_t n_events;
	uint64_t *nodes; /* by stack: the row of the outermost frame of its location */
	size_t n_nodes, cap_nodes;
	uint64_t next_node;
	struct thread_counts counts;
	struct str scratch;
	int failed; /* of the database */
	uint64_t n_rows;
};

static int ask(const struct export *export, struct str *err)
{
	if (!interrupt_came(export->interrupt))
		return 0;
	str_reset(err);
	return fail(err, -ECANCELED, "interrupted: no database was made");
}

/* A row that is complete; now and then it is asked whether there are to be more. */
static int put_row(struct database *d, struct db_insert *row, struct str *err)
{
	int code = ++d->n_rows % ASK_EVERY ? 0 : ask(d->export, err);

	return code ? code : db_row(row, err);
}

/* ---- samples ---- */

static size_t thread_of(struct database *d, const struct thread *thread)
{
	uint64_t hash = hash_word(thread->serial);
	uint32_t i;

	if (d->n_threads && d->threads[d->last_thread].serial == thread->serial) {
		i = (uint32_t)d->last_thread;
	} else if (!INDEX_FIND(&d->thread_ix, hash, i, d->threads[i].serial == thread->serial)) {
		i = (uint32_t)d->n_threads;
		VEC_GROW(d->threads, d->n_threads, d->cap_threads);
		index_add(&d->thread_ix, hash, i);
		d->threads[d->n_threads++] =
			(struct database_thread){ .pid = thread->pid, .tid = thread->tid, .serial = thread->serial };
	}
	d->threads[i].comm = thread->comm;
	d->last_thread = i;
	return i;
}

static const struct frame_list *frames_of(struct database *d, uint32_t stack)
{
	return location_frames(&d->export->session, d->export->session.stacks->v[stack].location, SYM_LINES);
}

/* The row of a stack's innermost frame: rows are given out in the order of stacks, callers first. */
static int64_t node_of(struct database *d, uint32_t stack)
{
	while (d->n_nodes <= stack) {
		VEC_GROW(d->nodes, d->n_nodes, d->cap_nodes);
		d->nodes[d->n_nodes] = d->next_node;
		d->next_node += d->n_nodes ? frames_of(d, (uint32_t)d->n_nodes)->n : 1;
		d->n_nodes++;
	}
	return (int64_t)(d->nodes[stack] + frames_of(d, stack)->n - 1);
}

static struct event_sums *stats_of(struct database *d, size_t event)
{
	if (event >= d->n_events) {
		d->events = xreallocarray(d->events, event + 1, sizeof(*d->events));
		memset(d->events + d->n_events, 0, (event + 1 - d->n_events) * sizeof(*d->events));
		d->n_events = event + 1;
	}
	return &d->events[event];
}

static int take_sample(void *context, const struct sink_sample *taken, struct str *err)
{
	struct database *d = context;
	const struct replay_sample *sample = taken->sample;
	const struct sample *s = sample->sample;
	struct event_sums *stats = stats_of(d, sample->event->index);
	uint32_t stack = taken->stack;

	stats->n_samples++;
	stats->period += taken->period;
	db_number(d->samples, (int64_t)sample->event->index);
	if (s->has & PERF_SAMPLE_TIME)
		db_number(d->samples, (int64_t)s->time_ns);
	else
		db_null(d->samples);
	db_number(d->samples, (int64_t)taken->period);
	db_number(d->samples, (int64_t)thread_of(d, sample->thread));
	db_number(d->samples, sample->thread->comm);
	if (s->has & PERF_SAMPLE_CPU)
		db_number(d->samples, s->cpu);
	else
		db_null(d->samples);
	if (sample->mode)
		db_number(d->samples, sample->mode != MISC_USER && sample->mode != MISC_GUEST_USER);
	else
		db_null(d->samples);
	if (stack)
		db_number(d->samples, node_of(d, stack));
	d->failed = put_row(d, d->samples, err);
	return d->failed;
}

static int take_other(void *context, const struct record *record, const struct record_body *body,
		      const struct thread *thread, struct str *err)
{
	struct database *d = context;

	(void)thread, (void)err;
	if (record->type == RECORD_READ)
		thread_counts_add(&d->counts, d->export->session.recording->events, body);
	return 0;
}

/* ---- the other tables ---- */

/* Fills the columns of one row; false: there is no such row. */
typedef bool fill_row_fn(struct database *d, struct db_insert *row, size_t i);

static bool fill_event(struct database *d, struct db_insert *row, size_t i)
{
	const struct data_event *event = d->export->session.recording->events->v[i];
	const struct event_sums *stats = stats_of(d, i);

	str_reset(&d->scratch);
	data_event_add_name(event, &d->scratch);
	db_number(row, (int64_t)i);
	db_text(row, d->scratch.s);
	db_text(row, event->unit);
	db_number(row, (int64_t)stats->n_samples);
	db_number(row, (int64_t)stats->period);
	return true;
}

static bool fill_thread(struct database *d, struct db_insert *row, size_t i)
{
	const struct database_thread *thread = &d->threads[i];

	db_number(row, (int64_t)i);
	db_number(row, thread->pid);
	db_number(row, thread->tid);
	db_text(row, session_comm(&d->export->session, thread->comm));
	return true;
}

static bool fill_comm(struct database *d, struct db_insert *row, size_t i)
{
	db_number(row, (int64_t)i);
	db_text(row, session_comm(&d->export->session, (uint32_t)i));
	return true;
}

static bool fill_map(struct database *d, struct db_insert *row, size_t i)
{
	const struct dso *dso = d->export->session.replay.dsos.v[i];

	str_reset(&d->scratch);
	build_id_text(&dso->build_id, &d->scratch);
	db_number(row, (int64_t)i);
	db_text(row, dso->name);
	db_text(row, *dso->path ? dso->path : NULL);
	db_text(row, dso->build_id.size ? d->scratch.s : NULL);
	return true;
}

static bool fill_count(struct database *d, struct db_insert *row, size_t i)
{
	const struct thread_count *count = &d->counts.v[i / d->counts.n_events];
	size_t event = i % d->counts.n_events;

	db_number(row, (int64_t)event);
	db_number(row, count->pid);
	db_number(row, count->tid);
	db_number(row, (int64_t)count->values[event]);
	return true;
}

static int fill_table(struct database *d, const char *table, unsigned n_columns, size_t n, fill_row_fn *fill,
		      struct str *err)
{
	struct db_insert *row;
	int code = db_insert_new(&row, d->db, table, n_columns, err);

	for (size_t i = 0; i < n && !code; i++)
		if (fill(d, row, i))
			code = put_row(d, row, err);
	db_insert_free(row);
	return code;
}

/* ---- stacks and frames ---- */

static void fill_frame(struct database *d, struct db_insert *row, uint32_t number, uint32_t location,
		       const struct frame *frame, bool inlined)
{
	static const char *const kinds[FRAME_KINDS] = { "inlined", "unknown", "kernel", "jit", "user", "waiting" };
	const struct location_row *at = &d->export->session.locations->v[location];
	const struct symbol *symbol = frame->symbol;

	str_reset(&d->scratch);
	if (!symbol)
		export_add_nameless(at, &d->scratch);
	db_number(row, number);
	db_text(row, symbol ? symbol->name : d->scratch.s);
	db_text(row, symbol ? symbol->raw : NULL);
	db_text(row, kinds[location_frame_kind(at, symbol, inlined)]);
	if (at->dso)
		db_number(row, at->dso->index);
	else
		db_null(row);
	str_reset(&d->scratch);
	str_addf(&d->scratch, "0x%llx", (unsigned long long)location_own_addr(at));
	db_text(row, d->scratch.s);
	db_text(row, frame->line.file);
	if (frame->line.line)
		db_number(row, frame->line.line);
}

/* Frames of a location, outermost first: number first + k. */
static int put_frames(struct database *d, uint32_t location, uint32_t first, struct db_insert *row, struct str *err)
{
	const struct frame_list *frames = location_frames(&d->export->session, location, SYM_LINES);
	int code = 0;

	for (size_t k = 0; k < frames->n && !code; k++) {
		size_t at = frames->n - 1 - k;

		fill_frame(d, row, first + (uint32_t)k, location, &frames->v[at], k > 0);
		code = put_row(d, row, err);
	}
	return code;
}

static int put_stack(struct database *d, uint32_t stack, uint32_t first_frame, uint32_t *depths, struct db_insert *row,
		     struct str *err)
{
	const struct stack_node *node = &d->export->session.stacks->v[stack];
	size_t n = frames_of(d, stack)->n;
	int64_t at = node_of(d, stack) - (int64_t)n + 1;
	int code = 0;

	depths[stack] = depths[node->parent] + (uint32_t)n;
	for (size_t k = 0; k < n && !code; k++) {
		db_number(row, at + (int64_t)k);
		if (k)
			db_number(row, at + (int64_t)k - 1);
		else if (node->parent)
			db_number(row, node_of(d, node->parent));
		else
			db_null(row);
		db_number(row, first_frame + (uint32_t)k);
		db_number(row, depths[node->parent] + (int64_t)k + 1);
		code = put_row(d, row, err);
	}
	return code;
}

static int put_stacks(struct database *d, struct str *err)
{
	const struct session *session = &d->export->session;
	uint32_t *first_frame = xcalloc(session->locations->n + 1, sizeof(*first_frame)), next = 1;
	uint32_t *depths = xcalloc(session->stacks->n + 1, sizeof(*depths));
	struct db_insert *frames = NULL, *stacks = NULL;
	int code = db_insert_new(&frames, d->db, "frames", 8, err);

	if (!code)
		code = db_insert_new(&stacks, d->db, "stacks", 4, err);
	for (uint32_t i = 1; i < session->stacks->n && !code; i++) {
		uint32_t location = session->stacks->v[i].location;

		if (!first_frame[location]) {
			first_frame[location] = next;
			next += (uint32_t)frames_of(d, i)->n;
			code = put_frames(d, location, first_frame[location], frames, err);
		}
		if (!code)
			code = put_stack(d, i, first_frame[location], depths, stacks, err);
	}
	db_insert_free(frames);
	db_insert_free(stacks);
	free(first_frame);
	free(depths);
	return code;
}

/* ---- the recording ---- */

static int put_meta_text(struct db_insert *row, const char *key, const char *value, struct str *err)
{
	db_text(row, key);
	db_text(row, value);
	return db_row(row, err);
}

static int put_meta_number(struct db_insert *row, const char *key, uint64_t value, struct str *err)
{
	db_text(row, key);
	db_number(row, (int64_t)value);
	return db_row(row, err);
}

static int put_meta(struct database *d, struct str *err)
{
	const struct session *session = &d->export->session;
	const struct info *info = session->recording->info;
	const struct replay *replay = &session->replay;
	struct str command = STR_INIT;
	struct db_insert *row;
	int code = db_insert_new(&row, d->db, "meta", 2, err);
	const struct {
		const char *key, *value;
	} texts[] = { { "pstat", PSTAT_VERSION },	{ "host", info->hostname }, { "os_release", info->os_release },
		      { "arch", info->arch },		{ "cpu", info->cpu_desc },  { "command", NULL } };
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = { { "schema_version", DATABASE_VERSION },
			{ "lost_samples", replay->counts.lost_samples },
			{ "lost_records", replay->counts.lost_events },
			{ "first_ns", replay->first_ns },
			{ "last_ns", replay->last_ns },
			{ "first_wall_ns", export_wall_ns(session, replay->first_ns) } };

	export_add_command(d->export, &command);
	for (size_t i = 0; i < ARRAY_SIZE(texts) && !code; i++)
		code = put_meta_text(row, texts[i].key,
				     strcmp(texts[i].key, "command") != 0 ? texts[i].value : command.s, err);
	for (size_t i = 0; i < ARRAY_SIZE(numbers) && !code; i++)
		code = put_meta_number(row, numbers[i].key, numbers[i].value, err);
	db_insert_free(row);
	str_release(&command);
	return code;
}

static int put_tables(struct database *d, struct str *err)
{
	const struct session *session = &d->export->session;
	const struct {
		const char *name;
		unsigned n_columns;
		size_t n;
		fill_row_fn *fill;
	} tables[] = {
		{ "events", 5, session->recording->events->n, fill_event },
		{ "threads", 4, d->n_threads, fill_thread },
		{ "comms", 2, session_n_comms(session), fill_comm },
		{ "maps", 4, session->replay.dsos.n, fill_map },
		{ "counts", 4, d->counts.n * d->counts.n_events, fill_count },
	};
	int code = put_stacks(d, err);

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !code; i++)
		code = fill_table(d, tables[i].name, tables[i].n_columns, tables[i].n, tables[i].fill, err);
	if (!code)
		code = put_meta(d, err);
	if (!code)
		code = db_execute(d->db, "CREATE INDEX stacks_parent ON stacks(parent)", err);
	return code ? code : db_commit(d->db, err);
}

/* ---- contract ---- */

/* The database has what could be read, also where reading had to end early. */
static int fill_database(struct database *d, int fd, struct str *err)
{
	const struct sample_sink sink = {
		.context = d,
		.locations_max = SIZE_MAX,
		.wants = export_wants,
		.sample = take_sample,
		.other = take_other,
		.progress = export_progress,
	};
	int code = db_open(&d->db, fd, err), read = 0;

	if (!code)
		code = db_execute(d->db, sqlite_sql, err);
	if (!code)
		code = db_insert_new(&d->samples, d->db, "samples", SAMPLE_COLUMNS, err);
	if (!code) {
		read = export_run(d->export, &sink, err);
		code = d->failed;
	}
	db_insert_free(d->samples);
	if (!code)
		code = put_tables(d, err);
	db_close(d->db);
	return code ? code : read ? EXPORT_READING_ENDED : 0;
}

static void release(struct database *d)
{
	free(d->threads);
	index_release(&d->thread_ix);
	free(d->events);
	free(d->nodes);
	thread_counts_release(&d->counts);
	str_release(&d->scratch);
}

/* The database takes the place of what has the name: that must be a file that holds nothing but bytes. */
static int check_place(const char *path, struct str *err)
{
	struct stat st;

	if (strcmp(path, "-") != 0 && (stat(path, &st) || S_ISREG(st.st_mode)))
		return 0;
	return fail(err, -EINVAL, "a database must be a regular file");
}

/* Gives the file the permissions that it would have if it had been created where it now is. */
static int put_in_place(struct destination *to, struct str *err)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(to->fd, 0666 & ~mask) ? fail(err, -errno, "%s", strerror(errno)) : destination_put(to, true, err);
}

int export_sqlite(struct export *export, const char *path, struct str *err)
{
	struct database d = { .export = export, .scratch = STR_INIT };
	struct destination to;
	int code = db_try(err), placed;

	if (!code)
		code = check_place(path, err);
	if (code)
		return code;
	code = destination_begin(&to, path, err);
	if (!code)
		code = fill_database(&d, to.fd, err);
	release(&d);
	if (code >= 0 && ask(export, err))
		code = -ECANCELED;
	placed = code < 0 ? code : put_in_place(&to, err);
	destination_end(&to);
	return placed ? placed : code;
}

int export_sqlite_try(struct str *err)
{
	return db_try(err);
}
