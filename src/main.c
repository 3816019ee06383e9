/* SPDX-License-Identifier: MIT */
/*
 * pstat: which subcommand is meant, and the exit status.
 *
 * The first word decides: it is a subcommand, or an option, then it is "stat" that was left out. No other
 * word is taken for a program to count: what a script means would change with each subcommand that is
 * added. A program stands after an option or after "--".
 */
#include "cmd/cmd.h"
#include "cmd/command.h"
#include "cmd/config.h"
#include "cmd/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * To add a subcommand: cmd/cmd_X.c with its option rows and a function, a line for both in command.h,
 * a row here, man/pstat-X.1, a test in tests/cli.
 */
const struct command commands[] = {
	{ "stat", "[<options>] [record | report] [<command>]",
	  "count events while a command, a process or a machine runs",
	  stat_options, "", .run = cmd_stat, .measures = true, .options_end = true, .parts = stat_parts },
	{ "record", "[<options>] [<command>]", "sample events into a file", record_options, "", .run = cmd_record,
	  .measures = true, .options_end = true },
	{ "report", "[<options>]", "sum up a recording by function, file, task, ...",
	  report_options, "", .run = cmd_report },
	{ "diff", "[<options>] [<old> [<new>...]]", "compare recordings, and tell changes from noise",
	  diff_options, "", .run = cmd_diff },
	{ "compare", "[<options>] <command>... | [<options>] -- <command> ::: <command>...",
	  "run commands side by side, and tell changes from chance", compare_options, NULL, .run = cmd_compare },
	{ "annotate", "[<options>] [<symbol>]", "show code with the samples of each instruction",
	  annotate_options, "", .run = cmd_annotate },
	{ "script", "[<options>] [<argument>...]", "print the samples of a recording one by one", script_options, "",
	  .run = cmd_script, .options_end = true },
	{ "trace", "[<options>] [record] [<command>]", "print the system calls of a command, a process or a machine",
	  trace_options, "", .run = cmd_trace, .measures = true, .options_end = true, .parts = trace_parts },
	{ "top", "[<options>]", "show what runs now, by function, file, task, ...", top_options, "",
	  .run = cmd_top },
	{ "profile", "[<options>] [<duration>] [-- <command>]",
	  "print the stacks of what runs, without a file",
	  profile_options, NULL, .run = cmd_profile, .measures = true },
	{ "sched", "record|timehist|latency|map|tasks|page [<options>]",
	  "print when tasks ran, and why they waited", sched_options, "", .run = cmd_sched, .options_end = true,
	  .parts = sched_parts },
	{ "evlist", "[<options>]", "list the events of a recording", evlist_options, "", .run = cmd_evlist },
	{ "buildid-list", "[<options>]", "list the files of a recording and their build-ids",
	  buildid_list_options, "", .run = cmd_buildid_list },
	{ "buildid-cache", "<options>", "manage the build-id cache, which perf shares",
	  buildid_cache_options, "", .run = cmd_buildid_cache },
	{ "inject", "[<options>]", "write a recording anew, with build-ids, waits, callchains",
	  inject_options, "", .run = cmd_inject },
	{ "archive", "[<options>] [<file>]", "pack what a report of a recording needs elsewhere",
	  archive_options, "", .run = cmd_archive },
	{ "export", "[<options>]", "write the samples of a recording as JSON lines or SQLite", export_options,
	  "", .run = cmd_export },
	{ "data", "convert <options>", "write a recording as perf's JSON", data_options, "convert", .run = cmd_data },
	{ "exporter", "<options>", "export counts of the machine or of cgroups to Prometheus",
	  exporter_options, "", .run = cmd_exporter },
	{ "list",
	  "[<options>] [hw|sw|cache|tool|raw|pmu|tracepoint|breakpoint|probe|pfm|metric|<pattern>]...",
	  "list the events and metrics of this machine", list_options,
	  "hw sw cache tool raw pmu tracepoint breakpoint probe pfm metric", .run = cmd_list },
	{ "probe", "<options>", "set, list and remove probes in programs and the kernel", probe_options, "",
	  .run = cmd_probe },
	{ "doctor", "[<options>]", "check what this machine and this user can measure",
	  doctor_options, "", .run = cmd_doctor },
	{ "config", "[<options>] [<section.name>[=<value>]...]", "print or set values of perf's configuration",
	  config_options, "", .run = cmd_config },
	{ "kallsyms", "[<options>] <symbol>...", "print where symbols of the running kernel are", kallsyms_options,
	  "", .run = cmd_kallsyms },
	{ "check", "[<options>] feature <feature>[,<feature>...]", "check for features by perf's names",
	  check_options, "feature", .run = cmd_check, .options_end = true },
	{ "completion", "bash|zsh|fish", "print a script that completes pstat's words in a shell", completion_options,
	  "bash zsh fish", .run = cmd_completion, .options_end = true },
	{ "version", "[<options>]", "print the version of pstat", version_options, "", .run = cmd_version },
	{ "help", "[<command>]", "show the manual page of a command", help_options, NULL, .run = cmd_help },
	{ .name = NULL },
};

struct global_words {
	const char *buildid_dir;
	bool no_pager, list_commands, list_options;
};

#define FIELD(name) .offset = offsetof(struct global_words, name)

/* To add one: a row, what it means in take_globals(), pstat(1). */
const struct option_row global_options[] = {
	{ .kind = OPTION_GROUP, .help = "Options before a command" },
	{ OPTION_TEXT, 0, "buildid-dir", "directory", "the build-id cache", FIELD(buildid_dir),
	  .value = VALUE_DIRECTORY },
	{ OPTION_FLAG, 0, "no-pager", NULL, "do not use a pager", FIELD(no_pager) },
	{ OPTION_ACCEPTED, 0, "paginate", NULL, .help = "long text on a terminal uses a pager" },
	{ OPTION_ACCEPTED, 0, "debug", "what", .help = "-v after a command prints more" },
	{ OPTION_FLAG, 0, "list-cmds", NULL, "print the names of the commands only", FIELD(list_commands) },
	{ OPTION_FLAG, 0, "list-opts", NULL, "print the names of these options only", FIELD(list_options) },
	{ OPTION_REFUSED, 0, "exec-path", "directory", .help = "pstat is a single program",
	  .argument_optional = true },
	{ OPTION_REFUSED, 0, "html-path", NULL, .help = "the manual is not in HTML", .instead = "pstat help" },
	{ .kind = OPTION_END },
};

/*
 * Subcommands of perf that pstat does not have, and what does the same. Such a word never becomes a program to
 * count: a script that says `pstat mem` would mean /usr/bin/mem today and something else on the day that pstat
 * has a mem. They are those of `perf --list-cmds`, perf 6.1 to 6.12. To add one: a row here; tests/cli/options.sh
 * compares with perf.
 */
static const struct {
	const char *name;
	const char *instead;
} perf_commands[] = {
	{ "bench", "perf bench runs under pstat too: pstat -- perf bench ..." },
	{ "c2c", "pstat record -d -W, then pstat report --mem-mode, where the CPU samples memory accesses" },
	{ "daemon", "pstat record --switch-output --control, started by the service manager" },
	{ "ftrace", "pstat record -a -e ftrace:function, where the kernel has it; or trace-cmd" },
	{ "iostat", "pstat stat -I 1000 with the events of the I/O units, see pstat list pmu" },
	{ "kmem", "pstat record -a -g -e kmem:kmalloc, then pstat report" },
	{ "kvm", "pstat record -a -e kvm:kvm_exit, then pstat report -s trace" },
	{ "kwork", "pstat record -a -e irq:softirq_entry,workqueue:workqueue_execute_start, then pstat script" },
	{ "lock", "pstat record -a -g -e lock:contention_begin, then pstat report" },
	{ "mem", "pstat record -d -W, then pstat report --mem-mode, where the CPU samples memory accesses" },
	{ "test", "make check, in pstat's sources" },
	{ "timechart", "pstat record -a -e sched:sched_switch, then pstat script" },
};

/* NULL: perf has none of that name, or pstat has it too. */
static const char *perf_command_instead(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(perf_commands); i++)
		if (!strcmp(perf_commands[i].name, name))
			return perf_commands[i].instead;
	return NULL;
}

static const char *near_command(const char *word)
{
	struct near_name near;

	near_init(&near, word, strlen(word));
	for (const struct command *c = commands; c->name; c++)
		near_consider(&near, c->name);
	for (const struct command *c = commands; c->name && near_best(&near); c++)
		if (!strcmp(c->name, near_best(&near)))
			return c->name;
	return NULL;
}

/* Neither a subcommand nor an option. */
static int refuse_word(const char *word)
{
	const char *instead = perf_command_instead(word);
	const char *near = instead ? NULL : near_command(word);

	if (instead)
		return bad_usage("'%s' is a command of perf that pstat does not have\n"
				 "instead: %s; to count a program of that name: pstat -- %s",
				 word, instead, word);
	return bad_usage("'%s' is not a command of pstat\n%s%s%sto count a program: pstat -- %s", word,
			 near ? "did you mean pstat " : "", near ? near : "", near ? "? " : "", word);
}

static int no_words(void)
{
	struct str text = STR_INIT;

	commands_add_help(&text);
	(void)!write_all(STDERR_FILENO, text.s, text.len);
	str_release(&text);
	return EXIT_BAD_USAGE;
}

static int list_names(const struct global_words *words)
{
	struct str text = STR_INIT;
	int status;

	for (const struct command *c = commands; c->name && words->list_commands; c++)
		str_addf(&text, "%s\n", c->name);
	for (const struct option_row *row = global_options; row->kind != OPTION_END && words->list_options; row++)
		if (row->name)
			str_addf(&text, "--%s ", row->name);
	if (words->list_options)
		str_add(&text, "--help --version\n");
	status = message_stdout(&text);
	str_release(&text);
	return status;
}

/*
 * Takes the options before the command, which are *n words of argv. -1: go on; else the exit status. They hold for
 * whatever runs then, and are put into the environment.
 */
static int take_globals(int argc, char **argv, int *n)
{
	struct global_words words = { .no_pager = false };
	struct str err = STR_INIT;
	int first, rc, status = -1;

	*n = options_leading(global_options, argc, argv);
	rc = options_parse(global_options, *n + 1, argv, &words, &first, &err);
	if (rc)
		status = rc == -ENOTSUP ? bad_usage("%s", err.s), EXIT_PSTAT_FAILED : bad_usage("%s", err.s);
	else if (words.list_commands || words.list_options)
		status = list_names(&words);
	if (words.buildid_dir)
		setenv("PERF_BUILDID_DIR", words.buildid_dir, 1);
	if (words.no_pager)
		setenv("PSTAT_PAGER", "cat", 1);
	/* perf's -p; pstat's stands before a process id. */
	if (*n + 2 < argc && !strcmp(argv[*n + 1], "-p") && command_find(argv[*n + 2]))
		(*n)++;
	str_release(&err);
	return status;
}

/* perf's -v and -vv, where nothing follows. */
static int print_version(bool all, const struct kern *kern)
{
	char name[] = "version", build[] = "--build-options", *argv[] = { name, build, NULL };
	const struct command *version = command_find(name);

	return version->run(version, all ? 2 : 1, argv, kern);
}

/* "stat" was left out: argv[0], the name of pstat itself, stands for it. */
static int dispatch(int argc, char **argv, const struct kern *kern)
{
	const struct command *command, *stat = command_find("stat");
	struct config_words words = { 0 };
	int n, status;

	if (argc < 2)
		return no_words();
	status = take_globals(argc, argv, &n);
	if (status >= 0)
		return status;
	argv[n] = argv[0];
	argc -= n;
	argv += n;
	if (argc < 2)
		return no_words();
	if (argc == 2 && (!strcmp(argv[1], "-v") || !strcmp(argv[1], "-vv")))
		return print_version(argv[1][2], kern);
	if (!strcmp(argv[1], "--version"))
		command = command_find("version");
	else if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))
		command = command_find("help");
	else
		command = command_find(argv[1]);
	if (command) {
		argc = argv[1][0] == '-' ? 1 : argc - 1;
		argv++;
		config_words_find(&words, command, &argc, &argv);
		status = command->run(command, argc, argv, kern);
		config_words_release(&words);
		return status;
	}
	if (argv[1][0] != '-')
		return refuse_word(argv[1]);
	return stat->run(stat, argc, argv, kern);
}

int pstat_main(int argc, char **argv, const struct kern *kern)
{
	return message_flush_stdout(dispatch(argc, argv, kern));
}

/*
 * A closed 0, 1 or 2 would be given to the next file that is opened, a counter say. Each gets a
 * descriptor that can't be used for its purpose, so that the error comes where it is used; it is closed
 * again for the measured command.
 */
static void hold_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
			return;
	}
}

int main(int argc, char **argv)
{
	const struct kern kern = {
		.sys = &sys_linux,
		.host = { .sysfs = "/sys", .procfs = "/proc", .tracefs = "/sys/kernel/tracing" },
	};

	hold_standard_fds();
	return pstat_main(argc, argv, &kern);
}
