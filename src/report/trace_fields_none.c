/*
 * trace_fields_none: stands in for trace_fields.c where libtraceevent was left out of the build.
 */
#include "report/session.h"

#include <errno.h>

int trace_fields_try(struct str *err)
{
	(void)err;
	return -ENOSYS;
}

struct tracepoints *tracepoints_new(const struct reader *reader, struct str *err)
{
	(void)reader;
	fail(err, 0, "this build of pstat is without libtraceevent");
	return NULL;
}

void tracepoints_free(struct tracepoints *tracepoints)
{
	(void)tracepoints;
}

void tracepoints_name_functions(struct tracepoints *tracepoints, struct session *session)
{
	(void)tracepoints, (void)session;
}

void tracepoints_print_raw(struct tracepoints *tracepoints)
{
	(void)tracepoints;
}

bool tracepoint_print(struct tracepoints *tracepoints, const struct data_event *event, const struct sample *sample,
		      struct str *out)
{
	(void)tracepoints, (void)event, (void)sample, (void)out;
	return false;
}

size_t tracepoint_n_fields(struct tracepoints *tracepoints, const struct data_event *event)
{
	(void)tracepoints, (void)event;
	return 0;
}

bool tracepoint_field(struct tracepoints *tracepoints, const struct data_event *event, size_t i,
		      struct tracepoint_field *field)
{
	(void)tracepoints, (void)event, (void)i, (void)field;
	return false;
}

bool tracepoint_value(struct tracepoints *tracepoints, const struct data_event *event,
		      const struct sample *sample, const char *field, struct str *text, int64_t *number,
		      bool *is_number)
{
	(void)tracepoints, (void)event, (void)sample, (void)field, (void)text, (void)number, (void)is_number;
	return false;
}
