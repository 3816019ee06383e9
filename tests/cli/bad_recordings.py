#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bad_recordings.py PSTAT EVERY cut|header|records|pipe FILE COMMAND...: spoils a recording and reads it (every
EVERY-th of what is made of it) with each COMMAND (words, without -i), in turn. What must hold, whatever is in the file:
pstat ends by itself, soon, with 0 or 125; it is 125 only with a message, and with a message about the file; no
sanitizer report. Prints what does not hold; exit 1 if anything.
bad_recordings.py write FOLDER FILE... writes all that is made of the files, for who reads many (tests/fuzz/run)."""
import itertools
import os
import re
import struct
import subprocess
import sys
import tempfile

HEADER, MAX_RECORD_BYTES = 104, 48


def whole(data):
    """(offset, type, size) of each record in a file's data section."""
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        yield at, kind, length
        at += length


def cuts(data):
    """At each of the first lengths, at the edges of the first records, and in steps."""
    lengths = set(range(0, HEADER + 8, 5)) | set(range(0, len(data), max(1, len(data) // 60)))
    for at, _, size in list(whole(data))[:40]:
        lengths |= {at, at + 1, at + size - 1}
    for length in sorted(n for n in lengths if n < len(data)):
        yield "cut after %d bytes" % length, data[:length]


def flips(data, places):
    for at in places:
        yield "byte %#x flipped" % at, data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:]


def record_bytes(data):
    seen = set()
    for at, kind, size in whole(data):
        if kind not in seen:
            seen.add(kind)
            yield from range(at, at + min(size, MAX_RECORD_BYTES))


def pipe_cuts(data):
    for length in sorted(set(range(0, 40)) | set(range(0, len(data), max(1, len(data) // 60)))):
        yield "cut after %d bytes" % length, data[:length]


VARIANTS = {
    "cut": cuts,
    "header": lambda data: flips(data, range(HEADER)),
    "records": lambda data: flips(data, record_bytes(data)),
    "pipe": pipe_cuts,
}


def complaint(done, name):
    if done.returncode not in (0, 125):
        return "status %d" % done.returncode
    if re.search(r"runtime error|Sanitizer", done.stderr):
        return "sanitizer"
    if done.returncode and not re.search(r"^pstat: .*%s" % re.escape(name), done.stderr, re.M):
        return "fails without a message about the file"
    return None


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write_all(folder, paths):
    """FOLDER gets each variant as a file. A pipe's header has no room for where the data is."""
    os.mkdir(folder)
    for path in paths:
        data = read(path)
        is_pipe = struct.unpack_from("<Q", data, 8)[0] < HEADER
        for kind in ("pipe",) if is_pipe else ("cut", "header", "records"):
            for n, (_, variant) in enumerate(VARIANTS[kind](data)):
                with open(os.path.join(folder, "%s.%s.%d" % (os.path.basename(path), kind, n)), "wb") as file:
                    file.write(variant)


def main():
    if sys.argv[1] == "write":
        write_all(sys.argv[2], sys.argv[3:])
        return
    pstat, every, kind, path = sys.argv[1], int(sys.argv[2]), *sys.argv[3:5]
    commands = [words.split() for words in sys.argv[5:]]
    n, n_failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        spoilt = os.path.join(folder, "spoilt.data")
        for what, variant in itertools.islice(VARIANTS[kind](read(path)), 0, None, every):
            with open(spoilt, "wb") as file:
                file.write(variant)
            words, n = commands[n % len(commands)], n + 1
            try:
                done = subprocess.run([pstat, *words, "-i", spoilt], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120,
                                      errors="replace")
            except subprocess.TimeoutExpired:
                print("%s: pstat %s does not end" % (what, " ".join(words)))
                n_failed += 1
                continue
            wrong = complaint(done, "spoilt.data")
            if wrong:
                print("%s: pstat %s: %s\n%s" % (what, " ".join(words), wrong, done.stderr[:2000]))
                n_failed += 1
    print("%d variants, %d wrong" % (n, n_failed))
    sys.exit(1 if n_failed or not n else 0)


main()
