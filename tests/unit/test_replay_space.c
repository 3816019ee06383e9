/*
 * Address spaces against an array with one element per page: whatever is added, cut, filled and shared, each
 * page's map and file offset are those of the array.
 */
#include "data_fixture.h"

#include "replay/space.h"

enum { PAGES = 1024, PAGE = 0x1000 };

struct page {
	const struct dso *dso;
	uint64_t offset;
};

static void check(const struct space *space, const struct page *pages)
{
	const struct map *map = NULL;
	uint64_t end = 0;
	size_t n = 0;

	for (unsigned i = 0; i < PAGES; i++) {
		const struct map *found = space_find(space, i * PAGE + 5);

		if (!pages[i].dso) {
			assert_null(found);
			continue;
		}
		assert_non_null(found);
		assert_ptr_equal(found->dso, pages[i].dso);
		assert_int_equal(i * PAGE - found->start + found->pgoff, pages[i].offset);
	}
	while ((map = space_next(space, map)) != NULL) {
		assert_true(map->start >= end);
		assert_true(map->start < map->end);
		end = map->end;
		n++;
	}
	assert_int_equal(n, space->n);
	for (size_t i = 0; i < space->n_chunks; i++)
		assert_in_range(space->chunks[i]->n, 1, SPACE_CHUNK_MAX);
}

struct model {
	struct space space;
	struct page pages[PAGES];
};

enum step { ADD, FILL, CUT, STEPS };

static void change(struct model *m, enum step step, unsigned from, unsigned n, struct dso *dso,
		   uint64_t pgoff, uint64_t *clock)
{
	struct map map = { from * PAGE, (from + n) * (uint64_t)PAGE, pgoff, dso, 5, 2 };

	if (step == ADD)
		space_add(&m->space, &map, clock);
	else if (step == FILL)
		space_fill(&m->space, &map, clock);
	else
		space_cut(&m->space, map.start, map.end, clock);
	for (unsigned i = from; i < from + n; i++) {
		if (step == CUT)
			m->pages[i] = (struct page){ NULL, 0 };
		else if (step == ADD || !m->pages[i].dso)
			m->pages[i] = (struct page){ dso, pgoff + (i - from) * (uint64_t)PAGE };
	}
}

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(seed >> 33) % n;
}

/* Three spaces, now and then one becomes a copy of another: no change of one shows in the others. */
static void run(unsigned rounds, unsigned longest)
{
	static struct model models[3];
	static struct dso dsos[7];
	uint64_t clock = 0;

	memset(models, 0, sizeof(models));
	for (unsigned i = 0; i < rounds; i++) {
		struct model *m = &models[below(3)];
		uint64_t before = m->space.version;
		unsigned from = below(PAGES), n = 1 + below(longest);

		if (from + n > PAGES)
			n = PAGES - from;
		change(m, below(8) ? ADD : (enum step)below(STEPS), from, n, &dsos[below(7)],
		       below(100) * (uint64_t)PAGE, &clock);
		assert_true(m->space.version == before || m->space.version == clock);
		if (!below(40)) {
			struct model *to = &models[below(3)];

			if (to != m) {
				space_release(&to->space);
				space_share(&to->space, &m->space);
				memcpy(to->pages, m->pages, sizeof(m->pages));
				assert_int_equal(to->space.version, m->space.version);
			}
		}
		if (i % 16 == 0)
			for (unsigned k = 0; k < 3; k++)
				check(&models[k].space, models[k].pages);
	}
	for (unsigned k = 0; k < 3; k++) {
		check(&models[k].space, models[k].pages);
		space_release(&models[k].space);
	}
}

static void test_large_maps(void **state)
{
	(void)state;
	seed = 1;
	run(3000, 200);
}

/* Hundreds of maps: chunks are split and emptied. */
static void test_small_maps(void **state)
{
	(void)state;
	seed = 2;
	run(6000, 2);
}

static void test_versions(void **state)
{
	struct dso dso = { 0 };
	struct map map = { 0x1000, 0x3000, 0, &dso, 5, 2 };
	struct space space = { 0 }, other = { 0 };
	uint64_t clock = 0, version;

	(void)state;
	space_add(&space, &map, &clock);
	version = space.version;
	assert_int_not_equal(version, 0);
	space_add(&space, &map, &clock); /* the same again */
	assert_int_equal(space.version, version);
	space_cut(&space, 0x8000, 0x9000, &clock);
	assert_int_equal(space.version, version);
	map.pgoff = 0x1000;
	space_add(&space, &map, &clock);
	assert_int_not_equal(space.version, version);
	space_share(&other, &space);
	version = space.version;
	space_clear(&space, &clock);
	assert_int_not_equal(space.version, version);
	assert_int_equal(other.version, version);
	assert_non_null(space_find(&other, 0x1000));
	assert_null(space_find(&space, 0x1000));
	space_release(&space);
	space_release(&other);
}

static void test_ends(void **state)
{
	struct dso dso = { 0 };
	struct map top = { UINT64_MAX - 0xfff, UINT64_MAX, 0, &dso, 5, 2 };
	struct map all = { 0, UINT64_MAX, 0, &dso, 5, 2 }, empty = { 5, 5, 0, &dso, 5, 2 };
	struct space space = { 0 };
	uint64_t clock = 0;

	(void)state;
	space_add(&space, &empty, &clock);
	assert_int_equal(space.n, 0);
	space_add(&space, &top, &clock);
	assert_non_null(space_find(&space, UINT64_MAX - 1));
	space_fill(&space, &all, &clock);
	assert_int_equal(space.n, 2);
	assert_non_null(space_find(&space, 0));
	space_cut(&space, 0x1000, 0x2000, &clock);
	assert_int_equal(space.n, 3);
	assert_ptr_equal(space_below(&space, 0x1800), space_find(&space, 0));
	space_add(&space, &all, &clock);
	assert_int_equal(space.n, 1);
	space_release(&space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large_maps),
		cmocka_unit_test(test_small_maps),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
