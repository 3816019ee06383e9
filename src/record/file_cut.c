/*
 * A round ends when each reader has looked at all its rings since the last one ended. One that had looked shortly
 * before the moment does so again in the next round: hence two.
 */
#include "record/file_cut.h"

enum { ROUNDS = 2, WAITS_MOST_BYTES = 64 << 20 };

void file_cut_init(struct file_cut *cut)
{
	*cut = (struct file_cut){ .later = STR_INIT, .now = STR_INIT };
}

void file_cut_release(struct file_cut *cut)
{
	str_release(&cut->later);
	str_release(&cut->now);
	cut->on = false;
}

void file_cut_begin(struct file_cut *cut, uint64_t until_ns)
{
	if (cut->on)
		return;
	cut->on = true;
	cut->until_ns = until_ns;
	cut->rounds = 0;
	str_reset(&cut->later);
}

const struct str *file_cut_split(struct file_cut *cut, const struct decoder *decoder, const void *records,
				 size_t n)
{
	const char *bytes = records;
	size_t size;

	str_reset(&cut->now);
	for (size_t at = 0; (size = record_whole(bytes + at, n - at)) > 0; at += size) {
		struct record record;
		uint64_t time_ns;

		record_from_bytes(&record, (const uint8_t *)bytes + at, 0, false);
		if (record_time(decoder, &record, &time_ns) && time_ns > cut->until_ns)
			str_addn(&cut->later, bytes + at, size);
		else
			str_addn(&cut->now, bytes + at, size);
	}
	return &cut->now;
}

void file_cut_round(struct file_cut *cut)
{
	cut->rounds += cut->on;
}

bool file_cut_is_due(const struct file_cut *cut)
{
	return cut->on && (cut->rounds >= ROUNDS || cut->later.len > WAITS_MOST_BYTES);
}
