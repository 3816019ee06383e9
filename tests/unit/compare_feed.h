/* SPDX-License-Identifier: MIT */
/*
 * Numbers that are fed to an analysis of two commands, for test_compare.c and test_compare_chance.c.
 */
#ifndef COMPARE_FEED_H
#define COMPARE_FEED_H

#include "compare/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { COMMANDS = 2, ROUNDS_MAX = 40, COLUMNS_MAX = 7 };

static struct fed {
	struct compare_data data;
	struct compare_session session;
	struct compare_command commands[COMMANDS];
	struct compare_column columns[COLUMNS_MAX];
	struct compare_course courses[ROUNDS_MAX * COMMANDS];
	double values[ROUNDS_MAX * COMMANDS * COLUMNS_MAX];
} fed;

static inline void feed(size_t n_rounds, size_t n_columns)
{
	static char a[] = "a", b[] = "b", wall[] = "wall", seconds[] = "s";

	memset(&fed, 0, sizeof(fed));
	fed.commands[0] = (struct compare_command){ .text = a, .name = a };
	fed.commands[1] = (struct compare_command){ .text = b, .name = b };
	for (size_t i = 0; i < n_columns; i++)
		fed.columns[i] = (struct compare_column){ i ? COMPARE_EVENT : COMPARE_WALL, wall, seconds };
	fed.session = (struct compare_session){ .by_chance = true, .n_rounds = n_rounds };
	fed.data = (struct compare_data){ .sessions = &fed.session, .n_sessions = 1, .commands = fed.commands,
					  .n_commands = COMMANDS, .columns = fed.columns,
					  .n_columns = n_columns, .n_rounds = n_rounds, .courses = fed.courses,
					  .values = fed.values };
}

#endif
