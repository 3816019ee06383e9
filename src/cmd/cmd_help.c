/* SPDX-License-Identifier: MIT */
/*
 * pstat help [command]: the manual page, or where there is no man program or no page, what -h prints.
 */
#include "cmd/command.h"
#include "cmd/message.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

const struct option_row help_options[] = {
	{ .kind = OPTION_END },
};

/* man's complaints are of no use to someone who then gets the usage. */
static bool show_page(const char *page)
{
	char *argv[] = { xstrdup("man"), xstrdup(page), NULL };
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, "man", &actions, NULL, argv, environ))
		pid = -1;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	posix_spawn_file_actions_destroy(&actions);
	free(argv[0]);
	free(argv[1]);
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int show_command(const struct command *command)
{
	char *page = xasprintf("pstat-%s", command->name);
	struct str text = STR_INIT;
	int status = 0;

	if (!isatty(STDOUT_FILENO) || !show_page(page)) {
		command_add_help(&text, command);
		status = message_stdout(&text);
	}
	str_release(&text);
	free(page);
	return status;
}

static int show_commands(void)
{
	struct str text = STR_INIT;
	int status;

	commands_add_help(&text);
	status = message_stdout(&text);
	str_release(&text);
	return status;
}

int cmd_help(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	const struct command *command;
	struct near_name near;
	int first, status = command_parse(self, argc, argv, NULL, &first);

	(void)kern;
	if (status >= 0)
		return status;
	if (first >= argc)
		return show_commands();
	if (first + 1 < argc)
		return bad_usage("help: give one command only; '%s' is another one", argv[first + 1]);
	command = command_find(argv[first]);
	if (command)
		return show_command(command);
	near_init(&near, argv[first], strlen(argv[first]));
	for (const struct command *c = commands; c->name; c++)
		near_consider(&near, c->name);
	return bad_usage("help: '%s' is no command of pstat%s%s%s", argv[first],
			 near_best(&near) ? "\ndid you mean " : "",
			 near_best(&near) ? near_best(&near) : "", near_best(&near) ? "?" : "");
}
