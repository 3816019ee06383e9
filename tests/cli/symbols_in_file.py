#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What symbols_in_file.sh does to recordings: feature 201 (SYMBOLS) taken out, or made wrong.

usage: symbols_in_file.py size|without|cut|version|count|packing FROM [TO]"""
import struct
import sys

BIT, BITS_AT = 201, 72


def section(data):
    """Where the row of the feature is, which is the last, and what it says."""
    offset, size = struct.unpack_from("<QQ", data, 40)
    bits = sum(bin(word).count("1") for word in struct.unpack_from("<4Q", data, BITS_AT))
    at = offset + size + 16 * (bits - 1)
    return (at,) + struct.unpack_from("<QQ", data, at)


def main(what, path, to=None):
    data = bytearray(open(path, "rb").read())
    row, offset, size = section(data)
    if what == "size":
        print(size)
        return
    if what == "without":
        word = BITS_AT + BIT // 64 * 8
        struct.pack_into("<Q", data, word, struct.unpack_from("<Q", data, word)[0] & ~(1 << BIT % 64))
    elif what == "cut":
        struct.pack_into("<QQ", data, row, offset, size // 2)
    elif what == "version":
        data[offset] = 255
    elif what == "packing":
        data[offset + 1] = 0
    elif what == "count":
        data[offset + 2:offset + 7] = b"\xff\xff\xff\xff\x0f"
    open(to, "wb").write(data)


main(*sys.argv[1:])
