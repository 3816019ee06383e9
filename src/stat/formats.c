/*
 * The formats that `pstat stat` can print.
 */
#include "stat/stat.h"

/*
 * To add one: fmt_x.c with its struct stat_format, a row here, tests/unit/test_fmt_x.c, pstat-stat(1).
 */
const struct stat_format *const stat_formats[] = {
	&stat_format_text,
	&stat_format_csv,
	&stat_format_json,
	NULL,
};

const struct stat_format *stat_format_find(const char *name)
{
	for (size_t i = 0; stat_formats[i]; i++)
		if (!strcmp(stat_formats[i]->name, name))
			return stat_formats[i];
	return NULL;
}
