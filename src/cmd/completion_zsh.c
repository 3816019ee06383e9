/* SPDX-License-Identifier: MIT */
/*
 * completion for zsh. The script serves in both ways: as a file _pstat in a folder of $fpath, and read by
 * `source <(pstat completion zsh)` where compinit has run.
 */
#include "cmd/completion.h"

static const char script[] =
	"#compdef pstat\n"
	"# zsh completion for pstat; made by: pstat completion zsh\n"
	"_pstat()\n"
	"{\n"
	"\tlocal pstat=${${(Q)words[1]}/#\\~\\//$HOME/} kind kept line name i=0\n"
	"\tlocal -a answer whole begun comma\n"
	"\twhence -p -- $pstat >/dev/null || pstat=pstat\n"
	"\twhole=(\"${(@Q)words[2,CURRENT-1]}\" \"${(Q)PREFIX}\")\n"
	"\tanswer=(\"${(@f)$($pstat completion words zsh \"${(@)whole}\" 2>/dev/null)}\")\n"
	"\twhole=()\n"
	"\tkind=$answer[1] kept=${answer[2]-}\n"
	"\tanswer=(\"${(@)answer[3,-1]}\")\n"
	"\t# name:help; a colon in a name has a backslash before it\n"
	"\tfor line in $answer; do\n"
	"\t\tname=${line%%$'\\t'*}\n"
	"\t\tline=${name//:/\\\\:}:${line#*$'\\t'}\n"
	"\t\tif [[ $name == *[:/=] ]]; then begun+=(\"${line%:}\"); else whole+=(\"${line%:}\"); fi\n"
	"\tdone\n"
	"\tif [[ $kind == command ]]; then\n"
	"\t\tshift $kept words\n"
	"\t\t((CURRENT -= kept))\n"
	"\t\t_describe -t commands 'pstat command' whole && i=1\n"
	"\t\t_normal || ((i))\n"
	"\t\treturn\n"
	"\tfi\n"
	"\t# What stays may be typed with backslashes.\n"
	"\tuntil [[ ${(Q)PREFIX[1,i]} == \"$kept\" ]] || ((i > $#PREFIX)); do ((i++)); done\n"
	"\tcompset -p $i\n"
	"\tcase $kind in\n"
	"\tfiles) _files ;;\n"
	"\tdirectories) _files -/ ;;\n"
	"\tprograms) _command_names -e ;;\n"
	"\t*)\n"
	"\t\t[[ $kind != parts ]] || comma=(-qS ,)\n"
	"\t\t_describe -t pstat-words word whole $comma -- begun -S ''\n"
	"\t\t;;\n"
	"\tesac\n"
	"}\n"
	"if [[ ${funcstack[1]-} == _pstat ]]; then _pstat \"$@\"; else compdef _pstat pstat; fi\n";

/* argv: the words after pstat, without their quotes. */
static void answer(struct str *out, int argc, char **argv, const struct kern *kern)
{
	struct offers offers;

	if (!argc)
		return;
	/* The word before these is the shell's name, which stands for pstat. */
	offers_find(&offers, argc + 1, argv - 1, kern);
	completion_add_answer(out, &offers);
	offers_release(&offers);
}

const struct completion_shell zsh_completion = { .name = "zsh", .script = script, .answer = answer };
