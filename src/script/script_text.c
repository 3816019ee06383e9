/* SPDX-License-Identifier: MIT */
/*
 * script_text: a sample as perf script prints it, because so many programs parse that:
 *
 *	comm  tid [cpu] seconds.microseconds:  period event: what
 *		address symbol+0xoff (file)
 *		...
 *
 * Numbers are put together by hand: this runs once per sample. Fields that few recordings have (data addresses,
 * memory, registers, branches) are rows: a field's place in the line and the function that writes it.
 *
 * Branches are those of the branch stack, newest first:
 *
 *	from/to/M or P/X or -/A or -/cycles/TYPE
 *
 * where the ends are addresses, functions or offsets in files; then whether it was predicted, was in a transaction,
 * ended one; its cycles; its kind, where the CPU says it.
 */
#include "script/script_internal.h"

#include <time.h>

typedef unsigned long long ull;

/* Only decoders of hardware traces know what kind of branch a sample was. */
enum { FLAGS_COLUMNS = 24, LATENCY_COMM_COLUMNS = 8 };

static void add_left(struct str *out, int64_t value, unsigned width)
{
	size_t start = out->len;

	if (value < 0)
		str_addc(out, '-');
	str_add_decimal(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 1, ' ');
	if (out->len - start < width)
		str_pad(out, ' ', width - (out->len - start));
}

static void add_right(struct str *out, int64_t value, unsigned width)
{
	if (value >= 0)
		str_add_decimal(out, (uint64_t)value, width, ' ');
	else
		str_addf(out, "%*lld", (int)width, (long long)value);
}

static void add_time(struct script *script, uint64_t time_ns, struct str *out)
{
	uint64_t shown = time_ns;

	if (script->options.reltime)
		shown = script->first_ns ? time_ns - script->first_ns : 0;
	else if (script->options.deltatime)
		shown = script->last_ns ? time_ns - script->last_ns : 0;
	if (!script->first_ns)
		script->first_ns = time_ns;
	script->last_ns = time_ns;
	str_add_decimal(out, shown / NS_PER_S, 5, ' ');
	str_addc(out, '.');
	if (script->options.ns)
		str_add_decimal(out, shown % NS_PER_S, 9, '0');
	else
		str_add_decimal(out, shown % NS_PER_S / 1000, 6, '0');
	str_addn(out, ": ", 2);
}

/* "2026-11-21 12:06:12.660768 ": by the moment that the recording knows on both clocks. */
static void add_time_of_day(struct script *script, uint64_t time_ns, struct str *out)
{
	const struct info *info = script->session.recording->info;
	uint64_t wall_ns = info->wall_clock_ns + (time_ns - info->clockid_time_ns);
	uint64_t ns = wall_ns % NS_PER_S;
	struct tm tm;
	time_t s = (time_t)(wall_ns / NS_PER_S);

	if (!*script->tod || script->tod_s != (uint64_t)s) {
		script->tod_s = (uint64_t)s;
		if (!localtime_r(&s, &tm) || !strftime(script->tod, sizeof(script->tod), "%F %T", &tm))
			memcpy(script->tod, "?", sizeof("?"));
	}
	str_add(out, script->tod);
	str_addc(out, '.');
	str_add_decimal(out, script->options.ns ? ns : ns / 1000, script->options.ns ? 9 : 6, '0');
	str_addc(out, ' ');
}

/* The letters of -F misc: what was running, and what a record's own bits say. */
static void add_misc(uint16_t misc, uint32_t type, struct str *out)
{
	static const struct {
		uint16_t mode;
		char letter;
	} modes[] = {
		{ MISC_KERNEL, 'K' },       { MISC_USER, 'U' },       { MISC_HYPERVISOR, 'H' },
		{ MISC_GUEST_KERNEL, 'G' }, { MISC_GUEST_USER, 'g' },
	};
	size_t start = out->len;

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if ((misc & MISC_CPUMODE_MASK) == modes[i].mode)
			str_addc(out, modes[i].letter);
	if ((type == RECORD_MMAP || type == RECORD_MMAP2) && (misc & MISC_MMAP_DATA))
		str_addc(out, 'M');
	if (type == RECORD_COMM && (misc & MISC_COMM_EXEC))
		str_addc(out, 'E');
	if ((type == RECORD_SWITCH || type == RECORD_SWITCH_CPU_WIDE) && (misc & MISC_SWITCH_OUT)) {
		str_addc(out, 'S');
		if (misc & MISC_SWITCH_OUT_PREEMPT)
			str_addc(out, 'p');
	}
	str_pad(out, ' ', out->len - start < 6 ? 6 - (out->len - start) : 0);
}

/* Fills script->comm, which is often right from the line before. */
static void make_comm(struct script *script, const struct thread *thread, int32_t tid)
{
	const char *comm;

	if (thread && script->comm_id == thread->comm + (uint64_t)1)
		return;
	str_reset(&script->comm);
	comm = thread ? session_comm(&script->session, thread->comm) : NULL;
	if (comm)
		str_add_printable(&script->comm, comm, strlen(comm));
	else
		str_addf(&script->comm, ":%d", tid);
	script->comm_id = comm ? thread->comm + (uint64_t)1 : 0;
}

static void add_comm(struct script *script, const struct script_event *event, const struct thread *thread,
		     int32_t tid, struct str *out)
{
	size_t start, len;

	make_comm(script, thread, tid);
	len = script->comm.len;
	start = !event->chain && len < 16 ? 16 - len : 0;
	if (script->options.latency) {
		len = len < LATENCY_COMM_COLUMNS ? len : LATENCY_COMM_COLUMNS;
		start = LATENCY_COMM_COLUMNS - len;
	}
	str_pad(out, ' ', start);
	str_addn(out, script->comm.s, len);
	str_addc(out, ' ');
}

void script_add_start(struct script *script, const struct script_event *event, const struct script_start *start)
{
	struct str *out = &script->output->text;
	bool pid = script_prints(event, FIELD_PID), tid = script_prints(event, FIELD_TID);

	if (script_prints(event, FIELD_COMM))
		add_comm(script, event, start->thread,
			 start->has & PERF_SAMPLE_TID ? start->tid : -1, out);
	if (pid)
		add_right(out, start->pid, 5);
	if (pid && tid)
		str_addc(out, '/');
	if (pid && tid)
		add_left(out, start->tid, 5);
	else if (tid)
		add_right(out, start->tid, 5);
	if (pid || tid)
		str_addc(out, ' ');
	if (script_prints(event, FIELD_CPU) && (start->has & PERF_SAMPLE_CPU)) {
		if (script->options.latency) {
			str_add_decimal(out, start->cpu, 3, ' ');
		} else {
			str_addc(out, '[');
			str_add_decimal(out, start->cpu, 3, '0');
			str_addc(out, ']');
		}
		str_addc(out, ' ');
	}
	if (script_prints(event, FIELD_MISC))
		add_misc(start->misc, start->type, out);
	if (script_prints(event, FIELD_TOD) && (start->has & PERF_SAMPLE_TIME))
		add_time_of_day(script, start->time_ns, out);
	if (script_prints(event, FIELD_TIME) && (start->has & PERF_SAMPLE_TIME))
		add_time(script, start->time_ns, out);
}

/* ---- branches ---- */

void script_add_branch_symbol(struct script *script, const struct replay_sample *sample, uint64_t ip, struct str *out)
{
	uint32_t location = session_address_location(&script->session, sample, ip);
	const struct symbol *symbol = location_symbol(&script->session, location);

	if (symbol)
		str_addf(out, "%s+0x%llx", symbol->name,
			 (ull)(script->session.locations->v[location].addr - symbol->start));
	else
		str_add(out, "[unknown]");
}

static void add_end(struct script *script, const struct script_event *event,
		    const struct replay_sample *sample, enum script_field how, uint64_t ip, struct str *out)
{
	uint32_t location = session_address_location(&script->session, sample, ip);
	const struct location_row *row = &script->session.locations->v[location];

	if (how == FIELD_BRSTACKSYM)
		script_add_branch_symbol(script, sample, ip, out);
	else
		str_addf(out, "0x%llx", (ull)(how == FIELD_BRSTACKOFF ? row->addr : ip));
	if (script_prints(event, FIELD_DSO)) {
		str_addc(out, '(');
		script_add_dso(script, row->dso, out);
		str_addc(out, ')');
	}
}

/* how: FIELD_BRSTACK, FIELD_BRSTACKSYM or FIELD_BRSTACKOFF */
static void add_branches(struct script *script, const struct script_event *event,
			 const struct replay_sample *sample, enum script_field how, struct str *out)
{
	const struct sample *s = sample->sample;

	for (uint64_t i = 0; i < s->n_branches; i++) {
		uint64_t flags = s->branches[i].flags;

		str_addc(out, ' ');
		add_end(script, event, sample, how, s->branches[i].from, out);
		str_addc(out, '/');
		add_end(script, event, sample, how, s->branches[i].to, out);
		str_addf(out, "/%c/%c/%c/%llu/%s ",
			 flags & BRANCH_PREDICTED      ? 'P'
			 : flags & BRANCH_MISPREDICTED ? 'M'
						       : '-',
			 flags & BRANCH_IN_TX ? 'X' : '-', flags & BRANCH_ABORT ? 'A' : '-', (ull)branch_cycles(flags),
			 branch_kind_name(branch_kind(flags)));
	}
}

/* ---- rare fields ---- */

/* Is the address one of data or code of the process, whose name is worth a look? */
static bool addr_has_location(const struct data_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->type == PERF_TYPE_SOFTWARE)
		return attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
		       attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		       attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ;
	/* Every branch: the address is where it went. */
	return attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS &&
	       attr->sample_period == 1;
}

static void addr_add(struct script *script, const struct script_event *event, const struct replay_sample *sample,
		     struct str *out)
{
	uint64_t addr = sample->sample->addr;
	uint32_t location;

	str_add_hex(out, addr, ADDRESS_COLUMNS, ' ');
	if (!addr_has_location(sample->event))
		return;
	location = session_data_location(&script->session, sample);
	if (location != LOCATION_NONE)
		script_add_location(script, event->fields, location, out);
}

void script_add_data_src(uint64_t data_src, struct str *out)
{
	str_add(out, "|OP ");
	mem_op_add(data_src, out);
	str_add(out, "|LVL ");
	mem_level_add(data_src, out);
	str_add(out, "|SNP ");
	mem_snoop_add(data_src, out);
	str_add(out, "|TLB ");
	mem_tlb_add(data_src, out);
	str_add(out, "|LCK ");
	mem_lock_add(data_src, out);
	str_add(out, "|BLK ");
	mem_blocked_add(data_src, out);
}

/* Padded to the longest so far, so that what follows is mostly in one column. */
static void data_src_add(struct script *script, const struct script_event *event,
			 const struct replay_sample *sample, struct str *out)
{
	uint64_t data_src = sample->sample->data_src;
	size_t start = out->len;

	(void)event;
	str_add_hex(out, data_src, ADDRESS_COLUMNS, ' ');
	str_addc(out, ' ');
	script_add_data_src(data_src, out);
	if (out->len - start > script->data_src_width)
		script->data_src_width = out->len - start;
	str_pad(out, ' ', script->data_src_width - (out->len - start));
}

static void weight_add(struct script *script, const struct script_event *event, const struct replay_sample *sample,
		       struct str *out)
{
	const struct sample *s = sample->sample;

	(void)script, (void)event;
	str_addf(out, "%16llu", (ull)(s->has & PERF_SAMPLE_WEIGHT ? s->weight : s->weight & 0xffffffff));
}

static void ins_lat_add(struct script *script, const struct script_event *event, const struct replay_sample *sample,
			struct str *out)
{
	(void)script, (void)event;
	str_addf(out, "%16llu", (ull)(sample->sample->weight >> 32 & 0xffff));
}

static void retire_lat_add(struct script *script, const struct script_event *event,
			   const struct replay_sample *sample, struct str *out)
{
	(void)script, (void)event;
	str_addf(out, "%16llu", (ull)(sample->sample->weight >> 48));
}

static void iregs_add(struct script *script, const struct script_event *event, const struct replay_sample *sample,
		      struct str *out)
{
	(void)event;
	script_add_registers(script->session.reader, &sample->sample->intr_regs, out);
}

static void uregs_add(struct script *script, const struct script_event *event, const struct replay_sample *sample,
		      struct str *out)
{
	(void)event;
	script_add_registers(script->session.reader, &sample->sample->user_regs, out);
}

static void brstack_add(struct script *script, const struct script_event *event, const struct replay_sample *sample,
			struct str *out)
{
	add_branches(script, event, sample, FIELD_BRSTACK, out);
}

static void brstacksym_add(struct script *script, const struct script_event *event,
			   const struct replay_sample *sample, struct str *out)
{
	add_branches(script, event, sample, FIELD_BRSTACKSYM, out);
}

static void brstackoff_add(struct script *script, const struct script_event *event,
			   const struct replay_sample *sample, struct str *out)
{
	add_branches(script, event, sample, FIELD_BRSTACKOFF, out);
}

static void phys_addr_add(struct script *script, const struct script_event *event,
			  const struct replay_sample *sample, struct str *out)
{
	(void)script, (void)event;
	str_add_hex(out, sample->sample->phys_addr, ADDRESS_COLUMNS, ' ');
}

/* "4K", "2M", "1024M" and so on; 0 is not known. */
static void page_size_add(uint64_t bytes, struct str *out)
{
	static const char units[] = " KMG";
	unsigned unit = 0;

	if (!bytes)
		str_add(out, " N/A");
	for (; unit + 2 < sizeof(units) && bytes / 1024 > 1 && bytes % 1024 == 0; unit++)
		bytes /= 1024;
	if (bytes)
		str_addf(out, unit ? " %llu%c" : " %llu", (ull)bytes, units[unit]);
}

static void data_page_add(struct script *script, const struct script_event *event,
			  const struct replay_sample *sample, struct str *out)
{
	(void)script, (void)event;
	page_size_add(sample->sample->data_page_size, out);
}

static void code_page_add(struct script *script, const struct script_event *event,
			  const struct replay_sample *sample, struct str *out)
{
	(void)script, (void)event;
	page_size_add(sample->sample->code_page_size, out);
}

static void cgroup_add(struct script *script, const struct script_event *event, const struct replay_sample *sample,
		       struct str *out)
{
	const char *path = session_cgroup(&script->session, sample->sample->cgroup);

	(void)event;
	str_addc(out, ' ');
	if (path)
		str_add_printable(out, path, strlen(path));
	else
		str_addf(out, "cgroup:%llu", (ull)sample->sample->cgroup);
}

/* Eight bytes a line with their characters. */
static void bpf_output_add(struct script *script, const struct script_event *event,
			   const struct replay_sample *sample, struct str *out)
{
	const struct sample *s = sample->sample;
	enum { COLUMNS = 8 };

	(void)script, (void)event;
	str_addc(out, '\n');
	for (uint32_t at = 0; at < s->raw_size; at += COLUMNS) {
		uint32_t n = s->raw_size - at < COLUMNS ? s->raw_size - at : COLUMNS;

		str_addf(out, "%17s %04x:", at ? "" : "BPF output:", at);
		for (uint32_t i = 0; i < n; i++)
			str_addf(out, " %02x", s->raw[at + i]);
		str_pad(out, ' ', 3 * (COLUMNS - n) + 2);
		for (uint32_t i = 0; i < n; i++)
			str_addc(out, s->raw[at + i] >= ' ' && s->raw[at + i] < 127 ? (char)s->raw[at + i] : '.');
		str_pad(out, ' ', COLUMNS - n);
		str_addc(out, '\n');
	}
}

struct more_row {
	uint64_t fields; /* FIELD_BIT: any of them */
	void (*add)(struct script *script, const struct script_event *event, const struct replay_sample *sample,
		    struct str *out);
};

/* Fields in front of the code's address, and those after the frames; in the order of the line. */
static const struct more_row before[] = {
	{ FIELD_BIT(FIELD_ADDR), addr_add },
	{ FIELD_BIT(FIELD_DATA_SRC), data_src_add },
	{ FIELD_BIT(FIELD_WEIGHT), weight_add },
	{ FIELD_BIT(FIELD_INS_LAT), ins_lat_add },
	{ FIELD_BIT(FIELD_RETIRE_LAT), retire_lat_add },
};
static const struct more_row after[] = {
	{ FIELD_BIT(FIELD_IREGS), iregs_add },
	{ FIELD_BIT(FIELD_UREGS), uregs_add },
	{ FIELD_BIT(FIELD_BRSTACK), brstack_add },
	{ FIELD_BIT(FIELD_BRSTACKSYM), brstacksym_add },
	{ FIELD_BIT(FIELD_BRSTACKOFF), brstackoff_add },
	{ FIELD_BIT(FIELD_BPF_OUTPUT), bpf_output_add },
	{ INSN_FIELDS, script_add_insn },
	{ BLOCK_FIELDS, script_add_blocks },
	{ FIELD_BIT(FIELD_PHYS_ADDR), phys_addr_add },
	{ FIELD_BIT(FIELD_DATA_PAGE_SIZE), data_page_add },
	{ FIELD_BIT(FIELD_CODE_PAGE_SIZE), code_page_add },
	{ FIELD_BIT(FIELD_CGROUP), cgroup_add },
};

static void add_rows(const struct more_row *rows, size_t n, struct script *script, const struct script_event *event,
		     const struct replay_sample *sample)
{
	for (size_t i = 0; i < n; i++)
		if (event->fields & rows[i].fields)
			rows[i].add(script, event, sample, &script->output->text);
}

/* ---- the sample ---- */

static void add_trace(struct script *script, const struct replay_sample *sample, struct str *out)
{
	struct tracepoints *tracepoints = script_tracepoints(script);

	if (tracepoints && !tracepoint_print(tracepoints, sample->event, sample->sample, out))
		script->without_trace++;
}

/* A chain is on lines of its own, a lone address on the sample's. */
static void add_code(struct script *script, const struct script_event *event, const struct chain *frames)
{
	str_addc(&script->output->text, event->chain ? '\n' : ' ');
	for (size_t i = 0; i < frames->n; i++)
		if (!script_add_frame(script, event, &frames->v[i]))
			break;
}

void script_text_sample(struct script *script, const struct script_event *event, const struct sink_sample *taken,
			const struct script_start *start)
{
	const struct replay_sample *sample = taken->sample;
	struct str *out = &script->output->text;

	script_add_start(script, event, start);
	if (script_prints(event, FIELD_PERIOD)) {
		str_add_decimal(out, taken->period, 10, ' ');
		str_addc(out, ' ');
	}
	if (script_prints(event, FIELD_EVENT)) {
		str_pad(out, ' ', script->name_width - event->name_len);
		str_addn(out, event->name, event->name_len);
		str_addn(out, ": ", 2);
	}
	if (script_prints(event, FIELD_FLAGS))
		str_pad(out, ' ', FLAGS_COLUMNS);
	if (script_prints(event, FIELD_TRACE))
		add_trace(script, sample, out);
	add_rows(before, ARRAY_SIZE(before), script, event, sample);
	if (script_prints(event, FIELD_IP))
		add_code(script, event, &taken->frames);
	add_rows(after, ARRAY_SIZE(after), script, event, sample);
	str_addc(out, '\n');
	if (script_prints(event, FIELD_SRCCODE))
		script_add_source(script, sample, out);
}
