/* SPDX-License-Identifier: MIT */
/*
 * load_jansson_none: in place of load_jansson.c where the build leaves jansson out (make WITH_JANSSON=0). No results
 * are loaded.
 */
#include "compare/compare.h"

#include <errno.h>

int compare_load_try(struct str *err)
{
	(void)err;
	return -ENOSYS;
}

int compare_load(char *const *paths, size_t n, struct compare_data *data, struct compare_question *question,
		 struct note_list *notes, struct str *err)
{
	(void)paths, (void)n, (void)data, (void)question, (void)notes;
	return fail(err, -ENOSYS, "--load: this pstat was built without jansson, which reads JSON\n"
				  "build it with jansson's headers installed, or with WITH_JANSSON=1");
}
