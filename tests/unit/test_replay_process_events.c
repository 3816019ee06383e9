/* SPDX-License-Identifier: MIT */
/*
 * What happens to processes, as samples see it: names, maps and their changes by fork, exec, exit; the kernel's
 * code; and in which order records take effect.
 */
#include "replay_fixture.h"

static const struct replay_options plain = { .queue_bytes = 0 };

static void expect(struct made_recording *s, const char *log)
{
	recording_run(s, plain);
	assert_string_equal(s->err.s, "");
	assert_int_equal(s->rc, 0);
	assert_string_equal(s->log.s, log);
}

static void test_names(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_sample(&s, 1, 9, 9, 0x1000); /* nobody said who it is */
	recording_sample(&s, 2, 0, 0, 0x1000);
	recording_comm(&s, 3, PID, PID, false, "one");
	recording_sample(&s, 4, PID, PID, 0x1000);
	recording_sample(&s, 5, PID, 43, 0x1000); /* of a known process, but unknown */
	recording_comm(&s, 6, PID, PID, false, "two");
	recording_comm(&s, 7, 9, 9, false, "one");
	recording_sample(&s, 8, PID, PID, 0x1000);
	recording_sample(&s, 9, -1, -1, 0x1000);
	expect(&s, ":9/9 1: 1000=?\nswapper/0 2: 1000=?\none/42 4: 1000=?\n:43/43 5: 1000=?\n"
		   "two/42 8: 1000=?\n:-1/-1 9: 1000=?\n");
	/* swapper, :9, one, :42, :43, two, :-1: each text once */
	assert_int_equal(replay_n_comms(&s.replay), 7);
	assert_int_equal(s.replay.n_threads, 5);
	assert_true(recording_thread(&s, 9)->comm_known);
	assert_null(recording_thread(&s, 1234));
	assert_int_equal(s.replay.first_ns, 1);
	assert_int_equal(s.replay.last_ns, 9);
	recording_release(&s);
}

/* Idle CPUs and, in a PID namespace, all threads outside of it have the number 0. */
static void test_thread_zero(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_sample(&s, 1, 0, 0, 0x1000);
	recording_exit(&s, 2, 0, 0);
	recording_sample(&s, 3, 0, 0, 0x1000);
	recording_sample(&s, 4, 7, 0, 0x1000);
	recording_sample(&s, 5, 0, 5, 0x1000);
	expect(&s, "swapper/0 1: 1000=?\nswapper/0 3: 1000=?\nswapper/0 4: 1000=?\n:5/5 5: 1000=?\n");
	assert_int_equal(replay_n_comms(&s.replay), 2);
	assert_false(recording_thread(&s, 0)->exited);
	recording_release(&s);
}

/* Many processes have the number 0 then, so what one of them maps is nobody's, nor that of a child in the namespace. */
static void test_maps_of_process_zero(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_map(&s, 1, 0, 0x10000, 0x10000, 0, "/lib/a.so");
	recording_sample(&s, 2, 0, 0, 0x14010);
	recording_map(&s, 3, PID, 0x10000, 0x10000, 0, "/lib/a.so");
	recording_fork(&s, 4, OTHER_PID, OTHER_PID, 0, 0);
	recording_sample(&s, 5, OTHER_PID, OTHER_PID, 0x14010);
	recording_sample(&s, 6, PID, PID, 0x14010);
	expect(&s, "swapper/0 2: 14010=?\nswapper/77 5: 14010=?\n:42/42 6: 14010=a.so+4010\n");
	recording_release(&s);
}

static void test_maps_cut_holes(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_map(&s, 1, PID, 0x10000, 0x10000, 0x1000, "/lib/a.so");
	recording_sample(&s, 2, PID, PID, 0x14010);
	recording_map(&s, 3, PID, 0x14000, 0x1000, 0, "/lib/b.so");
	recording_sample(&s, 4, PID, PID, 0x13fff);
	recording_sample(&s, 5, PID, PID, 0x14010);
	recording_sample(&s, 6, PID, PID, 0x15000);
	recording_sample(&s, 7, PID, PID, 0x20000);
	recording_sample(&s, 8, OTHER_PID, OTHER_PID, 0x14010);
	expect(&s, ":42/42 2: 14010=a.so+5010\n:42/42 4: 13fff=a.so+4fff\n"
		   ":42/42 5: 14010=b.so+10\n:42/42 6: 15000=a.so+6000\n:42/42 7: 20000=?\n"
		   ":77/77 8: 14010=?\n");
	recording_release(&s);
}

/* Samples in 0x1000 bytes each from 0x10000 on, after what was mapped. */
static void sample_pages(struct made_recording *s, uint64_t time_ns, int n)
{
	for (int i = 0; i < n; i++)
		recording_sample(s, time_ns, PID, PID, 0x10010 + 0x1000 * (uint64_t)i);
}

/* Of a program all may be moved at once, and more than once; of a library, what has its code at both sides. */
static void test_code_moved_to_memory_without_a_file(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_map(&s, 1, PID, 0x10000, 0x4000, 0x1000, "/bin/prog");
	recording_map(&s, 1, PID, 0x20000, 0x4000, 0x1000, "/lib/a.so");
	recording_map(&s, 2, PID, 0x11000, 0x1000, 0x11000, "//anon");
	recording_map(&s, 3, PID, 0x10000, 0x4000, 0, "//anon");
	recording_map(&s, 3, PID, 0x21000, 0x1000, 0, "//anon");
	recording_map(&s, 3, PID, 0x23000, 0x1000, 0, "//anon"); /* it may have been unmapped before */
	recording_map(&s, 3, PID, 0x13800, 0x1800, 0, "//anon"); /* it is larger */
	sample_pages(&s, 4, 3);
	recording_sample(&s, 4, PID, PID, 0x13810);
	recording_sample(&s, 4, PID, PID, 0x21010);
	recording_sample(&s, 4, PID, PID, 0x23010);
	recording_fork(&s, 5, OTHER_PID, OTHER_PID, PID, PID);
	recording_map(&s, 6, OTHER_PID, 0x10000, 0x1000, 0, "//anon");
	recording_sample(&s, 7, OTHER_PID, OTHER_PID, 0x10010);
	recording_comm(&s, 8, OTHER_PID, OTHER_PID, true, "new");
	recording_map(&s, 9, OTHER_PID, 0x10000, 0x1000, 0, "//anon");
	recording_sample(&s, 9, OTHER_PID, OTHER_PID, 0x10010);
	expect(&s, ":42/42 4: 10010=prog+1010\n:42/42 4: 11010=prog+2010\n:42/42 4: 12010=prog+3010\n"
		   ":42/42 4: 13810=[JIT] tid 42+13810\n:42/42 4: 21010=a.so+2010\n:42/42 4: 23010=[JIT] tid 42+23010\n"
		   ":77/77 7: 10010=prog+1010\nnew/77 9: 10010=[JIT] tid 77+10010\n");
	recording_release(&s);
}

/* As /proc/PID/maps has it, in order: two parts of a file, and what lies between them. */
static void test_code_that_was_moved_before(void **state)
{
	static const struct {
		uint64_t second_start, second_pgoff;
		const char *second, *log;
	} rows[] = {
		{ 0x13000, 0x4000, "/lib/a.so", "a.so+2010" }, /* as far as in the file */
		{ 0x13000, 0x5000, "/lib/a.so", "[JIT] tid 42+11010" },
		{ 0x13000, 0x1000, "/lib/a.so", "[JIT] tid 42+11010" },
		{ 0x13000, 0x4000, "/lib/b.so", "[JIT] tid 42+11010" },
		{ 0x14000, 0x5000, "/lib/a.so", "[JIT] tid 42+11010" }, /* with a gap */
	};

	(void)state;
	for (size_t at = 0; at < 2 * ARRAY_SIZE(rows); at++) {
		size_t i = at / 2;
		bool late = at % 2; /* the last piece between them comes last */
		struct made_recording s;
		char *log = xasprintf(":42/42 1: 11010=%s\n", rows[i].log);

		recording_init(&s);
		recording_map(&s, 0, PID, 0x10000, 0x1000, 0x1000, "/lib/a.so");
		recording_map(&s, 0, PID, 0x11000, 0x1000, 0, "//anon");
		if (late)
			recording_map(&s, 0, PID, rows[i].second_start, 0x1000, rows[i].second_pgoff, rows[i].second);
		recording_map(&s, 0, PID, 0x12000, 0x1000, 0, "//anon");
		if (!late)
			recording_map(&s, 0, PID, rows[i].second_start, 0x1000, rows[i].second_pgoff, rows[i].second);
		recording_sample(&s, 1, PID, PID, 0x11010);
		expect(&s, log);
		free(log);
		recording_release(&s);
	}
}

static void test_data_maps(void **state)
{
	const struct replay_options keep = { .data_maps = true };

	(void)state;
	for (unsigned with = 0; with < 2; with++) {
		struct made_recording s;
		struct record_body data;

		recording_init(&s);
		recording_map(&s, 1, PID, 0x10000, 0x3000, 0, "/lib/a.so");
		data = recording_map_body(2, PID, 0x11000, 0x1000, 0, "/etc/data");
		data.mmap.prot = PROT_RW;
		data.misc |= MISC_MMAP_DATA;
		recording_add(&s, &data);
		recording_sample(&s, 3, PID, PID, 0x11004);
		recording_sample(&s, 4, PID, PID, 0x12004);
		recording_run(&s, with ? keep : plain);
		/* The code that was there is gone in both cases. */
		assert_string_equal(s.log.s, with ? ":42/42 3: 11004=data+4\n"
						    ":42/42 4: 12004=a.so+2004\n"
						  : ":42/42 3: 11004=?\n"
						    ":42/42 4: 12004=a.so+2004\n");
		recording_release(&s);
	}
}

static void test_fork_copies(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_comm(&s, 1, PID, PID, false, "parent");
	recording_map(&s, 2, PID, 0x10000, 0x1000, 0, "/bin/p");
	recording_fork(&s, 3, OTHER_PID, OTHER_PID, PID, PID);
	recording_fork(&s, 4, PID, 43, PID, PID); /* a thread */
	recording_sample(&s, 5, OTHER_PID, OTHER_PID, 0x10008);
	recording_map(&s, 6, PID, 0x20000, 0x1000, 0, "/lib/new.so");
	recording_map(&s, 7, OTHER_PID, 0x30000, 0x1000, 0, "/lib/child.so");
	recording_sample(&s, 8, PID, 43, 0x20008);
	recording_sample(&s, 9, PID, 43, 0x30008);
	recording_sample(&s, 10, OTHER_PID, OTHER_PID, 0x20008);
	recording_sample(&s, 11, OTHER_PID, OTHER_PID, 0x30008);
	expect(&s, "parent/77 5: 10008=p+8\nparent/43 8: 20008=new.so+8\nparent/43 9: 30008=?\n"
		   "parent/77 10: 20008=?\nparent/77 11: 30008=child.so+8\n");
	assert_int_equal(recording_thread(&s, OTHER_PID)->ppid, PID);
	assert_int_equal(recording_thread(&s, OTHER_PID)->start_ns, 3);
	assert_ptr_equal(recording_thread(&s, 43)->address_space, recording_thread(&s, PID)->address_space);
	recording_release(&s);
}

/* Written by a recorder about what runs already: the child's maps follow by themselves. */
static void test_synthesized_fork(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_map(&s, 0, PID, 0x10000, 0x1000, 0, "/bin/p");
	recording_task(&s, RECORD_FORK, MISC_FORK_EXEC, 0, OTHER_PID, OTHER_PID, PID, PID);
	recording_sample(&s, 5, OTHER_PID, OTHER_PID, 0x10008);
	expect(&s, ":77/77 5: 10008=?\n");
	recording_release(&s);
}

static void test_exec(void **state)
{
	const uint64_t ips[] = { 0xffffffff81000010, (uint64_t)-512, 0x10008, 0x20008 };
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_map(&s, 1, PID, 0x10000, 0x1000, 0, "/bin/old");
	recording_comm(&s, 2, PID, PID, true, "new");
	/* Still in the system call: the old program's frame is on the stack. */
	recording_chain(&s, 3, PID, PID, MISC_KERNEL, ips, 4);
	recording_map(&s, 4, PID, 0x20000, 0x1000, 0, "/bin/new");
	recording_chain(&s, 5, PID, PID, MISC_KERNEL, ips, 4);
	recording_sample(&s, 6, PID, PID, 0x20008);
	recording_chain(&s, 7, PID, PID, MISC_KERNEL, ips, 4);
	expect(&s, "new/42 3: ffffffff81000010k=? 10008=old+8 20008=?\n"
		   "new/42 5: ffffffff81000010k=? 10008=old+8 20008=new+8\n"
		   "new/42 6: 20008=new+8\n"
		   "new/42 7: ffffffff81000010k=? 10008=? 20008=new+8\n");
	recording_release(&s);
}

static void test_exit(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	s.log_others = true;
	recording_comm(&s, 1, PID, PID, false, "a");
	recording_map(&s, 2, PID, 0x10000, 0x1000, 0, "/bin/a");
	recording_exit(&s, 3, PID, PID);
	recording_sample(&s, 4, PID, PID, 0x10008); /* they do come */
	recording_fork(&s, 5, PID, PID, OTHER_PID, OTHER_PID); /* the pid again */
	recording_sample(&s, 6, PID, PID, 0x10008);
	expect(&s, "a/42 4: 10008=a+8\n:42/42 6: 10008=?\n");
	assert_has(s.others.s, "EXIT(a)");
	assert_false(recording_thread(&s, PID)->exited);
	recording_release(&s);
}

static void expect_mappers(const struct made_recording *s, const char *path, const char *expected)
{
	int32_t pids[16];
	char text[128] = "";
	size_t n = 0, at = 0;

	for (size_t i = 0; i < s->replay.dsos.n; i++)
		if (!strcmp(s->replay.dsos.v[i]->path, path))
			n = replay_mappers(&s->replay, s->replay.dsos.v[i], pids, ARRAY_SIZE(pids));
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%d ", pids[i]);
	assert_string_equal(text, expected);
}

/* Who had a file mapped, and their relatives: those that may still live. */
static void test_mappers(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_fork(&s, 1, 50, 50, 40, 40);
	recording_map(&s, 2, 50, 0x10000, 0x1000, 0, "/bin/a");
	recording_fork(&s, 3, 60, 60, 50, 50);
	recording_fork(&s, 3, 70, 70, 50, 50);
	recording_map(&s, 4, 50, 0x30000, 0x1000, 0, "/bin/b");
	recording_map(&s, 4, 70, 0x30000, 0x1000, 0, "/bin/b");
	recording_fork(&s, 5, 80, 80, 40, 40);
	recording_map(&s, 5, 80, 0x30000, 0x1000, 0, "/bin/c");
	recording_fork(&s, 6, 80, 81, 80, 80); /* a thread, which outlives the first one */
	recording_exit(&s, 7, 80, 80);
	recording_exit(&s, 7, 50, 50);
	recording_fork(&s, 8, 90, 90, 40, 40);
	recording_map(&s, 8, 90, 0x30000, 0x1000, 0, "/bin/d");
	recording_exit(&s, 9, 90, 90);
	recording_fork(&s, 9, 90, 90, 60, 60); /* the pid again */
	recording_sample(&s, 10, 60, 60, 0x10008);
	expect(&s, ":60/60 10: 10008=a+8\n");
	expect_mappers(&s, "/bin/a", "60 70 40 ");
	expect_mappers(&s, "/bin/b", "70 60 40 ");
	expect_mappers(&s, "/bin/c", "80 40 ");
	/* Another process has the number: it is told, and what it has at the path shows who it is. */
	expect_mappers(&s, "/bin/d", "90 60 40 ");
	assert_true(replay_known_process(&s.replay, 50)->exited);
	assert_false(replay_known_process(&s.replay, 90)->exited);
	assert_null(replay_known_process(&s.replay, 4711));
	recording_release(&s);
}

/* The file that a run-time compiler maps to say where its dump of code is. */
static void test_jit_dumps(void **state)
{
	static const char *const others[] = { "/tmp/jit-.dump", "/tmp/jit-1.dumped", "/tmp/xjit-1.dump",
					      "/jit-1.dump/x", "jit-1.dump" };
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_map(&s, 1, PID, 0x10000, 0x1000, 0, "/var/u/.debug/jit/x/jit-7.dump");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		recording_map(&s, 2, PID, 0x20000, 0x1000, 0, others[i]);
	recording_map(&s, 3, OTHER_PID, 0x10000, 0x1000, 0, "/tmp/jit-1.dump");
	recording_map(&s, 4, OTHER_PID, 0x10000, 0x1000, 0, "/tmp/jit-2.dump");
	recording_sample(&s, 5, PID, PID, 0x10008);
	expect(&s, ":42/42 5: 10008=jit-7.dump+8\n");
	assert_string_equal(replay_known_process(&s.replay, PID)->jit_path, "/var/u/.debug/jit/x/jit-7.dump");
	assert_int_equal(replay_known_process(&s.replay, PID)->jit_inode, 7);
	assert_string_equal(replay_known_process(&s.replay, OTHER_PID)->jit_path, "/tmp/jit-2.dump");
	recording_release(&s);
}

static unsigned gone;

static void count_gone(void *context, struct thread *thread)
{
	(void)context;
	assert_true(thread->exited);
	gone++;
}

/* Memory is bounded by who is alive, and the caller hears of each thread that goes. */
static void test_many_exits(void **state)
{
	enum { N = 5000 };

	(void)state;
	for (unsigned keep = 0; keep < 2; keep++) {
		const struct replay_options options = { .keep_exited = keep };
		struct replay_handlers handlers = { .thread_gone = count_gone };
		struct made_recording s;
		struct str bytes;

		recording_init(&s);
		for (int i = 0; i < N; i++) {
			recording_fork(&s, 10 + (uint64_t)i, 1000 + i, 1000 + i, PID, PID);
			recording_exit(&s, 10 + (uint64_t)i, 1000 + i, 1000 + i);
		}
		recording_bytes(&s, false, &bytes);
		gone = 0;
		assert_int_equal(reader_open_fd(&s.reader, fix_memory_file(bytes.s, bytes.len), "x",
						&s.err),
				 0);
		replay_init(&s.replay, &s.reader.recording, &options);
		assert_int_equal(replay_run(&s.replay, &s.reader.source, &handlers, &s.err), 0);
		assert_int_equal(s.replay.n_threads + gone, N + 2); /* swapper and the parent */
		if (keep)
			assert_int_equal(gone, 0);
		else
			assert_in_range(s.replay.n_threads, 3, 1100);
		assert_int_equal(s.replay.threads[0]->tid, 0);
		assert_int_equal(s.replay.threads[1]->tid, PID);
		assert_int_equal(s.replay.threads[s.replay.n_threads - 1]->tid, 1000 + N - 1);
		str_release(&bytes);
		recording_release(&s);
	}
}

static bool skip_second(void *context, const struct data_event *event)
{
	(void)context;
	return event->index == 1;
}

/* Samples of an event that nobody wants are counted, and nothing is learned of them. */
static void test_skipped_event(void **state)
{
	static const struct replay_options options;
	struct made_recording s;
	struct replay_handlers handlers = { .context = &s, .sample = recording_on_sample, .skips = skip_second };
	struct record_body other;
	struct str bytes;

	(void)state;
	recording_init(&s);
	recording_sample(&s, 1, PID, PID, 0x1000);
	other = fix_sample(fix_ids[2], 2);
	other.sample.pid = other.sample.tid = OTHER_PID;
	recording_add(&s, &other);
	recording_sample(&s, 4, PID, PID, 0x1000);
	recording_bytes(&s, false, &bytes);
	assert_int_equal(reader_open_fd(&s.reader, fix_memory_file(bytes.s, bytes.len), "x", &s.err), 0);
	replay_init(&s.replay, &s.reader.recording, &options);
	assert_int_equal(replay_run(&s.replay, &s.reader.source, &handlers, &s.err), 0);
	assert_non_null(strstr(s.log.s, ":42/42 1: 1000=?\n"));
	assert_non_null(strstr(s.log.s, ":42/42 4: 1000=?\n"));
	assert_null(strstr(s.log.s, " 2: "));
	assert_int_equal(s.replay.counts.samples, 3);
	assert_null(recording_thread(&s, OTHER_PID));
	str_release(&bytes);
	recording_release(&s);
}

/* A tid without FORK in another process than before: it is not the old thread. */
static void test_lost_fork(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_comm(&s, 1, PID, 50, false, "worker");
	recording_map(&s, 2, PID, 0x10000, 0x1000, 0, "/bin/a");
	recording_sample(&s, 3, PID, 50, 0x10000);
	recording_sample(&s, 4, OTHER_PID, 50, 0x10000);
	expect(&s, "worker/50 3: 10000=a+0\n:50/50 4: 10000=?\n");
	recording_release(&s);
}

static void test_kernel(void **state)
{
	struct record_body ksymbol;
	struct made_recording s;
	const uint64_t text = 0xffffffff81000000, module = 0xffffffffc0000000,
		       bpf = 0xffffffffc0200000;

	(void)state;
	recording_init(&s);
	recording_kernel_map(&s, module, 0x2000, 0, "/lib/modules/6.1/kernel/a-b.ko.xz");
	recording_kernel_map(&s, text, 0x1000000, text + 0x40, "[kernel.kallsyms]_text");
	ksymbol = recording_body(RECORD_KSYMBOL, -1, 0, 1);
	ksymbol.ksymbol.addr = bpf;
	ksymbol.ksymbol.len = 0x100;
	ksymbol.ksymbol.kind = 1;
	ksymbol.ksymbol.name = "bpf_prog_1234_x";
	recording_add(&s, &ksymbol);
	recording_sample(&s, 2, PID, PID, text + 0x123);
	recording_sample(&s, 3, PID, PID, text + 0x2000000); /* its start-up code, behind the text */
	recording_sample(&s, 4, PID, PID, module + 0x10);
	recording_sample(&s, 5, PID, PID, module + 0x2000);
	recording_sample(&s, 6, PID, PID, bpf + 0x10);
	ksymbol.id.time_ns = 7;
	ksymbol.ksymbol.flags = 1;
	recording_add(&s, &ksymbol);
	recording_sample(&s, 8, PID, PID, bpf + 0x10);
	recording_sample(&s, 9, PID, PID, text - 1);
	expect(&s, ":42/42 2: ffffffff81000123k=[kernel.kallsyms]+ffffffff81000123\n"
		   ":42/42 3: ffffffff83000000k=[kernel.kallsyms]+ffffffff83000000\n"
		   ":42/42 4: ffffffffc0000010k=[a_b]+ffffffffc0000010\n"
		   ":42/42 5: ffffffffc0002000k=?\n"
		   ":42/42 6: ffffffffc0200010k=bpf_prog_1234_x+ffffffffc0200010\n"
		   ":42/42 8: ffffffffc0200010k=?\n"
		   ":42/42 9: ffffffff80ffffffk=?\n");
	assert_int_equal(s.replay.dsos.v[1]->kind, DSO_KERNEL);
	assert_string_equal(s.replay.dsos.v[1]->path, "[kernel.kallsyms]");
	assert_string_equal(s.replay.dsos.v[1]->ref_symbol, "_text");
	assert_int_equal(s.replay.dsos.v[1]->ref_addr, text + 0x40);
	assert_int_equal(s.replay.dsos.v[0]->kind, DSO_MODULE);
	assert_int_equal(s.replay.dsos.v[0]->start, module);
	assert_int_equal(s.replay.dsos.v[0]->end, module + 0x2000);
	recording_release(&s);
}

static const struct dso *kernel_dso(struct made_recording *s, uint64_t ip)
{
	struct location location;

	replay_locate(&s->replay, s->replay.threads[0], MISC_KERNEL, ip, &location);
	return location.dso;
}

/* Each page of the kernel and of its modules keeps to its own, in any order of asking. */
static void test_kernel_neighbours(void **state)
{
	enum { PAGES = 3000, PAGE = 4096 };
	const uint64_t text = 0xffffffff81000000, module = text + 4000ULL * PAGE;

	(void)state;
	/* The text may be said to be everything: modules that came before stay. */
	for (unsigned whole = 0; whole < 2; whole++) {
		struct made_recording s;

		recording_init(&s);
		recording_kernel_map(&s, module, PAGES * PAGE, 0, "[module]");
		recording_kernel_map(&s, text, whole ? UINT64_MAX - text : 16 * PAGE, text, "[kernel.kallsyms]_text");
		recording_run(&s, plain);
		assert_int_equal(s.replay.dsos.n, 2);
		for (unsigned i = 0; i < PAGES; i++)
			assert_ptr_equal(kernel_dso(&s, text + i * (uint64_t)PAGE),
					 s.replay.dsos.v[1]);
		for (unsigned i = 0; i < PAGES; i++)
			assert_ptr_equal(kernel_dso(&s, module + i * (uint64_t)PAGE),
					 s.replay.dsos.v[0]);
		recording_release(&s);
	}
}

static void test_guest(void **state)
{
	const uint64_t ip = 0xffffffff81000010;
	struct record_body map =
		recording_map_body(0, -1, 0xffffffff81000000, 0x1000, 0, "[guest.kernel.kallsyms.123]_text");
	struct made_recording s;

	(void)state;
	recording_init(&s);
	map.misc = MISC_GUEST_KERNEL;
	recording_add(&s, &map);
	recording_chain(&s, 1, PID, PID, MISC_GUEST_KERNEL, &ip, 1);
	recording_sample(&s, 2, PID, PID, ip);
	recording_chain(&s, 3, PID, PID, MISC_HYPERVISOR, &ip, 1);
	expect(&s, ":42/42 1: ffffffff81000010k=[guest.kernel.kallsyms.123]+ffffffff81000010\n"
		   ":42/42 2: ffffffff81000010k=?\n:42/42 3: ffffffff81000010k=?\n");
	recording_release(&s);
}

static void test_namespaces_and_cgroups(void **state)
{
	uint64_t links[14] = { 0 };
	struct record_body body;
	struct made_recording s;

	(void)state;
	links[12] = 4;
	links[13] = 0xf0000001;
	recording_init(&s);
	body = recording_body(RECORD_NAMESPACES, PID, PID, 1);
	body.namespaces.pid = body.namespaces.tid = PID;
	body.namespaces.links = (struct record_words){ 7, links };
	recording_add(&s, &body);
	body.id.time_ns = 2;
	body.namespaces.pid = body.namespaces.tid = OTHER_PID;
	body.namespaces.links.n = 3; /* of an older kernel */
	recording_add(&s, &body);
	body = recording_body(RECORD_CGROUP, PID, PID, 3);
	body.cgroup.id = 11;
	body.cgroup.path = "/a";
	recording_add(&s, &body);
	body.cgroup.path = "/b";
	recording_add(&s, &body);
	body.cgroup.id = 12;
	recording_add(&s, &body);
	recording_run(&s, plain);
	assert_int_equal(recording_thread(&s, PID)->cgroup_dev, 4);
	assert_int_equal(recording_thread(&s, PID)->cgroup_ino, 0xf0000001);
	assert_int_equal(recording_thread(&s, OTHER_PID)->cgroup_ino, 0);
	assert_string_equal(replay_cgroup(&s.replay, 11), "/b");
	assert_string_equal(replay_cgroup(&s.replay, 12), "/b");
	assert_null(replay_cgroup(&s.replay, 13));
	recording_release(&s);
}

/* ---- order ---- */

static void test_rounds(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_sample(&s, 30, PID, PID, 0x10008); /* one ring */
	recording_sample(&s, 50, PID, PID, 0x10008);
	recording_map(&s, 40, PID, 0x10000, 0x1000, 0, "/bin/a"); /* another */
	recording_plain(&s, RECORD_FINISHED_ROUND);
	recording_comm(&s, 20, PID, PID, false, "late");
	recording_sample(&s, 60, PID, PID, 0x10008);
	recording_plain(&s, RECORD_FINISHED_ROUND);
	recording_sample(&s, 45, PID, PID, 0x10008); /* against the rule: counted */
	recording_map(&s, 0, PID, 0x10000, 0x1000, 0, "/bin/z"); /* synthesized: at once */
	expect(&s, "late/42 30: 10008=?\nlate/42 50: 10008=a+8\nlate/42 45: 10008=z+8\n"
		   "late/42 60: 10008=z+8\n");
	assert_int_equal(s.replay.counts.out_of_order, 1);
	assert_int_equal(s.replay.counts.samples, 4);
	recording_release(&s);
}

static void test_file_order(void **state)
{
	const struct replay_options options = { .file_order = true };
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_sample(&s, 30, PID, PID, 0x10008);
	recording_plain(&s, RECORD_FINISHED_ROUND);
	recording_sample(&s, 20, PID, PID, 0x10008);
	recording_run(&s, options);
	assert_string_equal(s.log.s, ":42/42 30: 10008=?\n:42/42 20: 10008=?\n");
	recording_release(&s);
}

/* Without sample_id_all only samples have a time: the others stay where they are. */
static void test_without_time(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	s.events.v[0]->attr.sample_id_all = s.events.v[1]->attr.sample_id_all = 0;
	recording_comm(&s, 0, PID, PID, false, "a");
	recording_sample(&s, 10, PID, PID, 0x10008);
	recording_comm(&s, 0, PID, PID, false, "b");
	recording_sample(&s, 20, PID, PID, 0x10008);
	recording_comm(&s, 0, PID, PID, false, "c");
	recording_sample(&s, 30, PID, PID, 0x10008);
	expect(&s, "a/42 10: 10008=?\nb/42 20: 10008=?\nc/42 30: 10008=?\n");
	assert_int_equal(s.replay.counts.out_of_order, 0);
	recording_release(&s);
}

static void test_bounded_queue(void **state)
{
	const struct replay_options options = { .queue_bytes = 1000 };
	struct made_recording s;

	(void)state;
	recording_init(&s);
	for (unsigned i = 0; i < 500; i++)
		recording_sample(&s, 1000 - i, PID, PID, 0x10008);
	recording_run(&s, options);
	assert_int_equal(s.n_samples, 500);
	assert_in_range(s.replay.counts.forced, 400, 500);
	assert_true(s.replay.counts.out_of_order > 400);
	recording_release(&s);
}

static void test_pipe(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_map(&s, 10, PID, 0x10000, 0x1000, 0, "/bin/a");
	for (unsigned i = 0; i < 100; i++) {
		recording_sample(&s, 500 - i, PID, PID, 0x10000 + i);
		if (i % 10 == 0)
			recording_plain(&s, RECORD_FINISHED_ROUND);
	}
	recording_run_pipe(&s, plain);
	assert_int_equal(s.n_samples, 100);
	assert_has(s.log.s, ":42/42 401: 10063=a+63\n");
	recording_release(&s);
}

/* ---- what does not go well ---- */

static void test_handler_ends_it(void **state)
{
	struct made_recording s;

	(void)state;
	recording_init(&s);
	for (unsigned i = 0; i < 10; i++)
		recording_sample(&s, 10 + i, PID, PID, 0x10008);
	s.stop_at = 4;
	recording_run(&s, plain);
	assert_int_equal(s.rc, -ECANCELED);
	assert_string_equal(s.err.s, "enough");
	assert_int_equal(s.n_samples, 4);
	recording_release(&s);
}

/* A record that says nonsense is counted, one whose size is wrong ends the reading; what came before is kept. */
static void test_broken(void **state)
{
	static const uint8_t short_comm[8] = { RECORD_COMM, 0, 0, 0, 0, 0, 8, 0 };
	static const uint8_t no_size[8] = { RECORD_COMM, 0, 0, 0, 0, 0, 3, 0 };
	struct made_recording s;

	(void)state;
	recording_init(&s);
	recording_sample(&s, 10, PID, PID, 0x10008);
	str_addn(&s.records, (const char *)short_comm, sizeof(short_comm));
	recording_sample(&s, 20, PID, PID, 0x10008);
	str_addn(&s.records, (const char *)no_size, sizeof(no_size));
	recording_run(&s, plain);
	assert_int_equal(s.rc, -EINVAL);
	assert_has(s.err.s, "its size is 3");
	assert_int_equal(s.n_samples, 2);
	assert_int_equal(s.replay.counts.broken, 1);
	assert_has(s.reader.notes.v[s.reader.notes.n - 1].text, "COMM (3): has 8 bytes");
	recording_release(&s);
}

static void test_hostile_tasks(void **state)
{
	char *name = xmalloc(4097);
	struct made_recording s;

	(void)state;
	memset(name, 'x', 4096);
	name[4096] = '\0';
	recording_init(&s);
	recording_comm(&s, 1, PID, PID, false, name);
	recording_fork(&s, 2, PID, PID, PID, PID); /* itself */
	recording_fork(&s, 3, 1, 1, 2, 2);
	recording_fork(&s, 4, 2, 2, 1, 1);
	recording_fork(&s, 5, -7, -7, -1, -1);
	recording_exit(&s, 6, 99, 99); /* never seen */
	recording_exit(&s, 7, PID, PID);
	recording_exit(&s, 8, PID, PID);
	recording_map(&s, 9, -7, UINT64_MAX - 0xfff, 0x5000, 0, "/wraps");
	recording_map(&s, 10, -7, 0x1000, 0, 0, "/empty");
	recording_map(&s, 11, -7, 0, UINT64_MAX, 0, name);
	recording_sample(&s, 12, -7, -7, 0x1000);
	recording_sample(&s, 13, PID, PID, 0x1000);
	recording_run(&s, plain);
	assert_int_equal(s.rc, 0);
	assert_has(s.log.s, ":-7/-7 12: 1000=xxxx");
	assert_int_equal(s.n_samples, 2);
	recording_release(&s);
	free(name);
}

static void test_counts(void **state)
{
	struct record_body body = recording_body(RECORD_LOST, PID, PID, 1);
	struct made_recording s;

	(void)state;
	recording_init(&s);
	fix_event(&s.events, PERF_COUNT_SW_CONTEXT_SWITCHES, (const uint64_t[]){ 301 }, 1, "context-switches");
	body.lost.id = 101;
	body.lost.lost = 7;
	recording_add(&s, &body);
	recording_add(&s, &body);
	body = recording_body(RECORD_LOST_SAMPLES, PID, PID, 2);
	body.lost.lost = 3;
	recording_add(&s, &body);
	body.misc = MISC_LOST_BY_FILTER;
	body.lost.lost = 50;
	recording_add(&s, &body);
	body = recording_body(RECORD_THROTTLE, PID, PID, 3);
	recording_add(&s, &body);
	body.type = RECORD_UNTHROTTLE;
	recording_add(&s, &body);
	body = fix_sample(999, 4);
	recording_add(&s, &body);
	recording_run(&s, plain);
	assert_int_equal(s.replay.counts.lost_events, 14);
	assert_int_equal(s.replay.counts.lost_samples, 3);
	assert_int_equal(s.replay.counts.throttles, 1);
	assert_int_equal(s.replay.counts.unknown_ids, 1);
	assert_int_equal(s.replay.counts.samples, 1);
	recording_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_thread_zero),
		cmocka_unit_test(test_maps_of_process_zero),
		cmocka_unit_test(test_maps_cut_holes),
		cmocka_unit_test(test_data_maps),
		cmocka_unit_test(test_code_moved_to_memory_without_a_file),
		cmocka_unit_test(test_code_that_was_moved_before),
		cmocka_unit_test(test_fork_copies),
		cmocka_unit_test(test_synthesized_fork),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_mappers),
		cmocka_unit_test(test_jit_dumps),
		cmocka_unit_test(test_many_exits),
		cmocka_unit_test(test_skipped_event),
		cmocka_unit_test(test_lost_fork),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_kernel_neighbours),
		cmocka_unit_test(test_guest),
		cmocka_unit_test(test_namespaces_and_cgroups),
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_file_order),
		cmocka_unit_test(test_without_time),
		cmocka_unit_test(test_bounded_queue),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_handler_ends_it),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_hostile_tasks),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
