/* SPDX-License-Identifier: MIT */
/*
 * What no program that counts a command can do without: it is forked, held until the eight counters of `pstat stat`
 * are open on it, let go, and waited for; then they are read and printed. `make bench` shows what that takes beside
 * pstat's start-up: the rest is pstat's own.
 *
 *   start_floor COMMAND [ARGUMENT...]
 */
#include <err.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	uint32_t type;
	uint64_t config;
} events[] = {
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
};
enum { EVENTS = sizeof(events) / sizeof(*events) };

static int open_counter(size_t i, pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = events[i].type,
		.config = events[i].config,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static pid_t start_held(char **command, int *release)
{
	int hold[2];
	char byte;
	pid_t pid;

	if (pipe2(hold, O_CLOEXEC))
		err(2, "pipe2");
	pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (!pid) {
		close(hold[1]);
		if (read(hold[0], &byte, 1) != 1)
			_exit(127);
		execvp(command[0], command);
		_exit(127);
	}
	close(hold[0]);
	*release = hold[1];
	return pid;
}

int main(int argc, char **argv)
{
	int fds[EVENTS], release, status;
	uint64_t words[3];
	pid_t pid;

	if (argc < 2)
		errx(2, "usage: start_floor COMMAND [ARGUMENT...]");
	pid = start_held(argv + 1, &release);
	for (size_t i = 0; i < EVENTS; i++)
		fds[i] = open_counter(i, pid);
	if (write(release, "", 1) != 1 || waitpid(pid, &status, 0) != pid)
		err(2, "%s", argv[1]);
	for (size_t i = 0; i < EVENTS; i++)
		if (fds[i] >= 0 && read(fds[i], words, sizeof(words)) == sizeof(words))
			printf("%llu\n", (unsigned long long)words[0]);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
