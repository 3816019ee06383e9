/*
 * firefox_thread.c: one thread of a profile of the Firefox profiler: what it is called, its samples and its markers,
 * and the tables that these point into (firefox_tables.c). A row of the pile is read once to know what is needed,
 * and then once for each column.
 */
#include "export/firefox_internal.h"

/* ---- samples ---- */

/* A column of a row of the pile. */
static int add_row_column(struct firefox *f, const char *name, const struct pile_row *row,
			  void (*add)(struct firefox *f, struct str *out, const struct pile_record *record),
			  struct str *err)
{
	struct str *out = &f->out.text;
	struct pile_reader reader;
	struct pile_record record;
	bool any = false;
	int code;

	str_addf(out, ",\"%s\":[", name);
	pile_read(&reader, &f->pile, row);
	while ((code = pile_next(&reader, &record, err)) > 0 && !text_out_step(&f->out)) {
		if (any)
			str_addc(out, ',');
		any = true;
		add(f, out, &record);
	}
	str_addc(out, ']');
	return code < 0 ? code : 0;
}

static void add_stack(struct firefox *f, struct str *out, const struct pile_record *record)
{
	firefox_add_node(f, out, (uint32_t)record->word);
}

static void add_time(struct firefox *f, struct str *out, const struct pile_record *record)
{
	firefox_add_ms(f, out, record->time);
}

static int add_samples(struct firefox *f, const struct pile_row *row, struct str *err)
{
	int code;

	firefox_begin_table(f, "samples", row->n_records);
	str_add(&f->out.text, ",\"weight\":null,\"weightType\":\"samples\"");
	code = add_row_column(f, "stack", row, add_stack, err);
	if (!code)
		code = add_row_column(f, "time", row, add_time, err);
	firefox_end_table(f);
	return code;
}

/* ---- markers ---- */

static enum firefox_marker kind_of(const struct pile_record *record)
{
	return record->word & ((1 << MARKER_KIND_BITS) - 1);
}

/* The event of a tracepoint's text is its first line. */
static size_t event_bytes(const struct pile_record *record)
{
	const char *end = memchr(record->text, '\n', record->text_bytes);

	return end ? (size_t)(end - record->text) : record->text_bytes;
}

static void add_marker_name(struct firefox *f, struct str *out, const struct pile_record *record)
{
	if (kind_of(record) == MARKER_TRACEPOINT)
		str_add_u64(out, firefox_text(f, record->text, event_bytes(record)));
	else
		str_add_u64(out, firefox_text(f, "off CPU", 7));
}

static void add_marker_end(struct firefox *f, struct str *out, const struct pile_record *record)
{
	if (kind_of(record) == MARKER_TRACEPOINT)
		str_add(out, "null");
	else
		firefox_add_ms(f, out, record->time + (record->word >> MARKER_KIND_BITS));
}

/* 0: at a moment; 1: from a start to an end. */
static void add_marker_phase(struct firefox *f, struct str *out, const struct pile_record *record)
{
	(void)f;
	str_addc(out, kind_of(record) == MARKER_TRACEPOINT ? '0' : '1');
}

static void add_marker_category(struct firefox *f, struct str *out, const struct pile_record *record)
{
	(void)f, (void)record;
	str_addc(out, '0');
}

static void add_marker_data(struct firefox *f, struct str *out, const struct pile_record *record)
{
	uint32_t stack = (uint32_t)(record->word >> MARKER_KIND_BITS);
	size_t n = event_bytes(record);

	if (kind_of(record) != MARKER_TRACEPOINT) {
		str_addf(out, "{\"type\":\"off-cpu\",\"why\":\"%s\"}",
			 kind_of(record) == MARKER_PREEMPTED ? "preempted" : "waits");
		return;
	}
	str_reset(&f->scratch);
	if (n < record->text_bytes)
		str_addn(&f->scratch, record->text + n + 1, record->text_bytes - n - 1);
	str_add(out, "{\"type\":\"tracepoint\",\"fields\":");
	str_add_json(out, f->scratch.s);
	if (stack) {
		str_add(out, ",\"cause\":{\"time\":");
		firefox_add_ms(f, out, record->time);
		str_add(out, ",\"stack\":");
		firefox_add_node(f, out, stack);
		str_addc(out, '}');
	}
	str_addc(out, '}');
}

static int add_markers(struct firefox *f, const struct pile_row *row, struct str *err)
{
	static const struct {
		const char *name;
		void (*add)(struct firefox *f, struct str *out, const struct pile_record *record);
	} columns[] = {
		{ "name", add_marker_name },   { "startTime", add_time },	    { "endTime", add_marker_end },
		{ "phase", add_marker_phase }, { "category", add_marker_category }, { "data", add_marker_data },
	};
	int code = 0;

	firefox_begin_table(f, "markers", row->n_records);
	for (size_t i = 0; i < ARRAY_SIZE(columns) && !code; i++)
		code = add_row_column(f, columns[i].name, row, columns[i].add, err);
	firefox_end_table(f);
	return code;
}

/* ---- the thread ---- */

static const char *comm_of(const struct firefox *f, uint32_t comm)
{
	return comm < session_n_comms(&f->export->session) ? session_comm(&f->export->session, comm) : "";
}

static void add_names(struct firefox *f, const struct firefox_thread *thread)
{
	struct str *out = &f->out.text, event = STR_INIT;
	const char *comm = comm_of(f, thread->comm);

	str_reset(&f->scratch);
	str_add_printable(&f->scratch, comm, strlen(comm));
	if (!thread->first_of_thread) {
		data_event_add_name(thread->event, &event);
		str_addf(&f->scratch, " (%s)", event.s);
	}
	str_add(out, "{\"name\":");
	str_add_json(out, f->scratch.s);
	/* Numbers of tracks differ. */
	str_addf(out, ",\"isMainThread\":%s,\"pid\":\"%d\",\"tid\":",
		 thread->pid == thread->tid && thread->first_of_thread ? "true" : "false", thread->pid);
	str_reset(&f->scratch);
	str_addf(&f->scratch, "%d%s%s", thread->tid, event.len ? " " : "", event.s);
	str_add_json(out, f->scratch.s);
	str_release(&event);
}

int firefox_add_thread(struct firefox *f, const struct firefox_thread *thread, struct str *err)
{
	struct firefox_sizes sizes = { 0 };
	int code = firefox_use_all(f, thread, &sizes, err);

	add_names(f, thread);
	str_add(&f->out.text, ",\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
			      "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[]");
	if (!code)
		code = add_samples(f, &thread->samples, err);
	if (!code)
		code = add_markers(f, &thread->markers, err);
	if (!code)
		firefox_add_tables(f, &sizes);
	str_addc(&f->out.text, '}');
	text_out_step(&f->out);
	return code;
}
