#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What annotate prints, for annotate.sh.

annotate.py same PERF PSTAT     each function in the first text is in the second, with the same events, the same
                                instructions (by address) and the same numbers in front of each; shows what differs
annotate.py functions FILE      how many functions and instructions there are in a text
"""
import re
import sys

TITLE = re.compile(r"^ (?:Percent|Samples|Period) *\|\tSource code & Disassembly of (.*) for (.*) \((\d+) samples, (.*)\)$")
START = re.compile(r"^ *: *(?:\d+ +)?([0-9a-f]{8,16}) <(.*)>:")
INSTRUCTION = re.compile(r"^((?: +[\d.]+)+) +: +([0-9a-f]+):\s+\S")


class Function:
    def __init__(self, title):
        self.title, self.start, self.name, self.instructions = title, None, None, {}


def read(path):
    """Functions in the order of the text."""
    functions = []
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            title, start, instruction = TITLE.match(line), START.match(line), INSTRUCTION.match(line)
            if title:
                functions.append(Function(title.groups()))
            elif start and functions and functions[-1].start is None:
                functions[-1].start, functions[-1].name = int(start.group(1), 16), start.group(2)
            elif instruction and functions:
                values = [float(value) for value in instruction.group(1).split()]
                functions[-1].instructions[int(instruction.group(2), 16)] = values
    return functions


def differences(perf, pstat):
    titles = zip(("file", "samples", "percentages"), *([f.title[i] for i in (0, 2, 3)] for f in (perf, pstat)))
    for name, a, b in titles:
        if a != b:
            yield "%s: %s, %s" % (name, a, b)
    # What perf shows behind a function's end belongs to the next one.
    for address in sorted(set(perf.instructions) | set(pstat.instructions)):
        a, b = perf.instructions.get(address), pstat.instructions.get(address)
        if a is None or b is None:
            yield "%x: %s" % (address, "perf has no such instruction" if a is None else "pstat has no such instruction")
        elif len(a) != len(b) or any(abs(x - y) > 0.0051 for x, y in zip(a, b)):
            yield "%x: %s, %s" % (address, a, b)


def same(perf_path, pstat_path):
    perf, bad = read(perf_path), 0
    pstat = {(f.title[0], re.sub(r"^anon group \{ | \}$", "", f.title[1]), f.start): f for f in read(pstat_path)}
    for function in perf:
        # perf has no names for the jumps of the PLT; "names of PLT entries" in pstat-script(1).
        if not function.instructions or function.name == "_init":
            continue
        key = (function.title[0], re.sub(r"^anon group \{ | \}$", "", function.title[1]), function.start)
        found = pstat.get(key)
        wrong = list(differences(function, found)) if found else ["pstat does not show it"]
        if wrong:
            bad += 1
            print("%s <%s> at %x:" % (function.title[0], function.name, function.start or 0))
            print("\n".join("  " + line for line in wrong[:10]))
    print("%d functions of perf, %d differ" % (len([f for f in perf if f.instructions]), bad))
    return 1 if bad or not perf else 0


def main(argv):
    if len(argv) == 4 and argv[1] == "same":
        return same(argv[2], argv[3])
    if len(argv) == 3 and argv[1] == "functions":
        functions = read(argv[2])
        print(len(functions), sum(len(f.instructions) for f in functions))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv))
