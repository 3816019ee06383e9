/* SPDX-License-Identifier: MIT */
/*
 * vdso_file: the kernel's code that it maps into each process is in no file. This process has it too: its own
 * copy becomes a file in memory, which all that read files by their path can read.
 *
 * Source: vdso(7), memfd_create(2).
 */
#include "sym/sym_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

enum { VDSO_BYTES_MAX = 1 << 20 };

/* How long it is, by the line of /proc/self/maps that begins where it does. */
static size_t vdso_bytes(unsigned long start)
{
	struct str maps = STR_INIT;
	size_t bytes = 0;

	if (read_text_file("/proc/self/maps", &maps)) {
		str_release(&maps);
		return 0;
	}
	for (char *line = maps.s; line && !bytes; line = strchr(line, '\n')) {
		unsigned long long first, end;

		line += *line == '\n';
		if (sscanf(line, "%llx-%llx", &first, &end) == 2 && first == start && end > first)
			bytes = (size_t)(end - first);
	}
	str_release(&maps);
	return bytes;
}

int vdso_file_open(void)
{
	unsigned long start = getauxval(AT_SYSINFO_EHDR);
	size_t bytes = start ? vdso_bytes(start) : 0;
	const void *image;
	int fd;

	if (!bytes || bytes > VDSO_BYTES_MAX)
		return -1;
	memcpy(&image, &start, sizeof(image));
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd >= 0 && write_all(fd, image, bytes)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

const char *vdso_file_path(void)
{
	static char *path; /* one process has one vdso */
	int fd = path ? -1 : vdso_file_open();

	if (fd >= 0)
		path = xasprintf("/proc/self/fd/%d", fd);
	return path;
}
