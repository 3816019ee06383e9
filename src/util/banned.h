/*
 * banned: functions that write without a bound, or that hide state or errors. The Makefile includes
 * this file before every file of src, so that using one is a compile error.
 *
 * Instead: struct str (str_add, str_addf), snprintf, strsep or strspn, parse_u64 and parse_int.
 */
#ifndef PSTAT_BANNED_H
#define PSTAT_BANNED_H

/* Their declarations come first: a poisoned word may not even be declared afterwards. */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef alloca
#undef strcpy
#undef strcat
#pragma GCC poison alloca gets sprintf strcat strcpy strtok vsprintf
#pragma GCC poison atof atoi atol atoll

#endif
