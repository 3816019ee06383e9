/* SPDX-License-Identifier: MIT */
/*
 * stuck_fs WHAT FOLDER FILE SIGN COMMAND...: mounts a FUSE file system on FOLDER with one file, "app", which has
 * FILE's bytes, runs COMMAND and ends with its status. As soon as there is a file SIGN, requests of the kind WHAT
 * are taken and never answered: lookup, open, read, or tail (reads behind the first MiB). Status 99: it cannot be
 * mounted, with the reason on standard error. To be run in a mount namespace of its own.
 *
 * STUCK_FS_USER is the uid that the mount says its program runs as; 0 without it.
 *
 * After SERVE_S the file system goes away, and whoever still waits for it waits no longer: a test fails, and ends.
 *
 * The protocol: linux/fuse.h; fuse(4).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOP = FUSE_ROOT_ID, APP = 2, REQUEST_BYTES = 1 << 20, TAIL_FROM = 1 << 20, SERVE_S = 150,
       CANNOT = 99 };

struct server {
	int fuse, file;
	const char *what, *sign;
	struct stat st;
};

static void reply(struct server *server, uint64_t unique, int error, const void *bytes, size_t n)
{
	struct fuse_out_header header = { sizeof(header) + (uint32_t)n, -error, unique };
	struct iovec parts[] = { { &header, sizeof(header) }, { (void *)(uintptr_t)bytes, n } };

	/* What was interrupted meanwhile waits for no answer. */
	if (writev(server->fuse, parts, n ? 2 : 1) < 0 && errno != ENOENT)
		exit(1);
}

static struct fuse_attr attr_of(const struct server *server, uint64_t node)
{
	struct fuse_attr attr = { .ino = node, .nlink = 1, .mode = S_IFDIR | 0755, .blksize = 4096 };

	if (node == APP) {
		attr.mode = S_IFREG | 0755;
		attr.size = (uint64_t)server->st.st_size;
		attr.blocks = attr.size / 512;
	}
	return attr;
}

static void do_lookup(struct server *server, const struct fuse_in_header *in)
{
	struct fuse_entry_out out = { .nodeid = APP, .attr = attr_of(server, APP) };

	if (strcmp((const char *)(in + 1), "app") != 0)
		reply(server, in->unique, ENOENT, NULL, 0);
	else
		reply(server, in->unique, 0, &out, sizeof(out));
}

static void do_read(struct server *server, const struct fuse_in_header *in)
{
	const struct fuse_read_in *read = (const void *)(in + 1);
	static char bytes[REQUEST_BYTES];
	ssize_t got = pread(server->file, bytes, read->size < sizeof(bytes) ? read->size : sizeof(bytes),
			    (off_t)read->offset);

	reply(server, in->unique, got < 0 ? EIO : 0, bytes, got < 0 ? 0 : (size_t)got);
}

static int is_stuck(const struct server *server, const struct fuse_in_header *in)
{
	const struct fuse_read_in *read = (const void *)(in + 1);
	const char *what = server->what;

	if (access(server->sign, F_OK))
		return 0;
	return (in->opcode == FUSE_LOOKUP && !strcmp(what, "lookup")) ||
	       (in->opcode == FUSE_OPEN && !strcmp(what, "open")) ||
	       (in->opcode == FUSE_READ && !strcmp(what, "read")) ||
	       (in->opcode == FUSE_READ && !strcmp(what, "tail") && read->offset >= TAIL_FROM);
}

static void answer(struct server *server, const struct fuse_in_header *in)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = 1 << 17, .max_write = 1 << 17,
	};
	struct fuse_attr_out attr = { .attr = attr_of(server, in->nodeid) };
	struct fuse_open_out open = { .fh = 1 };
	struct fuse_statfs_out statfs = { .st = { .bsize = 4096, .namelen = 255 } };

	switch (in->opcode) {
	case FUSE_INIT: reply(server, in->unique, 0, &init, sizeof(init)); break;
	case FUSE_LOOKUP: do_lookup(server, in); break;
	case FUSE_GETATTR: reply(server, in->unique, 0, &attr, sizeof(attr)); break;
	case FUSE_OPEN:
	case FUSE_OPENDIR: reply(server, in->unique, 0, &open, sizeof(open)); break;
	case FUSE_READ: do_read(server, in); break;
	case FUSE_READDIR:
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR: reply(server, in->unique, 0, NULL, 0); break;
	case FUSE_STATFS: reply(server, in->unique, 0, &statfs, sizeof(statfs)); break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: break;
	default: reply(server, in->unique, ENOSYS, NULL, 0);
	}
}

static void serve(struct server *server)
{
	static char request[REQUEST_BYTES + 4096] __attribute__((aligned(8)));
	ssize_t got;

	alarm(SERVE_S);
	while ((got = read(server->fuse, request, sizeof(request))) >= 0 || errno == EINTR || errno == ENOENT) {
		const struct fuse_in_header *in = (const void *)request;

		if (got >= (ssize_t)sizeof(*in) && !is_stuck(server, in))
			answer(server, in);
	}
	exit(0);
}

static int cannot(const char *what)
{
	fprintf(stderr, "stuck_fs: %s: %s\n", what, strerror(errno));
	return CANNOT;
}

int main(int argc, char **argv)
{
	struct server server = { .file = -1 };
	char options[128];
	pid_t serving, command;
	int status = 0;

	if (argc < 6)
		return 2;
	server.what = argv[1];
	server.sign = argv[4];
	server.file = open(argv[3], O_RDONLY | O_CLOEXEC);
	if (server.file < 0 || fstat(server.file, &server.st))
		return cannot(argv[3]);
	server.fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (server.fuse < 0)
		return cannot("/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%s,group_id=0,allow_other",
		 server.fuse, getenv("STUCK_FS_USER") ? getenv("STUCK_FS_USER") : "0");
	if (mount("stuck_fs", argv[2], "fuse", MS_NOSUID | MS_NODEV, options))
		return cannot("mount");
	serving = fork();
	if (!serving)
		serve(&server);
	close(server.fuse);
	command = fork();
	if (!command) {
		execvp(argv[5], argv + 5);
		_exit(127);
	}
	while (waitpid(command, &status, 0) < 0 && errno == EINTR)
		;
	kill(serving, SIGKILL); /* which ends all waits for it */
	waitpid(serving, NULL, 0);
	umount2(argv[2], MNT_DETACH);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
