/*
 * chains_later: user callchains that the kernel finds when the thread returns to user mode (Linux 6.19), where it may
 * wait for a page, and once for all samples of one stay in the kernel. Private to record/.
 *
 * A sample's chain then ends in a number, and a record of its own brings the frames for all samples with that number;
 * replay puts them together. The record comes to the event that sees what tasks do, from whatever CPU the thread is
 * on by then.
 */
#ifndef PSTAT_CHAINS_LATER_H
#define PSTAT_CHAINS_LATER_H

#include "event/event.h"

/*
 * Asks for it where the chains are made by frame pointers. The attrs are as they will be opened otherwise;
 * `tracking` is the one that sees what tasks do.
 */
void chains_later_ask(struct event_list *events, struct event *tracking);

#endif
