"""strace -f -v -e trace=perf_event_open,ioctl,close on stdin -> what a recorder opened, one normal line per
event and place, sorted, on stdout. With an argument: the calls that failed, with fields of that name only.

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
# pstat is woken when a part of the ring is full, perf by a poll after each event and each second.
FREE = {"watermark", "wakeup_watermark", "wakeup_events"}
# No meaning: descriptors, what no event here has.
FREE |= {"size", "sig_data"}

CALL = re.compile(r"perf_event_open\(\{(.*)\}, (-?\d+), (-?\d+), (-?\d+), (\S+)\)\s*=\s*(-?\d+)(?: (\w+))?")
ON_FD = re.compile(r"(ioctl|close)\((\d+)(?:, (\w+)(?:\(.*?\))?, (.*))?\)\s*=\s*-?\d+")
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
    fields = []
    for field in re.sub(r" /\*.*?\*/", "", text).split(", "):
        name, _, value = field.partition("=")
        if name in BITS:
            value = "|".join(sorted(set(value.split("|")) - BITS[name]))
        if value and name not in FREE and value not in ("0", "0x0"):
            fields.append("%s=%s" % (name, value))
    # perf leaves it in place when it takes cpu-clock for cycles; software events don't look at it.
    if "type=PERF_TYPE_SOFTWARE" in fields:
        fields = [f for f in fields if not f.startswith("precise_ip")]
    return fields


def main():
    opened, all_opened, failed = {}, [], set()
    wanted = sys.argv[1:]
    for pid, call in whole_calls(sys.stdin):
        match = CALL.match(call)
        if match:
            text, task, cpu, group, flags, result, errno = match.groups()
            fields = normal(text)
            if errno:
                failed.add("%s: %s" % (errno, " ".join(f for f in fields if f.split("=")[0] in wanted)))
                continue
            opened[pid, result] = Opened(task, cpu, opened.get((pid, group)), flags, fields)
            all_opened.append(opened[pid, result])
            continue
        match = ON_FD.match(call)
        if not match or (pid, match[2]) not in opened:
            continue
        event = opened[pid, match[2]]
        if match[1] == "close":
            del opened[pid, match[2]]
        elif match[3] == "PERF_EVENT_IOC_ID":
            event.kept = event.samples
        elif match[3] == "PERF_EVENT_IOC_SET_FILTER":
            event.filter = " filter " + re.sub(r"common_pid != \d+", "common_pid != ITS", match[4])
    print("\n".join(sorted(failed if wanted else [e.line + e.filter for e in all_opened if e.kept])))


main()
