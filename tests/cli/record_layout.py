# SPDX-License-Identifier: MIT
"""record_layout.py FILE...: what other programs than perf need of a recording, checked from its bytes alone.
Prints what is missing; nothing when all is there.

linux-perf-data: features right after the data, IDENTIFIER on every attr, the same sample_id_all; hotspot: the
file is as long as its sections say, ARCH, HOSTNAME, CMDLINE, EVENT_DESC; perf_data_converter: a map of the
kernel, COMM and MMAP2 of a process before its samples, no registers or stacks.
"""
import struct
import sys

HEADER = struct.Struct("<8s2Q6Q32s")
FEATURES = {3: "HOSTNAME", 6: "ARCH", 11: "CMDLINE", 12: "EVENT_DESC"}
MMAP, COMM, FORK, SAMPLE, MMAP2, FIRST_OF_USER = 1, 3, 7, 9, 10, 64
TID, IDENTIFIER = 1 << 1, 1 << 16
REGS_USER, STACK_USER, REGS_INTR = 1 << 12, 1 << 13, 1 << 18
SAMPLE_ID_ALL = 1 << 18
MODE_MASK, USER = 7, 2
GONE = 0xffffffff # the process id of a task that is past its end


def attrs(data, size, offset, length):
    for at in range(offset, offset + length, size):
        sample_type, = struct.unpack_from("<Q", data, at + 24)
        flags, = struct.unpack_from("<Q", data, at + 40)
        yield sample_type, flags


def records(data, offset, end):
    """Type, the mode it ran in, and the body."""
    while offset < end:
        kind, misc, size = struct.unpack_from("<IHH", data, offset)
        if size < 8 or size % 8 or offset + size > end:
            raise ValueError("a record of %d bytes at %#x" % (size, offset))
        yield kind, misc & MODE_MASK, data[offset + 8:offset + size]
        offset += size


def in_order(data, offset, end):
    """Of the kernel's types, by time: what each CPU wrote stands together."""
    timed = []
    for kind, mode, body in records(data, offset, end):
        if kind < FIRST_OF_USER: # a sample: id, ip, tid, time; others end with tid, time, cpu, id
            at = 24 if kind == SAMPLE else len(body) - 24
            timed.append((struct.unpack_from("<Q", body, at)[0], len(timed), kind, mode, body))
    return [entry[2:] for entry in sorted(timed)]


def kernel_addresses_are_shown():
    with open("/proc/kallsyms") as symbols:
        return int(symbols.readline().split()[0], 16) != 0


def processes(data, offset, end):
    named, mapped, kernel = set(), set(), False
    for kind, mode, body in in_order(data, offset, end):
        pid = struct.unpack_from("<I", body)[0] if len(body) >= 4 else 0
        if kind == COMM:
            named.add(pid)
        elif kind in (MMAP, MMAP2):
            mapped.add(pid)
            kernel |= b"[kernel.kallsyms]" in body
        elif kind == FORK:
            parent, = struct.unpack_from("<I", body, 4)
            named |= {pid} if parent in named else set()
            mapped |= {pid} if parent in mapped else set()
        elif kind == SAMPLE: # id, ip, pid
            pid, = struct.unpack_from("<I", body, 16)
            if pid not in (0, GONE) and pid not in named:
                yield "process %d: a sample before its COMM" % pid
            if mode == USER and pid != GONE and pid not in mapped: # the kernel's threads have none
                yield "process %d: a sample before its MMAP2" % pid
    if not kernel and kernel_addresses_are_shown():
        yield "no map of [kernel.kallsyms]"


def problems(data):
    (magic, size, attr_size, attr_at, attr_bytes, data_at, data_bytes, _, _, bits) = HEADER.unpack_from(data)
    if (magic, size) != (b"PERFILE2", 104):
        yield "the header is %r, %d" % (magic, size)
    seen = list(attrs(data, attr_size, attr_at, attr_bytes))
    if not seen or any(not t & IDENTIFIER for t, _ in seen):
        yield "an attr without IDENTIFIER"
    if len({f & SAMPLE_ID_ALL for _, f in seen}) != 1 or not seen[0][1] & SAMPLE_ID_ALL:
        yield "sample_id_all differs"
    if any(t & (REGS_USER | STACK_USER | REGS_INTR) for t, _ in seen):
        yield "registers or stacks that nobody asked for"
    if not data_bytes or len(data) < data_at + data_bytes:
        yield "the data goes past the end"
    present = [i for i in range(256) if bits[i // 8] >> i % 8 & 1]
    for bit, name in FEATURES.items():
        if bit not in present:
            yield "no " + name
    table = data_at + data_bytes
    sections = [struct.unpack_from("<2Q", data, table + 16 * i) for i in range(len(present))]
    if any(at < table + 16 * len(present) or at + n > len(data) for at, n in sections):
        yield "a feature outside of what follows the data"
    yield from processes(data, data_at, data_at + data_bytes)


for path in sys.argv[1:]:
    with open(path, "rb") as recording:
        for problem in problems(recording.read()):
            print("%s: %s" % (path, problem))
