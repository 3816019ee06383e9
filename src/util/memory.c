/*
 * Memory that does not fail: what then happens is up to who links this (memory_exhausted.c, or its stand-in).
 */
#include "util.h"

#include <stdlib.h>

static void *checked(void *p)
{
	if (!p)
		memory_exhausted();
	return p;
}

void *xmalloc(size_t bytes)
{
	return checked(malloc(bytes ? bytes : 1));
}

void *xcalloc(size_t n, size_t bytes)
{
	return checked(n && bytes ? calloc(n, bytes) : calloc(1, 1));
}

void *xreallocarray(void *old, size_t n, size_t bytes)
{
	return checked(n && bytes ? reallocarray(old, n, bytes) : realloc(old, 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

char *xasprintf(const char *fmt, ...)
{
	struct str s = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&s, fmt, ap);
	va_end(ap);
	return str_detach(&s);
}
