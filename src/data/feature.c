/* SPDX-License-Identifier: MIT */
/*
 * feature.c: the header's features: what a recording says about machine, command and time. One row of
 * features[] says all about a feature: its bit, its name, the lines of `--header` that it becomes, and the
 * fields of its bytes in order. Reading, writing, showing and releasing walk over them.
 *
 * To add a feature: its bit in enum feature_id, members in struct info, a row here, its name in
 * pstat.data(5), and a case in tests/unit/test_data_feature.c. A field that no kind describes needs a new
 * kind: see feature_fields.c.
 *
 * Source: perf.data-file-format.txt.
 */
#include "data/feature.h"

#include <errno.h>
#include <stdlib.h>

/* ---- fields; in the words they have the names of their members ---- */
#define FIELD(name, kind, at, n, ...)                                                              \
	{                                                                                          \
		name, &feature_##kind, at, n, __VA_ARGS__                                          \
	}
#define FIELDS(...) ((const struct feature_field[]){ __VA_ARGS__, { NULL, NULL, 0, 0, NULL } })
#define NONE ((const struct feature_field[]){ { NULL, NULL, 0, 0, NULL } })
#define F(kind, member) FIELD(#member, kind, offsetof(struct info, member), 0, NULL)
/* All bytes that are left, whose number is the member of that name with _size. */
#define REST(member) FIELD(#member, rest, offsetof(struct info, member), offsetof(struct info, member##_size), NULL)
#define VERSION(bytes) FIELD("", version, 0, bytes, NULL)
/* A member shown once more, in another way. */
#define SHOWN(kind, member) FIELD(#kind, kind, offsetof(struct info, member), 0, NULL)

/* ---- lists: their count has n bytes, 0: it is always one; what an element is ---- */
#define ELEMENTS(type, words, between, ...) &(const struct feature_list){ __VA_ARGS__, sizeof(type), words, between }
#define LIST_OF(member, kind, n, ...) FIELD(#member, kind, offsetof(struct info, member), n, __VA_ARGS__)
#define LIST(member, n, type, words, between, ...)                                                 \
	LIST_OF(member, list, n, ELEMENTS(struct info_##type, words, between, FIELDS(__VA_ARGS__)))
/* Texts: "{}" in the words is the text itself. */
#define TEXTS(member, kind, words)                                                                 \
	LIST_OF(member, kind, 4, ELEMENTS(char *, words, "", FIELDS(FIELD("", text, 0, 0, NULL))))
/* A member of an element; what is about the whole element. */
#define E(type, kind, member) FIELD(#member, kind, offsetof(struct info_##type, member), 0, NULL)
#define WHOLE(kind, limit) FIELD(#kind, kind, 0, limit, NULL)

/* The most of one node: 128 TiB in blocks of 128 MiB, as they are today. */
enum { MEM_BLOCKS_MAX = 1 << 20 };

#define ROW(id, words, ...) { FEATURE_##id, #id, false, words, FIELDS(__VA_ARGS__) }
#define FULL(id, words, ...) { FEATURE_##id, #id, true, words, FIELDS(__VA_ARGS__) } /* with -I only */
#define FLAG(id, words) { FEATURE_##id, #id, false, words, NONE }

static const struct feature_row features[] = {
	/* perf's header says nothing of it either */
	ROW(TRACING_DATA, "", REST(tracing_data)),
	/* a command of their own prints them */
	ROW(BUILD_ID, "",
	    LIST_OF(build_ids, build_ids, 0,
		    ELEMENTS(struct info_build_id, "", "", FIELDS(E(build_id, text, path))))),
	ROW(HOSTNAME, "# hostname : {hostname}\n", F(text, hostname)),
	ROW(OSRELEASE, "# os release : {os_release}\n", F(text, os_release)),
	ROW(VERSION, "# perf version : {version}\n", F(text, version)),
	ROW(ARCH, "# arch : {arch}\n", F(text, arch)),
	ROW(NRCPUS, "# nrcpus online : {cpus_online}\n# nrcpus avail : {cpus_available}\n",
	    F(u32, cpus_available), F(u32, cpus_online)),
	ROW(CPUDESC, "# cpudesc : {cpu_desc}\n", F(text, cpu_desc)),
	ROW(CPUID, "# cpuid : {cpuid}\n", F(text, cpuid)),
	ROW(TOTAL_MEM, "# total memory : {total_mem_kb} kB\n", F(u64, total_mem_kb)),
	ROW(CMDLINE, "# cmdline : {cmdline}\n", TEXTS(cmdline, list, "{} ")),
	ROW(EVENT_DESC, "{event_desc}", WHOLE(event_desc, 0)),
	FULL(CPU_TOPOLOGY, "{core_siblings}{die_siblings}{thread_siblings}{cpus}",
	     TEXTS(core_siblings, list, "# sibling sockets : {}\n"),
	     TEXTS(thread_siblings, list, "# sibling threads : {}\n"),
	     LIST_OF(cpus, cpus, 0, ELEMENTS(struct info_cpu, "", "", NONE)),
	     TEXTS(die_siblings, dies, "# sibling dies    : {}\n")),
	FULL(NUMA_TOPOLOGY, "{nodes}",
	     LIST(nodes, 4, node,
		  "# node{node} meminfo  : total = {total_kb} kB, free = {free_kb} kB\n"
		  "# node{node} cpu list : {cpus}\n", "",
		  E(node, u32, node), E(node, u64, total_kb), E(node, u64, free_kb),
		  E(node, text, cpus))),
	FLAG(BRANCH_STACK, "# contains samples with branch stack\n"),
	ROW(PMU_MAPPINGS, "# pmu mappings: {pmus}\n",
	    LIST(pmus, 4, pmu, "{name} = {type}", ", ", E(pmu, u32, type), E(pmu, text, name))),
	ROW(GROUP_DESC, "{group_desc}", WHOLE(group_desc, 0)),
	ROW(AUXTRACE, "# contains AUX area data (e.g. instruction trace)\n",
	    LIST(auxtrace, 8, section, "", "", E(section, u64, offset), E(section, u64, size))),
	FLAG(STAT, "# contains stat data\n"),
	FULL(CACHE, "# CPU cache info:\n{caches}", VERSION(4),
	     LIST(caches, 4, cache, "#  L{level} {type:-15} {size:8} [{cpus}]\n", "",
		  E(cache, u32, level), E(cache, u32, line_bytes), E(cache, u32, sets),
		  E(cache, u32, ways), E(cache, text, type), E(cache, text, size),
		  E(cache, text, cpus))),
	ROW(SAMPLE_TIME,
	    "# time of first sample : {first_sample_ns}\n"
	    "# time of last sample : {last_sample_ns}\n"
	    "# sample duration : {duration}\n",
	    F(seconds, first_sample_ns), F(seconds, last_sample_ns), SHOWN(duration, last_sample_ns)),
	FULL(MEM_TOPOLOGY, "# memory nodes (nr {count}, block size {mem_block_bytes}):\n{mem_nodes}",
	     VERSION(8), F(hex, mem_block_bytes),
	     LIST(mem_nodes, 8, mem_node, "#  {node:3} [{blocks_size}]: {blocks}\n", "",
		  E(mem_node, u64, node), WHOLE(blocks, MEM_BLOCKS_MAX), WHOLE(blocks_size, 0)),
	     SHOWN(count, mem_nodes)),
	ROW(CLOCKID, "{clock_res_ns}", F(resolution, clock_res_ns)),
	ROW(DIR_FORMAT, "# directory data version : {dir_version}\n", F(u64, dir_version)),
	ROW(BPF_PROG_INFO, "{bpf_progs}", LIST(bpf_progs, 4, blob, "{program}", "", WHOLE(program, 0))),
	ROW(BPF_BTF, "{btfs}",
	    LIST(btfs, 4, blob, "# btf info of id {id}\n", "", E(blob, u32, id), WHOLE(blob, 0))),
	ROW(COMPRESSED, "# compressed : {comp_type}, level = {comp_level}, ratio = {comp_ratio}\n",
	    F(u32, comp_version), F(packing, comp_type), F(u32, comp_level), F(u32, comp_ratio),
	    F(u32, comp_chunk_bytes)),
	ROW(CPU_PMU_CAPS, "{cpu_caps}",
	    LIST(cpu_caps, 0, caps, "# cpu pmu capabilities: {caps}\n", "", WHOLE(caps, 0))),
	ROW(CLOCK_DATA,
	    "# clockid: {clock} ({clockid})\n"
	    "# reference time: {date} = {wall_clock_ns} (TOD) = {clockid_time_ns} ({clock})\n",
	    VERSION(4), F(u32, clockid), F(seconds, wall_clock_ns), F(nanoseconds, clockid_time_ns),
	    SHOWN(clock, clockid), SHOWN(date, wall_clock_ns)),
	ROW(HYBRID_TOPOLOGY, "# hybrid cpu system:\n{hybrid}",
	    LIST(hybrid, 4, hybrid, "# {pmu} cpu list : {cpus}\n", "",
		 E(hybrid, text, pmu), E(hybrid, text, cpus))),
	ROW(PMU_CAPS, "{pmu_caps}",
	    LIST(pmu_caps, 4, caps, "# {pmu} pmu capabilities: {caps}\n", "",
		 WHOLE(caps, 0), E(caps, text, pmu))),
	ROW(CPU_DOMAIN_INFO, "# cpu domain info : {cpu_domains} bytes\n", REST(cpu_domains)),
	ROW(E_MACHINE, "# e_machine : {e_machine}\n#   e_flags : {e_flags}\n", F(u32, e_machine), F(u32, e_flags)),
	ROW(CLN_SIZE, "# cacheline size: {cache_line_bytes}\n", F(u32, cache_line_bytes)),
	ROW(STAT_TARGET, "{stat_target}", F(target, stat_target)),
	/* sym/ knows what is in it */
	ROW(SYMBOLS, "# symbols in the file : {symbols} bytes\n", REST(symbols)),
};

/* ---- struct info ---- */
void info_init(struct info *info)
{
	memset(info, 0, sizeof(*info));
}

bool info_has(const struct info *info, unsigned feature)
{
	return feature < FEATURE_BITS && info->present[feature / 64] >> (feature % 64) & 1;
}

void info_set(struct info *info, unsigned feature)
{
	info->present[feature / 64] |= 1ULL << (feature % 64);
}

void info_clear(struct info *info, unsigned feature)
{
	info->present[feature / 64] &= ~(1ULL << (feature % 64));
}

void text_list_add(struct text_list *list, const char *text, size_t len)
{
	VEC_GROW(list->v, list->n, list->cap);
	list->v[list->n++] = xstrndup(text, len);
}

static const struct feature_row *feature_row(unsigned feature)
{
	/* The table is in order of the bits: perf's from 1 on, then pstat's own. */
	size_t at = feature < FEATURE_PSTAT ? feature - 1 : feature - FEATURE_PSTAT + FEATURE_LAST_KNOWN;

	return at < ARRAY_SIZE(features) && features[at].id == feature ? &features[at] : NULL;
}

const char *feature_name(unsigned feature)
{
	const struct feature_row *row = feature_row(feature);

	return row ? row->name : NULL;
}

static struct info_raw *raw_find(const struct info *info, unsigned feature)
{
	for (size_t i = 0; i < info->raw.n; i++)
		if (info->raw.v[i].id == feature)
			return &info->raw.v[i];
	return NULL;
}

/* Features that pstat does not know stay as bytes; their byte order is the file's. */
static void raw_read(unsigned feature, const void *bytes, size_t size, struct info *info)
{
	struct info_raw *raw = raw_find(info, feature);

	if (!raw) {
		VEC_GROW(info->raw.v, info->raw.n, info->raw.cap);
		raw = &info->raw.v[info->raw.n++];
		*raw = (struct info_raw){ .id = feature };
	}
	free(raw->bytes);
	raw->bytes = xmalloc(size);
	memcpy(raw->bytes, bytes, size);
	raw->size = size;
}

int feature_read(unsigned feature, const void *bytes, size_t size, bool swap, struct info *info,
		 struct events *events, struct str *err)
{
	const struct feature_row *row = feature_row(feature);
	struct feature_reading r = { cursor_on(bytes, size, swap), info, events, NULL };

	if (feature >= FEATURE_BITS)
		return fail(err, -EINVAL, "there is no such feature");
	info_set(info, feature);
	if (!row) {
		raw_read(feature, bytes, size, info);
		return 0;
	}
	feature_fields_release(info, row->fields, info);
	feature_fields_read(&r, row->fields, info);
	if (!r.why && r.c.bad)
		r.why = "it is cut off";
	if (!r.why)
		return 0;
	feature_fields_release(info, row->fields, info);
	info_clear(info, feature);
	return fail(err, -EINVAL, "%s", r.why);
}

bool feature_write(unsigned feature, const struct info *info, const struct events *events,
		   struct str *out)
{
	const struct feature_row *row = feature_row(feature);
	const struct feature_telling t = { info, events, out, out->len };
	const struct info_raw *raw;

	if (!info_has(info, feature))
		return false;
	if (row) {
		feature_fields_write(&t, row->fields, info);
		return true;
	}
	raw = raw_find(info, feature);
	if (raw)
		str_addn(out, (const char *)raw->bytes, raw->size);
	return raw;
}

void feature_print(unsigned feature, const struct info *info, const struct events *events,
		   bool full, struct str *out)
{
	const struct feature_row *row = feature_row(feature);
	const struct feature_telling t = { info, events, out, out->len };

	if (!info_has(info, feature))
		return;
	if (!row)
		str_addf(out, "# feature %u: not known to pstat\n", feature);
	else if (row->full && !full)
		str_addf(out, "# %s info available, use -I to display\n", row->name);
	else
		feature_words(&t, row->words, row->fields, info);
}

void info_print(const struct info *info, const struct events *events, bool full, struct str *out)
{
	unsigned last = FEATURE_CPU_DOMAIN_INFO - 1; /* what its recorder knew nothing of is not missing */

	for (unsigned i = 1; i < FEATURE_BITS; i++)
		feature_print(i, info, events, full, out);
	for (unsigned i = FEATURE_CPU_DOMAIN_INFO; i <= FEATURE_LAST_KNOWN; i++)
		last = info_has(info, i) ? FEATURE_LAST_KNOWN : last;
	str_add(out, "# missing features:");
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		if (features[i].id <= last && !info_has(info, features[i].id))
			str_addf(out, " %s", features[i].name);
	str_addc(out, '\n');
}

void info_copy(struct info *to, const struct info *from)
{
	struct str bytes = STR_INIT, why = STR_INIT;
	struct events none;

	events_init(&none);
	for (unsigned i = 0; i < FEATURE_BITS; i++) {
		if (!info_has(from, i))
			continue;
		info_set(to, i);
		if (i == FEATURE_EVENT_DESC || i == FEATURE_GROUP_DESC) /* what they say is in the events */
			continue;
		str_reset(&bytes);
		feature_write(i, from, &none, &bytes);
		feature_read(i, bytes.s, bytes.len, false, to, &none, &why);
	}
	events_release(&none);
	str_release(&bytes);
	str_release(&why);
}

void info_release(struct info *info)
{
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		feature_fields_release(info, features[i].fields, info);
	for (size_t i = 0; i < info->raw.n; i++)
		free(info->raw.v[i].bytes);
	free(info->raw.v);
	info_init(info);
}
