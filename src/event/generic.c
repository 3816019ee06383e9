/* SPDX-License-Identifier: MIT */
/*
 * The events that need nothing from the machine but their name or number: hardware, software and cache events, raw
 * codes (r1a), and TYPE:CONFIG.
 *
 * Names of cache events are put together from three tables of words. The operation is "loads" and the result
 * "accesses" where the name leaves them out; the two may come in either order. config = cache | operation << 8 |
 * result << 16 (perf_event_open(2)). Not every cache has every operation: a row's `ops` says which.
 *
 * On a machine with several core PMUs (hybrid) a hardware event opens once on each of them: the PMU's type goes into
 * config bits 32-63 (PERF_PMU_TYPE_SHIFT, include/uapi/linux/perf_event.h); raw codes get it as attr.type. With one
 * core PMU, or none, the kernel chooses.
 */
#include "event/source.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

struct named_event {
	const char *name;
	const char *alias;
	uint64_t config;
	const char *desc;
};

/* To add one: a row, a row in tests/unit/test_event.c. The configs are enum perf_hw_id. */
static const struct named_event hw_events[] = {
	{ "cpu-cycles", "cycles", PERF_COUNT_HW_CPU_CYCLES,
	  "core clock cycles, at any speed of the core" },
	{ "instructions", "", PERF_COUNT_HW_INSTRUCTIONS, "instructions retired" },
	{ "cache-references", "", PERF_COUNT_HW_CACHE_REFERENCES,
	  "accesses that reached the last-level cache" },
	{ "cache-misses", "", PERF_COUNT_HW_CACHE_MISSES, "accesses that the last-level cache missed" },
	{ "branch-instructions", "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches retired" },
	{ "branch-misses", "", PERF_COUNT_HW_BRANCH_MISSES, "branches that were predicted wrongly" },
	{ "bus-cycles", "", PERF_COUNT_HW_BUS_CYCLES, "bus clock cycles" },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
	  "cycles in which no instruction could be fetched or issued" },
	{ "stalled-cycles-backend", "idle-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
	  "cycles in which nothing could retire for lack of resources" },
	{ "ref-cycles", "", PERF_COUNT_HW_REF_CPU_CYCLES, "cycles of a clock of constant speed" },
};

/* Software events, added as hardware ones are; the configs are enum perf_sw_ids. */
static const struct named_event sw_events[] = {
	{ "cpu-clock", "", PERF_COUNT_SW_CPU_CLOCK, "time on the CPU, by its clock" },
	{ "task-clock", "", PERF_COUNT_SW_TASK_CLOCK, "time that the task ran" },
	{ "page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, "page faults, minor and major" },
	{ "minor-faults", "", PERF_COUNT_SW_PAGE_FAULTS_MIN, "page faults without disk I/O" },
	{ "major-faults", "", PERF_COUNT_SW_PAGE_FAULTS_MAJ, "page faults that waited for disk I/O" },
	{ "context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, "switches to another task" },
	{ "cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, "moves to another CPU" },
	{ "alignment-faults", "", PERF_COUNT_SW_ALIGNMENT_FAULTS,
	  "unaligned accesses that the kernel mended" },
	{ "emulation-faults", "", PERF_COUNT_SW_EMULATION_FAULTS,
	  "instructions that the kernel emulated" },
	{ "dummy", "", PERF_COUNT_SW_DUMMY, "counts nothing; carries side-band records" },
	{ "bpf-output", "", PERF_COUNT_SW_BPF_OUTPUT, "records written by BPF programs" },
	{ "cgroup-switches", "", PERF_COUNT_SW_CGROUP_SWITCHES, "switches to a task of another cgroup" },
};

/* ---- names of cache events: CACHE[-OPERATION][-RESULT] ---- */

enum { OP_R = 1 << PERF_COUNT_HW_CACHE_OP_READ, OP_W = 1 << PERF_COUNT_HW_CACHE_OP_WRITE,
       OP_P = 1 << PERF_COUNT_HW_CACHE_OP_PREFETCH };

struct cache_word {
	unsigned id; /* PERF_COUNT_HW_CACHE_* */
	const char *words[6]; /* as the event language has them; the first is the one listed */
	const char *desc;
	unsigned ops; /* caches only: bits of the operations there are */
};

/* To add a word: its row, a row in tests/unit/test_event.c. */
static const struct cache_word caches[] = {
	{ PERF_COUNT_HW_CACHE_L1D, { "L1-dcache", "l1-d", "l1d", "L1-data" },
	  "level 1 data cache", OP_R | OP_W | OP_P },
	{ PERF_COUNT_HW_CACHE_L1I, { "L1-icache", "l1-i", "l1i", "L1-instruction" },
	  "level 1 instruction cache", OP_R | OP_P },
	{ PERF_COUNT_HW_CACHE_LL, { "LLC", "L2" }, "last-level cache", OP_R | OP_W | OP_P },
	{ PERF_COUNT_HW_CACHE_DTLB, { "dTLB", "d-tlb", "Data-TLB" }, "data TLB", OP_R | OP_W | OP_P },
	{ PERF_COUNT_HW_CACHE_ITLB, { "iTLB", "i-tlb", "Instruction-TLB" }, "instruction TLB", OP_R },
	{ PERF_COUNT_HW_CACHE_BPU, { "branch", "branches", "bpu", "btb", "bpc" },
	  "branch prediction unit", OP_R },
	{ PERF_COUNT_HW_CACHE_NODE, { "node" }, "memory of the CPU's node", OP_R | OP_W | OP_P },
};

static const struct cache_word operations[] = {
	{ PERF_COUNT_HW_CACHE_OP_READ, { "load", "loads", "read" }, "loads", 0 },
	{ PERF_COUNT_HW_CACHE_OP_WRITE, { "store", "stores", "write" }, "stores", 0 },
	{ PERF_COUNT_HW_CACHE_OP_PREFETCH,
	  { "prefetch", "prefetches", "speculative-read", "speculative-load" }, "prefetches", 0 },
};

static const struct cache_word results[] = {
	{ PERF_COUNT_HW_CACHE_RESULT_ACCESS, { "refs", "Reference", "ops", "access" }, "accesses", 0 },
	{ PERF_COUNT_HW_CACHE_RESULT_MISS, { "misses", "miss" }, "misses", 0 },
};

/* The row with the longest word that text begins with, up to its end or a '-'; *len its length. */
static const struct cache_word *match(const struct cache_word *rows, size_t n, const char *text,
				      size_t *len)
{
	const struct cache_word *found = NULL;

	*len = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < ARRAY_SIZE(rows[i].words) && rows[i].words[j]; j++) {
			size_t l = strlen(rows[i].words[j]);

			if (l <= *len || strncmp(rows[i].words[j], text, l) != 0)
				continue;
			if (text[l] && text[l] != '-')
				continue;
			found = &rows[i];
			*len = l;
		}
	}
	return found;
}

/* One "-word" of *text; takes it if it is in the table and the table's turn has not been. */
static bool take_part(const char **text, const struct cache_word *rows, size_t n,
		      const struct cache_word **out)
{
	const struct cache_word *row;
	size_t len;

	if (**text != '-' || *out)
		return false;
	row = match(rows, n, *text + 1, &len);
	if (!row)
		return false;
	*out = row;
	*text += 1 + len;
	return true;
}

/*
 * "L1-dcache-load-misses" -> PERF_TYPE_HW_CACHE's config. 1 found, 0 not the name of a cache event,
 * -EINVAL a cache that has no such operation: then *why (may be NULL) gets a few static words.
 */
static int cache_config(const char *name, uint64_t *config, const char **why)
{
	const struct cache_word *op = NULL, *result = NULL, *cache;
	size_t len;

	cache = match(caches, ARRAY_SIZE(caches), name, &len);
	if (!cache)
		return 0;
	name += len;
	while (take_part(&name, operations, ARRAY_SIZE(operations), &op) ||
	       take_part(&name, results, ARRAY_SIZE(results), &result))
		;
	if (*name)
		return 0;
	if (op && !(cache->ops & 1u << op->id)) {
		if (why)
			*why = op->desc;
		return -EINVAL;
	}
	*config = cache->id | (uint64_t)(op ? op->id : PERF_COUNT_HW_CACHE_OP_READ) << 8 |
		  (uint64_t)(result ? result->id : PERF_COUNT_HW_CACHE_RESULT_ACCESS) << 16;
	return 1;
}

/* ---- names -> type and config ---- */

static const struct named_event *find_named(const struct named_event *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].name, name) == 0 || (*v[i].alias && strcmp(v[i].alias, name) == 0))
			return &v[i];
	return NULL;
}

bool generic_config(const char *name, uint32_t *type, uint64_t *config)
{
	const struct named_event *row = find_named(hw_events, ARRAY_SIZE(hw_events), name);

	*type = PERF_TYPE_HARDWARE;
	if (!row) {
		row = find_named(sw_events, ARRAY_SIZE(sw_events), name);
		*type = PERF_TYPE_SOFTWARE;
	}
	if (row) {
		*config = row->config;
		return true;
	}
	*type = PERF_TYPE_HW_CACHE;
	return cache_config(name, config, NULL) == 1;
}

/* ---- making the events ---- */

static bool has_name_term(const struct spec_event *spec)
{
	for (size_t i = 0; i < spec->n_terms; i++)
		if (strcmp(spec->terms[i].name, "name") == 0)
			return true;
	return false;
}

/* cycles/period=5/u on cpu_core -> cpu_core/cycles,period=5/u */
static char *name_on_pmu(const struct spec_event *spec, const struct event_pmu *pmu)
{
	struct str s = STR_INIT;

	str_addf(&s, "%s/%s", pmu->name, spec->word);
	if (spec->second)
		str_addf(&s, ":%s", spec->second);
	for (size_t i = 0; i < spec->n_terms; i++) {
		str_addf(&s, ",%s", spec->terms[i].name);
		if (spec->terms[i].value)
			str_addf(&s, "=%s", spec->terms[i].value);
	}
	str_addf(&s, "/%s", spec->modifiers);
	return str_detach(&s);
}

static void put_on_pmu(struct event *event, const struct spec_event *spec,
		       const struct event_pmu *pmu)
{
	if (event->attr.type == PERF_TYPE_RAW)
		event->attr.type = pmu->type;
	else if (!(event->attr.config >> PERF_PMU_TYPE_SHIFT))
		event->attr.config |= (uint64_t)pmu->type << PERF_PMU_TYPE_SHIFT;
	if (!has_name_term(spec)) {
		free(event->name);
		event->name = name_on_pmu(spec, pmu);
	}
	event_set_pmu(event, pmu);
	event->expansion = EXPANSION_CORE_TYPES;
}

static bool counted_by_core(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

static int add_event(struct event_parse *p, const struct spec_event *spec,
		     const struct event_source *source, const struct event_pmu *pmu, uint32_t type,
		     uint64_t config)
{
	struct event *event = event_new(p, spec, source);
	int rc;

	event->attr.type = type;
	event->attr.config = config;
	event->pmu_is_core = counted_by_core(type);
	rc = event_apply_terms(p, spec, event, NULL, NULL, NULL);
	if (rc)
		return rc;
	if (pmu)
		put_on_pmu(event, spec, pmu);
	return 1;
}

/*
 * One event with its terms applied, or one per core PMU where type is counted by cores and the machine
 * has several. 1, or a negative errno with p->error filled.
 */
static int generic_add(struct event_parse *p, const struct spec_event *spec,
		       const struct event_source *source, uint32_t type, uint64_t config)
{
	const struct event_pmu_list *cores = NULL;
	bool extended = type != PERF_TYPE_RAW && config >> PERF_PMU_TYPE_SHIFT;

	if (counted_by_core(type) && !extended)
		cores = pmu_core_pmus(p);
	if (!cores || cores->n < 2)
		return add_event(p, spec, source, NULL, type, config);
	for (size_t i = 0; i < cores->n; i++) {
		int rc = add_event(p, spec, source, &cores->v[i], type, config);

		if (rc < 0)
			return rc;
	}
	return 1;
}

/* May the first word be the name of an event: NAME or NAME/terms/? */
static bool is_name(const struct spec_event *spec)
{
	return spec->kind == SPEC_WORD || spec->kind == SPEC_PMU;
}

/* ---- hardware, software and caches ---- */

static int hw_lookup(struct event_parse *p, const struct spec_event *spec)
{
	const struct named_event *row = find_named(hw_events, ARRAY_SIZE(hw_events), spec->word);

	if (!row || !is_name(spec))
		return 0;
	return generic_add(p, spec, &hw_source, PERF_TYPE_HARDWARE, row->config);
}

static int sw_lookup(struct event_parse *p, const struct spec_event *spec)
{
	const struct named_event *row = find_named(sw_events, ARRAY_SIZE(sw_events), spec->word);

	if (!row || !is_name(spec))
		return 0;
	return generic_add(p, spec, &sw_source, PERF_TYPE_SOFTWARE, row->config);
}

static int cache_lookup(struct event_parse *p, const struct spec_event *spec)
{
	const char *op = "";
	uint64_t config;
	int rc;

	if (!is_name(spec))
		return 0;
	rc = cache_config(spec->word, &config, &op);
	if (rc < 0)
		return spec_fail(p->error, rc, spec->word_pos, "'%s': this cache has no event for %s",
				 spec->word, op);
	return rc ? generic_add(p, spec, &cache_source, PERF_TYPE_HW_CACHE, config) : 0;
}

static int list_named(const struct named_event *v, size_t n, const char *topic, event_info_fn fn,
		      void *data)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		const struct event_info info = {
			.topic = topic, .name = v[i].name, .alias = v[i].alias, .desc = v[i].desc,
			.pmu_name = "", .unit = "", .scale = 1.0,
		};

		rc = fn(&info, data);
	}
	return rc;
}

static int hw_list(const struct host_paths *host, event_info_fn fn, void *data, struct str *err)
{
	(void)host;
	(void)err;
	return list_named(hw_events, ARRAY_SIZE(hw_events), hw_source.topic.name, fn, data);
}

static int sw_list(const struct host_paths *host, event_info_fn fn, void *data, struct str *err)
{
	(void)host;
	(void)err;
	return list_named(sw_events, ARRAY_SIZE(sw_events), sw_source.topic.name, fn, data);
}

/* "L1-dcache-loads", "L1-dcache-load-misses" */
static int list_cache_event(const struct cache_word *cache, const struct cache_word *op, bool misses,
			    event_info_fn fn, void *data)
{
	struct str name = STR_INIT, desc = STR_INIT;
	struct event_info info = { .topic = cache_source.topic.name, .alias = "", .pmu_name = "",
				   .unit = "", .scale = 1.0 };
	int rc;

	str_addf(&name, "%s-%s%s", cache->words[0], misses ? op->words[0] : op->desc,
		 misses ? "-misses" : "");
	str_addf(&desc, "%s: %s%s", cache->desc, op->desc, misses ? " that missed" : "");
	info.name = name.s;
	info.desc = desc.s;
	rc = fn(&info, data);
	str_release(&name);
	str_release(&desc);
	return rc;
}

static int cache_list(const struct host_paths *host, event_info_fn fn, void *data, struct str *err)
{
	int rc;

	(void)host;
	(void)err;
	for (size_t i = 0; i < ARRAY_SIZE(caches); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(operations); j++) {
			if (!(caches[i].ops & 1u << operations[j].id))
				continue;
			rc = list_cache_event(&caches[i], &operations[j], false, fn, data);
			if (!rc)
				rc = list_cache_event(&caches[i], &operations[j], true, fn, data);
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* ---- raw codes and numbers ---- */

static bool all_digits(const char *s)
{
	return *s && !s[strspn(s, "0123456789")];
}

/* "r1a", "r0x1a": the digits, or NULL. */
static const char *raw_digits(const char *word)
{
	if (word[0] != 'r')
		return NULL;
	word++;
	if (word[0] == '0' && word[1] == 'x')
		word += 2;
	if (!*word || word[strspn(word, "0123456789abcdefABCDEF")])
		return NULL;
	return word;
}

static int add_numeric(struct event_parse *p, const struct spec_event *spec)
{
	bool hex = strncmp(spec->second, "0x", 2) == 0;
	const char *digits = hex ? spec->second + 2 : spec->second;
	uint64_t type, config;
	int rc;

	if (parse_u64(spec->word, 10, &type) || type > UINT32_MAX)
		return spec_fail(p->error, -EINVAL, spec->word_pos,
				 "'%s' is too big for a type, at most %u fits", spec->word,
				 UINT32_MAX);
	rc = hex || all_digits(digits) ? parse_u64(digits, hex ? 16 : 10, &config) : -EINVAL;
	if (rc == -ERANGE)
		return spec_fail(p->error, -EINVAL, spec->second_pos, "'%s' has more than 64 bits",
				 spec->second);
	if (rc)
		return spec_fail(p->error, -EINVAL, spec->second_pos,
				 "'%s:' needs a number, and '%s' is not one",
				 spec->word, spec->second);
	rc = generic_add(p, spec, &raw_source, (uint32_t)type, config);
	if (rc == 1 && p->list->v[p->list->n - 1].expansion == EXPANSION_NONE)
		event_find_pmu(p, &p->list->v[p->list->n - 1]);
	return rc;
}

static int raw_lookup(struct event_parse *p, const struct spec_event *spec)
{
	const char *digits;
	uint64_t config;

	if (spec->kind == SPEC_PAIR && all_digits(spec->word))
		return add_numeric(p, spec);
	if (!is_name(spec))
		return 0;
	digits = raw_digits(spec->word);
	if (!digits)
		return 0;
	if (parse_u64(digits, 16, &config))
		return spec_fail(p->error, -EINVAL, spec->word_pos, "'%s' has more than 64 bits",
				 spec->word);
	return generic_add(p, spec, &raw_source, PERF_TYPE_RAW, config);
}

static int raw_list(const struct host_paths *host, event_info_fn fn, void *data, struct str *err)
{
	static const struct named_event forms[] = {
		{ "rNNN", "r0xNNN", 0, "raw code of the core unit, in hexadecimal" },
		{ "TYPE:CONFIG", "", 0, "attr.type and attr.config as numbers" },
	};

	(void)host;
	(void)err;
	return list_named(forms, ARRAY_SIZE(forms), raw_source.topic.name, fn, data);
}

const struct event_source hw_source = {
	.topic = { "hw", "Hardware events", "Hardware event", true },
	.lookup = hw_lookup,
	.list = hw_list,
};
const struct event_source sw_source = {
	.topic = { "sw", "Events of the kernel", "Software event", true },
	.lookup = sw_lookup,
	.list = sw_list,
};
const struct event_source cache_source = {
	.topic = { "cache", "Hardware cache events", "Hardware cache event", true },
	.lookup = cache_lookup,
	.list = cache_list,
};
const struct event_source raw_source = {
	.topic = { "raw", "Codes", "Raw event descriptor", false },
	.lookup = raw_lookup,
	.list = raw_list,
};
