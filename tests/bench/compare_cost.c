/* SPDX-License-Identifier: MIT */
/*
 * The cost of a comparison. `compare_cost runs N PROGRAM` is what pstat compare is measured against: a loop of fork,
 * exec and wait4. `compare_cost rows N ROWS` prints the ms in which the numbers of N rounds of two commands become
 * verdicts.
 */
#include "compare/compare.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_bare(long n, char *program)
{
	char *argv[] = { program, NULL };
	int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	for (long i = 0; i < n; i++) {
		struct rusage usage;
		pid_t pid = fork();
		int status;

		if (!pid) {
			dup2(null_fd, STDOUT_FILENO);
			execv(program, argv);
			_exit(127);
		}
		if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status)
			errx(1, "%s did not run", program);
	}
}

static void time_analysis(size_t n_rounds, size_t n_columns)
{
	static char name[] = "row", unit[] = "s";
	const struct compare_question question = { .alpha = 0.05, .threshold = 0.01 };
	struct compare_command commands[2] = { { .name = name, .text = name }, { .name = name, .text = name } };
	struct compare_data data = {
		.commands = commands, .n_commands = 2, .n_columns = n_columns, .n_rounds = n_rounds,
	};
	struct chance chance = { 1 };
	struct compare_result result;
	uint64_t began;

	data.columns = xcalloc(n_columns, sizeof(*data.columns));
	data.courses = xcalloc(2 * n_rounds, sizeof(*data.courses));
	data.values = xcalloc(2 * n_rounds * n_columns, sizeof(*data.values));
	for (size_t i = 0; i < n_columns; i++)
		data.columns[i] = (struct compare_column){ i ? COMPARE_EVENT : COMPARE_WALL, name, unit };
	for (size_t i = 0; i < 2 * n_rounds * n_columns; i++)
		data.values[i] = 1 + (double)chance_below(&chance, 1000000) / 1e7;
	began = now_ns();
	compare_analyse(&data, &question, &result);
	printf("%.1f\n", (double)(now_ns() - began) / 1e6);
	compare_result_release(&result);
	free(data.columns);
	free(data.courses);
	free(data.values);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "runs"))
		run_bare(atol(argv[2]), argv[3]);
	else if (argc == 4 && !strcmp(argv[1], "rows"))
		time_analysis((size_t)atol(argv[2]), (size_t)atol(argv[3]));
	else
		errx(2, "usage: compare_cost runs N PROGRAM | rows N ROWS");
	return 0;
}
