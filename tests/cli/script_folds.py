#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the text of `pstat script` and `perf script` as the tools behind flame graphs do, for script_folds.sh.

script_folds.py fold                 stdin: a script's text; stdout: folded stacks, sorted: "comm;outer;inner N"
script_folds.py fold-code            the same, but chains end before a caller that is in no map, as report's do
script_folds.py check                the same, but only says how many lines it read, and fails at one that no
                                     tool would understand
script_folds.py json TEXT JSON       the lines of `script -j` say what the text of the same recording says

What the tools (stackcollapse-perf.pl, inferno, speedscope, the Firefox Profiler) expect: a line that begins
in the first columns opens a sample: command, [pid/]tid, then further columns and "event:"; lines that begin with
blanks are its frames, the innermost first: address, function, file in parentheses; an empty line ends it.
"""
import collections
import json
import os
import re
import sys

EVENT = re.compile(r"^(\S.+?)\s+(\d+)/*(\d+)*\s+")
EVENT_NAME = re.compile(r"(\d+\.\d+):\s*(\d+)*\s+(\S+?):(?=\s|$)")
FRAME = re.compile(r"^\s*(\w+)\s*(.+) \((.*)\)$")
OFFSET = re.compile(r"\+0x[0-9a-f]+$")


def function_of(text, file):
    """As they do: no offset, no semicolon; what has no name is named by its file.

    They write [[vdso]], report --folded writes [vdso].
    """
    name = OFFSET.sub("", text)
    if name == "[unknown]" and file != "[unknown]":
        name = file.rsplit("/", 1)[-1]
        name = name if name.startswith("[") else "[%s]" % name
    if file == "inlined" or name.endswith(" (inlined)"):
        name = name.replace(" (inlined)", "")
    return name.replace(";", ":")


def read_samples(lines):
    """(comm, tid, time, period, event, [(ip, function, file)])"""
    sample = None
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\n")
        if line.startswith("#"):
            continue
        if not line:
            if sample:
                yield sample
            sample = None
            continue
        event, frame = EVENT.match(line), FRAME.match(line)
        if sample is None:
            name = EVENT_NAME.search(line)
            if not event or not name:
                raise ValueError("line %d opens no sample: %r" % (number, line))
            sample = (event[1], int(event[3] or event[2]), name[1], int(name[2] or 1), name[3], [])
        elif not frame or not line.startswith("\t"):
            raise ValueError("line %d is no frame: %r" % (number, line))
        else:
            sample[5].append((frame[1], frame[2], frame[3]))
    if sample:
        raise ValueError("the last sample has no end")


KERNEL = re.compile(r"^\[(?!vdso|unknown)")


def in_code(frames):
    """What lies in no map has called nobody; where the user's first frame does, maps are not known."""
    for i in range(1, len(frames)):
        if frames[i][2] == "[unknown]":
            return frames if frames[i - 1][2] == "[unknown]" or KERNEL.match(frames[i - 1][2]) else frames[:i]
    return frames


def fold(samples, callers=lambda frames: frames):
    """Of the first event, as they do, or of $EVENT."""
    stacks, first = collections.Counter(), os.environ.get("EVENT") or None
    for comm, _, _, _, event, frames in samples:
        first = first or event
        if event != first:
            continue
        names = [function_of(name, file) for _, name, file in callers(frames)]
        stacks[";".join([comm.replace(" ", "_")] + names[::-1])] += 1
    return ["%s %d" % stack for stack in sorted(stacks.items())]


def json_frames(sample):
    """Frames of a JSON line in the form of the text."""
    frames = []
    for frame in sample["frames"]:
        name = frame.get("symbol", "[unknown]")
        if "offset" in frame:
            name += "+0x%x" % frame["offset"]
        ip = frame["ip"][2:]
        frames.append((ip, name, frame.get("dso", "[unknown]")))
    return frames


def compare(text, lines):
    """Each line is valid JSON, and says the same as the text's sample of the same number."""
    samples = [json.loads(line) for line in lines]
    texts = list(read_samples(text))
    if not texts or len(samples) != len(texts):
        raise ValueError("%d samples as text, %d as JSON" % (len(texts), len(samples)))
    for number, (want, sample) in enumerate(zip(texts, samples)):
        got = (sample["comm"], sample["tid"], "%.6f" % (int(sample["time"] * 1e9) // 1000 / 1e6), sample["period"],
               sample["event"])
        if got[:2] + got[3:] != want[:2] + want[3:5] or abs(float(got[2]) - float(want[2])) > 2e-6:
            raise ValueError("sample %d: text %s, JSON %s" % (number, want[:5], got))
        inlined = [f for f in sample["frames"] if f.get("inlined")]
        if not inlined and json_frames(sample) != want[5]:
            raise ValueError("sample %d: text %s\nJSON %s" % (number, want[5], json_frames(sample)))
        if len(sample["frames"]) != len(want[5]):
            raise ValueError("sample %d: %d frames as text, %d as JSON" % (
                number, len(want[5]), len(sample["frames"])))
    return len(samples)


def main(argv):
    what = argv[1] if len(argv) > 1 else ""
    try:
        if what == "fold":
            print("\n".join(fold(read_samples(sys.stdin))))
        elif what == "fold-code":
            print("\n".join(fold(read_samples(sys.stdin), in_code)))
        elif what == "check":
            print(len(list(read_samples(sys.stdin))))
        elif what == "json" and len(argv) == 4:
            with open(argv[2], encoding="utf-8") as text, open(argv[3], encoding="utf-8") as lines:
                print(compare(text, lines))
        else:
            sys.stderr.write(__doc__)
            return 2
    except (ValueError, KeyError) as error:
        print("%s: %s" % (type(error).__name__, error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
