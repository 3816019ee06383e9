/*
 * perf_commands: the subcommands of perf that pstat does not have, and what does the same with pstat or
 * without. Private to cmd/ and main.c.
 */
#ifndef PSTAT_PERF_COMMANDS_H
#define PSTAT_PERF_COMMANDS_H

/* What to use instead of perf's subcommand of that name; NULL: perf has none, or pstat has it too. */
const char *perf_command_instead(const char *name);

#endif
