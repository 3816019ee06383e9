# SPDX-License-Identifier: MIT
"""For disk_cache.sh: entries of the cache of names, see src/sym/names_cache.h.

  whole FILE...              each has the checksum that it says
  rename FILE OLD NEW        another text in it, as long; with the right checksum
  move FILE OUT              a recording of tests/golden as if kernel and module had been loaded elsewhere
  flip FILE OUT AT [right]   one byte of it is another, counted in thousandths of the file; with the right checksum
"""
import struct
import sys

HEAD = struct.Struct("<8sQ2I")
MASK = (1 << 64) - 1


def mix(a, b):
    product = a * b
    return (product ^ product >> 64) & MASK


def checksum(data):
    h, whole = len(data), len(data) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        h = mix(h ^ word ^ 0xa0761d6478bd642f, 0xe7037ed1a0b428db)
    last = int.from_bytes(data[whole:], "little")
    return mix(mix(h ^ last ^ 0xa0761d6478bd642f, 0xe7037ed1a0b428db), 0x8ebc6af09c88c6e3)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data, right):
    if right:
        data = data[:8] + struct.pack("<Q", checksum(data[16:])) + data[16:]
    with open(path, "wb") as f:
        f.write(data)


def is_whole(data):
    magic, said, version, key_bytes = HEAD.unpack_from(data)
    return magic == b"pstatNC\0" and version == 4 and HEAD.size + key_bytes < len(data) and said == checksum(data[16:])


def whole(*paths):
    for path in paths:
        if not is_whole(read(path)):
            sys.exit("%s: damaged" % path)
    print(len(paths))


def rename(path, old, new):
    data = read(path)
    if len(old) != len(new) or old.encode() not in data:
        sys.exit("%s: there is no %s" % (path, old))
    write(path, data.replace(old.encode(), new.encode()), True)


def move(path, out):
    data, places = bytearray(read(path)), ((0xffffffff81000000, 0x10000, 0x2000000), (0xffffffffc0000000, 0x1000, 0x5000))
    for at in range(0, len(data) - 7, 8):
        (word,) = struct.unpack_from("<Q", data, at)
        for start, size, by in places:
            if start <= word < start + size:
                struct.pack_into("<Q", data, at, word + by)
    write(out, bytes(data), False)


def flip(path, out, at, right=""):
    data = bytearray(read(path))
    data[int(at) * (len(data) - 1) // 1000] ^= 0x41
    write(out, bytes(data), right)


{"whole": whole, "rename": rename, "move": move, "flip": flip}[sys.argv[1]](*sys.argv[2:])
