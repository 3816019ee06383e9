/* SPDX-License-Identifier: MIT */
/*
 * completion: which part of the command line its last word is (a command, the name of an option, an option's
 * argument, or a word of the program to be measured) and the words that can stand there. The line is read as the
 * option parser reads it (options_place), so that what is offered is what would be accepted.
 *
 * An option's argument is completed by its kind, one row of value_rows[] each. Tables of words come from those who
 * take them; events come from the walk that `pstat list` prints; what lives on the machine (processes, users,
 * cgroups) is read when it is asked for.
 */
#include "cmd/completion.h"

#include "cmd/quantity.h"
#include "cmd/record_options.h"
#include "fmt/fmt.h"
#include "record/record.h"
#include "script/script.h"
#include "stat/stat.h"

#include <ctype.h>
#include <dirent.h>
#include <pwd.h>
#include <stdlib.h>

/* ---- offers ---- */

const char *offers_typed(const struct offers *offers)
{
	return offers->argv[offers->argc - 1] + offers->kept;
}

/* Words that would not go through a terminal as they are (control characters) are left out. */
static void offer(struct offers *offers, const char *word, const char *help)
{
	struct str printable = STR_INIT;

	str_add_printable(&printable, word, strlen(word));
	if (word[0] && !strcmp(printable.s, word)) {
		VEC_GROW(offers->v, offers->n, offers->cap);
		offers->v[offers->n].word = xstrdup(word);
		str_reset(&printable);
		str_add_printable(&printable, help, strlen(help));
		offers->v[offers->n++].help = str_detach(&printable);
	}
	str_release(&printable);
}

/* Each word of rows: false ends them. */
static void offer_rows(struct offers *offers, bool (*row)(size_t i, const char **name, const char **help))
{
	const char *name, *help;

	for (size_t i = 0; row(i, &name, &help); i++)
		offer(offers, name, help);
}

void offers_release(struct offers *offers)
{
	for (size_t i = 0; i < offers->n; i++) {
		free(offers->v[i].word);
		free(offers->v[i].help);
	}
	free(offers->v);
}

/* ---- words in a row's argument ---- */

/* "fp|dwarf[,raw][,bytes]|lbr|no": each word up to what may follow it. */
static void add_choices(struct offers *offers, const struct option_row *row)
{
	for (const char *at = row->argument; *at; at += *at == '|') {
		char *word = xstrndup(at, strcspn(at, "|["));

		offer(offers, word, "");
		free(word);
		at += strcspn(at, "|");
	}
}

/* ---- numbers ---- */

/* Each unit after the number that is typed. */
static void add_units(struct offers *offers, bool (*row)(size_t i, const char **name, const char **help))
{
	const char *typed = offers_typed(offers), *name, *help;
	int digits = (int)strspn(typed, "0123456789");

	for (size_t i = 0; digits && row(i, &name, &help); i++) {
		char *word = xasprintf("%.*s%s", digits, typed, name);

		offer(offers, word, help);
		free(word);
	}
}

static void add_sizes(struct offers *offers, const struct option_row *row)
{
	(void)row;
	add_units(offers, byte_unit_row);
}

static void add_times(struct offers *offers, const struct option_row *row)
{
	(void)row;
	add_units(offers, time_unit_row);
}

static void add_switches(struct offers *offers, const struct option_row *row)
{
	offer(offers, "signal", "a new file at each SIGUSR2");
	add_sizes(offers, row);
	add_times(offers, row);
}

static void add_frequencies(struct offers *offers, const struct option_row *row)
{
	(void)row;
	offer(offers, "max", "as often as the kernel allows");
}

/* ---- events and metrics ---- */

/*
 * The index at which the last event begins, or the brace that ends its group. Commas between slashes separate an
 * event's terms: cpu/event=1,umask=2/.
 */
static size_t last_event(const char *text)
{
	size_t start = 0;
	bool in_terms = false;

	for (size_t i = 0; text[i]; i++) {
		if (text[i] == '/')
			in_terms = !in_terms;
		else if ((text[i] == ',' && !in_terms) || text[i] == '{')
			start = i + 1;
		else if (text[i] == '}')
			start = i;
	}
	return start;
}

/* Placeholders (cpu/.../, rNNN) are no names; what stands before the dots is. */
static int add_event(const struct event_info *info, void *offers)
{
	const char *dots = strstr(info->name, "...");
	char *name = xstrndup(info->name, dots ? (size_t)(dots - info->name) : strlen(info->name));

	offer(offers, name, info->desc);
	offer(offers, info->alias, info->desc);
	free(name);
	return 0;
}

static void add_event_names(struct offers *offers)
{
	const struct host_paths *host = &offers->kern->host;
	const struct event_topic *topic;
	struct str ignored = STR_INIT;

	for (size_t i = 0; (topic = event_topic(i)); i++)
		if (topic->completed)
			event_walk(topic->name, NULL, host, add_event, offers, &ignored);
	event_walk_tracepoints(NULL, host, add_event, offers);
	offer(offers, "mem:", "a breakpoint: mem:ADDRESS[/LENGTH][:rwx]");
	str_release(&ignored);
}

static void add_tracepoints(struct offers *offers, const char *colon)
{
	const char *typed = offers_typed(offers);
	char *system = xstrndup(typed, (size_t)(colon - typed));

	event_walk_tracepoints(system, &offers->kern->host, add_event, offers);
	free(system);
}

static void add_modifiers(struct offers *offers, const char *letters)
{
	const char *typed = offers_typed(offers), *help;
	char letter;

	if (letters[0])
		offer(offers, typed, "");
	for (size_t i = 0; (letter = event_modifier_row(i, &help)) != 0; i++) {
		char *word = xasprintf("%s%c", typed, letter);

		if (!strchr(letters, letter))
			offer(offers, word, help);
		free(word);
	}
}

/*
 * The last event of -e's argument: names; systems of tracepoints, and after one's colon its events; after the colon
 * of anything else the modifiers.
 */
static void add_events(struct offers *offers, const struct option_row *row)
{
	const char *typed, *colon;

	(void)row;
	if (offers->list)
		offers->kept += last_event(offers_typed(offers));
	typed = offers_typed(offers);
	colon = strrchr(typed, ':');
	if (!colon)
		add_event_names(offers);
	else if (typed[0] != '}' && strchr(typed, ':') == colon)
		add_tracepoints(offers, colon);
	if (colon && !offers->n && strncmp(typed, "mem:", 4))
		add_modifiers(offers, colon + 1);
}

static int add_pfm_event(const struct event_info *info, void *offers)
{
	offer(offers, info->name, info->desc);
	return 0;
}

static void add_pfm_events(struct offers *offers, const struct option_row *row)
{
	struct str ignored = STR_INIT;

	(void)row;
	event_walk("pfm", NULL, &offers->kern->host, add_pfm_event, offers, &ignored);
	str_release(&ignored);
}

static bool metric_group_is_new(size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (metrics[k].group && !strcmp(metrics[k].group, metrics[i].group))
			return false;
	return true;
}

static void add_metrics(struct offers *offers, const struct option_row *row)
{
	(void)row;
	for (size_t i = 0; i < n_metrics; i++) {
		offer(offers, metrics[i].name, metrics[i].desc);
		if (metrics[i].alias)
			offer(offers, metrics[i].alias, metrics[i].desc);
		if (metrics[i].group && metric_group_is_new(i))
			offer(offers, metrics[i].group, "a group of metrics");
	}
}

/* ---- what lives on this machine ---- */

static void add_task(struct offers *offers, const char *dir, const char *number)
{
	char *path = xasprintf("%s/%s/comm", dir, number);
	struct str name = STR_INIT;

	if (!read_line_file(path, &name))
		offer(offers, number, name.s);
	str_release(&name);
	free(path);
}

typedef void (*task_fn)(struct offers *offers, const char *dir, const char *number);

static void each_number(struct offers *offers, const char *dir, task_fn fn)
{
	DIR *stream = opendir(dir);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]))
			fn(offers, dir, entry->d_name);
	if (stream)
		closedir(stream);
}

static void add_threads(struct offers *offers, const char *dir, const char *number)
{
	char *tasks = xasprintf("%s/%s/task", dir, number);

	each_number(offers, tasks, add_task);
	free(tasks);
}

static void add_pids(struct offers *offers, const struct option_row *row)
{
	(void)row;
	each_number(offers, offers->kern->host.procfs, add_task);
}

static void add_tids(struct offers *offers, const struct option_row *row)
{
	(void)row;
	each_number(offers, offers->kern->host.procfs, add_threads);
}

static void add_user(void *context, const struct passwd *user)
{
	offer(context, user->pw_name, user->pw_gecos ? user->pw_gecos : "");
}

static void add_users(struct offers *offers, const struct option_row *row)
{
	(void)row;
	users_each(add_user, offers);
}

static void add_cpus(struct offers *offers, const struct option_row *row)
{
	struct intset cpus = INTSET_INIT;

	(void)row;
	cpus_online(&offers->kern->host, &cpus);
	for (size_t i = 0; i < cpus.n; i++) {
		char *cpu = xasprintf("%d", cpus.v[i]);

		offer(offers, cpu, "");
		free(cpu);
	}
	intset_release(&cpus);
}

static bool has_children(const char *dir)
{
	struct dirent *entry;
	DIR *stream = opendir(dir);
	bool found = false;

	while (stream && !found && (entry = readdir(stream)) != NULL)
		found = entry->d_type == DT_DIR && entry->d_name[0] != '.';
	if (stream)
		closedir(stream);
	return found;
}

/* The cgroups right below the one that is typed so far; one that has others below it also with a slash. */
static void add_cgroups(struct offers *offers, const struct option_row *row)
{
	const char *typed = offers_typed(offers), *slash = strrchr(typed, '/');
	int above = slash ? (int)(slash + 1 - typed) : 0;
	struct str root = STR_INIT;
	struct dirent *entry;
	DIR *stream = NULL;

	(void)row;
	if (cgroup_root(&offers->kern->host, &root)) {
		str_addf(&root, "/%.*s", above, typed);
		stream = opendir(root.s);
	}
	while (stream && (entry = readdir(stream)) != NULL) {
		char *name = xasprintf("%.*s%s/", above, typed, entry->d_name);
		char *dir = xasprintf("%s/%s", root.s, entry->d_name);

		if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
			if (has_children(dir))
				offer(offers, name, "and below");
			name[strlen(name) - 1] = '\0';
			offer(offers, name, "");
		}
		free(name);
		free(dir);
	}
	if (stream)
		closedir(stream);
	str_release(&root);
}

/* fifo:path[,path] | fd:n[,n] */
static void add_control(struct offers *offers, const struct option_row *row)
{
	const char *typed = offers_typed(offers);

	(void)row;
	if (strncmp(typed, "fifo:", 5)) {
		offer(offers, "fifo:", "a path, and after a comma one for answers");
		offer(offers, "fd:", "an open descriptor, and after a comma one for answers");
		return;
	}
	offers->kind = OFFER_FILES;
	offers->kept += strchr(typed, ',') ? (size_t)(strrchr(typed, ',') + 1 - typed) : 5;
}

/* ---- the kinds of arguments ---- */

/* To add a kind: a row here, its name in enum option_value (options.h). */
static const struct value_completion {
	const char *between; /* what separates the parts of a list: the last part is completed; NULL: it is none */
	const char *signs; /* these may stand before a part; NULL: none */
	enum offer_kind kind; /* what the shell itself finds */
	bool (*row)(size_t i, const char **name, const char **help); /* a table of words; NULL: none */
	void (*add)(struct offers *offers, const struct option_row *row); /* what is in no table; NULL: nothing */
} value_rows[OPTION_VALUES] = {
	[VALUE_ONE_OF] = { .add = add_choices },
	[VALUE_SOME_OF] = { ",", .add = add_choices },
	[VALUE_FILE] = { .kind = OFFER_FILES },
	[VALUE_DIRECTORY] = { .kind = OFFER_DIRECTORIES },
	[VALUE_CONTROL] = { .add = add_control },
	[VALUE_SHELL_COMMAND] = { .kind = OFFER_PROGRAMS },
	[VALUE_EVENT] = { .add = add_events },
	[VALUE_EVENTS] = { "", .add = add_events }, /* add_events() knows where one begins */
	[VALUE_PFM_EVENTS] = { ",", .add = add_pfm_events },
	[VALUE_METRICS] = { ",", .add = add_metrics },
	[VALUE_BRANCHES] = { ",", .row = branch_word_row },
	[VALUE_REGISTERS] = { ",", .row = sample_reg_row },
	[VALUE_CLOCK] = { .row = clock_row },
	[VALUE_REPORT_KEYS] = { ",", "+", .row = report_key_row },
	[VALUE_SCRIPT_FIELDS] = { ",:", "+-", .row = script_field_row },
	[VALUE_CHAIN_STYLE] = { ",", .row = chain_word_row },
	[VALUE_PIDS] = { ",", .add = add_pids },
	[VALUE_TIDS] = { ",", .add = add_tids },
	[VALUE_USER] = { .add = add_users },
	[VALUE_CGROUPS] = { ",", .add = add_cgroups },
	[VALUE_CPUS] = { ",-", .add = add_cpus },
	[VALUE_FREQUENCY] = { .add = add_frequencies },
	[VALUE_TIME] = { .add = add_times },
	[VALUE_SIZE] = { .add = add_sizes },
	[VALUE_SWITCH] = { .add = add_switches },
};

/* The words that an option's argument may be; offers->kept is where the argument begins. */
static void offer_value(struct offers *offers, const struct option_row *row)
{
	const struct value_completion *value = &value_rows[row->value];
	const char *typed = offers_typed(offers);

	offers->kind = value->kind;
	offers->list = value->between != NULL;
	for (size_t i = 0; value->between && typed[i]; i++)
		if (strchr(value->between, typed[i]))
			offers->kept += i + 1 - (size_t)(offers_typed(offers) - typed);
	if (value->signs && *offers_typed(offers) && strchr(value->signs, *offers_typed(offers)))
		offers->kept++;
	if (value->row)
		offer_rows(offers, value->row);
	if (value->add)
		value->add(offers, row);
}

/* ---- names of options ---- */

/* --no-scale beside --scale; the other negations once "--no-" is typed, or the list would be twice as long. */
static void offer_negation(struct offers *offers, const struct option_row *row)
{
	bool asked = !strncmp(offers_typed(offers), "--no-", 5);
	char *name, *help;

	if (!option_may_be_negated(row) || !(row->both || asked) || !strncmp(row->name, "no-", 3))
		return;
	name = xasprintf("--no-%s", row->name);
	help = xasprintf("not: %s", row->help);
	offer(offers, name, help);
	free(name);
	free(help);
}

static void offer_name(struct offers *offers, const char *name, const char *help, const char *end)
{
	char *word = xasprintf("--%s%s", name, end);

	offer(offers, word, help);
	free(word);
}

static void offer_letter(struct offers *offers, char letter, const char *help)
{
	const char word[] = { '-', letter, '\0' };

	offer(offers, word, help);
}

static void offer_option(struct offers *offers, const struct option_row *row)
{
	if (row->letter)
		offer_letter(offers, row->letter, row->help);
	if (!row->name)
		return;
	offer_name(offers, row->name, row->help, "");
	if (row->argument_optional)
		offer_name(offers, row->name, row->help, "=");
	offer_negation(offers, row);
}

/* Letters that are put together (-ae) are complete as they stand. */
static void offer_options(struct offers *offers, const struct option_row *rows)
{
	const char *typed = offers_typed(offers);

	if (typed[0] == '-' && typed[1] && typed[1] != '-') {
		offer(offers, typed, "");
		return;
	}
	for (const struct option_row *row = rows; row->kind != OPTION_END; row = option_next(row))
		if (row->kind != OPTION_GROUP)
			offer_option(offers, row);
	offer_letter(offers, 'h', "the options of this command");
	offer_name(offers, "help", "the options of this command", "");
}

/* ---- words after the options ---- */

static void offer_commands(struct offers *offers)
{
	for (const struct command *c = commands; c->name; c++)
		offer(offers, c->name, c->summary);
}

/* "stat record" is called record after stat. */
static const char *part_name(const struct command *part)
{
	return strrchr(part->name, ' ') + 1;
}

static void offer_each_word(struct offers *offers, const char *words)
{
	for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
		size_t len = strcspn(words, " ");
		char *word = xstrndup(words, len);

		offer(offers, word, "");
		free(word);
		words += len;
	}
}

static void offer_operands(struct offers *offers, const struct command *command,
			   const struct option_place *place, int argc, char *const *argv)
{
	bool begins = place->first == argc - 1;

	if (command->measures) {
		offers->kind = OFFER_COMMAND;
		offers->command = (int)(argv + place->first - offers->argv);
	}
	for (const struct command *part = command->parts; part && part->name && begins; part++)
		if (!place->after_dashes)
			offer(offers, part_name(part), part->summary);
	if (!command->words && begins)
		offer_commands(offers);
	else if (command->words)
		offer_each_word(offers, command->words);
}

static const struct command *find_part(const struct command *command, const char *word)
{
	for (const struct command *part = command->parts; part && part->name; part++)
		if (!strcmp(part_name(part), word))
			return part;
	return NULL;
}

/* Options may follow words that are none, unless such a word ends the options. */
static void find_place(const struct command *command, int argc, char *const *argv, struct option_place *place)
{
	int at, first;

	options_place(command->options, argc, argv, place);
	first = at = place->first;
	while (!command->options_end && place->what == PLACE_OPERAND && !place->after_dashes && at + 1 < argc) {
		options_place(command->options, argc - at, argv + at, place);
		at += place->first;
	}
	place->first = first;
}

static void offer_in_command(struct offers *offers, const struct command *command, int argc, char *const *argv)
{
	const struct command *part;
	struct option_place place;

	find_place(command, argc, argv, &place);
	if (place.what == PLACE_NAME) {
		offer_options(offers, command->options);
	} else if (place.what == PLACE_VALUE) {
		offers->kept = place.start;
		if (place.row)
			offer_value(offers, place.row);
	} else {
		part = place.after_dashes || place.first == argc - 1 ? NULL
								       : find_part(command, argv[place.first]);
		if (part)
			offer_in_command(offers, part, argc - place.first, argv + place.first);
		else
			offer_operands(offers, command, &place, argc, argv);
	}
}

/* ---- the whole line ---- */

void offers_find(struct offers *offers, int argc, char *const *argv, const struct kern *kern)
{
	int n = options_leading(global_options, argc - 1, argv);
	const struct command *command;

	*offers = (struct offers){ .kern = kern, .argv = argv, .argc = argc };
	argv += n;
	argc -= n;
	command = argc > 2 ? command_find(argv[1]) : NULL;
	if (command) {
		offer_in_command(offers, command, argc - 1, argv + 1);
	} else if (argv[1][0] == '-') {
		/* "stat" was left out. */
		offer_in_command(offers, command_find("stat"), argc, argv);
		if (argc == 2) {
			offer(offers, "--version", command_find("version")->summary);
			for (const struct option_row *row = global_options; row->kind != OPTION_END; row++)
				if (row->kind != OPTION_GROUP)
					offer_option(offers, row);
		}
	} else if (argc == 2) {
		offer_commands(offers);
	}
}

/* ---- answers ---- */

static const char *const kind_words[] = {
	[OFFER_WORDS] = "words",
	[OFFER_FILES] = "files",
	[OFFER_DIRECTORIES] = "directories",
	[OFFER_PROGRAMS] = "programs",
	[OFFER_COMMAND] = "command",
};

void completion_add_kind(struct str *out, const struct offers *offers)
{
	bool parts = offers->kind == OFFER_WORDS && offers->list;

	str_addf(out, "%s\n", parts ? "parts" : kind_words[offers->kind]);
}

void completion_add_answer(struct str *out, const struct offers *offers)
{
	completion_add_kind(out, offers);
	if (offers->kind == OFFER_COMMAND)
		str_addf(out, "%d\n", offers->command);
	else
		str_addf(out, "%.*s\n", (int)offers->kept, offers->argv[offers->argc - 1]);
	for (size_t i = 0; i < offers->n; i++)
		str_addf(out, "%s\t%s\n", offers->v[i].word, offers->v[i].help);
}
