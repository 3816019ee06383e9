/*
 * fuzz_archive: any bytes as an archive, unpacked into a cache of its own. The claim: no crash, no sanitizer report, no
 * endless loop, memory and disk bounded; what is counted as taken was told, and so was what is counted as refused. All
 * that is taken is within the folder: a cache can be walked through afterwards, and its entries have the build-ids
 * that they are called by.
 */
#include "buildcache/buildcache.h"

#include <errno.h>
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

/* Nothing is written: each recording is refused. */
static int no_recording(int fd, struct str *err)
{
	(void)fd;
	return fail(err, -EINVAL, "no recording");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void unpack(int fd, const char *folder)
{
	struct told told = { 0 };
	struct unpacked_recordings recordings = { .check = no_recording, .done = STR_INIT };
	struct cache_unpack how = {
		.context = &told, .taken = taken, .refused = refused, .recordings = &recordings,
	};
	struct cache_unpack_counts counts;
	struct str err = STR_INIT;

	if (build_cache_open(&how.cache, folder, CACHE_CREATE, &err) || !how.cache)
		abort();
	if (cache_unpack(fd, &how, &counts, &err) && !err.len)
		abort();
	if (counts.n_files != told.n_taken || counts.n_refused != told.n_refused)
		abort();
	build_cache_close(how.cache);
	str_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char folder[] = "/tmp/fuzz-archive-XXXXXX";
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || write_all(fd, data, size) || lseek(fd, 0, SEEK_SET) || !mkdtemp(folder))
		abort();
	unpack(fd, folder);
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	close(fd);
	return 0;
}
