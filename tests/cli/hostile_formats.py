#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile_formats.py PSTAT RECORDING: whole recordings whose first format has another text behind "print fmt: ",
through `pstat script` and `pstat report -s trace`. Each line: the text, then what both made of it, which is
known. What is not understood is shown field by field."""
import os
import subprocess
import sys
import tempfile

FIELDS = '[FAILED TO PARSE] comm=first number=1 small= 0 state=0 big=1 bits=0 path=/a'
# What is behind "print fmt: ", and what the first sample's text is then; None: its fields.
FORMATS = [
    # As mutation found them: each ended a pstat that let a library parse and print these.
    ('"%s", R%p->comm', None),
    ('"%d", RE/0>number', '0'),
    ('"%d", 1/0', '0'),
    ('"%d", 1%0', '0'),
    ('"%s", __print_symbolic(REC->number, { 1/0, "x" }, { 0, "null" })', '0x1'),
    ('"%d", REC->number / (0x0%s00000)', '0'),
    ('"%d", 0x0%s00000', '0'),
    ('"%d", 0x10%word', '0'),
    ('"%s", __print_flags(REC->nu%.*mber & 3, "|", { 1, "READ" })', None),
    ('"%s", __print_flags(REC->number & , "|", { 1, "READ" })', None),
    ('"%d", REC->number?1:EC->small', None),
    ('"%s", REC->number ? "a"', None),
    ('"%s", REC->number ? : "a"', None),
    ('"%d", REC->number ? 1 : ', None),
    # Arithmetic that C leaves undefined.
    ('"%d", REC->small / REC->small', '0'),
    ('"%d", REC->number % REC->small', '0'),
    ('"%lld", (-0x7fffffffffffffffLL - 1) / -REC->number', '-9223372036854775808'),
    ('"%d", (-0x7fffffffffffffffLL - 1) % -REC->number', '0'),
    ('"%d %d", (-2147483647 - 1) / -REC->number, 7 / 0', '-2147483648 0'),
    ('"%d %d", 1 << REC->big * 64, 1 >> REC->big * 64', '0 0'),
    ('"%d", REC->number << -REC->number', '0'),
    # Elements and bytes that are not there.
    ('"%d", REC->comm[16]', '0'),
    ('"%d", REC->comm[-REC->number]', '0'),
    ('"%d", REC->comm[0xffffffffffffffff]', '0'),
    ('"%d", REC->number[0]', None),
    ('"%d", REC->nothing', None),
    ('"%.*s.", -REC->number, REC->comm', 'first.'),
    ('"%.*s.", REC->number, REC->comm', 'f.'),
    ('"%s", __get_str(comm)', None),
    ('"%s", __get_str(path', None),
    ('"%pI6", REC->number', 'INVALIDIPv6'),
    ('"%pM", REC->number + 1', None),
    # Texts that do not end, conversions without an argument, or of a kind that writes.
    ('"%s", "', None),
    ('"%s', None),
    ('"%s\\', None),
    ('"%', None),
    ('"%s"', None),
    ('"%n", REC->big', None),
    ('"%999999999d", REC->number', None),
    ('"%*d", 1 << 30, REC->number', None),
    ('', None),
    # Deep and long.
    ('"%d", ' + 50 * '(' + '1' + 50 * ')', '1'),
    ('"%d", ' + 120 * '(' + '1' + 120 * ')', None),
    ('"%d", ' + 250 * '-', None),
    ('"%d", ' + 125 * '-~' + '1', None),
    ('"%d", ' + 80 * '1?' + '1' + 80 * ':', None),
    ('"%d", ' + '+'.join(120 * ['1']), '120'),
    ('"%d", REC->number' + 240 * '[', None),
]
# Too long for all of it to be compared: its first letters are.
FORMATS[[f[0] for f in FORMATS].index('"%*d", 1 << 30, REC->number')] = ('"%*d", 1 << 30, REC->number', ' ' * 4095 + '1')


def recording_with(whole, text):
    start = whole.index(b"print fmt: ") + len(b"print fmt: ")
    end = whole.index(b"\n", start)
    text = text.encode().ljust(end - start)
    if len(text) > end - start:
        sys.exit("the text is longer than the place for it: %d > %d" % (len(text), end - start))
    return whole[:start] + text + whole[end:]


def said(pstat, words, path):
    done = subprocess.run([pstat] + words + ["-i", path, "--kallsyms", "/dev/null"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def wrong(pstat, path, expected):
    status, out, err = said(pstat, ["script", "-F", "trace"], path)
    if status or err or out.split("\n")[0].strip() != expected.strip():
        return "script: status %d, %r instead of %r, %s" % (status, out.split("\n")[0][:200], expected, err[:300])
    status, out, err = said(pstat, ["report", "-s", "trace", "--stdio"], path)
    if status or err or not any(line.split("%")[-1].strip() == expected.strip() or expected.strip() in line
                                for line in out.split("\n")):
        return "report: status %d, %r, no %r, %s" % (status, out[:1000], expected, err[:300])
    return None


def main():
    pstat, recording = sys.argv[1:3]
    with open(recording, "rb") as file:
        whole = file.read()
    n_wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "hostile.data")
        for text, expected in FORMATS:
            with open(path, "wb") as file:
                file.write(recording_with(whole, text))
            complaint = wrong(pstat, path, FIELDS if expected is None else expected)
            if complaint:
                print("print fmt: %s: %s" % (text, complaint))
                n_wrong += 1
    print("%d formats, %d wrong" % (len(FORMATS), n_wrong))
    sys.exit(1 if n_wrong else 0)


main()
