/*
 * demangle_none: pstat built without libiberty (WITH_LIBIBERTY=0). Names are shown as files have them.
 */
#include "sym/sym.h"

bool demangle(const char *raw, bool parameters, struct str *out)
{
	(void)raw;
	(void)parameters;
	(void)out;
	return false;
}
