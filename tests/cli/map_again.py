# SPDX-License-Identifier: MIT
"""map_again.py FILE: opens it, says so by a file "ready", and, when there is a file "go", makes one "sign", maps the
open file as a program is, makes "mapped" and waits for "stop". Nothing of that asks FILE's file system."""
import mmap
import os
import sys
import time


def make(name):
    open(name, "w").close()


def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.02)


fd = os.open(sys.argv[1], os.O_RDONLY)
make("ready")
wait_for("go")
make("sign")
mapping = mmap.mmap(fd, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
make("mapped")
wait_for("stop")
