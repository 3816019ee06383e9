/*
 * public_record.h: a decoded record of data/ as the public header has it. Private to count/.
 */
#ifndef PSTAT_COUNT_PUBLIC_RECORD_H
#define PSTAT_COUNT_PUBLIC_RECORD_H

#include "count/lib.h"
#include "data/data.h"

/*
 * Fills *out from body, which record_decode() made of *record; pointers are body's. ring_cpu is not its
 * business, and stays. A record whose type is not one of the kernel's has bytes and no more.
 */
void public_record_fill(struct pstat_record *out, const struct record *record, const struct record_body *body);

#endif
