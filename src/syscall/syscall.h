/* SPDX-License-Identifier: MIT */
/*
 * syscall: what threads ask of the kernel. Samples of raw_syscalls:sys_enter and sys_exit, two tracepoints that every
 * system call passes, become calls: who, when, which one with which arguments, how long, what it returned.
 *
 *   replay -> pairing.c: joins entry and exit by thread -> struct syscall_call -> struct syscall_sink
 *                                                                                 |-> line.c: a line for each
 *   calls.c: number -> name and arguments; words.c: value -> name                 '-> summary.c: per thread and call
 *   socket_address.c: bytes -> family and address; vector_text.c: bytes -> buffers, messages
 *   texts.c: what arguments point at, as a BPF program has read it
 *
 * Samples of other events come between the calls, in the order of time: struct syscall_event -> event_line.c.
 *
 * A call is told when it is over, so calls are in the order of their ends. One whose entry or exit was not seen is
 * told too, and says so: no duration is made up. Where events were lost, a call that went on meanwhile counts as one
 * whose entry and one whose exit was not seen: they may be two calls.
 *
 * Numbers and arguments are part of the kernel's ABI, and are the tables' here, not those of the machine that runs: a
 * recording may be from another one. Input is hostile: numbers and arguments may be anything.
 */
#ifndef PSTAT_SYSCALL_H
#define PSTAT_SYSCALL_H

#include "profile/profile.h"
#include "trace/trace.h"

enum { SYSCALL_ARGS = 6 };

/* ---- words.c: names of values ---- */

/* How an argument is written. Those from KIND_WORDS on have a list of names. */
enum syscall_kind {
	KIND_INT, KIND_UINT, /* 32 bits */
	KIND_LONG, KIND_SIZE, /* as many as the task's long has: signed, unsigned */
	KIND_HEX, KIND_OCTAL, KIND_PTR,
	KIND_TEXT, KIND_PATH, /* pointers to a text, and to the name of a file */
	KIND_FD, KIND_DIR, /* a descriptor; one that names relative to it are looked up from: CWD */
	KIND_BYTES, /* a pointer to what the call reads; the next argument is how many bytes */
	KIND_FILLED, /* to what it writes; the next argument is how many bytes at most, what it returns how many */
	KIND_ADDRESS, /* to a socket's address; the next argument is how many bytes */
	KIND_PEER, /* to where it writes one; the next argument points at how many bytes */
	KIND_STRINGS, /* to pointers to texts, of which the last is NULL */
	KIND_COUNT, /* likewise; how many they are */
	KIND_VECTOR, /* to struct iovec of buffers that the call reads; the next argument is how many of these */
	KIND_VECTOR_FILLED, /* that it writes */
	KIND_MESSAGE, KIND_MESSAGE_FILLED, /* to a struct msghdr, whose buffers the call reads, writes */
	KIND_WORDS,
};
static inline bool syscall_is_descriptor(int kind)
{
	return kind == KIND_FD || kind == KIND_DIR;
}
struct syscall_words;
struct syscall_words *syscall_words_new(void);
void syscall_words_free(struct syscall_words *words);
/* The kind of this name, -1: there is none. arm_flags: open(2) has arm's values. */
int syscall_kind_find(const struct syscall_words *words, const char *name, size_t len, bool arm_flags);
/* "RDONLY|CLOEXEC", "SET", "0x40": names as far as there are some. */
void syscall_words_add(const struct syscall_words *words, int kind, uint64_t value, struct str *out);
/* "ENOENT", and with its meaning " (No such file or directory)"; false: no error has that number. */
bool syscall_error_add(const struct syscall_words *words, int number, bool meaning, struct str *out);

/* ---- calls.c: numbers and arguments ---- */

/* Machines whose numbers are known. SYSCALLS_GENERIC: arm64, riscv64, and others that came later. */
enum syscall_abi { SYSCALLS_X86_64, SYSCALLS_I386, SYSCALLS_GENERIC, SYSCALL_ABIS, SYSCALLS_UNKNOWN = SYSCALL_ABIS };
enum syscall_class {
	CLASS_NETWORK = 1, CLASS_PROCESS = 2, CLASS_SIGNAL = 4, CLASS_MEMORY = 8, CLASS_IPC = 16,
	CLASS_FILE = 32, /* it takes the name of a file */
	CLASS_DESC = 64, /* it takes a descriptor */
};
enum syscall_return {
	RETURNS_NUMBER, RETURNS_HEX,
	RETURNS_TASK, /* the number of a new one; in that one 0 */
	RETURNS_ELSEWHERE, /* to where a signal came; its exit has number -1 */
	RETURNS_NEVER,
	RETURNS_AS_ANOTHER, /* a number; where it is no error, the thread runs another program */
};
struct syscall_arg {
	const char *name;
	uint8_t len;
	uint8_t kind; /* enum syscall_kind, and more */
};
struct syscall_row {
	const char *name;
	size_t len;
	unsigned classes;
	enum syscall_return returns;
	int numbers[SYSCALL_ABIS]; /* -1: that machine does not have it */
	size_t n_args;
	struct syscall_arg args[SYSCALL_ARGS];
};
struct syscall_table {
	struct syscall_words *words;
	char *text; /* of the names */
	struct syscall_row *v; /* v[0] stands for all calls that are not known: its arguments are bare numbers */
	size_t n, cap;
	uint16_t *by_number[SYSCALL_ABIS]; /* SYSCALL_NUMBERS of them: an index of v */
};
enum { SYSCALL_NUMBERS = 512 };
/* arch: as uname -m has it; NULL: not known. */
void syscall_table_init(struct syscall_table *table, const char *arch);
void syscall_table_release(struct syscall_table *table);
enum syscall_abi syscall_abi_of(const char *arch);
/* The 32-bit ABI that machines of this one run too. */
enum syscall_abi syscall_abi_32(enum syscall_abi abi);
/* Never NULL. */
const struct syscall_row *syscall_find(const struct syscall_table *table, enum syscall_abi abi, int64_t number);
/* Bits of the class of this name ("file", "%file"); 0: there is none. */
unsigned syscall_class_find(const char *name, size_t len);

/* ---- selection.c: -e ---- */

/* Calls that are taken, by their rows. Zeroed, nothing was said: all are. */
struct syscall_selection {
	bool *taken; /* by index of the table; NULL: all */
};
/*
 * Adds what a list says: names, patterns, classes; with ! in front of it all but these. -EINVAL with a sentence: no
 * call has such a name.
 */
int syscall_selection_add(struct syscall_selection *selection, const struct syscall_table *table, const char *list,
			  struct str *err);
/* No call is taken, unless a list adds one. */
void syscall_selection_none(struct syscall_selection *selection, const struct syscall_table *table);
/* The word is a name of calls, a pattern that some have, or a class. */
bool syscall_is_name(const struct syscall_table *table, const char *word);
void syscall_selection_release(struct syscall_selection *selection);
static inline bool syscall_is_taken(const struct syscall_selection *selection, const struct syscall_table *table,
				    const struct syscall_row *row)
{
	return !selection->taken || selection->taken[row - table->v];
}
/*
 * Adds a filter of the two tracepoints that lets these calls pass, of this ABI and of its 32-bit one: "id == 0 || ...";
 * others may pass too. Nothing: all pass, or the filter would be longer than the kernel takes.
 */
void syscall_selection_filter(const struct syscall_selection *selection, const struct syscall_table *table,
			      enum syscall_abi abi, struct str *out);

/* Kinds of the arguments of those that are taken, by number; others are zero, KIND_INT. */
void syscall_selection_kinds(const struct syscall_selection *selection, const struct syscall_table *table,
			     enum syscall_abi abi, uint8_t kinds[SYSCALL_NUMBERS][SYSCALL_ARGS]);

/* 2, 4 or 8 bytes of a sample, in the byte order of the recording. */
static inline uint64_t syscall_load(const uint8_t *bytes, size_t n, bool swap)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (n) {
	case sizeof(two):
		memcpy(&two, bytes, sizeof(two));
		return swap ? __builtin_bswap16(two) : two;
	case sizeof(four):
		memcpy(&four, bytes, sizeof(four));
		return swap ? __builtin_bswap32(four) : four;
	default:
		memcpy(&eight, bytes, sizeof(eight));
		return swap ? __builtin_bswap64(eight) : eight;
	}
}

/* ---- texts.c: what arguments point at, and files of descriptors ---- */

#define SYSCALL_TEXTS_EVENT "syscall-texts"
enum { SYSCALL_TEXT_MAX = 4096 }; /* bytes of one; no path is longer */
enum syscall_text_kind {
	TEXT_EARLY, /* read when the call began */
	TEXT_LATE, /* when it ended */
	TEXT_FILE, /* the file of a descriptor */
	TEXT_BYTES, TEXT_BYTES_LATE, /* a buffer, or a socket's address: read when the call began, when it ended */
	TEXT_STRINGS, /* of an array of pointers, each with NUL */
	TEXT_COUNT, /* 8 bytes: how many pointers there are before NULL */
	TEXT_VECTOR, TEXT_VECTOR_LATE, /* buffers of an array: see vector_text.c */
	TEXT_MESSAGE, TEXT_MESSAGE_LATE, /* of a message, and what it has besides */
	TEXT_KINDS,
};
struct syscall_text {
	uint64_t address; /* of a file: the descriptor */
	uint32_t number; /* of the call */
	uint8_t argument;
	enum syscall_text_kind kind;
	bool goes_on; /* there is more of it than these bytes */
	/* Any bytes. A file that has just come has names, each with NUL, from its own to that below the root. */
	const char *bytes;
	size_t len;
	/* These belong to such a file. */
	uint64_t inode;
	uint32_t filesystem; /* its magic number */
	bool deleted, whole; /* it has no name any more; all its names are there */
};
/* Texts of one call. Zeroed: none. */
struct syscall_texts {
	uint32_t number;
	unsigned known; /* bits */
	struct str bytes;
	struct syscall_text v[SYSCALL_ARGS];
	size_t at[SYSCALL_ARGS]; /* in bytes */
};
/* True: it was read when the call ended. */
static inline bool syscall_text_is_late(const struct syscall_text *text)
{
	return text->kind == TEXT_LATE || text->kind == TEXT_BYTES_LATE || text->kind == TEXT_VECTOR_LATE ||
	       text->kind == TEXT_MESSAGE_LATE;
}
bool syscall_event_has_texts(const struct data_event *event);
/* Reads a sample's raw data; false: it is none. The bytes are borrowed. */
bool syscall_text_read(struct syscall_text *text, const uint8_t *raw, size_t n, bool swap);
/* Copies the text. One of another call, or of an argument that has one, begins anew. */
void syscall_texts_put(struct syscall_texts *texts, const struct syscall_text *text);
void syscall_texts_clear(struct syscall_texts *texts); /* memory kept */
/* The text of this call's argument, if that is what was read; of a descriptor its file. The bytes are borrowed. */
bool syscall_texts_find(const struct syscall_texts *texts, int64_t number, size_t argument, uint64_t address,
			struct syscall_text *text);

/* ---- pairing.c: calls ---- */

enum syscall_state {
	CALL_WHOLE,
	CALL_CONTINUED, /* its entry was not seen: it began before, or where events were lost */
	CALL_UNFINISHED, /* its exit was not seen: the thread or the recording ended, or events were lost */
	CALL_NO_RETURN, /* it never returns */
};
/* State of a thread, as long as it lives. */
struct syscall_thread {
	struct thread *thread;
	void *user; /* the sink's, who clears it in `gone` */
	bool in_call;
	bool abi_32;
	int64_t number;
	const struct syscall_row *row;
	uint64_t begun_ns, losses; /* how many losses there had been */
	uint64_t args[SYSCALL_ARGS];
	struct syscall_texts texts; /* of this call, or of the next one, whose begin comes then */
	uint64_t texts_losses; /* how many losses there had been */
	uint64_t cgroup; /* that its last sample was in; 0: samples do not say it */
};
struct syscall_call {
	enum syscall_state state;
	struct syscall_thread *thread;
	const struct syscall_row *row;
	int64_t number;
	bool abi_32;
	uint64_t begun_ns, ended_ns; /* begun: not of CALL_CONTINUED; ended: of _WHOLE and _CONTINUED */
	const uint64_t *args; /* SYSCALL_ARGS of the thread's; not of CALL_CONTINUED */
	const struct syscall_texts *texts; /* that arguments point at */
	int64_t returned; /* of _WHOLE and _CONTINUED */
	const struct replay_sample *exit; /* the sample of its exit: of these two; else NULL */
};
/* Values from -SYSCALL_ERROR_MAX to -1 are errors, whatever the call. True: it gave the error -returned. */
enum { SYSCALL_ERROR_MAX = 4095 };
static inline bool syscall_failed(const struct syscall_call *call)
{
	return (call->state == CALL_WHOLE || call->state == CALL_CONTINUED) && call->returned < 0 &&
	       call->returned >= -SYSCALL_ERROR_MAX;
}
/* Kinds of events, by what their samples tell. */
enum syscall_point {
	POINT_NONE, /* an event that nobody wants */
	POINT_ENTER, POINT_EXIT,
	POINT_TEXT, /* what an argument points at */
	POINT_OTHER, /* the first that is no call: of a tracepoint, or of any other event */
	POINT_FAULT, POINT_MINOR_FAULT, POINT_MAJOR_FAULT, /* a page was not there: of either kind, of the one known */
	POINT_RUNTIME, /* sched:sched_stat_runtime: its thread was on a CPU */
};
/* A sample of an event that is no call. */
struct syscall_event {
	enum syscall_point point;
	struct syscall_thread *thread;
	const struct replay_sample *sample;
	uint64_t runtime_ns; /* of POINT_RUNTIME */
};
/* Each gives 0, or a negative errno with a sentence, which ends the reading; 1: it has enough, and wants no more. */
struct syscall_sink {
	void *context;
	int (*call)(void *context, const struct syscall_call *call, struct str *err);
	/* Asked once of each event that is no call: are its samples wanted? NULL: none is, and there is no `event`. */
	bool (*wants)(void *context, const struct data_event *event);
	int (*event)(void *context, const struct syscall_event *event, struct str *err);
	/* n events were lost before this moment, of whatever thread; where is 0: not known. */
	int (*lost)(void *context, uint64_t where_ns, uint64_t n, struct str *err);
	void (*gone)(void *context, struct syscall_thread *thread); /* or NULL */
};
struct syscall_stream;
/*
 * NULL with a sentence: the recording has neither samples of both tracepoints, with their formats, nor of another event
 * that is wanted. All is borrowed. The session is one that nothing was read from.
 */
struct syscall_stream *syscall_stream_new(struct session *session, const struct syscall_table *table,
					  const struct syscall_selection *selection, const struct syscall_sink *sink,
					  struct str *err);
void syscall_stream_free(struct syscall_stream *stream);
/*
 * Reads what the source has: 0: it came to its end, or the sink has enough; 1: the source has nothing now
 * (SOURCE_LATER): call it again; a negative errno with a sentence.
 */
int syscall_stream_run(struct syscall_stream *stream, struct record_source *source, struct str *err);
/* No more will be read: calls that are not over are told. */
int syscall_stream_end(struct syscall_stream *stream, struct str *err);
/* Formats of the recording; NULL: it has none. */
struct tracepoints *syscall_stream_tracepoints(const struct syscall_stream *stream);
/* Time of the first sample; 0: there was none. */
uint64_t syscall_stream_begun(const struct syscall_stream *stream);

/* ---- line.c: a call as a line, of text or of JSON ---- */

struct syscall_lines {
	const struct syscall_table *table;
	struct session *session;
	struct tracepoints *tracepoints; /* of the events that have lines */
	uint64_t base_ns; /* times count from here */
	bool no_comm;
	bool cpu; /* the CPU that a call ended on, or an event was on */
	bool no_calls; /* none has a line: those of events have no place for a duration, but faults' */
	bool stacks; /* those of samples stand below their lines */
	bool kernel_format; /* fields of tracepoints are printed as the kernel's format has them */
};
/* "     0.054 ( 0.001 ms): ls/10623 brk(brk: NULL)     = 0x55815194e000" and a newline. */
void syscall_line_add(const struct syscall_lines *lines, const struct syscall_call *call, struct str *out);
void syscall_line_add_lost(const struct syscall_lines *lines, uint64_t where_ns, uint64_t n, struct str *out);
/* The same as JSON, with times of the clock, and values as they were beside what is made of them. */
void syscall_json_add(const struct syscall_lines *lines, const struct syscall_call *call, struct str *out);
void syscall_json_add_lost(uint64_t where_ns, uint64_t n, struct str *out);

/* ---- socket_address.c: what connect(2) and others take ---- */

/* "{ .family: INET, port: 80, addr: 10.0.0.1 }", as far as there are bytes; the numbers' order is the recording's. */
void syscall_address_add(const struct syscall_words *words, const struct syscall_text *text, bool swap,
			 struct str *out);

/* ---- vector_text.c: what readv(2), sendmsg(2) and others take ---- */

/* False: the text is of another kind. */
bool syscall_vector_add(const struct syscall_text *text, bool swap, struct str *out);
bool syscall_message_add(const struct syscall_words *words, const struct syscall_text *text, bool swap,
			 struct str *out);

/* ---- stack_line.c: the stack of a sample, below its line ---- */

/* A line for each frame, the innermost first: blanks, "name (file)". */
void syscall_line_add_stack(const struct syscall_lines *lines, const struct replay_sample *sample, struct str *out);
/* ,"stack":[{"ip":"0x...","symbol":"name","offset":16,"dso":"file"},...]; nothing, if it has none. */
void syscall_json_add_stack(const struct syscall_lines *lines, const struct replay_sample *sample, struct str *out);
/* How many frames it has. */
size_t syscall_stack_depth(const struct syscall_lines *lines, const struct replay_sample *sample);

/* ---- event_line.c: lines of other events ---- */

/*
 * "     6.870 (         ): ls/10623 sched:sched_switch(prev_comm: "ls", ...)",
 * "     0.174 (         ): ls/10623 minfault [_dl_start+0x3d] => /usr/lib/ld.so@0x33e06 (d.)": the code that ran, and
 * the address that had no page: d: it lies in a map, ?: in none; then its level.
 */
void syscall_line_add_event(const struct syscall_lines *lines, const struct syscall_event *event, struct str *out);
void syscall_json_add_event(const struct syscall_lines *lines, const struct syscall_event *event, struct str *out);

/* ---- summary.c: calls summed up ---- */

struct syscall_summary;
/* Kinds of tables: each thread or cgroup has one, or all together. */
enum syscall_summary_mode { SUMMARY_OF_THREADS, SUMMARY_OF_ALL, SUMMARY_OF_CGROUPS };
struct syscall_summary_options {
	const struct syscall_table *table;
	const struct replay *replay; /* names of threads and cgroups */
	enum syscall_summary_mode mode;
	bool errnos; /* how often each error came */
	bool histogram; /* of the durations of each call, in all */
	bool runtime; /* how long each thread was on a CPU */
	unsigned max_rows; /* of a table; 0: no limit */
};
struct syscall_summary *syscall_summary_new(const struct syscall_summary_options *options);
void syscall_summary_free(struct syscall_summary *summary);
void syscall_summary_take(struct syscall_summary *summary, const struct syscall_call *call);
/* Faults and times on a CPU are counted, other events are not. */
void syscall_summary_event(struct syscall_summary *summary, const struct syscall_event *event);
/* The thread's numbers stay, under the name that it has now. */
void syscall_summary_gone(struct syscall_summary *summary, struct syscall_thread *thread);
void syscall_summary_lost(struct syscall_summary *summary, uint64_t n);
/* For intervals: all threads are left, as if they were gone; after the tables all is forgotten. */
void syscall_summary_leave(struct syscall_summary *summary);
void syscall_summary_clear(struct syscall_summary *summary);
/*
 * When no thread is left, once before a clear: a table for each thread or cgroup, the busiest first; then, of several,
 * one of all.
 */
void syscall_summary_print(struct syscall_summary *summary, struct str *out);
/* The same as JSON, an object a line: what each thread and all did, and of each their calls. No histogram. */
void syscall_summary_json(struct syscall_summary *summary, struct str *out);

#endif
