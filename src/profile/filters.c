/*
 * Which samples take part. What only needs the record is asked first; names of threads, files and functions
 * are compared once per distinct name, thread names by their number.
 */
#include "profile/filters_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { CPUS_MAX = 1 << 20 };

/* What is known of a numbered name. */
enum verdict { VERDICT_UNKNOWN, VERDICT_TAKE, VERDICT_LEAVE };
struct verdicts {
	uint8_t *v;
	size_t n;
};

struct filters {
	const struct replay *replay;
	const struct info *info; /* of the header */
	bool by_comm, by_dso, by_symbol, by_pid, by_tid, by_cpu, by_socket, by_time;
	bool kernel_hidden, user_hidden;
	struct name_set comms, dsos, symbols;
	char *symbol_filter;
	struct intset pids, tids, cpus, sockets;
	struct time_ranges times;
	struct event_switch *event_switch; /* NULL: none; moves while asking */
	struct verdicts *comm_verdicts, *dso_verdicts; /* filled while asking */
	struct marks *marks; /* likewise */
};

/* Bits 1 << enum filter_kind: filters that took a sample away, and that let one pass. */
struct marks {
	unsigned took, passed;
};

static bool judge(const struct filters *filters, enum filter_kind kind, bool passes)
{
	if (passes)
		filters->marks->passed |= 1U << kind;
	else
		filters->marks->took |= 1U << kind;
	return passes;
}

static int parse_ids(struct intset *set, const char *option, const char *text, struct str *err)
{
	while (*text) {
		size_t len = strcspn(text, ",");
		char *part = xstrndup(text, len);
		long id = 0;
		int code = parse_int(part, 0, INT_MAX, &id);

		if (code)
			fail(err, -EINVAL, "%s: '%s' is not a number such as 1234", option, part);
		free(part);
		if (code)
			return -EINVAL;
		intset_add(set, (int)id);
		text += len + (text[len] == ',');
	}
	return 0;
}

static int need_cpus(const char *option, const struct events *events, struct str *err)
{
	int code = 0;

	for (size_t i = 0; i < events->n && !code; i++)
		if (!(events->v[i]->attr.sample_type & PERF_SAMPLE_CPU)) {
			struct str name = STR_INIT;

			data_event_add_name(events->v[i], &name);
			code = fail(err, -EINVAL, "%s: the samples of '%s' don't say their CPU",
				    option, name.s);
			str_release(&name);
		}
	return code;
}

static int parse_cpus(struct filters *filters, const struct events *events, const char *text,
		      struct str *err)
{
	struct str why = STR_INIT;
	int code = intset_parse(&filters->cpus, text, CPUS_MAX, &why);

	if (code)
		code = fail(err, -EINVAL, "--cpu: %s", why.s);
	str_release(&why);
	return code ? code : need_cpus("--cpu", events, err);
}

static int parse_sockets(struct filters *filters, const struct recording_info *recording, const char *text,
			 struct str *err)
{
	int code = parse_ids(&filters->sockets, "--socket-filter", text, err);

	if (!code && !recording->info->cpus.n)
		code = fail(err, -EINVAL,
			    "--socket-filter: the recording's header does not say which socket a CPU is in");
	return code ? code : need_cpus("--socket-filter", recording->events, err);
}

static int parse_time(struct filters *filters, const struct session *session, const char *text,
		      struct str *err)
{
	uint64_t first_ns = 0, last_ns = 0;

	if (time_ranges_need_bounds(text)) {
		int code = session->reader
				   ? time_bounds(session->reader, &first_ns, &last_ns, err)
				   : fail(err, -EINVAL, "--time: percentages need the time of the last sample, "
							"and the recording is not over");

		if (code)
			return code;
	}
	if (session->reader && session->reader->pipe && strchr(text, ':'))
		return fail(err, -EINVAL, "--time: '%s': a pipe says too late which time of day its clock showed\n"
			    "store the recording in a file", text);
	return time_ranges_parse(&filters->times, text, first_ns, last_ns, session->recording->info, err);
}

/* An empty list is none. */
static bool given(const char *text)
{
	return text && *text;
}

static int parse_all(struct filters *filters, const struct filter_options *options,
		     const struct session *session, struct str *err)
{
	const struct recording_info *recording = session->recording;
	int code = 0;

	if (given(options->comms))
		code = name_set_parse(&filters->comms, "--comms", options->comms, err);
	if (given(options->dsos) && !code)
		code = name_set_parse(&filters->dsos, "--dsos", options->dsos, err);
	if (given(options->symbols) && !code)
		code = name_set_parse(&filters->symbols, "--symbols", options->symbols, err);
	if (given(options->pids) && !code)
		code = parse_ids(&filters->pids, "--pid", options->pids, err);
	if (given(options->tids) && !code)
		code = parse_ids(&filters->tids, "--tid", options->tids, err);
	if (given(options->cpus) && !code)
		code = parse_cpus(filters, recording->events, options->cpus, err);
	if (given(options->sockets) && !code)
		code = parse_sockets(filters, recording, options->sockets, err);
	if (options->time && !code)
		code = parse_time(filters, session, options->time, err);
	if (!code)
		code = event_switch_new(&filters->event_switch, options, recording->events, err);
	return code;
}

int filters_new(struct filters **filters, const struct filter_options *options,
		struct session *session, struct str *err)
{
	struct filters *made = xcalloc(1, sizeof(*made));
	int code;

	made->replay = &session->replay;
	made->info = session->recording->info;
	made->comms.bytes = made->dsos.bytes = made->symbols.bytes = (struct str)STR_INIT;
	made->by_comm = given(options->comms);
	made->by_dso = given(options->dsos);
	made->by_symbol = given(options->symbols);
	made->by_pid = given(options->pids);
	made->by_tid = given(options->tids);
	made->by_cpu = given(options->cpus);
	made->by_socket = given(options->sockets);
	made->by_time = options->time;
	made->kernel_hidden = options->kernel_hidden;
	made->user_hidden = options->user_hidden;
	made->marks = xcalloc(1, sizeof(*made->marks));
	made->comm_verdicts = xcalloc(1, sizeof(*made->comm_verdicts));
	made->dso_verdicts = xcalloc(1, sizeof(*made->dso_verdicts));
	if (options->symbol_filter)
		made->symbol_filter = xstrdup(options->symbol_filter);
	code = parse_all(made, options, session, err);
	*filters = made;
	if (code) {
		filters_free(made);
		*filters = NULL;
	}
	return code;
}

void filters_free(struct filters *filters)
{
	if (!filters)
		return;
	name_set_release(&filters->comms);
	name_set_release(&filters->dsos);
	name_set_release(&filters->symbols);
	intset_release(&filters->pids);
	intset_release(&filters->tids);
	intset_release(&filters->cpus);
	intset_release(&filters->sockets);
	time_ranges_release(&filters->times);
	event_switch_free(filters->event_switch);
	free(filters->symbol_filter);
	free(filters->marks);
	free(filters->comm_verdicts->v);
	free(filters->dso_verdicts->v);
	free(filters->comm_verdicts);
	free(filters->dso_verdicts);
	free(filters);
}

static uint8_t *verdict_of(struct verdicts *verdicts, size_t number)
{
	if (number >= verdicts->n) {
		size_t n = number + number / 2 + 64;

		verdicts->v = xreallocarray(verdicts->v, n, 1);
		memset(verdicts->v + verdicts->n, VERDICT_UNKNOWN, n - verdicts->n);
		verdicts->n = n;
	}
	return &verdicts->v[number];
}

static bool take_comm(const struct filters *filters, uint32_t comm)
{
	uint8_t *verdict = verdict_of(filters->comm_verdicts, comm);

	if (*verdict == VERDICT_UNKNOWN)
		*verdict = name_set_has(&filters->comms, replay_comm(filters->replay, comm))
				   ? VERDICT_TAKE
				   : VERDICT_LEAVE;
	return *verdict == VERDICT_TAKE;
}

void filters_forget_numbers(const struct filters *filters)
{
	filters->comm_verdicts->n = 0;
	filters->dso_verdicts->n = 0;
}

static bool take_dso(const struct filters *filters, const struct dso *dso)
{
	uint8_t *verdict;

	if (!dso)
		return false;
	verdict = verdict_of(filters->dso_verdicts, dso->index);
	if (*verdict == VERDICT_UNKNOWN)
		*verdict = name_set_has(&filters->dsos, dso->name) ||
					   name_set_has(&filters->dsos, dso->path)
				   ? VERDICT_TAKE
				   : VERDICT_LEAVE;
	return *verdict == VERDICT_TAKE;
}

static bool take_time(const struct filters *filters, const struct sample *sample)
{
	return !(sample->has & PERF_SAMPLE_TIME) || !sample->time_ns ||
	       time_ranges_have(&filters->times, sample->time_ns);
}

static bool take_cpu(const struct filters *filters, const struct sample *sample)
{
	return sample->has & PERF_SAMPLE_CPU && sample->cpu <= CPUS_MAX &&
	       intset_has(&filters->cpus, (int)sample->cpu);
}

static bool take_mode(const struct filters *filters, uint64_t mode)
{
	return !(mode == MISC_USER || mode == MISC_GUEST_USER ? filters->user_hidden : filters->kernel_hidden);
}

static bool by_mode(const struct filters *filters)
{
	return filters->kernel_hidden || filters->user_hidden;
}

bool filters_drop_sample(const struct filters *filters, const struct replay_sample *sample)
{
	const struct sample *s = sample->sample;

	if (filters->by_time && !judge(filters, FILTER_TIME, take_time(filters, s)))
		return true;
	if (filters->event_switch &&
	    !judge(filters, FILTER_SWITCH, !event_switch_drops(filters->event_switch, sample->event)))
		return true;
	if (by_mode(filters) && !judge(filters, FILTER_MODE, take_mode(filters, sample->mode)))
		return true;
	return filters->by_cpu && !judge(filters, FILTER_CPU, take_cpu(filters, s));
}

bool filters_take_record(const struct filters *filters, const struct record_body *body)
{
	struct sample sample = { .has = body->id.has & (PERF_SAMPLE_TIME | PERF_SAMPLE_CPU),
				 .time_ns = body->id.time_ns, .cpu = body->id.cpu };

	return (!filters->by_time || take_time(filters, &sample)) && (!filters->by_cpu || take_cpu(filters, &sample));
}

static bool take_socket(const struct filters *filters, const struct sample *sample)
{
	return sample->has & PERF_SAMPLE_CPU && sample->cpu < filters->info->cpus.n &&
	       intset_has(&filters->sockets, (int)filters->info->cpus.v[sample->cpu].socket);
}

bool filters_take_task(const struct filters *filters, const struct replay_sample *sample)
{
	const struct thread *thread = sample->thread;

	if (filters->by_socket && !judge(filters, FILTER_SOCKET, take_socket(filters, sample->sample)))
		return false;
	if (filters->by_pid && !judge(filters, FILTER_PID, intset_has(&filters->pids, thread->pid)))
		return false;
	if (filters->by_tid && !judge(filters, FILTER_TID, intset_has(&filters->tids, thread->tid)))
		return false;
	return !filters->by_comm || judge(filters, FILTER_COMM, take_comm(filters, thread->comm));
}

bool filters_take_sample(const struct filters *filters, const struct replay_sample *sample)
{
	return !filters_drop_sample(filters, sample) && filters_take_task(filters, sample);
}

bool filters_drop_cell(const struct filters *filters, const struct cells *cells, size_t cell)
{
	uint64_t cpu;

	if (by_mode(filters) &&
	    !judge(filters, FILTER_MODE, take_mode(filters, cell_fact(cells, cell, FACT_MISC))))
		return true;
	if (!filters->by_cpu)
		return false;
	cpu = cell_fact(cells, cell, FACT_CPU);
	return !judge(filters, FILTER_CPU, cpu <= CPUS_MAX && intset_has(&filters->cpus, (int)cpu));
}

static bool take_cell_socket(const struct filters *filters, uint64_t cpu)
{
	return cpu < filters->info->cpus.n && intset_has(&filters->sockets, (int)filters->info->cpus.v[cpu].socket);
}

bool filters_take_cell(const struct filters *filters, const struct cells *cells, size_t cell)
{
	if (filters_drop_cell(filters, cells, cell))
		return false;
	if (filters->by_socket &&
	    !judge(filters, FILTER_SOCKET, take_cell_socket(filters, cell_fact(cells, cell, FACT_CPU))))
		return false;
	if (filters->by_pid &&
	    !judge(filters, FILTER_PID,
		   intset_has(&filters->pids, task_names_number(cell_fact(cells, cell, FACT_PID)))))
		return false;
	if (filters->by_tid &&
	    !judge(filters, FILTER_TID,
		   intset_has(&filters->tids, task_names_number(cell_fact(cells, cell, FACT_TID)))))
		return false;
	return !filters->by_comm ||
	       judge(filters, FILTER_COMM, take_comm(filters, (uint32_t)cell_fact(cells, cell, FACT_COMM)));
}

/* As it is shown, as the file has it, or "0x" and the address where it was loaded. */
static bool take_symbol(const struct filters *filters, const struct location_row *row, const struct symbol *symbol)
{
	char address[sizeof("0x") + 16];

	if (!symbol)
		return false;
	if (name_set_has(&filters->symbols, symbol->name) ||
	    (symbol->raw && name_set_has(&filters->symbols, symbol->raw)))
		return true;
	snprintf(address, sizeof(address), "0x%llx",
		 (unsigned long long)(row->ip - (row->addr - symbol->start)));
	return name_set_has(&filters->symbols, address);
}

bool filters_take_file(const struct filters *filters, const struct dso *dso)
{
	return !filters->by_dso || take_dso(filters, dso);
}

bool filters_ask_symbols(const struct filters *filters)
{
	return filters->by_symbol || filters->symbol_filter;
}

bool filters_take_location(const struct filters *filters, const struct location_row *row, const struct symbol *symbol)
{
	if (filters->by_dso && !judge(filters, FILTER_DSO, take_dso(filters, row->dso)))
		return false;
	if (filters->by_symbol && !judge(filters, FILTER_SYMBOL, take_symbol(filters, row, symbol)))
		return false;
	return !filters->symbol_filter || (symbol && strstr(symbol->name, filters->symbol_filter));
}

bool filters_any(const struct filters *filters)
{
	return filters->by_comm || filters->by_dso || filters->by_symbol || filters->by_pid ||
	       filters->by_tid || filters->by_socket || filters->symbol_filter;
}

enum filter_kind filters_took_all(const struct filters *filters)
{
	for (unsigned kind = 0; kind < FILTER_KINDS; kind++)
		if (filters->marks->took >> kind & 1 && !(filters->marks->passed >> kind & 1))
			return kind;
	return FILTER_KINDS;
}
