/* SPDX-License-Identifier: MIT */
/*
 * Chains at every single instruction: a program is run step by step, and what its calls and returns do is noted
 * beside it. So the true stack is known in the middle of prologues and epilogues, in procedure linkage tables while
 * the linker resolves a name, in signal handlers, wherever an instruction can be. A complete chain must be that stack
 * from end to end, any other one the begin of it.
 *
 *	test_unwind_steps                    each of the scenarios below, which this program runs itself
 *	test_unwind_steps PROGRAM ARG...     another one: "complete cut no-info broken limit wrong guessed"
 *
 * A program says by the instruction int3 where the steps begin and where they end.
 */
#include "unwind_fixture.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#if defined(__x86_64__)

enum { STACK_BYTES = 32768, DEEP = 4096, REGIONS = 512, SHADOWS = 4, SCENARIO_STACK = 65536, STEPS_MAX = 3000000 };

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#else
#define SANITIZED false
#endif
#endif

/* ---- what the steps are checked against ---- */

struct call {
	uint64_t ret, sp; /* where it returns to, and SP then; of a signal: what it interrupted */
	bool signal;
};

struct shadow { /* of one stack */
	struct call calls[DEEP];
	size_t n, region;
	uint64_t rest[DEEP]; /* the callers of where the steps began */
	size_t n_rest;
};

struct region {
	uint64_t start, end;
};

struct stepped {
	pid_t pid; /* of the thread that came to the first int3 */
	struct own *own;
	struct unwind unwind;
	struct shadow shadows[SHADOWS], *now;
	size_t n_shadows;
	struct region regions[REGIONS];
	size_t n_regions;
	struct user_regs_struct regs;
	uint64_t steps, compared, wrong;
	bool switching; /* another stack is there, but not yet where it goes on */
	bool told;
};

static size_t peek(const struct stepped *s, uint64_t addr, void *bytes, size_t n)
{
	struct iovec to = { bytes, n }, from = { (void *)(uintptr_t)addr, n }; /* NOLINT: another process's */
	ssize_t got = process_vm_readv(s->pid, &to, 1, &from, 1, 0);

	return got < 0 ? 0 : (size_t)got;
}

/* The kernel's code in each process is in no file: a copy of it is one, that stays open until the program ends. */
static void map_vdso(struct stepped *s, uint64_t start, uint64_t end)
{
	static uint8_t code[SCENARIO_STACK];
	size_t n = end - start < sizeof(code) ? end - start : sizeof(code);
	int fd = memfd_create("vdso", MFD_CLOEXEC);
	char path[64];

	assert_int_equal(peek(s, start, code, n), n);
	assert_int_equal(write(fd, code, n), n);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
	own_map(s->own, DSO_VDSO, path, start, end, 0);
}

static void maps_of(struct stepped *s)
{
	char name[64], line[4400], path[4200], prot[8];
	unsigned long long start, end, pgoff;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)s->pid);
	maps = fopen(name, "re");
	assert_non_null(maps);
	s->n_regions = 0;
	while (fgets(line, sizeof(line), maps)) {
		int n = sscanf(line, "%llx-%llx %7s %llx %*s %*s %4199s", &start, &end, prot, &pgoff, path);

		assert_in_range(s->n_regions, 0, REGIONS - 1);
		s->regions[s->n_regions++] = (struct region){ start, end };
		if (n == 5 && prot[2] == 'x' && path[0] == '/')
			own_map(s->own, DSO_FILE, path, start, end, pgoff);
		else if (n == 5 && !strcmp(path, "[vdso]"))
			map_vdso(s, start, end);
	}
	fclose(maps);
}

static size_t region_of(const struct stepped *s, uint64_t addr)
{
	size_t i = 0;

	while (i < s->n_regions && (addr < s->regions[i].start || addr >= s->regions[i].end))
		i++;
	return i;
}

static size_t frames(struct stepped *s, uint64_t *ips)
{
	const struct user_regs_struct *r = &s->regs;
	const uint64_t regs[] = { r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi, r->rbp, r->rsp, r->rip,
				  r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15 };
	size_t region = region_of(s, r->rsp);
	uint64_t there = region < s->n_regions ? s->regions[region].end - r->rsp : 0;
	struct unwind_input input = { .abi = 2,
				      .mask = 0xff01ff,
				      .regs = regs,
				      .n_regs = ARRAY_SIZE(regs),
				      .stack = s->own->stack,
				      .address_space = &s->own->address_space };

	input.stack_bytes = peek(s, r->rsp, s->own->stack, there < STACK_BYTES ? there : STACK_BYTES);
	return unwind_frames(&s->unwind, &input, ips, DEEP);
}

static void complain(struct stepped *s, const uint64_t *ips, size_t n)
{
	const struct shadow *shadow = s->now;

	if (s->told)
		return;
	s->told = true;
	printf("# step %llu, %zu frames:", (unsigned long long)s->steps, n);
	for (size_t i = 0; i < n && i < 30; i++)
		printf(" %#llx", (unsigned long long)ips[i]);
	printf("\n# the truth:");
	for (size_t i = shadow->n; i-- > 0;)
		printf(" %#llx", (unsigned long long)shadow->calls[i].ret);
	printf(" and %zu more\n", shadow->n_rest);
}

/* The chain of this step beside the truth. */
static void compare(struct stepped *s)
{
	static uint64_t ips[DEEP];
	struct unwind_counts before = s->unwind.counts;
	size_t n = frames(s, ips), n_true = 1 + s->now->n + s->now->n_rest;
	bool complete = s->unwind.counts.ends[UNWIND_COMPLETE] > before.ends[UNWIND_COMPLETE];
	bool right = n <= n_true && (!complete || n == n_true) && ips[0] == s->regs.rip;

	for (size_t i = 1; right && i < n; i++) {
		size_t from_top = i - 1;

		right = ips[i] == (from_top < s->now->n ? s->now->calls[s->now->n - 1 - from_top].ret :
							   s->now->rest[from_top - s->now->n]);
	}
	s->compared++;
	s->wrong += !right;
	if (!right)
		complain(s, ips, n);
}

/* ---- what an instruction did ---- */

static bool is_call(const uint8_t *code)
{
	size_t at = 0;

	while (at < 4 && (code[at] == 0x66 || code[at] == 0xf2 || code[at] == 0xf3 || code[at] == 0x3e ||
			  (code[at] & 0xf0) == 0x40))
		at++;
	return code[at] == 0xe8 || (code[at] == 0xff && (code[at + 1] >> 3 & 7) == 2);
}

static void push(struct stepped *s, uint64_t ret, uint64_t sp, bool is_signal)
{
	assert_in_range(s->now->n, 0, DEEP - 1);
	s->now->calls[s->now->n++] = (struct call){ ret, sp, is_signal };
}

/* What has ended: a call when SP is back; a signal when all is where it was. */
static void pop(struct stepped *s)
{
	struct shadow *shadow = s->now;

	while (shadow->n) {
		const struct call *top = &shadow->calls[shadow->n - 1];

		if (top->signal ? s->regs.rip != top->ret || s->regs.rsp != top->sp : s->regs.rsp < top->sp)
			return;
		shadow->n--;
	}
}

/* SP is on another stack now, where something ran before, or begins. */
static void switch_stack(struct stepped *s)
{
	size_t region = region_of(s, s->regs.rsp);
	struct shadow *shadow = s->shadows;
	uint64_t ret = 0;

	while (shadow < s->shadows + s->n_shadows && shadow->region != region)
		shadow++;
	s->now = shadow;
	s->switching = true;
	if (shadow < s->shadows + s->n_shadows)
		return;
	assert_in_range(s->n_shadows, 0, SHADOWS - 1);
	s->n_shadows++;
	shadow->region = region;
	shadow->n = shadow->n_rest = 0;
	peek(s, s->regs.rsp, &ret, sizeof(ret));
	push(s, ret, UINT64_MAX, false);
}

static void note_call(struct stepped *s, uint64_t sp)
{
	uint64_t ret = 0;

	peek(s, s->regs.rsp, &ret, sizeof(ret));
	push(s, ret, sp, false);
}

/* One more instruction; deliver: the signal that it begins with. false: the program has ended, or says so. */
static bool one_step(struct stepped *s, int *deliver)
{
	struct user_regs_struct before = s->regs;
	uint8_t code[8] = { 0 };
	int status, delivered = *deliver;

	peek(s, before.rip, code, sizeof(code));
	if (code[0] == 0xcc)
		return false;
	assert_int_equal(ptrace(PTRACE_SINGLESTEP, s->pid, NULL, (void *)(intptr_t)delivered), 0);
	assert_int_equal(waitpid(s->pid, &status, __WALL), s->pid);
	if (!WIFSTOPPED(status))
		return false;
	*deliver = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	ptrace(PTRACE_GETREGS, s->pid, NULL, &s->regs);
	if (delivered && s->regs.rsp != before.rsp) {
		push(s, before.rip, before.rsp, true);
		note_call(s, s->regs.rsp + 8);
		return true;
	}
	if (region_of(s, s->regs.rsp) != region_of(s, before.rsp) &&
	    !(s->now->n && s->now->calls[s->now->n - 1].signal)) {
		switch_stack(s);
		return true;
	}
	if (!delivered && is_call(code) && s->regs.rsp == before.rsp - 8)
		note_call(s, before.rsp);
	s->switching &= s->regs.rsp <= before.rsp; /* up to the return that ends the switch */
	if (!s->switching)
		pop(s);
	return true;
}

/* ---- a run ---- */

/*
 * Up to the first int3, whichever thread comes to it; what other threads do meanwhile nobody looks at. false: none
 * came to one.
 */
static bool to_begin(struct stepped *s)
{
	pid_t thread = s->pid;
	int status, sig = 0;

	ptrace(PTRACE_SETOPTIONS, s->pid, NULL, (void *)(intptr_t)(PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL));
	while (!ptrace(PTRACE_CONT, thread, NULL, (void *)(intptr_t)sig)) {
		siginfo_t info = { 0 };

		do
			thread = waitpid(-1, &status, __WALL);
		while (thread > 0 && !WIFSTOPPED(status) && thread != s->pid);
		if (thread <= 0 || !WIFSTOPPED(status))
			return false;
		sig = WSTOPSIG(status);
		ptrace(PTRACE_GETSIGINFO, thread, NULL, &info);
		if (sig == SIGTRAP && info.si_code == SI_KERNEL) {
			s->pid = thread;
			return true;
		}
		if (sig == SIGTRAP || sig == SIGSTOP) /* of a clone: told by its parent, and as the thread's first */
			sig = 0;
	}
	return false;
}

/* Where int3 is a function of its own, as in Go, the steps begin in its caller. */
static void leave_begin(struct stepped *s)
{
	uint8_t code = 0;
	int status;

	ptrace(PTRACE_GETREGS, s->pid, NULL, &s->regs);
	if (peek(s, s->regs.rip, &code, 1) && code == 0xc3 && !ptrace(PTRACE_SINGLESTEP, s->pid, NULL, NULL) &&
	    waitpid(s->pid, &status, __WALL) == s->pid)
		ptrace(PTRACE_GETREGS, s->pid, NULL, &s->regs);
}

static bool step_through(struct stepped *s)
{
	static uint64_t ips[DEEP];
	int deliver = 0;
	size_t n;

	if (!to_begin(s))
		return false;
	leave_begin(s);
	maps_of(s);
	s->now = s->shadows;
	s->n_shadows = 1;
	s->now->region = region_of(s, s->regs.rsp);
	n = frames(s, ips);
	memset(&s->unwind.counts, 0, sizeof(s->unwind.counts));
	if (n < 2)
		return false;
	s->now->n_rest = n - 1;
	memcpy(s->now->rest, ips + 1, (n - 1) * sizeof(*ips));
	while (s->steps < STEPS_MAX && one_step(s, &deliver)) {
		s->steps++;
		if (!s->switching)
			compare(s);
	}
	return s->steps;
}

static struct stepped *stepped_new(char *const *argv)
{
	const struct unwind_options options = { .file_of = own_file, .unwinder = getenv("UNWINDER") };
	struct unwind_options mine = options;
	struct stepped *s = xcalloc(1, sizeof(*s));
	struct str err = STR_INIT;
	int status;

	s->own = xcalloc(1, sizeof(*s->own));
	mine.file_context = s->own;
	if (!mine.unwinder)
		mine.unwinder = "rows";
	assert_int_equal(unwind_open(&s->unwind, "x86_64", &mine, &err), 0);
	str_release(&err);
	fflush(stdout);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (!s->pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		_exit(127);
	}
	if (waitpid(s->pid, &status, 0) == s->pid && WIFSTOPPED(status))
		return s;
	s->pid = 0;
	return s;
}

static void stepped_free(struct stepped *s)
{
	if (s->pid) {
		kill(s->pid, SIGKILL);
		while (waitpid(-1, NULL, __WALL) > 0)
			continue;
	}
	unwind_close(&s->unwind);
	own_release(s->own);
	free(s->own);
	free(s);
}

/* ---- scenarios, each run by this program when it is asked for one ---- */

#define INT3() __asm__ volatile("int3")
#ifdef __clang__ /* makes no copies of a function for some of its callers */
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

static volatile int sum;

APART static int leaf(int x)
{
	return x * 3 + sum;
}

APART static int saves_much(int a, int b, int c)
{
	int d = leaf(a), e = leaf(b), f = leaf(c), g = leaf(a + b);

	return leaf(d + e) + leaf(f + g) + (d ^ e) + (f ^ g);
}

APART static int of_any_size(int n)
{
	char *room = __builtin_alloca((size_t)n);

	memset(room, n, (size_t)n);
	return room[n / 2] + leaf(n);
}

/* Its frame is aligned anew: the CFA is in memory, or in another register. */
APART static int aligned(int n)
{
	_Alignas(64) volatile char room[192];

	room[n & 63] = (char)n;
	sum += room[n & 63];
	return saves_much(n, room[n & 63], 3);
}

APART static int aligned_of_any_size(int n)
{
	_Alignas(64) volatile char room[128];
	char *more = __builtin_alloca((size_t)n * 8);

	room[n & 63] = (char)n;
	memset(more, room[n & 63], (size_t)n * 8);
	return leaf(more[n]) + saves_much(n, 2, 1);
}

APART static int recurse(int depth)
{
	return depth ? recurse(depth - 1) + leaf(depth) : of_any_size(40);
}

static void calls(void)
{
	sum += saves_much(1, 2, 3) + of_any_size(100) + aligned(7) + aligned_of_any_size(9) + recurse(30);
}

static int by_value(const void *a, const void *b)
{
	return leaf(*(const int *)a) - leaf(*(const int *)b);
}

/* Each name is resolved when it is first called, unless the program was linked otherwise. */
static void libraries(void)
{
	int values[40];
	char text[200];

	for (int i = 0; i < 40; i++)
		values[i] = i * 7919 % 41;
	qsort(values, 40, sizeof(*values), by_value);
	snprintf(text, sizeof(text), "%d %s %.17g %a", values[3], "text", 1.0 / 3, 1e300);
	sum += (int)strtod(text + 8, NULL) + (int)strtol("123", NULL, 0);
	free(realloc(malloc(100), 100000));
	sum += (int)strlen(strchr(text, 'e'));
}

/* The kernel's code in the process, which asks no kernel. */
static void clocks(void)
{
	struct timespec now;

	for (int i = 0; i < 5; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
		sum += (int)((now.tv_sec ^ time(NULL)) & 1);
	}
}

static void *in_thread(void *none)
{
	INT3();
	calls();
	libraries();
	INT3();
	return none;
}

static void begin_thread(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, in_thread, NULL))
		pthread_join(thread, NULL);
}

static void handler(int number)
{
	sum += saves_much(number, 1, 2);
}

static void signals(void)
{
	struct sigaction action = { .sa_handler = handler };

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	calls();
}

static void signals_on_their_stack(void)
{
	static char room[SCENARIO_STACK];
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

static jmp_buf place;

APART static void jumps(int depth)
{
	if (depth)
		jumps(depth - 1);
	else if (sum != INT_MAX)
		longjmp(place, 1);
	sum++;
}

static void long_jump(void)
{
	for (volatile int i = 0; i < 3; i++)
		if (!setjmp(place))
			jumps(5 * i);
	calls();
}

static ucontext_t here, there;

static void coroutine(void)
{
	for (int i = 0; i < 3; i++) {
		calls();
		swapcontext(&there, &here);
	}
}

static void coroutines(void)
{
	for (int i = 0; i < 3; i++) {
		swapcontext(&here, &there);
		sum += saves_much(1, i, 2);
	}
}

static void prepare_coroutines(void)
{
	getcontext(&there);
	there.uc_stack.ss_sp = mmap(NULL, SCENARIO_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	there.uc_stack.ss_size = SCENARIO_STACK;
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
}

static const struct scenario {
	const char *name;
	void (*prepare)(void);
	void (*run)(void); /* between two int3; NULL: prepare has its own */
	/*
	 * At least so many chains are. The stack of a signal has no more than the frames of its handler; while
	 * longjmp puts registers back, tables say nothing of it, nor that what a coroutine returns to is the
	 * outermost function.
	 */
	unsigned complete_pct;
} scenarios[] = {
	{ "calls", NULL, calls, 100 },
	{ "libraries", NULL, libraries, 99 },
	{ "clocks", NULL, clocks, 99 },
	{ "thread", begin_thread, NULL, 99 },
	{ "signals", NULL, signals, 100 },
	{ "signals_on_their_stack", NULL, signals_on_their_stack, 50 },
	{ "long_jump", NULL, long_jump, 95 },
	{ "coroutines", prepare_coroutines, coroutines, 20 },
};

static int run_scenario(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++)
		if (!strcmp(scenarios[i].name, name)) {
			if (scenarios[i].prepare)
				scenarios[i].prepare();
			if (!scenarios[i].run) /* it is done */
				return 0;
			INT3();
			scenarios[i].run();
			INT3();
			return 0;
		}
	return 1;
}

/* ---- tests ---- */

static void test_scenario(void **state)
{
	const struct scenario *scenario = *state;
	char name[64], path[4096];
	char *const command[] = { path, name, NULL };
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct stepped *s;

	if (SANITIZED) {
		printf("# skip: sanitizers put code and stacks of their own between\n");
		skip();
	}
	assert_true(n > 0);
	path[n] = '\0';
	snprintf(name, sizeof(name), "%s", scenario->name);
	s = stepped_new(command);
	if (!s->pid) {
		stepped_free(s);
		printf("# skip: ptrace(2) is not allowed here\n");
		skip();
	}
	assert_true(step_through(s));
	printf("# %s: %llu steps, %.2f %% complete, %llu guessed\n", scenario->name, (unsigned long long)s->steps,
	       100.0 * (double)s->unwind.counts.ends[UNWIND_COMPLETE] / (double)s->compared,
	       (unsigned long long)s->unwind.counts.guessed);
	assert_int_equal(s->wrong, 0);
	assert_true(s->unwind.counts.ends[UNWIND_COMPLETE] * 100 >= s->compared * scenario->complete_pct);
	stepped_free(s);
}

static int run_other(char **argv)
{
	struct stepped *s = stepped_new(argv);
	const uint64_t *ends = s->unwind.counts.ends;
	bool ran = s->pid && step_through(s);

	if (ran)
		printf("%llu %llu %llu %llu %llu %llu %llu\n", (unsigned long long)ends[UNWIND_COMPLETE],
		       (unsigned long long)ends[UNWIND_TRUNCATED], (unsigned long long)ends[UNWIND_NO_INFO],
		       (unsigned long long)ends[UNWIND_BROKEN], (unsigned long long)ends[UNWIND_LIMIT],
		       (unsigned long long)s->wrong, (unsigned long long)s->unwind.counts.guessed);
	stepped_free(s);
	return ran ? 0 : 77;
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[ARRAY_SIZE(scenarios)] = { { 0 } };

	if (argc == 2 && !strchr(argv[1], '/'))
		return run_scenario(argv[1]);
	if (argc >= 2)
		return run_other(argv + 1);
	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++)
		tests[i] = (struct CMUnitTest){ .name = scenarios[i].name,
						.test_func = test_scenario,
						.initial_state = (void *)(uintptr_t)&scenarios[i] };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void test_steps(void **state)
{
	(void)state;
	printf("# skip: what a call is, this test knows of x86-64 only\n");
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_steps) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
