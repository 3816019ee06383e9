/* SPDX-License-Identifier: MIT */
/*
 * words.c: names of the values of arguments, and of errors. The lists are a text, which is read once, for the reason
 * that calls.c has:
 *
 *   the kind's name, "values" or "bits", then NAME=value or NAME=value/mask
 *
 * A value has the first name whose bits are its own under the mask: all bits where the list is one of values, the
 * name's own bits where it is one of bits. Of bits the next name is looked for in what is left: so a name of several
 * bits stands before those of each, and one that may be 0 (RDONLY) before all. What has no name is a number.
 *
 * Names are those of the manual's pages without their common beginning (O_, MAP_, SOCK_), as perf has them.
 *
 * To add a list: a line here; its name is a kind for the arguments in calls.c.
 */
#include "syscall/syscall.h"

#include <inttypes.h>
#include <stdlib.h>

static const char lists[] =
	"open bits RDONLY=0/3 WRONLY=1/3 RDWR=2/3 TMPFILE=020200000 SYNC=04010000 CREAT=0100 EXCL=0200"
	" NOCTTY=0400 TRUNC=01000 APPEND=02000 NONBLOCK=04000 DSYNC=010000 ASYNC=020000 DIRECT=040000"
	" LARGEFILE=0100000 DIRECTORY=0200000 NOFOLLOW=0400000 NOATIME=01000000 CLOEXEC=02000000 PATH=010000000\n"
	"armopen bits RDONLY=0/3 WRONLY=1/3 RDWR=2/3 TMPFILE=020040000 SYNC=04010000 CREAT=0100 EXCL=0200"
	" NOCTTY=0400 TRUNC=01000 APPEND=02000 NONBLOCK=04000 DSYNC=010000 ASYNC=020000 DIRECTORY=040000"
	" NOFOLLOW=0100000 DIRECT=0200000 LARGEFILE=0400000 NOATIME=01000000 CLOEXEC=02000000 PATH=010000000\n"
	"fdflags bits NONBLOCK=04000 CLOEXEC=02000000 DIRECT=040000\n"
	"whence values SET=0 CUR=1 END=2 DATA=3 HOLE=4\n"
	"prot bits NONE=0/~0 READ=1 WRITE=2 EXEC=4 SEM=8 GROWSDOWN=0x1000000 GROWSUP=0x2000000\n"
	"mmap bits SHARED=1/0xf PRIVATE=2/0xf SHARED_VALIDATE=3/0xf FIXED=0x10 ANONYMOUS=0x20 32BIT=0x40"
	" GROWSDOWN=0x100 DENYWRITE=0x800 EXECUTABLE=0x1000 LOCKED=0x2000 NORESERVE=0x4000 POPULATE=0x8000"
	" NONBLOCK=0x10000 STACK=0x20000 HUGETLB=0x40000 SYNC=0x80000 FIXED_NOREPLACE=0x100000"
	" UNINITIALIZED=0x4000000\n"
	"mremap bits MAYMOVE=1 FIXED=2 DONTUNMAP=4\n"
	"msync bits ASYNC=1 INVALIDATE=2 SYNC=4\n"
	"mlockall bits CURRENT=1 FUTURE=2 ONFAULT=4\n"
	"madvise values NORMAL=0 RANDOM=1 SEQUENTIAL=2 WILLNEED=3 DONTNEED=4 FREE=8 REMOVE=9 DONTFORK=10"
	" DOFORK=11 MERGEABLE=12 UNMERGEABLE=13 HUGEPAGE=14 NOHUGEPAGE=15 DONTDUMP=16 DODUMP=17 WIPEONFORK=18"
	" KEEPONFORK=19 COLD=20 PAGEOUT=21 POPULATE_READ=22 POPULATE_WRITE=23 DONTNEED_LOCKED=24 COLLAPSE=25"
	" HWPOISON=100 SOFT_OFFLINE=101 GUARD_INSTALL=102 GUARD_REMOVE=103\n"
	"access bits F=0/~0 R=4 W=2 X=1\n"
	"at bits SYMLINK_NOFOLLOW=0x100 EACCESS=0x200 SYMLINK_FOLLOW=0x400 NO_AUTOMOUNT=0x800 EMPTY_PATH=0x1000"
	" STATX_FORCE_SYNC=0x2000 STATX_DONT_SYNC=0x4000 RECURSIVE=0x8000\n"
	"unlinkat bits REMOVEDIR=0x200\n"
	"statx bits ALL=0xfff BASIC_STATS=0x7ff TYPE=1 MODE=2 NLINK=4 UID=8 GID=0x10 ATIME=0x20 MTIME=0x40"
	" CTIME=0x80 INO=0x100 SIZE=0x200 BLOCKS=0x400 BTIME=0x800 MNT_ID=0x1000 DIOALIGN=0x2000"
	" MNT_ID_UNIQUE=0x4000 SUBVOL=0x8000 WRITE_ATOMIC=0x10000 DIO_READ_ALIGN=0x20000\n"
	"rename bits NOREPLACE=1 EXCHANGE=2 WHITEOUT=4\n"
	"fcntl values DUPFD=0 GETFD=1 SETFD=2 GETFL=3 SETFL=4 GETLK=5 SETLK=6 SETLKW=7 SETOWN=8 GETOWN=9"
	" SETSIG=10 GETSIG=11 GETLK64=12 SETLK64=13 SETLKW64=14 SETOWN_EX=15 GETOWN_EX=16 GETOWNER_UIDS=17"
	" OFD_GETLK=36 OFD_SETLK=37 OFD_SETLKW=38 SETLEASE=1024 GETLEASE=1025 NOTIFY=1026 DUPFD_QUERY=1027"
	" CREATED_QUERY=1028 CANCELLK=1029 DUPFD_CLOEXEC=1030 SETPIPE_SZ=1031 GETPIPE_SZ=1032 ADD_SEALS=1033"
	" GET_SEALS=1034 GET_RW_HINT=1035 SET_RW_HINT=1036 GET_FILE_RW_HINT=1037 SET_FILE_RW_HINT=1038\n"
	"family values UNSPEC=0 UNIX=1 INET=2 AX25=3 IPX=4 APPLETALK=5 NETROM=6 BRIDGE=7 ATMPVC=8 X25=9 INET6=10"
	" ROSE=11 KEY=15 NETLINK=16 PACKET=17 ECONET=19 ATMSVC=20 RDS=21 IRDA=23 PPPOX=24 LLC=26 IB=27 MPLS=28"
	" CAN=29 TIPC=30 BLUETOOTH=31 IUCV=32 RXRPC=33 ISDN=34 PHONET=35 IEEE802154=36 CAIF=37 ALG=38 NFC=39"
	" VSOCK=40 KCM=41 QIPCRTR=42 SMC=43 XDP=44 MCTP=45\n"
	"socktype bits STREAM=1/0xf DGRAM=2/0xf RAW=3/0xf RDM=4/0xf SEQPACKET=5/0xf DCCP=6/0xf PACKET=10/0xf"
	" NONBLOCK=04000 CLOEXEC=02000000\n"
	"sollevel values IP=0 SOCKET=1 TCP=6 UDP=17 IPV6=41 ICMPV6=58 SCTP=132 UDPLITE=136 RAW=255 PACKET=263"
	" NETLINK=270 TLS=282 VSOCK=287\n"
	"msg bits OOB=1 PEEK=2 DONTROUTE=4 CTRUNC=8 PROBE=0x10 TRUNC=0x20 DONTWAIT=0x40 EOR=0x80 WAITALL=0x100"
	" FIN=0x200 SYN=0x400 CONFIRM=0x800 RST=0x1000 ERRQUEUE=0x2000 NOSIGNAL=0x4000 MORE=0x8000"
	" WAITFORONE=0x10000 BATCH=0x40000 ZEROCOPY=0x4000000 FASTOPEN=0x20000000 CMSG_CLOEXEC=0x40000000\n"
	"shutdown values RD=0 WR=1 RDWR=2\n"
	"socketcall values SOCKET=1 BIND=2 CONNECT=3 LISTEN=4 ACCEPT=5 GETSOCKNAME=6 GETPEERNAME=7 SOCKETPAIR=8"
	" SEND=9 RECV=10 SENDTO=11 RECVFROM=12 SHUTDOWN=13 SETSOCKOPT=14 GETSOCKOPT=15 SENDMSG=16 RECVMSG=17"
	" ACCEPT4=18 RECVMMSG=19 SENDMMSG=20\n"
	"flock bits SH=1/3 EX=2/3 NB=4 UN=8\n"
	"futex bits WAIT=0/0x7f WAKE=1/0x7f FD=2/0x7f REQUEUE=3/0x7f CMP_REQUEUE=4/0x7f WAKE_OP=5/0x7f"
	" LOCK_PI=6/0x7f UNLOCK_PI=7/0x7f TRYLOCK_PI=8/0x7f WAIT_BITSET=9/0x7f WAKE_BITSET=10/0x7f"
	" WAIT_REQUEUE_PI=11/0x7f CMP_REQUEUE_PI=12/0x7f LOCK_PI2=13/0x7f PRIVATE_FLAG=128 CLOCK_REALTIME=256\n"
	"signal values HUP=1 INT=2 QUIT=3 ILL=4 TRAP=5 ABRT=6 BUS=7 FPE=8 KILL=9 USR1=10 SEGV=11 USR2=12 PIPE=13"
	" ALRM=14 TERM=15 STKFLT=16 CHLD=17 CONT=18 STOP=19 TSTP=20 TTIN=21 TTOU=22 URG=23 XCPU=24 XFSZ=25"
	" VTALRM=26 PROF=27 WINCH=28 IO=29 PWR=30 SYS=31\n"
	"sigmask values BLOCK=0 UNBLOCK=1 SETMASK=2\n"
	"eventfd bits SEMAPHORE=1 NONBLOCK=04000 CLOEXEC=02000000\n"
	"memfd bits CLOEXEC=1 ALLOW_SEALING=2 HUGETLB=4 NOEXEC_SEAL=8 EXEC=16\n"
	"clock values REALTIME=0 MONOTONIC=1 PROCESS_CPUTIME_ID=2 THREAD_CPUTIME_ID=3 MONOTONIC_RAW=4"
	" REALTIME_COARSE=5 MONOTONIC_COARSE=6 BOOTTIME=7 REALTIME_ALARM=8 BOOTTIME_ALARM=9 TAI=11\n"
	"timer bits ABSTIME=1 CANCEL_ON_SET=2\n"
	"itimer values REAL=0 VIRTUAL=1 PROF=2\n"
	"wait bits NOHANG=1 UNTRACED=2 EXITED=4 CONTINUED=8 NOWAIT=0x1000000 NOTHREAD=0x20000000 ALL=0x40000000"
	" CLONE=0x80000000\n"
	"idtype values ALL=0 PID=1 PGID=2 PIDFD=3\n"
	"rlimit values CPU=0 FSIZE=1 DATA=2 STACK=3 CORE=4 RSS=5 NPROC=6 NOFILE=7 MEMLOCK=8 AS=9 LOCKS=10"
	" SIGPENDING=11 MSGQUEUE=12 NICE=13 RTPRIO=14 RTTIME=15\n"
	"rusage values SELF=0 CHILDREN=0xffffffff THREAD=1\n"
	"prio values PROCESS=0 PGRP=1 USER=2\n"
	"clone bits CHLD=17/0xff NEWTIME=0x80 VM=0x100 FS=0x200 FILES=0x400 SIGHAND=0x800 PIDFD=0x1000"
	" PTRACE=0x2000 VFORK=0x4000 PARENT=0x8000 THREAD=0x10000 NEWNS=0x20000 SYSVSEM=0x40000 SETTLS=0x80000"
	" PARENT_SETTID=0x100000 CHILD_CLEARTID=0x200000 DETACHED=0x400000 UNTRACED=0x800000"
	" CHILD_SETTID=0x1000000 NEWCGROUP=0x2000000 NEWUTS=0x4000000 NEWIPC=0x8000000 NEWUSER=0x10000000"
	" NEWPID=0x20000000 NEWNET=0x40000000 IO=0x80000000\n"
	"prctl values SET_PDEATHSIG=1 GET_PDEATHSIG=2 GET_DUMPABLE=3 SET_DUMPABLE=4 GET_KEEPCAPS=7"
	" SET_KEEPCAPS=8 SET_NAME=15 GET_NAME=16 GET_SECCOMP=21 SET_SECCOMP=22 CAPBSET_READ=23 CAPBSET_DROP=24"
	" GET_TSC=25 SET_TSC=26 GET_SECUREBITS=27 SET_SECUREBITS=28 SET_TIMERSLACK=29 GET_TIMERSLACK=30"
	" SET_MM=35 SET_CHILD_SUBREAPER=36 GET_CHILD_SUBREAPER=37 SET_NO_NEW_PRIVS=38 GET_NO_NEW_PRIVS=39"
	" GET_TID_ADDRESS=40 SET_THP_DISABLE=41 GET_THP_DISABLE=42 CAP_AMBIENT=47 GET_SPECULATION_CTRL=52"
	" SET_SPECULATION_CTRL=53 SET_IO_FLUSHER=57 SCHED_CORE=62 SET_MDWE=65 GET_MDWE=66 SET_VMA=0x53564d41"
	" SET_PTRACER=0x59616d61\n"
	"archprctl values SET_GS=0x1001 SET_FS=0x1002 GET_FS=0x1003 GET_GS=0x1004 GET_CPUID=0x1011"
	" SET_CPUID=0x1012 GET_XCOMP_SUPP=0x1021 GET_XCOMP_PERM=0x1022 REQ_XCOMP_PERM=0x1023 CET_STATUS=0x3001"
	" SHSTK_ENABLE=0x5001 SHSTK_DISABLE=0x5002 SHSTK_LOCK=0x5003 SHSTK_UNLOCK=0x5004 SHSTK_STATUS=0x5005\n"
	"random bits NONBLOCK=1 RANDOM=2 INSECURE=4\n"
	"seccomp values SET_MODE_STRICT=0 SET_MODE_FILTER=1 GET_ACTION_AVAIL=2 GET_NOTIF_SIZES=3\n"
	"bpf values MAP_CREATE=0 MAP_LOOKUP_ELEM=1 MAP_UPDATE_ELEM=2 MAP_DELETE_ELEM=3 MAP_GET_NEXT_KEY=4"
	" PROG_LOAD=5 OBJ_PIN=6 OBJ_GET=7 PROG_ATTACH=8 PROG_DETACH=9 PROG_TEST_RUN=10 PROG_GET_NEXT_ID=11"
	" MAP_GET_NEXT_ID=12 PROG_GET_FD_BY_ID=13 MAP_GET_FD_BY_ID=14 OBJ_GET_INFO_BY_FD=15 PROG_QUERY=16"
	" RAW_TRACEPOINT_OPEN=17 BTF_LOAD=18 BTF_GET_FD_BY_ID=19 TASK_FD_QUERY=20 MAP_LOOKUP_AND_DELETE_ELEM=21"
	" MAP_FREEZE=22 BTF_GET_NEXT_ID=23 MAP_LOOKUP_BATCH=24 MAP_LOOKUP_AND_DELETE_BATCH=25"
	" MAP_UPDATE_BATCH=26 MAP_DELETE_BATCH=27 LINK_CREATE=28 LINK_UPDATE=29 LINK_GET_FD_BY_ID=30"
	" LINK_GET_NEXT_ID=31 ENABLE_STATS=32 ITER_CREATE=33 LINK_DETACH=34 PROG_BIND_MAP=35 TOKEN_CREATE=36\n"
	"sched bits OTHER=0/0xffff FIFO=1/0xffff RR=2/0xffff BATCH=3/0xffff IDLE=5/0xffff DEADLINE=6/0xffff"
	" EXT=7/0xffff RESET_ON_FORK=0x40000000\n"
	"membarrier values QUERY=0 GLOBAL=1 GLOBAL_EXPEDITED=2 REGISTER_GLOBAL_EXPEDITED=4 PRIVATE_EXPEDITED=8"
	" REGISTER_PRIVATE_EXPEDITED=16 PRIVATE_EXPEDITED_SYNC_CORE=32 REGISTER_PRIVATE_EXPEDITED_SYNC_CORE=64"
	" PRIVATE_EXPEDITED_RSEQ=128 REGISTER_PRIVATE_EXPEDITED_RSEQ=256 GET_REGISTRATIONS=512\n"
	"ptrace values TRACEME=0 PEEKTEXT=1 PEEKDATA=2 PEEKUSER=3 POKETEXT=4 POKEDATA=5 POKEUSER=6 CONT=7 KILL=8"
	" SINGLESTEP=9 GETREGS=12 SETREGS=13 GETFPREGS=14 SETFPREGS=15 ATTACH=16 DETACH=17 SYSCALL=24"
	" SETOPTIONS=0x4200 GETEVENTMSG=0x4201 GETSIGINFO=0x4202 SETSIGINFO=0x4203 GETREGSET=0x4204"
	" SETREGSET=0x4205 SEIZE=0x4206 INTERRUPT=0x4207 LISTEN=0x4208 PEEKSIGINFO=0x4209 GETSIGMASK=0x420a"
	" SETSIGMASK=0x420b SECCOMP_GET_FILTER=0x420c GET_SYSCALL_INFO=0x420e\n"
	"mount bits RDONLY=1 NOSUID=2 NODEV=4 NOEXEC=8 SYNCHRONOUS=16 REMOUNT=32 MANDLOCK=64 DIRSYNC=128"
	" NOSYMFOLLOW=256 NOATIME=1024 NODIRATIME=2048 BIND=4096 MOVE=8192 REC=16384 SILENT=32768"
	" POSIXACL=0x10000 UNBINDABLE=0x20000 PRIVATE=0x40000 SLAVE=0x80000 SHARED=0x100000 RELATIME=0x200000"
	" KERNMOUNT=0x400000 I_VERSION=0x800000 STRICTATIME=0x1000000 LAZYTIME=0x2000000 MGC_VAL=0xc0ed0000\n"
	"umount bits FORCE=1 DETACH=2 EXPIRE=4 NOFOLLOW=8\n"
	"splice bits MOVE=1 NONBLOCK=2 MORE=4 GIFT=8\n"
	"fallocate bits KEEP_SIZE=1 PUNCH_HOLE=2 NO_HIDE_STALE=4 COLLAPSE_RANGE=8 ZERO_RANGE=16 INSERT_RANGE=32"
	" UNSHARE_RANGE=64\n"
	"rwf bits HIPRI=1 DSYNC=2 SYNC=4 NOWAIT=8 APPEND=16 NOAPPEND=32 ATOMIC=64 DONTCACHE=128\n"
	"xattr bits CREATE=1 REPLACE=2\n"
	"epoll values ADD=1 DEL=2 MOD=3\n"
	"errno values EPERM=1 ENOENT=2 ESRCH=3 EINTR=4 EIO=5 ENXIO=6 E2BIG=7 ENOEXEC=8 EBADF=9 ECHILD=10"
	" EAGAIN=11 ENOMEM=12 EACCES=13 EFAULT=14 ENOTBLK=15 EBUSY=16 EEXIST=17 EXDEV=18 ENODEV=19 ENOTDIR=20"
	" EISDIR=21 EINVAL=22 ENFILE=23 EMFILE=24 ENOTTY=25 ETXTBSY=26 EFBIG=27 ENOSPC=28 ESPIPE=29 EROFS=30"
	" EMLINK=31 EPIPE=32 EDOM=33 ERANGE=34 EDEADLK=35 ENAMETOOLONG=36 ENOLCK=37 ENOSYS=38 ENOTEMPTY=39"
	" ELOOP=40 ENOMSG=42 EIDRM=43 ECHRNG=44 EL2NSYNC=45 EL3HLT=46 EL3RST=47 ELNRNG=48 EUNATCH=49 ENOCSI=50"
	" EL2HLT=51 EBADE=52 EBADR=53 EXFULL=54 ENOANO=55 EBADRQC=56 EBADSLT=57 EBFONT=59 ENOSTR=60 ENODATA=61"
	" ETIME=62 ENOSR=63 ENONET=64 ENOPKG=65 EREMOTE=66 ENOLINK=67 EADV=68 ESRMNT=69 ECOMM=70 EPROTO=71"
	" EMULTIHOP=72 EDOTDOT=73 EBADMSG=74 EOVERFLOW=75 ENOTUNIQ=76 EBADFD=77 EREMCHG=78 ELIBACC=79"
	" ELIBBAD=80 ELIBSCN=81 ELIBMAX=82 ELIBEXEC=83 EILSEQ=84 ERESTART=85 ESTRPIPE=86 EUSERS=87 ENOTSOCK=88"
	" EDESTADDRREQ=89 EMSGSIZE=90 EPROTOTYPE=91 ENOPROTOOPT=92 EPROTONOSUPPORT=93 ESOCKTNOSUPPORT=94"
	" EOPNOTSUPP=95 EPFNOSUPPORT=96 EAFNOSUPPORT=97 EADDRINUSE=98 EADDRNOTAVAIL=99 ENETDOWN=100"
	" ENETUNREACH=101 ENETRESET=102 ECONNABORTED=103 ECONNRESET=104 ENOBUFS=105 EISCONN=106 ENOTCONN=107"
	" ESHUTDOWN=108 ETOOMANYREFS=109 ETIMEDOUT=110 ECONNREFUSED=111 EHOSTDOWN=112 EHOSTUNREACH=113"
	" EALREADY=114 EINPROGRESS=115 ESTALE=116 EUCLEAN=117 ENOTNAM=118 ENAVAIL=119 EISNAM=120 EREMOTEIO=121"
	" EDQUOT=122 ENOMEDIUM=123 EMEDIUMTYPE=124 ECANCELED=125 ENOKEY=126 EKEYEXPIRED=127 EKEYREVOKED=128"
	" EKEYREJECTED=129 EOWNERDEAD=130 ENOTRECOVERABLE=131 ERFKILL=132 EHWPOISON=133"
	" ERESTARTSYS=512 ERESTARTNOINTR=513 ERESTARTNOHAND=514 ENOIOCTLCMD=515 ERESTART_RESTARTBLOCK=516\n";

/* Kinds without a list. */
static const char *const plain_kinds[KIND_WORDS] = {
	[KIND_INT] = "int", [KIND_UINT] = "uint", [KIND_LONG] = "long", [KIND_SIZE] = "size", [KIND_HEX] = "hex",
	[KIND_OCTAL] = "octal", [KIND_PTR] = "ptr", [KIND_TEXT] = "text", [KIND_PATH] = "path", [KIND_FD] = "fd",
	[KIND_DIR] = "dir", [KIND_BYTES] = "bytes", [KIND_FILLED] = "filled", [KIND_ADDRESS] = "address",
	[KIND_PEER] = "peer", [KIND_STRINGS] = "strings", [KIND_COUNT] = "count", [KIND_VECTOR] = "vector",
	[KIND_VECTOR_FILLED] = "vectorfilled", [KIND_MESSAGE] = "message", [KIND_MESSAGE_FILLED] = "messagefilled",
};

struct value_name {
	const char *name;
	size_t len;
	uint64_t value, mask;
};
struct value_list {
	const char *name;
	bool bits;
	size_t first, n; /* of the words */
};
struct syscall_words {
	char *text; /* of the names */
	struct value_list *lists;
	size_t n_lists, cap_lists;
	struct value_name *words;
	size_t n_words, cap_words;
	int errors; /* the kind that has the names of errors */
};

static void take_word(struct syscall_words *words, bool bits, char *text)
{
	char *equals = strchr(text, '='), *end;
	struct value_name word = { .name = text, .len = (size_t)(equals - text) };

	word.value = strtoull(equals + 1, &end, 0);
	word.mask = bits ? word.value : ~UINT64_C(0);
	if (*end == '/')
		word.mask = end[1] == '~' ? ~UINT64_C(0) : strtoull(end + 1, NULL, 0);
	*equals = '\0';
	VEC_GROW(words->words, words->n_words, words->cap_words);
	words->words[words->n_words++] = word;
}

static void take_list(struct syscall_words *words, char *line)
{
	struct value_list list = { .name = strsep(&line, " "), .bits = *strsep(&line, " ") == 'b' };
	char *text;

	list.first = words->n_words;
	while ((text = strsep(&line, " ")) != NULL)
		take_word(words, list.bits, text);
	list.n = words->n_words - list.first;
	VEC_GROW(words->lists, words->n_lists, words->cap_lists);
	words->lists[words->n_lists++] = list;
}

struct syscall_words *syscall_words_new(void)
{
	struct syscall_words *words = xcalloc(1, sizeof(*words));
	char *rest, *line;

	words->text = xstrdup(lists);
	rest = words->text;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line)
			take_list(words, line);
	words->errors = syscall_kind_find(words, "errno", strlen("errno"), false);
	return words;
}

void syscall_words_free(struct syscall_words *words)
{
	if (!words)
		return;
	free(words->text);
	free(words->lists);
	free(words->words);
	free(words);
}

int syscall_kind_find(const struct syscall_words *words, const char *name, size_t len, bool arm_flags)
{
	for (size_t i = 0; i < KIND_WORDS; i++)
		if (strlen(plain_kinds[i]) == len && !memcmp(plain_kinds[i], name, len))
			return (int)i;
	if (arm_flags && len == strlen("open") && !memcmp(name, "open", len))
		return syscall_kind_find(words, "armopen", strlen("armopen"), false);
	for (size_t i = 0; i < words->n_lists; i++)
		if (strlen(words->lists[i].name) == len && !memcmp(words->lists[i].name, name, len))
			return KIND_WORDS + (int)i;
	return -1;
}

void syscall_words_add(const struct syscall_words *words, int kind, uint64_t value, struct str *out)
{
	const struct value_list *list = &words->lists[kind - KIND_WORDS];
	const struct value_name *word = &words->words[list->first];
	uint64_t left = value;
	bool any = false;

	for (size_t i = 0; i < list->n && (left || !any); i++, word++) {
		if ((left & word->mask) != word->value)
			continue;
		if (any)
			str_addc(out, '|');
		str_addn(out, word->name, word->len);
		any = true;
		left = list->bits ? left & ~word->mask : 0;
	}
	if (left || !any)
		str_addf(out, left < 10 ? "%s%" PRIu64 : "%s0x%" PRIx64, any ? "|" : "", left);
}

/* ---- errors ---- */

/* Errors that only the kernel has: a signal came, and the call begins anew or ends with EINTR. */
static const char *restart_meaning(int number)
{
	switch (number) {
	case 512:
		return "To be restarted if SA_RESTART is set";
	case 513:
		return "To be restarted";
	case 514:
		return "To be restarted if no handler";
	case 516:
		return "Interrupted by signal";
	default:
		return NULL;
	}
}

bool syscall_error_add(const struct syscall_words *words, int number, bool meaning, struct str *out)
{
	const struct value_list *list = &words->lists[words->errors - KIND_WORDS];
	const char *restart = restart_meaning(number);

	for (size_t i = 0; i < list->n; i++) {
		const struct value_name *word = &words->words[list->first + i];

		if (word->value != (uint64_t)number)
			continue;
		str_addn(out, word->name, word->len);
		if (meaning)
			str_addf(out, " (%s)", restart ? restart : strerror(number));
		return true;
	}
	return false;
}
