/*
 * dw_lib.c: see dw_lib.h. A failure is remembered with its reason: every file of a report would try again.
 */
#include "sym/dw_lib.h"

static const struct library_symbol functions[] = {
#define ROW(name) { #name, offsetof(struct dw_lib, name) },
	DW_LIB_FUNCTIONS(ROW)
#undef ROW
};

const struct dw_lib *dw_lib_get(struct str *err)
{
	static struct dw_lib lib;
	static struct str why = STR_INIT;
	static bool tried, loaded;

	if (!tried) {
		tried = true;
		loaded = library_load("libdw.so.1", functions, ARRAY_SIZE(functions), &lib, &why);
	}
	if (!loaded)
		str_add(err, why.s);
	return loaded ? &lib : NULL;
}
