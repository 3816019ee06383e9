/* SPDX-License-Identifier: MIT */
/*
 * source_code: names of code made at run time. The compiler writes them into a file that is named
 * after its process, or maps a dump whose path the recording has:
 *
 *	perf-PID.map, jit-PID.dump in /tmp      by the pid that the process has in its own namespace, below its
 *	                                        own root; and by the recorded pid, here
 *	the dump that it mapped                 below its root or that of a relative, and here
 *	the map that the recorder kept          in the build-id cache, by what the header says of /tmp/perf-PID.map
 *
 * A run-time compiler may also run code that lies in a file which is none of ELF (the precompiled code in a .dll of
 * .NET), and name it in its map: source_mapped_code has these names, by the first mapping of the file.
 *
 * Below its own root comes first; of several there, the one that was written last, and the others only where
 * that one has no names. What was kept comes after those of a process that lives, which may have more, and before
 * those that have nothing but its number. See code_file.h for which are believed.
 */
#include "sym/cached_files.h"
#include "sym/code_file.h"
#include "sym/dso_names.h"
#include "sym/jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SOURCES_MAX = 16 };

static int read_map(struct dso_names *names, struct names_slot *slot, const char *path, struct code_rules *rules,
		    struct str *err)
{
	uint64_t bad_lines;
	int rc = perf_map_read(path, rules, names_table_begin(slot), &bad_lines, err);

	(void)names;
	if (!rc && bad_lines)
		fail(err, 0, "%s: %llu of its lines are not START SIZE NAME", path,
		     (unsigned long long)bad_lines);
	return rc;
}

/* The dump that the names are from, and the files that its lines are of. */
struct code_dump {
	struct jitdump *dump;
	struct text_index *files;
};

static void release(void *state)
{
	struct code_dump *kept = state;

	jitdump_free(kept->dump);
	texts_free(kept->files);
	free(kept);
}

static int read_dump(struct dso_names *names, struct names_slot *slot, const char *path, struct code_rules *rules,
		     struct str *err)
{
	struct symbol_table *table = names_table_begin(slot);
	struct jitdump *dump = jitdump_new(path, rules);
	struct code_dump *kept;
	int rc;

	if (!names->times)
		names->times = xcalloc(1, sizeof(*names->times));
	rc = jitdump_read(dump, names->times, table->names.len, err);
	rules->work_left = dump->rules.work_left;
	code_ranges_flatten(&dump->ranges, table);
	if (!table->n) { /* nor its names */
		code_times_release(names->times);
		jitdump_free(dump);
		return rc;
	}
	str_release(&dump->ranges.names); /* the table has them */
	kept = slot->state = xmalloc(sizeof(*kept));
	*kept = (struct code_dump){ dump, texts_new() };
	return rc;
}

enum { KIND_MAP, KIND_DUMP };
/*
 * To add a kind of file that run-time compilers write: a row here, its reader beside perf_map.c, the man page's
 * list, a test in test_symbols.c.
 */
static const struct code_file_kind {
	const char *name; /* with the process's id */
	/* err without a failure: what was left out */
	int (*read)(struct dso_names *names, struct names_slot *slot, const char *path, struct code_rules *rules,
		    struct str *err);
} code_kinds[] = {
	[KIND_MAP] = { "perf-%d.map", read_map },
	[KIND_DUMP] = { "jit-%d.dump", read_dump },
};

struct code_source {
	const struct code_file_kind *kind;
	char *path;
	struct code_rules rules;
	enum { OF_OTHERS, OWN, KEPT_OF_DEAD } rank; /* OWN: below the process's own root, or by its own pid */
	bool there; /* and not tried yet */
	struct stat stat; /* zeros: it could not be looked at */
};

struct code_sources {
	struct code_rules rules; /* of each */
	size_t n_kinds; /* of code_kinds, that are looked for by the process's number */
	struct code_source v[SOURCES_MAX];
	size_t n;
	char *first; /* the path of the first that was looked for, for the message that there is none */
};

/* ---- where they may be ---- */

/* The folder that paths of a process are below; NULL: of one that lives no more, or sees what this process does. */
static const char *root_of(const struct symbols *symbols, const struct process_here *process)
{
	const char *symfs = symbols->options.symfs;

	return process && process->elsewhere ? process->root : symfs ? symfs : "";
}

static bool is_known(const struct code_sources *sources, const struct code_source *source)
{
	for (size_t i = 0; source->stat.st_ino && i < sources->n; i++)
		if (sources->v[i].stat.st_dev == source->stat.st_dev &&
		    sources->v[i].stat.st_ino == source->stat.st_ino)
			return true;
	return false;
}

/* Takes the path. pid: that a dump there has to be of. */
static struct code_source *add(struct code_sources *sources, const struct code_file_kind *kind, char *path,
			       int32_t pid, bool own)
{
	struct code_source *source = &sources->v[sources->n];
	struct str ignored = STR_INIT;
	struct stat st;
	int fd = foreign_open(path, NULL, &st, &ignored);

	str_release(&ignored);
	if (fd >= 0)
		close(fd);
	if (!sources->first)
		sources->first = xstrdup(path);
	*source = (struct code_source){ .kind = kind, .path = path, .rules = sources->rules,
					.rank = own ? OWN : OF_OTHERS, .there = true };
	source->rules.pid = pid;
	if (fd >= 0)
		source->stat = st;
	if (fd == -ENOENT || fd == -ENOTDIR || sources->n == SOURCES_MAX - 1 ||
	    is_known(sources, source)) {
		free(path);
		return NULL;
	}
	sources->n++;
	return source;
}

static void add_named(struct code_sources *sources, const struct symbols *symbols, const char *root,
		      int32_t pid, bool own)
{
	const char *dir = symbols->options.map_dir ? symbols->options.map_dir : "/tmp";

	for (size_t i = 0; i < sources->n_kinds; i++) {
		struct str path = STR_INIT;

		str_addf(&path, "%s%s/", root, dir);
		str_addf(&path, code_kinds[i].name, (int)pid);
		add(sources, &code_kinds[i], str_detach(&path), pid, own);
	}
}

/* Adds the dump that a process had mapped, below the root of one that has it, or of this process. */
static void add_mapped(struct code_sources *sources, const struct mapped_file *dump, const char *root, bool own)
{
	struct code_source *source = add(sources, &code_kinds[KIND_DUMP], xasprintf("%s%s", root, dump->path),
					 jit_dump_pid(dump->path), own);

	if (!source)
		return;
	source->rules.mapped = (struct mapped_file){ .major = dump->major, .minor = dump->minor,
						     .inode = dump->inode };
}

static void find_mapped(struct code_sources *sources, struct symbols *symbols, const struct dso *dso)
{
	const struct process_here *here = processes_get(symbols->processes, dso->pid, NULL);
	const struct sym_processes *recorded = symbols->options.processes;
	struct mapping_seen seen[PROCESSES_SEEN_MAX];
	struct sym_process about = { .exited = false };
	struct mapped_file *dump = &about.dump;
	int32_t pid;

	if (recorded)
		recorded->process(recorded->context, dso->pid, &about);
	pid = dump->path ? jit_dump_pid(dump->path) : -1;
	/* A dump that is named after another process has nothing to say of this one. */
	if (pid < 0 || (here && pid != here->ns_pid && pid != here->pid))
		return;
	processes_elsewhere(symbols->processes, dso, seen, dump);
	for (size_t i = dump->n_seen; i-- > 0;)
		add_mapped(sources, dump, seen[i].root, true);
	add_mapped(sources, dump, root_of(symbols, NULL), !dump->n_seen);
}

/* By the process's number. */
static void find_named(struct code_sources *sources, struct symbols *symbols, int32_t pid)
{
	const struct process_here *here = processes_get(symbols->processes, pid, &sources->rules.not_after_ns);

	sources->rules.anyone = symbols->options.force;
	if (here) {
		sources->rules.user_known = true;
		sources->rules.user = here->user;
		sources->rules.not_before_ns = here->start_ns;
	}
	if (here && (here->elsewhere || here->ns_pid != here->pid))
		add_named(sources, symbols, root_of(symbols, here), here->ns_pid, true);
	add_named(sources, symbols, root_of(symbols, NULL), pid, !sources->first);
}

const char *symbols_kept_map(const struct symbols *symbols, int32_t pid, struct build_id *id)
{
	const struct info *info = symbols->recording->info;
	char *path = kept_map_path(pid);
	const char *found = NULL;

	for (size_t i = 0; i < info->build_ids.n && !found; i++) {
		const struct info_build_id *row = &info->build_ids.v[i];

		if (strcmp(row->path, path) || row->size > sizeof(id->bytes))
			continue;
		*id = (struct build_id){ .size = row->size };
		memcpy(id->bytes, row->bytes, row->size);
		found = row->path;
	}
	free(path);
	return found;
}

/* A kept map is this user's, whoever's the process was, and was written when it was kept. */
static void find_kept(struct code_sources *sources, struct symbols *symbols, int32_t pid, struct str *why)
{
	struct code_source *source = NULL;
	struct build_id id;
	char *path = NULL;

	if (symbols_kept_map(symbols, pid, &id))
		path = cached_file(symbols->cached, &id, CACHE_MAP, why);
	if (path)
		source = add(sources, &code_kinds[KIND_MAP], path, pid, false);
	if (!source)
		return;
	source->rules = (struct code_rules){ .anyone = symbols->options.force };
	source->rank = processes_get(symbols->processes, pid, NULL) ? OF_OTHERS : KEPT_OF_DEAD;
}

/* ---- which is taken ---- */

static bool is_before(const struct code_source *a, const struct code_source *b)
{
	const struct timespec *x = &a->stat.st_mtim, *y = &b->stat.st_mtim;

	if (a->rank != b->rank)
		return a->rank > b->rank;
	return x->tv_sec != y->tv_sec ? x->tv_sec > y->tv_sec : x->tv_nsec > y->tv_nsec;
}

static struct code_source *next_source(struct code_sources *sources)
{
	struct code_source *best = NULL;

	for (size_t i = 0; i < sources->n; i++)
		if (sources->v[i].there && (!best || is_before(&sources->v[i], best)))
			best = &sources->v[i];
	return best;
}

/* Adds what was read, or why not; true: names were found. */
static bool try_source(struct symbols *symbols, struct dso_names *names, struct names_slot *slot,
		       struct code_source *source, struct str *why)
{
	uint64_t all = CODE_WORK_ALL - symbols->code_work;
	uint64_t work = all < CODE_WORK_FILE ? all : CODE_WORK_FILE;
	struct str err = STR_INIT;
	int rc;

	source->there = false;
	source->rules.work_left = work;
	rc = source->kind->read(names, slot, source->path, &source->rules, &err);
	symbols->code_work += work - source->rules.work_left;
	if (err.len) {
		str_add(why, why->len ? "; " : "");
		str_add(why, err.s);
	} else if (!slot->table->table.n) {
		str_addf(why, "%s%s: it has no names", why->len ? "; " : "", source->path);
	}
	if (rc == -EPERM && !names->remedy)
		names->remedy = "-f, if it is to be trusted";
	str_release(&err);
	return slot->table->table.n != 0;
}

bool code_has_dump(const struct symbols *symbols, const struct dso *dso)
{
	const struct sym_processes *recorded = symbols->options.processes;
	struct sym_process about = { .exited = false };

	return recorded && recorded->process(recorded->context, dso->pid, &about) && about.dump.path;
}

bool code_has_times(const struct symbols *symbols, const struct dso *dso)
{
	const struct events *events = symbols->recording->events;
	const struct perf_event_attr *attr = events && events->n ? &events->v[0]->attr : NULL;

	return attr && attr->use_clockid && attr->clockid == CLOCK_MONOTONIC && code_has_dump(symbols, dso);
}

/* Drops times of another clock than the samples', and those of what was not read. */
static void finish_times(const struct symbols *symbols, struct dso_names *names, const struct names_slot *slot)
{
	if (names->times && (!code_has_times(symbols, names->dso) ||
			     !code_times_finish(names->times, slot->table->table.names.s)))
		dso_names_drop_times(names);
}

static void release_sources(struct code_sources *sources)
{
	for (size_t i = 0; i < sources->n; i++)
		free(sources->v[i].path);
	free(sources->first);
}

static enum source_result load(struct symbols *symbols, struct dso_names *names, struct names_slot *slot)
{
	struct code_sources sources = { .n_kinds = ARRAY_SIZE(code_kinds) };
	struct code_source *source;
	struct str why = STR_INIT;

	find_named(&sources, symbols, names->dso->pid);
	find_mapped(&sources, symbols, names->dso);
	find_kept(&sources, symbols, names->dso->pid, &why);
	while ((source = next_source(&sources)))
		if (try_source(symbols, names, slot, source, &why)) {
			names_table_found(names, slot, source->path);
			break;
		}
	if (!source && !why.len) {
		str_addf(&why, "made at run time, and there is no %s", sources.first);
		names->remedy = "have the run-time compiler write one, as node --perf-basic-prof does";
	}
	finish_times(symbols, names, slot);
	if (source)
		dso_names_doubt(names, &why, names->remedy);
	else
		dso_names_none(names, &why, names->remedy);
	release_sources(&sources);
	return SOURCE_DONE;
}

/* ---- for whoever keeps them ---- */

char *kept_map_path(int32_t pid)
{
	return xasprintf("/tmp/perf-%d.map", (int)pid);
}

int symbols_open_map(struct symbols *symbols, int32_t pid, struct code_map *map, struct str *err)
{
	struct code_sources sources = { .n_kinds = KIND_MAP + 1 };
	const struct process_here *here = processes_get(symbols->processes, pid, NULL);
	struct code_source *source;
	int fd = -ENOENT;

	find_named(&sources, symbols, pid);
	while (fd < 0 && (source = next_source(&sources))) {
		source->there = false;
		str_reset(err);
		fd = code_file_open(source->path, &source->rules, CODE_WORK_FILE, &map->stat, err);
	}
	map->start_ticks = here ? here->start_ticks : 0;
	release_sources(&sources);
	return fd;
}

/* ---- asked for ---- */

const struct symbol *code_symbol(struct symbols *symbols, struct dso_names *names, uint32_t i)
{
	const struct code_event *event = &names->times->v[i];
	const struct symbol *found = symbol_object_find(names, SYMBOL_OF_CODE, i);
	struct symbol symbol;

	if (found)
		return found;
	symbol = (struct symbol){ .dso = names->dso, .start = event->start, .end = event->end, .binding = 'g' };
	symbol.raw = names->times->names + event->name;
	symbol.name = symbol_display_name(symbols, symbol.raw, false);
	return symbol_object_add(symbols, names, SYMBOL_OF_CODE, i, &symbol);
}

/*
 * The range of code that lay at addr, by the number of symbols_code_at, or (0) the latest there. false: the dump has
 * none, or there is no dump.
 */
static bool find_range(const struct dso_names *names, const struct names_slot *slot, uint64_t addr, uint32_t number,
		       struct code_range *range)
{
	const struct code_times *times = names->times;
	const struct code_dump *kept = slot->state;
	const struct code_range *latest;

	if (!kept || number == SYM_CODE_GONE)
		return false;
	if (times && number && number <= times->n) {
		const struct code_event *event = &times->v[number - 1];

		*range = (struct code_range){ .start = event->start, .end = event->end, .piece = event->piece };
	} else {
		latest = code_ranges_find(&kept->dump->ranges, addr);
		if (!latest)
			return false;
		*range = *latest;
	}
	return addr >= range->start && addr < range->end;
}

/* The code is in the dump: a record of each function's. A perf map has names alone. */
static int code(struct symbols *symbols, struct dso_names *names, struct names_slot *slot, uint64_t addr,
		uint32_t number, struct symbol_code *out, struct str *why)
{
	const struct code_dump *kept = slot->state;
	struct code_range range;

	if (number == SYM_CODE_GONE)
		return fail(why, -ENOENT, "it was moved away or given up before the sample");
	if (!kept && names->listed)
		return fail(why, -ENOENT, "its names are in the recording, its code is not");
	if (!kept)
		return fail(why, -ENOENT, "its compiler wrote only names (%s): code is in dumps, jit-PID.dump",
			    names->origin ? names->origin : symbols_why(symbols, names->dso));
	if (!find_range(names, slot, addr, number, &range))
		return fail(why, -ENOENT, "%s has no code there", kept->dump->path);
	out->shown = addr;
	symbol_code_set_from(out, kept->dump->path);
	return jitdump_code(kept->dump, &range, addr, out, why);
}

bool code_line(struct dso_names *names, uint64_t addr, uint32_t number, struct source_line *line)
{
	const struct names_slot *slot = dso_names_slot(names, &source_code);
	const struct code_dump *kept = slot ? slot->state : NULL;
	struct code_range range;

	if (!kept || !find_range(names, slot, addr, number, &range) || !jitdump_line(kept->dump, &range, addr, line))
		return false;
	if (line->file)
		line->file = texts_get(kept->files, texts_intern(kept->files, line->file, strlen(line->file)));
	return true;
}

static bool frames(struct symbols *symbols, struct dso_names *names, struct names_slot *slot,
		   const struct frames_request *request, struct dwarf_inline *inlines, size_t *n)
{
	(void)symbols, (void)slot;
	inlines[0] = (struct dwarf_inline){ 0 };
	*n = request->lines && code_line(names, request->answer->addr, 0, &inlines[0].line);
	return true;
}

bool code_piece(const struct dso_names *names, uint64_t addr, uint64_t time_ns, struct code_piece *piece)
{
	const struct names_slot *slot = dso_names_slot(names, &source_code);
	const struct code_dump *kept = slot ? slot->state : NULL;
	uint32_t number = names->times ? code_times_find(names->times, addr, time_ns) : 0;
	struct code_range range;

	if (!kept || (names->times && !number) || !find_range(names, slot, addr, number, &range))
		return false;
	*piece = jitdump_piece_of(kept->dump, &range);
	return true;
}

bool code_unwind(const struct dso_names *names, const struct code_piece *piece, struct str *eh_frame)
{
	const struct names_slot *slot = dso_names_slot(names, &source_code);
	const struct code_dump *kept = slot ? slot->state : NULL;

	return kept && jitdump_unwind(kept->dump, piece->number, eh_frame);
}

const struct names_source source_code = {
	.kinds = NAMES_OF(DSO_ANON), .load = load, .find = names_table_find, .frames = frames,
	.code = code, .release = release,
};

/* ---- code in a file that is not ELF ---- */

static bool is_not_elf(const struct symbols *symbols, const struct dso *dso)
{
	const struct process_here *here = processes_get(symbols->processes, dso->code.pid, NULL);
	char *path = xasprintf("%s%s", root_of(symbols, here), dso->path);
	char magic[SELFMAG];
	struct str ignored = STR_INIT;
	struct stat st;
	int fd = foreign_open(path, NULL, &st, &ignored);
	bool is_other = fd >= 0 && pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
			memcmp(magic, ELFMAG, sizeof(magic)) != 0;

	if (fd >= 0)
		close(fd);
	str_release(&ignored);
	free(path);
	return is_other;
}

static bool names_some_of(const struct symbol_table *table, const struct dso_mapping *code)
{
	for (size_t i = 0; i < table->n; i++)
		if (table->v[i].start >= code->start && table->v[i].start < code->end)
			return true;
	return false;
}

/* The map has addresses of the process; location.addr is an offset in the file. */
static enum source_result load_mapped(struct symbols *symbols, struct dso_names *names, struct names_slot *slot)
{
	struct code_sources sources = { .n_kinds = KIND_MAP + 1 };
	const struct dso_mapping *code = &names->dso->code;
	const char *remedy = names->remedy;
	struct code_source *source = NULL;
	struct str why = STR_INIT;

	if (!code->pid || !is_not_elf(symbols, names->dso))
		return SOURCE_NONE;
	find_named(&sources, symbols, code->pid);
	find_kept(&sources, symbols, code->pid, &why);
	while ((source = next_source(&sources)))
		if (try_source(symbols, names, slot, source, &why) && names_some_of(&slot->table->table, code))
			break;
	if (source) {
		slot->table->slide = code->pgoff - code->start;
		names_table_found(names, slot, source->path);
		dso_names_doubt(names, &why, NULL);
	} else {
		names_table_drop(slot);
		names->remedy = remedy;
	}
	release_sources(&sources);
	str_release(&why);
	return source ? SOURCE_DONE : SOURCE_NONE;
}

static bool find_mapped_code(struct symbols *symbols, struct dso_names *names, struct names_slot *slot, uint64_t addr,
			     const struct symbol **symbol)
{
	const struct dso_mapping *code = &names->dso->code;

	return addr >= code->pgoff && addr - code->pgoff < code->end - code->start &&
	       names_table_find(symbols, names, slot, addr, symbol);
}

const struct names_source source_mapped_code = {
	.kinds = NAMES_OF(DSO_FILE), .load = load_mapped, .find = find_mapped_code,
};
