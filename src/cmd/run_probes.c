/* SPDX-License-Identifier: MIT */
/*
 * run_probes: sets the probes that -e asks for, and removes them. It remembers nothing but the lines that remove them,
 * each from the moment that its probe is set: an error after that, or a signal that ends the run, leaves none.
 */
#include "cmd/run_probes.h"

#include "probe/probe.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static const char prefix[] = "probe:";

/* The words of a probe: of a file that begins with a slash or a dot, where others name groups of tracefs. */
static bool is_probe(const char *word)
{
	size_t n = strlen(prefix);

	return !strncmp(word, prefix, n) && (word[n] == '/' || word[n] == '.');
}

/* Finds where a probe's words end. */
static size_t probe_length(const char *word)
{
	return strcspn(word, ",{}");
}

/* Cuts modifiers off a place, "parse:u": letters behind a single colon; "" where there are none. */
static const char *cut_modifiers(char *place)
{
	char *end = place + strcspn(place, " \t"), *colon = end;

	while (colon > place && isalpha((unsigned char)colon[-1]))
		colon--;
	if (place[0] == '%' || *end || colon == end || colon - place < 2 || colon[-1] != ':' || colon[-2] == ':')
		return "";
	colon[-1] = '\0';
	return colon;
}

/* Writes one definition, and notes what removes it. */
static int write_definition(struct run_probes *probes, const struct kern *kern,
			    const struct probe_definition *definition, struct str *err)
{
	char *removal = xasprintf("-:%s/%s", definition->group, definition->event);
	int rc = probe_events_write(&kern->host, PROBE_PROGRAM, definition->text, err);

	if (rc || (probes->n && !strcmp(probes->removals[probes->n - 1], removal))) {
		free(removal);
		return rc;
	}
	VEC_GROW(probes->removals, probes->n, probes->cap);
	probes->removals[probes->n++] = removal;
	return 0;
}

/* Keeps the counts of the event exact. Its definitions are all there: it takes no more of them now. */
static void hold_event(struct run_probes *probes, const struct kern *kern, const char *group, const char *event,
		       struct note_list *notes)
{
	int fd = probe_event_hold(kern, group, event);

	if (fd < 0) {
		note_add(notes, false, NULL, "%s: counts of children and threads may be too low: %s", event,
			 strerror(-fd));
		return;
	}
	VEC_GROW(probes->holds, probes->n_holds, probes->cap_holds);
	probes->holds[probes->n_holds++] = fd;
}

/* Sets a point, and adds the events that it became: several of a pattern. */
static int set_point(struct run_probes *probes, const struct kern *kern, struct probe_file *file,
		     struct probe_point *point, const char *modifiers, struct str *out, struct note_list *notes,
		     struct str *err)
{
	struct probe_entries taken = { 0 };
	const struct probe_naming naming = { .taken = &taken, .force = true };
	struct probe_definitions definitions = { 0 };
	struct str list = STR_INIT;
	struct probe_definitions shown = { 0 }; /* the same with the names that they have in the output */
	struct note_list ignored = { 0 };
	char *group = probe_group_of(probe_file_path(file));
	int rc = probe_events_read(&kern->host, PROBE_PROGRAM, &list, err);

	free(point->group);
	point->group = NULL;
	if (!rc)
		rc = probe_define(file, point, &(struct probe_naming){ .force = true }, &shown, &ignored, err);
	point->group = xasprintf("pstat_%d_%s", (int)getpid(), group + strlen("probe_"));
	probe_entries_parse(&taken, list.s);
	if (!rc)
		rc = probe_define(file, point, &naming, &definitions, notes, err);
	for (size_t i = 0; i < definitions.n && !rc; i++)
		rc = write_definition(probes, kern, &definitions.v[i], err);
	for (size_t i = 0; i < definitions.n && !rc; i++) {
		const char *event = definitions.v[i].event, *own = strchr(shown.v[i].group, '_');

		if (i && !strcmp(event, definitions.v[i - 1].event))
			continue;
		hold_event(probes, kern, point->group, event, notes);
		str_addf(out, "%s%s:%s/name=probe%s:%s/%s", i ? "," : "", point->group, event, own, shown.v[i].event,
			 modifiers);
	}
	probe_definitions_release(&definitions);
	probe_definitions_release(&shown);
	note_list_release(&ignored);
	probe_entries_release(&taken);
	str_release(&list);
	free(group);
	return rc;
}

/* Can tracefs be used? Where it can't, the uprobe PMU counts calls of functions; it knows no more. */
static bool has_tracefs(const struct kern *kern)
{
	struct str list = STR_INIT, ignored = STR_INIT;
	bool has = !probe_events_read(&kern->host, PROBE_PROGRAM, &list, &ignored);

	str_release(&list);
	str_release(&ignored);
	return has;
}

static bool is_simple(const struct probe_point *point)
{
	return point->function && !point->is_pattern && !point->provider && !point->source && !point->has_line &&
	       !point->text && !point->event && !point->n_arguments;
}

/* Sets one probe; words: "probe:FILE:PLACE[:MODIFIERS] [ARGUMENT...]". */
static int set_probe(struct run_probes *probes, const struct kern *kern, const char *words, size_t n, struct str *out,
		     struct note_list *notes, struct str *err)
{
	char *path = xstrndup(words + strlen(prefix), n - strlen(prefix)), *place = strchr(path, ':');
	struct probe_point point = { 0 };
	struct probe_file *file = NULL;
	const char *modifiers;
	int rc;

	if (!place || !place[1]) {
		free(path);
		return fail(err, -EINVAL, "%.*s: a function is missing: probe:FILE:FUNCTION", (int)n, words);
	}
	*place++ = '\0';
	modifiers = cut_modifiers(place);
	rc = probe_point_parse(&point, place, err);
	if (!rc && is_simple(&point) && !has_tracefs(kern)) {
		str_addn(out, words, n);
		goto out;
	}
	if (!rc)
		rc = probe_file_open(&file, path, err);
	if (!rc)
		rc = set_point(probes, kern, file, &point, modifiers, out, notes, err);
out:
	probe_file_close(file);
	probe_point_release(&point);
	free(path);
	return rc;
}

int run_probes_set(struct run_probes *probes, const struct kern *kern, const char *words, struct str *out,
		   struct note_list *notes, struct str *err)
{
	bool begins = true;
	int rc = 0;

	while (*words && !rc) {
		if (begins && is_probe(words)) {
			size_t n = probe_length(words);

			rc = set_probe(probes, kern, words, n, out, notes, err);
			words += n;
		} else {
			begins = *words == ',' || *words == '{' || (begins && isspace((unsigned char)*words));
			str_addc(out, *words++);
		}
	}
	return rc;
}

void run_probes_remove(struct run_probes *probes, const struct kern *kern)
{
	struct str ignored = STR_INIT;

	for (size_t i = 0; i < probes->n_holds; i++)
		close(probes->holds[i]);
	free(probes->holds);
	for (size_t i = 0; i < probes->n; i++) {
		probe_events_write(&kern->host, PROBE_PROGRAM, probes->removals[i], &ignored);
		free(probes->removals[i]);
	}
	free(probes->removals);
	*probes = (struct run_probes){ 0 };
	str_release(&ignored);
}
