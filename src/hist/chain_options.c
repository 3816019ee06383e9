/* SPDX-License-Identifier: MIT */
/*
 * chain_options.c: "graph,0.5,caller,function,percent" -> struct chain_options. Words and numbers may come in
 * any order; a word may be cut short, and is then the first row that begins so. The first number is
 * the least percentage, the second the most branches to print.
 */
#include "hist/hist.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

enum option_field { OPTION_KIND, OPTION_ORDER, OPTION_KEY, OPTION_BRANCH, OPTION_VALUE };
struct chain_word {
	const char *word, *help;
	enum option_field field;
	int value;
};

/*
 * In the order in which perf tries them: "f" is flat and "c" is caller. To add one: a row, a case in
 * set_word where it is a new field, pstat-report(1), tests/unit/test_chain_options.c.
 */
static const struct chain_word chain_words[] = {
	{ "none", "no chains", OPTION_KIND, CHAIN_NONE },
	{ "graph", "a tree; percentages of the whole", OPTION_KIND, CHAIN_GRAPH },
	{ "flat", "one chain after the other", OPTION_KIND, CHAIN_FLAT },
	{ "fractal", "a tree; percentages of the branch above", OPTION_KIND, CHAIN_FRACTAL },
	{ "folded", "a line for each chain", OPTION_KIND, CHAIN_FOLDED },
	{ "caller", "from the outermost caller in", OPTION_ORDER, CHAIN_CALLER },
	{ "callee", "from the sampled function out", OPTION_ORDER, CHAIN_CALLEE },
	{ "function", "frames of one function are one", OPTION_KEY, CHAIN_BY_FUNCTION },
	{ "address", "frames apart by address", OPTION_KEY, CHAIN_BY_ADDRESS },
	{ "srcline", "frames apart by source line", OPTION_KEY, CHAIN_BY_SRCLINE },
	{ "branch", "branches beside the frames", OPTION_BRANCH, 1 },
	{ "percent", "numbers are percentages", OPTION_VALUE, CHAIN_PERCENT },
	{ "period", "numbers are periods", OPTION_VALUE, CHAIN_PERIOD },
	{ "count", "numbers are samples", OPTION_VALUE, CHAIN_COUNT },
};

bool chain_word_row(size_t i, const char **name, const char **help)
{
	if (i >= ARRAY_SIZE(chain_words))
		return false;
	*name = chain_words[i].word;
	*help = chain_words[i].help;
	return true;
}

static void set_word(struct chain_options *options, const struct chain_word *word)
{
	switch (word->field) {
	case OPTION_KIND:
		options->kind = (enum chain_kind)word->value;
		break;
	case OPTION_ORDER:
		options->order = (enum chain_order)word->value;
		options->order_set = true;
		break;
	case OPTION_KEY:
		options->key = (enum chain_key)word->value;
		break;
	case OPTION_BRANCH:
		options->branch = true;
		break;
	case OPTION_VALUE:
		options->value = (enum chain_value)word->value;
		break;
	}
}

static int set_number(struct chain_options *options, const char *text, unsigned *n_numbers,
		      struct str *err)
{
	double percent;
	long limit;

	if (*n_numbers == 0) {
		if (parse_double(text, &percent) || !(percent >= 0 && percent <= 100))
			return fail(
				err, -EINVAL,
				"call graph '%s': the least percentage is a number from 0 to 100",
				text);
		options->min_percent = percent;
	} else if (*n_numbers == 1) {
		if (parse_int(text, 0, INT_MAX, &limit))
			return fail(err, -EINVAL,
				    "call graph '%s': the most branches to print is a whole number",
				    text);
		options->print_limit = (unsigned)limit;
	} else {
		return fail(err, -EINVAL, "call graph '%s': a third number has no meaning", text);
	}
	++*n_numbers;
	return 0;
}

static int set_part(struct chain_options *options, const char *part, unsigned *n_numbers,
		    struct str *err)
{
	struct str shown = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(chain_words); i++) {
		if (!strncmp(chain_words[i].word, part, strlen(part))) {
			set_word(options, &chain_words[i]);
			return 0;
		}
	}
	if (strchr("0123456789.-+", part[0]))
		return set_number(options, part, n_numbers, err);
	str_add_printable(&shown, part, strlen(part));
	fail(err, -EINVAL,
	     "call graph '%s': not known\nThere are graph, fractal, flat, folded, none; caller, "
	     "callee; "
	     "function, address, srcline; branch; percent, period, count; and numbers",
	     shown.s);
	str_release(&shown);
	return -EINVAL;
}

struct chain_options chain_options_default(void)
{
	return (struct chain_options){ .kind = CHAIN_GRAPH, .min_percent = 0.5, .order = CHAIN_CALLER };
}

int chain_options_parse(struct chain_options *options, const char *text, struct str *err)
{
	char *copy = xstrdup(text), *rest = copy, *part;
	unsigned n_numbers = 0;
	int rc = 0;

	if (options->kind == CHAIN_NONE)
		options->kind = CHAIN_GRAPH;
	while (!rc && (part = strsep(&rest, ","))) {
		if (*part)
			rc = set_part(options, part, &n_numbers, err);
		if (options->kind == CHAIN_NONE)
			break; /* as perf: what follows none is not looked at */
	}
	free(copy);
	return rc;
}
