/* SPDX-License-Identifier: MIT */
/*
 * unwind_cost: frames per second of each unwinder, on one sample of this program itself, taken 27 calls deep, again
 * and again: what it costs when tables have been read. No file, no samples.
 */
#include "unit/unwind_fixture.h"

#include <time.h>

enum { DEPTH = 24, ROUNDS = 20000, FRAMES_MAX = 64 };

static struct own own;
static volatile int keep;

__attribute__((noinline)) static void nest(int depth)
{
	ucontext_t context;

	if (depth)
		nest(depth - 1);
	else if (!getcontext(&context))
		own_take(&own, &context);
	keep++;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void measure(const struct unwinder *unwinder, const char *arch)
{
	struct unwind_options options = { .unwinder = unwinder->name, .file_of = own_file, .file_context = &own };
	struct str err = STR_INIT;
	struct unwind unwind;
	uint64_t ips[FRAMES_MAX], frames = 0;
	double begin, took;

	if (unwind_open(&unwind, arch, &options, &err)) {
		printf("  %-10s %s\n", unwinder->name, err.s);
		str_release(&err);
		return;
	}
	unwind_frames(&unwind, &own.input, ips, FRAMES_MAX);
	begin = now_s();
	for (int i = 0; i < ROUNDS; i++)
		frames += unwind_frames(&unwind, &own.input, ips, FRAMES_MAX);
	took = now_s() - begin;
	printf("  %-10s %8.2f million frames/s of CPU time (%d frames a sample)\n", unwinder->name,
	       (double)frames / took / 1e6, (int)(frames / ROUNDS));
	unwind_close(&unwind);
	str_release(&err);
}

int main(void)
{
	static const struct unwinder *const all[] = { &unwind_rows, &unwind_libunwind, &unwind_libdw };

	own_init(&own);
	nest(DEPTH);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		measure(all[i], own.input.n_regs == 17 ? "x86_64" : "aarch64");
	own_release(&own);
	return 0;
}
