/* SPDX-License-Identifier: MIT */
/*
 * Formatted reports -> a file descriptor. Descriptors are kept from the measured command.
 */
#include "cmd/stat_output.h"

#include "cmd/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A signal that comes just before a wait is seen after it. */
enum { LOOK_UP_MS = 500 };

static const char clear_screen[] = "\033[H\033[2J";

/* ---- where ---- */

static bool same_file(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool is_file(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

/*
 * "-o counts 2>counts": two descriptors of one file would overwrite each other's text. The standard one
 * goes on where notes, or the command, have ended.
 */
static void share_descriptor(struct stat_output *out)
{
	static const int standard[] = { STDERR_FILENO, STDOUT_FILENO };

	for (size_t i = 0; i < ARRAY_SIZE(standard); i++) {
		int fd = same_file(out->fd, standard[i]) ?
				 fcntl(standard[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;

		if (fd < 0)
			continue;
		close(out->fd);
		out->fd = fd;
		return;
	}
}

static int open_file(struct stat_output *out, const struct stat_words *words, struct str *err)
{
	struct str why = STR_INIT;

	out->place = words->output;
	out->fd = destination_open(words->output, words->append, &why);
	out->close_fd = out->fd >= 0;
	if (out->fd < 0)
		fail(err, out->fd, "%s: cannot be opened for writing: %s", words->output, why.s);
	else
		share_descriptor(out);
	str_release(&why);
	return out->fd < 0 ? out->fd : 0;
}

static int open_log_fd(struct stat_output *out, const struct stat_words *words, struct str *err)
{
	int fd = (int)words->log_fd, flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return fail(err, -EBADF, "--log-fd: %d is not a descriptor that is open for writing", fd);
	/* The standard ones are the command's too. */
	if (fd > STDERR_FILENO)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	out->place = "--log-fd";
	out->fd = fd;
	return 0;
}

static int open_place(struct stat_output *out, const struct stat_words *words, struct str *err)
{
	if (words->output)
		return open_file(out, words, err);
	if (words->log_fd >= 0)
		return open_log_fd(out, words, err);
	out->place = "standard error";
	out->fd = STDERR_FILENO;
	return 0;
}

/* ---- as what ---- */

/* Each format has an option of its own. */
static const struct stat_format *choose_format(const struct stat_words *words)
{
	if (words->json)
		return &stat_format_json;
	return words->style.separator ? &stat_format_csv : &stat_format_text;
}

static void add_quoted(struct str *title, const char *before, const char *text)
{
	str_addf(title, "%s'", before);
	str_add_printable(title, text, strlen(text));
	str_addc(title, '\'');
}

static void add_cpus(struct str *title, const char *cpus)
{
	str_add(title, "'CPU(s) ");
	str_add_printable(title, cpus, strlen(cpus));
	str_addc(title, '\'');
}

static char *make_title(const struct stat_words *words)
{
	struct str title = STR_INIT, command = STR_INIT;

	for (char *const *arg = words->plan.argv; arg && *arg; arg++)
		str_addf(&command, "%s%s", arg == words->plan.argv ? "" : " ", *arg);
	if (words->plan.target.cpus)
		add_cpus(&title, words->plan.target.cpus);
	else if (words->plan.target.all_cpus)
		str_add(&title, "'system wide'");
	else if (words->plan.target.pids)
		add_quoted(&title, "process id ", words->plan.target.pids);
	else if (words->plan.target.tids)
		add_quoted(&title, "thread id ", words->plan.target.tids);
	else
		add_quoted(&title, "", command.s);
	str_release(&command);
	return str_detach(&title);
}

/* The date as ctime(3) has it, in every locale: pstat never calls setlocale. */
static char *date_now(void)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[64] = "";

	if (localtime_r(&now, &tm))
		strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm);
	return xstrdup(text);
}

static void choose_style(struct stat_output *out, const struct stat_words *words)
{
	bool for_people = out->format->for_people;

	out->title = words->title ? xstrdup(words->title) : make_title(words);
	/* A report of recorded counts: they did not start now. */
	if (words->output && out->format->dated && !words->title)
		out->started_on = date_now();
	out->clear_screen = words->interval_clear && for_people && isatty(out->fd);
	out->style = words->style;
	out->style.aggr = words->plan.aggr;
	out->style.title = out->title;
	out->style.runs = words->plan.repeat ? (unsigned)words->plan.repeat : 1;
	out->style.interval = words->plan.interval_ms > 0;
	out->style.interval_clear = out->clear_screen;
	out->style.colour = for_people && color_wanted(COLOR_AUTO, out->fd);
	out->style.has_cgroups = words->what.has_cgroups || words->each_cgroup;
	out->style.null_run = words->plan.null_run;
	out->style.explain = for_people;
	out->style.started_on = out->started_on;
}

int stat_output_open(struct stat_output *out, const struct stat_words *words, struct str *err)
{
	bool prints = !words->quiet;
	int rc = 0;

	*out = (struct stat_output){ .fd = -1, .text = STR_INIT, .format = choose_format(words) };
	/* Whoever reads a recording from stdout prints the counts. */
	if (words->recording && !strcmp(words->recording, "-") && words->log_fd < 0)
		prints = false;
	if (prints)
		rc = open_place(out, words, err);
	out->may_block = !rc && prints && !is_file(out->fd);
	out->with_notes = !rc && prints && same_file(out->fd, STDERR_FILENO);
	choose_style(out, words);
	return rc;
}

/* ---- reports ---- */

static void add_report(struct stat_output *out, const struct stat_report *report)
{
	if (out->fd < 0 || out->failure)
		return;
	if (!out->begun)
		out->format->begin(&out->text, &out->style);
	out->begun = true;
	if (out->clear_screen)
		str_add(&out->text, clear_screen);
	out->format->report(&out->text, &out->style, report);
}

/* A pipe that can be written to takes so much without blocking; whole lines, as the command may write there too. */
static size_t next_piece(const struct stat_output *out)
{
	const char *at = out->text.s + out->sent, *end;
	size_t left = out->text.len - out->sent;

	if (!out->may_block || left <= PIPE_BUF)
		return left;
	end = memrchr(at, '\n', PIPE_BUF);
	return end ? (size_t)(end + 1 - at) : PIPE_BUF;
}

/* At most for so long. */
static bool can_take(const struct stat_output *out, int ms)
{
	struct pollfd fd = { .fd = out->fd, .events = POLLOUT };

	return !out->may_block || poll(&fd, 1, ms) > 0;
}

int stat_output_write_on(struct stat_output *out)
{
	while (!out->failure && out->sent < out->text.len) {
		ssize_t n;

		if (!can_take(out, 0))
			return 1;
		n = write(out->fd, out->text.s + out->sent, next_piece(out));
		if (n >= 0)
			out->sent += (size_t)n;
		else if (errno == EAGAIN)
			return 1;
		else if (errno != EINTR)
			out->failure = -errno;
	}
	str_reset(&out->text);
	out->sent = 0;
	return out->failure;
}

int stat_output_offer(struct stat_output *out, const struct stat_report *report)
{
	add_report(out, report);
	return stat_output_write_on(out);
}

int stat_output_finish(struct stat_output *out)
{
	int signals = out->stop ? out->stop->count : 0, rc;

	while ((rc = stat_output_write_on(out)) > 0) {
		if (out->stop && out->stop->count != signals)
			out->failure = -EINTR;
		else
			can_take(out, LOOK_UP_MS);
	}
	return rc;
}

int stat_output_report(struct stat_output *out, const struct stat_report *report)
{
	add_report(out, report);
	return stat_output_finish(out);
}

int stat_output_close(struct stat_output *out, struct str *err)
{
	int rc = stat_output_finish(out);

	/* Some file systems report only now that the disk is full. */
	if (out->close_fd && close(out->fd) && !rc)
		rc = -errno;
	if (rc)
		fail(err, rc, "%s: the counts could not be written: %s", out->place, strerror(-rc));
	str_release(&out->text);
	free(out->title);
	free(out->started_on);
	*out = (struct stat_output){ .fd = -1, .text = STR_INIT };
	return rc;
}
