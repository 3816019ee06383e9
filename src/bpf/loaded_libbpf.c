/* SPDX-License-Identifier: MIT */
/*
 * loaded_libbpf.c: loading and reading with libbpf, which is itself loaded when it is first needed; the only file that
 * knows it. Programs come in as the objects that clang has made of profile.bpf.c and texts.bpf.c, which are a part of
 * pstat. Copies of the first, one for each event, share the maps of the first copy.
 *
 * Sources: bpf(2), the headers of libbpf; Documentation/bpf/map_hash.rst and map_of_maps.rst.
 */
#include "bpf/bpf.h"
#include "bpf/loaded.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LIBBPF "libbpf.so.1"
#define LIBBPF_FUNCTIONS(FN)                                                                                \
	FN(libbpf_set_print) FN(libbpf_num_possible_cpus) FN(bpf_object__open_mem) FN(bpf_object__load)     \
	FN(bpf_object__close) FN(bpf_object__find_map_by_name) FN(bpf_object__find_program_by_name)         \
	FN(bpf_map__fd) FN(bpf_map__set_max_entries) FN(bpf_map__set_initial_value) FN(bpf_map__reuse_fd)   \
	FN(bpf_program__fd) FN(bpf_program__set_autoload) FN(bpf_raw_tracepoint_open) FN(bpf_map_update_elem)   \
	FN(bpf_map_lookup_elem) FN(bpf_map_lookup_and_delete_batch) FN(bpf_program__attach_tracepoint)          \
	FN(bpf_link__destroy)

struct libbpf {
#define MEMBER(name) __typeof__(name) *name;
	LIBBPF_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* In the program: see "files in the program" in the Makefile. */
extern const char profile_bpf_elf[], texts_bpf_elf[];
extern const unsigned long profile_bpf_elf_bytes, texts_bpf_elf_bytes;

/* Maps that copies of the program share. */
enum shared_map {
	CELLS_0, CELLS_1, STACKS_0, STACKS_1, WAITING, NUMBER_0, NUMBER_1, GENERATION, RUN_COUNTS, SCRATCHES, LEAVING,
	UNTIL, MAPS,
};
static const char *const map_names[MAPS] = {
	[CELLS_0] = "cells_0", [CELLS_1] = "cells_1", [STACKS_0] = "stacks_0", [STACKS_1] = "stacks_1",
	[WAITING] = "waiting", [LEAVING] = "leaving", [UNTIL] = "until",
	[NUMBER_0] = "number_0", [NUMBER_1] = "number_1", [GENERATION] = "generation", [RUN_COUNTS] = "run_counts",
	[SCRATCHES] = "scratches",
};

/* Elements that are read at once: a call takes whole buckets of a hash map, which have few. */
enum { STACKS_AT_ONCE = 256, CELLS_AT_ONCE = 4096 };

struct bpf_loaded {
	void *handle; /* of the library */
	struct libbpf lib;
	struct bpf_object **objects; /* one for each program */
	size_t n_objects;
	int *programs;
	int switches; /* the descriptor that holds switch_tasks at its tracepoint; -1: it is not there */
	int maps[MAPS];
	unsigned generation; /* that is filled */
	int n_cpus;
	void *keys, *values; /* room for those that are read at once */
};

/* ---- loading ---- */

/* Silent: what failed is said in pstat's words. */
static int print_nothing(enum libbpf_print_level level, const char *format, va_list ap)
{
	(void)level, (void)format, (void)ap;
	return 0;
}

static void *open_library(struct libbpf *lib, struct str *err)
{
#define ROW(name) { #name, offsetof(struct libbpf, name) },
	static const struct library_symbol symbols[] = { LIBBPF_FUNCTIONS(ROW) };
#undef ROW

	return library_load(LIBBPF, symbols, ARRAY_SIZE(symbols), lib, err);
}

/* needs: what takes the program. */
static int refused(int code, const char *needs, struct str *err)
{
	switch (-code) {
	case EPERM:
	case EACCES:
		return fail(err, -EPERM, "the kernel refuses BPF programs\n"
			    "it needs root, or CAP_BPF and CAP_PERFMON, and no seccomp filter or lockdown against it");
	case ENOSYS:
		return fail(err, code, "this kernel has no bpf(2), or a seccomp filter hides it");
	default:
		return fail(err, code, "the kernel does not take the BPF program (%s): %s", needs, strerror(-code));
	}
}

/* Sizes of the maps of the first object; the maps of later ones are those of the first. */
static int prepare_maps(const struct bpf_loaded *loaded, struct bpf_object *object,
			const struct bpf_load_options *options)
{
	const struct libbpf *lib = &loaded->lib;
	bool first = !loaded->n_objects;
	int code = 0;

	for (int m = 0; m < MAPS && !code; m++) {
		struct bpf_map *map = lib->bpf_object__find_map_by_name(object, map_names[m]);

		if (!map)
			return -ENOENT;
		if (!first)
			code = lib->bpf_map__reuse_fd(map, loaded->maps[m]);
		else if (m <= CELLS_1)
			code = lib->bpf_map__set_max_entries(map, options->cells_max);
		else if (m <= STACKS_1)
			code = lib->bpf_map__set_max_entries(map, options->stacks_max);
		else if (m == WAITING && options->waits)
			code = lib->bpf_map__set_max_entries(map, options->waiting_max);
	}
	return code;
}

/* Leaves out the programs that the copy does not need: a kernel that takes none for waits can count samples. */
static int choose_programs(const struct libbpf *lib, struct bpf_object *object, bool waits)
{
	static const struct {
		const char *name;
		bool waits;
	} rows[] = { { "count_sample", false }, { "leave_cpu", true }, { "switch_tasks", true } };
	int code = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows) && !code; i++)
		code = lib->bpf_program__set_autoload(lib->bpf_object__find_program_by_name(object, rows[i].name),
						      rows[i].waits == waits);
	return code;
}

static int prepare(const struct bpf_loaded *loaded, struct bpf_object *object, bool waits,
		   const struct bpf_load_options *options)
{
	const struct libbpf *lib = &loaded->lib;
	const struct bpf_constants constants = { options->least_ns, (uint32_t)loaded->n_objects };
	struct bpf_map *map = lib->bpf_object__find_map_by_name(object, ".rodata");
	int code = prepare_maps(loaded, object, options);

	if (!code)
		code = choose_programs(lib, object, waits);
	if (!code)
		code = map ? lib->bpf_map__set_initial_value(map, &constants, sizeof(constants)) : -ENOENT;
	return code;
}

static int load_program(struct bpf_loaded *loaded, const struct bpf_load_options *options)
{
	const struct libbpf *lib = &loaded->lib;
	LIBBPF_OPTS(bpf_object_open_opts, open_options, .object_name = "pstat");
	struct bpf_object *object =
		lib->bpf_object__open_mem(profile_bpf_elf, profile_bpf_elf_bytes, &open_options);
	const size_t number = loaded->n_objects;
	const bool waits = options->waits && number + 1 == options->n_programs;
	int code;

	if (!object)
		return -errno;
	code = prepare(loaded, object, waits, options);
	if (!code)
		code = lib->bpf_object__load(object);
	if (code) {
		lib->bpf_object__close(object);
		return code;
	}
	for (int m = 0; m < MAPS && !number; m++)
		loaded->maps[m] = lib->bpf_map__fd(lib->bpf_object__find_map_by_name(object, map_names[m]));
	loaded->programs[number] = lib->bpf_program__fd(
		lib->bpf_object__find_program_by_name(object, waits ? "leave_cpu" : "count_sample"));
	loaded->objects[loaded->n_objects++] = object;
	return 0;
}

/* Until its descriptor is closed the program runs at each switch; there is nothing to find before any is counted. */
static int watch_switches(struct bpf_loaded *loaded, struct str *err)
{
	struct bpf_object *object = loaded->objects[loaded->n_objects - 1];
	const struct libbpf *lib = &loaded->lib;
	int program = lib->bpf_program__fd(lib->bpf_object__find_program_by_name(object, "switch_tasks"));

	loaded->switches = lib->bpf_raw_tracepoint_open("sched_switch", program);
	if (loaded->switches >= 0)
		return 0;
	/* EINVAL: the program looks at more arguments than the tracepoint has. */
	if (errno == EINVAL || errno == ENOENT)
		return fail(err, -errno, "this kernel does not report how a thread leaves a CPU (Linux 5.18 or later "
			    "does)");
	return fail(err, -errno, "no BPF program can be attached to context switches: %s", strerror(errno));
}

/* Reads a map that is still empty: kernels before Linux 5.6 take the program, and do not hand over what it counts. */
static int try_reading(const struct bpf_loaded *loaded, struct str *err)
{
	uint32_t token, n = CELLS_AT_ONCE;

	if (!loaded->lib.bpf_map_lookup_and_delete_batch(loaded->maps[CELLS_0], NULL, &token, loaded->keys,
							 loaded->values, &n, NULL) || errno == ENOENT)
		return 0;
	return fail(err, -errno, "this kernel does not hand over many counts at once (Linux 5.6 or later does): %s",
		    strerror(errno));
}

static int load_all(struct bpf_loaded *loaded, const struct bpf_load_options *options, struct str *err)
{
	const uint32_t zero = 0, one = 1;
	int code = 0;

	loaded->lib.libbpf_set_print(print_nothing);
	loaded->n_cpus = loaded->lib.libbpf_num_possible_cpus();
	if (loaded->n_cpus < 1)
		return fail(err, -ENODEV,
			    "the number of CPUs is not known: /sys/devices/system/cpu/possible does not exist");
	for (size_t i = 0; i < options->n_programs && !code; i++)
		code = load_program(loaded, options);
	if (!code && loaded->lib.bpf_map_update_elem(loaded->maps[NUMBER_1], &zero, &one, BPF_ANY))
		code = -errno;
	if (code == -ENOMEM)
		return fail(err, code, "there is no memory for %u stacks in the kernel",
			    BPF_GENERATIONS * options->stacks_max);
	if (code)
		return refused(code, "Linux 5.6 or later should", err);
	code = try_reading(loaded, err);
	return !code && options->waits ? watch_switches(loaded, err) : code;
}

int bpf_try(struct str *err)
{
	struct libbpf lib;

	return open_library(&lib, err) ? 0 : -ENOENT;
}

int bpf_load(struct bpf_loaded **loaded, const struct bpf_load_options *options, struct str *err)
{
	struct bpf_loaded *made = xcalloc(1, sizeof(*made));
	int code;

	*loaded = NULL;
	made->switches = -1;
	made->handle = open_library(&made->lib, err);
	if (!made->handle) {
		free(made);
		return -ENOENT;
	}
	made->objects = xcalloc(options->n_programs, sizeof(struct bpf_object *));
	made->programs = xcalloc(options->n_programs, sizeof(*made->programs));
	made->keys = xcalloc(CELLS_AT_ONCE, sizeof(struct bpf_cell_key));
	made->values = xcalloc(STACKS_AT_ONCE, sizeof(struct bpf_wait));
	code = load_all(made, options, err);
	if (code) {
		bpf_unload(made);
		return code;
	}
	*loaded = made;
	return 0;
}

_Static_assert(CELLS_AT_ONCE * sizeof(struct bpf_cell_sums) <= STACKS_AT_ONCE * sizeof(struct bpf_stack) &&
		       STACKS_AT_ONCE * sizeof(uint64_t) <= CELLS_AT_ONCE * sizeof(struct bpf_cell_key),
	       "there is room for either");

/* The library stays, as others do: what it has begun can't be undone safely. */
void bpf_unload(struct bpf_loaded *loaded)
{
	if (!loaded)
		return;
	if (loaded->switches >= 0)
		close(loaded->switches);
	while (loaded->n_objects)
		loaded->lib.bpf_object__close(loaded->objects[--loaded->n_objects]);
	free(loaded->objects);
	free(loaded->programs);
	free(loaded->keys);
	free(loaded->values);
	free(loaded);
}

int bpf_loaded_program(const struct bpf_loaded *loaded, size_t program)
{
	return loaded->programs[program];
}

/* The line "memlock:" of a map's fdinfo, see bpf(2) and Documentation/bpf; 0: it is not there. */
static uint64_t map_bytes(int fd)
{
	char *path = xasprintf("/proc/self/fdinfo/%d", fd), line[256];
	FILE *file = fopen(path, "re");
	unsigned long long bytes = 0;

	while (file && fgets(line, sizeof(line), file) && sscanf(line, "memlock: %llu", &bytes) != 1)
		;
	if (file)
		fclose(file);
	free(path);
	return bytes;
}

uint64_t bpf_loaded_bytes(const struct bpf_loaded *loaded)
{
	uint64_t sum = 0;

	for (int m = 0; m < MAPS; m++)
		sum += map_bytes(loaded->maps[m]);
	return sum;
}

/* ---- reading ---- */

/* Returns when no run of the program uses the generation that was filled so far. */
static int switch_generation(struct bpf_loaded *loaded, struct str *err)
{
	const uint32_t zero = 0;
	unsigned other = !loaded->generation;

	if (loaded->lib.bpf_map_update_elem(loaded->maps[GENERATION], &zero, &loaded->maps[NUMBER_0 + other], BPF_ANY))
		return fail(err, -errno, "the BPF program cannot be given other maps: %s", strerror(errno));
	loaded->generation = other;
	return 0;
}

/* Takes up to n elements out of a hash map into keys and values: how many; *more: there may be others. */
static int take_some(struct bpf_loaded *loaded, int map, uint32_t *token, bool first, uint32_t *n, bool *more,
		     struct str *err)
{
	int rc = loaded->lib.bpf_map_lookup_and_delete_batch(loaded->maps[map], first ? NULL : token, token,
							     loaded->keys, loaded->values, n, NULL);

	*more = !rc;
	if (!rc || errno == ENOENT)
		return 0;
	return fail(err, -errno, "the counts in the kernel cannot be read: %s", strerror(errno));
}

/* Gives n elements of a map. */
static void give(const struct bpf_loaded *loaded, int map, const struct bpf_receiver *receiver, uint32_t n)
{
	if (map <= CELLS_1)
		receiver->cells(receiver->context, loaded->keys, loaded->values, n);
	else if (map <= STACKS_1)
		receiver->stacks(receiver->context, loaded->keys, loaded->values, n);
	else
		receiver->waits(receiver->context, loaded->values, n);
}

static int take_map(struct bpf_loaded *loaded, int map, const struct bpf_receiver *receiver, struct str *err)
{
	uint32_t token = 0, n;
	bool more = true;
	int code = 0;

	for (bool first = true; more && !code; first = false) {
		n = map <= CELLS_1 ? CELLS_AT_ONCE : STACKS_AT_ONCE;
		code = take_some(loaded, map, &token, first, &n, &more, err);
		if (!code && n)
			give(loaded, map, receiver, n);
	}
	return code;
}

int bpf_loaded_take(struct bpf_loaded *loaded, const struct bpf_receiver *receiver, struct str *err)
{
	const unsigned filled = loaded->generation;
	int code = switch_generation(loaded, err);

	if (!code)
		code = take_map(loaded, (int)(STACKS_0 + filled), receiver, err);
	return code ? code : take_map(loaded, (int)(CELLS_0 + filled), receiver, err);
}

int bpf_loaded_stop_waits(struct bpf_loaded *loaded, uint64_t time_ns)
{
	const uint32_t zero = 0;

	return loaded->lib.bpf_map_update_elem(loaded->maps[UNTIL], &zero, &time_ns, BPF_ANY) ? -errno : 0;
}

int bpf_loaded_take_waits(struct bpf_loaded *loaded, const struct bpf_receiver *receiver, struct str *err)
{
	return take_map(loaded, WAITING, receiver, err);
}

int bpf_loaded_counts(const struct bpf_loaded *loaded, enum bpf_run_kind kind, struct bpf_run_counts *counts)
{
	struct bpf_run_counts *each = xcalloc((size_t)loaded->n_cpus, sizeof(*each));
	const uint32_t key = kind;
	int code = loaded->lib.bpf_map_lookup_elem(loaded->maps[RUN_COUNTS], &key, each) ? -errno : 0;
	uint64_t *sum = (uint64_t *)counts;

	*counts = (struct bpf_run_counts){ 0 };
	for (int cpu = 0; cpu < loaded->n_cpus && !code; cpu++)
		for (size_t i = 0; i < sizeof(*counts) / sizeof(*sum); i++)
			sum[i] += ((const uint64_t *)&each[cpu])[i];
	free(each);
	return code;
}

/* ---- texts of system calls ---- */

struct bpf_texts {
	struct libbpf lib;
	struct bpf_object *object;
	struct bpf_link *links[2]; /* where a call begins, and where it ends */
	int outputs, following, cgroups; /* maps */
	enum bpf_callers whose;
};

/*
 * Programs run at a tracepoint as long as there is an event that they were attached to: here one of their own, since
 * that of a task would take them away when the first of its children ends, which has inherited it.
 */
static int attach_texts(struct bpf_texts *loaded)
{
	static const struct {
		const char *program, *tracepoint;
	} rows[] = { { "call_begins", "sys_enter" }, { "call_ends", "sys_exit" } };
	const struct libbpf *lib = &loaded->lib;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bpf_program *program = lib->bpf_object__find_program_by_name(loaded->object, rows[i].program);

		loaded->links[i] = lib->bpf_program__attach_tracepoint(program, "raw_syscalls", rows[i].tracepoint);
		if (!loaded->links[i])
			return -errno;
	}
	return 0;
}

static int load_texts(struct bpf_texts *loaded, const struct bpf_text_constants *constants)
{
	const struct libbpf *lib = &loaded->lib;
	LIBBPF_OPTS(bpf_object_open_opts, open_options, .object_name = "pstat");
	struct bpf_map *outputs, *rodata, *following, *cgroups;
	int code, n_cpus = lib->libbpf_num_possible_cpus();

	lib->libbpf_set_print(print_nothing);
	loaded->object = lib->bpf_object__open_mem(texts_bpf_elf, texts_bpf_elf_bytes, &open_options);
	if (!loaded->object)
		return -errno;
	outputs = lib->bpf_object__find_map_by_name(loaded->object, "outputs");
	rodata = lib->bpf_object__find_map_by_name(loaded->object, ".rodata");
	following = lib->bpf_object__find_map_by_name(loaded->object, "following");
	cgroups = lib->bpf_object__find_map_by_name(loaded->object, "cgroups");
	if (!outputs || !rodata || !following || !cgroups || n_cpus < 1)
		return -ENOENT;
	code = lib->bpf_map__set_initial_value(rodata, constants, sizeof(*constants));
	if (!code)
		code = lib->bpf_map__set_max_entries(outputs, (uint32_t)n_cpus);
	if (!code)
		code = lib->bpf_object__load(loaded->object);
	if (code)
		return code;
	loaded->outputs = lib->bpf_map__fd(outputs);
	loaded->following = lib->bpf_map__fd(following);
	loaded->cgroups = lib->bpf_map__fd(cgroups);
	return attach_texts(loaded);
}

int bpf_load_texts(struct bpf_texts **loaded, const struct bpf_text_constants *constants, struct str *err)
{
	struct bpf_texts *made = xcalloc(1, sizeof(*made));
	int code = open_library(&made->lib, err) ? 0 : -ENOENT;

	*loaded = NULL;
	if (code) {
		free(made);
		return code;
	}
	made->whose = (enum bpf_callers)constants->whose;
	code = load_texts(made, constants);
	if (code) {
		bpf_texts_free(made);
		return refused(code, "Linux 5.17 or later with CONFIG_DEBUG_INFO_BTF should", err);
	}
	*loaded = made;
	return 0;
}

void bpf_texts_free(struct bpf_texts *loaded)
{
	if (!loaded)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(loaded->links); i++)
		loaded->lib.bpf_link__destroy(loaded->links[i]);
	if (loaded->object)
		loaded->lib.bpf_object__close(loaded->object);
	free(loaded);
}

enum bpf_callers bpf_loaded_texts_whose(const struct bpf_texts *loaded)
{
	return loaded->whose;
}

int bpf_loaded_texts_output(const struct bpf_texts *loaded, int cpu, int event_fd)
{
	return loaded->lib.bpf_map_update_elem(loaded->outputs, &cpu, &event_fd, BPF_ANY) ? -errno : 0;
}

int bpf_loaded_texts_follow(const struct bpf_texts *loaded, uint64_t event_id)
{
	const uint8_t one = 1;

	return loaded->lib.bpf_map_update_elem(loaded->following, &event_id, &one, BPF_ANY) ? -errno : 0;
}

int bpf_loaded_texts_cgroup(const struct bpf_texts *loaded, uint32_t index, int cgroup_fd)
{
	return loaded->lib.bpf_map_update_elem(loaded->cgroups, &index, &cgroup_fd, BPF_ANY) ? -errno : 0;
}
