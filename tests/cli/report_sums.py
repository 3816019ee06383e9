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

report = json.load(sys.stdin)
if sys.argv[1] == "totals":
    members = [m for event in report["events"] for m in event["members"] if m["samples"]]
    print(*(n for m in members for n in (m["shown_samples"], m["shown_period"])))
else:
    key, sums = sys.argv[2], {}
    for event in report["events"][:1]:
        for row in event["entries"]:
            name = str(row["columns"][key])
            name = name.split(":")[0].strip() if key in ("pid", "tid", "cpu") else name
            name = "None" if key == "symbol" and re.match(r"(\[.*\+)?0x[0-9a-f]+\]?$", name) else name
            sums[name] = sums.get(name, 0) + row["samples"]
    for name, n in sorted(sums.items()):
        print(n, name)
