# SPDX-License-Identifier: MIT
"""The number and the name of each BPF program that the kernel has. Source: bpf(2), include/uapi/linux/bpf.h."""
import ctypes
import os
import platform
import struct
import sys

SYS_BPF = {"x86_64": 321, "aarch64": 280}.get(platform.machine())
PROG_GET_NEXT_ID, PROG_GET_FD_BY_ID, OBJ_GET_INFO_BY_FD = 11, 13, 15
NAME_AT, NAME_BYTES, INFO_BYTES = 64, 16, 80  # in struct bpf_prog_info

libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, attr):
    """attr: a bytearray; what the kernel returns."""
    return libc.syscall(SYS_BPF, command, (ctypes.c_char * len(attr)).from_buffer(attr), len(attr))


if SYS_BPF is None:
    sys.exit("bpf(2) has no known number here")
number = 0
while True:
    attr = bytearray(struct.pack("=III4x", number, 0, 0))
    if bpf(PROG_GET_NEXT_ID, attr) < 0:
        break
    number = struct.unpack_from("=I", attr, 4)[0]
    fd = bpf(PROG_GET_FD_BY_ID, bytearray(struct.pack("=III4x", number, 0, 0)))
    if fd < 0:
        continue
    info = bytearray(INFO_BYTES)
    place = (ctypes.c_char * len(info)).from_buffer(info)
    if bpf(OBJ_GET_INFO_BY_FD, bytearray(struct.pack("=IIQ", fd, len(info), ctypes.addressof(place)))) >= 0:
        print(number, bytes(info[NAME_AT:NAME_AT + NAME_BYTES]).split(b"\0")[0].decode())
    os.close(fd)
