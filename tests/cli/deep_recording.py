#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""deep_recording.py FILE SHAPE SAMPLES DEPTH [ELF]: writes a recording by hand whose callchains are DEPTH frames deep,
deeper than a kernel records without being asked to. Each sample has a period of 1 and lasts a millisecond.

SHAPE  random  each frame is any address of the code of ELF; without it any of 512 addresses in a file that is gone
       same    all samples have the same chain, of addresses that all differ
       comb    as `same`, but each sample has left this way one step later, so that a tree forks at each of them
       tasks   as `random`, but each sample is the only one of a process of its own, which forks, gets a name and ends

A sample has room for 8,170 frames."""
import random
import struct
import sys

BASE, MAP_BYTES = 0x400000, 1 << 24
SOFTWARE, CPU_CLOCK = 1, 0
IP, TID, TIME, CALLCHAIN, PERIOD = 1, 2, 4, 32, 256
SAMPLE_ID_ALL = 1 << 18
COMM, EXIT, FORK, SAMPLE, MMAP2 = 3, 4, 7, 9, 10
USER, PROT_RX, MAP_PRIVATE = 2, 5, 2
CONTEXT_USER = 2**64 - 512
PID = 4200001  # more than a kernel gives
HEAD_BYTES, ATTR_BYTES = 104, 128


def text_of(path):
    """(offset in the file, bytes) of an ELF file's .text."""
    with open(path, "rb") as f:
        data = f.read()
    at, = struct.unpack_from("<Q", data, 0x28)
    size, n, names = struct.unpack_from("<HHH", data, 0x3a)
    heads = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(n)]
    for name, _, _, _, offset, length in heads:
        if data[heads[names][4] + name:].startswith(b".text\0"):
            return offset, length
    sys.exit("deep_recording.py: %s: no .text" % path)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def life(pid, time, sample):
    """The records of a process around its only sample."""
    last = struct.pack("<iiQ", pid, pid, time)
    task = struct.pack("<iiiiQ", pid, PID, pid, PID, time) + last
    return b"".join((record(FORK, 0, task), record(COMM, 0, struct.pack("<ii", pid, pid) + padded("task") + last), sample,
                     record(EXIT, 0, task)))


def padded(text):
    text = text.encode() + b"\0"
    return text + bytes(-len(text) % 8)


def identity(time):
    """What stands behind every record that is no sample."""
    return struct.pack("<iiQ", PID, PID, time)


def chains(shape, n, depth, elf):
    """Of each sample the addresses, innermost first."""
    chance = random.Random(7)
    offset, length, step = (*text_of(elf), 1) if elf else (0, 512, 16)
    way = [BASE + 16 * i for i in range(depth)]
    for i in range(n):
        if shape in ("random", "tasks"):
            yield [BASE + offset + step * chance.randrange(length) for _ in range(depth)]
        elif shape == "same":
            yield way
        else:
            kept = depth * i // n
            yield [BASE + 16 * (depth + i)] + way[depth - kept:]


def main():
    path, shape, n, depth = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    elf = sys.argv[5] if len(sys.argv) > 5 else None
    attr = struct.pack("<IIQQQQQ", SOFTWARE, ATTR_BYTES, CPU_CLOCK, 1000000, IP | TID | TIME | CALLCHAIN | PERIOD, 0,
                       SAMPLE_ID_ALL)
    attr += bytes(ATTR_BYTES - len(attr)) + struct.pack("<QQ", 0, 0)
    records = [record(COMM, 0, struct.pack("<ii", PID, PID) + padded("deep") + identity(1)),
               record(MMAP2, USER, struct.pack("<iiQQQIIQQII", PID, PID, BASE, MAP_BYTES, 0, 8, 1, 7, 0, PROT_RX,
                                               MAP_PRIVATE) + padded(elf or "/nowhere/deep") + identity(2))]
    for i, ips in enumerate(chains(shape, n, depth, elf)):
        pid, time = PID + (i + 1 if shape == "tasks" else 0), 1000000 * (i + 1)
        body = struct.pack("<QiiQQQ", ips[0], pid, pid, time, 1, len(ips) + 1)
        sample = record(SAMPLE, USER, body + struct.pack("<%dQ" % (len(ips) + 1), CONTEXT_USER, *ips))
        records.append(life(pid, time, sample) if shape == "tasks" else sample)
    data = b"".join(records)
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", HEAD_BYTES, len(attr), HEAD_BYTES, len(attr), HEAD_BYTES + len(attr),
                                     len(data), 0, 0)
    with open(path, "wb") as f:
        f.write(head + bytes(HEAD_BYTES - len(head)) + attr + data)


main()
