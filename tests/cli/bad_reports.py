#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bad_reports.py PSTAT recordings|elf|kallsyms|jit_dump|formats [TIMES]: spoils the golden recordings, an ELF
file that they are about, the kernel's names, a JIT dump, or the formats of tracepoints, and reports. What must hold, whatever is in the files: pstat ends by itself,
soon, with 0 or 125; it is 125 only with a message about the recording; no sanitizer report; standard
output is text for a terminal, JSON where that was asked for, folded lines with a number each. Prints what
does not hold; exit 1 if anything. Runs in tests/golden; the choice of places is the same each time (TIMES as many
are for a long search by hand). bad_reports.py PSTAT write_jit_dump writes that dump."""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

N_CUTS, N_FLIPS, TIME_LIMIT_S = 150, 150, 300
NAMES = ["--symfs", "symfs", "--kallsyms", "kallsyms"]
COMMANDS = ["report", "script", "report --folded", "script -j", "report -j", "report --mem-mode", "script -F +brstacksym",
            "report -b", "report --hierarchy -v", "report --tasks", "report -t ,"]
# Control characters, and what turns the direction of writing.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def wrong_output(words, text):
    if UNPRINTABLE.search(text):
        return "control characters in the output"
    if "-j" in words:
        try:
            for line in [text] if words[0] == "report" else text.splitlines():
                if line.strip():
                    json.loads(line)
        except ValueError as e:
            return "not JSON: %s" % e
    if "--folded" in words:
        for line in text.splitlines():
            if not re.fullmatch(r".*\S \d+", line):
                return "not a folded line: %r" % line
    return None


def complaint(pstat, words, recording, names):
    """What is wrong with one run, or None."""
    try:
        done = subprocess.run([pstat, *words, "-i", recording, *names], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        return "does not end"
    try:
        out, err, wrong = done.stdout.decode(), done.stderr.decode(), None
    except UnicodeDecodeError as e:
        return "not UTF-8: %s" % e
    # 129: the spoilt recording has no such fields; that is said
    if done.returncode not in (0, 125, 129):
        wrong = "status %d" % done.returncode
    elif re.search(r"runtime error|Sanitizer", err):
        wrong = "sanitizer"
    elif done.returncode and not re.search(r"^pstat: .", err, re.M):
        wrong = "fails without a message"
    elif UNPRINTABLE.search(err):
        wrong = "control characters in the messages"
    else:
        wrong = wrong_output(words, out)
    return wrong and "%s\n%s" % (wrong, err[:2000])


def spoilt(contents):
    """(what, bytes): cuts at multiples of 7, and flipped bytes, spread over all files."""
    cuts = [(name, at) for name, data in contents for at in range(0, len(data), 7)]
    chance = random.Random(7)
    for name, at in chance.sample(cuts, min(N_CUTS, len(cuts))):
        yield "%s cut after %d bytes" % (name, at), dict(contents)[name][:at]
    for _ in range(N_FLIPS):
        name, data = chance.choice(contents)
        data, places = bytearray(data), [chance.randrange(len(data)) for _ in range(chance.randint(1, 4))]
        for at in places:
            data[at] = chance.choice((data[at] ^ 1 << chance.randrange(8), 0, 0xff, chance.randrange(256)))
        yield "%s changed at %s" % (name, places), bytes(data)


def read(paths):
    contents = []
    for path in paths:
        with open(path, "rb") as file:
            contents.append((path, file.read()))
    return contents


def recordings(folder):
    path = os.path.join(folder, "spoilt.data")
    yield from ((what, data, path, path, NAMES)
                for what, data in spoilt(read(sorted(f for f in os.listdir(".") if f.endswith(".data")
                                                     and os.path.isfile(f)))))


def elf(folder):
    symfs = os.path.join(folder, "symfs")
    shutil.copytree("symfs", symfs)
    names = ["--symfs", symfs, "--kallsyms", "kallsyms"]
    yield from ((what, data, os.path.join(symfs, "opt/golden/strange"), "hostile_names.data", names)
                for what, data in spoilt(read(["symfs/opt/golden/strange"])))


def kallsyms(folder):
    path = os.path.join(folder, "kallsyms")
    yield from ((what, data, path, "kernel_and_module.data", ["--symfs", "symfs", "--kallsyms", path])
                for what, data in spoilt(read(["kallsyms"])))


def made_jit_dump():
    """Two functions of jit_code.data, one moved over the other's place, debug lines; its end."""
    def record(kind, body):
        return struct.pack("<IIQ", kind, 16 + len(body), 5) + body

    def load(address, index, name):
        code = b"\xc3" * 0x100
        return record(0, struct.pack("<IIQQQQ", 4200001, 4200001, address, address, len(code), index) + name + code)

    return (struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 4200001, 1, 0) + load(0x10000100, 1, b"jitted\0") +
            load(0x10000200, 2, b"\x1b[2J\n\0") +
            record(1, struct.pack("<IIQQQQQ", 4200001, 4200001, 0x10000300, 0x10000200, 0x10000300, 0x100, 2)) +
            record(2, struct.pack("<QQQII", 0x10000100, 1, 0x10000100, 1, 0) + b"x.js\0\0\0\0") + record(3, b""))


def jit_dump(folder):
    symfs = os.path.join(folder, "symfs")
    shutil.copytree("symfs", symfs)
    os.mkdir(os.path.join(symfs, "tmp"))
    path = os.path.join(symfs, "tmp/jit-4200001.dump")
    yield from ((what, data, path, "jit_code.data", ["--symfs", symfs, "--kallsyms", "kallsyms"])
                for what, data in spoilt([("jit dump", made_jit_dump())]))


def formats(folder):
    path = os.path.join(folder, "spoilt.data")
    for name, whole in read(["tracepoints.data", "tracepoints_unfit.data"]):
        # The section is in the middle: what is cut off becomes zeros.
        start, end = whole.index(b"\x17\x08\x44tracing"), whole.index(b"pfn_to_page") + 60
        for what, data in spoilt([(name, whole[start:end])]):
            yield what, whole[:start] + data.ljust(end - start, b"\0") + whole[end:], path, path, NAMES


def main():
    global N_CUTS, N_FLIPS
    pstat, kind = sys.argv[1:3]
    if kind == "write_jit_dump":
        sys.stdout.buffer.write(made_jit_dump())
        return
    if kind != "recordings":
        N_CUTS, N_FLIPS = 30, 30
    if len(sys.argv) > 3:
        N_CUTS, N_FLIPS = N_CUTS * int(sys.argv[3]), N_FLIPS * int(sys.argv[3])
    n, n_failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for what, data, path, recording, names in globals()[kind](folder):
            with open(path, "wb") as file:
                file.write(data)
            words, n = COMMANDS[n % len(COMMANDS)].split(), n + 1
            wrong = complaint(pstat, words, recording, names)
            if wrong:
                print("%s: pstat %s: %s" % (what, " ".join(words), wrong))
                n_failed += 1
    print("%d variants, %d wrong" % (n, n_failed))
    sys.exit(1 if n_failed or not n else 0)


main()
