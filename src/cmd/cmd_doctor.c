/*
 * pstat doctor: what this machine and this user can measure. The facts come from kern/; here they
 * become an aligned table or one JSON object per line.
 */
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/terminal.h"

#include <unistd.h>

struct doctor_words {
	bool json;
};

const struct option_row doctor_options[] = {
	{ .kind = OPTION_GROUP, .help = "How to print" },
	{ .kind = OPTION_FLAG, .letter = 'j', .name = "json", .help = "one JSON object per line",
	  .offset = offsetof(struct doctor_words, json) },
	{ .kind = OPTION_END },
};

static const char *const state_words[] = {
	[FACT_GOOD] = "ok",
	[FACT_LIMITED] = "limited",
	[FACT_MISSING] = "missing",
};

/* From column `at` to the end of the line; a terminal gets lines that it can show. */
static void add_rest(struct str *out, const char *text, size_t at)
{
	struct str rest = STR_INIT;

	str_add_printable(&rest, text, strlen(text));
	str_add_wrapped(out, rest.s, at, at, terminal_columns_for(STDOUT_FILENO, rest.s));
	str_addc(out, '\n');
	str_release(&rest);
}

static void add_text(struct str *out, const struct fact_list *facts)
{
	static const char to_do[] = "what to do: ";
	int width = 0;

	for (size_t i = 0; i < facts->n; i++)
		if ((int)strlen(facts->v[i].name) > width)
			width = (int)strlen(facts->v[i].name);
	for (size_t i = 0; i < facts->n; i++) {
		const struct fact *fact = &facts->v[i];

		str_addf(out, "%-*s  %-7s  ", width, fact->name, state_words[fact->state]);
		add_rest(out, fact->value, (size_t)width + 2 + 7 + 2);
		if (fact->remedy) {
			str_addf(out, "%*s  %s", width, "", to_do);
			add_rest(out, fact->remedy, (size_t)width + 2 + sizeof(to_do) - 1);
		}
	}
}

static void add_json(struct str *out, const struct fact_list *facts)
{
	for (size_t i = 0; i < facts->n; i++) {
		const struct fact *fact = &facts->v[i];

		str_add(out, "{\"name\" : ");
		str_add_json(out, fact->name);
		str_addf(out, ", \"state\" : \"%s\", \"value\" : ", state_words[fact->state]);
		str_add_json(out, fact->value);
		if (fact->remedy) {
			str_add(out, ", \"remedy\" : ");
			str_add_json(out, fact->remedy);
		}
		str_add(out, "}\n");
	}
}

int cmd_doctor(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct doctor_words words = { 0 };
	struct fact_list facts = { 0 };
	struct str out = STR_INIT;
	int first, status = command_parse(self, argc, argv, &words, &first);

	if (status >= 0)
		return status;
	if (first < argc)
		return bad_usage("doctor: it takes no argument, but '%s' was given", argv[first]);
	facts_collect(&facts, kern);
	(words.json ? add_json : add_text)(&out, &facts);
	status = message_stdout(&out);
	fact_list_release(&facts);
	str_release(&out);
	return status;
}
