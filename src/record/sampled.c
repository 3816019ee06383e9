/*
 * sampled.c: see sampled.h. All addresses of a sample count: where it was taken, who called, where branches came from
 * and went to. Whose stack was copied may have been called from any of its process's files: all of these count.
 *
 * It is cheap as most addresses lie where others have lain: the last look-up of each page is remembered by
 * replay_locate, and a file that was told costs a look at a flag.
 */
#include "record/sampled.h"

#include "replay/replay.h"

#include <errno.h>
#include <stdlib.h>

/* Samples from one look at whether it goes on to the next. */
enum { LOOK_EVERY = 4096, SPACES_REMEMBERED = 256 };

struct pass {
	const struct sampled_asks *asks;
	struct record_source *source;
	bool *told; /* by dso.index */
	size_t n, cap;
	uint64_t versions[SPACES_REMEMBERED]; /* address spaces all of whose files were told, by version */
	uint64_t n_samples;
	bool enough;
};

static void tell(struct pass *pass, const struct dso *dso)
{
	while (dso->index >= pass->n) {
		VEC_GROW(pass->told, pass->n, pass->cap);
		pass->told[pass->n++] = false;
	}
	if (pass->told[dso->index])
		return;
	pass->told[dso->index] = true;
	pass->enough |= !pass->asks->found(pass->asks->data, dso);
}

static void take_address(struct pass *pass, struct replay *replay, struct thread *thread, uint8_t mode,
			 uint64_t ip)
{
	struct location location;

	replay_locate(replay, thread, mode, ip, &location);
	if (location.dso)
		tell(pass, location.dso);
}

static void take_chain(struct pass *pass, struct replay *replay, const struct replay_sample *sample)
{
	uint8_t mode = sample->mode;

	for (uint64_t i = 0; i < sample->n_ips; i++) {
		if (!context_mode(sample->ips[i], &mode))
			take_address(pass, replay, sample->thread, mode, sample->ips[i]);
	}
}

static void take_branches(struct pass *pass, struct replay *replay, const struct replay_sample *sample)
{
	for (uint64_t i = 0; i < sample->sample->n_branches; i++) {
		take_address(pass, replay, sample->thread, sample->mode, sample->sample->branches[i].from);
		take_address(pass, replay, sample->thread, sample->mode, sample->sample->branches[i].to);
	}
}

static void take_all_files(struct pass *pass, const struct thread *thread)
{
	const struct address_space *space = thread->address_space;
	uint64_t *remembered;

	if (!space || !space->n)
		return;
	remembered = &pass->versions[space->version % SPACES_REMEMBERED];
	if (*remembered == space->version)
		return;
	*remembered = space->version;
	for (const struct map *map = address_space_next(space, NULL); map; map = address_space_next(space, map))
		tell(pass, map->dso);
}

static int take_sample(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	struct pass *pass = context;

	if (sample->sample->has & PERF_SAMPLE_IP)
		take_address(pass, replay, sample->thread, sample->mode, sample->sample->ip);
	take_chain(pass, replay, sample);
	take_branches(pass, replay, sample);
	if (sample->sample->stack_size)
		take_all_files(pass, sample->thread);
	if (++pass->n_samples % LOOK_EVERY == 0 &&
	    !pass->asks->goes_on(pass->asks->data, pass->source->part(pass->source)))
		return fail(err, -ECANCELED, "ended");
	return pass->enough ? fail(err, -EALREADY, "enough is known") : 0;
}

int sampled_files(int fd, const char *path, const struct sampled_asks *asks, struct str *err)
{
	const struct replay_options options = { .file_order = false };
	struct pass pass = { .asks = asks };
	const struct replay_handlers handlers = { .context = &pass, .sample = take_sample };
	struct replay replay;
	struct reader reader;
	int rc = reader_open_fd(&reader, fd, path, err);

	if (!rc) {
		pass.source = &reader.source;
		replay_init(&replay, &reader.recording, &options);
		rc = replay_run(&replay, &reader.source, &handlers, err);
		replay_release(&replay);
	}
	reader_close(&reader);
	free(pass.told);
	if (rc != -EALREADY)
		return rc;
	str_reset(err);
	return 0;
}
