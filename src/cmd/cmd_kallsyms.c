/* SPDX-License-Identifier: MIT */
/*
 * pstat kallsyms: where functions and variables of the running kernel are, by their names, in the layout of perf's
 * command of that name.
 */
#include "cmd/command.h"
#include "cmd/message.h"
#include "sym/sym.h"

#include <inttypes.h>

enum { EXIT_NAME_NOT_FOUND = 1 };

const struct option_row kallsyms_options[] = {
	{ .kind = OPTION_GROUP, .help = "Accepted" },
	{ OPTION_ACCEPTED, 'v', "verbose", NULL, .help = "there is nothing more to print" },
	{ .kind = OPTION_END },
};

/* Adds the lines of one name; false: no symbol has it. */
static bool add_name(struct str *out, const struct kallsyms_found *found, const char *const *names, size_t name)
{
	bool any = false;

	for (size_t i = 0; i < found->n; i++) {
		const struct kallsyms_place *symbol = &found->v[i];

		if (symbol->name != name)
			continue;
		any = true;
		str_addf(out, "%s: ", names[name]);
		if (symbol->module)
			str_addf(out, "[%s] [%s]", symbol->module, symbol->module);
		else
			str_add(out, "[kernel] [kernel.kallsyms]");
		str_addf(out, " %#" PRIx64 "-%#" PRIx64 " (%#" PRIx64 "-%#" PRIx64 ")\n", symbol->start, symbol->end,
			 symbol->start, symbol->end);
	}
	if (!any)
		str_addf(out, "%s: not found\n", names[name]);
	return any;
}

int cmd_kallsyms(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct kallsyms_found found = { .n = 0 };
	struct kernel_symbols symbols;
	struct str out = STR_INIT, err = STR_INIT;
	int first, printed, status = command_parse(self, argc, argv, NULL, &first);
	const char *const *names = (const char *const *)argv + first;
	size_t n = (size_t)(argc - first);

	if (status >= 0)
		return status;
	if (!n)
		return bad_usage("kallsyms: give the names of kernel symbols");
	if (kallsyms_find(&found, kern->host.procfs, names, n, &err)) {
		kernel_symbols_look(&symbols, &kern->host);
		message_error("kallsyms: %s%s%s", err.s, symbols.remedy ? "\n" : "",
			      symbols.remedy ? symbols.remedy : "");
		status = EXIT_PSTAT_FAILED;
	} else {
		status = 0;
		for (size_t i = 0; i < n; i++)
			if (!add_name(&out, &found, names, i))
				status = EXIT_NAME_NOT_FOUND;
		printed = message_stdout(&out);
		if (printed)
			status = printed;
	}
	kallsyms_found_release(&found);
	str_release(&out);
	str_release(&err);
	return status;
}
