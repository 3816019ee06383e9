/* SPDX-License-Identifier: MIT */
/*
 * profile: a recording as facts: the location of each address, the stack of each chain, and cells that count what
 * is the same.
 *
 *   replay -> session (locations, callchain) -> sample_stream.c -> samples one by one: struct sample_sink
 *                 |
 *                 v
 *             sample_cells.c  one cell per distinct raw sample (event, comm, stack, ...): counts and periods
 *
 * After the recording has been read costs grow with what is distinct. Names are looked up when they are asked for.
 * One thread owns a profile.
 */
#ifndef PSTAT_PROFILE_H
#define PSTAT_PROFILE_H

#include "replay/replay.h"
#include "profile/sample_cells.h"
#include "profile/sample_spill.h"
#include "sym/sym.h"
#include "unwind/unwind.h"

/* ---- session.c: one recording being read ---- */
/*
 * The side of each callchain that is kept, as bcc's profile -U and -K have it: user space, or the kernel (guests' and
 * hypervisors among them). No sample is left out: one that was taken on the other side counts for the innermost frame
 * that is kept, and where there is none for a location whose only name says where it was: "[kernel]" or "[user]".
 */
enum stack_part { STACK_WHOLE, STACK_USER, STACK_KERNEL };
struct session_options {
	struct sym_options sym;
	struct replay_options replay;
	unsigned max_stack; /* frames kept of a chain; 0: 127 */
	enum stack_part part;
	bool no_unwind; /* leave sampled stacks alone */
	bool branch_history; /* the branches of a sample stand in its chain, before the callers that they don't tell */
	bool stitch_calls; /* call stacks of branch registers go on with the calls that samples before had */
	bool as_recorded; /* the kernel's callchains with all their addresses, also where there is no code */
	const char *unwinder; /* which one; NULL: the best */
};
struct filters; /* filters.c */
struct locations; /* locations.c: distinct addresses */
struct stacks; /* stacks.c: distinct chains */
struct session {
	struct session_options options;
	const struct recording_info *recording; /* and where its records come from; both borrowed */
	struct record_source *source;
	struct reader *reader; /* that has both; NULL: it is being recorded */
	struct replay replay;
	struct symbols *symbols;
	struct locations *locations;
	struct stacks *stacks;
	struct unwind unwind;
	bool can_unwind;
	struct note_list
		notes; /* losses, files without symbols, stacks cut, ...: for the user, at the end */
	/* Subjects of the notes. names_unseen: nothing that is shown has a function's name in it. */
	bool names_unseen;
	const struct filters *files_shown; /* files that these leave out are not in any row; NULL: none is left out */
	struct session_private *private;
};
/* The reader must stay open; what its header says is used. Release in every case. */
int session_init(struct session *session, struct reader *reader,
		 const struct session_options *options, struct str *err);
/* The same of what is being recorded, whose events are known. Options that need a second reading are refused. */
int session_init_live(struct session *session, const struct recording_info *recording, struct record_source *source,
		      const struct session_options *options, struct str *err);
void session_release(struct session *session);
/*
 * At the end: notes about lost samples, chains that were incomplete, the recording's missing end, and one
 * line that lists the files whose symbols were missing and why, with their share of the samples. Of what is not
 * shown nothing is said.
 */
void session_add_notes(struct session *session);

/*
 * Files that somebody has symbols of: they stay, whatever is forgotten. They take the place of those that were held
 * before; n 0: none is. The array is copied.
 */
void session_hold_files(struct session *session, const struct dso *const *dsos, size_t n);

/*
 * For those who read on without asking twice: forgets locations, stacks and frames where there are more than so many
 * locations (0: 65,536; SIZE_MAX: never), or their names are long. True: it has, and all numbers are void.
 */
bool session_forget_when_full(struct session *session, size_t locations_max);

/* ---- recording_names.c: a recording gets the names of what was sampled ---- */

/*
 * Reads the finished recording that fd is open on and that is at the path, looks up all that any report of it may ask,
 * and puts it into the file (feature SYMBOLS), so that reports need no other one. Another file at the path gets
 * nothing: names may come from files that its owner may not read. -EEXIST: they are in it already; -ENOTSUP: there is
 * no place for them, as in a pipe; -ECANCELED: interrupted; others with a sentence: the recording is as it was. sym:
 * where names are looked for.
 */
int recording_put_names(int fd, const char *path, const struct sym_options *sym, const struct interrupt *interrupt,
			struct embedded_totals *totals, struct str *err);

/* ---- chain_start.c: callchains that end too early ---- */

/*
 * Reads the finished recording that fd is open on, and adds the note that a report without filters has about user
 * callchains by frame pointers that do not reach the start of their program or thread. Of many samples the first
 * are looked at, and the note says so. None of a recording without such chains, nor of one that is not a file. 0;
 * -ECANCELED: interrupted; another negative errno with a sentence: it can't be read.
 */
int recording_note_chains(int fd, const char *path, const struct sym_options *sym, const struct interrupt *interrupt,
			  struct note_list *notes, struct str *err);

/* ---- filters.c: which samples take part; for report and script alike ---- */
struct filter_options { /* texts as typed; NULL: all. Lists are separated by commas */
	const char *comms, *dsos, *symbols; /* "file:/path": one name a line */
	unsigned addr_range; /* bytes from an address among the symbols on; 0: it alone */
	const char *symbol_filter; /* part of a symbol's name */
	const char *pids, *tids, *cpus, *sockets, *parallelism;
	const char *
		time; /* "1.5,2.5", "1.5,", ",2.5", "10%/2", "0%-10%,30%-40%", several by space or comma as perf */
	const char *switch_on, *switch_off; /* names of events: only what was sampled between them */
	bool switches_shown; /* samples of these events too */
	bool kernel_hidden, user_hidden; /* samples in the kernel (guests' too), in user space */
	bool idle_hidden; /* samples of CPUs that have nothing to do: process 0 */
};
/* first_ns, last_ns of the recording are needed for percentages: from the header, else a first pass. */
int filters_new(struct filters **filters, const struct filter_options *options,
		struct session *session, struct str *err);
void filters_free(struct filters *filters);

/* ---- locations.c ---- */

struct location_row {
	struct dso *dso; /* NULL: no map */
	uint64_t addr; /* as location.addr */
	uint64_t ip; /* the address when it was first seen: without names, this tells most */
	uint64_t map_start, map_bytes; /* of the map it was first seen in */
	uint64_t branch; /* flags of the branch that it is an end of, and BRANCH_END_* bits; 0: a frame like others */
	uint32_t code; /* symbols_code_at: of code made at run time, which one it was; 0 of all others */
	uint8_t mode; /* MISC_* */
	uint8_t want; /* frames are with these, SYM_LINES */
	bool is_return : 1; /* a return address: names are looked up at addr - 1 */
	bool framed : 1; /* frames is filled */
	bool link_known : 1; /* in_link is: the function has its return address still in a register */
	bool in_link : 1;
	bool symbol_known : 1; /* symbol is what location_symbol found */
	bool start_known : 1; /* start is what symbols_code_start says */
	uint8_t start; /* enum code_start */
	const struct symbol *symbol;
	struct frame_list frames;
	uint64_t n_samples; /* counted by the callers that want notes about missing symbols */
};
struct locations {
	struct location_row *v;
	size_t n, cap;
	struct index ix;
};
enum { LOCATION_NONE = UINT32_MAX };
/* Bits of location_row.branch behind the flags: which end of a branch it is, and where the branch goes. */
#define BRANCH_END_FROM (UINT64_C(1) << 63)
#define BRANCH_END_TO (UINT64_C(1) << 62)
#define BRANCH_FORWARD (UINT64_C(1) << 61)
#define BRANCH_CROSSES_4K (UINT64_C(1) << 60) /* to another page of 4 KiB, but not of 2 MiB */
#define BRANCH_CROSSES_2M (UINT64_C(1) << 59)
/* The number of a location, the same for equal (dso, addr, code, mode, is_return, branch). */
uint32_t locations_intern(struct locations *locations, const struct location *location, uint64_t ip, uint32_t code,
			  bool is_return);
/* Names, looked up once. want: SYM_LINES. */
const struct frame_list *location_frames(struct session *session, uint32_t location, unsigned want);
/* Frames of all locations in stacks will be asked for: see symbols_ahead. */
void locations_frames_ahead(struct session *session, unsigned want);
/* The symbol of the table (last of the frames), or NULL. Opens no debug information for it. */
const struct symbol *location_symbol(struct session *session, uint32_t location);
/*
 * The line where a function begins: of one that was inlined as DWARF declares it, else that of its first instruction
 * (of C the one of its brace). 0: not known.
 */
unsigned session_start_line(struct session *session, const struct symbol *symbol);
/* The address as it is shown without a name: of a kernel module from its start, the same after each boot. */
uint64_t location_own_addr(const struct location_row *row);
char location_level(const struct location_row *row); /* '.', 'k', 'g', 'u', 'H' */
enum frame_kind { /* in this order: the first that fits; all but the last are of locations */
	FRAME_INLINED,
	FRAME_UNKNOWN, /* no function is known at the address */
	FRAME_KERNEL,
	FRAME_JIT, /* code made at run time */
	FRAME_USER,
	FRAME_WAITING, /* no code: what a thread did that waited */
	FRAME_KINDS,
};
/* row NULL: a location that is not known; symbol: of one of its frames, or NULL. */
enum frame_kind location_frame_kind(const struct location_row *row, const struct symbol *symbol, bool inlined);
bool location_is_kernel(const struct location_row *row);
/* Is it of code made at run time? Named by a perf-PID.map or a file that inject wrote. */
bool location_is_jit(const struct location_row *row);

/* ---- stacks.c: a prefix tree, outermost frame first ---- */

struct stack_node {
	uint32_t parent; /* 0: the root, which is node 0 and has no location */
	uint32_t location;
};
struct stacks {
	struct stack_node *v;
	size_t n, cap;
	struct index ix;
};
/* Removes those that are not `used` (by number); the caller frees the new number of each old one. */
uint32_t *locations_keep(struct locations *locations, const bool *used);
uint32_t *stacks_keep(struct stacks *stacks, const bool *used, const uint32_t *locations);
uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint32_t location);
/* The locations of a stack, innermost first, into out (at most max); returns how many. */
size_t stacks_walk(const struct stacks *stacks, uint32_t stack, uint32_t *out, size_t max);

/* ---- chain.c: a sample's frames ---- */

struct chain_entry {
	uint64_t ip; /* as recorded */
	uint32_t location;
};
struct chain { /* innermost first; belongs to the session, valid until the next call */
	const struct chain_entry *v;
	size_t n;
};
/*
 * The chain of a sample, unwound where the sample has registers and stack, merged with its branch stack where the
 * event recorded call stacks by it, or where branch_history asks for it. Without a chain in the sample n is 0.
 */
void session_chain(struct session *session, const struct replay_sample *sample,
		   struct chain *chain);
/* The same as a stack's number, 0: no chain. Remembers chains it has seen: a hash and a comparison. */
uint32_t session_stack(struct session *session, const struct replay_sample *sample);
/*
 * The location that the sample counts for: that of its ip, unless only the other side of its chain is kept. innermost:
 * the location of the innermost frame of session_chain or session_stack; LOCATION_NONE: there is none.
 */
uint32_t session_own_location(struct session *session, const struct replay_sample *sample, uint32_t innermost);
/* The location of the sample's ip; of its data address (LOCATION_NONE without one). */
uint32_t session_ip_location(struct session *session, const struct replay_sample *sample);
/* The same with the map that it lies in, of this thread. */
void session_place(struct session *session, const struct replay_sample *sample, struct location *place);
/*
 * One location for all addresses with the same symbol in the same mode: that which came first. An address without a
 * symbol is its own. Not in a session where session_location is asked, too: both remember what they found.
 */
uint32_t session_ip_function(struct session *session, const struct replay_sample *sample);
uint32_t session_data_location(struct session *session, const struct replay_sample *sample);
/* The location of any address of the sample's thread, e.g. a branch's. User or kernel by its value. */
uint32_t session_address_location(struct session *session, const struct replay_sample *sample, uint64_t ip);

/* Names of threads by FACT_COMM, and of cgroups by FACT_CGROUP: raw bytes. NULL: no such cgroup was recorded. */
const char *session_comm(const struct session *session, uint32_t comm);
/* The ELF file that a kernel's names are from; NULL: they are from a list. */
const char *session_kernel_file(const struct session *session, const struct dso *kernel);
uint32_t session_n_comms(const struct session *session);
const char *session_cgroup(const struct session *session, uint64_t id);
/* The kernel's function at an address, and where it starts, for tracepoints; NULL: not known. context: the session. */
const char *session_function(void *context, uint64_t address, uint64_t *start);

/* ---- read_values.c ---- */
/*
 * Which events a sample stands for, and with what period. One, as a rule; a leader that was sampled with its
 * group's counter values (PERF_SAMPLE_READ): each event whose value grew since the last sample. To be
 * called once per sample, in order. Valid until the next call; 0: the sample counts for nothing.
 */
struct sample_share {
	const struct data_event *event;
	uint64_t period;
};
size_t session_shares(struct session *session, const struct replay_sample *sample,
		      const struct sample_share **shares);

/* ---- filters.c: one sample, one location ---- */
/* All that samples of some event have: bits of PERF_SAMPLE_*, see event_sample_has(). */
uint64_t events_sample_types(const struct events *events);
/* Context switches were recorded, which tell the parallelism of samples. */
bool events_have_switches(const struct events *events);
/* -EINVAL with a sentence about the option, where they have none. */
int need_switches(const char *option, const struct events *events, struct str *err);
/* By pid, tid, cpu, time and comm: before anything is looked up. */
bool filters_take_sample(const struct filters *filters, const struct replay_sample *sample);
bool filters_take_file(const struct filters *filters, const struct dso *dso); /* not by symbol */
bool filters_ask_symbols(const struct filters *filters);
/* By dso and symbol. symbol NULL: not known, or filters_ask_symbols says that nobody asks. */
bool filters_take_location(const struct filters *filters, const struct location_row *row, const struct symbol *symbol);
/* A filter by comm, dso or symbol is in force: perf shows then percentages of all, unless relative. */
bool filters_any(const struct filters *filters);

/* ---- data_src.c: data_src and flags as words ---- */
void mem_level_add(uint64_t data_src, struct str *out); /* "L1 hit", "N/A" */
void mem_op_add(uint64_t data_src, struct str *out);
void mem_snoop_add(uint64_t data_src, struct str *out);
void mem_tlb_add(uint64_t data_src, struct str *out);
void mem_lock_add(uint64_t data_src, struct str *out);
void mem_blocked_add(uint64_t data_src, struct str *out);
/* Answers that a data source gives in one respect: perf's columns op, cache, memory, snoop and dtlb. */
enum mem_respect {
	MEM_RESPECT_OP,
	MEM_RESPECT_CACHE,
	MEM_RESPECT_MEMORY,
	MEM_RESPECT_SNOOP,
	MEM_RESPECT_DTLB,
	MEM_RESPECTS
};
enum { MEM_ANSWERS_MAX = 7 };
/* The name of an answer, the last one is "Other"; NULL: there are no more. */
const char *mem_answer_name(enum mem_respect respect, unsigned answer);
unsigned mem_answer(enum mem_respect respect, uint64_t data_src);

/*
 * --time, --cpu, --switch-on, hidden modes and hidden idleness leave samples out as if they were not in the recording;
 * all other filters leave them in the totals that percentages are of. True: left out. (filters_take_sample asks both.)
 */
bool filters_drop_sample(const struct filters *filters, const struct replay_sample *sample);
/* --time and --cpu, asked of a record that is no sample; it counts for no note. */
bool filters_take_record(const struct filters *filters, const struct record_body *body);
/* By pid, tid, comm, socket and parallelism alone. */
bool filters_take_task(const struct filters *filters, const struct replay_sample *sample);

/* Adds a note where a filter left nothing: which one, and what there is instead. */
void filters_add_note(const struct filters *filters, const struct filter_options *options, struct session *session,
		      struct note_list *notes);

/* ---- sample_stream.c: the samples of a recording one by one, resolved, to whoever takes them ---- */

/* Wishes of a sink about the samples of an event; bits. */
enum sample_wants {
	SAMPLE_TAKEN = 1, /* without it they are not resolved and not handed over */
	SAMPLE_CHAIN = 2, /* frames: the callchain */
	SAMPLE_IP = 4, /* frames: the sample's own address, where there is no callchain or none is wanted */
	SAMPLE_STACK = 8, /* stack: of the callchain, or of the sample's own address */
};

/* One sample of one event, valid until the sink returns. */
struct sink_sample {
	/* The event is never NULL. If it had its group's values, it is the event of the share, with its period. */
	const struct replay_sample *sample;
	uint64_t period; /* what it stands for; the event's own where all are the same */
	struct chain frames; /* innermost first, as far as wanted and recorded; locations: session->locations */
	uint32_t stack; /* likewise, by session_stack; 0: not wanted, or the sample has no address */
};

/*
 * A sink takes the samples, in the order of time. Each function may be NULL but wants and sample. One that returns a
 * negative errno, with a sentence in err, ends the reading with that code.
 */
struct sample_sink {
	void *context;
	/*
	 * Distinct addresses that are remembered, at most; 0: 65,536. Before a sample that finds more, all are
	 * forgotten, and `forget` is called: what the sink keeps by location or by stack is void, numbers begin at 0.
	 * SIZE_MAX: none is ever forgotten.
	 */
	size_t locations_max;
	/* Before the first record; in a pipe header and events are not known yet. */
	int (*begin)(void *context, struct str *err);
	/* Asked for each sample that the filters by task, time and CPU let pass. wants: bits of sample_wants, is 0. */
	int (*wants)(void *context, const struct data_event *event, unsigned *wants, struct str *err);
	/* Says of which events samples are not read at all, as in replay_handlers. NULL: of none. */
	bool (*skips)(void *context, const struct data_event *event);
	/* Once for each event whose value grew where a sample has the values of its group. */
	int (*sample)(void *context, const struct sink_sample *sample, struct str *err);
	/* Any other record, after it took effect. thread: whose; or NULL. */
	int (*other)(void *context, const struct record *record, const struct record_body *body,
		     const struct thread *thread, struct str *err);
	void (*forget)(void *context);
	/* Behind the last record; not after an error. Then notes of session and filters are complete. */
	int (*end)(void *context, struct str *err);
	void (*progress)(void *context, double part); /* as in replay_handlers */
};

/* The whole recording, once per session. 0, or a negative errno with a sentence, as replay_run. */
int sample_stream_run(struct session *session, const struct filters *filters, const struct sample_sink *sink,
		      struct str *err);

/* ---- filters.c: the same for cells, by what they keep of comm, process, thread, CPU and parallelism ---- */
bool filters_drop_cell(const struct filters *filters, const struct cells *cells, size_t cell);
bool filters_take_cell(const struct filters *filters, const struct cells *cells, size_t cell);

/* ---- task_names.c: the last name of each thread and process that has a row ---- */

/*
 * A name may change after the last sample, and a number may become another thread's: names are kept by FACT_TID
 * and FACT_PID, and are final when the thread goes.
 */
struct task_names;
struct task_names *task_names_new(void);
void task_names_free(struct task_names *names); /* NULL is fine */
/* Ids like those of FACT_TID and FACT_PID. */
uint64_t task_names_tid(const struct thread *thread);
uint64_t task_names_pid(const struct thread *thread);
/* The number of either. */
static inline int32_t task_names_number(uint64_t id)
{
	return (int32_t)(id >> 32);
}
/* This thread has a sample: its name will be asked for. Uses thread->user. */
void task_names_want(struct task_names *names, struct thread *thread);
/* The thread goes, or the recording is at its end. */
void task_names_last(struct task_names *names, struct thread *thread);
/* Marks one that is to stay; all others go with task_names_drop. */
void task_names_keep(struct task_names *names, uint64_t id);
void task_names_drop(struct task_names *names);
/* True in `used` for the names that they have, by number. */
void task_names_mark_comms(const struct task_names *names, bool *used);
/* To be called for all that live when some were dropped. */
void task_names_dropped(const struct task_names *names, struct thread *thread);
/* For replay_comm; of a process the name of its first thread, where that was seen. */
uint32_t task_names_comm(const struct task_names *names, uint64_t id);

/* ---- thread_counts.c: what `record -s` stored when each thread ended ---- */

struct thread_count {
	int32_t pid, tid;
	uint64_t *values; /* by index of the event */
};
struct thread_counts {
	struct thread_count *v; /* in order of appearance */
	size_t n, cap;
	size_t n_events;
	struct index ix; /* by pid and tid */
};
void thread_counts_release(struct thread_counts *counts);
/* A READ record of an event; a thread's records of one event add up. */
void thread_counts_add(struct thread_counts *counts, const struct events *events,
		       const struct record_body *body);
/* A table of pid, tid and a column for each event that has a count. */
void thread_counts_print(const struct thread_counts *counts, const struct events *events,
			 struct str *out);

/* ---- profile.c: a recording, read once ---- */

struct entry_stats {
	uint64_t n_samples, period;
	uint64_t period_sys, period_us, period_guest_sys, period_guest_us;
	uint64_t weight; /* sum */
	uint64_t latency; /* sum of sample_latency; 0 where FACT_PARALLELISM is not kept */
};
/*
 * A sample's share of wall-clock time, in thousandths of its period's unit: its period parted among the threads that
 * ran at once.
 */
static inline uint64_t sample_latency(uint64_t period, uint64_t parallelism)
{
	return period * 1000 / parallelism;
}

/* ---- sample_order.c: an event's samples in the order of time ---- */

struct sample_order {
	struct cells cells; /* what samples were of: thread, stack, location and state, without sums */
	struct spill_row row;
};
struct ordered_sample {
	uint32_t cell;
	uint64_t begin_ns, end_ns; /* the time that it stands for */
	bool reaches_back; /* to the thread's sample before it: how long that was is not known, begin_ns is end_ns */
};
/* 1; 0: there are no more; a negative errno with a sentence. The reader: spill_read(of profile->spill, order->row). */
int sample_order_next(struct spill_reader *reader, struct ordered_sample *sample, struct str *err);

/* An event's samples. */
struct profile_event {
	struct cells cells; /* of those that all filters by sample let through */
	struct entry_stats totals; /* of those that filters_drop_sample leaves, filtered or not */
	uint64_t n_alone; /* samples of these with parallelism 1, where FACT_PARALLELISM is kept */
	/* The same cells with fewer facts, as questions asked for them; of coarse_samples samples. */
	struct coarse_cells {
		struct cells cells;
		unsigned users;
	} **coarse;
	size_t n_coarse, cap_coarse;
	uint64_t coarse_samples;
	struct sample_order *order; /* of the cells' samples that have a time; NULL: not kept */
	struct cells runs; /* of shape.runs; else without facts */
};

/* ---- trace_texts.c: the text of FACT_TRACE, in pieces ---- */

enum { TRACE_PIECE_END = '\x1f' };
struct trace_pieces { /* a piece for each field, which ends in TRACE_PIECE_END, and then the event's own text */
	const char *fields; /* names as wanted_field_parse() takes them, with commas between; NULL: none */
	bool whole; /* the event's own text is wanted, too */
	bool raw; /* texts are the fields one by one, not what the kernel's format makes of them */
};
struct wanted_field { /* "field" or "event.field", with or without "/raw" */
	char *event; /* part of a name, a whole one with ':', "%2"; NULL: any event that has the field */
	char *name;
	bool raw; /* as a number, not as the event's text has it */
};
void wanted_field_parse(struct wanted_field *field, const char *name, size_t len);
void wanted_field_release(struct wanted_field *field);
bool wanted_field_is_of(const struct wanted_field *field, const struct data_event *event);

/* How samples are kept. */
struct profile_shape {
	uint64_t facts; /* of cells: bits 1 << FACT_* */
	bool branches; /* one cell for each entry of a branch stack, in place of one for the sample */
	bool weights; /* samples of memory: worth their latency, not their period */
	unsigned buckets; /* of FACT_BUCKET, at most; 0: PROFILE_BUCKETS */
	/* FACT_LOCATION is one of the function's: fewer cells, where all addresses of a function mean the same. */
	bool by_function;
	uint64_t time_quantum_ns; /* of FACT_TIME; 0: 100 ms */
	size_t stacks_max; /* distinct ones of FACT_STACK; samples of others are in totals alone; 0: no limit */
	struct trace_pieces trace; /* of FACT_TRACE */
	/*
	 * profile_event.runs beside the cells: one for each branch that has cycles, with FACT_FROM, FACT_BLOCK_START
	 * and FACT_BRANCH_CYCLES. Not with branches, whose cells have them, nor with profile_compact.
	 */
	bool runs;
	bool in_order; /* sample_order, which needs a temporary file where the samples are many */
};
/* Facts of a profile that is to answer all that cells can. */
#define PROFILE_WHOLE                                                                                                  \
	(1ULL << FACT_COMM | 1ULL << FACT_PID | 1ULL << FACT_TID | 1ULL << FACT_CPU | 1ULL << FACT_LOCATION |          \
	 1ULL << FACT_STACK | 1ULL << FACT_MISC | 1ULL << FACT_BUCKET)
enum { PROFILE_BUCKETS = 4096 };

struct profile;
struct profile_options {
	struct session_options session;
	struct filter_options filters; /* samples that these leave out are in no cell */
	struct profile_shape shape; /* of what is kept; texts are copied */
	bool threads_counted; /* READ records are kept */
	/* Left out of the session's notes. */
	bool names_unseen; /* names of functions are shown nowhere */
	bool files_filtered; /* files that the filters leave out are in no row */
};
struct profile {
	struct profile_options options;
	struct session session;
	struct filters *filters; /* by sample */
	uint64_t n_changes; /* grows whenever something is added or forgotten: what was made of it before is void */
	struct profile_event **events; /* by index of the event; pointers stay */
	size_t n_events;
	uint64_t bucket_ns, bucket_origin_ns; /* width, and where the first one begins; 0: no sample yet */
	struct text_index *texts; /* of FACT_TRACE */
	struct task_names *tasks; /* for FACT_PID and FACT_TID; NULL: not kept */
	struct thread_counts thread_counts;
	struct collect *collect; /* while it is read */
	uint64_t decay_carry; /* of profile_compact */
	struct sample_spill spill; /* of sample_order */
	struct str order_failed; /* why the order of the samples is not complete; "": it is */
	struct trace_texts *trace_texts; /* makes the texts of FACT_TRACE; NULL: not kept */
	char *trace_fields; /* of options.shape.trace */
	struct kept_stacks { /* where options.shape.stacks_max is not 0 */
		bool *v; /* by number of the stack */
		size_t n_v;
		size_t n; /* that are true */
		uint64_t n_left_out; /* samples of stacks beyond the limit */
	} kept_stacks;
};
/* The reader must stay open. 0, or -EINVAL with a sentence about a filter. */
int profile_new(struct profile **profile, const struct profile_options *options, struct reader *reader,
		struct str *err);
/* The same of what is being recorded: its events are known, and the two must stay. */
int profile_new_live(struct profile **profile, const struct profile_options *options,
		     const struct recording_info *recording, struct record_source *source, struct str *err);
void profile_free(struct profile *profile); /* NULL is fine */
/*
 * Reads the recording: cells and totals of each event. 0; or a negative errno with a sentence, when what came before
 * is in the cells.
 *
 * FACT_CPU and other facts that a sample does not have are 0, but FACT_CPU, which is UINT64_MAX, and locations,
 * which are LOCATION_NONE. FACT_TIME is counted from the epoch of the recording's clock.
 */
int profile_read(struct profile *profile, void (*progress)(void *context, double part), void *context,
		 struct str *err);
/*
 * The same in steps, between which questions may be asked: records of the source until budget_ns have gone, or a
 * little more (256 records at a time). 1: there are more; PROFILE_FED_LATER: the source has none now; 0: all are
 * taken; a negative errno as profile_read. profile_end when no more will come, also where that is before the
 * source's end.
 */
enum { PROFILE_FED_LATER = 2 };
int profile_feed(struct profile *profile, struct record_source *source, uint64_t budget_ns, struct str *err);
void profile_end(struct profile *profile);
/*
 * The event's cells with no other facts than these: fewer, and remembered, so that one question after the other costs
 * what it tells apart. Valid until profile_cells_done; nothing may be added to the profile before.
 */
const struct cells *profile_cells(struct profile *profile, size_t event, uint64_t facts);
void profile_cells_done(struct profile *profile, size_t event, const struct cells *cells);
/*
 * Forgets: so many eighths of the samples that were taken so far (0: none; 8: all; see cell_moves), and the stacks,
 * locations, names and tasks that nothing else has: what is fed for ever stays flat. No table of the profile may be
 * there; numbers are new ones. Of 8 eighths replay's times of the first and the last sample are forgotten, too.
 */
void profile_compact(struct profile *profile, unsigned decay_eighths);

#endif
