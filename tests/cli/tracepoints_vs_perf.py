#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracepoints_vs_perf.py OURS THEIRS: lines of `script -F event,trace` by pstat and by perf, of one recording with
nine samples of every tracepoint of this kernel. Each text must be the same but where perf is wrong, for one of
the reasons below."""
import collections
import re
import sys

# Kinds of numbers, three samples each: small ones, positive ones, any.
SAMPLES, PER_KIND, ANY = 9, 3, 2
LINE = re.compile(r"^ *([\w-]+:\w+): ?(.*)$")

# Reason; what the format must have; what perf's text must have.
REASONS = [
    ("perf can't parse the format", "", r"^\[FAILED TO PARSE\]"),
    ("perf does not know %c", "%c", ">c<"),
    ("perf shows bits as an address", r"%\*pb", ""),
    ("perf shows the low half of a %z", "%[0-9]*z", ""),
    ("perf takes the highest bit as an unknown word", "1ULL << 63", ""),
    ("perf forgets blanks beside a value without a name, or a text that is not there", r"%-?\d+s", ""),
    ("perf shifts an int by more bits than it has", "<< REC->", ""),
    ("perf takes a - b + 1 as a - (b + 1)", r"- REC->nr_data \+ 1", ""),
    ("perf loses parentheses of a < (b ? c : d)", r"\? \(\(unsigned int\)\(\(", ""),
    ("perf loses parentheses of a & (b | c)", r"REC->flags & \(0x", ""),
    ("perf takes a word in a table as 0", r"\{[^{},\"]*[A-Z_]{4}[^{},\"]*,", ""),
]
SIGNED = re.compile(r"field:[^;\[]* (?!common_)\w+;\toffset:\d+;\tsize:\d+;\tsigned:1;")


def texts(path):
    """[event, text] of each sample; a text may have gone on over several lines."""
    found = []
    with open(path, "rb") as file:
        for line in file.read().decode(errors="backslashreplace").split("\n"):
            match = LINE.match(line)
            if match:
                found.append([match[1], match[2]])
            elif found and line:
                found[-1][1] += "\n" + line
    return found


def printable(text):
    """As pstat writes what is not to be seen."""
    return "".join(c if c >= " " and c != "\x7f" else "\\x%02x" % ord(c) for c in text.rstrip("\n"))


def reason(event, theirs, kind):
    with open("/sys/kernel/tracing/events/%s/format" % event.replace(":", "/")) as file:
        fields, _, print_fmt = file.read().partition("print fmt: ")
    for why, in_format, in_text in REASONS:
        if re.search(in_format, print_fmt) and re.search(in_text, theirs):
            return why
    if kind == ANY and SIGNED.search(fields):
        return "perf takes numbers below 0 as great ones"
    return None


def main():
    ours, theirs = texts(sys.argv[1]), texts(sys.argv[2])
    if not ours or [x[0] for x in ours] != [x[0] for x in theirs]:
        sys.exit("%d and %d texts, or not of the same events" % (len(ours), len(theirs)))
    same, why, wrong = 0, collections.Counter(), []
    for i, (mine, other) in enumerate(zip(ours, theirs)):
        if mine[1] == printable(other[1]):
            same += 1
            continue
        because = reason(mine[0], other[1], i % SAMPLES // PER_KIND)
        why[because] += 1
        if not because:
            wrong.append("%s\n    pstat: %s\n    perf:  %s" % (mine[0], mine[1], other[1]))
    print("%d texts of %d tracepoints: %d the same" % (len(ours), len(ours) // SAMPLES, same))
    for because, n in why.most_common():
        print("%6d %s" % (n, because))
    print("\n".join(wrong[:10]))
    sys.exit(1 if wrong or same < 0.9 * len(ours) else 0)


main()
