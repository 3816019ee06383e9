#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shape.py FILE... -- EVENT...: each FILE.shape is stat's output without what differs from run to run.

The names of the files end in .text, .csv (with | between fields) or .json.

A measured number becomes N with as many decimals, in text in a field of the same width. The count of an
EVENT stays, unless it is given as ~EVENT. Rates are alike in any size: K/sec, M/sec, /sec. The number of
a process or thread is TID, the date DATE. Left out is what pstat has beyond perf: the reason beside what
is not counted.
"""
import json
import re
import sys

DECIMAL = r" *\d[\d,]*\.\d+"


def template(match):
    whole, decimals = match.group().strip().split(".")
    return ("N." + "D" * len(decimals)).rjust(len(match.group()))


def plain(text):
    """A measured number, whole or not."""
    return re.sub(DECIMAL, template, text) if "." in text else re.sub(r" *\d+", "N", text)


def rate(unit):
    return re.sub(r"[KMG]/sec|(?<!\w)/sec ?", lambda m: "/sec".ljust(len(m.group())), unit).rstrip()


def text_line(line):
    event = next((e for e in exact + measured if re.search("(?<= )%s( |$)" % re.escape(e), line)), None)
    if event:
        head, tail = re.split(" %s(?: |$)" % re.escape(event), line, 1)
        if "<not " in head:
            tail = ""
        head = re.sub(r" *\S+-\d+(?= )", lambda m: re.sub(r"\d+$", "TID", m.group().strip()), head)
        return "%s %s %s" % (re.sub(DECIMAL, template, head), event,
                             rate(re.sub(DECIMAL, template, tail)))
    if "seconds" in line and "+-" in line:
        return " ".join(re.sub(r"\d+\.\d+", "N", line).split()) # its decimals follow the deviation
    if "seconds" in line:
        return re.sub(DECIMAL, template, line).rstrip()
    return re.sub(r"( id )'\d+'", r"\1'TID'", re.sub("^" + DECIMAL, template, line)).rstrip()


def csv_line(line):
    fields = line.split("|")
    at = next((i for i, f in enumerate(fields) if f in exact + measured), None)
    if at is None: # --metric-only
        return "|".join(re.sub(DECIMAL, template, f) for f in fields)
    before = [re.sub(DECIMAL, template, re.sub(r"-\d+$", "-TID", f)) for f in fields[:at - 2]]
    value = plain(fields[at - 2]).strip() if fields[at] in measured else fields[at - 2]
    after = [f if f == "100.00" or f == "0.00%" and fields[at] in exact else plain(f).strip()
             for f in fields[at + 1:-1]]
    return "|".join(before + [value] + fields[at - 1:at + 1] + after + [rate(fields[-1])])


def json_line(line):
    row = json.loads(line, parse_float=str, parse_int=str, object_pairs_hook=distinct)
    if row.get("event") in times and row["event"] not in exact + measured: # the last rows, which perf does not have
        return None
    row.pop("reason", None)
    for key, value in row.items():
        if key in ("interval", "event-runtime", "metric-value", "variance") or \
           key == "counter-value" and row["event"] in measured:
            row[key] = plain(value).strip()
        elif key == "metric-unit":
            row[key] = rate(value.replace("(null)", "")) # which perf prints where there is none
        elif key == "thread":
            row[key] = re.sub(r"-\d+$", "-TID", value)
    return " ".join("%s=%s" % item for item in row.items())


def distinct(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key comes twice")
    return dict(pairs)


def write_shape(path):
    line_of = {"text": text_line, "csv": csv_line, "json": json_line}[path.rsplit(".", 1)[1]]
    with open(path) as rows, open(path + ".shape", "w") as out:
        for line in rows:
            line = line.rstrip("\n")
            try:
                shape = "# started on DATE" if line.startswith("# started on ") else line_of(line)
                out.write(shape + "\n" if shape is not None else "")
            except ValueError as error:
                out.write("%s: %s\n" % (error, line))


times = ["duration_time", "user_time", "system_time"]
cut = sys.argv.index("--")
exact = [e for e in sys.argv[cut + 1:] if not e.startswith("~")]
measured = [e[1:] for e in sys.argv[cut + 1:] if e.startswith("~")]
for file_name in sys.argv[1:cut]:
    write_shape(file_name)
