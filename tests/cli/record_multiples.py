# SPDX-License-Identifier: MIT
"""record_multiples.py FILE...: each record of a recording, in a file or from a pipe, as it lies there.
Prints those whose size is not a multiple of 8, which perf 7 refuses, and where nothing more can be read; then the types
that were seen, and BUILD_ID entries of a file's features as type 67.
"""
import struct
import sys

HEADER_TRACING_DATA, HEADER_BUILD_ID, AUXTRACE = 66, 67, 71
BUILD_ID_FEATURE, PIPE_HEADER = 2, 16


def records(data, at, end):
    """Type, offset and size of each, the first that leads nowhere included."""
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        yield kind, at, size
        if size < 8:
            return
        at += size
        if kind == HEADER_TRACING_DATA: # what follows belongs to it
            at += struct.unpack_from("<I", data, at - size + 8)[0]
        elif kind == AUXTRACE:
            at += struct.unpack_from("<Q", data, at - size + 8)[0]
    if at > end:
        yield 0, at, 0


def all_records(data):
    if data[:8] != b"PERFILE2":
        raise ValueError("no recording")
    if struct.unpack_from("<Q", data, 8)[0] == PIPE_HEADER:
        yield from records(data, PIPE_HEADER, len(data))
        return
    at, size = struct.unpack_from("<2Q", data, 40)
    yield from records(data, at, at + size)
    bits = int.from_bytes(data[72:104], "little")
    if bits >> BUILD_ID_FEATURE & 1:
        row = at + size + 16 * bin(bits & ((1 << BUILD_ID_FEATURE) - 1)).count("1")
        start, length = struct.unpack_from("<2Q", data, row)
        yield from records(data, start, start + length)


types = set()
for path in sys.argv[1:]:
    with open(path, "rb") as recording:
        for kind, at, size in all_records(recording.read()):
            types.add(kind)
            if size < 8 or size % 8:
                print("%s: a record of type %d at %#x has %d bytes" % (path, kind, at, size))
print(*sorted(types))
