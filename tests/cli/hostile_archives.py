#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Archives that somebody made to do harm, for archive.sh.

hostile_archives.py FOLDER PROGRAM BUILD-ID     FOLDER/NAME.tar.bz2 for each of the cases below. PROGRAM has that
                                                build-id; most archives have it as a good entry, too, behind the bad one
"""
import bz2
import io
import os
import struct
import sys
import tarfile

folder, program, good_id = sys.argv[1:]
with open(program, "rb") as f:
    ELF = f.read()
OTHER_ID = good_id[:-4] + ("0000" if good_id[-4:] != "0000" else "1111")
RECORDING = b"PERFILE2" + bytes(96)
# One event (PERF_COUNT_SW_CPU_CLOCK with IP, TID and TIME), no records.
WHOLE = (b"PERFILE2" + struct.pack("<8Q", 104, 152, 104, 152, 256, 0, 0, 0) + bytes(32) +
         struct.pack("<IIQQQ", 1, 136, 0, 1000000, 7) + bytes(104) + struct.pack("<2Q", 256, 0))
PIPE = b"PERFILE2" + struct.pack("<Q", 16)
SCRIPT = b"PERFILE2\ntouch outside/ran\n"


def add(tar, name, data=b"", kind=tarfile.REGTYPE, target="", size=None):
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.mode = kind, target, 0o644
    member.size = len(data) if size is None else size
    tar.addfile(member, io.BytesIO(data) if data else None)


def good(tar):
    add(tar, ".build-id/%s/%s" % (good_id[:2], good_id[2:]), kind=tarfile.SYMTYPE, target="../../opt/good/" + good_id)
    add(tar, "opt/good/%s/elf" % good_id, ELF)


def made(*bad):
    """bad: the arguments of add()."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for one in bad:
            add(tar, *one)
        good(tar)
    return out.getvalue()


def packed_bomb(mib):
    """An archive with a member of so many MiB of zeros, each packed by itself, as bzip2 lets one join what is packed."""
    member = tarfile.TarInfo("opt/bomb/%s/elf" % OTHER_ID)
    member.size = mib << 20
    return bz2.compress(member.tobuf(tarfile.GNU_FORMAT)) + bz2.compress(bytes(1 << 20)) * mib + bz2.compress(bytes(1024))


CASES = {
    "up": made(("opt/../../outside/%s/elf" % good_id, ELF)),
    "absolute": made(("%s/outside/%s/elf" % (os.getcwd(), good_id), ELF)),
    "recording_up": made(("../outside.data", RECORDING)),
    "folder_up": made(("../outside", b"", tarfile.DIRTYPE)),
    "link": made((".build-id/ab/cdef0123456789", b"", tarfile.SYMTYPE, os.getcwd() + "/outside")),
    "link_up": made((".build-id/ab/cdef0123456789", b"", tarfile.SYMTYPE, "../../../outside/abcdef0123456789")),
    "link_folder": made(("opt", b"", tarfile.SYMTYPE, os.getcwd() + "/outside")),
    "hard_link": made(("opt/x/%s/elf" % OTHER_ID, b"", tarfile.LNKTYPE, "/etc/passwd")),
    "device": made(("opt/x/%s/elf" % OTHER_ID, b"", tarfile.CHRTYPE)),
    "fifo": made(("opt/x/%s/elf" % OTHER_ID, b"", tarfile.FIFOTYPE)),
    "lies": made(("opt/x/%s/elf" % OTHER_ID, ELF)),
    "no_elf": made(("opt/x/%s/elf" % OTHER_ID, b"no program\n" * 20)),
    "cut_elf": made(("opt/x/%s/elf" % OTHER_ID, ELF[:100])),
    "no_list": made(("[kernel.kallsyms]/%s/kallsyms" % OTHER_ID, b"0000000000000000 T _text\n" * 40)),
    "stranger": made(("readme.txt", b"hello\n")),
    "dot": made((".", RECORDING)),
    "escape": made(("opt/\033[31mred/%s/elf" % OTHER_ID, ELF)),
    "profile": made((".bash_profile", WHOLE)),
    "profile_folder": made((".config/data", WHOLE)),
    "option": made(("-rf", WHOLE)),
    "newline": made(("perf\ndata", WHOLE)),
    "script": made(("perf.script", SCRIPT + bytes(200))),
    "short_script": made(("perf.script", SCRIPT)),
    "script_folder": made(("perf.script/data", SCRIPT + bytes(200))),
    "pipe_script": made(("perf.script", PIPE + SCRIPT)),
    "sizes": made(("perf.script", WHOLE[:24] + struct.pack("<2Q", 1 << 40, 152) + WHOLE[40:])),
    "no_event": made(("perf.script", WHOLE[:32] + bytes(8) + WHOLE[40:])),
    "inner_none": made(("perf.symbols.tar.bz2", b"no archive\n" * 100)),
    "inner_cut": made(("perf.symbols.tar.bz2", bz2.compress(made())[:2000])),
    "inner_inner": made(("perf.symbols.tar.bz2", bz2.compress(made(("perf.symbols.tar.bz2", bz2.compress(made())))))),
    "many": made(*[("stranger%d" % i, b"x") for i in range(30)]),
    "inner_bomb": made(("perf.symbols.tar.bz2", packed_bomb(700))),
    "huge_name": made(("opt/" + "x" * 60000 + "/%s/elf" % OTHER_ID, ELF)),
}
for name, data in CASES.items():
    with open(os.path.join(folder, name + ".tar.bz2"), "wb") as f:
        f.write(bz2.compress(data))
with open(os.path.join(folder, "bomb.tar.bz2"), "wb") as f:
    f.write(packed_bomb(700))
with open(os.path.join(folder, "twice.tar.bz2"), "wb") as f:
    f.write(bz2.compress(bz2.compress(made())))
with open(os.path.join(folder, "text.tar.bz2"), "wb") as f:
    f.write(b"no archive\n" * 100)
