#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""odd_recording.py FILE SHAPE: writes a recording by hand that is valid and unlike what anybody records.

SHAPE  threads  10,000 threads, one sample each, without chains
       names    threads with names that are markup, quotes, control characters, no UTF-8, and 64 KiB long; files, too
       zero     all periods are 0
       empty    no sample
       times    samples without a time
       modes    samples of user and kernel code, and some that do not say of which
       switches off its CPU from 10.2 to 10.6 ms, and from 50.2 to 50.6 ms on another CPU; samples at 1 to 100 ms"""
import struct
import sys

BASE, MAP_BYTES = 0x400000, 1 << 24
SOFTWARE, CPU_CLOCK = 1, 0
IP, TID, TIME, CALLCHAIN, CPU, PERIOD = 1, 2, 4, 32, 128, 256
SAMPLE_ID_ALL = 1 << 18
COMM, SAMPLE, MMAP2, SWITCH = 3, 9, 10, 14
KERNEL, USER, PROT_RX, MAP_PRIVATE, SWITCH_OUT = 1, 2, 5, 2, 1 << 13
CONTEXT_USER = 2**64 - 512
PID = 4200001  # more than a kernel gives
HEAD_BYTES, ATTR_BYTES = 104, 128
NAMES = [b"</script><img src=x>", b"\"quotes'`", b"tab\there\x01\x1b[31m\x7f", b"\xff\xfe\x80 no UTF-8 \xc0\xaf",
         "\u202edrow\u2028".encode(), b"x" * 65000, b"semi;colon\\back"]


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def padded(text):
    text += b"\0"
    return text + bytes(-len(text) % 8)


def main():
    path, shape = sys.argv[1:]
    timed = shape != "times"
    attr = struct.pack("<IIQQQQQ", SOFTWARE, ATTR_BYTES, CPU_CLOCK, 1000000,
                       IP | TID | CALLCHAIN | CPU | PERIOD | (TIME if timed else 0), 0, SAMPLE_ID_ALL)
    attr += bytes(ATTR_BYTES - len(attr)) + struct.pack("<QQ", 0, 0)

    def identity(tid, time, cpu=0):
        return struct.pack("<ii", PID, tid) + (struct.pack("<Q", time) if timed else b"") + struct.pack("<II", cpu, 0)

    def named(tid, name):
        return record(COMM, 0, struct.pack("<ii", PID, tid) + padded(name) + identity(tid, 1))

    def mapped(at, name):
        return record(MMAP2, USER, struct.pack("<iiQQQIIQQII", PID, PID, at, MAP_BYTES, 0, 8, 1, at, 0, PROT_RX, MAP_PRIVATE)
                      + padded(name) + identity(PID, 2))

    def switch(misc, time, cpu):
        return record(SWITCH, misc, identity(PID, time, cpu))

    def sample(tid, i, period, ips, misc=USER):
        head = struct.pack("<Qii", ips[0] if ips else BASE, PID, tid)
        head += struct.pack("<Q", 1000000 * (i + 1)) if timed else b""
        return record(SAMPLE, misc, head + struct.pack("<IIQQ", i % 4, 0, period, len(ips) + 1 if ips else 0)
                      + (struct.pack("<%dQ" % (len(ips) + 1), CONTEXT_USER, *ips) if ips else b""))

    records = [named(PID, b"odd"), mapped(BASE, b"/nowhere/odd")]
    if shape == "threads":
        for i in range(10000):
            records += [named(PID + i, b"odd%d" % i), sample(PID + i, i, 7, [])]
    elif shape == "names":
        for i, name in enumerate(NAMES):
            at = BASE + (i + 1) * MAP_BYTES
            records += [named(PID + i, name), mapped(at, b"/nowhere/" + name[:4000])]
            records += [sample(PID + i, i, 7, [at + 64, BASE + 32]), sample(PID + i, i, 7, [at + 64, BASE + 32])]
    elif shape == "modes":
        records += [sample(PID, i, 3, [], i % 3) for i in range(99)]
    elif shape == "switches":
        for i in range(100):
            records += [sample(PID, i, 3, [BASE + 16])]
            if i in (9, 49):
                at = 1000000 * (i + 1)
                records += [switch(SWITCH_OUT, at + 200000, i // 49), switch(0, at + 600000, i // 49)]
    elif shape != "empty":
        records += [sample(PID, i, 0 if shape == "zero" else 3, [BASE + 16 * (i % 5), BASE + 512]) for i in range(100)]
    data = b"".join(records)
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", HEAD_BYTES, len(attr), HEAD_BYTES, len(attr), HEAD_BYTES + len(attr),
                                     len(data), 0, 0)
    with open(path, "wb") as f:
        f.write(head + bytes(HEAD_BYTES - len(head)) + attr + data)


main()
