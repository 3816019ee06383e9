/* SPDX-License-Identifier: MIT */
/*
 * buildid_reader: reads build-ids while the recording goes on, and never makes it wait. Private to record/.
 *
 *   buildid_set --request--> queue --> thread --question--> helper: looks for the file, opens, reads
 *        ^------ answered requests <----'     <---reply---'
 *
 * The thread touches no file: whatever a path leads to, only a helper (util/helper.h) waits for it. A helper that has
 * said nothing for BUILDID_STUCK_MS, and not for want of a CPU, is left to its file, and another one takes what else it
 * was to do; files of the same device wait for the first. It may be HELPERS_MAX times so; one that answers late is as
 * good as any.
 *
 * With a reply may come the file itself, open, for whoever wants its bytes when its name leads nowhere any more; not
 * from file systems that may not answer when these bytes are read (foreign_may_wait).
 */
#ifndef PSTAT_BUILDID_READER_H
#define PSTAT_BUILDID_READER_H

#include "kern/kern.h"
#include "space/space.h"

#include <limits.h>

enum {
	BUILDID_STUCK_MS = 1000,
	BUILDID_WAIT_MS = 2000, /* for the next answer or change of helper, at the end of a recording */
	BUILDID_WAIT_ALL_MS = 20000, /* for all of them, however they come */
	/* The highest descriptor of a file that is held, and how many are left to others: the next file, its reader. */
	BUILDID_FDS_MAX = 4096,
	BUILDID_FDS_LEFT = 128,
};

enum buildid_kind {
	BUILDID_OF_FILE,
	BUILDID_OF_MODULE, /* of the kernel */
	BUILDID_OF_VDSO,
};

/* A question and its reply cross the socket as one packet each. */
struct buildid_question {
	uint32_t number; /* of the request, by which its reply is known */
	uint8_t kind; /* enum buildid_kind */
	uint8_t n_seen;
	bool hold; /* the open file is wanted, too */
	uint64_t inode; /* which it has to be; of a file */
	struct mapping_seen seen[MAPPED_SEEN_MAX]; /* the newest last; `root`, a pointer, is NULL in each */
};

struct buildid_packet { /* as long as the path is, with its NUL */
	struct buildid_question question;
	char path[PATH_MAX];
};

struct buildid_reply {
	uint32_t number;
	bool found; /* the file, whether it has a build-id or not */
	struct build_id id;
};

struct buildid_request {
	struct buildid_request *next; /* of those that are answered */
	size_t file; /* the asker's own */
	uint64_t device;
	unsigned tries; /* left; 0: it was found, or will not be */
	bool seen_again; /* since it was sent */
	struct build_id id; /* the answer; size 0: none */
	int fd; /* the file, open, the asker's; -1: none */
	struct buildid_question question;
	char path[]; /* after the question, as in a packet */
};

struct buildid_reader;
/* Starts nothing. kern is borrowed. */
struct buildid_reader *buildid_reader_new(const struct kern *kern);
/*
 * Forks the first helper. To be called before there are other threads, if at all: what they hold while a process is
 * forked, an allocator's lock for one, is held in the helper for ever, unless the C library sees to that.
 */
void buildid_reader_prepare(struct buildid_reader *reader);
/* Starts the thread, which the first question does else. */
void buildid_reader_begin(struct buildid_reader *reader);
/* Leaves helpers behind that do not answer; does not wait for a file system. */
void buildid_reader_free(struct buildid_reader *reader);

/*
 * For one asking thread. A request belongs to the reader from buildid_reader_ask() until buildid_reader_answered()
 * gives it back. Neither these nor buildid_reader_see() wait for anything but a lock that is held for moments.
 */
void buildid_reader_ask(struct buildid_reader *reader, struct buildid_request *request);
/* The file of a request that was asked for was mapped again, elsewhere. */
void buildid_reader_see(struct buildid_reader *reader, struct buildid_request *request,
			const struct mapping_seen *seen);
/* Gives the answered requests, as a list that is the caller's, to free one by one, and fds. NULL: none. Cheap. */
struct buildid_request *buildid_reader_answered(struct buildid_reader *reader);
/*
 * Waits until all is answered, or no answer has come for BUILDID_WAIT_MS since the last one and the last question.
 * What was waited for in vain once is not waited for again.
 */
void buildid_reader_wait(struct buildid_reader *reader);
/* 0, or the errno of the first helper or thread that could not be started: then nothing is answered. */
int buildid_reader_failure(struct buildid_reader *reader);

/* buildid_file.c: the helper's side: the answer of struct helper_work. data: struct kern. */
int buildid_answer(void *data, const struct helper_question *question, void *answer);
/* The kernel's file with its notes; false: it has no build-id. */
bool buildid_of_notes(const char *path, struct build_id *id);

#endif
