#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What libpstat costs from other languages: a read of a group of two, a measured block, a sample. `make bench` runs it.

binding_cost.py FOLDER: of the tests that tests/bindings/build built, with the library and the module of Python.
"""
import mmap
import os
import re
import subprocess
import sys
import timeit

folder = sys.argv[1]
os.environ.update(PSTAT_LIBRARY=os.path.join(folder, "libpstat.so.0"), LD_LIBRARY_PATH=folder)
sys.path.insert(0, os.path.join(folder, "python"))
import pstat # noqa: E402 (the path is given by the line above)

GROUP = "{page-faults,minor-faults}"
PASSES = 20


def row(what, ns):
    print("%-58s %9.0f ns" % (what, ns), flush=True)


def cheapest(call, n):
    return min(timeit.repeat(call, number=n, repeat=PASSES)) / n * 1e9


def samples():
    """ns a sample that is taken out of a ring and made a named tuple."""
    best = 1e18
    for _ in range(PASSES):
        with pstat.Sampler("page-faults:u", period=1, fields=pstat.Field.IP | pstat.Field.ADDR, ring_bytes=1 << 20) as sampler:
            sampler.enable()
            memory = mmap.mmap(-1, 1 << 22)
            memory[::4096] = b"1" * 1024
            sampler.disable()
            begun = timeit.default_timer()
            n = sum(1 for _ in sampler)
            best = min(best, (timeit.default_timer() - begun) / n * 1e9)
    return best


def measured(events):
    with pstat.measure(events):
        pass


counters = pstat.Counters(GROUP, enabled=True, user_read=True)
readings = counters.read()
row("Python: read a group of two, into readings", cheapest(lambda: counters.read(readings), 1000))
row("Python: and make named tuples of them", cheapest(lambda: list(counters.read(readings)), 500))
row("Python: user_read of what only read(2) knows", cheapest(counters.user_read, 1000))
row("Python: with measure(), counters that are open", cheapest(lambda: measured(counters), 100))
row("Python: with measure(), events", cheapest(lambda: measured(GROUP), 100))
row("Python: a sample", samples())
if os.path.exists(os.path.join(folder, "go.test")):
    told = subprocess.run([os.path.join(folder, "go.test"), "-test.run=NONE", "-test.bench=.", "-test.count=20",
                           "-test.benchtime=1000x"],
                          stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    for name, what in (("ReadRaw", "read a group of two, into a slice"), ("ReadGroupCount", "and make counts of them"),
                       ("Measure", "Measure(), events"), ("ReadRecord", "a sample")):
        row("Go: " + what, min(map(float, re.findall(r"^Benchmark%s\S*\s+\d+\s+([0-9.]+) ns/op" % name, told, re.M))))
if os.path.exists(os.path.join(folder, "rust.test")):
    told = subprocess.run([os.path.join(folder, "rust.test"), "--ignored", "--nocapture", "--test-threads", "1"],
                          stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    for what, ns in re.findall(r"^cost: (.*): (\d+) ns$", told, re.M):
        row("Rust: " + what, float(ns))
