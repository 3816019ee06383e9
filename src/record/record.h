/* SPDX-License-Identifier: MIT */
/*
 * record: a sample's way from the kernel's ring to the file, with the files that it passes.
 *
 *   ring (kern/) -- readers.c: a thread for each reader wakes, ring_reader.c copies whole records out of its rings
 *     -> buffers.c: bounded memory; a reader never waits, so under pressure ring_reader.c keeps less of each sample
 *     -> consumer.c: the one thread that takes buffers in turn
 *     -> [unwind_stage.c, a stage (stages.c): takes the copy of the stack out, puts the callchain in]
 *     -> [off_cpu_stage.c, another: takes context switches out, puts samples of the waits in]
 *     -> [sink_tee.c: top's live_source.c sees it too]
 *     -> sink_file.c: counts it (sample_counts.c), learns from records about tasks (buildid.c, task_table.c)
 *     -> data/writer.c -> perf.data
 *
 * record_run.c drives it: record_start.c opens all (sampling.c: options -> attrs; host_info.c: the header; synth.c:
 * what runs already), record_end.c asks the kernel what it lost, cache_files.c keeps the files that had samples.
 * No work is done per sample beyond a copy and a look at its header, and each loss is a number in record_totals.
 */
#ifndef PSTAT_RECORD_H
#define PSTAT_RECORD_H

#include "data/data.h"
#include "kern/kern.h"
#include "record/live_source.h"
#include "record/unwound.h"
#include "space/space.h"

#include <signal.h>

enum callchain_kind { CALLCHAIN_NONE, CALLCHAIN_FP, CALLCHAIN_DWARF, CALLCHAIN_LBR };

/* How to sample: the options of the command line that end in attr fields. */
struct sampling {
	uint64_t period; /* -c; 0: by frequency */
	uint64_t freq_hz; /* -F; 0: not given (4000) */
	bool freq_max; /* -F max */
	bool strict_freq; /* --strict-freq: over the limit is an error, not a note */
	enum callchain_kind callchain;
	bool defer_chains; /* fp: user callchains come later in records of their own, where the kernel has them */
	uint32_t stack_dump_bytes; /* dwarf: multiple of 8, at most 65528; 0: the default */
	bool stacks_raw; /* dwarf: the file has the copies of stacks; else they are unwound while recording */
	uint32_t max_stack; /* 0: the kernel's own limit */
	bool user_chains, kernel_chains; /* --user-callchains, --kernel-callchains: callchains of this side alone */
	bool addr; /* -d */
	bool data_src; /* --sample-mem-info */
	bool data_maps; /* --data-mmap */
	bool no_bpf_events; /* --no-bpf-event */
	bool weight; /* -W */
	bool transaction; /* --transaction */
	bool phys_addr; /* --phys-data */
	bool data_page_size, code_page_size;
	bool period_field; /* -P; part of every sample anyway */
	bool time_off; /* -T given as --no-timestamp; timestamps are on by default */
	bool cpu_field; /* --sample-cpu; part of every sample anyway */
	bool raw; /* -R */
	bool id_field; /* --sample-identifier; part of every sample anyway */
	bool inherit_stat; /* -s */
	bool no_samples; /* -n */
	bool inherit; /* off with -i */
	bool namespaces, switch_events, all_cgroups, exclude_perf;
	bool build_id; /* --buildid-mmap: MMAP2 has a build-id instead of device and inode */
	uint64_t branch_filter; /* PERF_SAMPLE_BRANCH_*; 0: no branch stacks */
	uint64_t user_regs, intr_regs; /* masks; 0: none (dwarf callchains add what they need) */
	bool has_clockid;
	int32_t clockid;
	bool all_user, all_kernel;
	bool overwrite;
	bool off_cpu; /* --off-cpu: an event for the time that threads wait, see struct off_cpu_totals */
	uint64_t off_cpu_least_ns; /* --off-cpu-thresh: shorter waits are counted and not written */
	bool wakers; /* --wakers, with off_cpu: an event for what ends waits */
	bool wall; /* --wall, with off_cpu: the waits are samples of the clock that is sampled */
	/* The waits come as samples from who has struct record_plan's attach; no SWITCH records are asked for. */
	bool waits_counted;
	bool starts_late; /* -D, --control: events wait, but what tasks do is recorded from the start */
};

/*
 * Fills the sampling fields of every event's attr (also inherit and read_format) and drops what
 * cannot be sampled (tool events), with a note.
 *
 *   - Every event has IDENTIFIER, IP, TID, TIME and CPU, so that ids and record trailers lie at the
 *     same place for all; only what an event adds (PERIOD where it is not fixed, RAW of tracepoints,
 *     READ of :S groups, callchains by term) is its own.
 *   - One event also records what tasks do (attr.mmap and so on): the first, where it sees all that the
 *     others see, else a dummy at the end of the list (event.tracking). The dummy runs from the start.
 *   - With off_cpu the event of the context switches is added (event.off_cpu), which samples each of them; with
 *     wakers that of the wakeups (event.woken_at).
 *   - In a :S group only the leader samples, with the values of all; children are not followed.
 *   - Frequencies are lowered to kernel.perf_event_max_sample_rate and stack depths to
 *     kernel.perf_event_max_stack, with a note.
 *
 * -EINVAL and a sentence where the options contradict, -ENOTSUP where this architecture lacks what is
 * asked for.
 */
int sampling_apply(const struct sampling *sampling, const struct target *target,
		   struct event_list *events, const struct kern *kern, struct note_list *notes,
		   struct str *err);
/* The words of --user-regs and -I, in order; help is "" where the name says it all. false: no more. */
bool sample_reg_row(size_t i, const char **name, const char **help);
/* Is this event to bring branch records (-b, -j, --call-graph lbr, its own terms)? */
bool sampling_wants_branches(const struct sampling *sampling, const struct event *event);
/*
 * "ip,sp" -> a mask of registers, in any case; -EINVAL with a sentence that lists them all. NULL: the general ones;
 * -ENOTSUP with a sentence where none are known.
 */
int sample_regs_parse(const char *text, uint64_t *mask, struct str *err);

/* ---- host_info.c, buildid.c: the header's features ---- */

/* HOSTNAME to CPU_TOPOLOGY, PMU_MAPPINGS, ... of this machine; argv: the command line of pstat. */
void host_info_collect(struct info *info, const struct event_list *events, int argc,
		       char *const *argv, const struct kern *kern);

/*
 * Build-ids of what was mapped, each file read once. For one thread, which never waits for a file system but in
 * buildid_set_write: a process of its own opens the files (buildid_reader.h).
 */
struct buildid_set;
struct buildid_set *buildid_set_new(const struct kern *kern);
/* Keeps files open from when they are read, as far as there are descriptors for it. Before the first record. */
void buildid_set_hold(struct buildid_set *set);
/* Forks the process that reads files, while there are no other threads yet: better than with the first file. */
void buildid_set_prepare(struct buildid_set *set);
/* Starts its thread now, and not with the first file: for those who want to know all threads. */
void buildid_set_begin(struct buildid_set *set);
/* Does not wait for a file system that does not answer. */
void buildid_set_free(struct buildid_set *set);
/*
 * A record was seen (synthesized or from a ring). MMAP2 of files and [vdso], MMAP of modules: the file is
 * asked for soon, since the process may be gone later, under procfs/PID/root/PATH, and read once per
 * (dev, inode); it counts only if it still is that inode. A look-up in a hash for what is known or asked for already.
 * FORK: whose root to look under when the process is gone. MMAP2 of executable memory without a file: where files are
 * held, the process's map of it is looked for at the end. Others are passed over.
 */
void buildid_set_take(struct buildid_set *set, const struct record_body *body);
/*
 * Adds the kernel, modules and all files that were taken to info->build_ids (FEATURE_BUILD_ID). Waits for those that
 * are not answered yet, for BUILDID_WAIT_MS from one answer to the next; those that did not come then are in the
 * next info, if they came meanwhile.
 */
void buildid_set_write(struct buildid_set *set, struct info *info);
/* Says which files were asked for and did not come. */
void buildid_set_note(const struct buildid_set *set, struct note_list *notes);

/* The kernel that runs, or one of its modules. */
struct kernel_file {
	const char *path; /* as recordings have it */
	uint64_t start, end;
	struct build_id id; /* size 0: not known */
};
typedef void kernel_file_fn(void *context, const struct kernel_file *file);
/* Calls take for each of them; none, where kptr_restrict hides the addresses. */
void kernel_files_each(const struct kern *kern, kernel_file_fn *take, void *context);

/* One file that was mapped, as far as buildid_set_write has waited for it. */
struct buildid_file {
	const char *path; /* as in the record; the set's */
	bool is_map; /* names of code that process pid made: no file that was mapped, and of another name there */
	uint16_t cpumode; /* MISC_KERNEL: a module */
	struct build_id id; /* size 0: not known */
	int fd; /* open for reading, since it was mapped; the set's; -1: not held */
	uint32_t pid; /* of a process that had it mapped; 0: not known */
};
size_t buildid_set_files(const struct buildid_set *set);
void buildid_set_file(const struct buildid_set *set, size_t i, struct buildid_file *file);
/* Which of them a dso of the recording is; buildid_set_files(): none. */
size_t buildid_set_find(const struct buildid_set *set, const struct dso *dso);

/* ---- a recording ---- */

/* Threads that drain the rings: how many, and which CPUs are whose. */
enum reader_split {
	READERS_ONE,
	READERS_CPU, /* one for each CPU */
	READERS_CORE, /* and so on */
	READERS_PACKAGE,
	READERS_NODE,
	READERS_MASKS, /* as plan.reader_masks says */
};
struct reader_mask {
	struct intset cpus; /* the reader drains these */
	struct intset affinity; /* and runs on these */
};
struct reader_masks {
	struct reader_mask *v;
	size_t n, cap;
};
/*
 * "0-1/0:2-3/2" -> two masks; what was there before is replaced. -EINVAL and a sentence where the text is wrong;
 * whether it fits the machine is known later (record_run). Release the masks in every case.
 */
int reader_masks_parse(struct reader_masks *masks, const char *text, struct str *err);
void reader_masks_release(struct reader_masks *masks);

/* Descriptions of what runs already: synth.h. */
enum synth_what {
	SYNTH_TASKS = 1, /* FORK and COMM of every thread */
	SYNTH_MMAPS = 2, /* MMAP2 of what a process may execute */
	SYNTH_CGROUPS = 4, /* CGROUP of every cgroup there is: of use with PERF_SAMPLE_CGROUP only */
	SYNTH_ALL = 7,
	SYNTH_DATA_MMAPS = 8, /* with SYNTH_MMAPS: what it may only read, too (where attr.mmap_data is) */
};

struct record_totals; /* below */

struct record_plan {
	/* what */
	struct event_list *events;
	struct target_spec target;
	char *const *argv; /* the command, or NULL */
	const struct exec_state *found; /* how it is started */
	struct sampling sampling;
	/* rings */
	uint64_t ring_bytes; /* -m; 0: the default */
	enum reader_split readers; /* --threads */
	struct reader_masks reader_masks; /* READERS_MASKS; whoever fills the plan releases them */
	long realtime_priority; /* -r: SCHED_FIFO, for the readers; 0: none */
	bool affinity; /* --affinity: readers run where their rings are */
	uint64_t buffer_bytes; /* --buffer-size; 0: the default */
	/* the file */
	const char *path; /* -o; "-": pipe; NULL: no file */
	int zstd_level;
	bool build_ids, build_ids_all; /* --no-buildid, --buildid-all */
	bool cache; /* files that had samples are put into the build-id cache; not with -N */
	const char *cache_dir; /* --buildid-dir; NULL: perf's */
	bool no_cache; /* of names and unwind rows: see sym.h, names_cache_new */
	uint64_t cache_bytes; /* --buildid-cache-size; 0: no limit */
	bool timestamp_name; /* --timestamp-filename */
	unsigned synth; /* --synth: enum synth_what */
	bool tail_synthesize;
	uint64_t max_bytes; /* --max-size; 0: none */
	bool switch_on_signal; /* --switch-output */
	struct event_list *switch_events; /* --switch-output-event; none: NULL, or an empty list */
	uint64_t switch_bytes, switch_ns;
	unsigned switch_max_files; /* --switch-max-files; 0: all are kept */
	/* how long */
	long delay_ms; /* -D; -1: start disabled */
	/*
	 * -D 10-20,30-40: ms from the start, when sampling ends that delay_ms began, begins again, ends, and so on;
	 * the recording ends with the last of them. NULL: there are none.
	 */
	uint64_t *windows_ms;
	size_t n_windows_ms;
	uint64_t duration_ns; /* --duration: from when the delay is over; 0: no limit */
	int control_fd, ack_fd; /* -1: none */
	int end_fd; /* the recording ends when this can be read; -1: none */
	uint64_t drain_every_ns; /* how often rings that are not nearly full are drained; 0: each second */
	uint64_t flush_every_ns; /* how often all that was taken is put where others find it; 0: each second */
	uint64_t drain_later_every_ns; /* the same after the first second, up to a second; 0: as before */
	bool dry_run;
	int argc; /* pstat's own words, for the header */
	char *const *own_argv;
	/* where it goes */
	const struct kern *kern;
	struct note_list *notes;
	/*
	 * signal: the recording ends with a whole file; a command that runs on is given the signal, and
	 * killed by a second one. snapshot: see switch_on_signal.
	 */
	struct run_stop *stop;
	void (*opened)(void *data, const struct counter_set *set); /* notes are final */
	/*
	 * The events are open, and none that samples runs: what becomes of their samples may be changed. NULL, or 0; a
	 * negative errno with a sentence: there is no recording.
	 */
	int (*attach)(void *data, const struct counter_set *set, struct str *err);
	/*
	 * Whether the kernel runs the sample_filter of a counter, by its index in the set, and how many samples did not
	 * pass. Both or none are NULL; with attach.
	 */
	bool (*filters_itself)(void *data, size_t counter);
	uint64_t (*left_out)(void *data, size_t counter);
	void (*stops)(void *data); /* events are about to be stopped, one after the other; or NULL */
	/* --control "evlist": the events, as the words after it ask ("-v", "-g", "-F" or ""). */
	void (*list_events)(void *data, const struct events *events, const char *words);
	void (*progress)(void *data, const struct record_totals *totals); /* about once a second */
	/* The recording is whole, files are put into the cache; may be NULL. part: 0 to 1. */
	void (*cache_progress)(void *data, double part);
	/*
	 * Each may be NULL, and is called once, before the first record. other_sink: who else is to be told of the
	 * records; NULL: nobody. stage: what stands before `next`, a sink that tells it (stages.h); written: the events
	 * of the records that it hands on, where these are not the ones that are recorded. What `recording` says stays
	 * as long as the sinks are told anything.
	 */
	struct record_sink *(*other_sink)(void *data, const struct recording_info *recording);
	struct record_sink *(*stage)(void *data, const struct recording_info *recording,
				     struct record_sink *next);
	const struct events *(*written)(void *data, const struct events *recorded);
	void *data;
};

/* How the chains of stacks that were unwound while recording ended. */
struct chain_totals {
	uint64_t n, ends[CHAIN_ENDS]; /* of all, and by enum chain_end */
	uint64_t guessed; /* in which a caller was found by the frame pointer, complete or not */
	uint32_t copy_bytes; /* of the stack, at most */
};

/* Waits: what became of all times that threads left a CPU. */
struct off_cpu_totals {
	uint64_t waits, ns; /* written as samples of offcpu-time, and the sum of their periods */
	uint64_t open; /* of these, not over at the end: they lasted until then */
	uint64_t no_stack; /* of these, without a stack: the sample at the switch is not there */
	/*
	 * Waits of these during which records were lost, and the sum of their periods: where the thread was back
	 * meanwhile and nothing of it is there, several waits and the time between them look like one.
	 */
	uint64_t over_losses, over_losses_ns;
	uint64_t slept, woken; /* with wakers: of these, over and not preempted; and whose wakeup is recorded */
	uint64_t short_waits, short_ns; /* left out, as they were shorter than off_cpu_least_ns */
	/* Not known how long: */
	uint64_t begun_before; /* they began before the recording, or before it was enabled again */
	uint64_t unpaired; /* the thread left twice, came back twice or ended: a record between is not there */
	uint64_t backwards; /* the return has an earlier time than the leaving */
};

/* Numbers of the closing lines. */
struct record_event_totals {
	char *name;
	bool tracking; /* a dummy: what it says is not about samples */
	uint64_t samples, lost, throttled;
	uint64_t enabled_ns, running_ns;
	double achieved_hz; /* samples per second of running time */
	uint64_t left_out; /* samples that did not pass --filter */
	double asked_hz; /* 0: by period, or of single hits, which come as they do */
};
struct record_totals {
	uint64_t samples;
	uint64_t bytes; /* in the file */
	uint64_t lost; /* the greater of LOST records and PERF_FORMAT_LOST, per event, summed */
	uint64_t strange; /* samples that are of none of the events: see events_of_sample() */
	uint64_t not_written; /* samples that came and did not fit: the disk or --max-size was full */
	uint64_t cut; /* samples that lack the copy of their stack, as the buffers were nearly full */
	uint64_t dropped; /* samples that were left out, as the buffers were full; `lost` has them too */
	uint64_t throttled, unthrottled; /* records */
	struct chain_totals chains;
	bool has_filters; /* an event had --filter on fields of samples */
	bool has_off_cpu; /* the recording had the event */
	struct off_cpu_totals off_cpu;
	uint64_t rounds, wakeups;
	uint64_t elapsed_ns;
	unsigned files; /* --switch-output */
	struct record_event_totals *events;
	size_t n_events;
	char *path; /* of the last file, or of the pipe; NULL: there is none */
	int fd; /* where there is a path: open on what was written, whatever has its name now; -1: it can't be had */
};
void record_totals_release(struct record_totals *totals);

/*
 * Records to the end. 0 and *status = the exit status for pstat. Negative errno and a sentence where
 * pstat itself failed; what was recorded until then is readable all the same.
 */
int record_run(const struct record_plan *plan, struct record_totals *totals, int *status,
	       struct str *err);

#endif
