#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows of `pstat diff` beside those of `perf diff`.

	diff_rows.py same PSTAT FILE... OPTION...    same rows with the same numbers; prints "ok" or what differs

Columns that perf lacks are not compared: Low, High, Verdict, and those that a filter leaves with one value. perf fills
columns with blanks, and has no order where values agree, so rows are compared as a set. Code without a name is one row
of its file for perf, and a row for each function for pstat; PLT entries have all names in pstat, and for perf some are
_init, @plt or an address: these are left out. So is a column in which perf divides by the samples of a recording that has
none, as in a span of time on a busy machine: nan. Functions with several names are made alike, see verdicts.py."""
import os
import re
import subprocess
import sys

import verdicts


def columns(dots):
    """(start, end) of each column, by the line of dots."""
    return [m.span() for m in re.finditer(r"\.+", dots)]


def rows(text):
    """Per event a dictionary of head and cell for each row."""
    tables, heads, spans, lines = {}, [], [], text.split("\n")
    event = None
    for i, line in enumerate(lines):
        if line.startswith("# Event '"):
            event = line
            tables[event] = []
        elif line.startswith("# ") and re.fullmatch(r"# [. ]+", line) and "." in line:
            spans = columns(line)
            heads = [lines[i - 1][a:b].strip() for a, b in spans]
        elif line and not line.startswith("#") and event:
            cells = [line[a:b if k + 1 < len(spans) else None].strip() for k, (a, b) in enumerate(spans)]
            row = {head: plain(head, cell) for head, cell in zip(heads, cells)}
            if not any(head.startswith("Symbol") and len(cell) == 3 for head, cell in row.items()):
                tables[event].append(row)
    return tables


def only(table, heads):
    return sorted(tuple(row[head] for head in heads) for row in table)


def plain(head, cell):
    cell = re.sub(r"\s+", " ", cell)
    if head.startswith("Symbol") and re.match(r"\[.\] (0x|\[|(_init|\S*@plt)$)", cell):
        return cell[:3]
    if head.startswith("Symbol"):
        cell = verdicts.one_name(cell)
    return "0" if cell in ("-0.00%", "+0.00%") else cell


def output(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, LC_ALL="C"),
                          check=False)
    return done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def same(pstat, words):
    ours, why = output([pstat, "diff"] + words + ["--no-renames"])
    theirs, _ = output(["perf", "diff"] + words)
    ours, theirs = rows(ours), rows(theirs)
    if not any(theirs.values()) and any(ours.values()):
        sys.exit("perf has no rows, pstat has %d" % sum(map(len, ours.values())))
    if not any(ours.values()) and any(theirs.values()):
        sys.exit("pstat has no rows: %s" % why)
    for event in theirs:
        heads = list(theirs[event][0]) if theirs[event] else []
        heads = [head for head in heads if not any(re.fullmatch("[+-]?nan%", row[head]) for row in theirs[event])]
        lacking = [head for head in heads if head not in ours[event][0]]
        if lacking:
            sys.exit("pstat lacks the columns %s" % lacking)
        perf, own = only(theirs[event], heads), only(ours[event], heads)
        missing = [r for r in perf if r not in own]
        more = [r for r in own if r not in perf]
        if missing or more or len(perf) != len(own):
            sys.exit("%s\nonly perf: %s\nonly pstat: %s" % (event, missing[:5], more[:5]))
    print("ok %d rows" % sum(map(len, theirs.values())))


if __name__ == "__main__":
    same(sys.argv[2], sys.argv[3:])
