/* SPDX-License-Identifier: MIT */
/*
 * attr.h: a perf_event_attr as bytes. Private to data/.
 */
#ifndef PSTAT_DATA_ATTR_H
#define PSTAT_DATA_ATTR_H

#include "data/data.h"

enum { ATTR_SIZE_VER0 = 64 };

/*
 * An attr of any ABI version into native order: `size` bytes of the file, at least 64, become the first
 * bytes of out, the rest of out is 0. Returns the bytes of out that are filled.
 */
size_t attr_load(const uint8_t *bytes, size_t size, bool swap, uint8_t out[DATA_ATTR_MAX]);

#endif
