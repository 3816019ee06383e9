/* SPDX-License-Identifier: MIT */
/*
 * feature_numbers.c: kinds of numbers, and how the header shows them: plain ones, times, clocks,
 * compression. A kind that shows another field's number once more is not among the bytes.
 */
#include "data/feature.h"

#include <time.h>

typedef unsigned long long ull;

#define NUMBER(name, type)                                                                         \
	FEATURE_READ(name)                                                                         \
	{                                                                                          \
		type v = cursor_##name(&r->c);                                                     \
		memcpy(at, &v, sizeof(v));                                                         \
	}                                                                                          \
	FEATURE_WRITE(name)                                                                        \
	{                                                                                          \
		str_addn(t->out, at, sizeof(type));                                                \
	}
#define NUMBER_PRINT(name, type, ...)                                                              \
	FEATURE_PRINT(name)                                                                        \
	{                                                                                          \
		ull v = *(const type *)at;                                                         \
		str_addf(t->out, __VA_ARGS__);                                                     \
	}

NUMBER(u32, uint32_t)
NUMBER(u64, uint64_t)
NUMBER_PRINT(u32, uint32_t, "%llu", v)
NUMBER_PRINT(u64, uint64_t, "%llu", v)
NUMBER_PRINT(hex, uint64_t, "%#llx", v)
NUMBER_PRINT(seconds, uint64_t, "%llu.%06llu", v / NS_PER_S, v % NS_PER_S / 1000)
NUMBER_PRINT(nanoseconds, uint64_t, "%llu.%09llu", v / NS_PER_S, v % NS_PER_S)

/* ---- a version, of which only 1 is known, in 4 or 8 bytes ---- */
FEATURE_READ(version)
{
	if ((f->n == 8 ? cursor_u64(&r->c) : cursor_u32(&r->c)) != 1)
		r->why = "its version is not 1";
}

FEATURE_WRITE(version)
{
	const uint64_t one = 1;

	str_addn(t->out, (const char *)&one, f->n);
}

/* ---- times ---- */
FEATURE_PRINT(duration)
{
	uint64_t ns = t->info->last_sample_ns - t->info->first_sample_ns;

	str_addf(t->out, "%10.3f ms", (double)ns / 1e6);
}

FEATURE_PRINT(date)
{
	uint64_t ns = *(const uint64_t *)at;
	time_t seconds = (time_t)(ns / NS_PER_S);
	char date[64] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%F %T", &tm);
	str_addf(t->out, "%s.%06llu", date, (ull)ns % NS_PER_S / 1000);
}

FEATURE_PRINT(clock)
{
	static const char *const names[] = {
		[CLOCK_REALTIME] = "realtime",
		[CLOCK_MONOTONIC] = "monotonic",
		[CLOCK_MONOTONIC_RAW] = "monotonic_raw",
		[CLOCK_BOOTTIME] = "boottime",
		[CLOCK_TAI] = "tai",
	};
	uint32_t clockid = *(const uint32_t *)at;
	const char *name = clockid < ARRAY_SIZE(names) ? names[clockid] : NULL;

	str_add(t->out, name ? name : clockid == CLOCKID_OF_KERNEL ? "the kernel's" : "unknown");
}

/* ---- numbers that mean something else, or nothing ---- */
FEATURE_PRINT(resolution)
{
	ull ns = *(const uint64_t *)at;

	if (ns)
		str_addf(t->out, "# clockid frequency: %llu MHz\n", 1000 / ns);
}

FEATURE_PRINT(packing)
{
	str_add(t->out, *(const uint32_t *)at == 1 ? "Zstd" : "Unknown");
}

FEATURE_PRINT(target)
{
	if (*(const uint64_t *)at == STAT_TARGET_ALL_THREADS)
		str_add(t->out, "# counted : all threads of the system\n");
}

#define U32(name, show) const struct feature_kind feature_##name = { u32_read, u32_write, show, NULL }
#define U64(name, show) const struct feature_kind feature_##name = { u64_read, u64_write, show, NULL }
#define SHOWN(name) const struct feature_kind feature_##name = { NULL, NULL, name##_print, NULL }
U32(u32, u32_print);
U32(packing, packing_print);
U64(u64, u64_print);
U64(hex, hex_print);
U64(seconds, seconds_print);
U64(nanoseconds, nanoseconds_print);
U64(resolution, resolution_print);
U64(target, target_print);
SHOWN(duration);
SHOWN(date);
SHOWN(clock);
const struct feature_kind feature_version = { version_read, version_write, NULL, NULL };
