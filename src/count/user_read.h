/* SPDX-License-Identifier: MIT */
/*
 * user_read.h: a counter's value without a system call, from the page that the kernel maps beside the
 * counter and the register that this page names. Private to count/.
 *
 * Only the thread that is counted can read so: the page names a register of the CPU that this thread runs on.
 *
 * Sources: struct perf_event_mmap_page in include/uapi/linux/perf_event.h, perf_event_open(2),
 * Documentation/arch/arm64/perf.rst ("Perf Userspace PMU Hardware Counter Access").
 */
#ifndef PSTAT_COUNT_USER_READ_H
#define PSTAT_COUNT_USER_READ_H

#include "count/fork_mark.h"
#include "kern/kern.h"

#include <linux/perf_event.h>
#include <pthread.h>

struct user_value {
	uint64_t value; /* raw */
	uint64_t enabled_ns, running_ns;
};

/* Questions to the CPU itself; a test puts its own functions here. */
struct user_registers {
	/* The counter with this number (the page's index less one), unextended; false: not one that can be read. */
	bool (*counter)(uint32_t number, uint64_t *value);
	uint64_t (*cycles)(void); /* the clock that time_mult and time_shift are about */
};

/*
 * The page's counter now. False where user space cannot tell, and the kernel has to be asked: the page does
 * not allow it, the counter is not on the CPU at this moment (it waits for its turn, or is disabled), the
 * page has no clock, its numbers make no sense, or it changes all the time. *value is then not written.
 */
bool user_read_page(const struct perf_event_mmap_page *page, const struct user_registers *registers,
		    struct user_value *value);
/* The same with the registers of this CPU; always false on an architecture that has none for user space. */
bool user_read_here(const struct perf_event_mmap_page *page, struct user_value *value);

struct pstat_counters;

/* The pages of a handle's counters, for one thread. */
struct user_pages {
	struct perf_event_mmap_page **v; /* as many as descriptors; NULL: this one cannot be read so */
	size_t n;
	size_t page_bytes;
	pthread_t thread; /* who opened them, and is counted */
	struct fork_mark mark; /* no page is read without it */
	const struct sys_ops *sys;
};

/*
 * Maps a page for each of n descriptors (-1: none), all of which count the calling thread. One that cannot be
 * mapped, or whose page does not allow it, is left out: that is no error. -ENOMEM: nothing is left mapped.
 */
int user_pages_map(struct user_pages *pages, const struct sys_ops *sys, const int *fds, size_t n);
/* Safe on a zeroed one, and in a child. */
void user_pages_unmap(struct user_pages *pages);
/* Descriptor i's counter; false as user_read_here(), and in another thread, in a child, or without a page. */
bool user_pages_read(const struct user_pages *pages, size_t i, struct user_value *value);

/*
 * Bits that an event's attr needs on this architecture so that its counter can be read in user space: config1 of
 * arm64's PMUs. 0 elsewhere, and for events that no PMU of a CPU counts.
 */
uint64_t user_read_config1(const struct event *event);

/* Reading without system calls, as far as a handle's counters have it. */
struct lib_user {
	struct user_pages pages; /* one per event */
	uint64_t *ids; /* the kernel's id of each event; a group's reading names its values by them */
	const char **reasons; /* why an event has no page; NULL: it has one */
};

/* Sets the bits of the attrs that reading in user space needs, before they are opened. */
void lib_user_prepare(struct event_list *events);
/* Maps the pages, after opening, in the memory scope; the counters follow the calling thread alone. */
int lib_user_open(struct pstat_counters *counters, bool inherit);
void lib_user_close(struct lib_user *user); /* safe on a zeroed one */

#endif
