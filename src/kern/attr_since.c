/* SPDX-License-Identifier: MIT */
/*
 * attr_since.c: bits of perf_event_attr that are younger than Linux 4.9, the oldest kernel that pstat runs on. A kernel
 * that does not know one of them refuses the whole event with EINVAL, as it does for many other reasons. So it is asked
 * about each bit of such an event, once, by opening one that counts nothing and has this bit alone.
 *
 * The two bits of attr_defer.c are no rows: nearly every recording has them, and a refusal costs one call there.
 *
 * Source: include/uapi/linux/perf_event.h of each version.
 */
#include "kern/machine.h"
#include "kern/slots.h"

#include <errno.h>

enum attr_word { FLAGS, SAMPLE_TYPE, READ_FORMAT, BRANCHES };

static const size_t offsets[] = {
	[FLAGS] = 40, /* of the bit fields, which have no name together */
	[SAMPLE_TYPE] = offsetof(struct perf_event_attr, sample_type),
	[READ_FORMAT] = offsetof(struct perf_event_attr, read_format),
	[BRANCHES] = offsetof(struct perf_event_attr, branch_sample_type),
};

/*
 * To add one: a row; one in man/pstat-kernels.7; where it is refused in tests/work/old_kernel.c.
 */
static const struct young_bit {
	const char *since, *what;
	enum attr_word word;
	uint64_t bit, instead; /* instead: bits that take its place */
	const char *without; /* what the recording has without it; NULL: the event is not opened */
	bool verbose; /* that is said with -v alone: nobody asked for the bit */
} young_bits[] = {
	{ "4.12", "namespaces of tasks", FLAGS, 1ULL << 28, 0, "the recording has none", false },
	{ "4.14", "physical addresses", SAMPLE_TYPE, 1ULL << 19, 0, NULL, false },
	{ "5.1", "symbols of generated kernel code", FLAGS, 1ULL << 29, 0,
	  "BPF programs that are loaded meanwhile have no names", true },
	{ "5.1", "loads of BPF programs", FLAGS, 1ULL << 30, 0, "the recording has none", true },
	{ "5.7", "cgroups", FLAGS, 1ULL << 32, 0, NULL, false },
	{ "5.7", "cgroups", SAMPLE_TYPE, 1ULL << 21, 0, NULL, false },
	{ "5.7", "indices of branch records", BRANCHES, 1ULL << 17, 0, NULL, false },
	{ "5.8", "changes of the kernel's code", FLAGS, 1ULL << 33, 0, NULL, false },
	{ "5.11", "page sizes of data addresses", SAMPLE_TYPE, 1ULL << 22, 0, NULL, false },
	{ "5.11", "page sizes of code addresses", SAMPLE_TYPE, 1ULL << 23, 0, NULL, false },
	{ "5.12", "build-ids of mapped files", FLAGS, 1ULL << 34, 0, "they are read from the files", false },
	{ "5.12", "weights in three parts", SAMPLE_TYPE, 1ULL << 24, PERF_SAMPLE_WEIGHT,
	  "each is one number", false },
	{ "6.0", "lost samples of each event", READ_FORMAT, FORMAT_LOST, 0,
	  "losses at the very end may go unseen", true },
	{ "6.1", "privilege levels of branches", BRANCHES, 1ULL << 18, 0, NULL, false },
	{ "6.8", "counters of branch records", BRANCHES, 1ULL << 19, 0, NULL, false },
};
_Static_assert(ARRAY_SIZE(young_bits) <= 32, "a bit of an unsigned each");

static uint64_t word_of(const struct perf_event_attr *attr, enum attr_word word)
{
	uint64_t bits;

	memcpy(&bits, (const char *)attr + offsets[word], sizeof(bits));
	return bits;
}

static void set_word(struct perf_event_attr *attr, enum attr_word word, uint64_t bits)
{
	memcpy((char *)attr + offsets[word], &bits, sizeof(bits));
}

/* An event without it has to open: only then the bit is what is refused. */
static bool is_unknown(const struct kern *kern, const struct young_bit *young)
{
	const struct perf_event_attr plain = { ATTR_OF_NOTHING };
	struct perf_event_attr asks = plain;

	if (young->word == BRANCHES)
		asks.sample_type = PERF_SAMPLE_BRANCH_STACK;
	set_word(&asks, young->word, young->bit);
	return open_once(kern, &asks, 0, -1, 0) == -EINVAL && !open_once(kern, &plain, 0, -1, 0);
}

unsigned attr_unknown(struct machine *machine, const struct perf_event_attr *attr, bool needed)
{
	unsigned unknown = 0;

	for (size_t i = 0; i < ARRAY_SIZE(young_bits); i++) {
		const struct young_bit *young = &young_bits[i];

		if (!(word_of(attr, young->word) & young->bit) || needed != !young->without)
			continue;
		if (!(machine->young_asked >> i & 1) && is_unknown(machine->kern, young))
			machine->young_unknown |= 1u << i;
		machine->young_asked |= 1u << i;
		unknown |= machine->young_unknown & 1u << i;
	}
	return unknown;
}

void attr_drop(struct perf_event_attr *attr, unsigned unknown)
{
	for (size_t i = 0; i < ARRAY_SIZE(young_bits); i++) {
		const struct young_bit *young = &young_bits[i];

		if (unknown >> i & 1)
			set_word(attr, young->word, (word_of(attr, young->word) & ~young->bit) | young->instead);
	}
}

void attr_note_dropped(unsigned dropped, struct note_list *notes)
{
	for (size_t i = 0; i < ARRAY_SIZE(young_bits); i++) {
		if (dropped >> i & 1)
			note_add(notes, young_bits[i].verbose, NULL,
				 "%s: this kernel does not report them (%s and later do): %s", young_bits[i].what,
				 young_bits[i].since, young_bits[i].without);
	}
}

char *attr_why_unknown(unsigned unknown)
{
	const struct young_bit *young = &young_bits[__builtin_ctz(unknown)];

	return xasprintf("this kernel does not report %s (%s and later do)", young->what, young->since);
}
