#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record.py FOLDER: makes the recordings of FOLDER, and what they must say, with the emulated processor of qemu-riscv64.

qemu-riscv64 runs a program of tests/work instruction by instruction, as a debugger asks it to. Each instruction of
the program's own, from main() to its return, is a sample with registers and stack. What calls and returns do is noted
beside it: so the true stack of each sample is known, in prologues, epilogues and the procedure linkage table too, and
the expected stacks are written by this program and not by pstat. Of a program that has frame pointers and no tables
only calls are samples: at other instructions its frames are not whole. To make them anew, from the top of the tree:

	tests/golden/riscv64/record.py tests/golden/riscv64

needs riscv64-linux-gnu-gcc with its C library, and qemu-riscv64. tests/cli/golden_riscv64.sh reads them.
"""
import bisect
import collections
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time

CROSS = "riscv64-linux-gnu-"
LOADER_ROOT = "/usr/riscv64-linux-gnu"
PATH = "/golden/riscv64/"
PID = 4200001
STACK_BYTES = 256
BASE = 0x10000  # of a program that is not position independent
RA, SP = 1, 2

# Name of the recording: its program, how it is compiled, and whether its tables are kept.
RECORDINGS = {
    "dwarf_chain": ("callers_without_fp", ["-O1", "-g", "-fomit-frame-pointer"], True),
    "fp_chain": ("callers", ["-O0", "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables"], False),
}


def tool(name, *arguments):
    return subprocess.run([CROSS + name, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


class Debugger:
    """What of gdb's remote protocol is needed here."""

    def __init__(self, command):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/debugger"
            self.process = subprocess.Popen(["qemu-riscv64", "-L", LOADER_ROOT, "-g", path, *command])
            self.socket = socket.socket(socket.AF_UNIX)
            while self.socket.connect_ex(path):
                if self.process.poll() is not None:
                    sys.exit("record.py: qemu-riscv64 ends")
                time.sleep(0.01)
        self.stream = self.socket.makefile("rwb")

    def ask(self, text):
        self.stream.write(b"$%s#%02x" % (text.encode(), sum(text.encode()) & 0xFF))
        self.stream.flush()
        while self.stream.read(1) != b"$":
            pass
        answer = bytearray()
        while (byte := self.stream.read(1)) != b"#":
            answer += byte
        self.stream.read(2)
        self.stream.write(b"+")
        return answer.decode()

    def registers(self):
        """x0 .. x31, pc"""
        return struct.unpack("<33Q", bytes.fromhex(self.ask("g")[: 33 * 16]))

    def memory(self, address, length):
        return bytes.fromhex(self.ask(f"m{address:x},{length:x}"))

    def run_to(self, address):
        self.ask(f"Z0,{address:x},4")
        self.ask("c")
        self.ask(f"z0,{address:x},4")


def is_call(code):
    """jal ra, jalr ra, c.jalr"""
    word, half = struct.unpack("<I", code)[0], struct.unpack("<H", code[:2])[0]
    return (word & 0xFFF) == 0x0EF or (word & 0x7FFF) == 0x00E7 or ((half & 0xF07F) == 0x9002 and (half & 0xF80) != 0)


class Names:
    """Functions of the program by address."""

    def __init__(self, program):
        rows = [line.split() for line in tool("nm", "-S", "--defined-only", program).splitlines()]
        functions = [(int(row[0], 16), int(row[1], 16), row[3]) for row in rows if len(row) == 4 and row[2] in "tT"]
        for line in tool("objdump", "-d", "-j", ".plt", program).splitlines():
            if line.startswith("0") and line.endswith("@plt>:"):
                functions.append((int(line.split()[0], 16), 16, line.split()[1][1:-2]))
            elif line.startswith("0"):  # what all entries share
                functions.append((int(line.split()[0], 16), 32, "_PROCEDURE_LINKAGE_TABLE_"))
        self.functions = sorted(functions)
        self.starts = [row[0] for row in self.functions]

    def of(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        if i >= 0 and address < self.starts[i] + self.functions[i][1]:
            return self.functions[i][2]
        return None

    def address(self, name):
        return next(row[0] for row in self.functions if row[2] == name)


def maps_of_libc(process):
    with open(f"/proc/{process.pid}/maps", encoding="ascii") as maps:
        rows = [line.split() for line in maps if line.rstrip().endswith("/libc.so.6")]
    bounds = [int(end, 16) for row in rows for end in row[0].split("-")]
    return min(bounds), max(bounds)


class Recording:
    """A perf.data file of one process and one event."""

    SAMPLE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 8 | 1 << 12 | 1 << 13  # ip tid time callchain period regs stack
    FLAGS = 1 << 5 | 1 << 8 | 1 << 9 | 1 << 18 | 1 << 22 | 1 << 23 | 1 << 24

    def __init__(self):
        self.data = bytearray()
        self.time = 10**9

    def record(self, kind, misc, body, has_id=True):
        self.time += 10**6
        if has_id:
            body += struct.pack("<IIQ", PID, PID, self.time)
        self.data += struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    @staticmethod
    def padded(text):
        return text.encode() + bytes(8 - len(text) % 8)

    def comm(self, name):
        self.record(3, 1 << 13, struct.pack("<II", PID, PID) + self.padded(name))

    def map(self, start, end, path):
        body = struct.pack("<IIQQQIIQQII", PID, PID, start, end - start, 0, 0, 0, 0, 0, 5, 2)
        self.record(10, 2, body + self.padded(path))

    def sample(self, registers, stack):
        regs = (registers[32],) + registers[1:32]
        body = struct.pack("<QIIQQQ", regs[0], PID, PID, self.time + 10**6, 1, 0)
        body += struct.pack("<Q32Q", 2, *regs) + struct.pack("<Q", len(stack)) + stack + struct.pack("<Q", len(stack))
        self.record(9, 2, body, False)

    def write(self, path):
        attr = struct.pack("<IIQQQQQIIQQQQIi", 1, 128, 0, 1, self.SAMPLE, 0, self.FLAGS, 0, 0, 0, 0, 0, (1 << 32) - 1,
                           STACK_BYTES, 0)
        attr += bytes(128 - len(attr)) + bytes(16)
        features = {3: "golden", 4: "6.1.0-golden", 6: "riscv64"}  # HOSTNAME, OSRELEASE, ARCH
        at = 104 + len(attr) + len(self.data)
        header = struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, len(attr), 104, len(attr), 104 + len(attr), len(self.data),
                             0, 0)
        header += struct.pack("<QQQQ", sum(1 << bit for bit in features), 0, 0, 0)
        texts = [text.encode() + bytes(64 - len(text)) for text in features.values()]
        index, at = bytearray(), at + 16 * len(texts)
        for text in texts:
            index += struct.pack("<QQ", at, 4 + len(text))
            at += 4 + len(text)
        with open(path, "wb") as file:
            file.write(header + attr + self.data + index)
            for text in texts:
                file.write(struct.pack("<I", len(text)) + text)


def record(folder, name, program, flags, tables):
    file = f"{folder}/symfs{PATH}{program}"
    os.makedirs(os.path.dirname(file), exist_ok=True)
    tool("gcc", *flags, "-no-pie", "-o", file, "tests/work/callers.c", "-lpthread")
    tool("objcopy", "--strip-debug", *(["--keep-section=.debug_frame"] if tables else []), file)
    names = Names(file)
    debugger = Debugger([file, "chain"])
    debugger.run_to(names.address("main"))
    recording, stacks = Recording(), collections.Counter()
    recording.comm(program)
    recording.map(BASE, BASE + 0x3000, PATH + program)
    recording.map(*maps_of_libc(debugger.process), "/lib/riscv64-linux-gnu/libc.so.6")
    registers = debugger.registers()
    returns = [(registers[RA], registers[SP])]
    while returns:
        pc, sp = registers[32], registers[SP]
        code, own = debugger.memory(pc, 4), names.of(pc)
        if own and (tables or is_call(code)):
            recording.sample(registers, debugger.memory(sp, STACK_BYTES))
            frames = ["[libc.so.6]"] + [names.of(ip - 1) for ip, _ in returns[1:]] + [own]
            stacks[";".join([program, *frames])] += 1
        debugger.ask("s")
        registers = debugger.registers()
        if is_call(code):
            returns.append((registers[RA], registers[SP]))
        elif (registers[32], registers[SP]) == returns[-1]:
            returns.pop()
    debugger.process.kill()
    recording.write(f"{folder}/{name}.data")
    with open(f"{folder}/{name}.stacks", "w", encoding="ascii") as out:
        out.writelines(f"{stack} {n}\n" for stack, n in sorted(stacks.items()))


for row in RECORDINGS.items():
    record(sys.argv[1], row[0], *row[1])
