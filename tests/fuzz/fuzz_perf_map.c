/* SPDX-License-Identifier: MIT */
/*
 * fuzz_perf_map: any bytes as each of the texts and dumps that name code: perf-PID.map, jit-PID.dump,
 * kallsyms. The claim: no crash, no sanitizer report, no endless loop; memory bounded.
 */
#include "sym/jitdump.h"
#include "sym/kallsyms.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Every answer is one of its events, and asked again the same. */
static void check_times(struct code_times *times, const struct symbol_table *table)
{
	if (code_times_finish(times, table->names.s))
		for (size_t i = 0; i < times->n; i++) {
			const struct code_event *event = &times->v[i];
			uint32_t found = code_times_find(times, event->start, event->time_ns);

			if (found != SYM_CODE_GONE && found > times->n)
				abort();
			if (found != code_times_find(times, event->start, event->time_ns))
				abort();
			if (code_times_epoch(times, event->time_ns) > times->n)
				abort();
		}
	code_times_release(times);
}

/* What is put down about each range can be had, and read in two steps there is as much of it. */
static void check_dump(struct jitdump *dump, const struct jitdump *later, const struct symbol_table *table)
{
	struct str eh_frame = STR_INIT;
	struct source_line line;
	struct code_piece piece;

	if (dump->ranges.n != later->ranges.n || dump->n_pieces != later->n_pieces || dump->next != later->next)
		abort();
	for (size_t i = 0; i < table->n; i++) {
		uint64_t addr = table->v[i].start;
		const struct code_range *range = code_ranges_find(&dump->ranges, addr);

		if (!range || addr < range->start || addr >= range->end || !jitdump_piece(later, addr, &piece) ||
		    piece.number != range->piece)
			abort();
		if (jitdump_line(dump, range, addr, &line) && line.file && !memchr(line.file, '\0', dump->lines.len))
			abort();
		str_reset(&eh_frame);
		if (jitdump_unwind(dump, piece.number, &eh_frame) &&
		    eh_frame.len != dump->pieces[range->piece].unwind_bytes)
			abort();
	}
	str_release(&eh_frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_table(struct symbol_table *table)
{
	symbol_table_finish(table);
	for (size_t i = 1; i < table->n; i++)
		if (table->v[i].start <= table->v[i - 1].start || table->v[i].name >= table->names.len)
			abort();
	symbol_table_find(table, 0x1000);
	symbol_table_release(table);
}

static void take(void *context, const struct kallsyms_symbol *symbol)
{
	kallsyms_add(context, symbol);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	struct code_rules rules = CODE_RULES_INIT;
	struct jitdump *dump, *later;
	struct symbol_table table;
	struct code_times times = { 0 };
	struct str err = STR_INIT;
	uint64_t bad_lines;
	char path[64];
	bool zeroed;

	if (fd < 0 || write_all(fd, data, size / 2))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	later = jitdump_follow(path, CODE_WORK_FILE);
	jitdump_update(later);
	if (write_all(fd, data + size / 2, size - size / 2))
		abort();
	jitdump_update(later);
	symbol_table_init(&table);
	perf_map_read(path, &rules, &table, &bad_lines, &err);
	check_table(&table);
	symbol_table_init(&table);
	dump = jitdump_new(path, &rules);
	jitdump_read(dump, &times, 0, &err);
	code_ranges_flatten(&dump->ranges, &table);
	check_dump(dump, later, &table);
	jitdump_free(dump);
	jitdump_free(later);
	check_times(&times, &table);
	check_table(&table);
	symbol_table_init(&table);
	kallsyms_each(path, take, &table, &zeroed, &err);
	check_table(&table);
	str_release(&err);
	close(fd);
	return 0;
}
