/* SPDX-License-Identifier: MIT */
/*
 * --time: text -> ranges of the recording's clock. Ranges hold both their ends, as perf's do, so that a sample on the
 * border of two parts is in both.
 *
 * Times of day become times of the recording's clock by the one moment that the recording knows on both (CLOCK_DATA).
 * Dates and times are those of this machine's time zone ($TZ). A time without a date is of the day on which the
 * recording began; one that is before its beginning is of the next day if the recording had not ended by then, for
 * recordings may run over midnight. Where their end is not known, they are taken to be no longer than half a day.
 */
#include "profile/time_filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum { HALF_DAY_S = 12 * 60 * 60, NS_PER_DIGIT_MAX = 100000000 };
#define SECONDS_END (UINT64_MAX / NS_PER_S)
static const uint64_t day_ns = 24 * 60 * 60 * NS_PER_S;

static bool wall_clock_is(const char *text, size_t len)
{
	return memchr(text, ':', len);
}

/* "2026-11-22": the next day's number is mday + 1, which mktime() puts right. */
static bool take_date(const char **at, struct tm *tm)
{
	int n = 0;

	if (sscanf(*at, "%4d-%2d-%2d%n", &tm->tm_year, &tm->tm_mon, &tm->tm_mday, &n) != 3 || !n ||
	    tm->tm_mon < 1 || tm->tm_mon > 12 || tm->tm_mday < 1 || tm->tm_mday > 31)
		return false;
	tm->tm_year -= 1900;
	tm->tm_mon--;
	*at += n;
	return *(*at)++ == 'T';
}

/* "14:03", "14:03:10", "14:03:10.5" */
static bool take_time_of_day(const char *at, struct tm *tm, uint64_t *fraction_ns)
{
	uint64_t unit = NS_PER_DIGIT_MAX;
	int n = 0;

	tm->tm_sec = 0;
	if (sscanf(at, "%2d:%2d%n", &tm->tm_hour, &tm->tm_min, &n) != 2)
		return false;
	at += n;
	if (*at == ':') {
		n = 0;
		if (sscanf(at, ":%2d%n", &tm->tm_sec, &n) != 1)
			return false;
		at += n;
	}
	if (*at == '.')
		for (at++; *at >= '0' && *at <= '9' && unit; at++, unit /= 10)
			*fraction_ns += (uint64_t)(*at - '0') * unit;
	return !*at && tm->tm_hour >= 0 && tm->tm_hour < 24 && tm->tm_min >= 0 && tm->tm_min < 60 &&
	       tm->tm_sec >= 0 && tm->tm_sec <= 60;
}

static uint64_t to_wall(const struct info *info, uint64_t time_ns)
{
	return info->wall_clock_ns + (time_ns - info->clockid_time_ns);
}

/* The same time on the day after, where that is still in the recording. */
static time_t choose_day(const struct info *info, struct tm tm, time_t first_s)
{
	bool known = info_has(info, FEATURE_SAMPLE_TIME) && info->last_sample_ns;
	time_t last_s = known ? (time_t)(to_wall(info, info->last_sample_ns) / NS_PER_S)
			      : first_s + HALF_DAY_S;
	struct tm next = tm;
	time_t day = mktime(&tm), after;

	next.tm_mday++;
	after = mktime(&next);
	return day < first_s && after <= last_s ? after : day;
}

static int wall_clock_parse(const struct info *info, const char *text, size_t len, uint64_t *ns, struct str *err)
{
	bool known = info_has(info, FEATURE_SAMPLE_TIME) && info->first_sample_ns;
	uint64_t fraction_ns = 0, wall_ns, first_ns;
	char *copy = xstrndup(text, len);
	const char *at = copy;
	bool dated = strchr(copy, '-'), good;
	time_t seconds, first_s;
	struct tm tm = { 0 };
	int rc = 0;

	first_ns = known ? to_wall(info, info->first_sample_ns) : info->wall_clock_ns;
	first_s = (time_t)(first_ns / NS_PER_S);
	good = dated ? take_date(&at, &tm) : localtime_r(&first_s, &tm) != NULL;
	good = good && take_time_of_day(at, &tm, &fraction_ns);
	tm.tm_isdst = -1;
	if (!good) {
		rc = fail(err, -EINVAL, "--time: '%s': is not a time of day, such as 14:03:10.5 or "
			  "2026-11-22T14:03:10", copy);
	} else if (!info_has(info, FEATURE_CLOCK_DATA)) {
		rc = fail(err, -EINVAL, "--time: '%s': the recording does not have the time of day of its clock\n"
			  "record with pstat record, or perf record -k monotonic", copy);
	} else {
		seconds = dated ? mktime(&tm) : choose_day(info, tm, first_s);
		wall_ns = seconds < 0 ? 0 : (uint64_t)seconds * NS_PER_S + fraction_ns;
		/* A moment before the clock began is its beginning. */
		*ns = wall_ns + info->clockid_time_ns < info->wall_clock_ns
			      ? 0
			      : wall_ns - info->wall_clock_ns + info->clockid_time_ns;
	}
	free(copy);
	return rc;
}

bool time_ranges_need_bounds(const char *text)
{
	return strchr(text, '%');
}

static int bad_time(struct str *err, const char *part, size_t len, const char *why)
{
	return fail(err, -EINVAL, "--time: '%.*s': %s", (int)len, part, why);
}

/* "12", "12.5", ".5": at most nine digits behind the point. What no clock of ns can have is the end of all time. */
static int parse_seconds(const char *text, size_t len, uint64_t *ns, struct str *err)
{
	static const char form[] = "is not a time in seconds, such as 12.345";
	uint64_t seconds = 0, fraction = 0;
	size_t at = 0, digits = 0;

	for (; at < len && text[at] >= '0' && text[at] <= '9'; at++, digits++) {
		seconds = seconds * 10 + (uint64_t)(text[at] - '0');
		if (seconds > SECONDS_END)
			seconds = SECONDS_END;
	}
	if (at < len && text[at] == '.') {
		uint64_t unit = NS_PER_S / 10;

		for (at++; at < len && text[at] >= '0' && text[at] <= '9'; at++, unit /= 10) {
			if (!unit)
				return bad_time(err, text, len, "is finer than a nanosecond");
			fraction += (uint64_t)(text[at] - '0') * unit;
			digits++;
		}
	}
	if (at != len || !digits)
		return bad_time(err, text, len, form);
	*ns = seconds < SECONDS_END ? seconds * NS_PER_S + fraction : UINT64_MAX;
	return 0;
}

static void add_range(struct time_ranges *ranges, uint64_t start_ns, uint64_t end_ns)
{
	VEC_GROW(ranges->v, ranges->n, ranges->cap);
	ranges->v[ranges->n++] = (struct time_range){ start_ns, end_ns };
}

static int parse_time(const char *text, size_t len, const struct info *info, uint64_t *ns, struct str *err)
{
	return wall_clock_is(text, len) ? wall_clock_parse(info, text, len, ns, err)
					: parse_seconds(text, len, ns, err);
}

/* One "START,STOP". */
static int parse_range(struct time_ranges *ranges, const char *text, size_t len, const struct info *info,
		       struct str *err)
{
	const char *comma = memchr(text, ',', len);
	uint64_t start_ns = 0, end_ns = UINT64_MAX;
	const char *stop;
	size_t stop_len;

	if (!comma)
		return bad_time(err, text, len, "has no comma; a range is START,STOP");
	stop = comma + 1;
	while (stop < text + len && *stop == ' ')
		stop++;
	stop_len = (size_t)(text + len - stop);
	if (comma > text && parse_time(text, (size_t)(comma - text), info, &start_ns, err))
		return -EINVAL;
	if (stop_len && parse_time(stop, stop_len, info, &end_ns, err))
		return -EINVAL;
	if (end_ns < start_ns && stop_len && wall_clock_is(stop, stop_len) && !memchr(stop, '-', stop_len))
		end_ns += day_ns; /* 23:59:50,00:00:10 */
	if (end_ns < start_ns)
		return bad_time(err, text, len, "ends before it starts");
	add_range(ranges, start_ns, end_ns);
	return 0;
}

/* A range's length: up to a space; "START, STOP" with a space behind its comma is one too. */
static size_t range_len(const char *text)
{
	size_t len = strcspn(text, " "), spaces = strspn(text + len, " ");
	size_t next = strcspn(text + len + spaces, " ");

	if (len && text[len - 1] == ',' && next && !memchr(text + len + spaces, ',', next))
		len += spaces + next;
	return len;
}

/* "12.5%": the number before the percent sign, 0 to 100, as a part of 1. */
static int parse_part(const char *text, size_t len, double *part, struct str *err)
{
	char *number;
	double percent = 0;
	int code;

	if (len < 2 || text[len - 1] != '%')
		return bad_time(err, text, len, "is not a percentage, such as 10%");
	number = xstrndup(text, len - 1);
	code = parse_double(number, &percent);
	free(number);
	if (code || !(percent >= 0 && percent <= 100))
		return bad_time(err, text, len, "is not a percentage from 0% to 100%");
	*part = percent / 100;
	return 0;
}

/* "A%/N", and "A%" for its first part. */
static int parse_slash(const char *text, size_t len, double *from, double *to, struct str *err)
{
	const char *slash = memchr(text, '/', len);
	size_t percent_len = slash ? (size_t)(slash - text) : len;
	uint64_t number = 1;
	double part;
	int code = 0;

	if (slash) {
		char *digits = xstrndup(slash + 1, len - percent_len - 1);

		code = parse_u64(digits, 10, &number);
		free(digits);
	}
	if (code || !number)
		return bad_time(err, text, len, "is not a part of the recording, such as 10%/2");
	if (parse_part(text, percent_len, &part, err))
		return -EINVAL;
	*from = part * (double)(number - 1);
	*to = part * (double)number;
	if (!(part > 0) || *to > 1 + 1e-9)
		return bad_time(err, text, len, "is not a part of the recording");
	return 0;
}

static int parse_percent(struct time_ranges *ranges, const char *text, size_t len,
			 const struct time_range *all, struct str *err)
{
	double total = (double)(all->end_ns - all->start_ns), from = 0, to = 0;
	const char *dash = memchr(text, '-', len);
	int code;

	if (dash) {
		size_t first = (size_t)(dash - text);

		code = parse_part(text, first, &from, err);
		if (!code)
			code = parse_part(dash + 1, len - first - 1, &to, err);
		if (!code && to < from)
			code = bad_time(err, text, len, "ends before it starts");
	} else {
		code = parse_slash(text, len, &from, &to, err);
	}
	if (!code)
		add_range(ranges, all->start_ns + (uint64_t)(from * total + 0.5),
			  all->start_ns + (uint64_t)(to * total + 0.5));
	return code;
}

int time_ranges_parse(struct time_ranges *ranges, const char *text, uint64_t first_ns,
		      uint64_t last_ns, const struct info *info, struct str *err)
{
	const struct time_range all = { first_ns, last_ns };
	bool percent = time_ranges_need_bounds(text);
	const char *between = percent ? ", " : " ";
	int code = 0;

	for (text += strspn(text, " "); *text && !code; text += strspn(text, between)) {
		size_t len = percent ? strcspn(text, between) : range_len(text);

		code = percent ? parse_percent(ranges, text, len, &all, err)
			       : parse_range(ranges, text, len, info, err);
		text += len;
	}
	if (!code && !ranges->n)
		code = fail(err, -EINVAL,
			    "--time: an empty text is not a range; a range is START,STOP");
	return code;
}

void time_ranges_release(struct time_ranges *ranges)
{
	free(ranges->v);
	*ranges = (struct time_ranges){ NULL, 0, 0 };
}

bool time_ranges_have(const struct time_ranges *ranges, uint64_t time_ns)
{
	for (size_t i = 0; i < ranges->n; i++)
		if (time_ns >= ranges->v[i].start_ns && time_ns <= ranges->v[i].end_ns)
			return true;
	return false;
}

/* The whole recording once, for its samples' times alone. */
static int read_bounds(const char *path, uint64_t *first_ns, uint64_t *last_ns, struct str *err)
{
	struct reader reader;
	struct record record;
	struct record_body body;
	struct str why = STR_INIT;
	int code = reader_open(&reader, path, err);

	*first_ns = UINT64_MAX;
	*last_ns = 0;
	while (!code && reader_next(&reader, &record, &why) > 0) {
		if (record.type != RECORD_SAMPLE || reader_decode(&reader, &record, &body, &why) ||
		    !(body.sample.has & PERF_SAMPLE_TIME))
			continue;
		if (body.sample.time_ns < *first_ns)
			*first_ns = body.sample.time_ns;
		if (body.sample.time_ns > *last_ns)
			*last_ns = body.sample.time_ns;
	}
	str_release(&why); /* said when the recording is read for its samples */
	reader_close(&reader);
	if (!code && *first_ns > *last_ns)
		code = fail(err, -EINVAL,
			    "--time: no sample of '%s' has a time, so there is "
			    "nothing to take a percentage of",
			    path);
	return code;
}

int time_bounds(const struct reader *reader, uint64_t *first_ns, uint64_t *last_ns, struct str *err)
{
	const struct info *info = &reader->info;
	struct stat st;

	if (info_has(info, FEATURE_SAMPLE_TIME) && info->first_sample_ns &&
	    info->first_sample_ns <= info->last_sample_ns) {
		*first_ns = info->first_sample_ns;
		*last_ns = info->last_sample_ns;
		return 0;
	}
	if (!strcmp(reader->path, "-") || stat(reader->path, &st) ||
	    !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return fail(err, -EINVAL,
			    "--time: percentages need the times of the first and last "
			    "sample, which a pipe doesn't have before its end: "
			    "store the recording in a file");
	return read_bounds(reader->path, first_ns, last_ns, err);
}
