/* SPDX-License-Identifier: MIT */
/*
 * Recordings made in memory for test_replay_*.c: records are added one by one, then replayed with a handler
 * that writes down what it sees, one line per sample:
 *
 *	NAME/TID TIME: ADDRESS=FILE+OFFSET ...
 *
 * FILE is the base name, "?" where no map was; kernel frames have a 'k' behind the address.
 */
#ifndef REPLAY_FIXTURE_H
#define REPLAY_FIXTURE_H

#include "data_fixture.h"

#include "replay/replay.h"

enum { PID = 42, OTHER_PID = 77 };
enum { PROT_RX = 5, PROT_RW = 3 };

struct made_recording {
	struct events events;
	struct info info;
	struct str records;
	struct str log; /* samples */
	struct str others; /* names of other records, with their thread's name */
	bool log_others;
	int stop_at; /* the handler fails at this sample, from 1; 0: never */
	int n_samples;
	struct reader reader;
	struct replay replay;
	struct str err;
	int rc;
};

static inline void recording_init(struct made_recording *s)
{
	memset(s, 0, sizeof(*s));
	fix_events(&s->events);
	info_init(&s->info);
	str_init(&s->records);
	str_init(&s->log);
	str_init(&s->others);
	str_init(&s->err);
}

static inline void recording_add(struct made_recording *s, const struct record_body *body)
{
	struct str err = STR_INIT;

	assert_int_equal(record_encode(body, body->type < RECORD_USER_FIRST ? s->events.v[0] : NULL,
				       &s->records, &err),
			 0);
	str_release(&err);
}

static inline struct record_body recording_body(uint32_t type, int pid, int tid, uint64_t time_ns)
{
	struct record_body body = { .type = type, .misc = MISC_USER };

	body.id.pid = (uint32_t)pid;
	body.id.tid = (uint32_t)tid;
	body.id.time_ns = time_ns;
	body.id.id = 101;
	return body;
}

static inline void recording_comm(struct made_recording *s, uint64_t time_ns, int pid, int tid, bool exec,
				  const char *comm)
{
	struct record_body body = recording_body(RECORD_COMM, pid, tid, time_ns);

	body.misc = exec ? MISC_COMM_EXEC : 0;
	body.comm.pid = (uint32_t)pid;
	body.comm.tid = (uint32_t)tid;
	body.comm.comm = comm;
	recording_add(s, &body);
}

static inline struct record_body recording_map_body(uint64_t time_ns, int pid, uint64_t start, uint64_t len,
						    uint64_t pgoff, const char *path)
{
	struct record_body body = recording_body(RECORD_MMAP2, pid, pid, time_ns);

	body.mmap = (struct record_mmap){ .pid = (uint32_t)pid,
					  .tid = (uint32_t)pid,
					  .start = start,
					  .len = len,
					  .pgoff = pgoff,
					  .inode = 7,
					  .prot = PROT_RX,
					  .flags = 2,
					  .path = path };
	return body;
}

static inline void recording_map(struct made_recording *s, uint64_t time_ns, int pid, uint64_t start, uint64_t len,
				 uint64_t pgoff, const char *path)
{
	struct record_body body = recording_map_body(time_ns, pid, start, len, pgoff, path);

	recording_add(s, &body);
}

static inline void recording_kernel_map(struct made_recording *s, uint64_t start, uint64_t len, uint64_t pgoff,
					const char *path)
{
	struct record_body body = recording_map_body(0, -1, start, len, pgoff, path);

	body.type = RECORD_MMAP;
	body.misc = MISC_KERNEL;
	recording_add(s, &body);
}

static inline void recording_task(struct made_recording *s, uint32_t type, uint16_t misc, uint64_t time_ns, int pid,
				  int tid, int ppid, int ptid)
{
	struct record_body body = recording_body(type, pid, tid, time_ns);

	body.misc = misc;
	body.task = (struct record_task){ (uint32_t)pid, (uint32_t)ppid, (uint32_t)tid,
					  (uint32_t)ptid, time_ns };
	recording_add(s, &body);
}

static inline void recording_fork(struct made_recording *s, uint64_t time_ns, int pid, int tid, int ppid, int ptid)
{
	recording_task(s, RECORD_FORK, 0, time_ns, pid, tid, ppid, ptid);
}

/* The living thread of this id, or NULL. */
static inline const struct thread *recording_thread(const struct made_recording *s, int tid)
{
	for (size_t i = 0; i < s->replay.n_threads; i++)
		if (s->replay.threads[i]->tid == tid && !s->replay.threads[i]->exited)
			return s->replay.threads[i];
	return NULL;
}

static inline void recording_exit(struct made_recording *s, uint64_t time_ns, int pid, int tid)
{
	recording_task(s, RECORD_EXIT, 0, time_ns, pid, tid, PID, PID);
}

static inline void recording_chain(struct made_recording *s, uint64_t time_ns, int pid, int tid, uint16_t mode,
				   const uint64_t *ips, uint64_t n)
{
	struct record_body body = fix_sample(101, time_ns);

	body.misc = mode;
	body.sample.pid = (uint32_t)pid;
	body.sample.tid = (uint32_t)tid;
	body.sample.ip = n ? ips[0] : 0;
	body.sample.ips = ips;
	body.sample.n_ips = n;
	recording_add(s, &body);
}

static inline void recording_sample(struct made_recording *s, uint64_t time_ns, int pid, int tid, uint64_t ip)
{
	recording_chain(s, time_ns, pid, tid, ip >> 63 ? MISC_KERNEL : MISC_USER, &ip, 1);
}

static inline void recording_plain(struct made_recording *s, uint32_t type)
{
	struct record_body body = { .type = type };

	recording_add(s, &body);
}

static inline int recording_on_sample(void *context, struct replay *replay, const struct replay_sample *sample,
				      struct str *err)
{
	struct made_recording *s = context;
	uint8_t mode = sample->mode;

	if (++s->n_samples == s->stop_at) {
		str_add(err, "enough");
		return -ECANCELED;
	}
	str_addf(&s->log, "%s/%d %llu:", replay_comm(replay, sample->thread->comm),
		 sample->thread->tid, (unsigned long long)sample->sample->time_ns);
	for (uint64_t i = 0; i < sample->n_ips; i++) {
		struct location location;

		if (context_mode(sample->ips[i], &mode))
			continue;
		replay_locate(replay, sample->thread, mode, sample->ips[i], &location);
		assert_int_equal(location.mode, mode);
		str_addf(&s->log, " %llx%s=%s", (unsigned long long)sample->ips[i], mode == MISC_USER ? "" : "k",
			 location.dso ? location.dso->name : "?");
		if (location.dso)
			str_addf(&s->log, "+%llx", (unsigned long long)location.addr);
	}
	str_add(&s->log, sample->user_frames_missing ? " missing\n" : "\n");
	return 0;
}

static inline int recording_on_other(void *context, struct replay *replay, const struct record *record,
				     const struct record_body *body, struct thread *thread, struct str *err)
{
	struct made_recording *s = context;

	(void)body, (void)err;
	if (s->log_others)
		str_addf(&s->others, "%s(%s) ", record_name(record->type),
			 thread ? replay_comm(replay, thread->comm) : "-");
	return 0;
}

/* The whole recording, as a file whose data are s->records. */
static inline void recording_bytes(const struct made_recording *s, bool pipe, struct str *bytes)
{
	struct writer_options options = { .pipe = pipe };
	struct writer writer;
	struct str err = STR_INIT;
	char path[256];

	fix_path(path, sizeof(path), "recording");
	options.path = path;
	unlink(path);
	assert_int_equal(writer_open(&writer, &options, &s->events, &s->info, &err), 0);
	assert_int_equal(writer_add(&writer, s->records.s, s->records.len, &err), 0);
	assert_int_equal(writer_finish(&writer, &s->events, &s->info, &err), 0);
	writer_close(&writer);
	str_init(bytes);
	assert_int_equal(read_text_file(path, bytes), 0);
	unlink(path);
	str_release(&err);
}

static inline void recording_run_fd(struct made_recording *s, int fd, struct replay_options options)
{
	const struct replay_handlers handlers = { .context = s,
						  .sample = recording_on_sample,
						  .other = recording_on_other };

	if (reader_open_fd(&s->reader, fd, "recording", &s->err))
		fail_msg("%s", s->err.s);
	replay_init(&s->replay, &s->reader.recording, &options);
	s->rc = replay_run(&s->replay, &s->reader.source, &handlers, &s->err);
}

static inline void recording_run(struct made_recording *s, struct replay_options options)
{
	struct str bytes;

	recording_bytes(s, false, &bytes);
	recording_run_fd(s, fix_memory_file(bytes.s, bytes.len), options);
	str_release(&bytes);
}

/* Through a pipe, where no record's bytes stay. */
static inline void recording_run_pipe(struct made_recording *s, struct replay_options options)
{
	struct str bytes;
	int fds[2];

	recording_bytes(s, true, &bytes);
	assert_true(bytes.len < 60000);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write_all(fds[1], bytes.s, bytes.len), 0);
	close(fds[1]);
	recording_run_fd(s, fds[0], options);
	str_release(&bytes);
}

static inline void recording_release(struct made_recording *s)
{
	replay_release(&s->replay);
	reader_close(&s->reader);
	events_release(&s->events);
	info_release(&s->info);
	str_release(&s->records);
	str_release(&s->log);
	str_release(&s->others);
	str_release(&s->err);
}

#endif
