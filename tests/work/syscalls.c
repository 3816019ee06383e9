/* SPDX-License-Identifier: MIT */
/*
 * syscalls calls: makes system calls of all kinds between two of getpgid(), which nobody else makes, and then prints
 *   each of them as pstat trace is to print it, from the name to what it returned, and a single blank before =.
 * syscalls texts: the same, of calls whose arguments are texts of all kinds, and pointers to none.
 * syscalls files: the same, of calls whose arguments are descriptors of files of all kinds, by the kernel's own names.
 * syscalls buffers: the same, of calls that read or write buffers, addresses of sockets, messages, arrays of strings.
 * syscalls faults: from touch_pages(), touches new pages between two of getpgid(), and prints the address of each one.
 * syscalls killed: a thread waits in read() for what never comes, while the other one ends the process. Prints the
 *   number of the thread.
 * syscalls on: calls getpgid() again and again, until it is killed.
 * syscalls many N [TURNS]: calls getppid() N times, and between two of them goes round a loop.
 * syscalls signal: a handler of SIGUSR1 returns, then a blocked nanosleep() is interrupted by a signal.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 0x7ffffff1 };

static char expected[65536];
static size_t used;

static void add(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	used += (size_t)vsnprintf(expected + used, sizeof(expected) - used, format, ap);
	va_end(ap);
}

/* Adds what the last call returned; errors by the names of those that are met here. */
static void add_result(long result, int hex)
{
	static const struct {
		int number;
		const char *name;
	} errors[] = { { EBADF, "EBADF" }, { ENOENT, "ENOENT" }, { ESRCH, "ESRCH" }, { EINVAL, "EINVAL" },
		       { ENOSYS, "ENOSYS" }, { EFAULT, "EFAULT" },
		       { ENAMETOOLONG, "ENAMETOOLONG" }, { ESPIPE, "ESPIPE" } };

	if (result != -1) {
		add(hex ? " = %#lx\n" : " = %ld\n", result);
		return;
	}
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == errno)
			add(" = -1 %s (%s)\n", errors[i].name, strerror(errno));
}

#define CALL(name, ...) (result = syscall(SYS_##name, __VA_ARGS__))
#define RAW(number, ...) (result = syscall(number, __VA_ARGS__))
#define SEEN(...) (add(__VA_ARGS__), add_result(result, 0))

static void make_calls(void)
{
	static const char null_path[] = "/dev/null", no_path[] = "/nonexistent/file";
	static char buffer[64] = "a\nb\t\"";
	long result, fd, memory;

	CALL(getpgid, NOBODY);
	SEEN("getpgid(pid: %d)", NOBODY);
	fd = CALL(openat, AT_FDCWD, null_path, O_RDWR | O_CLOEXEC, 0);
	SEEN("openat(dfd: CWD, filename: \"%s\", flags: RDWR|CLOEXEC, mode: 0)", null_path);
	CALL(openat, AT_FDCWD, no_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0640);
	SEEN("openat(dfd: CWD, filename: \"%s\", flags: WRONLY|CREAT|EXCL|NOFOLLOW, mode: 0640)", no_path);
	CALL(read, fd, buffer, sizeof(buffer));
	SEEN("read(fd: %ld</dev/null>, buf: \"\", count: 64)", fd);
	CALL(write, fd, buffer, 7L);
	SEEN("write(fd: %ld</dev/null>, buf: \"a\\nb\\t\\\"\\x00\\x00\", count: 7)", fd);
	CALL(lseek, fd, -1L, SEEK_SET);
	SEEN("lseek(fd: %ld</dev/null>, offset: -1, whence: SET)", fd);
	CALL(lseek, fd, 4294967297L, SEEK_CUR);
	SEEN("lseek(fd: %ld</dev/null>, offset: 4294967297, whence: CUR)", fd);
	CALL(fcntl, fd, F_GETFL, 0);
	SEEN("fcntl(fd: %ld</dev/null>, cmd: GETFL, arg: 0x0)", fd);
	CALL(dup3, fd, 100, O_CLOEXEC);
	SEEN("dup3(oldfd: %ld</dev/null>, newfd: 100, flags: CLOEXEC)", fd);
	CALL(close, 100);
	SEEN("close(fd: 100</dev/null>)");
	CALL(close, -1);
	SEEN("close(fd: -1)");
	memory = CALL(mmap, NULL, 8192L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
	add("mmap(addr: NULL, len: 8192, prot: READ|WRITE, flags: PRIVATE|ANONYMOUS, fd: -1, off: 0x0)");
	add_result(result, 1);
	CALL(mprotect, memory, 4096L, PROT_NONE);
	SEEN("mprotect(start: %#lx, len: 4096, prot: NONE)", memory);
	CALL(munmap, memory, 8192L);
	SEEN("munmap(addr: %#lx, len: 8192)", memory);
	CALL(faccessat, AT_FDCWD, no_path, F_OK);
	SEEN("faccessat(dfd: CWD, filename: \"%s\", mode: F)", no_path);
	CALL(faccessat, AT_FDCWD, null_path, R_OK | W_OK);
	SEEN("faccessat(dfd: CWD, filename: \"%s\", mode: R|W)", null_path);
}

static void make_other_calls(void)
{
	static const char no_path[] = "/nonexistent/file";
	const struct timespec soon = { 0, 1 };
	int fds[2], word = 0;
	long result;

	CALL(kill, NOBODY, SIGTERM);
	SEEN("kill(pid: %d, sig: TERM)", NOBODY);
	CALL(socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	SEEN("socket(family: UNIX, type: STREAM|CLOEXEC, protocol: 0)");
	CALL(pipe2, fds, O_CLOEXEC | O_NONBLOCK);
	SEEN("pipe2(fildes: %p, flags: NONBLOCK|CLOEXEC)", (void *)fds);
	CALL(futex, &word, 129 /* wake, private */, 1, NULL, NULL, 0);
	SEEN("futex(uaddr: %p, op: WAKE|PRIVATE_FLAG, val: 1, utime: NULL, uaddr2: NULL, val3: 0)", (void *)&word);
	CALL(clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &soon, NULL);
	SEEN("clock_nanosleep(which_clock: MONOTONIC, flags: ABSTIME, rqtp: %p, rmtp: NULL)", (const void *)&soon);
	CALL(unlinkat, AT_FDCWD, no_path, AT_REMOVEDIR);
	SEEN("unlinkat(dfd: CWD, pathname: \"%s\", flag: REMOVEDIR)", no_path);
	CALL(epoll_ctl, -1, 1 /* add */, -1, NULL);
	SEEN("epoll_ctl(epfd: -1, op: ADD, fd: -1, event: NULL)");
	CALL(madvise, NULL, 0L, MADV_DONTNEED);
	SEEN("madvise(start: NULL, len_in: 0, behavior: DONTNEED)");
	RAW(500, 1L, 2L, 3L, 4L, 5L, 6L);
	SEEN("syscall_500(arg0: 0x1, arg1: 0x2, arg2: 0x3, arg3: 0x4, arg4: 0x5, arg5: 0x6)");
	CALL(getpgid, NOBODY);
	SEEN("getpgid(pid: %d)", NOBODY);
}

/* ---- texts ---- */

enum { PAGE = 4096, PATH_BYTES = 4096, LONG_BYTES = 1 << 20 };

/* Opens what is not there; shown: as the path is to be printed. */
static void open_path(const char *path, const char *shown)
{
	long result;

	CALL(openat, AT_FDCWD, path, O_PATH, 0);
	if (shown)
		SEEN("openat(dfd: CWD, filename: %s, flags: RDONLY|PATH, mode: 0)", shown);
	else
		SEEN("openat(dfd: CWD, filename: %p, flags: RDONLY|PATH, mode: 0)", (const void *)path);
}

/* A path of n letters, of which that many are shown. */
static void open_long_path(size_t n)
{
	static char path[LONG_BYTES + 1], shown[PATH_BYTES + 8];
	size_t n_shown = n < PATH_BYTES ? n : PATH_BYTES;

	memset(path, 'x', n);
	path[n] = '\0';
	snprintf(shown, sizeof(shown), "\"%.*s\"%s", (int)n_shown, path, n > n_shown ? "..." : "");
	open_path(path, shown);
}

/* A page, and after it one that may not be read. */
static char *last_page(void)
{
	char *pages = mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE))
		exit(1);
	return pages;
}

/* A text in a page of a file that nobody has touched. */
static const char *map_text(void)
{
	static const char in_file[] = "/nonexistent/file";
	const int file = memfd_create("syscalls", 0);
	const char *mapped;

	if (file < 0 || write(file, in_file, sizeof(in_file)) != sizeof(in_file))
		exit(1);
	mapped = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
	if (mapped == MAP_FAILED)
		exit(1);
	return mapped;
}

static void make_texts(void)
{
	char *pages = last_page();
	const char *mapped = map_text();
	long result;

	memset(pages, 'x', PAGE);
	CALL(getpgid, NOBODY);
	SEEN("getpgid(pid: %d)", NOBODY);
	open_path("", "\"\"");
	open_path("/nonexistent/\t\n\r\"\\\x1b[2J\x7f, flags",
		  "\"/nonexistent/\\t\\n\\r\\\"\\\\\\x1b[2J\\x7f, flags\"");
	open_path("/nonexistent/\xff\xc3\xa9\xc3", "\"/nonexistent/\\xff\xc3\xa9\\xc3\"");
	open_path(pages + PAGE - 3, NULL); /* it has no end before the page that may not be read */
	pages[PAGE - 1] = '\0';
	open_path(pages + PAGE - 3, "\"xx\"");
	open_path(pages + PAGE, NULL);
	open_path((const char *)16, NULL);
	open_path((const char *)-PAGE, NULL);
	open_path(NULL, "NULL");
	open_path(mapped, "\"/nonexistent/file\""); /* it comes into memory in the call */
	open_path(mapped, "\"/nonexistent/file\"");
	open_long_path(PATH_BYTES - 1);
	open_long_path(PATH_BYTES);
	open_long_path(PATH_BYTES + 1);
	open_long_path(LONG_BYTES);
	CALL(renameat2, AT_FDCWD, "/nonexistent/a", AT_FDCWD, "/nonexistent/b", 0);
	SEEN("renameat2(olddfd: CWD, oldname: \"/nonexistent/a\", newdfd: CWD, newname: \"/nonexistent/b\", flags: 0)");
	CALL(getpgid, NOBODY);
	SEEN("getpgid(pid: %d)", NOBODY);
}

/* ---- descriptors ---- */

enum { FILES = 12, NOT_OPEN = 500 };

/* The file as it is to be printed: the kernel's name of it, escaped. */
static void add_file(int fd, char *shown)
{
	char link[64], name[PATH_BYTES];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, name, sizeof(name));
	*shown++ = '<';
	for (ssize_t i = 0; i < len; i++) {
		if (strchr("<>\n", name[i]))
			*shown++ = '\\';
		*shown++ = name[i] == '\n' ? 'n' : name[i];
	}
	strcpy(shown, len < 0 ? "" : ">");
}

static void make_files(void)
{
	static const char gone[] = "gone<\n>";
	static char shown[FILES][PATH_BYTES * 2];
	int fds[FILES] = { NOT_OPEN, open("/", O_RDONLY), open(".", O_RDONLY), open("/proc/self/status", O_RDONLY),
			   open(gone, O_CREAT | O_RDWR, 0600), (int)syscall(SYS_eventfd2, 0, 0),
			   memfd_create("a file", 0), socket(AF_UNIX, SOCK_STREAM, 0), open("/dev/null", O_PATH), };
	long result;

	if (pipe(fds + 9) || unlink(gone))
		exit(1);
	fds[11] = dup(fds[4]);
	for (size_t i = 1; i < FILES; i++)
		add_file(fds[i], shown[i]);
	CALL(getpgid, NOBODY);
	SEEN("getpgid(pid: %d)", NOBODY);
	for (size_t i = 0; i < FILES; i++) {
		CALL(lseek, fds[i], 0L, SEEK_CUR);
		SEEN("lseek(fd: %d%s, offset: 0, whence: CUR)", fds[i], shown[i]);
	}
	CALL(faccessat, fds[1], "", F_OK);
	SEEN("faccessat(dfd: %d</>, filename: \"\", mode: F)", fds[1]);
	CALL(sendfile, fds[3], fds[9], NULL, 1L);
	SEEN("sendfile(out_fd: %d%s, in_fd: %d%s, offset: NULL, count: 1)", fds[3], shown[3], fds[9], shown[9]);
	CALL(getpgid, NOBODY);
	SEEN("getpgid(pid: %d)", NOBODY);
}

/* ---- buffers, addresses of sockets, arrays of strings ---- */

enum { NO_FD = -1 };

static void use_buffers(char *pages, const char *mapped)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	char into[64];
	int ends_of_pipe[2];
	long result;

	if (pipe(ends_of_pipe))
		exit(1);
	CALL(write, NO_FD, letters, 32L);
	SEEN("write(fd: -1, buf: \"%.32s\", count: 32)", letters);
	CALL(write, NO_FD, letters, 33L);
	SEEN("write(fd: -1, buf: \"%.32s\"..., count: 33)", letters);
	CALL(write, NO_FD, letters, -1L);
	SEEN("write(fd: -1, buf: \"%.32s\"..., count: 18446744073709551615)", letters);
	CALL(write, NO_FD, letters, 0L);
	SEEN("write(fd: -1, buf: \"\", count: 0)");
	CALL(write, NO_FD, NULL, 3L);
	SEEN("write(fd: -1, buf: NULL, count: 3)");
	CALL(write, NO_FD, pages + PAGE - 3, 4L); /* a page that may not be read follows */
	SEEN("write(fd: -1, buf: %p, count: 4)", (void *)(pages + PAGE - 3));
	CALL(write, ends_of_pipe[1], mapped, 6L); /* it comes into memory in the call */
	SEEN("write(fd: %d<FILE>, buf: \"/nonex\", count: 6)", ends_of_pipe[1]);
	CALL(read, ends_of_pipe[0], into, 64L);
	SEEN("read(fd: %d<FILE>, buf: \"/nonex\", count: 64)", ends_of_pipe[0]);
	CALL(read, NO_FD, into, 64L);
	SEEN("read(fd: -1, buf: %p, count: 64)", (void *)into);
	CALL(pread64, ends_of_pipe[0], into, 64L, 0L);
	SEEN("pread64(fd: %d<FILE>, buf: %p, count: 64, pos: 0)", ends_of_pipe[0], (void *)into);
	CALL(readlinkat, AT_FDCWD, "/nonexistent/link", into, 64);
	SEEN("readlinkat(dfd: CWD, pathname: \"/nonexistent/link\", buf: %p, bufsiz: 64)", (void *)into);
}

static void use_address(const void *address, size_t len, const char *shown)
{
	long result;

	CALL(connect, NO_FD, address, (int)len);
	SEEN("connect(fd: -1, uservaddr: %s, addrlen: %d)", shown, (int)len);
}

static void use_addresses(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(258) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(65535), .sin6_scope_id = 7 };
	const struct sockaddr_un un = { AF_UNIX, "/a \"path\"" }, abstract = { AF_UNIX, "\0a\0b" };
	struct sockaddr_nl netlink = { .nl_family = AF_NETLINK, .nl_pid = 4711, .nl_groups = 0x11 };
	const struct sockaddr other = { AF_APPLETALK, "\1\2" }, unknown = { 1000, "x" };
	const size_t path = offsetof(struct sockaddr_un, sun_path);
	const char big[200] = { AF_UNIX, 0, 'x' };
	long result;

	inet_pton(AF_INET, "10.1.2.255", &in.sin_addr);
	inet_pton(AF_INET6, "fe80::1:2", &in6.sin6_addr);
	use_address(&in, sizeof(in), "{ .family: INET, port: 258, addr: 10.1.2.255 }");
	use_address(&in6, sizeof(in6), "{ .family: INET6, port: 65535, addr: fe80::1:2, scope: 7 }");
	use_address(&un, sizeof(un), "{ .family: UNIX, path: \"/a \\\"path\\\"\" }");
	use_address(&un, path + 2, "{ .family: UNIX, path: \"/a\" }");
	use_address(&un, path, "{ .family: UNIX }");
	use_address(&abstract, path + 4, "{ .family: UNIX, path: @\"a\\x00b\" }");
	use_address(&netlink, sizeof(netlink), "{ .family: NETLINK, pid: 4711, groups: 0x11 }");
	use_address(&other, 4, "{ .family: APPLETALK, data: \"\\x01\\x02\" }");
	use_address(&unknown, 3, "{ .family: 0x3e8, data: \"x\" }");
	use_address(&in, 5, "{ .family: INET, data: \"\\x01\\x02\\n\" }");
	use_address(&in, 1, "\"\\x02\"");
	use_address(big, sizeof(big), "{ .family: UNIX, path: \"x\" }...");
	use_address(NULL, 16, "NULL");
	CALL(sendto, NO_FD, "abc", 3L, MSG_DONTWAIT, &in, sizeof(in));
	SEEN("sendto(fd: -1, buff: \"abc\", len: 3, flags: DONTWAIT, "
	     "addr: { .family: INET, port: 258, addr: 10.1.2.255 }, addr_len: %zu)", sizeof(in));
}

/* Addresses that calls write: of a socket with a name, by one that is not. */
static void use_peers(void)
{
	const int from = socket(AF_UNIX, SOCK_DGRAM, 0), to = socket(AF_UNIX, SOCK_DGRAM, 0);
	const size_t path = offsetof(struct sockaddr_un, sun_path);
	struct sockaddr_un name = { .sun_family = AF_UNIX }, got;
	socklen_t len = (socklen_t)path, room = sizeof(got), little = 5;
	char into[8];
	long result;

	/* The kernel gives it a name of five digits behind a NUL. */
	if (from < 0 || to < 0 || bind(from, (struct sockaddr *)&name, len) || bind(to, (struct sockaddr *)&name, len))
		exit(1);
	len = sizeof(name);
	CALL(getsockname, from, &name, &len);
	SEEN("getsockname(fd: %d<FILE>, usockaddr: { .family: UNIX, path: @\"%.5s\" }, usockaddr_len: %p)", from,
	     name.sun_path + 1, (void *)&len);
	CALL(getsockname, from, &got, &little);
	SEEN("getsockname(fd: %d<FILE>, usockaddr: { .family: UNIX, path: @\"%.2s\" }..., usockaddr_len: %p)", from,
	     name.sun_path + 1, (void *)&little);
	CALL(getpeername, NO_FD, &got, &room);
	SEEN("getpeername(fd: -1, usockaddr: %p, usockaddr_len: %p)", (void *)&got, (void *)&room);
	len = sizeof(got);
	if (getsockname(to, (struct sockaddr *)&got, &len) ||
	    sendto(from, "message", 7, 0, (struct sockaddr *)&got, len) != 7)
		exit(1);
	CALL(recvfrom, to, into, 3L, MSG_TRUNC, &got, &room);
	SEEN("recvfrom(fd: %d<FILE>, ubuf: \"mes\"..., size: 3, flags: TRUNC, "
	     "addr: { .family: UNIX, path: @\"%.5s\" }, addr_len: %p)", to, name.sun_path + 1, (void *)&room);
}

/* An exec of nothing, with these arguments. */
static void exec_nothing(const char *const *argv, const char *shown)
{
	static const char nothing[] = "/nonexistent/program";
	long result;

	CALL(execve, nothing, argv, NULL);
	SEEN("execve(filename: \"%s\", argv: %s, envp: NULL)", nothing, shown);
}

static void use_strings(const char *unreadable)
{
	static char long_one[300], shown[512];
	const char *many[200];

	memset(long_one, 'x', 256);
	exec_nothing((const char *const[]){ NULL }, "[]");
	exec_nothing((const char *const[]){ "program", "a b", "", "c\"]\n", NULL },
		     "[\"program\", \"a b\", \"\", \"c\\\"]\\n\"]");
	snprintf(shown, sizeof(shown), "[\"%s\", \"b\"]", long_one);
	exec_nothing((const char *const[]){ long_one, "b", NULL }, shown);
	snprintf(shown, sizeof(shown), "[\"%s\"..., \"b\"]", long_one);
	long_one[256] = 'y';
	exec_nothing((const char *const[]){ long_one, "b", NULL }, shown);
	exec_nothing((const char *const[]){ "a", unreadable, "b", NULL }, "[\"a\", ...]");
	for (size_t i = 0; i < 200; i++)
		many[i] = "";
	many[199] = NULL;
	snprintf(shown, sizeof(shown), "[\"\"");
	for (size_t i = 1; i < 128; i++)
		strcat(shown, ", \"\"");
	exec_nothing(many, strcat(shown, ", ...]"));
}

/* ---- arrays of buffers, messages ---- */

#define THREE "[{ .base: \"hello\", len: 5 }, { .base: \"\", len: 0 }, { .base: \"wor\\n\", len: 4 }]"

static char hello[] = "hello", nothing[] = "", wor[] = "wor\n";
static struct iovec three[] = { { hello, 5 }, { nothing, 0 }, { wor, 4 } };

static void use_vectors(char *unreadable)
{
	static char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	struct iovec odd[] = { { letters, 33 }, { unreadable, 7 }, { NULL, 3 } };
	char first[3], second[20], third[9];
	struct iovec into[] = { { first, 3 }, { second, 20 }, { third, 9 } }, many[40];
	int ends_of_pipe[2];
	long result;

	if (pipe(ends_of_pipe))
		exit(1);
	CALL(writev, ends_of_pipe[1], three, 3);
	SEEN("writev(fd: %d<FILE>, vec: " THREE ", vlen: 3)", ends_of_pipe[1]);
	CALL(readv, ends_of_pipe[0], into, 3);
	SEEN("readv(fd: %d<FILE>, vec: [{ .base: \"hel\", len: 3 }, { .base: \"lowor\\n\", len: 20 }, "
	     "{ .base: \"\", len: 9 }], vlen: 3)", ends_of_pipe[0]);
	CALL(readv, NO_FD, into, 3);
	SEEN("readv(fd: -1, vec: %p, vlen: 3)", (void *)into);
	CALL(pwritev, NO_FD, odd, 3, 1L, 0L);
	SEEN("pwritev(fd: -1, vec: [{ .base: \"%.32s\"..., len: 33 }, { .base: %p, len: 7 }, { .base: NULL, len: 3 }], "
	     "vlen: 3, pos_l: 1, pos_h: 0)", letters, (void *)unreadable);
	CALL(writev, NO_FD, unreadable, 2);
	SEEN("writev(fd: -1, vec: %p, vlen: 2)", (void *)unreadable);
	CALL(writev, NO_FD, unreadable - sizeof(many[0]), 2); /* the first one is zeros, but for the last byte */
	SEEN("writev(fd: -1, vec: [{ .base: NULL, len: %zu }, ...], vlen: 2)", (size_t)'x' << 56);
	CALL(writev, NO_FD, three, 0);
	SEEN("writev(fd: -1, vec: [], vlen: 0)");
	for (size_t i = 0; i < 40; i++)
		many[i] = three[1];
	CALL(writev, NO_FD, many, 33);
	add("writev(fd: -1, vec: [{ .base: \"\", len: 0 }");
	for (size_t i = 1; i < 32; i++)
		add(", { .base: \"\", len: 0 }");
	SEEN(", ...], vlen: 33)");
}

static void use_messages(char *unreadable)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(258) };
	struct msghdr message = { .msg_iov = three, .msg_iovlen = 3 };
	char into[16], control[64];
	struct iovec room = { into, sizeof(into) };
	struct sockaddr_un name = { .sun_family = AF_UNIX }, got;
	const int from = socket(AF_UNIX, SOCK_DGRAM, 0), to = socket(AF_UNIX, SOCK_DGRAM, 0);
	socklen_t len = sizeof(name);
	long result;

	inet_pton(AF_INET, "10.1.2.255", &in.sin_addr);
	CALL(sendmsg, NO_FD, &message, MSG_DONTWAIT);
	SEEN("sendmsg(fd: -1, msg: { .name: NULL, namelen: 0, iov: " THREE ", iovlen: 3, control: NULL, controllen: 0, "
	     "flags: 0 }, flags: DONTWAIT)");
	message = (struct msghdr){ &in, sizeof(in), (void *)unreadable, 1, control, 8, MSG_TRUNC };
	CALL(sendmsg, NO_FD, &message, 0);
	SEEN("sendmsg(fd: -1, msg: { .name: { .family: INET, port: 258, addr: 10.1.2.255 }, namelen: %zu, iov: %p, "
	     "iovlen: 1, control: %p, controllen: 8, flags: TRUNC }, flags: 0)", sizeof(in), (void *)unreadable,
	     (void *)control);
	CALL(sendmsg, NO_FD, unreadable, 0);
	SEEN("sendmsg(fd: -1, msg: %p, flags: 0)", (void *)unreadable);
	/* The kernel gives both a name of five digits behind a NUL. */
	if (bind(from, (struct sockaddr *)&name, sizeof(sa_family_t)) ||
	    bind(to, (struct sockaddr *)&name, sizeof(sa_family_t)) ||
	    getsockname(to, (struct sockaddr *)&name, &len) || connect(from, (struct sockaddr *)&name, len) ||
	    getsockname(from, (struct sockaddr *)&got, &len) || write(from, "message", 7) != 7)
		exit(1);
	message = (struct msghdr){ &got, sizeof(got), &room, 1, NULL, 0, 0 };
	CALL(recvmsg, to, &message, 0);
	SEEN("recvmsg(fd: %d<FILE>, msg: { .name: { .family: UNIX, path: @\"%.5s\" }, namelen: %d, "
	     "iov: [{ .base: \"message\", len: 16 }], iovlen: 1, control: NULL, controllen: 0, flags: 0 }, flags: 0)",
	     to, got.sun_path + 1, (int)message.msg_namelen);
	CALL(recvmsg, NO_FD, &message, 0);
	SEEN("recvmsg(fd: -1, msg: %p, flags: 0)", (void *)&message);
}

/* Of an environment only the number of variables. */
static void use_environments(const char *unreadable)
{
	const char *const argv[] = { "program", NULL }, *const environment[] = { "SECRET=1", unreadable, "", NULL };
	long result;

	CALL(execve, "/nonexistent/program", argv, environment);
	SEEN("execve(filename: \"/nonexistent/program\", argv: [\"program\"], envp: %p /* 3 vars */)",
	     (const void *)environment);
	CALL(execve, "/nonexistent/program", argv, environment + 3);
	SEEN("execve(filename: \"/nonexistent/program\", argv: [\"program\"], envp: %p /* 0 vars */)",
	     (const void *)(environment + 3));
	CALL(execve, "/nonexistent/program", argv, unreadable);
	SEEN("execve(filename: \"/nonexistent/program\", argv: [\"program\"], envp: %p)", (const void *)unreadable);
}

static void make_buffers(void)
{
	char *pages = last_page();
	const char *mapped = map_text();
	long result;

	pages[PAGE - 1] = 'x';
	CALL(getpgid, NOBODY);
	SEEN("getpgid(pid: %d)", NOBODY);
	use_buffers(pages, mapped);
	use_addresses();
	use_peers();
	use_strings(pages + PAGE);
	use_vectors(pages + PAGE);
	use_messages(pages + PAGE);
	use_environments(pages + PAGE);
	CALL(getpgid, NOBODY);
	SEEN("getpgid(pid: %d)", NOBODY);
}

static int ends[2];
static volatile pid_t reader;

static void *read_for_ever(void *unused)
{
	char byte;

	reader = (pid_t)syscall(SYS_gettid);
	(void)!read(ends[0], &byte, 1);
	return unused;
}

/* Waits until the thread waits: after it has said who it is, that is in read(). */
static void await_reader(void)
{
	char path[64], text[512], *state;
	FILE *file;

	do {
		sched_yield();
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)reader);
		file = reader ? fopen(path, "r") : NULL;
		state = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
		if (file)
			fclose(file);
	} while (!state || state[2] != 'S');
}

static void leave_reader(void)
{
	pthread_t thread;

	if (pipe(ends) || pthread_create(&thread, NULL, read_for_ever, NULL))
		exit(1);
	await_reader();
	printf("%d\n", (int)reader);
	fflush(stdout);
	syscall(SYS_exit_group, 0);
}

static void on_signal(int number)
{
	(void)number;
}

static void take_signals(void)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct itimerspec soon = { .it_value = { 0, 1000000 } };
	struct timespec long_time = { 1000, 0 };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &soon, NULL))
		exit(1);
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &long_time, NULL);
}

__attribute__((noinline)) static void touch_pages(void)
{
	enum { PAGES = 8 };
	const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, PAGES * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		exit(1);
	madvise(area, PAGES * bytes, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++)
		printf("%p\n", (void *)(area + (size_t)i * bytes));
	fflush(stdout);
	syscall(SYS_getpgid, NOBODY);
	for (int i = 0; i < PAGES; i++)
		((volatile char *)area)[(size_t)i * bytes] = 1;
	syscall(SYS_getpgid, NOBODY);
}

static void call_often(long n, long turns)
{
	for (; n > 0; n--) {
		syscall(SYS_getppid);
		for (volatile long i = 0; i < turns; i++)
			;
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "calls")) {
		make_calls();
		make_other_calls();
		fputs(expected, stdout);
	} else if (!strcmp(what, "texts")) {
		make_texts();
		fputs(expected, stdout);
	} else if (!strcmp(what, "files")) {
		make_files();
		fputs(expected, stdout);
	} else if (!strcmp(what, "buffers")) {
		make_buffers();
		fputs(expected, stdout);
	} else if (!strcmp(what, "killed"))
		leave_reader();
	else if (!strcmp(what, "faults"))
		touch_pages();
	else if (!strcmp(what, "signal"))
		take_signals();
	else if (!strcmp(what, "many") && argc > 2)
		call_often(strtol(argv[2], NULL, 10), argc > 3 ? strtol(argv[3], NULL, 10) : 0);
	else if (!strcmp(what, "on"))
		for (;;)
			syscall(SYS_getpgid, NOBODY);
	else
		return 1;
	return 0;
}
