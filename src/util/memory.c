/*
 * Memory that does not fail. A measuring program that is out of memory has nothing better to do
 * than to say so and end: the one place below cmd/ that may exit.
 */
#include "util.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *checked(void *p)
{
	static const char text[] = "pstat: out of memory\n";

	if (!p) {
		if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
			_exit(EXIT_PSTAT_FAILED);
		_exit(EXIT_PSTAT_FAILED);
	}
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
