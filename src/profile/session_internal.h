/* SPDX-License-Identifier: MIT */
/*
 * session_internal: what a session remembers between samples. Private to profile/: session.c owns it,
 * chain.c, read_values.c and compact.c use their own parts.
 *
 * All of it is bounded but a total per file and the last values of counters, of which there is one per counter.
 */
#ifndef PSTAT_SESSION_PRIVATE_H
#define PSTAT_SESSION_PRIVATE_H

#include "profile/profile.h"
#include "trace/trace.h"

#include <sys/utsname.h>

/* ---- locations.c: an address of an address space -> its location ---- */

enum { LOCATION_CACHE_SLOTS = 1 << 12 };
struct location_slot {
	uint64_t ip;
	uint64_t version; /* of the address space that it was found in; 0: empty */
	uint32_t location;
	bool is_return;
};
/* Follows the sample's time, on which it depends what code made at run time lies at an address. */
struct code_clock {
	uint64_t now_ns; /* of the sample at hand; 0: it has none */
	uint32_t epoch; /* of its process's code, see symbols_code_epoch; 0 of all others */
	struct timed_code { /* in the maps of a process */
		int32_t pid;
		const struct dso *dso;
	} *v;
	size_t n, cap;
	struct index by_pid;
};
/* To be called with each sample, before its addresses are asked for. */
void session_follow(struct session *session, const struct replay_sample *sample);
/* Changes with what lies where in a thread's user space; 0: not known. */
uint64_t session_user_version(const struct session *session, const struct thread *thread);
void code_clock_release(struct code_clock *clock);
uint32_t session_location(struct session *session, struct thread *thread, uint8_t mode, uint64_t ip, bool is_return);
/* A frame that is an end of a branch. */
uint32_t session_branch_location(struct session *session, struct thread *thread, uint8_t mode, uint64_t ip,
				 uint64_t branch);
/* See session_ip_function. */
uint32_t session_function_location(struct session *session, struct thread *thread, uint8_t mode, uint64_t ip);
/* Behind session_forget: the locations that are left stand for their functions again. */
void session_name_functions(struct session *session);

/* chain.c: a sample's registers, stack and maps, for unwind/. */
struct unwind_input session_unwind_input(const struct replay_sample *sample);

/* ---- stacks.c: a raw chain -> its stack ---- */

/*
 * Keys and stacks lie one behind another in `words`; the index has the word where each begins. When it is
 * full all is forgotten: what is sampled often is soon back.
 */
struct stack_cache {
	uint64_t *words;
	size_t n; /* words used */
	struct index ix;
	uint64_t kernel_version, guest_version; /* of the maps that all entries were found with */
};
struct cached_stack {
	uint32_t stack;
	uint32_t reach; /* enum chain_reach */
};
/* version: session_user_version of the sample's thread. */
uint64_t stack_cache_hash(const struct replay_sample *sample, uint64_t version);
bool stack_cache_find(struct stack_cache *cache, const struct replay *replay,
		      const struct replay_sample *sample, uint64_t version, uint64_t hash,
		      struct cached_stack *found);
void stack_cache_add(struct stack_cache *cache, const struct replay_sample *sample, uint64_t version,
		     uint64_t hash, const struct cached_stack *stack);
void stack_cache_release(struct stack_cache *cache);

/*
 * Locations and stacks have new numbers: nothing that remembers old ones holds. now: the new number of each old
 * location, LOCATION_NONE where it went; NULL: all went.
 */
void session_forget(struct session *session, const uint32_t *now);
/* No more samples come: what was kept to find their stacks again goes. */
void session_end_samples(struct session *session);
/* filters.c: numbers of names of threads, and of dsos, may be those of others from now on. */
void filters_forget_numbers(const struct filters *filters);
/* profile.c: cells with fewer facts are made anew. */
void profile_forget_coarse(struct profile *profile);
/* profile.c: stacks have new numbers. */
void profile_count_stacks(struct profile *profile);

/* ---- trace_texts.c ---- */
/* The session's notes say where the recording does not describe its tracepoints. Field names are copied. */
struct trace_texts *trace_texts_new(struct session *session, const struct trace_pieces *pieces);
void trace_texts_free(struct trace_texts *texts); /* NULL is fine */
void trace_texts_add(struct trace_texts *texts, const struct data_event *event, const struct sample *sample,
		     struct str *out);

/* ---- read_values.c ---- */

struct last_value { /* of a counter, by its id; where it is inherited also by thread */
	uint64_t id, tid, value;
};
struct last_values {
	struct last_value *v;
	size_t n, cap;
	struct index ix;
	struct sample_share *shares;
	size_t n_shares, cap_shares;
};
void last_values_release(struct last_values *values);

/* ---- compact.c ---- */

/*
 * Forgets locations, stacks and frames that were looked up: all numbers and lists that were given out are void, new
 * ones begin at 0. Symbols stay, and so do the counts of samples that notes are about. For those who read on
 * without asking twice, so that memory does not grow with distinct addresses.
 */
void session_forget_locations(struct session *session);
/* Frames that were looked up are forgotten; locations stay, and their symbols. */
void session_forget_frames(struct session *session);

/* Needed by notes of locations that are forgotten. */

struct dso_total {
	uint64_t n_samples;
	bool seen; /* a location was in it */
};
struct location_totals {
	uint64_t n_samples; /* in all locations */
	uint64_t n_unmapped; /* in the kernel, at no known location */
	bool unmapped; /* there was such a location */
	struct dso_total *dsos; /* by dso.index */
	size_t n_dsos;
};
/* The totals of all locations, also of forgotten ones; the caller releases them. */
void location_totals_all(struct location_totals *totals, const struct session *session);
void location_totals_release(struct location_totals *totals);

/* ---- chain_start.c: does a chain by frame pointers reach the start of its program or thread? ---- */

enum chain_reach {
	REACH_NOT_COUNTED, /* not known, or not a chain by frame pointers */
	REACH_START,
	REACH_SHORT,
};
struct chain_starts {
	uint64_t n; /* user callchains that are counted */
	uint64_t n_short; /* of these, the ones that do not reach it */
};
enum { CHAIN_TAIL = 3 };
/* The last user addresses of a chain that are in code, all but the newest ones overwritten. */
struct chain_tail {
	uint64_t ips[CHAIN_TAIL]; /* number i of the chain at i % CHAIN_TAIL */
	size_t n; /* user addresses of the chain so far */
	bool starts_with_ip; /* number 0 is no return address */
};
enum chain_reach chain_tail_reach(struct session *session, struct thread *thread, const struct chain_tail *tail);
void chain_starts_add(struct chain_starts *starts, enum chain_reach reach);
/* The note about all chains of the session, verbose where few are short; none where none is, or 0.0 %. */
void chain_starts_note(const struct session *session, struct note_list *notes);

/* ---- stitched_calls.c: session_options.stitch_calls ---- */

struct stitched_thread {
	int32_t tid;
	uint32_t serial; /* of struct thread */
	struct sample_branch *calls; /* of its last sample, innermost first; room for the registers and max_stack */
	size_t n, n_held; /* calls, and how many of them were in registers */
	uint64_t newest; /* register of the first one */
};
struct stitched_calls { /* one for each thread number that was sampled */
	struct stitched_thread *v;
	size_t n, cap;
	struct index ix;
	unsigned n_registers; /* recorded_branch_registers(); 0: not asked so far, or not known */
};
void stitched_calls_release(struct stitched_calls *stitched);
/* Registers for branches that the recorded CPU has; 0: the header does not say. */
unsigned recorded_branch_registers(const struct info *info);
/*
 * The calls of a sample with a branch call stack, innermost first, with those outside of it that the thread's samples
 * before had; valid until the next call.
 */
size_t session_stitch_calls(struct session *session, const struct replay_sample *sample,
			    const struct sample_branch **calls);

enum unwind_state { UNWIND_UNTRIED, UNWIND_READY, UNWIND_IMPOSSIBLE };

struct session_private {
	struct sym_processes processes; /* borrowed by the symbols */
	struct location_slot location_slots[LOCATION_CACHE_SLOTS];
	struct code_clock code_clock;
	struct stack_cache stack_cache;
	const struct dso **held; /* see session_hold_files */
	size_t n_held;
	struct index functions; /* locations by symbol: see session_ip_function */
	struct last_values last_values;
	struct location_totals forgotten; /* of the locations that were */
	size_t names_bytes; /* of compact.c: what was looked up after it was forgotten; SIZE_MAX: not known yet */
	struct chain_entry *frames; /* of the last session_chain; room for max_stack */
	size_t n_frames;
	uint64_t *unwound; /* the user's addresses of the last session_chain that was unwound */
	size_t unwound_room; /* max_stack, and never less than perf's own limit: see session_unwinds */
	uint64_t *linked; /* the chain of the last add_link() */
	size_t cap_linked;
	struct stitched_calls stitched;
	enum unwind_state unwind_state;
	struct utsname host; /* for recordings without an architecture */
	struct str unwind_why; /* IMPOSSIBLE: the reason */
	enum chain_reach reach; /* of the last fill_chain() */
	struct chain_starts starts;
	bool recorded_chains; /* unwind.counts has chains that the recorder unwound */
	uint64_t not_unwound; /* samples with registers and stack that were left so */
};

/* session.c: dsos have new indexes, see dso_table_keep; nobody has a symbol but the locations. */
void session_renumber_files(struct session *session, const uint32_t *now);
/* The recording's architecture; where it doesn't say, this machine's; NULL: not to be known. */
const char *session_arch(struct session *session);
/* Opens session->unwind when the first sample needs it. */
bool session_unwinds(struct session *session);

/* ---- sample_order.c ---- */
#define SAMPLE_ORDER_FACTS (1ULL << FACT_TID | 1ULL << FACT_STACK | 1ULL << FACT_LOCATION | 1ULL << FACT_STATE)
struct sample_order *sample_order_new(void);
void sample_order_free(struct sample_order *order); /* NULL is fine */
/* A sample whose facts these are; period: of its share. 0, or a negative errno with a sentence. */
int sample_order_add(struct sample_order *order, struct sample_spill *spill, const uint64_t *facts,
		     const struct replay_sample *sample, const struct sample_share *share, struct str *err);

#endif
