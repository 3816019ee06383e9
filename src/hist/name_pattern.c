/*
 * Names of functions that the user gave as an extended regular expression: --parent, --ignore-callees.
 */
#include "hist/fold_internal.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>

struct name_pattern {
	regex_t regex;
};

int name_pattern_new(struct name_pattern **pattern, const char *option, const char *text, struct str *err)
{
	struct name_pattern *made = xcalloc(1, sizeof(*made));
	char why[128];
	int code;

	*pattern = NULL;
	code = regcomp(&made->regex, text, REG_EXTENDED | REG_NOSUB);
	if (code) {
		regerror(code, &made->regex, why, sizeof(why));
		free(made);
		return fail(err, -EINVAL, "%s: '%s' is not a regular expression: %s", option, text, why);
	}
	*pattern = made;
	return 0;
}

void name_pattern_free(struct name_pattern *pattern)
{
	if (!pattern)
		return;
	regfree(&pattern->regex);
	free(pattern);
}

bool name_pattern_match(const struct name_pattern *pattern, const char *name)
{
	return !regexec(&pattern->regex, name, 0, NULL, 0);
}
