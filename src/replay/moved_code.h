/*
 * moved_code: code of files in memory that has no file any more. Private to replay/.
 */
#ifndef PSTAT_MOVED_CODE_H
#define PSTAT_MOVED_CODE_H

#include "replay/process.h"

/*
 * An executable mapping without a file that is about to be added: true: it takes the place of a file's code, whose
 * file and offset it has now.
 */
bool moved_code_take(const struct process *process, struct map *map);
/* Something was added: what lies around addr without a file is the file's that has its code at both sides. */
void moved_code_between(struct process *process, uint64_t addr, uint64_t *clock);

#endif
