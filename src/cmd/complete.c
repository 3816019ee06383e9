/*
 * complete: which part of the command line its last word is: a command, the name of an option, an option's
 * argument, or a word of the program to be measured; and the words that can stand there. The line is read
 * as the option parser reads it (options_place), so that what is offered is what would be taken.
 */
#include "cmd/complete.h"

#include <stdlib.h>

/* ---- offers ---- */

const char *offers_typed(const struct offers *offers)
{
	return offers->argv[offers->argc - 1] + offers->kept;
}

void offer(struct offers *offers, const char *word, const char *help)
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

void offer_rows(struct offers *offers, bool (*row)(size_t i, const char **name, const char **help))
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

static void offer_name(struct offers *offers, const char *name, const char *help, const char *behind)
{
	char *word = xasprintf("--%s%s", name, behind);

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

/* Letters that are put together end where they are: -ae. */
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

/* ---- words behind the options ---- */

static void offer_commands(struct offers *offers)
{
	for (const struct command *c = commands; c->name; c++)
		offer(offers, c->name, c->summary);
}

/* "stat record" is called record behind stat. */
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
		if (!place->behind_dashes)
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

/* Behind words that are no options there may be more options, unless such a word ends them. */
static void find_place(const struct command *command, int argc, char *const *argv, struct option_place *place)
{
	int at, first;

	options_place(command->options, argc, argv, place);
	first = at = place->first;
	while (!command->options_end && place->what == PLACE_OPERAND && !place->behind_dashes && at + 1 < argc) {
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
		part = place.behind_dashes || place.first == argc - 1 ? NULL
								       : find_part(command, argv[place.first]);
		if (part)
			offer_in_command(offers, part, argc - place.first, argv + place.first);
		else
			offer_operands(offers, command, &place, argc, argv);
	}
}

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
