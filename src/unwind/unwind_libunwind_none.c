/* SPDX-License-Identifier: MIT */
/*
 * unwind_libunwind_none: in place of unwind_libunwind.c where the build leaves libunwind out (make
 * WITH_LIBUNWIND=0). It handles no architecture, so libdw is asked.
 */
#include "unwind/unwind.h"

#include <errno.h>

static bool none_handles(const char *arch)
{
	(void)arch;
	return false;
}

static int none_open(struct unwind *unwind, struct str *err)
{
	(void)unwind;
	return fail(err, -ENOSYS, "built without libunwind");
}

static void none_close(struct unwind *unwind)
{
	(void)unwind;
}

static size_t none_frames(struct unwind *unwind, const struct unwind_input *input, uint64_t *ips,
			  size_t max, enum unwind_end *end)
{
	(void)unwind;
	(void)input;
	(void)ips;
	(void)max;
	*end = UNWIND_NO_INFO;
	return 0;
}

const struct unwinder unwind_libunwind = {
	.name = "libunwind",
	.handles = none_handles,
	.open = none_open,
	.close = none_close,
	.frames = none_frames,
};
