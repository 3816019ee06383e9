/* SPDX-License-Identifier: MIT */
/*
 * cmd: what the user types. Option rows and wiring, no algorithms. Only this folder and main.c print or exit.
 *
 *   main.c finds the command -> cmd_X.c -> option rows fill struct X_words (X_options.c) -> a plan or a query, run
 *
 * cmd_X.c is one subcommand: its function takes argv, returns the exit status and prints its own errors (message.h).
 * X_options.{c,h} are the options of a command that has many; event_options, sample_options are those that several
 * commands share. options.h says what an option row is; the same rows are parsed, printed by -h, completed by shells
 * and compared with the manual. Everything below this folder returns 0 or a negative errno with a finished sentence,
 * which a command prints as it is.
 *
 * To add a subcommand: see commands[] in main.c. To add an option: see struct option_row in options.h.
 */
#ifndef PSTAT_CMD_H
#define PSTAT_CMD_H

#include "kern/kern.h"

/*
 * The whole program but for the machine it runs on: dispatches to a subcommand and returns the exit
 * status. main() passes sys_linux and the real paths; the tests' fake kernel passes its own.
 * kern must outlive the call.
 */
int pstat_main(int argc, char **argv, const struct kern *kern);

#endif
