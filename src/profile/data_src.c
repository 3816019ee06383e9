/* SPDX-License-Identifier: MIT */
/*
 * PERF_SAMPLE_DATA_SRC in words, perf's. Fields of the word are cut out by shift and width, so that
 * recordings of machines of the other byte order read the same.
 *
 * Source: union perf_mem_data_src and PERF_MEM_* in include/uapi/linux/perf_event.h.
 */
#include "profile/profile.h"

enum mem_field {
	MEM_OP,
	MEM_LVL,
	MEM_SNOOP,
	MEM_LOCK,
	MEM_TLB,
	MEM_LVLNUM,
	MEM_REMOTE,
	MEM_SNOOPX,
	MEM_BLK,
	MEM_HOPS
};
static const struct {
	unsigned shift, bits;
} mem_fields[] = {
	[MEM_OP] = { PERF_MEM_OP_SHIFT, 5 },         [MEM_LVL] = { PERF_MEM_LVL_SHIFT, 14 },
	[MEM_SNOOP] = { PERF_MEM_SNOOP_SHIFT, 5 },   [MEM_LOCK] = { PERF_MEM_LOCK_SHIFT, 2 },
	[MEM_TLB] = { PERF_MEM_TLB_SHIFT, 7 },       [MEM_LVLNUM] = { PERF_MEM_LVLNUM_SHIFT, 4 },
	[MEM_REMOTE] = { PERF_MEM_REMOTE_SHIFT, 1 }, [MEM_SNOOPX] = { PERF_MEM_SNOOPX_SHIFT, 2 },
	[MEM_BLK] = { PERF_MEM_BLK_SHIFT, 3 },       [MEM_HOPS] = { PERF_MEM_HOPS_SHIFT, 3 },
};

static unsigned mem_part(uint64_t data_src, enum mem_field field)
{
	return data_src >> mem_fields[field].shift & ((1U << mem_fields[field].bits) - 1);
}

/* By bit, from the lowest; of an op's only the lowest is said. Hits and misses of LVL and TLB come last. */
static const char *const op_names[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };
static const char *const level_names[] = {
	"N/A",
	NULL,
	NULL,
	"L1",
	"LFB/MAB",
	"L2",
	"L3",
	"Local RAM",
	"Remote RAM (1 hop)",
	"Remote RAM (2 hops)",
	"Remote Cache (1 hop)",
	"Remote Cache (2 hops)",
	"I/O",
	"Uncached",
};
static const char *const snoop_names[] = { "N/A", "None", "Hit", "Miss", "HitM" };
static const char *const snoopx_names[] = { "Fwd", "Peer" };
static const char *const tlb_names[] = { "N/A", NULL, NULL, "L1", "L2", "Walker", "Fault" };
/* By value. */
static const char *const level_number_names[16] = {
	[PERF_MEM_LVLNUM_L1] = "L1",
	[PERF_MEM_LVLNUM_L2] = "L2",
	[PERF_MEM_LVLNUM_L3] = "L3",
	[PERF_MEM_LVLNUM_L4] = "L4",
	[5] = "L5",
	[6] = "L6",
	[7] = "L7",
	[8] = "L8",
	[9] = "CXL",
	[10] = "I/O",
	[11] = "Any cache",
	[PERF_MEM_LVLNUM_LFB] = "LFB/MAB",
	[PERF_MEM_LVLNUM_RAM] = "RAM",
	[PERF_MEM_LVLNUM_PMEM] = "PMEM",
	[PERF_MEM_LVLNUM_NA] = "N/A",
};
static const char *const hop_names[8] = {
	[1] = "core, same node",
	[2] = "node, same socket",
	[3] = "socket, same board",
	[4] = "board",
};

/* One more word behind those since `start`. */
static void add_word(struct str *out, size_t start, const char *word)
{
	str_add(out, out->len > start ? " or " : "");
	str_add(out, word);
}

static void add_bits(struct str *out, size_t start, unsigned bits, const char *const *names,
		     size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bits >> i & 1 && names[i])
			add_word(out, start, names[i]);
}

static void add_hit_miss(struct str *out, unsigned bits)
{
	str_add(out, bits & PERF_MEM_LVL_HIT ? " hit" : "");
	str_add(out, bits & PERF_MEM_LVL_MISS ? " miss" : "");
}

void mem_level_add(uint64_t data_src, struct str *out)
{
	unsigned level = mem_part(data_src, MEM_LVL), number = mem_part(data_src, MEM_LVLNUM);
	unsigned hops = mem_part(data_src, MEM_HOPS);
	size_t start = out->len;

	if (mem_part(data_src, MEM_REMOTE))
		str_add(out, "Remote ");
	if (hops) {
		str_addf(out, "%s ", hop_names[hops] ? hop_names[hops] : "N/A");
		start = out->len;
	} else {
		start = out->len;
		add_bits(out, start, level, level_names, ARRAY_SIZE(level_names));
	}
	if (number)
		add_word(out, start, level_number_names[number]);
	if (out->len == start && !hops && !mem_part(data_src, MEM_REMOTE))
		str_add(out, "N/A");
	add_hit_miss(out, level);
}

void mem_op_add(uint64_t data_src, struct str *out)
{
	unsigned op = mem_part(data_src, MEM_OP);

	str_add(out, op ? op_names[__builtin_ctz(op)] : "No");
}

void mem_snoop_add(uint64_t data_src, struct str *out)
{
	size_t start = out->len;

	add_bits(out, start, mem_part(data_src, MEM_SNOOP), snoop_names, ARRAY_SIZE(snoop_names));
	add_bits(out, start, mem_part(data_src, MEM_SNOOPX), snoopx_names,
		 ARRAY_SIZE(snoopx_names));
	if (out->len == start)
		str_add(out, "N/A");
}

void mem_tlb_add(uint64_t data_src, struct str *out)
{
	unsigned bits = mem_part(data_src, MEM_TLB);
	size_t start = out->len;

	_Static_assert(PERF_MEM_TLB_HIT == PERF_MEM_LVL_HIT, "one function says both");
	add_bits(out, start, bits, tlb_names, ARRAY_SIZE(tlb_names));
	if (out->len == start)
		str_add(out, "N/A");
	add_hit_miss(out, bits);
}

void mem_lock_add(uint64_t data_src, struct str *out)
{
	unsigned lock = mem_part(data_src, MEM_LOCK);

	if (lock & PERF_MEM_LOCK_NA)
		str_add(out, "N/A");
	else
		str_add(out, lock & PERF_MEM_LOCK_LOCKED ? "Yes" : "No");
}

void mem_blocked_add(uint64_t data_src, struct str *out)
{
	unsigned blocked = mem_part(data_src, MEM_BLK);

	if (blocked & PERF_MEM_BLK_NA || !blocked) {
		str_add(out, " N/A");
		return;
	}
	str_add(out, blocked & PERF_MEM_BLK_DATA ? " Data" : "");
	str_add(out, blocked & PERF_MEM_BLK_ADDR ? " Addr" : "");
}

/* ---- one of a few answers ---- */

struct answer_row {
	const char *name;
	unsigned value;
	bool any; /* it is enough that one of the value's bits is set; else all of the field is compared */
};
static const struct answer_row op_answers[] = {
	{ "Load", PERF_MEM_OP_LOAD, false },
	{ "Store", PERF_MEM_OP_STORE, false },
	{ "Ld+St", PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE, false },
	{ "Pfetch", PERF_MEM_OP_PFETCH, true },
	{ "Exec", PERF_MEM_OP_EXEC, true },
};
static const struct answer_row cache_answers[] = {
	{ "L1", PERF_MEM_LVLNUM_L1, false },      { "L2", PERF_MEM_LVLNUM_L2, false },
	{ "L3", PERF_MEM_LVLNUM_L3, false },      { "L4", PERF_MEM_LVLNUM_L4, false },
	{ "L1-buf", PERF_MEM_LVLNUM_LFB, false }, { "L2-buf", 5, false },
};
static const struct answer_row memory_answers[] = {
	{ "RAM", PERF_MEM_LVLNUM_RAM, false }, { "MSC", 6, false }, { "Uncach", 8, false },
	{ "CXL", 9, false },                   { "IO", 10, false }, { "PMEM", PERF_MEM_LVLNUM_PMEM, false },
};
static const struct answer_row snoop_answers[] = {
	{ "Hit", PERF_MEM_SNOOP_HIT, false },
	{ "HitM", PERF_MEM_SNOOP_HITM, false },
	{ "Miss", PERF_MEM_SNOOP_MISS, false },
};
static const struct answer_row dtlb_answers[] = {
	{ "L1-Hit", PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1, false },
	{ "L2-Hit", PERF_MEM_TLB_HIT | PERF_MEM_TLB_L2, false },
	{ "L?-Hit", PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1 | PERF_MEM_TLB_L2, false },
	{ "Miss", PERF_MEM_TLB_MISS, true },
};

#define RESPECT(respect, field, rows) [MEM_RESPECT_##respect] = { field, rows, ARRAY_SIZE(rows) }
static const struct {
	enum mem_field field;
	const struct answer_row *rows; /* the first one that fits; else it is another answer */
	unsigned n;
} respects[MEM_RESPECTS] = {
	RESPECT(OP, MEM_OP, op_answers),          RESPECT(CACHE, MEM_LVLNUM, cache_answers),
	RESPECT(MEMORY, MEM_LVLNUM, memory_answers), RESPECT(SNOOP, MEM_SNOOP, snoop_answers),
	RESPECT(DTLB, MEM_TLB, dtlb_answers),
};
#undef RESPECT

const char *mem_answer_name(enum mem_respect respect, unsigned answer)
{
	if (answer < respects[respect].n)
		return respects[respect].rows[answer].name;
	return answer == respects[respect].n ? "Other" : NULL;
}

unsigned mem_answer(enum mem_respect respect, uint64_t data_src)
{
	const struct answer_row *rows = respects[respect].rows;
	const unsigned part = mem_part(data_src, respects[respect].field);
	unsigned i = 0;

	while (i < respects[respect].n && !(rows[i].any ? part & rows[i].value : part == rows[i].value))
		i++;
	return i;
}
