/* SPDX-License-Identifier: MIT */
/*
 * elf_unpack: bytes that are packed as a whole, and the bound of what they may become. Private to elf/.
 */
#ifndef PSTAT_ELF_UNPACK_H
#define PSTAT_ELF_UNPACK_H

#include "util/util.h"

/* Most that a packed file, or a packed section of symbols, may become; what a decoder may need for itself. */
#define ELF_UNPACKED_MAX ((size_t)256 << 20)
enum { ELF_PACKING_BYTES = 6 }; /* that tell how a file is packed */
bool elf_is_packed(const uint8_t *start);
/* Appended to out. -EFBIG: more than ELF_UNPACKED_MAX; -EINVAL: cut or damaged; -ENOSYS: not with what is here. */
int elf_unpack(const void *bytes, size_t n, struct str *out, struct str *err);
/* The n bytes that some of zstd, of zlib become, which the caller frees; NULL: they don't. */
void *elf_unpack_zstd(const void *bytes, size_t packed, size_t n, struct str *err);
void *elf_unpack_zlib(const void *bytes, size_t packed, size_t n, struct str *err);
/* For the decoders: a chunk more, with its bound; before: the length of out when it began. */
int elf_unpacked_take(struct str *out, size_t before, const char *chunk, size_t n, struct str *err);

/* ---- elf_xz.c; elf_xz_none.c where it was left out ---- */
int elf_xz_unpack(const void *bytes, size_t n, struct str *out, struct str *err);

#endif
