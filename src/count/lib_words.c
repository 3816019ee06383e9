/* SPDX-License-Identifier: MIT */
/*
 * Sentences that are made for users of the program pstat, in words of the library: its callers have no command line.
 */
#include "count/lib.h"

#include <stdlib.h>

/*
 * A part of a sentence, and what the library says in its place; the longer of two that begin alike comes first. To add
 * one: a row; lint/library finds sentences that have none.
 */
static const struct {
	const char *program, *library;
} parts[] = {
	{ "sudo setcap cap_perfmon+ep \"$(command -v pstat)\"",
	  "give the program CAP_PERFMON: sudo setcap cap_perfmon+ep PROGRAM" },
	{ "run pstat as root (sudo pstat ...)", "run the program as root" },
	{ "run pstat as root", "run the program as root" },
	{ "sudo pstat ...", "run the program as root" },
	{ "pstat stat -a ...", "count whole CPUs: the target PSTAT_CPUS" },
	{ "whole CPUs (-a)", "whole CPUs (PSTAT_CPUS)" },
	{ "-a counts them", "PSTAT_CPUS counts them" },
	{ "-G: ", "control groups: " },
	{ "add -a or -C", "the target has to be PSTAT_CPUS" },
	{ "callchains without them: --call-graph fp or --call-graph dwarf",
	  "call chains without them: PERF_SAMPLE_CALLCHAIN, or PERF_SAMPLE_STACK_USER" },
	{ "leave out -b and -j; -g finds callers without branch records",
	  "leave out PERF_SAMPLE_BRANCH_STACK; PERF_SAMPLE_CALLCHAIN finds callers" },
	{ "-b, or -j with fewer words", "PERF_SAMPLE_BRANCH_ANY, or fewer bits of branches" },
	{ "'pstat list' shows all events",
	  "pstat_known_new() lists what there is; vendors' names of libpfm4 are not among them" },
	{ "this pstat was built without libpfm4",
	  "the library has none of libpfm4: give the code of the event (r1a, cpu/event=0x1a/)" },
	{ "that pstat was built with", "that the library was built with" },
};

char *lib_own_words(const char *text)
{
	struct str out = STR_INIT;
	bool changed = false;

	for (const char *at = text; at && *at;) {
		size_t i = 0;

		while (i < ARRAY_SIZE(parts) && strncmp(at, parts[i].program, strlen(parts[i].program)) != 0)
			i++;
		if (i == ARRAY_SIZE(parts)) {
			str_addn(&out, at++, 1);
			continue;
		}
		changed = true;
		str_add(&out, parts[i].library);
		at += strlen(parts[i].program);
	}
	if (changed)
		return str_detach(&out);
	str_release(&out);
	return NULL;
}

void lib_own_sentence(struct str *sentence)
{
	char *own = lib_own_words(sentence->s);

	if (!own)
		return;
	str_reset(sentence);
	str_add(sentence, own);
	free(own);
}

void lib_own_notes(struct note_list *notes)
{
	for (size_t i = 0; i < notes->n; i++) {
		char *own = lib_own_words(notes->v[i].text);

		if (!own)
			continue;
		free(notes->v[i].text);
		notes->v[i].text = own;
	}
}
