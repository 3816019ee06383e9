/*
 * pstat script: the records of a recording, one by one. So far as they lie in the file (-D), and its
 * header.
 */
#include "cmd/command.h"
#include "cmd/raw_dump.h"

#define FIELD(name) .offset = offsetof(struct raw_dump_words, name)

const struct option_row script_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to read" },
	{ OPTION_TEXT, 'i', "input", "file", "the recording (perf.data); - is standard input",
	  FIELD(input), .words = WORDS_FILE },
	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ OPTION_FLAG, 'D', "dump-raw-trace", NULL, "every record with its place, name and fields",
	  FIELD(records) },
	{ OPTION_FLAG, 0, "header", NULL, "the header, before anything else", FIELD(header) },
	{ OPTION_FLAG, 0, "header-only", NULL, "the header and nothing else", FIELD(header_only) },
	{ OPTION_FLAG, 'I', "show-info", NULL, "the header with the machine's topology",
	  FIELD(full_header) },
	{ .kind = OPTION_END },
};

int cmd_script(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct raw_dump_words words = { 0 };
	int first, status = command_parse(self, argc, argv, &words, &first);

	(void)kern;
	if (status >= 0)
		return status;
	if (first < argc)
		return bad_usage("script: '%s' is not an option; the recording is named with -i",
				 argv[first]);
	if (!raw_dump_wanted(&words))
		return bad_usage("script: give -D, --header, --header-only or -I");
	return raw_dump(&words);
}
