/* SPDX-License-Identifier: MIT */
/*
 * A recording as text, in one pass. The header of a pipe comes as records, so there it is printed in front
 * of the first record that is not about the header.
 */
#include "cmd/raw_dump.h"

#include "cmd/input.h"

enum { HELD_MAX = 1 << 20 };

struct dump {
	const struct raw_dump_words *words;
	struct input input;
	struct record_stats stats;
	struct str held; /* records of a pipe's header, until the header itself was printed */
	bool header_due;
};

bool raw_dump_only(const struct raw_dump_words *words)
{
	return words->records || words->header_only || words->stats;
}

/* Recorders put these before everything else: after them the header is known. */
static bool is_about_header(uint32_t type)
{
	switch (type) {
	case RECORD_HEADER_ATTR:
	case RECORD_HEADER_EVENT_TYPE:
	case RECORD_HEADER_TRACING_DATA:
	case RECORD_EVENT_UPDATE:
	case RECORD_HEADER_FEATURE:
		return true;
	default:
		return false;
	}
}

static void print_header(struct dump *dump)
{
	struct input *in = &dump->input;

	dump->header_due = false;
	reader_print_header(&in->reader, dump->words->full_header, &in->out);
	str_addn(&in->out, dump->held.s, dump->held.len);
	str_release(&dump->held);
}

static void take_record(struct dump *dump, const struct record *record)
{
	struct input *in = &dump->input;
	struct record_body body;
	bool whole = input_decode(in, record, &body);

	if (dump->words->stats)
		record_stats_add(&dump->stats, record, whole ? &body : NULL);
	if (dump->words->records && whole)
		record_dump(&in->reader.decoder, record, &body,
			    dump->header_due ? &dump->held : &in->out);
}

static void read_records(struct dump *dump)
{
	const struct raw_dump_words *words = dump->words;
	bool all = !words->header_only && (words->records || words->stats);
	struct record record;

	/* A pipe is read to its end, or its writer would be ended for it. */
	while ((all || dump->header_due || dump->input.reader.pipe) &&
	       input_next(&dump->input, &record)) {
		if (dump->header_due &&
		    (!is_about_header(record.type) || dump->held.len > HELD_MAX))
			print_header(dump);
		if (all)
			take_record(dump, &record);
	}
	if (dump->header_due)
		print_header(dump);
}

int raw_dump(const struct raw_dump_words *words)
{
	struct dump dump = { .words = words, .held = STR_INIT };

	if (!input_open(&dump.input, words->input)) {
		dump.header_due = words->header || words->header_only || words->full_header;
		if (dump.header_due && !dump.input.reader.pipe)
			print_header(&dump);
		read_records(&dump);
		if (words->stats && !words->header_only)
			record_stats_print(&dump.stats, &dump.input.reader.events,
					   &dump.input.out);
	}
	record_stats_release(&dump.stats);
	str_release(&dump.held);
	return input_close(&dump.input);
}
