/*
 * code_load: where code made at run time has its names from. The compiler writes them into a file that is named
 * after its process, or maps a dump whose path the recording has:
 *
 *	perf-PID.map, jit-PID.dump in /tmp      by the pid that the process has in its own namespace, below its
 *	                                        own root; and by the recorded pid, here
 *	the dump that it mapped                 below its root or that of a relative, and here
 *
 * Below its own root comes first; of several there, the one that was written last, and the others only where
 * that one has no names. See code_file.h for which are believed.
 */
#include "sym/code_file.h"
#include "sym/code_times.h"
#include "sym/dso_state.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SOURCES_MAX = 16, ROOTS_MAX = 8 };

static int read_map(struct dso_state *state, const char *path, struct code_rules *rules,
		    struct str *err)
{
	uint64_t bad_lines;
	int rc = perf_map_read(path, rules, &state->table, &bad_lines, err);

	if (!rc && bad_lines)
		fail(err, 0, "%s: %llu of its lines are not START SIZE NAME", path,
		     (unsigned long long)bad_lines);
	return rc;
}

static int read_dump(struct dso_state *state, const char *path, struct code_rules *rules,
		     struct str *err)
{
	if (!state->times)
		state->times = xcalloc(1, sizeof(*state->times));
	return jitdump_read(path, rules, &state->table, state->times, err);
}

enum { KIND_MAP, KIND_DUMP };
/*
 * To add a kind of file that run-time compilers write: a row here, its reader beside perf_map.c, the man page's
 * list, a test in test_symbols.c.
 */
static const struct code_file_kind {
	const char *name; /* with the process's id */
	/* err without a failure: what was left out */
	int (*read)(struct dso_state *state, const char *path, struct code_rules *rules,
		    struct str *err);
} code_kinds[] = {
	[KIND_MAP] = { "perf-%d.map", read_map },
	[KIND_DUMP] = { "jit-%d.dump", read_dump },
};

struct code_source {
	const struct code_file_kind *kind;
	char *path;
	struct code_rules rules;
	bool own; /* below the process's own root, or by its own pid */
	bool there; /* and not tried yet */
	struct stat stat; /* zeros: it could not be looked at */
};

struct code_sources {
	struct code_rules rules; /* of each */
	struct code_source v[SOURCES_MAX];
	size_t n;
	char *first; /* the path of the first that was looked for, for the message that there is none */
};

/* ---- where they may be ---- */

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
					.own = own, .there = true };
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

	for (size_t i = 0; i < ARRAY_SIZE(code_kinds); i++) {
		struct str path = STR_INIT;

		str_addf(&path, "%s%s/", root, dir);
		str_addf(&path, code_kinds[i].name, (int)pid);
		add(sources, &code_kinds[i], str_detach(&path), pid, own);
	}
}

/* The dump that the process had mapped, as seen below a root. */
static void add_mapped(struct code_sources *sources, const struct sym_process *process, const char *root,
		       int32_t pid, bool own)
{
	struct code_source *source = add(sources, &code_kinds[KIND_DUMP],
					 xasprintf("%s%s", root, process->jit_path), pid, own);

	if (!source)
		return;
	source->rules.major = process->jit_major;
	source->rules.minor = process->jit_minor;
	source->rules.inode = process->jit_inode;
}

/* PID of ".../jit-PID.dump"; 0: it has none. */
static int32_t dump_pid(const char *path)
{
	const char *slash = strrchr(path, '/');
	int pid = 0;

	return slash && sscanf(slash, "/jit-%9d.dump", &pid) == 1 ? pid : 0;
}

static void find_mapped(struct code_sources *sources, struct symbols *symbols, const struct dso *dso,
			const struct process_here *here, const char *symfs)
{
	const struct sym_processes *recorded = symbols->options.processes;
	const struct process_here *roots[ROOTS_MAX];
	struct sym_process about = { .jit_path = NULL };
	int32_t pid;
	size_t n;

	if (recorded)
		recorded->process(recorded->context, dso->pid, &about);
	pid = about.jit_path ? dump_pid(about.jit_path) : 0;
	/* A dump that is named after another process has nothing to say of this one. */
	if (!pid || (here && pid != here->ns_pid && pid != here->pid))
		return;
	n = processes_elsewhere(symbols->processes, dso, roots, ROOTS_MAX);
	for (size_t i = 0; i < n; i++)
		add_mapped(sources, &about, roots[i]->root, pid, true);
	add_mapped(sources, &about, symfs, pid, !n);
}

static void find_sources(struct code_sources *sources, struct symbols *symbols, const struct dso *dso)
{
	const struct process_here *here = processes_get(symbols->processes, dso->pid);
	const char *symfs = symbols->options.symfs ? symbols->options.symfs : "";

	sources->rules.anyone = symbols->options.force;
	sources->rules.not_after_ns = processes_taken_over(symbols->processes, dso->pid);
	if (here) {
		sources->rules.user_known = true;
		sources->rules.user = here->user;
		sources->rules.not_before_ns = here->start_ns;
	}
	if (here && (here->elsewhere || here->ns_pid != here->pid))
		add_named(sources, symbols, here->elsewhere ? here->root : symfs, here->ns_pid, true);
	add_named(sources, symbols, symfs, dso->pid, !sources->first);
	find_mapped(sources, symbols, dso, here, symfs);
}

/* ---- which is taken ---- */

static bool is_before(const struct code_source *a, const struct code_source *b)
{
	const struct timespec *x = &a->stat.st_mtim, *y = &b->stat.st_mtim;

	if (a->own != b->own)
		return a->own;
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
static bool try_source(struct symbols *symbols, struct dso_state *state, struct code_source *source,
		       struct str *why)
{
	uint64_t all = CODE_WORK_ALL - symbols->code_work;
	uint64_t work = all < CODE_WORK_FILE ? all : CODE_WORK_FILE;
	struct str err = STR_INIT;
	int rc;

	source->there = false;
	source->rules.work_left = work;
	rc = source->kind->read(state, source->path, &source->rules, &err);
	symbols->code_work += work - source->rules.work_left;
	if (err.len) {
		str_add(why, why->len ? "; " : "");
		str_add(why, err.s);
	} else if (!state->table.n) {
		str_addf(why, "%s%s: it has no names", why->len ? "; " : "", source->path);
	}
	if (rc == -EPERM && !state->remedy)
		state->remedy = "-f, if it is to be trusted";
	str_release(&err);
	return state->table.n != 0;
}

bool code_has_times(const struct symbols *symbols, const struct dso *dso)
{
	const struct events *events = symbols->recording->events;
	const struct perf_event_attr *attr = events && events->n ? &events->v[0]->attr : NULL;
	const struct sym_processes *recorded = symbols->options.processes;
	struct sym_process about = { .jit_path = NULL };

	if (!attr || !attr->use_clockid || attr->clockid != CLOCK_MONOTONIC || !recorded)
		return false;
	recorded->process(recorded->context, dso->pid, &about);
	return about.jit_path;
}

/* What was not read, or has times of another clock than the samples, has none. */
static void finish_times(const struct symbols *symbols, struct dso_state *state)
{
	if (state->times &&
	    (!code_has_times(symbols, state->dso) || !code_times_finish(state->times, state->table.names.s))) {
		code_times_release(state->times);
		free(state->times);
		state->times = NULL;
	}
}

/* It is opened again, by the same rules, when its code is asked for. */
static void keep_dump(struct dso_state *state, const struct code_source *source)
{
	if (source->kind != &code_kinds[KIND_DUMP])
		return;
	state->dump = xstrdup(source->path);
	state->dump_rules = xmalloc(sizeof(*state->dump_rules));
	*state->dump_rules = source->rules;
}

void code_load(struct symbols *symbols, struct dso_state *state)
{
	struct code_sources sources = { .n = 0 };
	struct code_source *source;
	struct str why = STR_INIT;

	state->raw_names = true;
	find_sources(&sources, symbols, state->dso);
	while ((source = next_source(&sources)))
		if (try_source(symbols, state, source, &why)) {
			dso_state_found(state, source->path);
			keep_dump(state, source);
			break;
		}
	if (!source && !why.len) {
		str_addf(&why, "made at run time, and there is no %s", sources.first);
		state->remedy =
			"have the run-time compiler write one, as node --perf-basic-prof does";
	}
	finish_times(symbols, state);
	if (source)
		dso_state_doubt(state, &why, state->remedy);
	else
		dso_state_none(state, &why, state->remedy);
	for (size_t i = 0; i < sources.n; i++)
		free(sources.v[i].path);
	free(sources.first);
}
