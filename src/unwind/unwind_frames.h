/* SPDX-License-Identifier: MIT */
/*
 * unwind_frames: the chain that an unwinder builds, with what is the same for all of them: where it must
 * stop, and which frames are exact. Private to unwind/.
 */
#ifndef PSTAT_UNWIND_FRAMES_H
#define PSTAT_UNWIND_FRAMES_H

#include "unwind/unwind_memory.h"

/*
 * From the stack pointer in the code that a handler returns to, to that of what was interrupted, is what the kernel
 * stored between: registers, at most 11 KiB of x86-64's, some 70 KiB of arm64's with SME. What is farther, or below, is
 * another stack.
 */
enum { SIGNAL_FRAME_BYTES_MAX = 128 << 10 };

struct unwind_chain {
	struct unwind *unwind;
	struct unwind_memory *memory;
	uint64_t *ips;
	size_t n, max;
	uint64_t cfa; /* of the frame before the last */
	enum unwind_end end;
	bool next_exact; /* the frame to come was interrupted, it did not call */
};

/*
 * The chain from input on by the next unwinder that handles the architecture, with its end: n frames at ips, at most
 * max, and which are exact in what is returned. NULL: there is none. unwind.c.
 */
const struct unwind *unwind_hand_over(struct unwind *unwind, const struct unwind_input *input, uint64_t *ips,
				      size_t max, size_t *n, enum unwind_end *end);

/* The words of unwind.exact that so many frames need. */
static inline size_t unwind_exact_words(size_t frames)
{
	return (frames + 63) / 64;
}

static inline void unwind_chain_mark_exact(struct unwind_chain *chain, size_t frame)
{
	chain->unwind->exact[frame / 64] |= 1ULL << (frame % 64);
}

/* The first frame, the sampled one. max is at least 1. */
static inline void unwind_chain_start(struct unwind_chain *chain, uint64_t ip, uint64_t sp)
{
	memset(chain->unwind->exact, 0,
	       unwind_exact_words(chain->max) * sizeof(*chain->unwind->exact));
	unwind_chain_mark_exact(chain, 0);
	chain->ips[0] = ip;
	chain->n = 1;
	chain->cfa = sp;
	chain->next_exact = false;
}

/* The last frame is the code that a signal handler returns to. */
static inline void unwind_chain_signal(struct unwind_chain *chain)
{
	unwind_chain_mark_exact(chain, chain->n - 1);
	chain->next_exact = true;
}

/* One more frame, with the stack pointer that it has; false, and the end is set: it is the last, or none. */
static inline bool unwind_chain_add(struct unwind_chain *chain, uint64_t ip, uint64_t sp)
{
	if (!ip) {
		chain->end = UNWIND_COMPLETE;
		return false;
	}
	if (ip == chain->ips[chain->n - 1] && sp == chain->cfa) {
		chain->end = UNWIND_BROKEN;
		return false;
	}
	if (chain->n == chain->max) {
		chain->end = UNWIND_LIMIT;
		return false;
	}
	if (chain->next_exact) {
		unwind_chain_mark_exact(chain, chain->n);
		chain->memory->other_stack |= sp - chain->cfa > SIGNAL_FRAME_BYTES_MAX;
	}
	chain->next_exact = false;
	chain->cfa = sp;
	chain->ips[chain->n++] = ip;
	return true;
}

#endif
