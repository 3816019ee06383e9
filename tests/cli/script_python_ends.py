#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""script_python_ends.py PSTAT RECORDING: how pstat script -s ends by signals, with a script whose first call says so and
then waits for a file, or for ever. Each line: the way, pstat's status, and what is left. Every wait is for a state."""
import os
import signal
import subprocess
import sys
import time

DEADLINE_S = 60
SCRIPT = """
import os, sys, time
n = 0

def process_event(sample):
    global n
    n += 1
    if n > 1:
        return
    with open("pid.new", "w") as f:
        f.write(str(os.getpid()))
    os.rename("pid.new", "pid")
    while sys.argv[1] == "ever":
        pass
    if sys.argv[1] == "fork":
        if os.fork():
            os._exit(5)
        os.rename("pid", "parent")
        with open("pid.new", "w") as f:
            f.write(str(os.getpid()))
        os.rename("pid.new", "pid")
        while True:
            time.sleep(100)
    while not os.path.exists("go"):
        time.sleep(0.01)

def trace_end():
    print("some are called, then trace_end" if 0 < n < 10000 else "%d are called" % n)
"""


def wait_for(what, state):
    end = time.monotonic() + DEADLINE_S
    while not state():
        if time.monotonic() > end:
            sys.exit("not within %d s: %s" % (DEADLINE_S, what))
        time.sleep(0.01)


def by_default():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(word):
    for name in ("pid", "go"):
        if os.path.exists(name):
            os.unlink(name)
    run = subprocess.Popen([sys.argv[1], "script", "-q", "-i", sys.argv[2], "-s", "ends.py", word], start_new_session=True,
                           preexec_fn=by_default, stdout=subprocess.PIPE, text=True)
    wait_for("the first call", lambda: os.path.exists("pid"))
    return run


def is_gone(pid):
    """Also one that only waits for its end to be noted."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def python():
    with open("pid") as f:
        return int(f.read())


def main():
    with open("ends.py", "w") as f:
        f.write(SCRIPT)
    run = start("wait")
    os.killpg(run.pid, signal.SIGINT)
    open("go", "w").close()
    out = run.communicate(timeout=DEADLINE_S)[0]
    print("Ctrl-C: %d, %s" % (run.returncode, out.strip()))

    run = start("ever")

    def interrupted_again():
        os.killpg(run.pid, signal.SIGINT)
        return run.poll() is not None

    wait_for("Ctrl-C ends it", interrupted_again)
    wait_for("no Python", lambda: is_gone(python()))
    print("Ctrl-C at a call that does not end: %d, no Python" % run.returncode)
    for number, way in (signal.SIGKILL, "killed"), (signal.SIGTERM, "terminated"):
        run = start("ever")
        run.send_signal(number)
        run.wait(timeout=DEADLINE_S)
        wait_for("no Python", lambda: is_gone(python()))
        print("%s: %d, no Python" % (way, run.returncode))

    run = start("fork")
    run.wait(timeout=DEADLINE_S)
    print("a fork that stays: %d" % run.returncode)
    wait_for("its process", lambda: os.path.exists("parent") and os.path.exists("pid"))
    os.kill(python(), signal.SIGKILL)


main()
