/* SPDX-License-Identifier: MIT */
/*
 * What make_recordings is made of: a recording that is written record by record, the places that its
 * samples are in, and the tables of recordings that the golden_*.c files hand to main().
 *
 * All recordings are of one machine that never was: processes have numbers that no kernel gives
 * (PID_MAX_LIMIT is 4194304), files lie below /opt/golden, the kernel is the one of tests/golden/kallsyms.
 * So nothing of the machine that reads them can get into a report. Time begins at one second; each record
 * is a millisecond after the one before.
 */
#ifndef PSTAT_GOLDEN_H
#define PSTAT_GOLDEN_H

#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>

enum { PID = 4200001, OTHER_PID = 4200002, MS = 1000000 };
/* Of an event's attributes in the files, whatever the headers have that this is built with. */
enum { ATTR_BYTES = 128 };
enum { PROT_R = 1, PROT_RX = 5 };

#define APP_PATH "/opt/golden/app"
#define LIB_PATH "/opt/golden/libwork.so"
#define STRANGE_PATH "/opt/golden/strange"
#define SHOP_PATH "/opt/golden/libshop-inventory-and-orders.so.7"
#define APP_BASE 0x400000ULL
#define LIB_BASE 0x7f0000000000ULL
#define STRANGE_BASE 0x500000ULL
#define SHOP_BASE 0x7f0000100000ULL
/* Build-ids are 20 bytes: the first, and each one more. */
enum { BUILD_ID_BYTES = 20, APP_BUILD_ID = 0x10, LIB_BUILD_ID = 0x40, STRANGE_BUILD_ID = 0x70, SHOP_BUILD_ID = 0xa0 };
#define KERNEL_BASE 0xffffffff81000000ULL
#define MODULE_BASE 0xffffffffc0000000ULL

/* The made ELF files: their code begins at CODE_OFFSET in the file, each function has FUNCTION_BYTES. */
enum { CODE_OFFSET = 0x78, FUNCTION_BYTES = 0x40, MAP_BYTES = 0x1000 };
enum app_function { MAIN, OUTER, MIDDLE, INNER, LEAF, SPIN, TABLE, APP_FUNCTIONS };
enum lib_function { WORK, SORT, COMPARE, LIB_FUNCTIONS };
enum shop_function { SERVE, INSERT, EMPLACE, PUSH_BACK, ORDER, TOTAL, RECEIVED, SHOP_FUNCTIONS };
enum kernel_function { ENTRY, SYS_READ, VFS_READ, SCHEDULE, KERNEL_FUNCTIONS };

static inline uint64_t app(enum app_function function)
{
	return APP_BASE + CODE_OFFSET + (uint64_t)function * FUNCTION_BYTES + 8;
}
static inline uint64_t lib(enum lib_function function)
{
	return LIB_BASE + CODE_OFFSET + (uint64_t)function * FUNCTION_BYTES + 8;
}
static inline uint64_t shop(enum shop_function function)
{
	return SHOP_BASE + CODE_OFFSET + (uint64_t)function * FUNCTION_BYTES + 8;
}
static inline uint64_t kernel(enum kernel_function function)
{
	return KERNEL_BASE + 0x1000 * (uint64_t)(function + 1) + 8;
}

/* ---- golden_maker.c: one recording ---- */

struct golden {
	char *path;
	struct events events;
	struct info info;
	struct writer writer;
	struct writer_options options; /* to be changed before golden_start */
	uint64_t now_ns, first_sample_ns, last_sample_ns;
	size_t event; /* whose records come next; index */
};

/* What recorders ask for, and `more` PERF_SAMPLE_ bits. */
struct perf_event_attr golden_attr(uint64_t more);
/* Its kernel id is 11 + its index. */
struct data_event *golden_event(struct golden *g, const struct perf_event_attr *attr, const char *name);
/* Cycles with these additional PERF_SAMPLE_ bits, as the only event. */
void golden_one_event(struct golden *g, uint64_t more);
/* Opens the file: events, options and info are as they will be. */
void golden_start(struct golden *g);
/* Start, then a kernel, and the process `PID` called app with the maps of APP_PATH and LIB_PATH. */
void golden_start_app(struct golden *g);
/* Writes it with the next time, and with PID's ids where the body has none. */
void golden_add(struct golden *g, struct record_body *body);
void golden_round(struct golden *g);

void golden_comm(struct golden *g, int pid, int tid, bool exec, const char *comm);
void golden_fork(struct golden *g, int pid, int tid, int ppid, int ptid);
void golden_exit(struct golden *g, int pid, int tid);
/* The made files come with their build-id, all others with device and inode. */
void golden_map(struct golden *g, int pid, uint64_t start, uint64_t bytes, uint64_t pgoff, const char *path);
void golden_kernel_map(struct golden *g, uint16_t misc, uint64_t start, uint64_t bytes, const char *path);
/* A sample of PID, at ip, in user mode or by the address in the kernel; to be changed and added. */
struct record_body golden_sample(uint64_t ip);
void golden_add_sample(struct golden *g, uint64_t ip, uint64_t period);
/* Innermost first; the marks of the modes are put in. */
void golden_add_chain(struct golden *g, uint64_t period, const uint64_t *ips, size_t n);
#define CHAIN(g, period, ...)                                                                      \
	golden_add_chain(g, period, (const uint64_t[]){ __VA_ARGS__ },                             \
			 sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

void golden_write_file(const char *path, const struct str *bytes);
void golden_stop(const char *what, const char *why) __attribute__((noreturn));

/* ---- the recordings ---- */

struct golden_recording {
	const char *name; /* of the file, and of what it proves; NULL: the end */
	void (*make)(struct golden *g); /* up to its last record */
	void (*after)(const char *path); /* what is then done with the file; or NULL */
};
extern const struct golden_recording golden_tasks[]; /* golden_tasks.c: processes, maps, names */
extern const struct golden_recording golden_samples[]; /* golden_samples.c: what a sample may carry */
extern const struct golden_recording golden_tracepoints[]; /* golden_tracepoints.c: and their formats */
extern const struct golden_recording golden_sched[]; /* golden_sched.c: when tasks ran */
extern const struct golden_recording golden_kernels[]; /* golden_kernels.c: code of kernels and guests */
extern const struct golden_recording golden_layouts[]; /* golden_layouts.c: how the file is laid out */

extern const struct golden_recording golden_made_here[]; /* golden_made_here.c: by name only, not kept */

/* golden_tracepoints.c: TRACING_DATA with these formats of a system, and a sample of these bytes. */
void golden_tracing_data(struct info *info, const char *system, const char *const *formats, size_t n);
void golden_add_raw(struct golden *g, size_t event, const void *raw, size_t size);

/* golden_elf.c: the files of the symfs folder, and its kallsyms. */
void golden_make_files(const char *folder);

#endif
