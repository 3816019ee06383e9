/* SPDX-License-Identifier: MIT */
/*
 * debuginfod_none: in place of debuginfod.c in the static file, which has no libdebuginfod: it would bring libcurl and
 * all that asks servers. No file is fetched.
 */
#include "sym/sym_internal.h"

#include <errno.h>

static int left_out(struct str *err)
{
	return fail(err, -ENOSYS, "this pstat was built without libdebuginfod, which asks servers");
}

int debuginfod_try(struct str *err)
{
	return left_out(err);
}

int debuginfod_fetch(const struct sym_options *options, const struct build_id *id, const char *name,
		     bool debug, char **path, struct str *err)
{
	(void)options, (void)id, (void)name, (void)debug;
	*path = NULL;
	return left_out(err);
}
