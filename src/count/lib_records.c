/*
 * The body of a record, by its type, for languages that have no unions.
 */
#include "count/lib.h"

/* Is it of one of two types that share a body? */
static bool is_one_of(const struct pstat_record *record, uint32_t one, uint32_t other)
{
	return record && (record->record_type == one || record->record_type == other);
}

/* To add a body: its struct and member in libpstat.h, its declaration there, and a row. */
#define BODY(name, tag, member, one, other)                                                        \
	const struct tag *name(const struct pstat_record *record)                                  \
	{                                                                                          \
		return is_one_of(record, one, other) ? &record->body.member : NULL;                \
	}
BODY(pstat_record_sample, pstat_sample, sample, PSTAT_RECORD_SAMPLE, PSTAT_RECORD_SAMPLE)
BODY(pstat_record_map, pstat_map, map, PSTAT_RECORD_MMAP, PSTAT_RECORD_MMAP2)
BODY(pstat_record_task, pstat_task, task, PSTAT_RECORD_FORK, PSTAT_RECORD_EXIT)
BODY(pstat_record_lost, pstat_lost, lost, PSTAT_RECORD_LOST, PSTAT_RECORD_LOST_SAMPLES)
BODY(pstat_record_comm, pstat_comm, comm, PSTAT_RECORD_COMM, PSTAT_RECORD_COMM)
BODY(pstat_record_throttle, pstat_throttle, throttle, PSTAT_RECORD_THROTTLE, PSTAT_RECORD_UNTHROTTLE)
BODY(pstat_record_read, pstat_task_read, read, PSTAT_RECORD_READ, PSTAT_RECORD_READ)
BODY(pstat_record_aux, pstat_aux, aux, PSTAT_RECORD_AUX, PSTAT_RECORD_AUX)
BODY(pstat_record_itrace_start, pstat_itrace_start, itrace_start, PSTAT_RECORD_ITRACE_START, PSTAT_RECORD_ITRACE_START)
BODY(pstat_record_switch, pstat_switch, sched, PSTAT_RECORD_SWITCH, PSTAT_RECORD_SWITCH_CPU_WIDE)
BODY(pstat_record_namespaces, pstat_namespaces, namespaces, PSTAT_RECORD_NAMESPACES, PSTAT_RECORD_NAMESPACES)
BODY(pstat_record_ksymbol, pstat_ksymbol, ksymbol, PSTAT_RECORD_KSYMBOL, PSTAT_RECORD_KSYMBOL)
BODY(pstat_record_bpf_event, pstat_bpf_event, bpf, PSTAT_RECORD_BPF_EVENT, PSTAT_RECORD_BPF_EVENT)
BODY(pstat_record_cgroup, pstat_cgroup_path, cgroup, PSTAT_RECORD_CGROUP, PSTAT_RECORD_CGROUP)
BODY(pstat_record_text_poke, pstat_text_poke, text_poke, PSTAT_RECORD_TEXT_POKE, PSTAT_RECORD_TEXT_POKE)
BODY(pstat_record_hw_id, pstat_hw_id, hw_id, PSTAT_RECORD_AUX_OUTPUT_HW_ID, PSTAT_RECORD_AUX_OUTPUT_HW_ID)
BODY(pstat_record_deferred, pstat_deferred_chain, deferred, PSTAT_RECORD_CALLCHAIN_DEFERRED,
     PSTAT_RECORD_CALLCHAIN_DEFERRED)
