/*
 * Messages for the user. What cannot be written to stderr is lost: there is no other place to say so.
 */
#include "cmd/message.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Lines behind the first are indented, unless they bring their own indentation (a caret under its
 * place). Names in them came from outside, so all is made printable.
 */
static void add_lines(struct str *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		str_add_printable(out, text, n);
		str_addc(out, '\n');
		text += n;
		if (*text)
			text++;
		if (*text && *text != ' ')
			str_add(out, "  ");
	}
}

static void to_stderr(struct str *text)
{
	/* Nothing is left to do if this fails. */
	(void)!write_all(STDERR_FILENO, text->s, text->len);
	str_release(text);
}

void message_error(const char *text)
{
	struct str out = STR_INIT;

	str_add(&out, "pstat: ");
	add_lines(&out, text);
	to_stderr(&out);
}

size_t message_notes(const struct note_list *notes, size_t from, bool verbose)
{
	struct str out = STR_INIT;

	for (size_t i = from; i < notes->n; i++) {
		const struct note *note = &notes->v[i];

		if (note->verbose && !verbose)
			continue;
		str_add(&out, "pstat: ");
		add_lines(&out, note->text);
		if (note->remedy) {
			str_add(&out, "  ");
			add_lines(&out, note->remedy);
		}
	}
	if (out.len)
		to_stderr(&out);
	return notes->n;
}

static int stdout_failed(int code)
{
	struct str text = STR_INIT;

	str_addf(&text, "standard output: cannot write: %s", strerror(code));
	message_error(text.s);
	str_release(&text);
	return EXIT_PSTAT_FAILED;
}

int message_stdout(const struct str *text)
{
	if (fwrite(text->s, 1, text->len, stdout) != text->len || fflush(stdout))
		return stdout_failed(errno);
	return 0;
}

int message_flush_stdout(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	/* The command has told already if it failed itself. */
	return status ? status : stdout_failed(errno ? errno : EIO);
}
