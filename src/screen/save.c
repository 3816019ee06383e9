/* SPDX-License-Identifier: MIT */
/*
 * save: what is shown as a file: the table of --stdio for the query at hand, of all events, as wide as it is; the
 * code that is shown; or the flame graph of the samples that the query's filters leave.
 */
#include "screen/screen_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { NUMBERS = 10000, FEED_NS = 20000000 };

static int write_file(void *context, struct str *text)
{
	int rc = write_all(*(int *)context, text->s, text->len);

	str_reset(text);
	return rc;
}

static void save(struct screen *screen, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	struct output output = { .text = STR_INIT, .write = write_file, .context = &fd };
	int rc;

	if (fd < 0) {
		screen_say(screen, "%s: %s", path, strerror(errno));
		return;
	}
	str_reset(&screen->message);
	screen->print(screen, &output);
	rc = output_end(&output);
	if (close(fd) && !rc)
		rc = -errno;
	str_release(&output.text);
	if (!rc) {
		screen_say(screen, "written to %s", path);
		return;
	}
	/* A part of a file is no use. Its reason may have been shown already. */
	unlink(path);
	if (!screen->message.len)
		screen_say(screen, "%s: %s", path, strerror(-rc));
}

static void done(struct screen *screen, const char *path)
{
	if (path && *path)
		save(screen, path);
}

void save_as(struct screen *screen, const char *path, void (*print)(struct screen *screen, struct output *output))
{
	screen->print = print;
	prompt_open(screen, "Print to the new file", path, NULL, done);
}

void save_numbered(struct screen *screen, const char *path,
		   void (*print)(struct screen *screen, struct output *output))
{
	struct str numbered = STR_INIT;

	for (unsigned i = 0; i < NUMBERS && (!i || !access(numbered.s, F_OK)); i++) {
		str_reset(&numbered);
		str_addf(&numbered, path, i);
	}
	save_as(screen, numbered.s, print);
	str_release(&numbered);
}

/* ---- the flame graph ---- */

/* A question that wants another reading of the recording: that is done to its end first, in a second or so. */
static int make_whole(struct screen *screen, struct question **question, struct table **table,
		      const struct query *query, struct str *err)
{
	const struct screen_source *source = screen->source;
	int fed = SCREEN_FED_MORE, code;

	screen_drop_table(screen);
	code = screen_table_of(screen, query, question, table, err);
	if (code || !source->reads_on || !source->reads_on(source->context))
		return code;
	table_free(*table);
	question_free(*question);
	*table = NULL;
	*question = NULL;
	while (fed == SCREEN_FED_MORE)
		fed = source->feed(source->context, FEED_NS, err);
	if (fed != SCREEN_FED_ALL)
		return fed < 0 ? fed : fail(err, -EAGAIN, "the recording has not been read to its end yet");
	return screen_table_of(screen, query, question, table, err);
}

/*
 * Whole stacks, of the same samples: a table of its own, told apart by what the query's keys are apart from code. The
 * strip of times is left out: the samples' times are not among what a browsed recording keeps.
 */
static void print_graph(struct screen *screen, struct output *output)
{
	const struct report_format *format = report_format_find("flamegraph");
	struct query query = screen->query;
	struct question *question = NULL;
	struct table *table = NULL;
	struct str err = STR_INIT;

	query.needs = NEED_STACKS;
	query.fields = query.parent = NULL;
	query.view = VIEW_FLAT_ENTRIES;
	query.no_chains = query.exclude_other = query.branch_stack = false;
	query.rows_max = 0;
	output->failed = make_whole(screen, &question, &table, &query, &err);
	if (output->failed)
		screen_say(screen, "%s", err.s);
	else
		format->print(table, output);
	table_free(table);
	question_free(question);
	str_release(&err);
}

/* ---- keys ---- */

/* The names of files are perf's. */
void act_save_table(struct screen *screen)
{
	save_numbered(screen, "perf.hist.%u", rows_print);
}

void act_save_graph(struct screen *screen)
{
	if (screen->fed == SCREEN_FED_MORE && screen->source->reads_on)
		screen_say(screen, "the recording is still being read: a picture of all of it comes later");
	else
		save_numbered(screen, "flamegraph.%u.html", print_graph);
}
