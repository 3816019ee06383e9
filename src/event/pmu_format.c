/* SPDX-License-Identifier: MIT */
/*
 * pmu_format: named bit fields. A file in a PMU's format/ folder says where a term's value goes:
 *
 *	format/event:  config:0-7,32-35      value bit   0..7  -> config bits 0..7
 *	                                     value bit   8..11 -> config bits 32..35
 *
 * Ranges are filled in the order in which they are written, the value's lowest bits first.
 */
#include "event/pmu.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* The words that a format may name. To add one: a row; the kernel header says where it lies. */
static const struct config_word {
	const char *name;
	size_t offset; /* in struct perf_event_attr; config3 came with PERF_ATTR_SIZE_VER8, config4 with 9 */
} config_words[] = {
	{ "config", offsetof(struct perf_event_attr, config) },
	{ "config1", offsetof(struct perf_event_attr, config1) },
	{ "config2", offsetof(struct perf_event_attr, config2) },
	{ "config3", 128 },
	{ "config4", 136 },
};

static int parse_word(const char **at, uint8_t *word)
{
	size_t len = strcspn(*at, ":");

	for (size_t i = 0; i < ARRAY_SIZE(config_words); i++) {
		if (strlen(config_words[i].name) == len &&
		    strncmp(config_words[i].name, *at, len) == 0 && (*at)[len] == ':') {
			*word = (uint8_t)i;
			*at += len + 1;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_bit(const char **at, uint8_t *bit)
{
	unsigned value = 0;
	const char *s = *at;

	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	for (; isdigit((unsigned char)*s); s++) {
		value = value * 10 + (unsigned)(*s - '0');
		if (value > 63)
			return -EINVAL;
	}
	*bit = (uint8_t)value;
	*at = s;
	return 0;
}

static unsigned total_bits(const struct pmu_format *format)
{
	unsigned bits = 0;

	for (size_t i = 0; i < format->n; i++)
		bits += format->v[i].high - format->v[i].low + 1u;
	return bits;
}

int pmu_format_parse(struct pmu_format *format, const char *text)
{
	const char *at = text;
	uint8_t word = 0;
	bool have_word = false;

	for (;;) {
		struct bit_range range;

		if (isalpha((unsigned char)*at)) {
			if (parse_word(&at, &word))
				return -EINVAL;
			have_word = true;
		}
		range.word = word;
		if (!have_word || parse_bit(&at, &range.low))
			return -EINVAL;
		range.high = range.low;
		if (*at == '-') {
			at++;
			if (parse_bit(&at, &range.high) || range.high < range.low)
				return -EINVAL;
		}
		VEC_GROW(format->v, format->n, format->cap);
		format->v[format->n++] = range;
		if (total_bits(format) > 64)
			return -EINVAL;
		if (!*at)
			return 0;
		if (*at++ != ',')
			return -EINVAL;
	}
}

int pmu_format_read(struct pmu_format *format, const struct pmu *pmu, const char *name)
{
	struct str text = STR_INIT;
	char *path;
	int ret;

	if (!is_plain_file_name(name))
		return -ENOENT;
	path = xasprintf("%s/format/%s", pmu->dir, name);
	ret = read_line_file(path, &text);
	if (ret == 0)
		ret = pmu_format_parse(format, text.s);
	str_release(&text);
	free(path);
	return ret;
}

void pmu_format_release(struct pmu_format *format)
{
	free(format->v);
	*format = (struct pmu_format){ 0 };
}

uint64_t pmu_format_max(const struct pmu_format *format)
{
	unsigned bits = total_bits(format);

	return bits >= 64 ? UINT64_MAX : (1ULL << bits) - 1;
}

const char *pmu_format_lacks(const struct pmu_format *format)
{
	for (size_t i = 0; i < format->n; i++) {
		const struct config_word *word = &config_words[format->v[i].word];

		if (word->offset + sizeof(uint64_t) > sizeof(struct perf_event_attr))
			return word->name;
	}
	return NULL;
}

void pmu_format_set(const struct pmu_format *format, struct perf_event_attr *attr, uint64_t value)
{
	for (size_t i = 0; i < format->n; i++) {
		const struct bit_range *range = &format->v[i];
		char *place = (char *)attr + config_words[range->word].offset;
		unsigned bits = range->high - range->low + 1u;
		uint64_t mask = bits == 64 ? UINT64_MAX : (1ULL << bits) - 1;
		uint64_t word;

		memcpy(&word, place, sizeof(word));
		word = (word & ~(mask << range->low)) | (value & mask) << range->low;
		memcpy(place, &word, sizeof(word));
		value = bits == 64 ? 0 : value >> bits;
	}
}
