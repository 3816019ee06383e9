/* SPDX-License-Identifier: MIT */
/*
 * name_list: the names in a folder of sysfs or tracefs, sorted, so that what is made from them does
 * not depend on the order in which the kernel lists them.
 */
#include "event/name_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

bool is_plain_file_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

int name_list_read(struct name_list *names, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	size_t first = names->n;

	if (!d)
		return -errno;
	while ((entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		VEC_GROW(names->v, names->n, names->cap);
		names->v[names->n++] = xstrdup(entry->d_name);
	}
	closedir(d);
	if (names->n > first)
		qsort(names->v + first, names->n - first, sizeof(*names->v), compare_names);
	return 0;
}

void name_list_release(struct name_list *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
	*names = (struct name_list){ 0 };
}
