#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples of README and of the manual pages, for examples.sh.

examples.py list FILE FOLDER          each example becomes FOLDER/NNN/ with four files: command, expected (what
                                      is printed below it), needs and libc (one line each); their numbers
                                      and commands are listed on stdout
examples.py sources FILE FOLDER       blocks of FILE that begin with a comment `/* NAME.c: ...` become the files NAME.c
examples.py same FILE FILE [NAME...]  the same output, but for numbers, and for the functions NAME of libc?
                                      Shows the difference, exit status 1

An example begins with a line `$ COMMAND`, in a manual page between .EX and .EE, in README in a block
that is indented by four spaces; a backslash at its end goes on to the next line. Its output goes on to
the next example or to the end of the block. A line `# needs: WORDS` before it says what it takes to get
that output (in a manual page the comment `.\\" needs: WORDS`).

A line `# libc: NAME...` before it names functions of libc that have a name only where libc's debug symbols
are installed (as a rule they are not): elsewhere they are printed by their file or address, which is then
the same as the name; nothing else is.

Numbers differ from run to run and from machine to machine: a number of any length, with its commas and
point, is the same as any other, and so are any number of spaces, and of dots from three on, K/sec and /sec: columns are
as wide as their longest name. A machine may have more CPUs than the one that printed the example: rows
that differ in their CPU, core or socket only are one. A change, its sign and the verdict on it are one as well: what
else the machine does during one of two recordings can leave nothing of it but noise.
"""
import collections
import difflib
import os
import re
import sys

PROMPT = "$ "
NEEDS = re.compile(r"^(?:\.\\\"|#) (needs|libc): (.*)$")
SOURCE = re.compile(r"^/\* (\w+\.c): ")
# Of a program's first and last samples; not of each run.
OF_STACKS = re.compile(r"(?<= stacks unwound: ).*\n(?:  larger copies .*\n)?")
# What stands for a function without a name: an address, alone or in its file.
NAMELESS = re.compile(r"\[libc[.-][\w.-]*(?:\+0x[0-9a-f]+)?\]|\b(?:0x)?[0-9a-f]{5,16} \[unknown\]|\b0x[0-9a-f]{5,16}\b")
# Samples by chance in a file without names name it: the loader, the C library, or any program of the distribution's.
NAMES_MISSING = re.compile(r"^pstat: names missing or in doubt: .*\n  install its debug package.*\n", re.M)
CHANGE = re.compile(r"[-+]N%(?: (?:certain|maybe|noise|few)\b)?")
PLACE = re.compile(r"^(?:N )?(?:CPUN|SN(?:-DN)?(?:-CN)?|NN)[, ]")
ESCAPES = {"\\-": "-", "\\e": "\\", "\\(aq": "'", "\\(dq": '"', "\\(ga": "`", "\\(ha": "^", "\\(ti": "~", "\\&": ""}


def from_roff(line):
    """A line between .EX and .EE as it is printed."""
    line = re.sub(r"\\f.", "", line)
    return re.sub(r"\\\(..|\\.", lambda m: ESCAPES.get(m.group(), m.group()), line)


def blocks(path):
    """Lists of lines, each the whole of one block of examples."""
    roff = not path.endswith("README")
    block = None
    with open(path, encoding="utf-8") as f:
        for line in f.read().split("\n"):
            if roff and line in (".EX", ".EE"):
                if block is not None:
                    yield block
                block = [] if line == ".EX" else None
            elif roff and block is not None:
                block.append(line if NEEDS.match(line) else from_roff(line))
            elif not roff and line.startswith("    "):
                block = (block or []) + [line[4:]]
            elif not roff and not line and block is not None:
                block.append("")
            elif not roff and block is not None:
                yield block
                block = None
    if block is not None:
        yield block


def joined(block):
    """The lines of a block, with commands that go on on the next line put together."""
    whole = ""
    for line in block:
        whole += line.strip() if whole else line
        if whole.startswith(PROMPT) and whole.endswith("\\"):
            whole = whole[:-1]
            continue
        yield whole
        whole = ""
    if whole:
        yield whole


def examples(path):
    """(command, output, needs) of each; needs: the lists of words by their kind."""
    for block in blocks(path):
        needs, command, output = collections.defaultdict(list), None, []
        for line in list(joined(block)) + [PROMPT]:
            words = NEEDS.match(line)
            if not words and not line.startswith(PROMPT):
                output.append(line)
                continue
            if command is not None:
                yield command, output, needs
                needs, command = collections.defaultdict(list), None
            if words:
                needs[words.group(1)].append(words.group(2))
            else:
                command, output = line[len(PROMPT):], []


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(line + "\n" for line in lines))


def write_sources(path, folder):
    for block in blocks(path):
        source = SOURCE.match(block[0])
        if source:
            os.makedirs(folder, exist_ok=True)
            write(os.path.join(folder, source.group(1)), block)


def list_examples(path, folder):
    for number, (command, output, needs) in enumerate(examples(path), 1):
        at = os.path.join(folder, "%03d" % number)
        os.makedirs(at)
        write(os.path.join(at, "command"), [command])
        write(os.path.join(at, "expected"), output)
        write(os.path.join(at, "needs"), needs["needs"])
        write(os.path.join(at, "libc"), " ".join(needs["libc"]).split())
        print("%03d %s" % (number, command))


def normal(path, libc):
    """The lines of a file with all numbers alike, and all functions libc; empty lines at both ends don't count."""
    functions = re.compile(r"\b(?:%s)\b|%s" % ("|".join(map(re.escape, libc)), NAMELESS.pattern)) if libc else None
    lines = []
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in OF_STACKS.sub("N\n", NAMES_MISSING.sub("", f.read())).strip("\n").split("\n"):
            line = functions.sub("libc's", line) if functions else line
            line = re.sub(r"\d[\d.,]*\d|\d", "N", line.strip())
            line = re.sub(r"\.{3,}", "...", re.sub(r"[ \t]+", " ", line))
            line = re.sub(r"\bN [KM]/sec", "N /sec", line)
            line = CHANGE.sub("N%", line)
            # A column between separators is filled up to its width: 100.00% leaves no room.
            line = line.replace("N% ,", "N%,")
            if not (lines and line == lines[-1] and PLACE.match(line)):
                lines.append(line)
    return lines


def same(expected, actual, libc):
    diff = list(difflib.unified_diff(normal(expected, libc), normal(actual, libc), "printed in the text",
                                     "printed by the command", lineterm=""))
    print("\n".join(diff))
    return 1 if diff else 0


def main(argv):
    if len(argv) == 4 and argv[1] == "list":
        list_examples(argv[2], argv[3])
        return 0
    if len(argv) == 4 and argv[1] == "sources":
        write_sources(argv[2], argv[3])
        return 0
    if len(argv) >= 4 and argv[1] == "same":
        return same(argv[2], argv[3], argv[4:])
    sys.stderr.write(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv))
