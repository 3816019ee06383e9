/* SPDX-License-Identifier: MIT */
/*
 * build_id.c: see build_id.h.
 */
#include "util/util.h"

enum { BRIEF_BYTES = 6 };

/* perf's older recordings have 20 bytes in any case, with zeros after a shorter one. */
bool build_id_same(const struct build_id *a, const struct build_id *b)
{
	const struct build_id *longer = a->size > b->size ? a : b;
	uint8_t common = a->size < b->size ? a->size : b->size;

	if (!common || longer->size > sizeof(longer->bytes) || memcmp(a->bytes, b->bytes, common) != 0)
		return false;
	for (uint8_t i = common; i < longer->size; i++)
		if (longer->bytes[i])
			return false;
	return true;
}

static void add_hex(struct str *out, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%02x", bytes[i]);
}

void build_id_text(const struct build_id *id, struct str *out)
{
	add_hex(out, id->bytes, id->size < sizeof(id->bytes) ? id->size : sizeof(id->bytes));
}

void build_id_brief(const struct build_id *id, struct str *out)
{
	if (id->size <= BRIEF_BYTES) {
		build_id_text(id, out);
		return;
	}
	add_hex(out, id->bytes, BRIEF_BYTES);
	str_add(out, "...");
}

char *build_id_path(const char *dir, const struct build_id *id, const char *end)
{
	struct str hex = STR_INIT;
	char *path;

	if (!id->size)
		return NULL;
	build_id_text(id, &hex);
	path = xasprintf("%s/.build-id/%.2s/%s%s", dir, hex.s, hex.s + 2, end);
	str_release(&hex);
	return path;
}
