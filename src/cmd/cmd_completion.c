/* SPDX-License-Identifier: MIT */
/*
 * pstat completion: prints the script that makes a shell complete pstat's words, and answers what these
 * scripts ask, see completion.h.
 */
#include "cmd/completion.h"
#include "cmd/message.h"

const struct option_row completion_options[] = {
	{ .kind = OPTION_END },
};

static const struct completion_shell *const shells[] = { &bash_completion, &zsh_completion, &fish_completion };

static const struct completion_shell *find_shell(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (!strcmp(shells[i]->name, name))
			return shells[i];
	return NULL;
}

int cmd_completion(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	const struct completion_shell *shell = NULL;
	struct str out = STR_INIT;
	bool asked;
	int first, status = command_parse(self, argc, argv, NULL, &first);

	if (status >= 0)
		return status;
	asked = first < argc && !strcmp(argv[first], "words");
	first += asked;
	if (first < argc && (asked || first + 1 == argc))
		shell = find_shell(argv[first]);
	if (!shell)
		return bad_usage("completion: name the shell: pstat completion bash, zsh or fish");
	if (asked)
		shell->answer(&out, argc - first - 1, argv + first + 1, kern);
	else
		str_add(&out, shell->script);
	status = message_stdout(&out);
	str_release(&out);
	return status;
}
