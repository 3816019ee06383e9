/* SPDX-License-Identifier: MIT */
/*
 * stack_caption: what is said beside a picture of stacks: what was sampled, by what it was filtered, what was lost or
 * cut. Private to fmt/.
 */
#ifndef PSTAT_STACK_CAPTION_H
#define PSTAT_STACK_CAPTION_H

#include "fmt/fmt_internal.h"

/*
 * One line each, printable; the first is a title. To be called when all names have been looked up: the table's notes
 * are among them, but those for -v. The caller releases the list.
 */
void stack_caption(struct table *table, struct note_list *lines);
/* The same, with another word for what it is than "Flame graph". */
void stack_caption_of(struct table *table, const char *what, struct note_list *lines);

#endif
