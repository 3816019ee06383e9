/*
 * fetcher: what the courier does with a file that it has opened: by the kind of its file system it is handed on, tried
 * first, or copied into memory (courier.h says why). Private to util/.
 */
#ifndef PSTAT_UTIL_FETCHER_H
#define PSTAT_UTIL_FETCHER_H

#include <stdatomic.h>
#include <stdint.h>

struct fetcher;
struct stat;
struct str;

/* progress is counted up with every step that was answered. There is one, for as long as the courier lives. */
struct fetcher *fetcher_new(atomic_uint *progress);
/*
 * Takes fd, a regular file whose status is *st, and returns a descriptor to hand on; or a negative errno with a
 * clause. head_bytes: as in struct foreign_options.
 */
int fetcher_take(struct fetcher *fetcher, int fd, const struct stat *st, uint64_t head_bytes,
		 struct str *err);

#endif
