# SPDX-License-Identifier: MIT
"""What recorders opened, from strace -f -v -e trace=perf_event_open,ioctl.

    record_opens.py opened|refused TRACE...

Into TRACE.normal goes a normal line per event and place, sorted; of what was refused (EOPNOTSUPP), only the
event and its branches.

An event that is recorded is asked for its id. What is not was opened to learn what the kernel can, and is
no part of the recording; nor is an event without samples that sees BPF programs come and go, which perf
reads from a thread beside the recording.
"""
import re
import sys

# ---- the differences on purpose ----
# Every sample of pstat's has its event's id in front, so that each reader knows whose it is, its CPU and,
# unless the attr tells it, its period. perf adds them as it needs them.
SAMPLE_TYPE_FREE = {"PERF_SAMPLE_IDENTIFIER", "PERF_SAMPLE_ID", "PERF_SAMPLE_CPU", "PERF_SAMPLE_PERIOD"}
# The values read at the end have their times and losses.
READ_FORMAT_FREE = {"PERF_FORMAT_TOTAL_TIME_ENABLED", "PERF_FORMAT_TOTAL_TIME_RUNNING", "PERF_FORMAT_LOST"}
# pstat is woken when a part of the ring is full, perf by each event where it has no watermark.
FREE = {"watermark", "wakeup_watermark", "wakeup_events"}
# No meaning: what strace shows of all attrs.
FREE |= {"size", "sig_data"}


def set_free(fields):
    kind = fields.get("type"), fields.get("config")
    # perf leaves it in place when it takes cpu-clock for cycles; software events don't look at it.
    if kind[0] == "PERF_TYPE_SOFTWARE":
        fields.pop("precise_ip", None)
    # With -n: a frequency of nothing.
    if "sample_freq" not in fields:
        fields.pop("freq", None)
    # The event that only sees what tasks do: pstat's does from the start, also when sampling starts later,
    # and has of the sample fields those that are in the records of tasks.
    if kind == ("PERF_TYPE_SOFTWARE", "PERF_COUNT_SW_DUMMY"):
        for name in ("disabled", "enable_on_exec"):
            fields.pop(name, None)
        fields["sample_type"] = "|".join(sorted({"PERF_SAMPLE_TID", "PERF_SAMPLE_TIME"} &
                                                set(fields.get("sample_type", "").split("|"))))


CALL = re.compile(r"perf_event_open\(\{(.*)\}, (-?\d+), (-?\d+), (-?\d+), (\S+)\)\s*=\s*(-?\d+)(?: (\w+))?")
IOCTL = re.compile(r"ioctl\((\d+), (\w+)(?:\(.*?\))?, (.*)\)\s*=\s*-?\d+")
BITS = {"sample_type": SAMPLE_TYPE_FREE, "read_format": READ_FORMAT_FREE}


def whole_calls(lines):
    """A call that another thread's line came into is put together again."""
    begun = {}
    for line in lines:
        pid, _, call = line.strip().partition(" ")
        call = call.lstrip()
        if call.endswith("<unfinished ...>"):
            begun[pid] = call[:-len("<unfinished ...>")].rstrip()
            continue
        if call.startswith("<... "):
            call = begun.pop(pid, "") + call.partition("resumed>")[2]
        yield pid, call


class Opened:
    """One perf_event_open: a line to compare, and whether the recording took it in."""

    def __init__(self, task, cpu, leader, flags, fields):
        self.name = " ".join(f for f in fields if f.startswith(("type", "config")))
        self.samples = any(f.startswith("sample_type") for f in fields)
        self.line = "%s on cpu %s %s, %s: %s" % ("all tasks" if task == "-1" else "task or cgroup", cpu,
                                               leader and "follows " + leader.name or "leads", flags,
                                               " ".join(sorted(fields)))
        self.filter, self.kept = "", False


def normal(text):
    fields = {}
    for field in re.sub(r" /\*.*?\*/", "", text).split(", "):
        name, _, value = field.partition("=")
        if name in BITS:
            value = "|".join(sorted(set(value.split("|")) - BITS[name]))
        if value and name not in FREE and value not in ("0", "0x0"):
            fields[name] = value
    set_free(fields)
    return ["%s=%s" % field for field in fields.items() if field[1]]


def its_threads(text):
    """pstat has more of them than perf."""
    return re.sub(r"common_pid != \d+( && common_pid != \d+)*", "common_pid != ITS", text)


def opened_and_refused(trace):
    by_fd, opened, refused = {}, [], set()
    for pid, call in whole_calls(trace):
        match = CALL.match(call)
        if match:
            text, task, cpu, group, flags, result, errno = match.groups()
            fields = normal(text)
            if errno == "EOPNOTSUPP":
                refused.add(" ".join(f for f in fields if f.startswith(("config=", "branch_sample_type="))))
            if not errno:
                by_fd[pid, result] = Opened(task, cpu, by_fd.get((pid, group)), flags, fields)
                opened.append(by_fd[pid, result])
            continue
        match = IOCTL.match(call)
        event = match and by_fd.get((pid, match[1]))
        if event and match[2] == "PERF_EVENT_IOC_ID":
            event.kept = event.samples
        elif event and match[2] == "PERF_EVENT_IOC_SET_FILTER":
            event.filter = " filter " + its_threads(match[3])
    return {"opened": [e.line + e.filter for e in opened if e.kept], "refused": list(refused)}


for path in sys.argv[2:]:
    with open(path) as trace_file, open(path + ".normal", "w") as out:
        for line in sorted(opened_and_refused(trace_file)[sys.argv[1]]):
            print(line, file=out)
