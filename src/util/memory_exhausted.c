/* SPDX-License-Identifier: MIT */
/*
 * A measuring program that is out of memory has nothing better to do than to say so and end. The library has
 * memory_exhausted_none.c in this place.
 */
#include "util.h"

#include <unistd.h>

void memory_exhausted(void)
{
	static const char text[] = "pstat: out of memory\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_PSTAT_FAILED);
	_exit(EXIT_PSTAT_FAILED);
}
