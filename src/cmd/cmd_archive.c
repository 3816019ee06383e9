/* SPDX-License-Identifier: MIT */
/*
 * pstat archive: what a recording needs to be reported elsewhere, in one file; and --unpack, there.
 *
 *	recording --samples--> files that they lie in (archive_files.c) --> archive; with --all the recording, too
 *	archive ------------> the build-id cache, and a recording in it into this folder
 *
 * Members are named as perf-archive names them. The archive is made beside its place and renamed, so that there is
 * none or a whole one; nothing is written over when one is unpacked. What an archive has that is refused is
 * reported, a line each, and the exit status says that it was not all.
 */
#include "cmd/archive_files.h"
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "cmd/recording_place.h"
#include "cmd/recording_symbols.h"
#include "cmd/signals.h"

#include "buildcache/buildcache.h"
#include "data/data.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct archive_options {
	const char *input; /* NULL: a pipe, or perf.data; of --unpack: an archive of this folder */
	const char *output; /* NULL: named after the input */
	const char *buildid_dir, *symfs;
	bool all, unpack, force, into_recording, debuginfod, no_cache;
	int verbose;
	const struct run_stop *stop; /* of --unpack and --into-recording; and what asks for it */
	struct interrupt interrupt;
};

#define FIELD(name) .offset = offsetof(struct archive_options, name)

const struct option_row archive_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to do" },
	{ OPTION_TEXT, 'i', "input", "file",
	  "the recording, or archive to unpack; -: stdin", FIELD(input),
	  .value = VALUE_FILE },
	{ OPTION_TEXT, 'o', "output", "file",
	  "the archive (.tar.zst, ...); -: stdout",
	  FIELD(output), .value = VALUE_FILE },
	{ OPTION_FLAG, 0, "all", NULL, "add the recording too", FIELD(all) },
	{ OPTION_FLAG, 0, "unpack", NULL, "unpack an archive into the build-id cache",
	  FIELD(unpack) },
	{ OPTION_FLAG, 0, "into-recording", NULL, "write symbol names into the recording instead",
	  FIELD(into_recording) },
	{ .kind = OPTION_GROUP, .help = "Where files are" },
	{ OPTION_TEXT, 0, "buildid-dir", "directory", "the build-id cache ($HOME/.debug)", FIELD(buildid_dir),
	  .value = VALUE_DIRECTORY },
	{ OPTION_TEXT, 0, "symfs", "directory", "look up other files below this directory", FIELD(symfs),
	  .value = VALUE_DIRECTORY },
	{ OPTION_FLAG, 0, "debuginfod", NULL, "add debug files from $DEBUGINFOD_URLS",
	  FIELD(debuginfod) },
	{ OPTION_FLAG, 0, "no-cache", NULL, "do not use the cache in ~/.cache/pstat",
	  FIELD(no_cache) },
	{ .kind = OPTION_GROUP, .help = "Common" },
	{ OPTION_FLAG, 'f', "force", NULL,
	  "overwrite; use files of other users",
	  FIELD(force) },
	{ OPTION_COUNT, 'v', "verbose", NULL, "print each file, and why others are missing", FIELD(verbose) },
	{ .kind = OPTION_END },
};

static int fail_with(const char *path, const char *why)
{
	message_error("%s: %s", path, why);
	return EXIT_PSTAT_FAILED;
}

/* ---- a recording into an archive ---- */

static const char default_end[] = ".tar.bz2";

struct archive_packing {
	const struct archive_options *options;
	struct reader reader;
	struct archive_files *files;
	struct build_cache *cache; /* NULL: there is none */
	struct progress progress;
	char *path; /* of the archive; "-": standard output */
	struct destination beside; /* where it is made, if it is a file */
	int fd;
	const struct run_stop *stop; /* noted from when the archive is begun: nothing is left of a half one */
	struct interrupt interrupt;
	struct str missing; /* a line for each file that was not found */
	size_t n_files, n_entries, n_missing;
	bool is_folder; /* the recording */
	uint64_t bytes;
};

/* ---- where to ---- */

static bool is_stdout(const struct archive_packing *make)
{
	return !strcmp(make->path, "-");
}

/* The machine and the time are in the name of what has a recording in it: they come from many. */
static char *name_of_all(void)
{
	char host[256] = "", moment[32];
	time_t now = time(NULL);
	struct tm tm;

	gethostname(host, sizeof(host) - 1);
	for (char *c = host; *c; c++)
		*c = *c == '/' ? '-' : *c;
	localtime_r(&now, &tm);
	strftime(moment, sizeof(moment), "%Y%m%d-%H%M%S", &tm);
	return xasprintf("perf.all-%s-%s%s", host, moment, default_end);
}

static char *archive_path(const struct archive_options *options, const char *recording)
{
	if (options->output)
		return xstrdup(options->output);
	return options->all ? name_of_all() : xasprintf("%s%s", strcmp(recording, "-") ? recording : "perf.data",
						      default_end);
}

static int begin_archive(struct archive_packing *make, struct str *err)
{
	struct stat recording, there;
	int rc;

	if (is_stdout(make)) {
		make->fd = STDOUT_FILENO;
		return isatty(make->fd) ? fail(err, -EINVAL, "an archive cannot be written to a terminal") : 0;
	}
	if (!stat(make->reader.path, &recording) && !stat(make->path, &there) &&
	    recording.st_ino == there.st_ino && recording.st_dev == there.st_dev)
		return fail(err, -EEXIST, "it is the recording itself");
	rc = destination_open_stream(make->path, &make->fd, err);
	if (rc)
		return rc < 0 ? rc : 0;
	rc = destination_begin(&make->beside, make->path, err);
	make->fd = make->beside.fd;
	if (rc)
		destination_end(&make->beside);
	return rc;
}

static int end_archive(struct archive_packing *make, bool whole, struct str *err)
{
	int rc = make->beside.name && whole ? destination_put(&make->beside, true, err) : 0;

	if (!make->beside.name && make->fd > STDOUT_FILENO && close(make->fd))
		rc = fail(err, -errno, "%s", strerror(errno));
	destination_end(&make->beside);
	return rc;
}

/* ---- what goes in ---- */

static void miss(struct archive_packing *make, const struct archive_file *file, const char *why)
{
	make->n_missing++;
	str_add(&make->missing, "archive: not found: ");
	str_add_printable(&make->missing, file->path, strlen(file->path));
	str_addf(&make->missing, ": %s\n", why);
}

static void tell_file(const struct archive_packing *make, const struct cache_file *file)
{
	struct str line = STR_INIT;

	if (!make->options->verbose || is_stdout(make))
		return;
	build_id_text(&file->id, &line);
	str_addc(&line, ' ');
	str_add_printable(&line, file->path, strlen(file->path));
	str_add(&line, file->kind == CACHE_DEBUG ? " (debug file)\n" : "\n");
	message_stdout(&line);
	str_release(&line);
}

/* Closes the descriptors. */
static int pack_entry(struct archive_packing *make, struct cache_pack *pack, const struct archive_file *entry,
		      const int fds[N_CACHE_KINDS], struct str *err)
{
	size_t before = make->n_files;
	int rc = 0;

	for (int kind = 0; kind < N_CACHE_KINDS; kind++) {
		const struct cache_file file = {
			.fd = fds[kind], .path = entry->path, .id = entry->id, .kind = (enum cache_kind)kind,
		};
		struct str why = STR_INIT;

		if (fds[kind] < 0)
			continue;
		if (!rc)
			rc = cache_pack_add(pack, &file, &why);
		close(fds[kind]);
		if (!rc) {
			make->n_files++;
			tell_file(make, &file);
		} else if (rc != -EINVAL) {
			str_add(err, why.s);
		}
		str_release(&why);
	}
	if (rc == -EINVAL) {
		miss(make, entry, "its path is not allowed in an archive");
		return 0;
	}
	make->n_entries += make->n_files > before;
	return rc;
}

/* A file that is nowhere is missed, and nothing else. */
static int pack_files(struct archive_packing *make, int fd, const char *name, struct str *err)
{
	struct cache_pack *pack;
	size_t n = archive_files_count(make->files);
	int rc = cache_pack_open(&pack, fd, name, &make->interrupt, err);

	for (size_t i = 0; i < n && !rc; i++) {
		const struct archive_file *entry = archive_files_at(make->files, i);
		struct str why = STR_INIT;
		int fds[N_CACHE_KINDS];

		progress_step(&make->progress, "packing", (double)i / (double)n);
		if (archive_files_open(make->files, i, make->cache, fds, &why))
			miss(make, entry, why.s);
		else
			rc = pack_entry(make, pack, entry, fds, err);
		str_release(&why);
	}
	if (!rc)
		rc = cache_pack_end(pack, &make->bytes, err);
	cache_pack_free(pack);
	return rc;
}

/* One file, as "FOLDER/NAME" or "NAME". read: the one that was read, which it has to be; or NULL. */
static int pack_part(struct cache_pack *pack, const char *path, const char *name, const struct inode *read,
		     struct str *err)
{
	struct str why = STR_INIT;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (read ? 0 : O_NOFOLLOW));
	int rc = fd < 0 || fstat(fd, &st) ? -errno : 0;

	if (rc)
		str_add(&why, strerror(-rc));
	else if (read ? st.st_dev != read->dev || st.st_ino != read->ino : !S_ISREG(st.st_mode))
		rc = fail(&why, -ESTALE, "it was replaced since it was read");
	else
		rc = cache_pack_add_as(pack, name, fd, &why);
	if (fd >= 0)
		close(fd);
	if (rc)
		fail(err, 0, "%s: %s", path, why.s);
	str_release(&why);
	return rc;
}

/* Packs the file, or of a folder (perf.data.5) data, data.0, data.1, ... as the reader has them. */
static int pack_recording(struct archive_packing *make, struct cache_pack *pack, struct str *err)
{
	const char *path = make->reader.path;
	char *copy = xstrdup(path), *base = basename(copy);
	bool more = make->is_folder;
	int rc = more ? 0 : pack_part(pack, path, base, &make->reader.inode, err);

	for (size_t i = 0; more && !rc; i++) {
		char *part = i ? xasprintf("data.%zu", i - 1) : xstrdup("data");
		char *from = xasprintf("%s/%s", path, part), *name = xasprintf("%s/%s", base, part);

		more = !access(from, F_OK);
		if (more)
			rc = pack_part(pack, from, name, i ? NULL : &make->reader.inode, err);
		free(part);
		free(from);
		free(name);
	}
	free(copy);
	return rc;
}

/* The recording, and an archive of the files within this one. */
static int pack_all(struct archive_packing *make, struct str *err)
{
	struct cache_pack *pack = NULL;
	int inner = destination_create_nameless(NULL, err);
	int rc = inner < 0 ? inner : pack_files(make, inner, CACHE_PACK_INNER, err);

	if (!rc)
		rc = cache_pack_open(&pack, make->fd, make->path, &make->interrupt, err);
	progress_step(&make->progress, "packing the recording", -1);
	if (!rc)
		rc = pack_recording(make, pack, err);
	if (!rc)
		rc = cache_pack_add_as(pack, CACHE_PACK_INNER, inner, err);
	if (!rc)
		rc = cache_pack_end(pack, &make->bytes, err);
	cache_pack_free(pack);
	if (inner >= 0)
		close(inner);
	return rc;
}

/* ---- all of it ---- */

static void step_reading(void *context, double part)
{
	struct archive_packing *make = context;

	progress_step(&make->progress, NULL, part);
}

static void step_symbols(void *context, const char *what, double part)
{
	struct archive_packing *make = context;

	progress_step(&make->progress, what, part);
}

static int read_recording(struct archive_packing *make, struct str *err)
{
	const struct session_options options = {
		.sym = { .symfs = make->options->symfs, .buildid_dir = make->options->buildid_dir, .no_inlines = true,
			 .debuginfod = make->options->debuginfod, .progress = step_symbols, .progress_context = make },
		.replay = { .data_maps = true },
	};
	struct stat st;
	int rc = 0;

	make->is_folder = !stat(make->reader.path, &st) && S_ISDIR(st.st_mode);
	if (make->options->all && !strcmp(make->reader.path, "-"))
		rc = fail(err, -EINVAL, "--all needs a recording that is a file or a folder, not a pipe");
	if (!rc)
		rc = archive_files_new(&make->files, &make->reader, &options, step_reading, make, err);
	if (!rc && !archive_files_count(make->files))
		rc = fail(err, -ENOENT, "no file with names has samples: there is nothing to pack");
	return rc;
}

static void tell_missing(struct archive_packing *make)
{
	if (!make->n_missing)
		return;
	if (make->options->verbose) {
		make->missing.s[make->missing.len - 1] = '\0';
		for (char *line = make->missing.s, *end; line; line = end) {
			end = strchr(line, '\n');
			if (end)
				*end++ = '\0';
			message_error("%s", line);
		}
	}
	message_error("archive: %zu of %zu files with samples could not be found%s", make->n_missing,
		      archive_files_count(make->files), make->options->verbose ? "" : ": -v lists them");
}

static int tell_packed(const struct archive_packing *make)
{
	struct str text = STR_INIT;
	int status;

	if (is_stdout(make))
		return 0;
	str_add_printable(&text, make->path, strlen(make->path));
	str_addf(&text, ": %s%zu file%s with symbols\nto report on another machine, run there: pstat archive --unpack ",
		 make->options->all ? "the recording and " : "", make->n_entries, make->n_entries == 1 ? "" : "s");
	str_add_printable(&text, make->path, strlen(make->path));
	str_addc(&text, '\n');
	status = message_stdout(&text);
	str_release(&text);
	return status;
}

static int pack(struct archive_packing *make)
{
	struct str err = STR_INIT;
	bool whole;
	int rc;

	signals_spare_end();
	make->stop = signals_catch_end(&make->interrupt);
	rc = begin_archive(make, &err);
	if (!rc) {
		rc = make->options->all ? pack_all(make, &err) : pack_files(make, make->fd, make->path, &err);
		if (!rc && !make->n_entries)
			rc = fail(&err, -ENOENT, "not made: none of the files with samples could be found");
		whole = !rc;
		if (end_archive(make, whole, &err))
			rc = -EIO;
	}
	progress_end(&make->progress);
	tell_missing(make);
	rc = rc ? fail_with(make->path, err.s) : tell_packed(make);
	str_release(&err);
	return rc && make->stop->signal ? 128 + make->stop->signal : rc;
}

static int check_end(const struct archive_packing *make)
{
	struct str ends = STR_INIT;
	struct stat st;
	bool named = !is_stdout(make) && (stat(make->path, &st) || S_ISREG(st.st_mode));
	int status = 0;

	cache_pack_add_ends(&ends);
	if (named && !cache_pack_end_known(make->path))
		status = bad_usage("archive: '%s': the end of its name says how it is packed: one of %s", make->path,
				   ends.s);
	str_release(&ends);
	return status;
}

/* A recording into an archive. The exit status, after messages. */
static int make_archive(const struct archive_options *options)
{
	struct archive_packing make = { .options = options, .fd = -1, .missing = STR_INIT };
	struct str err = STR_INIT;
	int status = EXIT_PSTAT_FAILED;

	progress_init(&make.progress, "reading the recording", true);
	if (cache_archive_try(&err)) {
		message_error("%s", err.s);
		str_release(&err);
		return status;
	}
	if (recording_open(&make.reader, options->input, &err)) {
		message_error("%s", err.s);
	} else {
		make.path = archive_path(options, make.reader.path);
		status = check_end(&make);
		if (!status &&
		    build_cache_open(&make.cache, options->buildid_dir, options->force ? CACHE_FORCE : 0, &err))
			str_reset(&err); /* one that can't be used has nothing */
		if (!status && read_recording(&make, &err))
			status = fail_with(make.reader.path, err.s);
		else if (!status)
			status = pack(&make);
	}
	progress_end(&make.progress);
	archive_files_free(make.files);
	build_cache_close(make.cache);
	reader_close(&make.reader);
	free(make.path);
	str_release(&make.missing);
	str_release(&err);
	return status;
}

/* ---- an archive into the cache ---- */

enum { REFUSED_TOLD_MAX = 10 };

struct archive_unpacking {
	const struct archive_options *options;
	struct progress progress;
	struct build_cache *cache;
	const char *path;
	int fd;
	uint64_t archive_bytes; /* 0: not known */
	struct unpacked_recordings recordings;
	size_t n_refused;
};

/* ---- which archive ---- */

/* Finds the one of this folder, if there is no other, as perf does. NULL after a message. */
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
		message_error("%s", text.s);
	} else {
		path = xstrdup(found.gl_pathv[0]);
	}
	globfree(&found);
	str_release(&text);
	return path;
}

static int open_packed(struct archive_unpacking *restore)
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

static int open_cache(struct archive_unpacking *restore)
{
	const struct archive_options *options = restore->options;
	char *place = build_cache_place(options->buildid_dir);
	unsigned flags = CACHE_CREATE | (options->force ? CACHE_FORCE : 0);
	struct str err = STR_INIT;
	int status = 0;

	if (!place)
		status = fail_with("archive", "there is no build-id cache: it is switched off, or $HOME is not set\n"
					      "pstat archive --unpack --buildid-dir DIRECTORY");
	else if (build_cache_open(&restore->cache, options->buildid_dir, flags, &err))
		status = fail_with(place, err.s);
	free(place);
	str_release(&err);
	return status;
}

/* ---- what is in it ---- */

static void taken(void *context, const char *path, const struct build_id *id, enum cache_kind kind)
{
	const struct archive_unpacking *restore = context;
	struct str line = STR_INIT;

	if (!restore->options->verbose)
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
	struct archive_unpacking *restore = context;

	if (restore->n_refused++ >= REFUSED_TOLD_MAX)
		return;
	progress_end(&restore->progress);
	message_error("%s: refused: %s", restore->path, text);
}

static int check_recording(int fd, struct str *err)
{
	struct reader reader = { 0 };
	struct record record;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0), rc;

	if (own < 0)
		return fail(err, -errno, "%s", strerror(errno));
	rc = reader_open_fd(&reader, own, "a file that is not a recording", err);
	/* In the layout of pipes events are records. */
	while (!rc && !reader.events.n && (rc = reader_next(&reader, &record, err)) > 0)
		rc = 0;
	if (!rc && !reader.events.n)
		rc = fail(err, -EINVAL, "a file that is not a recording: it has no events");
	reader_close(&reader);
	return rc;
}

static void step_unpacking(void *context, uint64_t packed_bytes)
{
	struct archive_unpacking *restore = context;

	progress_step(&restore->progress, NULL,
		      restore->archive_bytes ? (double)packed_bytes / (double)restore->archive_bytes : -1);
}

/* ---- all of it ---- */

static int tell_unpacked(const struct archive_unpacking *restore, const struct cache_unpack_counts *counts)
{
	const char *dir = build_cache_dir(restore->cache);
	struct str text = STR_INIT;
	int status;

	str_add_printable(&text, restore->path, strlen(restore->path));
	str_addf(&text, ": %zu file%s into ", counts->n_files, counts->n_files == 1 ? "" : "s");
	str_add_printable(&text, dir, strlen(dir));
	if (restore->recordings.done.len)
		str_addf(&text, "; the recording: %s", restore->recordings.done.s);
	str_addc(&text, '\n');
	status = message_stdout(&text);
	str_release(&text);
	return status;
}

static int tell_refused(const struct archive_unpacking *restore)
{
	if (restore->n_refused > REFUSED_TOLD_MAX)
		message_error("%s: %zu more were refused", restore->path, restore->n_refused - REFUSED_TOLD_MAX);
	return restore->n_refused ? EXIT_PSTAT_FAILED : 0;
}

static int unpack(struct archive_unpacking *restore)
{
	const struct cache_unpack how = {
		.cache = restore->cache, .context = restore, .taken = taken, .refused = refused,
		.recordings = &restore->recordings, .progress = step_unpacking,
		.interrupt = &restore->options->interrupt,
	};
	struct cache_unpack_counts counts;
	struct str err = STR_INIT;
	int rc = cache_unpack(restore->fd, &how, &counts, &err), status;

	progress_end(&restore->progress);
	status = tell_refused(restore);
	if (rc)
		status = fail_with(restore->path, err.s);
	else if (!counts.n_files && !counts.n_recordings && !counts.n_refused)
		status = fail_with(restore->path, "it has no file of a recording in it");
	if (counts.n_files || counts.n_recordings)
		rc = tell_unpacked(restore, &counts);
	str_release(&err);
	return status ? status : rc;
}

/* An archive into the cache. The exit status, after messages. */
static int unpack_archive(const struct archive_options *options)
{
	struct archive_unpacking restore = {
		.options = options, .fd = -1,
		.recordings = { .output = options->output, .force = options->force, .check = check_recording,
				.done = STR_INIT },
	};
	char *here = options->input ? NULL : archive_here();
	int status = EXIT_PSTAT_FAILED;

	restore.path = options->input ? options->input : here;
	if (restore.path && !open_packed(&restore) && !open_cache(&restore)) {
		build_cache_interrupt(restore.cache, &options->interrupt);
		progress_init(&restore.progress, "unpacking", true);
		status = unpack(&restore);
	}
	build_cache_close(restore.cache);
	if (restore.fd > STDIN_FILENO)
		close(restore.fd);
	str_release(&restore.recordings.done);
	free(here);
	return status;
}

/* ---- the command ---- */

/* Names are looked for as report does it; -v has nothing to add. */
static int put_into_recording(const struct archive_options *options)
{
	const struct symbols_put how = {
		.cache_dir = options->buildid_dir,
		.symfs = options->symfs,
		.debuginfod = options->debuginfod,
		.no_cache = options->no_cache,
	};
	const char *path = options->input ? options->input : "perf.data";
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), status = EXIT_PSTAT_FAILED;
	struct str why = STR_INIT;
	struct stat st;

	if (fd < 0)
		return fail_with(path, strerror(errno));
	/* Whoever put it there gets what goes into it. */
	if (!options->force && !fstat(fd, &st) && st.st_uid != geteuid()) {
		str_addf(&why, "it belongs to user %u, who would get the names of files that only you may read\n"
			 "use -f to write them anyway", (unsigned)st.st_uid);
		fail_with(path, why.s);
	} else if (!recording_symbols_put(fd, path, &how, options->stop)) {
		status = 0;
	}
	close(fd);
	str_release(&why);
	return status;
}

int cmd_archive(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct archive_options options = { 0 };
	int first, status = command_parse(self, argc, argv, &options, &first);

	(void)kern;
	if (status >= 0)
		return status;
	if (first + 1 < argc || (first < argc && options.input))
		return bad_usage("archive: give one file only; '%s' is another one", argv[argc - 1]);
	if (first < argc)
		options.input = argv[first];
	if (options.all && options.unpack)
		return bad_usage("archive: --all packs, and --unpack unpacks: give one of them");
	if (options.into_recording && (options.all || options.unpack || options.output))
		return bad_usage("archive: --into-recording makes no archive: -o, --all and --unpack don't go with it");
	if (!options.unpack && !options.into_recording)
		return make_archive(&options);
	options.stop = signals_catch_end(&options.interrupt);
	status = options.unpack ? unpack_archive(&options) : put_into_recording(&options);
	return options.stop->signal && status ? 128 + options.stop->signal : status;
}
