/* SPDX-License-Identifier: MIT */
/*
 * Counters read in user space: pstat_user_read(). The kernel keeps, in a page beside each counter, what it has counted
 * up to the last time that it looked (offset), and which register counts on (index); their sum is the value. It changes
 * the page when the thread is scheduled, so all of it is read between two looks at a sequence number, and again where
 * that has moved:
 *
 *   lock (even) | times, clock's factors | index, offset | the register | lock (the same)
 *
 * The fences are the compiler's alone: the kernel writes on the CPU that we read on, between two instructions of ours.
 * A number that stays odd is a page of another thread, or none of the kernel's.
 *
 * Where the register says nothing (the counter waits for its turn, or is disabled) only the kernel knows whether the
 * enabled time goes on, so it is asked, by read(2). Only the calling thread's own counters have pages, and only those
 * that count it alone: what its children have counted is no register's business.
 *
 * To add an architecture: its two functions and its row in the table below.
 */
#include "count/lib.h"
#include "data/data.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Bits of `capabilities`. */
#define CAN_READ_COUNTER (1ull << 2)
#define CAN_READ_TIME (1ull << 3)
#define SHORT_CLOCK (1ull << 5)

enum { TRIES = 64 };

/* One load, of memory that changes under us. */
#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

/* ---- the registers ---- */

#if defined(__x86_64__)

static inline bool native_counter(uint32_t number, uint64_t *value)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number));
	*value = low | (uint64_t)high << 32;
	return true;
}

static inline uint64_t native_cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return low | (uint64_t)high << 32;
}

enum { HAS_REGISTERS = 1 };
static const uint64_t config1_bits = 0;

#elif defined(__aarch64__)

/* A counter's number is part of the instruction. */
#define MRS(name)                                                      \
	__asm__ volatile("mrs %0, " #name : "=r"(*value)); \
	return true
#define CASE(n)                                                        \
	case n:                                                        \
		MRS(pmevcntr##n##_el0)
#define CASES(n)                                                       \
	CASE(n##0); CASE(n##1); CASE(n##2); CASE(n##3); CASE(n##4);    \
	CASE(n##5); CASE(n##6); CASE(n##7); CASE(n##8); CASE(n##9)

static inline bool native_counter(uint32_t number, uint64_t *value)
{
	switch (number) {
		CASE(0); CASE(1); CASE(2); CASE(3); CASE(4);
		CASE(5); CASE(6); CASE(7); CASE(8); CASE(9);
		CASES(1);
		CASES(2);
		CASE(30);
	case 31: /* as the kernel numbers the counter of cycles in the page */
		MRS(pmccntr_el0);
	default:
		return false;
	}
}

static inline uint64_t native_cycles(void)
{
	uint64_t cycles;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(cycles));
	return cycles;
}

enum { HAS_REGISTERS = 1 };
/* "rdpmc"; without "long" (bit 0), for which two counters would be taken. */
static const uint64_t config1_bits = 1u << 1;

#else

static inline bool native_counter(uint32_t number, uint64_t *value)
{
	(void)number, (void)value;
	return false;
}

static inline uint64_t native_cycles(void)
{
	return 0;
}

enum { HAS_REGISTERS = 0 };
static const uint64_t config1_bits = 0;

#endif

static const struct user_registers native = { native_counter, native_cycles };

uint64_t user_read_config1(const struct event *event)
{
	switch (event->attr.type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		return config1_bits;
	default:
		return event->pmu_is_core ? config1_bits : 0;
	}
}

/*
 * Why none of this machine's counters can be read in user space, whatever the event: static text; NULL: nothing is
 * known against it.
 */
static const char *hindrance_of(const struct host_paths *host)
{
	struct str path = STR_INIT;
	uint64_t allowed = 1;

	if (!HAS_REGISTERS)
		return "this architecture has no counters for user space";
	if (!config1_bits)
		return NULL;
	str_addf(&path, "%s/sys/kernel/perf_user_access", host->procfs);
	if (read_u64_file(path.s, &allowed))
		allowed = 0;
	str_release(&path);
	return allowed ? NULL : "needs kernel.perf_user_access 1";
}

/* ---- one page ---- */

/* The page as it was at one moment. */
struct moment {
	uint64_t capabilities, enabled_ns, running_ns, offset, pmc, cycles;
	uint64_t time_offset, time_cycles, time_mask;
	uint32_t index, time_mult;
	uint16_t time_shift, pmc_width;
};

/* Nanoseconds since time_enabled was written. The factors are the kernel's: quotient and rest keep within 64 bits. */
static inline uint64_t since_ns(const struct moment *m)
{
	uint64_t cycles = m->cycles, whole, rest;

	if (m->capabilities & SHORT_CLOCK)
		cycles = m->time_cycles + ((cycles - m->time_cycles) & m->time_mask);
	whole = cycles >> m->time_shift;
	rest = cycles & ((1ull << m->time_shift) - 1);
	return m->time_offset + whole * m->time_mult + (rest * m->time_mult >> m->time_shift);
}

/* False: what it says cannot be used, whatever the sequence number says. */
static inline __attribute__((always_inline)) bool
load_moment(const struct perf_event_mmap_page *page, const struct user_registers *registers,
	    struct moment *m)
{
	const uint64_t needed = CAN_READ_COUNTER | CAN_READ_TIME;

	m->capabilities = LOAD(page->capabilities);
	m->index = LOAD(page->index);
	if ((m->capabilities & needed) != needed || !m->index)
		return false;
	m->enabled_ns = LOAD(page->time_enabled);
	m->running_ns = LOAD(page->time_running);
	m->time_offset = LOAD(page->time_offset);
	m->time_mult = LOAD(page->time_mult);
	m->time_shift = LOAD(page->time_shift);
	if (m->capabilities & SHORT_CLOCK) {
		m->time_cycles = LOAD(page->time_cycles);
		m->time_mask = LOAD(page->time_mask);
	}
	m->cycles = registers->cycles();
	m->offset = (uint64_t)LOAD(page->offset);
	m->pmc_width = LOAD(page->pmc_width);
	if (!m->pmc_width || m->pmc_width > 64 || m->time_shift > 63)
		return false;
	return registers->counter(m->index - 1, &m->pmc);
}

static inline void evaluate(const struct moment *m, struct user_value *value)
{
	unsigned unused_bits = 64u - m->pmc_width;
	uint64_t since = since_ns(m);

	/* The register's highest bit is its sign: the kernel starts it below 0, so that it overflows in time. */
	value->value = m->offset + (uint64_t)((int64_t)(m->pmc << unused_bits) >> unused_bits);
	value->enabled_ns = m->enabled_ns + since;
	value->running_ns = m->running_ns + since;
}

static inline __attribute__((always_inline)) bool
read_page(const struct perf_event_mmap_page *page, const struct user_registers *registers,
	  struct user_value *value)
{
	for (int i = 0; i < TRIES; i++) {
		uint32_t lock = LOAD(page->lock);
		struct moment m;
		bool usable;

		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		usable = load_moment(page, registers, &m);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (lock & 1 || LOAD(page->lock) != lock)
			continue;
		if (usable)
			evaluate(&m, value);
		return usable;
	}
	return false;
}

bool user_read_page(const struct perf_event_mmap_page *page, const struct user_registers *registers,
		    struct user_value *value)
{
	return read_page(page, registers, value);
}

bool user_read_here(const struct perf_event_mmap_page *page, struct user_value *value)
{
	return read_page(page, &native, value);
}

/* ---- the pages of a handle ---- */

/* The page of fd, or NULL where the kernel gives none or says that its counter is not for user space. */
static struct perf_event_mmap_page *map_page(const struct user_pages *pages, int fd)
{
	struct perf_event_mmap_page *page;
	int err;

	page = fd < 0 ? NULL : pages->sys->map(fd, pages->page_bytes, false, &err);
	if (page && !(LOAD(page->capabilities) & CAN_READ_COUNTER)) {
		pages->sys->unmap(page, pages->page_bytes);
		page = NULL;
	}
	return page;
}

int user_pages_map(struct user_pages *pages, const struct sys_ops *sys, const int *fds, size_t n)
{
	*pages = (struct user_pages){ .thread = pthread_self(), .sys = sys };
	if (!HAS_REGISTERS || !n)
		return 0;
	pages->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	pages->v = calloc(n, sizeof(*pages->v));
	if (!pages->v)
		return -ENOMEM;
	pages->n = n;
	if (fork_mark_set(&pages->mark) == -ENOMEM) {
		user_pages_unmap(pages);
		return -ENOMEM;
	}
	for (size_t i = 0; fork_mark_here(&pages->mark) && i < n; i++)
		pages->v[i] = map_page(pages, fds[i]);
	return 0;
}

void user_pages_unmap(struct user_pages *pages)
{
	/* In a child they are gone already, and something else may lie where they were. */
	for (size_t i = 0; fork_mark_here(&pages->mark) && i < pages->n; i++) {
		if (pages->v[i])
			pages->sys->unmap(pages->v[i], pages->page_bytes);
	}
	fork_mark_clear(&pages->mark);
	free(pages->v);
	*pages = (struct user_pages){ 0 };
}

bool user_pages_read(const struct user_pages *pages, size_t i, struct user_value *value)
{
	if (!HAS_REGISTERS || i >= pages->n || !pages->v[i] || !fork_mark_here(&pages->mark) ||
	    !pthread_equal(pthread_self(), pages->thread))
		return false;
	return read_page(pages->v[i], &native, value);
}

/* ---- a handle's counters ---- */

void lib_user_prepare(struct event_list *events)
{
	for (size_t i = 0; i < events->n; i++) {
		events->v[i].attr.config1 |= user_read_config1(&events->v[i]);
		events->v[i].attr.read_format |= PERF_FORMAT_ID;
	}
}

/* Why the page of this counter, which was asked for, is not there. */
static const char *missing_reason(const struct counter *counter, bool inherit, const char *hindrance)
{
	if (counter->state != COUNTER_OPEN || counter->fds[0] < 0)
		return "it is not open";
	if (inherit)
		return "its children's counts are not in this thread's registers";
	if (counter->attr.sample_period)
		return "its page is that of a ring";
	return hindrance ? hindrance : "no register that programs may read counts it";
}

int lib_user_open(struct pstat_counters *counters, bool inherit)
{
	const struct counter_set *set = &counters->set;
	const char *hindrance = hindrance_of(&counters->kern.host);
	struct lib_user *user = &counters->user;
	int *fds = xcalloc(set->n + 1, sizeof(*fds)), rc;

	user->ids = xcalloc(set->n + 1, sizeof(*user->ids));
	user->reasons = xcalloc(set->n + 1, sizeof(*user->reasons));
	for (size_t i = 0; i < set->n; i++) {
		const struct counter *counter = &set->v[i];
		bool open = counter->state == COUNTER_OPEN && counter->fds[0] >= 0;

		fds[i] = open && !inherit && !counter->attr.sample_period ? counter->fds[0] : -1;
		if (open && counter_slot_id(set, i, 0, &user->ids[i]) < 0)
			user->ids[i] = 0;
	}
	rc = user_pages_map(&user->pages, counters->kern.sys, fds, set->n);
	free(fds);
	for (size_t i = 0; !rc && i < set->n; i++)
		if (!user->pages.n || !user->pages.v[i] || hindrance)
			user->reasons[i] = missing_reason(&set->v[i], inherit, hindrance);
	return rc;
}

void lib_user_close(struct lib_user *user)
{
	if (user->pages.sys)
		user_pages_unmap(&user->pages);
	free(user->ids);
	free(user->reasons);
	*user = (struct lib_user){ 0 };
}

const char *pstat_user_read_reason(const struct pstat_counters *counters, size_t index)
{
	if (index >= counters->set.n)
		return "there is no such event";
	if (!counters->user_read)
		return "it was not asked for when the counters were opened";
	return counters->user.reasons[index];
}

/* ---- the way back to read(2) ---- */

enum { MOST_WORDS = 16384 / 8 }; /* the kernel allows a group no more to read */

/* A group's words: how many, enabled, running, then value and id of each, and what it lost where that was asked for. */
static int value_in_group(const uint64_t *words, size_t n, uint64_t format, uint64_t id, uint64_t *value)
{
	size_t step = 2 + !!(format & DATA_FORMAT_LOST);

	for (size_t i = 3; i + step <= n; i += step) {
		if (words[i + 1] != id)
			continue;
		*value = words[i];
		return 0;
	}
	return -EIO;
}

static ssize_t read_words(const struct pstat_counters *counters, int fd, uint64_t *words, size_t bytes)
{
	ssize_t n;

	do {
		n = counters->kern.sys->read(fd, words, bytes);
	} while (n == -EINTR);
	/* End of file: a pinned counter that lost its register. */
	return n >= 0 && n < (ssize_t)(3 * sizeof(*words)) ? -EIO : n;
}

/* Out of line for its large frame. */
static __attribute__((noinline)) int ask_group(const struct pstat_counters *counters, size_t index,
					       struct user_value *value)
{
	const struct counter *counter = &counters->set.v[index];
	uint64_t words[MOST_WORDS];
	ssize_t n = read_words(counters, counter->fds[0], words, sizeof(words));

	if (n < 0)
		return (int)n;
	value->enabled_ns = words[1];
	value->running_ns = words[2];
	return value_in_group(words, (size_t)n / sizeof(*words), counter->attr.read_format,
			      counters->user.ids[index], &value->value);
}

/*
 * The kernel's answer; the count of this one event alone, whatever group it is in. As few calls as can be: after a
 * system call each return is one that the CPU has not foreseen.
 */
static inline __attribute__((always_inline)) int ask_kernel(const struct pstat_counters *counters, size_t index,
							    struct user_value *value)
{
	const struct counter *counter = &counters->set.v[index];
	uint64_t words[8];
	ssize_t n;

	if (counter->attr.read_format & PERF_FORMAT_GROUP)
		return ask_group(counters, index, value);
	n = read_words(counters, counter->fds[0], words, sizeof(words));
	if (n < 0)
		return (int)n;
	*value = (struct user_value){ words[0], words[1], words[2] };
	return 0;
}

/* ---- reading ---- */

/* Takes off the value at the last reset: one thread on any CPU, so an event has one cell. */
static inline void subtract_base(const struct pstat_counters *counters, size_t index, struct user_value *value)
{
	const struct lib_cell *base = &counters->base[counters->first_cell[index]];

	value->value -= base->value;
	value->enabled_ns -= base->enabled_ns;
	value->running_ns -= base->running_ns;
}

static inline __attribute__((always_inline)) int read_value(const struct pstat_counters *counters, size_t index,
							    struct user_value *value)
{
	const struct counter *counter;
	int rc;

	if (user_pages_read(&counters->user.pages, index, value)) {
		subtract_base(counters, index, value);
		return PSTAT_BY_USER;
	}
	if (!counters->user_read || index >= counters->set.n)
		return -EINVAL;
	counter = &counters->set.v[index];
	if (counter->state != COUNTER_OPEN || counter->fds[0] < 0)
		return -ENOENT;
	rc = ask_kernel(counters, index, value);
	if (rc < 0)
		return rc;
	subtract_base(counters, index, value);
	return PSTAT_BY_READ;
}

int pstat_user_read(struct pstat_counters *counters, size_t index, uint64_t *value)
{
	struct user_value now;
	int way = read_value(counters, index, &now);

	if (way >= 0)
		*value = now.value;
	return way;
}

int pstat_user_read_times(struct pstat_counters *counters, size_t index, uint64_t *value, uint64_t *enabled_ns,
			  uint64_t *running_ns)
{
	struct user_value now;
	int way = read_value(counters, index, &now);

	if (way < 0)
		return way;
	*value = now.value;
	*enabled_ns = now.enabled_ns;
	*running_ns = now.running_ns;
	return way;
}
