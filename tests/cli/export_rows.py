#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `pstat export` has written, as lines (FILE.jsonl, FILE.jsonl.gz) or as a database (FILE.db).

export_rows.py check FILE         all is as pstat-export(1) says; samples and period of each event, on one line
export_rows.py agree NAME.json... all is so in NAME.jsonl and, where it is there, NAME.db, and samples and period are those of
                                  `report -j` in NAME.json; prints what is not, and ends with 1
export_rows.py folded FILE        the stacks as lines of `report --folded`, of the first event
export_rows.py rows FILE COLUMN   samples by a column: "5 main"
export_rows.py types FILE         the members of a line and the types that they have in any of them"""
import collections
import gzip
import json
import os
import re
import report_sums
import sqlite3
import sys

TYPES = {
    "schema": (int,), "host": (str, None), "event": (str,), "time": (str, None), "time_ns": (int, None), "period": (int,),
    "pid": (int, None), "tid": (int, None), "comm": (str,), "cpu": (int, None), "kernel": (bool,), "symbol": (str, None),
    "dso": (str, None), "path": (str, None), "build_id": (str, None), "addr": (str, None), "file": (str, None),
    "line": (int, None), "stack": (list,),
}


def lines(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as f:
        data = f.read()
    assert not data or data.endswith(b"\n")
    for line in data.split(b"\n")[:-1]:
        yield json.loads(line.decode("utf-8"))


def check_lines(path):
    sums = {}
    for row in lines(path):
        assert list(row) == list(TYPES), list(row)
        for name, types in TYPES.items():
            value = row[name]
            assert (value is None and None in types) or type(value) in types, (name, value)
        assert row["schema"] == 1 and all(isinstance(name, str) and name for name in row["stack"])
        assert row["time"] is None or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", row["time"])
        assert row["build_id"] is None or re.fullmatch(r"[0-9a-f]+", row["build_id"])
        assert row["symbol"] is None or row["stack"][-1] == row["symbol"]
        both = sums.setdefault(row["event"], [0, 0])
        both[0] += 1
        both[1] += row["period"]
    return sums


COLUMNS = {
    "meta": "key value", "events": "event name unit samples period", "threads": "thread pid tid name", "comms": "comm name",
    "maps": "map name path build_id", "frames": "frame function raw_name kind map address file line",
    "stacks": "stack parent frame depth", "samples": "event time_ns period thread comm cpu kernel stack",
    "counts": "event pid tid value",
}
NONE_IS_LEFT = {
    "samples": "event NOT IN (SELECT event FROM events) OR thread NOT IN (SELECT thread FROM threads) OR comm NOT IN "
               "(SELECT comm FROM comms) OR stack NOT IN (SELECT stack FROM stacks) OR kernel NOT IN (0, 1)",
    "stacks": "frame NOT IN (SELECT frame FROM frames) OR parent NOT IN (SELECT stack FROM stacks) OR parent >= stack OR "
              "depth != 1 + coalesce((SELECT p.depth FROM stacks p WHERE p.stack = stacks.parent), 0)",
    "frames": "map NOT IN (SELECT map FROM maps) OR kind NOT IN ('user', 'kernel', 'inlined', 'jit', 'unknown') OR "
              "function IS NULL",
    "counts": "event NOT IN (SELECT event FROM events)",
}


def check_database(path):
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    for table, columns in COLUMNS.items():
        assert [row[1] for row in db.execute("PRAGMA table_info(%s)" % table)] == columns.split(), table
    for table, wrong in NONE_IS_LEFT.items():
        assert db.execute("SELECT count(*) FROM %s WHERE %s" % (table, wrong)).fetchone() == (0,), table
    assert db.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone() == (1,)
    told = db.execute("SELECT event, samples, period FROM events WHERE samples ORDER BY event").fetchall()
    assert told == db.execute("SELECT event, count(*), sum(period) FROM samples GROUP BY event ORDER BY event").fetchall()
    for view in "functions", "by_thread", "by_cpu", "by_map", "by_second", "folded":
        both = db.execute("SELECT sum(samples), sum(period) FROM " + view).fetchone()
        assert both == db.execute("SELECT nullif(count(*), 0), sum(period) FROM samples").fetchone(), view
    for view in "functions_total", "callers", "stack_samples":
        db.execute("SELECT * FROM " + view).fetchall()
    return {event: both for event, *both in told}


def sums_of(path):
    return (check_database(path) if path.endswith(".db") else check_lines(path)).values()


def check(path):
    print(*(n for both in sums_of(path) for n in both))


def agree(*reports):
    wrong = 0
    for path in reports:
        with open(path) as f:
            shown = sorted(report_sums.totals(json.load(f)))
        name = path[:-len(".json")]
        for made in filter(os.path.exists, (name + ".jsonl", name + ".db")):
            try:
                sums = sorted(map(tuple, sums_of(made)))
            except Exception as why:
                sums = "%s: %s" % (type(why).__name__, why)
            if sums != shown:
                print("%s: %s; the report has %s" % (made, sums, shown))
                wrong += 1
    sys.exit(wrong > 0)


def folded(path):
    if path.endswith(".db"):
        rows = sqlite3.connect(path).execute(
            "SELECT line, samples FROM folded WHERE event = (SELECT name FROM events WHERE samples LIMIT 1)").fetchall()
    else:
        sums, first = collections.Counter(), None
        for row in lines(path):
            first = first or row["event"]
            names = [row["comm"] or "[unknown]"] + (row["stack"] or ["[unknown]"])
            sums[";".join(name.replace(";", ":") for name in names)] += row["event"] == first
        rows = [row for row in sums.items() if row[1]]
    for line, n in rows:
        print(line, n)


def rows(path, column):
    if path.endswith(".db"):
        sums = collections.Counter(row[0] for row in sqlite3.connect(path).execute("SELECT %s FROM samples" % column))
    else:
        sums = collections.Counter(row[column] for row in lines(path))
    for name, n in sums.items():
        print(n, name)


def types(path):
    found = collections.defaultdict(set)
    for row in lines(path):
        for name, value in row.items():
            found[name].add(type(value).__name__)
    for name, kinds in found.items():
        print(name, *sorted(kinds))


{"check": check, "agree": agree, "folded": folded, "rows": rows, "types": types}[sys.argv[1]](*sys.argv[2:])
