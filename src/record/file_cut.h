/*
 * file_cut: where one file of --switch-output ends and the next begins: a moment, not a place in the stream. Private
 * to record/.
 *
 * Rings are read one after the other, so a sample may come before the older record that says what ran there. Both have
 * to be in one file, or the file cannot name the sample. So what is not newer than the moment still goes into the
 * file that ends, and what is newer waits, until two rounds have ended: then nothing older comes.
 */
#ifndef PSTAT_FILE_CUT_H
#define PSTAT_FILE_CUT_H

#include "data/data.h"

struct file_cut {
	bool on; /* the moment has been chosen, the next file is not open yet */
	uint64_t until_ns; /* the moment: the last that belongs to the file that ends */
	unsigned rounds; /* that have ended since then */
	struct str later; /* the records that wait */
	struct str now; /* scratch */
};

void file_cut_init(struct file_cut *cut);
void file_cut_release(struct file_cut *cut);
/* Nothing where a moment has been chosen already. */
void file_cut_begin(struct file_cut *cut, uint64_t until_ns);
/*
 * Of n bytes of whole records, aligned to 8, those that belong to the file that ends, one after the other, until the
 * next call; also what has no time. The others wait. decoder: of their events.
 */
const struct str *file_cut_split(struct file_cut *cut, const struct decoder *decoder, const void *records,
				 size_t n);
/* True: nothing older comes any more, or too much waits: it is time to switch. */
bool file_cut_is_due(const struct file_cut *cut);
void file_cut_round(struct file_cut *cut);

#endif
