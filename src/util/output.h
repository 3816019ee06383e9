/* SPDX-License-Identifier: MIT */
/*
 * output: text on its way to whoever writes it. Below the commands nothing writes to a descriptor: text goes to a
 * struct output, whose owner writes it.
 */
#ifndef PSTAT_OUTPUT_H
#define PSTAT_OUTPUT_H

#include "util/util.h"

struct output {
	struct str text;
	bool color; /* escape sequences wanted */
	unsigned columns; /* of the terminal that tables are to fit; 0: lines as long as they need */
	const char *dots; /* what stands for a left out part of a name there */
	int (*write)(void *context, struct str *text); /* writes all and empties it; 0 or -errno */
	void *context;
	int failed; /* the first error of write: nothing more is written */
};
/* To be called between lines: writes when 64 KiB have come together. 0 or output.failed. */
int output_step(struct output *output);
int output_end(struct output *output); /* writes the rest */

#endif
