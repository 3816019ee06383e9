/*
 * Reading without system calls, and with one where that cannot be: pstat_user_read(). user_read.c knows the pages;
 * here are the counters of a handle, their reasons, and the way back to read(2).
 *
 * Only the calling thread's own counters have pages, and only those that count it alone: what its children have
 * counted is no register's business.
 */
#include "count/lib.h"
#include "data/data.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_WORDS = 16384 / 8 }; /* the kernel allows a group no more to read */

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
	const char *hindrance = user_read_hindrance(&counters->kern.host);
	struct lib_user *user = &counters->user;
	int *fds = xcalloc(set->n + 1, sizeof(*fds)), rc;

	user->ids = xcalloc(set->n + 1, sizeof(*user->ids));
	user->reasons = xcalloc(set->n + 1, sizeof(*user->reasons));
	for (size_t i = 0; i < set->n; i++) {
		const struct counter *counter = &set->v[i];
		bool open = counter->state == COUNTER_OPEN && counter->fds[0] >= 0;

		fds[i] = open && !inherit && !counter->attr.sample_period ? counter->fds[0] : -1;
		if (open && counter_cell_id(set, i, 0, &user->ids[i]) < 0)
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

/* ---- the way back ---- */

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
		n = sys_read(counters->kern.sys, fd, words, bytes);
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
 * The kernel's answer; the count of this one event alone, whatever group it is in. As few calls as can be: behind a
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

/* Less what it was at the last reset: one thread on any CPU, so an event has one cell. */
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
