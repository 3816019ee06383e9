/* SPDX-License-Identifier: MIT */
/*
 * command: the parts that all subcommands share: finding one, parsing its options, printing its help and usage
 * errors.
 */
#include "cmd/command.h"
#include "cmd/message.h"

#include <errno.h>

const struct command *command_find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

void command_add_help(struct str *out, const struct command *command)
{
	str_addf(out, "Usage: pstat %s%s%s\n\n%s\n", command->name, command->synopsis[0] ? " " : "",
		 command->synopsis, command->summary);
	options_add_help(out, command->options);
}

void commands_add_help(struct str *out)
{
	str_add(out, "Usage: pstat [<options>] <command> [<arguments>]\n"
		     "       pstat <options> [<program>]    the same as pstat stat\n"
		     "       pstat -- <program>             so is this\n\n"
		     "Commands of pstat\n");
	for (const struct command *c = commands; c->name; c++)
		str_addf(out, "    %-14s %s\n", c->name, c->summary);
	str_add(out, "\nOptions\n"
		     "    -h, --help    this list; after a command, its options\n"
		     "    --version     the version of pstat; -v alone is the same\n");
	options_add_help(out, global_options);
}

static int refuse_word(const struct command *self, const char *word)
{
	for (const struct option_row *row = self->options; row->kind != OPTION_END; row = option_next(row))
		if (row->letter == 'i')
			return bad_usage("%s: '%s' is not an option; the recording is named with -i", self->name, word);
	return bad_usage("%s: it takes no argument, but '%s' was given", self->name, word);
}

int command_parse(const struct command *self, int argc, char **argv, void *target, int *first)
{
	struct str text = STR_INIT;
	int end = argc;
	int rc = self->options_end ? options_parse(self->options, argc, argv, target, &end, &text)
				   : options_parse_all(self->options, argc, argv, target, &end, &text);

	if (!rc) {
		rc = !first && end < argc ? refuse_word(self, argv[end]) : -1;
		if (first)
			*first = end;
	} else if (rc == OPTIONS_HELP) {
		str_reset(&text);
		command_add_help(&text, self);
		rc = message_stdout(&text);
	} else {
		message_error("%s", text.s);
		rc = rc == -ENOTSUP ? EXIT_PSTAT_FAILED : EXIT_BAD_USAGE;
	}
	str_release(&text);
	return rc;
}

int bad_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message_error_of(fmt, ap);
	va_end(ap);
	return EXIT_BAD_USAGE;
}
