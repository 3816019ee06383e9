/*
 * destination: the one way to open what results are written to. The user named the place, but somebody else may
 * have put something there first: in a folder like /tmp, a link to a file that only root may write, or a
 * FIFO that takes a recording away. What another user placed is refused; files of one's own and of root, their
 * links, anonymous pipes and devices are taken as they are.
 *
 *   nothing there      created, never through a link
 *   a link             followed when it is ours or root's
 *   a FIFO             ours or root's; waits for a reader, and a signal ends the wait, also a masked one
 *   a regular file     refused when it is another user's in a folder where everybody may place files
 *
 * This is what fs.protected_symlinks, _fifos and _regular do (kernel documentation, admin-guide/sysctl/fs),
 * whatever they are set to.
 */
#ifndef PSTAT_UTIL_DESTINATION_H
#define PSTAT_UTIL_DESTINATION_H

#include <stdbool.h>

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

/*
 * A new file (0600) in the folder of `path`, under a name that nobody had; *created, which the caller frees,
 * becomes its name. Errors as above.
 */
int destination_create_beside(const char *path, char **created, struct str *err);

/*
 * A new file (0600) for reading and writing that has no name and is gone when it is closed, on the file system of the
 * folder, or where that cannot have one, or folder is NULL, in $TMPDIR. Errors as above, but that the clause names the
 * place.
 */
int destination_create_nameless(const char *folder, struct str *err);

#endif
