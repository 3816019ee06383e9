/*
 * The names of finished files, with --switch-output and --timestamp-filename: PATH, which was the one
 * being written, becomes PATH.<date and time>. Nothing is overwritten: a name that is taken already
 * means another file of the same hundredth of a second.
 *
 * Of more than --switch-max-files the oldest is removed. Only files of this recording are: those that
 * an earlier one left are somebody's.
 */
#include "record/sink_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* PATH.YYYYMMDDhhmmss and hundredths of a second. */
static char *dated_name(const char *path)
{
	struct timespec now;
	char text[32] = "";
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	if (localtime_r(&now.tv_sec, &tm))
		strftime(text, sizeof(text), "%Y%m%d%H%M%S", &tm);
	return xasprintf("%s.%s%02ld", path, text, now.tv_nsec / 10000000);
}

/* Two files within a hundredth of a second: the second waits, nothing is overwritten. */
static char *free_dated_name(const char *path)
{
	char *name = dated_name(path);

	while (!access(name, F_OK)) {
		usleep(10000);
		free(name);
		name = dated_name(path);
	}
	return name;
}

int sink_file_give_date(struct sink_file *file, struct str *err)
{
	const struct record_plan *plan = file->plan;
	char *name = free_dated_name(plan->path);

	if (rename(plan->path, name)) {
		int rc = fail(err, -errno, "%s: cannot be renamed to %s: %s", plan->path, name,
			      strerror(errno));

		free(name);
		return rc;
	}
	free(file->last_path);
	file->last_path = xstrdup(name);
	VEC_GROW(file->kept, file->n_kept, file->kept_cap);
	file->kept[file->n_kept++] = name;
	if (!plan->switch_max_files || file->n_kept <= plan->switch_max_files)
		return 0;
	/* Someone else may have removed it; then it is gone as well. */
	unlink(file->kept[0]);
	free(file->kept[0]);
	memmove(file->kept, file->kept + 1, --file->n_kept * sizeof(*file->kept));
	return 0;
}
