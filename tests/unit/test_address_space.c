/* SPDX-License-Identifier: MIT */
/*
 * Address spaces against an array with one element per page: whatever is added, cut, filled and shared, each
 * page's map and file offset are those of the array. Snapshots against a writer that goes on.
 */
#include "data_fixture.h"

#include "space/space.h"

#include <pthread.h>

enum { PAGES = 1024, PAGE = 0x1000 };

struct page {
	const struct dso *dso;
	uint64_t offset;
};

static void check(const struct address_space *space, const struct page *pages)
{
	const struct map *map = NULL;
	uint64_t end = 0;
	size_t n = 0;

	for (unsigned i = 0; i < PAGES; i++) {
		const struct map *found = address_space_find(space, i * PAGE + 5);

		if (!pages[i].dso) {
			assert_null(found);
			continue;
		}
		assert_non_null(found);
		assert_ptr_equal(found->dso, pages[i].dso);
		assert_int_equal(i * PAGE - found->start + found->pgoff, pages[i].offset);
	}
	while ((map = address_space_next(space, map)) != NULL) {
		assert_true(map->start >= end);
		assert_true(map->start < map->end);
		end = map->end;
		n++;
	}
	assert_int_equal(n, space->n);
	for (size_t i = 0; i < space->n_chunks; i++)
		assert_in_range(space->chunks[i]->n, 1, MAP_CHUNK_MAX);
}

struct model {
	struct address_space space, covered;
	struct page pages[PAGES];
};

/* What is covered is what has a map, and no two ranges touch. */
static void check_model(const struct model *m)
{
	const struct map *range = NULL;
	uint64_t end = UINT64_MAX;

	check(&m->space, m->pages);
	for (unsigned i = 0; i < PAGES; i++)
		assert_int_equal(!address_space_find(&m->covered, i * PAGE), !m->pages[i].dso);
	while ((range = address_space_next(&m->covered, range)) != NULL) {
		assert_int_not_equal(range->start, end);
		end = range->end;
	}
}

enum step { ADD, FILL, CUT, STEPS };

static void change(struct model *m, enum step step, unsigned from, unsigned n, struct dso *dso,
		   uint64_t pgoff, uint64_t *clock)
{
	struct map map = { from * PAGE, (from + n) * (uint64_t)PAGE, pgoff, dso, 5, 2 };
	uint64_t unused = 0;

	if (step == ADD) {
		address_space_add(&m->space, &map, clock);
		address_space_cover(&m->covered, map.start, map.end);
	} else if (step == FILL) {
		address_space_fill(&m->space, &m->covered, &map, clock);
	} else {
		address_space_cut(&m->space, map.start, map.end, clock);
		address_space_cut(&m->covered, map.start, map.end, &unused);
	}
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

/* Three address spaces, now and then one becomes a copy of another: no change of one shows in the others. */
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
				address_space_release(&to->space);
				address_space_release(&to->covered);
				address_space_share(&to->space, &m->space);
				address_space_share(&to->covered, &m->covered);
				memcpy(to->pages, m->pages, sizeof(m->pages));
				assert_int_equal(to->space.version, m->space.version);
			}
		}
		if (i % 16 == 0)
			for (unsigned k = 0; k < 3; k++)
				check_model(&models[k]);
	}
	for (unsigned k = 0; k < 3; k++) {
		check_model(&models[k]);
		address_space_release(&models[k].space);
		address_space_release(&models[k].covered);
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
	struct address_space space = { 0 }, other = { 0 };
	uint64_t clock = 0, version;

	(void)state;
	address_space_add(&space, &map, &clock);
	version = space.version;
	assert_int_not_equal(version, 0);
	address_space_add(&space, &map, &clock); /* the same again */
	assert_int_equal(space.version, version);
	address_space_cut(&space, 0x8000, 0x9000, &clock);
	assert_int_equal(space.version, version);
	map.pgoff = 0x1000;
	address_space_add(&space, &map, &clock);
	assert_int_not_equal(space.version, version);
	address_space_share(&other, &space);
	version = space.version;
	address_space_clear(&space, &clock);
	assert_int_not_equal(space.version, version);
	assert_int_equal(other.version, version);
	assert_non_null(address_space_find(&other, 0x1000));
	assert_null(address_space_find(&space, 0x1000));
	address_space_release(&space);
	address_space_release(&other);
}

static void test_ends(void **state)
{
	struct dso dso = { 0 };
	struct map top = { UINT64_MAX - 0xfff, UINT64_MAX, 0, &dso, 5, 2 };
	struct map all = { 0, UINT64_MAX, 0, &dso, 5, 2 }, empty = { 5, 5, 0, &dso, 5, 2 };
	struct address_space space = { 0 }, covered = { 0 };
	uint64_t clock = 0;

	(void)state;
	address_space_add(&space, &empty, &clock);
	address_space_fill(&space, &covered, &empty, &clock);
	assert_int_equal(space.n, 0);
	address_space_add(&space, &top, &clock);
	assert_non_null(address_space_find(&space, UINT64_MAX - 1));
	address_space_cover(&covered, top.start, top.end);
	address_space_fill(&space, &covered, &all, &clock);
	assert_int_equal(covered.n, 1);
	assert_int_equal(space.n, 2);
	assert_non_null(address_space_find(&space, 0));
	address_space_cut(&space, 0x1000, 0x2000, &clock);
	assert_int_equal(space.n, 3);
	assert_ptr_equal(address_space_below(&space, 0x1800), address_space_find(&space, 0));
	address_space_add(&space, &all, &clock);
	assert_int_equal(space.n, 1);
	address_space_release(&space);
	address_space_release(&covered);
}

/*
 * 40,000 modules, and after each a map of the whole kernel, which finds one gap: took minutes when each fill looked
 * at all maps below it. The alarm ends a test that would not end.
 */
static void test_many_fills(void **state)
{
	enum { MANY = 40000 };
	struct map whole = { 0, MANY * UINT64_C(2) * PAGE, 0, NULL, 5, 2 };
	struct address_space space = { 0 }, covered = { 0 };
	struct dso module = { 0 }, kernel = { 0 };
	uint64_t clock = 0;

	(void)state;
	whole.dso = &kernel;
	alarm(300);
	for (uint64_t i = 0; i < MANY; i++) {
		struct map map = { i * 2 * PAGE, (i * 2 + 1) * PAGE, 0, &module, 5, 2 };

		address_space_add(&space, &map, &clock);
		address_space_cover(&covered, map.start, map.end);
		address_space_fill(&space, &covered, &whole, &clock);
	}
	alarm(0);
	assert_int_equal(covered.n, 1);
	assert_ptr_equal(address_space_find(&space, 10 * PAGE)->dso, &module);
	assert_ptr_equal(address_space_find(&space, whole.end - 1)->dso, &kernel);
	address_space_release(&space);
	address_space_release(&covered);
}

/* A snapshot stays what it was; the same version is the same one; it outlives its address space. */
static void test_snapshot(void **state)
{
	struct dso dso = { 0 };
	struct map map = { 0x1000, 0x3000, 0, &dso, 5, 2 };
	struct address_space_snapshot *first, *again, *later;
	struct address_space space = { 0 };
	uint64_t clock = 0;

	(void)state;
	address_space_add(&space, &map, &clock);
	first = address_space_snapshot(&space);
	again = address_space_snapshot(&space);
	assert_ptr_equal(first, again);
	assert_int_equal(first->address_space.version, space.version);
	address_space_snapshot_unref(again);
	address_space_cut(&space, 0x1000, 0x2000, &clock);
	assert_non_null(address_space_find(&first->address_space, 0x1000));
	assert_null(address_space_find(&space, 0x1000));
	later = address_space_snapshot(&space);
	assert_ptr_not_equal(first, later);
	address_space_release(&space);
	assert_non_null(address_space_find(&first->address_space, 0x1000));
	assert_null(address_space_find(&later->address_space, 0x1000));
	assert_non_null(address_space_find(&later->address_space, 0x2000));
	address_space_snapshot_unref(first);
	address_space_snapshot_unref(later);
	address_space_snapshot_unref(NULL);
}

/*
 * One writer, several readers. Version v has page i mapped at offset v * PAGES + i, for each i: so a reader sees
 * one version as a whole, or the snapshot has changed.
 */
enum { READERS = 3, WRITES = 3000, SPREAD = 200 };

struct post { /* the writer's last snapshot, as a queue to a worker would hand it on */
	pthread_mutex_t lock;
	struct address_space_snapshot *snapshot;
	bool ended;
};

static struct address_space_snapshot *take_post(struct post *post, bool *ended)
{
	struct address_space_snapshot *snapshot;

	pthread_mutex_lock(&post->lock);
	snapshot = post->snapshot ? address_space_snapshot_ref(post->snapshot) : NULL;
	*ended = post->ended;
	pthread_mutex_unlock(&post->lock);
	return snapshot;
}

static void *read_snapshots(void *context)
{
	struct post *post = context;
	uintptr_t wrong = 0;
	bool ended = false;

	while (!ended) {
		struct address_space_snapshot *snapshot = take_post(post, &ended);
		const struct map *first = snapshot ? address_space_find(&snapshot->address_space, 0) : NULL;

		for (unsigned i = 0; first && i < SPREAD; i++) {
			const struct map *map = address_space_find(&snapshot->address_space, i * 2 * PAGE);

			wrong += !map || map->pgoff != first->pgoff + i;
		}
		wrong += first && snapshot->address_space.n != SPREAD;
		address_space_snapshot_unref(snapshot);
	}
	return (void *)wrong;
}

static void test_threads(void **state)
{
	struct post post = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct address_space_snapshot *snapshot, *old;
	pthread_t readers[READERS];
	struct address_space space = { 0 };
	struct dso dso = { 0 };
	uint64_t clock = 0;

	(void)state;
	for (unsigned r = 0; r < READERS; r++)
		assert_int_equal(pthread_create(&readers[r], NULL, read_snapshots, &post), 0);
	for (uint64_t v = 0; v < WRITES; v++) {
		for (uint64_t i = 0; i < SPREAD; i++) {
			struct map map = { i * 2 * PAGE, i * 2 * PAGE + PAGE, v * PAGES + i, &dso, 5, 2 };

			address_space_add(&space, &map, &clock);
		}
		snapshot = address_space_snapshot(&space);
		pthread_mutex_lock(&post.lock);
		old = post.snapshot;
		post.snapshot = snapshot;
		post.ended = v == WRITES - 1;
		pthread_mutex_unlock(&post.lock);
		address_space_snapshot_unref(old);
	}
	for (unsigned r = 0; r < READERS; r++) {
		void *wrong;

		assert_int_equal(pthread_join(readers[r], &wrong), 0);
		assert_null(wrong);
	}
	address_space_release(&space);
	assert_int_equal(address_space_find(&post.snapshot->address_space, 0)->pgoff, (WRITES - 1) * PAGES);
	address_space_snapshot_unref(post.snapshot);
}

static void test_code(void **state)
{
	static const struct {
		uint32_t prot; /* of a map of one page */
		uint64_t addr; /* from its start */
		bool is_code;
	} rows[] = {
		{ PROT_READ | PROT_EXEC, 0, true },
		{ PROT_READ | PROT_EXEC, PAGE - 1, true },
		{ PROT_READ | PROT_EXEC, PAGE, false },
		{ PROT_READ | PROT_EXEC, (uint64_t)-1, false },
		{ PROT_EXEC, 0, true },
		{ PROT_READ | PROT_WRITE, 0, false },
		{ 0, 0, true }, /* not recorded */
	};
	struct address_space space = { 0 }, child = { 0 };
	struct dso dso = { 0 };
	uint64_t clock = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct map map = { 8 * PAGE, 9 * PAGE, 0, &dso, rows[i].prot, 2 };

		address_space_add(&space, &map, &clock);
		assert_int_equal(address_space_has_code(&space, map.start + rows[i].addr), rows[i].is_code);
	}
	/* vsyscalls */
	assert_true(address_space_has_code(&space, 0xffffffffff600000));
	assert_true(address_space_has_code(&space, 0xffffffffff600fff));
	assert_false(address_space_has_code(&space, 0xffffffffff601000));
	assert_false(address_space_has_code(&space, 0xffffffffff5fffff));
	space.is_whole = true;
	address_space_share(&child, &space);
	assert_true(child.is_whole);
	address_space_clear(&child, &clock);
	assert_false(child.is_whole);
	address_space_release(&child);
	address_space_release(&space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_large_maps),
		cmocka_unit_test(test_small_maps),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_many_fills),
		cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
