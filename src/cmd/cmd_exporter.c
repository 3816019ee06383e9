/* SPDX-License-Identifier: MIT */
/*
 * pstat exporter: the loop around exporter/. It waits for a tick, a connection or a signal; at a tick counters are read
 * and files are written, and what clients bring is the server's. A scrape reads the counters itself.
 */
#include "cmd/command.h"
#include "cmd/exporter_options.h"
#include "cmd/message.h"
#include "cmd/signals.h"

#include <errno.h>

/* A file that is written at each tick. */
struct exported_file {
	const char *path; /* NULL: none */
	enum exposition_format format;
	bool failed; /* the last time: said once */
};

struct exporter_run {
	const struct exporter_words *words;
	struct exporter *exporter;
	struct http_server *server; /* or NULL */
	struct exported_file files[2];
	const struct run_stop *stop;
	struct watch watch;
	struct ticker ticker;
	struct note_list notes;
	size_t n_noted;
	struct str text; /* of a file; its memory is kept */
};

static void print_notes(struct exporter_run *run)
{
	run->n_noted = message_notes(&run->notes, run->n_noted, run->words->verbose > 0);
}

/* An exposition_fn: the scrape's own read. */
static void render(void *data, enum exposition_format format, struct str *body)
{
	struct exporter_run *run = data;

	exporter_read(run->exporter);
	exporter_write(run->exporter, format, body);
}

static int write_file(struct exporter_run *run, struct exported_file *file)
{
	struct str err = STR_INIT;
	int rc;

	if (!file->path)
		return 0;
	str_reset(&run->text);
	exporter_write(run->exporter, file->format, &run->text);
	rc = destination_write_whole(file->path, &run->text, &err);
	if (rc && !file->failed)
		message_error("%s: %s", file->path, err.s);
	file->failed = rc;
	str_release(&err);
	return rc;
}

/* A failure is the end at the beginning alone: later there may be room again. */
static int write_files(struct exporter_run *run)
{
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(run->files); i++) {
		int one = write_file(run, &run->files[i]);

		rc = rc ? rc : one;
	}
	return rc;
}

static void tick(struct exporter_run *run)
{
	exporter_tick(run->exporter);
	print_notes(run);
	write_files(run);
}

static uint64_t next_look(const struct exporter_run *run)
{
	uint64_t due = run->server ? http_server_due(run->server) : UINT64_MAX;

	return due < run->ticker.next_ns ? due : run->ticker.next_ns;
}

static void run_loop(struct exporter_run *run)
{
	while (!run->stop->signal && !watch_time_is_up(&run->watch)) {
		uint64_t now = now_ns();

		if (ticker_due(&run->ticker, now))
			tick(run);
		if (run->server)
			http_server_work(run->server, now_ns());
		watch_wait(&run->watch, next_look(run));
	}
}

static int print_once(struct exporter_run *run)
{
	str_reset(&run->text);
	exporter_write(run->exporter, EXPOSITION_OPENMETRICS, &run->text);
	return message_stdout(&run->text);
}

/* Nothing waits between signals: the watch lets them in while it waits. */
static int count_on(struct exporter_run *run)
{
	const struct exporter_words *words = run->words;
	bool once = exporter_prints_once(words);

	watch_begin(&run->watch, -1);
	if (run->server)
		watch_fd(&run->watch, http_server_fd(run->server));
	watch_duration(&run->watch, words->duration_ns ? words->duration_ns : once ? words->interval_ns : 0);
	ticker_start(&run->ticker, now_ns(), words->interval_ns);
	run_loop(run);
	watch_end(&run->watch);
	exporter_read(run->exporter);
	write_files(run);
	return once ? print_once(run) : 0;
}

static int begin(struct exporter_run *run, struct str *err)
{
	const struct exporter_words *words = run->words;
	const struct exporter_plan plan = {
		.kern = words->what.kern,
		.events = &words->what.events,
		.each_cgroup = words->each_cgroup,
		.aggr = words->by_cpu ? AGGR_CPU : words->by_socket ? AGGR_SOCKET : AGGR_TOTAL,
		.node_names = words->node_names,
		.max_series = words->max_series,
		.notes = &run->notes,
	};
	struct str place = STR_INIT;
	int fd = words->listen ? http_listen(words->listen, &place, err) : -1, rc = 0;

	if (words->listen && fd < 0)
		rc = fd;
	if (fd >= 0)
		run->server = http_server_new(fd, render, run);
	if (!rc)
		rc = exporter_open(&run->exporter, &plan, err);
	if (!rc && run->server)
		note_add(&run->notes, false, NULL, "metrics are at http://%s/metrics", place.s);
	str_release(&place);
	return rc;
}

static int export_metrics(const struct exporter_words *words)
{
	struct exporter_run run = {
		.words = words, .text = STR_INIT,
		.files = { { words->textfile, EXPOSITION_TEXT, false },
			   { exporter_prints_once(words) ? NULL : words->openmetrics, EXPOSITION_OPENMETRICS, false } },
	};
	struct exec_state found;
	struct str err = STR_INIT;
	int status = EXIT_PSTAT_FAILED, rc;

	memory_return_large();
	message_notes(&words->what.events.notes, 0, words->verbose > 0);
	run.stop = signals_catch(false, &found);
	rc = begin(&run, &err);
	if (rc)
		status = rc == -EINVAL || rc == -E2BIG ? bad_usage("%s", err.s) :
							 (message_error("%s", err.s), EXIT_PSTAT_FAILED);
	print_notes(&run);
	if (!rc && !write_files(&run))
		status = count_on(&run);
	http_server_free(run.server);
	exporter_close(run.exporter);
	note_list_release(&run.notes);
	str_release(&run.text);
	str_release(&err);
	return status;
}

int cmd_exporter(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct exporter_words words;
	struct str err = STR_INIT;
	int status;

	exporter_words_init(&words, kern);
	status = command_parse(self, argc, argv, &words, NULL);
	if (status < 0 && exporter_words_complete(&words, &err))
		status = bad_usage("%s", err.s);
	else if (status < 0)
		status = export_metrics(&words);
	exporter_words_release(&words);
	str_release(&err);
	return status;
}
