/* SPDX-License-Identifier: MIT */
/*
 * stitched_calls: call stacks that a CPU keeps in its branch registers (record --call-graph lbr) have as many calls as
 * there are registers; deeper calls write over the outermost ones. A sample tells which register its newest call is in.
 * Where its outermost call is the one that the thread's sample before had in the same register, the thread has not
 * returned from it since, and the calls outside of it are those of the sample before:
 *
 *	three registers:   r0    r1    r2
 *	sample before      a->b  b->c  c->d      newest in r2           stack: a b c d
 *	this sample        d->e  e->f  c->d      newest in r1           stack: a b c d e f
 *
 * A thread that returned from that call and came back by the same way has the same registers, and is taken for one
 * that stayed; what called it may then be another function. So it is an option, as in perf.
 */
#include "profile/session_internal.h"

#include <stdlib.h>

enum { REGISTERS_MOST = 1024 }; /* a header that says more is damaged: CPUs have 4 to 64 */

void stitched_calls_release(struct stitched_calls *stitched)
{
	for (size_t i = 0; i < stitched->n; i++)
		free(stitched->v[i].calls);
	free(stitched->v);
	index_release(&stitched->ix);
	*stitched = (struct stitched_calls){ .n = 0 };
}

static unsigned caps_registers(const struct info_caps *caps)
{
	char *const *names = caps->names.v;
	uint64_t n;

	for (size_t i = 0; i < caps->names.n && i < caps->values.n; i++)
		if (!strcmp(names[i], "branches") && !parse_u64(caps->values.v[i], 10, &n) && n <= REGISTERS_MOST)
			return (unsigned)n;
	return 0;
}

unsigned recorded_branch_registers(const struct info *info)
{
	unsigned n = info->cpu_caps.n ? caps_registers(&info->cpu_caps.v[0]) : 0;

	for (size_t i = 0; i < info->pmu_caps.n && !n; i++)
		n = caps_registers(&info->pmu_caps.v[i]);
	return n;
}

/* The thread's calls; of a thread that has had none, or whose number was another's before, none. */
static struct stitched_thread *find_thread(struct stitched_calls *stitched, const struct thread *thread)
{
	const uint64_t hash = hash_word((uint32_t)thread->tid);
	struct stitched_thread *found;
	uint32_t i;

	if (!INDEX_FIND(&stitched->ix, hash, i, stitched->v[i].tid == thread->tid)) {
		i = (uint32_t)stitched->n;
		VEC_GROW(stitched->v, stitched->n, stitched->cap);
		stitched->v[stitched->n++] = (struct stitched_thread){ .tid = thread->tid, .serial = thread->serial };
		index_add(&stitched->ix, hash, i);
	}
	found = &stitched->v[i];
	if (found->serial != thread->serial) {
		found->serial = thread->serial;
		found->n = found->n_held = 0;
	}
	return found;
}

static bool same_branch(const struct sample_branch *a, const struct sample_branch *b)
{
	return a->from == b->from && a->to == b->to && a->flags == b->flags;
}

/* How many of the calls before are those of this sample's registers, or inside of them; all: none is to be kept. */
static size_t calls_inside(const struct stitched_thread *before, const struct sample *now, unsigned n_registers)
{
	const uint64_t outermost = (now->branch_hw_index + n_registers - (now->n_branches - 1)) % n_registers;
	const uint64_t i = (before->newest + n_registers - outermost) % n_registers;

	return i < before->n_held && same_branch(&before->calls[i], &now->branches[now->n_branches - 1]) ? i + 1 :
													   before->n;
}

size_t session_stitch_calls(struct session *session, const struct replay_sample *sample,
			    const struct sample_branch **calls)
{
	struct stitched_calls *stitched = &session->private->stitched;
	const struct sample *now = sample->sample;
	struct stitched_thread *thread;
	size_t inside, outside, room;
	unsigned n_registers;

	if (!stitched->n_registers)
		stitched->n_registers = recorded_branch_registers(session->recording->info);
	n_registers = stitched->n_registers;
	room = n_registers + (size_t)session->options.max_stack;
	*calls = now->branches;
	if (!n_registers || sample->thread->tid < 0)
		return now->n_branches;
	thread = find_thread(stitched, sample->thread);
	if (now->n_branches > n_registers || now->branch_hw_index >= n_registers) {
		thread->n = thread->n_held = 0;
		return now->n_branches;
	}
	inside = calls_inside(thread, now, n_registers);
	outside = thread->n - inside;
	if (outside > room - now->n_branches)
		outside = room - now->n_branches;
	if (!thread->calls)
		thread->calls = xcalloc(room, sizeof(*thread->calls));
	memmove(thread->calls + now->n_branches, thread->calls + inside, outside * sizeof(*thread->calls));
	memcpy(thread->calls, now->branches, now->n_branches * sizeof(*thread->calls));
	thread->newest = now->branch_hw_index;
	thread->n_held = now->n_branches;
	thread->n = now->n_branches + outside;
	*calls = thread->calls;
	return thread->n;
}
