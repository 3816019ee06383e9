/* SPDX-License-Identifier: MIT */
/*
 * Build-ids of what a recording saw mapped. A file is known by device, inode and path (hard links have
 * the same contents and another name); when it is first seen, it is asked for (buildid_reader.c), and the mapping costs
 * one look-up from then on. Nothing here opens a file or waits for one, but buildid_set_write(), which has a limit.
 *
 *	slots: open addressing, at most half full, by device and inode; files: in the order seen
 *
 * Processes that run code which they made have a map of it, if their run-time compiler writes one (perf-PID.map). The
 * maps are looked for at the end. They have no build-id: what tells one process from all others stands for it.
 *
 * While a file is asked for, other processes that map it are told to the reader, since the first may end before it is
 * looked at. So is its parent, where that becomes known later: each CPU's records come from a ring of its own, and a
 * process may be seen at work before its beginning.
 */
#include "record/buildid_reader.h"
#include "record/record.h"
#include "sym/sym.h"

#include <stdlib.h>
#include <unistd.h>

/* A file that cannot be opened (its process ended) may be seen again in another process. */
enum { OPEN_TRIES = 3 };
/* For how many processes the parent is remembered, and of how many it is waited for. */
enum { PARENTS_KEPT = 4096, ORPHANS_KEPT = 256 };

struct parent { /* the latest process whose pid has this place */
	uint32_t pid, ppid;
};

struct orphan { /* a file that was asked for when the parent of who mapped it was not known */
	size_t file;
	struct mapping_seen seen; /* it, or one that descends from it */
};

struct file_key {
	uint64_t device; /* major << 32 | minor */
	uint64_t inode; /* with device NO_DEVICE: the first bytes of a build-id */
};
#define NO_DEVICE UINT64_MAX

struct buildid_entry {
	struct file_key key;
	char *path; /* as in the record */
	uint16_t cpumode;
	unsigned tries; /* left, while it could not be opened */
	struct buildid_request *request; /* the reader's, while it is asked for; else NULL */
	uint32_t last_pid; /* where it was seen last, while it is asked for */
	struct build_id id;
	int fd; /* the file, open, where files are to be held; -1: not this one */
};

/* Processes whose maps are kept, each of which costs a descriptor. */
enum { MAPS_MAX = 256 };

struct map_entry {
	uint32_t pid;
	char *path; /* as the recording has it */
	struct build_id id; /* size 0: there is no map */
	int fd; /* open for reading; -1: there is no map */
};

struct buildid_set {
	const struct kern *kern;
	struct buildid_entry *files;
	size_t n, cap;
	uint32_t *slots; /* index + 1 into files; 0: empty */
	size_t n_slots;
	struct parent parents[PARENTS_KEPT]; /* by pid modulo their number */
	struct orphan orphans[ORPHANS_KEPT]; /* the latest, in a circle */
	uint32_t orphan_pids[ORPHANS_KEPT]; /* whose parent is not known; 0: there is none */
	size_t next_orphan;
	struct buildid_reader *reader;
	bool hold;
	struct map_entry *maps; /* MAPS_MAX of them; NULL: none so far */
	size_t n_maps;
	struct index maps_by_pid;
};

struct buildid_set *buildid_set_new(const struct kern *kern)
{
	struct buildid_set *set = xcalloc(1, sizeof(*set));

	set->kern = kern;
	set->reader = buildid_reader_new(kern);
	return set;
}

void buildid_set_hold(struct buildid_set *set)
{
	set->hold = true;
}

void buildid_set_prepare(struct buildid_set *set)
{
	buildid_reader_prepare(set->reader);
}

void buildid_set_begin(struct buildid_set *set)
{
	buildid_reader_begin(set->reader);
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

/*
 * The file with this key and path, or NULL. *twin: one with this key and a known build-id, or NULL: of several one
 * that is held open.
 */
static struct buildid_entry *find(const struct buildid_set *set, const struct file_key *key,
				  const char *path, const struct buildid_entry **twin)
{
	*twin = NULL;
	if (!set->n_slots)
		return NULL;
	for (size_t at = first_slot(set, key); set->slots[at]; at = (at + 1) & (set->n_slots - 1)) {
		struct buildid_entry *file = &set->files[set->slots[at] - 1];

		if (!same_key(&file->key, key))
			continue;
		if (!strcmp(file->path, path))
			return file;
		if (file->id.size && (!*twin || (*twin)->fd < 0))
			*twin = file;
	}
	return NULL;
}

static struct buildid_entry *add(struct buildid_set *set, const struct file_key *key, const char *path,
				 uint16_t cpumode)
{
	if ((set->n + 1) * 2 > set->n_slots)
		grow_slots(set);
	VEC_GROW(set->files, set->n, set->cap);
	set->files[set->n] = (struct buildid_entry){ .key = *key, .path = xstrdup(path),
						     .cpumode = cpumode, .tries = OPEN_TRIES, .fd = -1 };
	put_slot(set, set->n);
	return &set->files[set->n++];
}

/* ---- questions ---- */

/* Takes what was answered meanwhile. */
static void take_answers(struct buildid_set *set)
{
	struct buildid_request *next, *request = buildid_reader_answered(set->reader);

	for (; request; request = next) {
		struct buildid_entry *file = &set->files[request->file];

		next = request->next;
		file->id = request->id;
		file->fd = request->fd;
		file->tries = request->tries;
		file->request = NULL;
		free(request);
	}
}

void buildid_set_free(struct buildid_set *set)
{
	if (!set)
		return;
	take_answers(set);
	for (size_t i = 0; i < set->n; i++) {
		free(set->files[i].path);
		if (set->files[i].fd >= 0)
			close(set->files[i].fd);
	}
	for (size_t i = 0; i < set->n_maps; i++) {
		free(set->maps[i].path);
		if (set->maps[i].fd >= 0)
			close(set->maps[i].fd);
	}
	index_release(&set->maps_by_pid);
	free(set->maps);
	buildid_reader_free(set->reader);
	free(set->files);
	free(set->slots);
	free(set);
}

static struct buildid_request *request_new(const char *path, enum buildid_kind kind, unsigned tries)
{
	size_t path_bytes = strlen(path) + 1;
	struct buildid_request *request = xcalloc(1, sizeof(*request) + path_bytes);

	request->tries = tries;
	request->fd = -1;
	request->question.kind = (uint8_t)kind;
	memcpy(request->path, path, path_bytes);
	return request;
}

static struct buildid_request *request_for(struct buildid_set *set, struct buildid_entry *file,
					   enum buildid_kind kind)
{
	struct buildid_request *request = request_new(file->path, kind, file->tries);

	request->file = (size_t)(file - set->files);
	request->device = file->key.device;
	request->question.hold = set->hold;
	file->request = request;
	return request;
}

/* From whom it descends, as far as that is known. The pid whose parent is not; 0: more need not be known. */
static uint32_t add_ancestors(const struct buildid_set *set, struct mapping_seen *seen)
{
	uint32_t pid = seen->pid;

	for (unsigned i = 0; i < MAPPED_ANCESTORS_MAX; i++) {
		const struct parent *parent = &set->parents[pid % PARENTS_KEPT];

		if (!parent->ppid || parent->pid != pid)
			return pid;
		seen->ancestors[i] = pid = parent->ppid;
	}
	return 0;
}

static void ask(struct buildid_set *set, struct buildid_entry *file, struct mapping_seen *seen, uint64_t inode)
{
	size_t at = set->next_orphan % ORPHANS_KEPT;
	uint32_t pid = add_ancestors(set, seen);

	if (pid) {
		set->orphan_pids[at] = pid;
		set->orphans[at] = (struct orphan){ (size_t)(file - set->files), *seen };
		set->next_orphan++;
	}
	if (file->request) {
		buildid_reader_see(set->reader, file->request, seen);
		return;
	}
	request_for(set, file, BUILDID_OF_FILE);
	file->request->question.inode = inode;
	file->request->question.seen[0] = *seen;
	file->request->question.n_seen = 1;
	buildid_reader_ask(set->reader, file->request);
}

/* Asks for a file that was mapped: new, once more while it is asked for, or after it was not found. */
static void ask_for_file(struct buildid_set *set, struct buildid_entry *file, const struct record_mmap *map)
{
	struct mapping_seen seen = { .pid = map->pid, .start = map->start, .end = map->start + map->len };

	if (file->request)
		take_answers(set);
	if (!file->tries || (file->request && file->last_pid == map->pid))
		return;
	file->last_pid = map->pid;
	ask(set, file, &seen, map->inode);
}

/* Asks once more for an orphan, as its parent is known now, unless it was found meanwhile. */
static void ask_again(struct buildid_set *set, struct orphan orphan)
{
	struct buildid_entry *file = &set->files[orphan.file];

	if (file->request)
		take_answers(set);
	if (!file->tries)
		return;
	/* The try without its parent was none. */
	file->tries = OPEN_TRIES;
	ask(set, file, &orphan.seen, file->key.inode);
}

/* The parent of a process is known. It may have mapped several files, its program and libraries. */
static void take_parent(struct buildid_set *set, uint32_t pid, uint32_t ppid)
{
	set->parents[pid % PARENTS_KEPT] = (struct parent){ pid, ppid };
	for (size_t i = 0; pid && ppid && i < ORPHANS_KEPT; i++) {
		if (set->orphan_pids[i] != pid)
			continue;
		set->orphan_pids[i] = 0;
		ask_again(set, set->orphans[i]);
	}
}

/* ---- mappings ---- */

/* The kernel's own mapping record has the build-id: the device and inode are not known then. */
static void take_given(struct buildid_set *set, const struct record_body *body)
{
	const struct record_mmap *map = &body->mmap;
	struct file_key key = { .device = NO_DEVICE };
	const struct buildid_entry *twin;
	struct buildid_entry *file;

	memcpy(&key.inode, map->build_id, sizeof(key.inode));
	if (find(set, &key, map->path, &twin))
		return;
	file = add(set, &key, map->path, body->misc & MISC_CPUMODE_MASK);
	file->tries = 0;
	file->id.size = map->build_id_size < sizeof(file->id.bytes) ?
			map->build_id_size : (uint8_t)sizeof(file->id.bytes);
	memcpy(file->id.bytes, map->build_id, file->id.size);
}

static void take_file(struct buildid_set *set, const struct record_mmap *map)
{
	struct file_key key = { (uint64_t)map->major << 32 | map->minor, map->inode };
	const struct buildid_entry *twin;
	struct buildid_entry *file = find(set, &key, map->path, &twin);

	if (!file) {
		/* Adding moves the files: the twin's build-id is taken first. */
		struct build_id known = twin ? twin->id : (struct build_id){ 0 };

		file = add(set, &key, map->path, MISC_USER);
		file->id = known;
		file->tries = known.size ? 0 : OPEN_TRIES;
	}
	if (file->tries)
		ask_for_file(set, file, map);
}

/* A module or the vDSO: it has a name, and no process is asked for it. */
static void take_named(struct buildid_set *set, const char *name, enum buildid_kind kind, uint16_t cpumode)
{
	struct file_key key = { 0 };
	const struct buildid_entry *twin;
	struct buildid_entry *file;

	if (find(set, &key, name, &twin))
		return;
	file = add(set, &key, name, cpumode);
	file->tries = 1;
	buildid_reader_ask(set->reader, request_for(set, file, kind));
}

/* ---- maps of code that processes made ---- */

/* The place of a process's map; n_maps: it has none. */
static size_t find_map(const struct buildid_set *set, uint32_t pid)
{
	uint32_t i;

	return INDEX_FIND(&set->maps_by_pid, hash_word(pid), i, set->maps[i].pid == pid) ? i : set->n_maps;
}

static void take_code(struct buildid_set *set, uint32_t pid)
{
	if (!set->hold || set->n_maps == MAPS_MAX || find_map(set, pid) < set->n_maps)
		return;
	if (!set->maps)
		set->maps = xcalloc(MAPS_MAX, sizeof(*set->maps));
	index_add(&set->maps_by_pid, hash_word(pid), (uint32_t)set->n_maps);
	set->maps[set->n_maps++] = (struct map_entry){ .pid = pid, .path = kept_map_path((int32_t)pid), .fd = -1 };
}

/*
 * Bytes that no other process has, on any machine, and that are the same in each recording of it. One that has ended is
 * known by when its map was last written.
 */
static struct build_id process_identity(const char *boot, uint32_t pid, const struct code_map *map)
{
	struct build_id id = { .size = sizeof(id.bytes) };
	struct str text = STR_INIT;
	uint64_t words[3];

	str_addf(&text, "%s %u %llu %lld", boot, pid, (unsigned long long)map->start_ticks,
		 map->start_ticks ? 0LL : (long long)timespec_ns(&map->stat.st_mtim));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		words[i] = checksum_bytes(text.s, text.len);
		str_addc(&text, '+');
	}
	memcpy(id.bytes, words, sizeof(id.bytes));
	str_release(&text);
	return id;
}

/* Looks for the maps, again for each of several files: a process may have ended, or has written more. */
static void open_maps(struct buildid_set *set, const struct info *info)
{
	const struct sym_options options = { .procfs = set->kern->host.procfs };
	const struct recording_info recording = { .info = info };
	char *path = xasprintf("%s/sys/kernel/random/boot_id", set->kern->host.procfs);
	struct symbols *symbols = symbols_new(&options, &recording);
	struct str boot = STR_INIT, ignored = STR_INIT;

	read_line_file(path, &boot);
	for (size_t i = 0; i < set->n_maps; i++) {
		struct map_entry *entry = &set->maps[i];
		struct code_map map;
		int fd = symbols_open_map(symbols, (int32_t)entry->pid, &map, &ignored);

		str_reset(&ignored);
		if (fd < 0) /* what was open before is as good */
			continue;
		if (entry->fd >= 0)
			close(entry->fd);
		entry->fd = fd;
		if (!entry->id.size) /* else files that are finished have it */
			entry->id = process_identity(boot.s, entry->pid, &map);
	}
	str_release(&ignored);
	str_release(&boot);
	symbols_free(symbols);
	free(path);
}

/* ---- in and out ---- */

static void take_kernel_map(struct buildid_set *set, const struct record_mmap *map)
{
	static const char kernel[] = "[kernel.kallsyms]";

	/* The kernel itself is always written. */
	if (strncmp(map->path, kernel, strlen(kernel)))
		take_named(set, map->path, BUILDID_OF_MODULE, MISC_KERNEL);
}

void buildid_set_take(struct buildid_set *set, const struct record_body *body)
{
	const struct record_mmap *map = &body->mmap;
	unsigned cpumode = body->misc & MISC_CPUMODE_MASK;

	if (body->type == RECORD_FORK && body->task.pid != body->task.ppid)
		take_parent(set, body->task.pid, body->task.ppid);
	if ((body->type != RECORD_MMAP && body->type != RECORD_MMAP2) ||
	    (body->misc & MISC_MMAP_DATA))
		return;
	if (body->type == RECORD_MMAP2 && (body->misc & MISC_MMAP_BUILD_ID))
		take_given(set, body);
	else if (cpumode == MISC_KERNEL)
		take_kernel_map(set, map);
	else if (cpumode != MISC_USER || body->type == RECORD_MMAP)
		return;
	else if (map_kind_user(map->path, true, map->flags) == DSO_ANON)
		take_code(set, map->pid);
	else if (!strcmp(map->path, "[vdso]"))
		take_named(set, map->path, BUILDID_OF_VDSO, MISC_USER);
	else if (map->path[0] == '/' && map->path[1] != '/' && map->inode)
		take_file(set, map);
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
	enum { NAMED_MAX = 3 };
	struct str names = STR_INIT;
	size_t n = 0;
	int failure = buildid_reader_failure(set->reader);

	for (size_t i = 0; i < set->n; i++) {
		const struct buildid_entry *file = &set->files[i];

		if (!file->request || n++ >= NAMED_MAX)
			continue;
		str_add(&names, n > 1 ? ", " : "");
		str_add_printable(&names, file->path, strlen(file->path));
	}
	if (failure)
		note_add(notes, false, NULL, "build-ids are missing: no process to read them could be started: %s",
			 strerror(-failure));
	else if (n)
		note_add(notes, false, NULL,
			 "the build-id%s of %zu file%s missing: %s file system did not answer: %s%s",
			 n > 1 ? "s" : "", n, n > 1 ? "s are" : " is", n > 1 ? "their" : "its", names.s,
			 n > NAMED_MAX ? ", ..." : "");
	str_release(&names);
}

/* Itself, or the same file under another path, if more is known of that. */
static const struct buildid_entry *known_of(const struct buildid_set *set, const struct buildid_entry *file)
{
	const struct buildid_entry *twin;

	if ((file->id.size && file->fd >= 0) || !file->key.inode)
		return file;
	find(set, &file->key, file->path, &twin);
	return twin && (!file->id.size || twin->fd >= 0) ? twin : file;
}

void buildid_set_write(struct buildid_set *set, struct info *info)
{
	char *notes = xasprintf("%s/kernel/notes", set->kern->host.sysfs);
	struct build_id kernel = { 0 };

	buildid_reader_wait(set->reader);
	take_answers(set);
	/* The next of several files: all come again. */
	for (size_t i = 0; i < info->build_ids.n; i++)
		free(info->build_ids.v[i].path);
	info->build_ids.n = 0;
	if (buildid_of_notes(notes, &kernel))
		write_id(info, MISC_KERNEL, "[kernel.kallsyms]", &kernel);
	free(notes);
	for (size_t i = 0; i < set->n; i++) {
		const struct build_id *id = &known_of(set, &set->files[i])->id;

		if (id->size)
			write_id(info, set->files[i].cpumode, set->files[i].path, id);
	}
	if (set->n_maps)
		open_maps(set, info);
	for (size_t i = 0; i < set->n_maps; i++)
		if (set->maps[i].fd >= 0)
			write_id(info, MISC_USER, set->maps[i].path, &set->maps[i].id);
}

/* ---- the files, for those who keep copies of them ---- */

size_t buildid_set_files(const struct buildid_set *set)
{
	return set->n + set->n_maps;
}

void buildid_set_file(const struct buildid_set *set, size_t i, struct buildid_file *to)
{
	const struct buildid_entry *file, *known;

	if (i >= set->n) {
		const struct map_entry *map = &set->maps[i - set->n];

		*to = (struct buildid_file){ .path = map->path, .is_map = true, .cpumode = MISC_USER, .id = map->id,
					     .fd = map->fd, .pid = map->pid };
		return;
	}
	file = &set->files[i];
	known = known_of(set, file);
	*to = (struct buildid_file){ .path = file->path, .cpumode = file->cpumode, .id = known->id,
				     .fd = known->fd, .pid = file->last_pid };
}

size_t buildid_set_find(const struct buildid_set *set, const struct dso *dso)
{
	struct file_key key = { (uint64_t)dso->major << 32 | dso->minor, dso->inode };
	const struct buildid_entry *file, *twin;

	if (dso->kind == DSO_ANON)
		return set->n + find_map(set, (uint32_t)dso->pid);
	if (!dso->inode && dso->build_id.size && !dso->build_id_listed) {
		key.device = NO_DEVICE;
		memcpy(&key.inode, dso->build_id.bytes, sizeof(key.inode));
	}
	file = find(set, &key, dso->path, &twin);
	return file ? (size_t)(file - set->files) : buildid_set_files(set);
}
