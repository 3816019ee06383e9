# SPDX-License-Identifier: MIT
"""The Python module, for bindings_python.sh: prints "ok - ", "not ok - " or "skip - name # why" for each test.

bindings_python.py             runs the tests
bindings_python.py layout      prints a program in C that says how the header's structs differ from the module's
"""
import ctypes
import mmap
import os
import subprocess
import sys
import threading
import time
import traceback

import pstat

PAGES = 4096
FAULTS = PAGES // 512 # so many at least: a huge page has 512


class Skip(Exception):
    """What the machine or the user lacks."""


def mapped(pages=PAGES):
    """New memory, which no page fault has made yet."""
    return mmap.mmap(-1, pages * mmap.PAGESIZE)


def touch(memory):
    for at in range(0, len(memory), mmap.PAGESIZE):
        memory[at] = 1


def raises(kind, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind as e:
        return e
    raise AssertionError("%s: nothing was raised" % kind.__name__)


def test_measures_a_block():
    memory = mapped()
    with pstat.measure("page-faults,task-clock") as m:
        assert len(m) == 0
        touch(memory)
    faults, clock = m
    assert faults.state == pstat.State.COUNTED and str(faults.state) == "counted", faults
    assert faults.raw == faults.scaled == faults.value >= FAULTS, faults
    assert faults.enabled_ns == faults.running_ns > 0, faults
    assert clock.unit == "msec" and clock.value > 0, clock
    assert m["page-faults"] == m[0] == m[-2] and m.json() == {faults.name: faults.value, clock.name: clock.value}
    raises(KeyError, lambda: m["nothing"])
    raises(IndexError, lambda: m[2])


def test_an_exception_ends_counting():
    counters = pstat.Counters("page-faults")
    try:
        with pstat.measure(counters) as m:
            touch(mapped())
            raise KeyError("wanted")
    except KeyError:
        pass
    assert m[0].raw >= FAULTS
    before = counters.read()[0].raw
    touch(mapped())
    assert counters.read()[0].raw == before


def test_measurements_with_one_handle_are_apart():
    counters, memory = pstat.Counters("page-faults"), mapped()
    with pstat.measure(counters) as many:
        touch(memory)
    with pstat.measure(counters) as few:
        pass
    assert few[0].raw < FAULTS <= many[0].raw, (few[0], many[0])


def test_a_group_counts_the_same():
    events = pstat.Events("task-clock").add_group("page-faults", "minor-faults", "major-faults")
    assert len(events) == 4
    counters = pstat.Counters(events)
    assert [c.leader for c in counters] == [0, 1, 1, 1] and counters[1].n_members == 3 and len(counters) == 4
    memory = mapped()
    with pstat.measure(counters) as m:
        touch(memory)
    assert m[1].raw == m[2].raw + m[3].raw >= FAULTS and m[1].enabled_ns == m[3].enabled_ns, list(m)


def test_attrs():
    page_faults = pstat.Attr(type=1, config=2, exclude_kernel=1, exclude_hv=1)
    events = pstat.Events().add_attr(page_faults, "by numbers")
    memory = mapped()
    with pstat.measure(events) as m:
        touch(memory)
    assert m["by numbers"].raw >= FAULTS, m[0]


def test_errors_have_the_sentence():
    e = raises(pstat.Error, pstat.Events, "no-such-event")
    assert e.errno == 2 and str(e).startswith("unknown event 'no-such-event'"), e
    e = raises(OSError, pstat.Counters, "page-faults", tid=0x7ffffff0)
    assert e.errno == 3 and str(e), e
    raises(TypeError, pstat.Counters, "page-faults", no_such_option=1)
    raises(ValueError, pstat.Counters, "page-faults", pid=1, cpus="all")
    raises(ValueError, pstat.Counters, "page-faults", pid=[])
    raises(pstat.Error, pstat.Counters("page-faults").descriptors, 7)


def test_closed_handles():
    for handle, use in ((pstat.Events("page-faults"), lambda h: h.names), (pstat.Counters("page-faults"), lambda h: h.enable()),
                        (pstat.Counters("page-faults").read(), lambda h: h[0]),
                        (pstat.Sampler("page-faults"), lambda h: h.wait(0))):
        with handle:
            use(handle)
        handle.close()
        raises(ValueError, use, handle)
    sampler = pstat.Sampler("page-faults")
    counters = sampler.counters
    sampler.close()
    raises(ValueError, counters.read)


def test_what_cannot_be_counted_says_why():
    with pstat.measure("cycles,page-faults") as m:
        touch(mapped())
    cycles = m["cycles"]
    if cycles.state == pstat.State.NOT_SUPPORTED:
        assert cycles.value is None and cycles.reason and m.json()["cycles"] is None, cycles
    else:
        assert cycles.value or cycles.state == pstat.State.NOT_COUNTED, cycles
    assert m["page-faults"].state == pstat.State.COUNTED


def test_enabled_on_cpus():
    try:
        counters = pstat.Counters("cpu-clock", cpus="all", enabled=True)
    except PermissionError:
        raise Skip("needs the right to count whole CPUs")
    except pstat.Error as e:
        if e.errno in (1, 13):
            raise Skip("needs the right to count whole CPUs")
        raise
    idle = pstat.Counters("cpu-clock", cpus="all")
    end = time.monotonic() + 60
    while counters.read()[0].raw == 0:
        assert time.monotonic() < end, "it counts nothing"
    readings = counters.read()
    cells = readings.cells()
    assert sum(reading.raw for _, _, _, reading in cells) == readings[0].raw, cells
    assert len(cells) == len(counters.descriptors(0)) == len(counters.ids(0))
    assert all(cpu >= 0 and tid == -1 for _, cpu, tid, _ in cells), cells
    assert idle.read()[0].raw == 0


def test_reads_its_own_counters():
    counters, memory = pstat.Counters("page-faults", enabled=True, user_read=True), mapped()
    touch(memory)
    assert FAULTS <= counters.user_read() <= counters.read()[0].raw
    assert counters.user_read_reason()
    readings = counters.read()
    assert counters.read(readings) is readings
    counters.disable()
    counters.reset()
    assert counters.read()[0].raw == 0


def test_descriptors_are_closed():
    def descriptors():
        return sorted(os.listdir("/proc/self/fd"))
    before = descriptors()
    for _ in range(10):
        with pstat.measure("page-faults,task-clock"):
            pass
        pstat.Sampler("page-faults").close()
        pstat.Counters("page-faults") # has no name, and ends at once
    assert descriptors() == before


def test_reads_from_several_threads():
    counters, failed = pstat.Counters("page-faults", enabled=True), []

    def read():
        readings = counters.read()
        for _ in range(500):
            if counters.read(readings)[0].state != pstat.State.COUNTED:
                failed.append(readings[0])
    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_each_page_is_a_sample():
    pages, field = 50, pstat.Field
    memory = mapped(pages)
    if not hasattr(mmap, "MADV_NOHUGEPAGE"):
        raise Skip("needs Python 3.8 for mmap.madvise()")
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    with pstat.Sampler("page-faults:u", period=1, fields=field.IP | field.ADDR | field.CALLCHAIN | field.CPU) as sampler:
        sampler.enable()
        touch(memory)
        sampler.disable()
        records = [r for r in sampler if isinstance(r, pstat.Sample) and 0 <= r.addr - first < pages * mmap.PAGESIZE]
        assert list(sampler) == [] and sampler.counts.lost == 0
        assert sampler.counts.samples >= pages and sampler.counters.read()[0].raw >= pages
    assert {(r.addr - first) // mmap.PAGESIZE for r in records} == set(range(pages)), records
    assert [r.time_ns for r in records] == sorted(r.time_ns for r in records)
    for r in records:
        assert r.type == "SAMPLE" and r.event == 0 and r.mode == pstat.Mode.USER and r.pid == os.getpid(), r
        assert r.ip and r.ips and r.cpu is not None and r.period is None and r.raw is None and r.branches is None, r


def test_follows_a_program_until_it_ends():
    waits = subprocess.Popen(["sh", "-c", "read line; exec true"], stdin=subprocess.PIPE)
    track = pstat.Track.NAMES | pstat.Track.TASKS | pstat.Track.MAPS
    with pstat.Sampler("page-faults:u", period=1, fields=pstat.Field.ADDR, track=track, pid=waits.pid,
                       enabled=True) as sampler:
        assert not sampler.wait(0) or list(sampler) is not None
        waits.stdin.close()
        records = list(sampler.follow())
        assert sampler.wait(0) is None
    waits.wait()
    kinds = {type(r).__name__: r for r in records}
    assert [r.name for r in records if isinstance(r, pstat.Comm) and r.exec] == ["true"], kinds
    assert kinds["Task"].type == "EXIT" and kinds["Task"].pid == waits.pid, kinds
    assert kinds["Sample"].addr and kinds["Sample"].ip is None and kinds["Map"].path.startswith("/"), kinds


def test_what_is_known():
    assert pstat.supported() and pstat.max_stack() > 0
    assert pstat.event_label(1, 2) == "page-faults"
    names = {event.name: event for event in pstat.known("sw")}
    assert names["page-faults"].alias == "faults" and names["page-faults"].topic == "sw", names
    assert [event.name for event in pstat.known("sw", "major-faults")] == ["major-faults"]
    assert raises(pstat.Error, pstat.known, "no such topic").errno == 2


def test_json_with_details():
    with pstat.measure("page-faults") as m:
        touch(mapped())
    (name, details), = m.json(details=True).items()
    assert name == m[0].name and details["value"] == m[0].value and details["state"] == "counted", details
    assert details["enabled_ns"] == m[0].enabled_ns and list(m.json(perf_utils=True).values()) == [m[0].value]


def test_events_with_periods_of_their_own():
    events = pstat.Events("page-faults:u", "minor-faults:u").set_period(0, 1).set_period(1, 1 << 40)
    assert raises(pstat.Error, events.set_frequency, 2, 1).errno == 22
    with pstat.Sampler(events) as sampler:
        sampler.enable()
        touch(mapped())
        sampler.pause()
        touch(mapped())
        sampler.disable()
        seen = {record.event for record in sampler if isinstance(record, pstat.Sample)}
        assert seen == {0}, seen
        before = sampler.counts.delivered
        sampler.pause(False)
        sampler.enable()
        touch(mapped())
        sampler.disable()
        assert len(list(sampler)) >= 1 and sampler.counts.delivered > before


def test_waits_no_longer_than_it_is_told():
    with pstat.Sampler("page-faults", period=1) as sampler:
        assert sampler.wait(0) is False and sampler.wait(0.01) is False
        assert list(sampler.follow(0.01)) == []


def test_tracepoint():
    try:
        events = pstat.Events("raw_syscalls:sys_enter")
    except pstat.Error as e:
        raise Skip("needs tracefs that this user may read: %s" % str(e).split("\n")[0])
    with pstat.Sampler(events, period=1, fields=pstat.Field.RAW) as sampler:
        if not sampler.counters[0].supported:
            raise Skip("needs the right to use tracepoints")
        sampler.enable()
        for _ in range(10):
            os.getppid()
        sampler.disable()
        samples = [r for r in sampler if len(r.raw) >= 16]
        number, pid = events.field(0, "id"), events.field(0, "common_pid")
        getppid = {"x86_64": 110, "aarch64": 173}.get(os.uname().machine)
        assert getppid is None or sum(1 for r in samples if number.number(r) == getppid) >= 10
        assert len(samples) >= 10 and {pid.number(r.raw) for r in samples} == {os.getpid()}, samples[0]
        assert raises(pstat.Error, pid.number, b"").errno == 74 and not pid.is_text
        assert raises(pstat.Error, pid.text, samples[0]).errno == 22
        assert raises(pstat.Error, events.field, 0, "no_such_field").errno == 2
        assert isinstance(sampler.counters.bpf_programs(0), list)
        e = raises(pstat.Error, sampler.counters.set_filter, 0, "no_such_field == 1")
        assert "no_such_field" in str(e), e


def test_decoded_words():
    parts = pstat.decode_branch(pstat.Branch(1, 2, 1 | 1 << 3 | 77 << 4 | 5 << 20 | 2 << 24 | 3 << 30))
    assert parts == (True, False, False, True, 77, 5, 2, 3), parts
    assert parts.mispredicted is True and parts.branch_type == 5
    source = pstat.decode_data_source(2 | 8 << 5 | 4 << 19 | 2 << 24 | 10 << 26 | 3 << 33 | 1 << 37 | 1 << 38 | 2 << 40 | 3 << 43)
    assert source == (2, 8, 4, 2, 10, 3, 1, 1, 2, 3) and source.hops == 3, source
    transaction = pstat.decode_transaction(1 << 1 | 1 << 5 | 0x42 << 32)
    assert transaction == (False, True, False, False, False, True, False, False, 0x42), transaction
    assert transaction.conflict is True


def test_refresh():
    with pstat.Sampler("page-faults:u", period=1) as sampler:
        sampler.counters.refresh(0, 3)
        touch(mapped())
        assert sum(1 for r in sampler if isinstance(r, pstat.Sample)) == 3
        assert raises(pstat.Error, sampler.counters.refresh, 0, 0).errno == 22
        assert raises(pstat.Error, sampler.counters.bpf_programs, 0).errno in (1, 22)


def test_names():
    libc = ctypes.CDLL(None)
    address = ctypes.cast(libc.getppid, ctypes.c_void_p).value
    with pstat.Names() as names:
        name = names.of(address + 1)
        assert "getppid" in name.function and name.offset == 1 and name.file.startswith("/") and not name.reason, name
        other = names.of(address, os.getpid())
        assert other.function == name.function and other.file_address == name.file_address - 1, other
        nothing = names.of(16)
        assert nothing.function is None and nothing.file is None and nothing.reason == "nothing is mapped there", nothing
        ended = subprocess.Popen(["true"])
        ended.wait()
        assert raises(pstat.Error, names.of, address, ended.pid).errno == 3
        names.forget()
        assert names.of(address) == other
    raises(ValueError, names.of, address)


def test_text_of_a_tracepoint():
    try:
        events = pstat.Events("sched:sched_process_exec")
    except pstat.Error as e:
        raise Skip("needs tracefs that this user may read: %s" % str(e).split("\n")[0])
    file, pid = events.field(0, "filename"), events.field(0, "pid")
    waits = subprocess.Popen(["sh", "-c", "read line; exec true"], stdin=subprocess.PIPE)
    with pstat.Sampler(events, period=1, fields=pstat.Field.RAW, pid=waits.pid, enabled=True) as sampler:
        supported = sampler.counters[0].supported
        waits.stdin.close()
        records = [r for r in sampler.follow() if isinstance(r, pstat.Sample)] if supported else []
    waits.wait()
    if not supported:
        raise Skip("needs the right to use tracepoints")
    assert file.is_text and [os.path.basename(file.text(r)) for r in records] == ["true"], records
    assert pid.number(records[0]) == waits.pid, records


def layout():
    """Compares by C's own words. A struct may have more fields in the header: it says, or the library knows, its size."""
    print("#include <libpstat.h>\n#include <linux/perf_event.h>\n#include <stdio.h>\n#define SIZE(s, f) sizeof(((s *)0)->f)")
    print("#define SAME(what, c, py) if ((c) != (py)) printf(\"%s: %zu, not %zu\\n\", what, (size_t)(c), (size_t)(py))")
    print("int main(void)\n{")
    elements = (pstat.pstat_values, pstat.pstat_registers, pstat.pstat_branch, pstat.pstat_namespace)
    for kind in pstat._Struct.__subclasses__():
        tag = "struct " + ("perf_event_attr" if kind is pstat.Attr else kind.__name__)
        for name, _, *bits in kind._fields_:
            field = {"reserved_2": "__reserved_2", "reserved_3": "__reserved_3"}.get(name, name)
            if not bits:
                print('\tSAME("%s.%s", offsetof(%s, %s), %d);' % (tag, name, tag, field, getattr(kind, name).offset))
                print('\tSAME("bytes of %s.%s", SIZE(%s, %s), %d);' % (tag, name, tag, field, getattr(kind, name).size))
        if kind in elements:
            print('\tSAME("%s", sizeof(%s), %d);' % (tag, tag, ctypes.sizeof(kind)))
    print('\tputs("compared");\n\treturn 0;\n}')


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            title = name[len("test_"):].replace("_", " ")
            try:
                test()
                print("ok - " + title)
            except Skip as e:
                print("skip - %s # %s" % (title, e))
            except Exception: # each is a test of its own
                print("not ok - %s: %s" % (title, traceback.format_exc().strip().replace("\n", " | ")))
            sys.stdout.flush()


if __name__ == "__main__":
    layout() if sys.argv[1:] == ["layout"] else main()
