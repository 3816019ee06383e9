/* SPDX-License-Identifier: MIT */
/*
 * signals: what stops a run, for the commands that run until something ends them. Private to cmd/.
 */
#ifndef PSTAT_SIGNALS_H
#define PSTAT_SIGNALS_H

#include "kern/kern.h"

/*
 * SIGINT, SIGTERM and SIGHUP are noted in the struct that is returned, which is the only one there is.
 * Failing to write to a pipe or over the limit of file size becomes an error that is reported. snapshots:
 * SIGUSR2 is noted too. found: what the measured command is to find.
 */
struct run_stop *signals_catch(bool snapshots, struct exec_state *found);

/*
 * For commands that have to clean up after themselves: what ends them is noted from now on, in the same struct, and
 * asked for by *interrupt. A SIGINT that is spared stays so.
 */
const struct run_stop *signals_catch_end(struct interrupt *interrupt);
/*
 * Ctrl-C on `pstat record -o - | pstat report` is for the recorder, which then ends the recording: the next SIGINT
 * does nothing, and the one after it ends pstat, or is noted after signals_catch_end. signals_spare_end: from now on
 * the next one does so, too.
 */
void signals_spare_first(void);
void signals_spare_end(void);
/* Notes the next SIGINT; the one after it ends pstat. One that is spared or ignored stays so. */
const struct run_stop *signals_catch_first(void);
/* The signals that have come since, for work that begins now. */
struct stop_since {
	const struct run_stop *stop;
	int before;
};
struct interrupt stop_interrupt(struct stop_since *since, const struct run_stop *stop);

#endif
