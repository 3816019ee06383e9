/* SPDX-License-Identifier: MIT */
/*
 * unwind_cfa: where the frame of a function is, at each of its instructions: the register and the number that its CFA
 * (canonical frame address, what the stack pointer was before the call) is counted from. Debug information counts the
 * variables on the stack from there. The rows are those that unwinding goes by.
 */
#include "unwind/unwind.h"
#include "unwind/unwind_image.h"
#include "unwind/unwind_table.h"

#include <stdlib.h>

struct unwind_cfas {
	struct image *image;
	const struct unwind_table *tables[2]; /* .eh_frame, .debug_frame; NULL: there is none */
};

struct unwind_cfas *unwind_cfas_new(struct elf_file *file)
{
	const struct unwind_arch *arch = unwind_arch_of(file->machine);
	const struct unwind unwind = { .keeper = NULL };
	struct image *image = arch ? image_open(file, NULL, file->machine) : NULL;
	struct unwind_cfas *cfas;

	if (!image)
		return NULL;
	cfas = xcalloc(1, sizeof(*cfas));
	cfas->image = image;
	cfas->tables[0] = image_eh_rows(image, arch, &unwind);
	cfas->tables[1] = image_debug_rows(image, arch, &unwind);
	return cfas;
}

void unwind_cfas_free(struct unwind_cfas *cfas)
{
	if (!cfas)
		return;
	image_free(cfas->image);
	free(cfas);
}

bool unwind_cfa_at(const struct unwind_cfas *cfas, uint64_t vaddr, uint8_t *reg, int64_t *offset)
{
	for (size_t i = 0; i < ARRAY_SIZE(cfas->tables); i++) {
		const struct unwind_rule *rule;

		if (!cfas->tables[i])
			continue;
		rule = unwind_table_find(cfas->tables[i], vaddr);
		if (rule->kind != UNWIND_RULE_PLAIN && rule->kind != UNWIND_RULE_GENERAL)
			continue;
		*reg = rule->cfa_reg;
		*offset = rule->cfa_offset;
		return !rule->cfa_expression;
	}
	return false;
}
