/* SPDX-License-Identifier: MIT */
/*
 * tool: what pstat knows itself, so that it can stand in an event list: wall-clock time and the CPU time of the
 * measured command, in ns, and numbers about the machine and the target, as perf 7.2 has them. Nothing is opened for
 * them; the attr is the kernel's dummy event, so that code that looks at it sees something harmless.
 *
 * Sources: Documentation/ABI/stable/sysfs-devices-system-cpu, and sysfs-bus-event_source-devices-caps.
 */
#include "event/source.h"

#include <ctype.h>
#include <stdlib.h>
#include <sys/stat.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* ---- numbers about the machine: true, and *value set; or it does not say ---- */

enum { CPU_MAX = 1 << 16 };

static char *cpu_path(const struct host_paths *host, const char *name)
{
	return xasprintf("%s/devices/system/cpu/%s", host->sysfs, name);
}

static bool cpus_in(const struct host_paths *host, const char *name, struct intset *cpus)
{
	struct str text = STR_INIT, ignored = STR_INIT;
	char *path = cpu_path(host, name);
	bool there = !read_line_file(path, &text) && !intset_parse(cpus, text.s, CPU_MAX, &ignored) && cpus->n;

	free(path);
	str_release(&text);
	str_release(&ignored);
	return there;
}

static bool count_cpus(const struct host_paths *host, const char *name, uint64_t *value)
{
	struct intset cpus = { .n = 0 };
	bool there = cpus_in(host, name, &cpus);

	*value = cpus.n;
	intset_release(&cpus);
	return there;
}

static bool num_cpus(const struct host_paths *host, uint64_t *value)
{
	return count_cpus(host, "present", value) || count_cpus(host, "possible", value);
}

static bool num_cpus_online(const struct host_paths *host, uint64_t *value)
{
	return count_cpus(host, "online", value);
}

/* The package of a CPU, its die and its core, as far as they are asked for: cores of two packages have one number. */
enum cpu_unit { UNIT_PACKAGE, UNIT_DIE, UNIT_CORE, UNITS };

struct cpu_place {
	uint64_t number[UNITS];
};

static bool place_of(const struct host_paths *host, int cpu, enum cpu_unit unit, struct cpu_place *place)
{
	static const char *const files[] = { "physical_package_id", "die_id", "core_id" };

	*place = (struct cpu_place){ { 0 } };
	for (enum cpu_unit i = UNIT_PACKAGE; i <= unit; i++) {
		char *path = xasprintf("%s/devices/system/cpu/cpu%d/topology/%s", host->sysfs, cpu, files[i]);
		int rc = read_u64_file(path, &place->number[i]);

		free(path);
		if (rc && i != UNIT_DIE) /* kernels before 5.2, and many machines, have no dies */
			return false;
	}
	return true;
}

static int compare_places(const void *a, const void *b)
{
	const struct cpu_place *x = a, *y = b;

	for (int i = 0; i < UNITS; i++)
		if (x->number[i] != y->number[i])
			return x->number[i] < y->number[i] ? -1 : 1;
	return 0;
}

static bool count_units(const struct host_paths *host, enum cpu_unit unit, uint64_t *value)
{
	struct intset cpus = { .n = 0 };
	bool known = cpus_in(host, "online", &cpus);
	struct cpu_place *places = xcalloc(cpus.n + 1, sizeof(*places));

	*value = 0;
	for (size_t i = 0; i < cpus.n && known; i++)
		known = place_of(host, cpus.v[i], unit, &places[i]);
	qsort(places, cpus.n, sizeof(*places), compare_places);
	for (size_t i = 0; i < cpus.n; i++)
		*value += !i || compare_places(&places[i - 1], &places[i]) != 0;
	free(places);
	intset_release(&cpus);
	return known;
}

static bool num_packages(const struct host_paths *host, uint64_t *value)
{
	return count_units(host, UNIT_PACKAGE, value);
}

static bool num_dies(const struct host_paths *host, uint64_t *value)
{
	return count_units(host, UNIT_DIE, value);
}

static bool num_cores(const struct host_paths *host, uint64_t *value)
{
	return count_units(host, UNIT_CORE, value);
}

/* The kernel's own word; before 4.19 it has none. */
static bool smt_on(const struct host_paths *host, uint64_t *value)
{
	char *path = cpu_path(host, "smt/active");
	bool known = !read_u64_file(path, value);
	uint64_t cpus, cores;

	free(path);
	if (!known && num_cpus_online(host, &cpus) && num_cores(host, &cores)) {
		*value = cpus > cores;
		known = true;
	}
	return known;
}

/* The firmware's table of persistent memory; where there are no tables nothing is known. */
static bool has_pmem(const struct host_paths *host, uint64_t *value)
{
	char *folder = xasprintf("%s/firmware/acpi/tables", host->sysfs), *table = xasprintf("%s/NFIT", folder);
	struct stat st;
	bool known = !stat(folder, &st);

	*value = !stat(table, &st);
	free(table);
	free(folder);
	return known;
}

/* Asks the processor that this runs on. */
static bool machine_tsc_hz(uint64_t *value)
{
#if defined(__x86_64__)
	unsigned below, above, crystal_hz, unused;

	if (!__get_cpuid_count(0x15, 0, &below, &above, &crystal_hz, &unused) || !below || !above || !crystal_hz)
		return false;
	*value = (uint64_t)crystal_hz * above / below;
	return true;
#elif defined(__aarch64__)
	__asm__("mrs %0, cntfrq_el0" : "=r"(*value));
	return *value != 0;
#else
	(void)value;
	return false;
#endif
}

/* Slots in which an Arm core issues operations, each cycle; of several kinds of cores that of the first. */
static bool slots_per_cycle(const struct host_paths *host, uint64_t *value)
{
	struct event_pmu_list cores = { .n = 0 };
	char *path;
	bool known;

	event_core_pmus_read(&cores, host);
	path = xasprintf("%s/bus/event_source/devices/%s/caps/slots", host->sysfs, cores.n ? cores.v[0].name : "");
	known = cores.n && !read_u64_file(path, value) && *value;
	free(path);
	event_pmu_list_release(&cores);
	return known;
}

/* "3.50GHz" at the end of Intel's model names. */
static bool named_hz(const char *cpuinfo, uint64_t *value)
{
	const char *name = strstr(cpuinfo, "model name"), *at, *end;
	char *text;
	double ghz;
	bool known;

	if (!name)
		return false;
	end = name + strcspn(name, "\n");
	while (end > name && isspace((unsigned char)end[-1]))
		end--;
	if (end - name < 4 || (memcmp(end - 3, "GHz", 3) != 0 && memcmp(end - 3, "MHz", 3) != 0))
		return false;
	for (at = end - 3; at > name && (isdigit((unsigned char)at[-1]) || at[-1] == '.'); at--)
		;
	text = xstrndup(at, (size_t)(end - 3 - at));
	known = !parse_double(text, &ghz) && ghz > 0 && ghz < 1e6;
	if (known)
		*value = (uint64_t)(ghz * (end[-3] == 'G' ? 1e9 : 1e6) + 0.5);
	free(text);
	return known;
}

/*
 * Ticks of the time stamp counter per second: what the processor itself says (cpuid 0x15), else what its name says;
 * of an Arm core the frequency of its counter.
 */
static bool system_tsc_freq(const struct host_paths *host, uint64_t *value)
{
	char *path = xasprintf("%s/cpuinfo", host->procfs);
	struct str text = STR_INIT;
	bool known = !strcmp(host->procfs, "/proc") && machine_tsc_hz(value);

	if (!known)
		known = !read_text_file(path, &text) && named_hz(text.s, value);
	str_release(&text);
	free(path);
	return known;
}

/* To add one: a row; of a kind of its own: the kind in event.h, its value in count/; a line in pstat-stat(1). */
static const struct tool_event {
	const char *name;
	enum event_kind kind;
	const char *unit;
	const char *desc;
	bool (*fact)(const struct host_paths *host, uint64_t *value); /* EVENT_FACT */
	bool yields; /* where nothing is known it may be another source's name: Intel's slots */
} tool_events[] = {
	{ "duration_time", EVENT_DURATION_TIME, "ns", "wall-clock time of the measurement", NULL, false },
	{ "user_time", EVENT_USER_TIME, "ns", "CPU time that the command spent in user mode", NULL, false },
	{ "system_time", EVENT_SYSTEM_TIME, "ns", "CPU time that the command spent in the kernel", NULL, false },
	{ "num_cpus", EVENT_FACT, "", "CPUs of the machine", num_cpus, false },
	{ "num_cpus_online", EVENT_FACT, "", "CPUs that are online", num_cpus_online, false },
	{ "num_packages", EVENT_FACT, "", "packages with CPUs that are online", num_packages, false },
	{ "num_dies", EVENT_FACT, "", "dies with CPUs that are online", num_dies, false },
	{ "num_cores", EVENT_FACT, "", "cores with CPUs that are online", num_cores, false },
	{ "smt_on", EVENT_FACT, "", "1 if cores run several threads at once, else 0", smt_on, false },
	{ "slots", EVENT_FACT, "", "slots for operations of an Arm core, per cycle", slots_per_cycle, true },
	{ "system_tsc_freq", EVENT_FACT, "", "frequency of the time stamp counter, in Hz", system_tsc_freq, false },
	{ "has_pmem", EVENT_FACT, "", "1 if the firmware lists persistent memory, else 0", has_pmem, false },
	{ "target_cpu", EVENT_TARGET_CPU, "", "1 if CPUs are counted, 0 if tasks", NULL, false },
	{ "core_wide", EVENT_CORE_WIDE, "", "1 if CPUs are counted, and of each core all or none, else 0", NULL,
	  false },
};

static const struct tool_event *find_row(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(tool_events); i++)
		if (!strcmp(tool_events[i].name, name))
			return &tool_events[i];
	return NULL;
}

/* Takes duration_time and tool/duration_time/, with terms. */
static int tool_lookup(struct event_parse *p, const struct spec_event *spec)
{
	const struct tool_event *row;
	struct spec_event rest = *spec;
	struct event *event;
	uint64_t fact = 0;
	bool known;
	int ret;

	if (spec->kind != SPEC_WORD && spec->kind != SPEC_PMU)
		return 0;
	row = find_row(spec->word);
	if (!row && spec->n_terms && !strcmp(spec->word, "tool") && !spec->terms[0].value) {
		row = find_row(spec->terms[0].name);
		rest.terms++;
		rest.n_terms--;
	}
	known = row && row->fact && row->fact(p->host, &fact);
	if (!row || (row->yields && !known))
		return 0;
	event = event_new(p, spec, &tool_source);
	event->kind = row->kind;
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_DUMMY;
	free(event->unit);
	event->unit = xstrdup(row->unit);
	event->snapshot = event->kind >= EVENT_FACT;
	event->fact = fact;
	event->fact_unknown = row->fact && !known;
	ret = event_apply_terms(p, &rest, event, NULL, NULL, NULL);
	return ret ? ret : 1;
}

static int tool_list(const struct host_paths *host, event_info_fn fn, void *data, struct str *err)
{
	(void)host;
	(void)err;
	for (size_t i = 0; i < ARRAY_SIZE(tool_events); i++) {
		const struct event_info info = { .topic = tool_source.topic.name,
						 .name = tool_events[i].name, .alias = "",
						 .desc = tool_events[i].desc, .pmu_name = "",
						 .unit = tool_events[i].unit, .scale = 1.0 };
		int ret = fn(&info, data);

		if (ret)
			return ret;
	}
	return 0;
}

const struct event_source tool_source = {
	.topic = { "tool", "Times of the measurement, and the machine", "Tool event", true },
	.lookup = tool_lookup,
	.list = tool_list,
};
