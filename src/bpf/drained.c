/* SPDX-License-Identifier: MIT */
/*
 * drained.c: a cell and its stack become the record that a ring would have had of one of its samples, the last:
 *
 *   header | id | ip | pid, tid | time | cpu | period: the sum | nr, ips | weight: number of samples
 *
 * Source: perf_event_open(2), PERF_RECORD_SAMPLE.
 */
#include "bpf/drained.h"

#include <stdlib.h>

void drained_release(struct drained *drained)
{
	free(drained->words);
	free(drained->stacks);
	free(drained->cells);
	index_release(&drained->by_hash);
	*drained = (struct drained){ 0 };
}

void drained_clear(struct drained *drained)
{
	drained->n_words = drained->n_stacks = drained->n_cells = 0;
	index_clear(&drained->by_hash);
}

/* ---- receiving ---- */

/*
 * Adds addresses, for which there is room, and returns how many. The kernel has marks among them where the event asks
 * for callchains, and none where it does not.
 */
static uint32_t add_addresses(struct drained *drained, const __u64 *ips, uint32_t n)
{
	size_t before = drained->n_words;

	for (uint32_t i = 0; i < n; i++)
		if (ips[i] < (uint64_t)PERF_CONTEXT_MAX)
			drained->words[drained->n_words++] = ips[i];
	return (uint32_t)(drained->n_words - before);
}

static void add_stack(struct drained *drained, uint64_t hash, const struct bpf_stack *stack)
{
	uint32_t n_kernel = stack->n_kernel < BPF_STACK_FRAMES ? stack->n_kernel : BPF_STACK_FRAMES;
	uint32_t room = BPF_STACK_FRAMES - n_kernel, n_user = stack->n_user < room ? stack->n_user : room;
	struct drained_stack added = { .hash = hash, .at = drained->n_words };

	if (drained->cap_words - drained->n_words < BPF_STACK_FRAMES) {
		drained->cap_words = 2 * drained->cap_words + BPF_STACK_FRAMES;
		drained->words = xreallocarray(drained->words, drained->cap_words, sizeof(*drained->words));
	}
	added.n_kernel = add_addresses(drained, stack->ips, n_kernel);
	added.n_user = add_addresses(drained, stack->ips + n_kernel, n_user);
	VEC_GROW(drained->stacks, drained->n_stacks, drained->cap_stacks);
	index_add(&drained->by_hash, hash, (uint32_t)drained->n_stacks);
	drained->stacks[drained->n_stacks++] = added;
}

static void receive_stacks(void *context, const uint64_t *hashes, const struct bpf_stack *stacks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_stack(context, hashes[i], &stacks[i]);
}

static void receive_cells(void *context, const struct bpf_cell_key *keys, const struct bpf_cell_sums *sums, size_t n)
{
	struct drained *drained = context;

	for (size_t i = 0; i < n; i++) {
		VEC_GROW(drained->cells, drained->n_cells, drained->cap_cells);
		drained->cells[drained->n_cells++] = (struct drained_cell){ keys[i], sums[i] };
	}
}

static const struct drained_stack *find_stack(const struct drained *drained, uint64_t hash)
{
	uint32_t i;

	return INDEX_FIND(&drained->by_hash, hash, i, drained->stacks[i].hash == hash) ? &drained->stacks[i] : NULL;
}

/* A wait that is not over becomes a cell of its own. Its stack may have come with others, or not at all. */
static void receive_waits(void *context, const struct bpf_wait *waits, size_t n)
{
	struct drained *drained = context;

	for (size_t i = 0; i < n; i++) {
		const struct bpf_wait *wait = &waits[i];
		const struct bpf_cell_key key = { wait->hash, wait->pid, wait->tid, wait->cpu, drained->waits_event,
						  (uint16_t)wait->state };
		struct bpf_cell_sums sums = { 1, 0, drained->until_ns };

		if (!wait->out_ns)
			continue;
		if (drained->until_ns > wait->out_ns)
			sums.period = drained->until_ns - wait->out_ns;
		if (!find_stack(drained, wait->hash))
			add_stack(drained, wait->hash, &wait->stack);
		receive_cells(drained, &key, &sums, 1);
	}
}

struct bpf_receiver drained_receiver(struct drained *drained)
{
	return (struct bpf_receiver){ drained, receive_stacks, receive_cells, receive_waits };
}

static int by_time(const void *a, const void *b)
{
	const struct drained_cell *x = a, *y = b;

	return (x->sums.last_ns > y->sums.last_ns) - (x->sums.last_ns < y->sums.last_ns);
}

void drained_sort(struct drained *drained)
{
	if (drained->n_cells)
		qsort(drained->cells, drained->n_cells, sizeof(*drained->cells), by_time);
}

/* ---- records ---- */

/* One part of the chain, after the mark that says whose it is. */
static void add_part(struct str *out, uint64_t mark, const uint64_t *ips, uint32_t n)
{
	if (!n)
		return;
	str_addn(out, (const char *)&mark, sizeof(mark));
	str_addn(out, (const char *)ips, n * sizeof(*ips));
}

static uint16_t misc_of(const struct bpf_cell_key *key, const struct drained_as *as, bool in_kernel)
{
	static const uint16_t of_state[] = {
		[BPF_WAIT_PREEMPTED] = MISC_SWITCH_OUT_PREEMPT,
		[BPF_WAIT_SLEEPING] = MISC_WAIT_SLEEPING,
		[BPF_WAIT_DISK] = MISC_WAIT_DISK,
	};
	uint16_t misc = in_kernel ? MISC_KERNEL : MISC_USER;

	if (as->waits && key->state < ARRAY_SIZE(of_state))
		misc |= of_state[key->state];
	return as->wall ? misc | MISC_SWITCH_OUT : misc;
}

uint64_t drained_add_sample(const struct drained *drained, size_t i, const struct drained_as *as, struct str *out)
{
	const struct drained_cell *cell = &drained->cells[i];
	const struct drained_stack *stack = find_stack(drained, cell->key.stack);
	const uint64_t *ips;
	struct {
		struct perf_event_header header;
		uint64_t id, ip;
		uint32_t pid, tid;
		uint64_t time_ns;
		uint32_t cpu, reserved;
		uint64_t period, n_ips;
	} sample = { .id = as->id, .pid = cell->key.pid, .tid = cell->key.tid, .time_ns = cell->sums.last_ns,
		     .cpu = cell->key.cpu, .period = cell->sums.period };
	bool in_kernel;
	size_t n;

	if (!stack || !(n = (size_t)stack->n_kernel + stack->n_user))
		return 0;
	/* All waits are in the scheduler: the user's address tells them apart. */
	in_kernel = stack->n_kernel && !(as->waits && stack->n_user);
	ips = drained->words + stack->at;
	sample.ip = in_kernel ? ips[0] : ips[stack->n_kernel];
	sample.n_ips = n + (stack->n_kernel > 0) + (stack->n_user > 0);
	sample.header.type = PERF_RECORD_SAMPLE;
	sample.header.misc = misc_of(&cell->key, as, in_kernel);
	sample.header.size = (uint16_t)(sizeof(sample) + (sample.n_ips + 1) * sizeof(uint64_t));
	str_addn(out, (const char *)&sample, sizeof(sample));
	add_part(out, (uint64_t)PERF_CONTEXT_KERNEL, ips, stack->n_kernel);
	add_part(out, (uint64_t)PERF_CONTEXT_USER, ips + stack->n_kernel, stack->n_user);
	str_addn(out, (const char *)&cell->sums.n_samples, sizeof(cell->sums.n_samples));
	return cell->sums.n_samples;
}
