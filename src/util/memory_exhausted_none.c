/* SPDX-License-Identifier: MIT */
/*
 * In the library nobody comes here: its calls run in a memory scope (count/lib_memory.c), which does not return where
 * there is no memory. What allocates without one is a mistake of ours, and may not go on with a NULL.
 */
#include "util.h"

void memory_exhausted(void)
{
	__builtin_trap();
}
