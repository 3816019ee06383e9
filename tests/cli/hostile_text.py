#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile_text.py printable|json|json_lines|separated|folded FILE: is this what a terminal, or a parser, may
get? Exit 1 with the first line that is not."""
import csv
import io
import json
import re
import sys

# Control characters but tab and newline, and what turns the direction of writing.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
kind, path = sys.argv[1:3]
with open(path, "rb") as file:
    text = file.read().decode() # strict: what is not UTF-8 fails here


def wrong_line():
    for line in text.split("\n"):
        if UNPRINTABLE.search(line):
            return "not printable: %r" % line
    lines = [line for line in text.split("\n") if line]
    if kind == "json":
        json.loads(text)
    elif kind == "json_lines":
        for line in lines:
            json.loads(line)
    elif kind == "separated":
        head = [line for line in lines if line.startswith("# ")][-1]
        rows = list(csv.reader(io.StringIO("\n".join(line for line in lines if not line.startswith("#")))))
        if not rows:
            return "no rows"
        for row in rows:
            if len(row) != len(head.split(",")):
                return "another number of fields than the column names: %r" % row
    elif kind == "folded":
        for line in lines:
            if not re.fullmatch(r"[^;]+(;[^;]+)+ [0-9]+", line):
                return "not a stack and its number: %r" % line
    return None


wrong = wrong_line()
if wrong:
    print(wrong)
    sys.exit(1)
