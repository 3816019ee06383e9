/* SPDX-License-Identifier: MIT */
/*
 * unwind_files.c: a file counts if it is the one that was mapped: by its device and inode, or where the record has a
 * build-id, by that. It is looked for in the places of mapped_file.c, of the first and the last few processes that
 * mapped it, but for the roots of their ancestors.
 *
 * The one that led there stays open, or, where so many are open already, is what the file is opened by again.
 * Entries are found by the dso's number and never go, so that a path that was given out stays.
 *
 * A file that is written to in place keeps its inode, and what it was before is gone: samples from before that are not
 * unwound by it, those after it are. That is seen by its time of writing, whenever a process maps it.
 *
 * A debug file is looked for below /proc/PID/root of the same processes, then here, by build-id and by debug link. That
 * may take long, and is done once: a lock of its own is held meanwhile. Other workers that look for one wait; who wants
 * a file itself, or has seen one, does not.
 */
#include "record/unwind_files.h"

#include "elf/elf.h"
#include "sym/sym.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { HELD_MAX = 1024, HELD_PART = 4, WRITINGS_MAX = 64 };

struct unwind_file {
	enum dso_kind kind;
	char *name; /* the path that was mapped; NULL: never seen */
	uint32_t major, minor;
	uint64_t inode;
	struct build_id build_id;
	struct mapping_seen seen[MAPPED_SEEN_MAX];
	size_t n_kept; /* in seen */
	unsigned n_seen, n_tried; /* sightings so far; so many of them had been looked at when it was tried last */
	char *path; /* to read it by; NULL: not open */
	int fd; /* that path leads to; -1: none */
	struct timespec written; /* when it was opened, or looked at since */
	uint64_t written_ns; /* the same on the clock of samples; 0: before the recording, or not known */
	bool grows; /* a run-time compiler's dump of its code: writing to it is no reason to read others anew */
	/* The same of its debug file, once that was looked for. */
	bool debug_tried;
	char *debug_path;
	int debug_fd;
};

struct unwind_files {
	const char *procfs;
	const char *vdso; /* a path to it, or NULL */
	pthread_mutex_t lock;
	pthread_mutex_t debug_lock; /* who has it looks for a debug file; taken before the other */
	struct unwind_file **v; /* by dso.index; pointers stay */
	size_t n, cap;
	size_t n_held, held_max;
	/* Dumps of code, by the process that mapped them. */
	struct jit_dump_of {
		int32_t pid;
		uint32_t dso;
	} *dumps;
	size_t n_dumps, cap_dumps;
	struct index dumps_by_pid;
	atomic_uint late;
	struct unwind_clock clock;
	/* Times of writings over what was mapped; beyond WRITINGS_MAX none is noted. Added under the lock. */
	_Atomic uint64_t writings[WRITINGS_MAX];
	atomic_size_t n_writings;
};

/* libelf and liblzma are loaded by whoever needs them first: one thread, before there are others. */
static void load_library(void)
{
	struct str why = STR_INIT;
	struct elf_file file;

	if (!elf_file_open(&file, "/proc/self/exe", &why))
		elf_file_close(&file);
	(void)elf_xz_try(&why);
	str_release(&why);
}

struct unwind_files *unwind_files_new(const char *procfs, const struct unwind_clock *clock)
{
	struct unwind_files *files = xcalloc(1, sizeof(*files));
	struct rlimit limit;

	files->procfs = procfs;
	files->clock = *clock;
	files->vdso = vdso_file_path();
	load_library();
	files->held_max = HELD_MAX;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / HELD_PART < HELD_MAX)
		files->held_max = (size_t)limit.rlim_cur / HELD_PART;
	pthread_mutex_init(&files->lock, NULL);
	pthread_mutex_init(&files->debug_lock, NULL);
	return files;
}

void unwind_files_free(struct unwind_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->n; i++) {
		struct unwind_file *entry = files->v[i];

		if (entry->fd >= 0)
			close(entry->fd);
		if (entry->debug_fd >= 0)
			close(entry->debug_fd);
		free(entry->name);
		free(entry->path);
		free(entry->debug_path);
		free(entry);
	}
	free(files->v);
	free(files->dumps);
	index_release(&files->dumps_by_pid);
	pthread_mutex_destroy(&files->lock);
	pthread_mutex_destroy(&files->debug_lock);
	free(files);
}

/* ---- what was mapped ---- */

static struct unwind_file *entry_at(struct unwind_files *files, uint32_t dso)
{
	while (dso >= files->n) {
		VEC_GROW(files->v, files->n, files->cap);
		files->v[files->n] = xcalloc(1, sizeof(*files->v[0]));
		files->v[files->n]->fd = files->v[files->n]->debug_fd = -1;
		files->n++;
	}
	return files->v[dso];
}

static void describe(struct unwind_file *entry, const struct dso *dso)
{
	if (!entry->name)
		entry->name = xstrdup(dso->path);
	entry->kind = dso->kind;
	entry->major = dso->major;
	entry->minor = dso->minor;
	entry->inode = dso->inode;
	entry->build_id = dso->build_id;
}

/* ---- what was written to ---- */

/* The time of a file on the clock of samples; 0: before the recording began. */
static uint64_t sample_time(const struct unwind_files *files, const struct timespec *t)
{
	uint64_t wall_ns = (uint64_t)timespec_ns(t);

	if (!files->clock.wall_ns || wall_ns <= files->clock.wall_ns)
		return 0;
	return wall_ns - files->clock.wall_ns + files->clock.time_ns;
}

/* Under the lock. */
static void note_time(struct unwind_files *files, struct unwind_file *entry, int fd)
{
	size_t n = atomic_load(&files->n_writings);
	struct stat st;

	if (fd < 0 || entry->grows || fstat(fd, &st) ||
	    (st.st_mtim.tv_sec == entry->written.tv_sec && st.st_mtim.tv_nsec == entry->written.tv_nsec))
		return;
	entry->written = st.st_mtim;
	entry->written_ns = sample_time(files, &st.st_mtim);
	if (!entry->written_ns || n == WRITINGS_MAX)
		return;
	atomic_store(&files->writings[n], entry->written_ns);
	atomic_store(&files->n_writings, n + 1);
}

bool unwind_files_changed(struct unwind_files *files, uint32_t dso, const struct timespec *since)
{
	struct timespec now;
	struct unwind_file *entry;

	pthread_mutex_lock(&files->lock);
	entry = files->v[dso];
	note_time(files, entry, entry->fd);
	now = entry->written;
	pthread_mutex_unlock(&files->lock);
	return now.tv_sec != since->tv_sec || now.tv_nsec != since->tv_nsec;
}

unsigned unwind_files_era(const struct unwind_files *files, uint64_t time_ns)
{
	size_t n = atomic_load(&files->n_writings);
	unsigned before = 0;

	for (size_t i = 0; i < n; i++)
		before += atomic_load(&files->writings[i]) <= time_ns;
	return before;
}

/* Under the lock. */
static const char *path_at(const struct unwind_file *entry, uint64_t time_ns, struct timespec *written)
{
	if (written)
		*written = entry->written;
	return time_ns && time_ns < entry->written_ns ? NULL : entry->path;
}

/* NULL: none is known. */
static struct jit_dump_of *dump_of(const struct unwind_files *files, int32_t pid)
{
	uint64_t hash = hash_word((uint32_t)pid);
	uint32_t i;

	return INDEX_FIND(&files->dumps_by_pid, hash, i, files->dumps[i].pid == pid) ? &files->dumps[i] : NULL;
}

/* Under the lock. */
static void note_dump(struct unwind_files *files, int32_t pid, uint32_t dso)
{
	struct jit_dump_of *dump = dump_of(files, pid);

	if (!dump) {
		index_add(&files->dumps_by_pid, hash_word((uint32_t)pid), (uint32_t)files->n_dumps);
		VEC_GROW(files->dumps, files->n_dumps, files->cap_dumps);
		dump = &files->dumps[files->n_dumps++];
	}
	*dump = (struct jit_dump_of){ pid, dso };
}

bool unwind_files_see(struct unwind_files *files, const struct dso *dso, const struct record_mmap *mmap)
{
	struct unwind_file *entry;
	bool wanted = false;

	/* "[vdso]" is no path. */
	if (dso->kind != DSO_FILE && (dso->kind != DSO_VDSO || !files->vdso))
		return false;
	pthread_mutex_lock(&files->lock);
	entry = entry_at(files, dso->index);
	if (!entry->path) {
		describe(entry, dso);
		entry->grows = jit_dump_pid(dso->path) >= 0;
		wanted = true;
	}
	if (entry->grows)
		note_dump(files, (int32_t)mmap->pid, dso->index);
	note_time(files, entry, entry->fd);
	/* Noted of an open file, too: its debug file may be below the root of a process that lives then. */
	entry->n_kept = mapping_seen_add(entry->seen, entry->n_kept,
					 &(struct mapping_seen){ .pid = mmap->pid,
								 .start = mmap->start,
								 .end = mmap->start + mmap->len });
	entry->n_seen++;
	pthread_mutex_unlock(&files->lock);
	return wanted;
}

/* ---- opening ---- */

/* A file that was opened, and the path that led to it. */
struct opened_file {
	int fd; /* -1: none */
	char *path; /* heap */
};

/* entry is a copy. n_new: how many of its sightings are looked at, the newest. */
static struct mapped_file mapped_file_of(const struct unwind_file *entry, unsigned n_new)
{
	size_t n = n_new < entry->n_kept ? n_new : entry->n_kept;

	return (struct mapped_file){ .path = entry->name,
				     .build_id = entry->build_id,
				     .major = entry->major,
				     .minor = entry->minor,
				     .inode = entry->inode,
				     .seen = entry->seen + (entry->n_kept - n),
				     .n_seen = n };
}

struct file_search {
	const struct mapped_file *file;
	struct opened_file found;
};

static bool open_at(void *context, const char *root, const char *path)
{
	struct file_search *search = context;
	const struct mapped_file *file = search->file;
	char *whole = xasprintf("%s%s", root, path);
	struct str why = STR_INIT;
	struct build_id id;
	struct stat st;
	int fd = foreign_open(whole, NULL, &st, &why);
	bool has_id = fd >= 0 && file->build_id.size && elf_build_id_of_fd(fd, &id);

	str_release(&why);
	/* A file of which neither build-id nor inode was recorded is taken for what its path says. */
	if (fd >= 0 && ((!file->build_id.size && !file->inode) || mapped_file_is(file, fd, &st, has_id ? &id : NULL))) {
		search->found = (struct opened_file){ fd, whole };
		return true;
	}
	if (fd >= 0)
		close(fd);
	free(whole);
	return false;
}

/* entry is a copy, whose sightings from n_tried on are new. */
static struct opened_file find_anywhere(const struct unwind_files *files, const struct unwind_file *entry)
{
	const struct mapped_file file = mapped_file_of(entry, entry->n_seen - entry->n_tried);
	struct file_search search = { &file, { .fd = -1 } };

	mapped_file_look(&file, files->procfs, MAPPED_IN_ROOT | MAPPED_BY_RANGE | MAPPED_HERE, open_at, &search);
	return search.found;
}

/*
 * Under the lock: what was opened stays open, if there is room for one more and proc has a name for it. Takes all of
 * found over.
 */
static char *hold(struct unwind_files *files, struct opened_file *found, int *fd)
{
	if (found->fd < 0 || files->n_held >= files->held_max || access("/proc/self/fd", F_OK)) {
		if (found->fd >= 0)
			close(found->fd);
		return found->path;
	}
	files->n_held++;
	free(found->path);
	*fd = found->fd;
	return xasprintf("/proc/self/fd/%d", *fd);
}

/* Under the lock: what was opened without it. Two may have opened the same. */
static void keep(struct unwind_files *files, struct unwind_file *entry, struct opened_file *found)
{
	if (found->fd < 0)
		return;
	if (entry->path) {
		close(found->fd);
		free(found->path);
		return;
	}
	/* Somebody, perhaps meanwhile, has gone without it. */
	if (entry->n_tried)
		atomic_fetch_add(&files->late, 1);
	note_time(files, entry, found->fd);
	entry->path = hold(files, found, &entry->fd);
}

const char *unwind_files_path(struct unwind_files *files, uint32_t dso, uint64_t time_ns, struct timespec *written)
{
	struct unwind_file *entry = NULL, copy;
	struct opened_file found;
	const char *path;

	pthread_mutex_lock(&files->lock);
	if (dso < files->n)
		entry = files->v[dso];
	if (entry && !entry->path && entry->kind == DSO_VDSO && files->vdso)
		entry->path = xstrdup(files->vdso);
	if (!entry || entry->path || entry->n_tried == entry->n_seen) {
		path = entry ? path_at(entry, time_ns, written) : NULL;
		pthread_mutex_unlock(&files->lock);
		return path;
	}
	copy = *entry;
	pthread_mutex_unlock(&files->lock);
	/* The copy may be used without the lock: its name never changes. */
	found = find_anywhere(files, &copy);
	pthread_mutex_lock(&files->lock);
	keep(files, entry, &found);
	if (entry->n_tried < copy.n_seen)
		entry->n_tried = copy.n_seen;
	path = path_at(entry, time_ns, written);
	pthread_mutex_unlock(&files->lock);
	return path;
}

const char *unwind_files_jit_dump(struct unwind_files *files, int32_t pid, uint32_t *file)
{
	const struct jit_dump_of *dump;

	pthread_mutex_lock(&files->lock);
	dump = dump_of(files, pid);
	if (dump)
		*file = dump->dso;
	pthread_mutex_unlock(&files->lock);
	return dump ? unwind_files_path(files, *file, 0, NULL) : NULL;
}

/* ---- debug files ---- */

struct debug_search {
	const struct elf_file *file;
	struct str link; /* "": none */
	uint32_t link_crc;
	struct opened_file found;
};

static bool fits(const struct debug_search *search, const struct elf_file *debug)
{
	const struct build_id *id = &search->file->build_id;
	const struct stat *a = &search->file->stat, *b = &debug->stat;
	struct elf_section section;

	/* The file itself may lie where its debug file is looked for, and so may copies of it. */
	if ((a->st_dev == b->st_dev && a->st_ino == b->st_ino) || !elf_section_named(debug, ".debug_frame", &section))
		return false;
	return id->size ? build_id_same(id, &debug->build_id) :
			  elf_debuglink_is(debug->fd, search->link_crc, NULL, NULL);
}

/* Takes over path, which may be NULL. */
static bool debug_found_at(struct debug_search *search, char *path)
{
	struct opened_file *found = &search->found;
	struct str why = STR_INIT;
	struct elf_file debug;

	if (path && !elf_file_open(&debug, path, &why)) {
		if (fits(search, &debug))
			found->fd = fcntl(debug.fd, F_DUPFD_CLOEXEC, 0);
		elf_file_close(&debug);
	}
	str_release(&why);
	if (found->fd >= 0)
		found->path = path;
	else
		free(path);
	return found->fd >= 0;
}

static bool debug_found_below(void *context, const char *root, const char *name)
{
	struct debug_search *search = context;
	char *debug_dir = xasprintf("%s" ELF_DEBUG_DIR, root), *path = xasprintf("%s%s", root, name);
	const char *link = search->link.s;

	debug_found_at(search, build_id_path(debug_dir, &search->file->build_id, ".debug"));
	for (size_t i = 0; link[0] && search->found.fd < 0 && i < ELF_DEBUGLINK_NEAR; i++)
		debug_found_at(search, elf_debuglink_near(path, link, i));
	if (link[0] && search->found.fd < 0)
		debug_found_at(search, elf_debuglink_below(debug_dir, name, link));
	free(debug_dir);
	free(path);
	return search->found.fd >= 0;
}

/* entry is a copy. */
static struct opened_file find_debug(const struct unwind_files *files, const struct unwind_file *entry,
				     struct elf_file *elf)
{
	const struct mapped_file file = mapped_file_of(entry, entry->n_seen);
	struct debug_search search = { .file = elf, .link = STR_INIT, .found = { .fd = -1 } };

	elf_file_debuglink(elf, &search.link, &search.link_crc);
	mapped_file_look(&file, files->procfs, MAPPED_IN_ROOT | MAPPED_HERE, debug_found_below, &search);
	str_release(&search.link);
	return search.found;
}

const char *unwind_files_debug_path(struct unwind_files *files, uint32_t dso, struct elf_file *file)
{
	struct opened_file found = { .fd = -1 };
	struct unwind_file *entry, copy;

	pthread_mutex_lock(&files->debug_lock);
	pthread_mutex_lock(&files->lock);
	entry = files->v[dso];
	copy = *entry;
	pthread_mutex_unlock(&files->lock);
	if (!copy.debug_tried) {
		if (copy.kind == DSO_FILE && copy.name[0] == '/')
			found = find_debug(files, &copy, file);
		pthread_mutex_lock(&files->lock);
		entry->debug_tried = true;
		entry->debug_path = copy.debug_path = hold(files, &found, &entry->debug_fd);
		pthread_mutex_unlock(&files->lock);
	}
	pthread_mutex_unlock(&files->debug_lock);
	return copy.debug_path;
}

unsigned unwind_files_late(const struct unwind_files *files)
{
	return atomic_load(&files->late);
}
