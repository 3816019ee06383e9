/* SPDX-License-Identifier: MIT */
/*
 * The words of -j and of the term branch_type -> branch_sample_type. A list that only says where
 * (u, k, hv) means any branch there.
 *
 * Source: perf_event_open(2), branch_sample_type; include/uapi/linux/perf_event.h.
 */
#include "event/event.h"

#include <errno.h>

/* To add a word: a row here, and a word in event/terms.c for branch_type; pstat-record(1). */
static const struct branch_word {
	const char *name;
	uint64_t bits;
} branch_words[] = {
	{ "any", PERF_SAMPLE_BRANCH_ANY },
	{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
	{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
	{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
	{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
	{ "call", PERF_SAMPLE_BRANCH_CALL },
	{ "cond", PERF_SAMPLE_BRANCH_COND },
	{ "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
	{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX },
	{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
	{ "u", PERF_SAMPLE_BRANCH_USER },
	{ "k", PERF_SAMPLE_BRANCH_KERNEL },
	{ "hv", PERF_SAMPLE_BRANCH_HV },
	{ "no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS },
	{ "no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES },
	{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE },
	{ "type_save", PERF_SAMPLE_BRANCH_TYPE_SAVE },
	{ "stack", PERF_SAMPLE_BRANCH_CALL_STACK },
	{ "hw_index", 1ULL << 17 }, /* kernel 5.7 */
	{ "priv", 1ULL << 18 }, /* PRIV_SAVE, kernel 6.1 */
	{ "counter", 1ULL << 19 }, /* kernel 6.8 */
};

bool branch_word_row(size_t i, const char **name, const char **help)
{
	if (i >= ARRAY_SIZE(branch_words))
		return false;
	*name = branch_words[i].name;
	*help = "";
	return true;
}

static uint64_t branch_bits(const char *word, size_t len, struct near_name *near)
{
	for (size_t i = 0; i < ARRAY_SIZE(branch_words); i++) {
		near_consider(near, branch_words[i].name);
		if (strlen(branch_words[i].name) == len && !memcmp(branch_words[i].name, word, len))
			return branch_words[i].bits;
	}
	return 0;
}

int branch_filter_parse(const char *text, uint64_t *filter, struct str *err)
{
	uint64_t all = 0;

	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ",");
		struct near_name near;
		uint64_t bits;

		near_init(&near, at, len);
		bits = branch_bits(at, len, &near);
		if (!bits) {
			str_add(err, "branch filter '");
			str_add_printable(err, at, len);
			str_add(err, "': there is no kind of branch with this name");
			if (near_best(&near))
				str_addf(err, "\ndid you mean '%s'?", near_best(&near));
			return -EINVAL;
		}
		all |= bits;
		at += len;
		if (!*at)
			break;
	}
	if (!(all & ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL))
		all |= PERF_SAMPLE_BRANCH_ANY;
	*filter = all;
	return 0;
}
