/*
 * unwind: the choice of the unwinder, and the checks that none of them needs to repeat: a sample gets as
 * far as an unwinder only with 64-bit registers. Where the first unwinder finds no way on, the second is
 * asked: libunwind needs a search table, which static programs lack, and .debug_frame it has not.
 */
#include "unwind/unwind.h"
#include "unwind/unwind_frames.h"
#include "unwind/unwind_regs.h"

#include <errno.h>
#include <stdlib.h>

/* To add an unwinder: a file that ends in its struct, its declaration in unwind.h, a row. First come, first asked. */
static const struct unwinder *const unwinders[] = { &unwind_libunwind, &unwind_libdw };

enum { ABI_NONE = 0, ABI_64 = 2 }; /* PERF_SAMPLE_REGS_ABI_* */
enum { FRAMES_FREE = 127 }; /* without a look at the size of the stack */

/* Opens the first unwinder from unwinders[at] on that can do the architecture: true; false with why. */
static bool open_from(struct unwind *unwind, size_t at, struct str *why)
{
	for (; at < ARRAY_SIZE(unwinders); at++) {
		if (!unwinders[at]->handles(unwind->arch))
			continue;
		str_reset(why);
		unwind->unwinder = unwinders[at];
		if (!unwinders[at]->open(unwind, why))
			return true;
		unwinders[at]->close(unwind);
		unwind->unwinder = NULL;
	}
	return false;
}

int unwind_open(struct unwind *unwind, const char *arch, unwind_file_fn *file_of, void *file_context,
		struct str *err)
{
	struct str why = STR_INIT;
	int code = 0;

	*unwind = (struct unwind){ .arch = arch ? arch : "",
				   .file_of = file_of,
				   .file_context = file_context };
	str_add(&why, "no unwinder for the architecture '");
	str_add_printable(&why, unwind->arch, strlen(unwind->arch));
	str_addc(&why, '\'');
	if (!open_from(unwind, 0, &why))
		code = fail(err, -ENOSYS, "sampled stacks can't be unwound: %s", why.s);
	str_release(&why);
	return code;
}

void unwind_close(struct unwind *unwind)
{
	if (unwind->second)
		unwind_close(unwind->second);
	free(unwind->second);
	unwind->second = NULL;
	free(unwind->second_ips);
	unwind->second_ips = NULL;
	unwind->second_room = 0;
	if (unwind->unwinder)
		unwind->unwinder->close(unwind);
	unwind->unwinder = NULL;
}

static struct unwind *second(struct unwind *unwind)
{
	struct str why = STR_INIT;
	size_t at = 0;

	if (unwind->second_tried)
		return unwind->second;
	unwind->second_tried = true;
	while (unwinders[at++] != unwind->unwinder)
		;
	unwind->second = xcalloc(1, sizeof(*unwind->second));
	unwind->second->arch = unwind->arch;
	unwind->second->file_of = unwind->file_of;
	unwind->second->file_context = unwind->file_context;
	if (!open_from(unwind->second, at, &why)) {
		free(unwind->second);
		unwind->second = NULL;
	}
	str_release(&why);
	return unwind->second;
}

/* The chain of the first unwinder (n frames), or that of the second one where it comes further. */
static size_t better_chain(struct unwind *unwind, const struct unwind_input *input, uint64_t *ips,
			   size_t n, size_t max, enum unwind_end *end)
{
	struct unwind *other = second(unwind);
	enum unwind_end other_end = UNWIND_NO_INFO;
	size_t other_n;

	if (!other)
		return n;
	if (unwind->second_room < max) {
		unwind->second_ips = xreallocarray(unwind->second_ips, max, sizeof(*ips));
		unwind->second_room = max;
	}
	other_n = other->unwinder->frames(other, input, unwind->second_ips, max, &other_end);
	if (other_n < n || (other_n == n && other_end != UNWIND_COMPLETE))
		return n;
	memcpy(ips, unwind->second_ips, other_n * sizeof(*ips));
	memcpy(unwind->exact, other->exact, unwind_exact_words(max) * sizeof(*unwind->exact));
	*end = other_end;
	return other_n;
}

/* What has more frames than its stack has words goes in circles. */
static size_t frames_at_most(const struct unwind_input *input, size_t max)
{
	uint64_t most = FRAMES_FREE + input->stack_bytes / sizeof(uint64_t);

	if (most > UNWIND_FRAMES_MAX)
		most = UNWIND_FRAMES_MAX;
	return max < most ? max : (size_t)most;
}

size_t unwind_frames(struct unwind *unwind, const struct unwind_input *input, uint64_t *ips, size_t max)
{
	enum unwind_end end = UNWIND_NO_INFO;
	size_t n = 0;

	if (!unwind->unwinder || !max || input->abi == ABI_NONE || !input->regs)
		return 0;
	max = frames_at_most(input, max);
	if (input->abi == ABI_64) {
		n = unwind->unwinder->frames(unwind, input, ips, max, &end);
		if (end == UNWIND_NO_INFO || end == UNWIND_BROKEN)
			n = better_chain(unwind, input, ips, n, max, &end);
	}
	unwind->counts.samples++;
	unwind->counts.ends[end]++;
	return n;
}

bool unwind_link(const char *arch, const struct unwind_input *input, uint64_t *link)
{
	const struct unwind_arch *row;
	size_t before;

	if (input->abi != ABI_64 || !input->regs)
		return false;
	row = unwind_arch_find(arch);
	if (!row || row->link == NO_LINK || !(input->mask >> row->link_bit & 1))
		return false;
	before = (size_t)__builtin_popcountll(input->mask & ((1ULL << row->link_bit) - 1));
	if (before >= input->n_regs)
		return false;
	*link = input->regs[before];
	return true;
}

bool unwind_in_link(struct unwind *unwind, const struct address_space *space, uint64_t ip)
{
	return unwind->unwinder && unwind->unwinder->in_link &&
	       unwind->unwinder->in_link(unwind, space, ip);
}

uint64_t unwind_strip(const struct unwind *unwind, const struct address_space *space, uint64_t link)
{
	const struct unwind_arch *row = unwind_arch_find(unwind->arch);

	return row ? unwind_regs_strip(row, space, link) : link;
}
