/*
 * archive_restore: an archive into the build-id cache, and a recording that is in it into this folder: as --unpack
 * of perf-archive does, but that nothing is written over. What is refused of an archive is told, a line each, and
 * the exit status says that it was not all.
 */
#include "cmd/archive_folder.h"
#include "cmd/archive_words.h"
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/progress.h"

#include "buildcache/buildcache.h"
#include "data/data.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REFUSED_TOLD_MAX = 10, PIECE_BYTES = 256 << 10 };

struct restore {
	const struct archive_words *words;
	struct progress progress;
	struct build_cache *cache;
	const char *path;
	int fd;
	uint64_t archive_bytes; /* 0: not known */
	struct str recordings; /* ": perf.data" */
	struct archive_folder folder;
	size_t n_refused;
};

/* ---- which archive ---- */

/* As perf: the one of this folder, if there is no other. NULL after a message. */
static char *archive_here(void)
{
	struct str text = STR_INIT;
	char *path = NULL;
	glob_t found;

	if (glob("perf*.tar.bz2", 0, NULL, &found) || !found.gl_pathc) {
		message_error("archive: no perf*.tar.bz2 is in this folder\npstat archive --unpack FILE");
	} else if (found.gl_pathc > 1) {
		str_addf(&text, "archive: %zu archives are in this folder:", found.gl_pathc);
		for (size_t i = 0; i < found.gl_pathc; i++) {
			str_addc(&text, ' ');
			str_add_printable(&text, found.gl_pathv[i], strlen(found.gl_pathv[i]));
		}
		str_add(&text, "\npstat archive --unpack FILE");
		message_error(text.s);
	} else {
		path = xstrdup(found.gl_pathv[0]);
	}
	globfree(&found);
	str_release(&text);
	return path;
}

static int fail_with(const char *path, const char *why)
{
	struct str text = STR_INIT;

	str_addf(&text, "%s: %s", path, why);
	message_error(text.s);
	str_release(&text);
	return EXIT_PSTAT_FAILED;
}

static int open_archive(struct restore *restore)
{
	struct stat st;

	if (!strcmp(restore->path, "-")) {
		restore->fd = STDIN_FILENO;
		return 0;
	}
	restore->fd = open(restore->path, O_RDONLY | O_CLOEXEC);
	if (restore->fd < 0)
		return fail_with(restore->path, strerror(errno));
	if (!fstat(restore->fd, &st) && S_ISREG(st.st_mode))
		restore->archive_bytes = (uint64_t)st.st_size;
	return 0;
}

static int open_cache(struct restore *restore)
{
	const struct archive_words *words = restore->words;
	char *place = build_cache_place(words->buildid_dir);
	unsigned flags = CACHE_CREATE | (words->force ? CACHE_FORCE : 0);
	struct str err = STR_INIT;
	int status = 0;

	if (!place)
		status = fail_with("archive", "there is no build-id cache: it is switched off, or $HOME is not set\n"
					      "pstat archive --unpack --buildid-dir DIRECTORY");
	else if (build_cache_open(&restore->cache, words->buildid_dir, flags, &err))
		status = fail_with(place, err.s);
	free(place);
	str_release(&err);
	return status;
}

/* ---- what is in it ---- */

static void taken(void *context, const char *path, const struct build_id *id, enum cache_kind kind)
{
	const struct restore *restore = context;
	struct str line = STR_INIT;

	if (!restore->words->verbose)
		return;
	build_id_text(id, &line);
	str_addc(&line, ' ');
	str_add_printable(&line, path, strlen(path));
	str_addf(&line, "%s\n", kind == CACHE_DEBUG ? " (debug file)" : "");
	message_stdout(&line);
	str_release(&line);
}

static void refused(void *context, const char *text)
{
	struct restore *restore = context;
	struct str line = STR_INIT;

	if (restore->n_refused++ >= REFUSED_TOLD_MAX)
		return;
	progress_end(&restore->progress);
	str_addf(&line, "%s: refused: %s", restore->path, text);
	message_error(line.s);
	str_release(&line);
}

int archive_copy(int from, int to)
{
	char *piece = xmalloc(PIECE_BYTES);
	off_t at = 0;
	ssize_t got;
	int rc = 0;

	while (!rc && (got = pread(from, piece, PIECE_BYTES, at)) != 0) {
		rc = got < 0 ? -errno : write_all(to, piece, (size_t)got);
		at += got;
	}
	free(piece);
	return rc;
}

/* Beside its place, and renamed: nobody sees a half one. */
static int write_recording(const char *path, int from, bool over, struct str *err)
{
	struct str why = STR_INIT;
	struct destination beside;
	int rc = destination_begin(&beside, path, &why);

	if (!rc && (rc = archive_copy(from, beside.fd)) != 0)
		str_add(&why, strerror(-rc));
	if (!rc)
		rc = destination_put(&beside, over, &why);
	if (rc)
		fail(err, rc, "%s",
		     rc == -EEXIST ? "there is one of that name: -f writes over it, -o gives it another name" : why.s);
	destination_end(&beside);
	str_release(&why);
	return rc;
}

/*
 * A name that somebody else chose, in this folder: shells and other programs read files of some names by themselves,
 * take some for options, and show some otherwise than they are.
 */
static int check_name(const char *name, struct str *err)
{
	struct str shown = STR_INIT;
	int rc = 0;

	str_add_printable(&shown, name, strlen(name));
	if (name[0] == '.')
		rc = fail(err, -EINVAL, "a hidden file: -o gives it another name");
	else if (name[0] == '-')
		rc = fail(err, -EINVAL, "its name looks like an option: -o gives it another one");
	else if (strcmp(shown.s, name) != 0)
		rc = fail(err, -EINVAL, "its name can't be shown: -o gives it another one");
	str_release(&shown);
	return rc;
}

int archive_check_recording(int fd, struct str *err)
{
	struct reader reader = { 0 };
	struct record record;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0), rc;

	if (own < 0)
		return fail(err, -errno, "%s", strerror(errno));
	rc = reader_open_fd(&reader, own, "a recording that is none", err);
	/* In the layout of pipes events are records. */
	while (!rc && !reader.events.n && (rc = reader_next(&reader, &record, err)) > 0)
		rc = 0;
	if (!rc && !reader.events.n)
		rc = fail(err, -EINVAL, "a recording that is none: it has no events");
	reader_close(&reader);
	return rc;
}

/* -f writes over recordings alone, of those whose names somebody else chose. */
static int check_over(const char *name, struct str *err)
{
	int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	bool is_other = fd >= 0 ? !archive_is_recording(fd) : errno != ENOENT;

	if (fd >= 0)
		close(fd);
	return is_other ? fail(err, -EEXIST, "what has its name is no recording: -o gives it another one") : 0;
}

static int recording(void *context, const char *name, int fd, struct str *err)
{
	struct restore *restore = context;
	const char *output = restore->words->output, *path = output ? output : name;
	int rc = output ? 0 : check_name(name, err);

	if (!rc)
		rc = archive_check_recording(fd, err);
	if (!rc && !output && restore->words->force)
		rc = check_over(name, err);
	if (rc)
		return rc;
	if (restore->recordings.len && restore->words->output)
		return fail(err, -EEXIST, "a second recording, and -o names one place");
	rc = write_recording(path, fd, restore->words->force, err);
	if (rc)
		return rc;
	str_add(&restore->recordings, restore->recordings.len ? ", " : "");
	str_add_printable(&restore->recordings, path, strlen(path));
	return 0;
}

static int recording_part(void *context, const char *folder, const char *name, int fd, struct str *err)
{
	struct restore *restore = context;
	const char *output = restore->words->output, *path = output ? output : folder;
	int rc = output ? 0 : check_name(folder, err);

	if (rc)
		return rc;
	if (restore->recordings.len && restore->words->output)
		return fail(err, -EEXIST, "a second recording, and -o names one place");
	return archive_folder_add(&restore->folder, path, name, fd, err);
}

static void end_folder(struct restore *restore, bool whole)
{
	struct str err = STR_INIT, text = STR_INIT, path = STR_INIT;

	if (restore->folder.path) {
		str_add_printable(&path, restore->folder.path, strlen(restore->folder.path));
		if (archive_folder_end(&restore->folder, whole, &err)) {
			str_addf(&text, "%s: %s", path.s, err.s);
			refused(restore, text.s);
		} else {
			str_addf(&restore->recordings, "%s%s", restore->recordings.len ? ", " : "", path.s);
		}
	}
	str_release(&path);
	str_release(&text);
	str_release(&err);
}

static void step(void *context, uint64_t packed_bytes)
{
	struct restore *restore = context;

	progress_step(&restore->progress, NULL,
		      restore->archive_bytes ? (double)packed_bytes / (double)restore->archive_bytes : -1);
}

/* ---- all of it ---- */

static int tell_done(const struct restore *restore, const struct cache_unpack_counts *counts)
{
	const char *dir = build_cache_dir(restore->cache);
	struct str text = STR_INIT;
	int status;

	str_add_printable(&text, restore->path, strlen(restore->path));
	str_addf(&text, ": %zu file%s into ", counts->n_files, counts->n_files == 1 ? "" : "s");
	str_add_printable(&text, dir, strlen(dir));
	if (restore->recordings.len)
		str_addf(&text, "; the recording: %s", restore->recordings.s);
	str_addc(&text, '\n');
	status = message_stdout(&text);
	str_release(&text);
	return status;
}

static int tell_refused(const struct restore *restore)
{
	char more[64];

	if (restore->n_refused > REFUSED_TOLD_MAX) {
		snprintf(more, sizeof(more), "%zu more were refused", restore->n_refused - REFUSED_TOLD_MAX);
		fail_with(restore->path, more);
	}
	return restore->n_refused ? EXIT_PSTAT_FAILED : 0;
}

static int unpack(struct restore *restore)
{
	const struct cache_unpack how = {
		.cache = restore->cache, .context = restore, .taken = taken, .refused = refused,
		.recording = recording, .recording_part = recording_part, .progress = step,
		.interrupt = &restore->words->interrupt,
	};
	struct cache_unpack_counts counts;
	struct str err = STR_INIT;
	int rc = cache_unpack(restore->fd, &how, &counts, &err), status;

	progress_end(&restore->progress);
	end_folder(restore, !rc);
	status = tell_refused(restore);
	if (rc)
		status = fail_with(restore->path, err.s);
	else if (!counts.n_files && !counts.n_recordings && !counts.n_refused)
		status = fail_with(restore->path, "it has no file of a recording in it");
	if (counts.n_files || counts.n_recordings)
		rc = tell_done(restore, &counts);
	str_release(&err);
	return status ? status : rc;
}

int archive_restore(const struct archive_words *words)
{
	struct restore restore = { .words = words, .fd = -1, .recordings = STR_INIT };
	char *here = words->input ? NULL : archive_here();
	int status = EXIT_PSTAT_FAILED;

	restore.path = words->input ? words->input : here;
	if (restore.path && !open_archive(&restore) && !open_cache(&restore)) {
		build_cache_interrupt(restore.cache, &words->interrupt);
		progress_init(&restore.progress, "unpacking", true);
		status = unpack(&restore);
	}
	build_cache_close(restore.cache);
	if (restore.fd > STDIN_FILENO)
		close(restore.fd);
	str_release(&restore.recordings);
	free(here);
	return status;
}
