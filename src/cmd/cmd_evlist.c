/*
 * pstat evlist: the events of a recording. They are in its header; where a pipe, or a recorder that was
 * killed, left that to the records, the records in front are read.
 */
#include "cmd/command.h"
#include "cmd/input.h"

struct evlist_words {
	const char *input;
	struct evlist_options print;
};

#define FIELD(name) .offset = offsetof(struct evlist_words, name)

const struct option_row evlist_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to read" },
	{ OPTION_TEXT, 'i', "input", "file", "the recording (pipe or perf.data); -: stdin",
	  FIELD(input), .value = VALUE_FILE },
	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ OPTION_FLAG, 'F', "freq", NULL, "print the sample frequency or period", FIELD(print.freq) },
	{ OPTION_FLAG, 'g', "group", NULL, "print groups as {leader,member}", FIELD(print.group) },
	{ OPTION_FLAG, 'v', "verbose", NULL, "print the attr fields of each event", FIELD(print.verbose) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 'f', "force", NULL, .help = "recordings of any owner are read" },
	{ OPTION_REFUSED, 0, "trace-fields", NULL,
	  .help = "fields are not listed by name", .instead = "pstat script -F trace prints them with values" },
	{ .kind = OPTION_END },
};

static bool names_are_missing(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (!events->v[i]->name)
			return true;
	return false;
}

/* A pipe is read to its end, or its writer would be ended for it. */
static void read_names(struct input *in)
{
	bool missing = names_are_missing(&in->reader.events);
	struct record record;

	while ((in->reader.pipe || missing) && input_next(in, &record)) {
		/* Records of the kernel come after all those that describe the events. */
		if (!in->reader.pipe && record.type < RECORD_USER_FIRST)
			break;
	}
}

int cmd_evlist(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct evlist_words words = { 0 };
	struct input in;
	int status = command_parse(self, argc, argv, &words, NULL);

	(void)kern;
	if (status >= 0)
		return status;
	if (!input_open(&in, words.input)) {
		read_names(&in);
		events_print(&in.reader.events, &in.reader.info, &words.print, &in.out);
	}
	return input_close(&in);
}
