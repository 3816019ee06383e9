/*
 * Build-ids of what a recording saw mapped. A file is known by device, inode and path (hard links have
 * the same contents and another name); its build-id is read when it is first seen, while its process
 * still has it, and the mapping costs one look-up from then on.
 *
 *	slots: open addressing, at most half full, by device and inode; files: in the order seen
 *
 * Where a file is looked for (places[]): below the process's own root, since it may run in a container;
 * by the mapping itself, where the file was deleted; below the root of the processes that it descends from,
 * and in pstat's root, where it has ended. It must be the inode that was mapped: a file that was replaced
 * meanwhile has another build-id. What lies below a process's root is its user's work: foreign.h.
 */
#include "elf/elf.h"
#include "record/line_reader.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that cannot be opened (its process ended) may be seen again in another process. */
enum { OPEN_TRIES = 3 };
/* Where notes are: program headers name them, near the beginning. */
enum { HEAD_BYTES = 1 << 20 };
/* How far back a process's parents are asked, and for how many processes the parent is remembered. */
enum { ANCESTORS_MAX = 4, PARENTS_KEPT = 4096 };

struct parent { /* the latest process whose pid has this place */
	uint32_t pid, ppid;
};

struct file_key {
	uint64_t device; /* major << 32 | minor */
	uint64_t inode; /* with device NO_DEVICE: the first bytes of a build-id */
};
#define NO_DEVICE UINT64_MAX

struct mapped_file {
	struct file_key key;
	char *path; /* as in the record */
	uint16_t cpumode;
	uint8_t tries; /* left, while it could not be opened */
	struct build_id id;
};

struct buildid_set {
	const struct kern *kern;
	struct mapped_file *files;
	size_t n, cap;
	uint32_t *slots; /* index + 1 into files; 0: empty */
	size_t n_slots;
	struct parent parents[PARENTS_KEPT]; /* by pid modulo their number */
	size_t n_silent; /* files whose file system did not answer */
	char *silent; /* the first of them, printable; heap */
};

struct buildid_set *buildid_set_new(const struct kern *kern)
{
	struct buildid_set *set = xcalloc(1, sizeof(*set));

	set->kern = kern;
	return set;
}

void buildid_set_free(struct buildid_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->n; i++)
		free(set->files[i].path);
	free(set->files);
	free(set->slots);
	free(set->silent);
	free(set);
}

/* ---- the hash ---- */

static size_t first_slot(const struct buildid_set *set, const struct file_key *key)
{
	uint64_t h = (key->inode ^ key->device * 0x9e3779b97f4a7c15ULL) * 0x9e3779b97f4a7c15ULL;

	return (size_t)(h >> 32) & (set->n_slots - 1);
}

static bool same_key(const struct file_key *a, const struct file_key *b)
{
	return a->device == b->device && a->inode == b->inode;
}

static void put_slot(struct buildid_set *set, size_t index)
{
	size_t at = first_slot(set, &set->files[index].key);

	while (set->slots[at])
		at = (at + 1) & (set->n_slots - 1);
	set->slots[at] = (uint32_t)index + 1;
}

static void grow_slots(struct buildid_set *set)
{
	free(set->slots);
	set->n_slots = set->n_slots ? set->n_slots * 2 : 256;
	set->slots = xcalloc(set->n_slots, sizeof(*set->slots));
	for (size_t i = 0; i < set->n; i++)
		put_slot(set, i);
}

/* The file with this key and path, or NULL. *twin: one with this key and a known build-id, or NULL. */
static struct mapped_file *find(const struct buildid_set *set, const struct file_key *key,
				const char *path, const struct mapped_file **twin)
{
	*twin = NULL;
	if (!set->n_slots)
		return NULL;
	for (size_t at = first_slot(set, key); set->slots[at]; at = (at + 1) & (set->n_slots - 1)) {
		struct mapped_file *file = &set->files[set->slots[at] - 1];

		if (!same_key(&file->key, key))
			continue;
		if (!strcmp(file->path, path))
			return file;
		if (file->id.size)
			*twin = file;
	}
	return NULL;
}

static struct mapped_file *add(struct buildid_set *set, const struct file_key *key, const char *path,
			       uint16_t cpumode)
{
	if ((set->n + 1) * 2 > set->n_slots)
		grow_slots(set);
	VEC_GROW(set->files, set->n, set->cap);
	set->files[set->n] = (struct mapped_file){ .key = *key, .path = xstrdup(path),
						   .cpumode = cpumode, .tries = OPEN_TRIES };
	put_slot(set, set->n);
	return &set->files[set->n++];
}

/* ---- files ---- */

/*
 * A descriptor, or a negative errno. The device is not compared: mappings on btrfs and overlayfs name another one than
 * stat(2) does. Takes the path.
 */
static int open_that_file(char *path, const struct record_mmap *map)
{
	const struct foreign_options options = { .head_bytes = HEAD_BYTES };
	struct str ignored = STR_INIT;
	struct stat st;
	int fd = foreign_open(path, &options, &st, &ignored);

	str_release(&ignored);
	free(path);
	if (fd < 0 || st.st_ino == map->inode)
		return fd;
	close(fd);
	return -ESTALE;
}

static int open_below_root_of(const struct buildid_set *set, uint32_t pid,
			      const struct record_mmap *map)
{
	/* The path then begins with a process's root, out of which foreign_open doesn't go. */
	return open_that_file(xasprintf("%s/%u/root%s", set->kern->host.procfs, pid, map->path),
			      map);
}

static int open_below_its_root(const struct buildid_set *set, const struct record_mmap *map)
{
	return open_below_root_of(set, map->pid, map);
}

static int open_by_its_mapping(const struct buildid_set *set, const struct record_mmap *map)
{
	return open_that_file(xasprintf("%s/%u/map_files/%llx-%llx", set->kern->host.procfs,
					map->pid, (unsigned long long)map->start,
					(unsigned long long)(map->start + map->len)),
			      map);
}

static int open_below_parents_root(const struct buildid_set *set, const struct record_mmap *map)
{
	uint32_t pid = map->pid;
	int fd = -ENOENT;

	for (unsigned i = 0; fd < 0 && fd != -ETIMEDOUT && i < ANCESTORS_MAX; i++) {
		const struct parent *parent = &set->parents[pid % PARENTS_KEPT];

		if (!parent->ppid || parent->pid != pid)
			break;
		pid = parent->ppid;
		fd = open_below_root_of(set, pid, map);
	}
	return fd;
}

static int open_below_own_root(const struct buildid_set *set, const struct record_mmap *map)
{
	(void)set;
	return open_that_file(xstrdup(map->path), map);
}

/* To add a place: a function that opens the file there, in the order of trust; a case in test_buildid.c. */
static int (*const places[])(const struct buildid_set *set, const struct record_mmap *map) = {
	open_below_its_root,
	open_by_its_mapping,
	open_below_parents_root,
	open_below_own_root,
};

static int open_file(const struct buildid_set *set, const struct record_mmap *map)
{
	int fd = -ENOENT;

	/* What does not answer in one place is the same file in the next. */
	for (size_t i = 0; fd < 0 && fd != -ETIMEDOUT && i < ARRAY_SIZE(places); i++)
		fd = places[i](set, map);
	return fd;
}

static void count_silent(struct buildid_set *set, const struct mapped_file *file)
{
	struct str path = STR_INIT;

	if (!set->n_silent++) {
		str_add_printable(&path, file->path, strlen(file->path));
		set->silent = str_detach(&path);
	}
}

static void read_file(struct buildid_set *set, struct mapped_file *file,
		      const struct record_mmap *map)
{
	int fd = open_file(set, map);

	if (fd == -ETIMEDOUT) {
		file->tries = 0;
		count_silent(set, file);
		return;
	}
	if (fd < 0) {
		file->tries--;
		return;
	}
	file->tries = 0;
	elf_build_id_of_fd(fd, &file->id);
	close(fd);
}

/* The kernel's own mapping record has the build-id: the device and inode are not known then. */
static void take_given(struct buildid_set *set, const struct record_body *body)
{
	const struct record_mmap *map = &body->mmap;
	struct file_key key = { .device = NO_DEVICE };
	const struct mapped_file *twin;
	struct mapped_file *file;

	memcpy(&key.inode, map->build_id, sizeof(key.inode));
	if (find(set, &key, map->path, &twin))
		return;
	file = add(set, &key, map->path, body->misc & MISC_CPUMODE_MASK);
	file->tries = 0;
	file->id.size = map->build_id_size < sizeof(file->id.bytes) ?
			map->build_id_size : (uint8_t)sizeof(file->id.bytes);
	memcpy(file->id.bytes, map->build_id, file->id.size);
}

static void take_file(struct buildid_set *set, const struct record_body *body)
{
	const struct record_mmap *map = &body->mmap;
	struct file_key key = { (uint64_t)map->major << 32 | map->minor, map->inode };
	const struct mapped_file *twin;
	struct mapped_file *file = find(set, &key, map->path, &twin);

	if (!file) {
		/* Adding moves the files: the twin's build-id is taken first. */
		struct build_id known = twin ? twin->id : (struct build_id){ 0 };

		file = add(set, &key, map->path, MISC_USER);
		file->id = known;
		file->tries = known.size ? 0 : OPEN_TRIES;
	}
	if (file->tries)
		read_file(set, file, map);
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

static void take_vdso(struct buildid_set *set)
{
	static const char name[] = "[vdso]";
	struct file_key key = { 0 };
	const struct mapped_file *twin;
	uintptr_t start = getauxval(AT_SYSINFO_EHDR);
	struct mapped_file *file;
	size_t bytes;

	if (find(set, &key, name, &twin))
		return;
	file = add(set, &key, name, MISC_USER);
	bytes = start ? vdso_bytes(set->kern, start) : 0;
	if (bytes)
		elf_build_id_of_image((const void *)start, bytes, &file->id);
}

/* ---- kernel and modules: notes in sysfs ---- */

static bool read_notes(const char *path, struct build_id *id)
{
	struct str text = STR_INIT;
	bool found = !read_text_file(path, &text) && elf_build_id_of_notes(text.s, text.len, 4, id);

	str_release(&text);
	return found;
}

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

static void take_module(struct buildid_set *set, const char *module)
{
	struct file_key key = { 0 };
	const struct mapped_file *twin;
	struct mapped_file *file;
	char *name, *path;

	if (find(set, &key, module, &twin))
		return;
	file = add(set, &key, module, MISC_KERNEL);
	name = module_name(module);
	path = xasprintf("%s/module/%s/notes/.note.gnu.build-id", set->kern->host.sysfs, name);
	read_notes(path, &file->id);
	free(path);
	free(name);
}

/* ---- in and out ---- */

static void take_kernel_map(struct buildid_set *set, const struct record_mmap *map)
{
	static const char kernel[] = "[kernel.kallsyms]";

	/* The kernel itself is always written. */
	if (strncmp(map->path, kernel, strlen(kernel)))
		take_module(set, map->path);
}

void buildid_set_take(struct buildid_set *set, const struct record_body *body)
{
	const struct record_mmap *map = &body->mmap;
	unsigned cpumode = body->misc & MISC_CPUMODE_MASK;

	if (body->type == RECORD_FORK && body->task.pid != body->task.ppid)
		set->parents[body->task.pid % PARENTS_KEPT] =
			(struct parent){ body->task.pid, body->task.ppid };
	if ((body->type != RECORD_MMAP && body->type != RECORD_MMAP2) ||
	    (body->misc & MISC_MMAP_DATA))
		return;
	if (body->type == RECORD_MMAP2 && (body->misc & MISC_MMAP_BUILD_ID))
		take_given(set, body);
	else if (cpumode == MISC_KERNEL)
		take_kernel_map(set, map);
	else if (cpumode != MISC_USER || body->type == RECORD_MMAP)
		return;
	else if (!strcmp(map->path, "[vdso]"))
		take_vdso(set);
	else if (map->path[0] == '/' && map->path[1] != '/' && map->inode)
		take_file(set, body);
}

static void write_id(struct info *info, uint16_t cpumode, const char *path, const struct build_id *id)
{
	struct info_build_id *to;

	VEC_GROW(info->build_ids.v, info->build_ids.n, info->build_ids.cap);
	to = &info->build_ids.v[info->build_ids.n++];
	*to = (struct info_build_id){ .pid = -1, .misc = cpumode, .size = id->size,
				      .path = xstrdup(path) };
	memcpy(to->bytes, id->bytes, sizeof(to->bytes));
	info_set(info, FEATURE_BUILD_ID);
}

void buildid_set_note(const struct buildid_set *set, struct note_list *notes)
{
	if (set->n_silent == 1)
		note_add(notes, false, NULL, "no build-id of %s: its file system does not answer",
			 set->silent);
	else if (set->n_silent)
		note_add(notes, false, NULL,
			 "no build-ids of %s and %zu others: their file systems do not answer",
			 set->silent, set->n_silent - 1);
}

void buildid_set_write(struct buildid_set *set, struct info *info)
{
	char *notes = xasprintf("%s/kernel/notes", set->kern->host.sysfs);
	struct build_id kernel = { 0 };

	/* The next of several files: all come again. */
	for (size_t i = 0; i < info->build_ids.n; i++)
		free(info->build_ids.v[i].path);
	info->build_ids.n = 0;
	if (read_notes(notes, &kernel))
		write_id(info, MISC_KERNEL, "[kernel.kallsyms]", &kernel);
	free(notes);
	for (size_t i = 0; i < set->n; i++) {
		if (set->files[i].id.size)
			write_id(info, set->files[i].cpumode, set->files[i].path, &set->files[i].id);
	}
}
