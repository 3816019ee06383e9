/*
 * sample_regs: the registers of this build's architecture, by name and by bit. Private to record/.
 */
#ifndef PSTAT_SAMPLE_REGS_H
#define PSTAT_SAMPLE_REGS_H

#include <stdint.h>

/* All general registers, from which unwinding by DWARF tables starts. 0: none are known here. */
extern const uint64_t dwarf_regs;
/*
 * The register that a callchain by frame pointers lacks: it may hold a return address which is in no
 * frame yet. 0: calls store it in memory. No other bits, for then perf does not use it.
 */
extern const uint64_t link_regs;

#endif
