/*
 * script: the samples of a recording one by one, as text or as JSON.
 */
#ifndef PSTAT_SCRIPT_H
#define PSTAT_SCRIPT_H

#include "profile/profile.h"

struct script_options {
	struct session_options session;
	struct filter_options filters;
	const char *fields; /* -F, as typed, several one on a line; NULL: the default of each event type */
	bool json; /* -j */
	bool no_chains; /* -G */
	const char *stop_bt; /* functions at which chains end, a list; NULL: none */
	bool full_source_path;
	bool ns; /* --ns: nine digits */
	bool reltime, deltatime;
	bool header, full_header; /* the recording's header in front */
	bool show_tasks, show_mmaps, show_switches, show_lost, show_namespaces, show_cgroups,
		show_bpf, show_text_poke;
	unsigned max_stack;
	unsigned verbose;
};
struct script;
int script_new(struct script **script, const struct script_options *options, struct reader *reader,
	       struct str *err);
void script_free(struct script *script);
int script_run(struct script *script, struct output *output,
	       void (*progress)(void *context, double part), void *context, struct str *err);
struct session *script_session(struct script *script);
bool script_field_row(size_t i, const char **name, const char **help);

#endif
