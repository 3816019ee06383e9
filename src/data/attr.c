/* SPDX-License-Identifier: MIT */
/*
 * attr.c: perf_event_attr as bytes with a version: the struct grew from 64 bytes on, and a file says how
 * many of them its recorder knew. One table of fields carries offset, width, name and the way a
 * field is printed; loading, byte swap and printing walk over it.
 *
 * To add a field: one row of fields[] in struct order (or of flag_names[] for a bit of the flags
 * word), and its name in the test of evlist -v.
 *
 * Source: include/uapi/linux/perf_event.h.
 */
#include "data/attr.h"

#include "data/bytes.h"

enum { FLAGS_OFFSET = 40 };

/* The words of a mask, in bit order. */
static const char *const sample_type_names[] = {
	"IP",
	"TID",
	"TIME",
	"ADDR",
	"READ",
	"CALLCHAIN",
	"ID",
	"CPU",
	"PERIOD",
	"STREAM_ID",
	"RAW",
	"BRANCH_STACK",
	"REGS_USER",
	"STACK_USER",
	"WEIGHT",
	"DATA_SRC",
	"IDENTIFIER",
	"TRANSACTION",
	"REGS_INTR",
	"PHYS_ADDR",
	"AUX",
	"CGROUP",
	"DATA_PAGE_SIZE",
	"CODE_PAGE_SIZE",
	"WEIGHT_STRUCT",
	NULL,
};
static const char *const read_format_names[] = {
	"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP", "LOST", NULL,
};
static const char *const branch_type_names[] = {
	"USER",     "KERNEL",    "HV",        "ANY",      "ANY_CALL",   "ANY_RETURN", "IND_CALL",
	"ABORT_TX", "IN_TX",     "NO_TX",     "COND",     "CALL_STACK", "IND_JUMP",   "CALL",
	"NO_FLAGS", "NO_CYCLES", "TYPE_SAVE", "HW_INDEX", "PRIV_SAVE",  "COUNTERS",   NULL,
};

/* Names by their numbers: enum perf_type_id, perf_hw_id, perf_sw_ids, perf_hw_cache_id, ..._op_id, ..._op_result_id. */
static const char *const type_names[] = { "HARDWARE", "SOFTWARE", "TRACEPOINT", "HW_CACHE", NULL, "BREAKPOINT" };
static const char *const hardware_names[] = {
	"CPU_CYCLES",
	"INSTRUCTIONS",
	"CACHE_REFERENCES",
	"CACHE_MISSES",
	"BRANCH_INSTRUCTIONS",
	"BRANCH_MISSES",
	"BUS_CYCLES",
	"STALLED_CYCLES_FRONTEND",
	"STALLED_CYCLES_BACKEND",
	"REF_CPU_CYCLES",
};
static const char *const software_names[] = {
	"CPU_CLOCK",
	"TASK_CLOCK",
	"PAGE_FAULTS",
	"CONTEXT_SWITCHES",
	"CPU_MIGRATIONS",
	"PAGE_FAULTS_MIN",
	"PAGE_FAULTS_MAJ",
	"ALIGNMENT_FAULTS",
	"EMULATION_FAULTS",
	"DUMMY",
	"BPF_OUTPUT",
	"CGROUP_SWITCHES",
};
static const char *const cache_names[] = { "L1D", "L1I", "LL", "DTLB", "ITLB", "BPU", "NODE" };
static const char *const cache_op_names[] = { "READ", "WRITE", "PREFETCH" };
static const char *const cache_result_names[] = { "ACCESS", "MISS" };

enum show { SHOW_NONE, SHOW_DECIMAL, SHOW_SIGNED, SHOW_HEX, SHOW_MASK, SHOW_TYPE, SHOW_CONFIG };

struct attr_field {
	const char *name;
	uint16_t offset;
	uint8_t bytes;
	uint8_t show;
	bool always; /* printed when 0, too */
	const char *const *bits; /* SHOW_MASK: names, ended by NULL */
};

static const struct attr_field fields[] = {
	{ "type", 0, 4, SHOW_TYPE, true, NULL },
	{ "size", 4, 4, SHOW_DECIMAL, false, NULL },
	{ "config", 8, 8, SHOW_CONFIG, true, NULL },
	{ "{ sample_period, sample_freq }", 16, 8, SHOW_DECIMAL, false, NULL },
	{ "sample_type", 24, 8, SHOW_MASK, false, sample_type_names },
	{ "read_format", 32, 8, SHOW_MASK, false, read_format_names },
	{ "flags", FLAGS_OFFSET, 8, SHOW_NONE, false, NULL }, /* see flag_names */
	{ "{ wakeup_events, wakeup_watermark }", 48, 4, SHOW_DECIMAL, false, NULL },
	{ "bp_type", 52, 4, SHOW_DECIMAL, false, NULL },
	{ "{ bp_addr, config1 }", 56, 8, SHOW_HEX, false, NULL },
	{ "{ bp_len, config2 }", 64, 8, SHOW_HEX, false, NULL },
	{ "branch_sample_type", 72, 8, SHOW_MASK, false, branch_type_names },
	{ "sample_regs_user", 80, 8, SHOW_HEX, false, NULL },
	{ "sample_stack_user", 88, 4, SHOW_DECIMAL, false, NULL },
	{ "clockid", 92, 4, SHOW_SIGNED, false, NULL },
	{ "sample_regs_intr", 96, 8, SHOW_HEX, false, NULL },
	{ "aux_watermark", 104, 4, SHOW_DECIMAL, false, NULL },
	{ "sample_max_stack", 108, 2, SHOW_DECIMAL, false, NULL },
	{ "reserved_2", 110, 2, SHOW_HEX, false, NULL },
	{ "aux_sample_size", 112, 4, SHOW_DECIMAL, false, NULL },
	{ "aux_action", 116, 4, SHOW_HEX, false, NULL },
	{ "sig_data", 120, 8, SHOW_HEX, false, NULL },
	{ "config3", 128, 8, SHOW_HEX, false, NULL },
	{ "config4", 136, 8, SHOW_HEX, false, NULL },
};

/* Bits of the flags word from bit 0 on; precise_ip has two. */
static const struct {
	const char *name;
	uint8_t bits;
} flag_names[] = {
	{ "disabled", 1 },
	{ "inherit", 1 },
	{ "pinned", 1 },
	{ "exclusive", 1 },
	{ "exclude_user", 1 },
	{ "exclude_kernel", 1 },
	{ "exclude_hv", 1 },
	{ "exclude_idle", 1 },
	{ "mmap", 1 },
	{ "comm", 1 },
	{ "freq", 1 },
	{ "inherit_stat", 1 },
	{ "enable_on_exec", 1 },
	{ "task", 1 },
	{ "watermark", 1 },
	{ "precise_ip", 2 },
	{ "mmap_data", 1 },
	{ "sample_id_all", 1 },
	{ "exclude_host", 1 },
	{ "exclude_guest", 1 },
	{ "exclude_callchain_kernel", 1 },
	{ "exclude_callchain_user", 1 },
	{ "mmap2", 1 },
	{ "comm_exec", 1 },
	{ "use_clockid", 1 },
	{ "context_switch", 1 },
	{ "write_backward", 1 },
	{ "namespaces", 1 },
	{ "ksymbol", 1 },
	{ "bpf_event", 1 },
	{ "aux_output", 1 },
	{ "cgroup", 1 },
	{ "text_poke", 1 },
	{ "build_id", 1 },
	{ "inherit_thread", 1 },
	{ "remove_on_exec", 1 },
	{ "sigtrap", 1 },
	{ "defer_callchain", 1 },
	{ "defer_output", 1 },
};

static uint64_t field_load(const uint8_t *p, unsigned bytes, bool swap)
{
	if (bytes == 8)
		return load_u64(p, swap);
	if (bytes == 4)
		return load_u32(p, swap);
	return load_u16(p, swap);
}

/* A big-endian flags word, whose fields were allocated from the highest bit down. */
static uint64_t flags_from_big(uint64_t word)
{
	uint8_t widths[ARRAY_SIZE(flag_names) + 2];
	unsigned used = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flag_names); i++) {
		widths[i] = flag_names[i].bits;
		used += widths[i];
	}
	widths[i++] = (uint8_t)(64 - used);
	widths[i] = 0;
	return bits_from_big(word, widths);
}

size_t attr_load(const uint8_t *bytes, size_t size, bool swap, uint8_t out[DATA_ATTR_MAX])
{
	if (size > DATA_ATTR_MAX)
		size = DATA_ATTR_MAX;
	memset(out, 0, DATA_ATTR_MAX);
	memcpy(out, bytes, size);
	if (!swap)
		return size;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct attr_field *f = &fields[i];
		uint64_t v;

		if (f->offset + f->bytes > size)
			break;
		v = field_load(bytes + f->offset, f->bytes, true);
		if (f->offset == FLAGS_OFFSET)
			v = flags_from_big(v);
		memcpy(out + f->offset, &v, f->bytes); /* little-endian: low bytes first */
	}
	return size;
}

static void mask_print(uint64_t mask, const char *const *names, struct str *out)
{
	bool first = true;
	unsigned bit;

	for (bit = 0; bit < 64 && names[bit]; bit++) {
		if (!(mask >> bit & 1))
			continue;
		str_addf(out, "%s%s", first ? "" : "|", names[bit]);
		first = false;
	}
	if (bit < 64 && mask >> bit)
		str_addf(out, "%s0x%llx", first ? "" : "|",
			 (unsigned long long)(mask >> bit << bit));
}

static const char *name_of(uint64_t number, const char *const *names, size_t n)
{
	return number < n ? names[number] : NULL;
}
#define NAME_OF(number, names) name_of(number, names, ARRAY_SIZE(names))

/* NULL: the recording does not say. */
static const char *pmu_name(uint64_t type, const struct info *info)
{
	for (size_t i = 0; info && i < info->pmus.n; i++)
		if (info->pmus.v[i].type == type)
			return info->pmus.v[i].name;
	return NULL;
}

static void type_print(uint32_t type, const struct info *info, struct str *out)
{
	const char *name = NAME_OF(type, type_names), *pmu = name ? NULL : pmu_name(type, info);

	str_addf(out, "%u", type);
	if (name) {
		str_addf(out, " (PERF_TYPE_%s)", name);
	} else if (pmu) {
		str_add(out, " (");
		str_add_printable(out, pmu, strlen(pmu));
		str_addc(out, ')');
	}
}

/* The kernel's words for a configuration without the PMU that hardware and cache events may name in its upper half. */
static void config_name_print(uint32_t type, uint64_t config, struct str *out)
{
	const char *cache = NAME_OF(config & 0xff, cache_names), *op = NAME_OF(config >> 8 & 0xff, cache_op_names),
		   *result = NAME_OF(config >> 16, cache_result_names), *name;

	if (type == PERF_TYPE_HW_CACHE && cache && op && result)
		str_addf(out, "PERF_COUNT_HW_CACHE_RESULT_%s | PERF_COUNT_HW_CACHE_OP_%s | PERF_COUNT_HW_CACHE_%s",
			 result, op, cache);
	else if (type == PERF_TYPE_HARDWARE && (name = NAME_OF(config, hardware_names)) != NULL)
		str_addf(out, "PERF_COUNT_HW_%s", name);
	else if (type == PERF_TYPE_SOFTWARE && (name = NAME_OF(config, software_names)) != NULL)
		str_addf(out, "PERF_COUNT_SW_%s", name);
}

static void config_print(const struct data_event *event, const struct info *info, struct str *out)
{
	uint64_t config = event->attr.config, pmu_type = 0;
	struct str name = STR_INIT;
	const char *pmu;

	str_addf(out, config ? "0x%llx" : "%llu", (unsigned long long)config);
	if (event->attr.type == PERF_TYPE_HARDWARE || event->attr.type == PERF_TYPE_HW_CACHE)
		pmu_type = config >> 32;
	pmu = pmu_type ? pmu_name(pmu_type, info) : NULL;
	if (event->attr.type == PERF_TYPE_TRACEPOINT && event->name)
		str_add_printable(&name, event->name, strlen(event->name));
	else
		config_name_print(event->attr.type, pmu_type ? (uint32_t)config : config, &name);
	if (name.len) {
		str_add(out, " (");
		if (pmu)
			str_add_printable(out, pmu, strlen(pmu));
		str_addf(out, "%s%s%s)", pmu ? "/" : "", name.s, pmu ? "/" : "");
	}
	str_release(&name);
}

static void field_print(const struct attr_field *f, uint64_t v, const struct data_event *event,
			const struct info *info, struct str *out)
{
	switch (f->show) {
	case SHOW_TYPE:
		type_print(event->attr.type, info, out);
		break;
	case SHOW_CONFIG:
		config_print(event, info, out);
		break;
	case SHOW_MASK:
		mask_print(v, f->bits, out);
		break;
	case SHOW_HEX:
		str_addf(out, "0x%llx", (unsigned long long)v);
		break;
	case SHOW_SIGNED:
		str_addf(out, "%d", (int)(uint32_t)v);
		break;
	default:
		str_addf(out, "%llu", (unsigned long long)v);
	}
}

static void flags_print(uint64_t flags, const char *equals, struct str *out)
{
	unsigned at = 0;

	for (size_t i = 0; i < ARRAY_SIZE(flag_names); at += flag_names[i].bits, i++) {
		uint64_t v = flags >> at & ((1u << flag_names[i].bits) - 1);

		if (v)
			str_addf(out, ", %s%s%llu", flag_names[i].name, equals,
				 (unsigned long long)v);
	}
	if (flags >> at)
		str_addf(out, ", reserved_1%s0x%llx", equals, (unsigned long long)(flags >> at));
}

void attr_print(const struct data_event *event, const struct info *info, const char *equals, struct str *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct attr_field *f = &fields[i];
		uint64_t v = field_load(event->attr_bytes + f->offset, f->bytes, false);

		if (f->offset == FLAGS_OFFSET) {
			flags_print(v, equals, out);
			continue;
		}
		if (!v && !f->always)
			continue;
		str_addf(out, "%s%s%s", i ? ", " : "", f->name, equals);
		field_print(f, v, event, info, out);
	}
}
