/*
 * demangle_none: pstat built without libiberty (WITH_LIBIBERTY=0). Names are shown as files have them.
 */
#include "sym/sym.h"

bool demangle(const char *raw, bool parameters, unsigned *long_names, struct str *out)
{
	(void)raw;
	(void)parameters;
	(void)long_names;
	(void)out;
	return false;
}
