#!/usr/bin/env python3
"""on_screen.py COLUMNS DESCRIPTORS COMMAND...: runs the command with these descriptors (12: standard output and
error) on a terminal of that width and 24 lines; what it writes there goes to standard output at once, without
carriage returns. Ends with the command's exit status."""
import fcntl
import os
import struct
import sys
import termios

columns, descriptors, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
ours, theirs = os.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
pid = os.fork()
if not pid:
    os.setsid()
    fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
    for fd in descriptors:
        os.dup2(theirs, int(fd))
    os.close(ours)
    os.close(theirs)
    try:
        os.execvp(command[0], command)
    finally:
        os._exit(127)
os.close(theirs)
while True:
    try:
        piece = os.read(ours, 65536)
    except OSError:  # the last who had it open has ended
        break
    if not piece:
        break
    sys.stdout.buffer.write(piece.replace(b"\r", b""))
    sys.stdout.buffer.flush()
status = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
