/* SPDX-License-Identifier: MIT */
/*
 * Text -> events: the sources by priority, and the way of one -e argument through them.
 *
 *   text --spec.c--> tree --sources--> events --modifier.c--> --group.c--> list
 *
 * Parsing is all or nothing: on failure everything that was added is taken back, so that the list,
 * its notes and its numbering are as before.
 */
#include "event/event.h"

#include "event/pfm.h"
#include "event/pmu.h"
#include "event/vendor.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#define SOURCE_ROW(name) &name##_source,
const struct event_source *const event_sources[] = { EVENT_SOURCES(SOURCE_ROW) };
const size_t n_event_sources = ARRAY_SIZE(event_sources);

struct event *event_new(struct event_parse *p, const struct spec_event *spec,
			const struct event_source *source)
{
	struct event_list *list = p->list;
	struct event *event;

	VEC_GROW(list->v, list->n, list->cap);
	event = &list->v[list->n];
	*event = (struct event){
		.kind = EVENT_KERNEL,
		.source = source->topic.name,
		.name = xstrndup(p->text + spec->pos, spec->len),
		.pmu_name = xstrdup(""),
		.unit = xstrdup(""),
		.scale = 1.0,
		.leader = list->n,
		.n_members = 1,
	};
	event->attr.exclude_guest = 1;
	list->n++;
	return event;
}

/* 1 found, 0 nobody knows it, negative errno. */
static int ask_sources(struct event_parse *p, const struct spec_event *spec)
{
	int rc = 0;

	for (size_t i = 0; i < n_event_sources && !rc; i++)
		rc = event_sources[i]->lookup(p, spec);
	return rc;
}

/* Would `word` alone be an event? Found out aside, without a trace in p. */
static bool word_is_event(struct event_parse *p, const struct spec_event *pair)
{
	struct event_list *list = p->list, scratch;
	struct spec_error *error = p->error, ignored = { .code = 0, .reason = STR_INIT,
							 .hint = STR_INIT };
	struct spec_event word = *pair;
	int rc;

	word.kind = SPEC_WORD;
	word.second = NULL;
	word.n_terms = 0;
	event_list_init(&scratch);
	p->list = &scratch;
	p->error = &ignored;
	rc = ask_sources(p, &word);
	p->list = list;
	p->error = error;
	event_list_release(&scratch);
	spec_error_release(&ignored);
	return rc == 1;
}

/*
 * cycles:x was read as a pair, as sched:sched_switch is. Where nobody knows the pair, but its first
 * word alone is an event, the second was meant as modifiers.
 */
static int explain_pair(struct event_parse *p, const struct spec_event *spec)
{
	struct event unused = { .name = spec->word };
	int rc;

	spec_error_release(p->error);
	rc = event_apply_modifiers(p, spec->second, spec->second_pos, &unused);
	if (rc)
		return rc;
	return spec_fail(p->error, -EINVAL, spec->second_pos,
			 "put all modifiers of '%s' after one colon", spec->word);
}

static int consider(const struct event_info *info, void *data)
{
	near_consider(data, info->name);
	near_consider(data, info->alias);
	return 0;
}

static void consider_pmus(const struct host_paths *host, struct near_name *near)
{
	struct event_pmu_list pmus = { .v = NULL };

	if (event_pmus_read(&pmus, host) >= 0)
		for (size_t i = 0; i < pmus.n; i++)
			near_consider(near, pmus.v[i].name);
	event_pmu_list_release(&pmus);
}

/* Known names near `word` become error->hint ("did you mean ...?"), from sources whose lists are cheap to read. */
static void suggest(struct event_parse *p, const char *word)
{
	struct str unread = STR_INIT; /* a source that cannot be read here suggests nothing */
	struct near_name near;
	const char *best;

	if (p->error->code)
		return;
	near_init(&near, word, strlen(word));
	for (size_t i = 0; i < n_event_sources; i++)
		if (event_sources[i]->list && !event_sources[i]->list_is_slow)
			event_sources[i]->list(p->host, consider, &near, &unread);
	consider_pmus(p->host, &near);
	best = near_best(&near);
	if (best && !strcmp(best, word))
		str_addf(&p->error->hint, "'%s' exists on other machines; this one has nothing that counts it", best);
	else if (best)
		str_addf(&p->error->hint, "did you mean '%s'?", best);
	else
		str_add(&p->error->hint, "'pstat list' shows all events");
	if (*p->vendors && *vendor_why(*p->vendors))
		str_addf(&p->error->hint, "; %s", vendor_why(*p->vendors));
	str_release(&unread);
}

static int unknown_event(struct event_parse *p, const struct spec_event *spec)
{
	int rc = spec->kind == SPEC_PMU ? pmu_folder_exists(p, spec) : 0;

	if (rc)
		return rc;
	suggest(p, spec->word);
	if (spec->kind == SPEC_PMU)
		return spec_fail(p->error, -ENOENT, spec->word_pos,
				 "'%s' is neither a counter unit of this machine nor an event",
				 spec->word);
	return spec_fail(p->error, -ENOENT, spec->word_pos, "unknown event '%s%s%s'", spec->word,
			 spec->second ? ":" : "", spec->second ? spec->second : "");
}

bool event_is_clock(const struct event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE && (event->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
							  event->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

/* The clocks count ns and are printed in msec, by whatever name they came. */
static void set_clock_unit(struct event *event)
{
	if (!event_is_clock(event) || *event->unit || event->kind != EVENT_KERNEL)
		return;
	free(event->unit);
	event->unit = xstrdup("msec");
	event->scale = 1e-6;
}

/* Typed with the event itself, :u is what is wanted; most tracepoints then count nothing. */
static void note_tracepoint_modes(struct event_parse *p, const struct event *event)
{
	if (event->attr.type == PERF_TYPE_TRACEPOINT && event->attr.exclude_kernel)
		note_add(&p->list->notes, false, NULL,
			 "%s: a tracepoint fires in the kernel, which its modifiers exclude: 0, unless it "
			 "has the registers of user mode (syscalls:*, uprobes)", event->name);
}

/* Leaves out the core types of a generic event that have none of the CPUs of cpu=, unless that is all of them. */
static void choose_cpus(struct event_list *list, size_t first)
{
	size_t n_somewhere = 0;

	for (size_t i = first; i < list->n; i++) {
		event_choose_cpus(&list->v[i]);
		n_somewhere += !list->v[i].has_no_cpu;
	}
	for (size_t i = list->n; n_somewhere && i-- > first;)
		if (list->v[i].expansion == EXPANSION_CORE_TYPES && list->v[i].terms.has_cpus && list->v[i].has_no_cpu)
			event_list_remove(list, i);
}

/* Does what all sources have in common: CPUs, own modifiers, expansion ids, units of value. */
static int finish_events(struct event_parse *p, const struct spec_event *spec, size_t first)
{
	struct event_list *list = p->list;
	unsigned expansion_id = 0;

	choose_cpus(list, first);
	for (size_t i = first; i < list->n; i++) {
		struct event *event = &list->v[i];
		int rc = event_apply_modifiers(p, spec->modifiers, spec->modifiers_pos, event);

		if (rc)
			return rc;
		set_clock_unit(event);
		note_tracepoint_modes(p, event);
		if (event->expansion == EXPANSION_NONE || event->expansion_id)
			continue;
		if (!expansion_id)
			expansion_id = ++list->n_expansions;
		event->expansion_id = expansion_id;
	}
	return 0;
}

static int add_spec_event(struct event_parse *p, const struct spec_event *spec)
{
	size_t first = p->list->n;
	int rc = ask_sources(p, spec);

	if (rc == 1)
		return finish_events(p, spec, first);
	if (spec->kind == SPEC_PAIR && word_is_event(p, spec))
		return explain_pair(p, spec);
	return rc ? rc : unknown_event(p, spec);
}

static int add_group(struct event_parse *p, const struct spec_group *group)
{
	size_t first = p->list->n;

	for (size_t i = 0; i < group->n; i++) {
		int rc = add_spec_event(p, &group->events[i]);

		if (rc)
			return rc;
	}
	return group->braces ? event_make_group(p, first, group) : 0;
}

static int add_specs(struct event_parse *p)
{
	struct spec spec = { .text = NULL };
	int rc = spec_parse(&spec, p->text, p->error);

	for (size_t i = 0; i < spec.n && !rc; i++)
		rc = add_group(p, &spec.groups[i]);
	spec_release(&spec);
	return rc;
}

/* The state of a list before a parse. */
struct list_mark {
	size_t n, n_notes;
	unsigned n_expansions;
};

static void roll_back(struct event_list *list, const struct list_mark *mark)
{
	while (list->n > mark->n)
		event_release(&list->v[--list->n]);
	while (list->notes.n > mark->n_notes) {
		struct note *note = &list->notes.v[--list->notes.n];

		free(note->text);
		free(note->remedy);
	}
	list->n_expansions = mark->n_expansions;
}

static int parse_with(int (*parse)(struct event_parse *p), struct event_list *list, const char *text,
		      const struct host_paths *host, struct str *err)
{
	struct spec_error error = { .code = 0, .reason = STR_INIT, .hint = STR_INIT };
	struct event_parse p = { .list = list, .host = host, .error = &error, .text = text,
				 .vendors = &list->vendors };
	const struct list_mark mark = { list->n, list->notes.n, list->n_expansions };
	int rc = parse(&p);

	if (rc < 0) {
		roll_back(list, &mark);
		spec_error_format(&error, text, err);
		rc = rc == -ERANGE ? -EINVAL : rc;
	} else {
		list->last_spec = mark.n;
		rc = 0;
	}
	pmu_catalog_free(p.catalog);
	spec_error_release(&error);
	return rc;
}

int event_list_parse(struct event_list *list, const char *spec, const struct host_paths *host,
		     struct str *err)
{
	return parse_with(add_specs, list, spec, host, err);
}

/*
 * ---- --pfm-events, whose syntax is another; libpfm4 knows the names ----
 *
 *	list := item { ',' item }        item := name | '{' name { ',' name } '}'
 *
 * A name goes up to the next comma, brace or white space; its colons are libpfm4's.
 */

struct pfm_parser {
	struct event_parse *p;
	const char *text;
	size_t at;
};

static char next_char(struct pfm_parser *np)
{
	while (isspace((unsigned char)np->text[np->at]))
		np->at++;
	return np->text[np->at];
}

static int parse_pfm_name(struct pfm_parser *np)
{
	size_t len;
	struct spec_event spec = { .kind = SPEC_PFM };
	char none[1] = "";
	int ret;

	next_char(np);
	len = strcspn(np->text + np->at, ",{} \t\r\n");
	if (!len)
		return spec_fail(np->p->error, -EINVAL, np->at, "the name of an event is missing");
	spec.pos = spec.word_pos = np->at;
	spec.len = len;
	spec.word = xstrndup(np->text + np->at, len);
	spec.modifiers = none;
	spec.modifiers_pos = np->at + len;
	np->at += len;
	ret = pfm_add(np->p, &spec);
	free(spec.word);
	return ret < 0 ? ret : 0;
}

static int parse_pfm_names(struct pfm_parser *np)
{
	int ret = parse_pfm_name(np);

	while (!ret && next_char(np) == ',') {
		np->at++;
		ret = parse_pfm_name(np);
	}
	return ret;
}

static int parse_pfm_braces(struct pfm_parser *np)
{
	char none[1] = "";
	struct spec_group group = { .braces = true, .modifiers = none, .pos = np->at };
	size_t first = np->p->list->n, open = np->at++;
	int ret = parse_pfm_names(np);

	if (ret)
		return ret;
	if (next_char(np) != '}')
		return spec_fail(np->p->error, -EINVAL, np->text[np->at] ? np->at : open,
				 np->text[np->at] ? "',' or '}' must stand here" :
						    "this '{' is not closed");
	group.modifiers_pos = ++np->at;
	return event_make_group(np->p, first, &group);
}

static int add_pfm_names(struct event_parse *p)
{
	struct pfm_parser np = { .p = p, .text = p->text };

	for (;;) {
		int ret = next_char(&np) == '{' ? parse_pfm_braces(&np) : parse_pfm_name(&np);
		char after;

		if (ret)
			return ret;
		after = next_char(&np);
		if (!after)
			return 0;
		if (after != ',')
			return spec_fail(p->error, -EINVAL, np.at, "',' must stand here");
		np.at++;
	}
}

int event_list_parse_pfm(struct event_list *list, const char *names, const struct host_paths *host,
			 struct str *err)
{
	return parse_with(add_pfm_names, list, names, host, err);
}
