/*
 * profile.bpf.c: runs in the kernel for each sample of an event and counts it in a cell. The sample itself goes no
 * further: the program returns 0, so that nothing is put into the ring.
 *
 *   sample -> stack (scratch) -> hash -> stacks[generation] if it is new -> cells[generation]: + 1, + period
 *
 * The kernel runs one program of its kind at a time on a CPU, so what belongs to a CPU needs no lock; an element of
 * the cells, too, for the CPU is part of its key.
 *
 * Which generation is filled is a number behind a map of maps. An update of that map returns when no program that saw
 * the old one runs any more (Linux 5.0, kernel/bpf/syscall.c, maybe_wait_bpf_programs()): the reader has then a
 * generation for itself.
 *
 * Source: bpf-helpers(7), include/uapi/linux/bpf.h.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#include "layout.h"

#define NO_ROOM (-7) /* -E2BIG, of an element more than there is room for */
#define IS_THERE (-17) /* -EEXIST */
enum { STACK_BYTES = BPF_STACK_FRAMES * sizeof(__u64) };

/* The bpf_get_stack() helper is for programs whose licence is compatible with the GPL; the kernel has no word "MIT". */
const char program_license[] SEC("license") = "Dual MIT/GPL";

const volatile __u32 event_number;

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
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_run_counts);
} run_counts SEC(".maps");

/* Room for a whole user part after a whole kernel part, as the verifier wants it. */
struct scratch {
	struct bpf_stack stack;
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
	struct bpf_stack *stack = &scratch->stack;
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
						 const struct scratch *scratch, __u64 period)
{
	struct bpf_cell_sums first = { 1, period, bpf_ktime_get_ns() }, *sums = bpf_map_lookup_elem(cells, key);
	long code;

	if (sums) {
		sums->n_samples++;
		sums->period += period;
		sums->last_ns = first.last_ns;
		return BPF_COUNTED;
	}
	if (!bpf_map_lookup_elem(stacks, &key->stack)) {
		code = bpf_map_update_elem(stacks, &key->stack, &scratch->stack, BPF_NOEXIST);
		if (code && code != IS_THERE)
			return outcome_of(code, BPF_STACKS_FULL);
	}
	code = bpf_map_update_elem(cells, key, &first, BPF_NOEXIST);
	return code ? outcome_of(code, BPF_CELLS_FULL) : BPF_COUNTED;
}

static __always_inline enum bpf_outcome count(struct bpf_perf_event_data *context, struct scratch *scratch)
{
	const __u32 zero = 0;
	const __u64 ids = bpf_get_current_pid_tgid();
	struct bpf_cell_key key = {
		.pid = ids >> 32, .tid = (__u32)ids, .cpu = bpf_get_smp_processor_id(), .event = event_number,
	};
	void *number_map = bpf_map_lookup_elem(&generation, &zero);
	const __u32 *number = number_map ? bpf_map_lookup_elem(number_map, &zero) : 0;
	__u64 period = context->sample_period;

	key.stack = take_stack(context, scratch);
	if (!number)
		return BPF_BUSY;
	if (!key.stack)
		return BPF_NO_STACK;
	return *number ? count_in(&cells_1, &stacks_1, &key, scratch, period) :
			 count_in(&cells_0, &stacks_0, &key, scratch, period);
}

SEC("perf_event")
int count_sample(struct bpf_perf_event_data *context)
{
	const __u32 zero = 0;
	struct bpf_run_counts *counts = bpf_map_lookup_elem(&run_counts, &zero);
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	enum bpf_outcome outcome;

	if (!counts || !scratch)
		return 0;
	counts->runs++;
	outcome = count(context, scratch);
	if (outcome < BPF_OUTCOMES)
		counts->ended[outcome]++;
	return 0;
}
