/* SPDX-License-Identifier: MIT */
/*
 * spec: the syntax of the event language, and nothing else: text -> tree, no look-ups, no files.
 * Private to event/.
 *
 *   list   := item { ',' item }                 white space around commas and braces is ignored
 *   item   := [name] '{' list of events '}' [':' modifiers] | event
 *   event  := word [':' modifiers]                                   SPEC_WORD    cycles:u, r1a, L1-dcache-loads
 *           | word ':' word [':' modifiers]                          SPEC_PAIR    sched:sched_switch:k, 1:1:hp
 *           | word '/' [terms] '/' [[':'] modifiers]                 SPEC_PMU     cpu/event=0x3c/u, cycles/name=x/
 *           | 'probe:' path ':' function ['%return'] [':' modifiers]  SPEC_PMU  uprobe/path=,func=/ in short
 *           | 'mem:' addr ['/' len] [':' rwx] ['/' terms '/'] [[':'] modifiers]   SPEC_MEM
 *           | pmu '::' event { ':' attribute }                       SPEC_PFM     skl::INST_RETIRED:ANY_P
 *   term   := name | name '=' value            value may be quoted with ' or "; one that begins with a
 *                                              slash, and that of path=, is a path with slashes in it
 *
 * word:mods and word:word look alike: where the second word is made only of modifier letters it is
 * modifiers, else SPEC_PAIR; event.c says "unknown modifier" where the first word is an event's name.
 * A SPEC_PAIR or SPEC_WORD may carry terms too (sched:sched_switch/name=x/).
 */
#ifndef PSTAT_SPEC_H
#define PSTAT_SPEC_H

#include "util/util.h"

enum spec_kind { SPEC_WORD, SPEC_PAIR, SPEC_PMU, SPEC_MEM, SPEC_PFM };

struct spec_term {
	char *name;
	char *value; /* without quotes; NULL where there is no '=' */
	size_t name_pos, value_pos; /* offsets into the spec, for the caret */
};

struct spec_event {
	enum spec_kind kind;
	size_t pos, len; /* the event's own text in the spec, modifiers included */
	char *word; /* first word; SPEC_MEM: the address; SPEC_PFM: all up to the end */
	size_t word_pos;
	char *second; /* SPEC_PAIR: second word; SPEC_MEM: length or NULL */
	size_t second_pos;
	char *access; /* SPEC_MEM: letters of rwx, or NULL */
	size_t access_pos;
	bool has_terms; /* there were slashes, even empty ones */
	struct spec_term *terms;
	size_t n_terms, terms_cap;
	char *modifiers; /* letters without colons, "" if none */
	size_t modifiers_pos;
};

struct spec_group { /* an event outside braces is a group of one with braces == false */
	bool braces;
	char *name; /* NULL if none */
	char *modifiers; /* "" if none */
	size_t modifiers_pos;
	size_t pos;
	struct spec_event *events;
	size_t n, cap;
};

struct spec {
	const char *text; /* borrowed */
	struct spec_group *groups;
	size_t n, cap;
};

/* The place and the reason of a failure: filled by the parser and by every source's lookup. */
struct spec_error {
	int code; /* negative errno, 0 while there is none */
	size_t pos; /* offset into the spec's text, for the caret */
	struct str reason; /* a finished sentence */
	struct str hint; /* what was probably meant, a list of valid words, or "" */
};

/* Keeps the failure and returns `code`, so that a caller can write `return spec_fail(...)`. The first failure wins. */
int spec_fail(struct spec_error *error, int code, size_t pos, const char *fmt, ...) PRINTF_LIKE(4, 5);
void spec_error_release(struct spec_error *error);
/* Reason, spec, caret, hint: the lines for the user. Names from the spec are made printable. */
void spec_error_format(const struct spec_error *error, const char *text, struct str *out);

/* Is c one of the letters that may stand after an event (u k h ...)? (modifier.c) */
bool spec_is_modifier(char c);

/* 0 or -EINVAL with error filled. spec must be zeroed before; release it in both cases. */
int spec_parse(struct spec *spec, const char *text, struct spec_error *error);
void spec_release(struct spec *spec);

#endif
