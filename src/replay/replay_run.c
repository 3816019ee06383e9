/*
 * replay_run.c: from the first record to the last. A record with a time waits in `order` for its round;
 * those of the recorder (type 64 and above), synthesized ones (time 0) and all, where nothing has a
 * time, take effect at once.
 */
#include "replay/folder.h"
#include "replay/state.h"
#include "replay/story.h"

#include <stdlib.h>

enum {
	QUEUE_BYTES = 256 << 20,
	FOLDER_ROUND =
		16384, /* records of a folder, which has no rounds: they are nearly in order */
	PROGRESS_EVERY = 16384,
};

void replay_init(struct replay *replay, struct reader *reader, const struct replay_options *options)
{
	struct replay_private *p = xcalloc(1, sizeof(*p));

	memset(replay, 0, sizeof(*replay));
	replay->reader = reader;
	replay->options = *options;
	if (!replay->options.queue_bytes)
		replay->options.queue_bytes = QUEUE_BYTES;
	replay->private = p;
	replay->kernel = xcalloc(1, sizeof(*replay->kernel));
	replay->guest_kernel = xcalloc(1, sizeof(*replay->guest_kernel));
	order_init(&p->order, reader->swap);
	process_table_init(replay);
	story_take_build_ids(replay);
}

void replay_release(struct replay *replay)
{
	struct replay_private *p = replay->private;

	if (!p)
		return;
	deferred_release(replay);
	process_table_release(replay);
	order_release(&p->order);
	space_release(replay->kernel);
	space_release(replay->guest_kernel);
	free(replay->kernel);
	free(replay->guest_kernel);
	dso_table_release(&replay->dsos);
	kin_release(&replay->private->kin);
	story_release(replay);
	text_table_release(&p->comms);
	text_table_release(&p->cgroups);
	free(p);
	memset(replay, 0, sizeof(*replay));
}

/* All that may go now. */
static int drain(struct replay *replay, struct str *err)
{
	struct order *order = &replay->private->order;
	struct record record;
	uint64_t time_ns;
	int rc = 0;

	while (!rc && order_next(order, &record, &time_ns))
		rc = story_take(replay, &record, true, time_ns, err);
	return rc;
}

static int end_round(struct replay *replay, struct str *err)
{
	order_round(&replay->private->order);
	return drain(replay, err);
}

static int make_room(struct replay *replay, struct str *err)
{
	struct order *order = &replay->private->order;

	order_half(order);
	replay->counts.forced += order->ready - order->at;
	return drain(replay, err);
}

/* Where the record's time puts it; false: here. */
static bool must_wait(struct replay *replay, const struct record *record, uint64_t *time_ns)
{
	const struct order *order = &replay->private->order;

	if (replay->options.file_order || record->type >= RECORD_USER_FIRST)
		return false;
	if (record_time(&replay->reader->decoder, record, time_ns))
		return *time_ns && *time_ns != UINT64_MAX;
	/* Without a time it stays behind the record before it, if that one waits. */
	if (order->n == order->ready)
		return false;
	*time_ns = order->last_ns;
	return true;
}

static int take(struct replay *replay, const struct record *record, struct str *err)
{
	struct order *order = &replay->private->order;
	uint64_t time_ns = 0;
	int rc;

	if (must_wait(replay, record, &time_ns)) {
		order_add(order, record, time_ns, replay->reader->stable && !record->compressed);
		return order->bytes > replay->options.queue_bytes ? make_room(replay, err) : 0;
	}
	rc = story_take(replay, record, time_ns && time_ns != UINT64_MAX, time_ns, err);
	if (!rc && record->type == RECORD_FINISHED_ROUND && !replay->options.file_order)
		rc = end_round(replay, err);
	return rc;
}

static void tell_progress(struct replay *replay, const struct record *record)
{
	const struct replay_handlers *handlers = &replay->private->handlers;
	const struct reader *reader = replay->reader;
	uint64_t begin = reader->data_offset, size = reader->file_size - begin;
	double part = -1;

	if (!handlers->progress)
		return;
	if (!reader->pipe && reader->file_size > begin && reader->n_streams == 1)
		part = record->offset > begin ? (double)(record->offset - begin) / (double)size : 0;
	handlers->progress(handlers->context, part < 1 ? part : 1);
}

/* 0, or the reader's error with its sentence in why. *stopped: what a handler returned, with it in err. */
static int read_all(struct replay *replay, int *stopped, struct str *why, struct str *err)
{
	bool rounds = replay->reader->n_streams < 2;
	struct record record;
	struct folder folder;
	uint64_t n = 0;
	int rc = 0;

	folder_init(&folder, replay->reader);
	while (!*stopped && (rc = folder_next(&folder, &record, why)) > 0) {
		*stopped = take(replay, &record, err);
		if (++n % PROGRESS_EVERY == 0)
			tell_progress(replay, &record);
		if (!*stopped && !rounds && n % FOLDER_ROUND == 0)
			*stopped = end_round(replay, err);
	}
	folder_release(&folder);
	return rc < 0 ? rc : 0;
}

int replay_run(struct replay *replay, const struct replay_handlers *handlers, struct str *err)
{
	struct replay_private *p = replay->private;
	struct str why = STR_INIT;
	int stopped = 0, rc;

	p->handlers = *handlers;
	rc = read_all(replay, &stopped, &why, err);
	order_all(&p->order);
	if (!stopped)
		stopped = drain(replay, err);
	if (!stopped)
		stopped = story_end(replay, err);
	if (!stopped && rc)
		fail(err, rc, "%s", why.s);
	str_release(&why);
	memset(&p->handlers, 0, sizeof(p->handlers));
	return stopped ? stopped : rc;
}

const char *replay_comm(const struct replay *replay, uint32_t comm)
{
	const struct text_table *comms = &replay->private->comms;

	return comm < comms->n ? comms->v[comm] : "";
}

uint32_t replay_n_comms(const struct replay *replay)
{
	return (uint32_t)replay->private->comms.n;
}
