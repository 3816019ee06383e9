/* SPDX-License-Identifier: MIT */
/*
 * sample_filter.c: a filter on fields of samples, in perf's words:
 *
 *	mem_op == load || mem_op == store, period > 1000
 *	'-------------- alternatives ----'  '-- and --'
 *
 * Tests are a flat list: each is an alternative to the one before it, or begins a new condition; a sample passes if each
 * condition has a test that holds. One table says where the value of a field is and what its numbers are called.
 *
 * Sources: perf-record(1), "bpf filters"; perf_event_open(2), PERF_SAMPLE_DATA_SRC and PERF_SAMPLE_WEIGHT_STRUCT.
 */
#include "data/data.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

struct number_name {
	const char *name;
	uint64_t number;
};

static const struct number_name op_names[] = {
	{ "na", 1 }, { "load", 2 }, { "store", 4 }, { "pfetch", 8 }, { "exec", 16 }, { NULL, 0 },
};
static const struct number_name level_names[] = {
	{ "l1", 1 }, { "l2", 2 }, { "l3", 3 }, { "l4", 4 }, { "cxl", 9 }, { "io", 10 }, { "any_cache", 11 },
	{ "lfb", 12 }, { "ram", 13 }, { "pmem", 14 }, { NULL, 0 },
};
static const struct number_name snoop_names[] = {
	{ "na", 1 }, { "none", 2 }, { "hit", 4 }, { "miss", 8 }, { "hitm", 16 }, { "fwd", 32 }, { "peer", 64 }, { NULL, 0 },
};
static const struct number_name remote_names[] = { { "remote", 1 }, { NULL, 0 } };
static const struct number_name lock_names[] = { { "na", 1 }, { "locked", 2 }, { NULL, 0 } };
static const struct number_name tlb_names[] = {
	{ "na", 1 }, { "any_hit", 2 }, { "any_miss", 4 }, { "l1_hit", 2 | 8 }, { "l1_miss", 4 | 8 },
	{ "l2_hit", 2 | 16 }, { "l2_miss", 4 | 16 }, { "walk", 32 }, { "fault", 64 }, { NULL, 0 },
};
static const struct number_name block_names[] = { { "na", 1 }, { "by_data", 2 }, { "by_addr", 4 }, { NULL, 0 } };
static const struct number_name hops_names[] = {
	{ "hops0", 1 }, { "hops1", 2 }, { "hops2", 3 }, { "hops3", 4 }, { NULL, 0 },
};

#define WEIGHTS (PERF_SAMPLE_WEIGHT | DATA_SAMPLE_WEIGHT_STRUCT)
#define AT(member) offsetof(struct sample, member), sizeof(((struct sample *)0)->member)
#define DATA_SRC(at, width) PERF_SAMPLE_DATA_SRC, AT(data_src), at, width

/* To add a field: a row here, tests/unit/test_sample_filter.c, pstat-record(1). */
static const struct filter_row {
	const char *name;
	uint64_t bits; /* PERF_SAMPLE_*: a sample has it with one of these; 0: none has it */
	size_t offset, bytes;
	unsigned at, width; /* bits of the member */
	const struct number_name *names; /* of values; NULL: none has one */
	const char *option; /* of pstat record, by which samples have it; NULL: they always do */
} fields[] = {
	[SAMPLE_FIELD_IP] = { "ip", PERF_SAMPLE_IP, AT(ip), 0, 64, NULL, NULL },
	[SAMPLE_FIELD_ID] = { "id", PERF_SAMPLE_IDENTIFIER, AT(id), 0, 64, NULL, NULL },
	[SAMPLE_FIELD_TID] = { "tid", PERF_SAMPLE_TID, AT(tid), 0, 32, NULL, NULL },
	[SAMPLE_FIELD_PID] = { "pid", PERF_SAMPLE_TID, AT(pid), 0, 32, NULL, NULL },
	[SAMPLE_FIELD_CPU] = { "cpu", PERF_SAMPLE_CPU, AT(cpu), 0, 32, NULL, NULL },
	[SAMPLE_FIELD_TIME] = { "time", PERF_SAMPLE_TIME, AT(time_ns), 0, 64, NULL, "--timestamp" },
	[SAMPLE_FIELD_ADDR] = { "addr", PERF_SAMPLE_ADDR, AT(addr), 0, 64, NULL, "-d" },
	[SAMPLE_FIELD_PERIOD] = { "period", PERF_SAMPLE_PERIOD, AT(period), 0, 64, NULL, NULL },
	[SAMPLE_FIELD_TXN] = { "txn", PERF_SAMPLE_TRANSACTION, AT(transaction), 0, 64, NULL, "--transaction" },
	[SAMPLE_FIELD_WEIGHT] = { "weight", WEIGHTS, AT(weight), 0, 32, NULL, "-W" },
	[SAMPLE_FIELD_WEIGHT1] = { "weight1", WEIGHTS, AT(weight), 0, 32, NULL, "-W" },
	[SAMPLE_FIELD_WEIGHT2] = { "weight2", WEIGHTS, AT(weight), 32, 16, NULL, "-W" },
	[SAMPLE_FIELD_WEIGHT3] = { "weight3", WEIGHTS, AT(weight), 48, 16, NULL, "-W" },
	[SAMPLE_FIELD_INS_LAT] = { "ins_lat", WEIGHTS, AT(weight), 32, 16, NULL, "-W" },
	[SAMPLE_FIELD_RETIRE_LAT] = { "retire_lat", WEIGHTS, AT(weight), 48, 16, NULL, "-W" },
	[SAMPLE_FIELD_P_STAGE_CYC] = { "p_stage_cyc", WEIGHTS, AT(weight), 48, 16, NULL, "-W" },
	[SAMPLE_FIELD_PHYS_ADDR] = { "phys_addr", PERF_SAMPLE_PHYS_ADDR, AT(phys_addr), 0, 64, NULL, "--phys-data" },
	[SAMPLE_FIELD_CODE_PGSZ] = { "code_pgsz", PERF_SAMPLE_CODE_PAGE_SIZE, AT(code_page_size), 0, 64, NULL,
				     "--code-page-size" },
	[SAMPLE_FIELD_DATA_PGSZ] = { "data_pgsz", PERF_SAMPLE_DATA_PAGE_SIZE, AT(data_page_size), 0, 64, NULL,
				     "--data-page-size" },
	[SAMPLE_FIELD_MEM_OP] = { "mem_op", DATA_SRC(0, 5), op_names, "-d" },
	[SAMPLE_FIELD_MEM_LVL] = { "mem_lvl", DATA_SRC(33, 4), level_names, "-d" },
	[SAMPLE_FIELD_MEM_SNOOP] = { "mem_snoop", DATA_SRC(19, 5), snoop_names, "-d" },
	[SAMPLE_FIELD_MEM_REMOTE] = { "mem_remote", DATA_SRC(37, 1), remote_names, "-d" },
	[SAMPLE_FIELD_MEM_LOCK] = { "mem_lock", DATA_SRC(24, 2), lock_names, "-d" },
	[SAMPLE_FIELD_MEM_DTLB] = { "mem_dtlb", DATA_SRC(26, 7), tlb_names, "-d" },
	[SAMPLE_FIELD_MEM_BLK] = { "mem_blk", DATA_SRC(40, 3), block_names, "-d" },
	[SAMPLE_FIELD_MEM_HOPS] = { "mem_hops", DATA_SRC(43, 3), hops_names, "-d" },
	[SAMPLE_FIELD_UID] = { .name = "uid" },
	[SAMPLE_FIELD_GID] = { .name = "gid" },
};
/* The two bits of the snoop that came later: they are above the older five in a value. */
enum { SNOOP_MORE_AT = 38, SNOOP_MORE_MASK = 3, SNOOP_WIDTH = 5 };

/* Longer ones before their beginnings. */
static const struct {
	const char *text;
	enum filter_op op;
} operators[] = {
	{ "==", SAMPLE_EQUAL }, { "!=", SAMPLE_NOT_EQUAL }, { ">=", SAMPLE_AT_LEAST }, { "<=", SAMPLE_AT_MOST },
	{ ">", SAMPLE_ABOVE }, { "<", SAMPLE_BELOW }, { "&", SAMPLE_HAS_BITS },
};

/* ---- words -> tests ---- */

static void skip_blanks(const char **at)
{
	*at += strspn(*at, " \t\n");
}

static char *take_word(const char **at)
{
	size_t n = 0;
	char *word;

	while (isalnum((unsigned char)(*at)[n]) || (*at)[n] == '_')
		n++;
	word = xstrndup(*at, n);
	*at += n;
	skip_blanks(at);
	return word;
}

static int find_field(const char *word, struct sample_test *test, struct str *err)
{
	struct str known = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!strcmp(fields[i].name, word)) {
			test->field = (enum filter_field)i;
			return 0;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		str_addf(&known, "%s%s", i ? ", " : "", fields[i].name);
	fail(err, -EINVAL, "'%s' is no field of samples\nfields: %s", word, known.s);
	str_release(&known);
	return -EINVAL;
}

static int take_operator(const char **at, struct sample_test *test, struct str *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		size_t n = strlen(operators[i].text);

		if (strncmp(*at, operators[i].text, n))
			continue;
		test->op = operators[i].op;
		*at += n;
		skip_blanks(at);
		return 0;
	}
	return fail(err, -EINVAL, "after '%s' one of ==, !=, >, >=, <, <= and & is missing", fields[test->field].name);
}

static int find_value(const char *word, struct sample_test *test, struct str *err)
{
	const struct filter_row *row = &fields[test->field];
	struct str known = STR_INIT;

	if (!parse_u64(word, 0, &test->value))
		return 0;
	for (const struct number_name *name = row->names; name && name->name; name++) {
		if (!strcmp(name->name, word)) {
			test->value = name->number;
			return 0;
		}
	}
	for (const struct number_name *name = row->names; name && name->name; name++)
		str_addf(&known, ", %s", name->name);
	fail(err, -EINVAL, "'%s' is no value of %s: it is a number%s", word, row->name, known.len ? known.s : "");
	str_release(&known);
	return -EINVAL;
}

static int take_test(const char **at, struct sample_test *test, struct str *err)
{
	char *name = take_word(at), *value = NULL;
	int rc = find_field(name, test, err);

	if (!rc)
		rc = take_operator(at, test, err);
	if (!rc) {
		value = take_word(at);
		rc = find_value(value, test, err);
	}
	free(name);
	free(value);
	return rc;
}

int sample_filter_parse(struct sample_filter *filter, const char *text, struct str *err)
{
	const char *at = text;
	bool alternative = false;

	skip_blanks(&at);
	for (;;) {
		struct sample_test test = { .alternative = alternative };
		int rc = take_test(&at, &test, err);

		if (rc)
			return rc;
		VEC_GROW(filter->v, filter->n, filter->cap);
		filter->v[filter->n++] = test;
		if (!*at)
			return 0;
		alternative = !strncmp(at, "||", 2);
		if (!alternative && *at != ',')
			return fail(err, -EINVAL, "'%s': conditions have a comma between them, alternatives ||", at);
		at += alternative ? 2 : 1;
		skip_blanks(&at);
	}
}

void sample_filter_release(struct sample_filter *filter)
{
	free(filter->v);
	*filter = (struct sample_filter){ 0 };
}

/* ---- tests x sample -> passed ---- */

int sample_filter_check(const struct sample_filter *filter, uint64_t sample_type, struct str *err)
{
	for (size_t i = 0; i < filter->n; i++) {
		const struct filter_row *row = &fields[filter->v[i].field];

		if (sample_type & row->bits || filter->v[i].field == SAMPLE_FIELD_PERIOD)
			continue;
		if (row->option)
			return fail(err, -EINVAL, "samples do not have '%s'\nit is recorded with %s", row->name,
				    row->option);
		return fail(err, -ENOTSUP, "samples do not have '%s': only a filter in the kernel sees it", row->name);
	}
	return 0;
}

static uint64_t value_of(const struct filter_row *row, const struct sample *sample)
{
	const char *member = (const char *)sample + row->offset;
	uint64_t value = 0;
	uint32_t half;

	if (row->bytes == sizeof(half)) {
		memcpy(&half, member, sizeof(half));
		value = half;
	} else {
		memcpy(&value, member, sizeof(value));
	}
	value >>= row->at;
	return row->width < 64 ? value & ((1ull << row->width) - 1) : value;
}

static bool holds(const struct sample_test *test, const struct data_event *event, const struct sample *sample)
{
	uint64_t value = value_of(&fields[test->field], sample);

	if (test->field == SAMPLE_FIELD_MEM_SNOOP)
		value |= (sample->data_src >> SNOOP_MORE_AT & SNOOP_MORE_MASK) << SNOOP_WIDTH;
	/* A fixed period is in no sample. */
	if (test->field == SAMPLE_FIELD_PERIOD && !(sample->has & PERF_SAMPLE_PERIOD))
		value = event->attr.sample_period;
	switch (test->op) {
	case SAMPLE_EQUAL:
		return value == test->value;
	case SAMPLE_NOT_EQUAL:
		return value != test->value;
	case SAMPLE_ABOVE:
		return value > test->value;
	case SAMPLE_AT_LEAST:
		return value >= test->value;
	case SAMPLE_BELOW:
		return value < test->value;
	case SAMPLE_AT_MOST:
		return value <= test->value;
	case SAMPLE_HAS_BITS:
		return value & test->value;
	}
	return false;
}

bool sample_filter_passes(const struct sample_filter *filter, const struct data_event *event,
			  const struct sample *sample)
{
	bool passed = true;

	for (size_t i = 0; i < filter->n; i++) {
		if (!filter->v[i].alternative && !passed)
			return false;
		if (!filter->v[i].alternative)
			passed = false;
		passed = passed || holds(&filter->v[i], event, sample);
	}
	return passed;
}
