/* SPDX-License-Identifier: MIT */
/*
 * interrupt: whether long work is to be given up, as whoever started it can tell (a signal came). Work that has to
 * clean up after itself asks between two pieces, and ends with -ECANCELED.
 */
#ifndef PSTAT_UTIL_INTERRUPT_H
#define PSTAT_UTIL_INTERRUPT_H

#include <stdbool.h>
#include <stddef.h>

struct interrupt {
	bool (*came)(void *data); /* NULL: it never comes */
	void *data;
};

/* Most that is to be copied between two questions: some hundredths of a second's work. */
enum { INTERRUPT_BYTES = 32 << 20 };

static inline bool interrupt_came(const struct interrupt *interrupt)
{
	return interrupt && interrupt->came && interrupt->came(interrupt->data);
}

#endif
