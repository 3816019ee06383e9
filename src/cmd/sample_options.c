/* SPDX-License-Identifier: MIT */
/*
 * sample_options: rows that report, script, annotate, diff, export and top share, and the check of names of files and
 * folders that were typed.
 */
#include "cmd/sample_options.h"

#include "cmd/command.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int take_debug_dir(void *target, const char *argument, struct str *err)
{
	struct sample_words *words = target;

	for (size_t i = 0; i < DEBUG_DIRS_MAX; i++) {
		if (words->debug_dirs[i])
			continue;
		words->debug_dirs[i] = argument;
		return 0;
	}
	return fail(err, -EINVAL, "--debug-dir: at most %d can be given", DEBUG_DIRS_MAX);
}

/* "DIRECTORY", "DIRECTORY,flat", "DIRECTORY,hierarchy" */
static int take_symfs(void *target, const char *argument, struct str *err)
{
	struct sample_words *words = target;
	const char *comma = strrchr(argument, ',');
	size_t n = strlen(argument);

	words->session.sym.symfs_flat = comma && !strcmp(comma, ",flat");
	if (words->session.sym.symfs_flat || (comma && !strcmp(comma, ",hierarchy")))
		n = (size_t)(comma - argument);
	if (n >= sizeof(words->symfs))
		return fail(err, -EINVAL, "--symfs: %s", strerror(ENAMETOOLONG));
	memcpy(words->symfs, argument, n);
	words->symfs[n] = '\0';
	words->session.sym.symfs = words->symfs;
	return 0;
}

static int take_unwinder(void *target, const char *argument, struct str *err)
{
	struct sample_words *words = target;

	if (!unwind_known(argument))
		return fail(err, -EINVAL, "--unwinder or --unwind-style: '%s' is not rows, libunwind or libdw",
			    argument);
	words->session.unwinder = argument;
	return 0;
}

#define FIELD(name) .offset = offsetof(struct sample_words, name)
#define SYM(name) .offset = offsetof(struct sample_words, session.sym.name)
#define FILTER(name) .offset = offsetof(struct sample_words, filters.name)

const struct option_row name_options[] = {
	{ .kind = OPTION_GROUP, .help = "Where names come from" },
	{ OPTION_CALL, 0, "symfs", "directory[,flat]", "look up all files below this directory, or in it",
	  .call = take_symfs, .value = VALUE_DIRECTORY },
	{ OPTION_TEXT, 'k', "vmlinux", "file", "ELF file of the kernel", SYM(vmlinux),
	  .value = VALUE_FILE },
	{ OPTION_TEXT, 0, "kallsyms", "file", "copy of the kernel's /proc/kallsyms", SYM(kallsyms),
	  .value = VALUE_FILE },
	{ OPTION_FLAG, 0, "ignore-vmlinux", NULL, "do not look for an ELF file of the kernel",
	  SYM(ignore_vmlinux) },
	{ OPTION_CALL, 0, "debug-dir", "directory", "look for debug files here too; repeatable",
	  .call = take_debug_dir, .value = VALUE_DIRECTORY },
	{ OPTION_TEXT, 0, "buildid-dir", "directory", "the build-id cache ($HOME/.debug)", SYM(buildid_dir),
	  .value = VALUE_DIRECTORY },
	{ OPTION_FLAG, 0, "no-cache", NULL, "do not use the cache in ~/.cache/pstat", FIELD(no_cache) },
	{ OPTION_FLAG, 0, "debuginfod", NULL, "get debug files from $DEBUGINFOD_URLS",
	  SYM(debuginfod) },
	{ OPTION_UNSIGNED, 0, "debuginfod-timeout", "seconds", "time limit for all files together (30)",
	  SYM(debuginfod_seconds), .min = 1, .max = 86400, .unit = "s" },
	{ OPTION_FLAG, 0, "no-demangle", NULL, "do not demangle names", SYM(no_demangle),
	  .both = false },
	{ OPTION_FLAG, 0, "no-bounds", NULL, "do not look for functions in stripped code", SYM(no_bounds) },
	{ OPTION_FLAG, 0, "no-inline", NULL, "do not add frames of inlined functions", SYM(no_inlines) },
	{ .kind = OPTION_GROUP, .help = "Common" },
	{ OPTION_COUNT, 'v', "verbose", NULL,
	  "print addresses, paths, C++ parameters, notes", FIELD(verbose) },
	{ OPTION_FLAG, 'q', "quiet", NULL, "print no notes", FIELD(quiet) },
	{ OPTION_CHOICE, 0, "color", "always|never|auto", "auto: on terminals, unless NO_COLOR is set",
	  .value = VALUE_ONE_OF, FIELD(color), .min = COLOR_ALWAYS },
	{ OPTION_CHOICE, 0, "stdio-color", "always|never|auto", "the same (perf's name)",
	  .value = VALUE_ONE_OF, FIELD(color), .min = COLOR_ALWAYS },
	{ OPTION_FLAG, 0, "no-pager", NULL, "do not use a pager", FIELD(no_pager) },
	{ .kind = OPTION_END },
};

const struct option_row sample_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to read, and which samples" },
	{ OPTION_TEXT, 'i', "input", "file", "the recording (pipe or perf.data); -: stdin",
	  FIELD(dump.input), .value = VALUE_FILE },
	{ OPTION_TEXT, 'c', "comms", "names", "only samples of tasks with these names", FILTER(comms) },
	{ OPTION_TEXT, 'C', "cpu", "list", "only samples on these CPUs", FILTER(cpus) },
	{ OPTION_TEXT, 'd', "dsos", "names", "only samples in these files", FILTER(dsos) },
	{ OPTION_TEXT, 'S', "symbols", "names", "only samples in these functions", FILTER(symbols) },
	{ OPTION_TEXT, 0, "pid", "list", "only samples of these processes", FILTER(pids) },
	{ OPTION_TEXT, 0, "tid", "list", "only samples of these threads", FILTER(tids) },
	{ OPTION_TEXT, 0, "time", "spans",
	  "only samples in these spans: 1.5,3.25 or 10%/2", FILTER(time) },
	{ OPTION_TEXT, 0, "switch-on", "event", "only samples after one of this event", FILTER(switch_on),
	  .value = VALUE_EVENT },
	{ OPTION_TEXT, 0, "switch-off", "event", "no samples after one of this event", FILTER(switch_off),
	  .value = VALUE_EVENT },
	{ OPTION_FLAG, 0, "show-on-off-events", NULL, "print samples of these two events too",
	  FILTER(switches_shown) },
	{ OPTION_UNSIGNED, 0, "max-stack", "n", "use at most n frames of a callchain (127)",
	  FIELD(session.max_stack),
	  .min = 1, .max = 65535 },
	{ OPTION_FLAG, 0, "user-stacks", NULL, "use only the user frames of callchains", FIELD(user_stacks) },
	{ OPTION_FLAG, 0, "kernel-stacks", NULL, "use only the kernel frames of callchains",
	  FIELD(kernel_stacks) },
	{ OPTION_CALL, 0, "unwinder", "rows|libunwind|libdw", "engine that unwinds sampled stacks (rows)",
	  .call = take_unwinder, .value = VALUE_ONE_OF },
	{ OPTION_CALL, 0, "unwind-style", "libunwind|libdw", "the same (perf's name)",
	  .call = take_unwinder, .value = VALUE_ONE_OF },
	{ OPTION_FLAG, 0, "disable-order", NULL, "read records in file order, not by time",
	  FIELD(session.replay.file_order) },
	{ OPTION_FLAG, 'f', "force", NULL,
	  "use JIT maps and dumps of any owner", SYM(force) },
	{ .kind = OPTION_END, .more = name_options },
};

/* 0, or an exit status after a message: a name that was typed is to be there. */
static int check_path(const char *option, const char *path, bool folder)
{
	struct stat st;

	if (!path || !*path)
		return 0;
	if (stat(path, &st))
		return bad_usage("%s: '%s': %s", option, path, strerror(errno));
	if (folder != !!S_ISDIR(st.st_mode))
		return bad_usage("%s: '%s': %s", option, path, strerror(folder ? ENOTDIR : EISDIR));
	return 0;
}

static int check_paths(const struct sample_words *words)
{
	const struct sym_options *sym = &words->session.sym;
	const struct {
		const char *option, *path;
		bool folder;
	} rows[] = {
		{ "--vmlinux", sym->vmlinux, false },
		{ "--kallsyms", sym->kallsyms, false },
		{ "--symfs", sym->symfs, true },
		{ "--buildid-dir", sym->buildid_dir, true },
	};
	int status = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows) && !status; i++)
		status = check_path(rows[i].option, rows[i].path, rows[i].folder);
	for (size_t i = 0; words->debug_dirs[i] && !status; i++)
		status = check_path("--debug-dir", words->debug_dirs[i], true);
	return status;
}

/* Finds the kernel's code beside the recording (record --kcore). */
static void find_kcore(struct sample_words *words)
{
	const char *input = words->dump.input ? words->dump.input : "perf.data";
	int n = snprintf(words->kcore_dir, sizeof(words->kcore_dir), "%s/kcore_dir", input);

	if (n < (int)sizeof(words->kcore_dir) && !access(words->kcore_dir, F_OK))
		words->session.sym.kcore_dir = words->kcore_dir;
}

int sample_words_finish(struct sample_words *words)
{
	if (words->user_stacks && words->kernel_stacks)
		return bad_usage("--user-stacks and --kernel-stacks leave nothing of a stack; give one");
	if (words->user_stacks || words->kernel_stacks)
		words->session.part = words->user_stacks ? STACK_USER : STACK_KERNEL;
	words->session.sym.verbose = words->verbose > 0;
	words->session.sym.keep_answers = !words->no_cache;
	words->session.sym.debug_dirs = words->debug_dirs[0] ? words->debug_dirs : NULL;
	find_kcore(words);
	return check_paths(words);
}
