/* SPDX-License-Identifier: MIT */
/*
 * Chains of 100,000 frames and trees that fork 2,000 times on one way, printed in every format by a thread with a
 * stack of 128 KiB: nothing that follows the depth of the input recurses.
 */
#include "report_fixture.h"

#include "fmt/fmt.h"

#include <pthread.h>

enum { DEPTH = 100000, FORKS = 2000, STACK_BYTES = 128 << 10 };

/* What leaves is counted: how often a function's name comes in it. */
struct counter {
	const char *name;
	size_t n;
};

static int count(void *context, struct str *text)
{
	struct counter *counter = context;
	size_t len = strlen(counter->name);

	/* Sanitizers measure the rest of the text in each call of strstr(). */
	for (const char *at = text->s; *at; at++)
		counter->n += *at == *counter->name && !strncmp(at, counter->name, len);
	str_reset(text);
	return 0;
}

struct job {
	struct made_report *m;
	const char *format;
	struct counter counter;
	int code;
};

static void *fold_and_print(void *context)
{
	struct job *job = context;
	struct table *table = job->m->table;
	struct output output = { .text = STR_INIT, .write = count, .context = &job->counter };

	hist_fold(table, &job->m->hist);
	table->hists = &job->m->hist;
	table->n_hists = 1;
	job->code = report_format_find(job->format)->print(table, &output);
	if (!job->code)
		job->code = output_end(&output);
	table->hists = NULL; /* made_close has them */
	table->n_hists = 0;
	str_release(&output.text);
	return NULL;
}

/* How often `name` is printed. */
static size_t print_deep(struct made_report *m, const char *format, const char *name)
{
	struct job job = { m, format, { name, 0 }, -1 };
	pthread_attr_t attr;
	pthread_t thread;

	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstacksize(&attr, STACK_BYTES), 0);
	assert_int_equal(pthread_create(&thread, &attr, fold_and_print, &job), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(pthread_attr_destroy(&attr), 0);
	assert_int_equal(job.code, 0);
	return job.counter.n;
}

/* main, then work and leaf by turns. */
static void add_deep(struct made_report *m)
{
	const uint32_t work = made_location(m, &made_work, 4, NULL), leaf = made_location(m, &made_leaf, 4, NULL);
	uint32_t stack = stacks_child(m->table->session->stacks, 0, made_location(m, &made_main, 4, NULL));

	for (size_t i = 0; i < DEPTH; i++)
		stack = stacks_child(m->table->session->stacks, stack, i & 1 ? leaf : work);
	made_sample(m, 0, leaf, stack, 100);
}

/* work calls itself; at each step a sample was taken in leaf instead. */
static void add_forks(struct made_report *m)
{
	const uint32_t work = made_location(m, &made_work, 4, NULL), leaf = made_location(m, &made_leaf, 4, NULL);
	uint32_t stack = 0;

	for (size_t i = 0; i < FORKS; i++) {
		stack = stacks_child(m->table->session->stacks, stack, work);
		made_sample(m, 0, leaf, stacks_child(m->table->session->stacks, stack, leaf), 1);
	}
}

static struct query options_of(enum chain_kind kind, enum chain_order order)
{
	return (struct query){
		.sort = "cpu",
		.chain = { .kind = kind, .order = order, .order_set = true },
	};
}

static void a_long_way(void **state)
{
	static const enum chain_kind kinds[] = { CHAIN_GRAPH, CHAIN_FRACTAL, CHAIN_FLAT, CHAIN_FOLDED };
	struct made_report m;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (int order = CHAIN_CALLER; order <= CHAIN_CALLEE; order++) {
			const struct query options = options_of(kinds[i], (enum chain_order)order);

			assert_int_equal(made_open(&m, &options), 0);
			add_deep(&m);
			assert_int_equal(print_deep(&m, "stdio", "work"), DEPTH / 2);
			made_close(&m);
		}
	}
}

static void forks_on_a_way(void **state)
{
	static const enum chain_kind kinds[] = { CHAIN_GRAPH, CHAIN_FRACTAL };
	struct made_report m;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct query options = options_of(kinds[i], CHAIN_CALLER);

		assert_int_equal(made_open(&m, &options), 0);
		add_forks(&m);
		assert_int_equal(print_deep(&m, "stdio", "leaf"), FORKS);
		made_close(&m);
	}
}

static void json(void **state)
{
	struct query options = options_of(CHAIN_GRAPH, CHAIN_CALLER);
	struct made_report m;

	(void)state;
	for (int forks = 0; forks < 2; forks++) {
		assert_int_equal(made_open(&m, &options), 0);
		(forks ? add_forks : add_deep)(&m);
		assert_int_equal(print_deep(&m, "json", "\"self_samples\""),
				 forks ? 2 * FORKS : DEPTH + 1);
		made_close(&m);
	}
}

static void folded_stacks(void **state)
{
	struct query options = options_of(CHAIN_GRAPH, CHAIN_CALLER);
	struct made_report m;

	(void)state;
	options.needs = NEED_STACKS;
	assert_int_equal(made_open(&m, &options), 0);
	add_deep(&m);
	assert_int_equal(print_deep(&m, "folded", ";work"), DEPTH / 2);
	made_close(&m);
}

/* A caller's tree begins at its outermost frame, a callee's at its innermost: with children, too. */
static void with_children(void **state)
{
	struct made_report m;

	(void)state;
	for (int order = CHAIN_CALLER; order <= CHAIN_CALLEE; order++) {
		struct query options = options_of(CHAIN_GRAPH, (enum chain_order)order);

		options.sort = "sym";
		options.children = 1;
		assert_int_equal(made_open(&m, &options), 0);
		add_deep(&m);
		/* A row, and the end of two trees; what a tree begins with is the row's name. */
		assert_int_equal(print_deep(&m, "stdio", "main"), order == CHAIN_CALLER ? 1 : 3);
		made_close(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_way),
		cmocka_unit_test(forks_on_a_way),
		cmocka_unit_test(json),
		cmocka_unit_test(folded_stacks),
		cmocka_unit_test(with_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
