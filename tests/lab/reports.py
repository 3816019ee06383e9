#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Usage: reports.py PSTAT LAB: what PSTAT on this machine says of the recordings that the guest brought out
(LAB/out, by guest/report.sh), beside what Debian's perf said of them in the guest, and what the programs
know of themselves. For tests/lab/reports.sh: a line `ok<TAB>NAME` for each check, the path of a file with
what is wrong in place of ok, or `skip<TAB>WHY`. The table of figures is appended to LAB/table.files.

Of each recording the samples are compared one by one: their header, and each frame's address, name, offset
and file; and the rows of the report, with their shares. What differs by intent:

- return addresses: perf shows those that it unwinds from stacks less one, and the one that it adds to frame
  pointers from the link register; pstat shows all as they are
- the link register: where its function has saved it, perf may add it nevertheless, and so have a caller twice, or
  a place in the same function to which an earlier call has returned
- a call at a function's end returns to the next function, or to no function: perf names that, pstat the one that called
- addresses without a name: perf's rows have them as the process did when they are callers, and as in the
  file when they are sampled; pstat's always as in the file
- the level of an address that is in no map: [.] for pstat, [k] for perf

The code of each function is annotated here, where the guest's files are: each instruction has the samples that perf
found at its address in the guest.
"""
import collections
import os
import re
import subprocess
import sys

PSTAT, LAB = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
OUT = os.path.join(LAB, "out")
FIELDS = "comm,pid,tid,time,period,event,ip,sym,symoff,dsoff"
FRAME = re.compile(r"\s+([0-9a-f]+) (.*?)(?:\+0x([0-9a-f]+))? \((.*)\)$")
ROW = re.compile(r" *[0-9.]+% ")

SAME_FUNCTION = 1024 # addresses without a name that are so near are taken for one function's

Frame = collections.namedtuple("Frame", "ip name offset dso")
Sample = collections.namedtuple("Sample", "head frames")


def text(name):
    with open(os.path.join(OUT, name)) as f:
        return f.read()


def host(command, name, *options):
    """What pstat says here, with the guest's files; *_named_*: with none, as their names are in the recording."""
    files = [] if "_named_" in name else ["--symfs", os.path.join(LAB, "guest")]
    kernel = ["--kallsyms", "kallsyms"] if name.startswith("kernel") else []
    done = subprocess.run([PSTAT, command, "--no-inline", "--no-bounds", "-i", name + ".data"] + files + kernel +
                          list(options), cwd=OUT, timeout=60, env=dict(os.environ, HOME=OUT),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True)
    if done.returncode or not done.stdout.strip():
        raise ValueError("pstat %s: status %d\n%s" % (command, done.returncode, done.stderr))
    return done.stdout


def samples(script):
    """Samples without a chain have their frame in the header's line. Frames of files are by their offset there, as the
    guest's perf prints them."""
    found = []
    for line in script.split("\n"):
        frame = FRAME.match(line)
        if frame and found:
            dso, _, offset = frame.group(4).partition("+0x")
            found[-1].frames.append(Frame(int(offset or frame.group(1), 16), frame.group(2),
                                          int(frame.group(3) or "0", 16), dso))
        elif line.strip():
            found.append(Sample(re.sub(r"\+0x[0-9a-f]+\)", ")", " ".join(line.split())), []))
    return found


def returned_to(own, link):
    """Is the link register's address in the sample's own function? There a call has returned: no caller is there."""
    return own.dso == link.dso and own.name == link.name and \
        (own.name != "[unknown]" or abs(own.ip - link.ip) < SAME_FUNCTION)


def told_apart(perf, pstat, stacks):
    """None, or how the frames of one sample differ; of a sampled stack, return addresses are one less, of
    frame pointers that of the link register."""
    if not stacks:
        perf = [a for a, caller in zip(perf, perf[1:] + [None]) if not caller or a.ip != caller.ip - 1]
        if len(perf) == len(pstat) + 1 and returned_to(perf[0], perf[1]):
            del perf[1]
    if len(perf) != len(pstat):
        return "%d frames, not %d: %s, not %s" % (len(pstat), len(perf), pstat[:3], perf[:3])
    from_link = False
    for depth, (a, b) in enumerate(zip(perf, pstat)):
        less = 1 if stacks and depth else 0
        if not stacks and depth and not from_link and a.ip == b.ip - 1:
            less, from_link = 1, True
        calls_at_end = depth and not less and a.offset == 0 and (a.name != "[unknown]" or b.offset)
        if a.ip != b.ip - less or a.dso != b.dso:
            return "frame %d: %s, not %s" % (depth, b, a)
        if not calls_at_end and (a.name != b.name or a.offset != max(b.offset - less, 0)):
            return "frame %d: %s, not %s" % (depth, b, a)
    return None


def compare_samples(name):
    perf, pstat = samples(text(name + ".script")), samples(host("script", name, "-F", FIELDS))
    if len(perf) != len(pstat) or not perf:
        return ["%d samples, not %d" % (len(pstat), len(perf))]
    wrong = []
    for number, (a, b) in enumerate(zip(perf, pstat)):
        if a.head != b.head:
            wrong.append("sample %d: '%s', not '%s'" % (number, b.head, a.head))
        why = told_apart(a.frames, b.frames, name.startswith("dwarf"))
        if why:
            wrong.append("sample %d: %s" % (number, why))
    return wrong


def rows(report, renamed):
    """{command, file, name: shares}, without rows of addresses."""
    found = collections.defaultdict(list)
    for line in report.split("\n"):
        if not ROW.match(line):
            continue
        shares = re.findall(r"[0-9.]+%", line)
        words = line.split()[len(shares):]
        if not re.match("0x[0-9a-f]{16}$", words[-1]) and words[-1] not in renamed:
            found[" ".join(words)].append(" ".join(shares))
    return found


def compare_report(name):
    """Without the names that perf has from calls at a function's end, and what calls there."""
    renamed = set()
    for a, b in zip(samples(text(name + ".script")), samples(host("script", name, "-F", FIELDS))):
        if not name.startswith("dwarf"):
            renamed.update(n for x, y in zip(a.frames[1:], b.frames[1:]) if x.name != y.name for n in (x.name, y.name))
    perf = rows(text(name + ".report"), renamed)
    pstat = rows(host("report", name, "--stdio", "-g", "none"), renamed)
    if not perf:
        return ["perf has no rows"]
    return ["%s: %s, not %s" % (names, pstat.get(names), perf.get(names))
            for names in sorted(set(perf) | set(pstat)) if perf.get(names) != pstat.get(names)]


def compare_machines(name):
    """pstat here and in the guest, with chains: only where the kernel's names are looked for differs."""
    here, there = host("report", name, "--stdio", "--bounds"), text(name + ".own")
    return [] if here == there else ["here:"] + here.split("\n")[:40] + ["in the guest:"] + there.split("\n")[:40]


# ---- code ----

# What annotate prints: title, the function's start, an instruction.
TITLE = re.compile(r"^ Samples *\|\tSource code & Disassembly of (.*) for (.*) \((\d+) samples, ")
START = re.compile(r"^ *: *([0-9a-f]{8,16}) <(.*)>:")
INSTRUCTION = re.compile(r"^ +(\d+) : +([0-9a-f]+):\s+\S")


def can_annotate():
    said = subprocess.run([PSTAT, "version", "--build-options"], stdout=subprocess.PIPE, universal_newlines=True).stdout
    return re.search(r"capstone *\[ on *\] *disassembly, for pstat annotate$", said, re.M)


def compare_code(name):
    """The innermost frame of each of perf's samples, and the instructions of pstat annotate. Kernel code is not here."""
    perf = collections.Counter()
    for sample in samples(text(name + ".script")):
        event, rest = re.match(r".*?: +\d+ (\S+):(.*)", sample.head).groups()
        own = FRAME.match(rest) # samples without a chain
        frame = sample.frames[0] if sample.frames else Frame(0, own.group(2), int(own.group(3) or "0", 16), own.group(4))
        if frame.dso.startswith("/") and frame.name != "[unknown]":
            perf[event, os.path.basename(frame.dso), frame.name, frame.offset] += 1
    pstat, start, title, shown = collections.Counter(), None, None, set()
    for line in host("annotate", name, "-q", "-n", "--no-group", "--no-source").split("\n"):
        if TITLE.match(line):
            title, start = TITLE.match(line).groups(), None
        elif title and start is None and START.match(line):
            start = int(START.match(line).group(1), 16)
            function = title[1], title[0], START.match(line).group(2)
            shown.add(function)
        elif title and INSTRUCTION.match(line):
            n, address = INSTRUCTION.match(line).groups()
            if int(n):
                pstat[function + (int(address, 16) - start,)] += int(n)
    return ["%s: %s samples, not %s" % (key, pstat[key], perf[key]) for key in sorted(set(perf) | set(pstat))
            if perf[key] != pstat[key]] or ([] if shown else ["no function is shown"])


# ---- what the programs know ----

def table(*cells):
    with open(os.path.join(LAB, "table.files"), "a") as f:
        f.write("%-60s  %12s  %12s  %12s\n" % cells)


def share(report, function):
    for line in report.split("\n"):
        if ROW.match(line) and line.split()[-1] == function:
            return float(line.split()[0].rstrip("%"))
    return -1.0


def known_shares(name):
    """burn runs 10000 rounds for one_third and 20000 for two_thirds."""
    ours, perf, wrong = host("report", name, "--stdio", "-g", "none"), text(name + ".report"), []
    for function, truth in ("one_third", 100 / 3), ("two_thirds", 200 / 3), ("known", 100):
        found = share(ours, function)
        table("%s: %% in %s" % (name, function), "%.2f" % truth, "%.2f" % found, "%.2f" % share(perf, function))
        if abs(found - truth) > 0.7:
            wrong.append("%s: %.2f %%, not %.2f %%" % (function, found, truth))
    return wrong


def known_depth(name):
    """recurse calls itself twenty times, then burn."""
    folded = [line.rsplit(" ", 1)[0].split(";") for line in host("report", name, "--folded").strip().split("\n")]
    depths = {chain.count("recurse") for chain in folded if chain[-1] == "burn"}
    table(name + ": calls of recurse below burn", 21, "/".join(map(str, sorted(depths))), "/".join(map(str, sorted(
        {[f.name for f in s.frames].count("recurse") for s in samples(text(name + ".script"))
         if s.frames and s.frames[0].name == "burn"}))))
    return [] if depths == {21} else ["depths: %s" % depths]


def known_links(name):
    """One sample, at the first instruction of link5."""
    truth = ["link5", "link4", "link3", "link2", "link1", "main"]
    got, perf = ([[f.name for f in s.frames][:6] for s in samples(script)]
                 for script in (host("script", name, "-F", FIELDS), text(name + ".script")))
    table(name + ": callers of link5 known", 5, *(len([f for f in chains[0][1:] if f in truth]) for chains in (got, perf)))
    return [] if len(got) == 1 and got[0][:len(truth)] == truth else ["%s, not %s" % (got, truth)]


def known_ratio(name):
    """An instruction takes two cycles: so many of these stand in each sample of the group."""
    truth = {"cycles:u:": {"5000000"}, "instructions:u:": {"2500000"}}
    pstat, perf = ({event: set(re.findall(r"(\d+) +" + event, script)) for event in truth}
                   for script in (host("script", name, "-F", FIELDS), text(name + ".script")))
    table(name + ": instructions in a sample of 5000000 cycles", 2500000,
          *("/".join(sorted(said["instructions:u:"])) for said in (pstat, perf)))
    return [] if pstat == truth else ["%s, not %s" % (pstat, truth)]


# By the beginning of a recording's name.
KNOWN = (
    ("fp_known", "one third and two thirds", known_shares),
    ("dwarf_known", "one third and two thirds", known_shares),
    ("fp_named", "one third and two thirds", known_shares),
    ("dwarf_named", "one third and two thirds", known_shares),
    ("fp_recursive", "as deep as it is", known_depth),
    ("dwarf_recursive", "as deep as it is", known_depth),
    ("live_known", "one third and two thirds", known_shares),
    ("live_recursive", "as deep as it is", known_depth),
    ("live_chain", "each link", known_links),
    ("fp_leaf", "one third and two thirds", known_shares),
    ("fp_chain", "each link", known_links),
    ("dwarf_chain", "each link", known_links),
    ("group", "instructions in each sample", known_ratio),
)
CHECKS = (
    ("samples as perf reads them", compare_samples),
    ("shares as perf reports them", compare_report),
    ("the same text as in the guest", compare_machines),
)
CODE = ("samples of each instruction, as perf found them", compare_code)


def main():
    open(os.path.join(LAB, "table.files"), "w").close()
    table("", "truth", "pstat, host", "perf, guest")
    checks = CHECKS + (CODE,) if can_annotate() else CHECKS
    if not can_annotate():
        print("skip\t" + CODE[0] + ": needs capstone")
    for name in sorted(f[:-5] for f in os.listdir(OUT) if f.endswith(".data")):
        known = tuple(row[1:] for row in KNOWN if name.startswith(row[0]))
        # The code itself is not in the recording.
        for number, (what, check) in enumerate((CHECKS if "_named_" in name else checks) + known):
            try:
                wrong = check(name)
            except (OSError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
                wrong = str(error).split("\n")
            verdict = "ok"
            if wrong:
                verdict = os.path.join(OUT, "%s.wrong.%d" % (name, number))
                with open(verdict, "w") as f:
                    f.write("\n".join(wrong[:60]) + "\n")
            print("%s\t%s: %s" % (verdict, name, what), flush=True)


if __name__ == "__main__":
    main()
