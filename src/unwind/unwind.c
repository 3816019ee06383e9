/* SPDX-License-Identifier: MIT */
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
static const struct unwinder *const unwinders[] = { &unwind_rows, &unwind_libunwind, &unwind_libdw };

enum { ABI_NONE = 0, ABI_64 = 2 }; /* PERF_SAMPLE_REGS_ABI_* */
enum { FRAMES_FREE = 127 }; /* without a look at the size of the stack */

/* false with why. */
static bool open_one(struct unwind *unwind, const struct unwinder *unwinder, struct str *why)
{
	str_reset(why);
	unwind->unwinder = unwinder;
	if (!unwinder->open(unwind, why))
		return true;
	unwinder->close(unwind);
	unwind->unwinder = NULL;
	return false;
}

/* Opens the first unwinder from unwinders[at] on that can do the architecture: true; false with why. */
static bool open_from(struct unwind *unwind, size_t at, struct str *why)
{
	for (; at < ARRAY_SIZE(unwinders); at++)
		if (unwinders[at]->handles(unwind->arch) && open_one(unwind, unwinders[at], why))
			return true;
	return false;
}

/* The one with this name and no other. */
static bool open_named(struct unwind *unwind, const char *name, struct str *why)
{
	for (size_t i = 0; i < ARRAY_SIZE(unwinders); i++) {
		if (strcmp(unwinders[i]->name, name))
			continue;
		if (unwinders[i]->handles(unwind->arch))
			return open_one(unwind, unwinders[i], why);
		str_reset(why);
		str_addf(why, "%s was requested, but is not available for %s", name, unwind->arch);
	}
	return false;
}

bool unwind_known(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(unwinders); i++)
		if (!strcmp(unwinders[i]->name, name))
			return true;
	return false;
}

int unwind_open(struct unwind *unwind, const char *arch, const struct unwind_options *options, struct str *err)
{
	struct str why = STR_INIT;
	int code = 0;

	*unwind = (struct unwind){ .arch = arch ? arch : "",
				   .file_of = options->file_of,
				   .debug_file_of = options->debug_file_of,
				   .file_context = options->file_context,
				   .keeper = options->keeper,
				   .made = options->made };
	str_add(&why, "no unwinder for the architecture '");
	str_add_printable(&why, unwind->arch, strlen(unwind->arch));
	str_addc(&why, '\'');
	if (options->unwinder && unwind_arch_find(unwind->arch) ? !open_named(unwind, options->unwinder, &why) :
								  !open_from(unwind, 0, &why))
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

/* The second one is opened when it is needed again. */
void unwind_try_again(struct unwind *unwind)
{
	if (unwind->second)
		unwind_close(unwind->second);
	free(unwind->second);
	unwind->second = NULL;
	unwind->second_tried = false;
	if (unwind->unwinder && unwind->unwinder->try_again)
		unwind->unwinder->try_again(unwind);
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
	unwind->second->debug_file_of = unwind->debug_file_of;
	unwind->second->file_context = unwind->file_context;
	if (!open_from(unwind->second, at, &why)) {
		free(unwind->second);
		unwind->second = NULL;
	}
	str_release(&why);
	return unwind->second;
}

const struct unwind *unwind_hand_over(struct unwind *unwind, const struct unwind_input *input, uint64_t *ips,
				      size_t max, size_t *n, enum unwind_end *end)
{
	struct unwind *other = second(unwind);

	if (other)
		*n = other->unwinder->frames(other, input, ips, max, end);
	return other;
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

/* A chain with more frames than its stack has words goes in circles. */
static size_t frames_at_most(const struct unwind_input *input, size_t max)
{
	uint64_t most = FRAMES_FREE + input->stack_bytes / sizeof(uint64_t);

	if (most > UNWIND_FRAMES_MAX)
		most = UNWIND_FRAMES_MAX;
	return max < most ? max : (size_t)most;
}

/*
 * Counts the frames up to the first that is in no code: it has called nobody, and the chain ends before it. The first
 * frame runs, so where even that is in no code, the maps are not what they are taken for, and all frames count.
 */
static size_t frames_in_code(const struct unwind *unwind, const struct unwind_input *input, const uint64_t *ips,
			     size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool exact = unwind->exact[i / 64] >> i % 64 & 1;

		if (!address_space_has_code(input->address_space, exact ? ips[i] : ips[i] - 1))
			return i ? i : n;
	}
	return n;
}

static bool has_no_way(enum unwind_end end)
{
	return end == UNWIND_NO_INFO || end == UNWIND_NO_FILE || end == UNWIND_MADE || end == UNWIND_BROKEN;
}

size_t unwind_frames(struct unwind *unwind, const struct unwind_input *input, uint64_t *ips, size_t max)
{
	enum unwind_end end = input->abi == ABI_64 ? UNWIND_NO_INFO : UNWIND_NOT_64;
	size_t n = 0, in_code;

	if (!unwind->unwinder || !max || input->abi == ABI_NONE || !input->regs)
		return 0;
	unwind->guessed = false;
	max = frames_at_most(input, max);
	if (input->abi == ABI_64) {
		n = unwind->unwinder->frames(unwind, input, ips, max, &end);
		if (!unwind->unwinder->last_word && has_no_way(end))
			n = better_chain(unwind, input, ips, n, max, &end);
	}
	in_code = input->knows_code ? frames_in_code(unwind, input, ips, n) : n;
	if (in_code < n) {
		n = in_code;
		end = UNWIND_STRAY;
	}
	if (end == UNWIND_TRUNCATED && (!input->stack || !input->stack_bytes))
		end = UNWIND_NO_COPY;
	unwind->end = end;
	unwind->counts.samples++;
	unwind->counts.ends[end]++;
	unwind->counts.guessed += unwind->guessed;
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

void unwind_tables(const struct unwind *unwind, unwind_tables_fn *take, void *context)
{
	if (unwind->unwinder && unwind->unwinder->tables)
		unwind->unwinder->tables(unwind, take, context);
}

uint64_t unwind_strip(const struct unwind *unwind, const struct address_space *space, uint64_t link)
{
	const struct unwind_arch *row = unwind_arch_find(unwind->arch);

	return row ? unwind_regs_strip(row, space, link) : link;
}
