/*
 * pstat list: the events and metrics that can be named here, one line each. Words are topics, or
 * patterns over all topics. Whether hardware and cache events count is tried on this machine, for this
 * user (list_try.c); everything else is read from where the event sources have it.
 *
 * A pipe or a file gets lines that each say all, for grep; a terminal gets groups (list_groups.c), in a pager.
 */
#include "cmd/command.h"
#include "cmd/list_groups.h"
#include "cmd/list_near.h"
#include "cmd/list_try.h"
#include "cmd/message.h"
#include "cmd/pager.h"
#include "cmd/terminal.h"
#include "stat/stat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NAME_COLUMN = 46, PIECE_BYTES = 1 << 16 };

struct list_words {
	bool json, names, counters, no_pager;
};

struct listing {
	const struct list_words *words;
	const struct kern *kern;
	struct event_trial trial;
	struct str line; /* scratch */
	struct str text; /* not yet written: all of it, where it is for a terminal */
	bool terminal, grouped;
	struct list_groups groups;
	size_t n; /* events found for the current word */
	size_t n_all; /* and for all */
};

const struct option_row list_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ .kind = OPTION_FLAG, .letter = 'j', .name = "json", .help = "one JSON array",
	  .offset = offsetof(struct list_words, json) },
	{ .kind = OPTION_FLAG, .name = "names", .help = "names only",
	  .offset = offsetof(struct list_words, names) },
	{ .kind = OPTION_FLAG, .name = "raw-dump", .help = "the same, by perf's name",
	  .offset = offsetof(struct list_words, names) },
	{ .kind = OPTION_FLAG, .name = "counters",
	  .help = "per counter unit, how many counters are free for general events",
	  .offset = offsetof(struct list_words, counters) },
	{ .kind = OPTION_FLAG, .name = "no-pager", .help = "straight to the terminal",
	  .offset = offsetof(struct list_words, no_pager) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 0, "debug", NULL, .help = "there is nothing more to say" },
	{ OPTION_ACCEPTED, 0, "deprecated", NULL, .help = "no event is left out" },
	{ OPTION_ACCEPTED, 'd', "desc", NULL, .help = "descriptions are always there; --names leaves them out" },
	{ OPTION_ACCEPTED, 'v', "long-desc", NULL, .help = "there is one description of each" },
	{ OPTION_ACCEPTED, 0, "details", NULL, .help = "what an event stands for is in its description" },
	{ OPTION_REFUSED, 0, "cputype", "type", .help = "a pattern says which: pstat list 'cpu_core/*'" },
	{ OPTION_REFUSED, 0, "unit", "name", .help = "a pattern says which: pstat list 'unit/*'" },
	{ OPTION_REFUSED, 'o', "output", "file", .help = "pstat list > file", .value = VALUE_FILE },
	{ .kind = OPTION_END },
};

/* ---- one line ---- */

static void add_printable(struct str *out, const char *text)
{
	str_add_printable(out, text, strlen(text));
}

/* "cpu/.../" stands for any terms: its name is what a user types first. */
static void add_names(struct str *line, const struct event_info *info)
{
	const char *dots = strstr(info->name, "...");

	str_add_printable(line, info->name, dots ? (size_t)(dots - info->name) : strlen(info->name));
	str_addc(line, '\n');
	if (!info->alias[0])
		return;
	add_printable(line, info->alias);
	str_addc(line, '\n');
}

/* verdict: why the event does not count here, "" if it does, NULL if that was not tried. */
static void add_text(struct str *line, const struct event_info *info, const char *verdict)
{
	add_printable(line, info->name);
	if (info->alias[0]) {
		str_add(line, " or ");
		add_printable(line, info->alias);
	}
	if (line->len < NAME_COLUMN)
		str_pad(line, ' ', NAME_COLUMN - line->len);
	str_addf(line, "  [%s]%s", info->topic, info->desc[0] ? " " : "");
	add_printable(line, info->desc);
	if (info->unit[0])
		str_addf(line, ", in %s", info->unit);
	if (verdict)
		str_addf(line, " (%s%s)", verdict[0] ? "no: " : "counts", verdict);
	str_addc(line, '\n');
}

static void add_json_text(struct str *line, const char *key, const char *text)
{
	str_addf(line, "%s\"%s\" : ", line->s[line->len - 1] == '{' ? "" : ", ", key);
	str_add_json(line, text);
}

/* perf's words for a kind of event; a topic that has none here is of "Kernel PMU event"s. */
static const struct {
	const char *topic, *type;
} event_types[] = {
	{ "hw", "Hardware event" },	  { "sw", "Software event" },	   { "cache", "Hardware cache event" },
	{ "tool", "Tool event" },	  { "raw", "Raw event descriptor" }, { "tracepoint", "Tracepoint event" },
	{ "breakpoint", "Hardware breakpoint" },
};

static const char *event_type(const char *topic)
{
	for (size_t i = 0; i < ARRAY_SIZE(event_types); i++)
		if (!strcmp(event_types[i].topic, topic))
			return event_types[i].type;
	return "Kernel PMU event";
}

/* The keys that perf has, by its names; then pstat's own. */
static void add_json(struct str *line, const struct event_info *info, const char *verdict)
{
	bool metric = !strcmp(info->topic, "metric"), scaled = info->scale != 1.0 && info->scale != 0.0;

	str_addc(line, '{');
	add_json_text(line, metric ? "MetricName" : "EventName", info->name);
	if (info->alias[0])
		add_json_text(line, "EventAlias", info->alias);
	if (!metric)
		add_json_text(line, "EventType", event_type(info->topic));
	if (info->desc[0])
		add_json_text(line, "BriefDescription", info->desc);
	if (info->pmu_name[0])
		add_json_text(line, "Unit", info->pmu_name);
	if (info->unit[0] || scaled) {
		char *unit = xasprintf("%.17g%s", scaled ? info->scale : 1.0, info->unit);

		add_json_text(line, "ScaleUnit", unit);
		free(unit);
	}
	add_json_text(line, "topic", info->topic);
	add_json_text(line, "name", info->name);
	if (verdict)
		str_addf(line, ", \"counts\" : %s", verdict[0] ? "false" : "true");
	if (verdict && verdict[0])
		add_json_text(line, "reason", verdict);
	str_addc(line, '}');
}

/* An array has what is between its elements before each but the first, and "[" before that. */
static const char *before_element(size_t n_before)
{
	return n_before ? ",\n" : "[\n";
}

static void end_array(struct str *out, size_t n)
{
	str_add(out, n ? "\n]\n" : "[\n]\n");
}

static bool worth_trying(const struct event_info *info)
{
	return !strcmp(info->topic, "hw") || !strcmp(info->topic, "cache");
}

/* Non-zero: the reader has gone away. */
static int write_text(struct listing *listing)
{
	struct str *text = &listing->text;
	bool all = fwrite(text->s, 1, text->len, stdout) == text->len;

	str_reset(text);
	return !all;
}

/* A reader that has gone away ends the walk. */
static int print_event(const struct event_info *info, void *data)
{
	struct listing *listing = data;
	struct str *line = &listing->line;
	const char *verdict = NULL;

	listing->n++;
	listing->n_all++;
	if (listing->grouped) {
		list_groups_add(&listing->groups, info);
		return 0;
	}
	str_reset(line);
	if (listing->words->names) {
		add_names(line, info);
	} else {
		if (listing->words->json)
			str_add(line, before_element(listing->n_all - 1));
		if (worth_trying(info))
			verdict = event_trial_verdict(&listing->trial, info->name);
		(listing->words->json ? add_json : add_text)(line, info, verdict);
	}
	str_addn(&listing->text, line->s, line->len);
	return !listing->terminal && listing->text.len >= PIECE_BYTES ? write_text(listing) : 0;
}

/* ---- words ---- */

static int walk_metrics(struct listing *listing, const char *pattern)
{
	int rc = 0;

	for (size_t i = 0; i < n_metrics && !rc; i++) {
		const struct event_info info = {
			.topic = "metric",
			.name = metrics[i].name,
			.alias = "",
			.desc = metrics[i].desc,
			.pmu_name = "",
			.unit = "",
			.scale = 1.0,
		};

		if (!pattern || glob_match(pattern, info.name) ||
		    (metrics[i].group && glob_match(pattern, metrics[i].group)))
			rc = print_event(&info, listing);
	}
	return rc;
}

static int nothing_found(const struct listing *listing, const char *word)
{
	struct str text = STR_INIT;

	str_addf(&text, "list: there is no topic, event or metric '%s'", word);
	list_near_add(word, &listing->kern->host, &text);
	message_error(text.s);
	str_release(&text);
	return EXIT_PSTAT_FAILED;
}

/* A topic that was asked for by name and can't be read is an error; else it only is missing. */
static int list_topic(struct listing *listing, const char *topic, bool *known)
{
	struct str err = STR_INIT;
	int rc;

	*known = true;
	if (!strcmp(topic, "metric")) {
		walk_metrics(listing, NULL);
		return 0;
	}
	rc = event_walk(topic, NULL, &listing->kern->host, print_event, listing, &err);
	*known = rc != -EINVAL;
	if (*known && rc < 0)
		message_error(err.s);
	str_release(&err);
	return *known && rc < 0 ? EXIT_PSTAT_FAILED : 0;
}

static int list_pattern(struct listing *listing, const char *pattern)
{
	struct str err = STR_INIT;
	char *inside = NULL;
	int rc = event_walk(NULL, pattern, &listing->kern->host, print_event, listing, &err);

	if (pattern && !has_glob_chars(pattern))
		inside = xasprintf("*%s*", pattern);
	if (rc <= 0)
		rc = walk_metrics(listing, inside ? inside : pattern);
	if (err.len && !listing->words->names)
		message_error(err.s);
	free(inside);
	str_release(&err);
	return rc < 0 ? EXIT_PSTAT_FAILED : 0;
}

/* All in groups: a source that cannot be read here is one that says why. */
static void list_all_groups(struct listing *listing)
{
	const char *topic;

	for (size_t i = 0; (topic = event_topic(i)); i++) {
		struct str err = STR_INIT;

		if (event_walk(topic, NULL, &listing->kern->host, print_event, listing, &err) < 0)
			list_groups_missing(&listing->groups, topic, err.s);
		str_release(&err);
	}
	walk_metrics(listing, NULL);
	list_groups_end(&listing->groups);
}

static int list_all(struct listing *listing)
{
	if (!listing->grouped)
		return list_pattern(listing, NULL);
	list_all_groups(listing);
	return 0;
}

static int list_word(struct listing *listing, const char *word)
{
	bool known;
	int status;

	listing->n = 0;
	status = list_topic(listing, word, &known);
	if (!known)
		status = list_pattern(listing, word);
	if (listing->grouped)
		list_groups_end(&listing->groups);
	if (!known && !status && !listing->n)
		status = nothing_found(listing, word);
	return status;
}

/* ---- --counters ---- */

static void add_counters_json(struct str *out, const struct event_pmu *pmu, int rc,
			      const struct pmu_counters *counters)
{
	str_add(out, "{\"counter-unit\" : ");
	str_add_json(out, pmu->name);
	if (rc)
		str_addf(out, ", \"reason\" : \"%s\"", strerror(-rc));
	else
		str_addf(out, ", \"free-counters\" : %d", counters->general);
	for (int i = 0; i < counters->own; i++)
		str_addf(out, "%s\"%s\"%s", i ? ", " : ", \"own-counters\" : [",
			 counters->own_names[i], i + 1 == counters->own ? "]" : "");
	str_addc(out, '}');
}

static void add_counters(struct str *out, const struct event_pmu *pmu, int rc,
			 const struct pmu_counters *counters)
{
	str_addf(out, "%-24s ", pmu->name);
	if (rc)
		str_addf(out, "cannot be opened: %s", strerror(-rc));
	else
		pmu_counters_format(counters, "free", out);
	str_add(out, "\n");
}

static int list_counters(const struct list_words *words, const struct kern *kern)
{
	struct event_pmu_list pmus = { 0 };
	struct str out = STR_INIT;
	int rc = event_pmus_read(&pmus, &kern->host), status;

	if (rc)
		return bad_usage("list: the counter units cannot be read: %s", strerror(-rc));
	for (size_t i = 0; i < pmus.n; i++) {
		struct pmu_counters counters;
		int found = pmu_counters_find(&pmus.v[i], kern, &counters);

		if (found == -ENOTSUP || found == -EOPNOTSUPP)
			continue;
		if (words->json) {
			str_add(&out, before_element(out.len));
			add_counters_json(&out, &pmus.v[i], found, &counters);
		} else {
			add_counters(&out, &pmus.v[i], found, &counters);
		}
	}
	if (words->json)
		end_array(&out, out.len);
	else if (!out.len)
		str_add(&out, "no counter unit on this machine has counters to share\n");
	status = message_stdout(&out);
	event_pmu_list_release(&pmus);
	str_release(&out);
	return status;
}

/* What is still to be written, through the pager where it is for a terminal. */
static void finish(struct listing *listing)
{
	struct pager pager;

	if (listing->words->json)
		end_array(&listing->text, listing->n_all);
	pager_open(&pager, listing->terminal && !listing->words->no_pager);
	write_text(listing);
	pager_close(&pager);
}

int cmd_list(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct list_words words = { 0 };
	struct listing listing = { .words = &words, .kern = kern, .line = STR_INIT, .text = STR_INIT };
	int first, status = command_parse(self, argc, argv, &words, &first);

	if (status >= 0)
		return status;
	if (words.counters && (words.names || first < argc))
		return bad_usage("list: --counters stands alone");
	if (words.names && words.json)
		return bad_usage("list: --names and --json: give one of them");
	if (words.counters)
		return list_counters(&words, kern);
	listing.terminal = stdout_is_terminal();
	listing.grouped = listing.terminal && !words.names && !words.json;
	event_trial_init(&listing.trial, kern);
	list_groups_init(&listing.groups, &listing.text, terminal_columns(STDOUT_FILENO), kern);
	status = first < argc ? 0 : list_all(&listing);
	for (int i = first; i < argc; i++) {
		int failed = list_word(&listing, argv[i]);

		status = status ? status : failed;
	}
	finish(&listing);
	list_groups_release(&listing.groups);
	event_trial_release(&listing.trial);
	str_release(&listing.line);
	str_release(&listing.text);
	return status;
}
