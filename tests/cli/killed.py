# SPDX-License-Identifier: MIT
"""killed.py PSTAT PERF FIRST PAGES AT_LEAST FILE...: is all there that a killed recorder had written?

It was recording `exact marks`, whose first page is at FIRST ("" where it was killed before that was told), with PAGES
in all. What the FILEs hold, in their order, is compared with what is read by PSTAT and by PERF ("" where there is
none), and must be these pages from the first on, without a gap that no LOST record tells of, and AT_LEAST so many.
PSTAT may read more than the header counts (what the recorder wrote last), perf may not. Of each file PSTAT says one
line at most.

Prints what does not hold, and as the last line how many marks there are. Without PSTAT it only counts them.
"""
import re
import subprocess
import sys

import taken

PAGE_BYTES = 4096


def addresses_by(program, path):
    """The addresses of its samples as the program has them; says it where it fails."""
    done = subprocess.run([program, "script", "-F", "addr", "-i", path], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = done.stderr.decode(errors="replace").strip().split("\n")
    if done.returncode:
        print("%s: %s script: status %d: %s" % (path, program, done.returncode, said[-1]))
    elif program == pstat and len(said) > 1:
        print("%s: %s says more than one line:\n%s" % (path, program, "\n".join(said)))
    return [int(line, 16) for line in re.findall(rb"^ *([0-9a-f]+) *$", done.stdout, re.M)]


def look(path):
    """(addresses, records that were lost) of one file; says where a reader has less, or has something else."""
    written, lost = taken.Recording(path).addresses()
    if not pstat:
        return written, lost
    read = addresses_by(pstat, path)
    if read[:len(written)] != written:
        print("%s: %d samples are written, %s reads %d" % (path, len(written), pstat, len(read)))
    if perf:
        by_perf = addresses_by(perf, path)
        if by_perf != written:
            print("%s: %d samples are written, perf reads %d" % (path, len(written), len(by_perf)))
    return read, lost


def no_gap(marks, lost):
    if marks and marks[0] != first:
        print("the first mark is missing")
    steps = [(b - a) // PAGE_BYTES for a, b in zip(marks, marks[1:])]
    if any(step < 1 for step in steps):
        print("marks are not in order")
    gaps = sum(step - 1 for step in steps if step > 1)
    if gaps > lost:
        print("%d marks are missing between others, %d records are said to be lost" % (gaps, lost))
    if len(marks) + lost < int(at_least):
        print("%d marks, at least %s were written" % (len(marks), at_least))


def main():
    marks, lost = [], 0
    for path in files:
        addresses, lost_here = look(path)
        marks += [a for a in addresses if first <= a < first + int(pages) * PAGE_BYTES]
        lost += lost_here
    if pstat:
        no_gap(marks, lost)
    print(len(marks))


pstat, perf, base, pages, at_least, *files = sys.argv[1:]
first = int(base, 16) if base else 1 << 64
main()
