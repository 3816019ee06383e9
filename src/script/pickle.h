/* SPDX-License-Identifier: MIT */
/*
 * pickle: values as Python's pickle module reads them, written at the end of a text. Private to script/.
 *
 * A value that was written before costs five bytes: the reader keeps 65,536 of them by their slot, and the writer
 * knows which value is in which. One that falls into the slot of another takes its place on both sides, so that neither
 * side grows with what is distinct. The reader uses one Unpickler for all that is written, which keeps its slots
 * between loads.
 *
 *	pickle_list(p); pickle_number(p, 1); pickle_text(p, "x", 1); pickle_list_end(p); -> [1, "x"]
 *
 * Source: Python's pickletools module, protocol 5.
 */
#ifndef PSTAT_PICKLE_H
#define PSTAT_PICKLE_H

#include "util/util.h"

enum { PICKLE_SLOTS = 1 << 16 };

struct pickle_key { /* what tells a value from others; both 0: no value */
	uint64_t a, b;
};
struct pickle {
	struct str *out; /* borrowed */
	struct pickle_key *slots; /* PICKLE_SLOTS; made when it is first asked */
};
void pickle_release(struct pickle *p);
/* All slots are void: the keys mean something else from now on. */
void pickle_forget(struct pickle *p);

/* True: the value of the key is referred to. False: it is not in its slot; write it, then call pickle_keep. */
bool pickle_again(struct pickle *p, struct pickle_key key);
void pickle_keep(struct pickle *p, struct pickle_key key);

void pickle_none(struct pickle *p);
void pickle_bool(struct pickle *p, bool value);
void pickle_number(struct pickle *p, uint64_t value);
void pickle_signed(struct pickle *p, int64_t value);
/* Printable, and kept by what it says: texts repeat. */
void pickle_text(struct pickle *p, const char *text, size_t len);
void pickle_bytes(struct pickle *p, const void *bytes, size_t len);
void pickle_bytearray(struct pickle *p, const void *bytes, size_t len);

/* Each begins a value of several, and its _end ends it. Of a dictionary keys and values take turns. */
static inline void pickle_list(struct pickle *p) { str_addn(p->out, "(", 1); }
static inline void pickle_list_end(struct pickle *p) { str_addn(p->out, "l", 1); }
static inline void pickle_tuple(struct pickle *p) { str_addn(p->out, "(", 1); }
static inline void pickle_tuple_end(struct pickle *p) { str_addn(p->out, "t", 1); }
static inline void pickle_dict(struct pickle *p) { str_addn(p->out, "(", 1); }
static inline void pickle_dict_end(struct pickle *p) { str_addn(p->out, "d", 1); }
/* The end of what one load reads. */
static inline void pickle_stop(struct pickle *p) { str_addn(p->out, ".", 1); }

#endif
