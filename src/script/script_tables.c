/* SPDX-License-Identifier: MIT */
/*
 * script_tables: a recording as rows of tables, for Python scripts that make a database of it: those that set
 * perf_db_export_mode. Each row is a call of the function that is named like its table, with perf's columns:
 *
 *	sample_table(3, 1, 1, 2, ...) -> row 3 of the samples: event 1, machine 1, thread 2, ...
 *
 * A row has its number in front and comes before the first row that refers to it; 0 stands for what is not known. A
 * file is a row, a function of it is another, and so is an address of it where no function is known. A call path is a
 * function with its callers, of whom each is the row of a shorter path. Threads have a list of the names that they
 * had: which one is a program's own name, not a thread's, is the last that came with an exec.
 *
 * Rows of samples and context switches are sent and forgotten; the others are remembered, as often as they are
 * distinct. What a decoder of hardware traces knows is never there: kinds of branches, counts of instructions, calls.
 *
 * Source: tools/perf/Documentation/db-export.txt, and the statements of perf's export-to-sqlite.py.
 */
#include "script/pickle.h"
#include "script/script_internal.h"

#include <stdlib.h>

enum row_kind {
	ROW_EVENT,
	ROW_MACHINE,
	ROW_THREAD,
	ROW_COMM,
	ROW_COMM_THREAD,
	ROW_DSO,
	ROW_SYMBOL,
	ROW_BRANCH_TYPE,
	ROW_SAMPLE,
	ROW_CALL_PATH,
	ROW_SWITCH,
	ROW_SYNTHESIZED,
	ROW_KINDS
};
static const char *const table_functions[ROW_KINDS] = {
	[ROW_EVENT] = "evsel_table",
	[ROW_MACHINE] = "machine_table",
	[ROW_THREAD] = "thread_table",
	[ROW_COMM] = "comm_table",
	[ROW_COMM_THREAD] = "comm_thread_table",
	[ROW_DSO] = "dso_table",
	[ROW_SYMBOL] = "symbol_table",
	[ROW_BRANCH_TYPE] = "branch_type_table",
	[ROW_SAMPLE] = "sample_table",
	[ROW_CALL_PATH] = "call_path_table",
	[ROW_SWITCH] = "context_switch_table",
	[ROW_SYNTHESIZED] = "synth_data",
};

/* The only machine; guests have their rows as its own. HOST_PID: what stands for it, as perf has it. */
enum { MACHINE = 1, HOST_PID = -1 };
/* The call path that all others begin at. */
enum { PATH_ROOT = 1 };
/* The type of events that a decoder of hardware traces made: tools/perf/util/event.h. */
enum { TYPE_SYNTHESIZED = 0x80000000u };

/* A name that a thread had. */
struct task_comm {
	uint32_t comm; /* for session_comm */
	uint32_t older; /* 1 + the index of the name before; 0: none */
	uint32_t id; /* of its row; 0: not sent */
	bool exec;
	uint64_t start_ns; /* 0: it had it before the recording */
};

struct task_row {
	uint32_t id; /* 0: not sent */
	uint32_t newest; /* 1 + the index of its name; 0: not seen yet */
	bool named; /* false: it is called ":TID" */
};

/* The file and function of a location. */
struct location_ids {
	uint32_t dso, symbol;
	uint64_t offset;
};

struct script_tables {
	int functions[ROW_KINDS]; /* numbers; -1: the script has none */
	bool callchains; /* paths are asked for */
	uint64_t n_samples, n_switches;
	uint32_t n_events, n_dsos, n_threads, n_comms, n_comm_threads; /* rows sent */
	uint32_t *events, *dsos; /* ids by index; 0: not sent */
	size_t events_reach, dsos_reach;
	struct task_row *tasks; /* by thread.serial */
	size_t tasks_reach;
	struct task_comm *comms;
	size_t comms_n, comms_cap;
	bool execs; /* some name came with an exec: kernel and recorder say so */
	bool machine_sent;
	struct text_index *names;
	struct row_set symbols; /* dso, start, end, name; the row's id is 1 + its number */
	struct row_set paths; /* caller's path, symbol, address where that is 0; likewise */
	struct location_ids *locations; /* by location, until they are forgotten; dso 0: not asked yet */
	size_t locations_reach;
	uint32_t *stacks; /* paths by stack, likewise */
	size_t stacks_reach, stacks_known; /* of stacks 1 to this one */
};

/* ---- rows ---- */

/* A column: a number, which databases have with a sign, or a text. */
struct row_column {
	const char *text; /* NULL: a number */
	int64_t number;
};
#define NUMBER(n) { NULL, (int64_t)(n) }
#define TEXT(t) { t, 0 }
#define SEND_ROW(script, kind, ...)                                                      \
	do {                                                                             \
		const struct row_column columns_[] = { __VA_ARGS__ };                        \
		send_row(script, kind, columns_, ARRAY_SIZE(columns_));                  \
	} while (0)

static void send_row(struct script *script, enum row_kind kind, const struct row_column *columns, size_t n)
{
	struct pickle *p;

	if (script->tables->functions[kind] < 0)
		return;
	p = script_python_call(script, script->tables->functions[kind]);
	for (size_t i = 0; i < n; i++)
		if (columns[i].text)
			pickle_text(p, columns[i].text, strlen(columns[i].text));
		else
			pickle_signed(p, columns[i].number);
	script_python_call_end(script);
}

/* Bits of a branch's type; tools/perf/util/event.h: PERF_IP_FLAG_*. */
enum {
	IS_BRANCH = 1 << 0,
	IS_CALL = 1 << 1,
	IS_RETURN = 1 << 2,
	IS_CONDITIONAL = 1 << 3,
	IS_SYSCALL = 1 << 4,
	IS_ASYNC = 1 << 5,
	IS_INTERRUPT = 1 << 6,
	IS_ABORT = 1 << 7,
	IS_TRACE_BEGIN = 1 << 8,
	IS_TRACE_END = 1 << 9,
	IS_VM_ENTRY = 1 << 11,
	IS_VM_EXIT = 1 << 12,
};
static const struct branch_type {
	int type;
	const char *name;
} branch_types[] = {
	{ 0, "no branch" },
	{ IS_BRANCH, "unconditional jump" },
	{ IS_BRANCH | IS_CALL, "call" },
	{ IS_BRANCH | IS_RETURN, "return" },
	{ IS_BRANCH | IS_CONDITIONAL, "conditional jump" },
	{ IS_BRANCH | IS_CALL | IS_SYSCALL, "system call" },
	{ IS_BRANCH | IS_RETURN | IS_SYSCALL, "return from system call" },
	{ IS_BRANCH | IS_ASYNC, "asynchronous branch" },
	{ IS_BRANCH | IS_CALL | IS_INTERRUPT, "software interrupt" },
	{ IS_BRANCH | IS_RETURN | IS_INTERRUPT, "return from interrupt" },
	{ IS_BRANCH | IS_CALL | IS_ASYNC | IS_INTERRUPT, "hardware interrupt" },
	{ IS_BRANCH | IS_ABORT, "transaction abort" },
	{ IS_BRANCH | IS_CALL | IS_VM_ENTRY, "vm entry" },
	{ IS_BRANCH | IS_CALL | IS_VM_EXIT, "vm exit" },
};

/* Each type alone, and where a trace begins or ends with it. */
static void send_branch_types(struct script *script)
{
	struct str name = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(branch_types); i++) {
		const struct branch_type *row = &branch_types[i];
		bool jump = row->type == IS_BRANCH;

		SEND_ROW(script, ROW_BRANCH_TYPE, NUMBER(row->type), TEXT(row->name));
		str_addf(&name, "trace begin%s%s", jump ? "" : " / ", jump ? "" : row->name);
		SEND_ROW(script, ROW_BRANCH_TYPE, NUMBER(row->type | IS_TRACE_BEGIN), TEXT(name.s));
		str_reset(&name);
		str_addf(&name, "%s%strace end", jump ? "" : row->name, jump ? "" : " / ");
		SEND_ROW(script, ROW_BRANCH_TYPE, NUMBER(row->type | IS_TRACE_END), TEXT(name.s));
		str_reset(&name);
	}
	str_release(&name);
}

static uint32_t event_id(struct script *script, const struct data_event *event)
{
	struct script_tables *tables = script->tables;
	struct str name = STR_INIT;
	uint32_t *id;

	VEC_REACH(tables->events, tables->events_reach, event->index);
	id = &tables->events[event->index];
	if (*id)
		return *id;
	*id = ++tables->n_events;
	data_event_add_name(event, &name);
	SEND_ROW(script, ROW_EVENT, NUMBER(*id), TEXT(name.s));
	str_release(&name);
	return *id;
}

static void send_machine(struct script *script)
{
	if (script->tables->machine_sent)
		return;
	script->tables->machine_sent = true;
	SEND_ROW(script, ROW_MACHINE, NUMBER(MACHINE), NUMBER(HOST_PID), TEXT(""));
}

/* ---- threads and their names ---- */

static void add_comm(struct script_tables *tables, struct task_row *task, const struct task_comm *comm)
{
	VEC_GROW(tables->comms, tables->comms_n, tables->comms_cap);
	tables->comms[tables->comms_n] = *comm;
	tables->comms[tables->comms_n].older = task->newest;
	task->newest = (uint32_t)++tables->comms_n;
}

static struct task_row *task_row(struct script_tables *tables, const struct thread *thread)
{
	VEC_REACH(tables->tasks, tables->tasks_reach, thread->serial);
	return &tables->tasks[thread->serial];
}

/* The thread's row: one that is met for the first time, without a record of it, has the name that it began with. */
static struct task_row *known_task(struct script_tables *tables, const struct thread *thread)
{
	struct task_row *task = task_row(tables, thread);

	if (!task->newest) {
		add_comm(tables, task, &(struct task_comm){ .comm = thread->comm });
		task->named = thread->comm_known;
	}
	return task;
}

static uint64_t time_of(const struct record_body *body)
{
	return body->id.has & PERF_SAMPLE_TIME ? body->id.time_ns : UINT64_MAX;
}

/* A name takes the place of ":TID", and follows another one. */
static void take_comm(struct script_tables *tables, const struct record_body *body, const struct thread *thread)
{
	struct task_row *task = task_row(tables, thread);
	struct task_comm comm = {
		.comm = thread->comm,
		.exec = body->misc & MISC_COMM_EXEC,
		.start_ns = time_of(body),
	};

	tables->execs |= comm.exec;
	if (task->newest && !task->named) {
		struct task_comm *begun = &tables->comms[task->newest - 1];

		comm.id = begun->id;
		comm.older = begun->older;
		*begun = comm;
	} else {
		add_comm(tables, task, &comm);
	}
	task->named = true;
}

/* A child has its parent's name, from its own begin on. */
static void take_fork(struct script_tables *tables, const struct record_body *body, const struct thread *thread)
{
	struct task_row *task = task_row(tables, thread);

	if (task->newest)
		return;
	add_comm(tables, task, &(struct task_comm){
		.comm = thread->comm, .start_ns = thread->comm_known ? time_of(body) : 0,
	});
	task->named = thread->comm_known;
}

/*
 * The name of a process's program, as an index: that of its last exec. Where none was seen, the oldest one; but if that
 * is from before the recording, a copy of the parent's, the one after it.
 */
static uint32_t program_comm(const struct script_tables *tables, const struct task_row *first_thread)
{
	uint32_t last = 0, second_last = 0;

	if (!tables->execs)
		return first_thread->newest - 1;
	for (uint32_t at = first_thread->newest; at; at = tables->comms[at - 1].older) {
		if (tables->comms[at - 1].exec)
			return at - 1;
		second_last = last;
		last = at;
	}
	return (second_last && !tables->comms[last - 1].start_ns ? second_last : last) - 1;
}

/* False: it was sent before. */
static bool send_comm(struct script *script, uint32_t index, const struct task_row *task)
{
	struct script_tables *tables = script->tables;
	struct task_comm *comm = &tables->comms[index];

	if (comm->id)
		return false;
	comm->id = ++tables->n_comms;
	SEND_ROW(script, ROW_COMM, NUMBER(comm->id), TEXT(session_comm(&script->session, comm->comm)),
		 NUMBER(task->id), NUMBER(comm->start_ns), NUMBER(comm->exec));
	return true;
}

static void send_comm_thread(struct script *script, uint32_t comm, const struct task_row *task)
{
	SEND_ROW(script, ROW_COMM_THREAD, NUMBER(++script->tables->n_comm_threads),
		 NUMBER(script->tables->comms[comm].id), NUMBER(task->id));
}

static bool send_thread(struct script *script, const struct thread *thread, struct task_row *task,
			const struct task_row *first_thread)
{
	if (task->id)
		return false;
	task->id = ++script->tables->n_threads;
	SEND_ROW(script, ROW_THREAD, NUMBER(task->id), NUMBER(MACHINE), NUMBER(first_thread ? first_thread->id : 0),
		 NUMBER(thread->pid), NUMBER(thread->tid));
	return true;
}

/* The first thread of the thread's process; NULL: no record was about it. */
static const struct thread *first_thread_of(struct script *script, const struct thread *thread)
{
	const struct thread *first;

	if (thread->pid == thread->tid)
		return thread;
	first = thread->pid == -1 ? NULL : replay_find_thread(&script->session.replay, thread->pid);
	return first && first->pid == thread->pid ? first : NULL;
}

struct thread_ids {
	uint32_t thread, comm; /* comm: its program's name */
};

/* Sends a thread, the first one of its process, and their names, as far as they are new. */
static struct thread_ids thread_ids(struct script *script, const struct thread *thread)
{
	struct script_tables *tables = script->tables;
	const struct thread *first = first_thread_of(script, thread);
	struct thread_ids ids = { 0 };
	struct task_row *task, *first_task = NULL;
	uint32_t comm = 0;

	/* Both rows are there before either is pointed to. */
	known_task(tables, thread);
	if (first) {
		first_task = known_task(tables, first);
		send_thread(script, first, first_task, first_task);
		comm = program_comm(tables, first_task);
		if (send_comm(script, comm, first_task))
			send_comm_thread(script, comm, first_task);
		ids.comm = tables->comms[comm].id;
	}
	task = task_row(tables, thread);
	if (send_thread(script, thread, task, first_task) && first)
		send_comm_thread(script, comm, task);
	send_comm(script, task->newest - 1, task);
	ids.thread = task->id;
	return ids;
}

/* ---- files, functions and call paths ---- */

static uint32_t dso_id(struct script *script, const struct dso *dso)
{
	struct script_tables *tables = script->tables;
	struct str path = STR_INIT, build_id = STR_INIT;
	uint32_t *id;

	VEC_REACH(tables->dsos, tables->dsos_reach, dso->index);
	id = &tables->dsos[dso->index];
	if (*id)
		return *id;
	*id = ++tables->n_dsos;
	script_add_dso(script, dso, &path);
	build_id_text(&dso->build_id, &build_id);
	SEND_ROW(script, ROW_DSO, NUMBER(*id), NUMBER(MACHINE), TEXT(dso->name), TEXT(path.s), TEXT(build_id.s));
	str_release(&path);
	str_release(&build_id);
	return *id;
}

/* The row of a function; without one that of the address itself. */
static uint32_t symbol_id(struct script *script, const struct location_row *row, const struct symbol *symbol)
{
	struct script_tables *tables = script->tables;
	const bool known = symbol_has_name(symbol);
	const char *name = known ? symbol->name : "unknown";
	const uint64_t start = known ? symbol->start : row->addr, end = known ? symbol->end : row->addr;
	const uint64_t words[] = {
		dso_id(script, row->dso), start, end, texts_intern(tables->names, name, strlen(name)),
	};
	const size_t n = tables->symbols.n;
	const uint32_t id = row_set_intern(&tables->symbols, words) + 1;

	if (id > n)
		SEND_ROW(script, ROW_SYMBOL, NUMBER(id), NUMBER(words[0]), NUMBER(start), NUMBER(end),
			 NUMBER(known ? script_binding(symbol) : 0), TEXT(name));
	return id;
}

/* All 0 of a location that is in no file. */
static struct location_ids location_ids(struct script *script, uint32_t location)
{
	struct script_tables *tables = script->tables;
	const struct symbol *symbol;
	const struct location_row *row;
	struct location_ids ids = { 0 };

	if (location == LOCATION_NONE || !script->session.locations->v[location].dso)
		return ids;
	VEC_REACH(tables->locations, tables->locations_reach, location);
	if (tables->locations[location].dso)
		return tables->locations[location];
	symbol = location_symbol(&script->session, location);
	row = &script->session.locations->v[location];
	ids.dso = dso_id(script, row->dso);
	ids.symbol = symbol_id(script, row, symbol);
	ids.offset = symbol_has_name(symbol) ? row->addr - symbol->start : 0;
	tables->locations[location] = ids;
	return ids;
}

static uint32_t path_id(struct script *script, uint32_t caller, uint32_t symbol, uint64_t addr)
{
	struct script_tables *tables = script->tables;
	const uint64_t words[] = { caller, symbol, symbol ? 0 : addr };
	const size_t n = tables->paths.n;
	const uint32_t id = row_set_intern(&tables->paths, words) + 1;

	if (id > n)
		SEND_ROW(script, ROW_CALL_PATH, NUMBER(id), NUMBER(caller), NUMBER(symbol), NUMBER(words[2]));
	return id;
}

/* The caller's path with the functions at a location: first the one that others were inlined into. */
static uint32_t path_to(struct script *script, uint32_t caller, uint32_t location)
{
	const struct frame_list frames = *location_frames(&script->session, location, 0);
	const struct location_row *row = &script->session.locations->v[location];

	if (!row->dso)
		return path_id(script, caller, 0, row->addr);
	dso_id(script, row->dso);
	for (size_t i = frames.n; i-- > 0;)
		caller = path_id(script, caller, symbol_id(script, row, frames.v[i].symbol), 0);
	return caller;
}

/* The path of a stack: callers are older stacks than those they call, so all up to this one are known after it. */
static uint32_t stack_path(struct script *script, uint32_t stack)
{
	struct script_tables *tables = script->tables;
	const struct stacks *stacks = script->session.stacks;

	if (!tables->paths.n)
		path_id(script, 0, 0, 0); /* PATH_ROOT */
	VEC_REACH(tables->stacks, tables->stacks_reach, stack);
	tables->stacks[0] = PATH_ROOT;
	for (; tables->stacks_known < stack; tables->stacks_known++) {
		const struct stack_node *node = &stacks->v[tables->stacks_known + 1];

		tables->stacks[tables->stacks_known + 1] =
			path_to(script, tables->stacks[node->parent], node->location);
	}
	return tables->stacks[stack];
}

/* ---- samples ---- */

bool script_tables_wants_addresses(const struct script_tables *tables, const struct data_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	return tables && attr->sample_type & PERF_SAMPLE_ADDR && attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_PAGE_FAULTS || attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

unsigned script_tables_wants(const struct script_tables *tables, const struct data_event *event)
{
	bool paths = tables->callchains && event->attr.sample_type & PERF_SAMPLE_CALLCHAIN;

	return paths ? SAMPLE_TAKEN | SAMPLE_CHAIN | SAMPLE_STACK : SAMPLE_TAKEN;
}

static void send_synthesized(struct script *script, const struct sink_sample *taken)
{
	const struct sample *s = taken->sample->sample;
	struct pickle *p;

	if (script->tables->functions[ROW_SYNTHESIZED] < 0)
		return;
	p = script_python_call(script, script->tables->functions[ROW_SYNTHESIZED]);
	pickle_signed(p, (int64_t)script->tables->n_samples);
	pickle_number(p, taken->sample->event->attr.config);
	pickle_bytes(p, s->raw, s->has & PERF_SAMPLE_RAW ? s->raw_size : 0);
	script_python_call_end(script);
}

int script_tables_sample(struct script *script, const struct sink_sample *taken)
{
	struct script_tables *tables = script->tables;
	const struct replay_sample *sample = taken->sample;
	const struct sample *s = sample->sample;
	const uint64_t has = s->has;
	const uint32_t event = event_id(script, sample->event);
	struct location_ids code = { 0 }, data = { 0 };
	struct thread_ids thread;
	uint32_t path = 0;

	send_machine(script);
	thread = thread_ids(script, sample->thread);
	tables->n_samples++;
	if (has & PERF_SAMPLE_IP)
		code = location_ids(script, session_ip_location(&script->session, sample));
	if (taken->frames.n && taken->stack)
		path = stack_path(script, taken->stack);
	if (script_tables_wants_addresses(tables, sample->event))
		data = location_ids(script, session_data_location(&script->session, sample));
	SEND_ROW(script, ROW_SAMPLE, NUMBER(tables->n_samples), NUMBER(event), NUMBER(MACHINE),
		 NUMBER(thread.thread), NUMBER(thread.comm), NUMBER(code.dso), NUMBER(code.symbol),
		 NUMBER(code.offset), NUMBER(s->ip), NUMBER(has & PERF_SAMPLE_TIME ? s->time_ns : UINT64_MAX),
		 NUMBER(has & PERF_SAMPLE_CPU ? (int32_t)s->cpu : -1), NUMBER(data.dso), NUMBER(data.symbol),
		 NUMBER(data.offset), NUMBER(has & PERF_SAMPLE_ADDR ? s->addr : 0), NUMBER(taken->period),
		 NUMBER(script_weight(s)), NUMBER(has & PERF_SAMPLE_TRANSACTION ? s->transaction : 0),
		 NUMBER(script_data_source(s)), NUMBER(0) /* kind of branch */, NUMBER(0) /* in a transaction */,
		 NUMBER(path), NUMBER(0) /* instructions */, NUMBER(0) /* cycles */, NUMBER(0) /* flags */);
	if (sample->event->attr.type == TYPE_SYNTHESIZED)
		send_synthesized(script, taken);
	return script_python_step(script);
}

/* ---- other records ---- */

/* One side of a context switch; all 0 where the thread or its name is not known. */
static struct thread_ids switched(struct script *script, uint32_t pid, uint32_t tid)
{
	const struct thread *thread = replay_find_thread(&script->session.replay, (int32_t)tid);

	if (!thread || thread->pid != (int32_t)pid || !thread->comm_known)
		return (struct thread_ids){ 0 };
	return thread_ids(script, thread);
}

/* Switches of what is known to and from what is not, but for those between such and a CPU that has nothing to do. */
static void send_switch(struct script *script, const struct record *record, const struct record_body *body)
{
	const bool out = record->misc & MISC_SWITCH_OUT, preempted = out && record->misc & MISC_SWITCH_OUT_PREEMPT;
	const bool wide = record->type == RECORD_SWITCH_CPU_WIDE;
	const struct thread_ids own = switched(script, body->id.pid, body->id.tid);
	const struct thread_ids other =
		wide ? switched(script, body->sched.other_pid, body->sched.other_tid) : (struct thread_ids){ 0 };
	const struct thread_ids *from = out ? &own : &other, *to = out ? &other : &own;

	if ((!own.thread || !(body->id.pid | body->id.tid)) &&
	    (!other.thread || !(body->sched.other_pid | body->sched.other_tid)))
		return;
	SEND_ROW(script, ROW_SWITCH, NUMBER(++script->tables->n_switches), NUMBER(MACHINE),
		 NUMBER(time_of(body)), NUMBER(body->id.has & PERF_SAMPLE_CPU ? (int32_t)body->id.cpu : -1),
		 NUMBER(from->thread), NUMBER(from->comm), NUMBER(to->thread), NUMBER(to->comm),
		 NUMBER(out | preempted << 1));
}

bool script_tables_record(struct script *script, const struct record *record, const struct record_body *body,
			  const struct thread *thread)
{
	switch (record->type) {
	case RECORD_COMM:
		if (thread)
			take_comm(script->tables, body, thread);
		return true;
	case RECORD_FORK:
		if (thread)
			take_fork(script->tables, body, thread);
		return true;
	case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE:
		send_switch(script, record, body);
		return true;
	default:
		return false;
	}
}

/* ---- begin and end ---- */

void script_tables_new(struct script *script, const struct python_functions *functions)
{
	struct script_tables *tables;

	if (python_functions_find(functions, "perf_db_export_mode") < 0)
		return;
	tables = xcalloc(1, sizeof(*tables));
	for (size_t i = 0; i < ROW_KINDS; i++)
		tables->functions[i] = python_functions_find(functions, table_functions[i]);
	tables->callchains = python_functions_find(functions, "perf_db_export_callchains") >= 0;
	tables->names = texts_new();
	row_set_init(&tables->symbols, 4);
	row_set_init(&tables->paths, 3);
	script->tables = tables;
}

void script_tables_begin(struct script *script)
{
	send_branch_types(script);
}

void script_tables_forget(struct script_tables *tables)
{
	if (tables->locations)
		memset(tables->locations, 0, tables->locations_reach * sizeof(*tables->locations));
	tables->stacks_known = 0;
}

void script_tables_free(struct script_tables *tables)
{
	if (!tables)
		return;
	free(tables->events);
	free(tables->dsos);
	free(tables->tasks);
	free(tables->comms);
	free(tables->locations);
	free(tables->stacks);
	texts_free(tables->names);
	row_set_release(&tables->symbols);
	row_set_release(&tables->paths);
	free(tables);
}
