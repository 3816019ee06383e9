/* SPDX-License-Identifier: MIT */
/*
 * pstat list: the events and metrics that can be named here, one line each. Words are topics, or
 * patterns over all topics. Whether hardware and cache events count is tried on this machine, for this
 * user; everything else is read from where the event sources have it.
 *
 * A pipe or a file gets lines that each say all, for grep; a terminal gets groups, in a pager. A word that is neither
 * topic nor event is answered with the names that are near to it.
 */
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/pager.h"
#include "cmd/terminal.h"
#include "stat/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

struct list_words {
	bool json, names, counters, no_pager;
	bool descriptions, long_descriptions, details, deprecated;
	const char *unit, *output, *events_dir;
};

const struct option_row list_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ .kind = OPTION_FLAG, .letter = 'j', .name = "json", .help = "print one JSON array",
	  .offset = offsetof(struct list_words, json) },
	{ .kind = OPTION_FLAG, .name = "names", .help = "print names only",
	  .offset = offsetof(struct list_words, names) },
	{ .kind = OPTION_FLAG, .name = "raw-dump", .help = "the same (perf's name)",
	  .offset = offsetof(struct list_words, names) },
	{ .kind = OPTION_FLAG, .name = "counters",
	  .help = "print the free counters of each unit",
	  .offset = offsetof(struct list_words, counters) },
	{ .kind = OPTION_FLAG, .letter = 'd', .name = "desc", .help = "print descriptions (default)",
	  .offset = offsetof(struct list_words, descriptions), .both = true },
	{ .kind = OPTION_FLAG, .letter = 'v', .name = "long-desc",
	  .help = "print long descriptions where there are some",
	  .offset = offsetof(struct list_words, long_descriptions) },
	{ .kind = OPTION_FLAG, .name = "details", .help = "print what names stand for: terms of a unit, formulas",
	  .offset = offsetof(struct list_words, details) },
	{ .kind = OPTION_FLAG, .name = "deprecated", .help = "print events that the vendor advises against, too",
	  .offset = offsetof(struct list_words, deprecated) },
	{ .kind = OPTION_TEXT, .name = "unit", .argument = "name",
	  .help = "print the events of this counter unit alone",
	  .offset = offsetof(struct list_words, unit) },
	{ .kind = OPTION_TEXT, .name = "events-dir", .argument = "dir", .help = "folder of vendors' JSON files",
	  .value = VALUE_DIRECTORY, .offset = offsetof(struct list_words, events_dir) },
	{ .kind = OPTION_TEXT, .letter = 'o', .name = "output", .argument = "file", .help = "write to this file",
	  .value = VALUE_FILE, .offset = offsetof(struct list_words, output) },
	{ .kind = OPTION_FLAG, .name = "no-pager", .help = "do not use a pager",
	  .offset = offsetof(struct list_words, no_pager) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 0, "debug", NULL, .help = "there is nothing more to print" },
	{ OPTION_REFUSED, 0, "cputype", "type", .help = "the cores of a kind are a counter unit",
	  .instead = "--unit cpu_core" },
	{ .kind = OPTION_END },
};

/*
 * ---- does it count here? ----
 *
 * One event after the other is opened on pstat itself. The words for a failure are those that counting
 * would use: they come from kern/, by opening the event as a counter.
 */

struct event_trial {
	const struct kern *kern;
	/* Finding words costs more than trying: one text per errno. */
	struct event_verdict {
		int err;
		char *reason;
	} *v;
	size_t n, cap;
};

static void event_trial_init(struct event_trial *trial, const struct kern *kern)
{
	*trial = (struct event_trial){ .kern = kern };
}

static void event_trial_release(struct event_trial *trial)
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

/* "" if it counts, else the reason. Borrowed until release. */
static const char *event_trial_verdict(struct event_trial *trial, const char *name)
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

/*
 * ---- groups, for a terminal ----
 *
 * A group is what one source has, or one PMU, one system of tracepoints, one machine of libpfm4. It is
 * gathered until the next begins, because its head needs all of it: how wide the names are, and whether one
 * reason holds for all.
 *
 *	Hardware events (hw): not here: no PMU in this virtual machine
 *	  cpu-cycles or cycles  core clock cycles, at whatever speed the core runs
 *	  instructions          instructions retired
 *
 * Where only some do not count, a dash stands before these. Events are tried one by one; of tracepoints one for
 * all, because it is a matter of rights, and to close each would take a while.
 */

struct group_row {
	char *name, *desc;
	char *verdict; /* why it does not count here; "": it counts; NULL: not tried */
};
struct list_groups {
	struct str *out;
	const struct kern *kern;
	unsigned columns; /* of the terminal */
	struct event_trial trial; /* of the group's own events */
	char *topic, *part; /* the group that is being gathered; NULL: none */
	struct group_row *rows;
	size_t n, cap;
	size_t n_groups; /* printed */
	char *tracepoints_verdict; /* of all: it is a matter of rights */
};

enum { ROW_INDENT = 2, GAP = 2, COLUMNS_DEFAULT = 80 };

/* Topics whose events are tried, or come in parts; others are listed as they are. */
static const struct topic_row {
	const char *topic;
	const char *title_of_part; /* NULL: there are no parts */
	const char *separator; /* the part is what stands in front of it in a name; NULL: the PMU */
	enum { NONE_TRIED, EACH_TRIED, ONE_FOR_ALL } tried;
} topics[] = {
	{ "hw", NULL, NULL, EACH_TRIED },
	{ "sw", NULL, NULL, EACH_TRIED },
	{ "cache", NULL, NULL, EACH_TRIED },
	{ "pmu", "Counter unit ", NULL, EACH_TRIED },
	{ "tracepoint", "Tracepoints of ", ":", ONE_FOR_ALL },
	{ "vendor", "Vendor's events of ", NULL, NONE_TRIED },
	{ "pfm", "Vendor events of ", "::", EACH_TRIED },
};

static const struct topic_row *topic_row(const char *topic)
{
	static const struct topic_row other = { NULL, NULL, NULL, NONE_TRIED };

	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		if (!strcmp(topics[i].topic, topic))
			return &topics[i];
	return &other;
}

static const char *title_of(const char *name)
{
	const struct event_topic *topic = event_topic_find(name);

	return topic ? topic->title : !strcmp(name, "metricgroup") ? "Groups of metrics" : "Metrics";
}

static void list_groups_init(struct list_groups *groups, struct str *out, unsigned columns, const struct kern *kern)
{
	*groups = (struct list_groups){ .out = out, .kern = kern, .columns = columns ? columns : COLUMNS_DEFAULT };
	event_trial_init(&groups->trial, kern);
}

static void forget_rows(struct list_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++) {
		free(groups->rows[i].name);
		free(groups->rows[i].desc);
		free(groups->rows[i].verdict);
	}
	groups->n = 0;
	free(groups->topic);
	free(groups->part);
	groups->topic = groups->part = NULL;
}

static void list_groups_release(struct list_groups *groups)
{
	forget_rows(groups);
	free(groups->rows);
	free(groups->tracepoints_verdict);
	event_trial_release(&groups->trial);
}

/* ---- trying ---- */

/* "cpu/.../" stands for any terms. */
static bool is_event(const struct event_info *info)
{
	return !strstr(info->name, "...");
}

static char *try_row(struct list_groups *groups, const struct topic_row *topic, const struct event_info *info)
{
	if (topic->tried == NONE_TRIED || !is_event(info))
		return NULL;
	if (topic->tried == EACH_TRIED)
		return xstrdup(event_trial_verdict(&groups->trial, info->name));
	if (!groups->tracepoints_verdict)
		groups->tracepoints_verdict = xstrdup(event_trial_verdict(&groups->trial, info->name));
	return xstrdup(groups->tracepoints_verdict);
}

static bool is_missing(const struct group_row *row)
{
	return row->verdict && *row->verdict;
}

/* The one reason of all that do not count; NULL: there are several, or none. *some: others count. */
static const char *common_reason(const struct list_groups *groups, bool *some)
{
	const char *reason = NULL;

	*some = false;
	for (size_t i = 0; i < groups->n; i++) {
		const struct group_row *row = &groups->rows[i];

		*some |= row->verdict && !*row->verdict;
		if (!is_missing(row))
			continue;
		if (reason && strcmp(reason, row->verdict) != 0)
			return NULL;
		reason = row->verdict;
	}
	return reason;
}

/* ---- printing ---- */

/* marked: the reason is that of the rows with a dash. */
static void add_head(struct list_groups *groups, const char *topic, const char *part, const char *reason,
		     bool marked)
{
	const struct topic_row *row = topic_row(topic);
	struct str head = STR_INIT;

	str_add(&head, part && row->title_of_part ? row->title_of_part : title_of(topic));
	if (part && row->title_of_part)
		str_add_printable(&head, part, strlen(part));
	str_addf(&head, " (%s)", topic);
	if (reason) {
		str_add(&head, marked ? ": those with - not here: " : ": not here: ");
		str_add_printable(&head, reason, strlen(reason));
	}
	if (groups->n_groups++)
		str_addc(groups->out, '\n');
	str_add_wrapped(groups->out, head.s, 0, ROW_INDENT, groups->columns);
	str_addc(groups->out, '\n');
	str_release(&head);
}

/* The width of the widest name, but no more than two fifths of the line: the rest is for descriptions. */
static size_t name_width(const struct list_groups *groups)
{
	size_t most = groups->columns * 2 / 5, width = 0;

	for (size_t i = 0; i < groups->n; i++) {
		size_t own = text_columns(groups->rows[i].name, strlen(groups->rows[i].name));

		if (own > width && own <= most)
			width = own;
	}
	return width;
}

/* common: the head has the reason. marked: of some of the rows. */
static void add_row(struct list_groups *groups, const struct group_row *row, size_t width, bool common, bool marked)
{
	struct str *out = groups->out, text = STR_INIT;
	size_t own = text_columns(row->name, strlen(row->name)), at = ROW_INDENT + width + GAP;

	str_add(&text, row->desc);
	if (!common && is_missing(row)) {
		str_add(&text, text.len ? " (no: " : "(no: ");
		str_add_printable(&text, row->verdict, strlen(row->verdict));
		str_addc(&text, ')');
	}
	str_add(out, marked && is_missing(row) ? "- " : "  ");
	str_add(out, row->name);
	if (text.len) {
		if (own > width) {
			str_addc(out, '\n');
			str_pad(out, ' ', at);
		} else {
			str_pad(out, ' ', width - own + GAP);
		}
		str_add_wrapped(out, text.s, at, at, groups->columns);
	}
	str_addc(out, '\n');
	str_release(&text);
}

/* The last group is complete. */
static void list_groups_end(struct list_groups *groups)
{
	bool some;
	const char *reason = common_reason(groups, &some);
	size_t width = name_width(groups);

	if (!groups->topic)
		return;
	add_head(groups, groups->topic, groups->part, reason, some);
	for (size_t i = 0; i < groups->n; i++)
		add_row(groups, &groups->rows[i], width, reason != NULL, some);
	forget_rows(groups);
}

/* A topic whose events cannot be listed here; why may have several lines. */
static void list_groups_missing(struct list_groups *groups, const char *topic, const char *why)
{
	const char *title = title_of(topic);
	size_t first = strcspn(why, "\n"), named = strlen(title) + 2;
	char *reason = xstrndup(why, first);

	list_groups_end(groups);
	/* "tracepoints: ..." would say it twice. */
	named = first > named && !strncasecmp(why, title, named - 2) && why[named - 2] == ':' ? named : 0;
	add_head(groups, topic, NULL, reason + named, false);
	for (why += first; *why; why += strcspn(why, "\n")) {
		why += strspn(why, " \n");
		str_pad(groups->out, ' ', ROW_INDENT);
		str_add_printable(groups->out, why, strcspn(why, "\n"));
		str_addc(groups->out, '\n');
	}
	free(reason);
}

/* ---- gathering ---- */

/* On the heap, or NULL: the topic has no parts. */
static char *part_of(const struct topic_row *topic, const struct event_info *info)
{
	const char *end = topic->separator ? strstr(info->name, topic->separator) : NULL;

	if (end)
		return xstrndup(info->name, (size_t)(end - info->name));
	return topic->title_of_part && *info->pmu_name ? xstrdup(info->pmu_name) : NULL;
}

static void begin_group(struct list_groups *groups, const struct event_info *info, char *part)
{
	list_groups_end(groups);
	groups->topic = xstrdup(info->topic);
	groups->part = part;
	/* Reasons are kept by errno: another source's may mean something else. */
	event_trial_release(&groups->trial);
	event_trial_init(&groups->trial, groups->kern);
}

static void list_groups_add(struct list_groups *groups, const struct event_info *info)
{
	const struct topic_row *topic = topic_row(info->topic);
	char *part = part_of(topic, info);
	struct str name = STR_INIT, desc = STR_INIT;

	if (text_same(groups->topic, info->topic) && text_same(groups->part, part))
		free(part);
	else
		begin_group(groups, info, part);
	str_add_printable(&name, info->name, strlen(info->name));
	if (info->alias[0]) {
		str_add(&name, " or ");
		str_add_printable(&name, info->alias, strlen(info->alias));
	}
	str_add_printable(&desc, info->desc, strlen(info->desc));
	if (info->unit[0])
		str_addf(&desc, "%sin %s", desc.len ? ", " : "", info->unit);
	VEC_GROW(groups->rows, groups->n, groups->cap);
	groups->rows[groups->n] = (struct group_row){ .verdict = try_row(groups, topic, info) };
	groups->rows[groups->n].name = str_detach(&name);
	groups->rows[groups->n++].desc = str_detach(&desc);
}

/*
 * ---- names that may have been meant ----
 *
 * Names are compared as wholes, as util/ has it, and in pieces, because people remember pieces: "swich" is near
 * to sched:sched_switch, "nosuch:sched_switch" too. A pattern is compared by its letters, and where it ends in a
 * star with the beginnings of names.
 */

enum { NAMES = 3, WORD_BYTES = 128, PIECE_LEAST = 4, PREFIX_LEAST = 3, PIECE_PENALTY = 1 };

struct near_word {
	char text[WORD_BYTES]; /* without * ? [ ] and what then stands at its ends */
	const char *event; /* after the colon of SYSTEM:EVENT; NULL: there is none */
	bool prefix;
};
struct near_names {
	struct near_word word;
	struct {
		char name[WORD_BYTES];
		unsigned distance;
	} v[NAMES];
	size_t n;
};

static bool is_separator(char c)
{
	return strchr("-_:/., ", c) != NULL;
}

static void word_init(struct near_word *word, const char *typed)
{
	size_t n = 0, skip;

	*word = (struct near_word){ .prefix = *typed && typed[strlen(typed) - 1] == '*' };
	for (; *typed && n < WORD_BYTES - 1; typed++)
		if (!strchr("*?[]", *typed))
			word->text[n++] = *typed;
	word->text[n] = '\0';
	while (n && is_separator(word->text[n - 1]))
		word->text[--n] = '\0';
	skip = strspn(word->text, "-_:/., ");
	memmove(word->text, word->text + skip, n - skip + 1);
	word->event = strchr(word->text, ':');
	if (word->event)
		word->event++;
}

/* The edits from the word to n letters of a name; false: it is not near to them. */
static bool is_near(const char *word, const char *name, size_t n, unsigned *distance)
{
	char piece[WORD_BYTES];
	struct near_name near;

	if (n >= sizeof(piece))
		return false;
	memcpy(piece, name, n);
	piece[n] = '\0';
	near_init(&near, word, strlen(word));
	near_consider(&near, piece);
	*distance = near.best_distance;
	return near_best(&near) != NULL;
}

/* A few letters are near to everything: pieces have to be nearer than wholes. */
static bool piece_is_near(const char *word, const char *name, size_t n, unsigned *distance)
{
	return n >= PIECE_LEAST && is_near(word, name, n, distance) && *distance <= n / PIECE_LEAST;
}

static void keep_least(unsigned distance, bool *found, unsigned *least)
{
	if (!*found || distance < *least)
		*least = distance;
	*found = true;
}

static bool nearest(const struct near_word *word, const char *name, unsigned *least)
{
	const char *event = strchr(name, ':'), *sought = word->event ? word->event : word->text;
	size_t n = strlen(name), letters = strlen(word->text);
	unsigned distance;
	bool found = false;

	if (is_near(word->text, name, n, &distance))
		keep_least(distance, &found, least);
	if (word->prefix && letters >= PREFIX_LEAST && n > letters &&
	    is_near(word->text, name, letters, &distance))
		keep_least(distance, &found, least);
	event = event ? event + 1 : NULL;
	if (event && piece_is_near(sought, event, strlen(event), &distance))
		keep_least(distance + PIECE_PENALTY, &found, least);
	/* A system that was named has its own pieces only. */
	if (word->event && strncmp(name, word->text, (size_t)(word->event - word->text)) != 0)
		return found;
	for (const char *at = event ? event : name; *at;) {
		size_t piece = strcspn(at, "-_:/.,");

		if (piece_is_near(sought, at, piece, &distance))
			keep_least(distance + PIECE_PENALTY, &found, least);
		at += piece + (at[piece] != '\0');
	}
	return found;
}

static void consider(struct near_names *names, const char *name)
{
	unsigned distance = 0;
	size_t at;

	if (strlen(name) >= WORD_BYTES || !nearest(&names->word, name, &distance))
		return;
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->v[i].name, name))
			return;
	for (at = names->n; at && names->v[at - 1].distance > distance; at--)
		;
	if (at == NAMES)
		return;
	names->n += names->n < NAMES;
	memmove(&names->v[at + 1], &names->v[at], (names->n - at - 1) * sizeof(names->v[0]));
	names->v[at].distance = distance;
	snprintf(names->v[at].name, sizeof(names->v[at].name), "%s", name);
}

static int consider_event(const struct event_info *info, void *names)
{
	consider(names, info->name);
	consider(names, info->alias);
	return 0;
}

static void consider_all(struct near_names *names, const struct host_paths *host)
{
	struct str ignored = STR_INIT; /* a source that cannot be read has no names */
	const struct event_topic *topic;

	for (size_t i = 0; (topic = event_topic(i)); i++)
		consider(names, topic->name);
	consider(names, "metric");
	for (size_t i = 0; i < n_metrics; i++)
		consider(names, metrics[i].name);
	for (size_t i = 0; i < n_metrics; i++)
		if (metrics[i].alias)
			consider(names, metrics[i].alias);
	event_walk(NULL, NULL, host, consider_event, names, &ignored);
	str_release(&ignored);
}

/* Adds the nearest names as "did you mean a, b or c?", or where to look; on a line of its own. */
static void add_near(const char *word, const struct host_paths *host, struct str *out)
{
	struct near_names names = { .n = 0 };

	word_init(&names.word, word);
	consider_all(&names, host);
	str_add(out, names.n ? "\ndid you mean " : "\n");
	for (size_t i = 0; i < names.n; i++) {
		str_add(out, !i ? "" : i + 1 < names.n ? ", " : " or ");
		str_add(out, names.v[i].name);
	}
	if (names.n)
		str_addc(out, '?');
	else
		str_addf(out, "'pstat list%s' shows all names", names.word.event ? " tracepoint" : "");
}

/* ---- one line ---- */

enum { NAME_COLUMN = 46, DETAILS_INDENT = 8, PIECE_BYTES = 1 << 16 };

struct event_listing {
	const struct list_words *words;
	const struct kern *kern;
	struct event_list known; /* has the vendor's metrics */
	const struct event_metric *metric; /* while one is printed */
	int output; /* a descriptor; -1: standard output */
	struct str long_desc; /* scratch: of the event that is printed, in one line */
	struct event_trial trial;
	struct str line; /* scratch */
	struct str text; /* not yet written: all of it, where it is for a terminal */
	bool terminal, grouped;
	struct list_groups groups;
	size_t n; /* events found for the current word */
	size_t n_all; /* and for all */
};

static void add_printable(struct str *out, const char *text)
{
	str_add_printable(out, text, strlen(text));
}

/* "cpu/.../" stands for any terms: its name is what a user types first. */
static void add_names_only(struct str *line, const struct event_info *info)
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

/* The keys that perf has, by its names; then pstat's own. */
static void add_json(struct str *line, const struct event_info *info, const char *verdict)
{
	bool metric = !strncmp(info->topic, "metric", 6), scaled = info->scale != 1.0 && info->scale != 0.0;

	str_addc(line, '{');
	add_json_text(line, !metric ? "EventName" : info->topic[6] ? "MetricGroup" : "MetricName", info->name);
	if (info->alias[0])
		add_json_text(line, "EventAlias", info->alias);
	if (!metric)
		add_json_text(line, "EventType", event_topic_find(info->topic)->kind);
	if (info->desc[0])
		add_json_text(line, "BriefDescription", info->desc);
	if (info->pmu_name[0])
		add_json_text(line, "Unit", info->pmu_name);
	if (info->unit[0] || scaled) {
		char *unit = xasprintf("%.17g%s", scaled ? info->scale : 1.0, info->unit);

		add_json_text(line, "ScaleUnit", unit);
		free(unit);
	}
	if (info->long_desc)
		add_json_text(line, "PublicDescription", info->long_desc);
	if (info->encoding)
		add_json_text(line, "Encoding", info->encoding);
	if (info->deprecated)
		add_json_text(line, "Deprecated", "1");
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

/* The keys of perf for what else is known of a metric. */
static void add_metric_json(struct str *line, const struct event_metric *metric)
{
	if (metric->groups)
		add_json_text(line, "MetricGroup", metric->groups);
	add_json_text(line, "MetricExpr", metric->formula);
	if (metric->threshold)
		add_json_text(line, "MetricThreshold", metric->threshold);
	if (metric->scale_unit)
		add_json_text(line, "ScaleUnit", metric->scale_unit);
}

/* Topics that are of one unit in all. */
static const struct {
	const char *topic, *unit;
} units_of_topics[] = { { "sw", "software" },	{ "tool", "tool" },	{ "tracepoint", "tracepoint" },
			{ "breakpoint", "breakpoint" } };

/* Is it of the unit of --unit? "uncore_imc" is also uncore_imc_0. */
static bool is_of_unit(const struct event_info *info, const char *unit)
{
	const char *pmu = info->pmu_name;
	size_t len = strlen(unit);

	for (size_t i = 0; i < ARRAY_SIZE(units_of_topics) && !*pmu; i++)
		if (!strcmp(units_of_topics[i].topic, info->topic))
			pmu = units_of_topics[i].unit;
	if (has_glob_chars(unit))
		return glob_match(unit, pmu);
	return !strncmp(pmu, unit, len) && !pmu[len + strspn(pmu + len, "_0123456789")];
}

/* The same as the options want it told. */
static struct event_info as_asked(struct event_listing *listing, const struct event_info *info)
{
	const struct list_words *words = listing->words;
	struct event_info asked = *info;

	if (words->json)
		return asked;
	if (words->long_descriptions && info->long_desc) {
		str_reset(&listing->long_desc);
		for (const char *p = info->long_desc; *p; p++)
			str_addc(&listing->long_desc, *p == '\n' ? ' ' : *p);
		asked.desc = listing->long_desc.s;
	}
	if (!words->descriptions)
		asked.desc = "";
	return asked;
}

static bool worth_trying(const struct event_info *info)
{
	return !strcmp(info->topic, "hw") || !strcmp(info->topic, "cache");
}

/* Non-zero: the reader has gone away. */
static int write_text(struct event_listing *listing)
{
	struct str *text = &listing->text;
	bool all = listing->output >= 0 ? !write_all(listing->output, text->s, text->len) :
					  fwrite(text->s, 1, text->len, stdout) == text->len;

	str_reset(text);
	return !all;
}

/* Adds to the line of an event the keys of a metric, or below it what the name stands for. */
static void finish_line(struct event_listing *listing, const struct event_info *info)
{
	struct str *line = &listing->line;
	const char *details = listing->metric ? listing->metric->formula : info->encoding;

	if (listing->words->json && listing->metric) {
		line->s[--line->len] = '\0';
		add_metric_json(line, listing->metric);
		str_addc(line, '}');
	}
	if (!listing->words->json && listing->words->details && details) {
		str_pad(line, ' ', DETAILS_INDENT);
		add_printable(line, details);
		str_addc(line, '\n');
	}
}

/* A reader that has gone away ends the walk. */
static int print_event(const struct event_info *info, void *data)
{
	struct event_listing *listing = data;
	const struct event_info asked = as_asked(listing, info);
	struct str *line = &listing->line;
	const char *verdict = NULL;

	if ((info->deprecated && !listing->words->deprecated) ||
	    (listing->words->unit && !is_of_unit(info, listing->words->unit)))
		return 0;
	listing->n++;
	listing->n_all++;
	if (listing->grouped) {
		list_groups_add(&listing->groups, &asked);
		return 0;
	}
	str_reset(line);
	if (listing->words->names) {
		add_names_only(line, info);
	} else {
		if (listing->words->json)
			str_add(line, before_element(listing->n_all - 1));
		if (worth_trying(info))
			verdict = event_trial_verdict(&listing->trial, info->name);
		(listing->words->json ? add_json : add_text)(line, &asked, verdict);
		finish_line(listing, info);
	}
	str_addn(&listing->text, line->s, line->len);
	return !listing->terminal && listing->text.len >= PIECE_BYTES ? write_text(listing) : 0;
}

/* ---- words ---- */

/* Metrics of the table, then those of the vendor, in one form. */
static struct event_metric metric_at(struct event_listing *listing, size_t i, const char **alias)
{
	size_t n;
	const struct event_metric *known = event_metrics(&listing->known, &listing->kern->host, &n);

	*alias = "";
	if (i >= n_metrics)
		return i - n_metrics < n ? known[i - n_metrics] : (struct event_metric){ .name = NULL };
	if (metrics[i].alias)
		*alias = metrics[i].alias;
	return (struct event_metric){ .name = metrics[i].name, .groups = metrics[i].group,
				      .desc = metrics[i].desc, .formula = metrics[i].formula };
}

static int walk_metrics(struct event_listing *listing, const char *pattern)
{
	struct event_metric metric;
	const char *alias;
	int rc = 0;

	for (size_t i = 0; !rc && (metric = metric_at(listing, i, &alias)).name; i++) {
		const struct event_info info = {
			.topic = "metric", .name = metric.name, .alias = alias, .desc = metric.desc,
			.long_desc = metric.long_desc, .pmu_name = metric.unit ? metric.unit : "",
			.unit = "", .scale = 1.0,
		};

		listing->metric = &metric;
		if (!pattern || glob_match(pattern, alias) || metric_known_is_called(&metric, pattern))
			rc = print_event(&info, listing);
		listing->metric = NULL;
	}
	return rc;
}

/* Each group of metrics once, in the order in which metrics have them. */
static int walk_metric_groups(struct event_listing *listing)
{
	struct text_index *seen = texts_new();
	uint32_t n_seen = 0;
	struct event_metric metric;
	const char *alias;
	int rc = 0;

	for (size_t i = 0; !rc && (metric = metric_at(listing, i, &alias)).name; i++) {
		char *groups = xstrdup(metric.groups ? metric.groups : ""), *rest = groups, *group;

		while (!rc && (group = strsep(&rest, ";,"))) {
			const struct event_info info = { .topic = "metricgroup", .name = group, .alias = "",
							 .desc = "", .pmu_name = "", .unit = "", .scale = 1.0 };

			if (!*group || texts_intern(seen, group, strlen(group)) < n_seen)
				continue;
			n_seen++;
			rc = print_event(&info, listing);
		}
		free(groups);
	}
	texts_free(seen);
	return rc;
}

static int nothing_found(const struct event_listing *listing, const char *word)
{
	struct str text = STR_INIT;

	add_near(word, &listing->kern->host, &text);
	message_error("list: there is no topic, event or metric '%s'%s", word, text.s);
	str_release(&text);
	return EXIT_PSTAT_FAILED;
}

/* A topic that was asked for by name and can't be read is an error; else it only is missing. */
static int list_topic(struct event_listing *listing, const char *topic, bool *known)
{
	struct str err = STR_INIT;
	int rc;

	*known = true;
	if (!strcmp(topic, "metric") || !strcmp(topic, "metrics")) {
		walk_metrics(listing, NULL);
		return 0;
	}
	if (!strcmp(topic, "metricgroup") || !strcmp(topic, "metricgroups")) {
		walk_metric_groups(listing);
		return 0;
	}
	if (!strcmp(topic, "sdt"))
		return bad_usage("list: sdt: programs bring these probes with them, and none is registered\n"
				 "  instead: pstat probe -x FILE -F '%%*'");
	topic = strcmp(topic, "hwcache") ? topic : "cache"; /* perf's name */
	rc = event_walk(topic, NULL, &listing->kern->host, print_event, listing, &err);
	*known = rc != -EINVAL;
	if (*known && rc < 0)
		message_error("%s", err.s);
	str_release(&err);
	return *known && rc < 0 ? EXIT_PSTAT_FAILED : 0;
}

static int list_pattern(struct event_listing *listing, const char *pattern)
{
	struct str err = STR_INIT;
	char *inside = NULL;
	int rc = event_walk(NULL, pattern, &listing->kern->host, print_event, listing, &err);

	if (pattern && !has_glob_chars(pattern))
		inside = xasprintf("*%s*", pattern);
	if (rc <= 0)
		rc = walk_metrics(listing, inside ? inside : pattern);
	if (err.len && !listing->words->names)
		message_error("%s", err.s);
	free(inside);
	str_release(&err);
	return rc < 0 ? EXIT_PSTAT_FAILED : 0;
}

/* Lists all in groups; the group of a source that cannot be read here says why. */
static void list_all_groups(struct event_listing *listing)
{
	const struct event_topic *topic;

	for (size_t i = 0; (topic = event_topic(i)); i++) {
		struct str err = STR_INIT;

		if (event_walk(topic->name, NULL, &listing->kern->host, print_event, listing, &err) < 0)
			list_groups_missing(&listing->groups, topic->name, err.s);
		str_release(&err);
	}
	walk_metrics(listing, NULL);
	list_groups_end(&listing->groups);
}

static int list_all(struct event_listing *listing)
{
	if (!listing->grouped)
		return list_pattern(listing, NULL);
	list_all_groups(listing);
	return 0;
}

static int list_word(struct event_listing *listing, const char *word)
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

/* Writes the rest of the text, through the pager where it is for a terminal. */
static void finish(struct event_listing *listing)
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
	struct list_words words = { .descriptions = true };
	struct kern own = *kern;
	struct event_listing listing = { .words = &words, .kern = &own, .line = STR_INIT, .text = STR_INIT,
					 .long_desc = STR_INIT, .output = -1 };
	int first, status = command_parse(self, argc, argv, &words, &first);

	if (status >= 0)
		return status;
	if (words.counters && (words.names || first < argc))
		return bad_usage("list: --counters cannot be combined with other options");
	if (words.names && words.json)
		return bad_usage("list: --names and --json: give one of them");
	if (words.counters)
		return list_counters(&words, kern);
	own.host.events = words.events_dir;
	if (words.output) {
		listing.output = open(words.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (listing.output < 0)
			return bad_usage("list: --output: %s: %s", words.output, strerror(errno));
	}
	listing.terminal = !words.output && isatty(STDOUT_FILENO);
	listing.grouped = listing.terminal && !words.names && !words.json && !words.details;
	event_list_init(&listing.known);
	event_trial_init(&listing.trial, &own);
	list_groups_init(&listing.groups, &listing.text, terminal_columns(STDOUT_FILENO), &own);
	status = first < argc ? 0 : list_all(&listing);
	for (int i = first; i < argc; i++) {
		int failed = list_word(&listing, argv[i]);

		status = status ? status : failed;
	}
	if (words.unit && !listing.n_all && !status) {
		message_error("list: --unit: there is no event of a counter unit '%s'", words.unit);
		status = EXIT_PSTAT_FAILED;
	}
	finish(&listing);
	if (listing.output >= 0 && close(listing.output) && !status)
		status = EXIT_PSTAT_FAILED;
	event_list_release(&listing.known);
	list_groups_release(&listing.groups);
	event_trial_release(&listing.trial);
	str_release(&listing.line);
	str_release(&listing.text);
	str_release(&listing.long_desc);
	return status;
}
