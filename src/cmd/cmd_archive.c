/*
 * pstat archive: what a recording needs to be reported elsewhere, in one file; and --unpack, there.
 */
#include "cmd/archive_words.h"
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/recording_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIELD(name) .offset = offsetof(struct archive_words, name)

const struct option_row archive_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to do" },
	{ OPTION_TEXT, 'i', "input", "file",
	  "the recording (a pipe, else perf.data), or the archive to unpack; - is standard input", FIELD(input),
	  .value = VALUE_FILE },
	{ OPTION_TEXT, 'o', "output", "file",
	  "the archive: .tar.bz2, .tar.zst, .tar.xz, .tar.gz or .tar; of --unpack the recording; - is standard output",
	  FIELD(output), .value = VALUE_FILE },
	{ OPTION_FLAG, 0, "all", NULL, "the recording too", FIELD(all) },
	{ OPTION_FLAG, 0, "unpack", NULL, "an archive into the build-id cache; a recording in it into this folder",
	  FIELD(unpack) },
	{ OPTION_FLAG, 0, "into-recording", NULL, "names of what was sampled into the recording itself; no archive",
	  FIELD(into_recording) },
	{ .kind = OPTION_GROUP, .help = "Where files are" },
	{ OPTION_TEXT, 0, "buildid-dir", "directory", "the build-id cache ($HOME/.debug)", FIELD(buildid_dir),
	  .value = VALUE_DIRECTORY },
	{ OPTION_TEXT, 0, "symfs", "directory", "look up all other files below it", FIELD(symfs),
	  .value = VALUE_DIRECTORY },
	{ OPTION_FLAG, 0, "debuginfod", NULL, "debug files, too: ask the servers of $DEBUGINFOD_URLS",
	  FIELD(debuginfod) },
	{ OPTION_FLAG, 0, "no-cache", NULL, "--into-recording: neither take nor keep names in ~/.cache/pstat",
	  FIELD(no_cache) },
	{ .kind = OPTION_GROUP, .help = "Common" },
	{ OPTION_FLAG, 'f', "force", NULL,
	  "write over a recording that is there; use another user's recording or build-id cache",
	  FIELD(force) },
	{ OPTION_COUNT, 'v', "verbose", NULL, "each file, and why others are missing", FIELD(verbose) },
	{ .kind = OPTION_END },
};

static int fail_with(int fd, struct str *why)
{
	message_error(why->s);
	str_release(why);
	if (fd >= 0)
		close(fd);
	return EXIT_PSTAT_FAILED;
}

/* Names are looked for as report does it; -v has nothing to add. */
static int put_into_recording(const struct archive_words *words)
{
	const struct symbols_put how = {
		.cache_dir = words->buildid_dir,
		.symfs = words->symfs,
		.debuginfod = words->debuginfod,
		.no_cache = words->no_cache,
	};
	const char *path = words->input ? words->input : "perf.data";
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), rc;
	struct str why = STR_INIT;
	struct stat st;

	if (fd < 0) {
		str_addf(&why, "%s: %s", path, strerror(errno));
		return fail_with(fd, &why);
	}
	/* Whoever put it there gets what goes into it. */
	if (!words->force && !fstat(fd, &st) && st.st_uid != geteuid()) {
		str_addf(&why, "%s: it is user %u's, who would get the names of files that only you may read\n"
			 "-f puts them into it all the same", path, (unsigned)st.st_uid);
		return fail_with(fd, &why);
	}
	rc = recording_symbols_put(fd, path, &how, words->stop);
	close(fd);
	return rc ? EXIT_PSTAT_FAILED : 0;
}

int cmd_archive(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct archive_words words = { 0 };
	int first, status = command_parse(self, argc, argv, &words, &first);

	(void)kern;
	if (status >= 0)
		return status;
	if (first + 1 < argc || (first < argc && words.input))
		return bad_usage("archive: one file is enough, but '%s' was given, too", argv[argc - 1]);
	if (first < argc)
		words.input = argv[first];
	if (words.all && words.unpack)
		return bad_usage("archive: --all packs, and --unpack unpacks whatever is there: one of them");
	if (words.into_recording && (words.all || words.unpack || words.output))
		return bad_usage("archive: --into-recording makes no archive: -o, --all and --unpack don't go with it");
	if (!words.unpack && !words.into_recording)
		return archive_make(&words);
	words.stop = signals_catch_end(&words.interrupt);
	status = words.unpack ? archive_restore(&words) : put_into_recording(&words);
	return words.stop->signal && status ? 128 + words.stop->signal : status;
}
