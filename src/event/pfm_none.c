/* SPDX-License-Identifier: MIT */
/*
 * pfm_none: stands in for pfm.c in a build without libpfm4, so that no caller needs to know.
 */
#include "event/pfm.h"

#include <errno.h>

static const char reason[] = "vendor event names: this pstat was built without libpfm4";

int pfm_add(struct event_parse *p, const struct spec_event *spec)
{
	return spec_fail(p->error, -ENOSYS, spec->word_pos, "%s", reason);
}

static int pfm_lookup(struct event_parse *p, const struct spec_event *spec)
{
	return spec->kind == SPEC_PFM ? pfm_add(p, spec) : 0;
}

int pfm_list_pmus(const char *pattern, event_info_fn fn, void *data, struct str *err)
{
	(void)pattern;
	(void)fn;
	(void)data;
	return fail(err, -ENOSYS, "%s", reason);
}

static int pfm_list(const struct host_paths *host, event_info_fn fn, void *data, struct str *err)
{
	(void)host;
	return pfm_list_pmus(NULL, fn, data, err);
}

const struct event_source pfm_source = {
	.topic = { "pfm", "Vendor events", "Kernel PMU event", false },
	.lookup = pfm_lookup,
	.list = pfm_list,
	.list_is_slow = true,
};
