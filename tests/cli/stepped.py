#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stepped.py FILE EXECUTED PROGRAM: a recording as a branch unit would make it, of a static program that is stepped.

PROGRAM is run instruction by instruction (ptrace). Each branch that it takes goes into a branch stack of 8, with as many
cycles as instructions were executed since the one before; about every 12 instructions is a sample. FILE is a perf.data file of
these, EXECUTED has a line for each sample: the addresses that were executed, from the stack's oldest branch to the one
before the sample. Which instruction follows which in the program is told by objdump. Status 77: it may not be traced."""
import collections
import ctypes
import os
import re
import signal
import struct
import subprocess
import sys

TRACEME, SINGLESTEP, PEEKUSER, KILL = 0, 9, 3, 8
RIP = 16 * 8  # in struct user, sys/user.h
DEPTH, EVERY, SAMPLES = 8, 12, 60
HARDWARE, CYCLES = 0, 0
IP, TID, TIME, CPU, PERIOD, BRANCHES, IDENTIFIER = 1, 2, 4, 128, 256, 2048, 1 << 16
BRANCH_USER, BRANCH_ANY = 1, 8
FLAGS = 1 << 18 | 1 << 5 | 1 << 6 | 1 << 20  # sample_id_all; without kernel, hypervisor, guests
MMAP, COMM, SAMPLE, USER = 1, 3, 9, 2
PREDICTED, MISPREDICTED = 2, 1

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long] + [ctypes.c_void_p] * 3


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def following(program):
    """The address behind each instruction."""
    listing = subprocess.run(["objdump", "-d", program], stdout=subprocess.PIPE, check=True).stdout.decode()
    addresses = [int(a, 16) for a in re.findall(r"^ *([0-9a-f]+):\t", listing, re.M)]
    return dict(zip(addresses, addresses[1:]))


def steps(program):
    """The addresses that are executed, one after the other."""
    pid = os.fork()
    if not pid:
        if libc.ptrace(TRACEME, 0, 0, 0) < 0:
            os._exit(77)
        os.execv(program, [program])
    while True:
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status):
            if os.WEXITSTATUS(status) == 77:
                sys.exit(77)
            return
        yield pid, libc.ptrace(PEEKUSER, pid, RIP, 0) & (2**64 - 1)
        libc.ptrace(SINGLESTEP, pid, 0, 0)


def main():
    path, executed_path, program = sys.argv[1:]
    after = following(program)
    stack = collections.deque(maxlen=DEPTH)  # (from, to, flags, index in executed), newest first
    executed, samples, truth, maps = [], [], [], None
    since = 0
    for pid, ip in steps(program):
        if maps is None:
            with open("/proc/%d/maps" % pid) as lines:
                maps = [re.match(r"(\w+)-(\w+) ..x. (\w+) ", line) for line in lines if line.rstrip().endswith(program)]
            maps = [[int(n, 16) for n in m.groups()] for m in maps if m]
            own = pid
        if executed and after.get(executed[-1]) != ip:
            flags = (MISPREDICTED if len(executed) % 5 == 0 else PREDICTED) | since << 4
            stack.appendleft((executed[-1], ip, flags, len(executed) - 1))
            since = 0
        # A sample at the newest branch's own address: the branch, or the program is there again? That is not told apart.
        if len(stack) == DEPTH and len(executed) % EVERY == 0 and stack[0][0] != ip:
            samples.append((ip, [entry[:3] for entry in stack]))
            truth.append(executed[stack[-1][3]:] + [ip])
            if len(samples) == SAMPLES:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                break
        executed.append(ip)
        since += 1
    write(path, program, own, maps, samples)
    with open(executed_path, "w") as out:
        out.writelines(" ".join("%x" % ip for ip in ips) + "\n" for ips in truth)


def write(path, program, pid, maps, samples):
    types = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | BRANCHES
    attr = struct.pack("<IIQQQQQIIQQQ", HARDWARE, 128, CYCLES, 1, types, 0, FLAGS, 0, 0, 0, 0,
                       BRANCH_USER | BRANCH_ANY)
    attr += bytes(128 - len(attr))

    def trailer(time):
        return struct.pack("<iiQIIQ", pid, pid, time, 0, 0, 1)

    def padded(text):
        return text + bytes(8 - len(text) % 8)

    data = record(COMM, 0, struct.pack("<ii", pid, pid) + padded(b"stepped") + trailer(1))
    for start, end, offset in maps:
        data += record(MMAP, USER, struct.pack("<iiQQQ", pid, pid, start, end - start, offset) +
                       padded(program.encode()) + trailer(2))
    for i, (ip, stack) in enumerate(samples):
        body = struct.pack("<QQiiQIIQQ", 1, ip, pid, pid, 1000 * (i + 3), 0, 0, 1, len(stack))
        data += record(SAMPLE, USER, body + b"".join(struct.pack("<QQQ", *branch) for branch in stack))
    head, text = 104, os.uname().machine.encode()
    features = [(6, struct.pack("<I", 64) + text.ljust(64, b"\0")), (8, struct.pack("<II", 1, 1))]  # ARCH, NRCPUS
    bits = sum(1 << bit for bit, _ in features)
    at = head + 8 + 144 + len(data)
    table, bodies = b"", b""
    for _, body in features:
        table += struct.pack("<QQ", at + 16 * len(features) + len(bodies), len(body))
        bodies += body
    with open(path, "wb") as out:
        out.write(b"PERFILE2" + struct.pack("<QQ", head, 144) + struct.pack("<QQ", head + 8, 144) +
                  struct.pack("<QQ", head + 8 + 144, len(data)) + bytes(16) + struct.pack("<QQQQ", bits, 0, 0, 0))
        out.write(struct.pack("<Q", 1) + attr + struct.pack("<QQ", head, 8) + data + table + bodies)


main()
