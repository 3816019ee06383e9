/* SPDX-License-Identifier: MIT */
/*
 * kallsyms: the kernel's own list of its symbols, as text:
 *
 *	ffffffff81000000 T _stext
 *	ffffffffc0201000 t ext4_read	[ext4]
 *
 * Taken are the letters t, w, d and b in both cases: text and, because data addresses are asked for as well and
 * because they end the text before them, data. A capital letter is a global symbol, W a weak one.
 *
 * Who may not see addresses reads zeros. Source: proc(5), nm(1), kernel/kallsyms.c of Linux.
 */
#include "sym/kallsyms.h"

#include "sym/text_lines.h"

#include <errno.h>
#include <unistd.h>

static const struct kallsyms_letter {
	bool taken, text;
	uint8_t binding;
} letters[UINT8_MAX + 1] = {
	['t'] = { true, true, SYMBOL_LOCAL },  ['T'] = { true, true, SYMBOL_GLOBAL },
	['w'] = { true, true, SYMBOL_LOCAL },  ['W'] = { true, true, SYMBOL_WEAK },
	['d'] = { true, false, SYMBOL_LOCAL }, ['D'] = { true, false, SYMBOL_GLOBAL },
	['b'] = { true, false, SYMBOL_LOCAL }, ['B'] = { true, false, SYMBOL_GLOBAL },
};

/* One line; false: it names nothing that is wanted. Names that begin with $ mark data within ARM code. */
static bool parse_line(const char *line, size_t len, struct kallsyms_symbol *symbol)
{
	const char *at = line, *end = line + len, *tab;
	const struct kallsyms_letter *letter;

	if (!text_hex(&at, &symbol->addr) || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return false;
	letter = &letters[(unsigned char)at[1]];
	at += 3;
	tab = memchr(at, '\t', (size_t)(end - at));
	if (!letter->taken || at == tab || !at[0] || at[0] == '$')
		return false;
	symbol->name = at;
	symbol->name_len = strnlen(at, (size_t)((tab ? tab : end) - at));
	symbol->binding = letter->binding;
	symbol->text = letter->text;
	symbol->module = NULL;
	symbol->module_len = 0;
	at += symbol->name_len;
	if (end - at > 3 && at[1] == '[' && end[-1] == ']') {
		symbol->module = at + 2;
		symbol->module_len = (size_t)(end - 1 - symbol->module);
	}
	return true;
}

int kallsyms_each(const char *path,
		  void (*take)(void *context, const struct kallsyms_symbol *symbol), void *context,
		  bool *zeroed, struct str *err)
{
	const struct foreign_options options = { .kernel_file = true };
	struct str why = STR_INIT;
	struct text_lines lines;
	struct stat st;
	struct kallsyms_symbol symbol;
	bool any_zero = false, any_other = false;
	const char *line;
	size_t len;
	int rc, fd = foreign_open(path, &options, &st, &why);

	*zeroed = false;
	if (fd < 0) {
		fail(err, fd, "%s: %s", path, why.s);
		str_release(&why);
		return fd;
	}
	text_lines_init(&lines, fd);
	while ((line = text_lines_next(&lines, &len))) {
		if (!parse_line(line, len, &symbol))
			continue;
		if (!symbol.addr) { /* a symbol of per-CPU data, or all of them are hidden */
			any_zero = true;
			continue;
		}
		take(context, &symbol);
		any_other = true;
	}
	*zeroed = any_zero && !any_other;
	rc = lines.error;
	text_lines_release(&lines);
	if (rc)
		return fail(err, rc, "%s: %s", path, strerror(-rc));
	return 0;
}

void kallsyms_add(struct symbol_table *table, const struct kallsyms_symbol *symbol)
{
	if (table->n && table->v[table->n - 1].start == symbol->addr)
		table->n--;
	symbol_table_add(table, symbol->addr, 0, symbol->name, symbol->name_len, symbol->binding);
}
