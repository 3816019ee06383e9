/*
 * The helper that reads build-ids: questions come by a socket, each is answered before the next is looked at. It may
 * wait for a file system for ever: nobody waits for it (buildid_reader.h).
 *
 * Where a file is looked for (places[]): below the root of a process that has it mapped, since it may run in a
 * container; by the mapping itself, where the file was deleted; below the root of the processes that it descends
 * from, and in pstat's root, where it has ended. It must be the inode that was mapped: a file that was replaced
 * meanwhile has another build-id. What lies below a process's root is its user's work: foreign.h.
 */
#include "elf/elf.h"
#include "record/buildid_reader.h"
#include "record/line_reader.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
	const struct kern *kern;
	const char *path;
	uint64_t inode;
	const struct buildid_sighting *seen;
};

/* ---- files ---- */

/*
 * A descriptor, or a negative errno. The device is not compared: mappings on btrfs and overlayfs name another one than
 * stat(2) does. Takes the path.
 */
static int open_that_file(char *path, uint64_t inode)
{
	const struct foreign_options options = { 0 };
	struct str ignored = STR_INIT;
	struct stat st;
	int fd = foreign_open_here(path, &options, &st, &ignored);

	str_release(&ignored);
	free(path);
	if (fd < 0 || st.st_ino == inode)
		return fd;
	close(fd);
	return -ESTALE;
}

static int open_below_root_of(const struct place *place, uint32_t pid)
{
	/* The path then begins with a process's root, out of which foreign_open_here doesn't go. */
	return open_that_file(xasprintf("%s/%u/root%s", place->kern->host.procfs, pid, place->path),
			      place->inode);
}

static int open_below_its_root(const struct place *place)
{
	return open_below_root_of(place, place->seen->pid);
}

static int open_by_its_mapping(const struct place *place)
{
	return open_that_file(xasprintf("%s/%u/map_files/%llx-%llx", place->kern->host.procfs,
					place->seen->pid, (unsigned long long)place->seen->start,
					(unsigned long long)place->seen->end),
			      place->inode);
}

static int open_below_parents_root(const struct place *place)
{
	int fd = -ENOENT;

	for (unsigned i = 0; fd < 0 && i < BUILDID_ANCESTORS_MAX && place->seen->ancestors[i]; i++)
		fd = open_below_root_of(place, place->seen->ancestors[i]);
	return fd;
}

/*
 * Each is asked for all processes before the next is; at last the path itself is, in pstat's root. To add a place: a
 * function that opens the file there, in the order of trust; a case in test_buildid.c.
 */
static int (*const places[])(const struct place *place) = {
	open_below_its_root,
	open_by_its_mapping,
	open_below_parents_root,
};

static bool read_file(const struct kern *kern, const struct buildid_packet *packet, struct buildid_reply *reply,
		      int *held)
{
	const struct buildid_question *question = &packet->question;
	struct place place = { .kern = kern, .path = packet->path, .inode = question->inode };
	int fd = -ENOENT;

	/* The newest is the most likely to live. */
	for (size_t i = 0; fd < 0 && i < ARRAY_SIZE(places); i++) {
		for (unsigned k = question->n_seen; fd < 0 && k-- > 0;) {
			place.seen = &question->seen[k];
			fd = places[i](&place);
		}
	}
	if (fd < 0)
		fd = open_that_file(xstrdup(place.path), place.inode);
	if (fd < 0)
		return false;
	elf_build_id_of_fd(fd, &reply->id);
	if (reply->id.size && question->hold && !foreign_may_wait(fd))
		*held = fd;
	else
		close(fd);
	return true;
}

/* ---- the vDSO: one image for all 64-bit processes, pstat's own among them ---- */

static size_t vdso_bytes(const struct kern *kern, uint64_t start)
{
	struct line_reader *reader = xmalloc(sizeof(*reader));
	char *path = xasprintf("%s/self/maps", kern->host.procfs);
	char *begin = xasprintf("%llx-", (unsigned long long)start), *line;
	uint64_t end = 0;

	if (!line_reader_open(reader, AT_FDCWD, path)) {
		while (!end && (line = line_reader_next(reader)) != NULL) {
			if (strncmp(line, begin, strlen(begin)) || !strstr(line, "[vdso]"))
				continue;
			line[strcspn(line, " ")] = '\0';
			if (parse_u64(line + strlen(begin), 16, &end) || end < start)
				end = 0;
		}
		line_reader_close(reader);
	}
	free(reader);
	free(begin);
	free(path);
	return end ? (size_t)(end - start) : 0;
}

static int copy_in_memory(const void *bytes, size_t n)
{
	int fd = memfd_create("pstat-vdso", MFD_CLOEXEC);

	if (fd >= 0 && write_all(fd, bytes, n)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool read_vdso(const struct kern *kern, const struct buildid_packet *packet, struct buildid_reply *reply,
		      int *held)
{
	uintptr_t start = getauxval(AT_SYSINFO_EHDR);
	size_t bytes = start ? vdso_bytes(kern, start) : 0;

	(void)packet;
	if (!bytes || !elf_build_id_of_image((const void *)start, bytes, &reply->id))
		return false;
	if (packet->question.hold)
		*held = copy_in_memory((const void *)start, bytes);
	return true;
}

/* ---- kernel and modules: notes in sysfs ---- */

/* "/lib/modules/6.1.0/kernel/fs/jbd2-x.ko.xz" or "[jbd2_x]" -> "jbd2_x"; the caller frees. */
static char *module_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path + (*path == '[');
	const char *end = strstr(base, slash ? ".ko" : "]");
	char *name = xstrndup(base, end ? (size_t)(end - base) : strlen(base));

	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : *c;
	return name;
}

bool buildid_of_notes(const char *path, struct build_id *id)
{
	struct str text = STR_INIT;
	bool found = !read_text_file(path, &text) && elf_build_id_of_notes(text.s, text.len, 4, id);

	str_release(&text);
	return found;
}

static bool read_module(const struct kern *kern, const struct buildid_packet *packet, struct buildid_reply *reply,
			int *held)
{
	char *name = module_name(packet->path);
	char *path = xasprintf("%s/module/%s/notes/.note.gnu.build-id", kern->host.sysfs, name);
	bool found = buildid_of_notes(path, &reply->id);

	(void)held; /* its file is no process's: it is found when it is wanted */
	free(path);
	free(name);
	return found;
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
