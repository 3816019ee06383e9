/*
 * cmd: what the user types. Option rows and wiring, no algorithms. Only this folder and main.c
 * print or exit.
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
