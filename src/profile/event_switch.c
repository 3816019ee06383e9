/*
 * event_switch: --switch-on and --switch-off. Samples of one event open the recording, those of another close
 * it; what lies outside is left out as if it had not been recorded. Names are compared once per event.
 *
 * To start with it is closed if there is an event that opens, else open.
 */
#include "profile/filters_internal.h"

#include <errno.h>
#include <stdlib.h>

enum role { ROLE_UNKNOWN, ROLE_NONE, ROLE_ON, ROLE_OFF };

struct event_switch {
	const char *on, *off; /* NULL: none */
	bool shown; /* samples of the two events themselves take part */
	bool open;
	uint8_t *roles; /* by index of the event */
	size_t n_roles;
};

static bool has_event(const struct events *events, const char *name)
{
	struct str text = STR_INIT;
	bool found = false;

	for (size_t i = 0; i < events->n && !found; i++) {
		str_reset(&text);
		data_event_add_name(events->v[i], &text);
		found = !strcmp(text.s, name);
	}
	str_release(&text);
	return found;
}

static int check_name(const struct events *events, const char *option, const char *name, struct str *err)
{
	struct str names = STR_INIT;
	int code = 0;

	/* A pipe's events are known when they have gone by. */
	if (!name || !events->n || has_event(events, name))
		return 0;
	for (size_t i = 0; i < events->n; i++) {
		str_add(&names, i ? ", " : "");
		data_event_add_name(events->v[i], &names);
	}
	code = fail(err, -EINVAL, "%s: no event '%s' was recorded; there is %s", option, name, names.s);
	str_release(&names);
	return code;
}

int event_switch_new(struct event_switch **made, const struct filter_options *options, const struct events *events,
		     struct str *err)
{
	int code = check_name(events, "--switch-on", options->switch_on, err);

	*made = NULL;
	if (!code)
		code = check_name(events, "--switch-off", options->switch_off, err);
	if (!code && options->switch_on && options->switch_off && !strcmp(options->switch_on, options->switch_off))
		code = fail(err, -EINVAL, "--switch-off: '%s' is what switches on", options->switch_off);
	if (code || (!options->switch_on && !options->switch_off))
		return code;
	*made = xcalloc(1, sizeof(**made));
	(*made)->on = options->switch_on;
	(*made)->off = options->switch_off;
	(*made)->shown = options->switches_shown;
	(*made)->open = !options->switch_on;
	return 0;
}

void event_switch_free(struct event_switch *the)
{
	if (the)
		free(the->roles);
	free(the);
}

static enum role find_role(const struct event_switch *the, const struct data_event *event)
{
	struct str name = STR_INIT;
	enum role role = ROLE_NONE;

	data_event_add_name(event, &name);
	if (the->on && !strcmp(name.s, the->on))
		role = ROLE_ON;
	else if (the->off && !strcmp(name.s, the->off))
		role = ROLE_OFF;
	str_release(&name);
	return role;
}

static enum role role_of(struct event_switch *the, const struct data_event *event)
{
	if (event->index >= the->n_roles) {
		size_t n = event->index + 16;

		the->roles = xreallocarray(the->roles, n, 1);
		memset(the->roles + the->n_roles, ROLE_UNKNOWN, n - the->n_roles);
		the->n_roles = n;
	}
	if (the->roles[event->index] == ROLE_UNKNOWN)
		the->roles[event->index] = (uint8_t)find_role(the, event);
	return the->roles[event->index];
}

bool event_switch_drops(struct event_switch *the, const struct data_event *event)
{
	enum role role = role_of(the, event);

	if (role == ROLE_ON && !the->open) {
		the->open = true;
		return !the->shown;
	}
	if (role == ROLE_OFF && the->open) {
		the->open = false;
		return !the->shown;
	}
	return !the->open;
}
