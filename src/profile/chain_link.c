/*
 * The caller that frame pointers miss. On arm64 a call leaves the return address in the link register, x30,
 * and the called function saves it beside the frame pointer; a leaf function does not, and no function
 * has at its first instruction. The kernel's walk by frame pointers goes from there to the caller's caller.
 *
 * So recordings have x30 in such samples, as perf's have too. By the unwind tables of the function's file,
 * its value is put into the chain where it is still the return address; without tables, nothing is. That
 * hangs only on the instruction, and is remembered with its location.
 *
 * A value that is the chain's next address already is not put there: around the instructions that save
 * it, the tables of some compilers lag behind.
 */
#include "profile/session_internal.h"

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

const struct replay_sample *session_add_link(struct session *session,
					     const struct replay_sample *sample,
					     struct replay_sample *with)
{
	const char *arch = session_arch(session);
	struct unwind_input input;
	uint64_t link;
	size_t ip;

	if (session->options.no_unwind || (sample->sample->has & PERF_SAMPLE_STACK_USER) || !arch ||
	    !(sample->sample->has & PERF_SAMPLE_REGS_USER) || (sample->event && event_is_unwound(sample->event)))
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
