/* SPDX-License-Identifier: MIT */
/*
 * fuzz_annotate: any bytes as code of each machine, with samples anywhere in it, through all that makes lines of it:
 * the disassembler, jumps, rows, sums, text. The claim: no crash, no sanitizer report, no endless loop; every byte is
 * in one instruction, every sample in one instruction or counted as elsewhere, and what is printed is printable.
 *
 * Input: a byte that chooses machine and syntax, a byte for how many addresses have samples, so many pairs of bytes
 * that say where, and the code.
 */
#include "annotate/annotate_internal.h"
#include "fmt/fmt.h"

#include <elf.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint16_t machines[] = { EM_X86_64, EM_386, EM_AARCH64, EM_X86_64 };
enum { START = 0x1000, ADDRESSES_MAX = 16, INTEL = 4, RAW = 8, ARROWS = 16, PERIODS = 32 };

static char no_path[] = "/nonexistent/app";
static struct dso dso = { .kind = DSO_FILE, .path = no_path, .name = no_path + 13, .pid = -1, .jit_pid = -1 };
static const struct symbol symbol = { .dso = &dso, .start = START, .end = START + (1 << 20), .name = "f", .raw = "f" };

static int check_text(void *context, struct str *text)
{
	(void)context;
	for (size_t i = 0; i < text->len; i++)
		if ((unsigned char)text->s[i] < ' ' && text->s[i] != '\n' && text->s[i] != '\t')
			abort();
	str_reset(text);
	return 0;
}

static void check(const struct annotation *annotation)
{
	uint64_t samples = annotation->elsewhere[0].n_samples, in_lines = 0, jumps = 0, arrivals = 0;
	size_t at = 0, rows = 0;

	for (size_t i = 0; i < annotation->n_instructions; i++) {
		const struct annotate_instruction *instruction = &annotation->instructions[i];

		if (!instruction->n_bytes || instruction->addr != START + at ||
		    strlen(instruction->text) < instruction->operands)
			abort();
		at += instruction->n_bytes;
		samples += instruction->cells[0].n_samples;
		arrivals += instruction->n_jumps_here;
		jumps += instruction->target_instruction != ANNOTATE_NONE;
	}
	for (size_t i = 0; i < annotation->n_rows; i++)
		rows += annotation->rows[i].kind == ROW_INSTRUCTION;
	for (size_t i = 0; i < annotation->n_lines; i++)
		in_lines += annotation->lines[i].cells[0].n_samples;
	if (at != annotation->private->code.n || rows != annotation->n_instructions || jumps != arrivals ||
	    samples != annotation->function->total[0].n_samples ||
	    in_lines + annotation->elsewhere[0].n_samples != samples)
		abort();
}

static void annotate_bytes(struct annotation *annotation, unsigned how)
{
	struct annotation_look look = {
		.lines = true, .raw_bytes = how & RAW, .arrows = how & ARROWS,
		.value = how & PERIODS ? ANNOTATION_PERIOD : ANNOTATION_PERCENT,
	};
	struct output output = { .text = STR_INIT, .write = check_text };
	struct str why = STR_INIT;
	struct disasm *disasm = disasm_open(machines[how % ARRAY_SIZE(machines)], how & INTEL, &why);

	if (!disasm)
		abort();
	annotation_make_instructions(annotation, disasm, START);
	disasm_close(disasm);
	annotation_make_rows(annotation);
	annotation_make_lines(annotation);
	check(annotation);
	annotation_print(annotation, &look, &output);
	if (output_end(&output))
		abort();
	str_release(&output.text);
	str_release(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sym_options options = { .no_inlines = true };
	static struct info nothing; /* a header without features */
	struct recording_info recording = { .info = &nothing };
	struct data_event event = { 0 };
	const struct data_event *events[] = { &event };
	struct session session = { .recording = &recording };
	struct annotate_cell cells[ADDRESSES_MAX], total = { 0 }, elsewhere = { 0 };
	struct annotate_address addresses[ADDRESSES_MAX];
	struct annotate_function function = { .symbol = &symbol, .total = &total, .addresses = addresses };
	struct annotation_private private = { .session = &session };
	struct annotation annotation = { .function = &function, .events = events, .n_events = 1, .totals = &total,
					 .elsewhere = &elsewhere, .private = &private };
	size_t n;

	if (size < 3)
		return 0;
	n = data[1] % (ADDRESSES_MAX + 1);
	if (size - 2 <= 2 * n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t at = START + (data[2 + 2 * i] | data[3 + 2 * i] << 8);

		cells[i] = (struct annotate_cell){ 1 + i, 1000 };
		addresses[i] = (struct annotate_address){ at, &cells[i] };
		total.n_samples += cells[i].n_samples;
		total.period += cells[i].period;
	}
	function.n_addresses = n;
	session.symbols = symbols_new(&options, &recording);
	private.sources = source_texts_new(&private.source_options);
	private.code.n = size - 2 - 2 * n;
	private.code.bytes = xmalloc(private.code.n);
	memcpy(private.code.bytes, data + 2 + 2 * n, private.code.n);
	private.code.shown = START;
	annotate_bytes(&annotation, data[0]);
	source_texts_free(private.sources);
	symbol_code_release(&private.code);
	arena_release(&private.arena);
	free(annotation.instructions);
	free(annotation.rows);
	free(annotation.lines);
	symbols_free(session.symbols);
	return 0;
}
