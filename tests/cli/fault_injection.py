#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fault_injection.py PSTAT WORKLOAD KIND EVERY: pstat records a program that knows how often it faults (WORKLOAD pages:50); one
after the other each system call of the recorder (every EVERY-th of them) is made to fail by strace, with the error
that is likely for it. Whatever fails: pstat ends by itself, soon, by no signal; where its status is not 0 it has
said why; where it is 0 without a word, all samples are there; a file that is there can be read. KIND: file, packed,
pipe. Prints a table of what became of the tries, and what does not hold; exit 1 if anything."""
import collections
import os
import re
import subprocess
import sys

PAGES, TIME_LIMIT_S = 50, 300
# The error for each system call; others get EINVAL.
ERRORS = {
    "openat": "EMFILE", "read": "EIO", "pread64": "EIO", "write": "ENOSPC", "pwrite64": "ENOSPC", "mmap": "ENOMEM",
    "mprotect": "ENOMEM", "perf_event_open": "EMFILE", "clone": "EAGAIN", "clone3": "EAGAIN",
    "vfork": "EAGAIN", "pipe2": "EMFILE", "socketpair": "EMFILE", "getdents64": "EIO", "newfstatat": "EACCES",
    "rename": "EACCES", "ftruncate": "EIO", "ppoll": "ENOMEM", "wait4": "EINTR", "access": "EACCES",
    "ioctl": "EIO", "sendto": "ENOBUFS", "recvfrom": "ECONNRESET", "lseek": "ESPIPE", "munmap": "ENOMEM",
    "getrandom": "ENOSYS", "readlink": "EACCES", "uname": "EFAULT", "sched_setaffinity": "EPERM",
    "sched_getaffinity": "EPERM", "fstatfs": "EIO", "fcntl": "EBADF",
}
KINDS = {"file": ["-o", "x"], "packed": ["-z", "-o", "x"], "pipe": ["-o", "-"]}
# They end or replace the program; or the kernel does the work whatever it answers, which strace does not (close: and a
# futex that wakes nobody leaves a thread asleep that the kernel would have woken), or its answer is never an error (brk).
NO_ANSWER = {"execve", "exit", "exit_group", "rt_sigreturn", "close", "futex", "brk"}
# How a program is begun by the C library, not by pstat.
LAST_OF_START = re.compile(r"^munmap\(")


def calls_of(trace):
    """(name, which one of that name) of the calls of the recorder's threads, without those that load it."""
    seen, loading, calls, first = collections.Counter(), collections.Counter(), {}, None
    with open(trace, errors="replace") as lines:
        for line in lines:
            thread, _, call = line.partition(" ")
            name = call.strip().split("(")[0]
            if not name.isidentifier():
                continue
            first = first or thread
            seen[thread, name] += 1
            calls[name, seen[thread, name]] = None
            if thread == first and not started(loading):
                loading[name] += 1
                loading[None] += bool(LAST_OF_START.match(call.strip()))
    # Each thread has its n-th: where that is one of loading, the program would not begin.
    return [(name, n) for name, n in calls if name not in NO_ANSWER and n > loading[name]]


def started(loading):
    return loading[None] > 0


def record(pstat, workload, kind, strace):
    for name in ("x", "x.old", "out"):
        if os.path.exists(name):
            os.remove(name)
    # All threads; the program that is recorded is let go when it begins. Where threads call the same, each has its n-th.
    command = ["strace", "-qq", "-f", "-b", "execve", *strace, pstat, "record", "-e", "page-faults:u", "-c", "1", "-m", "64K",
               *KINDS[kind], "--", workload, "pages:%d" % PAGES]
    with open("out", "wb") as out:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                              timeout=TIME_LIMIT_S)
    if kind == "pipe":
        os.rename("out", "x")
    return done.returncode, done.stderr.decode(errors="replace")


def samples(pstat):
    """The samples that the file has of its pages; -1: there is no file, or an empty one. None: not readable."""
    if not os.path.exists("x") or not os.path.getsize("x"):
        return -1
    done = subprocess.run([pstat, "script", "-i", "x", "-F", "ip,sym"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=TIME_LIMIT_S)
    return done.stdout.split().count(b"pages") if not done.returncode else None


def outcome(pstat, status, err):
    """(what became of it, what is wrong with that or None)."""
    said = re.search(r"^pstat: .", err, re.M)
    if status < 0 or status > 128:
        return "killed", "killed: status %d" % status
    n = samples(pstat)
    if n is None:
        return "unreadable", "what was written can't be read"
    if status and not said:
        return "silent", "status %d without a message" % status
    if not status and not said and n < PAGES:
        return "lost", "%d of %d samples, and not a word" % (n, PAGES)
    if status:
        return "refused, with a message" if n < PAGES else "failed with a message, all samples there", None
    return "goes on, with a message" if said else "goes on, all samples there", None


def main():
    pstat, workload, kind, every = sys.argv[1:4] + [int(sys.argv[4])]
    record(pstat, workload, kind, ["-o", "trace"])
    if samples(pstat) != PAGES:
        sys.exit("without a fault there are %s samples, not %d" % (samples(pstat), PAGES))
    calls = calls_of("trace")
    became, wrong = collections.Counter(), 0
    for name, which in calls[::every]:
        fault = "%s:error=%s:when=%d" % (name, ERRORS.get(name, "EINVAL"), which)
        try:
            status, err = record(pstat, workload, kind, ["-o", "/dev/null", "-e", "trace=" + name, "-e", "inject=" + fault])
            result, complaint = outcome(pstat, status, err)
        except subprocess.TimeoutExpired:
            result, complaint, err = "endless", "does not end", ""
        became[result] += 1
        if complaint:
            wrong += 1
            print("%s: %s\n%s" % (fault, complaint, err[-600:]))
    print("%s: %d system calls, %d made to fail" % (kind, len(calls), sum(became.values())))
    for result, n in became.most_common():
        print("%6d  %s" % (n, result))
    sys.exit(1 if wrong or not became else 0)


main()
