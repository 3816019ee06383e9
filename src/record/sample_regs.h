/*
 * sample_regs: the registers of this build's architecture, by name and by bit. Private to record/.
 */
#ifndef PSTAT_SAMPLE_REGS_H
#define PSTAT_SAMPLE_REGS_H

#include <stdint.h>

/* What unwinding by DWARF tables starts from: all general registers. 0: none are known here. */
extern const uint64_t dwarf_regs;

#endif
