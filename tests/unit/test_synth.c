/* SPDX-License-Identifier: MIT */
/*
 * Synthesized records: from a machine of files, where every byte is known, and from this one, where at
 * least this process is.
 */
#include "fake_machine.h"
#include "record/line_reader.h"
#include "record_text.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cmocka.h>

static struct fake_machine machine;
static struct kern kern;
static struct record_text got;
static struct str err = STR_INIT;

static int setup(void **state)
{
	(void)state;
	fake_machine_init(&machine);
	str_init(&got.text);
	kern = (struct kern){ &sys_linux, machine.host };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	str_release(&got.text);
	str_release(&err);
	fake_machine_release(&machine);
	memset(&got, 0, sizeof(got));
	return 0;
}

static void put(const char *text, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void put(const char *text, const char *fmt, ...)
{
	struct str path = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&path, fmt, ap);
	va_end(ap);
	fake_machine_file(&machine, path.s, text);
	str_release(&path);
}

static void put_task(int pid, int tid, const char *comm, char state, int ppid)
{
	struct str stat = STR_INIT;

	str_addf(&stat, "%d (%s) %c %d 1 1 0 -1 4194560 0\n", tid, comm, state, ppid);
	put(stat.s, "proc/%d/task/%d/stat", pid, tid);
	str_release(&stat);
}

static int synth(enum target_kind kind, unsigned what, bool namespaces)
{
	struct target target = { .kind = kind };

	str_reset(&got.text);
	got.n = 0;
	return synth_tasks(&target, what, namespaces, &kern, record_text_add, &got, &err);
}

static void test_one_process(void **state)
{
	(void)state;
	put_task(10, 10, "a) S 7 (b", 'S', 3);
	put_task(10, 11, "a longer name than 15", 'R', 3);
	put("00400000-00401000 r-xp 00001000 fe:0a 123                       /bin/a b\n"
	    "00401000-00402000 rw-p 00002000 fe:0a 123                       /bin/a b\n"
	    "00402000-00403000 rwxs 00000000 00:05 9                          /dev/zero (deleted)\n"
	    "00500000-00501000 ---p 00000000 00:00 0\n"
	    "7f0000000000-7f0000001000 r-xp 00000000 00:00 0 \n"
	    "7fff00000000-7fff00002000 r-xp 00000000 00:00 0                  [vdso]\n"
	    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0          [vsyscall]\n",
	    "proc/10/task/10/maps");
	assert_int_equal(synth(TARGET_CPUS, SYNTH_ALL, false), 0);
	assert_string_equal(got.text.s,
		"FORK 10/10 of 3/3 misc 0x2000\n"
		"COMM 10/10 a) S 7 (b\n"
		"MMAP2 10/10 0x400000+0x1000@0x1000 fe:a/123 prot 5 flags 2 misc 0x2 /bin/a b\n"
		"MMAP2 10/10 0x402000+0x1000@0 0:5/9 prot 7 flags 1 misc 0x2 /dev/zero (deleted)\n"
		"MMAP2 10/10 0x7f0000000000+0x1000@0 0:0/0 prot 5 flags 2 misc 0x2 //anon\n"
		"MMAP2 10/10 0x7fff00000000+0x2000@0 0:0/0 prot 5 flags 2 misc 0x2 [vdso]\n"
		"MMAP2 10/10 0xffffffffff600000+0x1000@0 0:0/0 prot 4 flags 2 misc 0x2 [vsyscall]\n"
		"FORK 10/11 of 10/10 misc 0x2000\n"
		"COMM 10/11 a longer name t\n");
	assert_int_equal(synth(TARGET_CPUS, SYNTH_TASKS, false), 0);
	assert_int_equal(got.n, 4);
	/* What may only be read; what may not even that is never of use. */
	assert_int_equal(synth(TARGET_CPUS, SYNTH_MMAPS | SYNTH_DATA_MMAPS, false), 0);
	assert_int_equal(got.n, 6);
	assert_non_null(strstr(got.text.s, "MMAP2 10/10 0x401000+0x1000@0x2000 fe:a/123 prot 3 flags 2 "
					   "misc 0x2002 /bin/a b\n"));
}

static void test_names_in_maps(void **state)
{
	struct str maps = STR_INIT, expected = STR_INIT;
	size_t start;

	(void)state;
	put_task(10, 10, "x", 'S', 1);
	/* A backslash is not escaped by the kernel; a newline is. */
	str_add(&maps, "1000-2000 r-xp 0 00:01 5 /a\\012b\\134\\012\n");
	str_add(&maps, "2000-3000 r-xp 0 00:01 5 /");
	str_pad(&maps, 'y', 4095);
	/* More than a line can have: left out, and its rest is not taken for a line. */
	str_add(&maps, "\n3000-4000 r-xp 0 00:01 5 ");
	start = maps.len - strlen("3000-4000 r-xp 0 00:01 5 ");
	str_pad(&maps, 'z', start + LINE_READER_BYTES - maps.len);
	str_add(&maps, "3000-4000 r-xp 0 00:01 5 /rest");
	str_add(&maps, "\n4000-5000 r-xp 0 00:01 5 /last, without a newline");
	put(maps.s, "proc/10/task/10/maps");
	assert_int_equal(synth(TARGET_CPUS, SYNTH_MMAPS, false), 0);
	str_add(&expected,
		"MMAP2 10/10 0x1000+0x1000@0 0:1/5 prot 5 flags 2 misc 0x2 /a\\x0ab\\134\\x0a\n"
		"MMAP2 10/10 0x2000+0x1000@0 0:1/5 prot 5 flags 2 misc 0x2 //toolong\n"
		"MMAP2 10/10 0x4000+0x1000@0 0:1/5 prot 5 flags 2 misc 0x2 /last, without a newline\n");
	assert_string_equal(got.text.s, expected.s);
	str_release(&maps);
	str_release(&expected);
}

static void test_broken_files(void **state)
{
	static const char *const stats[] = {
		"", "10", "10 (x", "10 (x)", "10 (x) ", "10 (x) S", "10 )x( S 1", "10 (x)S 1",
	};
	static const char *const maps[] = {
		"2000-1000 r-xp 0 0:0 0 /x\n", "1000 r-xp 0 0:0 0 /x\n", "1000-2000 r-\n", "\n\n",
		"1000-2000 r-xp 0 0:0\n", "11112222333344445-2 r-xp 0 0:0 0 /x\n", "x", "",
		"1000-2000 r-xp 0 0:0 99999999999999999999999 /x\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(stats); i++) {
		put(stats[i], "proc/10/task/10/stat");
		assert_int_equal(synth(TARGET_CPUS, SYNTH_ALL, false), 0);
		assert_string_equal(got.text.s, "");
	}
	put_task(10, 10, "x", 'S', 0);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		put(maps[i], "proc/10/task/10/maps");
		assert_int_equal(synth(TARGET_CPUS, SYNTH_MMAPS, false), 0);
		assert_string_equal(got.text.s, "");
	}
}

/* The main thread has ended; the process goes on, and its maps are those of the others. */
static void test_main_thread_ended(void **state)
{
	(void)state;
	put_task(10, 10, "x", 'Z', 1);
	put("", "proc/10/task/10/maps");
	put_task(10, 12, "y", 'S', 1);
	put("1000-2000 r-xp 0 00:01 5 /lib\n", "proc/10/task/12/maps");
	assert_int_equal(synth(TARGET_CPUS, SYNTH_ALL, false), 0);
	assert_string_equal(got.text.s,
		"FORK 10/10 of 1/1 misc 0x2000\nCOMM 10/10 x\n"
		"FORK 10/12 of 10/10 misc 0x2000\nCOMM 10/12 y\n"
		"MMAP2 10/10 0x1000+0x1000@0 0:1/5 prot 5 flags 2 misc 0x2 /lib\n");
}

static void test_targets(void **state)
{
	struct target_thread threads[] = { { 21, 20, "" }, { 10, 10, "" }, { 22, 20, "" }, { 31, 30, "" } };
	struct target target = { .kind = TARGET_TASKS, .threads = threads, .n_threads = 4 };

	(void)state;
	put_task(10, 10, "ten", 'S', 1);
	put_task(10, 11, "eleven", 'S', 1);
	for (int tid = 20; tid < 24; tid++)
		put_task(20, tid, "t", 'S', 10);
	put("1000-2000 r-xp 0 00:01 5 /lib\n", "proc/20/task/20/maps");
	put("", "proc/self-is-no-number");
	/* -t: these, and the main threads of their processes, which hold the maps; 30 is gone. */
	assert_int_equal(synth_tasks(&target, SYNTH_ALL, false, &kern, record_text_add, &got, &err), 0);
	assert_string_equal(got.text.s,
		"FORK 10/10 of 1/1 misc 0x2000\nCOMM 10/10 ten\n"
		"FORK 20/20 of 10/10 misc 0x2000\nCOMM 20/20 t\n"
		"MMAP2 20/20 0x1000+0x1000@0 0:1/5 prot 5 flags 2 misc 0x2 /lib\n"
		"FORK 20/21 of 20/20 misc 0x2000\nCOMM 20/21 t\n"
		"FORK 20/22 of 20/20 misc 0x2000\nCOMM 20/22 t\n");
	/* -p */
	str_reset(&got.text);
	target.by_process = true;
	intset_add(&target.pids, 10);
	intset_add(&target.pids, 30);
	assert_int_equal(synth_tasks(&target, SYNTH_TASKS, false, &kern, record_text_add, &got, &err), 0);
	assert_string_equal(got.text.s,
		"FORK 10/10 of 1/1 misc 0x2000\nCOMM 10/10 ten\n"
		"FORK 10/11 of 10/10 misc 0x2000\nCOMM 10/11 eleven\n");
	intset_release(&target.pids);
	/* A held command: its maps are still pstat's. */
	str_reset(&got.text);
	target = (struct target){ .kind = TARGET_COMMAND, .threads = threads, .n_threads = 1 };
	threads[0] = (struct target_thread){ 20, 20, "" };
	assert_int_equal(synth_tasks(&target, SYNTH_ALL, false, &kern, record_text_add, &got, &err), 0);
	assert_string_equal(got.text.s, "FORK 20/20 of 10/10 misc 0x2000\nCOMM 20/20 t\n");
}

static void test_stops_when_asked(void **state)
{
	(void)state;
	put_task(10, 10, "x", 'S', 1);
	put_task(10, 11, "x", 'S', 1);
	put("1000-2000 r-xp 0 00:01 5 /lib\n", "proc/10/task/10/maps");
	for (size_t n = 1; n <= 5; n++) {
		got.stop_after = n;
		got.stop_code = -ENOSPC;
		assert_int_equal(synth(TARGET_CPUS, SYNTH_ALL, false), -ENOSPC);
		assert_int_equal(got.n, n);
	}
	got.stop_after = 6;
	assert_int_equal(synth(TARGET_CPUS, SYNTH_ALL, false), 0);
	kern.host.procfs = "/nonexistent/proc";
	assert_int_equal(synth(TARGET_CPUS, SYNTH_ALL, false), -ENOENT);
	assert_string_equal(err.s, "/nonexistent/proc: No such file or directory");
}

static void test_namespaces(void **state)
{
	(void)state;
	put_task(10, 10, "x", 'S', 1);
	put("", "proc/10/task/10/ns/net");
	put("", "proc/10/task/10/ns/cgroup");
	assert_int_equal(synth(TARGET_CPUS, SYNTH_TASKS, true), 0);
	assert_string_equal(got.text.s, "FORK 10/10 of 1/1 misc 0x2000\n"
					"NAMESPACES 10/10 x - - - - - x\nCOMM 10/10 x\n");
}

static void test_cgroups(void **state)
{
	char *mounts = xasprintf("none /proc proc rw 0 0\nnone %s/cg\\040roup cgroup2 rw 0 0\n",
				 machine.root);

	(void)state;
	put(mounts, "proc/mounts");
	put("", "cg roup/a/b/cgroup.procs");
	put("", "cg roup/cgroup.procs");
	assert_int_equal(synth(TARGET_CPUS, SYNTH_CGROUPS, false), 0);
	assert_string_equal(got.text.s, "CGROUP /\nCGROUP /a\nCGROUP /a/b\n");
	free(mounts);
}

static int synth_kern(void)
{
	str_reset(&got.text);
	got.n = 0;
	return synth_kernel(&kern, record_text_add, &got);
}

static void test_kernel(void **state)
{
	(void)state;
	assert_int_equal(synth_kern(), 0);
	assert_string_equal(got.text.s, "");
	put("0000000000000000 A fixed_percpu_data\nffffffff81000000 T _stext\n"
	    "ffffffff81000000 T _text\nffffffff81000010 T x\t[module]\nffffffff81002000 T _etext\n",
	    "proc/kallsyms");
	assert_int_equal(synth_kern(), 0);
	assert_string_equal(got.text.s, "MMAP -1/0 0xffffffff81000000+0x2000@0xffffffff81000000 misc 0x1 "
					"[kernel.kallsyms]_text\n");
	/* The length of iomem goes first: it is the cheaper one, and says the same. */
	put("00001000-0009fbff : System RAM\n00100000-1fffffff : System RAM\n"
	    "  01000000-01002fff : Kernel code\n  01400000-0163afff : Kernel data\n", "proc/iomem");
	assert_int_equal(synth_kern(), 0);
	assert_non_null(strstr(got.text.s, "+0x3000@"));
	put("00000000-00000000 : System RAM\n  00000000-00000000 : Kernel code\n", "proc/iomem");
	assert_int_equal(synth_kern(), 0);
	assert_non_null(strstr(got.text.s, "+0x2000@"));
	/* _stext at a higher address than _text, as on arm64 */
	put("ffff800010000000 T _text\nffff800010010000 T _stext\nffff800010020000 T _etext\n",
	    "proc/kallsyms");
	assert_int_equal(synth_kern(), 0);
	assert_string_equal(got.text.s, "MMAP -1/0 0xffff800010000000+0x20000@0xffff800010000000 "
					"misc 0x1 [kernel.kallsyms]_text\n");
	put("ffff800010010000 T _stext\nffff800010020000 T _etext\n", "proc/kallsyms");
	assert_int_equal(synth_kern(), 0);
	assert_string_equal(got.text.s, "MMAP -1/0 0xffff800010010000+0x10000@0xffff800010010000 "
					"misc 0x1 [kernel.kallsyms]_stext\n");
	/* kptr_restrict */
	put("0000000000000000 T _text\n0000000000000000 T _etext\n", "proc/kallsyms");
	put("a 4096 0 - Live 0x0000000000000000\n", "proc/modules");
	assert_int_equal(synth_kern(), 0);
	assert_string_equal(got.text.s, "");
}

static void test_modules(void **state)
{
	(void)state;
	put("zmod 8192 0 - Live 0xffffffffc0100000 (OE)\n"
	    "amod 4096 1 zmod,\nLive 0xffffffffc0000000\n" /* cut lines */
	    "bmod 16384 1 zmod, Live 0xffffffffc0200000\nx\n", "proc/modules");
	assert_int_equal(synth_kern(), 0);
	assert_string_equal(got.text.s, "MMAP -1/0 0xffffffffc0200000+0x4000@0 misc 0x1 [bmod]\n"
					"MMAP -1/0 0xffffffffc0100000+0x2000@0 misc 0x1 [zmod]\n");
}

static void *wait_for_end(void *data)
{
	pthread_mutex_lock(data);
	pthread_mutex_unlock(data);
	return NULL;
}

/* This process: its name, a second thread, and a page that may be executed. */
static void test_this_machine(void **state)
{
	pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
	struct target target = { .kind = TARGET_TASKS, .by_process = true };
	long page = sysconf(_SC_PAGESIZE);
	void *code = mmap(NULL, (size_t)page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *fork = xasprintf("FORK %d/%d of %d/%d misc 0x2000\n", (int)getpid(), (int)getpid(),
			       (int)getppid(), (int)getppid());
	char *map = xasprintf("MMAP2 %d/%d 0x%llx+%#lx@0 0:0/0 prot 5 flags 2 misc 0x2 //anon\n",
			      (int)getpid(), (int)getpid(), (unsigned long long)(uintptr_t)code,
			      (unsigned long)page);
	pthread_t thread;

	(void)state;
	kern.host.procfs = "/proc";
	assert_ptr_not_equal(code, MAP_FAILED);
	pthread_mutex_lock(&end);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &end), 0);
	intset_add(&target.pids, getpid());
	assert_int_equal(synth_tasks(&target, SYNTH_TASKS | SYNTH_MMAPS, false, &kern, record_text_add,
				     &got, &err), 0);
	pthread_mutex_unlock(&end);
	pthread_join(thread, NULL);
	assert_int_equal(strncmp(got.text.s, fork, strlen(fork)), 0);
	assert_non_null(strstr(got.text.s, map));
	assert_non_null(strstr(strstr(got.text.s, "COMM") + 4, "COMM"));
	munmap(code, (size_t)page);
	intset_release(&target.pids);
	free(fork);
	free(map);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_one_process),	 TEST(test_names_in_maps),
		TEST(test_broken_files), TEST(test_main_thread_ended),
		TEST(test_targets),	 TEST(test_stops_when_asked),
		TEST(test_namespaces),	 TEST(test_cgroups),
		TEST(test_kernel),	 TEST(test_modules),
		TEST(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
