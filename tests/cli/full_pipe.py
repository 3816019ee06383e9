# SPDX-License-Identifier: MIT
"""full_pipe.py nonblocking|blocking|unread PSTAT ARGUMENT...: pstat with a standard error that is a full pipe.

Nobody reads before the command has ended and pstat has seen that (its process is gone). Then all is read, and what
pstat wrote is printed; the last line of this program is pstat's exit status and whether the last time that it printed
(of an interval) is of before the reading: "status 0, on time".
unread: nobody ever reads, and a signal has to end pstat; "status 125" is all that is printed then.
The command must put its process id into the file "pid", and go on until there is a file "end".
"""
import fcntl
import os
import signal
import subprocess
import sys
import time

FILLER = b"."


def main():
    mode, program = sys.argv[1], sys.argv[2:]
    out, into = os.pipe()
    flags = fcntl.fcntl(into, fcntl.F_GETFL)
    fcntl.fcntl(into, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    filled = 0
    try:
        while True:
            filled += os.write(into, FILLER * 512)
    except BlockingIOError:
        pass
    if mode != "nonblocking":
        fcntl.fcntl(into, fcntl.F_SETFL, flags)
    start = time.monotonic()
    pstat = subprocess.Popen(program, stderr=into, stdin=subprocess.DEVNULL)
    os.close(into)
    while not os.path.exists("pid") or not open("pid").read().strip():
        time.sleep(0.01)
    time.sleep(0.2) # some intervals
    pid = open("pid").read().strip()
    open("end", "w").close()
    while os.path.exists("/proc/" + pid):
        time.sleep(0.01)
        if time.monotonic() - start > 300:
            pstat.kill()
            sys.exit("the command was not waited for while nobody read")
    if mode == "unread":
        while pstat.poll() is None:
            pstat.send_signal(signal.SIGINT)
            time.sleep(0.05)
        print("status %d" % pstat.returncode)
        return
    time.sleep(1) # pstat may have to wait for a CPU before it takes its last time
    waited = time.monotonic() - start
    text = b""
    while True:
        piece = os.read(out, 65536)
        if not piece:
            break
        text += piece
    status = pstat.wait()
    text = text[filled:].decode()
    print(text, end="")
    times = [float(line.split(",")[0]) for line in text.splitlines() if ",page-faults" in line and "-I" in program]
    print("status %d, %s" % (status, "on time" if not times or times[-1] <= waited else "late: %f" % times[-1]))


main()
