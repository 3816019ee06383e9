/* SPDX-License-Identifier: MIT */
/*
 * demangle_none: pstat built without libiberty (WITH_LIBIBERTY=0). Names are shown as files have them, but for OCaml's.
 */
#include "sym/sym_internal.h"

bool demangle(const char *raw, bool parameters, unsigned *long_names, struct str *out)
{
	(void)parameters;
	(void)long_names;
	return demangle_ocaml(raw, out);
}
