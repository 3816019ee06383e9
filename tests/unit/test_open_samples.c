/* SPDX-License-Identifier: MIT */
/*
 * Opening for samples: one cell per task and CPU, attrs as they come, events for tracking that wait for
 * nothing, ids, and the losses that reading tells; on kernels that know of losses and on those that don't.
 */
#include "open_fixture.h"

#define LOST (1ull << 4)
#define FORMAT                                                                                  \
	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | LOST)

static int sample_setup(void **state)
{
	setup(state);
	options = (struct open_options){
		.sample = true, .per_cpu = true, .inherit = true, .enable_on_exec = true,
	};
	return 0;
}

static struct event *add_sampled(const char *name, uint64_t config)
{
	struct event *event = add(name, PERF_TYPE_SOFTWARE, config);

	event->attr.sample_freq = 4000;
	event->attr.freq = 1;
	event->attr.sample_type = PERF_SAMPLE_IP;
	event->attr.read_format = FORMAT;
	return event;
}

static void a_task_on_each_cpu(void **state)
{
	(void)state;
	add_sampled("a", 0);
	open_all();
	assert_int_equal(fake.n, 4);
	for (int i = 0; i < 4; i++) {
		const struct fake_call *call = &fake.calls[i];

		assert_int_equal(call->pid, 100);
		assert_int_equal(call->cpu, i);
		assert_int_equal(call->attr.sample_freq, 4000);
		assert_int_equal(call->attr.freq, 1);
		assert_int_equal(call->attr.sample_type, PERF_SAMPLE_IP);
		assert_int_equal(call->attr.read_format, FORMAT);
		assert_int_equal(call->attr.inherit, 1);
		assert_int_equal(call->attr.disabled, 1);
		assert_int_equal(call->attr.enable_on_exec, 1);
	}
	assert_int_equal(set.v[0].cpus.n, 4);
	assert_true(set.v[0].follows_tasks);
	/* The exec starts it, nothing else. */
	assert_int_equal(fake.n_ioctls, 0);
}

static void a_core_type_on_its_cpus(void **state)
{
	(void)state;
	on_cpu(add("cpu_atom/cycles/", 10, 0), 2, true);
	open_all();
	assert_int_equal(fake.n, 1);
	assert_int_equal(fake.calls[0].pid, 100);
	assert_int_equal(fake.calls[0].cpu, 2);
}

static void a_pmu_with_cpus_of_its_own(void **state)
{
	(void)state;
	on_cpu(add("uncore/x/", UNCORE_TYPE, 1), 2, false);
	open_all();
	assert_int_equal(fake.n, 1);
	assert_int_equal(fake.calls[0].pid, -1);
	assert_false(set.v[0].follows_tasks);
}

static void whole_cpus_as_ever(void **state)
{
	(void)state;
	all_cpus(2);
	add_sampled("a", 0);
	add_sampled("b", 2);
	open_all();
	assert_int_equal(fake.n, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(fake.calls[i].pid, -1);
		/* Not the group that counting makes of lone software events. */
		assert_int_equal(fake.calls[i].group_fd, -1);
		assert_int_equal(fake.calls[i].attr.read_format, FORMAT);
	}
	assert_false(set.v[0].follows_tasks);
}

static int second_is_gone(const struct fake_call *call)
{
	return call->pid == 101 ? -ESRCH : call->cpu == 3 ? -ENODEV : 0;
}

static void threads_and_cpus_that_are_gone(void **state)
{
	(void)state;
	threads[1] = (struct target_thread){ .tid = 101, .pid = 100 };
	target.n_threads = 2;
	fake.answer = second_is_gone;
	add_sampled("a", 0);
	open_all();
	assert_int_equal(set.v[0].state, COUNTER_OPEN);
	assert_int_equal(fake.n, 8);
	assert_int_equal(fake.n_open, 3);
}

static void tracking_waits_for_nothing(void **state)
{
	(void)state;
	options.enable_on_exec = false;
	options.start_disabled = true;
	add_sampled("a", 0);
	add_sampled("dummy", PERF_COUNT_SW_DUMMY)->tracking = true;
	open_all();
	for (size_t cpu = 0; cpu < 4; cpu++) {
		assert_int_equal(fake_call_of(set.v[0].fds[cpu])->attr.disabled, 1);
		assert_int_equal(fake_call_of(set.v[1].fds[cpu])->attr.disabled, 0);
		assert_int_equal(fake_call_of(set.v[1].fds[cpu])->attr.enable_on_exec, 0);
	}
	/* Nor is it switched with the others. */
	assert_int_equal(counters_enable(&set), 0);
	assert_int_equal(counters_disable(&set), 0);
	assert_int_equal(fake.n_ioctls, 8);
	for (size_t i = 0; i < fake.n_ioctls; i++)
		assert_int_equal(fake.ioctls[i].fd, set.v[0].fds[i % 4]);
}

static void a_group(void **state)
{
	(void)state;
	add_sampled("a", 0);
	add_sampled("b", 2);
	group_from(0);
	open_all();
	/* Back to back on each CPU. */
	for (int cpu = 0; cpu < 4; cpu++) {
		const struct fake_call *member = &fake.calls[2 * cpu + 1];

		assert_int_equal(member->cpu, cpu);
		assert_int_equal(member->group_fd, FAKE_FD + 2 * cpu);
		assert_int_equal(member->attr.disabled, 0);
	}
}

/* ---- older kernels ---- */

enum { YOUNG_FIELDS = 1 << 19 | 7 << 21 | 1 << 24, YOUNG_BRANCHES = 7 << 17 };

static int knows_nothing_young(const struct fake_call *call)
{
	const struct perf_event_attr *attr = &call->attr;

	return attr->namespaces || attr->ksymbol || attr->bpf_event || attr->cgroup || attr->text_poke ||
	       attr->build_id || attr->sample_type & YOUNG_FIELDS || attr->branch_sample_type & YOUNG_BRANCHES ||
	       attr->read_format & LOST ? -EINVAL : 0;
}

/* Each of attr_since.c: left out, with a note, or the event is refused with the reason. */
static void young_bits(void **state)
{
	static const struct {
		struct perf_event_attr asks;
		const char *what;
		bool needed;
	} rows[] = {
		{ { .namespaces = 1 }, "namespaces of tasks", false },
		{ { .sample_type = 1 << 19 }, "physical addresses (4.14", true },
		{ { .ksymbol = 1 }, "symbols of generated kernel code", false },
		{ { .bpf_event = 1 }, "loads of BPF programs", false },
		{ { .cgroup = 1 }, "cgroups (5.7", true },
		{ { .sample_type = 1 << 21 }, "cgroups (5.7", true },
		{ { .text_poke = 1 }, "changes of the kernel's code (5.8", true },
		{ { .sample_type = 1 << 22 }, "page sizes of data addresses (5.11", true },
		{ { .sample_type = 1 << 23 }, "page sizes of code addresses (5.11", true },
		{ { .build_id = 1 }, "build-ids of mapped files", false },
		{ { .sample_type = 1 << 24 }, "weights in three parts", false },
		{ { .read_format = LOST }, "lost samples of each event", false },
		{ { .branch_sample_type = 1 << 17 }, "indices of branch records (5.7", true },
		{ { .branch_sample_type = 1 << 18 }, "privilege levels of branches (6.1", true },
		{ { .branch_sample_type = 1 << 19 }, "counters of branch records (6.8", true },
	};
	char text[128];

	(void)state;
	fake.answer = knows_nothing_young;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event *event = add_sampled("a", 0);

		event->attr = rows[i].asks;
		event->attr.type = PERF_TYPE_SOFTWARE;
		if (event->attr.branch_sample_type)
			event->attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	}
	open_all();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].needed) {
			snprintf(text, sizeof(text), "this kernel does not report %s and later do)", rows[i].what);
			assert_int_equal(set.v[i].state, COUNTER_NOT_SUPPORTED);
			assert_string_equal(set.v[i].reason, text);
		} else {
			snprintf(text, sizeof(text), "%s: this kernel does not report them", rows[i].what);
			assert_int_equal(set.v[i].state, COUNTER_OPEN);
			assert_true(noted(text));
		}
	}
	/* A weight is there, in the layout that older kernels have. */
	assert_int_equal(set.v[10].attr.sample_type, PERF_SAMPLE_WEIGHT);
}

static int refuses_all_but_dummies(const struct fake_call *call)
{
	return call->attr.config == PERF_COUNT_SW_DUMMY ? 0 : -EINVAL;
}

/* A kernel that knows them refuses for another reason. */
static void young_bits_are_not_to_blame(void **state)
{
	(void)state;
	fake.answer = refuses_all_but_dummies;
	add_sampled("a", 0)->attr.build_id = 1;
	add_sampled("b", 0)->attr.sample_type |= 1 << 19;
	open_all();
	assert_int_equal(set.v[0].state, COUNTER_NOT_SUPPORTED);
	assert_true(set.v[0].attr.read_format & LOST);
	assert_true(set.v[0].attr.build_id);
	assert_string_equal(set.v[1].reason, "the kernel refuses these settings");
}

/* One that refuses all alike does not say what it knows. */
static void refusals_of_all_say_nothing(void **state)
{
	(void)state;
	fake.answer = always;
	answer_errno = EINVAL;
	add_sampled("a", 0)->attr.build_id = 1;
	open_all();
	assert_true(set.v[0].attr.build_id);
}

/* ---- ids and losses ---- */

static ssize_t read_with_lost(int fd, uint64_t *words, size_t bytes)
{
	const uint64_t values[] = { 10, 20, 30, 40, (uint64_t)(fd - FAKE_FD) };
	const uint64_t group[] = { 2, 20, 30, 10, 1, 5, 11, 2, 6 };

	if (fake_call_of(fd)->attr.read_format & PERF_FORMAT_GROUP) {
		assert_true(bytes >= sizeof(group));
		memcpy(words, group, sizeof(group));
		return sizeof(group);
	}
	assert_int_equal(bytes, sizeof(values));
	memcpy(words, values, sizeof(values));
	return sizeof(values);
}

static uint64_t lost_sum[2], running_sum;

static void take_lost(void *data, size_t index, int cpu, size_t thread,
		      const struct reading *reading)
{
	(void)data;
	(void)cpu;
	(void)thread;
	assert_int_equal(reading->state, READING_OK);
	lost_sum[index] += reading->lost;
	running_sum += reading->running_ns;
}

static void reading_tells_losses(void **state)
{
	(void)state;
	add_sampled("a", 0);
	open_all();
	fake.read = read_with_lost;
	memset(lost_sum, 0, sizeof(lost_sum));
	running_sum = 0;
	counters_read(&set, take_lost, NULL);
	assert_int_equal(lost_sum[0], 0 + 1 + 2 + 3);
	assert_int_equal(running_sum, 4 * 30);
}

static void groups_tell_losses(void **state)
{
	(void)state;
	add_sampled("a", 0)->attr.read_format |= PERF_FORMAT_GROUP;
	add_sampled("b", 2)->attr.read_format |= PERF_FORMAT_GROUP;
	group_from(0);
	open_all();
	fake.read = read_with_lost;
	memset(lost_sum, 0, sizeof(lost_sum));
	counters_read(&set, take_lost, NULL);
	assert_int_equal(lost_sum[0], 4 * 5);
	assert_int_equal(lost_sum[1], 4 * 6);
}

static int ioctl_ids(int fd, unsigned long request, unsigned long arg)
{
	assert_int_equal(request, PERF_EVENT_IOC_ID);
	*(uint64_t *)arg = (uint64_t)fd * 10;
	return 0;
}

static void ids(void **state)
{
	static struct sys_ops ops;
	uint64_t *v = NULL;
	size_t n = 0;

	(void)state;
	ops = fake_ops;
	ops.ioctl = ioctl_ids;
	kern.sys = &ops;
	threads[1] = (struct target_thread){ .tid = 101, .pid = 100 };
	target.n_threads = 2;
	fake.answer = second_is_gone;
	add_sampled("a", 0);
	add_sampled("b", 2);
	open_all();
	assert_int_equal(counter_add_ids(&set, 0, &v, &n), 0);
	/* One for each cell that is open. */
	assert_int_equal(n, 3);
	assert_int_equal(v[0], FAKE_FD * 10);
	assert_int_equal(counter_add_ids(&set, 1, &v, &n), 0);
	assert_int_equal(n, 6);
	free(v);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, sample_setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_task_on_each_cpu),
		CASE(a_core_type_on_its_cpus),
		CASE(a_pmu_with_cpus_of_its_own),
		CASE(whole_cpus_as_ever),
		CASE(threads_and_cpus_that_are_gone),
		CASE(tracking_waits_for_nothing),
		CASE(a_group),
		CASE(young_bits),
		CASE(young_bits_are_not_to_blame),
		CASE(refusals_of_all_say_nothing),
		CASE(reading_tells_losses),
		CASE(groups_tell_losses),
		CASE(ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
