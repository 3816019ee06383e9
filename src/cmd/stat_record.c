/* SPDX-License-Identifier: MIT */
/*
 * Readings -> STAT records. The bridge between counting, which knows no file, and the file, which knows
 * no counters.
 *
 * Counters that pstat itself counts (duration_time) have no id of the kernel's: they get ids after all
 * others, and are stored as the dummy event that perf uses for them.
 */
#include "cmd/stat_record.h"

#include "record/record.h"

#include <errno.h>
#include <stdlib.h>

/* The numbers of STAT_CONFIG and STAT_ROUND: tools/lib/perf/include/perf/event.h. */
enum { CONFIG_AGGR_MODE, CONFIG_INTERVAL, CONFIG_SCALE, N_CONFIG };
enum { ROUND_INTERVAL, ROUND_FINAL };

/*
 * The numbers of perf 6.1; later versions have moved CORE and what follows. What 6.1 does not have is recorded as
 * a total, which `stat report` adds up otherwise when it is asked to.
 */
static const uint64_t aggr_modes[N_AGGR] = {
	[AGGR_TOTAL] = 1, [AGGR_CPU] = 0,  [AGGR_CORE] = 4,   [AGGR_DIE] = 3,
	[AGGR_SOCKET] = 2, [AGGR_NODE] = 7, [AGGR_THREAD] = 5, [AGGR_CLUSTER] = 1, [AGGR_CACHE] = 1,
};

enum { THREAD_ROW_BYTES = 24, THREAD_COMM_BYTES = 16 };

/* ---- events ---- */

static size_t n_cells(const struct counter *counter)
{
	return counter->state == COUNTER_OPEN ? counter->n_cpus * counter->n_threads : 1;
}

/* The kernel's ids, in their cells. */
static int take_ids(struct stat_record *record, size_t index, struct str *err)
{
	const struct counter *counter = &record->set->v[index];
	uint64_t *ids = NULL;
	size_t n = 0, next = 0;
	int rc;

	record->ids[index] = xcalloc(n_cells(counter) + 1, sizeof(**record->ids));
	if (counter->state != COUNTER_OPEN)
		return 0;
	rc = counter_add_ids(record->set, index, &ids, &n);
	for (size_t cell = 0; cell < n_cells(counter) && !rc; cell++)
		if (counter->fds[cell] >= 0)
			record->ids[index][cell] = ids[next++];
	free(ids);
	return rc ? fail(err, rc, "%s: the kernel does not give its id: %s", counter->event->name,
			 strerror(-rc))
		  : 0;
}

static uint64_t highest_id(const struct stat_record *record)
{
	uint64_t highest = 0;

	for (size_t i = 0; i < record->n_counters; i++)
		for (size_t cell = 0; cell < n_cells(&record->set->v[i]); cell++)
			if (record->ids[i][cell] > highest)
				highest = record->ids[i][cell];
	return highest;
}

static struct perf_event_attr attr_of(const struct stat_record *record, const struct counter *counter)
{
	struct perf_event_attr attr = counter->attr;

	if (counter->state == COUNTER_SOFTWARE) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_DUMMY;
	}
	attr.size = sizeof(attr);
	/* Readers find a record's event by its id. In a pipe perf script wants addresses of whoever has fields. */
	attr.sample_type = strcmp(record->words->recording, "-") ? PERF_SAMPLE_IDENTIFIER : 0;
	attr.sample_period = 0;
	return attr;
}

/* Readers look for a count where the counter is: what pstat counts itself is on the first CPU. */
static int own_cpu(const struct stat_record *record)
{
	return record->target->cpus.n ? record->target->cpus.v[0] : -1;
}

static void describe(const struct stat_record *record, struct data_event *to,
		     const struct counter *counter)
{
	const struct event *event = counter->event;
	const char *name = counter->name ? counter->name : event->name;

	to->name = event->cgroup ? xasprintf("%s %s", name, event->cgroup) : xstrdup(name);
	to->unit = event->unit[0] ? xstrdup(event->unit) : NULL;
	to->scale = event->scale;
	intset_copy(&to->cpus, &event->cpus);
	if (counter->state == COUNTER_SOFTWARE && own_cpu(record) >= 0)
		intset_add(&to->cpus, own_cpu(record));
	to->leader = counter->leader;
	to->n_members = counter->leader == to->index && counter->n_members ? counter->n_members : 1;
	to->group_name = event->group_name ? xstrdup(event->group_name) : NULL;
}

static void add_event(struct stat_record *record, size_t index, uint64_t *next_id)
{
	const struct counter *counter = &record->set->v[index];
	struct perf_event_attr attr = attr_of(record, counter);
	uint64_t *ids = record->ids[index];
	struct data_event *event = events_add(&record->events, &attr, sizeof(attr), NULL, 0);

	if (counter->state == COUNTER_SOFTWARE)
		ids[0] = (*next_id)++;
	for (size_t cell = 0; cell < n_cells(counter); cell++)
		if (ids[cell])
			events_add_ids(&record->events, event, &ids[cell], 1);
	describe(record, event, counter);
}

static void add_groups(struct stat_record *record)
{
	for (size_t i = 0; i < record->events.n; i++)
		if (record->events.v[i]->n_members > 1)
			info_set(&record->info, FEATURE_GROUP_DESC);
}

/* -a --per-thread: nothing else in the file says so, and idle threads are then not shown. */
static bool has_all_threads(const struct target *target)
{
	return target->kind == TARGET_CPUS && target->n_threads && target->threads[0].tid != -1;
}

static int list_events(struct stat_record *record, struct str *err)
{
	uint64_t next_id;
	int rc = 0;

	record->ids = xcalloc(record->set->n + 1, sizeof(*record->ids));
	for (size_t i = 0; i < record->set->n && !rc; i++) {
		record->n_counters = i + 1;
		rc = take_ids(record, i, err);
	}
	if (rc)
		return rc;
	next_id = highest_id(record) + 1;
	for (size_t i = 0; i < record->set->n; i++)
		add_event(record, i, &next_id);
	host_info_collect(&record->info, &record->words->what.events, record->argc, record->argv,
			  record->words->what.kern);
	info_clear(&record->info, FEATURE_GROUP_DESC);
	add_groups(record);
	info_set(&record->info, FEATURE_STAT);
	if (has_all_threads(record->target)) {
		record->info.stat_target = STAT_TARGET_ALL_THREADS;
		info_set(&record->info, FEATURE_STAT_TARGET);
	}
	return 0;
}

/* ---- what is measured ---- */

/* CPUs as a list of 16-bit numbers, -1 for any CPU: the one form that all readers know. */
static int add_cpus(struct stat_record *record, struct record_body *body,
		    struct record_cpus *cpus, const struct intset *set, struct str *err)
{
	size_t n = set->n ? set->n : 1;
	int16_t *list = xcalloc(n, sizeof(*list));
	int rc;

	list[0] = -1;
	for (size_t i = 0; i < set->n; i++)
		list[i] = (int16_t)set->v[i];
	*cpus = (struct record_cpus){
		.kind = CPU_MAP_LIST, .n = (uint16_t)n, .data = (const uint8_t *)list,
	};
	rc = writer_add_body(&record->writer, body, NULL, err);
	free(list);
	return rc;
}

/* Names go into a pipe as records: perf's stat report ignores its features, and would show numbers of events. */
static int add_names(struct stat_record *record, struct str *err)
{
	int rc = 0;

	for (size_t i = 0; i < record->events.n && !rc; i++) {
		const struct data_event *event = record->events.v[i];
		struct record_body body = { .type = RECORD_EVENT_UPDATE };

		if (!event->n_ids)
			continue;
		body.update.kind = EVENT_UPDATE_NAME;
		body.update.id = event->ids[0];
		body.update.text = event->name;
		rc = writer_add_body(&record->writer, &body, NULL, err);
	}
	return rc;
}

/* Events that are counted on CPUs of their own. */
static int add_own_cpus(struct stat_record *record, struct str *err)
{
	int rc = 0;

	for (size_t i = 0; i < record->events.n && !rc; i++) {
		const struct data_event *event = record->events.v[i];
		struct record_body body = { .type = RECORD_EVENT_UPDATE };

		if (!event->cpus.n || !event->n_ids)
			continue;
		body.update.kind = EVENT_UPDATE_CPUS;
		body.update.id = event->ids[0];
		rc = add_cpus(record, &body, &body.update.cpus, &event->cpus, err);
	}
	return rc;
}

static int add_cpu_map(struct stat_record *record, struct str *err)
{
	struct record_body body = { .type = RECORD_CPU_MAP };

	return add_cpus(record, &body, &body.cpus, &record->target->cpus, err);
}

/*
 * Threads, in as many records as they need: one has room for some 2,700. perf's readers take the first record only,
 * and end at a count of a thread that is not in it. perf's recorder writes one, whose size does not fit its field.
 */
static int add_thread_map(struct stat_record *record, struct str *err)
{
	enum { ROWS_MAX = (UINT16_MAX - 64) / THREAD_ROW_BYTES };
	const struct target *target = record->target;
	uint8_t *rows = xcalloc(ROWS_MAX, THREAD_ROW_BYTES);
	size_t next = 0;
	int rc;

	do {
		struct record_body body = { .type = RECORD_THREAD_MAP };
		uint8_t *row = rows;

		for (; next < target->n_threads && body.threads.n < ROWS_MAX; next++, body.threads.n++) {
			uint64_t tid = (uint64_t)(int64_t)target->threads[next].tid;

			memcpy(row, &tid, sizeof(tid));
			memcpy(row + sizeof(tid), target->threads[next].comm, THREAD_COMM_BYTES);
			row += THREAD_ROW_BYTES;
		}
		body.threads.data = rows;
		rc = writer_add_body(&record->writer, &body, NULL, err);
	} while (!rc && next < target->n_threads);
	free(rows);
	return rc;
}

static int add_config(struct stat_record *record, struct str *err)
{
	struct record_body body = { .type = RECORD_STAT_CONFIG };
	const struct stat_words *words = record->words;
	const uint64_t rows[] = {
		CONFIG_AGGR_MODE, aggr_modes[words->plan.aggr],
		CONFIG_INTERVAL,  (uint64_t)words->plan.interval_ms,
		CONFIG_SCALE,     words->plan.scale,
	};

	body.stat_config = (struct record_words){ N_CONFIG, rows };
	return writer_add_body(&record->writer, &body, NULL, err);
}

static int begin(void *data, const struct counter_set *set, const struct target *target,
		 struct str *err)
{
	struct stat_record *record = data;
	struct writer_options options = { .path = record->words->recording };
	int rc;

	record->set = set;
	record->target = target;
	rc = list_events(record, err);
	if (rc)
		return rc;
	rc = writer_open(&record->writer, &options, &record->events, &record->info, err);
	record->opened = true;
	record->failed = rc;
	if (!rc && record->writer.pipe)
		rc = add_names(record, err);
	if (!rc)
		rc = add_own_cpus(record, err);
	if (!rc)
		rc = add_thread_map(record, err);
	if (!rc)
		rc = add_cpu_map(record, err);
	if (!rc)
		rc = add_config(record, err);
	return rc ? rc : writer_flush(&record->writer, err);
}

/* ---- readings ---- */

static size_t column_of(const struct counter *counter, int cpu)
{
	size_t column = intset_index(&counter->cpus, cpu);

	return column == SIZE_MAX ? 0 : column;
}

/* A counter that cannot be read (any more) has no record: what was read before stands. */
static void take_reading(void *data, size_t index, int cpu, size_t thread,
			 const struct reading *reading)
{
	struct stat_record *record = data;
	const struct counter *counter = &record->set->v[index];
	struct record_body body = { .type = RECORD_STAT };
	size_t cell;

	if (reading->state != READING_OK || record->failed)
		return;
	cell = counter->state == COUNTER_OPEN ?
		       column_of(counter, cpu) * counter->n_threads + thread : 0;
	body.stat.id = record->ids[index][cell];
	body.stat.cpu = (uint32_t)(counter->state == COUNTER_SOFTWARE ? own_cpu(record) : cpu);
	body.stat.thread = (uint32_t)thread;
	body.stat.value = reading->value;
	body.stat.enabled_ns = reading->enabled_ns;
	body.stat.running_ns = reading->running_ns;
	record->failed = writer_add_body(&record->writer, &body, NULL, &record->err);
}

/* The last read of -I is not an interval and gets no mark: perf's readers would print it as one. */
static int end_round(void *data, enum stat_report_kind kind, uint64_t since_start_ns,
		     struct str *err)
{
	struct stat_record *record = data;
	struct record_body body = { .type = RECORD_STAT_ROUND };
	bool reported = record->failed && !record->err.len;

	if (reported)
		return record->failed;
	body.stat_round.kind = kind == REPORT_INTERVAL ? ROUND_INTERVAL : ROUND_FINAL;
	body.stat_round.time_ns = since_start_ns;
	if (!record->failed && (kind == REPORT_INTERVAL || !record->words->plan.interval_ms))
		record->failed = writer_add_body(&record->writer, &body, NULL, &record->err);
	if (!record->failed)
		record->failed = writer_flush(&record->writer, &record->err);
	str_addn(err, record->err.s, record->err.len);
	str_reset(&record->err);
	return record->failed;
}

struct stat_tap stat_record_tap(struct stat_record *record)
{
	return (struct stat_tap){
		.data = record, .begin = begin, .reading = take_reading, .round = end_round,
	};
}

/* ---- the whole ---- */

void stat_record_init(struct stat_record *record, const struct stat_words *words, int argc,
		      char *const *argv)
{
	*record = (struct stat_record){
		.words = words, .argc = argc, .argv = argv, .err = STR_INIT,
	};
	events_init(&record->events);
	info_init(&record->info);
}

int stat_record_end(struct stat_record *record, struct str *err)
{
	int rc = 0;

	if (record->opened) {
		struct str ignored = STR_INIT; /* an earlier failure was reported */
		bool failed = record->failed || record->writer.failed;

		if (record->writer.fd >= 0)
			rc = writer_finish(&record->writer, &record->events, &record->info,
					   failed ? &ignored : err);
		writer_close(&record->writer);
		str_release(&ignored);
	}
	for (size_t i = 0; i < record->n_counters; i++)
		free(record->ids[i]);
	free(record->ids);
	events_release(&record->events);
	info_release(&record->info);
	str_release(&record->err);
	return rc;
}
