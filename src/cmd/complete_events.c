/*
 * complete_events: the last event of -e's argument: names; systems of tracepoints, and behind one's colon
 * its events; behind the colon of anything else the modifiers. Events come from the walk that `pstat list`
 * prints.
 */
#include "cmd/complete.h"

#include <stdlib.h>

/*
 * Where the last event begins, or the brace that ends its group. Commas between slashes separate an event's
 * terms: cpu/event=1,umask=2/.
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

/* ---- names ---- */

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

static const char *const named_topics[] = { "hw", "sw", "cache", "tool", "pmu" };

static void add_names(struct offers *offers)
{
	const struct host_paths *host = &offers->kern->host;
	struct str ignored = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(named_topics); i++)
		event_walk(named_topics[i], NULL, host, add_event, offers, &ignored);
	event_walk_tracepoints(NULL, host, add_event, offers);
	offer(offers, "mem:", "a breakpoint: mem:ADDRESS[/LENGTH][:rwx]");
	str_release(&ignored);
}

/* ---- behind a colon ---- */

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

void offer_events(struct offers *offers)
{
	const char *typed, *colon;

	if (offers->list)
		offers->kept += last_event(offers_typed(offers));
	typed = offers_typed(offers);
	colon = strrchr(typed, ':');
	if (!colon)
		add_names(offers);
	else if (typed[0] != '}' && strchr(typed, ':') == colon)
		add_tracepoints(offers, colon);
	if (colon && !offers->n && strncmp(typed, "mem:", 4))
		add_modifiers(offers, colon + 1);
}
