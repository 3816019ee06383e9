#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`perf script` and `pstat script` of one recording, for script_vs_perf.sh.

script_vs_perf.py FILE OPTIONS...    both print the same lines with each of the OPTIONS (one argument each,
                                     split at blanks)

What is printed: see verdicts.py. Lines are the same to the letter, blanks too, but for what pstat does otherwise by intent:
DIFFERENCES below, each named as in "DIFFERENCES FROM PERF" of pstat-script(1). $REFUSED instead of lines:
both end with an error and print nothing. $KALLSYMS: the kernel's symbols, for both. FILE - is standard
input, for both from ./pipe.
"""
import os
import re
import sys

import verdicts

PROGRAMS = {"perf": "perf", "pstat": os.environ["PSTAT"]}
REFUSED = "REFUSED" in os.environ
# perf's inlined frames depend on how it was built; script_folds.sh compares these with the truth.
BOTH = ["--no-inline"] + (["--kallsyms", os.environ["KALLSYMS"]] if os.environ.get("KALLSYMS") else [])
ALWAYS = {"perf": BOTH, "pstat": BOTH + ["--no-bounds"]}
FRAME = re.compile(r"\t *(?P<ip>[0-9a-f]+)(?: (?P<symbol>\S.*?))??(?:\+0x(?P<offset>[0-9a-f]+))?(?: \((?P<dso>[^()]*|\[.*\])\))?$")
LINE = re.compile(r"  \S*:\d+$|  \S+\[[0-9a-f]+\]$")
LOST_ID = re.compile(r"(PERF_RECORD_LOST )id \d+, ")
NO_SOURCE = re.compile(r"  \S+\[[0-9a-f]+\]$")
PLT = re.compile(r"(?:_init|\S*@plt|\[unknown\])(?:\+0x[0-9a-f]+)?(?=[ /]|$)")
VDSO = re.compile(r" __vdso_\w+(\+0x[0-9a-f]+)?")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
FLAGS = re.compile(r"/[PM-]/[X-]/[A-]/\d+/")


class Place:
    """Where in a text a pair of lines is: is it a caller, and was its function another one?"""

    def __init__(self):
        self.depth = 0

    def step(self, line):
        if not line.startswith(("\t", "  ")):
            self.depth = 0
        elif FRAME.match(line):
            self.depth += 1

    @property
    def caller(self):
        return self.depth > 1


def frames(perf, pstat):
    perf, pstat = FRAME.match(perf), FRAME.match(pstat)
    return (perf, pstat) if perf and pstat and perf["dso"] == pstat["dso"] else (None, None)


def same_ip(perf, pstat, less=0):
    """Older perfs print the offset in the file of user code in chains: within a page it is the address."""
    perf, pstat = int(perf["ip"], 16), int(pstat["ip"], 16)
    return perf + less == pstat or (perf < pstat and (perf + less - pstat) % 4096 == 0)


def same_name(perf, pstat):
    perf, pstat = perf["symbol"] or "", pstat["symbol"] or ""
    return verdicts.one_name(perf) == verdicts.one_name(pstat) or is_plt_entry(perf, pstat)


def is_plt_entry(perf, pstat):
    """They are named all; perf says _init or @plt, or gives their addresses."""
    return "@plt" in pstat and PLT.sub("?", perf) == PLT.sub("?", pstat)


def addresses_of_user_code(_, perf, pstat):
    """What was recorded; script_vs_perf.sh compares dsoff's offsets with perf's."""
    perf, pstat = frames(perf, pstat)
    same_offset = perf and (perf["offset"] == pstat["offset"] or "@plt" in (pstat["symbol"] or ""))
    return same_offset and same_ip(perf, pstat) and same_name(perf, pstat)


def return_addresses(place, perf, pstat):
    """The function that a caller is in: the call's, not that of the instruction behind the call."""
    perf, pstat = frames(perf, pstat)
    return perf and place.caller and same_ip(perf, pstat) and perf["offset"] in (None, "0")


def return_addresses_of_lines(place, perf, pstat):
    """The same for its source line."""
    return place.caller and LINE.match(perf) and LINE.match(pstat)


def unwound_callers(place, perf, pstat):
    """Addresses of callers out of sampled stacks: return addresses, as in other chains; perf takes 1 off."""
    perf, pstat = frames(perf, pstat)
    return perf and place.caller and same_ip(perf, pstat, 1) and same_name(perf, pstat)


def functions_with_several_names(_, perf, pstat):
    """The exported name of today is shown."""
    return verdicts.one_name(perf) == verdicts.one_name(pstat)


def names_of_plt_entries(_, perf, pstat):
    return is_plt_entry(perf, pstat)


def names_in_the_vdso(_, perf, pstat):
    """Known by its build-id, from the running kernel; perf has them from a user's cache, or of any vdso."""
    perf, pstat = [VDSO.sub(" [unknown]", text) for text in (perf, pstat)]
    return perf == pstat


def data_without_bytes_in_the_file(_, perf, pstat):
    """Data that begins as zeros has its name; perf knows no file there."""
    named = re.escape(perf).replace(r"\ \(//anon\)", r" \(\S+\)").replace(r"\[unknown\]", r"\S+", 1)
    return "[unknown]" in perf and re.fullmatch(named, pstat)


def blanks_of_branches(_, perf, pstat):
    """brstacksym: branches are apart from what is in front of them."""
    return FLAGS.search(perf) and perf.replace(" ", "") == pstat.replace(" ", "")


def controls_in_a_name(_, perf, pstat):
    """perf prints those of a process's name as they are, such as another test's, and counts them as columns."""
    printable = CONTROL.sub(lambda m: "\\x%02x" % ord(m[0]), perf)
    return printable != perf and printable.split() == pstat.split()


def no_line(_, perf, pstat):
    """Where no line is known the address in the file; of a function without a file perf says its line 0."""
    return perf == "  :0" and NO_SOURCE.match(pstat)


def tabs_of_source(_, perf, pstat):
    """srccode: blanks."""
    return perf.startswith("|") and perf.split() == pstat.split()


DIFFERENCES = (addresses_of_user_code, return_addresses, return_addresses_of_lines, unwound_callers,
               functions_with_several_names, names_of_plt_entries, names_in_the_vdso, data_without_bytes_in_the_file,
               blanks_of_branches, controls_in_a_name, no_line, tabs_of_source)


def no_source(perf, pstat):
    """Where no line is known the address in the file; perf leaves that out where it finds some symbol before it."""
    at, lines = 0, []
    for line in pstat:
        if NO_SOURCE.match(line) and (at >= len(perf) or not LINE.match(perf[at])):
            continue
        lines.append(line)
        at += 1
    return lines


def namespaces(lines):
    """A record is on one line; perf breaks those of namespaces, and mixes bases in them."""
    text = re.sub(r" *\n\t\t *(?=\[?\d)", " ", "\n".join(lines))
    return [re.sub(r": 0x([0-9a-f]+)/", lambda m: ": %d/" % int(m[1], 16), l) if "NAMESPACES" in l else l
            for l in text.split("\n")]


def lost(perf, pstat):
    """LOST tells the event's id, and LOST_SAMPLES is shown as well."""
    return [LOST_ID.sub(r"\1", l) for l in pstat if "PERF_RECORD_LOST_SAMPLES" not in l or l in perf]


def compare_lines(perf, pstat):
    bad, place = [], Place()
    if perf == pstat:
        return bad
    perf, pstat = namespaces(perf), namespaces(pstat)
    pstat = lost(perf, no_source(perf, pstat))
    if len(perf) != len(pstat):
        bad.append("%d lines by perf, %d by pstat" % (len(perf), len(pstat)))
    for number, (a, b) in enumerate(zip(perf, pstat)):
        place.step(b)
        if a != b and not any(known(place, a, b) for known in DIFFERENCES):
            bad += ["line %d" % (number + 1), "perf  %r" % a, "pstat %r" % b]
    return bad


def printed(program, path, options):
    status, text, said = verdicts.run(PROGRAMS[program], path, ["script", "-i", path] + ALWAYS[program] + options)
    if REFUSED != (status != 0) or REFUSED != (not text) and not verdicts.may_be_empty(options):
        raise ValueError("%s: status %d, %d bytes on stdout\n%s" % (program, status, len(text), said))
    return text.split("\n")


def main(argv):
    if len(argv) < 3:
        sys.stderr.write(__doc__)
        return 2
    verdicts.print_all(compare_lines, lambda program, options: printed(program, argv[1], options), argv[2:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
