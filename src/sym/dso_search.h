/*
 * dso_search: one search for the files of a dso, as its parts hand it on. Private to the files that search:
 * dso_file.c (the file itself), debug_file.c (the one with its names), vdso_file.c, debuginfod.c.
 */
#ifndef PSTAT_DSO_SEARCH_H
#define PSTAT_DSO_SEARCH_H

#include "sym/cached_files.h"
#include "sym/processes.h"
#include "sym/sym_internal.h"

enum { ROOTS_MAX = 8 };

struct dso_search {
	const struct sym_options *options;
	struct elf_files *elf_files; /* or NULL */
	struct cached_files *cached; /* or NULL */
	const struct recording_info *recording;
	const struct dso *dso;
	/* Living processes that may see the file, and other files than this process does. */
	const struct process_here *roots[ROOTS_MAX];
	size_t n_roots;
	struct dso_files *files;
	char *emptied; /* a debug file that lies where the file itself was looked for; NULL: none */
	const char *symfs; /* "" or a folder */
	/* The recording's, or where it has none, that of the file that was found. size 0: neither. */
	struct build_id build_id;
	/* Known of files->runtime, once it was found: */
	struct stat stat;
	struct str link; /* .gnu_debuglink; "": none */
	uint32_t link_crc;
	bool has_symtab, has_dwarf, has_minidebug;
};

/* Said of what is missing: the first reason stays. path: whose it is, or NULL: the dso's own. */
void dso_search_why(struct dso_search *search, const char *remedy, const char *path, const char *fmt,
		    ...) PRINTF_LIKE(4, 5);

/* The same of what is in the cache and can't be used: after the reason that there is. */
void dso_search_not_cached(struct dso_search *search, const struct str *why);

/* Looks for files->debug, once files->runtime and what comes with it is known. */
void debug_file_find(struct dso_search *search);

/*
 * Asks the servers of $DEBUGINFOD_URLS for the file, or for its debug file. 0 and a path that the caller
 * frees; a negative errno with a sentence. -ETIME: the time for all files is used up.
 */
int debuginfod_fetch(const struct sym_options *options, const struct build_id *id, const char *name,
		     bool debug, char **path, struct str *err);

#endif
