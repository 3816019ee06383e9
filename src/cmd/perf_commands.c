/*
 * A word that perf's users know as a subcommand never becomes a program to count: a script that says
 * `pstat trace` would mean /usr/bin/trace today and something else on the day that pstat has a trace. So each
 * is refused with what to use instead. When pstat gets one of them, its row here goes.
 */
#include "cmd/perf_commands.h"

#include "util/util.h"

/* perf 6.1 to 6.12, `perf --list-cmds`. To add one: a row here; tests/cli/options.sh compares with perf. */
static const struct {
	const char *name;
	const char *instead;
} perf_commands[] = {
	{ "bench", "perf bench runs under pstat too: pstat -- perf bench ..." },
	{ "c2c", "pstat record -d -W, then pstat report --mem-mode, where the CPU samples memory accesses" },
	{ "check", "pstat version --build-options says what this build has" },
	{ "config", "pstat has no configuration file: all is said by options, and buildid.dir by perf's" },
	{ "daemon", "pstat record --switch-output --control, started by the service manager" },
	{ "data", "pstat script -j makes JSON of a recording" },
	{ "ftrace", "pstat record -a -e ftrace:function, where the kernel has it; or trace-cmd" },
	{ "inject", "pstat report needs no such step: build-ids are in the recording, code made at run time is "
		    "read from its jitdump files" },
	{ "iostat", "pstat stat -I 1000 with the events of the I/O units, see pstat list pmu" },
	{ "kallsyms", "grep -w NAME /proc/kallsyms" },
	{ "kmem", "pstat record -a -g -e kmem:kmalloc, then pstat report" },
	{ "kvm", "pstat record -a -e kvm:kvm_exit, then pstat report -s trace" },
	{ "kwork", "pstat record -a -e irq:softirq_entry,workqueue:workqueue_execute_start, then pstat script" },
	{ "lock", "pstat record -a -g -e lock:contention_begin, then pstat report" },
	{ "mem", "pstat record -d -W, then pstat report --mem-mode, where the CPU samples memory accesses" },
	{ "probe", "pstat names functions in -e, without a step before: pstat list probe" },
	{ "sched", "pstat record -a -e sched:sched_switch,sched:sched_wakeup, then pstat script" },
	{ "test", "make check, in pstat's sources" },
	{ "timechart", "pstat record -a -e sched:sched_switch, then pstat script" },
	{ "trace", "pstat record -e raw_syscalls:sys_enter, then pstat script; or strace" },
};

const char *perf_command_instead(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(perf_commands); i++)
		if (!strcmp(perf_commands[i].name, name))
			return perf_commands[i].instead;
	return NULL;
}
