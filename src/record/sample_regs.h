/*
 * sample_regs: the registers of this build's architecture, by name and by bit. Private to record/.
 */
#ifndef PSTAT_SAMPLE_REGS_H
#define PSTAT_SAMPLE_REGS_H

#include <stdint.h>

/* What unwinding by DWARF tables starts from: all general registers. 0: none are known here. */
extern const uint64_t dwarf_regs;
/*
 * What a callchain by frame pointers lacks: the register that may hold a return address which is in no
 * frame yet. 0: calls store it in memory. No other bits, for then perf does not use it.
 */
extern const uint64_t link_regs;

#endif
