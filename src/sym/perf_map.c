/* SPDX-License-Identifier: MIT */
/*
 * perf_map: /tmp/perf-PID.map, which run-time compilers write so that profilers can name their code:
 *
 *	7f3c5c000a40 1c0 LazyCompile:~main /srv/app.js:12
 *	START        SIZE name up to the end of the line
 *
 * Compilers write any blanks in front of and between the three, "0x", and capitals.
 *
 * Anyone may put such a file into /tmp: see code_file.h. A line that is none is counted and left out; compilers
 * append, so a later line lies over earlier ones.
 */
#include "sym/code_ranges.h"
#include "sym/text_lines.h"

static const char *past_0x(const char *at)
{
	return at[0] == '0' && (at[1] | 0x20) == 'x' ? at + 2 : at;
}

static const char *past_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* A number and the blanks behind it; false: there is none, or something else follows. */
static bool take_number(const char **at, uint64_t *value)
{
	const char *end = past_0x(*at);

	if (!text_hex(&end, value) || (*end != ' ' && *end != '\t'))
		return false;
	*at = past_blanks(end);
	return true;
}

static bool take_line(struct code_ranges *ranges, const char *line, size_t len)
{
	const char *at = past_blanks(line);
	uint64_t start, size;

	if (!take_number(&at, &start) || !take_number(&at, &size))
		return false;
	if (len && line[len - 1] == '\r')
		len--;
	return at < line + len &&
	       code_ranges_add(ranges, start, size, at, (size_t)(line + len - at));
}

int perf_map_read(const char *path, struct code_rules *rules, struct symbol_table *table,
		  uint64_t *bad_lines, struct str *err)
{
	struct code_ranges ranges = CODE_RANGES_INIT;
	struct text_lines lines;
	struct stat st;
	const char *line;
	size_t len;
	int rc = code_file_open(path, rules, rules->work_left + 1, &st, err);

	*bad_lines = 0;
	if (rc < 0)
		return rc;
	ranges.work_left = rules->work_left;
	text_lines_init(&lines, rc);
	lines.left = (uint64_t)st.st_size; /* what is written from now on might have no end */
	while ((line = text_lines_next(&lines, &len))) {
		if (!code_ranges_spend(&ranges, len)) {
			fail(err, 0, "%s: it has too many names: those from line %llu on are left out",
			     path, (unsigned long long)(ranges.n + *bad_lines + 1));
			break;
		}
		*bad_lines += len && !take_line(&ranges, line, len);
	}
	*bad_lines += lines.too_long;
	rc = lines.error;
	rules->work_left = ranges.work_left;
	text_lines_release(&lines);
	code_ranges_flatten(&ranges, table);
	code_ranges_release(&ranges);
	return rc ? fail(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}
