#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""first_screen.py PSTAT PERF RECORDING: how long until the browser of report shows all of the recording, beside perf's,
on a pseudo terminal; and how long each key takes to be answered, with all rows unfolded and without. Ends with
the number of promises that were missed.

A screen is there when it has rows and its status line says no more that it reads; perf's when it has a title, which
comes with the rows. A key is answered when the program sleeps again and all it wrote has been read."""
import os
import re
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from pty_screen import KEYS, LIMIT_S, Terminal # noqa: E402

LINES, COLUMNS, ROUNDS = 50, 160, 5
AT_MOST, KEY_MS = 0.15, 50
# Behind each other; what is typed is taken back.
PRESSED = ("Down PgDn End Home Enter e c E Down PgDn End Home g g x x y y N p F / c a l l Esc d Left n Left s Left u Enter Left C "
           "? q ! q Right Left w w").split()


def first_screen(command, seen):
    terminal = Terminal(LINES, COLUMNS, command)
    if not terminal.until(seen):
        sys.exit("first_screen: %s\n%s" % (" ".join(command), "\n".join(terminal.cells.text())))
    return terminal, time.monotonic() - terminal.begun


def ours(lines):
    return re.match(r"\? help(?!.*: reading)", lines[-1]) and any("%" in line for line in lines[2:-1])


def theirs(lines):
    return any(re.match(r"Samples: .* of event", line) for line in lines)


def answered(terminal, key):
    """ms; a key that changes nothing on the screen is answered when the program has read it and sleeps."""
    terminal.settle(time.monotonic() + LIMIT_S)
    begun = time.monotonic()
    terminal.press_now(KEYS.get(key, key))
    came = last = begun
    while time.monotonic() - last < 0.03 or terminal.is_busy():
        if terminal.read(0.001) or terminal.is_busy():
            came = last = time.monotonic()
    return 1000 * (came - begun)


def main():
    pstat, perf, recording = sys.argv[1:]
    took = {"pstat": [], "perf": []}
    for _ in range(ROUNDS):
        terminal, seconds = first_screen([pstat, "report", "-i", recording], ours)
        took["pstat"].append(1000 * seconds)
        terminal.kill()
        terminal, seconds = first_screen([perf, "report", "--tui", "-i", recording], theirs)
        took["perf"].append(1000 * seconds)
        terminal.kill()
    mine, other = (statistics.median(took[name]) for name in ("pstat", "perf"))
    missed = mine > AT_MOST * other
    print("%-40s %-6s %7.2f ms  %7.2f ms  %7.3f %7.2f  %s" % (
        "report: first screen, 500,000 samples", "wall", mine, other, mine / other, AT_MOST,
        "MISSED" if missed else "kept"))
    terminal, _ = first_screen([pstat, "report", "-i", recording], ours)
    times = [(answered(terminal, key), key) for key in PRESSED]
    terminal.kill()
    slowest, key = max(times)
    print("%-40s %-6s %7.2f ms at most (%s), %.2f in the middle; promised: %d  %s" % (
        "report: %d keys in the browser" % len(times), "wall", slowest, key,
        statistics.median(ms for ms, _ in times), KEY_MS, "MISSED" if slowest > KEY_MS else "kept"))
    sys.exit(missed + (slowest > KEY_MS))


if __name__ == "__main__":
    main()
