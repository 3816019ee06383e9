/* SPDX-License-Identifier: MIT */
/*
 * python_run: a script in Python beside pstat: a process of its own, which names the script's functions, and is sent
 * their calls through a pipe (script/script_python.c). Private to cmd/.
 */
#ifndef PSTAT_PYTHON_RUN_H
#define PSTAT_PYTHON_RUN_H

#include "cmd/signals.h"
#include "script/script.h"

#include <sys/types.h>

struct python_run { /* begins as { 0 } */
	pid_t pid;
	int calls; /* descriptor that calls are written to */
	bool owes_end; /* Calls bring their own end; it is missing where there were none, and after Ctrl-C. */
	const struct run_stop *stop; /* Ctrl-C: the script has had the last call, and shows what it has */
	struct python_functions functions;
};
/*
 * Starts Python with a script and its arguments, and waits for the names of the functions that it defines. argv: the
 * script first, ended by NULL. 0, or an exit status: after a message, or that of a script that has ended. End it in
 * either case. From then on the first SIGINT ends the calls: it is noted in run->stop, and Python stops by itself.
 * piped: neither stops, as the recorder has the signal, too, and its last samples are still to come.
 */
int python_start(struct python_run *run, char *const *argv, bool piped);
/* Writes calls, and empties the text. 0; -EPIPE: the script has ended; -ECANCELED: run->stop says so. */
int python_write(struct python_run *run, struct str *text);
/* Python reads the end of the calls. Waits for its end; its exit status, after a message where a signal ended it. */
int python_end(struct python_run *run);

#endif
