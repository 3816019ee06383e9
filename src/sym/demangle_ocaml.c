/* SPDX-License-Identifier: MIT */
/*
 * demangle_ocaml: names of OCaml's native code, which libiberty does not know.
 *
 *	camlShop__Cart__total_81    up to OCaml 5.0      Shop.Cart.total_81
 *	camlShop.Cart.total_81      from 5.1 on          the same
 *	camlShop__$2b$2b_12         "++" in hexadecimal  Shop.++_12
 *
 * What follows "caml" is a module, which begins with a capital; functions of the run-time library do not. The number
 * stays: it tells functions of one name apart. Two underscores may also be part of a name: then it is shown with a dot,
 * as people call the modules of the standard library.
 *
 * Source: ocaml/ocaml on GitHub, pull requests 11430 and 14143.
 */
#include "sym/sym_internal.h"

#include <ctype.h>

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* The character that "$xx" stands for; 0: it is none that would be written so. */
static char escaped(const char *at)
{
	int high = at[0] == '$' ? hex_digit(at[1]) : -1, low = high >= 0 ? hex_digit(at[2]) : -1;
	int c = low >= 0 ? high * 16 + low : 0;

	return c < 128 && ispunct(c) && c != '_' ? (char)c : '\0';
}

bool demangle_ocaml(const char *raw, struct str *out)
{
	const char *at = raw + strlen(OCAML_PREFIX);

	if (strncmp(raw, OCAML_PREFIX, strlen(OCAML_PREFIX)) != 0 || *at < 'A' || *at > 'Z')
		return false;
	while (*at) {
		char c = escaped(at);

		if (c) {
			str_addc(out, c);
			at += strlen("$xx");
		} else if (at[0] == '_' && at[1] == '_' && at[2]) {
			str_addc(out, '.');
			at += 2;
		} else {
			str_addc(out, *at++);
		}
	}
	return true;
}
