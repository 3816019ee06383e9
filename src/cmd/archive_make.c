/*
 * archive_make: the files of a recording into an archive, and with --all the recording beside them, each as
 * perf-archive names it. The archive is made beside its place and renamed, so that there is none or a whole one.
 */
#include "cmd/archive_files.h"
#include "cmd/archive_words.h"
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "cmd/recording_place.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char default_end[] = ".tar.bz2";

struct make {
	const struct archive_words *words;
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

static bool is_stdout(const struct make *make)
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

static char *archive_path(const struct archive_words *words, const char *recording)
{
	if (words->output)
		return xstrdup(words->output);
	return words->all ? name_of_all() : xasprintf("%s%s", strcmp(recording, "-") ? recording : "perf.data",
						      default_end);
}

static int open_archive(struct make *make, struct str *err)
{
	struct stat recording, there;
	int rc;

	if (is_stdout(make)) {
		make->fd = STDOUT_FILENO;
		return isatty(make->fd) ? fail(err, -EINVAL, "an archive is nothing for a terminal") : 0;
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

static int close_archive(struct make *make, bool whole, struct str *err)
{
	int rc = make->beside.name && whole ? destination_put(&make->beside, true, err) : 0;

	if (!make->beside.name && make->fd > STDOUT_FILENO && close(make->fd))
		rc = fail(err, -errno, "%s", strerror(errno));
	destination_end(&make->beside);
	return rc;
}

/* ---- what goes in ---- */

static void miss(struct make *make, const struct dso *dso, const char *why)
{
	make->n_missing++;
	str_add(&make->missing, "archive: not found: ");
	str_add_printable(&make->missing, dso->path, strlen(dso->path));
	str_addf(&make->missing, ": %s\n", why);
}

static void tell_file(const struct make *make, const struct dso *dso, enum cache_kind kind)
{
	static const char *const kinds[] = {
		[CACHE_ELF] = "", [CACHE_DEBUG] = " (debug file)", [CACHE_VDSO] = "", [CACHE_KALLSYMS] = "",
	};
	struct str line = STR_INIT;

	if (!make->words->verbose || is_stdout(make))
		return;
	build_id_text(&dso->build_id, &line);
	str_addc(&line, ' ');
	str_add_printable(&line, dso->path, strlen(dso->path));
	str_addf(&line, "%s\n", kinds[kind]);
	message_stdout(&line);
	str_release(&line);
}

/* Closes the descriptors. */
static int pack_dso(struct make *make, struct cache_pack *pack, const struct dso *dso, const int fds[N_CACHE_KINDS],
		    struct str *err)
{
	size_t before = make->n_files;
	int rc = 0;

	for (int kind = 0; kind < N_CACHE_KINDS; kind++) {
		const struct cache_file file = {
			.fd = fds[kind], .path = dso->path, .id = dso->build_id, .kind = (enum cache_kind)kind,
		};
		struct str why = STR_INIT;

		if (fds[kind] < 0)
			continue;
		if (!rc)
			rc = cache_pack_add(pack, &file, &why);
		close(fds[kind]);
		if (!rc) {
			make->n_files++;
			tell_file(make, dso, file.kind);
		} else if (rc != -EINVAL) {
			str_add(err, why.s);
		}
		str_release(&why);
	}
	if (rc == -EINVAL) {
		miss(make, dso, "its path is not one that an archive can have");
		return 0;
	}
	make->n_entries += make->n_files > before;
	return rc;
}

/* A file that is nowhere is missed, and nothing else. */
static int pack_files(struct make *make, int fd, const char *name, struct str *err)
{
	struct cache_pack *pack;
	size_t n = archive_files_count(make->files);
	int rc = cache_pack_open(&pack, fd, name, &make->interrupt, err);

	for (size_t i = 0; i < n && !rc; i++) {
		const struct dso *dso = archive_files_at(make->files, i);
		struct str why = STR_INIT;
		int fds[N_CACHE_KINDS];

		progress_step(&make->progress, "packing", (double)i / (double)n);
		if (archive_files_open(make->files, i, make->cache, fds, &why))
			miss(make, dso, why.s);
		else
			rc = pack_dso(make, pack, dso, fds, err);
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

/* Of a folder what is a recording's (perf.data.5): data, and data.0, data.1, ... as the reader has them. */
static int pack_recording(struct make *make, struct cache_pack *pack, struct str *err)
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
static int pack_all(struct make *make, struct str *err)
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

static void step(void *context, double part)
{
	struct make *make = context;

	progress_step(&make->progress, NULL, part);
}

static void step_symbols(void *context, const char *what, double part)
{
	struct make *make = context;

	progress_step(&make->progress, what, part);
}

static int read_recording(struct make *make, struct str *err)
{
	const struct session_options options = {
		.sym = { .symfs = make->words->symfs, .buildid_dir = make->words->buildid_dir, .no_inlines = true,
			 .debuginfod = make->words->debuginfod, .progress = step_symbols, .progress_context = make },
		.replay = { .data_maps = true },
	};
	struct stat st;
	int rc = 0;

	make->is_folder = !stat(make->reader.path, &st) && S_ISDIR(st.st_mode);
	if (make->words->all && !strcmp(make->reader.path, "-"))
		rc = fail(err, -EINVAL, "--all takes a recording that is a file or a folder, not a pipe");
	if (!rc)
		rc = archive_files_new(&make->files, &make->reader, &options, step, make, err);
	if (!rc && !archive_files_count(make->files))
		rc = fail(err, -ENOENT, "no sample is in a file that has names: there is nothing to pack");
	return rc;
}

static int fail_with(const char *path, const struct str *why)
{
	struct str text = STR_INIT;

	str_addf(&text, "%s: %s", path, why->s);
	message_error(text.s);
	str_release(&text);
	return EXIT_PSTAT_FAILED;
}

static void tell_missing(struct make *make)
{
	struct str text = STR_INIT;

	if (!make->n_missing)
		return;
	if (make->words->verbose) {
		make->missing.s[make->missing.len - 1] = '\0';
		for (char *line = make->missing.s, *end; line; line = end) {
			end = strchr(line, '\n');
			if (end)
				*end++ = '\0';
			message_error(line);
		}
	}
	str_addf(&text, "archive: %zu of %zu files with samples could not be found%s", make->n_missing,
		 archive_files_count(make->files), make->words->verbose ? "" : ": -v lists them");
	message_error(text.s);
	str_release(&text);
}

static int tell_done(const struct make *make)
{
	struct str text = STR_INIT;
	int status;

	if (is_stdout(make))
		return 0;
	str_add_printable(&text, make->path, strlen(make->path));
	str_addf(&text, ": %s%zu file%s with symbols\nwhere it is to be reported: pstat archive --unpack ",
		 make->words->all ? "the recording and " : "", make->n_entries, make->n_entries == 1 ? "" : "s");
	str_add_printable(&text, make->path, strlen(make->path));
	str_addc(&text, '\n');
	status = message_stdout(&text);
	str_release(&text);
	return status;
}

static int pack(struct make *make)
{
	struct str err = STR_INIT;
	bool whole;
	int rc;

	make->stop = signals_catch_end(&make->interrupt);
	rc = open_archive(make, &err);
	if (!rc) {
		rc = make->words->all ? pack_all(make, &err) : pack_files(make, make->fd, make->path, &err);
		if (!rc && !make->n_entries)
			rc = fail(&err, -ENOENT, "not made: none of the files with samples could be found");
		whole = !rc;
		if (close_archive(make, whole, &err))
			rc = -EIO;
	}
	progress_end(&make->progress);
	tell_missing(make);
	rc = rc ? fail_with(make->path, &err) : tell_done(make);
	str_release(&err);
	return rc && make->stop->signal ? 128 + make->stop->signal : rc;
}

static int check_end(const struct make *make)
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

int archive_make(const struct archive_words *words)
{
	struct make make = { .words = words, .fd = -1, .missing = STR_INIT };
	struct str err = STR_INIT;
	int status = EXIT_PSTAT_FAILED;

	progress_init(&make.progress, "reading the recording", true);
	if (cache_archive_try(&err)) {
		message_error(err.s);
		str_release(&err);
		return status;
	}
	if (recording_open(&make.reader, words->input, &err)) {
		message_error(err.s);
	} else {
		make.path = archive_path(words, make.reader.path);
		status = check_end(&make);
		if (!status && build_cache_open(&make.cache, words->buildid_dir, words->force ? CACHE_FORCE : 0, &err))
			str_reset(&err); /* one that can't be used has nothing */
		if (!status && read_recording(&make, &err))
			status = fail_with(make.reader.path, &err);
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
