/* SPDX-License-Identifier: MIT */
/*
 * The helper that reads build-ids: questions come by a socket, each is answered before the next is looked at. It may
 * wait for a file system for ever: nobody waits for it (buildid_reader.h).
 *
 * A file is looked for in all places of mapped_file.c. It must be the inode that was mapped: a file that was replaced
 * meanwhile has another build-id. Files below a process's root are its user's work: foreign.h.
 */
#include "elf/elf.h"
#include "record/buildid_reader.h"
#include "record/record.h"
#include "record/synth.h"
#include "sym/sym.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

struct file_opening {
	const struct mapped_file *file;
	int fd; /* -1: not found */
};

/* A process's root comes first in the path, and foreign_open_here doesn't go out of it. */
static bool open_at(void *context, const char *root, const char *path)
{
	struct file_opening *opening = context;
	char *whole = xasprintf("%s%s", root, path);
	struct str ignored = STR_INIT;
	struct stat st;
	int fd = foreign_open_here(whole, &(struct foreign_options){ 0 }, &st, &ignored);

	str_release(&ignored);
	free(whole);
	if (fd >= 0 && !mapped_file_is(opening->file, fd, &st, NULL)) {
		close(fd);
		fd = -1;
	}
	opening->fd = fd >= 0 ? fd : -1;
	return fd >= 0;
}

static bool read_file(const struct kern *kern, const struct buildid_packet *packet, struct buildid_reply *reply,
		      int *held)
{
	const struct buildid_question *question = &packet->question;
	const unsigned places = MAPPED_IN_ROOT | MAPPED_BY_RANGE | MAPPED_IN_ANCESTORS | MAPPED_HERE;
	/* The device is not compared: mappings on btrfs, overlayfs and others name another one than stat(2) does. */
	const struct mapped_file file = {
		.path = packet->path,
		.inode = question->inode,
		.any_device = true,
		.seen = question->seen,
		.n_seen = question->n_seen,
	};
	struct file_opening opening = { &file, -1 };

	if (!mapped_file_look(&file, kern->host.procfs, places, open_at, &opening))
		return false;
	elf_build_id_of_fd(opening.fd, &reply->id);
	if (reply->id.size && question->hold && !foreign_may_wait(opening.fd))
		*held = opening.fd;
	else
		close(opening.fd);
	return true;
}

/* ---- the vDSO: one image for all 64-bit processes, pstat's own among them ---- */

static bool read_vdso(const struct kern *kern, const struct buildid_packet *packet, struct buildid_reply *reply,
		      int *held)
{
	int fd = vdso_file_open();
	bool found = fd >= 0 && elf_build_id_of_fd(fd, &reply->id);

	(void)kern;
	if (found && packet->question.hold)
		*held = fd;
	else if (fd >= 0)
		close(fd);
	return found;
}

/* ---- kernel and modules: notes in sysfs ---- */

bool buildid_of_notes(const char *path, struct build_id *id)
{
	struct str text = STR_INIT;
	bool found = !read_text_file(path, &text) && elf_build_id_of_notes(text.s, text.len, 4, id);

	str_release(&text);
	return found;
}

static bool read_module_notes(const struct kern *kern, const char *module, struct build_id *id)
{
	char *name = module_name_of(module);
	char *path = xasprintf("%s/module/%s/notes/.note.gnu.build-id", kern->host.sysfs, name);
	bool found = buildid_of_notes(path, id);

	free(path);
	free(name);
	return found;
}

static bool read_module(const struct kern *kern, const struct buildid_packet *packet, struct buildid_reply *reply,
			int *held)
{
	(void)held; /* its file is no process's: it is found when it is wanted */
	return read_module_notes(kern, packet->path, &reply->id);
}

struct kernel_listing {
	const struct kern *kern;
	kernel_file_fn *take;
	void *context;
};

static int take_kernel_map(void *data, const struct record_body *body)
{
	const struct kernel_listing *listing = data;
	struct kernel_file file = { .start = body->mmap.start, .end = body->mmap.start + body->mmap.len };
	size_t len = 0;
	char *path;

	if (map_kind_kernel(body->mmap.path, false, &len) == DSO_KERNEL) {
		char *notes = xasprintf("%s/kernel/notes", listing->kern->host.sysfs);

		buildid_of_notes(notes, &file.id);
		free(notes);
	} else {
		read_module_notes(listing->kern, body->mmap.path, &file.id);
	}
	path = xstrndup(body->mmap.path, len);
	file.path = path;
	listing->take(listing->context, &file);
	free(path);
	return 0;
}

void kernel_files_each(const struct kern *kern, kernel_file_fn *take, void *context)
{
	struct kernel_listing listing = { kern, take, context };

	synth_kernel(kern, take_kernel_map, &listing);
}

/* ---- one after the other ---- */

/* One row per kind. Returns whether it was found; *held: a descriptor to hand on. */
static bool (*const readers[])(const struct kern *kern, const struct buildid_packet *packet,
			       struct buildid_reply *reply, int *held) = {
	[BUILDID_OF_FILE] = read_file,
	[BUILDID_OF_MODULE] = read_module,
	[BUILDID_OF_VDSO] = read_vdso,
};

int buildid_answer(void *kern, const struct helper_question *asked, void *answer)
{
	const struct buildid_packet *packet = asked->bytes;
	struct buildid_reply *reply = answer;
	int held = -1;

	reply->number = packet->question.number;
	reply->found = readers[packet->question.kind](kern, packet, reply, &held);
	return held;
}
