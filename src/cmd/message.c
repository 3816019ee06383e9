/* SPDX-License-Identifier: MIT */
/*
 * Messages for the user. What cannot be written to stderr is lost: there is no other place to say so.
 */
#include "cmd/message.h"

#include "cmd/terminal.h"
#include "record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { FURTHER_INDENT = 2 };
static const char program[] = "pstat: ";

/* One line, at a column; a terminal gets it in lines that it can show, which go on below its first word. */
static void add_line(struct str *out, const char *text, size_t n, size_t at)
{
	/* A line with its own indentation (a caret) must stay as it is. */
	const bool whole = *text == ' ';
	struct str line = STR_INIT;
	unsigned columns;

	str_add_printable(&line, text, n);
	columns = whole ? 0 : terminal_columns_for(STDERR_FILENO, line.s);
	str_add_wrapped(out, line.s, at, at == FURTHER_INDENT ? 2 * FURTHER_INDENT : at, columns);
	str_addc(out, '\n');
	str_release(&line);
}

/*
 * Lines after the first are indented, unless they bring their own indentation (a caret under its
 * place). Names in them came from outside, so all is made printable. at: the column of the first.
 */
static void add_lines(struct str *out, const char *text, size_t at)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		add_line(out, text, n, at);
		text += n;
		if (*text)
			text++;
		if (*text && *text != ' ')
			str_pad(out, ' ', FURTHER_INDENT);
		at = FURTHER_INDENT;
	}
}

/* Flushes stdout first: both may go to one place. A stdout that fails is reported at the end. */
static void to_stderr(struct str *text)
{
	fflush(stdout);
	/* Nothing is left to do if this fails. */
	(void)!write_all(STDERR_FILENO, text->s, text->len);
	str_release(text);
}

void message_error_of(const char *fmt, va_list ap)
{
	struct str text = STR_INIT, out = STR_INIT;

	str_vaddf(&text, fmt, ap);
	str_add(&out, program);
	add_lines(&out, text.s, sizeof(program) - 1);
	to_stderr(&out);
	str_release(&text);
}

void message_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message_error_of(fmt, ap);
	va_end(ap);
}

size_t message_notes(const struct note_list *notes, size_t from, bool verbose)
{
	struct str out = STR_INIT;

	for (size_t i = from; i < notes->n; i++) {
		const struct note *note = &notes->v[i];

		if (note->verbose && !verbose)
			continue;
		str_add(&out, program);
		add_lines(&out, note->text, sizeof(program) - 1);
		if (note->remedy) {
			str_pad(&out, ' ', FURTHER_INDENT);
			add_lines(&out, note->remedy, FURTHER_INDENT);
		}
	}
	if (out.len)
		to_stderr(&out);
	return notes->n;
}

static void add_places(struct str *text, const struct counter *counter)
{
	size_t n_open = 0, n = counter->n_cpus * counter->n_threads;

	for (size_t i = 0; i < n; i++)
		n_open += counter->fds[i] >= 0;
	str_addf(text, "perf_event_open worked %zu times: ", n_open);
	if (counter->cpus.n)
		str_add(text, "CPU ");
	else
		str_add(text, "any CPU");
	intset_format(&counter->cpus, text);
	str_addf(text, ", tasks: %zu", counter->n_threads);
}

void message_counter(const struct counter *counter)
{
	struct str text = STR_INIT;

	str_addf(&text, "%s: ", counter->name ? counter->name : counter->event->name);
	switch (counter->state) {
	case COUNTER_SOFTWARE:
		str_add(&text, "measured by pstat itself");
		break;
	case COUNTER_OPEN:
		add_places(&text, counter);
		break;
	case COUNTER_NOT_SUPPORTED:
		if (counter->call)
			str_add(&text, counter->call);
		else
			str_addf(&text, "errno %d (%s)", counter->err, strerror(counter->err));
		if (counter->remedy)
			str_addf(&text, "\n%s", counter->remedy);
		break;
	case COUNTER_LEFT_OUT:
		str_add(&text, "not tried");
		break;
	}
	message_error("%s", text.s);
	str_release(&text);
}

int message_stdout_failed(int code)
{
	message_error("standard output: cannot write: %s", strerror(code));
	return EXIT_PSTAT_FAILED;
}

int message_stdout(const struct str *text)
{
	if (fwrite(text->s, 1, text->len, stdout) != text->len || fflush(stdout))
		return message_stdout_failed(errno);
	return 0;
}

int message_flush_stdout(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	/* A command that failed has said why already. */
	return status ? status : message_stdout_failed(errno ? errno : EIO);
}

static double seconds(uint64_t ns)
{
	return (double)ns / NS_PER_S;
}

void message_add_waits(struct str *out, const struct off_cpu_totals *off, const struct sampling *sampling)
{
	str_addf(out, "  off the CPU: %" PRIu64 " wait%s, %.3f s", off->waits, off->waits == 1 ? "" : "s",
		 seconds(off->ns));
	if (off->open)
		str_addf(out, "; %" PRIu64 " not over at the end", off->open);
	if (off->no_stack)
		str_addf(out, "; %" PRIu64 " without a stack", off->no_stack);
	str_addc(out, '\n');
	if (off->over_losses)
		str_addf(out, "  %" PRIu64 " of these waits, %.3f s: records were lost meanwhile, each may be "
			 "several waits\n", off->over_losses, seconds(off->over_losses_ns));
	if (off->slept && sampling->wakers)
		str_addf(out, "  %" PRIu64 " of %" PRIu64 " waits that ended and were not preemptions: their waker is "
			 "recorded\n", off->woken, off->slept);
	if (off->short_waits)
		str_addf(out, "  %" PRIu64 " shorter than %" PRIu64 " ms left out, %.3f s; --off-cpu-thresh 0 keeps "
			 "them\n", off->short_waits, sampling->off_cpu_least_ns / NS_PER_MS, seconds(off->short_ns));
	if (off->begun_before)
		str_addf(out, "  %" PRIu64 " began before the recording and are left out\n", off->begun_before);
	if (off->unpaired || off->backwards)
		str_addf(out, "  %" PRIu64 " of unknown length left out: a record of the switch is lost or out of "
			 "order\n", off->unpaired + off->backwards);
}
