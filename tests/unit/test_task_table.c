/* SPDX-License-Identifier: MIT */
/*
 * task_table: fed the records of a recording, it writes what lives. Written, encoded and replayed again, that is the
 * same threads with the same names and maps; and 100,000 processes that came and went leave nothing behind.
 */
#include "replay_fixture.h"

#include "record/task_table.h"
#include "record_text.h"

#include <glob.h>
#include <malloc.h>

enum { CHILD = 43, THREAD = 44 };

/* A recording, and the table that its records are fed to. */
struct fix_table {
	struct made_recording s;
	struct task_table *table;
	struct record_text got;
};

static void table_init(struct fix_table *t, bool data_maps)
{
	memset(t, 0, sizeof(*t));
	recording_init(&t->s);
	t->table = task_table_new(&t->s.events, data_maps);
	str_init(&t->got.text);
}

static void table_release(struct fix_table *t)
{
	task_table_free(t->table);
	str_release(&t->got.text);
	recording_release(&t->s);
}

/* The records of `bytes`, through memory that is spoiled behind each; FINISHED_ROUND ends a round. */
static void feed_bytes(struct task_table *table, const struct str *bytes)
{
	static uint64_t buffer[RECORD_BYTES_MAX / 8 + 1];
	struct str err = STR_INIT;
	struct record record;

	for (size_t at = 0; at < bytes->len; at += record.size) {
		record_from_bytes(&record, (const uint8_t *)bytes->s + at, at, false);
		memcpy(buffer, bytes->s + at, record.size);
		record_from_bytes(&record, (const uint8_t *)buffer, at, false);
		assert_int_equal(task_table_take(table, &record, &err), 0);
		if (record.type == RECORD_FINISHED_ROUND)
			assert_int_equal(task_table_round(table, &err), 0);
		memset(buffer, 0xee, record.size);
	}
	str_release(&err);
}

static void give(struct fix_table *t)
{
	feed_bytes(t->table, &t->s.records);
	str_reset(&t->s.records);
}

static void give_round(struct fix_table *t)
{
	recording_plain(&t->s, RECORD_FINISHED_ROUND);
	give(t);
}

static const char *written(struct fix_table *t)
{
	give(t);
	str_reset(&t->got.text);
	t->got.n = 0;
	assert_int_equal(task_table_write(t->table, record_text_add, &t->got, &t->s.err), 0);
	return t->got.text.s;
}

static void add_mmap(struct made_recording *s, uint64_t time_ns, uint64_t start, const char *path, uint32_t prot,
		     uint64_t generation, uint8_t build_id)
{
	struct record_body body = recording_map_body(time_ns, PID, start, 0x1000, 0x2000, path);

	body.mmap.prot = prot;
	if (!(prot & PROT_EXEC))
		body.misc |= MISC_MMAP_DATA;
	body.mmap.major = 0xfe;
	body.mmap.inode_generation = generation;
	if (build_id) {
		body.misc |= MISC_MMAP_BUILD_ID;
		body.mmap.build_id_size = 20;
		memset(body.mmap.build_id, build_id, sizeof(body.mmap.build_id));
	}
	recording_add(s, &body);
}

static void add_ksymbol(struct made_recording *s, uint64_t time_ns, uint64_t addr, uint16_t kind, uint16_t flags,
			const char *name)
{
	struct record_body body = recording_body(RECORD_KSYMBOL, -1, 0, time_ns);

	body.ksymbol.addr = addr;
	body.ksymbol.len = 0x100;
	body.ksymbol.kind = kind;
	body.ksymbol.flags = flags;
	body.ksymbol.name = name;
	recording_add(s, &body);
}

static void add_cgroup(struct made_recording *s, uint64_t time_ns, uint64_t id, const char *path)
{
	struct record_body body = recording_body(RECORD_CGROUP, 0, 0, time_ns);

	body.cgroup.id = id;
	body.cgroup.path = path;
	recording_add(s, &body);
}

static void add_namespaces(struct made_recording *s, uint64_t time_ns, int pid, int tid)
{
	static const uint64_t links[14] = { 4, 1, 4, 2, 4, 3, 4, 4, 4, 5, 4, 0, 4, 7 };
	struct record_body body = recording_body(RECORD_NAMESPACES, pid, tid, time_ns);

	body.namespaces.pid = (uint32_t)pid;
	body.namespaces.tid = (uint32_t)tid;
	body.namespaces.links = (struct record_words){ 7, links };
	recording_add(s, &body);
}

/* ---- what is written ---- */

static void test_kernel(void **state)
{
	struct fix_table t;

	(void)state;
	table_init(&t, false);
	recording_kernel_map(&t.s, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text");
	recording_kernel_map(&t.s, 0xffffffffc0400000, 0x3000, 0, "/lib/modules/6.1/jbd2.ko");
	add_cgroup(&t.s, 0, 5, "/a");
	/* One in the middle of the kernel's range, one at its beginning, one that goes again. */
	add_ksymbol(&t.s, 10, 0xffffffff81800000, 1, 0, "bpf_prog_1");
	add_ksymbol(&t.s, 11, 0xffffffff81000000, 2, 0, "bpf_trampoline_2");
	add_ksymbol(&t.s, 12, 0xffffffffc0300000, 1, 0, "bpf_prog_3");
	add_ksymbol(&t.s, 13, 0xffffffffc0300000, 1, 1, "bpf_prog_3");
	add_cgroup(&t.s, 14, 6, "/b");
	add_cgroup(&t.s, 15, 5, "/a2");
	assert_string_equal(written(&t),
			    "MMAP -1/0 0xffffffff81000000+0x1000000@0xffffffff81000000 misc 0x1 "
			    "[kernel.kallsyms]_text\n"
			    "MMAP -1/0 0xffffffffc0400000+0x3000@0 misc 0x1 /lib/modules/6.1/jbd2.ko\n"
			    "KSYMBOL 0xffffffff81000000+0x100 kind 2 flags 0 bpf_trampoline_2\n"
			    "KSYMBOL 0xffffffff81800000+0x100 kind 1 flags 0 bpf_prog_1\n"
			    "CGROUP /a2\n"
			    "CGROUP /b\n");
	table_release(&t);
}

static void test_process(void **state)
{
	struct fix_table t;

	(void)state;
	table_init(&t, true);
	recording_task(&t.s, RECORD_FORK, MISC_FORK_EXEC, 0, PID, PID, 0, 0);
	add_namespaces(&t.s, 0, PID, PID);
	recording_comm(&t.s, 0, PID, PID, false, "sh");
	add_mmap(&t.s, 0, 0x10000, "/bin/sh", PROT_RX, 0, 0);
	recording_fork(&t.s, 5, PID, THREAD, PID, PID);
	recording_comm(&t.s, 6, PID, THREAD, false, "worker");
	recording_comm(&t.s, 10, PID, PID, true, "new");
	add_mmap(&t.s, 11, 0x40000, "/lib/id.so", PROT_RX, 0, 0xab);
	add_mmap(&t.s, 12, 0x20000, "/bin/new \n", PROT_RX, 99, 0);
	add_mmap(&t.s, 13, 0x21000, "/bin/new \n", PROT_RW, 99, 0);
	add_mmap(&t.s, 14, 0x50000, "[heap]", PROT_RX, 0, 0);
	add_mmap(&t.s, 15, 0x60000, "[stack]", PROT_RW, 0, 0);
	assert_string_equal(written(&t),
			    "FORK 42/42 of 0/0 misc 0x2000\n"
			    "NAMESPACES 42/42 x x x x x - x\n"
			    "COMM 42/42 new\n"
			    "MMAP2 42/42 0x20000+0x1000@0x2000 fe:0/7 prot 5 flags 2 misc 0x2 /bin/new \\x0a\n"
			    "MMAP2 42/42 0x21000+0x1000@0x2000 fe:0/7 prot 3 flags 2 misc 0x2002 /bin/new \\x0a\n"
			    "MMAP2 42/42 0x40000+0x1000@0x2000 build-id 20 ab prot 5 flags 2 misc 0x4002 /lib/id.so\n"
			    "MMAP2 42/42 0x50000+0x1000@0x2000 0:0/0 prot 5 flags 2 misc 0x2 //anon\n"
			    "MMAP2 42/42 0x60000+0x1000@0x2000 fe:0/7 prot 3 flags 2 misc 0x2002 [stack]\n"
			    "FORK 42/44 of 42/42 misc 0x2000\n"
			    "COMM 42/44 worker\n");
	/* The main thread may go first: the others stand for the process, whose parent stays. */
	recording_exit(&t.s, 20, PID, PID);
	recording_task(&t.s, RECORD_FORK, 0, 21, PID, THREAD + 1, PID, THREAD);
	assert_non_null(strstr(written(&t), "FORK 42/44 of 0/0 misc 0x2000\nCOMM 42/44 worker\nMMAP2 42/44 "));
	assert_non_null(strstr(written(&t), "[stack]\nFORK 42/45 of 42/44 misc 0x2000\nCOMM 42/45 worker\n"));
	assert_null(strstr(written(&t), "42/42"));
	table_release(&t);
}

/* A child that has executed nothing has a copy of its parent's maps; one whose parent is gone has parent 0. */
static void test_children(void **state)
{
	struct fix_table t;

	(void)state;
	table_init(&t, false);
	recording_task(&t.s, RECORD_FORK, MISC_FORK_EXEC, 0, PID, PID, OTHER_PID, OTHER_PID);
	recording_comm(&t.s, 0, PID, PID, false, "sh");
	recording_map(&t.s, 0, PID, 0x10000, 0x1000, 0, "/bin/sh");
	recording_fork(&t.s, 5, CHILD, CHILD, PID, PID);
	assert_string_equal(written(&t), "FORK 42/42 of 77/77 misc 0x2000\n"
					 "COMM 42/42 sh\n"
					 "MMAP2 42/42 0x10000+0x1000@0 0:0/7 prot 5 flags 2 misc 0x2 /bin/sh\n"
					 "FORK 43/43 of 42/42 misc 0\n"
					 "COMM 43/43 sh\n");
	/* Once either has changed, it has maps of its own. */
	recording_map(&t.s, 6, PID, 0x20000, 0x1000, 0, "/lib/a.so");
	assert_non_null(strstr(written(&t), "FORK 43/43 of 42/42 misc 0x2000\n"
					    "COMM 43/43 sh\n"
					    "MMAP2 43/43 0x10000+0x1000@0 0:0/7 prot 5 flags 2 misc 0x2 /bin/sh\n"));
	recording_exit(&t.s, 7, PID, PID);
	assert_string_equal(written(&t), "FORK 43/43 of 0/0 misc 0x2000\n"
					 "COMM 43/43 sh\n"
					 "MMAP2 43/43 0x10000+0x1000@0 0:0/7 prot 5 flags 2 misc 0x2 /bin/sh\n");
	/* The number's next owner is not the parent. */
	recording_fork(&t.s, 8, PID, PID, CHILD, CHILD);
	assert_non_null(strstr(written(&t), "FORK 43/43 of 0/0 misc 0x2000\n"));
	assert_non_null(strstr(written(&t), "FORK 42/42 of 43/43 misc 0\n"));
	table_release(&t);
}

/* What waits for its round is written, too, and what comes later and is older does no harm. */
static void test_cut(void **state)
{
	struct fix_table t;

	(void)state;
	table_init(&t, false);
	recording_comm(&t.s, 10, PID, PID, true, "a");
	recording_map(&t.s, 30, PID, 0x10000, 0x1000, 0, "/bin/a");
	recording_fork(&t.s, 20, CHILD, CHILD, PID, PID);
	assert_string_equal(written(&t), "COMM 42/42 a\n"
					 "MMAP2 42/42 0x10000+0x1000@0 0:0/7 prot 5 flags 2 misc 0x2 /bin/a\n"
					 "FORK 43/43 of 42/42 misc 0x2000\n"
					 "COMM 43/43 a\n");
	recording_comm(&t.s, 25, CHILD, CHILD, true, "b");
	recording_exit(&t.s, 29, PID, PID);
	give_round(&t);
	assert_string_equal(written(&t), "FORK 43/43 of 0/0 misc 0x2000\nCOMM 43/43 b\n");
	table_release(&t);
}

static void test_only_tasks(void **state)
{
	struct fix_table t;

	(void)state;
	assert_false(task_table_wants(RECORD_SAMPLE));
	assert_false(task_table_wants(RECORD_FINISHED_ROUND));
	assert_false(task_table_wants(RECORD_MMAP + 64));
	table_init(&t, false);
	recording_sample(&t.s, 10, PID, PID, 0x10001);
	recording_comm(&t.s, 0, PID, PID, false, "sh");
	assert_string_equal(written(&t), "COMM 42/42 sh\n");
	/* What fn returns ends it, and costs nothing of the table. */
	t.got = (struct record_text){ .text = t.got.text, .stop_after = 1, .stop_code = -ECANCELED };
	assert_int_equal(task_table_write(t.table, record_text_add, &t.got, &t.s.err), -ECANCELED);
	t.got.stop_after = 0;
	assert_string_equal(written(&t), "COMM 42/42 sh\n");
	table_release(&t);
}

/* ---- what is written, replayed ---- */

/* Two replays of native records, and what the first has that lives. */
struct fix_compared {
	struct replay a, b;
	struct decoder decoder;
	struct note_list notes;
	struct info info;
	struct recording_info recording;
};

static void replay_bytes(struct replay *replay, const struct recording_info *recording, const struct str *bytes)
{
	const struct replay_options options = { .data_maps = true };
	const struct replay_handlers handlers = { 0 };
	struct str err = STR_INIT;
	struct record record;

	replay_init(replay, recording, &options);
	replay_begin(replay, &handlers);
	for (size_t at = 0; at < bytes->len; at += record.size) {
		record_from_bytes(&record, (const uint8_t *)bytes->s + at, at, false);
		record.stable = true;
		if (record.type == RECORD_FINISHED_ROUND)
			assert_int_equal(replay_round(replay, &err), 0);
		else
			assert_int_equal(replay_feed(replay, &record, &err), 0);
	}
	assert_int_equal(replay_end(replay, &err), 0);
	str_release(&err);
}

static const struct thread *living(const struct replay *replay, int32_t pid, int32_t tid)
{
	for (size_t i = 0; i < replay->n_threads; i++)
		if (replay->threads[i]->tid == tid && replay->threads[i]->pid == pid && !replay->threads[i]->exited)
			return replay->threads[i];
	return NULL;
}

static void add_maps(const struct address_space *space, struct str *out)
{
	for (const struct map *map = address_space_next(space, NULL); map; map = address_space_next(space, map)) {
		const struct dso *dso = map->dso;
		/* A program of BPF reaches over all places where it ever was. */
		bool whole = dso->kind != DSO_BPF;

		str_addf(out, "  %llx-%llx@%llx %u %u %d ", (unsigned long long)map->start,
			 (unsigned long long)map->end, (unsigned long long)map->pgoff, map->prot, map->flags,
			 (int)dso->kind);
		if (dso->kind == DSO_ANON) {
			str_add(out, "anon\n");
			continue;
		}
		str_addf(out, "%u:%u/%llu.%llu %llx-%llx ref %s %llx kind %u id ", dso->major, dso->minor,
			 (unsigned long long)dso->inode, (unsigned long long)dso->generation,
			 whole ? (unsigned long long)dso->start : 0, whole ? (unsigned long long)dso->end : 0,
			 dso->ref_symbol ? dso->ref_symbol : "", (unsigned long long)dso->ref_addr,
			 dso->ksymbol_kind);
		for (size_t i = 0; i < dso->build_id.size; i++)
			str_addf(out, "%02x", dso->build_id.bytes[i]);
		str_addf(out, " %s\n", dso->path);
	}
}

static void assert_same_maps(const struct address_space *a, const struct address_space *b)
{
	struct str was = STR_INIT, is = STR_INIT;

	add_maps(a, &was);
	add_maps(b, &is);
	assert_string_equal(is.s, was.s);
	str_release(&was);
	str_release(&is);
}

/* Nothing is known of a thread that was only named as another's parent. */
static bool is_nobody(const struct thread *thread)
{
	return thread->tid <= 0 || thread->pid <= 0 ||
	       (thread->ppid == -1 && !thread->comm_known && !thread->address_space->n);
}

/* Not a younger process that has its number now. */
static bool is_parent(const struct thread *parent, const struct thread *thread)
{
	return parent && parent->process_serial < thread->process_serial;
}

/* How many threads and maps the two have in common; the test fails where they differ. */
static size_t compare(const struct replay *a, const struct replay *b)
{
	size_t n = a->kernel->n;

	assert_same_maps(a->kernel, b->kernel);
	for (size_t i = 0; i < a->n_threads; i++) {
		const struct thread *was = a->threads[i], *is = living(b, was->pid, was->tid);

		if (was->exited || is_nobody(was))
			continue;
		assert_non_null(is);
		if (was->comm_known) {
			assert_string_equal(replay_comm(b, is->comm), replay_comm(a, was->comm));
			assert_int_equal(is->start_ns, was->start_ns);
		}
		if (was->tid == was->pid && was->ppid > 0 && was->comm_known)
			assert_int_equal(is->ppid, is_parent(living(a, was->ppid, was->ppid), was) ? was->ppid : 0);
		assert_int_equal(is->cgroup_dev, was->cgroup_dev);
		assert_int_equal(is->cgroup_ino, was->cgroup_ino);
		assert_same_maps(was->address_space, is->address_space);
		n += 1 + was->address_space->n;
	}
	for (size_t i = 0; i < b->n_threads; i++)
		assert_true(is_nobody(b->threads[i]) || living(a, b->threads[i]->pid, b->threads[i]->tid));
	return n;
}

struct fix_writer {
	const struct events *events;
	struct str bytes;
};

static int encode(void *data, const struct record_body *body)
{
	struct fix_writer *writer = data;
	const struct data_event *event = writer->events->v[0];
	struct record_body stamped = *body;
	struct str err = STR_INIT;
	int rc;

	if (event->n_ids)
		stamped.id.id = event->ids[0];
	rc = record_encode(&stamped, event, &writer->bytes, &err);
	str_release(&err);
	return rc;
}

/* Native records with rounds -> table -> records: both replayed, they have the same. */
static size_t round_trip(const struct events *events, const struct str *bytes)
{
	struct task_table *table = task_table_new(events, true);
	struct fix_writer again = { .events = events, .bytes = STR_INIT };
	struct fix_compared c = { .notes = { 0 } };
	struct str err = STR_INIT;
	size_t n;

	info_init(&c.info);
	decoder_init(&c.decoder, events, false);
	c.recording = (struct recording_info){ .events = events, .info = &c.info, .decoder = &c.decoder,
					       .notes = &c.notes };
	feed_bytes(table, bytes);
	assert_int_equal(task_table_write(table, encode, &again, &err), 0);
	replay_bytes(&c.a, &c.recording, bytes);
	replay_bytes(&c.b, &c.recording, &again.bytes);
	assert_int_equal(c.b.counts.broken, 0);
	n = compare(&c.a, &c.b);
	replay_release(&c.a);
	replay_release(&c.b);
	decoder_release(&c.decoder);
	note_list_release(&c.notes);
	info_release(&c.info);
	task_table_free(table);
	str_release(&again.bytes);
	str_release(&err);
	return n;
}

/* All records of a file that a table wants, in this machine's byte order, and its rounds. */
static void read_records(struct reader *reader, struct str *out)
{
	struct record_source *source = &reader->source;
	struct str err = STR_INIT;
	struct record record;
	int rc;

	while ((rc = source->next(source, &record, &err)) > 0) {
		static const struct record_body round = { .type = RECORD_FINISHED_ROUND };
		struct record_body body;

		if (rc == SOURCE_ROUND) {
			assert_int_equal(record_encode(&round, NULL, out, &err), 0);
		} else if (task_table_wants(record.type) && !record_decode(&reader->decoder, &record, &body, &err)) {
			assert_int_equal(record_encode(&body, body.event ? body.event : reader->events.v[0], out, &err),
					 0);
		}
	}
	str_release(&err);
}

static void test_golden(void **state)
{
	glob_t files;
	size_t n = 0;

	(void)state;
	assert_int_equal(glob("tests/golden/*.data", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct str bytes = STR_INIT, err = STR_INIT;
		struct reader reader;

		assert_int_equal(reader_open(&reader, files.gl_pathv[i], &err), 0);
		read_records(&reader, &bytes);
		print_message("%s: ", files.gl_pathv[i]);
		n = round_trip(&reader.events, &bytes);
		print_message("%zu threads and maps\n", n);
		reader_close(&reader);
		str_release(&bytes);
		str_release(&err);
	}
	assert_true(files.gl_pathc > 30);
	globfree(&files);
}

/* A number is given again only when nothing is left that has it; a new thread's namespaces stand behind its FORK. */
static void add_thread(struct made_recording *s, uint64_t time_ns, int pid, int tid, int ppid, int ptid)
{
	if (tid == pid)
		recording_exit(s, time_ns, pid, pid + 100);
	recording_exit(s, time_ns, pid, tid);
	recording_fork(s, time_ns, pid, tid, ppid, ptid);
	add_namespaces(s, time_ns, pid, tid);
}

/*
 * A machine at work, by a fixed sequence of numbers: processes fork, execute, map, unmap, start threads and exit, in
 * two rings that overlap in time.
 */
struct work {
	struct made_recording s;
	uint64_t random, now_ns;
};

static unsigned draw(struct work *work, unsigned n)
{
	work->random = work->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(work->random >> 33) % n;
}

static void work_once(struct work *work)
{
	static const char *const names[] = { "sh", "cc", "ld", "make", "a b", "x\n" };
	static const char *const paths[] = { "/bin/sh", "/bin/cc", "/lib/c.so", "//anon", "[stack]",
					     "/tmp/x (deleted)" };
	struct made_recording *s = &work->s;
	int pid = 100 + (int)draw(work, 40), tid = draw(work, 4) ? pid : pid + 100, other = 100 + (int)draw(work, 40);
	uint64_t at = ++work->now_ns, start = 0x10000 + 0x1000 * (uint64_t)draw(work, 30);
	unsigned file = draw(work, ARRAY_SIZE(paths));
	uint64_t len = 0x1000 * (1ULL + draw(work, 5));
	struct record_body body = recording_map_body(at, pid, start, len, start, paths[file]);

	body.mmap.inode = file < 3 ? 7 + file : 0;
	switch (draw(work, 12)) {
	case 0:
	case 1:
		if (pid != other)
			add_thread(s, at, other, other, pid, tid);
		break;
	case 2:
		add_thread(s, at, pid, pid + 100, pid, pid);
		break;
	case 3:
		recording_exit(s, at, pid, tid);
		break;
	case 4:
		recording_comm(s, at, pid, pid, true, names[draw(work, ARRAY_SIZE(names))]);
		break;
	case 5:
		recording_comm(s, at, pid, tid, false, names[draw(work, ARRAY_SIZE(names))]);
		break;
	case 6:
		add_ksymbol(s, at, 0xffffffffc0000000 + start, 1, draw(work, 2) ? 1 : 0, "bpf_prog");
		break;
	default:
		body.mmap.prot = draw(work, 3) ? PROT_RX : PROT_RW;
		body.misc |= body.mmap.prot & PROT_EXEC ? 0 : MISC_MMAP_DATA;
		recording_add(s, &body);
	}
}

static void test_work(void **state)
{
	size_t n = 0;

	(void)state;
	for (unsigned seed = 0; seed < 40; seed++) {
		struct work work = { .random = seed, .now_ns = 1000 };

		recording_init(&work.s);
		recording_kernel_map(&work.s, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
				     "[kernel.kallsyms]_text");
		for (unsigned i = 0; i < 2000; i++) {
			work_once(&work);
			if (i % 100 == 99)
				recording_plain(&work.s, RECORD_FINISHED_ROUND);
		}
		n += round_trip(&work.s.events, &work.s.records);
		recording_release(&work.s);
	}
	assert_true(n > 40 * 100);
}

/* ---- memory ---- */

/* A shell that starts programs: each forks, executes, maps and exits, and a few live at once. */
static void add_process(struct made_recording *s, uint64_t *now_ns, int i, bool distinct)
{
	int pid = 1000 + i;
	char name[16];

	snprintf(name, sizeof(name), distinct ? "job-%d" : "job", i);
	recording_fork(s, ++*now_ns, pid, pid, PID, PID);
	recording_comm(s, ++*now_ns, pid, pid, true, name);
	recording_map(s, ++*now_ns, pid, 0x400000, 0x2000, 0, "/bin/job");
	recording_map(s, ++*now_ns, pid, 0x7f0000000000, 0x100000, 0x26000, "/lib/libc.so.6");
	recording_map(s, ++*now_ns, pid, 0x7ffff0000000, 0x2000, 0, "[vdso]");
	/* Code made at run time is a file of the process's own, as far as symbols go. */
	if (distinct)
		recording_map(s, ++*now_ns, pid, 0x500000, 0x1000, 0, "//anon");
	recording_exit(s, ++*now_ns, pid, pid);
}

static size_t in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Bytes in use at most, over n processes from number `from` on. */
static size_t storm(struct fix_table *t, uint64_t *now_ns, int from, int n, bool distinct)
{
	enum { A_ROUND = 100 };
	size_t most = 0;

	for (int i = from; i < from + n; i++) {
		size_t used;

		add_process(&t->s, now_ns, i, distinct);
		if (i % A_ROUND)
			continue;
		give_round(t);
		used = in_use();
		most = used > most ? used : most;
	}
	return most;
}

static void test_storm(void **state)
{
	(void)state;
	/* Sanitizers have an allocator of their own, of which mallinfo2() knows nothing. */
	if (!in_use())
		skip();
	for (unsigned distinct = 0; distinct < 2; distinct++) {
		struct fix_table t;
		uint64_t now_ns = 1;
		size_t first, second;

		table_init(&t, false);
		recording_task(&t.s, RECORD_FORK, MISC_FORK_EXEC, 0, PID, PID, 0, 0);
		recording_comm(&t.s, 0, PID, PID, false, "sh");
		/* Of 65,536 numbers of processes a replay knows the relatives. */
		first = storm(&t, &now_ns, 0, 70000, distinct);
		second = storm(&t, &now_ns, 70000, 100000, distinct);
		print_message("in use: %zu bytes, then %zu\n", first, second);
		assert_true(second <= first + first / 50);
		assert_string_equal(written(&t), "FORK 42/42 of 0/0 misc 0x2000\nCOMM 42/42 sh\n");
		table_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_only_tasks),
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
