/*
 * pfm_names: the syntax of --pfm-events, which knows nothing of libpfm4 itself:
 *
 *	list := item { ',' item }        item := name | '{' name { ',' name } '}'
 *
 * A name goes up to the next comma, brace or white space; its colons are libpfm4's.
 */
#include "event/pfm.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

struct names_parser {
	struct event_parse *p;
	const char *text;
	size_t at;
};

static char next_char(struct names_parser *np)
{
	while (isspace((unsigned char)np->text[np->at]))
		np->at++;
	return np->text[np->at];
}

static int parse_name(struct names_parser *np)
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

static int parse_names(struct names_parser *np)
{
	int ret = parse_name(np);

	while (!ret && next_char(np) == ',') {
		np->at++;
		ret = parse_name(np);
	}
	return ret;
}

static int parse_braces(struct names_parser *np)
{
	char none[1] = "";
	struct spec_group group = { .braces = true, .modifiers = none, .pos = np->at };
	size_t first = np->p->list->n, open = np->at++;
	int ret = parse_names(np);

	if (ret)
		return ret;
	if (next_char(np) != '}')
		return spec_fail(np->p->error, -EINVAL, np->text[np->at] ? np->at : open,
				 np->text[np->at] ? "',' or '}' must stand here" :
						    "this '{' is not closed");
	group.modifiers_pos = ++np->at;
	return event_make_group(np->p, first, &group);
}

int pfm_parse_list(struct event_parse *p, const char *names)
{
	struct names_parser np = { .p = p, .text = names };

	for (;;) {
		int ret = next_char(&np) == '{' ? parse_braces(&np) : parse_name(&np);
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
