/* SPDX-License-Identifier: MIT */
/*
 * calls.c: system calls by their numbers. The table is a text, a line for each call, which is read once: so it has no
 * pointers that each start of the program would have to write.
 *
 *   name, numbers of x86-64, i386 and generic, classes, arguments as name:kind, then what it returns
 *
 * A number is - where the machine does not have the call; a call whose arguments differ between machines has a row for
 * each. Classes are letters of class_rows[]; those of files and descriptors follow from the arguments' kinds. Kinds are
 * those of words.c. What it returns, where it is not a number: =hex, =task, =elsewhere, =none, =exec.
 *
 * To add a call: a line. Names and numbers are those of asm/unistd_64.h, asm/unistd_32.h and asm-generic/unistd.h,
 * names of arguments those of the kernel's formats of syscalls:sys_enter_*.
 */
#include "syscall/syscall.h"

#include <stdlib.h>

static const char rows[] =
	"read 0 3 63 - fd:fd buf:filled count:size\n"
	"write 1 4 64 - fd:fd buf:bytes count:size\n"
	"open 2 5 - - filename:path flags:open mode:octal\n"
	"close 3 6 57 - fd:fd\n"
	"stat 4 106 - - filename:path statbuf:ptr\n"
	"fstat 5 108 80 - fd:fd statbuf:ptr\n"
	"lstat 6 107 - - filename:path statbuf:ptr\n"
	"poll 7 168 - - ufds:ptr nfds:uint timeout_msecs:int\n"
	"lseek 8 19 62 - fd:fd offset:long whence:whence\n"
	"mmap 9 - 222 m addr:ptr len:size prot:prot flags:mmap fd:fd off:hex =hex\n"
	"mmap - 90 - m arg:ptr =hex\n"
	"mprotect 10 125 226 m start:ptr len:size prot:prot\n"
	"munmap 11 91 215 m addr:ptr len:size\n"
	"brk 12 45 214 m brk:ptr =hex\n"
	"rt_sigaction 13 174 134 s sig:signal act:ptr oact:ptr sigsetsize:size\n"
	"rt_sigprocmask 14 175 135 s how:sigmask nset:ptr oset:ptr sigsetsize:size\n"
	"rt_sigreturn 15 173 139 s =elsewhere\n"
	"ioctl 16 54 29 - fd:fd cmd:hex arg:hex\n"
	"pread64 17 180 67 - fd:fd buf:filled count:size pos:long\n"
	"pwrite64 18 181 68 - fd:fd buf:bytes count:size pos:long\n"
	"readv 19 145 65 - fd:fd vec:vectorfilled vlen:size\n"
	"writev 20 146 66 - fd:fd vec:vector vlen:size\n"
	"access 21 33 - - filename:path mode:access\n"
	"pipe 22 42 - - fildes:ptr\n"
	"select 23 - - - n:int inp:ptr outp:ptr exp:ptr tvp:ptr\n"
	"select - 82 - - arg:ptr\n"
	"sched_yield 24 158 124 -\n"
	"mremap 25 163 216 m addr:ptr old_len:size new_len:size flags:mremap new_addr:ptr =hex\n"
	"msync 26 144 227 m start:ptr len:size flags:msync\n"
	"mincore 27 218 232 m start:ptr len:size vec:ptr\n"
	"madvise 28 219 233 m start:ptr len_in:size behavior:madvise\n"
	"shmget 29 395 194 i key:int size:size shmflg:int\n"
	"shmat 30 397 196 mi shmid:int shmaddr:ptr shmflg:int =hex\n"
	"shmctl 31 396 195 i shmid:int cmd:int buf:ptr\n"
	"dup 32 41 23 - fildes:fd\n"
	"dup2 33 63 - - oldfd:fd newfd:fd\n"
	"pause 34 29 - s\n"
	"nanosleep 35 162 101 - rqtp:ptr rmtp:ptr\n"
	"getitimer 36 105 102 - which:itimer value:ptr\n"
	"alarm 37 27 - - seconds:uint\n"
	"setitimer 38 104 103 - which:itimer value:ptr ovalue:ptr\n"
	"getpid 39 20 172 -\n"
	"sendfile 40 187 71 n out_fd:fd in_fd:fd offset:ptr count:size\n"
	"socket 41 359 198 n family:family type:socktype protocol:int\n"
	"connect 42 362 203 n fd:fd uservaddr:address addrlen:int\n"
	"accept 43 - 202 n fd:fd upeer_sockaddr:peer upeer_addrlen:ptr\n"
	"sendto 44 369 206 n fd:fd buff:bytes len:size flags:msg addr:address addr_len:int\n"
	"recvfrom 45 371 207 n fd:fd ubuf:filled size:size flags:msg addr:peer addr_len:ptr\n"
	"sendmsg 46 370 211 n fd:fd msg:message flags:msg\n"
	"recvmsg 47 372 212 n fd:fd msg:messagefilled flags:msg\n"
	"shutdown 48 373 210 n fd:fd how:shutdown\n"
	"bind 49 361 200 n fd:fd umyaddr:address addrlen:int\n"
	"listen 50 363 201 n fd:fd backlog:int\n"
	"getsockname 51 367 204 n fd:fd usockaddr:peer usockaddr_len:ptr\n"
	"getpeername 52 368 205 n fd:fd usockaddr:peer usockaddr_len:ptr\n"
	"socketpair 53 360 199 n family:family type:socktype protocol:int usockvec:ptr\n"
	"setsockopt 54 366 208 n fd:fd level:sollevel optname:int optval:ptr optlen:int\n"
	"getsockopt 55 365 209 n fd:fd level:sollevel optname:int optval:ptr optlen:ptr\n"
	"clone 56 - - p clone_flags:clone newsp:ptr parent_tidptr:ptr child_tidptr:ptr tls:hex =task\n"
	"clone - 120 220 p clone_flags:clone newsp:ptr parent_tidptr:ptr tls:hex child_tidptr:ptr =task\n"
	"fork 57 2 - p =task\n"
	"vfork 58 190 - p =task\n"
	"execve 59 11 221 p filename:path argv:strings envp:count =exec\n"
	"exit 60 1 93 p error_code:int =none\n"
	"wait4 61 114 260 p upid:int stat_addr:ptr options:wait ru:ptr\n"
	"kill 62 37 129 ps pid:int sig:signal\n"
	"uname 63 122 160 - name:ptr\n"
	"semget 64 393 190 i key:int nsems:int semflg:int\n"
	"semop 65 - 193 i semid:int tsops:ptr nsops:uint\n"
	"semctl 66 394 191 i semid:int semnum:int cmd:int arg:hex\n"
	"shmdt 67 398 197 mi shmaddr:ptr\n"
	"msgget 68 399 186 i key:int msgflg:int\n"
	"msgsnd 69 400 189 i msqid:int msgp:ptr msgsz:size msgflg:int\n"
	"msgrcv 70 401 188 i msqid:int msgp:ptr msgsz:size msgtyp:long msgflg:int\n"
	"msgctl 71 402 187 i msqid:int cmd:int buf:ptr\n"
	"fcntl 72 55 25 - fd:fd cmd:fcntl arg:hex\n"
	"flock 73 143 32 - fd:fd cmd:flock\n"
	"fsync 74 118 82 - fd:fd\n"
	"fdatasync 75 148 83 - fd:fd\n"
	"truncate 76 92 45 - path:path length:long\n"
	"ftruncate 77 93 46 - fd:fd length:long\n"
	"getdents 78 141 - - fd:fd dirent:ptr count:uint\n"
	"getcwd 79 183 17 - buf:ptr size:size\n"
	"chdir 80 12 49 - filename:path\n"
	"fchdir 81 133 50 - fd:fd\n"
	"rename 82 38 - - oldname:path newname:path\n"
	"mkdir 83 39 - - pathname:path mode:octal\n"
	"rmdir 84 40 - - pathname:path\n"
	"creat 85 8 - - pathname:path mode:octal\n"
	"link 86 9 - - oldname:path newname:path\n"
	"unlink 87 10 - - pathname:path\n"
	"symlink 88 83 - - oldname:text newname:path\n"
	"readlink 89 85 - - path:path buf:filled bufsiz:int\n"
	"chmod 90 15 - - filename:path mode:octal\n"
	"fchmod 91 94 52 - fd:fd mode:octal\n"
	"chown 92 182 - - filename:path user:int group:int\n"
	"fchown 93 95 55 - fd:fd user:int group:int\n"
	"lchown 94 16 - - filename:path user:int group:int\n"
	"umask 95 60 166 - mask:int\n"
	"gettimeofday 96 78 169 - tv:ptr tz:ptr\n"
	"getrlimit 97 76 163 - resource:rlimit rlim:ptr\n"
	"getrusage 98 77 165 - who:rusage ru:ptr\n"
	"sysinfo 99 116 179 - info:ptr\n"
	"times 100 43 153 - tbuf:ptr\n"
	"ptrace 101 26 117 - request:ptrace pid:int addr:hex data:hex\n"
	"getuid 102 24 174 -\n"
	"syslog 103 103 116 - type:int buf:ptr len:int\n"
	"getgid 104 47 176 -\n"
	"setuid 105 23 146 - uid:int\n"
	"setgid 106 46 144 - gid:int\n"
	"geteuid 107 49 175 -\n"
	"getegid 108 50 177 -\n"
	"setpgid 109 57 154 - pid:int pgid:int\n"
	"getppid 110 64 173 -\n"
	"getpgrp 111 65 - -\n"
	"setsid 112 66 157 -\n"
	"setreuid 113 70 145 - ruid:int euid:int\n"
	"setregid 114 71 143 - rgid:int egid:int\n"
	"getgroups 115 80 158 - gidsetsize:int grouplist:ptr\n"
	"setgroups 116 81 159 - gidsetsize:int grouplist:ptr\n"
	"setresuid 117 164 147 - ruid:int euid:int suid:int\n"
	"getresuid 118 165 148 - ruidp:ptr euidp:ptr suidp:ptr\n"
	"setresgid 119 170 149 - rgid:int egid:int sgid:int\n"
	"getresgid 120 171 150 - rgidp:ptr egidp:ptr sgidp:ptr\n"
	"getpgid 121 132 155 - pid:int\n"
	"setfsuid 122 138 151 - uid:int\n"
	"setfsgid 123 139 152 - gid:int\n"
	"getsid 124 147 156 - pid:int\n"
	"capget 125 184 90 - header:ptr dataptr:ptr\n"
	"capset 126 185 91 - header:ptr data:ptr\n"
	"rt_sigpending 127 176 136 s uset:ptr sigsetsize:size\n"
	"rt_sigtimedwait 128 177 137 s uthese:ptr uinfo:ptr uts:ptr sigsetsize:size\n"
	"rt_sigqueueinfo 129 178 138 ps pid:int sig:signal uinfo:ptr\n"
	"rt_sigsuspend 130 179 133 s unewset:ptr sigsetsize:size\n"
	"sigaltstack 131 186 132 s uss:ptr uoss:ptr\n"
	"utime 132 30 - - filename:ptr times:ptr\n"
	"mknod 133 14 - - filename:path mode:octal dev:hex\n"
	"personality 135 136 92 - personality:hex\n"
	"ustat 136 62 - - dev:uint ubuf:ptr\n"
	"statfs 137 99 43 - pathname:path buf:ptr\n"
	"fstatfs 138 100 44 - fd:fd buf:ptr\n"
	"sysfs 139 135 - - option:int arg1:size arg2:hex\n"
	"getpriority 140 96 141 - which:prio who:int\n"
	"setpriority 141 97 140 - which:prio who:int niceval:int\n"
	"sched_setparam 142 154 118 - pid:int param:ptr\n"
	"sched_getparam 143 155 121 - pid:int param:ptr\n"
	"sched_setscheduler 144 156 119 - pid:int policy:sched param:ptr\n"
	"sched_getscheduler 145 157 120 - pid:int\n"
	"sched_get_priority_max 146 159 125 - policy:sched\n"
	"sched_get_priority_min 147 160 126 - policy:sched\n"
	"sched_rr_get_interval 148 161 127 - pid:int interval:ptr\n"
	"mlock 149 150 228 m start:ptr len:size\n"
	"munlock 150 151 229 m start:ptr len:size\n"
	"mlockall 151 152 230 m flags:mlockall\n"
	"munlockall 152 153 231 m\n"
	"vhangup 153 111 58 -\n"
	"modify_ldt 154 123 - - func:int ptr:ptr bytecount:size\n"
	"pivot_root 155 217 41 - new_root:path put_old:path\n"
	"prctl 157 172 167 - option:prctl arg2:hex arg3:hex arg4:hex arg5:hex\n"
	"arch_prctl 158 384 - - option:archprctl arg2:hex\n"
	"adjtimex 159 124 171 - txc_p:ptr\n"
	"setrlimit 160 75 164 - resource:rlimit rlim:ptr\n"
	"chroot 161 61 51 - filename:path\n"
	"sync 162 36 81 -\n"
	"acct 163 51 89 - name:path\n"
	"settimeofday 164 79 170 - tv:ptr tz:ptr\n"
	"mount 165 21 40 - dev_name:text dir_name:ptr type:text flags:mount data:ptr\n"
	"umount2 166 52 39 - name:path flags:umount\n"
	"swapon 167 87 224 - specialfile:path swap_flags:hex\n"
	"swapoff 168 115 225 - specialfile:path\n"
	"reboot 169 88 142 - magic1:hex magic2:hex cmd:hex arg:ptr\n"
	"sethostname 170 74 161 - name:text len:int\n"
	"setdomainname 171 121 162 - name:text len:int\n"
	"iopl 172 110 - - level:uint\n"
	"ioperm 173 101 - - from:size num:size turn_on:int\n"
	"init_module 175 128 105 - module_image:ptr len:size param_values:text\n"
	"delete_module 176 129 106 - name:text flags:hex\n"
	"quotactl 179 131 60 - cmd:hex special:path id:int addr:ptr\n"
	"gettid 186 224 178 -\n"
	"readahead 187 225 213 - fd:fd offset:long count:size\n"
	"setxattr 188 226 5 - pathname:path name:text value:bytes size:size flags:xattr\n"
	"lsetxattr 189 227 6 - pathname:path name:text value:bytes size:size flags:xattr\n"
	"fsetxattr 190 228 7 - fd:fd name:text value:bytes size:size flags:xattr\n"
	"getxattr 191 229 8 - pathname:path name:text value:filled size:size\n"
	"lgetxattr 192 230 9 - pathname:path name:text value:filled size:size\n"
	"fgetxattr 193 231 10 - fd:fd name:text value:filled size:size\n"
	"listxattr 194 232 11 - pathname:path list:ptr size:size\n"
	"llistxattr 195 233 12 - pathname:path list:ptr size:size\n"
	"flistxattr 196 234 13 - fd:fd list:ptr size:size\n"
	"removexattr 197 235 14 - pathname:path name:text\n"
	"lremovexattr 198 236 15 - pathname:path name:text\n"
	"fremovexattr 199 237 16 - fd:fd name:text\n"
	"tkill 200 238 130 ps pid:int sig:signal\n"
	"time 201 13 - - tloc:ptr\n"
	"futex 202 240 98 - uaddr:ptr op:futex val:uint utime:ptr uaddr2:ptr val3:uint\n"
	"sched_setaffinity 203 241 122 - pid:int len:uint user_mask_ptr:ptr\n"
	"sched_getaffinity 204 242 123 - pid:int len:uint user_mask_ptr:ptr\n"
	"set_thread_area 205 243 - - u_info:ptr\n"
	"io_setup 206 245 0 - nr_events:uint ctxp:ptr\n"
	"io_destroy 207 246 1 - ctx:size\n"
	"io_getevents 208 247 4 - ctx_id:ptr min_nr:long nr:long events:ptr timeout:ptr\n"
	"io_submit 209 248 2 - ctx_id:ptr nr:long iocbpp:ptr\n"
	"io_cancel 210 249 3 - ctx_id:ptr iocb:ptr result:ptr\n"
	"get_thread_area 211 244 - - u_info:ptr\n"
	"lookup_dcookie 212 253 18 - cookie64:hex buf:ptr len:size\n"
	"epoll_create 213 254 - - size:int\n"
	"remap_file_pages 216 257 234 m start:ptr size:size prot:size pgoff:size flags:hex\n"
	"getdents64 217 220 61 - fd:fd dirent:ptr count:uint\n"
	"set_tid_address 218 258 96 - tidptr:ptr\n"
	"restart_syscall 219 0 128 -\n"
	"semtimedop 220 - 192 i semid:int tsops:ptr nsops:uint timeout:ptr\n"
	"fadvise64 221 250 223 - fd:fd offset:long len:size advice:int\n"
	"timer_create 222 259 107 - which_clock:clock timer_event_spec:ptr created_timer_id:ptr\n"
	"timer_settime 223 260 110 - timer_id:int flags:timer new_setting:ptr old_setting:ptr\n"
	"timer_gettime 224 261 108 - timer_id:int setting:ptr\n"
	"timer_getoverrun 225 262 109 - timer_id:int\n"
	"timer_delete 226 263 111 - timer_id:int\n"
	"clock_settime 227 264 112 - which_clock:clock tp:ptr\n"
	"clock_gettime 228 265 113 - which_clock:clock tp:ptr\n"
	"clock_getres 229 266 114 - which_clock:clock tp:ptr\n"
	"clock_nanosleep 230 267 115 - which_clock:clock flags:timer rqtp:ptr rmtp:ptr\n"
	"exit_group 231 252 94 p error_code:int =none\n"
	"epoll_wait 232 256 - - epfd:fd events:ptr maxevents:int timeout:int\n"
	"epoll_ctl 233 255 21 - epfd:fd op:epoll fd:fd event:ptr\n"
	"tgkill 234 270 131 ps tgid:int pid:int sig:signal\n"
	"utimes 235 271 - - filename:path utimes:ptr\n"
	"mbind 237 274 235 m start:ptr len:size mode:uint nmask:ptr maxnode:size flags:hex\n"
	"set_mempolicy 238 276 237 m mode:int nmask:ptr maxnode:size\n"
	"get_mempolicy 239 275 236 m policy:ptr nmask:ptr maxnode:size addr:ptr flags:hex\n"
	"mq_open 240 277 180 - u_name:text oflag:open mode:octal u_attr:ptr\n"
	"mq_unlink 241 278 181 - u_name:text\n"
	"mq_timedsend 242 279 182 - mqdes:fd u_msg_ptr:bytes msg_len:size msg_prio:uint u_abs_timeout:ptr\n"
	"mq_timedreceive 243 280 183 - mqdes:fd u_msg_ptr:filled msg_len:size u_msg_prio:ptr u_abs_timeout:ptr\n"
	"mq_notify 244 281 184 - mqdes:fd u_notification:ptr\n"
	"mq_getsetattr 245 282 185 - mqdes:fd u_mqstat:ptr u_omqstat:ptr\n"
	"kexec_load 246 283 104 - entry:hex nr_segments:size segments:ptr flags:hex\n"
	"waitid 247 284 95 p which:idtype upid:int infop:ptr options:wait ru:ptr\n"
	"add_key 248 286 217 - _type:text _description:text _payload:ptr plen:size ringid:int\n"
	"request_key 249 287 218 - _type:text _description:text _callout_info:text destringid:int\n"
	"keyctl 250 288 219 - option:int arg2:hex arg3:hex arg4:hex arg5:hex\n"
	"ioprio_set 251 289 30 - which:int who:int ioprio:int\n"
	"ioprio_get 252 290 31 - which:int who:int\n"
	"inotify_init 253 291 - -\n"
	"inotify_add_watch 254 292 27 - fd:fd pathname:path mask:hex\n"
	"inotify_rm_watch 255 293 28 - fd:fd wd:int\n"
	"migrate_pages 256 294 238 m pid:int maxnode:size old_nodes:ptr new_nodes:ptr\n"
	"openat 257 295 56 - dfd:dir filename:path flags:open mode:octal\n"
	"mkdirat 258 296 34 - dfd:dir pathname:path mode:octal\n"
	"mknodat 259 297 33 - dfd:dir filename:path mode:octal dev:hex\n"
	"fchownat 260 298 54 - dfd:dir filename:path user:int group:int flag:at\n"
	"futimesat 261 299 - - dfd:dir filename:path utimes:ptr\n"
	"newfstatat 262 - 79 - dfd:dir filename:path statbuf:ptr flag:at\n"
	"unlinkat 263 301 35 - dfd:dir pathname:path flag:unlinkat\n"
	"renameat 264 302 38 - olddfd:dir oldname:path newdfd:dir newname:path\n"
	"linkat 265 303 37 - olddfd:dir oldname:path newdfd:dir newname:path flags:at\n"
	"symlinkat 266 304 36 - oldname:text newdfd:dir newname:path\n"
	"readlinkat 267 305 78 - dfd:dir pathname:path buf:filled bufsiz:int\n"
	"fchmodat 268 306 53 - dfd:dir filename:path mode:octal\n"
	"faccessat 269 307 48 - dfd:dir filename:path mode:access\n"
	"pselect6 270 308 72 - n:int inp:ptr outp:ptr exp:ptr tsp:ptr sig:ptr\n"
	"ppoll 271 309 73 - ufds:ptr nfds:uint tsp:ptr sigmask:ptr sigsetsize:size\n"
	"unshare 272 310 97 p unshare_flags:clone\n"
	"set_robust_list 273 311 99 - head:ptr len:size\n"
	"get_robust_list 274 312 100 - pid:int head_ptr:ptr len_ptr:ptr\n"
	"splice 275 313 76 - fd_in:fd off_in:ptr fd_out:fd off_out:ptr len:size flags:splice\n"
	"tee 276 315 77 - fdin:fd fdout:fd len:size flags:splice\n"
	"sync_file_range 277 314 84 - fd:fd offset:long nbytes:long flags:hex\n"
	"vmsplice 278 316 75 - fd:fd uiov:ptr nr_segs:size flags:splice\n"
	"move_pages 279 317 239 m pid:int nr_pages:size pages:ptr nodes:ptr status:ptr flags:hex\n"
	"utimensat 280 320 88 - dfd:dir filename:path utimes:ptr flags:at\n"
	"epoll_pwait 281 319 22 - epfd:fd events:ptr maxevents:int timeout:int sigmask:ptr sigsetsize:size\n"
	"signalfd 282 321 - s ufd:fd user_mask:ptr sizemask:size\n"
	"timerfd_create 283 322 85 - clockid:clock flags:fdflags\n"
	"eventfd 284 323 - - count:uint\n"
	"fallocate 285 324 47 - fd:fd mode:fallocate offset:long len:long\n"
	"timerfd_settime 286 325 86 - ufd:fd flags:timer utmr:ptr otmr:ptr\n"
	"timerfd_gettime 287 326 87 - ufd:fd otmr:ptr\n"
	"accept4 288 364 242 n fd:fd upeer_sockaddr:peer upeer_addrlen:ptr flags:socktype\n"
	"signalfd4 289 327 74 s ufd:fd user_mask:ptr sizemask:size flags:fdflags\n"
	"eventfd2 290 328 19 - count:uint flags:eventfd\n"
	"epoll_create1 291 329 20 - flags:fdflags\n"
	"dup3 292 330 24 - oldfd:fd newfd:fd flags:fdflags\n"
	"pipe2 293 331 59 - fildes:ptr flags:fdflags\n"
	"inotify_init1 294 332 26 - flags:fdflags\n"
	"preadv 295 333 69 - fd:fd vec:vectorfilled vlen:size pos_l:size pos_h:size\n"
	"pwritev 296 334 70 - fd:fd vec:vector vlen:size pos_l:size pos_h:size\n"
	"rt_tgsigqueueinfo 297 335 240 ps tgid:int pid:int sig:signal uinfo:ptr\n"
	"perf_event_open 298 336 241 - attr_uptr:ptr pid:int cpu:int group_fd:fd flags:hex\n"
	"recvmmsg 299 337 243 n fd:fd mmsg:ptr vlen:uint flags:msg timeout:ptr\n"
	"fanotify_init 300 338 262 - flags:hex event_f_flags:open\n"
	"fanotify_mark 301 339 263 - fanotify_fd:fd flags:hex mask:hex dfd:dir pathname:path\n"
	"prlimit64 302 340 261 - pid:int resource:rlimit new_rlim:ptr old_rlim:ptr\n"
	"name_to_handle_at 303 341 264 - dfd:dir name:path handle:ptr mnt_id:ptr flag:at\n"
	"open_by_handle_at 304 342 265 - mountdirfd:dir handle:ptr flags:open\n"
	"clock_adjtime 305 343 266 - which_clock:clock utx:ptr\n"
	"syncfs 306 344 267 - fd:fd\n"
	"sendmmsg 307 345 269 n fd:fd mmsg:ptr vlen:uint flags:msg\n"
	"setns 308 346 268 - fd:fd flags:clone\n"
	"getcpu 309 318 168 - cpup:ptr nodep:ptr unused:ptr\n"
	"process_vm_readv 310 347 270 - pid:int lvec:ptr liovcnt:size rvec:ptr riovcnt:size flags:hex\n"
	"process_vm_writev 311 348 271 - pid:int lvec:ptr liovcnt:size rvec:ptr riovcnt:size flags:hex\n"
	"kcmp 312 349 272 - pid1:int pid2:int type:int idx1:size idx2:size\n"
	"finit_module 313 350 273 - fd:fd param_values:text flags:hex\n"
	"sched_setattr 314 351 274 - pid:int uattr:ptr flags:hex\n"
	"sched_getattr 315 352 275 - pid:int uattr:ptr usize:uint flags:hex\n"
	"renameat2 316 353 276 - olddfd:dir oldname:path newdfd:dir newname:path flags:rename\n"
	"seccomp 317 354 277 - op:seccomp flags:hex uargs:ptr\n"
	"getrandom 318 355 278 - ubuf:filled len:size flags:random\n"
	"memfd_create 319 356 279 m uname:text flags:memfd\n"
	"kexec_file_load 320 - 294 - kernel_fd:fd initrd_fd:fd cmdline_len:size cmdline:ptr flags:hex\n"
	"bpf 321 357 280 - cmd:bpf uattr:ptr size:uint\n"
	"execveat 322 358 281 p fd:dir filename:path argv:strings envp:count flags:at =exec\n"
	"userfaultfd 323 374 282 - flags:fdflags\n"
	"membarrier 324 375 283 - cmd:membarrier flags:hex cpu_id:int\n"
	"mlock2 325 376 284 m start:ptr len:size flags:hex\n"
	"copy_file_range 326 377 285 - fd_in:fd off_in:ptr fd_out:fd off_out:ptr len:size flags:hex\n"
	"preadv2 327 378 286 - fd:fd vec:vectorfilled vlen:size pos_l:size pos_h:size flags:rwf\n"
	"pwritev2 328 379 287 - fd:fd vec:vector vlen:size pos_l:size pos_h:size flags:rwf\n"
	"pkey_mprotect 329 380 288 m start:ptr len:size prot:prot pkey:int\n"
	"pkey_alloc 330 381 289 m flags:hex init_val:size\n"
	"pkey_free 331 382 290 m pkey:int\n"
	"statx 332 383 291 - dfd:dir filename:path flags:at mask:statx buffer:ptr\n"
	"io_pgetevents 333 385 292 - ctx_id:ptr min_nr:long nr:long events:ptr timeout:ptr sigset:ptr\n"
	"rseq 334 386 293 - rseq:ptr rseq_len:uint flags:hex sig:hex\n"
	"uretprobe 335 - - -\n"
	"pidfd_send_signal 424 424 424 ps pidfd:fd sig:signal info:ptr flags:hex\n"
	"io_uring_setup 425 425 425 - entries:uint params:ptr\n"
	"io_uring_enter 426 426 426 - fd:fd to_submit:uint min_complete:uint flags:hex argp:ptr argsz:size\n"
	"io_uring_register 427 427 427 - fd:fd opcode:uint arg:ptr nr_args:uint\n"
	"open_tree 428 428 428 - dfd:dir filename:path flags:hex\n"
	"move_mount 429 429 429 - from_dfd:dir from_pathname:path to_dfd:dir to_pathname:path flags:hex\n"
	"fsopen 430 430 430 - _fs_name:text flags:hex\n"
	"fsconfig 431 431 431 - fd:fd cmd:uint _key:text _value:ptr aux:int\n"
	"fsmount 432 432 432 - fs_fd:fd flags:hex attr_flags:hex\n"
	"fspick 433 433 433 - dfd:dir path:path flags:hex\n"
	"pidfd_open 434 434 434 p pid:int flags:fdflags\n"
	"clone3 435 435 435 p uargs:ptr size:size =task\n"
	"close_range 436 436 436 - fd:fd max_fd:uint flags:hex\n"
	"openat2 437 437 437 - dfd:dir filename:path how:ptr usize:size\n"
	"pidfd_getfd 438 438 438 - pidfd:fd fd:fd flags:hex\n"
	"faccessat2 439 439 439 - dfd:dir filename:path mode:access flags:at\n"
	"process_madvise 440 440 440 m pidfd:fd vec:ptr vlen:size behavior:madvise flags:hex\n"
	"epoll_pwait2 441 441 441 - epfd:fd events:ptr maxevents:int timeout:ptr sigmask:ptr sigsetsize:size\n"
	"mount_setattr 442 442 442 - dfd:dir path:path flags:hex uattr:ptr usize:size\n"
	"quotactl_fd 443 443 443 - fd:fd cmd:hex id:int addr:ptr\n"
	"landlock_create_ruleset 444 444 444 - attr:ptr size:size flags:hex\n"
	"landlock_add_rule 445 445 445 - ruleset_fd:fd rule_type:int rule_attr:ptr flags:hex\n"
	"landlock_restrict_self 446 446 446 - ruleset_fd:fd flags:hex\n"
	"memfd_secret 447 447 447 - flags:fdflags\n"
	"process_mrelease 448 448 448 p pidfd:fd flags:hex\n"
	"futex_waitv 449 449 449 - waiters:ptr nr_futexes:uint flags:hex timeout:ptr clockid:clock\n"
	"set_mempolicy_home_node 450 450 450 m start:ptr len:size home_node:size flags:hex\n"
	"cachestat 451 451 451 - fd:fd cstat_range:ptr cstat:ptr flags:hex\n"
	"fchmodat2 452 452 452 - dfd:dir filename:path mode:octal flags:at\n"
	"map_shadow_stack 453 453 - m addr:ptr size:size flags:hex\n"
	"futex_wake 454 454 454 - uaddr:ptr mask:hex nr:int flags:hex\n"
	"futex_wait 455 455 455 - uaddr:ptr val:size mask:hex flags:hex timeout:ptr clockid:clock\n"
	"futex_requeue 456 456 456 - waiters:ptr flags:hex nr_wake:int nr_requeue:int\n"
	"statmount 457 457 457 - req:ptr buf:ptr bufsize:size flags:hex\n"
	"listmount 458 458 458 - req:ptr mnt_ids:ptr nr_mnt_ids:size flags:hex\n"
	"lsm_get_self_attr 459 459 459 - attr:uint ctx:ptr size:ptr flags:hex\n"
	"lsm_set_self_attr 460 460 460 - attr:uint ctx:ptr size:uint flags:hex\n"
	"lsm_list_modules 461 461 461 - ids:ptr size:ptr flags:hex\n"
	"mseal 462 462 462 m start:ptr len:size flags:hex\n"
	"setxattrat 463 463 463 - dfd:dir pathname:path at_flags:hex name:text uargs:ptr usize:size\n"
	"getxattrat 464 464 464 - dfd:dir pathname:path at_flags:hex name:text uargs:ptr usize:size\n"
	"listxattrat 465 465 465 - dfd:dir pathname:path at_flags:hex list:ptr size:size\n"
	"removexattrat 466 466 466 - dfd:dir pathname:path at_flags:hex name:text\n"
	"open_tree_attr 467 467 467 - dfd:dir filename:path flags:hex uattr:ptr usize:size\n"
	"file_getattr 468 468 468 - dfd:dir filename:path ufattr:ptr usize:size at_flags:hex\n"
	"file_setattr 469 469 469 - dfd:dir filename:path ufattr:ptr usize:size at_flags:hex\n"
	"waitpid - 7 - p pid:int stat_addr:ptr options:wait\n"
	"oldstat - 18 - - filename:path statbuf:ptr\n"
	"umount - 22 - - name:path\n"
	"stime - 25 - - tptr:ptr\n"
	"oldfstat - 28 - - fd:fd statbuf:ptr\n"
	"nice - 34 - - increment:int\n"
	"signal - 48 - s sig:signal handler:ptr\n"
	"sigaction - 67 - s sig:signal act:ptr oact:ptr\n"
	"sigsuspend - 72 - s unused1:int unused2:int mask:hex\n"
	"sigpending - 73 - s uset:ptr\n"
	"oldlstat - 84 - - filename:path statbuf:ptr\n"
	"readdir - 89 - - fd:fd dirent:ptr count:uint\n"
	"socketcall - 102 - n call:socketcall args:ptr\n"
	"olduname - 109 - - name:ptr\n"
	"ipc - 117 - i call:uint first:int second:hex third:hex ptr:ptr fifth:hex\n"
	"sigreturn - 119 - s =elsewhere\n"
	"sigprocmask - 126 - s how:sigmask nset:ptr oset:ptr\n"
	"_llseek - 140 - - fd:fd offset_high:size offset_low:size result:ptr whence:whence\n"
	"_newselect - 142 - - n:int inp:ptr outp:ptr exp:ptr tvp:ptr\n"
	"vm86 - 166 - - cmd:hex arg:hex\n"
	"ugetrlimit - 191 - - resource:rlimit rlim:ptr\n"
	"mmap2 - 192 - m addr:ptr len:size prot:prot flags:mmap fd:fd off:hex =hex\n"
	"truncate64 - 193 - - path:path length_low:size length_high:size\n"
	"ftruncate64 - 194 - - fd:fd length_low:size length_high:size\n"
	"stat64 - 195 - - filename:path statbuf:ptr\n"
	"lstat64 - 196 - - filename:path statbuf:ptr\n"
	"fstat64 - 197 - - fd:fd statbuf:ptr\n"
	"lchown32 - 198 - - filename:path user:int group:int\n"
	"getuid32 - 199 - -\n"
	"getgid32 - 200 - -\n"
	"geteuid32 - 201 - -\n"
	"getegid32 - 202 - -\n"
	"setreuid32 - 203 - - ruid:int euid:int\n"
	"setregid32 - 204 - - rgid:int egid:int\n"
	"getgroups32 - 205 - - gidsetsize:int grouplist:ptr\n"
	"setgroups32 - 206 - - gidsetsize:int grouplist:ptr\n"
	"fchown32 - 207 - - fd:fd user:int group:int\n"
	"setresuid32 - 208 - - ruid:int euid:int suid:int\n"
	"getresuid32 - 209 - - ruidp:ptr euidp:ptr suidp:ptr\n"
	"setresgid32 - 210 - - rgid:int egid:int sgid:int\n"
	"getresgid32 - 211 - - rgidp:ptr egidp:ptr sgidp:ptr\n"
	"chown32 - 212 - - filename:path user:int group:int\n"
	"setuid32 - 213 - - uid:int\n"
	"setgid32 - 214 - - gid:int\n"
	"setfsuid32 - 215 - - uid:int\n"
	"setfsgid32 - 216 - - gid:int\n"
	"fcntl64 - 221 - - fd:fd cmd:fcntl arg:hex\n"
	"sendfile64 - 239 - n out_fd:fd in_fd:fd offset:ptr count:size\n"
	"statfs64 - 268 - - pathname:path sz:size buf:ptr\n"
	"fstatfs64 - 269 - - fd:fd sz:size buf:ptr\n"
	"fadvise64_64 - 272 - - fd:fd offset:long len:size advice:int\n"
	"fstatat64 - 300 - - dfd:dir filename:path statbuf:ptr flag:at\n"
	"clock_gettime64 - 403 - - which_clock:clock tp:ptr\n"
	"clock_settime64 - 404 - - which_clock:clock tp:ptr\n"
	"clock_adjtime64 - 405 - - which_clock:clock utx:ptr\n"
	"clock_getres_time64 - 406 - - which_clock:clock tp:ptr\n"
	"clock_nanosleep_time64 - 407 - - which_clock:clock flags:timer rqtp:ptr rmtp:ptr\n"
	"timer_gettime64 - 408 - - timer_id:int setting:ptr\n"
	"timer_settime64 - 409 - - timer_id:int flags:timer new_setting:ptr old_setting:ptr\n"
	"timerfd_gettime64 - 410 - - ufd:fd otmr:ptr\n"
	"timerfd_settime64 - 411 - - ufd:fd flags:timer utmr:ptr otmr:ptr\n"
	"utimensat_time64 - 412 - - dfd:dir filename:path utimes:ptr flags:at\n"
	"pselect6_time64 - 413 - - n:int inp:ptr outp:ptr exp:ptr tsp:ptr sig:ptr\n"
	"ppoll_time64 - 414 - - ufds:ptr nfds:uint tsp:ptr sigmask:ptr sigsetsize:size\n"
	"io_pgetevents_time64 - 416 - - ctx_id:ptr min_nr:long nr:long events:ptr timeout:ptr sigset:ptr\n"
	"recvmmsg_time64 - 417 - n fd:fd mmsg:ptr vlen:uint flags:msg timeout:ptr\n"
	"mq_timedsend_time64 - 418 - - mqdes:fd u_msg_ptr:bytes msg_len:size msg_prio:uint u_abs_timeout:ptr\n"
	"mq_timedreceive_time64 - 419 - - mqdes:fd u_msg_ptr:filled msg_len:size u_msg_prio:ptr u_abs_timeout:ptr\n"
	"semtimedop_time64 - 420 - i semid:int tsops:ptr nsops:uint timeout:ptr\n"
	"rt_sigtimedwait_time64 - 421 - s uthese:ptr uinfo:ptr uts:ptr sigsetsize:size\n"
	"futex_time64 - 422 - - uaddr:ptr op:futex val:uint utime:ptr uaddr2:ptr val3:uint\n"
	"sched_rr_get_interval_time64 - 423 - - pid:int interval:ptr\n";

static const struct class_row {
	const char *name;
	char letter; /* in the rows; 0: it follows from kinds of arguments */
	unsigned bit;
} class_rows[] = {
	{ "network", 'n', CLASS_NETWORK }, { "net", 'n', CLASS_NETWORK }, { "process", 'p', CLASS_PROCESS },
	{ "signal", 's', CLASS_SIGNAL }, { "memory", 'm', CLASS_MEMORY }, { "ipc", 'i', CLASS_IPC },
	{ "file", 0, CLASS_FILE }, { "desc", 0, CLASS_DESC },
};

unsigned syscall_class_find(const char *name, size_t len)
{
	if (len && *name == '%')
		name++, len--;
	for (size_t i = 0; i < ARRAY_SIZE(class_rows); i++)
		if (strlen(class_rows[i].name) == len && !memcmp(class_rows[i].name, name, len))
			return class_rows[i].bit;
	return 0;
}

static const struct {
	const char *arch;
	enum syscall_abi abi;
	bool arm_flags; /* open(2) has arm's values of O_DIRECTORY and others */
} machines[] = {
	{ "x86_64", SYSCALLS_X86_64, false }, { "i386", SYSCALLS_I386, false }, { "i686", SYSCALLS_I386, false },
	{ "aarch64", SYSCALLS_GENERIC, true }, { "arm64", SYSCALLS_GENERIC, true },
	{ "riscv64", SYSCALLS_GENERIC, false }, { "loongarch64", SYSCALLS_GENERIC, false },
};

/* The machine's row; ARRAY_SIZE(machines): there is none. */
static size_t machine_of(const char *arch)
{
	size_t i = arch ? 0 : ARRAY_SIZE(machines);

	while (i < ARRAY_SIZE(machines) && strcmp(machines[i].arch, arch))
		i++;
	return i;
}

enum syscall_abi syscall_abi_of(const char *arch)
{
	size_t i = machine_of(arch);

	return i < ARRAY_SIZE(machines) ? machines[i].abi : SYSCALLS_UNKNOWN;
}

enum syscall_abi syscall_abi_32(enum syscall_abi abi)
{
	return abi == SYSCALLS_X86_64 ? SYSCALLS_I386 : SYSCALLS_UNKNOWN;
}

/* ---- reading a row ---- */

/* The next word of the line, ended by NUL; NULL: there is none. */
static char *next_word(char **line)
{
	return *line ? strsep(line, " ") : NULL;
}

static void take_class(struct syscall_row *row, const char *letters)
{
	for (size_t i = 0; i < ARRAY_SIZE(class_rows); i++)
		if (class_rows[i].letter && strchr(letters, class_rows[i].letter))
			row->classes |= class_rows[i].bit;
}

static void take_return(struct syscall_row *row, const char *word)
{
	static const char *const names[] = {
		[RETURNS_NUMBER] = "=", [RETURNS_HEX] = "=hex", [RETURNS_TASK] = "=task",
		[RETURNS_ELSEWHERE] = "=elsewhere", [RETURNS_NEVER] = "=none", [RETURNS_AS_ANOTHER] = "=exec",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], word))
			row->returns = (enum syscall_return)i;
}

static void take_arg(struct syscall_row *row, const struct syscall_words *words, char *word, bool arm_flags)
{
	char *kind = strchr(word, ':');
	struct syscall_arg *arg = &row->args[row->n_args++];

	*kind++ = '\0';
	arg->name = word;
	arg->len = (uint8_t)strlen(word);
	arg->kind = (uint8_t)syscall_kind_find(words, kind, strlen(kind), arm_flags);
	if (arg->kind == KIND_PATH)
		row->classes |= CLASS_FILE;
	if (syscall_is_descriptor(arg->kind))
		row->classes |= CLASS_DESC;
}

static void take_row(struct syscall_table *table, char *line, bool arm_flags)
{
	struct syscall_row *row;
	char *word;

	VEC_GROW(table->v, table->n, table->cap);
	row = &table->v[table->n];
	*row = (struct syscall_row){ .name = next_word(&line) };
	row->len = strlen(row->name);
	for (size_t abi = 0; abi < SYSCALL_ABIS; abi++) {
		word = next_word(&line);
		row->numbers[abi] = *word == '-' ? -1 : (int)strtol(word, NULL, 10);
		if (row->numbers[abi] >= 0)
			table->by_number[abi][row->numbers[abi]] = (uint16_t)table->n;
	}
	take_class(row, next_word(&line));
	while ((word = next_word(&line)) != NULL) {
		if (*word == '=')
			take_return(row, word);
		else
			take_arg(row, table->words, word, arm_flags);
	}
	table->n++;
}

static void add_unknown(struct syscall_table *table)
{
	static const char *const names[SYSCALL_ARGS] = { "arg0", "arg1", "arg2", "arg3", "arg4", "arg5" };
	struct syscall_row row = { .name = "(unknown)", .len = strlen("(unknown)"), .n_args = SYSCALL_ARGS,
				   .numbers = { -1, -1, -1 } };

	for (size_t i = 0; i < SYSCALL_ARGS; i++)
		row.args[i] = (struct syscall_arg){ names[i], (uint8_t)strlen(names[i]), KIND_HEX };
	VEC_GROW(table->v, table->n, table->cap);
	table->v[table->n++] = row;
}

void syscall_table_init(struct syscall_table *table, const char *arch)
{
	size_t machine = machine_of(arch);
	bool arm_flags = machine < ARRAY_SIZE(machines) && machines[machine].arm_flags;
	char *rest, *line;

	*table = (struct syscall_table){ .words = syscall_words_new(), .text = xstrdup(rows) };
	for (size_t abi = 0; abi < SYSCALL_ABIS; abi++)
		table->by_number[abi] = xcalloc(SYSCALL_NUMBERS, sizeof(*table->by_number[abi]));
	add_unknown(table);
	rest = table->text;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line)
			take_row(table, line, arm_flags);
}

void syscall_table_release(struct syscall_table *table)
{
	for (size_t abi = 0; abi < SYSCALL_ABIS; abi++)
		free(table->by_number[abi]);
	syscall_words_free(table->words);
	free(table->text);
	free(table->v);
	*table = (struct syscall_table){ .n = 0 };
}

const struct syscall_row *syscall_find(const struct syscall_table *table, enum syscall_abi abi, int64_t number)
{
	if (abi >= SYSCALL_ABIS || number < 0 || number >= SYSCALL_NUMBERS)
		return &table->v[0];
	return &table->v[table->by_number[abi][number]];
}
