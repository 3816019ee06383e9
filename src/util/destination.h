/* SPDX-License-Identifier: MIT */
/*
 * destination: the one way to open what results are written to. The user named the place, but somebody else may
 * have put something there first: in a folder like /tmp, a link to a file that only root may write, or a
 * FIFO that takes a recording away. What another user placed is refused; files of one's own and of root, their
 * links, anonymous pipes and devices are taken as they are.
 *
 *   nothing there      created, never through a link
 *   a link             followed when it is ours or root's, as is each one behind it
 *   a FIFO             ours or root's; waits for a reader, and a signal ends the wait, also a masked one
 *   a regular file     refused when it is another user's in a folder where everybody may place files
 *
 * This is what fs.protected_symlinks, _fifos and _regular do (kernel documentation, admin-guide/sysctl/fs),
 * whatever they are set to.
 */
#ifndef PSTAT_UTIL_DESTINATION_H
#define PSTAT_UTIL_DESTINATION_H

#include <stdbool.h>
#include <sys/types.h>

struct str;

/*
 * A file for text, created (0666 less umask) or emptied, or with `append` written on at its end; or what else
 * stands there. A descriptor (close-on-exec), or a negative errno with a clause that does not name the path.
 * -EINTR: a signal came while a FIFO had no reader.
 */
int destination_open(const char *path, bool append, struct str *err);

/*
 * If a FIFO or a device is at the path: 1 with *fd writing to it. 0: there is neither, also behind a link that
 * is not to be followed, and nothing was opened. A negative errno with a clause that does not name the path.
 */
int destination_open_stream(const char *path, int *fd, struct str *err);

/* An existing FIFO for reading and writing, so that opening waits for no one; errors as above. */
int destination_open_control(const char *path, struct str *err);

/* Which file a name leads to: the numbers of stat(2). */
struct inode {
	dev_t dev;
	ino_t ino;
};

/*
 * A new file that takes its place when it is whole. The folder is held open and the file is reached by its descriptor:
 * nothing that is done to it goes by a name which the folder's owner, or whoever owns one on the way to it, may have
 * exchanged for a link meanwhile.
 */
struct destination {
	int fd; /* the file; while it is open no other has its number */
	int folder; /* that it is in */
	char *name; /* that it is to have there; NULL: there is no file */
	char *beside; /* that it has until then; NULL: it is in its place */
	struct inode inode; /* of the file */
};

/*
 * A new file (0600, for reading and writing) in the folder of `path`, under a name that nobody had. Errors as above.
 * End it in every case.
 */
int destination_begin(struct destination *to, const char *path, struct str *err);
/* The same for others to read as the umask has it: 0666 less that. */
int destination_begin_public(struct destination *to, const char *path, struct str *err);
/* Likewise, in a folder that is open (not O_PATH). */
int destination_begin_in(struct destination *to, int folder, const char *name, struct str *err);
/* Makes a folder (0700) instead; fd is open on it. A caller who gives it up empties it first. */
int destination_begin_folder(struct destination *to, const char *path, struct str *err);
/* Writes all of it and syncs it, so that it is whole before it has its name. Errors as above. */
int destination_fill(const struct destination *to, const struct str *bytes, struct str *err);
/*
 * Gives it its name, if it is still the file that was made; -ESTALE: somebody exchanged it. over: it replaces what has
 * the name; else that is -EEXIST. What close(2) would report, as of a network, is reported here. Errors as above.
 */
int destination_put(struct destination *to, bool over, struct str *err);
/* Then: the name is on the disk, too. A file system that cannot sync a folder is no error. Errors as above. */
int destination_sync_name(const struct destination *to, struct str *err);
/* All of these: a file that others may read has these bytes, or what was there before. Errors as above. */
int destination_write_whole(const char *path, const struct str *bytes, struct str *err);
/* Renames what is in its place, within the folder. 0 or a negative errno; -EEXIST: something has that name. */
int destination_rename(const struct destination *to, const char *name);
/* Removes another file from the folder, if its name still leads to that inode. */
void destination_remove(const struct destination *to, const char *name, const struct inode *inode);
/* Closes it, and removes it if it was not put in its place. Nothing where there is no file. */
void destination_end(struct destination *to);

/*
 * A new file (0600) for reading and writing that has no name and is gone when it is closed, on the file system of the
 * folder, or where that cannot have one, or folder is NULL, in $TMPDIR. Errors as above, but that the clause names the
 * place.
 */
int destination_create_nameless(const char *folder, struct str *err);

#endif
