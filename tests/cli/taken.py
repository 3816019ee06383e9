# SPDX-License-Identifier: MIT
"""What a recording holds, from its bytes alone: a file that was finished, one whose recorder was killed, or a pipe.

  taken.py FILE...      a line for each kind of record, `KIND NUMBER`, and: cut (samples with registers whose stack has
                        no bytes), lost (the sum of LOST records), lost_samples (that of LOST_SAMPLES)

A file without features was not finished: its header says how much of it counts.
"""
import collections
import ctypes
import struct
import sys

KINDS = {1: "MMAP", 2: "LOST", 3: "COMM", 4: "EXIT", 7: "FORK", 9: "SAMPLE", 10: "MMAP2", 13: "LOST_SAMPLES",
         64: "HEADER_ATTR", 68: "FINISHED_ROUND"}
LOST, SAMPLE, LOST_SAMPLES, HEADER_ATTR, TRACING_DATA, AUXTRACE, COMPRESSED, COMPRESSED2 = 2, 9, 13, 64, 66, 71, 81, 83
MAGIC, HEADER_BYTES, PIPE_HEADER_BYTES = b"PERFILE2", 104, 16
# Of sample_type, in the order of the fields; only what tests record.
IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD, READ, CALLCHAIN, RAW, BRANCH, REGS_USER, STACK_USER = (
    1 << bit for bit in (16, 0, 1, 2, 3, 6, 9, 7, 8, 4, 5, 10, 11, 12, 13))
NOT_KNOWN = READ | RAW | BRANCH

Attr = collections.namedtuple("Attr", "sample_type user_regs")


def attr_at(data, offset):
    sample_type, = struct.unpack_from("<Q", data, offset + 24)
    user_regs, = struct.unpack_from("<Q", data, offset + 80)
    return Attr(sample_type, bin(user_regs).count("1"))


class Packed:
    """The frames of COMPRESSED records: one stream, which may end anywhere."""

    def __init__(self):
        class Buffer(ctypes.Structure):
            _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t), ("pos", ctypes.c_size_t)]
        self.buffer = Buffer
        self.lib = ctypes.CDLL("libzstd.so.1")
        self.lib.ZSTD_createDStream.restype = ctypes.c_void_p
        self.lib.ZSTD_decompressStream.restype = ctypes.c_size_t
        self.lib.ZSTD_decompressStream.argtypes = (ctypes.c_void_p,) * 3
        self.stream = self.lib.ZSTD_createDStream()
        self.rest = b"" # a record may go on in the next

    def add(self, packed):
        room = ctypes.create_string_buffer(1 << 20)
        source = ctypes.create_string_buffer(packed, len(packed))
        taken, whole = self.buffer(ctypes.addressof(source), len(packed), 0), [self.rest]
        while True:
            given = self.buffer(ctypes.addressof(room), len(room), 0)
            code = self.lib.ZSTD_decompressStream(self.stream, ctypes.byref(given), ctypes.byref(taken))
            if self.lib.ZSTD_isError(ctypes.c_size_t(code)):
                raise ValueError("what was packed is broken")
            whole.append(room.raw[:given.pos])
            if taken.pos == taken.size and given.pos < given.size:
                break
        data = b"".join(whole)
        end = whole_bytes(data)
        self.rest = data[end:]
        return data[:end]


def whole_bytes(data):
    """How many bytes of it are whole records."""
    at = 0
    while at + 8 <= len(data):
        size, = struct.unpack_from("<H", data, at + 6)
        if size < 8:
            raise ValueError("a record of %d bytes" % size)
        if at + size > len(data):
            break
        at += size
    return at


class Recording:
    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        if data[:8] != MAGIC:
            raise ValueError("%s: no recording" % path)
        self.attrs, self.packed = [], None
        self.data, (size,) = data, struct.unpack_from("<Q", data, 8)
        self.begin, self.end = size, len(data)
        if size == HEADER_BYTES:
            attr_bytes, attrs_at, attrs_bytes, self.begin, n = struct.unpack_from("<5Q", data, 16)
            self.attrs = [attr_at(data, at) for at in range(attrs_at, attrs_at + attrs_bytes, attr_bytes)]
            self.end = min(len(data), self.begin + n)

    def records(self, data=None, begin=0, end=0):
        """(kind, body) of each whole record, in the order of the file."""
        at, end = (begin, end) if data else (self.begin, self.end)
        data = data or self.data
        while at + 8 <= end:
            kind, _, size = struct.unpack_from("<IHH", data, at)
            if size < 8:
                raise ValueError("a record of %d bytes at %#x" % (size, at))
            if at + size > end:
                return
            body = data[at + 8:at + size]
            if kind in (COMPRESSED, COMPRESSED2):
                self.packed = self.packed or Packed()
                if kind == COMPRESSED2:
                    body = body[8:8 + struct.unpack_from("<Q", body)[0]]
                inner = self.packed.add(body)
                yield from self.records(inner, 0, len(inner))
            else:
                if kind == HEADER_ATTR:
                    self.attrs.append(attr_at(body, 0))
                yield kind, body
            if kind == TRACING_DATA:
                size += (struct.unpack_from("<I", body)[0] + 7) & ~7
            elif kind == AUXTRACE:
                size += struct.unpack_from("<Q", body)[0]
            at += size

    def attr(self):
        """That of all samples: tests that look into them record one event."""
        sample_type = {attr.sample_type for attr in self.attrs}
        if len(sample_type) != 1 or self.attrs[0].sample_type & NOT_KNOWN:
            raise ValueError("its samples have several layouts, or fields that this does not know")
        return self.attrs[0]

    def addresses(self):
        """(what the samples were about, in the order of the time; how many LOST records tell of)."""
        samples, lost = [], 0
        for kind, body in self.records():
            if kind == SAMPLE:
                sample_type = self.attr().sample_type
                samples.append((field(sample_type, body, TIME), field(sample_type, body, ADDR)))
            elif kind == LOST:
                lost += struct.unpack_from("<Q", body, 8)[0]
        return [address for _, address in sorted(samples)], lost

    def is_cut(self, body):
        """Has this sample registers, and of its stack nothing?"""
        attr = self.attr()
        at = 8 * words_before(attr.sample_type, CALLCHAIN)
        if not attr.sample_type & REGS_USER or not attr.sample_type & STACK_USER:
            return False
        if attr.sample_type & CALLCHAIN:
            at += 8 + 8 * struct.unpack_from("<Q", body, at)[0]
        abi, = struct.unpack_from("<Q", body, at)
        at += 8 + (8 * attr.user_regs if abi else 0)
        return abi != 0 and struct.unpack_from("<Q", body, at)[0] == 0


def words_before(sample_type, field_bit):
    n = 0
    for bit in (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD, CALLCHAIN):
        if bit == field_bit:
            break
        n += bool(sample_type & bit)
    return n


def field(sample_type, body, bit):
    if not sample_type & bit:
        raise ValueError("its samples lack a field")
    return struct.unpack_from("<Q", body, 8 * words_before(sample_type, bit))[0]


def counts(paths):
    n = collections.Counter()
    for path in paths:
        recording = Recording(path)
        for kind, body in recording.records():
            n[KINDS.get(kind, str(kind))] += 1
            n["lost"] += struct.unpack_from("<Q", body, 8)[0] if kind == LOST else 0
            n["lost_samples"] += struct.unpack_from("<Q", body)[0] if kind == LOST_SAMPLES else 0
            n["cut"] += kind == SAMPLE and len(recording.attrs) == 1 and recording.is_cut(body)
    return n


if __name__ == "__main__":
    for name, number in sorted(counts(sys.argv[1:]).items()):
        print(name, number)
