#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""newer_recording.py FILE SHAPE: writes, as a pipe has it, what newer recorders write and this machine's may not.

SHAPE  raw      perf 6.16 and later, --off-cpu: samples of cpu-clock, and of offcpu-time, whose task, time and chain are
                in the raw data (4 bytes off a multiple of 8, as there)
       plain    perf 6.2 to 6.15: these are the sample's own
       cut      raw, with a chain that is longer than the raw data
       big      raw, in the other byte order
       records  types 84 to 87, and header features 33 to 35, of which perf 7 knows 84 to 86, and 33 and 34"""
import struct
import sys

BASE, MAP_BYTES = 0x400000, 1 << 24
SOFTWARE, CPU_CLOCK, BPF_OUTPUT = 1, 0, 10
IP, TID, TIME, CALLCHAIN, ID, CPU, PERIOD, RAW, IDENTIFIER, CGROUP = 1, 2, 4, 32, 64, 128, 256, 1024, 1 << 16, 1 << 21
SAMPLE_ID_ALL = 1 << 18
MMAP, COMM, SAMPLE = 1, 3, 9
HEADER_ATTR, EVENT_UPDATE, HEADER_FEATURE, UPDATE_NAME = 64, 78, 80, 2
KERNEL, USER = 1, 2
CONTEXT_USER = 2**64 - 512
PID, TID_2 = 4200001, 4200002  # more than a kernel gives


def main():
    path, shape = sys.argv[1:]
    order = ">" if shape == "big" else "<"

    def pack(form, *values):
        return struct.pack(order + form, *values)

    def record(kind, misc, body):
        return pack("IHH", kind, misc, 8 + len(body)) + body

    def padded(text):
        return text + bytes(8 - len(text) % 8)

    def attr(config, types, number):
        flags = SAMPLE_ID_ALL if order == "<" else int("{:064b}".format(SAMPLE_ID_ALL)[::-1], 2)
        body = pack("IIQQQQQ", SOFTWARE, 128, config, 1, types, 0, flags)
        return record(HEADER_ATTR, 0, body + bytes(128 - len(body)) + pack("Q", number))

    def name(number, text):
        return record(EVENT_UPDATE, 0, pack("QQ", UPDATE_NAME, number) + padded(text))

    usual = IDENTIFIER | IP | TID | TIME | CPU | PERIOD
    clock_types = usual | CALLCHAIN
    off_types = usual | CGROUP | (CALLCHAIN if shape == "plain" else RAW)

    def trailer(time, number=1):
        return pack("iiQIIQ", PID, PID, time, 0, 0, number)

    def off_cpu(tid, period, ips, time, cgroup=7):
        chain = [CONTEXT_USER] + ips
        if shape == "plain":
            body = pack("QQiiQIIQQ%dQQ" % len(chain), 2, ips[0], PID, tid, time, 0, 0, period, len(chain), *chain, cgroup)
            return record(SAMPLE, USER, body)
        n = len(chain) + (1000 if shape == "cut" else 0)
        raw = pack("iiQQ%dQQ" % len(chain), PID, tid, period, n, *chain, cgroup) + bytes(4)
        # its own fields are of whoever ran then: nobody
        body = pack("QQiiQIIQ", 2, 0xffffffff81000000, 0, 0, time, 0, 0, 1) + pack("I", len(raw)) + raw + pack("Q", 0)
        return record(SAMPLE, KERNEL, body)

    def on_cpu(ips, time):
        body = pack("QQiiQIIQQ%dQ" % (len(ips) + 1), 1, ips[0], PID, PID, time, 0, 0, 250000, len(ips) + 1, CONTEXT_USER, *ips)
        return record(SAMPLE, USER, body)

    records = [attr(CPU_CLOCK, clock_types, 1), name(1, b"cpu-clock")]
    if shape != "records":
        records += [attr(BPF_OUTPUT, off_types, 2), name(2, b"offcpu-time")]
    else:
        records += [record(HEADER_FEATURE, 0, pack("Q", kind) + body) for kind, body in
                    ((33, pack("II", 62, 5)), (34, pack("Ixxxx", 64)), (35, pack("QQ", 1, 2)))]
    records += [record(COMM, 0, pack("ii", PID, PID) + padded(b"worker") + trailer(1)),
                record(COMM, 0, pack("ii", PID, TID_2) + padded(b"waiter") + trailer(1)),
                record(MMAP, USER, pack("iiQQQ", PID, PID, BASE, MAP_BYTES, 0) + padded(b"/nowhere/odd") + trailer(2))]
    records += [on_cpu([BASE + 0x10, BASE + 0x200], 1000000 * i) for i in range(1, 5)]
    if shape == "records":
        # texts in pairs of 64 and 256 bytes; a CPU's and a domain's line of /proc/schedstat
        records += [record(84, 0, b"bpf_prog_1".ljust(64, b"\0") + pack("Q", 1) + b"version".ljust(64, b"\0") + b"3".ljust(256, b"\0")),
                    record(85, 0, pack("QIHxx", 5000000, 0, 17) + bytes(40)), record(86, 0, bytes(48)), record(87, 0, bytes(8))]
    else:
        records += [off_cpu(TID_2, 300000000, [BASE + 0x30, BASE + 0x300], 9000000),
                    off_cpu(TID_2, 100000000, [BASE + 0x30, BASE + 0x300], 9000001),
                    off_cpu(PID, 50000000, [BASE + 0x40], 9000002)]
    with open(path, "wb") as out:
        out.write((b"2ELIFREP" if order == ">" else b"PERFILE2") + pack("Q", 16) + b"".join(records))


main()
