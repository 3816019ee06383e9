/*
 * Open counters -> readings. A group whose leader was opened with PERF_FORMAT_GROUP is read whole:
 *
 *   single:  value enabled running [id] [lost]
 *   group:   nr enabled running { value id [lost] } x nr       nr: the leader and its open members
 *
 * id and lost are there where the counter was opened for samples.
 *
 * Order: by group as in the list; in it by cell (CPU, then thread); in a cell leader, then members.
 * The kernel gives a group's values in the order of opening, which is the order of the list; a
 * member that is not open in a cell has no value there, so the values are handed out by counting
 * open cells.
 *
 * Nothing is allocated: the kernel allows a group at most 16 KiB to read.
 *
 * Source: perf_event_open(2), "Reading results".
 */
#include "kern/cells.h"
#include "kern/kern.h"

#include <errno.h>

enum { GROUP_WORDS = 16384 / 8, GROUP_HEAD = 3, SINGLE_HEAD = 3, SINGLE_WORDS = 5 };

struct reader {
	const struct counter_set *set;
	reading_fn fn;
	void *data;
};

static ssize_t read_fd(const struct reader *r, int fd, uint64_t *words, size_t bytes)
{
	ssize_t n;

	do {
		n = r->set->kern->sys->read(fd, words, bytes);
	} while (n == -EINTR);
	return n;
}

/* Behind each value: its id and its losses, where they were asked for. */
static size_t words_behind_value(uint64_t format)
{
	return (format & PERF_FORMAT_ID ? 1 : 0) + (format & FORMAT_LOST ? 1 : 0);
}

/* What `n` bytes say where `expected` should have come. */
static enum reading_state state_of(ssize_t n, size_t expected, int *err)
{
	*err = 0;
	if (n == 0)
		return READING_LOST_PIN;
	if (n > 0 && (size_t)n == expected)
		return READING_OK;
	*err = n < 0 ? (int)-n : EIO;
	return READING_FAILED;
}

static void hand_over(const struct reader *r, size_t index, size_t cell,
		      const struct reading *reading)
{
	const struct counter *c = &r->set->v[index];
	int cpu = c->cpus.n ? c->cpus.v[cell / c->n_threads] : -1;

	r->fn(r->data, index, cpu, cell % c->n_threads, reading);
}

static void read_single(const struct reader *r, size_t index, size_t cell)
{
	int fd = r->set->v[index].fds[cell];
	struct reading reading = { .state = READING_NOT_OPEN };
	uint64_t format = r->set->v[index].attr.read_format, words[SINGLE_WORDS];
	size_t n_words = SINGLE_HEAD + words_behind_value(format);

	if (fd >= 0) {
		ssize_t n = read_fd(r, fd, words, n_words * sizeof(*words));

		reading.state = state_of(n, n_words * sizeof(*words), &reading.err);
	}
	if (reading.state == READING_OK) {
		reading.value = words[0];
		reading.enabled_ns = words[1];
		reading.running_ns = words[2];
		reading.lost = format & FORMAT_LOST ? words[n_words - 1] : 0;
	}
	hand_over(r, index, cell, &reading);
}

/* The next counter behind `index` in the same group as opened; set->n at the end. */
static size_t next_in_group(const struct counter_set *set, size_t leader, size_t index)
{
	do {
		index++;
	} while (index < set->n &&
		 (set->v[index].state != COUNTER_OPEN || set->v[index].leader != leader));
	return index;
}

/*
 * When a CPU goes offline the kernel takes the groups on it apart: the leader's read has only itself,
 * and each member, with what it counted until then, is a group of one.
 */
static void read_apart(const struct reader *r, size_t leader, size_t cell)
{
	const struct counter_set *set = r->set;
	size_t left = set->v[leader].n_members;

	for (size_t i = leader; left--; i = next_in_group(set, leader, i)) {
		uint64_t words[GROUP_HEAD + SINGLE_WORDS], format = set->v[i].attr.read_format;
		size_t n_words = SINGLE_HEAD + words_behind_value(format);
		struct reading reading = { .state = READING_NOT_OPEN };
		bool grouped = format & PERF_FORMAT_GROUP;
		int fd = set->v[i].fds[cell];

		n_words += grouped;
		if (fd >= 0) {
			ssize_t n = read_fd(r, fd, words, n_words * sizeof(*words));

			reading.state = state_of(n, n_words * sizeof(*words), &reading.err);
		}
		if (reading.state == READING_OK) {
			reading.value = words[grouped ? GROUP_HEAD : 0];
			reading.enabled_ns = words[1];
			reading.running_ns = words[2];
			reading.lost = format & FORMAT_LOST ? words[n_words - 1] : 0;
		}
		hand_over(r, i, cell, &reading);
	}
}

static void read_group(const struct reader *r, size_t leader, size_t cell)
{
	const struct counter_set *set = r->set;
	struct reading base = { .state = READING_NOT_OPEN };
	uint64_t words[GROUP_WORDS];
	size_t n_values = 0, next = 0, left = set->v[leader].n_members;
	uint64_t format = set->v[leader].attr.read_format;
	size_t step = 1 + words_behind_value(format);
	int fd = set->v[leader].fds[cell];

	if (fd >= 0) {
		ssize_t n;

		for (size_t i = leader, k = left; k--; i = next_in_group(set, leader, i))
			n_values += set->v[i].fds[cell] >= 0;
		n = read_fd(r, fd, words, sizeof(words));
		if (n_values > 1 && n == (ssize_t)((GROUP_HEAD + step) * sizeof(*words)) && words[0] == 1) {
			read_apart(r, leader, cell);
			return;
		}
		base.state = state_of(n, (GROUP_HEAD + step * n_values) * sizeof(*words),
				      &base.err);
		if (base.state == READING_OK && words[0] != n_values) {
			base.state = READING_FAILED;
			base.err = EIO;
		}
	}
	for (size_t i = leader; left--; i = next_in_group(set, leader, i)) {
		struct reading reading = base;

		if (set->v[i].fds[cell] < 0)
			reading = (struct reading){ .state = READING_NOT_OPEN };
		if (reading.state == READING_OK) {
			const uint64_t *row = words + GROUP_HEAD + step * next++;

			reading.value = row[0];
			reading.lost = format & FORMAT_LOST ? row[step - 1] : 0;
			reading.enabled_ns = words[1];
			reading.running_ns = words[2];
		}
		hand_over(r, i, cell, &reading);
	}
}

void counters_read(const struct counter_set *set, reading_fn fn, void *data)
{
	const struct reader r = { set, fn, data };

	for (size_t i = 0; i < set->n; i++) {
		const struct counter *c = &set->v[i];
		bool grouped;

		if (c->state != COUNTER_OPEN)
			continue;
		grouped = c->attr.read_format & PERF_FORMAT_GROUP;
		if (grouped && c->leader != i)
			continue;
		for (size_t cell = 0; cell < c->n_cpus * c->n_threads; cell++) {
			if (grouped)
				read_group(&r, i, cell);
			else
				read_single(&r, i, cell);
		}
	}
}
