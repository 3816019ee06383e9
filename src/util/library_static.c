/* SPDX-License-Identifier: MIT */
/*
 * Libraries in the static file, in place of library.c: they are linked into it, so that loading one is finding its
 * functions by their names. LINKED_FUNCTIONS is made by the Makefile of what the callers of library_load() ask for,
 * see "one static file" there.
 */
#include "util.h"

#define DECLARE(name) extern char name[];
LINKED_FUNCTIONS(DECLARE)

static const struct linked_function {
	const char *name;
	void *function;
} linked_functions[] = {
#define ROW(name) { #name, name },
	LINKED_FUNCTIONS(ROW)
};

static void *find_function(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(linked_functions); i++)
		if (!strcmp(linked_functions[i].name, name))
			return linked_functions[i].function;
	return NULL;
}

void *library_load(const char *soname, const struct library_symbol *symbols, size_t n,
		   void *functions, struct str *err)
{
	static char linked; /* the handle of each */

	for (size_t i = 0; i < n; i++) {
		void *function = find_function(symbols[i].name);

		if (!function) {
			fail(err, 0, "%s: this is one static file, which has no %s", soname, symbols[i].name);
			return NULL;
		}
		memcpy((char *)functions + symbols[i].offset, &function, sizeof(function));
	}
	return &linked;
}

void library_unload(void *handle)
{
	(void)handle;
}
