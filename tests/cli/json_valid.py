#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads lines; exit 1 if one is not a JSON object by itself, has a key twice, or if there is none."""
import json
import sys


def distinct(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError("a key comes twice")
    return dict(pairs)


def refuse(word):
    raise ValueError(word + " is not JSON")


n = 0
for n, line in enumerate(sys.stdin.buffer, 1):
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=distinct, parse_constant=refuse)
        if not isinstance(value, dict):
            raise ValueError("not an object")
    except ValueError as error:
        print(f"line {n}: {error}: {line!r}")
        sys.exit(1)
if n == 0:
    print("no line at all")
    sys.exit(1)
