/*
 * How option rows look in -h: one aligned line each, under the headings that the table gives.
 */
#include "cmd/options.h"

enum {
	INDENT = 4,
	HELP_COLUMN = 34, /* where the explanations begin */
};

/* "-e, --event <list>": how -h shows a row. */
static void add_synopsis(struct str *out, const struct option_row *row)
{
	if (row->letter)
		str_addf(out, "-%c", row->letter);
	if (row->letter && row->name)
		str_add(out, ", ");
	if (row->name)
		str_addf(out, "--%s", row->name);
	if (row->both)
		str_addf(out, ", --no-%s", row->name);
	if (!row->argument)
		return;
	if (row->argument_optional)
		str_addf(out, "%s<%s>]", row->name ? "[=" : "[", row->argument);
	else if (row->argument_may_follow)
		str_addf(out, " [<%s>]", row->argument);
	else
		str_addf(out, " <%s>", row->argument);
}

void options_add_help(struct str *out, const struct option_row *rows)
{
	for (; rows->kind != OPTION_END; rows = option_next(rows)) {
		size_t start;

		if (rows->kind == OPTION_GROUP) {
			str_addf(out, "\n%s\n", rows->help);
			continue;
		}
		start = out->len;
		str_pad(out, ' ', INDENT);
		add_synopsis(out, rows);
		/* At least two spaces before the explanation, or a line of its own. */
		if (out->len - start + 2 > HELP_COLUMN) {
			str_addc(out, '\n');
			start = out->len;
		}
		str_pad(out, ' ', HELP_COLUMN - (out->len - start));
		str_addf(out, "%s%s\n", option_attitude(rows), rows->help);
	}
}
