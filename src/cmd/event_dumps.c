/* SPDX-License-Identifier: MIT */
/*
 * event_dumps.c: see event_dumps.h. A file is opened for the first sample of its event. Events with one name have one
 * file; a name may be anybody's choice, so what would lead to another folder is replaced.
 */
#include "cmd/event_dumps.h"

#include "cmd/cmd.h"
#include "cmd/message.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct event_dump {
	char *path;
	struct output output;
	int fd;
	uint64_t n_samples;
};

static int write_dump(void *context, struct str *text)
{
	const struct event_dump *dump = context;
	int code = write_all(dump->fd, text->s, text->len);

	str_reset(text);
	return code;
}

static char *path_of(const struct event_dumps *dumps, const struct data_event *event)
{
	struct str path = STR_INIT;
	size_t name;

	str_addf(&path, "%s.", dumps->recording);
	name = path.len;
	data_event_add_name(event, &path);
	for (size_t i = name; i < path.len; i++)
		if (path.s[i] == '/')
			path.s[i] = '_';
	str_add(&path, ".dump");
	return str_detach(&path);
}

static struct event_dump *dump_open(struct event_dumps *dumps, char *path, struct str *err)
{
	struct event_dump *dump = xcalloc(1, sizeof(*dump));
	struct str why = STR_INIT;

	VEC_GROW(dumps->v, dumps->n, dumps->cap);
	dumps->v[dumps->n++] = dump;
	*dump = (struct event_dump){
		.path = path, .output = { .text = STR_INIT, .write = write_dump, .context = dump },
		.fd = destination_open(path, false, &why),
	};
	if (dump->fd < 0)
		fail(err, dump->fd, "%s: %s", path, why.s);
	str_release(&why);
	return dump;
}

struct output *event_dumps_output(void *context, const struct data_event *event, bool is_sample, struct str *err)
{
	struct event_dumps *dumps = context;
	char *path = path_of(dumps, event);
	struct event_dump *dump = NULL;

	for (size_t i = 0; i < dumps->n && !dump; i++)
		if (!strcmp(dumps->v[i]->path, path))
			dump = dumps->v[i];
	if (dump)
		free(path);
	else
		dump = dump_open(dumps, path, err);
	dump->n_samples += is_sample;
	return dump->fd < 0 ? NULL : &dump->output;
}

/* False: its rest could not be written. */
static bool dump_close(struct event_dump *dump)
{
	int code = output_end(&dump->output);

	if (dump->fd < 0)
		return true; /* said when it was to be opened */
	if (close(dump->fd) && !code)
		code = -errno;
	if (code)
		message_error("%s: %s", dump->path, strerror(-code));
	return !code;
}

int event_dumps_end(struct event_dumps *dumps, bool quiet)
{
	struct note_list notes = { 0 };
	int status = 0;

	for (size_t i = 0; i < dumps->n; i++) {
		struct event_dump *dump = dumps->v[i];

		if (!dump_close(dump))
			status = EXIT_PSTAT_FAILED;
		else if (dump->fd >= 0 && !quiet)
			note_add(&notes, false, NULL, "%s: %llu samples", dump->path,
				 (unsigned long long)dump->n_samples);
		str_release(&dump->output.text);
		free(dump->path);
		free(dump);
	}
	message_notes(&notes, 0, false);
	note_list_release(&notes);
	free(dumps->v);
	*dumps = (struct event_dumps){ 0 };
	return status;
}
