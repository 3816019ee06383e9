/* SPDX-License-Identifier: MIT */
/*
 * filtering.c: --filter on fields of samples, run by the kernel. Each filter is made into a program of its own, a few
 * instructions for each test, so that neither a compiler nor a library is needed:
 *
 *	cpu == 1 || cpu == 2, period > 5
 *
 *	r0 = CPU;    if r0 == 1 goto holds		an alternative
 *	r0 = CPU;    if r0 == 2 goto holds
 *	goto leave_out
 *	holds: r0 = period; if r0 > 5 goto holds_too	the next condition
 *	goto leave_out
 *	holds_too: return 1				the sample goes into the ring
 *	leave_out: left_out += 1; return 0
 *
 * A filter with a field that a program cannot see, such as the time by the samples' clock, is run after the rings
 * (record/filter_stage.h). So is one of PIDs in a PID namespace other than the first, whose numbers a program has.
 *
 * Sources: bpf(2); Documentation/bpf/standardization/instruction-set.rst; include/uapi/linux/bpf.h.
 */
#include "bpf/bpf.h"

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TESTS_MAX = 256, INSTRUCTIONS_MAX = 7 * TESTS_MAX };
enum { R0, R1, R2, CONTEXT = 6 }; /* registers; a call leaves the last one alone */
#define FIRST_PID_NAMESPACE "pid:[4026531836]" /* PROC_PID_INIT_INO in include/linux/proc_ns.h */

#if defined(__x86_64__)
#define IP_OFFSET offsetof(struct bpf_perf_event_data, regs.rip)
#elif defined(__aarch64__)
#define IP_OFFSET offsetof(struct bpf_perf_event_data, regs.pc)
#endif

/* To add a field that a program sees: a row here; its words are in data/sample_filter.c. */
static const struct seen_field {
	enum filter_field field;
	enum { BY_CALL, BY_CONTEXT } how;
	size_t where; /* number of the function, or the place in the context */
	enum { WHOLE, LOW_HALF, HIGH_HALF } part;
	bool of_namespace; /* it is a number in the first PID namespace */
} seen_fields[] = {
#ifdef IP_OFFSET
	{ SAMPLE_FIELD_IP, BY_CONTEXT, IP_OFFSET, WHOLE, false },
#endif
	{ SAMPLE_FIELD_PERIOD, BY_CONTEXT, offsetof(struct bpf_perf_event_data, sample_period), WHOLE, false },
	{ SAMPLE_FIELD_ADDR, BY_CONTEXT, offsetof(struct bpf_perf_event_data, addr), WHOLE, false },
	{ SAMPLE_FIELD_CPU, BY_CALL, BPF_FUNC_get_smp_processor_id, LOW_HALF, false },
	{ SAMPLE_FIELD_PID, BY_CALL, BPF_FUNC_get_current_pid_tgid, HIGH_HALF, true },
	{ SAMPLE_FIELD_TID, BY_CALL, BPF_FUNC_get_current_pid_tgid, LOW_HALF, true },
	{ SAMPLE_FIELD_UID, BY_CALL, BPF_FUNC_get_current_uid_gid, LOW_HALF, false },
	{ SAMPLE_FIELD_GID, BY_CALL, BPF_FUNC_get_current_uid_gid, HIGH_HALF, false },
};

struct bpf_filtering {
	int *maps; /* by counter: an array of one number, the samples that were left out; -1: it is not filtered here */
	int *programs; /* likewise */
	size_t n;
};

/* ---- tests -> instructions ---- */

struct filter_code {
	struct bpf_insn v[INSTRUCTIONS_MAX];
	size_t n;
};

static size_t emit(struct filter_code *p, unsigned code, unsigned to, unsigned from, int32_t number)
{
	p->v[p->n] = (struct bpf_insn){ .code = (__u8)code, .dst_reg = to & 15, .src_reg = from & 15, .imm = number };
	return p->n++;
}

/* A 64-bit number takes two instructions; kind: what it is a number of, BPF_PSEUDO_*. */
static void emit_number(struct filter_code *p, unsigned to, unsigned kind, uint64_t number)
{
	emit(p, BPF_LD | BPF_DW | BPF_IMM, to, kind, (int32_t)(uint32_t)number);
	emit(p, 0, 0, 0, (int32_t)(uint32_t)(number >> 32));
}

/* The jump at `at` goes to what comes next. */
static void land(struct filter_code *p, size_t at)
{
	p->v[at].off = (int16_t)(p->n - at - 1);
}

static const struct seen_field *find_seen(enum filter_field field)
{
	for (size_t i = 0; i < ARRAY_SIZE(seen_fields); i++)
		if (seen_fields[i].field == field)
			return &seen_fields[i];
	return NULL;
}

static void emit_field(struct filter_code *p, const struct seen_field *field)
{
	if (field->how == BY_CALL) {
		emit(p, BPF_JMP | BPF_CALL, 0, 0, (int32_t)field->where);
	} else {
		size_t at = emit(p, BPF_LDX | BPF_MEM | BPF_DW, R0, CONTEXT, 0);

		p->v[at].off = (int16_t)field->where;
	}
	if (field->part == HIGH_HALF)
		emit(p, BPF_ALU64 | BPF_RSH | BPF_K, R0, 0, 32);
	else if (field->part == LOW_HALF)
		emit(p, BPF_ALU | BPF_MOV | BPF_X, R0, R0, 0);
}

/* Returns where the jump is that is taken if the test holds. */
static size_t emit_test(struct filter_code *p, const struct sample_test *test)
{
	static const unsigned jumps[] = {
		[SAMPLE_EQUAL] = BPF_JEQ, [SAMPLE_NOT_EQUAL] = BPF_JNE, [SAMPLE_ABOVE] = BPF_JGT,
		[SAMPLE_AT_LEAST] = BPF_JGE, [SAMPLE_BELOW] = BPF_JLT, [SAMPLE_AT_MOST] = BPF_JLE,
		[SAMPLE_HAS_BITS] = BPF_JSET,
	};

	emit_field(p, find_seen(test->field));
	emit_number(p, R1, 0, test->value);
	return emit(p, BPF_JMP | BPF_X | jumps[test->op], R0, R1, 0);
}

static void make_program(struct filter_code *p, const struct sample_filter *filter, int map)
{
	size_t holds[TESTS_MAX], leaves[TESTS_MAX], n_holds = 0, n_leaves = 0;

	emit(p, BPF_ALU64 | BPF_MOV | BPF_X, CONTEXT, R1, 0);
	for (size_t i = 0; i < filter->n; i++) {
		holds[n_holds++] = emit_test(p, &filter->v[i]);
		if (i + 1 < filter->n && filter->v[i + 1].alternative)
			continue;
		leaves[n_leaves++] = emit(p, BPF_JMP | BPF_JA, 0, 0, 0);
		while (n_holds)
			land(p, holds[--n_holds]);
	}
	emit(p, BPF_ALU64 | BPF_MOV | BPF_K, R0, 0, 1);
	emit(p, BPF_JMP | BPF_EXIT, 0, 0, 0);
	while (n_leaves)
		land(p, leaves[--n_leaves]);
	emit_number(p, R1, BPF_PSEUDO_MAP_VALUE, (uint32_t)map);
	emit(p, BPF_ALU64 | BPF_MOV | BPF_K, R2, 0, 1);
	emit(p, BPF_STX | BPF_XADD | BPF_DW, R1, R2, 0);
	emit(p, BPF_ALU64 | BPF_MOV | BPF_K, R0, 0, 0);
	emit(p, BPF_JMP | BPF_EXIT, 0, 0, 0);
}

/* ---- the kernel's side ---- */

static int call_bpf(int command, union bpf_attr *attr)
{
	long rc = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return rc < 0 ? -errno : (int)rc;
}

static int new_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = sizeof(uint32_t), .value_size = sizeof(uint64_t),
		.max_entries = 1,
	};

	return call_bpf(BPF_MAP_CREATE, &attr);
}

static int load(const struct sample_filter *filter, int map)
{
	struct filter_code *p = xcalloc(1, sizeof(*p));
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT, .insns = (uintptr_t)p->v, .license = (uintptr_t)"Dual MIT/GPL",
	};
	int fd;

	make_program(p, filter, map);
	attr.insn_cnt = (__u32)p->n;
	fd = call_bpf(BPF_PROG_LOAD, &attr);
	free(p);
	return fd;
}

/* NULL: a program sees all that the filter is about. */
static const char *why_not(const struct sample_filter *filter)
{
	char space[sizeof(FIRST_PID_NAMESPACE)];
	bool first = readlink("/proc/self/ns/pid", space, sizeof(space)) == sizeof(space) - 1 &&
		     !memcmp(space, FIRST_PID_NAMESPACE, sizeof(space) - 1);

	for (size_t i = 0; i < filter->n; i++) {
		const struct seen_field *field = find_seen(filter->v[i].field);

		if (!field)
			return "a BPF program does not see all of its fields";
		if (field->of_namespace && !first)
			return "PIDs are other numbers in this PID namespace";
	}
	return filter->n > TESTS_MAX ? "it has too many tests for a BPF program" : NULL;
}

/* Filters one counter: 0, or a negative errno with a sentence, and its samples go into the rings as before. */
static int filter_counter(struct bpf_filtering *filtering, const struct counter_set *set, size_t index,
			  const struct sample_filter *filter, struct str *err)
{
	const char *reason = why_not(filter);
	int rc, map;

	if (reason)
		return fail(err, -ENOTSUP, "%s", reason);
	map = filtering->maps[index] = new_map();
	rc = map < 0 ? map : load(filter, map);
	filtering->programs[index] = rc;
	if (rc >= 0)
		rc = counter_attach_bpf(set, index, filtering->programs[index]);
	if (rc >= 0)
		return 0;
	if (map >= 0)
		close(map);
	filtering->maps[index] = -1;
	return fail(err, rc, "the kernel refuses the BPF program: %s", strerror(-rc));
}

/* A filter of what no sample has must be run by the kernel, others may be. */
static int try_counter(struct bpf_filtering *filtering, const struct counter_set *set, size_t index,
		       struct note_list *notes, struct str *err)
{
	const struct counter *counter = &set->v[index];
	struct sample_filter filter = { 0 };
	struct str why = STR_INIT, lacks = STR_INIT;
	int rc = sample_filter_parse(&filter, counter->event->sample_filter, &why), has = 0;

	if (!rc)
		has = sample_filter_check(&filter, counter->attr.sample_type, &lacks);
	if (!rc && has != -EINVAL && filter_counter(filtering, set, index, &filter, &why)) {
		if (has)
			rc = fail(err, has, "--filter: %s: %s\n%s", counter->name, lacks.s, why.s);
		else
			note_add(notes, true, NULL, "--filter: %s: samples are filtered after the rings: %s",
				 counter->name, why.s);
	}
	sample_filter_release(&filter);
	str_release(&why);
	str_release(&lacks);
	return rc;
}

int bpf_filtering_new(struct bpf_filtering **made, const struct counter_set *set, struct note_list *notes,
		      struct str *err)
{
	struct bpf_filtering *filtering = xcalloc(1, sizeof(*filtering));
	int rc = 0;

	filtering->n = set->n;
	filtering->maps = xcalloc(set->n + 1, sizeof(*filtering->maps));
	filtering->programs = xcalloc(set->n + 1, sizeof(*filtering->programs));
	for (size_t i = 0; i < set->n; i++)
		filtering->maps[i] = filtering->programs[i] = -1;
	for (size_t i = 0; i < set->n && !rc; i++)
		if (set->v[i].state == COUNTER_OPEN && set->v[i].event->sample_filter)
			rc = try_counter(filtering, set, i, notes, err);
	*made = filtering;
	return rc;
}

void bpf_filtering_free(struct bpf_filtering *filtering)
{
	if (!filtering)
		return;
	for (size_t i = 0; i < filtering->n; i++) {
		if (filtering->maps[i] >= 0)
			close(filtering->maps[i]);
		if (filtering->programs[i] >= 0)
			close(filtering->programs[i]);
	}
	free(filtering->maps);
	free(filtering->programs);
	free(filtering);
}

bool bpf_filtering_has(const struct bpf_filtering *filtering, size_t counter)
{
	return filtering->maps[counter] >= 0;
}

uint64_t bpf_filtering_left_out(const struct bpf_filtering *filtering, size_t counter)
{
	const uint32_t zero = 0;
	uint64_t left_out = 0;
	union bpf_attr attr = {
		.map_fd = (__u32)filtering->maps[counter], .key = (uintptr_t)&zero, .value = (uintptr_t)&left_out,
	};

	return call_bpf(BPF_MAP_LOOKUP_ELEM, &attr) < 0 ? 0 : left_out;
}
