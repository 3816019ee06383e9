/*
 * fuzz_perf_map: any bytes as each of the texts and dumps that name code: perf-PID.map, jit-PID.dump,
 * kallsyms. The claim: no crash, no sanitizer report, no endless loop; memory bounded.
 */
#include "sym/code_file.h"
#include "sym/code_times.h"
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
	struct symbol_table table;
	struct code_times times = { 0 };
	struct str err = STR_INIT;
	uint64_t bad_lines;
	char path[64];
	bool zeroed;

	if (fd < 0 || write_all(fd, data, size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	symbol_table_init(&table);
	perf_map_read(path, &rules, &table, &bad_lines, &err);
	check_table(&table);
	symbol_table_init(&table);
	jitdump_read(path, &rules, &table, &times, &err);
	check_times(&times, &table);
	check_table(&table);
	symbol_table_init(&table);
	kallsyms_each(path, take, &table, &zeroed, &err);
	check_table(&table);
	str_release(&err);
	close(fd);
	return 0;
}
