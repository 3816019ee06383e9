/* SPDX-License-Identifier: MIT */
/*
 * selection.c: which calls are looked at. What the user said becomes a flag for each row of the table, which decides;
 * a filter of the kernel's, made of the flags, only spares the way of those that would be left out.
 */
#include "syscall/syscall.h"

#include <errno.h>
#include <stdlib.h>

enum { FILTER_BYTES_MAX = 3000 /* the kernel takes less than a page */ };

static bool is_named(const struct syscall_row *row, const char *word, unsigned classes)
{
	return (row->classes & classes) != 0 || glob_match(word, row->name);
}

/* Marks what one word names. False: nothing. */
static bool mark(bool *named, const struct syscall_table *table, const char *word)
{
	unsigned classes = syscall_class_find(word, strlen(word));
	bool any = false;

	for (size_t i = 1; i < table->n; i++) {
		if (!is_named(&table->v[i], word, classes))
			continue;
		named[i] = any = true;
	}
	return any;
}

static int refuse(const struct syscall_table *table, const char *word, struct str *err)
{
	struct near_name near;

	near_init(&near, word, strlen(word));
	for (size_t i = 1; i < table->n; i++)
		near_consider(&near, table->v[i].name);
	return fail(err, -EINVAL, "--event: '%s' is neither a system call nor a class of them, nor another event"
		    "%s%s%s", word,
		    near_best(&near) ? "\ndid you mean " : "", near_best(&near) ? near_best(&near) : "",
		    near_best(&near) ? "?" : "");
}

int syscall_selection_add(struct syscall_selection *selection, const struct syscall_table *table, const char *list,
			  struct str *err)
{
	const bool negated = *list == '!';
	bool *named = xcalloc(table->n, sizeof(*named));
	char *copy = xstrdup(list + negated), *rest = copy, *word;
	int code = 0;

	while (!code && (word = strsep(&rest, ",")) != NULL)
		if (!mark(named, table, word))
			code = refuse(table, word, err);
	if (!code && !selection->taken) {
		selection->taken = xcalloc(table->n, sizeof(*selection->taken));
		memset(selection->taken, negated, table->n);
	}
	for (size_t i = 0; !code && i < table->n; i++)
		selection->taken[i] = negated ? selection->taken[i] && !named[i] : selection->taken[i] || named[i];
	free(copy);
	free(named);
	return code;
}

void syscall_selection_none(struct syscall_selection *selection, const struct syscall_table *table)
{
	if (!selection->taken)
		selection->taken = xcalloc(table->n, sizeof(*selection->taken));
}

bool syscall_is_name(const struct syscall_table *table, const char *word)
{
	const unsigned classes = syscall_class_find(word, strlen(word));

	for (size_t i = 1; i < table->n; i++)
		if (is_named(&table->v[i], word, classes))
			return true;
	return false;
}

void syscall_selection_release(struct syscall_selection *selection)
{
	free(selection->taken);
	selection->taken = NULL;
}

static void add_number(struct str *out, bool others, int number)
{
	str_addf(out, "%sid %s %d", !out->len ? "" : others ? " && " : " || ", others ? "!=" : "==", number);
}

/*
 * One number may stand for two calls, of a 64-bit task and of a 32-bit one: it passes where one of them is taken, and
 * a filter of what is left out has none that is taken. The exit of a return from a signal's handler has number -1.
 */
void syscall_selection_filter(const struct syscall_selection *selection, const struct syscall_table *table,
			      enum syscall_abi abi, struct str *out)
{
	const enum syscall_abi abis[] = { abi, syscall_abi_32(abi) };
	const bool others = selection->taken && selection->taken[0]; /* all but some: unknown ones are taken */
	bool taken[SYSCALL_NUMBERS] = { false }, known[SYSCALL_NUMBERS] = { false };

	if (!selection->taken || abi == SYSCALLS_UNKNOWN)
		return;
	for (size_t i = 1; i < table->n; i++) {
		for (size_t a = 0; a < ARRAY_SIZE(abis); a++) {
			int number = abis[a] < SYSCALL_ABIS ? table->v[i].numbers[abis[a]] : -1;

			if (number < 0)
				continue;
			known[number] = true;
			taken[number] |= selection->taken[i];
		}
	}
	for (int number = 0; number < SYSCALL_NUMBERS; number++)
		if (known[number] && taken[number] != others)
			add_number(out, others, number);
	for (size_t i = 1; i < table->n && !others; i++)
		if (selection->taken[i] && table->v[i].returns == RETURNS_ELSEWHERE)
			add_number(out, others, -1);
	if (out->len > FILTER_BYTES_MAX)
		str_reset(out);
}

void syscall_selection_kinds(const struct syscall_selection *selection, const struct syscall_table *table,
			     enum syscall_abi abi, uint8_t kinds[SYSCALL_NUMBERS][SYSCALL_ARGS])
{
	memset(kinds, 0, sizeof(*kinds) * SYSCALL_NUMBERS);
	for (size_t i = 1; i < table->n && abi != SYSCALLS_UNKNOWN; i++) {
		const struct syscall_row *row = &table->v[i];
		const int number = row->numbers[abi];

		if (number < 0 || !syscall_is_taken(selection, table, row))
			continue;
		for (size_t a = 0; a < row->n_args; a++)
			kinds[number][a] = row->args[a].kind;
	}
}
