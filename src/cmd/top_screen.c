/*
 * The screen asks; the profile that is fed between its keys answers. The screen makes a table each delay; what is
 * behind such a table is forgotten by and by, as with those that are printed.
 */
#include "cmd/top_screen.h"

#include <errno.h>

enum { LATER_MS = 100, FIRST_NS = 20 * NS_PER_MS };

/* Only cells can be asked: what was recorded is kept nowhere. */
static int make_table(void *context, struct table **table, const struct question *question, struct str *err)
{
	struct top_screen *top = context;
	int code = table_make(table, top->profile, question, NULL, err);

	if (code == -EAGAIN)
		return fail(err, -EINVAL, "this can't be asked of what is not kept; record it, and ask pstat report");
	if (!top->forget_ns)
		top->forget_ns = now_ns() + top->delay_ns;
	return code;
}

static void forget(struct top_screen *top)
{
	if (!top->forget_ns || top->stopped || now_ns() < top->forget_ns)
		return;
	profile_compact(top->profile, top->decay_eighths);
	top->forget_ns = 0;
}

static int feed(void *context, uint64_t budget_ns, struct str *err)
{
	struct top_screen *top = context;
	struct profile *profile = top->profile;
	int rc;

	forget(top);
	rc = profile_feed(profile, top->source, budget_ns, err);
	if (rc > 0)
		return rc == PROFILE_FED_LATER ? SCREEN_FED_LATER : SCREEN_FED_MORE;
	profile_end(profile);
	top->ended = true;
	if (rc < 0)
		str_addn(&top->failed, err->s, err->len);
	return rc < 0 ? rc : SCREEN_FED_ALL;
}

static void add_status(void *context, struct str *out)
{
	struct top_screen *top = context;

	/* Numbers are those of half a delay at least, so that keys don't make them jump; the first come at once. */
	if (now_ns() >= top->status->time_ns + (top->status->samples_per_s > 0 ? top->delay_ns / 2 : FIRST_NS))
		top_status_step(top->status);
	if (top->ended || top->stopped)
		str_add(out, top->ended ? "ended, " : "stopped (f), ");
	top_status_add(top->status, out);
}

static void add_notes(void *context, struct str *out)
{
	const struct top_screen *top = context;

	top_status_add_losses(top->status, out);
	str_addc(out, '\n');
	note_list_add_lines(&top->profile->session.notes, out);
}

static void zero(void *context)
{
	const struct top_screen *top = context;

	profile_compact(top->profile, 8 /* all of it */);
}

/* While it stands still nothing is forgotten, so that what is shown can be looked at for long. */
static void pause_samples(void *context)
{
	struct top_screen *top = context;

	if (top->ended)
		return;
	top->stopped = !top->stopped;
	top->forget_ns = now_ns() + top->delay_ns;
	live_run_pause(top->run, top->stopped);
}

int top_screen_run(struct top_screen *top, const struct screen_options *options, const struct query *query,
		   struct str *err)
{
	const struct screen_source source = {
		.context = top,
		.recording = top->profile->session.recording,
		.make = make_table,
		.feed = feed,
		.later_ms = LATER_MS,
		.refresh_ms = (unsigned)(top->delay_ns / NS_PER_MS),
		.status = add_status,
		.notes = add_notes,
		.zero = zero,
		.pause = pause_samples,
	};

	return screen_run(options, &source, query, err);
}
