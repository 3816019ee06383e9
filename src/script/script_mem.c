/*
 * script_more: the fields that few recordings have: data addresses, branches, registers, memory. One row
 * per field: its place in the line and how it is written.
 */
#include "script/script_internal.h"

typedef unsigned long long ull;

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

	script_add_hex16(out, addr);
	if (!addr_has_location(sample->event))
		return;
	location = session_data_location(&script->session, sample);
	if (location != LOCATION_NONE)
		script_add_location(script, event->fields, location, out);
}

/* Padded to the longest so far, so that what follows is mostly in one column. */
static void data_src_add(struct script *script, const struct script_event *event,
			 const struct replay_sample *sample, struct str *out)
{
	uint64_t data_src = sample->sample->data_src;
	size_t start = out->len;

	(void)event;
	script_add_hex16(out, data_src);
	str_add(out, " |OP ");
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
	script_add_branches(script, event, sample, FIELD_BRSTACK, out);
}

static void brstacksym_add(struct script *script, const struct script_event *event,
			   const struct replay_sample *sample, struct str *out)
{
	script_add_branches(script, event, sample, FIELD_BRSTACKSYM, out);
}

static void brstackoff_add(struct script *script, const struct script_event *event,
			   const struct replay_sample *sample, struct str *out)
{
	script_add_branches(script, event, sample, FIELD_BRSTACKOFF, out);
}

static void phys_addr_add(struct script *script, const struct script_event *event,
			  const struct replay_sample *sample, struct str *out)
{
	(void)script, (void)event;
	script_add_hex16(out, sample->sample->phys_addr);
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
	enum script_field field;
	void (*add)(struct script *script, const struct script_event *event, const struct replay_sample *sample,
		    struct str *out);
};

/* In front of the code's address, and behind the frames; in the order of the line. */
static const struct more_row before[] = {
	{ FIELD_ADDR, addr_add },
	{ FIELD_DATA_SRC, data_src_add },
	{ FIELD_WEIGHT, weight_add },
	{ FIELD_INS_LAT, ins_lat_add },
};
static const struct more_row after[] = {
	{ FIELD_IREGS, iregs_add },
	{ FIELD_UREGS, uregs_add },
	{ FIELD_BRSTACK, brstack_add },
	{ FIELD_BRSTACKSYM, brstacksym_add },
	{ FIELD_BRSTACKOFF, brstackoff_add },
	{ FIELD_BPF_OUTPUT, bpf_output_add },
	{ FIELD_PHYS_ADDR, phys_addr_add },
	{ FIELD_DATA_PAGE_SIZE, data_page_add },
	{ FIELD_CODE_PAGE_SIZE, code_page_add },
	{ FIELD_CGROUP, cgroup_add },
};

static void add_rows(const struct more_row *rows, size_t n, struct script *script, const struct script_event *event,
		     const struct replay_sample *sample)
{
	for (size_t i = 0; i < n; i++)
		if (script_prints(event, rows[i].field))
			rows[i].add(script, event, sample, &script->output->text);
}

void script_mem_before(struct script *script, const struct script_event *event, const struct replay_sample *sample)
{
	add_rows(before, ARRAY_SIZE(before), script, event, sample);
}

void script_mem_after(struct script *script, const struct script_event *event, const struct replay_sample *sample)
{
	add_rows(after, ARRAY_SIZE(after), script, event, sample);
}
