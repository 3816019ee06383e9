/* SPDX-License-Identifier: MIT */
/*
 * completion for bash, which matches and quotes nothing itself: what is printed goes into the line as it
 * is. bash replaces only what stands after the last of COMP_WORDBREAKS, $2 in its function, so that the
 * words are cut to that: by how much follows from the typed word and $2, whatever these characters are.
 */
#include "cmd/completion.h"
#include "cmd/shell_words.h"

#include <ctype.h>

static const char script[] =
	"# bash completion for pstat; made by: pstat completion bash\n"
	"# A command that follows pstat's options, from its word in $1 on: as the shell completes it.\n"
	"_pstat_command()\n"
	"{\n"
	"\tlocal before=$((COMP_POINT - ${#1})) rest=$COMP_LINE i function\n"
	"\tfor ((i = 0; i < COMP_CWORD; i++)); do\n"
	"\t\trest=${rest#\"${rest%%\"${COMP_WORDS[i]}\"*}\"}\n"
	"\t\t((${#COMP_LINE} - ${#rest} >= before)) && break\n"
	"\t\trest=${rest#\"${COMP_WORDS[i]}\"}\n"
	"\tdone\n"
	"\tif declare -F _command_offset >/dev/null; then\n"
	"\t\t_command_offset $i\n"
	"\telif ((i == COMP_CWORD)); then\n"
	"\t\t_pstat_lines \"$(compgen -d -c -- \"$2\")\"\n"
	"\t\tcompopt -o filenames\n"
	"\telse\n"
	"\t\tfunction=$(complete -p -- \"${COMP_WORDS[i]##*/}\" 2>/dev/null)\n"
	"\t\tcompopt -o default\n"
	"\t\tcase $function in *' -F '*) ;; *) return ;; esac\n"
	"\t\tfunction=${function#*' -F '} function=${function%% *}\n"
	"\t\tCOMP_WORDS=(\"${COMP_WORDS[@]:i}\") COMP_CWORD=$((COMP_CWORD - i))\n"
	"\t\tCOMP_LINE=${COMP_LINE:before} COMP_POINT=$((COMP_POINT - before))\n"
	"\t\t\"$function\" \"${COMP_WORDS[0]}\" \"$2\" \"$3\"\n"
	"\tfi\n"
	"}\n"
	"# The lines of $1 are offered unchanged.\n"
	"_pstat_lines()\n"
	"{\n"
	"\tlocal line\n"
	"\twhile IFS= read -r line; do\n"
	"\t\t[[ -z $line ]] || COMPREPLY+=(\"$line\")\n"
	"\tdone <<<\"$1\"\n"
	"}\n"
	"# _pstat_files KIND CUT BEFORE PATH: bash itself does it best, where a path begins at a word.\n"
	"_pstat_files()\n"
	"{\n"
	"\tlocal line end\n"
	"\tif [[ $2 == 0 && -z $3 ]]; then\n"
	"\t\tif [[ $1 == files ]]; then compopt -o default; else compopt -o dirnames; fi\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tcompopt -o nospace\n"
	"\twhile IFS= read -r line; do\n"
	"\t\t[[ -n $line ]] || continue\n"
	"\t\tif [[ -d $line ]]; then end=/; else end=' '; fi\n"
	"\t\tprintf -v line %q \"${line:$2}\"\n"
	"\t\tCOMPREPLY+=(\"$3$line$end\")\n"
	"\tdone <<<\"$(if [[ $1 == files ]]; then compgen -f -- \"$4\"; else compgen -d -- \"$4\"; fi)\"\n"
	"}\n"
	"_pstat()\n"
	"{\n"
	"\tlocal pstat=${1//[\\\\\\'\\\"]/} answer kind cut before path\n"
	"\tCOMPREPLY=()\n"
	"\tcase $pstat in \"~/\"*) pstat=$HOME/${pstat:2} ;; esac\n"
	"\ttype -P -- \"$pstat\" >/dev/null || pstat=pstat\n"
	"\tanswer=$(\"$pstat\" completion words bash \"${COMP_LINE:0:COMP_POINT}\" \"$2\" 2>/dev/null) || return 0\n"
	"\tanswer+=$'\\n'\n"
	"\tkind=${answer%%$'\\n'*} answer=${answer#*$'\\n'}\n"
	"\tcase $kind in\n"
	"\twords|parts)\n"
	"\t\t_pstat_lines \"$answer\"\n"
	"\t\tcase $kind${COMPREPLY[0]-} in parts*|*[:/=]) compopt -o nospace ;; esac\n"
	"\t\t;;\n"
	"\tcommand)\n"
	"\t\t_pstat_command \"${answer%%$'\\n'*}\" \"$2\" \"$3\"\n"
	"\t\tcase $answer in *$'\\n'*) _pstat_lines \"${answer#*$'\\n'}\" ;; esac\n"
	"\t\t;;\n"
	"\tprograms) _pstat_lines \"$(compgen -c -- \"$2\")\" ;;\n"
	"\tfiles|directories)\n"
	"\t\t{ read -r cut; IFS= read -r before; IFS= read -r path; } <<<\"$answer\"\n"
	"\t\t_pstat_files $kind \"$cut\" \"$before\" \"$path\"\n"
	"\t\t;;\n"
	"\tesac\n"
	"\treturn 0\n"
	"}\n"
	"complete -F _pstat -o bashdefault pstat\n";

/* ---- words ---- */

/* These mean nothing to bash; all that are beyond ASCII are letters to it. */
static bool is_plain(char c)
{
	return isalnum((unsigned char)c) || (signed char)c < 0 || strchr("_-./:,=+@%^", c);
}

/* false: the word cannot stand in the quotes that are open. */
static bool add_quoted(struct str *out, const char *word, char open)
{
	for (; *word; word++) {
		if (open && strchr("'\"\\$`!", *word))
			return false;
		if (!open && !is_plain(*word))
			str_addc(out, '\\');
		str_addc(out, *word);
	}
	return true;
}

/* Adds the part of a word that bash replaces: from `cut` on. */
static void add_word(struct str *out, const struct offers *offers, const char *word, size_t cut, char open)
{
	size_t typed = strlen(offers_typed(offers));
	struct str whole = STR_INIT, quoted = STR_INIT;

	if (strncmp(word, offers_typed(offers), typed))
		return;
	str_addn(&whole, offers->argv[offers->argc - 1], offers->kept);
	str_add(&whole, word);
	if (add_quoted(&quoted, whole.s + cut, open))
		str_addf(out, "%s\n", quoted.s);
	str_release(&whole);
	str_release(&quoted);
}

/* How much of the typed word stands before what bash calls the word. */
static size_t cut_of(const char *typed, const char *replaced)
{
	struct shell_words words;
	size_t len = strlen(typed), tail, cut = 0;

	shell_words_split(&words, replaced);
	tail = strlen(words.v[0]);
	if (words.n == 1 && tail <= len && !strcmp(typed + len - tail, words.v[0]))
		cut = len - tail;
	shell_words_release(&words);
	return cut;
}

/* argv: the line up to the cursor; $2. */
static void answer(struct str *out, int argc, char **argv, const struct kern *kern)
{
	struct shell_words words;
	struct offers offers;
	const char *last;
	size_t cut;

	if (argc != 2)
		return;
	shell_words_split(&words, argv[0]);
	if (words.n > 1) {
		offers_find(&offers, words.n, words.v, kern);
		last = words.v[words.n - 1];
		cut = cut_of(last, argv[1]);
		completion_add_kind(out, &offers);
		if (offers.kind == OFFER_COMMAND)
			str_addf(out, "%s\n", words.at[offers.command]);
		if (offers.kind == OFFER_FILES || offers.kind == OFFER_DIRECTORIES)
			str_addf(out, "%zu\n%.*s\n%s\n", cut > offers.kept ? cut - offers.kept : 0,
				 cut > offers.kept ? 0 : (int)(offers.kept - cut), last + cut,
				 offers_typed(&offers));
		for (size_t i = 0; i < offers.n; i++)
			add_word(out, &offers, offers.v[i].word, cut, words.open);
		offers_release(&offers);
	}
	shell_words_release(&words);
}

const struct completion_shell bash_completion = { .name = "bash", .script = script, .answer = answer };
