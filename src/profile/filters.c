/* SPDX-License-Identifier: MIT */
/*
 * Which samples take part. Questions that the record alone answers are asked first; names of threads, files and
 * functions are compared once per distinct name, thread names by their number.
 *
 * --switch-on and --switch-off are a switch: samples of one event open it, those of another close it; samples taken
 * while it is closed are left out as if they had not been recorded. It begins closed if there is an event that opens
 * it.
 *
 * Where filters leave nothing, a note says which of them it was, and the name that was meant, or a few of those that
 * there are, so that an empty table explains itself:
 *
 *   nothing is left by --comms 'caller': did you mean 'callers'?
 *   nothing is left by --dsos 'nosuch': there are callers, libc.so.6, [kernel.kallsyms]
 */
#include "profile/session_internal.h"
#include "profile/time_filter.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum role { ROLE_UNKNOWN, ROLE_NONE, ROLE_ON, ROLE_OFF };

struct event_switch {
	const char *on, *off; /* NULL: none */
	bool shown; /* samples of the two events themselves take part */
	bool open;
	uint8_t *roles; /* by index of the event */
	size_t n_roles;
};

static bool has_event(const struct events *events, const char *name)
{
	struct str text = STR_INIT;
	bool found = false;

	for (size_t i = 0; i < events->n && !found; i++) {
		str_reset(&text);
		data_event_add_name(events->v[i], &text);
		found = !strcmp(text.s, name);
	}
	str_release(&text);
	return found;
}

static int check_name(const struct events *events, const char *option, const char *name, struct str *err)
{
	struct str names = STR_INIT;
	int code = 0;

	/* A pipe's events are known when they have gone by. */
	if (!name || !events->n || has_event(events, name))
		return 0;
	for (size_t i = 0; i < events->n; i++) {
		str_add(&names, i ? ", " : "");
		data_event_add_name(events->v[i], &names);
	}
	code = fail(err, -EINVAL, "%s: no event '%s' was recorded; there is %s", option, name, names.s);
	str_release(&names);
	return code;
}

static int event_switch_new(struct event_switch **made, const struct filter_options *options,
			    const struct events *events, struct str *err)
{
	int code = check_name(events, "--switch-on", options->switch_on, err);

	*made = NULL;
	if (!code)
		code = check_name(events, "--switch-off", options->switch_off, err);
	if (!code && options->switch_on && options->switch_off && !strcmp(options->switch_on, options->switch_off))
		code = fail(err, -EINVAL, "--switch-off: '%s' is the event of --switch-on", options->switch_off);
	if (code || (!options->switch_on && !options->switch_off))
		return code;
	*made = xcalloc(1, sizeof(**made));
	(*made)->on = options->switch_on;
	(*made)->off = options->switch_off;
	(*made)->shown = options->switches_shown;
	(*made)->open = !options->switch_on;
	return 0;
}

static void event_switch_free(struct event_switch *the)
{
	if (the)
		free(the->roles);
	free(the);
}

static enum role find_role(const struct event_switch *the, const struct data_event *event)
{
	struct str name = STR_INIT;
	enum role role = ROLE_NONE;

	data_event_add_name(event, &name);
	if (the->on && !strcmp(name.s, the->on))
		role = ROLE_ON;
	else if (the->off && !strcmp(name.s, the->off))
		role = ROLE_OFF;
	str_release(&name);
	return role;
}

static enum role role_of(struct event_switch *the, const struct data_event *event)
{
	if (event->index >= the->n_roles) {
		size_t n = event->index + 16;

		the->roles = xreallocarray(the->roles, n, 1);
		memset(the->roles + the->n_roles, ROLE_UNKNOWN, n - the->n_roles);
		the->n_roles = n;
	}
	if (the->roles[event->index] == ROLE_UNKNOWN)
		the->roles[event->index] = (uint8_t)find_role(the, event);
	return the->roles[event->index];
}

static bool event_switch_drops(struct event_switch *the, const struct data_event *event)
{
	enum role role = role_of(the, event);

	if (role == ROLE_ON && !the->open) {
		the->open = true;
		return !the->shown;
	}
	if (role == ROLE_OFF && the->open) {
		the->open = false;
		return !the->shown;
	}
	return !the->open;
}

enum { CPUS_MAX = 1 << 20 };

/* In the order in which a sample is asked about them. */
enum filter_kind {
	FILTER_TIME,
	FILTER_SWITCH,
	FILTER_MODE,
	FILTER_CPU,
	FILTER_SOCKET,
	FILTER_PID,
	FILTER_TID,
	FILTER_PARALLELISM,
	FILTER_COMM,
	FILTER_DSO,
	FILTER_SYMBOL,
	FILTER_KINDS,
};
/* The answer for a numbered name, as far as it is known. */
enum filter_verdict { VERDICT_UNKNOWN, VERDICT_TAKE, VERDICT_LEAVE };
struct verdicts {
	uint8_t *v;
	size_t n;
};

struct filters {
	const struct replay *replay;
	const struct info *info; /* of the header */
	bool by_comm, by_dso, by_symbol, by_pid, by_tid, by_cpu, by_socket, by_time, by_parallelism;
	bool kernel_hidden, user_hidden, idle_hidden;
	struct name_set comms, dsos, symbols;
	uint64_t *addresses; /* those among symbols */
	size_t n_addresses, addr_range;
	char *symbol_filter;
	struct intset pids, tids, cpus, sockets, parallelism;
	struct time_ranges times;
	struct event_switch *event_switch; /* NULL: none; moves while asking */
	struct verdicts *comm_verdicts, *dso_verdicts; /* filled while asking */
	struct filter_marks *marks; /* likewise */
};

/* Bits 1 << enum filter_kind: filters that took a sample away, and that let one pass. */
struct filter_marks {
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

uint64_t events_sample_types(const struct events *events)
{
	uint64_t types = 0;

	for (size_t i = 0; i < events->n; i++)
		types |= event_sample_has(events->v[i]);
	return types;
}

bool events_have_switches(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->v[i]->attr.context_switch)
			return true;
	return false;
}

int need_switches(const char *option, const struct events *events, struct str *err)
{
	if (events_have_switches(events))
		return 0;
	return fail(err, -EINVAL,
		    "%s: the recording does not have the number of threads that ran at once; record it with --latency",
		    option);
}

static int parse_parallelism(struct filters *filters, const struct events *events, const char *text, struct str *err)
{
	struct str why = STR_INIT;
	int code = intset_parse(&filters->parallelism, text, CPUS_MAX, &why);

	if (code)
		code = fail(err, -EINVAL, "--parallelism: %s", why.s);
	else if (intset_has(&filters->parallelism, 0))
		code = fail(err, -EINVAL, "--parallelism: '%s': at least one thread runs when a sample is taken",
			    text);
	str_release(&why);
	return code ? code : need_switches("--parallelism", events, err);
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
		return fail(err, -EINVAL, "--time: '%s': a pipe gives the time of day of its clock only at its end\n"
			    "store the recording in a file", text);
	return time_ranges_parse(&filters->times, text, first_ns, last_ns, session->recording->info, err);
}

/* An empty list is none. */
static bool given(const char *text)
{
	return text && *text;
}

static int parse_symbols(struct filters *filters, const struct filter_options *options, struct str *err)
{
	const struct name_set *names = &filters->symbols;
	int code = name_set_parse(&filters->symbols, "--symbols", options->symbols, err);

	filters->addresses = xcalloc(names->n + 1, sizeof(*filters->addresses));
	filters->addr_range = options->addr_range ? options->addr_range : 1;
	for (size_t i = 0; i < names->n; i++) {
		const char *name = names->bytes.s + names->at[i];

		if (!strncmp(name, "0x", 2) && !parse_u64(name, 0, &filters->addresses[filters->n_addresses]))
			filters->n_addresses++;
	}
	if (!code && options->addr_range && !filters->n_addresses)
		code = fail(err, -EINVAL, "--addr-range: --symbols has no address such as 0x401000");
	return code;
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
		code = parse_symbols(filters, options, err);
	if (given(options->pids) && !code)
		code = parse_ids(&filters->pids, "--pid", options->pids, err);
	if (given(options->tids) && !code)
		code = parse_ids(&filters->tids, "--tid", options->tids, err);
	if (given(options->cpus) && !code)
		code = parse_cpus(filters, recording->events, options->cpus, err);
	if (given(options->sockets) && !code)
		code = parse_sockets(filters, recording, options->sockets, err);
	if (given(options->parallelism) && !code)
		code = parse_parallelism(filters, recording->events, options->parallelism, err);
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
	made->by_parallelism = given(options->parallelism);
	made->by_time = options->time;
	made->kernel_hidden = options->kernel_hidden;
	made->user_hidden = options->user_hidden;
	made->idle_hidden = options->idle_hidden;
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
	free(filters->addresses);
	intset_release(&filters->pids);
	intset_release(&filters->tids);
	intset_release(&filters->cpus);
	intset_release(&filters->sockets);
	intset_release(&filters->parallelism);
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
	if (filters->idle_hidden && !sample->thread->pid)
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

static bool take_parallelism(const struct filters *filters, uint64_t parallelism)
{
	return parallelism <= CPUS_MAX && intset_has(&filters->parallelism, (int)parallelism);
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
	if (filters->by_parallelism &&
	    !judge(filters, FILTER_PARALLELISM, take_parallelism(filters, sample->parallelism)))
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
	    !judge(filters, FILTER_MODE, take_mode(filters, cell_fact(cells, cell, FACT_MISC) & MISC_CPUMODE_MASK)))
		return true;
	if (filters->idle_hidden && !task_names_number(cell_fact(cells, cell, FACT_PID)))
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
	if (filters->by_parallelism &&
	    !judge(filters, FILTER_PARALLELISM, take_parallelism(filters, cell_fact(cells, cell, FACT_PARALLELISM))))
		return false;
	return !filters->by_comm ||
	       judge(filters, FILTER_COMM, take_comm(filters, (uint32_t)cell_fact(cells, cell, FACT_COMM)));
}

/* One of the addresses among the names, or less than --addr-range behind it. */
static bool take_address(const struct filters *filters, uint64_t ip)
{
	for (size_t i = 0; i < filters->n_addresses; i++)
		if (ip >= filters->addresses[i] && ip - filters->addresses[i] < filters->addr_range)
			return true;
	return false;
}

/* Compares the name as shown, as the file has it, or "0x" and the address where it was loaded, or of the code. */
static bool take_symbol(const struct filters *filters, const struct location_row *row, const struct symbol *symbol)
{
	char address[sizeof("0x") + 16];

	if (take_address(filters, row->ip))
		return true;
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
	       filters->by_tid || filters->by_socket || filters->by_parallelism || filters->symbol_filter;
}

/* The filter that let nothing pass of what came to it, FILTER_KINDS: there is none. */
static enum filter_kind kind_that_took_all(const struct filters *filters)
{
	for (unsigned kind = 0; kind < FILTER_KINDS; kind++)
		if (filters->marks->took >> kind & 1 && !(filters->marks->passed >> kind & 1))
			return kind;
	return FILTER_KINDS;
}

enum {
	LISTED_MAX = 5,
	LOOKED_AT_MAX = 20000, /* names: what is near to a word takes time to find */
};

/* Names are handed to it one by one; they may come again. */
struct known {
	struct near_name near;
	const char *listed[LISTED_MAX];
	size_t n_listed, n_seen;
	bool more;
};

static void know(struct known *known, const char *name)
{
	if (!*name || known->n_seen++ >= LOOKED_AT_MAX)
		return;
	near_consider(&known->near, name);
	for (size_t i = 0; i < known->n_listed; i++)
		if (!strcmp(known->listed[i], name))
			return;
	if (known->n_listed < LISTED_MAX)
		known->listed[known->n_listed++] = name;
	else
		known->more = true;
}

static void comms_of(struct session *session, struct known *known)
{
	/* The first is swapper, in every recording; one like ":12" is of a task that nobody named. */
	for (uint32_t i = 1; i < replay_n_comms(&session->replay); i++)
		if (replay_comm(&session->replay, i)[0] != ':')
			know(known, replay_comm(&session->replay, i));
}

static void dsos_of(struct session *session, struct known *known)
{
	const struct location_totals *forgotten = &session->private->forgotten;

	for (size_t i = 0; i < session->locations->n; i++)
		if (session->locations->v[i].dso)
			know(known, session->locations->v[i].dso->name);
	for (size_t i = 0; i < forgotten->n_dsos; i++)
		if (forgotten->dsos[i].seen)
			know(known, session->replay.dsos.v[i]->name);
}

/* If locations were forgotten, these are of the last samples. */
static void symbols_of(struct session *session, struct known *known)
{
	for (uint32_t i = 0; i < session->locations->n && known->n_seen < LOOKED_AT_MAX; i++) {
		const struct symbol *symbol = location_symbol(session, i);

		if (symbol)
			know(known, symbol->name);
	}
}

/*
 * To add a filter: a row in enum filter_kind, one here, its line in parse_all(), and one in
 * tests/cli/empty_reports.sh.
 */
#define NO_TEXT SIZE_MAX
static const struct filter_words {
	const char *option;
	size_t text; /* offset of what was typed in struct filter_options; NO_TEXT: it takes no argument */
	void (*names)(struct session *session, struct known *known); /* that it could have been; or NULL */
} rows[FILTER_KINDS] = {
#define TEXT(name) offsetof(struct filter_options, name)
	[FILTER_TIME] = { "--time", TEXT(time), NULL },
	[FILTER_SWITCH] = { "--switch-on or --switch-off", TEXT(switch_on), NULL },
	[FILTER_MODE] = { "--hide_kernel_symbols or --hide_user_symbols", NO_TEXT, NULL },
	[FILTER_CPU] = { "--cpu", TEXT(cpus), NULL },
	[FILTER_SOCKET] = { "--socket-filter", TEXT(sockets), NULL },
	[FILTER_PID] = { "--pid", TEXT(pids), NULL },
	[FILTER_TID] = { "--tid", TEXT(tids), NULL },
	[FILTER_PARALLELISM] = { "--parallelism", TEXT(parallelism), NULL },
	[FILTER_COMM] = { "--comms", TEXT(comms), comms_of },
	[FILTER_DSO] = { "--dsos", TEXT(dsos), dsos_of },
	[FILTER_SYMBOL] = { "--symbols", TEXT(symbols), symbols_of },
#undef TEXT
};

static void add_quoted(const char *name, struct str *out)
{
	str_addc(out, '\'');
	str_add_printable(out, name, strlen(name));
	str_addc(out, '\'');
}

/* Adds what is near to one of the names that were typed; else what there is. */
static void add_names(struct session *session, const struct filter_words *row, const char *typed, struct str *out)
{
	struct known known = { .n_listed = 0 };

	for (const char *at = typed; *at && !near_best(&known.near);) {
		size_t len = strcspn(at, ",");

		known = (struct known){ .n_listed = 0 };
		near_init(&known.near, at, len);
		row->names(session, &known);
		at += len + (at[len] == ',');
	}
	if (near_best(&known.near)) {
		str_add(out, ": did you mean ");
		add_quoted(near_best(&known.near), out);
		str_addc(out, '?');
		return;
	}
	for (size_t i = 0; i < known.n_listed; i++) {
		str_add(out, i ? ", " : ": there are ");
		str_add_printable(out, known.listed[i], strlen(known.listed[i]));
	}
	str_add(out, known.more ? ", ..." : "");
}

static void add_time(const struct replay *replay, struct str *out)
{
	if (replay->last_ns)
		str_addf(out, ": the samples are from %.6f to %.6f", (double)replay->first_ns / 1e9,
			 (double)replay->last_ns / 1e9);
}

void filters_add_note(const struct filters *filters, const struct filter_options *options, struct session *session,
		      struct note_list *notes)
{
	enum filter_kind kind = kind_that_took_all(filters);
	const struct filter_words *row = &rows[kind < FILTER_KINDS ? kind : 0];
	struct str text = STR_INIT;
	const char *typed = NULL;

	if (kind == FILTER_KINDS)
		return;
	if (row->text != NO_TEXT)
		memcpy(&typed, (const char *)options + row->text, sizeof(typed));
	str_addf(&text, "nothing is left by %s", row->option);
	if (typed) {
		str_addc(&text, ' ');
		add_quoted(typed, &text);
	}
	if (row->names && typed)
		add_names(session, row, typed, &text);
	else if (kind == FILTER_TIME)
		add_time(&session->replay, &text);
	note_add(notes, false, NULL, "%s", text.s);
	str_release(&text);
}
