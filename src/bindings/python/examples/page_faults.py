#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files whose pages a command's page faults are in.

page_faults.py COMMAND [ARGUMENTS]
"""
import collections
import os
import subprocess
import sys

import pstat


def start(command):
    """The command as a process that waits, and the descriptor that it waits for."""
    r, w = os.pipe()
    process = subprocess.Popen(["sh", "-c", "read line <&%d; exec %d<&- \"$@\"" % (r, r), "sh"] + command, pass_fds=(r,))
    os.close(r)
    return process, w


def file_of(maps, addr):
    """The newest map that has an address."""
    return next((m.path for m in reversed(maps) if m.start <= addr < m.start + m.length), "elsewhere")


def main(command):
    process, waits_for = start(command)
    maps, faults = [], collections.Counter()
    with pstat.Sampler("page-faults:u", period=1, fields=pstat.Field.IP | pstat.Field.ADDR,
                       track=pstat.Track.MAPS | pstat.Track.DATA_MAPS, pid=process.pid, enable_on_exec=True) as sampler:
        os.close(waits_for)
        for record in sampler.follow():
            if isinstance(record, pstat.Map):
                maps.append(record)
            elif isinstance(record, pstat.Sample):
                faults[file_of(maps, record.addr)] += 1
        lost = sampler.counts.lost
    process.wait()
    for path, n in faults.most_common():
        print("%6d  %s" % (n, path))
    print("%6d  lost" % lost)


if __name__ == "__main__":
    main(sys.argv[1:])
