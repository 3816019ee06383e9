/*
 * feature_numbers.c: features that are a few numbers: CPU counts, times, clocks, compression.
 */
#include "data/feature.h"

#include <time.h>

typedef unsigned long long ull;

FEATURE_READ(nrcpus)
{
	FEATURE_UNUSED;
	info->cpus_available = cursor_u32(c);
	info->cpus_online = cursor_u32(c);
	return NULL;
}

FEATURE_WRITE(nrcpus)
{
	FEATURE_UNUSED;
	put_u32(out, info->cpus_available);
	put_u32(out, info->cpus_online);
}

FEATURE_PRINT(nrcpus)
{
	FEATURE_UNUSED;
	str_addf(out, "# nrcpus online : %u\n# nrcpus avail : %u\n", info->cpus_online,
		 info->cpus_available);
}

FEATURE_READ(sample_time)
{
	FEATURE_UNUSED;
	info->first_sample_ns = cursor_u64(c);
	info->last_sample_ns = cursor_u64(c);
	return NULL;
}

FEATURE_WRITE(sample_time)
{
	FEATURE_UNUSED;
	put_u64(out, info->first_sample_ns);
	put_u64(out, info->last_sample_ns);
}

static void add_seconds(struct str *out, uint64_t ns)
{
	str_addf(out, "%llu.%06llu", (ull)ns / 1000000000, (ull)ns % 1000000000 / 1000);
}

FEATURE_PRINT(sample_time)
{
	uint64_t ns = info->last_sample_ns - info->first_sample_ns;

	FEATURE_UNUSED;
	str_add(out, "# time of first sample : ");
	add_seconds(out, info->first_sample_ns);
	str_add(out, "\n# time of last sample : ");
	add_seconds(out, info->last_sample_ns);
	str_addf(out, "\n# sample duration : %10.3f ms\n", (double)ns / 1e6);
}

FEATURE_READ(compressed)
{
	FEATURE_UNUSED;
	info->comp_version = cursor_u32(c);
	info->comp_type = cursor_u32(c);
	info->comp_level = cursor_u32(c);
	info->comp_ratio = cursor_u32(c);
	info->comp_chunk_bytes = cursor_u32(c);
	return NULL;
}

FEATURE_WRITE(compressed)
{
	FEATURE_UNUSED;
	put_u32(out, info->comp_version);
	put_u32(out, info->comp_type);
	put_u32(out, info->comp_level);
	put_u32(out, info->comp_ratio);
	put_u32(out, info->comp_chunk_bytes);
}

FEATURE_PRINT(compressed)
{
	FEATURE_UNUSED;
	str_addf(out, "# compressed : %s, level = %u, ratio = %u\n",
		 info->comp_type == 1 ? "Zstd" : "Unknown", info->comp_level, info->comp_ratio);
}

FEATURE_READ(clock_data)
{
	FEATURE_UNUSED;
	if (cursor_u32(c) != 1)
		return "its version is not 1";
	info->clockid = cursor_u32(c);
	info->wall_clock_ns = cursor_u64(c);
	info->clockid_time_ns = cursor_u64(c);
	return NULL;
}

FEATURE_WRITE(clock_data)
{
	FEATURE_UNUSED;
	put_u32(out, 1);
	put_u32(out, info->clockid);
	put_u64(out, info->wall_clock_ns);
	put_u64(out, info->clockid_time_ns);
}

FEATURE_PRINT(clock_data)
{
	static const char *const names[] = {
		[CLOCK_REALTIME] = "realtime",
		[CLOCK_MONOTONIC] = "monotonic",
		[CLOCK_MONOTONIC_RAW] = "monotonic_raw",
		[CLOCK_BOOTTIME] = "boottime",
		[CLOCK_TAI] = "tai",
	};
	const char *name = info->clockid < ARRAY_SIZE(names) ? names[info->clockid] : NULL;
	time_t seconds = (time_t)(info->wall_clock_ns / 1000000000);
	char date[64] = "";
	struct tm tm;

	FEATURE_UNUSED;
	if (localtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%F %T", &tm);
	name = name ? name : info->clockid == CLOCKID_OF_KERNEL ? "the kernel's" : "unknown";
	str_addf(out, "# clockid: %s (%u)\n# reference time: %s.%06llu = ", name, info->clockid,
		 date, (ull)info->wall_clock_ns % 1000000000 / 1000);
	add_seconds(out, info->wall_clock_ns);
	str_addf(out, " (TOD) = %llu.%09llu (%s)\n", (ull)info->clockid_time_ns / 1000000000,
		 (ull)info->clockid_time_ns % 1000000000, name);
}
