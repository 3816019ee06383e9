#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is wrong with a spool: a line for each file that has no line in the index, each line that has no file, and each
that says something else than its file. Lines without a number of samples are of writers that were killed."""
import contextlib
import glob
import io
import json
import os
import sys
import export_pprof


def sums(path):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        export_pprof.check(path)
    return [int(n) for n in text.getvalue().split()]


def main(spool):
    lines = [line for path in glob.glob(spool + "/v1/*/*/index.jsonl") for line in open(path)]
    rows = [json.loads(line) for line in lines]
    paths = [os.path.join(spool, row["path"]) for row in rows]
    files = glob.glob(spool + "/v1/*/*/*.pb.gz")
    for path in set(files) ^ set(paths):
        print("in the index or in the folder alone:", path)
    if len(set(paths)) != len(paths):
        print("two lines of one file")
    for row, path in zip(rows, paths):
        date, hour, name = row["path"].split("/")[1:]
        if name[:11] != date.replace("-", "") + "T" + hour or name.split("_")[1:3] != [row["host"], row["boot"]]:
            print("a name and its line:", row)
        if os.path.getsize(path) != row["bytes"] or sums(path)[:1] != [row.get("samples", sums(path)[0])]:
            print("a file and its line:", row, sums(path))
    for left in glob.glob(spool + "/**/*.new", recursive=True):
        print("left beside:", left)


main(sys.argv[1])
