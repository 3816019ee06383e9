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

/* ".YYYYMMDDhhmmss" and hundredths of a second. */
static void add_date(struct str *name)
{
	struct timespec now;
	char text[32] = "";
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	if (localtime_r(&now.tv_sec, &tm))
		strftime(text, sizeof(text), "%Y%m%d%H%M%S", &tm);
	str_addf(name, ".%s%02ld", text, now.tv_nsec / 10000000);
}

/* Two files within a hundredth of a second: the second waits, nothing is overwritten. *name: in the folder. */
static int rename_dated(const struct destination *place, struct str *name)
{
	int rc;

	for (;;) {
		str_reset(name);
		str_add(name, place->name);
		add_date(name);
		rc = destination_rename(place, name->s);
		if (rc != -EEXIST)
			return rc;
		usleep(10000);
	}
}

/* Someone else may have removed it, or put something there: then it is gone as well. */
static void remove_oldest(struct sink_file *file)
{
	const struct finished_file *oldest = &file->kept[0];
	const char *slash = strrchr(oldest->path, '/');

	destination_remove(&file->writer.place, slash ? slash + 1 : oldest->path, &oldest->inode);
	free(oldest->path);
	memmove(file->kept, file->kept + 1, --file->n_kept * sizeof(*file->kept));
}

int sink_file_give_date(struct sink_file *file, struct str *err)
{
	const struct record_plan *plan = file->plan;
	const struct destination *place = &file->writer.place;
	const char *slash = strrchr(plan->path, '/');
	struct str name = STR_INIT;
	int rc = rename_dated(place, &name);
	char *path = xasprintf("%.*s%s", slash ? (int)(slash + 1 - plan->path) : 0, plan->path, name.s);

	str_release(&name);
	if (rc) {
		fail(err, rc, "%s: cannot be renamed to %s: %s", plan->path, path, strerror(-rc));
		free(path);
		return rc;
	}
	free(file->last_path);
	file->last_path = xstrdup(path);
	VEC_GROW(file->kept, file->n_kept, file->kept_cap);
	file->kept[file->n_kept++] = (struct finished_file){ path, place->inode };
	if (plan->switch_max_files && file->n_kept > plan->switch_max_files)
		remove_oldest(file);
	return 0;
}
