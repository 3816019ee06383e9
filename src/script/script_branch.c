/*
 * script_branch: branch stacks, newest branch first, each as perf prints it:
 *
 *	from/to/M or P/X or -/A or -/cycles/TYPE
 *
 * where the ends are addresses, functions or offsets in files; then whether it was predicted, was in a
 * transaction, ended one; its cycles; its kind, where the CPU says it.
 */
#include "script/script_internal.h"

typedef unsigned long long ull;

/* Of perf_branch_entry; perf_event_open(2). */
enum { MISPREDICTED = 1, PREDICTED = 2, IN_TX = 4, ABORT = 8, TYPE_EXTENDED = 15 };

const char *script_branch_type(uint64_t flags)
{
	static const char *const types[16] = {
		"",        "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",   "SYSCALL",
		"SYSRET",  "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX", NULL,
	};
	static const char *const extended[16] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5",
	};
	unsigned type = flags >> 20 & 15;
	const char *name = type == TYPE_EXTENDED ? extended[flags >> 26 & 15] : types[type];

	return name ? name : "";
}

static void add_end(struct script *script, const struct script_event *event,
		    const struct replay_sample *sample, enum script_field how, uint64_t ip, struct str *out)
{
	uint32_t location = session_address_location(&script->session, sample, ip);
	const struct location_row *row = &script->session.locations->v[location];
	const struct symbol *symbol = how == FIELD_BRSTACKSYM ? location_symbol(&script->session, location) : NULL;

	if (how != FIELD_BRSTACKSYM)
		str_addf(out, "0x%llx", (ull)(how == FIELD_BRSTACKOFF ? row->addr : ip));
	else if (symbol)
		str_addf(out, "%s+0x%llx", symbol->name, (ull)(row->addr - symbol->start));
	else
		str_add(out, "[unknown]");
	if (script_prints(event, FIELD_DSO)) {
		str_addc(out, '(');
		script_add_dso(row->dso, out);
		str_addc(out, ')');
	}
}

void script_add_branches(struct script *script, const struct script_event *event,
			 const struct replay_sample *sample, enum script_field how, struct str *out)
{
	const struct sample *s = sample->sample;

	for (uint64_t i = 0; i < s->n_branches; i++) {
		uint64_t flags = s->branches[i].flags;

		str_addc(out, ' ');
		add_end(script, event, sample, how, s->branches[i].from, out);
		str_addc(out, '/');
		add_end(script, event, sample, how, s->branches[i].to, out);
		str_addf(out, "/%c/%c/%c/%llu/%s ",
			 flags & PREDICTED ? 'P' : flags & MISPREDICTED ? 'M' : '-',
			 flags & IN_TX ? 'X' : '-', flags & ABORT ? 'A' : '-', (ull)(flags >> 4 & 0xffff),
			 script_branch_type(flags));
	}
}
