/*
 * kcore_copy: the code of a running kernel out of /proc/kcore. Private to buildcache/.
 *
 * kcore is as large as memory can be, and its code is some 30 MB of that: the kernel's own from _stext to _etext, what
 * /proc/modules says of modules, and the pages of what kallsyms has in brackets besides (BPF programs, trampolines).
 * What is written is an ELF core file with nothing but these as its segments, at their addresses.
 *
 * Sources: proc(5); fs/proc/kcore.c of Linux for the layout; elf(5).
 */
#ifndef PSTAT_KCORE_COPY_H
#define PSTAT_KCORE_COPY_H

#include "util/util.h"

struct kcore_texts { /* of the same moment; whole files, ended by NUL */
	const char *kallsyms, *modules;
};

/*
 * Writes it from the beginning of `to`. -EINVAL with a clause: not a core file of 64 bits, or no code in it; -EFBIG:
 * more than 1 GiB; -ECANCELED; others of reading and writing.
 */
int kcore_copy(int from, int to, const struct kcore_texts *texts, const struct interrupt *interrupt, struct str *err);
/* Do both have the kernel and the same modules at the same addresses? */
bool kcore_texts_agree(const struct kcore_texts *a, const struct kcore_texts *b);

#endif
