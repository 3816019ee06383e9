/* SPDX-License-Identifier: MIT */
/*
 * profile.bpf.c: runs in the kernel for each sample of an event and counts it in a cell. The sample itself goes no
 * further: the program returns 0, so that nothing is put into the ring.
 *
 *   sample -> stack (scratch) -> hash -> stacks[generation] if it is new -> cells[generation]: + 1, + period
 *
 * Waits take two programs. In a switch the kernel runs the tracepoint sched_switch first, which knows both threads,
 * and then the event context-switches, which is there for the threads and CPUs that are sampled alone, and still has
 * the stack of the one that leaves:
 *
 *   switch_tasks: next is in waiting -> its wait is counted as above; how prev leaves -> leaving
 *   leave_cpu:    current            -> waiting[task]: when, how, and the stack
 *
 * The kernel runs one program of a kind at a time on a CPU, so what belongs to a CPU needs no lock; an element of
 * the cells, too, for the CPU is part of its key. Interrupts are off in a switch; a sample by NMI may come in between,
 * which has cells and numbers of its own. An element of waiting is its task's, which is on one CPU at a time.
 *
 * Which generation is filled is a number behind a map of maps. An update of that map returns when no program that saw
 * the old one runs any more (Linux 5.0, kernel/bpf/syscall.c, maybe_wait_bpf_programs()): the reader has then a
 * generation for itself.
 *
 * Source: bpf-helpers(7), include/uapi/linux/bpf.h.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "layout.h"

#define NO_ROOM (-7) /* -E2BIG, of an element more than there is room for */
#define IS_THERE (-17) /* -EEXIST */
enum { STACK_BYTES = BPF_STACK_FRAMES * sizeof(__u64) };

/* The bpf_get_stack() helper is for programs whose licence is compatible with the GPL; the kernel has no word "MIT". */
const char program_license[] SEC("license") = "Dual MIT/GPL";

/* Constants of a copy, given when it is loaded. */
const volatile struct bpf_constants constants;

struct cells_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct bpf_cell_key);
	__type(value, struct bpf_cell_sums);
};
struct cells_map cells_0 SEC(".maps"), cells_1 SEC(".maps");

struct stacks_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct bpf_stack);
};
struct stacks_map stacks_0 SEC(".maps"), stacks_1 SEC(".maps");

struct number_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
};
struct number_map number_0 SEC(".maps"), number_1 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct number_map);
} generation SEC(".maps") = { .values = { &number_0 } };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, BPF_RUN_KINDS);
	__type(key, __u32);
	__type(value, struct bpf_run_counts);
} run_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct bpf_wait);
} waiting SEC(".maps");

/* How the thread leaves whose switch is under way on this CPU: enum bpf_wait_state. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} leaving SEC(".maps");

/* CLOCK_MONOTONIC when the recording ended, 0 before: later switches are none. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} until SEC(".maps");

/* Room for a whole user part after a whole kernel part, as the verifier wants it. */
struct scratch {
	struct bpf_wait wait; /* of a sample: the stack alone */
	__u64 more[BPF_STACK_FRAMES + 1];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

/* The stack into the scratch room, as many addresses as perf would take. 0: there are none. */
static __always_inline __u64 take_stack(struct bpf_perf_event_data *context, struct scratch *scratch)
{
	struct bpf_stack *stack = &scratch->wait.stack;
	long kernel_bytes = bpf_get_stack(context, stack->ips, STACK_BYTES, 0), user_bytes;
	__u32 n_kernel, n_user, n;
	__u64 hash;

	n_kernel = kernel_bytes > 0 ? (__u32)kernel_bytes / sizeof(__u64) : 0;
	if (n_kernel > BPF_STACK_FRAMES)
		n_kernel = BPF_STACK_FRAMES;
	user_bytes = bpf_get_stack(context, stack->ips + n_kernel, STACK_BYTES, BPF_F_USER_STACK);
	n_user = user_bytes > 0 ? (__u32)user_bytes / sizeof(__u64) : 0;
	n = n_kernel + n_user;
	if (n > BPF_STACK_FRAMES)
		n = BPF_STACK_FRAMES;
	stack->n_kernel = n_kernel;
	stack->n_user = n - n_kernel;
	hash = mix(n_kernel, n);
	for (__u32 i = 0; i < BPF_STACK_FRAMES; i++) {
		if (i >= n)
			break;
		hash = mix(hash, stack->ips[i]);
	}
	return n ? hash : 0;
}

static __always_inline enum bpf_outcome outcome_of(long code, enum bpf_outcome full)
{
	return code == NO_ROOM ? full : BPF_BUSY;
}

static __always_inline enum bpf_outcome count_in(void *cells, void *stacks, const struct bpf_cell_key *key,
						 const struct bpf_stack *stack, const struct bpf_cell_sums *first)
{
	struct bpf_cell_sums *sums = bpf_map_lookup_elem(cells, key);
	long code;

	if (sums) {
		sums->n_samples++;
		sums->period += first->period;
		sums->last_ns = first->last_ns;
		return BPF_COUNTED;
	}
	if (!bpf_map_lookup_elem(stacks, &key->stack)) {
		code = bpf_map_update_elem(stacks, &key->stack, stack, BPF_NOEXIST);
		if (code && code != IS_THERE)
			return outcome_of(code, BPF_STACKS_FULL);
	}
	code = bpf_map_update_elem(cells, key, first, BPF_NOEXIST);
	return code ? outcome_of(code, BPF_CELLS_FULL) : BPF_COUNTED;
}

static __always_inline enum bpf_outcome count(const struct bpf_cell_key *key, const struct bpf_stack *stack,
					      __u64 period, __u64 now_ns)
{
	const __u32 zero = 0;
	const struct bpf_cell_sums first = { 1, period, now_ns };
	void *number_map = bpf_map_lookup_elem(&generation, &zero);
	const __u32 *number = number_map ? bpf_map_lookup_elem(number_map, &zero) : 0;

	if (!number)
		return BPF_BUSY;
	return *number ? count_in(&cells_1, &stacks_1, key, stack, &first) :
			 count_in(&cells_0, &stacks_0, key, stack, &first);
}

/* ---- samples ---- */

static __always_inline enum bpf_outcome count_current(struct bpf_perf_event_data *context, struct scratch *scratch)
{
	const __u64 ids = bpf_get_current_pid_tgid();
	struct bpf_cell_key key = {
		.pid = ids >> 32, .tid = (__u32)ids, .cpu = bpf_get_smp_processor_id(), .event = constants.event,
	};

	key.stack = take_stack(context, scratch);
	if (!key.stack)
		return BPF_NO_STACK;
	return count(&key, &scratch->wait.stack, context->sample_period, bpf_ktime_get_ns());
}

SEC("perf_event")
int count_sample(struct bpf_perf_event_data *context)
{
	const __u32 zero = 0, kind = BPF_RUN_SAMPLE;
	struct bpf_run_counts *counts = bpf_map_lookup_elem(&run_counts, &kind);
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	enum bpf_outcome outcome;

	if (!counts || !scratch)
		return 0;
	counts->runs++;
	outcome = count_current(context, scratch);
	if (outcome < BPF_OUTCOMES)
		counts->ended[outcome]++;
	return 0;
}

/* ---- waits ---- */

static __always_inline bool is_over(__u64 now_ns)
{
	const __u32 zero = 0;
	const __u64 *end_ns = bpf_map_lookup_elem(&until, &zero);

	return end_ns && *end_ns && now_ns > *end_ns;
}

/* Bits of a task's state, which are those of `ps`: include/linux/sched.h. */
static __always_inline enum bpf_wait_state state_of(bool preempt, __u32 state)
{
	enum { INTERRUPTIBLE = 1, UNINTERRUPTIBLE = 2, DEAD = 0x80, NO_LOAD = 0x400 };

	if (preempt || !state)
		return BPF_WAIT_PREEMPTED;
	if (state & DEAD)
		return BPF_WAIT_DEAD;
	if (state & INTERRUPTIBLE || (state & UNINTERRUPTIBLE && state & NO_LOAD))
		return BPF_WAIT_SLEEPING;
	return state & UNINTERRUPTIBLE ? BPF_WAIT_DISK : BPF_WAIT_OTHER;
}

static __always_inline void comes_back(__u64 task, struct bpf_wait *wait, struct bpf_run_counts *counts)
{
	const __u64 now_ns = bpf_ktime_get_ns(), wait_ns = now_ns - wait->out_ns;
	const struct bpf_cell_key key = {
		.stack = wait->hash, .pid = wait->pid, .tid = wait->tid, .cpu = bpf_get_smp_processor_id(),
		.event = constants.event, .state = wait->state,
	};
	enum bpf_outcome outcome;

	if (is_over(now_ns))
		return;
	if (wait_ns < constants.least_ns) {
		counts->short_waits++;
		counts->short_ns += wait_ns;
	} else {
		outcome = count(&key, &wait->stack, wait_ns, now_ns);
		if (outcome < BPF_OUTCOMES)
			counts->ended[outcome]++;
	}
	wait->out_ns = 0;
	bpf_map_delete_elem(&waiting, &task);
}

/* Arguments: bool preempt, prev, next, and since Linux 5.18 unsigned int prev_state. */
SEC("raw_tp/sched_switch")
int switch_tasks(struct bpf_raw_tracepoint_args *context)
{
	const __u32 zero = 0, kind = BPF_RUN_WAIT;
	const __u64 next = context->args[2];
	struct bpf_run_counts *counts = bpf_map_lookup_elem(&run_counts, &kind);
	__u32 *state = bpf_map_lookup_elem(&leaving, &zero);
	struct bpf_wait *wait = bpf_map_lookup_elem(&waiting, &next);

	if (!counts || !state)
		return 0;
	*state = state_of(context->args[0] & 1, context->args[3]);
	if (wait && wait->out_ns)
		comes_back(next, wait, counts);
	return 0;
}

/* Puts the thread among those that wait. An element may still be there, of a return whose deletion was refused. */
static __always_inline enum bpf_outcome keep(__u64 task, const struct bpf_wait *wait, struct bpf_run_counts *counts)
{
	struct bpf_wait *earlier;
	long code = bpf_map_update_elem(&waiting, &task, wait, BPF_NOEXIST);

	if (code == IS_THERE) {
		earlier = bpf_map_lookup_elem(&waiting, &task);
		if (earlier && earlier->out_ns)
			counts->ended[BPF_LEFT_TWICE]++;
		code = bpf_map_update_elem(&waiting, &task, wait, BPF_ANY);
	}
	return code ? outcome_of(code, BPF_WAITING_FULL) : BPF_COUNTED;
}

SEC("perf_event")
int leave_cpu(struct bpf_perf_event_data *context)
{
	const __u32 zero = 0, kind = BPF_RUN_WAIT;
	const __u64 ids = bpf_get_current_pid_tgid(), now_ns = bpf_ktime_get_ns();
	struct bpf_run_counts *counts = bpf_map_lookup_elem(&run_counts, &kind);
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	const __u32 *state = bpf_map_lookup_elem(&leaving, &zero);
	enum bpf_outcome outcome = BPF_NO_STACK;
	struct bpf_wait *wait;

	if (!counts || !scratch || !state)
		return 0;
	if (!(__u32)ids || *state == BPF_WAIT_DEAD || is_over(now_ns)) {
		counts->passed_over++;
		return 0;
	}
	counts->runs++;
	wait = &scratch->wait;
	wait->hash = take_stack(context, scratch);
	wait->out_ns = now_ns;
	wait->pid = ids >> 32;
	wait->tid = (__u32)ids;
	wait->cpu = bpf_get_smp_processor_id();
	wait->state = *state;
	if (wait->hash)
		outcome = keep(bpf_get_current_task(), wait, counts);
	if (outcome != BPF_COUNTED && outcome < BPF_OUTCOMES)
		counts->ended[outcome]++;
	return 0;
}
