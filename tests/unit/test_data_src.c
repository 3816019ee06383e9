/* SPDX-License-Identifier: MIT */
/*
 * Memory words. The expected ones were printed by perf 6.1's script -F data_src for these values; op bits
 * in numbers from PERF_MEM_* of the kernel's header.
 */
#include "profile/profile.h"

#include <linux/perf_event.h>

#include <cmocka.h>

typedef void words_fn(uint64_t data_src, struct str *out);

static void expect(words_fn *words, uint64_t data_src, const char *expected)
{
	struct str out = STR_INIT;

	words(data_src, &out);
	assert_string_equal(out.s, expected);
	/* Behind a text that is there already: the same. */
	str_reset(&out);
	str_add(&out, "x");
	words(data_src, &out);
	assert_string_equal(out.s + 1, expected);
	str_release(&out);
}

static void levels(void **state)
{
	(void)state;
	expect(mem_level_add, 0, "N/A");
	expect(mem_level_add, PERF_MEM_S(LVL, NA), "N/A");
	expect(mem_level_add, PERF_MEM_S(LVL, L1) | PERF_MEM_S(LVL, HIT), "L1 hit");
	expect(mem_level_add, PERF_MEM_S(LVL, LFB) | PERF_MEM_S(LVL, MISS), "LFB/MAB miss");
	expect(mem_level_add, PERF_MEM_S(LVL, L1) | PERF_MEM_S(LVL, L2), "L1 or L2");
	expect(mem_level_add, PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, MISS), "N/A hit miss");
	expect(mem_level_add, PERF_MEM_S(LVL, REM_RAM1), "Remote RAM (1 hop)");
	expect(mem_level_add, PERF_MEM_S(LVL, UNC), "Uncached");
	expect(mem_level_add, PERF_MEM_S(LVLNUM, L4), "L4");
	expect(mem_level_add, 5ULL << PERF_MEM_LVLNUM_SHIFT, "L5");
	expect(mem_level_add, 9ULL << PERF_MEM_LVLNUM_SHIFT, "CXL");
	expect(mem_level_add, PERF_MEM_S(LVLNUM, PMEM), "PMEM");
	expect(mem_level_add, PERF_MEM_S(LVL, L1) | PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVLNUM, L1),
	       "L1 or L1 hit");
	expect(mem_level_add, PERF_MEM_S(REMOTE, REMOTE) | PERF_MEM_S(LVL, MISS), "Remote  miss");
	expect(mem_level_add, PERF_MEM_S(REMOTE, REMOTE) | PERF_MEM_S(LVLNUM, L3), "Remote L3");
	expect(mem_level_add,
	       PERF_MEM_S(REMOTE, REMOTE) | 2ULL << 43 | PERF_MEM_S(LVLNUM, L3) |
		       PERF_MEM_S(LVL, HIT),
	       "Remote node, same socket L3 hit");
}

static void others(void **state)
{
	(void)state;
	expect(mem_op_add, 0, "No");
	expect(mem_op_add, PERF_MEM_S(OP, LOAD), "LOAD");
	expect(mem_op_add, PERF_MEM_S(OP, STORE) | PERF_MEM_S(OP, EXEC), "STORE");
	expect(mem_snoop_add, 0, "N/A");
	expect(mem_snoop_add, PERF_MEM_S(SNOOP, NONE), "None");
	expect(mem_snoop_add, PERF_MEM_S(SNOOP, HIT) | PERF_MEM_S(SNOOPX, FWD), "Hit or Fwd");
	expect(mem_snoop_add, PERF_MEM_S(SNOOP, HITM), "HitM");
	expect(mem_tlb_add, 0, "N/A");
	expect(mem_tlb_add, PERF_MEM_S(TLB, L1) | PERF_MEM_S(TLB, L2) | PERF_MEM_S(TLB, HIT),
	       "L1 or L2 hit");
	expect(mem_tlb_add, PERF_MEM_S(TLB, WK) | PERF_MEM_S(TLB, MISS), "Walker miss");
	expect(mem_lock_add, 0, "No");
	expect(mem_lock_add, PERF_MEM_S(LOCK, NA), "N/A");
	expect(mem_lock_add, PERF_MEM_S(LOCK, LOCKED), "Yes");
	expect(mem_blocked_add, 0, " N/A");
	expect(mem_blocked_add, PERF_MEM_S(BLK, DATA), " Data");
	expect(mem_blocked_add, PERF_MEM_S(BLK, DATA) | PERF_MEM_S(BLK, ADDR), " Data Addr");
}

/* All values of all fields have a word, and none reads past its table. */
static void every_value(void **state)
{
	words_fn *const all[] = { mem_level_add, mem_op_add,   mem_snoop_add,
				  mem_tlb_add,   mem_lock_add, mem_blocked_add };
	struct str out = STR_INIT;

	(void)state;
	for (size_t w = 0; w < ARRAY_SIZE(all); w++)
		for (unsigned shift = 0; shift < 64; shift++)
			for (uint64_t value = 1; value < 16; value++) {
				str_reset(&out);
				all[w](value << shift, &out);
				assert_true(out.len > 0);
			}
	all[0](UINT64_MAX, &out);
	str_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels),
		cmocka_unit_test(others),
		cmocka_unit_test(every_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
