/*
 * Libraries that are loaded when they are first needed, so that starting pstat costs nothing for them.
 */
#include "util.h"

#include <dlfcn.h>

void *library_load(const char *soname, const struct library_symbol *symbols, size_t n,
		   void *functions, struct str *err)
{
	void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		fail(err, 0, "%s: %s", soname, dlerror());
	for (size_t i = 0; handle && i < n; i++) {
		void *symbol = dlsym(handle, symbols[i].name);

		if (symbol) {
			memcpy((char *)functions + symbols[i].offset, &symbol, sizeof(symbol));
			continue;
		}
		fail(err, 0, "%s: it is too old: it has no %s", soname, symbols[i].name);
		dlclose(handle);
		handle = NULL;
	}
	return handle;
}
