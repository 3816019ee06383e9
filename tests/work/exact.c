/* SPDX-License-Identifier: MIT */
/*
 * Does what its words say, exactly so often, and knows addresses that a test can put a probe on.
 *
 *   exact WORK[:N[:TEXT]]...     one after the other
 *
 * forks and threads hand the works after them to each of N children or threads, and wait for these.
 * Nothing is written except by marks, writes, where, enable and disable: a count of system calls is as
 * exact as the rest.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONTROL_FD = 10, ACK_FD = 11 };
enum { LONGEST_S = 300 }; /* a test that failed leaves nobody who waits for ever */

void called(void);
volatile unsigned int cell;

__attribute__((noinline)) void called(void)
{
	__asm__ volatile("");
}

static struct rusage before_enable, after_enable;

static void do_works(char **words);

static void pages(long n, const char *text)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, (size_t)n * page_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)text;
	if (area == MAP_FAILED)
		err(2, "mmap");
	madvise(area, (size_t)n * page_bytes, MADV_NOHUGEPAGE);
	for (long i = 0; i < n; i++)
		((volatile char *)area)[(size_t)i * page_bytes] = 1;
}

/*
 * N times MARKS page faults, each in the page behind that of the last one, and a short sleep; the address of the
 * first is told before it. Nothing but page tables is used up: what is read there is the page of zeros. It
 * stays on one CPU, so that what was recorded of it until some moment has no gap.
 */
enum { MARKS = 10, MARKS_SLEEP_NS = 2000000 };
static void marks(long n, const char *text)
{
	const struct timespec pause = { .tv_nsec = MARKS_SLEEP_NS };
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)n * MARKS * page_bytes;
	char *at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	cpu_set_t here;

	(void)text;
	if (at == MAP_FAILED)
		err(2, "mmap");
	madvise(at, bytes, MADV_NOHUGEPAGE);
	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	if (sched_setaffinity(0, sizeof(here), &here))
		err(2, "sched_setaffinity");
	printf("%#lx\n", (unsigned long)at);
	fflush(stdout);
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < MARKS; k++, at += page_bytes)
			(void)*(volatile char *)at;
		nanosleep(&pause, NULL);
	}
}

static void writes(long n, const char *text)
{
	int fd = text ? atoi(text) : STDOUT_FILENO;

	for (long i = 0; i < n; i++)
		if (write(fd, "", 0) < 0)
			err(2, "write to %d", fd);
}

static void sleeps(long n, const char *text)
{
	const struct timespec shortest = { .tv_nsec = 1 };

	(void)text;
	for (long i = 0; i < n; i++)
		nanosleep(&shortest, NULL);
}

/* From the CPU it is on, which is 0, to 1 and back. */
static void migrations(long n, const char *text)
{
	(void)text;
	for (long i = 0; i < n; i++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET((i + 1) % 2, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			err(2, "sched_setaffinity");
	}
}

static void stores(long n, const char *text)
{
	(void)text;
	for (long i = 0; i < n; i++)
		cell = (unsigned int)i;
}

static void calls(long n, const char *text)
{
	(void)text;
	for (long i = 0; i < n; i++)
		called();
}

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* n ms of CPU time, in calls within calls. */
static void deep_calls(int depth)
{
	if (depth)
		deep_calls(depth - 1);
	called();
}

static void spins(long n, const char *text)
{
	long end = cpu_ms() + n;

	(void)text;
	while (cpu_ms() < end)
		for (int i = 0; i < 10000; i++)
			deep_calls(5);
}

/* One after the other, each this program again, with nothing to do. */
static void execs(long n, const char *text)
{
	(void)text;
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(2, "fork");
		if (!pid) {
			execl("/proc/self/exe", "exact", NULL);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
	}
}

/* Whatever the parent dies of. */
static void mortal(long n, const char *text)
{
	(void)n, (void)text;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == 1) /* it did so already */
		_exit(1);
}

static void pauses(long n, const char *text)
{
	(void)n, (void)text;
	for (;;)
		pause();
}

/* A page fault each millisecond, for ever. */
static void trickles(long n, const char *text)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)n, (void)text;
	if (page == MAP_FAILED)
		err(2, "mmap");
	for (;;) {
		*(volatile char *)page = 1;
		madvise(page, page_bytes, MADV_DONTNEED);
		nanosleep(&pause, NULL);
	}
}

static void on_signal(int number)
{
	(void)number;
}

/* Until SIGUSR1, which is blocked from main() on: it may come early. */
static void wait_signal(long n, const char *text)
{
	sigset_t none;

	(void)n, (void)text;
	sigemptyset(&none);
	sigsuspend(&none);
}

/* All that is mapped is there from now on, so that what comes has the page faults of its own work and no others. */
static void lock_memory(long n, const char *text)
{
	(void)n, (void)text;
	if (mlockall(MCL_CURRENT))
		err(2, "mlockall");
}

static void name(long n, const char *text)
{
	(void)n;
	prctl(PR_SET_NAME, text ? text : "");
}

/* The offset in its file of an address of this program. */
static unsigned long file_offset(unsigned long address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to, offset;
	char line[4096];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) == 3 && address >= from &&
		    address < to) {
			fclose(maps);
			return address - from + offset;
		}
	errx(2, "%#lx is not mapped", address);
}

/* Addresses are the same in each run under setarch -R. */
static void where(long n, const char *text)
{
	(void)n, (void)text;
	printf("%#lx %#lx %#lx\n", (unsigned long)&cell, (unsigned long)called,
	       file_offset((unsigned long)called));
	fflush(stdout);
}

static void control(const char *word)
{
	char answer[64];

	if (write(CONTROL_FD, word, strlen(word)) < 0 || read(ACK_FD, answer, sizeof(answer)) < 0)
		err(2, "control");
}

static void enable(long n, const char *text)
{
	(void)n, (void)text;
	getrusage(RUSAGE_SELF, &before_enable);
	control("enable\n");
	getrusage(RUSAGE_SELF, &after_enable);
}

static long switches(const struct rusage *r)
{
	return r->ru_nvcsw + r->ru_nivcsw;
}

/* What the kernel's other books say: at least, at most, of switches and then of minor faults. */
static void disable(long n, const char *text)
{
	struct rusage before, after;

	(void)n, (void)text;
	getrusage(RUSAGE_SELF, &before);
	control("disable\n");
	getrusage(RUSAGE_SELF, &after);
	printf("%ld %ld %ld %ld\n", switches(&before) - switches(&after_enable),
	       switches(&after) - switches(&before_enable),
	       before.ru_minflt - after_enable.ru_minflt, after.ru_minflt - before_enable.ru_minflt);
	fflush(stdout);
}

/* n ms of CPU time that are mostly the vdso's, where it has this clock. */
static void clocks(long n, const char *text)
{
	long end = cpu_ms() + n;
	struct timespec t;

	(void)text;
	while (cpu_ms() < end)
		for (int i = 0; i < 10000; i++)
			clock_gettime(CLOCK_MONOTONIC, &t);
}

static const struct work {
	const char *name;
	void (*run)(long n, const char *text);
} works[] = {
	{ "pages", pages },	    /* page faults */
	{ "marks", marks },	    /* page faults, one page after the other, a few at a time */
	{ "writes", writes },	    /* write(2) calls of no bytes, to descriptor TEXT or 1 */
	{ "sleeps", sleeps },	    /* voluntary context switches */
	{ "migrations", migrations },
	{ "stores", stores },	    /* to the variable that `where` tells first */
	{ "calls", calls },	    /* of the function that `where` tells then, with its file offset */
	{ "spins", spins },	    /* ms of CPU time */
	{ "clocks", clocks },	    /* likewise, in the vdso */
	{ "execs", execs },	    /* processes that fork, exec and end */
	{ "mortal", mortal },	    /* ends when the parent does */
	{ "pauses", pauses },	    /* for ever */
	{ "trickles", trickles },
	{ "wait", wait_signal },
	{ "lock", lock_memory },
	{ "name", name },	    /* of the thread: TEXT */
	{ "where", where },
	{ "enable", enable },	    /* by pstat's --control fd:10,11 */
	{ "disable", disable },
};

static void *thread_main(void *words)
{
	do_works(words);
	return NULL;
}

static void in_threads(long n, char **words)
{
	pthread_t *thread = calloc((size_t)n, sizeof(*thread));

	for (long i = 0; i < n; i++)
		if (!thread || pthread_create(&thread[i], NULL, thread_main, words))
			errx(2, "no thread %ld", i);
	for (long i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	free(thread);
}

static void in_children(long n, char **words)
{
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(2, "fork");
		if (!pid) {
			do_works(words);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static const struct work *find(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++)
		if (strlen(works[i].name) == length && !memcmp(works[i].name, word, length))
			return &works[i];
	errx(2, "no such work: %s", word);
}

static void do_works(char **words)
{
	for (; *words; words++) {
		const char *number = strchr(*words, ':');
		const char *text = number ? strchr(number + 1, ':') : NULL;
		long n = number ? atol(number + 1) : 1;

		if (!strncmp(*words, "threads:", 8)) {
			in_threads(n, words + 1);
			return;
		}
		if (!strncmp(*words, "forks:", 6)) {
			in_children(n, words + 1);
			return;
		}
		find(*words, strcspn(*words, ":"))->run(n, text ? text + 1 : NULL);
	}
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_signal };
	sigset_t usr1;

	(void)argc;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	sigaction(SIGUSR1, &act, NULL);
	alarm(LONGEST_S);
	do_works(argv + 1);
	return 0;
}
