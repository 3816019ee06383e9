/*
 * save: what is shown as a file: the table of --stdio for the query at hand, of all events, as wide as it is.
 */
#include "screen/screen_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

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
	report_format_find("stdio")->print(screen->table, &output);
	rc = output_end(&output);
	if (close(fd) && !rc)
		rc = -errno;
	str_release(&output.text);
	if (rc)
		screen_say(screen, "%s: %s", path, strerror(-rc));
	else
		screen_say(screen, "written to %s", path);
	/* Its columns are those of the last event now. */
	screen->fitted = 0;
}

static void done(struct screen *screen, bool accepted)
{
	const char *path = screen->prompt.text.s;

	if (accepted && *path && screen_need_table(screen))
		save(screen, path);
}

/* perf's name with the first number that is free. */
void act_save(struct screen *screen, int argument)
{
	char path[sizeof("perf.hist.") + 8];

	(void)argument;
	for (unsigned i = 0; i < 10000; i++) {
		snprintf(path, sizeof(path), "perf.hist.%u", i);
		if (access(path, F_OK))
			break;
	}
	prompt_open(screen, "Print to the new file", path, NULL, done);
}
