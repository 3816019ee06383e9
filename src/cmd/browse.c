/* SPDX-License-Identifier: MIT */
/*
 * The wiring of reader and screen. The recording is read while it is looked at, and what stopped that is said when
 * the terminal is as it was before.
 */
#include "cmd/browse.h"

#include "cmd/message.h"

#include <errno.h>

void browse_not(bool asked_for, const char *why)
{
	if (asked_for)
		message_error("--tui: %s: printed as with --stdio", why);
}

static int show(struct sample_run *run, const struct browse_words *words, struct screen_recording *recording,
		struct str *err)
{
	const struct screen_source source = screen_recording_source(recording);
	const struct screen_options options = {
		.title = run->reader.path,
		.color = run->output.color,
		.code_options = words->code_options,
		.code_percent = words->code_percent,
		.code = words->code,
		.dots = run->output.dots,
	};
	int code = screen_run(&options, &source, words->query, err);

	if (!code && screen_recording_failed(recording))
		sample_run_fail(run, screen_recording_failed(recording));
	return code;
}

bool browse_recording(struct sample_run *run, const struct browse_words *words)
{
	struct screen_recording *recording;
	bool progress = run->progress.terminal;
	struct str err = STR_INIT;
	int code = screen_recording_new(&recording, &run->reader, words->query, &err);

	/* The screen has its own line for it. */
	run->progress.terminal = false;
	if (!code)
		code = show(run, words, recording, &err);
	if (code == -ENOSYS || code == -ENOTTY) {
		browse_not(words->asked_for, err.s);
	} else if (code) {
		message_error("%s", err.s);
		run->status = EXIT_BAD_USAGE;
	}
	run->progress.terminal = progress;
	screen_recording_free(recording);
	str_release(&err);
	return code != -ENOSYS && code != -ENOTTY;
}
