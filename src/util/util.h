/* SPDX-License-Identifier: MIT */
/*
 * util: what every folder may use. Memory that does not fail, growing strings, strict numbers,
 * small sorted sets of integers, notes for the user, names made printable, near-miss suggestions.
 *
 * Conventions of the whole tree:
 *   - A function that can fail returns 0 (or a count) or a negative errno, and adds one finished
 *     sentence to its `struct str *err` (no "pstat: " in front, no newline at the end).
 *   - Nothing here prints, except memory_exhausted() when memory is gone: it ends the program.
 */
#ifndef PSTAT_UTIL_H
#define PSTAT_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "util/arena.h"
#include "util/build_id.h"
#include "util/config_file.h"
#include "util/destination.h"
#include "util/file_map.h"
#include "util/foreign.h"
#include "util/gzip.h"
#include "util/hash.h"
#include "util/helper.h"
#include "util/interrupt.h"
#include "util/zstd.h"

#define PSTAT_VERSION "0.1"

/* Exit statuses of pstat itself; a measured command's own status is passed on unchanged. */
enum {
	EXIT_PSTAT_FAILED = 125, /* pstat could not do its work */
	EXIT_NOT_EXECUTABLE = 126, /* as the shell has it */
	EXIT_NOT_FOUND = 127,
	EXIT_BAD_USAGE = 129, /* as perf and git have it */
};

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/*
 * The first index from `from` on for which `before`, an expression of the index i, is false; `to`: none. It has to be
 * true of all indexes up to some place, and false of all from there on.
 */
#define BISECT(i, from, to, before)                                                                                    \
	({                                                                                                             \
		size_t bisect_low = (from), bisect_high = (to);                                                        \
		while (bisect_low < bisect_high) {                                                                     \
			size_t i = bisect_low + (bisect_high - bisect_low) / 2;                                        \
			if (before)                                                                                    \
				bisect_low = i + 1;                                                                    \
			else                                                                                           \
				bisect_high = i;                                                                       \
		}                                                                                                      \
		bisect_low;                                                                                            \
	})
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* ---- memory: never NULL; the caller frees with free() ---- */
void *xmalloc(size_t bytes);
void *xcalloc(size_t n, size_t bytes);
void *xreallocarray(void *old, size_t n, size_t bytes);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* Called by these when there is no memory. */
_Noreturn void memory_exhausted(void);
/*
 * From now on large pieces go back to the system when they are freed. By default the C library keeps ever larger ones
 * in its heap, where small pieces that live on come to lie between them: what runs for long has a heap full of holes.
 */
void memory_return_large(void);

/* The same text, or both NULL. */
static inline bool text_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Room for one more element at v[n]: grows by half, to at least 8. */
#define VEC_GROW(v, n, cap)                                                       \
	do {                                                                      \
		if ((n) >= (cap)) {                                               \
			(cap) = (cap) < 8 ? 8 : (cap) + (cap) / 2;                \
			(v) = xreallocarray((v), (cap), sizeof(*(v)));            \
		}                                                                 \
	} while (0)

/* Room for v[i] in an array of n, which may be NULL: it grows by half of that at least, and what is new is zero. */
#define VEC_REACH(v, n, i)                                                        \
	do {                                                                      \
		size_t vec_i = (i);                                               \
		if (vec_i >= (n)) {                                               \
			size_t vec_n = vec_i + vec_i / 2 + 16;                    \
			(v) = xreallocarray((v), vec_n, sizeof(*(v)));            \
			memset((v) + (n), 0, (vec_n - (n)) * sizeof(*(v)));       \
			(n) = vec_n;                                              \
		}                                                                 \
	} while (0)

/* ---- struct str: a growing string, always NUL-terminated, may hold any bytes ---- */
struct str {
	char *s; /* never NULL; "" (not on the heap) while cap is 0 */
	size_t len;
	size_t cap;
};
extern char str_empty[1];
#define STR_INIT { .s = str_empty }

void str_init(struct str *s);
void str_release(struct str *s); /* back to the initial state; safe to call twice */
void str_reset(struct str *s); /* length 0, memory kept */
void str_add(struct str *s, const char *text);
void str_reserve(struct str *s, size_t more); /* room for so many bytes after what it has */
void str_addn(struct str *s, const char *bytes, size_t n);
void str_addc(struct str *s, char c);
void str_addf(struct str *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
void str_vaddf(struct str *s, const char *fmt, va_list ap);
void str_pad(struct str *s, char c, size_t n); /* n times c */
char *str_detach(struct str *s); /* heap string, the caller frees; s is initial again */

/*
 * Text from outside (names of processes, files, events) for a terminal: control characters,
 * DEL, C1 controls, bidirectional overrides and bytes that are not UTF-8 become \xNN.
 */
void str_add_printable(struct str *s, const char *bytes, size_t n);
/* The same bytes as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void str_add_json(struct str *s, const char *text);
/* The same within a script element of a page, where nothing of it is markup: '<', '>' and '&' are escaped. */
void str_add_page_json(struct str *s, const char *text);
/*
 * The same n bytes as XML's text, also within an attribute's quotes; bytes that are not UTF-8, and what is no character
 * of XML 1.0 (controls, U+FFFE, U+FFFF), become U+FFFD: nothing can stand for them.
 */
void str_add_xml(struct str *s, const char *bytes, size_t n);
/* 1234567 -> "1,234,567"; the separator does not depend on the locale. */
void str_add_grouped(struct str *s, uint64_t value);

/* ---- page_frame.c: pages for a browser, which ask nobody for anything ---- */
/* Begins a page; what follows is its data, as JSON with texts by str_add_page_json(). */
void page_begin(struct str *out, const char *title, const char *css, const char *body);
/* Ends the data, and the page with its scripts. */
void page_end(struct str *out, const char *const *scripts, size_t n);

/* ---- digits.c: numbers in text that is made once per sample, without a call of printf ---- */
void str_add_u64(struct str *s, uint64_t value);
/* At least `width` characters, with `fill` in front of the digits. */
void str_add_decimal(struct str *s, uint64_t value, unsigned width, char fill);
/* The same in hexadecimal digits, without 0x. */
void str_add_hex(struct str *s, uint64_t value, unsigned width, char fill);

/* ---- columns.c: text in the columns of a terminal ---- */
/* UTF-8 as str_add_printable leaves it; escape sequences of colours take no column. */
size_t text_columns(const char *text, size_t n);
/* How many of the n bytes fit into so many columns, whole characters only. */
size_t text_fitting(const char *text, size_t n, size_t columns);
/*
 * Cuts what s has from `start` on to so many columns where it is longer. name: of a function: the arguments of
 * templates go first, then parameters, then the middle; else the middle. dots: what stands for what is
 * left out. At least dots remain.
 */
void str_shorten(struct str *s, size_t start, size_t columns, bool name, const char *dots);
/*
 * Adds the text, broken at blanks into lines of so many columns (0: one line, as it is). at: the column where it
 * begins; indent: the blanks before each further line. A word that is too long for a line stays whole.
 */
void str_add_wrapped(struct str *s, const char *text, size_t at, size_t indent, size_t columns);

/* Adds a sentence to err and returns `code`, so that `return fail(err, -EINVAL, "...")` reads well. */
int fail(struct str *err, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* ---- numbers: the whole text must be the number; -EINVAL or -ERANGE otherwise ---- */
int parse_u64(const char *text, int base, uint64_t *out); /* base 0: 0x.. is hexadecimal; no sign */
int parse_int(const char *text, long min, long max, long *out);
int parse_double(const char *text, double *out);

/* ---- struct intset: sorted distinct ints (CPUs, pids), usually few ---- */
struct intset {
	int *v;
	size_t n;
	size_t cap;
};
#define INTSET_INIT { NULL, 0, 0 }
void intset_add(struct intset *set, int value);
bool intset_has(const struct intset *set, int value);
size_t intset_index(const struct intset *set, int value); /* SIZE_MAX: it is not in the set */
void intset_copy(struct intset *to, const struct intset *from); /* `to` is replaced */
void intset_release(struct intset *set);
/*
 * "0-3,7" and, for sysfs, a trailing newline. Ranges need low <= high; at most `max` is allowed as a
 * value. -EINVAL with a sentence that quotes the wrong part. Adds to what is in the set.
 */
int intset_parse(struct intset *set, const char *text, int max, struct str *err);
/* The set as "0-3,7". */
void intset_format(const struct intset *set, struct str *out);

/* ---- files ---- */
/* Whole small text file (sysfs, procfs) appended to out, at most 16 MiB; -errno on failure. */
int read_text_file(const char *path, struct str *out);
/* The same, with trailing white space removed and out emptied first. */
int read_line_file(const char *path, struct str *out);
int read_u64_file(const char *path, uint64_t *out);
/*
 * Renames, but never over what is there: -EEXIST then. -EINVAL where the file system cannot, -ENOSYS where the
 * kernel cannot.
 */
int rename_new(int from_folder, const char *from, int to_folder, const char *to);
/* All bytes or -errno; retries EINTR and short writes, and waits where a descriptor that does not block is full. */
int write_all(int fd, const void *bytes, size_t n);
/* The same into a file, at an offset, which is not the descriptor's; that nothing could be written is -EIO. */
int write_all_at(int fd, const void *bytes, size_t n, uint64_t offset);

/* Places of the kernel's pseudo file systems. Tests point these at trees of their own. */
struct host_paths {
	const char *sysfs; /* "/sys" */
	const char *procfs; /* "/proc" */
	const char *tracefs; /* "/sys/kernel/tracing"; sources fall back to sysfs/kernel/debug/tracing */
	const char *events; /* --events-dir: where vendors' files are looked for first; NULL: it is not given */
};

/* ---- notes: what pstat did differently from what was asked; collected below, printed by cmd/ ---- */
struct note {
	char *text; /* one line: "<what>: <why>" */
	char *remedy; /* one line with what to do, or NULL */
	bool verbose; /* only worth saying with -v */
};
struct note_list {
	struct note *v;
	size_t n;
	size_t cap;
};
/* Takes copies; the same text is kept once. remedy may be NULL. */
void note_add(struct note_list *notes, bool verbose, const char *remedy, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
void note_list_join(struct note_list *notes, const struct note_list *others); /* adds the others */
void note_list_cut(struct note_list *notes, size_t from, size_t to); /* removes those from..to-1 */
/* Adds all notes, a line each; what to do is a line below, indented. */
void note_list_add_lines(const struct note_list *notes, struct str *out);
void note_list_release(struct note_list *notes);

/* ---- near misses: which known name did the user mean? ---- */
struct near_name {
	const char *word; /* borrowed */
	size_t word_len;
	char best[128]; /* copy of the closest name so far, "" if none is close enough */
	unsigned best_distance;
};
void near_init(struct near_name *near, const char *word, size_t len);
void near_consider(struct near_name *near, const char *candidate);
/* The closest name, at most a third of its letters away; NULL if none. */
const char *near_best(const struct near_name *near);

/* Shell-style pattern with * ? [..]; no special treatment of / or leading dots. */
bool glob_match(const char *pattern, const char *text);
bool has_glob_chars(const char *text);

uint64_t now_ns(void); /* CLOCK_MONOTONIC */
static inline int64_t timespec_ns(const struct timespec *time)
{
	return time->tv_sec * (int64_t)NS_PER_S + time->tv_nsec;
}

/* ---- libraries that are loaded when they are first needed: library.c; library_static.c in the static file ---- */
struct library_symbol {
	const char *name;
	size_t offset; /* of its function pointer in the caller's struct */
};
/*
 * Opens the library and fills the n function pointers in `functions`. The handle for library_unload(), or
 * NULL with a sentence: it is not installed, or too old to have one of them.
 */
void *library_load(const char *soname, const struct library_symbol *symbols, size_t n,
		   void *functions, struct str *err);
void library_unload(void *handle);

/* ---- names of users: users.c asks the name service, which loads libraries; users_static.c reads /etc/passwd ---- */
/* Sets the number of the user of this name; -EINVAL, with what to say behind "user 'x': ". */
int user_find(const char *name, uid_t *uid, struct str *err);
struct passwd;
/* Calls take for each user that is listed. */
void users_each(void (*take)(void *context, const struct passwd *user), void *context);

#include "util/intern.h"
#include "util/memory_locked.h"
#include "util/name_set.h"
#include "util/output.h"
#include "util/statistics.h"
#include "util/thread.h"

#endif
