/*
 * task_names: the last name of each thread and process that has a row. A name may change after the last
 * sample, and a number may become another thread's: names are kept by FACT_TID and FACT_PID, and are final
 * when the thread goes. Private to report/.
 */
#ifndef PSTAT_TASK_NAMES_H
#define PSTAT_TASK_NAMES_H

#include "replay/replay.h"

struct task_names;
struct task_names *task_names_new(void);
void task_names_free(struct task_names *names); /* NULL is fine */
/* As FACT_TID and FACT_PID have them. */
uint64_t task_names_tid(const struct thread *thread);
uint64_t task_names_pid(const struct thread *thread);
/* This thread has a sample: its name will be asked for. Uses thread->user. */
void task_names_want(struct task_names *names, struct thread *thread);
/* The thread goes, or the recording is at its end. */
void task_names_last(struct task_names *names, struct thread *thread);
/* For replay_comm; of a process the name of its first thread, where that was seen. */
uint32_t task_names_comm(const struct task_names *names, uint64_t id);

#endif
