/*
 * kernel_list.c: see kernel_list.h.
 */
#include "sym/kernel_list.h"

#include "sym/kallsyms.h"

#include <stdlib.h>
#include <unistd.h>

/* Of a distribution's kernel, some of its modules among them. What is not used is never touched. */
enum { SYMBOLS_EXPECTED = 200000, NAME_BYTES_EXPECTED = 5 << 20 };

struct kernel_list_ahead {
	bool by_thread; /* else it was known already */
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
	symbol_table_reserve(&list->table, SYMBOLS_EXPECTED, NAME_BYTES_EXPECTED);
	kallsyms_each(path, take_kernel, &pass, &list->result, &list->why);
}

void kernel_list_release(struct kernel_list *list)
{
	symbol_table_release(&list->table);
	str_release(&list->why);
}

/* ---- which one it is ---- */

enum { TOLD_BYTES = 1024 }; /* some twenty lines, of which not all are of address 0 where any is shown */

static bool read_beginning(const char *path, char *bytes, size_t n)
{
	const struct foreign_options options = { .kernel_file = true };
	struct str ignored = STR_INIT;
	struct stat st;
	int fd = foreign_open(path, &options, &st, &ignored);
	ssize_t got = fd < 0 ? -1 : 0;

	for (size_t at = 0; got >= 0 && at < n; at += (size_t)got) {
		got = read(fd, bytes + at, n - at);
		if (!got)
			got = -1;
	}
	if (fd >= 0)
		close(fd);
	str_release(&ignored);
	return got > 0;
}

static bool shows_addresses(const char *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i && lines[i - 1] != '\n')
			continue;
		while (i < n && lines[i] == '0')
			i++;
		if (i < n && lines[i] != ' ')
			return true;
	}
	return false;
}

bool kernel_list_tell(const char *path, const char *boot_id_path, struct str *text)
{
	struct str boot_id = STR_INIT;
	char beginning[TOLD_BYTES];
	bool is_told = !read_line_file(boot_id_path, &boot_id) && boot_id.len &&
		       read_beginning(path, beginning, sizeof(beginning)) &&
		       shows_addresses(beginning, sizeof(beginning));

	if (is_told)
		str_addf(text, "list %s %016llx\n", boot_id.s,
			 (unsigned long long)checksum_bytes(beginning, sizeof(beginning)));
	str_release(&boot_id);
	return is_told;
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

static struct kernel_list_ahead *ahead_new(const char *ref_symbol)
{
	struct kernel_list_ahead *ahead = xcalloc(1, sizeof(*ahead));

	ahead->ref_symbol = ref_symbol ? xstrdup(ref_symbol) : NULL;
	return ahead;
}

struct kernel_list_ahead *kernel_list_begin(const char *path, const char *ref_symbol)
{
	struct kernel_list_ahead *ahead = ahead_new(ref_symbol);

	ahead->path = xstrdup(path);
	ahead->by_thread = !thread_start(&ahead->thread, NULL, run, ahead);
	if (ahead->by_thread)
		return ahead;
	ahead_free(ahead);
	return NULL;
}

struct kernel_list_ahead *kernel_list_known(const struct kernel_list *list, const char *ref_symbol)
{
	struct kernel_list_ahead *ahead = ahead_new(ref_symbol);

	ahead->list = *list;
	return ahead;
}

bool kernel_list_take(struct kernel_list_ahead *ahead, const char *ref_symbol, struct kernel_list *list)
{
	bool same = text_same(ahead->ref_symbol, ref_symbol);

	if (ahead->by_thread)
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
	if (ahead->by_thread)
		pthread_join(ahead->thread, NULL);
	kernel_list_release(&ahead->list);
	ahead_free(ahead);
}
