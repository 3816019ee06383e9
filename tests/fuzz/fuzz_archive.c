/* SPDX-License-Identifier: MIT */
/*
 * fuzz_archive: any bytes as an archive, unpacked into a folder of its own: files into a cache there, and recordings
 * beside it. The claim: no crash, no sanitizer report, no endless loop, memory and disk bounded; what is counted as
 * taken was reported, and so was what is counted as refused; a recording has a place or was refused, and none is left
 * half made.
 */
#include "buildcache/buildcache.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct told {
	size_t n_taken, n_refused;
};

static void taken(void *context, const char *path, const struct build_id *id, enum cache_kind kind)
{
	struct told *told = context;

	if (!*path || id->size > sizeof(id->bytes) || kind >= N_CACHE_KINDS || strstr(path, "/../"))
		abort();
	told->n_taken++;
}

static void refused(void *context, const char *text)
{
	struct told *told = context;

	if (!*text || strpbrk(text, "\n\033"))
		abort();
	told->n_refused++;
}

static int any_recording(int fd, struct str *err)
{
	(void)fd, (void)err;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

/* In this folder. */
static void unpack(int fd)
{
	struct told told = { 0 };
	struct unpacked_recordings recordings = { .check = any_recording, .done = STR_INIT };
	struct cache_unpack how = {
		.context = &told, .taken = taken, .refused = refused, .recordings = &recordings,
	};
	struct cache_unpack_counts counts;
	struct str err = STR_INIT;

	if (build_cache_open(&how.cache, "cache", CACHE_CREATE, &err) || !how.cache)
		abort();
	if (cache_unpack(fd, &how, &counts, &err) && !err.len)
		abort();
	if (counts.n_files != told.n_taken || counts.n_refused != told.n_refused)
		abort();
	if (recordings.folder.path || (counts.n_recordings && !recordings.done.len && !counts.n_refused))
		abort();
	build_cache_close(how.cache);
	str_release(&recordings.done);
	str_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char folder[] = "/tmp/fuzz-archive-XXXXXX";
	int fd = memfd_create("input", MFD_CLOEXEC), before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || write_all(fd, data, size) || lseek(fd, 0, SEEK_SET) || before < 0 || !mkdtemp(folder) ||
	    chdir(folder))
		abort();
	unpack(fd);
	if (fchdir(before))
		abort();
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	close(before);
	close(fd);
	return 0;
}
