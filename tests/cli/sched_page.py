#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is in a page of `pstat sched page`, read as a browser reads it.

sched_page.py runs PAGE         a line for each run that has ended, as `sched timehist` has it: end, CPU, number of the
                                task, wait, delay and run time in ms
sched_page.py wakers PAGE       a line for each run that another task woke: end, numbers of the task and of the other
sched_page.py last PAGE         a line for each run that goes on, or that began unseen: CPU, number of the task, which
sched_page.py inert PAGE        no markup but the page's own: exit 1 with what is there beside it
sched_page.py drive PAGE JS TO  the page with a script behind its own, which the page's policy lets run"""
import base64
import json
import sys

from flamegraph import Page, SCRIPT, drive

WAIT_KNOWN, BEGAN_UNSEEN, GOES_ON, STATE_SHIFT = 1, 2, 4, 3


def page_data(path):
    with open(path, encoding="utf-8") as f:
        found = SCRIPT.findall(f.read())
    assert len(found) == 1, "%d data elements" % len(found)
    data = json.loads(found[0])
    assert data["format"] == "pstat sched" and data["format_version"] == 1
    return data


def numbers(data):
    value, shift = 0, 0
    for byte in base64.b64decode(data["runs"], validate=True):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value, shift = 0, 0
    assert not value and not shift


def runs(path):
    """(end, length, CPU, task, how, wait of the task before, delay or -1, waker or -1), times in ns."""
    data = page_data(path)
    all_numbers, end, before = list(numbers(data)), 0, {}
    assert len(all_numbers) == 7 * data["n_runs"]
    for at in range(0, len(all_numbers), 7):
        step, length, cpu, task, how, delay, waker = all_numbers[at:at + 7]
        end += step
        assert cpu < data["n_cpus"] and task < len(data["tasks"]["tid"]) and waker <= len(data["tasks"]["tid"])
        assert how >> STATE_SHIFT < len(data["states"])
        wait = end - length - before[task] if how & WAIT_KNOWN and task in before else 0
        before[task] = end
        yield data["start_ns"] + end, length, cpu, task, how, wait, delay - 1, waker - 1


def tid_of(path):
    return page_data(path)["tasks"]["tid"]


def ms(ns):
    return "%d.%03d" % (ns // 1000000, ns // 1000 % 1000)


def seconds(ns):
    return "%d.%06d" % (ns // 1000000000, ns // 1000 % 1000000)


def show_runs(path):
    tids = tid_of(path)
    for end, length, cpu, task, how, wait, delay, _ in runs(path):
        if how & GOES_ON or not tids[task]:
            continue
        if how & BEGAN_UNSEEN:
            wait, delay, length = 0, -1, 0
        print(seconds(end), cpu, tids[task], ms(wait), ms(max(0, delay)), ms(length))


def show_wakers(path):
    tids = tid_of(path)
    for end, _, _, task, _, _, _, waker in runs(path):
        if waker >= 0:
            print(seconds(end), tids[task], tids[waker])


def show_last(path):
    tids = tid_of(path)
    for _, _, cpu, task, how, _, _, _ in runs(path):
        words = [word for bit, word in ((BEGAN_UNSEEN, "unseen"), (GOES_ON, "goes on")) if how & bit]
        if words:
            print(cpu, tids[task], *words)


def inert(path):
    with open(path, "rb") as f:
        text = f.read().decode("utf-8")
    page = Page()
    page.feed(text)
    strange = page.strange + (["%d scripts" % page.scripts] if page.scripts != 2 else [])
    strange += [one for one in "<>&\x1b\x7f" if one in SCRIPT.findall(text)[0]]
    if strange:
        print(strange[:10])
        sys.exit(1)


if __name__ == "__main__":
    {"runs": show_runs, "wakers": show_wakers, "last": show_last, "inert": inert, "drive": drive}[sys.argv[1]](*sys.argv[2:])
