/*
 * session: what report and script share while a recording is read: each address becomes the number of a
 * distinct place, each chain the number of a distinct stack. Private to report/.
 */
#ifndef PSTAT_SESSION_H
#define PSTAT_SESSION_H

#include "report/report.h"

/* ---- places.c ---- */

struct place_row {
	struct dso *dso; /* NULL: no map */
	uint64_t addr; /* as place.addr */
	uint64_t ip; /* the address when it was first seen: without names, this tells most */
	uint64_t map_bytes; /* of the map it was first seen in */
	uint8_t mode; /* MISC_* */
	bool is_return; /* a return address: names are looked up at addr - 1 */
	bool framed; /* frames is filled */
	uint8_t want; /* with these, SYM_LINES */
	bool link_known; /* in_link is: the function has its return address still in a register */
	bool in_link;
	struct frame_list frames;
	uint64_t n_samples; /* counted by the callers that want notes about missing symbols */
};
struct places {
	struct place_row *v;
	size_t n, cap;
	struct index ix;
};
enum { PLACE_NONE = UINT32_MAX };
/* The number of a place, the same for equal (dso, addr, mode, is_return). */
uint32_t places_intern(struct places *places, const struct place *place, uint64_t ip,
		       bool is_return);
/* Names, looked up once. want: SYM_LINES. */
const struct frame_list *place_frames(struct session *session, uint32_t place, unsigned want);
/* The symbol of the table (last of the frames), or NULL. */
const struct symbol *place_symbol(struct session *session, uint32_t place);
/* Its address as it is shown without a name: of a kernel module from its start, the same after each boot. */
uint64_t place_own_addr(const struct place_row *row);
char place_level(const struct place_row *row); /* '.', 'k', 'g', 'u', 'H' */

/* ---- stacks.c: a prefix tree, outermost frame first ---- */

struct stack_node {
	uint32_t parent; /* 0: the root, which is node 0 and has no place */
	uint32_t place;
};
struct stacks {
	struct stack_node *v;
	size_t n, cap;
	struct index ix;
};
uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint32_t place);
/* The places of a stack, innermost first, into out (at most max); returns how many. */
size_t stacks_walk(const struct stacks *stacks, uint32_t stack, uint32_t *out, size_t max);

/* ---- chain.c, chain_link.c: a sample's frames ---- */

struct chain_entry {
	uint64_t ip; /* as recorded */
	uint32_t place;
};
struct chain { /* innermost first; belongs to the session, valid until the next call */
	const struct chain_entry *v;
	size_t n;
};
/*
 * The chain of a sample, unwound where the sample has registers and stack, merged with its branch stack
 * where the event recorded call stacks by it. Without a chain in the sample n is 0.
 */
void session_chain(struct session *session, const struct replay_sample *sample,
		   struct chain *chain);
/* The same as a stack's number, 0: no chain. Remembers chains it has seen: a hash and a comparison. */
uint32_t session_stack(struct session *session, const struct replay_sample *sample);
/* The place of the sample's ip; of its data address (PLACE_NONE without one). */
uint32_t session_ip_place(struct session *session, const struct replay_sample *sample);
uint32_t session_data_place(struct session *session, const struct replay_sample *sample);
/* The place of any address of the sample's thread, e.g. a branch's. User or kernel by its value. */
uint32_t session_address_place(struct session *session, const struct replay_sample *sample,
			       uint64_t ip);

/* ---- read_values.c ---- */
/*
 * Which events a sample stands for, and with what period. One, as a rule; a leader that was sampled with its
 * group's counter values (PERF_SAMPLE_READ): each event whose value grew since the last sample. To be
 * called once per sample, in order. Valid until the next call; 0: the sample counts for nothing.
 */
struct sample_share {
	const struct data_event *event;
	uint64_t period;
};
size_t session_shares(struct session *session, const struct replay_sample *sample,
		      const struct sample_share **shares);

/* ---- filters.c ---- */
/* By pid, tid, cpu, time and comm: before anything is looked up. */
bool filters_take_sample(const struct filters *filters, const struct replay_sample *sample);
bool filters_take_file(const struct filters *filters, const struct dso *dso); /* not by symbol */
/* By dso and symbol. symbol NULL: not known. */
bool filters_take_place(const struct filters *filters, const struct place_row *row,
			const struct symbol *symbol);
/* A filter by comm, dso or symbol is in force: perf shows then percentages of all, unless relative. */
bool filters_any(const struct filters *filters);

/* ---- trace_fields.c: fields of tracepoints ---- */
struct tracepoints;
struct tracepoint_field {
	const char *name;
	bool is_string, is_array, is_signed;
	unsigned size; /* bytes in the format; of the reference where the field is dynamic */
};
/* From the recording's TRACING_DATA; NULL with a sentence: it has none, or it is broken. */
struct tracepoints *tracepoints_new(const struct reader *reader, struct str *err);
void tracepoints_free(struct tracepoints *tracepoints);
/* Pointers to functions of the kernel are printed as the session names them, as perf does. */
void tracepoints_name_functions(struct tracepoints *tracepoints, struct session *session);
/* Texts are the fields one by one, not what the kernel's format makes of them. */
void tracepoints_print_raw(struct tracepoints *tracepoints);
/* The text perf prints for a sample's raw data ("prev_comm=x ..."). false: no such format. */
bool tracepoint_print(struct tracepoints *tracepoints, const struct data_event *event,
		      const struct sample *sample, struct str *out);
/* Field by name: number or text. */
size_t tracepoint_n_fields(struct tracepoints *tracepoints, const struct data_event *event);
bool tracepoint_field(struct tracepoints *tracepoints, const struct data_event *event, size_t i,
		      struct tracepoint_field *field);
bool tracepoint_value(struct tracepoints *tracepoints, const struct data_event *event,
		      const struct sample *sample, const char *field, struct str *text,
		      int64_t *number, bool *is_number);

/* ---- mem_words.c: data_src and flags as words ---- */
void mem_level_add(uint64_t data_src, struct str *out); /* "L1 hit", "N/A" */
void mem_op_add(uint64_t data_src, struct str *out);
void mem_snoop_add(uint64_t data_src, struct str *out);
void mem_tlb_add(uint64_t data_src, struct str *out);
void mem_lock_add(uint64_t data_src, struct str *out);
void mem_blocked_add(uint64_t data_src, struct str *out);

#endif
