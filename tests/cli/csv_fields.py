#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""csv_fields.py SEPARATOR COUNT: exit 1 unless every line read has COUNT separators outside quotes."""
import sys

separator, count = sys.argv[1], int(sys.argv[2])
n = 0
for n, line in enumerate(sys.stdin, 1):
    line = line.rstrip("\n")
    # What is between quotes is one field's text; a doubled quote ends one part and begins the next.
    found = sum(part.count(separator) for part in line.split('"')[::2])
    if found != count:
        print(f"line {n}: {found} separators, not {count}: {line!r}")
        sys.exit(1)
if n == 0:
    print("no line at all")
    sys.exit(1)
