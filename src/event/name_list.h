/* SPDX-License-Identifier: MIT */
/*
 * name_list: what is in a folder. Private to event/.
 */
#ifndef PSTAT_NAME_LIST_H
#define PSTAT_NAME_LIST_H

#include "util/util.h"

struct name_list {
	char **v;
	size_t n, cap;
};
/*
 * Appends the folder's entries without a leading dot, sorted among themselves with numbers by value
 * (x2 before x10). 0 or -errno of opendir(3).
 */
int name_list_read(struct name_list *names, const char *dir);
void name_list_release(struct name_list *names);

/* A word that can be an entry of a folder: no '/', no leading '.', not "". */
bool is_plain_file_name(const char *name);

#endif
