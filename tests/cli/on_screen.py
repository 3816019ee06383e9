#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""on_screen.py COLUMNS DESCRIPTORS COMMAND...: runs the command with these descriptors (12: standard output and
error) on a terminal of that width and 24 lines; what it writes there goes to standard output at once, without
carriage returns. Ends with the command's exit status."""
import fcntl
import os
import select
import signal
import struct
import sys
import termios

columns, descriptors, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
ours, theirs = os.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
ended, tell = os.pipe()


def become_command():
    for fd in descriptors:
        os.dup2(theirs, int(fd))
    os.close(ours)
    os.close(theirs)
    try:
        os.execvp(command[0], command)
    finally:
        os._exit(127)


# When the leader of the terminal's session ends, what nobody has read yet is gone: it stays until all was read.
leader = os.fork()
if not leader:
    os.setsid()
    fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
    pid = os.fork()
    if not pid:
        become_command()
    os.write(tell, struct.pack("i", os.waitpid(pid, 0)[1]))
    signal.pause()
    os._exit(0)
os.close(theirs)
os.close(tell)


def pass_on():
    """False: there is nothing more."""
    try:
        piece = os.read(ours, 65536)
    except OSError:  # nothing is there now, or the last who had it open has ended
        return False
    sys.stdout.buffer.write(piece.replace(b"\r", b""))
    sys.stdout.buffer.flush()
    return bool(piece)


os.set_blocking(ours, False)
while ended not in select.select([ours, ended], [], [])[0]:
    pass_on()
while pass_on():
    pass
status = struct.unpack("i", os.read(ended, 4).ljust(4, b"\1"))[0]
os.kill(leader, signal.SIGKILL)
os.waitpid(leader, 0)
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
