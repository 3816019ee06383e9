#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What TAB makes of a line in a real shell, under a terminal of its own.

    completion.py SHELL SETUP... <lines

Runs the shell (bash, zsh, fish) in the present folder, has it do the SETUP commands, and types each line of
standard input, then TAB. Prints the line that is then there, one a line. What the terminal showed meanwhile
goes to screen.1, screen.2, ... A line may name what it must show before the next key is typed, after a TAB: a shell
may leave a list out while more keys are there to be read.

No time is waited for: a key is bound to a function that writes the line to a file and empties it. A shell takes
keys one after the other, so that the file is there when TAB has done its work.
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

SECONDS_MOST = 300
DUMP_KEY = b"\x14"
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], [
        "bind 'set enable-bracketed-paste off'; bind 'set show-all-if-ambiguous on'; bind 'set bell-style none'",
        "bind 'set completion-query-items 0'; bind 'set page-completions off'",
        "dump() { printf '%s' \"$READLINE_LINE\" >dump.new; mv dump.new dump; READLINE_LINE= READLINE_POINT=0; }",
        r"""bind -x '"\C-t": dump'""",
    ]),
    "zsh": (["zsh", "-f", "-i"], [
        "unsetopt zle_bracketed_paste prompt_cr; setopt no_beep no_list_beep; LISTMAX=0",
        "autoload -Uz compinit; compinit -D -u",
        "dump() { print -rn -- \"$BUFFER\" >dump.new; mv dump.new dump; BUFFER= }; zle -N dump; bindkey '^T' dump",
    ]),
    "fish": (["fish", "--private"], [
        "function dump; commandline >dump.new; mv dump.new dump; commandline ''; commandline -f cancel; end",
        r"bind \ct dump",
    ]),
}
ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[()].|[=>])")


class Terminal:
    def __init__(self, command):
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm", PS1="> ")
            os.execvp(command[0], command)
        # Wide and high: a list of candidates is printed as a whole.
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 500, 200, 0, 0))

    def type(self, keys):
        os.write(self.fd, keys)

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            text = os.read(self.fd, 65536)
        except OSError:
            text = b""
        if not text:
            sys.exit("the shell has ended, the terminal showed:\n%s" % self.text())
        self.seen += text
        if b"\x1b[c" in text or b"\x1b[0c" in text: # some shells ask what terminal this is, and wait
            self.type(b"\x1b[?62;c")
        return True

    def wait_for(self, path):
        """The file is there, and all that was printed before it was is read."""
        self.wait_until(lambda: os.path.exists(path))
        while self.read(0):
            pass

    def wait_until(self, holds):
        end = time.monotonic() + SECONDS_MOST
        while not holds():
            if time.monotonic() > end:
                sys.exit("nothing came for %d s, the terminal showed:\n%s" % (SECONDS_MOST, self.text()))
            self.read(0.02)

    def text(self):
        return ESCAPES.sub(b"", self.seen).decode("utf-8", "replace").replace("\r", "")


def tab(terminal, line):
    line, _, shown = line.partition("\t")
    terminal.seen = b""
    terminal.type(line.encode() + b"\t")
    terminal.wait_until(lambda: shown in terminal.text())
    terminal.type(DUMP_KEY)
    terminal.wait_for("dump")
    with open("dump", encoding="utf-8") as f:
        text = f.read()
    os.unlink("dump")
    return text.rstrip("\n")


def main():
    command, setup = SHELLS[sys.argv[1]]
    terminal = Terminal(command)
    for line in setup + sys.argv[2:]:
        terminal.type(line.encode() + b"\r")
    # What comes before the shell has set the terminal up might be echoed, never lost.
    terminal.type(b"touch ready\r")
    terminal.wait_for("ready")
    os.unlink("ready")
    for number, line in enumerate(sys.stdin.read().splitlines(), 1):
        print(tab(terminal, line), flush=True)
        with open("screen.%d" % number, "w", encoding="utf-8") as f:
            f.write(terminal.text())
    os.close(terminal.fd) # the terminal hangs up
    os.waitpid(terminal.pid, 0)


main()
