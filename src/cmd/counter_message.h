/*
 * counter_message: what -v says of each event that was opened, or was not. Private to cmd/.
 */
#ifndef PSTAT_COUNTER_MESSAGE_H
#define PSTAT_COUNTER_MESSAGE_H

#include "kern/kern.h"

/* One message: where it is open, or the call that failed and what to do about it. */
void message_counter(const struct counter *counter);

#endif
