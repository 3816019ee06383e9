#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each call of getpid(2) with its time: samples of a tracepoint. Needs the rights to read tracefs, as root has them."""
import os
import sys

import pstat

CALLS = 10


def main():
    with pstat.Sampler("syscalls:sys_enter_getpid", period=1, fields=pstat.Field.RAW) as sampler:
        if not sampler.counters[0].supported:
            sys.exit("trace_getpid: %s" % sampler.counters[0].reason)
        sampler.enable()
        for _ in range(CALLS):
            os.getpid()
        sampler.disable()
        calls = [record for record in sampler if isinstance(record, pstat.Sample)]
    for n, call in enumerate(calls, 1):
        print("getpid %d after %.3f us, %d bytes of fields" % (n, (call.time_ns - calls[0].time_ns) / 1000, len(call.raw)))


if __name__ == "__main__":
    main()
