/* SPDX-License-Identifier: MIT */
/*
 * source_cached: what was found out about ELF files before, as a source of names. Private to sym/.
 *
 * Of each file with a build-id, recorded or its own, an entry of the cache (names_cache.h) has the addresses that were
 * asked for, with their functions, inlined functions and lines: as a recording has them (embedded_names.h), of one dso,
 * not packed.
 *
 *	u64 base | u32 number of addresses | u32 bytes of parts |
 *	u8 of each address: what was asked of it (enum answer_depth) | parts | names
 *
 * The key is a text of all that the answers depend on: this pstat's version; the file's build-id and recorded path; of
 * the file itself and of the one with its debug information device, inode, size and times, or that there is none. So a
 * debug file that came, went or changed is another key. Other files with parts of the DWARF are named by the entry:
 *
 *	parts	nothing, or: where they were looked for, a text | NUL | file_parts_put
 *
 * and an entry holds as long as they would be looked for in the same places, and each is what it was.
 *
 * The kernel and its modules lie elsewhere after each start: what an entry was counted from is in it, and all of its
 * addresses are moved by as much as that has moved, as by source_kernel.c. That is the recorded address of a symbol
 * (ref_symbol, whose name is in the key), or a module's start. A module's functions are, as a rule, from the running
 * kernel's list, which is not kept of modules, as they come and go; then the entry is used for what is inlined and for
 * lines alone. Names of the kernel itself from that list are kept for as long as it runs, see kallsyms_list_tell, as is
 * the list itself, see kallsyms_loader.c.
 *
 * How names are shown is not in the key: they are kept raw, with all of which one may be chosen.
 */
#ifndef PSTAT_SOURCE_CACHED_H
#define PSTAT_SOURCE_CACHED_H

#include "sym/dso_names.h"
#include "sym/file_parts.h"

struct cached_names {
	struct embedded_names *names;
	struct embedded_dso *dso;
	uint8_t *depths; /* enum answer_depth, of each of the dso's addresses */
	char *search; /* where parts were looked for */
	struct file_parts parts;
};

/*
 * Reads what an entry of this dso keeps, whose bytes are not held; NULL: it can't be that. Nothing in them is believed
 * but what the key and the checksum say. base: what its addresses are counted from, now.
 */
struct cached_names *cached_names_read(const void *bytes, size_t n, const struct dso *dso, uint64_t base);
void cached_names_free(struct cached_names *cached); /* NULL is nothing */
/* The same of the names that embedded_write.c made of one dso, and the parts that these are from. */
void cached_names_put(const struct str *depths, const struct str *names, const char *search,
		      const struct file_parts *parts, uint64_t base, struct str *out);

/* Whether the cache has anything that answers. */
bool source_cached_has(const struct dso_names *names);
/* Takes what there is of files that are known, and not yet read, also the kernel's; false: nothing is in the cache. */
bool source_cached_take(struct symbols *symbols, struct dso_names *names);
/*
 * The same for the kernel, by a list of its names instead of files: list is text that no other list has. find: whether
 * there is anything, before the names are asked for.
 */
bool source_cached_find_list(struct symbols *symbols, struct dso_names *names, const char *list);
bool source_cached_take_list(struct symbols *symbols, struct dso_names *names, const char *list);
/* The files that were asked for could not be used: others are, under another key. */
void source_cached_drop(struct dso_names *names);
/* Whether an address that is asked for is worth to be remembered, so that it is kept at the end. */
bool source_cached_wants(const struct symbols *symbols, const struct dso_names *names);

#endif
