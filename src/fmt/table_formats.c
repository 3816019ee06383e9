/* SPDX-License-Identifier: MIT */
/*
 * The formats that `pstat report` can print.
 */
#include "fmt/fmt_internal.h"

static const struct report_format *const report_formats[] = {
#define FORMAT_ROW(id, ...) &format_##id,
	REPORT_TEXT_FORMATS(FORMAT_ROW)
	REPORT_FILE_FORMATS(FORMAT_ROW)
};

const struct report_format *report_format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(report_formats); i++)
		if (!strcmp(report_formats[i]->name, name))
			return report_formats[i];
	return NULL;
}
