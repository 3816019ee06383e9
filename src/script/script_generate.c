/* SPDX-License-Identifier: MIT */
/*
 * script_generate: a script in Python with a function for each tracepoint of a recording, for -g: to be changed by its
 * user, and run by -s, or by perf. Functions print what they are called with.
 *
 *	def sched__sched_waking(event_name, context, common_cpu, ..., comm, pid, prio, perf_sample_dict):
 *		print_header(event_name, common_cpu, common_secs, common_nsecs, common_pid, common_comm)
 *		print("comm=%s, pid=%d, prio=%d" % (comm, pid, prio))
 *		...
 *
 * Names come from the recording, and the script is run later: one that is no identifier is never written.
 */
#include "script/script_internal.h"

#include <ctype.h>
#include <stdlib.h>

static const char beginning[] =
	"# Functions for the events of a recording, written by pstat script -g python. Each prints what it is called\n"
	"# with. Change them as you like, and run them over a recording: pstat script -s FILE\n"
	"\n"
	"import os\n"
	"import sys\n"
	"\n"
	"sys.path.append(os.environ[\"PERF_EXEC_PATH\"] + \"/scripts/python/Perf-Trace-Util/lib/Perf/Trace\")\n"
	"\n"
	"from perf_trace_context import *\n"
	"from Core import *\n"
	"\n"
	"\n"
	"def trace_begin():\n"
	"    print(\"in trace_begin\")\n"
	"\n"
	"\n"
	"def trace_end():\n"
	"    print(\"in trace_end\")\n"
	"\n"
	"\n"
	"def print_header(event_name, cpu, secs, nsecs, pid, comm):\n"
	"    print(\"%-20s %5u %05u.%09u %8u %-20s \" % (event_name, cpu, secs, nsecs, pid, comm), end=\"\")\n"
	"\n"
	"\n"
	"def members(values, delimiter):\n"
	"    return delimiter.join(\"%s=%s\" % member for member in sorted(values.items()))\n"
	"\n"
	"\n"
	"def print_sample(sample, callchain):\n"
	"    print(\"Sample: {\" + members(sample, \", \") + \"}\")\n"
	"    for frame in callchain:\n"
	"        text = \"\\t[%x]\" % frame[\"ip\"]\n"
	"        if \"sym\" in frame:\n"
	"            text += \" \" + frame[\"sym\"][\"name\"]\n"
	"            text += \"+0x%x\" % frame[\"sym_off\"] if \"sym_off\" in frame else \"\"\n"
	"            text += \" (%s)\" % frame[\"dso\"] if \"dso\" in frame else \"\"\n"
	"        print(text)\n"
	"    print()\n";

static const char of_others[] =
	"\n"
	"\n"
	"def process_event(event):\n"
	"    print(\"%-20s %-20s \" % (event[\"ev_name\"], event[\"comm\"]), end=\"\")\n"
	"    print_sample(event[\"sample\"], event[\"callchain\"])\n";

static const char ending[] =
	"\n"
	"\n"
	"def trace_unhandled(event_name, context, event_fields_dict, perf_sample_dict):\n"
	"    print(members(event_fields_dict, \" \"))\n"
	"    print(\"Sample: {\" + members(perf_sample_dict[\"sample\"], \", \") + \"}\")\n";

/* Names that no parameter may have: Python's words, and what a function calls or has as an parameter. */
static const char *const reserved[] = {
	"False",  "None",   "True",	    "and",	   "as",	    "assert",	   "async",	  "await",
	"break",  "class",  "continue",	    "def",	   "del",	    "elif",	   "else",	  "except",
	"finally", "for",   "from",	    "global",	   "if",	    "import",	   "in",	  "is",
	"lambda", "nonlocal", "not",	    "or",	   "pass",	    "raise",	   "return",	  "try",
	"while",  "with",   "yield",	    "print",	   "print_header",  "print_sample", "flag_str",	  "symbol_str",
	"event_name", "context", "common_cpu", "common_secs", "common_nsecs", "common_pid", "common_comm",
	"common_callchain", "perf_sample_dict",
};

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_identifier(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!is_letter(*c))
			return false;
	return *name && !isdigit((unsigned char)*name);
}

struct field_parameter {
	const char *field; /* borrowed */
	uint32_t n_marks; /* in front of the field's name: "_in", as no parameter can have the name itself */
	bool is_text, is_flags, is_symbol;
};

static void add_name(const struct field_parameter *parameter, struct str *out)
{
	str_pad(out, '_', parameter->n_marks);
	str_add(out, parameter->field);
}

struct generator {
	struct script *script;
	struct str *out;
	struct field_parameter *parameters; /* of the function at hand */
	size_t n;
};

/* ---- parameters ---- */

/* Marks the name until Python could have it and no other parameter has it. False: nothing makes it an identifier. */
static bool take_name(struct field_parameter *parameter, struct text_index *taken, uint32_t *n_taken)
{
	struct str name = STR_INIT;
	bool takes, fits;

	parameter->n_marks = !*parameter->field || isdigit((unsigned char)*parameter->field);
	do {
		str_reset(&name);
		add_name(parameter, &name);
		fits = is_identifier(name.s);
		takes = fits && texts_intern(taken, name.s, name.len) == *n_taken;
		parameter->n_marks += !takes;
	} while (fits && !takes);
	*n_taken += takes;
	str_release(&name);
	return takes;
}

static void mark_names(void *context, const char *field, const char *delimiter, uint64_t value, const char *name)
{
	struct generator *g = context;

	(void)value;
	(void)name;
	for (size_t i = 0; i < g->n; i++)
		if (!strcmp(g->parameters[i].field, field))
			*(delimiter ? &g->parameters[i].is_flags : &g->parameters[i].is_symbol) = true;
}

/* False: a field has a name that can't be written. */
static bool read_parameters(struct generator *g, const struct data_event *event)
{
	struct tracepoints *tracepoints = script_tracepoints(g->script);
	struct text_index *taken = texts_new();
	struct tracepoint_field field;
	uint32_t n_taken = 0;
	bool fit = true;

	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		n_taken = texts_intern(taken, reserved[i], strlen(reserved[i])) + 1;
	g->parameters = xcalloc(tracepoint_n_fields(tracepoints, event) + 1, sizeof(*g->parameters));
	for (g->n = 0; fit && tracepoint_field(tracepoints, event, g->n, &field); g->n++) {
		g->parameters[g->n] = (struct field_parameter){
			.field = field.name, .is_text = field.is_string || field.is_array,
		};
		fit = take_name(&g->parameters[g->n], taken, &n_taken);
	}
	tracepoint_value_names(tracepoints, event, mark_names, g);
	texts_free(taken);
	return fit;
}

/* ---- functions ---- */

static void add_value(const struct field_parameter *parameter, struct str *out)
{
	bool named = parameter->is_flags || parameter->is_symbol;

	if (named)
		str_addf(out, "%s(event_name, \"%s\", ", parameter->is_flags ? "flag_str" : "symbol_str",
			 parameter->field);
	add_name(parameter, out);
	str_add(out, named ? ")" : "");
}

/* print("comm=%s, pid=%d" % (comm, pid)) */
static void add_print(const struct generator *g)
{
	struct str *out = g->out;

	str_add(out, "    print(\"");
	for (size_t i = 0; i < g->n; i++) {
		const struct field_parameter *a = &g->parameters[i];

		str_addf(out, "%s%s=%s", i ? ", " : "", a->field,
			 a->is_text || a->is_flags || a->is_symbol ? "%s" : "%d");
	}
	str_add(out, "\" % (");
	for (size_t i = 0; i < g->n; i++) {
		add_value(&g->parameters[i], out);
		str_add(out, i + 1 < g->n ? ", " : g->n == 1 ? "," : "");
	}
	str_add(out, "))\n");
}

static void add_function(struct generator *g, const char *name)
{
	str_addf(g->out,
		 "\n\ndef %s(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,\n"
		 "        common_callchain, ",
		 name);
	for (size_t i = 0; i < g->n; i++) {
		add_name(&g->parameters[i], g->out);
		str_add(g->out, ", ");
	}
	str_add(g->out, "perf_sample_dict):\n"
			"    print_header(event_name, common_cpu, common_secs, common_nsecs, common_pid,\n"
			"                 common_comm)\n");
	add_print(g);
	str_add(g->out, "    print_sample(perf_sample_dict[\"sample\"], common_callchain)\n");
}

/* Adds one for each tracepoint that has a format. Names that Python could not have are left to trace_unhandled(). */
static void add_functions(struct generator *g, const struct events *events)
{
	struct text_index *written = texts_new();
	uint32_t n_written = 0;
	const char *system, *name;

	for (size_t i = 0; i < events->n; i++) {
		struct tracepoints *tracepoints;
		struct str call = STR_INIT;

		if (events->v[i]->attr.type != PERF_TYPE_TRACEPOINT || !(tracepoints = script_tracepoints(g->script)) ||
		    !tracepoint_names(tracepoints, events->v[i], &system, &name))
			continue;
		str_addf(&call, "%s__%s", system, name);
		if (is_identifier(call.s) && texts_intern(written, call.s, call.len) == n_written) {
			n_written++;
			if (read_parameters(g, events->v[i]))
				add_function(g, call.s);
			free(g->parameters);
		}
		str_release(&call);
	}
	texts_free(written);
}

static bool has_others(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->v[i]->attr.type != PERF_TYPE_TRACEPOINT)
			return true;
	return false;
}

static int want_nothing(void *context, const struct data_event *event, unsigned *wants, struct str *err)
{
	(void)context;
	(void)event;
	(void)wants;
	(void)err;
	return 0;
}

int script_generate(struct script *script, struct output *output, struct str *err)
{
	const struct sample_sink nothing = { .wants = want_nothing };
	struct generator g = { .script = script, .out = &output->text };
	const struct events *events;
	int rc = 0;

	if (script->session.reader->pipe)
		rc = sample_stream_run(&script->session, script->filters, &nothing, err);
	events = script->session.recording->events;
	str_add(g.out, beginning);
	add_functions(&g, events);
	str_add(g.out, has_others(events) ? of_others : "");
	str_add(g.out, ending);
	return rc;
}
