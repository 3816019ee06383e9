/*
 * pstat completion bash: a script that completes subcommands, options, and what options take. All words
 * come from the option rows and from `pstat list --names`, so that the script knows what pstat knows.
 */
#include "cmd/command.h"
#include "cmd/message.h"

const struct option_row completion_options[] = {
	{ .kind = OPTION_END },
};

/* What completes each kind of argument; the script's functions are below. */
static const char *const word_sources[] = {
	[WORDS_ANY] = ":",
	[WORDS_FILE] = "_pstat_files",
	[WORDS_EVENT] = "_pstat_listed hw sw cache tool pmu tracepoint",
	[WORDS_METRIC] = "_pstat_listed metric",
	[WORDS_PID] = "_pstat_pids",
	[WORDS_COMMAND] = "_pstat_programs",
};

static const char script_head[] =
	"# bash completion for pstat; made by: pstat completion bash\n"
	"_pstat_words() { COMPREPLY=($(compgen -W \"$*\" -- \"$cur\")); }\n"
	"_pstat_files() { COMPREPLY=($(compgen -f -- \"$cur\")); compopt -o filenames; }\n"
	"_pstat_programs() { COMPREPLY=($(compgen -c -- \"$cur\")); }\n"
	"_pstat_pids() { COMPREPLY=($(cd /proc && compgen -W \"$(echo [0-9]*)\" -- \"$cur\")); }\n"
	"# A list separated by commas: the last part is completed, behind its sign.\n"
	"_pstat_list()\n"
	"{\n"
	"\tlocal before= part=$cur\n"
	"\tcase $cur in *,*) before=${cur%,*}, part=${cur##*,} ;; esac\n"
	"\tcase $part in [+-]*) before+=${part:0:1} part=${part:1} ;; esac\n"
	"\tCOMPREPLY=($(compgen -P \"$before\" -W \"$*\" -- \"$part\"))\n"
	"\tcompopt -o nospace\n"
	"}\n"
	"# A colon divides words for bash, which then wants only what follows it.\n"
	"_pstat_listed()\n"
	"{\n"
	"\tlocal i\n"
	"\t_pstat_list \"$(pstat list --names \"$@\" 2>/dev/null)\"\n"
	"\t[[ $cur == *:* && $COMP_WORDBREAKS == *:* ]] || return\n"
	"\tfor i in \"${!COMPREPLY[@]}\"; do COMPREPLY[i]=${COMPREPLY[i]#\"${cur%\"${cur##*:}\"}\"}; done\n"
	"}\n"
	"_pstat()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=stat i\n"
	"\t# sched:sched_sw is three words to bash\n"
	"\tfor ((i = COMP_CWORD; i > 2; i--)); do\n"
	"\t\t[[ ${COMP_WORDS[i]} == : || ${COMP_WORDS[i-1]} == : ]] || break\n"
	"\t\tcur=${COMP_WORDS[i-1]}$cur prev=${COMP_WORDS[i-2]}\n"
	"\tdone\n"
	"\t# so is --input=file\n"
	"\tif [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
	"\tCOMPREPLY=()\n"
	"\tcase ${COMP_WORDS[1]} in\n";

static void add_command_names(struct str *out, const char *separator)
{
	for (const struct command *c = commands; c->name; c++)
		str_addf(out, "%s%s", c == commands ? "" : separator, c->name);
}

static bool is_option(const struct option_row *row)
{
	return row->kind != OPTION_GROUP && row->kind != OPTION_END;
}

static void add_option_names(struct str *out, const struct command *command)
{
	for (const struct option_row *row = command->options; row->kind != OPTION_END;
	     row = option_next(row)) {
		if (is_option(row) && row->name)
			str_addf(out, "--%s ", row->name);
		if (is_option(row) && row->both)
			str_addf(out, "--no-%s ", row->name);
	}
	str_add(out, "--help");
}

/* "fp|dwarf[,bytes]": the words in it. */
static void add_choices(struct str *out, const char *argument)
{
	for (; *argument; argument += *argument == '|') {
		str_addf(out, " %.*s", (int)strcspn(argument, "|["), argument);
		argument += strcspn(argument, "|");
	}
}

/* The function that completes a row's argument, with its words. */
static void add_source(struct str *out, const struct option_row *row)
{
	const char *name, *help;

	if (strchr(row->argument, '|') && !strchr(row->argument, ' ')) {
		str_add(out, "_pstat_words");
		add_choices(out, row->argument);
		return;
	}
	str_add(out, row->list ? "_pstat_list" : word_sources[row->words]);
	for (size_t i = 0; row->list && row->list(i, &name, &help); i++)
		str_addf(out, " %s", name);
}

/* "	stat:-e|stat:--event) ...; return ;;" for each option that takes an argument */
static void add_arguments(struct str *out, const struct command *command)
{
	for (const struct option_row *row = command->options; row->kind != OPTION_END;
	     row = option_next(row)) {
		if (!is_option(row) || !row->argument || row->argument_optional ||
		    row->argument_may_follow)
			continue;
		str_add(out, "\t");
		if (row->letter)
			str_addf(out, "%s:-%c", command->name, row->letter);
		if (row->name)
			str_addf(out, "%s%s:--%s", row->letter ? "|" : "", command->name, row->name);
		str_add(out, ") ");
		add_source(out, row);
		str_add(out, "; return ;;\n");
	}
}

/* Behind the options of stat comes a command with arguments of its own. */
static void add_operands(struct str *out, const struct command *command)
{
	if (command->words && !command->words[0])
		return;
	str_addf(out, "\t%s:*) _pstat_words ", command->name);
	if (command->words)
		str_add(out, command->words);
	else
		add_command_names(out, " ");
	str_add(out, " ;;\n");
}

static void add_script(struct str *out)
{
	str_add(out, script_head);
	str_add(out, "\t");
	add_command_names(out, "|");
	str_add(out, ") command=${COMP_WORDS[1]} ;;\n\tesac\n"
		     "\tcase $command:$prev in\n");
	for (const struct command *c = commands; c->name; c++)
		add_arguments(out, c);
	str_add(out, "\tesac\n\tcase $command:$cur in\n");
	for (const struct command *c = commands; c->name; c++) {
		str_addf(out, "\t%s:-*) _pstat_words ", c->name);
		add_option_names(out, c);
		str_add(out, "; return ;;\n");
	}
	for (const struct command *c = commands; c->name; c++)
		add_operands(out, c);
	str_add(out, "\tstat:*)\n\t\t_pstat_programs\n"
		     "\t\t((COMP_CWORD > 1)) || COMPREPLY+=($(compgen -W \"");
	add_command_names(out, " ");
	str_add(out, "\" -- \"$cur\"))\n\t\t;;\n\tesac\n}\n"
		     "complete -F _pstat -o bashdefault pstat\n");
}

int cmd_completion(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct str out = STR_INIT;
	int first, status = command_parse(self, argc, argv, NULL, &first);

	(void)kern;
	if (status >= 0)
		return status;
	if (first + 1 != argc || strcmp(argv[first], "bash"))
		return bad_usage("completion: name the shell: pstat completion bash");
	add_script(&out);
	status = message_stdout(&out);
	str_release(&out);
	return status;
}
