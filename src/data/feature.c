/*
 * feature.c: the header's features: what a recording says about machine, command and time. One row of
 * features[] per feature carries its bit, name, reading, writing and printing; text and number features
 * share functions and differ in the member they fill.
 *
 * To add a feature: its bit in enum feature_id, members in struct info, a row here, functions in one of
 * the feature_*.c files, and a case in tests/unit/test_data_feature.c.
 *
 * Source: perf.data-file-format.txt.
 */
#include "data/feature.h"

#include <errno.h>
#include <stdlib.h>

typedef unsigned long long ull;

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

/* ---- texts ---- */
char *feature_text(struct cursor *c)
{
	uint32_t len = cursor_u32(c);
	const uint8_t *p = cursor_bytes(c, len);

	return p ? xstrndup((const char *)p, len) : NULL;
}

void feature_put_text(struct str *out, const char *text)
{
	enum { TEXT_ALIGN = 64 };
	size_t len = strlen(text ? text : "") + 1;
	size_t padded = round_up(len, TEXT_ALIGN);

	put_u32(out, (uint32_t)padded);
	str_addn(out, text ? text : "", len);
	str_pad(out, '\0', padded - len);
}

void feature_add_text(struct str *out, const char *text)
{
	if (text)
		str_add_printable(out, text, strlen(text));
}

void text_list_add(struct text_list *list, const char *text, size_t len)
{
	VEC_GROW(list->v, list->n, list->cap);
	list->v[list->n++] = xstrndup(text, len);
}

void text_list_read(struct text_list *list, struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	for (uint32_t i = 0; i < n && !c->bad; i++) {
		char *text = feature_text(c);

		if (!text)
			return;
		VEC_GROW(list->v, list->n, list->cap);
		list->v[list->n++] = text;
	}
}

void text_list_write(const struct text_list *list, struct str *out)
{
	put_u32(out, (uint32_t)list->n);
	for (size_t i = 0; i < list->n; i++)
		feature_put_text(out, list->v[i]);
}

void text_list_release(struct text_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i]);
	free(list->v);
	*list = (struct text_list){ 0 };
}

/* ---- features that are one text ---- */
static char **text_member(const struct feature_row *row, const struct info *info)
{
	return (char **)((uintptr_t)info + row->at);
}

static FEATURE_READ(text)
{
	(void)events;
	*text_member(row, info) = feature_text(c);
	return NULL;
}

static FEATURE_WRITE(text)
{
	(void)events;
	feature_put_text(out, *text_member(row, info));
}

static FEATURE_RELEASE(text)
{
	char **text = text_member(row, info);

	free(*text);
	*text = NULL;
}

#define TEXT_PRINT(fn, label)                                                                      \
	static FEATURE_PRINT(fn)                                                                   \
	{                                                                                          \
		(void)events;                                                                      \
		str_add(out, "# " label " : ");                                                    \
		feature_add_text(out, *text_member(row, info));                                    \
		str_addc(out, '\n');                                                               \
	}
TEXT_PRINT(hostname, "hostname")
TEXT_PRINT(osrelease, "os release")
TEXT_PRINT(version, "perf version")
TEXT_PRINT(arch, "arch")
TEXT_PRINT(cpudesc, "cpudesc")
TEXT_PRINT(cpuid, "cpuid")

/* ---- features that are one u64 ---- */
static FEATURE_READ(number)
{
	uint64_t v = cursor_u64(c);

	(void)events;
	memcpy((char *)info + row->at, &v, sizeof(v));
	return NULL;
}

static FEATURE_WRITE(number)
{
	(void)events;
	str_addn(out, (const char *)info + row->at, sizeof(uint64_t));
}

static FEATURE_PRINT(total_mem)
{
	FEATURE_UNUSED;
	str_addf(out, "# total memory : %llu kB\n", (ull)info->total_mem_kb);
}

static FEATURE_PRINT(clockid)
{
	FEATURE_UNUSED;
	if (info->clock_res_ns)
		str_addf(out, "# clockid frequency: %llu MHz\n", 1000 / (ull)info->clock_res_ns);
}

static FEATURE_PRINT(stat_target)
{
	FEATURE_UNUSED;
	if (info->stat_target == STAT_TARGET_ALL_THREADS)
		str_add(out, "# counted : all threads of the system\n");
}

static FEATURE_PRINT(dir_format)
{
	FEATURE_UNUSED;
	str_addf(out, "# directory data version : %llu\n", (ull)info->dir_version);
}

/* ---- features that are only a bit ---- */
static FEATURE_READ(flag)
{
	FEATURE_UNUSED;
	(void)c;
	return NULL;
}

static FEATURE_WRITE(flag)
{
	FEATURE_UNUSED;
	(void)out;
}

static FEATURE_PRINT(branch_stack)
{
	FEATURE_UNUSED;
	str_add(out, "# contains samples with branch stack\n");
}

static FEATURE_PRINT(stat)
{
	FEATURE_UNUSED;
	str_add(out, "# contains stat data\n");
}

static FEATURE_READ(cmdline)
{
	FEATURE_UNUSED;
	text_list_read(&info->cmdline, c);
	return NULL;
}

static FEATURE_WRITE(cmdline)
{
	FEATURE_UNUSED;
	text_list_write(&info->cmdline, out);
}

static FEATURE_PRINT(cmdline)
{
	FEATURE_UNUSED;
	str_add(out, "# cmdline : ");
	for (size_t i = 0; i < info->cmdline.n; i++) {
		feature_add_text(out, info->cmdline.v[i]);
		str_addc(out, ' ');
	}
	str_addc(out, '\n');
}

static FEATURE_RELEASE(cmdline)
{
	(void)row;
	text_list_release(&info->cmdline);
}

#define MEMBER(m) offsetof(struct info, m)
#define TEXT(id, m, fn)                                                                            \
	{                                                                                          \
		FEATURE_##id, #id, false, MEMBER(m), feature_text_read, feature_text_write,        \
			feature_##fn##_print, feature_text_release                                 \
	}
#define NUMBER(id, m, fn)                                                                          \
	{                                                                                          \
		FEATURE_##id, #id, false, MEMBER(m), feature_number_read, feature_number_write,    \
			feature_##fn##_print, NULL                                                 \
	}
#define FLAG(id, fn)                                                                               \
	{                                                                                          \
		FEATURE_##id, #id, false, 0, feature_flag_read, feature_flag_write,                \
			feature_##fn##_print, NULL                                                 \
	}
#define PLAIN(id, fn)                                                                              \
	{                                                                                          \
		FEATURE_##id, #id, false, 0, feature_##fn##_read, feature_##fn##_write,            \
			feature_##fn##_print, NULL                                                 \
	}
#define OWNED(id, full, fn)                                                                        \
	{                                                                                          \
		FEATURE_##id, #id, full, 0, feature_##fn##_read, feature_##fn##_write,             \
			feature_##fn##_print, feature_##fn##_release                               \
	}

static const struct feature_row features[] = {
	OWNED(TRACING_DATA, false, tracing_data),
	OWNED(BUILD_ID, false, build_ids),
	TEXT(HOSTNAME, hostname, hostname),
	TEXT(OSRELEASE, os_release, osrelease),
	TEXT(VERSION, version, version),
	TEXT(ARCH, arch, arch),
	PLAIN(NRCPUS, nrcpus),
	TEXT(CPUDESC, cpu_desc, cpudesc),
	TEXT(CPUID, cpuid, cpuid),
	NUMBER(TOTAL_MEM, total_mem_kb, total_mem),
	OWNED(CMDLINE, false, cmdline),
	OWNED(EVENT_DESC, false, event_desc),
	OWNED(CPU_TOPOLOGY, true, cpu_topology),
	OWNED(NUMA_TOPOLOGY, true, numa),
	FLAG(BRANCH_STACK, branch_stack),
	OWNED(PMU_MAPPINGS, false, pmu_mappings),
	OWNED(GROUP_DESC, false, group_desc),
	OWNED(AUXTRACE, false, auxtrace),
	FLAG(STAT, stat),
	OWNED(CACHE, true, cache),
	PLAIN(SAMPLE_TIME, sample_time),
	OWNED(MEM_TOPOLOGY, true, mem_topology),
	NUMBER(CLOCKID, clock_res_ns, clockid),
	NUMBER(DIR_FORMAT, dir_version, dir_format),
	OWNED(BPF_PROG_INFO, false, bpf_progs),
	OWNED(BPF_BTF, false, btfs),
	PLAIN(COMPRESSED, compressed),
	OWNED(CPU_PMU_CAPS, false, cpu_pmu_caps),
	PLAIN(CLOCK_DATA, clock_data),
	OWNED(HYBRID_TOPOLOGY, false, hybrid),
	OWNED(PMU_CAPS, false, pmu_caps),
	NUMBER(STAT_TARGET, stat_target, stat_target),
};

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
	struct cursor c = cursor_on(bytes, size, swap);
	const char *why;

	if (feature >= FEATURE_BITS)
		return fail(err, -EINVAL, "there is no such feature");
	info_set(info, feature);
	if (!row) {
		raw_read(feature, bytes, size, info);
		return 0;
	}
	if (row->release)
		row->release(row, info);
	why = row->read(row, &c, info, events);
	if (!why && c.bad)
		why = "it is cut off";
	if (!why)
		return 0;
	if (row->release)
		row->release(row, info);
	info_clear(info, feature);
	return fail(err, -EINVAL, "%s", why);
}

bool feature_write(unsigned feature, const struct info *info, const struct events *events,
		   struct str *out)
{
	const struct feature_row *row = feature_row(feature);
	const struct info_raw *raw;

	if (!info_has(info, feature))
		return false;
	if (row) {
		row->write(row, info, events, out);
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

	if (!info_has(info, feature))
		return;
	if (!row)
		str_addf(out, "# feature %u: not known to pstat\n", feature);
	else if (row->full && !full)
		str_addf(out, "# %s info available, use -I to display\n", row->name);
	else
		row->print(row, info, events, out);
}

void info_print(const struct info *info, const struct events *events, bool full, struct str *out)
{
	for (unsigned i = 1; i < FEATURE_BITS; i++)
		feature_print(i, info, events, full, out);
	str_add(out, "# missing features:");
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		if (features[i].id < FEATURE_PSTAT && !info_has(info, features[i].id))
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
		if (features[i].release)
			features[i].release(&features[i], info);
	for (size_t i = 0; i < info->raw.n; i++)
		free(info->raw.v[i].bytes);
	free(info->raw.v);
	info_init(info);
}
