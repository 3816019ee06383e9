/*
 * pprof.c: a profile.proto, gzip'd, as pprof and what reads its files take it:
 *
 *	sample_type: of each event how many samples (count) and their period (its unit)
 *	sample: a stack, the values of all events, labels; each combination of stack and labels once
 *	mapping, location, function: see pprof_code.c
 *	string_table, and what the recording says of itself
 *
 * Labels: comm (the thread's name at the time), thread (that and its number), pid, tid, cpu. All are texts: a number
 * that is 0 is not there in the format, and CPU 0 and process 0 are.
 *
 * Addresses are offsets in the file for what is mapped from a file: a mapping stands at its own offset, so that two
 * recordings of a program have the same locations. Texts are printable: a name is always UTF-8.
 *
 * Source: github.com/google/pprof, proto/profile.proto.
 */
#include "fmt/pprof_internal.h"
#include "fmt/stack_caption.h"

#include <stdlib.h>

enum { PENDING_BYTES = 64 << 10 };

uint64_t pprof_text(struct pprof *p, const char *text, size_t n)
{
	uint32_t number;

	str_reset(&p->text);
	str_add_printable(&p->text, text, n);
	number = texts_intern(p->texts, p->text.s, p->text.len);
	if (number >= p->n_texts)
		p->n_texts = number + 1;
	return number;
}

static uint64_t text_of(struct pprof *p, const char *text)
{
	return pprof_text(p, text, strlen(text));
}

static void pack(struct pprof *p)
{
	gzip_add(p->gzip, p->pending.s, p->pending.len, &p->output->text);
	str_reset(&p->pending);
	output_step(p->output);
}

void pprof_put(struct pprof *p, unsigned field)
{
	pb_add_bytes(&p->pending, field, p->message.s, p->message.len);
	str_reset(&p->message);
	if (p->pending.len >= PENDING_BYTES)
		pack(p);
}

uint64_t pprof_location(struct pprof *p, uint32_t location)
{
	size_t at = location < p->n_locations ? location : p->n_locations;

	p->location_used[at] = true;
	return at + 1;
}

/* ---- events ---- */

/* cpu-clock and task-clock count nanoseconds; what else has a unit counts parts of it. */
static const char *unit_of(const struct data_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	return attr->type == PERF_TYPE_SOFTWARE &&
			       (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK) ?
		       "nanoseconds" :
		       "count";
}

static void add_event(struct pprof *p, const struct data_event *event, const struct cells *cells)
{
	struct pprof_event *added;
	struct str name = STR_INIT;

	VEC_GROW(p->events, p->n_events, p->cap_events);
	added = &p->events[p->n_events++];
	*added = (struct pprof_event){ .event = event, .cells = cells };
	data_event_add_name(event, &name);
	added->type = pprof_text(p, name.s, name.len);
	added->unit = text_of(p, unit_of(event));
	str_release(&name);
	for (size_t i = 0; cells && i < cells->n; i++)
		if (table_takes_cell(p->table, cells, i)) {
			added->n_samples += cells->values[i].n_samples;
			added->period += cells->values[i].period;
		}
}

/* Those that have samples; of a recording without any all of them. */
static void choose_events(struct pprof *p)
{
	const struct events *events = p->table->session->recording->events;

	for (size_t i = 0; i < p->table->n_hists; i++) {
		const struct hist *hist = &p->table->hists[i];

		for (size_t member = 0; member < hist->n_members; member++)
			if (hist->cells[member]->n)
				add_event(p, head_member(p->table, hist, member), hist->cells[member]);
	}
	for (size_t i = 0; !p->n_events && i < events->n; i++)
		add_event(p, events->v[i], NULL);
}

static void put_value_type(struct pprof *p, unsigned field, uint64_t type, uint64_t unit)
{
	pb_add_u64(&p->message, 1, type);
	pb_add_u64(&p->message, 2, unit);
	pprof_put(p, field);
}

/* "samples" of one event; of several each has its own name, by which one is chosen. */
static void put_sample_types(struct pprof *p)
{
	struct str name = STR_INIT;

	for (size_t i = 0; i < p->n_events; i++) {
		struct pprof_event *event = &p->events[i];

		str_reset(&name);
		if (p->n_events > 1)
			str_addf(&name, "%s_", texts_get(p->texts, (uint32_t)event->type));
		str_add(&name, "samples");
		put_value_type(p, PROFILE_SAMPLE_TYPE, pprof_text(p, name.s, name.len), text_of(p, "count"));
		put_value_type(p, PROFILE_SAMPLE_TYPE, event->type, event->unit);
	}
	str_release(&name);
}

/* ---- labels ---- */

enum { LABEL_COMM, LABEL_PID, LABEL_TID, LABEL_CPU, LABEL_FACTS };

static void add_label(struct pprof *p, const char *key, uint64_t text)
{
	uint64_t key_text = text_of(p, key);

	str_reset(&p->part);
	pb_add_u64(&p->part, 1, key_text);
	pb_add_u64(&p->part, 2, text);
	pb_add_bytes(&p->message, 3, p->part.s, p->part.len);
}

static void add_number_label(struct pprof *p, const char *key, long long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", number);
	add_label(p, key, text_of(p, text));
}

/* The labels of a sample, into p->message. */
static void add_labels(struct pprof *p, const uint64_t *facts)
{
	const struct session *session = p->table->session;
	uint32_t comm = (uint32_t)facts[LABEL_COMM];
	const char *name = comm < session_n_comms(session) ? session_comm(session, comm) : "";
	int32_t tid = (int32_t)facts[LABEL_TID], pid = (int32_t)facts[LABEL_PID];
	struct str thread = STR_INIT;

	if (*name)
		add_label(p, "comm", text_of(p, name));
	if (tid >= 0) {
		str_addf(&thread, "%s/%d", name, tid);
		add_label(p, "thread", pprof_text(p, thread.s, thread.len));
		add_number_label(p, "tid", tid);
	}
	if (pid >= 0)
		add_number_label(p, "pid", pid);
	if (facts[LABEL_CPU] != UINT64_MAX)
		add_number_label(p, "cpu", (long long)facts[LABEL_CPU]);
	str_release(&thread);
}

/* ---- samples ---- */

enum { KEY_STACK, KEY_LOCATION, KEY_LABELS, KEY_WORDS };

struct samples {
	struct row_set keys; /* KEY_*: of each sample */
	struct row_set labels; /* LABEL_*: each distinct set of them */
	uint64_t *values; /* of each sample, two of each event */
	size_t n, cap; /* samples */
};

static void add_cell(struct pprof *p, struct samples *samples, size_t event, size_t cell)
{
	const struct cells *cells = p->events[event].cells;
	const uint64_t stack = cell_fact(cells, cell, FACT_STACK);
	const uint64_t labels[LABEL_FACTS] = {
		[LABEL_COMM] = cell_fact(cells, cell, FACT_COMM),
		/* Without what tells apart threads that had one number: no label does. */
		[LABEL_PID] = (uint64_t)task_names_number(cell_fact(cells, cell, FACT_PID)),
		[LABEL_TID] = (uint64_t)task_names_number(cell_fact(cells, cell, FACT_TID)),
		[LABEL_CPU] = cell_fact(cells, cell, FACT_CPU),
	};
	const uint64_t key[KEY_WORDS] = {
		[KEY_STACK] = stack,
		[KEY_LOCATION] = stack ? 0 : cell_fact(cells, cell, FACT_LOCATION),
		[KEY_LABELS] = row_set_intern(&samples->labels, labels),
	};
	size_t width = 2 * p->n_events, at = row_set_intern(&samples->keys, key);

	if (at >= samples->n) {
		if (at >= samples->cap) {
			samples->cap = samples->cap ? 2 * samples->cap : 64;
			samples->values =
				xreallocarray(samples->values, samples->cap, width * sizeof(*samples->values));
		}
		memset(samples->values + at * width, 0, width * sizeof(*samples->values));
		samples->n = at + 1;
	}
	samples->values[at * width + 2 * event] += cells->values[cell].n_samples;
	samples->values[at * width + 2 * event + 1] += cells->values[cell].period;
}

/* locations: room for the deepest stack. */
static void put_sample(struct pprof *p, const struct samples *samples, size_t i, const struct str *labels,
		       uint32_t *walked, uint64_t *locations, size_t room)
{
	const uint64_t *key = row_set_at(&samples->keys, (uint32_t)i);
	const struct stacks *stacks = p->table->session->stacks;
	size_t width = 2 * p->n_events, n = 1;

	if (key[KEY_STACK])
		n = stacks_walk(stacks, (uint32_t)key[KEY_STACK], walked, room);
	else
		walked[0] = (uint32_t)key[KEY_LOCATION];
	for (size_t k = 0; k < n; k++)
		locations[k] = pprof_location(p, walked[k]);
	pb_add_packed(&p->message, 1, locations, n);
	pb_add_packed(&p->message, 2, samples->values + i * width, width);
	str_addn(&p->message, labels->s, labels->len);
	pprof_put(p, PROFILE_SAMPLE);
}

static void put_samples(struct pprof *p, const struct samples *samples)
{
	size_t room = p->table->session->options.max_stack + 1;
	uint32_t *walked = xcalloc(room, sizeof(*walked));
	uint64_t *locations = xcalloc(room, sizeof(*locations));
	struct str *labels = xcalloc(samples->labels.n + 1, sizeof(*labels));

	for (size_t i = 0; i < samples->labels.n; i++) {
		add_labels(p, row_set_at(&samples->labels, (uint32_t)i));
		str_init(&labels[i]);
		str_addn(&labels[i], p->message.s, p->message.len);
		str_reset(&p->message);
	}
	for (size_t i = 0; i < samples->n && !p->output->failed; i++) {
		uint64_t set = row_set_at(&samples->keys, (uint32_t)i)[KEY_LABELS];

		put_sample(p, samples, i, &labels[set], walked, locations, room);
	}
	for (size_t i = 0; i < samples->labels.n; i++)
		str_release(&labels[i]);
	free(labels);
	free(walked);
	free(locations);
}

static void take_samples(struct pprof *p)
{
	struct samples samples = { 0 };

	row_set_init(&samples.keys, KEY_WORDS);
	row_set_init(&samples.labels, LABEL_FACTS);
	for (size_t event = 0; event < p->n_events; event++) {
		const struct cells *cells = p->events[event].cells;

		for (size_t i = 0; cells && i < cells->n; i++)
			if (cells->values[i].n_samples && table_takes_cell(p->table, cells, i))
				add_cell(p, &samples, event, i);
	}
	put_samples(p, &samples);
	row_set_release(&samples.keys);
	row_set_release(&samples.labels);
	free(samples.values);
}

/* ---- the recording ---- */

static void put_number(struct pprof *p, unsigned field, uint64_t value)
{
	pb_add_u64(&p->pending, field, value);
}

static void put_times(struct pprof *p)
{
	const struct info *info = p->table->session->recording->info;
	const struct replay *replay = &p->table->session->replay;

	if (info_has(info, FEATURE_CLOCK_DATA) && replay->counts.samples)
		put_number(p, PROFILE_TIME_NANOS, info->wall_clock_ns + (replay->first_ns - info->clockid_time_ns));
	put_number(p, PROFILE_DURATION_NANOS, replay->last_ns - replay->first_ns);
}

/* The events between two samples, on average where the kernel chose them. */
static void put_period(struct pprof *p)
{
	const struct pprof_event *event = p->events;
	uint64_t period;

	if (!p->n_events)
		return;
	period = event->event->attr.freq && event->n_samples ? event->period / event->n_samples :
	       event->event->attr.freq			      ? 0 :
								event->event->attr.sample_period;
	put_value_type(p, PROFILE_PERIOD_TYPE, event->type, event->unit);
	put_number(p, PROFILE_PERIOD, period);
	/* Where periods are 0, nothing is to be seen of them. */
	put_number(p, PROFILE_DEFAULT_SAMPLE_TYPE,
		   event->period	? event->type :
		   p->n_events == 1	? text_of(p, "samples") :
					  0);
}

static void put_comments(struct pprof *p)
{
	struct note_list lines = { 0 };

	stack_caption_of(p->table, "pstat " PSTAT_VERSION ": profile", &lines);
	for (size_t i = 0; i < lines.n; i++)
		pb_add_packed(&p->pending, PROFILE_COMMENT, (uint64_t[]){ text_of(p, lines.v[i].text) }, 1);
	note_list_release(&lines);
}

static void put_texts(struct pprof *p)
{
	for (uint32_t i = 0; i < p->n_texts && !p->output->failed; i++) {
		str_add(&p->message, texts_get(p->texts, i));
		pprof_put(p, PROFILE_STRING_TABLE);
	}
}

static void put_all(struct pprof *p)
{
	choose_events(p);
	put_sample_types(p);
	take_samples(p);
	pprof_put_code(p);
	put_times(p);
	put_period(p);
	put_comments(p);
	put_texts(p);
	pack(p);
	gzip_end(p->gzip, &p->output->text);
	output_step(p->output);
}

static int pprof_print(struct table *table, struct output *output)
{
	struct pprof p = { .table = table, .output = output, .texts = texts_new(), .pending = STR_INIT,
			   .message = STR_INIT, .part = STR_INIT, .text = STR_INIT,
			   .n_locations = table->session->locations->n };
	struct str why = STR_INIT;

	p.gzip = gzip_new(GZIP_FAST, &why);
	if (why.len)
		note_add(table->notes, false, NULL, "the file is not compressed: %s", why.s);
	p.location_used = xcalloc(p.n_locations + 1, sizeof(*p.location_used));
	text_of(&p, "");
	put_all(&p);
	gzip_free(p.gzip);
	texts_free(p.texts);
	free(p.events);
	free(p.location_used);
	str_release(&p.pending);
	str_release(&p.message);
	str_release(&p.part);
	str_release(&p.text);
	str_release(&why);
	return output->failed;
}

const struct report_format format_pprof = {
	.name = "pprof",
	.help = "a gzip'd profile.proto, for pprof",
	.needs = NEED_STACKS | NEED_TASKS,
	.print = pprof_print,
};
