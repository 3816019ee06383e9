/*
 * map_kind.h: what the name of a mapping says about what is mapped. Private to replay/.
 */
#ifndef PSTAT_REPLAY_MAP_KIND_H
#define PSTAT_REPLAY_MAP_KIND_H

#include "replay/replay.h"

/* Of a mapping in a process; flags: MAP_*. */
enum dso_kind map_kind_user(const char *path, bool executable, uint32_t flags);
/*
 * Of a mapping of the kernel's: the kernel (then *name_bytes is the length of its name, behind which a
 * symbol may stand: "[kernel.kallsyms]_text") or a module.
 */
enum dso_kind map_kind_kernel(const char *path, bool guest, size_t *name_bytes);
/* Heap text: the name for people. pid: DSO_ANON's. */
char *dso_name_new(enum dso_kind kind, const char *path, int32_t pid);
/* PID of ".../jitted-PID-N.so", or -1. */
int32_t jitted_pid(const char *path);

#endif
