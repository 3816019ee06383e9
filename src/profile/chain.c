/* SPDX-License-Identifier: MIT */
/*
 * A sample's frames, innermost first, from up to three sources: the recorded callchain; registers and a copy of the
 * stack, unwound; the branch stack, where the event recorded calls in it. Kernel frames always come from the
 * callchain, the other two replace its user part. Addresses with a PERF_CONTEXT_* mark before them (and the first of
 * all) are where code was running or interrupted; all others are return addresses.
 *
 * With session_options.branch_history the branches that were recorded for themselves stand before the chain, newest
 * first, two frames each: where it went to, where it came from. A call among them and the caller's frame in the chain
 * are the same: the chain goes on behind the outermost frame whose call is among the branches.
 *
 *	branches        chain                       frames
 *	C+4 -> D        D+8 (sampled), C+6, B+9, A  D, C+4, C, B+4, A
 *	B+4 -> C
 *
 * A chain that is cut (session_options.part) gets the frames on one side alone, so whatever is made of chains has no
 * others.
 *
 * A callchain by frame pointers may miss a caller. On arm64 a call leaves the return address in the link register,
 * x30, and the called function saves it beside the frame pointer; a leaf function does not, and no function has at its
 * first instruction. The kernel's walk by frame pointers goes from there to the caller's caller. So recordings have
 * x30 in such samples, as perf's have too, and add_link() puts it into the chain where the unwind tables of the
 * function's file say that it still is the return address; without tables, nothing is added. The answer depends on the
 * instruction alone, and is remembered with its location. A value that is the chain's next address already is not
 * added again: around the instructions that save it, the tables of some compilers lag behind.
 */
#include "profile/session_internal.h"

enum { KERNEL_FRAMES = 127 }; /* PERF_MAX_STACK_DEPTH, where an event asks for no other number */

static bool is_user_mode(uint8_t mode)
{
	return mode == MISC_USER || mode == MISC_GUEST_USER;
}

/* Frames of this mode are kept. An unknown mode (0) may be either side's. */
static bool keeps_mode(const struct session *session, uint8_t mode)
{
	return session->options.part == STACK_WHOLE || !mode ||
	       is_user_mode(mode) == (session->options.part == STACK_USER);
}

/* The mode of an address that the sample does not say it of, e.g. a branch's: by its value. */
static uint8_t address_mode(const struct replay_sample *sample, uint64_t ip)
{
	const bool guest = sample->mode == MISC_GUEST_KERNEL || sample->mode == MISC_GUEST_USER;

	if (ip >> 63)
		return guest ? MISC_GUEST_KERNEL : MISC_KERNEL;
	return guest ? MISC_GUEST_USER : MISC_USER;
}

static bool keeps_user(const struct session *session)
{
	return keeps_mode(session, MISC_USER);
}

/* The number of the innermost user address; n_ips: there is none. */
static size_t user_ip(const struct replay_sample *sample)
{
	size_t n = sample->n_ips;
	uint8_t mode;

	for (size_t i = 0; i < n; i++) {
		if (sample->ips[i] == (uint64_t)PERF_CONTEXT_USER)
			return i + 1 < n && !context_mode(sample->ips[i + 1], &mode) ? i + 1 : n;
	}
	return n;
}

static bool in_link(struct session *session, const struct replay_sample *sample, uint64_t ip)
{
	uint32_t location = session_location(session, sample->thread, MISC_USER, ip, false);
	struct location_row *row = &session->locations->v[location];

	if (!row->link_known) {
		row->link_known = true;
		row->in_link = row->dso && unwind_in_link(&session->unwind, sample->thread->address_space, ip);
	}
	return row->in_link;
}

/* The chain with `link` behind its address number `ip`. */
static void insert(struct session_private *private, const struct replay_sample *sample, size_t ip,
		   uint64_t link, struct replay_sample *with)
{
	size_t before = ip + 1, n = sample->n_ips;

	if (private->cap_linked <= n) {
		private->cap_linked = n + n / 2 + 1;
		private->linked = xreallocarray(private->linked, private->cap_linked,
						sizeof(*private->linked));
	}
	memcpy(private->linked, sample->ips, before * sizeof(link));
	private->linked[before] = link;
	memcpy(private->linked + before + 1, sample->ips + before, (n - before) * sizeof(link));
	*with = *sample;
	with->ips = private->linked;
	with->n_ips = n + 1;
}

/*
 * A sample whose innermost user function has its return address still in a register: the same, with this address in
 * its chain, in *with, until the next call. Any other: the sample itself.
 */
static const struct replay_sample *add_link(struct session *session,
					     const struct replay_sample *sample,
					     struct replay_sample *with)
{
	const char *arch = session_arch(session);
	struct unwind_input input;
	uint64_t link;
	size_t ip;

	if (session->options.no_unwind || !keeps_user(session) || !arch ||
	    (sample->sample->has & PERF_SAMPLE_STACK_USER) || !(sample->sample->has & PERF_SAMPLE_REGS_USER) ||
	    (sample->event && event_is_unwound(sample->event)))
		return sample;
	input = session_unwind_input(sample);
	if (!unwind_link(arch, &input, &link))
		return sample;
	ip = user_ip(sample);
	if (ip == sample->n_ips)
		return sample;
	if (!session_unwinds(session)) {
		session->private->not_unwound++;
		return sample;
	}
	if (!in_link(session, sample, sample->ips[ip]))
		return sample;
	link = unwind_strip(&session->unwind, sample->thread->address_space, link);
	if (!link || (ip + 1 < sample->n_ips && sample->ips[ip + 1] == link))
		return sample;
	insert(session->private, sample, ip, link, with);
	return with;
}

static void add_frame(struct session *session, const struct replay_sample *sample, uint8_t mode,
		      uint64_t ip, bool is_return)
{
	struct session_private *private = session->private;

	if (private->n_frames == session->options.max_stack || !keeps_mode(session, mode))
		return;
	private->frames[private->n_frames++] =
		(struct chain_entry){ ip, session_location(session, sample->thread, mode, ip, is_return) };
}

/* The recorder has unwound it, and said how that ended. */
static bool is_unwound(const struct replay_sample *sample)
{
	return sample->event && event_is_unwound(sample->event);
}

/* Addresses that the kernel puts into a chain of this event, at most; marks don't count. */
static size_t frames_limit(const struct replay_sample *sample)
{
	uint16_t asked = sample->event ? sample->event->attr.sample_max_stack : 0;

	return asked ? asked : KERNEL_FRAMES;
}

static void tail_add(struct chain_tail *tail, uint64_t ip, bool is_return)
{
	if (!tail->n)
		tail->starts_with_ip = !is_return;
	tail->ips[tail->n++ % CHAIN_TAIL] = ip;
}

/*
 * The recorded chain up to its address number n, of which the first is a return address or not. What the kernel found
 * by frame pointers may be anything, where code uses that register for something else: what is no code has called
 * nobody, and the chain ends before it. Where not even the first address is in code, which runs, the maps are not what
 * they are taken for. Where maps may be missing, the chain goes on, and it is not known how it ends.
 */
static void add_callers(struct session *session, const struct replay_sample *sample, size_t n, bool is_return)
{
	bool whole = replay_knows_code(&session->replay, sample->thread);
	bool checks = keeps_user(session) && !is_unwound(sample) && sample->thread->address_space;
	struct chain_tail tail = { .n = 0 };
	bool stray = false;
	uint8_t mode = sample->mode;
	size_t n_frames = 0;

	for (size_t i = 0; i < n; i++) {
		if (context_mode(sample->ips[i], &mode)) {
			is_return = false;
			continue;
		}
		if (checks && mode == MISC_USER) {
			checks = replay_has_code(sample->thread, sample->ips[i] - is_return);
			if (checks)
				tail_add(&tail, sample->ips[i], is_return);
			else if (whole && tail.n)
				stray = true;
			else
				tail.n = 0;
			if (stray && !session->options.as_recorded)
				break;
		}
		if (mode)
			add_frame(session, sample, mode, sample->ips[i], is_return);
		n_frames++;
		is_return = true;
	}
	if (tail.n && (stray || n_frames < frames_limit(sample)))
		session->private->reach = chain_tail_reach(session, sample->thread, &tail);
}

static void add_recorded(struct session *session, const struct replay_sample *sample, size_t n)
{
	add_callers(session, sample, n, false);
}

/* The place where the user part of the recorded chain begins; n_ips: there is none. */
static size_t user_part(const struct replay_sample *sample)
{
	uint8_t mode = sample->mode;

	for (size_t i = 0; i < sample->n_ips; i++) {
		context_mode(sample->ips[i], &mode);
		if (is_user_mode(mode))
			return i;
	}
	return sample->n_ips;
}

static bool has_stack_copy(const struct session *session, const struct sample *sample)
{
	return !session->options.no_unwind && keeps_user(session) && (sample->has & PERF_SAMPLE_REGS_USER) &&
	       (sample->has & PERF_SAMPLE_STACK_USER) && sample->user_regs.abi &&
	       sample->stack_size;
}

static bool has_call_branches(const struct replay_sample *sample)
{
	return sample->event && sample->sample->n_branches &&
	       (sample->sample->has & PERF_SAMPLE_BRANCH_STACK) &&
	       (sample->event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

struct unwind_input session_unwind_input(const struct replay_sample *sample)
{
	const struct sample *s = sample->sample;
	struct unwind_input input = { .address_space = sample->thread->address_space };

	if (s->has & PERF_SAMPLE_REGS_USER) {
		input.abi = s->user_regs.abi;
		input.mask = s->user_regs.mask;
		input.regs = s->user_regs.v;
		input.n_regs = s->user_regs.n;
	}
	if (s->has & PERF_SAMPLE_STACK_USER) {
		input.stack = s->stack;
		input.stack_bytes =
			s->stack_dyn_size < s->stack_size ? s->stack_dyn_size : s->stack_size;
	}
	return input;
}

/* False: the sample's stack could not be unwound at all. */
static bool add_unwound(struct session *session, const struct replay_sample *sample)
{
	struct session_private *private = session->private;
	struct unwind_input input = session_unwind_input(sample);
	const uint64_t *exact = session->unwind.exact;
	size_t n;

	if (!session_unwinds(session)) {
		private->not_unwound++;
		return false;
	}
	input.knows_code = replay_knows_code(&session->replay, sample->thread);
	n = unwind_frames(&session->unwind, &input, private->unwound, private->unwound_room);
	if (!n)
		return false;
	add_recorded(session, sample, user_part(sample));
	for (size_t i = 0; i < n; i++)
		add_frame(session, sample, MISC_USER, private->unwound[i],
			  !(exact[i / 64] >> i % 64 & 1));
	return true;
}

/* The innermost function's first address, then the call in each of its callers. */
static void add_branches(struct session *session, const struct replay_sample *sample)
{
	const struct sample_branch *calls = sample->sample->branches;
	uint64_t n_calls = sample->sample->n_branches;

	if (session->options.stitch_calls)
		n_calls = session_stitch_calls(session, sample, &calls);
	add_recorded(session, sample, user_part(sample));
	add_frame(session, sample, MISC_USER, calls[0].to, false);
	for (uint64_t i = 0; i < n_calls; i++)
		add_frame(session, sample, MISC_USER, calls[i].from, false);
}

enum { CALL_BYTES_MAX = 8 }; /* of a call instruction, which the return address follows */

static bool has_history(const struct session *session, const struct replay_sample *sample)
{
	return session->options.branch_history && sample->sample->n_branches &&
	       (sample->sample->has & PERF_SAMPLE_BRANCH_STACK) &&
	       !(sample->event && sample->event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

static void add_branch_end(struct session *session, const struct replay_sample *sample, uint64_t ip, uint64_t branch)
{
	struct session_private *private = session->private;
	const uint8_t mode = address_mode(sample, ip);

	if (private->n_frames == session->options.max_stack || !keeps_mode(session, mode))
		return;
	private->frames[private->n_frames++] = (struct chain_entry){
		ip, session_branch_location(session, sample->thread, mode, ip, branch)
	};
}

static void add_both_ends(struct session *session, const struct replay_sample *sample,
			  const struct sample_branch *branch)
{
	const uint64_t apart = branch->from ^ branch->to;
	uint64_t where = branch->flags & BRANCH_BITS;

	where |= branch->to > branch->from ? BRANCH_FORWARD : 0;
	where |= apart >> 21 ? BRANCH_CROSSES_2M : apart >> 12 ? BRANCH_CROSSES_4K : 0;
	add_branch_end(session, sample, branch->to, where | BRANCH_END_TO);
	add_branch_end(session, sample, branch->from, where | BRANCH_END_FROM);
}

/*
 * How many of the chain's addresses and marks the branches tell, up to the outermost call that is among them; as far as
 * frames are kept.
 */
static size_t told_by_branches(const struct session *session, const struct replay_sample *sample)
{
	const size_t max = session->options.max_stack, n_ips = sample->n_ips < max ? sample->n_ips : max;
	size_t told = 0;

	for (uint64_t i = 0; i < sample->sample->n_branches && i < max; i++) {
		const uint64_t from = sample->sample->branches[i].from;

		for (size_t k = told; k < n_ips; k++) {
			if (sample->ips[k] > from && sample->ips[k] - from <= CALL_BYTES_MAX) {
				told = k + 1;
				break;
			}
		}
	}
	return told;
}

static void add_history(struct session *session, const struct replay_sample *sample)
{
	const size_t told = told_by_branches(session, sample);
	struct replay_sample rest = *sample;
	uint8_t mode;

	for (uint64_t i = 0; i < sample->sample->n_branches && i < session->options.max_stack; i++)
		add_both_ends(session, sample, &sample->sample->branches[i]);
	for (size_t i = 0; i < told; i++)
		if (context_mode(sample->ips[i], &mode))
			rest.mode = mode;
	rest.ips = told ? rest.ips + told : rest.ips; /* where there are none, it may be NULL */
	rest.n_ips -= told;
	add_callers(session, &rest, rest.n_ips, told > 0);
}

static void fill_chain(struct session *session, const struct replay_sample *sample,
		       struct chain *chain)
{
	struct session_private *private = session->private;

	private->n_frames = 0;
	private->reach = REACH_NOT_COUNTED;
	if (has_history(session, sample))
		add_history(session, sample);
	else if (has_call_branches(sample) && user_part(sample) < sample->n_ips)
		add_branches(session, sample);
	else if (!has_stack_copy(session, sample->sample) || !add_unwound(session, sample))
		add_recorded(session, sample, sample->n_ips);
	*chain = (struct chain){ private->frames, private->n_frames };
}

_Static_assert(CHAIN_COMPLETE == (int)UNWIND_COMPLETE && CHAIN_CUT == (int)UNWIND_TRUNCATED &&
		       CHAIN_NO_INFO == (int)UNWIND_NO_INFO && CHAIN_BROKEN == (int)UNWIND_BROKEN &&
		       CHAIN_LIMIT == (int)UNWIND_LIMIT && CHAIN_NO_COPY == (int)UNWIND_NO_COPY &&
		       CHAIN_OTHER_STACK == (int)UNWIND_OTHER_STACK && CHAIN_NO_FILE == (int)UNWIND_NO_FILE &&
		       CHAIN_NOT_64 == (int)UNWIND_NOT_64 && CHAIN_STRAY == (int)UNWIND_STRAY &&
		       CHAIN_MADE == (int)UNWIND_MADE && CHAIN_ENDS == (int)UNWIND_ENDS,
	       "the file's ends of chains are the unwinder's");

/* Recorders that unwind say how that ended; it counts as if it had been done here. */
static void count_end(struct session *session, const struct replay_sample *sample)
{
	struct unwind_counts *counts = &session->unwind.counts;
	bool guessed;
	unsigned end;

	if (!sample->n_ips || !is_unwound(sample) || !keeps_user(session))
		return;
	if (user_part(sample) == sample->n_ips) /* the kernel's own thread */
		return;
	end = chain_end(sample->sample, &guessed);
	session->private->recorded_chains = true;
	counts->samples++;
	counts->guessed += guessed;
	counts->ends[end < CHAIN_ENDS && end != CHAIN_GUESSED ? end : UNWIND_COMPLETE]++;
}

/* A chain of the kernel's own making; where it was found by other means, it is not counted. */
static void count_recorded(struct session *session, const struct replay_sample *sample, enum chain_reach reach)
{
	if (!has_stack_copy(session, sample->sample) && !has_call_branches(sample) && !has_history(session, sample))
		chain_starts_add(&session->private->starts, reach);
}

void session_chain(struct session *session, const struct replay_sample *sample, struct chain *chain)
{
	struct replay_sample with;

	session_follow(session, sample);
	count_end(session, sample);
	fill_chain(session, add_link(session, sample, &with), chain);
	count_recorded(session, sample, session->private->reach);
}

static uint32_t intern_chain(struct session *session, const struct replay_sample *sample)
{
	struct chain chain;
	uint32_t stack = 0;

	fill_chain(session, sample, &chain);
	for (size_t i = chain.n; i-- > 0;)
		stack = stacks_child(session->stacks, stack, chain.v[i].location);
	return stack;
}

uint32_t session_stack(struct session *session, const struct replay_sample *sample)
{
	struct stack_cache *cache = &session->private->stack_cache;
	struct replay_sample with;
	struct cached_stack stack;
	uint64_t hash, version;

	session_follow(session, sample);
	count_end(session, sample);
	if (has_stack_copy(session, sample->sample) || has_call_branches(sample) || has_history(session, sample))
		return intern_chain(session, sample);
	if (!sample->n_ips)
		return 0;
	sample = add_link(session, sample, &with);
	version = session_user_version(session, sample->thread);
	hash = stack_cache_hash(sample, version);
	if (!stack_cache_find(cache, &session->replay, sample, version, hash, &stack)) {
		stack.stack = intern_chain(session, sample);
		stack.reach = session->private->reach;
		/* Anew: among its addresses may have been the process's first of code that has times. */
		version = session_user_version(session, sample->thread);
		stack_cache_add(cache, sample, version, stack_cache_hash(sample, version), &stack);
	}
	count_recorded(session, sample, (enum chain_reach)stack.reach);
	return stack.stack;
}

uint32_t session_ip_location(struct session *session, const struct replay_sample *sample)
{
	session_follow(session, sample);
	return session_location(session, sample->thread, sample->mode, sample->sample->ip, false);
}

void session_place(struct session *session, const struct replay_sample *sample, struct location *place)
{
	session_follow(session, sample);
	replay_locate(&session->replay, sample->thread, sample->mode, sample->sample->ip, place);
}

/* Stands for what is not kept. It may have been forgotten since the last time, and so may its dso. */
static uint32_t left_out(struct session *session)
{
	const bool user = !keeps_user(session);
	const char *name = user ? "[user]" : "[kernel]";
	const struct dso_key key = { .kind = DSO_LEFT_OUT, .path = name, .path_bytes = strlen(name), .pid = -1 };
	const struct location location = { .dso = dso_table_get(&session->replay.dsos, &key),
					   .mode = user ? MISC_USER : MISC_KERNEL };

	return locations_intern(session->locations, &location, 0, 0, false);
}

uint32_t session_own_location(struct session *session, const struct replay_sample *sample, uint32_t innermost)
{
	if (keeps_mode(session, sample->mode))
		return session_ip_location(session, sample);
	return innermost != LOCATION_NONE ? innermost : left_out(session);
}

uint32_t session_ip_function(struct session *session, const struct replay_sample *sample)
{
	session_follow(session, sample);
	return session_function_location(session, sample->thread, sample->mode, sample->sample->ip);
}

/*
 * Zeros that a file stands for without having them lie after the last of its mappings, in memory that the kernel
 * reports without a name; how far they reach, the file's segments say.
 *
 *	[ program, data ][ anonymous: variables that begin as 0 | other memory ]
 */
static bool find_zeros(struct session *session, const struct replay_sample *sample, struct location *location)
{
	const struct address_space *space = sample->thread->address_space;
	const uint64_t addr = sample->sample->addr;
	const struct map *map = space ? address_space_find(space, addr) : NULL, *file;
	uint64_t ignored;

	if (!map || map->dso->kind != DSO_OTHER || !map->start)
		return false;
	file = address_space_below(space, map->start - 1);
	if (!file || file->end != map->start || file->dso->kind != DSO_FILE)
		return false;
	*location = (struct location){ .dso = file->dso, .addr = addr - file->start + file->pgoff,
				       .map_start = map->start, .map_end = map->end, .mode = MISC_USER };
	return symbols_vaddr(session->symbols, file->dso, location->addr, &ignored);
}

uint32_t session_data_location(struct session *session, const struct replay_sample *sample)
{
	const uint64_t addr = sample->sample->addr;
	struct location location;

	if (!(sample->sample->has & PERF_SAMPLE_ADDR))
		return LOCATION_NONE;
	session_follow(session, sample);
	if (find_zeros(session, sample, &location))
		return locations_intern(session->locations, &location, addr, 0, false);
	return session_address_location(session, sample, addr);
}

uint32_t session_address_location(struct session *session, const struct replay_sample *sample, uint64_t ip)
{
	session_follow(session, sample);
	return session_location(session, sample->thread, address_mode(sample, ip), ip, false);
}
