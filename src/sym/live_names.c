/* SPDX-License-Identifier: MIT */
/*
 * live_names: addresses in processes that run -> names of functions, for programs that profile themselves or others.
 * What is read stays in memory, and nothing is kept on disk.
 *
 *	pid --> struct live_process: maps, ascending --> struct live_file --> segments, struct symbol_table
 *	upper half of the addresses ------------------> the kernel's, from /proc/kallsyms
 *
 * Reading and putting are two steps, since memory may run out in the first: a piece is made by itself, of the maps of
 * one process with the files that are new in them, or of the symbols of one file. Putting it into the names allocates
 * nothing. Files are known by device and inode, so that those of many processes are read once; what was changed in
 * place since is another file.
 *
 * Source: proc_pid_maps(5), proc_pid_map_files(5).
 */
#include "sym/kallsyms.h"
#include "sym/text_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUCKETS = 256 };
#define KALLSYMS "/proc/kallsyms"
#define DELETED " (deleted)"

/* Symbols of a file once they are read. */
struct live_symbols {
	bool read;
	struct symbol_table table;
	struct elf_file shape; /* closed: its segments alone */
	struct stat stat;
	const char *reason; /* why there are none, NULL: there are */
	char *own_reason; /* the same where it was made for this file */
};

struct live_file {
	struct live_file *next; /* of its bucket, or of a piece */
	uint64_t device, inode; /* 0, 0: no file, but what the kernel calls "[stack]" and such */
	char *path; /* as the process has it */
	char *place; /* where it is read; NULL: nowhere */
	struct live_symbols symbols;
};

struct live_map {
	uint64_t start, end, offset;
	struct live_file *file; /* NULL: memory of no file */
};

struct live_process {
	struct live_process *next; /* of its bucket */
	int pid;
	bool ended;
	struct live_map *v; /* ascending */
	size_t n, cap;
};

struct live_names {
	struct live_process *processes[BUCKETS];
	struct live_file *files[BUCKETS];
	struct live_file *kernel;
};

/* One of the two. */
struct live_piece {
	struct live_process *process;
	struct live_file *new_files; /* that its maps are of */
	struct live_file *file; /* to which the symbols belong */
	struct live_symbols symbols;
};

static const char no_file[] = "no file is mapped there";

/* ---- what is known ---- */

static bool is_of_kernel(uint64_t address)
{
	return address >> 63;
}

static unsigned bucket_of(int pid)
{
	return (unsigned)pid % BUCKETS;
}

static struct live_process *process_of(const struct live_names *names, int pid)
{
	struct live_process *process = names->processes[bucket_of(pid)];

	while (process && process->pid != pid)
		process = process->next;
	return process;
}

static const struct live_map *map_at(const struct live_process *process, uint64_t address)
{
	size_t above = BISECT(i, 0, process->n, process->v[i].start <= address);
	const struct live_map *map = above ? &process->v[above - 1] : NULL;

	return map && address < map->end ? map : NULL;
}

/* The file that has to be asked, or NULL. *map: where it is mapped; NULL: in the kernel, or nowhere that is known. */
static struct live_file *file_of(const struct live_names *names, const struct live_question *question,
				 const struct live_map **map)
{
	const struct live_process *process = process_of(names, question->pid);

	*map = NULL;
	if (is_of_kernel(question->address))
		return names->kernel;
	if (process)
		*map = map_at(process, question->address);
	return *map ? (*map)->file : NULL;
}

static void name_in(const struct live_file *file, uint64_t address, struct live_name *name)
{
	const struct symbol_row *row = symbol_table_find(&file->symbols.table, address);

	name->file_address = address;
	if (!row) {
		name->reason = "the file's symbols do not cover it";
		return;
	}
	name->function = symbol_table_name(&file->symbols.table, row);
	name->offset = address - row->start;
	name->reason = NULL;
}

bool live_names_find(const struct live_names *names, const struct live_question *question, struct live_name *name)
{
	const struct live_map *map;
	const struct live_file *file = file_of(names, question, &map);
	const struct live_process *process = process_of(names, question->pid);
	uint64_t address = question->address;

	*name = (struct live_name){ .reason = map ? no_file : "nothing is mapped there" };
	if (!file)
		return map || question->mapped || (process && process->ended);
	if (!file->symbols.read)
		return false;
	name->file = file->path;
	name->reason = file->symbols.reason;
	if (name->reason)
		return true;
	if (map && !elf_file_vaddr(&file->symbols.shape, address - map->start + map->offset, &address))
		name->reason = "the file does not say that this part of it is mapped";
	else
		name_in(file, address, name);
	return true;
}

/* ---- symbols ---- */

static void symbols_release(struct live_symbols *symbols)
{
	symbol_table_release(&symbols->table);
	free(symbols->shape.segments);
	free(symbols->own_reason);
}

static void take_kernel_symbol(void *context, const struct kallsyms_symbol *symbol)
{
	kallsyms_add(context, symbol);
}

static void read_kernel(struct live_symbols *symbols, struct str *why)
{
	bool zeroed = false;

	if (!kallsyms_each(KALLSYMS, take_kernel_symbol, &symbols->table, &zeroed, why) && zeroed)
		fail(why, 0, "the kernel does not show its addresses (kernel.kptr_restrict)");
}

/* Reads it from one place. -ENOENT: it is not there; other failures and 0: this was it. */
static int read_place(const struct live_file *file, const char *place, struct live_symbols *symbols, struct str *why)
{
	struct elf_file elf;
	int rc = elf_file_open(&elf, place, why);

	if (rc)
		return rc;
	symbols->stat = elf.stat;
	if (elf.stat.st_ino != file->inode) {
		rc = fail(why, -ESTALE, "the file was replaced after it was mapped");
	} else {
		rc = elf_symbols_read(&elf, &symbols->table, why);
		if (!rc)
			fail(why, 0, "the file has no symbols");
		else if (rc > 0)
			elf_plt_read(&elf, &symbols->table, why);
		symbols->shape = (struct elf_file){ .fd = -1, .segments = elf.segments, .n_segments = elf.n_segments };
		elf.segments = NULL;
	}
	elf_file_close(&elf);
	return rc > 0 ? 0 : rc;
}

/* A process that has ended has no root any more: the same file may be at the same path here. */
static void read_file(const struct live_file *file, struct live_symbols *symbols, struct str *why)
{
	if (read_place(file, file->place, symbols, why) != -ENOENT || !strcmp(file->place, file->path))
		return;
	str_reset(why);
	read_place(file, file->path, symbols, why);
}

static void read_symbols(const struct live_names *names, const struct live_file *file, struct live_symbols *symbols)
{
	struct str why = STR_INIT;

	symbols->read = true;
	symbol_table_init(&symbols->table);
	if (file == names->kernel)
		read_kernel(symbols, &why);
	else
		read_file(file, symbols, &why);
	symbol_table_finish(&symbols->table);
	/* A table that is damaged at its end, and names all the same. */
	if (!symbols->table.n)
		symbols->reason = symbols->own_reason = str_detach(&why);
	str_release(&why);
}

/* ---- maps ---- */

struct maps_line {
	struct live_map map;
	uint64_t device, inode;
	const char *path; /* "" where it has none */
};

/* "7f00-7f10 r-xp 00001000 08:01 1234     /usr/lib/x" */
static bool parse_line(const char *at, struct maps_line *line)
{
	uint64_t major, minor;
	char *end;

	*line = (struct maps_line){ 0 };
	if (!text_hex(&at, &line->map.start) || *at++ != '-' || !text_hex(&at, &line->map.end) || *at != ' ')
		return false;
	at += strspn(at, " ");
	at += strcspn(at, " ");
	at += strspn(at, " ");
	if (!text_hex(&at, &line->map.offset) || *at++ != ' ' || !text_hex(&at, &major) || *at++ != ':' ||
	    !text_hex(&at, &minor))
		return false;
	line->device = major << 32 | minor;
	line->inode = strtoull(at, &end, 10);
	line->path = end + strspn(end, " ");
	return line->map.start < line->map.end;
}

/* Whoever asks for a file that is known asks whether it is still the same. */
static bool is_unchanged(const struct live_file *file)
{
	struct stat st;

	return !file->symbols.read || !file->place || stat(file->place, &st) || st.st_ino != file->inode ||
	       (st.st_size == file->symbols.stat.st_size && st.st_mtim.tv_sec == file->symbols.stat.st_mtim.tv_sec &&
		st.st_mtim.tv_nsec == file->symbols.stat.st_mtim.tv_nsec);
}

static struct live_file *known_file(struct live_file *first, const struct maps_line *line)
{
	for (struct live_file *file = first; file; file = file->next)
		if (file->inode == line->inode && file->device == line->device &&
		    (line->inode || !strcmp(file->path, line->path)) && is_unchanged(file))
			return file;
	return NULL;
}

/* A file that has no name any more can be reached by where it is mapped, for those who may. */
static char *place_of(int pid, const struct maps_line *line, char *path)
{
	char *deleted = strstr(path, DELETED), self[32];

	snprintf(self, sizeof(self), pid ? "/proc/%d" : "/proc/self", pid);
	if (!deleted || deleted[strlen(DELETED)])
		return pid ? xasprintf("%s/root%s", self, path) : xstrdup(path);
	*deleted = '\0';
	return xasprintf("%s/map_files/%llx-%llx", self, (unsigned long long)line->map.start,
			 (unsigned long long)line->map.end);
}

static struct live_file *new_file(int pid, const struct maps_line *line)
{
	struct live_file *file = xcalloc(1, sizeof(*file));

	file->device = line->device;
	file->inode = line->inode;
	file->path = xstrdup(line->path);
	if (line->path[0] == '/') {
		file->place = place_of(pid, line, file->path);
	} else {
		file->symbols.read = true;
		file->symbols.reason = no_file;
	}
	return file;
}

static void add_map(const struct live_names *names, struct live_piece *piece, struct maps_line *line)
{
	struct live_process *process = piece->process;

	if (line->path[0]) {
		line->map.file = known_file(names->files[line->inode % BUCKETS], line);
		if (!line->map.file)
			line->map.file = known_file(piece->new_files, line);
		if (!line->map.file) {
			line->map.file = new_file(process->pid, line);
			line->map.file->next = piece->new_files;
			piece->new_files = line->map.file;
		}
	}
	VEC_GROW(process->v, process->n, process->cap);
	process->v[process->n++] = line->map;
}

static int fail_maps(int rc, int pid, struct str *err)
{
	return fail(err, rc, "the maps of process %d cannot be read: %s", pid,
		    rc == -ESRCH ? "it has ended" : strerror(-rc));
}

/* The list of a task that is ending, or of the kernel, is empty. */
static int read_maps(const struct live_names *names, struct live_piece *piece, int pid, struct str *err)
{
	struct live_process *process = xcalloc(1, sizeof(*process));
	struct text_lines lines;
	struct maps_line line;
	char path[32];
	size_t len;
	int fd, rc;

	piece->process = process;
	process->pid = pid;
	snprintf(path, sizeof(path), pid ? "/proc/%d/maps" : "/proc/self/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_maps(errno == ENOENT ? -ESRCH : -errno, pid, err);
	text_lines_init(&lines, fd);
	for (const char *text; (text = text_lines_next(&lines, &len));)
		if (parse_line(text, &line))
			add_map(names, piece, &line);
	rc = lines.error ? lines.error : process->n ? 0 : -ESRCH;
	text_lines_release(&lines);
	return rc ? fail_maps(rc, pid, err) : 0;
}

/* ---- pieces ---- */

static void process_free(struct live_process *process)
{
	free(process->v);
	free(process);
}

static void file_free(struct live_file *file)
{
	symbols_release(&file->symbols);
	free(file->path);
	free(file->place);
	free(file);
}

static void piece_free(struct live_piece *piece)
{
	for (struct live_file *file = piece->new_files, *next; file; file = next) {
		next = file->next;
		file_free(file);
	}
	if (piece->process)
		process_free(piece->process);
	free(piece);
}

int live_names_read(const struct live_names *names, const struct live_question *question, struct live_piece **piece,
		    struct str *err)
{
	struct live_piece *new = xcalloc(1, sizeof(*new));
	const struct live_map *map;
	struct live_file *file = file_of(names, question, &map);
	int rc = 0;

	new->file = file;
	if (file)
		read_symbols(names, file, &new->symbols);
	else
		rc = read_maps(names, new, question->pid, err);
	/* The maps of a process that has ended while they are known stay as they are. */
	if (rc == -ESRCH && process_of(names, question->pid)) {
		str_reset(err);
		rc = 0;
	}
	if (rc)
		piece_free(new);
	else
		*piece = new;
	return rc;
}

static void put_process(struct live_names *names, struct live_process *process)
{
	struct live_process *before = process_of(names, process->pid);

	if (before && !process->n) {
		before->ended = true;
		process_free(process);
		return;
	}
	if (before)
		live_names_forget(names, process->pid);
	process->next = names->processes[bucket_of(process->pid)];
	names->processes[bucket_of(process->pid)] = process;
}

void live_names_put(struct live_names *names, struct live_question *question, struct live_piece *piece)
{
	while (piece->new_files) {
		struct live_file *file = piece->new_files, **first = &names->files[file->inode % BUCKETS];

		piece->new_files = file->next;
		file->next = *first;
		*first = file;
	}
	if (piece->file)
		piece->file->symbols = piece->symbols;
	if (piece->process) {
		put_process(names, piece->process);
		question->mapped = true;
		piece->process = NULL;
	}
	piece_free(piece);
}

/* ---- all of it ---- */

struct live_names *live_names_new(void)
{
	struct live_names *names = xcalloc(1, sizeof(*names));

	names->kernel = xcalloc(1, sizeof(*names->kernel));
	names->kernel->path = xstrdup("[kernel]");
	return names;
}

void live_names_forget(struct live_names *names, int pid)
{
	struct live_process **at = &names->processes[bucket_of(pid)], *process;

	while (*at && (*at)->pid != pid)
		at = &(*at)->next;
	process = *at;
	if (!process)
		return;
	*at = process->next;
	process_free(process);
}

void live_names_free(struct live_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		while (names->processes[i])
			live_names_forget(names, names->processes[i]->pid);
		for (struct live_file *file = names->files[i], *next; file; file = next) {
			next = file->next;
			file_free(file);
		}
	}
	file_free(names->kernel);
	free(names);
}
