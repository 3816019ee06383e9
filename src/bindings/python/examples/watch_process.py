#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts what a process does, in intervals, as JSON; without a pid, this one.

watch_process.py [PID [INTERVALS [MILLISECONDS]]]
"""
import json
import os
import sys
import time

import pstat


def main(pid=os.getpid(), intervals=3, milliseconds=100):
    events = pstat.Events().add_set("software").add_group("cycles", "instructions")
    with pstat.Counters(events, pid=pid, enabled=True) as counters:
        for _ in range(intervals):
            before = counters.read()
            time.sleep(milliseconds / 1000)
            readings = counters.read()
            readings -= before
            print(json.dumps(readings.json()), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
