/* SPDX-License-Identifier: MIT */
/*
 * embedded_names: names that are in the recording itself, for what had samples: feature SYMBOLS of the file. Private
 * to sym/.
 *
 * Each dso of which an address was sampled has its functions, the frames and lines of each of these addresses, and
 * where stacks have to be unwound what that needs of the file. So no file is opened for an address that is listed;
 * one that is not is looked up as without the feature.
 *
 *	u8 version 2 | u8 packing: 0 none, 1 zstd | number: bytes when unpacked | the rest, packed:
 *	number: bytes of texts | texts, each ended by NUL | number of dsos | each: number: bytes | dso
 *
 *	dso     u8 kind, one of "fvkma" | u8 flags | path | pid | u8 n, n bytes of build-id | major | minor | inode |
 *	        generation | start | where its names were from | what speaks against them |
 *	        functions | inlined | addresses | code events | image
 *	functions  number of them | each: start, from the one before | size | u8 kind | name | if it has: number of
 *	        aliases, each a name
 *	inlined    number of them | each: 1 + the one it is inlined into, 0: the function | name | file of the call |
 *	        its line | since version 2: line where it begins itself, 0: not known
 *	addresses  number of them | each: address, from the one before | 1 + function, 0: none; from the one before,
 *	        signed | 1 + inlined, 0: none | 1 + file, 0: none | line, from the one before, signed
 *	events     number of them | each: time, from the one before | u8 kind | start, from the one before, signed |
 *	        size | name                                                      (see code_times.h)
 *	image      number of pieces, 0: none | bytes of the file | each: offset, from the end of the one before |
 *	        number of bytes | bytes                                          (see embedded_image.c)
 *
 * Numbers are ULEB128 (DWARF 5, 7.6), signed ones with the sign in the lowest bit; texts are numbers of texts. So byte
 * order plays no part. Addresses are those of struct location. Functions and addresses ascend.
 */
#ifndef PSTAT_EMBEDDED_NAMES_H
#define PSTAT_EMBEDDED_NAMES_H

#include "sym/sym_internal.h"

enum {
	EMBEDDED_VERSION = 2, /* 1 is read, too */
	EMBEDDED_ZSTD = 1,
	/* Flags of a dso. */
	EMBEDDED_NONE = 1, /* no names were found, only where functions begin and end */
	EMBEDDED_PARTIAL = 2, /* only exported names */
	EMBEDDED_DSO_FLAGS = EMBEDDED_NONE | EMBEDDED_PARTIAL,
	/* The kind of a function: enum symbol_rank_bits, or not known; and: */
	EMBEDDED_BINDING = 3,
	EMBEDDED_UNKNOWN_BINDING = 3,
	EMBEDDED_NAMELESS = 4,
	EMBEDDED_ALIASES = 8,
	EMBEDDED_KINDS = EMBEDDED_BINDING | EMBEDDED_NAMELESS | EMBEDDED_ALIASES,
	EMBEDDED_IMAGES_MAX = 256, /* each is a descriptor */
	EMBEDDED_DEPTH_MAX = 127, /* of inlined functions in one another, as symbols_fill_frames() asks for */
};
/* Unpacked bytes are at most so many times the packed ones, and 64 KiB; in any case at most EMBEDDED_BYTES_MAX. */
#define EMBEDDED_RATIO_MAX 64
#define EMBEDDED_BYTES_MAX ((uint64_t)32 << 20)

struct embedded_function {
	uint64_t start, end;
	const char *name;
	uint32_t alias, n_aliases; /* in the dso's aliases */
	uint8_t kind;
};
struct embedded_inline {
	uint32_t into1; /* 1 + index of an earlier one; 0: the function */
	uint32_t depth; /* how many there are up to the function, itself too */
	const char *name;
	struct source_line call;
	uint32_t decl_line; /* where it begins in its source file; 0: not known */
};
struct embedded_addr {
	uint64_t addr;
	uint32_t function1, inline1; /* 1 + index; 0: none */
	struct source_line line;
};
struct embedded_piece {
	uint64_t offset;
	const uint8_t *bytes;
	size_t n;
};

/* One dso's. Its texts live as long as the names that it is of. */
struct embedded_dso {
	uint8_t kind, flags; /* of enum dso_kind; EMBEDDED_DSO_FLAGS */
	const char *path;
	int32_t pid;
	struct build_id build_id;
	uint64_t major, minor, inode, generation, start;
	const char *source, *why;
	const uint8_t *body, *end; /* what follows, not yet read; NULL: it was */
	bool damaged;
	struct embedded_function *functions;
	struct embedded_inline *inlines;
	struct embedded_addr *addrs;
	const char **aliases;
	struct code_event *events; /* their names are offsets in `names` of embedded_names_texts */
	struct embedded_piece *pieces;
	size_t n_functions, n_inlines, n_addrs, n_aliases, cap_aliases, n_events, n_pieces;
	uint64_t image_bytes;
	char *image; /* its path once it was made; see embedded_image.c */
	int image_fd;
	bool image_tried;
};

struct embedded_names;

/*
 * The feature's bytes, which are not kept. 0 and *names; or a negative errno with a clause: -EPROTONOSUPPORT: of
 * another version; -ENOSYS: it is packed and there is no zstd; -EINVAL: damaged.
 */
int embedded_names_open(struct embedded_names **names, const void *bytes, size_t n, struct str *err);
void embedded_names_free(struct embedded_names *names); /* NULL is fine */
/*
 * Finds the names of a dso, read when they are first asked for; NULL: there are none, or with a clause, they are not
 * to be used.
 */
struct embedded_dso *embedded_names_find(struct embedded_names *names, const struct dso *dso, struct str *why);
/* By what letter a kind of dso is written; 0: none, it has no names of its own. */
char embedded_kind_letter(uint8_t kind);
/* All dsos, by number; NULL: there are no more. Not read but for what they are. */
const struct embedded_dso *embedded_names_at(const struct embedded_names *names, size_t i);
/* The texts that the names of code events are offsets in. */
const char *embedded_names_texts(const struct embedded_names *names);

/* The listed address, or NULL. */
const struct embedded_addr *embedded_addr_find(const struct embedded_dso *dso, uint64_t addr);
/*
 * The function that begins there, with a name or without: 1 + its index; 0: none. Code behind the end that a symbol
 * says may be a function without a name that begins where the symbol does.
 */
uint32_t embedded_function_at(const struct embedded_dso *dso, uint64_t start, bool nameless);
/* The same, if it has several names; NULL: it has not, or dso is NULL. */
const struct embedded_function *embedded_aliases(const struct embedded_dso *dso, uint64_t start, bool nameless);
/* The frames of a listed address, as dwarf_file_inlines has them; 0: it has neither inlined functions nor a line. */
size_t embedded_inlines(const struct embedded_dso *dso, const struct embedded_addr *addr, bool inlined,
			struct dwarf_inline *out, size_t max);

/* ---- embedded_image.c: what unwinding needs of a file ---- */
/* Appends the image of a file to out: for these addresses in it (vaddr, ascending). debug: its debug file, or NULL. */
void embedded_image_write(struct elf_file *file, struct elf_file *debug, const uint64_t *addrs, size_t n,
			  struct str *out);
/*
 * A path under which the image can be opened as an ELF file, while the dso's names live; NULL: it has none, or with a
 * clause, it can't be had. *pages_left: how much memory images may still take.
 */
const char *embedded_image_path(struct embedded_dso *dso, uint64_t *pages_left, struct str *why);
void embedded_image_close(struct embedded_dso *dso);

/*
 * Appends the entries of a held file's .debug_frame that are about those of n ascending addresses that are not covered;
 * these are covered then. Nothing: there is no such entry.
 */
void embedded_frames_keep(struct elf_file *file, const uint64_t *addrs, bool *covered, size_t n, struct str *out);

/* ---- writing ---- */
static inline void put_number(struct str *out, uint64_t value)
{
	while (value >= 0x80) {
		str_addc(out, (char)(value | 0x80));
		value >>= 7;
	}
	str_addc(out, (char)value);
}

static inline void put_signed(struct str *out, int64_t value)
{
	put_number(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

#endif
