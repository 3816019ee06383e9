/*
 * The formats that `pstat report` can print.
 */
#include "fmt/fmt_internal.h"

/*
 * To add one: fmt_x.c with its struct report_format, a row here, its declaration in fmt_internal.h, a test in
 * tests/unit/test_fmt_report.c, pstat-report(1).
 */
static const struct report_format *const report_formats[] = {
	&format_stdio,
	&format_folded,
	&format_json,
	&format_flamegraph,
	&format_flamegraph_svg,
	&format_speedscope,
	&format_pprof,
};

const struct report_format *report_format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(report_formats); i++)
		if (!strcmp(report_formats[i]->name, name))
			return report_formats[i];
	return NULL;
}
