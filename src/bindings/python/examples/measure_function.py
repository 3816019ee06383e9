#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts one function: what it took, or why that cannot be said here.

measure_function.py [EVENTS]
"""
import sys

import pstat


def work():
    return sum(list(range(1000000)))


def main(events="{cycles,instructions},page-faults,task-clock"):
    with pstat.measure(events) as m:
        result = work()
    for reading in m:
        if reading.value is None:
            print("%-16s %s: %s" % (reading.name, reading.state, reading.reason))
        else:
            print("%-16s %s %s" % (reading.name, reading.value, reading.unit))
    cycles, instructions = m.readings.get("cycles"), m.readings.get("instructions")
    if cycles and instructions and cycles.value:
        print("%.2f instructions in a cycle" % (instructions.value / cycles.value))
    print("sum", result)


if __name__ == "__main__":
    main(*sys.argv[1:])
