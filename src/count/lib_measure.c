/*
 * Measuring a function: opened, enabled, called once, disabled, read, explained. Only what the function does lies
 * between enabling and disabling, beside the two calls themselves.
 */
#include "count/lib.h"

#include <errno.h>

int pstat_measure(const struct pstat_events *events, void (*function)(void *argument), void *argument,
		  struct pstat_readings **readings)
{
	struct pstat_open_options options = { .size = sizeof(options), .inherit = 1 };
	struct pstat_counters *counters;
	int rc;

	if (!events || !function || !readings)
		return -EINVAL;
	*readings = NULL;
	rc = pstat_open(&counters, events, &options, NULL);
	if (rc < 0)
		return rc;
	rc = pstat_readings_new(readings, counters);
	if (!rc)
		rc = pstat_enable(counters);
	if (!rc) {
		function(argument);
		pstat_disable(counters);
		pstat_read(counters, *readings);
		/* The counts are there without their reasons, too. */
		pstat_explain(counters, *readings);
	} else {
		pstat_readings_free(*readings);
		*readings = NULL;
	}
	pstat_close(counters);
	return rc;
}
