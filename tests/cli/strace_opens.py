# SPDX-License-Identifier: MIT
"""strace -v -e trace=perf_event_open on stdin -> one normal line per call, sorted, on stdout.

Left out is what differs without a meaning for a count: pids, descriptor numbers, sample_type, the attr's
size, fields that are 0. A member's group is the config of its leader.
"""
import re
import sys

LEFT_OUT = {"size", "sample_type", "sig_data", "mmap2"}
CALL = re.compile(r"perf_event_open\(\{(.*)\}, (-?\d+), (-?\d+), (-?\d+), (\S+)\)\s*=\s*(-?\d+)(?: (\w+))?")

leaders, lines = {}, []
for line in sys.stdin:
    call = CALL.search(line)
    if not call:
        continue
    text, pid, cpu, group, flags, result, errno = call.groups()
    # Whether breakpoints fire here, which pstat tries on itself.
    if pid == "0" and "PERF_TYPE_BREAKPOINT" in text:
        continue
    fields = []
    for field in re.sub(r" /\*.*?\*/", "", text).split(", "):
        name, _, value = field.partition("=")
        if value and name not in LEFT_OUT and value not in ("0", "0x0"):
            fields.append(field)
    who = "all tasks" if pid == "-1" else "task or cgroup"
    where = "leads" if group == "-1" else "follows " + leaders.get(group, "?")
    leaders[result] = " ".join(f for f in fields if f.startswith(("type", "config")))
    lines.append("%s on cpu %s %s %s: %s = %s" % (who, cpu, where, flags, " ".join(sorted(fields)),
                                                errno or "opened"))
print("\n".join(sorted(lines)))
