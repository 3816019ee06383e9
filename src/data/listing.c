/* SPDX-License-Identifier: MIT */
/*
 * listing.c: what a recording is and holds, as text: the header, the events, counts by record type,
 * build-ids. Words and layout are those that perf's users search for.
 */
#include "data/decode.h"

#include <stdlib.h>
#include <time.h>

typedef unsigned long long ull;

/* A file's last change; a stream says when it was recorded, or comes as it is. */
static time_t captured_on(const struct reader *reader)
{
	if (reader->recording.written_ns)
		return (time_t)(reader->recording.written_ns / (int64_t)NS_PER_S);
	if (info_has(&reader->info, FEATURE_CLOCK_DATA) && reader->info.wall_clock_ns)
		return (time_t)(reader->info.wall_clock_ns / NS_PER_S);
	return time(NULL);
}

void reader_print_header(const struct reader *reader, bool full, struct str *out)
{
	time_t seconds = captured_on(reader);
	char date[64] = "";
	struct tm tm;

	str_add(out, "# ========\n");
	if (localtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &tm);
	if (*date)
		str_addf(out, "# captured on    : %s\n", date);
	str_addf(out,
		 "# header version : 1\n# data offset    : %llu\n# data size      : %llu\n"
		 "# feat offset    : %llu\n",
		 (ull)reader->data_offset, (ull)reader->data_size, (ull)reader->feature_offset);
	info_print(&reader->info, &reader->events, full, out);
	str_add(out, "# ========\n#\n");
}

static void event_line(const struct data_event *event, const struct info *info,
		       const struct evlist_options *options, struct str *out)
{
	data_event_add_name(event, out);
	if (options->freq && event->attr.freq)
		str_addf(out, ": sample_freq=%llu", (ull)event->attr.sample_freq);
	else if (options->freq)
		str_addf(out, ": sample_period=%llu", (ull)event->attr.sample_period);
	if (options->verbose) {
		str_add(out, ": ");
		attr_print(event, info, ": ", out);
	}
	if (options->more) {
		str_add(out, options->freq || options->verbose ? ", " : ": ");
		options->more(options->context, event, out);
	}
	str_addc(out, '\n');
}

static void group_line(const struct events *events, const struct data_event *leader,
		       struct str *out)
{
	if (leader->group_name)
		str_add_printable(out, leader->group_name, strlen(leader->group_name));
	for (size_t k = 0; k < leader->n_members; k++) {
		str_addc(out, k ? ',' : '{');
		data_event_add_name(events->v[leader->index + k], out);
	}
	str_add(out, "}\n");
}

void events_print(const struct events *events, const struct info *info, const struct evlist_options *options,
		  struct str *out)
{
	for (size_t i = 0; i < events->n; i++) {
		const struct data_event *event = events->v[i];

		if (options->group && event->leader != i)
			continue;
		if (options->group && event->n_members > 1)
			group_line(events, event, out);
		else
			event_line(event, info, options, out);
	}
}

/* ---- --stats ---- */

static void sample_count(struct record_stats *stats, const struct data_event *event)
{
	if (!event) {
		stats->unknown_samples++;
		return;
	}
	if (event->index >= stats->n_samples) {
		size_t n = event->index + 1;

		stats->samples = xreallocarray(stats->samples, n, sizeof(*stats->samples));
		memset(stats->samples + stats->n_samples, 0,
		       (n - stats->n_samples) * sizeof(*stats->samples));
		stats->n_samples = n;
	}
	stats->samples[event->index]++;
}

void record_stats_add(struct record_stats *stats, const struct record *record,
		      const struct record_body *body)
{
	size_t last = ARRAY_SIZE(stats->by_type) - 1;

	stats->total++;
	stats->by_type[record->type < last ? record->type : last]++;
	if (!body)
		stats->broken++;
	else if (body->type == RECORD_SAMPLE)
		sample_count(stats, body->event);
	else if (body->type == RECORD_LOST)
		stats->lost_events += body->lost.lost;
	else if (body->type == RECORD_LOST_SAMPLES)
		stats->lost_samples += body->lost.lost;
}

static void count_line(const char *name, uint64_t n, uint64_t total, struct str *out)
{
	str_addf(out, "%16s events: %10llu", name, (ull)n);
	if (total)
		str_addf(out, "  (%4.1f%%)", 100.0 * (double)n / (double)total);
	str_addc(out, '\n');
}

void record_stats_print(const struct record_stats *stats, const struct events *events,
			struct str *out)
{
	size_t last = ARRAY_SIZE(stats->by_type) - 1;

	str_add(out, "\nAggregated stats:\n");
	count_line("TOTAL", stats->total, 0, out);
	for (uint32_t type = 0; type <= last; type++)
		if (stats->by_type[type])
			count_line(record_name(type), stats->by_type[type], stats->total, out);
	if (stats->lost_events)
		count_line("lost", stats->lost_events, 0, out);
	if (stats->lost_samples)
		count_line("lost samples", stats->lost_samples, 0, out);
	if (stats->broken)
		count_line("broken", stats->broken, 0, out);
	for (size_t i = 0; i < stats->n_samples && i < events->n; i++) {
		if (!stats->samples[i])
			continue;
		data_event_add_name(events->v[i], out);
		str_add(out, " stats:\n");
		count_line("SAMPLE", stats->samples[i], 0, out);
	}
	if (stats->unknown_samples) {
		str_add(out, "of no known event:\n");
		count_line("SAMPLE", stats->unknown_samples, 0, out);
	}
}

void record_stats_release(struct record_stats *stats)
{
	free(stats->samples);
	stats->samples = NULL;
	stats->n_samples = 0;
}

/* ---- buildid-list ---- */

static bool same_build_id(const struct info_build_id *a, const struct info_build_id *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size) && !strcmp(a->path, b->path);
}

/* A pipe may have one in a mapping and in a record of its own. */
static bool is_printed(const struct info *info, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (same_build_id(&info->build_ids.v[i], &info->build_ids.v[n]))
			return true;
	return false;
}

void build_ids_print(const struct info *info, struct str *out)
{
	for (size_t i = 0; i < info->build_ids.n; i++) {
		const struct info_build_id *id = &info->build_ids.v[i];

		if (is_printed(info, i))
			continue;
		for (unsigned k = 0; k < id->size; k++)
			str_addf(out, "%02x", id->bytes[k]);
		str_addc(out, ' ');
		str_add_printable(out, id->path, strlen(id->path));
		str_addc(out, '\n');
	}
}

void build_ids_add(struct info *info, const struct record_body *body)
{
	const struct record_mmap *map = &body->mmap;
	struct info_build_id *id;
	const char *end;
	size_t len;

	if (body->type != RECORD_MMAP2 || !(body->misc & MISC_MMAP_BUILD_ID) || !map->build_id_size)
		return;
	/* The kernel's map has a symbol after its name: "[kernel.kallsyms]_text". */
	end = *map->path == '[' ? strchr(map->path, ']') : NULL;
	len = end ? (size_t)(end - map->path) + 1 : strlen(map->path);
	for (size_t i = 0; i < info->build_ids.n; i++) {
		id = &info->build_ids.v[i];
		if (!memcmp(id->bytes, map->build_id, sizeof(map->build_id)) &&
		    strlen(id->path) == len && !memcmp(id->path, map->path, len))
			return;
	}
	VEC_GROW(info->build_ids.v, info->build_ids.n, info->build_ids.cap);
	id = &info->build_ids.v[info->build_ids.n++];
	*id = (struct info_build_id){ .pid = -1, .misc = body->misc & MISC_CPUMODE_MASK };
	id->size = map->build_id_size;
	memcpy(id->bytes, map->build_id, sizeof(id->bytes));
	id->path = xstrndup(map->path, len);
	info_set(info, FEATURE_BUILD_ID);
}
