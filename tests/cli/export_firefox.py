#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is in a profile of the Firefox profiler, as its processed format (version 57) has it.

export_firefox.py check FILE      all columns are as long as their tables say, all indexes are in range; samples in all
export_firefox.py folded FILE     its stacks as lines of `report --folded`, of the tracks without an event's name
export_firefox.py threads FILE    a line for each track: samples, pid, tid, name
export_firefox.py categories FILE samples by the category of their innermost frame
export_firefox.py markers FILE    a line each: name, phase, whether it has a stack, its text
export_firefox.py times FILE      of each track: first time, last time, ms; whether they are in order"""
import collections
import gzip
import json
import sys

COLUMNS = {
    "stackTable": {"prefix": "stackTable?", "frame": "frameTable"},
    "frameTable": {"address": "number", "inlineDepth": "number", "category": "category", "subcategory": "number",
                   "func": "funcTable", "nativeSymbol": "null", "innerWindowID": "null", "line": "number?",
                   "column": "null"},
    "funcTable": {"name": "string", "isJS": "bool", "relevantForJS": "bool", "resource": "resourceTable-1",
                  "fileName": "string?", "lineNumber": "null", "columnNumber": "null"},
    "resourceTable": {"lib": "lib", "name": "string", "host": "null", "type": "number"},
    "nativeSymbols": {"address": "number", "functionSize": "number", "libIndex": "lib", "name": "string"},
    "samples": {"stack": "stackTable?", "time": "number"},
    "markers": {"name": "string", "startTime": "number", "endTime": "number?", "phase": "number", "category": "category",
                "data": "object"},
}
COLORS = "transparent purple green orange yellow lightblue blue brown magenta red lightred darkgrey grey".split()
LIB = ("arch", "name", "path", "debugName", "debugPath", "breakpadId", "codeId")


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as f:
        return json.loads(f.read().decode("utf-8"))


def check_value(value, kind, sizes, where):
    if kind.endswith("?"):
        if value is None:
            return
        kind = kind[:-1]
    if kind == "resourceTable-1":
        if value == -1:
            return
        kind = "resourceTable"
    if kind == "null":
        assert value is None, where
    elif kind == "bool":
        assert value is True or value is False, where
    elif kind == "number":
        assert isinstance(value, (int, float)) and abs(value) <= 2**53, (where, value)
    elif kind == "object":
        assert isinstance(value, dict) and isinstance(value["type"], str), where
    else:
        assert isinstance(value, int) and 0 <= value < sizes[kind], (where, value, kind)


def check_thread(thread, sizes):
    sizes = dict(sizes)
    for name in COLUMNS:
        sizes[name] = thread[name]["length"]
    for name, columns in COLUMNS.items():
        table = thread[name]
        assert set(table) == set(columns) | {"length"} | ({"weight", "weightType"} if name == "samples" else set()), name
        for column, kind in columns.items():
            assert len(table[column]) == table["length"], (name, column, len(table[column]), table["length"])
            for i, value in enumerate(table[column]):
                check_value(value, kind, sizes, (name, column, i))
    prefixes = thread["stackTable"]["prefix"]
    assert all(p is None or p < i for i, p in enumerate(prefixes)), "a prefix stands behind what it is a prefix of"
    assert thread["samples"]["weight"] is None and thread["samples"]["weightType"] == "samples"
    for name, kind in (("name", str), ("isMainThread", bool), ("pid", str), ("tid", str), ("processType", str),
                       ("registerTime", (int, float)), ("pausedRanges", list)):
        assert isinstance(thread[name], kind), name
    markers = thread["markers"]
    for start, end, phase, data in zip(*(markers[c] for c in ("startTime", "endTime", "phase", "data"))):
        assert (phase == 0 and end is None) or (phase == 1 and end >= start)
        if "cause" in data:
            check_value(data["cause"]["stack"], "stackTable", sizes, "cause")


def check(path):
    p = load(path)
    meta, strings = p["meta"], p["shared"]["stringArray"]
    assert meta["preprocessedProfileVersion"] == 57 and meta["symbolicated"] is True
    assert all(isinstance(s, str) for s in strings) and strings[0] == ""
    assert meta["categories"][0]["color"] == "grey"
    for category in meta["categories"]:
        assert category["color"] in COLORS and category["subcategories"][0] == "Other"
    schemas = {schema["name"] for schema in meta["markerSchema"]}
    for lib in p["libs"]:
        assert set(lib) == set(LIB) and all(isinstance(lib[name], str) for name in LIB[:-1])
        assert len(lib["breakpadId"]) in (0, 33)
    sizes = {"string": len(strings), "category": len(meta["categories"]), "lib": len(p["libs"])}
    for thread in p["threads"]:
        check_thread(thread, sizes)
        assert all(data["type"] in schemas for data in thread["markers"]["data"])
    ids = [(thread["pid"], thread["tid"], thread["name"]) for thread in p["threads"]]
    assert all(thread["samples"]["length"] for thread in p["threads"])
    print(sum(thread["samples"]["length"] for thread in p["threads"]), len(set(ids)))


def names(p, thread, stack):
    """Outermost first."""
    out, stacks, frames, funcs = [], thread["stackTable"], thread["frameTable"], thread["funcTable"]
    while stack is not None:
        out.append(p["shared"]["stringArray"][funcs["name"][frames["func"][stacks["frame"][stack]]]])
        stack = stacks["prefix"][stack]
    return out[::-1]


def folded(path):
    p, sums = load(path), collections.Counter()
    for thread in p["threads"]:
        if thread["name"].endswith(")"):
            continue
        for stack, n in collections.Counter(thread["samples"]["stack"]).items():
            line = [thread["name"] or "[unknown]"] + names(p, thread, stack)
            sums[";".join(name.replace(";", ":") for name in line)] += n
    for line, n in sums.items():
        print(line, n)


def threads(path):
    for thread in load(path)["threads"]:
        print(thread["samples"]["length"], thread["pid"], thread["tid"], thread["name"])


def categories(path):
    p, sums = load(path), collections.Counter()
    for thread in p["threads"]:
        for stack in thread["samples"]["stack"]:
            category = thread["frameTable"]["category"][thread["stackTable"]["frame"][stack]]
            sums[p["meta"]["categories"][category]["name"]] += 1
    for name, n in sorted(sums.items()):
        print(n, name)


def markers(path):
    p = load(path)
    for thread in p["threads"]:
        rows = thread["markers"]
        for name, phase, data in zip(rows["name"], rows["phase"], rows["data"]):
            stack = data.get("cause", {}).get("stack")
            print(p["shared"]["stringArray"][name], phase, ";".join(names(p, thread, stack)) or "-",
                  data.get("fields", data.get("why")))


def times(path):
    for thread in load(path)["threads"]:
        column = thread["samples"]["time"]
        print("%.6f %.6f" % (min(column), max(column)), "in order" if column == sorted(column) else "not in order")


{"check": check, "folded": folded, "threads": threads, "categories": categories, "markers": markers,
 "times": times}[sys.argv[1]](sys.argv[2])
