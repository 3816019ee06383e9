/*
 * One event after the other is opened on pstat itself. The words for a failure are those that counting
 * would use: they come from kern/, by opening the event as a counter.
 */
#include "cmd/list_try.h"

#include <stdlib.h>
#include <unistd.h>

void event_trial_init(struct event_trial *trial, const struct kern *kern)
{
	*trial = (struct event_trial){ .kern = kern };
}

void event_trial_release(struct event_trial *trial)
{
	for (size_t i = 0; i < trial->n; i++)
		free(trial->v[i].reason);
	free(trial->v);
	*trial = (struct event_trial){ 0 };
}

/* "cannot count NAME: why" is about one event; the reason is kept for others too. */
static const char *without_name(const char *sentence)
{
	static const char start[] = "cannot count ";
	const char *why = strstr(sentence, ": ");

	return why && !strncmp(sentence, start, sizeof(start) - 1) ? why + 2 : sentence;
}

static char *reason_of_counter(struct event_trial *trial, const struct event_list *events, int code)
{
	struct target_spec words = { .command = getpid() };
	struct open_options options = { .start_disabled = true };
	struct note_list notes = { 0 };
	struct counter_set set = { 0 };
	struct target target = { 0 };
	struct str err = STR_INIT;
	char *reason = NULL;

	if (!target_resolve(&target, &words, trial->kern, &err) &&
	    !counters_open(&set, events, &target, &options, trial->kern, &notes, &err)) {
		if (set.n && set.v[0].reason)
			reason = xstrdup(set.v[0].reason);
		counters_close(&set);
	}
	target_release(&target);
	note_list_release(&notes);
	if (!reason) {
		const char *why = err.len ? without_name(err.s) : strerror(code);

		reason = xstrndup(why, strcspn(why, "\n"));
	}
	str_release(&err);
	return reason;
}

static const char *reason_for(struct event_trial *trial, const struct event_list *events, int code)
{
	for (size_t i = 0; i < trial->n; i++)
		if (trial->v[i].err == code)
			return trial->v[i].reason;
	VEC_GROW(trial->v, trial->n, trial->cap);
	trial->v[trial->n] = (struct event_verdict){
		.err = code,
		.reason = reason_of_counter(trial, events, code),
	};
	return trial->v[trial->n++].reason;
}

const char *event_trial_verdict(struct event_trial *trial, const char *name)
{
	struct event_list events;
	struct str err = STR_INIT;
	const char *verdict = "";
	int rc;

	event_list_init(&events);
	rc = event_list_parse(&events, name, &trial->kern->host, &err);
	/* On a hybrid machine it is enough that one core PMU counts it. */
	for (size_t i = 0; !rc && i < events.n; i++) {
		rc = event_try(&events.v[i], trial->kern);
		if (rc >= 0)
			break;
		rc = i + 1 < events.n ? 0 : rc;
	}
	if (rc < 0)
		verdict = reason_for(trial, &events, -rc);
	event_list_release(&events);
	str_release(&err);
	return verdict;
}
