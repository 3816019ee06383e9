/*
 * fuzz_perf_map: any bytes as each of the texts and dumps that name code: perf-PID.map, jit-PID.dump,
 * kallsyms. The claim: no crash, no sanitizer report, no endless loop; memory bounded.
 */
#include "sym/code_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const modules[] = { NULL, "ext4" };
	int fd = memfd_create("input", MFD_CLOEXEC);
	struct code_rules rules = CODE_RULES_INIT;
	struct kallsyms_result result;
	struct symbol_table table;
	struct str err = STR_INIT;
	uint64_t bad_lines;
	char path[64];

	if (fd < 0 || write_all(fd, data, size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	symbol_table_init(&table);
	perf_map_read(path, &rules, &table, &bad_lines, &err);
	check_table(&table);
	symbol_table_init(&table);
	jitdump_read(path, &rules, &table, &err);
	check_table(&table);
	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		symbol_table_init(&table);
		kallsyms_read(path, modules[i], &table, &result, &err);
		check_table(&table);
	}
	str_release(&err);
	close(fd);
	return 0;
}
