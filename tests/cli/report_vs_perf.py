#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`perf report --stdio` and `pstat report --stdio` of one recording, for report_vs_perf*.sh.

report_vs_perf.py same FILE OPTIONS...    both print the same text with each of the OPTIONS (one argument
                                          each, split at blanks)
report_vs_perf.py close FILE OPTIONS...   only the numbers of rows are compared: the same rows, each number
                                          within 0.3 (what has less than 1 % in both need not be there)

What is printed: see verdicts.py. The same text is either the same to the letter, but for the tip that perf
prints at the end; or the same when in both texts is made alike what pstat does otherwise by intent:
DIFFERENCES below, each named as in "DIFFERENCES FROM PERF" of pstat-report(1). FILE - is standard input, for both from ./pipe.
"""
import difflib
import itertools
import os
import re
import sys

import verdicts

PROGRAMS = {"perf": "perf", "pstat": os.environ["PSTAT"]}
# perf's inlined frames depend on how it was built; report_vs_perf.sh compares these with the truth.
ALWAYS = {"perf": ["--stdio", "--no-inline"], "pstat": ["--stdio", "--no-inline", "--no-bounds"]}
ROW = re.compile(r" {0,11}[^ |#-]")
NAMELESS = re.compile(r"( +[- |\d.%]*)(0x[0-9a-f]+)$")
NUMBER = re.compile(r"\s*([\d.]+)%?")


def no_tip(lines):
    """The tip: pstat gives none."""
    return [l for i, l in enumerate(lines) if not l.startswith("# (Tip: ") and not (
        l == "#" and any(n.startswith("# (Tip: ") for n in lines[max(0, i - 1):i + 2]))]


def no_level(lines):
    """Addresses in no map: the level of an address of user space is [.]; perf says [k]."""
    return [re.sub(r"\[k\] (0x[0-9a-e][0-9a-f]{15}|0{16})", r"[.] \1", l) for l in lines]


def no_plt_name(lines):
    """PLT entries: named all; perf says _init or @plt, or gives their addresses."""
    return [re.sub(r"\[\.\] (0x0000[0-9a-f]{12}|_init|\S*@plt)(?= *$)", "[.] ?", l) for l in lines]


def no_other_name(lines):
    """Functions with several names."""
    return [verdicts.one_name(l) for l in lines]


def no_origin(lines):
    """-v: perf has a letter for where a symbol was found."""
    return [re.sub(r"(0x[0-9a-f]+ +)[a-zA-Z!] (\[.\] )", r"\1\2", l) for l in lines]


def no_place_in_memory(lines):
    """Callers without a name: their address in the file; perf's rows have the one in memory, in the same page."""
    return [re.sub(r"\[\.\] 0x0000[0-9a-f]{9}(?=[0-9a-f]{3}\b)", "[.] 0x", l) for l in lines]


def no_inlined_rest(lines):
    """The rest of a fractal tree is no function; perf sometimes says that it is inlined."""
    return [l.replace("--[...] (inlined)", "--[...]") for l in lines]


def no_width(lines):
    """A column is as wide as its names, and some names differ."""
    return [re.sub(r"\.\.+", "..", re.sub(r"  +", " ", l)).rstrip() if l.startswith("#") or ROW.match(l)
            else l for l in lines]


def no_cut_name(lines):
    """What perf calls itself before it executes a command is cut by its column in perf's report."""
    return [re.sub(r"\bperf-exec\b", "perf-ex", l) for l in lines]


def no_ties(lines):
    """Rows of equal share: pstat's order is total; perf's depends on what else there is.

    Empty lines behind them come last: those at the table's end belong to no row.
    """
    out, share, blocks = [], None, []

    def flush():
        empty = 0
        for block in blocks:
            while not block[-1]:
                block.pop()
                empty += 1
        for block in sorted(blocks):
            out.extend(block)
        out.extend([""] * empty)
        blocks.clear()

    for line in lines + ["#"]:
        row = ROW.match(line) and NUMBER.match(line)
        if line.startswith("#") or (row and row.group(1) != share):
            flush()
            share = row.group(1) if row else None
        if row:
            blocks.append([line])
        elif blocks:
            blocks[-1].append(line)
        else:
            out.append(line)
    return out[:-1]


def no_plt_row(lines):
    """PLT entries: a row each; perf's _init has the samples of several in one. Their trees go with them."""
    out, inside = [], False
    for line in lines:
        if line.startswith("#") or ROW.match(line):
            inside = line.endswith("[.] ?")
        if not inside:
            out.append(line)
    return out


DIFFERENCES = (no_level, no_plt_name, no_other_name, no_origin, no_place_in_memory, no_inlined_rest, no_width, no_cut_name, no_ties, no_plt_row)


def unwound_caller(perf, pstat):
    """In a tree, an address out of sampled stacks: the return address, as in other chains; perf takes 1 off."""
    perf, pstat = NAMELESS.match(perf), NAMELESS.match(pstat)
    return perf and pstat and perf[1] == pstat[1] and int(perf[2], 16) + 1 == int(pstat[2], 16)


def is_cut(perf, pstat):
    """A name at a row's end that perf cuts at its column's width: that of what the thread was called before."""
    return ROW.match(perf) and len(perf.split(" ")[-1]) >= len("Command") and pstat.startswith(perf)


def printed(program, path, options):
    status, text, said = verdicts.run(PROGRAMS[program], path, ["report", "-i", path] + ALWAYS[program] + options)
    if not any(ROW.match(l) for l in text.split("\n")) and not status and verdicts.may_be_empty(options):
        return ["no row"]
    if status or not any(ROW.match(l) for l in text.split("\n")):
        raise ValueError("%s: status %d, %d bytes on stdout\n%s" % (program, status, len(text), said))
    return no_tip(text.split("\n"))


def same(perf, pstat):
    if perf == pstat:
        return []
    for make_alike in DIFFERENCES:
        if perf != pstat:
            perf, pstat = make_alike(perf), make_alike(pstat)
    perf[:] = [b if unwound_caller(a, b) or is_cut(a, b) else a for a, b in itertools.zip_longest(perf, pstat, fillvalue="")][:len(perf)]
    return list(difflib.unified_diff(perf, pstat, "perf", "pstat", lineterm="", n=1))


def table(lines):
    """{names of a row: its numbers}"""
    rows = {}
    for line in no_width(no_plt_name(no_level(lines))):
        words = line.split()
        if ROW.match(line) and words:
            numbers = [w for w in words if re.fullmatch(r"[\d.]+%?", w)]
            names = " ".join(w for w in words if w not in numbers)
            old = rows.get(names, [0.0] * len(numbers))
            rows[names] = [o + float(n.rstrip("%")) for o, n in zip(old, numbers)]
    return rows


def close(perf, pstat):
    perf, pstat = table(perf), table(pstat)
    bad = []
    for names in sorted(set(perf) | set(pstat)):
        a, b = perf.get(names), pstat.get(names)
        a, b = a or [0.0] * len(b), b or [0.0] * len(a)
        if max(a + b) >= 1 and any(abs(x - y) > 0.3 for x, y in zip(a, b)):
            bad.append("%s: perf %s, pstat %s" % (names, a, b))
    return bad if perf else ["perf has no rows"]


def main(argv):
    how = {"same": same, "close": close}.get(argv[1]) if len(argv) > 3 else None
    if not how:
        sys.stderr.write(__doc__)
        return 2
    verdicts.print_all(how, lambda program, options: printed(program, argv[2], options), argv[3:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
