/* SPDX-License-Identifier: MIT */
/*
 * The rings of a set: who shares one, how they shrink to the limit of locked memory, and which
 * descriptor tells of them.
 */
#include "open_fixture.h"

#include <unistd.h>

/* What the fake kernel lets one user lock, all rings together. */
static size_t allowed, mapped;
static int n_maps;

static void *limited_map(int fd, size_t bytes, bool writable, int *error)
{
	(void)writable;
	assert_in_range(fd, FAKE_FD, FAKE_FD + FAKE_CALLS - 1);
	n_maps++;
	*error = mapped + bytes > allowed ? -EPERM : 0;
	if (*error)
		return NULL;
	mapped += bytes;
	return calloc(1, bytes);
}

static void limited_unmap(void *addr, size_t bytes)
{
	mapped -= bytes;
	free(addr);
}

/* The descriptor that each SET_OUTPUT named, by its number among the ioctls. */
static int outputs[FAKE_CALLS];

static int noting_ioctl(int fd, unsigned long request, unsigned long arg)
{
	if (request != PERF_EVENT_IOC_SET_OUTPUT)
		return fake_ioctl(fd, request, arg);
	outputs[fake.n_ioctls] = (int)arg;
	return fake_ioctl(fd, request, 0);
}

static struct sys_ops ops;
static struct ring_set rings;
static struct ring_options ring_options;

static int ring_setup(void **state)
{
	setup(state);
	ops = fake_ops;
	ops.map = limited_map;
	ops.unmap = limited_unmap;
	ops.ioctl = noting_ioctl;
	kern.sys = &ops;
	allowed = SIZE_MAX / 2;
	mapped = 0;
	n_maps = 0;
	options = (struct open_options){ .sample = true, .per_cpu = true, .start_disabled = true };
	ring_options = (struct ring_options){ .data_bytes = 64 << 10 };
	target.n_threads = 1;
	return 0;
}

static int ring_teardown(void **state)
{
	rings_close(&rings);
	assert_int_equal(mapped, 0);
	return teardown(state);
}

static void open_rings(void)
{
	open_all();
	fake.n_ioctls = 0;
	assert_int_equal(rings_open(&rings, &set, &ring_options, &err), 0);
}

static size_t page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- who shares ---- */

static void one_per_cpu(void **state)
{
	(void)state;
	add("a", PERF_TYPE_SOFTWARE, 0);
	add("b", PERF_TYPE_SOFTWARE, 2);
	open_rings();
	assert_int_equal(fake.n, 8);
	assert_int_equal(rings.n, 4);
	assert_int_equal(n_maps, 4);
	assert_int_equal(fake.n_ioctls, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(rings.v[i].cpu, i);
		assert_int_equal(rings.v[i].fd, set.v[0].fds[i]);
		assert_int_equal(rings.v[i].data_bytes, 64 << 10);
		assert_int_equal(fake.ioctls[i].request, PERF_EVENT_IOC_SET_OUTPUT);
		assert_int_equal(fake.ioctls[i].fd, set.v[1].fds[i]);
		assert_int_equal(outputs[i], set.v[0].fds[i]);
		assert_int_equal(fake_call_of(set.v[1].fds[i])->cpu, i);
		assert_int_equal(fake_call_of(set.v[0].fds[i])->pid, 100);
	}
}

static void threads_share_the_ring_of_a_cpu(void **state)
{
	(void)state;
	threads[1] = (struct target_thread){ .tid = 101, .pid = 100 };
	target.n_threads = 2;
	add("a", PERF_TYPE_SOFTWARE, 0);
	open_rings();
	assert_int_equal(fake.n, 8);
	assert_int_equal(rings.n, 4);
	assert_int_equal(fake.n_ioctls, 4);
}

static void one_per_thread(void **state)
{
	(void)state;
	threads[1] = (struct target_thread){ .tid = 101, .pid = 100 };
	target.n_threads = 2;
	options.per_cpu = false;
	add("a", PERF_TYPE_SOFTWARE, 0);
	add("b", PERF_TYPE_SOFTWARE, 2);
	open_rings();
	assert_int_equal(fake.n, 4);
	assert_int_equal(rings.n, 2);
	assert_int_equal(rings.v[0].cpu, -1);
	assert_int_equal(fake.n_ioctls, 2);
	/* Each event joins the ring of its own thread. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fake.ioctls[i].fd, set.v[1].fds[i]);
		assert_int_equal(outputs[i], set.v[0].fds[i]);
		assert_int_equal(fake_call_of(set.v[1].fds[i])->pid, 100 + i);
	}
}

static void overwrite_has_its_own(void **state)
{
	(void)state;
	add("a", PERF_TYPE_SOFTWARE, 0)->attr.write_backward = 1;
	add("tracking", PERF_TYPE_SOFTWARE, 9)->tracking = true;
	open_rings();
	assert_int_equal(rings.n, 8);
	assert_int_equal(fake.n_ioctls, 0);
	assert_true(rings.v[0].overwrite);
	assert_false(rings.v[4].overwrite);
	/* The dummy does not wait for anything. */
	assert_int_equal(fake_call_of(set.v[0].fds[0])->attr.disabled, 1);
	assert_int_equal(fake_call_of(set.v[1].fds[0])->attr.disabled, 0);
}

static void events_that_are_not_open_have_none(void **state)
{
	(void)state;
	answer_errno = ENOENT;
	fake.answer = always;
	add("a", PERF_TYPE_HARDWARE, 0);
	open_all();
	assert_int_equal(rings_open(&rings, &set, &ring_options, &err), 0);
	assert_int_equal(rings.n, 0);
}

/* ---- sizes ---- */

static void rounded_up(void **state)
{
	(void)state;
	ring_options.data_bytes = 64 * 1024 + 1;
	add("a", PERF_TYPE_SOFTWARE, 0);
	open_rings();
	assert_int_equal(rings.data_bytes, 128 << 10);
	assert_int_equal(notes.n, 0);
}

static void halved_until_all_fit(void **state)
{
	(void)state;
	/* Four rings of 16 KiB and their first pages, and not a byte more. */
	allowed = 4 * (16 * 1024 + page());
	ring_options.enough_bytes = 64 << 10;
	add("a", PERF_TYPE_SOFTWARE, 0);
	open_rings();
	assert_int_equal(rings.data_bytes, 16 << 10);
	for (int i = 0; i < 4; i++)
		assert_int_equal(rings.v[i].data_bytes, 16 << 10);
	assert_int_equal(mapped, allowed);
	assert_true(noted("rings of 16 KiB instead of 64 KiB"));
	assert_non_null(notes.v[0].remedy);
}

static void enough_is_not_worth_a_note(void **state)
{
	(void)state;
	allowed = 4 * (32 * 1024 + page());
	ring_options.enough_bytes = 32 << 10;
	add("a", PERF_TYPE_SOFTWARE, 0);
	open_rings();
	assert_int_equal(rings.data_bytes, 32 << 10);
	assert_int_equal(notes.n, 0);
}

static void not_even_a_page(void **state)
{
	(void)state;
	allowed = 5 * page();
	add("a", PERF_TYPE_SOFTWARE, 0);
	open_all();
	assert_int_equal(rings_open(&rings, &set, &ring_options, &err), -EPERM);
	assert_non_null(strstr(err.s, "4 rings of"));
	assert_non_null(strstr(err.s, "perf_event_mlock_kb"));
	assert_int_equal(mapped, 0);
}

static uint64_t default_bytes(bool per_cpu)
{
	return rings_default_bytes(&list, &target, per_cpu, &kern);
}

static void default_by_cpus(void **state)
{
	(void)state;
	add("a", PERF_TYPE_SOFTWARE, 0);
	assert_int_equal(default_bytes(true), 2 << 20);
	put("sys/devices/system/cpu/online", "0-63\n");
	assert_int_equal(default_bytes(true), 1 << 20);
	put("sys/devices/system/cpu/online", "0-511\n");
	assert_int_equal(default_bytes(true), 512 << 10);
	/* Many threads share the rings of the CPUs. */
	target.n_threads = 10000;
	assert_int_equal(default_bytes(true), 512 << 10);
	/* What counts is the CPUs that are recorded. */
	all_cpus(4);
	assert_int_equal(default_bytes(true), 2 << 20);
	assert_int_equal(default_bytes(false), 2 << 20);
	assert_int_equal(rings_watermark(512 << 10), 128 << 10);
	assert_int_equal(rings_watermark(1ull << 50), UINT32_MAX);
}

/* One each: 10,000 of them must not take 20 GiB. */
static void default_by_threads(void **state)
{
	static const struct {
		size_t threads;
		uint64_t bytes;
	} rows[] = {
		{ 1, 2 << 20 }, { 32, 2 << 20 }, { 33, 1 << 20 }, { 1000, 64 << 10 },
		{ 4096, 16 << 10 }, { 10000, 16 << 10 },
	};

	(void)state;
	add("a", PERF_TYPE_SOFTWARE, 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		target.n_threads = rows[i].threads;
		assert_int_equal(default_bytes(false), rows[i].bytes);
	}
	/* Two stack dumps fit, whatever that makes in all. */
	events[0].attr.sample_stack_user = 8192;
	assert_int_equal(default_bytes(false), 32 << 10);
	events[0].attr.sample_stack_user = 65528;
	assert_int_equal(default_bytes(false), 128 << 10);
}

static void default_of_two_rings_each(void **state)
{
	(void)state;
	put("sys/devices/system/cpu/online", "0-31\n");
	add("a", PERF_TYPE_SOFTWARE, 0)->attr.write_backward = 1;
	assert_int_equal(default_bytes(true), 2 << 20);
	add("tracking", PERF_TYPE_SOFTWARE, 9)->tracking = true;
	assert_int_equal(default_bytes(true), 1 << 20);
}

/* ---- polling ---- */

static void next_descriptors(void **state)
{
	(void)state;
	threads[1] = (struct target_thread){ .tid = 101, .pid = 100 };
	target.n_threads = 2;
	add("a", PERF_TYPE_SOFTWARE, 0);
	open_rings();
	/* Cells are CPU by CPU: the second thread on CPU 1 is the fourth descriptor. */
	assert_int_equal(rings_next_fd(&rings, 1), FAKE_FD + 2);
	assert_int_equal(rings_next_fd(&rings, 1), FAKE_FD + 3);
	assert_int_equal(rings_next_fd(&rings, 1), -1);
	assert_int_equal(rings_next_fd(&rings, 1), -1);
	assert_int_equal(rings_next_fd(&rings, 0), FAKE_FD);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, ring_setup, ring_teardown)
	const struct CMUnitTest tests[] = {
		CASE(one_per_cpu),
		CASE(threads_share_the_ring_of_a_cpu),
		CASE(one_per_thread),
		CASE(overwrite_has_its_own),
		CASE(events_that_are_not_open_have_none),
		CASE(rounded_up),
		CASE(halved_until_all_fit),
		CASE(enough_is_not_worth_a_note),
		CASE(not_even_a_page),
		CASE(default_by_cpus),
		CASE(default_by_threads),
		CASE(default_of_two_rings_each),
		CASE(next_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
