#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `pstat report -j` says, from standard input, for tests of what is exported.

report_sums.py totals      samples and period that are shown of each event that has samples, on one line
report_sums.py rows KEY    samples of each row by its column KEY: "5 main"; of pid and tid the number alone; functions
                           without a name, "[libc.so.6+0x1234]" or an address in the report, are None
                           together"""
import json
import re
import sys


def totals(report):
    """(samples, period) that are shown of each event that has samples."""
    return [(m["shown_samples"], m["shown_period"]) for event in report["events"] for m in event["members"] if m["samples"]]


def rows(report, key):
    sums = {}
    for event in report["events"][:1]:
        for row in event["entries"]:
            name = str(row["columns"][key])
            name = name.split(":")[0].strip() if key in ("pid", "tid", "cpu") else name
            name = "None" if key == "symbol" and re.match(r"(\[.*\+)?0x[0-9a-f]+\]?$", name) else name
            sums[name] = sums.get(name, 0) + row["samples"]
    return sums


if __name__ == "__main__":
    said = json.load(sys.stdin)
    if sys.argv[1] == "totals":
        print(*(n for both in totals(said) for n in both))
    else:
        for name, n in sorted(rows(said, sys.argv[2]).items()):
            print(n, name)
