/* SPDX-License-Identifier: MIT */
/*
 * Libraries that are loaded when they are first needed, so that starting pstat costs nothing for them.
 */
#include "util.h"

#include <dlfcn.h>

void *library_load(const char *soname, const struct library_symbol *symbols, size_t n,
		   void *functions, struct str *err)
{
	void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		const char *why = dlerror(); /* its name stands before it already, or where a part of it was found */
		bool named = !strncmp(why, soname, strlen(soname));

		fail(err, 0, "%s%s%s", named ? "" : soname, named ? "" : ": ", why);
	}
	for (size_t i = 0; handle && i < n; i++) {
		void *symbol = dlsym(handle, symbols[i].name);

		if (symbol) {
			memcpy((char *)functions + symbols[i].offset, &symbol, sizeof(symbol));
			continue;
		}
		fail(err, 0, "%s: it is too old: it has no %s", soname, symbols[i].name);
		library_unload(handle);
		handle = NULL;
	}
	return handle;
}

void library_unload(void *handle)
{
	dlclose(handle);
}
