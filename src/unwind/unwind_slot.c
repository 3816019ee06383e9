/*
 * unwind_slot.c: see unwind_slot.h. Tables are asked first, .eh_frame before .debug_frame; of code without tables some
 * instructions say where the caller is; else it is tried what the frame pointer knows.
 */
#include "unwind/unwind_slot.h"

#include "unwind/unwind_code.h"

static const struct unwind_rule outermost = { .kind = UNWIND_RULE_OUTERMOST };
static const struct unwind_rule other = { .kind = UNWIND_RULE_OTHER };
static const struct unwind_rule trampoline = { .kind = UNWIND_RULE_TRAMPOLINE, .signal = true };
static const struct unwind_rule entry = { .kind = UNWIND_RULE_ENTRY };
static const struct unwind_rule pointer = { .kind = UNWIND_RULE_POINTER };
static const struct unwind_rule unmapped = { .kind = UNWIND_RULE_UNMAPPED };

/* NULL: they say nothing. */
static const struct unwind_rule *find_in_tables(struct unwind_memory *memory, const struct module *module, uint64_t ip,
						struct unwind_slot *slot)
{
	const struct unwind *unwind = memory->unwind;
	const struct unwind_table *tables[2] = { image_eh_rows(module->image, memory->arch, unwind), NULL };
	bool incomplete = false;

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		const struct unwind_rule *rule;

		if (i)
			tables[i] = image_debug_rows(module->image, memory->arch, unwind);
		if (!tables[i])
			continue;
		rule = unwind_table_find(tables[i], ip - module->bias);
		slot->table = tables[i];
		slot->saved = tables[i]->saved + rule->saved;
		if (rule->kind != UNWIND_RULE_NONE)
			return rule;
		incomplete |= tables[i]->incomplete;
	}
	return incomplete ? &other : NULL;
}

/* Where tables say nothing. */
static const struct unwind_rule *find_in_code(struct unwind_memory *memory, const struct module *module, uint64_t ip,
					      struct unwind_slot *slot)
{
	if (unwind_memory_entry(memory, module, ip))
		return &entry;
	if (slot->exact)
		return unwind_code_rule(memory, slot->ip, &slot->saved);
	return unwind_code_outermost(memory, slot->ip) ? &outermost : NULL;
}

static const struct unwind_rule *find(struct unwind_memory *memory, const struct module *module, uint64_t ip,
				      struct unwind_slot *slot)
{
	const struct unwind_rule *rule = find_in_tables(memory, module, ip, slot), *code = NULL;

	/* That it is where a handler returns to, the code itself says best. */
	if ((!rule || rule->signal) && unwind_memory_trampoline(memory, slot->ip))
		return &trampoline;
	if (!rule || rule == &other)
		code = find_in_code(memory, module, ip, slot);
	return code ? code : rule ? rule : &pointer;
}

void unwind_slot_fill(struct unwind_memory *memory, struct unwind_slot *slot)
{
	/* A return address may lie behind the function that made the call. */
	uint64_t ip = slot->exact ? slot->ip : slot->ip - 1;
	const struct module *module = unwind_memory_module(memory, ip);

	slot->otherwise = module ? UNWIND_NO_INFO : memory->why;
	if (module)
		slot->rule = find(memory, module, ip, slot);
	else
		slot->rule = slot->otherwise == UNWIND_BROKEN ? &unmapped : &pointer;
}
