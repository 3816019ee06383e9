/*
 * --parent: the caller that a sample is booked under, found by an extended regular expression in the names
 * of its callchain.
 */
#include "report/fold.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>

static const char default_pattern[] = "^sys_|^do_page_fault";

struct parent_pattern {
	regex_t regex;
};

int parent_pattern_new(struct parent_pattern **pattern, const char *text, struct str *err)
{
	struct parent_pattern *made = xcalloc(1, sizeof(*made));
	char why[128];
	int code;

	*pattern = NULL;
	if (!text)
		text = default_pattern;
	code = regcomp(&made->regex, text, REG_EXTENDED | REG_NOSUB);
	if (code) {
		regerror(code, &made->regex, why, sizeof(why));
		free(made);
		return fail(err, -EINVAL, "--parent: '%s' is not a regular expression: %s", text,
			    why);
	}
	*pattern = made;
	return 0;
}

void parent_pattern_free(struct parent_pattern *pattern)
{
	if (!pattern)
		return;
	regfree(&pattern->regex);
	free(pattern);
}

bool parent_pattern_match(const struct parent_pattern *pattern, const char *name)
{
	return !regexec(&pattern->regex, name, 0, NULL, 0);
}
