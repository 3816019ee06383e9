/* SPDX-License-Identifier: MIT */
/*
 * sample.c: the payload of SAMPLE records. One table in the order of the bytes; a row whose bit is in the
 * event's sample_type is there. Plain 8-byte fields need no code: the row says where they go.
 *
 * To add a field: one row (bit, name, where or functions), its member in struct sample, and the field in
 * tests/unit/test_data_sample.c.
 *
 * Source: perf_event_open(2), PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h.
 */
#include "data/decode.h"

/* ---- one function pair per field that is more than a word ---- */

struct sample_field {
	uint64_t bits; /* any of them */
	const char *name;
	uint16_t at; /* 8 bytes of struct sample, where decode is NULL */
	bool halves; /* they are two u32, each in the file's byte order */
	const char *(*decode)(struct decoder *d, const struct data_event *e, struct cursor *c,
			      struct sample *s);
	void (*encode)(const struct sample *s, const struct data_event *e, struct str *out);
};

static const char *read_decode(struct decoder *d, const struct data_event *e, struct cursor *c,
			       struct sample *s)
{
	return read_values_decode(d, e->attr.read_format, c, &s->read);
}

static void read_encode(const struct sample *s, const struct data_event *e, struct str *out)
{
	read_values_encode(&s->read, e->attr.read_format, out);
}

static void words_encode(struct str *out, const uint64_t *v, uint64_t n)
{
	if (n)
		str_addn(out, (const char *)v, n * sizeof(*v));
}

static const char *callchain_decode(struct decoder *d, const struct data_event *e, struct cursor *c,
				    struct sample *s)
{
	(void)e;
	s->n_ips = cursor_u64(c);
	s->ips = decoder_words(d, c, s->n_ips);
	return s->ips ? NULL : "callchain is longer than the record";
}

static void callchain_encode(const struct sample *s, const struct data_event *e, struct str *out)
{
	(void)e;
	put_u64(out, s->n_ips);
	words_encode(out, s->ips, s->n_ips);
}

static const char *raw_decode(struct decoder *d, const struct data_event *e, struct cursor *c,
			      struct sample *s)
{
	(void)d, (void)e;
	s->raw_size = cursor_u32(c);
	s->raw = cursor_bytes(c, s->raw_size);
	return s->raw ? NULL : "raw data is longer than the record";
}

static void raw_encode(const struct sample *s, const struct data_event *e, struct str *out)
{
	/* The size field counts its padding: the kernel keeps what follows aligned this way. */
	size_t padded = round_up(s->raw_size + sizeof(uint32_t), 8) - sizeof(uint32_t);

	(void)e;
	put_u32(out, (uint32_t)padded);
	if (s->raw_size)
		str_addn(out, (const char *)s->raw, s->raw_size);
	str_pad(out, '\0', padded - s->raw_size);
}

/* mispred, predicted, in_tx, abort, cycles, type, spec, new_type, priv, reserved */
static const uint8_t branch_flag_widths[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3, 31, 0 };

static const char *branches_decode(struct decoder *d, const struct data_event *e, struct cursor *c,
				   struct sample *s)
{
	const uint64_t *words;

	s->n_branches = cursor_u64(c);
	s->branch_hw_index = ~0ULL;
	if (e->attr.branch_sample_type & DATA_BRANCH_HW_INDEX)
		s->branch_hw_index = cursor_u64(c);
	if (s->n_branches > cursor_left(c) / sizeof(struct sample_branch))
		return "branch stack is longer than the record";
	words = decoder_words(d, c, s->n_branches * 3);
	s->branches = (const struct sample_branch *)(const void *)words;
	for (uint64_t i = 0; words && c->swap && i < s->n_branches; i++) {
		/* Swapped words are the decoder's own copy, at the end of what it used. */
		uint64_t *flags = d->scratch + d->scratch_used - 3 * (s->n_branches - i) + 2;

		*flags = bits_from_big(*flags, branch_flag_widths);
	}
	if (e->attr.branch_sample_type & DATA_BRANCH_COUNTERS)
		s->branch_counters = decoder_words(d, c, s->n_branches);
	return c->bad ? "branch stack is cut off" : NULL;
}

static void branches_encode(const struct sample *s, const struct data_event *e, struct str *out)
{
	put_u64(out, s->n_branches);
	if (e->attr.branch_sample_type & DATA_BRANCH_HW_INDEX)
		put_u64(out, s->branch_hw_index);
	words_encode(out, (const uint64_t *)(const void *)s->branches, s->n_branches * 3);
	if (!(e->attr.branch_sample_type & DATA_BRANCH_COUNTERS))
		return;
	for (uint64_t i = 0; i < s->n_branches; i++)
		put_u64(out, s->branch_counters ? s->branch_counters[i] : 0);
}

static const char *regs_decode(struct decoder *d, uint64_t mask, struct cursor *c,
			       struct sample_regs *regs)
{
	regs->abi = cursor_u64(c);
	if (!regs->abi)
		return NULL;
	regs->mask = mask;
	regs->n = (unsigned)__builtin_popcountll(mask);
	regs->v = decoder_words(d, c, regs->n);
	return regs->v ? NULL : "registers are cut off";
}

static void regs_encode(const struct sample_regs *regs, uint64_t mask, struct str *out)
{
	uint64_t abi = regs->mask == mask ? regs->abi : 0;

	put_u64(out, abi);
	if (abi)
		words_encode(out, regs->v, regs->n);
}

static const char *user_regs_decode(struct decoder *d, const struct data_event *e, struct cursor *c,
				    struct sample *s)
{
	return regs_decode(d, e->attr.sample_regs_user, c, &s->user_regs);
}

static void user_regs_encode(const struct sample *s, const struct data_event *e, struct str *out)
{
	regs_encode(&s->user_regs, e->attr.sample_regs_user, out);
}

static const char *intr_regs_decode(struct decoder *d, const struct data_event *e, struct cursor *c,
				    struct sample *s)
{
	return regs_decode(d, e->attr.sample_regs_intr, c, &s->intr_regs);
}

static void intr_regs_encode(const struct sample *s, const struct data_event *e, struct str *out)
{
	regs_encode(&s->intr_regs, e->attr.sample_regs_intr, out);
}

static const char *stack_decode(struct decoder *d, const struct data_event *e, struct cursor *c,
				struct sample *s)
{
	(void)d, (void)e;
	s->stack_size = cursor_u64(c);
	if (!s->stack_size)
		return NULL; /* then dyn_size is not there either */
	s->stack = cursor_bytes(c, s->stack_size);
	s->stack_dyn_size = cursor_u64(c);
	if (c->bad)
		return "stack copy is longer than the record";
	return s->stack_dyn_size <= s->stack_size ? NULL
						  : "stack copy has more in use than it has bytes";
}

static void stack_encode(const struct sample *s, const struct data_event *e, struct str *out)
{
	uint64_t padded = round_up(s->stack_size, 8);

	(void)e;
	put_u64(out, padded);
	if (!padded)
		return;
	str_addn(out, (const char *)s->stack, s->stack_size);
	str_pad(out, '\0', padded - s->stack_size);
	put_u64(out, s->stack_dyn_size);
}

static const char *aux_decode(struct decoder *d, const struct data_event *e, struct cursor *c,
			      struct sample *s)
{
	(void)d, (void)e;
	s->aux_size = cursor_u64(c);
	s->aux = cursor_bytes(c, s->aux_size);
	return s->aux ? NULL : "trace data is longer than the record";
}

static void aux_encode(const struct sample *s, const struct data_event *e, struct str *out)
{
	uint64_t padded = round_up(s->aux_size, 8);

	(void)e;
	put_u64(out, padded);
	if (s->aux_size)
		str_addn(out, (const char *)s->aux, s->aux_size);
	str_pad(out, '\0', padded - s->aux_size);
}

#define WORD(bit, name, member)                                                                    \
	{                                                                                          \
		bit, name, offsetof(struct sample, member), false, NULL, NULL                      \
	}
#define HALVES(bit, name, member)                                                                  \
	{                                                                                          \
		bit, name, offsetof(struct sample, member), true, NULL, NULL                       \
	}
#define PART(bit, name, fn)                                                                        \
	{                                                                                          \
		bit, name, 0, false, fn##_decode, fn##_encode                                      \
	}
static const struct sample_field fields[] = {
	WORD(PERF_SAMPLE_IDENTIFIER, "identifier", id),
	WORD(PERF_SAMPLE_IP, "ip", ip),
	HALVES(PERF_SAMPLE_TID, "tid", pid),
	WORD(PERF_SAMPLE_TIME, "time", time_ns),
	WORD(PERF_SAMPLE_ADDR, "addr", addr),
	WORD(PERF_SAMPLE_ID, "id", id),
	WORD(PERF_SAMPLE_STREAM_ID, "stream id", stream_id),
	HALVES(PERF_SAMPLE_CPU, "cpu", cpu),
	WORD(PERF_SAMPLE_PERIOD, "period", period),
	PART(PERF_SAMPLE_READ, "read", read),
	PART(PERF_SAMPLE_CALLCHAIN, "callchain", callchain),
	PART(PERF_SAMPLE_RAW, "raw", raw),
	PART(PERF_SAMPLE_BRANCH_STACK, "branch stack", branches),
	PART(PERF_SAMPLE_REGS_USER, "user registers", user_regs),
	PART(PERF_SAMPLE_STACK_USER, "user stack", stack),
	WORD(PERF_SAMPLE_WEIGHT | DATA_SAMPLE_WEIGHT_STRUCT, "weight", weight),
	WORD(PERF_SAMPLE_DATA_SRC, "data source", data_src),
	WORD(PERF_SAMPLE_TRANSACTION, "transaction", transaction),
	PART(PERF_SAMPLE_REGS_INTR, "registers", intr_regs),
	WORD(PERF_SAMPLE_PHYS_ADDR, "phys addr", phys_addr),
	WORD(PERF_SAMPLE_CGROUP, "cgroup", cgroup),
	WORD(PERF_SAMPLE_DATA_PAGE_SIZE, "data page size", data_page_size),
	WORD(PERF_SAMPLE_CODE_PAGE_SIZE, "code page size", code_page_size),
	PART(PERF_SAMPLE_AUX, "trace data", aux),
};

_Static_assert(ARRAY_SIZE(fields) <= SAMPLE_ROWS_MAX, "data_event.sample_rows has room for all");

_Static_assert(offsetof(struct sample, tid) == offsetof(struct sample, pid) + sizeof(uint32_t) &&
		       offsetof(struct sample, cpu_reserved) == offsetof(struct sample, cpu) + sizeof(uint32_t),
	       "halves are stored together");

void sample_rows_find(struct data_event *event)
{
	event->n_sample_rows = event->n_sample_words = 0;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!(event->attr.sample_type & fields[i].bits))
			continue;
		if (!fields[i].decode && event->n_sample_words == event->n_sample_rows)
			event->sample_at[event->n_sample_words++] = fields[i].at;
		event->sample_rows[event->n_sample_rows++] = (uint8_t)i;
	}
}

/* The bytes at p into the member that the row names. */
static void word_decode(const struct sample_field *f, const uint8_t *p, bool swap, struct sample *s)
{
	uint64_t word = load_u64(p, swap);

	if (swap && f->halves)
		word = word << 32 | word >> 32;
	memcpy((char *)s + f->at, &word, sizeof(word));
}

/* The words that samples begin with, which are all there. */
static void words_decode(const struct data_event *event, struct cursor *c, struct sample *s)
{
	for (unsigned i = 0; i < event->n_sample_words; i++, c->p += sizeof(uint64_t)) {
		if (c->swap)
			word_decode(&fields[event->sample_rows[i]], c->p, true, s);
		else
			memcpy((char *)s + event->sample_at[i], c->p, sizeof(uint64_t));
	}
}

/* ---- samples within raw data ---- */

enum {
	OFF_CPU_HAS = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
		      PERF_SAMPLE_CGROUP,
};

bool event_has_waits(const struct data_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE && event->attr.config == PERF_COUNT_SW_BPF_OUTPUT &&
	       event->name && !strcmp(event->name, "offcpu-time");
}

bool event_has_wakers(const struct data_event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT && event->name && !strcmp(event->name, "offcpu-wakers");
}

bool event_is_cpu_time(const struct data_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

bool event_is_wall_clock(const struct data_event *event)
{
	return event_is_cpu_time(event) && event->name && !strcmp(event->name, "wall-clock");
}

bool event_is_off_cpu(const struct data_event *event)
{
	return (event->attr.sample_type & PERF_SAMPLE_RAW) && event_has_waits(event);
}

uint64_t event_sample_has(const struct data_event *event)
{
	return event->attr.sample_type | (event_is_off_cpu(event) ? OFF_CPU_HAS : 0);
}

/*
 * Takes from the raw data what a BPF program saw of the task that was off the CPU. The sample's own fields are those of
 * whoever ran then. Layout: u32 pid, tid | u64 period: ns | u64 n, n times address or mark | u64 cgroup.
 */
static const char *off_cpu_decode(struct decoder *d, struct cursor c, struct sample *s)
{
	s->has |= OFF_CPU_HAS;
	s->pid = cursor_u32(&c);
	s->tid = cursor_u32(&c);
	s->period = cursor_u64(&c);
	s->n_ips = cursor_u64(&c);
	s->ips = decoder_words(d, &c, s->n_ips);
	if (c.bad)
		return "its time off the CPU is longer than its raw data";
	s->cgroup = cursor_u64(&c); /* 0 where it is not there */
	s->ip = 0;
	for (uint64_t i = 0; i < s->n_ips && !s->ip; i++)
		s->ip = s->ips[i] < (uint64_t)PERF_CONTEXT_MAX ? s->ips[i] : 0;
	return NULL;
}

const char *sample_decode(struct decoder *decoder, const struct data_event *event, struct cursor *c,
			  struct sample *sample)
{
	static const char too_short[] = "shorter than its event's sample_type asks for";
	unsigned i = event->n_sample_words;

	sample->has = event->attr.sample_type;
	if (cursor_left(c) < i * sizeof(uint64_t))
		return too_short;
	words_decode(event, c, sample);
	for (; i < event->n_sample_rows; i++) {
		const struct sample_field *f = &fields[event->sample_rows[i]];
		const uint8_t *word = f->decode ? NULL : cursor_bytes(c, sizeof(uint64_t));
		const char *why = f->decode ? f->decode(decoder, event, c, sample) : NULL;

		if (why)
			return why;
		if (word)
			word_decode(f, word, c->swap, sample);
	}
	if (c->bad)
		return too_short;
	if (!event_is_off_cpu(event))
		return NULL;
	return off_cpu_decode(decoder, cursor_on(sample->raw, sample->raw_size, c->swap), sample);
}

void sample_encode(const struct sample *sample, const struct data_event *event, struct str *out)
{
	uint64_t has = event->attr.sample_type;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!(has & fields[i].bits))
			continue;
		if (fields[i].encode)
			fields[i].encode(sample, event, out);
		else
			str_addn(out, (const char *)sample + fields[i].at, sizeof(uint64_t));
	}
}

size_t sample_size(const struct sample *sample, const struct data_event *event)
{
	struct str bytes = STR_INIT;
	size_t size;

	sample_encode(sample, event, &bytes);
	size = RECORD_HEADER_BYTES + bytes.len;
	str_release(&bytes);
	return size;
}

bool event_is_unwound(const struct data_event *event)
{
	uint64_t has = event->attr.sample_type;

	return event->attr.sample_stack_user && !(has & PERF_SAMPLE_STACK_USER) && (has & PERF_SAMPLE_CALLCHAIN);
}

unsigned chain_end(const struct sample *sample, bool *guessed)
{
	uint64_t n = sample->n_ips;
	unsigned end;

	while (n && sample->ips[n - 1] == (uint64_t)PERF_CONTEXT_USER)
		n--;
	end = (unsigned)(sample->n_ips - n);
	*guessed = end == CHAIN_GUESSED || (end && n && sample->ips[n - 1] == (uint64_t)PERF_CONTEXT_KERNEL);
	return end;
}
