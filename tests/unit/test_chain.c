/* SPDX-License-Identifier: MIT */
/*
 * Chains: which addresses are return addresses and in what mode, how many are kept, and that a stack that
 * is remembered is the one that would be found without remembering. What frames become of sampled stacks is
 * tested with the unwinder.
 */
#include "session_fixture.h"

#include "profile/session_internal.h"

#define KERNEL_IP 0xffffffff81000100ULL

struct chains {
	struct session *session;
	struct str text[16];
	uint32_t stacks[16];
	size_t n;
};

/* Takes a sample's chain twice: as frames, and as a stack; they must be the same. */
static int take(void *context, struct replay *replay, const struct replay_sample *sample,
		struct str *err)
{
	struct chains *chains = context;
	uint32_t locations[256], stack = session_stack(chains->session, sample);
	size_t n = stacks_walk(chains->session->stacks, stack, locations, ARRAY_SIZE(locations));
	struct chain chain;

	(void)replay, (void)err;
	session_chain(chains->session, sample, &chain);
	assert_int_equal(chain.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(chain.v[i].location, locations[i]);
	assert_int_equal(session_stack(chains->session, sample), stack);
	if (chains->n < ARRAY_SIZE(chains->text)) {
		session_add_locations(chains->session, locations, n, &chains->text[chains->n]);
		chains->stacks[chains->n] = stack;
	}
	chains->n++;
	return 0;
}

static void run(struct made_recording *recording, struct fix_session *f, struct chains *chains,
		const struct session_options *options)
{
	session_open(f, recording, options);
	memset(chains, 0, sizeof(*chains));
	for (size_t i = 0; i < ARRAY_SIZE(chains->text); i++)
		str_init(&chains->text[i]);
	chains->session = &f->session;
	session_replay(f, take, chains);
}

static void end(struct made_recording *recording, struct fix_session *f, struct chains *chains)
{
	for (size_t i = 0; i < ARRAY_SIZE(chains->text); i++)
		str_release(&chains->text[i]);
	session_close(f, recording);
}

/* Process 42 has /bin/x at 0x400000. */
static void program(struct made_recording *recording)
{
	recording_comm(recording, 1, PID, PID, true, "prog");
	recording_map(recording, 2, PID, 0x400000, 0x10000, 0, "/bin/x");
}

static void marks_and_returns(void **state)
{
	static const uint64_t both[] = { PERF_CONTEXT_KERNEL,
					 KERNEL_IP,
					 KERNEL_IP + 8,
					 PERF_CONTEXT_USER,
					 0x400010,
					 0x400020,
					 0x400030 };
	static const uint64_t plain[] = { 0x400010, 0x400020 };
	static const uint64_t none_known[] = { PERF_CONTEXT_USER, 0x400010, (uint64_t)-640, 0x7777,
					       PERF_CONTEXT_USER, 0x400020 };
	struct session_options options = { .max_stack = 0 };
	struct fix_session f;
	struct made_recording recording;
	struct chains chains;

	(void)state;
	recording_init(&recording);
	program(&recording);
	recording_chain(&recording, 10, PID, PID, MISC_KERNEL, both, ARRAY_SIZE(both));
	recording_chain(&recording, 11, PID, PID, MISC_USER, plain, ARRAY_SIZE(plain));
	recording_chain(&recording, 12, PID, PID, MISC_USER, none_known, ARRAY_SIZE(none_known));
	recording_chain(&recording, 13, PID, PID, MISC_USER, plain, 0);
	run(&recording, &f, &chains, &options);
	assert_string_equal(chains.text[0].s, "ffffffff81000100k ffffffff81000108kr 10 20r 30r");
	assert_string_equal(chains.text[1].s, "10 20r");
	assert_string_equal(chains.text[2].s, "10 20");
	assert_string_equal(chains.text[3].s, "");
	assert_int_equal(chains.stacks[3], 0);
	end(&recording, &f, &chains);
}

static void innermost_are_kept(void **state)
{
	static const uint64_t ips[] = {
		PERF_CONTEXT_KERNEL, KERNEL_IP, PERF_CONTEXT_USER, 0x400010, 0x400020, 0x400030
	};
	struct session_options options = { .max_stack = 3 };
	struct fix_session f;
	struct made_recording recording;
	struct chains chains;

	(void)state;
	recording_init(&recording);
	program(&recording);
	recording_chain(&recording, 10, PID, PID, MISC_KERNEL, ips, ARRAY_SIZE(ips));
	run(&recording, &f, &chains, &options);
	assert_string_equal(chains.text[0].s, "ffffffff81000100k 10 20r");
	end(&recording, &f, &chains);
	options.max_stack = UINT32_MAX;
	assert_int_equal(session_init(&f.session, &f.reader, &options, &f.err), -EINVAL);
	assert_non_null(strstr(f.err.s, "--max-stack"));
	session_release(&f.session);
	str_release(&f.err);
}

/* The same addresses, but other maps: of another process, and of the same one after it mapped anew. */
static void maps_decide(void **state)
{
	static const uint64_t ips[] = { PERF_CONTEXT_USER, 0x400010, 0x400020 };
	struct session_options options = { .max_stack = 0 };
	struct fix_session f;
	struct made_recording recording;
	struct chains chains;

	(void)state;
	recording_init(&recording);
	program(&recording);
	recording_map(&recording, 3, OTHER_PID, 0x400000, 0x10000, 0x1000, "/bin/x");
	recording_chain(&recording, 10, PID, PID, MISC_USER, ips, 3);
	recording_chain(&recording, 11, OTHER_PID, OTHER_PID, MISC_USER, ips, 3);
	recording_chain(&recording, 12, PID, PID, MISC_USER, ips, 3);
	recording_map(&recording, 20, PID, 0x400000, 0x1000, 0x5000, "/bin/x");
	recording_chain(&recording, 21, PID, PID, MISC_USER, ips, 3);
	recording_kernel_map(&recording, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text");
	recording_chain(&recording, 31, PID, PID, MISC_USER, ips, 3);
	run(&recording, &f, &chains, &options);
	assert_string_equal(chains.text[0].s, "10 20r");
	assert_string_equal(chains.text[1].s, "1010 1020r");
	assert_int_equal(chains.stacks[2], chains.stacks[0]);
	assert_string_equal(chains.text[3].s, "5010 5020r");
	assert_int_equal(chains.stacks[4], chains.stacks[3]);
	end(&recording, &f, &chains);
}

static int take_moving(void *context, struct replay *replay, const struct replay_sample *sample,
		       struct str *err)
{
	struct session *session = context;
	uint32_t location = session_ip_location(session, sample);

	(void)replay, (void)err;
	/* The map is moved once before each sample, by its time. */
	assert_int_equal(session->locations->v[location].addr, sample->sample->time_ns * 0x1000 + 0x10);
	return 0;
}

/* One address, mapped anew again and again: no location of before is remembered. */
static void maps_that_move(void **state)
{
	enum { MOVES = 8000 };
	struct session_options options = { .max_stack = 0 };
	struct fix_session f;
	struct made_recording recording;

	(void)state;
	recording_init(&recording);
	for (uint64_t i = 1; i <= MOVES; i++) {
		recording_map(&recording, i, PID, 0x400000, 0x1000, i * 0x1000, "/bin/x");
		recording_sample(&recording, i, PID, PID, 0x400010);
	}
	session_open(&f, &recording, &options);
	session_replay(&f, take_moving, &f.session);
	assert_int_equal(f.session.locations->n, MOVES);
	session_close(&f, &recording);
}

/* More distinct chains than are remembered at a time, in an order that brings all of them again. */
static void more_than_are_remembered(void **state)
{
	enum { DISTINCT = 9000, ROUNDS = 2, DEPTH = 64 };
	struct session_options options = { .max_stack = 0 };
	struct fix_session f;
	struct made_recording recording;
	struct chains chains;
	uint64_t time_ns = 10;

	(void)state;
	recording_init(&recording);
	program(&recording);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < DISTINCT; i++) {
			uint64_t ips[DEPTH] = { PERF_CONTEXT_USER, 0x400000 + i };

			for (unsigned d = 2; d < DEPTH; d++)
				ips[d] = 0x408000 + d;
			recording_chain(&recording, time_ns++, PID, PID, MISC_USER, ips, DEPTH);
		}
	run(&recording, &f, &chains, &options);
	assert_int_equal(chains.n, DISTINCT * ROUNDS);
	/* The root, what all chains share, and one node for each. */
	assert_int_equal(f.session.stacks->n, 1 + (DEPTH - 2) + DISTINCT);
	end(&recording, &f, &chains);
}

/*
 * Calls are stitched where the header has a number of registers, and the sample a register, that can be; the first
 * sample's outer call is known by register 1 of the second one.
 */
static void stitched_calls(void **state)
{
	static const uint64_t ips[] = { PERF_CONTEXT_USER, 0x400010 };
	static const struct sample_branch calls[] = { { 0x405000, 0x406000, 0 },
						      { 0x403000, 0x404000, 0 },
						      { 0x401000, 0x402000, 0 } };
	static const struct {
		const char *registers;
		uint64_t newest; /* of the second sample */
		const char *chain;
	} rows[] = {
		{ "2", 0, "6000 5000 3000 1000" }, /* stitched */
		{ "2", 1, "6000 5000 3000" }, /* in another register */
		{ "2", 2, "6000 5000 3000" }, /* there is no such register */
		{ "2", UINT64_MAX, "6000 5000 3000" }, /* not known */
		{ "1", 0, "6000 5000 3000" }, /* more calls than registers */
		{ "0", 0, "6000 5000 3000" },
		{ "4294967298", 0, "6000 5000 3000" },
		{ "x", 0, "6000 5000 3000" },
		{ NULL, 0, "6000 5000 3000" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct session_options options = { .stitch_calls = true };
		struct record_body body = fix_sample(101, 10);
		struct fix_session f;
		struct made_recording recording;
		struct chains chains;

		session_recording(&recording, PERF_SAMPLE_BRANCH_STACK,
				  PERF_SAMPLE_BRANCH_CALL_STACK | DATA_BRANCH_HW_INDEX);
		if (rows[i].registers) {
			struct info_caps *caps = xcalloc(1, sizeof(*caps));

			text_list_add(&caps->names, "branches", 8);
			text_list_add(&caps->values, rows[i].registers, strlen(rows[i].registers));
			recording.info.cpu_caps.v = caps;
			recording.info.cpu_caps.n = recording.info.cpu_caps.cap = 1;
			info_set(&recording.info, FEATURE_CPU_PMU_CAPS);
		}
		program(&recording);
		body.sample.ips = ips;
		body.sample.n_ips = ARRAY_SIZE(ips);
		body.sample.branches = calls + 1;
		body.sample.n_branches = 2;
		body.sample.branch_hw_index = 1;
		recording_add(&recording, &body);
		body.sample.branches = calls;
		body.sample.branch_hw_index = rows[i].newest;
		body.sample.time_ns = 11;
		recording_add(&recording, &body);
		run(&recording, &f, &chains, &options);
		assert_string_equal(chains.text[0].s, "4000 3000 1000");
		assert_string_equal(chains.text[1].s, rows[i].chain);
		end(&recording, &f, &chains);
	}
}

static void calls_in_the_branch_stack(void **state)
{
	static const uint64_t ips[] = { PERF_CONTEXT_KERNEL, KERNEL_IP, PERF_CONTEXT_USER, 0x400010,
					0x400020 };
	static const struct sample_branch branches[] = { { 0x401000, 0x402000, 0 },
							 { 0x403000, 0x404000, 0 } };
	struct session_options options = { .max_stack = 0 };
	struct record_body body = fix_sample(101, 10);
	struct fix_session f;
	struct made_recording recording;
	struct chains chains;

	(void)state;
	session_recording(&recording, PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_BRANCH_CALL_STACK);
	program(&recording);
	body.sample.ips = ips;
	body.sample.n_ips = ARRAY_SIZE(ips);
	body.sample.branches = branches;
	body.sample.n_branches = 2;
	recording_add(&recording, &body);
	body.sample.n_branches = 0;
	body.sample.time_ns = 11;
	recording_add(&recording, &body);
	run(&recording, &f, &chains, &options);
	assert_string_equal(chains.text[0].s, "ffffffff81000100k 2000 1000 3000");
	assert_string_equal(chains.text[1].s, "ffffffff81000100k 10 20r");
	end(&recording, &f, &chains);
}

static int take_locations(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	struct session *session = context;
	uint32_t location = session_data_location(session, sample);

	(void)replay, (void)err;
	assert_int_equal(session->locations->v[location].addr, 0x30);
	location = session_ip_location(session, sample);
	assert_int_equal(session->locations->v[location].mode, MISC_KERNEL);
	location = session_data_location(session, sample);
	assert_int_equal(session->locations->v[location].addr, 0x30);
	location = session_address_location(session, sample, KERNEL_IP);
	assert_int_equal(session->locations->v[location].mode, MISC_KERNEL);
	location = session_address_location(session, sample, 0x400010);
	assert_int_equal(session->locations->v[location].mode, MISC_USER);
	assert_non_null(session->locations->v[location].dso);
	return 0;
}

/* A kernel sample's address may be the user's. */
static void other_addresses(void **state)
{
	struct session_options options = { .max_stack = 0 };
	struct record_body body = fix_sample(101, 10);
	struct fix_session f;
	struct made_recording recording;

	(void)state;
	session_recording(&recording, PERF_SAMPLE_ADDR, 0);
	program(&recording);
	body.misc = MISC_KERNEL;
	body.sample.ip = KERNEL_IP;
	body.sample.addr = 0x400030;
	recording_add(&recording, &body);
	session_open(&f, &recording, &options);
	session_replay(&f, take_locations, &f.session);
	session_close(&f, &recording);
}

struct shares {
	struct session *session;
	struct str text;
};

static int take_shares(void *context, struct replay *replay, const struct replay_sample *sample,
		       struct str *err)
{
	struct shares *shares = context;
	const struct sample_share *v;
	size_t n = session_shares(shares->session, sample, &v);

	(void)replay, (void)err;
	for (size_t i = 0; i < n; i++)
		str_addf(&shares->text, "%zu:%llu ", v[i].event->index,
			 (unsigned long long)v[i].period);
	str_add(&shares->text, "| ");
	return 0;
}

/* A group's values stand as they are; each sample is worth what was added. */
static void shares_of_a_group(void **state)
{
	static const uint64_t values[][4] = { { 1000, 101, 50, 102 },
					      { 1500, 101, 50, 102 },
					      { 1500, 101, 90, 102 },
					      { 1500, 101, 90, 102 },
					      { 7, 101, 91, 999 } };
	struct session_options options = { .max_stack = 0 };
	struct fix_session f;
	struct made_recording recording;
	struct shares shares = { &f.session, STR_INIT };
	struct perf_event_attr attr;
	const uint64_t ids[] = { 101, 102 };

	(void)state;
	recording_init(&recording);
	attr = recording.events.v[0]->attr;
	attr.sample_type |= PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	events_release(&recording.events);
	events_init(&recording.events);
	for (size_t i = 0; i < 2; i++)
		events_add(&recording.events, &attr, sizeof(attr), &ids[i], 1)->name = xstrdup("e");
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		struct record_body body = fix_sample(101, 10 + i);

		body.sample.read.format = attr.read_format;
		body.sample.read.n = 2;
		body.sample.read.words = values[i];
		recording_add(&recording, &body);
	}
	session_open(&f, &recording, &options);
	session_replay(&f, take_shares, &shares);
	assert_string_equal(shares.text.s, "0:1000 1:50 | 0:500 | 1:40 | | 0:7 | ");
	str_release(&shares.text);
	session_close(&f, &recording);
}

/* What a sample gives the unwinder: no more stack than was filled, and no more than there is. */
static void test_unwind_input(void **state)
{
	static const struct {
		uint64_t has, stack_size, dyn_size, regs, stack;
	} rows[] = {
		{ PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, 16, 8, 2, 8 },
		{ PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, 8, UINT64_MAX, 2, 8 },
		{ PERF_SAMPLE_REGS_USER, 16, 16, 2, 0 },
		{ PERF_SAMPLE_STACK_USER, 16, 16, 0, 16 },
	};
	static const uint64_t regs[2] = { 7, 8 };
	static const uint8_t stack[16];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sample sample = { .has = rows[i].has, .stack = stack };
		struct thread thread = { .address_space = NULL };
		struct replay_sample of = { .sample = &sample, .thread = &thread };
		struct unwind_input input;

		sample.user_regs = (struct sample_regs){ .abi = 2, .mask = 3, .v = regs, .n = 2 };
		sample.stack_size = rows[i].stack_size;
		sample.stack_dyn_size = rows[i].dyn_size;
		input = session_unwind_input(&of);
		assert_int_equal(input.n_regs, rows[i].regs);
		assert_int_equal(input.abi, rows[i].regs ? 2 : 0);
		assert_int_equal(input.stack_bytes, rows[i].stack);
	}
}

/* What the recorder says of chains counts for those that have a user's part, or should: a kernel thread has none. */
static void ends_of_recorded_chains(void **state)
{
	static const uint64_t ips[] = { PERF_CONTEXT_KERNEL, KERNEL_IP, PERF_CONTEXT_USER, 0x400010,
					PERF_CONTEXT_USER };
	static const uint64_t none[] = { PERF_CONTEXT_KERNEL, KERNEL_IP, PERF_CONTEXT_USER, PERF_CONTEXT_USER };
	struct session_options options = { .max_stack = 0 };
	struct made_recording recording;
	struct perf_event_attr attr;
	struct chains chains;
	const uint64_t id = 101;
	struct fix_session f;

	(void)state;
	recording_init(&recording);
	attr = recording.events.v[0]->attr;
	attr.sample_stack_user = 8192;
	events_release(&recording.events);
	events_init(&recording.events);
	events_add(&recording.events, &attr, sizeof(attr), &id, 1)->name = xstrdup("e");
	program(&recording);
	recording_chain(&recording, 10, PID, PID, MISC_KERNEL, ips, 2);
	recording_chain(&recording, 11, PID, PID, MISC_KERNEL, ips, 4);
	recording_chain(&recording, 12, PID, PID, MISC_KERNEL, ips, 5);
	recording_chain(&recording, 13, PID, PID, MISC_KERNEL, none, 4);
	recording_chain(&recording, 14, PID, PID, MISC_USER, none, 0);
	run(&recording, &f, &chains, &options);
	/* Each chain is taken three times. */
	assert_int_equal(f.session.unwind.counts.samples, 3 * 3);
	assert_int_equal(f.session.unwind.counts.ends[UNWIND_COMPLETE], 3);
	assert_int_equal(f.session.unwind.counts.ends[UNWIND_TRUNCATED], 3);
	assert_int_equal(f.session.unwind.counts.ends[UNWIND_NO_INFO], 3);
	end(&recording, &f, &chains);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_of_recorded_chains),
		cmocka_unit_test(test_unwind_input),
		cmocka_unit_test(marks_and_returns),
		cmocka_unit_test(innermost_are_kept),
		cmocka_unit_test(maps_decide),
		cmocka_unit_test(maps_that_move),
		cmocka_unit_test(more_than_are_remembered),
		cmocka_unit_test(calls_in_the_branch_stack),
		cmocka_unit_test(stitched_calls),
		cmocka_unit_test(other_addresses),
		cmocka_unit_test(shares_of_a_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
