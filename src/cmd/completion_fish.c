/* SPDX-License-Identifier: MIT */
/*
 * completion for fish, whose candidates are whole words: what stays of the word is put before each.
 */
#include "cmd/completion.h"
#include "cmd/shell_words.h"

static const char script[] =
	"# fish completion for pstat; made by: pstat completion fish\n"
	"# The files that fish offers for a command that it does not know.\n"
	"function __pstat_paths\n"
	"\tset -l path (string escape -n -- $argv[1] | string replace -r '^\\\\\\\\~' '~')\n"
	"\tcomplete -C \"'' $path\"\n"
	"end\n"
	"function __pstat_complete\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l last (commandline -ct)\n"
	"\tset -l pstat (string replace -r '^~/' \"$HOME/\" -- $words[1])\n"
	"\tcommand -sq -- $pstat; or set pstat pstat\n"
	"\tset -l answer (command $pstat completion words fish $words[2..-1] \"$last\" 2>/dev/null)\n"
	"\tset -q answer[2]; or return\n"
	"\tset -l kept $answer[2]\n"
	"\tswitch $answer[1]\n"
	"\tcase words parts\n"
	"\t\tprintf '%s\\n' $kept$answer[3..-1]\n"
	"\tcase files\n"
	"\t\tprintf '%s\\n' $kept(__pstat_paths $answer[3])\n"
	"\tcase directories\n"
	"\t\tprintf '%s\\n' $kept(__pstat_paths $answer[3] | string match -r '.*/$')\n"
	"\tcase programs\n"
	"\t\tprintf '%s\\n' $kept(complete -C \"$answer[3]\")\n"
	"\tcase command\n"
	"\t\tset -l line (string escape -- $words[(math $kept + 1)..-1]) $last\n"
	"\t\tcomplete -C (string join ' ' -- $line)\n"
	"\t\tprintf '%s\\n' $answer[3..-1]\n"
	"\tend\n"
	"end\n"
	"complete -c pstat -f -a '(__pstat_complete)'\n";

/* argv: the words after pstat, the last as it is typed. */
static void answer(struct str *out, int argc, char **argv, const struct kern *kern)
{
	struct shell_words last;
	struct offers offers;

	if (!argc)
		return;
	shell_words_split(&last, argv[argc - 1]);
	argv[argc - 1] = last.v[last.n - 1];
	/* The word before these is the shell's name, which stands for pstat. */
	offers_find(&offers, argc + 1, argv - 1, kern);
	completion_add_answer(out, &offers);
	if (offers.kind != OFFER_WORDS && offers.kind != OFFER_COMMAND)
		str_addf(out, "%s\n", offers_typed(&offers));
	offers_release(&offers);
	shell_words_release(&last);
}

const struct completion_shell fish_completion = { .name = "fish", .script = script, .answer = answer };
