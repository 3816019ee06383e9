/*
 * elf_map: the bytes of a file mapped instead of read, for debug sections of hundreds of megabytes of which a few are
 * looked at, and for what sym/ keeps of the kernel's list. What is written to them stays in this process.
 *
 * A map has two dangers, which reading has not. The file may become shorter: see file_map.h. And it may change while
 * its bytes are believed: so only one that nobody but this user and root can write to is mapped.
 */
#include "elf/elf_internal.h"

#include <sys/mman.h>
#include <unistd.h>

static bool is_ours_alone(const struct stat *st)
{
	return S_ISREG(st->st_mode) && (st->st_uid == geteuid() || st->st_uid == 0) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

char *elf_map(int fd, size_t *bytes)
{
	struct stat st;

	if (fstat(fd, &st) || !is_ours_alone(&st) || st.st_size <= 0 || (uint64_t)st.st_size > SIZE_MAX / 2)
		return NULL;
	*bytes = (size_t)st.st_size;
	return file_map(fd, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE);
}

void elf_unmap(char *start, size_t bytes)
{
	file_unmap(start, bytes);
}

void elf_view_forget(const void *from, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)from;
	size_t skip = (page - start % page) % page;

	if (!file_map_has(start) || bytes < skip + page)
		return;
	bytes = (bytes - skip) / page * page;
	madvise((char *)(start + skip), bytes, MADV_DONTNEED);
}
