#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is in a profile.proto, by a decoder of its own.

export_pprof.py check FILE           its tables are whole: each id, each text, all lengths; one line of sums
export_pprof.py folded FILE          its stacks as lines of `report --folded`, of the first sample type
export_pprof.py sums FILE KEY TYPE   values of a sample type by `function` (innermost) or by a label
export_pprof.py tables FILE          events, mappings, functions, comments: a line each
export_pprof.py gz FILE TO           the first, unpacked"""
import collections
import gzip
import re
import sys


def fields(data):
    """(number, int or bytes) of each field of a message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                assert value < 1 << 64
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            assert tag & 7 == 2, "wire type %d" % (tag & 7)
            n = varint()
            assert at + n <= len(data), "a field is cut"
            yield tag >> 3, data[at:at + n]
            at += n


def packed(value):
    if isinstance(value, int):
        return [value]
    out, number, shift = [], 0, 0
    for byte in value:
        number |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            out.append(number)
            number = shift = 0
    assert not shift
    return out


def message(data, **names):
    """The fields by name: name=number, or name=(number, "many"), or (number, "packed")."""
    out = {name: [] if isinstance(number, tuple) else 0 for name, number in names.items()}
    by_number = {n[0] if isinstance(n, tuple) else n: (name, n[1] if isinstance(n, tuple) else "") for name, n in names.items()}
    for number, value in fields(data):
        name, how = by_number[number]
        if how == "packed":
            out[name] += packed(value)
        elif how:
            out[name].append(value)
        else:
            out[name] = value
    return out


class Profile:
    def __init__(self, path):
        with gzip.open(path) as f:
            data = f.read()
        top = message(data, types=(1, "many"), samples=(2, "many"), mappings=(3, "many"), locations=(4, "many"),
                      functions=(5, "many"), texts=(6, "many"), time=9, duration=10, period_type=11, period=12,
                      comments=(13, "packed"), default=14)
        self.texts = [text.decode("utf-8") for text in top["texts"]]
        assert self.texts[0] == "" and len(set(self.texts)) == len(self.texts)
        assert not re.search(r"[\x00-\x1f\x7f]", "".join(self.texts)), "control characters"
        self.types = [self.value_type(t) for t in top["types"]]
        self.period_type = self.value_type(top["period_type"]) if top["period_type"] else None
        self.period, self.time, self.duration = top["period"], top["time"], top["duration"]
        self.comments = [self.texts[i] for i in top["comments"]]
        self.default = self.texts[top["default"]]
        self.mappings = self.by_id(message(m, id=1, start=2, end=3, offset=4, file=5, build_id=6, functions=7, files=8,
                                           lines=9, inlines=10) for m in top["mappings"])
        self.functions = self.by_id(message(f, id=1, name=2, system_name=3, file=4, start_line=5) for f in top["functions"])
        self.locations = self.by_id(message(l, id=1, mapping=2, address=3, lines=(4, "many")) for l in top["locations"])
        for location in self.locations.values():
            location["lines"] = [message(line, function=1, line=2) for line in location["lines"]]
        self.samples = [message(s, locations=(1, "packed"), values=(2, "packed"), labels=(3, "many")) for s in top["samples"]]
        for sample in self.samples:
            labels = [message(label, key=1, text=2) for label in sample["labels"]]
            sample["labels"] = {self.texts[l["key"]]: self.texts[l["text"]] for l in labels}
            assert len(labels) == len(sample["labels"])

    def value_type(self, data):
        both = message(data, type=1, unit=2)
        return self.texts[both["type"]], self.texts[both["unit"]]

    @staticmethod
    def by_id(rows):
        rows = list(rows)
        out = {row["id"]: row for row in rows}
        assert len(out) == len(rows) and 0 not in out, "ids"
        return out

    def frames(self, sample):
        """Names, innermost first."""
        for number in sample["locations"]:
            location = self.locations[number]
            for line in location["lines"]:
                yield self.texts[self.functions[line["function"]]["name"]]
            if not location["lines"]:
                path = self.texts[self.mappings[location["mapping"]]["file"]]
                name = path.rsplit("/", 1)[-1]
                yield name if name.startswith("[") else "[%s]" % re.sub(r"\.ko$", "", name)


def check(path):
    p = Profile(path)
    for location in p.locations.values():
        if location["mapping"]:
            mapping = p.mappings[location["mapping"]]
            assert mapping["start"] <= location["address"] < mapping["end"], (location, mapping)
        assert location["lines"] or location["mapping"], "it is nowhere"
        for line in location["lines"]:
            assert line["function"] in p.functions
    used = {number for sample in p.samples for number in sample["locations"]}
    assert used == set(p.locations), "locations that are not used"
    assert {l["mapping"] for l in p.locations.values()} - {0} == set(p.mappings)
    assert {line["function"] for l in p.locations.values() for line in l["lines"]} == set(p.functions)
    seen = set()
    for sample in p.samples:
        assert len(sample["values"]) == len(p.types) and sample["locations"]
        key = tuple(sample["locations"]), tuple(sorted(sample["labels"].items()))
        assert key not in seen, "it is there twice"
        seen.add(key)
    names = [name for name, _ in p.types]
    assert len(names) == len(set(names)) and all(unit == "count" for _, unit in p.types[::2])
    assert not p.types or p.default in names or not p.default
    print(*(sum(s["values"][i] for s in p.samples) for i in range(len(p.types))))


def folded(path):
    p, sums = Profile(path), collections.Counter()
    for sample in p.samples:
        names = [name.replace(";", ":") for name in list(p.frames(sample)) + [sample["labels"].get("comm", "[unknown]")]]
        sums[";".join(reversed(names))] += sample["values"][0]
    for line, n in sums.items():
        if n:
            print(line, n)


def sums(path, key, name):
    p, out = Profile(path), collections.Counter()
    at = [n for n, _ in p.types].index(name)
    for sample in p.samples:
        what = next(p.frames(sample)) if key == "function" else sample["labels"].get(key, "")
        out[what] += sample["values"][at]
    for what, n in sorted(out.items()):
        if n:
            print(n, what)


def tables(path):
    p = Profile(path)
    print("time", p.time, "duration", p.duration, "period", p.period, *(p.period_type or ()), "default", p.default)
    for name, unit in p.types:
        print("type", name, unit)
    for m in p.mappings.values():
        print("mapping %#x %#x" % (m["start"], m["end"]), p.texts[m["file"]], p.texts[m["build_id"]], m["functions"], m["lines"])
    for f in p.functions.values():
        print("function", p.texts[f["name"]], p.texts[f["system_name"]], p.texts[f["file"]])
        print("starts", p.texts[f["name"]], f["start_line"])
    for l in p.locations.values():
        if len(l["lines"]) > 1:
            print("inlined", *(p.texts[p.functions[line["function"]]["name"]] for line in l["lines"]))
    for comment in p.comments:
        print("comment", comment)


def gz(path, to):
    with gzip.open(path) as f, open(to, "wb") as out:
        out.write(f.read())


if __name__ == "__main__":
    {"check": check, "folded": folded, "sums": sums, "tables": tables, "gz": gz}[sys.argv[1]](*sys.argv[2:])
