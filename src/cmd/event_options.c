/* SPDX-License-Identifier: MIT */
/*
 * Arguments of -e and its like -> the event list, at once and in the order of the command line: a filter
 * and a cgroup belong to what was named before them.
 */
#include "cmd/event_options.h"

void event_words_init(struct event_words *words, const struct kern *kern)
{
	*words = (struct event_words){ .kern = kern, .host = kern->host, .early_cgroups = STR_INIT };
	event_list_init(&words->events);
}

void event_words_release(struct event_words *words)
{
	event_list_release(&words->events);
	run_probes_remove(&words->probes, words->kern);
	str_release(&words->early_cgroups);
}

int event_words_add_cgroups(struct event_words *words, struct str *err)
{
	return words->early_cgroups.len ?
		       event_list_set_cgroups(&words->events, words->early_cgroups.s, err) :
		       0;
}

int take_events(void *target, const char *argument, struct str *err)
{
	struct event_words *words = target;
	struct str text = STR_INIT;
	int rc = run_probes_set(&words->probes, words->kern, argument, &text, &words->events.notes, err);

	if (!rc)
		rc = event_list_parse(&words->events, text.s, &words->host, err);
	str_release(&text);
	return rc;
}

int take_events_dir(void *target, const char *argument, struct str *err)
{
	struct event_words *words = target;

	(void)err;
	words->host.events = argument;
	return 0;
}

int take_pfm_events(void *target, const char *argument, struct str *err)
{
	struct event_words *words = target;

	return event_list_parse_pfm(&words->events, argument, &words->kern->host, err);
}

int take_filter(void *target, const char *argument, struct str *err)
{
	struct event_words *words = target;

	return event_list_set_filter(&words->events, argument, err);
}

/* Names belong to the events before them; where there are none yet, to those that come. */
int take_cgroups(void *target, const char *argument, struct str *err)
{
	struct event_words *words = target;

	words->has_cgroups = true;
	if (words->events.n)
		return event_list_set_cgroups(&words->events, argument, err);
	str_addf(&words->early_cgroups, "%s%s", words->early_cgroups.len ? "," : "", argument);
	return 0;
}
