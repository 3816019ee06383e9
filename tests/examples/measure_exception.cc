/* SPDX-License-Identifier: MIT */
/*
 * An exception that leaves a measured function: what was open for the measurement is closed, and counters that were
 * open before are disabled.
 *
 *	measure_exception
 */
#include <libpstat.h>

#include <cstdio>
#include <stdexcept>
#include <unistd.h>

namespace {

/* The lowest descriptor that is free: it goes up where one is leaked. */
int free_descriptor()
{
	int fd = dup(0);

	close(fd);
	return fd;
}

void refuse(void *)
{
	throw std::runtime_error("refused");
}

void nothing(void *)
{
}

bool throws(pstat_events *events, pstat_counters *counters, pstat_readings *readings)
{
	pstat_readings *own = NULL;

	try {
		if (counters)
			pstat_measure_counters(counters, readings, refuse, NULL);
		else
			pstat_measure_with(events, NULL, refuse, NULL, &own, NULL);
	} catch (const std::exception &) {
		return !own;
	}
	return false;
}

} // namespace

int main()
{
	pstat_events *events = NULL;
	pstat_counters *counters = NULL;
	pstat_readings *readings = NULL;

	if (pstat_events_new(&events) || pstat_events_parse(events, "page-faults:u,task-clock:u", NULL) ||
	    pstat_open(&counters, events, NULL, NULL) || pstat_readings_new(&readings, counters))
		return 1;
	const int before = free_descriptor();
	const bool came = throws(events, NULL, NULL) && throws(events, counters, readings);

	std::printf("exceptions came through: %s\n", came ? "yes" : "no");
	std::printf("descriptors left open: %d\n", free_descriptor() - before);
	/* Disabled counters stand still. */
	pstat_read(counters, readings);
	const unsigned long long ran = pstat_reading_at(readings, 1)->enabled_ns;
	pstat_read(counters, readings);
	std::printf("still counting: %s\n", pstat_reading_at(readings, 1)->enabled_ns != ran ? "yes" : "no");
	std::printf("and counts again: %s\n",
		    pstat_measure_counters(counters, readings, nothing, NULL) == 0 ? "yes" : "no");
	pstat_readings_free(readings);
	pstat_close(counters);
	pstat_events_free(events);
	return 0;
}
