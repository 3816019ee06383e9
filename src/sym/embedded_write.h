/*
 * embedded_write: the names of one dso, as a recording would have them. Private to sym/.
 */
#ifndef PSTAT_EMBEDDED_WRITE_H
#define PSTAT_EMBEDDED_WRITE_H

#include "sym/dso_state.h"

/*
 * Feature SYMBOLS with this dso alone, not packed and without an image; of each of its addresses, ascending, how deeply
 * it was asked (enum answer_depth). false: it would be too large.
 */
bool embedded_write_one(struct symbols *symbols, struct dso_state *state, struct str *out, struct str *depths);

#endif
