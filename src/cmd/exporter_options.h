/* SPDX-License-Identifier: MIT */
/*
 * exporter_options: what the command line of `pstat exporter` says. Private to cmd/.
 */
#ifndef PSTAT_EXPORTER_OPTIONS_H
#define PSTAT_EXPORTER_OPTIONS_H

#include "cmd/event_options.h"
#include "cmd/options.h"
#include "exporter/exporter.h"

struct exporter_words {
	struct event_words what; /* first: its option functions take this struct */
	const char *each_cgroup;
	bool by_cpu, by_socket, node_names;
	unsigned max_series;
	uint64_t interval_ns, duration_ns; /* duration 0: until a signal */
	const char *listen, *textfile, *openmetrics;
	int verbose;
};

void exporter_words_init(struct exporter_words *words, const struct kern *kern);
void exporter_words_release(struct exporter_words *words);
/* Checks what goes together, and adds default events. -EINVAL with a sentence: the command line is wrong. */
int exporter_words_complete(struct exporter_words *words, struct str *err);
/* One exposition on standard output, and then the end. */
bool exporter_prints_once(const struct exporter_words *words);

#endif
