/* SPDX-License-Identifier: MIT */
/*
 * call_texts: what arguments of system calls point at, copied by BPF programs while the calls are recorded, into a file
 * (pstat record --syscall-texts) or for lines as they come (pstat trace). Private to cmd/.
 */
#ifndef PSTAT_CALL_TEXTS_H
#define PSTAT_CALL_TEXTS_H

#include "bpf/bpf.h"
#include "cmd/record_options.h"
#include "syscall/syscall.h"

/*
 * Loads the programs for these calls, of this machine's ABI, and adds the event for their records, where the words are
 * complete. NULL: none of the calls has such an argument, or BPF is not available, which a note says.
 */
struct bpf_texts *call_texts_new(struct recording_words *words, const struct syscall_table *table,
				 const struct syscall_selection *selection, enum syscall_abi abi,
				 struct note_list *notes);
/* The events are open. Arguments without texts are addresses, so that a failure is a note. */
void call_texts_attach(struct bpf_texts *texts, const struct counter_set *set, struct note_list *notes);

#endif
