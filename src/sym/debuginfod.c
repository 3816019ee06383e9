/* SPDX-License-Identifier: MIT */
/*
 * debuginfod: files by their build-id from servers, through libdebuginfod, which keeps its own cache. It is
 * loaded when it is first needed; its interface is small enough to be declared here.
 *
 * One client serves all files, so that connections stay open. The time that asking took is summed: when
 * it reaches the limit, the transfer under way is ended and no further one is begun.
 *
 * Source: debuginfod_find_debuginfo(3).
 */
#include "sym/sym_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define LIBDEBUGINFOD "libdebuginfod.so.1"

enum { SECONDS_DEFAULT = 30 };

struct debuginfod_client;
typedef int debuginfod_find(struct debuginfod_client *client, const unsigned char *id, int id_bytes,
			    char **path);
typedef int debuginfod_progress(struct debuginfod_client *client, long done, long all);

static struct debuginfod_library {
	void *handle;
	struct debuginfod_client *(*begin)(void);
	void (*set_progress)(struct debuginfod_client *client, debuginfod_progress *progress);
	void (*set_user_data)(struct debuginfod_client *client, void *data);
	void *(*user_data)(struct debuginfod_client *client);
	debuginfod_find *find_debug, *find_executable;
	struct debuginfod_client *client;
	uint64_t spent_ns; /* for all files */
} library;

static const struct library_symbol symbols[] = {
	{ "debuginfod_begin", offsetof(struct debuginfod_library, begin) },
	{ "debuginfod_set_progressfn", offsetof(struct debuginfod_library, set_progress) },
	{ "debuginfod_set_user_data", offsetof(struct debuginfod_library, set_user_data) },
	{ "debuginfod_get_user_data", offsetof(struct debuginfod_library, user_data) },
	{ "debuginfod_find_debuginfo", offsetof(struct debuginfod_library, find_debug) },
	{ "debuginfod_find_executable", offsetof(struct debuginfod_library, find_executable) },
};

/* One file that is asked for. */
struct debuginfod_request {
	const struct sym_options *options;
	const char *what;
	uint64_t deadline_ns;
};

/* Not 0: the library is to end the transfer. */
static int on_progress(struct debuginfod_client *client, long done, long all)
{
	const struct debuginfod_request *request = library.user_data(client);

	if (request->options->progress)
		request->options->progress(request->options->progress_context, request->what,
					   all > 0 && done <= all ? (double)done / (double)all :
								    -1);
	return now_ns() >= request->deadline_ns;
}

static int library_open(struct str *err)
{
	if (!library.handle)
		library.handle = library_load(LIBDEBUGINFOD, symbols, ARRAY_SIZE(symbols), &library, err);
	if (!library.handle)
		return -ENOSYS;
	if (!library.client)
		library.client = library.begin();
	if (!library.client)
		return fail(err, -ENOMEM, LIBDEBUGINFOD ": it can't be started");
	library.set_progress(library.client, on_progress);
	return 0;
}

int debuginfod_try(struct str *err)
{
	return library_open(err) ? -ENOENT : 0;
}

static int ask(struct debuginfod_request *request, const struct build_id *id, bool debug, char **path,
	       struct str *err)
{
	debuginfod_find *find = debug ? library.find_debug : library.find_executable;
	int fd;

	library.set_user_data(library.client, request);
	fd = find(library.client, id->bytes, id->size, path);
	library.set_user_data(library.client, NULL);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (now_ns() >= request->deadline_ns)
		return fail(err, -ETIME, "debuginfod did not answer in time");
	if (fd == -ENOENT)
		return fail(err, fd, "debuginfod servers don't have it");
	return fail(err, fd, "debuginfod: %s", strerror(-fd));
}

int debuginfod_fetch(const struct sym_options *options, const struct build_id *id, const char *name,
		     bool debug, char **path, struct str *err)
{
	const unsigned seconds =
		options->debuginfod_seconds ? options->debuginfod_seconds : SECONDS_DEFAULT;
	const uint64_t limit_ns = seconds * NS_PER_S, start_ns = now_ns();
	const char *urls = getenv("DEBUGINFOD_URLS");
	char *what;
	int rc;

	*path = NULL;
	if (!id->size)
		return fail(err, -ENOENT, "debuginfod needs a build-id, and none is known");
	if (!urls || !urls[0])
		return fail(err, -ENOENT, "no debuginfod server is named in $DEBUGINFOD_URLS");
	if (library.spent_ns >= limit_ns)
		return fail(err, -ETIME, "the %u s for debuginfod were used up", seconds);
	rc = library_open(err);
	if (rc)
		return rc;
	what = xasprintf("fetching %s %s", debug ? "the debug file of" : "the file", name);
	rc = ask(&(struct debuginfod_request){ .options = options,
				    .what = what,
				    .deadline_ns = start_ns + limit_ns - library.spent_ns },
		 id, debug, path, err);
	library.spent_ns += now_ns() - start_ns;
	free(what);
	if (rc) {
		free(*path);
		*path = NULL;
	}
	return rc;
}
