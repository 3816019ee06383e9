#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pty_screen.py LINES COLUMNS STEP... -- COMMAND...: runs the command on a terminal of that size and does the steps, one
after the other. A step is an argument:

    until REGEX       waits until a line of the screen matches
    gone REGEX        waits until none does
    row REGEX         waits until the first row of a table does
    stays S REGEX     looks for S seconds whether a line matches all the time: what goes on is read meanwhile
    ready             waits until the browser has read all: its status line says no more that it reads
    keys WORD...      presses keys: Down, Enter, Esc, ... or characters
    type TEXT         presses the characters of the text
    click LINE        presses the mouse's button in a line, from 1
    wheel up|down     turns its wheel by one
    size LINES COLUMNS  makes the terminal that large
    signal NAME       sends the command's process group a signal: INT, HUP, ...
    hold              the terminal takes nothing from now on, as behind Ctrl-S
    close             the terminal goes away
    run COMMAND...    runs another command, until it ends
    show              prints the screen, without blanks at the ends of lines and empty lines at its end, when all keys
                      were read and what they made is drawn; so does `selected`
    line REGEX        prints the lines that match
    selected          prints the line that is shown reverse, below the first
    cursor            prints the cursor's line and column, from 1; "hidden" where it is
    attributes        prints the screen's rendition numbers that were used (31 32 ...)
    end               waits until the command has ended; prints "status N" or "signal N"
    modes             prints whether the terminal's modes are those before, and whether its cursor and screen are

Nothing else waits for a time: what does not come within LIMIT_S is a failure, with the screen, and exit status 1.
As a module: class Terminal."""
import codecs
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata

LIMIT_S = float(os.environ.get("SCREEN_LIMIT", "300"))
SILENCE_S = 0.02
PPOLL = ("271", "73") # its number on x86-64, and on most others
KEYS = {"Up": "\033OA", "Down": "\033OB", "Right": "\033OC", "Left": "\033OD", "Home": "\033OH", "End": "\033OF",
        "PgUp": "\033[5~", "PgDn": "\033[6~", "Enter": "\r", "Esc": "\033", "Tab": "\t", "BackTab": "\033[Z",
        "Backspace": "\x7f", "CtrlC": "\x03", "CtrlU": "\x15", "CtrlZ": "\x1a", "F1": "\033OP", "Space": " "}


class Cells:
    """What a terminal like xterm makes of bytes, as far as programs of curses and slang write them."""

    SEQUENCE = re.compile(r"\033(?:\[([?>]?)([0-9;]*)([@-~])|\]([^\007\033]*)(?:\007|\033\\)|([()*+])(.)|([^\[\]()*+]))", re.S)

    def __init__(self, lines, columns):
        self.alternate = self.cursor = self.keypad = False
        self.mouse = set()
        self.cursor = True
        self.rest, self.used, self.reverse, self.other = "", set(), False, None
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.y = self.x = 0
        self.command = None
        self.resize(lines, columns, fresh=True)

    def resize(self, lines, columns, fresh=False):
        old = None if fresh else self.rows
        self.lines, self.columns = lines, columns
        self.rows = [[(" ", False)] * columns for _ in range(lines)]
        for y in range(0 if fresh else min(lines, len(old))):
            self.rows[y][:len(old[y])] = old[y][:columns]
        self.top, self.bottom = 0, lines - 1
        self.y, self.x = min(self.y, lines - 1), min(self.x, columns - 1)

    def blank(self, n):
        return [(" ", False)] * n

    def scroll(self, n, top=None):
        top = self.top if top is None else top
        for _ in range(min(abs(n), self.lines)):
            if n > 0:
                del self.rows[top]
                self.rows.insert(self.bottom, self.blank(self.columns))
            else:
                del self.rows[self.bottom]
                self.rows.insert(top, self.blank(self.columns))

    def put(self, c):
        wide = 2 if c > "\x7f" and unicodedata.east_asian_width(c) in "WF" else 1
        if self.x + wide > self.columns:
            self.x = 0
            self.down()
        self.rows[self.y][self.x] = (c, self.reverse)
        if wide == 2:
            self.rows[self.y][self.x + 1] = ("", self.reverse)
        self.x += wide
        self.last = c

    def down(self):
        if self.y == self.bottom:
            self.scroll(1)
        elif self.y < self.lines - 1:
            self.y += 1

    def feed(self, data):
        text = self.rest + self.decoder.decode(data)
        at = 0
        while at < len(text):
            c = text[at]
            if c == "\033":
                found = self.SEQUENCE.match(text, at)
                if not found:
                    if len(text) - at > 200:
                        at += 1
                        continue
                    break
                self.sequence(found)
                at = found.end()
                continue
            at += 1
            if c == "\r":
                self.x = 0
            elif c == "\n":
                self.down()
            elif c == "\b":
                self.x = max(0, min(self.x, self.columns) - 1)
            elif c == "\t":
                self.x = min(self.columns - 1, self.x // 8 * 8 + 8)
            elif c >= " " and c != "\x7f":
                self.put(c)
        self.rest = text[at:]

    def sequence(self, found):
        private, numbers, final, _, charset, _, single = found.groups()
        if charset:
            return
        if single:
            if single == "M":
                if self.y == self.top:
                    self.scroll(-1)
                else:
                    self.y -= 1
            elif single == "=":
                self.keypad = True
            elif single == ">":
                self.keypad = False
            return
        if final is None:
            self.command = found.group(4)
            return
        values = [int(n or 0) for n in numbers.split(";")]
        n = values[0] or 1
        row, x = self.rows[self.y], min(self.x, self.columns)
        if private:
            if private == "?" and final in "hl":
                self.mode(values, final == "h")
        elif final in "Hf":
            self.y = min((values[0] or 1) - 1, self.lines - 1)
            self.x = min((values[1] if len(values) > 1 and values[1] else 1) - 1, self.columns - 1)
        elif final == "A":
            self.y = max(self.y - n, 0)
        elif final in "Be":
            self.y = min(self.y + n, self.lines - 1)
        elif final in "Ca":
            self.x = min(self.x + n, self.columns - 1)
        elif final == "D":
            self.x = max(self.x - n, 0)
        elif final in "G`":
            self.x = min(n - 1, self.columns - 1)
        elif final == "d":
            self.y = min(n - 1, self.lines - 1)
        elif final == "J":
            if values[0] in (0, 2, 3):
                first = self.y + 1 if not values[0] else 0
                if not values[0]:
                    row[x:] = self.blank(self.columns - x)
                for y in range(first, self.lines):
                    self.rows[y] = self.blank(self.columns)
            else:
                row[:x + 1] = self.blank(min(x + 1, self.columns))
                for y in range(self.y):
                    self.rows[y] = self.blank(self.columns)
        elif final == "K":
            if values[0] == 0:
                row[x:] = self.blank(self.columns - x)
            elif values[0] == 1:
                row[:x + 1] = self.blank(min(x + 1, self.columns))
            else:
                row[:] = self.blank(self.columns)
        elif final == "X":
            row[x:x + n] = self.blank(len(row[x:x + n]))
        elif final == "P":
            row[x:] = row[x + n:] + self.blank(min(n, self.columns - x))
        elif final == "@":
            row[x:] = (self.blank(n) + row[x:])[:self.columns - x]
        elif final == "L":
            self.scroll(-n, self.y)
        elif final == "M":
            self.scroll(n, self.y)
        elif final == "S":
            self.scroll(n)
        elif final == "T":
            self.scroll(-n)
        elif final == "b":
            for _ in range(n):
                self.put(self.last)
        elif final == "r":
            self.top = (values[0] or 1) - 1
            self.bottom = (values[1] if len(values) > 1 and values[1] else self.lines) - 1
            self.y = self.x = 0
        elif final == "m":
            for value in values:
                self.used.add(value)
                if value in (0, 27):
                    self.reverse = False
                elif value == 7:
                    self.reverse = True

    def mode(self, values, on):
        for value in values:
            if value == 25:
                self.cursor = on
            elif value in (47, 1047, 1049):
                if on and not self.alternate:
                    self.other = (self.rows, self.y, self.x)
                    self.rows = [self.blank(self.columns) for _ in range(self.lines)]
                elif not on and self.alternate and self.other:
                    rows, self.y, self.x = self.other
                    self.rows = [(row + self.blank(self.columns))[:self.columns] for row in rows[:self.lines]]
                    self.rows += [self.blank(self.columns) for _ in range(self.lines - len(self.rows))]
                self.alternate = on
            elif value in (1000, 1002, 1003, 1006): # what is told, and how
                self.mouse = self.mouse | {value} if on else self.mouse - {value}

    def text(self):
        return ["".join(c for c, _ in row).rstrip() for row in self.rows]


class Terminal:
    def __init__(self, lines, columns, command, env=None):
        self.cells = Cells(lines, columns)
        self.ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.before = termios.tcgetattr(theirs)
        self.theirs = theirs # kept open: modes can be asked for, and output after the end be read
        self.begun = time.monotonic()
        self.pid = os.fork()
        if not self.pid:
            os.setsid()
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
            for fd in (0, 1):
                os.dup2(theirs, fd)
            if os.environ.get("SCREEN_STDERR"):
                os.dup2(os.open(os.environ["SCREEN_STDERR"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
            else:
                os.dup2(theirs, 2)
            os.closerange(3, 100)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            try:
                os.execvpe(command[0], command, env or os.environ)
            finally:
                os._exit(127)
        self.status = None
        self.pressed = None # waits() before the last key

    def ended(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
        return self.status is not None

    def read(self, wait_s):
        """Takes what there is; false: nothing came."""
        if self.ours < 0 or not select.select([self.ours], [], [], wait_s)[0]:
            return False
        try:
            data = os.read(self.ours, 65536)
        except OSError:
            return False
        self.cells.feed(data)
        return bool(data)

    def waits_for_a_key(self):
        """Is the command in ppoll(2) without an end, as the browser is when there is nothing to do but to wait for a key?"""
        try:
            with open("/proc/%d/syscall" % self.pid) as f:
                call = f.read().split()
            return call[0] in PPOLL and call[3] == "0x0"
        except (OSError, IndexError):
            return False

    def is_busy(self):
        """Does the command do something, or would if it were not stopped? When it sleeps and all it wrote is read, the
        screen is whole."""
        try:
            with open("/proc/%d/stat" % self.pid) as f:
                return f.read().rpartition(")")[2].split()[0] in "RDT"
        except OSError:
            return False

    def waits(self):
        """How often the command, or what a shell runs, has waited for something; None: it is gone."""
        pid = self.pid
        try:
            while True:
                with open("/proc/%d/status" % pid) as f:
                    status = f.read()
                with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
                    children = f.read().split()
                if not children or not re.search(r"^Name:\s*(sh|bash|dash)$", status, re.M):
                    return pid, re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.M).group(1)
                pid = int(children[0])
        except (OSError, AttributeError):
            return None

    def is_behind(self):
        """Are there keys that the command has not read yet, or has not even been told of?"""
        if self.theirs < 0 or self.ended():
            return False
        unread = fcntl.ioctl(self.theirs, termios.FIONREAD, struct.pack("i", 0))
        return struct.unpack("i", unread)[0] > 0 or (self.pressed is not None and self.waits() == self.pressed)

    def settle(self, end):
        """Reads until all keys were read and what they made is drawn: at once where the command waits for the next key;
        of one that waits for something else, too, it is taken for done when it has slept and written nothing for SILENCE_S."""
        while time.monotonic() < end:
            if self.read(0) or self.is_behind():
                self.read(0.001)
            elif self.waits_for_a_key():
                if not self.read(0):
                    return
            elif self.is_busy():
                self.read(0.001)
            elif not self.read(SILENCE_S):
                return

    def finish(self):
        """What the command wrote before it ended has all come when a mark behind it has."""
        if self.theirs < 0:
            return
        termios.tcflow(self.theirs, termios.TCOON)
        os.write(self.theirs, b"\033]the end\007")
        end = time.monotonic() + LIMIT_S
        while self.cells.command != "the end" and time.monotonic() < end:
            self.read(0.1)

    def until(self, seen, limit_s=LIMIT_S):
        """Reads until seen(lines) holds; false: it does not, and the command has ended or too long has gone."""
        end = time.monotonic() + limit_s
        while True:
            self.settle(end)
            if seen(self.cells.text()):
                return True
            over = self.ended()
            if self.read(0.02):
                continue
            if over or time.monotonic() > end:
                return seen(self.cells.text())

    def press(self, text):
        """The command wakes up for it: what it waited for before is counted as done first."""
        self.settle(time.monotonic() + LIMIT_S)
        self.press_now(text)

    def press_now(self, text):
        """For who has waited for it, and measures."""
        if text: # nothing wakes nobody
            self.pressed = self.waits()
            os.write(self.ours, text.encode())

    def size(self, lines, columns):
        self.cells.resize(lines, columns)
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def kill(self):
        if not self.ended():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def fail(terminal, why):
    print("pty_screen: %s\n%s" % (why, "\n".join(terminal.cells.text())))
    terminal.kill()
    sys.exit(1)


def matching(regex, lines):
    return [line for line in lines if re.search(regex, line)]


def mouse_press(cells, button, line):
    """As xterm says it, where it was asked to: the control sequences of xterm, "Mouse Tracking"."""
    if 1000 not in cells.mouse:
        return ""
    if 1006 in cells.mouse:
        return "".join("\033[<%d;3;%d%s" % (button, line, end) for end in ("Mm" if button < 64 else "M"))
    return "".join("\033[M%c%c%c" % (32 + what, 35, 32 + line) for what in ((button, 3) if button < 64 else (button,)))


def step(terminal, text):
    word, _, rest = text.partition(" ")
    if word == "until":
        if not terminal.until(lambda lines: matching(rest, lines)):
            fail(terminal, "not seen: " + rest)
    elif word == "ready":
        if not terminal.until(lambda lines: matching(r"^\? help", lines) and not matching(r"^\? help.*: reading", lines)):
            fail(terminal, "not ready")
    elif word == "row":
        if not terminal.until(lambda lines: matching(rest, lines[2:3])):
            fail(terminal, "not the first row: " + rest)
    elif word == "gone":
        if not terminal.until(lambda lines: not matching(rest, lines)):
            fail(terminal, "still there: " + rest)
    elif word == "stays":
        seconds, regex = rest.split(" ", 1)
        until = time.monotonic() + float(seconds)
        while time.monotonic() < until:
            terminal.read(0.05)
            terminal.settle(until + LIMIT_S) # what is drawn by half has none of it
            if not matching(regex, terminal.cells.text()):
                fail(terminal, "it does not stay: " + regex)
    elif word == "keys":
        terminal.press("".join(KEYS.get(key, key) for key in rest.split()))
    elif word == "type":
        terminal.press(rest)
    elif word == "click":
        terminal.press(mouse_press(terminal.cells, 0, int(rest)))
    elif word == "wheel":
        terminal.press(mouse_press(terminal.cells, {"up": 64, "down": 65}[rest], 2))
    elif word == "size":
        terminal.size(*map(int, rest.split()))
    elif word == "signal":
        os.killpg(os.getpgid(terminal.pid), getattr(signal, "SIG" + rest))
    elif word == "run":
        subprocess.run(rest.split(), check=False)
    elif word == "hold":
        termios.tcflow(terminal.theirs, termios.TCOOFF)
    elif word == "close":
        os.close(terminal.theirs)
        os.close(terminal.ours)
        terminal.ours = terminal.theirs = -1
    elif word == "show":
        terminal.settle(time.monotonic() + LIMIT_S)
        print("\n".join(terminal.cells.text()).rstrip("\n"))
    elif word == "line":
        print("\n".join(matching(rest, terminal.cells.text())))
    elif word == "selected":
        terminal.settle(time.monotonic() + LIMIT_S)
        rows = terminal.cells.rows[1:-1]
        print("\n".join("".join(c for c, _ in row).rstrip() for row in rows if row[0][1]))
    elif word == "cursor":
        terminal.settle(time.monotonic() + LIMIT_S)
        cells = terminal.cells
        print("%d %d" % (cells.y + 1, min(cells.x + 1, cells.columns)) if cells.cursor else "hidden")
    elif word == "attributes":
        print(" ".join(map(str, sorted(terminal.cells.used))))
    elif word == "end":
        if not terminal.until(lambda lines: terminal.ended()):
            fail(terminal, "it does not end")
        terminal.finish()
        status = terminal.status
        print("signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else "status %d" % os.WEXITSTATUS(status))
    elif word == "modes":
        cells = terminal.cells
        print("modes %s, screen %s, cursor %s, mouse %s" % (
            "as before" if termios.tcgetattr(terminal.theirs) == terminal.before else "changed",
            "changed" if cells.alternate else "as before", "shown" if cells.cursor else "hidden",
            "on" if cells.mouse else "off"))
    else:
        sys.exit("pty_screen: no such step: " + text)


def main():
    at = sys.argv.index("--")
    terminal = Terminal(int(sys.argv[1]), int(sys.argv[2]), sys.argv[at + 1:])
    for text in sys.argv[3:at]:
        step(terminal, text)
    terminal.kill()


if __name__ == "__main__":
    main()
