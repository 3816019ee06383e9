/* SPDX-License-Identifier: MIT */
/*
 * golden_samples: recordings about what one sample may carry: branches, memory, counter values, chains.
 */
#include "golden/golden.h"

/* Flags of a branch, as the kernel's struct has its bits. */
enum { MISPREDICTED = 1, PREDICTED = 2, IN_TX = 4, ABORT = 8 };
#define CYCLES(n) ((uint64_t)(n) << 4)
#define KIND(n) ((uint64_t)(n) << 20)
enum { KIND_COND = 1, KIND_CALL = 4, KIND_RETURN = 6 }; /* PERF_BR_* of the kernel */

static void add_branches(struct golden *g, uint64_t ip, const struct sample_branch *branches, size_t n)
{
	struct record_body body = golden_sample(ip);

	body.sample.branches = branches;
	body.sample.n_branches = n;
	body.sample.branch_hw_index = ~0ULL;
	golden_add(g, &body);
}

/* -b: a row for each branch; predicted and not, cycles, transactions, an unknown target, the kernel. */
static void branch_stack(struct golden *g)
{
	const struct sample_branch first[] = {
		{ app(LEAF), app(INNER) + 4, PREDICTED | CYCLES(7) | KIND(KIND_RETURN) },
		{ app(INNER), app(LEAF) - 8, PREDICTED | CYCLES(12) | KIND(KIND_CALL) },
		{ app(MIDDLE), lib(WORK) - 8, MISPREDICTED | CYCLES(300) | KIND(KIND_CALL) },
	};
	const struct sample_branch second[] = {
		{ app(SPIN) + 16, app(SPIN), MISPREDICTED | IN_TX | KIND(KIND_COND) },
		{ app(SPIN) + 16, app(SPIN), PREDICTED | IN_TX | ABORT },
		{ app(SPIN) + 16, app(SPIN), 0 },
		{ 0x10, app(SPIN), PREDICTED },
		{ app(SPIN), kernel(ENTRY) - 8, PREDICTED },
	};
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_BRANCH_STACK);

	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	golden_event(g, &attr, "branches");
	info_set(&g->info, FEATURE_BRANCH_STACK);
	golden_start_app(g);
	add_branches(g, app(INNER), first, ARRAY_SIZE(first));
	add_branches(g, app(SPIN), second, ARRAY_SIZE(second));
	add_branches(g, app(SPIN), second, 1);
	add_branches(g, app(MAIN), NULL, 0);
}

/*
 * -b -g: branches in front of callers. Two samples go the same way to leaf(), once by a branch that was predicted, once
 * not; a third one has an aborted transaction; the last has no branches.
 */
static void branch_history(struct golden *g)
{
	const struct sample_branch first[] = {
		{ app(INNER) + 4, app(LEAF), PREDICTED | CYCLES(7) | KIND(KIND_CALL) },
		{ app(SPIN) + 20, app(INNER) + 2, PREDICTED | CYCLES(30) | KIND(KIND_RETURN) },
		{ app(INNER) + 1, app(SPIN), PREDICTED | CYCLES(4) | KIND(KIND_COND) },
		{ app(MIDDLE) + 20, app(INNER), PREDICTED | CYCLES(12) | KIND(KIND_CALL) },
	};
	const struct sample_branch second[] = {
		{ app(INNER) + 4, app(LEAF), MISPREDICTED | CYCLES(10) | KIND(KIND_CALL) },
		{ app(SPIN) + 20, app(INNER) + 2, PREDICTED | CYCLES(50) | KIND(KIND_RETURN) },
		{ app(INNER) + 1, app(SPIN), MISPREDICTED | CYCLES(4) | KIND(KIND_COND) },
	};
	const struct sample_branch third[] = {
		{ app(SPIN) + 16, app(SPIN) + 4, PREDICTED | IN_TX | ABORT | CYCLES(5) },
	};
	const uint64_t calls[] = { (uint64_t)PERF_CONTEXT_USER, app(LEAF) + 8, app(INNER) + 8, app(MIDDLE) + 24,
				   app(MAIN) + 16 };
	const uint64_t in_spin[] = { (uint64_t)PERF_CONTEXT_USER, app(SPIN) + 8, app(MAIN) + 16 };
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK);
	const struct {
		const uint64_t *ips;
		size_t n_ips;
		const struct sample_branch *branches;
		size_t n_branches;
	} samples[] = {
		{ calls, ARRAY_SIZE(calls), first, ARRAY_SIZE(first) },
		{ calls, ARRAY_SIZE(calls), second, ARRAY_SIZE(second) },
		{ in_spin, ARRAY_SIZE(in_spin), third, ARRAY_SIZE(third) },
		{ calls, ARRAY_SIZE(calls), NULL, 0 },
	};

	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	golden_event(g, &attr, "cycles");
	info_set(&g->info, FEATURE_BRANCH_STACK);
	golden_start_app(g);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		struct record_body body = golden_sample(samples[i].ips[1]);

		body.sample.branches = samples[i].branches;
		body.sample.n_branches = samples[i].n_branches;
		body.sample.branch_hw_index = ~0ULL;
		body.sample.ips = samples[i].ips;
		body.sample.n_ips = samples[i].n_ips;
		golden_add(g, &body);
	}
}

/* Cycles between branches: a block entered in two places, unknown starts, the kernel, a branch without cycles. */
static void code_blocks(struct golden *g)
{
	const struct sample_branch in_app[] = {
		{ app(SPIN) + 16, app(SPIN) + 4, PREDICTED | CYCLES(10) | KIND(KIND_COND) },
		{ app(SPIN) + 16, app(SPIN), PREDICTED | CYCLES(12) | KIND(KIND_COND) },
		{ app(LEAF) + 8, app(SPIN) + 4, PREDICTED | CYCLES(2500) | KIND(KIND_CALL) },
		{ app(MIDDLE) + 4, app(INNER), PREDICTED | CYCLES(7) | KIND(KIND_CALL) },
	};
	const struct sample_branch by_kernel[] = {
		{ kernel(VFS_READ) + 16, app(LEAF), PREDICTED | CYCLES(60000) },
		{ app(SPIN) + 16, kernel(VFS_READ), PREDICTED | CYCLES(30) },
		{ app(MAIN), app(SPIN), PREDICTED | KIND(KIND_CALL) },
	};
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_BRANCH_STACK);

	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	golden_event(g, &attr, "branches");
	info_set(&g->info, FEATURE_BRANCH_STACK);
	golden_start_app(g);
	for (unsigned i = 0; i < 3; i++)
		add_branches(g, app(SPIN), in_app, ARRAY_SIZE(in_app));
	add_branches(g, app(LEAF), by_kernel, ARRAY_SIZE(by_kernel));
}

/*
 * Blocks of the recording before once more, for diff -c cycles: spin takes 19 cycles in place of 13, middle 7 as
 * before; where leaf's block begins is known now, inner's is new, and the kernel's is not there.
 */
static void code_blocks_later(struct golden *g)
{
	const struct sample_branch branches[] = {
		{ app(SPIN) + 16, app(SPIN) + 4, PREDICTED | CYCLES(15) | KIND(KIND_COND) },
		{ app(SPIN) + 16, app(SPIN), PREDICTED | CYCLES(24) | KIND(KIND_COND) },
		{ app(LEAF) + 8, app(SPIN) + 4, PREDICTED | CYCLES(2000) | KIND(KIND_CALL) },
		{ app(INNER) + 4, app(LEAF), PREDICTED | CYCLES(9) | KIND(KIND_CALL) },
		{ app(MIDDLE) + 4, app(INNER), PREDICTED | CYCLES(7) | KIND(KIND_CALL) },
	};
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_BRANCH_STACK);

	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	golden_event(g, &attr, "branches");
	info_set(&g->info, FEATURE_BRANCH_STACK);
	golden_start_app(g);
	add_branches(g, app(SPIN), branches, ARRAY_SIZE(branches));
	add_branches(g, app(SPIN), branches, ARRAY_SIZE(branches));
}

/* Call stacks by the branch unit: the user part of the chain is the branches' sources. */
static void branch_call_stack(struct golden *g)
{
	const struct sample_branch calls[] = {
		{ app(INNER), app(LEAF) - 8, PREDICTED },
		{ app(MIDDLE), app(INNER) - 8, PREDICTED },
		{ app(MAIN), app(MIDDLE) - 8, PREDICTED },
	};
	const uint64_t user[] = { (uint64_t)PERF_CONTEXT_USER, app(LEAF) };
	const uint64_t mixed[] = { (uint64_t)PERF_CONTEXT_KERNEL, kernel(VFS_READ), kernel(ENTRY),
				   (uint64_t)PERF_CONTEXT_USER, app(LEAF) + 4 };
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK);
	struct record_body body = golden_sample(app(LEAF));

	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
				  PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
	golden_event(g, &attr, "cycles");
	golden_start_app(g);
	body.sample.branches = calls;
	body.sample.n_branches = ARRAY_SIZE(calls);
	body.sample.ips = user;
	body.sample.n_ips = ARRAY_SIZE(user);
	golden_add(g, &body);
	body = golden_sample(kernel(VFS_READ));
	body.sample.branches = calls;
	body.sample.n_branches = ARRAY_SIZE(calls);
	body.sample.ips = mixed;
	body.sample.n_ips = ARRAY_SIZE(mixed);
	body.sample.period = 3000;
	golden_add(g, &body);
}

/*
 * Call stacks of a CPU with three branch registers, whose deeper calls overwrite the outer ones: what earlier samples
 * of the thread had goes on where the outermost call is in the same register, not where another one is there, nor in
 * another thread.
 */
static void stitched_calls(struct golden *g)
{
	enum { OTHER_TID = PID + 100 };
	const struct sample_branch three[] = { { app(MIDDLE), app(INNER) - 8, PREDICTED },
					       { app(OUTER), app(MIDDLE) - 8, PREDICTED },
					       { app(MAIN), app(OUTER) - 8, PREDICTED } };
	const struct sample_branch five[] = { { app(LEAF), app(SPIN) - 8, PREDICTED },
					      { app(INNER), app(LEAF) - 8, PREDICTED },
					      { app(MIDDLE), app(INNER) - 8, PREDICTED },
					      { app(OUTER), app(MIDDLE) - 8, PREDICTED } };
	const struct sample_branch other[] = { { app(INNER), app(LEAF) - 8, PREDICTED },
					       { app(SPIN), app(INNER) - 8, PREDICTED } };
	const struct {
		const struct sample_branch *calls;
		size_t n;
		uint64_t newest;
		enum app_function in;
		int tid;
	} samples[] = {
		{ three, 3, 2, INNER, PID }, /* main outer middle inner */
		{ five + 1, 3, 0, LEAF, PID }, /* main outer middle inner leaf */
		{ five, 3, 1, SPIN, PID }, /* main outer middle inner leaf spin */
		{ five + 1, 2, 0, LEAF, PID }, /* main outer middle inner leaf, returned from spin */
		{ five, 3, 1, SPIN, OTHER_TID }, /* middle inner leaf spin */
		{ other, 2, 0, LEAF, PID }, /* spin inner leaf */
		{ three, 3, 2, INNER, OTHER_TID }, /* main outer middle inner */
		{ five, 3, 1, SPIN, OTHER_TID }, /* main outer middle inner leaf spin, which perf does not stitch */
	};
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK);

	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
				  PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES | DATA_BRANCH_HW_INDEX;
	golden_event(g, &attr, "cycles");
	g->info.cpu_caps.v = xcalloc(1, sizeof(*g->info.cpu_caps.v));
	g->info.cpu_caps.n = g->info.cpu_caps.cap = 1;
	text_list_add(&g->info.cpu_caps.v[0].names, "branches", 8);
	text_list_add(&g->info.cpu_caps.v[0].values, "3", 1);
	info_set(&g->info, FEATURE_CPU_PMU_CAPS);
	golden_start_app(g);
	golden_fork(g, PID, OTHER_TID, PID, PID);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		const uint64_t user[] = { (uint64_t)PERF_CONTEXT_USER, app(samples[i].in) };
		struct record_body body = golden_sample(app(samples[i].in));

		body.sample.tid = (uint32_t)samples[i].tid;
		body.sample.branches = samples[i].calls;
		body.sample.n_branches = samples[i].n;
		body.sample.branch_hw_index = samples[i].newest;
		body.sample.ips = user;
		body.sample.n_ips = ARRAY_SIZE(user);
		golden_add(g, &body);
	}
}

#define MEM(what, value) PERF_MEM_S(what, value)

/* --mem-mode: where loads and stores were answered, with cost, address, physical address, page sizes. */
static void mem_samples(struct golden *g)
{
	static const struct {
		uint64_t data_src, weight, addr, page;
	} rows[] = {
		{ MEM(OP, LOAD) | MEM(LVL, HIT) | MEM(LVL, L1) | MEM(SNOOP, NONE) | MEM(TLB, HIT) | MEM(TLB, L1) |
			  MEM(TLB, L2), 7, 0x600178 + TABLE * FUNCTION_BYTES, 4096 },
		{ MEM(OP, LOAD) | MEM(LVL, HIT) | MEM(LVL, LFB) | MEM(SNOOP, NONE) | MEM(TLB, HIT) | MEM(TLB, L1),
		  30, 0x600078 + TABLE * FUNCTION_BYTES + 8, 4096 },
		{ MEM(OP, LOAD) | MEM(LVL, MISS) | MEM(LVL, L3) | MEM(SNOOP, HITM) | MEM(LOCK, LOCKED) |
			  MEM(TLB, MISS) | MEM(TLB, L2), 400, 0x600078 + TABLE * FUNCTION_BYTES + 8, 2 << 20 },
		{ MEM(OP, LOAD) | MEM(LVL, HIT) | MEM(LVL, REM_RAM1) | MEM(SNOOP, MISS) | MEM(TLB, HIT) |
			  MEM(TLB, WK), 900, 0x12345678, 1 << 30 },
		{ MEM(OP, STORE) | MEM(LVL, HIT) | MEM(LVL, L1) | MEM(SNOOP, NA) | MEM(TLB, NA), 0, 0x600100, 4096 },
		{ MEM(OP, NA) | MEM(LVL, NA) | MEM(SNOOP, NA) | MEM(LOCK, NA) | MEM(TLB, NA), 0, 0, 0 },
		{ 0, 1, 0xffff888000001000ULL, 0 },
	};
	struct perf_event_attr attr = golden_attr(
		PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |
		PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE);
	struct record_body body = { .type = RECORD_MMAP2, .misc = MISC_USER | MISC_MMAP_DATA };

	attr.type = PERF_TYPE_RAW;
	attr.config = 0x1cd;
	attr.mmap_data = 1;
	golden_event(g, &attr, "cpu/mem-loads,ldlat=30/P");
	golden_start_app(g);
	body.mmap = (struct record_mmap){ .pid = PID, .tid = PID, .start = 0x600000, .len = MAP_BYTES,
					  .prot = PROT_R, .flags = 2, .path = APP_PATH };
	golden_add(g, &body);
	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		body = golden_sample(i < 4 ? app(LEAF) : i == 6 ? kernel(VFS_READ) : app(SPIN));
		body.sample.addr = rows[i].addr;
		body.sample.weight = rows[i].weight;
		body.sample.data_src = rows[i].data_src;
		body.sample.transaction = i == 4 ? PERF_TXN_ELISION | PERF_TXN_SYNC | PERF_TXN_CONFLICT : 0;
		body.sample.phys_addr = rows[i].addr ? 0x100000000ULL + rows[i].addr % 0x1000 : 0;
		body.sample.data_page_size = rows[i].page;
		body.sample.code_page_size = 4096;
		body.sample.period = 100 * (i + 1);
		golden_add(g, &body);
	}
}

/* A sample for each number of a level; operations, snoops and translations differ: answers of op, cache, ... */
static void mem_answers(struct golden *g)
{
	static const uint64_t ops[] = { 0, PERF_MEM_OP_NA, PERF_MEM_OP_LOAD, PERF_MEM_OP_STORE, PERF_MEM_OP_PFETCH,
					PERF_MEM_OP_EXEC, PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE,
					PERF_MEM_OP_LOAD | PERF_MEM_OP_PFETCH },
			      snoops[] = { 0, PERF_MEM_SNOOP_NA, PERF_MEM_SNOOP_NONE, PERF_MEM_SNOOP_HIT,
					   PERF_MEM_SNOOP_MISS, PERF_MEM_SNOOP_HITM,
					   PERF_MEM_SNOOP_HIT | PERF_MEM_SNOOP_MISS },
			      tlbs[] = { 0, PERF_MEM_TLB_NA, PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1,
					 PERF_MEM_TLB_HIT | PERF_MEM_TLB_L2,
					 PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1 | PERF_MEM_TLB_L2,
					 PERF_MEM_TLB_MISS | PERF_MEM_TLB_L2, PERF_MEM_TLB_HIT | PERF_MEM_TLB_WK,
					 PERF_MEM_TLB_MISS, PERF_MEM_TLB_L1 };
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_DATA_SRC | DATA_SAMPLE_WEIGHT_STRUCT);

	golden_event(g, &attr, "cpu/mem-loads,ldlat=30/P");
	golden_start_app(g);
	for (unsigned level = 0; level < 16; level++) {
		/* The few of spin weigh more each, the many of leaf more together. */
		struct record_body body = golden_sample(app(level < 14 ? LEAF : SPIN));

		body.sample.weight = (level < 14 ? 10 + level : 40 + level) | (uint64_t)(200 + level) << 32 |
				     (uint64_t)level << 48;
		body.sample.data_src = (uint64_t)level << PERF_MEM_LVLNUM_SHIFT |
				       ops[level % ARRAY_SIZE(ops)] << PERF_MEM_OP_SHIFT |
				       snoops[level % ARRAY_SIZE(snoops)] << PERF_MEM_SNOOP_SHIFT |
				       tlbs[level % ARRAY_SIZE(tlbs)] << PERF_MEM_TLB_SHIFT;
		golden_add(g, &body);
	}
}

/* WEIGHT_STRUCT: three numbers in the place of one. */
static void weight_struct(struct golden *g)
{
	struct perf_event_attr attr = golden_attr(DATA_SAMPLE_WEIGHT_STRUCT);

	golden_event(g, &attr, "cycles");
	golden_start_app(g);
	for (unsigned i = 0; i < 4; i++) {
		struct record_body body = golden_sample(app(i < 2 ? LEAF : SPIN));

		body.sample.weight = (uint64_t)(10 + i) | (uint64_t)(200 + i) << 32 | (uint64_t)(3 + i) << 48;
		golden_add(g, &body);
	}
}

/* A leader is sampled and brings what its members have counted since: those are shared out. */
static void group_read(struct golden *g)
{
	/* Values after each sample of the leader: cycles, instructions, misses. */
	static const uint64_t values[][3] = { { 1000, 1500, 10 }, { 2000, 1500, 40 }, { 3500, 4500, 40 } };
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_READ);

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.inherit = 0;
	golden_event(g, &attr, "cycles");
	attr.sample_period = 0;
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	golden_event(g, &attr, "instructions");
	attr.config = PERF_COUNT_HW_CACHE_MISSES;
	golden_event(g, &attr, "cache-misses");
	info_set(&g->info, FEATURE_GROUP_DESC);
	g->events.v[0]->n_members = 3;
	g->events.v[1]->leader = g->events.v[2]->leader = 0;
	golden_start_app(g);
	for (unsigned i = 0; i < ARRAY_SIZE(values); i++) {
		struct record_body body = golden_sample(app(i == 1 ? SPIN : LEAF));
		uint64_t words[6];

		for (unsigned k = 0; k < 3; k++) {
			words[2 * k] = values[i][k];
			words[2 * k + 1] = 11 + k;
		}
		body.sample.read = (struct read_values){ .format = attr.read_format, .enabled_ns = 5 * MS,
							 .running_ns = 5 * MS, .n = 3, .words = words };
		golden_add(g, &body);
	}
}

/* Frames whose number is over what is kept of a chain, 127. */
static void deep_chain(struct golden *g)
{
	uint64_t ips[200];

	golden_one_event(g, PERF_SAMPLE_CALLCHAIN);
	golden_start_app(g);
	for (unsigned i = 0; i < ARRAY_SIZE(ips); i++)
		ips[i] = app((enum app_function)(OUTER + i % 3));
	ips[0] = app(LEAF);
	ips[199] = app(MAIN);
	golden_add_chain(g, 1000, ips, 200);
	ips[126] = app(MAIN);
	golden_add_chain(g, 1000, ips, 127); /* not cut */
}

/* What frame pointers of code without them look like: 0 and small numbers among the frames. */
static void ip_zero_in_chain(struct golden *g)
{
	golden_one_event(g, PERF_SAMPLE_CALLCHAIN);
	golden_start_app(g);
	CHAIN(g, 1000, app(LEAF), 0, app(MAIN));
	CHAIN(g, 2000, app(LEAF), app(INNER), 1, 0);
	CHAIN(g, 4000, kernel(VFS_READ), kernel(ENTRY), app(LEAF), app(MAIN));
	CHAIN(g, 8000, app(SPIN));
}

static void add_deferred(struct golden *g, uint64_t cookie, const uint64_t *ips, size_t n)
{
	struct record_body body = { .type = RECORD_CALLCHAIN_DEFERRED };

	body.deferred.cookie = cookie;
	body.deferred.ips = (struct record_words){ n, ips };
	golden_add(g, &body);
}

static void add_waiting(struct golden *g, uint64_t cookie, uint64_t period)
{
	const uint64_t ips[] = { (uint64_t)PERF_CONTEXT_KERNEL, kernel(VFS_READ), kernel(ENTRY),
				 (uint64_t)-640 /* PERF_CONTEXT_USER_DEFERRED */, cookie };
	struct record_body body = golden_sample(kernel(VFS_READ));

	body.sample.ips = ips;
	body.sample.n_ips = ARRAY_SIZE(ips);
	body.sample.period = period;
	golden_add(g, &body);
}

/* User frames that come when the thread leaves the kernel; once they never come. */
static void deferred_chain(struct golden *g)
{
	const uint64_t user[] = { (uint64_t)PERF_CONTEXT_USER, app(LEAF), app(MAIN) };

	golden_one_event(g, PERF_SAMPLE_CALLCHAIN);
	golden_start_app(g);
	add_waiting(g, 5, 1000);
	add_waiting(g, 5, 2000);
	add_deferred(g, 5, user, ARRAY_SIZE(user));
	CHAIN(g, 4000, app(SPIN), app(MAIN));
	add_waiting(g, 6, 8000);
	add_waiting(g, 7, 16000);
	add_deferred(g, 7, user, ARRAY_SIZE(user));
}

/* Three events, each with other fields in its samples; one of them has neither chain nor period. */
static void different_sample_types(struct golden *g)
{
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_CALLCHAIN);
	struct record_body body;

	golden_event(g, &attr, "cycles");
	attr = golden_attr(PERF_SAMPLE_ADDR);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	golden_event(g, &attr, "page-faults");
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr.sample_period = 1;
	attr.sample_type &= ~(uint64_t)(PERF_SAMPLE_PERIOD | PERF_SAMPLE_ADDR);
	golden_event(g, &attr, "context-switches");
	golden_start_app(g);
	CHAIN(g, 1000, app(LEAF), app(MAIN));
	g->event = 1;
	body = golden_sample(app(SPIN));
	body.sample.addr = 0x12340000;
	body.sample.period = 3;
	golden_add(g, &body);
	g->event = 2;
	golden_add_sample(g, kernel(SCHEDULE), 0);
	g->event = 0;
	CHAIN(g, 3000, app(SPIN), app(MAIN));
}

/*
 * Copies of stacks that are not there: cut by the recorder, for want of registers, and of a task that exits, which
 * has no memory any more.
 */
static void cut_stacks(struct golden *g)
{
	enum { REGS = 17 }; /* AX to R15, as the x86 kernel numbers them */
	uint64_t regs[REGS] = { [7] = 0x7fff0000 /* SP */, [8] = app(LEAF) /* IP */ };
	struct perf_event_attr attr =
		golden_attr(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	struct record_body with_regs = golden_sample(app(LEAF)), in_kernel = golden_sample(kernel(VFS_READ)), body;
	const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_KERNEL, kernel(VFS_READ), kernel(ENTRY) };

	attr.sample_regs_user = (1ULL << REGS) - 1;
	attr.sample_stack_user = 8192;
	attr.exclude_callchain_user = 1;
	golden_event(g, &attr, "cycles");
	golden_start_app(g);
	with_regs.sample.user_regs = (struct sample_regs){ 2, attr.sample_regs_user, regs, REGS };
	in_kernel.sample.ips = chain;
	in_kernel.sample.n_ips = ARRAY_SIZE(chain);
	body = with_regs;
	golden_add(g, &body); /* cut */
	body = with_regs;
	golden_add(g, &body); /* cut */
	body = in_kernel;
	body.sample.user_regs = with_regs.sample.user_regs;
	golden_add(g, &body); /* cut */
	body = in_kernel;
	golden_add(g, &body); /* of a kernel's thread: it has neither registers nor a stack of the user's */
	golden_exit(g, PID, PID);
	body = in_kernel;
	body.sample.user_regs = with_regs.sample.user_regs;
	golden_add(g, &body); /* not cut: its memory is gone */
}

/* What hardware traced: bytes behind two records. */
static void auxtrace(struct golden *g)
{
	static const char trace[96];
	static const uint64_t words[] = { 7, 8 };
	struct record_body body = { .type = RECORD_AUXTRACE_INFO,
				    .auxtrace_info = { AUXTRACE_INTEL_PT, 0, { ARRAY_SIZE(words), words } } };
	struct str err = STR_INIT;

	golden_one_event(g, PERF_SAMPLE_CALLCHAIN);
	golden_start_app(g);
	golden_add(g, &body);
	CHAIN(g, 1000, app(LEAF), app(MAIN));
	for (unsigned i = 0; i < 2; i++) {
		body = (struct record_body){ .type = RECORD_AUXTRACE,
					     .auxtrace = { .size = sizeof(trace), .cpu = i } };
		golden_add(g, &body);
		if (writer_add(&g->writer, trace, sizeof(trace), &err))
			golden_stop(g->path, err.s);
	}
	CHAIN(g, 2000, app(SPIN), app(MAIN));
}

const struct golden_recording golden_samples[] = {
	{ "cut_stacks.data", cut_stacks, NULL },
	{ "auxtrace.data", auxtrace, NULL },
	{ "branch_stack.data", branch_stack, NULL },
	{ "code_blocks.data", code_blocks, NULL },
	{ "code_blocks_later.data", code_blocks_later, NULL },
	{ "branch_history.data", branch_history, NULL },
	{ "branch_call_stack.data", branch_call_stack, NULL },
	{ "stitched_calls.data", stitched_calls, NULL },
	{ "mem_samples.data", mem_samples, NULL },
	{ "mem_answers.data", mem_answers, NULL },
	{ "weight_struct.data", weight_struct, NULL },
	{ "group_read.data", group_read, NULL },
	{ "deep_chain.data", deep_chain, NULL },
	{ "ip_zero_in_chain.data", ip_zero_in_chain, NULL },
	{ "deferred_chain.data", deferred_chain, NULL },
	{ "different_sample_types.data", different_sample_types, NULL },
	{ NULL, NULL, NULL },
};
