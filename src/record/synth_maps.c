/*
 * /proc/PID/maps -> MMAP2 records, as the kernel writes them for new mappings:
 *
 *	start-end rwxp offset major:minor inode      name
 *	7fa149253000-7fa1493a9000 r-xp 00026000 fe:00 332835   /usr/lib/libc.so.6
 *
 * A name is taken as it stands, [vdso] and " (deleted)" too; only a newline in it is escaped, as \012.
 * No name: "//anon". What is too long for a path: "//toolong".
 *
 * Source: proc(5), perf_event_open(2) PERF_RECORD_MMAP2.
 */
#include "record/synth.h"

#include <linux/limits.h>
#include <sys/mman.h>

static bool take_char(const char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

static bool take_number(const char **at, unsigned base, uint64_t *value)
{
	const char *start = *at;

	*value = 0;
	for (;; (*at)++) {
		unsigned char c = (unsigned char)**at;
		unsigned digit = c >= '0' && c <= '9' ? c - '0' + 0U :
				 c >= 'a' && c <= 'f' ? c - 'a' + 10U : base;

		if (digit >= base)
			return *at != start;
		if (*value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
}

static bool take_prot(const char **at, struct record_mmap *map)
{
	const char *p = *at;

	if (strnlen(p, 4) < 4)
		return false;
	map->prot = (p[0] == 'r' ? PROT_READ : 0) | (p[1] == 'w' ? PROT_WRITE : 0) |
		    (p[2] == 'x' ? PROT_EXEC : 0);
	map->flags = p[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	*at += 4;
	return true;
}

/* \012 -> newline, in place. A backslash is not escaped, so no other escape can be told from a name. */
static void unescape_newlines(char *name)
{
	char *to = strstr(name, "\\012");

	for (const char *at = to; at; to++) {
		bool newline = !strncmp(at, "\\012", 4);

		*to = newline ? '\n' : *at;
		if (!*to)
			break;
		at += newline ? 4 : 1;
	}
}

static bool parse_line(char *line, struct record_mmap *map)
{
	const char *at = line;
	uint64_t end, major, minor;

	if (!take_number(&at, 16, &map->start) || !take_char(&at, '-') ||
	    !take_number(&at, 16, &end) || end < map->start || !take_char(&at, ' ') ||
	    !take_prot(&at, map) || !take_char(&at, ' ') || !take_number(&at, 16, &map->pgoff) ||
	    !take_char(&at, ' ') || !take_number(&at, 16, &major) || !take_char(&at, ':') ||
	    !take_number(&at, 16, &minor) || !take_char(&at, ' ') ||
	    !take_number(&at, 10, &map->inode))
		return false;
	map->len = end - map->start;
	map->major = (uint32_t)major;
	map->minor = (uint32_t)minor;
	line += at - line;
	line += strspn(line, " ");
	unescape_newlines(line);
	map->path = *line ? line : "//anon";
	if (strlen(map->path) >= PATH_MAX)
		map->path = "//toolong";
	return true;
}

int synth_maps(struct synth *synth, int dir, const char *path, uint32_t pid, bool *seen)
{
	bool data = synth->what & SYNTH_DATA_MMAPS;
	char *line;
	int rc = 0;

	*seen = false;
	if (line_reader_open(&synth->reader, dir, path))
		return 0;
	while (!rc && (line = line_reader_next(&synth->reader)) != NULL) {
		struct record_body body = { .type = RECORD_MMAP2, .misc = MISC_USER };
		struct record_mmap *map = &body.mmap;

		map->pid = map->tid = pid;
		if (!parse_line(line, map))
			continue;
		*seen = true;
		if (!(map->prot & PROT_EXEC)) {
			if (!data || !(map->prot & PROT_READ))
				continue;
			body.misc |= MISC_MMAP_DATA;
		}
		rc = synth->fn(synth->data, &body);
	}
	line_reader_close(&synth->reader);
	return rc;
}
