#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kcore.py FOLDER [--here] [--moved BYTES] [--modules NAME=ADDRESS,...] [--cut BYTES]: FOLDER/proc/kcore with kallsyms and
modules, and FOLDER/sys/kernel/notes, as Linux has them: a kernel of a few pages with the build-id 0102..14, or with
--here one with this machine's build-id and list, whose code is nops."""
import argparse
import os
import struct

PAGE = 4096
KERNEL = 0xffffffff81000000
MODULE = 0xffffffffc0200000
DIRECT = 0xffff888000000000


def segment(kind, offset, vaddr, size):
    return struct.pack("<IIQQQQQQ", kind, 7, offset, vaddr, 0, size, size, PAGE)


def core(segments):
    """Code, and memory around it that is none."""
    head = struct.pack("<4sBBBBB7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 0, 4, 62, 1, 0, 64, 0, 0, 64, 56,
                       len(segments) + 1, 0, 0, 0) + segment(4, 0x800, 0, 0)
    at = PAGE
    for vaddr, contents in segments:
        head += segment(1, at, vaddr, len(contents))
        at += len(contents)
    return head.ljust(PAGE, b"\0") + b"".join(contents for vaddr, contents in segments)


def pages(n, step):
    return bytes(i * step & 255 for i in range(n * PAGE))


def made(moved, modules):
    kernel = KERNEL + moved
    kallsyms = "".join("%x %c %s\n" % (kernel + at, kind, name) for at, kind, name in (
        (0, "T", "_stext"), (0, "T", "_text"), (0x100, "T", "schedule"), (0x800, "t", "do_work"), (0x2100, "T", "_etext")))
    segments = [(kernel, pages(8, 7)), (MODULE, pages(64, 3)), (DIRECT, b"\xee" * 16 * PAGE)]
    for name, start in modules:
        kallsyms += "%x t %s_fn\t[%s]\n" % (start + 0x40, name, name)
    return core(segments), kallsyms, bytes(range(1, 21))


def here():
    with open("/proc/kallsyms") as file:
        kallsyms = file.read()
    places = {name: int(addr, 16) for addr, kind, name in (line.split()[:3] for line in kallsyms.splitlines())}
    start, end = places["_stext"], places["_etext"]
    return core([(start & -PAGE, b"\x90" * ((end - start + 2 * PAGE) & -PAGE))]), kallsyms, None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--here", action="store_true")
    parser.add_argument("--moved", type=lambda text: int(text, 0), default=0)
    parser.add_argument("--modules", default="testmod=%#x" % MODULE)
    parser.add_argument("--cut", type=int)
    args = parser.parse_args()
    modules = [(name, int(start, 0)) for name, start in (one.split("=") for one in args.modules.split(",") if one)]
    kcore, kallsyms, build_id = here() if args.here else made(args.moved, modules)
    if build_id:
        notes = struct.pack("<III", 4, len(build_id), 3) + b"GNU\0" + build_id
    else:
        with open("/sys/kernel/notes", "rb") as file:
            notes = file.read()
        modules = []
    for path, contents in (("proc/kcore", kcore[:args.cut]), ("proc/kallsyms", kallsyms.encode()),
                           ("proc/modules", "".join("%s 12288 0 - Live %#x\n" % one for one in modules).encode()),
                           ("sys/kernel/notes", notes)):
        path = os.path.join(args.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(contents)


main()
