/* SPDX-License-Identifier: MIT */
/*
 * dump.c: records as `script -D` shows them. The first line is what perf's users search for:
 *
 *   CPU TIME 0xOFFSET [0xSIZE]: PERF_RECORD_MMAP2 PID/TID: [0xADDR(0xLEN) @ 0xPGOFF ...]: r-xp NAME
 *
 * Types without a print function of their own show every field as "name value" in record order.
 */
#include "data/decode.h"

typedef unsigned long long ull;

static void fields_print(const struct record_row *row, const struct record_body *body,
			 struct str *out)
{
	const char *between = " ";

	for (const struct record_field *f = record_row_fields(row, body->misc); f->name; f++) {
		if (!f->kind->print)
			continue;
		str_addf(out, "%s%s%s", between, f->name, *f->name ? " " : "");
		f->kind->print(out, f, body, (const char *)body + f->at);
		between = *f->name && f->name[strlen(f->name) - 1] == ':' ? " " : ", ";
	}
}

/* Which columns stand in front of the offset: what any event samples, as perf has it. */
static void columns_print(const struct decoder *decoder, const struct record_body *body,
			  struct str *out)
{
	uint64_t any = 0;

	for (size_t i = 0; i < decoder->events->n; i++)
		any |= decoder->events->v[i]->attr.sample_type;
	if (any & PERF_SAMPLE_CPU)
		str_addf(out, "%d ", body->id.has & PERF_SAMPLE_CPU ? (int)body->id.cpu : -1);
	if (any & PERF_SAMPLE_TIME)
		str_addf(out, "%llu ", (ull)body->id.time_ns);
}

void record_print(const struct record_body *body, struct str *out)
{
	const struct record_row *row = record_row(body->type);

	if (!row) {
		str_addf(out, "type %u", body->type);
		return;
	}
	str_addf(out, "PERF_RECORD_%s", row->name);
	if (row->print)
		row->print(body, out);
	else
		fields_print(row, body, out);
}

void record_dump(const struct decoder *decoder, const struct record *record,
		 const struct record_body *body, struct str *out)
{
	const struct record_row *row = record_row(record->type);

	columns_print(decoder, body, out);
	str_addf(out, "%#llx", (ull)record->offset);
	if (record->compressed)
		str_addf(out, "+%#llx", (ull)record->inner_offset);
	str_addf(out, " [%#x]: ", record->size);
	if (!row) {
		str_addf(out, "type %u: not known, %llu bytes\n", record->type,
			 (ull)body->unknown.n);
		return;
	}
	record_print(body, out);
	if (body->event && body->type == RECORD_SAMPLE) {
		str_add(out, "\n ... event: ");
		data_event_add_name(body->event, out);
	}
	str_addc(out, '\n');
}
