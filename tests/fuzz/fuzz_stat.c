/* SPDX-License-Identifier: MIT */
/*
 * fuzz_stat: any bytes as recorded counts, through all that `pstat stat report` does with them but print.
 * The claim: no crash, no sanitizer report, no endless loop; memory bounded.
 */
#include "data/data.h"
#include "stat/stat.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORDS_MAX = 5000, ROUNDS_MAX = 50 };

struct report {
	struct recorded_counts counts;
	struct stat_plan plan;
	struct stat_replay *replay;
	unsigned rounds;
};

static int emit(void *data, const struct stat_report *report)
{
	const struct stat_style style = { .aggr = ((struct report *)data)->plan.aggr, .title = "'x'",
					  .runs = 1, .explain = true };
	struct str out = STR_INIT;

	stat_format_text.report(&out, &style, report);
	str_release(&out);
	return 0;
}

/* False: as in pstat, nothing more is read of a recording whose counts cannot be added up. */
static bool end_round(struct report *report, const struct events *events, const struct info *info,
		      uint64_t time_ns)
{
	struct str err = STR_INIT;

	if (!report->counts.fixed || report->rounds++ > ROUNDS_MAX)
		return true;
	if (!report->replay) {
		recorded_describe(&report->counts, events, info);
		report->plan = (struct stat_plan){
			.events = &report->counts.list, .merge = true, .scale = true, .repeat = 1,
			.aggr = recorded_aggr(&report->counts, NULL), .emit = emit,
			.emit_data = report,
		};
		report->replay = stat_replay_new(&report->plan, &report->counts, &err);
	}
	if (report->replay)
		stat_replay_round(report->replay, REPORT_FINAL, time_ns);
	str_release(&err);
	return report->replay;
}

static void read_all(struct reader *reader)
{
	struct report report = { 0 };
	struct record record;
	struct record_body body;
	struct str err = STR_INIT;

	recorded_init(&report.counts);
	for (unsigned n = 0; n < RECORDS_MAX && reader_next(reader, &record, &err) > 0; n++) {
		str_reset(&err);
		if (reader_decode(reader, &record, &body, &err))
			continue;
		if (record.type == RECORD_STAT_ROUND ?
			    !end_round(&report, &reader->events, &reader->info,
				       body.stat_round.time_ns) :
			    recorded_take(&report.counts, &reader->events, &body, &err))
			break;
	}
	stat_replay_free(report.replay);
	recorded_release(&report.counts);
	str_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader reader;
	struct str err = STR_INIT;
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || write_all(fd, data, size))
		abort();
	if (!reader_open_fd(&reader, fd, "input", &err))
		read_all(&reader);
	reader_close(&reader);
	str_release(&err);
	return 0;
}
