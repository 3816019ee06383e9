/* SPDX-License-Identifier: MIT */
/*
 * elf_xz without liblzma: what is packed stays packed, and says so.
 */
#include "elf/elf.h"
#include "elf/elf_unpack.h"

#include <errno.h>

int elf_xz_try(struct str *err)
{
	(void)err;
	return -ENOSYS;
}

int elf_xz_unpack(const void *bytes, size_t n, struct str *out, struct str *err)
{
	(void)bytes, (void)n, (void)out;
	return fail(err, -ENOSYS, "packed with xz, and liblzma was left out of this pstat");
}
