/* SPDX-License-Identifier: MIT */
/*
 * pstat inject: a recording written anew, with build-ids, with waits as samples, with callchains in place of stacks. It
 * goes from a file or a pipe into a file or a pipe, in any combination.
 */
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "cmd/recording_place.h"
#include "inject/inject.h"

#include <sys/stat.h>
#include <unistd.h>

struct inject_words {
	const char *input;
	struct inject_options inject;
	int verbose;
};

#define FIELD(name) .offset = offsetof(struct inject_words, name)
#define INJECT(name) .offset = offsetof(struct inject_words, inject.name)

const struct option_row inject_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to read and to write" },
	{ OPTION_TEXT, 'i', "input", "file", "the recording (stdin or perf.data); -: stdin", FIELD(input),
	  .value = VALUE_FILE },
	{ OPTION_TEXT, 'o', "output", "file", "the new recording (standard output); -: stdout", INJECT(output),
	  .value = VALUE_FILE },
	{ .kind = OPTION_GROUP, .help = "What to change" },
	{ OPTION_FLAG, 'b', "build-ids", NULL, "add build-ids of the files that samples are in", INJECT(build_ids) },
	{ OPTION_FLAG, 0, "buildid-all", NULL, "add build-ids of all files that were mapped", INJECT(all_build_ids) },
	{ OPTION_FLAG, 0, "mmap2-buildid-all", NULL, "put build-ids into the records of all mappings",
	  INJECT(map_build_ids) },
	{ OPTION_FLAG, 'B', "mmap2-buildids", NULL, "leave out mappings without samples, put build-ids into others",
	  INJECT(used_maps) },
	{ OPTION_TEXT, 0, "known-build-ids", "list", "build-ids to use: 'buildid path[,buildid path...]'",
	  INJECT(known_build_ids) },
	{ OPTION_FLAG, 'j', "jit", NULL, "make ELF files of dumps of run-time compilers, and map them", INJECT(jit) },
	{ OPTION_FLAG, 's', "sched-stat", NULL, "make samples of waits of sched_switch and sched_stat_*",
	  INJECT(waits) },
	{ OPTION_FLAG, 0, "convert-callchain", NULL, "replace copies of stacks with callchains", INJECT(chains) },
	{ .kind = OPTION_GROUP, .help = "Common" },
	{ OPTION_COUNT, 'v', "verbose", NULL, "print why files have no build-id, and what was written",
	  FIELD(verbose) },
	{ OPTION_FLAG, 'f', "force", NULL, "use JIT maps and dumps of any owner", INJECT(sym.force) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 'k', "vmlinux", "file", .help = "the build-id is the running kernel's own",
	  .value = VALUE_FILE },
	{ OPTION_ACCEPTED, 0, "ignore-vmlinux", NULL, .help = "the build-id is the running kernel's own" },
	{ OPTION_ACCEPTED, 0, "kallsyms", "file", .help = "the build-id is the running kernel's own",
	  .value = VALUE_FILE },
	{ OPTION_REFUSED, 0, "aslr", NULL, .help = "registers and stacks would still tell addresses" },
	{ OPTION_ACCEPTED, 0, "unwind-style", "libunwind|libdw",
	  .help = "stacks are unwound as pstat report does it", .value = VALUE_ONE_OF },
	{ OPTION_REFUSED, 0, "itrace", "options", .help = "instruction traces (AUX) are not decoded",
	  .argument_optional = true },
	{ OPTION_REFUSED, 0, "strip", NULL, .help = "instruction traces (AUX) are not decoded" },
	{ OPTION_REFUSED, 0, "vm-time-correlation", "options", .help = "instruction traces (AUX) are not decoded",
	  .argument_optional = true },
	{ OPTION_REFUSED, 0, "guest-data", "options", .help = "recordings of guests are not joined",
	  .argument_optional = true },
	{ OPTION_REFUSED, 0, "guestmount", "directory", .help = "recordings of guests are not joined",
	  .value = VALUE_DIRECTORY },
	{ .kind = OPTION_END },
};

static void show_progress(void *context, double part)
{
	progress_step(context, NULL, part);
}

static void print_end(const struct reader *reader, const struct inject_words *words, const struct inject_result *result,
		      uint64_t broken)
{
	message_notes(&reader->notes, 0, words->verbose > 0);
	message_notes(&result->notes, 0, words->verbose > 0);
	if (reader->missing.len)
		message_error("%s: %s", reader->path, reader->missing.s);
	if (broken)
		message_error("%s: %llu records could not be decoded and are left out", reader->path,
			      (unsigned long long)broken);
	if (words->verbose)
		message_error("%s: %llu records, %llu bytes", words->inject.output, (unsigned long long)result->records,
			      (unsigned long long)result->bytes);
}

/* A file on standard input is meant, as of perf's, which reads nothing else where no input is named. */
static bool file_is_stdin(void)
{
	struct stat st;

	return !fstat(STDIN_FILENO, &st) && S_ISREG(st.st_mode);
}

static int inject(struct inject_words *words)
{
	struct inject_result result = { .records = 0 };
	struct progress progress;
	struct str err = STR_INIT;
	struct reader reader;
	uint64_t broken = 0;
	int rc = recording_open(&reader, words->input, &err);

	if (rc) {
		message_error("%s", err.s);
	} else {
		progress_init(&progress, "writing the recording anew", true);
		words->inject.progress = show_progress;
		words->inject.progress_context = &progress;
		rc = inject_run(&reader, &words->inject, &result, &broken, &err);
		progress_end(&progress);
		print_end(&reader, words, &result, broken);
		if (rc)
			message_error("%s: %s", reader.path, err.s);
	}
	note_list_release(&result.notes);
	reader_close(&reader);
	str_release(&err);
	return rc || broken ? EXIT_PSTAT_FAILED : 0;
}

int cmd_inject(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct inject_words words = { .input = NULL };
	int status = command_parse(self, argc, argv, &words, NULL);

	(void)kern;
	if (status >= 0)
		return status;
	if (!words.inject.output) {
		if (isatty(STDOUT_FILENO))
			return bad_usage("inject: standard output is a terminal; -o names the new recording");
		words.inject.output = "-";
	}
	if (!words.input && file_is_stdin())
		words.input = "-";
	return inject(&words);
}
