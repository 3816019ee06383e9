/* SPDX-License-Identifier: MIT */
/*
 * data: the perf.data file, read and written. Knows neither the perf system calls nor ELF, so files
 * from other machines and of the other byte order are read as well as one's own.
 *
 *   file or pipe -- stream.c: bytes -> struct record (packed ones unpacked)
 *     -> reader.c: header (reader_header.c), records about the recording itself -> struct events, struct info
 *     -> record_decode (record.c, one row per type; sample.c, one per field of a sample) -> struct record_body
 *     -> replay/, script, dump.c: the reader is a record_source.h, which merges the files of a directory by time
 *
 *   struct record_body -> record_encode -> bytes -> writer.c -> file or pipe: valid from the first flush on
 *
 * What a recording says about itself lives in two structs that both sides share: `struct events` (events.c: what was
 * measured, with the kernel's ids) and `struct info` (feature.c: the header's features, one row each).
 *
 * Everything read is hostile: each length is checked against what is there, each error names the
 * place: "at offset 0x1f40: MMAP2 (10): ...".
 *
 * Sources: perf_event_open(2), include/uapi/linux/perf_event.h, tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef PSTAT_DATA_H
#define PSTAT_DATA_H

#include "data/records.h"
#include "data/record_sink.h"
#include "data/record_source.h"
#include "util/util.h"

#include <linux/perf_event.h>

/* ---- events.c: what was measured ---- */

enum { DATA_ATTR_MAX = 256 }; /* bytes of an attr kept; larger ones are cut, with a note */
enum { SAMPLE_ROWS_MAX = 24 }; /* fields that a sample may have */

struct data_event {
	/* Native byte order; fields newer than the file's attr are 0. */
	union {
		struct perf_event_attr attr;
		uint8_t attr_bytes[DATA_ATTR_MAX];
	};
	uint32_t attr_size; /* bytes of attr_bytes that the file holds */
	uint64_t *ids; /* the kernel's ids, one per opened counter */
	size_t n_ids;
	char *name; /* NULL: the file has none; data_event_add_name describes the attr */
	char *unit; /* from EVENT_UPDATE, or NULL */
	double scale; /* from EVENT_UPDATE, or 1.0 */
	struct intset cpus; /* CPUs of the event's PMU from EVENT_UPDATE; n 0: not said */
	size_t index; /* place in events.v */
	size_t leader; /* index of the group's leader; its own outside groups */
	size_t n_members; /* leader only: events of the group; 1 outside groups */
	char *group_name; /* leader only, or NULL */
	bool counted; /* a sample stands for as many as its weight says: cells that were counted in the kernel */
	/*
	 * Which fields its samples have, in order: rows of the table in sample.c; kept by events_add. The first
	 * n_sample_words of them have 8 bytes each, which go to sample_at in struct sample.
	 */
	uint8_t n_sample_words, n_sample_rows, sample_rows[SAMPLE_ROWS_MAX];
	uint16_t sample_at[SAMPLE_ROWS_MAX];
};

struct event_slot; /* private: the hash from id to event */

struct events {
	struct data_event **v; /* pointers stay valid while events are added */
	size_t n, cap;
	size_t n_ids;
	struct event_slot *slots;
	size_t n_slots;
	/* How a record names its event; kept by events_add. In 8-byte words. */
	bool same_layout; /* all events have one sample_type, read_format and sample_id_all */
	int sample_id_word; /* of a SAMPLE, from the start of its payload; -1: no common place */
	int trailer_id_word; /* of any other record, from its end, 1 is the last; -1: none */
	/* The place of TIME, counted in the same way; -1: no common place, or none at all. */
	int sample_time_word, trailer_time_word;
	/* The index of the only event whose samples neither a counter nor a timer makes; -1: none, or several. */
	int sole_software;
};

void events_init(struct events *events);
void events_release(struct events *events);
/* A new event with this attr (native order, attr.size is its length) and these ids (copied). */
struct data_event *events_add(struct events *events, const void *attr, size_t attr_size,
			      const uint64_t *ids, size_t n_ids);
void events_add_ids(struct events *events, struct data_event *event, const uint64_t *ids, size_t n);
/* The event of a kernel id, or NULL. */
struct data_event *events_find(const struct events *events, uint64_t id);
/*
 * Likewise of a sample's id. Where two recorders sample the same software event at once, kernels (6.18 is one) give the
 * samples of both the id of the one that began last. An id that is not the recording's is then that of its only
 * software event; where there are several, it is nobody's.
 */
struct data_event *events_of_sample(const struct events *events, uint64_t id);
/* A deep copy; `to` must be initialized and empty. */
void events_copy(struct events *to, const struct events *from);
/*
 * Makes of the event of the context switches, at index `switches`, that of the waits: a software event offcpu-time. With
 * `wall` waits are samples of the first clock, which is called wall-clock then, and the event is a dummy; where there is
 * no clock it is as without. Returns the index of the event whose samples the waits are. What follows from an attr is
 * worked out by a copy alone: copy the events after that.
 */
size_t events_turn_to_waits(struct events *events, size_t switches, bool wall);
/* How many samples one of this event stands for; event NULL: it is not known, and 1. */
static inline uint64_t data_sample_count(const struct data_event *event, const struct sample *sample)
{
	return event && event->counted ? sample->weight : 1;
}
/* The event's name made printable; where the file has none, from its type and config. */
void data_event_add_name(const struct data_event *event, struct str *out);

/*
 * The non-zero fields of an attr, its type and configuration with the kernel's names for them, or with the PMU's that
 * info has (NULL: nobody says). With separators ": " and ", " as `evlist -v` has them, with
 * " = " and ", " as the header has them.
 */
struct info;
void attr_print(const struct data_event *event, const struct info *info, const char *equals, struct str *out);

/* ---- feature.c: what the header says about the recording ---- */

enum feature_id {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID,
	FEATURE_HOSTNAME,
	FEATURE_OSRELEASE,
	FEATURE_VERSION,
	FEATURE_ARCH,
	FEATURE_NRCPUS,
	FEATURE_CPUDESC,
	FEATURE_CPUID,
	FEATURE_TOTAL_MEM,
	FEATURE_CMDLINE,
	FEATURE_EVENT_DESC,
	FEATURE_CPU_TOPOLOGY,
	FEATURE_NUMA_TOPOLOGY,
	FEATURE_BRANCH_STACK,
	FEATURE_PMU_MAPPINGS,
	FEATURE_GROUP_DESC,
	FEATURE_AUXTRACE,
	FEATURE_STAT,
	FEATURE_CACHE,
	FEATURE_SAMPLE_TIME,
	FEATURE_MEM_TOPOLOGY,
	FEATURE_CLOCKID,
	FEATURE_DIR_FORMAT,
	FEATURE_BPF_PROG_INFO,
	FEATURE_BPF_BTF,
	FEATURE_COMPRESSED,
	FEATURE_CPU_PMU_CAPS,
	FEATURE_CLOCK_DATA,
	FEATURE_HYBRID_TOPOLOGY,
	FEATURE_PMU_CAPS,
	FEATURE_CPU_DOMAIN_INFO, /* from here on of perf 7 */
	FEATURE_E_MACHINE,
	FEATURE_CLN_SIZE,
	FEATURE_LAST_KNOWN = FEATURE_CLN_SIZE,
	FEATURE_PSTAT = 200, /* pstat's own features have this and higher bits */
	FEATURE_STAT_TARGET = FEATURE_PSTAT,
	FEATURE_SYMBOLS,
	FEATURE_BITS = 256,
};

struct text_list {
	char **v;
	size_t n, cap;
};
void text_list_add(struct text_list *list, const char *text, size_t len);

struct info_cpu {
	uint32_t core, socket, die;
};
struct info_node { /* NUMA node */
	uint32_t node;
	uint64_t total_kb, free_kb;
	char *cpus; /* "0-3" */
};
struct info_pmu {
	uint32_t type;
	char *name;
};
struct info_cache {
	uint32_t level, line_bytes, sets, ways;
	char *type, *size, *cpus; /* "Data", "32K", "0-3" */
};
struct info_mem_node {
	uint64_t node, n_blocks; /* n_blocks: bits in the set below, as the file has it */
	uint64_t *blocks; /* bit set of the memory blocks that are there */
};
struct info_build_id {
	int32_t pid; /* -1: the host; else the guest's process */
	uint16_t misc; /* cpumode: kernel or user, as in record headers */
	uint8_t size; /* bytes, at most 20 */
	uint8_t bytes[20];
	char *path;
};
struct info_caps { /* of a PMU */
	char *pmu; /* NULL in CPU_PMU_CAPS: the core PMU */
	struct text_list names, values;
};
struct info_hybrid {
	char *pmu, *cpus;
};
struct info_blob { /* BPF_PROG_INFO: a program; BPF_BTF: types */
	uint32_t id; /* BTF id; program: bytes of its info struct */
	uint64_t arrays; /* programs only: which arrays follow the info struct */
	uint8_t *bytes;
	uint32_t size;
};
struct info_section { /* AUXTRACE: where trace data lies in the file */
	uint64_t offset, size;
};
struct info_raw { /* a feature that pstat does not know: kept as it is */
	unsigned id;
	uint8_t *bytes;
	size_t size;
};

/* A vector of each kind, as { v, n, cap }. */
#define INFO_VEC(type)                                                                             \
	struct {                                                                                   \
		type *v;                                                                           \
		size_t n, cap;                                                                     \
	}

/* A bit of STAT_TARGET: the thread map has every thread of the system (stat -a --per-thread). */
enum { STAT_TARGET_ALL_THREADS = 1 };

/* The kernel's clock for samples in CLOCK_DATA; it has no number in clock_gettime(2). */
#define CLOCKID_OF_KERNEL UINT32_MAX

struct info {
	uint64_t present[FEATURE_BITS / 64]; /* what is filled below; info_has, info_set */
	char *hostname, *os_release, *version, *arch, *cpu_desc, *cpuid;
	uint32_t cpus_online, cpus_available;
	uint64_t total_mem_kb;
	struct text_list cmdline;
	struct text_list core_siblings, die_siblings, thread_siblings; /* CPU lists */
	INFO_VEC(struct info_cpu) cpus;
	bool has_dies; /* the file's CPU_TOPOLOGY is new enough to have them */
	INFO_VEC(struct info_node) nodes;
	INFO_VEC(struct info_pmu) pmus;
	INFO_VEC(struct info_section) auxtrace;
	INFO_VEC(struct info_cache) caches;
	uint64_t first_sample_ns, last_sample_ns;
	uint64_t mem_block_bytes;
	INFO_VEC(struct info_mem_node) mem_nodes;
	uint64_t clock_res_ns;
	uint64_t dir_version;
	INFO_VEC(struct info_blob) bpf_progs;
	INFO_VEC(struct info_blob) btfs;
	uint32_t comp_version, comp_type, comp_level, comp_ratio, comp_chunk_bytes;
	uint32_t clockid; /* as of clock_gettime(2), or CLOCKID_OF_KERNEL */
	uint64_t wall_clock_ns, clockid_time_ns; /* one moment on both clocks */
	INFO_VEC(struct info_caps) cpu_caps; /* at most one element */
	INFO_VEC(struct info_caps) pmu_caps;
	INFO_VEC(struct info_hybrid) hybrid;
	uint8_t *cpu_domains; /* of the scheduler, as perf sched stats stored them */
	size_t cpu_domains_size;
	uint32_t e_machine, e_flags; /* as of an ELF file */
	uint32_t cache_line_bytes;
	INFO_VEC(struct info_build_id) build_ids;
	uint64_t stat_target; /* STAT_TARGET_ALL_THREADS, or a number that a later pstat knows */
	uint8_t *tracing_data; /* tracepoint formats, as the recorder stored them */
	size_t tracing_data_size;
	uint8_t *symbols; /* of what had samples, packed: sym/embedded_names.h */
	size_t symbols_size;
	INFO_VEC(struct info_raw) raw;
};

void info_init(struct info *info);
void info_release(struct info *info);
bool info_has(const struct info *info, unsigned feature);
void info_set(struct info *info, unsigned feature); /* its fields are filled: it will be written */
void info_clear(struct info *info, unsigned feature);
/* A deep copy but for `groups`, which only reading fills; `to` must be initialized and empty. */
void info_copy(struct info *to, const struct info *from);

const char *feature_name(unsigned feature); /* "HOSTNAME"; NULL: not known to pstat */
/*
 * One feature's bytes into info and, for EVENT_DESC and GROUP_DESC, into events. swap: the bytes
 * are of the other byte order. -EINVAL with a sentence without the place; info is then without it.
 */
int feature_read(unsigned feature, const void *bytes, size_t size, bool swap, struct info *info,
		 struct events *events, struct str *err);
/* The feature's bytes appended to out. False: there is nothing of it in info. */
bool feature_write(unsigned feature, const struct info *info, const struct events *events, struct str *out);
/* The "# hostname : x" lines of one feature. full: topologies too (-I). */
void feature_print(unsigned feature, const struct info *info, const struct events *events, bool full, struct str *out);
/* All features' lines in ascending order, and "# missing features: ..." */
void info_print(const struct info *info, const struct events *events, bool full, struct str *out);

/* ---- sample_filter.c: which samples to keep, in perf's words: 'ip > 0xffffffff80000000 || cpu == 1, period > 5' ---- */

enum filter_field {
	SAMPLE_FIELD_IP, SAMPLE_FIELD_ID, SAMPLE_FIELD_TID, SAMPLE_FIELD_PID, SAMPLE_FIELD_CPU, SAMPLE_FIELD_TIME,
	SAMPLE_FIELD_ADDR, SAMPLE_FIELD_PERIOD, SAMPLE_FIELD_TXN, SAMPLE_FIELD_WEIGHT, SAMPLE_FIELD_WEIGHT1,
	SAMPLE_FIELD_WEIGHT2, SAMPLE_FIELD_WEIGHT3, SAMPLE_FIELD_INS_LAT, SAMPLE_FIELD_RETIRE_LAT,
	SAMPLE_FIELD_P_STAGE_CYC, SAMPLE_FIELD_PHYS_ADDR, SAMPLE_FIELD_CODE_PGSZ, SAMPLE_FIELD_DATA_PGSZ,
	SAMPLE_FIELD_MEM_OP, SAMPLE_FIELD_MEM_LVL, SAMPLE_FIELD_MEM_SNOOP, SAMPLE_FIELD_MEM_REMOTE,
	SAMPLE_FIELD_MEM_LOCK, SAMPLE_FIELD_MEM_DTLB, SAMPLE_FIELD_MEM_BLK, SAMPLE_FIELD_MEM_HOPS,
	SAMPLE_FIELD_UID, SAMPLE_FIELD_GID, /* of the task that is sampled: in no record */
};
enum filter_op {
	SAMPLE_EQUAL, SAMPLE_NOT_EQUAL, SAMPLE_ABOVE, SAMPLE_AT_LEAST, SAMPLE_BELOW, SAMPLE_AT_MOST,
	SAMPLE_HAS_BITS, /* one of them at least */
};
/* Comparisons are of unsigned numbers. A sample passes if each condition, a test with its alternatives, holds. */
struct sample_test {
	enum filter_field field;
	enum filter_op op;
	bool alternative; /* to the test before; else it begins a condition */
	uint64_t value;
};
struct sample_filter {
	struct sample_test *v;
	size_t n, cap;
};
/* Adds the conditions of a text. -EINVAL with a sentence. Release the filter in every case. */
int sample_filter_parse(struct sample_filter *filter, const char *text, struct str *err);
void sample_filter_release(struct sample_filter *filter);
/* Do samples of this type have all the fields? -EINVAL with a sentence that names the option, -ENOTSUP: none has. */
int sample_filter_check(const struct sample_filter *filter, uint64_t sample_type, struct str *err);
bool sample_filter_passes(const struct sample_filter *filter, const struct data_event *event,
			  const struct sample *sample);

/* ---- decoder.c, record.c: decoding and encoding ---- */

/* The knowledge that decoding needs; the reader has one, and a recorder may make its own. */
struct decoder {
	const struct events *events;
	bool swap; /* records are of the other byte order */
	uint64_t unknown_ids; /* records whose id matches no event (counted by record_decode) */
	uint64_t *scratch; /* arrays that had to be copied; see decoder_init */
	size_t scratch_used; /* in words */
};
void decoder_init(struct decoder *decoder, const struct events *events, bool swap);
void decoder_release(struct decoder *decoder);

/*
 * Bytes into fields. Pointers in body point into the record, or, where byte order or alignment ask
 * for a copy, into the decoder: valid until the next decode and as long as the record is. No memory
 * is allocated. -EINVAL with the place and reason; the next record can still be read.
 * An id that matches no event is counted; body->event is then NULL and the record is decoded where
 * the layout is known all the same.
 */
int record_decode(struct decoder *decoder, const struct record *record, struct record_body *body,
		  struct str *err);

/*
 * The time of a kernel's record (type < 64) without decoding it: a load where all events agree on the
 * place. False: it has none, or nobody knows where.
 */
bool record_time(const struct decoder *decoder, const struct record *record, uint64_t *time_ns);
/* The event of a SAMPLE, likewise; NULL: it is not known. */
const struct data_event *record_event(const struct decoder *decoder, const struct record *record);
/*
 * The record whose bytes (all of them) were kept after reader_next; without inner_offset, compressed,
 * stable and extra_size, which are 0.
 */
void record_from_bytes(struct record *record, const uint8_t *bytes, uint64_t offset, bool swap);
/* The size of the record that n bytes of records in native byte order begin with; 0: no whole one is there. */
size_t record_whole(const void *bytes, size_t n);
size_t records_whole(const void *bytes, size_t n); /* how many of n bytes are whole records */

/*
 * Fields into bytes, appended to out: header, payload and, where event has sample_id_all, its
 * trailer from body->id. event: whose layout to use; NULL for user-space records (type >= 64).
 * -E2BIG where the record would be over 65,535 bytes.
 */
int record_encode(const struct record_body *body, const struct data_event *event, struct str *out,
		  struct str *err);
/* Bytes that record_encode would append for this SAMPLE. */
size_t sample_size(const struct sample *sample, const struct data_event *event);

const char *record_name(uint32_t type); /* "MMAP2"; "UNKNOWN" */
/* Adds "at offset 0x1f40: MMAP2 (10): " and the sentence. Returns code. */
int record_fail(const struct record *record, struct str *err, int code, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* The value, id and lost count of one event in a sample's or READ record's counter values. */
uint64_t read_values_value(const struct read_values *values, size_t i);
/* False: not stored. */
bool read_values_id(const struct read_values *values, size_t i, uint64_t *id);
bool read_values_lost(const struct read_values *values, size_t i, uint64_t *lost);

/* ---- reader.c: the reading side ---- */

struct stream; /* private: one file's or pipe's records */

enum { READER_NOTES_MAX = 64 };

/* A feature of a pipe that came before the events that it is about. */
struct early_feature {
	unsigned feature;
	uint64_t offset;
	struct str bytes;
};

struct recording_directory; /* private: the order of a directory's files */

struct reader { /* not to be moved while it is open */
	/*
	 * The records in the order of replay: a directory's files merged by time. A FINISHED_ROUND record of a
	 * file or pipe is a record and then a round.
	 */
	struct record_source source;
	struct recording_info recording; /* of the members below */
	char *path; /* as given; "-": standard input */
	bool pipe; /* pipe layout: attrs and features come as records */
	bool swap; /* the file is of the other byte order */
	uint64_t header_size, data_offset, data_size, feature_offset; /* 0 for pipes */
	uint64_t file_size; /* 0 for pipes */
	struct inode inode; /* of a file, or of a folder's data */
	struct events events;
	struct info info;
	struct decoder decoder;
	struct stream **streams; /* [0] the file; a directory's data.0, data.1 ... after it */
	size_t n_streams;
	size_t current; /* the stream that reader_next reads */
	struct recording_directory *directory; /* once source is asked for a directory's records */
	bool round_due; /* the last record of source was FINISHED_ROUND */
	struct record ahead; /* of reader_know_events: what source gives next */
	int ahead_rc; /* as reader_next gave it, an error with its sentence */
	bool has_ahead;
	struct str ahead_why;
	bool no_wait; /* see reader_no_wait */
	struct early_feature early[2]; /* EVENT_DESC, GROUP_DESC; taken when the events are there */
	size_t n_early;
	struct note_list notes; /* features that could not be read, attrs that were cut, ... */
	/* Says at the end of the data what is missing, as one sentence; empty: nothing. */
	struct str missing;
	struct spool *kept; /* of reader_keep */
};

/*
 * Opens a file, a directory (`perf record --threads`) or "-". A file's header, events and features are read now, a pipe's
 * while the records go by. A broken feature is a note, a broken header or attr an error. Close it in every case.
 */
int reader_open(struct reader *reader, const char *path, struct str *err);
/* The same on an open descriptor, which the reader takes over. */
int reader_open_fd(struct reader *reader, int fd, const char *path, struct str *err);
/*
 * Keeps what comes through a pipe in a temporary file, so that it can be read again; before the first record. At most
 * bytes_max. Nothing is done for a file. A negative errno with a sentence: it can't be kept.
 */
int reader_keep(struct reader *reader, uint64_t bytes_max, struct str *err);
/*
 * Reads a pipe up to the first record that is not about the recording itself, which source gives next: then its events
 * are known. With reader_no_wait it reads no further than the pipe has come, once there are events, and formats of
 * tracepoints. A file's events are known already. To be called before source is asked for the first record.
 */
void reader_know_events(struct reader *reader);
void reader_no_wait(struct reader *reader); /* its source gives SOURCE_LATER where it would wait for a pipe */
/*
 * The recording that `reader` was opened on, from its beginning, for a second reading beside it. -ESPIPE: it came
 * through a pipe and was not kept; -EFBIG: it was more than was to be kept; -ESTALE: it was replaced or written to.
 */
int reader_open_again(struct reader *again, const struct reader *reader, struct str *err);
void reader_close(struct reader *reader);
/*
 * The next record: 1, 0 at the end (see reader->missing), or a negative errno with a sentence where what follows cannot be
 * read; later calls return 0. A directory's files follow one another (source merges them by time); reader_next_of reads one.
 * COMPRESSED records are handed out, and then the records in them. What HEADER_ATTR, EVENT_UPDATE,
 * HEADER_FEATURE, HEADER_TRACING_DATA and HEADER_BUILD_ID say is in events and info already; but what a
 * pipe says of its events before they are there, only with the first record of another type.
 */
int reader_next(struct reader *reader, struct record *record, struct str *err);
int reader_next_of(struct reader *reader, size_t stream, struct record *record, struct str *err);
/* Decodes with the reader's own decoder. */
int reader_decode(struct reader *reader, const struct record *record, struct record_body *body,
		  struct str *err);

/* ---- writer.c: the writing side ---- */

struct writer_options {
	const char *path; /* "-": standard output, as a pipe */
	bool pipe; /* pipe layout also in a file */
	int zstd_level; /* 0: not compressed; 1 .. 22 */
	size_t flush_bytes; /* written at once; 0: 1 MiB */
};

struct writer {
	char *path;
	int fd;
	struct destination place; /* of a file; else there is none */
	bool pipe;
	uint64_t data_offset, data_size; /* of what is in the file; writer_finish moves both, not their sum */
	uint64_t bytes_in; /* given to writer_add so far, before compression */
	/*
	 * After the first failure: all whole records that were taken and are not in the file then, in their order, also
	 * those of the call that failed; of a pipe the whole piece. Those of a later call, which is refused, are not.
	 */
	struct str unwritten;
	uint64_t bytes_dropped; /* of bytes_in, unwritten or refused later */
	size_t flush_bytes;
	struct str buf; /* records not yet written */
	struct zstd_out *zstd; /* NULL: not compressed */
	int zstd_level;
	size_t early_bytes; /* of the data, the features in front */
	size_t room; /* of the piece that failed, so many bytes could be written */
	/* The first write error, a negative errno; -ESTALE: somebody cut or removed the file; 0. */
	int failed;
	struct str why; /* its sentence */
	bool damaged; /* bytes that were in the file are gone */
	struct str left_out; /* features that a pipe is without, as they are too large for a record: "CACHE, CMDLINE" */
	bool names_apart, frame_begun; /* no EVENT_DESC in front has the events' names; the file has packed records */
	uint64_t attrs_size; /* bytes of the attr entries */
	size_t attr_entry; /* bytes of one */
};

/*
 * Begins a recording: the new file is created beside `path` (mode 0600, never through a link), its
 * header, attrs and first records written, and only then put in place; what was at `path` becomes
 * `path`.old. These records are the features that info has now (but build-ids and those over 64 KiB)
 * and the events' units, and their names where EVENT_DESC is one of those, so that a recording without its end has
 * them; in pipe layout the attrs and tracepoint formats too.
 * A path that is a fifo or a device is written to as a pipe; another user's fifo is refused. SIGPIPE is the
 * caller's to ignore.
 * Close the writer in every case.
 */
int writer_open(struct writer *writer, const struct writer_options *options,
		const struct events *events, const struct info *info, struct str *err);
/* Whole records, copied; written when flush_bytes have come together. After an error the same code. */
int writer_add(struct writer *writer, const void *records, size_t bytes, struct str *err);
/* record_encode and writer_add. */
int writer_add_body(struct writer *writer, const struct record_body *body,
		    const struct data_event *event, struct str *err);
int writer_add_round(struct writer *writer, struct str *err); /* FINISHED_ROUND */
/*
 * Everything so far into the file, and its data size into the header: what a reader sees after a
 * kill. On ENOSPC the whole records that fit stay, and it is readable.
 */
int writer_flush(struct writer *writer, struct str *err);
/*
 * The end: flush, then the features that info has after the data (in a pipe: the build-ids), then
 * the header. The file is a valid recording whatever this returns, but for -ESTALE: somebody cut, moved
 * or removed it meanwhile.
 */
int writer_finish(struct writer *writer, const struct events *events, const struct info *info,
		  struct str *err);
/* Frees and closes; safe on a half-built writer and after writer_finish. */
void writer_close(struct writer *writer);

/* ---- put_feature.c ---- */

/*
 * A finished recording, which fd is open on and which is at the path, gets one more feature, in place of the one that it
 * has of this id. It is written anew beside its place and renamed: whatever fails, or whoever is killed, leaves it as it
 * was. -ENOTSUP: it is in the layout of pipes or of the other byte order; -EINVAL: it is unfinished or damaged; -ESTALE:
 * it changed since, or another is at the path; -ECANCELED: interrupted; others of the file system. Nobody may write to
 * it meanwhile.
 */
int recording_put_feature(int fd, const char *path, unsigned id, const void *bytes, size_t n,
			  const struct interrupt *interrupt, struct str *err);

/* ---- dump.c, listing.c: recordings as text ---- */

/* One record as `script -D` shows it: its line with offset, size, name and fields, then details. */
void record_dump(const struct decoder *decoder, const struct record *record,
		 const struct record_body *body, struct str *out);

/* "PERF_RECORD_COMM exec: sh:12/12": a record's name and fields, without a line's end. */
void record_print(const struct record_body *body, struct str *out);

struct record_stats {
	uint64_t total;
	uint64_t by_type[128]; /* the last element holds all higher types */
	uint64_t *samples; /* per event, by index */
	size_t n_samples;
	uint64_t unknown_samples; /* of no known event */
	uint64_t lost_events, lost_samples; /* sums of the LOST and LOST_SAMPLES records */
	uint64_t broken; /* records that could not be decoded */
};
/* body NULL: could not be decoded. */
void record_stats_add(struct record_stats *stats, const struct record *record,
		      const struct record_body *body);
void record_stats_print(const struct record_stats *stats, const struct events *events, struct str *out);
void record_stats_release(struct record_stats *stats);

/* `--header`: the file's own lines and all features. */
void reader_print_header(const struct reader *reader, bool full, struct str *out);

struct evlist_options {
	bool verbose; /* -v: attr fields */
	bool freq; /* -F */
	bool group; /* -g */
	/* Adds what the caller knows of an event besides, "NAME: VALUE"; NULL: nothing. */
	void (*more)(void *context, const struct data_event *event, struct str *out);
	void *context;
};
void events_print(const struct events *events, const struct info *info, const struct evlist_options *options,
		  struct str *out);
/* `buildid-list`: those of the header; reading MMAP2 records adds theirs with build_ids_add. */
void build_ids_print(const struct info *info, struct str *out);
/* Keeps a build-id that an MMAP2 record carries, once per path. */
void build_ids_add(struct info *info, const struct record_body *body);

#endif
