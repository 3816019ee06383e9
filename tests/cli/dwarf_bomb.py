#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dwarf_bomb.py make FILE SECTION MIBS: turns a debug section of an ELF file (64 bits, this machine's byte order) into a
packed one that unpacks to so many MiB of zeros; make_gnu: packed in GNU's old way, which its name says. dwarf_bomb.py
peak COMMAND...: runs it and prints the MiB that it had at most; its exit status is the command's."""
import os
import resource
import struct
import subprocess
import sys
import zlib

SHF_COMPRESSED, ELFCOMPRESS_ZLIB = 1 << 11, 1


def section_header(data, wanted):
    """Where the header of that section is."""
    at, = struct.unpack_from("<Q", data, 0x28)
    size, n, names = struct.unpack_from("<HHH", data, 0x3a)
    texts, = struct.unpack_from("<Q", data, at + names * size + 0x18)
    for i in range(n):
        name, = struct.unpack_from("<I", data, at + i * size)
        if data[texts + name:data.index(b"\0", texts + name)].decode() == wanted:
            return at + i * size
    sys.exit("%s is not there" % wanted)


def add_name(data, header, name):
    """The names with one more, at the end of the file."""
    at, = struct.unpack_from("<Q", data, 0x28)
    size, _, names = struct.unpack_from("<HHH", data, 0x3a)
    texts, n = struct.unpack_from("<QQ", data, at + names * size + 0x18)
    struct.pack_into("<I", data, header, n)
    struct.pack_into("<QQ", data, at + names * size + 0x18, len(data), n + len(name) + 1)
    data += data[texts:texts + n] + name.encode() + b"\0"


def packed_zeros(mibs):
    """One packed piece, again and again: it ends at a byte (a full flush), and refers to nothing before it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    piece = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    last_block = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS).flush()
    check = ((mibs << 20) % 65521 << 16) + 1 # Adler-32 of zeros
    return b"\x78\xda" + piece * mibs + last_block + struct.pack(">I", check)


def make(path, section, mibs, gnu):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    packed = packed_zeros(mibs)
    header = section_header(data, section)
    if gnu:
        body = b"ZLIB" + struct.pack(">Q", mibs << 20) + packed
        add_name(data, header, ".z" + section[1:])
    else:
        body = struct.pack("<IIQQ", ELFCOMPRESS_ZLIB, 0, mibs << 20, 1) + packed
        flags, = struct.unpack_from("<Q", data, header + 8)
        struct.pack_into("<Q", data, header + 8, flags | SHF_COMPRESSED)
    data += bytes(-len(data) % 16)
    struct.pack_into("<QQ", data, header + 0x18, len(data), len(body))
    with open(path, "wb") as file:
        file.write(data + body)


def peak(command):
    status = subprocess.run(command, stdout=sys.stderr, check=False).returncode
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
    sys.stdout.flush()
    os._exit(status)


if sys.argv[1].startswith("make"):
    make(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[1] == "make_gnu")
else:
    peak(sys.argv[2:])
