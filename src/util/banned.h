/* SPDX-License-Identifier: MIT */
/*
 * banned: functions that write without a bound, or that hide state or errors. The Makefile includes
 * this file before every file of src, so that using one is a compile error.
 *
 * Instead: struct str (str_add, str_addf), snprintf, strsep or strspn, parse_u64 and parse_int.
 *
 * And functions that are undefined for NULL also where they do nothing (C11 7.22.5 and 7.24.1, whose words compilers
 * believe): arrays begin without memory here, so these are called only where there is something.
 */
#ifndef PSTAT_BANNED_H
#define PSTAT_BANNED_H

/* Their declarations come first: a poisoned word may not even be declared afterwards. */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef alloca
#undef strcpy
#undef strcat
/* glibc 2.43's result is const where the array is: find_in_some() has one type. */
#undef bsearch
#pragma GCC poison alloca gets sprintf strcat strcpy strtok vsprintf
#pragma GCC poison atof atoi atol atoll

static inline void sort_some(void *v, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	if (n)
		qsort(v, n, size, compare);
}

static inline void *find_in_some(const void *key, const void *v, size_t n, size_t size,
				 int (*compare)(const void *, const void *))
{
	return n ? bsearch(key, v, n, size, compare) : NULL;
}

static inline void *copy_some(void *to, const void *from, size_t n)
{
	return n ? memcpy(to, from, n) : to;
}

static inline void *move_some(void *to, const void *from, size_t n)
{
	return n ? memmove(to, from, n) : to;
}

static inline void *set_some(void *to, int byte, size_t n)
{
	return n ? memset(to, byte, n) : to;
}

static inline int compare_some(const void *a, const void *b, size_t n)
{
	return n ? memcmp(a, b, n) : 0;
}

#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#define qsort sort_some
#define bsearch find_in_some
#define memcpy copy_some
#define memmove move_some
#define memset set_some
#define memcmp compare_some

#endif
