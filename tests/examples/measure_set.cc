/* SPDX-License-Identifier: MIT */
/*
 * Measures a function with a ready-made set of events, and prints the values as JSON. In C++.
 *
 *	measure_set [SET]
 */
#include <libpstat.h>

#include <cstdio>
#include <memory>
#include <vector>

namespace {

struct Free {
	void operator()(pstat_events *events) const { pstat_events_free(events); }
	void operator()(pstat_readings *readings) const { pstat_readings_free(readings); }
};

void fill(void *data)
{
	auto *vector = static_cast<std::vector<long> *>(data);

	for (long i = 0; i < 1000000; i++)
		vector->push_back(i);
}

} // namespace

int main(int argc, char **argv)
{
	pstat_error error = {};
	pstat_events *list = nullptr;
	pstat_readings *counted = nullptr;
	std::vector<long> vector;

	error.size = sizeof(error);
	int rc = pstat_events_new(&list);
	std::unique_ptr<pstat_events, Free> events(list);
	if (!rc)
		rc = pstat_events_add_set(list, argc > 1 ? argv[1] : "software", &error);
	if (!rc)
		rc = pstat_measure(list, fill, &vector, &counted);
	std::unique_ptr<pstat_readings, Free> readings(counted);
	if (rc) {
		std::fprintf(stderr, "measure_set: %s (error %d)\n", error.text, -rc);
		return 1;
	}
	std::vector<char> json(static_cast<std::size_t>(pstat_readings_json(counted, nullptr, 0)) + 1);
	pstat_readings_json(counted, json.data(), json.size());
	std::puts(json.data());
	return 0;
}
