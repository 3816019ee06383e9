/* SPDX-License-Identifier: MIT */
/*
 * Reading a recording for a command: messages, notes, the end, the exit status.
 *
 * A recording that ends early is a good one: one line says what is missing, and the status is 0. A
 * record that makes no sense is reported (each of the first few) and makes the status a failure.
 */
#include "cmd/input.h"

#include "cmd/message.h"
#include "cmd/recording_place.h"

enum {
	PIECE_BYTES = 1 << 16, /* of text written at once */
	MAX_BROKEN_REPORTED = 10, /* a damaged file can have millions */
};

static void flush_text(struct input *in)
{
	if (in->out.len && !in->status)
		in->status = message_stdout(&in->out);
	str_reset(&in->out);
}

void input_message(struct input *in, const char *text)
{
	flush_text(in);
	message_error("%s: %s", in->reader.path, text);
}

static void print_notes(struct input *in)
{
	const struct note_list *notes = &in->reader.notes;

	for (; in->n_noted < notes->n; in->n_noted++)
		if (!notes->v[in->n_noted].verbose)
			input_message(in, notes->v[in->n_noted].text);
}

int input_open(struct input *in, const char *path)
{
	*in = (struct input){ .out = STR_INIT, .err = STR_INIT };
	if (!recording_open(&in->reader, path, &in->err)) {
		print_notes(in);
		return 0;
	}
	message_error("%s", in->err.s);
	in->status = EXIT_PSTAT_FAILED;
	return in->status;
}

bool input_next(struct input *in, struct record *record)
{
	int rc;

	if (in->out.len >= PIECE_BYTES)
		flush_text(in);
	if (in->status)
		return false;
	str_reset(&in->err);
	rc = reader_next(&in->reader, record, &in->err);
	print_notes(in);
	if (rc > 0) {
		in->n_records++;
		return true;
	}
	if (rc < 0) {
		input_message(in, in->err.s);
		in->status = EXIT_PSTAT_FAILED;
	}
	return false;
}

bool input_decode(struct input *in, const struct record *record, struct record_body *body)
{
	str_reset(&in->err);
	if (!reader_decode(&in->reader, record, body, &in->err))
		return true;
	if (in->n_broken++ < MAX_BROKEN_REPORTED)
		input_message(in, in->err.s);
	return false;
}

static void report_broken(struct input *in)
{
	struct str text = STR_INIT;

	if (!in->n_broken)
		return;
	if (in->n_broken > MAX_BROKEN_REPORTED) {
		str_addf(&text, "%llu more records could not be decoded",
			 (unsigned long long)(in->n_broken - MAX_BROKEN_REPORTED));
		input_message(in, text.s);
	}
	if (!in->status)
		in->status = EXIT_PSTAT_FAILED;
	str_release(&text);
}

int input_close(struct input *in)
{
	int status;

	flush_text(in);
	report_broken(in);
	if (in->reader.missing.len) {
		input_message(in, in->reader.missing.s);
		if (!in->n_records && !in->status)
			in->status = EXIT_PSTAT_FAILED;
	}
	status = in->status;
	reader_close(&in->reader);
	str_release(&in->out);
	str_release(&in->err);
	return status;
}
