/*
 * Times of day in --time -> the recording's clock, by the one moment that the recording knows on both
 * (CLOCK_DATA). Dates and times are those of this machine's time zone ($TZ).
 *
 * A time without a date is of the day on which the recording began. One that is before its beginning is of
 * the next day if the recording had not ended by then: recordings may run over midnight. Where their end
 * is not known, they are taken to be no longer than half a day.
 */
#include "profile/filters_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HALF_DAY_S = 12 * 60 * 60, NS_PER_DIGIT_MAX = 100000000 };
static const uint64_t ns_per_s = 1000000000;

bool wall_clock_is(const char *text, size_t len)
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
static bool take_time(const char *at, struct tm *tm, uint64_t *fraction_ns)
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
	time_t last_s = known ? (time_t)(to_wall(info, info->last_sample_ns) / ns_per_s)
			      : first_s + HALF_DAY_S;
	struct tm next = tm;
	time_t day = mktime(&tm), after;

	next.tm_mday++;
	after = mktime(&next);
	return day < first_s && after <= last_s ? after : day;
}

int wall_clock_parse(const struct info *info, const char *text, size_t len, uint64_t *ns, struct str *err)
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
	first_s = (time_t)(first_ns / ns_per_s);
	good = dated ? take_date(&at, &tm) : localtime_r(&first_s, &tm) != NULL;
	good = good && take_time(at, &tm, &fraction_ns);
	tm.tm_isdst = -1;
	if (!good) {
		rc = fail(err, -EINVAL, "--time: '%s': is not a time of day, such as 14:03:10.5 or "
			  "2026-11-22T14:03:10", copy);
	} else if (!info_has(info, FEATURE_CLOCK_DATA)) {
		rc = fail(err, -EINVAL, "--time: '%s': the recording does not say which time of day its clock "
			  "showed\nrecord with pstat record, or perf record -k monotonic", copy);
	} else {
		seconds = dated ? mktime(&tm) : choose_day(info, tm, first_s);
		wall_ns = seconds < 0 ? 0 : (uint64_t)seconds * ns_per_s + fraction_ns;
		/* A moment before the clock began is its beginning. */
		*ns = wall_ns + info->clockid_time_ns < info->wall_clock_ns
			      ? 0
			      : wall_ns - info->wall_clock_ns + info->clockid_time_ns;
	}
	free(copy);
	return rc;
}
