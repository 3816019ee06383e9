/* SPDX-License-Identifier: MIT */
/*
 * replay: bytes -> process events in the order of time. It is fed the records of one recording, from whatever source
 * they come, puts them in the order of time, keeps what they say about processes, threads, names and maps, and
 * hands each sample on together with the thread that it belongs to.
 *
 *   replay_feed, _round -> order.c (rounds) -> process_events.c (by type of record) -> struct replay_handlers
 *                                                 |
 *                                                 +-> threads, address spaces, maps, dsos, comms
 *
 * Memory grows with what is alive and distinct (threads, maps, files, names), not with the recording's
 * length: records wait for two rounds at most, a thread goes with its EXIT.
 *
 * Nothing here knows ELF, symbols or the machine it runs on. All input is hostile; text is kept as raw
 * bytes, to be made printable where it is printed.
 */
#ifndef PSTAT_REPLAY_H
#define PSTAT_REPLAY_H

#include "data/data.h"
#include "space/space.h"
#include "util/util.h"

/* ---- processes ---- */

struct thread {
	int32_t pid, tid;
	int32_t ppid; /* -1: not known */
	uint32_t serial, process_serial; /* tell threads and processes apart whose numbers were used again */
	uint32_t comm; /* index of its present name, for replay_comm */
	bool comm_known; /* false: it is called ":TID", because no COMM was seen */
	bool exited;
	struct address_space *address_space; /* of its process */
	uint64_t start_ns; /* FORK's time; 0: not known */
	uint64_t cgroup_dev, cgroup_ino; /* cgroup namespace, from NAMESPACES; 0: not known */
	void *user; /* for the caller, who clears it in handlers.thread_gone, and at the end in replay.threads */
};

/* The place of an address in what is mapped. */
struct location {
	struct dso *dso; /* NULL: no map was there */
	uint64_t
		addr; /* DSO_FILE, DSO_VDSO: offset in the file; all others and NULL: the address */
	uint64_t map_start, map_end; /* of the map, for `-v` and for unwinding; 0 without dso */
	uint8_t mode; /* MISC_KERNEL, MISC_USER, MISC_HYPERVISOR, MISC_GUEST_KERNEL, _GUEST_USER */
};

/* ---- samples and other process events ---- */

struct replay_sample {
	const struct record *record;
	const struct record_body *body; /* body->sample; its ips are those below */
	const struct sample *sample;
	const struct data_event *event; /* NULL: of no known event */
	struct thread *thread; /* never NULL; tid -1 where the sample has none */
	uint8_t mode; /* cpumode of the record */
	/* The callchain, with deferred user frames put in where their record has arrived. */
	const uint64_t *ips;
	uint64_t n_ips;
	bool user_frames_missing; /* deferred frames never arrived */
	uint32_t parallelism; /* threads that were on a CPU when it was taken: replay_parallelism */
};

struct replay;

/* Each may be NULL. A negative errno (with a sentence in err) ends the replay with that code. */
struct replay_handlers {
	void *context;
	int (*sample)(void *context, struct replay *replay, const struct replay_sample *sample,
		      struct str *err);
	/* Any other record, after it took effect (EXIT: before its thread is gone). thread: whose; or NULL. */
	int (*other)(void *context, struct replay *replay, const struct record *record,
		     const struct record_body *body, struct thread *thread, struct str *err);
	void (*thread_gone)(void *context, struct thread *thread);
	/*
	 * True: nobody wants samples of this event, which are passed over before they wait and are decoded. They are
	 * counted, but nothing is learned of their threads. NULL: all are wanted.
	 */
	bool (*skips)(void *context, const struct data_event *event);
	/* The records that are fed lie in it, and it hears of those that were delivered. replay_run sets it. */
	struct record_source *source;
	/* Called by replay_run, now and then, with the part that the source has given: see record_source.part. */
	void (*progress)(void *context, double part);
};

struct replay_options {
	bool file_order; /* don't sort by time */
	bool keep_exited; /* threads stay, for listings (--tasks, --mmaps) */
	bool data_maps; /* keep maps that are not executable too: for data addresses */
	/* Most that may wait for its round; 0: 256 MiB. Then the oldest half goes, and is counted. */
	size_t queue_bytes;
};

struct replay_counts {
	uint64_t records, samples;
	uint64_t lost_events, lost_samples; /* LOST, LOST_SAMPLES */
	uint64_t cut_stacks; /* samples whose copy of the stack the recorder cut, for want of room */
	uint64_t throttles;
	uint64_t out_of_order; /* records delivered after a newer one */
	uint64_t unknown_ids; /* samples of no known event */
	uint64_t broken; /* records that could not be decoded; the first few are in recording->notes */
	uint64_t deferred_missing;
	uint64_t auxtrace_bytes; /* of AUXTRACE: what hardware traced, which nobody here decodes */
	uint32_t auxtrace_kind; /* from AUXTRACE_INFO: enum auxtrace_kind; 0: not said */
	uint64_t forced; /* delivered early because queue_bytes was reached */
};

struct replay_private;

struct replay {
	const struct recording_info *recording; /* borrowed */
	struct replay_options options;
	struct replay_counts counts;
	struct dso_table dsos;
	struct address_space *kernel; /* kernel, modules, KSYMBOLs */
	struct address_space *guest_kernel;
	struct thread **threads; /* alive (and, with keep_exited, gone) in order of appearance */
	size_t n_threads, cap_threads;
	uint64_t first_ns, last_ns; /* time of the first and last sample so far */
	/*
	 * Threads on a CPU, as far as records say: 1 at first, for the recorded program runs when events are enabled
	 * and no record says so. SWITCH adds or takes one; EXIT takes one, for no SWITCH tells that a thread has left
	 * for good.
	 */
	int64_t on_cpu;
	struct replay_private *private;
};

/* The recording's decoder is ready: its byte order is known. */
void replay_init(struct replay *replay, const struct recording_info *recording,
		 const struct replay_options *options);
void replay_release(struct replay *replay);

/* Before the first record: who hears of the samples. A copy is kept until replay_release, which calls none. */
void replay_begin(struct replay *replay, const struct replay_handlers *handlers);
/*
 * One more record, in the order in which its source gives them: see struct record_source. What may be delivered
 * now is; what waits for its round is copied unless it is stable. 0, or what a handler returned, with its
 * sentence: then nothing may be fed any more.
 */
int replay_feed(struct replay *replay, const struct record *record, struct str *err);
/* The source's round has ended: what cannot get older company any more is delivered. */
int replay_round(struct replay *replay, struct str *err);
/* The older half of what waits is delivered before its round, which is counted: there is no more room for it. */
int replay_make_room(struct replay *replay, struct str *err);
/* No more records will come: all that waits is delivered. */
int replay_end(struct replay *replay, struct str *err);
/*
 * replay_round and replay_end in steps, for those who have other things to do meanwhile: replay_ready marks what may be
 * delivered (end: all, else as a round does), replay_deliver hands on at most `max` of it: 1 while there is more, which
 * has to be delivered before anything is fed; 0; or what a handler returned.
 */
void replay_ready(struct replay *replay, bool end);
int replay_deliver(struct replay *replay, size_t max, struct str *err);
/*
 * These four for all that a source has. 0, also where a reader's end is missing (reader->missing says so); a
 * negative errno with a sentence where reading had to end early (what came before has been delivered) or a
 * handler said so.
 */
int replay_run(struct replay *replay, struct record_source *source, const struct replay_handlers *handlers,
	       struct str *err);

/*
 * Threads on a CPU at the last record: replay.on_cpu, at least 1 and at most the machine's CPUs, where the header has
 * them. Meaningful where an event has attr.context_switch.
 */
uint32_t replay_parallelism(const struct replay *replay);

/* The thread with this number as it is now; NULL: no record was about one. */
struct thread *replay_find_thread(const struct replay *replay, int32_t tid);

/* Names of threads and cgroups: one index per distinct text, raw bytes. */
const char *replay_comm(const struct replay *replay, uint32_t comm);
uint32_t replay_n_comms(const struct replay *replay);
/*
 * For those who feed for ever: names of threads that nobody has go, and their numbers may be given to others. used: of
 * replay_n_comms, true for those that the caller has; those of the replay's own threads are added.
 */
void replay_keep_comms(struct replay *replay, bool *used);
/*
 * The same for dsos: replay_mark_dsos sets used, by index, of those that are mapped; replay_keep_dsos frees those that
 * are not used, and gives what dso_table_keep does.
 */
void replay_mark_dsos(const struct replay *replay, bool *used);
uint32_t *replay_keep_dsos(struct replay *replay, const bool *used);
/* Forgets what replay_known_process knows of processes that have ended and of which no samples can come any more. */
void replay_forget_processes(struct replay *replay);
/* The path of a cgroup id of samples, or NULL. */
const char *replay_cgroup(const struct replay *replay, uint64_t id);
/* All of them, from i = 0 on, in order of appearance; false: no more. */
bool replay_cgroup_at(const struct replay *replay, size_t i, uint64_t *id, const char **path);

/*
 * Finds what is mapped at an address of a thread, in this mode (MISC_*). Fast: remembers the last map. A user
 * address in a thread without maps has no dso. Kernel addresses are the same for all threads.
 */
void replay_locate(struct replay *replay, struct thread *thread, uint8_t mode, uint64_t ip, struct location *location);
/*
 * All executable maps of the thread's process are known, so that an address in none of them has no code. False where
 * the recording did not see it begin, or has lost any record.
 */
bool replay_knows_code(const struct replay *replay, const struct thread *thread);
/* Code may run there, of the program, or where the process has just executed it, of the one before. */
bool replay_has_code(const struct thread *thread, uint64_t addr);
/* PERF_CONTEXT_* in a chain: the mode that follows it, 0: no frames (DEFERRED); false: not a mark. */
bool context_mode(uint64_t ip, uint8_t *mode);

/* ---- process_history.c: processes, also gone ones, whose files may be there as long as they live ---- */

struct known_process {
	int32_t pid;
	int32_t ppid; /* -1: not known */
	bool exited; /* all of its threads have, the first one among them */
	/* The jit-*.dump that it mapped last, as recorded; NULL: none. inode 0: not known. */
	char *jit_path;
	uint32_t jit_major, jit_minor;
	uint64_t jit_inode;
};

/* The latest process of this pid, or NULL. Valid until the next record is taken. */
const struct known_process *replay_known_process(const struct replay *replay, int32_t pid);
/*
 * Processes that had the dso mapped and have not exited as far as the recording goes, the latest first, then
 * their relatives: children, who have a copy of its maps, and parents. At most max pids; how many.
 */
size_t replay_mappers(const struct replay *replay, const struct dso *dso, int32_t *pids, size_t max);

/* ---- tasks_listing.c: report --tasks and --mmaps; needs keep_exited ---- */
void replay_print_tasks(const struct replay *replay, struct str *out);
void replay_print_mmaps(const struct replay *replay, struct str *out);

#endif
