/*
 * firefox_internal: a profile of the Firefox profiler while it is made: what firefox.c (the sink, the whole) and
 * firefox_thread.c, firefox_tables.c (one thread) share. Private to these.
 */
#ifndef PSTAT_FIREFOX_INTERNAL_H
#define PSTAT_FIREFOX_INTERNAL_H

#include "export/export_internal.h"
#include "export/pile.h"

/* A thread's samples of one event; the first of a thread has its markers, too. */
struct firefox_thread {
	int32_t pid, tid;
	uint32_t serial, process_serial; /* tell those apart that had one number */
	const struct data_event *event;
	uint32_t comm; /* the last name that it had in a sample */
	bool first_of_thread;
	uint64_t switched_out_ns; /* it is off its CPU since then; 0: it is not */
	bool preempted;
	struct pile_row samples; /* time, stack */
	struct pile_row markers; /* time, see firefox_marker_word; text: of a tracepoint */
};

/* The kinds of markers, and their categories' number is 0. */
enum firefox_marker { MARKER_OFF_CPU, MARKER_PREEMPTED, MARKER_TRACEPOINT };
/* Word of a marker: its kind in the low two bits; else off the CPU: how long; of a tracepoint: the sample's stack. */
enum { MARKER_KIND_BITS = 2 };

/* A function: symbol, or file of an address without one; and its source file. */
struct firefox_func {
	uint32_t name, file; /* numbers of texts; file 0: not known */
	uint32_t lib; /* number of the dso's lib; UINT32_MAX: none */
};

/* What the tables of a thread have of what is known to all of them: by number the local one, and a list of those. */
struct firefox_used {
	uint32_t *local; /* local number + 1; 0: not used */
	size_t n_local; /* room */
	uint32_t *v; /* those that are used, in the order of their local numbers */
	size_t n, cap;
};

struct firefox {
	struct export *export; /* first: export_progress */
	struct text_out out;
	struct str scratch;
	struct pile pile;
	struct firefox_thread *threads;
	size_t n_threads, cap_threads;
	struct index thread_ix; /* by serial and event */
	size_t last; /* that was looked up */
	uint64_t first_ns, last_ns;
	struct text_index *texts;
	uint32_t n_texts;
	struct row_set func_ids; /* symbol, dso, text of the file */
	struct firefox_func *funcs; /* by the number of func_ids */
	size_t n_funcs, cap_funcs;
	struct row_set libs; /* indexes of dsos, by the number of their lib */
	/* The tables of the thread that is written. */
	struct firefox_used stacks, locations, used_funcs, resources;
	uint32_t *node_of_stack; /* local: of the first frame of a stack's location, in the stack table */
	size_t cap_node_of_stack;
	uint32_t *frame_of_location; /* likewise, in the frame table */
	size_t cap_frame_of_location;
};

uint32_t firefox_text(struct firefox *f, const char *text, size_t n);
/* Milliseconds since the first sample, with all digits. */
void firefox_add_ms(const struct firefox *f, struct str *out, uint64_t time_ns);
/* Its object. 0, or a negative errno with a sentence. */
int firefox_add_thread(struct firefox *f, const struct firefox_thread *thread, struct str *err);

/* ---- firefox_tables.c ---- */

struct firefox_sizes { /* of stackTable and frameTable */
	uint32_t n_nodes, n_frames;
};
/* Forgets the thread before; then all stacks of this one have their places. 0, or a negative errno with a sentence. */
int firefox_use_all(struct firefox *f, const struct firefox_thread *thread, struct firefox_sizes *sizes,
		    struct str *err);
/* The node of a stack that is its innermost frame; of 0 null. */
void firefox_add_node(struct firefox *f, struct str *out, uint32_t stack);
void firefox_add_tables(struct firefox *f, const struct firefox_sizes *sizes);
/* ,"name":{"length":n and what ends it */
void firefox_begin_table(struct firefox *f, const char *name, size_t n);
void firefox_end_table(struct firefox *f);
void firefox_release_tables(struct firefox *f);

#endif
