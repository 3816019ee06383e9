/* SPDX-License-Identifier: MIT */
/*
 * pstat evlist: the events of a recording. They are in its header; where a pipe, or a recorder that was
 * killed, left that to the records, the records in front are read.
 */
#include "cmd/command.h"
#include "cmd/input.h"
#include "trace/trace.h"

struct evlist_words {
	const char *input;
	struct evlist_options print;
	bool trace_fields;
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
	{ OPTION_FLAG, 0, "trace-fields", NULL, "print the fields of tracepoints", FIELD(trace_fields) },
	{ .kind = OPTION_GROUP, .help = "Accepted" },
	{ OPTION_ACCEPTED, 'f', "force", NULL, .help = "recordings of any owner are read" },
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

/* Adds "trace_fields: prev_comm,prev_pid", as perf has it. context: a struct tracepoints, or NULL. */
static void add_trace_fields(void *context, const struct data_event *event, struct str *out)
{
	struct tracepoint_field field;

	if (event->attr.type != PERF_TYPE_TRACEPOINT) {
		str_add(out, "(not a tracepoint)");
		return;
	}
	str_add(out, "trace_fields: ");
	for (size_t i = 0, n = 0; context && i < tracepoint_n_fields(context, event); i++)
		if (tracepoint_field(context, event, i, &field)) {
			str_add(out, n++ ? "," : "");
			str_add_printable(out, field.name, strlen(field.name));
		}
}

static bool has_tracepoints(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->v[i]->attr.type == PERF_TYPE_TRACEPOINT)
			return true;
	return false;
}

static void print_with_fields(struct input *in, struct evlist_options *print)
{
	struct str err = STR_INIT;
	struct tracepoints *tracepoints = NULL;

	if (has_tracepoints(&in->reader.events)) {
		tracepoints = tracepoints_new(&in->reader.recording, &err);
		if (!tracepoints) {
			input_message(in, err.s);
			in->status = EXIT_PSTAT_FAILED;
		}
	}
	print->more = add_trace_fields;
	print->context = tracepoints;
	events_print(&in->reader.events, &in->reader.info, print, &in->out);
	tracepoints_free(tracepoints);
	str_release(&err);
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
		if (words.trace_fields)
			print_with_fields(&in, &words.print);
		else
			events_print(&in.reader.events, &in.reader.info, &words.print, &in.out);
	}
	return input_close(&in);
}
