/*
 * kernel_list.c: see kernel_list.h.
 */
#include "sym/kernel_list.h"

#include "sym/kallsyms.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct kernel_list_ahead {
	pthread_t thread;
	char *path, *ref_symbol; /* the latter may be NULL */
	struct kernel_list list; /* the thread's until it has ended */
};

struct kernel_pass {
	struct kernel_list *list;
	const char *ref_symbol;
};

static void take_kernel(void *context, const struct kallsyms_symbol *symbol)
{
	const struct kernel_pass *pass = context;

	if (symbol->module)
		return;
	kallsyms_add(&pass->list->table, symbol);
	if (pass->ref_symbol && !pass->list->ref_addr && strlen(pass->ref_symbol) == symbol->name_len &&
	    !memcmp(pass->ref_symbol, symbol->name, symbol->name_len))
		pass->list->ref_addr = symbol->addr;
}

void kernel_list_read(struct kernel_list *list, const char *path, const char *ref_symbol)
{
	struct kernel_pass pass = { list, ref_symbol };

	*list = (struct kernel_list){ .why = STR_INIT };
	symbol_table_init(&list->table);
	kallsyms_each(path, take_kernel, &pass, &list->result, &list->why);
}

void kernel_list_release(struct kernel_list *list)
{
	symbol_table_release(&list->table);
	str_release(&list->why);
}

/* ---- by a thread ---- */

static void *run(void *context)
{
	struct kernel_list_ahead *ahead = context;

	kernel_list_read(&ahead->list, ahead->path, ahead->ref_symbol);
	return NULL;
}

static void ahead_free(struct kernel_list_ahead *ahead)
{
	free(ahead->path);
	free(ahead->ref_symbol);
	free(ahead);
}

struct kernel_list_ahead *kernel_list_begin(const char *path, const char *ref_symbol)
{
	struct kernel_list_ahead *ahead = xcalloc(1, sizeof(*ahead));
	sigset_t all, before;
	int error;

	ahead->path = xstrdup(path);
	ahead->ref_symbol = ref_symbol ? xstrdup(ref_symbol) : NULL;
	/* Signals are for the thread that was there before. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&ahead->thread, NULL, run, ahead);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		return ahead;
	ahead_free(ahead);
	return NULL;
}

bool kernel_list_take(struct kernel_list_ahead *ahead, const char *ref_symbol, struct kernel_list *list)
{
	bool same = text_same(ahead->ref_symbol, ref_symbol);

	pthread_join(ahead->thread, NULL);
	if (same)
		*list = ahead->list;
	else
		kernel_list_release(&ahead->list);
	ahead_free(ahead);
	return same;
}

void kernel_list_drop(struct kernel_list_ahead *ahead)
{
	if (!ahead)
		return;
	pthread_join(ahead->thread, NULL);
	kernel_list_release(&ahead->list);
	ahead_free(ahead);
}
