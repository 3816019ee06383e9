/* SPDX-License-Identifier: MIT */
/*
 * A group on one CPU and task is what is opened, switched and read at once: against a kernel whose
 * tasks fork meanwhile, whose groups differ from child to parent, and that counts what it is asked.
 */
#include "open_fixture.h"

/* What is allocated behind counters_open() shows here. */
static size_t n_allocations;
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define ALLOCATIONS_SEEN false
#else
#define ALLOCATIONS_SEEN true
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);

void *malloc(size_t bytes)
{
	n_allocations++;
	return __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
	n_allocations++;
	return __libc_calloc(n, bytes);
}

void *realloc(void *at, size_t bytes)
{
	n_allocations++;
	return __libc_realloc(at, bytes);
}
#endif

static void three_threads(void)
{
	for (int i = 0; i < 3; i++)
		threads[i] = (struct target_thread){ .tid = 100 + i, .pid = 100 };
	target = (struct target){ .kind = TARGET_TASKS, .threads = threads, .n_threads = 3 };
	options.enable_on_exec = false;
	options.start_disabled = true;
}

static void group_of_three(void)
{
	add("a", PERF_TYPE_SOFTWARE, 1);
	add("b", PERF_TYPE_SOFTWARE, 2);
	add("c", PERF_TYPE_SOFTWARE, 3);
	group_from(0);
}

/* ---- tasks that fork ---- */

/*
 * The kernel has given so many leaders of thread 101 to its child: they take no member any more, for one reason
 * while the child lives (EINVAL) and for another when it has ended (ENODEV).
 */
static size_t moved_leaders;
static int moved_refusal;

static int moves_leaders(const struct fake_call *call)
{
	size_t before = 0;

	for (int i = 0; call->pid == 101 && i <= call->group_fd - FAKE_FD; i++)
		before += fake.calls[i].pid == 101 && fake.calls[i].group_fd < 0;
	return call->group_fd >= 0 && call->pid == 101 && before <= moved_leaders ? moved_refusal : 0;
}

static size_t opened_leaders(pid_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < fake.n; i++)
		n += fake.calls[i].pid == pid && fake.calls[i].group_fd < 0 &&
		     fake.calls[i].result >= 0;
	return n;
}

static void opens_only_the_thread_that_forked_again(int refusal)
{
	three_threads();
	group_of_three();
	moved_leaders = 2;
	moved_refusal = refusal;
	fake.answer = moves_leaders;
	open_all();
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(set.v[i].state, COUNTER_OPEN);
		assert_int_equal(set.v[i].leader, 0);
		for (size_t thread = 0; thread < 3; thread++)
			assert_true(set.v[i].fds[thread] >= FAKE_FD);
	}
	assert_int_equal(opened_leaders(100), 1);
	assert_int_equal(opened_leaders(101), 3);
	assert_int_equal(opened_leaders(102), 1);
	assert_int_equal(fake.n_open, 9);
	assert_int_equal(notes.n, 0);
}

static void only_the_thread_that_forked_is_opened_again(void **state)
{
	(void)state;
	opens_only_the_thread_that_forked_again(-EINVAL);
}

static void also_where_its_child_has_ended(void **state)
{
	(void)state;
	opens_only_the_thread_that_forked_again(-ENODEV);
}

static void a_thread_that_forks_too_fast_is_named(void **state)
{
	(void)state;
	three_threads();
	group_of_three();
	moved_leaders = SIZE_MAX;
	moved_refusal = -EINVAL;
	fake.answer = moves_leaders;
	open_all();
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(set.v[i].state, COUNTER_OPEN);
		assert_int_equal(set.v[i].fds[1], -1);
		assert_true(set.v[i].fds[2] >= FAKE_FD);
	}
	assert_true(noted("a: some threads are not counted: they fork faster"));
}

static void a_task_that_forks_too_fast_has_its_reason(void **state)
{
	(void)state;
	three_threads();
	target.threads = threads + 1;
	target.n_threads = 1;
	add("a", PERF_TYPE_SOFTWARE, 1);
	add("b", PERF_TYPE_SOFTWARE, 2);
	group_from(0);
	moved_leaders = SIZE_MAX;
	moved_refusal = -EINVAL;
	fake.answer = moves_leaders;
	open_all();
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(set.v[i].state, COUNTER_NOT_SUPPORTED);
		assert_string_equal(set.v[i].reason, "its task forks faster than the group can be opened");
		assert_non_null(strstr(set.v[i].remedy, "braces"));
	}
}

/* A member that is refused for itself is not tried again and again. */
static int third_never_joins(const struct fake_call *call)
{
	return call->group_fd >= 0 && call->attr.config == 3 ? -EINVAL : 0;
}

static void a_member_that_never_fits_is_tried_once(void **state)
{
	(void)state;
	three_threads();
	group_of_three();
	for (size_t i = 0; i < 3; i++)
		events[i].attr.exclude_guest = 0;
	options.inherit = false;
	fake.answer = third_never_joins;
	open_all();
	assert_int_equal(set.v[2].state, COUNTER_NOT_SUPPORTED);
	assert_string_equal(set.v[2].reason, "does not fit into its group");
	assert_int_equal(opened_leaders(101), 1);
	assert_int_equal(fake.n_open, 6);
}

/* A child that was forked in between has the leader alone, for these leaders of thread 101. */
static size_t torn_leaders;

static ssize_t is_torn(int fd, uint64_t *words, size_t bytes)
{
	size_t before = 0;

	(void)words;
	if (fake_call_of(fd)->pid != 101)
		return (ssize_t)bytes;
	for (int i = 0; i <= fd - FAKE_FD; i++)
		before += fake.calls[i].pid == 101 && fake.calls[i].group_fd < 0;
	return before <= torn_leaders ? -ECHILD : (ssize_t)bytes;
}

static void half_a_group_in_a_child_is_opened_again(void **state)
{
	(void)state;
	three_threads();
	group_of_three();
	torn_leaders = 2;
	fake.read = is_torn;
	open_all();
	assert_int_equal(opened_leaders(100), 1);
	assert_int_equal(opened_leaders(101), 3);
	assert_int_equal(opened_leaders(102), 1);
	assert_true(set.group_reads);
	assert_int_equal(fake.n_open, 9);
}

static void what_stays_torn_is_read_singly(void **state)
{
	(void)state;
	three_threads();
	target.threads = threads + 1;
	target.n_threads = 1;
	group_of_three();
	torn_leaders = SIZE_MAX;
	fake.read = is_torn;
	open_all();
	assert_false(set.group_reads);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(set.v[i].state, COUNTER_OPEN);
		assert_int_equal(set.v[i].leader, 0);
		assert_false(set.v[i].attr.read_format & PERF_FORMAT_GROUP);
	}
	assert_true(noted("read event by event"));
}

/* ---- whether children count ---- */

/* As the kernel has it. */
static int members_inherit_alike(const struct fake_call *call)
{
	return call->group_fd >= 0 && call->attr.inherit != fake_call_of(call->group_fd)->attr.inherit ?
		       -EINVAL : 0;
}

static void assert_inherits(size_t n, bool inherits)
{
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(set.v[i].state, COUNTER_OPEN);
		assert_int_equal(set.v[i].attr.inherit, inherits);
	}
	assert_int_equal(set.v[0].n_members, n);
}

static void inherit_is_the_groups(void **state)
{
	(void)state;
	group_of_three();
	events[1].terms.inherit = TERM_OFF;
	fake.answer = members_inherit_alike;
	open_all();
	assert_inherits(3, false);
	assert_int_equal(notes.n, 0);
}

static void the_first_word_on_inherit_holds(void **state)
{
	(void)state;
	group_of_three();
	events[0].terms.inherit = TERM_ON;
	events[2].terms.inherit = TERM_OFF;
	options.inherit = false;
	fake.answer = members_inherit_alike;
	open_all();
	assert_inherits(3, true);
	assert_true(noted("c: child processes are counted with it"));
}

static int nobody_follows(const struct fake_call *call)
{
	return call->attr.inherit ? -EINVAL : members_inherit_alike(call);
}

static void members_follow_a_leader_that_cannot(void **state)
{
	(void)state;
	group_of_three();
	fake.answer = nobody_follows;
	open_all();
	assert_inherits(3, false);
}

/* ---- turns ---- */

/* The config of the leaders that were opened on this CPU, in that order, one digit each. */
static unsigned order_on(int cpu)
{
	unsigned order = 0;

	for (size_t i = 0; i < fake.n; i++) {
		if (fake.calls[i].cpu == cpu && fake.calls[i].group_fd < 0)
			order = 10 * order + (unsigned)fake.calls[i].attr.config;
	}
	return order;
}

static void each_cpu_begins_with_another_group(void **state)
{
	(void)state;
	add("a", PERF_TYPE_HARDWARE, 1);
	add("soft", PERF_TYPE_SOFTWARE, 9);
	add("b", PERF_TYPE_HARDWARE, 2);
	add("c", PERF_TYPE_HARDWARE, 3);
	add("d", PERF_TYPE_HARDWARE, 4)->attr.pinned = 1;
	all_cpus(4);
	open_all();
	/* What waits for no counter, and what is pinned, stays where it is. */
	assert_int_equal(order_on(0), 19234);
	assert_int_equal(order_on(1), 29314);
	assert_int_equal(order_on(2), 39124);
	assert_int_equal(order_on(3), 19234);
	for (size_t i = 0; i < 5; i++) {
		for (size_t cpu = 0; cpu < 4; cpu++) {
			const struct fake_call *call = fake_call_of(set.v[i].fds[cpu]);

			assert_int_equal(call->cpu, cpu);
			assert_int_equal(call->attr.config, events[i].attr.config);
		}
	}
}

static void each_repeat_begins_with_another_group(void **state)
{
	(void)state;
	add("a", PERF_TYPE_HARDWARE, 1);
	add("b", PERF_TYPE_HARDWARE, 2);
	add("c", PERF_TYPE_HARDWARE, 3);
	options.first_group = 4;
	open_all();
	assert_int_equal(order_on(-1), 231);
}

static void a_group_that_broke_takes_turns(void **state)
{
	(void)state;
	for (uint64_t config = 1; config < 4; config++)
		add("x", PERF_TYPE_HARDWARE, config);
	events[0].weak = true;
	group_from(0);
	all_cpus(2);
	fake.answer = third_never_joins;
	open_all();
	/* The first "1" was the leader, the "3" the proof that the last goes alone. */
	assert_int_equal(order_on(0), 13123);
	assert_int_equal(order_on(1), 231);
}

/* ---- reading ---- */

static unsigned n_reads;

static ssize_t child_ends_meanwhile(int fd, uint64_t *words, size_t bytes)
{
	(void)fd;
	if (n_reads++ < 3)
		return -ECHILD;
	memset(words, 0, bytes);
	words[0] = 3;
	for (size_t i = 0; i < 3 && (5 + 2 * i) * sizeof(*words) <= bytes; i++) {
		words[3 + 2 * i] = 10 * (i + 1);
		words[4 + 2 * i] = i + 1;
	}
	return (ssize_t)bytes;
}

static uint64_t got[3];
static size_t n_got;

static void take(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	(void)data, (void)cpu, (void)thread;
	assert_int_equal(reading->state, READING_OK);
	got[index % 3] = reading->value;
	n_got++;
}

static void reading_waits_for_a_child_that_ends(void **state)
{
	(void)state;
	group_of_three();
	open_all();
	n_reads = 0;
	fake.read = child_ends_meanwhile;
	counters_read(&set, take, NULL);
	assert_int_equal(n_reads, 4);
	assert_int_equal(got[2], 30);
}

/* Values by the order of reading; ids are the descriptors'. */
static bool turned_round;

static ssize_t by_id(int fd, uint64_t *words, size_t bytes)
{
	words[0] = 3;
	words[1] = words[2] = 1000;
	for (size_t i = 0; i < 3; i++) {
		size_t event = turned_round ? 2 - i : i;

		words[3 + 2 * i] = 10 * (event + 1);
		words[4 + 2 * i] = (uint64_t)fd + event;
	}
	return (ssize_t)bytes;
}

static void members_are_known_by_id(void **state)
{
	(void)state;
	group_of_three();
	open_all();
	fake.read = by_id;
	turned_round = false;
	counters_read(&set, take, NULL);
	turned_round = true;
	memset(got, 0, sizeof(got));
	counters_read(&set, take, NULL);
	assert_int_equal(got[0], 10);
	assert_int_equal(got[1], 20);
	assert_int_equal(got[2], 30);
}

/* ---- many CPUs ---- */

enum { MANY_CPUS = 256 };

static struct {
	size_t opens, closes, ioctls, reads, others;
	int last_cpu, n_groups_of[MANY_CPUS];
	int cpu_of[MANY_CPUS * MAX_EVENTS];
} many;

static void same_cpu_or_next(int cpu)
{
	assert_true(cpu == many.last_cpu || cpu == many.last_cpu + 1);
	many.last_cpu = cpu;
}

static int many_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	(void)attr, (void)pid, (void)group_fd, (void)flags;
	assert_true(many.opens < ARRAY_SIZE(many.cpu_of));
	same_cpu_or_next(cpu);
	many.cpu_of[many.opens] = cpu;
	return FAKE_FD + (int)many.opens++;
}

static int many_ioctl(int fd, unsigned long request, unsigned long arg)
{
	(void)arg;
	many.ioctls++;
	many.others += request != PERF_EVENT_IOC_ENABLE && request != PERF_EVENT_IOC_DISABLE;
	same_cpu_or_next(many.cpu_of[fd - FAKE_FD]);
	return 0;
}

static ssize_t many_read(int fd, void *buf, size_t bytes)
{
	uint64_t *words = buf;

	many.reads++;
	same_cpu_or_next(many.cpu_of[fd - FAKE_FD]);
	memset(buf, 0, bytes);
	words[0] = (bytes / 8 - 3) / 2;
	return (ssize_t)bytes;
}

static int many_close(int fd)
{
	(void)fd;
	many.closes++;
	return 0;
}

static const struct sys_ops many_ops = {
	.perf_event_open = many_open,
	.ioctl = many_ioctl,
	.read = many_read,
	.close = many_close,
	.rlimit = fake_rlimit,
};

static void on_many_cpus(void)
{
	struct str why = STR_INIT;

	all_cpus(1);
	target.cpus = (struct intset){ 0 };
	assert_int_equal(intset_parse(&target.cpus, "0-255", MANY_CPUS, &why), 0);
	memset(&many, 0, sizeof(many));
	many.last_cpu = -1;
	fake.limit = (struct rlimit){ 1024, 1 << 20 };
	kern.sys = &many_ops;
	options.enable_on_exec = false;
	options.start_disabled = true;
}

/* Opens, starts, reads, stops and closes the 7 events: the system calls for each event and CPU, in hundredths. */
static size_t calls_per_event_and_cpu(void)
{
	size_t before;

	on_many_cpus();
	open_all();
	assert_int_equal(many.opens, 7 * MANY_CPUS);
	before = n_allocations;
	many.last_cpu = 0;
	assert_int_equal(counters_enable(&set), 0);
	many.last_cpu = n_got = 0;
	counters_read(&set, take, NULL);
	assert_int_equal(n_got, 7 * MANY_CPUS);
	many.last_cpu = 0;
	assert_int_equal(counters_disable(&set), 0);
	assert_int_equal(n_allocations, before);
	counters_close(&set);
	assert_int_equal(many.closes, many.opens);
	assert_int_equal(many.others, 0);
	intset_release(&target.cpus);
	return 100 * (many.opens + many.closes + many.ioctls + many.reads) / (7 * MANY_CPUS);
}

/* perf 6.1 needs 5 for events that stand alone, and its visits to each CPU. */
static void no_more_calls_than_perf(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 7; i++)
		add("x", PERF_TYPE_HARDWARE, i);
	assert_int_equal(calls_per_event_and_cpu(), 500);
}

/* A group: one to start, stop and read for all; so have software events that stand alone. */
static void a_group_is_switched_and_read_at_once(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 7; i++)
		add("x", PERF_TYPE_SOFTWARE, i);
	assert_int_equal(calls_per_event_and_cpu(), 200 + 300 / 7);
	group_from(0);
	assert_int_equal(calls_per_event_and_cpu(), 200 + 300 / 7);
}

static void nothing_is_allocated_after_opening(void **state)
{
	size_t before;
	char *volatile proof;

	(void)state;
	if (!ALLOCATIONS_SEEN) {
		printf("# skip: this build has an allocator of its own\n");
		skip();
	}
	before = n_allocations;
	proof = malloc(1);
	free(proof);
	assert_int_equal(n_allocations, before + 1);
	three_threads();
	group_of_three();
	add("d", PERF_TYPE_HARDWARE, 1);
	open_all();
	n_reads = 3;
	fake.read = child_ends_meanwhile;
	before = n_allocations;
	for (int i = 0; i < 3; i++) {
		counters_enable(&set);
		counters_read(&set, take, NULL);
		counters_disable(&set);
	}
	assert_int_equal(n_allocations, before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(only_the_thread_that_forked_is_opened_again),
		T(also_where_its_child_has_ended),
		T(a_thread_that_forks_too_fast_is_named),
		T(a_task_that_forks_too_fast_has_its_reason),
		T(a_member_that_never_fits_is_tried_once),
		T(half_a_group_in_a_child_is_opened_again), T(what_stays_torn_is_read_singly),
		T(inherit_is_the_groups), T(the_first_word_on_inherit_holds),
		T(members_follow_a_leader_that_cannot), T(each_cpu_begins_with_another_group),
		T(each_repeat_begins_with_another_group), T(a_group_that_broke_takes_turns),
		T(reading_waits_for_a_child_that_ends), T(members_are_known_by_id),
		T(no_more_calls_than_perf), T(a_group_is_switched_and_read_at_once),
		T(nothing_is_allocated_after_opening),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
