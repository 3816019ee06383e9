/* SPDX-License-Identifier: MIT */
/*
 * vendor: events and metrics that vendors publish for their CPUs, in JSON files, in one of two layouts. Private to
 * event/.
 *
 *	perf's pmu-events/arch/x86/            Intel's perfmon/
 *	  mapfile.csv  CPU,version,folder,core   mapfile.csv  CPU,version,/SKX/events/x_core.json,core,...
 *	  skylakex/x.json  [{...}, ...]          SKX/events/x_core.json  {"Header": {...}, "Events": [{...}, ...]}
 *	  arm64: files of what ArchStdEvent     SKX/metrics/perf/x_perf.json
 *	  names, beside its mapfile; units
 *	  of chips, maker/chip/sys/x.json
 *
 * Nothing is read before a name is asked for that nobody else knows. Then the files of this CPU are read and
 * indexed: the name of each record, and where it stands. What else a record says is read when it is used.
 *
 *	files --index, once--> records by name --vendor_record_read--> texts of fields
 *	texts --vendor_alias_read--> a pmu_alias, as a file in the PMU's events/ folder would be; pmu.c does the rest
 *
 * The files are somebody else's: all sizes have limits, a cut file gives the records before the cut, a field of a wrong
 * type is as if it were missing.
 *
 * Sources: tools/perf/pmu-events/README of the kernel, the README of Intel's perfmon repository.
 */
#ifndef PSTAT_VENDOR_H
#define PSTAT_VENDOR_H

#include "event/pmu.h"

/* Fields of a record by the names that they have in the files. To add one: here, and where it is used in vendor.c. */
#define VENDOR_FIELDS(FIELD)                                                                                           \
	FIELD(EventName) FIELD(MetricName) FIELD(ArchStdEvent) FIELD(BriefDescription) FIELD(PublicDescription)        \
	FIELD(EventCode) FIELD(ExtSel) FIELD(ConfigCode) FIELD(EventidCode) FIELD(UMask) FIELD(UMaskExt)               \
	FIELD(CounterMask) FIELD(Invert) FIELD(EdgeDetect) FIELD(AnyThread) FIELD(PortMask) FIELD(FCMask)              \
	FIELD(NodeType) FIELD(RdWrMask) FIELD(EnAllCores) FIELD(EnAllSlices) FIELD(SliceId) FIELD(ThreadMask)          \
	FIELD(MSRIndex) FIELD(MSRValue) FIELD(Filter) FIELD(SampleAfterValue) FIELD(Unit) FIELD(CounterType)           \
	FIELD(PerPkg) FIELD(ScaleUnit) FIELD(Deprecated) FIELD(MetricExpr) FIELD(MetricGroup) FIELD(MetricThreshold)   \
	FIELD(Counter) FIELD(Compat)
#define VENDOR_FIELD_ENUM(name) VENDOR_##name,
enum vendor_field { VENDOR_FIELDS(VENDOR_FIELD_ENUM) VENDOR_N_FIELDS };

struct vendor_record {
	const char *name;
	uint32_t file;
	size_t at; /* its '{' in the file */
	bool is_metric;
};
struct vendor_text {
	const char *field[VENDOR_N_FIELDS]; /* NULL: it has no such field */
};

/* The files of this machine's CPU, read at the first call. Never NULL; owned by the list of p. */
struct vendor_catalog *vendor_catalog(struct event_parse *p);
/* Why there are no records or not all, if somebody named the folder: a sentence, or "". Printable. */
const char *vendor_why(const struct vendor_catalog *vendors);
/* All records of this name, in whatever case; *n of them, in the order of the files. */
const struct vendor_record *vendor_find(const struct vendor_catalog *vendors, const char *name, size_t *n);
/* All, by name. */
const struct vendor_record *vendor_records(const struct vendor_catalog *vendors, size_t *n);
/* Fills text, which lives as long as the catalogue. */
void vendor_record_read(struct vendor_catalog *vendors, const struct vendor_record *record, struct vendor_text *text);
/* The core PMU that the record's file is about; "": any. */
const char *vendor_record_core(const struct vendor_catalog *vendors, const struct vendor_record *record);

/* Is the extended regular expression one for all of the text? Back references and long ones match nothing. */
bool vendor_pattern_matches(const char *pattern, const char *text);

/* Metrics that were made of records, for event_metrics(). */
struct vendor_metrics {
	struct event_metric *v;
	size_t n, cap;
	bool read;
};
struct vendor_metrics *vendor_metrics(struct vendor_catalog *vendors);

/* ---- vendor.c ---- */

/* The vendor's event of a PMU, as if it were in the PMU's folder. -ENOENT: there is none; -EINVAL: err says why. */
int vendor_alias_read(struct event_parse *p, struct pmu_alias *alias, const struct pmu *pmu, const char *name,
		      struct str *err);

#endif
