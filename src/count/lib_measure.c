/* SPDX-License-Identifier: MIT */
/*
 * A function between the enabling and the disabling of counters.
 *
 * The function may leave by an exception of C++, or the thread be cancelled in it: what is open here is closed then,
 * too, since this file alone is compiled with -fexceptions (Makefile). longjmp(3) out of the function leaks.
 */
#include "count/lib.h"

#include <errno.h>

#define AT_THE_END(function) __attribute__((cleanup(function)))

static void disable(struct pstat_counters **counters)
{
	pstat_disable(*counters);
}

static void call(struct pstat_counters *counters, void (*function)(void *argument), void *argument)
{
	struct pstat_counters *running AT_THE_END(disable) = counters;

	(void)running;
	function(argument);
}

int pstat_measure_counters(struct pstat_counters *counters, struct pstat_readings *readings,
			   void (*function)(void *argument), void *argument)
{
	int rc;

	if (!counters || !readings || !function || readings->of != counters)
		return -EINVAL;
	rc = pstat_reset(counters);
	if (!rc)
		rc = pstat_enable(counters);
	if (rc)
		return rc;
	call(counters, function, argument);
	return pstat_read(counters, readings);
}

/* Open for one measurement. */
struct measurement {
	struct pstat_counters *counters;
	struct pstat_readings *readings;
};

static void release(struct measurement *m)
{
	pstat_readings_free(m->readings);
	pstat_close(m->counters);
}

/* Only what the function does lies between enabling and disabling, beside the two calls themselves. */
int pstat_measure_with(const struct pstat_events *events, const struct pstat_open_options *options,
		       void (*function)(void *argument), void *argument, struct pstat_readings **readings,
		       struct pstat_error *error)
{
	const struct pstat_open_options own = { .size = sizeof(own), .inherit = 1 };
	struct measurement m AT_THE_END(release) = { NULL, NULL };
	int rc;

	if (!events || !function || !readings)
		return lib_error(error, -EINVAL, "there are no events, there is no function, or no place for readings");
	*readings = NULL;
	rc = pstat_open(&m.counters, events, options ? options : &own, error);
	if (rc < 0)
		return rc;
	rc = pstat_readings_new(&m.readings, m.counters);
	if (!rc)
		rc = pstat_enable(m.counters);
	if (rc)
		return lib_error(error, rc, strerror(-rc));
	call(m.counters, function, argument);
	pstat_read(m.counters, m.readings);
	/* The counts are there without their reasons, too. */
	pstat_explain(m.counters, m.readings);
	*readings = m.readings;
	m.readings = NULL;
	return 0;
}

int pstat_measure(const struct pstat_events *events, void (*function)(void *argument), void *argument,
		  struct pstat_readings **readings)
{
	return pstat_measure_with(events, NULL, function, argument, readings, NULL);
}
