/* SPDX-License-Identifier: MIT */
/*
 * pfm: what pfm.c (with libpfm4) and pfm_none.c (without) both define; the build takes one of them.
 * Private to event/.
 */
#ifndef PSTAT_PFM_H
#define PSTAT_PFM_H

#include "event/source.h"

/*
 * Appends the event that spec->word names for libpfm4. 1, or negative errno with p->error filled.
 */
int pfm_add(struct event_parse *p, const struct spec_event *spec);

/*
 * Lists the events of the PMUs whose name matches pattern, on this machine or not; NULL: of the
 * PMUs that this machine has. 0, fn's value, or -ENOSYS with a sentence where libpfm4 is not
 * there.
 */
int pfm_list_pmus(const char *pattern, event_info_fn fn, void *data, struct str *err);

#endif
