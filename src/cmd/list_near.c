/*
 * Names are compared as wholes, as util/ has it, and in pieces, because people remember pieces: "swich" is near
 * to sched:sched_switch, "nosuch:sched_switch" too. A pattern is compared by its letters, and where it ends in a
 * star with the beginnings of names.
 */
#include "cmd/list_near.h"

#include "stat/stat.h"

#include <stdio.h>

enum { NAMES = 3, WORD_BYTES = 128, PIECE_LEAST = 4, PREFIX_LEAST = 3, PIECE_PENALTY = 1 };

struct near_word {
	char text[WORD_BYTES]; /* without * ? [ ] and what then stands at its ends */
	const char *event; /* behind the colon of SYSTEM:EVENT; NULL: there is none */
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
	/* Of a system that was named, only its own pieces. */
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
	const char *topic;

	for (size_t i = 0; (topic = event_topic(i)); i++)
		consider(names, topic);
	consider(names, "metric");
	for (size_t i = 0; i < n_metrics; i++)
		consider(names, metrics[i].name);
	event_walk(NULL, NULL, host, consider_event, names, &ignored);
	str_release(&ignored);
}

void list_near_add(const char *word, const struct host_paths *host, struct str *out)
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
		str_addf(out, "'pstat list%s' shows what there is", names.word.event ? " tracepoint" : "");
}
